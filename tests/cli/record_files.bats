#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Long recordings: several files, limits, overwritten rings, ranges of time, orders from another program.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR"
}

setup() {
	mkdir -p "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work" || return 1
	"$TALLY" record -q -N -e dummy -o probe.data -- true 2>/dev/null || skip "events cannot be opened here"
	rm -f probe.data
}

# A program that uses a CPU for a time, in two processes that begin and end.
busy() {
	echo 'i=0; while [ $i -lt '"$1"' ]; do timeout 0.3 sh -c "while :; do :; done"; i=$((i + 1)); '"$2"' done'
}

# The same, with as much work however busy the machine is: some 100 ms of a CPU each time.
work() {
	echo 'i=0; while [ $i -lt '"$1"' ]; do sh -c "k=0; while [ \$k -lt 200000 ]; do k=\$((k + 1)); done"; i=$((i + 1)); '"$2"' done'
}

# Each file is whole: no damage, names of all processes, maps, build-ids; and perf has the same samples, without a warning.
whole() {
	local file=$1
	"$TALLY" script -i "$file" -F comm,ip,dso,event -G >"$file.txt" 2>"$file.err"
	[ ! -s "$file.err" ] || { cat "$file.err"; return 1; }
	run -1 grep -E '^ *:[0-9]+|\(\[unknown\]\)' "$file.txt"
	"$TALLY" info -i "$file" >"$file.info" 2>&1
	run -1 grep -i damage "$file.info"
	command -v perf >/dev/null || return 0
	perf script -i "$file" -F comm,event >"$file.perf" 2>"$file.err"
	[ ! -s "$file.err" ] || { cat "$file.err"; return 1; }
	[ "$(grep -c . "$file.perf")" = "$("$TALLY" script -i "$file" -F comm,event | grep -c .)" ]
}

@test "--switch-output=TIME writes files that are each whole, and --switch-max-files keeps the newest" {
	"$TALLY" record -e cpu-clock -F 499 --switch-output=1s --switch-max-files=2 -- sh -c "$(busy 10)" 2>said
	grep -Eq '^tally: perf\.data\.[0-9]{16}: [0-9]+ samples$' said
	[ "$(ls | grep -c '^perf\.data\.[0-9]*$')" = 2 ]
	[ ! -e perf.data ]
	for file in perf.data.*; do
		case $file in *.txt | *.err | *.info | *.perf) continue ;; esac
		whole "$file"
	done
}

@test "SIGUSR2 begins the next file" {
	# shellcheck disable=SC2016
	"$TALLY" record -q -e cpu-clock -F 499 --switch-output -o s.data -- sh -c "$(busy 3 'kill -USR2 $PPID; sleep 0.2;')"
	local files=(s.data.*)
	[ "${#files[@]}" -ge 3 ]
	for file in "${files[@]}"; do whole "$file"; done
}

@test "a size begins the next file" {
	"$TALLY" record -q -e cpu-clock -F 4000 --switch-output=20K -o b.data -- sh -c "$(busy 8)"
	local files=(b.data.*)
	[ "${#files[@]}" -ge 2 ]
	for file in "${files[@]}"; do whole "$file"; done
}

@test "an event begins the next file" {
	[ -r /sys/kernel/tracing/events/sched/sched_process_exec/id ] || skip "tracepoints cannot be read by this user: \
size, time and signal are checked above"
	"$TALLY" record -q -e cpu-clock -F 499 --switch-output-event sched:sched_process_exec -o e.data -- \
		sh -c 'sleep 0.3; /bin/true; sleep 0.3; /bin/true; sleep 0.3'
	local files=(e.data.*)
	[ "${#files[@]}" -ge 3 ]
}

@test "a process that runs from before is described in each file" {
	sh -c 'while :; do :; done' &
	local pid=$!
	timeout -s INT 2.5 "$TALLY" record -q -e cpu-clock -F 199 -p "$pid" --switch-output=1s -o p.data || true
	kill "$pid"
	local files=(p.data.*)
	[ "${#files[@]}" -ge 2 ]
	for file in "${files[@]}"; do
		whole "$file"
		# A file that was begun just before the end may have no samples.
		"$TALLY" script -i "$file" -F comm >>comms
	done
	[ -s comms ]
	run -1 grep -vx ' *sh *' comms
}

