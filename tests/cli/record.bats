#!/usr/bin/env bats
# shellcheck disable=SC2016 # small programs for sh stand in single quotes
bats_require_minimum_version 1.5.0
# tally record: options, what it says, how it ends, and what its files hold.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

need_recording() {
	"$TALLY" record -q -e cpu-clock -o probe.data -- true 2>/dev/null ||
		skip "events cannot be opened here"
}

need_perf() {
	command -v perf >/dev/null ||
		skip "perf is not installed: recordings are not read by it; tests/cli/streams.bats and tests/unit/record read them with tally"
}

need_tracepoints() {
	[ -r /sys/kernel/tracing/events/header_page ] || skip "tracefs is not readable"
}

@test "nothing to record is a usage error" {
	run "$TALLY" record
	[ "$status" = 2 ]
	[[ "$output" == *"nothing to record"* ]]
}

@test "mistakes in options are said in a line and leave no file" {
	for mistake in "-F fast" "-m 7X" "-p zero" "-C none" "-u nobody-of-that-name" \
		"--call-graph dwarf,x" "--call-graph odd" "-D soon" "-e no-such-event"; do
		# shellcheck disable=SC2086
		run "$TALLY" record $mistake -o out.data -- true
		[ "$status" != 0 ] || { echo "accepted: $mistake"; return 1; }
		[ -n "$output" ]
		[ ! -e out.data ]
	done
}

@test "a period and a frequency exclude each other" {
	run "$TALLY" record -F 1000 -c 1000 -o out.data -- true
	[ "$status" = 2 ]
	[ ! -e out.data ]
}

@test "exit statuses: the command's, 126, 127" {
	need_recording
	run "$TALLY" record -q -e cpu-clock -o e.data -- sh -c 'exit 37'
	[ "$status" = 37 ]
	run "$TALLY" record -q -e cpu-clock -o e.data -- sh -c 'kill -KILL $$'
	[ "$status" = 137 ]
	run -127 "$TALLY" record -e cpu-clock -o e.data -- no-such-program-anywhere
	[ "$status" = 127 ]
	[[ "$output" == *"no-such-program-anywhere"* ]]
	echo text >plain
	run "$TALLY" record -e cpu-clock -o e.data -- ./plain
	[ "$status" = 126 ]
}

@test "a program that is not found leaves the old recording alone" {
	need_recording
	"$TALLY" record -q -e cpu-clock -o keep.data -- true
	before=$(cksum <keep.data)
	run -127 "$TALLY" record -q -e cpu-clock -o keep.data -- no-such-program-anywhere
	[ "$(cksum <keep.data)" = "$before" ]
	[ ! -e keep.data.old ]
}

@test "the closing line, and silence with -q" {
	need_recording
	run -0 "$TALLY" record -e cpu-clock -o a.data -- sh -c ':'
	[[ "$output" =~ [0-9]+\ samples?\ in\ a.data\ \([0-9.]+\ kB\),\ none\ lost ]]
	run -0 "$TALLY" record -q -e cpu-clock -o a.data -- sh -c ':'
	[ -z "$output" ]
}

@test "the samples counted are the samples in the file" {
	need_recording
	need_perf
	run -0 "$TALLY" record -e cpu-clock -F 5000 -o n.data -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
	said=$(echo "$output" | sed -n 's/.*tally: \([0-9,]*\) samples.*/\1/p' | tr -d ,)
	[ "$said" = "$(perf script -i n.data 2>/dev/null | wc -l)" ]
	[ "$said" -gt 10 ]
}

@test "a command's maps and names are those of the command" {
	need_recording
	need_perf
	"$TALLY" record -q -e cpu-clock -F 10000 -o m.data -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'
	run -0 perf script -F comm -i m.data
	[ "$(echo "$output" | grep -cvE '^ *(sh|tally-exec)? *$')" = 0 ]
	run -0 perf buildid-list -i m.data
	[[ "$output" == *"[kernel.kallsyms]"* ]]
	[[ "$output" == *"libc.so"* ]]
}

