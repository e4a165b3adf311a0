/* SPDX-License-Identifier: MIT */
#include "cli/ss/ss.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/personality.h"

/* Without its type, a value is shown as bytes. */
static void read_values(struct ss_options *options, int map)
{
    struct bpf_values *values = &options->values[options->value_count];

    if (bpf_map_values(map, values) < 0)
        bpf_values_finish(values);
    else
        options->value_count++;
}

int ss_open_maps(struct ss_options *options)
{
    const char *program = options->common.program;
    uint32_t next = 0;

    if (options->map_count && options->layout.storages) {
        fprintf(stderr, "%s: --bpf-maps and --bpf-map-id cannot be used together\n", program);
        return STATUS_FAILURE;
    }
    for (size_t i = 0; i < options->map_count; i++) {
        const uint32_t id = options->map_ids[i];
        const int fd = bpf_map_open(id);
        if (fd < 0) {
            fprintf(stderr, "%s: cannot get fd for BPF map ID %u: %s\n", program, id,
                    fd == -EPERM         ? "needs CAP_SYS_ADMIN"
                    : fd == -EMEDIUMTYPE ? "it does not keep storages of sockets"
                                         : strerror(-fd));
            return STATUS_FAILURE;
        }
        options->maps[i] = fd;
        read_values(options, fd);
    }
    while (options->layout.storages && options->value_count < BPF_MAPS_MAX &&
           (next = bpf_map_next(next)) != 0) {
        const int map = bpf_map_open(next);
        if (map < 0)
            continue;
        read_values(options, map);
        close(map);
    }
    return 0;
}

void ss_maps_finish(struct ss_options *options)
{
    while (options->value_count > 0)
        bpf_values_finish(&options->values[--options->value_count]);
}
