#!/usr/bin/env bats
# shellcheck disable=SC2016 # small programs for sh stand in single quotes
bats_require_minimum_version 1.5.0
# tally stat: what it counts, how it prints it, how it ends.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export LC_ALL=C
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	[[ $BATS_TEST_DESCRIPTION = *mistakes* ]] || "$TALLY" stat -e task-clock true 2>/dev/null ||
		skip "events cannot be counted here"
}

need_wide() {
	"$TALLY" stat -x, -a -e cpu-clock true 2>&1 | grep -q '^[0-9]' || skip "the whole system cannot be counted here"
}

# The field of an event's line in CSV.
field() { # event, number; CSV on stdin
	awk -F, -v event="$1" -v field="$2" '{for (i = 1; i <= NF; i++) if ($i == event) {print $field; exit}}'
}

# The interpreter itself: what stands before it in PATH may be a program that asks for much.
find_python() {
	PYTHON=$(python3 -c 'import sys; print(sys.executable)')
}

json() { # a python expression over the object `it`; JSON on stdin
	python3 -c "import json, sys; it = json.loads(sys.stdin.readline()); print(($1))"
}

@test "a table for people: a title, a line an event, the time" {
	need_kernel
	run "$TALLY" stat -e task-clock,page-faults true
	[ "$status" = 0 ]
	[[ $output = *"Performance counter stats for 'true':"* ]]
	[[ $output =~ [0-9.]+\ msec\ +task-clock\ +#\ +[0-9.]+\ CPUs\ utilized ]]
	[[ $output =~ [0-9]+\ +page-faults\ +#\ +[0-9.]+\ [KM]?/sec ]]
	[[ $output =~ [0-9]\.[0-9]{9}\ seconds\ time\ elapsed ]]
	[[ $output =~ [0-9]\.[0-9]{9}\ seconds\ user ]]
	[[ $output != *$'\e'* ]]
}

@test "the command's own output and status pass" {
	run --separate-stderr "$TALLY" stat -e task-clock sh -c 'echo out; exit 37'
	[ "$status" = 37 ]
	[ "$output" = out ]
	run "$TALLY" stat -e task-clock sh -c 'kill -KILL $$'
	[ "$status" = 137 ]
	[[ $output = *"ended by a signal: Killed"* ]]
	run -127 "$TALLY" stat no-such-program-anywhere
	[[ $output = *no-such-program-anywhere* ]]
	echo text >plain
	run -126 "$TALLY" stat ./plain
}

@test "what is counted is exact" {
	[ -r /sys/kernel/tracing/events/syscalls/sys_enter_getppid/id ] || skip "tracefs is not readable"
	find_python
	got=$("$TALLY" stat -x, -e syscalls:sys_enter_getppid "$PYTHON" -c 'import os
for _ in range(1000): os.getppid()' 2>&1 | field syscalls:sys_enter_getppid 1)
	[ "$got" = 1000 ]
}

@test "a filter of a tracepoint" {
	[ -r /sys/kernel/tracing/events/raw_syscalls/sys_enter/id ] || skip "tracefs is not readable"
	"$TALLY" stat -x, -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit --filter 'id == 999' true 2>out
	[ "$(field raw_syscalls:sys_exit 1 <out)" = 0 ]
	[ "$(field raw_syscalls:sys_enter 1 <out)" -gt 10 ]
}

@test "children count, but not with -i" {
	[ -r /sys/kernel/tracing/events/syscalls/sys_enter_getppid/id ] || skip "tracefs is not readable"
	find_python
	cat >work.py <<-END
		import os
		if os.fork() == 0:
		    for _ in range(100): os.getppid()
		    os._exit(0)
		os.wait()
	END
	got=$("$TALLY" stat -x, -e syscalls:sys_enter_getppid "$PYTHON" work.py 2>&1 | field syscalls:sys_enter_getppid 1)
	[ "$got" = 100 ]
	got=$("$TALLY" stat -x, -i -e syscalls:sys_enter_getppid "$PYTHON" work.py 2>&1 | field syscalls:sys_enter_getppid 1)
	[ "$got" = 0 ]
}

@test "hardware events that are not there are reported in one line" {
	need_kernel
	run -0 "$TALLY" stat -d true
	[[ $output = *"<not supported>       cycles"* ]] || skip "there are hardware counters here"
	[ "$(grep -c 'Not counted:' <<<"$output")" = 1 ]
	[[ $output = *"Not counted: cycles, instructions, branches"*"LLC-load-misses: no hardware counters"* ]]
}

@test "runs are means with their spread, and the time of each" {
	run -0 "$TALLY" stat -r 3 -e page-faults true
	[[ $output = *"for 'true' (3 runs):"* ]]
	[[ $output =~ "+-"\ [0-9.]+\ seconds\ time\ elapsed ]]
	run -0 "$TALLY" stat -r 3 --table -e page-faults true
	[ "$(grep -c '^ *[0-9.]* ([+-][0-9.]*) #' <<<"$output")" = 3 ]
	"$TALLY" stat -r 4 --json -e page-faults sh -c 'echo x >>runs' 2>out
	[ "$(wc -l <runs)" = 4 ]
	[ "$(json "it['runs'], 'standard_error' in it['events'][0]['counts'][0]" <out)" = "(4, True)" ]
}

@test "our JSON has the quality of each value" {
	need_kernel
	"$TALLY" stat --json -e task-clock,duration_time -e '{page-faults,context-switches}' true 2>out
	[ "$(json "it['version'], it['aggregation'], it['target']" <out)" = "(2, 'global', \"'true'\")" ]
	[ "$(json "[e['event'] for e in it['events']]" <out)" = "['task-clock', 'duration_time', 'page-faults', 'context-switches']" ]
	[ "$(json "{c['quality'] for e in it['events'] for c in e['counts']}" <out)" = "{'counted'}" ]
	[ "$(json "it['events'][0]['counts'][0]['value'] > 0 and it['elapsed']['ns'] > 0" <out)" = True ]
}

@test "metrics of the CPU's tables, beside their events and alone" {
	need_kernel
	mkdir -p tables/x86/toy
	printf 'Family-model,Version,Filename,EventType\nGenuineIntel-6-1,v1,toy,core\n' >tables/x86/mapfile.csv
	cat >tables/x86/toy/metrics.json <<-END
		[{"MetricName": "twice", "MetricExpr": "faults * 2", "MetricGroup": "Toy"},
		 {"MetricName": "share", "MetricExpr": "faults / (faults + faults)", "MetricGroup": "Toy", "ScaleUnit": "100%"}]
	END
	export TALLY_EVENTS=$PWD/tables PERF_CPUID=GenuineIntel-6-1-1
	"$TALLY" stat --json -M Toy true 2>out
	[ "$(json "[e['event'] for e in it['events']]" <out)" = "['faults']" ]
	[ "$(json "[d['value'] / c['value'] for e in it['events'] for c in e['counts'] for d in c['derived'] if d['name'] == 'twice']" <out)" = "[2.0]" ]
	[ "$(json "[(d['value'], d['unit']) for d in it['events'][0]['counts'][0]['derived'] if d['name'] == 'share']" <out)" = "[(50, '%')]" ]
	run -0 "$TALLY" stat --metric-only -x, -M twice true
	[[ $output =~ ^twice,$'\n'[0-9]+.00,$ ]]
	run -0 "$TALLY" stat --metric-only -j -e faults true
	[ "$output" = '{}' ]
	run "$TALLY" stat -M twoce true
	[ "$status" = 1 ]
	[[ $output = *twice* ]]
}

@test "intervals add up to the summary" {
	"$TALLY" stat -x, -I 50 --summary -e page-faults sh -c 'for i in 1 2 3 4; do sleep 0.05; ls / >/dev/null; done' 2>out
	[ "$(grep -c page-faults out)" -gt 3 ]
	[ "$(awk -F, '/summary/ {print $2}' out)" = "$(awk -F, '!/summary/ && $2 ~ /^[0-9]/ {sum += $2} END {print sum}' out)" ]
}

@test "so many intervals" {
	need_wide
	"$TALLY" stat -x, -a -I 20 --interval-count 3 -e cpu-clock 2>out
	[ "$(wc -l <out)" = 3 ]
}

@test "parts of the machine add up to all of it" {
	need_wide
	"$TALLY" stat --json -a -A -e duration_time,cpu-clock sleep 0.05 2>cpus
	count=$(getconf _NPROCESSORS_ONLN)
	[ "$(json "len(it['events'][1]['counts']), len(it['events'][0]['counts'])" <cpus)" = "($count, 1)" ]
	for by in core die socket node cluster cache; do
		"$TALLY" stat --json -a --per-$by -e cpu-clock sleep 0.05 2>part
		[ "$(json "it['aggregation'], sum(c['places'] for c in it['events'][0]['counts'])" <part)" = "('$by', $count)" ]
	done
}

@test "a process that runs" {
	sleep 100 &
	run "$TALLY" stat -p $! -e context-switches sleep 0.05
	kill $!
	[ "$status" = 0 ]
	[[ $output = *"for process id '$!':"* ]]
	[[ $output =~ [0-9]\ +context-switches ]]
	run "$TALLY" stat -p 4194303 true
	[ "$status" != 0 ]
	[[ $output = *4194303* ]]
}

@test "ends with what it watches" {
	sleep 3 & # longer than a sanitized command needs to start beside others
	run timeout 20 "$TALLY" stat -p $! -e context-switches
	[ "$status" = 0 ]
}

@test "Ctrl-C prints what was counted" {
	need_wide
	for command in "" "sleep 100"; do
		rm -f out
		# shellcheck disable=SC2086 # nothing, or words
		timeout -s KILL 30 "$TALLY" stat -a -e cpu-clock -I 100 --summary $command 2>out &
		until grep -qs cpu-clock out; do sleep 0.05; done
		pkill -INT -P $!
		wait $! || true
		grep -q 'seconds time elapsed' out
	done
}

@test "a time limit ends the command, with success" {
	run timeout 20 "$TALLY" stat --timeout 50 -e task-clock sleep 100
	[ "$status" = 0 ]
	[[ $output = *"seconds time elapsed"* ]]
}

@test "a delay leaves the beginning out" {
	"$TALLY" stat --json -D 200 -e page-faults sh -c 'ls / >/dev/null; sleep 0.4' 2>out
	[ "$(json "it['events'][0]['counts'][0]['value'] < 60" <out)" = True ]
}

@test "another program says when to count" {
	mkfifo orders answers
	exec 8<>orders 9<>answers
	timeout 30 "$TALLY" stat -x, -D -1 --control fifo:orders,answers -e page-faults sh -c 'ls / >/dev/null; exec sleep 100' 2>out &
	echo ping >&8
	read -r -t 20 -u 9 answer
	[ "$answer" = ack ]
	echo enable >&8
	read -r -t 20 -u 9 answer
	echo stop >&8
	wait $! || true
	grep -q '^[0-9<].*page-faults' out
	run "$TALLY" stat --control pipe:3 true
	[ "$status" = 2 ]
	[[ $output = *"unknown channel 'pipe'; valid are fd, fifo"* ]]
}

@test "another program says when to count, by descriptors" {
	mkfifo orders answers
	exec 8<>orders 9<>answers
	ask() {
		echo "$1" >&8
		read -r -t 20 -u 9 answer
		echo "$1: $answer" >>log
	}
	timeout 30 "$TALLY" stat -x, -D -1 --control fd:8,9 -e page-faults -e dummy sh -c 'sleep 0.1; exec sleep 100' 2>out &
	for order in ping enable disable evlist enable ping; do ask "$order"; done
	echo stop >&8
	wait $! || true
	[ "$(grep -c ': ack$' log)" = 6 ]
	[ "$(grep -cx -e page-faults -e dummy out)" = 2 ]
	grep -q '^[0-9<].*page-faults' out
}

@test "16: another program says which event counts" {
	need_kernel
	mkfifo orders answers
	exec 8<>orders 9<>answers
	ask() {
		echo "$1" >&8
		read -r -t 20 -u 9 answer
		[ "$answer" = ack ]
	}
	# Each turn has a process of its own, and so page faults: turns are waited for, not time.
	: >turns
	timeout 60 "$TALLY" stat -x, -D -1 --control fd:8,9 -e task-clock,cpu-clock,page-faults \
		sh -c 'while echo; do (:); done >turns' 2>out &
	ask 'enable page-faults'
	ask 'enable duration_time'
	enough=$(($(wc -l <turns) + 21))
	while [ "$(wc -l <turns)" -lt "$enough" ]; do kill -0 $! && sleep 0.02; done
	ask 'disable page-faults'
	echo stop >&8
	wait $! || true
	grep -q "unknown event 'duration_time'; valid are task-clock, cpu-clock, page-faults" out
	awk -F, '$3 == "page-faults" { on = $1 >= 20 } $3 == "task-clock" { off = $1 == "<not counted>" } END { exit !(on && off) }' out
}

@test "shell lines before and after each run" {
	"$TALLY" stat -r 2 --pre 'echo before >>log' --post 'echo after >>log' -e task-clock sh -c 'echo run >>log' 2>/dev/null
	[ "$(tr '\n' ' ' <log)" = "before run after before run after " ]
	run "$TALLY" stat --pre false -e task-clock sh -c 'echo run >>log2'
	[ "$status" = 1 ]
	[ ! -e log2 ]
}

@test "commands compared: a plain difference is reported, an uncertain one is not" {
	run "$TALLY" stat --compare -r 6 -e task-clock,page-faults 'true' 'sh -c "for i in 1 2 3 4 5 6 7 8 9; do ls / >/dev/null; done"' true
	[ "$status" = 0 ]
	[[ $output = *"6 runs each, in turn"* && $output = *"A  true"* ]]
	[[ $output = *"B is slower than A: it takes"*"more time"* || $output = *"but it takes"*"more CPU time"* ]]
	[[ $output != *$'\r'* ]]
	"$TALLY" stat --compare --json -r 4 -e task-clock 'echo >>first a' 'echo >>second b' 2>out
	[ "$(wc -l <first) $(wc -l <second)" = "5 5" ] # with the warm-up
	[ "$(json "[c['command'] for c in it['commands']], [c['runs'] for c in it['commands']]" <out)" = "(['echo >>first a', 'echo >>second b'], [4, 4])" ]
	[ "$(json "sorted(set(it['commands'][1]['quantities'][0]) - {'more_runs'})" <out)" = "['difference', 'interval_high', 'interval_low', 'mean', 'name', 'quality', 'runs', 'significant', 'standard_error', 'unit']" ]
	"$TALLY" stat --compare --until 1000 -e task-clock --json true true 2>out
	[ "$(json "it['commands'][0]['runs']" <out)" = 5 ]
}

@test "a command that fails is not compared" {
	run "$TALLY" stat --compare -e task-clock true 'sh -c "exit 3"'
	[ "$status" = 3 ]
	[[ $output = *"B (sh -c \"exit 3\") failed with status 3"* ]]
}

@test "recordings of intervals, and what cannot be recorded or reported" {
	"$TALLY" stat record -x, -I 50 -e faults -o i.data sleep 0.12 2>now
	"$TALLY" stat report -x, i.data 2>then
	cmp now then
	run "$TALLY" stat record -r 2 true
	[ "$status" = 2 ]
	run "$TALLY" stat record -a --per-cache true
	[ "$status" = 2 ]
	"$TALLY" stat record -e faults -o task.data true 2>/dev/null
	run "$TALLY" stat report --per-core task.data
	[ "$status" = 2 ]
	[[ $output = *"counts of tasks"* ]]
	"$TALLY" record -q -e cpu-clock -o samples.data true
	run "$TALLY" stat report samples.data
	[ "$status" = 1 ]
	[[ $output = *"has no counts"* ]]
	run "$TALLY" stat report /no/such/file
	[ "$status" = 1 ]
}

@test "files, descriptors, nothing at all" {
	run -0 "$TALLY" stat -o out.txt -e task-clock true
	[ -z "$output" ]
	grep -q '^# started on' out.txt
	"$TALLY" stat -o out.txt --append -e task-clock true
	[ "$(grep -c 'seconds time elapsed' out.txt)" = 2 ]
	"$TALLY" stat --log-fd 5 -e task-clock true 5>fd.txt
	grep -q task-clock fd.txt
	run -0 "$TALLY" stat --quiet true
	[ -z "$output" ]
	run -125 "$TALLY" stat record -o /no/such/folder/file touch ran
	run -125 "$TALLY" stat -o /no/such/folder/file touch ran
	[ ! -e ran ]
	run -0 "$TALLY" stat --null true
	[[ $output = *"seconds time elapsed"* && $output != *task-clock* ]]
}

@test "numbers with and without commas" {
	run -0 "$TALLY" stat -e duration_time sleep 0.01
	[[ $output =~ [0-9],[0-9]{3},[0-9]{3}\ ns ]]
	run -0 "$TALLY" stat --no-big-num -e duration_time sleep 0.01
	[[ $output =~ [0-9]{8}\ ns ]]
}

@test "mistakes are said in a line" {
	while read -r words; do
		# shellcheck disable=SC2086
		run "$TALLY" stat $words true
		[ "$status" = 2 ] || { echo "$words: $status $output"; return 1; }
		[ "$(wc -l <<<"$output")" = 1 ] || { echo "$words: $output"; return 1; }
	done <<-END
		-e no-such-event
		-p zero
		-C none
		-x, -j
		-j --json
		-A
		--per-core
		--per-thread
		-G /
		--for-each-cgroup /
		--interval-count 3
		-I 100 --timeout 100
		--timeout 1
		--table
		-r many
		-D soon
		--filter 1
		--all-user --all-kernel
		-o x --log-fd 2
		--metric-only --per-thread -a
		--interval-clear
		--compare
		--compare -r 1 true
		--compare -a true
		--compare -x, true
		--compare -I 10 true
		--until 3
		-a -p 1
		--percore-show-thread -a -A
		-a -e msr/tsc,percore/
		--cputype nonsense
		--cputype ../x
		-e task-clock --cputype core
		--iostat
		--iostat=list
		--bpf-counters
		-b 1
		--pfm-events cycles
	END
}

# Made up in a mount namespace: counters that can stand still in the firmware's interrupts.
with_smi() { # options
	# shellcheck disable=SC2016
	unshare --mount sh -c '
		mkdir -p devices/system devices/cpu msr
		cp -r /sys/bus/event_source/devices/msr/. msr/ 2>/dev/null
		echo event=0x00 >msr/events/aperf
		echo event=0x04 >msr/events/smi
		echo "$FREEZE" >devices/cpu/freeze_on_smi
		mkdir -p bus/software && cp -r /sys/bus/event_source/devices/software/. bus/software/ 2>/dev/null
		mv msr bus/
		mount --rbind /sys/devices/system devices/system && mount --rbind devices /sys/devices &&
			mount --bind bus /sys/bus/event_source/devices || exit 99
		"$@"
		cat /sys/devices/cpu/freeze_on_smi' sh "$@"
}

@test "--smi-cost: the counters stand still in SMIs as long as it counts" {
	need_wide
	[ "$(id -u)" -eq 0 ] && [ -e /sys/bus/event_source/devices/msr/type ] || skip "only root makes up a sysfs with msr"
	if [ ! -e /sys/devices/cpu/freeze_on_smi ]; then
		run -1 "$TALLY" stat --smi-cost -a true
		[[ $output = *"no /sys/devices/cpu/freeze_on_smi"* ]]
	fi
	export FREEZE=0
	run --separate-stderr with_smi "$TALLY" stat --smi-cost --no-metric-only -x, -a cat /sys/devices/cpu/freeze_on_smi
	[ "$status" != 99 ] || skip "there are no mount namespaces here"
	[ "$output" = 10 ] # during, and after
	[[ $stderr = *,msr/aperf/,*,msr/smi/,*,cycles,* ]]
	# A command that ends badly, and none at all.
	run -0 --separate-stderr with_smi "$TALLY" stat --smi-cost -a sh -c 'cat /sys/devices/cpu/freeze_on_smi; kill -KILL $$'
	[ "$output" = 10 ]
	run -0 --separate-stderr with_smi "$TALLY" stat --smi-cost -a no-such-program
	[ "$output" = 0 ]
	# What was set before stays.
	export FREEZE=1
	run -0 --separate-stderr with_smi "$TALLY" stat --smi-cost -a true
	[ "$output" = 1 ]
}
