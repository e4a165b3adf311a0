/* fastnet's own list of all neighbours: which of them, and which columns. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cli/neigh_options.h"
#include "cli/personality.h"
#include "cli/run.h"

struct neigh {
    const char *program;
    struct neigh_options options;
    struct neighbour_filter filter;
    struct listing_table table;
    struct listing listing;
    const struct field *defaults[LISTING_COLUMNS_MAX];
    size_t default_count;
};

/* Which rows: what the kernel cannot tell, or did not */

static bool is_of_state(const struct neigh_options *options, const struct record *record)
{
    if (!options->has_states)
        return true;
    if (!(record->has & NEIGHBOUR_STATE))
        return false;
    return record->neighbour.state ? record->neighbour.state & options->states : options->none;
}

/* A file tells interfaces by their names only. */
static bool is_of_device(const struct neigh *neigh, const struct record *record)
{
    if (!neigh->options.device || record->neighbour.interface)
        return true; /* none is asked for, or the kernel was asked */
    return record->has & NEIGHBOUR_INTERFACE &&
           strcmp(record->neighbour.interface_name, neigh->options.device) == 0;
}

static bool keep(const struct record *record, const void *arg)
{
    const struct neigh *neigh = arg;

    return is_of_state(&neigh->options, record) && is_of_device(neigh, record);
}

/* Names of interfaces become what the kernel tells them by */

static bool reads_this_machine(const struct common *common)
{
    return common->backend != BACKEND_PROC && !common->proc_root;
}

static int find_interface(const struct neigh *neigh, const char *name, uint32_t *index)
{
    char text[TYPED_MAX];

    if (!name || !reads_this_machine(&neigh->options.common))
        return 0;
    *index = if_nametoindex(name);
    if (*index)
        return 0;
    fprintf(stderr, "%s: no such interface: '%s'\n", neigh->program,
            options_typed(text, name, strlen(name)));
    return STATUS_FAILURE;
}

static int set_filter(struct neigh *neigh)
{
    const struct neigh_options *options = &neigh->options;
    int status = find_interface(neigh, options->device, &neigh->filter.interface);

    neigh->filter.entries = !options->proxies;
    neigh->filter.proxies = !options->has_states;
    if (!status)
        status = find_interface(neigh, options->master, &neigh->filter.master);
    if (!status && options->master && !neigh->filter.master) {
        fprintf(stderr, "%s: --master: only netlink tells what belongs to a device\n",
                neigh->program);
        return STATUS_FAILURE;
    }
    return status;
}

/* Which tables and columns */

static const struct table *choose_table(const struct neigh_options *options)
{
    if (options->inet == options->inet6)
        return &table_neighbours;
    return options->inet ? &table_neighbours4 : &table_neighbours6;
}

/* What a person looks for first, or all that is known of an entry. */
static void choose_defaults(struct neigh *neigh)
{
    static const char names[] = "address lladdr device state flags used confirmed updated probes "
                                "references protocol master namespace";

    if (neigh->options.common.format != FORMAT_PLAIN) {
        for (size_t i = 0; i < kind_neighbour.field_count; i++)
            if (!(kind_neighbour.fields[i].needs.lookups & NEED_HOSTS))
                neigh->defaults[neigh->default_count++] = &kind_neighbour.fields[i];
        return;
    }
    for (const char *at = names; *at;) {
        size_t length = strcspn(at, " ");
        const struct field *column = field_find(&kind_neighbour, at, length);
        if (column)
            neigh->defaults[neigh->default_count++] = column;
        at += length + (at[length] == ' ');
    }
}

static int prepare(struct neigh *neigh, bool *done)
{
    struct listing *listing = &neigh->listing;
    struct common *common = &neigh->options.common;
    int status = set_filter(neigh);

    if (status)
        return status;
    choose_defaults(neigh);
    neigh->table = (struct listing_table){.table = choose_table(&neigh->options),
                                          .states = STATES_ALL,
                                          .missing = "this table of neighbours cannot be had here",
                                          .required = true};
    listing->tables = &neigh->table;
    listing->table_count = 1;
    listing->keep = keep;
    listing->keep_arg = neigh;
    listing->neighbours = &neigh->filter;
    listing->needs.fields = NEIGHBOUR_STATE | NEIGHBOUR_INTERFACE;
    status = common_resolve(common, &kind_neighbour, neigh->defaults, neigh->default_count, listing,
                            neigh->program, done);
    for (size_t i = 0; i < common->shown_count; i++) /* the table is made of columns, too */
        needs_add(&listing->needs, field_needs(common->shown[i]));
    return status;
}

static struct sink *make_sink(const void *arg, struct writer *writer, const struct context *context)
{
    const struct neigh *neigh = arg;

    return common_sink(&neigh->options.common, writer, context);
}

int neigh_run(int argc, char *const argv[])
{
    struct neigh neigh = {.program = argv[0]};
    bool done = false;
    int status = neigh_parse(&neigh.options, argc, argv, &done);

    if (!status && !done)
        status = prepare(&neigh, &done);
    if (status || done)
        return cli_finish_stdout(neigh.program, status);
    return cli_run_listing(&(struct cli_listing){.program = neigh.program,
                                                 .listing = &neigh.listing,
                                                 .make_sink = make_sink,
                                                 .arg = &neigh});
}