@test "with whole stacks each file has whole stacks" {
	"$TALLY" record -q -g -e cpu-clock -F 199 --switch-output=1s -o g.data -- sh -c "$(busy 7)"
	for file in g.data.*; do
		whole "$file"
		"$TALLY" script -i "$file" -F ip >chains
		[ -s chains ] || continue # one that was begun just before the end
		"$TALLY" info -i "$file" | grep -qi 'stacks'
		awk -v RS= 'NF > 4 { deep++ } END { exit !deep }' chains
	done
}

@test "--timestamp-filename gives the one file a name with the time" {
	"$TALLY" record -e cpu-clock --timestamp-filename -o t.data -- true 2>said
	local files=(t.data.*)
	[ "${#files[@]}" = 1 ]
	[[ $(cat said) == *"in ${files[0]} ("* ]]
}

@test "--max-size ends the recording, and says so" {
	"$TALLY" record -e cpu-clock -F 4000 --max-size 20K -o m.data -- timeout 20 sh -c 'while :; do :; done' 2>said || true
	grep -q 'as large as --max-size allows' said
	[ "$(stat -c %s m.data)" -ge 20480 ]
	whole m.data
}

@test "kill -9 leaves a file with all but the last second" {
	for wait in 1.6 2.1 2.4; do
		"$TALLY" record -q -e cpu-clock -F 499 -o k.data -- timeout 10 sh -c ': >began; while :; do :; done' &
		local pid=$!
		until [ -e began ]; do sleep 0.1; done
		rm began
		sleep "$wait"
		kill -9 "$pid"
		wait "$pid" || true
		"$TALLY" script -i k.data -F time >times
		[ -s times ]
		awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(last - first > '"$wait"' - 1.6) }' times
	done
}

@test "--overwrite keeps the newest samples, and SIGUSR2 writes them" {
	# shellcheck disable=SC2016
	"$TALLY" record -q --overwrite -m 1 -e cpu-clock -F 999 -o o.data -- sh -c "$(work 3 'kill -USR2 $PPID; sleep 0.1;')"
	whole o.data
	"$TALLY" script -i o.data -F time | tr -d : >times
	[ "$(wc -l <times)" -ge 20 ]
	sort -n times | cmp - times
	"$TALLY" record -q --overwrite --switch-output -m 1 -e cpu-clock -F 999 -o w.data -- sh -c "$(work 2 'kill -USR2 $PPID; sleep 0.2;')"
	local files=(w.data.*)
	[ "${#files[@]}" -ge 2 ]
	whole "${files[0]}"
	"$TALLY" script -i "${files[0]}" -F event | grep -q cpu-clock
}

@test "--overwrite: while a snapshot waits for a slow reader samples are not lost" {
	# shellcheck disable=SC2016
	"$TALLY" record -q --overwrite -m 64 -e cpu-clock -F 4999 -o - -- sh -c 'for i in 1 2; do timeout 0.6 sh -c "while :; do :; done"; kill -USR2 $PPID; done
		timeout 0.6 sh -c "while :; do :; done"' 2>said | (sleep 2; cat >slow.data)
	# but for those of the moment in which a ring is copied; the reader waits for some 3,000
	lost=$(sed -n 's/^.*: \([0-9,]*\) records* lost while rings were copied.*/\1/p' said | tr -d ,)
	[ "${lost:-0}" -lt 300 ]
	[ "$("$TALLY" script -i slow.data -F event | wc -l)" -ge 1500 ]
}

@test "--overwrite: records that were lost while a ring was copied are not said to be lost in full rings" {
	[ -r /sys/kernel/tracing/events/raw_syscalls/sys_enter/id ] || skip "tracefs is not readable"
	# shellcheck disable=SC2016
	"$TALLY" record --overwrite -m 4096 -e raw_syscalls:sys_enter -a -o l.data -- sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=400000 status=none &
		for i in 1 2 3; do sleep 0.1; kill -USR2 $PPID; done; wait' 2>said
	grep -q ' lost while rings were copied' said || skip "none was lost"
	run -1 grep 'rings were full' said
}

