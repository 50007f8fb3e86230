#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Binaries that are made to exhaust or to block the program that reads them, each mapped by a small recording: see
# tests/damage/hostile.c for the kinds and their numbers.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export BINARIES="${TALLY%/*}/tests/damage/binaries"
}

setup() {
	export HOME="$BATS_TEST_TMPDIR/home" XDG_CACHE_HOME="$BATS_TEST_TMPDIR/home/.cache"
	mkdir -p "$HOME"
	cd "$BATS_TEST_TMPDIR" || return 1
	[ -x "$BINARIES" ] || skip "built without zlib"
}

# Writes a kind, and reads it in two ways; a minute of processor time is much more than any takes.
make() { # kind
	"$BINARIES" --only "$1" --write "$PWD" >/dev/null
}

limited() {
	( ulimit -t 60; exec timeout 300 "$@" )
}

@test "13.22: a path that leads to a FIFO, a device or memory is not opened" {
	for kind in 0 1; do
		make $kind
		run --separate-stderr limited "$TALLY" report -v -i $kind/data
		[ "$status" -eq 0 ]
		[[ "$stderr" == *"/binary is not a regular file: not opened"* ]]
		[[ "$output" == *"binary"*"[.] 0x"* ]]
		run limited "$TALLY" script -D -i $kind/data
		[ "$status" -eq 0 ]
	done
}

@test "13.22: a debug file or shared names in a FIFO are not waited for" {
	for kind in 2 3; do
		make $kind
		run limited "$TALLY" report -i $kind/data
		[ "$status" -eq 0 ]
		run limited "$TALLY" script -F ip,sym,srcline -i $kind/data
		[ "$status" -eq 0 ]
	done
	[[ "$output" == *"plain"* ]]
	[[ "$output" == *"a.c:1"* ]]
}

@test "13.23: a name that would become gigabytes is shown as it is" {
	make 5
	run limited "$TALLY" report -g none -i 5/data
	[ "$status" -eq 0 ]
	[[ "$output" == *"[.] _RINvC1a1bTuuETB7_B7_E"* ]]
}

@test "13.24: symbols that are all around each other are looked up as fast as others" {
	make 7
	run limited "$TALLY" script -F ip,sym -i 7/data
	[ "$status" -eq 0 ]
	[ "$(grep -c ' f$' <<<"$output")" -gt 10000 ]
}

@test "13.25: tables too large for their file are left out, and a line says so" {
	make 8
	run limited "$TALLY" report -i 8/data
	[ "$status" -eq 0 ]
	for kind in 13 15; do
		make $kind
		run --separate-stderr limited "$TALLY" script -F ip,sym,srcline -i $kind/data
		[ "$status" -eq 0 ]
		[[ "$output" == *"plain"* ]]
		[ "$(grep -c "/binary: its source lines or inlined functions are left out: they would take more than .* MB" <<<"$stderr")" -eq 1 ]
	done
}

@test "13.25: a stub whose name is longer than 16 kB has none, so that no line of a sample is long" {
	"$BINARIES" --only 8 --scale 3 --write "$PWD" >/dev/null
	limited "$TALLY" script -F ip,sym -i 8/data >lines # names of 12 kB
	[ "$(awk 'length > 12000 && /@plt/' lines | wc -l)" -gt 1000 ]
	rm -r 8
	"$BINARIES" --only 8 --scale 15 --write "$PWD" >/dev/null
	limited "$TALLY" script -F ip,sym -i 8/data >lines # names of 60 kB
	[ "$(wc -l <lines)" = 30000 ]
	[ -z "$(awk 'length > 100' lines)" ]
}

@test "13.26: a small table that expands a thousandfold is left out, and a line says so" {
	make 11
	[ "$(stat -c %s 11/binary)" -gt 90000 ] || skip "built without liblzma"
	run --separate-stderr limited "$TALLY" report -i 11/data
	[ "$status" -eq 0 ]
	[ "$(grep -c "/binary: its symbols in .gnu_debugdata are left out" <<<"$stderr")" -eq 1 ]
	[[ "$output" == *"_start"* ]]
}

@test "13.26: origins that go round, entries beside themselves and a dwz file of itself end" {
	for kind in 4 17 18; do
		make $kind
		run limited "$TALLY" script -F ip,sym,srcline -i $kind/data
		[ "$status" -eq 0 ]
		[[ "$output" == *"plain"* ]]
	done
}

# bats test_tags=usual
@test "13.26: no kind of hostile binary takes 10 seconds or 500 MB" {
	# With sanitizers the unit test `binaries` runs all kinds, smaller ones.
	if nm "$TALLY" | grep __asan_init >/dev/null; then
		skip "the bounds are those of a build without sanitizers"
	fi
	run "$BINARIES" --full
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c ': ok: ' <<<"$output")" -gt 20 ]
}
