/*
 * Decodes the lines of flows and expectations in /proc/net. A few words have a fixed place; the
 * others say themselves what they mean. The kernel writes them in
 * net/netfilter/nf_conntrack_standalone.c, nf_conntrack_expect.c, and in print_conntrack of
 * nf_conntrack_proto_*.c.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* These come after netinet/in.h, because linux/in.h then does not define the same again. */
#include <linux/netfilter/nf_conntrack_common.h>

#include "backend/flow/flow_identity.h"
#include "backend/flow/proc_conntrack.h"
#include "backend/proc/lines.h"
#include "backend/proc/scan.h"
#include "fastnet/array.h"
#include "fastnet/flow_names.h"

enum word {
    WORD_OTHER,
    WORD_SRC,
    WORD_DST,
    WORD_SPORT,
    WORD_DPORT,
    WORD_TYPE,
    WORD_CODE,
    WORD_ID,
    WORD_SRCKEY,
    WORD_DSTKEY,
    WORD_TUPLE_LAST = WORD_DSTKEY,
    WORD_ZONE_ORIG,
    WORD_PACKETS,
    WORD_BYTES,
    WORD_UNREPLIED,
    WORD_ZONE_REPLY,
    WORD_HW_OFFLOAD,
    WORD_OFFLOAD,
    WORD_ASSURED,
    WORD_MARK,
    WORD_SECMARK,
    WORD_SECCTX,
    WORD_ZONE,
    WORD_DELTA_TIME,
    WORD_USE,
};

#define BIT(word) (UINT32_C(1) << (word))

/* In the order in which the kernel writes them, because the search goes on from the last word. */
#define WORD(word, text)                                                                           \
    {                                                                                              \
        (word), sizeof(text) - 1, (text)                                                           \
    }
static const struct {
    enum word word;
    size_t length;
    const char *text;
} words[] = {
    WORD(WORD_SRC, "src="),
    WORD(WORD_DST, "dst="),
    WORD(WORD_SPORT, "sport="),
    WORD(WORD_DPORT, "dport="),
    WORD(WORD_PACKETS, "packets="),
    WORD(WORD_BYTES, "bytes="),
    WORD(WORD_UNREPLIED, "[UNREPLIED]"),
    WORD(WORD_ASSURED, "[ASSURED]"),
    WORD(WORD_MARK, "mark="),
    WORD(WORD_SECCTX, "secctx="),
    WORD(WORD_ZONE, "zone="),
    WORD(WORD_DELTA_TIME, "delta-time="),
    WORD(WORD_USE, "use="),
    WORD(WORD_TYPE, "type="),
    WORD(WORD_CODE, "code="),
    WORD(WORD_ID, "id="),
    WORD(WORD_SRCKEY, "srckey="),
    WORD(WORD_DSTKEY, "dstkey="),
    WORD(WORD_ZONE_ORIG, "zone-orig="),
    WORD(WORD_ZONE_REPLY, "zone-reply="),
    WORD(WORD_HW_OFFLOAD, "[HW_OFFLOAD]"),
    WORD(WORD_OFFLOAD, "[OFFLOAD]"),
    WORD(WORD_SECMARK, "secmark="), /* kernels before 2.6.37 */
};
enum { WORD_COUNT = COUNT(words) };

/* A line while it is decoded. */
struct decoding {
    struct scan scan; /* what is left of the line */
    struct record *record;
    uint8_t family;
    struct flow_tuple *tuple; /* the words belong to it; NULL before the first */
    uint32_t tuple_words;     /* BIT(word) of each word it has */
    uint32_t words;           /* BIT(word) of each word of the line */
    size_t next;              /* in words[]: where the next word is likely to be */
};

static bool take_word(struct scan *scan, struct scan *word)
{
    struct text text;
    bool found = scan_word(scan, &text);

    *word = (struct scan){text.data, text.data + text.length};
    return found;
}

static bool begins_with(const struct scan *word, size_t which)
{
    size_t length = (size_t)(word->end - word->at), needed = words[which].length;

    if (length < needed || *word->at != *words[which].text ||
        memcmp(word->at, words[which].text, needed) != 0)
        return false;
    return words[which].text[0] != '[' || length == needed;
}

