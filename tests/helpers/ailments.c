/* SPDX-License-Identifier: MIT */
/*
 * Makes what fastnet doctor finds, as sick programs do.
 *
 *     ailments NAME EVERY [NUMBER...]
 *
 * NAME and its numbers are in the table at the end. Prints "ready", then does what makes it worse
 * every EVERY milliseconds (0: never) and for each line on stdin, until stdin ends. Sockets have
 * port 7000, or that of $PORT; some connect to 127.0.0.1, or to $ADDRESS.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "sockets.h"

enum { NUMBERS = 4, PIECE = 1000, CHUNK = 65536 };

struct patient {
    long numbers[NUMBERS];
    int listener, client, server;
    int *clients, *servers;
    long count;    /* of both */
    uint32_t made; /* packets */
};

static uint16_t port(void)
{
    const char *chosen = getenv("PORT");

    return (uint16_t)(chosen ? strtol(chosen, NULL, 10) : 7000);
}

static struct place here(void)
{
    const char *chosen = getenv("ADDRESS");

    return place_of(chosen ? chosen : "127.0.0.1", port(), 0);
}

static int made_nonblocking(int fd)
{
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        err(1, "O_NONBLOCK");
    return fd;
}

/* Connects without waiting, which may not succeed. */
static int connect_soon(struct place place)
{
    const int fd = made_nonblocking(socket_new(place.address.ss_family, SOCK_STREAM, 0));

    if (connect(fd, place_address(&place), place.size) < 0 && errno != EINPROGRESS &&
        errno != EAGAIN)
        err(1, "connect");
    return fd;
}

/* Opens so many connections to a listener, and keeps both ends. */
static void open_pairs(struct patient *patient, long count)
{
    patient->listener = tcp_listen(here(), 128);
    patient->count = count;
    patient->clients = calloc((size_t)count, sizeof *patient->clients);
    patient->servers = calloc((size_t)count, sizeof *patient->servers);
    if (!patient->clients || !patient->servers)
        err(1, "calloc");
    for (long i = 0; i < count; i++) {
        const struct pair pair = pair_open(patient->listener);
        patient->clients[i] = made_nonblocking(pair.client);
        patient->servers[i] = made_nonblocking(pair.server);
        option_set(pair.client, IPPROTO_TCP, TCP_NODELAY, 1);
        option_set(pair.server, IPPROTO_TCP, TCP_NODELAY, 1);
    }
}

/* Writes at most so much; a full buffer is what is wanted. */
static void write_some(int fd, long bytes)
{
    static const char nothing[CHUNK];

    while (bytes > 0) {
        const ssize_t sent = send(fd, nothing, bytes < CHUNK ? (size_t)bytes : CHUNK, MSG_NOSIGNAL);
        if (sent < 0)
            return;
        bytes -= sent;
    }
}

/* Reads at most so much. */
static void read_some(int fd, long bytes)
{
    static char nowhere[CHUNK];

    while (bytes > 0) {
        const ssize_t got = read(fd, nowhere, bytes < CHUNK ? (size_t)bytes : CHUNK);
        if (got <= 0)
            return;
        bytes -= got;
    }
}

/* --- Queues ----------------------------------------------------------------------------------- */

static void begin_backlog(struct patient *patient)
{
    patient->listener = tcp_listen(here(), (int)patient->numbers[0]);
    for (long i = 0; i < patient->numbers[1]; i++)
        connect_soon(here());
}

static void connect_once_more(struct patient *patient)
{
    (void)patient;
    connect_soon(here());
}

