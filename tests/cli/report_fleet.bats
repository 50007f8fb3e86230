#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally report DIR: the tables of `tally export --to parquet`, and what a query made of them, are reported as the recording is.

load parquet_readers
load hostile_program

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	find_readers
	mkdir -p "$HOME"
	cd "$BATS_FILE_TMPDIR" || return 1
	make_hostile_program -pie -fPIE || return 0
	made 10 prog 7000 | python3 "$BATS_TEST_DIRNAME/recording.py" web.data chains
	made 20 'evil";<b>' 3000 | python3 "$BATS_TEST_DIRNAME/recording.py" db.data chains
	"$TALLY" export --to parquet --no-inline --service web --host a fleet web.data
	"$TALLY" export --to parquet --no-inline --service db --host b fleet db.data
	"$TALLY" export --to parquet --no-inline --service web --host a web web.data
	"$TALLY" export --to parquet --inline --service web --host a inlined web.data
}

# Lines for recording.py: a process with the program, its name, and the period of its samples.
made() {
	place_functions 400000
	echo "comm $1 $2"
	echo "map $1 $map"
	echo "period $3"
	echo "sample $1 ${at[leaf]} user ${at[leaf]} $(later middle) $(later main)"
	echo "times 12"
	echo "sample $1 ${at[middle]} user ${at[middle]} $(later hostile) $(later main)"
	echo "times 5"
	echo "sample $1 ${at[hostile]} user ${at[hostile]} $(later middle) $(later middle) $(later main)"
	echo "times 3"
	echo "sample $1 123456 user 123456 $(later main)"
	echo "sample $1 ${at[main]} user ${at[main]}"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -d fleet ] || skip "gcc, nm or readelf is missing: nothing to export"
}

readers() {
	need_readers "results of queries are not read"
}

# The rows of a report: rows of equal shares may be in another order.
rows() { "$TALLY" report --stdio "$@" 2>rows.err | grep -v '^#' | sort; }

@test "the report of a folder is the recording's" {
	for options in "" "--no-children" "-g none -s symbol" "-g none -s comm,pid,tid,dso,symbol" "--no-children -g none -s dso" \
		"-g caller --no-children" "-g none -c prog" "-g none -S leaf" "-g none --time 10%-50%"; do
		# shellcheck disable=SC2086 # words
		rows --no-inline $options web.data >expected
		# shellcheck disable=SC2086
		rows $options web >actual
		[ -s expected ]
		cmp expected actual
	done
	"$TALLY" report --stdio web | grep -qF "# Samples: 25 of event 'cpu-clock:HG'"
}

@test "inlined functions are marked" {
	rows --inline --children -g none -s symbol inlined >actual
	grep -qE '\] inner \(inlined\)$' actual
	run -1 grep -E '\] leaf \(inlined\)$' actual
}

# Two builds of a program with two static functions of one name, and their places as place_functions() has them: work1, work2.
make_twins() { # folder, what is before them
	mkdir -p "$1"
	printf '%s\nvolatile int sink;\nstatic __attribute__((noinline)) void work(void) { sink += 3; }\nvoid one(void) { work(); sink++; }\n' "$2" >"$1/a.c"
	printf 'extern volatile int sink; void one(void);\nstatic __attribute__((noinline)) void work(void) { sink *= 3; }
		int main(void) { one(); work(); sink++; return 0; }\n' >"$1/b.c"
	gcc -O1 -o "$1/prog" "$1/a.c" "$1/b.c"
}

twins() { # folder, period; lines for recording.py
	local start size offset places
	read -r offset start size < <(readelf -lW "$1/prog" | awk '$1 == "LOAD" && / R E / {print $2, $3, $5}')
	mapfile -t places < <(nm "$1/prog" | sort | awk '$3 == "work" || $3 == "main" {print $1}')
	[ "${#places[@]}" -eq 3 ]
	echo "comm 10 prog"
	printf 'map 10 %x %x %x %s\n' $((0x400000 + offset)) $((size)) $((offset)) "$PWD/$1/prog"
	echo "period $2"
	for number in 0 1 2; do
		printf -v ip '%x' $((0x${places[number]} - start + offset + 0x400000))
		echo "sample 10 $ip user $ip"
		echo "times $((number + 1))"
	done
}

