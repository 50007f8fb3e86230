#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# doc/FLEETS.md: the views in DuckDB and in ClickHouse find what was planted in a small fleet: a function that takes more time in
# a service's second version, and a host that is unlike its peers.

load parquet_readers

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	export HOME="$BATS_FILE_TMPDIR/home"
	find_readers
	mkdir -p "$HOME"
	[ -e "$PACKAGES/complete" ] || return 0
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >prog.c <<'END'
volatile int sink;
__attribute__((noinline)) void leaf(int n) { sink += n; }
__attribute__((noinline)) void middle(int n) { leaf(n); sink++; }
__attribute__((noinline)) void other(void) { middle(2); sink--; }
int main(void) { other(); middle(1); return 0; }
END
	gcc -g -O1 -o prog prog.c || return 0
	base | python3 "$BATS_TEST_DIRNAME/recording.py" base.data chains
	local host version number seed=0
	for version in 1 2; do
		for number in 1 2; do
			for host in w1 w2 w3 w4 w5 w6 w7; do
				more=()
				[ "$version" = 1 ] || more=(--more 2 "$(place middle)")
				[ "$host" != w3 ] || more=(--more 4 "$(place other)")
				record web $version $host "${more[@]}"
			done
			for host in d1 d2 d3; do record db $version $host; done
		done
	done
	for engine in duckdb clickhouse; do
		sed "s|FLEET_DIR|$PWD/fleet|g" "$SOURCE/doc/fleets/$engine.sql" >$engine.sql
	done
}

# Where a function is in memory, hex.
place() {
	local start size offset
	read -r offset start size < <(readelf -lW prog | awk '$1 == "LOAD" && / R E / {print $2, $3, $5}')
	printf '%x' $((0x$(nm prog | awk -v name="$1" '$3 == name {print $1}') - start + offset + 0x400000))
}

# Lines for recording.py.
base() {
	local start size offset main middle
	read -r offset start size < <(readelf -lW prog | awk '$1 == "LOAD" && / R E / {print $2, $3, $5}')
	later() { printf '%x' $((0x$(place "$1") + 4)); }
	main=$(later main) middle=$(later middle)
	echo "comm 10 prog"
	printf 'map 10 %x %x %x %s\n' $((0x400000 + offset)) $((size)) $((offset)) "$PWD/prog"
	echo "sample 10 $(place leaf) user $(place leaf) $middle $main"
	echo "times 500"
	echo "sample 10 $(place middle) user $(place middle) $(later other) $main"
	echo "times 100"
	echo "sample 10 $(place other) user $(place other) $main"
	echo "times 100"
	echo "sample 10 123456 user 123456 $main"
	echo "times 50"
}

# A recording of a host: some of the samples, at other times.
record() {
	local service=$1 version=$2 host=$3
	shift 3
	seed=$((seed + 1))
	python3 "$BATS_TEST_DIRNAME/fleet.py" base.data one.data --seed $seed --shift $((86400 * version + seed)) "$@"
	"$TALLY" export --to parquet --service "$service" --release "$version" --host "$host" fleet one.data
}

setup() {
	[ -e "$PACKAGES/complete" ] || skip "DuckDB and chdb are not installed (tools/install-parquet-readers): the views are not run"
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s base.data ] || skip "gcc, nm or readelf is missing: there is no fleet"
}

# Runs a query in both engines: the same rows; prints them, a line each.
query() {
	echo "$1" >query.sql
	node "$READ" "$PACKAGES" sql duckdb "${VIEWS:-.}/duckdb.sql" query.sql >duckdb.rows || return 1
	node "$READ" "$PACKAGES" sql chdb "${VIEWS:-.}/clickhouse.sql" query.sql >chdb.rows || return 1
	diff duckdb.rows chdb.rows >&2 || return 1
	cat chdb.rows
}

@test "the hottest functions by service and version; all samples are there" {
	run -0 query "SELECT service, version, symbol FROM hottest WHERE self_percent > 50 ORDER BY service, version"
	[ "${lines[0]}" = "db 1 leaf" ]
	[ "${lines[1]}" = "db 2 leaf" ]
	[ "${lines[2]}" = "web 1 leaf" ]
	run -0 query "SELECT h.samples = r.samples AS equal, h.samples > 20000 AS many FROM (SELECT sum(samples) AS samples FROM hottest) AS h,
		(SELECT sum(samples) AS samples FROM recordings) AS r"
	[ "$output" = "1 1" ]
	run -0 query "SELECT DISTINCT symbol, round(total_percent) AS percent FROM hottest WHERE symbol = 'main'"
	[ "$output" = "main 100" ]
}

