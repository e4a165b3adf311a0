/* SPDX-License-Identifier: MIT */
/*
 * --where: any text is an expression over the columns of a kind, or is refused with one line that a
 * terminal can show. What an expression means is the same with parentheses around it, and its
 * opposite never holds with it. Written as text and parsed again it means the same. The input: the
 * kind, the length of the text, the text, a row.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/socket/bytecode.h"
#include "cli/where/where.h"
#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "fastnet/hosts.h"
#include "fuzz.h"
#include "kernel_bytecode.h"
#include "made_records.h"
#include "tree.h"

static const struct context no_names;

enum { TEXT_MAX = 255 };

static void require_line(const char *message)
{
    require(message[0] && strlen(message) < WHERE_MESSAGE);
    for (; *message; message++)
        require((unsigned char)*message >= ' ' && *message != 0x7f);
}

static bool holds(const struct kind *kind, const char *text, const struct record *record)
{
    struct where where = {0};
    const struct predicate *predicate = where_parse(&where, kind, text);
    bool result;

    require(predicate != NULL);
    result = predicate_holds(predicate, record, &no_names);
    where_finish(&where);
    return result;
}

static void check_meaning(const struct kind *kind, const char *text, const struct record *record)
{
    char other[TEXT_MAX + sizeof "not ()"];
    const bool wanted = holds(kind, text, record);

    snprintf(other, sizeof other, "(%s)", text);
    require(holds(kind, other, record) == wanted);
    snprintf(other, sizeof other, "not (%s)", text);
    require(!wanted || !holds(kind, other, record));
}

/* Whether two predicates hold, fail or are unknown together. */
static void require_same(const struct predicate *one, const struct predicate *other,
                         const struct record *record)
{
    const struct predicate not_one = {.operation = PREDICATE_NOT, .parts = one},
                           not_other = {.operation = PREDICATE_NOT, .parts = other};

    require(predicate_holds(one, record, &no_names) == predicate_holds(other, record, &no_names));
    require(predicate_holds(&not_one, record, &no_names) ==
            predicate_holds(&not_other, record, &no_names));
}

static char *text_of(const struct predicate *predicate)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    require(stream != NULL);
    where_put(stream, predicate);
    require(fclose(stream) == 0 && strlen(text) == size);
    return text;
}

/* What it is written as means the same. */
static void check_written(const struct kind *kind, const struct predicate *predicate,
                          const struct record *record)
{
    struct where where = {0};
    char *text = text_of(predicate);
    const struct predicate *again = where_parse(&where, kind, text);

    require(again != NULL);
    require_same(predicate, again, record);
    free(text);
    where_finish(&where);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Control groups, made once, with a unit, containers and a pod. */
static struct cgroups *made_groups(void)
{
    static const char *const paths[] = {
        "system.slice/nginx.service",
        "lxc.payload.web/a.service",
        "pod01234567-89ab-cdef-0123-456789abcdef/docker-" ID ".scope",
    };
    static char mounts[512], text[512];
    static struct cgroups *groups;
    struct tree_entry entry = {.kind = TREE_DIRECTORY};

    if (groups)
        return groups;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(entry.path, sizeof entry.path, "groups/%s", paths[i]);
        require(tree_make(&entry));
    }
    snprintf(text, sizeof text, "none %s/groups cgroup2 rw 0 0\n", tree_root());
    require(tree_make(&(struct tree_entry){.path = "mounts", .content = {text, strlen(text)}}));
    snprintf(mounts, sizeof mounts, "%s/mounts", tree_root());
    require(cgroups_create(&groups, mounts) == 0 && cgroups_count(groups) == 7);
    return groups;
}

/* What the kernel leaves out is never wanted. */
static void check_bytecode(const struct predicate *predicate, const struct record *made)
{
    static uint32_t words[BYTECODE_WORDS];
    const struct context context = {.cgroups = made_groups()};
    const size_t group = (size_t)made->socket.cgroup % (cgroups_count(context.cgroups) + 1);
    const struct socket_record *socket = &made->socket;
    struct record copy, *record = &copy;
    struct kernel_program program;

    if (made->kind != &kind_socket || socket->family == AF_UNIX || socket->protocol == IPPROTO_RAW)
        return;
    copy = *made;
    socket = &copy.socket;
    if (!(made->has & SOCKET_CGROUP))
        copy.socket.cgroup = 0; /* to the kernel */
    else if (group)
        copy.socket.cgroup = cgroups_id(context.cgroups, group - 1);
    program.code = (const char *)words;
    program.length = (int)(4 * bytecode_compile(words, predicate, context.cgroups));
    if (!program.length)
        return;
    require(kernel_takes(program));
    require(kernel_passes(program, socket) || !predicate_holds(predicate, record, &context));
}

static void parse(const struct kind *kind, const char *text, const struct record *record)
{
    struct where where = {0};
    const struct predicate *predicate = where_parse(&where, kind, text);

    if (!predicate)
        require_line(where.message);
    else
        check_bytecode(predicate, record);
    /* near the bound of nesting the others may be too deep */
    if (predicate && !strstr(text, "(((((((((((((((") && !strstr(text, "!!!!!!!!!!"))
        check_written(kind, predicate, record);
    if (predicate && !strstr(text, "(((((((((((((((") && !strchr(text, '!') && !strstr(text, "ot"))
        check_meaning(kind, text, record);
    predicate = where_parse_list(&where, kind, kind->fields[0].name, text);
    if (predicate)
        check_written(kind, predicate, record);
    else
        require_line(where.message);
    where_finish(&where);
}

/* The same text as a condition of --warn, over the columns of groups, whose numbers may be unknown.
 */
static void parse_threshold(const char *text)
{
    static struct field fields[4];
    static const struct kind groups = {
        .name = "counted groups", .fields = fields, .field_count = COUNT(fields)};
    const struct value values[] = {{.type = VALUE_TEXT, .text = {"nginx", 5}},
                                   {.type = VALUE_NUMBER, .number = 7},
                                   {.type = VALUE_UNKNOWN}};
    const struct record group = {
        .kind = &kind_count, .has = ~COUNT_LEVEL, .count = {.values = values, .count = 812}};

    field_counted(&fields[0], field_named(&kind_socket, "process"), 0);
    field_counted(&fields[1], field_named(&kind_socket, "recv_q"), 1);
    field_counted(&fields[2], field_named(&kind_socket, "rtt"), 2);
    fields[3] = field_count;
    parse(&groups, text, &group);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const uint8_t number = bytes_u8(&bytes);
    const size_t length = bytes_u8(&bytes);
    char text[TEXT_MAX + 1] = "";
    struct made_record made;

    for (size_t i = 0; i < length; i++)
        text[i] = (char)bytes_u8(&bytes);
    made_record_init(&made, number, &bytes);
    parse(made.record.kind, text, &made.record);
    parse_threshold(text);
    made_record_finish(&made);
    return 0;
}
