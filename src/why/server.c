/* SPDX-License-Identifier: MIT */
/* Reads who listens on a port and who connects to it, and makes the steps. */
#include "why/server.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/diversions.h"
#include "fastnet/engine.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/kernel_info.h"
#include "why/facts.h"
#include "why/sentence.h"
#include "why/sight.h"
#include "why/steps.h"

enum { LISTENERS_MAX = 6, OWNER_NAME_MAX = 56 };

/* A socket with the port that takes packets of clients, or a near miss. */
struct server_listener {
    struct evidence_listener socket;
    uint8_t protocol;          /* IPPROTO_TCP or IPPROTO_UDP; 0: a unix socket */
    bool is_bound_only;        /* TCP: it has the port, but does not listen */
    bool has_queue;            /* the queue and the drops are known */
    char path[OWNER_NAME_MAX]; /* unix sockets */
    char unit[OWNER_NAME_MAX], container[OWNER_NAME_MAX]; /* may be empty */
    uint64_t started; /* when the process began, ns since 1970; 0: unknown */
};

struct server {
    const struct why_options *options;
    struct sight sight;
    struct report losses;
    struct evidence evidence;
    struct hash_table seen; /* identities of connections of the first reading */
    bool remembers;         /* this reading fills `seen` */
    struct server_listener listeners[LISTENERS_MAX]; /* those of `here` come first */
    size_t listener_count, more;                   /* more: number of sockets that were left out */
    uint64_t established, half_open, closing;      /* connections to the port */
    struct address waiting;                        /* a client that is half-open */
    char near[VERDICT_TEXT], unseen[VERDICT_TEXT]; /* memory for the evidence */
};

struct server_step {
    enum step step;
    bool of_listeners; /* a row for each listener */
    bool (*fill)(struct step_row *row, const struct server *server,
                 const struct server_listener *listener); /* returns false: no row */
    const char *source;
};

/* --- Sockets ---------------------------------------------------------------------------------- */

static struct value server_value(const struct server *server, const struct record *record,
                                 const char *name)
{
    return field_value(field_named(&kind_socket, name), record,
                       engine_context(server->sight.engine));
}

static void server_take_text(const struct server *server, const struct record *record,
                             const char *name, char *text, size_t size)
{
    const struct value value = server_value(server, record, name);

    if (value.type == VALUE_TEXT || value.type == VALUE_SOCKET_NAME)
        snprintf(text, size, "%.*s", (int)value.text.length, value.text.data);
}

static int server_add_listener(struct server *server, const struct record *record)
{
    const struct socket_record *socket = &record->socket;
    struct server_listener *listener = &server->listeners[server->listener_count];
    const struct value pid = server_value(server, record, "pid"),
                       started = server_value(server, record, "started");

    if (server->listener_count == LISTENERS_MAX) {
        server->more++;
        return 0;
    }
    server->listener_count++;
    *listener = (struct server_listener){
        .socket = {.local = socket->local,
                   .netns = sight_row_netns(&server->sight),
                   .pid = pid.type == VALUE_UNKNOWN ? 0 : (uint32_t)pid.number,
                   .queue = socket->recv_q,
                   .queue_limit = (record->has & SOCKET_BACKLOG) ? socket->backlog : 0,
                   .drops = socket_drops(record)},
        .protocol = (uint8_t)socket->protocol,
        .is_bound_only = socket->protocol == IPPROTO_TCP && socket->state != TCP_LISTEN,
        .has_queue = record->has & SOCKET_QUEUES,
        .started = started.type == VALUE_UNKNOWN ? 0 : started.number,
    };
    listener->socket.miss = listener->is_bound_only ||
                                    listener->protocol != server->options->protocol ||
                                    socket->local.port != server->options->port
                                ? MISS_OTHER
                            : listener->socket.netns.id != server->evidence.here.id ? MISS_NETNS
                                                                                    : MISS_NONE;
    server_take_text(server, record, "path", listener->path, sizeof listener->path);
    server_take_text(server, record, "process", listener->socket.process,
                     sizeof listener->socket.process);
    server_take_text(server, record, "unit", listener->unit, sizeof listener->unit);
    server_take_text(server, record, "container", listener->container, sizeof listener->container);
    return 0;
}

/* Counts a connection to the port in this network namespace. A connection that the first reading
 * did not have is fresh. */
