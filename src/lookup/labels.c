/* SPDX-License-Identifier: MIT */
/* Names of connection labels, by the rules of libnetfilter_conntrack for connlabel.conf(5): a line
 * has a bit and a name. If two lines have the same bit or the same name, the first is used. */
#include "fastnet/labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/record.h"

struct labels {
    struct flag_names names;
    char *by_bit[FLOW_LABEL_BITS]; /* owned; names.names points to this array */
};

/* Like isspace(3) in the C locale: other locales differ. */
static bool is_space_byte(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* `line` ends with a NUL byte. Returns 0, also if it ignores the line, or -ENOMEM. */
static int labels_take_line(struct labels *labels, const char *line, size_t length)
{
    static const char valid[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -";
    const char *end = line + length;
    char *name;

    if (line[0] == '#')
        return 0;
    const unsigned long bit = strtoul(line, &name, 0);
    if (name == line || bit >= FLOW_LABEL_BITS || labels->by_bit[bit])
        return 0;
    while (name < end && is_space_byte(*name))
        name++;
    while (end > name && is_space_byte(end[-1]))
        end--;
    if (end == name || name + strspn(name, valid) < end ||
        labels_bit(labels, name, (size_t)(end - name)) >= 0)
        return 0;
    char *copy = strndup(name, (size_t)(end - name));
    if (!copy)
        return -ENOMEM;
    labels->by_bit[bit] = copy;
    if (bit >= labels->names.count)
        labels->names.count = bit + 1;
    return 0;
}

int labels_create(struct labels **labels, const char *path)
{
    struct labels *created = calloc(1, sizeof *created);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    if (!created)
        return -ENOMEM;
    created->names.names = (const char *const *)created->by_bit;

    FILE *file = fopen(path ? path : "/etc/xtables/connlabel.conf", "re");
    int status = file ? 0 : -errno;
    errno = 0;
    while (file && status == 0 && (length = getline(&line, &capacity, file)) >= 0)
        status = labels_take_line(created, line, (size_t)length);
    if (file && status == 0 && ferror(file))
        status = errno != 0 ? -errno : -EIO;
    free(line);
    if (file)
        fclose(file);
    if (status < 0) {
        labels_destroy(created);
        return status;
    }
    *labels = created;
    return 0;
}

void labels_destroy(struct labels *labels)
{
    if (!labels)
        return;
    for (size_t bit = 0; bit < FLOW_LABEL_BITS; bit++)
        free(labels->by_bit[bit]);
    free(labels);
}

int labels_bit(const struct labels *labels, const char *name, size_t length)
{
    if (!labels)
        return -1;
    for (size_t bit = 0; bit < labels->names.count; bit++)
        if (labels->by_bit[bit] && text_is((struct text){name, length}, labels->by_bit[bit]))
            return (int)bit;
    return -1;
}

const struct flag_names *labels_names(const struct labels *labels)
{
    static const struct flag_names none;

    return labels ? &labels->names : &none;
}
