/* SPDX-License-Identifier: MIT */
/* Filters in the languages of ss and tcpdump, and options without their dashes: `dport = 5432`,
 * `tcp port 443`, `state close-wait`. They are refused, with the command line to type instead. */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stdbool.h>

struct common;

/* True if people begin a filter of ss or tcpdump with this word. */
bool foreign_begins(const char *word);

/* Searches the words of the command line for filters of ss and tcpdump. Returns 0, or an exit
 * status after a line on stderr. */
int foreign_refuse(const struct common *common, char *const argv[]);

#endif
