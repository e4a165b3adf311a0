/* SPDX-License-Identifier: MIT */
#include "cli/saved.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/personality.h"
#include "cli/recorded.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/layouts.h"
#include "fastnet/machine.h"
#include "fastnet/proc_tree.h"
#include "fastnet/saved.h"

/* --- Options ---------------------------------------------------------------------------------- */

/* Returns the option that cannot be combined with --save; NULL: all can. */
static const char *save_conflict(const struct common *common)
{
    return common->format != FORMAT_PLAIN ? "--json, --csv or another form of output"
           : common->output               ? "--output"
           : common->explain              ? "--explain"
           : common->delta                ? "--delta"
           : common->from                 ? "--from, because the rows are saved already"
           : common_counts(common) && !common->count_by && !common->sum
               ? "averages alone, because saved averages cannot be listed again (add --sum)"
               : NULL;
}

static const char *from_conflict(const struct common *common)
{
    return common->netns       ? "--netns"
           : common->all_netns ? "--all-netns"
                               : common_kernel_option(common);
}

int saved_check(struct common *common)
{
    const char *conflict = common->save ? save_conflict(common) : NULL;

    if (conflict)
        return common_misuse(common, "--save cannot be combined with %s", conflict);
    conflict = common->from ? from_conflict(common) : NULL;
    if (conflict)
        return common_misuse(common, "--from lists saved rows, so it cannot be combined with %s",
                             conflict);
    if (!common->save)
        return 0;
    if (!*common->save)
        return common_misuse(common, "--save: needs the name of a file");
    common->format = FORMAT_NDJSON;
    common->output = strcmp(common->save, "-") == 0 ? NULL : common->save;
    return 0;
}

/* --- The commands that list kinds ------------------------------------------------------------- */

enum { COMMAND_WORDS = 3, WORDS_MAX = 1100 };
static const struct saved_command {
    const struct kind *kind;
    const char *words[COMMAND_WORDS]; /* after fastnet */
} commands[] = {
    {&kind_socket, {"s", "-a"}},
    {&kind_flow, {"conntrack"}},
    {&kind_expectation, {"conntrack", "-L", "expect"}},
    {&kind_flow_statistics, {"conntrack", "-S"}},
    {&kind_flow_usage, {"conntrack", "--usage"}},
    {&kind_neighbour, {"neigh"}},
    {&kind_neighbour_usage, {"neigh", "--usage"}},
    {&kind_route, {"-r46"}},
    {&kind_interface, {"-ia"}},
    {&kind_queue, {"-i", "--queues"}},
    {&kind_qdisc, {"-i", "--qdisc"}},
    {&kind_counter, {"-s"}},
    {&kind_group, {"-g"}},
    {&kind_summary, {"--summary"}},
    {&kind_finding, {"doctor"}},
    {&kind_step, {"why"}},
    {&kind_drop, {"drops"}},
    {&kind_traffic, {"traffic"}},
};

static const struct saved_command *command_of(const struct kind *kind)
{
    size_t i = 0;

    while (i < COUNT(commands) && strcmp(commands[i].kind->name, kind->name) != 0)
        i++;
    return i < COUNT(commands) ? &commands[i] : NULL;
}

/* Writes the command that lists the files. */
static void saved_put_command(const struct common *common, const struct saved_command *command,
                              char line[MESSAGE_TEXT_MAX])
{
    message_format(line, "fastnet");
    for (size_t i = 0; i < COMMAND_WORDS && command->words[i]; i++)
        message_append(line, MESSAGE_TEXT_MAX, " %s", command->words[i]);
    for (size_t i = 0; i < common->from_count && i < 2; i++)
        message_append(line, MESSAGE_TEXT_MAX, " --from=%s", TYPED(common->from[i]));
    if (common->from_count > 2)
        message_append(line, MESSAGE_TEXT_MAX, " ...");
}

/* --- --from ----------------------------------------------------------------------------------- */

/* The source that saved_run() opened, until saved_begin() takes it: stdin can be read only once,
 * and there is only one command line. */
static struct saved_source *opened;
static struct report opened_report; /* problems before its first row */

/* Reports that the files cannot be listed. */
static int refuse_files(const struct common *common, struct report *report)
{
    report_print(report, stderr, common->program);
    return STATUS_REFUSED;
}

