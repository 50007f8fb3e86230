#!/usr/bin/env python3
"""Runs the commands that README.md shows, in its order, and compares what they print with what it shows.

Usage: screens.py README TALLY FOLDER

What is shown of a command, between its `$ ` and the next one, must be printed by it, line by line and in this
order; a line `...` stands for lines that are left out.  Each run has other numbers and other functions, so these
are not compared: see shape().  Prints a line for each command, `same: COMMAND`, `other: COMMAND` or `skipped: COMMAND`;
the next one, indented, has the line that was not printed, or the reason.  FOLDER/N has what the Nth command printed, from
1: README is mended from there.
"""

import os
import re
import subprocess
import sys

WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "w.py")
MODULES = "$(find -L /usr/share/perl -name '*.pm' -size +8k | sort)"

# What a command of README needs that it does not show: the command begins with these words.
BEFORE = {
    "tally annotate -i": f"tally record -q -g -o before.data -- python3 {WORK}; tally record -q -g -o after.data -- python3 {WORK} 1",
    "tally repair": "head -c $(($(stat -c %s before.data) / 2)) before.data >cut.data",
}
ORDINARY_USER = "setpriv --reuid 65534 --regid 65534 --clear-groups "
# A command that begins with these words is skipped when the check after them fails.
NEEDS = {
    "tally annotate": ("[ $LINES_OF_PYTHON ]", "needs a python3 with debug information"),
    "tally profile": ("[ $LINES_OF_PYTHON ]", "needs a python3 with debug information"),
    "tally doctor": (f"tally doctor | grep -q 'no PMU: KVM' && {{ [ $(id -u) != 0 ] || {ORDINARY_USER} tally version; }}",
                     "needs a virtual machine of KVM, and a folder that other users can read"),
}

# What these lines say goes on in the next one, which README's width needs.
LONG = ("tally: ", " Not counted: ")
# These say more in some runs, and the last one something else where other programs take the CPUs.
SENTENCES = (r"tally: .* stacks are whole", r"Stacks +[\d,]+ unwound while recording", r"One thread is busy|Others take the CPUs")


def commands_of(readme):
    """(command, lines that are shown of it), of all blocks"""
    found, inside = [], False
    for line in open(readme, encoding="utf-8").read().splitlines():
        if line.startswith("```"):
            inside, shown = not inside, None
        elif inside and line.startswith("$ "):
            shown = []
            found.append((line[2:].split(" # ")[0], shown))
        elif inside and shown and shown[-1].startswith(LONG) and re.match(r" ?[a-z]", line) and not line.startswith(LONG):
            shown[-1] += " " + line.strip()
        elif inside and shown is not None:
            shown.append(line)
    return found


def cell(text):
    """A column of a row: numbers are 0, names w; [.] and [k] are kept"""
    if re.fullmatch(r"[-+]?[\d.,]+ ?%?", text):
        return re.sub(r"[-+]?[\d.,]+", "0", text)
    return re.sub(r"^(\[[.k]\] )?.*", lambda match: ("[.] " if match[1] else "") + "w", text)


def shape(line):
    """A line without what differs from run to run"""
    text = line.strip()
    cells = re.split(r" {2,}", text)
    if re.match(r"[-+]?[\d.]+ ?%", text) and len(cells) > 1:  # a row of a report, or of a difference
        return "0 % w" if " %" in cells[0] else " ".join(map(cell, cells))
    if re.match(r"[\d.]* : ", text + " "):  # of a listing
        return "0 : 0: code"
    if re.match(r"[|\-]", text):  # of a call tree
        return "--0%--w" if "%" in text else "| w" if re.search(r"\w", text) else "|"
    if re.fullmatch(r"\S+ +\d+ +[\d.]+: +[0-9a-f]+ \S+ \(\S+\)", text):  # a sample
        return "w 0 0: 0 w (w)"
    if re.fullmatch(r"\w+\|\d+", text):  # a row of a table of SQL
        return "w|0"
    for sentence in SENTENCES:
        if re.match(sentence, text):
            return sentence
    text = re.sub(r'"[^"]*"', '"w"', text) if text.startswith("[") else text
    text = re.sub(r" +\( ?\+-.*\)$", "", text)
    text = re.sub(r"0x[0-9a-f]+|\d[\d.,:]*( ?[kKMG]B?\b)?", "0", text)
    return re.sub(r" +|\.{4,}", " ", re.sub(r"[KMG]/sec", "/sec", text))


def missing(shown, printed):
    """The first shown line that was not printed where it should be; None: all were"""
    at, last = 0, None
    for line in shown:
        if line.strip() in ("", "...") or shape(line) == last:
            continue
        last = shape(line)
        while at < len(printed) and shape(printed[at]) != last:
            at += 1
        if at == len(printed):
            return line
        at += 1
    return None


# Prints the interpreter, and its library if it has one.
WHERE = """import os, sys, sysconfig
print(sys.executable)
print(os.path.join(*sysconfig.get_config_vars("LIBDIR", "LDLIBRARY")))"""


def python_of():
    """(the first python3 of PATH that has debug information, else this one; whether it has)"""
    for folder in os.environ["PATH"].split(":"):
        program = os.path.join(folder, "python3")
        if not os.access(program, os.X_OK):
            continue
        found = subprocess.run([program, "-c", WHERE], stdout=subprocess.PIPE, check=False, text=True).stdout.splitlines()
        binaries = [file for file in found if not file.endswith(".a") and os.path.exists(file)]
        if binaries and b".debug_info" in open(binaries[-1], "rb").read():
            return found[0], True
    return sys.executable, False


def run(command, environment, folder):
    with open(os.path.join(folder, "printed"), "w+b") as file:  # into a pipe `tally record` writes the recording
        result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                stdout=file, stderr=subprocess.STDOUT, timeout=300, check=False)
        file.seek(0)
        return result.returncode, file.read().decode("utf-8", "replace").splitlines()


def main():
    readme, tally, folder = sys.argv[1:]
    os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
    python, lines = python_of()
    os.symlink(os.path.abspath(tally), os.path.join(folder, "bin", "tally"))
    os.symlink(python, os.path.join(folder, "bin", "python3"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TALLY")}
    environment.update(PATH=os.path.join(folder, "bin") + ":" + environment["PATH"], LC_ALL="C", HOME=folder, COLUMNS="100",
                       LINES_OF_PYTHON="1" if lines else "")
    for number, (command, shown) in enumerate(commands_of(readme), 1):
        real = command.replace("MODULE...", MODULES).replace("w.py", WORK)
        for words, before in BEFORE.items():
            if command.startswith(words):
                run(before, environment, folder)
        for words, (check, reason) in NEEDS.items():
            if command.startswith(words) and run(check, environment, folder)[0]:
                verdict, why, printed = "skipped", reason, []
                break
        else:
            if command.startswith("tally doctor") and os.getuid() == 0:
                real = ORDINARY_USER + real
            printed = run(real, environment, folder)[1]
            line = missing(shown, printed)
            verdict, why = ("same", "") if line is None else ("other", f"{number} has no line as: {line}\n\t{shape(line)}")
        print(f"{verdict}: {command}" + (why and "\n\t" + why), flush=True)
        with open(os.path.join(folder, str(number)), "w", encoding="utf-8") as file:
            print(*printed, sep="\n", file=file)


main()
