#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally merge: what is merged has the sums of its parts, in tally and in perf, and each recording stays known.

KERNEL_ONE=1111111111111111111111111111111111111111
KERNEL_TWO=2222222222222222222222222222222222222222
WORK_ONE=aa00000000000000000000000000000000000001
WORK_TWO=bb00000000000000000000000000000000000002

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	mkdir -p "$HOME"
}

setup() {
	export LC_ALL=C # of sort
	cd "$BATS_TEST_TMPDIR" || return 1
}

# host FILE HOST KERNEL START BUILD-ID [EVENT...]
host() {
	python3 "$BATS_TEST_DIRNAME/merge_hosts.py" "$@"
}

record() {
	local file=$1
	shift
	perf record -q -e cpu-clock -F 5000 -o "$file" "$@" 2>/dev/null || skip "perf cannot record here: the made hosts show the same"
}

# The sums of samples by the rows of `report -F sample,KEY`, of all files together.
sums() {
	local key=$1 file
	shift
	for file; do
		"$TALLY" report -i "$file" --no-children --csv -q -F "sample,$key" ${only:+-c "$only"} 2>/dev/null
	done | python3 -c '
import collections, csv, sys
sums = collections.Counter()
for row in csv.reader(sys.stdin):
    sums[tuple(row[2:])] += int(row[1])
for key in sorted(sums):
    print(key, sums[key])'
}

perf_sums() {
	# a process has another number in a merged file
	perf script -i "$1" -F ip,sym,dso 2>perf.err | sed 's/^ *//; s,/tmp/perf-[0-9]*.map,MAP,' | sort | uniq -c
	[ ! -s perf.err ] || cat perf.err >&3
	[ ! -s perf.err ]
}

@test "of real runs: sums by function are those of the parts, in tally and in perf, which has nothing to complain about" {
	record a.data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
	record b.data -g -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done'
	record c.data -a -- sh -c 'i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done'
	"$TALLY" merge -o all.data a.data b.data c.data 2>said
	grep -q '^tally: 3 recordings in all.data: ' said
	# not what other tests run, whose maps of code made at run time may be gone any moment
	local only=sh,swapper
	for key in symbol dso comm; do
		sums "$key" a.data b.data c.data >parts
		sums "$key" all.data >whole
		[ -s parts ]
		diff parts whole
	done
	only=
	for file in a b c all; do
		perf_sums "$file.data" >"$file.sums"
	done
	cat a.sums b.sums c.sums | awk '{count = $1; $1 = ""; sum[$0] += count} END {for (row in sum) print row, sum[row]}' | sort >parts
	awk '{count = $1; $1 = ""; sum[$0] += count} END {for (row in sum) print row, sum[row]}' all.sums | sort >whole
	diff parts whole
	perf report -i all.data --stdio >report 2>perf.err
	run -1 grep -v '^$' perf.err
	# each recording's share is that of its file
	for file in a b c; do
		sums comm "$file.data" >one
		"$TALLY" report -i all.data --no-children --csv -q -F sample,recording,comm >rows
		python3 - "$file.data" >other <<'END'
import csv, sys
sums = {}
for row in csv.reader(open("rows")):
    if row[2] == sys.argv[1]:
        sums[(row[3],)] = sums.get((row[3],), 0) + int(row[1])
for key in sorted(sums):
    print(key, sums[key])
END
		diff one other
	done
	"$TALLY" info --json all.data >info.json
	for file in a b c; do
		python3 -c '
import json, subprocess, sys
info = json.load(open("info.json"))["recordings"]
mine = [one for one in info if one["name"] == sys.argv[1]]
samples = json.loads(subprocess.check_output([sys.argv[2], "info", "--json", sys.argv[1]]))["samples"]
assert len(mine) == 1 and mine[0]["samples"] == sum(one["count"] for one in samples), (mine, samples)
assert "perf record" in mine[0]["command"]' "$file.data" "$TALLY"
	done
}

