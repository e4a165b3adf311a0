/* SPDX-License-Identifier: MIT */
#include "why/steps.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/record.h"
#include "model/socket/owner_fields.h"
#include "why/facts.h"
#include "why/sentence.h"

/* A row in the making. */
struct step_row {
    struct record record;
    FILE *result; /* writes to `text` */
    char text[VERDICT_TEXT];
    char where[NAME_MAX + 1];
};

static FILE *row_begin(struct step_row *row, const struct steps *steps, enum step step,
                       const char *source)
{
    const struct evidence *evidence = steps->evidence;

    record_begin(&row->record, &kind_step, sizeof row->record.step);
    row->record.step = (struct step_record){.step = (uint8_t)step,
                                            .protocol = evidence->protocol,
                                            .peer = evidence->peer,
                                            .source = as_text(source)};
    if (evidence->peer.address.family != AF_UNSPEC)
        row->record.has |= STEP_PEER;
    memset(row->text, 0, sizeof row->text);
    row->result = fmemopen(row->text, sizeof row->text, "w");
    return row->result;
}

static void row_address(struct step_row *row, const struct address *address)
{
    put_address(row->result, address);
    row->record.step.address = *address;
    row->record.has |= STEP_ADDRESS;
}

static void row_process(struct step_row *row, const char *name, uint32_t pid)
{
    put_process(row->result, name, pid);
    if (!*name)
        return;
    row->record.step.process = as_text(name);
    row->record.step.pid = pid;
    row->record.has |= STEP_PROCESS;
}

static void row_netns(struct step_row *row, const struct steps *steps,
                      const struct evidence_netns *netns)
{
    if (!netns->id || netns->id == steps->evidence->here.id)
        return;
    put_netns(row->result, netns);
    if (netns->name)
        snprintf(row->where, sizeof row->where, "%s", netns->name);
    else
        snprintf(row->where, sizeof row->where, "%" PRIu64, netns->id);
    row->record.step.where = as_text(row->where);
    row->record.has |= STEP_WHERE;
}

static void row_elapsed(struct step_row *row, uint64_t elapsed)
{
    row->record.step.elapsed = elapsed;
    row->record.has |= STEP_TIME;
}

static void row_error(struct step_row *row, int error)
{
    row->record.step.error = (uint32_t)error;
    row->record.has |= STEP_ERRNO;
}

static int row_emit(struct step_row *row, const struct steps *steps)
{
    (void)fclose(row->result); /* a text that is too long is cut */
    row->text[sizeof row->text - 1] = '\0';
    row->record.step.result = as_text(row->text);
    return steps->fn(&row->record, steps->arg);
}

/* Writes 65,536. */
static void put_count(FILE *stream, uint64_t count)
{
    if (count >= 1000) {
        put_count(stream, count / 1000);
        fprintf(stream, ",%03u", (unsigned)(count % 1000));
    } else {
        fprintf(stream, "%u", (unsigned)count);
    }
}

/* --- The way ---------------------------------------------------------------------------------- */

static int steps_emit_name(const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;
    struct step_row row;

    if (!evidence->name || !row_begin(&row, steps, STEP_NAME, "getaddrinfo(3)"))
        return 0;
    row_elapsed(&row, steps->name_elapsed);
    fprintf(row.result, "%s", evidence->name);
    if (evidence->no_name) {
        fprintf(row.result, ": %s", evidence->no_name);
        return row_emit(&row, steps);
    }
    fputs(" → ", row.result);
    put_address(row.result, &evidence->peer.address);
    if (evidence->addresses > 1)
        fprintf(row.result, " (of %zu addresses", evidence->addresses);
    if (evidence->addresses > 1 && steps->first) {
        fputs("; ", row.result);
        put_address(row.result, &steps->addresses->list[0]);
        fprintf(row.result, " first, %s", steps->first);
    }
    fputs(evidence->addresses > 1 ? ")" : "", row.result);
    return row_emit(&row, steps);
}

