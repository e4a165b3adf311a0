/* SPDX-License-Identifier: MIT */
/* The program that counts drops: made from types of a kernel, and run here. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "../helpers/made_drops.h"
#include "fastnet/array.h"
#include "kit.h"
#include "probes/drop/drop_program.h"
#include "processor.h"

static char bytes[MADE_BTF_MAX];

/* Returns what drop_layout_init() does. */
static int layout_of(const struct made_drops *kernel, struct drop_layout *layout)
{
    struct made_btf made = {.types = 0};
    struct btf btf;
    uint32_t cast;
    int status;

    cast = made_drops(&made, kernel);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    status = drop_layout_init(layout, &btf);
    assert_true(status || layout->cast == cast);
    btf_finish(&btf);
    return status;
}

/* --- Kernels ---------------------------------------------------------------------------------- */

static void a_kernel_without_drop_reasons_is_refused(void **state)
{
    struct made_drops kernel = made_drops_usual;
    struct drop_layout layout;

    (void)state;
    assert_int_equal(layout_of(&kernel, &layout), 0);
    assert_true(layout.has_receiver);
    kernel.without_reason = true;
    assert_int_equal(layout_of(&kernel, &layout), -ENOTSUP);
}

static void members_that_no_load_reaches_are_refused(void **state)
{
    struct made_drops kernel = made_drops_usual;
    struct drop_layout layout;

    (void)state;
    kernel.index = 40000;
    assert_int_equal(layout_of(&kernel, &layout), -ENOTSUP);
}

/* A name that is spoilt is not found: no part can be missing unnoticed. */
static void every_part_is_needed(void **state)
{
    static const char *const names[] = {"btf_trace_kfree_skb",
                                        "skb_drop_reason",
                                        "sk_buff",
                                        "dev",
                                        "sk",
                                        "skb_iif",
                                        "head",
                                        "network_header",
                                        "tail",
                                        "protocol",
                                        "ifindex",
                                        "nd_net",
                                        "net",
                                        "ns",
                                        "inum",
                                        "skc_state",
                                        "skc_net",
                                        "sk_uid",
                                        "sk_socket",
                                        "file",
                                        "f_inode",
                                        "i_ino",
                                        "__sk_common"};
    struct made_btf made = {.types = 0};
    const size_t length = (made_drops(&made, &made_drops_usual), made_bytes(&made, bytes));

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const size_t size = strlen(names[i]) + 1;
        char *at = bytes + length;
        struct drop_layout layout;
        struct btf btf;
        while (memcmp(--at, names[i], size) != 0 || at[-1] != '\0')
            ;
        *at ^= 1;
        assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
        assert_int_equal(drop_layout_init(&layout, &btf), -ENOTSUP);
        btf_finish(&btf);
        *at ^= 1;
    }
}

/* --- A packet that is dropped ----------------------------------------------------------------- */

enum { MAP = 7, KEYS = 3, REASON = 3, OBJECT = 256, DEVICE_NETNS = 0xf0000001 };

struct object {
    _Alignas(uint64_t) char bytes[OBJECT];
};

/* A socket, and the way from it to its number. */
struct made_socket {
    struct object sock, socket, file, inode, net;
};

static struct drop_table table;

struct scene {
    struct made_drops kernel;
    struct object skb, device, net;
    struct made_socket sender, receiver;
    char packet[OBJECT];
    uint64_t context[4];
    /* What the table has, from the first slot on; before them what found no slot. */
    struct drop_key keys[KEYS];
    struct drop_seen seen[KEYS];
    size_t count, last;  /* last: the number of the last slot */
    size_t casts, reads; /* calls of these functions */
    struct drop_layout layout;
    bool apart; /* UDP packets are counted by destination */
};

static void make_socket(const struct made_drops *kernel, struct made_socket *made, uint32_t uid,
                        uint64_t inode, uint32_t netns)
{
    char *sock = made->sock.bytes;

    place_u32(sock + kernel->uid, uid);
    place_pointer(sock + kernel->net, made->net.bytes);
    place_pointer(sock + kernel->socket, made->socket.bytes);
    place_pointer(made->socket.bytes + kernel->file, made->file.bytes);
    place_pointer(made->file.bytes + kernel->inode, made->inode.bytes);
    place_u64(made->inode.bytes + kernel->number, inode);
    place_u32(made->net.bytes + kernel->netns, netns);
    sock[kernel->state] = TCP_ESTABLISHED;
}

