#!/usr/bin/env bats
# tally stat -x and -j against perf stat's: the same lines with the same fields in the same order, values aside.
bats_require_minimum_version 1.5.0

load frame
load ../cli/rights

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	command -v perf >/dev/null ||
		skip "perf is not installed: nothing is compared with it; tests/unit/report has known tables, CSV and JSON"
	perf stat -e task-clock true >/dev/null 2>&1 || skip "perf cannot count here"
	case $(perf --version) in
	*" 6.1"*) ;;
	*) skip "perf is not 6.1, whose fields these are" ;;
	esac
}

# Numbers are N, threads THREAD; words that depend on how much was counted are the same.
# perf always prints 1 for the number of places of what is not supported; a rate's unit goes with its size.
masked() {
	sed -E 's/"[0-9]+\.[0-9]+"/"N"/g; s/\b[0-9]+\.[0-9]+%?/N/g; s/(^|[,;: \t])-?[0-9]+\b/\1N/g; s/ +N/ N/g
		s/[KMG]?\/sec/rate/; s/^[^,]*-[0-9]+,/THREAD,/; s/"thread" : "[^"]*"/THREAD/
		s/^(<not counted>|N),/COUNT,/'
}

both() { # options
	# Of all threads perf fails when one of them ends while it looks for them.
	for _ in 1 2 3 4 5 6 7 8 9; do
		perf stat "$@" 2>perf.txt >/dev/null </dev/null && break
	done
	[[ $(<perf.txt) != *Usage* ]] || { cat perf.txt; return 1; }
	"$TALLY" stat "$@" 2>tally.txt >/dev/null </dev/null || { cat tally.txt; return 1; }
	[ -s perf.txt ]
	grep -v "^Couldn't resolve" perf.txt | masked >perf.masked
	masked <tally.txt >tally.masked
}

same_order() {
	both "$@"
	cmp -s perf.masked tally.masked || { echo "stat $*"; diff perf.masked tally.masked; return 1; }
}

# How many threads or intervals there are is chance: the kinds of lines are the same.
same() {
	both "$@"
	cmp -s <(sort -u perf.masked) <(sort -u tally.masked) || { echo "stat $*"; diff perf.masked tally.masked; return 1; }
}

both_formats() {
	same_order -x, "$@"
	same_order -j "$@"
}

need_wide() {
	perf stat -a true >/dev/null 2>&1 || skip "the whole system cannot be counted here"
}

@test "the usual events of a command" {
	both_formats true
	both_formats -d true
	both_formats -dd true
	both_formats -ddd true
}

@test "one event, several, groups, modifiers" {
	need_kernel
	both_formats -e cpu-clock true
	both_formats -e faults true
	both_formats -e task-clock,page-faults:u true
	both_formats -e '{task-clock,page-faults},context-switches:k' true
	both_formats -e duration_time,task-clock true
	both_formats -e cycles,instructions true
}

@test "the whole system" {
	need_wide
	both_formats -a true
	both_formats -a -e cpu-clock,faults true
}

@test "each CPU" {
	need_wide
	both_formats -a -A --no-merge true
	both_formats -C 0 -A -e cpu-clock,faults true
}

@test "cores, dies, sockets, nodes" {
	need_wide
	both_formats -a --per-core true
	both_formats -a --per-die true
	both_formats -a --per-socket true
	both_formats -a --per-node true
}

@test "threads" {
	need_wide
	same -x, -a --per-thread -e cpu-clock sleep 0.1
	same -j -a --per-thread -e cpu-clock sleep 0.1
	sleep 10 &
	both_formats -p $! --per-thread -e faults sleep 0.1
	kill $!
}

@test "repeated runs have a spread" {
	both_formats -r 3 true
	both_formats -r 2 -e task-clock true
	need_wide
	both_formats -r 2 -a --per-core -e cpu-clock,faults true
}

# perf prints no interval when the command ends before it looks for the first time: it takes a moment.
@test "intervals" {
	both_formats -I 10000 sleep 0.3
	need_wide
	both_formats -I 10000 -a --per-core -e cpu-clock,faults sleep 0.3
	both_formats -I 10000 -a -A -e cpu-clock,faults sleep 0.3
	same -x, -I 100 -a -e cpu-clock,faults sleep 0.35
	same -j -I 100 -a -e cpu-clock,faults sleep 0.35
}

