# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions of the system tests; each script sources this first.
#
# A script gets FASTNET and HELPERS as absolute paths. It prints "ok NAME", "not ok NAME" with
# lines "# ..." after it, or "skip NAME: reason", and ends with lib_end.

set -u
export LC_ALL=C
unset POSIXLY_CORRECT NO_COLOR FASTNET_COLORS COLUMNS LINES

: "${FASTNET:?path of the program under test}" "${HELPERS:?directory of the test helpers}"
FASTNET=$(realpath -m "$FASTNET")
HELPERS=$(realpath -m "$HELPERS")
export FASTNET HELPERS

failures=0
helper_said=
# Before a command: on one processor no thread receives ahead, so recvmsg(2) is called as rows are
# wanted.
# shellcheck disable=SC2034 # scripts use it
on_one_processor=(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')")
work= # a private directory that other users can read

ok() # NAME
{
    printf 'ok %s\n' "$1"
}

not_ok() # NAME [DETAIL...]
{
    printf 'not ok %s\n' "$1"
    shift
    [ $# -eq 0 ] || printf '# %s\n' "$@"
    failures=$((failures + 1))
}

skip() # NAME REASON
{
    printf 'skip %s: %s\n' "$1" "$2"
}

details() # FILE: its first lines as details of a failure
{
    sed -n -e 's/^/#   /' -e '1,15p' "$1"
}

# Passes when both are equal.
is() # NAME EXPECTED ACTUAL
{
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        not_ok "$1" "expected: $2" "     got: $3"
    fi
}

# Mounts below it would be removed, too, and they may be directories of the machine.
remove_work()
{
    if ! awk -v below="$work/" 'index($5, below) == 1 { found = 1 } END { exit found }' \
        /proc/self/mountinfo; then
        echo "$work is left behind: something is mounted below it" >&2
        return 1
    fi
    rm -rf "$work"
}

lib_begin()
{
    work=$(mktemp -d) || exit 1
    chmod 755 "$work"
    trap 'zoo_stop; remove_work' EXIT
    trap 'exit 130' INT TERM HUP
}

lib_end()
{
    [ "$failures" -eq 0 ]
    exit
}

# Why nobody here sees which packets are dropped, where that is so.
no_packets_seen()
{
    "$FASTNET" drops --for=0.01 2>&1 >/dev/null </dev/null | sed -n 's/.*packets cannot be watched: //p'
}

# A network namespace shares the machine's hash tables of TCP and UDP, whose hundreds of thousands of
# slots each listing looks at. What is made inside this one gets small tables of its own.
small_tables()
{
    echo 1024 >/proc/sys/net/ipv4/tcp_child_ehash_entries
    echo 128 >/proc/sys/net/ipv4/udp_child_hash_entries
} 2>/dev/null

# Named namespaces of the machine would be listed, too. A user who is not root may not unmount them.
forget_namespaces()
{
    while umount -l /run/netns; do :; done
    sed -nE 's/.* net:\S+ (\S+) .*/\1/p' /proc/self/mountinfo | tac | xargs -rd '\n' umount -l
    ! grep -q ' - nsfs ' /proc/self/mountinfo || change_root
} 2>/dev/null

# Goes to a root with all that is in this one but named namespaces, and leaves this one.
change_root()
{
    local root file
    root=$(mktemp -d) && mount -t tmpfs fastnet-root "$root" && mount --make-unbindable "$root" &&
        mkdir "$root/run" "$root/old" || return
    for file in /* /run/*; do
        case $file in
        /run | /run/netns | /run/docker) continue ;;
        esac
        if [ -L "$file" ]; then
            cp -P "$file" "$root$file"
            continue
        elif [ -d "$file" ]; then
            mkdir "$root$file"
        else
            : >"$root$file"
        fi
        mount --rbind "$file" "$root$file"
    done
    mount --rbind /sys "$root/sys" # ss unmounts one to mount another, which needs one that is there
    cd "$root" && pivot_root . old && umount -l /old && rmdir /old "$root"
    mount --make-private /
    cd "$OLDPWD" || exit
}

# Goes on in fresh network, mount and process namespaces, or says why that cannot be. What runs
# there dies with the script. Outside of them FASTNET_TEST_NAMESPACE is not set. The network
# namespace has small tables, unless the script has set tables=machine. With processes=machine the
# script stays among the processes of the machine, and must end what it starts.
enter_namespace() # NAME SCRIPT [ARGUMENT...]
{
    local name=$1 script=$2 reason
    shift 2
    local enter=(unshare --net --mount)
    [ "${processes-}" = machine ] || enter+=(--pid --fork --kill-child --mount-proc)
    case ${FASTNET_TEST_NAMESPACE-} in
    outer)
        small_tables
        FASTNET_TEST_NAMESPACE=inner exec unshare --net bash "$script" "$@"
        ;;
    inner)
        [ "${tables-}" = machine ] || small_tables # for those that the script makes
        forget_namespaces
        ip link set lo up
        return
        ;;
    esac
    [ "$(id -u)" -eq 0 ] || enter+=(--user --map-root-user)
    if ! reason=$("${enter[@]}" ip link set lo up 2>&1); then
        skip "$name" "no namespace: ${reason:-unshare failed}"
        exit 0
    fi
    FASTNET_TEST_NAMESPACE=outer
    [ "${tables-}" != machine ] || FASTNET_TEST_NAMESPACE=inner
    export FASTNET_TEST_NAMESPACE
    exec "${enter[@]}" bash "$script" "$@"
}

# Makes the names that lookups find the same everywhere: only these hosts and users, no server.
private_names()
{
    printf '%s\n' 'hosts: files' 'passwd: files' 'group: files' 'services: files' \
        'protocols: files' 'networks: files' >"$work/nsswitch.conf"
    printf '%s\n' '127.0.0.1 localhost' '::1 ip6-localhost' 'fe80::1 link.example.test' \
        '127.0.0.2 a-host.with-quite-a-long-name.in.the.example.test' >"$work/hosts"
    printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'nobody:x:65534:65534::/:/bin/false' \
        'a-user-with-a-long-name:x:12346:12346::/:/bin/false' >"$work/passwd"
    cp /etc/services "$work/services" 2>/dev/null
    printf '%s\n' 'a-service-with-a-long-name 54321/tcp' >>"$work/services"
    # Where a file is missing there is nothing to mount upon: an empty one is laid beneath.
    local file beneath=$work/beneath
    mkdir "$beneath"
    for file in nsswitch.conf hosts passwd services; do
        chmod 644 "$work/$file"
        [ -e "/etc/$file" ] || : >"$beneath/$file"
    done
    rmdir "$beneath" 2>/dev/null ||
        mount -t overlay -o "lowerdir=$beneath:/etc" fastnet-test /etc || return
    for file in nsswitch.conf hosts passwd services; do
        mount --bind "$work/$file" "/etc/$file" || return
    done
}

# Takes away what no listing is to blame for: a busy machine has one of many namespaces say that it
# took long, and a user hears that the open files of other processes may not be read, and that bytes
# of UDP are not counted.
forgive() # FILE
{
    sed -i -E -e '/^[a-z]+: [0-9]+ network namespaces took [0-9.]+ s, because /d' \
        -e '/^\(Not all processes could be identified,/,/ you would have to be root to see it all\.\)$/d' \
        -e '/^[a-z]+: no byte counts for [a-z, ]+: /d' \
        -e '/^[a-z]+: some owners are unknown, so rows may be missing$/d' \
        -e '/^[a-z]+: owners: not allowed to read the open files of /d' "$1"
}

# Skips what is about several users, of whom the namespace of an ordinary user has only one.
needs_users() # NAME
{
    setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null && return
    skip "$1" "no other user in this namespace"
    return 1
}

patience=20 # seconds that the machine may take for anything that is waited for

wait_until() # COMMAND...
{
    local i
    for ((i = 0; i < patience * 50; i++)); do
        "$@" && return
        sleep 0.02
    done
    printf '# never so: %s\n' "$*" >&2
    return 1
}

has_lines() # FILE COUNT
{
    [ "$(wc -l <"$1")" -ge "$2" ]
}

# Whether a process waits in poll(2) or ppoll(2): a program that takes samples has taken the first one
# then.
is_waiting() # PID
{
    [[ $(cat "/proc/$1/wchan" 2>/dev/null) == *poll* ]]
}

# Whether a file is the same a tenth of a second later.
stands_still() # FILE
{
    local before after
    before=$(<"$1")
    sleep 0.1
    after=$(<"$1")
    [ "$before" = "$after" ]
}

# Whether a process waits: it sleeps, and nothing wakes it for a tenth of a second.
is_asleep() # PID
{
    grep -q '^State:.S' "/proc/$1/status" && stands_still "/proc/$1/status"
} 2>/dev/null

# Runs a command up to COUNT times, later ones after a pause, until it succeeds: for two readings that
# are equal if nothing moves between them.
try_again() # COUNT COMMAND...
{
    local i
    for ((i = 1; i <= $1; i++)); do
        [ "$i" -le 2 ] || sleep 0.05
        "${@:2}" && return
    done
    return 1
}

# Runs a command again and again for as long as it succeeds, after a pause each time: a load, or a slow
# reader, for which nothing waits.
every() # SECONDS COMMAND...
{
    while "${@:2}"; do
        sleep "$1"
    done
}

# How many lines of a file that is being written match is COUNT or more.
has_matches() # FILE PATTERN COUNT
{
    [ "$(grep -c -e "$2" "$1")" -ge "$3" ]
}

# Interfaces zoo0 and zoo1 with link-local addresses, and waits of TCP that outlast the tests.
zoo_network()
{
    ip link add zoo0 type veth peer name zoo1 || return
    ip addr add fe80::1/64 dev zoo0 nodad
    ip link set zoo0 up
    ip link set zoo1 up
    echo 10 >/proc/sys/net/ipv4/tcp_synack_retries
    echo 10 >/proc/sys/net/ipv4/tcp_syn_retries
} 2>/dev/null

# Starts a helper that says "ready" when it is, and ends when its input does.
helper_start() # HELPER [ARGUMENT...]
{
    local line=
    coproc HELPER { exec "$HELPERS/$1" "${@:2}"; }
    read -r -t 30 line <&"${HELPER[0]}"
    [ "$line" = ready ]
}

# The last line of the helper's output is in helper_said.
helper_stop()
{
    [ -n "${HELPER_PID-}" ] || return 0
    local pid=$HELPER_PID input=${HELPER[1]} output=${HELPER[0]}
    exec {input}>&-
    # shellcheck disable=SC2034 # for the caller
    read -r -t 30 helper_said <&"$output"
    wait "$pid" 2>/dev/null
    unset HELPER_PID
}

# Runs a helper for as long as the namespace is there, beside others.
hold() # HELPER [ARGUMENT...]
{
    local said=$work/$1.said
    : >"$said"
    sleep infinity | "$HELPERS/$1" "${@:2}" >"$said" 2>&1 &
    wait_until grep -qx ready "$said" && return
    sed 's/^/# /' "$said"
    return 1
}

zoo_start() # plain|awkward
{
    local plain=()
    [ "$1" = awkward ] || plain=(--plain)
    mkdir -p "$work/sockets"
    zoo_network && helper_start zoo "${plain[@]}" "$work/sockets" zoo0
}

zoo_stop()
{
    helper_stop
}

# The program, where every user may run it.
program_for_everybody()
{
    cp "$FASTNET" "$work/fastnet" && chmod 755 "$work/fastnet" && FASTNET=$work/fastnet
}

# The columns of --columns=help that the command can fill, one a line.
fillable_columns() # COMMAND...
{
    local name
    while read -r name; do
        "$FASTNET" "$@" --explain --columns="$name" 2>&1 >/dev/null </dev/null |
            grep -qE " (never has|only groups have) '" || echo "$name"
    done < <("$FASTNET" "$@" --columns=help </dev/null | awk '{ print $1 }')
}
