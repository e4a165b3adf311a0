/* SPDX-License-Identifier: MIT */
/* The kernel runs this program for each packet that it drops. To be short, it reads headers only
 * from the first packet of a key, or where the key has a destination. */
#include "probes/drop/drop_program.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "fastnet/array.h"
#include "fastnet/bpf_assembly.h"
#include "fastnet/kernel_types.h"
#include "probes/drop/drop_parts.h"
#include "probes/drop/scan_program.h"

/* --- The kernel's structs --------------------------------------------------------------------- */

enum { SKB_DROP_NONE = 0 /* SKB_NOT_DROPPED_YET is 0 in every kernel */ };

static bool points_to_nothing(const struct btf *btf, uint32_t id)
{
    struct btf_type pointer, type;

    return btf_resolve(btf, id, &pointer) && pointer.kind == BTF_POINTER &&
           (!pointer.type || (btf_resolve(btf, pointer.type, &type) && type.kind == BTF_VOID));
}

/* Finds the tracepoint's parameters by their types, because BTF lacks their names. The first
 * parameter is not in the context, because it is no argument of the tracepoint. */
static bool find_parameters(const struct btf *btf, struct drop_layout *layout)
{
    struct btf_type prototype, type;
    bool has_location = false;

    if (!btf_resolve(btf, kernel_pointed_to(btf, layout->tracepoint), &prototype) ||
        prototype.kind != BTF_PROTOTYPE)
        return false;
    for (uint32_t i = 1; i < prototype.count; i++) {
        const struct kernel_member member = {.offset = (int16_t)(8 * (i - 1)), .size = BPF_DW};
        struct btf_parameter parameter;
        if (!btf_parameter(btf, &prototype, i, &parameter))
            return false;
        if (kernel_points_to(btf, parameter.type, "sk_buff")) {
            layout->skb = member;
            layout->of_skb = kernel_pointed_to(btf, parameter.type);
        } else if (points_to_nothing(btf, parameter.type)) {
            layout->location = member;
            has_location = true;
        } else if (kernel_points_to(btf, parameter.type, "sock")) {
            layout->receiver = member;
            layout->has_receiver = true;
        } else if (btf_resolve(btf, parameter.type, &type) && type.kind == BTF_ENUM &&
                   text_is(type.name, "skb_drop_reason")) {
            layout->reason = member;
            layout->reasons = parameter.type;
        }
    }
    return layout->of_skb && has_location;
}

/* Finds a member that is a pointer, and the type that it points to. */
static bool drop_program_follow(const struct btf *btf, uint32_t type, const char *path,
                                struct kernel_member *member, uint32_t *to)
{
    uint32_t its_type;

    return kernel_path_find(btf, type, path, member, &its_type) && member->size == BPF_DW &&
           (*to = kernel_pointed_to(btf, its_type));
}

#define WANTED(...) WANTED_FOR(struct drop_layout, __VA_ARGS__)

/* Follows pointers from struct to struct: a search by name would go through all types. */
static bool find_members(const struct btf *btf, struct drop_layout *layout)
{
    static const struct wanted_member of_skb[] = {
        WANTED("skb_iif", arrival, BPF_W),        WANTED("head", head, BPF_DW),
        WANTED("network_header", network, BPF_H), WANTED("tail", tail, BPF_W),
        WANTED("protocol", ethertype, BPF_H),
    };
    static const struct wanted_member of_sock[] = {
        WANTED("__sk_common.skc_state", state, BPF_B),
        WANTED("sk_uid", uid, BPF_W),
    };
    static const struct wanted_member of_device[] = {WANTED("ifindex", index, BPF_W)};
    static const struct wanted_member of_net[] = {WANTED("ns.inum", netns, BPF_W)};
    static const struct wanted_member of_inode[] = {WANTED("i_ino", number, BPF_DW)};
    uint32_t device, net, socket, file, inode;

    return kernel_members_find(btf, layout->of_skb, of_skb, COUNT(of_skb), layout) &&
           drop_program_follow(btf, layout->of_skb, "sk", &layout->sender, &layout->of_sock) &&
           drop_program_follow(btf, layout->of_skb, "dev", &layout->device, &device) &&
           kernel_members_find(btf, device, of_device, COUNT(of_device), layout) &&
           drop_program_follow(btf, device, "nd_net.net", &layout->net_of_device, &net) &&
           kernel_members_find(btf, net, of_net, COUNT(of_net), layout) &&
           kernel_members_find(btf, layout->of_sock, of_sock, COUNT(of_sock), layout) &&
           drop_program_follow(btf, layout->of_sock, "__sk_common.skc_net.net", &layout->net,
                               &net) &&
           drop_program_follow(btf, layout->of_sock, "sk_socket", &layout->socket, &socket) &&
           drop_program_follow(btf, socket, "file", &layout->file, &file) &&
           drop_program_follow(btf, file, "f_inode", &layout->inode, &inode) &&
           kernel_members_find(btf, inode, of_inode, COUNT(of_inode), layout);
}