static struct saved_source *saved_open(const struct common *common, const struct kind *kind,
                                       struct report *report)
{
    struct saved_source *source = opened;

    opened = NULL;
    if (!source)
        return saved_files_open(common->from, common->from_count, kind, report);
    *report = opened_report;
    return source;
}

static int refuse_kind(const struct common *common, const struct kind *kind,
                       const struct kind *wanted)
{
    const struct saved_command *other = command_of(kind);
    char line[MESSAGE_TEXT_MAX] = "fastnet --help";

    if (other)
        saved_put_command(common, other, line);
    common_misuse_bare(common, "--from: the file has %s, not %s (try %s)", kind->name, wanted->name,
                       line);
    return STATUS_REFUSED;
}

int saved_run(const struct common *common, int argc, char *const argv[])
{
    const struct saved_command *command;
    char *words[1 + COMMAND_WORDS + WORDS_MAX + 1];
    size_t count = 0;

    opened = saved_open(common, NULL, &opened_report);
    if (!opened)
        return refuse_files(common, &opened_report);
    command = command_of(opened->kind);
    if (!command)
        return refuse_kind(common, opened->kind, &kind_socket);
    if (argc > WORDS_MAX)
        return common_misuse(common, "--from: too many words (try a directory)");
    words[count++] = argv[0];
    for (size_t i = 0; i < COMMAND_WORDS && command->words[i]; i++)
        words[count++] = (char *)(uintptr_t)command->words[i];
    for (int i = 1; i < argc; i++)
        words[count++] = argv[i];
    words[count] = NULL;
    return common->run((int)count, words);
}

/* Lists groups by the columns that they were counted by, and sums of all rows as such. */
static void saved_count_again(struct common *common, const struct saved_head *head)
{
    if (!head->counted || common->count_by || common->columns)
        return;
    common->count_by = *head->count_by ? head->count_by : NULL;
    common->sum = common->sum ? common->sum : *head->sum ? head->sum : NULL;
    common->percent |= head->percent;
}

/* Removes all that a listing of the kernel needs. */
static void make_saved(struct listing_command *command)
{
    struct listing *listing = &command->listing;

    listing->events = NULL;
    listing->maker = NULL;
    listing->key = NULL;
    listing->diag_file = NULL;
    listing->maps = NULL;
    listing->map_count = 0;
    listing->sockets = NULL;
    listing->byte_counts = NULL;
    command->run_endless = NULL;
    command->after_each_run = NULL;
    command->more_metrics = NULL;
    command->rights = 0;
    command->unknown = 0;
}

int saved_begin(struct listing_command *command, struct common *common, struct report *report)
{
    struct saved_source *source = NULL;

    if (recorded_is_wanted(common)) {
        if (command->kind != &kind_finding && strcmp(command->kind->name, kind_socket.name) != 0)
            return common_misuse_bare(common, "%s: a recording has sockets and findings, but no %s",
                                      common->at ? "--at" : "--between", command->kind->name);
        const int status = recorded_open(common, command->kind, &source);
        if (status)
            return status;
    } else {
        source = saved_open(common, command->kind, report);
    }
    if (!source)
        return refuse_files(common, report);
    command->listing.saved = source;
    if (strcmp(source->kind->name, command->kind->name) != 0)
        return refuse_kind(common, source->kind, command->kind);
    source->kind = command->kind; /* top adds rates to the fields of sockets */
    saved_count_again(common, source->head);
    make_saved(command);
    return 0;
}

void saved_finish(struct listing_command *command)
{
    saved_source_close(command->listing.saved);
    command->listing.saved = NULL;
}

bool saved_has(const struct listing_command *command, const struct field *field)
{
    const struct saved_source *source = command->listing.saved;
    const struct field *compared;

    if (!source || !source->has || source->has(source, field->name))
        return true;
    if (!source->has(source,
                     NULL)) /* no row: the columns are those of a machine without containers */
        return !(field->lookups & NEED_CONTAINERS);
    if (field->type != VALUE_VIEW || field->lookups & ~(NEED_INTERFACES | NEED_OWNERS))
        return false; /* these two are columns, too */
    compared = field_compared(command->kind, field->name, strlen(field->name));
    return compared && source->has(source, compared->name);
}

