# SPDX-License-Identifier: MIT
# Makes a row of a table from what runner has measured.
#
#   awk -v name=NAME -v shown=N -v rows=N -v verdicts=FILE -f row.awk
#
# Input, with tabs: "command LABEL CALLS MEASURED", the first of fastnet, the second of its floor,
# MEASURED empty if it was not run; then "goal TEXT". The first `shown` commands have columns, the
# others are only for goals. Appends "VERDICT NAME (GOAL)" with tabs to the file of verdicts.

BEGIN {
    FS = "\t"
    # what is in MEASURED: of times and ratios the lower quartile, the median, the upper quartile
    WALL = 1; CPU = 4; RATIO = 7; MORE = 10; PEAK = 13; RUNS = 14
}

$1 == "command" {
    label[++commands] = $2
    calls[commands] = $3
    command[$2] = commands
    count = split($4, fields, " ")
    there[commands] = count > 0
    for (i = 1; i <= count; i++)
        measured[commands, i] = fields[i]
}

$1 == "goal" {
    goal[++goals] = $2
}

function rounded(x, like) # with as many decimals as a figure of this size deserves
{
    return sprintf(like < 10 ? "%.3f" : like < 100 ? "%.2f" : like < 1000 ? "%.1f" : "%.0f", x)
}

# A median, and half the distance between the quartiles.
function with_spread(i, what,    median, spread)
{
    median = measured[i, what + 1]
    spread = (measured[i, what + 2] - measured[i, what]) / 2
    return rounded(median, median) (measured[i, RUNS] > 1 ? " ±" rounded(spread, median) : "")
}

function listed(what,    i, text) # for each command
{
    for (i = 1; i <= shown; i++)
        text = text (i > 1 ? " / " : "") \
            (!there[i] ? "-" : what == "calls" ? calls[i] : what == PEAK ? measured[i, PEAK] : \
             rounded(measured[i, what + 1], measured[i, what + 1]))
    return text
}

# Compares the median with the limit; if that misses it, the better quartile, too.
function judge(goal,    words, count, of, operator, limit, i, median, best, figure, verdict)
{
    count = split(goal, words, " ")
    limit = words[count]
    operator = words[count - 1]
    of = substr(goal, 1, length(goal) - length(operator) - length(limit) - 2)
    i = operator == "<" ? 1 : command[of]
    if (!there[1] || !i || !there[i]) {
        print "not measured\t" name " (" goal ")" >>verdicts
        return goal ": -"
    }
    if (of == "memory") {
        best = figure = median = measured[1, PEAK]
    } else if (operator == "<") {
        best = measured[1, of == "cpu" ? CPU : WALL]
        figure = median = measured[1, (of == "cpu" ? CPU : WALL) + 1]
    } else if (operator == "+cpu") {
        best = measured[1, CPU] - measured[i, CPU + 1]
        figure = median = measured[1, CPU + 1] - measured[i, CPU + 1]
    } else if (operator == "+") {
        best = measured[i, MORE]
        figure = median = measured[i, MORE + 1]
    } else if (operator == "bytes") {
        best = figure = median = (measured[1, PEAK] - measured[i, PEAK]) * 1024 / rows
    } else { # "*" and "/"
        best = measured[i, RATIO]
        figure = median = measured[i, RATIO + 1]
    }
    if (operator == "/") {
        limit = 1 / limit
        figure = 1 / median
    }
    figure = rounded(figure, figure)
    verdict = median <= limit ? "met" : best <= limit ? "unsure" : "missed"
    print verdict "\t" name " (" goal ": " figure ")" >>verdicts
    return goal ": " figure (verdict == "met" ? "" : verdict == "missed" ? " MISSED" : " unsure")
}

END {
    line = "| " name " |"
    for (i = 1; i <= shown; i++)
        line = line " " (there[i] ? with_spread(i, WALL) : "-") " |"
    line = line " " (there[2] ? with_spread(2, RATIO) : "-") " |"
    for (i = 3; i <= shown; i++)
        line = line " " (there[i] ? sprintf("%.2f", 1 / measured[i, RATIO + 1]) : "-") " |"
    line = line " " listed(CPU) " | " listed(PEAK) " | " listed("calls") " |"
    for (i = 1; i <= goals; i++)
        line = line (i > 1 ? ", " : " ") judge(goal[i])
    print line (goals ? " |" : " |")
}
