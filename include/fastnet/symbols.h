/* SPDX-License-Identifier: MIT */
/* Names of the kernel's functions. */
#ifndef FASTNET_SYMBOLS_H
#define FASTNET_SYMBOLS_H

#include <stdint.h>

/*
 * Names of the kernel's functions, by places in their code (/proc/kallsyms, which takes 30 ms: it
 * is read only for places that are new). Uses RIGHT_SYMBOLS; without it the kernel tells no
 * addresses.
 */
struct symbols;
struct symbols *symbols_create(void); /* NULL when memory is short */
void symbols_destroy(struct symbols *symbols);
/* A place behind a call in the function. Returns 0 or -ENOMEM. */
int symbols_add(struct symbols *symbols, uint64_t place);
/* Looks up all that were added. path: "/proc/kallsyms". Returns 0 or -errno. */
int symbols_read(struct symbols *symbols, const char *path);
/* The function that calls there, terminated; NULL: it is not known. */
const char *symbols_name(const struct symbols *symbols, uint64_t place);

#endif
