# shellcheck shell=bash disable=SC2154 # check-worlds sets these
# SPDX-License-Identifier: MIT
# Worlds of the rule dns. The client c asks the server s; both have addresses of IPv4 and IPv6.

samples+=(dns_silent_one_query_at_a_time dns_refused_by_own_machine dns_slow healthy_dns_busy_resolver healthy_dns_tls_tried healthy_dns_not_awaited
    healthy_dns_without_bpf)

dns_three()
{
    three
    ip -n s addr add 10.2.0.2/24 dev s0
}

says() # NAMESPACE TEXT: the evidence of the rule
{
    "$FASTNET" doctor --netns="$1" --only=dns --for=2 --ndjson --columns=evidence >"$work/rows" 2>&1 </dev/null
    is "... $2" 1 "$(grep -cF "$2" "$work/rows")"
}

# The router drops queries.
mute_server()
{
    dns_three
    rule r forward udp dport 53 drop
}

# Programs ask as the resolver of the C library does: it waits for 5 s.
world_dns_silent_one_query_at_a_time()
{
    mute_server
    start c dns ask connected 1 5000 0 10.2.0.1
    window=5 finds c 'dns 10.2.0.1'
}

# The socket got answers before.
world_dns_silent_after_answers()
{
    dns_three
    start s dns serve 10.2.0.1 0 0
    start c dns ask kept 1 5000 10 10.2.0.1
    wait_until "$FASTNET" sockets -u --netns=c --where 'mem_forward > 0' -q
    rule r forward udp dport 53 drop
    window=5 finds c 'dns 10.2.0.1'
}

world_dns_silent_unconnected()
{
    mute_server
    start c dns ask unconnected 1 5000 0 10.2.0.1
    window=5 finds c 'dns 10.2.0.1'
}

world_dns_silent_twelve_processes()
{
    mute_server
    for _ in {1..12}; do
        start c dns ask connected 1 5000 0 10.2.0.1
    done
    finds c 'dns 10.2.0.1'
}

world_dns_silent_four_threads()
{
    mute_server
    start c dns ask unconnected 4 5000 0 10.2.0.1
    finds c 'dns 10.2.0.1'
}

# It gives up after a second.
world_dns_silent_impatient()
{
    mute_server
    start c dns ask kept 1 1000 0 10.2.0.1
    finds c 'dns 10.2.0.1'
}

world_dns_silent_ipv6()
{
    three
    for place in 'c 1 c0' 'r 1 r0' 'r 2 r1' 's 2 s0'; do
        # shellcheck disable=SC2086 # three words
        set -- $place
        ip -n "$1" addr add "2001:db8:$2::$([ "$1" = r ] && echo fe || echo 1)/64" dev "$3" nodad
    done
    ip -n c route add default via 2001:db8:1::fe && ip -n s route add default via 2001:db8:2::fe
    set_net r ipv6/conf/all/forwarding 1
    rule r forward udp dport 53 drop
    start c dns ask unconnected 2 2000 0 2001:db8:2::1
    finds c 'dns 2001:db8:2::1'
}

# ICMP: port unreachable.
world_dns_refused()
{
    dns_three
    start c dns ask connected 1 1000 300 10.2.0.1
    finds c 'dns 10.2.0.1'
}

# Each query ends with an error, after which the program closes its socket.
world_dns_refused_each_query()
{
    dns_three
    set_net s ipv4/icmp_ratelimit 0
    start c dns ask connected 1 1000 300 10.2.0.1
    window=5 examine c
    is "$world: found at once" 'dns 10.2.0.1' "$(<"$work/found")"
}

# Nobody listens there: that machine counts datagrams for ports without a socket, too.
world_dns_refused_by_own_machine()
{
    namespace c
    start c dns ask connected 1 1000 300 127.0.0.53
    window=5 examine c
    is "$world: found at once" 'dns 127.0.0.53' "$(<"$work/found")"
}

# sendto(2) fails. For connect(2): tests/output/check-closed.
world_dns_blackhole()
{
    three
    ip -n c route add blackhole 10.2.0.1
    start c dns ask unconnected 1 200 100 10.2.0.1
    finds c 'dns 10.2.0.1'
    explains c dns 'a route of type blackhole'
}

# The resolver gets an error for each query, and its clients wait.
world_dns_refused_upstream()
{
    dns_three
    set_net s ipv4/icmp_ratelimit 0
    start c dns relay 127.0.0.53 10.2.0.1
    start c dns ask connected 1 1000 300 127.0.0.53
    finds c 'dns 10.2.0.1'
    says c 'serves DNS on this machine'
}

