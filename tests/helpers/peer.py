# SPDX-License-Identifier: MIT
"""One end of connections that fastnet tries to open.

    peer.py MODE ADDRESS PORT

read     accepts, and reads up to the end of the connection
talk     as read, but sends some bytes first
reset    accepts, waits for a byte, and resets the connection
slam     resets the connection at once
deaf     listens, and accepts nothing
answer   UDP: sends each datagram back
connect  connects, and keeps the connection

Prints "ready", and then, for each connection that it accepted, how it ended: "closed after N
bytes" or "reset after N bytes".
"""
import socket
import struct
import sys
import time


def say(line):
    print(line, flush=True)


def read_all(connection):
    count = 0
    try:
        while data := connection.recv(65536):
            count += len(data)
        say(f"closed after {count} bytes")
    except ConnectionResetError:
        say(f"reset after {count} bytes")


def serve(listener, mode):
    while True:
        connection, _ = listener.accept()
        with connection:
            if mode == "talk":
                connection.sendall(b"220 welcome\r\n" * 10)
            if mode in ("reset", "slam"):
                if mode == "reset":
                    connection.recv(1)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                read_all(connection)


def answer(udp):
    while True:
        data, address = udp.recvfrom(65536)
        say(f"datagram of {len(data)} bytes")
        udp.sendto(data, address)


def main():
    mode, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    end = socket.socket(family, socket.SOCK_DGRAM if mode == "answer" else socket.SOCK_STREAM)
    if mode == "connect":
        end.connect((address, port))
    else:
        if mode != "answer":
            end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        end.bind((address, port))
    if mode not in ("answer", "connect"):
        end.listen(64)
    say("ready")
    if mode == "answer":
        answer(end)
    if mode in ("deaf", "connect"):
        time.sleep(1000000)
    serve(end, mode)


main()
