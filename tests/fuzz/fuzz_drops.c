/* SPDX-License-Identifier: MIT */
/*
 * Drops of packets with any headers: a row has the fields of its headers, and no other fields. An
 * input is the entry that the BPF program keeps for a key: struct drop_key, then struct drop_seen;
 * missing bytes are 0.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <string.h>

#include "bytes.h"
#include "fastnet/flow_names.h"
#include "fuzz.h"
#include "probes/drop/drop_decode.h"

static void check_headers(const struct drop_seen *seen, const struct record *record)
{
    const struct drop_record *drop = &record->drop;
    const bool is_v4 = seen->ethertype == htons(ETH_P_IP) && seen->network[0] >> 4 == 4 &&
                       seen->length >= 20,
               is_v6 = seen->ethertype == htons(ETH_P_IPV6) && seen->network[0] >> 4 == 6 &&
                       seen->length >= 40;
    const uint64_t both = DROP_ADDRESSES | DROP_PROTOCOL;
    const uint8_t family = is_v4 ? AF_INET : AF_INET6;
    const struct endpoint *source = seen->received ? &drop->remote : &drop->local;

    require((record->has & both) == (is_v4 || is_v6 ? both : 0));
    if (record->has & DROP_PORTS)
        require(record->has & DROP_ADDRESSES && flow_has_ports(drop->protocol) &&
                source->port == (seen->ports[0] << 8 | seen->ports[1]));
    else
        require(!drop->local.port && !drop->remote.port);
    if (!(is_v4 || is_v6))
        return;
    require_address(&drop->local.address, family);
    require_address(&drop->remote.address, family);
    require(memcmp(source->address.bytes, seen->network + (is_v4 ? 12 : 8), is_v4 ? 4 : 16) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = {data, size};
    struct drop_key key = {.location = 0};
    struct drop_seen seen = {.count = 0};
    struct drop drop;

    bytes_take(&input, &key, sizeof key);
    bytes_take(&input, &seen, sizeof seen);
    memset(&drop, 0xa5, sizeof drop);
    drop_decode(&key, &seen, &drop);
    require(drop.location == key.location && drop.netns == key.netns);
    require(drop.record.drop.drops == seen.count && drop.record.drop.uid == key.uid);
    require(!(drop.record.has & DROP_SOCKET) == !key.inode && drop.record.drop.inode == key.inode);
    require(!(drop.record.has & DROP_INTERFACE) == !key.interface);
    require(drop.record.drop.reason.length == 0 && !drop.record.drop.harmless);
    check_headers(&seen, &drop.record);
    return 0;
}
