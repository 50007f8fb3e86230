#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# perf record's options: what each asks the kernel for, and what perf shows of it.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$TALLY" record -q -e cpu-clock -B -o probe.data -- true 2>/dev/null || skip "events cannot be opened here"
}

need_perf() {
	case $(perf --version 2>/dev/null) in
	"perf version 6.1"*) ;;
	*) skip "perf 6.1 is not installed: what it asks the kernel for is not compared; tests/unit/collect has the attrs" ;;
	esac
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "only root may ask for all that is compared"
}

@test "each option changes the kernel's attr as it does in perf, and perf reads the file" {
	need_perf
	need_root
	logger=$(dirname "$TALLY")/tests/liblog_opens.so
	[ -e "$logger" ] || skip "the logger was not built: clang's sanitizers cannot be loaded before it"
	run -0 "$BATS_TEST_DIRNAME/record_attrs.py" "$TALLY" "$logger"
	[[ "$output" =~ ([0-9]+)" options compared, 0 differ" ]]
	[ "${BASH_REMATCH[1]}" -ge 85 ]
}

# Times of all records of type $1 (perf's name), in ns.
times() {
	perf report -D -i clock.data 2>/dev/null | awk -v type="$1" '$0 ~ type {print $2 + 0 ? $2 : $1}' | grep -oE '^[0-9]{6,}'
}

@test "-k: samples and side-band have the clock that was asked for" {
	need_perf
	need_root
	for clock in monotonic monotonic_raw realtime boottime tai; do
		name=CLOCK_${clock^^}
		before=$(python3 -c "import time; print(time.clock_gettime_ns(time.$name))")
		"$TALLY" record -q -e cpu-clock -B -k $clock -o clock.data -- sh -c 'i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done'
		after=$(python3 -c "import time; print(time.clock_gettime_ns(time.$name))")
		for type in PERF_RECORD_SAMPLE PERF_RECORD_MMAP2 PERF_RECORD_COMM; do
			seen=0
			for at in $(times $type); do
				seen=$((seen + 1))
				[ "$at" -ge "$before" ] && [ "$at" -le "$after" ] || {
					echo "$clock: $type at $at is not within $before to $after"
					return 1
				}
			done
			[ "$seen" -gt 0 ] || { echo "$clock: no $type with a time"; return 1; }
		done
	done
}

@test "a filter of a tracepoint is the kernel's: it keeps what perf's keeps" {
	need_perf
	need_root
	[ -r /sys/kernel/tracing/events/header_page ] || skip "tracefs is not readable"
	"$TALLY" record -q -B -e raw_syscalls:sys_enter --filter 'id == 1' --filter 'common_pid > 0' -o f.data -- \
		dd if=/dev/zero of=/dev/null bs=1 count=300 2>/dev/null || skip "tracepoints cannot be opened here"
	[ "$(perf script -i f.data 2>/dev/null | grep -c 'NR 1 ')" -ge 300 ]
	[ "$(perf script -i f.data 2>/dev/null | grep -vc 'NR 1 ')" = 0 ]
	# the recorder itself is left out
	"$TALLY" record -q -B -a -e raw_syscalls:sys_enter --exclude-perf -o e.data -- true &
	wait $!
	[ "$(perf script -F tid -i e.data 2>/dev/null | grep -cx " *$! *")" = 0 ]
}

@test "a mistake in a filter names the nearest field" {
	need_root
	[ -r /sys/kernel/tracing/events/header_page ] || skip "tracefs is not readable"
	run "$TALLY" record -e sched:sched_switch --filter 'prev_pidd == 1' -o x.data -- true
	[ "$status" != 0 ]
	[[ "$output" == *"no field 'prev_pidd'"*"did you mean prev_pid?"* ]]
	[ ! -e x.data ]
}

@test "registers that only some PMUs have are named, and refused with the reason" {
	[ "$(uname -m)" = x86_64 ] || skip "XMM registers are those of x86: others are above"
	"$TALLY" record '-I?' | grep -q 'XMM0 .*XMM15'
	run "$TALLY" record -N -e cpu-clock -Ixmm3,ax -o x.data -- true
	[ "$status" != 0 ]
	[[ "$output" == *"cannot sample registers XMM0 to XMM15"* ]]
}

