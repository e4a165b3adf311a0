/* SPDX-License-Identifier: MIT */
#include "fastnet/flow_names.h"
#include "fastnet/array.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* An array, not a struct text, because pointers would need relocation at each start. */
struct flow_name {
    uint8_t length;
    char string[19];
};

#define NAME(string)                                                                               \
    {                                                                                              \
        sizeof(string) - 1, string                                                                 \
    }
#define TCP_STATE(name) [TCP_CONNTRACK_##name] = NAME(#name)
#define STATE(name)     NAME(#name)

static const struct flow_name tcp_states[] = {
    TCP_STATE(NONE),     TCP_STATE(SYN_SENT),   TCP_STATE(SYN_RECV), TCP_STATE(ESTABLISHED),
    TCP_STATE(FIN_WAIT), TCP_STATE(CLOSE_WAIT), TCP_STATE(LAST_ACK), TCP_STATE(TIME_WAIT),
    TCP_STATE(CLOSE),    TCP_STATE(SYN_SENT2),
};

/* The order of enum sctp_conntrack, whose header conflicts with netinet/in.h. */
static const struct flow_name sctp_states[] = {
    STATE(NONE),           STATE(CLOSED),          STATE(COOKIE_WAIT),   STATE(COOKIE_ECHOED),
    STATE(ESTABLISHED),    STATE(SHUTDOWN_SENT),   STATE(SHUTDOWN_RECD), STATE(SHUTDOWN_ACK_SENT),
    STATE(HEARTBEAT_SENT), STATE(HEARTBEAT_ACKED),
};

/* The order of enum ct_dccp_states, which no header for programs ever had. */
static const struct flow_name dccp_states[] = {
    STATE(NONE),     STATE(REQUEST), STATE(RESPOND),  STATE(PARTOPEN), STATE(OPEN),
    STATE(CLOSEREQ), STATE(CLOSING), STATE(TIMEWAIT), STATE(IGNORE),   STATE(INVALID),
};

static const struct flow_name protocols[] = {
    [IPPROTO_ICMP] = NAME("icmp"), [IPPROTO_TCP] = NAME("tcp"),
    [IPPROTO_UDP] = NAME("udp"),   [IPPROTO_DCCP] = NAME("dccp"),
    [IPPROTO_GRE] = NAME("gre"),   [IPPROTO_ICMPV6] = NAME("icmpv6"),
    [IPPROTO_SCTP] = NAME("sctp"), [IPPROTO_UDPLITE] = NAME("udplite"),
};

/* Names by number. */
struct names {
    const struct flow_name *by_number;
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

static struct text flow_name_of(struct names names, uint8_t number)
{
    const struct flow_name *name = number < names.count ? &names.by_number[number] : NULL;

    return name && name->length ? (struct text){name->string, name->length}
                                : (struct text){NULL, 0};
}

static int flow_number_of(struct names names, const char *name, size_t length)
{
    for (size_t i = 0; length && i < names.count; i++)
        if (names.by_number[i].length == length &&
            strncasecmp(names.by_number[i].string, name, length) == 0)
            return (int)i;
    return -1;
}

struct text flow_state_name(uint8_t protocol, uint8_t state)
{
    return flow_name_of(states_of(protocol), state);
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
    return flow_number_of(states_of(protocol), name, length);
}

struct text flow_protocol_name(uint8_t protocol)
{
    return flow_name_of(NAMES(protocols), protocol);
}

int flow_protocol_number(const char *name, size_t length)
{
    return flow_number_of(NAMES(protocols), name, length);
}

/* Protocols without a name in conntrack: those of IANA's list that protocols(5) of Debian contains.
 * The kernel's names for 4 (ipencap) and 41 (ipv6) are shorter. */
static const struct protocol_word {
    uint8_t number;
    char word[16];
} more_words[] =
    {
        {2, "igmp"},         {3, "ggp"},
        {4, "ipip"},         {5, "st"},
        {8, "egp"},          {9, "igp"},
        {12, "pup"},         {20, "hmp"},
        {22, "xns-idp"},     {27, "rdp"},
        {29, "iso-tp4"},     {36, "xtp"},
        {37, "ddp"},         {38, "idpr-cmtp"},
        {41, "sit"},         {43, "ipv6-route"},
        {44, "ipv6-frag"},   {45, "idrp"},
        {46, "rsvp"},        {50, "esp"},
        {51, "ah"},          {57, "skip"},
        {59, "ipv6-nonxt"},  {60, "ipv6-opts"},
        {73, "rspf"},        {81, "vmtp"},
        {88, "eigrp"},       {89, "ospf"},
        {93, "ax.25"},       {97, "etherip"},
        {98, "encap"},       {103, "pim"},
        {108, "ipcomp"},     {112, "vrrp"},
        {115, "l2tp"},       {124, "isis"},
        {133, "fc"},         {135, "mobility-header"},
        {137, "mpls-in-ip"}, {138, "manet"},
        {139, "hip"},        {140, "shim6"},
        {141, "wesp"},       {142, "rohc"},
        {143, "ethernet"},
}, /* names that are only accepted, not shown */
    aliases[] = {{0, "hopopt"},     {0, "ip"},         {4, "ipencap"},   {4, "ip-encap"},
                 {41, "ipv6"},      {50, "ipsec-esp"}, {51, "ipsec-ah"}, {89, "ospfigp"},
                 {58, "ipv6-icmp"}, {73, "cphb"}};

const char *flow_protocol_word(uint64_t protocol)
{
    const char *name = protocol <= UINT8_MAX ? flow_protocol_name((uint8_t)protocol).data : NULL;

    for (size_t i = 0; !name && i < COUNT(more_words); i++)
        if (more_words[i].number == protocol)
            name = more_words[i].word;
    return name;
}

static int flow_find_word(const struct protocol_word *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(list[i].word, name) == 0)
            return list[i].number;
    return -1;
}

int flow_protocol_of_word(const char *name)
{
    int number = flow_protocol_number(name, strlen(name));

    if (number < 0)
        number = flow_find_word(more_words, COUNT(more_words), name);
    return number < 0 ? flow_find_word(aliases, COUNT(aliases), name) : number;
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

/* Headers for programs still have the old name of the bit that the kernel now calls NAT_CLASH. */
#define IPS_NAT_CLASH_BIT IPS_UNTRACKED_BIT
#define STATUS(bit)       [IPS_##bit##_BIT] = #bit
const struct flag_names flow_status_names =
    FLAG_NAMES(STATUS(EXPECTED), STATUS(SEEN_REPLY), STATUS(ASSURED), STATUS(CONFIRMED),
               STATUS(SRC_NAT), STATUS(DST_NAT), STATUS(SEQ_ADJUST), STATUS(SRC_NAT_DONE),
               STATUS(DST_NAT_DONE), STATUS(DYING), STATUS(FIXED_TIMEOUT), STATUS(TEMPLATE),
               STATUS(NAT_CLASH), STATUS(HELPER), STATUS(OFFLOAD), STATUS(HW_OFFLOAD));

/* NF_CT_EXPECT_PERMANENT, _INACTIVE, _USERSPACE. */
const struct flag_names expectation_flag_names = FLAG_NAMES("PERMANENT", "INACTIVE", "USERSPACE");
