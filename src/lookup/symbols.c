/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/rights.h"
#include "fastnet/symbols.h"

enum { SYMBOL_SIZE = 128 }; /* longer names, of generated functions, are cut */

/* An address in the kernel's code, and the last function that begins before it. */
struct symbol {
    uint64_t address, start;
    char name[SYMBOL_SIZE]; /* terminated; empty: unknown */
};

struct symbols {
    struct symbol *items; /* the first `named` are sorted by address */
    size_t count, capacity;
    size_t named; /* symbols that symbols_read() has looked up */
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

static int by_address(const void *a, const void *b)
{
    const struct symbol *one = a, *other = b;

    return (one->address > other->address) - (one->address < other->address);
}

/* Takes a line such as "ffffffff81a0b2c0 T tcp_v4_rcv"; a module's name may follow. The wanted
 * addresses are return addresses, so each is greater than the start of its function. */
static void symbols_take_line(struct symbols *symbols, char *line)
{
    char *end;
    const uint64_t start = strtoull(line, &end, 16);
    size_t i = 0, high = symbols->count;

    while (i < high) { /* finds the first symbol whose address is greater */
        const size_t middle = i + (high - i) / 2;
        if (symbols->items[middle].address > start)
            high = middle;
        else
            i = middle + 1;
    }
    if (!start || i == symbols->count || end[0] != ' ' || !end[1] || end[2] != ' ' ||
        symbols->items[i].start >= start || !strchr(end, '\n'))
        return;
    struct symbol *symbol = &symbols->items[i];
    size_t length = strcspn(end + 3, ".\t\n "); /* NAME.cold is a part of NAME */
    if (!length)
        return;
    length = length < sizeof symbol->name ? length : sizeof symbol->name - 1;
    symbol->start = start;
    memcpy(symbol->name, end + 3, length);
    symbol->name[length] = '\0';
}

/* Copies a function's name to its other addresses: symbols_take_line() named only the first. */
static void share_names(struct symbols *symbols)
{
    for (size_t i = 1; i < symbols->count; i++) {
        const struct symbol *before = &symbols->items[i - 1];
        struct symbol *symbol = &symbols->items[i];
        const uint64_t address = symbol->address;
        if (before->start > symbol->start) {
            *symbol = *before;
            symbol->address = address;
        }
    }
}

/* Returns NULL if the address was not looked up. */
static const struct symbol *symbols_find(const struct symbols *symbols, uint64_t address)
{
    const struct symbol wanted = {.address = address};

    return symbols->named
               ? bsearch(&wanted, symbols->items, symbols->named, sizeof wanted, by_address)
               : NULL;
}

int symbols_add(struct symbols *symbols, uint64_t address)
{
    struct symbol *added;

    if (symbols_find(symbols, address) ||
        (symbols->count > symbols->named && symbols->items[symbols->count - 1].address == address))
        return 0;
    added = ARRAY_ADD(symbols->items, symbols->count, symbols->capacity);
    if (added)
        added->address = address;
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
    rights_raise(RIGHT_SYMBOLS); /* the kernel checks the rights at open(2) */
    file = fopen(path, "re");
    error = -errno;
    rights_lower();
    if (!file)
        return error;
    setvbuf(file, NULL, _IOFBF, AT_ONCE);
    qsort(symbols->items, symbols->count, sizeof *symbols->items, by_address);
    symbols->named = symbols->count;
    while (getline(&line, &size, file) > 0)
        symbols_take_line(symbols, line);
    share_names(symbols);
    free(line);
    fclose(file);
    return 0;
}

const char *symbols_name(const struct symbols *symbols, uint64_t address)
{
    const struct symbol *found = symbols_find(symbols, address);

    return found && *found->name ? found->name : NULL;
}
