# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Healthy worlds: many peers, many short connections, loss that TCP repairs, machines that start, roam
# or take over an address. In none of them does the doctor find anything.

# shellcheck disable=SC2154 # check-worlds sets work, world and status

samples+=(healthy_idle_clients healthy_without_ipv6 healthy_just_booted healthy_vrrp_failover healthy_netns_100 healthy_monitoring)

# --- Between the two readings -----------------------------------------------------------------

# The doctor has taken its first reading, and waits for the second.
waits_for_second()
{
    local pid
    pid=$(pgrep -f "^$FASTNET doctor") && is_asleep "$pid"
}

finds_nothing_while() # NAMESPACE COMMAND...: the command runs between the readings
{
    local doctor
    { examine "$1"; echo "$status" >"$work/status"; } &
    doctor=$!
    wait_until waits_for_second
    "${@:2}"
    wait "$doctor"
    is "$world: nothing" "0" "$(<"$work/status")$(cat "$work/found" "$work/err")"
}

# --- Many peers, many connections -------------------------------------------------------------

# The server has all addresses of 10.3.0.0/16, too.
many_addresses()
{
    three
    ip -n s route add local 10.3.0.0/16 dev lo
    ip -n r route add 10.3.0.0/16 via 10.2.0.1
    set_net c ipv4/ip_local_port_range '1024 65535'
}

# A crawler visits 5,000 machines. Some refuse the connection.
crawling() # VIEWPOINT
{
    trouble
    many_addresses
    start s traffic serve 0.0.0.0 80 2000
    HOSTS=5000 start c traffic visit 10.3.0.1 80 50 50
    HOSTS=5000 start c traffic knock 10.3.0.1 443 1 500
    finds_nothing "$1"
}

world_healthy_crawler()
{
    crawling c
}

world_healthy_crawler_router()
{
    crawling r
}

repeats_syns() # COUNT
{
    [ "$(inside c "$FASTNET" sockets -t --state syn_sent --where 'retransmits > 1' --no-header | wc -l)" -ge "$1" ]
}

# Some of the machines are away, and the crawler waits for them: for each once, or several times for
# the same.
crawling_to_absent() # ADDRESS...
{
    local address
    many_addresses
    rule r forward ip daddr 10.2.0.128/25 drop
    start s traffic serve 0.0.0.0 80 1
    HOSTS=5000 start c traffic visit 10.3.0.1 80 50 50
    for address; do
        start c dns connect "$address" 80 0
    done
    wait_until repeats_syns "$#"
    window=3
}

world_healthy_crawler_absent_hosts()
{
    crawling_to_absent 10.2.0.13{1..5}
    finds_nothing c
}

world_no_answer_beside_crawler()
{
    crawling_to_absent 10.2.0.13{1,1,1,1,1}
    finds c 'no-answer 10.2.0.131:80'
}

# Up to 5,000 connections a second come in, and as many go on to four servers.
balancing() # VIEWPOINT
{
    many_addresses
    set_net r ipv4/ip_local_port_range '1024 65535'
    set_net r ipv4/tcp_tw_reuse 1
    start r traffic serve 0.0.0.0 80 100
    start s traffic serve 0.0.0.0 80 100
    start c traffic visit 10.1.0.254 80 100 20
    HOSTS=4 start r traffic visit 10.3.0.1 80 100 20
    finds_nothing "$1"
}

world_healthy_balancer()
{
    balancing r
}

world_healthy_balancer_client()
{
    balancing c
}

world_healthy_balancer_server()
{
    balancing s
}

# A pool: clients keep connections, and use a few of them.
pooled() # VIEWPOINT
{
    three
    start s traffic serve 0.0.0.0 7000 100
    start c traffic talk 10.2.0.1 7000 500 0 1000
    start c traffic talk 10.2.0.1 7000 5 100 50
    finds_nothing "$1"
}

world_healthy_idle_clients()
{
    pooled s
}

world_healthy_idle_clients_client()
{
    pooled c
}

# --- Loss that is repaired --------------------------------------------------------------------

# A backup at the speed of the machine. One of 1,000 segments is lost.
backup() # VIEWPOINT
{
    three
    small_segments
    rule r forward tcp dport 7000 numgen random mod 1000 == 0 drop
    start s traffic serve 0.0.0.0 7000 0
    start c traffic talk 10.2.0.1 7000 1 65536 0
    finds_nothing "$1"
}

world_healthy_backup_with_loss()
{
    backup c
}

world_healthy_backup_with_loss_server()
{
    backup s
}

# --- NAT, DNS, monitoring ---------------------------------------------------------------------

