/* SPDX-License-Identifier: MIT */
/*
 * Keeps values for a socket in three BPF maps.
 *
 *     storages PORT
 *
 * The socket listens on PORT of 127.0.0.1. Prints the ids of the maps, then "ready", and ends when
 * stdin does. The first keeps the number 17, the second 34, the third a struct of many types.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fastnet/btf.h"
#include "made_btf.h"

static int call(int command, union bpf_attr *attributes)
{
    const long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);

    if (result < 0)
        err(1, "bpf");
    return (int)result;
}

/* --- What the maps keep ----------------------------------------------------------------------- */

struct point {
    short x, y;
};

struct seen {
    int number;
    unsigned long long bytes;
    _Bool first;
    signed char shift;
    unsigned short port;
    int state;
    unsigned low : 3, high : 29;
    struct point here;
    unsigned word;
    uint64_t next, done, row; /* as wide as pointers of BPF are, also with 32 bits here */
    int grid[2][2];
    struct point points[2];
    long long wide;
    unsigned char big[16] __attribute__((aligned(16)));
    char tag[3];
    char name[8];
};

static const struct seen seen = {
    .number = -5,
    .bytes = UINT64_C(12345678901234567890),
    .first = 1,
    .shift = -3,
    .port = 65535,
    .state = 1,
    .low = 5,
    .high = 0x1234567,
    .here = {-1, 2},
    .word = 0x41424241,
    .next = 0x1000,
    .done = 0x2000,
    .row = 0x3000,
    .grid = {{1, 2}, {3, 4}},
    .points = {{5, 6}, {7, 8}},
    .wide = INT64_MIN,
    .big = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
    .tag = "a\377 ",
    .name = "ss",
};

/* Where a member is, in bits. */
#define AT(member) (8 * (uint32_t)offsetof(struct seen, member))

static uint32_t make_point(struct made_btf *made, const char *name, uint32_t number)
{
    const uint32_t id = made_type(made, name, BTF_STRUCT, 2, sizeof(struct point));

    made_member(made, "x", number, 0);
    made_member(made, "y", number, 16);
    return id;
}

static uint32_t make_enum64(struct made_btf *made)
{
    const uint32_t id = made_flagged(made, "wide", BTF_ENUM64, 1, 8);

    made_pair(made, "LOWEST", 0);
    made_word(made, 0x80000000);
    return id;
}

/* unsigned word; unsigned char bytes[4]; */
static uint32_t make_union(struct made_btf *made, uint32_t number, uint32_t bytes)
{
    const uint32_t id = made_type(made, "", BTF_UNION, 2, 4);

    made_member(made, "word", number, 0);
    made_member(made, "bytes", bytes, 0);
    return id;
}

/* int (*)(const struct point *at, unsigned int) */
static uint32_t make_function(struct made_btf *made, uint32_t result, uint32_t at, uint32_t number)
{
    const uint32_t function = made_type(made, "", BTF_PROTOTYPE, 2, result);

    made_pair(made, "at", at);
    made_pair(made, "", number);
    return made_type(made, "", BTF_POINTER, 0, function);
}

