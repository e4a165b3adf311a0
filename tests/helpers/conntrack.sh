# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh sets work; scripts read events_status
# Crowds of flows, and streams of events; sourced after lib.sh, in a namespace of its own.

events_pid=    # of the program that was started last, or of strace around it
events_status= # its exit status, once it has ended

# A user namespace may not read the file of the namespace that it is in, whoever made it.
conntrack_needed() # NAME
{
    local reason
    if ! reason=$(conntrack -C 2>&1); then
        skip "$1" "no conntrack: $reason"
        exit 0
    elif ! [ -r /proc/net/nf_conntrack ]; then
        skip "$1" "/proc/net/nf_conntrack cannot be read"
        exit 0
    fi
}

# Lines for conntrack's --load-file, each of another flow; the flow's number is in its addresses.
crowd_lines() # FIRST COUNT [SECONDS [PROTOCOL]]
{
    awk -v first="$1" -v count="$2" -v seconds="${3:-100000}" -v protocol="${4:-tcp}" 'BEGIN {
        if (protocol == "tcp") more = " --state ESTABLISHED"
        for (i = first; i < first + count; i++)
            printf "-I -t %d -s 10.%d.%d.%d -d 192.0.2.1 -p %s --sport %d --dport 80%s" \
                " -u SEEN_REPLY,ASSURED\n", seconds, i / 65536, i / 256 % 256, i % 256, protocol,
                1024 + i % 60000, more
    }'
}

crowd_add() # FIRST COUNT [SECONDS [PROTOCOL]]
{
    crowd_lines "$@" | conntrack -R - 2>/dev/null
}

# The process that listens to netfilter's groups in this namespace: a port is its owner's pid.
listener()
{
    awk '$2 == 12 && $4 !~ /^0+$/ { print $3 }' /proc/net/netlink
}

is_gone() # PID
{
    case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null) in
    '' | Z*) return 0 ;;
    esac
    return 1
}

is_stopped() # PID
{
    grep -q '^State:[[:space:]]*[Tt]' "/proc/$1/status" 2>/dev/null
}

events_under_way()
{
    [ -n "$(listener)" ] || is_gone "$events_pid"
}

# Runs a command that listens to events, until it does; stdout and stderr go to $work/out and err.
events_start() # COMMAND...
{
    "$@" >"$work/out" 2>"$work/err" </dev/null &
    events_pid=$!
    wait_until events_under_way
}

# Waits until so many lines came, or none can come any more.
events_came() # COUNT
{
    came()
    {
        has_lines "$work/out" "$1" || is_gone "$events_pid"
    }
    wait_until came "$1"
}

# Waits until the listener has read all that happened so far.
events_read()
{
    none_queued()
    {
        awk '$2 == 12 && $4 !~ /^0+$/ && $5 { exit 1 }' /proc/net/netlink
    }
    wait_until none_queued
}

# Waits for the end, and kills what does not come to one.
events_end()
{
    wait_until is_gone "$events_pid" || kill -KILL "$(listener)" "$events_pid" 2>/dev/null
    wait "$events_pid" 2>/dev/null
    events_status=$?
}

events_stop() # SIGNAL
{
    local pid
    pid=$(listener)
    [ -z "$pid" ] || kill "-$1" "$pid"
    events_end
}
