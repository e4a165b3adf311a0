/* SPDX-License-Identifier: MIT */
/* Views of a flow: several of its fields put into one text, for people. */
#ifndef MODEL_FLOW_VIEW_FIELDS_H
#define MODEL_FLOW_VIEW_FIELDS_H

#include "fastnet/field.h"

struct value view_flow_nat(const struct cell *cell); /* as 203.0.113.1:40000 */

/* icmp_id=77: columns with their values, so that a filter can be typed so. */
struct value view_flow_details(const struct cell *cell);

/* For VIEW_BY(): 192.0.2.1:40000, 198.51.100.1:443 and 1.2K/3.4M. */
char *write_flow_from(char *dst, const struct value *view, bool human);
char *write_flow_to(char *dst, const struct value *view, bool human);
char *write_flow_traffic(char *dst, const struct value *view, bool human);

#endif
