/* SPDX-License-Identifier: MIT */
/* Reads who listens on a port and who connects to it, and makes the steps. */
#include "why/server.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/attempt_probe.h"
#include "fastnet/clock.h"
#include "fastnet/diversions.h"
#include "fastnet/engine.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/report.h"
#include "makers/local_addresses.h"
#include "why/sentence.h"
#include "why/steps.h"

struct server_reading {
    struct server *server;
    struct engine *engine;
    struct report *report;
    struct hash_table *seen; /* identities of established connections of the reading before */
    bool remembers;          /* this reading fills `seen` */
    struct local_addresses local;
};

/* --- Sockets ---------------------------------------------------------------------------------- */

static struct value server_value(const struct server_reading *reading, const struct record *record,
                                 const char *name)
{
    return field_value(field_named(&kind_socket, name), record, engine_context(reading->engine));
}

static void server_take_text(const struct server_reading *reading, const struct record *record,
                             const char *name, char *text, size_t size)
{
    const struct value value = server_value(reading, record, name);

    if (value.type == VALUE_TEXT || value.type == VALUE_SOCKET_NAME)
        snprintf(text, size, "%.*s", (int)value.text.length, value.text.data);
}

static void server_add_listener(const struct server_reading *reading, const struct record *record,
                                uint64_t netns)
{
    struct server *server = reading->server;
    const struct netns *place = engine_context(reading->engine)->netns.netns;
    const struct socket_record *socket = &record->socket;
    struct server_listener *listener = &server->listeners[server->listener_count];
    const struct value pid = server_value(reading, record, "pid"),
                       started = server_value(reading, record, "started");
    const bool is_bound_only = socket->protocol == IPPROTO_TCP && socket->state != TCP_LISTEN;

    if (server->listener_count == SERVER_LISTENERS_MAX) {
        server->more++;
        return;
    }
    server->listener_count++;
    *listener = (struct server_listener){
        .is_wanted = netns == server->here && !is_bound_only &&
                     socket->protocol == server->options->protocol &&
                     socket->local.port == server->options->port,
        .protocol = (uint8_t)socket->protocol,
        .is_bound_only = is_bound_only,
        .local = socket->local,
        .netns.id = netns,
        .pid = pid.type == VALUE_UNKNOWN ? 0 : (uint32_t)pid.number,
        .started = started.type == VALUE_UNKNOWN ? 0 : started.number,
        .has_queue = record->has & SOCKET_QUEUES,
        .queue = socket->recv_q,
        .limit = (record->has & SOCKET_BACKLOG) ? socket->backlog : 0,
        .drops = (record->has & SOCKET_DROPS) ? server_value(reading, record, "drops").number : 0,
    };
    if (place && *place->name) {
        snprintf(listener->netns_name, sizeof listener->netns_name, "%s", place->name);
        listener->netns.name = listener->netns_name;
    }
    server_take_text(reading, record, "path", listener->path, sizeof listener->path);
    server_take_text(reading, record, "process", listener->process, sizeof listener->process);
    server_take_text(reading, record, "unit", listener->unit, sizeof listener->unit);
    server_take_text(reading, record, "container", listener->container, sizeof listener->container);
}

/* Counts a connection to the port in this network namespace. A connection that the reading before
 * did not have is fresh. */
static int server_take_client(struct server_reading *reading, const struct record *record)
{
    struct server_clients *clients = &reading->server->clients;
    const struct socket_record *socket = &record->socket;
    const uint64_t hash = hash_word(hash_seed(), record->identity);

    if (socket->state == TCP_SYN_RECV && !clients->half_open++)
        clients->waiting = socket->remote.address;
    clients->established += socket->state == TCP_ESTABLISHED;
    clients->others += socket->state != TCP_ESTABLISHED && socket->state != TCP_SYN_RECV;
    if (socket->state == TCP_SYN_RECV || !record->identity)
        return 0;
    if (!reading->remembers) {
        clients->fresh += socket->state == TCP_ESTABLISHED &&
                          !hash_table_find_number(reading->seen, hash, record->identity);
        return 0;
    }
    uint64_t *identity = hash_table_add(reading->seen, hash, sizeof *identity);
    if (!identity)
        return -ENOMEM;
    *identity = record->identity;
    return 0;
}

static int server_take_socket(const struct record *record, void *arg)
{
    struct server_reading *reading = arg;
    const struct socket_record *socket = &record->socket;
    const struct netns *place = engine_context(reading->engine)->netns.netns;
    const uint64_t netns = place ? place->id : reading->server->here;

    if (socket->remote.port == 0)
        server_add_listener(reading, record, netns);
    else if (netns == reading->server->here &&
             socket->protocol == reading->server->options->protocol)
        return server_take_client(reading, record);
    return 0;
}

