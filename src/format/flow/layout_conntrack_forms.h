/* SPDX-License-Identifier: MIT */
/*
 * The forms of conntrack's layout, and what they share: the room of a row, texts, labels, times.
 * They are code, not tables of pieces. Such tables were tried: they had as many lines, and the
 * program took 21 % more instructions for lines, 30 % for XML.
 */
#ifndef FORMAT_FLOW_LAYOUT_CONNTRACK_FORMS_H
#define FORMAT_FLOW_LAYOUT_CONNTRACK_FORMS_H

#include <time.h>

#include "fastnet/flow_names.h"
#include "fastnet/layouts.h"
#include "format/text/put.h"

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

/* Each writes one row. dst has room for ROW_MAX bytes; returned is its end, without a line end. */
char *line_flow(const struct conntrack_sink *conntrack, char *dst, const struct record *record);
char *line_expectation(const struct conntrack_sink *conntrack, char *dst,
                       const struct record *record);
char *xml_flow(const struct conntrack_sink *conntrack, char *dst, const struct record *record);
char *xml_expectation(const struct conntrack_sink *conntrack, char *dst,
                      const struct record *record);
char *save_flow(char *dst, const struct record *record);

/* With their line ends. */
char *line_statistics(char *dst, const struct record *record);
char *block_usage(char *dst, const struct record *record);

/* --- Parts of rows ---------------------------------------------------------------------------- */

/* A number, and the blank that ends it. */
static inline char *put_number(char *dst, uint64_t number)
{
    return PUT(text_u64(dst, number), " ");
}

/* Writes the same behind its name, a literal, if the field is known. */
#define PUT_KNOWN(dst, known, name, number) ((known) ? put_number(PUT(dst, name), number) : (dst))

/* True if the record has this field of a direction. orig_field: its bit for the original one. */
static inline bool has_of_way(const struct record *record, uint64_t orig_field, enum flow_way way)
{
    return record->has & orig_field << way;
}

_Static_assert(FLOW_REPLY == FLOW_ORIG << WAY_REPLY &&
                   FLOW_REPLY_COUNTERS == FLOW_ORIG_COUNTERS << WAY_REPLY &&
                   FLOW_REPLY_ZONE == FLOW_ORIG_ZONE << WAY_REPLY &&
                   FLOW_REPLY_VTAG == FLOW_ORIG_VTAG << WAY_REPLY,
               "each bit of the reply follows that of the original direction");

/*
 * A text that others chose, with these delimiters escaped, too. dst is from a reserve of ROW_MAX
 * bytes. If the text is too long for that, the returned place is from a reserve of its own.
 */
char *put_foreign(const struct conntrack_sink *conntrack, char *dst, struct text text,
                  const char *delimiters);

/* Commits what was written up to dst, and reserves another ROW_MAX bytes. */
char *put_more(const struct conntrack_sink *conntrack, char *dst);

/* The names of these bits, joined by commas; bits without a name are left out. */
char *put_bit_names(char *dst, const struct flag_names *names, uint32_t bits);

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

/* True if the row shows the flow's labels. */
static inline bool shows_labels(const struct conntrack_sink *conntrack, const struct record *record)
{
    return conntrack->layout.labels && (record->has & FLOW_LABELS) &&
           conntrack->sink.context->labels;
}

/* The name of the flow's first label from *bit on; *bit is then behind it. NULL data: no more. */
struct text next_label(const struct conntrack_sink *conntrack, const struct flow_record *flow,
                       size_t *bit);

/* Whole seconds from start (nanoseconds since 1970) until now. */
uint64_t seconds_since(uint64_t start);

/* A moment, in nanoseconds since 1970, by the local clock. */
struct tm local_time(uint64_t moment);

/* When a row was received, nanoseconds since 1970: `received` if it is an event, else now. */
uint64_t row_received(const struct record *record, uint64_t received);

#endif
