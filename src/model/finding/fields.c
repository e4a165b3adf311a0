/* SPDX-License-Identifier: MIT */
/* The fields of findings. */
#include "model/fields/fields.h"
#include "fastnet/differences.h"
#include "model/socket/owner_fields.h"

WORDS(severity_name, [SEVERITY_PAST] = "past", [SEVERITY_WARNING] = "warning",
      [SEVERITY_FAULT] = "fault");

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    WORD(severity, finding.severity, severity_name, 0,
         "fault (happens now), warning (near a limit, or caused by others) or past (since boot)",
         .coloured = true),
    TEXT(rule, finding.rule, 0, "name of the rule, as doctor --list shows it", .key = true,
         .any_case = true),
    TEXT(subject, finding.subject, 0, "location: an address and port, an interface, a table ...",
         .key = true),
    TEXT(process, finding.process, FINDING_PROCESS, "name of the process concerned", .key = true),
    NUMBER(pid, finding.pid, FINDING_PROCESS, "process ID of that process", .moving = true),
    GAUGE(value, finding.value, FINDING_VALUE, "number that was found; the rule names its unit"),
    GAUGE(limit, finding.limit, FINDING_LIMIT, "the limit of that value"),
    GAUGE(moved, finding.moved, FINDING_MOVED,
          "by how much the rule's counter grew between the two readings"),
    WORD(scope, finding.machine, machine_scope_name, 0,
         "what the finding is about: this network namespace or the whole machine"),
    TEXT(summary, finding.summary, 0, "finding, in a sentence", .moving = true, .spaced = true),
    TEXT(evidence, finding.evidence, 0, "numbers, counters and rows that show the problem",
         .moving = true, .spaced = true),
    TEXT(advice, finding.advice, 0, "advice: what to do", .moving = true, .spaced = true),
    TEXT(command, finding.command, 0, "a command line that shows more", .moving = true,
         .spaced = true),
    TEXT(source, finding.source, 0, "tables, files and counters that the finding comes from",
         .moving = true, .spaced = true),
    /* `command` has another meaning in this table */
    FIELDS_OF_PROFILE(FINDING_PROCESS, process_command, 0),
};

static const struct borrowed borrowed[] = {
    BORROWED_TEXT(finding.rule, 0),
    BORROWED_TEXT(finding.subject, 0),
    BORROWED_TEXT(finding.process, FINDING_PROCESS),
    BORROWED_TEXT(finding.summary, 0),
    BORROWED_TEXT(finding.evidence, 0),
    BORROWED_TEXT(finding.advice, 0),
    BORROWED_TEXT(finding.command, 0),
    BORROWED_TEXT(finding.source, 0),
};

static const struct matching matching = {
    .place = "rule subject process",
    .shown = "severity rule subject process summary",
};

const struct kind kind_finding = {
    .name = "findings",
    .metric = "finding",
    .size = RECORD_SIZE(finding),
    FIELDS(fields),
    BORROWED(borrowed),
    .matching = &matching,
};
