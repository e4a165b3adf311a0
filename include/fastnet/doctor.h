/* SPDX-License-Identifier: MIT */
/*
 * The doctor: reads the tables of sockets, counters, flows, neighbours and interfaces, waits, reads
 * them again, and says what is wrong. A rule is red only if a counter of losses moves, or if a
 * limit is reached.
 */
#ifndef FASTNET_DOCTOR_H
#define FASTNET_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "fastnet/query.h"

/* A rule, for people. Names are a promise. */
struct doctor_rule {
    const char *name; /* "accept-queue" */
    const char *help; /* what is wrong where it fires, in a few words */
    /*
     * Texts of its findings (record/finding.h): the advice, a command that shows more, the sources.
     * In the command, PID stands for the process, and options that choose the namespace are added.
     */
    const char *advice, *command, *source;
};

/* The rules, from 0 on, at most 64. Returns NULL behind the last. */
const struct doctor_rule *doctor_rule(size_t i);

struct doctor;

struct doctor_options {
    uint64_t rules;        /* bit n: doctor_rule(n) is tried */
    unsigned milliseconds; /* between the two readings; 0: there is only one */
    bool all_netns;        /* it is asked to examine one network namespace after another */
    const char *netns;     /* as the user named the one that this process has entered; or NULL */
    const char *proc_root;
    const char *processes;  /* the directory with the processes; NULL: proc_root */
    const char *typed_root; /* --proc-root; NULL: it was not given */
    enum backend_choice backend;
    enum owners_choice owners;
};

static inline const char *doctor_processes(const struct doctor_options *options)
{
    return options->processes ? options->processes : options->proc_root;
}

/* Borrows the options. Returns NULL when memory is short. */
struct doctor *doctor_create(const struct doctor_options *options);
void doctor_destroy(struct doctor *doctor);

/*
 * Both are for struct maker; the maker is a struct doctor. doctor_examine() passes each finding to
 * fn. Called again, it reads once, and compares with what the call before has read. With all_netns
 * the first call reads in all namespaces before it waits; each call is about the one that the
 * thread is in. doctor_begin() begins a new summary, and forgets namespaces that were not read in
 * since it was called last.
 */
void doctor_begin(void *doctor);
int doctor_examine(void *doctor, const struct query *query, record_fn fn, void *arg);

/* Totals of the examinations since doctor_begin(): how many findings there were, rules tried,
 * milliseconds from the first of two readings on. */
struct doctor_summary {
    uint64_t findings[SEVERITIES];
    uint64_t rules, milliseconds;
    bool partial; /* not all could be looked at */
};
const struct doctor_summary *doctor_summary(const struct doctor *doctor);

#endif