/* An IPv4 packet that came in by interface 5, for nobody; it begins 16 bytes behind the head. */
static void make_scene(struct scene *scene, const struct made_drops *kernel)
{
    char *skb;

    *scene = (struct scene){.kernel = *kernel};
    memset(&table, 0, sizeof table);
    skb = scene->skb.bytes;
    place_pointer(skb + kernel->device, scene->device.bytes);
    place_u32(skb + kernel->arrival, 5);
    place_pointer(skb + kernel->head, scene->packet);
    place_u16(skb + kernel->network, 16);
    place_u32(skb + kernel->tail, 16 + 44);
    place_u16(skb + kernel->ethertype, htons(ETH_P_IP));
    place_u32(scene->device.bytes + kernel->index, 6);
    place_pointer(scene->device.bytes + kernel->net_of_device, scene->net.bytes);
    place_u32(scene->net.bytes + kernel->netns, DEVICE_NETNS);
    make_socket(kernel, &scene->sender, 1001, 4001, 0xf0000002);
    make_socket(kernel, &scene->receiver, 1002, 4002, 0xf0000003);
    scene->packet[16] = 0x45;
    memcpy(scene->packet + 16 + 20, "\1\2\3\4", 4);
    memcpy(scene->packet + 16 + 40, "\5\6\7\10", 4);
    scene->context[0] = (uintptr_t)skb;
    scene->context[1] = 0x1234567890;
    scene->context[2] = REASON | UINT64_C(0xdead) << 32; /* what is above it means nothing */
}

static void send_from(struct scene *scene)
{
    place_pointer(scene->skb.bytes + scene->kernel.sender, scene->sender.sock.bytes);
}

static void send_to(struct scene *scene)
{
    scene->context[3] = (uintptr_t)scene->receiver.sock.bytes;
}

/* A pointer of the program: it must not be NULL, which the analyser does not know. */
static void *pointer(uint64_t address)
{
    assert_true(address >= 4096);
    return (void *)(uintptr_t)address;
}

static uint64_t call(struct processor *processor, int function)
{
    const uint64_t *arguments = processor->registers;
    struct scene *scene = processor->arg;

    if (function == -(int)scene->layout.cast && function) {
        const bool is_skb = arguments[1] == scene->context[0];
        assert_int_equal(arguments[2], is_skb ? scene->layout.of_skb : scene->layout.of_sock);
        scene->casts++;
        return arguments[1];
    }
    if (function == BPF_FUNC_probe_read_kernel) {
        memcpy(pointer(arguments[1]), pointer(arguments[3]), (size_t)arguments[2]);
        scene->reads++;
        return 0;
    }
    fail();
    return 0;
}

/* Slots that are in use have a tag and a key. */
static void look_at_table(struct scene *scene)
{
    scene->count = 1;
    scene->seen[0].count = table.head.lost;
    for (size_t i = 0; i < DROP_SLOTS; i++) {
        if (!table.slots[i].key.reason)
            continue;
        assert_true(table.head.tags[i] & DROP_TAGS && scene->count < KEYS);
        scene->last = i;
        scene->keys[scene->count] = table.slots[i].key;
        scene->seen[scene->count++] = table.slots[i].seen;
    }
}

static void drop(struct scene *scene)
{
    struct processor processor = {.call = call,
                                  .arg = scene,
                                  .map = &table,
                                  .map_size = sizeof table,
                                  .nowhere_is_zero = true};
    struct bpf_insn program[DROP_PROGRAM_MAX];
    size_t count;

    assert_int_equal(layout_of(&scene->kernel, &scene->layout), 0);
    if (scene->apart)
        memcpy(scene->layout.apart, (const uint32_t[]){REASON, 0, 71, 72, 73, 74},
               sizeof scene->layout.apart);
    count = drop_program_make(&scene->layout, NULL, NULL, MAP, program);
    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, scene->context);
    look_at_table(scene);
}

/* The second one; the first is that of zeroes. */
static const struct drop_key *only_key(const struct scene *scene)
{
    assert_int_equal(scene->count, 2);
    assert_int_equal(scene->seen[0].count, 0);
    return &scene->keys[1];
}

static void assert_key(const struct scene *scene, uint32_t netns, uint32_t uid, uint64_t inode,
                       uint32_t interface)
{
    const struct drop_key *key = only_key(scene);

    assert_int_equal(key->reason, REASON);
    assert_int_equal(key->location, 0x1234567890);
    assert_int_equal(key->netns, netns);
    assert_int_equal(key->uid, uid);
    assert_int_equal(key->inode, inode);
    assert_int_equal(key->interface, interface);
}

