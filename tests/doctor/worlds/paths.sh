# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Worlds of the rules loss, slow-zone and close-wait. In most of them, the server s speaks with many
# peers in 10.9.0.0/16 and 2001:db8:9::/48, which are all in the namespace c. Each peer has a path of
# its own: the relay between s and c delays and drops packets by address.

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

world_loss_peer()
{
    peers 10.9.3.7/32 40 30
    start c traffic serve 0.0.0.0 7000 10
    PEERS=1000 start s traffic talk 10.9.3.0 7000 1000 1000 100
    PEERS=1 start s traffic talk 10.9.3.7 7000 5 20000 50
    finds s 'loss 10.9.3.7'
}

world_loss_subnet_server()
{
    peers 10.9.1.0/24 5 30
    start s traffic serve 0.0.0.0 7000 5000
    PEERS=600 SOURCE=10.9.0.10 start c traffic talk 10.8.0.1 7000 600 100 100
    finds s 'loss 10.9.1.0/24'
}

world_loss_ipv6()
{
    peers 2001:db8:9:1::/64 5 30
    start c traffic serve :: 7000 10
    PEERS=20 start s traffic talk 2001:db8:9:1::1 7000 20 1000 20
    PEERS=20 start s traffic talk 2001:db8:9:2::1 7000 40 1000 20
    finds s 'loss 2001:db8:9:1::/64'
}

world_healthy_loss_peers_1_of_1000()
{
    peers 10.9.0.0/16 1 1
    start c traffic serve 0.0.0.0 7000 10
    PEERS=400 start s traffic talk 10.9.3.0 7000 400 1000 20
    finds_nothing s
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
