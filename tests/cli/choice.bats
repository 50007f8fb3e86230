#!/usr/bin/env bats
# --filter: an expression chooses samples.  Answers are compared with what script shows of all samples.
bats_require_minimum_version 1.5.0

load ../agree/dlfilter/frame

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v cc >/dev/null && command -v python3 >/dev/null || return 0
	make_streams
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	need_compiler
}

# The samples of all.data by their periods, which are 100, 101, ...: 20 of 22, as two are of guests.
chosen() { # expression
	"$TALLY" script -i all.data -G -F period --filter "$1" | xargs
}

is() { # expression, periods
	[ "$(chosen "$1")" = "$2" ] || { echo "$1: '$(chosen "$1")', not '$2'"; return 1; }
}

@test "comparisons of numbers" {
	is "period < 103" "100 101 102"
	is "period <= 101" "100 101"
	is "period > 119" "120 121"
	is "period >= 120" "120 121"
	is "period == 107" "107"
	is "period = 0x6b" "107"
	is "period != 107 and period > 105 and period < 109" "106 108"
	is "tid == 777" "101"
	is "pid == 9" "102"
	is "pid == -1" ""
	is "pid > -1 and period < 102" "100 101"
	is "cpu == 7" "121"
	is "ip == 0" "106"
	is "ip >= 0xffffffff00000000" "111"
	is "addr == 0" "103"
	is "weight == 3" "100"
	is "time < 1.000002" "100 101"
	is "time >= 1.000020" "120 121"
	is "time == 1.00002" "120"
}

@test "comparisons of text" {
	is "comm == the-prog" "101"
	is "comm == 'a thread' and period < 104" "100 103"
	is 'comm != "a thread"' "101 102"
	is "comm =~ ^the" "101"
	is "comm !~ ^a" "101 102"
	is "sym == bar" "107"
	is "sym =~ ^ba and dso == fb" "107"
	is "dso == $PWD/fb and sym == bar" "107"
	is "sym != foo and sym != bar and period < 110" "" # what has no symbol matches nothing
	is "not sym == foo and not sym == bar and period < 107" "102 105 106"
	is "event == branches and period < 102" "100 101"
	is "event == branches:HG and period < 102" "100 101"
	is "event =~ ^br and period < 102" "100 101"
}

# bats test_tags=usual
@test "threads without a name take no memory for it" {
	nm "$TALLY" | grep __asan_init >/dev/null && skip "sanitizers reserve memory"
	ulimit -v 2000000
	is "comm == the-prog" "101"
}

@test "and, or, not, brackets: each binds as it should" {
	is "period == 100 or period == 101 and tid == 777" "100 101"
	is "(period == 100 or period == 101) and tid == 777" "101"
	is "not period > 100" "100"
	is "not period > 100 or period == 105" "100 105"
	is "not (period > 100 or period == 100)" ""
	is "!(period>101)&&!(period<101)||period==104" "101 104"
	is "not not period == 103" "103"
	is "period == 100 or period == 102 or period == 104 or period == 106" "100 102 104 106"
	is "period > 100 and period > 101 and period > 102 and period < 104" "103"
}

@test "a function anywhere in the stack" {
	# bar is called in each chain; not mapped, in a mode without mappings, or without a chain it is not found.
	is "stack has nobody" ""
	is "stack has bar and period < 103" "100 101"
	is "stack =~ ^ba and period < 103" "100 101"
	is "stack has foo and period == 118" "118" # by where the sample fell: the chain is empty
	is "stack has bar and period == 118" ""
}

@test "of several events each by its own fields" {
	[ "$("$TALLY" script -i events.data --filter 'cpu == 1' | wc -l)" = 3 ]
	[ "$("$TALLY" script -i events.data --filter 'not cpu == 1' | wc -l)" = 27 ]
	[ "$("$TALLY" script -i events.data --filter 'event == page-faults' | wc -l)" = 6 ]
	[ "$("$TALLY" script -i events.data --filter 'event =~ cache' | wc -l)" = 6 ]
}

