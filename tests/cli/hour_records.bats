#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Which records of a recording are read, and what is said of those that are not.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	command -v python3 >/dev/null ||
		skip "python3 is not installed: it makes the damaged recordings of this file; tests/unit/file reads others"
}

make() {
	python3 "$BATS_TEST_DIRNAME/hour_records.py" "$@"
}

# The samples that script prints, and the sum of the periods that report counts.
samples() {
	"$TALLY" script -i "$1" -F time 2>/dev/null | grep -c .
}

events() {
	"$TALLY" report -i "$1" --stdio 2>/dev/null | sed -n 's/^# Event count (approx.): //p'
}

@test "13.1: random bytes in a recording count nothing, and cost no more than what they hit" {
	local seed kept
	for seed in 1 2 3 4 5 6 7 8; do
		make spoilt f.data "$seed"
		kept=$(samples f.data)
		# 4500 bytes are 112 samples of 40 bytes, and two that are hit at their ends.
		[ "$kept" -ge 1885 ]
		[ "$kept" -le 1888 ]
		[ "$(events f.data)" = $((kept * 1000)) ]
	done
}

@test "13.1: report, script, info, JSON, SQL and repair refuse the same record, with its offset" {
	make period f.data
	[ "$(samples f.data)" = 100 ]
	[ "$(events f.data)" = 100000 ]
	run -1 --separate-stderr "$TALLY" report -i f.data --stdio
	[[ "$stderr" == *"damaged at 1 place, the first at offset 2232 (the record at byte 2232 (SAMPLE, 40 bytes) is invalid)"* ]]
	[[ "$stderr" == *"40 of 4272 bytes could not be read"* ]]
	run -1 --separate-stderr "$TALLY" script -i f.data
	[[ "$stderr" == *"the record at byte 2232 (SAMPLE, 40 bytes) is invalid"* ]]
	run -1 --separate-stderr "$TALLY" info -i f.data --json
	[[ "$output" == *'"refused":1'* ]]
	[[ "$output" == *'"period":100000'* ]]
	run -1 --separate-stderr "$TALLY" script --json -i f.data
	[[ "$output" == *'"samples":100,'*'"unusable":1,'*'"refused":1'* ]]
	"$TALLY" repair f.data out.data 2>said
	grep -q "100 of them samples.*; 1 invalid record left out (first at offset 2232)" said
	[ "$(events out.data)" = 100000 ]
	run -0 "$TALLY" report -i out.data --stdio
}

@test "13.1: a sample may count days in ns, as tracepoints, off-CPU time and wrong kernels do, but not centuries" {
	local kind improbable
	for kind in trace-period off-cpu-period clock-period; do
		improbable=0
		[ "$kind" != clock-period ] || improbable=1
		make "$kind" f.data
		[ "$(samples f.data)" = 101 ]
		[ "$(events f.data)" = 1125899906942624 ] # 100 of 1000, and 2^50
		run -1 --separate-stderr "$TALLY" report -i f.data --stdio
		[[ "$stderr" == *"damaged at 1 place, the first at offset 2272 (the record at byte 2272 (SAMPLE, 40 bytes) is invalid)"* ]]
		[ "$(grep -c '^# Improbable counts, at least 100.00%: of samples' <<<"$output")" = "$improbable" ]
		run -1 "$TALLY" report -i f.data --html=f.html
		[ "$(python3 "$BATS_TEST_DIRNAME/page_reader.py" summary f.html |
			grep -c '100.0 % of cpu-clock:HG is of samples that count more than an hour')" = "$improbable" ]
	done
	run -1 --separate-stderr "$TALLY" report -i f.data --stdio --filter 'period <= 17592186044416'
	[[ "$output" != *"Improbable"* && "$output" == *"# Shown: 100 of 101 samples"* ]]
}

@test "13.27: build-ids of odd sizes, as perf inject -b writes them, cost no sample" {
	make build-ids f.data
	run -0 "$TALLY" script -i f.data
	[ "$(samples f.data)" = 100 ]
	run -0 --separate-stderr "$TALLY" info -i f.data --json
	[[ "$output" == *'"places":0'* ]]
}

@test "13.27: a record of an odd size that none can have costs no more than itself" {
	make odd f.data
	[ "$(samples f.data)" = 100 ]
	run -1 --separate-stderr "$TALLY" report -i f.data --stdio
	[[ "$stderr" == *"109 bytes skipped"* ]]
}

@test "13.27: all samples of perf inject -b are read" {
	command -v perf >/dev/null ||
		skip "perf is not installed: its own files are not made; the test before makes records of the same sizes"
	perf record -q -e cpu-clock -F 2000 -o in.data -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' \
		2>/dev/null || skip "events cannot be opened here"
	perf inject -b -i in.data -o out.data 2>/dev/null || skip "this perf cannot inject build-ids"
	run -0 "$TALLY" script -i out.data
	[ "$(samples out.data)" = "$(perf script -i in.data -F time 2>/dev/null | grep -c .)" ]
}