int drop_layout_init(struct drop_layout *layout, const struct btf *btf)
{
    struct btf_type reasons;
    struct btf_enumerator one;

    *layout = (struct drop_layout){.tracepoint = btf_find(btf, BTF_TYPEDEF, "btf_trace_kfree_skb")};
    if (!layout->tracepoint || !find_parameters(btf, layout) || !find_members(btf, layout)) {
        layout->of_sock = 0;
        return -ENOTSUP;
    }
    layout->cast = btf_find(btf, BTF_FUNCTION, "bpf_rdonly_cast");
    layout->has_cookie = kernel_path_find(btf, layout->of_sock, "__sk_common.skc_cookie.counter",
                                          &layout->cookie, NULL);
    if (!layout->reasons || !btf_resolve(btf, layout->reasons, &reasons))
        return -ENOTSUP;
    /* before Linux 6.1 SKB_CONSUMED does not exist: consumed packets do not come here */
    layout->consumed = SKB_DROP_NONE;
    for (uint32_t i = 0; i < reasons.count; i++)
        if (btf_enumerator(btf, &reasons, i, &one) && text_is(one.name, "SKB_CONSUMED"))
            layout->consumed = (uint32_t)one.value;
    return 0;
}

/* --- The program ------------------------------------------------------------------------------ */

_Static_assert(sizeof(struct drop_key) == 32, "the key has no padding");
_Static_assert(offsetof(struct drop_slot, key) == sizeof(struct drop_seen) &&
                   offsetof(struct drop_slot, packet) == PACKET - SEEN,
               "same layout on the stack");
_Static_assert(!offsetof(struct drop_slot, seen.count),
               "the counter of lost packets has the offset of a slot's counter");
_Static_assert(DROP_PAGE % sizeof(struct drop_slot) == 0 &&
                   offsetof(struct drop_table, slots) % DROP_PAGE == 0,
               "whole pages can be mapped");

void drop_put_argument(struct assembly *to, unsigned into, struct kernel_member argument,
                       uint32_t type, uint32_t cast)
{
    assembly_load(to, BPF_FIRST, CONTEXT, argument);
    assembly_cast(to, into, BPF_FIRST, type, cast);
}

/* Stores reason and location in the key, and loads the packet into SKB. Ends the program if the
 * packet was not dropped, or was consumed. */
static void put_reason(struct assembly *to, const struct drop_layout *layout)
{
    assembly_load(to, REASON, CONTEXT, layout->reason);
    assembly_number(to, BPF_LSH, REASON, 32); /* the upper half is undefined */
    assembly_number(to, BPF_RSH, REASON, 32);
    assembly_end_if(to, BPF_JEQ, REASON, SKB_DROP_NONE);
    assembly_end_if(to, BPF_JEQ, REASON, (int)layout->consumed);
    assembly_store_zeroes(to, KEY, sizeof(struct drop_key) + SECOND_SIZE);
    assembly_store(to, REASON, KEY_AT(reason), BPF_W);
    assembly_copy(to, CONTEXT, layout->location, KEY_AT(location));
    drop_put_argument(to, SKB, layout->skb, layout->of_skb, layout->cast);
}

/* Sockets of half-open connections and in TIME_WAIT are smaller structs: they have only the first
 * members of struct sock, and no process holds them. */
void drop_put_socket(struct assembly *to, const struct drop_layout *layout, int cookie_at)
{
    size_t is_waiting, is_half_open;

    assembly_load(to, BPF_FIRST, OTHER, layout->net);
    assembly_copy(to, BPF_FIRST, layout->netns, KEY_AT(netns));
    if (layout->has_cookie)
        assembly_copy(to, OTHER, layout->cookie, cookie_at);
    assembly_load(to, BPF_FIRST, OTHER, layout->state);
    is_waiting = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, TCP_TIME_WAIT);
    is_half_open = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, 12 /* TCP_NEW_SYN_RECV */);
    assembly_copy(to, OTHER, layout->uid, KEY_AT(uid));
    assembly_load(to, BPF_FIRST, OTHER, layout->socket);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->file);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->inode);
    assembly_copy(to, BPF_FIRST, layout->number, KEY_AT(inode));
    assembly_land(to, is_waiting);
    assembly_land(to, is_half_open);
}

