/* SPDX-License-Identifier: MIT */
/* Connection tracking: flows whose target is gone, and tracking that has ended. */
#include "doctor/nat.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/engine.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/routing.h"
#include "fastnet/tracking.h"

/* --- Flows ------------------------------------------------------------------------------------ */

/* IPS_FIXED_TIMEOUT, IPS_OFFLOAD and IPS_HW_OFFLOAD of linux/netfilter/nf_conntrack_common.h:
 * packets do not renew the timeout. Headers before Linux 5.8 lack the last. */
#define NAT_OTHER_TIMEOUT (1u << 10 | 1u << 14 | 1u << 15)

bool nat_flow_of(struct nat_flow *flow, const struct record *record)
{
    const uint64_t known = FLOW_ORIG | FLOW_REPLY | FLOW_STATUS | FLOW_TIMEOUT;
    const uint64_t counters = FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS;
    const struct flow_direction *way = record->flow.way;
    const struct flow_tuple *orig = &way[WAY_ORIG].tuple, *reply = &way[WAY_REPLY].tuple;

    if (record->kind != &kind_flow || (record->has & known) != known ||
        orig->protocol != IPPROTO_UDP || !(record->flow.status & IPS_DST_NAT) ||
        record->flow.status & NAT_OTHER_TIMEOUT || address_equal(&reply->src, &orig->dst))
        return false;
    *flow = (struct nat_flow){
        .identity = record->identity,
        .client = {orig->src, orig->src_port},
        .service = {orig->dst, orig->dst_port},
        .target = {reply->src, reply->src_port},
        .sent = way[WAY_ORIG].packets,
        .received = way[WAY_REPLY].packets,
        .is_counted = (record->has & counters) == counters,
        .timeout = record->flow.timeout,
    };
    return true;
}

int nat_flows_add(struct nat_flows *flows, const struct nat_flow *flow)
{
    struct nat_flow *added;

    if (flows->count == NAT_FLOWS_MAX)
        return 0;
    added = ARRAY_ADD(flows->list, flows->count, flows->capacity);
    if (!added)
        return -ENOMEM;
    if (!flows->at)
        flows->at = clock_nanoseconds(CLOCK_MONOTONIC);
    *added = *flow;
    return 0;
}

/* Without a packet, the timeout would be shorter by the time between the readings, and by up to a
 * second more or less, because the kernel reports whole seconds. */
static bool nat_flow_is_renewed(const struct nat_flows *before, const struct nat_flow *old,
                                const struct nat_flows *now, const struct nat_flow *flow)
{
    enum { ROUNDING_MS = 1250 };
    const uint64_t passed = (now->at - before->at) / CLOCK_MILLISECOND;

    return flow->timeout * UINT64_C(1000) + passed >= old->timeout * UINT64_C(1000) + ROUNDING_MS;
}

bool nat_flow_is_unanswered(const struct nat_flows *before, const struct nat_flows *now, size_t i)
{
    const struct nat_flow *flow = &now->list[i];

    for (size_t j = 0; j < before->count; j++) {
        const struct nat_flow *old = &before->list[j];
        if (old->identity != flow->identity)
            continue;
        return flow->is_counted && old->is_counted
                   ? flow->sent > old->sent && flow->received == old->received
                   : nat_flow_is_renewed(before, old, now, flow);
    }
    return false;
}

/* --- Targets that no packet can reach --------------------------------------------------------- */

/* A target of NAT. Its packets were dropped, or wait for a neighbour that does not answer. */
struct nat_target {
    struct endpoint target, service, client; /* service and client: of one of the flows */
    uint64_t flows;
    uint64_t packets;   /* packets that the kernel dropped */
    struct text reason; /* why it dropped them */
    uint32_t interface; /* where the neighbour is; 0: no route leads to the target */
};

enum { NAT_TARGETS_MAX = 32, NAT_LEAST_PACKETS = 3 };
struct nat_targets {
    struct nat_target list[NAT_TARGETS_MAX];
    size_t count;
    bool others; /* some packets were not counted by target: there may be more of each */
};

static bool nat_endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
    return a->port == b->port && address_equal(&a->address, &b->address);
}

/* Returns the element for the target; NULL: there is no room. */
static struct nat_target *nat_targets_find(struct nat_targets *targets,
                                           const struct endpoint *target)
{
    for (size_t i = 0; i < targets->count; i++)
        if (nat_endpoint_equal(&targets->list[i].target, target))
            return &targets->list[i];
    if (targets->count == NAT_TARGETS_MAX)
        return NULL;
    targets->list[targets->count] = (struct nat_target){.target = *target};
    return &targets->list[targets->count++];
}

static void nat_target_add(struct nat_target *target, const struct nat_flow *flow)
{
    target->service = flow->service;
    target->client = flow->client;
    target->flows++;
}

/* Returns the interface at which the kernel asks for this neighbour in vain, or 0. */
static uint32_t nat_silent_interface(const struct reading *reading, const struct address *address)
{
    for (size_t i = 0; i < reading->silent_count; i++)
        if (address_equal(&reading->silent[i].address, address))
            return reading->silent[i].interface;
    return 0;
}

