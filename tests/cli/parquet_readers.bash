# Readers of Parquet that are not ours, by npm: see tools/install-parquet-readers.

# $READ reads with those in $PACKAGES.  $TALLY must be known.
find_readers() {
	export READ="$BATS_TEST_DIRNAME/parquet.mjs"
	export PACKAGES="${TALLY_PARQUET_READERS:-$(dirname "$TALLY")/npm-parquet}"
}

need_readers() { # WHAT is not tested without them
	[ -e "$PACKAGES/complete" ] || skip "readers of Parquet are not installed (tools/install-parquet-readers): $1"
}
