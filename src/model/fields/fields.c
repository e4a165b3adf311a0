/* SPDX-License-Identifier: MIT */
/* Values of fields that are members of a record, and of fields of counted groups. */
#include "model/fields/fields.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/clock.h"
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "text/put.h"

/* Returns the field's part of borrowed bytes; NULL if the record has fewer bytes. */
static char *fields_part_of(const struct field *field, const struct record *record)
{
    struct {
        char *data;
        size_t length;
    } bytes;

    memcpy(&bytes, (const char *)record + field->offset, sizeof bytes);
    return bytes.length < field->part.offset + field->part.size ? NULL
                                                                : bytes.data + field->part.offset;
}

static bool is_part(const struct field *field)
{
    return field->counter && field->member == MEMBER_TEXT;
}

uint64_t field_number(const struct field *field, const struct record *record)
{
    const char *part;

    if (!is_part(field))
        return bytes_number((const char *)record + field->offset, field->member);
    part = fields_part_of(field, record);
    return part ? bytes_number(part, field->part.size) : 0;
}

void field_set_number(const struct field *field, struct record *record, uint64_t number)
{
    void *part = is_part(field) ? fields_part_of(field, record) : NULL;
    const size_t size = part ? field->part.size : field->member; /* a number has at most 8 bytes */
    const uint64_t most = size < sizeof number ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;

    bytes_set(part ? part : (char *)record + field->offset, size, number < most ? number : most);
}

struct value number_member(const struct cell *cell)
{
    return (struct value){.type = cell->field->type,
                          .number = field_number(cell->field, cell->record)};
}

struct value number_per_second(const struct cell *cell)
{
    const uint64_t moved = field_number(cell->field, cell->record);
    uint64_t elapsed;

    memcpy(&elapsed, (const char *)cell->record + cell->field->index, sizeof elapsed);
    return elapsed ? decimal(proportion(moved, CLOCK_SECOND * 1000, elapsed)) : unknown;
}

struct value info_member(const struct cell *cell)
{
    const char *part = fields_part_of(cell->field, cell->record);
    const enum value_type type = cell->field->type;

    if (!part)
        return unknown;
    const uint64_t raw = bytes_number(part, cell->field->part.size);
    if (type == VALUE_BOOLEAN)
        return boolean(raw);
    return (struct value){.type = type == VALUE_DECIMAL || type == VALUE_FINE ? type : VALUE_NUMBER,
                          .number = raw};
}

struct value text_member(const struct cell *cell)
{
    return (struct value){
        .type = cell->field->type, .spaced = cell->field->spaced, .text = member_text(cell)};
}

struct value text_unless_empty(const struct cell *cell)
{
    const struct value value = text_member(cell);

    return value.text.length ? value : unknown;
}

struct value address(const struct address *address)
{
    if (address->family == AF_UNSPEC)
        return unknown;
    return (struct value){.type = VALUE_ADDRESS, .address = address_unmapped(address)};
}

struct value address_member(const struct cell *cell)
{
    struct address member; /* the member may be unaligned */

    memcpy(&member, (const char *)cell->record + cell->field->offset, sizeof member);
    return address(&member);
}

struct value address_as_it_is(const struct cell *cell)
{
    struct value value = {.type = VALUE_ADDRESS};

    memcpy(&value.address, (const char *)cell->record + cell->field->offset, sizeof value.address);
    return value.address.family == AF_UNSPEC ? unknown : value;
}

struct value host_member(const struct cell *cell)
{
    const struct value member = address_member(cell);

    if (!cell->context->hosts || member.type == VALUE_UNKNOWN)
        return unknown;
    return string(hosts_name(cell->context->hosts, &member.address));
}

struct value boolean_member(const struct cell *cell)
{
    return boolean(field_number(cell->field, cell->record));
}

struct value flags_member(const struct cell *cell)
{
    return (struct value){
        .type = VALUE_FLAGS,
        .flags = {cell->field->flags, {field_number(cell->field, cell->record), 0}}};
}

struct value word_member(const struct cell *cell)
{
    return string(cell->field->word(field_number(cell->field, cell->record)));
}

struct value named_member(const struct cell *cell)
{
    const uint64_t member = field_number(cell->field, cell->record);

    return name(cell->field->word(member), member);
}

struct value interface_named(const struct context *context, uint32_t index)
{
    if (index == 0)
        return unknown;
    return name(context->netns.interfaces ? interfaces_name(context->netns.interfaces, index)
                                          : NULL,
                index);
}

struct value interface_member(const struct cell *cell)
{
    return interface_named(cell->context, (uint32_t)field_number(cell->field, cell->record));
}

struct value view_member(const struct cell *cell)
{
    return view(cell, cell->field->write);
}

static char *write_address_port(char *dst, const struct value *view, bool human)
{
    const struct field *field = view->view.field;
    const struct record *record = view->view.record;
    struct address member;
    uint16_t port;

    (void)human;
    memcpy(&member, (const char *)record + field->offset, sizeof member);
    memcpy(&port, (const char *)record + field->index, sizeof port);
    return put_address_port(dst, &member, record->has & field->optional, port);
}

struct value view_address_port(const struct cell *cell)
{
    return view(cell, write_address_port);
}

WORDS(family_name, [AF_INET] = "inet", [AF_INET6] = "inet6", [AF_UNIX] = "unix",
      [AF_PACKET] = "packet", [AF_NETLINK] = "netlink", [AF_VSOCK] = "vsock", [AF_XDP] = "xdp",
      [AF_TIPC] = "tipc");

