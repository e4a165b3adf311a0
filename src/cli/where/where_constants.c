/* SPDX-License-Identifier: MIT */
/* The values of --where: each must be a value that its column can have. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "cli/where/constant.h"
#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "fastnet/flow_names.h"
#include "fastnet/interfaces.h"
#include "fastnet/services.h"

/* Only numbers below this can have a name. */
static uint64_t word_limit(const struct field *field)
{
    return field->type == VALUE_FLAGS      ? field->flags->count
           : field->member == MEMBER_UINT8 ? UINT8_MAX + 1u
                                           : UINT16_MAX + 1u;
}

/* True if the field has words for its numbers. A 32-bit number that is shown without a name has
 * words for its bits instead. */
static bool has_words(const struct field *field)
{
    return field->word && (field->member != MEMBER_UINT32 || field->type == VALUE_NAME);
}

/* --- Errors ----------------------------------------------------------------------------------- */

/* The name of a number or a flag of this field. Some names occur twice. */
static const char *where_word_of(const struct field *field, uint64_t number)
{
    return field->type == VALUE_FLAGS ? field->flags->names[number] : field->word(number);
}

const struct synonym *where_synonym(const struct kind *kind, const struct field *field)
{
    const struct synonym *synonym = kind->synonym;

    return synonym && strcmp(synonym->column, field->name) == 0 ? synonym : NULL;
}

void where_offer_words(struct misuse *misuse, const struct kind *kind, const struct field *field)
{
    const struct synonym *synonym = where_synonym(kind, field);

    if (synonym)
        misuse_offer(misuse, synonym->other);
    for (uint64_t i = 0; i < word_limit(field); i++) {
        const char *word = where_word_of(field, i);
        if (word && *word)
            misuse_offer(misuse, word);
    }
}

static struct predicate *refuse_word(const struct constant *constant)
{
    const struct field *field = constant->field;
    struct misuse misuse = {.typed = {constant->text, constant->length}};
    const char *typed = TOKEN_TYPED(&constant->token);
    char words[160] = "";
    bool more = false;

    where_offer_words(&misuse, constant->parser->kind, field);
    for (uint64_t i = 0; i < word_limit(field) && !more; i++) {
        const char *word = where_word_of(field, i);
        more = word && *word && !text_list(words, sizeof words, ", ", as_text(word));
    }
    if (misuse.meant.data)
        return parser_fail(constant->parser, &constant->token, "no %s '%s'; did you mean %.*s?",
                           field->name, typed, (int)misuse.meant.length, misuse.meant.data);
    return parser_fail(constant->parser, &constant->token, "no %s '%s'; it can be %s%s",
                       field->name, typed, words, more ? ", ..." : "");
}

/* --- Comparisons ------------------------------------------------------------------------------ */

static const enum predicate_operator operators[] = {[TOKEN_EQUAL] = PREDICATE_EQUAL,
                                                    [TOKEN_LESS] = PREDICATE_BELOW,
                                                    [TOKEN_GREATER] = PREDICATE_ABOVE,
                                                    [TOKEN_LIKE] = PREDICATE_LIKE,
                                                    [TOKEN_GLOB] = PREDICATE_GLOB};

static struct predicate *compare_by(const struct constant *constant,
                                    enum predicate_operator operation, struct value value)
{
    return parser_add(
        constant->parser,
        (struct predicate){.operation = operation, .field = constant->field, .constant = value});
}

static struct predicate *where_compare(const struct constant *constant, struct value value)
{
    return compare_by(constant, operators[constant->comparison], value);
}

static struct value where_a_number(uint64_t number)
{
    return (struct value){.type = VALUE_NUMBER, .number = number};
}

static struct value a_text(const char *text, size_t length)
{
    return (struct value){.type = VALUE_TEXT, .text = {text, length}};
}

enum { PART_MAX = 200 };

/* Splits a text in two at the sign. Returns false if the text cannot be split. */
static bool where_cut(const char *text, char sign, char first[PART_MAX], const char **second)
{
    const char *at = strchr(text, sign);

    if (!at || at == text || (size_t)(at - text) >= PART_MAX)
        return false;
    memcpy(first, text, (size_t)(at - text));
    first[at - text] = '\0';
    *second = at + 1;
    return true;
}

