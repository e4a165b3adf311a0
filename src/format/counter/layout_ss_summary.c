/* SPDX-License-Identifier: MIT */
/* The summary of ss of iproute2 7.1 (-s), from the counters of sockstat, sockstat6 and snmp. Rows
 * only store their counters; all is written at the end, when the counters are complete. */
#include <string.h>

#include "fastnet/kernel_number.h"
#include "fastnet/layouts.h"
#include "fastnet/text.h"
#include "text/put.h"

/* A number of sockets, or the difference of two such numbers. */
struct number {
    bool known;
    int64_t value;
};

struct ss_summary_sink {
    struct sink sink;
    struct ss_summary_layout layout;
    struct number counts[KERNEL_NUMBERS];
    bool any, inet6; /* whether any row, any row of IPv6 has come */
};

static void ss_summary_forget(struct ss_summary_sink *summary)
{
    memset(summary->counts, 0, sizeof summary->counts);
    summary->any = summary->inet6 = false;
}

static void ss_summary_begin(struct sink *sink)
{
    struct ss_summary_sink *summary = (struct ss_summary_sink *)sink;

    ss_summary_forget(summary);
    *summary->layout.mixed = false;
}

static void ss_summary_row(struct sink *sink, const struct record *record)
{
    const struct counter_record *counter = &record->counter;
    struct ss_summary_sink *summary = (struct ss_summary_sink *)sink;

    const enum kernel_number number = kernel_number_of(counter);
    /* the kernel counts with 32 bits */
    const int64_t value = (int64_t)(counter->magnitude & UINT32_MAX);

    summary->any = true;
    summary->counts[number] =
        (struct number){(record->has & COUNTER_VALUE) && counter->magnitude <= UINT32_MAX,
                        counter->negative ? -value : value};
    summary->inet6 |= number > TCP_IN_USE && number <= FRAGMENTS6 && (number - TCP_IN_USE) % 2;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static struct number plus(struct number a, struct number b)
{
    return (struct number){a.known && b.known, a.value + b.value};
}

static char *ss_summary_put_count(char *dst, struct number number)
{
    const bool negative = number.value < 0;

    return number.known
               ? text_signed(dst, (uint64_t)(negative ? -number.value : number.value), negative)
               : PUT(dst, "-");
}

static char *ss_summary_put_cell(char *dst, struct number number)
{
    enum { WIDTH = 9 };

    return text_pad(ss_summary_put_count(dst, number), dst, WIDTH);
}

/* Writes a line of the table: name, sum, IPv4, IPv6. */
static void ss_summary_put_transport(struct writer *writer, const char *name, struct number inet,
                                     struct number inet6)
{
    char *dst = writer_reserve(writer, 128);

    dst = put_string(dst, name);
    dst = PUT(dst, "\t  ");
    dst = PUT(ss_summary_put_cell(dst, plus(inet, inet6)), " ");
    dst = PUT(ss_summary_put_cell(dst, inet), " ");
    dst = ss_summary_put_cell(dst, inet6);
    writer_commit(writer, PUT(dst, "\n"));
}

/* Writes TCP's line. TIME_WAIT counts as closed: it is not among sockets allocated or in use. */
static void ss_summary_put_tcp(struct writer *writer, const struct number counts[KERNEL_NUMBERS])
{
    const struct number total = plus(counts[TCP_ALLOCATED], counts[TCP_WAITING]);
    const struct number used = plus(counts[TCP_IN_USE], counts[TCP6_IN_USE]);
    char *dst = PUT(writer_reserve(writer, 256), "TCP:   ");

    dst = ss_summary_put_count(dst, total);
    dst = PUT(dst, " (estab ");
    dst = ss_summary_put_count(dst, counts[TCP_CONNECTIONS]);
    dst = PUT(dst, ", closed ");
    dst = ss_summary_put_count(dst, plus(total, (struct number){used.known, -used.value}));
    dst = PUT(dst, ", orphaned ");
    dst = ss_summary_put_count(dst, counts[TCP_ORPHANS]);
    dst = PUT(dst, ", timewait ");
    dst = ss_summary_put_count(dst, counts[TCP_WAITING]);
    writer_commit(writer, PUT(dst, ")\n"));
}

/* Writes the summary: at the end, and before the counters of another network namespace. */
static void put_summary(struct sink *sink)
{
    struct ss_summary_sink *summary = (struct ss_summary_sink *)sink;
    struct number *counts = summary->counts;
    struct number inet = {true, 0}, inet6 = {true, 0};
    struct writer *writer = sink->writer;
    char *dst;

    if (!summary->any)
        return;
    for (size_t i = TCP_IN_USE; i < FRAGMENTS6 && !summary->inet6; i += 2)
        counts[i + 1].known = true; /* a kernel without IPv6 has 0 such sockets */
    for (size_t i = TCP_IN_USE; i < FRAGMENTS; i += 2) {
        inet = plus(inet, counts[i]);
        inet6 = plus(inet6, counts[i + 1]);
    }
    dst = PUT(writer_reserve(writer, 64), "Total: ");
    dst = ss_summary_put_count(dst, counts[SOCKETS_USED]);
    writer_commit(writer, PUT(dst, "\n"));
    ss_summary_put_tcp(writer, counts);
    writer_puts(writer, "\nTransport Total     IP        IPv6\n");
    ss_summary_put_transport(writer, "RAW", counts[RAW_IN_USE], counts[RAW6_IN_USE]);
    ss_summary_put_transport(writer, "UDP", counts[UDP_IN_USE], counts[UDP6_IN_USE]);
    ss_summary_put_transport(writer, "TCP", counts[TCP_IN_USE], counts[TCP6_IN_USE]);
    ss_summary_put_transport(writer, "INET", inet, inet6);
    ss_summary_put_transport(writer, "FRAG", counts[FRAGMENTS], counts[FRAGMENTS6]);
    writer_puts(writer, "\n");
    if (counts[TCP_ORPHANS].value ||
        counts[TCP_ALLOCATED].value != counts[TCP_IN_USE].value + counts[TCP6_IN_USE].value)
        *summary->layout.mixed = true;
    ss_summary_forget(summary);
}

const struct sink_ops sink_ss_summary = {
    .size = sizeof(struct ss_summary_sink),
    .layout_size = sizeof(struct ss_summary_layout),
    .begin = ss_summary_begin,
    .row = ss_summary_row,
    .pause = put_summary,
    .end = put_summary,
};
