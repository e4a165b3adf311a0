/* SPDX-License-Identifier: MIT */
#include "fastnet/flow_names.h"
#include "fastnet/array.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <strings.h>

/* Not a struct text, because pointers would have to be relocated at each start. */
struct name {
    uint8_t length;
    char string[19];
};

#define NAME(string)                                                                               \
    {                                                                                              \
        sizeof(string) - 1, string                                                                 \
    }
#define TCP_STATE(name) [TCP_CONNTRACK_##name] = NAME(#name)
#define STATE(name)     NAME(#name)

static const struct name tcp_states[] = {
    TCP_STATE(NONE),     TCP_STATE(SYN_SENT),   TCP_STATE(SYN_RECV), TCP_STATE(ESTABLISHED),
    TCP_STATE(FIN_WAIT), TCP_STATE(CLOSE_WAIT), TCP_STATE(LAST_ACK), TCP_STATE(TIME_WAIT),
    TCP_STATE(CLOSE),    TCP_STATE(SYN_SENT2),
};

/* In the order of enum sctp_conntrack, whose header does not go together with netinet/in.h. */
static const struct name sctp_states[] = {
    STATE(NONE),           STATE(CLOSED),          STATE(COOKIE_WAIT),   STATE(COOKIE_ECHOED),
    STATE(ESTABLISHED),    STATE(SHUTDOWN_SENT),   STATE(SHUTDOWN_RECD), STATE(SHUTDOWN_ACK_SENT),
    STATE(HEARTBEAT_SENT), STATE(HEARTBEAT_ACKED),
};

/* In the order of enum ct_dccp_states, which was never in a header for programs. */
static const struct name dccp_states[] = {
    STATE(NONE),     STATE(REQUEST), STATE(RESPOND),  STATE(PARTOPEN), STATE(OPEN),
    STATE(CLOSEREQ), STATE(CLOSING), STATE(TIMEWAIT), STATE(IGNORE),   STATE(INVALID),
};

static const struct name protocols[] = {
    [IPPROTO_ICMP] = NAME("icmp"), [IPPROTO_TCP] = NAME("tcp"),
    [IPPROTO_UDP] = NAME("udp"),   [IPPROTO_DCCP] = NAME("dccp"),
    [IPPROTO_GRE] = NAME("gre"),   [IPPROTO_ICMPV6] = NAME("icmpv6"),
    [IPPROTO_SCTP] = NAME("sctp"), [IPPROTO_UDPLITE] = NAME("udplite"),
};

/* Names by number. */
struct names {
    const struct name *by_number;
    size_t count;
};

#define NAMES(of) ((struct names){of, COUNT(of)})

static struct names states_of(uint8_t protocol)
{
    switch (protocol) {
    case IPPROTO_TCP:
        return NAMES(tcp_states);
    case IPPROTO_SCTP:
        return NAMES(sctp_states);
    case IPPROTO_DCCP:
        return NAMES(dccp_states);
    default:
        return (struct names){NULL, 0};
    }
}

static struct text name_of(struct names names, uint8_t number)
{
    const struct name *name = number < names.count ? &names.by_number[number] : NULL;

    return name && name->length ? (struct text){name->string, name->length}
                                : (struct text){NULL, 0};
}

static int number_of(struct names names, const char *name, size_t length)
{
    for (size_t i = 0; length && i < names.count; i++)
        if (names.by_number[i].length == length &&
            strncasecmp(names.by_number[i].string, name, length) == 0)
            return (int)i;
    return -1;
}

struct text flow_state_name(uint8_t protocol, uint8_t state)
{
    return name_of(states_of(protocol), state);
}

const char *flow_state_word(uint64_t i)
{
    static const uint8_t protocols_of_states[] = {IPPROTO_TCP, IPPROTO_SCTP, IPPROTO_DCCP};
    const size_t each = UINT8_MAX + 1;

    return i < each * COUNT(protocols_of_states)
               ? flow_state_name(protocols_of_states[i / each], (uint8_t)(i % each)).data
               : NULL;
}

int flow_state_number(uint8_t protocol, const char *name, size_t length)
{
    return number_of(states_of(protocol), name, length);
}

struct text flow_protocol_name(uint8_t protocol)
{
    return name_of(NAMES(protocols), protocol);
}

int flow_protocol_number(const char *name, size_t length)
{
    return number_of(NAMES(protocols), name, length);
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

WORDS(flow_event_name, [FLOW_NEW] = "NEW", [FLOW_UPDATE] = "UPDATE", [FLOW_DESTROY] = "DESTROY");

/* The header still calls the bit of NAT_CLASH by its old name, which the kernel no longer has. */
#define IPS_NAT_CLASH_BIT IPS_UNTRACKED_BIT
#define STATUS(bit)       [IPS_##bit##_BIT] = #bit
const struct flag_names flow_status_names =
    FLAG_NAMES(STATUS(EXPECTED), STATUS(SEEN_REPLY), STATUS(ASSURED), STATUS(CONFIRMED),
               STATUS(SRC_NAT), STATUS(DST_NAT), STATUS(SEQ_ADJUST), STATUS(SRC_NAT_DONE),
               STATUS(DST_NAT_DONE), STATUS(DYING), STATUS(FIXED_TIMEOUT), STATUS(TEMPLATE),
               STATUS(NAT_CLASH), STATUS(HELPER), STATUS(OFFLOAD), STATUS(HW_OFFLOAD));

/* NF_CT_EXPECT_PERMANENT, _INACTIVE, _USERSPACE. */
const struct flag_names expectation_flag_names = FLAG_NAMES("PERMANENT", "INACTIVE", "USERSPACE");