/* --- One value, or a range -------------------------------------------------------------------- */

static const struct network mapped = {{AF_INET6, {[10] = 0xff, [11] = 0xff}}, 96};

/* Excludes IPv4-mapped addresses, which are among the addresses of IPv6, but not meant. */
static struct predicate *without_mapped(const struct constant *constant, struct predicate *part)
{
    struct where_parser *parser = constant->parser;
    struct predicate *in = parser_add(parser, predicate_within(constant->field, &mapped));

    return parser_join(parser, PREDICATE_AND, part, parser_negate(parser, in));
}

/* Makes a range as networks, for a list of addresses: a single address must be in the range, but
 * two comparisons could be true for two different addresses. */
static struct predicate *make_networks(const struct constant *constant, struct address first,
                                       const struct address *last)
{
    struct predicate *all = NULL;
    size_t i;

    do {
        struct network network = {first, (uint8_t)(8 * address_size(&first))};
        struct predicate *one;
        for (; network.prefix; network.prefix--) {
            struct address wider = first;
            wider.bytes[(network.prefix - 1) / 8] |= (uint8_t)(0x80 >> (network.prefix - 1) % 8);
            if (memcmp(&wider, &first, sizeof wider) == 0 ||
                memcmp(wider.bytes, last->bytes, sizeof wider.bytes) > 0)
                break;
            first = wider;
        }
        one = parser_add(constant->parser, predicate_within(constant->field, &network));
        if (all && all->operation == PREDICATE_OR && one)
            predicate_add(all, one);
        else
            all = all ? parser_join(constant->parser, PREDICATE_OR, all, one) : one;
        if (memcmp(first.bytes, last->bytes, sizeof first.bytes) == 0)
            return all;
        for (i = address_size(&first); i-- && !++first.bytes[i];)
            ;
    } while (all);
    return NULL;
}

/* Makes a range: not below `first` and not above `last`, in this order (see take_range()). */
static struct predicate *make_range(const struct constant *constant, const struct value *first,
                                    const struct value *last)
{
    struct where_parser *parser = constant->parser;
    struct predicate *range;

    if (constant->field->type == VALUE_NETWORKS)
        return make_networks(constant, first->address, &last->address);
    range = parser_join(parser, PREDICATE_AND,
                        parser_negate(parser, compare_by(constant, PREDICATE_BELOW, *first)),
                        parser_negate(parser, compare_by(constant, PREDICATE_ABOVE, *last)));
    return first->type == VALUE_ADDRESS && first->address.family == AF_INET6
               ? without_mapped(constant, range)
               : range;
}

typedef bool (*read_fn)(const struct field *field, const char *text, struct value *value);

