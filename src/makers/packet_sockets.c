/* SPDX-License-Identifier: MIT */
#include "makers/packet_sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/connects.h"
#include "fastnet/engine.h"

/* A packet can belong to a socket that is connected to its other end, to a socket bound to its
 * address, or to a socket bound to any address. Each case is a question, and packets with equal
 * questions share it. A socket answers one or two questions, so sockets and packets of one port
 * need not all be compared with each other. */
struct question {
    uint8_t protocol;
    struct endpoint local, remote; /* zeroes: any end; local always has its family */
    struct fitting answer;         /* the sockets with the highest rank */
    unsigned all;                  /* number of sockets of all ranks */
    struct fitting ended;          /* the ended socket that sent last; sent_at 0: there is none */
};

struct packet_socket_search {
    struct question *questions; /* sorted, without repeats */
    size_t count;
};

static int by_endpoint(const struct endpoint *one, const struct endpoint *other)
{
    if (one->port != other->port)
        return one->port < other->port ? -1 : 1;
    return memcmp(&one->address, &other->address, sizeof one->address);
}

static int by_key(const void *a, const void *b)
{
    const struct question *one = a, *other = b;
    const int local = by_endpoint(&one->local, &other->local);

    if (one->protocol != other->protocol)
        return one->protocol < other->protocol ? -1 : 1;
    return local ? local : by_endpoint(&one->remote, &other->remote);
}

/* --- Questions -------------------------------------------------------------------------------- */

enum { CONNECTED, BOUND, ANY, QUESTIONS };

static struct question question_of(const struct sought *sought, unsigned which)
{
    struct question question = {.protocol = sought->protocol, .local = sought->local};

    if (which == CONNECTED)
        question.remote = sought->remote;
    if (which == ANY)
        question.local.address = (struct address){.family = sought->local.address.family};
    return question;
}

static struct question *packet_sockets_find_socket(const struct packet_socket_search *search,
                                                   const struct question *key)
{
    return bsearch(key, search->questions, search->count, sizeof *key, by_key);
}

static int packet_sockets_ask(struct packet_socket_search *search, const struct sought *sought,
                              size_t count)
{
    size_t asked = 0;

    search->questions = reallocarray(NULL, count, QUESTIONS * sizeof *search->questions);
    if (!search->questions)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        for (unsigned which = CONNECTED; which < QUESTIONS; which++)
            search->questions[asked++] = question_of(&sought[i], which);
    qsort(search->questions, asked, sizeof *search->questions, by_key);
    for (size_t i = 0; i < asked; i++)
        if (!search->count ||
            by_key(&search->questions[search->count - 1], &search->questions[i]) != 0)
            search->questions[search->count++] = search->questions[i];
    return 0;
}

/* --- Answers ---------------------------------------------------------------------------------- */

static void packet_sockets_answer(const struct packet_socket_search *search,
                                  const struct question *key, const struct socket_record *socket)
{
    struct question *question = packet_sockets_find_socket(search, key);
    /* as in the kernel, a socket of IPv4 goes before a socket of IPv6 that also takes IPv4 */
    const unsigned rank = socket->local.address.family == AF_INET ? 2 : 1;

    if (!question)
        return;
    question->all++;
    if (rank < question->answer.rank)
        return;
    if (rank > question->answer.rank)
        question->answer = (struct fitting){.rank = rank};
    question->answer.inode = socket->inode;
    question->answer.uid = socket->uid;
    question->answer.count++;
}

static int packet_sockets_take_socket(const struct record *record, void *arg)
{
    const struct socket_record *socket = &record->socket;
    struct question key = {.protocol = (uint8_t)socket->protocol, .local.port = socket->local.port};

    key.local.address = address_unmapped(&socket->local.address);
    if (socket->remote.port || !address_is_unspecified(&socket->remote.address)) {
        key.remote = socket->remote;
        key.remote.address = address_unmapped(&socket->remote.address);
    }
    packet_sockets_answer(arg, &key, socket);
    if (address_is_unspecified(&key.local.address) && key.local.address.family == AF_INET6 &&
        !socket->v6only) { /* it also takes IPv4 */
        key.local.address.family = AF_INET;
        packet_sockets_answer(arg, &key, socket);
    }
    return 0;
}

/* If several ended sockets had the same addresses, the flow is that of the latest. */
static void packet_sockets_take_send(const struct connect *sent, void *arg)
{
    struct question *question, key = {.protocol = IPPROTO_UDP,
                                      .local = {address_unmapped(&sent->local), sent->local_port}};

    if (sent->port)
        key.remote = (struct endpoint){address_unmapped(&sent->remote), sent->port};
    for (int families = 0; families < 2; families++) {
        question = packet_sockets_find_socket(arg, &key);
        if (question && sent->pid && sent->time > question->ended.sent_at) {
            question->ended = (struct fitting){.uid = sent->uid, .sent_at = sent->time};
            question->ended.sender.pid = (uint32_t)sent->pid;
            memcpy(question->ended.sender.name, sent->name, sizeof sent->name);
        }
        if (!address_is_unspecified(&key.local.address) || key.local.address.family != AF_INET6)
            return;
        key.local.address.family = AF_INET; /* it sent IPv4, too */
    }
}

/* A connected socket goes before a bound socket, and a bound socket before a socket that takes any
 * address. With is_for_all all of these get a copy, and a packet belongs to a socket only if no
 * other socket fits. Ended sockets come last. */
static void packet_sockets_hand_out(const struct packet_socket_search *search,
                                    const struct sought *sought)
{
    struct fitting *fitting = sought->fitting;
    unsigned all = 0;

    for (unsigned which = CONNECTED; which < QUESTIONS; which++) {
        const struct question key = question_of(sought, which),
                              *question = packet_sockets_find_socket(search, &key);
        if (!question || !question->all)
            continue;
        *fitting = question->answer;
        if (!sought->is_for_all)
            return;
        fitting->count = all += question->all;
    }
    for (unsigned which = CONNECTED; which < QUESTIONS && !all && !sought->is_for_all; which++) {
        const struct question key = question_of(sought, which),
                              *question = packet_sockets_find_socket(search, &key);
        if (question && question->ended.sent_at > fitting->sent_at)
            *fitting = question->ended;
    }
}

int packet_sockets_find(struct engine *engine, struct connects *connects,
                        const struct sought *sought, size_t count, struct report *report)
{
    static const struct listing_table tables[] = {
        {.table = &table_tcp, .unnamed = true},
        {.table = &table_tcp6, .unnamed = true},
        {.table = &table_udp, .unnamed = true},
        {.table = &table_udp6, .unnamed = true},
    };
    const struct listing listing = {
        .needs.fields = SOCKET_ADDRESSES | SOCKET_INODE | SOCKET_UID | SOCKET_V6ONLY,
        .proc_root = "/proc",
        .tables = tables,
        .table_count = COUNT(tables),
    };
    struct packet_socket_search search = {.questions = NULL};
    int error;

    if (!count)
        return 0;
    error = packet_sockets_ask(&search, sought, count);
    if (!error)
        error = engine_gather(engine, &listing, packet_sockets_take_socket, &search, report);
    if (!error && connects)
        connects_each_send(connects, packet_sockets_take_send, &search);
    for (size_t i = 0; i < count && !error; i++)
        packet_sockets_hand_out(&search, &sought[i]);
    free(search.questions);
    return error;
}