world_dns_slow()
{
    dns_three
    start s dns serve 10.2.0.1 1500 0
    start c dns ask connected 1 5000 0 10.2.0.1
    window=5 finds c 'dns 10.2.0.1'
}

# The answer of the server is not awaited.
world_dns_too_late()
{
    dns_three
    start s dns serve 10.2.0.1 1500 0
    start c dns ask unconnected 2 1000 0 10.2.0.1
    finds c 'dns 10.2.0.1'
}

world_dns_half_lost()
{
    dns_three
    start s dns serve 10.2.0.1 0 2
    start c dns ask connected 4 1000 50 10.2.0.1
    finds c 'dns 10.2.0.1'
}

# One socket for both servers.
world_dns_one_of_two()
{
    dns_three
    rule r forward ip daddr 10.2.0.2 udp dport 53 drop
    start s dns serve 10.2.0.1 0 0
    start c dns ask kept 2 1000 100 10.2.0.2 10.2.0.1
    printf 'nameserver %s\n' 10.2.0.2 10.2.0.1 >"$work/resolv.conf"
    mount --bind "$work/resolv.conf" /etc/resolv.conf
    finds c 'dns 10.2.0.2'
    says c 'its server 10.2.0.1 answers'
}

# The programs wait for the resolver, which waits for its server.
world_dns_resolver_upstream()
{
    mute_server
    start c dns forward 127.0.0.1 10.2.0.1
    start c dns ask connected 2 1000 0 127.0.0.1
    finds c 'dns 10.2.0.1'
    says c 'serves DNS on this machine'
}

world_dns_resolver_upstream_tls()
{
    three
    rule r forward tcp dport 853 drop
    start c dns tunnel 127.0.0.1 10.2.0.1 853
    start c dns ask connected 2 1000 0 127.0.0.1
    wait_until "$FASTNET" sockets -t --netns=c --where 'retransmits > 0' -q
    finds c 'dns 10.2.0.1:853' 'no-answer 10.2.0.1:853'
    says c 'serves DNS on this machine'
}

world_dns_tcp_hangs()
{
    three
    rule r forward tcp dport 853 drop
    start c dns connect 10.2.0.1 853 0
    finds c 'dns 10.2.0.1:853' 'no-answer 10.2.0.1:853'
}

world_dns_tcp_unanswered()
{
    dns_three
    start s dns listen 10.2.0.1 53
    start c dns connect 10.2.0.1 53 0
    finds c 'dns 10.2.0.1:53'
}

# The program gives up after 1.2 s, so few of its connections are there in a reading.
tcp_given_up() # PORT
{
    PATIENCE=1200 start c dns connect 10.2.0.1 "$1" 0
    window=5 examine c
    is "$world: found at once" "dns 10.2.0.1:$1" "$(<"$work/found")"
    is "... nothing on stderr" "" "$(<"$work/err")"
    advises_well
}

world_dns_tcp_given_up()
{
    three
    rule r forward tcp dport 853 drop
    tcp_given_up 853
}

world_dns_tcp_answers_given_up()
{
    dns_three
    start s dns listen 10.2.0.1 53
    tcp_given_up 53
}

# The server takes the query, and closes when the program does.
world_dns_tcp_given_up_and_closed()
{
    dns_three
    start s traffic serve 10.2.0.1 853 0
    tcp_given_up 853
}

# The server answers by UDP, which is no reason to say that it answers.
world_dns_tcp_unanswered_udp_answered()
{
    dns_three
    start s dns serve 10.2.0.1 0 0
    start s dns listen 10.2.0.1 53
    start c dns ask kept 1 1000 100 10.2.0.1
    start c dns connect 10.2.0.1 53 0
    printf 'nameserver %s\n' 10.2.0.1 >"$work/resolv.conf"
    mount --bind "$work/resolv.conf" /etc/resolv.conf
    finds c 'dns 10.2.0.1:53'
    says c '/etc/resolv.conf names 10.2.0.1'
    is "... and nothing else about it" 0 "$(grep -c 'its server 10.2.0.1 answers' "$work/rows")"
}

# The last query is sent when the answer to the one before comes.
world_dns_tcp_silent_after_answers()
{
    dns_three
    start s dns converse 10.2.0.1 53 4
    start c dns talk 10.2.0.1 53 0
    finds c 'dns 10.2.0.1:53'
}