const struct field *saved_lacks(const struct listing_command *command,
                                const struct predicate *where)
{
    const struct field *lacks = where ? where->field : NULL;

    /* heads have some columns; a machine without containers has no columns of them */
    if (lacks && (text_has_word("time listing host netns netns_id", lacks->name) ||
                  lacks->lookups & NEED_CONTAINERS || saved_has(command, lacks)))
        lacks = NULL;
    for (const struct predicate *part = where ? where->parts : NULL; part && !lacks;
         part = part->next)
        lacks = saved_lacks(command, part);
    return lacks;
}

/* --- --save ----------------------------------------------------------------------------------- */

void saved_put_mark(struct writer *writer, const char *mark)
{
    writer_puts(writer, "{\"" SAVED_MARK "\":\"" FASTNET_VERSION "\",\"mark\":\"");
    writer_puts(writer, mark);
    writer_puts(writer, "\"");
}

void saved_put_member(struct writer *writer, const char *name, const char *text)
{
    writer_puts(writer, ",\"");
    writer_puts(writer, name);
    writer_puts(writer, "\":");
    if (*text)
        sink_put_json(writer, as_text(text));
    else
        writer_puts(writer, "null");
}

/* The words of the command line after fastnet. */
static void saved_put_arguments(struct writer *writer, const struct common *common)
{
    const struct grammar *grammar = common->grammar;
    const char *before = "";

    writer_puts(writer, ",\"arguments\":[");
    if (!common->words) {
        sink_put_json(writer, as_text(grammar->alias ? grammar->alias : grammar->name));
        before = ",";
    }
    for (char *const *word = common->typed; *word; word++, before = ",") {
        writer_puts(writer, before);
        sink_put_json(writer, as_text(*word));
    }
    writer_puts(writer, "]");
}

void saved_put_machine(struct writer *writer, const char *proc_root)
{
    char host[HOST_NAME_SIZE], id[64];
    const int fd = proc_tree_open_file(proc_root, "sys/kernel/random/boot_id");
    const ssize_t length = fd < 0 ? 0 : proc_read(fd, id, sizeof id - 1);

    if (fd >= 0)
        close(fd);
    id[length > 0 ? length : 0] = '\0';
    id[strcspn(id, "\n")] = '\0';
    machine_name(proc_root, host);
    saved_put_member(writer, "host", host);
    saved_put_member(writer, "boot_id", id);
}

void saved_put_time(struct writer *writer, uint64_t time)
{
    char text[TEXT_TIME_MAX + 1];

    *text_time(text, time) = '\0';
    saved_put_member(writer, "time", text);
}

void saved_put_head(const struct listing_command *command, struct writer *writer)
{
    const struct common *common = command->common;
    const struct listing *listing = &command->listing;
    const struct saved_head *head = listing->saved ? listing->saved->head : NULL;
    const uint64_t now = head            ? head->time
                         : listing->time ? listing->time
                                         : clock_nanoseconds(CLOCK_REALTIME);
    char number[96];

    saved_put_mark(writer, "head");
    snprintf(number, sizeof number, ",\"format\":%d", SAVED_FORMAT);
    writer_puts(writer, number);
    saved_put_member(writer, "kind", command->kind->name);
    if (common_counts(common))
        saved_put_member(writer, "count_by", common->count_by ? common->count_by : "");
    if (common->sum)
        saved_put_member(writer, "sum", common->sum);
    if (common->count_by && common->percent)
        writer_puts(writer, ",\"percent\":true");
    saved_put_arguments(writer, common);
    if (head) {
        saved_put_member(writer, "host", head->host);
        saved_put_member(writer, "boot_id", head->boot_id);
    } else {
        saved_put_machine(writer, listing->proc_root);
    }
    saved_put_time(writer, now);
    snprintf(number, sizeof number,
             listing->number ? ",\"listing\":%" PRIu64 "}\n" : ",\"listing\":null}\n",
             listing->number);
    writer_puts(writer, number);
}

void saved_put_end(struct sink *sink, bool complete)
{
    char line[96];

    saved_put_mark(sink->writer, "end");
    snprintf(line, sizeof line, ",\"rows\":%" PRIu64 ",\"complete\":%s}\n", sink_json_rows(sink),
             complete ? "true" : "false");
    writer_puts(sink->writer, line);
}
