#!/usr/bin/env bats
# perf and tally read each other's recordings of real programs and say the same.

load frame
load ../cli/rights

# Records with both tools and compares both readers on both files.
agree_on() { # options of both, -- command
	need_perf
	perf record -q -o theirs.data "$@" >/dev/null 2>&1
	"$TALLY" record -q -o ours.data "$@" >/dev/null
	perf_reads ours.data
	"$HERE/compare-rows" "$TALLY" theirs.data
	"$HERE/compare-rows" "$TALLY" ours.data
}

@test "a C program: xz" {
	seq 1 400000 >numbers
	agree_on -e cpu-clock -F 2000 -g -- xz -6 -T1 -k -f numbers
}

@test "a C++ program: g++ compiling" {
	agree_on -e cpu-clock -F 2000 -g -- g++ -std=c++17 -O1 -DTYPES=1 -c -o /dev/null "$HERE/../../bench/large.cc"
}

@test "a Python program" {
	agree_on -e cpu-clock -F 2000 -g -- python3 -c 'import json, re
d = [{"k%d" % i: list(range(i % 50))} for i in range(4000)]
for _ in range(12): assert re.sub("[0-9]+", "", json.dumps(json.loads(json.dumps(d))))'
}

@test "a program of several threads: xz -T2" {
	seq 1 900000 >numbers
	agree_on -e cpu-clock -F 2000 -g -- xz -3 -T2 --block-size=1MiB -k -f numbers
}

@test "the whole system during a build" {
	need_root
	mkdir -p many
	agree_on -a -e cpu-clock -F 1000 -g -- make -s -j2 -f "$HERE/../../bench/many.mk" OUT=many NUMBERS="$(seq -s ' ' 1 30)"
}

@test "the default event falls back with one line, and both read it" {
	need_perf
	"$TALLY" record -o ours.data -- xz -6 -k -c "$(command -v perf)" >/dev/null 2>ours.err
	perf_reads ours.data
	"$HERE/compare-rows" "$TALLY" ours.data
}

@test "perf records while the whole system is recorded" {
	need_all
	need_perf
	"$TALLY" record -q -a -e cpu-clock -F 100 -o system.data -- perf record -q -e cpu-clock -o theirs.data -- true
	perf script -i theirs.data --show-mmap-events | grep -q 'PERF_RECORD_MMAP2.*/true$'
	# The ids of what was mapped are read from the files.
	"$TALLY" script -i system.data --show-mmap-events | grep -q 'PERF_RECORD_MMAP2.*/true$'
	perf buildid-list -i system.data | grep -q '^[0-9a-f]\{40\} .*libc'
}

@test "17: report --time and --cpu count what perf counts" {
	need_root
	perf record -q -a -e cpu-clock -F 2000 -o run.data -- sh -c 'for i in 1 2 3; do seq 1 60000 | gzip >/dev/null; done' >/dev/null 2>&1
	# The header's sum, and each row's share.
	rows() { sed -n 's/ *$//; /^# Event count/p; /^ *[0-9]/p' | LC_ALL=C sort; }
	for choice in '--time 10%/3' '--time 0%-20%,60%-80%' '--cpu 1' '--cpu 0 --time 50%'; do
		# shellcheck disable=SC2086
		perf report -i run.data --no-children --stdio -s dso $choice 2>/dev/null | rows >theirs
		# shellcheck disable=SC2086
		"$TALLY" report -i run.data --no-children -s dso $choice | rows >ours
		[ "$(wc -l <ours)" -gt 1 ]
		diff ours theirs
	done
	run "$TALLY" report -i run.data --time 5
	[ "$status" -ne 0 ]
	[[ $output == *"--time '5': give START,STOP in seconds"* ]]
	run "$TALLY" report -i run.data --cpu x
	[ "$status" -ne 0 ]
	[[ $output == *"--cpu 'x' is not a list of CPUs; write it as 0-3,7"* ]]
	perf record -q -e cpu-clock:u -o once.data -- true >/dev/null 2>&1
	run "$TALLY" report -i once.data --cpu 0
	[ "$status" -ne 0 ]
	[[ $output == *"does not record the CPU of its samples"* ]]
}
