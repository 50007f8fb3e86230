#!/usr/bin/env python3
"""How `tally script` and `perf script` end on the same damaged recordings, side by side.

Ten small recordings (made by the tests' program, and those given) are cut and get wrong bytes, seeded; each
damaged copy is read by both.  It reports crashes (a signal), hangs (over a second a megabyte, at least ten),
copies that gave no line though the whole recording gives some, and the lines in all.
Usage: damage.py [--cuts N] [--flips N] [FILE...]
"""

import argparse
import os
import random
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)


def cuts_of(data, count):
    for number in range(count):
        yield data[: len(data) * (2 * number + 1) // (2 * count)]


def flips_of(data, count, chance):
    for _ in range(count):
        damaged = bytearray(data)
        front = chance.random() < 0.25
        at = chance.randrange(min(len(data), 1024) if front else len(data))
        if chance.random() < 0.5:
            damaged[at] ^= 1 << chance.randrange(8)
        else:
            for place in range(at, min(at + 8, len(data))):
                damaged[place] = chance.randrange(256)
        yield bytes(damaged)


class Tally:
    """What one tool made of all copies."""

    def __init__(self, argv):
        self.argv = argv
        self.runs = self.crashes = self.hangs = self.empty = self.lines = 0
        self.seconds = 0.0

    def read(self, path, limit):
        """The lines that come out, or None when it did not end by itself."""
        start = time.monotonic()
        try:
            done = subprocess.run([*self.argv, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  stdin=subprocess.DEVNULL, timeout=limit)
        except subprocess.TimeoutExpired:
            return "hang", 0
        finally:
            self.seconds += time.monotonic() - start
        return "crash" if done.returncode < 0 else "ended", done.stdout.count(b"\n")

    def count(self, path, limit, whole):
        end, lines = self.read(path, limit)
        self.runs += 1
        self.crashes += end == "crash"
        self.hangs += end == "hang"
        self.lines += lines
        self.empty += bool(whole) and not lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(TOP, "build"))
    parser.add_argument("--cuts", type=int, default=10)
    parser.add_argument("--flips", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="tally-damage-")
    try:
        subprocess.run([os.path.join(args.build, "tests/damage/damage"), "--write", folder], check=True)
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder)) + args.files
        tools = {
            "tally": Tally([os.path.join(args.build, "tally"), "script", "--kallsyms", "/dev/null", "-i"]),
            "perf": Tally(["perf", "script", "--kallsyms", "/dev/null", "-i"]),
        }
        copy = os.path.join(folder, "copy")
        for path in files:
            with open(path, "rb") as file:
                data = file.read()
            chance = random.Random(args.seed)
            limit = max(10, len(data) >> 20)
            whole = tools["tally"].read(path, limit)[1]
            for damaged in [*cuts_of(data, args.cuts), *flips_of(data, args.flips, chance)]:
                with open(copy, "wb") as file:
                    file.write(damaged)
                for tool in tools.values():
                    tool.count(copy, limit, whole)
        print(f"{len(files)} recordings, {args.cuts} cuts and {args.flips} flips of each")
        for name, tool in tools.items():
            print(f"    {name + ' script':13} {tool.runs} runs: {tool.crashes} crashed, {tool.hangs} hung, "
                  f"{tool.empty} gave nothing; {tool.lines} lines; {tool.seconds:.1f} s")
    finally:
        shutil.rmtree(folder)


main()
