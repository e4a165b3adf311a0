/* SPDX-License-Identifier: MIT */
#include "cli/moment.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/form.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"

enum { MOMENT_MAX = 64, DAY_SECONDS = 24 * 60 * 60 };

/* --- Local times ------------------------------------------------------------------------------ */

/* Returns the seconds since 1970 of a date and time in UTC; days may be beyond their month. */
static time_t moment_utc(const struct tm *local)
{
    struct tm copy = *local;

    return timegm(&copy);
}

/* True if the local time at `seconds` is `local`. */
static bool moment_is(time_t seconds, const struct tm *local)
{
    struct tm found;

    return localtime_r(&seconds, &found) && moment_utc(&found) == moment_utc(local);
}

/* Finds the moments with this local time, the earlier first. Returns their number: 0 or 2 where
 * clocks change, otherwise 1. Does not use mktime(3), because C libraries differ in what tm_isdst
 * means. The distance from UTC is that of the day before, or that of the day after. */
static int moment_find(const struct tm *local, time_t found[2])
{
    const time_t utc = moment_utc(local);
    int count = 0;

    for (int day = 1; day >= -1; day -= 2) {
        const time_t near = utc - (time_t)day * DAY_SECONDS;
        struct tm there;
        if (!localtime_r(&near, &there))
            continue;
        const time_t seconds = utc - (moment_utc(&there) - near);
        if (moment_is(seconds, local) && (!count || found[0] != seconds))
            found[count++] = seconds;
    }
    return count;
}

/* Returns the moment with this local time, or -1 with a message. If `now` is
 * between two such moments, the first is meant. */
static time_t moment_of_local(const char *typed, const struct tm *local, time_t now,
                              char message[MESSAGE_TEXT_MAX])
{
    time_t found[2];
    const int count = moment_find(local, found);
    char first[CLOCK_LOCAL_SIZE], second[CLOCK_LOCAL_SIZE];

    if (count == 1 || (count == 2 && found[0] <= now && found[1] > now))
        return found[0];
    if (!count) {
        message_format(message, "the local time '%s' does not exist: clocks were set forward",
                       TYPED_SHORT(typed));
        return -1;
    }
    message_format(message, "the local time '%s' exists twice: type %s or %s", TYPED_SHORT(typed),
                   clock_local(first, (uint64_t)found[0] * CLOCK_SECOND),
                   clock_local(second, (uint64_t)found[1] * CLOCK_SECOND));
    return -1;
}

/* --- Forms ------------------------------------------------------------------------------------ */

/* Parses a time of day, 00:00 to 24:00, into the members of *day. */
static bool moment_take_time(const char *text, struct tm *day)
{
    const bool digits = strspn(text, "0123456789:") == strlen(text);
    const char *end = digits ? strptime(text, "%H:%M", day) : NULL;

    day->tm_sec = 0;
    if (strcmp(text, "24:00") == 0 || strcmp(text, "24:00:00") == 0) {
        day->tm_hour = 24;
        day->tm_min = 0;
        return true;
    }
    if (end && *end == ':')
        end = strptime(end + 1, "%S", day);
    return end && !*end && day->tm_sec < 60;
}

/* Parses `today 03:12`, `yesterday 03:12`, and 03:12. Returns true if the text has such a form;
 * *seconds is -1 after a message. */
static bool moment_take_day(const char *typed, time_t now, time_t *seconds,
                            char message[MESSAGE_TEXT_MAX])
{
    static const struct {
        const char *name;
        int before;
    } days[] = {{"yesterday ", 1}, {"today ", 0}, {"", 0}};
    struct tm day;
    size_t i = 0;

    while (strncmp(typed, days[i].name, strlen(days[i].name)) != 0)
        i++;
    const char *time = typed + strlen(days[i].name);
    time += strspn(time, " ");
    if (!localtime_r(&now, &day) || !moment_take_time(time, &day))
        return false;
    day.tm_mday -= days[i].before;
    time_t found[2];
    if (!*days[i].name &&
        (!moment_find(&day, found) ? moment_utc(&day) > now + day.tm_gmtoff : found[0] > now))
        day.tm_mday--; /* the last such time was yesterday */
    *seconds = moment_of_local(typed, &day, now, message);
    return true;
}

