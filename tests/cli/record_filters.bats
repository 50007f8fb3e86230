#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally record --filter: which samples the kernel keeps.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$TALLY" record -q -N -e dummy -o probe.data -- true 2>/dev/null || skip "events cannot be opened here"
	rm -f probe.data
}

need_bpf() {
	"$TALLY" record -q -N -e dummy --filter 'cpu >= 0' -o probe.data -- true 2>/dev/null ||
		skip "BPF programs cannot be loaded here: tests/unit/filter runs them"
	rm -f probe.data
}

# Two programs that use a CPU, as one with the name sh and one with the name awk.
both='awk "BEGIN { for (i = 0; i < 1000000; i++) n += i }"; i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'

record() {
	"$TALLY" record -q -N -e cpu-clock -F 2000 --filter "$1" -o f.data -- sh -c "$both"
	"$TALLY" script -i f.data -F comm,pid,ip,event >f.txt
}

@test "a filter of a software event keeps the samples of one name" {
	need_bpf
	record 'comm == "sh"'
	[ "$(awk '{ print $1 }' f.txt | sort -u)" = sh ]
	record 'comm != sh && comm != tally-exec'
	[ "$(awk '{ print $1 }' f.txt | sort -u)" = awk ]
}

@test "a filter by address, process and period" {
	need_bpf
	record 'ip < 0x8000000000000000'
	[ -s f.txt ]
	run -1 grep -E ' ffff[0-9a-f]{12}' f.txt
	record 'period > 1'
	[ -s f.txt ]
	record 'period > 0xffffffffffff || pid == 1'
	[ ! -s f.txt ]
}

@test "several filters must all hold, and one for each of several events" {
	need_bpf
	"$TALLY" record -q -N -e cpu-clock --filter 'comm == sh || comm == awk' --filter 'comm != sh' \
		-e task-clock --filter 'comm == sh' -F 2000 -o f.data -- sh -c "$both"
	"$TALLY" script -i f.data -F comm,event | awk '{ print $1, $2 }' | sort -u >f.txt
	run -1 grep -E 'sh cpu-clock|awk task-clock' f.txt
	grep -q '^sh task-clock' f.txt
}

@test "perf reads a filtered recording without a warning" {
	need_bpf
	command -v perf >/dev/null || skip "perf is not installed: the files are read by tally above"
	record 'comm == sh'
	run -0 perf script -i f.data -F comm
	[ "$(echo "$output" | sort -u | tr -d ' ')" = sh ]
}

@test "a place in code has the fields of its tracepoint" {
	local place="uprobe:$TALLY:main"
	"$TALLY" record -q -N -e "$place" --filter 'common_pid > 0' -o f.data -- "$TALLY" version 2>/dev/null ||
		skip "places in code cannot be recorded here"
	[ "$("$TALLY" script -i f.data -F comm | grep -c .)" = 1 ]
	"$TALLY" record -q -N -e "$place" --filter 'common_pid == 0' -o f.data -- "$TALLY" version
	[ "$("$TALLY" script -i f.data -F comm | grep -c .)" = 0 ]
}

@test "what a filter cannot test is said with the reason" {
	run -2 "$TALLY" record -e cpu-clock --filter 'weight > 3' -o x.data -- true
	[[ "$output" == *"weight cannot be tested while recording"* ]]
	run -2 "$TALLY" record -e cpu-clock --filter 'perod > 3' -o x.data -- true
	[[ "$output" == *"did you mean period?"* ]]
	run -2 "$TALLY" record -e cpu-clock --filter 'filter main @ /bin/sh' -o x.data -- true
	[[ "$output" == *"hardware that writes traces"* ]]
	run -2 "$TALLY" record --filter 'cpu == 1' -e cpu-clock -o x.data -- true
	[[ "$output" == *"follows the event"* ]]
	[ ! -e x.data ]
}

@test "without the rights the message names them" {
	[ "$(id -u)" = 0 ] || skip "needs root, to become another user"
	command -v setpriv >/dev/null || skip "setpriv is not installed: the message without rights is not checked; filters themselves are, above"
	chmod 777 .
	run setpriv --reuid 65534 --clear-groups --bounding-set -all --inh-caps -all \
		"$TALLY" record -q -N -e cpu-clock:u --filter 'cpu == 1' -o "$BATS_TEST_TMPDIR/u.data" -- true
	[ "$status" -ne 0 ]
	[[ "$output" == *"CAP_BPF and CAP_PERFMON"* ]] || [[ "$output" == *"perf_event_paranoid"* ]]
}
