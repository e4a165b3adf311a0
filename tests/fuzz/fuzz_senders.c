/* SPDX-License-Identifier: MIT */
/*
 * Processes behind netlink ports, in a made tree: its net/netlink names the sockets, its processes
 * hold them. The first two lines are ports as decimal numbers; the rest is the tree (tree.h).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/hosts.h"
#include "fastnet/senders.h"
#include "fuzz.h"
#include "made_processes.h"

enum { NETFILTER = 12, COLUMNS = 10, LINE_SIZE = 256 };

static bool take_number(const char *word, uint64_t *number)
{
    *number = 0;
    for (; *word; word++) {
        const unsigned digit = (unsigned char)*word - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(*number, 10u, number) ||
            __builtin_add_overflow(*number, digit, number))
            return false;
    }
    return *number != UINT64_MAX;
}

/* Whether this is the line of that port; it is cut into words. */
static bool is_of_port(char *line, uint32_t port, uint64_t *inode)
{
    uint64_t numbers[COLUMNS] = {0};
    char *word, *rest = line;
    bool valid[COLUMNS] = {false};
    size_t count = 0;

    while ((word = strsep(&rest, " ")) && count < COLUMNS) {
        if (!*word)
            continue;
        valid[count] = take_number(word, &numbers[count]);
        count++;
    }
    *inode = numbers[9];
    return count == COLUMNS && valid[1] && valid[2] && valid[9] && numbers[1] == NETFILTER &&
           numbers[2] == port;
}

/* 0 where there is none. */
static uint64_t inode_of_port(struct text file, uint32_t port)
{
    const char *at = file.data, *end = file.data + file.length;
    uint64_t inode = 0;
    bool found = false;

    while (at < end && !found) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        char *line = strndup(at, (size_t)(line_end - at));
        require(line != NULL);
        found = is_of_port(line, port, &inode);
        free(line);
        at = line_end + (newline != NULL);
    }
    return found ? inode : 0;
}

/* A process that has a name and holds the socket, or NULL. */
static const struct made_process *holder(const struct made_processes *made, int pid, uint64_t inode)
{
    const struct made_process *process = made_processes_find(made, pid);

    for (size_t i = 0; process && process->name[0] && i < made->socket_count; i++)
        if (made->sockets[i].pid == pid && made->sockets[i].inode == inode)
            return process;
    return NULL;
}

/* The process whose number the port is, else the lowest. */
static const char *expected_name(const struct made_processes *made, struct text file, uint32_t port)
{
    const uint64_t inode = port ? inode_of_port(file, port) : 0;
    const struct made_process *found = NULL;

    if (port <= INT_MAX)
        found = holder(made, (int)port, inode);
    if (found || !inode)
        return found && inode ? found->name : NULL;
    for (size_t i = 0; i < made->process_count; i++) {
        const struct made_process *process = holder(made, made->processes[i].pid, inode);
        if (process && (!found || process->pid < found->pid))
            found = process;
    }
    return found ? found->name : NULL;
}

static void check(const char *name, const char *expected)
{
    require(!name == !expected);
    require(!name || strcmp(name, expected) == 0);
}

/* net/netlink is read as a file only: what the kernel has there is one. */
static struct text make_tree(struct made_processes *made, struct tree_input *input)
{
    struct text file = {"", 0};
    struct tree_entry entry;

    while (tree_next(input, &entry)) {
        if (strcmp(entry.path, "net/netlink") != 0)
            made_processes_make(made, &entry);
        else if (entry.kind == TREE_FILE && tree_make(&entry))
            file = entry.content;
    }
    return file;
}

static uint32_t take_port(const uint8_t **data, size_t *size)
{
    uint32_t port = 0;

    while (*size && **data >= '0' && **data <= '9') {
        port = port * 10 + (**data - (uint32_t)'0');
        (*data)++;
        (*size)--;
    }
    if (*size && **data == '\n') {
        (*data)++;
        (*size)--;
    }
    return port;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct made_processes made;
    const uint32_t port = take_port(&data, &size), other = take_port(&data, &size);
    struct tree_input input = tree_input(data, size);
    struct senders *senders = senders_create(tree_root());
    struct text file;

    require(senders != NULL);
    tree_clear();
    made = (struct made_processes){.process_count = 0};
    file = make_tree(&made, &input);
    check(senders_name(senders, port), expected_name(&made, file, port));
    check(senders_name(senders, other), expected_name(&made, file, other));
    check(senders_name(senders, port), expected_name(&made, file, port));
    tree_clear();
    check(senders_name(senders, port), expected_name(&made, file, port));
    senders_destroy(senders);
    return 0;
}