# Clients are in the Internet. The router tracks connections.
outside()
{
    tracked
    ip -n c route add local 198.51.100.0/24 dev lo
    ip -n r route add 198.51.100.0/24 via 10.1.0.1
}

world_dns_silent_outside_clients()
{
    outside
    rule s input udp dport 53 drop
    SOURCE=198.51.100.1 PEERS=4 start c traffic lookup 10.2.0.1 53 4 500
    finds r 'dns 10.2.0.1'
}

# The server, which is on the router, does not read its queries.
world_dns_silent_own_server()
{
    outside
    start r traffic answer 10.1.0.254 53 0
    ip netns pids r | xargs kill -STOP
    SOURCE=198.51.100.1 PEERS=4 start c traffic lookup 10.1.0.254 53 4 500
    finds r 'dns 10.1.0.254'
}

# Nobody asks the server by UDP, so that it may need TLS.
world_dns_tls_silent_udp_unasked()
{
    three
    rule r forward tcp dport 853 drop
    start s dns serve 10.2.0.1 0 0
    start c dns connect 10.2.0.1 853 0
    finds c 'dns 10.2.0.1:853' 'no-answer 10.2.0.1:853'
}

# So, too, with TLS: the first answer is that to the first message.
world_dns_tls_silent_after_answers()
{
    dns_three
    start s dns converse 10.2.0.1 853 2
    start c dns talk 10.2.0.1 853 0
    finds c 'dns 10.2.0.1:853'
}

# --- Healthy ----------------------------------------------------------------------------------

# Many addresses of the Internet ask one machine, and a near machine asks a whole network.
world_healthy_dns_search_seen_by_router()
{
    outside
    rule s input udp dport 53 drop
    SOURCE=198.51.100.1 PEERS=50 start c traffic lookup 10.2.0.1 53 50 20000
    HOSTS=20 start c traffic lookup 10.2.0.1 53 20 20000
    finds_nothing r
}

# The router serves no DNS.
world_healthy_dns_search_on_router()
{
    outside
    SOURCE=198.51.100.1 PEERS=4 start c traffic lookup 10.1.0.254 53 4 500
    finds_nothing r
}

# The server ignores queries that others send in the name of its victims.
world_healthy_dns_limits_answers()
{
    outside
    rule s input ip saddr 198.51.100.0/24 udp dport 53 drop
    start s traffic answer 10.2.0.1 53 0
    start c traffic lookup 10.2.0.1 53 4 500
    SOURCE=198.51.100.1 PEERS=4 start c traffic lookup 10.2.0.1 53 4 500
    finds_nothing r
}

world_healthy_dns_busy_resolver()
{
    dns_three
    start s dns serve 10.2.0.1 5 100
    start c dns ask unconnected 8 1000 4 10.2.0.1
    start c dns ask kept 8 1000 4 10.2.0.1
    finds_nothing c
}

# Each query goes to both servers. The program closes the other socket before its answer comes.
world_healthy_dns_race()
{
    dns_three
    start s dns serve 10.2.0.1 0 0
    start s dns serve 10.2.0.2 50 0
    start c dns ask race 2 1000 100 10.2.0.1 10.2.0.2
    finds_nothing c
}

# There is one query between the readings, and its answer comes at once.
world_healthy_dns_now_and_then()
{
    dns_three
    start s dns serve 10.2.0.1 0 0
    start c dns ask connected 1 1000 4200 10.2.0.1
    window=5 finds_nothing c
}

# The program closes its socket after the first of two answers.
world_healthy_dns_first_answer()
{
    dns_three
    start s dns serve 10.2.0.1 20 0
    start c dns ask first 2 1000 50 10.2.0.1
    finds_nothing c
}

# Both answers have come, and it reads one.
world_healthy_dns_first_of_both()
{
    dns_three
    start s dns serve 10.2.0.1 20 0
    start c dns ask both 1 1000 50 10.2.0.1
    finds_nothing c
}

# The program closes its socket at once.
world_healthy_dns_not_awaited()
{
    dns_three
    start s dns serve 10.2.0.1 5 0
    start c dns ask unconnected 1 0 20 10.2.0.1
    finds_nothing c
}

# A tunnel uses the port of DNS. Its other end sends less.
world_healthy_dns_tunnel()
{
    dns_three
    start s dns serve 10.2.0.1 0 2
    LENGTH=1300 start c dns ask connected 4 1000 50 10.2.0.1
    finds_nothing c
}

