/* SPDX-License-Identifier: MIT */
#include "backend/saved/marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/saved.h"

bool mark_is(const struct json_row *row)
{
    return row->count && text_is(json_key(row, row->members), SAVED_MARK);
}

const struct json_member *mark_member(const struct json_row *row, const char *key)
{
    const struct json_member *member = row->members, *const end = member + row->count;

    while (member < end && !text_is(json_key(row, member), key))
        member++;
    return member < end ? member : NULL;
}

bool mark_is_named(const struct json_row *row, const char *name)
{
    const struct json_member *mark = mark_is(row) ? mark_member(row, "mark") : NULL;

    return mark && mark->type == JSON_STRING && text_is(json_value(row, mark), name);
}

bool mark_is_true(const struct json_row *row, const char *key)
{
    const struct json_member *member = mark_member(row, key);

    return member && member->type == JSON_TRUE;
}

bool mark_decimal(const struct json_row *row, const char *key, int decimals, uint64_t *number)
{
    const struct json_member *member = mark_member(row, key);
    uint64_t parsed;
    bool negative;

    if (!member || member->type != JSON_NUMBER ||
        !saved_parse_number(json_value(row, member), decimals, &parsed, &negative) || negative)
        return false;
    *number = parsed;
    return true;
}

bool mark_time(const struct json_row *row, uint64_t *time)
{
    const struct json_member *member = mark_member(row, "time");

    return member && member->type == JSON_STRING && saved_time(json_value(row, member), time);
}

void mark_copy(const struct json_row *row, const char *key, char *dst, size_t size)
{
    const struct json_member *member = mark_member(row, key);
    const bool is_string = member && member->type == JSON_STRING;

    snprintf(dst, size, "%.*s", is_string ? (int)member->length : 0,
             is_string ? json_value(row, member).data : "");
}

/* --- Heads ------------------------------------------------------------------------------------ */

/* Copies a string to *end, and moves *end. Returns the copy; "" if the mark has no such string. */
static const char *mark_text(const struct json_row *row, const char *key, char **end)
{
    const struct json_member *member = mark_member(row, key);
    char *copy = *end;

    if (!member || member->type != JSON_STRING)
        return "";
    memcpy(copy, json_value(row, member).data, member->length);
    copy[member->length] = '\0';
    *end += member->length + 1;
    return copy;
}

/* Copies the elements of a list of strings to *end. Returns the array, which is owned. */
static const char **mark_texts(const struct json_row *row, const char *key, char **end)
{
    const struct json_member *member = mark_member(row, key);
    const bool is_list = member && member->type == JSON_NESTED;
    struct text rest = is_list ? json_value(row, member) : (struct text){.length = 0};
    const char **texts = calloc(rest.length / 2 + 1, sizeof *texts); /* an element has 2 bytes */
    struct json_element element;

    for (size_t i = 0; texts && is_list && json_next_element(&rest, &element);)
        if (element.type == JSON_STRING) {
            char *const text_end = json_unescape(*end, element.value);
            if (!text_end)
                continue;
            texts[i++] = *end;
            *text_end = '\0';
            *end = text_end + 1;
        }
    return texts;
}

void mark_forget_head(struct mark_head *mark, const char *file)
{
    free(mark->texts);
    free(mark->arguments);
    *mark = (struct mark_head){
        .head = {
            .host = "", .boot_id = "", .version = "", .count_by = "", .sum = "", .file = file}};
}

int mark_take_head(struct mark_head *mark, const struct json_row *row, const char *file)
{
    size_t size = 1;
    struct saved_head *head = &mark->head;

    mark_forget_head(mark, file);
    for (size_t i = 0; i < row->count; i++)
        size += row->members[i].length + 1;
    char *end = mark->texts = malloc(size);
    mark->arguments = end ? mark_texts(row, "arguments", &end) : NULL;
    if (!mark->arguments)
        return -ENOMEM;
    head->arguments = mark->arguments;
    head->host = mark_text(row, "host", &end);
    head->boot_id = mark_text(row, "boot_id", &end);
    head->version = mark_text(row, SAVED_MARK, &end);
    head->count_by = mark_text(row, "count_by", &end);
    head->sum = mark_text(row, "sum", &end);
    head->counted = mark_member(row, "count_by");
    head->percent = mark_is_true(row, "percent");
    mark_copy(row, "kind", mark->kind_name, sizeof mark->kind_name);
    (void)mark_time(row, &head->time);
    (void)mark_number(row, "listing", &head->listing);
    (void)mark_number(row, "format", &mark->format);
    mark->segment = mark_member(row, "segment");
    return 0;
}
