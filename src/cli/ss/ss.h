/* ss: its command line, parsed, and what it lists. */
#ifndef CLI_SS_SS_H
#define CLI_SS_SS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/common.h"
#include "cli/ss/ss_selection.h"
#include "fastnet/bpf_map.h"

/* The exit status of a wrong command line: -1 of ss. */
enum { STATUS_SS_MISUSE = 255 };

struct ss_options {
    struct common common;
    struct ss_selection selection;
    bool numeric, resolve;
    bool all, timers, extended, memory, processes, threads, info;
    bool tos, cgroup, sockopts, filters, storages, tipcinfo;
    bool events;  /* -E */
    bool summary; /* -s */
    bool listed;  /* sockets are listed: always without -s */
    bool no_queues, one_line;
    const char *filter_file;        /* of -F, or NULL */
    const char *dump;               /* of -D, or NULL */
    uint32_t map_ids[BPF_MAPS_MAX]; /* of --bpf-map-id */
    int maps[BPF_MAPS_MAX];         /* their descriptors */
    size_t map_count;
    struct bpf_values values[BPF_MAPS_MAX]; /* types of the values of maps */
    size_t value_count;
    /* The states and the filter: the words that are not options, in their order. */
    const char **words;
    size_t word_count;
};

/*
 * As common_parse(). States are removed from the words; the rest is the filter. *done is also set
 * if there is nothing to list. The caller must call ss_options_finish(), also on failure.
 */
int ss_parse(struct ss_options *options, int argc, char *const argv[], bool *done);
void ss_options_finish(struct ss_options *options);

#endif
