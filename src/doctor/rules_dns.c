/* SPDX-License-Identifier: MIT */
/* The rule about servers of DNS that do not answer, or answer slowly. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/dns.h"
#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/connect_failures.h"
#include "fastnet/hash.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"
#include "makers/local_addresses.h"

/* --- Servers ---------------------------------------------------------------------------------- */

static bool dns_server_is(const void *element, const void *key)
{
    const struct dns_server *one = element, *other = key;

    return one->netns == other->netns && one->port == other->port &&
           address_equal(&one->address, &other->address);
}

/* Returns the server with this key; NULL: there is no such server. If `add` is set, adds it; NULL:
 * memory is short. */
static struct dns_server *dns_server_of(struct hash_table *servers, const struct dns_server *key,
                                        bool add)
{
    const uint64_t hash =
        hash_bytes(hash_seed(), key->address.bytes, sizeof key->address.bytes) + key->netns;
    struct dns_server *server = hash_table_find(servers, hash, dns_server_is, key);

    if (server || !add)
        return server;
    server = hash_table_add(servers, hash, sizeof *server);
    if (server)
        *server = *key;
    return server;
}

struct dns_taking {
    struct hash_table *servers;
    const struct dns_waiters *waiters;
    int error;
};

/* Datagrams that are too short or too long for DNS only show that the server is used. A machine
 * without IPv6 has no route to a server of IPv6. */
static void dns_take_queries(const struct dns_queries *queries, void *arg)
{
    struct dns_taking *taking = arg;
    const struct dns_server key = {.netns = queries->netns,
                                   .address = address_unmapped(&queries->server)};
    const bool is_query =
        queries->is_query || (queries->failed && queries->error != ECONNREFUSED &&
                              (queries->error != ENETUNREACH || key.address.family != AF_INET6));
    struct dns_server *server = dns_server_of(taking->servers, &key, true);

    if (!server) {
        taking->error = -ENOMEM;
        return;
    }
    server->answered += queries->answered;
    if (is_query) {
        server->timed += queries->timed;
        server->slow += queries->slow;
        server->time += queries->time;
        server->sent += queries->sent;
        server->failed += queries->failed;
        dns_waiters_count(taking->waiters, queries, server);
        server->error = queries->error ? queries->error : server->error;
        if (queries->unanswered && queries->waiting)
            server->waiting = server->waiting && server->waiting < queries->waiting
                                  ? server->waiting
                                  : queries->waiting;
    }
    if (!queries->pid || (server->pid && queries->waiting < server->asked))
        return;
    server->asked = queries->waiting;
    server->pid = queries->pid;
    memcpy(server->process, queries->process, sizeof server->process);
}

int dns_servers_take(struct hash_table *servers, const struct dns_probe *probe,
                     const struct dns_waiters *waiters)
{
    struct dns_taking taking = {.servers = servers, .waiters = waiters};

    dns_probe_each(probe, dns_take_queries, &taking);
    return taking.error;
}

/* --- Verdicts --------------------------------------------------------------------------------- */

/* A program may keep one socket for IPv4 addresses and one for IPv6 addresses: that is usual. */
enum {
    QUERIES_LEAST = 3,
    FAILED_LEAST = 2,
    GIVEN_UP_LEAST = 2,
    CUT_SHORT_LEAST = 5,
    LOST_LEAST = 5,
    LOST_PERCENT = 25
};

enum dns_verdict { DNS_HEALTHY, DNS_SILENT, DNS_SLOWLY, DNS_LOSES };

/* Concludes from queries by UDP. now: the time when the queries are counted. */
static enum dns_verdict dns_verdict_of(const struct dns_server *server, uint64_t now)
{
    const uint64_t bad = server->slow + server->unanswered;
    const bool is_long = server->waiting && now >= server->waiting + DNS_WAIT_LONE;

    if (server->unanswered && !server->answered)
        return server->unanswered >= QUERIES_LEAST || server->failed >= FAILED_LEAST || is_long
                   ? DNS_SILENT
                   : DNS_HEALTHY;
    if (server->slow && bad * 2 > server->timed + server->unanswered &&
        (bad >= QUERIES_LEAST || (bad == QUERIES_LEAST - 1 && server->time >= DNS_WAIT_LONE)))
        return DNS_SLOWLY;
    return server->unanswered >= LOST_LEAST &&
                   reaches(server->unanswered, LOST_PERCENT, server->answered + server->unanswered)
               ? DNS_LOSES
               : DNS_HEALTHY;
}

