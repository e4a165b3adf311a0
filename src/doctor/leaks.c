/* SPDX-License-Identifier: MIT */
/* Processes that hold many sockets which no table lists. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/reading.h"
#include "fastnet/array.h"
#include "fastnet/doctor.h"
#include "fastnet/engine.h"
#include "fastnet/namespace.h"
#include "fastnet/report.h"

/* A sample while it is taken. */
struct leaks_sample {
    struct leaks *leaks;
    struct engine *engine;
    const char *root; /* the directory with the processes */
    uint64_t netns;   /* this thread's network namespace */
    size_t seen;      /* number of processes whose sockets this user may see */
};

/* Takes a process with many descriptors, if it is in this network namespace, or if nobody knows in
 * which it is. */
static int leaks_take_process(const struct process_descriptors *process, void *arg)
{
    struct leaks_sample *sample = arg;
    struct leaks *leaks = sample->leaks;
    const uint64_t netns = namespace_of_process(sample->root, process->pid);
    struct process_descriptors again; /* to know whether the process has ended */
    struct leak *leak;

    if (netns ? netns != sample->netns
              : descriptors_of(sample->root, process->pid, &again) < 0 || !again.open)
        return 0;
    leak = ARRAY_ADD(leaks->list, leaks->count, leaks->capacity);
    if (!leak)
        return -ENOMEM;
    *leak = (struct leak){.process = *process, .samples = 1, .denied = !netns};
    leak->sockets[0] = leak->denied ? process->open : 0;
    sample->seen += !leak->denied;
    return 0;
}

/* Counts a socket for each process that holds it. */
static int leaks_take_socket(const struct record *record, void *arg)
{
    const struct leaks_sample *sample = arg;
    struct owners *owners = engine_context(sample->engine)->owners;
    const struct owner *holders = NULL;
    size_t count;

    if (record->socket.listed != LISTED_NO || !owners)
        return 0;
    count = owners_find(owners, record->socket.inode, &holders);
    for (size_t i = 0; i < sample->leaks->count; i++)
        for (size_t j = 0; j < count; j++)
            if (!sample->leaks->list[i].denied &&
                holders[j].process->pid == sample->leaks->list[i].process.pid) {
                sample->leaks->list[i].sockets[0]++;
                break;
            }
    return 0;
}

/* Lists the unlisted sockets that the processes of the sample hold. */
static int leaks_count_sockets(struct leaks_sample *sample, const struct doctor_options *options,
                               struct report *report)
{
    const struct leaks *leaks = sample->leaks;
    const struct field *pid = field_named(&kind_socket, "pid");
    struct predicate any = {.operation = PREDICATE_OR};
    struct predicate *parts = calloc(leaks->count, sizeof *parts);
    const struct listing_table table = {.table = &table_unlisted, .unnamed = true};
    const struct listing listing = {
        .needs.fields = SOCKET_INODE | SOCKET_STATE,
        .proc_root = options->proc_root,
        .processes = options->processes,
        .backend = options->backend,
        .owners = options->owners,
        .tables = &table,
        .table_count = 1,
        .where = &any,
        .unlisted = UNLISTED_ONLY,
    };

    if (!parts)
        return -ENOMEM;
    for (size_t i = 0; i < leaks->count; i++) {
        if (leaks->list[i].denied)
            continue;
        parts[i] = predicate_number(pid, (uint64_t)leaks->list[i].process.pid);
        predicate_add(&any, &parts[i]);
    }
    const int error = engine_gather(sample->engine, &listing, leaks_take_socket, sample, report);
    free(parts);
    return error;
}

/* Keeps the processes that hold many such sockets, with their numbers in the samples before. */
static void leaks_keep_many(struct leaks *leaks, const struct leaks *before)
{
    size_t kept = 0;

    for (size_t i = 0; i < leaks->count; i++) {
        struct leak *leak = &leaks->list[i];
        if (leak->sockets[0] < LEAK_LEAST)
            continue;
        for (size_t j = 0; before && j < before->count; j++) {
            const struct leak *old = &before->list[j];
            if (old->process.pid != leak->process.pid || old->denied != leak->denied ||
                strcmp(old->process.name, leak->process.name) != 0)
                continue;
            memcpy(&leak->sockets[1], old->sockets, (LEAK_SAMPLES - 1) * sizeof *old->sockets);
            leak->samples = old->samples < LEAK_SAMPLES ? old->samples + 1 : LEAK_SAMPLES;
        }
        leaks->list[kept++] = *leak;
    }
    leaks->count = kept;
}

int leaks_take(struct leaks *leaks, const struct leaks *before, struct engine *engine,
               const struct doctor_options *options, struct report *report)
{
    struct leaks_sample sample = {leaks, engine, doctor_processes(options), namespace_own_id(), 0};
    struct report losses = {.partial = false};
    struct descriptors_missed missed;
    int error;

    *leaks = (struct leaks){.count = 0};
    error = descriptors_each(sample.root, LEAK_LEAST, leaks_take_process, &sample, &missed);
    leaks->sampled = true;
    leaks->hidden = missed.hidden;
    leaks->denied = missed.denied;
    if (!error && !missed.counted && !missed.denied)
        error = -ENOENT;
    if (!error && sample.seen)
        error = leaks_count_sockets(&sample, options, &losses);
    report_hand_on(report, &losses);
    leaks_keep_many(leaks, before);
    return error;
}

int leaks_take_again(struct leaks *leaks, struct engine *engine,
                     const struct doctor_options *options, struct report *report)
{
    const struct leaks before = *leaks;
    const int error = before.count ? leaks_take(leaks, &before, engine, options, report) : 0;

    if (before.count)
        free(before.list);
    return error;
}
