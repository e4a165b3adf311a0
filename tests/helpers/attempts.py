#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Attempts to connect whose packets are dropped, or whose connections are reset.

    attempts.py connect ADDRESS PORT FROM        begins to connect from the port FROM
    attempts.py datagram ADDRESS PORT FROM       sends one datagram of UDP
    attempts.py serve ADDRESS PORT unread|early  closes a connection with data that it has not
                                                 read, or before the peer sends
    attempts.py talk ADDRESS PORT FROM unread|early
                                                 sends; "early": prints "closed" after the server
                                                 has closed, and sends after a line on stdin

Prints "ready" and waits until stdin ends.
"""
import errno
import socket
import sys


def made(address, kind=socket.SOCK_STREAM):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    end = socket.socket(family, kind)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return end


def from_port(address, port, kind=socket.SOCK_STREAM):
    end = made(address, kind)
    end.bind(("::" if ":" in address else "0.0.0.0", int(port)))
    return end


def connect(address, port, local):
    end = from_port(address, local)
    end.setblocking(False)
    error = end.connect_ex((address, int(port)))
    if error not in (0, errno.EINPROGRESS):
        print(errno.errorcode[error], file=sys.stderr)
    return end


def datagram(address, port, local):
    end = from_port(address, local, socket.SOCK_DGRAM)
    end.sendto(b"data", (address, int(port)))
    return end


def serve(address, port, way):
    end = made(address)
    end.bind((address, int(port)))
    end.listen()
    print("ready", flush=True)
    peer = end.accept()[0]
    if way == "unread":
        peer.recv(1, socket.MSG_PEEK)
    peer.close()
    return end


def talk(address, port, local, way):
    end = from_port(address, local)
    end.connect((address, int(port)))
    if way == "early":
        end.recv(1)
        print("closed", flush=True)
        sys.stdin.readline()
    end.send(b"data")
    return end


ways = {"connect": connect, "datagram": datagram, "serve": serve, "talk": talk}
end = ways[sys.argv[1]](*sys.argv[2:])
print("ready", flush=True)
sys.stdin.read()