/* Returns whether all answers were slow, though they are too few for a finding: the next query may
 * show more. */
static bool dns_is_suspect(const struct dns_server *server)
{
    return server->slow && server->slow == server->timed &&
           dns_verdict_of(server, UINT64_MAX) == DNS_HEALTHY;
}

uint64_t dns_servers_due(const struct hash_table *servers, uint64_t marked)
{
    uint64_t due = 0;

    for (size_t i = 0; i < servers->count; i++) {
        const struct dns_server *server = hash_table_at(servers, i);
        uint64_t when = 0;
        if (dns_is_suspect(server))
            when = marked + DNS_WAIT_LONE;
        else if (server->unanswered && dns_verdict_of(server, UINT64_MAX) != DNS_HEALTHY)
            when = marked + DNS_WAIT;
        if (when && dns_verdict_of(server, 0) == DNS_HEALTHY &&
            server->waiting + DNS_WAIT_LONE > when)
            when = server->waiting + DNS_WAIT_LONE;
        due = due > when ? due : when;
    }
    return due < marked + DNS_WAIT_LONE ? due : marked + DNS_WAIT_LONE;
}

/* --- Resolvers -------------------------------------------------------------------------------- */

enum { RESOLV_CONF_SERVERS = 8, UPSTREAMS_MANY = 8 };

/* What the rule knows about the network namespace that is examined. */
struct dns_scene {
    struct examination *examination;
    struct hash_table *servers;
    uint32_t netns;
    struct holder *resolvers; /* processes that serve DNS */
    size_t resolver_count;
    struct address listed[RESOLV_CONF_SERVERS]; /* servers of /etc/resolv.conf */
    size_t listed_count;
    struct local_addresses local; /* addresses of this machine, once they are read */
};

static void dns_read_resolv_conf(struct dns_scene *scene)
{
    FILE *file = fopen("/etc/resolv.conf", "re");
    uint8_t bytes[sizeof(struct in6_addr)];
    char line[256], text[64];

    while (file && fgets(line, sizeof line, file) && scene->listed_count < RESOLV_CONF_SERVERS) {
        const uint8_t family = strchr(line, ':') ? AF_INET6 : AF_INET;
        if (sscanf(line, " nameserver %63[0-9a-fA-F.:]", text) == 1 &&
            inet_pton(family, text, bytes) == 1)
            scene->listed[scene->listed_count++] = address_make(family, bytes);
    }
    if (file)
        fclose(file);
}

static bool dns_is_listed(const struct dns_scene *scene, const struct address *address)
{
    for (size_t i = 0; i < scene->listed_count; i++)
        if (address_equal(&scene->listed[i], address))
            return true;
    return false;
}

/* Returns the socket on port 53 of a process; NULL: the process serves no DNS. */
static const struct doctor_socket *dns_resolver_of(const struct dns_scene *scene, uint32_t pid)
{
    for (size_t i = 0; i < scene->resolver_count; i++)
        if (pid && (uint32_t)scene->resolvers[i].process->pid == pid)
            return scene->resolvers[i].socket;
    return NULL;
}

/* Returns whether `server` is no finding of its own, because its process asks many servers. A
 * resolver asks the servers of each domain, and some do not exist. If many servers do not answer a
 * resolver, the first server is the finding. Another process that asks many servers without an
 * answer searches for servers. */
static bool dns_asks_many(const struct dns_scene *scene, const struct dns_server *server)
{
    uint64_t count = 0, silent = 0, answered = 0, unanswered = 0;
    const struct dns_server *first = NULL;

    for (size_t i = 0; i < scene->servers->count; i++) {
        const struct dns_server *other = hash_table_at(scene->servers, i);
        if (other->pid != server->pid || other->netns != server->netns)
            continue;
        count++;
        answered += other->answered;
        unanswered += other->unanswered;
        silent += !other->answered;
        if (!first && dns_verdict_of(other, UINT64_MAX) != DNS_HEALTHY)
            first = other;
    }
    if (count <= UPSTREAMS_MANY || answered > unanswered)
        return count > UPSTREAMS_MANY;
    return server->pid && silent > UPSTREAMS_MANY &&
           (first != server || !dns_resolver_of(scene, server->pid));
}

/* Returns whether connections by TCP lead to many servers, most of which answer: those of a
 * resolver, see dns_asks_many(). */
