#include "cli/ss/ss_maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/personality.h"

int ss_open_maps(struct ss_options *options)
{
    const char *program = options->common.program;

    if (options->map_count && options->storages)
        return common_misuse(&options->common,
                             "--bpf-maps and --bpf-map-id cannot be used together");
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
    }
    return 0;
}