/* --- What it is counted for ------------------------------------------------------------------- */

static void a_packet_without_a_socket_is_one_of_its_device(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    drop(&scene);
    assert_key(&scene, DEVICE_NETNS, 0, 0, 5);
    assert_int_equal(scene.seen[1].count, 1);
    assert_int_equal(scene.casts, 2); /* a receiver is cast before the program compares it with 0 */
}

/* Linux 7 has fixed ids for the machine's first namespaces. */
static void the_id_of_the_first_namespace_is_fixed(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    place_u32(scene.net.bytes + made_drops_usual.netns, 0xeffffff9);
    drop(&scene);
    assert_key(&scene, 0xeffffff9, 0, 0, 5);
    make_scene(&scene, &made_drops_usual);
    place_u32(scene.net.bytes + made_drops_usual.netns, 0xefffffef); /* no id */
    drop(&scene);
    assert_key(&scene, 0, 0, 0, 5);
}

static void its_receiver_counts_and_not_its_sender(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    send_from(&scene);
    send_to(&scene);
    drop(&scene);
    assert_key(&scene, 0xf0000003, 1002, 4002, 5);
    assert_int_equal(scene.casts, 2);
}

/* A packet that comes in may still belong to who sent it, in another namespace. */
static void its_sender_counts_in_the_namespace_of_the_device(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    send_from(&scene);
    drop(&scene);
    assert_key(&scene, DEVICE_NETNS, 1001, 4001, 5);
}

/* Queues of sockets keep something else where the device was. */
static void a_device_that_is_none_has_no_namespace(void **state)
{
    struct scene scene;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        make_scene(&scene, &made_drops_usual);
        send_from(&scene);
        if (i)
            place_u32(scene.net.bytes + scene.kernel.netns, 0x12345678);
        else
            place_u64(scene.skb.bytes + scene.kernel.device, 0);
        drop(&scene);
        assert_key(&scene, 0xf0000002, 1001, 4001, 5);
    }
}

static void no_process_holds_a_socket_that_is_half_open_or_in_time_wait(void **state)
{
    static const char states[] = {TCP_TIME_WAIT, 12 /* TCP_NEW_SYN_RECV */};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT(states); i++) {
        make_scene(&scene, &made_drops_usual);
        send_to(&scene);
        scene.receiver.sock.bytes[scene.kernel.state] = states[i];
        drop(&scene);
        assert_key(&scene, 0xf0000003, 0, 0, 5);
    }
}

static void a_socket_without_a_file_has_a_user_only(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    send_to(&scene);
    place_u64(scene.receiver.sock.bytes + scene.kernel.socket, 0);
    drop(&scene);
    assert_key(&scene, 0xf0000003, 1002, 0, 5);
}

/* So a note about who connected can be found after the socket has ended. */
static void sockets_without_a_file_differ_by_their_cookies(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    send_from(&scene);
    place_u64(scene.sender.socket.bytes + scene.kernel.file, 0);
    for (uint64_t cookie = 98; cookie <= 99; cookie++) {
        place_u64(scene.sender.sock.bytes + MADE_COOKIE, cookie);
        drop(&scene);
        drop(&scene);
    }
    assert_int_equal(scene.count, 3);
    for (size_t i = 1; i < scene.count; i++) {
        assert_int_equal(scene.seen[i].count, 2);
        assert_int_equal(scene.keys[i].inode, 0);
    }
    assert_in_range(table.slots[scene.last].cookie, 98, 99);
}

static void a_packet_that_did_not_come_in_has_its_way_out(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    place_u32(scene.skb.bytes + scene.kernel.arrival, 0);
    drop(&scene);
    assert_key(&scene, DEVICE_NETNS, 0, 0, 6);
    assert_int_equal(scene.seen[1].received, 0);
    make_scene(&scene, &made_drops_usual);
    place_u32(scene.skb.bytes + scene.kernel.arrival, 0);
    place_u64(scene.skb.bytes + scene.kernel.device, 0);
    drop(&scene);
    assert_key(&scene, 0, 0, 0, 0);
}

