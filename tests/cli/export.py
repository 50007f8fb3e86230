#!/usr/bin/env python3
"""Reads what `tally export` wrote, by code of its own, and prints or compares the sums of its functions.

    export.py sums FORMAT FILE                 {"function": [self, with what it calls]} as JSON, of all events
    export.py compare FORMAT FILE REPORT       REPORT: of `report --json -s symbol`, with one event; prints what differs in the
                                               hundred largest functions, and fails then
    export.py compare-all PREFIX REPORT        the same of PREFIX.FORMAT for each format that is there
    export.py values FORMAT FILE               what else the format says, a line each
"""

import csv
import gzip
import json
import os
import re
import sqlite3
import struct
import sys

# --- protocol buffers -------------------------------------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def fields(data):
    """Numbers and values of a message's fields: numbers, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            assert at + size <= len(data), "a field is longer than its message"
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {kind}")
        yield key >> 3, value


def message(data):
    """By field: the list of its values."""
    made = {}
    for number, value in fields(data):
        made.setdefault(number, []).append(value)
    return made


def numbers(values):
    """Of a repeated field of numbers, packed or not."""
    found = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            found.append(number)
    return found


def one(made, field, default=0):
    return made.get(field, [default])[-1]


# --- formats: each gives (stack innermost first, period) ----------------------------------------------------------------


def folded(data):
    for line in data.decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        yield stack.split(";")[:0:-1], int(count)


def pprof(data):
    profile = message(gzip.decompress(data))
    strings = [text.decode() for text in profile[6]]
    functions = {}
    for raw in profile.get(5, []):
        function = message(raw)
        functions[one(function, 1)] = strings[one(function, 2)]
    locations = {}
    for raw in profile.get(4, []):
        location = message(raw)
        locations[one(location, 1)] = [functions[one(message(line), 1)] for line in location.get(4, [])] or ["?"]
    for raw in profile.get(2, []):
        sample = message(raw)
        stack = [name for number in numbers(sample.get(1, [])) for name in locations[number]]
        yield stack, sum(numbers(sample[2])[1:])


def otlp(data):
    whole = message(data)
    tables = message(b"".join(whole[2]))
    strings = [text.decode() for text in tables[5]]
    functions = [strings[one(message(raw), 1)] for raw in tables[3]]
    locations = [[functions[one(message(line), 1)] for line in message(raw).get(3, [])] or ["?"] for raw in tables[2]]
    stacks = [numbers(message(raw).get(1, [])) for raw in tables[7]]
    assert not message(tables[1][0]) and not stacks[0] and strings[0] == "", "index 0 is the zero value"
    for resource in whole[1]:
        for scope in message(resource)[2]:
            for raw in message(scope).get(2, []):
                for sample in message(raw).get(2, []):
                    made = message(sample)
                    stack = [name for number in stacks[one(made, 1)] for name in locations[number]]
                    yield stack, sum(numbers(made.get(4, [])))


def perfetto(data):
    names, frames, stacks, last = {}, {}, {}, {}
    for number, raw in fields(data):
        assert number == 1
        packet = message(raw)
        sequence = one(packet, 10)
        for interned in packet.get(12, []):
            tables = message(interned)
            for entry in map(message, tables.get(5, [])):
                names[sequence, one(entry, 1)] = one(entry, 2, b"").decode(errors="replace")
            for entry in map(message, tables.get(6, [])):
                frames[sequence, one(entry, 1)] = names.get((sequence, one(entry, 2)), "?")
            for entry in map(message, tables.get(7, [])):
                stacks[sequence, one(entry, 1)] = [frames[sequence, frame] for frame in numbers(entry.get(2, []))]
        for sample in map(message, packet.get(66, [])):
            counter = sequence, one(sample, 1, None)
            count = one(sample, 6)
            yield stacks.get((sequence, one(sample, 4)), [])[::-1], count - last.get(counter, 0)
            last[counter] = count


def speedscope(data):
    made = json.loads(data)
    names = [frame["name"] for frame in made["shared"]["frames"]]
    for profile in made["profiles"]:
        assert profile["type"] == "sampled" and len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] == sum(profile["weights"])
        for stack, weight in zip(profile["samples"], profile["weights"]):
            yield [names[frame] for frame in reversed(stack)], weight


def chrome(data):
    """Sums of what slices hold; functions around them contain these in time."""
    made = json.loads(data)
    threads = {}
    for number, event in enumerate(made["traceEvents"]):
        if event["ph"] == "X":  # what ends first is first
            start, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
            threads.setdefault((event["pid"], event["tid"]), []).append((start, -length, -number, event))
        elif event["ph"] == "i":
            yield [event["args"].get("function", "?")], event["args"]["period"]
    for slices in threads.values():
        around = []
        for start, length, _, event in sorted(slices, key=lambda each: each[:3]):
            while around and around[-1][0] <= start:
                around.pop()
            around.append((start - length, event["name"]))
            if "args" in event:
                yield [name for _, name in reversed(around)], event["args"]["period"]


def firefox(data):
    made = json.loads(data)
    shared = made["shared"]
    for table in shared.values():
        for column in table.values() if isinstance(table, dict) else ():
            assert not isinstance(column, list) or len(column) == table["length"]
    strings, stacks = shared["stringArray"], shared["stackTable"]
    frames, functions = shared["frameTable"]["func"], shared["funcTable"]["name"]
    for thread in made["threads"]:
        samples = thread["samples"]
        scale = 1e6 if samples["weightType"] == "tracing-ms" else 1
        for stack, weight in zip(samples["stack"], samples["weight"]):
            names = []
            while stack is not None:
                names.append(strings[functions[frames[stacks["frame"][stack]]]])
                stack = stacks["prefix"][stack]
            yield names, round(weight * scale)


def comma_separated(data):
    rows = csv.DictReader(data.decode().splitlines())
    for row in rows:
        stack = row["stack"].split(";")[::-1] if row["stack"] else []
        symbol = row["symbol"].replace(";", ":")  # as in the stack, where semicolons separate
        if stack[:1] != [symbol] and symbol:
            stack.insert(0, symbol)
        yield stack or ["?"], int(row["period"])


def sqlite(path):
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    functions = dict(base.execute("SELECT f.id, coalesce(s.name, f.function, '?') FROM frames f "
                                  "LEFT JOIN symbols s ON s.id = f.symbol"))
    chains = {number: (caller, frame) for number, caller, frame in
              base.execute("SELECT id, caller, frame FROM callchains")}
    for frame, chain, period in base.execute("SELECT frame, callchain, period FROM samples"):
        stack = []
        while chain:
            chain, at = chains[chain]
            stack.append(functions[at])
        if frame and stack[:1] != [functions[frame]]:
            stack.insert(0, functions[frame])
        yield stack, period


def callgrind(data):
    """Functions' own costs and those of what they call, which are in the format as they are."""
    names, own, total, columns = {}, {}, {}, 0
    current = called = None
    for line in data.decode().splitlines():
        named = re.match(r"(c?)(fn|ob|fl|fi)=\((\d+)\)(?: (.*))?$", line)
        if named:
            key = named[2].replace("fi", "fl"), named[3]  # each kind has numbers of its own
            if named[4] is not None:
                names[key] = named[4]
            if named[2] == "fn" and named[1]:
                called = names[key]
            elif named[2] == "fn":
                current = names[key]
            else:
                assert key in names, line
        elif line.startswith("events: "):
            columns = len(line.split()) - 1
        elif line.startswith("calls="):
            pass
        elif re.match(r"\d+ \d+", line):
            cost = sum(int(word) for word in line.split()[2:])
            assert len(line.split()) == columns + 1
            if called is None:
                own[current] = own.get(current, 0) + cost
            else:
                total[current] = total.get(current, 0) + cost
            called = None
    return {name: [own.get(name, 0), own.get(name, 0) + total.get(name, 0)] for name in {**own, **total}}