static bool dns_connects_to_many(const struct dns_scene *scene)
{
    size_t count = 0, connected = 0;

    for (size_t i = 0; i < scene->servers->count; i++) {
        const struct dns_server *server = hash_table_at(scene->servers, i);
        count += server->port && server->netns == scene->netns;
        connected += server->connected && server->netns == scene->netns;
    }
    return count > UPSTREAMS_MANY && connected * 2 > count;
}

/* Returns whether the connections by TCP to a server are a finding. */
static bool dns_hangs(const struct dns_server *server)
{
    return !server->connected &&
           (server->sockets || server->ended || (server->begins && server->began) ||
            server->begins >= QUERIES_LEAST || server->refused >= QUERIES_LEAST ||
            (server->given_up && server->given_up + server->begins >= GIVEN_UP_LEAST));
}

/* Returns the process that asks the server; 0: it is not known. */
static uint32_t dns_asker(const struct dns_scene *scene, const struct dns_server *server)
{
    const struct owner *owner =
        server->pid || !server->inode ? NULL : owner_of(scene->examination, server->inode);

    return owner ? (uint32_t)owner->process->pid : server->pid;
}

/* Returns whether the process that asks `upstream` serves DNS on this machine at the address of
 * `server`. */
static bool dns_relays(const struct dns_scene *scene, const struct dns_server *upstream,
                       const struct dns_server *server)
{
    const struct doctor_socket *socket = upstream->netns == scene->netns && upstream != server
                                             ? dns_resolver_of(scene, dns_asker(scene, upstream))
                                             : NULL;
    const struct address local = socket ? address_unmapped(&socket->end.address) : server->address;

    return socket && !server->port &&
           (address_equal(&local, &server->address) ||
            (address_is_unspecified(&local) && address_is_loopback(&server->address)));
}

/* Returns whether the process that asks `upstream` serves DNS, and does not answer. */
static bool dns_has_waiting_clients(const struct dns_scene *scene,
                                    const struct dns_server *upstream, uint64_t now)
{
    for (size_t i = 0; i < scene->servers->count; i++) {
        const struct dns_server *other = hash_table_at(scene->servers, i);
        if (dns_verdict_of(other, now) == DNS_SILENT && dns_relays(scene, upstream, other))
            return true;
    }
    return false;
}

/* Concludes, too, from the clients of a resolver: if they wait, one error that the resolver got is
 * enough. */
static enum dns_verdict dns_verdict_in(const struct dns_scene *scene,
                                       const struct dns_server *server, uint64_t now)
{
    const enum dns_verdict verdict = dns_verdict_of(server, now);

    return verdict == DNS_HEALTHY && server->failed && server->unanswered && !server->answered &&
                   dns_has_waiting_clients(scene, server, now)
               ? DNS_SILENT
               : verdict;
}

/* Returns whether programs soon give up each connection to a server, and no other server answers:
 * a program that asks several at once gives up the slower. */
static bool dns_is_cut_short(const struct dns_scene *scene, const struct dns_server *server)
{
    for (size_t i = 0; i < scene->servers->count; i++) {
        const struct dns_server *other = hash_table_at(scene->servers, i);
        if (other->netns == server->netns &&
            (other->connected || (other->answered && other->pid == server->pid)))
            return false;
    }
    return server->cut_short >= CUT_SHORT_LEAST;
}

/* The answers may be seen by UDP, in flows, or by TCP: then a reading has the connection. */
bool dns_needs_no_tls(const struct examination *examination, const struct hash_table *servers,
                      const struct endpoint *end)
{
    const struct address address = address_unmapped(&end->address);
    const uint32_t netns = (uint32_t)namespace_own_id();
    bool answers = sockets_dns_answers(&examination->now->sockets, &address);

    for (size_t i = 0; servers && i < servers->count && !answers; i++) {
        const struct dns_server *server = hash_table_at(servers, i);
        answers = server->netns == netns && server->port != DNS_TLS_PORT &&
                  address_equal(&server->address, &address) &&
                  (server->answered || server->connected);
    }
    return end->port == DNS_TLS_PORT && answers;
}

/* Concludes from connections by TCP. If the clients of a resolver wait, one connection that waits
 * is enough. */
static bool dns_hangs_in(const struct dns_scene *scene, const struct dns_server *server,
                         uint64_t now)
{
    const struct endpoint end = {server->address, server->port};

    if (dns_needs_no_tls(scene->examination, scene->servers, &end))
        return false;
    if (dns_hangs(server))
        return !dns_connects_to_many(scene);
    if (dns_is_cut_short(scene, server))
        return true;
    return !server->connected && (server->begins || server->given_up || server->refused) &&
           dns_has_waiting_clients(scene, server, now);
}