/* True if the name of the process and the typed name of the service begin alike: the service
 * "postgresql" is that of the process "postgres". */
static bool server_is_named(const char *process, const char *service)
{
    const size_t length = strlen(process), typed = service ? strlen(service) : 0;

    return length > 2 && typed > 2 &&
           strncmp(process, service, length < typed ? length : typed) == 0;
}

/* True if the path has the number of the port, as in /run/postgresql/.s.PGSQL.5432. */
static bool server_has_port(const char *path, uint16_t port)
{
    char number[8];
    const int length = snprintf(number, sizeof number, "%u", port);

    for (const char *at = path; (at = strstr(at, number)); at++)
        if ((at == path || at[-1] < '0' || at[-1] > '9') && (at[length] < '0' || at[length] > '9'))
            return true;
    return false;
}

/* Takes a listener that has another port, or a unix socket, if its name is that of the service. */
static int server_take_near(const struct record *record, void *arg)
{
    struct server_reading *reading = arg;
    struct server *server = reading->server;
    const struct netns *place = engine_context(reading->engine)->netns.netns;
    const struct why_options *options = server->options;
    char process[16] = "", path[SERVER_NAME_MAX] = "";

    server_take_text(reading, record, "process", process, sizeof process);
    server_take_text(reading, record, "path", path, sizeof path);
    if (server_is_named(process, options->service) || server_has_port(path, options->port))
        server_add_listener(reading, record, place ? place->id : server->here);
    return 0;
}

/* Lists sockets of all network namespaces. near: listeners on other ports, and unix sockets. */
static int server_list(struct server_reading *reading, bool near)
{
    static const char fields[] = "protocol state local_address local_port remote_address recv_q "
                                 "backlog drops process pid unit container started path";
    const struct why_options *options = reading->server->options;
    const bool udp = options->protocol == IPPROTO_UDP;
    /* listeners of the wanted protocol come first */
    const struct listing_table tables[] = {
        {.table = udp ? &table_udp : &table_tcp, .unnamed = true},
        {.table = udp ? &table_udp6 : &table_tcp6, .unnamed = true},
        {.table = udp ? &table_tcp : &table_udp, .unnamed = true},
        {.table = udp ? &table_tcp6 : &table_udp6, .unnamed = true},
        {.table = &table_unix, .unnamed = true},
    };
    const struct predicate where =
        near ? predicate_number(field_named(&kind_socket, "state"), TCP_LISTEN)
             : predicate_number(field_named(&kind_socket, "local_port"), options->port);
    const char *rest = fields;
    struct listing listing = {
        .tables = tables,
        .table_count = near ? COUNT(tables) : COUNT(tables) - 1,
        .where = &where,
        .proc_root = options->proc_root,
        .owners = options->owners,
        .all_netns = true,
        .netns_implied = true, /* no loss if another network namespace cannot be entered */
    };

    for (struct text name; text_next(&rest, ' ', &name);)
        needs_add(&listing.needs, field_needs(field_find(&kind_socket, name.data, name.length)));
    return engine_gather(reading->engine, &listing, near ? server_take_near : server_take_socket,
                         reading, reading->report);
}

/* --- Packets ---------------------------------------------------------------------------------- */

/* Takes packets of attempts, and resets, of own addresses of this network namespace. */
static void server_take_event(const struct attempt_event *event, void *arg)
{
    const struct server_reading *reading = arg;
    struct server *server = reading->server;
    const bool is_reset = event->type == ATTEMPT_RESET_SENT;
    const bool is_attempt = is_reset || event->protocol != IPPROTO_TCP || event->flags & TH_SYN;
    const struct endpoint *own = is_reset ? &event->source : &event->destination;
    const struct endpoint *client = is_reset ? &event->destination : &event->source;
    const char *reason = event->reason ? event->reason : "";
    struct server_event *kept = server->events, *end = kept + server->event_count;

    if (event->type == ATTEMPT_RESET_RECEIVED || event->of_icmp || !is_attempt ||
        own->port != server->options->port || event->protocol != server->options->protocol ||
        event->netns != server->here ||
        local_addresses_find(&reading->local, &own->address) == RECEPTION_NONE)
        return;
    while (kept < end && (kept->is_reset != is_reset || strcmp(kept->reason, reason) != 0))
        kept++;
    if (kept == server->events + SERVER_EVENTS_MAX)
        return;
    if (kept == end) {
        *kept = (struct server_event){.is_reset = is_reset, .client = client->address};
        snprintf(kept->reason, sizeof kept->reason, "%s", reason);
        server->event_count++;
    }
    kept->count += event->count;
}

