/* SPDX-License-Identifier: MIT */
/* Names of the kernel's functions. */
#ifndef FASTNET_SYMBOLS_H
#define FASTNET_SYMBOLS_H

#include <stdint.h>

/* Names of kernel functions by addresses in their code. Reads /proc/kallsyms only for new
 * addresses, because that takes 30 ms. Uses RIGHT_SYMBOLS; without it the kernel hides
 * addresses. */
struct symbols;
struct symbols *symbols_create(void); /* NULL: memory is short */
void symbols_destroy(struct symbols *symbols);
/* Adds an address that follows a call in a kernel function. Returns 0 or -ENOMEM. */
int symbols_add(struct symbols *symbols, uint64_t address);
/* Looks up all added addresses. path: "/proc/kallsyms". Returns 0 or -errno. */
int symbols_read(struct symbols *symbols, const char *path);
/* Returns the name of the function that contains the address, borrowed; NULL: unknown. */
const char *symbols_name(const struct symbols *symbols, uint64_t address);

#endif