/* Says which word it is and takes its beginning off, which leaves its value. */
static enum word recognise(struct decoding *decoding, struct scan *word)
{
    for (size_t i = 0; i < WORD_COUNT; i++) {
        size_t at = (decoding->next + i) % WORD_COUNT;
        if (!begins_with(word, at))
            continue;
        word->at += words[at].length;
        decoding->next = at + 1;
        return words[at].word;
    }
    return WORD_OTHER;
}

/* A whole word that is a number. */
static bool take_number(struct scan *word, uint64_t *value, uint64_t max)
{
    return scan_decimal(word, value, max) && word->at == word->end;
}

static bool take_u8(struct scan *word, uint8_t *value)
{
    uint64_t number;

    if (!take_number(word, &number, UINT8_MAX))
        return false;
    *value = (uint8_t)number;
    return true;
}

static bool take_u16(struct scan *word, uint16_t *value)
{
    uint64_t number;

    if (!take_number(word, &number, UINT16_MAX))
        return false;
    *value = (uint16_t)number;
    return true;
}

static bool take_u32(struct scan *word, uint32_t *value)
{
    uint64_t number;

    if (!take_number(word, &number, UINT32_MAX))
        return false;
    *value = (uint32_t)number;
    return true;
}

/* A key of GRE: 0x and up to four digits. */
static bool take_key(struct scan *word, uint16_t *value)
{
    uint64_t number;

    if (!scan_char(word, '0') || !scan_char(word, 'x') || !scan_hex(word, &number, 4) ||
        word->at != word->end)
        return false;
    *value = (uint16_t)number;
    return true;
}

static bool take_ipv4(struct scan *word, uint8_t *address)
{
    return scan_ipv4(word, address) && word->at == word->end;
}

/* Eight groups: the kernel leaves none of them out here. */
static bool take_ipv6(struct scan *word, uint8_t *address)
{
    for (size_t i = 0; i < 8; i++) {
        uint64_t group;
        if ((i && !scan_char(word, ':')) || !scan_hex(word, &group, 4))
            return false;
        address[2 * i] = (uint8_t)(group >> 8);
        address[2 * i + 1] = (uint8_t)group;
    }
    return word->at == word->end;
}

static bool take_address(struct scan *word, uint8_t family, struct address *address)
{
    address->family = family;
    return family == AF_INET ? take_ipv4(word, address->bytes) : take_ipv6(word, address->bytes);
}

static bool has_both(const struct decoding *decoding, enum word one, enum word other)
{
    const uint32_t both = BIT(one) | BIT(other);

    return (decoding->tuple_words & both) == both;
}

static bool take_tuple_word(struct decoding *decoding, enum word word, struct scan *value)
{
    struct flow_tuple *tuple = decoding->tuple;

    if (!tuple || decoding->tuple_words & BIT(word))
        return false;
    decoding->tuple_words |= BIT(word);
    tuple->has_ports =
        has_both(decoding, WORD_SPORT, WORD_DPORT) || has_both(decoding, WORD_SRCKEY, WORD_DSTKEY);
    switch (word) {
    case WORD_SRC:
        return take_address(value, decoding->family, &tuple->src);
    case WORD_DST:
        return take_address(value, decoding->family, &tuple->dst);
    case WORD_SPORT:
    case WORD_ID:
        return take_u16(value, &tuple->src_port);
    case WORD_DPORT:
        return take_u16(value, &tuple->dst_port);
    case WORD_TYPE:
        return take_u8(value, &tuple->icmp_type);
    case WORD_CODE:
        return take_u8(value, &tuple->icmp_code);
    case WORD_SRCKEY:
        return take_key(value, &tuple->src_port);
    default:
        return take_key(value, &tuple->dst_port);
    }
}

/*
 * Whether the tuple has every word that its protocol needs. Of other protocols this is not known: a
 * kernel that lacks the module for one tracks it without ports.
 */
static bool is_whole(const struct decoding *decoding)
{
    uint32_t has = decoding->tuple_words;
    uint32_t needed = BIT(WORD_SRC) | BIT(WORD_DST);

    if (!decoding->tuple)
        return false;
    switch (decoding->tuple->protocol) {
    case IPPROTO_TCP:
    case IPPROTO_UDP:
        needed |= BIT(WORD_SPORT) | BIT(WORD_DPORT);
        break;
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
        needed |= BIT(WORD_TYPE) | BIT(WORD_CODE) | BIT(WORD_ID);
        break;
    default:
        if (has & (BIT(WORD_SPORT) | BIT(WORD_DPORT)))
            needed |= BIT(WORD_SPORT) | BIT(WORD_DPORT);
        if (has & (BIT(WORD_SRCKEY) | BIT(WORD_DSTKEY)))
            needed |= BIT(WORD_SRCKEY) | BIT(WORD_DSTKEY);
        break;
    }
    return (has & needed) == needed;
}

