#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Stands for rpcbind(8) on a socket: rpcbind.py PATH MODE [PROGRAM NETID ADDRESS]...

MODE is what it does with a question: `answer` with these programs in fragments of 50 bytes, `end`
after half of the answer, or `stay` silent. Prints "ready" when it listens."""
import socket
import struct
import sys


def text(word):
    data = word.encode()
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def answer(number, words):
    found = b""
    for program, netid, address in zip(words[::3], words[1::3], words[2::3]):
        found += struct.pack(">III", 1, int(program), 4)
        found += text(netid) + text(address) + text("superuser")
    return struct.pack(">IIIIII", number, 1, 0, 0, 0, 0) + found + struct.pack(">I", 0)


def fragments(data):
    pieces = [data[at : at + 50] for at in range(0, len(data), 50)]
    marks = [len(piece) for piece in pieces]
    marks[-1] |= 1 << 31
    return b"".join(struct.pack(">I", mark) + piece for mark, piece in zip(marks, pieces))


path, mode, words = sys.argv[1], sys.argv[2], sys.argv[3:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
print("ready", flush=True)
asked = []
while True:
    asked.append(listener.accept()[0])
    question = asked[-1].recv(4096)
    number, kind, rpc, program, version, procedure = struct.unpack(">IIIIII", question[4:28])
    assert (kind, rpc, program, version, procedure) == (0, 2, 100000, 4, 4), question
    if mode == "stay":
        continue
    said = fragments(answer(number, words))
    asked[-1].sendall(said[: len(said) // 2] if mode == "end" else said)
    asked.pop().close()
