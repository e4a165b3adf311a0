# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of, and for, compare.sh and lib.sh, which come first
# fastnet ss beside the ss of iproute2 that is installed, or another one (SS=FILE). Words are
# compared, not the blanks between them; rows may come in any order.

original=("${SS:-ss}")
fastnet=("$FASTNET" ss)
ignore=  # rows that are not compared, an extended regular expression
once=    # yes: rows count once, however often they are listed
ordered= # yes: rows must come in the same order
masks=   # what an older ss does not show, or shows in another form: commands of sed(1)

# Whether the installed ss has an option.
has() # OPTION
{
    "${original[@]}" --help 2>&1 | grep -q -e "$1"
}

# Whether the installed ss has a text of its listings in it.
knows() # TEXT
{
    grep -aqF -e "$1" "$(command -v "${original[0]}")"
}

ss_begin()
{
    local word
    if ! command -v "${original[0]}" >/dev/null; then
        skip ss "iproute2 is not installed"
        exit 0
    fi
    # Before 6.8 it knew no sockets of TCP that are bound and not connected.
    has --bound-inactive || masks+='/:(8081|sunproxyadmin|tproxy)[ \t]+[^ ]+:\*/d;'
    for word in rehash rcv_wnd local_addr_used local_addr_max csum_enabled retransmits \
        subflows_total endp_laminar_max last_data_sent last_data_recv last_ack_recv; do
        knows " $word:%" || masks+="s/ $word:[^ ]*//g;"
    done
    # Older ones write keys past their own buffer: they stand before the first line.
    knows ' rehash:%' || masks+='s/^.*secret(State|Netid|LISTEN)/\1/;s/ md5keys:.*//;'
    ! knows 'write_seq:%llx' ||
        masks+='s/\b(write_seq|snd_una|rcv_nxt|seq|sfseq|ssnoff|maplen):[^ ]*/\1:N/g;'
}

# The sockets of two helpers: every state, and every attribute.
ss_world()
{
    {
        echo 1 >/proc/sys/net/ipv4/tcp_ecn
        echo 0x603 >/proc/sys/net/ipv4/tcp_fastopen # with servers that gave no cookie, too
        echo 0 0 >/proc/sys/net/ipv4/ping_group_range
    } 2>/dev/null
    zoo_start plain && hold attributes "$work/sockets" zoo0
}

# Lines that belong to a row stand behind it. Times run on between two listings. The numbers of a
# device are wrong in ss, and the sk= of netlink is always 0. Older versions of ss have a heading for
# processes even without them.
normalised() # FILE
{
    local moving='lastsnd|lastrcv|lastack|last_data_sent|last_data_recv|last_ack_recv'
    moving+='|busy|rwnd_limited|sndbuf_limited'
    awk '/^[ \t]/ { row = row " " $0; next }
         NR > 1 { print row }
         { row = $0 }
         END { if (NR > 0) print row }' "$1" |
        sed -E -e '1s/Port *Process *$/Port/' -e 's/timer:\(([a-z]+),[^,]*,/timer:(\1,T,/g' \
            -e "s/\b($moving):[^ ]*/\1:T/g" -e 's/\bdev:[0-9]+\/[0-9]+/dev:N/' \
            -e 's/\bsk=[0-9a-f]+/sk=N/' -e "$masks" -e 's/[ \t]+/ /g' -e 's/ $//' \
            ${ignore:+-e "/$ignore/d"} |
        if [ -n "$ordered" ]; then cat; else sort ${once:+-u}; fi
}

same_rows() # EXPECTED ACTUAL STATUS
{
    diff <(normalised "$1.out") <(normalised "$2.out")
}

# Each has words of its own, but neither fails without one.
messages() # FILE STATUS
{
    [ "$2" -eq 0 ] || [ ! -s "$1.err" ] || echo "something"
}
