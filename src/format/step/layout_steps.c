/* SPDX-License-Identifier: MIT */
/* Steps of fastnet why for people: a row for each step, and at the end the answer with advice. */
#include "fastnet/layouts.h"
#include "fastnet/record/step.h"
#include "text/put.h"

enum {
    STEPS_TEXT_MAX = 900, /* bytes of a text */
    STEPS_INDENT = 11,    /* column of RESULT */
    STEPS_WIDTH_MIN = 40, /* a narrower terminal breaks the lines itself */
    STEPS_PART = sizeof "to do: " - 1,
};

struct steps_sink {
    struct sink sink;
    struct steps_layout layout;
};

static void steps_begin(struct sink *sink)
{
    if (((struct steps_sink *)sink)->layout.header)
        writer_puts(sink->writer, "STEP       RESULT\n");
}

/* Writes a text, broken into lines at the terminal's width; all lines but the first are indented to
 * column `at`, where the text begins. */
static char *steps_put_lines(char *dst, const struct steps_sink *steps, size_t at, struct text text)
{
    const size_t width = steps->layout.width;
    char escaped[ESCAPE_FACTOR * STEPS_TEXT_MAX];
    const size_t length = text.length < STEPS_TEXT_MAX ? text.length : STEPS_TEXT_MAX;
    struct text rest = {escaped, (size_t)(escape_text(escaped, text.data, length, NULL) - escaped)};

    while (width >= STEPS_WIDTH_MIN && rest.length) {
        dst = put_text(dst, text_take_line(&rest, width - at));
        if (rest.length)
            dst = put_spaces(PUT(dst, "\n"), at);
    }
    return PUT(put_text(dst, rest), "\n");
}

/* Writes a further line of a step: its name, such as "to do:", and the text. */
static void steps_put_part(struct steps_sink *steps, const char *name, struct text text)
{
    char *dst;

    if (!text.length)
        return;
    dst = put_spaces(writer_reserve(steps->sink.writer, WRITER_RESERVE_MAX), STEPS_INDENT);
    dst = put_padded(dst, name, STEPS_PART);
    writer_commit(steps->sink.writer, steps_put_lines(dst, steps, STEPS_INDENT + STEPS_PART, text));
}

/* Commands are not broken into lines, because users copy them. */
static void steps_put_command(const struct steps_sink *steps, struct text command)
{
    struct steps_sink unbroken = *steps;

    unbroken.layout.width = 0;
    steps_put_part(&unbroken, "see:", command);
}

static void steps_row(struct sink *sink, const struct record *record)
{
    static const char *const colours[ENDINGS] = {
        [ENDING_ENDS] = COLOUR_ATTENTION, [ENDING_UNKNOWN] = "\033[1;33m", /* bold yellow */
    };
    struct steps_sink *steps = (struct steps_sink *)sink;
    const struct step_record *step = &record->step;
    const bool is_answer = record->has & STEP_ENDING;
    const char *colour = is_answer && steps->layout.colour ? colours[step->ending] : NULL;
    char *dst = writer_reserve(sink->writer, WRITER_RESERVE_MAX);
    const char *name = step_name(step->step);

    dst = put_string(put_string(dst, colour ? colour : ""), name);
    dst = put_string(dst, colour ? COLOUR_RESET : "");
    dst = put_spaces(dst, STEPS_INDENT - strlen(name));
    writer_commit(sink->writer, steps_put_lines(dst, steps, STEPS_INDENT, step->result));
    if (is_answer) {
        steps_put_part(steps, "to do:", step->advice);
        steps_put_command(steps, step->command);
    }
    if (steps->layout.verbose)
        steps_put_part(steps, "from:", step->source);
}

const struct sink_ops sink_steps = {
    .size = sizeof(struct steps_sink),
    .layout_size = sizeof(struct steps_layout),
    .begin = steps_begin,
    .row = steps_row,
};
