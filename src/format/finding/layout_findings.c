/* SPDX-License-Identifier: MIT */
/* Findings for people: for each a sentence, evidence and advice. The last line counts them. */
#include <stdio.h>

#include "fastnet/array.h"
#include "fastnet/layouts.h"
#include "fastnet/namespace.h"
#include "fastnet/status_line.h"
#include "text/put.h"

enum {
    RULE_NAME_MAX = 64,
    COMMAND_MAX = 1024,
    ADVICE_MAX = 512,
    TEXT_MAX = 768,
    SUMMARY_MAX = 512,
    LINE_MAX_BYTES = 256 + ESCAPE_FACTOR * SUMMARY_MAX
};

struct findings_sink {
    struct sink sink;
    struct findings_layout layout;
    /* Texts of the last finding. */
    char rule[RULE_NAME_MAX], command[COMMAND_MAX], advice[ADVICE_MAX];
};

static void findings_begin(struct sink *sink)
{
    struct findings_sink *findings = (struct findings_sink *)sink;

    *findings->rule = *findings->command = *findings->advice = '\0';
}

enum { INDENT = sizeof "    evidence: " - 1 };

/* Wraps a text at the terminal's width. at: column of the first word; further lines indent. */
static char *put_wrapped(char *dst, const struct findings_sink *findings, size_t at,
                         struct text text)
{
    char escaped[ESCAPE_FACTOR * TEXT_MAX + 1];
    const size_t length = text.length < TEXT_MAX ? text.length : TEXT_MAX;
    const char *stop = escape_text(escaped, text.data, length, NULL);

    for (const char *word = escaped, *next; word < stop; word = next) {
        for (next = word; next < stop && (next == word || *next != ' ');)
            next++;
        at += (size_t)(next - word);
        if (*word == ' ' && findings->layout.width && at > findings->layout.width) {
            dst = put_padded(PUT(dst, "\n"), "", INDENT);
            word++;
            at = INDENT + (size_t)(next - word);
        }
        dst = put_bytes(dst, word, (size_t)(next - word));
    }
    return PUT(dst, "\n");
}

static char *findings_put_part(char *dst, const struct findings_sink *findings, const char *name,
                               struct text text)
{
    if (!text.length)
        return dst;
    dst = PUT(dst, "    ");
    dst = put_padded(dst, name, INDENT - 4);
    return put_wrapped(dst, findings, INDENT, text);
}

/* Writes the source only for the first of several findings of one rule, advice and a command only
 * if they differ from those of the last finding. Commands are not wrapped, because users copy them.
 */
static char *findings_put_help(char *dst, struct findings_sink *findings,
                               const struct finding_record *finding)
{
    const bool same = text_is(finding->rule, findings->rule);

    if (!same || !text_is(finding->advice, findings->advice))
        dst = findings_put_part(dst, findings, "to do: ", finding->advice);
    if (finding->command.length && !text_is(finding->command, findings->command))
        dst = PUT(escape_text(PUT(dst, "    see:      "), finding->command.data,
                              finding->command.length, NULL),
                  "\n");
    snprintf(findings->rule, sizeof findings->rule, "%.*s", (int)finding->rule.length,
             finding->rule.data);
    snprintf(findings->advice, sizeof findings->advice, "%.*s", (int)finding->advice.length,
             finding->advice.data);
    snprintf(findings->command, sizeof findings->command, "%.*s", (int)finding->command.length,
             finding->command.data);
    dst = findings_put_part(dst, findings, "evidence: ", finding->evidence);
    if (findings->layout.verbose && !same)
        dst = findings_put_part(dst, findings, "source: ", finding->source);
    return findings_put_part(dst, findings, "rule: ", finding->rule);
}

/* Writes a finding. The first line is its severity and a sentence. */
static void findings_row(struct sink *sink, const struct record *record)
{
    static const char *const colours[SEVERITIES] = {
        [SEVERITY_FAULT] = COLOUR_ATTENTION, [SEVERITY_WARNING] = "\033[1;33m", /* bold yellow */
    };
    struct findings_sink *findings = (struct findings_sink *)sink;
    const struct finding_record *finding = &record->finding;
    const char *colour = findings->layout.colour ? colours[finding->severity] : NULL;
    const char *severity = severity_name(finding->severity);
    char *dst = writer_reserve(sink->writer, WRITER_RESERVE_MAX);

    if (findings->layout.shown)
        ++*findings->layout.shown;
    dst = put_string(put_string(dst, colour ? colour : ""), severity);
    dst = PUT(put_string(dst, colour ? COLOUR_RESET : ""), ": ");
    dst = put_wrapped(dst, findings, strlen(severity) + 2, finding->summary);
    writer_commit(sink->writer, dst);
    dst = findings_put_help(writer_reserve(sink->writer, WRITER_RESERVE_MAX), findings, finding);
    writer_commit(sink->writer, PUT(dst, "\n"));
}

/* Writes "2 faults". */
static char *findings_put_count(char *dst, uint64_t count, const char *what)
{
    dst = put_string(PUT(text_u64(dst, count), " "), what);
    return count == 1 ? dst : PUT(dst, "s");
}

/* Writes "1 fault, 2 warnings". */
static char *put_counts(char *dst, const uint64_t counts[SEVERITIES])
{
    dst = findings_put_count(dst, counts[SEVERITY_FAULT], "fault");
    return findings_put_count(PUT(dst, ", "), counts[SEVERITY_WARNING], "warning");
}

/* Returns how many findings are counted but not shown, and sets *shown to 0. */
static uint64_t findings_take_hidden(const struct findings_layout *layout)
{
    uint64_t hidden = 0;

    for (size_t i = 0; layout->shown && i < SEVERITIES; i++)
        hidden += layout->counts[i];
    if (layout->shown) {
        hidden = hidden > *layout->shown ? hidden - *layout->shown : 0;
        *layout->shown = 0;
    }
    return hidden;
}

