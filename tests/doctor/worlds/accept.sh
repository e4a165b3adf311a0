# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034,SC2154 # check-worlds has these variables
# Connections that wait for accept(2), while the queue of the listener has room.

samples+=(accept_wait healthy_accept_soon)
shows[accept-wait]=:7000

world_accept_wait()
{
    namespace s
    start s ailments backlog 0 128 3
    finds s 'accept-wait 127.0.0.1:7000'
}

world_accept_wait_ipv6()
{
    namespace s
    ADDRESS=::1 start s ailments backlog 0 128 1
    finds s 'accept-wait \[::1\]:7000'
}

# New connections come all the time.
world_accept_wait_of_first_connections()
{
    namespace s
    start s ailments backlog 200 1000 3
    finds s 'accept-wait 127.0.0.1:7000'
}

world_accept_wait_from_another_machine()
{
    three
    ADDRESS=10.2.0.1 start s ailments backlog 0 128 0
    ADDRESS=10.2.0.1 start c ailments unanswered 0 8
    finds s 'accept-wait 10.2.0.1:7000'
}

# Its queue has connections in each reading, but never the same.
world_healthy_accept_soon()
{
    namespace s
    window=4
    healthy s ailments bursts 300 128 40
}
