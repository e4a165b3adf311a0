#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reads a capture of Ethernet frames from stdin, and prints its flows as CSV: protocol, src, dst,
sport, dport, frames and bytes. It shares no code with anything that it is compared with."""
import ipaddress
import struct
import sys

NAMES = {1: "icmp", 2: "igmp", 4: "ipip", 6: "tcp", 17: "udp", 33: "dccp", 47: "gre", 50: "esp",
         58: "icmpv6", 59: "ipv6-nonxt", 132: "sctp", 136: "udplite"}
ETHERTYPES = {0x800: "ip", 0x806: "arp", 0x8847: "mpls", 0x88cc: "lldp"}
EXTENSIONS = (0, 43, 60)
WITH_PORTS = (6, 17, 33, 132, 136)


class Reader:
    def __init__(self):
        self.fragmented = {}  # ports of first fragments
        self.flows = {}

    def ends(self, protocol, src, dst, payload, offset, datagram):
        key = src, dst, datagram
        ports = ("", "")
        if protocol in WITH_PORTS:
            ports = self.fragmented.get(key, ports) if offset else struct.unpack("!HH", payload[:4])
        if datagram is not None and not offset:
            self.fragmented[key] = ports
        addresses = ipaddress.ip_address(src), ipaddress.ip_address(dst)
        return NAMES.get(protocol, protocol), *addresses, *ports

    def ipv4(self, packet):
        header = (packet[0] & 15) * 4
        if packet[0] >> 4 != 4 or header < 20:
            return None
        number, fragment = struct.unpack("!HH", packet[4:8])
        datagram = (packet[9], number) if fragment & 0x3fff else None
        return self.ends(packet[9], packet[12:16], packet[16:20], packet[header:],
                         fragment & 0x1fff, datagram)

    def ipv6(self, packet):
        following, payload, offset, datagram = packet[6], packet[40:], 0, None
        while following in EXTENSIONS or following == 44 and not offset:
            if following == 44:
                offset, datagram = struct.unpack("!HI", payload[2:8])
                offset >>= 3
                following, payload = payload[0], payload[8:]
            else:
                following, payload = payload[0], payload[8 + payload[1] * 8:]
        return self.ends(following, packet[8:24], packet[24:40], payload, offset, datagram)

    def take(self, frame, length):
        at = 12
        while frame[at:at + 2] in (b"\x81\0", b"\x88\xa8"):
            at += 4
        ethertype = int.from_bytes(frame[at:at + 2], "big")
        readers = {0x800: self.ipv4, 0x86dd: self.ipv6}
        flow = readers[ethertype](frame[at + 2:]) if ethertype in readers else None
        name = "802.2" if ethertype < 0x600 else ETHERTYPES.get(ethertype, hex(ethertype))
        row = self.flows.setdefault(flow or (name, "", "", "", ""), [0, 0])
        row[0] += 1
        row[1] += length


def main():
    capture, reader = sys.stdin.buffer, Reader()
    capture.read(24)
    while len(head := capture.read(16)) == 16:
        taken, length = struct.unpack("=II", head[8:])
        reader.take(capture.read(taken), length)
    for flow, row in reader.flows.items():
        print(*flow, *row, sep=",")


main()
