#!/usr/bin/env python3
"""Source files of a changed copy of the tree, in the programs of a build.

    rebuild.py compile BUILD TREE SOURCE OBJECT   compiles TREE/SOURCE as BUILD does its own, a new file as
                                                  another one of its folder
    rebuild.py link BUILD TARGET PROGRAM OBJECT...   links a target of BUILD, with the objects before its libraries
"""

import json
import os
import shlex
import subprocess
import sys


def compile_one(build, tree, source, target):
    with open(os.path.join(build, "compile_commands.json")) as file:
        rows = json.load(file)
    paths = {os.path.normpath(os.path.join(row["directory"], row["file"])): row for row in rows}
    row = next((row for path, row in paths.items() if path.endswith("/" + source)), None) or next(
        row for path, row in paths.items() if os.path.dirname(path).endswith("/" + os.path.dirname(source)))
    words = shlex.split(row["command"])
    for option in "-MQ", "-MF":
        if option in words:
            del words[words.index(option):words.index(option) + 2]
    words[words.index("-o") + 1] = os.path.abspath(target)
    replaced = {"-I../src": f"-I{os.path.abspath(tree)}/src", "-I../include": f"-I{os.path.abspath(tree)}/include",
                row["file"]: os.path.abspath(os.path.join(tree, source)), "-MD": None}
    words = [replaced.get(word, word) for word in words]
    subprocess.run([word for word in words if word], cwd=row["directory"], check=True)


def link(build, target, program, *objects):
    commands = subprocess.run(["ninja", "-t", "commands", target], cwd=build, check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    words = shlex.split(commands.splitlines()[-1])
    at = words.index("-o") + 1
    words[at:at + 1] = [os.path.abspath(program), *map(os.path.abspath, objects)]
    subprocess.run(words, cwd=build, check=True)


{"compile": compile_one, "link": link}[sys.argv[1]](*sys.argv[2:])
