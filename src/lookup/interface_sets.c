/* SPDX-License-Identifier: MIT */
/* Each address has a list of interfaces, because several interfaces may have one address, such as
 * the same link-local address. */
#include "fastnet/interface_sets.h"

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/proc_tree.h"

/* An address of an interface; `interface` is an index in names[]. */
struct set_address {
    struct network network;
    size_t interface;
};

struct interface_sets {
    char (*names)[IFNAMSIZ]; /* in the order of adding */
    const char **sorted;     /* pointers to the names, by name */
    const char **owners;     /* for each element of `addresses`: the name of its interface */
    struct set_address *addresses;
    size_t name_count, name_capacity, address_count, address_capacity;
};

struct interface_sets *interface_sets_create(void)
{
    return calloc(1, sizeof(struct interface_sets));
}

void interface_sets_destroy(struct interface_sets *sets)
{
    if (!sets)
        return;
    free(sets->names);
    free(sets->sorted);
    free(sets->owners);
    free(sets->addresses);
    free(sets);
}

int interface_sets_add(struct interface_sets *sets, struct text name)
{
    if (!name.length || name.length >= IFNAMSIZ)
        return 0;
    for (size_t i = sets->name_count; i-- > 0;) /* backwards: usually it is the last name */
        if (text_is(name, sets->names[i]))
            return 0;
    char(*added)[IFNAMSIZ] = ARRAY_ADD(sets->names, sets->name_count, sets->name_capacity);
    if (!added)
        return -ENOMEM;
    memset(*added, 0, sizeof *added);
    memcpy(*added, name.data, name.length);
    return 0;
}

int interface_sets_add_address(struct interface_sets *sets, struct text name,
                               const struct address *address, uint8_t prefix)
{
    const int error = interface_sets_add(sets, name);
    struct set_address *added;
    size_t i = sets->name_count;

    while (i-- > 0 && !text_is(name, sets->names[i]))
        continue;
    if (error || i >= sets->name_count)
        return error;
    added = ARRAY_ADD(sets->addresses, sets->address_count, sets->address_capacity);
    if (!added)
        return -ENOMEM;
    *added = (struct set_address){{*address, prefix}, i};
    return 0;
}

/* --- Files of a tree -------------------------------------------------------------------------- */

enum { WORDS_MAX = 8 };

/* Splits the line into words. The last words are empty if the line has fewer. */
static void split_words(char *line, const char *words[WORDS_MAX])
{
    char *rest = line;

    for (size_t i = 0; i < WORDS_MAX; i++) {
        words[i] = strtok_r(rest, " \t\n", &rest);
        words[i] = words[i] ? words[i] : "";
    }
}

/* Takes a line "00000000000000000000000000000001 01 80 10 80       lo": if6_seq_show() in
 * net/ipv6/addrconf.c */
static int take_if_inet6(struct interface_sets *sets, char *line)
{
    struct address address = {.family = AF_INET6};
    const char *words[WORDS_MAX];

    if (strspn(line, "0123456789abcdef") != 2 * sizeof address.bytes)
        return 0;
    split_words(line, words);
    for (size_t i = 0; i < sizeof address.bytes; i++)
        address.bytes[i] = (uint8_t)strtoul((char[]){line[2 * i], line[2 * i + 1], '\0'}, NULL, 16);
    return interface_sets_add_address(sets, as_text(words[5]), &address, 128);
}

/* "eth0 0002000A 00000000 0001 0 0 0 00FFFFFF 0 0 0": fib_route_seq_show() of net/ipv4/fib_trie.c.
 * A route without a gateway leads to the network of the interface. */
static int take_route(struct interface_sets *sets, char *line)
{
    struct address address = {.family = AF_INET};
    const char *words[WORDS_MAX];

    split_words(line, words);
    const uint32_t destination = (uint32_t)strtoul(words[1], NULL, 16),
                   mask = (uint32_t)strtoul(words[7], NULL, 16);
    if (strtoul(words[2], NULL, 16) || !mask)
        return 0;
    memcpy(address.bytes, &destination, sizeof destination);
    return interface_sets_add_address(sets, as_text(words[0]), &address,
                                      (uint8_t)__builtin_popcount(mask));
}

/* "  eth0: 1 2 3": dev_seq_printf_stats() of net/core/net-procfs.c */
static int take_dev(struct interface_sets *sets, char *line)
{
    char *colon = strrchr(line, ':'), *name = line + strspn(line, " ");

    return colon ? interface_sets_add(sets, (struct text){name, (size_t)(colon - name)}) : 0;
}

