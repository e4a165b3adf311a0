/* SPDX-License-Identifier: MIT */
/* Columns that a command can never fill, although the kind of its rows has them. */
#include "cli/command.h"

#include <ctype.h>
#include <string.h>

#include "cli/misuse.h"
#include "fastnet/array.h"

/* Tables with the same fields, such as those of IPv6, are not repeated. */
static const struct table *const tables_of_sockets[] = {&table_tcp, &table_udp, &table_raw,
                                                        &table_unix, NULL};
static const struct table *const tables_of_ss[] = {
    &table_tcp,    &table_udp,     &table_raw,   &table_unix, &table_mptcp, &table_sctp,
    &table_packet, &table_netlink, &table_vsock, &table_xdp,  &table_tipc,  NULL};
static const struct table *const tables_of_closed[] = {&table_socket_events, NULL};
static const struct table *const tables_of_trace[] = {&table_socket_trace, NULL};
static const struct table *const tables_of_flows[] = {&table_flows, NULL};
static const struct table *const tables_of_flow_events[] = {&table_flow_events, NULL};
static const struct table *const tables_of_expectation_events[] = {&table_expectation_events, NULL};

/* The tables that a command can list with any of its options, in the order of suggestions. Commands
 * that are missing here always list the same tables. */
static const struct filler {
    const char *grammar, *typed; /* name of the grammar, or NULL; what users type after "fastnet" */
    const struct table *const *tables;
    uint64_t more; /* fields that only the live store or a hook fills, no backend */
} fillers[] = {
    {"sockets", "s", tables_of_sockets, 0},
    {"closed", "closed", tables_of_closed, 0},
    {"trace", "trace", tables_of_trace, 0},
    {"top", "top", tables_of_sockets, SOCKET_EVENT | SOCKET_AGE | SOCKET_ORIGIN},
    {"record", NULL, tables_of_sockets, SOCKET_EVENT | SOCKET_AGE | SOCKET_ORIGIN},
    {"ss", "ss", tables_of_ss, 0},
    {"netstat", NULL, tables_of_sockets, 0},
    {"conntrack", "conntrack", tables_of_flows, FLOW_SOCKETS},
    {NULL, "conntrack -E", tables_of_flow_events, 0},
    {NULL, "conntrack -E expect", tables_of_expectation_events, 0},
};

static uint64_t filler_fields(const struct filler *filler, const struct kind *kind)
{
    uint64_t fields = filler->more;

    for (const struct table *const *table = filler->tables; *table; table++) {
        if ((*table)->kind != kind)
            return 0;
        fields |= backends_fields(*table);
    }
    return fields;
}

/* True if rows with these fields can have a value in the column. A column that the engine computes
 * without any field of a backend always can. */
static bool can_fill(uint64_t fields, const struct field *field)
{
    return !(field->fields & ~fields) &&
           (field->fields || !field->optional || field->optional & fields);
}

const struct kind *never_kind(const struct listing *listing)
{
    const struct kind *kind = NULL;

    for (size_t i = 0; i < listing->table_count && !kind; i++)
        kind = listing->tables[i].table ? listing->tables[i].table->kind : NULL;
    return kind;
}

uint64_t command_sees_age(const struct listing_command *command)
{
    const struct listing *listing = &command->listing;
    const struct kind *kind = never_kind(listing);

    return kind && kind->lasting && command->common->interval_ms && !listing->events &&
                   !command->run_endless
               ? kind->lasting->has_age
               : 0;
}

bool never_fills(const struct listing_command *command, const struct field *field)
{
    const struct listing *listing = &command->listing;
    const struct kind *kind = never_kind(listing);
    uint64_t fields = command_sees_age(command);

    if (listing->saved) /* a file may have any column */
        return false;
    if (field->turnover)
        return true;
    for (size_t i = 0; i < listing->table_count && !can_fill(fields, field); i++)
        if (listing->tables[i].table)
            fields |= backends_fields(listing->tables[i].table);
    for (size_t i = 0; i < COUNT(fillers) && !can_fill(fields, field); i++)
        if (fillers[i].grammar && strcmp(fillers[i].grammar, command->common->grammar->name) == 0)
            fields |= filler_fields(&fillers[i], kind) & ~(listing->events ? fillers[i].more : 0);
    return kind && !can_fill(fields, field);
}

