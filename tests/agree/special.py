#!/usr/bin/env python3
"""Writes recordings of samples that few machines can take, over the code and data of a binary.

    special.py KIND BINARY FILE

    memory      addresses of data, data sources, weights, page sizes, physical addresses, transactions, cgroups
    branches    branch stacks with flags and cycles
    cycles      branch stacks of calls and returns that the binary has (main, gamma_one, beta, alpha), with cycles
    history     the same, and its header says that there are branch stacks
    chains      call chains of main, gamma_one, beta and alpha; no two sums of periods are equal
    group       three events, two of them a group that is read with each sample's event apart
    modes       samples of the kernel, of user space and of guests
    switches    thread 7 runs for 100 ms, thread 8 for the second half of them, each with a sample a ms
    wide        the same by the switches of two CPUs
"""

import random
import re
import struct
import subprocess
import sys

BASE = 0x555500000000
IP, TID, TIME, ADDR, ID, CPU, PERIOD = 1, 2, 4, 8, 0x40, 0x80, 0x100
CALLCHAIN, BRANCHES, WEIGHT, DATA_SRC, TRANSACTION = 0x20, 0x800, 0x4000, 0x8000, 0x20000
PHYS, CGROUP, DATA_PAGE, CODE_PAGE, WEIGHT_STRUCT = 0x80000, 0x200000, 0x400000, 0x800000, 0x1000000
MMAP, COMM, SAMPLE, MMAP2, NAMESPACES, CGROUP_RECORD = 1, 3, 9, 10, 16, 19
KERNEL, USER, GUEST_KERNEL, GUEST_USER = 1, 2, 4, 5
SAMPLE_ID_ALL = 1 << 18


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def symbols_of(path):
    """Addresses of functions and of objects."""
    code, data = [], []
    for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
        found = re.match(r"([0-9a-f]+) ([tTbBdD]) (\S+)$", line)
        if found and not found.group(3).startswith("_"):
            (code if found.group(2) in "tT" else data).append(int(found.group(1), 16))
    return code, data


def segments_of(path):
    """[(address, offset, size in the file, size in memory, flags)] of what is loaded."""
    text = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    found = []
    for line in text.splitlines():
        match = re.match(r"\s+LOAD\s+(\S+) (\S+) \S+ (\S+) (\S+) (.{3})", line)
        if match:
            offset, address, file_size, size = (int(word, 16) for word in match.groups()[:4])
            found.append((address, offset, file_size, size, match.group(5)))
    return found


def side_band(path, types):
    def add(kind, misc, body):
        return record(kind, misc, body + bytes(-len(body) % 8) + trailer(types))

    data = add(COMM, 0, struct.pack("<II", 7, 7) + b"worker\0")
    data += add(COMM, 0, struct.pack("<II", 8, 8) + b"other\0")
    for pid in (7, 8):
        for address, offset, _, size, flags in segments_of(path):
            start, end = BASE + (address & ~4095), BASE + ((address + size + 4095) & ~4095)
            body = struct.pack("<IIQQQIIQQII", pid, pid, start, end - start, offset & ~4095, 8, 1, 77, 1,
                               5 if "E" in flags else 3 if "W" in flags else 1, 2)
            data += add(MMAP2, USER | (0 if "E" in flags else 1 << 13), body + path.encode() + b"\0")
    return data


def file_of(attrs, records, features=0):
    """attrs: [(sample_type, config, more of the attr, ids)]"""
    ids, entries, at = b"", b"", 104
    for _, _, _, numbers in attrs:
        ids += struct.pack(f"<{len(numbers)}Q", *numbers)
    for sample_type, config, branches, numbers in attrs:
        attr = struct.pack("<IIQQQQQ", 1, 128, config, 1000, sample_type, 4 if numbers else 0, SAMPLE_ID_ALL)
        attr += bytes(16) + bytes(8) + struct.pack("<Q", branches)
        entries += attr.ljust(128, b"\0") + struct.pack("<QQ", at, 8 * len(numbers))
        at += 8 * len(numbers)
    data_at = 104 + len(ids) + len(entries)
    head = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, 144, 104 + len(ids), len(entries), data_at, len(records), 0, 0)
    ends = struct.pack("<QQ", data_at + len(records) + 16, 0) if features else b""
    return head + struct.pack("<QQQQ", features, 0, 0, 0) + ids + entries + records + ends


