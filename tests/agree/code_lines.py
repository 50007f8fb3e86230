#!/usr/bin/env python3
"""Compares numbers of `tally annotate` and `tally diff` with those of perf's, for many command lines.

    code_lines.py TALLY LINES [FOLDER...]

LINES is a file of lines: "annotate" or "diff" and recordings, found in the folders, "|" and the options of both.  Of annotate
the numbers of each instruction of each event are compared, of diff the rows, as sets; every difference is printed.
"""

import collections
import os
import re
import shlex
import subprocess
import sys


def run(command, env):
    done = subprocess.run(command, capture_output=True, env=env, timeout=120)
    return done.stdout.decode(errors="replace").splitlines(), done.stderr.decode(errors="replace").strip()


def instructions(lines):
    """(event, address, numbers) of each instruction with samples."""
    found, event = collections.Counter(), ""
    for line in lines:
        title = re.search(r"Disassembly of .* for (.*?) \(\d+ samples", line)
        if title:
            event = title[1]
        row = re.match(r"\s*([0-9.][0-9. ]*?) +: +([0-9a-f]+):", line)
        if row and float(max(row[1].split(), key=float)) > 0:
            found[event, row[2], tuple(row[1].split())] += 1
    return found


def rows(lines):
    """Cells of each row, but not whether it is more than noise, which perf does not say."""
    found, titles, left_out = collections.Counter(), [], []
    for line in lines:
        cells = [re.sub(r"\s+", " ", cell.strip()) for cell in line.split("\x02")]
        if line.startswith("#"):
            if len(cells) > 1 and cells[0].strip("# ."):
                cells[0] = cells[0].lstrip("# ")
                left_out = [at for at, cell in enumerate(cells) if cell.startswith("Change")]
                titles = [cell.removesuffix("/0") for cell in cells]
        elif len(cells) > 1:
            found[tuple(cell for at, cell in enumerate(cells) if at not in left_out)] += 1
    return found, [title for title in titles if not title.startswith("Change")]




def main():
    tally, lines, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    env = dict(os.environ, LC_ALL="C", PAGER="cat", PERF_CONFIG="/dev/null")
    failed = compared = skipped = 0
    for line in open(lines):
        line = line.split("#")[0].strip()
        if not line:
            continue
        first, options = [shlex.split(part) for part in line.split("|")]
        paths = [next((os.path.join(folder, name) for folder in folders if os.path.exists(os.path.join(folder, name))), None)
                 for name in first[1:]]
        if None in paths:
            print(f"not here: {line}")
            skipped += 1
            continue
        compared += 1
        if first[0] == "annotate":
            command = ["annotate", "--stdio", "-i", paths[0], *options]
            perf, why = run(["perf", *command], env)
            ours, our_why = run([tally, *command], env)
            theirs, mine, same_titles = instructions(perf), instructions(ours), True
        else:
            command = ["diff", "-t", "\x02", *options, *paths]
            perf, why = run(["perf", *command], env)
            ours, our_why = run([tally, *command], env)
            (theirs, titles), (mine, our_titles) = rows(perf), rows(ours)
            same_titles = titles == our_titles
            # Of what a recording lacks perf leaves some cells empty.
            partly = {row[-1] for row in theirs if "" in row}
            theirs = collections.Counter({row: n for row, n in theirs.items() if row[-1] not in partly})
            mine = collections.Counter({row: n for row, n in mine.items() if row[-1] not in partly})
        missing, added = theirs - mine, mine - theirs
        if missing or added or not theirs or not same_titles:
            failed += 1
            print(f"FAILED {line}")
            if not same_titles:
                print(f"  titles: {titles} and {our_titles}")
            for what, some in (("perf alone", missing), ("tally alone", added)):
                for row, count in list(some.items())[:4]:
                    print(f"  {what}: {count} x {row}")
            if not theirs:
                print(f"  perf: {why[-200:]}")
            if not mine:
                print(f"  tally: {our_why[-200:]}")
    print(f"{compared} compared, {failed} differ, {skipped} without their recording")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
