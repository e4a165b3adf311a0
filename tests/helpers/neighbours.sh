# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Neighbours in this network namespace, one of every kind; lib.sh is sourced before.

awkward_device=$'a\e[1m"\\\xff' # no blank, '/' or ':', which the kernel refuses
long_device=long-device-012 # as long as a name can be

pair() # DEVICE PEER
{
    ip link add "$1" type veth peer name "$2" && ip link set "$1" up && ip link set "$2" up
}

# Interfaces in pairs. States shall not run on while they are listed: nobody is asked, and what
# nobody uses stays.
neighbour_network()
{
    local device
    pair near0 far0 && pair "$long_device" far1 || return
    for device in /proc/sys/net/ipv4/neigh/*/ /proc/sys/net/ipv6/neigh/*/; do
        echo 100000 >"$device/delay_first_probe_time"
        echo 100000 >"$device/retrans_time_ms"
        echo 1000000 >"$device/base_reachable_time_ms"
        echo 100000 >"$device/gc_stale_time"
        echo 100 >"$device/ucast_solicit"
        echo 100 >"$device/mcast_solicit"
    done
    ip addr add 192.0.2.1/24 dev near0 && ip addr add 198.51.100.1/24 dev "$long_device" &&
        ip addr add 2001:db8::1/64 dev near0 nodad
} 2>/dev/null

# Every state that can be set, every flag, both families, proxies. If all namespaces of the machine
# have many neighbours, the kernel takes some away, except what is permanent or was learned
# (NTF_EXT_LEARNED, neigh_update_gc_list() of net/core/neighbour.c).
neighbours_of_all_kinds()
{
    local i=10 state kept
    for state in permanent noarp reachable stale delay probe failed incomplete none; do
        kept=extern_learn
        [ $state != permanent ] || kept=
        ip neigh add 192.0.2.$i lladdr 02:00:5e:00:00:$i dev near0 nud $state $kept || return
        ip neigh add 2001:db8::$i lladdr 02:00:5e:00:00:$i dev near0 nud $state $kept || return
        i=$((i + 1))
    done
    ip neigh add 192.0.2.30 lladdr 02:00:5e:00:00:30 dev near0 nud stale router extern_learn \
        proto static
    ip neigh add 192.0.2.31 lladdr 02:00:5e:00:00:31 dev near0 extern_learn proto zebra
    ip neigh add 192.0.2.32 lladdr 02:00:5e:00:00:32 dev near0 managed extern_learn proto 77
    ip neigh add 2001:db8::30 lladdr 02:00:5e:00:00:30 dev near0 nud stale router extern_learn
    ip neigh add 198.51.100.7 lladdr 02:00:5e:00:00:aa dev "$long_device" nud permanent
    ip neigh add 192.0.2.10 lladdr 02:00:5e:00:00:bb dev "$long_device" nud stale extern_learn
    ip neigh add proxy 192.0.2.99 dev near0
    ip neigh add proxy 192.0.2.98 dev "$long_device"
    ip neigh add proxy 2001:db8::99 dev near0 proto static
} 2>/dev/null

neighbour_of_awkward_device()
{
    pair "$awkward_device" far2 &&
        ip neigh add 203.0.113.5 lladdr 02:00:5e:00:00:05 dev "$awkward_device" nud permanent
}