/* Returns whether a resolver of this machine, whose own servers do not answer, serves DNS at the
 * address of `server`: then those servers are the finding. */
static bool dns_is_relayed(const struct dns_scene *scene, const struct dns_server *server)
{
    for (size_t i = 0; i < scene->servers->count; i++) {
        const struct dns_server *other = hash_table_at(scene->servers, i);
        if (dns_relays(scene, other, server) &&
            (other->port ? dns_hangs_in(scene, other, UINT64_MAX)
                         : dns_verdict_in(scene, other, UINT64_MAX) != DNS_HEALTHY))
            return true;
    }
    return false;
}

/* --- Tables ----------------------------------------------------------------------------------- */

static struct dns_server *dns_find(const struct dns_scene *scene, const struct endpoint *end,
                                   bool add)
{
    const struct dns_server key = {
        .netns = scene->netns, .address = address_unmapped(&end->address), .port = end->port};
    struct dns_server *server = dns_server_of(scene->servers, &key, add);

    if (!server && add)
        scene->examination->error = -ENOMEM;
    return server;
}

/* Adds sockets that wait for an answer by UDP. A server of DNS keeps sockets to other servers. If
 * BPF sees queries, a server that nobody asks between the readings is not known to be silent. */
static void dns_add_sockets(struct dns_scene *scene)
{
    struct examination *examination = scene->examination;
    const struct doctor_sockets *queries = &examination->now->sockets.queries;
    size_t unknown = 0;

    for (size_t i = 0; i < queries->count && queries->count >= QUERIES_LEAST; i++) {
        const struct doctor_socket *socket = &queries->list[i];
        const struct owner *owner = owner_of(examination, socket->inode);
        struct dns_server *server = dns_find(
            scene, &(struct endpoint){.address = socket->end.address}, !examination->sees_dns);
        unknown += !owner;
        if (!server || !owner || dns_resolver_of(scene, (uint32_t)owner->process->pid))
            continue;
        server->sockets++;
        server->inode = socket->inode;
    }
    if (unknown >= QUERIES_LEAST)
        report_loss(examination->report,
                    "%s: %zu sockets that wait for a DNS answer belong to processes that are not "
                    "visible%s",
                    examination->rule->text.name, unknown, rights_advice());
}

/* Returns whether packets from this address are of a near network: routers of the Internet do not
 * forward them. */
static bool dns_is_near(const struct address *client)
{
    static const struct network networks[] = {
        {{AF_INET, {10}}, 8},           {{AF_INET, {172, 16}}, 12}, /* RFC 1918 */
        {{AF_INET, {192, 168}}, 16},    {{AF_INET, {100, 64}}, 10}, /* and RFC 6598 */
        {{AF_INET, {169, 254}}, 16},    {{AF_INET, {127}}, 8},
        {{AF_INET6, {0xfe, 0x80}}, 10}, {{AF_INET6, {0xfc}}, 7}, /* RFC 4193 */
    };
    const struct address plain = address_unmapped(client);

    for (size_t i = 0; i < COUNT(networks); i++)
        if (address_is_within(&plain, &networks[i].address, networks[i].prefix))
            return true;
    return address_is_loopback(&plain);
}

/* Returns whether this machine has the address, and no queries wait for a program that reads them.
 */
static bool dns_is_idle(struct dns_scene *scene, const struct address *server)
{
    const struct examination *examination = scene->examination;
    const struct doctor_sockets *resolvers = &examination->now->sockets.resolvers;

    for (size_t i = 0; i < resolvers->count; i++) {
        const struct address own = address_unmapped(&resolvers->list[i].end.address);
        if (resolvers->list[i].state == DNS_QUERIES_WAIT &&
            (address_equal(&own, server) || address_is_unspecified(&own)))
            return false;
    }
    if (!scene->local.count && examination->engine &&
        proc_tree_is_own(examination->options->proc_root))
        (void)local_addresses_read(&scene->local, examination->engine, false);
    return local_addresses_find(&scene->local, server) != RECEPTION_NONE;
}

/* Returns whether the queries of a client show that a server does not answer. A client that
 * searches for servers asks each of them once. From the Internet come such searches, too, to
 * machines that serve no DNS, and queries in the name of others, which servers ignore. */
static bool dns_is_missed(struct dns_scene *scene, const struct dns_client *client)
{
    enum { REPEATED = 2 };

    if (client->waiting < REPEATED || client->answered)
        return false;
    return dns_is_near(&client->address) ||
           (!sockets_dns_answers(&scene->examination->now->sockets, &client->server) &&
            (client->is_translated || !dns_is_idle(scene, &client->server)));
}

