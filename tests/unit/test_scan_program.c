/* SPDX-License-Identifier: MIT */
/* The program that counts ports by source: made from types of a kernel, and run here. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "../helpers/made_drops.h"
#include "kit.h"
#include "probes/drop/scan_program.h"
#include "processor.h"

enum {
    DROPS_MAP = 6,
    MAP = 7,
    NO_SOCKET = 3,
    FILTERED = 8,
    OTHER_REASON = 9,
    OBJECT = 256,
    NETNS = 0xf0000001
};

static char bytes[MADE_BTF_MAX];
static struct {
    struct drop_table drops;
    struct scan_value value; /* the only value of the map of scans */
} maps;

struct object {
    _Alignas(uint64_t) char bytes[OBJECT];
};

/* A packet that came in by interface 5, and the entry of the map of scans. */
struct scene {
    struct drop_layout layout;
    struct object skb, device, net;
    char packet[OBJECT];
    uint64_t context[4];
    struct scan_key key;
    struct scan_value value;
    bool known;
    size_t updates;
};

static const struct made_drops *const kernel = &made_drops_usual;

static void make_layout(struct drop_layout *layout)
{
    struct made_btf made = {.types = 0};
    struct btf btf;

    (void)made_drops(&made, kernel);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    assert_int_equal(drop_layout_init(layout, &btf), 0);
    btf_finish(&btf);
}

/* A TCP segment with SYN from 1.2.3.4 to port `port` of 5.6.7.8. */
static void make_scene(struct scene *scene, uint16_t port)
{
    char *skb, *header;

    *scene = (struct scene){.known = false};
    memset(&maps, 0, sizeof maps);
    skb = scene->skb.bytes;
    header = scene->packet + 16;
    make_layout(&scene->layout);
    place_pointer(skb + kernel->device, scene->device.bytes);
    place_u32(skb + kernel->arrival, 5);
    place_pointer(skb + kernel->head, scene->packet);
    place_u16(skb + kernel->network, 16);
    place_u32(skb + kernel->tail, 16 + 40);
    place_u16(skb + kernel->ethertype, htons(ETH_P_IP));
    place_pointer(scene->device.bytes + kernel->net_of_device, scene->net.bytes);
    place_u32(scene->net.bytes + kernel->netns, NETNS);
    header[0] = 0x45;
    header[9] = IPPROTO_TCP;
    memcpy(header + 12, "\1\2\3\4\5\6\7\10", 8);
    place_u16(header + 20, htons(40000));
    place_u16(header + 22, htons(port));
    header[33] = TH_SYN;
    scene->context[0] = (uintptr_t)skb;
    scene->context[2] = NO_SOCKET | UINT64_C(0xdead) << 32; /* the upper half means nothing */
}

static void make_udp(struct scene *scene, uint16_t source, uint16_t port)
{
    make_scene(scene, port);
    scene->packet[16 + 9] = IPPROTO_UDP;
    place_u16(scene->packet + 16 + 20, htons(source));
    place_u32(scene->skb.bytes + kernel->tail, 16 + 28);
}

static void make_ipv6(struct scene *scene, uint16_t port)
{
    char *header = scene->packet + 16;

    make_scene(scene, port);
    memset(header, 0, 80);
    place_u16(scene->skb.bytes + kernel->ethertype, htons(ETH_P_IPV6));
    place_u32(scene->skb.bytes + kernel->tail, 16 + 60);
    header[0] = 0x60;
    header[6] = IPPROTO_TCP;
    memset(header + 8, 0xa, 16);
    memset(header + 24, 0xb, 16);
    place_u16(header + 40, htons(40000));
    place_u16(header + 42, htons(port));
    header[53] = TH_SYN;
}

static void *pointer(uint64_t address)
{
    assert_true(address >= 4096);
    return (void *)(uintptr_t)address;
}

static uint64_t call(struct processor *processor, int function)
{
    const uint64_t *arguments = processor->registers;
    struct scene *scene = processor->arg;

    if (function == -(int)scene->layout.cast)
        return arguments[1];
    if (function == BPF_FUNC_probe_read_kernel) {
        memcpy(pointer(arguments[1]), pointer(arguments[3]), (size_t)arguments[2]);
        return 0;
    }
    assert_int_equal(arguments[1], MAP);
    if (function == BPF_FUNC_map_lookup_elem)
        return scene->known && memcmp(&scene->key, pointer(arguments[2]), sizeof scene->key) == 0
                   ? (uintptr_t)&maps.value
                   : 0;
    assert_int_equal(function, BPF_FUNC_map_update_elem);
    assert_int_equal(arguments[4], BPF_NOEXIST);
    memcpy(&scene->key, pointer(arguments[2]), sizeof scene->key);
    memcpy(&maps.value, pointer(arguments[3]), sizeof maps.value);
    scene->known = true;
    scene->updates++;
    return 0;
}

