/* SPDX-License-Identifier: MIT */
#include "cli/words.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "cli/where/parser.h"
#include "fastnet/array.h"
#include "fastnet/services.h"
#include "fastnet/text.h"

enum { WORD_ELEMENT_MAX = 256, WORD_PORT_MAX = 65535, WORD_PID_MAX = INT_MAX };

/* In this order the forms are tried. */
enum word_form {
    WORD_PORT,
    WORD_ADDRESS,
    WORD_LLADDR,
    WORD_STATE,
    WORD_REASON,
    WORD_PROTOCOL,
    WORD_PATH,
    WORD_ID, /* the id of a container or a pod */
    WORD_NAME,
    WORD_WRONG
};

#define WORD_ADDRESSES "local_address remote_address orig_src orig_dst reply_src reply_dst src dst"

/* The columns that a form is compared with; a kind has some of them. */
static const char *const word_columns[] = {
    [WORD_PORT] = "port",
    [WORD_ADDRESS] = WORD_ADDRESSES,
    [WORD_LLADDR] = "lladdr src_lladdr dst_lladdr",
    [WORD_STATE] = "state",
    [WORD_REASON] = "reason",
    [WORD_PROTOCOL] = "protocol",
    [WORD_PATH] = "path",
    [WORD_ID] = "process container pod",
    [WORD_NAME] = "process unit container container_name pod_name user",
};

/* A value between the commas of a word: 443 and 80 in "443,80". */
struct word_element {
    char text[WORD_ELEMENT_MAX]; /* as --where reads it, without quotes */
    enum word_form form;
};

/* --- Kinds ------------------------------------------------------------------------------------ */

static bool words_has_any(const struct kind *kind, const char *columns)
{
    bool any = false;

    for (struct text name; text_next(&columns, ' ', &name);)
        any |= field_find(kind, name.data, name.length) != NULL;
    return any;
}

/* The columns of the kind for this form. In tables of packets and neighbours a name may also be the
 * name of an interface. A socket has an interface only if it is bound to it. */
static const char *words_columns(const struct kind *kind, enum word_form form)
{
    const char *columns = word_columns[form];

    if (form == WORD_ADDRESS && !words_has_any(kind, columns))
        return "address";
    if (form == WORD_NAME && !words_has_any(kind, columns))
        return "interface";
    return form == WORD_NAME && field_named(kind, "reason") ? "process unit container "
                                                              "container_name pod_name user "
                                                              "interface"
                                                            : columns;
}

/* True if --where takes the value for one of the columns. */
static bool words_takes(const struct kind *kind, const char *columns, const char *value)
{
    struct where where = {.parts = NULL};
    const bool taken = !strpbrk(value, TOKEN_ENDS) && words_has_any(kind, columns) &&
                       where_parse_list(&where, kind, columns, value);

    where_finish(&where);
    return taken;
}

/* --- Forms of values -------------------------------------------------------------------------- */

static bool words_fail(struct word_filter *filter, const char *wrong, const char *typed)
{
    const struct misuse misuse = {.wrong = wrong, .typed = as_text(typed)};

    misuse_put(&misuse, filter->message, sizeof filter->message);
    return false;
}

static bool is_made_of(const char *text, const char *characters)
{
    return *text && !text[strspn(text, characters)];
}

/* Reads a port, or a range of ports. Returns false if one of the numbers is not a port. */
static bool words_is_port(const char *text)
{
    char first[WORD_ELEMENT_MAX];
    uint64_t number, last;
    const size_t length = strcspn(text, "-");

    snprintf(first, sizeof first, "%.*s", (int)length, text);
    return form_digits(first, &number) && number >= 1 && number <= WORD_PORT_MAX &&
           (!text[length] ||
            (form_digits(text + length + 1, &last) && last >= number && last <= WORD_PORT_MAX));
}

static bool words_is_service(const char *text)
{
    uint16_t port;

    return isalpha((unsigned char)*text) && services_ports(NULL, text, NULL, &port, 1);
}

