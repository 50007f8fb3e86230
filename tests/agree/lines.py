#!/usr/bin/env python3
"""Compares source lines and inlined functions of sampled addresses with addr2line and llvm-symbolizer.

    lines.py TALLY PROGRAM RECORDING [MOST]

Takes up to MOST (1000) different addresses of the program from the recording's call chains.  Prints how many answers
are equal, and each difference with what the three say.  An answer is the list of "file:line", innermost first.
"""
import os
import re
import shutil
import subprocess
import sys


def run(*args, **options):
    return subprocess.run(args, capture_output=True, text=True, check=True, **options).stdout


def shift_of(program):
    for line in run("readelf", "-SW", program).splitlines():
        found = re.match(r" *\[ *\d+\] \.text +\S+ +([0-9a-f]+) ([0-9a-f]+)", line)
        if found:
            return int(found[1], 16) - int(found[2], 16)
    return 0


def known(text):
    """file:line, the line 0 when it is unknown."""
    text = re.sub(r" \(discriminator \d+\)$", "", text.strip())
    file, line = re.match(r"(.*?):(\d+|\?)(?::\d+)?$", text).groups()
    return "%s:%s" % (os.path.basename(file), "0" if line == "?" else line)


def tally_answers(tally, program, recording):
    """address in the file -> lines"""
    out = run(tally, "script", "-i", recording, "-F", "ip,sym,dso,dsoff,srcline", "--inline")
    answers, lines, last = {}, [], None
    for line in out.splitlines() + [""]:
        frame = re.match(r"\s+([0-9a-f]+) ", line)
        if frame or not line.strip():
            where = re.search(r"\((.*)\+0x([0-9a-f]+)\)$", line)
            if not frame or frame[1] != last:
                lines = []
            # inlined functions have no binary; behind one that has, the same address is a recursion
            last = frame[1] if frame and not where else None
            if where and os.path.basename(where[1]) == os.path.basename(program):
                answers[int(where[2], 16)] = lines
        elif re.match(r"  \S", line):
            line = re.sub(r" \(inlined\)$", "", line)
            lines.append(known(line) if ":" in line else "??:0")  # "libc.so.6[27249]"
    return {place: lines for place, lines in answers.items() if lines}


def addr2line_answers(program, addresses):
    out = run("addr2line", "-a", "-f", "-i", "-e", program, input="\n".join(hex(a) for a in addresses))
    answers, address, lines = {}, None, []
    for line in out.splitlines():
        if re.match(r"0x[0-9a-f]{8,}$", line):
            address, lines = int(line, 16), []
        else:
            lines.append(line)
            answers[address] = [known(text) for text in lines[1::2]]
    return answers


def again(program, address, answer):
    """An answer of addr2line 2.40 may depend on what it was asked before."""
    return addr2line_answers(program, [address]).get(address, answer)


def llvm_answers(tool, program, addresses):
    out = run(tool, "--obj=" + program, "--inlines", input="\n".join(hex(a) for a in addresses))
    blocks = out.strip("\n").split("\n\n")
    return {a: [known(text) for text in block.splitlines()[1::2]] for a, block in zip(addresses, blocks)}


def main():
    tally, program, recording = sys.argv[1:4]
    most = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    shift = shift_of(program)
    ours = {place + shift: lines for place, lines in tally_answers(tally, program, recording).items()}
    addresses = sorted(ours)[:: max(1, len(ours) // most)][:most]
    tools = {"addr2line": addr2line_answers(program, addresses)}
    symbolizer = shutil.which("llvm-symbolizer") or shutil.which("llvm-symbolizer-14")
    if symbolizer:
        tools["llvm-symbolizer"] = llvm_answers(symbolizer, program, addresses)
    print("addresses: %d, with inlined functions: %d" % (len(addresses), sum(len(ours[a]) > 1 for a in addresses)))
    for a, answer in tools["addr2line"].items():
        if answer != ours.get(a):
            tools["addr2line"][a] = again(program, a, answer)
    for name, theirs in tools.items():
        same = sum(ours[a] == theirs.get(a) for a in addresses)
        print("%s: %d of %d equal" % (name, same, len(addresses)))
        for a in addresses:
            if ours[a] != theirs.get(a):
                print("  0x%x: tally %s, %s %s" % (a, " ".join(ours[a]), name, " ".join(theirs.get(a, ["-"]))))


main()
