/* SPDX-License-Identifier: MIT */
#include "backend/firewall/other_ways.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "backend/queue/decode.h"
#include "fastnet/array.h"
#include "fastnet/diversions.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"
#include "fastnet/sysctl.h"
#include "sys/bpf_call.h"

struct other_ways {
    struct netlink *netlink;
    uint16_t fou;    /* number of the generic netlink family "fou"; 0: it is not there */
    const char *way; /* that was found, or NULL */
};

/* Hands each message of a dump to fn. Sets ways->way if they cannot be read. */
static void ways_ask(struct other_ways *ways, int protocol, uint16_t type, const void *header,
                     size_t size, netlink_fn fn)
{
    _Alignas(struct nlmsghdr) char buffer[NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct ifinfomsg))];
    struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
    struct report details = {.partial = false};

    request->nlmsg_type = type;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    memcpy(mnl_nlmsg_put_extra_header(request, size), header, size);
    if (netlink_dump(ways->netlink, protocol, request, fn, ways, &details) < 0 || details.partial)
        ways->way = "the kernel does not list what else may lead packets to a listener";
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* An interface, as far as it matters here. */
struct way_link {
    struct text kind; /* "veth"; empty: it is no virtual interface */
    uint8_t xdp;      /* XDP_ATTACHED_* */
};

static const struct target link_information[] = {
    [IFLA_INFO_KIND] = TAKE_INTO(struct way_link, kind, 0),
};
static const struct target link_xdp[] = {
    [IFLA_XDP_ATTACHED] = TAKE_INTO(struct way_link, xdp, 0),
};
static const struct target link_targets[] = {
    [IFLA_LINKINFO] = TAKE_NEST(link_information),
    [IFLA_XDP] = TAKE_NEST(link_xdp),
};

/* Linux 6.6 runs programs without a queueing discipline, too. Older kernels return -EINVAL. */
static bool link_has_programs(int interface)
{
    static const uint32_t types[] = {46, 47}; /* BPF_TCX_INGRESS, BPF_TCX_EGRESS of linux/bpf.h */
    union bpf_attr attributes;
    bool found = false;

    for (size_t i = 0; i < COUNT(types); i++) {
        memset(&attributes, 0, sizeof attributes);
        attributes.query.target_fd = (uint32_t)interface; /* target_ifindex of newer headers */
        attributes.query.attach_type = types[i];
        found |= bpf_call_raised(RIGHT_NETFILTER, BPF_PROG_QUERY, &attributes) >= 0 &&
                 attributes.query.prog_cnt;
    }
    return found;
}

/* A program of XDP can redirect a packet to lo in generic mode (generic_xdp_tx() of the kernel's
 * net/core/dev.c). Programs of netkit, Linux 6.7, do the same as those of tcx. */
static int way_take_link(const struct nlmsghdr *message, void *arg)
{
    struct way_link link = {.xdp = 0};
    struct decoding decoding = {.object = &link};
    struct attributes attributes;
    const struct ifinfomsg *header = message_header(message, sizeof *header, &attributes);
    struct other_ways *ways = arg;

    if (message->nlmsg_type != RTM_NEWLINK || !header || ways->way)
        return 0;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(link_targets));
    if (decoding.malformed)
        return -EBADMSG;
    if (link.xdp)
        ways->way = "a program of XDP sees packets before the rules";
    else if (link.kind.length && text_is(link.kind, "netkit"))
        ways->way = "programs of netkit may see packets before the rules";
    else if (!netlink_peer(ways->netlink) && link_has_programs(header->ifi_index))
        ways->way = "filters of tc see packets before the rules";
    return 0;
}

static int way_take_qdisc(const struct nlmsghdr *message, void *arg)
{
    static const struct target targets[] = {
        [TCA_KIND] = TAKE_INTO(struct way_link, kind, 0),
    };
    struct way_link link = {.xdp = 0};
    struct decoding decoding = {.object = &link};
    struct attributes attributes;
    struct other_ways *ways = arg;

    if (message->nlmsg_type != RTM_NEWQDISC ||
        !message_header(message, sizeof(struct tcmsg), &attributes))
        return 0;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(targets));
    if (link.kind.length && (text_is(link.kind, "clsact") || text_is(link.kind, "ingress")))
        ways->way = "filters of tc see packets before the rules";
    return 0;
}

