#!/usr/bin/env bats
# What README shows is what the commands print: readme/screens.py runs all of them.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	cd "$BATS_FILE_TMPDIR" || return 1
	"$TALLY" record -q -e cpu-clock:k -a -o rights.data -- true 2>/dev/null || return 0
	"$BATS_TEST_DIRNAME/readme/screens.py" "$TALLY_SOURCE/README.md" "$TALLY" "$PWD" >verdicts 2>failed || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s rights.data ] || skip "this user may not measure the kernel (kernel.perf_event_paranoid)"
	[ -z "$(cat /sys/bus/event_source/devices/cpu*/type 2>/dev/null)" ] || skip "README's runs are of a machine without hardware counters"
	[ ! -s failed ] || { cat failed; return 1; }
}

# Each command that begins with these words prints what README shows of it.
prints_the_same() { # words...
	local words
	for words; do
		awk -v words=": $words" '!/^\t/ {chosen = index($0, words)} chosen' verdicts >these
		if grep -A 2 '^other' these; then
			head -n 50 "$(sed -n 's/^\t\([0-9]*\) has no line.*/\1/p' these | head -n 1)"
			return 1
		fi
		if grep -q '^skipped' these; then skip "$(sed -n 's/^\t//p' these | head -n 1)"; fi
	done
}

@test "17.5: README's recordings, reports and counts are as the commands print them" {
	prints_the_same "tally record" "tally report" "tally diff" "tally stat"
}

@test "17.5: README's listing of a function, and of a data type" {
	prints_the_same "tally annotate"
}

@test "17.5: README's run of tally profile" {
	prints_the_same "tally profile"
}

@test "17.5: README's answers about a recording, and the one that is repaired" {
	prints_the_same "tally info" "tally evlist" "tally script" "sqlite3" "tally repair"
}

@test "17.5: README's answers of tally doctor" {
	prints_the_same "tally doctor"
}

@test "17.5: all commands of README were run, and the tests above have all of them" {
	[ "$(grep -c '^[a-z]*: ' verdicts)" = "$(awk '/^```/ {inside = !inside} inside && /^\$ /' "$TALLY_SOURCE/README.md" | wc -l)" ]
	grep '^[a-z]*: ' verdicts | sed -E 's/^[a-z]*: ((tally [a-z]+)|[a-z0-9]+).*/\1/' | sort -u >commands
	printf 'tally %s\n' annotate diff doctor evlist info profile record repair report script stat | cat <(echo sqlite3) - | cmp - commands
}
