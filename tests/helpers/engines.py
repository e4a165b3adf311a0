# SPDX-License-Identifier: MIT
"""Loads rows of NDJSON with DuckDB and with ClickHouse (chDB), and says whether each column has the
type that --columns=help names, and whether each value comes back.

    engines.py DIRECTORY

For each DIRECTORY/N.rows there are N.name, what the test is called, and N.columns, what
--columns=help --ndjson printed. Prints "ok NAME" or "not ok NAME" with lines "# ...".
"""

import collections
import datetime
import json
import math
import pathlib
import re
import sys

import chdb
import duckdb

# An engine takes an integer that needs it as an unsigned one. DuckDB has one type for a column with
# such integers and negative ones: HUGEINT.
DUCKDB = {
    "number": r"BIGINT|UBIGINT|HUGEINT",
    "decimal": r"DOUBLE",
    "boolean": r"BOOLEAN",
    "string": r"VARCHAR",
    "address": r"VARCHAR",
    "time": r"TIMESTAMP WITH TIME ZONE",
    "list": r".*\[\]",
}
CLICKHOUSE = {
    "number": r"Int64|UInt64",
    "decimal": r"Float64",
    "boolean": r"Bool",
    "string": r"String",
    "address": r"String",
    "time": r"DateTime64\(9\)",
    "list": r"Array\(.*\)",
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def type_of(column, types):
    """--columns=help does not name what --count-by adds, nor counters by their own names."""
    if column in types:
        return types[column]
    return "decimal" if re.search(r"_per(cent|_second)$", column) else "number"


def duckdb_types(path):
    rows = duckdb.execute("describe from read_ndjson(?)", [path]).fetchall()
    return {row[0]: row[1] for row in rows}


def duckdb_rows(path, times):
    replaced = ", ".join(f'epoch_us("{time}") as "{time}"' for time in times)
    copy = pathlib.Path(path).with_suffix(".duckdb")
    duckdb.execute(
        f"copy (select *{f' replace ({replaced})' if times else ''} from read_ndjson('{path}'))"
        f" to '{copy}' (format json)"
    )
    return read(copy)


def clickhouse_types(path):
    described = chdb.query(f"describe file('{path}', JSONEachRow)", "JSONEachRow").bytes()
    columns = [json.loads(line) for line in described.splitlines()]
    return {one["name"]: re.sub(r"^Nullable\((.*)\)$", r"\1", one["type"]) for one in columns}


def clickhouse_rows(path, times):
    micro = "toUnixTimestamp64Micro(toDateTime64(`{0}`, 6)) as `{0}`"
    replaced = ", ".join(map(micro.format, times))
    copy = pathlib.Path(path).with_suffix(".clickhouse")
    got = chdb.query(
        f"select * {f'replace ({replaced})' if times else ''} from file('{path}', JSONEachRow)"
        " settings output_format_json_quote_64bit_integers = 0",
        "JSONEachRow",
    )
    copy.write_bytes(got.bytes())
    return read(copy)


ENGINES = [
    ("DuckDB", DUCKDB, duckdb_types, duckdb_rows),
    ("ClickHouse", CLICKHOUSE, clickhouse_types, clickhouse_rows),
]


def is_same(ours, theirs):
    """A list that is unknown is empty in ClickHouse, and so is a member that other objects have."""
    if isinstance(ours, list):
        return len(ours) == len(theirs or []) and all(map(is_same, ours, theirs))
    if isinstance(ours, dict):
        return isinstance(theirs, dict) and all(
            is_same(ours.get(name), value) for name, value in theirs.items()
        )
    if ours is None:
        return theirs is None or theirs == []
    if isinstance(ours, float):
        return theirs is not None and math.isclose(ours, theirs, rel_tol=1e-9)
    return ours == theirs


def microseconds(time):
    since = datetime.datetime.fromisoformat(time.replace("Z", "+00:00")) - datetime.datetime(
        1970, 1, 1, tzinfo=datetime.timezone.utc
    )
    return since // datetime.timedelta(microseconds=1)


def say(name, wrong):
    print(f"not ok {name}" if wrong else f"ok {name}")
    for line in wrong[:15]:
        print(f"#   {line}")


def wrong_types(rows, types, expected, found):
    """Of columns that have a value: the type of others is the engine's guess."""
    wrong = []
    for column in rows[0]:
        known = [row[column] for row in rows if row.get(column) is not None]
        wanted = type_of(column, types)
        if known and not re.fullmatch(expected[wanted], found.get(column, "")):
            wrong.append(f"{column} is {found.get(column)}, not {wanted}: {known[0]!r}")
    return wrong


def wrong_values(rows, times, load):
    try:
        loaded = load()
    except (duckdb.Error, RuntimeError) as error:
        return str(error).splitlines()
    if len(loaded) != len(rows):
        return [f"{len(loaded)} rows, not {len(rows)}"]
    wrong = []
    for ours, theirs in zip(rows, loaded):
        for column, value in ours.items():
            if column in times and value is not None:
                value = microseconds(value)
            if not is_same(value, theirs.get(column)):
                wrong.append(f"{column} is {theirs.get(column)!r}, not {value!r}")
    return wrong


def check(place, seen):
    name = place.with_suffix(".name").read_text().strip()
    rows = read(place)
    types = {column["name"]: column["type"] for column in read(place.with_suffix(".columns"))}
    if not rows:
        say(name, ["there are no rows"])
        return
    known = {column for row in rows for column, value in row.items() if value is not None}
    times = [column for column in known if type_of(column, types) == "time"]
    for column in known:
        seen[type_of(column, types)].add(column)
    for engine, expected, types_by, rows_by in ENGINES:
        path = str(place)
        say(f"{name}: {engine} finds the types", wrong_types(rows, types, expected, types_by(path)))
        wrong = wrong_values(rows, times, lambda: rows_by(path, times))
        say(f"{name}: {engine} reads each value", wrong)


def main():
    seen = collections.defaultdict(set)
    for place in sorted(pathlib.Path(sys.argv[1]).glob("*.rows")):
        check(place, seen)
    say("columns of each type were there", sorted(set(DUCKDB) - set(seen)))


main()