@test "a flame graph of some days" {
	run -0 query "SELECT folded, sum(period) > 0 AS some FROM folded WHERE service = 'db' GROUP BY folded ORDER BY folded"
	[ "${lines[*]}" = "main;[unknown] 1 main;middle;leaf 1 main;other 1 main;other;middle 1" ]
	run -0 query "SELECT count(DISTINCT date) AS days FROM folded"
	[ "$output" = 2 ]
}

@test "the regression that was planted is found, and none where there is none" {
	run -0 query "SELECT service, older, version, symbol, change > 5 AS much FROM regressions WHERE significant AND change > 0"
	[ "$output" = "web 1 2 middle 1" ]
	run -0 query "SELECT symbol FROM regressions WHERE significant AND service = 'db'"
	[ -z "$output" ]
}

@test "the odd host is found, by the function that it has more of" {
	run -0 query "SELECT host, symbol FROM odd_hosts WHERE deviations > 6 AND service = 'web' ORDER BY version"
	[ "${lines[*]}" = "w3 other w3 other" ]
	run -0 query "SELECT count(*) AS odd FROM odd_hosts WHERE abs(deviations) > 6 AND service = 'db'"
	[ "$output" = 0 ]
}

@test "the share of a binary across the fleet" {
	run -0 query "SELECT image = '$PWD/prog' AS ours, round(total_percent) AS percent, self_percent < 99 AS part FROM library_shares
		WHERE service = '' AND image NOT LIKE '[%'"
	[ "$output" = "1 100 1" ]
	run -0 query "SELECT count(*) AS rows FROM library_shares WHERE image = '[unknown]'"
	[ "$output" = 5 ]
}

@test "files that were put together give the same rows" {
	mkdir -p whole
	# The statements of the page, with this folder.
	sed -n '/^## Fewer/,$p' "$SOURCE/doc/FLEETS.md" | sed -n '/^COPY/,/;$/p' | sed "s|/srv/whole|$PWD/whole|; s| WHERE date = '[0-9-]*'||" >copy.sql
	[ "$(grep -c '^COPY' copy.sql)" -eq 3 ]
	node "$READ" "$PACKAGES" sql duckdb duckdb.sql copy.sql
	echo "SELECT * FROM regressions ORDER BY service, symbol" >query.sql
	node "$READ" "$PACKAGES" sql duckdb duckdb.sql query.sql | sed 's/\(\.[0-9]\{6\}\)[0-9]*/\1/g' >before
	[ "$(wc -l <before)" -gt 4 ]
	for engine in duckdb clickhouse; do sed -i "s|$PWD/fleet|$PWD/whole|g" $engine.sql; done
	node "$READ" "$PACKAGES" sql duckdb duckdb.sql query.sql | sed 's/\(\.[0-9]\{6\}\)[0-9]*/\1/g' >after
	for engine in duckdb clickhouse; do sed -i "s|$PWD/whole|$PWD/fleet|g" $engine.sql; done
	cmp before after
}

@test "of the rows of a stack that with most names is taken, wherever it is" {
	mkdir -p of-mixed
	for views in duckdb clickhouse; do sed "s|FLEET_DIR|$PWD/mixed|g" "$SOURCE/doc/fleets/$views.sql" >of-mixed/$views.sql; done
	for turn in 1 2 3 4; do
		python3 "$BATS_TEST_DIRNAME/fleet.py" base.data one.data --seed 7$turn --shift $turn
		# shellcheck disable=SC2046 # an option, or none
		"$TALLY" export --to parquet --host m$turn $([ $turn = 3 ] || echo --no-symbols) mixed one.data
	done
	[ "$(find mixed -name 'stacks*' | wc -l)" = 4 ]
	VIEWS=of-mixed run -0 query "SELECT count(*) AS stacks, count(DISTINCT stack_id) AS numbers, max(named) AS most FROM stacks"
	[[ "$output" =~ ^([0-9]+)" "([0-9]+)" 3"$ ]]
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
	# Also of samples whose own tables have no names.
	VIEWS=of-mixed run -0 query "SELECT symbol FROM hottest WHERE self_percent > 50"
	[ "$output" = leaf ]
}