static int server_take_client(struct server *server, const struct record *record)
{
    const struct socket_record *socket = &record->socket;
    const uint64_t hash = hash_word(hash_seed(), record->identity);
    uint64_t *identity;

    if (socket->state == TCP_SYN_RECV) {
        server->waiting = server->half_open++ ? server->waiting : socket->remote.address;
        return 0;
    }
    server->established += socket->state == TCP_ESTABLISHED;
    server->closing += socket->state != TCP_ESTABLISHED;
    if (!record->identity || socket->state == TCP_SYN_SENT)
        return 0;
    if (!server->remembers) {
        server->evidence.fresh += !hash_table_find_number(&server->seen, hash, record->identity);
        return 0;
    }
    identity = hash_table_add(&server->seen, hash, sizeof *identity);
    if (!identity)
        return -ENOMEM;
    *identity = record->identity;
    return 0;
}

static int server_take_socket(const struct record *record, void *arg)
{
    struct server *server = arg;
    const struct socket_record *socket = &record->socket;

    if (!socket->remote.port)
        return server_add_listener(server, record);
    return sight_row_netns(&server->sight).id == server->evidence.here.id &&
                   socket->protocol == server->options->protocol
               ? server_take_client(server, record)
               : 0;
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
    struct server *server = arg;
    const struct why_options *options = server->options;
    char process[16] = "", path[OWNER_NAME_MAX] = "";

    server_take_text(server, record, "process", process, sizeof process);
    server_take_text(server, record, "path", path, sizeof path);
    return server_is_named(process, options->service) || server_has_port(path, options->port)
               ? server_add_listener(server, record)
               : 0;
}

/* Counts connections of this machine that wait for an answer of the port. */
static int server_take_waiting(const struct record *record, void *arg)
{
    struct server *server = arg;
    struct evidence_others *others = &server->evidence.others;

    if (local_addresses_find(&server->sight.local, &record->socket.remote.address) ==
            RECEPTION_NONE ||
        others->count++)
        return 0;
    others->pid = (uint32_t)server_value(server, record, "pid").number;
    server_take_text(server, record, "process", others->process, sizeof others->process);
    return 0;
}

enum server_search { SEARCH_PORT, SEARCH_NEAR, SEARCH_WAITING };

/* Lists sockets of all network namespaces that have the port; or listeners on other ports, and unix
 * sockets; or connections to the port that wait. */
static int server_list(struct server *server, enum server_search search)
{
    static const char fields[] = "protocol state local_address local_port remote_address recv_q "
                                 "backlog drops process pid unit container started path";
    static const record_fn takers[] = {server_take_socket, server_take_near, server_take_waiting};
    const struct why_options *options = server->options;
    const bool udp = options->protocol == IPPROTO_UDP;
    /* listeners of the wanted protocol come first */
    const struct listing_table tables[] = {
        {.table = udp ? &table_udp : &table_tcp, .unnamed = true},
        {.table = udp ? &table_udp6 : &table_tcp6, .unnamed = true},
        {.table = udp ? &table_tcp : &table_udp, .unnamed = true},
        {.table = udp ? &table_tcp6 : &table_udp6, .unnamed = true},
        {.table = &table_unix, .unnamed = true},
    };
    static const size_t table_counts[] = {COUNT(tables) - 1, COUNT(tables), 2};
    struct predicate_tree where = {.count = 0};
    const char *rest = fields;
    struct listing listing = {
        .tables = tables,
        .table_count = table_counts[search],
        .proc_root = options->proc_root,
        .owners = options->owners,
        .all_netns = true,
        .netns_implied = true, /* no loss if another network namespace cannot be entered */
    };

    if (search != SEARCH_NEAR)
        predicate_tree_add(
            &where, &where.whole,
            predicate_number(
                field_named(&kind_socket, search == SEARCH_PORT ? "local_port" : "remote_port"),
                options->port));
    if (search != SEARCH_PORT)
        predicate_tree_add(
            &where, &where.whole,
            predicate_one_of(field_named(&kind_socket, "state"),
                             UINT64_C(1) << (search == SEARCH_NEAR ? TCP_LISTEN : TCP_SYN_SENT)));
    listing.where = predicate_of(&where);
    for (struct text name; text_next(&rest, ' ', &name);)
        needs_add(&listing.needs, field_needs(field_find(&kind_socket, name.data, name.length)));
    return engine_gather(server->sight.engine, &listing, takers[search], server, &server->losses);
}

/* --- Packets ---------------------------------------------------------------------------------- */

