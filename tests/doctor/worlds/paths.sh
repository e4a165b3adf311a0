# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034,SC2154 # check-worlds reads this file and has these variables
# Worlds of the rules loss, slow-zone and close-wait. In most of them, the server s speaks with many
# peers in 10.9.0.0/16 and 2001:db8:9::/48, which are all in the namespace c. Each peer has a path of
# its own: the relay between s and c delays and drops packets by address.

samples+=(loss_peer slow_zone_server close_wait_fast healthy_close_a_second_late)
shows[loss]='10\.9\.|2001:db8:9' shows[slow-zone]='10\.9\.|2001:db8:9'

peers() # [PREFIX MILLISECONDS PERMILLE]...
{
    namespace c
    namespace s
    start s relay c "$@"
    ip -n s link set relay0 up txqueuelen 10000 && ip -n c link set relay0 up txqueuelen 10000
    ip -n s addr add 10.8.0.1/32 dev lo && ip -n s addr add 2001:db8:8::1/128 dev lo nodad
    ip -n s route add 10.9.0.0/16 dev relay0 src 10.8.0.1
    ip -n s route add 2001:db8:9::/48 dev relay0 src 2001:db8:8::1
    ip -n c route add local 10.9.0.0/16 dev lo && ip -n c route add 10.8.0.1 dev relay0
    ip -n c route add local 2001:db8:9::/48 dev lo && ip -n c route add 2001:db8:8::1 dev relay0
    set_net c ipv6/ip_nonlocal_bind 1 && set_net c ipv4/ip_nonlocal_bind 1
}

# --- Loss -------------------------------------------------------------------------------------

has_lost() # SEGMENTS
{
    [ "$(inside s "$FASTNET" sockets -t --columns total_retrans --no-header |
        awk '{ sum += $1 } END { print sum + 0 }')" -ge "$1" ]
}

world_loss_peer()
{
    peers 10.9.3.7/32 40 30
    start c traffic serve 0.0.0.0 7000 10
    PEERS=1000 start s traffic talk 10.9.3.0 7000 1000 1000 500
    PEERS=1 start s traffic talk 10.9.3.7 7000 5 10000 100
    wait_until has_lost 40
    finds s 'loss 10.9.3.7'
    inside s "$FASTNET" doctor --only=loss --for=2 --backend=netlink --ndjson >"$work/rows" 2>"$work/err" </dev/null
    is "$world: without counters, nobody knows if others lose less" "1 1 0" \
        "$? $(grep -c 'not tried, .*: loss$' "$work/err") $(wc -l <"$work/rows")"
}

world_loss_subnet_server()
{
    peers 10.9.1.0/24 5 30
    start s traffic serve 0.0.0.0 7000 1000
    PEERS=600 SOURCE=10.9.0.10 start c traffic talk 10.8.0.1 7000 600 100 200
    wait_until has_lost 100
    finds s 'loss 10.9.1.0/24'
}

world_loss_ipv6()
{
    peers 2001:db8:9:1::/64 5 30
    start c traffic serve :: 7000 10
    PEERS=20 start s traffic talk 2001:db8:9:1::1 7000 20 1000 20
    PEERS=20 start s traffic talk 2001:db8:9:2::1 7000 40 1000 20
    wait_until has_lost 20
    finds s 'loss 2001:db8:9:1::/64'
}

# A rule of the firewall drops packets of one network of a hundred.
world_loss_subnet_of_100()
{
    peers
    rule c input ip daddr 10.9.7.0/24 numgen random mod 100 '<' 3 drop
    start c traffic serve 0.0.0.0 7000 10
    PEERS=25600 start s traffic talk 10.9.0.0 7000 1000 1000 400
    PEERS=20 start s traffic talk 10.9.7.0 7000 20 1000 20
    wait_until has_lost 10
    finds s 'loss 10.9.7.*'
}

# Each request is a connection of its own.
world_loss_short_connections()
{
    peers 10.9.3.7/32 1 50
    start c traffic serve 0.0.0.0 7000 10
    PEERS=30 start s traffic visit 10.9.1.1 7000 30 20
    for _ in {1..20}; do
        start s traffic visit 10.9.3.7 7000 5 10
    done
    window=5
    finds s 'loss 10.9.3.7'
}