@test "-D with ranges takes samples in them alone" {
	"$TALLY" record -q -D 200-500,900-1100 -e cpu-clock -F 999 -o r.data -- timeout 1.5 sh -c 'while :; do :; done' || true
	"$TALLY" script -i r.data -F time | tr -d : >times
	# one pause, of 400 ms; and nothing but the two ranges
	awk 'NR > 1 && $1 - last > 0.3 { pauses++ } NR == 1 { first = $1 } { last = $1 }
		END { print NR, pauses, last - first; exit !(pauses == 1 && last - first > 0.5 && last - first < 1.1) }' times
	run "$TALLY" record -D 30-20 -e cpu-clock -o r.data -- true
	[ "$status" -ne 0 ]
	[[ $output == *"not ranges of milliseconds"* ]]
}

@test "--control follows orders and answers when they are done" {
	need_kernel
	mkfifo orders answers
	(
		exec 5<>orders 6<>answers
		ask() {
			echo "$1" >&5
			read -r -t 10 answer <&6
			echo "$1: $answer"
		}
		ask ping
		sleep 0.3
		ask enable
		sleep 0.4
		ask disable
		sleep 0.4
		ask 'evlist -v'
		ask snapshot
		ask stop
	) >log &
	"$TALLY" record --control fifo:orders,answers -D -1 -e cpu-clock -F 999 -o c.data -- timeout 9 sh -c 'while :; do :; done' \
		2>said || true
	wait
	[ "$(grep -c ': ack$' log)" = 6 ]
	grep -q '^cpu-clock: type: 1' said
	"$TALLY" script -i c.data -F time | tr -d : >times
	[ -s times ]
	awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(last - first < 1.5) }' times
}

@test "--control by descriptors: each order is answered, and an unknown one is refused" {
	need_kernel
	mkfifo orders answers
	exec 8<>orders 9<>answers
	ask() {
		echo "$1" >&8
		read -r -t 20 -u 9 answer
		echo "$1: $answer" >>log
	}
	"$TALLY" record -N --control fd:8,9 -D -1 -e cpu-clock -F 999 -o c.data -- timeout 9 sh -c 'while :; do :; done' 2>said &
	local recorder=$!
	for order in ping enable ping disable evlist snapshot enable; do ask "$order"; done
	echo nonsense >&8
	ask ping
	echo stop >&8
	wait "$recorder" || true
	[ "$(grep -c ': ack$' log)" = 8 ]
	grep -qx cpu-clock said
	grep -q "unknown order 'nonsense'; valid are enable, disable, stop, evlist, snapshot, ping" said
	run -0 "$TALLY" info -i c.data --strict
}

@test "16: no sample is lost while a file gets its name slowly" {
	command -v cc >/dev/null || skip "no compiler: no slow file system is made"
	cat >slow.c <<-'EOF'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <time.h>
		int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
			struct timespec wait = {3, 0};
			int (*next)(int, const char *, int, const char *, unsigned) = dlsym(RTLD_NEXT, "renameat2");
			nanosleep(&wait, 0);
			return next(a, from, b, to, flags);
		}
	EOF
	cc -shared -fPIC -o slow.so slow.c -ldl
	LD_PRELOAD=$PWD/slow.so "$TALLY" record -m 4 -e cpu-clock -F 5000 --switch-output -o slow.data -- \
		env -u LD_PRELOAD sh -c 'while :; do :; done' 2>said &
	local recorder=$!
	sleep 1
	kill -USR2 "$recorder"
	sleep 4
	kill -INT "$recorder"
	wait "$recorder" || true
	grep -q 'none lost' said
	local files=(slow.data.*)
	[ "${#files[@]}" = 2 ]
	# What came while the first one got its name is in the second one.
	[ "$("$TALLY" script -i "${files[1]}" -F time | tr -d : |
		awk 'NR == 1 { first = $1 } END { print ($1 - first > 2.5) }')" = 1 ]
	whole "${files[0]}"
	whole "${files[1]}"
}