/* Parses a text that read() accepts, or two such texts with '-' between; or returns false. */
static bool parse_range(const struct constant *constant, read_fn read, struct predicate **made)
{
    const struct field *field = constant->field;
    char text[PART_MAX];
    const char *end;
    struct value first, last;

    if (read(field, constant->text, &first)) {
        *made = where_compare(constant, first);
        return true;
    }
    if (constant->comparison != TOKEN_EQUAL || !where_cut(constant->text, '-', text, &end) ||
        !read(field, text, &first) || !read(field, end, &last))
        return false;
    const bool addresses = first.type == VALUE_ADDRESS;
    if (addresses && first.address.family != last.address.family)
        return false;
    const bool above =
        addresses ? memcmp(first.address.bytes, last.address.bytes, sizeof first.address.bytes) > 0
                  : first.type != VALUE_SIGNED && first.number > last.number;
    *made = above ? parser_fail(constant->parser, &constant->token,
                                "the end of this range is below its beginning")
                  : make_range(constant, &first, &last);
    return true;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Parses a number in the unit of the field: in thousandths or millionths if it has decimals. */
static bool parse_number(const struct field *field, const char *text, uint64_t *number)
{
    const unsigned parts = field->type == VALUE_FINE      ? FORM_MILLION
                           : field->type == VALUE_DECIMAL ? 1000
                                                          : 1;

    return form_quantity(text, field->unit == UNIT_SECONDS, parts, number);
}

static const char *where_numbers_of(const struct field *field)
{
    if (field->port)
        return "ports, such as 443, 8000-8999 or https";
    if (field->unit == UNIT_SECONDS)
        return "times, such as 50ms, 1.5s, 2m or 1h";
    if (field->unit == UNIT_BYTES)
        return "numbers of bytes, such as 1500 or 64k";
    return field->type == VALUE_SIGNED ? "numbers, such as 7, -7 or 1-9"
                                       : "numbers, such as 7 or 1-9";
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

static struct predicate *parse_numbers(const struct constant *constant)
{
    const struct field *field = constant->field;
    struct predicate *share = parse_share(constant), *made = share ? share : parse_masked(constant);
    struct value port;

    if (field->port && read_number(field, constant->text, &port) && port.number > UINT16_MAX)
        return constant_refuse(constant, where_numbers_of(field));
    if (made || parse_range(constant, read_number, &made))
        return made;
    return field->port ? parse_service(constant)
                       : constant_refuse(constant, where_numbers_of(field));
}

/* --- Booleans and times ----------------------------------------------------------------------- */

static struct predicate *parse_boolean(const struct constant *constant)
{
    static const char words[][6] = {"false", "true", "no", "yes", "0", "1"};

    for (size_t i = 0; i < COUNT(words); i++)
        if (strcasecmp(words[i], constant->text) == 0)
            return where_compare(constant, where_a_number(i % 2));
    return constant_refuse(constant, "= true or = false");
}

/* Times are shown in microseconds. Times that are shown alike are equal. */
static struct predicate *parse_time(const struct constant *constant)
{
    enum { NS_PER_US = 1000 };
    struct value value = {.type = VALUE_TIME}, last;

    if (!form_time(constant->text, &value.number))
        return constant_refuse(constant, "times, such as 2026-11-22T21:30:00Z or 2026-11-22");
    last = value;
    if (constant->comparison != TOKEN_EQUAL ||
        __builtin_add_overflow(value.number, NS_PER_US - 1, &last.number))
        return where_compare(constant, value);
    return make_range(constant, &value, &last);
}

/* --- Words ------------------------------------------------------------------------------------ */

static bool where_find_word(const struct field *field, const char *text, uint64_t *number)
{
    for (uint64_t i = 0; i < word_limit(field); i++) {
        const char *word = where_word_of(field, i);
        if (word && strcasecmp(word, text) == 0) {
            *number = i;
            return true;
        }
    }
    return false;
}

/* A read_fn: digits for a number that has a name. */
static bool read_digits(const struct field *field, const char *text, struct value *value)
{
    (void)field;
    value->type = VALUE_NUMBER;
    return form_digits(text, &value->number);
}

/* Parses a word, in any case. If the number can be shown without a name, also accepts digits. */
static struct predicate *parse_word(const struct constant *constant)
{
    const struct field *field = constant->field;
    const struct synonym *synonym = where_synonym(constant->parser->kind, field);
    const bool is_other = synonym && strcasecmp(synonym->other, constant->text) == 0;
    uint64_t number;

    const bool named = where_find_word(field, is_other ? synonym->word : constant->text, &number) ||
                       (field->type == VALUE_NAME && strncasecmp(constant->text, "0x", 2) == 0 &&
                        form_is_number(constant->text, UINT64_MAX, &number));
    struct predicate *numbers;

    if (named && (field->plain || field->type == VALUE_NAME))
        return where_compare(constant, where_a_number(number));
    if (named)
        return where_compare(
            constant, a_text(where_word_of(field, number), strlen(where_word_of(field, number))));
    if (field->type == VALUE_NAME && parse_range(constant, read_digits, &numbers))
        return numbers;
    const int protocol = field->type == VALUE_NAME && strcmp(field->name, "protocol") == 0
                             ? flow_protocol_of_word(constant->text)
                             : -1;
    return protocol < 0 ? refuse_word(constant)
                        : where_compare(constant, where_a_number((uint64_t)protocol));
}

const char *where_word(const struct field *field, uint64_t number)
{
    const bool is_word = field->type == VALUE_TEXT || field->type == VALUE_NAME;
    const bool words =
        field->type == VALUE_FLAGS ? field->flags != NULL : is_word && has_words(field);
    const char *word = words && number < word_limit(field) ? where_word_of(field, number) : NULL;
    uint64_t first;

    return word && *word && where_find_word(field, word, &first) && first == number ? word : NULL;
}

/* Parses a text. For a user or an interface, digits are its number; quoted digits are a name. */
static struct predicate *parse_text(const struct constant *constant)
{
    const bool numbered =
        constant->field->type == VALUE_NAME && constant->token.type != TOKEN_QUOTED;
    struct predicate *numbers;

    if (numbered && constant->comparison == TOKEN_EQUAL &&
        parse_range(constant, read_digits, &numbers))
        return numbers;
    return where_compare(constant, a_text(constant->text, constant->length));
}

/* Parses a unit, container or pod, also as people write it: web for web.service, all digits of an
 * id, a pod without its namespace. No value itself looks like that. */
static struct predicate *parse_of_group(const struct constant *constant)
{
    const bool is_unit = constant->field->index == offsetof(struct cgroup, unit);
    const bool is_pod = constant->field->index == offsetof(struct cgroup, pod);
    const bool is_name = constant->field->lookups & NEED_CONTAINERS;
    const bool is_id = strspn(constant->text, "0123456789abcdef") == 64 && constant->length == 64;
    const size_t size = constant->length + sizeof ".service";
    char *text;

    if (strchr(constant->text, is_unit ? '.' : '/') || !(is_unit || (is_pod && is_name)))
        return where_compare(constant,
                             a_text(constant->text, is_id && !is_name ? 12 : constant->length));
    text = parser_keep_bytes(constant->parser, size);
    if (!text)
        return NULL;
    snprintf(text, size, is_unit ? "%s.service" : "*/%s", constant->text);
    return compare_by(constant, is_unit ? PREDICATE_EQUAL : PREDICATE_LIKE,
                      a_text(text, strlen(text)));
}

/* Reverses escape_text(): \xHH and doubled backslashes. Returns the length, which does not grow. */
static size_t unescape(char *text, size_t length)
{
    size_t to = 0;

    for (size_t i = 0; i < length; i++, to++) {
        const char digits[] = {i + 3 < length ? text[i + 2] : 'g', text[i + 3 < length ? i + 3 : i],
                               '\0'};
        text[to] = text[i];
        if (text[i] == '\\' && i + 1 < length && text[i + 1] == '\\') {
            i++;
        } else if (text[i] == '\\' && i + 1 < length && text[i + 1] == 'x' &&
                   isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1])) {
            text[to] = (char)strtoul(digits, NULL, 16);
            i += 3;
        }
    }
    text[to] = '\0';
    return to;
}

