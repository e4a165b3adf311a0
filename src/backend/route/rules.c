/* SPDX-License-Identifier: MIT */
/* Policy rules of rtnetlink(7). The kernel reports the route that it found, but not the rule that
 * led to it, so the rules are compared with the flow a second time. Where a rule or a table cannot
 * be judged with certainty, the result says so. Sources: fib_rules_lookup() and fib_rule_match() of
 * the kernel's net/core/fib_rules.c, net/ipv4/fib_rules.c and net/ipv6/fib6_rules.c. */
#include "backend/route/rules.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "backend/netlink/attributes.h"
#include "fastnet/kernel_abi.h"

/* --- Decoding --------------------------------------------------------------------------------- */

static bool rules_take_uids(struct text content, void *member)
{
    return attribute_bytes(content, member, sizeof(struct fib_rule_uid_range));
}

static bool rules_take_ports(struct text content, void *member)
{
    return attribute_bytes(content, member, sizeof(struct fib_rule_port_range));
}

#define TAKE_RULE(path, bits) TAKE_INTO(struct rule, path, bits)
#define TAKE_RULE_BY(function, path, bits)                                                         \
    TARGET(struct rule, path, bits, TARGET_BY, .take = function)
static const struct target rule_targets[] = {
    [FRA_DST] = TAKE_RULE(destination, RULE_DESTINATION),
    [FRA_SRC] = TAKE_RULE(source, RULE_SOURCE),
    [FRA_IIFNAME] = TAKE_RULE(iif, RULE_IIF),
    [FRA_GOTO] = TAKE_RULE(target, 0),
    [FRA_PRIORITY] = TAKE_RULE(priority, 0),
    [FRA_FWMARK] = TAKE_RULE(mark, 0),
    [FRA_TUN_ID] = TAKE_RULE(tunnel, 0),
    [FRA_SUPPRESS_IFGROUP] = TAKE_RULE(suppress_group, RULE_GROUP),
    [FRA_SUPPRESS_PREFIXLEN] = TAKE_RULE(suppress_prefix, RULE_PREFIX),
    [FRA_TABLE] = TAKE_RULE(table, 0),
    [FRA_FWMASK] = TAKE_RULE(mask, 0),
    [FRA_OIFNAME] = TAKE_RULE(oif, RULE_OIF),
    [FRA_L3MDEV] = TAKE_RULE(l3mdev, 0),
    [FRA_UID_RANGE] = TAKE_RULE_BY(rules_take_uids, uids, RULE_UIDS),
    [FRA_IP_PROTO] = TAKE_RULE(protocol, 0),
    [FRA_SPORT_RANGE] = TAKE_RULE_BY(rules_take_ports, sports, RULE_SPORTS),
    [FRA_DPORT_RANGE] = TAKE_RULE_BY(rules_take_ports, dports, RULE_DPORTS),
    [FRA_DSCP] = TAKE_RULE(dscp, 0),
    [FRA_SPORT_MASK] = TAKE_RULE(sport_mask, 0),
    [FRA_DPORT_MASK] = TAKE_RULE(dport_mask, 0),
    [FRA_DSCP_MASK] = TAKE_RULE(dscp_mask, 0),
};

/* True if a newer kernel has sent a selector that is unknown here, or a flow label of IPv6. */
static bool rule_has_unknown(struct attributes attributes)
{
    struct decoding decoding = {0};
    struct attribute attribute;

    while (attributes_next(&decoding, &attributes, &attribute))
        if (attribute.type >= COUNT(rule_targets) ||
            (attribute.type > FRA_DSCP && !rule_targets[attribute.type].form))
            return true;
    return false;
}

int rule_decode(const struct nlmsghdr *message, struct rule *rule)
{
    struct decoding decoding = {.object = rule};
    struct attributes attributes;
    const struct fib_rule_hdr *header = message_header(message, sizeof *header, &attributes);

    if (!header || (header->family != AF_INET && header->family != AF_INET6))
        return -EBADMSG;
    *rule = (struct rule){.table = header->table, .suppress_prefix = -1, .suppress_group = -1};
    memcpy(&rule->header, header, sizeof *header);
    decoding.family = header->family;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(rule_targets));
    rule->has = decoding.has | (rule_has_unknown(attributes) ? RULE_UNKNOWN : 0);
    if (decoding.malformed || (header->dst_len && !(rule->has & RULE_DESTINATION)) ||
        (header->src_len && !(rule->has & RULE_SOURCE)) ||
        header->dst_len > 8 * address_size(&rule->destination) ||
        header->src_len > 8 * address_size(&rule->source))
        return -EBADMSG;
    return 0;
}

/* --- Comparing -------------------------------------------------------------------------------- */

static enum rule_match match_if(bool equal)
{
    return equal ? RULE_MATCHES : RULE_DIFFERS;
}

/* A rule matches only if all of its selectors do. */
static void narrow(enum rule_match *match, enum rule_match selector)
{
    if (selector < *match)
        *match = selector;
}

static enum rule_match match_source(const struct rule *rule, const struct rule_flow *flow)
{
    if (!rule->header.src_len)
        return RULE_MATCHES;
    if (flow->source.family == AF_UNSPEC) /* IPv6 may choose a source in this rule's network */
        return rule->header.flags & FIB_RULE_FIND_SADDR ? RULE_MAY_MATCH : RULE_DIFFERS;
    return match_if(address_is_within(&flow->source, &rule->source, rule->header.src_len));
}

static bool rule_has_port(const struct fib_rule_port_range *range, uint16_t mask, uint16_t port)
{
    return mask ? ((port ^ range->start) & mask) == 0 : range->start <= port && port <= range->end;
}