@test "functions of equal names are rows of their own, those of two builds one by their names" {
	make_twins old ''
	make_twins new 'int more[9]; int another(void) { return more[3]; } int another_one(int a) { return more[a & 7] * a; }'
	for version in old new; do
		twins $version 1000 | python3 "$BATS_TEST_DIRNAME/recording.py" $version.data chains
		"$TALLY" export --to parquet --release $version twins $version.data
		"$TALLY" export --to parquet $version.tables $version.data
		rows --no-children -g none -s symbol $version.data >expected
		[ "$(grep -c '\] work$' expected)" -eq 2 ]
		rows --no-children -g none -s symbol $version.tables >actual
		cmp expected actual
	done
	# The place of main differs; a name that each build has once is one row. The second work is at another place in the new build.
	rows --no-children -g none -s symbol twins >actual
	[ "$(grep -c '\] main$' actual)" -eq 1 ]
	[ "$(grep -c '\] work$' actual)" -eq 3 ]
	[ "$("$TALLY" report --json -s symbol twins | python3 -c 'import json, sys; print(sum(row["period"] for row in json.load(sys.stdin)["events"][0]["rows"]))')" = 18000 ]
}

@test "tables of stacks without the field start are read: functions are one by their names" {
	readers
	rm -rf older
	cp -r old.tables older
	stacks=$(find "$PWD/older" -name 'stacks*')
	cat >query.sql <<-END
		COPY (SELECT stack_id, list_transform(frames, lambda f: {'build_id': f.build_id, 'image': f.image, 'offset': f.offset, 'symbol': f.symbol,
			'file': f.file, 'line': f.line}) AS frames FROM read_parquet('$stacks', hive_partitioning = false)) TO '$stacks';
		SELECT 1;
	END
	node "$READ" "$PACKAGES" sql duckdb query.sql
	rows --no-children -g none -s symbol older >actual
	run -0 cat actual
	[[ ${lines[0]} = *"44.44%"*main ]]
	[[ ${lines[1]} = *"55.56%"*work ]]
	run -0 "$TALLY" symbolize older
	[ "$output" = "1 table of stacks: no frame of a binary lacks a name" ]
}

@test "of hosts that have a stack in common, with names and without, the names are shown" {
	rm -rf both
	"$TALLY" export --to parquet --no-inline --host b both web.data
	"$TALLY" export --to parquet --no-symbols --host a both web.data
	"$TALLY" export --to parquet --no-symbols --host c both web.data
	rows --no-inline -g none -s symbol web.data >expected
	rows -g none -s symbol both >actual
	cmp expected actual
}

@test "a folder of several hosts is one report" {
	"$TALLY" report --stdio --no-children -g none -s comm --percentage relative fleet >report
	grep -qE '^ +70\.00% +prog *$' report
	grep -qE '^ +30\.00% +evil";<b> *$' report
	"$TALLY" report --json -s comm,symbol fleet | python3 -m json.tool >/dev/null
	"$TALLY" report --csv -s symbol fleet | grep -q leaf
}

@test "a page and a picture of a folder" {
	"$TALLY" report --html=page.html fleet 2>said
	grep -q 'page.html: .* MB, for a browser' said
	[ "$(wc -c <page.html)" -gt 100000 ]
	run -1 grep -F '"evil";<b>' page.html
	"$TALLY" report --svg=picture.svg fleet
	grep -q leaf picture.svg
}

@test "what tables do not have is refused in one line" {
	run -1 "$TALLY" report --stdio -s srcline web
	[ "${#lines[@]}" -eq 1 ]
	[[ $output = "tally report: web: tables of a fleet have no "* ]]
	run -2 "$TALLY" report --stats web
	[[ $output = "tally report: --stats needs a recording, and web is a folder of tables"* ]]
	run -1 "$TALLY" report --stdio -s mem web
	[ "${#lines[@]}" -eq 1 ]
	mkdir -p none
	run -1 "$TALLY" report --stdio none
	[[ $output = *"none: a directory whose file \"data\" cannot be opened"* ]]
}

