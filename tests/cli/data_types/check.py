#!/usr/bin/env python3
"""Asks for the data type of every instruction of the functions below, and compares with what is known.

    check.py TALLY RECORDING.PY PROGRAM

objdump lists the instructions.  One that accesses memory through a register other than those of the stack accesses an
object that its displacement identifies (`by_offset`), or one of a few (`some`); a variable of the program is one of
`some`; a place of the stack holds one of the variables in `stack`, or what the compiler keeps there.
"""

import collections
import csv
import re
import subprocess
import sys

STACK = "(stack operation)"
UNKNOWN = "(unknown)"
LONG, INT, DOUBLE = "long +0 (no field)", "int +0 (no field)", "double +0 (no field)"
NODE = {0: "struct list_node +0 (value)", 8: "struct list_node +8 (next)"}
OUTER = {0: "struct outer +0 (id)", 8: "struct outer +8 (range.low)", 16: "struct outer +16 (range.high)",
         24: "struct outer +24 (either.number)"}
PAIRS = [f"struct outer +{32 + 16 * i + 4} (pairs.second)" for i in range(4)]
PAIR = {0: "struct pair +0 (first)", 4: "struct pair +4 (second)", 8: "struct pair +8 (weight)"}
BOX = {8: "Box +8 (id)", 16: "Box +16 (width)", 24: "Box +24 (height)", 32: "Box +32 (other)"}


def pointer(name):
    return f"{name}* +0 (no field)"


# must: answers that some instruction has.
FUNCTIONS = {
    "walk": {"by_offset": NODE, "must": NODE.values(), "stack": [LONG, pointer("struct list_node")]},
    "add_pairs": {"some": [PAIR[4], PAIR[8]], "must": [PAIR[4], PAIR[8]], "stack": [INT, DOUBLE]},
    "count": {"some": ["counters_t +0 (hits)", "counters_t +8 (misses)", LONG],
              "must": ["counters_t +0 (hits)", "counters_t +8 (misses)", LONG], "stack": [INT]},
    "members": {"some": [*OUTER.values(), NODE[0]], "must": [OUTER[0], OUTER[16], OUTER[24], NODE[0]],
                "stack": [pointer("struct outer")]},
    "loads": {"some": [pointer("struct outer"), OUTER[24], NODE[0], NODE[8]],
              "must": [pointer("struct outer"), OUTER[24], NODE[0], NODE[8]],
              "stack": [LONG, INT, pointer("struct outer*")]},
    # gcc -O0 adds the offset of the array to the index, which hides the array.
    "element": {"some": [PAIRS[0], UNKNOWN], "must": [], "stack": [LONG, pointer("struct outer")]},
    "inlined": {"some": [OUTER[16]], "must": [], "stack": [pointer("struct outer")]},
    "fill": {"by_offset": PAIR, "must": PAIR.values(), "stack": [INT, pointer("struct pair")]},
    "on_stack": {"some": [PAIR[4], PAIR[8]], "must": [PAIR[4], PAIR[8]], "stack": [INT, *PAIR.values()]},
    "of_other": {"by_offset": {24: BOX[24], 32: BOX[32]}, "must": [BOX[24], BOX[32]], "stack": ["Box& +0 (no field)"]},
    "of_base": {"by_offset": {8: BOX[8], 32: BOX[32]}, "must": [BOX[8], BOX[32]], "stack": [pointer("Box")]},
    "_ZNK3Box4areaEv": {"by_offset": {16: BOX[16], 24: BOX[24]}, "must": [BOX[16], BOX[24]], "stack": [pointer("Box")]},
}
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(\S+)\s*(.*?)\s*(?:#.*)?$")
OPERAND = re.compile(r"(-?0x[0-9a-f]+|-?\d+)?\((%?\w*)?(?:,(%?\w+)(?:,\d)?)?\)")
NOT_ACCESSED = ("lea", "nop", "data16", "cs", "xchg")


def run(*arguments, **options):
    return subprocess.run(arguments, check=True, capture_output=True, text=True, **options).stdout


def instructions(program):
    """By function: address, mnemonic, operands."""
    found, name = collections.defaultdict(list), None
    for line in run("objdump", "-d", "--no-show-raw-insn", program).splitlines():
        start = re.match(r"^([0-9a-f]+) <(.*)>:$", line)
        match = INSTRUCTION.match(line)
        if start:
            name = start[2]
        elif match and name in FUNCTIONS:
            found[name].append((int(match[1], 16), match[2], match[3]))
    return found


def text_section(program):
    """How far addresses of .text are from their places in the file; where it ends."""
    for line in run("objdump", "-h", program).splitlines():
        fields = line.split()
        if len(fields) > 5 and fields[1] == ".text":
            size, address, offset = int(fields[2], 16), int(fields[3], 16), int(fields[5], 16)
            return address - offset, offset + size
    raise SystemExit("no .text")


def answers(tally, recorder, program, addresses):
    """What tally says of each address."""
    shift, end = text_section(program)
    base = 0x10000000
    lines = ["comm 7 objects", f"map 7 {base:x} {end:x} 0 {program}"]
    lines += [f"sample 7 {base + address - shift:x}" for address in addresses]
    run("python3", recorder, program + ".data", input="\n".join(lines) + "\n")
    rows = run(tally, "report", "-q", "--csv", "-i", program + ".data", "-s", "addr,typeoff")
    return {int(row[-2], 16) - base + shift: row[-1].replace("long int", "long") for row in csv.reader(rows.splitlines())}


def expected(function, mnemonic, operands):
    """The set of what the instruction may be said to access."""
    known = FUNCTIONS[function]
    if mnemonic.startswith(("push", "pop", "ret", "leave", "call")):
        return [STACK]
    operand = OPERAND.search(operands)
    if not operand or mnemonic.startswith(NOT_ACCESSED):
        if "%fs:" in operands:
            return ["(stack canary)"]
        return [UNKNOWN]
    displacement = int(operand[1] or "0", 0)
    if operand[2] in ("%rsp", "%rbp"):
        return [*known["stack"], STACK]
    if operand[2] == "%rip" and "by_offset" in known:
        return [UNKNOWN]  # a constant of the compiler: none of these has variables of the program
    if "by_offset" in known:
        return [known["by_offset"].get(displacement)]
    if operand[2] == "%rip":
        return [*known["some"], UNKNOWN]  # UNKNOWN: a constant of the compiler
    return known["some"]


def main():
    tally, recorder, program = sys.argv[1:]
    functions = instructions(program)
    said = answers(tally, recorder, program, [one[0] for list_of in functions.values() for one in list_of])
    wrong = []
    for function, code in functions.items():
        seen = set()
        for address, mnemonic, operands in code:
            answer, possible = said.get(address), expected(function, mnemonic, operands)
            seen.add(answer)
            if answer not in possible:
                wrong.append(f"{function} {address:x} {mnemonic} {operands}: {answer!r}, not one of {possible}")
        wrong += [f"{function}: no instruction has {one!r}" for one in FUNCTIONS[function]["must"] if one not in seen]
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{sum(map(len, functions.values()))} instructions of {len(functions)} functions")
    sys.exit(bool(wrong) or not functions)


main()
