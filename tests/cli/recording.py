#!/usr/bin/env python3
"""Writes a recording with one event, cpu-clock, from lines on standard input.

    recording.py FILE [chains | deferred | branches | lbr]

    comm PID NAME
    map PID START LENGTH OFFSET PATH     of code in a file; numbers in hex, but pids
    kernel START LENGTH                  the kernel's text
    module START LENGTH NAME             a module's: [NAME], or a path
    build-id ID NAME                     of the kernel or a module
    sample PID IP [CHAIN ...]            in hex; IP in the upper half of the addresses is the kernel's.
                                         The chain's words are written as they are; "user" and "kernel"
                                         are the marks before addresses of each.
    later PID COOKIE [CHAIN ...]         with "deferred": the chain of user space of samples whose own ends with
                                         "deferred" and the cookie (PERF_RECORD_CALLCHAIN_DEFERRED)
    sample PID IP [FROM TO ...]          with "branches": the branches before it, the newest first
    sample PID IP INDEX [FROM TO ...]    with "lbr": as --call-graph lbr of a processor with 8 registers; INDEX is the
                                         register of the newest call
    times COUNT                          the last sample, so many times more
    period NS                            of the samples that follow, instead of 1000
    wait NS                              before the records that follow; these have times with "deferred" alone
    lost COUNT                           samples that the kernel lost
    lost-samples COUNT                   the same, by event

Every sample comes 1 ms after the one before.
"""

import struct
import sys

MARKS = {"user": (1 << 64) - 512, "kernel": (1 << 64) - 128, "deferred": (1 << 64) - 640}
MMAP, LOST, COMM, SAMPLE, LOST_SAMPLES, CALLCHAIN_DEFERRED = 1, 2, 3, 9, 13, 22
SAMPLE_ID_ALL, DEFER_CALLCHAIN = 1 << 18, 1 << 38
KERNEL, USER = 1, 2
HAS_SIZE = 1 << 15
BUILD_ID, CPU_PMU_CAPS = 2, 28
IP, TID, TIME, CALLCHAIN, PERIOD, BRANCHES = 1, 2, 4, 0x20, 0x100, 0x800


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    return name.encode() + b"\0"


def string(text):
    """As in features: its room, then the text."""
    return struct.pack("<I", 64) + text.encode().ljust(64, b"\0")


def numbers_of(chain):
    return [MARKS[word] if word in MARKS else int(word, 16) for word in chain]


