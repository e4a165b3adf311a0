/* Interfaces: each index is asked for once, also when it is gone. */
#include "fastnet/lookup.h"

#include <net/if.h>
#include <stdlib.h>

#include "number_map.h"

struct interfaces {
    struct number_map names;
};

struct interfaces *interfaces_create(void)
{
    return calloc(1, sizeof(struct interfaces));
}

void interfaces_destroy(struct interfaces *interfaces)
{
    if (interfaces == NULL)
        return;
    number_map_finish(&interfaces->names);
    free(interfaces);
}

const char *interfaces_name(struct interfaces *interfaces, uint32_t index)
{
    if (index == 0)
        return NULL;
    const struct number_name *known = number_map_find(&interfaces->names, index);
    if (known == NULL) {
        char name[IF_NAMESIZE];
        known = number_map_put(&interfaces->names, index, if_indextoname(index, name));
    }
    return known != NULL ? known->name : NULL;
}