int nat_take(struct reading *reading, const struct record *record)
{
    struct nat_flow flow;

    return nat_flow_of(&flow, record) && nat_silent_interface(reading, &flow.target.address)
               ? nat_flows_add(&reading->nat, &flow)
               : 0;
}

/* Targets that are neighbours. In both readings the neighbour did not answer, although packets
 * waited for it, and between them the clients sent. */
static void nat_find_neighbours(struct nat_targets *targets, const struct examination *examination)
{
    const struct reading *before = examination->before, *now = examination->now;

    for (size_t i = 0; i < now->nat.count; i++) {
        const struct nat_flow *flow = &now->nat.list[i];
        const uint32_t interface = nat_silent_interface(now, &flow->target.address);
        if (!interface || nat_silent_interface(before, &flow->target.address) != interface ||
            !nat_flow_is_unanswered(&before->nat, &now->nat, i))
            continue;
        struct nat_target *target = nat_targets_find(targets, &flow->target);
        if (target) {
            target->interface = interface;
            nat_target_add(target, flow);
        }
    }
}

/* Returns whether a UDP packet was dropped for a reason that a packet without a route has. The
 * kernel drops a packet of this machine in the hook of NAT (NETFILTER_DROP) if the new destination
 * has no route. Rules of a firewall mostly drop received packets. */
static bool nat_may_lack_route(const struct drop *drop, bool in_hook)
{
    static const char *const reasons[] = {"IP_INNOROUTES", "IP_OUTNOROUTES", "IP_INADDRERRORS",
                                          "NOT_SPECIFIED"};
    const struct drop_record *packet = &drop->record.drop;
    size_t reason = 0;

    if (packet->protocol != IPPROTO_UDP || !(drop->record.has & DROP_PORTS))
        return false;
    if (in_hook)
        return !packet->received && packet->inode && text_is(packet->reason, "NETFILTER_DROP");
    while (reason < COUNT(reasons) && !text_is(packet->reason, reasons[reason]))
        reason++;
    return reason < COUNT(reasons);
}

/* Adds the destinations of dropped UDP packets, which may be targets. Packets that a hook dropped
 * are not counted by destination, but by socket: the first destination of each socket is known. */
static void nat_take_drops(struct nat_targets *targets, const struct examination *examination,
                           bool in_hook)
{
    const struct drop_probe *probe = examination->drops;
    const uint64_t own = namespace_own_id();

    for (size_t i = 0; probe && own && i < drop_probe_count(probe); i++) {
        const struct drop *drop = drop_probe_at(probe, i);
        const struct drop_record *packet = &drop->record.drop;
        if (drop->netns != own || !nat_may_lack_route(drop, in_hook))
            continue;
        if (drop->others) {
            targets->others = true;
            continue;
        }
        const struct endpoint *end = packet->received ? &packet->local : &packet->remote;
        const uint8_t first = end->address.bytes[0]; /* NAT leads to no multicast group */
        if (packet->drops < NAT_LEAST_PACKETS ||
            (end->address.family == AF_INET ? first >= 224 : first == 0xff))
            continue;
        struct nat_target *target = nat_targets_find(targets, end);
        if (target && !target->interface) {
            target->packets += packet->drops;
            target->reason = packet->reason;
        }
    }
}

static int nat_take_flow(const struct record *record, void *arg)
{
    struct nat_targets *targets = arg;
    struct nat_flow flow;

    for (size_t i = 0; nat_flow_of(&flow, record) && i < targets->count; i++)
        if (!targets->list[i].interface &&
            nat_endpoint_equal(&targets->list[i].target, &flow.target))
            nat_target_add(&targets->list[i], &flow);
    return 0;
}

/* Returns whether no route leads to the target. For a packet that this machine forwards, rules for
 * its interface or source may choose another way than for packets of this machine: then the reason
 * of the drops decides. */
static bool nat_has_no_route(struct netlink *netlink, const struct nat_target *target)
{
    const struct routing_question question = {.peer = target->target, .protocol = IPPROTO_UDP};
    struct routing_answer answer;

    if (text_is(target->reason, "IP_INNOROUTES") || text_is(target->reason, "IP_OUTNOROUTES"))
        return true;
    return netlink && routing_ask(netlink, &question, &answer) == 0 &&
           (answer.end == ROUTING_NONE || answer.end == ROUTING_BLACKHOLE ||
            answer.end == ROUTING_UNREACHABLE || answer.end == ROUTING_PROHIBIT);
}

/* Finds the flows of the targets whose packets were dropped. */
static void nat_find_routes(struct nat_targets *targets, const struct examination *examination)
{
    const struct field *status = field_named(&kind_flow, "status");
    struct predicate_tree where = {.count = 0};
    const struct listing_table table = {.table = &table_flows, .unnamed = true};
    const struct listing listing = {
        .needs.fields = FLOW_ORIG | FLOW_REPLY | FLOW_STATUS | FLOW_TIMEOUT,
        .proc_root = examination->options->proc_root,
        .backend = examination->options->backend,
        .tables = &table,
        .table_count = 1,
        .where = predicate_tree_add(&where, &where.whole,
                                    predicate_masked(status, IPS_DST_NAT, IPS_DST_NAT)),
    };
    struct report unreported = {.partial = false};
    struct netlink *netlink;

    if (engine_gather(examination->engine, &listing, nat_take_flow, targets, &unreported) < 0)
        return;
    netlink = netlink_create(NULL);
    for (size_t i = 0; i < targets->count; i++) {
        struct nat_target *target = &targets->list[i];
        if (!target->interface && (target->packets < NAT_LEAST_PACKETS || !target->flows ||
                                   !nat_has_no_route(netlink, target)))
            target->flows = 0;
    }
    netlink_destroy(netlink);
}

