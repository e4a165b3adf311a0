/* SPDX-License-Identifier: MIT */
#include "format/sinks/totals.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text/width.h"

void totals_add_state(struct totals *totals, const char *name, size_t length)
{
    size_t i = 0;

    if (length >= TOTALS_NAME || (length == 1 && *name == '-'))
        return;
    while (i < TOTALS_STATES && totals->states[i].rows &&
           !text_is((struct text){name, length}, totals->states[i].name))
        i++;
    if (i < TOTALS_STATES && totals->states[i].rows++ == 0)
        memcpy(totals->states[i].name, name, length);
}

/* Whether a state comes before another: the state with more rows first, then by name. */
static bool state_is_before(const struct totals *totals, size_t state, size_t other)
{
    const uint64_t rows = totals->states[state].rows, others = totals->states[other].rows;

    return rows > others ||
           (rows == others && strcmp(totals->states[state].name, totals->states[other].name) < 0);
}

/* Returns the state with the most rows and sets its rows to 0; NULL if no state is left. */
static const char *take_largest_state(struct totals *totals, uint64_t *rows)
{
    size_t largest = 0;

    for (size_t i = 1; i < TOTALS_STATES; i++)
        if (state_is_before(totals, i, largest))
            largest = i;
    *rows = totals->states[largest].rows;
    totals->states[largest].rows = 0;
    return *rows ? totals->states[largest].name : NULL;
}

enum { LINE_MAX_BYTES = 2048 }; /* more than all states, all reasons and a command need */

__attribute__((format(printf, 3, 4))) static size_t
append_format(char line[LINE_MAX_BYTES], size_t used, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line + used, LINE_MAX_BYTES - used, format, arguments);
    va_end(arguments);
    return length > 0 && (size_t)length < LINE_MAX_BYTES - used ? used + (size_t)length : used;
}

/* Appends "; accept queue full ×2, ...": as many reasons as fit into `room`. */
static size_t append_reasons(char line[LINE_MAX_BYTES], const struct totals *totals,
                             const struct sink_options *options, size_t room)
{
    const struct field *attention = options->attention;
    const char *before = ";";
    size_t used = 0;

    for (unsigned i = 0; i < TOTALS_REASONS; i++) {
        if (!totals->reasons[i])
            continue;
        const size_t more =
            append_format(line, used, "%s %s %s%llu", before, attention->flags->names[i],
                          options->ascii ? "x" : "×", (unsigned long long)totals->reasons[i]);
        if (text_width(line, more) > room)
            break;
        for (size_t at = used; at < more; at++)
            line[at] = line[at] == '_' ? ' ' : line[at];
        used = more;
        before = ",";
    }
    return used;
}

/* Appends ": 487 TIME_WAIT, …": as many states as fit into `room`; '…' replaces the others. */
static size_t append_states(char line[LINE_MAX_BYTES], size_t used, struct totals *totals,
                            const struct sink_options *options, size_t room)
{
    const char *others = options->ascii ? ", ..." : ", …";
    const char *before = ":", *state;
    const size_t empty = used;
    size_t cut = empty; /* the last length that leaves room for the sign */
    uint64_t count;

    while ((state = take_largest_state(totals, &count))) {
        used = append_format(line, used, "%s %llu %s", before, (unsigned long long)count, state);
        if (text_width(line, used) > room)
            return cut > empty ? append_format(line, cut, "%s", others) : empty;
        if (text_width(line, used) + text_width(others, strlen(others)) <= room)
            cut = used;
        before = ",";
    }
    return used;
}

static size_t room_after(size_t room, size_t by)
{
    return room > by ? room - by : 0;
}

void totals_put(struct totals *totals, const struct sink_options *options)
{
    char line[LINE_MAX_BYTES], reasons[LINE_MAX_BYTES];
    const char *rows = options->totals, *see = totals->marked ? options->see : NULL;
    const size_t command = see ? strlen("; see: ") + text_width(see, strlen(see)) : 0;
    size_t used = append_format(line, 0, "%llu %.*s", (unsigned long long)totals->rows,
                                (int)(strlen(rows) - (totals->rows == 1)), rows);
    const size_t all = append_reasons(reasons, totals, options, LINE_MAX_BYTES);
    const bool beside = /* else the command gets its own line, and no reason is cut for it */
        used + text_width(reasons, all) + command <= options->width;
    const size_t room = options->width - (beside ? command : 0),
                 reasons_length = append_reasons(reasons, totals, options, room_after(room, used));

    used = append_states(line, used, totals, options,
                         room_after(room, text_width(reasons, reasons_length)));
    used = append_format(line, used, "%.*s%s%s\n", (int)reasons_length, reasons,
                         !see     ? ""
                         : beside ? "; see: "
                                  : "\nsee: ",
                         see ? see : "");
    writer_put(options->writer, line, used);
}