# A router of a provider: clients with 10,000 addresses share its address.
world_healthy_cgnat()
{
    conntrack_needed "$world"
    many_addresses
    inside c nft 'add table ip nat; add chain ip nat post { type nat hook postrouting priority 100; }'
    inside c nft 'add rule ip nat post oif c0 snat to 100.64.0.1-100.64.39.16'
    inside r nft 'add table ip nat; add chain ip nat post { type nat hook postrouting priority 100; }'
    inside r nft 'add rule ip nat post oif r1 masquerade'
    ip -n r route add 100.64.0.0/10 via 10.1.0.1
    start s traffic serve 0.0.0.0 80 100
    start s traffic answer 0.0.0.0 443 0
    ulimit -n 8192
    HOSTS=2000 start c traffic ask 10.3.0.1 443 3000 500
    HOSTS=2000 start c traffic visit 10.3.0.1 80 20 50
    finds_nothing r
}

# A resolver answers many queries, and asks other servers itself.
resolving() # VIEWPOINT
{
    tracked
    start s traffic answer 10.2.0.1 53 0
    start c traffic answer 10.1.0.1 53 0
    start c traffic lookup 10.2.0.1 53 50 20
    start c traffic lookup 10.2.0.1 53 10 50
    start s traffic resolve 10.1.0.1 53 50 50
    window=5
    finds_nothing "$1"
}

world_healthy_resolver_under_load()
{
    resolving s
}

world_healthy_resolver_under_load_router()
{
    resolving r
}

world_healthy_resolver_under_load_client()
{
    resolving c
}

# Monitoring connects to all services of a machine again and again. One service is off.
monitored() # VIEWPOINT
{
    conntrack_needed "$world"
    three
    inside s nft 'add table ip nat; add chain ip nat pre { type nat hook prerouting priority -100; }'
    inside s nft 'add rule ip nat pre tcp dport 1000-1199 redirect to :7000'
    start s traffic serve 0.0.0.0 7000 10
    PORTS=200 start c traffic visit 10.2.0.1 1000 20 100
    start c traffic knock 10.2.0.1 9000 1 500
    finds_nothing "$1"
}

world_healthy_monitoring()
{
    monitored s
}

world_healthy_monitoring_client()
{
    monitored c
}

# --- Packets that lead nowhere ----------------------------------------------------------------

# A hypervisor without guests: the switch floods packets for machines that it does not know.
world_healthy_bridge_flooded()
{
    trouble
    namespace s
    namespace c
    cable s s0 c c0
    ip -n s link add br0 type bridge && ip -n s link set s0 up master br0
    ip -n s addr add 10.1.0.2/24 dev br0 && ip -n s link set br0 up
    ip -n c addr add 10.1.0.1/24 dev c0
    ip -n c neigh add 10.1.0.9 lladdr 06:00:00:00:00:09 dev c0
    start c traffic ask 10.1.0.9 9 2 20
    finds_nothing s
}

# A network over VXLAN (flannel), whose addresses are fixed: broadcasts have no target.
world_healthy_vxlan_broadcasts()
{
    trouble
    namespace s
    namespace c
    cable s s0 c c0
    ip -n s addr add 10.1.0.1/24 dev s0
    ip -n s link add vx0 type vxlan id 1 dstport 8472 local 10.1.0.1 nolearning
    ip -n s addr add 10.4.0.0/16 dev vx0 && ip -n s link set vx0 up
    start s traffic ask 10.4.255.255 9 2 20
    finds_nothing s
}

# A server with two cards in one network, and rp_filter.
two_cards()
{
    trouble
    lan s c
    cable s s1 lan port-s1 && ip -n lan link set port-s1 master br0
    ip -n s addr add 10.3.0.11/24 dev s1
    set_net s ipv4/conf/s0/rp_filter 1
    set_net s ipv4/conf/s1/rp_filter 1
}

# Its broadcasts come back by the other card.
world_healthy_two_cards_broadcasts()
{
    two_cards
    start s traffic ask 10.3.0.255 9 2 20
    finds_nothing s
}

# Broadcasts and multicasts of another machine come by both cards.
world_healthy_two_cards_receive()
{
    two_cards
    ip -n c route add 224.0.0.0/4 dev c0
    start c traffic ask 10.3.0.255 9 2 20
    start c traffic ask 224.0.0.1 9 2 20
    finds_nothing s
}

# --- Machines that change ---------------------------------------------------------------------

boot()
{
    three
    start s traffic serve 0.0.0.0 7000 100
    start c traffic talk 10.2.0.1 7000 10 100 20
}

# The machine has nothing in the first reading: interfaces, routes and programs come after it.
world_healthy_just_booted()
{
    trouble
    mkdir -p /run/netns
    ip netns add c
    # three() makes the others; the namespace is there
    namespace()
    {
        [ -e "/run/netns/$1" ] || ip netns add "$1"
        ip -n "$1" link set lo up
    }
    window=5
    finds_nothing_while c boot
}

# A client that roams is without a carrier for some time, and speaks on.
roam()
{
    ip -n r link set r0 down
    ip -n r link set r0 up
    ip -n r route replace 10.1.0.0/24 dev r0
}

