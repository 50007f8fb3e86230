#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally info: what it counts is what perf counts, --header is perf's text, JSON is JSON.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	perf record -q -F 999 -e cpu-clock -e page-faults -g -k mono -o plain.data -- ls / >/dev/null 2>&1 || rm -f plain.data
	perf record -q -e '{cpu-clock,task-clock}' -z --call-graph dwarf -o packed.data -- ls / >/dev/null 2>&1 || rm -f packed.data
	perf record -q -e sched:sched_switch -e cpu-clock -a -o trace.data -- true >/dev/null 2>&1 || rm -f trace.data
	perf record -q -e cpu-clock -o quotes.data -- sh -c "echo 'a b' \"c\"
		true" >/dev/null 2>&1 || rm -f quotes.data
	perf record -q -F 999 -e cpu-clock -o - -- true >stream.data 2>/dev/null || rm -f stream.data
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

need() { # file
	[ -s "$1" ] || skip "perf cannot record this here"
}

@test "a file that is not there: one line, exit 1" {
	run --separate-stderr "$TALLY" info no-such.data
	[ "$status" = 1 ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ "$stderr" == "tally info: "*"no-such.data"* ]]
}

@test "-I without --header, --json with it: exit 2" {
	run "$TALLY" info -I no-such.data
	[ "$status" = 2 ]
	run "$TALLY" info --header --json no-such.data
	[ "$status" = 2 ]
}

@test "--header is the text of perf script --header-only, -I with its -I" {
	need plain.data
	for file in plain packed trace quotes; do
		[ -s $file.data ] || continue
		for full in "" -I; do
			# shellcheck disable=SC2086 # none is none
			perf script --header-only $full -i $file.data >theirs 2>/dev/null </dev/null
			# shellcheck disable=SC2086
			"$TALLY" info --header $full -i $file.data >ours
			cmp theirs ours
		done
	done
}

@test "--header of a stream is what perf script --header prints before the samples" {
	need stream.data
	perf script --header -I -i stream.data 2>/dev/null </dev/null | grep '^#' >theirs
	"$TALLY" info --header -I -i stream.data >ours
	cmp theirs ours
}

@test "records by type are as many as perf report --stats counts" {
	need plain.data
	"$TALLY" info --json -i plain.data >out.json
	perf report --stats -i plain.data >stats 2>/dev/null </dev/null
	python3 - <<'END'
import json, re
found = json.load(open("out.json"))
assert found["version"] == 2
ours = {row["name"]: row["count"] for row in found["records"]["types"]}
theirs = {}
for line in open("stats"):  # up to the first event's own numbers
    match = re.match(r"\s+(\S+) events:\s+(\d+)", line)
    if match and match[1] != "TOTAL":
        theirs.setdefault(match[1], int(match[2]))
for name, count in theirs.items():
    assert ours.get(name) == count, (name, count, ours)
assert sum(ours.values()) == found["records"]["count"]
assert sum(row["bytes"] for row in found["records"]["types"]) == found["records"]["bytes"] == found["file"]["data_size"]
assert sum(row["count"] for row in found["samples"]) == ours["SAMPLE"]
END
}

@test "the machine and the command in JSON are this machine and that command" {
	need_kernel
	need plain.data
	"$TALLY" info --json --header-only -i plain.data >out.json
	python3 - <<'END'
import json, os
found = json.load(open("out.json"))
uname = os.uname()
assert found["machine"]["hostname"] == uname.nodename
assert found["machine"]["os_release"] == uname.release
assert found["machine"]["arch"] == uname.machine
assert found["machine"]["cpus_online"] == os.sysconf("SC_NPROCESSORS_ONLN")
assert found["recorder"]["command"][-2:] == ["ls", "/"]
assert found["time"]["clock"] == "monotonic"
assert found["file"]["size"] == os.stat("plain.data").st_size
assert "HOSTNAME" in found["file"]["features"]
assert [event["name"] for event in found["events"]] == ["cpu-clock", "page-faults"]
assert "records" not in found
END
}

@test "in words: the file, the command, events and what is in it" {
	need_kernel
	need plain.data
	run "$TALLY" info plain.data
	[ "$status" = 0 ]
	[[ "$output" == *"plain.data: "*"perf.data file, version 2"* ]]
	[[ "$output" == *"Command "*"perf record"*"ls /"* ]]
	[[ "$output" == *"cpu-clock: 999 samples a second; call chains by frame pointers"* ]]
	[[ "$output" == *"page-faults: "* ]]
	[[ "$output" == *"SAMPLE "* ]]
}

@test "compressed records are shown with their sizes" {
	need packed.data
	"$TALLY" info --json -i packed.data >out.json || skip "built without libzstd"
	python3 - <<'END'
import json
found = json.load(open("out.json"))
assert found["file"]["compression"]["type"] == 1
assert found["compressed"]["records"] > 0
assert found["compressed"]["bytes_out"] > found["compressed"]["bytes_in"] > 0
END
}

@test "a stream from standard input" {
	need stream.data
	run bash -c "cat stream.data | '$TALLY' info"
	[ "$status" = 0 ]
	[[ "$output" == *"stream of perf record -o -"* ]]
}

@test "a cut file: what is there is shown, with the damage" {
	need plain.data
	# In the middle of the records: what stands behind them, the machine, is gone.
	python3 - <<'END'
import struct
bytes = open("plain.data", "rb").read()
at, size = struct.unpack("<QQ", bytes[40:56])
open("cut.data", "wb").write(bytes[:at + size * 3 // 4])
END
	run -0 --separate-stderr "$TALLY" info cut.data
	[[ "$output" == *"Damage "* ]]
	[[ "$output" == *"cpu-clock"* ]]
	[[ "$output" != *"Host "* ]]
	[ -n "$stderr" ]
}

@test "text of a file cannot act on a terminal" {
	need quotes.data
	command -v script >/dev/null ||
		skip "script(1) is not installed: there is no terminal; tests/unit/base escapes the same bytes"
	perf record -q -e cpu-clock -o evil.data -- sh -c $'true \e[2J\x07' 2>/dev/null
	for how in "info --no-pager" "info --header"; do
		script -qec "TALLY_PAGER= $TALLY ${how/ --no-pager/} evil.data" /dev/null </dev/null >out
		grep -q 'x1b\[2J' out
		run -1 grep -q $'\e\\[2J' out
	done
}