/* --- Flows ------------------------------------------------------------------------------------ */

/* The second src= begins the tuple of the reply. */
static bool begin_tuple(struct decoding *decoding)
{
    struct flow_record *flow = &decoding->record->flow;

    if (decoding->tuple) {
        if (decoding->tuple != &flow->way[WAY_ORIG].tuple || !is_whole(decoding))
            return false;
        flow->way[WAY_REPLY].tuple.protocol = flow->way[WAY_ORIG].tuple.protocol;
        decoding->tuple = &flow->way[WAY_REPLY].tuple;
    } else {
        decoding->tuple = &flow->way[WAY_ORIG].tuple;
    }
    decoding->tuple_words = 0;
    return true;
}

static bool take_counter(struct decoding *decoding, enum word word, struct scan *value)
{
    struct flow_record *flow = &decoding->record->flow;
    bool original = decoding->tuple == &flow->way[WAY_ORIG].tuple;
    uint64_t *counter;

    if (!decoding->tuple || decoding->tuple_words & BIT(word))
        return false;
    decoding->tuple_words |= BIT(word);
    if (word == WORD_PACKETS)
        counter = original ? &flow->way[WAY_ORIG].packets : &flow->way[WAY_REPLY].packets;
    else
        counter = original ? &flow->way[WAY_ORIG].bytes : &flow->way[WAY_REPLY].bytes;
    if ((decoding->tuple_words & BIT(WORD_PACKETS)) && (decoding->tuple_words & BIT(WORD_BYTES)))
        decoding->record->has |= original ? FLOW_ORIG_COUNTERS : FLOW_REPLY_COUNTERS;
    return take_number(value, counter, UINT64_MAX);
}

/* A context may hold blanks. It ends before the next of the words that can follow it. */
static void take_context(struct decoding *decoding, const struct scan *value)
{
    struct scan ahead = decoding->scan, word;
    const char *end = value->end;

    while (take_word(&ahead, &word)) {
        const char *word_end = word.end;
        enum word next = recognise(decoding, &word);
        if (next == WORD_ZONE || next == WORD_DELTA_TIME || next == WORD_USE)
            break;
        end = word_end;
    }
    decoding->scan.at = end;
    decoding->record->flow.secctx = (struct text){value->at, (size_t)(end - value->at)};
    decoding->record->has |= FLOW_SECCTX;
}

static bool take_zone(struct decoding *decoding, struct scan *value, uint16_t *zone, uint64_t bit)
{
    if (!take_u16(value, zone))
        return false;
    if (*zone)
        decoding->record->has |= bit;
    return true;
}

static bool take_use(struct decoding *decoding, struct scan *value)
{
    struct flow_record *flow = &decoding->record->flow;

    if (!take_u32(value, &flow->use))
        return false;
    if (flow->use)
        flow->use--;
    decoding->record->has |= FLOW_USE;
    return true;
}

static bool take_flow_word(struct decoding *decoding, enum word word, struct scan *value)
{
    struct record *record = decoding->record;
    struct flow_record *flow = &record->flow;

    switch (word) {
    case WORD_PACKETS:
    case WORD_BYTES:
        return take_counter(decoding, word, value);
    case WORD_ASSURED:
        flow->status |= IPS_ASSURED;
        return true;
    case WORD_HW_OFFLOAD:
        flow->status |= IPS_HW_OFFLOAD | IPS_OFFLOAD;
        return true;
    case WORD_OFFLOAD:
        flow->status |= IPS_OFFLOAD;
        return true;
    case WORD_MARK:
        record->has |= FLOW_MARK;
        return take_u32(value, &flow->mark);
    case WORD_SECMARK:
        record->has |= FLOW_SECMARK;
        return take_u32(value, &flow->secmark);
    case WORD_SECCTX:
        take_context(decoding, value);
        return true;
    case WORD_ZONE:
        return take_zone(decoding, value, &flow->zone, FLOW_ZONE);
    case WORD_ZONE_ORIG:
        return take_zone(decoding, value, &flow->way[WAY_ORIG].zone, FLOW_ORIG_ZONE);
    case WORD_ZONE_REPLY:
        return take_zone(decoding, value, &flow->way[WAY_REPLY].zone, FLOW_REPLY_ZONE);
    case WORD_USE:
        return take_use(decoding, value);
    default: /* the absence of [UNREPLIED] counts; unknown words are passed over */
        return true;
    }
}

