# shellcheck shell=bash disable=SC2034,SC2154 # check-worlds uses and sets these
# SPDX-License-Identifier: MIT
# NAT: the client c sends to a service, which the node r translates to the pod p, or to the pod q.

samples+=(stale_nat_pod_unreachable healthy_nat_collector healthy_nat_dns)
shows[stale-nat]='src=10\.3\.0\.2 |src=2001:db8:3::2 '
shows[tracking-off]=entries

# The client 10.1.0.1, and the pods 10.3.0.2 and 10.3.0.3 on a bridge, or cables, of the node.
node()
{
    local name
    conntrack_needed "$world"
    for name in c r p q; do
        namespace "$name"
    done
    cable c c0 r r0
    cable p p0 r r1
    cable q q0 r r2
    ip -n c addr add 10.1.0.1/24 dev c0 && ip -n r addr add 10.1.0.254/24 dev r0
    ip -n c addr add 2001:db8:1::1/64 dev c0 nodad && ip -n r addr add 2001:db8:1::254/64 dev r0 nodad
    ip -n p addr add 10.3.0.2/24 dev p0 && ip -n p addr add 2001:db8:3::2/64 dev p0 nodad
    ip -n q addr add 10.3.0.3/24 dev q0 && ip -n q addr add 2001:db8:3::3/64 dev q0 nodad
    ip -n c route add default via 10.1.0.254 && ip -n c route add default via 2001:db8:1::254
    ip -n p route add default via 10.3.0.254 && ip -n p route add default via 2001:db8:3::254
    ip -n q route add default via 10.3.0.254 && ip -n q route add default via 2001:db8:3::254
    set_net r ipv4/ip_forward 1
    set_net r ipv6/conf/all/forwarding 1
    inside r nft 'add table ip nat; add chain ip nat pre { type nat hook prerouting priority -100; }'
    inside r nft 'add table ip6 nat; add chain ip6 nat pre { type nat hook prerouting priority -100; }'
}

bridged()
{
    node
    ip -n r link add br0 type bridge && ip -n r link set br0 up
    ip -n r link set r1 master br0 && ip -n r link set r2 master br0
    ip -n r addr add 10.3.0.254/24 dev br0 && ip -n r addr add 2001:db8:3::254/64 dev br0 nodad
}

routed()
{
    node
    ip -n r addr add 10.3.0.254/32 dev lo && ip -n r addr add 2001:db8:3::254/128 dev r1 nodad
    ip -n r addr add 2001:db8:3::254/128 dev r2 nodad
    ip -n r route add 10.3.0.2 dev r1 && ip -n r route add 2001:db8:3::2 dev r1
    ip -n r route add 10.3.0.3 dev r2 && ip -n r route add 2001:db8:3::3 dev r2
}

# The clients of a service ask, and all of them were answered.
served() # PODS PORT
{
    local pod
    for pod in $1; do
        start "$pod" traffic answer :: "$2" 0
    done
    start c traffic ask 10.96.0.10 "$2" 3 200
    start c traffic ask 2001:db8:96::10 "$2" 3 200
    wait_until has_flows "src=10.3.0.2 .*ASSURED"
    wait_until has_flows "src=2001:db8:3::2 .*ASSURED"
}

has_flows() # PATTERN
{
    inside r conntrack -L -p udp 2>/dev/null | cat - <(inside r conntrack -L -f ipv6 -p udp 2>/dev/null) | grep -q "$1"
}

leads() # PORT RULE...
{
    inside r nft "add rule ip nat pre udp dport $1 dnat to $2"
    inside r nft "add rule ip6 nat pre udp dport $1 dnat to $3"
}

# The service has another pod now, as new flows see.
moved() # PORT
{
    inside r nft 'flush chain ip nat pre'
    inside r nft 'flush chain ip6 nat pre'
    leads "$1" 10.3.0.3 2001:db8:3::3
}

both='stale-nat 10.3.0.2:4500'
both6='stale-nat ?2001:db8:3::2?:4500'

# --- Faults -----------------------------------------------------------------------------------

world_stale_nat_pod_unreachable()
{
    bridged
    leads 4500 10.3.0.2 2001:db8:3::2
    served p 4500
    moved 4500
    ip -n p link set p0 down
    finds r "$both" "$both6"
}

world_stale_nat_pod_removed()
{
    bridged
    leads 5001 10.3.0.2:4500 '[2001:db8:3::2]:4500'
    start p traffic answer :: 4500 0
    start c traffic ask 10.96.0.10 5001 3 200
    start c traffic ask 2001:db8:96::10 5001 3 200
    wait_until has_flows "src=2001:db8:3::2 .*ASSURED"
    moved 5001
    ip -n r link del r1
    finds r "$both" "$both6"
}

