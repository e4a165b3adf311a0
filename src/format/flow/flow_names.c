#include "fastnet/flow_names.h"
#include "fastnet/array.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <strings.h>

static const struct text tcp_states[] = {
    [TCP_CONNTRACK_NONE] = TEXT_LITERAL("NONE"),
    [TCP_CONNTRACK_SYN_SENT] = TEXT_LITERAL("SYN_SENT"),
    [TCP_CONNTRACK_SYN_RECV] = TEXT_LITERAL("SYN_RECV"),
    [TCP_CONNTRACK_ESTABLISHED] = TEXT_LITERAL("ESTABLISHED"),
    [TCP_CONNTRACK_FIN_WAIT] = TEXT_LITERAL("FIN_WAIT"),
    [TCP_CONNTRACK_CLOSE_WAIT] = TEXT_LITERAL("CLOSE_WAIT"),
    [TCP_CONNTRACK_LAST_ACK] = TEXT_LITERAL("LAST_ACK"),
    [TCP_CONNTRACK_TIME_WAIT] = TEXT_LITERAL("TIME_WAIT"),
    [TCP_CONNTRACK_CLOSE] = TEXT_LITERAL("CLOSE"),
    [TCP_CONNTRACK_SYN_SENT2] = TEXT_LITERAL("SYN_SENT2"),
};

/* In the order of enum sctp_conntrack, whose header does not go together with netinet/in.h. */
static const struct text sctp_states[] = {
    TEXT_LITERAL("NONE"),           TEXT_LITERAL("CLOSED"),
    TEXT_LITERAL("COOKIE_WAIT"),    TEXT_LITERAL("COOKIE_ECHOED"),
    TEXT_LITERAL("ESTABLISHED"),    TEXT_LITERAL("SHUTDOWN_SENT"),
    TEXT_LITERAL("SHUTDOWN_RECD"),  TEXT_LITERAL("SHUTDOWN_ACK_SENT"),
    TEXT_LITERAL("HEARTBEAT_SENT"), TEXT_LITERAL("HEARTBEAT_ACKED"),
};

/* In the order of enum ct_dccp_states, which was never in a header for programs. */
static const struct text dccp_states[] = {
    TEXT_LITERAL("NONE"),     TEXT_LITERAL("REQUEST"),  TEXT_LITERAL("RESPOND"),
    TEXT_LITERAL("PARTOPEN"), TEXT_LITERAL("OPEN"),     TEXT_LITERAL("CLOSEREQ"),
    TEXT_LITERAL("CLOSING"),  TEXT_LITERAL("TIMEWAIT"), TEXT_LITERAL("IGNORE"),
    TEXT_LITERAL("INVALID"),
};

static const struct text protocols[] = {
    [IPPROTO_ICMP] = TEXT_LITERAL("icmp"), [IPPROTO_TCP] = TEXT_LITERAL("tcp"),
    [IPPROTO_UDP] = TEXT_LITERAL("udp"),   [IPPROTO_DCCP] = TEXT_LITERAL("dccp"),
    [IPPROTO_GRE] = TEXT_LITERAL("gre"),   [IPPROTO_ICMPV6] = TEXT_LITERAL("icmpv6"),
    [IPPROTO_SCTP] = TEXT_LITERAL("sctp"), [IPPROTO_UDPLITE] = TEXT_LITERAL("udplite"),
};

/* Names by number. */
struct names {
    const struct text *texts;
    size_t count;
};

static struct names states_of(uint8_t protocol)
{
    switch (protocol) {
    case IPPROTO_TCP:
        return (struct names){tcp_states, COUNT(tcp_states)};
    case IPPROTO_SCTP:
        return (struct names){sctp_states, COUNT(sctp_states)};
    case IPPROTO_DCCP:
        return (struct names){dccp_states, COUNT(dccp_states)};
    default:
        return (struct names){.count = 0};
    }
}

static struct text name_of(struct names names, uint8_t number)
{
    return number < names.count ? names.texts[number] : (struct text){.data = NULL};
}

static int number_of(struct names names, const char *name, size_t length)
{
    for (size_t i = 0; i < names.count; i++)
        if (names.texts[i].data && names.texts[i].length == length &&
            strncasecmp(names.texts[i].data, name, length) == 0)
            return (int)i;
    return -1;
}

struct text flow_state_name(uint8_t protocol, uint8_t state)
{
    return name_of(states_of(protocol), state);
}

int flow_state_number(uint8_t protocol, const char *name, size_t length)
{
    return number_of(states_of(protocol), name, length);
}

struct text flow_protocol_name(uint8_t protocol)
{
    return name_of((struct names){protocols, COUNT(protocols)}, protocol);
}

int flow_protocol_number(const char *name, size_t length)
{
    return number_of((struct names){protocols, COUNT(protocols)}, name, length);
}

const char *flow_protocol_word(uint64_t protocol)
{
    return protocol <= UINT8_MAX ? flow_protocol_name((uint8_t)protocol).data : NULL;
}

const bool flow_protocols_with_ports[UINT8_MAX + 1] = {
    [IPPROTO_TCP] = true,  [IPPROTO_UDP] = true,  [IPPROTO_UDPLITE] = true,
    [IPPROTO_SCTP] = true, [IPPROTO_DCCP] = true,
};

bool flow_is_icmp(uint8_t protocol)
{
    return protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6;
}

const char *flow_event_name(uint64_t event)
{
    static const char *const names[] = {
        [FLOW_NEW] = "NEW",
        [FLOW_UPDATE] = "UPDATE",
        [FLOW_DESTROY] = "DESTROY",
    };

    return event < COUNT(names) ? names[event] : NULL;
}

static const char *const status_bits[] = {
    [IPS_EXPECTED_BIT] = "EXPECTED",
    [IPS_SEEN_REPLY_BIT] = "SEEN_REPLY",
    [IPS_ASSURED_BIT] = "ASSURED",
    [IPS_CONFIRMED_BIT] = "CONFIRMED",
    [IPS_SRC_NAT_BIT] = "SRC_NAT",
    [IPS_DST_NAT_BIT] = "DST_NAT",
    [IPS_SEQ_ADJUST_BIT] = "SEQ_ADJUST",
    [IPS_SRC_NAT_DONE_BIT] = "SRC_NAT_DONE",
    [IPS_DST_NAT_DONE_BIT] = "DST_NAT_DONE",
    [IPS_DYING_BIT] = "DYING",
    [IPS_FIXED_TIMEOUT_BIT] = "FIXED_TIMEOUT",
    [IPS_TEMPLATE_BIT] = "TEMPLATE",
    /* In the header it is still UNTRACKED, which the kernel no longer has. */
    [IPS_UNTRACKED_BIT] = "NAT_CLASH",
    [IPS_HELPER_BIT] = "HELPER",
    [IPS_OFFLOAD_BIT] = "OFFLOAD",
    [IPS_HW_OFFLOAD_BIT] = "HW_OFFLOAD",
};
const struct flag_names flow_status_names = {status_bits, COUNT(status_bits)};

/* NF_CT_EXPECT_PERMANENT, _INACTIVE, _USERSPACE. */
static const char *const expectation_bits[] = {"PERMANENT", "INACTIVE", "USERSPACE"};
const struct flag_names expectation_flag_names = {expectation_bits, COUNT(expectation_bits)};
