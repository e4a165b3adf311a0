/* SPDX-License-Identifier: MIT */
/* Splits a text of --where into tokens. */
#include <string.h>
#include <strings.h>

#include "cli/where/parser.h"
#include "fastnet/array.h"

static const struct where_word {
    const char *text;
    enum token_type type;
    bool negated;
} signs[] = {
    /* "==" must come before "=": the first sign that fits is taken */
    {"==", TOKEN_EQUAL, false},  {"=", TOKEN_EQUAL, false}, {"!=", TOKEN_EQUAL, true},
    {"!~~", TOKEN_GLOB, true},   {"!~", TOKEN_LIKE, true},  {"!", TOKEN_NOT, false},
    {"<=", TOKEN_GREATER, true}, {"<", TOKEN_LESS, false},  {">=", TOKEN_LESS, true},
    {">", TOKEN_GREATER, false}, {"~~", TOKEN_GLOB, false}, {"~", TOKEN_LIKE, false},
    {"&&", TOKEN_AND, false},    {"||", TOKEN_OR, false},   {"(", TOKEN_OPEN, false},
    {")", TOKEN_CLOSE, false},   {",", TOKEN_COMMA, false},
};

static const struct where_word words[] = {
    {"and", TOKEN_AND, false}, {"or", TOKEN_OR, false},     {"not", TOKEN_NOT, false},
    {"in", TOKEN_IN, false},   {"null", TOKEN_NULL, false},
};

enum token_type token_word_type(struct text word)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (strlen(words[i].text) == word.length &&
            strncasecmp(words[i].text, word.data, word.length) == 0)
            return words[i].type;
    return TOKEN_WORD;
}

static const char *take_sign(struct token *token, const char *at)
{
    for (size_t i = 0; i < COUNT(signs); i++) {
        const size_t length = strlen(signs[i].text);
        if (strncmp(at, signs[i].text, length) != 0)
            continue;
        *token = (struct token){signs[i].type, signs[i].negated, {at, length}};
        return at + length;
    }
    *token = (struct token){TOKEN_STRANGE, false, {at, 1}};
    return at + 1;
}

void parser_next(struct where_parser *parser)
{
    const char *at = parser->at + strspn(parser->at, TOKEN_SPACES);
    const size_t length = strcspn(at, TOKEN_ENDS);

    parser->before = parser->at;
    if (length) {
        const struct text word = {at, length};
        parser->token = (struct token){token_word_type(word), false, word};
        parser->at = at + length;
    } else if (!*at) {
        parser->token = (struct token){TOKEN_END, false, {at, 0}};
        parser->at = at;
    } else if (*at == '\'' || *at == '"') {
        const char quote = *at++, *end = at;
        while (*end && (*end != quote || end[1] == quote)) /* two quotes mean a quote in the text */
            end += *end == quote ? 2 : 1;
        parser->token =
            (struct token){*end ? TOKEN_QUOTED : TOKEN_UNFINISHED, false, {at, (size_t)(end - at)}};
        parser->at = *end ? end + 1 : end;
    } else {
        parser->at = take_sign(&parser->token, at);
    }
}
