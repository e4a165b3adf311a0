/* SPDX-License-Identifier: MIT */
#include "engine/glob.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdint.h>

bool glob_matches_loosely(const char *pattern, struct text text)
{
    char shown[4097]; /* longer than each name and path of the kernel's */

    if (text.length >= sizeof shown)
        return false;
    for (size_t i = 0; i < text.length; i++)
        shown[i] = text.data[i] ? text.data[i] : '@';
    shown[text.length] = '\0';
    return fnmatch(pattern, shown, FNM_CASEFOLD) == 0;
}

bool glob_matches(struct text pattern, struct text text)
{
    size_t at = 0, from = 0, star = SIZE_MAX, i = 0;

    while (i < text.length) {
        if (at < pattern.length && pattern.data[at] == '*') {
            star = ++at;
            from = i;
            continue;
        }
        const size_t letter =
            at + (at + 1 < pattern.length && pattern.data[at] == '\\'); /* taken as it is */
        if (at < pattern.length &&
            (pattern.data[at] == '?' || pattern.data[letter] == text.data[i])) {
            at = letter + 1;
            i++;
        } else if (star != SIZE_MAX) {
            at = star;
            i = ++from;
        } else {
            return false;
        }
    }
    while (at < pattern.length && pattern.data[at] == '*')
        at++;
    return at == pattern.length;
}
