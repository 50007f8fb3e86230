#!/usr/bin/env bats
# `make install` and `make uninstall`: where the files go, and that all of them go away again.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	command -v meson >/dev/null || skip "meson is not installed"
	! nm "$TALLY" | grep -q __asan_init || skip "the build with sanitizers is not installed"
	# A quick build of its own: the one under test keeps its prefix.
	export BUILD=$BATS_FILE_TMPDIR/build
	cd "$TALLY_SOURCE"
	meson setup "$BUILD" --prefix /usr/local -Dtests=false -Dbuildtype=plain >"$BATS_FILE_TMPDIR/log" || {
		cat "$BATS_FILE_TMPDIR/log"
		return 1
	}
}

@test "13.6: make install PREFIX=DIR installs in DIR what was built for another prefix, and make uninstall removes it" {
	cd "$TALLY_SOURCE"
	to=$BATS_TEST_TMPDIR/to
	run make install BUILD="$BUILD" PREFIX="$to"
	[ "$status" = 0 ]
	[[ $output == *"Installed in $to;"* ]]
	[ "$("$to/bin/tally" version)" = "$("$TALLY" version)" ]
	[ -f "$to/include/tally/tally.h" ]
	# Filters are looked for below the same prefix.
	grep -q "$to/lib" "$to/bin/tally"

	: >"$to/bin/other"
	run make uninstall BUILD="$BUILD"
	[ "$status" = 0 ]
	[ "$(find "$to" ! -type d)" = "$to/bin/other" ]
	[ ! -e "$to/include" ]
	run make uninstall BUILD="$BUILD"
	[ "$status" -ne 0 ]
	[[ $output == *"nothing was installed from this checkout"* ]]
}
