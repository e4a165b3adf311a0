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

bool step_row_begin(struct step_row *row, enum step step, const char *source)
{
    record_begin(&row->record, &kind_step, sizeof row->record.step);
    row->record.step = (struct step_record){.step = (uint8_t)step, .source = as_text(source)};
    memset(row->text, 0, sizeof row->text);
    row->stream = fmemopen(row->text, sizeof row->text, "w");
    return row->stream;
}

int step_row_end(struct step_row *row, bool wanted, record_fn fn, void *arg)
{
    (void)fclose(row->stream); /* a text that is too long is cut */
    row->text[sizeof row->text - 1] = '\0';
    row->record.step.result = as_text(row->text);
    return wanted ? fn(&row->record, arg) : 0;
}

void step_row_process(struct step_row *row, const char *name, uint32_t pid)
{
    put_process(row->stream, name, pid);
    row->record.step.process = as_text(name);
    row->record.step.pid = pid;
    row->record.has |= *name ? STEP_PROCESS : 0;
}

void step_row_netns(struct step_row *row, const struct evidence_netns *netns)
{
    if (netns->name)
        snprintf(row->netns, sizeof row->netns, "%s", netns->name);
    else
        snprintf(row->netns, sizeof row->netns, "%" PRIu64, netns->id);
    row->record.step.netns = as_text(row->netns);
    row->record.has |= STEP_NETNS;
}

static void row_address(struct step_row *row, const struct address *address)
{
    put_address(row->stream, address);
    row->record.step.address = *address;
    row->record.has |= STEP_ADDRESS;
}

/* Writes the network namespace, unless the connection is made there. */
static void row_other_netns(struct step_row *row, const struct steps *steps,
                            const struct evidence_netns *netns)
{
    if (!netns->id || netns->id == steps->evidence->here.id)
        return;
    put_netns(row->stream, netns);
    step_row_netns(row, netns);
}

static void row_error(struct step_row *row, int error)
{
    row->record.step.error = (uint32_t)error;
    row->record.has |= STEP_ERRNO;
}

