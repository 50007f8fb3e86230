#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally diff: its numbers are perf's, it finds what is known to have changed, and claims nothing of equal runs.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	mkdir -p "$HOME" "$BATS_FILE_TMPDIR/old" "$BATS_FILE_TMPDIR/new"
	cd "$BATS_FILE_TMPDIR" || return 1
	# In the new one slow() is 1.3 times slower, sum_of_table() has another name, and helper() is inlined.
	cat >prog.c <<'EOF'
#include <stdlib.h>
volatile unsigned sink;
static unsigned table[1024];
#define PLAIN __attribute__((noinline))
#ifdef NEW
#define SLOWER 65
#define CHECKSUM checksum_table
#define HELPER static inline __attribute__((always_inline))
#else
#define SLOWER 50
#define CHECKSUM sum_of_table
#define HELPER static __attribute__((noinline))
#endif
PLAIN unsigned slow(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n * SLOWER; i++)
		sum = sum * 69069 + i;
	return sum;
}
PLAIN unsigned CHECKSUM(unsigned n)
{
	unsigned sum = 1;
	for (unsigned i = 0; i < n * 100; i++)
		sum = (sum << 5 | sum >> 27) ^ table[(i * 7) & 1023] ^ i;
	return sum;
}
HELPER unsigned helper(unsigned x)
{
	for (unsigned i = 0; i < 20; i++)
		x = x / (i + 3) + 77777777u;
	return x;
}
PLAIN unsigned caller(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += helper(sum + i) ^ (sum >> 3);
	/* Bound by the latency of a multiplication, as the other functions are: another hyperthread does not slow it. */
	for (unsigned i = 0; i < n * 10; i++)
		sum = sum * 69069 + i;
	return sum;
}
PLAIN unsigned other(unsigned n)
{
	unsigned sum = 3;
	for (unsigned i = 0; i < n * 100; i++)
		sum = sum * 3 + (sum >> 7);
	return sum;
}
int main(int argc, char **argv)
{
	unsigned turns = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
	while (turns--)
		{
		unsigned n = 10000 + (sink & 1);
		sink += slow(n) + CHECKSUM(n) + caller(2 * n) + other(n);
	}
	return 0;
}
EOF
	gcc -O2 -g -o old/prog prog.c || return 0
	gcc -O2 -g -DNEW -o new/prog prog.c || return 0
	# All runs have the same addresses.
	local fixed=
	setarch -R true 2>/dev/null && fixed='setarch -R'
	$fixed perf record -q -e cpu-clock:u -F 8000 -o old.data -- old/prog 400 2>/dev/null || return 0
	$fixed perf record -q -e cpu-clock:u -F 8000 -o again.data -- old/prog 400 2>/dev/null || return 0
	$fixed perf record -q -e cpu-clock:u -F 8000 -o new.data -- new/prog 400 2>/dev/null || return 0
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s new.data ] || skip "perf cannot record here: tests/unit/diff has known answers"
}

need_disassembler() {
	run "$TALLY" annotate -i old.data -q slow
	[[ "$output" != *"built without libcapstone"* ]] || skip "built without libcapstone: code is not compared"
}

@test "a slower, a renamed and an inlined function are found, and nothing else" {
	need_disassembler
	"$TALLY" diff --json --changed old.data new.data | python3 -c '
import json, sys
rows = {r["symbol"]: r["recordings"][0] for r in json.load(sys.stdin)["events"][0]["rows"]}
print(rows)
assert set(rows) == {"slow", "sum_of_table", "helper"}
assert rows["slow"]["significant"] and rows["slow"]["change"] > 0
assert rows["sum_of_table"]["status"] == "renamed" and rows["sum_of_table"]["name"] == "checksum_table"
assert not rows["sum_of_table"]["significant"]
assert rows["helper"]["status"] == "inlined" and rows["helper"]["significant"]
assert rows["helper"]["inlined_samples"] > 100'
	"$TALLY" diff old.data new.data >text
	grep -q 'gone: inlined, [0-9.]*% in its callers .* helper$' text
	grep -q 'renamed to checksum_table, within the noise .* sum_of_table$' text
	grep -q 'within the noise with inlined functions .* caller$' text
	grep -q ' more .* slow$' text
}

@test "of equal runs nothing is claimed" {
	# other tests run beside it: more noise than on a quiet machine
	"$TALLY" diff --noise 6 old.data again.data >text
	grep -q '^# Changes: 0;' text
	[ "$("$TALLY" diff --noise 6 -q --changed old.data again.data | wc -l)" -eq 0 ]
	grep -q 'within the noise .* slow$' text
}

@test "baseline and changes are perf's" {
	for compute in delta delta-abs ratio wdiff:1,2; do
		perf diff -q -c $compute -t ';' old.data again.data 2>/dev/null | grep prog | tr -d ' ' | grep -v ';;' >theirs
		"$TALLY" diff -q -c $compute -t ';' old.data again.data | grep prog | awk -F ';' -v OFS=';' '{ print $1, $2, $4, $5 }' | tr -d ' ' >ours
		[ "$(wc -l <theirs)" -ge 4 ]
		# perf has nothing in place of a change to no samples at all
		diff <(sort theirs) <(grep -F -f <(cut -d ';' -f 3- theirs) ours | sort)
	done
}

@test "the order, only the baseline's rows, formulas and periods" {
	"$TALLY" diff -q -o 0 -t ';' old.data new.data | cut -d ';' -f 1 | tr -d '%' | grep . >shares
	sort -rn -c shares
	run -1 grep -c '^;' <("$TALLY" diff -q -b -t ';' old.data new.data)
	"$TALLY" diff -q -F -p old.data again.data | grep -q '([0-9]* \* 100 / [0-9]*) - ([0-9]* \* 100 / [0-9]*)'
	"$TALLY" diff -o 2 old.data new.data again.data | grep -q 'Delta Abs/2'
}

@test "other ways to compare" {
	"$TALLY" diff --normalize none old.data again.data | grep -q '^# Changes: [0-9]'
	"$TALLY" diff --noise 6 --normalize cpu-clock:u old.data again.data | grep -q '^# Changes: 0;'
	"$TALLY" diff --normalize time old.data again.data | grep -q '^# Changes: [0-9]'
	run -1 "$TALLY" diff --normalize requests old.data again.data
	[[ "$output" == *"cannot compare by 'requests'"* ]]
}

@test "mistakes in the options" {
	run -2 "$TALLY" diff -c wdiff old.data new.data
	run -2 "$TALLY" diff -c wdiff:1 old.data new.data
	run -2 "$TALLY" diff -o 2 old.data new.data
	run -2 "$TALLY" diff -s nothing old.data new.data
	run -1 "$TALLY" diff old.data nowhere.data
}
