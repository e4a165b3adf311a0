#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes that open and close TCP connections at random, and listings of moments between.

recorded_churn.py DIR MOMENTS FASTNET OPTION...

Prints "listening", and reads a line from stdin when `fastnet record` writes into DIR. Then several
processes open and close connections between each other. At random moments all of them stop, so that
no connection changes during a listing. Then `FASTNET s -t OPTION...` lists the connections. This
happens MOMENTS times, TICKS and PAUSE of the environment say how fast. When the recorder has noted the last moment, prints "ready"; and when a line
on stdin says that the recorder has ended, compares each listing with that of --at, except
connections whose end BPF did not note or the kernel did not report: if memory is short, the kernel
reports no end (sock_diag_broadcast_destroy() of net/core/sock_diag.c). Prints a line for each
connection that differs, and at the end how many moments and connections there were.
"""
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

WORKERS = 5
KEPT = 12  # connections that a process holds at most
STEPS = 30  # between two moments, at most
TICKS = int(os.environ.get("TICKS", 2))  # ticks of the recorder between two moments, at most
PAUSE = float(os.environ.get("PAUSE", 0))  # seconds, after 5 steps of each process


class Reports:
    """The cookies of all sockets whose end the kernel reports (sock_diag(7))."""

    GROUPS = 1 << 0 | 1 << 2  # SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY
    COOKIE = 16 + 44  # offset in a struct nlmsghdr with a struct inet_diag_msg

    def __init__(self):
        self.cookies = set()
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)  # NETLINK_SOCK_DIAG
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 1 << 23)  # SO_RCVBUFFORCE
        self.socket.bind((0, self.GROUPS))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            self.cookies.add(struct.unpack_from("=Q", self.socket.recv(65536), self.COOKIE)[0])


class Worker:
    """A process with a listener, which connects to the listeners of all others."""

    def __init__(self, number, listener, addresses):
        self.number = number
        self.listener = listener
        self.addresses = addresses
        self.ends = []  # connections that this process opened or accepted
        self.random = random.Random(number)
        self.starter = self.start_starter()

    def accept(self):
        while True:
            try:
                self.ends.append(self.listener.accept()[0])
            except BlockingIOError:
                return

    @staticmethod
    def connect_to(address, size):
        end = socket.create_connection(address)
        try:
            end.send(b"x" * size)
        except ConnectionError:  # the other end has reset it
            pass
        return end

    def connect(self):
        return self.connect_to(self.random.choice(self.addresses), self.random.randrange(1, 2000))

    def close(self):
        end = self.ends.pop(self.random.randrange(len(self.ends)))
        if self.random.random() < 0.2:  # a reset
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        end.close()

    def close_ended(self):
        """Reads, and closes connections that the other end has closed. Returns how many."""
        kept = []
        for end in self.ends:
            try:
                while end.recv(65536, socket.MSG_DONTWAIT):
                    pass
            except BlockingIOError:
                kept.append(end)
                continue
            except ConnectionError:
                pass
            end.close()
        closed = len(self.ends) - len(kept)
        self.ends = kept
        return closed

    def start_starter(self):
        """Starts a process without connections, whose children so have no connections of others.
        Each byte from the socket asks it to start a process that opens a connection, and ends."""
        socket_here, socket_there = socket.socketpair()
        if os.fork():
            socket_there.close()
            return socket_here
        socket_here.close()
        self.listener.close()
        while socket_there.recv(1):
            address, size = self.random.choice(self.addresses), self.random.randrange(1, 2000)
            pid = os.fork()
            if not pid:
                name(f"brief{self.number}")
                self.connect_to(address, size).close()
                os._exit(0)
            os.waitpid(pid, 0)
            socket_there.send(b".")
        os._exit(0)

    def brief(self):
        self.starter.send(b".")
        self.starter.recv(1)

    def step(self):
        chance = self.random.random()
        self.accept()
        if chance < 0.05:
            self.brief()
        elif chance < 0.3:
            self.connect().close()
        elif chance < 0.65 and len(self.ends) < KEPT:
            self.ends.append(self.connect())
        elif self.ends:
            self.close()

    def settle(self):
        before = len(self.ends)
        self.accept()
        return (len(self.ends) - before) + self.close_ended()

    def serve(self, commands, answers):
        for line in commands:
            word, count = line.split()
            changes = 0
            if word == "churn":
                for _ in range(int(count)):
                    self.step()
            else:
                changes = self.settle()
            print(changes, len(self.ends), file=answers, flush=True)


def name(text):
    with open("/proc/self/comm", "w") as file:
        file.write(text)


def start(number, listeners, addresses, workers):
    """Starts a process. Returns the pipes to it and from it."""
    commands, answers = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        os.close(commands[1])
        os.close(answers[0])
        name(f"churn{number}")
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for pipe in (pipe for worker in workers for pipe in worker):
            pipe.close()  # so that each process ends with this program
        for other in listeners:
            if other is not listeners[number]:
                other.close()
        Worker(number, listeners[number], addresses).serve(os.fdopen(commands[0]),
                                                           os.fdopen(answers[1], "w"))
        os._exit(0)
    os.close(commands[0])
    os.close(answers[1])
    return os.fdopen(commands[1], "w"), os.fdopen(answers[0])


def ask(workers, words):
    """Sends words to all processes, which work at the same time. Returns how many connections they
    have accepted or closed, and how many ends of connections they have."""
    for commands, _ in workers:
        print(words, file=commands, flush=True)
    said = [answers.readline().split() for _, answers in workers]
    return [sum(int(numbers[i]) for numbers in said) for i in range(2)]


def is_quiet(workers):
    """Whether nothing happens any more: the kernel has only connections that processes have, and
    others in TIME_WAIT."""
    states = []
    changes, ends = ask(workers, "settle 0")
    for path in "/proc/net/tcp", "/proc/net/tcp6":
        with open(path) as file:
            states += [line.split()[3] for line in file][1:]
    return not changes and states.count("01") == ends and not set(states) - {"01", "06", "0A"}


class Recording:
    """What was recorded so far. Each segment is opened before it is compressed, and read while it
    grows: also after the next one has begun, which happens before its last rows are written."""

    def __init__(self, directory):
        self.directory = directory
        self.segments = {}  # files by their names
        self.rests = {}  # the begin of a line that is not whole yet
        self.ticks = 0
        self.cookies = set()  # of all connections
        self.unnoted = set()  # of sockets whose end BPF did not note

    def read(self):
        """Reads the rows that are new. Returns the number of ticks."""
        for name in os.listdir(self.directory):
            if name.endswith(".ndjson") and name not in self.segments:
                self.segments[name] = open(os.path.join(self.directory, name), "rb")
        for name, file in self.segments.items():
            *lines, self.rests[name] = (self.rests.get(name, b"") + file.read()).split(b"\n")
            for row in map(json.loads, lines):
                self.take(row)
        return self.ticks

    def take(self, row):
        self.ticks += row.get("mark") == "tick"
        if row.get("remote_port"):
            self.cookies.add(row["cookie"])
        if row.get("event") in ("closed", "lost") and not row.get("ended"):
            self.unnoted.add(row["cookie"])


def churn(workers, recording, chance):
    until = recording.read() + chance.randrange(TICKS + 1)
    ask(workers, f"churn {chance.randrange(1, STEPS)}")
    while recording.read() < until:
        ask(workers, "churn 5")
        time.sleep(PAUSE)
    ask(workers, f"churn {chance.randrange(1, STEPS)}")
    while not is_quiet(workers):
        pass


def listing(command):
    columns = ("cookie", "local_address", "local_port", "remote_address", "remote_port", "pid",
               "process")
    done = subprocess.run([*command, "--json", "--columns=time,state," + ",".join(columns)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        print(f"status {done.returncode}: {done.stderr}")
    rows = json.loads(done.stdout)
    moment = rows[0]["time"]  # there are listeners at each moment
    return moment, {tuple(row[column] for column in columns) for row in rows
                    if row["state"] not in ("TIME_WAIT", "LISTEN")}


def main():
    directory, moments, *command = sys.argv[1:]
    chance = random.Random(1)
    listeners = []
    for number in range(WORKERS):
        listener = socket.socket(socket.AF_INET6 if number % 2 else socket.AF_INET)
        listener.bind(("::1" if number % 2 else "127.0.0.1", 0))
        listener.listen(512)
        listener.setblocking(False)
        listeners.append(listener)
    addresses = [listener.getsockname()[:2] for listener in listeners]
    workers = []
    for number in range(WORKERS):
        workers.append(start(number, listeners, addresses, workers))
    for listener in listeners:
        listener.close()
    reports = Reports()
    print("listening", flush=True)
    sys.stdin.readline()
    seen = []
    recording = Recording(directory)
    for _ in range(int(moments)):
        churn(workers, recording, chance)
        seen.append(listing(command))
    churn(workers, recording, chance)
    for commands, _ in workers:
        commands.close()
    print("ready", flush=True)
    sys.stdin.readline()
    recording.read()
    every = recording.cookies | {row[0] for _, live in seen for row in live}
    unnoted = recording.unnoted & every
    unreported = every - reports.cookies
    unknown = unnoted | unreported
    if len(unknown) > len(every) / 10:
        print(f"the ends of {len(unknown)} of {len(every)} connections are unknown")
    ownerless = 0  # BPF does not note who accepts, so a short connection may have no owner
    for moment, live in seen:
        _, then = listing([*command, f"--at={moment}", f"--record={directory}"])
        accepted = {row[0] for row in then if row[5] is None and (row[1], row[2]) in addresses}
        ownerless += len(accepted)
        live, then = ({row for row in rows if row[0] not in unknown | accepted}
                      for rows in (live, then))
        for row in sorted(live - then, key=str)[:3]:
            print(f"{moment}: not in the recording: {row}")
        for row in sorted(then - live, key=str)[:3]:
            print(f"{moment}: only in the recording: {row}")
    count = sum(len(live) for _, live in seen)
    if ownerless > count / 50:
        print(f"{ownerless} of {count} connections have no owner in the recording")
    print("moments", len(seen), "segments", len(recording.segments), "connections", count, "of",
          len(every), "not noted", len(unnoted), "not reported", len(unreported), "without owner",
          ownerless)


main()