# The programs speak within the machine, and with one peer.
world_loss_beside_loopback()
{
    peers 10.9.3.7/32 40 30
    start s traffic serve 127.0.0.1 7001 1000
    start s traffic talk 127.0.0.1 7001 50 1000 20
    start c traffic serve 0.0.0.0 7000 10
    start s traffic talk 10.9.3.7 7000 5 20000 100
    wait_until has_lost 10
    finds s 'loss 10.9.3.7'
}

world_healthy_loss_peers_1_of_1000()
{
    peers 10.9.0.0/16 1 1
    start c traffic serve 0.0.0.0 7000 10
    PEERS=400 start s traffic talk 10.9.3.0 7000 400 1000 100
    finds_nothing s
}

world_healthy_loss_backup_1_of_1000()
{
    peers 10.9.3.7/32 1 1
    start c traffic serve 0.0.0.0 7000 0
    PEERS=100 start s traffic talk 10.9.1.0 7000 100 100 100
    start s traffic talk 10.9.3.7 7000 4 65536 0
    finds_nothing s
}

timed_out()
{
    inside s "$FASTNET" sockets -t --where 'retransmits > 1' --no-header | grep -q .
}

# A device is out of reach for some timeouts.
world_healthy_loss_roaming()
{
    peers 10.9.3.7/32 5 0
    start c traffic serve 0.0.0.0 7000 10
    PEERS=100 start s traffic talk 10.9.1.0 7000 100 1000 20
    start s traffic talk 10.9.3.7 7000 5 3000 10
    window=4
    examine s &
    rule c input ip daddr 10.9.3.7 drop
    wait_until timed_out
    inside c nft flush ruleset
    wait "$!"
    is "$world: nothing" "" "$(cat "$work/found" "$work/err")"
}

has_sent() # SEGMENTS
{
    inside s "$FASTNET" sockets -t --no-header \
        --where "remote_address = 10.9.3.7 and data_segs_out >= $1" | grep -q .
}

# The only client is out of reach for some timeouts. They begin before the first reading.
world_healthy_only_client_roams()
{
    peers
    start c traffic serve 0.0.0.0 7000 10
    start s traffic talk 10.9.3.7 7000 5 20000 50
    wait_until has_sent 150
    rule c input ip daddr 10.9.3.7 drop
    wait_until timed_out
    window=4
    finds_nothing_while s inside c nft flush ruleset
}

# A network fails over to another way: all of its connections lose a few packets in one moment.
world_healthy_loss_in_one_moment()
{
    peers 10.9.3.7/32 5 0
    start c traffic serve 0.0.0.0 7000 10
    PEERS=100 start s traffic talk 10.9.1.0 7000 100 1000 10
    start s traffic talk 10.9.3.7 7000 8 1000 10
    window=3
    examine s &
    wait_until has_sent 150
    rule c input ip daddr 10.9.3.7 limit rate 1/hour burst 80 packets drop
    wait_until has_lost 40
    wait "$!"
    is "$world: nothing" "" "$(cat "$work/found" "$work/err")"
}

# --- Round-trip times -------------------------------------------------------------------------

world_slow_zone_server()
{
    peers 10.9.2.0/24 40 0
    start s traffic serve 0.0.0.0 7000 100
    for zone in 1 2 3; do
        PEERS=10 SOURCE=10.9.$zone.10 start c traffic talk 10.8.0.1 7000 20 100 100
    done
    finds s 'slow-zone 10.9.2.0/24'
}

world_slow_zone_client()
{
    peers 10.9.4.0/24 40 0
    start c traffic serve 0.0.0.0 7000 100
    PEERS=1000 start s traffic talk 10.9.1.0 7000 1000 100 1000
    finds s 'slow-zone 10.9.4.0/24'
}

world_slow_zone_ipv6()
{
    peers 2001:db8:9:2::/64 40 0
    start s traffic serve :: 7000 100
    for zone in 1 2 3; do
        PEERS=10 SOURCE=2001:db8:9:$zone::10 start c traffic talk 2001:db8:8::1 7000 20 100 100
    done
    finds s 'slow-zone 2001:db8:9:2::/64'
}

world_slow_peer_of_100()
{
    peers 10.9.1.77/32 40 0
    start c traffic serve 0.0.0.0 7000 100
    PEERS=100 start s traffic talk 10.9.1.1 7000 100 100 50
    finds s 'slow-zone 10.9.1.77'
}

