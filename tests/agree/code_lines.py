#!/usr/bin/env python3
"""Compares numbers of `tally annotate` and `tally diff` with those of perf's, for many command lines.

    code_lines.py TALLY LINES [FOLDER...]

LINES is a file of lines: "annotate" or "diff" and recordings, found in the folders, "|" and the options of both.  Of annotate
the numbers of each instruction of each event are compared, of diff the rows, as sets; every difference is printed.
"""

import collections
import re
import shlex
import subprocess
import sys

from command_lines import Difference, compare_all


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



def compare(tally, parts, paths, env):
    kind, options = parts[0].split()[0], shlex.split(parts[1])
    if kind == "annotate":
        command = ["annotate", "--stdio", "-i", paths[0], *options]
    else:
        command = ["diff", "-t", "\x02", *options, *paths]
    (perf, why), (ours, our_why) = run(["perf", *command], env), run([tally, *command], env)
    titles = our_titles = None
    if kind == "annotate":
        theirs, mine = instructions(perf), instructions(ours)
    else:
        (theirs, titles), (mine, our_titles) = rows(perf), rows(ours)
        # Of what a recording lacks perf leaves some cells empty.
        partly = {row[-1] for row in theirs if "" in row}
        theirs = collections.Counter({row: n for row, n in theirs.items() if row[-1] not in partly})
        mine = collections.Counter({row: n for row, n in mine.items() if row[-1] not in partly})
    missing, added = theirs - mine, mine - theirs
    if not missing and not added and theirs and titles == our_titles:
        return None
    said = [("perf", why)] * (not theirs) + [("tally", our_why)] * (not mine)
    return Difference(missing, added, (titles, our_titles) if titles != our_titles else None, said)


def main():
    tally, lines, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    compare_all(lines, folders, lambda parts: shlex.split(parts[0])[1:],
                lambda parts, paths, env: compare(tally, parts, paths, env))


if __name__ == "__main__":
    main()
