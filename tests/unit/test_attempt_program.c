/* SPDX-License-Identifier: MIT */
/* The programs that note packets and resets of attempts to connect: made from types of a kernel,
 * and run here. What they note is decoded as the probe does it. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "../helpers/made_drops.h"
#include "doctor/rules.h"
#include "fastnet/array.h"
#include "kit.h"
#include "probes/drop/drop_decode.h"
#include "probes/drop/reset_program.h"
#include "processor.h"

enum { MAP = 7, EVENTS = 4, OBJECT = 256, HEAD = 16, PORT = 80, SYN = TH_SYN };
#define NETNS UINT32_C(0xf0000001)

static char bytes[MADE_BTF_MAX];
static struct drop_table table;

/* --- The machine ------------------------------------------------------------------------------ */

struct object {
    _Alignas(uint64_t) char bytes[OBJECT];
};

struct attempt_scene {
    struct made_drops kernel;
    struct drop_filter filter;
    struct object skb, device, net, sock, socket, file, inode, sock_net;
    char packet[OBJECT];
    size_t length; /* of the packet, which begins at HEAD */
    uint64_t context[4];
    struct drop_layout layout;
    uint64_t now;
    struct attempt_event events[EVENTS];
    size_t count;
    struct drop_names reasons;
};

static struct attempt_scene scene;

static void read_layouts(struct reset_layout *resets, int *status, bool sent)
{
    struct made_btf made = {.types = 0};
    struct btf btf;

    made_drops(&made, &scene.kernel);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    assert_int_equal(drop_layout_init(&scene.layout, &btf),
                     scene.kernel.without_reason ? -ENOTSUP : 0);
    assert_true(scene.layout.has_cookie);
    if (resets)
        *status = reset_layout_init(resets, &scene.layout, &btf, sent);
    btf_finish(&btf);
}

static int set_up(void **state)
{
    const struct made_drops *kernel = &made_drops_usual;
    char *skb = scene.skb.bytes, *sock = scene.sock.bytes;

    (void)state;
    scene = (struct attempt_scene){.kernel = *kernel,
                                   .filter = {.protocol = IPPROTO_TCP, .port = PORT, .secret = 5},
                                   .now = 1000};
    memset(&table, 0, sizeof table);
    place_pointer(skb + kernel->device, scene.device.bytes);
    place_u32(skb + kernel->arrival, 5);
    place_pointer(skb + kernel->head, scene.packet);
    place_u16(skb + kernel->network, HEAD);
    place_u32(scene.device.bytes + kernel->index, 6);
    place_pointer(scene.device.bytes + kernel->net_of_device, scene.net.bytes);
    place_u32(scene.net.bytes + kernel->netns, NETNS);
    place_pointer(sock + kernel->net, scene.sock_net.bytes);
    place_u32(scene.sock_net.bytes + kernel->netns, NETNS + 1);
    place_pointer(sock + kernel->socket, scene.socket.bytes);
    place_pointer(scene.socket.bytes + kernel->file, scene.file.bytes);
    place_pointer(scene.file.bytes + kernel->inode, scene.inode.bytes);
    place_u64(scene.inode.bytes + kernel->number, 4711);
    place_u64(sock + MADE_COOKIE, 99);
    sock[kernel->state] = TCP_SYN_SENT;
    scene.context[0] = (uintptr_t)skb;
    scene.context[1] = 0x1234567890;
    scene.context[2] = 3;
    return 0;
}

static uint64_t call(struct processor *processor, int function)
{
    const uint64_t *arguments = processor->registers;

    if (function == BPF_FUNC_ktime_get_ns)
        return scene.now++;
    if (function == -(int)scene.layout.cast)
        return arguments[1];
    assert_int_equal(function, BPF_FUNC_probe_read_kernel);
    const char *from = arguments[3] < (uintptr_t)scene.packet ? scene.sock.bytes : scene.packet;
    assert_true(arguments[3] >= (uintptr_t)from &&
                arguments[3] + arguments[2] <= (uintptr_t)from + OBJECT);
    memcpy((void *)(uintptr_t)arguments[1], (const void *)(uintptr_t)arguments[3],
           (size_t)arguments[2]);
    return 0;
}

