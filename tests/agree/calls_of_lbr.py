#!/usr/bin/env python3
"""Two threads that call and return at random, as a processor with 8 registers for calls keeps them: lines for
tests/cli/recording.py FILE lbr.

    calls_of_lbr.py BINARY SAMPLES SEED     functions f0 to f19 of BINARY, which is mapped at its own addresses
"""

import os
import random
import subprocess
import sys

REGISTERS, FUNCTIONS = 8, 20


class Thread:
    def __init__(self):
        self.stack = [0]
        self.registers = {}
        self.newest = self.valid = 0

    def call(self, places):
        callee = len(self.stack) if random.random() < 0.8 else random.randrange(FUNCTIONS)
        self.newest = (self.newest + 1) % REGISTERS
        self.registers[self.newest] = places[self.stack[-1]] + 5, places[callee]
        self.valid = min(REGISTERS, self.valid + 1)
        self.stack.append(callee)

    def back(self):
        self.stack.pop()
        if self.valid:
            self.valid -= 1
            self.newest = (self.newest - 1) % REGISTERS

    def go_on(self, places):
        for _ in range(random.randrange(7)):
            if random.random() < 0.62 and len(self.stack) < FUNCTIONS:
                self.call(places)
            elif len(self.stack) > 1:
                self.back()

    def branches(self):
        return [self.registers[(self.newest - i) % REGISTERS] for i in range(self.valid)]


def main():
    binary, samples = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    random.seed(int(sys.argv[3]))
    names = subprocess.run(["nm", binary], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {words[2]: int(words[0], 16) for words in map(str.split, names.splitlines()) if len(words) == 3}
    places = [found[f"f{i}"] for i in range(FUNCTIONS)]
    threads = {pid: Thread() for pid in (10, 11)}
    for pid in threads:
        print(f"comm {pid} calls\nmap {pid} 400000 10000 0 {binary}")
    for _ in range(samples):
        pid = random.choice(list(threads))
        thread = threads[pid]
        thread.go_on(places)
        if thread.valid:
            pairs = " ".join(f"{place:x} {to:x}" for place, to in thread.branches())
            print(f"sample {pid} {places[thread.stack[-1]] + 6:x} {thread.newest:x} {pairs}")


if __name__ == "__main__":
    main()