static void dns_add_flows(struct dns_scene *scene)
{
    const struct dns_client *clients = scene->examination->now->sockets.clients;

    for (size_t i = 0; i < DNS_CLIENTS; i++) {
        const struct endpoint end = {.address = clients[i].server};
        struct dns_server *server =
            dns_is_missed(scene, &clients[i]) ? dns_find(scene, &end, true) : NULL;
        if (!server)
            continue;
        server->flows += clients[i].waiting;
        server->clients++;
        server->client = clients[i].address;
    }
}

/* Adds the connections of a reading. The reading before has connections that the programs closed
 * since. */
static void dns_take_connections(struct dns_scene *scene, const struct doctor_sockets *all,
                                 bool is_before)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct doctor_socket *socket = &all->list[i];
        struct dns_server *server = dns_find(scene, &socket->end, true);
        if (!server)
            return;
        server->connected += socket->state == (is_before ? DNS_ENDED : DNS_ANSWERED);
        server->begins += !is_before && socket->state == DNS_WAITS;
        server->began += is_before && socket->state == DNS_WAITS;
        server->ended += is_before && socket->state == DNS_HANGS;
        server->sockets += !is_before && socket->state == DNS_HANGS;
        if (socket->state < DNS_ANSWERED)
            server->inode = socket->inode;
    }
}

/* Returns the server that connections were counted for, which `process` asked last; NULL: it is no
 * server of DNS. */
static struct dns_server *dns_find_counted(struct dns_scene *scene, const struct busy *slot,
                                           const struct refused_process *process)
{
    const struct endpoint end = {slot->key.remote, slot->key.port};
    struct dns_server *server = slot->count && (end.port == DNS_PORT || end.port == DNS_TLS_PORT)
                                    ? dns_find(scene, &end, true)
                                    : NULL;

    if (server) {
        server->pid = process->pid;
        memcpy(server->process, process->process, sizeof server->process);
    }
    return server;
}

/* Adds connections that failed between the readings. counter: offset of the number in struct
 * dns_server. */
static void dns_add_counted(struct dns_scene *scene, const struct busy slots[],
                            const struct refused_process processes[], size_t counter)
{
    for (size_t i = 0; i < REFUSED_SLOTS; i++) {
        struct dns_server *server = dns_find_counted(scene, &slots[i], &processes[i]);
        if (server)
            *(uint64_t *)(void *)((char *)server + counter) += slots[i].count;
    }
}

/* Adds calls of connect(2) that failed at once: most resolvers connect a socket before they send a
 * query. */
static void dns_add_connects(struct dns_scene *scene)
{
    struct connect_failures *failures = scene->examination->failures;

    for (int error = 1; failures && error < CONNECT_ERRNOS; error++) {
        const struct connect_failure failure = connect_failures_take_queries(failures, error);
        const struct endpoint end = {.address = failure.remote};
        struct dns_server *server =
            failure.count && error_at_once_meaning(error) ? dns_find(scene, &end, true) : NULL;
        if (!server)
            continue;
        server->connects += failure.count;
        server->failed += failure.count;
        server->unanswered += failure.count;
        server->error = error;
        server->pid = (uint32_t)failure.pid;
        memcpy(server->process, failure.name, sizeof server->process);
    }
}

/* Adds connections by TCP: those that hang, and those that ended without an answer. */
static void dns_add_connections(struct dns_scene *scene)
{
    const struct sockets_reading *before = &scene->examination->before->sockets;

    dns_take_connections(scene, &before->dns_connections, true);
    dns_take_connections(scene, &scene->examination->now->sockets.dns_connections, false);
    dns_add_counted(scene, before->refused, before->refused_processes,
                    offsetof(struct dns_server, refused));
    dns_add_counted(scene, before->given_up, before->given_up_processes,
                    offsetof(struct dns_server, given_up));
    dns_add_counted(scene, before->cut_short, before->cut_short_processes,
                    offsetof(struct dns_server, cut_short));
}

/* --- Findings --------------------------------------------------------------------------------- */

/* A server, and the resolver whose server it is. */
enum { SERVER_TEXT = ENDPOINT_TEXT + PROCESS_TEXT + 32 };

/* Makes the program that asked last the process of the finding. name: the server; adds whose
 * server it is. */
