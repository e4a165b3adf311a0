#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""One end of a flow: a process with a name and a socket.

    flow_ends.py NAME serve|hold|call tcp|udp ADDRESS PORT [LOCAL_ADDRESS LOCAL_PORT]

`serve` answers: it accepts a connection, or sends each datagram back. `hold` only listens. `call`
connects, or sends a datagram: from a socket that is connected, if it has a local address, and
otherwise not. Prints "ready" when that is done, and ends when its input does."""

import ctypes
import select
import socket
import sys

PR_SET_NAME = 15


def is_readable(listener):
    """Waits for a packet. False: the input ended."""
    return listener in select.select([listener, sys.stdin], [], [])[0]


def serve(kind, address, port, accepts):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = socket.socket(family, kind)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((address, port))
    if kind == socket.SOCK_STREAM:
        server.listen()
    print("ready", flush=True)
    accepted = []
    while accepts and is_readable(server):
        if kind == socket.SOCK_STREAM:
            accepted.append(server.accept()[0])
            accepted[-1].sendall(b"welcome")
        else:
            server.sendto(*server.recvfrom(100))
    sys.stdin.read()


def call(kind, address, port, local):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    client = socket.socket(family, kind)
    client.settimeout(20)
    if local:
        client.bind((local[0], int(local[1])))
    if kind == socket.SOCK_STREAM:
        client.connect((address, port))
    elif local:
        client.connect((address, port))
        client.send(b"hello")
    else:
        client.sendto(b"hello", (address, port))
    print("ready", flush=True)
    sys.stdin.read()


def main():
    name, what, protocol, address, port = sys.argv[1:6]
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
    if what == "call":
        call(kind, address, int(port), sys.argv[6:])
    else:
        serve(kind, address, int(port), what == "serve")


main()
