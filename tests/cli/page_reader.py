"""Reads a page of `tally report --html` and compares its sums with a report's JSON (doc/PAGE-DATA.md).

page_reader.py summary PAGE            the summary as JSON
page_reader.py column PAGE NAME...     columns, a line each
page_reader.py functions PAGE [FROM TO]  "EVENT IMAGE FUNCTION SELF TOTAL SAMPLES" of samples within these times (s)
page_reader.py agree PAGE REPORT [FROM TO]  fails unless the sums are those of REPORT, made with
                                       report --json -s dso,sym
page_reader.py run PAGE [ARGUMENT...]  Python of standard input, with `page`, `arguments` and the names here; -: no page
page_reader.py check PAGE              fails unless the tables are consistent, and nothing in the page is markup
"""

import base64
import hashlib
import html.parser
import json
import re
import struct
import sys
import zlib


def element(text, kind, name):
    match = re.search(rf'<script type="{kind}" id="{name}">(.*?)</script>', text, re.S)
    assert match, f"no element '{name}'"
    return match[1]


def lebs(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    assert not shift, "a number is cut"


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            self.text = file.read()
        self.summary = json.loads(element(self.text, "application/json", "summary"))
        data = base64.b64decode(element(self.text, "text/plain", "data"))
        size = struct.unpack("<I", data[:4])[0]
        self.index = json.loads(data[4:4 + size])["columns"]
        self.data = data[4 + size:]

    def column(self, name):
        facts = self.index.get(name)
        if not facts:
            return []
        plain = zlib.decompress(self.data[facts["offset"]:facts["offset"] + facts["size"]])
        if facts["coding"] == "text":
            values = plain.decode(errors="replace").split("\0")
            assert not values.pop(), f"{name}: no NUL at the end"
        else:
            values = list(lebs(plain))
            if facts["coding"] == "constant":
                values *= facts["count"]
            runs = [1] * len(values)
            if facts["coding"] == "runs":
                values, runs = values[::2], values[1::2]
            if facts["coding"] in ("delta", "runs"):
                before, deltas = 0, values
                values = []
                for delta, run in zip(deltas, runs):
                    before += -(delta + 1) // 2 if delta % 2 else delta // 2
                    values += [before] * run
        if "times" in facts:
            values = [value * factor for value, factor in zip(values, self.column(facts["times"]))]
        assert len(values) == facts["count"], f"{name}: {len(values)} values, {facts['count']} expected"
        return values

    def table(self, name, *columns):
        return list(zip(*(self.column(f"{name}.{column}") for column in columns)))

    def functions(self, times=None):
        """(event, image, function) -> [self, total, samples]"""
        texts = self.column("string.text")
        images = self.column("image.name")
        names = [(texts[images[image]], texts[name] + " (inlined)" * inlined)
                 for name, image, inlined in self.table("function", "name", "image", "inlined")]
        nodes = self.table("node", "parent", "function")
        events = [texts[name] for name in self.column("event.name")]
        own = {}
        unit, clock = self.summary["time_unit"], round(self.summary["clock"] * 1e9)
        for time, event, node, weight, count in self.table("sample", "time", "event", "node", "weight", "count"):
            if times and not times[0] <= clock + time * unit <= times[1]:
                continue
            sums = own.setdefault((event, node), [0, 0])
            sums[0] += weight
            sums[1] += count
        sums = {}
        for (event, node), (weight, count) in own.items():
            met, leaf = set(), True
            while node:
                parent, function = nodes[node]
                assert parent < node, "a node comes before its parent"
                key = (events[event],) + names[function]
                row = sums.setdefault(key, [0, 0, 0])
                if leaf:
                    row[0] += weight
                    row[2] += count
                # Several functions of a binary may have one name, which is one key here: each counts once.
                if key + (function,) not in met:
                    row[1] += weight
                met.add(key + (function,))
                node, leaf = parent, False
        return sums


def reported(path):
    """The same of a report.  Totals are shares with four decimals there: each is given as (total, how far it may be off),
    or None where there are no children."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    sums = {}
    for event in report["events"]:
        for row in event["rows"]:
            key = (event["event"], row["dso"], re.sub(r"^\[.\] ", "", row["symbol"]))
            made = re.match(r"\[JIT\]|perf-.*\.map$", row["dso"]) and re.match("0x[0-9a-f]+$", key[2])
            if made:  # the page has one function of them, and reports no total of it
                key = (*key[:2], "[unknown]")
            known = sums.setdefault(key, [0, (0, 0), 0])
            known[0] += row["period"]
            known[2] += row["sample"]
            share, whole = row.get("overhead_children"), event["period"]
            known[1] = (known[1][0] + share * whole / 100, known[1][1] + 0.000051 / 100 * whole) if share is not None and not made else None
    return sums


def agree(page, report, times, named=False):
    """`named`: the report has no rows of callers without a symbol, which the page's stacks have."""
    page, report = page.functions(times), reported(report)
    if named:
        page = {key: sums for key, sums in page.items() if sums[2] or key in report}
    assert report, "the report is empty"
    assert page.keys() == report.keys(), f"functions differ: {sorted(page.keys() ^ report.keys())[:10]}"
    for key, (own, total, samples) in report.items():
        mine = page[key]
        assert (mine[0], mine[2]) == (own, samples), f"{key}: self {mine[0]} ({mine[2]}), reported {own} ({samples})"
        assert total is None or abs(mine[1] - total[0]) <= total[1], f"{key}: total {mine[1]}, reported {total[0]}"
    print(f"{len(report)} functions agree")


class Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts, self.policy, self.inside = [], None, None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert not any(name.startswith("on") for name in attrs), f"a handler in <{tag}>"
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        self.inside = (tag, attrs.get("type")) if tag in ("script", "style") else None
        if self.inside:
            self.scripts.append([*self.inside, ""])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1][2] += data


