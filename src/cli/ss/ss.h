/* ss: its command line, parsed, and what it lists. */
#ifndef CLI_SS_SS_H
#define CLI_SS_SS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/common.h"
#include "cli/ss/ss_selection.h"

/* The exit status of a wrong command line: -1 of ss. */
enum { STATUS_SS_MISUSE = 255 };

struct ss_options {
    struct common common;
    struct ss_selection selection;
    bool numeric, resolve;
    bool all, timers, extended, memory, processes, threads, info;
    bool tos, cgroup, sockopts, filters, storages, tipcinfo;
    bool events; /* -E */
    bool no_queues, one_line, continuous;
    const char *filter_file; /* of -F, or NULL */
    const char *dump;        /* of -D, or NULL */
    /* The states and the filter: what is no option, in the order of the command line. */
    const char **words;
    size_t word_count;
};

/*
 * As common_parse(). Takes the states from the words; what is left there is the filter. Sets *done
 * as well when there is nothing to list. Afterwards ss_options_finish() is due in any case.
 */
int ss_parse(struct ss_options *options, int argc, char *const argv[], bool *done);
void ss_options_finish(struct ss_options *options);

#endif
