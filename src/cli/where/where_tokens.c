/* The tokens of --where. */
#include <string.h>
#include <strings.h>

#include "cli/where/parser.h"
#include "fastnet/array.h"

static const struct {
    const char *text;
    enum token_type type;
} signs[] = {
    /* longer ones before those that they begin with */
    {"==", TOKEN_EQUAL},    {"=", TOKEN_EQUAL},   {"!=", TOKEN_NOT_EQUAL}, {"!~~", TOKEN_NOT_GLOB},
    {"!~", TOKEN_UNLIKE},   {"!", TOKEN_NOT},     {"<=", TOKEN_AT_MOST},   {"<", TOKEN_LESS},
    {">=", TOKEN_AT_LEAST}, {">", TOKEN_GREATER}, {"~~", TOKEN_GLOB},      {"~", TOKEN_LIKE},
    {"&&", TOKEN_AND},      {"||", TOKEN_OR},     {"(", TOKEN_OPEN},       {")", TOKEN_CLOSE},
    {",", TOKEN_COMMA},
};

static const struct {
    const char *text;
    enum token_type type;
} words[] = {
    {"and", TOKEN_AND}, {"or", TOKEN_OR},     {"not", TOKEN_NOT},
    {"in", TOKEN_IN},   {"null", TOKEN_NULL},
};

enum token_type token_word_type(struct text word)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (strlen(words[i].text) == word.length &&
            strncasecmp(words[i].text, word.data, word.length) == 0)
            return words[i].type;
    return TOKEN_WORD;
}

/* Up to its closing quote; two of them stand for one. */
static const char *take_quoted(struct token *token, const char *at)
{
    const char quote = *at++;
    const char *end = at;

    while (*end && (*end != quote || end[1] == quote))
        end += *end == quote ? 2 : 1;
    *token = (struct token){*end ? TOKEN_QUOTED : TOKEN_UNFINISHED, {at, (size_t)(end - at)}};
    return *end ? end + 1 : end;
}

static const char *take_sign(struct token *token, const char *at)
{
    for (size_t i = 0; i < COUNT(signs); i++) {
        const size_t length = strlen(signs[i].text);
        if (strncmp(at, signs[i].text, length) != 0)
            continue;
        *token = (struct token){signs[i].type, {at, length}};
        return at + length;
    }
    *token = (struct token){TOKEN_STRANGE, {at, 1}};
    return at + 1;
}

void parser_next(struct parser *parser)
{
    static const char ends[] = TOKEN_BLANKS "()'\",=!<>~&|";
    const char *at = parser->at + strspn(parser->at, TOKEN_BLANKS);
    const size_t length = strcspn(at, ends);

    parser->before = parser->at;
    if (length) {
        const struct text word = {at, length};
        parser->token = (struct token){token_word_type(word), word};
        parser->at = at + length;
    } else if (!*at) {
        parser->token = (struct token){TOKEN_END, {at, 0}};
        parser->at = at;
    } else if (*at == '\'' || *at == '"') {
        parser->at = take_quoted(&parser->token, at);
    } else {
        parser->at = take_sign(&parser->token, at);
    }
}
