#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally evlist: its options, what it says of bad files, and that it is what perf says.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	perf record -q -e '{cpu-clock,page-faults}' -e cpu-clock:u -c 100000 -o group.data -- true 2>/dev/null || rm -f group.data
	perf record -q -F 99 -e cpu-clock -g -o plain.data -- true 2>/dev/null || rm -f plain.data
	perf record -q -e bpf-output/no-inherit=1/ -o bpf.data -- true 2>/dev/null || rm -f bpf.data
	perf record -q -e sched:sched_switch -a -o trace.data -- true 2>/dev/null || rm -f trace.data
	perf record -q -F 99 -e cpu-clock -o - -- true >stream.data 2>/dev/null || rm -f stream.data
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

need() { # file
	[ -s "$1" ] || skip "perf cannot record this here"
}

same_as_perf() { # options
	perf evlist "$@" >theirs 2>/dev/null </dev/null
	"$TALLY" evlist "$@" >ours </dev/null
	cmp theirs ours
}

@test "a file that is not there: one line, exit 1" {
	run --separate-stderr "$TALLY" evlist -i no-such.data
	[ "$status" = 1 ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ "$stderr" == "tally evlist: "*"no-such.data"* ]]
}

@test "--group excludes -v and -F: exit 2" {
	for other in -v -F; do
		run --separate-stderr "$TALLY" evlist -g "$other" -i no-such.data
		[ "$status" = 2 ]
		[[ "$stderr" == *"-g and $other exclude each other"* ]]
	done
}

@test "the text is perf's" {
	need plain.data
	for file in plain group bpf trace; do
		[ -s $file.data ] || continue
		for how in "" -v -F -g --trace-fields; do
			# shellcheck disable=SC2086 # none is none
			same_as_perf $how -i $file.data
		done
	done
}

@test "groups stand in braces" {
	need_kernel
	need group.data
	run "$TALLY" evlist -g group.data
	[ "$status" = 0 ]
	[ "${lines[0]}" = "{cpu-clock,page-faults}" ]
	[ "${lines[1]}" = "cpu-clock:u" ]
}

@test "a stream's events, from a file and from standard input" {
	need_kernel
	need stream.data
	run "$TALLY" evlist -F -i stream.data
	[ "$status" = 0 ]
	[ "$output" = "cpu-clock: sample_freq=99" ]
	run bash -c "cat stream.data | '$TALLY' evlist -F"
	[ "$status" = 0 ]
	[ "$output" = "cpu-clock: sample_freq=99" ]
}

@test "tracepoints are listed with their fields" {
	need trace.data
	run "$TALLY" evlist --trace-fields -i trace.data
	[ "$status" = 0 ]
	[[ "${lines[0]}" == "sched:sched_switch: trace_fields: prev_comm,prev_pid,"*",next_pid,next_prio" ]]
}

@test "--json is JSON, with names, rates and chains" {
	need_kernel
	need plain.data
	"$TALLY" evlist --json -i plain.data >out.json
	python3 - <<'END'
import json
found = json.load(open("out.json"))
assert found["version"] == 1
event = found["events"][0]
assert event["name"] == "cpu-clock" and event["type"] == "SOFTWARE", event
assert event["frequency"] == 99 and event["callchain"] == "fp"
assert "CALLCHAIN" in event["attr"]["sample_type"].split("|")
assert event["attr"]["sample_period"] == 99 and event["leader"] == 0
assert event["ids"] and all(isinstance(number, int) for number in event["ids"])
END
}

@test "the records of a file are not read" {
	need_kernel
	need plain.data
	# All of the data overwritten: the header is behind and before them.
	cp plain.data broken.data
	python3 - <<'END'
import struct
with open("broken.data", "r+b") as file:
    file.seek(40)
    at, size = struct.unpack("<QQ", file.read(16))
    file.seek(at)
    file.write(b"\xff" * size)
END
	run --separate-stderr "$TALLY" evlist -i broken.data
	[ "$status" = 0 ]
	[ "$output" = "cpu-clock" ]
	[ -z "$stderr" ]
}