@test "processes of hosts that have one number, and binaries of one name, stay apart" {
	host one.data web1 $KERNEL_ONE ffffffff81000000 $WORK_ONE
	host two.data mail2 $KERNEL_ONE ffffffffa3000000 $WORK_TWO
	"$TALLY" merge -o all.data --names one,two one.data two.data 2>said
	run -1 grep 'another kernel' said
	"$TALLY" report -i all.data --no-children --csv -q -F sample,recording,pid 2>/dev/null | cut -d, -f 2- | sort >rows
	printf '%s\n' 30,one,100 30,two,4194404 | diff - rows
	"$TALLY" script -i all.data -F comm,pid,cgroup 2>/dev/null | sort | uniq -c | awk '{print $1, $2, $3, $4}' >rows
	printf '%s\n' '30 work 100 /web1' '30 work 4194404 /mail2' | diff - rows
	# the kernel of both is at one place now, and its samples are one row
	"$TALLY" script -i all.data -F ip,sym 2>/dev/null | awk '/^ *ffff/ {print $1}' | sort | uniq -c | awk '{print $1, $2}' >rows
	echo '20 ffffffff81001000' | diff - rows
	"$TALLY" script -i all.data --show-mmap-events 2>/dev/null | grep MMAP >maps
	grep -q "100/100: .*$WORK_ONE.*/opt/work" maps
	grep -q "4194404/4194404: .*$WORK_TWO.*/opt/work" maps
	"$TALLY" info --json all.data | python3 -c '
import json, sys
info = json.load(sys.stdin)
one, two = info["recordings"]
assert (one["name"], one["hostname"], one["samples"]) == ("one", "web1", 30)
assert (two["name"], two["hostname"], two["samples"]) == ("two", "mail2", 30)
assert one["time_shift"] == 0
assert info["machine"]["hostname"] == "web1, mail2"'
	command -v perf >/dev/null || skip "perf is not installed: only tally read the file"
	perf script -i all.data -F comm,pid 2>perf.err | sort | uniq -c | awk '{print $1, $2, $3}' >rows
	printf '%s\n' '30 work 100' '30 work 4194404' | diff - rows
	run -1 grep -v 'No kallsyms or vmlinux with build-id 1111' perf.err # of the made-up kernel
}

@test "a recording of another kernel is said, and its addresses stay" {
	host one.data web1 $KERNEL_ONE ffffffff81000000 $WORK_ONE
	host two.data web2 $KERNEL_TWO ffffffffa3000000 $WORK_ONE
	"$TALLY" merge -o all.data one.data two.data 2>said
	grep -q '1 of the recordings is of another kernel' said
	"$TALLY" script -i all.data -F ip,sym 2>/dev/null | awk '/^ *ffff/ {print $1}' | sort | uniq -c | awk '{print $1, $2}' >rows
	printf '%s\n' '10 ffffffff81001000' '10 ffffffffa3001000' | diff - rows
	"$TALLY" script -i all.data --show-mmap-events 2>/dev/null | grep -c 'kernel.kallsyms.*_text' >count
	[ "$(cat count)" = 2 ]
}

@test "times follow one another, or stay" {
	host one.data web1 $KERNEL_ONE ffffffff81000000 $WORK_ONE
	host two.data mailing2 $KERNEL_ONE ffffffff81000000 $WORK_ONE
	"$TALLY" merge -q -o turn.data two.data one.data
	"$TALLY" script -i turn.data -F time,pid 2>/dev/null | awk '{print $1}' | uniq -c | awk '{print $1, $2}' >rows
	printf '%s\n' '30 100' '30 4194404' | diff - rows
	"$TALLY" merge -q --times same-clock -o same.data two.data one.data
	"$TALLY" script -i same.data -F time 2>/dev/null | sort >rows
	{
		"$TALLY" script -i one.data -F time
		"$TALLY" script -i two.data -F time
	} 2>/dev/null | sort | diff - rows
	"$TALLY" script -i same.data -F time 2>/dev/null | sort -c -n
}

