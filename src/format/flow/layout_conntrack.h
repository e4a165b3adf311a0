/* What the files of conntrack's layout share. */
#ifndef FORMAT_FLOW_LAYOUT_CONNTRACK_H
#define FORMAT_FLOW_LAYOUT_CONNTRACK_H

#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "fastnet/sink.h"
#include "fastnet/text.h"

enum {
    /* A text up to this long is written where it stands; a longer one in pieces. */
    SHORT_TEXT_MAX = 128,
    /*
     * What a row takes at most from one reserve to the next: an XML flow with every element and the
     * widest of values (below 2 KiB, see the tests), three short texts, two of them escaped at
     * their worst.
     */
    ROW_MAX = 2048 + 3 * ESCAPE_FACTOR * SHORT_TEXT_MAX,
};

_Static_assert(ROW_MAX <= (int)WRITER_RESERVE_MAX, "a row fits the reserve");

struct conntrack_sink {
    struct sink sink;
    struct conntrack_layout layout;
    const char *root; /* XML: the element that is open, NULL before the first row */
};

static inline char *put_bytes(char *dst, const char *data, size_t length)
{
    memcpy(dst, data, length);
    return dst + length;
}

/* A literal: its length is known to the compiler. */
#define PUT(dst, literal) put_bytes(dst, literal, sizeof literal - 1)

/* A name of ours, in need of no escaping. */
static inline char *put_name(char *dst, struct text name)
{
    return put_bytes(dst, name.data, name.length);
}

/* As inet_ntop(3) has it: a mapped address stays what it is. */
static inline char *put_address(char *dst, const struct address *address)
{
    return address->family == AF_INET ? text_ipv4(dst, address->bytes)
                                      : text_ipv6(dst, address->bytes);
}

/* 0x1f */
char *put_hex(char *dst, uint16_t number);

/*
 * A text that others chose, with these delimiters escaped besides. dst is from a reserve of ROW_MAX
 * bytes, and so is what is returned where the text was too long for it.
 */
char *put_foreign(struct writer *writer, char *dst, struct text text, const char *delimiters);

/* Keeps what was written up to dst; room for another ROW_MAX bytes. */
char *put_more(struct writer *writer, char *dst);

/* Whole seconds since start (nanoseconds since 1970), at this moment. */
uint64_t seconds_since(uint64_t start);

/* A moment, in nanoseconds since 1970, by the local clock. */
struct tm local_time(uint64_t moment);

/* When a row was received: an event, as it says; else now. Nanoseconds since 1970. */
uint64_t row_received(const struct record *record, uint64_t received);

/* These take a place with room for ROW_MAX bytes and return the end, without a line end. */
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

#endif