/* Returns the text that tables show as the user typed it, if it differs from the typed text.
 * Otherwise, or if memory is exhausted, its data is NULL. */
static struct text as_shown(const struct constant *constant)
{
    char *text = strchr(constant->text, '\\') && constant->comparison == TOKEN_EQUAL
                     ? parser_keep(constant->parser, constant->text, constant->length)
                     : NULL;
    const size_t length = text ? unescape(text, constant->length) : 0;

    return (struct text){length < constant->length ? text : NULL, length};
}

/* Compares the name of a unix socket. Tables show NUL in an abstract name as @, and @ as \x40, so a
 * name that begins with @ is compared as a path and as an abstract name (~~ itself does that). */
static struct predicate *parse_socket_name(const struct constant *constant)
{
    struct predicate *made = parse_text(constant);
    const bool exact = constant->comparison == TOKEN_EQUAL;
    size_t length = constant->length;
    char *abstract, *shown;

    if (!made || constant->text[0] != '@' || constant->comparison == TOKEN_GLOB)
        return made;
    abstract = parser_keep(constant->parser, constant->text, length);
    shown = parser_keep(constant->parser, constant->text, length);
    if (!abstract || !shown)
        return NULL;
    *abstract = '\0';
    made = parser_join(constant->parser, PREDICATE_OR, made,
                       where_compare(constant, a_text(abstract, length)));
    for (char *at = shown; exact && (at = strchr(at, '@')); at++)
        *at = '\1'; /* marks an @ that was typed, not written as \x40 */
    length = unescape(shown, length);
    for (size_t i = 0; i < length; i++)
        shown[i] = shown[i] == '\1' ? '\0' : shown[i];
    if (!exact || memcmp(shown, abstract, length) == 0)
        return made;
    return parser_join(constant->parser, PREDICATE_OR, made,
                       where_compare(constant, a_text(shown, length)));
}

