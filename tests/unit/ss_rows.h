/* Rows of ss: records that are made, and what the layout writes for them. */
#ifndef UNIT_SS_ROWS_H
#define UNIT_SS_ROWS_H

#include "fastnet/field.h"
#include "fastnet/layouts.h"

/* What ss writes: its heading if the layout has one, then the row unless it is NULL. */
const char *ss_written(const struct ss_layout *layout, const struct record *record);
const char *ss_written_rows(const struct ss_layout *layout, const struct context *context,
                            const struct record *records, size_t count);

/* An established connection of TCP, of which all columns are known and no details. */
struct record tcp_row(const char *local, uint16_t local_port, const char *remote,
                      uint16_t remote_port);

/* A socket of another family, of which the same is known. */
struct record other_row(uint8_t family, uint16_t type);

#endif
