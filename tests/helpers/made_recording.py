#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a small recording into a directory: made_recording.py DIR [recent].

The times are those of 29 November 2026, UTC. There are two segments: from 03:00:00 to 03:01:00, and
after a reboot from 05:00:00 to 05:00:20.
recent: the last 50 hours without a gap. A connection stays, and one is closed in each hour.
"""
import json
import sys
import time as clock

COLUMNS = (
    "event time netns_id cookie netns protocol family state local_address local_port remote_address "
    "remote_port recv_q send_q backlog uid inode pid process processes unit bytes_sent "
    "bytes_received bytes_retrans total_retrans rtt drops age age_at_least connect_error "
    "container_name pod_name"
).split()


OWN_NETNS, OTHER_NETNS = 4026531840, 4026532999


def when(time):
    if isinstance(time, int):
        return clock.strftime("%Y-%m-%dT%H:%M:%S.000000Z", clock.gmtime(time))
    return f"2026-11-29T{time}.000000Z"


class Segment:
    def __init__(self, directory, number, time, boot, interval=10):
        begin = when(time).replace("-", "").replace(":", "").split(".")[0]
        name = f"fastnet-{begin}Z-{number:06}.ndjson"
        self.file = open(f"{directory}/{name}", "w", encoding="utf-8")
        self.rows = 0
        self.mark("head", time, format=1, kind="sockets", arguments=["record"], host="web1",
                  boot_id=boot, listing=None, segment=number, interval=interval, netns_id=OWN_NETNS)

    def write(self, row):
        self.file.write(json.dumps(row, separators=(",", ":")) + "\n")

    def mark(self, mark, time, **more):
        self.write({"fastnet": "0.3.0", "mark": mark, "time": when(time)} | more)

    def end(self, mark, time, **more):
        """Ends the rows of a frame, a tick, or findings."""
        self.mark(mark, time, rows=self.rows, complete=True, **more)
        self.rows = 0

    def row(self, cookie, event=None, time=None, **columns):
        """A whole row: columns without a value are null."""
        self.part(cookie, event, time, **({name: None for name in COLUMNS[4:]} | columns))

    def part(self, cookie, event, time, **columns):
        self.write({"event": event, "time": when(time) if time else None, "netns_id": OWN_NETNS,
                    "cookie": cookie} | columns)
        self.rows += 1

    def finding(self, **columns):
        self.write(columns)
        self.rows += 1


def tcp(state, local, remote, process, pid, **more):
    return {"protocol": "tcp", "family": "inet", "state": state, "local_address": local[0],
            "local_port": local[1], "remote_address": remote[0], "remote_port": remote[1],
            "recv_q": 0, "send_q": 0, "uid": 33, "inode": pid * 10, "pid": pid, "process": process,
            "processes": [{"pid": pid, "fd": 3, "name": process}],
            "unit": f"{process}.service"} | more


WEB, CLIENT = ("192.0.2.1", 80), "198.51.100.7"


def recent(directory):
    end = int(clock.time())
    begin = end - 50 * 3600
    segment = Segment(directory, 1, begin, "boot-1", interval=60)
    segment.row(1, **tcp("ESTABLISHED", WEB, (CLIENT, 5432), "nginx", 10, age=60.0))
    segment.end("frame", begin)
    for time in range(begin + 60, end + 1, 60):
        if (time - begin) % 3600 == 0:
            segment.row(time, "closed", time - 9, **tcp("CLOSE", WEB, (CLIENT, 1002), "nginx", 10,
                                                        bytes_sent=7, bytes_received=8, age=2.0))
        segment.end("tick", time, lost=0, unseen=0)


def main(directory):
    first = Segment(directory, 1, "03:00:00", "boot-1")
    first.row(1, **tcp("LISTEN", WEB, ("0.0.0.0", 0), "nginx", 10, backlog=511, age=100.0,
                       age_at_least=True))
    first.row(2, **tcp("ESTABLISHED", WEB, (CLIENT, 1002), "nginx", 10, bytes_sent=1000,
                       bytes_received=10, rtt=0.025, age=60.0, age_at_least=False))
    first.row(3, **tcp("ESTABLISHED", WEB, (CLIENT, 1003), "nginx", 10, bytes_sent=5000,
                       bytes_received=50, send_q=700, rtt=0.03, age=7.5, age_at_least=True))
    first.row(4, **tcp("CLOSE", ("0.0.0.0", 53), ("0.0.0.0", 0), "dnsmasq", 20) |
              {"protocol": "udp", "drops": 0})
    first.row(5, protocol="unix", family="unix", state="LISTEN", inode=99, recv_q=0, send_q=5,
              pid=1, process="systemd", processes=[{"pid": 1, "fd": 9, "name": "systemd"}])
    first.row(7, **tcp("ESTABLISHED", WEB, (CLIENT, 1007), "envoy", 70, netns="pod",
                       netns_id=OTHER_NETNS))
    first.end("frame", "03:00:00")
    first.part(3, "changed", "03:00:10", bytes_sent=6000, send_q=0)
    first.row(6, "opened", "03:00:04", **tcp("ESTABLISHED", (CLIENT, 1006), WEB, "curl", 66,
                                             bytes_sent=80, bytes_received=0, age=6.0,
                                             age_at_least=False))
    first.row(2, "closed", "03:00:07", **tcp("CLOSE", WEB, (CLIENT, 1002), "nginx", 10,
                                             bytes_sent=1500, bytes_received=15, age=67.0,
                                             age_at_least=False))
    first.end("tick", "03:00:10", lost=0, unseen=0)
    first.finding(severity="fault", rule="accept-queue", subject="nginx", process="nginx", pid=10,
                  value=512, limit=511, summary='"nginx" (pid 10) accepts too slowly')
    first.end("findings", "03:00:11")
    first.row(6, "closed", "03:00:15", **tcp("CLOSE", (CLIENT, 1006), WEB, "curl", 66,
                                             bytes_sent=80, bytes_received=4000, age=11.0,
                                             age_at_least=False))
    first.end("tick", "03:00:20", lost=0, unseen=0)
    for time in ("03:00:30", "03:00:40", "03:00:50"):
        first.end("tick", time, lost=0, unseen=0)
    first.row(8, "closed", "03:00:58", **tcp("CLOSE", (CLIENT, 1008), WEB, "wget", 67,
                                             age=6.0, age_at_least=False))
    first.row(9, "closed", "03:00:58", **tcp("CLOSE", (CLIENT, 1009), WEB, "wget", 67, age=6.0,
                                             age_at_least=False, connect_error="refused"))
    first.end("tick", "03:01:00", lost=2, unseen=0)
    first.mark("end", "03:01:00", rows=11, complete=True, continues=False)
    second = Segment(directory, 2, "05:00:00", "boot-2")
    second.row(3, **tcp("LISTEN", WEB, ("0.0.0.0", 0), "apache2", 30, backlog=128))
    second.row(4, **tcp("LISTEN", WEB, ("0.0.0.0", 0), "envoy", 70, container_name="web",
                        pod_name="shop/web-0"))
    second.end("frame", "05:00:00")
    second.end("tick", "05:00:10", lost=0, unseen=0)
    second.end("tick", "05:00:20", lost=0, unseen=0)


recent(sys.argv[1]) if sys.argv[2:] == ["recent"] else main(sys.argv[1])
