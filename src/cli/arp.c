/*
 * net-tools' arp, its listing side: which entries, what is said when there are none, the exit
 * statuses. What its lines look like is format/layout_arp.c's matter.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "cli/arp_options.h"
#include "cli/personality.h"
#include "cli/run.h"
#include "fastnet/lookup.h"
#include "fastnet/rights.h"

/* What changes while rows come. */
struct progress {
    struct arp_totals totals;
    const struct context *context; /* of the listing */
};

struct arp {
    const char *program;
    struct arp_options options;
    char device[IFNAMSIZ]; /* empty: any */
    uint32_t device_index;
    uint8_t host[4];
    struct progress *progress;
    struct listing_table table;
    struct listing listing;
    const struct field *defaults[LISTING_COLUMNS_MAX];
    size_t default_count;
};

/* Which host */

static int refuse_host(const char *name, const char *why)
{
    char text[TYPED_MAX];

    fprintf(stderr, "%s: %s\n", options_typed(text, name, strlen(name)), why);
    return STATUS_ARP_FAILURE;
}

/* Nothing needs rights from here on. */
static int find_host(struct arp *arp)
{
    const char *name = arp->options.host;
    int error, result;

    rights_drop();
    result = hosts_find(name, HOSTS_MILLISECONDS, arp->host, &error);
    if (result == -ENOENT)
        return refuse_host(name, hstrerror(error));
    if (result == -ETIMEDOUT) {
        char late[64];
        snprintf(late, sizeof late, "no answer after %d seconds", HOSTS_MILLISECONDS / 1000);
        return refuse_host(name, late);
    }
    return result < 0 ? refuse_host(name, strerror(-result)) : 0;
}

static int resolve_host(struct arp *arp)
{
    const char *name = arp->options.host;
    struct in_addr address = {.s_addr = INADDR_ANY};

    if (name && strcmp(name, "default") != 0 && !inet_aton(name, &address))
        return find_host(arp);
    memcpy(arp->host, &address, sizeof arp->host);
    return 0;
}

/* Which interface: only its name counts, and of that as much as a name can have */

static void resolve_device(struct arp *arp)
{
    char name[IF_NAMESIZE];

    if (!arp->options.device)
        return;
    snprintf(arp->device, sizeof arp->device, "%s", arp->options.device);
    arp->device_index = if_nametoindex(arp->device);
    if (!if_indextoname(arp->device_index, name) || strcmp(name, arp->device) != 0)
        arp->device_index = 0; /* it was another name of it */
}

/* Which rows */

/* What /proc/net/arp leaves out: entries that need no resolving, and those not yet in use. */
static bool is_entry(const struct record *record)
{
    return !(record->has & NEIGHBOUR_STATE) || (record->neighbour.state & ~NUD_NOARP);
}

static bool is_of_device(const struct arp *arp, const struct record *record)
{
    if (!arp->device[0])
        return true;
    if (record->neighbour.interface)
        return record->neighbour.interface == arp->device_index;
    return strcmp((record->has & NEIGHBOUR_INTERFACE) ? record->neighbour.interface_name : "*",
                  arp->device) == 0;
}

static bool is_of_hardware(const struct arp *arp, const struct record *record)
{
    const struct neighbour_record *neighbour = &record->neighbour;

    if (!arp->options.hardware)
        return true;
    if (record->has & NEIGHBOUR_HARDWARE)
        return neighbour->hardware == arp->options.hardware->type;
    return interfaces_hardware(arp->progress->context->interfaces, neighbour->interface) ==
           arp->options.hardware->type;
}

static bool keep(const struct record *record, const void *arg)
{
    const struct arp *arp = arg;

    if (!is_entry(record))
        return false;
    if ((!arp->options.host ||
         memcmp(record->neighbour.address.bytes, arp->host, sizeof arp->host) == 0) &&
        is_of_device(arp, record) && is_of_hardware(arp, record))
        return true;
    arp->progress->totals.skipped++;
    return false;
}

/* What is listed, and how */

static void add_defaults(struct arp *arp, const char *names)
{
    while (*names) {
        size_t length = strcspn(names, " ");
        const struct field *column = field_find(&kind_neighbour, names, length);
        if (column)
            arp->defaults[arp->default_count++] = column;
        names += length + (names[length] == ' ');
    }
}

static int prepare(struct arp *arp, bool *done)
{
    struct listing *listing = &arp->listing;
    struct common *common = &arp->options.common;
    int status = resolve_host(arp);

    if (status)
        return status;
    resolve_device(arp);
    add_defaults(arp, "address hardware lladdr state flags device");
    arp->table = (struct listing_table){.table = &table_arp,
                                        .states = STATES_ALL,
                                        .missing = "this system has no ARP table",
                                        .required = true};
    listing->tables = &arp->table;
    listing->table_count = 1;
    listing->keep = keep;
    listing->keep_arg = arp;
    listing->needs = (struct needs){NEIGHBOUR_STATE, NEED_INTERFACES};
    if (!common_uses_columns(common) && !arp->options.numeric)
        listing->needs.lookups |= NEED_HOSTS;
    return common_resolve(common, &kind_neighbour, arp->defaults, arp->default_count, listing,
                          arp->program, done);
}

static struct sink *make_sink(const void *arg, struct writer *writer, const struct context *context)
{
    const struct arp *arp = arg;
    const struct arp_options *options = &arp->options;
    struct arp_layout layout = {
        .bsd = options->all && !options->linux_style,
        .numeric = options->numeric,
        .header = !options->common.no_header,
        .verbose = options->verbose,
        .chosen = options->hardware || options->host || arp->device[0],
        .host = options->all ? NULL : options->host,
        .totals = &arp->progress->totals,
    };

    arp->progress->context = context;
    if (common_uses_columns(&options->common))
        return common_sink(&options->common, writer, context);
    memcpy(layout.host_address, arp->host, sizeof layout.host_address);
    return sink_arp_create(&layout, writer, context);
}

int arp_run(int argc, char *const argv[])
{
    struct progress progress = {.context = NULL};
    struct arp arp = {.program = argv[0], .progress = &progress};
    bool done = false;
    int status = arp_parse(&arp.options, argc, argv, &done);

    if (!status && !done)
        status = prepare(&arp, &done);
    if (status || done)
        return cli_finish_stdout(arp.program, status);
    return cli_run_listing(&(struct cli_listing){
        .program = arp.program, .listing = &arp.listing, .make_sink = make_sink, .arg = &arp});
}
