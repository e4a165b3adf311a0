/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "fastnet/clock.h"
#include "fastnet/rates.h"
#include "model/fields/fields.h"

static uint64_t magnitude(const struct value *value)
{
    return value->type == VALUE_SIGNED ? value->integer.magnitude : value->number;
}

/* The growth per second, rounded to a thousandth, with at most UINT64_MAX thousandths: counters of
 * a captured tree can change by any amount within any time. */
static struct value rate_of_counter(const struct field *of, const struct cell *cell)
{
    const struct record *record = cell->record;

    if (!record->before || !field_grows(of, record))
        return unknown;
    const struct value now = field_value(of, record, cell->context);
    const struct value before = field_value(of, record->before, cell->context);
    if (now.type == VALUE_UNKNOWN || now.type != before.type ||
        magnitude(&now) < magnitude(&before))
        return unknown;
    /* thousandths in each unit of the value's number */
    const double thousandths = now.type == VALUE_FINE      ? 0.001
                               : now.type == VALUE_DECIMAL ? 1
                                                           : 1000;
    const double change = (double)(magnitude(&now) - magnitude(&before)) * thousandths;
    const double second = change * (double)CLOCK_SECOND / (double)record->elapsed + 0.5;
    return decimal(second < (double)UINT64_MAX ? (uint64_t)second : UINT64_MAX);
}

static struct value rate(const struct cell *cell)
{
    return rate_of_counter(cell->field->of, cell);
}

static struct value rate_of_pair(const struct cell *cell)
{
    const struct value other = rate_of_counter(&cell->field->of[1], cell);
    struct value sum = rate(cell);

    value_add(&sum, &other);
    return sum;
}

/* The value, in rows where the field is not a counter and so has no rate; else unknown. */
static struct value rate_state(const struct cell *cell)
{
    const struct field *of = cell->field->of;

    return field_grows(of, cell->record) ? unknown : field_value(of, cell->record, cell->context);
}

static struct field make_rate(const struct field *counter, char name[RATE_NAME_MAX])
{
    snprintf(name, RATE_NAME_MAX, "%s" RATE_SUFFIX, counter->name);
    return (struct field){.name = name,
                          .help = counter->help,
                          .fields = counter->fields,
                          .optional = counter->optional,
                          .parts = counter->parts,
                          .lookups = counter->lookups | NEED_LISTING,
                          .type = VALUE_DECIMAL,
                          .unit = counter->unit == UNIT_BYTES     ? UNIT_BYTES_PER_SECOND
                                  : counter->unit == UNIT_PACKETS ? UNIT_PACKETS_PER_SECOND
                                                                  : UNIT_NONE,
                          .rate = true,
                          .of = counter,
                          .value = rate};
}

static void add_pair(struct rates *rates, const struct field *pair, size_t *count)
{
    struct field *both = &rates->fields[*count];

    *both = make_rate(pair, rates->names[*count]);
    both->name = "bytes" RATE_SUFFIX;
    both->help = "bytes that were sent and received, added up";
    both->fields |= pair[1].fields;
    both->optional |= pair[1].optional;
    both->parts |= pair[1].parts;
    both->lookups |= pair[1].lookups;
    both->pair = true;
    both->value = rate_of_pair;
    ++*count;
}

static void rate_finish(struct rates *rates, const struct kind *of, size_t count)
{
    if (of->both_ways && count < RATES_MAX)
        add_pair(rates, of->both_ways, &count);
    rates->kind = *of;
    rates->kind.fields = rates->fields;
    rates->kind.field_count = count;
}

void rates_init(struct rates *rates, const struct kind *of)
{
    size_t count = 0;

    for (size_t i = 0; i < of->field_count && count < RATES_MAX - 1; i++) {
        const struct field *field = &of->fields[i];
        rates->fields[count] = field->counter ? make_rate(field, rates->names[count]) : *field;
        count++;
        if (!field->partly)
            continue;
        rates->fields[count] = *field;
        rates->fields[count].counter = false;
        rates->fields[count].of = field;
        rates->fields[count++].value = rate_state;
    }
    rate_finish(rates, of, count);
}

void rates_add(struct rates *rates, const struct kind *of)
{
    size_t count = of->field_count;

    memcpy(rates->fields, of->fields, count * sizeof *rates->fields);
    for (size_t i = 0; i < of->field_count && count < RATES_MAX; i++)
        if (of->fields[i].counter) {
            rates->fields[count] = make_rate(&of->fields[i], rates->names[count]);
            count++;
        }
    rate_finish(rates, of, count);
}
