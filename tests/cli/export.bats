#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally export: sums of functions are the report's in every format, as readers that are not ours have them; names from
# outside are only names; folded stacks are those of stackcollapse-perf.pl.

load hostile_program

FORMATS="folded pprof speedscope callgrind csv chrome firefox perfetto otlp sqlite"
TEN="__single-event-single-process.perf.data __single-event-multi-process.perf.data __perf.data.callgraph-3.4
	__perf.data.singleprocess-3.8 __perf.data.forkexit-3.8 __perf.data.remmap-3.2 __perf_with_generic_git_symbols.data __perf_with_ip_zero_in_callchain.data
	__perf_with_callchain_record.data __perf.data.piped.ctx_switch_namespaces-4.14 __perf_no_unwind.data"

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	export READ="$BATS_TEST_DIRNAME/export.py"
	mkdir -p "$HOME"
	cd "$BATS_FILE_TMPDIR" || return 1
	make_hostile_program || return 0
	made prog >prog.txt
	python3 "$BATS_TEST_DIRNAME/recording.py" made.data chains <prog.txt
	printf 'comm 1 none\n' | python3 "$BATS_TEST_DIRNAME/recording.py" empty.data chains
}

# Lines for recording.py: samples in the program's functions, called by each other, and some elsewhere.
made() {
	local start size offset main middle leaf hostile
	read -r offset start size < <(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / {print $2, $3, $5}')
	place() { printf '%x' $((0x$(nm "$1" | awk -v name="$2" '$3 == name {print $1}') - start + offset + 0x400000)); }
	main=$(place "$1" main) middle=$(place "$1" middle) leaf=$(place "$1" leaf)
	hostile=$(printf '%x' $((0x$(nm "$1" | awk '/<b>/ {print $1}') - start + offset + 0x400000)))
	later() { printf '%x' $((0x$1 + 4)); }
	echo "comm 10 prog"
	echo "map 10 $(printf '%x' $((0x400000 + offset))) $(printf '%x' $((size))) $(printf '%x' $((offset))) $PWD/$1"
	echo 'comm 11 evil";<b>'
	echo "map 11 $(printf '%x' $((0x400000 + offset))) $(printf '%x' $((size))) $(printf '%x' $((offset))) $PWD/$1"
	echo "sample 10 $leaf user $leaf $(later "$middle") $(later "$main")"
	echo "times 6"
	echo "sample 10 $(later "$leaf") user $(later "$leaf") $(later "$middle") $(later "$hostile") $(later "$main")"
	echo "times 3"
	echo "sample 10 $middle user $middle $(later "$hostile") $(later "$main")"
	echo "sample 11 $hostile user $hostile $(later "$main")"
	echo "times 4"
	echo "sample 11 123456 user 123456 $(later "$main")"
	echo "sample 10 $main user $main"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s made.data ] || skip "gcc, nm or readelf is missing: nothing to export"
}

# Exports to each format and compares with the report; arguments: recording, options.
agree() {
	local file="$1" format
	shift
	"$TALLY" report -s symbol --json --no-inline --percentage relative "$@" "$file" >"$file.json"
	for format in $FORMATS; do
		"$TALLY" export --to "$format" --no-inline -f -o "$file.$format" "$@" "$file"
		run python3 "$READ" compare "$format" "$file.$format" "$file.json"
		echo "$format: $output"
		[ "$status" -eq 0 ]
	done
}

@test "each format has the report's sums of functions, hostile names among them" {
	agree made.data
	run -0 python3 "$READ" sums speedscope made.data.speedscope
	[[ $output = *'"a\"<b>\\x;y&'"'"'z(),": [5000, 10000]'* ]]
}

