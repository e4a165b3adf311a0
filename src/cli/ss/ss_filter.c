/* SPDX-License-Identifier: MIT */
#include "cli/ss/ss_filter.h"

#include <string.h>
#include <sys/socket.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "cli/options.h"
#include "cli/ss/ss_parser.h"
#include "fastnet/array.h"
#include "fastnet/cgroups.h"

/* Nesting needs stack in the parser; changes between `and` and `or` need stack for every row. */
enum { DEPTH_MAX = 64, CHANGES_MAX = 500 };

/* --- Tokens ----------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    enum ss_token token;
} tokens[] = {
    {"(", SS_OPEN},        {")", SS_CLOSE},       {"!", SS_NOT},
    {"not", SS_NOT},       {"&", SS_AND},         {"&&", SS_AND},
    {"and", SS_AND},       {"|", SS_OR},          {"||", SS_OR},
    {"or", SS_OR},         {"src", SS_SRC},       {"dst", SS_DST},
    {"sport", SS_SPORT},   {"dport", SS_DPORT},   {"dev", SS_DEV},
    {"fwmark", SS_FWMARK}, {"cgroup", SS_CGROUP}, {"autobound", SS_AUTOBOUND},
    {"=", SS_EQUAL},       {"==", SS_EQUAL},      {"eq", SS_EQUAL},
    {"!=", SS_NOT_EQUAL},  {"ne", SS_NOT_EQUAL},  {"neq", SS_NOT_EQUAL},
    {">=", SS_AT_LEAST},   {"ge", SS_AT_LEAST},   {"geq", SS_AT_LEAST},
    {"<=", SS_AT_MOST},    {"le", SS_AT_MOST},    {"leq", SS_AT_MOST},
    {">", SS_GREATER},     {"gt", SS_GREATER},    {"<", SS_LESS},
    {"lt", SS_LESS},
};

static bool begins_condition(enum ss_token token)
{
    return token >= SS_SRC && token <= SS_AUTOBOUND;
}

/* For completions: not `<`, which a shell interprets, but `lt`; and one word for each meaning. */
const struct operands ss_operands[] = {
    {ss_state_words, ss_state_names, NULL},
    {"sport dport", "eq ne ge le gt lt", NULL},
    {"dev", "eq ne", CHOICES_INTERFACES},
    {"fwmark cgroup", "eq ne", NULL},
    {NULL, "state exclude excl not and or src dst sport dport dev fwmark cgroup autobound", NULL}};

/* --- Words ------------------------------------------------------------------------------------ */

static void ss_filter_next(struct ss_parser *parser)
{
    struct text word;
    char *to;

    if (!ss_words_next(parser->filter->words, &word)) {
        parser->token = SS_END;
        parser->word = NULL;
        return;
    }
    parser->number++;
    parser->word = to = parser_keep(&parser->memory, word.data, word.length);
    if (!to) {
        parser->token = SS_END;
        return;
    }
    for (const char *from = to; *from; from++) { /* a backslash quotes the next byte */
        if (*from == '\\' && !*++from)
            break;
        *to++ = *from;
    }
    *to = '\0';
    parser->token = SS_WORD;
    for (size_t i = 0; i < COUNT(tokens) && parser->token == SS_WORD; i++)
        if (strcmp(tokens[i].text, parser->word) == 0)
            parser->token = tokens[i].token;
}

/* --- Errors ----------------------------------------------------------------------------------- */

static struct predicate *ss_filter_fail_expected(struct ss_parser *parser, const char *expected)
{
    if (parser->token == SS_END)
        return ss_fail(parser, "expected %s", expected);
    return ss_fail(parser, "expected %s, not '%s'", expected, TYPED(parser->word));
}

/* Reports a word that begins no condition, and suggests a condition. ss takes it for an address. */
static struct predicate *fail_condition(struct ss_parser *parser)
{
    const char *word = parser->token == SS_WORD ? parser->word : "";
    const char *sign = strpbrk(word, "(!=<>");
    struct misuse misuse = {.wrong = "'%s' is not a condition", .typed = as_text(word)};
    const bool may_be_address =
        parser->filter->selection->preferred == AF_UNIX || /* any word can be a name */
        (!word[strspn(word, "0123456789abcdefABCDEFx.:/[]*")] && strpbrk(word, "0123456789:*"));