static void run(const struct bpf_insn *program, size_t count)
{
    struct processor processor = {
        .call = call, .map = &table, .map_size = sizeof table, .nowhere_is_zero = true};

    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, scene.context);
    scene.count = 0;
    for (size_t i = 0; i < DROP_SLOTS; i++)
        if (table.head.tags[i] > DROP_CLOSED && scene.count < EVENTS)
            attempt_decode(&table.slots[i], &scene.events[scene.count++]);
}

/* Returns the number of events in the table. */
static size_t drop(void)
{
    struct bpf_insn program[DROP_PROGRAM_MAX];

    place_u32(scene.skb.bytes + scene.kernel.tail, (uint32_t)(HEAD + scene.length));
    read_layouts(NULL, NULL, false);
    run(program, drop_program_make(&scene.layout, &scene.filter, NULL, MAP, program));
    return scene.count;
}

static size_t reset(bool sent)
{
    struct bpf_insn program[DROP_PROGRAM_MAX];
    struct reset_layout layout;
    int status;

    place_u32(scene.skb.bytes + scene.kernel.tail, (uint32_t)(HEAD + scene.length));
    read_layouts(&layout, &status, sent);
    assert_int_equal(status, 0);
    run(program, reset_program_make(&layout, &scene.layout, &scene.filter, sent, MAP, program));
    return scene.count;
}

/* --- Packets ---------------------------------------------------------------------------------- */

static char *put_bytes(const void *data, size_t size)
{
    char *at = scene.packet + HEAD + scene.length;

    memcpy(at, data, size);
    scene.length += size;
    return at;
}

/* From 10.0.0.1 to 10.0.0.2. */
static void put_v4(uint8_t protocol)
{
    const uint8_t header[20] = {0x45, [9] = protocol, [12] = 10, 0, 0, 1, 10, 0, 0, 2};

    place_u16(scene.skb.bytes + scene.kernel.ethertype, htons(ETH_P_IP));
    put_bytes(header, sizeof header);
}

/* From fd00::1 to fd00::2. */
static void put_v6(uint8_t next)
{
    const uint8_t header[40] = {0x60, [6] = next, [8] = 0xfd, [23] = 1, [24] = 0xfd, [39] = 2};

    place_u16(scene.skb.bytes + scene.kernel.ethertype, htons(ETH_P_IPV6));
    put_bytes(header, sizeof header);
}

static void put_tcp(uint16_t from, uint16_t to, uint8_t flags)
{
    const uint8_t header[20] = {(uint8_t)(from >> 8), (uint8_t)from, (uint8_t)(to >> 8),
                                (uint8_t)to, [13] = flags};

    put_bytes(header, sizeof header);
}

static void put_udp(uint16_t from, uint16_t to)
{
    const uint8_t header[8] = {(uint8_t)(from >> 8), (uint8_t)from, (uint8_t)(to >> 8),
                               (uint8_t)to};

    put_bytes(header, sizeof header);
}

static void put_icmp(uint8_t type)
{
    put_bytes((const uint8_t[8]){type}, 8);
}

static void assert_ends(const struct attempt_event *event, const char *source,
                        const char *destination)
{
    char text[ENDPOINT_TEXT];

    assert_string_equal(endpoint_text(text, &event->source), source);
    assert_string_equal(endpoint_text(text, &event->destination), destination);
}

/* --- Which packets are noted ------------------------------------------------------------------ */

static void a_syn_is_noted_with_all_that_is_known(void **state)
{
    const struct attempt_event *event = scene.events;

    (void)state;
    put_v4(IPPROTO_TCP);
    put_tcp(4660, 81, SYN);
    place_pointer(scene.skb.bytes + scene.kernel.sender, scene.sock.bytes);
    assert_int_equal(drop(), 1);
    assert_ends(event, "10.0.0.1:4660", "10.0.0.2:81");
    assert_int_equal(event->type, ATTEMPT_DROP);
    assert_int_equal(event->protocol, IPPROTO_TCP);
    assert_int_equal(event->flags, SYN);
    assert_false(event->of_icmp);
    assert_int_equal(event->count, 1);
    assert_int_equal(event->first, 1000);
    assert_int_equal(event->netns, NETNS);
    assert_int_equal(event->interface, 5);
    assert_int_equal(event->cookie, 99);
    assert_int_equal(event->inode, 4711);
}

