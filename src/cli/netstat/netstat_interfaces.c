/* net-tools netstat: interfaces (-i). */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cli/netstat/netstat_options.h"
#include "cli/personality.h"
#include "cli/run.h"

struct interfaces_listing {
    const char *program;
    struct netstat_options *options;
    struct interface_layout layout;
    struct listing_table table;
    struct listing listing;
};

/* The order of net-tools (lib/nstrcmp.c): a name, its number, then the number of an alias */

struct name_parts {
    const char *text;
    size_t length; /* without the alias */
    size_t words;  /* up to the last byte that is no digit */
    const char *alias;
    size_t alias_length; /* digits; 0: it is none */
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

/* By their value; of none it is less than any. Interfaces' names have no room for large ones. */
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

static bool is_asked_for(const struct netstat_options *options, const struct record *record)
{
    const struct text *name = &record->interface.name;

    return strlen(options->interface) == name->length &&
           memcmp(options->interface, name->data, name->length) == 0;
}

/* A label is an interface to netstat alone: with its addresses it is one of the other rows, too. */
static bool keep(const struct record *record, const void *arg)
{
    const struct netstat_options *options = arg;

    if (record->interface.labelled && common_uses_columns(&options->common))
        return false;
    if (options->interface)
        return is_asked_for(options, record);
    return options->all || !(record->has & INTERFACE_FLAGS) || (record->interface.flags & IFF_UP);
}

/* In the words of ifconfig(8), which is asked for one interface. */
static void check_listed(const void *arg, struct report *report)
{
    const struct interfaces_listing *interfaces = arg;
    const struct netstat_options *options = interfaces->options;
    char text[TYPED_MAX];

    if (!options->interface || report->listed || report->partial)
        return; /* or it may be there, and not be known */
    report_verbatim(report, "%s: error fetching interface information: Device not found",
                    options_typed(text, options->interface, strlen(options->interface)));
    report->partial = report->ended = true;
}

static int prepare(struct interfaces_listing *interfaces, bool *done)
{
    static const char names[] = "name index mtu state flags type lladdr addresses rx_packets "
                                "rx_bytes rx_errors rx_dropped rx_overruns tx_packets tx_bytes "
                                "tx_errors tx_dropped tx_overruns";
    const struct field *defaults[LISTING_COLUMNS_MAX];
    struct netstat_options *options = interfaces->options;
    struct listing *listing = &interfaces->listing;
    size_t count = 0;

    interfaces->layout = (struct interface_layout){.extended = options->extended,
                                                   .header = !options->common.no_header};
    interfaces->table = (struct listing_table){.table = &table_interfaces, .states = STATES_ALL};
    *listing = (struct listing){.tables = &interfaces->table,
                                .table_count = 1,
                                .keep = keep,
                                .keep_arg = options,
                                .compare = compare_names,
                                .delta = options->delta,
                                .needs.fields = INTERFACE_FLAGS};
    if (!common_uses_columns(&options->common))
        listing->needs.fields |= INTERFACE_MTU | INTERFACE_COUNTERS | INTERFACE_ADDRESSES;
    common_add_columns(&kind_interface, names, defaults, &count);
    return common_resolve(&options->common, &kind_interface, defaults, count, listing,
                          interfaces->program, done);
}

static struct sink *make_sink(const void *arg, struct writer *writer, const struct context *context)
{
    const struct interfaces_listing *interfaces = arg;

    if (common_uses_columns(&interfaces->options->common))
        return common_sink(&interfaces->options->common, writer, context);
    return sink_interface_create(&interfaces->layout, writer, context);
}

int netstat_interfaces(struct netstat_options *options, const char *program)
{
    struct interfaces_listing interfaces = {.program = program, .options = options};
    bool done = false;
    int status = prepare(&interfaces, &done);

    if (status || done)
        return cli_finish_stdout(program, status);
    return cli_run_listing(&(struct cli_listing){.program = program,
                                                 .listing = &interfaces.listing,
                                                 .make_sink = make_sink,
                                                 .amend = check_listed,
                                                 .arg = &interfaces,
                                                 .continuous = options->continuous,
                                                 .interval_ms = options->interval_ms});
}
