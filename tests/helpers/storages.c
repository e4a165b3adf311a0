/*
 * Keeps numbers for a socket in two BPF maps.
 *
 *     storages PORT
 *
 * The socket listens on PORT of 127.0.0.1. Prints the ids of the maps, then "ready", and ends when
 * stdin does. The first keeps 17, the second 34.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(int command, union bpf_attr *attributes)
{
    const long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);

    if (result < 0)
        err(1, "bpf");
    return (int)result;
}

/* The type "int", which is what the maps keep. */
static int load_type(void)
{
    static const struct {
        struct btf_header header;
        struct btf_type type;
        uint32_t integer;
        char names[5];
    } of_int = {
        {BTF_MAGIC, BTF_VERSION, 0, sizeof(struct btf_header), 0, 16, 16, 5},
        {.name_off = 1, .info = BTF_KIND_INT << 24, .size = 4},
        BTF_INT_SIGNED << 24 | 32,
        "\0int",
    };
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.btf = (uintptr_t)&of_int;
    attributes.btf_size = sizeof(struct btf_header) + 16 + 5;
    return call(BPF_BTF_LOAD, &attributes);
}

static unsigned make_map(int type, int fd, int value)
{
    struct bpf_map_info info;
    union bpf_attr attributes;
    int map;

    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_SK_STORAGE;
    attributes.key_size = attributes.value_size = sizeof(int);
    attributes.map_flags = BPF_F_NO_PREALLOC;
    attributes.btf_fd = (uint32_t)type;
    attributes.btf_key_type_id = attributes.btf_value_type_id = 1;
    map = call(BPF_MAP_CREATE, &attributes);
    memset(&attributes, 0, sizeof attributes);
    attributes.map_fd = (uint32_t)map;
    attributes.key = (uintptr_t)&fd;
    attributes.value = (uintptr_t)&value;
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
    int type;

    if (argc != 2)
        errx(2, "usage: storages PORT");
    address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1) < 0)
        err(1, "listen");
    type = load_type();
    printf("%u", make_map(type, fd, 17));
    printf(" %u\nready\n", make_map(type, fd, 34));
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    return 0;
}