int interface_sets_of_tree(struct interface_sets *sets, const char *proc_root)
{
    static const struct {
        const char *path;
        int (*take)(struct interface_sets *sets, char *line);
    } files[] = {{"net/dev", take_dev}, {"net/if_inet6", take_if_inet6}, {"net/route", take_route}};
    enum { LINES_MAX = 20000 }; /* a captured tree may have any number of lines */
    char line[512];
    int error = 0;

    for (size_t i = 0; i < COUNT(files) && !error; i++) {
        const int fd = proc_tree_open_file(proc_root, files[i].path);
        FILE *const file = fd < 0 ? NULL : fdopen(fd, "r");
        if (fd >= 0 && !file)
            close(fd);
        for (size_t lines = 0;
             file && !error && lines < LINES_MAX && fgets(line, sizeof line, file); lines++)
            error = files[i].take(sets, line);
        if (file)
            fclose(file);
    }
    return error;
}

/* --- Answers ---------------------------------------------------------------------------------- */

static int set_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The longest prefix is first; struct network has no padding. */
static int set_compare_addresses(const void *a, const void *b)
{
    const struct set_address *one = a, *other = b;
    const int order =
        memcmp(&one->network.address, &other->network.address, sizeof one->network.address);

    if (one->network.prefix != other->network.prefix)
        return one->network.prefix > other->network.prefix ? -1 : 1;
    return order ? order
                 : (one->interface > other->interface) - (one->interface < other->interface);
}

int interface_sets_finish(struct interface_sets *sets)
{
    size_t count = 0;

    sets->sorted = calloc(sets->name_count + 1, sizeof *sets->sorted);
    sets->owners = calloc(sets->address_count + 1, sizeof *sets->owners);
    if (!sets->sorted || !sets->owners)
        return -ENOMEM;
    for (size_t i = 0; i < sets->name_count; i++)
        sets->sorted[i] = sets->names[i];
    if (sets->name_count)
        qsort(sets->sorted, sets->name_count, sizeof *sets->sorted, set_compare_names);
    if (sets->address_count)
        qsort(sets->addresses, sets->address_count, sizeof *sets->addresses, set_compare_addresses);
    for (size_t i = 0; i < sets->address_count; i++) /* routes repeat networks */
        if (!count || set_compare_addresses(&sets->addresses[i], &sets->addresses[count - 1]) != 0)
            sets->addresses[count++] = sets->addresses[i];
    sets->address_count = count;
    for (size_t i = 0; i < count; i++)
        sets->owners[i] = sets->names[sets->addresses[i].interface];
    return 0;
}

static bool contains(const struct network *network, const struct address *address)
{
    const size_t bytes = network->prefix / 8, bits = network->prefix % 8;
    const uint8_t *a = network->address.bytes, *b = address->bytes;

    return network->address.family == address->family && memcmp(a, b, bytes) == 0 &&
           (!bits || (a[bytes] ^ b[bytes]) >> (8 - bits) == 0);
}

/* Equal networks follow each other in the list. The first network that contains the address has the
 * longest prefix. */
static struct interface_set find_address(const struct interface_sets *sets,
                                         const struct address *address)
{
    size_t first = 0, end;

    while (first < sets->address_count && !contains(&sets->addresses[first].network, address))
        first++;
    for (end = first; end < sets->address_count; end++)
        if (memcmp(&sets->addresses[end].network, &sets->addresses[first].network,
                   sizeof(struct network)) != 0)
            break;
    return (struct interface_set){sets->owners + first, end - first};
}

struct interface_set interface_sets_of_address(const struct interface_sets *sets,
                                               const struct address *address)
{
    static const struct address loopback = {AF_INET, {127, 0, 0, 1}};
    struct interface_set found;

    if (address_is_unspecified(address))
        return (struct interface_set){sets->sorted, sets->name_count};
    found = find_address(sets, address);
    /* each address of 127.0.0.0/8 is local */
    if (!found.count && address->family == AF_INET && address->bytes[0] == loopback.bytes[0])
        found = find_address(sets, &loopback);
    if (!found.count && address->family == AF_INET && address->bytes[0] == loopback.bytes[0])
        found = interface_sets_of_name(sets, "lo");
    return found;
}

struct interface_set interface_sets_of_name(const struct interface_sets *sets, const char *name)
{
    const char **found =
        bsearch(&name, sets->sorted, sets->name_count, sizeof *sets->sorted, set_compare_names);

    return (struct interface_set){found, found != NULL};
}