@test "the summary behind intervals" {
	same_order -x' ' -e cpu-clock -I 10000 --interval-count 1 --summary sleep 0.3
	same_order -x' ' -e cpu-clock -I 10000 --interval-count 1 --summary --no-csv-summary sleep 0.3
	same_order -x, -e cpu-clock,faults -I 10000 --summary sleep 0.3
	same_order -j -e cpu-clock,faults -I 10000 --summary sleep 0.3
}

@test "other separators" {
	same_order -x ';' true
	same_order -x '\t' true
	same_order -x ' : ' -e task-clock,faults true
}

@test "cgroups" {
	need_wide
	local top=/sys/fs/cgroup own=tally-test-$$
	[ -d $top/unified ] && top=$top/unified
	mkdir $top/$own 2>/dev/null || skip "no cgroup can be made here"
	cat >in-it <<-END
		echo \$\$ >$top/$own/cgroup.procs
		seq 1000 >/dev/null
	END
	both_formats -a --for-each-cgroup $own -e cpu-clock,faults sh in-it
	both_formats -a -e cpu-clock,faults -G $own,$own sh in-it
	rmdir $top/$own
}

@test "a file for the output, and behind what it holds" {
	for what in perf "$TALLY"; do
		"$what" stat -x, -e faults -o out.txt true
		"$what" stat -x, -e faults --append -o out.txt true
		sed 's/started on .*/started on/' out.txt | masked >"masked.$(basename "$what")"
		rm out.txt
	done
	cmp masked.perf masked.tally
}

# Of the places of what was not supported perf counts but one.
alike() {
	cmp -s <(sed 's/,[0-9]*,<not sup/,N,<not sup/' "$1") <(sed 's/,[0-9]*,<not sup/,N,<not sup/' "$2") ||
		{ diff "$1" "$2"; return 1; }
}

@test "both print the same of recordings of counts, whichever made them" {
	need_wide
	while read -r options; do
		# shellcheck disable=SC2086
		perf stat -x, record $options -o theirs.data sleep 0.05 2>theirs.txt >/dev/null
		"$TALLY" stat report -x, theirs.data 2>reread.txt
		alike theirs.txt reread.txt || { echo "perf's $options"; return 1; }
		# shellcheck disable=SC2086
		"$TALLY" stat record -x, $options -o ours.data sleep 0.05 2>ours.txt >/dev/null
		perf stat -x, report -i ours.data 2>reread.txt
		alike ours.txt reread.txt || { echo "tally's $options"; return 1; }
	done <<-END
		-e task-clock,faults,cycles
		-a -e cpu-clock,faults
		-a -A -e cpu-clock,faults
		-a --per-core -e cpu-clock,faults
		-a --per-socket
		-a --per-node -e cpu-clock
	END
}

@test "streams of counts" {
	perf stat record -e task-clock,faults -o - true >theirs.data
	perf stat -x, report -i - <theirs.data 2>theirs.txt
	"$TALLY" stat report -x, -i - <theirs.data 2>reread.txt
	cmp theirs.txt reread.txt
	"$TALLY" stat record -e task-clock,faults -o - true >ours.data
	perf stat -x, report -i - <ours.data 2>theirs.txt
	"$TALLY" stat report -x, -i - <ours.data 2>reread.txt
	[ "$(wc -l <reread.txt)" = 2 ]
	cmp theirs.txt reread.txt
}

@test "parts of a recording other than when it was made" {
	need_wide
	"$TALLY" stat record -a -e cpu-clock,faults -o wide.data sleep 0.05 2>/dev/null
	for by in -A --per-core --per-die --per-socket --per-node; do
		perf stat -x, report -i wide.data $by 2>theirs.txt
		"$TALLY" stat report -x, $by wide.data 2>ours.txt
		cmp theirs.txt ours.txt || { echo "$by"; diff theirs.txt ours.txt; return 1; }
	done
}

# --- hardware that is not here: a made-up sysfs, in a mount namespace that both look at ---

