#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Listens for TCP (or connects), prints "ready", and ends when stdin ends.

    listen.py ADDRESS:PORT[,OPTION...]...

    both   on ::, IPv4 addresses reach it, too
    full   its accept queue is full: the program connects, and takes no connection
    half   its queue of half-open connections has one place
    dev=X  only for packets of interface X
    N      N listeners, which share the port
    mark   does not listen, but connects with mark 5 again and again
    taken  the program connects until no local port is free
"""
import errno
import select
import socket
import sys

kept = []
knocks = []


def knock(address, port):
    """Connects again and again, and does not wait for an answer."""
    made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 5)
    made.setblocking(False)
    made.connect_ex((address, int(port)))
    return made


def listen(address, port, options):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, "both" not in options)
    for option in options:
        if option.startswith("dev="):
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, option[4:].encode())
        if option.isdigit():
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind(socket.getaddrinfo(address, int(port), family, socket.SOCK_STREAM)[0][4])
    made.listen(0 if "full" in options else 1 if "half" in options else 4096)
    kept.append(made)
    if "full" in options:
        kept.append(socket.create_connection((address, int(port))))
    while "taken" in options:
        try:
            kept.append(socket.create_connection((address, int(port))))
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            break


for argument in sys.argv[1:]:
    words = argument.split(",")
    host, port = words[0].rsplit(":", 1)
    if words[1:] == ["mark"]:
        knocks.append((host, port))
        continue
    for _ in range(max([1] + [int(word) for word in words if word.isdigit()])):
        listen(host.strip("[]"), port, words[1:])
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.02 if knocks else None)[0]:
    knocked = [knock(*each) for each in knocks]  # and closes the ones before
