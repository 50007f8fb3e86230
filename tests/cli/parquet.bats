#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally export --to parquet: four readers that are not ours read the same rows; sums of functions are the report's; stacks
# have the same numbers wherever binaries were loaded.

load parquet_readers
load rights
load hostile_program

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	find_readers
	export SUMS="$BATS_TEST_DIRNAME/export.py"
	mkdir -p "$HOME"
	cd "$BATS_FILE_TMPDIR" || return 1
	make_hostile_program -pie -fPIE || return 0
	made 400000 1000 | python3 "$BATS_TEST_DIRNAME/recording.py" made.data chains
	made 7f0000600000 2000 | python3 "$BATS_TEST_DIRNAME/recording.py" moved.data chains
	printf 'comm 1 none\n' | python3 "$BATS_TEST_DIRNAME/recording.py" empty.data chains
}

# Lines for recording.py: the program loaded at an address, its samples of a period, and some elsewhere.
made() {
	place_functions "$1"
	echo "comm 10 prog"
	echo "map 10 $map"
	echo 'comm 11 evil";<b>'
	echo "map 11 $map"
	echo "period $2"
	echo "sample 10 ${at[leaf]} user ${at[leaf]} $(later middle) $(later main)"
	echo "times 6"
	echo "sample 11 $(later leaf) user $(later leaf) $(later middle) $(later hostile) $(later main)"
	echo "times 3"
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

# The readers are installed.
readers() {
	need_readers "rows are not read back by others; tests/unit/parquet has the encodings"
}

read_rows() { node "$READ" "$PACKAGES" rows "$@"; }

# Rows of a table, without columns that differ by recording or host: fields of JSON by name.
columns() {
	python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(*(row[name] for name in sys.argv[1:]))' "$@"
}

@test "the files are below folders of date, service and version, whose names may be anything" {
	rm -rf out
	"$TALLY" export --to parquet --service 'a/b =%' --release 1.2-3 --host h out made.data
	run -0 find out -type f
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[0]} =~ ^out/date=[0-9]{4}-[0-9]{2}-[0-9]{2}/service=a%2Fb%20%3D%25/version=1.2-3/[a-z]+-[0-9a-f]{16}\.parquet$ ]]
	"$TALLY" export --to parquet --service 'a/b =%' --release 1.2-3 --host h out made.data
	run -0 find out -type f
	[ "${#lines[@]}" -eq 3 ] # the same recording replaces itself
	"$TALLY" export --to parquet --service 'a/b =%' --release 1.2-3 --host other out made.data
	run -0 find out -type f
	[ "${#lines[@]}" -eq 6 ]
	rm -rf out
	"$TALLY" export --to parquet -o out made.data
	run -0 find out -type d -name 'version=*'
	[[ $output = out/date=*/service=unknown/version=unknown ]]
}

@test "four readers that are not ours read the same rows" {
	readers
	rm -rf out
	"$TALLY" export --to parquet --service web --release 2 --host h out made.data
	for table in samples stacks recordings; do
		for reader in hyparquet wasm duckdb chdb; do
			read_rows "$reader" out/*/*/*/$table-*.parquet >"$reader.$table"
			[ -s "$reader.$table" ]
			cmp "$reader.$table" "hyparquet.$table"
		done
	done
	run -0 columns host service version event pid tid comm cgroup cpu count period weight lost <hyparquet.samples
	[ "${#lines[@]}" -eq 19 ]
	[ "${lines[0]}" = "h web 2 cpu-clock:HG 10 10 prog  -1 1 1000 0 0" ]
	[ "${lines[18]}" = 'h web 2 cpu-clock:HG 11 11 evil";<b>  -1 1 1000 0 0' ]
	run -0 columns recording host service version cpus events samples lost throttled damage <hyparquet.recordings
	[[ $output = *" h web 2 0 cpu-clock:HG 19 0 0 " ]]
	grep -qF '"symbol":"a\"<b>\\x;y&'"'"'z(),"' hyparquet.stacks
	head -n 1 hyparquet.samples >row
	grep -q '"recording":"[0-9a-f]*","host":"h",.*"time":"2.*Z",.*"stack_id":"[0-9]*"' row
}

@test "frames have build-ids, places in the file, symbols and lines" {
	readers
	rm -rf out
	"$TALLY" export --to parquet --inline out made.data
	id=$(readelf -n prog | awk '/Build ID/ {print $3}')
	read_rows duckdb out/*/*/*/stacks-*.parquet >stacks
	place=$((0x$(nm prog | awk '$3 == "middle" {print $1}')))
	grep -qF "{\"build_id\":\"$id\",\"image\":\"$PWD/prog\",\"offset\":\"$place\",\"symbol\":\"middle\",\"file\":\"$PWD/prog.c\",\"line\":4,\"start\":\"$place\"}" stacks
	grep -qE '"symbol":"inner","file":"[^"]*","line":[0-9]+,"start":"0"' stacks # it was inlined into leaf
	python3 -c 'import json, sys
for row in map(json.loads, sys.stdin):
    assert row["named"] == sum(frame["symbol"] != "" for frame in row["frames"]), row' <stacks
}