# The same for a recording with one event and no branches: a report's rows are branches where there are some, and folded stacks are
# those of the first event. Also what go's pprof and callgrind_annotate make of it, where they are installed.
agree_with_others() { # recording
	local format
	rm -f each.*
	"$TALLY" report -s symbol --json --no-inline --percentage relative -i "$1" >each.json 2>/dev/null
	for format in $FORMATS; do
		"$TALLY" export --to "$format" --no-inline --no-lines -o "each.$format" "$1"
	done
	if command -v go >/dev/null; then
		go tool pprof -raw each.pprof >each.go-pprof 2>/dev/null
	fi
	if command -v callgrind_annotate >/dev/null; then
		callgrind_annotate --threshold=100 each.callgrind >each.callgrind-annotate
	fi
	run python3 "$READ" compare-all each each.json
	echo "$1: $output"
	[ "$status" -eq 0 ]
}

# Records a real program as a process with a hostile name; arguments: recording, program, its arguments.
record_named() {
	local file="$1" hostile='ev;l"<b>\$'
	ln -sf "$(readlink -f "$(command -v "$2")")" "$hostile"
	shift 2
	"$TALLY" record -q -N -e cpu-clock -F 4000 -g -o "$file" -- "./$hostile" "$@" >/dev/null
}

@test "ten recordings of programs with names and a hostile one have the report's sums in every format, in go's pprof and callgrind_annotate, too" {
	seq 60000 >numbers
	{ for i in $(seq 60); do echo "int f$i(int a) { for (int i = 0; i < a; i++) a += i * $i ^ a; return a; }"; done; } >many.c
	record_named n1.data "$(python3 -c 'import sys; print(sys.executable)')" -c 'import json; [json.loads(json.dumps(list(range(20000)))) for _ in range(20)]'
	record_named n2.data perl -e 'my %h; $h{$_ % 500} .= chr(65 + $_ % 26) for 1 .. 100000; print sort { length $h{$a} <=> length $h{$b} } keys %h'
	record_named n3.data bash -c 'i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); a[$((i % 100))]=x$i; done'
	record_named n4.data xz -k -c numbers
	record_named n5.data zstd -q -c -19 numbers
	record_named n6.data sqlite3 :memory: 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 200000) SELECT sum(length(hex(n * n))) FROM c'
	record_named n7.data jq -n '[range(60000) | tostring] | sort | length'
	record_named n8.data "$(gcc -print-prog-name=cc1)" -quiet -O2 many.c -o many.s
	record_named n9.data sort -R numbers
	record_named n10.data "$TALLY" report -s symbol,pid n1.data
	for number in $(seq 10); do
		agree_with_others "n$number.data"
		grep -qF '"ev;l\"<b>\\$' <("$TALLY" report -s comm --json "n$number.data")
		[[ $output =~ pprof:\ ([0-9]+)\ functions\ are\ equal ]]
		[ "${BASH_REMATCH[1]}" -ge 5 ]
	done
	agree_with_others made.data
}

