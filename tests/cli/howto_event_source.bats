#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# doc/HOWTO-add-event-source.md holds: a made-up family of events is added by a stored patch to a copy of the
# sources, and its names are parsed, suggested and listed.  If the patch no longer applies, make it anew by
# following the HOWTO.  Only the files that read the table of families are compiled.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	cd "$BATS_FILE_TMPDIR" || return 1
	build=$(dirname "$TALLY")
	rebuild=$TALLY_SOURCE/tests/howto/rebuild.py
	mkdir tree
	cp -r "$TALLY_SOURCE/src" "$TALLY_SOURCE/include" tree
	patch -s -p1 -d tree <"$TALLY_SOURCE/tests/howto/event_source.patch" >patched 2>&1 || return 0
	{
		for source in event/gadget event/parse event/format event/suggest metric/catalog; do
			python3 "$rebuild" compile "$build" tree "src/$source.c" "${source#*/}.o" || break
		done
		python3 "$rebuild" link "$build" tally patched-tally gadget.o parse.o format.o suggest.o catalog.o
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

@test "14.3: an event source is one file and one row" {
	patch=$TALLY_SOURCE/tests/howto/event_source.patch
	[ "$(grep -c '^+++ ' "$patch")" = 2 ]
	grep -q '^+++ b/src/event/family.h' "$patch"
	[ "$(grep -c '^+.*FAMILY(' "$patch")" = 1 ]
	[ "$(grep -c '^-[^-]' "$patch")" = 0 ]
}

@test "14.3: the patch applies to the sources of today" {
	command -v patch || skip "patch is not installed: the patch is only counted, by the test before"
	cat patched
	[ ! -s patched ]
	grep -q 'FAMILY(gadget)' tree/src/event/family.h
}

@test "14.3: names of a new family are parsed, with modifiers, terms and in groups" {
	need_build
	run -0 ./patched-tally encode gadget-wheels
	[[ "$output" = *'type             1077'*'config           0x2'* ]]
	run -0 ./patched-tally encode '{gadget-springs/period=7/,cycles}:u'
	[[ "$output" = *'type             1077'*'config           0x1'*'exclude_kernel   1'* ]]
	run -1 "$TALLY" encode gadget-wheels
}

@test "14.3: a misspelled name of a new family is suggested" {
	need_build
	run -1 ./patched-tally encode gadget-wheel
	[[ "$output" = *'(did you mean gadget-wheels?)'* ]]
}

@test "14.show.2: tally list and its JSON have the names and the forms of a new family, without a change of their own" {
	need_build
	run -0 --separate-stderr ./patched-tally list pmu
	[[ "$output" = *gadget-springs* ]]
	[[ "$output" = *gadget-wheels* ]]
	run -0 --separate-stderr ./patched-tally list gadget-N
	[[ "$output" = *'gadget-N'*'the gadget with this number'* ]]
	./patched-tally list -j 2>/dev/null >list.json
	[ "$(grep -o '"name":"gadget-' list.json | wc -l)" = 3 ]
}
