/*
 * Command lines: words, each up to a NUL byte, go through each program's parser, and what comes of
 * it. What they print is thrown away.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/arp_options.h"
#include "cli/conntrack/conntrack_options.h"
#include "cli/neigh_options.h"
#include "cli/netstat/netstat_options.h"
#include "cli/personality.h"
#include "cli/run.h"
#include "fuzz.h"

enum { WORDS_MAX = 64 };

static void silence(void)
{
    static FILE *nowhere;

    if (nowhere)
        return;
    nowhere = fopen("/dev/null", "w");
    require(nowhere != NULL);
    require(dup2(fileno(nowhere), STDOUT_FILENO) >= 0);
    stderr = nowhere;
}

static int split(char *text, size_t size, char *words[])
{
    char *at = text;
    int count = 1;

    while (at < text + size && count < WORDS_MAX) {
        words[count++] = at;
        at += strlen(at) + 1;
    }
    return count;
}

static void check(const struct netstat_options *options, int status, int done)
{
    require(status >= STATUS_OK && status <= STATUS_MISUSE);
    if (status != STATUS_OK || done)
        return;
    require(!options->continuous || (options->interval_ms > 0));
    require(options->other_tables <= 1);
    require(!options->tcp || options->inet || options->inet6);
}

static void resolve(struct common *common, const struct kind *kind)
{
    const struct field *defaults[] = {field_find(kind, "proto", 5)};
    struct listing listing = {.tables = NULL};
    bool done = false;
    int status;

    status = common_resolve(common, kind, defaults, 1, &listing, "program", &done);
    require(status == STATUS_OK || status == STATUS_MISUSE || status == STATUS_FAILURE);
    if (status != STATUS_OK || done)
        return;
    require(common->shown_count > 0 && common->shown_count <= LISTING_COLUMNS_MAX);
    for (size_t i = 0; i < common->shown_count; i++)
        require(common->shown[i] != NULL);
    require(listing.proc_root != NULL);
}

static void parse_netstat(int count, char *const words[])
{
    struct netstat_options options = {.all = false};
    bool done = false;
    int status = netstat_parse(&options, count, words, &done);

    check(&options, status, done);
    if (status == STATUS_OK && !done)
        resolve(&options.common, &kind_socket);
}

/* Nothing of an address is outside of its mask, or no flow would be in it. */
static void check_network(const struct flow_network *network)
{
    for (size_t i = 0; i < sizeof network->mask; i++)
        require(!(network->network[i] & ~network->mask[i]));
}

static void check_conntrack(const struct conntrack_options *options)
{
    const uint32_t of_protocols = FILTER_ORIG_SRC_PORT | FILTER_ORIG_DST_PORT | FILTER_STATE |
                                  FILTER_REPLY_SRC_PORT | FILTER_REPLY_DST_PORT | FILTER_ROLE |
                                  FILTER_ICMP_TYPE | FILTER_ICMP_CODE | FILTER_ICMP_ID |
                                  FILTER_ORIG_VTAG | FILTER_REPLY_VTAG;
    const struct flow_filter *filter = &options->filter;

    require(options->command <= COMMAND_USAGE && options->table <= TABLE_UNCONFIRMED);
    require(options->table < TABLE_DYING || options->command == COMMAND_LIST);
    require(filter->family == AF_UNSPEC || filter->family == AF_INET || filter->family == AF_INET6);
    require(!(filter->fields & of_protocols) || filter->fields & FILTER_PROTOCOL);
    require(!(filter->status & ~filter->status_mask));
    check_network(&filter->orig_src);
    check_network(&filter->orig_dst);
    check_network(&filter->reply_src);
    check_network(&filter->reply_dst);
}

static void parse_conntrack(int count, char *const words[])
{
    struct conntrack_options options = {.zero = false};
    bool done = false;
    int status = conntrack_parse(&options, count, words, &done);

    require(status >= STATUS_OK && status <= STATUS_PARAMETER);
    if (status != STATUS_OK || done)
        return;
    check_conntrack(&options);
    resolve(&options.common, &kind_flow);
}

static void take_by_others(int count, char *const words[])
{
    struct arp_options arp = {.all = false};
    struct neigh_options neigh = {.inet = false};
    bool done = false;
    int status = arp_parse(&arp, count, words, &done);

    require((status >= STATUS_OK && status <= STATUS_MISUSE) || status == STATUS_ARP_FAILURE);
    require(!arp.hardware || arp.hardware->arp || status == STATUS_ARP_FAILURE);
    done = false;
    status = neigh_parse(&neigh, count, words, &done);
    require(status >= STATUS_OK && status <= STATUS_MISUSE);
    require(status || done || !neigh.proxies || !neigh.has_states);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char program[] = "program";
    char *words[WORDS_MAX + 1] = {program}, *text = malloc(size + 1);
    int count;

    require(text != NULL);
    silence();
    memcpy(text, data, size);
    text[size] = '\0';
    count = split(text, size, words);
    parse_netstat(count, words);
    parse_conntrack(count, words);
    take_by_others(count, words);
    cli_finish_stdout(program, STATUS_OK);
    free(text);
    return 0;
}
