/* SPDX-License-Identifier: MIT */
/* Makes facts about connections from the notes and events that BPF programs write. */
#ifndef PROBES_CONNECTS_DECODE_H
#define PROBES_CONNECTS_DECODE_H

#include "probes/connects_program.h"
#include "probes/drop/drop_decode.h"

/* Fills *made, except end.sees_resets. reset_reasons: names of the kernel's reasons. */
void connect_note_decode(const struct connect_note *note, const struct drop_names *reset_reasons,
                         struct connect *made);

/* Fills *happened from an event of a program, as connect_note_decode() does. Returns false if the
 * event has another length, or an unknown number or address family. */
bool connect_event_decode(struct text event, const struct drop_names *reset_reasons,
                          struct connect_happened *happened);

#endif
