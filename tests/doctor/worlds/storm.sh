# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034,SC2154 # check-worlds has these variables
# Programs that open and end many connections, with 3,000 local ports.

samples+=(storm_young healthy_storm_of_a_server)
shows[storm]='700[0-4] +[0-9]+'

# 40 a second keep 80 % of the ports, if they go on: fewer than are a finding of ephemeral-ports.
short_connections() # NAMESPACE ADDRESS COUNT EVERY
{
    start "$1" traffic visit "$2" 7000 "$3" "$4"
}

waits_at_least() # NAMESPACE CONNECTIONS [OPTION...]: in TIME_WAIT
{
    [ "$(inside "$1" "$FASTNET" sockets -t --state time_wait --no-header "${@:3}" | wc -l)" -ge "$2" ]
}

world_storm()
{
    three
    set_net c ipv4/ip_local_port_range '20000 22999'
    start s traffic serve 0.0.0.0 7000 1
    short_connections c 10.2.0.1 4 100
    finds c 'storm 10.2.0.1:7000'
}

# A storm to the next port of the server, until it was examined once.
storm_found_at_once()
{
    local end
    start s traffic serve 0.0.0.0 $((++port)) 1
    exec {end}> >(inside c "$HELPERS/traffic" visit 10.2.0.1 "$port" 8 100 >"$work/visits")
    wait_until waits_at_least c 80 --remote-port="$port"
    examine c
    exec {end}>&-
    has_lines "$work/found" 1
}

# The storm began a few seconds ago: a single examination finds it, unless the machine lets the storm
# pause for nearly a second.
world_storm_young()
{
    local port=6999
    three
    set_net c ipv4/ip_local_port_range '20000 20999'
    try_again 5 storm_found_at_once
    has_found "storm 10.2.0.1:$port"
}

world_storm_ipv6()
{
    three
    ip -n c addr add 2001:db8:1::1/64 dev c0 nodad && ip -n r addr add 2001:db8:1::2/64 dev r0 nodad
    set_net c ipv4/ip_local_port_range '20000 22999'
    start r traffic serve :: 7000 1
    short_connections c 2001:db8:1::2 4 100
    finds c 'storm \[2001:db8:1::2\]:7000'
}

# Others connect, too, but seldom.
world_storm_beside_others()
{
    three
    set_net c ipv4/ip_local_port_range '20000 22999'
    start s traffic serve 0.0.0.0 7000 1
    start s traffic serve 0.0.0.0 7001 1
    start c traffic visit 10.2.0.1 7001 1 50
    short_connections c 10.2.0.1 4 100
    finds c 'storm 10.2.0.1:7000'
}

# Connections that come in bursts use few ports.
world_healthy_storm_of_bursts()
{
    three
    set_net c ipv4/ip_local_port_range '20000 22999'
    start s traffic serve 0.0.0.0 7000 1
    short_connections c 10.2.0.1 50 5000
    wait_until waits_at_least c 100
    finds_nothing c
}

# The server keeps no port.
world_healthy_storm_of_a_server()
{
    three
    start s traffic serve 0.0.0.0 7000 1
    short_connections c 10.2.0.1 20 20
    wait_until waits_at_least c 500
    finds_nothing s
}

# A load balancer has as many connections as in world_storm to each of eight servers.
world_healthy_storm_of_a_balancer()
{
    local i
    three
    set_net c ipv4/ip_local_port_range '20000 22999'
    start s traffic serve 0.0.0.0 7000 1
    for i in {11..18}; do
        ip -n s addr add "10.2.0.$i/24" dev s0
        short_connections c "10.2.0.$i" 4 100
    done
    wait_until waits_at_least c 4000
    finds_nothing c
}

# The kernel takes the ports again.
world_healthy_storm_with_reuse()
{
    three
    set_net c ipv4/ip_local_port_range '20000 22999'
    set_net c ipv4/tcp_tw_reuse 1
    start s traffic serve 0.0.0.0 7000 1
    short_connections c 10.2.0.1 4 100
    wait_until waits_at_least c 600
    finds_nothing c
}