roaming() # VIEWPOINT
{
    three
    start s traffic serve 0.0.0.0 7000 100
    start c traffic talk 10.2.0.1 7000 3 100 10
    window=5
    finds_nothing_while "$1" roam
}

world_healthy_roaming()
{
    roaming c
}

world_healthy_roaming_server()
{
    roaming s
}

world_healthy_roaming_router()
{
    roaming r
}

takes_over()
{
    ip -n r addr del 10.1.0.254/24 dev r0
    ip -n q link set vrrp up # announces the address by a gratuitous ARP
    wait_until neighbour_is 00:00:5e:00:01:01
}

neighbour_is() # MAC
{
    ip -n c neigh show 10.1.0.254 dev c0 | grep -q "lladdr $1"
}

# Two routers, of which one takes over the address 10.1.0.254 with a MAC address of VRRP.
failover() # VIEWPOINT
{
    local name
    for name in c r q s lan; do
        namespace "$name"
    done
    ip -n lan link add lan type bridge && ip -n lan link set lan up
    for name in c r q; do
        cable "$name" "${name}0" lan "p$name" && ip -n lan link set "p$name" master lan
    done
    cable s s0 r r1 && cable s s1 q q1
    ip -n c addr add 10.1.0.1/24 dev c0 && ip -n c route add default via 10.1.0.254
    ip -n r addr add 10.1.0.2/24 dev r0 && ip -n r addr add 10.1.0.254/24 dev r0
    ip -n q addr add 10.1.0.3/24 dev q0
    ip -n q link add vrrp link q0 type macvlan mode private
    ip -n q link set vrrp address 00:00:5e:00:01:01 && ip -n q addr add 10.1.0.254/32 dev vrrp
    ip -n r addr add 10.2.0.254/24 dev r1 && ip -n s addr add 10.2.0.1/24 dev s0
    ip -n q addr add 10.3.0.254/24 dev q1 && ip -n s addr add 10.3.0.1/24 dev s1
    ip -n q route add 10.2.0.1 via 10.3.0.1 && ip -n s route add default via 10.2.0.254
    for name in r q; do
        set_net "$name" ipv4/ip_forward 1
        set_net "$name" ipv4/conf/all/arp_ignore 1
    done
    set_net q ipv4/conf/vrrp/arp_notify 1
    start s traffic serve 0.0.0.0 7000 100
    start c traffic talk 10.2.0.1 7000 3 100 10
    window=5
    finds_nothing_while "$1" takes_over
}

world_healthy_vrrp_failover()
{
    failover c
}

world_healthy_vrrp_failover_backup()
{
    failover q
}

world_healthy_vrrp_failover_master()
{
    failover r
}

# --- Without IPv6 -----------------------------------------------------------------------------

world_healthy_without_ipv6()
{
    local name file
    three
    for name in c r s; do
        set_net "$name" ipv6/conf/all/disable_ipv6 1
        set_net "$name" ipv6/conf/default/disable_ipv6 1
    done
    talking s 100 10 100 20
    # the files of a kernel that has no IPv6
    mkdir -p "$work/tree/net"
    for file in tcp udp unix snmp netstat sockstat softnet_stat dev arp route; do
        inside s cat "/proc/net/$file" >"$work/tree/net/$file"
    done
    "$FASTNET" doctor --proc-root="$work/tree" --ndjson --where 'severity != past' >"$work/found" 2>"$work/err" </dev/null
    is "... captured: nothing" "1" "$?$(<"$work/found")"
    is "... without a word about IPv6" "" "$(grep -E 'tcp6|udp6|snmp6|sockstat6|IPv6' "$work/err" | grep -v '/net/arp')"
}

# --- Many network namespaces ------------------------------------------------------------------

# Files of namespaces outside of these worlds are mounted below the directory that hides them.
forget_other_namespaces()
{
    local file
    umount /run/netns
    while read -r file; do
        umount "$file"
    done < <(awk '/ - nsfs / { print $5 }' /proc/self/mountinfo)
    mount -t tmpfs none /run/netns
}

# The doctor needs two descriptors for each namespace, and does not find itself.
many_namespaces() # COUNT
{
    local i
    forget_other_namespaces
    for ((i = 1; i < $1; i++)); do
        ip netns add "n$i"
    done
    namespace n0
    start n0 ailments pairs 0 50
    (
        ulimit -n $((2 * $1 + 50))
        "$FASTNET" doctor --all-netns --skip=neighbour-table,softnet --for="$window" --ndjson \
            --where 'severity != past' >"$work/found" 2>"$work/err" </dev/null
    )
    is "$world: nothing" "0" "$?$(cat "$work/found" "$work/err")"
}

world_healthy_netns_100()
{
    many_namespaces 100
}

world_healthy_netns_2000()
{
    many_namespaces 2000
}
