#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Recordings of OpenHarmony's hiperf.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	command -v python3 >/dev/null || skip "python3 is not installed: it makes the recordings of this file"
	cd "$BATS_FILE_TMPDIR" || return 1
	python3 "$BATS_TEST_DIRNAME/recording.py" plain.data chains <<-EOF
		comm 5 one
		comm 6 two
		map 5 400000 10000 0 /bin/one
		map 6 400000 10000 0 /bin/two
		sample 5 400100 user 400100 400200 400300
		times 40
		sample 6 400100 user 400100 400200 400400
		sample 5 ffffff8000001000 kernel ffffff8000001000 ffffff8000002000 user 400100 400200 400300
		sample 5 400500 user 400500
		sample 6 400600
	EOF
	python3 "$BATS_TEST_DIRNAME/hiperf.py" plain.data folded.data
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v python3 >/dev/null || skip "python3 is not installed, which makes the recordings"
}

@test "hiperf's deduplicated stacks are call chains like others" {
	[ "$(stat -c %s folded.data)" -lt "$(stat -c %s plain.data)" ]
	for command in script "report --stdio" "report --stdio --no-children -g caller" "script -F ip,sym,dso,event,period" \
		"export --to folded -o -"; do
		# shellcheck disable=SC2086
		"$TALLY" $command -i plain.data >plain.txt
		# shellcheck disable=SC2086
		run -0 --separate-stderr "$TALLY" $command -i folded.data
		[ -n "$output" ]
		[ "$output" = "$(cat plain.txt)" ]
		[ -z "$stderr" ]
	done
}

@test "sections of hiperf are not read as Tally's own" {
	run -0 --separate-stderr "$TALLY" info folded.data
	[[ "$output" = *"CMDLINE RECORD_TIME STACK_TABLE"* ]]
	[[ "$output" = *"hiperf record --dedup_stack -p 5"* ]]
	[[ "$output" != *Stacks* ]]
	[ -z "$stderr" ]
}

@test "repair writes hiperf's deduplicated stacks as call chains" {
	"$TALLY" repair folded.data repaired.data
	[ "$("$TALLY" script -i repaired.data)" = "$("$TALLY" script -i plain.data)" ]
}

@test "a stack that hiperf's table lacks, or that never ends, costs no sample" {
	python3 "$BATS_TEST_DIRNAME/hiperf.py" plain.data lost.data lost
	run -1 --separate-stderr "$TALLY" script -F ip,sym -i lost.data
	[[ "$stderr" = *"the call chain of the sample at byte "*" is not in the table of stacks"* ]]
	[ "$("$TALLY" script -i lost.data -F time 2>/dev/null | grep -c .)" = 45 ]
	python3 "$BATS_TEST_DIRNAME/hiperf.py" plain.data loop.data loop
	[ "$("$TALLY" script -i loop.data -F time 2>/dev/null | grep -c .)" = 45 ]
}
