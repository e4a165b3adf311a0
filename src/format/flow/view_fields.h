/* SPDX-License-Identifier: MIT */
/* Views of a flow: several of its fields put into one text, for people. */
#ifndef FORMAT_FLOW_VIEW_FIELDS_H
#define FORMAT_FLOW_VIEW_FIELDS_H

#include "fastnet/field.h"

struct value view_flow_from(const struct cell *cell);    /* 192.0.2.1:40000 */
struct value view_flow_to(const struct cell *cell);      /* 198.51.100.1:443 */
struct value view_flow_nat(const struct cell *cell);     /* as 203.0.113.1:40000 */
struct value view_flow_traffic(const struct cell *cell); /* 1.2K/3.4M */

#endif