@test "13.35: compressed records expand to 64 MB and 100 times their size, or to what --max-expand says" {
	command -v zstd >/dev/null ||
		skip "zstd is not installed: nothing is compressed here; tests/unit/file has the bound for made records"
	make expands f.data
	[ "$(stat -c %s f.data)" -lt 60000 ]
	run -1 --separate-stderr "$TALLY" info -i f.data --json
	[[ "$stderr" == *"expand to more than "*"--max-expand=MB reads more"* ]]
	[ "$(sed -n 's/.*"bytes_out":\([0-9]*\).*/\1/p' <<<"$output")" -lt 71000000 ]
	run -1 "$TALLY" report -i f.data --stdio
	run -0 "$TALLY" report -i f.data --stdio --max-expand 100
	[[ "$output" == *"Event count (approx.): 2000000000"* ]]
	run -0 "$TALLY" repair --max-expand 100 f.data out.data
	[[ "$output" == *"2000000 of them samples"* ]]
}

@test "13.35: inject, evlist and buildid-list take --max-expand, too" {
	command -v zstd >/dev/null ||
		skip "zstd is not installed: nothing is compressed here; tests/unit/file has the bound for made records"
	make expands f.data
	"$TALLY" inject -i f.data -o part.data || true
	"$TALLY" inject --max-expand 100 -i f.data -o all.data
	[ "$(samples all.data)" = 2000000 ]
	[ "$(samples part.data)" -lt 2000000 ]
	run -0 "$TALLY" evlist --max-expand 100 -i f.data
	run -0 "$TALLY" buildid-list --max-expand 100 -i f.data
	run -0 "$TALLY" stat report --list-options
	[[ "$output" == *max-expand* ]]
}

@test "13.35: a name longer than a path can be is invalid" {
	make names f.data
	[ "$(samples f.data)" = 100 ]
	run -1 --separate-stderr "$TALLY" info -i f.data --json
	[[ "$output" == *'"refused":1,'* ]]
	[[ "$stderr" == *"(MMAP2, 60080 bytes) is invalid"* ]]
}

@test "13.35: script --sql that a signal ends leaves no file behind" {
	local i signal
	command -v zstd >/dev/null ||
		skip "zstd is not installed: nothing is compressed here; tests/cli/sql.bats ends a smaller one by a signal"
	make expands f.data
	for signal in ALRM USR1 TERM; do
		"$TALLY" script -i f.data --max-expand 100 --sql out.db 2>/dev/null &
		for ((i = 0; i < 3000; i++)); do
			[ -z "$(compgen -G "out.db.*")" ] || break
			sleep 0.01
		done
		[ -n "$(compgen -G "out.db.*")" ]
		kill -s "$signal" $!
		wait $! || true
		[ -z "$(compgen -G "out.db.*")" ]
		[ ! -e out.db ]
	done
}

@test "13.9: a feature section that cannot be read is a warning when every record was read" {
	make feature f.data
	run -0 --separate-stderr "$TALLY" report -i f.data --stdio
	[[ "$stderr" == *"1 feature section cannot be read, the first at offset"*"every record was"* ]]
	run -1 "$TALLY" report -i f.data --stdio --strict
}

@test "13.9: what is missing from a file does not count as bytes that could not be read" {
	local lost
	make cut f.data
	lost=$("$TALLY" script --json -i f.data 2>/dev/null | sed -n 's/.*"lost_bytes":\([0-9]*\).*/\1/p')
	[ "$lost" -lt 40 ]
	[ "$(samples f.data)" -ge 998 ]
}

@test "a recording that was compressed as a whole is read as it is" {
	local way name some=
	make names f.data
	"$TALLY" report --stdio -i f.data >whole 2>/dev/null || true
	for way in gzip:gz xz:xz zstd:zst bzip2:bz2; do
		name=f.data.${way#*:}
		command -v "${way%:*}" >/dev/null || continue
		some=yes
		"${way%:*}" -c f.data >"$name"
		"$TALLY" report --stdio -i "$name" 2>said | cmp - whole
		# What is before its end is read of one that was cut.
		head -c "$(($(stat -c %s "$name") - 20))" "$name" >cut
		"$TALLY" report --stdio -i cut 2>said || true
		grep -q 'the compressed file was cut, or is damaged' said
		run -1 bash -c "cat $name | $TALLY report -i -"
		[[ "$output" == *"-: it is compressed: name the file itself, or expand it before, with \`"*cat* || "$output" == *"\`zstd -dc\`"* ]]
	done
	[ -n "$some" ] || skip "no compressor is installed; tests/unit/tar reads archives compressed by zstd"
	head -c 100000000 /dev/zero | gzip >bomb
	run -1 "$TALLY" report -i bomb
	[ "$output" = "tally report: bomb: it expands to more than 73 MB; --max-expand allows more" ]
}
