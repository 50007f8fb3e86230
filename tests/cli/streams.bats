#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally record -o - and -z: that perf and Tally read the same from them as from a plain file.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$TALLY" record -q -e cpu-clock -o probe.data -- true 2>/dev/null ||
		skip "events cannot be opened here"
}

need_perf() {
	command -v perf >/dev/null ||
		skip "perf is not installed: streams are not read by it; the other tests read them with tally"
}

need_zstd() {
	"$TALLY" record -q -z -e cpu-clock -o probe.data -- true 2>/dev/null ||
		skip "built without libzstd"
}

work='i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; echo printed'
fields=comm,tid,cpu,time,event,ip,period

@test "the command's output stays out of a stream, and the sum is printed" {
	"$TALLY" record -e cpu-clock -o - -- sh -c "$work" >stream.data 2>said
	grep -q '^printed$' said
	grep -q 'samples in standard output' said
	[ "$(head -c 8 stream.data)" = PERFILE2 ]
}

@test "perf reads a stream, from a pipe and as a file, without a warning, as we do" {
	need_kernel
	need_perf
	for options in "" -g -z "-g -z3"; do
		case $options in *z*) need_zstd ;; esac
		# shellcheck disable=SC2086
		"$TALLY" record -q -e cpu-clock -e page-faults $options -o - -- \
			taskset -c 0 sh -c "$work" >stream.data 2>/dev/null
		perf script -F $fields -i stream.data >file.txt 2>errors
		[ ! -s errors ]
		perf script -F $fields -i - <stream.data >pipe.txt 2>errors
		[ ! -s errors ]
		[ -s file.txt ]
		cmp file.txt pipe.txt
		# Of chains perf prints other fields for streams than for files.
		"$TALLY" script -F $fields -G -i - <stream.data >ours.txt
		perf script -F $fields -G -i stream.data 2>/dev/null | cmp - ours.txt
		perf report --stdio -i - <stream.data >report.txt 2>errors
		[ ! -s errors ]
		grep -q "event 'cpu-clock'" report.txt
	done
}

@test "tracepoints carry their formats through a stream" {
	need_perf
	[ -r /sys/kernel/tracing/events/header_page ] || skip "tracefs is not readable"
	"$TALLY" record -q -e sched:sched_process_exec -o - -- sh -c true >stream.data 2>/dev/null ||
		skip "tracepoints cannot be opened here"
	perf script -i stream.data >file.txt 2>errors
	[ ! -s errors ]
	grep -q 'sched:sched_process_exec: filename=' file.txt
	"$TALLY" script -i stream.data | cmp - file.txt
}

@test "a stream goes straight into report" {
	need_kernel
	"$TALLY" record -q -e cpu-clock -o - -- sh -c "$work" 2>/dev/null |
		"$TALLY" report -i - -g none >report.txt
	grep -q "of event 'cpu-clock'" report.txt
}

@test "a reader that goes away ends the recording with a line" {
	"$TALLY" record -q -e cpu-clock -F 10000 -o - -- sh -c 'while :; do :; done' 2>said |
		head -c 5000 >/dev/null
	[ "$(wc -l <said)" = 1 ]
	grep -q 'its reader ended' said
}

@test "compressed records: perf and we read the same, and the file is smaller" {
	need_perf
	need_zstd
	"$TALLY" record -q -e cpu-clock -F 5000 -g -z -o packed.data -- taskset -c 0 sh -c "$work" >/dev/null
	perf script -F $fields -i packed.data >theirs.txt 2>errors
	[ ! -s errors ]
	"$TALLY" script -F $fields -i packed.data | cmp - theirs.txt
	perf report --header-only -i packed.data | grep -q 'compressed : Zstd, level = 1, ratio = [1-9]'
	"$TALLY" repair packed.data plain.data 2>/dev/null
	perf script -F $fields -i plain.data 2>/dev/null | cmp - theirs.txt
	[ "$(stat -c %s packed.data)" -lt "$(stat -c %s plain.data)" ]
}

@test "levels are 1 to 22, and no word behind -z is one" {
	run "$TALLY" record -z23 -o out.data -- true
	[ "$status" = 2 ]
	run "$TALLY" record -z0 -o out.data -- true
	[ "$status" = 2 ]
	[ ! -e out.data ]
	need_zstd
	"$TALLY" record -q -e cpu-clock -z -o out.data true
	"$TALLY" record -q -e cpu-clock --compression-level=22 -o out.data true
}

@test "a killed recording with -z is readable up to its last checkpoint at least" {
	need_perf
	need_zstd
	"$TALLY" record -q -e cpu-clock -F 5000 -z -o killed.data -- sh -c \
		'i=0; while [ $i -lt 2000000 ]; do i=$((i + 1)); done' >/dev/null 2>&1 3>&- &
	recorder=$!
	for _ in $(seq 200); do
		[ -s killed.data ] && [ "$(stat -c %s killed.data)" -gt 30000 ] && break
		sleep 0.05
	done
	kill -9 $recorder
	wait $recorder || true
	# Before the first checkpoint, which comes after a second, perf reads nothing.
	perf script -F $fields -i killed.data >theirs.txt 2>/dev/null || true
	"$TALLY" script -F $fields -i killed.data >ours.txt 2>said
	grep -q 'not ended properly' said
	[ "$(wc -l <ours.txt)" -ge "$(wc -l <theirs.txt)" ]
	[ -s ours.txt ]
	"$TALLY" repair killed.data whole.data 2>/dev/null
	perf script -F $fields -i whole.data 2>/dev/null | cmp - ours.txt
}
