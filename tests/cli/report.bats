#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally report: its options, what it says of bad files, and the shares of a program made for it.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	# main calls outer, which calls inner (three quarters of the work) and works itself.  Each turn waits for the one before in a
	# register, so a turn takes the same time in both loops, whatever the caches, the alignment of the code and others do.
	cat >busy.c <<'END'
#define TURNS(n, count) for (register unsigned i = 0; i < (count); i++) n = n * 69069 + 1
unsigned inner(register unsigned n) { TURNS(n, 3000000); return n; }
unsigned outer(register unsigned n)
{
	n = inner(n);
	TURNS(n, 1000000);
	return n;
}
int main(int argc, char **argv)
{
	unsigned n = (unsigned)argc;
	for (int i = 0; i < 200; i++)
		n = outer(n);
	return n == 7 && argv[0][0] == 7;
}
END
	gcc -O0 -g -o busy busy.c || return 0 # -O0 has what is "register" in registers
	# On one CPU, so that one ring holds all and a cut leaves the maps that stand at its start.
	cpu=$(taskset -cp $$ | grep -o '[0-9]*' | sed -n 2p)
	perf_record() { taskset -c "$cpu" perf record -q -e cpu-clock:u -F 5000 "$@" -- ./busy 2>/dev/null; }
	perf_record -g -o chains.data || true
	perf_record -o flat.data || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

need_recording() {
	[ -s chains.data ] && [ -s flat.data ] || skip "perf cannot record here"
}

# The first column of the row of a symbol, without its %.
share_of() { # symbol, text
	awk -v symbol="$1" '$NF == symbol && $1 ~ /%$/ {sub("%", "", $1); print $1; exit}' <<<"$2"
}

between() { # least, value, most
	awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN {exit !(b != "" && a <= b && b <= c)}'
}

@test "a file that is not there: one line, exit 1" {
	run --separate-stderr "$TALLY" report -i no-such.data
	[ "$status" = 1 ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ "$stderr" == "tally report: "*"no-such.data"* ]]
}

@test "a file that is no recording: one line, exit 1" {
	echo "just some text, longer than a header would be, so that only the magic can tell what it is: $(seq 1 100)" >text.data
	: >empty.data
	for file in text.data empty.data .; do
		run --separate-stderr "$TALLY" report -i "$file"
		[ "$status" = 1 ]
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" = 1 ]
	done
}

@test "wrong options: one line, exit 2" {
	for wrong in "-s nonsense" "-s comm,," "-g sideways" "-g graph,120" "--pid one" "--percent-limit x" "a.data b.data"; do
		run --separate-stderr "$TALLY" report $wrong
		[ "$status" = 2 ]
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" = 1 ]
	done
}

@test "shares of a program that is known, without chains" {
	need_recording
	run --separate-stderr "$TALLY" report -i flat.data
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[[ "$output" == *"# Samples: "*" of event 'cpu-clock:u'"* ]]
	[[ "$output" == *"# Overhead  Command  Shared Object"*"Symbol"* ]]
	between 65 "$(share_of inner "$output")" 85
	between 15 "$(share_of outer "$output")" 35
	[[ "$output" != *"|"* ]]
}

@test "children and callees are the default with chains" {
	need_recording
	run "$TALLY" report -i chains.data
	[ "$status" = 0 ]
	[[ "$output" == *"# Children      Self  Command"* ]]
	between 95 "$(share_of main "$output")" 100
	between 95 "$(share_of outer "$output")" 100
	between 65 "$(share_of inner "$output")" 85
	# below main stands outer, and below that inner with its share
	echo "$output"
	[[ "$output" =~ --main$'\n'\ +outer ]] || [[ "$output" =~ ---main$'\n'.*--outer ]]
	[[ "$output" =~ --[67][0-9]\.[0-9][0-9]%--inner ]]
}

