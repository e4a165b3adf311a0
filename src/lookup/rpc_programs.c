/* SPDX-License-Identifier: MIT */
/* Finds the ports of RPC programs: rpcbind(8) is asked, on its unix socket, for all that it knows
 * (RPCBPROC_DUMP of RFC 1833, messages of RFC 5531). This runs no program and loads no module. The
 * names of the programs are in rpc(5). */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/rpc_programs.h"
#include "lookup/number_map.h"

struct rpc_programs {
    struct hash_table names; /* number of a program -> its name */
    struct hash_table ports; /* protocol << 16 | port -> name of the program */
    int error;               /* errno, or 0 */
};

enum {
    ANSWER_MAX = 1024 * 1024, /* a program on a port takes about 80 bytes */
    RPC_CALL = 0,
    RPC_REPLY = 1,
    RPC_VERSION = 2,
    RPCBIND = 100000,
    RPCBIND_VERSION = 4,
    RPCBIND_DUMP = 4,
};

#define LAST_FRAGMENT UINT32_C(0x80000000)

/* --- Names of programs ------------------------------------------------------------------------ */

/* Reads lines "name number alias..."; a comment follows a #. */
static void rpc_read_names(struct rpc_programs *programs, const char *path)
{
    static const char spaces[] = " \t\r\n";
    FILE *file = fopen(path, "re");
    size_t capacity = 0;
    char *line = NULL;

    while (file && getline(&line, &capacity, file) >= 0) {
        char *rest = NULL, *end = NULL;
        line[strcspn(line, "#")] = '\0';
        const char *name = strtok_r(line, spaces, &rest);
        const char *number = name ? strtok_r(NULL, spaces, &rest) : NULL;
        const unsigned long program = number ? strtoul(number, &end, 10) : 0;
        if (number && end > number && !*end && program <= UINT32_MAX &&
            !number_map_name(&programs->names, program) &&
            !number_map_put(&programs->names, program, name, sizeof(struct number_name)))
            programs->error = ENOMEM;
    }
    free(line);
    if (file)
        fclose(file);
}

/* --- The answer of rpcbind -------------------------------------------------------------------- */

/* The unread rest of an answer: numbers and texts in the form of XDR (RFC 4506). */
struct rpc_answer {
    const unsigned char *at;
    size_t left;
    bool bad; /* the answer ended too early */
};

static const unsigned char *rpc_take(struct rpc_answer *answer, size_t size)
{
    const unsigned char *taken = answer->at;

    if (answer->bad || size > answer->left) {
        answer->bad = true;
        return NULL;
    }
    answer->at += size;
    answer->left -= size;
    return taken;
}

static uint32_t rpc_take_number(struct rpc_answer *answer)
{
    const unsigned char *bytes = rpc_take(answer, sizeof(uint32_t));
    uint32_t number;

    if (!bytes)
        return 0;
    memcpy(&number, bytes, sizeof number);
    return ntohl(number);
}

/* Takes a length and the bytes, which are padded to a multiple of 4. */
static const unsigned char *rpc_take_bytes(struct rpc_answer *answer, uint32_t *length)
{
    *length = rpc_take_number(answer);
    return rpc_take(answer, *length > ANSWER_MAX ? SIZE_MAX : ((size_t)*length + 3) / 4 * 4);
}

/* Takes a text, which becomes empty if it does not fit into `text`. */
static void rpc_take_text(struct rpc_answer *answer, char *text, size_t size)
{
    uint32_t length;
    const unsigned char *bytes = rpc_take_bytes(answer, &length);

    *text = '\0';
    if (bytes && length < size) {
        memcpy(text, bytes, length);
        text[length] = '\0';
    }
}

static int rpc_protocol_of(const char *netid)
{
    static const struct {
        const char *netid;
        int protocol;
    } protocols[] = {
        {"tcp", IPPROTO_TCP},  {"tcp6", IPPROTO_TCP},  {"udp", IPPROTO_UDP},
        {"udp6", IPPROTO_UDP}, {"sctp", IPPROTO_SCTP},
    };

    for (size_t i = 0; i < COUNT(protocols); i++)
        if (strcmp(protocols[i].netid, netid) == 0)
            return protocols[i].protocol;
    return -1;
}

