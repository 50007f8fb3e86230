#!/usr/bin/env bats
# A stream that is read while it grows.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	SUMS="$(dirname "$TALLY")/tests/live_sums"
	export SUMS
	# Programs that start others, map libraries while they run, and change their names.
	cat >"$BATS_FILE_TMPDIR/work" <<-'EOF'
		for i in 1 2 3; do
			(for j in 1 2 3 4; do ls -lR /usr/include/linux >/dev/null; done) &
			sleep 0.2 # rings are read ten times a second: there are several windows
			awk 'BEGIN { for (i = 0; i < 300000; i++) s = s + i % 7 }'
		done
		wait
	EOF
	if ! "$TALLY" record -o "$BATS_FILE_TMPDIR/try" true >/dev/null 2>"$BATS_FILE_TMPDIR/err"; then
		skip "events cannot be opened here: $(head -n 1 "$BATS_FILE_TMPDIR/err")"
	fi
}

# Records into a pipe and a file at once; the sums of both are compared.
same_sums() {
	cd "$BATS_TEST_TMPDIR"
	"$TALLY" record "$@" -F 5000 -o - sh "$BATS_FILE_TMPDIR/work" 2>record.err |
		tee stream | "$SUMS" - "${order[@]}" >live 2>live.err
	"$SUMS" stream "${order[@]}" >file 2>file.err
	grep -qx 'in windows, 0 dropped' live.err
	grep -qx 'at once, 0 dropped' file.err
	[ "$(wc -l <file)" -gt 50 ]
	grep -q ' awk ' file
	grep -q ' ls ' file
	diff live file
}

@test "14.1: a stream that is read while it grows gives the same sums by thread and function as its file" {
	order=()
	same_sums
}

@test "14.1: the same with call chains, in the order of time" {
	order=(order)
	same_sums -g
}

@test "14.1: the same with chains that are unwound" {
	order=()
	same_sums --call-graph=dwarf
}

@test "14.1: what is no stream is refused" {
	run "$SUMS" - <<<'this is no recording'
	[ "$status" -eq 1 ]
	[ -n "$output" ]
}

@test "17: a profile that follows a stream ends as the report of its file" {
	cd "$BATS_TEST_TMPDIR"
	# Long enough for some profiles where each takes its time.
	"$TALLY" record -g -F 5000 -o - sh -c 'for i in 1 2 3; do sh "$0"; done' "$BATS_FILE_TMPDIR/work" 2>record.err | tee stream |
		"$(dirname "$TALLY")/tests/live_follow" >live 2>live.err
	"$TALLY" report -i stream --csv >file
	grep -Eq '^([3-9]|[1-9][0-9]+) profiles$' live.err
	[ "$(wc -l <file)" -gt 50 ]
	diff live file
}
