/* SPDX-License-Identifier: MIT */
/*
 * The forms of conntrack's layout (line, XML, save), and what they share. A form is a table of
 * pieces, in the order in which they stand in the row.
 */
#ifndef FORMAT_FLOW_LAYOUT_CONNTRACK_FORMS_H
#define FORMAT_FLOW_LAYOUT_CONNTRACK_FORMS_H

#include <time.h>

#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/layouts.h"
#include "text/put.h"

enum {
    /* A text up to this long is written where it stands; a longer one in pieces. */
    SHORT_TEXT_MAX = 128,
    /*
     * The most that a row takes from one reserve to the next: an XML flow with every element and
     * the widest values (below 2 KiB, see the tests), and three short texts at their longest.
     */
    ROW_MAX = 2048 + 3 * ESCAPE_FACTOR * SHORT_TEXT_MAX,
};

_Static_assert(ROW_MAX <= (int)WRITER_RESERVE_MAX, "a row fits the reserve");

struct conntrack_sink {
    struct sink sink;
    struct conntrack_layout layout;
    const char *root; /* XML: the element that is open, NULL before the first row */
};

/* What pieces are written from. */
struct flow_row {
    const struct conntrack_sink *conntrack;
    const struct record *record;
};

/* Each writes one row. dst has room for ROW_MAX bytes; returned is its end, without a line end. */
typedef char *row_fn(char *dst, const struct flow_row *row);
row_fn line_flow, line_expectation, xml_flow, xml_expectation, save_flow;

/* With their line ends. */
char *line_statistics(char *dst, const struct record *record);
char *block_usage(char *dst, const struct record *record);

/* --- Pieces ----------------------------------------------------------------------------------- */

/*
 * A piece is words, a member of the record, and further words. It is left out unless the record has
 * all of the fields and any of the others, the layout the option, and the member these bits.
 */
struct piece {
    enum { PIECE_WORDS, PIECE_NUMBER, PIECE_NAME, PIECE_ADDRESS, PIECE_TEXT, PIECE_OWN } form;
    uint16_t member, size;
    uint16_t option; /* bytes from the start of a conntrack_sink to its bool; 0: none */
    uint32_t mask, bits;
    uint64_t fields, any; /* any 0: these do not count */
    struct text before, after;
    const char *delimiters;                    /* of PIECE_TEXT, which others chose */
    char *(*name)(char *dst, uint64_t number); /* of PIECE_NAME */
    char *(*own)(char *dst, const struct flow_row *row, const void *member);
};

/* Rows of a table. Behind the words and the member stand the fields, and what else counts. */
/* clang-format off */
#define PIECE(its_form, its_before, path, its_after, ...)                                          \
    {.form = PIECE_##its_form, .before = TEXT_LITERAL(its_before), .after = TEXT_LITERAL(its_after),\
     .member = offsetof(struct record, path), .size = sizeof(((struct record *)NULL)->path),       \
     .fields = __VA_ARGS__}
/* clang-format on */
/* What a function makes of the member's number, or of more than one member. */
#define NAME(function, before, path, after, ...)                                                   \
    PIECE(NAME, before, path, after, __VA_ARGS__, .name = (function))
#define OWN(function, before, path, after, ...)                                                    \
    PIECE(OWN, before, path, after, __VA_ARGS__, .own = (function))
/* Only with this word of -o, with any of these fields, or if these bits of the member are so. */
#define WITH(word)      .option = offsetof(struct conntrack_sink, layout.word)
#define ANY(of)         .any = (of)
#define BITS(some, are) .mask = (some), .bits = (are)
/* Words that no member follows. */
#define IF(words, path, ...)        PIECE(WORDS, words, path, "", __VA_ARGS__)
#define IF_EVENT(words, path, is)   IF(words, path, FLOW_EVENT, BITS(UINT8_MAX, is))
#define IF_STATUS(words, some, are) IF(words, flow.status, FLOW_STATUS, BITS(some, are))

/* --- Parts of rows ---------------------------------------------------------------------------- */

/*
 * A text that others chose, with these delimiters escaped, too. dst is from a reserve of ROW_MAX
 * bytes. If the text is too long for that, the returned place is from a reserve of its own.
 */
char *put_foreign(const struct conntrack_sink *conntrack, char *dst, struct text text,
                  const char *delimiters);

/* Characters that have a meaning in XML (5th edition, 2.4). */
#define XML_DELIMITERS "<>&\""

/* The names of these bits, joined by commas; bits without a name are left out. */
char *put_bit_names(char *dst, const struct flag_names *names, uint32_t bits);

/* The labels of a flow that have a name. */
char *put_labels(char *dst, const struct flow_row *row, const void *flow);

/* How a row of -E that a process caused ends. */
char *put_sender(char *dst, const struct flow_row *row, const void *sender);

/* "NONE" for a state without a name, "unknown" for a protocol. */
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

/* A number, and the blank that ends it. */
static inline char *put_number(char *dst, uint64_t number)
{
    return PUT(text_u64(dst, number), " ");
}

/* A moment, in nanoseconds since 1970, by the local clock. */
struct tm local_time(uint64_t moment);

/* When a row was received, nanoseconds since 1970: `received` if it is an event, else now. */
uint64_t row_received(const struct record *record, uint64_t received);

/* Whole seconds from the start of a flow to its stop, or until now. */
char *put_delta(char *dst, const struct flow_row *row, const void *start);

/* The state of a flow, by the names of its protocol. */
char *put_state(char *dst, const struct flow_row *row, const void *state);

/*
 * Writes pieces. Callers name a table that the compiler knows: told to unroll the loop, it makes
 * straight code of it.
 */
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
