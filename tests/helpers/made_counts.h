/* SPDX-License-Identifier: MIT */
/* Types of a kernel (BTF) that a test makes: as much of them as the programs that count bytes need.
 */
#ifndef HELPERS_MADE_COUNTS_H
#define HELPERS_MADE_COUNTS_H

#include "made_kernel.h"

/* Where members are in struct sock, in bytes. */
struct made_counts {
    uint32_t family, protocol;
    uint32_t parameters; /* of the events, with the one that is not their own */
};

static const struct made_counts made_counts_usual = {
    .family = 16, .protocol = 200, .parameters = 4};

static inline void made_counts(struct made_btf *made, const struct made_counts *kernel)
{
    enum { TYPEDEF = 8 };
    const uint32_t two = made_int(made, "unsigned short", 2, 0),
                   four = made_int(made, "int", 4, MADE_SIGNED),
                   nothing = made_type(made, "", KERNEL_POINTER, 0, 0);
    uint32_t part, sock, prototype;

    part = made_type(made, "sock_common", KERNEL_STRUCT, 1, 136);
    made_member(made, "skc_family", two, kernel->family * 8);
    sock = made_struct(made, "sock", 2);
    made_member(made, "__sk_common", part, 0);
    made_member(made, "sk_protocol", two, kernel->protocol * 8);
    sock = made_pointer(made, sock);
    prototype = made_type(made, "", KERNEL_PROTOTYPE, kernel->parameters, 0);
    made_pair(made, "", nothing);
    made_pair(made, "", sock);
    for (uint32_t i = 2; i < kernel->parameters; i++)
        made_pair(made, "", four);
    prototype = made_pointer(made, prototype);
    made_type(made, "btf_trace_sock_send_length", TYPEDEF, 0, prototype);
    made_type(made, "btf_trace_sock_recv_length", TYPEDEF, 0, prototype);
}

#endif
