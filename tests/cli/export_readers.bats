#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally export: programs of others read what it wrote, by themselves, and have the report's sums of functions.

load hostile_program

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	export READ="$BATS_TEST_DIRNAME/export.py" OTHERS="$BATS_TEST_DIRNAME/export_readers.py"
	export PACKAGES="${TALLY_EXPORT_READERS:-$(dirname "$TALLY")/npm-export}"
	mkdir -p "$HOME"
	cd "$BATS_FILE_TMPDIR" || return 1
	make_hostile_program || return 0
	made | python3 "$BATS_TEST_DIRNAME/recording.py" made.data chains
}

# Lines for recording.py: two processes, one with a hostile name.
made() {
	place_functions 400000
	echo "comm 10 prog"
	echo "map 10 $map"
	echo 'comm 11 evil";<b>'
	echo "map 11 $map"
	echo "sample 10 ${at[leaf]} user ${at[leaf]} $(later middle) $(later main)"
	echo "times 6"
	echo "sample 10 ${at[middle]} user ${at[middle]} $(later hostile) $(later main)"
	echo "sample 11 ${at[hostile]} user ${at[hostile]} $(later main)"
	echo "times 4"
	echo "sample 11 123456 user 123456 $(later main)"
	echo "sample 10 ${at[main]} user ${at[main]}"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s made.data ] || skip "gcc, nm or readelf is missing: nothing to export"
}

need_packages() {
	[ -e "$PACKAGES/complete" ] || skip "it is not installed (tools/install-export-readers): the reader in Python has checked the format in export.bats"
}

need_schema() { # a file of TALLY_SCHEMAS
	command -v protoc >/dev/null || skip "protoc is not installed: the reader in Python has checked the format in export.bats"
	[ -e "${TALLY_SCHEMAS:-}/$1" ] || skip "TALLY_SCHEMAS is not a folder with the published $1: the reader in Python has checked the format in export.bats"
}

# The recording in a format, as another program has it; arguments: format, where that program or its schema is.
agree() {
	"$TALLY" report -s symbol --json --no-inline --percentage relative -i made.data >report.json
	"$TALLY" export --to "$1" --no-inline -f -o out made.data
	python3 "$OTHERS" "$1" "$2" out >sums.json
	run -0 python3 "$READ" compare sums sums.json report.json
	[[ $output = *" functions are equal, and "* ]]
}

@test "speedscope's importer has the report's sums" {
	need_packages
	[ -n "$(compgen -c chromium)" ] || skip "Chromium is not installed: the reader in Python has checked the format in export.bats"
	agree speedscope "$PACKAGES"
	grep -qF '"a\"<b>\\x;y&'"'"'z(),": [5000, 6000]' sums.json
}

@test "the Firefox Profiler has the report's sums" {
	need_packages
	agree firefox "$PACKAGES"
	grep -qF '"a\"<b>\\x;y&'"'"'z(),": [5000, 6000]' sums.json
}

@test "the published schema of OpenTelemetry decodes it whole, with the report's sums" {
	need_schema opentelemetry/proto/profiles/v1development/profiles.proto
	agree otlp "$TALLY_SCHEMAS"
}

@test "the published schema of Perfetto decodes it whole, with the report's sums" {
	need_schema protos/perfetto/trace/perfetto_trace.proto
	agree perfetto "$TALLY_SCHEMAS"
}
