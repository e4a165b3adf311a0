/* SPDX-License-Identifier: MIT */
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "kit.h"

#include <stdio.h>
#include <string.h>

const struct context no_names;

struct value value_of(const char *name, const struct record *record, const struct context *context)
{
    const struct field *field = field_find(record->kind, name, strlen(name));
    struct value value;

    assert_non_null(field);
    value = field_value(field, record, context);
    if (value.type != VALUE_UNKNOWN)
        assert_int_equal(value.type, field->type);
    return value;
}

struct value text_value(const char *data, size_t length)
{
    return (struct value){.type = VALUE_TEXT, .text = {data, length}};
}

struct value string_value(const char *string)
{
    return text_value(string, strlen(string));
}

struct value number_value(uint64_t number)
{
    return (struct value){.type = VALUE_NUMBER, .number = number};
}

struct value given_value(const struct cell *cell)
{
    return cell->record->count.values[cell->field->index];
}

struct interfaces *one_interface(const char *name)
{
    struct interfaces *interfaces = interfaces_create();

    assert_non_null(interfaces);
    assert_int_equal(interfaces_add(interfaces, &(struct interface){.index = 7, .name = name}), 0);
    return interfaces;
}

const char *text_of_value(const struct value *value)
{
    static char text[4096];

    assert_in_range(value_bound(value), 1, sizeof text - 1);
    *value_write(text, value, " ") = '\0';
    assert_in_range(strlen(text), 1, value_bound(value));
    return text;
}

const char *text_of(const char *name, const struct record *record, const struct context *context)
{
    const struct value value = value_of(name, record, context);

    return text_of_value(&value);
}

void assert_field(const char *name, const struct record *record, const char *expected)
{
    const char *text = text_of(name, record, &no_names);

    if (strcmp(text, expected) != 0)
        fail_msg("%s: \"%s\" should be \"%s\"", name, text, expected);
}

void assert_fields(const struct record *record, const char *const (*expected)[2])
{
    for (; (*expected)[0]; expected++)
        assert_field((*expected)[0], record, (*expected)[1]);
}

static bool names_have(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Returns the names that the kind lacks and those that only the kind has; "" without a difference.
 */
static const char *difference(const struct kind *kind, const char *const *names, size_t count)
{
    static char text[900];
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && length < sizeof text; i++)
        if (!field_find(kind, names[i], strlen(names[i])))
            length +=
                (size_t)snprintf(text + length, sizeof text - length, " %s is missing;", names[i]);
    for (size_t i = 0; i < kind->field_count && length < sizeof text; i++)
        if (!names_have(names, count, kind->fields[i].name))
            length += (size_t)snprintf(text + length, sizeof text - length, " %s is superfluous;",
                                       kind->fields[i].name);
    return text;
}

void assert_names(const struct kind *kind, const char *const *names, size_t count)
{
    const char *wrong = difference(kind, names, count);

    if (*wrong)
        fail_msg("columns:%s", wrong);
    assert_int_equal(kind->field_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(kind->fields[i].name, names[i]);
        assert_ptr_equal(field_find(kind, names[i], strlen(names[i])), &kind->fields[i]);
    }
}
