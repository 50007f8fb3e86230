#!/usr/bin/env python3
"""Makes samples of a recording those of a guest: of three, one of its kernel, one of its user space.

    guests.py RECORDING MADE
"""

import struct
import sys

SAMPLE, MODE, GUEST_KERNEL, GUEST_USER = 9, 7, 4, 5

data = bytearray(open(sys.argv[1], "rb").read())
at, size = struct.unpack_from("<QQ", data, 40)  # the header's data section
end, count = at + size, 0
while at < end:
    kind, misc, size = struct.unpack_from("<IHH", data, at)
    if kind == SAMPLE:
        if count % 3:
            mode = GUEST_KERNEL if count % 3 == 1 else GUEST_USER
            struct.pack_into("<H", data, at + 4, misc & ~MODE | mode)
        count += 1
    at += size
open(sys.argv[2], "wb").write(data)