# A program for load tests reads no answer. Its buffer has room for these.
world_healthy_dns_not_read()
{
    dns_three
    start s dns serve 10.2.0.1 5 0
    start c dns ask unread 1 0 100 10.2.0.1
    finds_nothing c
}

# A program searches for servers.
world_healthy_dns_search()
{
    dns_three
    rule r forward udp dport 53 ip daddr != 10.2.0.1 drop
    start s dns serve 10.2.0.1 0 0
    start c dns ask kept 1 20 0 10.2.0.1 10.2.0.1{1..9}
    finds_nothing c
}

# The queries of mDNS have no answer where nobody has the name.
world_healthy_dns_multicast()
{
    three
    ip -n c route add 224.0.0.0/4 dev c0
    start c traffic ask 224.0.0.251 5353 3 100
    finds_nothing c
}

world_healthy_dns_idle_sockets()
{
    dns_three
    start c dns ask idle 5 1000 1000 10.2.0.1
    finds_nothing c
}

# Most queries wait when the second reading is taken.
world_healthy_dns_in_flight()
{
    dns_three
    start s dns serve 10.2.0.1 400 0
    start c dns ask connected 12 5000 0 10.2.0.1
    finds_nothing c
}

# A resolver asks the servers of each domain, and some do not exist.
world_healthy_dns_forwards()
{
    dns_three
    start s dns serve 10.2.0.1 0 0
    start c dns forward 127.0.0.1 10.2.0.1
    start c dns ask connected 4 1000 20 127.0.0.1
    finds_nothing c
}

# A resolver asks by TCP, too, and one of the servers does not exist.
world_healthy_dns_tcp_to_many()
{
    local last
    three
    for last in {2..10}; do
        ip -n s addr add 10.2.0."$last"/24 dev s0
    done
    rule r forward ip daddr 10.2.0.200 drop
    start s traffic serve 0.0.0.0 53 100
    PEERS=9 start c traffic visit 10.2.0.1 53 18 100
    PATIENCE=1500 start c dns connect 10.2.0.200 53 100
    window=5 finds_nothing c
}

# A program tries TLS, which the server does not have, and asks by UDP.
world_healthy_dns_tls_tried()
{
    dns_three
    rule r forward tcp dport 853 drop
    start s dns serve 10.2.0.1 0 0
    start c dns ask kept 1 1000 100 10.2.0.1
    PATIENCE=1200 start c dns connect 10.2.0.1 853 0
    start c dns connect 10.2.0.1 853 0
    wait_until repeats_syns 1
    window=5 finds_nothing c
}

# The client sends the last message of TLS 1.3, and keeps the connection for later.
world_healthy_dns_tls_kept_ready()
{
    dns_three
    start s dns converse 10.2.0.1 853 1
    start c dns talk 10.2.0.1 853 0
    window=5 finds_nothing c
}

# Each query but the first is sent when the answer to the one before comes. Then there is a pause.
world_healthy_dns_tcp_conversation()
{
    dns_three
    start s dns converse 10.2.0.1 53 1000
    start c dns talk 10.2.0.1 53 3500
    window=5 finds_nothing c
}

# An ordinary user may use neither BPF nor raw sockets. That is no failure.
world_healthy_dns_without_bpf()
{
    local as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    namespace c
    if ! "${as_user[@]}" true 2>/dev/null; then
        skip "$world: an ordinary user" "no other user in this namespace"
        return
    fi
    program_for_everybody
    inside c "${as_user[@]}" "$FASTNET" doctor --only=dns,neighbour-flap --for=0.1 >"$work/rows" 2>"$work/err" </dev/null
    is "$world: nothing" "0 nothing found by 2 rules" "$? $(sed 's/ (.*//' "$work/rows")"
    is "... and says what is not tried" 1 "$(grep -c 'only partly.*: .*dns (no queries by UDP: they need BPF)' "$work/err")"
    inside c "${as_user[@]}" "$FASTNET" doctor --only=drops,dns,scan,multicast-missing --for=0.1 >"$work/rows" \
        2>"$work/err" </dev/null
    is "... rules about dropped packets" "0 nothing found by 1 rule" "$? $(sed 's/ (.*//' "$work/rows")"
    is "... are not tried" 1 \
        "$(grep -c 'not tried, because they need BPF: multicast-missing, scan, drops$' "$work/err")"
}