/* More than fit at once, which are all accepted then: of what comes again no more is accepted. */
static void burst(struct patient *patient)
{
    int clients[64], server;
    const long count = patient->numbers[1] < 64 ? patient->numbers[1] : 64;

    for (long i = 0; i < count; i++)
        clients[i] = connect_soon(here());
    while ((server = accept4(patient->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        close(server);
    for (long i = 0; i < count; i++)
        close(clients[i]);
}

static void begin_bursts(struct patient *patient)
{
    patient->listener = made_nonblocking(tcp_listen(here(), (int)patient->numbers[0]));
}

static void accept_one(struct patient *patient)
{
    const int fd = accept4(patient->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        err(1, "accept");
}

/* The name is hostile: doctor has to show it, and nothing else of it. */
static void begin_unix_backlog(struct patient *patient)
{
    static const char name[] = "\0ailments\n\033[31m";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct place place = {
        .size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof name - 1)};

    memcpy(address.sun_path, name, sizeof name - 1);
    memcpy(&place.address, &address, sizeof address);
    patient->listener = socket_new(AF_UNIX, SOCK_STREAM, 0);
    bind_to(patient->listener, place);
    if (listen(patient->listener, (int)patient->numbers[0]) < 0)
        err(1, "listen");
    for (long i = 0; i < patient->numbers[1]; i++)
        connect_soon(place);
}

static void send_datagrams(struct patient *patient)
{
    static const char data[PIECE];

    for (long i = 0; i < patient->numbers[1]; i++)
        if (send(patient->client, data, sizeof data, 0) < 0)
            err(1, "send");
}

static void begin_datagrams(struct patient *patient)
{
    const struct place place = place_of(patient->numbers[2] ? "239.1.1.1" : "127.0.0.1", port(), 0);
    const struct ip_mreqn group = {{htonl(0xef010101)}, {htonl(INADDR_LOOPBACK)}, 0};

    patient->server = socket_new(AF_INET, SOCK_DGRAM, 0);
    patient->client = socket_new(AF_INET, SOCK_DGRAM, 0);
    option_set(patient->server, SOL_SOCKET, SO_RCVBUF, (int)patient->numbers[0]);
    bind_to(patient->server, place);
    if (patient->numbers[2] &&
        (setsockopt(patient->server, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group) < 0 ||
         setsockopt(patient->client, IPPROTO_IP, IP_MULTICAST_IF, &group, sizeof group) < 0))
        err(1, "239.1.1.1");
    connect_to(patient->client, place);
    send_datagrams(patient);
}

/* Nothing passes the filter of the socket, so its buffer stays empty. */
static void begin_filtered(struct patient *patient)
{
    struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);

    begin_datagrams(patient);
    filter_attach(patient->server, &nothing, 1);
}

/* Some of them are read. */
static void read_datagrams(struct patient *patient)
{
    char data[PIECE];

    send_datagrams(patient);
    for (long i = 0; i < patient->numbers[3]; i++)
        if (recv(patient->server, data, sizeof data, MSG_DONTWAIT) < 0)
            return;
}

/* The socket that loses them is closed at once. */
static void begin_and_close(struct patient *patient)
{
    begin_datagrams(patient);
    close(patient->server);
    close(patient->client);
}

/* --- Raw packets ------------------------------------------------------------------------------ */

static uint16_t checksum_of(const void *data, size_t size, uint32_t sum)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i + 1 < size; i += 2)
        sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons((uint16_t)~sum);
}

/* Each packet has another source, of 198.18.0.0/15, which is for tests of devices (RFC 2544). */
static struct iphdr header_of(struct patient *patient, uint8_t protocol, size_t payload)
{
    const uint32_t number = patient->made++;

    return (struct iphdr){
        .version = 4,
        .ihl = 5,
        .tot_len = htons((uint16_t)(sizeof(struct iphdr) + payload)),
        .id = htons((uint16_t)number),
        .ttl = 64,
        .protocol = protocol,
        .saddr = htonl(0xc6120000 + number % 65536),
        .daddr = htonl(0xc0000201), /* 192.0.2.1 */
    };
}

static void send_packet(const struct patient *patient, const void *packet, size_t size)
{
    struct place to = place_of("192.0.2.1", 0, 0);

    if (sendto(patient->client, packet, size, 0, place_address(&to), to.size) < 0)
        err(1, "sendto");
}

static void send_syns(struct patient *patient)
{
    for (long i = 0; i < patient->numbers[1]; i++) {
        struct {
            struct iphdr ip;
            struct tcphdr tcp;
        } packet;
        packet.ip = header_of(patient, IPPROTO_TCP, sizeof packet.tcp);
        packet.tcp = (struct tcphdr){
            .source = htons(4000), .dest = htons(port()), .doff = 5, .syn = 1, .window = 65535};
        /* the pseudo header of RFC 9293: addresses, protocol and length */
        const uint32_t addresses = ntohs(checksum_of(&packet.ip.saddr, 8, 0)) ^ 0xffff;
        packet.tcp.check = checksum_of(&packet.tcp, sizeof packet.tcp,
                                       addresses + IPPROTO_TCP + (uint32_t)sizeof packet.tcp);
        packet.tcp.check ^= (uint16_t)patient->numbers[2];
        send_packet(patient, &packet, sizeof packet);
    }
}

