/* SPDX-License-Identifier: MIT */
/* Policy rules of rtnetlink(7). The kernel reports the route that it found, but not the rule that
 * led to it, so the rules are compared with the flow a second time. Where a rule or a table cannot
 * be judged with certainty, the result says so. Sources: fib_rules_lookup() and fib_rule_match() of
 * the kernel's net/core/fib_rules.c, net/ipv4/fib_rules.c and net/ipv6/fib6_rules.c. */
#include "backend/route/rules.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>

#include "backend/netlink/attributes.h"
#include "fastnet/kernel_abi.h"

/* --- Decoding --------------------------------------------------------------------------------- */

/* Ranges are taken as numbers, which have their sizes. */
#define TAKE_RULE(path)        TAKE_INTO(struct policy_rule, path, 0)
#define TAKE_RANGE(path, form) TARGET(struct policy_rule, path, 0, form)
static const struct target rule_targets[] = {
    [FRA_DST] = TAKE_RULE(destination),
    [FRA_SRC] = TAKE_RULE(source),
    [FRA_IIFNAME] = TAKE_RULE(iif),
    [FRA_GOTO] = TAKE_RULE(target),
    [FRA_PRIORITY] = TAKE_RULE(priority),
    [FRA_FWMARK] = TAKE_RULE(mark),
    [FRA_TUN_ID] = TAKE_RULE(tunnel),
    [FRA_SUPPRESS_IFGROUP] = TAKE_RULE(suppress_group),
    [FRA_SUPPRESS_PREFIXLEN] = TAKE_RULE(suppress_prefix),
    [FRA_TABLE] = TAKE_RULE(table),
    [FRA_FWMASK] = TAKE_RULE(mask),
    [FRA_OIFNAME] = TAKE_RULE(oif),
    [FRA_L3MDEV] = TAKE_RULE(l3mdev),
    [FRA_UID_RANGE] = TAKE_RANGE(uids, TARGET_U64),
    [FRA_IP_PROTO] = TAKE_RULE(protocol),
    [FRA_SPORT_RANGE] = TAKE_RANGE(sports, TARGET_U32),
    [FRA_DPORT_RANGE] = TAKE_RANGE(dports, TARGET_U32),
    [FRA_DSCP] = TAKE_RULE(dscp),
    [FRA_SPORT_MASK] = TAKE_RULE(sport_mask),
    [FRA_DPORT_MASK] = TAKE_RULE(dport_mask),
    [FRA_DSCP_MASK] = TAKE_RULE(dscp_mask),
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

int rule_decode(const struct nlmsghdr *message, struct policy_rule *rule)
{
    struct decoding decoding = {.object = rule};
    struct attributes attributes;
    const struct fib_rule_hdr *header = message_header(message, sizeof *header, &attributes);

    if (!header || (header->family != AF_INET && header->family != AF_INET6))
        return -EBADMSG;
    *rule = (struct policy_rule){.table = header->table,
                                 .uids = {0, UINT32_MAX},
                                 .suppress_prefix = -1,
                                 .suppress_group = -1,
                                 .is_unknown = rule_has_unknown(attributes)};
    memcpy(&rule->header, header, sizeof *header);
    decoding.family = header->family;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(rule_targets));
    if (decoding.malformed || header->dst_len > 8 * address_size(&rule->destination) ||
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

static enum rule_match match_source(const struct policy_rule *rule, const struct rule_flow *flow)
{
    if (!rule->header.src_len)
        return RULE_MATCHES;
    if (flow->source.family == AF_UNSPEC) /* IPv6 may choose a source in this rule's network */
        return (rule->header.flags & FIB_RULE_FIND_SADDR) ? RULE_MAY_MATCH : RULE_DIFFERS;
    return match_if(address_is_within(&flow->source, &rule->source, rule->header.src_len));
}

static bool rule_has_port(const struct fib_rule_port_range *range, uint16_t mask, uint16_t port)
{
    return mask ? ((port ^ range->start) & mask) == 0 : range->start <= port && port <= range->end;
}

/* The source port of a connection is chosen after the first search for a route. It is no privileged
 * port. */
static enum rule_match match_ports(const struct policy_rule *rule, const struct rule_flow *flow)
{
    if (rule->dports.start &&
        !rule_has_port(&rule->dports, rule->dport_mask, flow->destination_port))
        return RULE_DIFFERS;
    if (!rule->sports.start)
        return RULE_MATCHES;
    if (flow->source_port)
        return match_if(rule_has_port(&rule->sports, rule->sport_mask, flow->source_port));
    return rule->sports.end < IPPORT_RESERVED &&
                   (!rule->sport_mask || rule->sport_mask == UINT16_MAX)
               ? RULE_DIFFERS
               : RULE_MAY_MATCH;
}

/* Packets of this machine's sockets come in by lo, and leave by the interface that the socket is
 * bound to. Kernels differ in what they compare if that interface is in a VRF. */
static enum rule_match match_interfaces(const struct policy_rule *rule,
                                        const struct rule_flow *flow)
{
    enum rule_match match = RULE_MATCHES;

    if (rule->l3mdev)
        narrow(&match, match_if(flow->vrf_table));
    if (flow->vrf_table && (rule->iif.length || rule->oif.length))
        narrow(&match, RULE_MAY_MATCH);
    else if (rule->iif.length)
        narrow(&match, match_if(text_is(rule->iif, "lo")));
    if (rule->oif.length && !flow->vrf_table)
        narrow(&match, match_if(*flow->interface && text_is(rule->oif, flow->interface)));
    return match;
}

enum rule_match rule_matches(const struct policy_rule *rule, const struct rule_flow *flow)
{
    enum rule_match match = rule->is_unknown ? RULE_MAY_MATCH : RULE_MATCHES;

    narrow(&match, match_interfaces(rule, flow));
    narrow(&match, match_if(((rule->mark ^ flow->mark) & rule->mask) == 0 && !rule->tunnel));
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

struct rule_table *rule_search_table(struct rule_search *search, uint32_t table)
{
    for (size_t i = 0; i < search->table_count; i++)
        if (search->tables[i].table == table)
            return &search->tables[i];
    if (search->table_count == RULE_TABLES_MAX)
        return NULL;
    search->tables[search->table_count] = (struct rule_table){table, -1, -1, false};
    return &search->tables[search->table_count++];
}

/* Returns the errno with which a rule of this type ends the way; 0: the rule does not end it. */
static int rule_error(uint8_t action)
{
    return action == FR_ACT_BLACKHOLE     ? EINVAL
           : action == FR_ACT_UNREACHABLE ? ENETUNREACH
           : action == FR_ACT_PROHIBIT    ? EACCES
                                          : 0;
}

/* A way leads to the peer: returns whether this rule can have found its route. */
static enum rule_match rule_leads(const struct rule_search *search, const struct policy_rule *rule,
                                  uint32_t table)
{
    if (table != search->table)
        return RULE_DIFFERS;
    if (rule->suppress_group != -1 || (rule->suppress_prefix != -1 && !search->has_prefix))
        return RULE_MAY_MATCH;
    return match_if(search->prefix > rule->suppress_prefix);
}

/* The way ended: returns whether a route in this table can have ended it. If the socket is bound to
 * an interface, IPv6 may skip routes that end ways, because they have the interface lo. */
static enum rule_match table_ends(struct rule_search *search, const struct policy_rule *rule,
                                  uint32_t table)
{
    const struct rule_table *found = rule_search_table(search, table);

    if (!found || found->ends < 0 || (found->ends < found->throws && !found->may_differ))
        return RULE_DIFFERS;
    /* the rule may have found a longer route that leads, and not used it */
    return found->ends <= found->throws || found->may_differ || *search->flow->interface ||
                   found->ends < rule->suppress_prefix || rule->suppress_group != -1
               ? RULE_MAY_MATCH
               : RULE_MATCHES;
}

static enum rule_match rule_applies(struct rule_search *search, const struct policy_rule *rule,
                                    uint32_t table)
{
    if (rule->header.action != FR_ACT_TO_TBL)
        return match_if(search->error && rule_error(rule->header.action) == search->error);
    return search->error ? table_ends(search, rule, table) : rule_leads(search, rule, table);
}

void rule_search_take(struct rule_search *search, const struct policy_rule *rule)
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
    search->needs_port |= !search->first_is_sure && match == RULE_MAY_MATCH && rule->sports.start &&
                          !search->flow->source_port;
    narrow(&match, rule_applies(search, rule, table));
    if (match == RULE_DIFFERS || search->candidates++)
        return;
    search->first_is_sure = match == RULE_MATCHES;
    search->first =
        (struct routing_rule){.ends = rule->header.action != FR_ACT_TO_TBL,
                              .priority = rule->priority,
                              .table = rule->header.action == FR_ACT_TO_TBL ? table : 0};
}