# Two kinds of core; CPUs 0 and 1 are one core's.
made_up() { # options
	cat >made_up.sh <<-'END'
		set -e
		mkdir -p made/devices/system made/bus
		for pmu in software msr; do
			[ ! -e /sys/bus/event_source/devices/$pmu ] || cp -r /sys/bus/event_source/devices/$pmu/ made/bus/ 2>/dev/null || true
		done
		for pmu in cpu_core:4:0 cpu_atom:10:1; do
			name=${pmu%%:*} rest=${pmu#*:}
			mkdir -p made/bus/$name/events made/bus/$name/format
			echo "${rest%:*}" >made/bus/$name/type
			echo "${rest#*:}" >made/bus/$name/cpus
			echo config:0-7 >made/bus/$name/format/event
			echo event=0x3c >made/bus/$name/events/cpu-cycles
			for event in slots topdown-retiring topdown-bad-spec topdown-fe-bound topdown-be-bound; do
				echo event=0x01 >made/bus/$name/events/$event
			done
		done
		mount --bind made/bus /sys/bus/event_source/devices
		echo 0 >made/number
		for cpu in 0 1; do
			mount --bind made/number /sys/devices/system/cpu/cpu$cpu/topology/core_id
		done
		exec "$@"
	END
	unshare --mount sh made_up.sh "$@"
}

same_made_up() { # options
	made_up perf stat "$@" 2>perf.txt >/dev/null
	made_up "$TALLY" stat "$@" 2>tally.txt >/dev/null
	[ -s perf.txt ]
	masked <perf.txt >perf.masked
	masked <tally.txt >tally.masked
	cmp -s perf.masked tally.masked || { echo "stat $*"; diff perf.masked tally.masked; return 1; }
}

need_made_up() {
	[ "$(id -u)" -eq 0 ] || skip "only root makes up a sysfs"
	[ -e /sys/devices/system/cpu/cpu1/topology/core_id ] || skip "there is but one CPU"
	[ ! -e /sys/bus/event_source/devices/cpu ] || skip "this machine has a PMU of its own"
	made_up true || skip "there are no mount namespaces here"
}

@test "kinds of core are shown apart, chosen, and made one" {
	need_made_up
	same_made_up -x, -e cycles true
	same_made_up -j -e cycles true
	same_made_up -x, -e cpu-cycles:u true
	same_made_up -x, --hybrid-merge -e cycles true
	same_made_up -x, --cputype atom -e cycles,task-clock true
	same_made_up -x, --no-merge --cputype core -e cycles true
}

@test "the slots of the pipeline are those of the large cores, or of the chosen ones" {
	need_made_up
	# perf stops at what is not supported, and names it.
	run -255 made_up perf stat --topdown true
	[[ $output = *"The cpu_core/slots/ event is not supported"* ]]
	made_up "$TALLY" stat -x, --topdown --no-metric-only true 2>core.txt
	[ "$(cut -d, -f3 core.txt | tr '\n' ' ')" = "cpu_core/slots/ cpu_core/topdown-retiring/ cpu_core/topdown-bad-spec/ cpu_core/topdown-fe-bound/ cpu_core/topdown-be-bound/ " ]
	made_up "$TALLY" stat -x, --cputype atom --topdown --no-metric-only true 2>atom.txt
	[ "$(sed s/cpu_atom/cpu_core/ atom.txt)" = "$(cat core.txt)" ]
	# Without counts it says why there is nothing.
	run -0 made_up "$TALLY" stat --topdown true
	[[ $output = *"Not counted: cpu_core/slots/: "* ]]
}

@test "percore: a row a core, or its count for each of its CPUs" {
	need_wide
	need_made_up
	[ -e /sys/bus/event_source/devices/msr/events/tsc ] || skip "there is no msr PMU"
	same_made_up -x, -a -A -e msr/tsc,percore/ sleep 0.01
	grep -q S0-D0-C0 tally.txt
	same_made_up -x, -a -A -C 0,1 -e msr/tsc,percore/,cpu-clock sleep 0.01
	same_made_up -x, -a -A -C 0,1 --percore-show-thread -e msr/tsc,percore/ sleep 0.01
	same_made_up -j -a -A -C 0,1 --percore-show-thread -e msr/tsc,percore/ sleep 0.01
	# Both CPUs' counts are the sum of both.
	[ "$(cut -d'"' -f8 tally.txt | uniq | wc -l)" = 1 ]
	made_up "$TALLY" stat -x, -a -A -C 0,1 -e msr/tsc,percore/,msr/tsc/ sleep 0.1 2>sum.txt
	awk -F, '/percore/ {core = $2} !/percore/ {cpus += $2} END {exit !(core > cpus * 0.9 && core < cpus * 1.1)}' sum.txt
}