@test "words that are not known are answered by the nearest" {
	run -2 "$TALLY" record -j any_cal -o x.data -- true
	[[ "$output" == *"did you mean any_call?"* ]]
	run -2 "$TALLY" record -k monotonik -o x.data -- true
	[[ "$output" == *"did you mean monotonic?"* ]]
	run -2 "$TALLY" record --synth=tsk -o x.data -- true
	[[ "$output" == *"did you mean task?"* ]]
	if [ "$(uname -m)" = x86_64 ]; then
		run -2 "$TALLY" record -Ir88 -o x.data -- true
		[[ "$output" == *"unknown register 'r88'"* ]]
		run -0 "$TALLY" record '-I?'
		[[ "$output" == "AX BX CX DX SI DI BP SP IP FLAGS "* ]]
	fi
	[ ! -e x.data ]
}

@test "--per-thread: each thread has a ring, and perf counts the same samples" {
	need_perf
	run -0 "$TALLY" record -v --per-thread -e cpu-clock -B -o t.data -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'
	[[ "$output" == *"rings of each thread"* ]]
	said=$(echo "$output" | sed -n 's/.*tally: \([0-9,]*\) samples.*/\1/p' | tr -d ,)
	[ "$said" -gt 5 ]
	[ "$(perf script -F tid -i t.data | wc -l)" = "$said" ]
}

@test "-G and --for-each-cgroup record each event in its cgroup" {
	need_perf
	need_root
	mount=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ {print $2; found = 1; exit} $3 == "cgroup2" && !found {two = $2} END {if (!found) print two}' /proc/self/mounts)
	[ -n "$mount" ] && mkdir "$mount/tally-test-$$" 2>/dev/null || skip "no cgroup can be made here"
	sh -c "echo \$\$ >'$mount/tally-test-$$/cgroup.procs' && exec timeout 20 sh -c 'while :; do :; done'" &
	busy=$!
	for _ in $(seq 100); do
		grep -q . "$mount/tally-test-$$/cgroup.procs" && break
		sleep 0.05
	done
	"$TALLY" record -q -a -B -e cpu-clock -e task-clock -G "tally-test-$$" -o g.data -- sleep 0.3 || true
	"$TALLY" record -q -a -B -e cpu-clock --for-each-cgroup "tally-test-$$,/" -o h.data -- sleep 0.3 || true
	kill $busy
	wait $busy || true
	rmdir "$mount/tally-test-$$" || sleep 0.2 && rmdir "$mount/tally-test-$$" 2>/dev/null || true
	# the program that starts it is there, too, where the machine is slow
	[ "$(perf script -F comm -i g.data 2>/dev/null | sort -u | tr -d ' ' | grep -vx timeout)" = sh ]
	[ "$(perf evlist -i h.data | grep -c cpu-clock)" = 2 ]
}

@test "--synth and --tail-synthesize: which records describe what runs, and when" {
	need_perf
	sleep 30 &
	pid=$!
	until [ "$(cut -d ' ' -f 2,3 "/proc/$pid/stat")" = "(sleep) S" ]; do sleep 0.1; done # its own maps are made
	"$TALLY" record -q -B -p $pid -e cpu-clock --synth=no -o no.data -- sleep 0.1
	"$TALLY" record -q -B -p $pid -e cpu-clock --synth=task -o task.data -- sleep 0.1
	"$TALLY" record -q -B -p $pid -e cpu-clock --tail-synthesize -o tail.data -- sleep 0.1
	kill $pid
	[ "$(perf script --show-task-events --show-mmap-events -i no.data 2>/dev/null | grep -c "PERF_RECORD_.*$pid")" = 0 ]
	[ "$(perf report -D -i task.data 2>/dev/null | grep -c "PERF_RECORD_COMM.*:$pid")" -ge 1 ]
	[ "$(perf report -D -i task.data 2>/dev/null | grep -c "PERF_RECORD_MMAP2 $pid/")" = 0 ]
	[ "$(perf report -D -i tail.data 2>/dev/null | grep -c "PERF_RECORD_MMAP2 $pid/")" -ge 1 ]
}

@test "the page about perf's options says what the command has" {
	run -0 "$BATS_TEST_DIRNAME/../../tools/record-options" "$(dirname "$TALLY")" --check
}
