#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Manual pages as they are shown.

setup() {
	cd "$BATS_TEST_DIRNAME/../../man" || return 1
	command -v scdoc >/dev/null ||
		skip "scdoc is not installed: the pages are not built; tools/check-man reads their sources"
	command -v man >/dev/null ||
		skip "man is not installed: pages are not formatted; tools/check-man reads their sources"
	export LC_ALL=C MANWIDTH=120
}

@test "13.21: no page shows markup, and lines of an example begin in one column" {
	for page in *.scd; do
		scdoc <"$page" | man -l - >"$BATS_TEST_TMPDIR/page" 2>/dev/null
		[ "$(grep -c -e '-[a-z]_[A-Z]' "$BATS_TEST_TMPDIR/page")" = 0 ] || { echo "$page"; return 1; }
	done
	scdoc <tally-record.1.scd | man -l - 2>/dev/null >"$BATS_TEST_TMPDIR/page"
	grep -A 1 ' xz -9 -k big.tar$' "$BATS_TEST_TMPDIR/page" | sed 's/tally.*//' | sort -u >"$BATS_TEST_TMPDIR/columns"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/columns")" = 1 ]
}

@test "13.21: a document that a page cites is installed" {
	grep -q COMPATIBILITY.md tally-script.1.scd
	grep -q "install_data('../doc/COMPATIBILITY.md'" meson.build
}