@test "17: with children the rows of callers have the lines of their calls" {
	need_recording
	run -0 "$TALLY" report -i chains.data --children -g none -s sym,srcline -t '|' -q
	# outer works itself, too, in other lines
	checked=0
	while read -r name callee least most; do
		checked=$((checked + 1))
		at=$(grep -n -F "n = $callee(n);" busy.c | cut -d: -f 1)
		between "$least" "$(tr -s ' ' <<<"$output" | sed 's/ *|/|/g' |
			awk -F'|' -v line="busy.c:$at" -v name="$name" '$3 ~ " " name "$" && $4 == line {print $1 + 0}')" "$most"
	done <<<"main outer 95 100
outer inner 65 85"
	[ "$checked" = 2 ]
}

@test "17: the column latency needs what --latency needs, and --ignore-vmlinux leaves --vmlinux unread" {
	need_recording
	run -1 --separate-stderr "$TALLY" report -i chains.data -F overhead,latency,sym
	[[ "$stderr" = *"record with --switch-events"* ]]
	"$TALLY" report -i chains.data --vmlinux busy.c --ignore-vmlinux >without
	"$TALLY" report -i chains.data | diff - without
	run -1 "$TALLY" report -i chains.data --vmlinux no-such-file
	run -0 "$TALLY" report -i chains.data --vmlinux no-such-file --ignore-vmlinux
}

@test "callers without children" {
	need_recording
	run -0 "$TALLY" report -i chains.data --no-children
	[[ "$output" == *"# Overhead  Command"* ]]
	# a sample at the very start of a function has another caller
	local split='[ |'$'\n'']+(--[0-9.]+%--)?'
	[[ "$output" =~ ---inner${split}outer${split}main ]]
	run -0 "$TALLY" report -i chains.data --no-children -g caller
	[[ "$output" =~ main${split}outer${split}inner ]]
	run -0 "$TALLY" report -i chains.data --no-children -g none
	[[ "$output" != *"---"* ]]
	run -0 "$TALLY" report -i chains.data --children --no-call-graph
	[[ "$output" == *"# Children"* ]]
	[[ "$output" != *"---"* ]]
}

@test "rows agree with perf's" {
	need_recording
	for file in chains.data flat.data; do
		for keys in comm,dso,symbol dso symbol,comm; do
			perf report --stdio -q --no-children -g none -s "$keys" -i "$file" -t '|' </dev/null 2>/dev/null |
				sed -e "s/ *| */|/g" -e "s/ *\$//" -e "s/|- *-\$//" -e "s/^ *//" | grep -v "^\$" | awk -F"|" "\$1 + 0 >= 0.5" | sort >theirs
			"$TALLY" report -q --no-children -g none -s "$keys" -i "$file" -t '|' | awk -F'|' '$1 + 0 >= 0.5' | sort >ours
			[ -s theirs ]
			diff theirs ours
		done
	done
}

@test "keys choose columns, in their order" {
	need_recording
	run -0 "$TALLY" report -i flat.data -s dso
	[[ "$output" == *$'\n'"# Overhead  Shared Object"* ]]
	run -0 "$TALLY" report -i flat.data -s sym,comm -n --show-total-period
	[[ "$output" == *$'\n'"# Overhead       Samples        Period  Symbol"*"Command"* ]]
	run -0 "$TALLY" report -i flat.data -s pid -q -t ,
	[[ "$output" =~ ^100.00%,\ *[0-9]+:busy$ ]]
	run -0 "$TALLY" report -i flat.data -s tid -q
	[[ "$output" =~ [0-9]+:busy$ ]]
}

@test "what a thread did before its first name was recorded counts under that name; script prints :TID, as perf does" {
	printf '%s\n' 'sample 7 4000' 'wait 1' 'comm 7 early' 'sample 7 4000' 'wait 1' 'comm 7 late' 'sample 7 4000' 'sample 8 4000' |
		python3 "$BATS_TEST_DIRNAME/recording.py" late.data deferred
	[ "$("$TALLY" report -i late.data -s comm -n -t , -q -g none | sort | tr '\n' ' ')" = "25.00%,25.00%,1,:8 25.00%,25.00%,1,late 50.00%,50.00%,2,early " ]
	[ "$("$TALLY" script -i late.data -F comm | tr -d ' ' | tr '\n' ' ')" = ":7 early late :8 " ]
}