static void put_table(FILE *stream, uint32_t table)
{
    const char *name = table == RT_TABLE_MAIN      ? "main"
                       : table == RT_TABLE_LOCAL   ? "local"
                       : table == RT_TABLE_DEFAULT ? "default"
                                                   : NULL;

    if (name)
        fputs(name, stream);
    else
        fprintf(stream, "%" PRIu32, table);
}

static const char *route_end_text(enum routing_end end)
{
    static const char texts[][56] = {
        [ROUTING_NONE] = "no route",
        [ROUTING_BLACKHOLE] = "a route of type blackhole",
        [ROUTING_UNREACHABLE] = "a route of type unreachable",
        [ROUTING_PROHIBIT] = "a route of type prohibit",
        [ROUTING_NEEDS_INTERFACE] = "a link-local address needs its interface (ADDRESS%eth0)",
        [ROUTING_UNKNOWN] = "not known"};

    return texts[end];
}

static int steps_emit_route(const struct steps *steps)
{
    const struct routing_answer *route = &steps->evidence->route;
    enum { RULE_LOCAL = 0, RULE_MAIN = 32766, RULE_DEFAULT = 32767 }; /* ip-rule(8) */
    struct step_row row;

    if (steps->evidence->no_name ||
        !row_begin(&row, steps, STEP_ROUTE, "rtnetlink: RTM_GETROUTE, RTM_GETRULE"))
        return 0;
    if (route->end != ROUTING_LEADS) {
        fputs(route->rule.ends ? "ended by a policy rule" : route_end_text(route->end), row.result);
        row_error(&row, route->error);
    } else {
        if (route->gateway.family != AF_UNSPEC) {
            fputs("via ", row.result);
            row_address(&row, &route->gateway);
            fputc(' ', row.result);
        }
        fprintf(row.result, "dev %s src ", steps->evidence->interface);
        put_address(row.result, &route->source);
        row.record.step.interface = route->interface;
        row.record.step.local.address = route->source;
        row.record.has |= STEP_INTERFACE | STEP_SOURCE;
    }
    if (route->table) {
        fputs(" (table ", row.result);
        put_table(row.result, route->table);
        fputc(')', row.result);
    }
    if (route->rule.known && route->rule.priority != RULE_LOCAL &&
        route->rule.priority != RULE_MAIN && route->rule.priority != RULE_DEFAULT)
        fprintf(row.result, ", by the policy rule %" PRIu32, route->rule.priority);
    if (route->end == ROUTING_LEADS && route->mtu_is_learnt)
        fprintf(row.result, ", a router reported an MTU of %" PRIu32, route->mtu);
    return row_emit(&row, steps);
}

static int steps_emit_link(const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;
    struct step_row row;

    if (!(evidence->read & EVIDENCE_LINK) || (evidence->is_up && evidence->has_link) ||
        !row_begin(&row, steps, STEP_LINK, "rtnetlink: RTM_GETLINK"))
        return 0;
    fprintf(row.result, "%s %s", evidence->interface,
            evidence->is_up ? "is up, but has no carrier" : "is down");
    row.record.step.interface = evidence->route.interface;
    row.record.has |= STEP_INTERFACE;
    return row_emit(&row, steps);
}

static int steps_emit_neighbour(const struct steps *steps)
{
    const struct evidence_neighbour *neighbour = &steps->evidence->neighbour;
    const char *state = neighbour_state_name(neighbour->state);
    struct step_row row;

    if (!(steps->evidence->read & EVIDENCE_NEIGHBOUR) ||
        !row_begin(&row, steps, STEP_NEIGHBOUR, "rtnetlink: RTM_GETNEIGH"))
        return 0;
    row_address(&row, &neighbour->address);
    fprintf(row.result, " %s", !neighbour->state ? "has no entry yet" : state ? state : "unknown");
    return row_emit(&row, steps);
}

static int steps_emit_tracking(const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;
    struct step_row row;

    if (!(evidence->read & EVIDENCE_TRACKING) ||
        !row_begin(&row, steps, STEP_TRACKING, "ctnetlink"))
        return 0;
    put_count(row.result, evidence->flows);
    if (evidence->flows_max) {
        fputs(" of ", row.result);
        put_count(row.result, evidence->flows_max);
    }
    fputs(" flows", row.result);
    if (facts_of(evidence) & TABLE_FULL) {
        fputs("; no room, new flows are dropped", row.result);
        row_netns(&row, steps, &evidence->flows_full);
    }
    return row_emit(&row, steps);
}

