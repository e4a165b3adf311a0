/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program, lets its allocation number FAIL_MALLOC (from 1) fail, as if memory were
 * short just then; with "+" behind the number all after it, too. Those before main() count, too.
 * At the end the number of all allocations is written to the file FAIL_MALLOC_COUNT.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* glibc's own names for what is replaced here. */
void *__libc_malloc(size_t size);               // NOLINT(bugprone-reserved-identifier)
void *__libc_calloc(size_t count, size_t size); // NOLINT(bugprone-reserved-identifier)
void *__libc_realloc(void *old, size_t size);   // NOLINT(bugprone-reserved-identifier)

static unsigned long allocations;

static bool fails(void)
{
    static unsigned long first, last;
    static bool known;
    unsigned long number;

    if (!known) {
        const char *text = getenv("FAIL_MALLOC");
        char *end = NULL;
        known = true;
        first = last = text ? strtoul(text, &end, 10) : 0;
        if (end && *end == '+')
            last = ULONG_MAX;
    }
    number = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    if (!first || number < first || number > last)
        return false;
    errno = ENOMEM;
    return true;
}

static __attribute__((destructor)) void write_count(void)
{
    const char *path = getenv("FAIL_MALLOC_COUNT");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;

    if (fd >= 0) {
        dprintf(fd, "%lu\n", allocations);
        close(fd);
    }
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
