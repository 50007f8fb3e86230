#!/usr/bin/env python3
"""Adds the names of a recording's files as recorders of phones keep them.

    recorded_symbols.py FROM TO file | file2 | hiperf

file and file2 are simpleperf's sections, the older one and the one of protocol buffers.  Lines on standard input:

    KIND PATH LEAST PLACE      of a file: its kind, the least address of its code in hex, and the place of that in hex, or "-"
    ADDRESS SIZE NAME          of a symbol of the file before, in hex; the name may have spaces"""

import struct
import sys

from sections import write_with

FILE, FILE2, HIPERF_SYMBOLS, HIPERF_TIME = 128, 132, 192, 194
KINDS = {"kernel": (0, 0), "module": (1, 1), "binary": (2, 3), "offsets": (3, 6), "addresses": (4, 10)}  # simpleperf's, hiperf's


def text(name):
    return name.encode() + b"\0"


def sized(name):
    return struct.pack("<I", len(text(name))) + text(name)


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def file(kind, path, least, place, symbols):
    body = text(path) + struct.pack("<IQI", KINDS[kind][0], least, len(symbols))
    body += b"".join(struct.pack("<QI", address, size) + text(name) for address, size, name in symbols)
    if kind == "offsets":
        body += struct.pack("<IQ", 1, 0x28)
    if place is not None and kind in ("binary", "module"):
        body += struct.pack("<Q", place)
    return struct.pack("<I", len(body)) + body


def file2(kind, path, least, place, symbols):
    body = field(1, path.encode()) + field(2, KINDS[kind][0]) + field(3, least)
    for address, size, name in symbols:
        body += field(4, field(1, address) + field(2, size) + field(3, name.encode()))
    if place is not None and kind in ("binary", "module"):
        body += field(6 if kind == "binary" else 7, field(1, place))
    return struct.pack("<I", len(body)) + body


def hiperf(kind, path, least, place, symbols):
    body = sized(path) + struct.pack("<IQQ", KINDS[kind][1], least, place or 0) + sized("")
    return body + struct.pack("<I", len(symbols)) + b"".join(
        struct.pack("<QI", address, size) + sized(name) for address, size, name in symbols)


def main():
    files = []
    for line in sys.stdin:
        words = line.split()
        if words[0] in KINDS:
            kind, path, least, place = words
            files.append((kind, path, int(least, 16), None if place == "-" else int(place, 16), []))
        else:
            address, size, name = line.strip().split(" ", 2)
            files[-1][4].append((int(address, 16), int(size, 16), name))
    with open(sys.argv[1], "rb") as from_:
        whole = from_.read()
    start, size = struct.unpack_from("<QQ", whole, 40)
    form = {"file": file, "file2": file2, "hiperf": hiperf}[sys.argv[3]]
    body = b"".join(form(*one) for one in files)
    if form is hiperf:
        sections = {HIPERF_SYMBOLS: struct.pack("<I", len(files)) + body, HIPERF_TIME: struct.pack("<I", 2) + b"1\0"}
    else:
        sections = {FILE if form is file else FILE2: body}
    write_with(sys.argv[2], whole, whole[start:start + size], sections)


main()
