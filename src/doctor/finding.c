/* SPDX-License-Identifier: MIT */
/* Puts findings into words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/clock.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"

/* --- Numbers ---------------------------------------------------------------------------------- */

uint64_t counter_moved(const struct examination *examination, enum kernel_number counter)
{
    const struct reading *before = examination->before, *now = examination->now;

    if (!before->at || !before->counts.known[counter] || !now->counts.known[counter] ||
        now->counts.numbers[counter] < before->counts.numbers[counter])
        return 0;
    return now->counts.numbers[counter] - before->counts.numbers[counter];
}

uint64_t counter_total(const struct examination *examination, enum kernel_number counter)
{
    return examination->now->counts.known[counter] ? examination->now->counts.numbers[counter] : 0;
}

/* Some files are about the whole machine, and exist only in the first network namespace. In another
 * namespace such a file is not missing; of a captured tree, nobody knows its namespace. */
bool sysctl_is_missing(const struct examination *examination, enum kernel_number sysctl)
{
    const bool *known = examination->now->counts.known;
    const bool of_machine =
        !examination->is_captured &&
        (sysctl == ORPHANS_MAX || (sysctl >= TCP_PAGES_PRESSURE && sysctl <= UDP_PAGES_MAX));

    /* limits after FILES_MAX are read together with their gauges */
    return sysctl && !known[sysctl] && sysctl <= FILES_MAX && (!of_machine || !known[PORT_FIRST]);
}

uint64_t sysctl_of(struct examination *examination, enum kernel_number sysctl)
{
    const struct reading *now = examination->now;

    examination->lacking |= sysctl_is_missing(examination, sysctl);
    return now->counts.known[sysctl] ? now->counts.numbers[sysctl] : UINT64_MAX;
}

double seconds_between(const struct examination *examination)
{
    const uint64_t before = examination->before->at;
    const uint64_t passed = before ? examination->now->at - before : 0;
    const unsigned parts = passed < CLOCK_SECOND ? 1000 : 100;
    const uint64_t rounded = passed / (CLOCK_SECOND / parts);

    return (double)rounded / parts;
}

/* --- Findings --------------------------------------------------------------------------------- */

#define FORMAT_INTO(text, format)                                                                  \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        text_print((text), sizeof(text), (format), arguments);                                     \
        va_end(arguments);                                                                         \
    } while (0)

void finding_begin(struct finding *finding, const struct examination *examination,
                   enum severity severity, const char *format, ...)
{
    const struct doctor_rule *rule = &examination->rule->text;
    struct finding_record *record = &finding->record.finding;

    record_begin(&finding->record, &kind_finding, sizeof finding->record.finding);
    FORMAT_INTO(finding->subject, format);
    *finding->summary = *finding->evidence = *finding->process = '\0';
    *finding->cause = *finding->command = '\0';
    finding->evidence_length = 0;
    record->severity = (uint8_t)severity;
    record->machine = examination->rule->needs & READS_MACHINE;
    record->rule = as_text(rule->name);
    record->advice = as_text(rule->advice);
    record->source = as_text(rule->source);
    record->command = as_text(rule->command);
}

void finding_summary(struct finding *finding, const char *format, ...)
{
    FORMAT_INTO(finding->summary, format);
}

/* Adds a piece of evidence. Leaves out a piece that does not fit. */
void finding_evidence(struct finding *finding, const char *format, ...)
{
    const char *separator = finding->evidence_length ? "; " : "";
    char piece[256];

    FORMAT_INTO(piece, format);
    if (finding->evidence_length + strlen(piece) + 3 <= sizeof finding->evidence)
        finding->evidence_length += (size_t)snprintf(
            finding->evidence + finding->evidence_length,
            sizeof finding->evidence - finding->evidence_length, "%s%s", separator, piece);
}

/* Adds the options that make another command read the same network namespace and tree. */
static void put_netns_options(FILE *stream, const struct examination *examination, bool machine)
{
    const struct doctor_options *options = examination->options;
    const char *netns = options->netns;
    const struct netns own =
        examination->is_other_netns ? namespace_own() : (struct netns){.id = 0};

    if (machine && (netns || options->all_netns))
        fputs(" --all-netns", stream);
    else if (netns || *own.name)
        text_put_word(stream, " --netns ", netns ? netns : own.name);
    else if (own.id)
        fprintf(stream, " --all-netns --where 'netns_id = %" PRIu64 "'", own.id);
    if (options->typed_root)
        text_put_word(stream, " --proc-root ", options->typed_root);
}

/* Makes the command of the rule for this process, network namespace and tree. The command is empty
 * if it does not fit. */
static void make_command(struct finding *finding, const struct examination *examination)
{
    const char *from = finding->record.finding.command.data;
    const bool is_fastnet = strncmp(from, "fastnet ", 8) == 0;

    if (*finding->command)
        return; /* finding_explain() made it */
    FILE *stream = fmemopen(finding->command, sizeof finding->command, "w");

    if (!stream)
        return;
    while (*from)
        if (strncmp(from, "/proc", 5) == 0) {
            text_put_word(stream, "",
                          strncmp(from, "/proc/PID", 9) == 0
                              ? doctor_processes(examination->options)
                              : examination->options->proc_root);
            from += 5;
        } else if (strncmp(from, "PID", 3) == 0) {
            fprintf(stream, "%" PRIu32, finding->record.finding.pid);
            from += 3;
        } else {
            fputc(*from++, stream);
        }
    if (is_fastnet)
        put_netns_options(stream, examination, finding->record.finding.machine);
    if (fclose(stream) != 0)
        *finding->command = '\0';
}

