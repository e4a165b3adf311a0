/* SPDX-License-Identifier: MIT */
/* The values of --where: each must be one that its column can have. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "cli/where/parser.h"
#include "fastnet/array.h"
#include "fastnet/lookup.h"

/* The numbers that could have a name are below this. */
static uint64_t word_limit(const struct field *field)
{
    return field->type == VALUE_FLAGS      ? field->flags->count
           : field->member == MEMBER_UINT8 ? UINT8_MAX + 1u
                                           : UINT16_MAX + 1u;
}

/* Words of a number that has 32 bits, and is nothing without a name, are those of its bits. */
static bool has_words(const struct field *field)
{
    return field->word && (field->member != MEMBER_UINT32 || field->type == VALUE_NAME);
}

/* One value under way. */
struct constant {
    struct parser *parser;
    const struct field *field;
    enum token_type comparison; /* = < > ~ ~~ */
    struct token token;
    const char *text; /* the token's, with its quotes undone and terminated */
    size_t length;
};

static bool is_pattern(enum token_type comparison)
{
    return comparison == TOKEN_LIKE || comparison == TOKEN_GLOB;
}

/* --- What is wrong ---------------------------------------------------------------------------- */

static struct predicate *refuse(const struct constant *constant, const char *wanted)
{
    return parser_fail(constant->parser, &constant->token, "%s takes %s, not '%s'",
                       constant->parser->listed ? "it" : constant->field->name, wanted,
                       TOKEN_SAID(&constant->token));
}

static struct predicate *refuse_range(const struct constant *constant)
{
    return parser_fail(constant->parser, &constant->token, "this range begins above its end");
}

/* The names that a field's numbers have, some of them twice. */
static const char *word_of(const struct field *field, uint64_t number)
{
    return field->type == VALUE_FLAGS ? field->flags->names[number] : field->word(number);
}

static struct predicate *refuse_word(const struct constant *constant)
{
    const struct field *field = constant->field;
    const struct synonym *synonym = where_synonym(constant->parser->kind, field);
    struct nearest nearest = nearest_to(constant->text, constant->length);
    const char *typed = TOKEN_SAID(&constant->token);
    char words[160] = "";
    size_t length = 0;
    bool more = false;

    if (synonym)
        nearest_offer(&nearest, synonym->other);
    for (uint64_t i = 0; i < word_limit(field); i++) {
        const char *word = word_of(field, i);
        if (!word || !*word)
            continue;
        nearest_offer(&nearest, word);
        if (more)
            continue;
        const int added =
            snprintf(words + length, sizeof words - length, "%s%s", length ? ", " : "", word);
        more = length + (size_t)added >= sizeof words;
        length += more ? 0 : (size_t)added;
        words[length] = '\0'; /* no part of a word */
    }
    if (nearest.word)
        return parser_fail(constant->parser, &constant->token, "no %s '%s'%s", field->name, typed,
                           HINT(&nearest, ""));
    return parser_fail(constant->parser, &constant->token, "no %s '%s'; it can be %s%s",
                       field->name, typed, words, more ? ", ..." : "");
}

/* --- Comparisons ------------------------------------------------------------------------------ */

static struct predicate *compare(const struct constant *constant, struct value value)
{
    const enum predicate_operator operation =
        constant->comparison == TOKEN_LESS      ? PREDICATE_BELOW
        : constant->comparison == TOKEN_GREATER ? PREDICATE_ABOVE
        : constant->comparison == TOKEN_LIKE    ? PREDICATE_LIKE
        : constant->comparison == TOKEN_GLOB    ? PREDICATE_GLOB
                                                : PREDICATE_EQUAL;

    return parser_add(
        constant->parser,
        (struct predicate){.operation = operation, .field = constant->field, .constant = value});
}

static struct value a_number(uint64_t number)
{
    return (struct value){.type = VALUE_NUMBER, .number = number};
}