static void a_packet_of_ipv6_is_noted_too(void **state)
{
    (void)state;
    put_v6(IPPROTO_TCP);
    put_tcp(4660, 81, SYN);
    assert_int_equal(drop(), 1);
    assert_ends(scene.events, "[fd00::1]:4660", "[fd00::2]:81");
    assert_int_equal(scene.events[0].cookie, 0);
    assert_int_equal(scene.events[0].inode, 0);
}

static void flags_or_the_port_decide(void **state)
{
    static const struct {
        uint16_t from, to;
        uint8_t flags;
        bool noted;
    } packets[] = {
        {1, 2, SYN, true},
        {1, 2, SYN | TH_ACK, true},
        {PORT, 2, TH_RST, true},
        {1, 2, TH_ACK, false},
        {1, 2, TH_FIN, false},
        {1, 2, TH_RST, false},
        {1, PORT, TH_ACK, true},
        {PORT, 1, TH_PUSH, true},
        {1, 0x5000, TH_ACK, false} /* the port's bytes reversed */,
        {0x5000, 1, TH_ACK, false},
    };

    for (size_t i = 0; i < COUNT(packets); i++) {
        set_up(state);
        put_v4(IPPROTO_TCP);
        put_tcp(packets[i].from, packets[i].to, packets[i].flags);
        assert_int_equal(drop(), packets[i].noted);
    }
}

static void udp_is_noted_by_its_port(void **state)
{
    static const uint16_t ports[] = {81, PORT};

    for (size_t i = 0; i < COUNT(ports); i++) {
        set_up(state);
        scene.filter.protocol = IPPROTO_UDP;
        put_v4(IPPROTO_UDP);
        put_udp(4660, ports[i]);
        put_bytes("\377\377\377\377\377\377\377\377", 8); /* no flags of TCP */
        assert_int_equal(drop(), i);
    }
    assert_ends(scene.events, "10.0.0.1:4660", "10.0.0.2:80");
    assert_int_equal(scene.events[0].flags, 0);
    set_up(state);
    scene.filter.protocol = IPPROTO_UDP;
    put_v4(IPPROTO_TCP);
    put_tcp(4660, PORT, SYN);
    assert_int_equal(drop(), 0);
}

static void an_icmp_error_counts_for_the_packet_that_it_quotes(void **state)
{
    static const struct {
        uint8_t type;
        bool v6, noted;
        uint8_t flags;
    } messages[] = {
        {3, false, true, SYN},  {11, false, true, SYN}, {12, false, true, SYN},
        {0, false, false, SYN}, {8, false, false, SYN}, {3, false, false, TH_ACK},
        {1, true, true, SYN},   {2, true, true, SYN},   {4, true, true, SYN},
        {0, true, false, SYN},  {5, true, false, SYN},  {128, true, false, SYN},
    };

    for (size_t i = 0; i < COUNT(messages); i++) {
        const bool v6 = messages[i].v6;
        set_up(state);
        if (v6)
            put_v6(IPPROTO_ICMPV6);
        else
            put_v4(IPPROTO_ICMP);
        put_icmp(messages[i].type);
        if (v6)
            put_v6(IPPROTO_TCP);
        else
            put_v4(IPPROTO_TCP);
        put_tcp(4660, 81, messages[i].flags);
        assert_int_equal(drop(), messages[i].noted);
        if (!messages[i].noted)
            continue;
        assert_true(scene.events[0].of_icmp);
        assert_int_equal(scene.events[0].protocol, IPPROTO_TCP);
        assert_ends(scene.events, v6 ? "[fd00::1]:4660" : "10.0.0.1:4660",
                    v6 ? "[fd00::2]:81" : "10.0.0.2:81");
    }
}

static void an_icmp_error_about_an_icmp_error_is_left_out(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        put_v4(IPPROTO_ICMP);
        put_icmp(3);
    }
    put_v4(IPPROTO_TCP);
    put_tcp(4660, PORT, SYN);
    assert_int_equal(drop(), 0);
}

