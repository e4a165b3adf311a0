/* SPDX-License-Identifier: MIT */
/* Reads the rules of nftables. The order is tables, chains, sets, rules, and the elements of sets
 * that matter. The kernel puts the generation of its rules into each message: if it changes, the
 * parts do not belong together. */
#include "backend/firewall/nftables.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backend/firewall/other_ways.h"
#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "fastnet/array.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

/* SETS_READ_MAX: the elements of further sets are not read. TRIES_MAX: readings, if the rules
 * change meanwhile. CHAIN_OFFLOADED: NFT_CHAIN_HW_OFFLOAD of newer headers. */
enum { SETS_READ_MAX = 256, TRIES_MAX = 3, CHAIN_OFFLOADED = 2 };

/* --- Asking ----------------------------------------------------------------------------------- */

/* True if a line of the file ends with /nf_tables.ko. Returns -errno if it cannot be read. */
static int nftables_is_built_in(void)
{
    struct utsname names;
    char path[sizeof names.release + 32], line[256];
    FILE *file;
    bool found = false;

    if (uname(&names) < 0)
        return -errno;
    snprintf(path, sizeof path, "/lib/modules/%s/modules.builtin", names.release);
    file = fopen(path, "re");
    if (!file)
        return -errno;
    while (!found && fgets(line, sizeof line, file))
        found = strstr(line, "/nf_tables.ko");
    fclose(file);
    return found;
}

/* nfnetlink_rcv_msg() of the kernel loads nf_tables if it is missing. Returns 0 if it is there, or
 * if the kernel loads no modules. */
static int nftables_check_module(void)
{
    int built_in;

    if (access("/sys/module/nf_tables", F_OK) == 0 || access("/proc/modules", F_OK) < 0)
        return 0;
    built_in = nftables_is_built_in();
    return built_in > 0 ? 0 : built_in < 0 ? -ENOTSUP : -ENOENT;
}

int nftables_dump(struct netlink *netlink, unsigned type, const struct firewall_name *set,
                  int (*fn)(const struct nlmsghdr *message, void *arg), void *arg)
{
    struct report details = {.partial = false};
    _Alignas(struct nlmsghdr) char request[64 + 2 * NFT_NAME_MAXLEN];
    struct nlmsghdr *message = mnl_nlmsg_put_header(request);
    struct nfgenmsg *header;
    int error = netlink_peer(netlink) ? 0 : nftables_check_module();

    if (error)
        return error;
    message->nlmsg_type = (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type);
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    *header = (struct nfgenmsg){.nfgen_family = set ? set->family : NFPROTO_UNSPEC,
                                .version = NFNETLINK_V0};
    if (set) {
        mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, set->text);
        mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET, set->text + strlen(set->text) + 1);
    }
    rights_raise(RIGHT_NETFILTER);
    error = netlink_dump(netlink, NETLINK_NETFILTER, message, fn, arg, &details);
    rights_lower();
    if (error == -EINVAL || error == -EPROTONOSUPPORT)
        return -ENOENT;
    return error ? error : details.partial ? -EAGAIN : 0;
}

/* --- Reading ---------------------------------------------------------------------------------- */

struct nftables_reading {
    struct firewall *firewall;
    struct netlink *netlink;
    const struct firewall_set *set; /* whose elements are read */
    bool has_generation;
    uint16_t generation;
    size_t chain_messages; /* number of chains, with those that do not matter */
};

/* Decodes a message. Returns 0, -EBADMSG, or -EAGAIN if the rules changed. */
static int reading_decode(struct nftables_reading *reading, const struct nlmsghdr *message,
                          unsigned type, struct nftables_message *decoded)
{
    if (!nftables_decode(message, type, decoded) || !decoded->table.data)
        return -EBADMSG;
    if (reading->has_generation && reading->generation != decoded->generation)
        return -EAGAIN;
    reading->has_generation = true;
    reading->generation = decoded->generation;
    return 0;
}

static enum firewall_hook hook_of(const struct nftables_message *chain)
{
    enum { INET_INGRESS = 5 }; /* NF_INET_INGRESS of linux/netfilter.h, Linux 5.10 */

