# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # work is of lib.sh
# Network namespaces for the conntrack tests; source it after lib.sh, in a network namespace of its
# own. That namespace is the router between the namespaces of a client and of a server.
#
#     client 192.0.2.2, 2001:db8:1::2 -- router -- 198.51.100.2, 2001:db8:2::2 server
#     203.0.113.0/24 and 2001:db8:3::/64 are the router's, for NAT; 198.51.100.99 and
#     2001:db8:2::99 take packets and answer none.


# An address that is not usable yet would hold up the first packet for seconds (RFC 4862, 5.4).
flows_no_dad='echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'

flows_namespaces=() # processes that hold the client's and the server's namespace

# Leaves the process in flows_namespaces.
flows_namespace()
{
    unshare --net sleep infinity </dev/null >/dev/null 2>&1 &
    local pid=$!
    is_elsewhere()
    {
        ! [ "/proc/$pid/ns/net" -ef /proc/self/ns/net ]
    }
    wait_until is_elsewhere && flows_namespaces+=("$pid")
}

# One side: a pair of interfaces, addresses at both ends, the default route through the router.
flows_side() # PID NAME IPV4_NETWORK IPV6_NETWORK
{
    local pid=$1 name=$2 four=$3 six=$4
    local there=(nsenter -t "$pid" -n)
    "${there[@]}" sh -c "$flows_no_dad" || return
    ip link add "to-$name" type veth peer name "$name" netns "$pid" || return
    ip addr add "$four.1/24" dev "to-$name"
    ip addr add "$six::1/64" dev "to-$name" nodad
    ip link set "to-$name" up
    "${there[@]}" ip link set lo up
    "${there[@]}" ip addr add "$four.2/24" dev "$name"
    "${there[@]}" ip addr add "$six::2/64" dev "$name" nodad
    "${there[@]}" ip link set "$name" up
    "${there[@]}" ip route add default via "$four.1"
    "${there[@]}" ip route add default via "$six::1"
}

flows_network()
{
    sh -c "$flows_no_dad" || return
    flows_namespace && flows_namespace || return
    flows_side "${flows_namespaces[0]}" client 192.0.2 2001:db8:1 || return
    flows_side "${flows_namespaces[1]}" server 198.51.100 2001:db8:2 || return
    local silent
    for silent in 198.51.100.99 2001:db8:2::99; do
        ip neigh add "$silent" lladdr 02:00:00:00:00:99 dev to-server nud permanent || return
    done
    # Without neighbour discovery and its ICMPv6 nothing changes but what the test changes.
    echo 1 >/proc/sys/net/ipv4/ip_forward
    echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
}

# Waits that outlast the tests, each of them another and of six digits: no other number has those.
flows_timeouts()
{
    local file seconds=400000
    for file in /proc/sys/net/netfilter/nf_conntrack_*_timeout*; do
        seconds=$((seconds + 1000))
        echo "$seconds" >"$file" || return
    done
    echo 1 >/proc/sys/net/netfilter/nf_conntrack_events
}

# Counters and times of flows that begin from now on.
flows_count() # 0|1
{
    echo "$1" >/proc/sys/net/netfilter/nf_conntrack_acct &&
        echo "$1" >/proc/sys/net/netfilter/nf_conntrack_timestamp
}

# The server's port decides what the router does.
flows_rules()
{
    nft -f - <<'END'
table inet flows {
    ct helper ftp {
        type "ftp" protocol tcp
    }
    chain before {
        type filter hook prerouting priority raw
        udp dport 9999 notrack
        udp sport 9999 notrack
        udp dport 9030 ct zone set 30
        udp dport 9031 ct original zone set 31
        udp dport 9032 ct reply zone set 32
    }
    chain early {
        type filter hook prerouting priority mangle
        tcp dport 21 ct helper set "ftp"
        tcp dport 8001 ct mark set 0x00010011
        tcp dport 8002 ct mark set 4294967295
        udp dport 9001 ct mark set 0x12
        tcp dport 8001 ct label set 0
        tcp dport 8001 ct label set 127
        tcp dport 8002 ct label set 5
        udp dport 9001 ct label set 64
        udp dport 9001 ct label set 1
    }
    chain to {
        type nat hook prerouting priority dstnat
        ip daddr 203.0.113.1 tcp dport 8080 dnat ip to 198.51.100.2:80
        ip6 daddr 2001:db8:3::1 tcp dport 8080 dnat ip6 to [2001:db8:2::2]:80
        ip daddr 203.0.113.2 dnat ip to 198.51.100.2
        ip6 daddr 2001:db8:3::2 dnat ip6 to 2001:db8:2::2
    }
    chain from {
        type nat hook postrouting priority srcnat
        tcp dport 8010 snat ip to 203.0.113.7
        tcp dport 8010 snat ip6 to 2001:db8:3::7
        tcp dport 8011 snat ip to 203.0.113.8:5000-5100
        tcp dport 8012 masquerade
        udp dport 9010 snat ip to 203.0.113.7
        udp dport 9010 snat ip6 to 2001:db8:3::7
        icmp id 300 masquerade
        ip protocol 47 masquerade
    }
}
END
}

