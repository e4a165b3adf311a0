/* net-tools netstat: interfaces (-i). */
#include <net/if.h>
#include <string.h>

#include "cli/command.h"
#include "cli/netstat/netstat_options.h"
#include "fastnet/layouts.h"

/* The order of net-tools (lib/nstrcmp.c): a name, its number, then the number of an alias */

struct name_parts {
    const char *text;
    size_t length; /* without the alias */
    size_t words;  /* up to the last byte that is no digit */
    const char *alias;
    size_t alias_length; /* digits; 0: it is no alias */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t without_digits(const char *text, size_t length)
{
    while (length && is_digit(text[length - 1]))
        length--;
    return length;
}

static struct name_parts split(const struct text *name)
{
    struct name_parts parts = {.text = name->data, .length = name->length};
    const size_t words = without_digits(name->data, name->length);

    if (words && words < name->length && name->data[words - 1] == ':') {
        parts.length = words - 1;
        parts.alias = name->data + words;
        parts.alias_length = name->length - words;
    }
    parts.words = without_digits(parts.text, parts.length);
    return parts;
}

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
    const size_t common = a_length < b_length ? a_length : b_length;
    const int order = common ? memcmp(a, b, common) : 0;

    return order ? order : compare_sizes(a_length, b_length);
}

/* By their value; no digits come first. Interfaces' names have no room for large numbers. */
static int compare_digits(const char *a, size_t a_length, const char *b, size_t b_length)
{
    while (a_length > 1 && *a == '0') {
        a++;
        a_length--;
    }
    while (b_length > 1 && *b == '0') {
        b++;
        b_length--;
    }
    if (a_length != b_length)
        return compare_sizes(a_length, b_length);
    return a_length ? memcmp(a, b, a_length) : 0;
}

static int compare_names(const struct record *x, const struct record *y)
{
    const struct name_parts a = split(&x->interface.name), b = split(&y->interface.name);
    int order = compare_bytes(a.text, a.words, b.text, b.words);

    if (!order)
        order = compare_digits(a.text + a.words, a.length - a.words, b.text + b.words,
                               b.length - b.words);
    if (!order)
        order = compare_bytes(a.text, a.length, b.text, b.length);
    if (!order)
        order = compare_digits(a.alias, a.alias_length, b.alias, b.alias_length);
    return order ? order : compare_bytes(a.alias, a.alias_length, b.alias, b.alias_length);
}

/* Which rows */

static const struct field *field_of(const char *name)
{
    return field_find(&kind_interface, name, strlen(name));
}

/* Only netstat's layout shows a label as an interface: its addresses are in another row, too. */
static void choose_rows(struct predicate_tree *where, const struct netstat_options *options)
{
    const struct predicate none = {.operation = PREDICATE_NOT}, any = {.operation = PREDICATE_OR};
    const struct field *flags = field_of("flags");
    struct predicate *whole = &where->whole;

    if (common_uses_columns(&options->common))
        predicate_tree_add(where, whole, predicate_number(&field_interface_labelled, 0));
    if (options->interface) {
        predicate_tree_add(where, whole, predicate_text(field_of("interface"), options->interface));
    } else if (!options->all) {
        whole = predicate_tree_add(where, whole, any);
        predicate_tree_add(where, whole, predicate_masked(flags, IFF_UP, IFF_UP));
        whole = predicate_tree_add(where, whole, none);
        predicate_tree_add(where, whole, predicate_known(flags));
    }
}

/* In the words of ifconfig(8) when it is asked for one interface. */
static void check_listed(const void *arg, struct report *report)
{
    const struct netstat_options *options = arg;
    char text[TYPED_MAX];

    if (!options->interface || report->listed || report->partial)
        return; /* after a loss the interface may exist */
    report_verbatim(report, "%s: error fetching interface information: Device not found",
                    options_typed(text, options->interface, strlen(options->interface)));
    report->partial = report->ended = true;
}

static struct sink *make_layout(const void *arg, struct writer *writer,
                                const struct context *context)
{
    const struct netstat_options *options = arg;
    const struct interface_layout layout = {.extended = options->extended,
                                            .header = !options->common.no_header};

    return sink_interface_create(&layout, writer, context);
}

int netstat_interfaces(struct netstat_options *options)
{
    const struct listing_table table = {.table = &table_interfaces};
    struct predicate_tree where = {.count = 0};
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_interface,
        .columns = {"interface interface_index mtu state flags hardware lladdr addresses",
                    "rx_packets rx_bytes rx_errors rx_dropped rx_overruns",
                    "tx_packets tx_bytes tx_errors tx_dropped tx_overruns"},
        .listing = {.tables = &table,
                    .table_count = 1,
                    .compare = compare_names,
                    .delta = options->delta,
                    .needs.fields = INTERFACE_FLAGS},
        .make_layout = make_layout,
        .layout_needs.fields = INTERFACE_MTU | INTERFACE_COUNTERS | INTERFACE_ADDRESSES,
        .after_each_pass = check_listed,
        .arg = options,
        .interval_ms = options->interval_ms,
    };

    choose_rows(&where, options);
    command.listing.where = predicate_of(&where);
    return command_run(&command);
}