static void drops_are_counted_with_any_offsets_of_members(void **state)
{
    struct made_drops kernel = made_drops_usual;
    struct scene scene;

    (void)state;
    kernel.sender = 32;
    kernel.device = 64;
    kernel.arrival = 20;
    kernel.head = 8;
    kernel.network = 18;
    kernel.tail = 36;
    kernel.ethertype = 16;
    kernel.state = 30;
    kernel.uid = 200;
    kernel.net = 56;
    kernel.socket = 192;
    kernel.file = 24;
    kernel.inode = 40;
    kernel.number = 8;
    kernel.net_of_device = 16;
    kernel.index = 8;
    kernel.netns = 200;
    make_scene(&scene, &kernel);
    send_to(&scene);
    drop(&scene);
    assert_key(&scene, 0xf0000003, 1002, 4002, 5);
    make_scene(&scene, &kernel);
    send_from(&scene);
    place_u32(scene.skb.bytes + scene.kernel.arrival, 0);
    drop(&scene);
    assert_key(&scene, DEVICE_NETNS, 1001, 4001, 6);
    assert_memory_equal(scene.seen[1].ports, "\1\2\3\4", 4);
}

/* What stands behind the arguments of the event is not looked at. */
static void an_older_kernel_has_only_the_sender(void **state)
{
    struct made_drops kernel = made_drops_usual;
    struct scene scene;

    (void)state;
    kernel.without_receiver = true;
    make_scene(&scene, &kernel);
    send_from(&scene);
    scene.context[3] = 1;
    drop(&scene);
    assert_false(scene.layout.has_receiver);
    assert_key(&scene, DEVICE_NETNS, 1001, 4001, 5);
}

static void a_kernel_that_does_not_cast_is_not_asked_to(void **state)
{
    struct made_drops kernel = made_drops_usual;
    struct scene scene;

    (void)state;
    kernel.without_cast = true;
    make_scene(&scene, &kernel);
    send_to(&scene);
    drop(&scene);
    assert_key(&scene, 0xf0000003, 1002, 4002, 5);
    assert_int_equal(scene.casts, 0);
}

/* --- How it is counted ------------------------------------------------------------------------ */

static void packets_that_were_not_dropped_are_not_counted(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    scene.context[2] = UINT64_C(1) << 32;
    drop(&scene);
    assert_int_equal(scene.count, 1);
    scene.context[2] = made_drops_usual.consumed;
    drop(&scene);
    assert_int_equal(scene.count, 1);
    scene.kernel.consumed = 0; /* before Linux 6.1 the number is that of another reason */
    drop(&scene);
    assert_int_equal(scene.count, 2);
    assert_int_equal(scene.seen[0].count, 0);
}

static void the_first_packet_of_a_key_leaves_its_headers(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    drop(&scene);
    scene.packet[17] = 9;
    drop(&scene);
    drop(&scene);
    assert_int_equal(only_key(&scene)->reason, REASON);
    assert_int_equal(scene.seen[1].count, 3);
    assert_int_equal(scene.seen[1].network[1], 0);
    assert_int_equal(scene.reads, 2);
}

static void another_reason_place_or_socket_is_another_key(void **state)
{
    struct scene scene;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        make_scene(&scene, &made_drops_usual);
        drop(&scene);
        if (i == 0)
            scene.context[2] = REASON + 1;
        else if (i == 1)
            scene.context[1]++;
        else
            send_to(&scene);
        drop(&scene);
        assert_int_equal(scene.count, 3);
        assert_int_equal(scene.seen[1].count, 1);
        assert_int_equal(scene.seen[2].count, 1);
    }
}

/* --- Destinations ----------------------------------------------------------------------------- */

enum { V4_PROTOCOL = 16 + 9, V4_SOURCE = 16 + 12, V4_TO = 16 + 16, V4_PORTS = 16 + 20 };
enum { V6_PROTOCOL = 16 + 6, V6_SOURCE = 16 + 8, V6_TO = 16 + 24, V6_PORTS = 16 + 40 };

static void make_udp(struct scene *scene, bool is_v6)
{
    make_scene(scene, &made_drops_usual);
    scene->apart = true;
    scene->packet[16] = is_v6 ? 0x60 : 0x45;
    scene->packet[is_v6 ? V6_PROTOCOL : V4_PROTOCOL] = IPPROTO_UDP;
    memcpy(scene->packet + (is_v6 ? V6_TO : V4_TO), "\357\1\2\3", 4);
}

/* Drops two packets that differ in this byte. Returns whether they are apart. */
static bool are_apart(struct scene *scene, size_t byte)
{
    drop(scene);
    scene->packet[byte]++;
    drop(scene);
    assert_int_equal(scene->seen[1].count + scene->seen[2].count, 2);
    return scene->count == 3;
}

