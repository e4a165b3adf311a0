/* SPDX-License-Identifier: MIT */
/* Rules about processes: connections not closed, too many descriptors or unlisted sockets. */
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/descriptors.h"
#include "fastnet/engine.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"
#include "fastnet/profiles.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

/* --- Connections that nobody closes ----------------------------------------------------------- */

/* UNCLOSED_MANY connections are no accident. Fewer are reported if they are a large part of the
 * process's descriptors. Connections that are closed late are no leak: their number grows only
 * until as many are closed as come. */
enum {
    UNCLOSED_MANY = 100,
    UNCLOSED_FEW = 10,
    UNCLOSED_PERCENT = 20,
    UNCLOSED_GROWTH = 3,
    UNCLOSED_OLDER = 50
};

/* Returns whether hardly any connection of the service was closed. */
static bool unclosed_stay(const struct holder *holder)
{
    return holder->closed * UNCLOSED_FEW <= holder->kept;
}

/* Returns whether connections came, but hardly any was closed. Other processes may use the same
 * port. A process that closes late would have closed some of its connections, if it has
 * UNCLOSED_OLDER of them that are older than all that were closed. */
static bool unclosed_grow(const struct holder *holder)
{
    return holder->kept >= UNCLOSED_FEW && holder->count >= holder->kept + UNCLOSED_GROWTH &&
           (unclosed_stay(holder) || holder->older >= UNCLOSED_OLDER);
}

static bool unclosed_are_many(uint64_t count, uint64_t descriptors)
{
    return count >= UNCLOSED_MANY ||
           (count >= UNCLOSED_FEW && reaches(count, UNCLOSED_PERCENT, descriptors));
}

static void emit_unclosed(struct examination *examination, const struct holder *holder)
{
    struct process_descriptors descriptors = {.open = 0};
    char process[PROCESS_TEXT];
    struct finding finding;

    (void)descriptors_of(doctor_processes(examination->options), holder->process->pid,
                         &descriptors);
    const bool is_old = unclosed_are_many(holder->old, descriptors.open);
    const uint64_t count = is_old ? holder->old : holder->count;
    char older[64] = "";
    if (!is_old && !(unclosed_grow(holder) && unclosed_are_many(count, descriptors.open)))
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", "");
    process_text(process, examination, &finding, holder->socket->inode);
    if (is_old)
        finding_summary(&finding,
                        "%s does not close %" PRIu64 " connections that the other end closed more "
                        "than a minute ago",
                        process, count);
    else
        finding_summary(&finding,
                        "%s does not close connections that the other end has closed: there are "
                        "%" PRIu64 ", %" PRIu64 " more than %.7g s ago",
                        process, count, count - holder->kept, seconds_between(examination));
    finding_evidence(&finding, "%" PRIu64 " sockets in CLOSE_WAIT, of %" PRIu64 " descriptors",
                     holder->count, descriptors.open);
    if (!unclosed_stay(holder))
        snprintf(older, sizeof older, ", none as old as %" PRIu64 " of these", holder->older);
    if (!is_old)
        finding_evidence(&finding,
                         "%" PRIu64 " of them were in CLOSE_WAIT before, %" PRIu64
                         " others were closed since%s",
                         holder->kept, holder->closed, older);
    if (descriptors.limit)
        finding_evidence(&finding, "its limit is %" PRIu64 " descriptors", descriptors.limit);
    finding_emit(&finding, examination, count, ABSENT, is_old ? ABSENT : count - holder->kept);
}

