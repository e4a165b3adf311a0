/* SPDX-License-Identifier: MIT */
/* conntrack's command lines, parsed. */
#ifndef UNIT_CT_LINE_H
#define UNIT_CT_LINE_H

#include <stdbool.h>

#include "cli/conntrack/conntrack_options.h"
#include "reference.h"

/* What came of one. */
struct ct_parsed {
    struct conntrack_options options;
    int status;
    bool done;
    char said[CAPTURE_MAX], printed[CAPTURE_MAX];
};

/* The words up to NULL, behind the program's name. */
struct ct_parsed ct_parse_as(const char *program, const char *const words[]);

/* They are asked for without a complaint. */
struct conntrack_options ct_accept(const char *const words[]);

/* They are refused: a line that names what is wrong, one that tells where help is, exit 2. */
void ct_assert_wrong(const char *const words[], const char *said);

/*
 * What options, given as one line, ask for: "-p tcp --dport 443". It stays until CT_FILTERS more
 * were made.
 */
enum { CT_FILTERS = 4 };
struct conntrack_filter *ct_filter(const char *line);
/* The same of flows, as a predicate. */
const struct predicate *ct_where(const char *line);

#define PARSE(...)       ct_parse_as("conntrack", (const char *const[]){__VA_ARGS__, NULL})
#define ACCEPT(...)      ct_accept((const char *const[]){__VA_ARGS__, NULL})
#define WRONG(said, ...) ct_assert_wrong((const char *const[]){__VA_ARGS__, NULL}, said)

#endif