def go_pprof(data):
    """The text of `go tool pprof -raw`, of a profile without source lines and with one event."""
    part, samples, names = "", [], {}

    def name(text):
        found = re.match(r"(.*?) :0(?::0)? s=0(?:\((.*)\))?$", text)  # a name that pprof shortens is behind it as it is
        return (found[2] or found[1]) if found else text

    for line in data.decode().splitlines():
        if re.match(r"(Samples|Locations|Mappings)(:)?$", line):
            part = line.rstrip(":")
        elif part == "Samples" and (found := re.match(r" *\d+ +(\d+): ([\d ]*)$", line)):
            samples.append((int(found[1]), found[2].split()))
        elif part == "Locations" and (found := re.match(r" *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)$", line)):
            names[found[1]] = [name(found[2])] if found[2] else ["?"]
        elif part == "Locations" and line.strip() and names:
            names[list(names)[-1]].append(name(line.strip()))
    for period, stack in samples:
        yield [name for number in stack for name in names[number]], period


def callgrind_annotate(data):
    """The text of `callgrind_annotate --threshold=100`, of a profile without source lines."""
    for line in data.decode().splitlines():
        if found := re.match(r" *[\d,]+ \( *[\d.]+%\) +([\d,]+) \( *[\d.]+%\)  \?\?\?:(.+?)(?: \[(?:[^][]|\[[^]]*\])*\])?$", line):
            yield [found[2]], int(found[1].replace(",", ""))


def rows(data):
    """What other readers made: a line of JSON for each stack, its names from the innermost one and its period."""
    for line in data.decode().splitlines():
        yield json.loads(line)


FORMATS = {"rows": rows, "folded": folded, "pprof": pprof, "otlp": otlp, "perfetto": perfetto, "speedscope": speedscope, "chrome": chrome,
           "firefox": firefox, "csv": comma_separated, "go-pprof": go_pprof, "callgrind-annotate": callgrind_annotate}