/* Reads the sockets, and if asked watches for some time and reads them again. */
static int server_read(struct server_reading *reading)
{
    struct server *server = reading->server;
    const struct why_options *options = server->options;
    struct attempt_probe_blind blind = {.drops = false};
    struct bpf_refusal refusal = {.error = 0};
    struct attempt_probe *probe = NULL;
    uint64_t lost = 0;
    int error;

    if (options->milliseconds) {
        clock_catch_interrupt();
        probe = attempt_probe_create(options->protocol, options->port, &blind, &refusal);
        server->is_blind = !probe || blind.drops;
        snprintf(server->refusal, sizeof server->refusal, "%s", refusal.reason);
        reading->remembers = true;
    }
    error = server_list(reading, false);
    if (options->milliseconds && !error) {
        clock_wait_shown(clock_nanoseconds(CLOCK_MONOTONIC) +
                             options->milliseconds * CLOCK_MILLISECOND,
                         options->progress);
        reading->remembers = false;
        server->clients = (struct server_clients){.established = 0};
        server->listener_count = server->more = 0;
        error = server_list(reading, false);
    }
    if (probe && !error)
        error = local_addresses_read(&reading->local, reading->engine, false);
    if (probe && !error)
        error = attempt_probe_each(probe, server_take_event, reading, &lost);
    attempt_probe_destroy(probe);
    server->is_blind |= lost > 0;
    return !error && !server->listener_count ? server_list(reading, true) : error;
}

/* --- Steps ------------------------------------------------------------------------------------ */

struct server_steps {
    const struct server *server;
    record_fn fn;
    void *arg;
    char text[2 * VERDICT_TEXT]; /* text of the current step */
    FILE *stream;                /* writes into `text` */
    int error;
};

/* Returns the record of a step, whose text the caller writes to steps->stream. */
static struct record server_begin_step(struct server_steps *steps, enum step step,
                                       const char *source)
{
    struct record record;

    record_begin(&record, &kind_step, sizeof record.step);
    record.step.step = (uint8_t)step;
    record.step.source = as_text(source);
    memset(steps->text, 0, sizeof steps->text);
    steps->stream = fmemopen(steps->text, sizeof steps->text, "w");
    if (!steps->stream)
        steps->error = -ENOMEM;
    return record;
}

static void server_end_step(struct server_steps *steps, struct record *record)
{
    fclose(steps->stream);
    record->step.result = as_text(steps->text);
    steps->error = steps->fn(record, steps->arg);
}

/* Writes "since 2026-11-29T05:10:02Z". */
static void server_put_start(FILE *stream, uint64_t started)
{
    enum { SECONDS = sizeof "2026-11-29T05:10:02" - 1 };
    char text[TEXT_TIME_MAX];

    if (!started)
        return;
    text_time(text, started);
    fprintf(stream, ", since %.*sZ", (int)SECONDS, text);
}

static void server_make_listener(struct server_steps *steps, const struct server_listener *listener)
{
    const bool is_other = listener->netns.id != steps->server->here;
    struct record record = server_begin_step(steps, STEP_LISTENER, "sock_diag, /proc");
    FILE *stream = steps->stream;

    if (steps->error)
        return;
    server_put_listener(stream, listener);
    if (is_other)
        put_netns(stream, &listener->netns);
    fprintf(stream, "%s%s%s%s", *listener->unit ? ", unit " : "", listener->unit,
            *listener->container ? ", container " : "", listener->container);
    server_put_start(stream, listener->started);
    if (listener->pid == 1 && strcmp(listener->process, "systemd") == 0)
        fputs("; it starts the service when a client connects (systemd.socket(5))", stream);
    record.step.local = listener->local;
    record.step.process = as_text(listener->process);
    record.step.pid = listener->pid;
    record.step.netns = as_text(listener->netns_name);
    record.has = (listener->protocol ? STEP_SOURCE : 0) | (*listener->process ? STEP_PROCESS : 0) |
                 (is_other && *listener->netns_name ? STEP_NETNS : 0);
    server_end_step(steps, &record);
}

static void server_make_queue(struct server_steps *steps, const struct server_listener *listener)
{
    struct record record = server_begin_step(steps, STEP_QUEUE, "sock_diag");

    if (steps->error)
        return;
    server_put_end(steps->stream, listener);
    if (listener->protocol == IPPROTO_TCP)
        fprintf(steps->stream,
                ": %" PRIu64 " of %" PRIu64 " connections wait to be accepted, %" PRIu64
                " were dropped",
                listener->queue, listener->limit, listener->drops);
    else
        fprintf(steps->stream,
                ": %" PRIu64 " bytes wait to be read, %" PRIu64 " packets were dropped",
                listener->queue, listener->drops);
    record.step.local = listener->local;
    record.has = STEP_SOURCE;
    server_end_step(steps, &record);
}

