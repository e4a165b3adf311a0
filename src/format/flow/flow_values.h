/* Values that flows and expectations share: ports, which only some protocols have. */
#ifndef FORMAT_FLOW_FLOW_VALUES_H
#define FORMAT_FLOW_FLOW_VALUES_H

#include "format/fields/fields.h"

/* A member of a struct flow_tuple; the function sees the tuple by tuple_of(). */
#define OF_TUPLE(id, function, tuple, part, ...)                                                   \
    COMPUTED(id, VALUE_NUMBER, function, __VA_ARGS__, MEMBER(tuple.part),                          \
             .index = offsetof(struct record, tuple))

/* The port of a protocol that has ports. */
#define PORT(id, tuple, part, ...) OF_TUPLE(id, port_of_tuple, tuple, part, __VA_ARGS__)

struct value port_of_tuple(const struct cell *cell);

#endif
