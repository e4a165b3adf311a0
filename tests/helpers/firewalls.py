#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes random firewalls, and compares "reachable" of fastnet doctor --exposed with connections.

    firewalls.py FASTNET SEED COUNT     here listeners, in another network namespace the client

A listener that a connection or a datagram reaches must not be "no"; one that is "yes" must be
reached. Prints each contradiction with its rules, and at the end a line of counts.
"""
import csv
import ctypes
import os
import random
import re
import select
import socket
import subprocess
import sys

PORTS = [1001, 1002, 1003, 1004, 1005, 1006]
SERVER = {socket.AF_INET: "10.9.0.1", socket.AF_INET6: "fd09::1"}
SECOND = {socket.AF_INET: "10.9.0.11", socket.AF_INET6: "fd09::11"}
CLIENTS = {socket.AF_INET: ["10.9.0.2", "10.9.0.3"], socket.AF_INET6: ["fd09::2", "fd09::3"]}
FAMILIES = (socket.AF_INET, socket.AF_INET6)
CLONE_NEWNET = 0x40000000


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def make_networks():
    """Returns descriptors of both network namespaces; the second has the client."""
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    there = os.open("/proc/self/ns/net", os.O_RDONLY)
    setup = ["ip link set lo up", "ip link add v1 type veth peer name v0 netns /proc/%d/fd/%d"
             % (os.getpid(), here), "ip link set v1 up"]
    setup += ["ip addr add %s/24 dev v1" % each for each in CLIENTS[socket.AF_INET]]
    setup += ["ip addr add %s/64 dev v1 nodad" % each for each in CLIENTS[socket.AF_INET6]]
    for line in setup:
        done = run(*line.split())
        if done.returncode:
            sys.exit("%s: %s" % (line, done.stderr))
    libc.setns(here, CLONE_NEWNET)
    for line in ("ip link set v0 up", "ip addr add 10.9.0.1/24 dev v0",
                 "ip addr add 10.9.0.11/24 dev v0", "ip addr add fd09::1/64 dev v0 nodad",
                 "ip addr add fd09::11/64 dev v0 nodad"):
        done = run(*line.split())
        if done.returncode:
            sys.exit("%s: %s" % (line, done.stderr))
    know(SERVER, SECOND, "v1", libc, here, there)
    know({family: CLIENTS[family][0] for family in FAMILIES},
         {family: CLIENTS[family][1] for family in FAMILIES}, "v0", libc, there, here)
    return libc, here, there


def know(first, second, device, libc, from_ns, in_ns):
    """Makes neighbours permanent, so that no rule drops the packets that find them."""
    other = "v0" if device == "v1" else "v1"
    libc.setns(from_ns, CLONE_NEWNET)
    mac = run("ip", "-br", "link", "show", other).stdout.split()[2]
    libc.setns(in_ns, CLONE_NEWNET)
    for addresses in (first, second):
        for family in FAMILIES:
            run("ip", "neigh", "replace", addresses[family], "lladdr", mac, "nud", "permanent", "dev",
                device)


def listen():
    """Sockets by protocol, address and port, as the listing has them."""
    made = {}
    for port in PORTS:
        for kind, name in ((socket.SOCK_STREAM, "tcp"), (socket.SOCK_DGRAM, "udp")):
            choices = ["::"] if port % 3 == 0 else ["0.0.0.0"] if port % 3 == 1 else \
                [SERVER[socket.AF_INET], SECOND[socket.AF_INET], SERVER[socket.AF_INET6]]
            for address in choices:
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                new = socket.socket(family, kind)
                new.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                new.bind((address, port))
                if kind == socket.SOCK_STREAM:
                    new.listen(64)
                new.setblocking(False)
                made[name, address, port] = new
    return made


# --- Random rules -----------------------------------------------------------------------------


class Rules:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.chains = []
        self.sets = []

    def one(self, *choices):
        return self.random.choice(choices)

    def port(self):
        return self.random.choice(PORTS)

    def ports(self):
        first = self.port()
        return self.one("%d" % first, "%d-%d" % (first, first + self.random.randrange(1, 4)),
                        "{ %d, %d }" % (first, self.port() + 100),
                        "{ 1-%d, %d-2000 }" % (first - 1, first + 1),
                        "!= %d" % first, "!= { %d, 5 }" % first, "< %d" % first, ">= %d" % first)

    def match(self, family):
        v4 = family != "ip6"
        choices = ["tcp dport " + self.ports(), "udp dport " + self.ports(),
                   "th dport " + self.ports(), "meta l4proto " + self.one("tcp", "udp", "!= tcp"),
                   "meta l4proto { tcp, udp } th dport " + self.ports(),
                   "ct state " + self.one("new", "established,related", "invalid", "!= new",
                                          "{ new, untracked }", "untracked"),
                   "iif " + self.one("lo", "!= lo", "v0"),
                   "iifname " + self.one('"lo"', '!= "lo"', '"v*"', '"l*"', '{ "lo", "eth9" }',
                                         '!= { "lo" }', '"v0"'),
                   "limit rate %d/second" % self.one(1, 1000), "counter", 'log prefix "x"',
                   "meta mark %d" % self.one(0, 1), "fib daddr type local",
                   "tcp flags syn / syn,ack,rst", "meta nfproto " + self.one("ipv4", "ipv6"),
                   "meta pkttype host", "tcp dport & 1 == %d" % self.one(0, 1),
                   "ct direction original", "tcp sport >= 1024", "ct status dnat",
                   "ct status != dnat"]
        if v4:
            choices += ["ip saddr " + self.one("10.9.0.2", "!= 10.9.0.2", "10.0.0.0/8", "10.9.0.3",
                                               "{ 10.9.0.3, 192.0.2.1 }"),
                        "ip daddr " + self.one("10.9.0.1", "10.9.0.11", "!= 10.9.0.1", "10.9.0.0/28"),
                        "ip protocol tcp",
                        "ip daddr . tcp dport { 10.9.0.1 . %d, 10.9.0.11 . %d }" % (self.port(),
                                                                                  self.port()),
                        "ip saddr . tcp dport { 10.9.0.2 . %d, 10.9.0.3 . %d }" % (self.port(),
                                                                                 self.port())]
        if family != "ip":
            choices += ["ip6 saddr " + self.one("fd09::2", "!= fd09::2", "fd00::/8"),
                        "ip6 daddr " + self.one("fd09::1", "!= fd09::1"), "ip6 nexthdr tcp"]
        choices += ["tcp dport @%s" % each for each in self.sets]
        choices += ["tcp dport != @%s" % each for each in self.sets]
        return self.random.choice(choices)

    def verdict(self):
        plain = ["accept", "accept", "drop", "drop", "return", "reject", "continue", ""]
        jumps = ["%s %s" % (self.one("jump", "goto"), each) for each in self.chains]
        return self.random.choice(plain + jumps * 2)

    def map(self):
        choices = ["accept", "drop", "return", "continue"] + ["jump " + each for each in self.chains]
        return self.one("tcp dport vmap { %d : %s, %d : %s }", "th dport vmap { %d : %s, %d-2000 : %s }"
                        ) % (self.port(), self.random.choice(choices), 1007,
                             self.random.choice(choices))

    def rule(self, family):
        kind = self.random.random()
        if kind < 0.08:
            return self.map()
        if kind < 0.12:
            return self.one("ct state vmap { established : accept, new : %s, invalid : drop }"
                            % self.one("continue", "return", "accept"),
                            "meta mark set 1", "meta l4proto tcp meta mark set 1", "meta nftrace set 0",
                            "meta l4proto vmap { tcp : %s, udp : %s }" % (self.one("accept", "continue"),
                                                                        self.one("drop", "accept")))
        count = self.random.choice((0, 1, 1, 1, 2, 2, 3)) if kind < 0.95 else 1
        line = " ".join(self.match(family) for _ in range(count))
        return ("%s %s" % (line, self.verdict())).strip() or "counter"

    def chain(self, family, name, hook=None, count=None):
        lines = [" chain %s {" % name]
        if hook:
            lines.append("  type filter hook %s priority %d; policy %s;" % (
                hook, self.one(-300, -150, 0, 10), self.one("accept", "drop", "drop")))
        for _ in range(self.random.randrange(1, 6) if count is None else count):
            lines.append("  " + self.rule(family))
        return lines + [" }"]

    def typical(self):
        """A firewall as people write it."""
        lines = ["  " + each for each in (
            "ct state established,related accept", self.one("iif lo accept", 'iifname "lo" accept'),
            "ct state invalid drop", "tcp dport { %d, %d } accept" % (self.port(), 2000),
            self.one("", "ip saddr 10.9.0.3 tcp dport %d accept" % self.port()),
            self.one("", "udp dport %d accept" % self.port()), self.one("", "reject"))]
        return ["table inet typical {", " chain input {",
                "  type filter hook input priority 0; policy drop;"] + lines + [" }", "}"]

    def more(self):
        lines = []
        if self.random.random() < 0.2:
            lines += ["table ip nat {", " chain pre {",
                      "  type nat hook prerouting priority -100;",
                      "  tcp dport %d %s" % (self.port(), self.one(
                          "redirect to :%d" % self.port(), "dnat to 10.9.0.11:%d" % self.port())),
                      " }", "}"]
        if self.random.random() < 0.1:
            lines += ["table ip raw {", " chain pre {",
                      "  type filter hook prerouting priority -300;", "  notrack", " }", "}"]
        if self.random.random() < 0.1:
            lines += ["table ip mangle {", " chain m {", "  type filter hook %s priority -160;"
                      % self.one("prerouting", "input"),
                      "  tcp dport %d tcp dport set %d" % (self.port(), self.port()), " }", "}"]
        if self.random.random() < 0.05:
            lines += ["table netdev d {", " chain in {",
                      "  type filter hook ingress device v0 priority 0;",
                      "  tcp dport %d %s" % (self.port(), self.one("drop", 'fwd to "lo"')), " }", "}"]
        return lines

    def text(self):
        lines = []
        if self.random.random() < 0.3:
            return "\n".join(self.typical() + self.more()) + "\n"
        for number in range(self.random.randrange(1, 3)):
            family = self.one("inet", "inet", "ip", "ip6")
            lines += ["table %s t%d {" % (family, number)]
            if self.random.random() < 0.1:
                lines.append(" flags dormant")
            self.chains, self.sets = [], []
            for name in ("s1", "s2")[:self.random.randrange(0, 3)]:
                interval = self.random.random() < 0.5
                lines.append(" set %s { type inet_service; %s elements = { %s }\n }" % (
                    name, "flags interval;" if interval else "",
                    "%d-%d, 1990-65535" % (self.port() - 1, self.port() + 900) if interval
                    else "%d, 7" % self.port()))
                self.sets.append(name)
            for name in ("c1", "c2", "c3")[:self.random.randrange(0, 4)]:
                lines += self.chain(family, name)
                self.chains.append(name)
            for name, hook in (("in", "input"), ("pre", "prerouting"), ("in2", "input")):
                if self.random.random() < (0.9 if name == "in" else 0.25):
                    lines += self.chain(family, name, hook)
            lines.append("}")
        return "\n".join(lines + self.more()) + "\n"


# --- Connections ------------------------------------------------------------------------------


def plain(name):
    return name[0].replace("::ffff:", ""), name[1]


def attempt(ports, number):
    """Sends to each address and port from each source. Returns the sockets that wait. The ports of
    the sources are not used twice: half of a connection may be left from earlier rules."""
    waiting = []
    used = 10000 + number * 2 * len(ports)
    for family in FAMILIES:
        for source in CLIENTS[family]:
            for at, target in enumerate((SERVER[family], SECOND[family])):
                for port in ports:
                    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                        new = socket.socket(family, kind)
                        new.setblocking(False)
                        new.bind((source, used + 2 * ports.index(port) + at))
                        new.connect_ex((target, port))
                        if kind == socket.SOCK_DGRAM:
                            try:
                                new.send(b"x")
                            except OSError:
                                pass
                        waiting.append(new)
    return waiting


def reached(listeners, waiting):
    """The listeners that have a connection or a datagram of `waiting`. Takes all that there are."""
    sources = {plain(each.getsockname()) for each in waiting}
    found = set()
    poll = select.poll()
    by_fd = {each.fileno(): key for key, each in listeners.items()}
    for fd in by_fd:
        poll.register(fd, select.POLLIN)
    wait = 20
    while True:
        ready = poll.poll(wait)
        wait = 5
        if not ready:
            return found
        for fd, _ in ready:
            key = by_fd[fd]
            try:
                if key[0] == "tcp":
                    new, source = listeners[key].accept()
                    new.close()
                else:
                    source = listeners[key].recvfrom(16)[1]
            except OSError:
                continue
            if plain(source) in sources:
                found.add(key)


def judged(fastnet):
    done = run(fastnet, "doctor", "--exposed", "--csv", "--no-header", "--columns",
               "protocol,local_address,local_port,reachable")
    return {(row[0].rstrip("6"), row[1], int(row[2])): row[3]
            for row in csv.reader(done.stdout.splitlines())}


def load(text):
    """Loads the rules without the lines that nft refuses. Returns what is left; None: nothing."""
    for _ in range(20):
        done = run("nft", "-f", "-", text="flush ruleset\n" + text)
        if done.returncode == 0:
            return text
        place = re.match(r"/dev/stdin:(\d+):", done.stderr)
        lines = text.split("\n")
        if not place or "{" in lines[int(place[1]) - 2] and "vmap" not in lines[int(place[1]) - 2] \
                and lines[int(place[1]) - 2].endswith("{"):
            return None
        del lines[int(place[1]) - 2]  # the first line flushes
        text = "\n".join(lines)
    return None


def main():
    fastnet, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    libc, here, there = make_networks()
    listeners = listen()
    counts = {"no": 0, "maybe": 0, "yes": 0, "unknown": 0}
    refused = wrong = got = idle = 0
    for number in range(seed, seed + count):
        text = Rules(number).text()
        text = load(text)
        if not text:
            refused += 1
            continue
        answers = judged(fastnet)
        libc.setns(there, CLONE_NEWNET)
        waiting = attempt(PORTS + [5], number - seed)
        libc.setns(here, CLONE_NEWNET)
        found = reached(listeners, waiting)
        for each in waiting:
            each.close()
        for key in listeners:
            answer = answers.get(key, "missing")
            counts[answer] = counts.get(answer, 0) + 1
            got += key in found
            idle += answer != "no" and key not in found
            if (answer == "no" and key in found) or answer == "missing" or \
                    (answer == "yes" and key not in found):
                wrong += 1
                print("wrong: seed %d: %s is %s, and %s\n%s" % (
                    number, key, answer, "reached" if key in found else "not reached", text))
    run("nft", "flush ruleset")
    print("wrong=%d no=%d maybe=%d yes=%d unknown=%d reached=%d refused=%d not_reached=%d" % (
        wrong, counts["no"], counts["maybe"], counts["yes"], counts["unknown"], got, refused, idle))


main()
