# shellcheck shell=bash
# shellcheck disable=SC2154 # work is of lib.sh
# What tests beside the real netstat share; lib.sh comes first.

# A netstat that reads net/ in the directory it is run in, in place of /proc/net: a path of equal
# length is put into a copy of the program.
netstat_of_trees() # FILE
{
    LC_ALL=C sed 's#/proc/net/#.///./net/#g' "$(command -v netstat)" >"$1" && chmod 755 "$1" &&
        grep -qF './//./net/snmp' "$1"
}

# Runs a command, its output in FILE.out, FILE.err and FILE.status.
capture() # FILE COMMAND...
{
    local file=$1
    shift
    timeout 20 "$@" >"$file.out" 2>"$file.err" </dev/null
    echo $? >"$file.status"
}

# The program's name and the place of the files are taken off.
messages() # FILE
{
    sed -E -e 's/^[^ ]*(netstat|fastnet): //' -e 's#[^ ]*/net/#net/#' "$1"
}

# Status, stdout and messages of two commands as captured; of a wrong option only the status.
same() # EXPECTED ACTUAL
{
    local status
    diff "$1.status" "$2.status" || return
    read -r status <"$1.status"
    [ "$status" -ne 3 ] || return 0
    diff "$1.out" "$2.out" && diff <(messages "$1.err") <(messages "$2.err")
}

netstat=(netstat)   # how the two are run
fastnet=("$FASTNET")

# One option set, again when something moved between the two listings.
compare() # OPTION...
{
    local try
    for ((try = 1; try <= 6; try++)); do
        capture "$work/netstat" "${netstat[@]}" "$@"
        capture "$work/fastnet" "${fastnet[@]}" "$@"
        same "$work/netstat" "$work/fastnet" >"$work/verdict" && return
    done
    return 1
}

# Option sets, one a line on stdin, words separated by blanks.
group() # NAME
{
    local name=$1 words sets=0 wrong=0
    while read -r -a words <&3; do
        sets=$((sets + 1))
        compare "${words[@]}" && continue
        wrong=$((wrong + 1))
        printf 'not ok %s: %s\n' "$name" "${words[*]}"
        details "$work/verdict"
    done 3<&0
    failures=$((failures + wrong))
    if [ "$sets" -eq 0 ]; then
        not_ok "$name" "no option set"
    elif [ "$wrong" -eq 0 ]; then
        ok "$name ($sets option sets)"
    fi
}
