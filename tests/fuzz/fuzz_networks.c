/* SPDX-License-Identifier: MIT */
/* Names of networks: an input is a networks(5). */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/hosts.h"
#include "fastnet/networks.h"
#include "fuzz.h"
#include "tree.h"

enum { NETWORKS_MAX = 256 };

struct named {
    uint32_t network; /* host byte order */
    char *name;
};

struct model {
    struct named networks[NETWORKS_MAX];
    size_t count;
};

/* One to four numbers of a byte, the first one the highest. */
static bool take_address(char *text, uint32_t *address)
{
    uint32_t sum = 0;
    char *part;
    size_t count = 0;

    while ((part = strsep(&text, "."))) {
        unsigned octet = 0;
        if (!*part || count == 4)
            return false;
        for (; *part; part++) {
            if (*part < '0' || *part > '9')
                return false;
            octet = octet * 10 + (unsigned)(*part - '0');
            if (octet > 255)
                return false;
        }
        sum |= octet << (24 - 8 * count++);
    }
    *address = sum;
    return true;
}

static const char *find(const struct model *model, uint32_t network)
{
    for (size_t i = 0; i < model->count; i++)
        if (model->networks[i].network == network)
            return model->networks[i].name;
    return NULL;
}

/* The next word of the line, NULL when there is none. */
static char *take_word(char **line)
{
    char *word;

    while ((word = strsep(line, " \t\r")))
        if (*word)
            return word;
    return NULL;
}

static void take_line(struct model *model, char *line)
{
    uint32_t network;

    line[strcspn(line, "#")] = '\0';
    const char *name = take_word(&line);
    char *number = name ? take_word(&line) : NULL;
    if (!number || !take_address(number, &network) || find(model, network) ||
        model->count == NETWORKS_MAX)
        return;
    model->networks[model->count] = (struct named){network, strdup(name)};
    require(model->networks[model->count++].name != NULL);
}

static void take_lines(struct model *model, const char *at, const char *end)
{
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        char *line = strndup(at, (size_t)(line_end - at));
        require(line != NULL);
        take_line(model, line);
        free(line);
        at = line_end + (newline != NULL);
    }
}

static void check(const struct networks *networks, const struct model *model, uint32_t network)
{
    const uint32_t number = htonl(network);
    const struct address address = address_make(AF_INET, &number);
    const char *name = networks_name(networks, &address);
    const char *expected = find(model, network);

    if (model->count == NETWORKS_MAX && !expected)
        return;
    require(!name == !expected);
    require(!name || strcmp(name, expected) == 0);
}

/* Its first name finds a network, or an earlier one that has the name, too. */
static void check_found(const char *path, const struct named *named)
{
    uint8_t address[4];

    require(networks_find(path, named->name, address));
    require(!networks_find(path, "", address));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tree_entry file = {.path = "networks", .content = {(const char *)data, size}};
    struct model model = {.count = 0};
    struct networks *networks;
    char path[TREE_PATH_SIZE];

    tree_clear();
    require(snprintf(path, sizeof path, "%s/%s", tree_root(), file.path) < TREE_PATH_SIZE);
    networks = networks_create(path);
    check(networks, &model, 0x7f000000);
    networks_destroy(networks);
    require(tree_make(&file));
    networks = networks_create(path);
    require(networks != NULL);
    take_lines(&model, (const char *)data, (const char *)data + size);
    for (size_t i = 0; i < model.count; i++) {
        check(networks, &model, model.networks[i].network);
        check(networks, &model, model.networks[i].network + 1);
        check(networks, &model, model.networks[i].network ^ 0x01000000);
        check_found(path, &model.networks[i]);
    }
    networks_destroy(networks);
    for (size_t i = 0; i < model.count; i++)
        free(model.networks[i].name);
    return 0;
}
