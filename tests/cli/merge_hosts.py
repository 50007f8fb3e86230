#!/usr/bin/env python3
"""Writes a recording of a made-up host, for tests/cli/merge.bats.

    merge_hosts.py FILE HOST KERNEL START BUILD-ID [EVENT...]

Process 100 ("work") has samples in /opt/work, whose build-id is BUILD-ID, and in the kernel, which begins at START (hex)
and has the build-id KERNEL (hex, 20 bytes each).  There are 10 samples at START + 0x1000, and 20 in the program.  Its
control group 7 is /HOST.  The events are software events by their numbers (default: 0, cpu-clock); each sample is of the
first one.
"""

import struct
import sys

IP, TID, TIME, ID, PERIOD, IDENTIFIER, CGROUP = 1, 2, 4, 0x40, 0x100, 0x10000, 0x200000
MMAP, COMM, SAMPLE, ROUND, CGROUP_RECORD = 1, 3, 9, 68, 19
KERNEL, USER = 1, 2
SAMPLE_ID_ALL, FREQ = 1 << 18, 0
BUILD_ID, HOSTNAME, ARCH = 2, 3, 6


def record(kind, misc, body, trailer=b""):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body) + len(trailer)) + body + trailer


def text(name):
    return name.encode() + b"\0"


def padded(name, size=64):
    data = text(name)
    return data + bytes(-len(data) % size)


def string(name):
    data = padded(name)
    return struct.pack("<I", len(data)) + data


def build_id(misc, name, digits):
    data = padded(name)
    body = struct.pack("<i", -1) + bytes.fromhex(digits) + bytes(4) + data
    return struct.pack("<IHH", 0, misc, 8 + len(body)) + body


def main():
    path, host, kernel, start, program = sys.argv[1:6]
    events = [int(word) for word in sys.argv[6:]] or [0]
    start = int(start, 16)
    kinds = IP | TID | TIME | ID | PERIOD | IDENTIFIER | CGROUP
    first = 40 + len(host)  # hosts may give the same ids
    time = 1_000_000_000 * (1 + len(host) % 3)

    def trailer(when):  # tid, time, id, identifier
        return struct.pack("<IIQQQ", 100, 100, when, first, first)

    data = record(MMAP, KERNEL, struct.pack("<iIQQQ", -1, 0, start, 0x800000, start) + text("[kernel.kallsyms]_text"), trailer(0))
    data += record(CGROUP_RECORD, 0, struct.pack("<Q", 7) + text("/" + host), trailer(0))
    data += record(COMM, 0, struct.pack("<II", 100, 100) + text("work"), trailer(0))
    data += record(MMAP, USER, struct.pack("<IIQQQ", 100, 100, 0x400000, 0x10000, 0) + text("/opt/work"), trailer(0))
    for number in range(30):
        address, mode = (start + 0x1000, KERNEL) if number % 3 == 0 else (0x401000, USER)
        time += 1_000_000
        data += record(SAMPLE, mode, struct.pack("<QQIIQQQQ", first, address, 100, 100, time, first, 1000, 7))
    data += record(ROUND, 0, b"")
    head = 104
    ids_at = head
    entry = 128 + 16
    attrs_at = ids_at + 8 * len(events)
    data_at = attrs_at + entry * len(events)
    features = {BUILD_ID: build_id(KERNEL, "[kernel.kallsyms]", kernel) + build_id(USER, "/opt/work", program),
                HOSTNAME: string(host), ARCH: string("x86_64")}
    with open(path, "wb") as file:
        file.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", head, entry, attrs_at, entry * len(events), data_at, len(data), 0, 0))
        file.write(struct.pack("<Q", sum(1 << bit for bit in features)) + bytes(24))
        for index in range(len(events)):
            file.write(struct.pack("<Q", first + index))
        for index, config in enumerate(events):
            file.write(struct.pack("<IIQQQQQ", 1, 128, config, 1000, kinds, 0, SAMPLE_ID_ALL) + bytes(128 - 48))
            file.write(struct.pack("<QQ", ids_at + 8 * index, 8))
        file.write(data)
        place = data_at + len(data) + 16 * len(features)
        for bit in sorted(features):
            file.write(struct.pack("<QQ", place, len(features[bit])))
            place += len(features[bit])
        for bit in sorted(features):
            file.write(features[bit])


if __name__ == "__main__":
    main()
