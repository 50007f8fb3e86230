#!/usr/bin/env bats
# --filter by fields of tracepoints: the samples whose text, as perf shows it, has the same values.

load frame

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_perf
	need_root
	need_tracefs
	perf record -q -e sched:sched_switch -e sched:sched_process_exec -e sched:sched_wakeup -a -o sched.data -- \
		sh -c 'for i in 1 2 3 4 5; do sleep 0.01; done' 2>/dev/null || skip "tracepoints cannot be recorded here"
	perf script -i sched.data -F time,event,trace --ns 2>/dev/null >all.txt
	[ -s all.txt ]
}

same() { # expression, awk condition over a line of all.txt
	"$TALLY" script -i sched.data -F time,event,trace --ns --filter "$1" >some.txt
	awk "$2" all.txt | cmp - some.txt || { echo "$1"; awk "$2" all.txt | diff - some.txt | head -5; return 1; }
}

@test "numbers, texts of fixed room, texts elsewhere in the payload" {
	same 'prev_comm == sleep' '/sched_switch.*prev_comm=sleep |sched_switch: *sleep:/'
	[ -s some.txt ]
	same 'event == sched:sched_process_exec' '/sched_process_exec:/'
	[ -s some.txt ]
	same 'filename =~ sleep$' '/sched_process_exec: filename=[^ ]*sleep /'
	[ -s some.txt ]
	same 'next_pid == 0 and event =~ switch' '/sched_switch.*next_comm=swapper|sched_switch.*==> swapper/'
	[ -s some.txt ]
	same 'trace.pid > 0 and event == sched:sched_process_exec' '/sched_process_exec:/'
	same 'prev_prio < 0' '0'
}

@test "what a field is decides how it is compared" {
	run "$TALLY" script -i sched.data --filter 'prev_comm > 3'
	[ "$status" = 2 ]
	[[ "$output" = *"'prev_comm' is text"* ]]
	run "$TALLY" script -i sched.data --filter 'prev_prio == low'
	[ "$status" = 2 ]
	[[ "$output" = *"'prev_prio' is a number, and 'low' is none"* ]]
	run "$TALLY" script -i sched.data --filter 'prev_prio =~ 1'
	[ "$status" = 2 ]
	run "$TALLY" script -i sched.data --filter 'prev_com == x'
	[ "$status" = 2 ]
	[[ "$output" = *"did you mean 'prev_comm'?"* ]]
}