world_stale_nat_route_removed()
{
    routed
    leads 4500 10.3.0.2 2001:db8:3::2
    served p 4500
    moved 4500
    ip -n r link del r1
    finds r "$both" "$both6"
}

# Some networks of pods have such a route beside those of the pods.
world_stale_nat_black_hole()
{
    routed
    ip -n r route add blackhole 10.3.0.0/24 && ip -n r route add blackhole 2001:db8:3::/64
    leads 4500 10.3.0.2 2001:db8:3::2
    served p 4500
    moved 4500
    ip -n r link del r1
    finds r "$both" "$both6"
}

# Packets to both pods are dropped at one place.
world_stale_nat_black_hole_of_two()
{
    routed
    ip -n r route add blackhole 10.3.0.0/24 && ip -n r route add blackhole 2001:db8:3::/64
    leads 4500 10.3.0.2 2001:db8:3::2
    leads 4600 10.3.0.3 2001:db8:3::3
    served p 4500
    served q 4600
    wait_until has_flows "src=10.3.0.3 .*ASSURED"
    wait_until has_flows "src=2001:db8:3::3 .*ASSURED"
    ip -n r link del r1
    ip -n r link del r2
    shows[stale-nat]='src=10\.3\.0\.[23] |src=2001:db8:3::[23] '
    finds r "$both" "$both6" 'stale-nat 10.3.0.3:4600' 'stale-nat ?2001:db8:3::3?:4600'
}

# As kube-proxy does: rules choose a pod at random, and one of them goes.
world_stale_nat_one_pod_of_two()
{
    bridged
    inside r nft 'add rule ip nat pre udp dport 4500 dnat to numgen inc mod 2 map { 0 : 10.3.0.2, 1 : 10.3.0.3 }'
    inside r nft 'add rule ip6 nat pre udp dport 4500 dnat to numgen inc mod 2 map { 0 : 2001:db8:3::2, 1 : 2001:db8:3::3 }'
    served 'p q' 4500
    moved 4500
    ip -n p link set p0 down
    finds r "$both" "$both6"
}

# The clients are programs of the node.
world_stale_nat_of_this_machine()
{
    bridged
    inside r nft 'add chain ip nat out { type nat hook output priority -100; }'
    inside r nft 'add rule ip nat out udp dport 4500 dnat to 10.3.0.2'
    ip -n r route add default via 10.1.0.1
    start p traffic answer :: 4500 0
    start r traffic ask 10.96.0.10 4500 3 200
    wait_until has_flows "src=10.3.0.2 .*ASSURED"
    ip -n p link set p0 down
    finds r "$both"
}

# The same, but the route goes: the hook in which NAT changes the destination drops the packets.
world_stale_nat_of_this_machine_without_route()
{
    routed
    inside r nft 'add chain ip nat out { type nat hook output priority -100; }'
    inside r nft 'add chain ip6 nat out { type nat hook output priority -100; }'
    inside r nft 'add rule ip nat out udp dport 4500 dnat to 10.3.0.2'
    inside r nft 'add rule ip6 nat out udp dport 4500 dnat to 2001:db8:3::2'
    ip -n r route add 10.96.0.0/16 via 10.1.0.1 && ip -n r route add 2001:db8:96::/64 via 2001:db8:1::1
    start p traffic answer :: 4500 0
    start r traffic ask 10.96.0.10 4500 3 200
    start r traffic ask 2001:db8:96::10 4500 3 200
    wait_until has_flows "src=10.3.0.2 .*ASSURED"
    wait_until has_flows "src=2001:db8:3::2 .*ASSURED"
    ip -n r link del r1
    finds r "$both" "$both6"
}

world_stale_nat_unanswered_from_the_first()
{
    bridged
    leads 514 10.3.0.9 2001:db8:3::2
    start c traffic ask 10.96.0.10 514 2 200
    shows[stale-nat]='src=10\.3\.0\.9 '
    finds r 'stale-nat 10.3.0.9:514'
}

world_stale_nat_packets_are_counted()
{
    bridged
    set_net r netfilter/nf_conntrack_acct 1
    leads 4500 10.3.0.2 2001:db8:3::2
    served p 4500
    ip -n p link set p0 down
    finds r "$both" "$both6"
}

