/* SPDX-License-Identifier: MIT */
/* Shared by the files that parse filters of ss. */
#ifndef CLI_SS_SS_PARSER_H
#define CLI_SS_SS_PARSER_H

#include "cli/ss/ss_filter.h"
#include "cli/where/parser.h"

enum ss_token {
    SS_END,
    SS_WORD,
    SS_OPEN,
    SS_CLOSE,
    SS_AND,
    SS_OR,
    SS_NOT,
    SS_SRC, /* from here on: words that begin conditions */
    SS_DST,
    SS_SPORT,
    SS_DPORT,
    SS_DEV,
    SS_FWMARK,
    SS_CGROUP,
    SS_AUTOBOUND,
    SS_EQUAL, /* from here on: comparisons */
    SS_NOT_EQUAL,
    SS_AT_LEAST,
    SS_AT_MOST,
    SS_GREATER,
    SS_LESS,
};

struct ss_parser {
    struct ss_filter *filter;
    struct where_parser memory; /* memory for predicates, as for --where */
    enum ss_token token;
    char *word;    /* word of the token; lives as long as the predicates */
    size_t number; /* number of the word; the first is 1 */
    unsigned depth, changes;
    bool others; /* sockets of other families than IP will be listed */
};

/* Sets the message, with the position of the word, unless an earlier error set it. Returns NULL. */
struct predicate *ss_refuse(struct ss_parser *parser, struct misuse misuse);
/* Like ss_refuse(), with a message that is formatted as by printf(3). */
#define ss_fail(parser, ...) ss_refuse(parser, (struct misuse){.wrong = MESSAGE_TEXT(__VA_ARGS__)})

/* Like ss_fail(), for the current word: "'WORD': WHAT". */
struct predicate *ss_fail_value(struct ss_parser *parser, const char *what);

/* True if sockets of other families than IP are selected. */
bool ss_lists_others(const struct ss_parser *parser);

/* Makes a comparison that is false, instead of unknown, for rows without its field. */
struct predicate *ss_compare(struct ss_parser *parser, struct predicate comparison);
/* Like ss_compare(), with < > <= >= or =. For !=, callers negate the result. */
struct predicate *ss_compare_number(struct ss_parser *parser, const struct field *field,
                                    enum ss_token comparison, uint64_t number);

/* Makes a condition that is true for every row, or for no row. */
struct predicate *ss_constant(struct ss_parser *parser, bool holds);

/* Like form_number(), for 32 bits. A negative number is stored in two's complement. */
const char *ss_signed_number(const char *text, uint32_t *number);
/* Finds an interface by its name or number. Returns false, after a message, if it does not
 * exist. */
bool ss_interface(struct ss_parser *parser, const char *text, uint32_t *index);

/* Compares the device that a socket is bound to, by name or number; 0: not bound. */
struct predicate *ss_device(struct ss_parser *parser, const char *text);

/* Make conditions on one end of a socket. They change `text`. */
enum ss_end { SS_LOCAL, SS_REMOTE };
struct predicate *ss_host(struct ss_parser *parser, enum ss_end end, char *text);
struct predicate *ss_port(struct ss_parser *parser, enum ss_end end, enum ss_token comparison,
                          char *text);

#endif