static void udp_packets_are_counted_by_destination(void **state)
{
    static const struct {
        size_t byte;
        bool is_v6, is_apart;
    } differences[] = {
        {V4_TO, false, true},          {V4_TO + 3, false, true},     {V4_PORTS + 3, false, true},
        {V4_SOURCE, false, false},     {V4_PORTS + 1, false, false}, {V4_PORTS + 4, false, false},
        {V6_TO, true, true},           {V6_TO + 7, true, true},      {V6_TO + 8, true, true},
        {V6_TO + 15, true, true},      {V6_PORTS + 2, true, true},   {V6_PORTS + 3, true, true},
        {V6_SOURCE + 15, true, false}, {V6_PORTS, true, false},
    };
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT(differences); i++) {
        make_udp(&scene, differences[i].is_v6);
        assert_true(are_apart(&scene, differences[i].byte) == differences[i].is_apart);
        assert_int_equal(table.head.apart, differences[i].is_apart ? 2 : 1);
    }
    make_udp(&scene, false);
    scene.packet[16] = 0x46; /* with options */
    assert_true(are_apart(&scene, V4_PORTS + 4 + 3));
}

static void other_packets_are_not(void **state)
{
    struct scene scene;

    (void)state;
    for (unsigned way = 0; way < 4; way++) {
        make_udp(&scene, way == 3);
        if (way == 0)
            scene.context[2] = REASON + 1;
        else if (way == 1)
            scene.apart = false;
        else
            scene.packet[way == 2 ? V4_PROTOCOL : V6_PROTOCOL] = IPPROTO_TCP;
        assert_false(are_apart(&scene, way == 3 ? V6_TO : V4_TO));
        assert_int_equal(table.slots[scene.last].destination, 0);
        assert_int_equal(table.head.apart, 0);
    }
    make_udp(&scene, false);
    scene.packet[16] = 0x55; /* no IP */
    assert_false(are_apart(&scene, V4_TO));
    make_udp(&scene, false);
    scene.packet[16 + 7] = 1; /* a fragment that is not the first */
    assert_false(are_apart(&scene, V4_PORTS + 3));
    for (uint64_t reason = 71; reason <= 74; reason++) {
        make_udp(&scene, false);
        scene.context[2] = reason;
        assert_true(are_apart(&scene, V4_TO));
    }
}

static void destinations_beyond_the_limit_are_the_others(void **state)
{
    struct scene scene;

    (void)state;
    make_udp(&scene, false);
    table.head.apart = DROP_APART - 1;
    drop(&scene);
    assert_true(table.slots[scene.last].destination != DROP_OTHERS);
    for (int i = 0; i < 5; i++) {
        scene.packet[V4_TO]++;
        drop(&scene);
    }
    assert_int_equal(scene.count, 3);
    for (size_t i = 1; i < 3; i++)
        if (scene.seen[i].count != 1)
            assert_int_equal(scene.seen[i].count, 5);
    for (size_t i = 0; i < DROP_SLOTS; i++)
        if (table.slots[i].seen.count == 5)
            assert_int_equal(table.slots[i].destination, DROP_OTHERS);
}

static void a_slot_that_is_not_free_is_left_out(void **state)
{
    struct scene scene;
    size_t slots[DROP_TRIES] = {0};

    (void)state;
    make_scene(&scene, &made_drops_usual);
    for (size_t i = 0; i < DROP_TRIES; i++) {
        memset(&table, 0, sizeof table);
        for (size_t j = 0; j < i; j++)
            table.head.tags[slots[j]] = DROP_CLOSED;
        drop(&scene);
        slots[i] = scene.last;
        if (i)
            table.head.tags[slots[0]] = DROP_FREE; /* that comes too late for this key */
        drop(&scene);
        assert_int_equal(scene.last, slots[i]);
        assert_int_equal(scene.count, 2);
        assert_int_equal(scene.seen[1].count, 2);
    }
}

static void keys_without_a_slot_share_one_counter(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    for (size_t i = 0; i < DROP_SLOTS; i++)
        table.head.tags[i] = DROP_CLOSED;
    drop(&scene);
    scene.context[1]++;
    drop(&scene);
    assert_int_equal(scene.count, 1);
    assert_int_equal(scene.seen[0].count, 2);
}