static struct predicate *compare_text(const struct constant *constant, const char *text,
                                      size_t length)
{
    return compare(constant, (struct value){.type = VALUE_TEXT, .text = {text, length}});
}

/* From the first to the last: not below the first, and not above the last. Keeps both numbers. */
static struct predicate *make_range(const struct constant *constant, struct value first,
                                    struct value last)
{
    const bool numbers = first.type == VALUE_NUMBER;
    struct number_range *kept = numbers ? parser_keep_bytes(constant->parser, sizeof *kept) : NULL;
    struct constant end = *constant;
    struct predicate *below, *above, *range;

    end.comparison = TOKEN_LESS;
    below = parser_negate(end.parser, compare(&end, first));
    end.comparison = TOKEN_GREATER;
    above = parser_negate(end.parser, compare(&end, last));
    range = parser_join(end.parser, PREDICATE_AND, below, above);
    if (!range || !kept)
        return numbers ? NULL : range;
    *kept = (struct number_range){first.number, last.number};
    range->ranges.first = kept;
    range->ranges.count = 1;
    return range;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

enum { MILLION = 1000000 };

/* Powers of 1024; times in microseconds. */
static bool find_suffix(bool time, const char *text, uint64_t *factor)
{
    static const struct {
        const char *name;
        bool time;
        uint64_t factor;
    } suffixes[] = {
        {"k", false, UINT64_C(1) << 10},
        {"K", false, UINT64_C(1) << 10},
        {"M", false, UINT64_C(1) << 20},
        {"G", false, UINT64_C(1) << 30},
        {"T", false, UINT64_C(1) << 40},
        {"us", true, 1},
        {"ms", true, 1000},
        {"s", true, 1000000},
        {"m", true, 60 * UINT64_C(1000000)},
        {"h", true, 3600 * UINT64_C(1000000)},
        {"d", true, 86400 * UINT64_C(1000000)},
    };

    for (size_t i = 0; i < COUNT(suffixes); i++)
        if (suffixes[i].time == time && strcmp(suffixes[i].name, text) == 0) {
            *factor = suffixes[i].factor;
            return true;
        }
    return false;
}

/* Digits, and up to six decimals as millionths. NULL if there are none, or too many. */
static const char *take_decimal(const char *text, uint64_t *whole, unsigned *millionths)
{
    unsigned weight = MILLION / 10;

    *whole = *millionths = 0;
    if (!isdigit((unsigned char)*text))
        return NULL;
    for (; isdigit((unsigned char)*text); text++)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, (unsigned)(*text - '0'), whole))
            return NULL;
    if (*text != '.')
        return text;
    for (text++; isdigit((unsigned char)*text) && weight; text++, weight /= 10)
        *millionths += weight * (unsigned)(*text - '0');
    return text;
}

/* How many of the numbers that stand for a field's values make one. */
static uint64_t parts_of(const struct field *field)
{
    return field->type == VALUE_FINE ? MILLION : field->type == VALUE_DECIMAL ? 1000 : 1;
}

/*
 * A number in the unit of the field: thousandths or millionths where it has decimals. Returns false
 * if it is none, or not whole where only whole ones can be.
 */
static bool parse_number(const struct field *field, const char *text, uint64_t *number)
{
    const bool time = field->unit == UNIT_SECONDS, decimal = parts_of(field) > 1;
    const uint64_t divisor = time || decimal ? MILLION / parts_of(field) : 1;
    uint64_t whole, factor = time || decimal ? MILLION : 1;
    unsigned millionths;

    if (!time && !decimal && strncasecmp(text, "0x", 2) == 0)
        return form_is_number(text, UINT64_MAX, number);
    text = take_decimal(text, &whole, &millionths);
    if (!text)
        return false;
    if (*text && !((time || !decimal) && find_suffix(time, text, &factor)))
        return false;
    if (__builtin_mul_overflow(whole, factor, number) || millionths * factor % MILLION ||
        __builtin_add_overflow(*number, millionths * factor / MILLION, number) || *number % divisor)
        return false;
    *number /= divisor;
    return true;
}

