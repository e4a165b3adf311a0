/* SPDX-License-Identifier: MIT */
#include "fastnet/dns_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fastnet/array.h"
#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_types.h"
#include "lookup/owners_bpf.h"
#include "probes/dns_program.h"

enum { MAP, SENDS, RECEIVES, DESCRIPTORS };

struct dns_probe {
    int fd[DESCRIPTORS]; /* the map and the links of the programs, or -1 */
    /* The map's first member, and the whole map, or NULL: to map it takes 0.1 ms, so it is mapped
     * when the first query was noted. */
    uint8_t *sockets;
    struct dns_notes *notes;
    /* Copies of the notes at the last dns_probe_mark(), and at the call before; or NULL. */
    struct dns_note *marks, *before;
    struct dns_layout layout;
    uint64_t netns;      /* as dns_probe_begin() */
    uint64_t sees_since; /* CLOCK_MONOTONIC, ns: since then it notes answers; 0: it does not */
};

void dns_probe_destroy(struct dns_probe *probe)
{
    if (!probe)
        return;
    for (size_t i = 0; i < COUNT(probe->fd); i++)
        bpf_close(probe->fd[i]);
    if (probe->sockets)
        munmap(probe->sockets, DNS_SOCKETS);
    if (probe->notes)
        munmap(probe->notes, sizeof *probe->notes);
    free(probe->marks);
    free(probe->before);
    free(probe);
}

/* Creates the map and attaches the program that notes queries, which keeps the map until the link
 * is closed. The program of `sends` is used if possible: to load and attach another takes 0.4 ms.
 */
static int dns_probe_attach(struct dns_probe *probe, struct connects *sends)
{
    const struct dns_layout *layout = &probe->layout;
    struct bpf_insn code[DNS_PROGRAM_MAX];
    int *const fd = probe->fd;

    fd[MAP] = bpf_map_create(sizeof *probe->notes, "fastnet_dns");
    if (fd[MAP] < 0)
        return fd[MAP];
    probe->sockets = bpf_map_memory(fd[MAP], 0, DNS_SOCKETS);
    if (!probe->sockets)
        return -errno;
    if (connects_begin_queries(sends, probe->netns, &(struct query_part){layout, fd[MAP]}))
        return 0;
    fd[SENDS] = bpf_event_attach(code, dns_send_program_make(layout, probe->netns, fd[MAP], code),
                                 "sock_send_length", "fastnet_dns");
    return fd[SENDS];
}

/* Inside a pid namespace, pids are those of this namespace. */
static void dns_probe_find_pids(struct dns_layout *layout)
{
    struct stat status;

    if (bpf_check_namespaces(NULL, true) == 0 || stat("/proc/self/ns/pid", &status) < 0)
        return;
    layout->pid_device = (uint64_t)major(status.st_dev) << 20 | minor(status.st_dev);
    layout->pid_inode = status.st_ino;
}

static int dns_probe_start(struct dns_probe *probe, struct connects *sends,
                           struct bpf_refusal *refusal)
{
    struct kernel_types types;
    int status = kernel_types_init(&types);

    if (status == 0)
        status = dns_layout_init(&probe->layout, &types.btf);
    dns_probe_find_pids(&probe->layout);
    kernel_types_finish(&types);
    if (status < 0)
        return bpf_refuse_step(refusal, status, "/sys/kernel/btf/vmlinux");
    return bpf_refuse_step(refusal, dns_probe_attach(probe, sends), "bpf(2)");
}

struct dns_probe *dns_probe_begin(uint64_t netns, struct connects *sends,
                                  struct bpf_refusal *refusal)
{
    const bool sees_owners = owners_check_bpf(refusal) == 0;
    const bool is_allowed = sees_owners || (bpf_check_rights(refusal, "queries") == 0 &&
                                            bpf_check_namespaces(refusal, false) == 0);
    struct dns_probe *probe = is_allowed ? calloc(1, sizeof *probe) : NULL;

    if (!probe)
        return NULL;
    for (size_t i = 0; i < COUNT(probe->fd); i++)
        probe->fd[i] = -1;
    probe->netns = netns;
    if (dns_probe_start(probe, sees_owners ? sends : NULL, refusal) >= 0)
        return probe;
    dns_probe_destroy(probe);
    return NULL;
}

bool dns_probe_has_queries(const struct dns_probe *probe)
{
    static const uint8_t nothing[DNS_SOCKETS];

    return memcmp(probe->sockets, nothing, sizeof nothing) != 0;
}

/* Maps the notes if any query was noted. Returns 0, or -errno. */
static int dns_probe_map(struct dns_probe *probe)
{
    if (probe->notes || !dns_probe_has_queries(probe))
        return 0;
    probe->notes = bpf_map_memory(probe->fd[MAP], 0, sizeof *probe->notes);
    return probe->notes ? 0 : -errno;
}

int dns_probe_see_answers(struct dns_probe *probe)
{
    struct bpf_insn code[DNS_PROGRAM_MAX];
    const size_t count =
        dns_receive_program_make(&probe->layout, probe->netns, probe->fd[MAP], code);

    if (!probe->sees_since) {
        probe->fd[RECEIVES] = bpf_event_attach(code, count, "sock_recv_length", "fastnet_dns");
        probe->sees_since = clock_nanoseconds(CLOCK_MONOTONIC);
    }
    return probe->fd[RECEIVES] < 0 ? probe->fd[RECEIVES] : 0;
}

bool dns_probe_sees_answers(const struct dns_probe *probe)
{
    return probe->sees_since;
}

