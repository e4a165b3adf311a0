# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Packages of Debian, unpacked below $here: nothing is installed. MIRROR may name another mirror.

MIRROR=${MIRROR:-http://deb.debian.org}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# An apt of its own: the machine's lists and packages stay as they are.
apt() # apt-get|apt-cache ARGUMENT...
{
    local program=$1
    shift
    "$program" -q -o Dir::Etc::SourceList="${here:?}/sources.list" -o Dir::Etc::SourceParts=- \
        -o Dir::State="$here/apt" -o Dir::State::Status="$here/apt/status" -o Dir::Cache="$here/apt" \
        -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false -o APT::Update::Post-Invoke-Success= \
        "$@"
}

lists_update() # SUITE...
{
    local suite
    [ -e "$keyring" ] || die "$keyring is missing (package debian-archive-keyring)"
    mkdir -p "$here/apt/lists/partial" "$here/apt/archives/partial"
    : >"$here/apt/status"
    for suite; do
        case $suite in
        *-security) echo "deb [signed-by=$keyring] $MIRROR/debian-security $suite main" ;;
        *) echo "deb [signed-by=$keyring] $MIRROR/debian $suite main" ;;
        esac
    done >"$here/sources.list"
    apt apt-get update >"$here/apt.log" 2>&1 || echo "# apt-get update: $(grep -m 1 '^[EW]:' "$here/apt.log")"
}

# Since 7.2 or so a package names others that have the kernel and its modules.
unpack() # PACKAGE
{
    local deb parts
    [ ! -e "$here/$1" ] || return 0
    parts=$(apt apt-cache depends "$1" 2>/dev/null |
        sed -nE 's/^ *Depends: (linux-(base|binary|modules)-[0-9].*)/\1/p')
    # shellcheck disable=SC2086 # names without blanks
    (cd "$here/apt" && rm -f -- *.deb && apt apt-get download "$1" $parts) >>"$here/apt.log" 2>&1 ||
        return
    rm -rf "$here/$1.new"
    for deb in "$here"/apt/*.deb; do
        dpkg-deb -x "$deb" "$here/$1.new" || return
        rm "$deb"
    done
    mv "$here/$1.new" "$here/$1"
}
