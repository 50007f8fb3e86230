"""Command lines from a file, each with recordings from some folders: what the comparisons with perf have in common."""

import os
import sys


class Difference:
    """Of one line: rows that only one of both has, titles where they differ, and what both said on stderr."""

    def __init__(self, missing, added, titles=None, said=()):
        self.missing, self.added, self.titles, self.said = missing, added, titles, said


def found(folders, name):
    return next((os.path.join(folder, name) for folder in folders if os.path.exists(os.path.join(folder, name))), None)


def show(line, difference):
    print(f"FAILED {line}")
    if difference.titles:
        print("  titles: {} and {}".format(*difference.titles))
    for what, rows in (("perf alone", difference.missing), ("tally alone", difference.added)):
        for row, count in list(rows.items())[:4]:
            print(f"  {what}: {count} x {row}")
        if len(rows) > 4:
            print(f"  {what}: {len(rows) - 4} more")
    for who, text in difference.said:
        print(f"  {who}: {text[-300:]}")


def compare_all(path, folders, names_of, compare):
    """The status of a program: `names_of(parts)` are a line's recordings, of its parts between "|"; `compare(parts, paths, env)`
    gives None or a Difference."""
    env = dict(os.environ, LC_ALL="C", PAGER="cat", PERF_CONFIG="/dev/null")
    failed = compared = skipped = 0
    with open(path) as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if not line:
                continue
            parts = [part.strip() for part in line.split("|")]
            paths = [found(folders, name) for name in names_of(parts)]
            if None in paths:
                print(f"not here: {line}")
                skipped += 1
                continue
            compared += 1
            difference = compare(parts, paths, env)
            if difference:
                failed += 1
                show(line, difference)
    print(f"{compared} compared, {failed} differ, {skipped} without their recording")
    sys.exit(1 if failed else 0)