static void dns_add_asker(char name[SERVER_TEXT], struct dns_scene *scene, struct finding *finding,
                          const struct dns_server *server)
{
    char text[PROCESS_TEXT] = "";

    if (server->pid)
        finding_process(finding, text, server->process, server->pid);
    else if (server->inode)
        process_text(text, scene->examination, finding, server->inode);
    if (*text && dns_resolver_of(scene, dns_asker(scene, server))) {
        char server_name[ENDPOINT_TEXT];
        snprintf(server_name, sizeof server_name, "%s", name);
        snprintf(name, SERVER_TEXT, "server %s of the resolver %s", server_name, text);
        finding_evidence(finding, "%s serves DNS on this machine: its clients wait, too", text);
    } else if (*text)
        finding_evidence(finding, "%s asked last", text);
}

/* Adds what /etc/resolv.conf says about the server, and which of its servers answer. */
static void dns_add_listed(const struct dns_scene *scene, struct finding *finding,
                           const struct dns_server *server)
{
    char text[ENDPOINT_TEXT];

    if (!dns_is_listed(scene, &server->address))
        return;
    finding_evidence(finding, "/etc/resolv.conf names %s", address_text(text, &server->address));
    for (size_t i = 0; i < scene->listed_count; i++) {
        const struct endpoint end = {.address = scene->listed[i]};
        const struct dns_server *other = dns_find(scene, &end, false);
        if (other && !address_equal(&other->address, &server->address) && other->answered &&
            dns_verdict_of(other, UINT64_MAX) == DNS_HEALTHY)
            finding_evidence(finding, "its server %s answers", address_text(text, &end.address));
    }
}

/* Returns whether the drop is of packets between this network namespace and the server. */
static bool dns_is_drop(const struct drop *drop, const struct dns_server *server)
{
    const struct drop_record *record = &drop->record.drop;
    const struct address remote = address_unmapped(&record->remote.address);

    return drop->netns == server->netns && drop->record.has & DROP_PORTS &&
           record->protocol == IPPROTO_UDP && record->remote.port == DNS_PORT &&
           address_equal(&remote, &server->address);
}

/* Returns the number of answers that arrived for closed sockets; the drops may count packets of
 * other senders, too, so the queries are a limit. finding: receives another reason
 * for which packets were dropped, as evidence; or NULL. */
static uint64_t dns_take_drops(const struct examination *examination, struct finding *finding,
                               const struct dns_server *server)
{
    const struct drop_probe *probe = examination->drops;
    const struct drop_record *most = NULL;
    uint64_t late = 0;

    for (size_t i = 0; probe && i < drop_probe_count(probe); i++) {
        const struct drop *drop = drop_probe_at(probe, i);
        if (!dns_is_drop(drop, server))
            continue;
        if (text_is(drop->record.drop.reason, "NO_SOCKET"))
            late += drop->record.drop.drops;
        else if (!most || drop->record.drop.drops > most->drops)
            most = &drop->record.drop;
    }
    if (most && finding)
        finding_evidence(finding, "the kernel dropped packets: %.*s", (int)most->reason.length,
                         most->reason.data);
    return late < server->sent ? late : server->sent;
}

/* Returns whether the process of the server asks other servers, too, and gets answers. */
static bool dns_has_other(const struct dns_scene *scene, const struct dns_server *server)
{
    for (size_t i = 0; i < scene->servers->count; i++) {
        const struct dns_server *other = hash_table_at(scene->servers, i);
        if (other != server && other->netns == server->netns && other->pid == server->pid &&
            other->answered)
            return true;
    }
    return false;
}

/* Returns whether the kernel sent no query to the server: connect(2) failed, or a route forbids it.
 * sendto(2) also returns other errors, about an earlier query. */
static bool dns_is_unrouted(const struct dns_server *server)
{
    const int error = server->error;

    return server->failed && server->failed >= server->sent + server->connects &&
           (server->connects || error == EINVAL || error == EACCES || error == ENETUNREACH);
}

/* Returns whether it is healthy that the kernel sends no query to the server, because another
 * server answers: a machine without IPv4 has no route to servers of IPv4, and a resolver tries
 * addresses that this machine refuses on purpose. */
static bool dns_is_spared(const struct dns_scene *scene, const struct dns_server *server)
{
    if (!dns_is_unrouted(server))
        return false;
    if (server->error != ENETUNREACH)
        return !dns_is_listed(scene, &server->address) && dns_has_other(scene, server);
    for (size_t i = 0; i < scene->servers->count; i++) {
        const struct dns_server *other = hash_table_at(scene->servers, i);
        if (other->netns == server->netns && other->answered)
            return true;
    }
    return false;
}

