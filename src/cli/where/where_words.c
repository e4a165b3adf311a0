/* SPDX-License-Identifier: MIT */
/* The values of --where that are words or texts. */
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

/* Only numbers below this can have a name. */
static uint64_t word_limit(const struct field *field)
{
    return field->type == VALUE_FLAGS      ? field->flags->count
           : field->member == MEMBER_UINT8 ? UINT8_MAX + 1u
                                           : UINT16_MAX + 1u;
}

bool where_has_words(const struct field *field)
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

/* --- Words ------------------------------------------------------------------------------------ */

bool where_is_spelled_like(const char *word, struct text typed)
{
    const char *at = typed.data, *end = typed.data + typed.length;

    for (;; word++, at++) {
        word += strspn(word, "-_");
        while (at < end && (*at == '-' || *at == '_'))
            at++;
        if (!*word || at == end)
            return !*word && at == end;
        if (tolower((unsigned char)*word) != tolower((unsigned char)*at))
            return false;
    }
}

/* Finds a number by its word. A word that differs from the text only in case comes before other
 * words: flows have both TIME_WAIT and TIMEWAIT. */
static bool where_find_word(const struct field *field, const char *text, uint64_t *number)
{
    for (int loosely = 0; loosely < 2; loosely++)
        for (uint64_t i = 0; i < word_limit(field); i++) {
            const char *word = where_word_of(field, i);
            if (word && (loosely ? where_is_spelled_like(word, as_text(text))
                                 : strcasecmp(word, text) == 0)) {
                *number = i;
                return true;
            }
        }
    return false;
}

/* Names that people know from other programs (the states from ss(8)), and the words of the column
 * that each name stands for. After '!', the name stands for all other words. */
static const struct other_name {
    const char *column, *name, *words;
} other_names[] = {
    {"state", "estab", "ESTABLISHED"},
    {"state", "syn-rcv", "SYN_RECV"},
    {"state", "listening", "LISTEN"},
    {"state", "unconnected", "CLOSE"},
    {"state", "closed", "CLOSE"},
    {"state", "connected", "!CLOSE LISTEN"},
    {"state", "synchronized", "!CLOSE LISTEN SYN_SENT"},
    {"state", "bucket", "SYN_RECV TIME_WAIT"},
    {"state", "big", "!SYN_RECV TIME_WAIT"},
    {"family", "ipv4", "inet"},
    {"family", "ipv6", "inet6"},
};

/* Makes a comparison with the words that have another name. Returns NULL, without a message, if the
 * text is no such name, or if the column lacks one of the words. */
static struct predicate *parse_other_name(const struct constant *constant)
{
    struct where_parser *parser = constant->parser;
    struct constant one = *constant;
    struct predicate *any = NULL;
    const char *words = NULL;
    uint64_t number;

    for (size_t i = 0; i < COUNT(other_names) && !words; i++)
        if (strcmp(other_names[i].column, constant->field->name) == 0 &&
            where_is_spelled_like(other_names[i].name, as_text(constant->text)))
            words = other_names[i].words;
    const bool others = words && *words == '!';
    words = others ? words + 1 : words;
    for (struct text word; text_next(&words, ' ', &word);) {
        one.text = parser_keep(parser, word.data, word.length);
        one.length = word.length;
        if (!one.text || !where_find_word(one.field, one.text, &number))
            return NULL;
        struct predicate *made = where_parse_word(&one);
        any = any ? parser_join(parser, PREDICATE_OR, any, made) : made;
    }
    return others ? parser_negate(parser, any) : any;
}

bool where_read_digits(const struct field *field, const char *text, struct value *value)
{
    (void)field;
    value->type = VALUE_NUMBER;
    return form_digits(text, &value->number);
}

/* Parses a word, ignoring case. If the number can be shown without a name, also accepts digits. */
struct predicate *where_parse_word(const struct constant *constant)
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
        return where_compare(constant, where_a_text(where_word_of(field, number),
                                                    strlen(where_word_of(field, number))));
    if (field->type == VALUE_NAME && where_parse_range(constant, where_read_digits, &numbers))
        return numbers;
    const int protocol = field->type == VALUE_NAME && strcmp(field->name, "protocol") == 0
                             ? flow_protocol_of_word(constant->text)
                             : -1;
    if (protocol >= 0)
        return where_compare(constant, where_a_number((uint64_t)protocol));
    numbers = parse_other_name(constant);
    return numbers ? numbers : refuse_word(constant);
}

