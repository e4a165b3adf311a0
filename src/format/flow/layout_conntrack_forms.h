/* SPDX-License-Identifier: MIT */
/* The forms of conntrack's layout (line, XML, save), and the parts they share. A form is a table of
 * pieces, in the order in which they are written. */
#ifndef FORMAT_FLOW_LAYOUT_CONNTRACK_FORMS_H
#define FORMAT_FLOW_LAYOUT_CONNTRACK_FORMS_H

#include <time.h>

#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/layouts.h"
#include "text/put.h"

enum {
    /* A text up to this long is written into the row's room, a longer text in pieces. */
    SHORT_TEXT_MAX = 128,
    /* Upper bound for the bytes between two calls of writer_reserve(): an XML flow with all
     * elements and the widest values (below 2 KiB, see the tests), and three short texts,
     * escaped. */
    ROW_MAX = 2048 + 3 * ESCAPE_FACTOR * SHORT_TEXT_MAX,
};

_Static_assert(ROW_MAX <= (int)WRITER_RESERVE_MAX, "a row fits the reserve");

struct conntrack_sink {
    struct sink sink;
    struct conntrack_layout layout;
    const char *root; /* XML: the open root element; NULL before the first row */
};

/* The data that pieces are written from. */
struct flow_row {
    const struct conntrack_sink *conntrack;
    const struct record *record;
};

/* Writes one row to dst, which has room for ROW_MAX bytes. Returns the end, without a newline. */
typedef char *row_fn(char *dst, const struct flow_row *row);
row_fn line_flow, line_expectation, xml_flow, xml_expectation, save_flow;

/* These functions write their newlines, too. */
char *line_statistics(char *dst, const struct record *record);
char *block_usage(char *dst, const struct record *record);

/* --- Pieces ----------------------------------------------------------------------------------- */

/* A piece is words, a member of the record, and further words. It is written only if the record has
 * all bits of `fields` and (unless `any` is 0) a bit of `any`, if the option is set, and if the
 * member's bits in `mask` equal `bits`. */
struct piece {
    enum { PIECE_WORDS, PIECE_NUMBER, PIECE_NAME, PIECE_ADDRESS, PIECE_TEXT, PIECE_OWN } form;
    uint16_t member, size;
    uint16_t option; /* offset of a bool in struct conntrack_sink; 0: no option is needed */
    uint32_t mask, bits;
    uint64_t fields, any; /* presence bits: all of `fields`, one of `any` (0: no condition) */
    struct text before, after;
    const char *delimiters;                    /* PIECE_TEXT: characters to escape */
    char *(*name)(char *dst, uint64_t number); /* PIECE_NAME: writes a number's name */
    char *(*own)(char *dst, const struct flow_row *row, const void *member);
};

/* A piece: a member with words around it. Then follow `fields` and conditions such as WITH(). */
/* clang-format off */
#define PIECE(its_form, its_before, path, its_after, ...)                                          \
    {.form = PIECE_##its_form, .before = TEXT_LITERAL(its_before), .after = TEXT_LITERAL(its_after),\
     .member = offsetof(struct record, path), .size = sizeof(((struct record *)NULL)->path),       \
     .fields = __VA_ARGS__}
/* clang-format on */
/* Pieces written by a function, which gets the member's number, or the member and the row. */
#define NAME(function, before, path, after, ...)                                                   \
    PIECE(NAME, before, path, after, __VA_ARGS__, .name = (function))
#define OWN(function, before, path, after, ...)                                                    \
    PIECE(OWN, before, path, after, __VA_ARGS__, .own = (function))
/* Conditions: this word of -o; any of these fields; this value in these bits of the member. */
#define WITH(word)           .option = offsetof(struct conntrack_sink, layout.word)
#define ANY(some)            .any = (some)
#define BITS(in_mask, value) .mask = (in_mask), .bits = (value)
/* Words on a condition. The member at `path` is tested, not written. */
#define IF(words, path, ...)             PIECE(WORDS, words, path, "", __VA_ARGS__)
#define IF_EVENT(words, path, value)     IF(words, path, FLOW_EVENT, BITS(UINT8_MAX, value))
#define IF_STATUS(words, in_mask, value) IF(words, flow.status, FLOW_STATUS, BITS(in_mask, value))

