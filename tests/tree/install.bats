#!/usr/bin/env bats
# `make install` and `make uninstall`: where the files go, and that all of them go away again.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
}

teardown() {
	[ -z "${BUILD:-}" ] || rm -rf "$BUILD"
}

@test "13.6: make install PREFIX=DIR installs in DIR what was built for another prefix, and make uninstall removes it" {
	command -v meson >/dev/null || skip "meson is not installed: nothing can be installed here"
	if nm "$TALLY" | grep __asan_init >/dev/null; then
		skip "the build with sanitizers is not installed: the usual build runs this test"
	fi
	# A copy of the build, beside it: the one under test keeps its prefix, and little is compiled again.
	built=$(realpath "$(dirname "$TALLY")")
	cd "$TALLY_SOURCE"
	[ -f "$built/build.ninja" ] && [ "$(dirname "$built")" = "$(realpath .)" ] || skip "TALLY is not in a build of these sources"
	BUILD=$(mktemp -d -p "$PWD" build-XXXXXX)
	tar -C "$built" --exclude=./tests --exclude=./fuzz --exclude=./bench --exclude=./tidy --exclude='./npm*' -c . |
		tar -C "$BUILD" -x
	meson setup --reconfigure "$BUILD" --prefix /usr/local -Dtests=false >"$BATS_TEST_TMPDIR/log" || {
		cat "$BATS_TEST_TMPDIR/log"
		return 1
	}
	to=$BATS_TEST_TMPDIR/to
	run make install BUILD="$BUILD" PREFIX="$to"
	[ "$status" = 0 ]
	[[ $output == *"Installed in $to;"* ]]
	[ "$("$to/bin/tally" version)" = "$("$TALLY" version)" ]
	[ -f "$to/include/tally/tally.h" ]
	# A program can be linked to either library by what pkg-config says.
	if command -v pkg-config >/dev/null; then
		PKG_CONFIG_PATH=$(dirname "$(find "$to" -name tally.pc)")
		export PKG_CONFIG_PATH
		# shellcheck disable=SC2046
		gcc "$TALLY_SOURCE/examples/samples.c" -o "$BATS_TEST_TMPDIR/samples" $(pkg-config --cflags --libs tally)
		# shellcheck disable=SC2046
		gcc "$TALLY_SOURCE/examples/samples.c" -o "$BATS_TEST_TMPDIR/static" \
			$(pkg-config --cflags --static --libs tally | sed 's/-ltally/-l:libtally.a/')
		[ "$(ldd "$BATS_TEST_TMPDIR/static" | grep -c libtally)" = 0 ]
	fi
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
