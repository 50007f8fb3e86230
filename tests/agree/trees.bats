#!/usr/bin/env bats
# Trees of callers and callees are perf's, of functions that call themselves too.
bats_require_minimum_version 1.5.0

load frame

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_perf
	command -v gcc >/dev/null ||
		skip "needs gcc: trees of a built program are not compared; tests/unit/profile has known trees"
	cat >program.c <<'END'
volatile unsigned long sink;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) sink = sink * 31 + i; }
__attribute__((noinline)) int even(int n);
__attribute__((noinline)) int odd(int n) { leaf(n * 900); int r = n && !even(n - 1); sink++; return r; }
__attribute__((noinline)) int even(int n) { leaf(900); int r = !n || !odd(n - 1); sink++; return r; }
__attribute__((noinline)) long tree(int n) {
	leaf(200);
	long r = n < 2 ? n : tree(n - 1) + tree(n - 2);
	sink++;
	return r;
}
int main(void) { for (int i = 0; i < 60; i++) { tree(13); even(30); leaf(100000); } return 0; }
END
	gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o program program.c
	perf record -q -F 5000 -e cpu-clock:u -g -o chains.data -- ./program 2>/dev/null
}

@test "callers and callees, with children and without" {
	local order
	for order in caller callee; do
		same_report chains.data --children -g $order
		grep -q '%tree$' tally.txt
		same_report chains.data --no-children -g $order
		same_report chains.data --children -g $order,5
		same_report chains.data --children -g $order -s dso
		same_report chains.data --children -g $order -s comm
		same_report chains.data --no-children -g $order -s comm
	done
	same_report chains.data --children -G
	same_report chains.data --no-children -G
	[ "$(grep -c 'tree$' tally.txt)" -gt 3 ]
}

@test "rows that begin with the symbol leave it out of their trees" {
	same_report chains.data --children -g callee -s sym
	same_report chains.data --no-children -g callee -s sym
	same_report chains.data --no-children -g callee -s sym,comm
	grep -A2 '\[\.\]leaf' tally.txt >leaf
	run -1 grep -x leaf leaf
}

@test "samples that read a group of counters are samples of each that moved" {
	local sort
	perf record -q -g -e '{cpu-clock,page-faults,context-switches}:S' -e task-clock -o read.data -- \
		sh -c 'for i in 1 2 3; do ls -R /usr/share/doc >/dev/null; done' >/dev/null 2>&1 ||
		skip "perf cannot record this here"
	for sort in comm dso,comm; do
		lines_of_report perf report --stdio --no-group --no-children -g none -s $sort -i read.data >perf.txt
		lines_of_report "$TALLY" report --no-group --no-children -g none -s $sort -i read.data >tally.txt
		cmp perf.txt tally.txt || { diff perf.txt tally.txt; return 1; }
	done
	perf report --stdio --no-group -i read.data 2>/dev/null </dev/null | grep '^# Event count' >perf.txt
	"$TALLY" report --no-group -i read.data -g none | grep '^# Event count' >tally.txt
	cmp perf.txt tally.txt
}
