"""Small recordings for hour_records.bats: made(events=..., ...) gives a file's bytes."""

import random
import struct
import subprocess
import sys

IP, TID, TIME, PERIOD = 1, 2, 4, 0x100


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample(number, period=1000):
    return record(9, struct.pack("<QIIQQ", 0x400000 + number, 7, 7, 1000000 + number, period), 2)


def build_id(name):
    """As perf inject -b of perf 6.1 writes it: 36 bytes and the name, filled up to 64."""
    name = name.encode() + b"\0"
    return record(67, struct.pack("<i", 7) + bytes(range(20)) + bytes(4) + name.ljust(-(-len(name) // 64) * 64, b"\0"))


def mapping(name):
    """An MMAP2 record."""
    name = name.encode() + b"\0"
    body = struct.pack("<IIQQQIIQQII", 7, 7, 0x400000, 4096, 0, 0, 0, 0, 0, 5, 2)
    return record(10, body + name.ljust(-(-len(name) // 8) * 8, b"\0"), 2)


def compressed(whole):
    """Records in COMPRESSED ones, by the zstd command."""
    packed = subprocess.run(["zstd", "-q", "-c"], input=whole, stdout=subprocess.PIPE, check=True).stdout
    return [record(81, packed[at : at + 60000]) for at in range(0, len(packed), 60000)]


def made(records, feature=None, cut=0, attr_type=1, config=0):
    """A file of one cpu-clock event, or of another type and config; `feature`: a number, and its section's bytes; `cut`: bytes missing at the end."""
    attr = struct.pack("<IIQQQQQ", attr_type, 112, config, 1000, IP | TID | TIME | PERIOD, 0, 0).ljust(112, b"\0") + bytes(16)
    data = b"".join(records)
    at = 104 + len(attr)
    bitmap, tail = 0, b""
    if feature:
        bitmap = 1 << feature[0]
        tail = struct.pack("<QQ", at + len(data) + 16, len(feature[1])) + feature[1]
    head = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, len(attr), 104, len(attr), at, len(data), 0, 0)
    whole = head + struct.pack("<4Q", bitmap, 0, 0, 0) + attr + data + tail
    return whole[: len(whole) - cut]


def spoilt(count, size, seed):
    """As made(), with `size` bytes of the samples overwritten by random ones."""
    samples = [sample(i) for i in range(count)]
    whole = bytearray(made(samples))
    chance = random.Random(seed)
    at = chance.randrange(len(whole) - count * 40, len(whole) - size - 400)
    whole[at : at + size] = chance.randbytes(size)
    return bytes(whole)


if __name__ == "__main__":
    kind, path = sys.argv[1:3]
    some = [sample(i) for i in range(50)]
    timed = some + [sample(50, 1 << 50), sample(51, 18446463698227691520)] + some
    files = {
        "spoilt": lambda: spoilt(2000, 4500, int(sys.argv[3])),
        "period": lambda: made(some + [sample(50, 6771489758615117247)] + some),
        "trace-period": lambda: made(timed, attr_type=2),
        "clock-period": lambda: made(timed),
        "off-cpu-period": lambda: made(timed, attr_type=1, config=10),
        "build-ids": lambda: made([build_id("/bin/a"), build_id("/bin/" + "b" * 70)] + some + [build_id("/c")] + some),
        "odd": lambda: made(some + [record(4, bytes(101))] + some),
        "names": lambda: made(some + [mapping("/" + "x" * 60000), mapping("/" + "x" * 4000)] + some),
        "expands": lambda: made(compressed(sample(1) * 2000000)),
        "feature": lambda: made(some, feature=(8, b"\xff" * 4)),
        "cut": lambda: made([sample(i) for i in range(2000)], cut=40000),
    }
    with open(path, "wb") as file:
        file.write(files[kind]())
