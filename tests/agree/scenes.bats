#!/usr/bin/env bats
# Recordings that break recorders: nothing of the side-band is lost, every sample finds its process.

bats_require_minimum_version 1.5.0
load frame
load ../cli/rights

@test "the whole system during a parallel build" {
	need_root
	need_perf
	mkdir -p many
	"$TALLY" record -a --call-graph fp -e cpu-clock -F 1000 -o a.data -- make -s -j2 -f "$HERE/../../bench/many.mk" OUT=many NUMBERS="$(seq -s ' ' 1 30)" 2>a.err
	perf_reads a.data
	all_named a.data
	[ "$(perf_stat_of a.data LOST)" = 0 ]
	# Each of the 30 compilations ran cc1, as and gcc: the kernel recorded each name.
	perf script --show-task-events -i a.data 2>/dev/null >a.txt
	[ "$(grep -c 'PERF_RECORD_COMM exec: cc1:' a.txt)" -ge 30 ]
	[ "$(grep -c 'PERF_RECORD_COMM exec: as:' a.txt)" -ge 30 ]
}

@test "a running server, by pid" {
	need_recording
	need_perf
	python3 -u -m http.server 0 --bind 127.0.0.1 >server.txt 2>/dev/null 3>&- &
	server=$!
	until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' server.txt) && [ -n "$port" ]; do sleep 0.05; done
	"$TALLY" record -g -e cpu-clock -F 3000 -p "$server" -o p.data 2>p.err 3>&- &
	recorder=$!
	sleep 0.5
	python3 -c 'import sys, urllib.request as u
for _ in range(150): u.urlopen("http://127.0.0.1:%s/" % sys.argv[1]).read()' "$port"
	kill -INT "$recorder"
	wait "$recorder" || true
	kill "$server"
	perf_reads p.data
	[ "$(perf script -F pid -i p.data 2>/dev/null | awk '{print $1}' | sort -u | grep .)" = "$server" ]
	"$HERE/compare-rows" "$TALLY" p.data
}

@test "tracepoint and clock together, with chains" {
	need_root
	need_tracefs
	need_perf
	"$TALLY" record -F 1000 -e sched:sched_switch -e cpu-clock -g -a -o s.data -- bash -c 'for i in $(seq 200); do sleep 0.001; done' 2>s.err
	perf_reads s.data
	all_named s.data
	perf script -F event,trace -i s.data 2>/dev/null | grep -q 'sched_switch: prev_comm=bash'
	"$HERE/compare-rows" "$TALLY" s.data
}

@test "thousands of short children" {
	need_recording
	need_perf
	"$TALLY" record -e cpu-clock -F 2000 -o f.data -- bash -c 'for i in $(seq 3000); do /bin/true; done' 2>f.err
	perf_reads f.data
	all_named f.data
	[ "$(perf_stat_of f.data LOST)" = 0 ]
	perf script --show-task-events -i f.data 2>/dev/null >f.txt
	[ "$(grep -c 'PERF_RECORD_COMM exec: true:' f.txt)" = 3000 ]
	[ "$(grep -c PERF_RECORD_FORK f.txt)" = 3001 ] # seq is the one more
	[ "$(grep -c 'PERF_RECORD_EXIT' f.txt)" -ge 3000 ]
}

@test "a program of 500 threads" {
	need_recording
	need_perf
	gcc -O1 -pthread -o threads "$HERE/threads.c"
	"$TALLY" record -e cpu-clock -F 5000 -o t.data -- ./threads 500 2>t.err
	perf_reads t.data
	all_named t.data
	[ "$(perf_stat_of t.data LOST)" = 0 ]
	# Each thread named itself after its number, which is tid - pid.
	perf script --show-task-events -i t.data 2>/dev/null >t.txt
	[ "$(grep -c 'PERF_RECORD_COMM: worker-' t.txt)" = 500 ]
	[ "$("$TALLY" report -i t.data --no-children -g none -s comm --percent-limit 0 2>/dev/null | grep -c 'worker-')" -ge 250 ]
}

@test "500 threads that already run, by pid" {
	need_recording
	need_perf
	gcc -O1 -pthread -o threads "$HERE/threads.c"
	./threads 500 600 >ready 3>&- &
	target=$!
	until grep -qs ready ready; do sleep 0.05; done
	"$TALLY" record -e cpu-clock -F 2000 -p "$target" -o q.data 2>q.err 3>&- &
	recorder=$!
	for _ in $(seq 600); do # until there is more than what is recorded at the start
		[ "$(stat -c %s q.data 2>/dev/null || echo 0)" -lt 300000 ] || break
		sleep 0.1
	done
	kill "$target"
	wait "$recorder"
	perf_reads q.data
	all_named q.data
	perf script --show-task-events -i q.data 2>/dev/null >q.txt
	[ "$(grep -o 'PERF_RECORD_COMM: worker-[0-9]*' q.txt | sort -u | wc -l)" = 500 ]
	# How many of them run meanwhile is the scheduler's to say.
	[ "$(perf script -F comm -i q.data 2>/dev/null | grep worker- | sort -u | wc -l)" -ge 50 ]
}

@test "kill -9 leaves a file that perf and tally read" {
	need_all
	need_recording
	need_perf
	"$TALLY" record -e cpu-clock -F 5000 --call-graph fp -o k.data -- bash -c 'while :; do :; done' 2>k.err 3>&- &
	recorder=$!
	for _ in $(seq 600); do # until it spun for three seconds of processor time
		spinner=$(pgrep -P "$recorder") && ticks=$(awk '{print $14 + $15}' "/proc/$spinner/stat") || ticks=0
		[ "$ticks" -lt 300 ] || break
		sleep 0.1
	done
	kill -9 "$recorder" "$spinner"
	perf_reads k.data
	# At 5 kHz, and the last checkpoint is at most a second and a half old.
	[ "$(perf_stat_of k.data SAMPLE)" -ge 7000 ]
	"$HERE/compare-rows" "$TALLY" k.data
	"$TALLY" report -i k.data --no-children -g none >k.txt 2>k.report.err
}

@test "the command's exit status is passed on" {
	need_recording
	run "$TALLY" record -q -e cpu-clock -o e.data -- sh -c 'exit 37'
	[ "$status" = 37 ]
	run -127 "$TALLY" record -q -e cpu-clock -o e.data -- /nonexistent/program
	[[ "$output" == *"/nonexistent/program"* ]]
}

@test "Ctrl-C and SIGTERM end with a complete file" {
	need_recording
	need_perf
	for signal in INT TERM; do
		"$TALLY" record -e cpu-clock -F 2000 -o "$signal.data" -- bash -c 'while :; do :; done' 2>"$signal.err" 3>&- &
		recorder=$!
		sleep 1
		spinner=$(pgrep -P "$recorder")
		kill -"$signal" "$recorder"
		wait "$recorder" || true
		kill -9 "$spinner" 2>/dev/null || true
		perf_reads "$signal.data"
		grep -q 'samples' "$signal.err"
		perf report --header-only -I -i "$signal.data" | grep -q '# hostname'
	done
}