enum { NO_OCTET = UINT8_MAX + 1 };

/* Takes a decimal number and moves *text after it. Returns NO_OCTET if there is no number. */
static unsigned long take_octet(const char **text)
{
    char *end;
    const unsigned long number = strtoul(*text, &end, 10);
    const bool is_number = **text >= '0' && **text <= '9';

    *text = end;
    return is_number ? number : NO_OCTET;
}

/* Returns the port of "0.0.0.0.HIGH.LOW" or "::.HIGH.LOW". Other addresses: -1, as in ss. */
static int rpc_port_of(const char *address)
{
    static const char *const prefixes[] = {"0.0.0.0.", "::."};

    for (size_t i = 0; i < COUNT(prefixes); i++) {
        const size_t length = strlen(prefixes[i]);
        if (strncmp(address, prefixes[i], length) != 0)
            continue;
        const char *at = address + length;
        const unsigned long high = take_octet(&at);
        if (*at++ != '.')
            return -1;
        const unsigned long low = take_octet(&at);
        return high <= UINT8_MAX && low <= UINT8_MAX ? (int)(high << 8 | low) : -1;
    }
    return -1;
}

static uint64_t rpc_key(uint16_t protocol, uint16_t port)
{
    return (uint64_t)protocol << 16 | port;
}

/* Takes a program on a port. If several programs have one port, the last is used, as in ss. */
static void take_program(struct rpc_programs *programs, struct rpc_answer *answer)
{
    enum { NAME_SIZE = 128 }; /* the same limit as in ss */
    char netid[16], address[64], owner[1], name[NAME_SIZE];
    const uint32_t program = rpc_take_number(answer);

    rpc_take_number(answer); /* version of the program */
    rpc_take_text(answer, netid, sizeof netid);
    rpc_take_text(answer, address, sizeof address);
    rpc_take_text(answer, owner, sizeof owner);
    const char *known = number_map_name(&programs->names, program);
    const int protocol = rpc_protocol_of(netid), port = rpc_port_of(address);
    if (answer->bad || !known || protocol < 0 || port <= 0)
        return;
    snprintf(name, sizeof name, "rpc.%s", known);
    if (!number_map_put(&programs->ports, rpc_key((uint16_t)protocol, (uint16_t)port), name,
                        sizeof(struct number_name)))
        programs->error = ENOMEM;
}

int rpc_programs_take(struct rpc_programs *programs, const void *bytes, size_t length)
{
    struct rpc_answer answer = {.at = bytes, .left = length};
    uint32_t verifier;
    bool refused;

    rpc_take_number(&answer); /* id of the request */
    refused = rpc_take_number(&answer) != RPC_REPLY;
    refused |= rpc_take_number(&answer) != 0; /* MSG_ACCEPTED */
    rpc_take_number(&answer);                 /* flavour of the verifier */
    rpc_take_bytes(&answer, &verifier);
    refused |= rpc_take_number(&answer) != 0; /* SUCCESS */
    if (answer.bad || refused)
        return answer.bad ? -EBADMSG : -EPROTO;
    while (rpc_take_number(&answer) && !answer.bad)
        take_program(programs, &answer);
    return answer.bad ? -EBADMSG : 0;
}

/* --- Asking ----------------------------------------------------------------------------------- */

/* Waits until the socket is ready. Returns 0, -ETIMEDOUT at the time `until`, or -EINTR. */
static int rpc_wait_for(int fd, short events, uint64_t until)
{
    struct pollfd ready = {.fd = fd, .events = events};

    for (;;) {
        const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
        if (clock_interrupted())
            return -EINTR;
        if (now >= until)
            return -ETIMEDOUT;
        if (poll(&ready, 1, (int)((until - now) / 1000000 + 1)) > 0)
            return 0;
    }
}

