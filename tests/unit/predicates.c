/* SPDX-License-Identifier: MIT */
#include "predicates.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "kit.h"

struct predicate whole_of(enum predicate_operator operation, struct predicate *parts, size_t count)
{
    struct predicate whole = {.operation = operation};

    for (size_t i = 0; i < count; i++)
        predicate_add(&whole, &parts[i]);
    return whole;
}

static void put_bits(FILE *out, const char *before, const uint64_t *bits)
{
    fprintf(out, "%s", before);
    if (bits[1])
        fprintf(out, "%#" PRIx64 ":", bits[1]);
    fprintf(out, "%#" PRIx64, bits[0]);
}

static void put_address(FILE *out, const char *before, uint8_t family, const uint8_t *bytes)
{
    char text[INET6_ADDRSTRLEN];

    assert_non_null(inet_ntop(family, bytes, text, sizeof text));
    fprintf(out, "%s%s", before, text);
}

static void put_constant(FILE *out, const struct value *constant)
{
    switch (constant->type) {
    case VALUE_NUMBER:
        fprintf(out, "%" PRIu64, constant->number);
        break;
    case VALUE_DECIMAL:
        fprintf(out, "%" PRIu64 " thousandths", constant->number);
        break;
    case VALUE_FINE:
        fprintf(out, "%" PRIu64 " millionths", constant->number);
        break;
    case VALUE_TIME:
        fprintf(out, "%" PRIu64 " ns", constant->number);
        break;
    case VALUE_SIGNED:
        fprintf(out, "%s%" PRIu64, constant->integer.negative ? "-" : "",
                constant->integer.magnitude);
        break;
    case VALUE_TEXT:
        fprintf(out, "%.*s", (int)constant->text.length, constant->text.data);
        break;
    case VALUE_LLADDR:
        for (size_t i = 0; i < constant->text.length; i++)
            fprintf(out, "%s%02x", i ? ":" : "", (unsigned char)constant->text.data[i]);
        break;
    case VALUE_ADDRESS:
        put_address(out, "", constant->address.family, constant->address.bytes);
        break;
    default:
        fail_msg("a constant of type %d", (int)constant->type);
    }
}

static void put_comparison(FILE *out, const struct predicate *predicate)
{
    static const char *const signs[] = {
        [PREDICATE_EQUAL] = " = ",        [PREDICATE_BELOW] = " < ",
        [PREDICATE_ABOVE] = " > ",        [PREDICATE_ONE_OF] = " among ",
        [PREDICATE_AMONG] = " among ",    [PREDICATE_WITHIN] = " in ",
        [PREDICATE_LIKE] = " ~ ",         [PREDICATE_GLOB] = " ~~ ",
        [PREDICATE_EQUAL_COLUMN] = " = ", [PREDICATE_BELOW_COLUMN] = " < ",
        [PREDICATE_ABOVE_COLUMN] = " > "};
    const struct value *constant = &predicate->constant;

    fprintf(out, "%s", predicate->field->name);
    if (predicate->operation == PREDICATE_KNOWN) {
        fprintf(out, " is known");
    } else if (predicate->operation == PREDICATE_MASKED) {
        put_bits(out, " & ", predicate->mask.bits);
        put_bits(out, " = ",
                 constant->type == VALUE_FLAGS ? constant->flags.bits
                                               : (const uint64_t[]){constant->number, 0});
    } else if (predicate->operation == PREDICATE_AMONG) {
        for (size_t i = 0; i < predicate->ranges.count; i++)
            fprintf(out, "%s%" PRIu64 "-%" PRIu64, i ? "," : " among ",
                    predicate->ranges.first[i].first, predicate->ranges.first[i].last);
    } else {
        fprintf(out, "%s", signs[predicate->operation]);
        put_constant(out, constant);
    }
    if (predicate->parts)
        fprintf(out, " of %s", predicate->parts->field->name);
    if (predicate->operation == PREDICATE_WITHIN)
        put_address(out, "/", constant->address.family, predicate->mask.address);
}

static void put(FILE *out, const struct predicate *predicate, bool nested);

static void put_parts(FILE *out, const struct predicate *part, const char *between)
{
    for (const struct predicate *first = part; part; part = part->next) {
        fprintf(out, "%s", part == first ? "" : between);
        put(out, part, true);
    }
}

static void put(FILE *out, const struct predicate *predicate, bool nested)
{
    if (predicate->field) {
        put_comparison(out, predicate);
        return;
    }
    fprintf(out, "%s%s", predicate->operation == PREDICATE_NOT ? "not " : "", nested ? "(" : "");
    if (predicate->parts)
        put_parts(out, predicate->parts, predicate->operation == PREDICATE_OR ? " or " : " and ");
    fprintf(out, "%s", nested ? ")" : "");
}

const char *said_of(const struct predicate *predicate)
{
    static char text[1024];
    FILE *out = fmemopen(text, sizeof text, "w");

    assert_non_null(out);
    if (predicate)
        put(out, predicate, false);
    else
        fprintf(out, "all");
    assert_int_equal(fclose(out), 0);
    return text;
}
