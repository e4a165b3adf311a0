/* SPDX-License-Identifier: MIT */
/* Decodes lines of flows and expectations in /proc/net. A few words have a fixed position; all
 * other words begin with a name, such as "src=". The kernel writes them in
 * net/netfilter/nf_conntrack_standalone.c, nf_conntrack_expect.c, and in print_conntrack of
 * nf_conntrack_proto_*.c. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* If linux/ headers follow netinet/in.h, linux/in.h does not define the same types again. */
#include <linux/netfilter/nf_conntrack_common.h>

#include "backend/flow/decode.h"
#include "backend/proc/lines.h"
#include "backend/proc/scan.h"
#include "fastnet/array.h"
#include "fastnet/flow_names.h"

/* In the order in which the kernel writes words. A search goes on from the last word. */
enum line_word {
    WORD_UNREPLIED, /* between the two tuples */
    WORD_SRC,
    WORD_DST,
    WORD_SPORT,
    WORD_DPORT,
    WORD_PACKETS,
    WORD_BYTES,
    WORD_ASSURED,
    WORD_MARK,
    WORD_SECCTX,
    WORD_ZONE,
    WORD_DELTA_TIME,
    WORD_USE,
    WORD_TYPE,
    WORD_CODE,
    WORD_ID,
    WORD_SRCKEY,
    WORD_DSTKEY,
    WORD_ZONE_ORIG,
    WORD_ZONE_REPLY,
    WORD_HW_OFFLOAD,
    WORD_OFFLOAD,
    WORD_SECMARK, /* kernels before 2.6.37 */
    WORD_OTHER,
};

#define BIT(word) (UINT32_C(1) << (word))
#define PORTS     (BIT(WORD_SPORT) | BIT(WORD_DPORT))
#define KEYS      (BIT(WORD_SRCKEY) | BIT(WORD_DSTKEY))
#define COUNTERS  (BIT(WORD_PACKETS) | BIT(WORD_BYTES))
#define ICMP      (BIT(WORD_TYPE) | BIT(WORD_CODE) | BIT(WORD_ID))
#define ENDS      (BIT(WORD_SRC) | BIT(WORD_DST))
#define OF_TUPLE  (ENDS | PORTS | ICMP | KEYS)

enum line_form { FORM_NONE, FORM_NUMBER, FORM_KEY, FORM_ADDRESS, FORM_CONTEXT };

/* Words with a value, which is stored in a member of the direction or of the record. */
#define WORD(text_, form_, of, member, ...)                                                        \
    {                                                                                              \
        .text = TEXT_LITERAL(text_), .form = (form_), .offset = offsetof(of, member),              \
        .size = sizeof((of *)NULL)->member, __VA_ARGS__                                            \
    }
#define OF_WAY(text, form, member) WORD(text, form, struct flow_direction, member, .has = 0)
#define OF_FLOW(text, member, bit) WORD(text, FORM_NUMBER, struct record, flow.member, .has = (bit))

