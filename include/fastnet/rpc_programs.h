/* SPDX-License-Identifier: MIT */
/* RPC programs by their ports. */
#ifndef FASTNET_RPC_PROGRAMS_H
#define FASTNET_RPC_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

/*
 * RPC programs by protocol and port, as rpcbind(8) knows them, such as "rpc.mountd". names: the
 * file rpc(5); NULL: /etc/rpc. Without memory it returns NULL.
 */
struct rpc_programs;
struct rpc_programs *rpc_programs_create(const char *names);
void rpc_programs_destroy(struct rpc_programs *programs);
/*
 * Asks rpcbind by its socket (path; NULL: /run/rpcbind.sock), and waits for at most this number of
 * milliseconds. If none runs, there are no programs.
 */
void rpc_programs_ask(struct rpc_programs *programs, const char *path, unsigned milliseconds);
/* Takes an answer of rpcbind, without its marks of fragments. Returns 0, -EBADMSG or -EPROTO. */
int rpc_programs_take(struct rpc_programs *programs, const void *bytes, size_t length);
/* NULL: no program with a name has this port. */
const char *rpc_programs_name(const struct rpc_programs *programs, uint16_t protocol,
                              uint16_t port);
/* The errno that left programs without names, or 0. */
int rpc_programs_error(const struct rpc_programs *programs);

#endif