/* Until IP takes it, a packet that came in belongs to the socket of its sender, which may be in
 * another network namespace. Socket queues use the memory of the device's pointer for other data,
 * so a number is used only if it can be the id of a namespace: ids begin with 0xf
 * (PROC_DYNAMIC_FIRST in fs/proc/generic.c), and those of the machine's first namespaces are just
 * before (the network namespace's is 0xeffffff9 in Linux 7; linux/nsfs.h). */
void drop_put_device(struct assembly *to, const struct drop_layout *layout)
{
    size_t is_none;

    assembly_load(to, OTHER, SKB, layout->device);
    assembly_load(to, BPF_FIRST, OTHER, layout->net_of_device);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->netns);
    assembly_register(to, BPF_MOV, BPF_SECOND, BPF_FIRST);
    assembly_number(to, BPF_ADD, BPF_SECOND, 16);
    assembly_number(to, BPF_RSH, BPF_SECOND, 28);
    is_none = assembly_skip_if(to, BPF_JNE, BPF_SECOND, 0xf);
    assembly_store(to, BPF_FIRST, KEY_AT(netns), BPF_W);
    assembly_land(to, is_none);
}

/* Stores the socket that the packet was for, or else the socket that sent it. For a sender the
 * netns of the device is preferred. */
static void put_sockets(struct assembly *to, const struct drop_layout *layout, int cookie_at)
{
    size_t has_none, is_receiver = 0;

    if (layout->has_receiver) {
        size_t is_sent;
        drop_put_argument(to, OTHER, layout->receiver, layout->of_sock, layout->cast);
        is_sent = assembly_skip_if(to, BPF_JEQ, OTHER, 0);
        drop_put_socket(to, layout, cookie_at);
        is_receiver = assembly_skip(to);
        assembly_land(to, is_sent);
    }
    assembly_load(to, OTHER, SKB, layout->sender);
    has_none = assembly_skip_if(to, BPF_JEQ, OTHER, 0);
    drop_put_socket(to, layout, cookie_at);
    assembly_land(to, has_none);
    drop_put_device(to, layout);
    if (is_receiver)
        assembly_land(to, is_receiver);
}

void drop_put_interface(struct assembly *to, const struct drop_layout *layout)
{
    size_t came_in;

    assembly_copy(to, SKB, layout->arrival, KEY_AT(interface));
    came_in = assembly_skip_if(to, BPF_JNE, BPF_FIRST, 0);
    assembly_load(to, OTHER, SKB, layout->device);
    assembly_copy(to, OTHER, layout->index, KEY_AT(interface));
    assembly_land(to, came_in);
}

void drop_put_read(struct assembly *to, int at, int offset, int size)
{
    assembly_address(to, BPF_FIRST, at);
    assembly_number(to, BPF_MOV, BPF_SECOND, size);
    assembly_register(to, BPF_MOV, BPF_THIRD, OTHER);
    if (offset)
        assembly_number(to, BPF_ADD, BPF_THIRD, offset);
    assembly_call(to, BPF_FUNC_probe_read_kernel);
}

/* Stores the number of bytes from the IP header to the packet's end, at most 255. */
static void put_length(struct assembly *to, const struct drop_layout *layout)
{
    size_t is_short, is_positive;

    assembly_load(to, BPF_FIRST, SKB, layout->tail);
    assembly_load(to, BPF_SECOND, SKB, layout->network);
    assembly_register(to, BPF_SUB, BPF_FIRST, BPF_SECOND);
    is_short = assembly_skip_if(to, BPF_JSLE, BPF_FIRST, UINT8_MAX);
    assembly_number(to, BPF_MOV, BPF_FIRST, UINT8_MAX);
    assembly_land(to, is_short);
    is_positive = assembly_skip_if(to, BPF_JSGE, BPF_FIRST, 0);
    assembly_number(to, BPF_MOV, BPF_FIRST, 0);
    assembly_land(to, is_positive);
    assembly_store(to, BPF_FIRST, SEEN_AT(length), BPF_B);
}

/* Reads the IP header and the bytes after it. The first byte of an IPv4 header has its size; IPv6's
 * header has 40 bytes. */