/* --- Attempts --------------------------------------------------------------------------------- */

static int steps_emit_attempts(const struct steps *steps)
{
    const struct evidence_others *others = &steps->evidence->others;
    struct step_row row;

    if (!others->count || !row_begin(&row, steps, STEP_ATTEMPTS, "sock_diag: SYN_SENT"))
        return 0;
    fprintf(row.result,
            "%" PRIu64 " connection%s of other programs wait%s for an answer: ", others->count,
            others->count == 1 ? "" : "s", others->count == 1 ? "s" : "");
    row_process(&row, others->process, others->pid);
    if (others->retransmits)
        fprintf(row.result, " sent its SYN %" PRIu32 " times more", others->retransmits);
    return row_emit(&row, steps);
}

static int steps_emit_policy(const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;
    const struct evidence_event *event = facts_event(evidence, ANY_DROP);
    struct step_row row;

    if (evidence->no_name || !row_begin(&row, steps, STEP_POLICY, "BPF: skb:kfree_skb"))
        return 0;
    if (event) {
        fprintf(row.result, "%s%s dropped, %" PRIu64 " time%s: %s",
                event->is_answer                       ? "the answer"
                : event->event.protocol == IPPROTO_UDP ? "the datagram"
                                                       : "the SYN",
                event->is_here ? " was" : " left, and was", event->event.count,
                event->event.count == 1 ? "" : "s", event->event.reason);
        row_netns(&row, steps, &event->netns);
        row.record.step.interface = event->event.interface;
        row.record.has |= event->is_here && event->event.interface ? STEP_INTERFACE : 0;
    } else if (steps->unseen) {
        fprintf(row.result, "not known: %s", steps->unseen);
    } else if (evidence->read & EVIDENCE_DROPS) {
        fprintf(row.result, "this machine: nothing dropped by a rule while %s",
                steps->probed ? "it tried" : "fastnet watched");
    } else {
        fputs("not known: only --probe, or --for, sees packets that rules drop", row.result);
    }
    return row_emit(&row, steps);
}

/* Writes how a failed attempt ended, without its time. */
static void put_failure(FILE *stream, const struct attempt_result *attempt)
{
    const char *name = connect_error_name((uint64_t)attempt->error);

    if (attempt->error == ECONNREFUSED && !attempt->has_icmp)
        fputs("refused", stream);
    else
        fputs(name ? name : strerror(attempt->error), stream);
}

static void put_data(FILE *stream, const struct attempt_result *attempt)
{
    if (!attempt->sent)
        return;
    fputs("; ", stream);
    put_count(stream, attempt->acked);
    fputs(" of ", stream);
    put_count(stream, attempt->sent);
    fputs(" bytes acknowledged", stream);
}

static void put_attempt(struct step_row *row, const struct evidence *evidence)
{
    const struct attempt_result *attempt = &evidence->attempt;
    FILE *stream = row->result;

    switch (attempt->state) {
    case ATTEMPT_CONNECTED:
        fputs(evidence->protocol == IPPROTO_UDP ? "answered after " : "connected after ", stream);
        put_duration(stream, attempt->elapsed);
        put_data(stream, attempt);
        fputs(attempt->reset ? "; then reset by the peer" : "", stream);
        break;
    case ATTEMPT_FAILED:
        put_failure(stream, attempt);
        fputs(attempt->at_once ? ", by connect(2) itself" : " after ", stream);
        if (!attempt->at_once)
            put_duration(stream, attempt->elapsed);
        if (attempt->has_icmp) {
            fputs(", by an ICMP message from ", stream);
            row_address(row, &attempt->offender);
        } else if (attempt->error == ECONNREFUSED && evidence->protocol == IPPROTO_TCP) {
            fputs(", by a RST from ", stream);
            row_address(row, &evidence->peer.address);
        }
        row_error(row, attempt->error);
        break;
    case ATTEMPT_WAITS:
        fputs("no answer after ", stream);
        put_duration(stream, attempt->elapsed);
        if (attempt->retransmits)
            fprintf(stream, ", the SYN was sent %" PRIu32 " times", attempt->retransmits + 1);
        break;
    default:
        fputs("not tried", stream);
    }
}

