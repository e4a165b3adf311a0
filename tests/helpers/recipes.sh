# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The recipes of fastnet-fleet(7), and sockets that monitors count; lib.sh is sourced before.

fleet=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../man/fastnet-fleet.7")
# shellcheck disable=SC2034 # scripts use it
examples=${fleet%/man/*}/.packaging/examples

# Each block of the page becomes a file below $work/recipes, as a reader would copy it. "fastnet" is the
# program under test, by a link in $work/bin.
recipes_begin()
{
    mkdir "${work:?}/recipes" "$work/bin"
    mkfifo "$work/never" && exec {never}<>"$work/never" # input that does not end
    awk -v directory="$work/recipes" '
        /^\.Bd -literal/ { inside = 1; name = sprintf("%s/%02d", directory, ++count); next }
        /^\.Ed/ { inside = 0 }
        inside {
            gsub(/\\\(aq/, "\047")
            gsub(/\\e/, "\\")
            print >name
        }' "$fleet"
    PATH=$work/bin:$PATH
    everything_is_seen
}

# The file that has the block for a file of the reader.
recipe() # NAME
{
    grep -lx "# .*/$1" "$work"/recipes/*
}

everything_is_seen()
{
    ln -sfn "$FASTNET" "$work/bin/fastnet"
}

# fastnet is run by a user who cannot see the processes of others.
owners_are_hidden()
{
    cp "$FASTNET" "$work/unprivileged"
    rm "$work/bin/fastnet"
    cat >"$work/bin/fastnet" <<END
#!/bin/sh
exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
    $work/unprivileged "\$@"
END
    chmod 755 "$work/bin/fastnet" "$work/unprivileged"
}

# A process of this name with so many listeners on a port, in place of the one before. Without an
# address only this machine reaches them.
starts() # NAME [ADDRESS:]PORT COUNT
{
    local at=$2
    [[ $at == *:* ]] || at=127.0.0.1:$at
    stops "$1"
    ln -sfn "$(realpath /usr/bin/python3)" "$work/$1"
    : >"$work/$1.said"
    "$work/$1" "${fleet%/man/*}/tests/helpers/listen.py" "$at,$3" \
        >"$work/$1.said" 2>&1 <&"$never" &
    echo "$!" >"$work/$1.pid"
    wait_until grep -qx ready "$work/$1.said" || details "$work/$1.said"
}

stops() # NAME
{
    [ -e "$work/$1.pid" ] || return 0
    kill "$(<"$work/$1.pid")"
    wait "$(<"$work/$1.pid")" 2>/dev/null
    rm "$work/$1.pid"
}
