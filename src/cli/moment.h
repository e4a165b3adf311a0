/* SPDX-License-Identifier: MIT */
/* Moments and spans of time, as users type them for --at and --between. */
#ifndef CLI_MOMENT_H
#define CLI_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/misuse.h"

/* For help and messages. */
#define MOMENT_FORMS "03:12, 'yesterday 03:12', -2h, or 2026-11-29T03:12"

/* Parses a moment. now: the present time. *moment and `now` are ns since 1970. A text is
 *     03:12, 03:12:05                      the last such time of day before now
 *     today 03:12, yesterday 24:00         yesterday 24:00 is the beginning of today
 *     2026-11-29T03:12:00[Z|+01:00]        RFC 3339, perhaps without seconds or time of day
 *     now, -2h, -90s                       a time before now
 * Times without a zone are local times. Returns true, or false with the reason in `message`: other
 * texts, moments after now, and local times that do not exist, or exist twice, because clocks
 * change to summer time and back. */
bool moment_parse(const char *typed, uint64_t now, uint64_t *moment,
                  char message[MESSAGE_TEXT_MAX]);

/* Parses FROM,TO into span[0] and span[1], as moment_parse() does. FROM must be before TO. */
bool moment_parse_span(const char *typed, uint64_t now, uint64_t span[2],
                       char message[MESSAGE_TEXT_MAX]);

#endif