static const char *numbers_of(const struct field *field)
{
    if (field->port)
        return "ports, as 443, 8000-8999 or https";
    if (field->unit == UNIT_SECONDS)
        return "times, as 50ms, 1.5s, 2m or 1h";
    if (field->unit == UNIT_BYTES)
        return "numbers of bytes, as 1500 or 64k";
    return field->type == VALUE_SIGNED ? "numbers, as 7, -7 or 1-9" : "numbers, as 7 or 1-9";
}

/* The same as a value of the field: it may be signed. */
static bool parse_value(const struct field *field, const char *text, struct value *value)
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

/* Two values with this sign between them. False: the text is something else. */
static bool cut(const char *text, char sign, char first[TOKEN_TYPED], const char **second)
{
    const char *at = strchr(text, sign);

    if (!at || at == text || (size_t)(at - text) >= TOKEN_TYPED)
        return false;
    memcpy(first, text, (size_t)(at - text));
    first[at - text] = '\0';
    *second = at + 1;
    return true;
}

static struct predicate *parse_service(const struct constant *constant)
{
    uint16_t ports[16];
    const size_t count = services_ports(NULL, constant->text, NULL, ports, COUNT(ports));
    struct predicate *all;

    if (!count || constant->comparison != TOKEN_EQUAL)
        return refuse(constant, numbers_of(constant->field));
    all = compare(constant, a_number(ports[0]));
    for (size_t i = 1; i < count; i++)
        all =
            parser_join(constant->parser, PREDICATE_OR, all, compare(constant, a_number(ports[i])));
    return all;
}

/* NUMBER/MASK: the bits of the mask are those of the number. */
static struct predicate *parse_masked(const struct constant *constant)
{
    struct predicate masked = {.operation = PREDICATE_MASKED, .field = constant->field};
    const char *mask;
    char first[TOKEN_TYPED];

    if (constant->comparison != TOKEN_EQUAL || constant->field->type != VALUE_NUMBER ||
        constant->field->unit != UNIT_NONE || constant->field->port ||
        !cut(constant->text, '/', first, &mask) ||
        !parse_value(constant->field, first, &masked.constant) ||
        !parse_number(constant->field, mask, &masked.mask.bits[0]))
        return NULL;
    return parser_add(constant->parser, masked);
}

static struct predicate *parse_numbers(const struct constant *constant)
{
    const struct field *field = constant->field;
    char first[TOKEN_TYPED];
    const char *last;
    struct value from, to;
    struct predicate *masked = parse_masked(constant);

    if (masked)
        return masked;
    if (parse_value(field, constant->text, &from))
        return field->port && from.number > UINT16_MAX ? refuse(constant, numbers_of(field))
                                                       : compare(constant, from);
    if (constant->comparison == TOKEN_EQUAL && cut(constant->text, '-', first, &last) &&
        parse_value(field, first, &from) && parse_value(field, last, &to))
        return field->type != VALUE_SIGNED && from.number > to.number
                   ? refuse_range(constant)
                   : make_range(constant, from, to);
    return field->port ? parse_service(constant) : refuse(constant, numbers_of(field));
}

/* --- Booleans and times ----------------------------------------------------------------------- */

static struct predicate *parse_boolean(const struct constant *constant)
{
    static const char words[][6] = {"false", "true", "no", "yes", "0", "1"};

    for (size_t i = 0; i < COUNT(words); i++)
        if (strcasecmp(words[i], constant->text) == 0)
            return compare(constant, a_number(i % 2));
    return refuse(constant, "= true or = false");
}

