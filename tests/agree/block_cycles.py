#!/usr/bin/env python3
"""Blocks of code and instructions per cycle, computed from a recording's branch stacks one after another, as perf does.

    block_cycles.py TALLY BINARY RECORDING

Prints of each function: its name, instructions per cycle with four digits, the share of its instructions that are in
blocks, and of each block: offsets, cycles of the longest one, cycles of all, average.  The rules are those of perf's
hist__account_cycles(), __symbol__account_cycles() and annotation__compute_ipc(); perf 6.1.187 itself crashes here.
"""

import re
import subprocess
import sys

BASE = 0x555500000000


def functions_of(path):
    """{name: (start, end, [addresses of instructions])}"""
    found, name = {}, None
    sizes = {}
    for line in subprocess.run(["readelf", "-sW", path], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC" and words[2] != "0":
            sizes[words[7]] = int(words[2])
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        head, row = re.match(r"([0-9a-f]+) <(\w+)>:", line), re.match(r"\s+([0-9a-f]+):", line)
        if head:
            name = head[2]
            start = int(head[1], 16)
            found[name] = (start, start + sizes.get(name, 0), [])
        elif row and int(row[1], 16) < found[name][1]:
            found[name][2].append(int(row[1], 16))
    return found


def main():
    functions = functions_of(sys.argv[2])

    def name_of(address):
        return next((name for name, (start, end, _) in functions.items() if start <= address < end), None)

    text = subprocess.run([sys.argv[1], "script", "-i", sys.argv[3], "-F", "brstack"], capture_output=True, text=True,
                          check=True).stdout
    blocks, total = {}, 0
    for line in text.splitlines():
        stack = [word.split("/") for word in line.split()]
        stack = [(int(word[0], 16) - BASE, int(word[1], 16) - BASE, int(word[5])) for word in stack]
        if not stack or not stack[0][2]:
            continue
        before = None
        for source, target, cycles in reversed(stack):
            total += cycles
            name = name_of(source)
            if cycles and name:
                start = before if before is not None and name_of(before) == name and before < source else None
                block = blocks.setdefault((name, source), {"start": None, "num": 0, "cycles": 0, "all": 0, "sum": 0})
                block["all"] += 1
                block["sum"] += cycles
                if start is None and block["start"] is not None:
                    pass
                elif start is not None and block["start"] is not None and block["start"] < start:
                    pass
                else:
                    if start != block["start"]:
                        block.update(start=start, num=0, cycles=0)
                    block["num"] += 1
                    block["cycles"] += cycles
            before = target
    for name, (first, end, code) in functions.items():
        own = sorted((source, block) for (of, source), block in blocks.items() if of == name)
        covered, cycles, instructions = set(), 0, 0
        for source, block in reversed(own):
            if block["start"] is None:
                continue
            inside = [address for address in code if block["start"] <= address <= source]
            if set(inside) - covered:
                cycles += block["cycles"]
                instructions += len(inside) * block["num"]
            covered |= set(inside)
        if own:
            print(name, f"{instructions / cycles if cycles else 0:.4f}", f"{100 * len(covered) / len(code):.4f}")
        for source, block in own:
            start = 0 if block["start"] is None else block["start"] - first
            print(f"  {100 * block['cycles'] / total:.2f}% {start:x} {source - first:x} {block['sum'] // block['all']}")


main()