@test "every system call of a program, by tracepoint" {
	need_recording
	need_perf
	need_tracepoints
	"$TALLY" record -q -e raw_syscalls:sys_enter -o t.data -- dd if=/dev/zero of=/dev/null bs=1 count=5000 2>/dev/null ||
		skip "tracepoints cannot be opened here"
	# dd reads and writes 5,000 times each: numbers of x86-64 and the generic table.
	case $(uname -m) in
	x86_64) read=0 write=1 ;;
	*) read=63 write=64 ;;
	esac
	perf script -i t.data 2>err >t.txt
	[ ! -s err ]
	[ "$(grep -c "sys_enter: NR $read " t.txt)" -ge 5000 ]
	[ "$(grep -c "sys_enter: NR $write " t.txt)" -ge 5000 ]
	[ "$(grep -c "sys_enter: NR $write (1, " t.txt)" = 5000 ]
}

@test "-c takes a sample every N events" {
	need_recording
	need_perf
	need_tracepoints
	run "$TALLY" record -e raw_syscalls:sys_enter -c 10 -o c.data -- dd if=/dev/zero of=/dev/null bs=1 count=5000
	[ "$status" = 0 ] || skip "tracepoints cannot be opened here"
	said=$(echo "$output" | sed -n 's/.*tally: \([0-9,]*\) samples.*/\1/p' | tr -d ,)
	[ "$said" -ge 1000 ]
	[ "$said" -le 1100 ]
	[ "$(perf script -i c.data 2>/dev/null | wc -l)" = "$said" ]
}

@test "children are recorded, unless --no-inherit" {
	need_recording
	need_perf
	busy='i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
	"$TALLY" record -q -e cpu-clock -o i.data -- sh -c "sh -c '$busy'; :"
	"$TALLY" record -q -i -e cpu-clock -o j.data -- sh -c "sh -c '$busy'; :"
	with=$(perf script -F pid -i i.data 2>/dev/null | sort -u | wc -l)
	without=$(perf script -F pid -i j.data 2>/dev/null | sort -u | wc -l)
	[ "$with" = 2 ]
	[ "$without" -le 1 ]
}

@test "a frequency above the limit is lowered with a line" {
	need_recording
	limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	run "$TALLY" record -e cpu-clock -F $((limit + 1000)) -o l.data -- true
	[ "$status" = 0 ]
	[[ "$output" == *"$limit Hz"* ]]
}

@test "-m sets the rings, rounded up to a power of two" {
	need_recording
	for size in 5 64K 1M; do
		"$TALLY" record -q -e cpu-clock -m "$size" -o r.data -- true
	done
}

@test "-D waits, -D -1 never samples" {
	need_recording
	need_perf
	run "$TALLY" record -e cpu-clock -F 1000 -D 300 -o d.data -- sh -c 'timeout 0.6 sh -c "while :; do :; done"; :'
	[ "$status" = 0 ]
	first=$(perf script -F time -i d.data 2>/dev/null | head -1 | tr -d ' :')
	exec=$(perf script --show-task-events -F time,event,comm -i d.data 2>/dev/null | grep 'COMM exec' | head -1 | sed 's/.* \([0-9.]*\):.*/\1/')
	awk -v first="$first" -v exec="$exec" 'BEGIN {exit !(first - exec >= 0.29)}'
	run -0 "$TALLY" record -e cpu-clock -D -1 -o d.data -- sh -c ':'
	[[ "$output" == *"0 samples"* ]]
}

@test "-p of a process that is not there, -t of one thread" {
	need_recording
	need_perf
	run "$TALLY" record -e cpu-clock -p 999999999 -o x.data
	[ "$status" = 1 ]
	[[ "$output" == *999999999* ]]
	sh -c 'while :; do :; done' 3>&- &
	target=$!
	"$TALLY" record -q -e cpu-clock -t "$target" -o x.data 3>&- &
	recorder=$!
	sleep 0.7
	kill -INT "$recorder"
	wait "$recorder" || [ $? = 130 ]
	kill "$target"
	[ "$(perf script -F tid -i x.data 2>/dev/null | sort -u | tr -d ' ')" = "$target" ]
	perf script -F comm,ip,sym,dso -i x.data 2>/dev/null | grep -q '/.*sh'
}

@test "the end of a watched process ends the recording" {
	need_recording
	sleep 0.7 3>&- &
	run timeout 20 "$TALLY" record -e cpu-clock -p $! -o y.data
	[ "$status" = 0 ]
}

@test "-C watches all that runs on a CPU" {
	need_recording
	need_perf
	run "$TALLY" record -e cpu-clock -C 0 -o c0.data -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
	[ "$status" = 0 ] || skip "the whole system cannot be recorded here"
	[ "$(perf script -F cpu -i c0.data 2>/dev/null | sort -u | tr -d ' ')" = "[000]" ]
	run "$TALLY" record -e cpu-clock -C 60000 -o c0.data -- true
	[ "$status" = 125 ]
}