@test "merging merged files is merging all" {
	host one.data web1 $KERNEL_ONE ffffffff81000000 $WORK_ONE 0 1
	host two.data mail2 $KERNEL_ONE ffffffffa3000000 $WORK_TWO 0
	host three.data db12 $KERNEL_TWO ffffffffb2000000 $WORK_TWO 1 0
	"$TALLY" merge -q -o all.data one.data two.data three.data 2>/dev/null
	"$TALLY" merge -q -o 12.data one.data two.data 2>/dev/null
	"$TALLY" merge -q -o 12-3.data 12.data three.data 2>/dev/null
	"$TALLY" merge -q -o 23.data two.data three.data 2>/dev/null
	"$TALLY" merge -q -o 1-23.data one.data 23.data 2>/dev/null
	for file in all 12-3 1-23; do
		"$TALLY" report -i "$file.data" --no-children --csv -q -F sample,recording,comm,pid,symbol,cgroup 2>/dev/null | sort >"$file.rows"
		"$TALLY" script -i "$file.data" -F comm,pid,time,event,ip,sym,cgroup 2>/dev/null >"$file.text"
		"$TALLY" evlist -i "$file.data" >"$file.events"
		"$TALLY" info --json "$file.data" | python3 -c 'import json, sys; print(json.load(sys.stdin)["recordings"])' >"$file.facts"
	done
	[ "$(wc -l <all.rows)" -ge 6 ]
	for what in rows text events facts; do
		diff "all.$what" "12-3.$what"
		diff "all.$what" "1-23.$what"
	done
}

@test "a tree of merges by make, or by the ranks of MPI, is merging all" {
	command -v make >/dev/null || skip "make is not installed: merging merged files is tested"
	mkdir rack1 rack2 bin
	ln -s "$TALLY" bin/tally
	for file in rack1/a rack1/b rack2/a rack2/b rack2/c; do
		printf 'comm %d p%d\nmap %d 400000 1000 0 /none\nsample %d 400100\ntimes %d\n' $((++i)) $i $i $i $i |
			python3 "$BATS_TEST_DIRNAME/recording.py" $file.data
	done
	rows() { "$TALLY" report -i "$1" --csv -q -F sample,recording,comm,symbol 2>/dev/null | sort; }
	"$TALLY" merge -q -o flat.data rack?/*.data 2>/dev/null
	rows flat.data >known
	[ "$(wc -l <known)" -ge 5 ]
	PATH=$PWD/bin:$PATH make -s -j2 -f "${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}/examples/merge.mk"
	rows all.data | diff known -
	command -v mpirun >/dev/null || skip "mpirun is not installed: the tree is made by make only"
	# shellcheck disable=SC2016 # the shells of the ranks expand it
	PATH=$PWD/bin:$PATH mpirun --allow-run-as-root --oversubscribe -n 2 sh -c 'tally merge -q -o part$OMPI_COMM_WORLD_RANK.data $(ls rack?/*.data |
		awk -v n=$OMPI_COMM_WORLD_SIZE -v r=$OMPI_COMM_WORLD_RANK "NR % n == r")' 3>&-
	"$TALLY" merge -q -o mpi.data part?.data 2>/dev/null
	rows mpi.data | diff known -
}

@test "equal events are one, different ones stay apart" {
	host one.data web1 $KERNEL_ONE ffffffff81000000 $WORK_ONE 0 1
	host two.data web2 $KERNEL_ONE ffffffff81000000 $WORK_ONE 0 3
	"$TALLY" merge -q -o all.data one.data two.data
	"$TALLY" evlist -i all.data >events
	printf '%s\n' cpu-clock:HG task-clock:HG context-switches:HG | diff - events
	"$TALLY" report -i all.data --no-children --csv -q -F sample,recording | grep cpu-clock | sort >rows
	printf '%s\n' cpu-clock:HG,30,one.data cpu-clock:HG,30,two.data | diff - rows
}

@test "a recording without ids and trailers gets them" {
	printf '%s\n' 'comm 5 tool' 'map 5 400000 1000 0 /opt/tool' 'sample 5 400100' 'times 9' |
		python3 "$BATS_TEST_DIRNAME/recording.py" old.data
	host one.data web1 $KERNEL_ONE ffffffff81000000 $WORK_ONE
	"$TALLY" merge -q -o all.data old.data one.data
	"$TALLY" report -i all.data --no-children --csv -q -F sample,recording,comm | cut -d, -f 2- | sort >rows
	printf '%s\n' '10,old.data,tool' '30,one.data,work' | diff - rows
	"$TALLY" merge -q -o other.data one.data old.data
	"$TALLY" report -i other.data --no-children --csv -q -F sample,recording,comm | cut -d, -f 2- | sort >rows
	printf '%s\n' '10,old.data,tool' '30,one.data,work' | diff - rows
	command -v perf >/dev/null || skip "perf is not installed: only tally read the file"
	perf script -i other.data -F comm,ip 2>perf.err | awk '{print $1, $2}' | sort | uniq -c | awk '{print $1, $2, $3}' >rows
	printf '%s\n' '10 tool 400100' '20 work 401000' '10 work ffffffff81001000' | diff - rows
	run -1 grep -v 'No kallsyms or vmlinux with build-id 1111' perf.err
}

@test "a stream is merged as a file is" {
	host one.data web1 $KERNEL_ONE ffffffff81000000 $WORK_ONE
	"$TALLY" inject -i one.data -o - | "$TALLY" merge -q -o all.data --names stream,file - one.data
	"$TALLY" report -i all.data --no-children --csv -q -F sample,recording | cut -d, -f 2- | sort >rows
	printf '%s\n' 30,file 30,stream | diff - rows
}

@test "tracepoints: formats of both are kept, and payloads read as before" {
	[ -r /sys/kernel/tracing/events/sched/sched_switch/format ] || [ -r /sys/kernel/debug/tracing/events/sched/sched_switch/format ] ||
		skip "tracepoints cannot be read here"
	perf record -q -e sched:sched_switch -o a.data -- sleep 0.1 2>/dev/null || skip "tracepoints cannot be opened here"
	perf record -q -e sched:sched_process_exit -e sched:sched_switch -o b.data -- sleep 0.1 2>/dev/null
	"$TALLY" merge -q -o all.data a.data b.data
	for file in a b all; do
		# it names the types of events that have no trace
		perf script -i "$file.data" -F event,trace 2>perf.err | sed 's/^ *//' | sort >"$file.text"
		run -1 grep -v "^'trace' not valid for" perf.err
		"$TALLY" script -i "$file.data" -F event,trace | sed 's/^ *//' | sort >"$file.ours"
	done
	sort a.text b.text | diff - all.text
	sort a.ours b.ours | diff - all.ours
	[ -s all.ours ]
}

