/* SPDX-License-Identifier: MIT */
#include "cli/recorded.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/moment.h"
#include "cli/personality.h"
#include "cli/saved.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/namespace.h"
#include "fastnet/recording.h"

#define SETS(of_common) .member = offsetof(struct common, of_common)

/* No title: in --help these options follow the group before. */
static const char *const untitled[] = {NULL};
static const struct option options[] = {
    LONG(THIS_ROW, "at", 0, "as it was then: 03:12, -2h, 'yesterday 03:12'", TAKES("TIME"),
         SETS(at), .newer = true),
    LONG(THIS_ROW, "between", 0, "rows of this time; counters grew in it", TAKES("FROM,TO"),
         SETS(between), .newer = true),
    LONG(THIS_ROW, "record", 0, "directory of fastnet record (" RECORDING_DIRECTORY ")",
         TAKES("DIR"), SETS(record), .newer = true),
};

const struct option_table common_options_of_recordings = {untitled, COUNT(untitled), options,
                                                          COUNT(options)};

int recorded_check(const struct common *common)
{
    const char *option = common->at ? "--at" : "--between";
    const char *conflict = common->at && common->between ? "--between"
                           : common->from                ? "--from"
                           : common->delta               ? "--delta"
                                                         : common_kernel_option(common);

    if (!recorded_is_wanted(common))
        return common->record ? common_misuse(common, "--record needs --at or --between") : 0;
    if (conflict)
        return common_misuse(common, "%s lists a recording, so it cannot be combined with %s",
                             option, conflict);
    if (common->netns && strchr(common->netns, '/'))
        return common_misuse(common, "--netns: with %s, needs a name or an inode, not '%s'", option,
                             TYPED(common->netns));
    if (common->record && !*common->record)
        return common_misuse(common, "--record: needs the name of a directory");
    return 0;
}

/* Returns the id that the network namespace has on this machine; 0: there is none of this name. */
static uint64_t netns_id_of(const char *name)
{
    const int fd = name ? namespace_open(name) : -1;
    struct stat file = {.st_ino = 0};

    if (fd < 0)
        return 0;
    (void)fstat(fd, &file);
    close(fd);
    return file.st_ino;
}

int recorded_open(const struct common *common, const struct kind *kind,
                  struct saved_source **source)
{
    const uint64_t now = clock_nanoseconds(CLOCK_REALTIME);
    struct recording_query query = {.directory =
                                        common->record ? common->record : RECORDING_DIRECTORY,
                                    .ended = common->grammar->ended,
                                    .findings = kind == &kind_finding,
                                    .all_netns = common->all_netns,
                                    .netns = common->netns,
                                    .netns_id = netns_id_of(common->netns)};
    struct report report = {.partial = false};
    char message[MESSAGE_TEXT_MAX];
    uint64_t span[2];
    bool known;

    known = common->at ? moment_parse(common->at, now, span, message)
                       : moment_parse_span(common->between, now, span, message);
    if (!known)
        return common_misuse_of(common, .subject = common->at ? "--at" : "--between",
                                .wrong = message, .help = HELP_NONE);
    query.span = (struct recording_span){span[0], common->at ? span[0] : span[1]};
    *source = recording_open(&query, &report);
    report_print(&report, stderr, common->program);
    return *source ? 0 : STATUS_FAILURE;
}

/* --- --list ----------------------------------------------------------------------------------- */

struct recorded_parts {
    FILE *stream;
    uint64_t count, end;
};

static void recorded_put_part(const struct recording_part *part, void *arg)
{
    struct recorded_parts *parts = arg;
    char from[CLOCK_LOCAL_SIZE], to[CLOCK_LOCAL_SIZE], lasts[HUMAN_NUMBER];
    char gap[HUMAN_NUMBER] = "-", size[HUMAN_NUMBER];

    if (!parts->count++)
        fprintf(parts->stream, "%-25s  %-25s  %8s  %8s  %7s  %6s  %5s  %s\n", "FROM", "TO", "TIME",
                "TICKS", "SIZE", "LOST", "GAP", "REBOOT");
    else if (part->from > parts->end)
        human_number(gap, (part->from - parts->end) / CLOCK_SECOND, UNIT_SECONDS);
    fprintf(parts->stream, "%-25s  %-25s  %8s  %8llu  %7s  %6llu  %5s  %s\n",
            clock_local(from, part->from), clock_local(to, part->to),
            human_number(lasts, (part->to - part->from) / CLOCK_SECOND, UNIT_SECONDS),
            (unsigned long long)part->ticks, human_number(size, part->bytes, UNIT_BYTES),
            (unsigned long long)part->lost, gap, part->reboot ? "yes" : "no");
    parts->end = part->to;
}

int recorded_list(const struct common *common, const char *directory)
{
    struct report report = {.partial = false};
    struct page page;
    struct recorded_parts parts = {.stream = page_open(&page)};
    int status;
    const int error = recording_list(directory ? directory : RECORDING_DIRECTORY, recorded_put_part,
                                     &parts, &report);

    if (error < 0)
        report_loss(&report, "%s: %s", directory ? directory : RECORDING_DIRECTORY,
                    strerror(-error));
    else if (!parts.count)
        report_loss(&report, "there is no recording in %s",
                    directory ? directory : RECORDING_DIRECTORY);
    status = page_finish(&page, common->program);
    report_print(&report, stderr, common->program);
    return status ? status : report.partial ? STATUS_FAILURE : STATUS_OK;
}
