"""Packs and unpacks a table, again and again: the program that README's screens are of.

Usage: w.py [INDENTATION]
"""

import json
import sys
import zlib

indentation = int(sys.argv[1]) if len(sys.argv) > 1 else None
rows = [{"id": i, "name": f"item {i}", "price": i * 1.25, "tags": ["a", "b", str(i % 7)]} for i in range(20000)]
for _ in range(12):
    packed = zlib.compress(json.dumps(rows, indent=indentation).encode())
    rows = json.loads(zlib.decompress(packed))
