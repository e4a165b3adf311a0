#include "fastnet/bpf_map.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fastnet/rights.h"

/* The kernel wants zeroes in members that a command does not use. Returns the result or -errno. */
static int call(int command, union bpf_attr *attributes)
{
    const long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);

    return result < 0 ? -errno : (int)result;
}

static int check_type(int fd)
{
    struct bpf_map_info info;
    union bpf_attr attributes;
    int status;

    memset(&info, 0, sizeof info);
    memset(&attributes, 0, sizeof attributes);
    attributes.info.bpf_fd = (uint32_t)fd;
    attributes.info.info_len = sizeof info;
    attributes.info.info = (uintptr_t)&info;
    status = call(BPF_OBJ_GET_INFO_BY_FD, &attributes);
    return status < 0 ? status : info.type == BPF_MAP_TYPE_SK_STORAGE ? 0 : -EMEDIUMTYPE;
}

int bpf_map_open(uint32_t id)
{
    union bpf_attr attributes;
    int fd, status;

    memset(&attributes, 0, sizeof attributes);
    attributes.map_id = id;
    rights_raise(RIGHT_MAPS);
    fd = call(BPF_MAP_GET_FD_BY_ID, &attributes);
    rights_lower();
    if (fd < 0)
        return fd;
    status = check_type(fd);
    if (status < 0)
        close(fd);
    return status < 0 ? status : fd;
}
