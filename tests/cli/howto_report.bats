#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# doc/HOWTO-add-sort-key.md and doc/HOWTO-add-output-format.md hold: a made-up sort key and a made-up format of
# reports are added by stored patches to a copy of the sources, and help, completion, manual page and all
# formats have them.  If a patch no longer applies, make it anew by following the HOWTO.  Only the files that the
# patches touch are compiled; the rest is the build that is tested.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	cd "$BATS_FILE_TMPDIR" || return 1
	build=$(dirname "$TALLY")
	rebuild=$TALLY_SOURCE/tests/howto/rebuild.py
	mkdir tree
	cp -r "$TALLY_SOURCE/src" "$TALLY_SOURCE/include" tree
	printf '%s\n' 'comm 6 even' 'comm 7 odd' 'sample 7 400100' 'times 3' 'sample 6 400100' |
		python3 "$TALLY_SOURCE/tests/cli/recording.py" two.data
	for change in sort_key report_format; do
		patch -s -p1 -d tree <"$TALLY_SOURCE/tests/howto/$change.patch" || return 0
	done >patched 2>&1
	{
		for source in key/key_sample report/report_format report/report_lines; do
			python3 "$rebuild" compile "$build" tree "src/$source.c" "${source#*/}.o" || break
		done
		python3 "$rebuild" link "$build" tally patched-tally key_sample.o report_format.o report_lines.o
	} >built 2>&1 || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

need_build() {
	for tool in patch ninja python3; do
		command -v "$tool" || skip "$tool is not installed: nothing is compiled; the tests before read the patch"
	done
	cat patched built
	[ -x patched-tally ]
}

sources_of() { # patch: the files that it touches
	grep '^+++ ' "$TALLY_SOURCE/tests/howto/$1.patch" | sed 's|^+++ b/||'
}

added() { # patch, file: lines that it adds there
	awk -v file="+++ b/$2" '/^\+\+\+ /{on = $0 == file; next} on && /^\+/{lines++} END{print lines + 0}' \
		"$TALLY_SOURCE/tests/howto/$1.patch"
}

@test "14.3: a sort key is one row and its value function: the patch touches one source file" {
	[ "$(sources_of sort_key)" = src/key/key_sample.c ]
	[ "$(grep -c '^-[^-]' "$TALLY_SOURCE/tests/howto/sort_key.patch")" = 0 ]
	[ "$(grep -c '^+ *{\.name = ' "$TALLY_SOURCE/tests/howto/sort_key.patch")" = 1 ]
	[ "$(added sort_key src/key/key_sample.c)" -le 16 ]
}

@test "14.3: a report format is one file and one row" {
	[ "$(sources_of report_format | wc -l)" = 2 ]
	[ "$(sources_of report_format | head -n 1)" = src/report/report_format.h ]
	# The row, and that of the one before it, which is continued.
	[ "$(added report_format src/report/report_format.h)" -le 2 ]
}

@test "14.3: the patches apply to the sources of today" {
	command -v patch || skip "patch is not installed: the patches are only counted, by the tests before"
	cat patched
	[ ! -s patched ]
	grep -q '"odd"' tree/src/key/key_sample.c
	[ -s tree/src/report/report_lines.c ]
}

@test "14.3: a new key is a column of text, CSV and JSON, and rows are made and sorted by it" {
	need_build
	run -0 --separate-stderr ./patched-tally report -i two.data -s odd
	[[ "$output" = *'# Overhead  Odd'* ]]
	[ "$(echo "$output" | grep -v '^#' | tr -s ' ')" = $' 80.00% 1\n 20.00% 0' ]
	run -0 --separate-stderr ./patched-tally report -i two.data --csv -s comm,odd
	[ "$output" = $'event,overhead,sample,period,comm,odd\ncpu-clock:HG,80,4,4000,odd,1\ncpu-clock:HG,20,1,1000,even,0' ]
	run -0 --separate-stderr ./patched-tally report -i two.data --csv -q -F odd,sample
	[ "$output" = $'cpu-clock:HG,0,1\ncpu-clock:HG,1,4' ]
	./patched-tally report -i two.data --json -s odd 2>/dev/null >rows.json
	python3 -c 'import json
rows = json.load(open("rows.json"))["events"][0]["rows"]
assert [(row["odd"], row["sample"]) for row in rows] == [(1, 4), (0, 1)], rows'
}

@test "14.3: a new format has an option, and writes the same rows" {
	need_build
	run -0 --separate-stderr ./patched-tally report -i two.data --lines -s comm
	[ "$output" = $'80 odd\n20 even' ]
	run -2 ./patched-tally report -i two.data --lines --stats
	[[ "$output" = *'--lines and --stats exclude each other: '* ]]
}

@test "14.3: -h, completion and messages have the new key and the new format" {
	need_build
	./patched-tally report -h >help
	grep -q 'node,* odd' <(tr -s ' \n' ' ' <help)
	grep -q -- '--lines  *a line for each row' help
	run -2 ./patched-tally report -s even -i two.data
	[[ "$output" = *"unknown key 'even'; valid are comm,"*" odd,"* ]]
	# shellcheck disable=SC1091
	source "$TALLY_SOURCE/completions/tally.bash"
	COMP_WORDS=(./patched-tally report -s od) COMP_CWORD=3
	_tally
	[ "${COMPREPLY[*]}" = odd ]
	COMP_WORDS=(./patched-tally report --li) COMP_CWORD=2
	_tally
	[[ " ${COMPREPLY[*]} " = *" --lines "* ]]
}

@test "14.3: the manual page has the new key and the new format" {
	need_build
	mkdir -p page/man
	ln -sf "$BATS_FILE_TMPDIR/patched-tally" page/tally
	python3 "$TALLY_SOURCE/tools/fill-page" page/tally "$TALLY_SOURCE/man/tally-report.1.scd" >filled
	grep -A 1 '^	\*odd\*$' filled | grep -q "1 when the thread's number is odd\."
	grep -A 1 '^\*--lines\*$' filled | grep -q 'A line for each row, with blanks between the values\.'
	grep -q '^- .*\*--lines\*.* exclude ' filled
	# The checker of manual pages agrees.
	cp filled page/man/tally-report.1.scd
	python3 "$TALLY_SOURCE/tools/check-man" "$BATS_FILE_TMPDIR/page" | tee checked
	[ -z "$(grep tally-report checked)" ]
}
