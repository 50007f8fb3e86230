#!/usr/bin/env python3
"""Writes a recording whose samples have branch stacks through the code of a binary, as a processor's would be,
and some as none should be.

    branches.py BINARY RECORDING
"""

import random
import re
import struct
import subprocess
import sys

BASE = 0x555500000000  # where the binary is mapped
IP, TID, TIME, CPU, PERIOD, BRANCHES = 1, 2, 4, 0x80, 0x100, 0x800
SAMPLES = 500


def code_of(path):
    """[(place in the file, whether it branches, where to or None)] of the text, in order."""
    listing = subprocess.run(["objdump", "-d", "-w", "--no-show-raw-insn", "-j", ".text", path],
                             capture_output=True, text=True, check=True).stdout
    found = []
    for line in listing.splitlines():
        found_line = re.match(r"\s*([0-9a-f]+):\s+(\S+)(?:\s+([0-9a-f]+)\b)?", line)
        if found_line:
            jumps = found_line.group(2)[0] == "j" or found_line.group(2)[:4] in ("call", "retq", "ret", "loop")
            target = int(found_line.group(3), 16) if jumps and found_line.group(3) else None
            found.append((int(found_line.group(1), 16), jumps, target))
    return found


class Walk:
    """A way through the code, branch by branch."""

    def __init__(self, code, seed):
        self.code = code
        self.index = {place: i for i, (place, _, _) in enumerate(code)}
        self.random = random.Random(seed)

    def stack(self, count):
        """The branches of `count` steps, newest first, and a place behind the last."""
        at = self.random.randrange(len(self.code))
        steps = []
        while len(steps) < count:
            skip = self.random.choice((0, 0, 1, 3))
            while at < len(self.code) - 1 and not (self.code[at][1] and skip == 0):
                skip -= self.code[at][1]
                at += 1
            place, _, target = self.code[at]
            if target not in self.index:
                target = self.code[self.random.randrange(len(self.code))][0]
            flags = self.random.choice((1, 2, 2, 6, 10)) | self.random.choice((0, 3, 70)) << 4
            steps.append([BASE + place, BASE + target, flags])
            at = self.index[target]
        return steps[::-1], BASE + self.code[min(at + self.random.randrange(4), len(self.code) - 1)][0]


def damage(pick, stack, ip):
    """What a processor or a changed binary may leave behind; returns the sample's address."""
    what = pick.randrange(12)
    entry = stack[pick.randrange(len(stack))]
    if what == 0:
        entry[0] += 1
    elif what == 1:
        entry[1] = 0
    elif what == 2:
        entry[pick.randrange(2)] = 0xffffffff81000000
    elif what == 3:
        entry[1] = BASE - 0x100000
    elif what == 4:
        entry[0] += 100000
    elif what == 5:
        ip = stack[0][1] - 2
    elif what == 6:
        ip = stack[0][0]
    elif what == 7:
        ip += 70000
    return ip


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(time):
    return struct.pack("<IIQII", 7, 7, time, 0, 0)


def text(words):
    words = words.encode() + b"\0"
    return words + b"\0" * (-len(words) % 8)


def main():
    binary, path = sys.argv[1:]
    with open(binary, "rb") as file:
        size = len(file.read())
    walk = Walk(code_of(binary), 5)
    data = record(3, struct.pack("<II", 7, 7) + text("walker") + trailer(1))
    data += record(10, struct.pack("<IIQQQIIQQII", 7, 7, BASE, size + 4095 & ~4095, 0, 0, 0, 0, 0, 5, 2)
                   + text(binary) + trailer(2))
    for i in range(SAMPLES):
        stack, ip = walk.stack(walk.random.choice((1, 2, 5, 16, 32)))
        if i % 2:
            ip = damage(walk.random, stack, ip)
        body = struct.pack("<QIIQIIQQ", ip, 7, 7, 1000 + i, 0, 0, 1000, len(stack))
        data += record(9, body + b"".join(struct.pack("<QQQ", *entry) for entry in stack))
    attr = struct.pack("<IIQQQQQ", 0, 128, 0, 1000, IP | TID | TIME | CPU | PERIOD | BRANCHES, 0, 1 << 18)
    attr += struct.pack("<IIQQQ", 0, 0, 0, 0, 1 | 8)
    attr = attr.ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, len(attr), 104, len(attr), 104 + len(attr), len(data), 0, 0)
    with open(path, "wb") as file:
        file.write(header.ljust(104, b"\0") + attr + data)


main()