@test "16: --control enables and disables one event by its name" {
	need_kernel
	mkfifo orders answers
	exec 8<>orders 9<>answers
	ask() {
		echo "$1" >&8
		read -r -t 20 -u 9 answer
	}
	"$TALLY" record -N --control fd:8,9 -D -1 -e cpu-clock,task-clock -F 999 -o c.data -- timeout 9 sh -c 'while :; do :; done' 2>said &
	local recorder=$!
	ask 'enable task-clock'
	sleep 0.5
	ask 'disable task-clock'
	ask 'enable cpu-cloc'
	ask enable
	ask 'disable cpu-clock'
	sleep 0.5
	echo stop >&8
	wait "$recorder" || true
	grep -q "unknown event 'cpu-cloc'; did you mean cpu-clock" said
	"$TALLY" script -i c.data -F event >events
	[ "$(grep -c task-clock events)" -gt "$(($(grep -c cpu-clock events) + 20))" ]
}

@test "the unit of examples records as it says, and systemd takes it" {
	local unit="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}/examples/tally-record.service" options
	options=$(sed -n 's|^ExecStart=/usr/bin/tally record ||p' "$unit")
	[ -n "$options" ]
	# shellcheck disable=SC2086
	"$TALLY" record --dry-run $options
	command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed: what systemd makes of the unit is \
not checked; its command line was"
	sed "s|^ExecStart=/usr/bin/tally|ExecStart=$TALLY|" "$unit" >tally-record.service
	run -0 systemd-analyze verify --man=no ./tally-record.service
	[ -z "$output" ]
}

@test "options that do not go together are refused" {
	run -2 "$TALLY" record --switch-output -e cpu-clock -o - -- true
	[[ $output == *"one file"* ]]
	run -2 "$TALLY" record --switch-max-files 3 -e cpu-clock -- true
	[[ $output == *"--switch-output"* ]]
	run -2 "$TALLY" record --switch-output=5x -e cpu-clock -- true
	[[ $output == *"unknown moment '5x'; valid are signal, a size (100M), a time (30s, 5m, 2h, 1d)"* ]]
	run -2 "$TALLY" record --max-size 5 -e cpu-clock -- true
	run -2 "$TALLY" record --control nothing -e cpu-clock -- true
	[[ $output == *"fifo:PATH"* ]]
}

@test "--kcore copies the kernel beside the recording, or says why not and leaves the old one" {
	"$TALLY" record -q -N -e cpu-clock -o k.data -- true
	if [ ! -r /proc/kcore ]; then
		before=$(cksum <k.data)
		run -125 "$TALLY" record -N --kcore -e cpu-clock -o k.data -- true
		[[ "$output" == *"/proc/kcore cannot be read"*"CONFIG_PROC_KCORE"* ]]
		[ "$(cksum <k.data)" = "$before" ]
		[ ! -e k.data.old ]
		skip "this kernel has no /proc/kcore: tests/unit/image copies a made-up one"
	fi
	"$TALLY" record -q -N --kcore -e cpu-clock -F 999 -o k.data -- sh -c "$(busy 1)"
	[ -f k.data.old ]
	cmp /proc/modules k.data/kcore_dir/modules
	readelf -lW k.data/kcore_dir/kcore | grep -q LOAD
	[ "$("$TALLY" script -i k.data -F comm | grep -c .)" -gt 10 ]
	"$TALLY" record -q -N --kcore -e cpu-clock -o k.data -- true
	[ -d k.data.old/kcore_dir ]
}

@test "13: several files are not named beside a device or a pipe, which stays" {
	mkfifo pipe
	run -125 "$TALLY" record -q -e cpu-clock --switch-output -o pipe -- true
	[ "$output" = "tally record: pipe is not a regular file, and cannot get a name with the time; name another file with -o" ]
	[ -p pipe ]
	mknod null c 1 3 2>/dev/null || skip "devices cannot be made here"
	run -125 "$TALLY" record -q -e cpu-clock --timestamp-filename -o null -- true
	[ -c null ]
}