const char *where_word(const struct field *field, uint64_t number)
{
    const bool is_word = field->type == VALUE_TEXT || field->type == VALUE_NAME;
    const bool words =
        field->type == VALUE_FLAGS ? field->flags != NULL : is_word && where_has_words(field);
    const char *word = words && number < word_limit(field) ? where_word_of(field, number) : NULL;
    uint64_t first;

    return word && *word && where_find_word(field, word, &first) && first == number ? word : NULL;
}

/* Parses a text. For a user or an interface, digits are its number; quoted digits are a name. */
struct predicate *where_parse_text(const struct constant *constant)
{
    const bool numbered =
        constant->field->type == VALUE_NAME && constant->token.type != TOKEN_QUOTED;
    struct predicate *numbers;

    if (numbered && constant->comparison == TOKEN_EQUAL &&
        where_parse_range(constant, where_read_digits, &numbers))
        return numbers;
    /* a GLOB without special characters ignores case */
    const bool any_case = constant->field->any_case && constant->comparison == TOKEN_EQUAL &&
                          *constant->text && !strpbrk(constant->text, "*?[\\@");
    const struct value text = where_a_text(constant->text, constant->length);
    return any_case ? where_compare_by(constant, PREDICATE_GLOB, text)
                    : where_compare(constant, text);
}

/* Parses a unit, container or pod, also as people write it: web for web.service, all digits of an
 * id, a pod without its namespace. No value itself looks like that. */
struct predicate *where_parse_of_group(const struct constant *constant)
{
    const bool is_unit = constant->field->index == offsetof(struct cgroup, unit);
    const bool is_pod = constant->field->index == offsetof(struct cgroup, pod);
    const bool is_name = constant->field->lookups & NEED_CONTAINERS;
    const bool is_id = strspn(constant->text, "0123456789abcdef") == 64 && constant->length == 64;
    const size_t size = constant->length + sizeof ".service";
    char *text;

    if (strchr(constant->text, is_unit ? '.' : '/') || !(is_unit || (is_pod && is_name)))
        return where_compare(
            constant, where_a_text(constant->text, is_id && !is_name ? 12 : constant->length));
    text = parser_keep_bytes(constant->parser, size);
    if (!text)
        return NULL;
    snprintf(text, size, is_unit ? "%s.service" : "*/%s", constant->text);
    return where_compare_by(constant, is_unit ? PREDICATE_EQUAL : PREDICATE_LIKE,
                            where_a_text(text, strlen(text)));
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

struct text where_as_shown(const struct constant *constant)
{
    char *text = strchr(constant->text, '\\') && constant->comparison == TOKEN_EQUAL
                     ? parser_keep(constant->parser, constant->text, constant->length)
                     : NULL;
    const size_t length = text ? unescape(text, constant->length) : 0;

    return (struct text){length < constant->length ? text : NULL, length};
}

/* Compares the name of a unix socket. Tables show NUL in an abstract name as @, and @ as \x40. So a
 * name that begins with @ is compared as a path, and as an abstract name. (The operator ~~ treats
 * NUL and @ as equal.) */
struct predicate *where_parse_socket_name(const struct constant *constant)
{
    struct predicate *made = where_parse_text(constant);
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
                       where_compare(constant, where_a_text(abstract, length)));
    for (char *at = shown; exact && (at = strchr(at, '@')); at++)
        *at = '\1'; /* marks an @ that was typed, not written as \x40 */
    length = unescape(shown, length);
    for (size_t i = 0; i < length; i++)
        shown[i] = shown[i] == '\1' ? '\0' : shown[i];
    if (!exact || memcmp(shown, abstract, length) == 0)
        return made;
    return parser_join(constant->parser, PREDICATE_OR, made,
                       where_compare(constant, where_a_text(shown, length)));
}

/* --- Elements of sets ------------------------------------------------------------------------- */

struct predicate *where_parse_flag(const struct constant *constant)
{
    struct predicate masked = {
        .operation = PREDICATE_MASKED, .field = constant->field, .constant.type = VALUE_FLAGS};
    const struct flag_names *names = constant->field->flags;
    const bool named = names && names->count;
    uint64_t bit = VALUE_FLAG_BITS;

    if (!form_digits(constant->text, &bit) && !named)
        return where_parse_text(constant);
    if (!(named && where_find_word(constant->field, constant->text, &bit)) &&
        bit >= VALUE_FLAG_BITS)
        return named ? refuse_word(constant)
                     : constant_refuse(constant, "names, or bit numbers below 128");
    bits_add(masked.mask.bits, bit);
    bits_add(masked.constant.flags.bits, bit);
    return parser_add(constant->parser, masked);
}
