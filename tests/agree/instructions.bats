#!/usr/bin/env bats
# Instructions in script's text, against perf's.

load frame

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_perf
	[ "$(uname -m)" = x86_64 ] || skip "perf decodes its own machine's code"
	command -v gcc >/dev/null ||
		skip "needs gcc: no code is compared with objdump's, and nothing else tests the fields insn and brstackinsn"
	cat >program.c <<-'C'
		#include <stdlib.h>
		volatile double sink;
		__attribute__((noinline)) double work(int n) { double s = 0; for (int i = 0; i < n; i++) s += i / (s + 1); return s; }
		static int compare(const void *a, const void *b) { sink += work(3); return *(const int *)a - *(const int *)b; }
		int main(void) {
			static int all[1000];
			for (int k = 0; k < 50; k++) {
				for (int i = 0; i < 1000; i++) all[i] = rand();
				qsort(all, 1000, sizeof(*all), compare);
				sink += work(k * 1000);
			} }
	C
	gcc -O2 -g -o program program.c
}

same() { # file, fields
	perf script -i "$1" -F "$2" 2>perf.err </dev/null >perf.txt
	"$TALLY" script -i "$1" -F "$2" 2>tally.err </dev/null >tally.txt
	[ -s perf.txt ] || { echo "perf shows nothing of $*"; cat perf.err; return 1; }
	cmp perf.txt tally.txt || { echo "$*"; diff perf.txt tally.txt | head; cat tally.err; return 1; }
}

# Of code that is no symbol's perf says nothing, and of a PLT other names.
@test "insn, insnlen: of the place that was sampled" {
	perf record -q -F 2000 -e cpu-clock:u -o flat.data -- ./program >/dev/null 2>&1 || skip "perf cannot record here"
	same flat.data ip,insn
	grep -q ' insn: [0-9a-f ]*$' tally.txt
	same flat.data ip,insnlen,insn,tid
	same flat.data insnlen
}

@test "brstackinsn: what ran between branches, and where stack or binary are wrong" {
	command -v python3 >/dev/null && command -v objdump >/dev/null || skip "needs python3 and objdump"
	"$HERE/branches.py" "$PWD/program" branches.data
	for fields in +brstackinsn +brstackinsnlen +brstackinsn,+srcline +brstackinsn,+brstacksym,-dso ip,brstackinsn; do
		same branches.data "$fields"
	done
	"$TALLY" script -i branches.data -F +brstackinsn >tally.txt
	grep -q 'mismatch of LBR data and executable' tally.txt
	grep -q 'not reaching sample' tally.txt
	grep -qE '# PRED [0-9]+ cycles [[][0-9]+[]] [0-9.]+ IPC$' tally.txt
}
