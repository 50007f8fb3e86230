#!/usr/bin/env python3
"""Compares rows and numbers of `tally report` with those of `perf report`, for many command lines.

    report_lines.py TALLY LINES [FOLDER...]

LINES is a file of lines: a recording, found in the folders, "|" and the options of both.  What comes behind a second
"|" is an option of tally alone.  Rows are compared as a set, cell by cell, without blanks; every difference is printed.
"""

import collections
import re
import shlex
import subprocess
import sys

from command_lines import Difference, compare_all

SEPARATOR = "\x02"


def rows_of(command, env, by_event=False):
    done = subprocess.run(command, capture_output=True, env=env, timeout=120)
    text = done.stdout.decode(errors="replace")
    rows, titles = collections.Counter(), []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(SEPARATOR)]
        if line.startswith("#"):
            if not cells[0].strip("# ."):  # dots below titles
                continue
            if len(cells) > 1 or line.startswith("# Overhead"):
                cells[0] = cells[0].lstrip("# ")
                titles = cells
            continue
        if not re.match(r"[0-9.]+%", cells[0]):  # a line of a tree, for one
            continue
        rows[tuple(plain(cell) for cell, title in zip(cells, titles) if "IPC" not in title)] += 1
    return rows, [title for title in titles if "IPC" not in title], done


def plain(cell):
    """perf writes an address 0 without 0x; the letter of a place that no mapping holds differs."""
    cell = re.sub(r"\s+", " ", cell)
    cell = re.sub(r"(?<![0-9a-fx])0{16}(?![0-9a-f])", "0x0000000000000000", cell)
    return re.sub(r"^\[[Hkug]\] (0x[0-9a-f]{16})$", r"[?] \1", cell)


def same(perf, tally):
    """perf cuts cells, and symbols before an offset, at the width of their column."""

    def alike(a, b):
        if a == b or (len(a) >= 8 and b.startswith(a)):
            return True
        (name, _, offset), (whole, _, other) = a.partition("+"), b.partition("+")
        return len(name) >= 8 and offset == other and whole.startswith(name)

    return len(perf) == len(tally) and all(alike(a, b) for a, b in zip(perf, tally))


def without(rows, titles, wanted):
    """The same with the columns that perf shows: it leaves out what a filter makes the same in all rows."""
    keep = [index for index, title in enumerate(titles) if title in wanted]
    fewer = collections.Counter()
    for row, count in rows.items():
        fewer[tuple(row[index] for index in keep if index < len(row))] += count
    return fewer, [titles[index] for index in keep]


def differences(perf, tally):
    only_perf, only_tally = perf - tally, tally - perf
    for row in list(only_perf.elements()):
        twin = next((other for other in only_tally.elements() if same(row, other)), None)
        if twin:
            only_perf[row] -= 1
            only_tally[twin] -= 1
    return +only_perf, +only_tally


def compare(tally, parts, path, env):
    options, own = [shlex.split(part) for part in (parts[1:] + ["", ""])[:2]]
    common = ["report", "-i", path, "--stdio", "-t", SEPARATOR]
    perf, perf_titles, done = rows_of(["perf", *common, *options], env)
    ours, our_titles, ran = rows_of([tally, *common, "--addresses", *options, *own], env)
    if any(option in options for option in ("-c", "-d", "-S")):
        ours, our_titles = without(ours, our_titles, perf_titles)
    missing, added = differences(perf, ours)
    if perf_titles == our_titles and not missing and not added and perf and not ran.returncode:
        return None
    said = [(who, program.stderr.decode(errors="replace").strip())
            for who, program, failed in (("perf", done, not perf), ("tally", ran, ran.returncode)) if failed]
    return Difference(missing, added, (perf_titles, our_titles) if perf_titles != our_titles else None, said)


def main():
    tally, lines, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    compare_all(lines, folders, lambda parts: parts[:1],
                lambda parts, paths, env: compare(tally, parts, paths[0], env))


if __name__ == "__main__":
    main()
