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
	same 'next_pid != 0 and event =~ switch' '/sched_switch/ && !/next_comm=swapper|==> swapper/'
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
	[[ "$output" = *"'prev_prio' is a number, and 'low' is not"* ]]
	run "$TALLY" script -i sched.data --filter 'prev_prio =~ 1'
	[ "$status" = 2 ]
	run "$TALLY" script -i sched.data --filter 'prev_com == x'
	[ "$status" = 2 ]
	[[ "$output" = *"did you mean 'prev_comm'?"* ]]
}

@test "stacks: one test or several, as the whole chains read" {
	command -v cc >/dev/null ||
		skip "needs a C compiler: stacks of a built program are not compared; the next tests use recordings"
	cat >calls.c <<-'END'
		static volatile unsigned long sink, state = 1;
		static unsigned next(void) { return (state = state * 6364136223846793005ul + 1442695040888963407ul) >> 60; }
		#define STEP(name, one, other) __attribute__((noinline)) void name(int depth) \
			{ for (int i = 0; i < 2000; i++) sink += i; if (depth) { if (next() & 1) one(depth - 1); else other(depth - 1); } sink++; }
		void red(int), green(int), blue(int), grey(int);
		STEP(red, green, blue)
		STEP(green, blue, grey)
		STEP(blue, red, grey)
		STEP(grey, grey, red)
		int main(void) { for (int i = 0; i < 9000; i++) if (next() & 1) red(next()); else grey(next() / 2); }
	END
	cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o calls calls.c
	perf record -q -e cpu-clock:u -F 5000 -g -o calls.data ./calls 2>/dev/null || skip "nothing can be recorded here"
	"$TALLY" script -i calls.data -F time,ip,sym --ns >all.txt
	chains() { # expression, awk condition over a sample's paragraph
		"$TALLY" script -i calls.data -F time,ip,sym --ns --filter "$1" >some.txt
		awk -v RS= -v ORS='\n\n' "$2" all.txt | cmp - some.txt || { echo "$1"; return 1; }
	}
	for name in red green blue grey main nobody; do
		chains "stack has $name" "/ $name(\n|\$)/"
	done
	[ "$(grep -c . some.txt)" = 0 ]
	chains 'stack has red and not stack has blue' '/ red(\n|$)/ && !/ blue(\n|$)/'
	[ -s some.txt ]
	chains 'stack has green or stack has grey and stack has blue' '/ green(\n|$)/ || (/ grey(\n|$)/ && / blue(\n|$)/)'
	chains 'stack =~ ^gr and not stack has grey' '/ green(\n|$)/ && !/ grey(\n|$)/'
	chains 'stack has blue and sym == red' '/ blue(\n|$)/ && /^[^\n]*\n[ \t]*[0-9a-f]+ red(\n|$)/'
}
