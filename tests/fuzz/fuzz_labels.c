/* SPDX-License-Identifier: MIT */
/* Names of connection labels: an input is a connlabel.conf(5). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/field.h"
#include "fastnet/hosts.h"
#include "fastnet/labels.h"
#include "fuzz.h"
#include "tree.h"

struct named {
    struct text names[FLOW_LABEL_BITS]; /* borrowed from the input */
};

static bool is_space_byte(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : INT_MAX;
}

/* A number as C writes one; larger ones than there are bits stay so. False when there is none. */
static bool take_bit(struct text *line, size_t *bit)
{
    const char *at = line->data, *end = at + line->length;
    int base = 10;
    size_t value = 0;

    for (; at < end && is_space_byte(*at); at++)
        continue;
    if (at < end && *at == '+')
        at++;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && digit_of(at[2]) < 16) {
        base = 16;
        at += 2;
    } else if (at < end && *at == '0') {
        base = 8;
    }
    if (at == end || digit_of(*at) >= base)
        return false;
    for (; at < end && digit_of(*at) < base; at++)
        if (value < FLOW_LABEL_BITS)
            value = value * (size_t)base + (size_t)digit_of(*at);
    *line = (struct text){at, (size_t)(end - at)};
    *bit = value;
    return true;
}

/* Without the blanks around it; empty when it holds what no name may. */
static struct text take_name(struct text line)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789 -";

    while (line.length && is_space_byte(*line.data))
        line = (struct text){line.data + 1, line.length - 1};
    while (line.length && is_space_byte(line.data[line.length - 1]))
        line.length--;
    for (size_t i = 0; i < line.length; i++)
        if (!memchr(allowed, line.data[i], sizeof allowed - 1))
            return (struct text){NULL, 0};
    return line;
}

static int find(const struct named *named, struct text name)
{
    for (int bit = 0; bit < FLOW_LABEL_BITS; bit++)
        if (named->names[bit].length == name.length && name.length &&
            memcmp(named->names[bit].data, name.data, name.length) == 0)
            return bit;
    return -1;
}

static void take_line(struct named *named, struct text line)
{
    struct text name;
    size_t bit;

    if (line.length && line.data[0] == '#')
        return;
    if (!take_bit(&line, &bit) || bit >= FLOW_LABEL_BITS || named->names[bit].length)
        return;
    name = take_name(line);
    if (name.length && find(named, name) < 0)
        named->names[bit] = name;
}

/* What a minus makes of a number is left to strtoul(3); no file has one. */
static bool take_lines(struct named *named, const char *at, const char *end)
{
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        const char *sign = at;
        while (sign < line_end && is_space_byte(*sign))
            sign++;
        if (sign < line_end && *sign == '-')
            return false;
        take_line(named, (struct text){at, (size_t)(line_end - at)});
        at = line_end + (newline != NULL);
    }
    return true;
}

static void check_bit(const struct labels *labels, size_t bit, const struct text *expected)
{
    const struct flag_names *names = labels_names(labels);
    const char *name = bit < names->count ? names->names[bit] : NULL;

    require(!name == !expected->length);
    if (!name)
        return;
    require(strlen(name) == expected->length);
    require(memcmp(name, expected->data, expected->length) == 0);
    require(labels_bit(labels, name, expected->length) == (int)bit);
    require(labels_bit(labels, name, expected->length - 1) != (int)bit);
}

static void check(const struct labels *labels, const struct named *named)
{
    const struct flag_names *names = labels_names(labels);

    require(names->count <= FLOW_LABEL_BITS);
    require(!names->count || names->names[names->count - 1]);
    for (size_t bit = 0; bit < FLOW_LABEL_BITS; bit++)
        check_bit(labels, bit, &named->names[bit]);
    require(labels_bit(labels, "", 0) == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tree_entry file = {.path = "connlabel.conf",
                                    .content = {(const char *)data, size}};
    struct named named = {.names = {{NULL, 0}}};
    struct labels *labels = NULL;
    char path[TREE_PATH_SIZE];

    tree_clear();
    require(snprintf(path, sizeof path, "%s/%s", tree_root(), file.path) < TREE_PATH_SIZE);
    require(labels_create(&labels, path) < 0 && !labels);
    require(tree_make(&file));
    require(labels_create(&labels, path) == 0);
    if (take_lines(&named, (const char *)data, (const char *)data + size))
        check(labels, &named);
    labels_destroy(labels);
    return 0;
}
