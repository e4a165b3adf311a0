/* SPDX-License-Identifier: MIT */
/* --columns=help: lists the columns that exist. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "fastnet/array.h"
#include "fastnet/writer.h"

const char *columns_help_type(const struct field *field)
{
    static const char *const names[] = {
        [VALUE_NUMBER] = "number",   [VALUE_SIGNED] = "number",   [VALUE_DECIMAL] = "decimal",
        [VALUE_FINE] = "decimal",    [VALUE_ADDRESS] = "address", [VALUE_LLADDR] = "address",
        [VALUE_NETWORK] = "address", [VALUE_OWNERS] = "list",     [VALUE_FLAGS] = "list",
        [VALUE_NETWORKS] = "list",   [VALUE_BOOLEAN] = "boolean", [VALUE_TIME] = "time",
        [VALUE_NAMES] = "list",      [VALUE_VIEW] = NULL,
    };

    return names[field->type] ? names[field->type] : "string";
}

/* The columns of --columns=help itself, in the order of columns_help_put_row(). */
static const struct field help_fields[] = {
    {.name = "name", .type = VALUE_TEXT},  {.name = "type", .type = VALUE_TEXT},
    {.name = "unit", .type = VALUE_TEXT},  {.name = "counter", .type = VALUE_BOOLEAN},
    {.name = "group", .type = VALUE_TEXT}, {.name = "help", .type = VALUE_TEXT},
};

static const char *const unit_names[] = {
    [UNIT_NONE] = NULL,
    [UNIT_BYTES] = "bytes",
    [UNIT_SECONDS] = "seconds",
    [UNIT_PACKETS] = "packets",
    [UNIT_PERCENT] = "percent",
    [UNIT_BYTES_PER_SECOND] = "bytes/s",
    [UNIT_PACKETS_PER_SECOND] = "packets/s",
    [UNIT_PER_SECOND] = "1/s",
};

static const char *group_name(const struct kind *kind, const struct field *field)
{
    const struct field_group *group = field_group(kind, field);

    return group ? group->name : NULL;
}

const char *columns_help_unit(const struct field *field)
{
    return unit_names[field->unit];
}

static void add_other(char text[COLUMNS_HELP_MEANING], const char *other, size_t count)
{
    message_append(text, COLUMNS_HELP_MEANING, "%s%s", count ? ", " : "; also named ", other);
}

const char *columns_help_meaning(const struct kind *kind, const struct field *field,
                                 char text[COLUMNS_HELP_MEANING])
{
    const struct field_heading *heading;
    char other[FIELD_OTHER];
    size_t count = 0;

    snprintf(text, COLUMNS_HELP_MEANING, "%s", field->help);
    if (field_other_name(field, other))
        add_other(text, other, count++);
    for (size_t i = 0; (heading = field_heading(i)); i++)
        if (strcmp(heading->name, field->name) == 0 && field_named(kind, heading->heading) == field)
            add_other(text, heading->heading, count++);
    return text;
}

static struct value text_value(const char *string)
{
    if (!string)
        return (struct value){.type = VALUE_UNKNOWN};
    return (struct value){.type = VALUE_TEXT, .text = {string, strlen(string)}};
}

static void columns_help_put_row(struct sink *sink, const struct kind *kind,
                                 const struct field *field)
{
    char meaning[COLUMNS_HELP_MEANING];
    const struct value values[COUNT(help_fields)] = {
        text_value(field->name),
        text_value(columns_help_type(field)),
        text_value(columns_help_unit(field)),
        {.type = VALUE_BOOLEAN, .number = field->counter},
        text_value(group_name(kind, field)),
        text_value(columns_help_meaning(kind, field, meaning)),
    };

    sink->ops->row(sink, &(struct record){.kind = &kind_count, .count = {.values = values}});
}

/* Prints the columns of the kind as rows of a listing, in JSON or CSV. */
static int columns_help_put_rows(struct listing_command *command)
{
    const struct kind *kind = command->kind;
    static const struct context nothing;
    struct field columns[COUNT(help_fields)];
    struct writer writer = {0};
    struct sink *sink = NULL;
    int error = -ENOMEM;

    for (size_t i = 0; i < COUNT(help_fields); i++) {
        field_counted(&columns[i], &help_fields[i], i);
        command->shown[command->shown_count++] = &columns[i];
    }
    command->context = &nothing;
    if (writer_init(&writer, STDOUT_FILENO) == 0)
        sink = command_sink(command, &writer);
    if (sink) {
        const struct field *field;
        sink_begin(sink);
        for (size_t i = 0; (field = field_at(kind, i)); i++)
            columns_help_put_row(sink, kind, field);
        sink_end(sink);
        error = writer_flush(&writer);
    }
    sink_destroy(sink);
    writer_finish(&writer);
    return output_status(command->common->program, error);
}

void columns_help_put(const struct kind *kind, FILE *stream)
{
    const struct field *field;
    size_t width = 16;

    for (size_t i = 0; i < kind->field_count; i++)
        if (strlen(kind->fields[i].name) > width)
            width = strlen(kind->fields[i].name);
    for (size_t i = 0; (field = field_at(kind, i)); i++) {
        const char *unit = columns_help_unit(field), *group = group_name(kind, field);
        char meaning[COLUMNS_HELP_MEANING];
        fprintf(stream, "%-*s %-7s %-7s %-8s %s\n", (int)width, field->name,
                columns_help_type(field), unit ? unit : "-", group ? group : "-",
                columns_help_meaning(kind, field, meaning));
    }
}

int columns_help(struct listing_command *command)
{
    struct page page;

    if (command->common->format != FORMAT_PLAIN && !common_is_metrics(command->common))
        return columns_help_put_rows(command);
    columns_help_put(command->kind, page_open(&page));
    return page_finish(&page, command->common->program);
}
