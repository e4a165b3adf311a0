# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For tests of packages: they are made of this tree as it is, and installed below $root.
#
# They are built without optimising, because that is three times as fast: DEB_BUILD_OPTIONS and
# ~/.rpmrc say so, as anybody may.

unset MANPATH
root=${work:?}/root
export HOME=$work DEB_BUILD_OPTIONS=noopt # dpkg, rpm and fish look there
PATH=$PATH:/usr/sbin:/sbin
printf 'optflags: %s -O0 -g\n' "$(uname -m)" >"$HOME/.rpmrc"
# shellcheck disable=SC2034 # for the scripts
setcap='setcap cap_sys_ptrace,cap_dac_read_search,cap_net_admin+p /usr/bin/fastnet'

# A clone of this tree with what is not yet committed, in $work/tree, and goes there.
clone_as_it_is()
{
    mkdir "$work/tree"
    if [ -e .git ]; then
        git -c safe.directory='*' ls-files -co --exclude-standard -z |
            tar --null -T - -c --ignore-failed-read 2>/dev/null
    else
        tar -c .[!.]* LICENSE Makefile README.md include man src tests
    fi | tar --no-same-owner -x -C "$work/tree"
    cd "$work/tree" && git init -q && git add -A &&
        git -c user.name=test -c user.email=test commit -q -m all
}

# Settings of the caller have no effect.
package() # deb|rpm|apk [VARIABLE=VALUE...]; leaves its name in file
{
    file=$(umask 077 && env -u SANITIZE -u PROGRAM CFLAGS=-nonsense make -s BUILD=build PREFIX=/opt \
        BINDIR=/opt/bin LINKS=netstat "$@" 2>"$work/said")
    is "make $1 makes a package, silently" "0 yes " \
        "$? $([ -f "$file" ] && echo yes) $(cat "$work/said")"
    [ -f "$file" ]
}

# The same for each kind of package, with each page that the source has: its completions for zsh, and what
# else only this kind has.
expected() # ZSHDIR FILE...
{
    sort <<LIST
/usr/bin/fastnet
/usr/lib/systemd/system/fastnet-record.service
/usr/share/bash-completion/completions/fastnet
/usr/share/doc/fastnet/examples/fastnet-alerts.yml
/usr/share/doc/fastnet/examples/fastnet-dashboard.json
/usr/share/fish/vendor_completions.d/fastnet.fish
$(for page in "$work"/tree/man/fastnet*.[1-9]; do
        echo "/usr/share/man/man${page##*.}/${page##*/}.gz"
    done)
$1/_fastnet
$(printf '%s\n' "${@:2}")
LIST
}

# Tests the program, pages and completions that are installed below $root.
installed_works() # NAME ZSHDIR
{
    local share=$root/usr/share page shell script version
    version=$("$FASTNET" -V | sed "1s/(commit .*)/(commit $(git rev-parse --short=12 HEAD))/")
    is "$1: the program says its version and commit" "$version" "$("$root/usr/bin/fastnet" -V)"
    is "... lists" "$("$FASTNET" -ltn)" "$("$root/usr/bin/fastnet" -ltn)"
    is "... also runs with glibc before 2.36" "" \
        "$(readelf -VW "$root/usr/bin/fastnet" | grep -o 'GLIBC_ABI_[A-Z_]*')"
    is "... has no rights of its own" "755 " \
        "$(stat -c %a "$root/usr/bin/fastnet") $(getcap "$root/usr/bin/fastnet")"
    is "... everybody can read it" "" \
        "$(find "$root/usr" ! -type l ! -perm 755 ! -perm 644)"
    for page in "$work"/tree/man/fastnet*.[1-9]; do
        page=$(basename "${page%.*}")
        is "... man finds $page" "$page" "$(basename "$(MANPATH=$share/man man -w "$page")" | cut -d . -f 1)"
    done
    for shell in bash zsh fish; do
        case $shell in
        bash) script=$share/bash-completion/completions/fastnet ;;
        zsh) script=$root$2 ;;
        fish) script=$share/fish/vendor_completions.d/fastnet.fish ;;
        esac
        is "... $shell completes" --ndjson \
            "$(PATH=$root/usr/bin:$PATH completed_by "$shell" "$script" <<<"fastnet --nd")"
        [ "$shell" != zsh ] || script+=/_fastnet
        is "... as the program says" "$("$FASTNET" --completion="$shell")" "$(<"$script")"
    done
}

# A second package has the bytes of the first.
same_bytes() # NAME FILE FILE
{
    is "$1" "$(sha256sum <"$2")" "$([ ! -f "$3" ] || sha256sum <"$3")"
}

build_id() # PROGRAM
{
    readelf -n "$1" | sed -n 's/ *Build ID: //p'
}

libraries() # PROGRAM
{
    objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }' | sort
}
