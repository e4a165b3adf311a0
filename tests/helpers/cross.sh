# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Debian's compilers, emulators and libraries of another architecture, below build/arch: they are
# downloaded and unpacked there, the system stays as it is, and no rights are needed. The caller has
# `die MESSAGE`, and is in the project's root.

# Sets $gnu, $libraries, $machine (as the C compiler, Debian's directories and qemu call it), and
# $sysroot, where unpack_libraries unpacks.
cross_names() # ARCH
{
    command -v apt-get dpkg-architecture >/dev/null || die "this needs Debian's apt-get and dpkg-dev"
    arch=$1
    gnu=$(dpkg-architecture -a"$arch" -qDEB_HOST_GNU_TYPE 2>/dev/null) || die "'$arch' is not an architecture of Debian"
    # shellcheck disable=SC2034 # for the caller
    libraries=$(dpkg-architecture -a"$arch" -qDEB_HOST_MULTIARCH)
    case $arch in
    armhf | armel) machine=arm ;;
    arm64) machine=aarch64 ;;
    ppc64el) machine=ppc64le ;;
    amd64) machine=x86_64 ;;
    *) machine=$arch ;;
    esac
    top=$PWD/build/arch
    tools=$top/tools
    sysroot=$top/$arch
    mkdir -p "$top" || exit 1
}

# apt-get with state and cache of its own, which needs no root.
cross_apt() # DIRECTORY OPTION...
{
    state=$1/apt
    shift
    mkdir -p "$state/lists/partial" "$state/archives/partial"
    apt-get -qq -o Dir::Cache="$state" -o Dir::State="$state" -o Debug::NoLocking=1 \
        -o Acquire::Languages=none -o APT::Install-Recommends=0 "$@"
}

cross_unpack() # DIRECTORY OPTION...: what is there already is not downloaded again
{
    directory=$1
    shift
    echo "downloading to build/arch/${directory##*/}: $packages" >&2
    # shellcheck disable=SC2086 # one word a package
    if ! cross_apt "$directory" "$@" update ||
        ! cross_apt "$directory" "$@" -y --download-only install $packages; then
        die "apt-get could not download $packages"
    fi
    for package in "$directory"/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$directory" || die "cannot unpack $package"
    done
    rm -rf "$directory/apt"
}

# The libraries of the other architecture, as if nothing were installed.
unpack_libraries() # FILE PACKAGE...: FILE: one of theirs
{
    [ ! -e "$sysroot/$1" ] || return 0
    shift
    packages=$*
    mkdir -p "$sysroot/apt" && : >"$sysroot/apt/status"
    cross_unpack "$sysroot" -o Dir::State::status="$sysroot/apt/status" -o APT::Architecture="$arch" \
        -o APT::Architectures::="$arch"
}

# The compiler and the emulator, if this machine lacks them. A compiler finds only the parts that are
# unpacked beside it, so parts that are installed do not count.
unpack_tools()
{
    PATH=$PATH:$tools/usr/bin
    LD_LIBRARY_PATH=$tools/usr/lib/$(dpkg-architecture -qDEB_BUILD_MULTIARCH 2>/dev/null)
    export PATH LD_LIBRARY_PATH
    packages=
    name=$(echo "$gnu" | tr _ -)
    command -v "$gnu-gcc" >/dev/null || packages="gcc-$name"
    [ "$arch" = "$(dpkg --print-architecture)" ] || command -v "qemu-$machine-static" >/dev/null ||
        packages="$packages qemu-user-static"
    [ -n "$packages" ] || return 0
    mkdir -p "$tools/apt"
    awk -v part="^Package: .*($name|-$arch-cross)" 'BEGIN { RS = ""; ORS = "\n\n" } $0 !~ part' \
        /var/lib/dpkg/status >"$tools/apt/status"
    cross_unpack "$tools" -o Dir::State::status="$tools/apt/status"
}