@test "rows of branches and of memory accesses are refused where the recording has none" {
	echo 'sample 7 4000' | python3 "$BATS_TEST_DIRNAME/recording.py" plain.data
	for how in -b "-s symbol_from" "-s mispredict"; do
		run -1 --separate-stderr "$TALLY" report -i plain.data $how
		[ "$output$stderr" = "tally report: the recording has no branch stacks: record with -b or -j" ]
	done
	for how in --mem-mode "-s locked" "-s symbol_daddr"; do
		run -1 --separate-stderr "$TALLY" report -i plain.data $how
		[ "$output$stderr" = "tally report: the recording has no memory accesses: record with -d" ]
	done
}

@test "source lines, addresses and sizes of branches are those of their targets" {
	printf '%s\n' 'comm 7 a' 'kernel ffffffff81000000 1000000' 'map 7 400000 1000 0 /none' \
		'sample 7 400010 ffffffff81000100 ffffffff81000200 400020 400300' |
		python3 "$BATS_TEST_DIRNAME/recording.py" branches.data branches
	rows() { "$TALLY" report -i branches.data -b -q -t , -s "$1" | sort | tr '\n' ' '; }
	[ "$(rows srcline)" = "50.00%,[kernel.kallsyms][ffffffff81000200] 50.00%,none[300] " ]
	[ "$(rows addr)" = "50.00%,0x400300 50.00%,0xffffffff81000200 " ]
	[ "$(rows dso,dso_size)" = "50.00%,[kernel.kallsyms],16777216 50.00%,none,4096 " ]
}

@test "functions with the same name are rows of their own, with --hierarchy, too" {
	command -v cc >/dev/null || skip "no C compiler: there is no program with such functions"
	for n in 1 2; do
		echo "static __attribute__((noipa)) int same(int x) { return x * $n; } int part$n(int x) { return same(x) + 1; }" >part$n.c
	done
	echo 'int part1(int); int part2(int); int main(int c, char **v) { (void)v; return part1(c) + part2(c); }' >main.c
	cc -O1 -o twice part1.c part2.c main.c
	{
		echo 'comm 7 a'
		echo "map 7 555500001000 1000 1000 $PWD/twice"
		nm twice | awk '$3 == "same" {print "sample 7 55550000" substr($1, 13)}'
	} | python3 "$BATS_TEST_DIRNAME/recording.py" twice.data
	[ "$("$TALLY" report -i twice.data --stdio -s dso,sym | grep -c '50.00%.* same')" = 2 ]
	[ "$("$TALLY" report -i twice.data --stdio -s dso,sym --hierarchy | grep -c '50.00%.* same')" = 2 ]
}

@test "samples and periods add up to what the file holds" {
	need_recording
	samples=$(perf report --stats -i flat.data 2>/dev/null | awk '$1 == "SAMPLE" {print $3; exit}')
	"$TALLY" report -i flat.data -n --show-total-period -t , -q -s sym >rows
	[ "$(awk -F, '{sum += $2} END {print sum}' rows)" = "$samples" ]
	[ "$(awk -F, '{sum += $3} END {printf "%.0f", sum}' rows)" = \
		"$("$TALLY" report -i flat.data | awk '/Event count/ {print $NF}')" ]
}

@test "filters leave the shares as they are" {
	need_recording
	all=$("$TALLY" report -i flat.data)
	for filter in "-S inner" "-S inner --comms busy" "-S inner --dsos busy"; do
		run -0 "$TALLY" report -i flat.data $filter
		[ "$(share_of inner "$output")" = "$(share_of inner "$all")" ]
		[ -z "$(share_of outer "$output")" ]
		[[ "$output" == *"# Shown: "* ]]
	done
	run -0 --separate-stderr "$TALLY" report -i flat.data --comms nobody -q
	[ -z "$output" ]
	run -0 --separate-stderr "$TALLY" report -i flat.data --pid 1 -q
	[ -z "$output" ]
}

@test "limits" {
	need_recording
	run -0 "$TALLY" report -i flat.data -q --percent-limit 50
	[ "${#lines[@]}" = 1 ]
	[[ "$output" == *inner* ]]
	run -0 "$TALLY" report -i chains.data -q -g 80 --percent-limit 10
	[[ "$output" != *"--inner"* ]]
}

