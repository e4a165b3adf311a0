#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs a command while an interface has a program of type tcx (Linux 6.6).

    tcx.py INTERFACE COMMAND...     fails if the kernel cannot attach the program
"""
import ctypes
import os
import platform
import socket
import struct
import subprocess
import sys

BPF_CALLS = {"x86_64": 321, "i686": 357, "aarch64": 280, "s390x": 351}
PROG_LOAD, LINK_CREATE, SCHED_CLS, TCX_INGRESS = 5, 28, 3, 46


def bpf(command, attributes):
    """Returns the descriptor that bpf(2) makes."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attributes, 128)
    made = libc.syscall(BPF_CALLS[platform.machine()], command, buffer, len(buffer))
    if made < 0:
        sys.exit("bpf %d: %s" % (command, os.strerror(ctypes.get_errno())))
    return made


returns_next = struct.pack("=BBhiBBhi", 0xb7, 0, 0, -1, 0x95, 0, 0, 0)
code = ctypes.create_string_buffer(returns_next)
license_text = ctypes.create_string_buffer(b"MIT")
program = bpf(PROG_LOAD, struct.pack("=IIQQ", SCHED_CLS, 2, ctypes.addressof(code),
                                     ctypes.addressof(license_text)))
link = bpf(LINK_CREATE, struct.pack("=III", program, socket.if_nametoindex(sys.argv[1]), TCX_INGRESS))
sys.exit(subprocess.run(sys.argv[2:], check=False).returncode)