    if (!chain->is_base)
        return HOOK_NONE;
    if (chain->family == NFPROTO_NETDEV || chain->family == NFPROTO_BRIDGE)
        return HOOK_DEVICE;
    return chain->hook == NF_INET_PRE_ROUTING ? HOOK_PREROUTING
           : chain->hook == NF_INET_LOCAL_IN  ? HOOK_INPUT
           : chain->hook == INET_INGRESS      ? HOOK_DEVICE
                                              : HOOK_OTHER;
}

static int reading_take_chain(const struct nlmsghdr *message, void *arg)
{
    struct nftables_reading *reading = arg;
    struct nftables_message decoded;
    struct firewall_chain *chain;
    const int error = reading_decode(reading, message, NFT_MSG_NEWCHAIN, &decoded);

    if (error || !decoded.name.data)
        return error ? error : -EBADMSG;
    reading->chain_messages++;
    if (decoded.family == NFPROTO_ARP)
        return 0;
    chain = firewall_add_chain(reading->firewall, decoded.family, decoded.table, decoded.name);
    if (!chain)
        return -ENOMEM;
    chain->is_base = decoded.is_base;
    chain->is_nat = decoded.type.data && text_is(decoded.type, "nat");
    chain->drops = decoded.policy == NF_DROP;
    chain->hook = hook_of(&decoded);
    chain->is_early = decoded.priority <= NF_IP_PRI_CONNTRACK;
    chain->is_first = decoded.priority <= NF_IP_PRI_CONNTRACK_DEFRAG;
    if (decoded.flags & CHAIN_OFFLOADED)
        firewall_note_effects(reading->firewall, chain, EFFECT_DIVERTS,
                              (struct text)TEXT_LITERAL("offloaded"));
    return 0;
}

static int reading_take_set(const struct nlmsghdr *message, void *arg)
{
    struct nftables_reading *reading = arg;
    struct nftables_message decoded;
    struct firewall_set *set;
    const int error = reading_decode(reading, message, NFT_MSG_NEWSET, &decoded);

    if (error || !decoded.name.data)
        return error ? error : -EBADMSG;
    if (decoded.family == NFPROTO_ARP)
        return 0;
    set = firewall_add_set(reading->firewall, decoded.family, decoded.table, decoded.name);
    if (!set)
        return -ENOMEM;
    set->flags = decoded.flags;
    set->key_length = decoded.key_length;
    set->has_verdicts = decoded.flags & NFT_SET_MAP && decoded.data_type == NFT_DATA_VERDICT;
    return 0;
}

static int reading_take_rule(const struct nlmsghdr *message, void *arg)
{
    struct nftables_reading *reading = arg;
    struct nftables_message decoded;
    const int error = reading_decode(reading, message, NFT_MSG_NEWRULE, &decoded);

    if (error || decoded.family == NFPROTO_ARP)
        return error;
    return nftables_add_rule(reading->firewall, &decoded);
}

static int reading_take_elements(const struct nlmsghdr *message, void *arg)
{
    struct nftables_reading *reading = arg;
    struct nftables_message decoded;
    const int error = reading_decode(reading, message, NFT_MSG_NEWSETELEM, &decoded);

    return error ? error : nftables_add_elements(reading->firewall, reading->set, &decoded);
}

/* A table that is dormant has no hooks: its base chains are as any other chain. */
static int reading_take_table(const struct nlmsghdr *message, void *arg)
{
    struct nftables_reading *reading = arg;
    struct firewall *firewall = reading->firewall;
    struct nftables_message decoded;
    const int error = reading_decode(reading, message, NFT_MSG_NEWTABLE, &decoded);

    for (size_t i = 0; !error && decoded.flags & NFT_TABLE_F_DORMANT && i < firewall->chain_count;
         i++) {
        struct firewall_chain *chain = &firewall->chains[i];
        if (chain->name.family == decoded.family && text_is(decoded.table, chain->name.text))
            chain->is_base = false;
    }
    return error;
}

/* Elements that packets or time add and remove are not read: such a set may have any element. The
 * same holds for a set with a name of its own, unless it has ports or verdicts: it is mostly a long
 * list of sources. */
