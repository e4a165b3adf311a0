/* SPDX-License-Identifier: MIT */
/* The values of --where that are numbers. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/form.h"
#include "cli/where/constant.h"
#include "fastnet/array.h"
#include "fastnet/services.h"

/* Parses a number in the unit of the field: in thousandths or millionths if it has decimals. */
static bool parse_number(const struct field *field, const char *text, uint64_t *number)
{
    const unsigned parts = field->type == VALUE_FINE      ? FORM_MILLION
                           : field->type == VALUE_DECIMAL ? 1000
                                                          : 1;

    return form_quantity(text, field->unit, parts, number);
}

static const char *where_numbers_of(const struct field *field)
{
    if (field->port)
        return "ports, such as 443, 8000-8999 or https";
    if (field->unit == UNIT_SECONDS)
        return "times, such as 50ms, 1.5s, 2m or 1h";
    if (field->unit == UNIT_BYTES)
        return "numbers of bytes, such as 1500, 64k or 1MB";
    if (field->unit == UNIT_BYTES_PER_SECOND)
        return "bytes per second, such as 1500, 64k, 1MB/s or 10Mbit";
    if (field->unit == UNIT_PERCENT)
        return "percent, such as 5 or 0.5";
    return field->type == VALUE_SIGNED ? "numbers, such as 7, -7 or 1-9"
                                       : "numbers, such as 7 or 1-9";
}

const char *where_example(const struct field *field)
{
    return field->type == VALUE_TIME              ? "2026-11-22"
           : field->unit == UNIT_SECONDS          ? field->type == VALUE_NUMBER ? "2m" : "50ms"
           : field->unit == UNIT_BYTES            ? "64k"
           : field->unit == UNIT_BYTES_PER_SECOND ? "1MB/s"
                                                  : "7";
}

bool where_is_unit(const struct field *field, struct text word)
{
    enum { UNIT_MAX = 8 };
    uint64_t number;
    char text[UNIT_MAX + 2];

    if (!value_is_number(field->type) || word.length > UNIT_MAX ||
        (!isalpha((unsigned char)word.data[0]) && word.data[0] != '%'))
        return false;
    snprintf(text, sizeof text, "1%.*s", (int)word.length, word.data);
    return form_quantity(text, field->unit, FORM_MILLION, &number);
}

/* A read_fn: a number in the unit of the field, which may be signed. */
static bool read_number(const struct field *field, const char *text, struct value *value)
{
    const bool is_signed = field->type == VALUE_SIGNED, negative = is_signed && text[0] == '-';
    uint64_t number;

    if (!parse_number(field, text + negative, &number))
        return false;
    if (is_signed)
        *value = (struct value){.type = VALUE_SIGNED, .integer = {number, negative && number != 0}};
    else
        *value = (struct value){.type = field->type, .number = number};
    return true;
}

static struct predicate *parse_service(const struct constant *constant)
{
    uint16_t ports[16];
    const size_t count = services_ports(NULL, constant->text, NULL, ports, COUNT(ports));
    struct predicate *all;

    if (!count || constant->comparison != TOKEN_EQUAL)
        return constant_refuse(constant, where_numbers_of(constant->field));
    all = where_compare(constant, where_a_number(ports[0]));
    for (size_t i = 1; i < count; i++)
        all = parser_join(constant->parser, PREDICATE_OR, all,
                          where_compare(constant, where_a_number(ports[i])));
    return all;
}

/* Parses NUMBER/MASK: the bits of the mask must have the values of the number. */
static struct predicate *parse_masked(const struct constant *constant)
{
    struct predicate masked = {.operation = PREDICATE_MASKED, .field = constant->field};
    const char *mask;
    char first[PART_MAX];

    if (constant->comparison != TOKEN_EQUAL || constant->field->type != VALUE_NUMBER ||
        constant->field->unit != UNIT_NONE || constant->field->port ||
        !where_cut(constant->text, '/', first, &mask) ||
        !read_number(constant->field, first, &masked.constant) ||
        !parse_number(constant->field, mask, &masked.mask.bits[0]))
        return NULL;
    return parser_add(constant->parser, masked);
}

/* Parses NUMBER/NUMBER, as the columns "recv" and "send" show how much waits, and how much may
 * wait. The backlog of a unix listener is in send_q. */
static struct predicate *parse_share(const struct constant *constant)
{
    static const char *const shares[][4] = {{"recv_q", "backlog", "mem_rcvbuf", "send_q"},
                                            {"send_q", "mem_sndbuf"}};
    struct where_parser *parser = constant->parser;
    struct predicate *any = NULL;
    struct value used, most;
    char first[PART_MAX];
    const char *second;
    size_t i = 0;

    while (i < COUNT(shares) && strcmp(constant->field->name, shares[i][0]) != 0)
        i++;
    if (i == COUNT(shares) || !parser->viewed || constant->comparison != TOKEN_EQUAL ||
        !where_cut(constant->text, '/', first, &second) ||
        !read_number(constant->field, first, &used) || !read_number(constant->field, second, &most))
        return NULL;
    for (size_t j = 1; j < COUNT(shares[i]) && shares[i][j]; j++) {
        struct predicate *one = parser_add(
            parser, predicate_number(field_named(parser->kind, shares[i][j]), most.number));
        any = any ? parser_join(parser, PREDICATE_OR, any, one) : one;
    }
    return parser_join(parser, PREDICATE_AND, where_compare(constant, used), any);
}

struct predicate *where_parse_numbers(const struct constant *constant)
{
    const struct field *field = constant->field;
    struct predicate *share = parse_share(constant), *made = share ? share : parse_masked(constant);
    struct value port;

    if (field->port && read_number(field, constant->text, &port) && port.number > UINT16_MAX)
        return constant_refuse(constant, where_numbers_of(field));
    if (made || where_parse_range(constant, read_number, &made))
        return made;
    return field->port ? parse_service(constant)
                       : constant_refuse(constant, where_numbers_of(field));
}
