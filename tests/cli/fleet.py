#!/usr/bin/env python3
"""Makes a recording of another host or hour out of a real one: shifted in time, of some of its samples, with more of some functions.

    fleet.py BASE OUT --seed N [--shift SECONDS] [--keep SHARE] [--more FACTOR IP ...]

BASE: a perf.data file that is not a stream.  Samples are kept by chance (--keep), and get up to 0.2 ms of another time; those at
the addresses (hex) become FACTOR times as many.  OUT's time of modification is moved, too: it is the recording's end where that has
no clock.
"""

import argparse
import os
import random
import struct

SAMPLE = 9
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM = (1 << bit for bit in range(10))
IDENTIFIER = 1 << 16
SAMPLE_ID_ALL = 1 << 18


def main():
    options = argparse.ArgumentParser()
    options.add_argument("base")
    options.add_argument("out")
    options.add_argument("--seed", type=int, required=True)
    options.add_argument("--shift", type=int, default=0)
    options.add_argument("--keep", type=float, default=0.9)
    options.add_argument("--more", nargs="+", default=[])
    given = options.parse_args()
    write(open(given.base, "rb").read(), given.out, given, os.stat(given.base).st_mtime)


def write(data, out, given, modified):
    chance = random.Random(given.seed).random
    factor = float(given.more[0]) if given.more else 1
    places = {int(word, 16) for word in given.more[1:]}
    attr_size, attrs, attrs_size, start, size = struct.unpack_from("<QQQQQ", data, 16)
    kind, flags = struct.unpack_from("<Q", data, attrs + 24)[0], struct.unpack_from("<Q", data, attrs + 40)[0]
    ip_at = 16 if kind & IDENTIFIER else 8
    time_at = 8 + 8 * sum(bool(kind & bit) for bit in (IDENTIFIER, IP, TID))
    time_back = 8 * sum(bool(kind & bit) for bit in (TIME, ID, STREAM, CPU, IDENTIFIER))
    made, at, end = [], start, start + size
    shift = given.shift * 1_000_000_000
    while at < end:
        form, _, length = struct.unpack_from("<IHH", data, at)
        record = bytearray(data[at:at + length])
        at += length
        if form == SAMPLE:
            times = int(given.keep + chance())
            if places and struct.unpack_from("<Q", record, ip_at)[0] in places:
                times = int(factor * given.keep + chance())
            if times:
                when = struct.unpack_from("<Q", record, time_at)[0] + shift + int(chance() * 200_000)
                for extra in range(times):
                    struct.pack_into("<Q", record, time_at, when + extra)
                    made.append(bytes(record))
            continue
        if form < 64 and flags & SAMPLE_ID_ALL and kind & TIME:
            struct.pack_into("<Q", record, length - time_back, struct.unpack_from("<Q", record, length - time_back)[0] + shift)
        made.append(bytes(record))
    records = b"".join(made)
    head = bytearray(data[:start])
    struct.pack_into("<Q", head, 48, len(records))
    tail = bytearray(data[end:])
    bits = sum(bin(byte).count("1") for byte in data[72:104])
    for number in range(bits):  # where the features are
        place = struct.unpack_from("<Q", tail, 16 * number)[0]
        struct.pack_into("<Q", tail, 16 * number, place + len(records) - size if place >= end else place)
    with open(out, "wb") as file:
        file.write(head + records + tail)
    os.utime(out, (modified + given.shift, modified + given.shift))


if __name__ == "__main__":
    main()
