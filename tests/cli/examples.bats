#!/usr/bin/env bats
# The examples do what they say, with the shared library and with what is installed.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
}

need_events() {
	"$(dirname "$TALLY")/examples/example-samples" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" ||
		grep -q . "$BATS_TEST_TMPDIR/err" || return 1
	[ ! -s "$BATS_TEST_TMPDIR/err" ] || skip "events cannot be opened here: $(head -n 1 "$BATS_TEST_TMPDIR/err")"
}

@test "samples: reads its own samples from the ring" {
	[ -x "$(dirname "$TALLY")/examples/example-samples" ] || skip "the examples are not built"
	need_events
	# 524 steps: the longest way of all numbers below a million (837,799; a known result).
	grep -qx 'longest way to 1: 524 steps' "$BATS_TEST_TMPDIR/out"
	samples=$(sed -n 's/^\([0-9]*\) samples, from 0x.*; 0 of other processes$/\1/p' "$BATS_TEST_TMPDIR/out")
	[ "${samples:-0}" -ge 50 ]
}

@test "samples: builds against what is installed, by pkg-config" {
	cd "$BATS_TEST_TMPDIR"
	command -v meson >/dev/null || skip "meson is not installed"
	command -v cc >/dev/null || skip "no C compiler"
	root=$BATS_TEST_TMPDIR/root
	DESTDIR=$root meson install -C "$(dirname "$TALLY")" --no-rebuild --quiet
	pc=$(find "$root" -name tally.pc)
	[ -n "$pc" ]
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs tally >flags
	readelf -d "$(find "$root" -name 'libtally.so.0')" | grep -q 'SONAME.*libtally.so.0'
	! nm -D --defined-only "$(find "$root" -name 'libtally.so.0')" | awk '$2 ~ /[A-Z]/ && $3 !~ /^(tally_|TALLY_)/' | grep -v ' A ' | grep .
	# shellcheck disable=SC2046
	cc -std=c11 "$TALLY_SOURCE/examples/samples.c" $(cat flags) -o samples ||
		{ nm -D "$(find "$root" -name libtally.so.0)" | grep -q __asan && skip "the library is built with a sanitizer"; false; }
	[ -x samples ]
}
