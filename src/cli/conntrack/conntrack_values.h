/* What the arguments of conntrack's options mean. */
#ifndef CLI_CONNTRACK_CONNTRACK_VALUES_H
#define CLI_CONNTRACK_CONNTRACK_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/conntrack/conntrack_options.h"

/*
 * Each returns 0 and the value of the text, or -EINVAL for a text of another form. Numbers
 * are decimal, hexadecimal (0x) or octal (0), as in conntrack.
 */
int conntrack_number(const char *text, uint64_t max, uint64_t *number);

/* ADDRESS or ADDRESS/PREFIX, as a PREDICATE_WITHIN without its field. */
int conntrack_network(const char *text, struct predicate *within);

/* ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT or :PORT. */
int conntrack_nat(const char *text, struct conntrack_nat *nat);

/* A name or number of a protocol. */
int conntrack_protocol(const char *text, uint8_t *protocol);

/* The name of a state of that protocol. */
int conntrack_state(const char *text, uint8_t protocol, uint8_t *state);

/* MARK or MARK/MASK. */
int conntrack_mark(const char *text, uint32_t *mark, uint32_t *mask);

/* One word of -u, length bytes without the '!': its bit is *bit, 0 for UNSET. */
int conntrack_status(const char *word, size_t length, uint32_t *bit);

/* For conntrack_words(). One word of -e, as bits (1 << enum flow_event) of an unsigned. */
int conntrack_event(const char *word, size_t length, void *kinds);

/* For conntrack_words(). One word of -o, in a struct conntrack_layout. */
int conntrack_output(const char *word, size_t length, void *layout);

/* A table's name or its beginning. */
int conntrack_table(const char *text, enum conntrack_table *table);

/* Calls fn for each word of a list separated by commas; stops with what is not 0. */
int conntrack_words(const char *list, int (*fn)(const char *word, size_t length, void *arg),
                    void *arg);

#endif