@test "what cannot be merged is refused in a line, and no file is left" {
	host one.data web1 $KERNEL_ONE ffffffff81000000 $WORK_ONE
	run -2 "$TALLY" merge one.data
	[[ "$output" == *"give two recordings or more"* ]]
	run -2 "$TALLY" merge --names a,b,c one.data one.data
	[[ "$output" == *"--names has 3 names, and there are 2 files"* ]]
	run -2 "$TALLY" merge --times backwards one.data one.data
	run -2 "$TALLY" merge -o - one.data one.data
	run -1 "$TALLY" merge -o one.data one.data one.data
	[[ "$output" == *"one of the recordings"* ]]
	run -1 "$TALLY" merge -o all.data one.data missing.data
	[[ "$output" == *"missing.data"* ]]
	sed 's/x86_64/arm_64/' one.data >arm.data
	run -1 "$TALLY" merge -o all.data one.data arm.data
	[[ "$output" == *"machine of another kind (arm_64)"* ]]
	files=()
	for ((i = 0; i < 513; i++)); do
		files+=(one.data)
	done
	run -1 "$TALLY" merge -o all.data "${files[@]}"
	[[ "$output" == *"these are 513 recordings, and one file can have 512"* ]]
	[ ! -e all.data ]
	"$TALLY" merge -q -o all.data "${files[@]:1}"
	[ "$("$TALLY" report -i all.data --no-children --csv -q -F sample,recording | grep -c '^cpu-clock:HG,30,one.data')" = 512 ]
}

@test "damage is passed over and said; --strict writes nothing" {
	host one.data web1 $KERNEL_ONE ffffffff81000000 $WORK_ONE
	cp one.data bad.data
	# the size of a record: that of the tenth sample
	python3 -c '
with open("bad.data", "r+b") as file:
    at = file.read().index(b"/opt/work") + 16 + 32 + 9 * 64
    file.seek(at + 6)
    file.write(b"\3\0")'
	run -1 "$TALLY" merge -o all.data one.data bad.data
	[[ "$output" == *"bad.data: damaged at 1 place"* ]]
	"$TALLY" report -i all.data --no-children --csv -q -F sample,recording >rows
	grep -q '^cpu-clock:HG,30,one.data$' rows
	grep -q '^cpu-clock:HG,29,bad.data$' rows
	rm all.data
	run -1 "$TALLY" merge --strict -o all.data one.data bad.data
	[ ! -e all.data ]
}