/* Sets ways->way if filters of tc(8), or programs, may see packets before rules do. They can send a
 * packet to lo, or give it to any socket. */
static void ways_ask_links(struct other_ways *ways)
{
    struct report details = {.partial = false};
    const int error = qdiscs_dump(ways->netlink, way_take_qdisc, ways, &details);

    if ((error < 0 && error != -EOPNOTSUPP) || details.partial) /* without traffic control */
        ways->way = "filters of tc may see packets before the rules";
    ways_ask(ways, NETLINK_ROUTE, RTM_GETLINK, &(struct ifinfomsg){.ifi_family = AF_UNSPEC},
             sizeof(struct ifinfomsg), way_take_link);
}

/* --- Tunnels that have no interface ----------------------------------------------------------- */

struct way_family {
    struct text name;
    uint16_t id;
};

static int way_take_family(const struct nlmsghdr *message, void *arg)
{
    static const struct target targets[] = {
        [CTRL_ATTR_FAMILY_ID] = TAKE_INTO(struct way_family, id, 0),
        [CTRL_ATTR_FAMILY_NAME] = TAKE_INTO(struct way_family, name, 0),
    };
    struct other_ways *ways = arg;
    struct way_family family = {.id = 0};
    struct decoding decoding = {.object = &family};
    struct attributes attributes;

    if (!message_header(message, sizeof(struct genlmsghdr), &attributes))
        return -EBADMSG;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(targets));
    if (family.name.length && text_is(family.name, "fou"))
        ways->fou = family.id;
    return 0;
}

static int way_take_fou(const struct nlmsghdr *message, void *arg)
{
    struct other_ways *ways = arg;

    if (message->nlmsg_type == ways->fou)
        ways->way = "packets in UDP packets (fou) come after the rules";
    return 0;
}

/* A port of fou takes a TCP or UDP packet out of a UDP packet after the hook input. Families are
 * dumped, because a request for one family by its name would load its module. */
static void ways_ask_fou(struct other_ways *ways)
{
    enum { GET_PORTS = 3 }; /* FOU_CMD_GET of linux/fou.h */

    ways_ask(ways, NETLINK_GENERIC, GENL_ID_CTRL,
             &(struct genlmsghdr){.cmd = CTRL_CMD_GETFAMILY, .version = 1},
             sizeof(struct genlmsghdr), way_take_family);
    if (ways->fou)
        ways_ask(ways, NETLINK_GENERIC, ways->fou,
                 &(struct genlmsghdr){.cmd = GET_PORTS, .version = 1}, sizeof(struct genlmsghdr),
                 way_take_fou);
}

/* Returns whether SCTP packets come in UDP packets (Linux 5.11), which rules know as UDP. */
static bool has_sctp_in_udp(const char *proc_root)
{
    uint64_t port = 0;
    const int error = sysctl_number(proc_root, "net/sctp/udp_port", &port);

    return error < 0 ? error != -ENOENT : port != 0;
}

/* --- All of them ------------------------------------------------------------------------------ */

const char *firewall_other_way(struct netlink *netlink, const char *proc_root)
{
    struct other_ways ways = {.netlink = netlink};
    unsigned diversions;
    char name[IF_NAMESIZE];

    ways_ask_links(&ways);
    ways_ask_fou(&ways);
    if (ways.way)
        return ways.way;
    if (has_sctp_in_udp(proc_root))
        return "SCTP packets come in UDP packets";
    diversions = diversions_beside_nftables(proc_root);
    if (diversions & DIVERSION_LEGACY)
        return "iptables-legacy has rules";
    if (diversions)
        return "IPVS or programs of type sk_lookup may lead packets to any socket";
    return if_indextoname(1, name) && strcmp(name, "lo") == 0 ? NULL
                                                              : "the first interface is not lo";
}