class Writer:
    """Records, one after another."""

    def __init__(self, chains, deferred=False, branches=False, lbr=False):
        self.lbr = lbr
        self.chains = chains
        self.branches = branches
        self.deferred = deferred
        self.time = 1_000_000_000
        self.last = b""
        self.period = 1000
        self.data = bytearray()
        self.build_ids = b""

    def other(self, kind, misc, pid, body):
        body += bytes(-len(body) % 8)
        if self.deferred:  # sample_id_all
            body += struct.pack("<IIQ", pid & 0xffffffff, pid & 0xffffffff, self.time)
        self.data += record(kind, misc, body)

    def sample(self, pid, place, *chain):
        self.time += 1_000_000
        address = int(place, 16)
        body = struct.pack("<QIIQQ", address, int(pid), int(pid), self.time, self.period)
        if self.chains:
            words = numbers_of(chain)
            body += struct.pack(f"<{1 + len(words)}Q", len(words), *words)
        if self.lbr:
            numbers = [int(word, 16) for word in chain]
            body += struct.pack("<3Q", 2, MARKS["user"], address)
            body += struct.pack("<2Q", len(numbers) // 2, numbers[0])
            for i in range(1, len(numbers), 2):
                body += struct.pack("<3Q", numbers[i], numbers[i + 1], 0)
        if self.branches:
            pairs = [int(word, 16) for word in chain]
            body += struct.pack("<Q", len(pairs) // 2)
            for i in range(0, len(pairs), 2):
                body += struct.pack("<QQQ", pairs[i], pairs[i + 1], 0)
        self.last = record(SAMPLE, KERNEL if address >> 63 else USER, body)
        self.data += self.last

    def line(self, kind, *rest):
        if kind == "comm":
            self.other(COMM, 0, int(rest[0]), struct.pack("<II", int(rest[0]), int(rest[0])) + text(rest[1]))
        elif kind == "map":
            numbers = [int(word, 16) for word in rest[1:4]]
            body = struct.pack("<IIQQQ", int(rest[0]), int(rest[0]), *numbers) + text(rest[4])
            self.other(MMAP, USER, int(rest[0]), body)
        elif kind == "kernel":
            start, length = (int(word, 16) for word in rest)
            body = struct.pack("<IIQQQ", 0xffffffff, 0, start, length, start) + text("[kernel.kallsyms]_text")
            self.other(MMAP, KERNEL, -1, body)
        elif kind == "module":
            start, length = (int(word, 16) for word in rest[:2])
            body = struct.pack("<IIQQQ", 0xffffffff, 0, start, length, 0) + text(rest[2])
            self.other(MMAP, KERNEL, -1, body)
        elif kind == "build-id":
            identity = bytes.fromhex(rest[0])
            self.build_ids += record(0, KERNEL | HAS_SIZE, struct.pack("<i", -1) + identity.ljust(20, b"\0") + bytes([len(identity), 0, 0, 0])
                                     + text(rest[1]).ljust(64, b"\0"))
        elif kind == "lost":
            self.other(LOST, 0, 0, struct.pack("<QQ", 0, int(rest[0])))
        elif kind == "lost-samples":
            self.other(LOST_SAMPLES, 0, 0, struct.pack("<Q", int(rest[0])))
        elif kind == "wait":
            self.time += int(rest[0])
        elif kind == "period":
            self.period = int(rest[0])
        elif kind == "sample":
            self.sample(*rest)
        elif kind == "later":
            words = numbers_of(rest[2:])
            self.time += 1_000_000
            body = struct.pack(f"<{2 + len(words)}Q", int(rest[1], 16), len(words), *words)
            self.other(CALLCHAIN_DEFERRED, USER, int(rest[0]), body)
        elif kind == "times":
            again = bytearray(self.last)
            for _ in range(int(rest[0])):
                self.time += 1_000_000
                struct.pack_into("<QQ", again, 24, self.time, self.period)
                self.data += again
        else:
            sys.exit(f"unknown line: {kind}")


def main():
    path, mode = sys.argv[1], "".join(sys.argv[2:])
    deferred, branches, lbr = mode == "deferred", mode == "branches", mode == "lbr"
    chains = deferred or mode == "chains"
    writer = Writer(chains, deferred, branches, lbr)
    for line in sys.stdin:
        if line.strip():
            writer.line(*line.split())
    kinds = IP | TID | TIME | PERIOD | (CALLCHAIN if chains or lbr else 0) | (BRANCHES if branches or lbr else 0)
    # A software event, cpu-clock, each 1000 ns; attr.size is 128.
    flags = SAMPLE_ID_ALL | DEFER_CALLCHAIN if deferred else 0
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, kinds, 0, flags) + bytes(128 - 48)
    if branches or lbr:  # branch_sample_type, at 72: any, of user space; or its calls, with the register
        attr = attr[:72] + struct.pack("<Q", 1 << 17 | 1 << 11 | 1 if lbr else 1 << 3 | 1) + attr[80:]
    head = 104
    at = head + 128 + 16
    features = {}
    if writer.build_ids:
        features[BUILD_ID] = writer.build_ids
    if lbr:
        features[CPU_PMU_CAPS] = struct.pack("<I", 1) + string("branches") + string("8")
    place, end = at + len(writer.data) + 16 * len(features), b""
    for number in sorted(features):
        end += struct.pack("<QQ", place, len(features[number]))
        place += len(features[number])
    end += b"".join(features[number] for number in sorted(features))
    bits = sum(1 << number for number in features)
    with open(path, "wb") as file:
        file.write(b"PERFILE2" + struct.pack("<QQQQQQQQQ", head, 144, head, 144, at, len(writer.data), 0, 0, bits))
        file.write(bytes(24) + attr + bytes(16) + writer.data + end)


if __name__ == "__main__":
    main()
