#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types back what tables show.

    typed_back.py all|texts FASTNET OPTION...

"texts" leaves out columns of whole numbers. Lists each column of a table alone, and then the rows for which --where 'COLUMN = VALUE' holds, for
each value that was shown: these must be the same rows. Prints "COLUMN VALUE: WHY" for each value
that is refused or has other rows. Columns whose values differ from one listing to the next are left
out: they cannot be compared, and the last line counts them.
"""
import re
import subprocess
import sys
from collections import Counter

PLAIN = re.compile(r"[A-Za-z0-9_.:/%@\[\]*+\\-]+$")


def run(*options):
    result = subprocess.run(sys.argv[2:] + list(options), capture_output=True, text=True,
                            stdin=subprocess.DEVNULL, timeout=60)
    return result.returncode, result.stdout, result.stderr


def shown(column, *options):
    status, out, err = run("--columns=" + column, *options)
    lines = [line.strip() for line in out.splitlines()[1:]]
    return Counter(line for line in lines if line), err.strip(), status


def condition(column, value):
    if not PLAIN.match(value):
        value = "'" + value.replace("'", "''") + "'"
    return f"{column} = {value}"


def elements(rows):
    """Lists are compared by their elements; a list without any is "-"."""
    return sorted({element for row in rows for element in row.split(",")})


def is_right(column, kind, value, rows, found):
    """Of a list, each row that has the element; of "send", more than one number may be shown. A
    socket can have more processes than the one that is shown."""
    if kind == "list":
        return all(found[row] == rows[row] for row in rows if value in row.split(","))
    if column in ("recv", "send", "command", "exe", "exe_deleted", "cwd", "parent"):
        return found[value] == rows[value]
    return found == Counter({value: rows[value]})


def main():
    columns = dict(re.findall(r"^(\w+) +(\w+) +\S+ ", run("--columns=help")[1], re.M))
    moving = 0
    for column, kind in columns.items():
        kind = "list" if column in ("owners", "whose", "peer") else kind  # of names
        if kind == "number" and sys.argv[1] == "texts":
            continue
        rows = shown(column)[0]
        values = elements(rows) if kind == "list" else rows
        found = {value: shown(column, "--where=" + condition(column, value)) for value in values}
        if shown(column)[0] != rows:
            moving += 1
            continue
        for value, (same, err, status) in found.items():
            if "rows may be missing" in err:  # not all sources tell this column
                continue
            if not is_right(column, kind, value, rows, same):
                print(f"{column} {value}: {err or dict(same)} ({rows[value]} rows)")
    print(f"{len(columns)} columns, {moving} move")


main()
