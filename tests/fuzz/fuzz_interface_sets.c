/* SPDX-License-Identifier: MIT */
/* Interfaces of addresses: an input is a tree with net/dev, net/if_inet6 and net/route (tree.h). */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/interface_sets.h"
#include "fuzz.h"
#include "tree.h"

/* Each name of a set is one of an interface, and names of the wildcard set are in order. */
static void require_set(const struct interface_sets *sets, struct interface_set set, bool sorted)
{
    for (size_t i = 0; i < set.count; i++) {
        const struct interface_set named = interface_sets_of_name(sets, set.names[i]);
        require(*set.names[i] && strlen(set.names[i]) < IFNAMSIZ);
        require(named.count == 1 && strcmp(*named.names, set.names[i]) == 0);
        require(!sorted || !i || strcmp(set.names[i - 1], set.names[i]) < 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct address any = {AF_INET, {0}};
    static const struct address asked[] = {{AF_INET, {127, 0, 0, 53}},
                                           {AF_INET, {192, 0, 2, 1}},
                                           {AF_INET, {10, 1, 2, 3}},
                                           {AF_INET6, {[15] = 1}},
                                           {AF_INET6, {0xfd, [15] = 2}}};
    struct interface_sets *sets = interface_sets_create();
    struct tree_input input = tree_input(data, size);
    struct tree_entry entry;

    while (tree_next(&input, &entry))
        (void)tree_make(&entry);
    require(sets != NULL);
    require(interface_sets_of_tree(sets, tree_root()) == 0);
    require(interface_sets_finish(sets) == 0);
    require_set(sets, interface_sets_of_address(sets, &any), true);
    for (size_t i = 0; i < COUNT(asked); i++)
        require_set(sets, interface_sets_of_address(sets, &asked[i]), false);
    interface_sets_destroy(sets);
    tree_clear();
    return 0;
}
