/* SPDX-License-Identifier: MIT */
#include "cli/terminal/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/where/where.h"
#include "fastnet/array.h"

enum { SEARCH_MAX = 240 };

/* Columns that every search compares, if the kind has them. */
static const char *const search_texts[] = {"processes", "unit", "container", "state", "path"};

/* An address, and its port if it has one. */
static const struct {
    const char *address, *port;
} search_ends[] = {{"local_address", "local_port"},
                   {"remote_address", "remote_port"},
                   {"src", "sport"},
                   {"dst", "dport"},
                   {"reply_src", "reply_sport"},
                   {"reply_dst", "reply_dport"},
                   {"address", NULL}};

struct search {
    const struct kind *kind;
    FILE *stream; /* the condition */
    bool is_opposite;
    size_t count;                 /* number of comparisons */
    char columns[1024];           /* columns that are compared with the pattern */
    char pattern[4 * SEARCH_MAX]; /* for ~~, quoted */
    const char *number;           /* a port, a range of ports or a process id; NULL: another word */
    char host[SEARCH_MAX + 1];    /* the address of ADDRESS:PORT, as pattern; "": another word */
};

/* Quotes a text for the operator ~~, so that no character of it has a meaning. */
static void search_quote(char *dst, const char *before, struct text text, const char *after)
{
    dst = stpcpy(stpcpy(dst, "\""), before);
    for (size_t i = 0; i < text.length; i++) {
        if (strchr("*?[\\", text.data[i]))
            *dst++ = '\\';
        if (text.data[i] == '"')
            *dst++ = '"';
        *dst++ = text.data[i];
    }
    stpcpy(stpcpy(dst, after), "\"");
}

/* Adds a comparison, if the kind understands it. The opposite of a comparison includes rows without
 * a value of the column. */
static void search_add(struct search *search, const char *column, const char *condition)
{
    struct where where = {.interfaces_are_own = false};
    const bool is_known = where_parse(&where, search->kind, condition);

    where_finish(&where);
    if (!is_known)
        return;
    if (search->count++)
        fputs(search->is_opposite ? " and " : " or ", search->stream);
    if (search->is_opposite)
        fprintf(search->stream, "(%s = null or not (%s))", column, condition);
    else
        fputs(condition, search->stream);
}

/* Compares a column with the pattern, unless it is compared already. */
static void search_add_text(struct search *search, const char *name)
{
    const struct field *field = field_compared(search->kind, name, strlen(name));
    char condition[sizeof search->pattern + 64];

    if (!field || strcmp(field->name, "event") == 0 || strcmp(field->name, "process") == 0 ||
        text_has_word(search->columns, field->name))
        return;
    text_list(search->columns, sizeof search->columns, " ", as_text(field->name));
    snprintf(condition, sizeof condition, "%s ~~ %s", field->name, search->pattern);
    search_add(search, field->name, condition);
}

/* Compares an address with the word, as text and as network, and a port with the number. */
static void search_add_end(struct search *search, size_t end, const char *word)
{
    const char *address = search_ends[end].address, *port = search_ends[end].port;
    char condition[sizeof search->host + SEARCH_MAX + 64];

    if (!word[strspn(word, "0123456789abcdefABCDEF.:")])
        search_add_text(search, address);
    if (strchr(word, '/')) {
        snprintf(condition, sizeof condition, "%s = %s", address, word);
        search_add(search, address, condition);
    }
    if (!port || !search->number)
        return;
    if (*search->host)
        snprintf(condition, sizeof condition, "%s ~~ %s and %s in %s", address, search->host, port,
                 search->number);
    else
        snprintf(condition, sizeof condition, "%s in %s", port, search->number);
    search_add(search, port, condition);
}

/* Finds the number in PORT, FIRST-LAST, :PORT, ADDRESS:PORT and [ADDRESS]:PORT. */
static void search_split(struct search *search, const char *word)
{
    const char *colon = strrchr(word, ':'), *number = colon ? colon + 1 : word;
    struct text host = {word, colon ? (size_t)(colon - word) : 0};
    const bool in_brackets = host.length > 1 && *word == '[' && colon[-1] == ']';

    if (!*number || number[strspn(number, "0123456789-")] || *number == '-' ||
        (host.length && !in_brackets && memchr(word, ':', host.length)))
        return;
    search->number = number;
    if (in_brackets)
        host = (struct text){word + 1, host.length - 2};
    if (host.length)
        search_quote(search->host, "*", host, "");
}

/* Copies the word without '!' and quotes. Returns false for a condition of --where. */
static bool search_take_word(struct search *search, const char *typed, char word[SEARCH_MAX + 1])
{
    size_t length;

    typed += strspn(typed, " ");
    search->is_opposite = *typed == '!';
    typed += search->is_opposite;
    length = strlen(typed);
    while (length && typed[length - 1] == ' ')
        length--;
    if (length > 2 && (*typed == '\'' || *typed == '"') && typed[length - 1] == *typed) {
        if (memchr(typed + 1, *typed, length - 2))
            return false;
        typed++;
        length -= 2;
    } else if (strcspn(typed, " \t=<>~!()'\"|&") < length) {
        return false;
    }
    snprintf(word, SEARCH_MAX + 1, "%.*s", (int)length, typed);
    return length && length <= SEARCH_MAX;
}

static void search_put(struct search *search, const struct field *const *columns, size_t count,
                       const char *word)
{
    search_quote(search->pattern, "*", as_text(word), "*");
    search_split(search, word);
    /* with its column `address`, traffic would have two rows for a flow */
    for (size_t i = 0; i < COUNT(search_ends); i++)
        if (search_ends[i].port || !field_find(search->kind, "src", 3))
            search_add_end(search, i, word);
    if (search->number == word) {
        char condition[SEARCH_MAX + 16];
        snprintf(condition, sizeof condition, "pid in %s", word);
        search_add(search, "pid", condition);
    }
    for (size_t i = 0; i < COUNT(search_texts); i++)
        search_add_text(search, search_texts[i]);
    for (size_t i = 0; i < count; i++)
        search_add_text(search, columns[i]->name);
}

char *search_condition(const struct kind *kind, const struct field *const *columns, size_t count,
                       const char *typed)
{
    struct search search = {.kind = kind};
    char word[SEARCH_MAX + 1], *text = NULL;
    size_t size;

    if (!search_take_word(&search, typed, word))
        return NULL;
    search.stream = open_memstream(&text, &size);
    if (!search.stream)
        return NULL;
    search_put(&search, columns, count, word);
    if (fclose(search.stream) == 0 && search.count)
        return text;
    free(text);
    return NULL;
}