def sums(form, path):
    data = open(path, "rb").read()
    if form == "callgrind":
        return callgrind(data)
    if form == "sums":  # of export_readers.py
        return json.loads(data)
    made = {}
    for stack, period in sqlite(path) if form == "sqlite" else FORMATS[form](data):
        for number, name in enumerate(dict.fromkeys(stack)):
            entry = made.setdefault(name, [0, 0])
            entry[1] += period
            if not number:
                entry[0] += period
    return made


# --- comparing ----------------------------------------------------------------------------------------------------------


def tidied(name):
    """As folded stacks show it."""
    name = name.replace(";", ":")
    if not re.search(r"\.\(.*\)\.", name):
        name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
    return re.sub("[\"']", "", name)


def compare(form, path, report):
    """Rows without a symbol have no name that all formats share: their own sum is compared."""
    events = json.load(open(report))["events"]
    made = sums(form, path)
    wrong = []
    rows = [row for event in events for row in event["rows"] if not re.search(r"(^|\+)0x[0-9a-f]+$", row["symbol"])]
    chains = len(events) == 1 and any("overhead_children" in row for row in rows)
    known = {}
    for row in rows:
        name = tidied(row["symbol"]) if form == "folded" else row["symbol"]
        name = name.replace(";", ":") if form == "csv" else name
        entry = known.setdefault(name, [0, 0.0, 0.0])
        entry[0] += row["period"]
        entry[1] += row.get("overhead_children", 0)
        entry[2] = max(entry[2], row.get("overhead_children", 0))
    total = sum(event["period_passed"] for event in events)
    nameless = total - sum(own for own, _, _ in known.values())
    others = sum(value[0] for name, value in made.items() if name not in known)
    if nameless != others:
        wrong.append(f"without a name: {others}, in the report {nameless}")
    order = sorted(known, key=lambda name: (-known[name][0], -known[name][1]))[:100]
    for name in order:
        own, all_of_it = made.get(name, [0, 0])
        if own != known[name][0]:
            wrong.append(f"{name}: {own}, in the report {known[name][0]}")
        share = 100 * all_of_it / total if total else 0
        # Functions of one name may call each other: together they have less than the sum of their rows then.
        if chains and not form.startswith("callgrind") and not known[name][2] - 0.01 <= share <= known[name][1] + 0.01:
            wrong.append(f"{name}: {share:.4f} % with callees, in the report {known[name][1]} %")
    print("\n".join(wrong) if wrong else f"{len(order)} functions are equal, and {nameless} without a name")
    return 1 if wrong or not total else 0


def compare_all(prefix, report):
    """Each format in PREFIX.FORMAT."""
    result = 0
    for form in [*FORMATS, "callgrind", "sqlite"]:
        if os.path.exists(f"{prefix}.{form}"):
            print(form, end=": ", flush=True)
            result |= compare(form, f"{prefix}.{form}", report)
    return result


# --- what else there is -------------------------------------------------------------------------------------------------


def values(form, path):
    data = open(path, "rb").read()
    if form == "pprof":
        profile = message(gzip.decompress(data))
        strings = [text.decode() for text in profile[6]]
        for raw in profile[1]:
            print("type", strings[one(message(raw), 1)], strings[one(message(raw), 2)])
        for number in profile.get(13, []):
            for each in numbers([number]):
                print("comment", strings[each])
        for raw in profile.get(3, []):
            mapping = message(raw)
            print("mapping", strings[one(mapping, 5)], strings[one(mapping, 6)], hex(one(mapping, 2)))
        functions = {one(message(raw), 1): message(raw) for raw in profile.get(5, [])}
        for raw in profile.get(4, []):
            location = message(raw)
            lines = [message(line) for line in location.get(4, [])]
            print("location", hex(one(location, 3)), " <- ".join(
                f"{strings[one(functions[one(line, 1)], 2)]} {strings[one(functions[one(line, 1)], 4)]}:{one(line, 2)}"
                for line in lines))
        labels = set()
        for raw in profile.get(2, []):
            for label in map(message, message(raw).get(3, [])):
                value = strings[one(label, 2)] if 2 in label else one(label, 3)
                labels.add(f"label {strings[one(label, 1)]} {value}")
        print("\n".join(sorted(labels)))
    elif form == "firefox":
        made = json.loads(data)
        print("version", made["meta"]["preprocessedProfileVersion"])
        for thread in made["threads"]:
            print("thread", thread["pid"], thread["tid"], thread["name"], thread["samples"]["length"],
                  thread["markers"]["length"])
    elif form == "evented":
        for profile in json.loads(data)["profiles"]:
            stack, last = [], 0
            for event in profile["events"]:
                assert event["at"] >= last
                last = event["at"]
                if event["type"] == "O":
                    stack.append(event["frame"])
                else:
                    assert stack.pop() == event["frame"]
            assert not stack and last <= profile["endValue"] and profile["type"] == "evented"
            print("profile", profile["name"], len(profile["events"]))


if __name__ == "__main__":
    if sys.argv[1] == "sums":
        json.dump(sums(*sys.argv[2:4]), sys.stdout)
    elif sys.argv[1] == "compare-all":
        sys.exit(compare_all(*sys.argv[2:4]))
    elif sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:5]))
    else:
        values(*sys.argv[2:4])
