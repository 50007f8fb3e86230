#!/usr/bin/env python3
"""Writes a recording as OpenHarmony's hiperf does with --dedup_stack.

    hiperf.py FROM TO [lost | loop]

FROM is one of recording.py with chains.  Chains go to a table behind the data, and each sample has the number of
its own.  lost: the table lacks its first node; loop: each node is its own caller."""

import struct
import sys

from sections import write_with

SAMPLE = 9
CMDLINE, RECORD_TIME, STACK_TABLE = 11, 194, 197
CHAIN_AT = 40  # header, ip, pid and tid, time, period


def fold(data):
    """The data with numbers for chains, and {pid: {node: index}}."""
    folded, tables, at = bytearray(), {}, 0
    while at < len(data):
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        record = data[at:at + size]
        at += size
        if kind != SAMPLE:
            folded += record
            continue
        pid, = struct.unpack_from("<I", record, 16)
        count, = struct.unpack_from("<Q", record, CHAIN_AT)
        chain = struct.unpack_from(f"<{count}Q", record, CHAIN_AT + 8)
        table, index = tables.setdefault(pid, {}), 0
        for address in reversed(chain):
            node = address & ((1 << 40) - 1) | index << 40 | address >> 63 << 63
            index = table.setdefault(node, len(table) + 7)
        if count:
            record = struct.pack("<IHH", kind, misc, CHAIN_AT + 16) + record[8:CHAIN_AT] + struct.pack("<QQ", 0, count << 23 | index)
        folded += record
    return folded, tables


def main():
    way = sys.argv[3] if len(sys.argv) > 3 else ""
    with open(sys.argv[1], "rb") as file:
        whole = file.read()
    start, size = struct.unpack_from("<QQ", whole, 40)
    data, tables = fold(whole[start:start + size])
    table = struct.pack("<I", len(tables))
    for pid, nodes in tables.items():
        pairs = [(index, node) for node, index in nodes.items()][way == "lost":]
        if way == "loop":
            pairs = [(index, node & ~(((1 << 23) - 1) << 40) | index << 40) for index, node in pairs]
        table += struct.pack("<III", pid, 1 << 20, len(pairs)) + b"".join(struct.pack("<IQ", *pair) for pair in pairs)
    line = b"hiperf record --dedup_stack -p 5\0"
    sections = {CMDLINE: struct.pack("<I", len(line)) + line, RECORD_TIME: struct.pack("<I", 2) + b"1\0", STACK_TABLE: table}
    write_with(sys.argv[2], whole, data, sections)


main()
