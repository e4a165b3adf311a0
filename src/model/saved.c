/* SPDX-License-Identifier: MIT */
/* Values of saved rows: the bytes of a column, as the type of its field. */
#include "fastnet/saved.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/owners.h"
#include "model/fields/fields.h"
#include "model/saved.h"
#include "model/socket/owner_fields.h"
#include "model/value.h"

/* --- Cells ------------------------------------------------------------------------------------ */

const struct saved_cell *saved_cell_of(const struct record *record, const struct field *field)
{
    const struct saved_row *row = record->saved;
    const size_t index =
        field == &field_count ? SAVED_COUNT_NUMBER : field_index(record->kind, field);
    const size_t place = index < SAVED_COLUMNS_MAX ? row->columns->place[index] : 0;

    return place && place <= row->count ? &row->cells[place - 1] : NULL;
}

struct text saved_text(const struct saved_row *row, const struct saved_cell *cell)
{
    return (struct text){(const char *)row + cell->offset, cell->length};
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static bool add_digit(uint64_t *number, unsigned digit)
{
    return !__builtin_mul_overflow(*number, UINT64_C(10), number) &&
           !__builtin_add_overflow(*number, (uint64_t)digit, number);
}

static inline bool saved_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Multiplies a number by 10^shift. Returns false if the result is too large, or a fraction. */
static bool shift_decimal(uint64_t *number, int shift)
{
    for (; shift > 0 && *number; shift--)
        if (!add_digit(number, 0))
            return false;
    for (; shift < 0 && *number; shift++) {
        if (*number % 10)
            return false;
        *number /= 10;
    }
    return true;
}

bool saved_parse_number(struct text text, int decimals, uint64_t *number, bool *negative)
{
    enum { EXPONENT_MAX = 1000 };
    const char *at = text.data, *const end = text.data + text.length;
    int shift = decimals;
    bool in_fraction = false;

    *negative = at < end && *at == '-';
    *number = 0;
    for (at += *negative; at < end && (saved_is_digit(*at) || (*at == '.' && !in_fraction)); at++) {
        if (*at == '.')
            in_fraction = true;
        else if (!add_digit(number, (unsigned)(*at - '0')))
            return false;
        else
            shift -= in_fraction;
    }
    if (at < end && (*at | 0x20) == 'e') {
        int exponent = 0;
        at++;
        const bool below = at < end && *at == '-';
        for (at += at < end && (*at == '-' || *at == '+'); at < end && saved_is_digit(*at); at++)
            exponent = exponent < EXPONENT_MAX ? 10 * exponent + (*at - '0') : EXPONENT_MAX;
        shift += below ? -exponent : exponent;
    }
    return at == end && text.length && shift_decimal(number, shift);
}

/* The largest number that the field can have. */
static uint64_t largest(const struct field *field)
{
    const size_t size = field->member;

    return size && size < sizeof(uint64_t) ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
}

static struct value decode_number(const struct field *field, struct text text)
{
    const int decimals = field->type == VALUE_DECIMAL ? 3 : field->type == VALUE_FINE ? 6 : 0;
    bool negative;
    uint64_t magnitude;