int dns_probe_forget(struct dns_probe *probe, bool (*is_waiting)(uint64_t inode, void *arg),
                     void *arg)
{
    const int error = dns_probe_map(probe);

    for (size_t i = 0; probe->notes && i < DNS_NOTES; i++) {
        struct dns_note *note = &probe->notes->notes[i];
        if (note->inode && note->begun < probe->sees_since && !is_waiting(note->inode, arg)) {
            note->inode = 0;
            note->waiting = 0; /* another query may use the place */
        }
    }
    return error;
}

int dns_probe_mark(struct dns_probe *probe)
{
    const int error = dns_probe_map(probe);
    struct dns_note *marks = probe->notes ? calloc(DNS_NOTES, sizeof *marks) : NULL;

    if (error || (probe->notes && !marks))
        return error ? error : -ENOMEM;
    for (size_t i = 0; probe->notes && i < DNS_NOTES; i++)
        if (probe->notes->notes[i].inode)
            marks[i] = probe->notes->notes[i];
    free(probe->before);
    probe->before = probe->marks;
    probe->marks = marks;
    return 0;
}

/* Returns the copy of the note, if it was about the same queries; NULL: it was not. */
static const struct dns_note *dns_probe_copy(const struct dns_note *copies, size_t i,
                                             const struct dns_note *note)
{
    const struct dns_note *copy = copies ? &copies[i] : NULL;

    return copy && copy->inode == note->inode && copy->id == note->id &&
                   memcmp(copy->server, note->server, sizeof note->server) == 0
               ? copy
               : NULL;
}

/* Sets the numbers since the mark before. A query that was lost before that mark does not count
 * again. */
static void dns_probe_count(const struct dns_probe *probe, size_t i, const struct dns_note *note,
                            struct dns_queries *queries)
{
    static const struct dns_note nothing;
    const struct dns_note *mark = dns_probe_copy(probe->marks, i, note),
                          *copy = dns_probe_copy(probe->before, i, note),
                          *before = copy ? copy : &nothing;

    queries->sent = note->sent - before->sent;
    queries->answered = note->received - before->received;
    queries->failed = note->failed - before->failed;
    queries->error = queries->failed ? (int)note->error : 0;
    queries->timed = note->timed - before->timed;
    queries->slow = note->slow - before->slow;
    queries->time = note->time - before->time;
    if (dns_note_has_answer_elsewhere(probe->notes, i))
        return;
    if (mark && mark->sent > note->received)
        queries->unanswered = mark->sent - note->received;
    if (mark && queries->unanswered > mark->sent - before->sent)
        queries->unanswered = mark->sent - before->sent;
    if (!queries->unanswered && queries->sent && queries->waiting &&
        clock_nanoseconds(CLOCK_MONOTONIC) >= queries->waiting + DNS_SLOW)
        queries->unanswered = 1;
}

/* Copies a note. Returns false if its answers are not seen, or if a program writes another note
 * into the same place meanwhile. */
static bool dns_probe_read(const struct dns_probe *probe, size_t i, struct dns_queries *queries)
{
    const struct dns_note *place = &probe->notes->notes[i];
    const uint64_t inode = __atomic_load_n(&place->inode, __ATOMIC_ACQUIRE);
    struct dns_note note;

    if (!inode)
        return false;
    note = *place;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&place->inode, __ATOMIC_RELAXED) != inode ||
        (note.id && probe->notes->sockets[inode % DNS_SOCKETS] & DNS_UNREAD))
        return false;
    *queries = (struct dns_queries){
        .inode = inode,
        .netns = note.netns,
        .server = address_make(note.family, note.server),
        .pid = note.pid,
        .waiting = note.waiting ? note.begun : 0,
        .is_query = dns_note_is_query(&note),
    };
    memcpy(queries->process, note.name, sizeof queries->process - 1);
    dns_probe_count(probe, i, &note, queries);
    return queries->sent || queries->answered || queries->failed;
}

/* Returns whether the process sent the same query to another server at the same time, and got an
 * answer from there later: then it may have closed the socket of this query before its answer came.
 * Ids of connected sockets are not known. A socket that sends more queries is not closed. */
static bool dns_probe_is_race(const struct dns_note *note, const struct dns_note *const *answered,
                              size_t count)
{
    enum { AT_ONCE = 100000000, QUERIES = 2 /* for both families of addresses */ };

    for (size_t i = 0; i < count && note->sent <= QUERIES; i++) {
        const struct dns_note *other = answered[i];
        const uint64_t apart = other->sent_at > note->sent_at ? other->sent_at - note->sent_at
                                                              : note->sent_at - other->sent_at;
        const bool is_later =
            other->timed < other->received || other->sent_at + other->time >= note->sent_at;
        if (apart <= AT_ONCE && is_later && other->pid == note->pid && other->id == note->id &&
            other->inode != note->inode &&
            memcmp(other->server, note->server, sizeof note->server) != 0)
            return true;
    }
    return false;
}

void dns_probe_each(const struct dns_probe *probe,
                    void (*fn)(const struct dns_queries *queries, void *arg), void *arg)
{
    const struct dns_note **answered = probe->notes ? calloc(DNS_NOTES, sizeof *answered) : NULL;
    const struct dns_note *notes = answered ? probe->notes->notes : NULL;
    struct dns_queries queries;
    size_t count = 0;

    for (size_t i = 0; notes && i < DNS_NOTES; i++)
        if (notes[i].inode && notes[i].received)
            answered[count++] = &notes[i];
    for (size_t i = 0; notes && i < DNS_NOTES; i++)
        if (dns_probe_read(probe, i, &queries) && !(queries.unanswered && !queries.answered &&
                                                    dns_probe_is_race(&notes[i], answered, count)))
            fn(&queries, arg);
    free(answered);
}
