#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# --stitch-lbr against perf: recordings of threads whose calls are made up, as no LBR is needed to read them.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	{
		for n in {0..19}; do echo "int f$n(int x) { return x + $n; }"; done
		echo "int main(void) { return 0; }"
	} >calls.c
	cc -O0 -no-pie -o calls calls.c || return 0
	for seed in 1 2 3; do
		python3 "$BATS_TEST_DIRNAME/calls_of_lbr.py" calls 300 $seed |
			python3 "$BATS_TEST_DIRNAME/../cli/recording.py" "$seed.data" lbr || return 0
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s 3.data ] || skip "no cc, python3 or nm: the recordings cannot be made; tests/unit/resolve has known answers"
	perf report -h 2>&1 | grep -q -- --stitch-lbr ||
		skip "no perf with --stitch-lbr: nothing to compare with; tests/unit/resolve has known answers"
}

rows() { # program, recording, options
	"$1" report -i "$2" --stdio --no-children -g caller,folded,0 --percent-limit 0 "${@:3}" 2>/dev/null |
		sed -e '/^#/d' -e '/^ *$/d' -e 's/ *$//' | sort
}

@test "17: --stitch-lbr gives chains the callers that perf gives them, and they are more than without" {
	for seed in 1 2 3; do
		for options in "" --stitch-lbr; do
			# shellcheck disable=SC2086
			rows perf $seed.data $options >theirs
			# shellcheck disable=SC2086
			rows "$TALLY" $seed.data $options >"ours$options"
			[ -s theirs ]
			diff theirs "ours$options"
		done
		run -1 cmp -s ours ours--stitch-lbr
	done
}

@test "17: script --stitch-lbr prints perf's text" {
	perf script -i 1.data --stitch-lbr >theirs 2>/dev/null
	"$TALLY" script -i 1.data --stitch-lbr >ours
	[ -s theirs ]
	diff theirs ours
}

@test "17: --stitch-lbr of a recording without chains of LBR says so, and the report is as without" {
	python3 "$BATS_TEST_DIRNAME/../cli/recording.py" plain.data chains <<<"sample 10 401006"
	run -0 --separate-stderr "$TALLY" report -i plain.data --stitch-lbr
	[[ "$stderr" = *"--stitch-lbr has no effect: no event has call chains of LBR; record with --call-graph lbr"* ]]
	[ "$output" = "$("$TALLY" report -i plain.data 2>/dev/null)" ]
}
