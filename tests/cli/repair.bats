#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally repair: what it keeps, what it says, and that perf reads the result.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

need_perf() {
	command -v perf >/dev/null ||
		skip "perf is not installed: it cannot say what it reads of the new file; tests/cli/streams.bats and tests/damage repair files and read them with tally"
}

# A recording of a shell that works a little, on one CPU.
make_recording() {
	"$TALLY" record -q -e cpu-clock -F 2000 -g -o in.data -- taskset -c 0 \
		sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done' 2>/dev/null ||
		skip "events cannot be opened here"
}

# How many samples the line of `tally repair` counts.
count_said() {
	sed -n 's/.* \([0-9]*\) of them samples.*/\1/p' "$1"
}

perf_lines() {
	perf script -i "$1" -F event 2>/dev/null | grep -c .
}

@test "IN and OUT are both needed, and OUT is a file" {
	run "$TALLY" repair
	[ "$status" = 2 ]
	run "$TALLY" repair in.data
	[ "$status" = 2 ]
	run "$TALLY" repair in.data -
	[ "$status" = 2 ]
	run "$TALLY" repair no-such.data out.data
	[ "$status" = 1 ]
	[ ! -e out.data ]
}

@test "a sound recording loses nothing" {
	need_perf
	make_recording
	"$TALLY" repair in.data out.data 2>said
	grep -q "; nothing was lost" said
	[ "$(perf_lines out.data)" = "$(count_said said)" ]
	perf script -i in.data >before 2>/dev/null
	perf script -i out.data >after 2>/dev/null
	cmp before after
	perf report -i in.data --header-only 2>/dev/null | grep -v -e '^# captured' -e 'data size' \
		-e 'data offset' -e 'feat offset' >before
	perf report -i out.data --header-only 2>/dev/null | grep -v -e '^# captured' -e 'data size' \
		-e 'data offset' -e 'feat offset' >after
	diff before after
}

@test "a recording is not repaired in its own place, nor is it moved away" {
	make_recording
	cp in.data copy
	run "$TALLY" repair in.data in.data
	[ "$status" = 1 ]
	[[ "$output" == *"is the recording itself"* ]]
	ln -s in.data link
	run "$TALLY" repair link ./in.data
	[ "$status" = 1 ]
	mv in.data out.data.old
	echo precious >out.data
	run "$TALLY" repair out.data.old out.data
	[ "$status" = 1 ]
	cmp copy out.data.old
}

@test "what a cut leaves is all there for perf" {
	need_perf
	make_recording
	size=$(stat -c %s in.data)
	last=0
	for percent in 60 75 90 99; do
		head -c $((size * percent / 100)) in.data >cut.data
		"$TALLY" repair cut.data out.data 2>said
		[ "$(perf_lines out.data)" = "$(count_said said)" ]
		[ "$(count_said said)" -ge "$last" ]
		last=$(count_said said)
	done
	[ "$last" -gt 0 ]
}

@test "a stream, compressed records and a directory become a plain file" {
	need_perf
	perf record -q -e cpu-clock -o plain.data -- true >/dev/null 2>&1 || skip "perf cannot record here"
	# The program's own output goes where perf's messages go.
	perf record -q -e cpu-clock -F 2000 -o - -- seq 200000 2>/dev/null >pipe.data
	perf record -q -e cpu-clock -F 2000 -z -o packed.data -- seq 200000 >/dev/null 2>&1 || rm -f packed.data
	perf record -q -e cpu-clock -F 2000 --threads -o dir.data -- seq 200000 >/dev/null 2>&1 ||
		rm -rf dir.data
	for file in pipe.data packed.data dir.data; do
		[ -e "$file" ] || continue
		rm -f out.data out.data.old
		"$TALLY" repair "$file" out.data 2>said
		grep -q "; nothing was lost" said
		perf script -i "$file" -F comm,tid,time,event,ip >before 2>/dev/null
		perf script -i out.data -F comm,tid,time,event,ip >after 2>/dev/null
		cmp before after
	done
	"$TALLY" repair - out.data <pipe.data 2>said
	grep -q "; nothing was lost" said
}

@test "a perf that was killed" {
	need_all
	need_perf
	perf record -q -e cpu-clock -F 4000 -o killed.data -- sh -c \
		'i=0; while [ $i -lt 1500000 ]; do i=$((i + 1)); done' >/dev/null 2>&1 &
	recorder=$!
	for _ in $(seq 200); do
		[ -s killed.data ] && [ "$(stat -c %s killed.data)" -gt 100000 ] && break
		sleep 0.05
	done
	kill -9 $recorder
	wait $recorder || true
	[ -s killed.data ] || skip "perf cannot record here"
	"$TALLY" repair killed.data out.data 2>said
	[ "$(perf_lines out.data)" = "$(count_said said)" ]
}

@test "--strict shows nothing of a damaged recording, and fails" {
	make_recording
	run "$TALLY" report --strict -i in.data
	[ "$status" = 0 ]
	size=$(stat -c %s in.data)
	head -c $((size * 9 / 10)) in.data >cut.data
	for command in report script info; do
		run --separate-stderr "$TALLY" $command -i cut.data
		[ "$status" = 0 ]
		[[ "$stderr" == *"the rest is shown"* ]]
		run --separate-stderr "$TALLY" $command --strict -i cut.data
		[ "$status" = 1 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" = 1 ]
		[[ "$stderr" == *"--strict"* ]]
	done
}

@test "Ctrl-C ends it, and nothing of the new file is left" {
	make_recording
	# The signal waits from the start, blocked: no race with the work.
	run perl -MPOSIX=:signal_h -e '
		sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGINT));
		kill INT => $$; exec @ARGV' "$TALLY" repair in.data ended.data
	[ "$status" = 1 ]
	[[ "$output" == *interrupted* ]]
	[ ! -e ended.data ]
}

@test "a device is no new file, and stays" {
	make_recording
	run "$TALLY" repair in.data /dev/full
	[ "$status" = 1 ]
	[ -c /dev/full ]
}

@test "a hole of a file is not searched for records, and its size is said" {
	"$TALLY" record -q -e cpu-clock -F 2000 -g -o - -- taskset -c 0 sh -c ':' >in.pipe 2>/dev/null ||
		skip "events cannot be opened here"
	cp in.pipe holes.pipe
	truncate -s 16G holes.pipe || skip "files of 16 GiB are not possible here: tests/unit has damage"
	[ "$(stat -c %b holes.pipe)" -lt 100000 ] || skip "holes are stored here: nothing is there to pass over"
	run -1 --separate-stderr "$TALLY" script -i holes.pipe
	[[ "$stderr" == *" bytes skipped, of which 1717"*" were never written (a hole)"* ]]
	[ "$output" = "$("$TALLY" script -i in.pipe)" ]
}
