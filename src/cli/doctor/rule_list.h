/* SPDX-License-Identifier: MIT */
/* The rules of the doctor on the command line: patterns that name them, and --list. */
#ifndef CLI_DOCTOR_RULE_LIST_H
#define CLI_DOCTOR_RULE_LIST_H

#include <stdint.h>

#include "cli/common.h"

/* Returns the rules (bit n: doctor_rule(n)) whose names the pattern matches, as fnmatch(3). */
uint64_t rule_list_find(struct text pattern);

/* Reports a name or pattern without a rule, with the names that are near. wrong: the message, with
 * %s in place of the pattern. Returns the exit status. */
int rule_list_refuse(const struct common *common, const char *wrong, struct text pattern);

/* Prints the rules, with what they find and their thresholds. Returns the exit status. */
int rule_list_print(const struct common *common, uint64_t rules);

#endif
