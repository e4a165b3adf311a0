/* SPDX-License-Identifier: MIT */
/* Names of segments. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fastnet/clock.h"
#include "fastnet/recording.h"

static const char *const suffixes[RECORDING_FORMS] = {"", ".zst", ".gz"};

void recording_segment_put(char name[RECORDING_NAME], const struct recording_segment *segment)
{
    const time_t seconds = (time_t)(segment->time / CLOCK_SECOND);
    struct tm utc;
    char time[32] = "";

    if (gmtime_r(&seconds, &utc))
        strftime(time, sizeof time, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(name, RECORDING_NAME, "fastnet-%s-%06" PRIu64 ".ndjson%s", time, segment->number,
             suffixes[segment->form]);
}

/* Reads `count` digits. Returns the end, or NULL. */
static const char *segment_digits(const char *text, size_t count, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < count; i++) {
        if (!text || text[i] < '0' || text[i] > '9')
            return NULL;
        *number = *number * 10 + (uint64_t)(text[i] - '0');
    }
    return text + count;
}

static const char *segment_literal(const char *text, const char *literal)
{
    const size_t length = strlen(literal);

    return text && strncmp(text, literal, length) == 0 ? text + length : NULL;
}

/* Reads a time such as 20261129T031200Z. Returns the end, or NULL. */
static const char *segment_time(const char *text, uint64_t *nanoseconds)
{
    static const struct {
        size_t digits;
        const char *after;
    } parts[] = {{4, ""}, {2, ""}, {2, "T"}, {2, ""}, {2, ""}, {2, "Z"}};
    uint64_t numbers[6];

    for (size_t i = 0; i < 6; i++)
        text = segment_literal(segment_digits(text, parts[i].digits, &numbers[i]), parts[i].after);
    struct tm utc = {.tm_year = (int)numbers[0] - 1900,
                     .tm_mon = (int)numbers[1] - 1,
                     .tm_mday = (int)numbers[2],
                     .tm_hour = (int)numbers[3],
                     .tm_min = (int)numbers[4],
                     .tm_sec = (int)numbers[5]};
    const time_t seconds = text ? timegm(&utc) : -1;
    *nanoseconds = (uint64_t)seconds * CLOCK_SECOND;
    return seconds < 0 ? NULL : text;
}

bool recording_segment_parse(const char *name, struct recording_segment *segment)
{
    enum { DIGITS_LEAST = 6, DIGITS_MOST = 18 };
    struct recording_segment parsed;
    const char *at = segment_literal(name, "fastnet-");

    at = segment_literal(segment_time(at, &parsed.time), "-");
    const size_t digits = at ? strspn(at, "0123456789") : 0;
    if (digits < DIGITS_LEAST || digits > DIGITS_MOST)
        return false;
    at = segment_literal(segment_digits(at, digits, &parsed.number), ".ndjson");
    for (parsed.form = 0; at && parsed.form < RECORDING_FORMS; parsed.form++)
        if (strcmp(at, suffixes[parsed.form]) == 0) {
            *segment = parsed;
            return true;
        }
    return false;
}
