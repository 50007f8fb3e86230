"""Writes pages of made recordings, by doc/PAGE-DATA.md: columns to a container, and all of it to one HTML file."""

import base64
import hashlib
import itertools
import json
import os
import re
import struct
import zlib

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NONE = 0xFFFFFFFF
TYPES = {
    "name": "u32", "path": "u32", "build_id": "u32", "kind": "u8", "image": "u32", "file": "u32", "line": "u32",
    "parent": "u32", "function": "u32", "inlined": "u8", "program": "u8", "hidden": "u8", "pid": "u32", "tid": "u32", "comm": "u32", "recording": "u16",
    "first": "f64", "last": "f64", "unit": "u32", "time": "f64", "thread": "u32", "cpu": "u16", "event": "u8", "node": "u32",
    "weight": "f64", "count": "u32", "start": "f64", "end": "f64", "preempted": "u8", "number": "u32", "self": "f64",
    "total": "f64", "offset": "u32", "code": "u32", "text": "u32",
}
STRINGS = {"image.name", "image.path", "image.build_id", "function.name", "function.file", "thread.comm", "event.name", "event.unit",
           "marker.name", "marker.text", "line.file", "source.file", "source.text", "code.text", "code.file"}
RUNS = {"sample.time", "sample.thread", "sample.cpu", "sample.event"}
DELTA = {"time", "start", "end", "first", "last", "parent", "number"}


def leb(values):
    out = bytearray()
    for value in values:
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return bytes(out)


def zigzag(values):
    last = 0
    for value in values:
        step, last = value - last, value
        yield step * 2 if step >= 0 else -step * 2 - 1


def runs(values):
    """Differences, each with how many rows have the value."""
    last = 0
    for value, rows in itertools.groupby(values):
        yield from zigzag([value - last])
        yield len(list(rows))
        last = value


class Recording:
    """Tables of rows; a string is given as itself and numbered here."""

    def __init__(self, summary):
        self.summary, self.strings, self.known, self.tables = summary, [""], {"": 0}, {}

    def string(self, text):
        if text not in self.known:
            self.known[text] = len(self.strings)
            self.strings.append(text)
        return self.known[text]

    def add(self, table, /, **row):
        """Adds a row; its number."""
        columns = self.tables.setdefault(table, {name: [] for name in row})
        for name, value in row.items():
            columns[name].append(self.string(value) if f"{table}.{name}" in STRINGS else value)
        return len(next(iter(columns.values()))) - 1

    def is_product(self):
        """Whether all samples' weights are their counts, times one number."""
        rows = self.tables["sample"]
        return all(weight * rows["count"][0] == count * rows["weight"][0] and weight % count == 0
                   for weight, count in zip(rows["weight"], rows["count"]))

    def container(self, coding="best"):
        index, data, place = {}, [], 0
        columns = {"string.text": ("text", self.strings)}
        for table, rows in self.tables.items():
            for name, values in rows.items():
                columns[f"{table}.{name}"] = (TYPES[name], values)
        for name, (kind, values) in columns.items():
            if not values:
                continue
            times = {}
            if kind == "text":
                how, raw = "text", b"".join(text.encode("utf-8", "surrogatepass") + b"\0" for text in values)
            elif coding == "raw":
                letter = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}[kind]
                how, raw = "raw", struct.pack(f"<{len(values)}{letter}", *values)
            elif name == "sample.weight" and self.is_product():
                how, raw, times = "constant", leb([values[0] // columns["sample.count"][1][0]]), {"times": "sample.count"}
            elif all(value == values[0] for value in values):
                how, raw = "constant", leb(values[:1])
            elif name in RUNS:
                how, raw = "runs", leb(runs(values))
            elif name.split(".")[1] in DELTA:
                how, raw = "delta", leb(zigzag(values))
            else:
                how, raw = "varint", leb(values)
            packed = zlib.compress(raw, 6)
            index[name] = {"type": kind, "count": len(values), "coding": how, "offset": place, "size": len(packed), **times}
            data.append(packed)
            place += len(packed)
        head = json.dumps({"columns": index}).encode()
        return struct.pack("<I", len(head)) + head + b"".join(data)


def parts():
    """The page's script and style, joined in the order of web/FILES as tools/embed-page does it."""
    script, style = [], []
    with open(os.path.join(TOP, "web", "FILES"), encoding="utf-8") as files:
        for line in files:
            name = line.split("#")[0].strip()
            if name:
                with open(os.path.join(TOP, "web", name), encoding="utf-8") as file:
                    (style if name.endswith(".css") else script).append(file.read().rstrip("\n") + "\n")
    return "".join(script), "".join(style)


def page(recording, coding="best"):
    """The whole file."""
    script, style = parts()
    digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    summary = json.dumps(recording.summary, ensure_ascii=False)
    for one in "<>&":
        summary = summary.replace(one, f"\\u{ord(one):04x}")
    policy = f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    put = {
        "policy": f'<meta http-equiv="Content-Security-Policy" content="{policy}">', "style": f"<style>{style}</style>",
        "data": f'<script type="application/json" id="summary">{summary}</script>\n'
                f'<script type="text/plain" id="data">{base64.b64encode(recording.container(coding)).decode()}</script>',
        "script": f"<script>{script}</script>",
    }
    with open(os.path.join(TOP, "web", "index.html"), encoding="utf-8") as file:
        return re.sub("<!-- (policy|style|data|script) -->", lambda mark: put[mark[1]], file.read())