@test "it stands before all that shows samples, and beside filters in shared objects" {
	[ "$("$TALLY" script -i all.data --json --filter 'period < 103' | grep -o '"period":[0-9]*' | tr '\n' ' ')" = \
		'"period":100 "period":101 "period":102 ' ]
	"$TALLY" report -i all.data -n --stdio -g none --no-children --filter 'period < 103' >report.txt
	[ "$(awk '/^# Shown/ {print $3}' report.txt)" = 3 ]
	"$TALLY" report -i all.data --stdio --filter 'sym == foo or not sym == foo' >some.txt
	"$TALLY" report -i all.data --stdio >all.txt
	cmp some.txt all.txt
	build odd.so probe -DQUIET -DLATE=n%2
	[ "$("$TALLY" script -i all.data -G --dlfilter ./odd.so --filter 'period < 108' | wc -l)" = 4 ]
	if "$TALLY" script -i all.data --sql out.db --filter 'period < 103' 2>sql.err; then
		[ "$(sqlite3 out.db 'SELECT count(*) FROM samples')" = 3 ]
	fi
}

# Nothing is shown, the status is 2, the caret stands below the column, and the message says what is wrong.
wrong() { # expression, column, text
	run --separate-stderr "$TALLY" script -i all.data --filter "$1"
	[ "$status" = 2 ]
	[ -z "$output" ]
	[[ "$stderr" = *"$3"* ]] || { echo "$1: $stderr"; return 1; }
	grep -qxF -- "  $(printf '%*s' "$2" "")^" <<<"$stderr" || { echo "$1: $stderr"; return 1; }
}

@test "mistakes are reported before anything is read, with a caret" {
	run "$TALLY" script -i all.data --filter ""
	[ "$status" = 2 ]
	[[ "$output" = *"the value is empty"* ]]
	wrong "pid" 3 "expected a comparison"
	wrong "pid ==" 6 "expected a value"
	wrong "pid == x" 7 "'x' is not a number"
	wrong "time > soon" 7 "a time in seconds"
	wrong "(pid == 1" 0 "this bracket is not closed"
	wrong "pid == 1 )" 9 "expected 'and' or 'or'"
	wrong "pid == 1 comm == x" 9 "expected 'and' or 'or'"
	wrong "comm < a" 5 "this is text"
	wrong "pid =~ 1" 4 "this is a number"
	wrong "pid has x" 4 "'has' is for the stack"
	wrong "stack == x" 6 "a stack 'has' a function"
	wrong "comm =~ (" 8 "not a regular expression"
	wrong "comm == 'x" 8 "does not end"
	wrong "event == nope" 9 "no event 'nope'"
	wrong "prev_comm == x" 0 "no tracepoint of this recording has a field 'prev_comm'"
	wrong "com == x" 0 "did you mean 'comm'?"
	wrong "pid == 1 and" 12 "expected a field"
	run -2 --separate-stderr "$TALLY" script -i missing.data --filter "pid =="
	[[ "$stderr" = *"expected a value"* ]]
}

@test "a field that no event records is a mistake" {
	run --separate-stderr "$TALLY" report -i simple.data --filter 'weight > 1'
	[ "$status" = 2 ]
	[[ "$stderr" = *"no event of this recording records the weight of its samples"* ]]
}

@test "13.36: a regular expression that would take gigabytes or hours is refused" {
	run "$TALLY" report -i none.data --filter 'comm =~ "x++++++++++++++++++++++++++++++++++++"'
	[ "$status" = 2 ]
	[[ $output = *"repeats too much"* ]]
	run -2 "$TALLY" report -i none.data --filter 'comm =~ "(a{200}){200}{200}"'
	[[ $output = *"repeats too much"* ]]
	for option in parent ignore-callees; do
		run -1 "$TALLY" report -i all.data --stdio --sort parent --$option 'x++++++++++++++++++++++++++++++++++++'
		[[ $output = *"repeats too much"* ]]
		run -1 "$TALLY" report -i all.data --stdio --sort parent --$option '('
		[[ $output = *"'(' is not a regular expression: Unmatched ("* ]]
	done
	# parts that may be empty: seconds for each of these, hours for a few + more
	for pattern in '!+*++++++++++' '(a*)++++++++++++++' '(((a?b*)+)+{40}){40}' '([]+)]*)++++++++++++'; do
		run -2 "$TALLY" report -i none.data --filter "comm =~ \"$pattern\""
		[[ $output = *"repeats too much"* ]]
	done
	for pattern in '^(g[+][+]|cc1.*)+[0-9]{1,3}$' '[]++++++++++++++]' '[[:alpha:]++++++++++++]+' 'a\+\+\+\+\+\+\+\+\+\+\+\+' \
		"$(seq -s '+|x' 500)" 'a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+'; do
		run -1 "$TALLY" report -i none.data --filter "comm =~ \"$pattern\""
		[[ $output != *"repeats too much"* ]]
	done
}
