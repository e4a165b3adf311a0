/* SPDX-License-Identifier: MIT */
#include "backend/netlink/ahead.h"

#include <errno.h>
#include <stdlib.h>

#include "fastnet/thread.h"

/* A batch is handed over as a whole, because waking a thread for each datagram would cost as much
 * as some of its rows. Two batches fit into the second-level cache of a CPU. */
enum { BATCHES = 2, BATCH = 4 };

struct batch {
    int count; /* number of datagrams; 0 or -errno: this batch is the last */
    struct mmsghdr headers[BATCH];
    struct iovec vectors[BATCH];
    struct sockaddr_nl senders[BATCH];
    _Alignas(struct nlmsghdr) char data[BATCH][DATAGRAM_SIZE];
};

struct ahead {
    int fd;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned filled; /* number of batches so far; `lock` protects it and the next two members */
    unsigned taken;
    bool stopped;
    int handed_on; /* datagrams of the current batch that were handed on */
    struct batch batches[BATCHES];
};

static struct batch *batch_at(struct ahead *ahead, unsigned index)
{
    return &ahead->batches[index % BATCHES];
}

/* Receives a batch. Returns true if more batches may follow. */
static bool ahead_fill(int fd, struct batch *batch)
{
    for (size_t i = 0; i < BATCH; i++) {
        batch->senders[i] = (struct sockaddr_nl){.nl_family = AF_NETLINK};
        batch->vectors[i] = (struct iovec){batch->data[i], DATAGRAM_SIZE};
        batch->headers[i].msg_hdr = (struct msghdr){.msg_name = &batch->senders[i],
                                                    .msg_namelen = sizeof batch->senders[i],
                                                    .msg_iov = &batch->vectors[i],
                                                    .msg_iovlen = 1};
    }
    batch->count = recvmmsg(fd, batch->headers, BATCH, MSG_DONTWAIT, NULL);
    /* a seccomp filter that allows only recvmsg(2) answers EPERM or ENOSYS */
    if (batch->count < 0)
        batch->count =
            errno == EAGAIN || errno == EINTR || errno == EPERM || errno == ENOSYS ? 0 : -errno;
    return batch->count > 0;
}

static void *ahead_work(void *arg)
{
    struct ahead *ahead = arg;
    bool more = true;

    pthread_mutex_lock(&ahead->lock);
    while (more && !ahead->stopped) {
        if (ahead->filled - ahead->taken == BATCHES) {
            pthread_cond_wait(&ahead->changed, &ahead->lock);
            continue;
        }
        pthread_mutex_unlock(&ahead->lock);
        more = ahead_fill(ahead->fd, batch_at(ahead, ahead->filled));
        pthread_mutex_lock(&ahead->lock);
        ahead->filled++;
        pthread_cond_signal(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

struct ahead *ahead_start(int fd)
{
    struct ahead *ahead = malloc(sizeof *ahead);

    if (!ahead)
        return NULL;
    ahead->fd = fd;
    ahead->filled = ahead->taken = 0;
    ahead->stopped = false;
    ahead->handed_on = 0;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    if (thread_start(&ahead->thread, ahead_work, ahead) == 0)
        return ahead;
    free(ahead);
    return NULL;
}

/* The batch with the next datagram (at the end: the last batch). Waits until it is filled. */
static const struct batch *current_batch(struct ahead *ahead)
{
    const struct batch *batch = batch_at(ahead, ahead->taken);

    pthread_mutex_lock(&ahead->lock);
    if (ahead->handed_on > 0 && ahead->handed_on == batch->count) {
        ahead->handed_on = 0;
        batch = batch_at(ahead, ++ahead->taken);
        pthread_cond_signal(&ahead->changed);
    }
    while (ahead->filled == ahead->taken)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
    return batch;
}

bool ahead_receive(struct ahead *ahead, struct datagram *datagram)
{
    const struct batch *batch = current_batch(ahead);
    const int i = ahead->handed_on;

    if (batch->count <= 0) {
        *datagram = (struct datagram){.length = batch->count};
        return batch->count < 0;
    }
    ahead->handed_on++;
    *datagram = (struct datagram){
        batch->data[i], datagram_length(&batch->headers[i].msg_hdr, batch->headers[i].msg_len),
        batch->senders[i].nl_pid};
    return true;
}

void ahead_end(struct ahead *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->stopped = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}
