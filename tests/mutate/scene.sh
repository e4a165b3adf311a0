# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh sets work; the scripts read the rest
# Makes a network namespace with sockets, flows, neighbours and routes, and runs a mutator in it.
# Source it after lib.sh.
#
# From the environment: BUILD; MUTATE_SECONDS; and to repeat a run, SEED and RUNS.

directory=$(realpath -m "${BUILD:-build}")/mutate
mutate=$(realpath -m "${BUILD:-build}")/tests/mutate/mutate

scene_sockets()
{
    mkdir -p "$work/sockets"
    zoo_network && hold zoo "$work/sockets" zoo0 &&
        hold multicast 239.1.2.3 zoo0 239.1.2.3 zoo0 ff02::1234 zoo1
}

# Commands of ip, a line each; what a kernel lacks is left out.
scene_routes()
{
    ip -batch - -force <<'END_OF_ROUTES'
addr add 192.0.2.17/24 dev zoo0 label zoo0:1
addr add 198.18.0.1 peer 198.18.0.2 dev zoo1
addr add 2001:db8:5::1/64 dev zoo0 nodad
link set zoo1 alias a"b<c>
route add 10.0.0.0/8 nexthop via 192.0.2.2 dev zoo0 weight 3 nexthop via 192.0.2.3 dev zoo0
route add 10.1.0.0/16 via 192.0.2.2 dev zoo0 metric 77 mtu 1400 advmss 1300 window 4000 rtt 20
route add 10.2.0.0/16 dev zoo1 src 198.18.0.1 proto static tos 0x10
route add 10.3.0.0/16 via inet6 fe80::2 dev zoo0
route add blackhole 10.4.0.0/16
route add unreachable 10.5.0.0/16 table 100
route add prohibit 10.6.0.1
route add throw 10.7.0.0/16 metric 4294967295
route add default via 192.0.2.9
route add 2001:db8:6::/48 nexthop via fe80::2 dev zoo0 nexthop via fe80::3 dev zoo0
route add 2001:db8:7::/48 via 2001:db8:5::9 mtu lock 1400 expires 10000
route add blackhole 2001:db8:8::/48
route add unreachable 2001:db8:9::/48 metric 5 table 100
route add 2001:db8:a::/48 from 2001:db8:b::/48 dev zoo0
END_OF_ROUTES
} >"$work/routes" 2>&1

# Flows need a kernel that tracks them, and tools.
scene_flows()
{
    local reason
    if ! command -v conntrack >/dev/null || ! command -v nft >/dev/null; then
        skip "flows" "conntrack or nft is not installed"
    elif ! reason=$(conntrack -L 2>&1 >/dev/null && nft add table inet flows 2>&1); then
        skip "flows" "no connection tracking: $reason"
    elif ! flows_start >"$work/flows" 2>&1; then
        not_ok "flows" "$(cat "$work/flows")"
    fi
}

scene_begin() # NAME SCRIPT
{
    enter_namespace "$1" "$2"
    lib_begin
    private_names || not_ok "$1" "names could not be made private"
    scene_flows # first, because other addresses overlap with those of its router
    scene_sockets || not_ok "$1" "sockets could not be made"
    if ! neighbour_network || ! neighbours_of_all_kinds || ! neighbour_of_awkward_device; then
        not_ok "$1" "neighbours could not be made"
    fi
    scene_routes
    [ "$failures" -eq 0 ] || lib_end
}

sanitizers()
{
    local common=exitcode=99:print_stacktrace=1:handle_abort=1:log_path=$1/run/report
    export UBSAN_OPTIONS=$common LSAN_OPTIONS=exitcode=99
    export ASAN_OPTIONS=$common:allocator_may_return_null=1:verify_asan_link_order=0
}

# Runs the mutator, and ends the script.
scene_mutate() # netlink|tree LISTINGS INTERPOSER|TREE...
{
    local name=$1 listings=$2
    shift 2
    mkdir -p "$directory/$name"
    sanitizers "$directory/$name"
    AGAIN="make mutate ONLY=$name" MUTATE_SECONDS=${MUTATE_SECONDS:-20} \
        "$mutate" "$name" "$listings" "$directory/$name" "$@" || failures=$((failures + 1))
    lib_end
}
