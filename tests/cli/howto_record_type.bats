#!/usr/bin/env bats
# doc/HOWTO-add-record-type.md holds: a made-up record type is added by a stored patch to a copy of the
# sources, and everything that reads records knows it.  If the patch no longer applies, make it anew by
# following the HOWTO.  Only the file with the table is compiled; the rest is the build that is tested.

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	build=$(dirname "$TALLY")
	rebuild=$TALLY_SOURCE/tests/howto/rebuild.py
	mkdir tree
	cp -r "$TALLY_SOURCE/src" "$TALLY_SOURCE/include" tree
	record
	patch -s -p1 -d tree <"$TALLY_SOURCE/tests/howto/record_type.patch" >patched 2>&1 || return 0
	{
		if python3 "$rebuild" compile "$build" tree src/wire/field_rows.c field_rows.o; then
			python3 "$rebuild" link "$build" tally patched-tally field_rows.o
		fi
		if [ -x "$build/tests/unit-wire-round-trip" ]; then
			python3 "$rebuild" link "$build" tests/unit-wire-round-trip patched-round-trip field_rows.o
		fi
	} >built 2>&1 || true
}

# gadgets.data: forty records of the new type between samples; broken.data: with zeros over the
# tenth, and behind it only records of the new type.
record() {
	python3 - <<'END'
import struct

def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def gadget(serial):
    return record(60, 0, struct.pack("<QII8s", serial, 7, 8, b"spring") + struct.pack("<IIQ", 7, 8, 1000 + serial))

def sample(time):
    return record(9, 2, struct.pack("<QIIQQ", 0x401000, 7, 8, time, 1000))

def write(path, data):
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, 0x107, 0, 1 << 18)
    attr += bytes(128 - len(attr))
    with open(path, "wb") as file:
        file.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 144, 104, 144, 264, len(data), 0, 0) + bytes(32))
        file.write(attr + bytes(16) + bytes(16) + data)

plain = b"".join(gadget(i) for i in range(40))
write("gadgets.data", sample(900) + plain + sample(2000))
size = len(gadget(0))
write("broken.data", sample(900) + plain[:9 * size] + bytes(size) + plain[10 * size:])
END
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

need_build() {
	for tool in patch ninja python3; do
		command -v "$tool" || skip "$tool is not installed: nothing is compiled; the tests before read the patch"
	done
	cat patched built
	[ -x patched-tally ]
}

@test "14.3: a record type is one row and at most one more source file: the patch touches two files" {
	patch=$TALLY_SOURCE/tests/howto/record_type.patch
	[ "$(grep -c '^+++ ' "$patch")" -le 2 ]
	grep -q '^+++ b/src/wire/field_rows.c' "$patch"
	[ "$(grep -c '^-[^-]' "$patch")" = 0 ]
	# One row of the table of types, and no more than a screen's third in all.
	[ "$(grep -c '^+ *\[PERF_RECORD_GADGET\]' "$patch")" = 1 ]
	[ "$(grep -c '^+[^+]' "$patch")" -le 12 ]
}

@test "14.3: the patch applies to the sources of today" {
	command -v patch || skip "patch is not installed: the patch is only counted, by the test before"
	cat patched
	[ ! -s patched ]
	grep -q GADGET tree/src/wire/field_rows.c
}

@test "14.3: what is encoded of a new type decodes to the same, and swaps back" {
	need_build
	[ -x patched-round-trip ] || skip "the unit tests are not built"
	./patched-round-trip
}

@test "14.3: info counts a new type by its name" {
	need_build
	./patched-tally info --json -i gadgets.data >counts.json
	python3 - <<'END'
import json
rows = {row["name"]: row["count"] for row in json.load(open("counts.json"))["records"]["types"]}
assert rows["GADGET"] == 40 and rows["SAMPLE"] == 2, rows
END
	./patched-tally info -i gadgets.data | grep -q '  GADGET  *40 '
}

@test "14.3: script -D and --json show the fields of a new type" {
	need_build
	./patched-tally script -D -i gadgets.data >dump
	grep -A9 'PERF_RECORD_GADGET' dump | grep -q 'serial=39\|serial=0'
	[ "$(grep -c '^\.\.\. name="spring"' dump)" = 40 ]
	./patched-tally script --json -i gadgets.data >rows.json
	python3 - <<'END'
import json
found = [json.loads(line) for line in open("rows.json")]
rows = [row for row in found if row.get("type") == "GADGET"]
assert len(rows) == 40, len(rows)
assert rows[3]["fields"] == {"serial": 3, "pid": 7, "tid": 8, "name": "spring"}, rows[3]
assert rows[3]["sample_id"]["time"] == 1003, rows[3]
END
}

@test "14.3: records of a new type are found again behind damage" {
	need_build
	# Damage is said, and the exit is 1.
	[ "$(./patched-tally info --json -i broken.data 2>said >counts.json; echo $?)" = 1 ]
	grep -q 'damaged at 1 place' said
	python3 - <<'END'
import json
rows = {row["name"]: row["count"] for row in json.load(open("counts.json"))["records"]["types"]}
assert rows["GADGET"] == 39, rows
END
}
