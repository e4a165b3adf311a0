/* SPDX-License-Identifier: MIT */
/* The terminal while a program draws on it: raw keys and the alternate screen. Its former state is
 * restored when the program ends, also by a signal, or is suspended. There is only one terminal. */
#ifndef CLI_TERMINAL_TERMINAL_H
#define CLI_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/terminal/key_decoder.h"

/* Whether stdin and stdout are a terminal that can show a screen and send keys. */
bool terminal_is_there(void);

/* Whether stdin and stdout are a terminal that can only show lines: TERM is empty or "dumb". */
bool terminal_is_plain(void);

/* Takes over the terminal of stdin and stdout. Returns 0 or -errno. */
int terminal_begin(void);

/* Restores the terminal. Does nothing if terminal_begin() did not take it over. */
void terminal_end(void);

/* In a child process: leaves the terminal to the parent, also if a signal ends the child. */
void terminal_disown(void);

/* Waits for at most this time, for a key, or until one of the descriptors can be read. Returns
 * false when stdin has ended or failed, so that no more keys will come. */
bool terminal_wait(uint64_t nanoseconds, const int *descriptors, size_t count);

/* The next key: an enum terminal_key, or a character. KEY_NONE: no key is left. */
int terminal_key(void);

/* The place of the last KEY_CLICK, from 0 on. */
void terminal_click(size_t *column, size_t *line);

/* True once after the picture may be lost: the terminal was resized, or this program suspended. */
bool terminal_changed(void);

/* The size in columns and lines; 80 x 24 if the terminal does not report it. */
void terminal_size(size_t *width, size_t *height);

#endif
