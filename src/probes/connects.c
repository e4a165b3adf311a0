/* SPDX-License-Identifier: MIT */
#include "fastnet/connects.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "fastnet/kernel_types.h"
#include "lookup/owners_bpf.h"
#include "probes/connects_program.h"

enum { KEPT = 32768 };

/* Descriptors, or -1: the map of notes, the array of cookies (send_program_make()), and the links
 * of the two programs. */
enum { MAP, NOTED, LINK, SEND_LINK, DESCRIPTORS };

struct connects {
    int fd[DESCRIPTORS];
    struct bpf_refusal refusal;
};

struct connects *connects_create(void)
{
    struct connects *connects = calloc(1, sizeof *connects);

    for (size_t i = 0; connects && i < DESCRIPTORS; i++)
        connects->fd[i] = -1;
    return connects;
}

static void connects_end(struct connects *connects)
{
    for (size_t i = 0; i < DESCRIPTORS; i++) {
        if (connects->fd[i] >= 0)
            close(connects->fd[i]);
        connects->fd[i] = -1;
    }
}

void connects_destroy(struct connects *connects)
{
    if (connects)
        connects_end(connects);
    free(connects);
}

/* Creates the maps and attaches the programs, which keep the maps until the links are closed. */
static int connects_attach(struct connects *connects, unsigned what,
                           const struct connect_layout *layout, uint64_t netns)
{
    struct bpf_insn code[CONNECT_PROGRAM_MAX];
    int *const fd = connects->fd;

    fd[MAP] =
        bpf_map_create_recent(sizeof(uint64_t), sizeof(struct connect_note), KEPT, "fastnet_conn");
    if (fd[MAP] < 0)
        return fd[MAP];
    if (what & NOTE_CONNECTS)
        fd[LINK] = bpf_tracepoint_attach(code, connect_program_make(layout, netns, fd[MAP], code),
                                         layout->tracepoint, "fastnet_conn");
    if (what & NOTE_CONNECTS && fd[LINK] < 0)
        return fd[LINK];
    if (!(what & NOTE_SENDS) || !layout->sends)
        return 0;
    fd[NOTED] = bpf_map_create(SEND_SLOTS * sizeof(uint64_t), "fastnet_sent");
    if (fd[NOTED] < 0)
        return fd[NOTED];
    fd[SEND_LINK] =
        bpf_tracepoint_attach(code, send_program_make(layout, netns, fd[MAP], fd[NOTED], code),
                              layout->sends, "fastnet_send");
    return fd[SEND_LINK] < 0 ? fd[SEND_LINK] : 0;
}

static int start(struct connects *connects, unsigned what, uint64_t netns)
{
    struct kernel_types types;
    struct connect_layout layout = {.tracepoint = 0};
    int status = owners_check_bpf(&connects->refusal);

    if (status < 0)
        return status;
    status = kernel_types_init(&types);
    if (status == 0)
        status = connect_layout_init(&layout, &types.btf);
    kernel_types_finish(&types);
    if (status < 0)
        return bpf_refuse_step(&connects->refusal, status, "/sys/kernel/btf/vmlinux");
    status = connects_attach(connects, what, &layout, netns);
    if (status == 0)
        return 0;
    connects_end(connects);
    return bpf_refuse_step(&connects->refusal, status, "bpf(2)");
}

int connects_begin(struct connects *connects, unsigned what, uint64_t netns,
                   struct bpf_refusal *refusal)
{
    if (connects->fd[MAP] < 0 && !connects->refusal.error)
        (void)start(connects, what, netns);
    if (refusal)
        *refusal = connects->refusal;
    return connects->refusal.error;
}

bool connects_note_sends(const struct connects *connects)
{
    return connects->fd[SEND_LINK] >= 0;
}

/* --- Notes ------------------------------------------------------------------------------------ */

static void connects_read_note(struct connect *made, const struct connect_note *note)
{
    const bool v4 = note->family == AF_INET;

    *made = (struct connect){
        .time = note->time,
        .ended = note->ended,
        .accepted = note->accepted,
        .sent = note->sent,
        .pid = (pid_t)note->pid,
        .uid = note->uid,
        .cgroup = note->cgroup,
        .failed = note->failed,
        .closed = note->closed,
        .given_up = note->given_up,
        .error = (int)note->error,
        .remote = address_make((uint8_t)note->family, v4 ? note->v4 : note->v6),
        .local = address_make((uint8_t)note->family, v4 ? note->local_v4 : note->local_v6),
        .port = ntohs(note->port),
        .local_port = note->local_port,
    };
    memcpy(made->name, note->name, sizeof note->name);
    made->name[sizeof made->name - 1] = '\0';
}

bool connects_take(struct connects *connects, uint64_t cookie, struct connect *made)
{
    struct connect_note note;

    if (connects->fd[MAP] < 0 || bpf_map_take_one(connects->fd[MAP], &cookie, &note) < 0)
        return false;
    connects_read_note(made, &note);
    return true;
}

int connects_each_send(struct connects *connects, void (*fn)(const struct connect *sent, void *arg),
                       void *arg)
{
    uint64_t *cookies = calloc(KEPT, sizeof *cookies);
    struct connect_note *notes = calloc(KEPT, sizeof *notes);
    const int count =
        cookies && notes ? bpf_map_read(connects->fd[MAP], cookies, notes, KEPT) : -ENOMEM;
    struct connect made;

    for (int i = 0; i < count; i++) {
        connects_read_note(&made, &notes[i]);
        if (made.sent)
            fn(&made, arg);
    }
    free(cookies);
    free(notes);
    return count < 0 ? count : 0;
}
