/* SPDX-License-Identifier: MIT */
#include "fastnet/scan_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "probes/drop/scan_program.h"

enum { SCANS_MAX = 1024 };

struct scan_probe {
    int map;                 /* its descriptor */
    struct port_scan *scans; /* NULL: there were none yet */
    size_t count;
};

struct scan_probe *scan_probe_create(void)
{
    struct scan_probe *probe = calloc(1, sizeof *probe);

    if (!probe)
        return NULL;
    probe->map = bpf_map_create_recent(sizeof(struct scan_key), sizeof(struct scan_value),
                                       SCANS_MAX, "fastnet_scans");
    if (probe->map >= 0)
        return probe;
    free(probe);
    return NULL;
}

void scan_probe_destroy(struct scan_probe *probe)
{
    if (!probe)
        return;
    bpf_close(probe->map);
    free(probe->scans);
    free(probe);
}

int scan_probe_map(const struct scan_probe *probe)
{
    return probe ? probe->map : -1;
}

static void scan_decode(const struct scan_key *key, const struct scan_value *value,
                        struct port_scan *scan)
{
    const uint8_t family = key->what & PACKET_IPV6 ? AF_INET6 : AF_INET;

    *scan = (struct port_scan){
        .source = address_make(family, key->source),
        .destination = address_make(family, key->destination),
        .netns = key->netns,
        .protocol = key->protocol,
        .port = value->port,
        .packets = value->packets,
        .filtered = value->filtered,
    };
    memcpy(scan->ports, value->ports, sizeof scan->ports);
}

/* Most machines have no scans, so no memory is allocated before the first. A key that the program
 * replaces meanwhile begins the walk again, so the number of steps is limited. */
int scan_probe_take(struct scan_probe *probe)
{
    struct scan_key key, next;
    struct scan_value value;
    int status = bpf_map_next_key(probe->map, NULL, &next);

    probe->count = 0;
    if (status == 0 && !probe->scans && !(probe->scans = calloc(SCANS_MAX, sizeof *probe->scans)))
        return -ENOMEM;
    for (size_t i = 0; i < SCANS_MAX && status == 0; i++) {
        key = next;
        status = bpf_map_next_key(probe->map, &key, &next);
        if (bpf_map_take_one(probe->map, &key, &value) == 0)
            scan_decode(&key, &value, &probe->scans[probe->count++]);
    }
    return status == -ENOENT ? 0 : status;
}

size_t scan_probe_count(const struct scan_probe *probe)
{
    return probe->count;
}

const struct port_scan *scan_probe_list(const struct scan_probe *probe)
{
    return probe->scans;
}