def check(page):
    elements = Elements()
    elements.feed(page.text)
    found = sorted((tag, kind or "") for tag, kind, _ in elements.scripts)
    assert found == [("script", ""), ("script", "application/json"), ("script", "text/plain"), ("style", "")], found
    for tag, kind, text in elements.scripts:
        if not kind:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in elements.policy, f"the policy does not allow the page's own {tag}"
    assert elements.policy.startswith("default-src 'none';")
    for word in "unsafe", "http:", "https:", "*":
        assert word not in elements.policy, elements.policy
    counts = {}
    for name, facts in page.index.items():
        counts.setdefault(name.split(".")[0], set()).add(facts["count"])
    assert all(len(count) == 1 for count in counts.values()), f"columns of one table differ: {counts}"
    rows = {name: count.pop() for name, count in counts.items()}
    none = 0xffffffff
    for column, table in (("function.name", "string"), ("function.image", "image"), ("image.name", "string"),
                          ("node.function", "function"), ("thread.comm", "string"), ("event.name", "string"),
                          ("sample.thread", "thread"), ("sample.event", "event"), ("sample.node", "node"),
                          ("run.thread", "thread"), ("marker.thread", "thread"), ("marker.name", "string"),
                          ("line.function", "function"), ("line.file", "string"), ("source.file", "string"),
                          ("source.text", "string"), ("code.function", "function"), ("code_sample.code", "code")):
        for value in page.column(column):
            assert value == none or value < rows[table], f"{column}: {value} is not a row of {table}"
    times = page.column("sample.time")
    assert times == sorted(times), "samples are not in the order of time"
    assert all(time % page.summary["time_step"] == times[0] % page.summary["time_step"] for time in times)
    assert page.summary["totals"] == {"nodes": rows["node"], "samples": rows.get("sample", 0)}
    print("consistent:", " ".join(f"{name} {count}" for name, count in sorted(rows.items())))


def main(command, path, *rest):
    page = Page(path) if path != "-" else None
    if command == "run":
        exec(compile(sys.stdin.read(), "standard input", "exec"), {**globals(), "page": page, "arguments": rest})  # pylint: disable=exec-used
    elif command == "summary":
        print(json.dumps(page.summary, ensure_ascii=False))
    elif command == "column":
        for name in rest:
            print(*page.column(name), sep="\n")
    elif command == "functions":
        for key, sums in sorted(page.functions([int(float(time) * 1e9) for time in rest] or None).items()):
            print(*key, *sums)
    elif command == "agree":
        times = [round(float(time) * 1e9) for time in rest[1:]] or None
        agree(page, rest[0], times)
    elif command == "agree-named":
        agree(page, rest[0], None, True)
    elif command == "check":
        check(page)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