static void findings_end(struct sink *sink)
{
    const struct findings_sink *findings = (struct findings_sink *)sink;
    const struct findings_layout *layout = &findings->layout;
    char *dst;

    if (!layout->header)
        return;
    const bool found = layout->counts[SEVERITY_FAULT] || layout->counts[SEVERITY_WARNING];
    const uint64_t hidden = findings_take_hidden(layout);
    dst = writer_reserve(sink->writer, LINE_MAX_BYTES);
    if (found)
        dst = put_counts(dst, layout->counts);
    else
        dst = findings_put_count(PUT(dst, "nothing found by "), *layout->rules, "rule");
    if (*layout->partial && !found)
        dst = PUT(dst, ", but not all could be checked");
    if (layout->counts[SEVERITY_PAST])
        dst = PUT(text_u64(PUT(dst, "; "), layout->counts[SEVERITY_PAST]), " in the past");
    if (hidden)
        dst = PUT(text_u64(PUT(dst, "; "), hidden), " not shown");
    dst = PUT(dst, " (");
    if (found)
        dst = PUT(findings_put_count(dst, *layout->rules, "rule"), ", ");
    dst = PUT(text_seconds(dst, *layout->milliseconds), " s)\n");
    writer_commit(sink->writer, dst);
}

const struct sink_ops sink_findings = {
    .size = sizeof(struct findings_sink),
    .layout_size = sizeof(struct findings_layout),
    .begin = findings_begin,
    .row = findings_row,
    .end = findings_end,
};

/* --- For monitoring: one line, the worst finding, and their numbers --------------------------- */

struct line_sink {
    struct findings_sink findings; /* first member, for casts */
    char worst[SUMMARY_MAX];       /* the sentence of the worst finding, cut to SUMMARY_MAX bytes */
    size_t length;
    struct netns netns; /* netns of the worst finding; id 0: no netns is named */
};

static void findings_line_begin(struct sink *sink)
{
    findings_begin(sink);
    ((struct line_sink *)sink)->length = 0;
    ((struct line_sink *)sink)->netns.id = 0;
}

/* Keeps the first finding, which is the worst: findings come sorted. */
static void line_row(struct sink *sink, const struct record *record)
{
    struct line_sink *line = (struct line_sink *)sink;
    const struct finding_record *finding = &record->finding;

    if (!line->length && finding->severity > SEVERITY_PAST) {
        line->length =
            finding->summary.length < SUMMARY_MAX ? finding->summary.length : SUMMARY_MAX;
        memcpy(line->worst, finding->summary.data, line->length);
        if (sink->context->netns.netns && !finding->machine)
            line->netns = *sink->context->netns.netns;
    }
}

/* Writes the line. Numbers follow a '|', so a '|' in a name is escaped. */
static void findings_line_end(struct sink *sink)
{
    const struct line_sink *line = (const struct line_sink *)sink;
    const uint64_t *counts = line->findings.layout.counts;
    char text[LINE_MAX_BYTES], numbers[64], *dst = put_counts(text, counts), *end;

    if (line->length)
        dst = escape_text(PUT(dst, "; "), line->worst, line->length, "|");
    if (line->netns.id)
        dst = PUT(dst, " in network namespace ");
    if (line->netns.id && *line->netns.name)
        dst = escape_text(dst, line->netns.name, strlen(line->netns.name), "|");
    else if (line->netns.id)
        dst = text_u64(dst, line->netns.id);
    end = text_u64(PUT(numbers, "faults="), counts[SEVERITY_FAULT]);
    end = text_u64(PUT(end, " warnings="), counts[SEVERITY_WARNING]);
    status_line_put(sink->writer,
                    counts[SEVERITY_FAULT]           ? LEVEL_CRITICAL
                    : counts[SEVERITY_WARNING]       ? LEVEL_WARNING
                    : *line->findings.layout.partial ? LEVEL_UNKNOWN
                                                     : LEVEL_OK,
                    (struct text){text, (size_t)(dst - text)},
                    (struct text){numbers, (size_t)(end - numbers)});
}

const struct sink_ops sink_findings_line = {
    .size = sizeof(struct line_sink),
    .layout_size = sizeof(struct findings_layout),
    .begin = findings_line_begin,
    .row = line_row,
    .end = findings_line_end,
};

/* --- Metrics ---------------------------------------------------------------------------------- */

#define GAUGE(name, help)                                                                          \
    "# HELP fastnet_doctor_" name " " help "\n# TYPE fastnet_doctor_" name                         \
    " gauge\nfastnet_doctor_" name

void findings_metrics(struct writer *writer, const void *findings_layout)
{
    const struct findings_layout *layout = findings_layout;
    const struct {
        const char *name;
        uint64_t value;
    } metrics[] = {
        {GAUGE("findings",
               "findings by severity, also those that a filter leaves out") "{severity=\"fault\"} ",
         layout->counts[SEVERITY_FAULT]},
        {"fastnet_doctor_findings{severity=\"warning\"} ", layout->counts[SEVERITY_WARNING]},
        {"fastnet_doctor_findings{severity=\"past\"} ", layout->counts[SEVERITY_PAST]},
        {GAUGE("rules", "how many rules were tried") " ", *layout->rules},
        {GAUGE("complete", "1 if all could be checked, else 0") " ", !*layout->partial},
    };

    for (size_t i = 0; i < COUNT(metrics); i++) {
        char value[TEXT_U64_MAX + 1];
        *text_u64(value, metrics[i].value) = '\0';
        writer_puts(writer, metrics[i].name);
        writer_puts(writer, value);
        writer_puts(writer, "\n");
    }
}