/* Adds why the kernel sent no query, if it is known. */
static void dns_explain(struct finding *finding, const struct examination *examination,
                        const struct dns_server *server)
{
    const struct attempt_result attempt = {
        .state = ATTEMPT_FAILED, .error = server->error, .at_once = true};
    const struct endpoint end = {server->address, DNS_PORT};
    const size_t length = strlen(finding->summary);

    if (!dns_is_unrouted(server))
        return;
    finding->record.finding.command = as_text(
        server->address.family == AF_INET6 ? "fastnet netstat -rn6" : "fastnet netstat -rn");
    finding_explain(finding, examination, NULL, &end, &attempt);
    snprintf(finding->summary + length, sizeof finding->summary - length, ": %s",
             *finding->cause ? finding->cause : error_at_once_meaning(server->error));
}

/* name: the server, and whose server it is. */
static void dns_summary_udp(struct finding *finding, const char *name, double seconds,
                            const struct dns_server *server, enum dns_verdict verdict,
                            uint64_t late)
{
    const uint64_t count = server->unanswered;

    if (verdict == DNS_SLOWLY) {
        char mean[TEXT_ROUNDED];
        finding_summary(
            finding,
            "%s answers DNS slowly: %" PRIu64 " of %" PRIu64
            " answers took longer than 1 s, %s s on average (queries without an "
            "answer: %" PRIu64 ")",
            name, server->slow, server->timed,
            text_rounded(mean, (double)server->time / (double)server->timed / CLOCK_SECOND), count);
    } else if (verdict == DNS_LOSES)
        finding_summary(finding, "%s does not answer %" PRIu64 " of %" PRIu64 " DNS queries", name,
                        count, server->answered + count);
    else if (late)
        finding_summary(finding,
                        "%s answers DNS too late: %" PRIu64 " answer%s came when the socket of the "
                        "query was closed",
                        name, late, late == 1 ? "" : "s");
    else
        finding_summary(finding,
                        "%s does not answer DNS: none of %" PRIu64 " quer%s in %.7g s was answered",
                        name, count, count == 1 ? "y" : "ies", seconds);
}

/* Reports a server that is asked by UDP, as far as BPF sees it. */
static void dns_emit_udp(struct dns_scene *scene, const struct dns_server *server,
                         enum dns_verdict verdict)
{
    struct examination *examination = scene->examination;
    char name[SERVER_TEXT];
    struct finding finding;

    if (dns_is_relayed(scene, server) || dns_asks_many(scene, server) ||
        dns_is_spared(scene, server))
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  address_text(name, &server->address));
    const uint64_t late = dns_take_drops(examination, NULL, server);
    if (late &&
        (server->answered ? verdict == DNS_LOSES && server->ignored * 2 >= server->unanswered
                          : dns_has_other(scene, server)))
        return; /* programs that ask several servers, or several names, took the first answer */
    dns_add_asker(name, scene, &finding, server);
    dns_summary_udp(&finding, name, seconds_between(examination), server, verdict, late);
    if (server->failed)
        finding_evidence(&finding, "%" PRIu64 " calls failed: %s%s", server->failed,
                         strerror(server->error),
                         server->error == ECONNREFUSED ? " (ICMP: port unreachable)" : "");
    finding_evidence(&finding, "queries: %" PRIu64 " sent, %" PRIu64 " answered", server->sent,
                     server->answered);
    dns_add_listed(scene, &finding, server);
    (void)dns_take_drops(examination, &finding, server);
    finding.record.finding.command = as_text("fastnet traffic any --for=6 --port=53");
    dns_explain(&finding, examination, server);
    finding_emit(&finding, examination, verdict == DNS_SLOWLY ? server->slow : server->unanswered,
                 ABSENT, ABSENT);
}

