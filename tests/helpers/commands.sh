# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Command lines that documents show: each of them works.

# Where they find fastnet by all of its names.
commands_begin()
{
    mkdir "${work:?}/bin" "$work/named"
    ln -s "$(realpath "$FASTNET")" "$work/bin/fastnet"
    for name in netstat arp neigh conntrack ss sockets doctor why drops closed trace top traffic record; do
        ln -s "$(realpath "$FASTNET")" "$work/named/$name"
    done
}

# How many were not shown, what conntrack says at the end of a listing, and that the machine has no
# control groups of version 2, or no BPF, or tracks no flows, is no complaint, nor what drops does not list, and how much
# traffic has listed. Listings that do not end,
# or only after a minute, are ended.
command_works() # COMMAND
{
    local status limit=60
    [[ "$1 " != *' -E '* && "$1 " != *' -c '* && "$1 " != *' --for 60 '* && "$1 " != *'closed '* && "$1 " != *'trace '* &&
        "$1 " != *'record '* && "$1 " != 'top '* && "$1 " != 'fastnet top '* ]] || limit=1
    local alone=() # recordings of the machine stay as they are
    if [[ "$1 " == *'record '* || "$1" == *--at=* || "$1" == *--between=* ]]; then
        # shellcheck disable=SC2016 # of the inner shell
        alone=(unshare --mount bash -c
            'mount -t tmpfs none /var/lib && mount -t tmpfs none /srv && exec "$@"' bash)
    fi
    PATH=$work/named:$work/bin:$PATH timeout -s INT $limit "${alone[@]}" bash -c "exec $1" \
        >"$work/out" 2>"$work/err" </dev/null
    status=$?
    [[ "$1 " != *'record '* ]] || sed -i -e '/: how connections end is unknown /d' -e '/: \/proc shows one pid namespace/d' "$work/err" # in a pid namespace
    if grep -q -e ': there is no recording in ' -e ': /var/lib/fastnet: No such file' "$work/err"; then
        sed -i -e '/: there is no recording in /d' -e '/: \/var\/lib\/fastnet: No such file/d' "$work/err"
        status=0
    fi
    [[ "$1 " != *' -q '* || $status -ne 4 ]] || status=0 # no row matches
    [ $limit -ne 1 ] || [ $status -ne 124 ] || status=0
    # this machine may have something: doctor says so by its status
    [[ "$1" != *doctor* || $status -gt 20 ]] || ((status % 10 && status > 2)) || status=0
    [[ "$1 " != *'why '* || $status -eq 2 || $status -gt 3 ]] || status=0 # and why, where it ends
    sed -i -e '/^conntrack v.* have been shown\.$/d' -e '/more rows\? .* not shown$/d' \
        -e '/^[a-z]*: control groups[: ]/d' -e '/^[a-z]*: no row of this listing belongs to /d' -e '/^[a-z]*: owners are searched only once a second/d' -e '/^[a-z]*: how connections end is unknown/d' \
        -e '/^[a-z]*: these flows .* counted/d' -e '/^[a-z]*: no flow is tracked[,;] /d' \
        -e '/^[a-z]*: [0-9]* \(packets\?\|harmless drops\?\)\>.* \(lists them\|not listed\)$/d' "$work/err"
    if grep -q ': only counters are listed, because dropped packets cannot be watched: ' "$work/err"; then # drops without BPF
        sed -i '/: only counters are listed, because/d' "$work/err"
        [ $status -ne 1 ] || status=0
    fi
    if grep -q ': connections cannot be traced without BPF ' "$work/err"; then
        sed -i '/: connections cannot be traced without BPF /d' "$work/err"
        [ $status -ne 1 ] || status=0
    fi
    if grep -q ': AF_PACKET: needs CAP_NET_RAW' "$work/err"; then # traffic without the right
        sed -i '/: AF_PACKET: needs/d' "$work/err"
        [ $status -ne 1 ] || status=0
    fi
    forgive "$work/err"
    if [ $status -eq 0 ] && [ ! -s "$work/err" ]; then
        ok "$1"
    else
        not_ok "$1" "status $status"
        details "$work/err"
    fi
}