static const struct {
    struct text text;
    enum line_form form;
    uint16_t offset;
    uint8_t size;
    uint32_t status; /* status bits that the word means */
    uint64_t has;
} words[] = {
    [WORD_UNREPLIED] = {.text = TEXT_LITERAL("[UNREPLIED]")},
    [WORD_SRC] = OF_WAY("src=", FORM_ADDRESS, tuple.src),
    [WORD_DST] = OF_WAY("dst=", FORM_ADDRESS, tuple.dst),
    [WORD_SPORT] = OF_WAY("sport=", FORM_NUMBER, tuple.src_port),
    [WORD_DPORT] = OF_WAY("dport=", FORM_NUMBER, tuple.dst_port),
    [WORD_PACKETS] = OF_WAY("packets=", FORM_NUMBER, packets),
    [WORD_BYTES] = OF_WAY("bytes=", FORM_NUMBER, bytes),
    [WORD_ASSURED] = {.text = TEXT_LITERAL("[ASSURED]"), .status = IPS_ASSURED},
    [WORD_MARK] = OF_FLOW("mark=", mark, FLOW_MARK),
    [WORD_SECCTX] = {.text = TEXT_LITERAL("secctx="), .form = FORM_CONTEXT},
    [WORD_ZONE] = OF_FLOW("zone=", zone, FLOW_ZONE),
    [WORD_DELTA_TIME] = {.text = TEXT_LITERAL("delta-time=")},
    [WORD_USE] = OF_FLOW("use=", use, FLOW_USE),
    [WORD_TYPE] = OF_WAY("type=", FORM_NUMBER, tuple.icmp_type),
    [WORD_CODE] = OF_WAY("code=", FORM_NUMBER, tuple.icmp_code),
    [WORD_ID] = OF_WAY("id=", FORM_NUMBER, tuple.src_port),
    [WORD_SRCKEY] = OF_WAY("srckey=", FORM_KEY, tuple.src_port),
    [WORD_DSTKEY] = OF_WAY("dstkey=", FORM_KEY, tuple.dst_port),
    [WORD_ZONE_ORIG] = OF_FLOW("zone-orig=", way[WAY_ORIG].zone, FLOW_ORIG_ZONE),
    [WORD_ZONE_REPLY] = OF_FLOW("zone-reply=", way[WAY_REPLY].zone, FLOW_REPLY_ZONE),
    [WORD_HW_OFFLOAD] = {.text = TEXT_LITERAL("[HW_OFFLOAD]"),
                         .status = IPS_HW_OFFLOAD | IPS_OFFLOAD},
    [WORD_OFFLOAD] = {.text = TEXT_LITERAL("[OFFLOAD]"), .status = IPS_OFFLOAD},
    [WORD_SECMARK] = OF_FLOW("secmark=", secmark, FLOW_SECMARK),
};

_Static_assert(offsetof(struct flow_direction, tuple) == 0, "tuple is the first member");
struct line_decoding {
    struct scan scan; /* the rest of the line */
    struct record *record;
    struct flow_tuple *tuple; /* the tuple of the direction that is being decoded; NULL: none yet */
    uint32_t words;           /* bits BIT(word) of the words that this direction already had */
    enum line_word next;      /* the word to compare first */
};

static bool flow_line_take_word(struct scan *scan, struct scan *word)
{
    struct text text;
    bool found = scan_word(scan, &text);

    *word = (struct scan){text.data, text.data + text.length};
    return found;
}

/* Returns which word it is, and moves `word` to its value. */
static enum line_word recognise_word(struct line_decoding *decoding, struct scan *word)
{
    const size_t length = (size_t)(word->end - word->at);

    for (unsigned i = 0; i < COUNT(words); i++) {
        const enum line_word at = decoding->next;
        const struct text text = words[at].text;
        decoding->next = at + 1 < COUNT(words) ? at + 1 : 0;
        if (length < text.length || *word->at != *text.data ||
            memcmp(word->at, text.data, text.length) != 0 ||
            (*text.data == '[' && length != text.length))
            continue;
        word->at += text.length;
        return at;
    }
    return WORD_OTHER;
}

/* Takes a number that fills the whole word, into a member of `size` bytes. */
static inline bool flow_line_take_number(struct scan *word, void *member, size_t size)
{
    return scan_decimal_member(word, member, size) && word->at == word->end;
}

static bool take_byte(struct scan *scan, uint8_t *number)
{
    struct scan word;

    return flow_line_take_word(scan, &word) && flow_line_take_number(&word, number, sizeof *number);
}

/* Takes the family, a number. Flows and expectations have their families at the same offset. */
static bool flow_line_take_family(struct line_decoding *decoding)
{
    uint8_t *family = &decoding->record->flow.family;

    return take_byte(&decoding->scan, family) && (*family == AF_INET || *family == AF_INET6);
}

/* Takes a key of GRE: 0x and up to four digits. It is not inline, because few flows have a key. */
static bool take_key(struct scan *word, uint16_t *value)
{
    return scan_char(word, '0') && scan_char(word, 'x') && SCAN_HEX(word, *value) &&
           word->at == word->end;
}

static bool flow_line_take_address(struct scan *word, uint8_t family, struct address *address)
{
    address->family = family;
    if (family == AF_INET)
        return scan_ipv4(word, address->bytes);
    /* the kernel writes all eight groups of an IPv6 address here */
    for (size_t i = 0; i < 8; i++) {
        uint64_t group;
        if ((i && !scan_char(word, ':')) || !scan_hex(word, &group, 4))
            return false;
        address->bytes[2 * i] = (uint8_t)(group >> 8);
        address->bytes[2 * i + 1] = (uint8_t)group;
    }
    return true;
}

