#include "format/sinks/totals.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/text/width.h"

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

/* The state with the most rows, which are forgotten; NULL when there is none left. */
static const char *take_largest(struct totals *totals, uint64_t *rows)
{
    size_t largest = 0;

    for (size_t i = 1; i < TOTALS_STATES; i++)
        if (totals->states[i].rows > totals->states[largest].rows)
            largest = i;
    *rows = totals->states[largest].rows;
    totals->states[largest].rows = 0;
    return *rows ? totals->states[largest].name : NULL;
}

enum { LINE_MAX_BYTES = 1024 }; /* more than all states and all words of attention take */

__attribute__((format(printf, 3, 4))) static size_t append(char line[LINE_MAX_BYTES], size_t used,
                                                           const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line + used, LINE_MAX_BYTES - used, format, arguments);
    va_end(arguments);
    return length > 0 && (size_t)length < LINE_MAX_BYTES - used ? used + (size_t)length : used;
}

/* "; accept queue full ×2, ...": as many as there is room for. */
static size_t append_attention(char line[LINE_MAX_BYTES], const struct totals *totals, size_t room)
{
    const char *before = ";";
    size_t used = 0;

    for (unsigned i = ATTENTION_NONE + 1; i < ATTENTIONS; i++) {
        if (!totals->attention[i])
            continue;
        const size_t more =
            append(line, used, "%s %s ×%llu", before, attention_words((enum attention)i),
                   (unsigned long long)totals->attention[i]);
        if (text_width(line, more) > room)
            break;
        used = more;
        before = ",";
    }
    return used;
}

/* ": 487 TIME_WAIT, ...": as many states as there is room for. */
static size_t append_states(char line[LINE_MAX_BYTES], size_t used, struct totals *totals,
                            size_t room)
{
    const char *before = ":", *state;
    uint64_t count;

    while ((state = take_largest(totals, &count))) {
        const size_t more =
            append(line, used, "%s %llu %s", before, (unsigned long long)count, state);
        if (text_width(line, more) > room)
            break;
        used = more;
        before = ",";
    }
    return used;
}

void totals_put(struct totals *totals, const char *rows, size_t width, struct writer *writer)
{
    char line[LINE_MAX_BYTES], attention[LINE_MAX_BYTES];
    size_t used = append(line, 0, "%llu %.*s", (unsigned long long)totals->rows,
                         (int)(strlen(rows) - (totals->rows == 1)), rows);
    const size_t behind = append_attention(attention, totals, width > used ? width - used : 0),
                 need = text_width(attention, behind);

    used = append_states(line, used, totals, width > need ? width - need : 0);
    used = append(line, used, "%.*s\n", (int)behind, attention);
    writer_put(writer, line, used);
}
