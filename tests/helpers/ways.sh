# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2153,SC2154 # lib.sh sets work and HELPERS
# The network in which connections end for each cause that fastnet why knows; sourced after lib.sh,
# in a network namespace of its own.
#
#     c --- r --- s      the client, a router and a server
#           |     |
#         beyond  o      machines that are no namespaces (beyond.py), another namespace
#
#     d has links that are down, p has no free local port, t a full table of flows. A program drops
#     what comes from e to x.
#
# N.M is an address in network N: 10.N.0.M and 2001:db8:N::M. Network 1 is between c and r, 2
# between r and s, 3 and 4 are beyond. The port chooses the rule or listener that a connection meets.

started=0
helpers=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

inside() # NAMESPACE COMMAND...
{
    nsenter --net="/run/netns/$1" -- "${@:2}"
}

start() # NAMESPACE HELPER ARGUMENT...: until the script ends
{
    local said=$work/said.$((++started))
    : >"$said"
    sleep infinity | inside "$1" /usr/bin/python3 "$helpers/$2" "${@:3}" >"$said" 2>&1 &
    wait_until grep -qx ready "$said" || not_ok "$*" "$(cat "$said")"
}

four() # N.M
{
    echo "10.${1%.*}.0.${1#*.}"
}

six() # N.M
{
    echo "2001:db8:${1%.*}::${1#*.}"
}

# Addresses can be used at once, and no kernel limits how many ICMP messages it sends.
namespace() # NAME...
{
    local each
    for each; do
        ip netns add "$each" && inside "$each" sysctl -qw net.ipv6.conf.all.accept_dad=0 \
            net.ipv6.conf.default.accept_dad=0 net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0 &&
            ip -n "$each" link set lo up || return
    done
}

cable() # NAMESPACE INTERFACE NAMESPACE INTERFACE
{
    ip -n "$1" link add "$2" type veth peer name "$4" netns "$3" &&
        ip -n "$1" link set "$2" up && ip -n "$3" link set "$4" up
}

address() # NAMESPACE INTERFACE N.M...
{
    local each
    for each in "${@:3}"; do
        ip -n "$1" addr add "$(four "$each")/24" dev "$2" &&
            ip -n "$1" addr add "$(six "$each")/64" dev "$2" nodad || return
    done
}

# Turns words N.M (an address) or N (a network) into addresses of the family.
of_family() # 4|6 WORD...; leaves them in $words
{
    local each
    words=()
    for each in "${@:2}"; do
        case $1$each in
        4[0-9]*.*) words+=("$(four "$each")") ;;
        6[0-9]*.*) words+=("$(six "$each")") ;;
        4[0-9]*) words+=("10.$each.0.0/24") ;;
        6[0-9]*) words+=("2001:db8:$each::/64") ;;
        *) words+=("${each#=}") ;; # =N is the number N
        esac
    done
}

route() # NAMESPACE WORD...: words of "ip route add", for both families
{
    local words
    of_family 4 "${@:2}"
    ip -n "$1" -4 route add "${words[@]}" || return
    of_family 6 "${@:2}"
    ip -n "$1" -6 route add "${words[@]}"
}

policy() # NAMESPACE WORD...: words of "ip rule add"
{
    local words
    of_family 4 "${@:2}"
    ip -n "$1" -4 rule add "${words[@]}" || return
    of_family 6 "${@:2}"
    ip -n "$1" -6 rule add "${words[@]}"
}

# --- The ways ---------------------------------------------------------------------------------

ways_client()
{
    local network
    for network in 2 3 4 5 20 21 22 23 24; do
        route c $network via 1.254 || return
    done
    route c blackhole 11 && route c unreachable 12 && route c prohibit 13 &&
        policy c to 14 priority =114 prohibit && policy c to 15 priority =115 blackhole &&
        policy c to 16 priority =116 unreachable && policy c to 17 priority =117 table =77 &&
        route c 17 via 1.254 table =77 && route c 18 via 1.78 &&
        ip -n c addr add 10.9.0.1 dev lo && ip -n c addr add 2001:db8:9::1 dev lo &&
        route c 26 via 1.254 src 9.1
}

# Of this router, answers to 9.1 do not find the way back. It tells nobody that packets to 2.3 are
# too big: a black hole.
ways_router()
{
    inside r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
        net.ipv4.conf.all.rp_filter=1 && inside r ip tuntap add t0 mode tun &&
        ip -n r link set t0 up && address r t0 3.254 && route r 4 via 3.1 && route r 17 dev t0 &&
        route r 26 dev t0 && route r blackhole 21 && route r unreachable 22 && route r prohibit 23 &&
        ip -n r route add 10.2.0.3 dev r1 mtu lock 1280 &&
        ip -n r route add 2001:db8:2::3 dev r1 mtu lock 1280
}

ways_network()
{
    mount -t tmpfs fastnet-test /run && mkdir /run/netns && namespace c r s o d p e x &&
        cable c c0 r r0 && cable s s0 r r1 && cable o o0 s s1 && cable d d0 s s2 &&
        cable d d1 s s3 && cable e e0 x x0 && address c c0 1.1 && address r r0 1.254 && address r r1 2.254 &&
        address s s0 2.1 2.2 2.3 && address s s1 6.1 && address o o0 6.2 &&
        ways_client && ways_router && route s 1 via 2.254 && route s 3 via 2.254 &&
        inside s sysctl -qw net.ipv4.tcp_syncookies=0 net.ipv4.tcp_synack_retries=10 &&
        inside p sysctl -qw net.ipv4.ip_local_port_range='20000 20003' &&
        address d d0 50.1 && address d d1 51.1 && ip -n d link set d0 down &&
        ip -n s link set s3 down && address e e0 61.1 && address x x0 61.2 && known_neighbours
}

