#!/usr/bin/env bats
# Recordings of perf in every form that it writes: both readers say the same of them.

load frame

# A program whose samples fall into several processes.
work='for i in 1 2 3; do seq 1 60000 | sort -R | md5sum & done; wait'

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_perf
}

# The order of equal rows is not asked for.
rows() { # file
	"$TALLY" report --stdio --no-children -g none -i "$1" 2>/dev/null | sort
}

@test "a stream, from a file, a pipe and a FIFO" {
	perf record -q -e cpu-clock,page-faults -F 3000 -g -o - -- sh -c "$work" >stream.data
	"$HERE/compare-rows" "$TALLY" stream.data
	rows stream.data >want
	cat stream.data | rows - >got
	diff want got
	# Nothing named: what comes through the pipe.
	cat stream.data | "$TALLY" report --stdio --no-children -g none 2>/dev/null | sort >got
	diff want got
	rows - <stream.data >got
	diff want got
	mkfifo fifo
	cat stream.data >fifo &
	rows fifo >got
	wait
	diff want got
}

@test "a file that comes through a pipe" {
	perf record -q -e cpu-clock -F 3000 -g -o plain.data -- sh -c "$work"
	rows plain.data >want
	cat plain.data | rows - >got
	diff want got
}

@test "the stream that perf makes of a file" {
	perf record -q -e cpu-clock -F 3000 -g -o plain.data -- sh -c "$work"
	perf inject -i plain.data -o - >stream.data </dev/null || skip "this perf cannot"
	# perf inject drops records of its own; the samples are the same.
	rows plain.data >want
	rows stream.data >got
	diff want got
}

@test "recording straight into the report" {
	perf record -q -e cpu-clock -F 2000 -o - -- sh -c "$work" | "$TALLY" report --stdio -i - >got
	grep -q md5sum got
}

@test "compressed, as a file and as a stream" {
	perf record -q -z -e cpu-clock -F 3000 -g -o packed.data -- sh -c "$work" || skip "perf without zstd"
	"$HERE/compare-rows" "$TALLY" packed.data
	perf record -q -z -e cpu-clock -F 3000 -g -o - -- sh -c "$work" >packed.stream
	"$HERE/compare-rows" "$TALLY" packed.stream
	rows packed.stream >want
	cat packed.stream | rows - >got
	diff want got
}

@test "directories of threads, plain and compressed" {
	perf record --help 2>/dev/null | grep -q -- --threads || perf record -q --threads -o try.dir -- true ||
		skip "perf without --threads"
	perf record -q --threads -e cpu-clock -F 3000 -g -o threads.dir -- sh -c "$work"
	[ -e threads.dir/data.0 ]
	"$HERE/compare-rows" "$TALLY" threads.dir
	perf record -q -z --threads -e cpu-clock -F 3000 -g -o packed.dir -- sh -c "$work" || skip "perf without zstd"
	"$HERE/compare-rows" "$TALLY" packed.dir
}

@test "a cut stream is read as far as it goes, and says so" {
	perf record -q -e cpu-clock -F 3000 -g -o - -- sh -c "$work" >stream.data
	head -c $(($(stat -c %s stream.data) * 3 / 4 + 1)) stream.data >cut.data
	"$TALLY" report --stdio -i cut.data >got 2>err || true
	grep -q '^# Samples: ' got
	grep -q 'cut' err
}

@test "what is no recording is refused with a reason" {
	run "$TALLY" report -i - <<<"no recording at all"
	[ "$status" -ne 0 ]
	[[ "$output" == *"not a perf.data file"* ]]
	mkdir empty.dir
	run "$TALLY" report -i empty.dir
	[ "$status" -ne 0 ]
	[[ "$output" == *'file "data"'* ]]
	run "$TALLY" report -i /dev/zero
	[ "$status" -ne 0 ]
	[[ "$output" == *"not a perf.data file"* ]]
}