/* Takes packets of attempts, and resets, of own addresses of this network namespace. */
static void server_take_event(const struct attempt_event *event, void *arg)
{
    struct server *server = arg;
    struct evidence *evidence = &server->evidence;
    const bool is_reset = event->type == ATTEMPT_RESET_SENT;
    const bool is_attempt = is_reset || event->protocol != IPPROTO_TCP || event->flags & TH_SYN;
    const struct endpoint *own = is_reset ? &event->source : &event->destination;
    struct evidence_event *kept = evidence->events, *end = kept + evidence->event_count;

    if (event->type == ATTEMPT_RESET_RECEIVED || event->of_icmp || !is_attempt ||
        own->port != server->options->port || event->protocol != server->options->protocol ||
        event->netns != evidence->here.id ||
        local_addresses_find(&server->sight.local, &own->address) == RECEPTION_NONE)
        return;
    while (kept < end && (kept->event.type != event->type || kept->event.reason != event->reason))
        kept++;
    if (kept == evidence->events + EVIDENCE_EVENTS_MAX)
        return;
    if (kept < end) {
        kept->event.count += event->count;
        return;
    }
    evidence->event_count++;
    *kept = (struct evidence_event){
        .event = *event, .netns = evidence->here, .is_here = true, .is_answer = is_reset};
}

/* Reads the sockets, watches for some time, and reads them again. */
static int server_watch(struct server *server, struct attempt_probe **probe)
{
    const struct why_options *options = server->options;
    struct evidence *evidence = &server->evidence;
    struct attempt_probe_blind blind = {.drops = false};
    struct bpf_refusal refusal = {.error = 0};
    int error;

    clock_catch_interrupt();
    *probe = attempt_probe_create(options->protocol, options->port, &blind, &refusal);
    server->remembers = true;
    error = server_list(server, SEARCH_PORT);
    if (error)
        return error;
    clock_wait_shown(clock_nanoseconds(CLOCK_MONOTONIC) + options->milliseconds * CLOCK_MILLISECOND,
                     options->progress);
    server->remembers = false;
    server->established = server->half_open = server->closing = 0;
    server->listener_count = server->more = 0;
    error = server_list(server, SEARCH_PORT);
    if (*probe && !error)
        error = attempt_probe_each(*probe, server_take_event, server, &evidence->events_lost);
    if (*probe && !blind.drops)
        evidence->read |= EVIDENCE_DROPS | EVIDENCE_RESETS;
    if (evidence->read & EVIDENCE_DROPS && !evidence->events_lost)
        strcpy(server->unseen, "see the packets that were dropped or reset");
    else
        snprintf(server->unseen, sizeof server->unseen, "packets could not be noted: %s",
                 *refusal.reason ? refusal.reason : "there were too many");
    return error;
}

/* --- The answer ------------------------------------------------------------------------------- */

static void server_put_end(FILE *stream, const struct server_listener *listener)
{
    if (listener->protocol)
        put_endpoint(stream, &listener->socket.local);
    else
        fputs(listener->path, stream);
}

static void server_put_listener(FILE *stream, const struct server_listener *listener)
{
    fputs(listener->is_bound_only ? " is bound to " : " listens on ", stream);
    server_put_end(stream, listener);
    fputs(listener->is_bound_only ? ", but does not listen" : "", stream);
}

/* Describes the first socket, which clients may have meant. */
static void server_find_miss(struct server *server)
{
    const struct server_listener *near = server->listeners;
    const uint8_t wanted = server->options->protocol;
    FILE *stream = fmemopen(server->near, sizeof server->near - 1, "w");

    if (!stream)
        return;
    fputs("; ", stream);
    put_process(stream, near->socket.process, near->socket.pid);
    server_put_listener(stream, near);
    if (near->socket.netns.id != server->evidence.here.id)
        put_netns(stream, &near->socket.netns);
    else if (near->protocol && near->protocol != wanted)
        fputs(near->protocol == IPPROTO_UDP ? ", but only for UDP" : ", but only for TCP", stream);
    fclose(stream);
}

/* Chooses the listener that the answer is about: a client knocked in vain, its queue is full, or it
 * is the first. */
