/* SPDX-License-Identifier: MIT */
/* Sets the members of a record from the columns of a saved row. */
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/saved.h"
#include "model/fields/fields.h"
#include "model/saved.h"
#include "model/socket/owner_fields.h"

enum { RESTORED_MAX = 128, KINDS_MAX = 32, ENDS = 2 };

/* A field whose member can be set from its column. */
struct restored {
    const struct field *field;
    uint16_t number; /* field_index() */
    uint16_t twin;   /* 1 + the index of an earlier field with the same member; 0: none */
    bool plain; /* the value is the member; otherwise the value is computed again and compared */
    bool basic; /* its member has no presence bit */
    uint64_t others[RESTORED_MAX / 64]; /* bits of fields whose members share bytes with its own */
};

/* How records of a kind are restored. */
struct restoring {
    const struct kind *kind;
    struct restored fields[RESTORED_MAX];
    size_t count;
    struct saved_owner_fields owners[ENDS];
};

static struct restoring *restorings[KINDS_MAX];
static size_t restoring_count;

/* --- Numbers of words ------------------------------------------------------------------------- */

struct saved_word {
    const char *name;
    uint64_t number;
};

/* The words of a field, in order. */
struct saved_words {
    const struct field *field;
    struct saved_word *list;
    size_t count, last; /* last: found before; the next row often has the same word */
};

static struct saved_words *all_words;
static size_t words_count, words_capacity;

