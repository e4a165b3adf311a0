/* The column tables, one a record kind. */
#ifndef FORMAT_FIELDS_COLUMNS_H
#define FORMAT_FIELDS_COLUMNS_H

#include "fastnet/column.h"

extern const struct column_table columns_socket, columns_flow, columns_expectation,
    columns_flow_statistics, columns_flow_usage, columns_counter, columns_group, columns_route,
    columns_interface, columns_neighbour;

#endif