/* Takes a port as people write it at the end of an address: :8080, *:80 or :https. */
static bool words_take_port(const struct kind *kind, struct word_element *element)
{
    const char *text = element->text;
    const size_t skipped = strncmp(text, "*:", 2) == 0 ? 2 : *text == ':' && text[1] != ':';

    if (!words_has_any(kind, WHERE_PORTS) || (skipped && text[skipped] == '*') ||
        !(words_is_port(text + skipped) || (skipped && words_is_service(text + skipped))))
        return false;
    memmove(element->text, text + skipped, strlen(text + skipped) + 1);
    return true;
}

/* Takes an address, a network or an end. A short network of IPv4 gets its zeroes: 10.0/8. */
static bool words_take_address(const struct kind *kind, struct word_element *element)
{
    static const char missing[] = ".0.0.0";
    const char *columns = words_columns(kind, WORD_ADDRESS), *slash = strchr(element->text, '/');

    if (slash && strspn(element->text, "0123456789.") == (size_t)(slash - element->text)) {
        char full[WORD_ELEMENT_MAX];
        size_t points = 0;
        for (const char *at = element->text; at < slash; at++)
            points += *at == '.';
        snprintf(full, sizeof full, "%.*s%s%s", (int)(slash - element->text), element->text,
                 &missing[2 * (points < 3 ? points : 3)], slash);
        if (words_takes(kind, columns, full))
            snprintf(element->text, sizeof element->text, "%s", full);
    }
    return (strpbrk(element->text, ".:/") || strcasecmp(element->text, "localhost") == 0) &&
           element->text[0] != '/' && element->text[0] != '@' &&
           words_takes(kind, columns, element->text);
}

/* True for 12, 32 or 64 hexadecimal digits, or a UUID: a container or a pod. */
static bool words_is_id(const char *text)
{
    const size_t length = strlen(text);

    return (length == 36 && is_made_of(text, "0123456789abcdef-")) ||
           ((length == 12 || length == 32 || length == 64) && is_made_of(text, "0123456789abcdef"));
}

/* True if the value can only be a number, a range, an address or an end, with a mistake. */
static bool words_is_malformed(const char *text)
{
    return is_made_of(text, "0123456789.:/*-") || strchr("[:-", *text) || strstr(text, "::");
}

static enum word_form words_form_of(const struct kind *kind, struct word_element *element)
{
    const char *text = element->text;
    const bool socket = field_named(kind, "path");