    if (!saved_parse_number(text, decimals, &magnitude, &negative))
        return unknown;
    if (field->type == VALUE_SIGNED)
        return integer(magnitude, negative);
    if ((negative && magnitude) || magnitude > largest(field))
        return unknown;
    return (struct value){.type = field->type, .number = magnitude};
}

/* --- Times ------------------------------------------------------------------------------------ */

/* Reads `count` digits. Returns false if there are fewer. */
static bool take_digits(struct text *text, size_t count, unsigned *number)
{
    *number = 0;
    if (text->length < count)
        return false;
    for (; count > 0; count--, text->data++, text->length--) {
        if (!saved_is_digit(*text->data))
            return false;
        *number = 10 * *number + (unsigned)(*text->data - '0');
    }
    return true;
}

static bool saved_take_byte(struct text *text, const char *any)
{
    if (!text->length || !*text->data || !strchr(any, *text->data))
        return false;
    text->data++;
    text->length--;
    return true;
}

/* Days since 1970 of a date of the Gregorian calendar, whose years here begin in March. */
static int64_t days_since_1970(unsigned year, unsigned month, unsigned day)
{
    const int64_t y = (int64_t)year - (month <= 2), m = (month + 9) % 12;

    return y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* Reads the end of a time, Z or its distance to UTC, in seconds. */
static bool take_offset(struct text *text, int64_t *seconds)
{
    const bool is_west = text->length && *text->data == '-';
    unsigned hour, minute;

    *seconds = 0;
    if (saved_take_byte(text, "Zz"))
        return !text->length;
    if (!saved_take_byte(text, "+-") || !take_digits(text, 2, &hour) ||
        !saved_take_byte(text, ":") || !take_digits(text, 2, &minute) || hour > 23 || minute > 59)
        return false;
    *seconds = (is_west ? -60 : 60) * (int64_t)(60 * hour + minute);
    return !text->length;
}

bool saved_time(struct text text, uint64_t *nanoseconds)
{
    unsigned year, month, day, hour, minute, second, digit;
    uint64_t fraction = 0, place = CLOCK_SECOND;
    int64_t offset;

    if (!take_digits(&text, 4, &year) || !saved_take_byte(&text, "-") ||
        !take_digits(&text, 2, &month) || !saved_take_byte(&text, "-") ||
        !take_digits(&text, 2, &day) || !saved_take_byte(&text, "Tt ") ||
        !take_digits(&text, 2, &hour) || !saved_take_byte(&text, ":") ||
        !take_digits(&text, 2, &minute) || !saved_take_byte(&text, ":") ||
        !take_digits(&text, 2, &second) || !month || month > 12 || !day || day > 31 || hour > 23 ||
        minute > 59 || second > 60)
        return false;
    if (saved_take_byte(&text, "."))
        while (take_digits(&text, 1, &digit))
            fraction += (place /= 10) * digit;
    if (!take_offset(&text, &offset))
        return false;
    const int64_t seconds = days_since_1970(year, month, day) * 86400 + (int64_t)hour * 3600 +
                            (int64_t)minute * 60 + second - offset;
    if (seconds < 0 || (uint64_t)seconds > UINT64_MAX / CLOCK_SECOND - 1)
        return false;
    *nanoseconds = (uint64_t)seconds * CLOCK_SECOND + fraction;
    return true;
}

static struct value decode_time(struct text text)
{
    struct value value = {.type = VALUE_TIME};

    return saved_time(text, &value.number) ? value : unknown;
}

/* --- Addresses -------------------------------------------------------------------------------- */

/* Reads an IP address without its prefix. The prefix is at most that of the family; NO_PREFIX: the
 * text has none. */
static bool saved_parse_network(struct text text, struct network *network)
{
    char copy[TEXT_NETWORK_MAX + 1];
    struct network parsed = {.prefix = NO_PREFIX};
    uint64_t prefix = NO_PREFIX;
    bool negative;

    if (text.length >= sizeof copy || memchr(text.data, '\0', text.length))
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    char *slash = strchr(copy, '/');
    if (slash) {
        *slash++ = '\0';
        if (!saved_is_digit(*slash) || strspn(slash, "0123456789") != strlen(slash) ||
            !saved_parse_number(as_text(slash), 0, &prefix, &negative))
            return false;
    }
    parsed.address.family = strchr(copy, ':') ? AF_INET6 : AF_INET;
    if (inet_pton(parsed.address.family, copy, parsed.address.bytes) != 1 ||
        (slash && prefix > 8 * address_size(&parsed.address)))
        return false;
    parsed.prefix = (uint8_t)prefix;
    *network = parsed;
    return true;
}

/* A group of --count-by may be a network of addresses. */
static struct value decode_address(struct text text)
{
    struct network network;

    if (!saved_parse_network(text, &network))
        return unknown;
    if (network.prefix != NO_PREFIX)
        return (struct value){.type = VALUE_NETWORK, .network = network};
    return (struct value){.type = VALUE_ADDRESS, .address = network.address};
}

/* --- Lists ------------------------------------------------------------------------------------ */

/* A decoded list, with all that it points to. */
struct saved_list {
    uint64_t number; /* the row's number; 0: no list was read yet */
    size_t cell;
    struct value value;
    size_t used, capacity;
    char *memory;
};

static struct saved_list lists[SAVED_LISTS];
static size_t next_list;

/* Takes memory of the list, which does not move until the list is used for another cell. */
static void *list_take(struct saved_list *list, size_t size)
{
    const size_t alignment = _Alignof(max_align_t);
    char *taken = list->memory + list->used;

    list->used += (size + alignment - 1) & ~(alignment - 1);
    return taken;
}

/* Empties the list, and makes room for `size` bytes in `pieces` pieces. */
static bool list_begin(struct saved_list *list, size_t size, size_t pieces)
{
    const size_t needed = size + pieces * _Alignof(max_align_t);

    list->used = 0;
    if (needed <= list->capacity)
        return true;
    char *larger = malloc(needed);
    if (!larger)
        return false;
    free(list->memory);
    list->memory = larger;
    list->capacity = needed;
    return true;
}

static size_t count_elements(struct text rest)
{
    struct json_element element;
    size_t count = 0;

    while (json_next_element(&rest, &element))
        count++;
    return count;
}

/* Writes a string of JSON, which may have no NUL, with a NUL after it. */
static const char *put_name(char **dst, const struct json_element *element)
{
    char *const start = *dst, *end = json_unescape(start, element->value);

    if (element->type != JSON_STRING || !end || memchr(start, '\0', (size_t)(end - start)))
        return NULL;
    *end = '\0';
    *dst = end + 1;
    return start;
}

static bool take_number(const struct json_element *element, uint64_t most, uint64_t *number)
{
    bool negative;

    return element->type == JSON_NUMBER &&
           saved_parse_number(element->value, 0, number, &negative) && !negative && *number <= most;
}

/* Reads {"pid":1,"tid":1,"fd":3,"name":"init"}, as sink_json.c writes it. */
static bool decode_owner(struct text rest, struct owner *owner, struct owner_process *process,
                         char **names)
{
    struct json_element member;
    uint64_t id;

    *process = (struct owner_process){.unnamed = true, .name = ""};
    *owner = (struct owner){.process = process, .fd = -1};
    while (json_next_element(&rest, &member)) {
        const bool is_null = member.type == JSON_NULL, is_pid = text_is(member.key, "pid");
        if (text_is(member.key, "name") && !is_null) {
            process->name = put_name(names, &member);
            process->unnamed = false;
            if (!process->name)
                return false;
        } else if (is_pid || text_is(member.key, "tid") || text_is(member.key, "fd")) {
            if (!is_null && !take_number(&member, INT32_MAX, &id))
                return false;
            if (is_pid)
                process->pid = is_null ? 0 : (pid_t)id;
            else if (!is_null)
                *(text_is(member.key, "tid") ? &owner->tid : &owner->fd) = (int)id;
        }
    }
    return true;
}

static bool decode_owners(struct saved_list *list, struct text text)
{
    enum { OWNER_MIN = 16 }; /* each owner has more bytes, so that the memory is bounded */
    const size_t count = count_elements(text);
    struct json_element element;
    struct owner_process *processes;
    struct owner *owners;
    char *names;

    if (count > text.length / OWNER_MIN ||
        !list_begin(list, count * (sizeof *owners + sizeof *processes) + text.length + count, 3))
        return false;
    owners = list_take(list, count * sizeof *owners);
    processes = list_take(list, count * sizeof *processes);
    names = list_take(list, text.length + count);
    for (size_t i = 0; i < count; i++)
        if (!json_next_element(&text, &element) || element.type != JSON_NESTED ||
            !decode_owner(element.value, &owners[i], &processes[i], &names))
            return false;
    list->value = (struct value){.type = VALUE_OWNERS, .owners = {owners, count}};
    return true;
}

static bool decode_names(struct saved_list *list, struct text text)
{
    const size_t count = count_elements(text);
    struct json_element element;
    const char **first;
    char *names;

    if (!list_begin(list, count * sizeof *first + text.length + count, 2))
        return false;
    first = list_take(list, count * sizeof *first);
    names = list_take(list, text.length + count);
    for (size_t i = 0; i < count; i++)
        if (!json_next_element(&text, &element) || !(first[i] = put_name(&names, &element)))
            return false;
    list->value = (struct value){.type = VALUE_NAMES, .names = {first, count}};
    return true;
}

static bool decode_networks(struct saved_list *list, struct text text)
{
    const size_t count = count_elements(text);
    struct json_element element;
    struct network *networks;

    if (!list_begin(list, count * sizeof *networks, 1))
        return false;
    networks = list_take(list, count * sizeof *networks);
    for (size_t i = 0; i < count; i++)
        if (!json_next_element(&text, &element) || element.type != JSON_STRING ||
            !saved_parse_network(element.value, &networks[i]))
            return false;
    list->value = (struct value){.type = VALUE_NETWORKS,
                                 .networks = {networks, count, sizeof *networks, NULL}};
    return true;
}

/* Reads 02:00:5e:10:00:ff, or an IP address, which a tunnel has in its place. */
static bool decode_lladdr(struct saved_list *list, struct text text)
{
    const size_t count = (text.length + 1) / 3;
    struct network network;
    uint8_t *bytes;

    if (!list_begin(list, LLADDR_MAX, 1))
        return false;
    bytes = list_take(list, LLADDR_MAX);
    list->value = (struct value){.type = VALUE_LLADDR, .text = {(const char *)bytes, count}};
    bool is_hex = text.length == (count ? 3 * count - 1 : 0) && count <= LLADDR_MAX;
    for (size_t i = 0; i < count && is_hex; i++) {
        const char *digits = text.data + 3 * i;
        uint32_t byte;
        is_hex = json_hex(digits, 2, &byte) && (i + 1 == count || digits[2] == ':');
        bytes[i] = (uint8_t)byte;
    }
    if (is_hex)
        return true;
    if (!saved_parse_network(text, &network) || network.prefix != NO_PREFIX)
        return false;
    memcpy(bytes, network.address.bytes, sizeof network.address.bytes);
    list->value.family = network.address.family;
    list->value.text.length = address_size(&network.address);
    return true;
}

/* Returns the list for a cell. Its value is unknown if it is not decoded yet. */
static struct saved_list *list_of_cell(const struct saved_row *row, const struct saved_cell *cell)
{
    const size_t at = (size_t)(cell - row->cells);
    struct saved_list *list;

    for (size_t i = 0; i < COUNT(lists) && row->number; i++)
        if (lists[i].number == row->number && lists[i].cell == at)
            return &lists[i];
    list = &lists[next_list];
    next_list = (next_list + 1) % COUNT(lists);
    list->number = row->number;
    list->cell = at;
    list->value = unknown;
    return list;
}

/* Returns the list of a cell, decoded by `decode`. */
static struct value list_of(const struct saved_row *row, const struct saved_cell *cell,
                            bool (*decode)(struct saved_list *list, struct text text))
{
    struct saved_list *list = list_of_cell(row, cell);

    if (list->value.type == VALUE_UNKNOWN && !decode(list, saved_text(row, cell)))
        list->value = unknown;
    return list->value;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* Sets a bit by its name, or by its number if it has no name. Returns false if there is no such
 * bit. */
static bool set_flag(struct value *flags, struct text name)
{
    const struct flag_names *names = flags->flags.names;
    uint64_t bit = 0;
    bool negative;

    while (bit < names->count && !(names->names[bit] && text_is(name, names->names[bit])))
        bit++;
    if (bit >= names->count && (!saved_parse_number(name, 0, &bit, &negative) || negative))
        return false;
    if (bit >= VALUE_FLAG_BITS)
        return false;
    bits_add(flags->flags.bits, bit);
    return true;
}

static struct value decode_flags(const struct field *field, struct text text)
{
    struct value flags = {.type = VALUE_FLAGS, .flags = {.names = field->flags}};
    struct json_element element;

    while (json_next_element(&text, &element))
        if (element.type != JSON_STRING || !set_flag(&flags, element.value))
            return unknown;
    return flags;
}

/* A name, or the digits of a number without a name. */
static struct value decode_name(const struct saved_row *row, const struct saved_cell *cell,
                                const struct field *field)
{
    const struct text text = saved_text(row, cell);
    struct value value = {.type = VALUE_NAME, .name = {text.data, SAVED_NO_NUMBER}};
    uint32_t hex;
    bool negative;

    if (!text.length || memchr(text.data, '\0', text.length))
        return unknown;
    if (saved_is_digit(*text.data) && saved_parse_number(text, 0, &value.name.number, &negative)) {
        value.name.string = NULL;
    } else if (text.length == 6 && memcmp(text.data, "0x", 2) == 0 &&
               json_hex(text.data + 2, 4, &hex)) {
        value.hex = true;
        value.name.string = NULL;
        value.name.number = hex;
    } else if (field->word && !saved_word_number(field, text, &value.name.number)) {
        value.name.number = SAVED_NO_NUMBER;
    }
    return value;
}

/* --- Owners ----------------------------------------------------------------------------------- */

/* Makes the only owner of the columns pid and process, of which either may be unknown. */
static bool decode_process(struct saved_list *list, const struct value *pid,
                           const struct value *process)
{
    const size_t length = process->type == VALUE_TEXT ? process->text.length : 0;
    struct owner_process *only;
    struct owner *owner;
    char *copy;

    if (!list_begin(list, sizeof *owner + sizeof *only + length + 1, 3))
        return false;
    owner = list_take(list, sizeof *owner);
    only = list_take(list, sizeof *only);
    copy = list_take(list, length + 1);
    if (length)
        memcpy(copy, process->text.data, length);
    copy[length] = '\0';
    *only = (struct owner_process){
        .pid = pid->type == VALUE_NUMBER && pid->number <= INT32_MAX ? (pid_t)pid->number : 0,
        .unnamed = !length,
        .name = copy};
    *owner = (struct owner){.process = only, .fd = -1};
    list->value = (struct value){.type = VALUE_OWNERS, .owners = {owner, 1}};
    return true;
}

struct value saved_owners(const struct record *record, size_t end)
{
    const struct saved_owner_fields *fields = saved_owner_fields(record->kind, end);
    const struct saved_cell *all = fields->all ? saved_cell_of(record, fields->all) : NULL;
    const struct saved_cell *pid = fields->pid ? saved_cell_of(record, fields->pid) : NULL;
    const struct saved_cell *process =
        fields->process ? saved_cell_of(record, fields->process) : NULL;
    struct saved_list *list;

    if (all && all->type != SAVED_NULL)
        return saved_decode(record->saved, all, fields->all);
    const struct value of_pid = pid ? saved_decode(record->saved, pid, fields->pid) : unknown,
                       of_process = process ? saved_decode(record->saved, process, fields->process)
                                            : unknown;
    if (of_pid.type == VALUE_UNKNOWN && of_process.type == VALUE_UNKNOWN)
        return unknown;
    list = list_of_cell(record->saved, pid ? pid : process);
    if (list->value.type == VALUE_UNKNOWN)
        (void)decode_process(list, &of_pid, &of_process);
    return list->value;
}

/* --- Values ----------------------------------------------------------------------------------- */

static struct value decode_string(const struct saved_row *row, const struct saved_cell *cell,
                                  const struct field *field)
{
    const struct text text = saved_text(row, cell);

    switch (field->type) {
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
        return (struct value){
            .type = field->type, .spaced = field->spaced || field->each_owner, .text = text};
    case VALUE_VIEW:
        return (struct value){.type = VALUE_TEXT, .spaced = true, .text = text};
    case VALUE_NAME:
        return decode_name(row, cell, field);
    case VALUE_ADDRESS:
    case VALUE_NETWORK:
        return decode_address(text);
    case VALUE_TIME:
        return decode_time(text);
    case VALUE_LLADDR:
        return list_of(row, cell, decode_lladdr);
    default:
        return unknown;
    }
}

static struct value decode_nested(const struct saved_row *row, const struct saved_cell *cell,
                                  const struct field *field)
{
    if (*saved_text(row, cell).data != '[')
        return unknown;
    switch (field->type) {
    case VALUE_OWNERS:
        return list_of(row, cell, decode_owners);
    case VALUE_FLAGS:
        return field->flags ? decode_flags(field, saved_text(row, cell))
                            : list_of(row, cell, decode_names);
    case VALUE_NETWORKS:
        return list_of(row, cell, decode_networks);
    case VALUE_NAMES:
        return list_of(row, cell, decode_names);
    default:
        return unknown;
    }
}

struct value saved_decode(const struct saved_row *row, const struct saved_cell *cell,
                          const struct field *field)
{
    switch ((enum saved_type)cell->type) {
    case SAVED_NUMBER:
        return value_is_number(field->type) ? decode_number(field, saved_text(row, cell)) : unknown;
    case SAVED_STRING:
        return decode_string(row, cell, field);
    case SAVED_TRUE:
    case SAVED_FALSE:
        return field->type == VALUE_BOOLEAN ? boolean(cell->type == SAVED_TRUE) : unknown;
    case SAVED_ARRAY:
        return decode_nested(row, cell, field);
    case SAVED_NULL:
        break;
    }
    return unknown;
}

/* Whether the value can be made of other columns: a view of members that the row has, or a process
 * of saved owners. Other fields may have members that no column shows. */
static bool can_compute(const struct cell *cell)
{
    const struct field *field = cell->field;
    const uint64_t of_owners = NEED_OWNERS | NEED_PEERS;

    if (field->lookups & NEED_OWNERS)
        return field->type != VALUE_OWNERS &&
               (field->type == VALUE_VIEW || !(field->lookups & ~of_owners)) &&
               saved_owners(cell->record, field->index).type == VALUE_OWNERS;
    return field->type == VALUE_VIEW && !(field->fields & ~cell->record->has) &&
           (field->fields || saved_has_basics(cell->record));
}

bool saved_is_first_owner(const struct cell *cell)
{
    const struct value owners = saved_owners(cell->record, OWN_END);

    return owners.type == VALUE_OWNERS && owners.owners.first == cell->owner;
}

const char *saved_string(const struct record *record, const char *column)
{
    const struct field *field = record->saved ? field_named(record->kind, column) : NULL;
    const struct saved_cell *cell = field ? saved_cell_of(record, field) : NULL;

    return cell && cell->type == SAVED_STRING ? (const char *)record->saved + cell->offset : NULL;
}

/* Writes a saved view. Tables for people have short forms of views, which are made again. */
static char *write_saved_view(char *dst, const struct value *view, bool human)
{
    const struct cell cell = {view->view.field, view->view.record, view->view.context, NULL};
    const struct saved_cell *saved = saved_cell_of(cell.record, cell.field);
    const struct value again = human ? cell.field->value(&cell) : unknown;

    if (again.type == VALUE_VIEW)
        /* cppcheck-suppress returnDanglingLifetime ; dst is used further */
        return again.view.write(dst, &again, human);
    const struct text text = saved ? saved_text(cell.record->saved, saved) : (struct text){"", 0};
    return escape_text(dst, text.data, text.length, " ");
}

/* True for a saved view that can also be made again: it needs no names, and it is short. */
static bool can_make_again(const struct cell *cell, const struct saved_cell *saved)
{
    return cell->field->type == VALUE_VIEW && saved->type == SAVED_STRING && saved->length &&
           saved->length <= VALUE_VIEW_MAX / ESCAPE_FACTOR &&
           !(cell->field->lookups & ~NEED_OWNERS) && can_compute(cell);
}

struct value saved_value(const struct cell *cell)
{
    const struct saved_cell *saved = saved_cell_of(cell->record, cell->field);

    if (saved && can_make_again(cell, saved))
        return view(cell, write_saved_view);
    if (saved)
        return cell->owner && !saved_is_first_owner(cell)
                   ? unknown
                   : saved_decode(cell->record->saved, saved, cell->field);
    if (cell->field == &field_count)
        return unknown;
    if (cell->field->type == VALUE_NETWORK) /* the prefix is in another field (field_network()) */
        return cell->field->value(cell);
    return can_compute(cell) ? cell->field->value(cell) : unknown;
}
