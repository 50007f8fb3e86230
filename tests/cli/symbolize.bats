#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally symbolize: tables that were exported without symbols get those of an export with them, row for row.

load parquet_readers
load hostile_program

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	find_readers
	mkdir -p "$HOME"
	cd "$BATS_FILE_TMPDIR" || return 1
	make_hostile_program -pie -fPIE || return 0
	made 10 | python3 "$BATS_TEST_DIRNAME/recording.py" a.data chains
	made 20 | python3 "$BATS_TEST_DIRNAME/recording.py" b.data chains
	local recording
	for recording in a b; do
		"$TALLY" export --to parquet --inline --host $recording named $recording.data
		"$TALLY" export --to parquet --no-inline --host $recording plain $recording.data
		"$TALLY" export --to parquet --no-symbols --host $recording raw $recording.data
	done
}

# Lines for recording.py.
made() {
	place_functions 400000
	echo "comm $1 prog"
	echo "map $1 $map"
	echo "sample $1 ${at[leaf]} user ${at[leaf]} $(later middle) $(later main)"
	echo "times 12"
	echo "sample $1 ${at[middle]} user ${at[middle]} $(later hostile) $(later main)"
	echo "sample $1 ${at[hostile]} user ${at[hostile]} $(later middle) $(later middle) $(later main)"
	echo "times 3"
	echo "sample $1 123456 user 123456 $(later main)"
	echo "sample $1 ${at[main]} user ${at[main]}"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -d raw ] || skip "gcc, nm or readelf is missing: nothing to export"
	rm -rf fleet
	cp -r raw fleet
}

readers() {
	need_readers "rows are not compared; the reports of both folders are"
}

rows() { for file in "$1"/*/*/*/stacks*.parquet; do node "$READ" "$PACKAGES" rows hyparquet "$file"; done | sort; }

report() { "$TALLY" report --stdio -g caller -s dso,symbol "$1" | grep -v '^#'; }

@test "tables without symbols have none, and the same numbers of stacks" {
	report fleet >actual
	run -1 grep -E 'leaf|middle|hostile|main' actual
	for folder in named plain; do
		for file in "$folder"/*/*/*/samples*.parquet; do cmp "$file" "raw/${file#*/}"; done
	done
}

@test "numbers of stacks are the same without symbols, also where a function starts at what a call returns to" {
	{
		made 10
		echo "sample 10 ${at[leaf]} user ${at[leaf]} ${at[middle]} $(later main)"
		echo "sample 10 ${at[leaf]} user ${at[leaf]} $(later middle) ${at[hostile]}"
	} | python3 "$BATS_TEST_DIRNAME/recording.py" starts.data chains
	"$TALLY" export --to parquet --host h with starts.data
	mv prog whole
	strip -o prog whole
	"$TALLY" export --to parquet --host h without starts.data
	mv whole prog
	report with | grep -q leaf
	run -1 grep -q leaf <<<"$(report without)"
	for file in with/*/*/*/samples*.parquet; do cmp "$file" "without/${file#*/}"; done
}

@test "symbols that are added later are those of an export with them" {
	run -0 "$TALLY" symbolize fleet
	[[ $output =~ ^([0-9]+)\ of\ ([0-9]+)\ frames\ named,\ in\ 2\ of\ 2\ tables\ of\ stacks$ ]]
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
	[ "${BASH_REMATCH[1]}" -gt 20 ]
	report fleet >actual
	report named >expected
	grep -q leaf expected
	cmp expected actual
	rm -r fleet
	cp -r raw fleet
	"$TALLY" symbolize --no-inline fleet
	report fleet >actual
	report plain >expected
	cmp expected actual
	[ -z "$(find fleet -name '*.tmp')" ]
}

@test "the same row for row, with files and lines" {
	readers
	"$TALLY" symbolize fleet
	rows fleet >actual
	rows named >expected
	grep -q '"line":[1-9]' expected
	cmp expected actual
	rm -r fleet
	cp -r raw fleet
	"$TALLY" symbolize --no-lines fleet
	rows fleet >actual
	run -1 grep '"line":[1-9]' actual
	sed -E 's/"file":"[^"]*","line":[0-9]+/"file":"","line":0/g' expected | cmp - actual
}

