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

# perf 6.1 counts what addr2line found, and shows the symbol and the offset where it did not.
rows() {
	grep -v '^#' | sed 's/ *$//;/^$/d' | awk '{share = $1; $1 = ""; print share, $0}' | sort
}

@test "15.2: report -s srcline and -s srcfile have the rows of perf" {
	for key in srcline srcfile; do
		perf report -i work.data --stdio -s dso,$key 2>/dev/null | grep -E ' work +' | rows >theirs
		"$TALLY" report -i work.data --stdio -s dso,$key | grep -E ' work +' | rows >ours
		grep -q 'work.c' ours
		diff theirs ours
	done
}

@test "15.2: script -F srccode prints the lines of the source as perf does" {
	for fields in ip,srccode comm,ip,sym,srcline,srccode; do
		perf script -i work.data -F $fields 2>/dev/null >all
		grep '^|[0-9]' all >theirs
		"$TALLY" script -i work.data -F $fields >all
		grep '^|[0-9]' all >ours
		grep -q 'sum += mix' ours
		diff theirs ours
	done
	perf script -i work.data --comms work -F ip,srccode 2>/dev/null | grep -A 1 -m 20 ' [0-9a-f]*$' >theirs
	"$TALLY" script -i work.data --comms work -F ip,srccode | grep -A 1 -m 20 ' [0-9a-f]*$' >ours
	diff theirs ours
	# Below another folder; and no source is no error.
	mkdir -p "elsewhere$PWD"
	cp work "elsewhere$PWD"
	sed 's/sum += mix.*/another text/' work.c >"elsewhere$PWD/work.c"
	"$TALLY" script -i work.data --symfs elsewhere -F ip,srccode >ours
	grep -qx '|[0-9 ]*		another text' ours
	rm "elsewhere$PWD/work.c"
	"$TALLY" script -i work.data --symfs elsewhere -F ip,srccode >ours
	run -1 grep '^|' ours
	run -1 --separate-stderr "$TALLY" script -i work.data -F comm,srccode
	[[ "$stderr" == *"add ip to -F"* ]]
}

@test "15.2: --inline shows inlined functions in chains of frame pointers, too" {
	gcc -O2 -g -fno-omit-frame-pointer -o framed work.c
	"$TALLY" record -q -e cpu-clock:u -F 1000 --call-graph fp -o framed.data ./framed 2>/dev/null || skip "recording is not permitted here"
	"$TALLY" script -i framed.data -F ip,sym | grep -c mix >without || true
	[ "$(cat without)" = 0 ]
	"$TALLY" script -i framed.data -F ip,sym,srcline --inline | grep -A 2 'mix (inlined)\|mix$' | grep -q 'work.c:[45]'
	"$TALLY" report -i framed.data --stdio --inline -G | grep -q 'mix (inlined)'
	run -1 grep -q 'mix (inlined)' <("$TALLY" report -i framed.data --stdio -G)
	run -1 grep -q 'mix (inlined)' <("$TALLY" report -i framed.data --stdio -G --no-inline)
}
