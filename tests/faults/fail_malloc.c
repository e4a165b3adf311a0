/*
 * Preloaded into a program, lets its allocation number FAIL_MALLOC (from 1) fail, as if memory were
 * short just then. Those before main() count, too.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* glibc's own names for what is replaced here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool fails(void)
{
    static unsigned long failing, count;
    static bool known;

    if (!known) {
        const char *text = getenv("FAIL_MALLOC");
        known = true;
        failing = text ? strtoul(text, NULL, 10) : 0;
    }
    if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != failing)
        return false;
    errno = ENOMEM;
    return true;
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
