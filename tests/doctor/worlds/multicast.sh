# shellcheck shell=bash disable=SC2034,SC2154 # check-worlds uses and sets these
# SPDX-License-Identifier: MIT
# Multicast: the server s receives, and the client c sends by a cable of their own.

samples+=(multicast_missing multicast_missing_ipv6 healthy_multicast_joined healthy_multicast_chatter)
shows[multicast-missing]=':5000'

# The receiver r0 10.7.0.1, and the sender c0 10.7.0.2; a second cable from s to c.
studio()
{
    namespace s
    namespace c
    cable s s0 c c0
    cable s s1 c c1
    ip -n s addr add 10.7.0.1/24 dev s0 && ip -n c addr add 10.7.0.2/24 dev c0
    ip -n s addr add 10.8.0.1/24 dev s1 && ip -n c addr add 10.8.0.2/24 dev c1
    ip -n s addr add 2001:db8:7::1/64 dev s0 nodad && ip -n c addr add 2001:db8:7::2/64 dev c0 nodad
    ip -n c route add 224.0.0.0/4 dev c0 && ip -n s route add 224.0.0.0/4 dev s1
    ip -n c -6 route add ff15::/16 dev c0 table local metric 1
}

sends() # [GROUP [EVERY]]
{
    start c traffic ask "${1-239.1.2.3}" 5000 1 "${2-50}"
}

# --- Faults -----------------------------------------------------------------------------------

world_multicast_missing()
{
    studio
    start s multicast bind 239.1.2.3 5000
    sends
    finds s 'multicast-missing 239.1.2.3:5000'
}

world_multicast_missing_ipv6()
{
    studio
    start s multicast bind ff15::55 5000
    sends ff15::55
    finds s 'multicast-missing ?ff15::55?:5000'
}

world_multicast_missing_only_on_lo()
{
    studio
    start s multicast bind 0.0.0.0 5000 239.1.2.3 lo
    sends
    finds s 'multicast-missing 239.1.2.3:5000'
}

world_multicast_missing_only_on_lo_ipv6()
{
    studio
    start s multicast bind :: 5000 ff15::55 lo
    sends ff15::55
    finds s 'multicast-missing ?ff15::55?:5000'
}

world_multicast_missing_one_of_two_groups()
{
    studio
    start s multicast bind 239.1.2.3 5000
    start s multicast bind 239.1.2.4 5000 239.1.2.4 s0
    sends
    sends 239.1.2.4
    finds s 'multicast-missing 239.1.2.3:5000'
}

# All packets are dropped at one place, among those of a group that nobody wants.
world_multicast_missing_two_groups()
{
    local group
    studio
    sends 239.255.255.250 5
    sends ff15::66 5
    for group in 239.1.2.3 239.1.2.4 ff15::55 ff15::56; do
        start s multicast bind "$group" 5000
        sends "$group"
    done
    finds s 'multicast-missing 239.1.2.3:5000' 'multicast-missing 239.1.2.4:5000' \
        'multicast-missing ?ff15::55?:5000' 'multicast-missing ?ff15::56?:5000'
}

# There is no room for each of them.
world_multicast_missing_among_many()
{
    studio
    start s multicast bind 239.1.2.3 5000
    sends
    start c traffic scan-udp 239.1.2.9 6000 200 100
    finds s 'multicast-missing 239.1.2.3:5000'
    explains s multicast-missing ' s at least '
}

# --- Healthy worlds ---------------------------------------------------------------------------

world_healthy_multicast_joined()
{
    trouble
    studio
    start s multicast bind 239.1.2.3 5000 239.1.2.3 s0
    start s multicast bind ff15::55 5000 ff15::55 s0
    sends
    sends ff15::55
    finds_nothing s
}

received() # NAMESPACE
{
    # shellcheck disable=SC2016 # awk reads the program
    inside "$1" awk '/^Udp: [0-9]/ && $2 > 0 { found = 1 } END { exit !found }' /proc/net/snmp
}

# A player that pauses: it has left the group, and its socket is still bound.
world_healthy_multicast_paused()
{
    local player
    trouble
    studio
    start s multicast bind 239.1.2.3 5000
    nsenter --net=/run/netns/s -- "$HELPERS/multicast" 239.1.2.3 s0 < <(sleep infinity) \
        >"$work/said.player" 2>&1 &
    player=$!
    sends
    wait_until received s
    kill "$player"
    wait "$player" 2>"$work/said.player"
    finds_nothing s
}

# Nobody here wants it: no socket, and servers for unicast with the same port.
world_healthy_multicast_chatter()
{
    trouble
    studio
    start s multicast bind 0.0.0.0 5000
    start s multicast bind 10.7.0.1 5001
    start s multicast bind :: 5002
    sends 224.0.0.251 20
    sends 239.255.255.250 20
    sends ff15::66 20
    start c traffic ask 224.0.1.1 5001 1 20
    start c traffic ask 239.1.2.3 5002 1 20
    finds_nothing s
}

# A program that has chosen one interface, on which packets come; the same group is in use on
# another.
world_healthy_multicast_on_one_of_two()
{
    trouble
    studio
    start s multicast bind 239.1.2.3 5000 239.1.2.3 s1
    sends
    ip -n c route change 224.0.0.0/4 dev c1
    sends
    ip -n c route change 224.0.0.0/4 dev c0
    finds_nothing s
}

# A program that has chosen one interface, on which no packet comes.
world_healthy_multicast_joined_elsewhere()
{
    trouble
    studio
    start s multicast bind 239.1.2.3 5000 239.1.2.3 s1
    sends
    finds_nothing s
}

world_healthy_multicast_to_itself()
{
    trouble
    studio
    ip -n s route change 224.0.0.0/4 dev lo
    start s multicast bind 239.1.2.3 5000 239.1.2.3 s0
    start s traffic ask 239.1.2.3 5000 1 20
    finds_nothing s
}

world_healthy_multicast_neighbours_of_ipv6()
{
    trouble
    studio
    start c traffic ask 2001:db8:7::77 5000 3 200
    start s multicast bind :: 5000
    finds_nothing s
}