static void server_put_event(FILE *stream, const struct server *server,
                             const struct server_event *event)
{
    fprintf(stream, "%s%" PRIu64 " %s%s (%s), the first %s ", event == server->events ? "" : "; ",
            event->count, event->is_reset ? "reset" : "packet", event->count == 1 ? "" : "s",
            *event->reason ? event->reason : "reason unknown", event->is_reset ? "to" : "from");
    put_address(stream, &event->client);
}

static void server_make_policy(struct server_steps *steps)
{
    const struct server *server = steps->server;
    struct record record =
        server_begin_step(steps, STEP_POLICY, "skb:kfree_skb, tcp:tcp_send_reset");

    if (steps->error)
        return;
    if (!server->options->milliseconds)
        fputs("not watched: only --for can show whether rules drop packets for it", steps->stream);
    else if (server->is_blind)
        fprintf(steps->stream, "packets could not be noted: %s",
                *server->refusal ? server->refusal : "there were too many");
    else if (!server->event_count)
        fprintf(steps->stream, "nothing for it was dropped or reset in %g s",
                server->options->milliseconds / 1000.0);
    for (size_t i = 0; i < server->event_count; i++)
        server_put_event(steps->stream, server, &server->events[i]);
    server_end_step(steps, &record);
}

static void server_make_clients(struct server_steps *steps)
{
    const struct server_clients *clients = &steps->server->clients;
    struct record record = server_begin_step(steps, STEP_CLIENTS, "sock_diag");

    if (steps->error)
        return;
    fprintf(steps->stream, "%" PRIu64 " connected, %" PRIu64 " closing, %" PRIu64 " half-open",
            clients->established, clients->others, clients->half_open);
    if (clients->half_open) {
        fputs(", first ", steps->stream);
        put_address(steps->stream, &clients->waiting);
        fputs(", which has not confirmed the answer", steps->stream);
    }
    if (steps->server->options->milliseconds)
        fprintf(steps->stream, "; %" PRIu64 " new", clients->fresh);
    server_end_step(steps, &record);
}

static void server_make_more(struct server_steps *steps)
{
    struct record record = server_begin_step(steps, STEP_LISTENER, "sock_diag");

    if (steps->error)
        return;
    fprintf(steps->stream, "%zu more sockets have this port", steps->server->more);
    server_end_step(steps, &record);
}

static int server_make_steps(const struct server *server, record_fn fn, void *arg,
                             const struct verdict *verdict)
{
    const struct evidence evidence = {.protocol = server->options->protocol,
                                      .here.id = server->here};
    const struct steps answer = {.evidence = &evidence, .fn = fn, .arg = arg};
    struct server_steps steps = {.server = server, .fn = fn, .arg = arg};

    for (size_t i = 0; i < server->listener_count && !steps.error; i++)
        server_make_listener(&steps, &server->listeners[i]);
    if (server->more && !steps.error)
        server_make_more(&steps);
    for (size_t i = 0; i < server->listener_count && !steps.error; i++)
        if (server->listeners[i].is_wanted && server->listeners[i].has_queue)
            server_make_queue(&steps, &server->listeners[i]);
    if (!steps.error)
        server_make_policy(&steps);
    if (!steps.error && server->options->protocol == IPPROTO_TCP)
        server_make_clients(&steps);
    return steps.error ? steps.error : steps_emit_answer(&answer, verdict);
}

int server_explain(const struct why_options *options, struct report *report, record_fn fn,
                   void *arg, struct why_summary *summary)
{
    struct server server = {.options = options, .here = namespace_own_id()};
    struct report problems = {.partial = false};
    struct hash_table seen = {.count = 0};
    struct netlink *netlink = netlink_create(NULL);
    struct server_reading reading = {
        .server = &server, .report = &problems, .seen = &seen, .engine = engine_create(netlink)};
    struct verdict verdict;
    int error = -ENOMEM;

    if (reading.engine) {
        error = server_read(&reading);
        server.may_translate = diversions_find(netlink, options->proc_root);
        server.is_partial = problems.partial || error;
    }
    engine_destroy(reading.engine);
    hash_table_finish(&seen);
    local_addresses_finish(&reading.local);
    if (error)
        return error;
    report_hand_on(report, &problems);
    server_conclude(&server, &verdict);
    summary->ending = (uint8_t)verdict.ending;
    summary->partial = server.is_partial;
    return server_make_steps(&server, fn, arg, &verdict);
}