static void an_icmp_error_may_quote_only_the_ports(void **state)
{
    (void)state;
    put_v4(IPPROTO_ICMP);
    put_icmp(3);
    put_v4(IPPROTO_TCP);
    put_tcp(4660, PORT, SYN);
    scene.length -= 12;
    assert_int_equal(drop(), 1);
    assert_ends(scene.events, "10.0.0.1:4660", "10.0.0.2:80");
    assert_int_equal(scene.events[0].flags, 0); /* these bytes are not of the packet */
}

static void a_packet_that_ends_before_its_ports_is_left_out(void **state)
{
    (void)state;
    put_v4(IPPROTO_TCP);
    put_tcp(4660, PORT, SYN);
    scene.length -= 17;
    assert_int_equal(drop(), 0);
    scene.length++;
    assert_int_equal(drop(), 1);
}

static void options_of_ipv4_are_skipped(void **state)
{
    (void)state;
    put_v4(IPPROTO_TCP);
    scene.packet[HEAD] = 0x47;
    put_bytes("\1\1\1\1\1\1\1\1", 8);
    put_tcp(4660, 81, SYN);
    assert_int_equal(drop(), 1);
    assert_ends(scene.events, "10.0.0.1:4660", "10.0.0.2:81");
}

static void only_the_first_fragment_has_ports(void **state)
{
    for (int later = 0; later < 2; later++) {
        set_up(state);
        put_v4(IPPROTO_TCP);
        scene.packet[HEAD + 6] = 0x20; /* more fragments follow */
        scene.packet[HEAD + 7] = (char)later;
        put_tcp(4660, 81, SYN);
        assert_int_equal(drop(), !later);
        set_up(state);
        put_v6(IPPROTO_FRAGMENT);
        put_bytes((const uint8_t[8]){IPPROTO_TCP, 99 /* reserved */, 0, (uint8_t)(later << 3 | 1)},
                  8);
        put_tcp(4660, 81, SYN);
        assert_int_equal(drop(), !later);
    }
}

static void a_few_extension_headers_of_ipv6_are_skipped(void **state)
{
    static const uint8_t chain[] = {IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_DSTOPTS,
                                    IPPROTO_DSTOPTS};

    for (size_t count = 0; count <= COUNT(chain); count++) {
        set_up(state);
        put_v6(count ? chain[0] : IPPROTO_TCP);
        for (size_t i = 0; i < count; i++) {
            const uint8_t next = i + 1 < count ? chain[i + 1] : IPPROTO_TCP;
            put_bytes((const uint8_t[16]){next, i == 1}, i == 1 ? 16 : 8);
        }
        put_tcp(4660, 81, SYN);
        assert_int_equal(drop(), count <= 3);
        if (count <= 3)
            assert_ends(scene.events, "[fd00::1]:4660", "[fd00::2]:81");
    }
}

static void a_vlan_tag_may_come_before_ip(void **state)
{
    static const struct {
        uint16_t tag, before;
        bool noted;
    } packets[] = {{ETH_P_8021Q, ETH_P_IP, true},   {ETH_P_8021AD, ETH_P_IP, true},
                   {ETH_P_8021Q, ETH_P_ARP, false}, {ETH_P_8021Q, ETH_P_8021Q, false},
                   {ETH_P_ARP, ETH_P_IP, false},    {0, ETH_P_IP, false}};

    for (size_t i = 0; i < COUNT(packets); i++) {
        set_up(state);
        put_v4(IPPROTO_TCP);
        put_tcp(4660, 81, SYN);
        place_u16(scene.skb.bytes + scene.kernel.ethertype, htons(packets[i].tag));
        place_u16(scene.packet + HEAD - 2, htons(packets[i].before));
        assert_int_equal(drop(), packets[i].noted);
    }
}

static void packets_that_were_not_dropped_are_not_noted(void **state)
{
    (void)state;
    put_v4(IPPROTO_TCP);
    put_tcp(4660, PORT, SYN);
    scene.context[2] = scene.kernel.consumed;
    assert_int_equal(drop(), 0);
}

/* --- Which packets are one event -------------------------------------------------------------- */

static void equal_packets_are_one_event(void **state)
{
    (void)state;
    put_v4(IPPROTO_TCP);
    put_tcp(4660, PORT, SYN);
    drop();
    drop();
    assert_int_equal(drop(), 1);
    assert_int_equal(scene.events[0].count, 3);
    assert_int_equal(scene.events[0].first, 1000);
}

