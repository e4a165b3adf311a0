/* SPDX-License-Identifier: MIT */
/* Messages of nftables (linux/netfilter/nf_tables.h) over nfnetlink, and their decoder. */
#ifndef BACKEND_FIREWALL_NFTABLES_H
#define BACKEND_FIREWALL_NFTABLES_H

#include <linux/netlink.h>
#include <stdbool.h>

#include "fastnet/text.h"
#include "lookup/firewall.h"

struct netlink;

/* A message about a table, chain, rule or set. Texts are borrowed from the message. */
struct nftables_message {
    uint8_t family;          /* NFPROTO_* */
    uint16_t generation;     /* 16 bits of a number that changes with the rules */
    struct text table, name; /* name: of the chain or set; of a rule, its chain */
    struct text type;        /* chains: "filter", "nat" or "route" */
    struct text content;     /* rules: their expressions; lists of elements: the elements */
    bool is_base;            /* chains: called by a hook */
    uint32_t hook, policy;
    int32_t priority;
    uint32_t flags; /* flags of the table, chain or set */
    uint32_t key_length, data_type;
};

/* Decodes a message of this type (NFT_MSG_NEW*). Returns false if it has another type or is
 * malformed. */
bool nftables_decode(const struct nlmsghdr *message, unsigned type,
                     struct nftables_message *decoded);

/* Adds the rule, or the elements of a set, to the firewall, whose chains and sets are sorted.
 * Return 0, -ENOMEM, -E2BIG, or -EBADMSG. */
int nftables_add_rule(struct firewall *firewall, const struct nftables_message *rule);
int nftables_add_elements(struct firewall *firewall, const struct firewall_set *set,
                          const struct nftables_message *list);

/* Decode a match or target of iptables. xtables_take_match() makes STEP_MAYBE of a match that is
 * not known. xtables_take_target() returns false if the target is not known. */
void xtables_take_match(struct text name, uint32_t revision, struct text info,
                        struct firewall_step *step);
bool xtables_take_target(struct text name, struct firewall_step *step, unsigned *effects);

/* Makes a dump of this type (NFT_MSG_GET*); table and set: NULL, or their names, for elements.
 * Returns 0, -errno, or the negative result of fn. -ENOENT: the kernel has no nftables, and is not
 * asked, because it would load the module. -ENOTSUP: this cannot be known. -EAGAIN: rules changed.
 */
int nftables_dump(struct netlink *netlink, unsigned type, const struct firewall_name *set,
                  int (*fn)(const struct nlmsghdr *message, void *arg), void *arg);

#endif