    if (!parser->filter->failed)
        parser->filter->wrong = *word && !may_be_address;
    if (sign && sign == word && strchr("(!", *sign)) /* in ss, signs are separate words */
        return ss_fail(parser, "'%s' is not a condition: put a space after '%c'", TYPED(word),
                       *sign);
    if (sign)
        return ss_fail(parser, "'%s' is not a condition: put spaces around '%c'", TYPED(word),
                       *sign);
    if (text_among(ss_state_words, word))
        return ss_fail(parser, "%s must come before the other conditions", word);
    if (text_among(ss_state_names, word))
        return ss_fail(parser, "'%s' is not a condition; did you mean state %s?", word, word);
    for (size_t i = 0; i < COUNT(tokens); i++)
        if (begins_condition(tokens[i].token))
            misuse_offer(&misuse, tokens[i].text);
    if (*word && misuse.meant.data)
        return ss_refuse(parser, misuse);
    return ss_filter_fail_expected(
        parser, "src, dst, sport, dport, dev, fwmark, cgroup, autobound, not or (");
}

/* --- Conditions ------------------------------------------------------------------------------- */

/* Parses a mark. As in ss, sockets without IP addresses, and sockets in files, have mark 0. */
static struct predicate *parse_mark(struct ss_parser *parser)
{
    const bool saved = parser->filter->saved;
    const struct field *field = field_named(&kind_socket, saved ? "mark" : "local_address");
    struct predicate *marked, *known;
    uint32_t mark, mask = UINT32_MAX;
    const char *end = ss_signed_number(parser->word, &mark);

    if (end && *end == '/')
        end = ss_signed_number(end + 1, &mask);
    if (!end || *end)
        return ss_fail_value(parser, "a mark is NUMBER or NUMBER/MASK, such as 0x10/0xff");
    marked = ss_compare(parser, predicate_masked(field_named(&kind_socket, "mark"), mark, mask));
    if (mark || (!saved && !parser->others && !ss_lists_others(parser)))
        return marked;
    known = parser_add(&parser->memory, predicate_known(field));
    return parser_join(&parser->memory, PREDICATE_OR, marked,
                       parser_negate(&parser->memory, known));
}

static struct predicate *ss_filter_parse_value(struct ss_parser *parser, enum ss_token condition,
                                               enum ss_token comparison)
{
    /* The functions below cut `text` in pieces, but messages show the whole word. */
    char *text = parser_keep(&parser->memory, parser->word, strlen(parser->word));
    uint64_t id;

    if (!text)
        return NULL;
    switch (condition) {
    case SS_SRC:
        return ss_host(parser, SS_LOCAL, text);
    case SS_DST:
        return ss_host(parser, SS_REMOTE, text);
    case SS_SPORT:
        return ss_port(parser, SS_LOCAL, comparison, text);
    case SS_DPORT:
        return ss_port(parser, SS_REMOTE, comparison, text);
    case SS_DEV:
        return ss_device(parser, parser->word);
    case SS_FWMARK:
        return parse_mark(parser);
    default: /* SS_CGROUP */
        if (cgroups_find(parser->word, &id) < 0)
            return ss_fail_value(parser, "there is no such control group");
        return ss_compare(parser, predicate_number(field_named(&kind_socket, "cgroup_id"), id));
    }
}

/* The part after a condition: a comparison, which may be missing if it is =, and a value. */
static const struct {
    enum ss_token last; /* the last comparison that is allowed */
    const char *comparisons, *value;
} conditions[] = {
    [SS_SRC] = {SS_EQUAL, "= or an address (instead of !=, type: not src ADDRESS)", "an address"},
    [SS_DST] = {SS_EQUAL, "= or an address (instead of !=, type: not dst ADDRESS)", "an address"},
    [SS_SPORT] = {SS_LESS, "= != < > <= or >=", "a port"},
    [SS_DPORT] = {SS_LESS, "= != < > <= or >=", "a port"},
    [SS_DEV] = {SS_NOT_EQUAL, "= or !=", "an interface"},
    [SS_FWMARK] = {SS_NOT_EQUAL, "= or !=", "a mark"},
    [SS_CGROUP] = {SS_NOT_EQUAL, "= or !=", "the path of a control group"},
};

static struct predicate *parse_condition(struct ss_parser *parser)
{
    const enum ss_token condition = parser->token;
    enum ss_token comparison = SS_EQUAL;
    struct predicate *result;