/* What follows the second: Z, nothing, or the distance from UTC: +01:00. */
static bool take_zone(const char *text, int64_t *seconds)
{
    struct tm distance = {0};

    *seconds = 0;
    if (!*text || strcasecmp(text, "Z") == 0)
        return true;
    if (*text != '+' && *text != '-')
        return false;
    const char *end = strptime(text + 1, "%H:%M", &distance);
    *seconds = (*text == '-' ? -60 : 60) * (int64_t)(distance.tm_hour * 60 + distance.tm_min);
    return end && !*end;
}

/* Whether the month has that day: timegm(3) takes the 30th of February for a day of March. */
static bool is_day(const struct tm *time)
{
    struct tm day = {.tm_year = time->tm_year, .tm_mon = time->tm_mon, .tm_mday = time->tm_mday};

    timegm(&day);
    return day.tm_mday == time->tm_mday;
}

/* In seconds since 1970, or as RFC 3339 has it; hours, minutes and seconds may be missing. */
static bool parse_moment(const char *text, uint64_t *nanoseconds)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
    uint64_t seconds = 0, second = 0;
    unsigned millionths = 0;
    const char *end = take_decimal(text, &seconds, &millionths);
    int64_t distance = 0;

    for (size_t i = 0; i < COUNT(forms) && (!end || *end); i++) {
        struct tm time = {0};
        end = strptime(text, forms[i], &time);
        end = end && is_day(&time) ? end : NULL;
        seconds = end ? (uint64_t)timegm(&time) : 0;
        if (end && *end == '.')
            end = take_decimal(end - 1, &second, &millionths);
        if (end && take_zone(end, &distance))
            end = "";
    }
    return end && !*end && !__builtin_sub_overflow(seconds, distance, &seconds) &&
           !__builtin_mul_overflow(seconds, UINT64_C(1000000000), nanoseconds) &&
           !__builtin_add_overflow(*nanoseconds, millionths * UINT64_C(1000), nanoseconds);
}

static struct predicate *parse_time(const struct constant *constant)
{
    struct value value = {.type = VALUE_TIME};

    if (!parse_moment(constant->text, &value.number))
        return refuse(constant, "times, as 2026-11-22T21:30:00Z or 2026-11-22");
    return compare(constant, value);
}

/* --- Words ------------------------------------------------------------------------------------ */

static bool find_word(const struct field *field, const char *text, uint64_t *number)
{
    for (*number = 0; *number < word_limit(field); ++*number) {
        const char *word = word_of(field, *number);
        if (word && strcasecmp(word, text) == 0)
            return true;
    }
    return false;
}

/* Digits, or a range of them, stand for numbers that have names. False: the text is neither. */
static bool parse_digits(const struct constant *constant, struct predicate **numbers)
{
    char first[TOKEN_TYPED];
    const char *last;
    uint64_t from, to;

    if (form_is_digits(constant->text)) {
        *numbers = compare(constant, a_number(strtoull(constant->text, NULL, 10)));
        return true;
    }
    if (!cut(constant->text, '-', first, &last) || !form_is_digits(first) || !form_is_digits(last))
        return false;
    from = strtoull(first, NULL, 10);
    to = strtoull(last, NULL, 10);
    *numbers =
        from > to ? refuse_range(constant) : make_range(constant, a_number(from), a_number(to));
    return true;
}

const struct synonym *where_synonym(const struct kind *kind, const struct field *field)
{
    const struct synonym *synonym = kind->synonym;

    return synonym && strcmp(synonym->column, field->name) == 0 ? synonym : NULL;
}

/* In any case of letters; a number that can be shown without a name also by its digits. */
static struct predicate *parse_word(const struct constant *constant)
{
    const struct field *field = constant->field;
    const struct synonym *synonym = where_synonym(constant->parser->kind, field);
    const bool is_other = synonym && strcasecmp(synonym->other, constant->text) == 0;
    uint64_t number;