@test "ten recordings of others have the report's sums in every format" {
	[ -d "${TALLY_CORPUS:-}/files" ] || skip "TALLY_CORPUS is not set: only recordings of this machine are compared"
	local name file count=0
	for name in $TEN; do
		for file in "$TALLY_CORPUS"/files/*"$name"; do
			[ -e "$file" ] || continue
			agree_with_others "$file"
			count=$((count + 1))
		done
	done
	[ "$count" -ge 10 ]
}

@test "with inlined functions the sums with callees are the report's, too, and from an archive the same" {
	"$TALLY" report -s symbol --json --inline --percentage relative made.data >inline.json
	"$TALLY" archive -f -o made.tar.zst made.data
	for format in pprof speedscope; do
		"$TALLY" export --to "$format" --inline -f -o inline.out made.data
		python3 "$READ" sums "$format" inline.out >sums
		"$TALLY" export --to "$format" --inline made.tar.zst >archived
		python3 "$READ" sums "$format" archived | diff sums -
		# A sample is the inlined function's here, and that of the function around it in a report.
		run -0 python3 - sums inline.json <<-'EOF2'
			import json, sys
			sums = {name.replace(" (inlined)", ""): of for name, of in json.load(open(sys.argv[1])).items()}
			event = json.load(open(sys.argv[2]))["events"][0]
			rows = {row["symbol"].replace(" (inlined)", ""): row["overhead_children"] for row in event["rows"]}
			assert "inner" in rows and rows["inner"] > 0
			for name in ("inner", "leaf", "middle", "main"):
			    assert abs(100 * sums[name][1] / event["period"] - rows[name]) < 0.01, (name, sums[name], rows[name])
		EOF2
	done
}

@test "a compressed recording gives what the plain one gives" {
	"$TALLY" version --build-options | grep -q 'zstd: \[ on' || skip "built without libzstd: nothing is compressed"
	"$TALLY" record -q -N -z -e cpu-clock -F 4000 -g -o packed.data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
	"$TALLY" inject -i packed.data -o plain.data
	for format in folded csv; do
		"$TALLY" export --to "$format" plain.data >plain
		"$TALLY" export --to "$format" packed.data | cmp - plain
		[ "$(wc -l <plain)" -ge 2 ]
	done
	"$TALLY" report -s symbol --json --no-inline --percentage relative packed.data >packed.json
	for format in pprof speedscope; do
		"$TALLY" export --to "$format" --no-inline -f -o packed.out packed.data
		run -0 python3 "$READ" compare "$format" packed.out packed.json
	done
}

@test "options choose the same samples as in a report" {
	agree made.data -c prog
	agree made.data -S leaf,middle
	agree made.data --time 20%-60%
	agree made.data --filter 'pid == 10 and stack has middle'
}

@test "folded stacks are known lines, with the names that options ask for" {
	run -0 --separate-stderr "$TALLY" export --to folded --with tid,all made.data
	[ "${lines[0]}" = 'evil":<b>-11/11;main;[unknown] 1000' ]
	[ "${lines[1]}" = 'evil":<b>-11/11;main;a<b>\x:y&z 5000' ]
	[ "${lines[2]}" = "prog-10/10;main 1000" ]
	[ "${lines[3]}" = 'prog-10/10;main;a<b>\x:y&z;middle 1000' ]
	[ "${lines[4]}" = 'prog-10/10;main;a<b>\x:y&z;middle;leaf 4000' ]
	[ "${lines[5]}" = "prog-10/10;main;middle;leaf 7000" ]
	[ "${#lines[@]}" -eq 6 ]
}

@test "folded stacks have code made at run time by the map of its names, as stackcollapse-perf.pl has it" {
	printf 'comm 5 vm\nmap 5 700000 1000 0 //anon\nsample 5 700010 user 700010 700020\n' |
		python3 "$BATS_TEST_DIRNAME/recording.py" anon.data chains
	run -0 --separate-stderr "$TALLY" export --to folded anon.data
	[ "$output" = "vm;[perf-5.map];[perf-5.map] 1000" ]
	run -0 --separate-stderr "$TALLY" export --to folded --with all anon.data
	[ "$output" = "vm;[perf-5.map]_[j];[perf-5.map]_[j] 1000" ]
}

@test "folded stacks lack the blanks that a command's name ends with" {
	printf 'comm 5 a_name__\nsample 5 1000 user 1000\n' | python3 "$BATS_TEST_DIRNAME/recording.py" blanks.data chains
	LC_ALL=C sed -i 's/a_name__/a name  /' blanks.data
	run -0 --separate-stderr "$TALLY" export --to folded blanks.data
	[ "$output" = "a_name;[unknown] 1000" ]
}

@test "lost samples are in each format, or said where it has no place for them" {
	printf 'comm 5 prog\nsample 5 1000 user 1000\nlost 4711\n' | python3 "$BATS_TEST_DIRNAME/recording.py" lossy.data chains
	for format in $FORMATS; do
		run -0 --separate-stderr "$TALLY" export --to "$format" -f -o "lossy.$format" lossy.data
		case $format in
		folded | csv) [[ $stderr = *"the kernel lost 4711 samples, for which the format has no place"* ]] && continue ;;
		pprof) zcat lossy.pprof | grep -q "lost by the kernel: 4711" && continue ;;
		perfetto) LC_ALL=C grep -qF $'\xe7\x24' lossy.perfetto && continue ;; # 4711 as a varint
		sqlite) [ "$(python3 -c 'import sqlite3; print(sqlite3.connect("lossy.sqlite").execute("SELECT SUM(count) FROM lost").fetchone()[0])')" = 4711 ] && continue ;;
		*) grep -q "lost by the kernel: 4711" "lossy.$format" && [ -z "$stderr" ] && continue ;;
		esac
		echo "$format: not there; $stderr"
		return 1
	done
}

@test "the same recording gives the same bytes, from a stream, compressed, or archived" {
	for format in $FORMATS; do
		[ "$format" != sqlite ] || continue # which names the file
		"$TALLY" export --to "$format" made.data >once
		"$TALLY" export --to "$format" made.data >twice
		cmp once twice
	done
	"$TALLY" export --to folded made.data >once
	"$TALLY" export --to folded - <made.data >twice
	cmp once twice
}

@test "pprof has build-ids, addresses, lines and inlined functions, labels and what was lost" {
	"$TALLY" export --to pprof --inline made.data >made.pb.gz
	run -0 python3 "$READ" values pprof made.pb.gz
	[[ $output = *"type samples count"*"type cpu-clock"*" nanoseconds"* ]]
	[[ $output = *"mapping $PWD/prog $(readelf -n prog | awk '/Build ID/ {print $3}')"* ]]
	[[ $output = *"label comm prog"*"label pid 10"* ]]
	[[ $output = *"inner $PWD/prog.c:2 <- leaf $PWD/prog.c:3"* ]]
	address=$(printf '0x%x' $((0x$(nm prog | awk '$3 == "middle" {print $1}') + 3)))
	[[ $output = *"location $address middle $PWD/prog.c:4"* ]]
	command -v go >/dev/null || return 0 # the reader above is what checks it then
	run -0 go tool pprof -top made.pb.gz
	[[ $output = *"leaf"* ]]
}

@test "callgrind_annotate shows the functions" {
	command -v callgrind_annotate >/dev/null || skip "callgrind_annotate is not installed: the reader in Python has checked it"
	"$TALLY" export --to callgrind made.data >made.cg
	run callgrind_annotate made.cg
	[ "$status" -eq 0 ]
	[[ $output = *"11 (57.89%)"*"prog.c:leaf"* ]]
}

@test "speedscope's events are balanced and in order; the Firefox Profiler's tables are whole" {
	"$TALLY" export --to speedscope --evented made.data >made.json
	run python3 "$READ" values evented made.json
	[ "$status" -eq 0 ]
	[[ $output = *"profile prog 10/10, cpu-clock"* ]]
	"$TALLY" export --to firefox made.data >made.json
	run -0 python3 "$READ" values firefox made.json
	[[ $output = "version 61"*"thread 10 10 prog 13 0"* ]]
}

@test "chrome: a function that stays on the stack is one slice, over all pieces that threads make" {
	{
		sed -n '1,/^map 10/p' prog.txt
		echo 'period 1000000'
		for _ in $(seq 8); do # a piece has 512 samples
			grep '^sample 10' prog.txt | sed -n 1p
			echo 'times 299'
			grep '^sample 10' prog.txt | sed -n 2p
			echo 'times 299'
		done
	} | python3 "$BATS_TEST_DIRNAME/recording.py" long.data chains
	"$TALLY" export --to chrome --no-inline -f -o long.chrome long.data
	run -0 python3 -c 'import json
events = [event for event in json.load(open("long.chrome"))["traceEvents"] if event["ph"] == "X"]
of = lambda name: [event for event in events if event["name"] == name]
args = [event["args"] for event in events if "args" in event]
end = max(event["ts"] + event["dur"] for event in events)
print(len(of("main")), of("main")[0]["ts"], of("main")[0]["dur"] == end, sum(one["samples"] for one in args), len(of("leaf")))'
	[ "$output" = "1 0.0 True 4800 16" ]
}

@test "a recording without samples, and a damaged one, are exported" {
	for format in $FORMATS; do
		"$TALLY" export --to "$format" -f -o "empty.$format" empty.data
		python3 "$READ" sums "$format" "empty.$format" >sums
		[ "$(cat sums)" = "{}" ]
	done
	cp made.data cut.data
	head -c 64 /dev/zero | tr '\0' '\377' | dd of=cut.data bs=1 seek=$(($(stat -c %s cut.data) - 600)) conv=notrunc status=none
	for format in $FORMATS; do
		run -1 "$TALLY" export --to "$format" -f -o "cut.$format" cut.data
		python3 "$READ" sums "$format" "cut.$format" >sums
		run -1 "$TALLY" export --to "$format" --strict -o "strict.$format" cut.data
		[ ! -e "strict.$format" ]
	done
}

@test "a database is made in its file, and a pipe gets the same" {
	TMPDIR=/no/such/folder "$TALLY" export --to sqlite -f -o whole.db made.data
	"$TALLY" export --to sqlite made.data | cmp - whole.db
	TMPDIR=/no/such/folder "$TALLY" export --to sqlite made.data >redirected.db
	cmp whole.db redirected.db
	run -1 bash -c 'set -o pipefail; TMPDIR=/no/such/folder "$TALLY" export --to sqlite made.data | cat'
	[[ $output = *"set TMPDIR to a folder for the database, or write it to a file" ]]
}

@test "a file is not replaced without -f, and none is left when writing fails" {
	echo mine >mine
	run -1 "$TALLY" export --to csv -o mine made.data
	[[ $output = *"mine exists; --force replaces it, or name another file" ]]
	[ "$(cat mine)" = mine ]
	"$TALLY" export --to csv -f -o mine made.data
	[ "$(head -n 1 mine)" = "time_ns,event,period,comm,pid,tid,cpu,weight,symbol,dso,stack" ]
	[ -z "$(compgen -G "mine.*.tmp")" ]
	run -1 "$TALLY" export --to bolt -o none made.data
	[[ $output = *"no branch stacks"* ]]
	[ ! -e none ] && [ -z "$(compgen -G "none.*.tmp")" ]
}

@test "13: what is not a regular file is written to, and never replaced" {
	"$TALLY" export --to folded made.data >expected
	mkfifo pipe
	cat pipe >got &
	"$TALLY" export --to folded -f -o pipe made.data
	wait $!
	[ -p pipe ]
	cmp got expected
	{ echo before; "$TALLY" export --to folded -f -o /dev/stdout made.data; echo after; } >got
	{ echo before; cat expected; echo after; } | cmp - got
	[ -L /dev/stdout ]
	# A link stays a link.
	echo old >real
	ln -s real link
	"$TALLY" export --to folded -f -o link made.data
	[ -L link ]
	cmp real expected
	[ -z "$(find . -name '*.tmp')" ]
	mknod null c 1 3 2>/dev/null && : >null || skip "devices cannot be made here"
	"$TALLY" export --to folded -f -o null made.data
	"$TALLY" export --to sqlite -o null made.data
	"$TALLY" report --html=null -i made.data
	[ -c null ]
}

@test "what is missing or invalid is said" {
	run -2 "$TALLY" export made.data
	[[ $output = *"--to FORMAT is missing"* ]]
	run -2 "$TALLY" export --to nothing made.data
	[[ $output = *"unknown format 'nothing'; valid are folded, pprof"* ]]
	run -2 "$TALLY" export --to pprof --with pid made.data
	[[ $output = *"--with is for --to folded"* ]]
	run -1 "$TALLY" export --to folded -e cycles made.data
	[[ $output = *"event 'cycles' is not in the recording"* ]]
	run -0 "$TALLY" export --to folded -c nobody made.data
	[[ $output = *"0 of 19 samples match"* ]]
}