/* Writes a template. Returns true. */
static bool row_put(struct step_row *row, const struct steps *steps, const char *from)
{
    sentence_put(row->stream, &(struct sentence){.evidence = steps->evidence}, from);
    return true;
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

static bool step_of_name(struct step_row *row, const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;

    row->record.step.elapsed = steps->name_elapsed;
    row->record.has |= STEP_TIME;
    if (evidence->no_name)
        return row_put(row, steps, "{name}: {no-name}");
    row_put(row, steps, "{name} → {address}");
    if (evidence->addresses > 1)
        fprintf(row->stream, " (of %zu addresses", evidence->addresses);
    if (evidence->addresses > 1 && steps->first) {
        fputs("; ", row->stream);
        put_address(row->stream, &steps->addresses->list[0]);
        fprintf(row->stream, " first, %s", steps->first);
    }
    fputs(evidence->addresses > 1 ? ")" : "", row->stream);
    return evidence->name;
}

static void put_table(FILE *stream, uint32_t table)
{
    const char *name = table == RT_TABLE_MAIN      ? "main"
                       : table == RT_TABLE_LOCAL   ? "local"
                       : table == RT_TABLE_DEFAULT ? "default"
                                                   : NULL;

    if (name)
        fprintf(stream, " (table %s)", name);
    else if (table)
        fprintf(stream, " (table %" PRIu32 ")", table);
}

static const char *route_end_text(enum routing_end end)
{
    static const char texts[][56] = {[ROUTING_NONE] = "no route",
                                     [ROUTING_BLACKHOLE] = "a route of type blackhole",
                                     [ROUTING_UNREACHABLE] = "a route of type unreachable",
                                     [ROUTING_PROHIBIT] = "a route of type prohibit",
                                     [ROUTING_NEEDS_INTERFACE] =
                                         "a link-local address needs its interface (ADDRESS%eth0)",
                                     [ROUTING_UNKNOWN] = "not known"};

    return texts[end];
}

static bool step_of_route(struct step_row *row, const struct steps *steps)
{
    const struct routing_answer *route = &steps->evidence->route;
    enum { RULE_LOCAL = 0, RULE_MAIN = 32766, RULE_DEFAULT = 32767 }; /* ip-rule(8) */

    if (route->end != ROUTING_LEADS) {
        fputs(route->rule.ends ? "stopped by a policy rule" : route_end_text(route->end),
              row->stream);
        row_error(row, route->error);
    } else {
        if (route->gateway.family != AF_UNSPEC) {
            fputs("via ", row->stream);
            row_address(row, &route->gateway);
            fputc(' ', row->stream);
        }
        fprintf(row->stream, "dev %s src ", steps->evidence->interface);
        put_address(row->stream, &route->source);
        row->record.step.interface = route->interface;
        row->record.step.local.address = route->source;
        row->record.has |= STEP_INTERFACE | STEP_SOURCE;
    }
    put_table(row->stream, route->table);
    if (route->rule.known && route->rule.priority != RULE_LOCAL &&
        route->rule.priority != RULE_MAIN && route->rule.priority != RULE_DEFAULT)
        row_put(row, steps, ", by the policy rule {priority}");
    if (route->end == ROUTING_LEADS && route->mtu_is_learnt)
        row_put(row, steps, ", a router reported an MTU of {mtu}");
    return !steps->evidence->no_name;
}

static bool step_of_link(struct step_row *row, const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;

    row->record.step.interface = evidence->route.interface;
    row->record.has |= STEP_INTERFACE;
    row_put(row, steps, evidence->is_up ? "{interface} is up, but {link}" : "{interface} {link}");
    return evidence->read & EVIDENCE_LINK && !(evidence->is_up && evidence->has_link);
}

static bool step_of_neighbour(struct step_row *row, const struct steps *steps)
{
    const struct evidence_neighbour *neighbour = &steps->evidence->neighbour;
    const char *state = neighbour_state_name(neighbour->state);

    row_address(row, &neighbour->address);
    fprintf(row->stream, " %s", !neighbour->state ? "has no entry yet" : state ? state : "unknown");
    return steps->evidence->read & EVIDENCE_NEIGHBOUR;
}

static bool step_of_tracking(struct step_row *row, const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;

    put_count(row->stream, evidence->flows);
    if (evidence->flows_max) {
        fputs(" of ", row->stream);
        put_count(row->stream, evidence->flows_max);
    }
    fputs(" flows", row->stream);
    if (facts_of(evidence) & TABLE_FULL) {
        fputs("; the table is full, so new flows are dropped", row->stream);
        row_other_netns(row, steps, &evidence->flows_full);
    } else if (evidence->read & EVIDENCE_ENTRY && evidence->entry.translated) {
        fputs("; NAT leads this connection to ", row->stream);
        put_endpoint(row->stream, &evidence->entry.destination);
    } else if (evidence->read & EVIDENCE_ENTRY) {
        fputs("; no entry in the way", row->stream);
    }
    return evidence->read & EVIDENCE_TRACKING;
}

/* --- Attempts --------------------------------------------------------------------------------- */

static bool step_of_attempts(struct step_row *row, const struct steps *steps)
{
    const struct evidence_others *others = &steps->evidence->others;

    fprintf(row->stream,
            "%" PRIu64 " connection%s of other programs wait%s for an answer: ", others->count,
            others->count == 1 ? "" : "s", others->count == 1 ? "s" : "");
    step_row_process(row, others->process, others->pid);
    if (others->retransmits)
        fprintf(row->stream, " has sent its SYN %" PRIu32 " times", others->retransmits + 1);
    return others->count;
}

static bool step_of_policy(struct step_row *row, const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;
    const struct evidence_event *event = facts_event(evidence, ANY_DROP);

    if (event) {
        fprintf(row->stream, "%s%s dropped, %" PRIu64 " time%s: %s",
                event->is_answer                       ? "the answer"
                : event->event.protocol == IPPROTO_UDP ? "the datagram"
                                                       : "the SYN",
                event->is_here ? " was" : " left, and was", event->event.count,
                event->event.count == 1 ? "" : "s", event->event.reason);
        row_other_netns(row, steps, &event->netns);
        row->record.step.interface = event->event.interface;
        row->record.has |= event->is_here && event->event.interface ? STEP_INTERFACE : 0;
    } else if (steps->unseen) {
        fprintf(row->stream, "not known: %s", steps->unseen);
    } else if (evidence->read & EVIDENCE_DROPS) {
        fprintf(row->stream, "this machine: nothing dropped by a rule while %s",
                steps->probed ? "it tried" : "fastnet watched");
    } else {
        fputs("not known: only --probe, or --for, sees packets that rules drop", row->stream);
    }
    return !evidence->no_name;
}

/* Writes how an attempt failed. */
static void row_failure(struct step_row *row, const struct steps *steps)
{
    const struct attempt_result *attempt = &steps->evidence->attempt;
    const bool by_reset = attempt->error == ECONNREFUSED && !attempt->has_icmp;

    row_put(row, steps, by_reset ? "refused" : "{error}");
    row_put(row, steps, attempt->at_once ? ", by connect(2) itself" : " after {elapsed}");
    if (attempt->has_icmp) {
        fputs(", by an ICMP message from ", row->stream);
        row_address(row, &attempt->offender);
    } else if (by_reset && steps->evidence->protocol == IPPROTO_TCP) {
        fputs(", by a RST from ", row->stream);
        row_address(row, &steps->evidence->peer.address);
    }
    row_error(row, attempt->error);
}

static void row_connected(struct step_row *row, const struct steps *steps)
{
    const struct attempt_result *attempt = &steps->evidence->attempt;

    row_put(row, steps,
            steps->evidence->protocol == IPPROTO_UDP ? "answered after {elapsed}"
                                                     : "connected after {elapsed}");
    if (attempt->sent) {
        fputs("; ", row->stream);
        put_count(row->stream, attempt->acked);
        fputs(" of ", row->stream);
        put_count(row->stream, attempt->sent);
        fputs(" bytes acknowledged", row->stream);
    }
    fputs(attempt->reset ? "; then reset by the peer" : "", row->stream);
}

static bool step_of_connect(struct step_row *row, const struct steps *steps)
{
    const struct attempt_result *attempt = &steps->evidence->attempt;

    if (attempt->state == ATTEMPT_CONNECTED)
        row_connected(row, steps);
    else if (attempt->state == ATTEMPT_FAILED)
        row_failure(row, steps);
    else
        row_put(row, steps,
                attempt->state == ATTEMPT_WAITS ? "no answer after {elapsed}" : "not tried");
    if (attempt->state == ATTEMPT_WAITS && attempt->retransmits)
        fprintf(row->stream, ", the SYN was sent %" PRIu32 " times", attempt->retransmits + 1);
    row->record.step.elapsed = attempt->elapsed;
    row->record.step.local = attempt->local;
    row->record.has |= STEP_TIME | (attempt->local.port ? STEP_SOURCE : 0);
    return steps->probed;
}

/* --- The end ---------------------------------------------------------------------------------- */

static bool step_of_listener(struct step_row *row, const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;
    const struct evidence_listener *listener = &evidence->listener;

    if (listener->miss != MISS_NONE) {
        row_put(row, steps, "nobody listens on {target}");
        row_other_netns(row, steps, &evidence->home);
        fputs(listener->miss == MISS_NO_LISTENER ? "" : "; ", row->stream);
    }
    if (listener->miss != MISS_NO_LISTENER) {
        step_row_process(row, listener->process, listener->pid);
        row_put(row, steps, " listens on {listening}");
        if (listener->miss == MISS_NONE)
            row_other_netns(row, steps, &listener->netns);
        else if (listener->miss == MISS_NETNS)
            put_netns(row->stream, &listener->netns);
    }
    /* NAT leads to another listener than that of the target */
    return evidence->read & EVIDENCE_LISTENERS &&
           !(evidence->is_home_here && evidence->entry.translated);
}

static bool step_of_queue(struct step_row *row, const struct steps *steps)
{
    const struct evidence *evidence = steps->evidence;
    const struct evidence_listener *listener = &evidence->listener;

    put_count(row->stream, listener->queue);
    fprintf(row->stream, " connection%s wait%s for accept(2), the limit is ",
            listener->queue == 1 ? "" : "s", listener->queue == 1 ? "s" : "");
    put_count(row->stream, listener->queue_limit);
    if (listener->dropped)
        fprintf(row->stream, "; %" PRIu32 " dropped during the attempt", listener->dropped);
    return evidence->read & EVIDENCE_QUEUE && listener->miss == MISS_NONE &&
           evidence->protocol == IPPROTO_TCP;
}

static void steps_set_peer(const struct steps *steps, struct step_row *row)
{
    row->record.step.protocol = steps->evidence->protocol;
    row->record.step.peer = steps->evidence->peer;
    row->record.has |=
        STEP_PROTOCOL | (steps->evidence->peer.address.family != AF_UNSPEC ? STEP_PEER : 0);
}

/* Each step fills a row, and returns whether the row is wanted. */
int steps_emit(const struct steps *steps)
{
    static const struct step_form {
        enum step step;
        bool (*fill)(struct step_row *row, const struct steps *steps);
        const char *source;
    } forms[] = {{STEP_NAME, step_of_name, "getaddrinfo(3)"},
                 {STEP_ROUTE, step_of_route, "rtnetlink: RTM_GETROUTE, RTM_GETRULE"},
                 {STEP_LINK, step_of_link, "rtnetlink: RTM_GETLINK"},
                 {STEP_NEIGHBOUR, step_of_neighbour, "rtnetlink: RTM_GETNEIGH"},
                 {STEP_TRACKING, step_of_tracking, "ctnetlink"},
                 {STEP_ATTEMPTS, step_of_attempts, "sock_diag: SYN_SENT"},
                 {STEP_POLICY, step_of_policy, "BPF: skb:kfree_skb"},
                 {STEP_CONNECT, step_of_connect, "connect(2)"},
                 {STEP_LISTENER, step_of_listener, "sock_diag"},
                 {STEP_QUEUE, step_of_queue, "sock_diag"}};
    int error = 0;

    for (size_t i = 0; i < COUNT(forms) && !error; i++) {
        struct step_row row;
        if (!step_row_begin(&row, forms[i].step, forms[i].source))
            return -ENOMEM;
        steps_set_peer(steps, &row);
        const bool wanted = forms[i].fill(&row, steps);
        error = step_row_end(&row, wanted, steps->fn, steps->arg);
    }
    return error;
}

int steps_emit_answer(const struct steps *steps, const struct verdict *verdict)
{
    struct step_row row;
    struct step_record *step = &row.record.step;
    const struct evidence_listener *listener = &steps->evidence->listener;

    if (!step_row_begin(&row, STEP_ANSWER, "the steps above"))
        return -ENOMEM;
    steps_set_peer(steps, &row);
    step->ending = (uint8_t)verdict->ending;
    step->cause = as_text(cause_name(verdict->cause));
    step->advice = as_text(verdict->advice);
    step->command = as_text(verdict->command);
    row.record.has |= STEP_ENDING;
    fputs(verdict->sentence, row.stream);
    step->process = as_text(listener->process);
    step->pid = listener->pid;
    if (*listener->process && strstr(verdict->sentence, "(pid ")) /* no other process is named */
        row.record.has |= STEP_PROCESS;
    if (verdict->is_other)
        step_row_netns(&row, &verdict->netns);
    return step_row_end(&row, true, steps->fn, steps->arg);
}