    if (!find_word(field, is_other ? synonym->word : constant->text, &number)) {
        struct predicate *numbers;
        if (field->type == VALUE_NAME && strncasecmp(constant->text, "0x", 2) == 0 &&
            form_is_number(constant->text, UINT64_MAX, &number))
            return compare(constant, a_number(number));
        return field->type == VALUE_NAME && parse_digits(constant, &numbers)
                   ? numbers
                   : refuse_word(constant);
    }
    if (field->plain || field->type == VALUE_NAME)
        return compare(constant, a_number(number));
    return compare_text(constant, word_of(field, number), strlen(word_of(field, number)));
}

const char *where_word(const struct field *field, uint64_t number)
{
    const bool is_word = field->type == VALUE_TEXT || field->type == VALUE_NAME;
    const bool words =
        field->type == VALUE_FLAGS ? field->flags != NULL : is_word && has_words(field);
    const char *word = words && number < word_limit(field) ? word_of(field, number) : NULL;
    uint64_t first;

    return word && *word && find_word(field, word, &first) && first == number ? word : NULL;
}

/* Digits stand for the number of a user or an interface; in quotes they are a name. */
static struct predicate *parse_text(const struct constant *constant)
{
    const bool numbered =
        constant->field->type == VALUE_NAME && constant->token.type != TOKEN_QUOTED;
    struct predicate *numbers;

    if (numbered && constant->comparison == TOKEN_EQUAL && parse_digits(constant, &numbers))
        return numbers;
    return compare_text(constant, constant->text, constant->length);
}

/*
 * What a control group tells, also as people name it: web for web.service, all digits of an id, a
 * pod without its namespace. No value has these forms itself.
 */
static struct predicate *parse_of_group(const struct constant *constant)
{
    const bool is_unit = constant->field->index == offsetof(struct cgroup, unit);
    const bool is_pod = constant->field->index == offsetof(struct cgroup, pod);
    const bool is_name = constant->field->lookups & NEED_CONTAINERS;
    const bool is_id = strspn(constant->text, "0123456789abcdef") == 64 && constant->length == 64;
    const size_t size = constant->length + sizeof ".service";
    struct constant whole = *constant;
    char *text;

    if (strchr(constant->text, is_unit ? '.' : '/') || !(is_unit || (is_pod && is_name)))
        return compare_text(constant, constant->text, is_id && !is_name ? 12 : constant->length);
    text = parser_keep_bytes(constant->parser, size);
    if (!text)
        return NULL;
    whole.comparison = is_unit ? TOKEN_EQUAL : TOKEN_LIKE;
    snprintf(text, size, is_unit ? "%s.service" : "*/%s", constant->text);
    return compare_text(&whole, text, strlen(text));
}

/* What is shown with @ is an abstract name, which begins with NUL, or a path; to ~~ both are. */
static struct predicate *parse_socket_name(const struct constant *constant)
{
    struct predicate *path = parse_text(constant);
    char *abstract;

    if (!path || constant->text[0] != '@' || constant->comparison == TOKEN_GLOB)
        return path;
    abstract = parser_keep(constant->parser, constant->text, constant->length);
    if (!abstract)
        return NULL;
    *abstract = '\0';
    return parser_join(constant->parser, PREDICATE_OR, path,
                       compare_text(constant, abstract, constant->length));
}

/* --- Addresses -------------------------------------------------------------------------------- */

static struct value address_value(const struct address *address)
{
    return (struct value){.type = VALUE_ADDRESS, .address = *address};
}

/* Among addresses of IPv6 there are IPv4-mapped ones, which are not meant. */
static struct predicate *without_mapped(const struct constant *constant, uint8_t family,
                                        struct predicate *part)
{
    struct predicate mapped = {
        .operation = PREDICATE_WITHIN,
        .field = constant->field,
        .constant = {.type = VALUE_ADDRESS, .address = {AF_INET6, {[10] = 0xff, [11] = 0xff}}}};

