#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# `tally top`, and the screen that `report --tui` shares with it.

load work

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}" LC_ALL=C
	cd "$BATS_FILE_TMPDIR" || return 1
	export HOME="$PWD"
	make_work -O1 || return 0
	"$TALLY" record -q -g -e cpu-clock -o chains.data -- ./work 50 2>/dev/null || return 0
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s chains.data ] || skip "needs a compiler, and events that can be opened"
}

teardown() {
	[ -z "${WORK:-}" ] || kill "$WORK" 2>/dev/null || true
}

# A terminal of 24 rows and 80 columns for a command; keys are typed one each third of a second, once the screen,
# which the caller writes to the file `seen`, has a row.
screen() { # keys, command
	local keys=$1 turns=0
	shift
	command -v script >/dev/null ||
		skip "script(1) is not installed: there is no terminal; the first test looks at tables"
	{
		until grep -qs large seen || [ $((turns += 1)) -gt 100 ]; do sleep 0.1; done
		while IFS= read -r key; do
			printf '%b' "$key"
			sleep 0.3
		done <<<"$keys"
	} | script -qec "stty rows 24 cols 80 && env -u COLUMNS -u LINES NO_COLOR=1 TERM=vt100 $*; echo status \$?" /dev/null
}

@test "17: top prints the functions of a process, the hottest one first, with what they called" {
	./work 100000 3>&- &
	WORK=$!
	"$TALLY" top --stdio -e cpu-clock -g -p "$WORK" -d 1 -z --refreshes 2 -E 8 >table 2>err
	head -n 1 table | grep -Eq '^tally top: [1-9][0-9]* samples.*; own CPU [0-9.]+%$'
	run -1 grep 'own CPU 0\.0%' table
	awk '/^tally top/ { tables++ } $NF == "large" && tables == 2 { large = $2 + 0 } $NF == "small" && tables == 2 { small = $2 + 0 }
		$NF == "both" && tables == 2 { both = $1 + 0; self = $2 + 0 }
		END { exit !(tables == 2 && large > 60 && large < 90 && small > 10 && small < 40 && both > 95 && self < 5) }' table ||
		{ cat table; false; }
}

@test "17: top ends when its process does, and runs no command" {
	timeout -s INT 20 "$TALLY" top --stdio -e cpu-clock -p $$ -d 0.2 --refreshes 1 >table 2>err || true
	./work 100 3>&- &
	WORK=$!
	timeout 20 "$TALLY" top --stdio -e cpu-clock -p "$WORK" -d 0.2 >table 2>err
	grep -q ' large$' table
	run -2 "$TALLY" top ./work
	[[ "$output" == *"top runs no command"* ]]
	run -2 "$TALLY" top -d 0
	[[ "$output" == *"0.1 to 86400 seconds"* ]]
	run -2 "$TALLY" top -s nonsense
	[[ "$output" == *"unknown sort key 'nonsense'"* ]]
}

@test "17: top on a terminal is a screen that ends with q" {
	./work 100000 3>&- &
	WORK=$!
	screen $'p\n?\nx\nq' "$TALLY" top -e cpu-clock -g -p "$WORK" -d 0.3 >seen
	grep -q 'own CPU' seen
	grep -q 'large' seen
	grep -q 'goes on' seen
	grep -q 'the next event' seen
	grep -aq 'status 0' seen
}

@test "17: report --tui: a row opens, and a filter that nothing contains leaves no row" {
	screen $'j\n\\r\nq' "$TALLY" report --tui -i chains.data >seen
	grep -aq 'status 0' seen
	grep -q 'samples of cpu-clock' seen
	grep -q 'Enter' seen
	grep -Eq -- '- +[0-9.]+%' seen
	screen $'/nothing has this name\\r\nq' "$TALLY" report --tui -i chains.data >seen
	grep -q "no row contains" seen
}

@test "17: report --tui without a terminal prints the text" {
	"$TALLY" report --tui -i chains.data >with
	"$TALLY" report -i chains.data >without
	diff with without
}

@test "17: each option of perf's commands is there, or answered with the reason, as the pages of doc say" {
	run -0 "$BATS_TEST_DIRNAME/../../tools/command-options" "$(realpath --relative-to="$BATS_TEST_DIRNAME/../.." "$(dirname "$TALLY")")" --check
}
