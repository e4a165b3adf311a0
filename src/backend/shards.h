/*
 * A large dump, taken in parts side by side: each part asks for the sockets of one range of ports,
 * by a filter that the kernel runs (INET_DIAG_REQ_BYTECODE, linux/inet_diag.h). Ports of a socket
 * never change, so that no socket is in two parts, nor in none.
 */
#ifndef BACKEND_SHARDS_H
#define BACKEND_SHARDS_H

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHARDS_MAX = 4 };

/* A part: sockets whose local (or remote) port is from low to high, in host byte order. */
struct shard {
    bool remote;
    uint16_t low, high;
};

/* The ports of the first connections of a dump. */
enum { SAMPLE_MAX = 256 };
struct sample {
    uint16_t local[SAMPLE_MAX], remote[SAMPLE_MAX]; /* host byte order */
    size_t count;
};

/*
 * Divides a table by a sample of it. Returns how many parts of about the same size there are, at
 * most wanted; 1 when no ports divide it well. Sorts the sample.
 */
size_t shards_choose(struct sample *sample, size_t wanted, struct shard shards[SHARDS_MAX]);

/* The filter of a part: attribute INET_DIAG_REQ_BYTECODE with its header. */
struct shard_filter {
    struct nlattr header;
    struct inet_diag_bc_op ops[4];
};
void shard_filter_init(struct shard_filter *filter, const struct shard *shard);

#endif