@test "a recording cut short is shown, with a line that says so" {
	need_recording
	size=$(stat -c %s chains.data)
	head -c $((size * 2 / 3)) chains.data >cut.data
	run -0 --separate-stderr "$TALLY" report -i cut.data --no-children -g none
	[ -n "$stderr" ]
	[[ "$stderr" == *"cut.data"* ]]
	between 60 "$(share_of inner "$output")" 90
}

@test "no samples: says why it may be so" {
	need_recording
	perf record -q -e cpu-clock:u -c 1000000000000 -o none.data -- true 2>/dev/null
	run "$TALLY" report -i none.data
	[ "$status" = 0 ]
	[[ "$output" == "# No samples: "* ]]
	"$TALLY" record -q -n -e cpu-clock:u -o none.data -- true 2>/dev/null
	run -0 "$TALLY" report -i none.data
	[ "$output" = "# No samples: its events were recorded without them (record -n)" ]
	"$TALLY" stat record -e task-clock:u -o none.data -- true 2>/dev/null
	run -0 "$TALLY" report -i none.data
	[ "$output" = "# No samples: these are counts; \`tally stat report\` prints them" ]
}

@test "a full disk is reported" {
	need_recording
	[ -w /dev/full ] || skip "no /dev/full"
	run --separate-stderr bash -c '"$TALLY" report -i chains.data >/dev/full'
	[ "$status" = 1 ]
	[ -n "$stderr" ]
}

@test "no colour and no pager away from a terminal" {
	need_recording
	TALLY_PAGER="false" run "$TALLY" report -i flat.data
	[ "$status" = 0 ]
	[[ "$output" != *$'\x1b'* ]]
}

perf_rows() { # perf's rows and those here, options for both
	diff <(perf report --stdio --no-children -g none -i timed.data "$@" 2>/dev/null </dev/null |
		grep -v '^#' | grep . | sed 's/^ *//; s/ *$//' | tr -s ' ' | sort) \
		<("$TALLY" report --no-children -g none -i timed.data "$@" 2>/dev/null |
			grep -v '^#' | grep . | sed 's/^ *//; s/ *$//' | tr -s ' ' | sort)
}

@test "14.3: the keys socket and time agree with perf's, by any quantum" {
	need_recording
	# perf cuts the time to 12 characters, so only times below 100000 s are equal.
	[ "$(cut -d. -f1 /proc/uptime)" -lt 90000 ] || skip "the machine runs for more than a day"
	taskset -c "$(taskset -cp $$ | grep -o '[0-9]*' | sed -n 2p)" perf record -q -a -e cpu-clock -F 2000 \
		-o timed.data -- ./busy 2>/dev/null || skip "perf cannot record the whole system here"
	perf report --header-only -I -i timed.data 2>/dev/null | grep -q 'Socket ID' ||
		skip "perf did not write the topology"
	perf_rows -s socket
	perf_rows -s time
	perf_rows -s socket,time,cpu --time-quantum 20ms # perf cuts names that are longer than those of its first rows
	perf_rows -s time --time-quantum 300us
}

@test "14.3: the key local_period has a row for each period that samples have" {
	need_recording
	"$TALLY" report -i flat.data --no-children -F local_period,sample --csv -q 2>/dev/null | cut -d, -f 2,3 | sort >rows
	perf script -F period -i flat.data 2>/dev/null | awk '{count[$1]++} END {for (p in count) print p "," count[p]}' |
		sort >periods
	[ -s periods ]
	diff periods rows
}

@test "14.3: a time quantum needs a unit, and is not 0" {
	for wrong in 5 0ms ms 1h 99999999999999999999s 1e3ms; do
		run -2 "$TALLY" report -i flat.data -s time --time-quantum "$wrong"
		[[ "$output" = *"--time-quantum: '$wrong' is not a time above 0 with its unit: ns, us, ms or s"* ]]
	done
}

