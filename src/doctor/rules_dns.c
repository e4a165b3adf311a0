/* SPDX-License-Identifier: MIT */
/* The rule about DNS that nobody answers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "doctor/rules.h"
#include "fastnet/connects.h"

/* A program may keep one socket for IPv4 addresses and one for IPv6 addresses: that is usual. */
enum { QUERIES_LEAST = 3 };

static void emit_queries(struct examination *examination, const struct holder *holder)
{
    char process[PROCESS_TEXT], server[ENDPOINT_TEXT];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", "");
    process_text(process, examination, &finding, holder->socket->inode);
    finding_summary(&finding, "%s gets no answer from DNS: %" PRIu64 " sockets wait for %s",
                    process, holder->count, endpoint_text(server, &holder->socket->remote));
    finding_evidence(&finding, "its sockets were connected in both readings and received nothing");
    finding_emit(&finding, examination, holder->count, ABSENT, ABSENT);
}

/* The process that sent a query on a short socket. */
struct dns_asker {
    const struct dns_client *client;
    struct connect sent; /* pid 0: it is not known */
    bool is_exact;       /* the socket had the client's address, not any address */
};

static void dns_take_send(const struct connect *sent, void *arg)
{
    struct dns_asker *asker = arg;
    const struct address local = address_unmapped(&sent->local);
    const bool is_exact = address_equal(&local, &asker->client->address);

    if (!sent->pid || sent->local_port != asker->client->port ||
        (sent->port && sent->port != DNS_PORT) ||
        (!is_exact && (asker->is_exact || !address_is_unspecified(&local))) ||
        (is_exact == asker->is_exact && sent->time <= asker->sent.time))
        return;
    asker->is_exact = is_exact;
    asker->sent = *sent;
}

/* Writes the client's process, if its queries came from this machine, and its address. */
static void dns_client_text(char *text, size_t size, struct examination *examination,
                            struct finding *finding, const struct dns_client *client)
{
    struct dns_asker asker = {.client = client};
    char process[PROCESS_TEXT] = "", address[ENDPOINT_TEXT];

    if (examination->sends)
        connects_each_send(examination->sends, dns_take_send, &asker);
    if (asker.sent.pid)
        finding_process(finding, process, asker.sent.name, (uint32_t)asker.sent.pid);
    snprintf(text, size, "%s%s%s", process, *process ? " at " : "",
             address_text(address, &client->address));
}

/* Reports machines whose DNS queries this machine forwards, and processes that close the socket of
 * a query before they try again. Names the address with the largest number of unanswered queries.
 */
static void emit_clients(struct examination *examination)
{
    const struct dns_client *clients = examination->now->sockets.clients, *worst = NULL;
    char client[PROCESS_TEXT + ENDPOINT_TEXT], server[ENDPOINT_TEXT];
    struct finding finding;
    uint64_t count = 0;

    for (size_t i = 0; i < DNS_CLIENTS; i++)
        if (clients[i].waiting >= QUERIES_LEAST && !clients[i].answered) {
            worst = worst && worst->waiting >= clients[i].waiting ? worst : &clients[i];
            count++;
        }
    if (!worst)
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  address_text(server, &worst->address));
    dns_client_text(client, sizeof client, examination, &finding, worst);
    finding_summary(&finding, "%s gets no answer from DNS: %" PRIu64 " queries wait for %s", client,
                    worst->waiting, address_text(server, &worst->server));
    finding_evidence(&finding, "the queries were UNREPLIED flows in both readings");
    if (count > 1)
        finding_evidence(&finding, "%" PRIu64 " more queries without an answer", count - 1);
    finding.record.finding.command = as_text("fastnet conntrack -L -p udp --orig-port-dst 53");
    finding_emit(&finding, examination, worst->waiting, ABSENT, ABSENT);
}

void rule_dns(struct examination *examination)
{
    const struct sockets_reading *sockets = &examination->now->sockets;
    struct holder *asking = NULL, *resolvers = NULL;
    size_t count = 0, resolver_count = 0, emitted = 0;

    if (sockets->queries.count >= QUERIES_LEAST)
        count = find_holders(examination, &sockets->queries, "sockets that wait for a DNS answer",
                             QUERIES_LEAST, &asking);
    if (count)
        resolver_count = find_holders(examination, &sockets->resolvers, NULL, 0, &resolvers);
    for (size_t i = 0; i < count; i++)
        if (asking[i].count >= QUERIES_LEAST &&
            !(resolver_count &&
              bsearch(&asking[i], resolvers, resolver_count, sizeof *resolvers, holders_compare))) {
            emit_queries(examination, &asking[i]);
            emitted++;
        }
    if (!emitted)
        emit_clients(examination);
    free(asking);
    free(resolvers);
}
