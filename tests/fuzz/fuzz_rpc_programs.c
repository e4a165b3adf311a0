/* SPDX-License-Identifier: MIT */
/* What rpcbind(8) answers: an input is an answer without the marks of its fragments. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    model->at += padded;
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
    require(rpc_programs_take(programs, data, size) == take_all(&model));
    require(rpc_programs_error(programs) == 0);
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