@test "a second run changes nothing" {
	"$TALLY" symbolize fleet
	sha256sum fleet/*/*/*/* >before
	stat -c '%i %Y' fleet/*/*/*/* >>before
	run -0 "$TALLY" symbolize fleet
	[ "$output" = "2 tables of stacks: no frame of a binary lacks a name" ]
	sha256sum fleet/*/*/*/* >after
	stat -c '%i %Y' fleet/*/*/*/* >>after
	cmp before after
}

@test "a binary that is missing is named; it is found below --symfs, by build-id, and by a later run" {
	id=$(readelf -n prog | awk '/Build ID/ {print $3}')
	mkdir -p moved/"$PWD" ids/.build-id/"${id:0:2}"
	mv prog away
	stat -c '%i %Y' fleet/*/*/*/* >before
	run -0 "$TALLY" symbolize fleet
	cp away "moved/$PWD/prog"
	cp away "ids/.build-id/${id:0:2}/${id:2}.debug"
	mv away prog
	[[ ${lines[0]} =~ ^0\ of\ [0-9]+\ frames\ named,\ in\ 0\ of\ 2\ tables\ of\ stacks$ ]]
	[[ ${lines[1]} = "$id $PWD/prog: "*" without a name: "* ]]
	stat -c '%i %Y' fleet/*/*/*/* | cmp before -
	mv prog away
	"$TALLY" symbolize --symfs "$PWD/moved" fleet >said
	"$TALLY" symbolize -q --debug-dir "$PWD/ids" raw >>said || true
	mv away prog
	grep -q '^\([0-9]*\) of \1 frames named, in 2 of 2' said
	[ "$(grep -c '^\([0-9]*\) of \1 frames named, in 2 of 2' said)" = 2 ]
	report fleet >actual
	report named >expected
	cmp expected actual
	report raw >actual
	cmp expected actual
	rm -r raw
	for recording in a b; do "$TALLY" export --to parquet --no-symbols --host $recording raw $recording.data; done
}

@test "another build at the path is not used" {
	mv prog away
	gcc -O1 -x c -o prog - <<<'int main(void) { return 7; }'
	run -0 "$TALLY" symbolize fleet
	mv away prog
	[[ ${lines[0]} = "0 of "* ]]
	[[ ${lines[1]} = *"build-id"* ]]
}

@test "damage is refused before anything is written, in one line" {
	sha256sum fleet/*/*/*/* >before
	files=(fleet/*/*/*/stacks*.parquet)
	last=${files[-1]}
	[ "${#files[@]}" = 2 ]
	cp "$last" whole
	head -c 200 whole >"$last"
	run -1 "$TALLY" symbolize fleet
	[ "${#lines[@]}" -eq 1 ]
	[ "$output" = "tally symbolize: $last: it is not a Parquet file, or is cut short" ]
	cp whole "$last"
	sha256sum fleet/*/*/*/* | cmp before -
	python3 - "$TALLY" "$last" <<-'END'
		import random, subprocess, sys
		random.seed(19)
		data = open(sys.argv[2], "rb").read()
		for number in range(40):
		    made = bytearray(data)
		    first = len(data) - 8 - int.from_bytes(data[-8:-4], "little") if number % 2 else 4
		    for _ in range(random.choice((1, 4))):
		        made[random.randrange(first, len(data))] = random.randrange(256)
		    open(sys.argv[2], "wb").write(made)
		    done = subprocess.run([sys.argv[1], "symbolize", "fleet"], capture_output=True, timeout=60)
		    assert done.returncode in (0, 1), (number, done)
		    if done.returncode:
		        assert done.stderr.startswith(b"tally symbolize: fleet"), (number, done)
		        assert done.stderr.count(b"\n") == 1, (number, done)
	END
}

@test "what cannot be done is refused" {
	mkdir -p none
	run -1 "$TALLY" symbolize none
	[ "$output" = "tally symbolize: none: there is no table of stacks (stacks*.parquet) in this folder" ]
	run -1 "$TALLY" symbolize nowhere
	[ "$output" = "tally symbolize: nowhere: No such file or directory" ]
	run -2 "$TALLY" symbolize
	run -2 "$TALLY" symbolize none none
	run -2 "$TALLY" export --to pprof --no-symbols a.data
	[[ $output = *"--no-symbols is for --to parquet"* ]]
}

@test "a table with other columns is not written anew" {
	readers
	cat >query.sql <<-END
		COPY (SELECT *, 7 AS more FROM read_parquet('$PWD/raw/**/stacks*.parquet', hive_partitioning = false)) TO '$PWD/fleet/stacks-more.parquet';
		SELECT 1;
	END
	node "$READ" "$PACKAGES" sql duckdb query.sql
	run -1 "$TALLY" symbolize fleet
	[[ $output = "tally symbolize: fleet/stacks-more.parquet: it does not have the columns of a table of stacks"* ]]
	# As an engine puts tables together: named, and read by the others.
	cat >query.sql <<-END
		COPY (SELECT * FROM read_parquet('$PWD/raw/**/stacks*.parquet', hive_partitioning = false) ORDER BY stack_id)
		TO '$PWD/fleet/stacks-more.parquet' (FORMAT parquet, COMPRESSION zstd);
		SELECT 1;
	END
	node "$READ" "$PACKAGES" sql duckdb query.sql
	run -0 "$TALLY" symbolize fleet
	[[ $output = *", in 3 of 3 tables of stacks" ]]
	node "$READ" "$PACKAGES" rows hyparquet fleet/stacks-more.parquet | sort -u >actual
	rows named | sort -u | cmp - actual
}