static void another_address_port_flag_or_place_is_another_event(void **state)
{
    enum { SOURCE = HEAD + 15, FROM = HEAD + 21, FLAGS = HEAD + 33, WAYS = 5 };

    for (int way = 0; way < WAYS; way++) {
        set_up(state);
        put_v4(IPPROTO_TCP);
        put_tcp(4660, PORT, SYN);
        assert_int_equal(drop(), 1);
        if (way == 0)
            scene.packet[SOURCE]++;
        else if (way == 1)
            scene.packet[FROM]++;
        else if (way == 2)
            scene.packet[FLAGS] |= TH_ACK;
        else
            scene.context[way - 2]++;
        assert_int_equal(drop(), 2);
        assert_int_equal(scene.events[0].count, 1);
        assert_int_equal(scene.events[1].count, 1);
    }
}

static void events_without_a_slot_are_counted(void **state)
{
    (void)state;
    put_v4(IPPROTO_TCP);
    put_tcp(4660, PORT, SYN);
    for (size_t i = 0; i < DROP_SLOTS; i++)
        table.head.tags[i] = DROP_CLOSED;
    assert_int_equal(drop(), 0);
    assert_int_equal(table.head.lost, 1);
}

/* Otherwise a sender of packets could choose ports that hide other packets. */
static void the_secret_chooses_the_slot(void **state)
{
    uint64_t tags[2] = {0};

    for (uint64_t i = 0; i < 2; i++) {
        set_up(state);
        scene.filter.secret = i;
        put_v4(IPPROTO_TCP);
        put_tcp(4660, PORT, SYN);
        assert_int_equal(drop(), 1);
        for (size_t slot = 0; slot < DROP_SLOTS; slot++)
            tags[i] |= table.head.tags[slot];
    }
    assert_true(tags[0] != tags[1]);
}

/* --- Resets ----------------------------------------------------------------------------------- */

/* The end of the socket: 10.0.0.2 port PORT, or fd00::2; its peer is port 4660. */
static void place_ends(bool v6)
{
    char *sock = scene.sock.bytes;

    place_u16(sock + MADE_FAMILY, v6 ? AF_INET6 : AF_INET);
    place_u16(sock + MADE_LOCAL_PORT, htons(PORT));
    place_u16(sock + MADE_REMOTE_PORT, htons(4660));
    memcpy(sock + MADE_LOCAL_V4, "\12\0\0\2", 4);
    memcpy(sock + MADE_REMOTE_V4, "\12\0\0\1", 4);
    memset(sock + MADE_REMOTE_V6, 0, 32);
    sock[MADE_LOCAL_V6] = sock[MADE_REMOTE_V6] = (char)0xfd;
    sock[MADE_LOCAL_V6 + 15] = 2;
    sock[MADE_REMOTE_V6 + 15] = 1;
}

/* Arguments: socket, packet, reason. */
static void place_reset(const void *sock, const void *skb, unsigned reason)
{
    scene.context[0] = (uintptr_t)sock;
    scene.context[1] = (uintptr_t)skb;
    scene.context[2] = reason | UINT64_C(0xdead) << 32;
}

static void a_reset_that_answers_a_packet_goes_to_its_source(void **state)
{
    for (int v6 = 0; v6 < 2; v6++) {
        set_up(state);
        if (v6)
            put_v6(IPPROTO_TCP);
        else
            put_v4(IPPROTO_TCP);
        put_tcp(4660, 8080, SYN);
        place_reset(NULL, scene.skb.bytes, 1);
        assert_int_equal(reset(true), 1);
        assert_int_equal(scene.events[0].type, ATTEMPT_RESET_SENT);
        assert_ends(scene.events, v6 ? "[fd00::2]:8080" : "10.0.0.2:8080",
                    v6 ? "[fd00::1]:4660" : "10.0.0.1:4660");
        assert_int_equal(scene.events[0].flags, SYN);
        assert_int_equal(scene.events[0].netns, NETNS);
        assert_int_equal(scene.events[0].interface, 5);
        assert_int_equal(scene.events[0].inode, 0);
        set_up(state);
        scene.sock.bytes[made_drops_usual.state] = TCP_TIME_WAIT; /* a smaller struct */
        put_v4(IPPROTO_TCP);
        put_tcp(4660, PORT, TH_ACK);
        place_reset(scene.sock.bytes, scene.skb.bytes, 1);
        assert_int_equal(reset(true), 1);
        assert_int_equal(scene.events[0].netns, NETNS + 1);
        assert_int_equal(scene.events[0].cookie, 99);
        assert_int_equal(scene.events[0].inode, 0);
    }
}