static int server_choose(struct server *server)
{
    struct evidence *evidence = &server->evidence;
    const struct evidence_event *drop = facts_event(evidence, ANY_DROP),
                                *knock = facts_event(evidence, NO_SOCKET);
    const struct server_listener *best = server->listeners;

    if (drop) {
        evidence->peer = drop->event.destination;
        evidence->route.source = drop->event.source.address;
    }
    if (knock) {
        evidence->target = knock->is_answer ? knock->event.source : knock->event.destination;
        return sight_read_target(&server->sight, evidence);
    }
    if (!server->listener_count)
        return 0;
    for (size_t i = 0; i < server->listener_count; i++) {
        const struct evidence_listener *socket = &server->listeners[i].socket;
        if (socket->miss == MISS_NONE && server->listeners[i].has_queue &&
            (best->socket.miss != MISS_NONE || socket->queue > socket->queue_limit))
            best = &server->listeners[i];
    }
    evidence->listener = best->socket;
    if (best->socket.miss != MISS_NONE) {
        server_find_miss(server);
        return 0;
    }
    evidence->read |= best->has_queue && best->protocol == IPPROTO_TCP ? EVIDENCE_QUEUE : 0;
    return sight_read_half_open(&server->sight, evidence);
}

static int server_conclude(struct server *server, struct verdict *verdict)
{
    struct evidence *evidence = &server->evidence;
    int error;

    evidence->diversions = diversions_find(server->sight.netlink, server->options->proc_root);
    evidence->home = evidence->here;
    evidence->near = server->near;
    evidence->unseen = server->unseen;
    evidence->read |= server->losses.partial ? 0 : EVIDENCE_LISTENERS;
    error = server_choose(server);
    if (!error)
        verdict_find(evidence, verdict);
    return error;
}

/* --- Steps ------------------------------------------------------------------------------------ */

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

static bool server_fill_listener(struct step_row *row, const struct server *server,
                                 const struct server_listener *listener)
{
    const struct evidence_listener *socket = &listener->socket;

    step_row_process(row, socket->process, socket->pid);
    server_put_listener(row->stream, listener);
    if (socket->netns.id != server->evidence.here.id) {
        put_netns(row->stream, &socket->netns);
        step_row_netns(row, &socket->netns);
    }
    fprintf(row->stream, "%s%s%s%s", *listener->unit ? ", unit " : "", listener->unit,
            *listener->container ? ", container " : "", listener->container);
    server_put_start(row->stream, listener->started);
    if (socket->pid == 1 && strcmp(socket->process, "systemd") == 0)
        fputs("; it starts the service when a client connects (systemd.socket(5))", row->stream);
    row->record.step.local = socket->local;
    row->record.has |= listener->protocol ? STEP_SOURCE : 0;
    return true;
}

static bool server_fill_queue(struct step_row *row, const struct server *server,
                              const struct server_listener *listener)
{
    const struct evidence_listener *socket = &listener->socket;

    (void)server;
    server_put_end(row->stream, listener);
    if (listener->protocol == IPPROTO_TCP)
        fprintf(row->stream,
                ": %" PRIu32 " of %" PRIu32 " connections wait to be accepted, %" PRIu32
                " were dropped",
                socket->queue, socket->queue_limit, socket->drops);
    else
        fprintf(row->stream,
                ": %" PRIu32 " bytes wait to be read, %" PRIu32 " packets were dropped",
                socket->queue, socket->drops);
    row->record.step.local = socket->local;
    row->record.has |= STEP_SOURCE;
    return socket->miss == MISS_NONE && listener->has_queue;
}

static bool server_fill_more(struct step_row *row, const struct server *server,
                             const struct server_listener *listener)
{
    (void)listener;
    fprintf(row->stream, "%zu more sockets have this port", server->more);
    return server->more;
}

static bool server_fill_policy(struct step_row *row, const struct server *server,
                               const struct server_listener *listener)
{
    const struct evidence *evidence = &server->evidence;

    (void)listener;
    for (size_t i = 0; i < evidence->event_count; i++) {
        const struct attempt_event *event = &evidence->events[i].event;
        const bool is_reset = event->type == ATTEMPT_RESET_SENT;
        fprintf(row->stream, "%s%" PRIu64 " %s%s (%s), the first %s ", i ? "; " : "", event->count,
                is_reset ? "reset" : "packet", event->count == 1 ? "" : "s",
                event->reason ? event->reason : "reason unknown", is_reset ? "to" : "from");
        put_address(row->stream, is_reset ? &event->destination.address : &event->source.address);
    }
    if (!evidence->event_count && facts_of(evidence) & SAW_DROPS)
        fprintf(row->stream, "nothing for it was dropped or reset in %g s",
                server->options->milliseconds / 1000.0);
    else if (!evidence->event_count)
        fputs(server->unseen, row->stream);
    return true;
}

