#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Machines behind a TUN device, which are not namespaces of this machine: fastnet knows
only their packets. The destination port chooses what such a machine does with TCP.

    beyond.py DEVICE ROUTER4 ROUTER6 PORT=ACTION... [ADDRESS,PORT...]

    silent   nothing answers
    refuses  a RST
    open     a handshake; all data is acknowledged
    resets   a handshake, and a RST for data
    hangup   a handshake, and a RST at its end
    full     a handshake; no data is acknowledged
    small    a handshake; packets with more data than 600 bytes (IPv6: 1220) are lost
    big      as small, with a message "too big" of the router for each
    never    as big, for packets with more data than 64 bytes, which no smaller MTU helps
    T.C/T.C  an ICMP message of the router: type and code for IPv4, and for IPv6

Two machines behind the device send a SYN to each ADDRESS,PORT and never answer: half-open
connections. Prints "ready", and ends when stdin ends.
"""
import fcntl
import os
import select
import socket
import struct
import sys


def device(name):
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, 0x400454ca, struct.pack("16sH22x", name.encode(), 0x1001))  # TUN, NO_PI
    return tun


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def packet(source, destination, protocol, content, at):
    """An IP packet; `at` is the offset of the checksum in the content."""
    pseudo = source + destination + struct.pack("!II", len(content), protocol)
    over = content if protocol == socket.IPPROTO_ICMP else pseudo + content
    content = content[:at] + struct.pack("!H", checksum(over)) + content[at + 2:]
    if len(source) == 16:
        return struct.pack("!IHBB", 6 << 28, len(content), protocol, 64) + source + destination + content
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(content), 0, 0, 64, protocol, 0)
    header += source + destination
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + content


def segment(source, destination, here, there, number, acknowledged, bits):
    """A TCP segment without data; `bits` are the header's length and its flags."""
    tcp = struct.pack("!HHIIHHHH", here, there, number, acknowledged, bits, 65535, 0, 0)
    if bits >> 12 == 6:
        tcp += struct.pack("!BBH", 2, 4, 1400)  # the largest segment
    return packet(source, destination, socket.IPPROTO_TCP, tcp, 16)


def half_open(router, address, port):
    """Segments of machines that begin a connection, and do not know of it later."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    source = socket.inet_pton(family, router)
    return [segment(source[:-1] + bytes([200 + number]), socket.inet_pton(family, address),
                    5000, int(port), 1, 0, 0x6002) for number in range(2)]


def answer(got, actions, routers):
    """The packet that answers this one; None: nothing answers."""
    version = got[0] >> 4
    size = 20 if version == 4 else 40
    if got[9 if version == 4 else 6] != socket.IPPROTO_TCP:
        return None
    source, destination = (got[12:16], got[16:20]) if version == 4 else (got[8:24], got[24:40])
    here, there, sequence, _, flags = struct.unpack("!HHIIH", got[size:size + 14])
    data = len(got) - size - 4 * (flags >> 12)
    limit = 600 if version == 4 else 1220
    action = actions.get(there, "silent")

    def reply(*numbers):
        return segment(destination, source, there, here, *numbers)

    if action == "never":
        limit = 64
    if action in ("big", "never") and data > limit:
        action = "3.4/2.0"
    if "/" in action:
        kind, code = map(int, action.split("/")[version == 6].split("."))
        quoted = got[:size + 20]
        message = struct.pack("!BBHI", kind, code, 0, 1280 if (kind, version) == (2, 6) else 600) + quoted
        protocol = socket.IPPROTO_ICMP if version == 4 else socket.IPPROTO_ICMPV6
        return packet(routers[version == 6], source, protocol, message, 2)
    if flags & 0x02 and action == "refuses":
        return reply(0, sequence + 1, 0x5014)
    if flags & 0x02 and action != "silent":
        return reply(1000, sequence + 1, 0x6012)
    if flags & 0x17 == 0x10 and action == "hangup":
        return reply(1001, sequence + data, 0x5014)
    if data and action == "resets":
        return reply(1001, sequence + data, 0x5014)
    if flags & 0x01 and action != "silent":
        return reply(1001, sequence + data + 1, 0x5011)
    if action == "open" and data or action in ("small", "big", "never") and 0 < data <= limit:
        return reply(1001, sequence + data, 0x5010)
    return None


def main(name, router4, router6, *arguments):
    tun = device(name)
    actions = {int(port): action for port, action in (each.split("=") for each in arguments
                                                      if "=" in each)}
    routers = socket.inet_aton(router4), socket.inet_pton(socket.AF_INET6, router6)
    for each in arguments:
        if "," in each:
            for sent in half_open(router6 if ":" in each else router4, *each.split(",")):
                os.write(tun, sent)
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([tun, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        reply = answer(os.read(tun, 65536), actions, routers)
        if reply:
            os.write(tun, reply)


main(*sys.argv[1:])