static bool set_is_wanted(const struct firewall_set *set)
{
    return set->key_length && set->key_length <= KEY_BYTES &&
           !(set->flags & (NFT_SET_TIMEOUT | NFT_SET_EVAL | NFT_SET_OBJECT)) &&
           (set->has_verdicts || set->flags & NFT_SET_ANONYMOUS ||
            set->key_length == sizeof(uint16_t));
}

static int reading_read_elements(struct nftables_reading *reading)
{
    struct firewall *firewall = reading->firewall;
    unsigned read = 0;
    int error = 0;

    for (size_t i = 0; i < firewall->set_count && read < SETS_READ_MAX; i++) {
        struct firewall_set *set = &firewall->sets[i];
        if (!set_is_wanted(set))
            continue;
        reading->set = set;
        set->first = (uint32_t)firewall->element_count;
        error = nftables_dump(reading->netlink, NFT_MSG_GETSETELEM, &set->name,
                              reading_take_elements, reading);
        read++;
        if (error == -E2BIG || error == -EBADMSG) { /* the set stays unread */
            firewall->element_count = set->first;
            continue;
        }
        if (error)
            return error == -ENOENT ? -EAGAIN : error;
        set->count = (uint32_t)firewall->element_count - set->first;
        firewall_finish_set(firewall, set);
    }
    return 0;
}

static int reading_count_chain(const struct nlmsghdr *message, void *arg)
{
    struct nftables_reading *reading = arg;
    struct nftables_message decoded;

    reading->chain_messages--;
    return reading_decode(reading, message, NFT_MSG_NEWCHAIN, &decoded);
}

/* Lists the chains again: a listing without messages has no generation, so that rules may have been
 * flushed between two listings. */
static int reading_check(struct nftables_reading *reading)
{
    const int error =
        nftables_dump(reading->netlink, NFT_MSG_GETCHAIN, NULL, reading_count_chain, reading);

    return error ? error : reading->chain_messages ? -EAGAIN : 0;
}

static int reading_read(struct nftables_reading *reading)
{
    static const struct {
        unsigned type;
        int (*fn)(const struct nlmsghdr *message, void *arg);
    } dumps[] = {
        {NFT_MSG_GETCHAIN, reading_take_chain},
        {NFT_MSG_GETTABLE, reading_take_table},
        {NFT_MSG_GETSET, reading_take_set},
        {NFT_MSG_GETRULE, reading_take_rule},
    };
    int error = 0;

    for (size_t i = 0; i < COUNT(dumps) && !error; i++) {
        if (dumps[i].type == NFT_MSG_GETRULE)
            firewall_sort_names(reading->firewall);
        error = nftables_dump(reading->netlink, dumps[i].type, NULL, dumps[i].fn, reading);
    }
    if (!error)
        error = reading_read_elements(reading);
    return error ? error : reading_check(reading);
}

/* Replaces the firewall by a new reading. */
static int firewall_read_rules(struct firewall **firewall, struct netlink *netlink)
{
    struct nftables_reading reading = {.netlink = netlink};
    int error;

    firewall_destroy(*firewall);
    *firewall = reading.firewall = firewall_create();
    error = *firewall ? reading_read(&reading) : -ENOMEM;
    if (error == -ENOENT && !reading.has_generation) /* no nftables, so no rules */
        error = 0;
    if (!error)
        firewall_finish(*firewall);
    return error;
}

int firewall_read(struct firewall **firewall, struct netlink *netlink, const char *proc_root)
{
    int error = -EAGAIN;

    *firewall = NULL;
    for (int i = 0; i < TRIES_MAX && error == -EAGAIN; i++)
        error = firewall_read_rules(firewall, netlink);
    if (!*firewall)
        return -ENOMEM;
    if ((*firewall)->is_known && !netlink_peer(netlink)) {
        const char *other = firewall_other_way(netlink, proc_root);
        (*firewall)->is_known = !other;
        snprintf((*firewall)->unknown, sizeof(*firewall)->unknown, "%s", other ? other : "");
    }
    return error;
}
