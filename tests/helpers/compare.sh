# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154 # work is of lib.sh
# Runs two programs with the same options and compares their output; source lib.sh first. The output
# of each program is in FILE.out, FILE.err and FILE.status. A script sets how to run both, and may
# redefine functions of this file, such as same_rows() and messages().

original=()            # how the one is run that fastnet is compared with
fastnet=("$FASTNET")
user=()                # how both are run as another user
tries=6                # something can move between the two

# Runs a command.
capture() # FILE COMMAND...
{
    local file=$1
    shift
    "$@" >"$file.out" 2>"$file.err" </dev/null
    echo $? >"$file.status"
}

# The part of stderr that is compared.
messages() # FILE STATUS
{
    cat "$1.err"
}

# Prints what differs in stdout.
same_rows() # EXPECTED ACTUAL STATUS
{
    cmp -s "$1.out" "$2.out" || diff "$1.out" "$2.out"
}

# Prints the first difference of two captured commands.
same() # EXPECTED ACTUAL
{
    local one two
    read -r one <"$1.status"
    read -r two <"$2.status"
    if [ "$one" != "$two" ]; then
        printf '# exit status %s, not %s\n' "$two" "$one"
        details "$2.err"
        return 1
    fi
    if [ -s "$1.err" ] || [ -s "$2.err" ]; then
        diff <(messages "$1" "$one") <(messages "$2" "$one") || return
    fi
    same_rows "$1" "$2" "$one"
}

# One option set; what differs is in $work/verdict.
compare() # OPTION...
{
    try_again "$tries" compare_once "$@"
}

compare_once() # OPTION...
{
    capture "$work/original" "${user[@]}" "${original[@]}" "$@"
    capture "$work/fastnet" "${user[@]}" "${fastnet[@]}" "$@"
    same "$work/original" "$work/fastnet" >"$work/verdict"
}

# One option set that is a test of its own.
check() # NAME OPTION...
{
    local name=$1
    shift
    if compare "$@"; then
        ok "$name$*"
    else
        not_ok "$name$*"
        details "$work/verdict"
    fi
}

# Many that are one test: one a line on stdin, words separated by blanks, '' for an empty word.
group() # NAME
{
    local name=$1 words sets=0 wrong=0 tries=$tries
    while read -r -a words <&3; do
        sets=$((sets + 1))
        compare "${words[@]//\'\'/}" && continue
        wrong=$((wrong + 1))
        if [ "$wrong" -le 5 ]; then
            printf 'not ok %s: %s\n' "$name" "${words[*]}"
            details "$work/verdict"
        else
            tries=2
        fi
    done 3<&0
    failures=$((failures + wrong))
    if [ "$sets" -eq 0 ]; then
        not_ok "$name" "no option set"
    elif [ "$wrong" -eq 0 ]; then
        ok "$name ($sets option sets)"
    else
        printf '# %s: %d of %d option sets differ\n' "$name" "$wrong" "$sets"
    fi
}
