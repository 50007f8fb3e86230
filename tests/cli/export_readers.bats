#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally export: programs of others read what it wrote, by themselves, and have the report's sums of functions.

load hostile_program

# Of few threads each: the Firefox Profiler is started again for each file, and asked for one thread at a time.
OTHERS_OF_CORPUS="__perf.data.remmap-3.2 __perf_with_generic_git_symbols.data __perf_with_callchain_record.data
	__perf_with_kernel_symbols_available_true.data __perf_with_mini_debug_info.data __perf_merge1.data
	__fibo.compressed2.pipe.data __ro_sample.perf"

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	export READ="$BATS_TEST_DIRNAME/export.py" READERS="$BATS_TEST_DIRNAME/export_readers.py"
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

# The recordings: ours with hostile names, one of a real program, and of others where there are some.
recordings() {
	local name
	echo made.data
	[ -e own.data ] || "$TALLY" record -q -N -e cpu-clock -F 4000 -g -o own.data -- python3 -c 'import json; json.loads(json.dumps(list(range(200000))))'
	echo own.data
	for name in $OTHERS_OF_CORPUS; do
		[ -z "${TALLY_CORPUS:-}" ] || compgen -G "$TALLY_CORPUS/files/*$name"
	done
}

# Recordings in a format, as another program has them; arguments: format, where that program or its schema is, how many of them.
agree() {
	local file count=0 sums
	rm -f out.*
	while read -r file; do
		count=$((count + 1))
		"$TALLY" report -s symbol --json --no-inline --percentage relative -i "$file" >"report.$count" 2>/dev/null
		"$TALLY" export --to "$1" --no-inline --no-lines -f -o "out.$count" "$file"
	done < <(recordings | head -n "${3:-100}")
	python3 "$READERS" "$1" "$2" $(seq -f out.%g "$count") >sums.json
	while read -r sums; do
		count=$((count - 1))
		echo "$sums" >one.json
		run python3 "$READ" compare sums one.json "report.$(($(wc -l <sums.json) - count))"
		echo "$output"
		[ "$status" -eq 0 ]
	done <sums.json
	[ "$count" -eq 0 ]
	grep -qF '"a\"<b>\\x;y&'"'"'z(),": [5000, 6000]' sums.json
}

@test "speedscope's importer has the report's sums" {
	need_packages
	[ -n "$(compgen -c chromium)" ] || skip "Chromium is not installed: the reader in Python has checked the format in export.bats"
	agree speedscope "$PACKAGES"
}

@test "the Firefox Profiler has the report's sums" {
	need_packages
	agree firefox "$PACKAGES" 3 # of which it takes two seconds each; all ten are equal
}

@test "the published schema of OpenTelemetry decodes it whole, with the report's sums" {
	need_schema opentelemetry/proto/profiles/v1development/profiles.proto
	agree otlp "$TALLY_SCHEMAS"
}

@test "the published schema of Perfetto decodes it whole, with the report's sums" {
	need_schema protos/perfetto/trace/perfetto_trace.proto
	agree perfetto "$TALLY_SCHEMAS"
}