    if (!begins_condition(condition))
        return fail_condition(parser);
    if (condition == SS_AUTOBOUND) {
        /* Every socket has this field, so the kernel can compare it in every listing. */
        result = parser_add(&parser->memory,
                            predicate_number(field_named(&kind_socket, "autobound"), 1));
        ss_filter_next(parser);
        return result;
    }
    ss_filter_next(parser);
    if (parser->token >= SS_EQUAL) {
        comparison = parser->token;
        if (comparison > conditions[condition].last)
            return ss_filter_fail_expected(parser, conditions[condition].comparisons);
        ss_filter_next(parser);
    }
    if (parser->token != SS_WORD)
        return ss_filter_fail_expected(parser, conditions[condition].value);
    result = ss_filter_parse_value(parser, condition,
                                   comparison == SS_NOT_EQUAL ? SS_EQUAL : comparison);
    if (comparison == SS_NOT_EQUAL)
        result = parser_negate(&parser->memory, result);
    if (result)
        ss_filter_next(parser);
    return result;
}

/* --- Grammar ---------------------------------------------------------------------------------- */

static struct predicate *parse_list(struct ss_parser *parser);

static struct predicate *parse_term(struct ss_parser *parser)
{
    struct predicate *inner;

    if (parser->token != SS_OPEN && parser->token != SS_NOT)
        return parse_condition(parser);
    if (++parser->depth > DEPTH_MAX)
        return ss_fail(parser, "the filter is nested more than %d deep", DEPTH_MAX);
    if (parser->token == SS_NOT) {
        ss_filter_next(parser);
        inner = parser_negate(&parser->memory, parse_term(parser));
    } else {
        ss_filter_next(parser);
        inner = parse_list(parser);
        if (inner && parser->token != SS_CLOSE)
            return ss_filter_fail_expected(parser, "'and', 'or', a condition or ')'");
        ss_filter_next(parser);
    }
    parser->depth--;
    return inner;
}

/* Parses conditions from left to right; adjacent conditions are joined by and. */
static struct predicate *parse_list(struct ss_parser *parser)
{
    struct predicate *all = parse_term(parser);
    enum predicate_operator before = PREDICATE_NOT;
    bool has_or = false;

    while (all && parser->token != SS_END && parser->token != SS_CLOSE) {
        const enum predicate_operator operation =
            parser->token == SS_OR ? PREDICATE_OR : PREDICATE_AND;
        struct predicate *part;
        if (parser->token == SS_OR || parser->token == SS_AND)
            ss_filter_next(parser);
        if (operation != before && ++parser->changes > CHANGES_MAX)
            return ss_fail(parser, "'and' and 'or' alternate more than %d times", CHANGES_MAX);
        part = parse_term(parser);
        if (part && operation == before)
            predicate_add(all, part);
        else
            all = parser_join(&parser->memory, operation, all, part);
        if (!part)
            return NULL;
        parser->filter->mixed |= has_or && operation == PREDICATE_AND;
        has_or |= operation == PREDICATE_OR;
        before = operation;
    }
    return all;
}

static struct predicate *ss_filter_parse_text(struct ss_parser *parser)
{
    struct ss_filter *filter = parser->filter;
    struct predicate *all = NULL;

    filter->mixed = filter->failed = filter->wrong = false;
    filter->where->message[0] = '\0';
    ss_filter_next(parser);
    if (parser->token != SS_END)
        all = parse_list(parser);
    if (all && parser->token != SS_END)
        all = ss_filter_fail_expected(parser, "'and', 'or', a condition or the end");
    filter->failed |= filter->where->message[0]; /* memory may be exhausted */
    return filter->failed ? NULL : all;
}

/* Parses again if an address selected another family than earlier conditions expected. */
const struct predicate *ss_filter_parse(struct ss_filter *filter)
{
    const struct ss_selection selection = *filter->selection;
    const struct ss_words words = *filter->words;
    struct ss_parser parser = {.filter = filter, .memory = {.where = filter->where}};
    const bool others = ss_lists_others(&parser);
    const struct predicate *all = ss_filter_parse_text(&parser);

    if (!all || others || !ss_lists_others(&parser))
        return all;
    *filter->selection = selection;
    *filter->words = words;
    parser = (struct ss_parser){.filter = filter, .memory = parser.memory, .others = true};
    return ss_filter_parse_text(&parser);
}
