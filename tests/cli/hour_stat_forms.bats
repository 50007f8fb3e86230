#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Where counts go and in which form; separators; recordings of counts through pipes and `script`.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export LC_ALL=C
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$TALLY" stat -e task-clock true 2>/dev/null || skip "events cannot be counted here"
}

need_perf() {
	command -v perf >/dev/null ||
		skip "perf is not installed: nothing is compared with it; tests/unit/report has known tables and CSV"
}

@test "13.8: stat --log-fd 1 writes to standard output, whole, and is no failure" {
	need_kernel
	run --separate-stderr "$TALLY" stat --log-fd 1 -e task-clock echo word
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[ "${lines[0]}" = word ]
	[[ $output = *"seconds time elapsed"* ]]
	# The descriptor stays open for whoever gave it.
	{
		"$TALLY" stat --log-fd 5 -x, -e task-clock true
		echo last >&5
	} 5>counts
	[[ $(head -1 counts) = *,task-clock,* ]]
	[ "$(tail -1 counts)" = last ]
	for fd in 77 7777777777; do
		run "$TALLY" stat --log-fd "$fd" -e task-clock true
		[ "$status" = 125 ]
		[[ $output = "tally stat: --log-fd $fd: Bad file descriptor" ]]
	done
}

@test "13.8: script --sql refuses what a database does not follow" {
	"$TALLY" record -q -e task-clock -o it.data true
	for option in --json -D --header "-F comm" "--time 0%-50%" "-C 0" "-c true" "--pid 1" "-S main" --show-mmap-events; do
		# shellcheck disable=SC2086 # an option and its value
		run "$TALLY" script -i it.data $option --sql it.db
		[ "$status" = 2 ]
		[[ $output = *"--sql and ${option%% *} exclude each other: it writes the whole recording"* || $option = --show* ]]
		[ ! -e it.db ]
	done
	run "$TALLY" script -i it.data --filter 'pid > 0' --sql it.db
	[ "$status" = 0 ] || [[ $output = *SQLite* ]]
}

@test "13.8: a separator within a cell of report -t is a full stop, as in perf" {
	"$TALLY" record -q -e task-clock:u -c 20000 -o it.data -- bash -c 'for ((i = 0; i < 20000; i++)); do :; done'
	run --separate-stderr "$TALLY" report -i it.data --no-children -t a -s comm,dso
	[ "$status" = 0 ]
	# "bash" twice, and one separator between columns: an overhead, a comm, a binary.
	grep -q 'ab.sh.*ab.sh$' <<<"$output"
	[ "$(grep -v '^#' <<<"$output" | grep . | awk -F a 'NF != 3' | wc -l)" = 0 ]
	"$TALLY" report -i it.data --no-children -t o -s comm,dso,sym 2>/dev/null | grep -v '^#' >ours
	[ "$(grep . ours | awk -F o 'NF != 4' | wc -l)" = 0 ]
}

@test "13.30: a recording of counts through a pipe is reported as perf's test wants it" {
	"$TALLY" stat record -o - -e task-clock true 2>/dev/null | "$TALLY" stat report -i - 2>out
	grep -q "Performance counter stats for 'pipe':" out
	need_perf
	perf stat record -o - -e task-clock true 2>/dev/null | "$TALLY" stat report -i - 2>out
	grep -q "Performance counter stats for 'pipe':" out
}

@test "13.30: script of a recording of counts prints perf's table" {
	need_all
	"$TALLY" stat record -o - -e task-clock,page-faults true 2>/dev/null >stream.data
	"$TALLY" stat record -o file.data -a -I 20 -e cpu-clock,page-faults sleep 0.05 2>/dev/null
	"$TALLY" script -i - <stream.data >out
	[ "$(head -1 out | tr -s ' ')" = "CPU THREAD VAL ENA RUN TIME EVENT" ]
	[ "$(wc -l <out)" = 3 ]
	[[ $(sed -n 2p out) =~ ^\ -1\ +[0-9]+(\ +[0-9]+){4}\ task-clock$ ]]
	[[ $(sed -n 3p out) =~ \ page-faults$ ]]
	run -0 "$TALLY" script --header -i file.data
	[[ $output = *"# cmdline :"*"CPU   THREAD"* ]]
	for how in "-F comm,ip" -G "--tid 1" --show-mmap-events; do
		run -0 "$TALLY" script -i file.data $how
		[[ $output = *"CPU   THREAD"* ]]
	done
	run -0 "$TALLY" script -i file.data -D
	[[ $output = *": PERF_RECORD_STAT"* ]]
	run -0 "$TALLY" script -i file.data --json
	[[ $output = *'"type":"STAT"'* ]]
	need_perf
	for data in stream file; do
		perf script -i $data.data >perf.out 2>/dev/null
		"$TALLY" script -i $data.data >out
		cmp perf.out out
		perf script -i $data.data -F comm,ip --show-mmap-events >perf.out 2>/dev/null
		"$TALLY" script -i $data.data -F comm,ip --show-mmap-events | diff -w perf.out -
	done
}

@test "13.30: stat -j -o FILE holds JSON alone; tables and CSV keep when they began" {
	for form in "-j" "--json"; do
		"$TALLY" stat "$form" -o out -e task-clock true
		python3 -c 'import json, sys; [json.loads(line) for line in open("out")]'
	done
	"$TALLY" stat -x, -o out -e task-clock true
	[[ $(head -1 out) = "# started on "* ]]
}