@test "the result of a query is reported: one service of two, in all encodings, and sums of rows" {
	readers
	rm -rf query
	mkdir query
	rows --no-inline -g none -s comm,symbol web.data >expected
	for options in "COMPRESSION snappy" "COMPRESSION zstd, PARQUET_VERSION V1" "COMPRESSION uncompressed, PARQUET_VERSION V2"; do
		cat >query.sql <<-END
			COPY (SELECT * FROM read_parquet('$PWD/fleet/**/samples*.parquet') WHERE service = 'web')
			TO '$PWD/query/samples.parquet' (FORMAT parquet, $options);
			COPY (SELECT * FROM read_parquet('$PWD/fleet/**/stacks*.parquet', hive_partitioning = false))
			TO '$PWD/query/stacks.parquet' (FORMAT parquet, $options);
			SELECT 1;
		END
		node "$READ" "$PACKAGES" sql duckdb query.sql >/dev/null
		rows -g none -s comm,symbol query >actual
		cmp expected actual
	done
	# Sums instead of samples, with few columns.
	rows --no-inline -g none -s symbol web.data >expected
	cat >query.sql <<-END
		COPY (SELECT stack_id, event, sum(period) AS period, sum(count)::BIGINT AS count FROM read_parquet('$PWD/fleet/**/samples*.parquet')
			WHERE service = 'web' GROUP BY ALL) TO '$PWD/query/samples.parquet';
		SELECT 1;
	END
	node "$READ" "$PACKAGES" sql duckdb query.sql >/dev/null
	rows -g none -s symbol query >actual
	cmp expected actual
	run -1 "$TALLY" report --stdio -s cpu query
	[[ $output = *"query: tables of a fleet have no CPUs, which a key or an option asks for"* ]]
}

@test "data pages of version 2 are read" {
	readers
	rm -rf second
	mkdir second
	for kind in samples stacks; do
		for file in web/*/*/*/$kind-*.parquet; do node "$READ" "$PACKAGES" second "$file" second/$kind.parquet; done
		# In a head of a page of this version, field 8 has its facts: 5 bytes behind the kind, 3.
		python3 - second/$kind.parquet <<-'END'
			import re, sys
			assert re.search(rb"\x15\x06\x15.{1,4}\x15.{1,4}\x5c\x15", open(sys.argv[1], "rb").read(), re.S), "no page of version 2"
		END
	done
	rows --no-inline -g none -s comm,symbol web.data >expected
	rows -g none -s comm,symbol second >actual
	cmp expected actual
	rows --no-inline --time 10%-50% web.data >expected
	rows --time 10%-50% second >actual
	cmp expected actual
}

