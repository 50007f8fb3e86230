#!/usr/bin/env bats
# 15.JIT: code that compilers make at run time, named by perf maps and dumps.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	COMPILED="$(dirname "$TALLY")/tests/compiled_code"
	export COMPILED
	cd "$BATS_FILE_TMPDIR"
	if ! "$TALLY" record -o try true >/dev/null 2>err; then
		skip "events cannot be opened here: $(head -n 1 err)"
	fi
	"$COMPILED" >/dev/null || skip "the test program has no code for this machine"
	mkdir plain swapped v8
	(cd plain && "$TALLY" record -q -F 1000 -e cpu-clock --call-graph dwarf "$COMPILED" dump unwind >pid)
	(cd swapped && "$TALLY" record -q -F 1000 -e cpu-clock "$COMPILED" dump swapped >pid)
	(cd v8 && "$TALLY" record -q -F 1000 -e cpu-clock "$COMPILED" dump v8 >pid)
}

# The share of a symbol in a report, in whole percent.
share_of() {
	awk -v symbol="$1" '$NF == symbol { sub(/\..*/, "", $1); print $1 }' report
}

shares_are_right() {
	"$TALLY" report --no-children -g none -s symbol >report 2>report.err
	# `first` and `second` were at one address, and so was `moved` for half of its time
	for symbol in first second; do
		[ "$(share_of $symbol)" -ge 15 ] && [ "$(share_of $symbol)" -le 35 ] || { cat report; return 1; }
	done
	[ "$(share_of moved)" -ge 35 ] && [ "$(share_of moved)" -le 65 ] || { cat report; return 1; }
}

@test "15.JIT: code that replaced other code at an address has its own name, also when it was moved there" {
	cd "$BATS_FILE_TMPDIR/plain"
	shares_are_right
}

@test "15.JIT: the same of a dump in the other byte order" {
	cd "$BATS_FILE_TMPDIR/swapped"
	shares_are_right
}

@test "15.JIT: the same where the dump's header has the time of day, as V8 writes it" {
	cd "$BATS_FILE_TMPDIR/v8"
	shares_are_right
}

@test "15.JIT: source lines come from the dump, those of V8 without what it adds to addresses" {
	for of in plain swapped v8; do
		cd "$BATS_FILE_TMPDIR/$of"
		"$TALLY" script -G -F ip,sym,srcline >script
		# nearly all of the time is spent in the loop
		grep -A1 ' first$' script | grep 'made up.js' | sort | uniq -c | sort -nr >lines
		head -n 1 lines | grep -q 'made up.js:20$' || { cat lines; return 1; }
		grep -q ' second$' script
	done
}

@test "15.JIT: the image of a dump is named by its process" {
	cd "$BATS_FILE_TMPDIR/plain"
	"$TALLY" report --no-children -g none -s dso,symbol >report
	grep -q "\[JIT\] tid $(cat pid)  *\[\.\] first$" report
}

@test "15.JIT: stacks are unwound through compiled code by the dump's call frame information" {
	cd "$BATS_FILE_TMPDIR/plain"
	"$TALLY" script -F ip,sym >script
	# a frame of 72 bytes, without a frame pointer: its caller is found by the rules of the dump alone
	awk '$2 == "second" { n++; getline; right += $2 == "run_code" } END { print n, right; exit !(n > 50 && right >= n * 0.99) }' script
}
