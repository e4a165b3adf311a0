/* Multicast groups in the layout of net-tools 2.10 netstat -g: a section of its listing. */
#ifndef FORMAT_GROUP_LAYOUT_GROUP_H
#define FORMAT_GROUP_LAYOUT_GROUP_H

#include "fastnet/record.h"

struct hosts;

extern const char layout_group_heading[];

/*
 * A row without its newline; dst has room for WRITER_RESERVE_MAX bytes. hosts NULL: addresses have
 * no names. Returns the end.
 */
char *layout_group(char *dst, const struct record *record, const struct hosts *hosts);

#endif
