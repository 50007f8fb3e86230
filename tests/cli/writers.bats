#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Who writes a recording: several threads into a folder, a thread behind the one that drains, at which CPU, how often.
# Each time all samples are in the recording, for tally and for perf.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	run "$TALLY" record -q -N -e page-faults -o try -- true
	[ "$status" -eq 0 ] || skip "events cannot be opened here: the unit tests have the parts"
	rm -f try
}

record() { # OPTION... : sets samples to what the closing line says
	"$TALLY" record -N -e page-faults:u -c 1 -o rec "$@" -- sh -c 'for i in $(seq 80); do /bin/true & done; wait' 2>said
	samples=$(sed -n 's/^tally: \([0-9,]*\) samples in rec .*none lost.*/\1/p' said | tr -d ,)
	[ "${samples:-0}" -gt 1000 ] || {
		cat said
		return 1
	}
}

count() { # COMMAND: samples of the recording rec
	"$1" report --stats -i rec 2>/dev/null | awk '$1 == "SAMPLE" {print $3; exit}'
}

agree() {
	[ "$(count "$TALLY")" -eq "$samples" ]
	if command -v perf >/dev/null; then
		[ "$(count perf)" -eq "$samples" ]
	fi
}

@test "--threads writes a folder: a file for each CPU, and all samples are there" {
	for how in --threads --threads=core --threads=package --threads=numa; do
		record "$how"
		[ -d rec ]
		[ -s rec/data ]
		[ "$(find rec -name 'data.[0-9]*' | wc -l)" -eq "$(nproc)" ]
		agree
	done
	[ -d rec.old ]
	command -v perf >/dev/null || skip "perf is not installed: only tally has read the folders"
	perf script -i rec >/dev/null 2>errors
	run -1 grep -i 'warning\|out of order\|fail' errors
}

@test "lists of CPUs say which thread drains what" {
	need_all
	last=$(($(getconf _NPROCESSORS_ONLN) - 1))
	record --threads="0-$last/0"
	agree
	run "$TALLY" record -N -e page-faults -a --threads=9999/0 -o rec2 -- true
	[ "$status" -ne 0 ]
	[[ "$output" == *"CPU 0 is recorded and no thread drains it"* ]]
	[ ! -e rec2 ]
}

@test "threads and compression, and a file after a folder" {
	record --threads -z
	agree
	record
	[ -f rec ]
	[ -d rec.old ]
	agree
	record --threads
	[ -d rec ]
	[ -f rec.old ]
}

@test "a folder of files is killed at any time and stays readable" {
	"$TALLY" record -q -N -e page-faults:u -c 1 --threads -o rec -- sh -c 'while :; do ls / >/dev/null; done' &
	recorder=$!
	for _ in $(seq 100); do
		[ "$(cat rec/data.* 2>/dev/null | wc -c)" -gt 4000 ] && break
		sleep 0.1
	done
	child=$(pgrep -P $recorder)
	kill -9 $recorder
	wait $recorder || true
	kill "$child"
	[ "$(count "$TALLY")" -gt 10 ]
}

@test "--aio, --affinity and --mmap-flush lose nothing" {
	for how in --aio --aio=4 --affinity=cpu --affinity=node --affinity=sys --mmap-flush=16K; do
		record $how
		[ -f rec ]
		agree
	done
	record --aio=2 -z
	agree
}

@test "what does not fit together is refused" {
	run -2 "$TALLY" record --aio=5 -- true
	[[ "$output" == *"is not 1 to 4"* ]]
	run -2 "$TALLY" record --affinity=socket -- true
	[[ "$output" == *"valid are cpu, node, sys"* ]]
	for words in "--threads --affinity=cpu" "--threads --aio" "--threads -o -" "--mmap-flush=1G"; do
		# shellcheck disable=SC2086  # words
		run "$TALLY" record -e page-faults $words -- true
		[ "$status" -ne 0 ]
		[ ! -e perf.data ]
	done
}