/* Returns whether the first examination, which tries only rules with at_once, passed on findings of
 * this rule. In the first examination, remembers that. */
static bool rule_is_done(struct examination *examination)
{
    if (!examination->rule->at_once)
        return false;
    const uint64_t rule = UINT64_C(1) << (examination->rule - rules);

    if (examination->is_first)
        *examination->done |= rule;
    return !examination->is_first && *examination->done & rule;
}

void finding_emit(struct finding *finding, struct examination *examination, uint64_t value,
                  uint64_t limit, uint64_t moved)
{
    struct finding_record *record = &finding->record.finding;

    record->value = value;
    record->limit = limit;
    record->moved = moved;
    finding->record.has |= (value == ABSENT ? 0 : FINDING_VALUE) |
                           (limit == ABSENT ? 0 : FINDING_LIMIT) |
                           (moved == ABSENT || !examination->before->at ? 0 : FINDING_MOVED);
    drops_add_evidence(finding, examination);
    make_command(finding, examination);
    if (record->machine && !(finding->record.has & FINDING_PROCESS) &&
        (examination->options->netns || examination->options->all_netns))
        strncat(finding->summary, " (whole machine)",
                sizeof finding->summary - strlen(finding->summary) - 1);
    record->command = as_text(finding->command);
    record->subject = as_text(*finding->subject ? finding->subject : finding->process);
    record->summary = as_text(finding->summary);
    record->evidence = as_text(finding->evidence);
    record->process = as_text(finding->process);
    if (rule_is_done(examination))
        return;
    examination->summary->findings[record->severity]++;
    if (!examination->error)
        examination->error = examination->fn(&finding->record, examination->arg);
}

void emit_past(struct examination *examination, uint64_t total, const char *counter,
               const struct loss *loss)
{
    struct finding finding;

    if (!total)
        return;
    finding_begin(&finding, examination, SEVERITY_PAST, "%s", counter);
    finding_summary(&finding, "so far %" PRIu64 " %s %s", total, loss_noun(loss, total),
                    loss->what);
    finding_evidence(&finding, "%s = %" PRIu64, counter, total);
    finding_emit(&finding, examination, total, ABSENT, ABSENT);
}

/* --- Names ------------------------------------------------------------------------------------ */

const char *endpoint_text(char text[ENDPOINT_TEXT], const struct endpoint *endpoint)
{
    *(endpoint->port ? text_address_port(text, &endpoint->address, as_text(NULL), endpoint->port)
                     : text_address(text, &endpoint->address)) = '\0';
    return text;
}

const char *address_text(char text[ENDPOINT_TEXT], const struct address *address)
{
    return endpoint_text(text, &(struct endpoint){.address = *address});
}

struct owners *owners_of(struct examination *examination)
{
    const struct doctor_options *options = examination->options;
    struct owners_options how = {.proc_root = doctor_processes(options)};

    if (examination->searched_owners)
        return examination->owners;
    examination->searched_owners = true;
    if (options->owners != OWNERS_PROC && proc_tree_is_own(how.proc_root)) {
        examination->program = owners_program_create();
        if (examination->program &&
            owners_program_load(examination->program, options->owners == OWNERS_BPF, NULL) == 0)
            how.program = examination->program;
    }
    const int error = owners_create(&examination->owners, &how);
    if (error < 0)
        report_loss(examination->report, "owners: %s: %s", how.proc_root, strerror(-error));
    return examination->owners;
}

const struct owner *owner_of(struct examination *examination, uint64_t inode)
{
    struct owners *owners = inode ? owners_of(examination) : NULL;
    const struct owner *owner;

    return owners && owners_find(owners, inode, &owner) ? owner : NULL;
}

void finding_process(struct finding *finding, char text[PROCESS_TEXT], const char *name,
                     uint32_t pid)
{
    snprintf(finding->process, sizeof finding->process, "%s", name);
    finding->record.finding.pid = pid;
    finding->record.has |= FINDING_PROCESS;
    snprintf(text, PROCESS_TEXT, "\"%s\" (pid %" PRIu32 ")", name, pid);
    for (char *at = text + 1, *end = strrchr(text, '"'); at < end; at++)
        *at = *at == '"' ? '\'' : *at;
}

void process_text(char text[PROCESS_TEXT], struct examination *examination, struct finding *finding,
                  uint64_t inode)
{
    const struct owner *owner = owner_of(examination, inode);

    examination->lacks_owner |= inode && !owner;
    if (owner)
        finding_process(finding, text, owner->process->name, (uint32_t)owner->process->pid);
    else
        snprintf(text, PROCESS_TEXT, "%s",
                 inode ? "a process that is not visible" : "a socket without a process");
}
