# shellcheck shell=bash disable=SC2034,SC2154 # check-worlds uses and sets these
# SPDX-License-Identifier: MIT
# Worlds of neighbours: two machines with one address, and machines that look similar but are
# healthy.

samples+=(neighbour_of_two_machines neighbour_own_address healthy_neighbour_vrrp)
shows[neighbour-flap]='10\.3\.0\.[29]|2001:db8::9|c0 '

mac_a=06:11:11:11:11:0a
mac_b=06:22:22:22:22:0b

# A switch, and machines at its ports: 10.3.0.1 and 2001:db8::1, 10.3.0.2 ...
lan() # NAME...
{
    local name number=0
    ip netns add lan && ip -n lan link add br0 type bridge && ip -n lan link set br0 up
    for name; do
        number=$((number + 1))
        namespace "$name"
        cable "$name" "${name}0" lan "port-$name" && ip -n lan link set "port-$name" master br0
        ip -n "$name" addr add "10.3.0.$number/24" dev "${name}0"
        ip -n "$name" addr add "2001:db8::$number/64" dev "${name}0" nodad
    done
}

knows() # NAMESPACE ADDRESS
{
    ip -n "$1" neigh show "$2" | grep -q lladdr
}

# The neighbour has an entry, which it keeps while others announce it.
neighbour_is_known() # NAMESPACE ADDRESS
{
    start "$1" traffic ask "$2" 9 1 200
    wait_until knows "$1" "$2"
}

# The doctor listens to neighbours between its readings: RTNLGRP_NEIGH and RTNLGRP_IPV4_IFADDR.
is_watched() # NAMESPACE
{
    inside "$1" grep -q ' 00000014 ' /proc/net/netlink
}

# --- Faults -----------------------------------------------------------------------------------

# Two machines have 10.3.0.9, and both often ask for others.
two_machines()
{
    lan c a b
    ip -n a link set a0 address "$mac_a" && ip -n b link set b0 address "$mac_b"
    ip -n a addr add 10.3.0.9/24 dev a0 && ip -n b addr add 10.3.0.9/24 dev b0
    neighbour_is_known c 10.3.0.9
    start a announce claim a0 300 10.3.0.9 "$mac_a"
    start b announce claim b0 310 10.3.0.9 "$mac_b"
}

world_neighbour_of_two_machines()
{
    two_machines
    finds c 'neighbour-flap 10.3.0.9'
}

world_neighbour_own_address()
{
    two_machines
    finds a 'neighbour-flap 10.3.0.9'
    explains a neighbour-flap "$mac_b"
}

world_neighbour_of_three_machines()
{
    lan c a
    neighbour_is_known c 10.3.0.2
    start a announce claim a0 100 10.3.0.9 "$mac_a" "$mac_b" 06:33:33:33:33:0c
    neighbour_is_known c 10.3.0.9
    finds c 'neighbour-flap 10.3.0.9'
}

world_neighbour_ipv6()
{
    lan c a
    start a announce claim a0 100 2001:db8::9 "$mac_a" "$mac_b"
    neighbour_is_known c 2001:db8::9
    finds c 'neighbour-flap 2001:db8::9'
}

# Two routers have an address that only one of them may have.
world_neighbour_two_masters()
{
    lan c a b
    ip -n a addr add 10.3.0.9/32 dev a0 && ip -n b addr add 10.3.0.9/32 dev b0
    start b announce claim b0 700 10.3.0.9 "$mac_b"
    finds a 'neighbour-flap 10.3.0.9'
}

# A machine says that it is the gateway.
world_neighbour_spoofed_gateway()
{
    lan c r b
    ip -n c route add default via 10.3.0.2
    ip -n r link set r0 address "$mac_a"
    neighbour_is_known c 10.3.0.2
    start r announce claim r0 500 10.3.0.2 "$mac_a"
    start b announce claim b0 500 10.3.0.2 "$mac_b"
    finds c 'neighbour-flap 10.3.0.2'
}

# A process asks for all addresses of its network, which no machine has.
world_neighbour_scan()
{
    lan c a
    start c announce knock c0 5 10.3.0.3 250
    finds c 'neighbour-flap c0'
    explains c neighbour-flap announce
}

world_neighbour_scan_ipv6()
{
    lan c a
    start c announce scan c0 5 2001:db8::1000 100000
    finds c 'neighbour-flap c0'
}

# --- Healthy ----------------------------------------------------------------------------------

# The address goes from one router to another again and again, with the MAC address of VRRP.
world_healthy_neighbour_vrrp()
{
    trouble
    lan c a b
    start a announce claim a0 300 10.3.0.9 00:00:5e:00:01:07
    start b announce claim b0 310 10.3.0.9 00:00:5e:00:01:07
    neighbour_is_known c 10.3.0.9
    finds_nothing c
}

# A router without MAC address of VRRP, or a bond: another machine or port has the address from now
# on, and says so five times.
world_healthy_neighbour_failover()
{
    trouble
    lan c a b
    ip -n a addr add 10.3.0.9/24 dev a0
    neighbour_is_known c 10.3.0.9
    {
        wait_until is_watched c
        ip -n a addr del 10.3.0.9/24 dev a0
        ip -n b link set b0 address "$mac_b"
        ip -n b addr add 10.3.0.9/24 dev b0
        start b announce claim b0 100 10.3.0.9 "$mac_b"
    } &
    finds_nothing c
    wait $!
    finds_nothing a
    finds_nothing b
}