static void a_reset_of_a_socket_itself_has_the_ends_of_the_socket(void **state)
{
    for (int way = 0; way < 8; way++) {
        const bool v6 = way & 1, sent = way & 2;
        set_up(state);
        scene.kernel.without_answered = way & 4;
        place_ends(v6);
        place_reset(scene.sock.bytes, NULL, 1);
        assert_int_equal(reset(sent), 1);
        assert_int_equal(scene.events[0].type, sent ? ATTEMPT_RESET_SENT : ATTEMPT_RESET_RECEIVED);
        assert_int_equal(scene.events[0].protocol, IPPROTO_TCP);
        assert_int_equal(scene.events[0].flags, 0);
        assert_ends(scene.events,
                    v6 ? (sent ? "[fd00::2]:80" : "[fd00::1]:4660")
                       : (sent ? "10.0.0.2:80" : "10.0.0.1:4660"),
                    v6 ? (sent ? "[fd00::1]:4660" : "[fd00::2]:80")
                       : (sent ? "10.0.0.1:4660" : "10.0.0.2:80"));
        assert_int_equal(scene.events[0].netns, NETNS + 1);
        assert_int_equal(scene.events[0].inode, 4711);
        assert_int_equal(scene.events[0].cookie, 99);
    }
}

static void ends_of_ipv4_in_ipv6_are_those_of_ipv4(void **state)
{
    char *sock = scene.sock.bytes;

    (void)state;
    place_ends(true);
    memcpy(sock + MADE_LOCAL_V6, "\0\0\0\0\0\0\0\0\0\0\377\377\12\0\0\2", 16);
    memcpy(sock + MADE_REMOTE_V6, "\0\0\0\0\0\0\0\0\0\0\377\377\12\0\0\1", 16);
    place_reset(sock, NULL, 1);
    assert_int_equal(reset(true), 1);
    assert_ends(scene.events, "10.0.0.2:80", "10.0.0.1:4660");
    assert_int_equal(scene.events[0].source.address.family, AF_INET);
}

static void a_reset_of_nothing_is_not_noted(void **state)
{
    (void)state;
    place_reset(NULL, NULL, 1);
    assert_int_equal(reset(true), 0);
}

static void resets_of_other_ports_are_not_noted(void **state)
{
    (void)state;
    place_ends(false);
    place_u16(scene.sock.bytes + MADE_LOCAL_PORT, htons(81));
    place_reset(scene.sock.bytes, NULL, 1);
    assert_int_equal(reset(true), 0);
    assert_int_equal(reset(false), 0);
    put_v4(IPPROTO_TCP);
    put_tcp(4660, 81, TH_ACK);
    place_reset(NULL, scene.skb.bytes, 1);
    assert_int_equal(reset(true), 0);
}

static void another_reason_is_another_reset(void **state)
{
    (void)state;
    place_ends(false);
    place_reset(scene.sock.bytes, NULL, 1);
    assert_int_equal(reset(true), 1);
    place_reset(scene.sock.bytes, NULL, 0);
    assert_int_equal(reset(true), 2);
}

/* --- Kernels ---------------------------------------------------------------------------------- */

static void a_kernel_without_these_events_is_refused(void **state)
{
    struct reset_layout layout;
    int status;

    (void)state;
    read_layouts(&layout, &status, true);
    assert_int_equal(status, 0);
    assert_true(layout.has_skb && layout.reasons);
    scene.kernel.without_answered = true;
    read_layouts(&layout, &status, true);
    assert_int_equal(status, 0);
    assert_false(layout.has_skb || layout.reasons);
    scene.kernel.without_resets = true;
    for (int sent = 0; sent < 2; sent++) {
        read_layouts(&layout, &status, sent);
        assert_int_equal(status, -ENOTSUP);
    }
}

static void resets_are_noted_where_drops_have_no_reasons(void **state)
{
    (void)state;
    scene.kernel.without_reason = true;
    place_ends(false);
    place_reset(scene.sock.bytes, NULL, 1);
    assert_int_equal(reset(true), 1);
    assert_int_equal(reset(false), 2);
}

