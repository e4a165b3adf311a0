/* SPDX-License-Identifier: MIT */
/* Types as declarations in C write them: "int *", "struct flow (*)[4]". */
#ifndef FORMAT_SOCKET_C_DECLARATION_H
#define FORMAT_SOCKET_C_DECLARATION_H

#include "fastnet/btf.h"

enum { C_DECLARATION_MAX = 1024 };

/*
 * Writes the type without its qualifiers into a space of C_DECLARATION_MAX bytes. Names are
 * escaped. Returns the end, or NULL for a type that is too long or not complete.
 */
char *c_declaration_put(char *dst, const struct btf *btf, uint32_t id);

#endif