# Has the helper do something.
flow() # WORD...
{
    local answer=
    printf '%s\n' "$*" >&"${HELPER[1]}"
    read -r -t 20 answer <&"${HELPER[0]}"
    [ "$answer" = ok ] && return
    printf '# flows: %s: %s\n' "$*" "${answer:-no answer}"
    return 1
}

# One flow of each kind, the rest of what there is comes from flows_insert().
flows_traffic()
{
    local four='192.0.2.2' six='2001:db8:1::2' to=198.51.100.2 to6=2001:db8:2::2 port
    local deaf=198.51.100.99 deaf6=2001:db8:2::99
    for port in 21 80 8001 8002 8010 8011 8012 9001 9010 9031 9999; do
        flow listen "$port" || return
    done
    while read -r words; do
        # shellcheck disable=SC2086 # words
        flow $words || return
    done <<END
tcp $four 40001 $deaf 80 asked
tcp $four 40002 $to 80 open
tcp $four 40003 $to 80 half
tcp $four 40004 $to 80 closed
tcp $four 40005 $to 80 reset
tcp $four 40006 $to 81 refused
tcp $six 40001 $deaf6 80 asked
tcp $six 40002 $to6 80 open
tcp $six 40004 $to6 80 closed
tcp $four 40011 203.0.113.1 8080 open
tcp $four 40012 203.0.113.2 8010 open
tcp $six 40011 2001:db8:3::1 8080 open
tcp $six 40012 2001:db8:3::2 8010 open
tcp $four 48001 $to 8001 open
tcp $four 48002 $to 8002 open
tcp $four 48011 $to 8011 open
tcp $four 48012 $to 8012 open
tcp $six 48001 $to6 8001 open
tcp $six 48012 $to6 8012 open
udp $four 50001 $to 9001 answered
udp $six 50001 $to6 9001 answered
udp $four 50002 $to 9010 answered
udp $six 50002 $to6 9010 answered
udp $four 50003 $deaf 53
udp $six 50003 $deaf6 53
udp $four 50004 $deaf 9030
udp $four 50005 $to 9031 answered
udp $six 50006 $deaf6 9032
udp $four 50007 $to 9999 answered
echo $four $to 100
echo $four $to 300
echo $four $deaf 101
echo $six $to6 200
echo $six $deaf6 201
raw 47 $four $deaf
raw 50 $four $deaf
raw 253 $six $deaf6
tcp $six 40021 $to6 21 open
say client EPRT |2|2001:db8:1::2|40100|
tcp $four 40021 $to 21 open
say client PORT 192,0,2,2,156,65
say client PASV
say server 227 Entering Passive Mode (198,51,100,2,157,12)
END
}