/* The kernel writes each word once, but the words of a direction once for each direction. */
static bool is_repeated(const struct decoding *decoding, enum word word)
{
    return word > WORD_TUPLE_LAST && word != WORD_PACKETS && word != WORD_BYTES &&
           (decoding->words & BIT(word));
}

static bool take_flow_words(struct decoding *decoding)
{
    struct scan value;

    while (take_word(&decoding->scan, &value)) {
        enum word word = recognise(decoding, &value);
        bool taken;
        if (is_repeated(decoding, word) || (word == WORD_SRC && !begin_tuple(decoding)))
            return false;
        if (word != WORD_OTHER && word <= WORD_TUPLE_LAST)
            taken = take_tuple_word(decoding, word, &value);
        else
            taken = take_flow_word(decoding, word, &value);
        if (!taken)
            return false;
        decoding->words |= BIT(word);
    }
    /* Each line ends with use=, so a line without it was cut. */
    return decoding->tuple == &decoding->record->flow.way[WAY_REPLY].tuple && is_whole(decoding) &&
           (decoding->words & BIT(WORD_USE));
}

/* The name and the number of a protocol; only the number is used. */
static bool take_protocol(struct scan *scan, uint8_t *number)
{
    struct scan name, word;

    return take_word(scan, &name) && take_word(scan, &word) && take_u8(&word, number);
}

static bool take_family(struct scan *scan, uint8_t *family)
{
    return take_protocol(scan, family) && (*family == AF_INET || *family == AF_INET6);
}

/* Offloaded flows have no timeout. */
static void take_timeout(struct decoding *decoding)
{
    struct scan ahead = decoding->scan, word;

    if (!take_word(&ahead, &word) || !take_u32(&word, &decoding->record->flow.timeout))
        return;
    decoding->record->has |= FLOW_TIMEOUT;
    decoding->scan = ahead;
}

/* A word that is no state of this protocol is left to be passed over later. */
static void take_state(struct decoding *decoding)
{
    struct record *record = decoding->record;
    const uint8_t protocol = record->flow.way[WAY_ORIG].tuple.protocol;
    struct scan ahead = decoding->scan, word;
    int state;

    if (!take_word(&ahead, &word))
        return;
    state = flow_state_number(protocol, word.at, (size_t)(word.end - word.at));
    if (state < 0)
        return;
    record->flow.state = (uint8_t)state;
    record->has |= FLOW_STATE;
    decoding->scan = ahead;
}

/*
 * The reply is the original direction with both ends swapped, except for what NAT changed: source
 * NAT changes where the reply goes to, destination NAT where it comes from (nf_nat_setup_info() in
 * nf_nat_core.c). The id of ICMP is the source port of both directions.
 */
static uint32_t nat_status(const struct flow_record *flow)
{
    const struct flow_tuple *orig = &flow->way[WAY_ORIG].tuple,
                            *reply = &flow->way[WAY_REPLY].tuple;
    bool icmp = flow_is_icmp(orig->protocol);
    uint32_t status = 0;

    if (!address_equal(&orig->src, &reply->dst) ||
        orig->src_port != (icmp ? reply->src_port : reply->dst_port))
        status |= IPS_SRC_NAT | IPS_SRC_NAT_DONE;
    if (!address_equal(&orig->dst, &reply->src) || (!icmp && orig->dst_port != reply->src_port))
        status |= IPS_DST_NAT | IPS_DST_NAT_DONE;
    return status;
}

