/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/rights.h"
#include "fastnet/symbols.h"

enum { SYMBOL_SIZE = 128 }; /* longer names, of generated functions, are cut */

/* A place, and the function that begins last before it. */
struct symbol {
    uint64_t place, start;
    char name[SYMBOL_SIZE]; /* terminated; empty: it is not known */
};

struct symbols {
    struct symbol *items; /* by place */
    size_t count, capacity;
    size_t named; /* of these, from the beginning on; then they are sorted together */
};

struct symbols *symbols_create(void)
{
    return calloc(1, sizeof(struct symbols));
}

void symbols_destroy(struct symbols *symbols)
{
    if (symbols)
        free(symbols->items);
    free(symbols);
}

static int by_place(const void *a, const void *b)
{
    const struct symbol *one = a, *other = b;

    return (one->place > other->place) - (one->place < other->place);
}

/* "ffffffff81a0b2c0 T tcp_v4_rcv", and a module's name behind some: a place is behind a call. */
static void symbols_take_line(struct symbols *symbols, char *line)
{
    char *end;
    const uint64_t address = strtoull(line, &end, 16);
    size_t i = 0, high = symbols->count;

    while (i < high) { /* the first one whose place is behind the address */
        const size_t middle = i + (high - i) / 2;
        if (symbols->items[middle].place > address)
            high = middle;
        else
            i = middle + 1;
    }
    if (!address || i == symbols->count || end[0] != ' ' || !end[1] || end[2] != ' ' ||
        symbols->items[i].start >= address || !strchr(end, '\n'))
        return;
    struct symbol *symbol = &symbols->items[i];
    size_t length = strcspn(end + 3, ".\t\n "); /* NAME.cold is a part of it */
    if (!length)
        return;
    length = length < sizeof symbol->name ? length : sizeof symbol->name - 1;
    symbol->start = address;
    memcpy(symbol->name, end + 3, length);
    symbol->name[length] = '\0';
}

/* Two places of one function: only the first of them met its line. */
static void share_names(struct symbols *symbols)
{
    for (size_t i = 1; i < symbols->count; i++) {
        const struct symbol *before = &symbols->items[i - 1];
        struct symbol *symbol = &symbols->items[i];
        const uint64_t place = symbol->place;
        if (before->start > symbol->start) {
            *symbol = *before;
            symbol->place = place;
        }
    }
}

/* One that was looked up; NULL: it was not. */
static const struct symbol *symbols_find(const struct symbols *symbols, uint64_t place)
{
    const struct symbol wanted = {.place = place};

    return symbols->named
               ? bsearch(&wanted, symbols->items, symbols->named, sizeof wanted, by_place)
               : NULL;
}

int symbols_add(struct symbols *symbols, uint64_t place)
{
    struct symbol *added;

    if (symbols_find(symbols, place) ||
        (symbols->count > symbols->named && symbols->items[symbols->count - 1].place == place))
        return 0;
    added = ARRAY_ADD(symbols->items, symbols->count, symbols->capacity);
    if (added)
        added->place = place;
    return added ? 0 : -ENOMEM;
}

int symbols_read(struct symbols *symbols, const char *path)
{
    enum { AT_ONCE = 64 * 1024 };
    char *line = NULL;
    size_t size = 0;
    FILE *file;
    int error;

    if (symbols->count == symbols->named)
        return 0;
    rights_raise(RIGHT_SYMBOLS); /* the kernel asks who opened it */
    file = fopen(path, "re");
    error = -errno;
    rights_lower();
    if (!file)
        return error;
    setvbuf(file, NULL, _IOFBF, AT_ONCE);
    qsort(symbols->items, symbols->count, sizeof *symbols->items, by_place);
    symbols->named = symbols->count;
    while (getline(&line, &size, file) > 0)
        symbols_take_line(symbols, line);
    share_names(symbols);
    free(line);
    fclose(file);
    return 0;
}

const char *symbols_name(const struct symbols *symbols, uint64_t place)
{
    const struct symbol *found = symbols_find(symbols, place);

    return found && *found->name ? found->name : NULL;
}
