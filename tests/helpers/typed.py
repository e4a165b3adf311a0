#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types command lines into a shell whose stderr is a terminal, and prints their answers.

    typed.py DIRECTORY <LINES

Each line of LINES that begins with "$ " is a command line; other lines are dropped. The command runs
in DIRECTORY. Its answer follows it: "exit STATUS", "err TEXT" for each line on stderr, and "out TEXT"
with the first line of stdout and, but for help, the number of lines after it. Numbers of five digits and more, and
those of processes, are N. A command that has no end gets --for=0.2.

Sockets to list are made first: nginx listens on 127.0.0.1:8080 and [::1]:8080, postgres on
127.0.0.1:5432, with two connections of psql. psql has shut one of them down, so the socket of
postgres is in CLOSE_WAIT. named has 127.0.0.1:53 of UDP.
"""
import ctypes, os, pty, re, select, signal, socket, subprocess, sys

ENDLESS = {"top", "closed", "drops", "traffic", "doctor"}
PR_SET_NAME = 15


def become(name):
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def actor(name, make):
    """Starts a process that keeps the sockets which make() returns."""
    begun, begin = os.pipe()
    child = os.fork()
    if child == 0:
        become(name)
        kept = make()
        os.write(begin, b"x")
        signal.pause()
        os._exit(len(kept))
    os.read(begun, 1)
    os.close(begun)
    os.close(begin)
    return child


def listen(family, address, port):
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, port))
    made.listen(16)
    return made


def nginx():
    return [listen(socket.AF_INET, "127.0.0.1", 8080), listen(socket.AF_INET6, "::1", 8080)]


def postgres(begun):
    listener = listen(socket.AF_INET, "127.0.0.1", 5432)
    os.write(begun, b"x")
    return [listener] + [listener.accept()[0] for _ in range(2)]


def psql():
    made = [socket.create_connection(("127.0.0.1", 5432)) for _ in range(2)]
    made[0].shutdown(socket.SHUT_WR)
    return made


def named():
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 53))
    return [made]


def scene():
    listening, listens = os.pipe()
    first = [actor("nginx", nginx), actor("named", named)]
    server = os.fork()
    if server == 0:
        become("postgres")
        kept = postgres(listens)
        signal.pause()
        os._exit(len(kept))
    os.read(listening, 1)
    return first + [server, actor("psql", psql)]


def complete(line):
    """The command line, with an end for a command that has none."""
    words = line.split()
    if "fastnet" not in words or "--for" in line or "-h" in words or "--help" in words:
        return line
    at = words.index("fastnet")
    if at + 1 == len(words) or words[at + 1] not in ENDLESS or "|" in line:
        return line
    return line + " --for=0.2"


def plain(text):
    """The text without the numbers that differ from run to run."""
    text = re.sub(r"\b\d+\.\d+ s\b", "N s", re.sub(r"\b\d{5,}\b", "N", text))
    return re.sub(r"pid \d+", "pid N", re.sub(r" +", " ", text)).rstrip()


def answer(line, directory):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(["bash", "-c", complete(line)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=theirs, cwd=directory)
    os.close(theirs)
    said, printed = b"", b""
    open_ones = {ours, process.stdout.fileno()}
    while open_ones:
        for each in select.select(list(open_ones), [], [])[0]:
            try:
                more = os.read(each, 65536)
            except OSError:  # the last program of the terminal has ended
                more = b""
            if not more:
                open_ones.remove(each)
            elif each == ours:
                said += more
            else:
                printed += more
    os.close(ours)
    print("$ " + line)
    print("exit %d" % process.wait())
    progress = re.sub(r"[^\n]*\r(?!\n)", "", said.decode().replace("\r\n", "\n"))
    for each in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", progress).splitlines():
        print(("err " + plain(each)).rstrip())
    lines = printed.decode(errors="replace").splitlines()
    if lines and lines[0].startswith("Usage: "):
        print("out " + plain(lines[0]))
    elif lines:
        print("out %s, then %d" % (plain(lines[0])[:100], len(lines) - 1))
    print(flush=True)


def main():
    actors = scene()
    try:
        for line in sys.stdin:
            if line.startswith("$ "):
                answer(line[2:].rstrip("\n"), sys.argv[1])
    finally:
        for each in actors:
            os.kill(each, signal.SIGKILL)


main()