static int steps_emit_connect(const struct steps *steps)
{
    const struct attempt_result *attempt = &steps->evidence->attempt;
    struct step_row row;

    if (!steps->probed || !row_begin(&row, steps, STEP_CONNECT, "connect(2)"))
        return 0;
    put_attempt(&row, steps->evidence);
    row_elapsed(&row, attempt->elapsed);
    if (attempt->local.port) {
        row.record.step.local = attempt->local;
        row.record.has |= STEP_SOURCE;
    }
    return row_emit(&row, steps);
}

/* --- The end ---------------------------------------------------------------------------------- */

static int steps_emit_listener(const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;
    const struct evidence_listener *listener = &evidence->listener;
    struct step_row row;

    if (!(evidence->read & EVIDENCE_LISTENERS) ||
        !row_begin(&row, steps, STEP_LISTENER, "sock_diag"))
        return 0;
    if (listener->miss != MISS_NONE) {
        fputs("nobody listens on ", row.result);
        put_endpoint(row.result, &evidence->target);
        row_netns(&row, steps, &evidence->home);
        fputs(listener->miss == MISS_NO_LISTENER ? "" : "; ", row.result);
    }
    if (listener->miss != MISS_NO_LISTENER) {
        row_process(&row, listener->process, listener->pid);
        fputs(" listens on ", row.result);
        put_endpoint(row.result, &listener->local);
        if (listener->miss == MISS_NONE)
            row_netns(&row, steps, &listener->netns);
        else if (listener->miss == MISS_NETNS)
            put_netns(row.result, &listener->netns);
    }
    return row_emit(&row, steps);
}

static int steps_emit_queue(const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;
    const struct evidence_listener *listener = &evidence->listener;
    struct step_row row;

    if (!(evidence->read & EVIDENCE_QUEUE) || listener->miss != MISS_NONE ||
        evidence->protocol != IPPROTO_TCP || !row_begin(&row, steps, STEP_QUEUE, "sock_diag"))
        return 0;
    put_count(row.result, listener->queue);
    fprintf(row.result, " connection%s wait%s for accept(2), the limit is ",
            listener->queue == 1 ? "" : "s", listener->queue == 1 ? "s" : "");
    put_count(row.result, listener->queue_limit);
    if (listener->dropped)
        fprintf(row.result, "; %" PRIu32 " dropped meanwhile", listener->dropped);
    return row_emit(&row, steps);
}

int steps_emit(const struct steps *steps)
{
    static int (*const emit[])(const struct steps *steps) = {
        steps_emit_name,     steps_emit_route,    steps_emit_link,   steps_emit_neighbour,
        steps_emit_tracking, steps_emit_attempts, steps_emit_policy, steps_emit_connect,
        steps_emit_listener, steps_emit_queue};
    int error = 0;

    for (size_t i = 0; i < COUNT(emit) && !error; i++)
        error = emit[i](steps);
    return error;
}

int steps_emit_answer(const struct steps *steps, const struct verdict *verdict)
{
    struct step_row row;
    struct step_record *step = &row.record.step;

    if (!row_begin(&row, steps, STEP_ANSWER, "the steps above"))
        return -ENOMEM;
    step->ending = (uint8_t)verdict->ending;
    step->cause = as_text(cause_name(verdict->cause));
    step->advice = as_text(verdict->advice);
    step->command = as_text(verdict->command);
    row.record.has |= STEP_ENDING;
    fputs(verdict->sentence, row.result);
    if (verdict->is_other) {
        snprintf(row.where, sizeof row.where, "%s", verdict->netns.name ? verdict->netns.name : "");
        if (!verdict->netns.name)
            snprintf(row.where, sizeof row.where, "%" PRIu64, verdict->netns.id);
        step->where = as_text(row.where);
        row.record.has |= STEP_WHERE;
    }
    return row_emit(&row, steps);
}