# Clients all over the world.
world_healthy_distant_clients()
{
    local zone paths=()
    for zone in {1..15}; do
        paths+=("10.9.$zone.0/24" $((zone * zone)) 0)
    done
    peers "${paths[@]}"
    start s traffic serve 0.0.0.0 7000 100
    for zone in {1..15}; do
        PEERS=5 SOURCE=10.9.$zone.10 start c traffic talk 10.8.0.1 7000 10 100 100
    done
    finds_nothing s
}

# It may be anywhere.
world_healthy_distant_client_with_many_connections()
{
    peers 10.9.2.0/24 40 0
    start s traffic serve 0.0.0.0 7000 100
    for zone in 1 3; do
        PEERS=10 SOURCE=10.9.$zone.10 start c traffic talk 10.8.0.1 7000 20 100 100
    done
    SOURCE=10.9.2.10 start c traffic talk 10.8.0.1 7000 10 100 100
    wait_until sends_slowly
    finds_nothing s
}

sends_slowly()
{
    inside s "$FASTNET" sockets -t --where 'min_rtt > 20ms and data_segs_out >= 5' --no-header \
        >"$work/slow" && has_lines "$work/slow" 10
}

world_healthy_distant_backup()
{
    peers 10.9.200.7/32 50 0
    start c traffic serve 0.0.0.0 7000 0
    PEERS=1000 start s traffic talk 10.9.1.0 7000 1000 100 200
    start s traffic talk 10.9.200.7 7000 4 20000 20
    finds_nothing s
}

# --- Connections that are not closed ----------------------------------------------------------

has_unclosed() # COUNT: connections at least
{
    inside s "$FASTNET" sockets -t --state close_wait --no-header >"$work/rows"
    [ "$(wc -l <"$work/rows")" -ge "$1" ]
}

leaving() # EVERY LATE: a connection every EVERY milliseconds, closed LATE connections later
{
    shows[close-wait]='ailments +[1-9]'
    namespace s
    start s ailments leaving "$1" "$2"
    wait_until has_unclosed "$2"
}

world_close_wait_slow()
{
    leaving 500 0
    finds s 'close-wait *ailments*'
}

world_close_wait_fast()
{
    leaving 20 0
    finds s 'close-wait *ailments*'
}

# Others use the same port, and close a second late: how many were closed says nothing about the one
# that leaks. After a minute, its connections are a finding for another reason.
world_close_wait_beside_others()
{
    longest=45
    leaving 10 100
    ADDRESS=127.0.0.2 leaves_too 200 0
    finds s 'close-wait *ailments*'
    is "... one of them" 1 "$(wc -l <"$work/found")"
}

leaves_too() # EVERY LATE: another process with this port
{
    start s ailments leaving "$1" "$2"
}

world_healthy_close_late_beside_others()
{
    leaving 10 100
    ADDRESS=127.0.0.2 leaves_too 50 200
    wait_until has_unclosed 300
    finds_nothing s
}

# Those of the last minute are no part of the finding, but of the evidence.
world_close_wait_old_and_new()
{
    leaving 300 0
    explains s close-wait ' connections that the other end closed more than a minute ago'
    "$FASTNET" doctor --netns=s --only=close-wait --for=0 --ndjson --columns=value,evidence \
        >"$work/rows" 2>"$work/err" </dev/null
    is "... of all" 1 "$(sed -nE 's/.*"value":([0-9]+),"evidence":"([0-9]+) sockets.*/\1 \2/p' "$work/rows" |
        awk '{ print ($2 > $1) }')"
}

world_healthy_close_a_second_late()
{
    leaving 10 100
    finds_nothing s
}

world_healthy_close_ten_seconds_late()
{
    leaving 50 200
    finds_nothing s
}

world_healthy_close_wait_constant()
{
    namespace s
    healthy s ailments unclosed 0 60 0
}

# --- Connections that a firewall has forgotten ------------------------------------------------

# The server only waits, and has set SO_KEEPALIVE.
world_peer_gone_keepalive()
{
    peers
    set_net s ipv4/tcp_keepalive_time 2 && set_net s ipv4/tcp_keepalive_intvl 5
    KEEPALIVE=1 start s traffic serve 0.0.0.0 7000 10
    SOURCE=10.9.1.1 start c traffic talk 10.8.0.1 7000 3 10 100000
    rule c input drop
    finds s 'peer-gone 10.9.1.1:*'
}