/* --- Addresses -------------------------------------------------------------------------------- */

/* A read_fn: an address. */
static bool read_address(const struct field *field, const char *text, struct value *value)
{
    (void)field;
    value->type = VALUE_ADDRESS;
    return form_address(text, strlen(text), FORM_OF_WHERE, &value->address);
}

/* Parses an address, a network, or a range of addresses. Returns NULL for other texts. */
static struct predicate *parse_plain_addresses(const struct constant *constant)
{
    struct address masked = mapped.address;
    struct predicate within, *made;

    if (!form_network(constant->text, FORM_OF_WHERE, constant->field, &within))
        return parse_range(constant, read_address, &made) ? made : NULL;
    made = parser_add(constant->parser, within);
    for (size_t i = 0; i < sizeof masked.bytes; i++)
        masked.bytes[i] &= within.mask.address[i];
    const bool has_mapped = address_equal(&masked, &within.constant.address);
    return has_mapped ? without_mapped(constant, made) : made;
}

/* The column with the port that belongs to an address, or NULL. */
static const struct field *where_port_of(const struct kind *kind, const char *address)
{
    static const char *const ends[][2] = {
        {"_address", "_port"}, {"src", "sport"}, {"dst", "dport"}};
    char name[64];

    for (size_t i = 0; i < COUNT(ends); i++) {
        const size_t length = strlen(address), tail = strlen(ends[i][0]);
        if (length < tail || strcmp(address + length - tail, ends[i][0]) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s%s", (int)(length - tail), address, ends[i][1]);
        return field_named(kind, name);
    }
    return NULL;
}

/* Compares with :: and 0.0.0.0, which tables show as *. */
static struct predicate *parse_unspecified(const struct constant *constant)
{
    struct predicate *all[2];

    for (size_t i = 0; i < COUNT(all); i++) {
        const struct address address = {.family = i ? AF_INET6 : AF_INET};
        all[i] = parser_add(constant->parser, predicate_address(constant->field, &address));
    }
    return parser_join(constant->parser, PREDICATE_OR, all[0], all[1]);
}

/* Compares the interface of the row. Without an interface the comparison is false, not unknown. */
static struct predicate *parse_interface(const struct constant *constant, const char *name)
{
    struct where_parser *parser = constant->parser;
    struct constant interface = *constant;
    struct predicate *made;
    uint64_t number;
    uint32_t index;

    interface.field = field_named(parser->kind, "interface");
    if (!interface.field)
        return parser_fail(parser, &constant->token, "%s have no column interface: %s",
                           parser->kind->name, "type the address without '%'");
    const bool digits = form_digits(name, &number), own = parser->where->interfaces_are_own;
    const bool missing = own && interfaces_find(name, &index) < 0;
    if (missing && !digits)
        return parser_fail(parser, &constant->token, "no interface has the name '%s'", TYPED(name));
    interface.text = parser_keep(parser, name, strlen(name));
    interface.length = strlen(name);
    if (!interface.text)
        return NULL;
    made = missing ? NULL : where_compare(&interface, a_text(interface.text, interface.length));
    if (digits) { /* an interface without a name is shown by its number */
        struct predicate *numbered = where_compare(&interface, where_a_number(number));
        made = made ? parser_join(parser, PREDICATE_OR, made, numbered) : numbered;
    }
    return parser_join(parser, PREDICATE_AND, parser_add(parser, predicate_known(interface.field)),
                       made);
}

/* Compares the port of the same end. Tables show port 0 as *. */
static struct predicate *parse_port(const struct constant *constant, const char *text)
{
    struct constant port = *constant;

    port.field = where_port_of(constant->parser->kind, constant->field->name);
    if (!port.field)
        return parser_fail(constant->parser, &constant->token, "%s has no port: '%s'",
                           constant->field->name, TOKEN_TYPED(&constant->token));
    port.text = strcmp(text, "*") == 0 ? "0" : text;
    port.length = strlen(port.text);
    return parse_numbers(&port);
}

/* The column "local" also shows names of unix sockets. Returns the column of names, or NULL. */
static const struct field *shows_paths(const struct where_parser *parser, const struct field *field)
{
    return parser->viewed && strcmp(field->name, "local_address") == 0
               ? field_named(parser->kind, "path")
               : NULL;
}

/* Parses a name of a unix socket. Returns NULL for an address with a mistake. */
static struct predicate *parse_path(const struct constant *constant)
{
    const char *text = constant->text;
    struct constant path = *constant;
    const bool is_name =
        *text == '@' || *text == '/' ||
        (text[strspn(text, "0123456789abcdefABCDEF:.-[]/*")] && !strchr(text, '%'));

    path.field = shows_paths(constant->parser, constant->field);
    return path.field && is_name ? parse_socket_name(&path) : NULL;
}

/* Parses an address with its interface or port, as tables show them, or an address alone. */
static struct predicate *parse_addresses(const struct constant *constant)
{
    struct constant address = *constant;
    struct predicate *made = parse_plain_addresses(constant);
    struct form_end end;

    if (made || constant->parser->where->message[0])
        return made;
    if (constant->comparison == TOKEN_EQUAL && form_end(constant->text, &end)) {
        address.text = end.address;
        address.length = strlen(end.address);
        made = strcmp(end.address, "*") == 0 ? parse_unspecified(constant)
                                             : parse_plain_addresses(&address);
    }
    if (!made && (made = parse_path(constant)))
        return made;
    if (!made)
        return constant_refuse(
            constant, "addresses, such as 192.0.2.1, 10.0.0.0/8, 2001:db8::/32 or fe80::1%eth0");
    if (*end.interface)
        made = parser_join(constant->parser, PREDICATE_AND, made,
                           parse_interface(constant, end.interface));
    return end.port
               ? parser_join(constant->parser, PREDICATE_AND, made, parse_port(constant, end.port))
               : made;
}

/* Parses a MAC address. For a tunnel, it is an IP address. */
static struct predicate *parse_lladdr(const struct constant *constant)
{
    uint8_t bytes[LLADDR_MAX];
    size_t count = form_lladdr(constant->text, bytes);
    struct value ip;
    char *kept;

    if (!count && read_address(constant->field, constant->text, &ip)) {
        count = address_size(&ip.address);
        memcpy(bytes, ip.address.bytes, count);
    }
    if (!count)
        return constant_refuse(constant, "MAC addresses, such as 02:00:5e:10:00:ff");
    kept = parser_keep(constant->parser, (const char *)bytes, count);
    return kept ? where_compare(constant,
                                (struct value){.type = VALUE_LLADDR, .text = {kept, count}})
                : NULL;
}

/* --- Elements of sets ------------------------------------------------------------------------- */

static struct predicate *parse_flag(const struct constant *constant)
{
    struct predicate masked = {
        .operation = PREDICATE_MASKED, .field = constant->field, .constant.type = VALUE_FLAGS};
    const struct flag_names *names = constant->field->flags;
    const bool named = names && names->count;
    uint64_t bit = VALUE_FLAG_BITS;

    if (!form_digits(constant->text, &bit) && !named)
        return parse_text(constant);
    if (!(named && where_find_word(constant->field, constant->text, &bit)) &&
        bit >= VALUE_FLAG_BITS)
        return named ? refuse_word(constant)
                     : constant_refuse(constant, "names, or bit numbers below 128");
    masked.mask.bits[bit / 64] = masked.constant.flags.bits[bit / 64] = UINT64_C(1) << bit % 64;
    return parser_add(constant->parser, masked);
}

static struct predicate *parse_owner(const struct constant *constant)
{
    struct value number;

    return constant->token.type != TOKEN_QUOTED &&
                   read_digits(constant->field, constant->text, &number)
               ? where_compare(constant, number)
               : parse_text(constant);
}

/* --- Parsers by type -------------------------------------------------------------------------- */

/* What the values of the field are, if they have no order; else NULL. */
static const char *unordered_values(const struct field *field)
{
    const bool words = field->type == VALUE_FLAGS ? field->flags && field->flags->count
                                                  : has_words(field) && field->type != VALUE_OWNERS;

    if (value_is_number(field->type) || field->type == VALUE_TIME)
        return NULL;
    if (field->type == VALUE_BOOLEAN)
        return "true and false";
    if (field->type == VALUE_ADDRESS || field->type == VALUE_NETWORKS)
        return "addresses";
    return words ? "words" : "texts";
}

static struct predicate *parse_named(const struct constant *constant)
{
    if (constant->field->lookups & NEED_OWNERS_CGROUPS)
        return parse_of_group(constant);
    return has_words(constant->field) ? parse_word(constant) : parse_text(constant);
}

/* Without VALUE_VIEW (another column is compared) and VALUE_NETWORK (only groups have it). */
static struct predicate *(*const parsers[])(const struct constant *constant) = {
    [VALUE_NUMBER] = parse_numbers,
    [VALUE_DECIMAL] = parse_numbers,
    [VALUE_FINE] = parse_numbers,
    [VALUE_SIGNED] = parse_numbers,
    [VALUE_BOOLEAN] = parse_boolean,
    [VALUE_TIME] = parse_time,
    [VALUE_TEXT] = parse_named,
    [VALUE_NAME] = parse_named,
    [VALUE_SOCKET_NAME] = parse_socket_name,
    [VALUE_ADDRESS] = parse_addresses,
    [VALUE_NETWORKS] = parse_addresses,
    [VALUE_NAMES] = parse_text,
    [VALUE_LLADDR] = parse_lladdr,
    [VALUE_FLAGS] = parse_flag,
    [VALUE_OWNERS] = parse_owner,
    [VALUE_VIEW] = NULL,
};

static struct predicate *parse_by_type(const struct constant *constant)
{
    const enum value_type type = constant->field->type;
    const char *unordered = unordered_values(constant->field);

    if (unordered && (constant->comparison == TOKEN_LESS || constant->comparison == TOKEN_GREATER))
        return constant_refuse_order(constant, unordered);
    if (is_pattern(constant->comparison) && type != VALUE_SOCKET_NAME)
        return parse_text(constant);
    return parsers[type] ? parsers[type](constant) : NULL;
}

static bool takes_text(const struct constant *constant)
{
    const enum value_type type = constant->field->type;

    return type == VALUE_TEXT || type == VALUE_NAME || type == VALUE_NAMES ||
           type == VALUE_OWNERS || type == VALUE_SOCKET_NAME;
}

/* A dash, which tables show if the value is unknown, the text is empty, or the set is empty. A text
 * that is a dash itself is shown as \x2d. */
static struct predicate *parse_dash(struct where_parser *parser, const struct field *field)
{
    const struct field *one = field; /* for owners: a column of the first owner */

    while (field->type == VALUE_OWNERS && one > parser->kind->fields && one[-1].owner)
        one--;
    struct predicate *none = parser_negate(parser, parser_add(parser, predicate_known(one)));
    const struct field *path = shows_paths(parser, field);
    struct predicate empty = {.field = field};

    if (path)
        return parser_join(parser, PREDICATE_AND, none, parse_dash(parser, path));

    if (field->type == VALUE_FLAGS) {
        empty.operation = PREDICATE_MASKED;
        empty.constant.type = VALUE_FLAGS;
        memset(&empty.mask.bits, 0xff, sizeof empty.mask.bits);
    } else if (field->type == VALUE_TEXT || field->type == VALUE_SOCKET_NAME) {
        empty.operation = PREDICATE_EQUAL;
        empty.constant = a_text("", 0);
    } else {
        return none;
    }
    return parser_join(parser, PREDICATE_OR, none, parser_add(parser, empty));
}

/* Parses a value of the column, or another column to compare it with. */
static struct predicate *where_parse_value(struct constant *constant)
{
    const struct field *field = constant->field;
    const enum token_type comparison = constant->comparison;
    struct predicate *made;
    struct value ignored;

    if (constant_column(constant, &made))
        return made;
    if (field->lookups & NEED_MACHINE && read_address(field, constant->text, &ignored))
        return constant_refuse(constant, "the name of a machine (--host= takes addresses)");
    if (field->owner && (comparison == TOKEN_EQUAL || is_pattern(comparison))) {
        if (field->type == VALUE_NUMBER && !read_digits(field, constant->text, &ignored))
            return constant_refuse(constant, "process ids, such as 812");
        if (field->type == VALUE_NUMBER) /* also in quotes, because it is not a name */
            constant->token.type = TOKEN_WORD;
        constant->field = field_owners(field);
    }
    if (is_pattern(comparison) &&
        (value_is_number(field->type) || field->type == VALUE_BOOLEAN || field->type == VALUE_TIME))
        return parser_fail(constant->parser, &constant->token,
                           "%s has no text to compare with a pattern", field->name);
    made = parse_by_type(constant);
    const struct text shown =
        made && takes_text(constant) ? as_shown(constant) : (struct text){NULL, 0};
    if (!shown.data)
        return made;
    constant->text = shown.data;
    constant->length = shown.length;
    return parser_join(constant->parser, PREDICATE_OR, made, parse_by_type(constant));
}

/* Parses COLUMN=VALUE,..., which is how a view shows several columns. Returns NULL otherwise. */
static struct predicate *parse_parts(const struct constant *constant)
{
    struct where_parser *parser = constant->parser;
    const char *list = constant->text;
    struct predicate *all = NULL;

    if (!parser->viewed || constant->comparison != TOKEN_EQUAL)
        return NULL;
    for (struct text part; text_next(&list, ',', &part);) {
        const char *sign = memchr(part.data, '=', part.length);
        const size_t name = sign ? (size_t)(sign - part.data) : 0;
        struct constant one = *constant;
        one.field = name ? field_find(parser->kind, part.data, name) : NULL;
        if (!one.field || one.field->type == VALUE_VIEW)
            return NULL;
        one.length = part.length - name - 1;
        one.text = parser_keep(parser, sign + 1, one.length);
        struct predicate *made = one.text ? where_parse_value(&one) : NULL;
        all = all ? parser_join(parser, PREDICATE_AND, all, made) : made;
        if (!all)
            return NULL;
    }
    return all;
}

struct predicate *parser_constant(struct where_parser *parser, const struct field *field,
                                  enum token_type comparison, const struct token *value)
{
    struct constant constant = {parser, field, comparison, *value, NULL, 0};
    char *text = parser_keep(parser, value->text.data, value->text.length);
    const char quote = value->type == TOKEN_QUOTED ? value->text.data[-1] : '\0';
    struct predicate *made;

    if (!text)
        return NULL;
    if (comparison == TOKEN_EQUAL && value->type == TOKEN_WORD && text_is(value->text, "-"))
        return parse_dash(parser, field);
    for (size_t i = 0; i < value->text.length; i++) {
        text[constant.length++] = value->text.data[i];
        i += quote && value->text.data[i] == quote; /* skip the second of two quotes */
    }
    text[constant.length] = '\0';
    constant.text = text;
    made = parse_parts(&constant);
    return made || parser->where->message[0] ? made : where_parse_value(&constant);
}