@test "14.3: CSV is read by a reader of CSV, and its rows are those of the table" {
	need_recording
	command -v python3 ||
		skip "python3 is not installed: no other reader reads the CSV; tests/unit/report has it byte for byte"
	"$TALLY" report -i chains.data --csv -s comm,dso,sym,pid,tid,cpu 2>/dev/null >rows.csv
	"$TALLY" report -i chains.data --csv -t ';' -F sym,overhead_children,period -s pid 2>/dev/null >some.csv
	"$TALLY" report -i chains.data --json -s comm,dso,sym,pid,tid,cpu 2>/dev/null >rows.json
	"$TALLY" report -i chains.data -g none -t '|' -n --show-total-period -s comm,dso,sym -q 2>/dev/null >table
	python3 - <<'END'
import csv, json
rows = list(csv.DictReader(open("rows.csv")))
assert list(rows[0]) == ["event", "overhead_children", "overhead", "sample", "period",
                         "comm", "dso", "symbol", "pid", "tid", "cpu"], rows[0]
assert all(None not in row and None not in row.values() for row in rows)
found = json.load(open("rows.json"))
assert found["version"] == 1 and len(found["events"]) == 1
event = found["events"][0]
assert sum(int(row["period"]) for row in rows) == event["period"] == event["period_passed"]
assert sum(int(row["sample"]) for row in rows) == event["samples"]
assert len(rows) == len(event["rows"])
for a, b in zip(rows, event["rows"]):
    assert {key: str("" if value is None else value) for key, value in b.items()}.items() <= {
        key: str(float(value)) if key.startswith("overhead") and "." in value else value
        for key, value in a.items()}.items(), (a, b)
table = [line.rstrip("\n").split("|") for line in open("table")]
# two decimals of the table; halves may go either way
shares = sorted(float(row["overhead"]) for row in rows), sorted(float(line[1].strip().rstrip("%")) for line in table)
assert len(shares[0]) == len(shares[1]) and all(abs(a - b) < 0.00501 for a, b in zip(*shares)), shares
assert sorted(row["sample"] for row in rows) == sorted(line[2] for line in table)
some = list(csv.DictReader(open("some.csv"), delimiter=";"))
assert list(some[0]) == ["event", "symbol", "overhead_children", "period", "pid"], some[0]
END
}

@test "14: a small stack is enough for long names: the command and its threads have room of their own" {
	command -v gcc >/dev/null || skip "gcc is not installed: no function with a long name; others are reported in all tests"
	cat >long.c <<'END'
#define TEN(x) x x x x x x x x x x
__attribute__((noinline)) int work(int n) __asm__("_Z4workI" TEN(TEN("1gI")) TEN(TEN("1gI")) "i" TEN(TEN("E")) TEN(TEN("E")) "EiT_");
int work(int n) { volatile int sum = n; for (int i = 0; i < 100000000; i++) sum += i; return sum; }
int main(void) { return work(3) == 7; }
END
	gcc -O1 -o long long.c
	"$TALLY" record -q -e cpu-clock:u -o long.data -- ./long 2>err || skip "events cannot be opened here: $(head -n 1 err)"
	"$TALLY" report --stdio -i long.data >usual
	grep -q 'work<g<g<g<g' usual
	for size in 64 512; do
		(
			ulimit -s $size
			"$TALLY" report --stdio -i long.data
		) | cmp - usual
	done
	# Signals come to the thread that records.
	(
		ulimit -s 64
		exec "$TALLY" record -e cpu-clock:u -o stopped.data -- sleep 60 2>err
	) &
	recorder=$!
	for _ in $(seq 100); do
		pgrep -P "$recorder" sleep >/dev/null && break
		sleep 0.1
	done
	kill -INT "$recorder"
	local ended=0
	wait "$recorder" || ended=$?
	[ "$ended" = 130 ]
	grep -q 'in stopped.data' err
}

@test "a limit of memory that a recording does not fit into is named, with how to raise it" {
	nm "$TALLY" | grep __asan_init >/dev/null && skip "sanitizers reserve memory"
	truncate -s 4G large.data
	run -1 bash -c 'ulimit -v 2000000; "$1" report -i large.data' - "$TALLY"
	[[ $output == *"large.data: the file is mapped, and RLIMIT_AS allows this program 2000000 kB of memory"*"(ulimit -v)"* ]]
	rm large.data
}
