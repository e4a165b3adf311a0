#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types command lines into a shell whose stderr is a terminal, and prints their answers.

    typed.py DIRECTORY <LINES

Each line of LINES that begins with "$ " is a command line; other lines are dropped. The command runs
in DIRECTORY. Its answer follows it: "exit STATUS", "err TEXT" for each line on stderr, and "out TEXT"
with the first line of stdout and, for a table, the number of lines after it. Numbers of five digits
and more, and those of processes, are N. A command that has no end gets --for=0.2. Left out is what
depends on the rights of the user, on the kernel and on the rest of the machine.

Sockets to list are made first: nginx listens on 127.0.0.1:8080 and [::1]:8080, postgres on
127.0.0.1:5432, with two connections of psql. psql has shut one of them down, so the socket of
postgres is in CLOSE_WAIT. named has 127.0.0.1:53 of UDP. webapp listens on 127.0.0.1:9999 in the
network namespace web, which ip-netns(8) knows; its number is in $WEBAPP.
"""
import ctypes, os, pty, re, select, signal, socket, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

ENDLESS = {"top", "closed", "drops", "traffic", "doctor"}
# Commands run at the same time, because many only wait. A user may not see owners of other commands.
AT_ONCE = 4 if open("/proc/self/uid_map").read().split()[2] == "4294967295" else 1
CLONE_NEWNET = 0x40000000
COUNTERS = "fastnet: only counters are listed, because dropped packets cannot be watched: "
UNSEEN = (COUNTERS, "fastnet: some owners are unknown")
FORGIVEN = re.compile(
    "fastnet: owners are searched only once a second|fastnet: no byte counts for "
    "|fastnet: some owners are unknown|fastnet: owners: not allowed |fastnet: owners: /proc shows one "
    "|fastnet: \\d+ packets? w.* dropped in other network namespaces|fastnet: \\d+ harmless drop"
    "|fastnet: \\d+ network namespaces took |" + COUNTERS)
PLAIN = [  # what differs from run to run, or from kernel to kernel, and what is shown instead
    (r" '?--for=0\.2'?", ""),
    (r"\b\d{4}-\d\d-\d\dT[\d:+]+", "TIME"),
    (r"^fastnet \d.*", "fastnet VERSION"),
    (r"no flow is tracked[;,] .*such as", "no flow is tracked, ... such as"),
    (r"\b\d{5,}\b", "N"),
    (r"\b\d+\.\d+ s\b", "N s"),
    (r"(pid|process|--pid) \d+", r"\1 N"),
    (r" +", " "),
]
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


def webapp():
    with open("/run/netns/web") as web:
        ctypes.CDLL(None).setns(web.fileno(), CLONE_NEWNET)
    return [listen(socket.AF_INET, "127.0.0.1", 9999)]


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
    apart = actor("webapp", webapp)
    os.environ["WEBAPP"] = str(apart)
    return first + [server, actor("psql", psql), apart]


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
    """The text without what differs from run to run."""
    for pattern, shown in PLAIN:
        text = re.sub(pattern, shown, text)
    return text.rstrip()


def run(line, directory):
    """Runs the line. Returns its status, and what it wrote to the terminal and to the pipe."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(["timeout", "60", "bash", "-c", complete(line)], stdin=subprocess.DEVNULL,
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
    return process.wait(), said.decode(), printed.decode(errors="replace")


def answer(line, directory):
    status, said, printed = run(line, directory)
    words = line.split()
    endless = len(words) > 1 and words[1] in ENDLESS
    progress = re.sub(r"[^\n]*\r(?!\n)", "", said.replace("\r\n", "\n"))
    errors = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", progress).splitlines()
    # Sockets of commands that run at the same time are not counted.
    lines = [each for each in printed.splitlines() if not re.match(r"(fastnet +\d+|- +-) ", each)]
    if status == 1 and any(each.startswith(UNSEEN) for each in errors):
        status = 0  # a user has no right to see more
    if endless and words[1] == "doctor" and status < 2 and lines:
        status, lines = 0, ["findings, or the sentence that there are none"]
    got = ["$ " + line, "exit %d" % status]
    got += ["err " + plain(each) for each in errors if not FORGIVEN.match(each)]
    if lines and (endless or lines[0].startswith("Usage: ") or "help" in line or "--explain" in words):
        got.append("out " + plain(lines[0])[:100])
    elif lines:
        got.append("out %s, then %d" % (plain(lines[0])[:100], len(lines) - 1))
    return "".join(each.rstrip() + "\n" for each in got)


def main():
    actors = scene()
    try:
        lines = [line[2:].rstrip("\n") for line in sys.stdin if line.startswith("$ ")]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for text in pool.map(lambda line: answer(line, sys.argv[1]), lines):
                print(text, flush=True)
    finally:
        for each in actors:
            os.kill(each, signal.SIGKILL)


main()