int holders_compare(const void *one, const void *other)
{
    const struct owner_process *a = ((const struct holder *)one)->process;
    const struct owner_process *b = ((const struct holder *)other)->process;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

size_t find_holders(struct examination *examination, const struct doctor_sockets *held,
                    const char *what, size_t least, struct holder **found)
{
    struct owners *owners = held->count ? owners_of(examination) : NULL;
    struct holder *holders = owners ? calloc(held->count, sizeof *holders) : NULL;
    size_t sockets = 0, count = 0;

    *found = holders;
    if (owners && !holders)
        examination->error = -ENOMEM;
    for (size_t i = 0; holders && i < held->count; i++) {
        const struct owner *owner;
        if (owners_find(owners, held->list[i].inode, &owner))
            holders[sockets++] = (struct holder){owner->process,        1,
                                                 &held->list[i],        held->list[i].is_old,
                                                 held->list[i].is_kept, held->list[i].closed,
                                                 held->list[i].is_older};
    }
    if (what && holders && held->count - sockets >= least)
        report_loss(examination->report, "%s: %zu %s belong to processes that are not visible%s",
                    examination->rule->text.name, held->count - sockets, what, rights_advice());
    if (sockets)
        qsort(holders, sockets, sizeof *holders, holders_compare);
    for (size_t i = 0; i < sockets; i++) {
        if (count && holders[count - 1].process->pid == holders[i].process->pid) {
            holders[count - 1].count++;
            holders[count - 1].old += holders[i].old;
            holders[count - 1].kept += holders[i].kept;
            holders[count - 1].older += holders[i].older;
            if (holders[i].closed > holders[count - 1].closed)
                holders[count - 1].closed = holders[i].closed;
        } else {
            holders[count++] = holders[i];
        }
    }
    return count;
}

/* Sets `closed` and `is_older` of the sockets. Who closed a connection is not known any more, but
 * which port it used, and for how long at most it had waited. */
static void count_closed(struct examination *examination, struct doctor_sockets *unclosed)
{
    const struct sockets_reading *now = &examination->now->sockets,
                                 *before = &examination->before->sockets;
    const uint64_t since = (examination->now->at - examination->before->at) / CLOCK_MILLISECOND;
    struct closed {
        uint64_t count, longest;
    } *closed = calloc(UINT16_MAX + 1, sizeof *closed); /* index: the service */

    if (!closed) {
        examination->error = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < before->unclosed.count; i++) {
        const struct doctor_socket *socket = &before->unclosed.list[i];
        struct closed *of = &closed[socket->service];
        if (sockets_have_unclosed(now, socket->cookie))
            continue;
        of->count++;
        of->longest = socket->silence > of->longest ? socket->silence : of->longest;
    }
    for (size_t i = 0; i < unclosed->count; i++) {
        struct doctor_socket *socket = &unclosed->list[i];
        const struct closed *of = &closed[socket->service];
        socket->closed = of->count;
        socket->is_older = socket->is_kept && socket->silence > of->longest + since;
    }
    free(closed);
}

void rule_close_wait(struct examination *examination)
{
    const struct doctor_sockets *all = &examination->now->sockets.unclosed;
    struct doctor_sockets unclosed = {calloc(all->count + 1, sizeof *unclosed.list), 0, 0};
    struct holder *holders = NULL, sum = {.count = all->count};
    size_t count = 0;

    if (!unclosed.list)
        examination->error = -ENOMEM;
    for (size_t i = 0; i < all->count && unclosed.list; i++) {
        sum.old += all->list[i].is_old;
        sum.kept += all->list[i].is_kept;
        unclosed.list[unclosed.count++] = all->list[i];
    }
    const bool may_grow = unclosed_grow(&sum);
    if (may_grow && unclosed.list)
        count_closed(examination, &unclosed);
    if (may_grow || sum.old >= UNCLOSED_FEW)
        count = find_holders(examination, &unclosed, "connections that are not closed",
                             UNCLOSED_FEW, &holders);
    for (size_t i = 0; i < count && !examination->error; i++)
        emit_unclosed(examination, &holders[i]);
    free(unclosed.list);
    free(holders);
}

/* --- Processes that are not visible ----------------------------------------------------------- */

/* Listeners that no visible process holds, in two searches: a process may end during the first. */
enum { UNSEEN_KEPT = 64 };
struct unseen_listeners {
    struct owners *owners;
    uint64_t inodes[UNSEEN_KEPT];
    size_t count;
    bool is_second, is_certain;
};

static int unseen_take_listener(const struct record *record, void *arg)
{
    struct unseen_listeners *unseen = arg;
    const uint64_t inode = record->socket.inode;
    const struct owner *owner;

    if (!inode || owners_find(unseen->owners, inode, &owner))
        return 0;
    if (!unseen->is_second && unseen->count < UNSEEN_KEPT)
        unseen->inodes[unseen->count++] = inode;
    for (size_t i = 0; i < unseen->count && unseen->is_second; i++)
        unseen->is_certain |= unseen->inodes[i] == inode;
    return 0;
}

/* Returns whether a listener belongs to a process outside of the visible pid namespace. */
static bool listeners_are_unseen(struct examination *examination)
{
    const struct doctor_options *options = examination->options;
    const struct predicate listens =
        predicate_one_of(field_named(&kind_socket, "state"), UINT64_C(1) << TCP_LISTEN);
    const struct listing_table tables[] = {
        {.table = &table_tcp, .where = &listens, .unnamed = true},
        {.table = &table_tcp6, .where = &listens, .unnamed = true},
        {.table = &table_unix, .where = &listens, .unnamed = true},
    };
    const struct listing listing = {.needs.fields = SOCKET_INODE | SOCKET_STATE,
                                    .proc_root = options->proc_root,
                                    .backend = options->backend,
                                    .tables = tables,
                                    .table_count = COUNT(tables)};
    struct unseen_listeners unseen = {.owners = owners_of(examination)};
    struct report losses = {.partial = false}; /* the readings report the same problems */

    if (!unseen.owners || owners_summary(unseen.owners)->denied ||
        engine_gather(examination->engine, &listing, unseen_take_listener, &unseen, &losses) < 0 ||
        !unseen.count || owners_refresh(unseen.owners) < 0)
        return false;
    unseen.is_second = true;
    return engine_gather(examination->engine, &listing, unseen_take_listener, &unseen, &losses) ==
               0 &&
           unseen.is_certain;
}

/* Notes that processes outside of the visible pid namespace use this network namespace, too. The
 * first network namespace is always that of others; only there the kernel has some sysctls. In a
 * container with a network namespace of its own, all processes are visible. */
static void note_unseen_processes(struct examination *examination)
{
    struct proc_tree tree;
    bool is_partial;

    if (examination->is_captured ||
        proc_tree_init(&tree, doctor_processes(examination->options)) < 0)
        return;
    is_partial = procfs_is_partial(&tree);
    proc_tree_finish(&tree);
    if (is_partial &&
        (examination->now->counts.known[TCP_PAGES_PRESSURE] || listeners_are_unseen(examination)))
        parts_add_missing(examination, "processes outside of ", "this pid namespace");
}

/* --- Descriptors ------------------------------------------------------------------------------ */

/* Nobody sets lower limits, so processes with fewer descriptors are skipped. */
enum { DESCRIPTORS_PERCENT = 90, DESCRIPTORS_LEAST = 16 };

/* Returns whether the process is in this thread's netns. An unknown netns has the id 0. */
static bool is_in_own_netns(const char *root, pid_t pid)
{
    const uint64_t own = namespace_own_id();

    return own && namespace_of_process(root, pid) == own;
}

/* The doctor itself is left out: with --all-netns, it has descriptors of all namespaces open. */
static int processes_take_process(const struct process_descriptors *process, void *arg)
{
    struct examination *examination = arg;
    const bool is_self = !examination->is_captured && process->pid == getpid();
    const bool one_namespace = examination->options->netns;
    const char *root = doctor_processes(examination->options);
    char text[PROCESS_TEXT];
    struct finding finding;

    if (is_self || !reaches(process->open, DESCRIPTORS_PERCENT, process->limit) ||
        (one_namespace && !is_in_own_netns(root, process->pid)))
        return 0;
    finding_begin(&finding, examination,
                  process->open >= process->limit ? SEVERITY_FAULT : SEVERITY_WARNING, "%s",
                  process->name);
    finding.record.finding.machine = !one_namespace;
    finding_process(&finding, text, process->name, (uint32_t)process->pid);
    finding_summary(&finding, "%s has %" PRIu64 " of %" PRIu64 " descriptors open%s", text,
                    process->open, process->limit,
                    process->open >= process->limit ? ": it cannot accept or open any more" : "");
    finding_evidence(&finding, "%" PRIu64 " entries in %s/%d/fd, soft limit %" PRIu64,
                     process->open, examination->options->processes ? root : "/proc",
                     (int)process->pid, process->limit);
    finding_emit(&finding, examination, process->open, process->limit, ABSENT);
    return 0;
}

void rule_descriptors(struct examination *examination)
{
    struct report *report = examination->report;
    struct descriptors_missed missed;
    const char *root = doctor_processes(examination->options);
    const int error =
        descriptors_each(root, DESCRIPTORS_LEAST, processes_take_process, examination, &missed);

    if (error < 0)
        report_loss(report, "descriptors: %s: %s", root, strerror(-error));
    if (missed.denied)
        report_loss(report, "descriptors: not allowed to count the open files of %zu process%s%s",
                    missed.denied, missed.denied == 1 ? "" : "es", rights_advice());
    if (missed.unlisted)
        report_loss(report, "%s lacks the descriptors of %zu process%s", root, missed.unlisted,
                    missed.unlisted == 1 ? "" : "es");
    if (missed.limits) {
        char limits[64];
        snprintf(limits, sizeof limits, "limits of %zu process%s", missed.limits,
                 missed.limits == 1 ? "" : "es");
        parts_add_missing(examination, "", limits);
    }
    examination->lacking |= !missed.counted;
    if (missed.none)
        report_loss(report, "%s has no processes", root);
    else if (missed.hidden)
        report_loss(report, "descriptors: %s does not list all processes (hidepid? see proc(5))%s",
                    root, rights_advice());
    else
        note_unseen_processes(examination);
    if (missed.error)
        report_loss(report, "some descriptors were not counted: %s", strerror(-missed.error));
}

/* --- Sockets that no table lists ---------------------------------------------------------------
 */

/* A pool of idle sockets has fewer than LEAK_MANY, or does not grow. */
enum { LEAK_MANY = 1000, LEAK_GROWTH = 20 };

static bool leak_grows(const struct leak *leak)
{
    bool grows = leak->samples == LEAK_SAMPLES;

    for (size_t i = 0; i + 1 < LEAK_SAMPLES; i++)
        grows &= leak->sockets[i] >= leak->sockets[i + 1] + LEAK_GROWTH;
    return grows;
}

/* Adds the arguments of the process and the time since its start, as far as they may be read. */
static void add_profile(struct finding *finding, const struct examination *examination, pid_t pid)
{
    enum { COMMAND_SHOWN = 120 };
    struct profiles *profiles;

    if (profiles_create(&profiles, doctor_processes(examination->options), false) < 0)
        return;
    const struct profile *profile = profiles_find(profiles, pid, 0);
    const uint64_t now = clock_nanoseconds(CLOCK_REALTIME);
    if (profile && profile->command.length)
        finding_evidence(finding, "command: %.*s",
                         (int)(profile->command.length < COMMAND_SHOWN ? profile->command.length
                                                                       : COMMAND_SHOWN),
                         profile->command.data);
    if (profile && profile->started && profile->started <= now)
        finding_evidence(finding, "started %" PRIu64 " s ago",
                         (now - profile->started) / CLOCK_SECOND);
    profiles_destroy(profiles);
}

static void emit_leak(struct examination *examination, const struct leak *leak)
{
    const struct process_descriptors *process = &leak->process;
    const uint64_t *sockets = leak->sockets;
    char text[PROCESS_TEXT];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", process->name);
    finding_process(&finding, text, process->name, (uint32_t)process->pid);
    finding_summary(&finding,
                    "%s holds %" PRIu64 " sockets that no table lists%s: they were never bound or "
                    "connected, or their connection ended",
                    text, sockets[0], leak_grows(leak) ? ", and their number grows" : "");
    finding_evidence(&finding, "%" PRIu64 " of %" PRIu64 " descriptors", sockets[0], process->open);
    if (process->limit != UINT64_MAX)
        finding_evidence(&finding, "soft limit %" PRIu64, process->limit);
    if (leak_grows(leak))
        finding_evidence(&finding, "%" PRIu64 ", %" PRIu64 " and %" PRIu64 " in three samples",
                         sockets[2], sockets[1], sockets[0]);
    add_profile(&finding, examination, process->pid);
    finding_emit(&finding, examination, sockets[0], process->limit, ABSENT);
}

void rule_socket_leak(struct examination *examination)
{
    const struct leaks *leaks = &examination->now->leaks;
    size_t denied = leaks->denied;

    for (size_t i = 0; i < leaks->count; i++) {
        const struct leak *leak = &leaks->list[i];
        if (leak->sockets[0] <= LEAK_MANY && leak->sockets[0] <= leak->process.limit / 2 &&
            !leak_grows(leak))
            continue;
        denied += leak->denied;
        if (!leak->denied)
            emit_leak(examination, leak);
    }
    if (denied)
        report_loss(examination->report,
                    "%s: not tried for %zu process%s whose sockets cannot be seen%s",
                    examination->rule->text.name, denied, denied == 1 ? "" : "es", rights_advice());
    if (leaks->hidden)
        report_loss(
            examination->report, "%s: %s does not list all processes (hidepid? see proc(5))%s",
            examination->rule->text.name, doctor_processes(examination->options), rights_advice());
    else if (leaks->sampled)
        note_unseen_processes(examination);
}