/* Takes a security context, which may contain spaces. It ends before a word that may follow it. */
static void take_context(struct line_decoding *decoding, const struct scan *value)
{
    const uint32_t following = BIT(WORD_ZONE) | BIT(WORD_DELTA_TIME) | BIT(WORD_USE);
    struct scan ahead = decoding->scan, word;
    const char *end = value->end;

    while (flow_line_take_word(&ahead, &word)) {
        const char *word_end = word.end;
        if (BIT(recognise_word(decoding, &word)) & following)
            break;
        end = word_end;
    }
    decoding->scan.at = end;
    decoding->record->flow.secctx = (struct text){value->at, (size_t)(end - value->at)};
    decoding->record->has |= FLOW_SECCTX;
}

/* Returns false if a word is repeated. Each direction has its own words of tuples and counters. */
static inline bool flow_line_take_value(struct line_decoding *decoding, enum line_word word,
                                        struct scan *value)
{
    const bool of_way = BIT(word) & (OF_TUPLE | COUNTERS);
    void *object = of_way ? (void *)decoding->tuple : decoding->record;

    if (decoding->words & BIT(word) || !object)
        return false;
    decoding->words |= BIT(word);
    void *member = (char *)object + words[word].offset;
    switch (words[word].form) {
    case FORM_NUMBER:
        return flow_line_take_number(value, member, words[word].size);
    case FORM_KEY:
        return take_key(value, member);
    case FORM_ADDRESS:
        return flow_line_take_address(value, decoding->record->flow.family, member) &&
               value->at == value->end;
    case FORM_CONTEXT:
        take_context(decoding, value);
        return true;
    case FORM_NONE:
        break;
    }
    return true;
}

/* True if the tuple has every word that its protocol needs. For protocols other than TCP, UDP and
 * ICMP this is unknown: a kernel without the module of a protocol tracks it without ports. */
static bool end_tuple(struct line_decoding *decoding)
{
    const uint32_t has = decoding->words;
    struct flow_tuple *tuple = decoding->tuple;
    uint32_t needed = ENDS;

    if (!tuple)
        return false;
    tuple->has_ports = (has & PORTS) == PORTS || (has & KEYS) == KEYS;
    switch (tuple->protocol) {
    case IPPROTO_TCP:
    case IPPROTO_UDP:
        needed |= PORTS;
        break;
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
        needed |= ICMP;
        break;
    default:
        needed |= ((has & PORTS) ? PORTS : 0) | ((has & KEYS) ? KEYS : 0);
        break;
    }
    return (has & needed) == needed;
}

/* --- Flows ------------------------------------------------------------------------------------ */

static bool end_way(struct line_decoding *decoding, enum flow_way way)
{
    if ((decoding->words & COUNTERS) == COUNTERS)
        decoding->record->has |= FLOW_ORIG_COUNTERS << way;
    return end_tuple(decoding);
}

/* The second src= begins the tuple of the reply. */
static bool begin_tuple(struct line_decoding *decoding)
{
    struct flow_direction *way = decoding->record->flow.way;

    if (!decoding->tuple) {
        decoding->tuple = &way[WAY_ORIG].tuple;
        return true;
    }
    if (decoding->tuple != &way[WAY_ORIG].tuple || !end_way(decoding, WAY_ORIG))
        return false;
    decoding->tuple = &way[WAY_REPLY].tuple;
    decoding->tuple->protocol = way[WAY_ORIG].tuple.protocol;
    decoding->words &= ~(OF_TUPLE | COUNTERS);
    return true;
}

static inline bool flow_line_take_text(struct scan *scan, const char *text)
{
    const size_t length = strlen(text);

    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, text, length) != 0)
        return false;
    scan->at += length;
    return true;
}

static inline bool take_two(struct scan *scan, const char *first, const char *second,
                            uint64_t numbers[2], uint64_t max)
{
    return flow_line_take_text(scan, first) && scan_decimal(scan, &numbers[0], max) &&
           flow_line_take_text(scan, second) && scan_decimal(scan, &numbers[1], max) &&
           scan->at < scan->end && *scan->at == ' ';
}