/* The source port of a connection is chosen after the first search for a route. */
static enum rule_match match_ports(const struct rule *rule, const struct rule_flow *flow)
{
    if (rule->has & RULE_DPORTS &&
        !rule_has_port(&rule->dports, rule->dport_mask, flow->destination_port))
        return RULE_DIFFERS;
    if (!(rule->has & RULE_SPORTS))
        return RULE_MATCHES;
    return flow->source_port
               ? match_if(rule_has_port(&rule->sports, rule->sport_mask, flow->source_port))
               : RULE_MAY_MATCH;
}

/* Packets of this machine's sockets come in by lo, and leave by the interface that the socket is
 * bound to. Kernels differ in what they compare if that interface is in a VRF. */
static enum rule_match match_interfaces(const struct rule *rule, const struct rule_flow *flow)
{
    enum rule_match match = RULE_MATCHES;

    if (rule->l3mdev)
        narrow(&match, match_if(flow->in_vrf));
    if (rule->has & (RULE_IIF | RULE_OIF) && flow->in_vrf)
        narrow(&match, RULE_MAY_MATCH);
    else if (rule->has & RULE_IIF)
        narrow(&match, match_if(text_is(rule->iif, "lo")));
    if (rule->has & RULE_OIF && !flow->in_vrf)
        narrow(&match, match_if(*flow->interface && text_is(rule->oif, flow->interface)));
    return match;
}

enum rule_match rule_matches(const struct rule *rule, const struct rule_flow *flow)
{
    enum rule_match match = rule->has & RULE_UNKNOWN ? RULE_MAY_MATCH : RULE_MATCHES;

    narrow(&match, match_interfaces(rule, flow));
    narrow(&match, match_if(((rule->mark ^ flow->mark) & rule->mask) == 0 && !rule->tunnel));
    if (rule->has & RULE_UIDS)
        narrow(&match, match_if(rule->uids.start <= flow->uid && flow->uid <= rule->uids.end));
    if (rule->header.dst_len)
        narrow(&match, match_if(address_is_within(&flow->destination, &rule->destination,
                                                  rule->header.dst_len)));
    narrow(&match, match_source(rule, flow));
    narrow(&match, match_if(!rule->header.tos &&
                            !rule->dscp)); /* sockets have no type of service at first */
    narrow(&match, match_if(!rule->protocol || rule->protocol == flow->protocol));
    narrow(&match, match_ports(rule, flow));
    if (!(rule->header.flags & FIB_RULE_INVERT) || match == RULE_MAY_MATCH)
        return match;
    return match_if(match == RULE_DIFFERS);
}

/* --- Searching -------------------------------------------------------------------------------- */

/* Returns the errno with which a rule of this type ends the way; 0: the rule does not end it. */
static int rule_error(uint8_t action)
{
    return action == FR_ACT_BLACKHOLE     ? EINVAL
           : action == FR_ACT_UNREACHABLE ? ENETUNREACH
           : action == FR_ACT_PROHIBIT    ? EACCES
                                          : 0;
}

/* The way leads: can this rule have found its route? */
static enum rule_match rule_leads(const struct rule_search *search, const struct rule *rule,
                                  uint32_t table)
{
    if (!table && rule->l3mdev)
        return RULE_MAY_MATCH;
    if (table != search->table)
        return RULE_DIFFERS;
    if (rule->suppress_group != -1 || (rule->suppress_prefix != -1 && !search->has_prefix))
        return RULE_MAY_MATCH;
    return match_if(search->prefix > rule->suppress_prefix);
}

/* The way ended: can a route have ended it in the table of this rule? If the socket is bound to an
 * interface, IPv6 may skip routes that end ways, because they have the interface lo. */
static enum rule_match table_ends(const struct rule_search *search, uint32_t table)
{
    const struct rule_table *found = NULL;

    for (size_t i = 0; i < search->table_count; i++)
        if (search->tables[i].table == table)
            found = &search->tables[i];
    if (!found || found->ends < 0 || (found->ends < found->throws && !found->may_differ))
        return RULE_DIFFERS;
    return found->ends <= found->throws || found->may_differ || *search->flow->interface ? RULE_MAY_MATCH
                                                                                         : RULE_MATCHES;
}

static enum rule_match rule_applies(const struct rule_search *search, const struct rule *rule,
                                    uint32_t table)
{
    if (rule->header.action != FR_ACT_TO_TBL)
        return match_if(search->error && rule_error(rule->header.action) == search->error);
    return search->error ? table_ends(search, table) : rule_leads(search, rule, table);
}

void rule_search_take(struct rule_search *search, const struct rule *rule)
{
    const uint32_t table = rule->l3mdev ? search->flow->vrf_table : rule->table;
    enum rule_match match = rule_matches(rule, search->flow);

    if (rule->priority < search->target)
        narrow(&match, search->may_skip ? RULE_MAY_MATCH : RULE_DIFFERS);
    if (match != RULE_DIFFERS && rule->header.action == FR_ACT_GOTO &&
        !(rule->header.flags & FIB_RULE_UNRESOLVED)) {
        search->target = rule->target > search->target ? rule->target : search->target;
        search->may_skip = match == RULE_MAY_MATCH;
    }
    narrow(&match, rule_applies(search, rule, table));
    if (match == RULE_DIFFERS || search->candidates++)
        return;
    search->first_is_sure = match == RULE_MATCHES;
    search->first =
        (struct routing_rule){.ends = rule->header.action != FR_ACT_TO_TBL,
                              .priority = rule->priority,
                              .table = rule->header.action == FR_ACT_TO_TBL ? table : 0};
}
