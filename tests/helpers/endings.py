#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Connections over loopback that end in every way.

    endings.py ADDRESS PORT [CASE...]

Each case has a port of its own, from PORT on. Prints what fastnet closed should report of each end,
one line each: "NAME client|server ENDED ENDED_BY RESET_REASON ESTABLISHED", with - for null.
ESTABLISHED is "connected" if the end has a connect_time.

    endings.py rows PORT <ROWS

Turns rows of fastnet closed --ndjson into such lines.
"""
import errno
import json
import select
import shutil
import socket
import struct
import subprocess
import sys

TCP_USER_TIMEOUT = 18


class Place:
    """One address and port."""

    def __init__(self, address, port):
        self.address = address
        self.port = port
        self.family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.table = f"inet t{port}"

    def listener(self):
        return socket.create_server((self.address, self.port), family=self.family)

    def client(self, *options):
        client = socket.socket(self.family)
        for level, option, value in options:
            client.setsockopt(level, option, value)
        client.connect((self.address, self.port))
        return client

    def pair(self, *options):
        """A listener that is closed already, and both ends of a connection."""
        with self.listener() as listener:
            client = self.client(*options)
            return client, listener.accept()[0]

    def rule(self, *verdicts):
        """What happens to packets that come to the port, and to those that come from it."""
        rules = "".join(
            f"tcp {end} {self.port} {verdict}; " for end, verdict in zip(("dport", "sport"), verdicts))
        text = f"table {self.table} {{ chain c {{ type filter hook input priority 0; {rules} }}; }}"
        subprocess.run(["nft", "-f", "-"], input=text, text=True, check=True)

    def no_rule(self):
        subprocess.run(["nft", "delete", "table"] + self.table.split(), check=True)


def failing(one, *errors):
    """Waits until the socket has failed."""
    poll = select.poll()
    poll.register(one, 0)
    poll.poll()
    error = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    assert error in errors, (error, errors)


def ended(one):
    """Waits until the peer has ended the connection."""
    try:
        while one.recv(1000):
            pass
    except OSError as error:
        assert error.errno in (errno.ECONNRESET, errno.EPIPE, errno.ETIMEDOUT), error


def acknowledged(one):
    """Waits until the peer has acknowledged the FIN: the state is FIN_WAIT2."""
    while one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) != b"\5":
        select.select([], [], [], 0.01)


def at_once(one):
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()


CLOSED, RESET, TIMEOUT, REFUSED, UNREACHABLE = "closed", "reset", "timeout", "refused", "unreachable"
LOCAL, PEER, KERNEL, NONE = "local", "peer", "kernel", "-"
QUICK = (socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 300)


def closed_by_client(place):
    client, server = place.pair()
    client.close()
    ended(server)
    server.close()
    return (CLOSED, LOCAL, NONE), (CLOSED, PEER, NONE)


def closed_by_server(place):
    client, server = place.pair()
    server.close()
    ended(client)
    client.close()
    return (CLOSED, PEER, NONE), (CLOSED, LOCAL, NONE)


def shut_down(place):
    """Data still goes the other way after the first FIN."""
    client, server = place.pair()
    client.shutdown(socket.SHUT_WR)
    ended(server)
    server.sendall(b"answer")
    server.close()
    ended(client)
    client.close()
    return (CLOSED, LOCAL, NONE), (CLOSED, PEER, NONE)


def closed_at_once_by_both(place):
    """Both send a FIN before the other FIN comes. The end whose FIN comes first is in FIN_WAIT2."""
    client, server = place.pair()
    place.rule("drop", "drop")
    client.close()
    server.close()
    place.no_rule()
    return "simultaneous"


def connected_to_itself(place):
    """Both ends are one socket: the state goes through SYN_RECV and CLOSING."""
    client = socket.socket(place.family)
    client.bind((place.address, place.port))
    client.connect((place.address, place.port))
    client.close()
    return (CLOSED, NONE, NONE), None


def unread_data(place):
    client, server = place.pair()
    client.sendall(b"unread")
    select.select([server], [], [])
    server.close()
    ended(client)
    client.close()
    return (RESET, PEER, NONE), (RESET, LOCAL, "TCP_ABORT_ON_CLOSE")


def unread_data_of_server(place):
    client, server = place.pair()
    server.sendall(b"unread")
    select.select([client], [], [])
    client.close()
    ended(server)
    server.close()
    return (RESET, LOCAL, "TCP_ABORT_ON_CLOSE"), (RESET, PEER, NONE)


def linger_0(place):
    client, server = place.pair()
    at_once(client)
    ended(server)
    server.close()
    return (RESET, LOCAL, "TCP_STATE"), (RESET, PEER, NONE)


def linger_0_after_fin(place):
    """The peer has closed, so the error at the other end is EPIPE."""
    client, server = place.pair()
    client.shutdown(socket.SHUT_WR)
    ended(server)
    at_once(client)
    failing(server, errno.EPIPE)
    server.close()
    return (RESET, LOCAL, "TCP_STATE"), (RESET, PEER, NONE)


def no_wait_for_fin(place):
    client, server = place.pair((socket.IPPROTO_TCP, socket.TCP_LINGER2, -1))
    client.shutdown(socket.SHUT_WR)
    acknowledged(client)
    client.close()
    failing(server, errno.EPIPE)
    server.close()
    return (RESET, LOCAL, "TCP_ABORT_ON_LINGER"), (RESET, PEER, NONE)


def data_for_closed(place):
    """The FIN is lost, and data comes for the socket that its program has closed."""
    client, server = place.pair()
    place.rule("drop")
    client.close()
    server.sendall(b"late")
    place.no_rule()
    server.sendall(b"later") # no socket is there any more
    ended(server)
    server.close()
    return (RESET, LOCAL, "TCP_ABORT_ON_DATA"), (RESET, PEER, "NO_SOCKET")


def data_after_fin(place):
    """The socket has no process any more, but it still waits for the other FIN."""
    client, server = place.pair()
    client.close()
    ended(server)
    server.sendall(b"late")
    failing(server, errno.EPIPE)
    server.close()
    return (RESET, LOCAL, "TCP_ABORT_ON_DATA"), (RESET, PEER, NONE)


def data_in_time_wait(place):
    """The peer has acknowledged the FIN before close(2), so only a small socket waits."""
    client, server = place.pair()
    client.shutdown(socket.SHUT_WR)
    acknowledged(client)
    client.close()
    server.sendall(b"late")
    failing(server, errno.EPIPE)
    server.close()
    return (CLOSED, LOCAL, NONE), (RESET, PEER, "TCP_TIMEWAIT_SOCKET")


def no_acknowledgement(place):
    client, server = place.pair(QUICK)
    place.rule("drop")
    client.sendall(b"lost")
    failing(client, errno.ETIMEDOUT)
    client.close()
    place.no_rule()
    server.close()
    return (TIMEOUT, KERNEL, NONE), (RESET, PEER, "NO_SOCKET")


def no_answer_to_keepalive(place):
    tcp = socket.IPPROTO_TCP
    client, server = place.pair((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
                                (tcp, socket.TCP_KEEPIDLE, 1), (tcp, socket.TCP_KEEPINTVL, 1),
                                (tcp, socket.TCP_KEEPCNT, 1))
    place.rule("drop")
    failing(client, errno.ETIMEDOUT)
    client.close()
    place.no_rule()
    server.close()
    return (TIMEOUT, KERNEL, "TCP_KEEPALIVE_TIMEOUT"), (RESET, PEER, "NO_SOCKET")


def unreachable_later(place):
    client, server = place.pair(QUICK)
    place.rule("reject with icmpx type host-unreachable")
    client.sendall(b"lost")
    failing(client, errno.EHOSTUNREACH)
    client.close()
    place.no_rule()
    server.close()
    return (UNREACHABLE, KERNEL, NONE), (RESET, PEER, "NO_SOCKET")


def icmp_that_ends_nothing(place):
    """IP_RECVERR: an ICMP message leaves an error in the socket, but the connection goes on."""
    level, option = ((socket.IPPROTO_IPV6, 25) if ":" in place.address else (socket.IPPROTO_IP, 11))
    client, server = place.pair((level, option, 1))
    place.rule("reject with icmpx type host-unreachable")
    client.sendall(b"delayed")
    place.no_rule()
    while len(server.recv(7, socket.MSG_WAITALL)) < 7:
        pass
    client.close()
    ended(server)
    server.close()
    return (CLOSED, LOCAL, NONE), (CLOSED, PEER, NONE)


def refused(place):
    client = socket.socket(place.family)
    assert client.connect_ex((place.address, place.port)) == errno.ECONNREFUSED
    client.close()
    return (REFUSED, PEER, "NO_SOCKET"), None


def rejected(place, verdict, error, *options):
    place.rule(verdict)
    client = socket.socket(place.family)
    for level, option, value in options:
        client.setsockopt(level, option, value)
    assert client.connect_ex((place.address, place.port)) == error
    client.close()
    place.no_rule()


def rejected_by_reset(place):
    rejected(place, "reject with tcp reset", errno.ECONNREFUSED)
    return (REFUSED, PEER, NONE), None


def rejected_by_icmp(place):
    rejected(place, "reject with icmpx type port-unreachable", errno.ECONNREFUSED)
    return (REFUSED, NONE, NONE), None


def unreachable(place):
    rejected(place, "reject with icmpx type host-unreachable", errno.EHOSTUNREACH)
    return (UNREACHABLE, KERNEL, NONE), None


def unanswered(place):
    rejected(place, "drop", errno.ETIMEDOUT, (socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 500))
    return (TIMEOUT, KERNEL, NONE), None


def given_up(place):
    place.rule("drop")
    client = socket.socket(place.family)
    client.setblocking(False)
    assert client.connect_ex((place.address, place.port)) == errno.EINPROGRESS
    while not struct.unpack_from("I", client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 100)[0]:
        select.select([], [], [], 0.01) # for IPv6 only a second SYN proves that no answer came
    client.close()
    place.no_rule()
    return (CLOSED, LOCAL, NONE), None


def killed(place):
    client, server = place.pair()
    subprocess.run(["ss", "-tK", f"dport = :{place.port}"], check=True, stdout=subprocess.DEVNULL)
    failing(client, errno.ECONNABORTED)
    client.close()
    ended(server)
    server.close()
    return (RESET, LOCAL, "TCP_STATE"), (RESET, PEER, NONE)


def killed_attempt(place):
    place.rule("drop")
    client = socket.socket(place.family)
    client.setblocking(False)
    client.connect_ex((place.address, place.port))
    subprocess.run(["ss", "-tK", f"dport = :{place.port}"], check=True, stdout=subprocess.DEVNULL)
    failing(client, errno.ECONNABORTED)
    client.close()
    place.no_rule()
    return (CLOSED, LOCAL, NONE), None


def never_accepted(place):
    with place.listener():
        client = place.client()
    ended(client)
    client.close()
    return (RESET, PEER, NONE), (RESET, LOCAL, "TCP_STATE")


def reset_before_accept(place):
    with place.listener() as listener:
        at_once(place.client())
        select.select([listener], [], [])
    return (RESET, LOCAL, "TCP_STATE"), (RESET, PEER, NONE)


def fast_open(place):
    """The first data goes with the SYN; tcp_fastopen allows it without a cookie."""
    with place.listener() as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
        client = socket.socket(place.family)
        client.sendto(b"early", socket.MSG_FASTOPEN, (place.address, place.port))
        server = listener.accept()[0]
    assert server.recv(10) == b"early"
    client.close()
    ended(server)
    server.close()
    return (CLOSED, LOCAL, NONE), (CLOSED, PEER, NONE)


def fast_open_reset(place):
    """The server closes its socket before it has read the data."""
    with place.listener() as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
        client = socket.socket(place.family)
        client.sendto(b"early", socket.MSG_FASTOPEN, (place.address, place.port))
        listener.accept()[0].close()
    ended(client)
    client.close()
    return (RESET, PEER, NONE), (RESET, LOCAL, "TCP_ABORT_ON_CLOSE")


CASES = [
    closed_by_client, closed_by_server, shut_down, closed_at_once_by_both, connected_to_itself,
    unread_data, unread_data_of_server, linger_0, linger_0_after_fin, no_wait_for_fin,
    data_for_closed, data_after_fin, data_in_time_wait, no_acknowledgement, no_answer_to_keepalive,
    unreachable_later, icmp_that_ends_nothing, refused, rejected_by_reset, rejected_by_icmp,
    unreachable, unanswered, given_up, killed, killed_attempt, never_accepted, reset_before_accept,
    fast_open, fast_open_reset,
]
FAILS = (refused, rejected_by_reset, rejected_by_icmp, unreachable, unanswered, given_up,
         killed_attempt)


def line(case, end, facts, connected):
    return " ".join((case.__name__, end, *(fact or NONE for fact in facts),
                     "connected" if connected else NONE))


def make(address, port, names):
    for number, case in enumerate(CASES):
        if names and case.__name__ not in names:
            continue
        if case in (killed, killed_attempt) and not shutil.which("ss"):
            continue
        ends = case(Place(address, port + number))
        if ends == "simultaneous":
            print(line(case, "both", ("", "", ""), False))
            continue
        print(line(case, "client", ends[0], case not in FAILS))
        if ends[1]:
            print(line(case, "server", ends[1], False))


def rows(port):
    both = []
    for text in sys.stdin:
        row = json.loads(text)
        facts = (row["ended"], row["ended_by"], row["reset_reason"])
        client = port <= row["remote_port"] < port + len(CASES)
        number = row["remote_port" if client else "local_port"] - port
        if not row["remote_port"] or not 0 <= number < len(CASES):
            continue
        if CASES[number] is closed_at_once_by_both:
            both.append(facts)
            continue
        print(line(CASES[number], "client" if client else "server", facts,
                   row["connect_time"] is not None and 0 < row["connect_time"] < 60))
    allowed = [(CLOSED, LOCAL, None), (CLOSED, None, None)]
    if len(both) == 2 and allowed[1] in both and all(facts in allowed for facts in both):
        print(line(closed_at_once_by_both, "both", ("", "", ""), False))
    elif both:
        print(closed_at_once_by_both.__name__, both)


if sys.argv[1] == "rows":
    rows(int(sys.argv[2]))
else:
    make(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