/* Takes the usual words after src= faster than word by word. The caller takes other words. */
static void take_usual_words(struct line_decoding *decoding)
{
    struct flow_record *const flow = &decoding->record->flow;
    struct flow_direction *const way = (void *)decoding->tuple;
    struct scan scan = decoding->scan;
    uint64_t two[2];

    if (!flow_line_take_text(&scan, " dst=") ||
        !flow_line_take_address(&scan, flow->family, &way->tuple.dst) ||
        !take_two(&scan, " sport=", " dport=", two, UINT16_MAX))
        return;
    way->tuple.src_port = (uint16_t)two[0];
    way->tuple.dst_port = (uint16_t)two[1];
    decoding->words |= BIT(WORD_DST) | PORTS;
    decoding->scan = scan;
    if (take_two(&scan, " packets=", " bytes=", two, UINT64_MAX)) {
        way->packets = two[0];
        way->bytes = two[1];
        decoding->words |= COUNTERS;
        decoding->scan = scan;
    }
    decoding->next = way == flow->way ? WORD_UNREPLIED : WORD_ASSURED;
}

/* Takes all words of a flow; ignores unknown words. */
static bool take_flow_words(struct line_decoding *decoding)
{
    struct record *record = decoding->record;
    struct scan value;

    while (flow_line_take_word(&decoding->scan, &value)) {
        const enum line_word word = recognise_word(decoding, &value);
        if (word == WORD_OTHER)
            continue;
        if ((word == WORD_SRC && !begin_tuple(decoding)) ||
            !flow_line_take_value(decoding, word, &value))
            return false;
        if (word == WORD_SRC)
            take_usual_words(decoding);
        record->has |= words[word].has;
        record->flow.status |= words[word].status;
    }
    /* Each line ends with use=, so a line without it was cut. */
    return decoding->tuple == &record->flow.way[WAY_REPLY].tuple && end_way(decoding, WAY_REPLY) &&
           (decoding->words & BIT(WORD_USE));
}

/* Takes the timeout. Offloaded flows have no timeout. */
static void take_timeout(struct line_decoding *decoding)
{
    uint32_t *timeout = &decoding->record->flow.timeout;
    struct scan ahead = decoding->scan, word;

    if (!flow_line_take_word(&ahead, &word) ||
        !flow_line_take_number(&word, timeout, sizeof *timeout))
        return;
    decoding->record->has |= FLOW_TIMEOUT;
    decoding->scan = ahead;
}

/* Takes the state. A word that is not a state of the protocol is left to take_flow_words(). */
static void flow_line_take_state(struct line_decoding *decoding)
{
    struct record *record = decoding->record;
    const uint8_t protocol = record->flow.way[WAY_ORIG].tuple.protocol;
    struct scan ahead = decoding->scan, word;
    int state;

    if (!flow_line_take_word(&ahead, &word))
        return;
    state = flow_state_number(protocol, word.at, (size_t)(word.end - word.at));
    if (state < 0)
        return;
    record->flow.state = (uint8_t)state;
    record->has |= FLOW_STATE;
    decoding->scan = ahead;
}

/* Returns the status bits of NAT. The reply is the original direction with both ends swapped,
 * except for changes by NAT: source NAT changes the destination of the reply, destination NAT its
 * source (nf_nat_setup_info() in nf_nat_core.c). In ICMP the id is the source port of both. */
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

/* Takes the protocols: for each its name and its number. named: the line begins with the family. */
static bool take_protocols(struct line_decoding *decoding, bool named)
{
    struct flow_record *flow = &decoding->record->flow;
    struct scan name;

    flow->family = AF_INET;
    return (!named ||
            (flow_line_take_word(&decoding->scan, &name) && flow_line_take_family(decoding))) &&
           flow_line_take_word(&decoding->scan, &name) &&
           take_byte(&decoding->scan, &flow->way[WAY_ORIG].tuple.protocol);
}