# The addresses of x, which nobody needs to ask for.
known_neighbours()
{
    local link
    link=$(ip -n x -j link show x0 | sed 's/.*"address":"\([^"]*\).*/\1/')
    ip -n e neigh add 10.61.0.2 lladdr "$link" dev e0 &&
        ip -n e neigh add 2001:db8:61::2 lladdr "$link" dev e0
}

# The ports of a chain's rules begin with the same two digits: 0 drops, 1 to 5 answer, 6 resets.
chain_rules() # DIGITS
{
    echo "tcp dport ${1}0 drop; tcp dport ${1}1 reject; tcp dport ${1}2 reject with icmpx host-unreachable;"
    echo "tcp dport ${1}3 reject with icmpx no-route; tcp dport ${1}4 reject with icmpx admin-prohibited;"
    echo "tcp dport ${1}5 meta nfproto ipv4 reject with icmp prot-unreachable;"
    echo "tcp dport ${1}5 meta nfproto ipv6 reject with icmpv6 reject-route;"
    echo "tcp dport ${1}6 reject with tcp reset; udp dport ${1}0 drop;"
}

ways_rules()
{
    local ports='{ 7060 : 8060, 7061 : 8061, 7062 : 7001, 7068 : 7050, 7069 : 8069 }' # after NAT
    inside c nft -f - <<END &&
table inet rules {
    chain out { type filter hook output priority 0; $(chain_rules 701)
        tcp dport 7070 ip ttl set 1
        tcp dport 7070 ip6 hoplimit set 1
    }
    chain in { type filter hook input priority 0; tcp sport 7018 drop; }
    chain nat { type nat hook output priority -100;
        ip daddr 10.2.0.1 tcp dport 7066-7067 dnat ip to 127.0.0.1 : tcp dport map { 7066 : 7001, 7067 : 7998 }
        ip6 daddr 2001:db8:2::1 tcp dport 7066-7067 dnat ip6 to [::1] : tcp dport map { 7066 : 7001, 7067 : 7998 }
    }
}
END
        inside r nft -f - <<END &&
table inet rules {
    chain before { type nat hook prerouting priority -100;
        ip daddr 10.2.0.9 tcp dport { 7060, 7061, 7062, 7068, 7069 } dnat ip to 10.2.0.1 : tcp dport map $ports
        ip6 daddr 2001:db8:2::9 tcp dport { 7060, 7061, 7062, 7068, 7069 } dnat ip6 to [2001:db8:2::1] : tcp dport map $ports
    }
    chain after { type nat hook postrouting priority 100; tcp dport 7063-7065 masquerade; }
    chain through { type filter hook forward priority 0; $(chain_rules 703)
        tcp sport 7038 drop
    }
    chain out { type filter hook output priority 0;
        icmp type destination-unreachable icmp code frag-needed drop
        icmpv6 type packet-too-big drop
        icmp type destination-unreachable @th,192,32 0x0a180001 drop # about packets to 24.1
        icmpv6 type destination-unreachable @th,256,128 0x20010db8002400000000000000000001 drop
    }
}
END
        inside s nft -f - <<END
table inet rules {
    chain in { type filter hook input priority 0; $(chain_rules 702)
        tcp dport { 8060, 7063 } drop
    }
    chain out { type filter hook output priority 0; tcp sport 7028 drop; }
    chain before { type nat hook prerouting priority -100; tcp dport 8069 redirect to :8060; }
}
END
}

# In order of their types and codes. The first ones are those that routers send most.
icmp_of_routers=(3.0/1.0 3.1/1.3 3.3/1.4 3.13/1.1 3.9/1.5 3.10/1.6 11.0/3.0)

ways_servers()
{
    local port wild=() icmp=()
    for port in 7001 70{1,2,3}{0,1,2,3,4,5,6,8} 7063 7064 7070 8060; do
        wild+=("[::]:$port,both")
    done
    for port in "${!icmp_of_routers[@]}"; do
        icmp+=("$((9010 + port))=${icmp_of_routers[port]}")
    done
    start s listen.py "${wild[@]}" 127.0.0.1:7003 '[::1]:7003' 10.2.0.2:7004 \
        '[2001:db8:2::2]:7004' '[::]:7008,both,dev=s1' '[::]:7006' 0.0.0.0:7007 10.2.0.1:7050,full \
        '[2001:db8:2::1]:7050,full' 10.2.0.1:7055,half '[2001:db8:2::1]:7055,half'
    start o listen.py '[::]:7005,both'
    start c listen.py '[::]:7001,both' 127.0.0.1:7003 '[::1]:7003'
    start p listen.py 127.0.0.1:7001,taken '[::1]:7001,taken'
    start r beyond.py t0 10.3.0.99 2001:db8:3::99 9002=refuses 9003=open 9004=full 9005=small \
        9006=big 9007=resets 9008=never 9009=hangup "${icmp[@]}" 10.2.0.1,7055 2001:db8:2::1,7055
    : >"$work/said.drop_by"
    sleep infinity | inside x "$HELPERS/drop_by" tc x0 >"$work/said.drop_by" 2>&1 &
    wait_until test -s "$work/said.drop_by" # which may not load programs
    wait_until half_open_are 4
}

half_open_are() # COUNT
{
    [ "$(inside s "$FASTNET" s -t --state=syn-recv --no-header </dev/null 2>/dev/null | wc -l)" -eq "$1" ]
}

# Names for addresses, and no server that knows others.
ways_names()
{
    private_names || return
    cat >>"$work/hosts" <<'END'
10.2.0.1 server.test
2001:db8:2::1 server.test
10.2.0.1 first4.test
10.4.0.1 first4.test
2001:db8:2::1 first6.test
2001:db8:4::1 first6.test
END
}