@test "sums of functions are the report's, of the chosen samples" {
	readers
	for options in "" "-c prog" "--time 20%-60%"; do
		rm -rf out
		with=(hyparquet duckdb)
		[ -n "$options" ] || with+=(wasm chdb)
		# shellcheck disable=SC2086 # words
		"$TALLY" report -s symbol --json --no-inline --percentage relative $options made.data >report.json
		# shellcheck disable=SC2086
		"$TALLY" export --to parquet --no-inline $options out made.data
		for reader in "${with[@]}"; do
			node "$READ" "$PACKAGES" stacks "$reader" out >stacks
			run -0 python3 "$SUMS" compare rows stacks report.json
			[[ $output = *" functions are equal, and "* ]]
		done
	done
}

@test "stacks of the same code have the same numbers wherever it was loaded" {
	readers
	rm -rf out moved
	"$TALLY" export --to parquet --host a out made.data
	"$TALLY" export --to parquet --host b moved moved.data
	read_rows hyparquet out/*/*/*/samples-*.parquet | columns stack_id count | sort >here
	read_rows hyparquet moved/*/*/*/samples-*.parquet | columns stack_id count | sort >there
	cmp here there
	[ "$(uniq here | wc -l)" -eq 6 ]
	read_rows hyparquet out/*/*/*/stacks-*.parquet | columns stack_id | sort >stacks
	awk '{print $1}' here | uniq | cmp - stacks
}

# Lines for recording.py: the kernel and a module, each loaded at an address.
made_kernel() {
	echo "comm 10 prog"
	echo "kernel $1 1000000"
	echo "build-id 0123456789abcdef0123456789abcdef01234567 [kernel.kallsyms]"
	echo "module $2 8000 [made]"
	echo "build-id 89abcdef0123456789abcdef0123456789abcdef [made]"
	in_kernel() { printf '%x' $((0x$1 + $2)); }
	echo "sample 10 $(in_kernel "$1" 0x1234) kernel $(in_kernel "$1" 0x1234) $(in_kernel "$1" 0x2345)"
	echo "sample 10 $(in_kernel "$2" 0x123) kernel $(in_kernel "$2" 0x123) $(in_kernel "$1" 0x2345)"
}

@test "stacks of the same kernel have the same numbers wherever it was loaded, with its symbols and without" {
	readers
	rm -rf kernel
	mkdir kernel
	made_kernel ffffffff81000000 ffffffffc0400000 | python3 "$BATS_TEST_DIRNAME/recording.py" here.data chains
	made_kernel ffffffff9a000000 ffffffffc0777000 | python3 "$BATS_TEST_DIRNAME/recording.py" there.data chains
	printf '%s T _text\n' ffffffff81000000 >kallsyms
	printf '%s T inner_one\n%s T outer_one\n' ffffffff81001200 ffffffff81002300 >>kallsyms
	printf '%s t made_one\t[made]\n%s t made_end\t[made]\n' ffffffffc0400100 ffffffffc0400200 >>kallsyms
	for kind in named nameless; do
		for data in here there; do
			[ $kind = named ] && with=(--kallsyms kallsyms) || with=(--kallsyms /dev/null)
			"$TALLY" export --to parquet --host h "${with[@]}" kernel/$data-$kind $data.data
			read_rows hyparquet kernel/$data-$kind/*/*/*/samples-*.parquet | columns stack_id >kernel/$data-$kind.ids
			cmp kernel/here-named.ids kernel/$data-$kind.ids
		done
	done
	[ "$(sort -u kernel/here-named.ids | wc -l)" -eq 2 ]
	read_rows duckdb kernel/there-named/*/*/*/stacks-*.parquet >stacks
	grep -qF "\"offset\":\"$((0x1234))\",\"symbol\":\"inner_one\",\"file\":\"\",\"line\":0,\"start\":\"$((0x1200))\"" stacks
	grep -qF '"symbol":"outer_one"' stacks
}