static bool never_is_age(const struct kind *kind, const struct field *field)
{
    return kind->lasting && field->fields == kind->lasting->has_age;
}

/* Appends the commands that fill the column to the message. */
static void never_name_others(const struct kind *kind, const struct field *field,
                              char message[MESSAGE_TEXT_MAX])
{
    const char *typed[COUNT(fillers)];
    size_t count = 0;

    for (size_t i = 0; i < COUNT(fillers); i++) {
        const uint64_t fields = filler_fields(&fillers[i], kind);
        if (fillers[i].typed && fields && can_fill(fields, field))
            typed[count++] = fillers[i].typed;
    }
    for (size_t i = 0; i < count; i++)
        message_append(message, MESSAGE_TEXT_MAX, "%s%s",
                       i == 0           ? ": fastnet "
                       : i + 1 == count ? " and "
                                        : ", ",
                       typed[i]);
    if (count)
        message_append(message, MESSAGE_TEXT_MAX, count == 1 ? " has it" : " have it");
    if (never_is_age(kind, field) && field_named(kind, "started"))
        message_append(message, MESSAGE_TEXT_MAX, "; started is when its process began");
}

/* What users type for this command: "s", or "conntrack -E". */
static const char *never_typed(const struct listing_command *command)
{
    const char *name = command->common->grammar->name;

    for (size_t i = 0; i < COUNT(fillers); i++)
        if (!fillers[i].grammar && fillers[i].tables[0] == command->listing.tables[0].table)
            return fillers[i].typed;
    return strcmp(name, "sockets") == 0 ? "s" : name;
}

int never_refuse(const struct listing_command *command, const char *option,
                 const struct field *field, struct text typed)
{
    char message[MESSAGE_TEXT_MAX];

    if (!never_fills(command, field))
        return 0;
    if (field->turnover)
        return common_misuse_bare(command->common,
                                  "%s: only groups have '%s' (try fastnet top --count-by=process)",
                                  option, field->name);
    const struct kind *kind = never_kind(&command->listing);
    const char *name = never_typed(command);
    message_format(message, "%s: %s never has '%.*s'%s", option, name, (int)typed.length,
                   typed.data,
                   strcmp(name, "s") == 0 && never_is_age(kind, field) ? " without -c" : "");
    never_name_others(kind, field, message);
    return common_misuse_bare(command->common, "%s", message);
}

/* Returns the option with which the user compared the column. */
static const char *never_filter_option(const struct filters *filters, const char *column)
{
    for (size_t i = 0; i < filters->count; i++) {
        const struct option *option = filters->typed[i].option;
        if (option->columns && text_has_word(option->columns, column))
            return option->name;
    }
    return "where";
}

int never_refuse_filter(const struct listing_command *command, const struct predicate *where)
{
    struct text typed = where->typed;
    int status = 0;

    /* a user may type the name of a view, such as lived */
    for (size_t i = 0; i < typed.length; i++)
        if (!isalnum((unsigned char)typed.data[i]) && !strchr("_-", typed.data[i]))
            typed.length = i;
    if (where->field) {
        const char *column =
            typed.length ? MESSAGE_TEXT("%.*s", (int)typed.length, typed.data) : where->field->name;
        status = never_refuse(
            command, MESSAGE_TEXT("--%s", never_filter_option(&command->common->filters, column)),
            where->field, as_text(column));
    }
    for (const struct predicate *part = where->parts; part && !status; part = part->next)
        status = never_refuse_filter(command, part);
    return status;
}
