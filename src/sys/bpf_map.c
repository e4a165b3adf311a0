/* SPDX-License-Identifier: MIT */
#include "fastnet/bpf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fastnet/rights.h"
#include "sys/bpf_call.h"

/* --- Own maps --------------------------------------------------------------------------------- */

static int bpf_map_new(union bpf_attr *attributes, const char *name)
{
    strncpy(attributes->map_name, name, sizeof attributes->map_name - 1);
    return bpf_call_raised(RIGHT_BPF, BPF_MAP_CREATE, attributes);
}

int bpf_map_create(size_t size, const char *name)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.map_flags = BPF_F_MMAPABLE;
    attributes.key_size = sizeof(uint32_t);
    attributes.value_size = (uint32_t)size;
    attributes.max_entries = 1;
    return bpf_map_new(&attributes, name);
}

void *bpf_map_memory(int map, size_t offset, size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map, (off_t)offset);

    return memory == MAP_FAILED ? NULL : memory;
}

int bpf_map_create_recent(uint32_t key_size, uint32_t value_size, uint32_t most, const char *name)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_LRU_HASH;
    attributes.key_size = key_size;
    attributes.value_size = value_size;
    attributes.max_entries = most;
    return bpf_map_new(&attributes, name);
}

int bpf_map_create_ring(size_t size, const char *name)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_RINGBUF;
    attributes.max_entries = (uint32_t)size;
    return bpf_map_new(&attributes, name);
}

/* Tries the call without a right first, because raising the right takes twice the time of the call.
 * Since Linux 5.19 a process that has the descriptor needs no right. */
static int call(int command, union bpf_attr *attributes)
{
    const int status = bpf_call(command, attributes);

    return status == -EPERM ? bpf_call_raised(RIGHT_BPF, command, attributes) : status;
}

static int call_for_key(int command, int map, const void *key, const void *value)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.map_fd = (uint32_t)map;
    attributes.key = (uintptr_t)key;
    attributes.value = (uintptr_t)value;
    return call(command, &attributes);
}

int bpf_map_wait(void)
{
    const int inner = bpf_map_create(sizeof(uint64_t), "fastnet_wait");
    const uint32_t key = 0, value = (uint32_t)inner;
    union bpf_attr attributes;
    int outer, status;

    if (inner < 0)
        return inner;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_ARRAY_OF_MAPS;
    attributes.key_size = attributes.value_size = sizeof key;
    attributes.max_entries = 1;
    attributes.inner_map_fd = value;
    outer = bpf_map_new(&attributes, "fastnet_wait");
    status = outer < 0 ? outer : call_for_key(BPF_MAP_UPDATE_ELEM, outer, &key, &value);
    if (outer >= 0)
        close(outer);
    close(inner);
    return status;
}

int bpf_map_next_key(int map, const void *key, void *next)
{
    return call_for_key(BPF_MAP_GET_NEXT_KEY, map, key, next); /* in the place of the value */
}

int bpf_map_find_one(int map, const void *key, void *value)
{
    return call_for_key(BPF_MAP_LOOKUP_ELEM, map, key, value);
}

/* Looks up and deletes the key in two calls: before Linux 5.14 no command does both for a hash
 * map. */
int bpf_map_take_one(int map, const void *key, void *value)
{
    int status = call_for_key(BPF_MAP_LOOKUP_AND_DELETE_ELEM, map, key, value);

    if (status == 0 || status == -ENOENT)
        return status;
    status = bpf_map_find_one(map, key, value);
    return status < 0 ? status : call_for_key(BPF_MAP_DELETE_ELEM, map, key, NULL);
}

/* The kernel also needs room for the key at which a next call would continue. -ENOENT: the map has
 * no more keys. */
int bpf_map_read(int map, void *keys, void *values, uint32_t most)
{
    union bpf_attr attributes;
    uint32_t next;
    int status;

    memset(&attributes, 0, sizeof attributes);
    attributes.batch.map_fd = (uint32_t)map;
    attributes.batch.keys = (uintptr_t)keys;
    attributes.batch.values = (uintptr_t)values;
    attributes.batch.out_batch = (uintptr_t)&next;
    attributes.batch.count = most;
    status = call(BPF_MAP_LOOKUP_BATCH, &attributes);
    return status < 0 && status != -ENOENT ? status : (int)attributes.batch.count;
}

/* --- Storages of sockets ---------------------------------------------------------------------- */

/* Opens an object by its id, whose member of the attributes is at one offset for all types. */
static int open_id(int command, uint32_t id)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.map_id = id;
    return bpf_call_raised(RIGHT_MAPS, command, &attributes);
}

static int get_info(int fd, void *info, uint32_t size)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.info.bpf_fd = (uint32_t)fd;
    attributes.info.info_len = size;
    attributes.info.info = (uintptr_t)info;
    return bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attributes);
}

int bpf_map_open(uint32_t id)
{
    const int fd = open_id(BPF_MAP_GET_FD_BY_ID, id);
    struct bpf_map_info info;
    int status;

    if (fd < 0)
        return fd;
    memset(&info, 0, sizeof info);
    status = get_info(fd, &info, sizeof info);
    if (status == 0 && info.type != BPF_MAP_TYPE_SK_STORAGE)
        status = -EMEDIUMTYPE;
    if (status < 0)
        close(fd);
    return status < 0 ? status : fd;
}

uint32_t bpf_map_next(uint32_t id)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.start_id = id;
    return bpf_call_raised(RIGHT_MAPS, BPF_MAP_GET_NEXT_ID, &attributes) < 0 ? 0
                                                                             : attributes.next_id;
}

/* --- Types ------------------------------------------------------------------------------------ */

/* Calls twice: the first call returns the number of bytes. */
static int read_bytes(int fd, struct bpf_values *values, size_t *length)
{
    struct bpf_btf_info info;
    uint32_t size;
    int status;

    memset(&info, 0, sizeof info);
    status = get_info(fd, &info, sizeof info);
    if (status < 0)
        return status;
    size = info.btf_size;
    if (size > BTF_BYTES_MAX)
        return -EFBIG;
    values->bytes = malloc(size ? size : 1);
    if (!values->bytes)
        return -ENOMEM;
    memset(&info, 0, sizeof info);
    info.btf = (uintptr_t)values->bytes;
    info.btf_size = size;
    status = get_info(fd, &info, sizeof info);
    *length = info.btf_size < size ? info.btf_size : size;
    return status;
}

int bpf_map_values(int map, struct bpf_values *values)
{
    struct bpf_map_info info;
    size_t length = 0;
    int fd, status;

    *values = (struct bpf_values){.bytes = NULL};
    memset(&info, 0, sizeof info);
    status = get_info(map, &info, sizeof info);
    if (status < 0)
        return status;
    fd = open_id(BPF_BTF_GET_FD_BY_ID, info.btf_id);
    if (fd < 0)
        return fd;
    status = read_bytes(fd, values, &length);
    close(fd);
    if (!status)
        status = btf_init(&values->btf, (struct text){values->bytes, length});
    values->map = info.id;
    values->type = info.btf_value_type_id;
    return status;
}

void bpf_values_finish(struct bpf_values *values)
{
    btf_finish(&values->btf);
    free(values->bytes);
    *values = (struct bpf_values){.bytes = NULL};
}
