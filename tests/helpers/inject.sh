# shellcheck shell=bash disable=SC2154 # lib.sh sets work
# Faults by strace -e inject; sourced after lib.sh. The script says what its rows are and what is
# wrong with a run, for nothing else here knows what is listed:
#
#     rows FILE                       what was listed, without order
#     fault_of transparent|told      judges the run that left its exit status in $status, stdout and
#                                    stderr in $work/out and $work/err; prints what is wrong

run_seconds=10
prefix= # of the tests' names

inject_needed() # NAME
{
    strace -qq -o /dev/null -e trace=write -e inject=write:delay_enter=1 true 2>/dev/null && return
    skip "$1" "strace cannot trace here"
    exit 0
}

# Numbers of a call's occurrences after main() began, which first looks at descriptors 0 to 2. What
# is written to stderr does not count: where that fails, nothing can be said of it.
places() # CALL; prints "FIRST LAST"
{
    local call="$1("
    [ "$1" != write ] || call='write(1,'
    sed -E 's/^[0-9]+ +//' "$work/trace" | awk -v call="$call" '
        $0 ~ /^fcntl\(0, F_GETFD/ { begun = 1 }
        index($0, call) == 1 { count++; if (begun && !first) first = count }
        END { if (first) print first, count }'
}

# A clean run: its rows, and the calls it makes.
begin_set() # OPTION...
{
    "$FASTNET" "$@" >"$work/clean.out" 2>"$work/clean.err" </dev/null || return
    rows "$work/clean.out" >"$work/clean.rows"
    strace -f -o "$work/trace" "$FASTNET" "$@" >/dev/null 2>&1 </dev/null
}

inject() # CALL INJECTION... -- OPTION...
{
    local call=$1 injections=()
    shift
    while [ "$1" != -- ]; do
        injections+=(-e "inject=$1")
        shift
    done
    shift
    timeout -k 1 "$run_seconds" strace -f -qq --seccomp-bpf -o "$work/injected" -e "trace=$call" \
        "${injections[@]}" "$FASTNET" "$@" >"$work/out" 2>"$work/err" </dev/null
}

# A run that ended with an error may have ended inside a line.
drop_cut_line()
{
    [ -z "$(tail -c 1 "$work/out")" ] || sed -i '$d' "$work/out"
}

# All places from FIRST to LAST, or some of them spread over the range.
spread() # FIRST LAST MOST
{
    local first=$1 last=$2 most=$3 i
    if [ $((last - first)) -lt "$most" ]; then
        seq "$first" "$last"
        return
    fi
    for ((i = 0; i < most; i++)); do
        echo $((first + i * (last - first) / (most - 1)))
    done
}

report() # NAME PLACES FAULT
{
    if [ -z "$3" ]; then
        ok "$1 ($2)"
    else
        not_ok "$1" "$3"
    fi
}

# One call, one error, at each place in turn.
faults() # CALL ERROR MOST OPTION...
{
    local call=$1 error=$2 most=$3 first='' last='' place kind=told fault='' count=0 status
    shift 3
    read -r first last <<<"$(places "$call")"
    [ -n "$first" ] || return
    case $error:$call in
    EINTR:* | EAGAIN:write | EAGAIN:recvmsg | EAGAIN:sendto) kind=transparent ;;
    esac
    for place in $(spread "$first" "$last" "$most"); do
        inject "$call" "$call:error=$error:when=$place" -- "$@"
        # shellcheck disable=SC2034 # for fault_of
        status=$?
        fault=$(fault_of "$kind")
        count=$((count + 1))
        [ -z "$fault" ] || fault="call $place: $fault"
        [ -z "$fault" ] || break
    done
    report "$prefix$*: $call fails with $error" "$count" "$fault"
}

# No memory from some place on, or just once. brk(2) tells by not moving.
memory_faults() # OPTION...
{
    local brk='' mmap='' last_brk='' last_mmap='' place fault='' count=0 status
    read -r brk last_brk <<<"$(places brk)"
    read -r mmap last_mmap <<<"$(places mmap)"
    for place in $(seq "${brk:-1}" "${last_brk:-0}"); do
        inject brk,mmap "brk:retval=0:when=$place+" "mmap:error=ENOMEM:when=${mmap:-1000}+" -- "$@"
        status=$?
        fault=$(fault_of told)
        count=$((count + 1))
        [ -z "$fault" ] || fault="brk $place and after: $fault"
        [ -z "$fault" ] || break
        inject brk "brk:retval=0:when=$place" -- "$@"
        status=$?
        fault=$(fault_of told)
        count=$((count + 1))
        [ -z "$fault" ] || fault="brk $place: $fault"
        [ -z "$fault" ] || break
    done
    for place in $(seq "${mmap:-1}" "${last_mmap:-0}"); do
        [ -z "$fault" ] || break
        inject mmap "mmap:error=ENOMEM:when=$place" -- "$@"
        # shellcheck disable=SC2034 # for fault_of
        status=$?
        fault=$(fault_of told)
        count=$((count + 1))
        [ -z "$fault" ] || fault="mmap $place: $fault"
    done
    report "$prefix$*: no memory" "$count" "$fault"
}