/* Receives exactly `size` bytes. Returns 0 or -errno. */
static int rpc_receive(int fd, void *bytes, size_t size, uint64_t until)
{
    for (char *at = bytes; size > 0;) {
        const int error = rpc_wait_for(fd, POLLIN, until);
        if (error)
            return error;
        const ssize_t some = recv(fd, at, size, MSG_DONTWAIT);
        if (some == 0)
            return -ECONNRESET;
        if (some < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        at += some > 0 ? some : 0;
        size -= some > 0 ? (size_t)some : 0;
    }
    return 0;
}

/* Receives an answer, which comes in fragments; a length precedes each (RFC 5531, 11). */
static int rpc_receive_answer(int fd, char *answer, size_t *length, uint64_t until)
{
    for (bool last = false; !last;) {
        uint32_t mark;
        int error = rpc_receive(fd, &mark, sizeof mark, until);
        if (error)
            return error;
        last = ntohl(mark) & LAST_FRAGMENT;
        mark = ntohl(mark) & ~LAST_FRAGMENT;
        if (mark > ANSWER_MAX - *length)
            return -EMSGSIZE;
        error = rpc_receive(fd, answer + *length, mark, until);
        if (error)
            return error;
        *length += mark;
    }
    return 0;
}

static int rpc_send_request(int fd)
{
    enum { ARGUMENTS = 10, AUTH_NONE = 0 };
    const uint32_t request[] = {
        htonl(LAST_FRAGMENT | ARGUMENTS * sizeof(uint32_t)),
        htonl(1), /* id of the request: any number, which the answer repeats */
        htonl(RPC_CALL),
        htonl(RPC_VERSION),
        htonl(RPCBIND),
        htonl(RPCBIND_VERSION),
        htonl(RPCBIND_DUMP),
        htonl(AUTH_NONE),
        0,
        htonl(AUTH_NONE),
        0,
    };

    _Static_assert(COUNT(request) == ARGUMENTS + 1, "and the length");
    return send(fd, request, sizeof request, MSG_NOSIGNAL) == sizeof request ? 0 : -errno;
}

/* Returns 0, or -errno: -ENOENT or -ECONNREFUSED if no rpcbind runs. */
static int rpc_ask(struct rpc_programs *programs, const char *path, unsigned milliseconds)
{
    const uint64_t until = clock_nanoseconds(CLOCK_MONOTONIC) + milliseconds * CLOCK_MILLISECOND;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *answer = malloc(ANSWER_MAX);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    size_t length = 0;
    int error = !answer ? -ENOMEM : fd < 0 ? -errno : 0;

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (!error && connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        error = -errno;
    if (!error)
        error = rpc_send_request(fd);
    if (!error)
        error = rpc_receive_answer(fd, answer, &length, until);
    if (!error)
        error = rpc_programs_take(programs, answer, length);
    if (fd >= 0)
        close(fd);
    free(answer);
    return error;
}

/* --- What others call ------------------------------------------------------------------------- */

struct rpc_programs *rpc_programs_create(const char *names)
{
    struct rpc_programs *programs = calloc(1, sizeof *programs);

    if (programs)
        rpc_read_names(programs, names ? names : "/etc/rpc");
    return programs;
}

void rpc_programs_ask(struct rpc_programs *programs, const char *path, unsigned milliseconds)
{
    const int error = rpc_ask(programs, path ? path : "/run/rpcbind.sock", milliseconds);

    /* without rpcbind there are no programs: that is not an error */
    if (error && error != -ENOENT && error != -ECONNREFUSED)
        programs->error = -error;
}

void rpc_programs_destroy(struct rpc_programs *programs)
{
    if (!programs)
        return;
    number_map_finish(&programs->names);
    number_map_finish(&programs->ports);
    free(programs);
}

int rpc_programs_error(const struct rpc_programs *programs)
{
    return programs ? programs->error : 0;
}

const char *rpc_programs_name(const struct rpc_programs *programs, uint16_t protocol, uint16_t port)
{
    return number_map_name(&programs->ports, rpc_key(protocol, port));
}