/* --- Parts of rows ---------------------------------------------------------------------------- */

/* Writes a text that others chose; escapes these delimiters, too. dst is in a reserve of ROW_MAX
 * bytes. If the text needs more room, the returned end is in a new reserve of that size. */
char *put_foreign(const struct conntrack_sink *conntrack, char *dst, struct text text,
                  const char *delimiters);

/* Characters with a meaning in XML (5th edition, 2.4). */
#define XML_DELIMITERS "<>&\""

/* Writes the names of these bits, separated by commas, without bits that have no name. */
char *put_bit_names(char *dst, const struct flag_names *names, uint32_t bits);

/* Writes those labels of a flow that have a name. */
char *put_labels(char *dst, const struct flow_row *row, const void *flow);

/* Writes the port id and name of the process that caused an event, for the end of a row of -E. */
char *put_sender(char *dst, const struct flow_row *row, const void *sender);

/* Names of a state and of a protocol; without a name "NONE" and "unknown". */
static inline char *put_state_name(char *dst, uint8_t protocol, uint8_t state)
{
    const struct text name = flow_state_name(protocol, state);

    return name.data ? put_text(dst, name) : PUT(dst, "NONE");
}

static inline char *put_protocol_name(char *dst, uint8_t protocol)
{
    const struct text name = flow_protocol_name(protocol);

    return name.data ? put_text(dst, name) : PUT(dst, "unknown");
}

/* Writes a number and a space. */
static inline char *put_number(char *dst, uint64_t number)
{
    return PUT(text_u64(dst, number), " ");
}

/* Converts nanoseconds since 1970 to local time. */
struct tm local_time(uint64_t moment);

/* Returns when a row was received, ns since 1970: `received` for an event, otherwise now. */
uint64_t row_received(const struct record *record, uint64_t received);

/* Writes whole seconds from the start of a flow to its stop, or to now. */
char *put_delta(char *dst, const struct flow_row *row, const void *start);

/* Writes the name that a flow's protocol gives to its state. */
char *put_state(char *dst, const struct flow_row *row, const void *state);

/* Writes the pieces of a constant table: the compiler unrolls the loop and drops its tests. */
#ifdef __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 64")
#endif
#define PUT_PIECES(dst, row, pieces) put_pieces(dst, row, pieces, COUNT(pieces))
static inline __attribute__((always_inline)) char *
put_pieces(char *dst, const struct flow_row *row, const struct piece *pieces, size_t count)
{
    const struct conntrack_sink *conntrack = row->conntrack;
    const struct record *record = row->record;
    const uint64_t has = record->has;

    UNROLLED
    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &pieces[i];
        const void *member = (const char *)record + piece->member;
        if ((has & piece->fields) != piece->fields || (piece->any && !(has & piece->any)) ||
            (piece->option && !*((const bool *)conntrack + piece->option)) ||
            (piece->mask && (bytes_number(member, piece->size) & piece->mask) != piece->bits))
            continue;
        dst = put_text(dst, piece->before);
        if (piece->form == PIECE_NUMBER)
            dst = text_u64(dst, bytes_number(member, piece->size));
        else if (piece->form == PIECE_NAME)
            dst = piece->name(dst, bytes_number(member, piece->size));
        else if (piece->form == PIECE_ADDRESS)
            dst = put_address(dst, member);
        else if (piece->form == PIECE_TEXT)
            dst = put_foreign(conntrack, dst, *(const struct text *)member, piece->delimiters);
        else if (piece->form == PIECE_OWN)
            dst = piece->own(dst, row, member);
        dst = put_text(dst, piece->after);
    }
    return dst;
}

#endif
