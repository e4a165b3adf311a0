/* SPDX-License-Identifier: MIT */
/* The kind of rows that fastnet diff lists (differences.h). */
#include <string.h>

#include "fastnet/differences.h"
#include "model/fields/fields.h"

static WORDS(difference_name, "opened", "closed", "replaced", "changed");

/* Both columns are saved columns of each row, so no function computes them. */
static struct value difference_value(const struct cell *cell)
{
    (void)cell;
    return unknown;
}

static const struct field added[DIFFERENCE_COLUMNS] = {
    COMPUTED(change, VALUE_TEXT, difference_value, 0,
             "what happened to the row: opened, closed, replaced (another process) or changed",
             .word = difference_name),
    COMPUTED(what, VALUE_TEXT, difference_value, 0,
             "columns that differ: state LISTEN -> CLOSE, pid 12 -> 15; null if opened or closed",
             .spaced = true),
};

void difference_kind_init(struct difference_kind *dst, const struct kind *of)
{
    const size_t most = DIFFERENCE_FIELDS_MAX - DIFFERENCE_COLUMNS;
    size_t count = of->field_count;

    if (count > most)
        count = most;
    memcpy(dst->fields, of->fields, count * sizeof *dst->fields);
    for (size_t i = 0; i < count; i++)
        dst->fields[i].lookups = 0;
    memcpy(dst->fields + count, added, sizeof added);
    dst->kind = *of;
    dst->kind.fields = dst->fields;
    dst->kind.field_count = count + DIFFERENCE_COLUMNS;
    dst->kind.metric = NULL;
    dst->kind.count_by = "change";
    dst->kind.lasting = NULL;
    dst->kind.inode = dst->kind.other_inode = 0;
}

void difference_columns_init(struct saved_columns *dst, const struct kind *kind,
                             const struct saved_columns *of)
{
    const size_t own = kind->field_count - DIFFERENCE_COLUMNS;
    const struct field *field;

    *dst = (struct saved_columns){
        .kind = kind, .head = of->head, .count = of->count + DIFFERENCE_COLUMNS};
    if (dst->count > SAVED_COLUMNS_MAX)
        dst->count = SAVED_COLUMNS_MAX;
    for (size_t i = 0; (field = field_at(kind, i)); i++) {
        const bool is_added = i >= own && i < own + DIFFERENCE_COLUMNS;
        const size_t place = of->place[i < own ? i : i - DIFFERENCE_COLUMNS];
        const size_t column = is_added ? i - own + 1 : place ? place + DIFFERENCE_COLUMNS : 0;
        if (!column || column > SAVED_COLUMNS_MAX)
            continue;
        dst->place[i] = (uint16_t)column;
        dst->fields[column - 1] = field;
    }
}

bool difference_compares(const struct field *field)
{
    const bool moves = field->moving || field->counter || field->gauge || field->rate;
    const bool measured = field->unit == UNIT_SECONDS || field->unit == UNIT_PERCENT ||
                          field->unit == UNIT_BYTES_PER_SECOND;

    return !moves && !measured && field->type != VALUE_TIME && field->type != VALUE_VIEW &&
           field->type != VALUE_OWNERS && !(field->lookups & (NEED_HOSTS | NEED_PROFILES));
}
