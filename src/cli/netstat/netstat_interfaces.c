/* SPDX-License-Identifier: MIT */
/* net-tools' netstat: interfaces (-i). */
#include <net/if.h>
#include <string.h>

#include "cli/command.h"
#include "cli/netstat/netstat.h"

/* The order of net-tools (lib/nstrcmp.c): by words, then by number, then by the alias' number */

struct name_parts {
    struct text words;  /* the name without its digits at the end */
    struct text number; /* the digits after `words` */
    struct text alias;  /* digits; empty: not an alias */
};

static size_t without_digits(const char *text, size_t length)
{
    while (length && text[length - 1] >= '0' && text[length - 1] <= '9')
        length--;
    return length;
}

static struct name_parts split(const struct text *name)
{
    size_t length = name->length, words = without_digits(name->data, length);
    struct name_parts parts = {.alias = {NULL, 0}};

    if (words && words < length && name->data[words - 1] == ':') {
        parts.alias = (struct text){name->data + words, length - words};
        length = words - 1;
        words = without_digits(name->data, length);
    }
    parts.words = (struct text){name->data, words};
    parts.number = (struct text){name->data + words, length - words};
    return parts;
}

static int interfaces_compare_bytes(struct text a, struct text b)
{
    const size_t common = a.length < b.length ? a.length : b.length;
    const int order = common ? memcmp(a.data, b.data, common) : 0;

    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static struct text without_zeroes(struct text digits)
{
    while (digits.length > 1 && *digits.data == '0')
        digits = (struct text){digits.data + 1, digits.length - 1};
    return digits;
}

/* Compares numbers by their values, then by their leading zeroes. An empty text comes first. */
static int compare_digits(struct text a, struct text b)
{
    const struct text x = without_zeroes(a), y = without_zeroes(b);
    const int order = x.length == y.length  ? interfaces_compare_bytes(x, y)
                      : x.length > y.length ? 1
                                            : -1;

    return order ? order : interfaces_compare_bytes(a, b);
}

static int interfaces_compare_names(const struct record *x, const struct record *y)
{
    const struct name_parts a = split(&x->interface.name), b = split(&y->interface.name);
    int order = interfaces_compare_bytes(a.words, b.words);

    if (!order)
        order = compare_digits(a.number, b.number);
    return order ? order : compare_digits(a.alias, b.alias);
}

/* Choosing the rows */

/* Chooses rows. Only netstat's layout gets rows for labels: interfaces have their addresses. */
static void interfaces_choose_rows(struct predicate_tree *where,
                                   const struct netstat_options *options)
{
    const struct predicate any = {.operation = PREDICATE_OR};
    const struct field *flags = field_named(&kind_interface, "flags");
    struct predicate *whole = &where->whole;

    if (common_uses_columns(&options->common))
        predicate_tree_add(where, whole, predicate_number(&field_interface_labelled, 0));
    if (options->interface) {
        predicate_tree_add(
            where, whole,
            predicate_text(field_named(&kind_interface, "interface"), options->interface));
    } else if (!options->all) {
        whole = predicate_tree_add(where, whole, any);
        predicate_tree_add(where, whole, predicate_masked(flags, IFF_UP, IFF_UP));
        predicate_tree_refuse(where, whole, predicate_known(flags));
    }
}

/* Reports a missing interface in the words of ifconfig(8). */
static void check_listed(const void *arg, struct report *report)
{
    const struct netstat_options *options = arg;

    if (!options->interface || report->listed || report->partial)
        return; /* after a loss the interface may exist */
    report_verbatim(report, "%s: error fetching interface information: Device not found",
                    TYPED(options->interface));
    report->partial = report->ended = true;
}

int netstat_interfaces(const struct netstat_options *options)
{
    struct listing_table table = {.table = &table_interfaces};
    const struct interface_layout layout = {.extended = options->layout.extended,
                                            .header = options->layout.header};
    struct predicate_tree where = {.count = 0};
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_interface,
        .columns = {"interface interface_index mtu state flags hardware lladdr addresses",
                    "rx_packets rx_bytes rx_errors rx_dropped rx_overruns",
                    "tx_packets tx_bytes tx_errors tx_dropped tx_overruns"},
        .listing = {.tables = &table,
                    .table_count = 1,
                    .compare = interfaces_compare_names,
                    .needs.fields = INTERFACE_FLAGS},
        .layout_ops = &sink_interface,
        .layout = &layout,
        .layout_needs.fields = INTERFACE_MTU | INTERFACE_COUNTERS | INTERFACE_ADDRESSES,
        .after_each_run = check_listed,
        .arg = options,
    };

    interfaces_choose_rows(&where, options);
    table.where = predicate_of(&where); /* as a filter it would refuse rows without flags */
    return command_run(&command);
}
