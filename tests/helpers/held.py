#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Holds sockets until stdin ends, and prints a line for each: INODE LISTED FAMILY TYPE NAME.

    held.py kinds          one of each kind that the kernel has; LISTED is yes, no, or - where it
                           depends on modules of the kernel
    held.py leak COUNT     a listener, and COUNT connections that the peer has reset
    held.py crowd COUNT    COUNT sockets of UDP that are not bound
    held.py flight         two sockets of UDP that wait in a unix socket until they are received

After the lines it prints "ready".
"""
import os
import socket
import struct
import sys

kept = []


def keep(made, listed, family, kind, name):
    kept.append(made)
    print(os.fstat(made.fileno()).st_ino, listed, family, kind, name)


def make(listed, family, kind, name, *arguments):
    try:
        made = socket.socket(*arguments)
    except OSError:  # the kernel lacks the family
        return None
    keep(made, listed, family, kind, name)
    return made


def bound(*arguments, to):
    made = socket.socket(*arguments)
    made.bind(to)
    return made


def listener():
    made = bound(socket.AF_INET, socket.SOCK_STREAM, to=("127.0.0.1", 0))
    made.listen(99)
    return made


def reset(server):
    """A connection that its peer has reset, so that no table has it."""
    client = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    try:
        client.recv(1)
    except ConnectionResetError:
        pass
    return client


def refused():
    made = socket.socket()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        try:
            made.connect(free.getsockname())
        except ConnectionRefusedError:
            pass
    return made


def kinds():
    loopback = ("127.0.0.1", 0)
    inet, inet6 = socket.AF_INET, socket.AF_INET6
    stream, dgram, raw = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
    server = listener()
    keep(server, "yes", "inet", "-", "tcp-listener")
    keep(reset(server), "no", "inet", "stream", "tcp-reset")
    keep(refused(), "no", "inet", "stream", "tcp-refused")
    make("no", "inet", "stream", "tcp-unbound", inet, stream)
    make("no", "inet6", "stream", "tcp6-unbound", inet6, stream)
    make("no", "inet", "dgram", "udp-unbound", inet, dgram)
    make("no", "inet6", "dgram", "udp6-unbound", inet6, dgram)
    make("no", "inet", "dgram", "udplite-unbound", inet, dgram, 136)
    keep(bound(inet, dgram, to=loopback), "yes", "inet", "-", "udp-bound")
    client = socket.create_connection(server.getsockname())
    keep(client, "yes", "inet", "-", "tcp-client")
    keep(server.accept()[0], "yes", "inet", "-", "tcp-server")
    make("yes", "inet", "-", "raw", inet, raw, socket.IPPROTO_ICMP)
    make("no", "netlink", "raw", "netlink-unbound", socket.AF_NETLINK, raw, 0)
    keep(bound(socket.AF_NETLINK, raw, 0, to=(0, 0)), "-", "netlink", "raw", "netlink-bound")
    make("-", "packet", "raw", "packet", socket.AF_PACKET, raw, 0)
    make("-", "vsock", "stream", "vsock", 40, stream)
    make("-", "xdp", "raw", "xdp", 44, raw)
    make("no", "alg", "seqpacket", "alg", 38, socket.SOCK_SEQPACKET)
    make("no", "key", "raw", "key", 15, raw, 2)
    make("no", "can", "raw", "can", 29, raw, 1)
    make("no", "inet", "stream", "mptcp-unbound", inet, stream, 262)
    for kind, name in ((stream, "stream"), (dgram, "dgram"), (socket.SOCK_SEQPACKET, "seqpacket")):
        for end in socket.socketpair(socket.AF_UNIX, kind):
            keep(end, "yes", "unix", name, "unix")


def leak(count):
    server = listener()
    keep(server, "yes", "inet", "-", "tcp-listener")
    for _ in range(count):
        keep(reset(server), "no", "inet", "stream", "tcp-reset")


def crowd(count):
    for _ in range(count):
        make("no", "inet", "dgram", "udp-unbound", socket.AF_INET, socket.SOCK_DGRAM)


def flight():
    sender, receiver = socket.socketpair()
    sent = [bound(socket.AF_INET, socket.SOCK_DGRAM, to=("127.0.0.1", 0)) for _ in range(2)]
    socket.send_fds(sender, [b"x"], [each.fileno() for each in sent])
    for each in sent:
        each.close()
    kept.extend((sender, receiver))
    print(receiver.fileno())


{"kinds": kinds, "leak": leak, "crowd": crowd, "flight": flight}[sys.argv[1]](*map(int, sys.argv[2:]))
print("ready", flush=True)
sys.stdin.read()
