/* SPDX-License-Identifier: MIT */
/* Fields that every kind has. They are known without a record, except for events. */
#include "fastnet/namespace.h"
#include "model/fields/fields.h"

/* The time at which the listing began, or the event came. */
static struct value time_value(const struct cell *cell)
{
    const struct record *record = cell->record;
    uint64_t time = cell->context->time;

    if (record->has & record->kind->event)
        memcpy(&time, (const char *)record + record->kind->received, sizeof time);
    return time ? (struct value){.type = VALUE_TIME, .number = time} : unknown;
}

static struct value listing(const struct cell *cell)
{
    return cell->context->number ? number(cell->context->number) : unknown;
}

static struct value host(const struct cell *cell)
{
    const char *known = cell->context->host;

    return string(*known ? known : NULL);
}

static struct value listing_netns(const struct cell *cell)
{
    const struct netns *netns = cell->context->netns.netns;

    return netns ? name(*netns->name ? netns->name : NULL, netns->id) : unknown;
}

static struct value netns_id(const struct cell *cell)
{
    const struct netns *netns = cell->context->netns.netns;

    return netns ? number(netns->id) : unknown;
}

static const struct field fields[] = {
    COMPUTED(time, VALUE_TIME, time_value, 0,
             "when the listing began; for an event, when it was received", .lookups = NEED_LISTING),
    COMPUTED(listing, VALUE_NUMBER, listing, 0, "with -c: number of the listing, from 1",
             .lookups = NEED_LISTING),
    COMPUTED(host, VALUE_TEXT, host, 0, "name of this machine, or of the captured machine",
             .lookups = NEED_MACHINE, .key = true),
    COMPUTED(netns, VALUE_NAME, listing_netns, 0,
             "name of the network namespace; if it has none, its inode", .lookups = NEED_MACHINE,
             .key = true, .of_netns = true),
    COMPUTED(netns_id, VALUE_NUMBER, netns_id, 0, "inode of the network namespace",
             .lookups = NEED_MACHINE, .key = true, .of_netns = true),
};

const struct field *field_at(const struct kind *kind, size_t i)
{
    if (i < kind->field_count)
        return &kind->fields[i];
    return i - kind->field_count < COUNT(fields) ? &fields[i - kind->field_count] : NULL;
}

size_t field_index(const struct kind *kind, const struct field *field)
{
    const uintptr_t at = (uintptr_t)field, own = (uintptr_t)kind->fields, all = (uintptr_t)fields;

    if (at >= own && at < own + kind->field_count * sizeof *field)
        return (at - own) / sizeof *field;
    return at >= all && at < all + sizeof fields ? kind->field_count + (at - all) / sizeof *field
                                                 : SIZE_MAX;
}
