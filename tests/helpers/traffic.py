#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sends frames, and says which flows they are.

    traffic.py kinds INTERFACE           a few of each kind; prints the flows of an exact listing as CSV
    traffic.py tags INTERFACE            in VLANs; prints vlan, source port and frames
    traffic.py send INTERFACE COUNT      of one flow
    traffic.py flood INTERFACE COUNT     COUNT of TCP, each from another source, and ten flows of UDP;
                                         prints the ten
    traffic.py tap INTERFACE COUNT UFO   COUNT frames of ethertype 0x88b5 from a tap, then UFO frames
                                         whose offload the kernel cannot describe to a ring
    traffic.py tun INTERFACE NUMBER...   one frame of each protocol number, from a tun
    traffic.py mapped INTERFACE          of IPv6, from ::ffff:10.9.0.1, and the same of IPv4
    traffic.py send_to INTERFACE PORT ADDRESS...  a datagram to each
    traffic.py crowd INTERFACE COUNT     to port 7105, each from another source
    traffic.py receive GROUP             in this process, until stdin ends: any address on port 7103
                                         with the group; on 7104 twice; on 7105 5000 times
    traffic.py talk ADDRESS              datagrams and a connection in this process, until stdin ends
"""
import fcntl
import ipaddress
import os
import random
import socket
import struct
import sys

HERE, THERE = "10.9.0.1", "10.9.0.2"
HERE6, THERE6 = "2001:db8::1", "2001:db8::2"
ETHERNET = bytes.fromhex("020000000001" "020000000002")
SOL_PACKET, PACKET_VNET_HDR = 263, 15


def opened(interface):
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    made.bind((interface, 0))
    return made


def ethernet(ethertype, data):
    return ETHERNET + struct.pack("!H", ethertype) + data


def ipv4(protocol, data, fragment=0, number=1, options=b"", source=HERE, first=None, to=THERE):
    length = 20 + len(options)
    header = struct.pack("!BBHHHBBH4s4s", first or 0x40 | length // 4, 0, length + len(data), number,
                         fragment, 64, protocol, 0, socket.inet_aton(source),
                         socket.inet_aton(to))
    return ethernet(0x800, header + options + data)


def ipv6(following, data, source=HERE6, to=THERE6):
    return ethernet(0x86dd, struct.pack("!IHBB16s16s", 6 << 28, len(data), following, 64,
                                        ipaddress.ip_address(source).packed,
                                        ipaddress.ip_address(to).packed) + data)


def ports(source, size=8):
    return struct.pack("!HH", source, 80) + bytes(size - 4)


def udp(source, size=8):
    return struct.pack("!HHHH", source, 80, 8 + size, 0) + bytes(size)


def tcp(source, flags, size=0, options=b""):
    return struct.pack("!HHIIBBHHH", source, 80, 1, 1, (20 + len(options)) << 2, flags, 100, 0,
                       0) + options + bytes(size)


def offload(size, payload, version=4):
    """Frames of a device that parts them: the header of virtio says into which packets."""
    network = 20 if version == 4 else 40
    head = struct.pack("=BBHHHH", 1, 1 if version == 4 else 4, 14 + network + 20, size,
                       14 + network, 16)
    return head + (ipv4(6, tcp(60, 16, payload)) if version == 4 else ipv6(6, tcp(60, 16, payload)))


EXTENSION = bytes.fromhex("00000104" "00000000")  # to be followed by ...


def extension(following):
    return bytes([following]) + EXTENSION[1:]


def fragment6(following, offset, more):
    return struct.pack("!BBHI", following, 0, offset << 3 | more, 77)


# Each: the columns protocol, src, dst, sport, dport; and the frames.
V4, V6, NONE = (HERE, THERE), (HERE6, THERE6), ("", "")
KINDS = [
    ("tcp", V4, 1, [ipv4(6, tcp(1, 2)), ipv4(6, tcp(1, 24, 900, bytes(12)))]),
    ("udp", V4, 2, [ipv4(17, udp(2))]),
    ("udp", V4, 3, [ipv4(17, udp(3, 1400))]),
    ("udplite", V4, 4, [ipv4(136, ports(4))]),
    ("sctp", V4, 5, [ipv4(132, ports(5, 12))]),
    ("dccp", V4, 6, [ipv4(33, ports(6, 16))]),
    ("icmp", V4, None, [ipv4(1, b"\x08" + bytes(60))]),
    ("igmp", V4, None, [ipv4(2, bytes(8), options=bytes.fromhex("94040000"))]),
    ("udp", V4, 7, [ipv4(17, udp(7), options=bytes.fromhex("94040000"))]),
    ("gre", V4, None, [ipv4(47, bytes.fromhex("00000800") + ipv4(17, udp(8))[14:])]),
    ("ipip", V4, None, [ipv4(4, ipv4(17, udp(8))[14:])]),
    ("esp", V4, None, [ipv4(50, bytes(40))]),
    ("253", V4, None, [ipv4(253, bytes(40))]),
    # fragments: those of a datagram in order, and those whose first one comes last
    ("udp", V4, 9, [ipv4(17, udp(9, 800), 0x2000, 5), ipv4(17, bytes(808), 0x2000 | 102, 5),
                    ipv4(17, bytes(16), 204, 5)]),
    ("udp", V4, None, [ipv4(17, bytes(16), 102, 6)]),
    ("udp", V4, 10, [ipv4(17, udp(10, 800), 0x2000, 6)]),
    ("tcp", V6, 11, [ipv6(6, tcp(11, 18))]),
    ("udp", V6, 12, [ipv6(17, udp(12))]),
    ("icmpv6", V6, None, [ipv6(58, bytes(32))]),
    ("udp", V6, 13, [ipv6(0, extension(60) + extension(17) + udp(13))]),
    ("udp", V6, 14, [ipv6(44, fragment6(17, 0, 1) + udp(14, 800)),
                     ipv6(44, fragment6(17, 101, 0) + bytes(100))]),
    ("tcp", V6, 15, [ipv6(43, extension(6) + tcp(15, 4))]),
    ("ipv6-nonxt", V6, None, [ipv6(59, bytes(10))]),
    ("arp", NONE, None, [ethernet(0x806, bytes(28))]),
    ("lldp", NONE, None, [ethernet(0x88cc, bytes(50))]),
    ("802.2", NONE, None, [ethernet(38, bytes.fromhex("424203") + bytes(40))]),
    ("mpls", NONE, None, [ethernet(0x8847, bytes.fromhex("00010140") + bytes(40))]),
    ("0x88e1", NONE, None, [ethernet(0x88e1, bytes(46))]),
    # IPv4 whose header is too short; IPv4 that says it is IPv6
    ("ip", NONE, None, [ipv4(17, udp(16), first=0x44), ipv4(17, udp(16), first=0x65)]),
    ("udp", V4, 17, [ethernet(0x8100, b"\0\7\x08\0" + ipv4(17, udp(17))[14:])]),
    ("udp", V6, 18, [ethernet(0x88a8, b"\0\7\x81\0\0\x08\x86\xdd" + ipv6(17, udp(18))[14:])]),
]
# payload bytes of packets, and of the frame: the packets that it stands for
OFFLOADED = [("tcp", V4, 1000, 5000, 5), ("tcp", V6, 1000, 5001, 6), ("tcp", V4, 1400, 2000, 2)]


def kinds(interface):
    out, rows = opened(interface), {}

    def count(key, packets, frame):
        row = rows.setdefault(key, [0, 0, 0])
        row[0] += packets
        row[1] += 1
        row[2] += len(frame)

    for number, (protocol, ends, port, frames) in enumerate(KINDS):
        for _ in range(1 + number % 3):
            for frame in frames:
                out.send(frame)
                count((protocol, *ends, port or "", "80" if port else ""), 1, frame)
    with_header = opened(interface)
    with_header.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    for protocol, ends, size, payload, packets in OFFLOADED:
        frame = offload(size, payload, 4 if ends is V4 else 6)
        with_header.send(frame)
        count((protocol, *ends, 60, "80"), packets, frame[10:])
    for key, row in rows.items():
        print(*key, *row, sep=",")


def tags(interface):
    out = opened(interface)
    for vlan, port, frames in ((7, 1, 2), (8, 1, 3), (4095, 2, 1), (0, 3, 1)):
        for _ in range(frames):
            out.send(ethernet(0x8100, struct.pack("!HH", vlan | 0x6000, 0x800) +
                              ipv4(17, udp(port))[14:]))
        print(vlan, port, frames, sep=",")
    for _ in range(4):
        out.send(ethernet(0x88a8, struct.pack("!HHHH", 9, 0x8100, 7, 0x86dd) +
                          ipv6(17, udp(4))[14:]))
    print(9, 4, 4, sep=",")
    out.send(ipv4(17, udp(5)))
    print("", 5, 1, sep=",")


def send(interface, count):
    out, frame = opened(interface), ipv4(17, udp(20, 22))
    for _ in range(int(count)):
        out.send(frame)


def flood(interface, count):
    out = opened(interface)
    for i in range(int(count)):
        out.send(ipv4(6, tcp(i & 0xffff, 2), source=socket.inet_ntoa(
            struct.pack("!I", random.getrandbits(32)))))
        if i % 500 == 0:
            for port in range(1, 11):
                out.send(ipv4(17, udp(port)))
    for port in range(1, 11):
        print("udp", HERE, port, (int(count) + 499) // 500, sep=",")


def stale_slot():
    """Data that looks like a slot of a ring, wherever the kernel begins one in old frames."""
    next_offset = b"\x3c\xf2"
    header = struct.pack("<2sxxIII2sH", next_offset, 0x60000000, 0, 0x7fffffff, next_offset, 4096)
    header += struct.pack("<xxxxHHxxxx2sxxxx2s", 242, 256, next_offset, b"\x86\xdd")
    return header + bytes(100 - len(header))


def tap(interface, count, ufo):
    device = os.open("/dev/net/tun", os.O_RDWR)
    # linux/if_tun.h: TUNSETIFF with IFF_TAP, IFF_NO_PI and IFF_VNET_HDR
    fcntl.ioctl(device, 0x400454ca, struct.pack("16sH22x", interface.encode(), 0x5002))
    frame = bytes(10) + ethernet(0x88b5, stale_slot())
    for _ in range(int(count)):
        os.write(device, frame)
    # VIRTIO_NET_HDR_GSO_UDP: fragments of 1480 bytes
    frame = struct.pack("=BBHHHH", 1, 3, 42, 1480, 34, 6) + ipv4(17, udp(70, 3000))
    for _ in range(int(ufo)):
        os.write(device, frame)


def tun(interface, *numbers):
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, 0x400454ca, struct.pack("16sH22x", interface.encode(), 1))  # IFF_TUN
    for number in numbers:
        os.write(device, struct.pack("!HH", 0, int(number, 0)) + bytes(60))


def mapped(interface):
    out = opened(interface)
    out.send(ipv6(17, udp(40), "::ffff:" + HERE, "::ffff:" + THERE))
    out.send(ipv6(58, bytes(8), "::ffff:" + HERE))
    out.send(ipv4(17, udp(40)))


def datagram(port):
    return struct.pack("!HHHH", 71, port, 8, 0)


def send_to(interface, port, *addresses):
    out = opened(interface)
    for address in addresses:
        made = ipv6(17, datagram(int(port)), to=address) if ":" in address else \
            ipv4(17, datagram(int(port)), to=address)
        out.send(made)


def crowd(interface, count):
    out = opened(interface)
    for i in range(int(count)):
        out.send(ipv4(17, datagram(7105), source=socket.inet_ntoa(struct.pack("!I", 1 << 24 | i))))


def receive(group):
    def taker(port):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind(("", port))
        return made
    takers = [taker(7103), taker(7104), taker(7104)] + [taker(7105) for _ in range(5000)]
    takers[0].setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                         socket.inet_aton(group) + socket.inet_aton(THERE))
    both = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)  # of IPv6 and IPv4
    both.bind(("::", 7106))
    print("ready", flush=True)
    sys.stdin.read()


def talk(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.create_server((address, 7101), family=family)
    client = socket.create_connection((address, 7101))
    server = listener.accept()[0]
    # many servers have one for each family: only one of them gets what is sent
    takers = [socket.socket(each, socket.SOCK_DGRAM) for each in (socket.AF_INET, socket.AF_INET6)]
    takers[1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    for taker in takers:
        taker.bind(("", 7102))
    print("ready", flush=True)
    for _ in iter(sys.stdin.readline, ""):
        client.sendall(b"question")
        server.sendall(b"answer")
        with socket.socket(family, socket.SOCK_DGRAM) as sender:
            sender.bind((address, 17103))  # the same flow; who sent it is gone
            sender.sendto(b"datagram", (address, 7102))
        print("said", flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