def memory(path):
    code, data = symbols_of(path)
    pick = random.Random(5)
    types = (IP | TID | TIME | ADDR | CPU | PERIOD | WEIGHT_STRUCT | DATA_SRC | TRANSACTION | PHYS | CGROUP | DATA_PAGE |
             CODE_PAGE)
    records = side_band(path, types)
    for number, name in ((1, b"/"), (17, b"/system.slice/a.service"), (18, b"/user.slice")):
        records += record(CGROUP_RECORD, 0, struct.pack("<Q", number) + name + bytes(8 - len(name) % 8) +
                          trailer(types))
    sources = [make_source(pick) for _ in range(20)] + [0]
    for at in range(400):
        ip = BASE + pick.choice(code) + pick.choice((0, 4))
        addr = pick.choice((BASE + pick.choice(data) + pick.choice((0, 8, 64)), 0x7f0000001000 + pick.choice((0, 72)), 0))
        pid = pick.choice((7, 7, 8))
        body = struct.pack("<QIIQQIIQ", ip, pid, pid, 1000000000 + at * 100000, addr, pick.choice((0, 1)), 0,
                           pick.choice((1000, 3000)))
        body += struct.pack("<IHH", pick.choice((3, 30, 300)), pick.choice((5, 50)), pick.choice((2, 4)))
        body += struct.pack("<QQQQQQ", pick.choice(sources), pick.choice((0, 2, 6, 0x12, 5 << 32 | 9)),
                            pick.choice((0, 0x1234000)) + addr % 4096, pick.choice((1, 17, 18, 99)),
                            pick.choice((4096, 2 << 20)), pick.choice((0, 4096)))
        records += record(SAMPLE, USER, body)
    return file_of([(types, 0, 0, [])], records)


def make_source(pick):
    """One level and one snoop bit say the rest, as perf compares these bits alone."""
    level, snoop = pick.randrange(3, 14), pick.randrange(5)
    return (1 << pick.randrange(1, 5) | 1 << (5 + level) | 2 << 5 | 1 << (19 + snoop) | 1 << (24 + pick.randrange(2)) |
            1 << (26 + pick.randrange(2, 7)) | 2 << 26 | (level % 5) << 33 | (level % 2) << 37 | (snoop % 2) << 38 |
            pick.choice((1, 2, 4)) << 40)


def trailer(types):
    """What records other than samples end with (sample_id_all)."""
    tail = struct.pack("<IIQ", 7, 7, 999999999)
    if types & ID:
        tail += struct.pack("<Q", 1)
    if types & CPU:
        tail += struct.pack("<II", 0, 0)
    return tail


def branches(path):
    code, _ = symbols_of(path)
    pick = random.Random(6)
    types = IP | TID | TIME | PERIOD | BRANCHES
    records = side_band(path, types)
    for at in range(200):
        pid = pick.choice((7, 7, 8))
        stack = b""
        count = pick.choice((0, 3, 8))
        for _ in range(count):
            flags = pick.choice((1, 2, 2, 6, 10)) | pick.choice((0, 3, 70)) << 4
            stack += struct.pack("<QQQ", BASE + pick.choice(code) + 4, BASE + pick.choice(code), flags)
        body = struct.pack("<QIIQQQ", BASE + pick.choice(code), pid, pid, 1000000000 + at * 100000, 1000, count)
        records += record(SAMPLE, USER, body + stack)
    return file_of([(types, 0, 8, [])], records)


def calls_of(path):
    """(from, to) of the branches of one turn of main's loop, in their order."""
    code, name = {}, None
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        head, row = re.match(r"[0-9a-f]+ <(\w+)>:", line), re.match(r"\s+([0-9a-f]+):\s+(\w+)\s*(.*)", line)
        if head:
            name = head[1]
            code[name] = []
        elif row and name:
            code[name].append((int(row[1], 16), row[2], row[3]))

    def call(caller, callee):
        at = next(i for i, row in enumerate(code[caller]) if row[1] == "call" and f"<{callee}>" in row[2])
        return code[caller][at][0], code[caller][at + 1][0]

    chain = ("main", "gamma_one", "beta", "alpha")
    found = [(call(one, other)[0], code[other][0][0]) for one, other in zip(chain, chain[1:])]
    for one, other in reversed(list(zip(chain, chain[1:]))):
        found.append((next(row[0] for row in code[other] if row[1] == "ret"), call(one, other)[1]))
    jumps = [(row[0], int(row[2].split()[0], 16)) for row in code["main"] if row[1].startswith("j")]
    return found + [jump for jump in jumps if jump[1] < jump[0]][:1]


