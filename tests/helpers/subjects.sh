# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The subjects of commits: those that are checked, and what is wrong with them.

# A line "HASH SUBJECT" for each commit that was made on top of the commit that added this file. Merges
# have no subject of their own. Nothing is printed where the history is missing: in a tarball, without
# git, in a clone of one commit.
new_subjects()
{
    local git=(git -c safe.directory='*') added
    [ -e .git ] && command -v git >/dev/null || return 0
    added=$("${git[@]}" log --diff-filter=A --format=%H -- tests/helpers/subjects.sh | tail -n 1)
    [ -z "$added" ] || "${git[@]}" log --no-merges --ancestry-path --format='%h %s' "$added..HEAD"
}

# Reads such lines, and prints "HASH: FAULT: SUBJECT" for each subject that is not "area: change", with a
# verb in the imperative and at most 72 columns. No list has all verbs, so a word is refused that cannot
# be one: a form of another tense, a plural, an article, a pronoun.
subject_faults()
{
    awk '
        BEGIN {
            split("a an the it its this that these those they we you he she what which who whose how " \
                "where when why is are was were been has had does did can could may might " \
                "must will would should not no none nothing never only also one ones some any all " \
                "each every most more less so as at by for from in into of on to with without and or " \
                "but if than then there here now", list)
            for (i in list)
                refused[list[i]] = 1
            split("alias bias focus canvas embed shed wed bring fling ping ring sing sling spring " \
                "sting string swing wring", list)
            for (i in list)
                imperative[list[i]] = 1
        }
        {
            hash = $1
            subject = substr($0, length(hash) + 2)
            verb = subject
            fault = ""
            if (!sub(/^[[:alnum:]_.][^:]*: /, "", verb))
                fault = "no area before a colon"
            else {
                sub(/[ ,;].*/, "", verb)
                if (verb !~ /^[a-z][a-z-]+$/ || verb in refused ||
                    (verb ~ /(ed|ing|s)$/ && verb !~ /(eed|ss)$/ && !(verb in imperative)))
                    fault = "\"" verb "\" is no verb in the imperative"
            }
            if (length(subject) > 72)
                fault = fault (fault ? ", and " : "") length(subject) " columns, more than 72"
            if (fault)
                print hash ": " fault ": " subject
        }'
}