@test "a small table that claims any number of equal values is refused" {
	rm -rf claims
	mkdir claims
	python3 - claims/samples.parquet <<-'END'
		import struct, sys
		def varint(n):
		    out = b""
		    while n > 127:
		        out += bytes([n & 127 | 128])
		        n >>= 7
		    return out + bytes([n])
		def number(n): return varint(n << 1)
		rows = 1 << 22
		# A dictionary with one value, and a page whose values are one run of it.
		dictionary = b"\x15\x04\x15\x10\x15\x10\x4c\x15\x02\x15\x00\x00\x00" + struct.pack("<Q", 7)
		run = b"\x01" + varint(rows << 1) + b"\x00"
		page = b"\x15\x00\x15" + number(len(run)) + b"\x15" + number(len(run)) + b"\x2c\x15" + number(rows) + b"\x15\x10\x15\x06\x15\x06\x00\x00" + run
		chunk = dictionary + page
		def column(name):
		    meta = b"\x15\x04\x19\x15\x10\x19\x18" + varint(len(name)) + name + b"\x15\x00\x16" + number(rows) + b"\x16" + number(len(chunk)) \
		        + b"\x16" + number(len(chunk)) + b"\x26" + number(4 + len(dictionary)) + b"\x26" + number(4) + b"\x00"
		    return b"\x26\x08\x1c" + meta + b"\x00"
		def element(name): return b"\x15\x04\x25\x00\x18" + varint(len(name)) + name + b"\x00"
		group = b"\x19\x2c" + column(b"stack_id") + column(b"period") + b"\x16" + number(len(chunk) * 2) + b"\x16" + number(rows) + b"\x00"
		schema = b"\x19\x3c" + b"\x48\x01x\x15\x04\x00" + element(b"stack_id") + element(b"period")
		for groups, path in ((1, sys.argv[1].replace("claims", "claims/few")), (1000, sys.argv[1])):
		    end = b"\x15\x04" + schema + b"\x16" + number(rows * groups) + b"\x19\xfc" + varint(groups) + group * groups + b"\x00"
		    if groups > 1 or not __import__("os").makedirs("claims/few", exist_ok=True):
		        open(path, "wb").write(b"PAR1" + chunk + end + struct.pack("<I", len(end)) + b"PAR1")
	END
	mv claims/few few.tables
	"$TALLY" report --stdio few.tables >report
	grep -qF "# Samples: 4M of event 'samples'" report
	run -1 timeout 20 "$TALLY" report --stdio claims
	[ "$output" = "tally report: claims/samples.parquet: it claims more values than a table of its size has (1,024 a byte)" ]
}

@test "a folder of a thousand files is read with few of them open and mapped" {
	rm -rf many
	mkdir many
	# Links to the two files of a host: so many hosts.
	samples=$(find "$PWD/web" -name 'samples*')
	stacks=$(find "$PWD/web" -name 'stacks*')
	python3 - "$samples" "$stacks" <<-'END'
		import os, sys
		for number in range(500):
		    for path, kind in zip(sys.argv[1:], ("samples", "stacks")):
		        os.link(path, f"many/{kind}-{number:04}.parquet")
	END
	[ "$(find many -type f | wc -l)" = 1000 ]
	# A thread has one of them.
	(ulimit -n 64 && exec "$TALLY" report --json -s symbol many >report.json) &
	pid=$! most=0
	while [ -d /proc/$pid ]; do
		mapped=$(grep -c 'many/' /proc/$pid/maps 2>/dev/null) || true
		[ "${mapped:-0}" -le "$most" ] || most=$mapped
		sleep 0.02
	done
	wait $pid
	[ "$most" -le 32 ]
	run -0 python3 -c 'import json; event = json.load(open("report.json"))["events"][0]; print(event["period_passed"])'
	[ "$output" = $((500 * 25 * 7000)) ]
}

@test "samples whose stacks are missing are of unknown code" {
	rm -rf lone
	mkdir lone
	cp web/*/*/*/samples-*.parquet lone
	"$TALLY" report --stdio --no-children -g none -s dso,symbol lone >report
	grep -qE '^ +100\.00% +\[unknown\] ' report
}

@test "damaged files are refused in one line, or read; nothing breaks" {
	python3 - "$TALLY" <<-'END'
		import glob, os, random, shutil, subprocess, sys
		random.seed(19)
		files = glob.glob("web/**/*.parquet", recursive=True)
		for number in range(60):
		    shutil.rmtree("damaged", ignore_errors=True)
		    os.mkdir("damaged")
		    for path in files:
		        data = bytearray(open(path, "rb").read())
		        if number % 3 == 2:
		            del data[random.randrange(len(data)):]
		        else:
		            # the end of the file is where most is said
		            first = len(data) - 8 - int.from_bytes(data[-8:-4], "little") if number % 3 else 4
		            for _ in range(random.choice((1, 4))):
		                data[random.randrange(first, len(data))] = random.randrange(256)
		        open("damaged/" + os.path.basename(path), "wb").write(data)
		    made = subprocess.run([sys.argv[1], "report", "--stdio", "damaged"], capture_output=True, timeout=60)
		    assert made.returncode in (0, 1), (number, made)
		    if made.returncode:
		        assert made.stderr.startswith(b"tally report: damaged"), (number, made)
		        assert made.stderr.count(b"\n") == 1, (number, made)
	END
}