    if (!part || family != AF_INET6)
        return part;
    memset(mapped.mask.address, 0xff, 12);
    return parser_join(constant->parser, PREDICATE_AND, part,
                       parser_negate(constant->parser, parser_add(constant->parser, mapped)));
}

/* Whether an IPv4-mapped address could be in the network. */
static bool has_mapped(const struct predicate *within)
{
    static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff};
    const struct address *network = &within->constant.address;

    for (size_t i = 0; i < sizeof mapped; i++)
        if ((mapped[i] & within->mask.address[i]) != network->bytes[i])
            return false;
    return network->family == AF_INET6;
}

static bool parse_address(const char *text, struct address *address)
{
    return form_address(text, strlen(text), FORM_OF_WHERE, address);
}

/* As networks: of a list of addresses, one and the same must be in one of them. */
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

static struct predicate *parse_address_range(const struct constant *constant)
{
    struct address first, last;
    char text[TOKEN_TYPED];
    const char *end;

    if (!cut(constant->text, '-', text, &end) || !parse_address(text, &first) ||
        !parse_address(end, &last) || first.family != last.family)
        return refuse(constant, "addresses, as 192.0.2.1, 10.0.0.0/8 or 2001:db8::/32");
    if (memcmp(first.bytes, last.bytes, sizeof first.bytes) > 0)
        return refuse_range(constant);
    if (constant->field->type == VALUE_NETWORKS)
        return make_networks(constant, first, &last);
    return without_mapped(constant, first.family,
                          make_range(constant, address_value(&first), address_value(&last)));
}

static struct predicate *parse_addresses(const struct constant *constant)
{
    struct predicate within;
    struct address address;

    if (parse_address(constant->text, &address))
        return compare(constant, address_value(&address));
    if (form_network(constant->text, FORM_OF_WHERE, constant->field, &within))
        return without_mapped(constant, has_mapped(&within) ? AF_INET6 : AF_UNSPEC,
                              parser_add(constant->parser, within));
    return parse_address_range(constant);
}

/* Bytes by colons, two digits each. Returns how many; 0 if the text is something else. */
static size_t parse_bytes(const char *text, uint8_t bytes[LLADDR_MAX])
{
    size_t count = 0;

    for (;; text++) {
        const char digits[] = {text[0], text[0] ? text[1] : '\0', '\0'};
        if (count == LLADDR_MAX || !isxdigit((unsigned char)digits[0]) ||
            !isxdigit((unsigned char)digits[1]))
            return 0;
        bytes[count++] = (uint8_t)strtoul(digits, NULL, 16);
        text += 2;
        if (*text != ':')
            return *text ? 0 : count;
    }
}

/* That of a tunnel is an IP address. */
static struct predicate *parse_lladdr(const struct constant *constant)
{
    uint8_t bytes[LLADDR_MAX];
    size_t count = parse_bytes(constant->text, bytes);
    struct address address;
    char *kept;

    if (!count && parse_address(constant->text, &address)) {
        count = address_size(&address);
        memcpy(bytes, address.bytes, count);
    }
    if (!count)
        return refuse(constant, "link-layer addresses, as 02:00:5e:10:00:ff");
    kept = parser_keep(constant->parser, (const char *)bytes, count);
    return kept ? compare(constant, (struct value){.type = VALUE_LLADDR, .text = {kept, count}})
                : NULL;
}

/* --- Sets: one of their elements -------------------------------------------------------------- */

static struct predicate *parse_flag(const struct constant *constant)
{
    struct predicate masked = {
        .operation = PREDICATE_MASKED, .field = constant->field, .constant.type = VALUE_FLAGS};
    const struct flag_names *names = constant->field->flags;
    const bool named = names && names->count;
    uint64_t bit;

