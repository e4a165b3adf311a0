/* SPDX-License-Identifier: MIT */
/* Views of a flow: several of its fields in one text, for people. */
#ifndef MODEL_FLOW_VIEW_FIELDS_H
#define MODEL_FLOW_VIEW_FIELDS_H

#include "fastnet/field.h"

struct value view_flow_nat(const struct cell *cell); /* such as "as 203.0.113.1:40000" */

/* such as "icmp_id=77": columns with their values, so that they can be typed as a filter */
struct value view_flow_details(const struct cell *cell);

/* For VIEW_BY(): such as 192.0.2.1:40000, 198.51.100.1:443 and 1.2K/3.4M. */
char *write_flow_from(char *dst, const struct value *view, bool human);
char *write_flow_to(char *dst, const struct value *view, bool human);
char *write_flow_traffic(char *dst, const struct value *view, bool human);

#endif