static void drop(struct scene *scene)
{
    static const struct scan_part scans = {
        .no_socket = NO_SOCKET, .filtered = FILTERED, .map = MAP};
    struct processor processor = {
        .call = call, .arg = scene, .map = &maps, .map_size = sizeof maps, .nowhere_is_zero = true};
    struct bpf_insn program[DROP_PROGRAM_MAX];
    const size_t count = drop_program_make(&scene->layout, NULL, &scans, DROPS_MAP, program);

    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, scene->context);
    scene->value = maps.value;
}

static bool has_port(const struct scene *scene, unsigned port)
{
    return scene->value.ports[port % SCAN_PORT_BITS / 64] >> port % 64 & 1;
}

static void ports_of_a_source_are_counted(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, 443);
    drop(&scene);
    drop(&scene);
    place_u16(scene.packet + 16 + 22, htons(65535));
    scene.context[2] = FILTERED;
    drop(&scene);
    assert_int_equal(scene.updates, 1);
    assert_int_equal(scene.key.netns, NETNS);
    assert_int_equal(scene.key.protocol, IPPROTO_TCP);
    assert_int_equal(scene.key.what, 0);
    assert_memory_equal(scene.key.source, "\1\2\3\4\0", 5);
    assert_memory_equal(scene.key.destination, "\5\6\7\10\0", 5);
    assert_int_equal(scene.value.packets, 3);
    assert_int_equal(scene.value.filtered, 1);
    assert_int_equal(scene.value.port, 65535);
    assert_true(has_port(&scene, 443) && has_port(&scene, 65535));
    unsigned bits = 0;
    for (unsigned i = 0; i < SCAN_PORT_BITS; i++)
        bits += has_port(&scene, i);
    assert_int_equal(bits, 2);
}

/* The program counts each packet as a drop, too, whether or not it may be one of a scan. */
static void packets_are_counted_as_drops(void **state)
{
    struct scene scene;
    uint64_t count = 0;

    (void)state;
    make_scene(&scene, 443);
    drop(&scene);
    scene.context[2] = OTHER_REASON;
    drop(&scene);
    for (size_t i = 0; i < DROP_SLOTS; i++)
        count += maps.drops.slots[i].seen.count;
    assert_int_equal(count, 2);
    assert_int_equal(scene.value.packets, 1);
}

static void both_families_are_counted(void **state)
{
    struct scene scene;

    (void)state;
    make_ipv6(&scene, 22);
    drop(&scene);
    assert_int_equal(scene.value.packets, 1);
    assert_int_equal(scene.key.what, PACKET_IPV6);
    assert_int_equal(scene.key.source[15], 0xa);
    assert_int_equal(scene.key.destination[0], 0xb);
    assert_true(has_port(&scene, 22));
}

static void other_reasons_and_packets_that_go_out_do_not_count(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, 443);
    scene.context[2] = OTHER_REASON;
    drop(&scene);
    scene.context[2] = FILTERED;
    place_u32(scene.skb.bytes + kernel->arrival, 0);
    drop(&scene);
    assert_int_equal(scene.updates, 0);
    make_scene(&scene, 443);
    scene.packet[16 + 9] = IPPROTO_ICMP;
    drop(&scene);
    assert_int_equal(scene.updates, 0);
}

static void answers_of_tcp_do_not_count(void **state)
{
    static const struct {
        int flags;
        size_t counted;
    } cases[] = {{TH_SYN, 1},          {0, 1},     {TH_FIN | TH_PUSH | TH_URG, 1}, {TH_ACK, 0},
                 {TH_SYN | TH_ACK, 0}, {TH_RST, 0}};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_scene(&scene, 443);
        scene.packet[16 + 33] = (char)cases[i].flags;
        drop(&scene);
        assert_int_equal(scene.updates, cases[i].counted);
    }
}

/* Replies come from low ports, and to high ports. */
static void replies_of_udp_do_not_count(void **state)
{
    static const struct {
        uint16_t source, port;
        size_t counted;
    } cases[] = {{1024, 9999, 1}, {1023, 9999, 0}, {1024, 10000, 0}, {65535, 1, 1}, {53, 40000, 0}};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_udp(&scene, cases[i].source, cases[i].port);
        drop(&scene);
        assert_int_equal(scene.updates, cases[i].counted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_of_a_source_are_counted),
        cmocka_unit_test(packets_are_counted_as_drops),
        cmocka_unit_test(both_families_are_counted),
        cmocka_unit_test(other_reasons_and_packets_that_go_out_do_not_count),
        cmocka_unit_test(answers_of_tcp_do_not_count),
        cmocka_unit_test(replies_of_udp_do_not_count),
    };

    return cmocka_run_group_tests_name("scan_program", tests, NULL, NULL);
}
