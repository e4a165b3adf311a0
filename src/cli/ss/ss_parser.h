/* SPDX-License-Identifier: MIT */
/* Shared by the files that parse filters. */
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
    SS_SRC, /* from here on: the beginnings of conditions */
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
    struct where_parser memory; /* of predicates: shared with --where */
    enum ss_token token;
    char *word;    /* of the token; kept as long as the predicates */
    size_t number; /* of the word: 1 is the first */
    unsigned depth, changes;
    bool others; /* sockets of other families than IP will be listed */
};

/* Sets the message, with the place of the word. An earlier message stays. Returns NULL. */
struct predicate *ss_refuse(struct ss_parser *parser, struct misuse misuse);
/* The same in words alone, made as printf(3) does. */
#define ss_fail(parser, ...) ss_refuse(parser, (struct misuse){.wrong = SAID(__VA_ARGS__)})

/* The same for a value: "'WORD': WHAT". */
struct predicate *ss_fail_value(struct ss_parser *parser, const char *what);

/* Whether sockets of other families than IP are selected. */
bool ss_lists_others(const struct ss_parser *parser);

/* A comparison that fails, and is not merely unknown, in rows without its field. */
struct predicate *ss_compare(struct ss_parser *parser, struct predicate comparison);
/* The same by < > <= >= or =; callers negate the result for != */
struct predicate *ss_compare_number(struct ss_parser *parser, const struct field *field,
                                    enum ss_token comparison, uint64_t number);

/* Holds for every row, or for none. */
struct predicate *ss_constant(struct ss_parser *parser, bool holds);

/* As form_number(), with 32 bits; a negative number is as its bits are. */
const char *ss_signed_number(const char *text, uint32_t *number);
/* The number of an interface by its name or number; false, after a message: there is none. */
bool ss_interface(struct ss_parser *parser, const char *text, uint32_t *index);

/* The device that a socket is bound to, by its name or number; 0 is none. */
struct predicate *ss_device(struct ss_parser *parser, const char *text);

/* The conditions on an end of the socket; `text` is changed. */
enum ss_end { SS_LOCAL, SS_REMOTE };
struct predicate *ss_host(struct ss_parser *parser, enum ss_end end, char *text);
struct predicate *ss_port(struct ss_parser *parser, enum ss_end end, enum ss_token comparison,
                          char *text);

#endif
