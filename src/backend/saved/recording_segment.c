/* SPDX-License-Identifier: MIT */
/* Names of segments. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

bool recording_segment_parse(const char *name, struct recording_segment *segment)
{
    enum { DIGITS_MOST = 18 };
    struct tm utc = {.tm_mday = 1};
    const char *number = strptime(name, "fastnet-%Y%m%dT%H%M%SZ-", &utc);
    struct recording_segment parsed = {.time = (uint64_t)timegm(&utc) * CLOCK_SECOND};
    char again[RECORDING_NAME];

    if (!number || strspn(number, "0123456789") > DIGITS_MOST)
        return false;
    parsed.number = strtoull(number, NULL, 10);
    for (; parsed.form < RECORDING_FORMS; parsed.form++) { /* strptime(3) also takes other forms */
        recording_segment_put(again, &parsed);
        if (strcmp(name, again) == 0) {
            *segment = parsed;
            return true;
        }
    }
    return false;
}

int recording_each_segment(int directory,
                           int (*fn)(const struct recording_segment *segment,
                                     const struct stat *file, void *arg),
                           void *arg)
{
    const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    int result = names ? 0 : -errno;
    struct recording_segment segment;
    struct stat file;

    if (!names && fd >= 0)
        close(fd);
    for (const struct dirent *entry; names && !result && (entry = readdir(names));)
        if (recording_segment_parse(entry->d_name, &segment) &&
            fstatat(directory, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(file.st_mode))
            result = fn(&segment, &file, arg);
    if (names)
        closedir(names);
    return result;
}
