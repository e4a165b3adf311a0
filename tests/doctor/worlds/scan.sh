# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034,SC2154 # check-worlds has these variables
# Machines that try many ports.

samples+=(scan healthy_scan_of_three_ports)

scanned() # HELPER ADDRESS ARGUMENT...: the client scans the server
{
    local reason
    reason=$(no_packets_seen)
    [ -z "$reason" ] || { skip "$world" "$reason"; return; }
    start c traffic "$@"
    finds s 'scan 10.1.0.1'
}

world_scan()
{
    three
    scanned scan 10.2.0.1 1 10 50
}

world_scan_slow()
{
    three
    window=4
    scanned scan 10.2.0.1 5000 1 90
}

world_scan_udp()
{
    three
    scanned scan-udp 10.2.0.1 1 10 50
}

world_scan_of_ports_behind_a_firewall()
{
    three
    rule s input tcp dport 1-3000 drop
    scanned scan 10.2.0.1 1000 10 50
}

world_scan_of_ports_that_a_firewall_rejects()
{
    three
    rule s input udp dport 1-3000 reject
    scanned scan-udp 10.2.0.1 1000 10 50
}

world_scan_ipv6()
{
    local reason
    reason=$(no_packets_seen)
    [ -z "$reason" ] || { skip "$world" "$reason"; return; }
    three
    ip -n c addr add 2001:db8:1::1/64 dev c0 nodad && ip -n r addr add 2001:db8:1::2/64 dev r0 nodad
    start c traffic scan 2001:db8:1::2 1 10 50
    finds r 'scan 2001:db8:1::1'
}

# A client that tries one port again and again, and another that tries three.
world_healthy_scan_of_three_ports()
{
    trouble
    three
    start c traffic try 10.2.0.1 7000 20 50
    for port in 7001 7002 7003; do
        start c traffic try 10.2.0.1 "$port" 1 100
    done
    finds_nothing s
}

# The sockets that asked are closed when the answers come.
world_healthy_scan_or_late_answers()
{
    trouble
    three
    SOURCE=53 start s traffic scan-udp 10.1.0.1 5000 10 20
    SOURCE=7000 start s traffic scan-udp 10.1.0.1 40000 10 20
    finds_nothing c
}

# A camera sends streams to a recorder that does not run.
world_healthy_scan_or_streams()
{
    trouble
    three
    PORTS=24 start c traffic ask 10.2.0.1 5000 24 20
    finds_nothing s
}

# Monitoring connects to 64 ports, which are open.
world_healthy_scan_of_open_ports()
{
    local port
    trouble
    three
    for port in {7000..7031}; do
        start s traffic serve 0.0.0.0 "$port" 1
        start c traffic visit 10.2.0.1 "$port" 1 200
    done
    finds_nothing s
}