    if (words_take_port(kind, element))
        return WORD_PORT;
    if (words_take_address(kind, element))
        return WORD_ADDRESS;
    if (strchr(text, ':') && words_takes(kind, word_columns[WORD_LLADDR], text))
        return WORD_LLADDR;
    if (words_is_malformed(text))
        return WORD_WRONG;
    if (words_takes(kind, "state", text))
        return WORD_STATE;
    if (strchr(text, '_') && is_made_of(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") &&
        words_takes(kind, "reason", text))
        return WORD_REASON;
    if (!(socket && !text_among("tcp udp udplite raw icmp unix", text)) &&
        words_takes(kind, "protocol", text))
        return WORD_PROTOCOL;
    if (words_has_any(kind, WHERE_PORTS) && words_is_service(text))
        return WORD_PORT;
    if (socket && (*text == '/' || *text == '@'))
        return WORD_PATH;
    return words_is_id(text) && words_has_any(kind, "container") ? WORD_ID : WORD_NAME;
}

/* Reports a value that is not a filter of this kind, with the way out. */
static bool words_refuse(struct word_filter *filter, const char *text)
{
    const bool ports = words_has_any(filter->kind, WHERE_PORTS);
    const bool pids = field_named(filter->kind, "pid");
    const char *const colon = strrchr(text, ':');
    const char *wrong = "'%s' is not a port, a range, an address or a network; for a name type "
                        "--process=NAME";
    uint64_t pid;

    if (is_made_of(text, "0123456789"))
        wrong = MESSAGE_TEXT("'%%s'%s%s%s",
                             ports ? " is not a port (1 to 65535)"
                                   : MESSAGE_TEXT(": %s have no ports", filter->kind->name),
                             pids ? "; for a process type --pid=" : "",
                             !pids                                                   ? ""
                             : form_digits(text, &pid) && pid && pid <= WORD_PID_MAX ? text
                                                                                     : "N");
    else if (colon && words_is_port(colon + 1) && isalpha((unsigned char)*text))
        wrong = MESSAGE_TEXT(
            "'%%s': names of hosts are not looked up; type an address, or --port=%s", colon + 1);
    else if (!pids || !ports)
        wrong = MESSAGE_TEXT("'%%s' is not a filter that %s have", filter->kind->name);
    return words_fail(filter, wrong, text);
}

/* --- Filters ---------------------------------------------------------------------------------- */

/* Reads the next value of a word. Returns false at the end of the word, or after a message. */
static bool words_next(struct word_filter *filter, const char **rest, struct word_element *element)
{
    struct text text;

    if (!text_next(rest, ',', &text))
        return false;
    if (!text.length)
        return words_fail(filter, "a value between commas is empty", "");
    if (text.length >= WORD_ELEMENT_MAX - sizeof ".0.0.0")
        return words_fail(filter, "'%s' is too long for a filter",
                          TYPED_BYTES(text.data, text.length));
    snprintf(element->text, sizeof element->text, "%.*s", (int)text.length, text.data);
    element->form = words_form_of(filter->kind, element);
    const char *colon = strrchr(element->text, ':');
    if (element->form == WORD_NAME && colon && words_is_port(colon + 1) &&
        words_has_any(filter->kind, WHERE_PORTS))
        element->form = WORD_WRONG; /* HOST:PORT */
    if (element->form == WORD_NAME &&
        !words_has_any(filter->kind, words_columns(filter->kind, WORD_NAME)))
        element->form = WORD_WRONG;
    return element->form != WORD_WRONG || words_refuse(filter, element->text);
}

/* Writes COLUMN = VALUE, or its opposite, which holds also for rows without a value of that name:
 * a socket has no unit or no container, for example. */
static void words_put_comparison(FILE *stream, struct text column,
                                 const struct word_element *element, bool negated)
{
    const char *text = element->text;
    const bool is_name = element->form >= WORD_ID;
    const bool pattern = element->form >= WORD_PATH && strchr(text, '*');
    const bool range = element->form <= WORD_ADDRESS && strpbrk(text, "/-");
    const char *sign = pattern ? (negated ? "!~" : "~")
                       : range ? (negated ? "not in" : "in")
                               : (negated ? "!=" : "=");

    if (negated && is_name)
        fprintf(stream, "(%.*s = null or ", (int)column.length, column.data);
    fprintf(stream, "%.*s %s ", (int)column.length, column.data, sign);
    if (element->form == WORD_ADDRESS || element->form == WORD_LLADDR ||
        (element->form == WORD_PORT && isdigit((unsigned char)*text)))
        fputs(text, stream);
    else
        where_put_value(stream, text); /* a service may be called "null" */
    fputs(negated && is_name ? ")" : "", stream);
}

static void words_put_element(const struct word_filter *filter, FILE *stream,
                              const struct word_element *element, bool negated, const char *between)
{
    const char *columns = words_columns(filter->kind, element->form);

    for (struct text name; text_next(&columns, ' ', &name);) {
        const bool unknown = filter->captured && text_is(name, "container_name");
        if ((!field_find(filter->kind, name.data, name.length) && element->form != WORD_PORT) ||
            unknown || (filter->captured && text_is(name, "pod_name")))
            continue;
        fputs(between, stream);
        words_put_comparison(stream, name, element, negated);
        between = negated ? " and " : " or ";
    }
}

bool words_put(struct word_filter *filter, const char *word, FILE *stream)
{
    const bool negated = *word == '!';
    const char *rest = word + negated, *between = "";
    struct word_element element;

    filter->message[0] = '\0';
    if (!*rest || *rest == '!')
        return words_fail(filter, "'%s' is not a filter: a value is missing", word);
    while (words_next(filter, &rest, &element)) {
        words_put_element(filter, stream, &element, negated, between);
        between = negated ? " and " : " or ";
    }
    return !filter->message[0];
}

bool words_have_name(const struct kind *kind, const char *word)
{
    struct word_filter filter = {.kind = kind};
    const char *rest = word + (*word == '!');
    struct word_element element;
    bool named = false;

    filter.message[0] = '\0';
    while (words_next(&filter, &rest, &element))
        named |= element.form >= WORD_ID;
    return named;
}
