#include "fastnet/flow_names.h"
#include "fastnet/array.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <netinet/in.h>
#include <stddef.h>

#define NAME(string)                                                                               \
    {                                                                                              \
        .data = (string), .length = sizeof string - 1                                              \
    }

static const struct text tcp_states[] = {
    [TCP_CONNTRACK_NONE] = NAME("NONE"),         [TCP_CONNTRACK_SYN_SENT] = NAME("SYN_SENT"),
    [TCP_CONNTRACK_SYN_RECV] = NAME("SYN_RECV"), [TCP_CONNTRACK_ESTABLISHED] = NAME("ESTABLISHED"),
    [TCP_CONNTRACK_FIN_WAIT] = NAME("FIN_WAIT"), [TCP_CONNTRACK_CLOSE_WAIT] = NAME("CLOSE_WAIT"),
    [TCP_CONNTRACK_LAST_ACK] = NAME("LAST_ACK"), [TCP_CONNTRACK_TIME_WAIT] = NAME("TIME_WAIT"),
    [TCP_CONNTRACK_CLOSE] = NAME("CLOSE"),       [TCP_CONNTRACK_SYN_SENT2] = NAME("SYN_SENT2"),
};

/* In the order of enum sctp_conntrack, whose header does not go together with netinet/in.h. */
static const struct text sctp_states[] = {
    NAME("NONE"),           NAME("CLOSED"),
    NAME("COOKIE_WAIT"),    NAME("COOKIE_ECHOED"),
    NAME("ESTABLISHED"),    NAME("SHUTDOWN_SENT"),
    NAME("SHUTDOWN_RECD"),  NAME("SHUTDOWN_ACK_SENT"),
    NAME("HEARTBEAT_SENT"), NAME("HEARTBEAT_ACKED"),
};

/* In the order of enum ct_dccp_states, which was never in a header for programs. */
static const struct text dccp_states[] = {
    NAME("NONE"),     NAME("REQUEST"), NAME("RESPOND"),  NAME("PARTOPEN"), NAME("OPEN"),
    NAME("CLOSEREQ"), NAME("CLOSING"), NAME("TIMEWAIT"), NAME("IGNORE"),   NAME("INVALID"),
};

static const struct text no_name = {.data = NULL, .length = 0};

struct text flow_state_name(uint8_t protocol, uint8_t state)
{
    switch (protocol) {
    case IPPROTO_TCP:
        return state < COUNT(tcp_states) ? tcp_states[state] : no_name;
    case IPPROTO_SCTP:
        return state < COUNT(sctp_states) ? sctp_states[state] : no_name;
    case IPPROTO_DCCP:
        return state < COUNT(dccp_states) ? dccp_states[state] : no_name;
    default:
        return no_name;
    }
}

struct text flow_protocol_name(uint8_t protocol)
{
    static const struct text names[] = {
        [IPPROTO_ICMP] = NAME("icmp"), [IPPROTO_TCP] = NAME("tcp"),
        [IPPROTO_UDP] = NAME("udp"),   [IPPROTO_DCCP] = NAME("dccp"),
        [IPPROTO_GRE] = NAME("gre"),   [IPPROTO_ICMPV6] = NAME("icmpv6"),
        [IPPROTO_SCTP] = NAME("sctp"), [IPPROTO_UDPLITE] = NAME("udplite"),
    };

    return protocol < COUNT(names) ? names[protocol] : no_name;
}

const char *flow_protocol_word(uint64_t protocol)
{
    return protocol <= UINT8_MAX ? flow_protocol_name((uint8_t)protocol).data : NULL;
}

bool flow_has_ports(uint8_t protocol)
{
    switch (protocol) {
    case IPPROTO_TCP:
    case IPPROTO_UDP:
    case IPPROTO_UDPLITE:
    case IPPROTO_SCTP:
    case IPPROTO_DCCP:
        return true;
    default:
        return false;
    }
}

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
