/* SPDX-License-Identifier: MIT */
/* RPC programs by their ports. */
#ifndef FASTNET_RPC_PROGRAMS_H
#define FASTNET_RPC_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

/* Names of RPC programs by protocol and port, from rpcbind(8), such as "rpc.mountd". names: a file
 * in the form of rpc(5); NULL: /etc/rpc. Returns NULL if memory is short. */
struct rpc_programs;
struct rpc_programs *rpc_programs_create(const char *names);
void rpc_programs_destroy(struct rpc_programs *programs);
/* Asks rpcbind, for at most `milliseconds`. path: its socket; NULL: /run/rpcbind.sock. If rpcbind
 * does not run, there are no programs. */
void rpc_programs_ask(struct rpc_programs *programs, const char *path, unsigned milliseconds);
/* Decodes an answer of rpcbind, without fragment headers. Returns 0, -EBADMSG or -EPROTO. */
int rpc_programs_take(struct rpc_programs *programs, const void *bytes, size_t length);
/* Returns the name of the program with this port (host byte order), borrowed; NULL: unknown. */
const char *rpc_programs_name(const struct rpc_programs *programs, uint16_t protocol,
                              uint16_t port);
/* Returns the errno that hid the names of programs, or 0. */
int rpc_programs_error(const struct rpc_programs *programs);

#endif