int proc_conntrack_decode_flow(const struct line *line, struct record *record)
{
    struct decoding decoding = {.scan = {line->data, line->data + line->length}, .record = record};
    struct flow_record *flow = &record->flow;

    memset(record, 0, sizeof *record);
    record->kind = &kind_flow;
    if (line->cut || !take_family(&decoding.scan, &flow->family) ||
        !take_protocol(&decoding.scan, &flow->way[WAY_ORIG].tuple.protocol))
        return -EBADMSG;
    decoding.family = flow->family;
    take_timeout(&decoding);
    take_state(&decoding);
    if (!take_flow_words(&decoding))
        return -EBADMSG;
    flow->status |= IPS_CONFIRMED | nat_status(flow);
    if (!(decoding.words & BIT(WORD_UNREPLIED)))
        flow->status |= IPS_SEEN_REPLY;
    record->has |= FLOW_ORIG | FLOW_REPLY | FLOW_STATUS;
    record->identity = flow_identity(record);
    return 0;
}

/* --- Expectations ----------------------------------------------------------------------------- */

static bool take_literal(struct scan *scan, const char *literal)
{
    size_t length = strlen(literal);

    scan_blanks(scan);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, literal, length) != 0)
        return false;
    scan->at += length;
    return true;
}

/* TIMEOUT l3proto = FAMILY proto=PROTOCOL; the timeout is "-" if there is none. */
static bool take_expectation_head(struct decoding *decoding)
{
    struct expectation_record *expectation = &decoding->record->expectation;
    struct scan *scan = &decoding->scan, word;

    if (!take_word(scan, &word))
        return false;
    if (!scan_char(&word, '-')) {
        if (!take_u32(&word, &expectation->timeout))
            return false;
        decoding->record->has |= FLOW_TIMEOUT;
    } else if (word.at != word.end) {
        return false;
    }
    if (!take_literal(scan, "l3proto =") || !take_word(scan, &word) ||
        !take_u8(&word, &expectation->family) || !take_literal(scan, "proto=") ||
        !take_word(scan, &word) || !take_u8(&word, &expectation->orig.protocol))
        return false;
    return expectation->family == AF_INET || expectation->family == AF_INET6;
}

/* The tuple ends before the first word that does not belong to a tuple. */
static bool take_expected_tuple(struct decoding *decoding)
{
    struct scan ahead = decoding->scan, word;

    decoding->tuple = &decoding->record->expectation.orig;
    while (take_word(&ahead, &word)) {
        enum word which = recognise(decoding, &word);
        if (which == WORD_OTHER || which > WORD_TUPLE_LAST)
            break;
        if (!take_tuple_word(decoding, which, &word))
            return false;
        decoding->scan = ahead;
    }
    return is_whole(decoding);
}

/* Names joined by commas. A word with any other name in it is not the word of the flags. */
static bool take_flags(struct scan *word, uint32_t *flags)
{
    uint32_t found = 0;

    do {
        size_t bit = 0;
        while (bit < expectation_flag_names.count &&
               !take_literal(word, expectation_flag_names.names[bit]))
            bit++;
        if (bit == expectation_flag_names.count)
            return false;
        found |= UINT32_C(1) << bit;
    } while (scan_char(word, ','));
    if (word->at != word->end)
        return false;
    *flags = found;
    return true;
}

/* HELPER or HELPER/POLICY, up to the end of the line: user space can give a helper any name. */
static void take_helper(struct decoding *decoding)
{
    struct scan *scan = &decoding->scan;
    const char *slash;

    scan_blanks(scan);
    if (scan->at == scan->end)
        return;
    slash = memchr(scan->at, '/', (size_t)(scan->end - scan->at));
    decoding->record->expectation.helper =
        (struct text){scan->at, (size_t)((slash ? slash : scan->end) - scan->at)};
    decoding->record->has |= FLOW_HELPER;
}

int proc_conntrack_decode_expectation(const struct line *line, struct record *record)
{
    struct decoding decoding = {.scan = {line->data, line->data + line->length}, .record = record};
    struct scan ahead, word;

    memset(record, 0, sizeof *record);
    record->kind = &kind_expectation;
    if (line->cut || !take_expectation_head(&decoding))
        return -EBADMSG;
    decoding.family = record->expectation.family;
    if (!take_expected_tuple(&decoding))
        return -EBADMSG;
    ahead = decoding.scan;
    if (take_word(&ahead, &word) && take_flags(&word, &record->expectation.flags))
        decoding.scan = ahead;
    take_helper(&decoding);
    record->has |= FLOW_ORIG | FLOW_FLAGS;
    return 0;
}
