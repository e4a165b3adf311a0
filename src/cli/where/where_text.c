/* SPDX-License-Identifier: MIT */
/* Writes predicates as text: as the user typed them, or node by node if an option made them. */
#include <inttypes.h>
#include <string.h>

#include "cli/where/parser.h"
#include "fastnet/array.h"

/* Gaps between tokens may be newlines, which would end a line of --explain: writes one space. */
static void put_typed(FILE *stream, struct text typed)
{
    char quote = '\0';

    for (size_t i = 0; i < typed.length; i++) {
        const char c = typed.data[i];
        const bool space = !quote && strchr(TOKEN_SPACES, c);
        if (c == '\'' || c == '"')
            quote = !quote ? c : c == quote ? '\0' : quote;
        if (!space)
            fputc(c, stream);
        else if (i + 1 < typed.length && !strchr(TOKEN_SPACES, typed.data[i + 1]))
            fputc(' ', stream);
    }
}

/* Writes a text. A word that begins with a letter needs no quotes; digits could be a number. */
static void where_text_put_text(FILE *stream, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-./:";
    const bool bare =
        *text > ':' && !text[strspn(text, plain)] && token_word_type(as_text(text)) == TOKEN_WORD;

    fputs(bare ? "" : "'", stream);
    for (; *text; text++)
        fprintf(stream, *text == '\'' ? "''" : "%c", *text);
    fputs(bare ? "" : "'", stream);
}

static void where_text_put_number(FILE *stream, const struct field *field, uint64_t number)
{
    const char *word = where_word(field, number);

    if (word)
        where_text_put_text(stream, word);
    else if (field->type == VALUE_BOOLEAN)
        fputs(number ? "true" : "false", stream);
    else
        fprintf(stream, "%" PRIu64, number);
}

/* Writes ADDRESS, ADDRESS/LENGTH, or ADDRESS/MASK if the mask is not the first bits. */
static void where_text_put_address(FILE *stream, const struct predicate *made)
{
    const struct address *address = &made->constant.address;
    const struct address mask = address_make(address->family, made->mask.address);
    char text[TEXT_ADDRESS_MAX];
    uint8_t prefix;

    *text_address(text, address) = '\0';
    fputs(text, stream);
    if (made->operation != PREDICATE_WITHIN)
        return;
    *text_address(text, &mask) = '\0';
    if (mask_prefix(mask.bytes, address_size(address), &prefix))
        snprintf(text, sizeof text, "%u", prefix);
    fprintf(stream, "/%s", text);
}

/* Writes each flag as a condition. */
static void put_flags(FILE *stream, const struct predicate *made)
{
    const char *between = "";

    for (unsigned bit = 0; bit < VALUE_FLAG_BITS; bit++) {
        if (!bits_have(made->mask.bits, bit))
            continue;
        fprintf(stream, "%s%s %s ", between, made->field->name,
                bits_have(made->constant.flags.bits, bit) ? "=" : "!=");
        where_text_put_number(stream, made->field, bit);
        between = " and ";
    }
}

static void put_comparison(FILE *stream, const struct predicate *made, bool negated)
{
    static const char *const signs[][2] = {
        [PREDICATE_KNOWN] = {"!= null", "= null"}, [PREDICATE_EQUAL] = {"= ", "!= "},
        [PREDICATE_MASKED] = {"= ", "!= "},        [PREDICATE_BELOW] = {"< ", ">= "},
        [PREDICATE_ABOVE] = {"> ", "<= "},         [PREDICATE_GLOB] = {"~~ ", "!~~ "},
        [PREDICATE_WITHIN] = {"in ", "not in "},   [PREDICATE_ONE_OF] = {"in ", "not in "},
    };
    const enum predicate_operator operation = made->operation;
    const uint64_t number = made->constant.number;
    const bool single = operation == PREDICATE_ONE_OF && !(number & (number - 1));

    fprintf(stream, "%s %s", made->field->name,
            signs[single ? PREDICATE_EQUAL : operation][negated]);
    if (operation == PREDICATE_ONE_OF)
        for (unsigned bit = 0; bit < 64; bit++) {
            if (!(number >> bit & 1))
                continue;
            where_text_put_number(stream, made->field, bit);
            fputs(number >> bit > 1 ? "," : "", stream);
        }
    else if (operation == PREDICATE_MASKED)
        fprintf(stream, "%#" PRIx64 "/%#" PRIx64, number, made->mask.bits[0]);
    else if (made->constant.type == VALUE_ADDRESS)
        where_text_put_address(stream, made);
    else if (made->constant.type == VALUE_TEXT)
        where_text_put_text(stream, made->constant.text.data);
    else if (operation != PREDICATE_KNOWN)
        where_text_put_number(stream, made->field, number);
}

/* Writes a predicate. inside: the operation around it, which decides about parentheses. */
static void where_text_put(FILE *stream, const struct predicate *predicate,
                           enum predicate_operator inside)
{
    const struct predicate *part = predicate->parts;
    const bool typed = predicate->typed.length, any = predicate->operation == PREDICATE_OR;
    const bool flags = predicate->constant.type == VALUE_FLAGS;
    const bool joined = any || predicate->operation == PREDICATE_AND || flags;
    const bool parentheses =
        !typed && joined && (inside == PREDICATE_NOT || (any && inside == PREDICATE_AND));

    fputs(parentheses ? "(" : "", stream);
    if (typed)
        put_typed(stream, predicate->typed);
    else if (flags)
        put_flags(stream, predicate);
    else if (predicate->field)
        put_comparison(stream, predicate, false);
    else if (predicate->operation == PREDICATE_NOT && part->field && !part->typed.length &&
             part->constant.type != VALUE_FLAGS)
        put_comparison(stream, part, true);
    else
        for (; part; part = part->next) {
            fputs(predicate->operation == PREDICATE_NOT ? "not " : "", stream);
            where_text_put(stream, part, predicate->operation);
            fputs(!part->next ? "" : any ? " or " : " and ", stream);
        }
    fputs(parentheses ? ")" : "", stream);
}

void where_put(FILE *stream, const struct predicate *where)
{
    where_text_put(stream, where, PREDICATE_OR);
}

void where_put_value(FILE *stream, const char *text)
{
    where_text_put_text(stream, text);
}