/* Reports a server by sockets, flows or connections that wait. */
static void dns_emit_waiting(struct dns_scene *scene, const struct dns_server *server)
{
    struct examination *examination = scene->examination;
    const bool is_tcp = server->port, by_flows = !is_tcp && server->sockets < QUERIES_LEAST;
    const uint64_t waiting = server->sockets + server->begins;
    const uint64_t given_up = server->given_up + server->cut_short;
    const uint64_t unanswered = waiting + given_up;
    const uint64_t hang = unanswered ? unanswered : server->ended;
    const uint64_t count = by_flows ? server->flows : hang ? hang : server->refused;
    const struct endpoint end = {server->address, server->port};
    const char *what = by_flows ? "queries wait for an answer" : "sockets wait for an answer";
    char name[SERVER_TEXT], client[ENDPOINT_TEXT];
    struct finding finding;

    if (!is_tcp && dns_is_relayed(scene, server))
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", endpoint_text(name, &end));
    dns_add_asker(name, scene, &finding, server);
    if (is_tcp)
        what = hang ? "by TCP without an answer" : "by TCP failed";
    finding_summary(&finding, "%s does not answer DNS: %" PRIu64 " %s%s%s", name, count,
                    is_tcp ? "connection" : "", is_tcp ? count == 1 ? " " : "s " : "", what);
    if (is_tcp)
        finding_evidence(&finding,
                         "connections: %" PRIu64 " wait, %" PRIu64 " were given up, %" PRIu64
                         " failed",
                         waiting, given_up, server->refused);
    else if (by_flows)
        finding_evidence(&finding,
                         "the queries were UNREPLIED flows in both readings, of %" PRIu64
                         " client%s: %s",
                         server->clients, server->clients == 1 ? "" : "s, one of them",
                         address_text(client, &server->client));
    else
        finding_evidence(&finding,
                         "the sockets were connected in both readings and received nothing");
    dns_add_listed(scene, &finding, server);
    if (is_tcp)
        finding.record.finding.command =
            waiting ? as_text("fastnet sockets -t --where 'remote_port in 53,853'")
                    : as_text("fastnet traffic any --for=6 --port=53,853");
    else if (by_flows)
        finding.record.finding.command = as_text("fastnet conntrack -L -p udp --orig-port-dst 53");
    finding_emit(&finding, examination, count, ABSENT, ABSENT);
}

/* Returns whether datagrams came for ports without a socket. */
static bool dns_has_unreceived(const struct examination *examination)
{
    const struct kernel_counts *before = &examination->before->counts,
                               *now = &examination->now->counts;

    return now->numbers[UDP_NO_PORTS] > before->numbers[UDP_NO_PORTS] ||
           now->numbers[UDP6_NO_PORTS] > before->numbers[UDP6_NO_PORTS];
}

/* If answers may have come to sockets that were closed or that nobody reads, counts only the
 * queries of processes that wait, and those that ended with an error. */
static void dns_forget_unawaited(struct dns_scene *scene)
{
    const struct examination *examination = scene->examination;
    const bool is_unreceived = dns_has_unreceived(examination);

    for (size_t i = 0; i < scene->servers->count; i++) {
        struct dns_server *server = hash_table_at(scene->servers, i);
        if (server->netns == scene->netns &&
            (is_unreceived || server->unread || dns_take_drops(examination, NULL, server)))
            server->unanswered = server->awaited;
    }
}

static void dns_judge(struct dns_scene *scene, const struct dns_server *server)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    const enum dns_verdict verdict = dns_verdict_in(scene, server, now);

    if (verdict != DNS_HEALTHY)
        dns_emit_udp(scene, server, verdict);
    else if (server->port ? dns_hangs_in(scene, server, now)
                          : server->flows >= QUERIES_LEAST ||
                                (server->sockets >= QUERIES_LEAST && !server->answered))
        dns_emit_waiting(scene, server);
}

/* Without the probe, the rule sees only sockets that stay, flows and connections. */
void rule_dns(struct examination *examination)
{
    struct hash_table own = {.count = 0};
    struct dns_scene scene = {
        .examination = examination,
        .servers = examination->dns ? examination->dns : &own,
        .netns = (uint32_t)namespace_own_id(),
    };

    if (!examination->sees_dns && examination->before->at)
        (void)text_list(examination->missing, sizeof examination->missing, ", ",
                        as_text("no queries by UDP: they need BPF"));
    dns_read_resolv_conf(&scene);
    if (scene.servers->count || examination->now->sockets.queries.count >= QUERIES_LEAST)
        scene.resolver_count = find_holders(examination, &examination->now->sockets.resolvers, NULL,
                                            0, &scene.resolvers);
    dns_forget_unawaited(&scene);
    dns_add_sockets(&scene);
    dns_add_flows(&scene);
    dns_add_connects(&scene);
    dns_add_connections(&scene);
    for (size_t i = 0; i < scene.servers->count && !examination->error; i++) {
        const struct dns_server *server = hash_table_at(scene.servers, i);
        if (server->netns == scene.netns)
            dns_judge(&scene, server);
    }
    free(scene.resolvers);
    local_addresses_finish(&scene.local);
    hash_table_finish(&own);
}