@test "-a records every process that runs, in perf's records" {
	need_recording
	need_perf
	sleep 30 3>&- &
	sleeper=$!
	run "$TALLY" record -e cpu-clock -a -o a.data -- true
	kill "$sleeper"
	[ "$status" = 0 ] || skip "the whole system cannot be recorded here"
	perf script --show-task-events --show-mmap-events -i a.data >a.txt 2>err
	[ ! -s err ]
	grep -q "PERF_RECORD_COMM: sleep:$sleeper/$sleeper" a.txt
	grep -q "PERF_RECORD_MMAP2 $sleeper/$sleeper: .*r-xp.*/sleep" a.txt
	grep -q 'PERF_RECORD_MMAP.*\[kernel.kallsyms\]_' a.txt || [ "$(id -u)" != 0 ]
}

@test "a full disk is reported, and what was written can be read" {
	need_recording
	need_perf
	[ "$(id -u)" = 0 ] || skip "needs root, to mount a small disk"
	mkdir small
	mount -t tmpfs -o size=256k none small || skip "tmpfs cannot be mounted"
	run "$TALLY" record -e cpu-clock -F 20000 -g -o small/f.data -- sh -c 'sleep 1.5; i=0; while [ $i -lt 4000000 ]; do i=$((i+1)); done'
	failed=$status
	said=$output
	cp small/f.data f.data
	umount small
	[ "$failed" = 125 ]
	[[ "$said" == *"small/f.data"* ]]
	[ "$(perf script -i f.data 2>/dev/null | grep -c cpu-clock)" -gt 0 ]
}

@test "a disk that fills before the first second: what fits stays a whole file" {
	need_recording
	need_perf
	need_tracepoints
	if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=300k none small; then
		run "$TALLY" record -e raw_syscalls:sys_enter -o small/f.data -- dd if=/dev/zero of=/dev/null bs=1 count=100000
		cp small/f.data f.data
		umount small
		[ "$status" = 125 ]
	else
		run bash -c "ulimit -f 300; trap '' XFSZ; \"$TALLY\" record -e raw_syscalls:sys_enter -o f.data -- dd if=/dev/zero of=/dev/null bs=1 count=100000"
	fi
	[ "$status" = 125 ]
	[[ "$output" == *"f.data: cannot be written beyond"*"bytes of the last records were replaced by them"* ]]
	perf script --header -i f.data >f.txt 2>err
	[ ! -s err ]
	grep -q '^# cmdline : tally record' f.txt
	[ "$(grep -c 'sys_enter: NR' f.txt)" -gt 1000 ]
	perf buildid-list -i f.data | grep -q libc
}

@test "-v reports limits, attrs, rings, processes, the drain and its records" {
	need_kernel
	need_recording
	need_perf
	run "$TALLY" record -v -e cpu-clock -c 1000000 -p $$ -o v.data -- sh -c 'sleep 0.2'
	[ "$status" = 0 ]
	[[ "$output" == *"limits: kernel.perf_event_paranoid "*"RLIMIT_NOFILE"*"capabilities: "* ]]
	[[ "$output" == *"cpu-clock: type=SOFTWARE "*"sample_period=1000000 "*"IDENTIFIER"*"; open $(nproc) time"* ]]
	[[ "$output" == *"rings on $(nproc) CPU"*"for 1 thread:"*"of samples each,"*"of side-band each"* ]]
	[[ "$output" == *"found running: 1 process, 1 thread and "* ]]
	[[ "$output" == *"rings read in "*"records taken: "* ]]
	run -0 "$TALLY" record -v -e cycles:u -o v.data -- true
	[[ "$output" == *"cycles:u"* ]]
}

@test "-u takes a user's processes, and only them" {
	need_recording
	need_perf
	[ "$(id -u)" = 0 ] || skip "needs root, to run as another user"
	command -v setpriv >/dev/null || skip "setpriv is not installed: no process of another user can be started"
	id nobody >/dev/null 2>&1 || skip "there is no user nobody"
	run "$TALLY" record -e cpu-clock -u 54321 -o u.data
	[ "$status" = 1 ]
	[[ "$output" == *"user 54321 runs no process now"* ]]
	setpriv --reuid nobody --clear-groups sh -c 'while :; do :; done' 3>&- &
	theirs=$!
	sh -c 'while :; do :; done' 3>&- &
	others=$!
	sleep 0.3
	"$TALLY" record -q -e cpu-clock -u nobody -o u.data 3>&- &
	recorder=$!
	sleep 1
	kill -INT "$recorder"
	wait "$recorder" || [ $? = 130 ]
	seen=$(perf script -F pid -i u.data 2>/dev/null | sort -u | tr -d ' ')
	kill "$theirs" "$others"
	# Others of that user may run, too, but nobody else.
	echo "$seen" | grep -qx "$theirs"
	[ "$(echo "$seen" | grep -cx "$others")" = 0 ]
}

