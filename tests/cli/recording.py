#!/usr/bin/env python3
"""Writes a recording with one event, cpu-clock, from lines on standard input.

    recording.py FILE [chains]

    comm PID NAME
    map PID START LENGTH OFFSET PATH     of code in a file; numbers in hex, but pids
    kernel START LENGTH                  the kernel's text
    sample PID IP [CHAIN ...]            in hex; IP in the upper half of the addresses is the kernel's.
                                         The chain's words are written as they are; "user" and "kernel"
                                         are the marks before addresses of each.
    times COUNT                          the last sample, so many times more

Every sample has the period 1000, and comes 1 ms after the one before.
"""

import struct
import sys

MARKS = {"user": (1 << 64) - 512, "kernel": (1 << 64) - 128}
MMAP, COMM, SAMPLE = 1, 3, 9
KERNEL, USER = 1, 2
IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 0x20, 0x100


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    return name.encode() + b"\0"


class Writer:
    """Records, one after another."""

    def __init__(self, chains):
        self.chains = chains
        self.time = 1_000_000_000
        self.last = None
        self.data = b""

    def sample(self, pid, place, *chain):
        self.last = (pid, place, *chain)
        self.time += 1_000_000
        address = int(place, 16)
        body = struct.pack("<QIIQQ", address, int(pid), int(pid), self.time, 1000)
        if self.chains:
            words = [MARKS[word] if word in MARKS else int(word, 16) for word in chain]
            body += struct.pack(f"<{1 + len(words)}Q", len(words), *words)
        self.data += record(SAMPLE, KERNEL if address >> 63 else USER, body)

    def line(self, kind, *rest):
        if kind == "comm":
            self.data += record(COMM, 0, struct.pack("<II", int(rest[0]), int(rest[0])) + text(rest[1]))
        elif kind == "map":
            numbers = [int(word, 16) for word in rest[1:4]]
            body = struct.pack("<IIQQQ", int(rest[0]), int(rest[0]), *numbers) + text(rest[4])
            self.data += record(MMAP, USER, body)
        elif kind == "kernel":
            start, length = (int(word, 16) for word in rest)
            body = struct.pack("<IIQQQ", 0xffffffff, 0, start, length, start) + text("[kernel.kallsyms]_text")
            self.data += record(MMAP, KERNEL, body)
        elif kind == "sample":
            self.sample(*rest)
        elif kind == "times":
            for _ in range(int(rest[0])):
                self.sample(*self.last)
        else:
            sys.exit(f"unknown line: {kind}")


def main():
    path, chains = sys.argv[1], sys.argv[2:] == ["chains"]
    writer = Writer(chains)
    for line in sys.stdin:
        if line.strip():
            writer.line(*line.split())
    kinds = IP | TID | TIME | PERIOD | (CALLCHAIN if chains else 0)
    # A software event, cpu-clock, each 1000 ns; attr.size is 128.
    attr = struct.pack("<IIQQQQ", 1, 128, 0, 1000, kinds, 0) + bytes(128 - 40)
    head = 104
    at = head + 128 + 16
    with open(path, "wb") as file:
        file.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", head, 144, head, 144, at, len(writer.data), 0, 0) + bytes(32))
        file.write(attr + bytes(16) + writer.data)


if __name__ == "__main__":
    main()
