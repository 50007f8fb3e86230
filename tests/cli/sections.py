"""Recordings with other feature sections than they had."""

import struct


def write_with(path, whole, data, sections):
    """Writes the recording `whole` with these records, and these sections: {number: bytes}."""
    start, _ = struct.unpack_from("<QQ", whole, 40)
    bits = sum(1 << feature for feature in sections)
    header = bytearray(whole[:start])
    struct.pack_into("<QQ", header, 40, start, len(data))
    struct.pack_into("<4Q", header, 72, *(bits >> 64 * i & (1 << 64) - 1 for i in range(4)))
    behind = start + len(data) + 16 * len(sections)
    places = b""
    for feature in sorted(sections):
        places += struct.pack("<QQ", behind, len(sections[feature]))
        behind += len(sections[feature])
    with open(path, "wb") as file:
        file.write(header + data + places + b"".join(sections[feature] for feature in sorted(sections)))