static int decode_flow(const struct line *line, bool named, struct record *record)
{
    struct line_decoding decoding = {.scan = {line->data, line->data + line->length},
                                     .record = record};
    struct flow_record *flow = &record->flow;

    record_begin(record, &kind_flow, sizeof record->flow);
    if (line->cut || !take_protocols(&decoding, named))
        return -EBADMSG;
    take_timeout(&decoding);
    flow_line_take_state(&decoding);
    if (!take_flow_words(&decoding))
        return -EBADMSG;
    /* zone 0 means that the flow has no zone */
    record->has &= ~(flow->zone ? 0 : FLOW_ZONE);
    for (enum flow_way way = WAY_ORIG; way < FLOW_WAYS; way++)
        record->has &= ~(flow->way[way].zone ? 0 : FLOW_ORIG_ZONE << way);
    if (flow->use)
        flow->use--;
    flow->status |= IPS_CONFIRMED | nat_status(flow);
    if (!(decoding.words & BIT(WORD_UNREPLIED)))
        flow->status |= IPS_SEEN_REPLY;
    record->has |= FLOW_ORIG | FLOW_REPLY | FLOW_STATUS;
    record->identity = flow_identity(record);
    return 0;
}

int proc_conntrack_decode_flow(const struct line *line, struct record *record)
{
    return decode_flow(line, true, record);
}

int proc_conntrack_decode_ip_flow(const struct line *line, struct record *record)
{
    return decode_flow(line, false, record);
}

/* --- Expectations ----------------------------------------------------------------------------- */

static bool take_literal(struct scan *scan, const char *literal)
{
    scan_spaces(scan);
    return flow_line_take_text(scan, literal);
}

/* Takes "TIMEOUT l3proto = FAMILY proto=PROTOCOL". "-" means no timeout. */
static bool take_expectation_head(struct line_decoding *decoding)
{
    struct expectation_record *expectation = &decoding->record->expectation;
    struct scan *scan = &decoding->scan, word;

    if (!flow_line_take_word(scan, &word))
        return false;
    if (!scan_char(&word, '-')) {
        if (!flow_line_take_number(&word, &expectation->timeout, sizeof expectation->timeout))
            return false;
        decoding->record->has |= FLOW_TIMEOUT;
    } else if (word.at != word.end) {
        return false;
    }
    return take_literal(scan, "l3proto =") && flow_line_take_family(decoding) &&
           take_literal(scan, "proto=") && take_byte(scan, &expectation->orig.protocol);
}

/* Takes the tuple, which ends before the first word that cannot belong to a tuple. */
static bool take_expected_tuple(struct line_decoding *decoding)
{
    struct scan ahead = decoding->scan, word;

    decoding->tuple = &decoding->record->expectation.orig;
    while (flow_line_take_word(&ahead, &word)) {
        const enum line_word which = recognise_word(decoding, &word);
        if (!(BIT(which) & OF_TUPLE))
            break;
        if (!flow_line_take_value(decoding, which, &word))
            return false;
        decoding->scan = ahead;
    }
    return end_tuple(decoding);
}

/* Takes names of flags, joined by commas. Returns false if a name in the word is not a flag. */
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

/* Takes HELPER or HELPER/POLICY up to the end of the line: user space can give helpers any name. */
static void take_helper(struct line_decoding *decoding)
{
    struct scan *scan = &decoding->scan;
    const char *slash;

    scan_spaces(scan);
    if (scan->at == scan->end)
        return;
    slash = memchr(scan->at, '/', (size_t)(scan->end - scan->at));
    decoding->record->expectation.helper =
        (struct text){scan->at, (size_t)((slash ? slash : scan->end) - scan->at)};
    decoding->record->has |= FLOW_HELPER;
}

int proc_conntrack_decode_expectation(const struct line *line, struct record *record)
{
    struct line_decoding decoding = {.scan = {line->data, line->data + line->length},
                                     .record = record};
    struct scan ahead, word;

    record_begin(record, &kind_expectation, sizeof record->expectation);
    if (line->cut || !take_expectation_head(&decoding))
        return -EBADMSG;
    if (!take_expected_tuple(&decoding))
        return -EBADMSG;
    ahead = decoding.scan;
    if (flow_line_take_word(&ahead, &word) && take_flags(&word, &record->expectation.flags))
        decoding.scan = ahead;
    take_helper(&decoding);
    record->has |= FLOW_ORIG | FLOW_FLAGS;
    return 0;
}
