#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally inject: a recording as a plain file or stream that perf reads, with build-ids added.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	"$TALLY" record -q -g -e cpu-clock -B -o run.data -- sh -c \
		'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' 2>said ||
		"$TALLY" record -q -g -e cpu-clock -o run.data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' 2>said ||
		cat said >why
	perf record -q -e raw_syscalls:sys_enter -o trace.data -- ls / >/dev/null 2>&1 || rm -f trace.data
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ ! -s why ] || skip "events cannot be recorded here: $(head -n 1 why)"
}

@test "a stream of it is what it is, for Tally and for perf" {
	"$TALLY" script -i run.data >wanted
	"$TALLY" inject -i run.data | "$TALLY" script >got
	cmp wanted got
	command -v perf >/dev/null || skip "perf is not installed: the stream was read by tally only"
	# perf's own text of the file: it names some entries of libc's PLT by other functions (COMPATIBILITY.md)
	perf script -i run.data >wanted 2>err
	[ -s wanted ]
	"$TALLY" inject -b -i run.data | perf script -i - >got 2>err
	diff wanted got
	"$TALLY" inject -i run.data | perf report -i - --header-only >header 2>&1
	grep -q "^# cmdline : " header
}

@test "formats of tracepoints go with the stream" {
	[ -f trace.data ] || skip "perf cannot record tracepoints here"
	perf script -i trace.data -F comm,tid,time,event,trace >wanted
	"$TALLY" inject <trace.data | perf script -i - -F comm,tid,time,event,trace >got
	cmp wanted got
}

@test "-b adds the build-ids of mapped files, once, to files and streams" {
	perf record -q -B -e cpu-clock -o bare.data -- ls / >/dev/null 2>&1 || skip "perf cannot record here"
	run -0 "$TALLY" info --json bare.data
	[[ $output != *'"BUILD_ID"'* ]] || skip "perf keeps build-ids with -B"
	"$TALLY" inject -b -i bare.data -o whole.data
	id=$(readelf -n "$(command -v ls)" | sed -n 's/.*Build ID: //p')
	[ "$(perf buildid-list -i whole.data | grep -c "$id")" = 1 ]
	"$TALLY" inject -b -i whole.data | "$TALLY" inject -b -o twice.data
	[ "$(perf buildid-list -i twice.data | grep -c "$id")" = 1 ]
	"$TALLY" script -i bare.data >wanted
	"$TALLY" script -i twice.data >got
	diff <(awk '{print $1, $NF}' wanted) <(awk '{print $1, $NF}' got)
}

@test "compressed records become plain ones" {
	"$TALLY" record -q -z -e cpu-clock -o packed.data -- sh -c 'i=0; while [ $i -lt 9000 ]; do i=$((i + 1)); done' ||
		skip "built without zstd"
	"$TALLY" inject -i packed.data -o plain.data
	run -0 "$TALLY" info --json plain.data
	[[ $output != *'"COMPRESSED"'* ]]
	"$TALLY" script -i packed.data >wanted
	"$TALLY" script -i plain.data >got
	cmp wanted got
}

@test "a reader that leaves early is no failure; a terminal and the recording itself are refused" {
	"$TALLY" inject -i run.data | head -c 100 >/dev/null
	[ "${PIPESTATUS[0]}" = 0 ]
	run "$TALLY" inject -i run.data -o run.data
	[ "$status" = 1 ]
	[[ $output = *"is the recording itself"* ]]
	run "$TALLY" inject -i none.data -o x.data
	[ "$status" = 1 ]
}