static void emit_stale_nat(struct examination *examination, const struct nat_target *target,
                           bool others)
{
    char address[ENDPOINT_TEXT], service[ENDPOINT_TEXT], client[ENDPOINT_TEXT], command[128];
    char why[IF_NAMESIZE + 64] = "no route leads to this address";
    struct finding finding;

    if (target->interface) {
        char name[IF_NAMESIZE];
        snprintf(why, sizeof why, "this address does not answer at interface %s",
                 if_indextoname(target->interface, name) ? name : "?");
    }
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  endpoint_text(address, &target->target));
    finding_summary(&finding,
                    "NAT leads %" PRIu64 " UDP flow%s to %s on to %s, but %s: their packets are "
                    "lost as long as the clients go on sending",
                    target->flows, target->flows == 1 ? "" : "s",
                    endpoint_text(service, &target->service), address, why);
    finding_evidence(&finding, "a client is %s", endpoint_text(client, &target->client));
    if (target->interface)
        finding_evidence(&finding, "in both readings packets waited for this neighbour");
    else
        finding_evidence(&finding, "the kernel dropped %s%" PRIu64 " of the packets: %.*s",
                         others ? "at least " : "", target->packets, (int)target->reason.length,
                         target->reason.data);
    address_text(address, &target->target.address);
    snprintf(command, sizeof command, "fastnet conntrack -L -p udp --reply-src %s", address);
    snprintf(finding.advice, sizeof finding.advice,
             "delete these flows (conntrack -D -p udp --reply-src %s), so that their next packets "
             "get a target that exists, and find out why they were left when the target went; if "
             "%s should exist, find out why it does not answer",
             address, address);
    finding.record.finding.command = as_text(command);
    finding.record.finding.advice = as_text(finding.advice);
    finding_emit(&finding, examination, target->flows, ABSENT, ABSENT);
    if (!target->interface && text_is(target->reason, "IP_INNOROUTES"))
        examination->explained += target->packets;
}

void rule_stale_nat(struct examination *examination)
{
    const uint64_t tracked = counter_total(examination, FLOWS_TRACKED);
    struct nat_targets targets = {.count = 0};
    size_t neighbours;

    if (!tracked)
        return;
    nat_find_neighbours(&targets, examination);
    neighbours = targets.count;
    nat_take_drops(&targets, examination, false);
    nat_take_drops(&targets, examination, true); /* these may be many: they get what room is left */
    if (targets.count > neighbours && tracked <= NAT_TRACKED_MAX && examination->engine)
        nat_find_routes(&targets, examination);
    else
        targets.count = neighbours;
    for (size_t i = 0; i < targets.count; i++)
        if (targets.list[i].flows)
            emit_stale_nat(examination, &targets.list[i], targets.others);
}

/* --- Tracking that has ended ------------------------------------------------------------------ */

/* Fewer flows may end at the same time. */
enum { TRACKED_LEAST = 10 };

/* A table is also empty after conntrack -F, or if the last flows have timed out. So the rule needs
 * to know that no rule uses connection tracking any more. */
void rule_tracking_off(struct examination *examination)
{
    const struct kernel_counts *before = &examination->before->counts;
    const struct kernel_counts *now = &examination->now->counts;
    const bool is_gone = !now->known[FLOWS_TRACKED] && !(examination->now->cut & READS_FLOWS);
    struct netlink *netlink;
    struct finding finding;
    enum tracking tracking;

    if (!before->known[FLOWS_TRACKED] || before->numbers[FLOWS_TRACKED] < TRACKED_LEAST ||
        (!is_gone && now->numbers[FLOWS_TRACKED]) ||
        !proc_tree_is_own(examination->options->proc_root))
        return;
    netlink = is_gone ? NULL : netlink_create(NULL);
    tracking = netlink ? tracking_find(netlink, examination->options->proc_root) : TRACKING_UNKNOWN;
    netlink_destroy(netlink);
    if (!is_gone && tracking != TRACKING_UNUSED)
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "connection tracking");
    finding_summary(&finding,
                    "connection tracking has ended: %" PRIu64 " flows were tracked %.7g s ago, and "
                    "now no flow is, so that NAT and stateful rules do not work any more",
                    before->numbers[FLOWS_TRACKED], seconds_between(examination));
    finding_evidence(&finding, "%s",
                     is_gone ? "the kernel's module is unloaded"
                             : "no rule of this network namespace uses connection tracking now");
    finding_emit(&finding, examination, 0, ABSENT, ABSENT);
}