static void begin_syns(struct patient *patient)
{
    patient->listener = tcp_listen(place_of("192.0.2.1", port(), 0), (int)patient->numbers[0]);
    patient->client = socket_new(AF_INET, SOCK_RAW, IPPROTO_RAW);
    send_syns(patient);
}

/* First fragments, whose rest never comes. */
static void send_fragments(struct patient *patient)
{
    for (long i = 0; i < patient->numbers[0]; i++) {
        struct {
            struct iphdr ip;
            uint8_t data[64];
        } packet = {header_of(patient, IPPROTO_UDP, sizeof packet.data), {0}};
        packet.ip.frag_off = htons(IP_MF);
        send_packet(patient, &packet, sizeof packet);
    }
}

static void begin_fragments(struct patient *patient)
{
    patient->client = socket_new(AF_INET, SOCK_RAW, IPPROTO_RAW);
    send_fragments(patient);
}

/* Packets of ::1 to itself: first fragments of IPv6, whose rest never comes, or datagrams with a
 * wrong checksum. */
static void send_packets6(struct patient *patient)
{
    struct {
        struct ip6_hdr ip;
        union {
            struct ip6_frag fragment;
            struct udphdr udp;
            uint8_t bytes[64];
        };
    } packet = {.ip = {.ip6_src = in6addr_loopback, .ip6_dst = in6addr_loopback}};
    struct place to = place_of("::1", 0, 0);

    packet.ip.ip6_flow = htonl(UINT32_C(6) << 28);
    packet.ip.ip6_plen = htons(sizeof packet.bytes);
    packet.ip.ip6_nxt = (uint8_t)patient->numbers[1];
    packet.ip.ip6_hlim = 64;
    for (long i = 0; i < patient->numbers[0]; i++) {
        if (packet.ip.ip6_nxt == IPPROTO_FRAGMENT)
            packet.fragment = (struct ip6_frag){.ip6f_nxt = IPPROTO_UDP,
                                                .ip6f_offlg = IP6F_MORE_FRAG,
                                                .ip6f_ident = htonl((uint32_t)patient->made++)};
        else
            packet.udp = (struct udphdr){
                .dest = htons(port()), .len = htons(sizeof packet.bytes), .check = htons(1)};
        if (sendto(patient->client, &packet, sizeof packet, 0, place_address(&to), to.size) < 0)
            err(1, "sendto");
    }
}

static void begin_packets6(struct patient *patient)
{
    patient->client = socket_new(AF_INET6, SOCK_RAW, IPPROTO_RAW);
    send_packets6(patient);
}