/* Places in code are close to each other. */
static void at_least_this_number_of_keys_has_a_slot_each(void **state)
{
    struct scene scene;
    size_t used = 0;

    (void)state;
    make_scene(&scene, &made_drops_usual);
    for (size_t i = 0; i < DROP_SLOTS / 2; i++) {
        scene.context[1]++;
        drop(&scene);
        table.slots[scene.last].key.reason = 0; /* the scene has no room for them */
    }
    for (size_t i = 0; i < DROP_SLOTS; i++)
        used += table.head.tags[i] != DROP_FREE;
    assert_in_range(used, DROP_SLOTS / 2 - 20, DROP_SLOTS / 2);
    assert_int_equal(table.head.lost, DROP_SLOTS / 2 - used);
}

static void the_header_says_where_the_ports_are(void **state)
{
    static const struct {
        uint16_t ethertype;
        char first;
        const char *ports;
    } packets[] = {{ETH_P_IP, 0x45, "\1\2\3\4"},
                   {ETH_P_IP, 0x4a, "\5\6\7\10"},
                   {ETH_P_IPV6, 0x60, "\5\6\7\10"}};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT(packets); i++) {
        make_scene(&scene, &made_drops_usual);
        place_u16(scene.skb.bytes + scene.kernel.ethertype, htons(packets[i].ethertype));
        scene.packet[16] = packets[i].first;
        scene.packet[16 + 39] = 'z';
        drop(&scene);
        assert_int_equal(scene.seen[1].ethertype, htons(packets[i].ethertype));
        assert_int_equal(scene.seen[1].received, 1);
        assert_int_equal(scene.seen[1].length, 44);
        assert_memory_equal(scene.seen[1].network, scene.packet + 16, 40);
        assert_memory_equal(scene.seen[1].ports, packets[i].ports, 4);
    }
}

static void bytes_after_a_packet_are_not_read_as_its_header(void **state)
{
    static const struct {
        uint32_t tail;
        uint8_t length;
    } ends[] = {{16, 0}, {17, 1}, {10, 0}, {16 + 254, 254}, {16 + 255, 255}, {16 + 9000, 255}};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT(ends); i++) {
        make_scene(&scene, &made_drops_usual);
        place_u32(scene.skb.bytes + scene.kernel.tail, ends[i].tail);
        drop(&scene);
        assert_int_equal(scene.seen[1].length, ends[i].length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_without_drop_reasons_is_refused),
        cmocka_unit_test(members_that_no_load_reaches_are_refused),
        cmocka_unit_test(every_part_is_needed),
        cmocka_unit_test(a_packet_without_a_socket_is_one_of_its_device),
        cmocka_unit_test(the_id_of_the_first_namespace_is_fixed),
        cmocka_unit_test(its_receiver_counts_and_not_its_sender),
        cmocka_unit_test(its_sender_counts_in_the_namespace_of_the_device),
        cmocka_unit_test(a_device_that_is_none_has_no_namespace),
        cmocka_unit_test(no_process_holds_a_socket_that_is_half_open_or_in_time_wait),
        cmocka_unit_test(a_socket_without_a_file_has_a_user_only),
        cmocka_unit_test(sockets_without_a_file_differ_by_their_cookies),
        cmocka_unit_test(a_packet_that_did_not_come_in_has_its_way_out),
        cmocka_unit_test(drops_are_counted_with_any_offsets_of_members),
        cmocka_unit_test(an_older_kernel_has_only_the_sender),
        cmocka_unit_test(a_kernel_that_does_not_cast_is_not_asked_to),
        cmocka_unit_test(packets_that_were_not_dropped_are_not_counted),
        cmocka_unit_test(the_first_packet_of_a_key_leaves_its_headers),
        cmocka_unit_test(another_reason_place_or_socket_is_another_key),
        cmocka_unit_test(udp_packets_are_counted_by_destination),
        cmocka_unit_test(other_packets_are_not),
        cmocka_unit_test(destinations_beyond_the_limit_are_the_others),
        cmocka_unit_test(a_slot_that_is_not_free_is_left_out),
        cmocka_unit_test(keys_without_a_slot_share_one_counter),
        cmocka_unit_test(at_least_this_number_of_keys_has_a_slot_each),
        cmocka_unit_test(the_header_says_where_the_ports_are),
        cmocka_unit_test(bytes_after_a_packet_are_not_read_as_its_header),
    };

    return cmocka_run_group_tests_name("drop_program", tests, NULL, NULL);
}