    if (!named && !form_is_digits(constant->text))
        return parse_text(constant);
    if (!named || !find_word(constant->field, constant->text, &bit)) {
        bit = form_is_digits(constant->text) ? strtoull(constant->text, NULL, 10) : VALUE_FLAG_BITS;
        if (bit >= VALUE_FLAG_BITS)
            return named ? refuse_word(constant) : refuse(constant, "names, or bits below 128");
    }
    masked.mask.bits[bit / 64] = masked.constant.flags.bits[bit / 64] = UINT64_C(1) << bit % 64;
    return parser_add(constant->parser, masked);
}

static struct predicate *parse_owner(const struct constant *constant)
{
    if (constant->token.type == TOKEN_QUOTED || !form_is_digits(constant->text))
        return parse_text(constant);
    return compare(constant, a_number(strtoull(constant->text, NULL, 10)));
}

/* --- Other columns ---------------------------------------------------------------------------- */

/*
 * Why two columns do not compare; NULL: they do. A number without a unit may be of any, and a
 * factor is for numbers.
 */
static const char *what_differs(const struct field *one, const struct field *other, bool factor)
{
    const bool numbers = value_is_number(one->type) && value_is_number(other->type);

    if (one->owner || other->owner)
        return "there may be several processes";
    if (numbers && one->unit != other->unit && one->unit && other->unit)
        return "their units differ";
    return numbers || (one->type == other->type && !factor) ? NULL : "both must be numbers";
}

/* What COLUMN or FACTOR*COLUMN names; the factor in millionths. NULL: the text is neither. */
static const char *column_name(const char *text, uint64_t *factor)
{
    enum { FACTOR_MAX = 1000000000 };
    static const char blanks[] = " \t\n";
    unsigned millionths;
    uint64_t whole;

    *factor = MILLION;
    if (!isdigit((unsigned char)*text))
        return text;
    text = take_decimal(text, &whole, &millionths);
    text = text ? text + strspn(text, blanks) : "";
    if (*text != '*' || whole > FACTOR_MAX)
        return NULL;
    *factor = whole * MILLION + millionths;
    return text + 1 + strspn(text + 1, blanks);
}

static struct predicate *compare_column(const struct constant *constant, const struct field *other,
                                        uint64_t factor)
{
    const struct field *field = constant->field;
    const char *differs = what_differs(field, other, factor != MILLION);
    struct predicate comparison = {
        .operation = constant->comparison == TOKEN_LESS      ? PREDICATE_BELOW_COLUMN
                     : constant->comparison == TOKEN_GREATER ? PREDICATE_ABOVE_COLUMN
                                                             : PREDICATE_EQUAL_COLUMN,
        .field = field,
        .constant = {.type = VALUE_FINE, .number = factor}};
    struct predicate *known;

    if (differs) /* there may be newlines around the sign */
        return parser_fail(constant->parser, &constant->token,
                           "%s cannot be compared with '%s': %s", field->name,
                           TOKEN_SAID(&constant->token), differs);
    if (field->type == VALUE_ADDRESS && constant->comparison != TOKEN_EQUAL)
        return refuse(constant, "addresses, which have no order");
    known = parser_add(constant->parser, predicate_known(other));
    if (known)
        predicate_add(&comparison, known);
    return known ? parser_add(constant->parser, comparison) : NULL;
}

/* COLUMN*FACTOR, which hands type as well; NULL if it is something else. */
static const struct field *column_before_factor(const struct constant *constant,
                                                const char **factor)
{
    const size_t length = strcspn(constant->text, " \t\n*");

    *factor = constant->text + length + strspn(constant->text + length, " \t\n*");
    return length && isdigit((unsigned char)**factor)
               ? field_compared(constant->parser->kind, constant->text, length)
               : NULL;
}

