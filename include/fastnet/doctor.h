/* SPDX-License-Identifier: MIT */
/* The doctor reads the tables of sockets, counters, flows, neighbours and interfaces, waits, reads
 * them again, and reports problems. A finding is red only if a counter of losses grows, or a limit
 * is reached. */
#ifndef FASTNET_DOCTOR_H
#define FASTNET_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "fastnet/query.h"

/* A rule. Its name stays the same after a release. */
struct doctor_rule {
    const char *name; /* for example "accept-queue" */
    const char *help; /* the problem that the rule finds, in a few words */
    /* Texts of its findings (record/finding.h): the advice, a command that shows more, the sources.
     * In the command, PID is replaced by the process, and options that choose the network namespace
     * are added. */
    const char *advice, *command, *source;
    const char *threshold; /* from which numbers on it is a finding, in a few words */
};

/* Returns rule number `i`, from 0; NULL after the last rule. There are at most 64. */
const struct doctor_rule *doctor_rule(size_t i);

struct doctor;

/* How to examine. The strings are borrowed. */
struct doctor_options {
    uint64_t rules;        /* bit n: use doctor_rule(n) */
    unsigned milliseconds; /* interval between the two readings; 0: only one reading */
    bool repeats;          /* more readings follow, so probes begin even if milliseconds is 0 */
    bool all_netns;        /* the caller examines several network namespaces, one after another */
    const char *netns; /* name of the entered network namespace, as the user typed it; or NULL */
    const char *proc_root;
    const char *processes;  /* directory with the processes; NULL: proc_root */
    const char *typed_root; /* argument of --proc-root; NULL: not given */
    enum backend_choice backend;
    enum owners_choice owners;
    /* Shows how long the doctor still waits before the second reading; or NULL. */
    const struct clock_progress *progress;
    bool once; /* there is no third reading: ctrl-C ends the wait, and the second reading follows */
};

/* Returns the directory with the processes. */
static inline const char *doctor_processes(const struct doctor_options *options)
{
    return options->processes ? options->processes : options->proc_root;
}

/* Borrows the options. Returns NULL if memory is short. */
struct doctor *doctor_create(const struct doctor_options *options);
void doctor_destroy(struct doctor *doctor);

/* Functions for struct maker; the maker is a struct doctor. doctor_examine() passes each finding to
 * `fn`. A further call reads once, and compares with the reading of the call before. With
 * all_netns, the first call reads in all network namespaces before it waits, and each call examines
 * the namespace that the thread is in. doctor_begin() begins a new summary, and forgets namespaces
 * that were not read since its last call. */
void doctor_begin(void *doctor);
int doctor_examine(void *doctor, const struct query *query, record_fn fn, void *arg);

/* Takes the first reading, and passes on the findings of rules that need no second reading. A
 * listing of doctor_examine() must follow: it passes on the other findings, and reports the losses
 * of both readings. The summary counts all findings. */
int doctor_examine_first(void *doctor, const struct query *query, record_fn fn, void *arg);

/* Totals since doctor_begin(): findings, tried rules, and the time since the first of two
 * readings. */
struct doctor_summary {
    uint64_t findings[SEVERITIES];
    uint64_t rules, milliseconds;
    bool partial; /* rows or whole tables could not be read */
};
/* Returns the totals, borrowed. */
const struct doctor_summary *doctor_summary(const struct doctor *doctor);

#endif