# This machine gives its address away for a moment, as a router does whose daemon starts again.
world_healthy_neighbour_gives_address_away()
{
    trouble
    lan c a
    ip -n c addr add 10.3.0.9/32 dev c0
    {
        wait_until is_watched c
        ip -n c addr del 10.3.0.9/32 dev c0
        start a announce claim a0 10 10.3.0.9 "$mac_a"
        ip -n lan link set port-a down
        ip -n c addr add 10.3.0.9/32 dev c0
    } &
    finds_nothing c
    wait $!
}

# A load balancer has the address, and the servers behind it have it where they do not use ARP.
world_healthy_neighbour_address_on_loopback()
{
    trouble
    lan c a
    ip -n c addr add 10.3.0.9/32 dev lo
    start a announce claim a0 100 10.3.0.9 "$mac_a"
    finds_nothing c
}

# ... or the servers have it on an interface with ARP, and do not answer for it.
address_is_hidden() # COMMAND...
{
    trouble
    lan c a
    ip -n c addr add 10.3.0.9/32 dev c0
    "$@"
    start a announce claim a0 100 10.3.0.9 "$mac_a"
    finds_nothing c
}

world_healthy_neighbour_address_filtered()
{
    address_is_hidden inside c nft 'add table arp t; add chain arp t in { type filter hook input priority 0; }; add rule arp t in arp daddr ip 10.3.0.9 drop'
}

world_healthy_neighbour_address_not_answered()
{
    address_is_hidden set_net c ipv4/conf/c0/arp_ignore 8
}

# A station keeps its MAC address when it goes to another access point.
world_healthy_neighbour_roams()
{
    trouble
    lan c a
    ip -n lan link add br1 type bridge && ip -n lan link set br1 up
    ip -n lan link add up0 type veth peer name up1
    ip -n lan link set up0 up master br0 && ip -n lan link set up1 up master br1
    neighbour_is_known c 10.3.0.2
    {
        wait_until is_watched c
        ip -n lan link set port-a master br1
    } &
    finds_nothing c
    wait $!
}

# A router answers for all machines behind it.
world_healthy_neighbour_proxy_arp()
{
    local i
    trouble
    lan c r
    namespace s && cable r r1 s s0
    set_net r ipv4/conf/r0/proxy_arp 1
    set_net r ipv4/ip_forward 1
    ip -n r addr add 10.3.0.129/25 dev r1
    ip -n s addr add 10.3.0.130/24 dev s0
    for i in 131 132 133; do
        ip -n s addr add "10.3.0.$i/24" dev s0
        neighbour_is_known c "10.3.0.$i"
    done
    finds_nothing c
    finds_nothing r
}

# Another machine asks whether an address is free, also one that is not.
world_healthy_neighbour_probes()
{
    trouble
    lan c a
    start a announce probe a0 100 10.3.0.77 "$mac_a"
    start a announce probe a0 100 10.3.0.1 "$mac_a"
    finds_nothing c
}

forgets() # NAMESPACE...
{
    local name
    for name; do
        ip -n "$name" neigh flush dev "${name}0" || return
    done
}

# Two interfaces of this machine are in one network, and both answer for its addresses.
world_healthy_neighbour_two_interfaces()
{
    trouble
    lan c a
    cable c c1 lan port-c1 && ip -n lan link set port-c1 master br0
    ip -n c addr add 10.3.0.8/24 dev c1
    ip -n c link add m0 link c0 type macvlan mode bridge
    ip -n c link set m0 up && ip -n c addr add 10.3.0.7/24 dev m0
    start a traffic ask 10.3.0.1 9 1 100
    start a traffic ask 10.3.0.8 9 1 100
    start c traffic ask 10.3.0.2 9 1 50
    every 0.1 forgets c 2>/dev/null &
    finds_nothing c
    finds_nothing a
    kill $!
}

# A busy network: each second some of 500 machines come, and others go.
world_healthy_neighbour_many()
{
    trouble
    lan c a
    start a announce many a0 1 10.3.1.0 500
    ip -n c addr add 10.3.9.1/16 dev c0
    set_net c ipv4/conf/c0/arp_accept 1
    wait_until knows c 10.3.1.200
    every 0.3 forgets c 2>/dev/null &
    finds_nothing c
    kill $!
}

# Entries go from REACHABLE to STALE and back, with the same MAC address.
world_healthy_neighbour_states()
{
    trouble
    lan c a
    set_net c ipv4/neigh/c0/base_reachable_time_ms 100
    set_net c ipv4/neigh/c0/delay_first_probe_time 0
    neighbour_is_known c 10.3.0.2
    finds_nothing c
}

# Events of neighbours need no rights, so only the part that receives ARP packets is not tried.
world_neighbour_of_two_machines_for_a_user()
{
    local as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    two_machines
    if ! "${as_user[@]}" true 2>/dev/null; then
        skip "$world" "no other user in this namespace"
        return
    fi
    program_for_everybody
    inside c "${as_user[@]}" "$FASTNET" doctor --only=neighbour-flap --for=3 >"$work/rows" 2>"$work/err" </dev/null
    is "$world: only ARP packets are missing" "neighbour-flap (no ARP packets)" \
        "$(sed -n 's/.*is missing: //p' "$work/err")"
}