static int compare_words(const void *a, const void *b)
{
    const struct saved_word *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Collects the words of a field. Returns false if memory is short. */
static bool collect_words(struct saved_words *words, const struct field *field)
{
    const uint64_t most = field->member == MEMBER_UINT8 ? UINT8_MAX : UINT16_MAX;
    size_t capacity = 0;

    for (uint64_t code = 0; code <= most; code++) {
        const char *word = field->word(code);
        struct saved_word *added =
            word ? ARRAY_ADD(words->list, words->count, capacity) : words->list;
        if (word && !added)
            return false;
        if (word)
            *added = (struct saved_word){word, code};
    }
    if (words->count)
        qsort(words->list, words->count, sizeof *words->list, compare_words);
    words->field = field;
    return true;
}

static struct saved_words *words_of(const struct field *field)
{
    for (size_t i = 0; i < words_count; i++)
        if (all_words[i].field == field)
            return &all_words[i];
    struct saved_words *words = ARRAY_ADD(all_words, words_count, words_capacity);
    if (words && collect_words(words, field))
        return words;
    words_count -= words != NULL;
    return NULL;
}

bool saved_word_number(const struct field *field, struct text name, uint64_t *number)
{
    struct saved_words *words = words_of(field);

    if (!words || !words->count)
        return false;
    if (!text_is(name, words->list[words->last].name)) {
        size_t first = 0, after = words->count;
        while (first < after) {
            const size_t middle = (first + after) / 2;
            const char *word = words->list[middle].name;
            const int order = strncmp(word, name.data, name.length);
            if (order < 0)
                first = middle + 1;
            else
                after = middle;
        }
        if (first == words->count || !text_is(name, words->list[first].name))
            return false;
        words->last = first;
    }
    *number = words->list[words->last].number;
    return true;
}

/* --- Which members ---------------------------------------------------------------------------- */

static bool is_restorable(const struct field *field)
{
    switch (field->member) {
    case MEMBER_NONE:
        return false;
    case MEMBER_TEXT:
        return field->value == text_member || field->value == text_unless_empty;
    case MEMBER_ADDRESS:
        return field->plain;
    default:
        return field->plain || field->value == number_member ||
               (!field->lookups && value_is_number(field->type));
    }
}

static size_t member_size(const struct field *field)
{
    return field->member == MEMBER_TEXT      ? sizeof(struct text)
           : field->member == MEMBER_ADDRESS ? sizeof(struct address)
                                             : field->member;
}

/* The family of an address is a part of it, and can be a field of its own. */
static bool is_family_of(const struct field *one, const struct field *other)
{
    return other->member == MEMBER_ADDRESS && one->member == MEMBER_UINT8 &&
           one->offset == other->offset + offsetof(struct address, family);
}

/* Families of sockets share bytes of the record: a row can have the members of only one. */
static bool shares_bytes(const struct field *one, const struct field *other)
{
    return (one->offset != other->offset || one->member != other->member) &&
           !is_family_of(one, other) && !is_family_of(other, one) &&
           one->offset < other->offset + member_size(other) &&
           other->offset < one->offset + member_size(one);
}

static void note_shared_bytes(struct restoring *restoring)
{
    for (size_t i = 0; i < restoring->count; i++)
        for (size_t j = 0; j < restoring->count; j++)
            if (shares_bytes(restoring->fields[i].field, restoring->fields[j].field))
                bits_add(restoring->fields[i].others, j);
            else if (j < i &&
                     restoring->fields[i].field->offset == restoring->fields[j].field->offset)
                restoring->fields[i].twin = (uint16_t)(j + 1);
}

static void note_owner_field(struct restoring *restoring, const struct field *field)
{
    struct saved_owner_fields *owners =
        field->index < ENDS ? &restoring->owners[field->index] : NULL;

    if (!owners)
        return;
    if (field->type == VALUE_OWNERS)
        owners->all = field;
    else if (field->value == owner_pid)
        owners->pid = field;
    else if (field->value == owner_process)
        owners->process = field;
}

static struct restoring *restoring_of(const struct kind *kind)
{
    struct restoring *restoring;

    for (size_t i = 0; i < restoring_count; i++)
        if (restorings[i]->kind == kind)
            return restorings[i];
    restoring = restoring_count < KINDS_MAX ? calloc(1, sizeof *restoring) : NULL;
    if (!restoring)
        return NULL;
    restoring->kind = kind;
    for (size_t i = 0; i < kind->field_count; i++) {
        const struct field *field = &kind->fields[i];
        note_owner_field(restoring, field);
        if (is_restorable(field) && restoring->count < RESTORED_MAX)
            restoring->fields[restoring->count++] = (struct restored){
                .field = field,
                .number = (uint16_t)i,
                .plain = field->plain || field->value == number_member,
                .basic = field->plain && !field->fields,
            };
    }
    note_shared_bytes(restoring);
    restorings[restoring_count++] = restoring;
    return restoring;
}

const struct saved_owner_fields *saved_owner_fields(const struct kind *kind, size_t end)
{
    static const struct saved_owner_fields none;
    const struct restoring *restoring = restoring_of(kind);

    return restoring && end < ENDS ? &restoring->owners[end] : &none;
}

/* --- Members ---------------------------------------------------------------------------------- */

/* Sets *number to the number of a value. Returns false if the member cannot have it. */
static bool number_of_value(const struct field *field, const struct value *value, uint64_t *number)
{
    switch (value->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
    case VALUE_FINE:
    case VALUE_BOOLEAN:
    case VALUE_TIME:
        *number = value->number;
        break;
    case VALUE_SIGNED:
        if (value->integer.negative)
            return false;
        *number = value->integer.magnitude;
        break;
    case VALUE_FLAGS:
        *number = value->flags.bits[0];
        return !value->flags.bits[1] && !(*number >> (8 * field->member - 1) >> 1);
    case VALUE_TEXT:
        return field->word && saved_word_number(field, value->text, number);
    case VALUE_NAME:
        *number = value->name.number;
        if (*number == SAVED_NO_NUMBER)
            return false;
        break;
    default:
        return false;
    }
    return field->member == MEMBER_UINT64 || !(*number >> 8 * field->member);
}

/* Sets a member from a value. Returns false if it cannot. */
static bool set_member(struct record *record, const struct field *field, const struct value *value)
{
    char *member = (char *)record + field->offset;
    uint64_t bits;

    if (field->member == MEMBER_ADDRESS) {
        if (value->type != VALUE_ADDRESS)
            return false;
        memcpy(member, &value->address, sizeof value->address);
        return true;
    }
    if (field->member == MEMBER_TEXT) {
        if (value->type != VALUE_TEXT && value->type != VALUE_SOCKET_NAME)
            return false;
        memcpy(member, &value->text, sizeof value->text);
        return true;
    }
    if (!number_of_value(field, value, &bits))
        return false;
    bytes_set(member, field->member, bits);
    return true;
}

/* Restores a member whose value is computed from it, if the same value can be computed again. */
static bool set_computed(struct record *record, const struct field *field,
                         const struct value *value)
{
    static const struct context nothing;
    const bool is_set = set_member(record, field, value);

    if (is_set) {
        const struct value again = field->value(&(struct cell){field, record, &nothing, NULL});
        if (again.type == value->type && value_compare(&again, value) == 0)
            return true;
        bytes_set((char *)record + field->offset, field->member, 0);
    }
    return false;
}

/* A group of --count-by stands for its rows. */
static void restore_count(struct record *record)
{
    const struct saved_cell *cell = saved_cell_of(record, &field_count);
    const struct value count = cell ? saved_decode(record->saved, cell, &field_count)
                                    : (struct value){.type = VALUE_UNKNOWN};

    if (count.type == VALUE_NUMBER)
        record->rows = count.number ? count.number : NO_ROWS;
}

/* Removes presence bits of borrowed data that is not in the row. */
static uint64_t without_foreign(const struct record *record, uint64_t has)
{
    const uintptr_t row = (uintptr_t)record->saved;
    uintptr_t data;
    size_t count;

    for (size_t i = 0; i < record->kind->borrowed_count; i++) {
        const struct borrowed *borrowed = &record->kind->borrowed[i];
        memcpy(&data, (const char *)record + borrowed->offset, sizeof data);
        memcpy(&count, (const char *)record + borrowed->offset + sizeof data, sizeof count);
        if (count && (borrowed->unit != 1 || data < row || data - row > record->saved->size ||
                      count > record->saved->size - (data - row)))
            has &= ~borrowed->fields;
    }
    return has;
}

/* Which members of a restored record are known. */
struct restored_bits {
    uint64_t known, missing;         /* presence bits of members that are known, or not */
    uint64_t set[RESTORED_MAX / 64]; /* fields whose members are set */
};

/* Restores the member of field i. */
static void restore_field(struct record *record, const struct restoring *restoring, size_t i,
                          struct restored_bits *bits)
{
    const struct restored *restored = &restoring->fields[i];
    const struct field *field = restored->field;
    const struct saved_row *row = record->saved;
    const size_t place = row->columns->place[restored->number];
    const struct saved_cell *cell = place && place <= row->count ? &row->cells[place - 1] : NULL;
    const struct value value =
        cell ? saved_decode(row, cell, field) : (struct value){.type = VALUE_UNKNOWN};
    bool is_set = value.type != VALUE_UNKNOWN;

    if (!cell && restored->twin && bits_have(bits->set, restored->twin - 1))
        return;
    for (size_t word = 0; word < COUNT(bits->set); word++)
        is_set &= !(restored->others[word] & bits->set[word]);
    if (is_set)
        is_set = restored->plain ? set_member(record, field, &value)
                                 : set_computed(record, field, &value);
    if (is_set) {
        bits_add(bits->set, i);
        bits->known |= field->fields;
    } else if (restored->plain || !cell || cell->type != SAVED_NULL ||
               !(bits->known & field->fields)) {
        /* a null of a computed column can be its value: a timer that is off never expires */
        bits->missing |= field->fields;
    }
}

void saved_restore(struct record *record, const struct saved_row *row)
{
    const struct kind *kind = row->columns->kind;
    const struct restoring *restoring = restoring_of(kind);
    struct restored_bits bits = {0};

    record_begin(record, kind, kind->size - offsetof(struct record, socket));
    record->saved = row;
    for (int plain = 1; plain >= 0 && restoring; plain--) { /* computed values need plain members */
        for (size_t i = 0; i < restoring->count; i++)
            if (restoring->fields[i].plain == (bool)plain)
                restore_field(record, restoring, i, &bits);
        if (plain && kind->complete)
            bits.known |= kind->complete(record);
    }
    record->has = without_foreign(record, bits.known & ~bits.missing);
    if (row->columns->head && row->columns->head->counted)
        restore_count(record);
}

bool saved_has_number(const struct record *record, const struct field *field)
{
    const struct saved_cell *cell = saved_cell_of(record, field);
    const struct value value =
        cell ? saved_decode(record->saved, cell, field) : (struct value){.type = VALUE_UNKNOWN};
    uint64_t bits;

    return number_of_value(field, &value, &bits) && bits == field_number(field, record);
}

bool saved_has_basics(const struct record *record)
{
    const struct restoring *restoring = restoring_of(record->kind);

    for (size_t i = 0; restoring && i < restoring->count; i++)
        if (restoring->fields[i].basic && !saved_has_number(record, restoring->fields[i].field))
            return false;
    return restoring;
}
