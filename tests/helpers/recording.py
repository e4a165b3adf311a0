#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a recording (include/fastnet/recording.h), and checks it.

recording.py check DIR        each mark has the rows that it counts; prints how many segments, marks
                              and rows there are
recording.py rows DIR         all rows that a mark follows, one a line
recording.py marks DIR        the number of the segment, the name, the time and the member "continues" of
                              each mark
recording.py present DIR      the sockets that exist at the end, one a line
recording.py cut DIR          cuts the newest segment at every byte: a shorter file never has a row
                              that the whole file lacks, and each mark keeps its rows
recording.py talk ADDRESS     listens there; reads "open", "close" and "short" from stdin, and
                              answers each with the port of the client
"""
import gzip
import json
import os
import re
import socket
import subprocess
import sys

NAME = re.compile(r"fastnet-\d{8}T\d{6}Z-(\d{6,})\.ndjson(|\.zst|\.gz)$")


def segments(directory):
    """The bytes of all segments, in order. While one is compressed, it may have two files."""
    found = {}
    for name in os.listdir(directory):
        match = NAME.match(name)
        if match:
            found.setdefault(int(match[1]), []).append(name)
    for number in sorted(found):
        yield read(os.path.join(directory, min(found[number])))


def read(path):
    try:
        if path.endswith(".zst"):
            return subprocess.run(["zstdcat", path], check=True, capture_output=True).stdout
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
            return file.read()
    except FileNotFoundError:  # it was compressed meanwhile
        return read(path + ".zst") if not path.endswith(".zst") else b""


def groups(data):
    """(mark, its rows). Rows without a mark are left out. Rows of sockets may come before findings."""
    rows = []
    for line in data.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        row = json.loads(line)
        if next(iter(row)) != "fastnet":
            rows.append(row)
            continue
        first = "severity" if row["mark"] == "findings" else "event"
        yield row, [row for row in rows if next(iter(row)) == first]
        rows = [row for row in rows if next(iter(row)) != first]


def check(directory):
    marks = total = count = 0
    for count, data in enumerate(segments(directory), 1):
        seen = 0
        for number, (mark, rows) in enumerate(groups(data)):
            kind = mark["mark"]
            assert (kind == "head") == (number == 0), mark
            assert (kind == "frame") == (number == 1), mark
            seen += len(rows)
            marks += 1
            if kind != "head":
                assert mark["rows"] == (seen if kind == "end" else len(rows)), (mark, len(rows))
            first = "severity" if kind == "findings" else "event"
            assert all(next(iter(row)) == first for row in rows), kind
        total += seen
    print(count, marks, total)


def marks(directory):
    for data in segments(directory):
        for mark, _ in groups(data):
            number = mark.get("segment") or number
            print(number, mark["mark"], mark["time"], mark.get("continues"))


def all_rows(directory):
    for data in segments(directory):
        for mark, rows in groups(data):
            yield from ((mark, row) for row in rows)


def present(directory):
    sockets = {}
    for data in segments(directory):
        for mark, rows in groups(data):
            if mark["mark"] == "head":
                sockets = {}
            for row in rows if mark["mark"] in ("frame", "tick") else []:
                key = row["netns_id"], row["cookie"]
                if row["event"] in ("closed", "lost"):
                    sockets.pop(key, None)
                elif row["event"] == "changed":
                    sockets[key].update(row)
                else:
                    sockets[key] = row
    for row in sockets.values():
        print(json.dumps(row))


def cut(directory):
    *_, data = segments(directory)
    whole = [(mark, rows) for mark, rows in groups(data)]
    ends, at = [], 0
    for line in data.splitlines(keepends=True):
        at += len(line)
        if line.startswith(b'{"fastnet"'):
            ends.append(at)
    for size in range(len(data) + 1):
        kept = sum(end <= size for end in ends)
        assert [mark for mark, _ in groups(data[:size])] == [mark for mark, _ in whole[:kept]]
    print("same")


def talk(address):
    server = socket.socket()
    server.bind((address, 0))
    server.listen(64)
    kept = []
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "close":
            for end in kept.pop():
                end.close()
            print("closed", flush=True)
            continue
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        client.sendall(b"x" * 1000)
        accepted.recv(1000, socket.MSG_WAITALL)
        port = client.getsockname()[1]
        if line.strip() == "open":
            kept.append((client, accepted))
        else:
            client.close()
            accepted.close()
        print(port, flush=True)


command, argument = sys.argv[1:]
if command == "rows":
    for _, each in all_rows(argument):
        print(json.dumps(each))
else:
    {"check": check, "marks": marks, "present": present, "cut": cut, "talk": talk}[command](argument)
