/* SPDX-License-Identifier: MIT */
/* Types in the form of C declarations: "int *", "struct flow (*)[4]". */
#ifndef FORMAT_SOCKET_C_DECLARATION_H
#define FORMAT_SOCKET_C_DECLARATION_H

#include "fastnet/btf.h"

enum { C_DECLARATION_MAX = 1024 };

/* Writes a type without its qualifiers to dst, which has room for C_DECLARATION_MAX bytes. Names
 * are escaped. Returns the end, or NULL if the text is too long or the type is incomplete. */
char *c_declaration_put(char *dst, const struct btf *btf, uint32_t id);

#endif
