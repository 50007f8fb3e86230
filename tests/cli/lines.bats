#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Source lines in tally script are those of perf script, which asks addr2line.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >work.c <<'END'
volatile unsigned sink;
static inline unsigned mix(unsigned x)
{
	x ^= x >> 13;
	return x * 0x5bd1e995;
}
__attribute__((noinline)) static unsigned work(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += mix(sum + i);
	return sum;
}
int main(void)
{
	for (int i = 0; i < 20; i++)
		sink += work(8000000);
	return 0;
}
END
	gcc -O2 -g -o work work.c || return 0
	gcc -O2 -o bare work.c || return 0
	for program in work bare; do
		perf record -q -e cpu-clock:u -F 2000 -o $program.data -- ./$program 2>/dev/null || true
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s work.data ] && [ -s bare.data ] || skip "perf cannot record here"
	command -v addr2line >/dev/null ||
		skip "addr2line is not installed: lines are not compared with it; tests/unit/image has known lines"
}

# What the dynamic loader does is left out: addr2line takes another file for some of its lines.
program_only() {
	grep -A 1 "($BATS_FILE_TMPDIR/"
}

@test "lines of a program with debug information" {
	for option in "" --full-source-path; do
		perf script -i work.data -F ip,sym,dso,srcline $option 2>/dev/null | program_only >theirs
		"$TALLY" script -i work.data -F ip,sym,dso,srcline $option | program_only >ours
		grep -q 'work.c:' ours
		diff theirs ours
	done
}

@test "a program without debug information" {
	perf script -i bare.data -F ip,sym,dso,srcline 2>/dev/null | program_only >theirs
	"$TALLY" script -i bare.data -F ip,sym,dso,srcline | program_only >ours
	[ -s ours ]
	diff theirs ours
}
