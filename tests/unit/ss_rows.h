/* SPDX-License-Identifier: MIT */
/* Rows of ss: records that are made, and what the layout writes for them. */
#ifndef UNIT_SS_ROWS_H
#define UNIT_SS_ROWS_H

#include "fastnet/field.h"
#include "fastnet/layouts.h"

/* What ss writes: its heading if the layout has one, then the row unless it is NULL. */
const char *ss_written(const struct ss_layout *layout, const struct record *record);
const char *ss_written_rows(const struct ss_layout *layout, const struct context *context,
                            const struct record *records, size_t count);

/* All behind the peer's port: the row's tokens and its other lines, without the last newline. */
const char *ss_tokens(const struct ss_layout *layout, const struct record *record);

/* An established connection of TCP, of which all columns are known and no details. */
struct record tcp_row(const char *local, uint16_t local_port, const char *remote,
                      uint16_t remote_port);

/* A socket of another family, of which the same is known. */
struct record other_row(uint8_t family, uint16_t type);

/* Attributes (struct nlattr of linux/netlink.h), one behind the other. */
struct attribute_bytes {
    char data[1024];
    size_t length;
};
void put_attribute(struct attribute_bytes *bytes, uint16_t type, const void *data, size_t length);
void put_u16(struct attribute_bytes *bytes, uint16_t type, uint16_t number);
void put_u32(struct attribute_bytes *bytes, uint16_t type, uint32_t number);

#endif
