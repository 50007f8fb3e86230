#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally report -F: which columns there are, what makes the rows, and what these are sorted by.

load ../agree/dlfilter/frame

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_PAGER=
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v cc >/dev/null && command -v python3 >/dev/null || return 0
	make_streams
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	need_compiler
}

rows() { # options
	all_rows "$@" | awk 'NF == 0 {exit} {print}' # of the first event
}

all_rows() { # options
	"$TALLY" report -i all.data -q -t '|' -g none "$@" | tr -d ' '
}

@test "13.S: report -F has these columns in this order, and its keys make the rows" {
	[ "$(rows -F comm,overhead -c the-prog)" = "the-prog|4.15%" ]
	[ "$(rows -F sample,comm,period -c the-prog)" = "1|the-prog|101" ]
	[ "$(rows -F overhead,sample)" = "100.00%|22" ]
	titles=$("$TALLY" report -i all.data -F sym,overhead,comm -g none | grep '^# Symbol')
	[[ "$titles" =~ ^'# Symbol'\ +'Overhead  Command'\ *$ ]]
}

@test "13.S: report -F sorts rows by the columns from left to right, -s by its keys first" {
	rows -F comm,sym >ours
	[ "$(wc -l <ours)" -ge 4 ]
	LC_ALL=C sort -s -c -t '|' -k 1,1 ours
	rows -F sample,comm >ours
	sort -s -c -t '|' -k 1,1nr ours
	rows -s comm -F sample >ours
	LC_ALL=C sort -s -c -t '|' -k 2,2 ours
	[ "$(cut -d '|' -f 1 ours | sort -n)" = "$(rows -F sample,comm | cut -d '|' -f 1 | sort -n)" ]
}

@test "13.S: report -F +sample is a column more, and a wrong name is refused with those that there are" {
	[ "$(rows -s comm --no-children -F +sample -c the-prog)" = "4.15%|1|the-prog" ]
	[ "$(rows --no-children -F +sample)" = "$(rows --no-children -n)" ]
	run "$TALLY" report -i all.data -F comm,wight
	[ "$status" = 2 ]
	[[ "$output" = *"--fields: unknown column 'wight'; did you mean weight?"* ]]
}
