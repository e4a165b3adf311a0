/* SPDX-License-Identifier: MIT */
/* What the program counted, as a row. */
#ifndef BACKEND_DROP_DROP_DECODE_H
#define BACKEND_DROP_DROP_DECODE_H

#include "backend/drop/drop_program.h"
#include "fastnet/drop_watch.h"

/* The headers are any bytes: a packet is dropped where one is wrong, too. Sets no reason. */
void drop_decode(const struct drop_key *key, const struct drop_seen *seen, struct drop *drop);

#endif
