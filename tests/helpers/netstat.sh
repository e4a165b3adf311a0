# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154 # work is of lib.sh
# Functions for tests that compare with the real netstat; source lib.sh and compare.sh before.

# shellcheck disable=SC2034 # of compare.sh
original=(netstat)

# A netstat that reads net/ in the directory it is run in, in place of /proc/net: a path of equal
# length is put into a copy of the program.
netstat_of_trees() # FILE
{
    LC_ALL=C sed 's#/proc/net/#.///./net/#g' "$(command -v netstat)" >"$1" && chmod 755 "$1" &&
        grep -qF './//./net/snmp' "$1"
}

# The program's name and the place of the files are taken off; of a wrong option only the status
# is compared.
messages() # FILE STATUS
{
    [ "$2" -eq 3 ] || sed -E -e 's/^[^ ]*(netstat|fastnet): //' -e 's#[^ ]*/net/#net/#' "$1.err"
}

# Unix sockets by the file alone may be forged: fastnet says so with status 1, netstat never.
take_back_unconfirmed() # FILE
{
    if grep -q '^[a-z]*: unix: [0-9]* rows* of .* may be forged' "$1.err" &&
        [ "$(<"$1.status")" -eq 1 ]; then
        sed -i '/^[a-z]*: unix: [0-9]* rows* of .* may be forged/d' "$1.err"
        echo 0 >"$1.status"
    fi
}
