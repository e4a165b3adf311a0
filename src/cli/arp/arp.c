/*
 * net-tools' arp, its listing side: which entries, and the exit statuses. Its lines and messages
 * are made by format/neighbour/layout_arp.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "cli/arp/arp_options.h"
#include "cli/command.h"
#include "cli/personality.h"
#include "fastnet/hardware.h"
#include "fastnet/layouts.h"
#include "fastnet/lookup.h"
#include "fastnet/rights.h"

struct arp {
    struct arp_options options;
    char device[IFNAMSIZ]; /* empty: any */
    uint8_t host[4];
    struct arp_totals *totals;
    struct predicate_tree entries, where;
};

/* Which host */

static int refuse_host(const char *name, const char *why)
{
    char text[TYPED_MAX];

    fprintf(stderr, "%s: %s\n", options_typed(text, name, strlen(name)), why);
    return STATUS_ARP_FAILURE;
}

/* No rights are needed any more. */
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

/* Which rows */

static const struct field *field_of(const char *name)
{
    return field_find(&kind_neighbour, name, strlen(name));
}

/* /proc/net/arp leaves out entries that need no resolving, and those not yet in use. */
static void choose_entries(struct predicate_tree *where)
{
    const struct predicate not = {.operation = PREDICATE_NOT}, any = {.operation = PREDICATE_OR};
    const struct field *state = field_of("state");
    struct predicate *either = predicate_tree_add(where, &where->whole, any);

    predicate_tree_add(where, predicate_tree_add(where, either, not ), predicate_known(state));
    predicate_tree_add(where, predicate_tree_add(where, either, not ),
                       predicate_masked(state, 0, (uint16_t)~NUD_NOARP));
}

/* An entry whose field is not known counts as "*", or as of the type "unspec". */
static void add_unknown(struct predicate_tree *where, const struct field *field)
{
    const struct predicate not = {.operation = PREDICATE_NOT};

    predicate_tree_add(where, predicate_tree_add(where, &where->whole, not ),
                       predicate_known(field));
}

static void choose_rows(struct arp *arp)
{
    const struct hardware *hardware = arp->options.hardware;
    const struct address host = address_make(AF_INET, arp->host);
    struct predicate_tree *where = &arp->where;

    if (arp->options.host)
        predicate_tree_add(where, &where->whole, predicate_address(field_of("address"), &host));
    if (strcmp(arp->device, "*") == 0)
        add_unknown(where, field_of("interface"));
    else if (arp->device[0])
        predicate_tree_add(where, &where->whole,
                           predicate_text(field_of("interface"), arp->device));
    if (hardware && hardware->type == HARDWARE_UNSPECIFIED)
        add_unknown(where, field_of("hardware"));
    else if (hardware)
        predicate_tree_add(where, &where->whole,
                           predicate_number(field_of("hardware"), (uint64_t)hardware->type));
}

/* How they are shown */

static struct sink *make_layout(const void *arg, struct writer *writer,
                                const struct context *context)
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
        .totals = arp->totals,
    };

    memcpy(layout.host_address, arp->host, sizeof layout.host_address);
    return sink_arp_create(&layout, writer, context);
}

static int list(struct arp *arp)
{
    const struct arp_options *options = &arp->options;
    const int status = resolve_host(arp);

    if (status)
        return status;
    /* as much of it as a name can have */
    snprintf(arp->device, sizeof arp->device, "%s", options->device ? options->device : "");
    choose_entries(&arp->entries);
    choose_rows(arp);
    const struct listing_table table = {.table = &table_arp,
                                        .where = predicate_of(&arp->entries),
                                        .missing = "this system has no ARP table",
                                        .if_missing = MISSING_ENDS};
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_neighbour,
        .columns = {"address hardware lladdr state flags interface"},
        .listing = {.tables = &table,
                    .table_count = 1,
                    .where = predicate_of(&arp->where),
                    .refused = &arp->totals->skipped,
                    .needs = {NEIGHBOUR_STATE, NEED_INTERFACES}},
        .make_layout = make_layout,
        .layout_needs.lookups = options->numeric ? 0 : NEED_HOSTS,
        .arg = arp,
    };
    return command_run(&command);
}

int arp_run(int argc, char *const argv[])
{
    struct arp_totals totals = {0};
    struct arp arp = {.totals = &totals};
    bool done = false;
    int status = arp_parse(&arp.options, argc, argv, &done);

    return status || done ? status : list(&arp);
}