static void put_headers(struct assembly *to, const struct drop_layout *layout)
{
    const struct kernel_member first = {.offset = SEEN_AT(network), .size = BPF_B};
    size_t went_out, is_v4, is_v6;

    assembly_store_zeroes(to, SEEN, sizeof(struct drop_seen));
    assembly_copy(to, SKB, layout->ethertype, SEEN_AT(ethertype));
    assembly_load(to, BPF_FIRST, SKB, layout->arrival);
    went_out = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, 0);
    assembly_number(to, BPF_MOV, BPF_FIRST, 1);
    assembly_store(to, BPF_FIRST, SEEN_AT(received), BPF_B);
    assembly_land(to, went_out);
    put_length(to, layout);
    assembly_load(to, OTHER, SKB, layout->head);
    assembly_load(to, BPF_FIRST, SKB, layout->network);
    assembly_register(to, BPF_ADD, OTHER, BPF_FIRST);
    drop_put_read(to, SEEN_AT(network), 0, sizeof((struct drop_seen *)NULL)->network);
    assembly_load(to, BPF_FIRST, BPF_STACK, first);
    assembly_register(to, BPF_MOV, BPF_SECOND, BPF_FIRST);
    assembly_number(to, BPF_RSH, BPF_SECOND, 4);
    is_v6 = assembly_skip_if(to, BPF_JEQ, BPF_SECOND, 6);
    assembly_number(to, BPF_AND, BPF_FIRST, 15);
    assembly_number(to, BPF_LSH, BPF_FIRST, 2);
    is_v4 = assembly_skip(to);
    assembly_land(to, is_v6);
    assembly_number(to, BPF_MOV, BPF_FIRST, 40);
    assembly_land(to, is_v4);
    assembly_register(to, BPF_ADD, OTHER, BPF_FIRST);
    drop_put_read(to, SEEN_AT(ports), 0, sizeof((struct drop_seen *)NULL)->ports);
}

/* Computes HASH from the key. Without a filter, senders of packets choose no part of the key except
 * the destination of a limited number of keys. */
static void put_hash(struct assembly *to, const struct drop_filter *filter)
{
    const size_t size =
        sizeof(struct drop_key) + (filter ? sizeof(struct drop_packet) : SECOND_SIZE);
    struct kernel_member word = {.offset = KEY, .size = BPF_DW};

    assembly_load(to, HASH, BPF_STACK, word);
    if (filter) {
        assembly_wide(to, BPF_FIRST, filter->secret);
        assembly_register(to, BPF_XOR, HASH, BPF_FIRST);
    }
    assembly_wide(to, BPF_FIRST, UINT64_C(0x9e3779b97f4a7c15));
    for (size_t i = 1; i < size / sizeof(uint64_t); i++) {
        word.offset += (int16_t)sizeof(uint64_t);
        assembly_load(to, BPF_SECOND, BPF_STACK, word);
        assembly_register(to, BPF_XOR, HASH, BPF_SECOND);
        assembly_register(to, BPF_MUL, HASH, BPF_FIRST);
        assembly_register(to, BPF_MOV, BPF_SECOND, HASH);
        assembly_number(to, BPF_RSH, BPF_SECOND, 32);
        assembly_register(to, BPF_XOR, HASH, BPF_SECOND);
    }
    assembly_number(to, BPF_OR, HASH, DROP_TAGS);
}

/* Loads the number of the slot for try `number` into SLOT, and its tag's address into register
 * 2. */
static void put_try(struct assembly *to, int map, int number)
{
    assembly_register(to, BPF_MOV, SLOT, HASH);
    assembly_number(to, BPF_RSH, SLOT, 64 - DROP_BITS);
    if (number) { /* keys that share their first slot have different next slots */
        assembly_register(to, BPF_MOV, BPF_FIRST, HASH);
        assembly_number(to, BPF_OR, BPF_FIRST, 1);
        assembly_number(to, BPF_MUL, BPF_FIRST, number);
        assembly_register(to, BPF_ADD, SLOT, BPF_FIRST);
        assembly_number(to, BPF_AND, SLOT, DROP_SLOTS - 1);
    }
    assembly_register(to, BPF_MOV, BPF_SECOND, SLOT);
    assembly_number(to, BPF_LSH, BPF_SECOND, 3);
    assembly_value(to, BPF_FIRST, map, offsetof(struct drop_table, head.tags));
    assembly_register(to, BPF_ADD, BPF_SECOND, BPF_FIRST);
}

/* Loads the address of slot SLOT into register 2. */
static void drop_program_put_slot(struct assembly *to, int map)
{
    assembly_number(to, BPF_MUL, SLOT, sizeof(struct drop_slot));
    assembly_value(to, BPF_SECOND, map, offsetof(struct drop_table, slots));
    assembly_register(to, BPF_ADD, BPF_SECOND, SLOT);
}

/* Copies from the stack to the slot, except the count, to which other CPUs may add. With a filter,
 * the time is written last, after all other CPUs see the rest. */
