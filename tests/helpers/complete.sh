# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2016 # lib.sh sets work; the inner shells expand
# Asks bash, zsh and fish which words they complete; source it after lib.sh.

# For each line of stdin, as it was typed when TAB is pressed, prints what is offered: words in
# order, without '=' or '/' behind, and without '-' or the part of a list that stands there already.
completed_by() # SHELL SCRIPT
{
    local line
    "offered_by_$1" "$2" | while IFS= read -r line; do
        tr ' ' '\n' <<<"$line" |
            sed -e 's/[=/]$//' -e 's/^--*[A-Za-z-]*=//' -e 's/.*,//' -e 's/^[-+!]\([a-z0-9_]\{2\}\)/\1/' |
            sort -u | tr '\n' ' ' | sed -e 's/^ *//' -e 's/ *$//'
        echo
    done
}

# readline takes '=' for a word.
offered_by_bash() # SCRIPT
{
    bash --norc -c '
        . "$1"
        compopt() { :; }
        while IFS= read -r line; do
            read -ra COMP_WORDS <<<"${line//=/ = }"
            [[ $line != *" " ]] || COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMPREPLY=()
            [[ $(complete -p "${COMP_WORDS[0]}") =~ -F\ ([^ ]*) ]] && "${BASH_REMATCH[1]}"
            echo "${COMPREPLY[*]}"
        done' complete "$1"
}

# fish 4 also names what has the letters anywhere; pressing TAB offers that only where nothing begins
# with them.
offered_by_fish() # SCRIPT
{
    HOME=$work fish --no-config -c '
        source $argv[1]
        while read -l line
            set -l word (string replace -r ".* " "" -- "$line")
            set -l offered (complete -C "$line" | string replace -r "\t.*" "" | string match -- "$word*")
            echo "$offered"
        end' "$1"
}

# Completion of zsh works nowhere but in its line editor, and that on a terminal alone. A directory
# in place of the script is one of those that zsh looks for functions in.
offered_by_zsh() # SCRIPT
{
    cat >"$work/zsh.lines"
    : >"$work/zsh.offered"
    cat >"$work/zsh.setup" <<'ZSH'
PS1= PS2= RPS1=
[[ ! -d $SCRIPT ]] || fpath=($SCRIPT $fpath)
autoload -Uz compinit
compinit -D -u
[[ -d $SCRIPT ]] || source $SCRIPT
compadd() {
    local -a offered
    local argument
    for argument; do
        [[ $argument != (-|--) ]] || break
        if [[ $argument == -[OAD] ]]; then
            builtin compadd "$@"
            return
        fi
    done
    builtin compadd -O offered "$@"
    print -rn -- "$offered " >>$OFFERED
    builtin compadd "$@"
}
offer() {
    _main_complete
    print >>$OFFERED
    compstate[insert]= compstate[list]=
}
zle -C offer complete-word offer
bindkey -e
bindkey '^I' offer
print ready
ZSH
    SCRIPT=$1 OFFERED=$work/zsh.offered SETUP=$work/zsh.setup TERM=dumb timeout 60 zsh -f -c '
        zmodload zsh/zpty
        await() { # COUNT: so many lines were answered
            repeat 2000; do
                (($(wc -l <$OFFERED) < $1)) || return
                zpty -r -t shell said
                sleep 0.01
            done
        }
        zpty shell zsh -f -i
        zpty -w shell "source $SETUP"
        zpty -r -m shell said "*ready*"
        integer count=0
        while IFS= read -r line; do
            zpty -w -n shell $'"'\x15'"'$line$'"'\t'"'
            await $((++count))
        done
        zpty -d shell' <"$work/zsh.lines" >/dev/null 2>&1
    cat "$work/zsh.offered"
}

# Types lines, in which \t is TAB, in a shell on a terminal. Prints the words of each, as <WORD>...
typed_in() # SHELL SCRIPT LINE...
{
    local shell=$1 script=$2 options=-i line count=1 typist
    local function='fastnet() { printf "<%s>" "$@" >>typed; echo >>typed; }'
    shift 2
    case $shell in
    bash) options='--norc -i' ;;
    zsh) options='-f -i' ;;
    fish)
        options='--no-config -i'
        function='function fastnet; printf "<%s>" $argv >>typed; echo >>typed; end'
        ;;
    esac
    rm -f keys typed && mkfifo keys && : >typed
    HOME=$work TERM=dumb script -qfc "$shell $options" /dev/null <keys >screen 2>&1 &
    typist=$!
    exec 9>keys
    [[ $shell != zsh ]] || echo 'autoload -Uz compinit; compinit -D -u' >&9
    printf '%s\n' "source $script" "$function" 'fastnet ready' >&9
    for line; do
        wait_until has_lines typed "$count"
        printf "%b\n" "$line" >&9
        ((++count))
    done
    wait_until has_lines typed "$count"
    exec 9>&-
    kill "$typist" 2>/dev/null
    wait "$typist" 2>/dev/null
    sed 1d typed
}
