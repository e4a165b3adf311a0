#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sends packets that a kernel drops, or waits for some that it does.

    drops.py send COUNT ADDRESS PORT [SIZE [option...]]   UDP; options: df, checksum (a wrong
                                                          one), ttl=N, from=ADDRESS, fast,
                                                          stay (until stdin ends)
    drops.py connect COUNT ADDRESS PORT                   begins TCP connections, closes each
    drops.py sockets COUNT ADDRESS PORT                   UDP, connected; sends from each after a
                                                          line on stdin, and says "sent"
    drops.py raw COUNT ADDRESS PROTOCOL                   IP of this protocol
    drops.py frame COUNT INTERFACE HEX                    a frame
    drops.py receive ADDRESS PORT [filter]                UDP, but never reads; filter: takes none
    drops.py leave COUNT                                  unix: closes a socket that has not read
    drops.py again COUNT ADDRESS PORT                     TCP: sends data once more
    drops.py settle                                       on each CPU: receives from itself
"""
import os
import socket
import struct
import sys
import time


def ready():
    print("ready", flush=True)
    sys.stdin.read()


def connect(count, address, port):
    for _ in range(int(count)):
        made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        made.setblocking(False)
        made.connect_ex((address, int(port)))
        made.close()


def sockets(count, address, port):
    made = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(int(count))]
    for each in made:
        each.connect((address, int(port)))
    print("ready", flush=True)
    sys.stdin.readline()
    for each in made:
        try:
            each.send(b"data")
        except OSError:
            pass  # a rule of this machine drops it
    print("sent", flush=True)
    sys.stdin.read()


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def udp(options):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if "df" in options:
        made.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
    for option in options:
        if option.startswith("ttl="):
            made.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, int(option[4:]))
        if option.startswith("from="):
            made.bind((option[5:], 0))
    return made


def send(count, address, port, size=1, *options):
    made = udp(options)
    if "checksum" in options:
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
        header = struct.pack("!HHHH", 5000, int(port), 8 + int(size), 0xdead)
    for _ in range(int(count)):
        try:
            if "checksum" in options:
                raw.sendto(header + bytes(int(size)), (address, 0))
            else:
                made.sendto(bytes(int(size)), (address, int(port)))
        except OSError:
            pass  # the answer to one before
        if "fast" not in options:
            time.sleep(0.001)
    if "stay" in options:
        ready()


def raw(count, address, protocol):
    made = socket.socket(socket.AF_INET, socket.SOCK_RAW, int(protocol))
    for _ in range(int(count)):
        made.sendto(bytes(8), (address, 0))


def frame(count, interface, text):
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    made.bind((interface, 0))
    for _ in range(int(count)):
        made.send(bytes.fromhex(text))


def receive(address, port, *options):
    made = udp(options)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    if "filter" in options:  # a program of BPF that returns 0
        code = bytes.fromhex("0600000000000000")
        import ctypes
        buffer = ctypes.create_string_buffer(code)
        made.setsockopt(socket.SOL_SOCKET, 26,
                        struct.pack("HP", 1, ctypes.addressof(buffer)))
    made.bind((address, int(port)))
    ready()


def leave(count):
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for _ in range(int(count)):
        sender.send(b"x")
    receiver.close()


def again(count, address, port):
    listener = socket.create_server((address, int(port)))
    made = socket.create_connection((address, int(port)))
    other, _ = listener.accept()
    made.send(b"data")
    other.recv(4)
    made.setsockopt(socket.IPPROTO_TCP, 19, 1)  # TCP_REPAIR
    made.setsockopt(socket.IPPROTO_TCP, 20, 2)  # TCP_REPAIR_QUEUE, TCP_SEND_QUEUE
    sent = made.getsockopt(socket.IPPROTO_TCP, 21)  # TCP_QUEUE_SEQ
    made.setsockopt(socket.IPPROTO_TCP, 20, 1)
    read = made.getsockopt(socket.IPPROTO_TCP, 21)
    made.setsockopt(socket.IPPROTO_TCP, 19, -1)
    source = made.getsockname()[1]
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    ip = socket.inet_aton(address)
    for _ in range(int(count)):
        segment = struct.pack("!HHIIHHHH", source, int(port), (sent - 4) & 0xffffffff,
                              read & 0xffffffff, 0x5018, 1000, 0, 0) + b"data"
        sum_ = checksum(ip + ip + struct.pack("!HH", 6, len(segment)) + segment)
        raw.sendto(segment[:16] + struct.pack("!H", sum_) + segment[18:], (address, 0))
        time.sleep(0.01)
    ready()


def settle():
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    for cpu in os.sched_getaffinity(0):
        os.sched_setaffinity(0, {cpu})
        made.sendto(b"x", made.getsockname())
        made.recv(1)


globals()[sys.argv[1]](*sys.argv[2:])
