/* SPDX-License-Identifier: MIT */
/* Turns the bytes that a terminal sends into keys: characters of UTF-8, keys without a character,
 * and the mouse. A sequence of bytes may come in pieces, and nothing in it is trusted. */
#ifndef CLI_TERMINAL_KEY_DECODER_H
#define CLI_TERMINAL_KEY_DECODER_H

#include <stdbool.h>
#include <stddef.h>

/* Keys without a character. Other keys are the number of a Unicode character; ctrl with a letter is
 * 1 to 26. */
enum terminal_key {
    KEY_NONE,
    KEY_TAB = '\t',
    KEY_ENTER = '\r',
    KEY_ESCAPE = 27,
    KEY_BACKSPACE = 127,
    KEY_UP = 0x110000, /* above all characters */
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_DELETE,
    KEY_F1,
    KEY_F10,
    KEY_WHEEL_UP,
    KEY_WHEEL_DOWN,
    KEY_CLICK,   /* the left button; key_decoder.column and .line say where */
    KEY_UNKNOWN, /* a key that has no meaning here */
};

#define KEY_CTRL(letter) ((letter)&0x1f)

struct key_decoder {
    unsigned char bytes[256];
    size_t count, at;    /* bytes[at] to bytes[count - 1] are not decoded yet */
    size_t column, line; /* the place of the last KEY_CLICK, from 0 on */
};

/* Returns the room for further bytes, and where they go. The caller adds their number to `count`.
 * The room is never empty after key_decoder_next() has returned KEY_NONE. */
size_t key_decoder_room(struct key_decoder *decoder, unsigned char **room);

/* Returns the next key, or KEY_NONE if no whole key is left. is_last: no byte follows soon, so an
 * ESC is a key, and the beginning of another sequence is dropped. */
int key_decoder_next(struct key_decoder *decoder, bool is_last);

/* Whether the beginning of a key is left. */
bool key_decoder_waits(const struct key_decoder *decoder);

#endif