const char *machine_scope_name(uint64_t machine)
{
    return machine ? "machine" : "namespace";
}

static inline bool is_spelled(const char *own, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!own[i] || (name[i] == '-' ? '_' : tolower((unsigned char)name[i])) != own[i])
            return false;
    return !own[length];
}

bool field_is_named(const struct field *field, const char *name, size_t length)
{
    char other[FIELD_OTHER];

    if (is_spelled(field->name, name, length))
        return true;
    if (field->type != VALUE_LLADDR || !length || tolower((unsigned char)name[length - 1]) != 'c')
        return false; /* saves time: a second name (field_other_name()) ends with "mac" */
    return field_other_name(field, other) && is_spelled(other, name, length);
}

const char *field_other_name(const struct field *field, char name[FIELD_OTHER])
{
    static const char suffix[] = "lladdr";
    const size_t length = strlen(field->name);

    if (field->type != VALUE_LLADDR)
        return NULL;
    snprintf(name, FIELD_OTHER, "%.*smac", (int)(length - strlen(suffix)), field->name);
    return name;
}

const struct field_heading *field_heading(size_t i)
{
    static const struct field_heading headings[] = {
        {"proto", "protocol"},
        {"tx/s", "bytes_sent_per_second"},
        {"rx/s", "bytes_received_per_second"},
        {"tx", "bytes_sent_per_second"},
        {"rx", "bytes_received_per_second"},
        {"bytes/s", "bytes_per_second"},
        {"packets/s", "packets_per_second"},
        {"sent", "bytes_sent"},
        {"received", "bytes_received"},
        {"sendq", "send_q"},
        {"retrans%", "resent_percent"},
        {"flags", "tcp_flags"},
    };

    return i < COUNT(headings) ? &headings[i] : NULL;
}

static const struct field *find_exactly(const struct kind *kind, const char *name, size_t length)
{
    const struct field *field;

    for (size_t i = 0; (field = field_at(kind, i)); i++)
        if (field_is_named(field, name, length) ||
            (field->rate && field_is_named(field->of, name, length)))
            break;
    return field;
}

const struct field *field_find(const struct kind *kind, const char *name, size_t length)
{
    const struct field *field = find_exactly(kind, name, length);
    const struct field_heading *heading;

    for (size_t i = 0; !field && (heading = field_heading(i)); i++)
        if (is_spelled(heading->heading, name, length))
            field = find_exactly(kind, heading->name, strlen(heading->name));
    return field;
}

const struct field *field_compared(const struct kind *kind, const char *name, size_t length)
{
    const struct field *field = field_find(kind, name, length);

    for (size_t i = 0; field && field->type == VALUE_VIEW && i < kind->view_count; i++)
        if (strcmp(field->name, kind->views[i][0]) == 0)
            field = field_named(kind, kind->views[i][1]);
    return field;
}

const struct field_group *field_group(const struct kind *kind, const struct field *field)
{
    for (size_t i = 0; i < kind->group_count; i++) {
        const struct field_group *group = &kind->groups[i];
        const size_t length = strlen(group->name);
        if (field->fields & group->fields ||
            (strncmp(field->name, group->name, length) == 0 && field->name[length] == '_'))
            return group;
    }
    return NULL;
}

/* --- Counted groups --------------------------------------------------------------------------- */

const struct kind kind_count = {.name = "counted groups", .size = RECORD_SIZE(count)};

static struct value counted_value(const struct cell *cell)
{
    return cell->record->count.values[cell->field->index];
}

void field_counted(struct field *dst, const struct field *of, size_t index)
{
    *dst = (struct field){.name = of->name,
                          .help = of->help,
                          .type = of->type,
                          .unit = of->unit,
                          .coloured = of->coloured,
                          .index = index,
                          .value = counted_value};
}

static struct value network_value(const struct cell *cell)
{
    const struct network_field *network = (const struct network_field *)cell->field;
    struct value value = field_value(network->of, cell->record, cell->context);
    struct address base = value.address;
    const bool is_ipv6 = base.family == AF_INET6;
    const uint8_t prefix = is_ipv6 ? network->ipv6 : network->ipv4;

    if (value.type != VALUE_ADDRESS)
        return unknown;
    for (unsigned bit = prefix; bit < (is_ipv6 ? 128 : 32); bit++)
        base.bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
    return (struct value){.type = VALUE_NETWORK, .network = {base, prefix}};
}

void field_network(struct network_field *dst, const struct field *of, uint8_t ipv4, uint8_t ipv6)
{
    *dst = (struct network_field){{.name = of->name,
                                   .help = of->help,
                                   .fields = of->fields,
                                   .optional = of->optional,
                                   .lookups = of->lookups,
                                   .type = VALUE_NETWORK,
                                   .value = network_value},
                                  of,
                                  ipv4,
                                  ipv6};
}

const struct field field_count = NUMBER(count, count.count, 0, "how many have these values");

static const char *level_name(uint64_t level)
{
    static const char *const names[] = {
        [LEVEL_OK] = "ok", [LEVEL_WARNING] = "warning", [LEVEL_CRITICAL] = "critical"};

    return level < COUNT(names) ? names[level] : NULL;
}

const struct field field_level =
    WORD(level, count.level, level_name, COUNT_LEVEL,
         "ok, warning or critical, by --warn and --crit", .coloured = true);
