#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Listens for TCP, prints "ready", and ends when stdin ends.

    listen.py ADDRESS:PORT[,OPTION...]...

    both   on ::, IPv4 addresses reach it, too
    full   its accept queue is full: the program connects, and takes no connection
    half   its queue of half-open connections has one place
    taken  the program connects until no local port is free
"""
import errno
import socket
import sys

kept = []


def listen(address, port, options):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, "both" not in options)
    made.bind((address, int(port)))
    made.listen(0 if "full" in options else 1 if "half" in options else 128)
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
    listen(words[0].rsplit(":", 1)[0].strip("[]"), words[0].rsplit(":", 1)[1], words[1:])
print("ready", flush=True)
sys.stdin.read()