/* Frames of a protocol that nobody speaks (IEEE 802: for experiments), sent on v0. */
static void send_unwanted(struct patient *patient)
{
    const struct sockaddr_ll to = {.sll_family = AF_PACKET,
                                   .sll_protocol = htons(0x88b5),
                                   .sll_ifindex = (int)if_nametoindex("v0"),
                                   .sll_halen = 6,
                                   .sll_addr = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

    for (long i = 0; i < patient->numbers[0]; i++)
        if (sendto(patient->client, "unwanted", 8, 0, (const struct sockaddr *)&to, sizeof to) < 0)
            err(1, "sendto");
}

static void begin_unwanted(struct patient *patient)
{
    patient->client = socket_new(AF_PACKET, SOCK_DGRAM, 0);
    send_unwanted(patient);
}

/* --- Connections ------------------------------------------------------------------------------ */

static void begin_pairs(struct patient *patient)
{
    open_pairs(patient, patient->numbers[0]);
}

/* Ports that bind(2) takes before connect(2). */
static void begin_bound(struct patient *patient)
{
    patient->listener = tcp_listen(here(), 128);
    for (long i = 0; i < patient->numbers[0]; i++) {
        const int fd = socket_new(AF_INET, SOCK_STREAM, 0);
        bind_to(fd, place_of("127.0.0.1", 0, 0));
        connect_to(fd, here());
    }
}

/* Some of the connections, which the other end closes; and descriptors that are something else. */
static void begin_unclosed(struct patient *patient)
{
    open_pairs(patient, patient->numbers[0]);
    for (long i = 0; i < patient->count; i++)
        close(patient->clients[i]);
    for (long i = 0; i < patient->numbers[1]; i++)
        if (dup(STDIN_FILENO) < 0)
            err(1, "dup");
}

static void begin_leaving(struct patient *patient)
{
    patient->listener = tcp_listen(here(), 128);
}

/* Opens a connection that the client closes at once, and the server a number of rounds later, if at
 * all. */
static void leave(struct patient *patient)
{
    enum { KEPT = 4096 };
    static int kept[KEPT];
    const long late = patient->numbers[0], slot = patient->count++ % (late ? late : KEPT);
    const struct pair pair = pair_open(patient->listener);

    close(pair.client);
    if (late && kept[slot])
        close(kept[slot]);
    kept[slot] = pair.server;
}

/* The client closes first, so that it waits. */
static void open_and_close(struct patient *patient)
{
    for (long i = 0; i < patient->numbers[0]; i++) {
        const struct pair pair = pair_open(patient->listener);
        close(pair.client);
        close(pair.server);
    }
}

static void begin_closed(struct patient *patient)
{
    patient->listener = tcp_listen(here(), 128);
    open_and_close(patient);
}

/* Writes to some of its connections. */
static void write_to_first(struct patient *patient)
{
    for (long i = 0; i < patient->count && i < patient->numbers[1]; i++)
        write_some(patient->clients[i], patient->numbers[2]);
}

static void begin_unread(struct patient *patient)
{
    open_pairs(patient, 1);
    write_some(*patient->clients, patient->numbers[0]);
}

/* The program that does not read has said that it will send nothing more. */
static void begin_half_closed(struct patient *patient)
{
    open_pairs(patient, 1);
    if (shutdown(*patient->servers, SHUT_WR) < 0)
        err(1, "shutdown");
    write_some(*patient->clients, patient->numbers[0]);
}

static void read_slowly(struct patient *patient)
{
    read_some(*patient->servers, patient->numbers[1]);
    write_some(*patient->clients, patient->numbers[0]);
}

/* What the other end says meanwhile. */
static void answer(struct patient *patient)
{
    write_some(*patient->servers, 1);
    read_some(*patient->clients, CHUNK);
}

/* Segments of one direction, and a small one of the other. */
static void exchange(struct patient *patient)
{
    for (long i = 0; i < patient->numbers[1]; i++) {
        write_some(*patient->clients, PIECE);
        read_some(*patient->servers, CHUNK);
    }
    answer(patient);
}

static void begin_unanswered(struct patient *patient)
{
    for (long i = 0; i < patient->numbers[0]; i++)
        connect_soon(here());
}

/* --- Descriptors ------------------------------------------------------------------------------ */

static void begin_descriptors(struct patient *patient)
{
    const rlim_t limit = (rlim_t)patient->numbers[0];
    const struct rlimit limits = {limit, limit};

    if (setrlimit(RLIMIT_NOFILE, &limits) < 0)
        err(1, "setrlimit");
    while (socket_new(AF_UNIX, SOCK_DGRAM, 0) + 1 < patient->numbers[1])
        continue;
}

/* --- Sockets without a table ------------------------------------------------------------------ */

/* Opens sockets of UDP that are not bound, and keeps them. */
static void open_unbound(struct patient *patient)
{
    for (long i = 0; i < patient->numbers[1]; i++)
        socket_new(AF_INET, SOCK_DGRAM, 0);
}

/* Pairs of unix sockets, which a table lists. */
static void begin_unix_pairs(struct patient *patient)
{
    int pair[2];

    for (long i = 0; i < patient->numbers[0]; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
            err(1, "socketpair");
}

static void begin_unbound(struct patient *patient)
{
    const rlim_t limit = (rlim_t)patient->numbers[2];
    const struct rlimit limits = {limit, limit};

    if (setrlimit(RLIMIT_NOFILE, &limits) < 0)
        err(1, "setrlimit");
    for (long i = 0; i < patient->numbers[0]; i++)
        socket_new(AF_INET, SOCK_DGRAM, 0);
}

/* Opens more until there are 500, as a pool does when it is first used. */
static void fill_pool(struct patient *patient)
{
    for (; patient->count < 500 && patient->count < patient->numbers[3]; patient->count++)
        socket_new(AF_INET, SOCK_DGRAM, 0);
    patient->numbers[3] += patient->numbers[1];
}

/* --- Which there are -------------------------------------------------------------------------- */

static const struct ailment {
    const char *name;
    const char *numbers; /* cppcheck-suppress unusedStructMember */
    void (*begin)(struct patient *patient);
    void (*again)(struct patient *patient);
} ailments[] = {
    {"backlog", "BACKLOG CONNECTIONS", begin_backlog, connect_once_more},
    {"burst", "BACKLOG CONNECTIONS", begin_backlog, accept_one},
    {"bursts", "BACKLOG CONNECTIONS", begin_bursts, burst},
    {"unix-backlog", "BACKLOG CONNECTIONS", begin_unix_backlog, accept_one},
    {"datagrams", "BUFFER COUNT IS-MULTICAST READ", begin_datagrams, read_datagrams},
    {"filtered-datagrams", "BUFFER COUNT IS-MULTICAST READ", begin_filtered, read_datagrams},
    {"closed-datagrams", "BUFFER COUNT IS-MULTICAST", begin_and_close, begin_and_close},
    {"syns", "BACKLOG COUNT WRONG-BITS-OF-CHECKSUM", begin_syns, send_syns},
    {"fragments", "COUNT", begin_fragments, send_fragments},
    {"packets6", "COUNT PROTOCOL", begin_packets6, send_packets6},
    {"bound", "CONNECTIONS", begin_bound, NULL},
    {"pairs", "CONNECTIONS WRITTEN BYTES", begin_pairs, write_to_first},
    {"unclosed", "CONNECTIONS OTHERS", begin_unclosed, NULL},
    {"leaving", "ROUNDS-UNTIL-CLOSED", begin_leaving, leave},
    {"closed", "CONNECTIONS", begin_closed, open_and_close},
    {"unread", "WRITTEN READ", begin_unread, read_slowly},
    {"half-closed", "WRITTEN READ", begin_half_closed, read_slowly},
    {"exchange", "CONNECTIONS SEGMENTS", begin_pairs, exchange},
    {"answered", "WRITTEN", begin_unread, answer},
    {"unwanted", "PACKETS", begin_unwanted, send_unwanted},
    {"unanswered", "CONNECTIONS", begin_unanswered, connect_once_more},
    {"descriptors", "LIMIT OPEN", begin_descriptors, NULL},
    {"unix-pairs", "PAIRS", begin_unix_pairs, NULL},
    {"unbound", "OPEN MORE LIMIT", begin_unbound, open_unbound},
    {"pool", "0 MORE LIMIT", begin_unbound, fill_pool},
};

static const struct ailment *ailment_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(ailments); i++)
        if (strcmp(ailments[i].name, name) == 0)
            return &ailments[i];
    errx(2, "no such ailment: %s", name);
}

/* Whether another round is wanted. */
static bool goes_on(int every)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[64];

    return poll(&input, 1, every ? every : -1) == 0 || read(STDIN_FILENO, line, sizeof line) > 0;
}

int main(int argc, char **argv)
{
    struct patient patient = {.made = 0};

    if (argc < 3 || argc > 3 + NUMBERS)
        errx(2, "usage: ailments NAME EVERY [NUMBER...]");
    syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0); /* what the shell has open */
    const struct ailment *ailment = ailment_named(argv[1]);
    for (int i = 3; i < argc; i++)
        patient.numbers[i - 3] = strtol(argv[i], NULL, 10);
    ailment->begin(&patient);
    puts("ready");
    fflush(stdout);
    while (goes_on((int)strtol(argv[2], NULL, 10)))
        if (ailment->again)
            ailment->again(&patient);
    free(patient.clients);
    free(patient.servers);
    return 0;
}