static void drop_program_put_first(struct assembly *to, const struct drop_filter *filter)
{
    const size_t size =
        filter ? sizeof(struct drop_slot) : offsetof(struct drop_slot, cookie) + SECOND_SIZE;
    struct kernel_member word = {.offset = SEEN, .size = BPF_DW};

    for (size_t at = sizeof(uint64_t); at < size; at += sizeof(uint64_t)) {
        word.offset = (int16_t)(SEEN + (int)at);
        assembly_load(to, BPF_FIRST, BPF_STACK, word);
        assembly_store_in(to, BPF_SECOND, BPF_FIRST, (int)at, BPF_DW);
    }
    if (!filter)
        return;
    assembly_number(to, BPF_ADD, BPF_SECOND, offsetof(struct drop_slot, seen.time));
    assembly_number(to, BPF_MOV, BPF_REG_0, 0);
    assembly_exchange(to, BPF_SECOND, OTHER);
    assembly_number(to, BPF_SUB, BPF_SECOND, offsetof(struct drop_slot, seen.time));
}

/* Stores the data of the first packet of a key. */
static void put_first_seen(struct assembly *to, const struct drop_layout *layout,
                           const struct drop_filter *filter, int map)
{
    if (!filter) {
        put_headers(to, layout);
        if (!layout->apart[0])
            return;
        drop_load(to, BPF_FIRST, DESTINATION, BPF_DW);
        const size_t is_together = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, 0);
        assembly_value(to, BPF_SECOND, map, offsetof(struct drop_table, head.apart));
        assembly_count(to, BPF_SECOND, 0);
        assembly_land(to, is_together);
        return;
    }
    assembly_call(to, BPF_FUNC_ktime_get_ns);
    assembly_register(to, BPF_MOV, OTHER, BPF_REG_0);
}

/* All slots of a key are searched before a free slot is taken, because slots are freed in any
 * order. */
void drop_put_count(struct assembly *to, const struct drop_layout *layout,
                    const struct drop_filter *filter, int map)
{
    const struct kernel_member tag = {.size = BPF_DW};
    size_t is_known[DROP_TRIES], is_taken[DROP_TRIES], is_new[DROP_TRIES], is_counted;

    put_hash(to, filter);
    for (int i = 0; i < DROP_TRIES; i++) {
        put_try(to, map, i);
        assembly_load(to, BPF_REG_0, BPF_SECOND, tag);
        is_known[i] = assembly_skip_if_equal(to, BPF_REG_0, HASH);
    }
    put_first_seen(to, layout, filter, map);
    for (int i = 0; i < DROP_TRIES; i++) {
        put_try(to, map, i);
        assembly_number(to, BPF_MOV, BPF_REG_0, DROP_FREE);
        assembly_exchange(to, BPF_SECOND, HASH);
        is_new[i] = assembly_skip_if(to, BPF_JEQ, BPF_REG_0, DROP_FREE);
        is_taken[i] =
            assembly_skip_if_equal(to, BPF_REG_0, HASH); /* another CPU took it for this key */
    }
    assembly_value(to, BPF_SECOND, map, offsetof(struct drop_table, head.lost));
    is_counted = assembly_skip(to);
    for (int i = 0; i < DROP_TRIES; i++)
        assembly_land(to, is_new[i]);
    drop_program_put_slot(to, map);
    drop_program_put_first(to, filter);
    const size_t is_ready = assembly_skip(to);
    for (int i = 0; i < DROP_TRIES; i++) {
        assembly_land(to, is_known[i]);
        assembly_land(to, is_taken[i]);
    }
    drop_program_put_slot(to, map);
    assembly_land(to, is_ready);
    assembly_land(to, is_counted);
    assembly_count(to, BPF_SECOND, offsetof(struct drop_slot, seen.count));
}

size_t drop_program_make(const struct drop_layout *layout, const struct drop_filter *filter,
                         const struct scan_part *scans, int map,
                         struct bpf_insn program[DROP_PROGRAM_MAX])
{
    struct assembly to = {.code = program, .most = DROP_PROGRAM_MAX};

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    put_reason(&to, layout);
    if (filter)
        drop_put_packet(&to, layout, filter, 0);
    put_sockets(&to, layout, filter ? SEEN_AT(cookie) : PACKET);
    drop_put_interface(&to, layout);
    if (!filter && layout->apart[0])
        drop_put_destination(&to, layout, map);
    drop_put_count(&to, layout, filter, map);
    if (scans)
        scan_put_count(&to, layout, scans);
    return assembly_finish(&to);
}
