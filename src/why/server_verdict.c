/* SPDX-License-Identifier: MIT */
/* Concludes whether clients reach a port of this machine. */
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/text.h"
#include "why/sentence.h"
#include "why/server.h"

/* Returns a listener whose accept queue is full; NULL: no queue is full. The kernel takes one
 * connection more than the limit. */
static const struct server_listener *server_find_full(const struct server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        const struct server_listener *listener = &server->listeners[i];
        if (listener->is_wanted && listener->protocol == IPPROTO_TCP && listener->has_queue &&
            listener->queue > listener->limit)
            return listener;
    }
    return NULL;
}

static const struct server_event *server_find_drop(const struct server *server, const char *reason)
{
    for (size_t i = 0; i < server->event_count; i++)
        if (!server->events[i].is_reset && strcmp(server->events[i].reason, reason) == 0)
            return &server->events[i];
    return NULL;
}

void server_put_end(FILE *stream, const struct server_listener *listener)
{
    if (listener->protocol)
        put_endpoint(stream, &listener->local);
    else
        fputs(listener->path, stream);
}

void server_put_listener(FILE *stream, const struct server_listener *listener)
{
    put_process(stream, listener->process, listener->pid);
    fputs(listener->is_bound_only ? " is bound to " : " listens on ", stream);
    server_put_end(stream, listener);
    fputs(listener->is_bound_only ? ", but does not listen" : "", stream);
}

/* Describes the nearest miss: a socket that clients may have meant. */
static void server_put_miss(FILE *stream, const struct server *server)
{
    const struct server_listener *near = server->listeners;

    if (!server->listener_count)
        return;
    fputs("; ", stream);
    server_put_listener(stream, near);
    if (near->netns.id != server->here)
        put_netns(stream, &near->netns);
    else if (near->protocol && near->protocol != server->options->protocol)
        fputs(near->protocol == IPPROTO_UDP ? ", but only for UDP" : ", but only for TCP", stream);
}

static const char *server_advice_nobody(const struct server *server)
{
    const struct server_listener *near = server->listeners;

    if (!server->listener_count)
        return "start the server, or check the port";
    if (near->is_bound_only)
        return "let the program call listen(2)";
    return near->netns.id != server->here
               ? "connect to an address of that network namespace, or publish the port (DNAT, a "
                 "proxy)"
               : "connect to that socket, or let the program listen on this port, too";
}

/* Nobody listens here. */
static enum cause server_conclude_nobody(const struct server *server, FILE *stream,
                                         enum ending *ending)
{
    const struct server_listener *near = server->listeners;
    const bool is_other = server->listener_count && near->netns.id != server->here &&
                          near->protocol == server->options->protocol &&
                          near->local.port == server->options->port && !near->is_bound_only;

    fprintf(stream, "nobody listens on %s port %u",
            server->options->protocol == IPPROTO_UDP ? "UDP" : "TCP", server->options->port);
    server_put_miss(stream, server);
    if (!server->is_partial && !server->may_translate) {
        *ending = ENDING_ENDS;
        return is_other ? CAUSE_LISTENS_NETNS : CAUSE_NOBODY_LISTENS;
    }
    fputs(server->is_partial ? "; not all sockets could be read"
                             : "; a NAT rule may lead its packets elsewhere",
          stream);
    return CAUSE_UNKNOWN;
}

static enum cause server_conclude_full(FILE *stream, const struct server_listener *full)
{
    fputs("the accept queue of ", stream);
    put_process(stream, full->process, full->pid);
    fputs(" on ", stream);
    server_put_end(stream, full);
    fprintf(stream, " is full: %" PRIu64 " connections wait, and its limit is %" PRIu64,
            full->queue, full->limit);
    return CAUSE_ACCEPT_QUEUE;
}

static enum cause server_conclude_rule(FILE *stream, const struct server_event *drop)
{
    fprintf(stream,
            "a rule of this machine's firewall drops packets of clients: %" PRIu64
            ", the first from ",
            drop->count);
    put_address(stream, &drop->client);
    return CAUSE_OWN_RULE_DROPS;
}

/* A socket listens, and no cause is known. Only a new connection proves that clients get through.
 */
static enum cause server_conclude_listens(const struct server *server, FILE *stream,
                                          const struct server_listener *listener,
                                          enum ending *ending)
{
    const struct why_options *options = server->options;
    const char *more = "; only --for can show whether rules drop packets for it";

    server_put_listener(stream, listener);
    if (server->clients.fresh) {
        fprintf(stream, ", and clients reach it: %" PRIu64 " connected while fastnet watched",
                server->clients.fresh);
        *ending = ENDING_OPEN;
        return CAUSE_OPEN;
    }
    if (options->milliseconds)
        more = server->is_blind ? "; whether rules drop packets for it could not be noted"
               : options->protocol == IPPROTO_UDP
                   ? "; no packet for it was dropped, but UDP does not confirm that packets arrive"
                   : "; no packet for it was dropped, but no client connected, either";
    if (address_is_loopback(&listener->local.address))
        fputs("; other machines cannot reach this address", stream);
    fputs(more, stream);
    return CAUSE_UNKNOWN;
}

static enum cause server_conclude_all(const struct server *server, FILE *stream,
                                      enum ending *ending)
{
    const struct server_listener *full = server_find_full(server);
    const struct server_event *drop = server_find_drop(server, "NETFILTER_DROP");

    for (size_t i = 0; i < server->listener_count && !full && !drop; i++)
        if (server->listeners[i].is_wanted)
            return server_conclude_listens(server, stream, &server->listeners[i], ending);
    if (!full && !drop)
        return server_conclude_nobody(server, stream, ending);
    *ending = ENDING_ENDS;
    return full ? server_conclude_full(stream, full) : server_conclude_rule(stream, drop);
}

void server_conclude(const struct server *server, struct verdict *verdict)
{
    const uint16_t port = server->options->port;
    FILE *stream;
    size_t listening = 0;

    *verdict = (struct verdict){.cause = CAUSE_UNKNOWN, .ending = ENDING_UNKNOWN};
    stream = fmemopen(verdict->sentence, sizeof verdict->sentence, "w");
    if (!stream)
        return;
    verdict->cause = server_conclude_all(server, stream, &verdict->ending);
    fclose(stream);
    for (size_t i = 0; i < server->listener_count; i++)
        listening += server->listeners[i].is_wanted;
    if (verdict->cause == CAUSE_OPEN)
        return;
    snprintf(verdict->command, sizeof verdict->command,
             "fastnet sockets --listening --all-netns --where 'local_port = %u'", port);
    if (verdict->cause == CAUSE_OWN_RULE_DROPS)
        snprintf(verdict->command, sizeof verdict->command,
                 "fastnet drops --where 'reason = NETFILTER_DROP'");
    snprintf(verdict->advice, sizeof verdict->advice, "%s",
             verdict->cause == CAUSE_ACCEPT_QUEUE
                 ? "let the program accept faster; or raise its backlog (listen(2)) and "
                   "net.core.somaxconn"
             : verdict->cause == CAUSE_OWN_RULE_DROPS
                 ? "find the rule (nft list ruleset, iptables -S), and let it accept these packets"
             : listening ? ""
                         : server_advice_nobody(server));
    if (listening && verdict->cause == CAUSE_UNKNOWN)
        snprintf(verdict->advice, sizeof verdict->advice,
                 "try from the client: fastnet why --probe HOST:%u", port);
}