static bool server_fill_clients(struct step_row *row, const struct server *server,
                                const struct server_listener *listener)
{
    const struct evidence *evidence = &server->evidence;

    (void)listener;
    fprintf(row->stream, "%" PRIu64 " connected, %" PRIu64 " closing, %" PRIu64 " half-open",
            server->established, server->closing, server->half_open);
    if (server->half_open) {
        fputs(", first ", row->stream);
        put_address(row->stream, &server->waiting);
        fputs(", which has not confirmed the answer", row->stream);
    }
    if (server->options->milliseconds)
        fprintf(row->stream, "; %" PRIu32 " new", evidence->fresh);
    if (evidence->others.count) {
        fputs("; ", row->stream);
        step_row_process(row, evidence->others.process, evidence->others.pid);
        fprintf(row->stream, " of this machine waits for an answer (%" PRIu64 " in SYN_SENT)",
                evidence->others.count);
    }
    return server->options->protocol == IPPROTO_TCP;
}

/* Passes the rows of one step: for each listener, or a row without one. */
static int server_emit_step(const struct server *server, const struct server_step *step,
                            record_fn fn, void *arg)
{
    const size_t count = step->of_listeners ? server->listener_count : 1;
    int error = 0;

    for (size_t i = 0; i < count && !error; i++) {
        struct step_row row;
        if (!step_row_begin(&row, step->step, step->source))
            return -ENOMEM;
        row.record.step.protocol = server->options->protocol;
        row.record.has |= STEP_PROTOCOL;
        const bool wanted = step->fill(&row, server, &server->listeners[i]);
        error = step_row_end(&row, wanted, fn, arg);
    }
    return error;
}

static int server_emit(const struct server *server, record_fn fn, void *arg)
{
    static const struct server_step steps[] = {
        {STEP_LISTENER, true, server_fill_listener, "sock_diag, /proc"},
        {STEP_LISTENER, false, server_fill_more, "sock_diag"},
        {STEP_QUEUE, true, server_fill_queue, "sock_diag"},
        {STEP_POLICY, false, server_fill_policy, "BPF: skb:kfree_skb, tcp:tcp_send_reset"},
        {STEP_CLIENTS, false, server_fill_clients, "sock_diag, /proc"},
    };
    int error = 0;

    for (size_t i = 0; i < COUNT(steps) && !error; i++)
        error = server_emit_step(server, &steps[i], fn, arg);
    return error;
}

static int server_explain_port(struct server *server, struct report *report, record_fn fn,
                               void *arg, struct why_summary *summary)
{
    const struct steps answer = {.evidence = &server->evidence, .fn = fn, .arg = arg};
    struct attempt_probe *probe = NULL; /* has the reasons of events */
    struct verdict verdict;
    int error = local_addresses_read(&server->sight.local, server->sight.engine, false);

    if (!error)
        error = server->options->milliseconds ? server_watch(server, &probe)
                                              : server_list(server, SEARCH_PORT);
    if (!error && server->options->protocol == IPPROTO_TCP)
        error = server_list(server, SEARCH_WAITING);
    if (!error && !server->listener_count)
        error = server_list(server, SEARCH_NEAR);
    if (!error)
        error = server_conclude(server, &verdict);
    if (!error)
        error = server_emit(server, fn, arg);
    if (!error) {
        report_hand_on(report, &server->losses);
        summary->ending = (uint8_t)verdict.ending;
        summary->partial = server->losses.partial;
        error = steps_emit_answer(&answer, &verdict);
    }
    attempt_probe_destroy(probe);
    return error;
}

int server_explain(const struct why_options *options, struct report *report, record_fn fn,
                   void *arg, struct why_summary *summary)
{
    struct server *server = calloc(1, sizeof *server);
    int error;

    if (!server)
        return -ENOMEM;
    server->options = options;
    server->evidence = (struct evidence){.peer.port = options->port,
                                         .target.port = options->port,
                                         .protocol = options->protocol,
                                         .here.id = namespace_own_id(),
                                         .own_netns = namespace_own_id(),
                                         .is_port = true,
                                         .is_home_here = true,
                                         .is_of_others = true};
    strcpy(server->unseen, "only --for can show whether rules drop packets for it");
    error = sight_init(&server->sight, options);
    if (!error)
        error = server_explain_port(server, report, fn, arg, summary);
    sight_finish(&server->sight);
    hash_table_finish(&server->seen);
    free(server);
    return error;
}
