/* SPDX-License-Identifier: MIT */
#include "fastnet/scan_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "probes/drop/drop_decode.h"
#include "probes/drop/scan_program.h"

enum { SCANS_MAX = 1024 };

struct scan_probe {
    int map, link; /* descriptors, or -1 */
    struct port_scan *scans;
    size_t count;
};

/* Creates the map and attaches the program, which keeps the map until the link is closed. */
static bool scan_probe_attach(struct scan_probe *probe, const struct drop_probe *drops)
{
    const struct drop_layout *layout = drop_probe_layout(drops);
    const struct scan_reasons reasons = {
        .no_socket = drop_probe_number(drops, "NO_SOCKET"),
        .filtered = drop_probe_number(drops, "NETFILTER_DROP"),
    };
    struct bpf_insn code[DROP_PROGRAM_MAX];

    if (!reasons.no_socket || !reasons.filtered)
        return false;
    probe->map = bpf_map_create_recent(sizeof(struct scan_key), sizeof(struct scan_value),
                                       SCANS_MAX, "fastnet_scans");
    if (probe->map < 0)
        return false;
    probe->link = bpf_tracepoint_attach(code, scan_program_make(layout, &reasons, probe->map, code),
                                        layout->tracepoint, "fastnet_scans");
    return probe->link >= 0;
}

struct scan_probe *scan_probe_create(const struct drop_probe *drops)
{
    struct scan_probe *probe = calloc(1, sizeof *probe);

    if (!probe)
        return NULL;
    probe->map = probe->link = -1;
    if (scan_probe_attach(probe, drops))
        return probe;
    scan_probe_destroy(probe);
    return NULL;
}

void scan_probe_destroy(struct scan_probe *probe)
{
    if (!probe)
        return;
    bpf_close(probe->link);
    bpf_close(probe->map);
    free(probe->scans);
    free(probe);
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

/* Reads all keys at once, and then takes each. */
int scan_probe_take(struct scan_probe *probe)
{
    struct scan_key *keys = calloc(SCANS_MAX, sizeof *keys);
    struct scan_value *values = calloc(SCANS_MAX, sizeof *values);
    int count = -ENOMEM;

    probe->count = 0;
    if (!probe->scans)
        probe->scans = calloc(SCANS_MAX, sizeof *probe->scans);
    if (keys && values && probe->scans)
        count = bpf_map_read(probe->map, keys, values, SCANS_MAX);
    for (int i = 0; i < count; i++)
        if (bpf_map_take_one(probe->map, &keys[i], &values[i]) == 0)
            scan_decode(&keys[i], &values[i], &probe->scans[probe->count++]);
    free(keys);
    free(values);
    return count < 0 ? count : 0;
}

size_t scan_probe_count(const struct scan_probe *probe)
{
    return probe->count;
}

const struct port_scan *scan_probe_list(const struct scan_probe *probe)
{
    return probe->scans;
}
