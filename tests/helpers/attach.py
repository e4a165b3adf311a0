#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs a command while an interface has a program of BPF, which lets all packets pass.

    attach.py WHERE INTERFACE COMMAND...    fails if the kernel cannot attach the program

WHERE: tcx-ingress, tcx-egress (Linux 6.6), or xdp in generic mode (Linux 5.9).
"""
import ctypes
import os
import platform
import socket
import struct
import subprocess
import sys

BPF_CALLS = {"x86_64": 321, "i686": 357, "aarch64": 280, "s390x": 351}
PROG_LOAD, LINK_CREATE = 5, 28
# The type of the program, the type of attachment, flags, and what the program returns.
PLACES = {"tcx-ingress": (3, 46, 0, -1), "tcx-egress": (3, 47, 0, -1), "xdp": (6, 37, 2, 2)}


def bpf(command, attributes):
    """Returns the descriptor that bpf(2) makes."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attributes, 128)
    made = libc.syscall(BPF_CALLS[platform.machine()], command, buffer, len(buffer))
    if made < 0:
        sys.exit("bpf %d: %s" % (command, os.strerror(ctypes.get_errno())))
    return made


kind, place, flags, result = PLACES[sys.argv[1]]
returns = struct.pack("=BBhiBBhi", 0xb7, 0, 0, result, 0x95, 0, 0, 0)
code = ctypes.create_string_buffer(returns)
license_text = ctypes.create_string_buffer(b"MIT")
program = bpf(PROG_LOAD, struct.pack("=IIQQ", kind, 2, ctypes.addressof(code),
                                     ctypes.addressof(license_text)))
link = bpf(LINK_CREATE, struct.pack("=IIII", program, socket.if_nametoindex(sys.argv[2]), place, flags))
sys.exit(subprocess.run(sys.argv[3:], check=False).returncode)
