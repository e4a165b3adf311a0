/* SPDX-License-Identifier: MIT */
/* ss: its command line, parsed, and what it lists. */
#ifndef CLI_SS_SS_H
#define CLI_SS_SS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"
#include "cli/ss/ss_selection.h"
#include "fastnet/bpf_map.h"
#include "fastnet/layouts.h"

/* The exit status of a wrong command line: -1 of ss. */
enum { STATUS_SS_MISUSE = 255 };

struct ss_options {
    struct common common;
    struct ss_selection selection;
    struct ss_layout layout; /* what the options say of it */
    bool events;             /* -E */
    bool summary;            /* -s */
    bool listed;             /* sockets are listed: always without -s */
    bool no_queues;
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
 * As common_parse(). States are removed from the words; the rest is the filter. The status is
 * also that of a selection without tables. The caller must call ss_options_finish(), also on
 * failure.
 */
int ss_parse(struct ss_options *options, int argc, char *const argv[]);
void ss_options_finish(struct ss_options *options);

/* --- Which tables ----------------------------------------------------------------------------- */

/* The tables point at their predicates: it cannot be copied. */
struct ss_tables {
    struct listing_table tables[2 * SS_TABLES];
    struct predicate_tree where[SS_TABLES];
    size_t count;
};

/* The tables of a completed selection, in ss's order. */
void ss_choose_tables(struct ss_tables *tables, const struct ss_options *options);

/* --- -D, and TCPDIAG_FILE, which names its file ----------------------------------------------- */

/*
 * Limits the selection to what -D saves. Returns 0, or an exit status after a line on stderr. *done
 * is set if there is nothing to save.
 */
int ss_dump_choose(struct ss_options *options, bool *done);

/* Lists as the command says, to the file of -D. Returns the exit status. */
int ss_dump(const struct ss_options *options, struct listing_command *command);

/* The file that TCPDIAG_FILE names, or NULL. A line on stderr says why it is ignored, if it is. */
const char *ss_diag_file(const struct ss_options *options);

/* --- --bpf-maps and --bpf-map-id -------------------------------------------------------------- */

/*
 * Opens the maps that were named; they stay open as long as the program runs. Reads the types of
 * their values, or of all maps if these are shown, as far as the user has the right. Call it before
 * rights_limit(), which gives up the right to do so. Returns 0, or an exit status after a line on
 * stderr.
 */
int ss_open_maps(struct ss_options *options);

#endif