/* A word that could be no value may name a column. Returns false if it does not. */
static bool parse_column(const struct constant *constant, struct predicate **comparison)
{
    const struct field *field = constant->field, *other, *swapped;
    struct parser *parser = constant->parser;
    char message[NO_COLUMN];
    uint64_t factor;
    const char *behind, *name = column_name(constant->text, &factor);

    if (!name || parser->listed || constant->token.type != TOKEN_WORD ||
        is_pattern(constant->comparison) ||
        (!value_is_number(field->type) && field->type != VALUE_TIME &&
         field->type != VALUE_ADDRESS))
        return false;
    other = field_compared(parser->kind, name, strlen(name));
    if (name == constant->text && (swapped = column_before_factor(constant, &behind))) {
        *comparison = parser_fail(parser, &constant->token, "the number comes first: %s*%s", behind,
                                  swapped->name);
        return true;
    }
    if (name == constant->text && (!other || (field->port && !other->port)))
        return false; /* a port may be a service */
    *comparison = other ? compare_column(constant, other, factor)
                        : parser_fail(parser, &constant->token, "%s",
                                      nearest_column(parser->kind, name, strlen(name), message));
    return true;
}

/* --- By the type of the field ----------------------------------------------------------------- */

/* What values of the field are, if they have no order; else NULL. */
static const char *what_has_no_order(const struct field *field)
{
    const bool words = field->type == VALUE_FLAGS ? field->flags && field->flags->count
                                                  : has_words(field) && field->type != VALUE_OWNERS;

    if (value_is_number(field->type) || field->type == VALUE_TIME)
        return NULL;
    if (field->type == VALUE_BOOLEAN)
        return "= true or = false";
    if (field->type == VALUE_ADDRESS || field->type == VALUE_NETWORKS)
        return "addresses, which have no order";
    return words ? "words, which have no order" : "text, which has no order";
}

static struct predicate *parse_named(const struct constant *constant)
{
    if (constant->field->lookups & NEED_OWNERS_CGROUPS)
        return parse_of_group(constant);
    return has_words(constant->field) ? parse_word(constant) : parse_text(constant);
}

/* Not of groups, and not of views, for which another column is compared. */
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
    [VALUE_LLADDR] = parse_lladdr,
    [VALUE_FLAGS] = parse_flag,
    [VALUE_OWNERS] = parse_owner,
    [VALUE_VIEW] = NULL,
};

static struct predicate *parse_by_type(const struct constant *constant)
{
    const enum value_type type = constant->field->type;
    const char *unordered = what_has_no_order(constant->field);

    if (unordered && (constant->comparison == TOKEN_LESS || constant->comparison == TOKEN_GREATER))
        return refuse(constant, unordered);
    if (is_pattern(constant->comparison) && type != VALUE_SOCKET_NAME)
        return parse_text(constant);
    return parsers[type] ? parsers[type](constant) : NULL;
}

struct predicate *parser_constant(struct parser *parser, const struct field *field,
                                  enum token_type comparison, const struct token *value)
{
    struct constant constant = {parser, field, comparison, *value, NULL, 0};
    char *text = parser_keep(parser, value->text.data, value->text.length);
    const char quote = value->type == TOKEN_QUOTED ? value->text.data[-1] : '\0';
    struct predicate *column;
    struct address address;

    if (!text)
        return NULL;
    for (size_t i = 0; i < value->text.length; i++) {
        text[constant.length++] = value->text.data[i];
        i += quote && value->text.data[i] == quote; /* the second of two */
    }
    text[constant.length] = '\0';
    constant.text = text;
    if (parse_column(&constant, &column))
        return column;
    if (field->lookups & NEED_MACHINE && parse_address(text, &address))
        return refuse(&constant, "the name of a machine (--host= takes addresses)");
    if (field->owner && (comparison == TOKEN_EQUAL || is_pattern(comparison))) {
        if (field->type == VALUE_NUMBER && !form_is_digits(text))
            return refuse(&constant, "numbers of processes, as 812");
        constant.field = field_owners(field);
    }
    if (is_pattern(comparison) &&
        (value_is_number(field->type) || field->type == VALUE_BOOLEAN || field->type == VALUE_TIME))
        return refuse(&constant, "numbers, which have no pattern");
    return parse_by_type(&constant);
}