@test "rings that an ordinary user may not lock are made smaller with a line" {
	need_recording
	[ "$(id -u)" = 0 ] || skip "needs root, to run as another user"
	command -v setpriv >/dev/null ||
		skip "setpriv is not installed: no test runs as another user; tests/unit/collect chooses the sizes of rings"
	# Out of this test's own folder, which only root may enter.
	place=$(mktemp -d)
	chmod 777 "$place"
	cp "$TALLY" "$place/tally"
	as="setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all"
	if ! $as "$place/tally" record -q -e cpu-clock -o "$place/probe.data" -- true; then
		rm -r "$place"
		skip "an ordinary user cannot record here"
	fi
	run $as bash -c "ulimit -l 64; $place/tally record -m 16M -e cpu-clock,page-faults -o $place/r.data -- true"
	size=$(stat -c %s "$place/r.data")
	rm -r "$place"
	[ "$status" = 0 ]
	[ "$size" -gt 1000 ]
	[[ "$output" == *"pages instead of 4096"*"kernel.perf_event_mlock_kb"* ]]
	# What was given up is said once for all events.
	[ "$(echo "$output" | grep -c 'user space only')" -le 1 ]
}

@test "several threads drain when one cannot keep up, and all that they read is in the file" {
	need_recording
	need_perf
	need_tracepoints
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	# Small rings run full whatever the recorder does.
	run "$TALLY" record -v -m 32 -e raw_syscalls:sys_enter -a -o s.data -- \
		sh -c 'for i in 1 2; do dd if=/dev/zero of=/dev/null bs=1 count=200000 2>/dev/null & done; wait'
	[ "$status" = 0 ] || skip "the whole system cannot be recorded here"
	[[ "$output" == *"rings read in "* ]]
	said=$(echo "$output" | sed -n 's/.*tally: \([0-9,]*\) samples.*/\1/p' | tr -d ,)
	perf report --stats -i s.data >stats 2>err
	[ "$(sed -n 's/^ *SAMPLE events: *\([0-9]*\).*/\1/p' stats | head -1)" = "$said" ]
}

@test "the command keeps its own priority, descriptors and limits" {
	need_recording
	bash -c 'nice; ulimit -n; ls /proc/self/fd | wc -l' >plain
	"$TALLY" record -q -e cpu-clock -o n.data -- bash -c 'nice; ulimit -n; ls /proc/self/fd | wc -l' >under
	diff plain under
}

@test "what an event asks of the recorder and it cannot do is refused, not left out" {
	for event in 'cpu-clock/nr=3/' 'cpu-clock/percore/' 'cpu-clock/stack-size=64/' 'cpu-clock/call-graph=odd/'; do
		run --separate-stderr "$TALLY" record -e "$event" -o refused.data -- true
		[ "$status" = 125 ]
		[ "${#stderr_lines[@]}" = 1 ]
		[ ! -e refused.data ]
	done
	for event in duration_time user_time; do
		run --separate-stderr "$TALLY" record -e "$event" -o refused.data -- true
		[ "$status" = 2 ]
		[ "${#stderr_lines[@]}" = 1 ]
		[ ! -e refused.data ]
	done
}

@test "of an event that is written over, the latest samples are kept, in order" {
	need_recording
	"$TALLY" record -q -e 'cpu-clock/freq=20000/' -m 4 -o all.data -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' 2>/dev/null
	"$TALLY" record -q -e 'cpu-clock/freq=20000,overwrite/' -m 4 -o kept.data -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exec sleep 0.01'
	"$TALLY" script -i kept.data -F time | sed 's/[: ]//g' >times
	[ -s times ]
	# 16 KiB of ring hold fewer than 300 samples of 64 bytes on each CPU.
	[ "$(wc -l <times)" -le $((300 * $(getconf _NPROCESSORS_CONF))) ]
	sort -c times
	"$TALLY" evlist -v -i kept.data | grep -q 'write_backward: 1'
}