static void make_seen(struct made_btf *made, uint32_t integer)
{
    const uint32_t u32 = made_int(made, "unsigned int", 4, 0);
    const uint32_t u64 = made_int(made, "long long unsigned int", 8, 0);
    const uint32_t u128 = made_int(made, "unsigned __int128", 16, 0);
    const uint32_t boolean = made_int(made, "_Bool", 1, MADE_BOOL);
    const uint32_t schar = made_int(made, "signed char", 1, MADE_SIGNED);
    const uint32_t character = made_int(made, "char", 1, MADE_SIGNED);
    const uint32_t uchar = made_int(made, "unsigned char", 1, 0);
    const uint32_t i16 = made_int(made, "short int", 2, MADE_SIGNED);
    const uint32_t u16 = made_int(made, "short unsigned int", 2, 0);
    const uint32_t port = made_type(made, "port_t", BTF_TYPEDEF, 0, u16);
    const uint32_t fixed = made_type(made, "", BTF_CONST, 0, port);
    const uint32_t point = make_point(made, "point", i16);
    const uint32_t fixed_point = made_type(made, "", BTF_CONST, 0, point);
    const uint32_t pointer = made_type(made, "", BTF_POINTER, 0, fixed_point);
    const uint32_t unnamed = make_point(made, "", i16);
    const uint32_t row = made_array(made, integer, u32, 2);
    const uint32_t grid = made_array(made, row, u32, 2);
    const uint32_t row_pointer = made_type(made, "", BTF_POINTER, 0, row);
    const uint32_t points = made_array(made, point, u32, 2);
    const uint32_t bytes = made_array(made, uchar, u32, 4);
    const uint32_t tag = made_array(made, character, u32, 3);
    const uint32_t name = made_array(made, character, u32, 8);
    const uint32_t both = make_union(made, u32, bytes);
    const uint32_t function = make_function(made, integer, pointer, u32);
    const uint32_t wide = make_enum64(made);
    const uint32_t state = made_type(made, "state", BTF_ENUM, 2, 4);

    made_pair(made, "CLOSED", 0);
    made_pair(made, "OPEN", 1);
    made_flagged(made, "seen", BTF_STRUCT, 19, sizeof(struct seen));
    made_member(made, "number", integer, AT(number));
    made_member(made, "bytes", u64, AT(bytes));
    made_member(made, "first", boolean, AT(first));
    made_member(made, "shift", schar, AT(shift));
    made_member(made, "port", fixed, AT(port));
    made_member(made, "state", state, AT(state));
    made_member(made, "low", u32, 3 << 24 | (AT(state) + 32));
    made_member(made, "high", u32, 29 << 24 | (AT(state) + 32 + 3));
    made_member(made, "", unnamed, AT(here));
    made_member(made, "both", both, AT(word));
    made_member(made, "next", pointer, AT(next));
    made_member(made, "done", function, AT(done));
    made_member(made, "row", row_pointer, AT(row));
    made_member(made, "grid", grid, AT(grid));
    made_member(made, "points", points, AT(points));
    made_member(made, "wide", wide, AT(wide));
    made_member(made, "big", u128, AT(big));
    made_member(made, "tag", tag, AT(tag));
    made_member(made, "name", name, AT(name));
}

/* --- Maps ------------------------------------------------------------------------------------- */

/* The first type is int, the last one struct seen. */
static int load_types(uint32_t *last)
{
    static struct made_btf made;
    static char bytes[MADE_BTF_MAX];
    union bpf_attr attributes;

    make_seen(&made, made_int(&made, "int", 4, MADE_SIGNED));
    *last = made.types;
    memset(&attributes, 0, sizeof attributes);
    attributes.btf = (uintptr_t)bytes;
    attributes.btf_size = (uint32_t)made_bytes(&made, bytes);
    return call(BPF_BTF_LOAD, &attributes);
}

struct value {
    uint32_t type, size;
    const void *bytes;
};

static unsigned make_map(int btf, int fd, struct value value)
{
    struct bpf_map_info info;
    union bpf_attr attributes;
    int map;

    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_SK_STORAGE;
    attributes.key_size = sizeof(int);
    attributes.value_size = value.size;
    attributes.map_flags = BPF_F_NO_PREALLOC;
    attributes.btf_fd = (uint32_t)btf;
    attributes.btf_key_type_id = 1;
    attributes.btf_value_type_id = value.type;
    map = call(BPF_MAP_CREATE, &attributes);
    memset(&attributes, 0, sizeof attributes);
    attributes.map_fd = (uint32_t)map;
    attributes.key = (uintptr_t)&fd;
    attributes.value = (uintptr_t)value.bytes;
    call(BPF_MAP_UPDATE_ELEM, &attributes);
    memset(&info, 0, sizeof info);
    memset(&attributes, 0, sizeof attributes);
    attributes.info.bpf_fd = (uint32_t)map;
    attributes.info.info_len = sizeof info;
    attributes.info.info = (uintptr_t)&info;
    call(BPF_OBJ_GET_INFO_BY_FD, &attributes);
    return info.id;
}

int main(int argc, char *argv[])
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int numbers[] = {17, 34};
    uint32_t last;
    int btf;

    if (argc != 2)
        errx(2, "usage: storages PORT");
    address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1) < 0)
        err(1, "listen");
    btf = load_types(&last);
    printf("%u", make_map(btf, fd, (struct value){1, sizeof(int), &numbers[0]}));
    printf(" %u", make_map(btf, fd, (struct value){1, sizeof(int), &numbers[1]}));
    printf(" %u\nready\n", make_map(btf, fd, (struct value){last, sizeof seen, &seen}));
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    return 0;
}
