/* SPDX-License-Identifier: MIT */
/* The parsed command line of ss, and what it lists. */
#ifndef CLI_SS_SS_H
#define CLI_SS_SS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"
#include "cli/ss/ss_selection.h"
#include "fastnet/bpf_map.h"
#include "fastnet/layouts.h"

/* The exit status for a wrong command line: ss's -1. */
enum { STATUS_SS_MISUSE = 255 };

struct ss_options {
    struct common common;
    struct ss_selection selection;
    struct ss_layout layout; /* options of the layout */
    bool events;             /* -E */
    bool summary;            /* -s */
    bool listed;             /* list sockets; always true without -s */
    bool no_queues;
    const char *filter_file;        /* argument of -F, or NULL */
    const char *dump;               /* argument of -D, or NULL */
    uint32_t map_ids[BPF_MAPS_MAX]; /* --bpf-map-id */
    int maps[BPF_MAPS_MAX];         /* descriptors of these maps */
    size_t map_count;
    struct bpf_values values[BPF_MAPS_MAX]; /* types of the maps' values */
    size_t value_count;
    /* Words that are not options, in their order: the states and the filter. */
    const char **words;
    size_t word_count;
};

/* Parses a command line of ss. Returns PARSED or an exit status, also if the selection has no
 * tables. Removes states from `words`, so that the filter is left. The caller must call
 * ss_options_finish(), also after a failure. */
int ss_parse(struct ss_options *options, int argc, char *const argv[]);
void ss_options_finish(struct ss_options *options);

/* The tables point at their predicates, so this struct cannot be copied. */
struct ss_tables {
    struct listing_table tables[2 * SS_TABLES];
    struct predicate_tree where[SS_TABLES];
    size_t count;
};

/* Sets the tables of a completed selection, in ss's order. */
void ss_choose_tables(struct ss_tables *tables, const struct ss_options *options);

/* Limits the selection to tables that -D can save. Returns 0, or an exit status after a line on
 * stderr. Sets *done if nothing is left to save. */
int ss_dump_choose(struct ss_options *options, bool *done);

/* Carries out the listing, with the file of -D as output. Returns the exit status. */
int ss_dump(const struct ss_options *options, struct listing_command *command);

/* Returns the file that TCPDIAG_FILE names, or NULL. Says on stderr why a file is ignored. */
const char *ss_diag_file(const struct ss_options *options);

/* Opens the maps that options name; they stay open until the program ends. Reads the types of their
 * values (or of all maps, if all are shown), as far as the user's rights allow. Must be called
 * before rights_limit(), which gives up these rights. Returns 0, or a status after a line on
 * stderr. */
int ss_open_maps(struct ss_options *options);

#endif
