/* SPDX-License-Identifier: MIT */
/*
 * Prints sockets of a network namespace by one backend, with every field that the pass over all
 * namespaces can tell (fastnet/socket_pass.h) and this backend knows, a line each.
 *
 *     socket_rows pass|netlink|proc TABLE [NAMESPACE]
 *
 * The pass prints what it finds, even if the kernel has more. NAMESPACE is an inode, and only for
 * the pass; otherwise it is that of this process. The exit
 * status is 2, and the reason is on stderr, if the backend refuses.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/socket/socket_pass.h"
#include "fastnet/array.h"
#include "fastnet/netlink.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"
#include "fastnet/socket_pass.h"

static const struct table *const tables[] = {&table_tcp_both, &table_tcp,  &table_tcp6,
                                             &table_udp,      &table_udp6, &table_udplite,
                                             &table_udplite6, &table_raw,  &table_raw6};

static const struct {
    const char *name;
    const struct backend *backend;
} backends_of[] = {
    {"pass", &backend_socket_pass}, {"netlink", &backend_sock_diag}, {"proc", &backend_proc_net}};

static void put(uint64_t known, const char *name, uint64_t value)
{
    if (known)
        printf(" %s=%" PRIu64, name, value);
}

static void put_end(const char *name, const struct endpoint *end)
{
    char text[INET6_ADDRSTRLEN];

    printf(" %s=%s|%u", name, inet_ntop(end->address.family, end->address.bytes, text, sizeof text),
           end->port);
}

static int print(const struct record *record, void *arg)
{
    const struct socket_record *sock = &record->socket;
    const uint64_t has = record->has & *(const uint64_t *)arg;

    printf("family=%u protocol=%u", sock->family, sock->protocol);
    put_end("local", &sock->local);
    put_end("remote", &sock->remote);
    put(has & SOCKET_STATE, "state", sock->state);
    put(has & SOCKET_QUEUES, "recv_q", sock->recv_q);
    put(has & SOCKET_QUEUES, "send_q", sock->send_q);
    put(has & SOCKET_BACKLOG, "backlog", sock->backlog);
    put(has & SOCKET_UID, "uid", sock->uid);
    put(has & SOCKET_INODE, "inode", sock->inode);
    put(has & SOCKET_RETRANSMITS, "retransmits", sock->retransmits);
    put(has & SOCKET_RETRANSMITS, "probes", sock->probes);
    put(has & SOCKET_INTERFACE, "interface", sock->interface);
    put(has & SOCKET_COOKIE, "cookie", record->identity);
    put(has & SOCKET_CGROUP, "cgroup", sock->cgroup);
    put(has & SOCKET_SHUTDOWN, "shutdown", sock->shutdown);
    put(has & SOCKET_MARK, "mark", sock->mark);
    put(has & SOCKET_V6ONLY, "v6only", sock->v6only);
    putchar('\n');
    return 0;
}

static int usage(void)
{
    fputs("socket_rows: usage: socket_rows pass|netlink|proc TABLE [NAMESPACE]\n", stderr);
    return EXIT_FAILURE;
}

static uint64_t own_namespace(void)
{
    struct stat status;

    return stat("/proc/self/ns/net", &status) == 0 ? status.st_ino : 0;
}

/* Returns 0 or -errno. */
static int list(const struct backend *backend, struct query *query, struct report *report)
{
    uint64_t fields = backend_fields(&backend_socket_pass, query->table);
    struct socket_pass *pass = NULL;
    struct bpf_refusal refusal;
    int status = 0;

    if (backend == &backend_socket_pass) {
        query->netlink = NULL; /* listeners, too, are those of the pass */
        status = socket_pass_create(&pass, false, &refusal);
        if (status < 0)
            report_note(report, "not read by BPF: %s", refusal.reason);
        if (status == 0)
            status = socket_pass_begin(pass);
        if (status == 0)
            status = socket_pass_end(pass);
    }
    query->pass = pass;
    if (status == 0)
        status =
            pass ? socket_pass_list(query, print, &fields) : backend->dump(query, print, &fields);
    socket_pass_destroy(pass);
    return status;
}

int main(int argc, char *argv[])
{
    struct report report = {.verbose = true};
    struct query query = {.needs = ~(SOCKET_STORAGES | SOCKET_MESSAGE),
                          .proc_root = "/proc",
                          .report = &report,
                          .exclusive = true};
    const struct backend *backend = NULL;
    int status;

    for (size_t i = 0; argc > 2 && i < COUNT(backends_of); i++)
        if (strcmp(argv[1], backends_of[i].name) == 0)
            backend = backends_of[i].backend;
    for (size_t i = 0; argc > 2 && i < COUNT(tables); i++)
        if (strcmp(argv[2], tables[i]->name) == 0)
            query.table = tables[i];
    if (!backend || !query.table)
        return usage();
    query.netns = argc > 3 ? strtoull(argv[3], NULL, 10) : own_namespace();
    if (rights_init() < 0)
        return EXIT_FAILURE;
    query.netlink = netlink_create(NULL);
    status = query.netlink ? list(backend, &query, &report) : -ENOMEM;
    netlink_destroy(query.netlink);
    report_print(&report, stderr, "socket_rows");
    if (status < 0)
        fprintf(stderr, "socket_rows: %s: %s\n", argv[1], strerror(-status));
    return status < 0 ? 2 : EXIT_SUCCESS;
}