@test "the same recording gives the same bytes; one without samples gives empty tables" {
	rm -rf out twice empty
	"$TALLY" export --to parquet out made.data
	"$TALLY" export --to parquet twice - <made.data
	cmp out/*/*/*/stacks-*.parquet twice/*/*/*/stacks-*.parquet
	cmp out/*/*/*/samples-*.parquet twice/*/*/*/samples-*.parquet
	"$TALLY" export --to parquet empty empty.data
	readers
	for reader in hyparquet wasm duckdb chdb; do
		[ -z "$(read_rows "$reader" empty/*/*/*/samples-*.parquet)" ]
	done
	read_rows hyparquet empty/*/*/*/recordings-*.parquet >row
	grep -qF '"samples":"0"' row
}

@test "rows of several groups are in the order of time, and the same for each run" {
	made 400000 1000 | awk '/^sample/ {print; print "times 90000"}' | python3 "$BATS_TEST_DIRNAME/recording.py" long.data chains
	rm -rf out twice
	"$TALLY" export --to parquet out long.data
	"$TALLY" export --to parquet twice long.data
	cmp out/*/*/*/samples-*.parquet twice/*/*/*/samples-*.parquet
	cmp out/*/*/*/stacks-*.parquet twice/*/*/*/stacks-*.parquet
	rm long.data
	readers
	# A group has 262,144 rows; in each, threads are beside each other.
	cat >order.sql <<-END
		CREATE VIEW s AS SELECT *, file_row_number // 262144 AS number FROM read_parquet('$(echo out/*/*/*/samples-*.parquet)', file_row_number = true);
		CREATE VIEW g AS SELECT number, min(time) AS first, max(time) AS last FROM s GROUP BY number;
		SELECT (SELECT count(*) FROM s) AS n, (SELECT count(*) FROM g) AS n_groups,
			(SELECT count(*) FROM (SELECT (pid, tid, time) < lag((pid, tid, time)) OVER (PARTITION BY number ORDER BY file_row_number) AS back FROM s) WHERE back) AS back,
			(SELECT count(*) FROM g AS a JOIN g AS b ON b.number = a.number + 1 WHERE b.first < a.last) AS mixed;
	END
	run -0 node "$READ" "$PACKAGES" sql duckdb order.sql
	[ "$output" = "540006 3 0 0" ]
}

@test "what is missing or invalid is said, and nothing is left of a failed export" {
	run -2 "$TALLY" export --to parquet
	[[ $output = *"--to parquet needs a folder"* ]]
	run -2 "$TALLY" export --to folded --service web made.data
	[[ $output = *"--service, --release and --host are for --to parquet"* ]]
	echo mine >mine
	run -1 "$TALLY" export --to parquet mine made.data
	[[ $output = *"mine"*"Not a directory"* ]]
	[ "$(cat mine)" = mine ]
	rm -rf out
	run -1 "$TALLY" export --to parquet out none.data
	[ ! -e out ]
	cp made.data cut.data
	head -c 64 /dev/zero | tr '\0' '\377' | dd of=cut.data bs=1 seek=$(($(stat -c %s cut.data) - 600)) conv=notrunc status=none
	run -1 "$TALLY" export --to parquet --strict out cut.data
	run -0 find . -name '*.tmp'
	[ -z "$output" ]
}

@test "cgroups, losses and options have their columns" {
	need_kernel
	readers
	rm -rf out
	"$TALLY" record -q --all-cgroups -e cpu-clock -F 2000 -g -o groups.data -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' ||
		skip "cgroups cannot be recorded here"
	"$TALLY" export --to parquet -o out groups.data
	read_rows hyparquet out/*/*/*/samples-*.parquet | columns cgroup | sort | uniq -c >ours
	"$TALLY" script -i groups.data -F cgroup | sort | uniq -c >script
	diff -w script ours
	run -0 columns options < <(read_rows hyparquet out/*/*/*/recordings-*.parquet)
	[[ $output = "-e cpu-clock -F 2000 -g"* ]]
	# as a row of its own, so that a sum over the rows has it
	lossy=$(find "${TALLY_CORPUS:-.}" -name '*simpleperf__testdata__has_embedded_native_libs_apk_perf.data')
	[ -n "$lossy" ] || skip "TALLY_CORPUS has no recording with losses"
	rm -rf out
	"$TALLY" export --to parquet -f -o out "$lossy"
	lost=$("$TALLY" info --json -i "$lossy" | python3 -c 'import json, sys; print(json.load(sys.stdin)["loss"]["records"])')
	[ "$lost" -gt 0 ]
	run -0 columns lost count < <(read_rows hyparquet out/*/*/*/samples-*.parquet)
	[ "$(awk '{lost += $1} END {print lost}' <<<"$output")" = "$lost" ]
	run -0 columns lost < <(read_rows hyparquet out/*/*/*/recordings-*.parquet)
	[ "$output" = "$lost" ]
}
