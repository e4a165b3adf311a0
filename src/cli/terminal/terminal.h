/* SPDX-License-Identifier: MIT */
/*
 * The terminal while a program draws on it: raw keys, the alternate screen, and what it was before
 * when the program ends, also by a signal, or is suspended. There is only one.
 */
#ifndef CLI_TERMINAL_TERMINAL_H
#define CLI_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys that are no characters. */
enum terminal_key {
    KEY_NONE,
    KEY_ENTER = '\r',
    KEY_ESCAPE = 27,
    KEY_BACKSPACE = 127,
    KEY_UP = 256,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
};

/* Whether stdin and stdout are one on which a table can stay in place, with keys. */
bool terminal_is_there(void);

/* Takes over the terminal that stdout is. Returns 0 or -errno. */
int terminal_begin(void);

/* Gives it back. Does nothing if it was not taken. */
void terminal_end(void);

/*
 * Waits for so many nanoseconds at most, for a key or until one of the descriptors can be read.
 * Returns false when stdin, which keys come from, has ended or failed.
 */
bool terminal_wait(uint64_t nanoseconds, const int *descriptors, size_t count);

/* The next key that was pressed: an enum terminal_key or a byte of a character; KEY_NONE: there is
 * none. */
int terminal_key(void);

/* True once after the terminal may show something else: it was resized, or this was suspended. */
bool terminal_changed(void);

/* In columns and lines; 80 x 24 if it does not tell. */
void terminal_size(size_t *width, size_t *height);

#endif
