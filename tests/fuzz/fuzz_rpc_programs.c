/* SPDX-License-Identifier: MIT */
/* What rpcbind(8) answers: an input is an answer without the marks of its fragments. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/rpc_programs.h"
#include "fuzz.h"
#include "tree.h"

static const char known[] = "portmapper 100000\nnfs 100003 nfsprog\n";
static const struct tree_entry names = {.path = "rpc", .content = {known, sizeof known - 1}};

enum { PROGRAMS_MAX = 1024, ANSWER_MAX = 1024 * 1024 };

struct model {
    const uint8_t *data;
    size_t size, at;
    bool ended; /* too early */
    struct named {
        uint16_t protocol, port;
        const char *name;
    } named[PROGRAMS_MAX];
    size_t count;
};

/* A number of XDR: four bytes, the highest one first. */
static uint32_t number(struct model *model)
{
    const uint8_t *at = model->data + model->at;

    if (model->size - model->at < 4)
        model->ended = true;
    if (model->ended)
        return 0;
    model->at += 4;
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Bytes behind their length, up to a NUL, as the text that has room for so many. */
static void text(struct model *model, char *to, size_t size)
{
    const uint64_t length = number(model), padded = (length + 3) / 4 * 4;

    *to = '\0';
    if (model->ended || padded > model->size - model->at) {
        model->ended = true;
        return;
    }
    if (length < size)
        snprintf(to, size, "%.*s", (int)length, (const char *)model->data + model->at);
    model->at += (size_t)padded;
}

static uint16_t protocol_of(const char *netid)
{
    if (strcmp(netid, "tcp") == 0 || strcmp(netid, "tcp6") == 0)
        return IPPROTO_TCP;
    if (strcmp(netid, "udp") == 0 || strcmp(netid, "udp6") == 0)
        return IPPROTO_UDP;
    return strcmp(netid, "sctp") == 0 ? IPPROTO_SCTP : 0;
}

/* The last two numbers of the address of all interfaces, or 0. */
static uint16_t port_of(const char *address)
{
    const char *part = strncmp(address, "0.0.0.0.", 8) == 0 ? address + 8
                       : strncmp(address, "::.", 3) == 0    ? address + 3
                                                            : NULL;
    char *end = NULL;

    if (!part || *part < '0' || *part > '9')
        return 0;
    const unsigned long high = strtoul(part, &end, 10);
    if (*end != '.' || end[1] < '0' || end[1] > '9')
        return 0;
    const unsigned long low = strtoul(end + 1, NULL, 10);
    return high > 255 || low > 255 ? 0 : (uint16_t)(high << 8 | low);
}

static void take(struct model *model)
{
    char netid[16], address[64], owner[1];
    const uint32_t program = number(model);

    number(model);
    text(model, netid, sizeof netid);
    text(model, address, sizeof address);
    text(model, owner, sizeof owner);
    const struct named named = {
        .protocol = protocol_of(netid),
        .port = port_of(address),
        .name = program == 100000   ? "rpc.portmapper"
                : program == 100003 ? "rpc.nfs"
                                    : NULL,
    };
    if (!model->ended && named.name && named.protocol && named.port && model->count < PROGRAMS_MAX)
        model->named[model->count++] = named;
}

static int take_all(struct model *model)
{
    char verifier[1];
    bool accepted;

    number(model);
    accepted = number(model) == 1;
    accepted &= number(model) == 0;
    number(model);
    text(model, verifier, sizeof verifier);
    accepted &= number(model) == 0;
    if (model->ended || !accepted)
        return model->ended ? -EBADMSG : -EPROTO;
    while (number(model))
        take(model);
    return model->ended ? -EBADMSG : 0;
}

/* --- A rpcbind that is asked ------------------------------------------------------------------ */

struct server {
    const uint8_t *data;
    size_t size;
    int fd; /* listens */
};

static bool send_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        const ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Answers with the input in two fragments, of which the first has a third of it. */
static void *answer(void *arg)
{
    enum { REQUEST = 11 * 4, LAST_SHIFT = 31 };
    const struct server *server = arg;
    const size_t parts[] = {server->size / 3, server->size - server->size / 3};
    const uint8_t *at = server->data;
    const int fd = accept(server->fd, NULL, NULL);
    char request[REQUEST];
    bool sent = fd >= 0 && recv(fd, request, sizeof request, MSG_WAITALL) == sizeof request;

    for (uint32_t last = 0; last < 2 && sent; last++) {
        const uint32_t mark = htonl((uint32_t)parts[last] | last << LAST_SHIFT);
        sent = send_all(fd, &mark, sizeof mark) && send_all(fd, at, parts[last]);
        at += parts[last];
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* What it answers is what it says when it is asked, too. */
static void ask(const struct model *model, const char *path, int expected)
{
    enum { LONG_ENOUGH = 60000 };
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct server server = {model->data, model->size, socket(AF_UNIX, SOCK_STREAM, 0)};
    struct rpc_programs *programs = rpc_programs_create(path);
    pthread_t thread;

    require(programs != NULL && server.fd >= 0);
    require(snprintf(address.sun_path, sizeof address.sun_path, "%s/rpcbind", tree_root()) <
            (int)sizeof address.sun_path);
    require(bind(server.fd, (struct sockaddr *)&address, sizeof address) == 0);
    require(listen(server.fd, 1) == 0);
    require(pthread_create(&thread, NULL, answer, &server) == 0);
    rpc_programs_ask(programs, address.sun_path, LONG_ENOUGH);
    require(pthread_join(thread, NULL) == 0);
    require(rpc_programs_error(programs) == -expected);
    for (size_t i = 0; i < model->count && !expected; i++)
        require(rpc_programs_name(programs, model->named[i].protocol, model->named[i].port) !=
                NULL);
    close(server.fd);
    rpc_programs_destroy(programs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model model;
    struct rpc_programs *programs;
    char path[TREE_PATH_SIZE];

    if (size > ANSWER_MAX) /* rpcbind is not heard out */
        return 0;
    tree_clear();
    require(tree_make(&names));
    require(snprintf(path, sizeof path, "%s/%s", tree_root(), names.path) < TREE_PATH_SIZE);
    programs = rpc_programs_create(path);
    require(programs != NULL);
    model = (struct model){.data = data, .size = size};
    const int expected = take_all(&model);
    require(rpc_programs_take(programs, data, size) == expected);
    require(rpc_programs_error(programs) == 0);
    ask(&model, path, expected);
    for (size_t i = model.count; i > 0; i--) {
        const struct named *named = &model.named[i - 1];
        const char *name = rpc_programs_name(programs, named->protocol, named->port);
        bool last = true;
        for (size_t j = i; j < model.count; j++)
            last &=
                model.named[j].protocol != named->protocol || model.named[j].port != named->port;
        require(name != NULL);
        require(!last || model.count == PROGRAMS_MAX || strcmp(name, named->name) == 0);
    }
    rpc_programs_destroy(programs);
    return 0;
}