def cycles(path, features=0):
    turn = calls_of(path)
    pick = random.Random(9)
    types = IP | TID | TIME | PERIOD | BRANCHES
    records = side_band(path, types)
    for at in range(300):
        first, count = pick.randrange(len(turn)), pick.choice((1, 5, 16))
        taken = [turn[(first + i) % len(turn)] for i in range(count)]
        stack = b"".join(struct.pack("<QQQ", BASE + one, BASE + to, 2 | pick.choice((0, 1, 1, 2, 7, 30)) << 4)
                         for one, to in reversed(taken))
        pid = pick.choice((7, 7, 8))
        body = struct.pack("<QIIQQQ", BASE + taken[-1][1], pid, pid, 1000000000 + at * 100000, 1000, count)
        records += record(SAMPLE, USER, body + stack)
    return file_of([(types, 0, 8, [])], records, features)


def history(path):
    return cycles(path, 1 << 15)


def chains(path):
    text = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    at = {words[2]: int(words[0], 16) for words in map(str.split, text.splitlines()) if len(words) == 3}
    types = IP | TID | TIME | PERIOD | CALLCHAIN
    records = side_band(path, types)
    paths = ("main", "main gamma_one", "main beta", "main alpha", "main gamma_one beta", "main gamma_one beta alpha",
             "main beta alpha", "main gamma_one alpha", "main gamma_one beta beta alpha", "main alpha beta")
    for number, names in enumerate(paths):
        frames = [BASE + at[name] + 4 for name in reversed(names.split())]
        for pid, more in ((7, 0), (8, 1)):
            chain = struct.pack(f"<{len(frames) + 2}Q", len(frames) + 1, 2 ** 64 - 512, *frames)
            body = struct.pack("<QIIQQ", frames[0], pid, pid, 1000000000 + number, 1000 + (1 << 2 * number + more))
            records += record(SAMPLE, USER, body + chain)
    return file_of([(types, 0, 0, [])], records)


def group(path):
    code, _ = symbols_of(path)
    pick = random.Random(7)
    types = IP | TID | TIME | ID | CPU | PERIOD
    records = side_band(path, types)
    for at in range(300):
        pid = pick.choice((7, 8))
        event = pick.choice((1, 1, 2, 3))
        body = struct.pack("<QIIQQIIQ", BASE + pick.choice(code), pid, pid, 1000000000 + at * 100000, event,
                           at % 2, 0, pick.choice((100, 1000)) * event)
        records += record(SAMPLE, USER, body)
    return file_of([(types, 0, 0, [1]), (types, 1, 0, [2]), (types, 2, 0, [3])], records)


def modes(path):
    code, _ = symbols_of(path)
    pick = random.Random(8)
    types = IP | TID | TIME | PERIOD
    records = side_band(path, types)
    for at in range(200):
        mode = pick.choice((KERNEL, USER, USER, GUEST_KERNEL, GUEST_USER))
        ip = BASE + pick.choice(code) if mode == USER else 0xffffffff81000000 + at % 7
        body = struct.pack("<QIIQQ", ip, 7, 7, 1000000000 + at * 100000, 1000)
        records += record(SAMPLE, mode, body)
    return file_of([(types, 0, 0, [])], records)


def switches(path, wide=False):
    code, _ = symbols_of(path)
    types = IP | TID | TIME | CPU | PERIOD
    records = side_band(path, types)
    start, half, end = 1000000000, 1050000000, 1100000000

    def switch(at, tid, cpu, out, other=0):
        body = struct.pack("<II", other, other) if wide else b""
        tail = struct.pack("<IIQII", tid, tid, at, cpu, 0)
        return record(15 if wide else 14, 1 << 13 if out else 0, body + tail)

    records += switch(start, 7, 0, False)
    if wide:
        records += switch(start, 0, 1, False, 3)
        records += switch(half - 1, 0, 1, True, 8)
    records += switch(half, 8, 1, False)
    for tid, cpu, first in ((7, 0, start), (8, 1, half)):
        for at in range(first + 500000, end, 1000000):
            records += record(SAMPLE, USER, struct.pack("<QIIQIIQ", BASE + code[tid % 2], tid, tid, at, cpu, 0, 1000))
    records += switch(end, 7, 0, True) + switch(end, 8, 1, True)
    return file_of([(types, 0, 0, [])], records)


def wide(path):
    return switches(path, True)


if __name__ == "__main__":
    with open(sys.argv[3], "wb") as output:
        output.write({"memory": memory, "branches": branches, "chains": chains, "cycles": cycles, "history": history,
                      "group": group, "modes": modes,
                      "switches": switches, "wide": wide}[sys.argv[1]](sys.argv[2]))