/* Parses a time of RFC 3339. Returns true as moment_take_day() does. */
static bool moment_take_date(const char *typed, uint64_t now, uint64_t *moment,
                             char message[MESSAGE_TEXT_MAX])
{
    const char *time = strpbrk(typed, "Tt ");
    const bool has_zone = time && strpbrk(time, "Zz+-");
    char text[MOMENT_MAX];
    struct tm local;

    snprintf(text, sizeof text, "%s", typed);
    if (time) /* RFC 3339 permits a space, and small letters, too */
        text[time - typed] = 'T';
    if (text[strcspn(text, "z")])
        text[strcspn(text, "z")] = 'Z';
    if (!strchr(typed, '-') || !form_time(text, moment))
        return false;
    const time_t utc = (time_t)(*moment / CLOCK_SECOND);
    if (has_zone)
        return true;
    if (!gmtime_r(&utc, &local))
        return false;
    const time_t seconds = moment_of_local(typed, &local, (time_t)(now / CLOCK_SECOND), message);
    *moment = seconds < 0 ? UINT64_MAX : (uint64_t)seconds * CLOCK_SECOND + *moment % CLOCK_SECOND;
    return true;
}

/* Parses `now`, and a time before now such as -2h. */
static bool moment_take_distance(const char *typed, uint64_t now, uint64_t *moment)
{
    uint64_t microseconds = 0;

    if (strcmp(typed, "now") != 0 &&
        (*typed != '-' || !form_quantity(typed + 1, UNIT_SECONDS, FORM_MILLION, &microseconds)))
        return false;
    if (microseconds > now / 1000)
        return false;
    *moment = now - microseconds * 1000;
    return true;
}

bool moment_parse(const char *typed, uint64_t now, uint64_t *moment, char message[MESSAGE_TEXT_MAX])
{
    const time_t second = (time_t)(now / CLOCK_SECOND);
    uint64_t found = UINT64_MAX;
    time_t seconds;

    *message = '\0';
    if (strlen(typed) < MOMENT_MAX && moment_take_day(typed, second, &seconds, message))
        found = seconds < 0 ? UINT64_MAX : (uint64_t)seconds * CLOCK_SECOND;
    else if (strlen(typed) >= MOMENT_MAX || (!moment_take_date(typed, now, &found, message) &&
                                             !moment_take_distance(typed, now, &found)))
        message_format(message, "expected a time, such as " MOMENT_FORMS ", not '%s'",
                       TYPED_SHORT(typed));
    if (!*message && found > now) {
        char local[CLOCK_LOCAL_SIZE];
        message_format(message, "'%s' is in the future: %s", TYPED_SHORT(typed),
                       clock_local(local, found));
    }
    if (*message)
        return false;
    *moment = found;
    return true;
}

bool moment_parse_span(const char *typed, uint64_t now, uint64_t span[2],
                       char message[MESSAGE_TEXT_MAX])
{
    const char *comma = strchr(typed, ',');
    char from[MOMENT_MAX];

    if (!comma || (size_t)(comma - typed) >= sizeof from) {
        message_format(message,
                       "expected FROM,TO, such as 'yesterday 00:00,yesterday 24:00' or "
                       "-2h,now, not '%s'",
                       TYPED_SHORT(typed));
        return false;
    }
    snprintf(from, sizeof from, "%.*s", (int)(comma - typed), typed);
    if (!moment_parse(from, now, &span[0], message) ||
        !moment_parse(comma + 1 + strspn(comma + 1, " "), now, &span[1], message))
        return false;
    if (span[0] >= span[1]) {
        char local[2][CLOCK_LOCAL_SIZE];
        message_format(message, "FROM, %s, is not before TO, %s", clock_local(local[0], span[0]),
                       clock_local(local[1], span[1]));
    }
    return span[0] < span[1];
}