static void reasons_of_resets_have_names(void **state)
{
    struct drop_names names = {.list = NULL};
    struct made_btf made = {.types = 0};
    struct btf btf;

    (void)state;
    made_drops(&made, &made_drops_usual);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    assert_int_equal(
        drop_names_add(&names, &btf, btf_find(&btf, BTF_ENUM, "sk_rst_reason"), RESET_REASONS), 0);
    btf_finish(&btf);
    assert_int_equal(names.count, 2);
    assert_string_equal(drop_names_find(&names, 1), "NO_SOCKET");
    assert_null(drop_names_find(&names, 2));
    free(names.list);
}

static void only_reasons_of_resets_have_such_names(void **state)
{
    static const struct {
        const char *name;
        int value;
    } values[] = {{"SK_RST_REASON_NO_SOCKET", 5}, {"SK_RST_REASON_NEGATIVE", -1},
                  {"ANOTHER_PREFIX_A", 8},        {"SK_RST_REASON_", 9},
                  {"SK_RST_REASON_MAX", 10},      {"SK_RST_REASON_A_LATER_REASON", 63}};
    struct drop_names names = {.list = NULL};
    struct made_btf made = {.types = 0};
    struct btf btf;

    (void)state;
    made_type(&made, "sk_rst_reason", BTF_ENUM, COUNT(values), 4);
    for (size_t i = 0; i < COUNT(values); i++)
        made_pair(&made, values[i].name, (uint32_t)values[i].value);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    assert_int_equal(drop_names_add(&names, &btf, 0, RESET_REASONS), 0);
    assert_int_equal(names.count, 0); /* a kernel without reasons */
    assert_int_equal(
        drop_names_add(&names, &btf, btf_find(&btf, BTF_ENUM, "sk_rst_reason"), RESET_REASONS), 0);
    btf_finish(&btf);
    assert_int_equal(names.count, 2);
    assert_string_equal(drop_names_find(&names, 5), "NO_SOCKET");
    assert_string_equal(drop_names_find(&names, 63), "A_LATER_REASON");
    free(names.list);
}

#define IN_SCENE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCENE(a_syn_is_noted_with_all_that_is_known),
        IN_SCENE(a_packet_of_ipv6_is_noted_too),
        IN_SCENE(flags_or_the_port_decide),
        IN_SCENE(udp_is_noted_by_its_port),
        IN_SCENE(an_icmp_error_counts_for_the_packet_that_it_quotes),
        IN_SCENE(an_icmp_error_about_an_icmp_error_is_left_out),
        IN_SCENE(an_icmp_error_may_quote_only_the_ports),
        IN_SCENE(a_packet_that_ends_before_its_ports_is_left_out),
        IN_SCENE(options_of_ipv4_are_skipped),
        IN_SCENE(only_the_first_fragment_has_ports),
        IN_SCENE(a_few_extension_headers_of_ipv6_are_skipped),
        IN_SCENE(a_vlan_tag_may_come_before_ip),
        IN_SCENE(packets_that_were_not_dropped_are_not_noted),
        IN_SCENE(equal_packets_are_one_event),
        IN_SCENE(another_address_port_flag_or_place_is_another_event),
        IN_SCENE(events_without_a_slot_are_counted),
        IN_SCENE(the_secret_chooses_the_slot),
        IN_SCENE(a_reset_that_answers_a_packet_goes_to_its_source),
        IN_SCENE(a_reset_of_a_socket_itself_has_the_ends_of_the_socket),
        IN_SCENE(ends_of_ipv4_in_ipv6_are_those_of_ipv4),
        IN_SCENE(a_reset_of_nothing_is_not_noted),
        IN_SCENE(resets_of_other_ports_are_not_noted),
        IN_SCENE(another_reason_is_another_reset),
        IN_SCENE(a_kernel_without_these_events_is_refused),
        IN_SCENE(resets_are_noted_where_drops_have_no_reasons),
        IN_SCENE(reasons_of_resets_have_names),
        IN_SCENE(only_reasons_of_resets_have_such_names),
    };

    return cmocka_run_group_tests_name("attempt_program", tests, NULL, NULL);
}