# The rules go, and with them all flows.
rules_come_or_go()
{
    if [ -n "$(inside r nft list ruleset)" ]; then
        inside r nft flush ruleset
        inside r conntrack -F
    else
        inside r nft 'add table inet t; add chain inet t c { type filter hook input priority 0; }
            add rule inet t c ct state established accept'
        crowd_lines 0 20 | inside r conntrack -R -
    fi
    true
}

world_tracking_off()
{
    conntrack_needed "$world"
    namespace r
    every 1.3 rules_come_or_go >/dev/null 2>&1 &
    finds r 'tracking-off connection tracking'
}

# --- Healthy worlds ---------------------------------------------------------------------------

# Nobody answers a datagram of syslog or of metrics.
world_healthy_nat_collector()
{
    trouble
    bridged
    leads 514 10.3.0.2 2001:db8:3::2
    start p multicast bind :: 514
    start c traffic ask 10.96.0.10 514 3 100
    start c traffic ask 2001:db8:96::10 514 3 100
    finds_nothing r
}

world_healthy_nat_collector_counted()
{
    trouble
    routed
    set_net r netfilter/nf_conntrack_acct 1
    leads 514 10.3.0.2 2001:db8:3::2
    start p multicast bind :: 514
    start c traffic ask 10.96.0.10 514 3 100
    finds_nothing r
}

world_healthy_nat_dns()
{
    trouble
    bridged
    leads 53 10.3.0.2 2001:db8:3::2
    served p 53
    start c traffic lookup 10.96.0.10 53 20 10
    finds_nothing r
}

# A rule of the firewall drops what programs of the node send to a pod that can be reached.
world_healthy_nat_of_this_machine_filtered()
{
    trouble
    bridged
    inside r nft 'add chain ip nat out { type nat hook output priority -100; }'
    inside r nft 'add rule ip nat out udp dport 4500 dnat to 10.3.0.2'
    ip -n r route add default via 10.1.0.1
    start p traffic answer :: 4500 0
    start r traffic ask 10.96.0.10 4500 3 200
    wait_until has_flows "src=10.3.0.2 .*ASSURED"
    rule r output udp dport 4500 drop
    finds_nothing r
}

# The pod and its clients are gone.
world_healthy_nat_clients_gone()
{
    trouble
    bridged
    leads 4500 10.3.0.2 2001:db8:3::2
    start p traffic answer :: 4500 0
    inside c timeout 1 "$HELPERS/traffic" ask 10.96.0.10 4500 3 100 < <(tail -f /dev/null) >"$work/said"
    ip -n p link set p0 down
    ip -n r neigh flush to 10.3.0.2
    start r traffic ask 10.3.0.2 9 1 100
    wait_until is_silent 10.3.0.2
    finds_nothing r
}

is_silent() # ADDRESS
{
    ip -n r neigh show "$1" nud failed nud incomplete | grep -q .
}

# A pod that is gone, and a flow to another pod with the old address of the client.
world_healthy_nat_other_machine_is_off()
{
    trouble
    bridged
    leads 4500 10.3.0.2 2001:db8:3::2
    served p 4500
    start c traffic ask 10.3.0.77 9 1 100
    wait_until is_silent 10.3.0.77
    finds_nothing r
}

world_healthy_nat_many_flows()
{
    trouble
    node
    ip -n r addr add 10.3.0.254/24 dev r1
    inside r nft 'add chain ip nat post { type nat hook postrouting priority 100; }'
    inside r nft 'add rule ip nat post oif r1 masquerade'
    inside r nft 'add rule ip nat pre udp dport 9999 dnat to 10.3.0.9'
    start p traffic answer :: 7 0
    start c traffic ask 10.3.0.2 7 500 100
    start c traffic ask 10.3.0.77 7 2 100
    finds_nothing r
}

# An administrator empties the table; the flows come again with their next packets.
world_healthy_tracking_flushed()
{
    trouble
    bridged
    leads 4500 10.3.0.2 2001:db8:3::2
    served p 4500
    every 0.7 inside r conntrack -F >/dev/null 2>&1 &
    finds_nothing r
}

flows_for_two_seconds()
{
    crowd_lines 0 50 2 | inside r conntrack -R -
}

# All flows end at the same time, and nobody makes others.
world_healthy_tracking_idle()
{
    trouble
    conntrack_needed "$world"
    namespace r
    rule r input ct state established accept
    every 4 flows_for_two_seconds >/dev/null 2>&1 &
    finds_nothing r
}

world_healthy_tracking_unused()
{
    trouble
    namespace r
    finds_nothing r
}
