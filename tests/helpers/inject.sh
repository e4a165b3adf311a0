# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # lib.sh sets work
# Listings while system calls or allocations fail; source it after lib.sh. This file does not know
# which rows are listed, so the script defines two functions:
#
#     rows FILE                      prints the rows of a listing in a fixed order, without values
#                                    that change from run to run
#     fault_of transparent|told      checks a run, and prints its errors. transparent: the fault must
#                                    change nothing; told: a message may report it. The run's exit
#                                    status is in $status, its output in $work/out and $work/err.
#                                    listing_fault() does most of that

run_seconds=30
clean_status=0 # of a run without faults
prefix= # of the tests' names

inject_needed() # NAME
{
    strace -qq -o /dev/null -e trace=write -e inject=write:delay_enter=1 true 2>/dev/null && return
    skip "$1" "strace cannot trace here"
    exit 0
}

declare -A places=()    # of each call that the clean run makes: "FIRST LAST"
declare -A unblamed=()  # runs of this set in which nothing was wrong, by what can be seen of them
calls=()                # those of the clean run, in the order of their first occurrence

# Numbers of the calls' occurrences after main() began, which first looks at descriptors 0 to 2, as
# "CALL FIRST LAST". What is written to stderr does not count: where that fails, nothing can be said
# of it.
occurrences()
{
    awk '
        { sub(/^[0-9]+ +/, "") }
        /^fcntl\(0, F_GETFD/ { begun = 1 }
        !match($0, /^[a-z_0-9]+\(/) || /^write\(/ && !/^write\(1,/ { next }
        {
            call = substr($0, 1, RLENGTH - 1)
            count[call]++
            if (begun && !(call in first)) {
                first[call] = count[call]
                order[++calls] = call
            }
        }
        END { for (i = 1; i <= calls; i++) print order[i], first[order[i]], count[order[i]] }' \
        "$work/trace"
}

# A clean run: its rows, and the calls it makes.
begin_set() # OPTION...
{
    local call where
    places=() unblamed=() calls=()
    "$FASTNET" "$@" >"$work/clean.out" 2>"$work/clean.err" </dev/null
    [ $? -eq "$clean_status" ] || return
    rows "$work/clean.out" >"$work/clean.rows"
    ip -o link | awk -F '[:@] *' '{ printf "%s :%s ", $2, $2 }' >"$work/interfaces"
    strace -f -o "$work/trace" "$FASTNET" "$@" >/dev/null 2>&1 </dev/null
    [ $? -eq "$clean_status" ] || return
    while read -r call where; do
        calls+=("$call")
        places[$call]=$where
    done < <(occurrences)
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

# All places from FIRST to LAST, or some of them spread over the range, in $picked.
spread() # FIRST LAST MOST
{
    local i all=$(($2 - $1 + 1))
    picked=()
    if [ "$all" -le "$3" ]; then
        for ((i = $1; i <= $2; i++)); do picked+=("$i"); done
    else
        for ((i = 0; i < $3; i++)); do picked+=($(($1 + i * ($2 - $1) / ($3 - 1)))); done
    fi
}

# Judges the run that left its status in $status and its output in $work; says in $fault what is
# wrong. A run that looks like one before it is not judged again.
judge() # transparent|told OPTION...
{
    local seen
    seen="$1 $status $(cksum "$work/out" "$work/err")"
    fault=
    [ -z "${unblamed[$seen]-}" ] || return 0
    fault=$(fault_of "$@")
    [ -n "$fault" ] || unblamed[$seen]=yes
}

report() # NAME PLACES FAULTS
{
    local lines
    if [ -z "$3" ]; then
        ok "$1 ($2)"
    else
        mapfile -t lines <<<"${3%$'\n'}"
        not_ok "$1" "${lines[@]}"
    fi
}

# One call, one error, at each place in turn.
faults() # CALL ERROR MOST OPTION...
{
    local call=$1 error=$2 most=$3 first='' last='' place kind fault='' count=0 status picked
    shift 3
    kind=$(kind_of "$call" "$error")
    [ "$error:$call" != EAGAIN:read ] || kind=told # files of processes are not read again
    read -r first last <<<"${places[$call]-}"
    [ -n "$first" ] || return
    spread "$first" "$last" "$most"
    for place in "${picked[@]}"; do
        inject "$call" "$call:error=$error:when=$place" -- "$@"
        status=$?
        judge "$kind" "$@"
        count=$((count + 1))
        [ -z "$fault" ] || break
    done
    report "$prefix$*: $call fails with $error" "$count" "${fault:+call $place: $fault}"
}

# One injection, which leaves in $fault what was wrong.
memory_fault() # WHERE CALL INJECTION... -- OPTION...
{
    local where=$1 status
    shift
    inject "$@"
    status=$?
    while [ "$1" != -- ]; do shift; done
    shift
    judge told "$@"
    fault=${fault:+$where: $fault}
    count=$((count + 1))
    [ -z "$fault" ]
}

# No memory from some place on, or just once. brk(2) tells by not moving.
memory_faults() # OPTION...
{
    local brk last_brk mmap last_mmap place fault='' count=0
    read -r brk last_brk <<<"${places[brk]-1 0}"
    read -r mmap last_mmap <<<"${places[mmap]-1000 0}"
    for ((place = brk; place <= last_brk; place++)); do
        memory_fault "brk $place and after" brk,mmap "brk:retval=0:when=$place+" \
            "mmap:error=ENOMEM:when=$mmap+" -- "$@" || break
        memory_fault "brk $place" brk "brk:retval=0:when=$place" -- "$@" || break
    done
    for ((place = mmap; place <= last_mmap; place++)); do
        [ -z "$fault" ] || break
        memory_fault "mmap $place" mmap "mmap:error=ENOMEM:when=$place" -- "$@"
    done
    report "$prefix$*: no memory" "$count" "$fault"
}

# --- The same listing, with a fault and without -----------------------------------------------

# Prints the rows that differ from a clean run. A row that lost values is a clean row with words left
# out; an interface may have its number in place of its name.
row_faults() # CLEAN-ROWS ROWS; prints "changed: ROW" or "missing: ROW"
{
    awk -v interfaces="$(<"$work/interfaces")" '
        function words(row, word) {
            gsub(/[][{}",=]+/, " ", row)
            gsub(/:null|(null|-|\?) /, " ", row)
            return split(row, word, " ")
        }
        function is_left_of(row, clean,    i, j, n, m, left, all) {
            n = words(row " ", left)
            m = words(clean " ", all)
            for (i = j = 1; i <= n; i++) {
                while (j <= m && left[i] != all[j] && !(left[i] ~ /^:?[0-9]+$/ && all[j] in name))
                    j++
                if (j++ > m)
                    return 0
            }
            return 1
        }
        BEGIN { split(interfaces, list, " "); for (i in list) name[list[i]] }
        !/[^ ]/ { next }
        FNR == NR { clean[$0]++; next }
        clean[$0] > 0 { clean[$0]--; next }
        { other[++others] = $0 }
        END {
            for (i = 1; i <= others; i++) {
                best = ""
                for (row in clean)
                    if (clean[row] > 0 && (best == "" || length(row) < length(best)) &&
                        is_left_of(other[i], row))
                        best = row
                if (best == "")
                    print "changed: " other[i]
                else
                    clean[best]--
            }
            for (row in clean)
                if (clean[row] > 0)
                    print "missing: " row
        }' "$1" "$2"
}

# Prints errors of --json, --ndjson or --csv that a program could not read.
invalid() # OPTION...
{
    local lint=
    case " $* " in
    *' --json '*) lint=jsonlint ;;
    *' --ndjson '*) lint='jsonlint --lines' ;;
    *' --csv '*) lint=csvlint ;;
    esac
    # What ends before its beginning has no form, nor what must end where it stands.
    [ "$status" -eq 0 ] || [ -s "$work/out" ] || return
    ! grep -q 'cannot give up capabilities' "$work/err" || return
    # shellcheck disable=SC2086 # words
    [ -z "$lint" ] || "$HELPERS"/$lint <"$work/out" 2>&1 >/dev/null | head -n 1
}

# In silence a listing is that of a clean run. With a word on stderr it may lack values, and with
# status 1 rows. It never has other rows, nor says anything twice.
listing_fault() # transparent|told OPTION...
{
    local kind=$1 same=true silent=true said
    shift
    mapfile -t said <"$work/err"
    if [ "$status" -gt 1 ]; then
        echo "ended with status $status: ${said[0]-}"
        return
    fi
    if [ -s "$work/err" ] || [ -s "$work/clean.err" ]; then
        cmp -s "$work/err" "$work/clean.err" || silent=false
    fi
    if $silent && [ "$status" -eq 0 ] && cmp -s "$work/out" "$work/clean.out"; then
        return
    fi
    if [[ ${said[*]} == *'write error'* ]]; then
        drop_cut_line
    else
        invalid "$@"
    fi
    [ ${#said[@]} -lt 2 ] || sort "$work/err" | uniq -d | sed -e 's/^/said twice: /' -e q
    sed -n -e '/: $/{s/^/no reason: /p;q' -e '}' "$work/err"
    rows "$work/out" >"$work/rows"
    cmp -s "$work/rows" "$work/clean.rows" || same=false
    if [ "$kind" = transparent ]; then
        { $same && $silent && [ "$status" -eq 0 ]; } ||
            echo "noticed: status $status, ${said[0]-}"
    elif [ "$status" -ne 0 ] && $silent; then
        echo "status $status and nothing on stderr"
    elif $silent && ! $same; then
        echo "in silence: $(diff "$work/clean.rows" "$work/rows" | grep '^[<>]' | head -n 4 | cut -c 1-160)"
    elif ! $same; then
        row_faults "$work/clean.rows" "$work/rows" >"$work/faults"
        [ "$status" -eq 0 ] || sed -i '/^missing/d' "$work/faults"
        head -n 2 "$work/faults"
    fi
}

# --- Every call -------------------------------------------------------------------------------

# Whether a call can fail. For memory there are tests of its own.
can_fail() # CALL
{
    case $1 in exit* | brk | mmap | munmap | fcntl | *sigreturn | get*id) return 1 ;; esac
}

# Some that are in the call's manual page, and some that kernels and seccomp filters have for it.
errors_of() # CALL
{
    case $1 in
    socket) echo EMFILE ENOBUFS EPERM EAFNOSUPPORT ;;
    bind | getsockname | setsockopt) echo ENOBUFS ENOMEM EPERM ;;
    sendto) echo ENOBUFS EINTR EPERM EAGAIN ENOMEM ;;
    recvmsg) echo ENOBUFS EINTR EIO EAGAIN EPERM ENOMEM ;;
    openat) echo EMFILE EINTR EIO EACCES ENOMEM ;;
    read) echo EIO EINTR ENOMEM EAGAIN ;;
    write) echo ENOSPC EINTR EIO EAGAIN ;;
    ioctl) echo EIO EINTR EPERM ENOMEM ;;
    cap* | prctl) echo EPERM ;;
    close) echo EIO ;;
    getrandom) echo ENOSYS EINTR EAGAIN ;;
    *) echo EIO ENOMEM EACCES ;;
    esac
}