# What traffic cannot hold, words for conntrack -I: no two of them have one address and port.
flows_inserted()
{
    local four='-s 10.1.0.1 -d 10.1.0.2' six='-s 2001:db8:a::1 -d 2001:db8:a::2' state port=1000
    for state in NONE SYN_SENT SYN_RECV ESTABLISHED FIN_WAIT CLOSE_WAIT LAST_ACK TIME_WAIT CLOSE \
        SYN_SENT2; do
        port=$((port + 1))
        echo "-t 50$port $four -p tcp --sport $port --dport 80 --state $state"
    done
    cat <<END
-t 520000 $six -p tcp --sport 1001 --dport 80 --state LAST_ACK -u SEEN_REPLY,ASSURED
-t 520001 $six -p sctp --sport 1 --dport 36412 --state ESTABLISHED --orig-vtag 1 --reply-vtag 2
-t 520002 $four -p sctp --sport 2 --dport 36412 --state COOKIE_WAIT --orig-vtag 0x7fff1011 --reply-vtag 1
-t 520003 $four -p sctp --sport 3 --dport 36412 --state SHUTDOWN_ACK_SENT --orig-vtag 3 --reply-vtag 4 -u SEEN_REPLY
-t 520004 $four -p udp --sport 53 --dport 5353
-t 520005 $four -p udp --sport 54 --dport 5353 -u SEEN_REPLY,ASSURED -m 0x12
-t 520006 $six -p udp --sport 54 --dport 5353 -u SEEN_REPLY,ASSURED,FIXED_TIMEOUT -m 18
-t 520007 $four -p udplite --sport 53 --dport 5354
-t 520008 $six -p udplite --sport 53 --dport 5354 -u SEEN_REPLY
-t 520009 $four -p gre --srckey 0x100 --dstkey 0x200
-t 520010 $four -p gre --srckey 257 --dstkey 65535 -u SEEN_REPLY,ASSURED
-t 520011 $six -p gre --srckey 0x100 --dstkey 0x201
-t 520012 $four -p icmp --icmp-type 8 --icmp-code 0 --icmp-id 77
-t 520013 $four -p icmp --icmp-type 13 --icmp-code 0 --icmp-id 65535 -u SEEN_REPLY
-t 520014 $six -p icmpv6 --icmpv6-type 128 --icmpv6-code 0 --icmpv6-id 78
-t 520015 $six -p icmpv6 --icmpv6-type 139 --icmpv6-code 1 --icmpv6-id 0 -u SEEN_REPLY
-t 520016 $four -p 253 -m 4294967295
-t 520017 $six -p 89
-t 520018 $four -p udp --sport 60 --dport 5355 -w 7
-t 520019 $four -p udp --sport 61 --dport 5355 --orig-zone 8
-t 520020 $four -p udp --sport 62 --dport 5355 --reply-zone 9
-t 520021 $six -p udp --sport 60 --dport 5355 -w 65535 -m 0xff00
-t 520022 $six -p udp --sport 61 --dport 5355 --orig-zone 8
-t 520023 $four -p udp --sport 63 --dport 5356 -n 10.1.1.1
-t 520024 $four -p udp --sport 64 --dport 5356 -g 10.1.1.2:5400
-t 520025 $four -p tcp --sport 65 --dport 5356 --state ESTABLISHED -n 10.1.1.1:70 -g 10.1.1.2
-t 520026 $six -p udp --sport 63 --dport 5356 -n 2001:db8:b::1
-t 520027 $six -p tcp --sport 64 --dport 5356 --state LAST_ACK -g [2001:db8:b::2]:5400
-t 4294967 -s 10.1.255.255 -d 255.255.255.255 -p udp --sport 0 --dport 65535
-t 520029 $six -p udp --sport 0 --dport 0
-t 520030 $four -p tcp --sport 0 --dport 0 --state ESTABLISHED -u SEEN_REPLY
-t 520031 $four -p udplite --sport 0 --dport 0
-t 520032 $six -p sctp --sport 0 --dport 0 --state ESTABLISHED --orig-vtag 5 --reply-vtag 6
-t 520033 $four -p gre --srckey 0 --dstkey 0
-t 520028 -s ::ffff:10.1.0.1 -d 2001:db8:0:0:1::1 -p udp --sport 1 --dport 2
END
}

# Not every kernel has every protocol: a protocol that it refuses is reported and left out.
flows_insert()
{
    local words inserted=0
    while read -r -a words; do
        if conntrack -I "${words[@]}" >/dev/null 2>"$work/err" </dev/null; then
            inserted=$((inserted + 1))
        else
            printf '# not inserted: %s\n' "${words[*]}"
        fi
    done < <(flows_inserted)
    [ "$inserted" -ge 30 ]
}

# All of it: what is inserted has neither counters nor times, traffic has both.
flows_start()
{
    flows_network && flows_timeouts && flows_rules && flows_count 0 && flows_insert || return
    flows_count 1 || return
    helper_start flows "/proc/${flows_namespaces[0]}/ns/net" \
        "/proc/${flows_namespaces[1]}/ns/net" || return
    flows_traffic
}

# --- Events -----------------------------------------------------------------------------------

listeners=() # their processes

listen() # FILE COMMAND...
{
    local file=$1
    shift
    "$@" >"$file.out" 2>"$file.err" </dev/null &
    listeners+=("$!")
}

# Sockets of netfilter that get events: protocol 12, with groups. Prints how many bytes wait.
waiting()
{
    awk '$2 == 12 && $4 !~ /^0+$/ { print $5 }' /proc/net/netlink
}

# Whether all of them are in a system call, with nothing left to read.
are_quiet()
{
    local pid
    waiting | grep -qvx 0 && return 1
    for pid in "${listeners[@]}"; do
        grep -q '^State:.S' "/proc/$pid/status" || return 1
    done
}

are_listening()
{
    [ "$(waiting | wc -l)" -eq ${#listeners[@]} ]
}

# Ends them; their exit statuses are in $work/statuses.
stop_listeners()
{
    local pid
    kill -INT "${listeners[@]}"
    for pid in "${listeners[@]}"; do
        wait "$pid"
        echo $?
    done >"$work/statuses"
    listeners=()
}

change() # WORD...: of conntrack
{
    conntrack "$@" >/dev/null 2>"$work/err" </dev/null || printf '# %s: %s\n' "$*" "$(<"$work/err")"
}

# --- All of it --------------------------------------------------------------------------------

# A namespace with all of it, or the end of the script: it says what is missing.
flows_begin() # NAME SCRIPT
{
    local tool reason
    for tool in conntrack nft; do
        command -v "$tool" >/dev/null && continue
        skip "$1" "$tool is not installed"
        exit 0
    done
    enter_namespace "$1" "$2"
    lib_begin
    if ! reason=$(conntrack -L 2>&1 >/dev/null && nft add table inet flows 2>&1); then
        skip "$1" "no connection tracking: $reason"
        lib_end
    fi
    flows_start && return
    not_ok "$1" "the flows could not be made"
    lib_end
}