# Which faults must not show.
kind_of() # CALL ERROR
{
    case $2:$1 in
    EINTR:* | EAGAIN:write | EAGAIN:recv* | EAGAIN:sendto | EAGAIN:read) echo transparent ;;
    EPERM:recvmmsg | ENOSYS:recvmmsg) echo transparent ;;
    *) echo told ;;
    esac
}

# One fault, judged; a second time if the listing may have moved by itself. Leaves it in $fault.
fault_at() # CALL ERROR PLACE OPTION...
{
    local call=$1 error=$2 place=$3 try status
    shift 3
    for try in 1 2; do
        [ "$try" = 1 ] || begin_set "$@" || return
        inject "$call" "$call:error=$error:when=$place" -- "$@"
        status=$?
        judge "$(kind_of "$call" "$error")" "$@"
        [ -n "$fault" ] || return
    done
    fault="$error at call $place: $fault"
}

# Each call with each of its errors at each place, or MOST of these pairs, spread over all.
every_fault() # MOST OPTION...
{
    local most=$1 call first last errors pair fault bad picked made=("${calls[@]}")
    shift
    for call in "${made[@]}"; do
        read -r first last <<<"${places[$call]-}"
        if [ -z "$first" ] || ! can_fail "$call"; then continue; fi
        read -r -a errors <<<"$(errors_of "$call")"
        spread 0 $(((last - first + 1) * ${#errors[@]} - 1)) "$most"
        bad=
        for pair in "${picked[@]}"; do
            fault_at "$call" "${errors[pair % ${#errors[@]}]}" \
                $((first + pair / ${#errors[@]})) "$@"
            bad+=${fault:+$fault$'\n'}
        done
        report "$prefix$*: $call fails" "${#picked[@]}" "$bad"
    done
}

# Each allocation, by itself and with all after it. Those before main() count, and do no harm.
allocation_faults() # MOST OPTION...
{
    local most=$1 preload count place fault bad='' status try picked
    preload=$(realpath -m "$HELPERS/../faults/fail_malloc.so")
    shift
    LD_PRELOAD=$preload FAIL_MALLOC_COUNT=$work/allocations "$FASTNET" "$@" >/dev/null 2>&1 </dev/null
    read -r count <"$work/allocations"
    spread 1 "$count" "$most"
    for place in "${picked[@]/%/ }" "${picked[@]/%/+}"; do
        place=${place% }
        for try in 1 2; do
            [ "$try" = 1 ] || begin_set "$@"
            LD_PRELOAD=$preload FAIL_MALLOC=$place timeout -k 1 "$run_seconds" \
                "$FASTNET" "$@" >"$work/out" 2>"$work/err" </dev/null
            status=$?
            judge told "$@"
            [ -n "$fault" ] || break
        done
        bad+=${fault:+allocation $place: $fault$'\n'}
    done
    report "$prefix$*: allocations fail" $((2 * ${#picked[@]})) "$bad"
}

in_directory() # DIRECTORY CHECK OPTION...
{
    local work=$1
    shift
    "$@" >"$work/log" 2>&1
}

# Runs CHECK for each line of options on stdin, some at a time, each in a directory of its own.
in_parallel() # CHECK
{
    local sets=() set worker workers=()
    mapfile -t sets
    for ((worker = 0; worker < $(nproc); worker++)); do
        for set in "${!sets[@]}"; do
            mkdir "$work/set.$set" 2>/dev/null || continue # another one has it
            # shellcheck disable=SC2086 # words
            in_directory "$work/set.$set" "$1" ${sets[set]}
        done &
        workers[worker]=$!
    done
    wait "${workers[@]}"
    for set in "${!sets[@]}"; do
        cat "$work/set.$set/log"
        failures=$((failures + $(grep -c '^not ok' "$work/set.$set/log")))
    done
}
