#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally doctor: the true cause of each refusal, set up for real where that takes a moment, else on a made-up tree.

setup() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_TEST_TMPDIR" || return 1
	cp "$TALLY" tally
	chmod 755 tally . # for an ordinary user
	undo=
}

teardown() {
	[ -z "$undo" ] || eval "$undo"
}

need_root() {
	[ "$(id -u)" -eq 0 ] || skip "settings of the system are changed by root only"
}

# Sets a sysctl for this test.
set_to() {
	local file=/proc/sys/kernel/$1
	undo="echo $(cat "$file") >$file; $undo"
	{ echo "$2" >"$file"; } 2>/dev/null || skip "kernel.$1 cannot be set here"
}

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# The member of one finding of `$output`.
finding() {
	python3 -c '
import json, sys
found = [f for f in json.loads(sys.stdin.read())["findings"] if f["id"] == sys.argv[1]]
print(found[0][sys.argv[2]] if found else "not there")' "$1" "$2" <<<"$output"
}

@test "paranoid 2, 3 and 4 as a user: what is left, and CAP_PERFMON first" {
	need_root
	for level in 2 3 4; do
		set_to perf_event_paranoid $level
		run as_nobody ./tally doctor --json
		state=$(finding paranoid state)
		[[ "$(finding paranoid found)" == "kernel.perf_event_paranoid is $level"* ]]
		[[ "$(finding paranoid remedy)" == "sudo setcap cap_perfmon+ep "* ]]
		# Debian's kernels refuse all above 2, mainline's are at 2 there.
		if as_nobody ./tally record -q -e task-clock:u -o /dev/null true 2>/dev/null; then
			[ "$status" -eq 0 ]
			[ "$state" = limited ]
			[[ "$(finding paranoid cost)" == *"(:u)"* ]]
		else
			[ "$status" -eq 1 ]
			[ "$state" = blocked ]
		fi
	done
}

# A program with capabilities of its file, on a file system that keeps them.
with_caps() {
	command -v setcap >/dev/null ||
		skip "setcap is not installed: no capability is given to a copy of tally; tests/unit/kernel has the commands"
	setcap "$1+ep" tally 2>/dev/null || skip "files cannot have capabilities here"
	as_nobody ./tally doctor --json | grep -q CAP_ || skip "programs get no capabilities from files here"
}

@test "13.5: the setcap that doctor prints keeps what the file has, and is not given in a user namespace" {
	need_root
	set_to perf_event_paranoid 2
	with_caps cap_perfmon,cap_net_raw
	run -0 as_nobody ./tally doctor --json
	[[ "$(finding capabilities remedy)" == "sudo setcap cap_net_raw,cap_ipc_lock,cap_sys_ptrace,cap_syslog,cap_perfmon+ep "* ]]
	# As it says: nothing that it had is lost, and nothing is missing then.
	setcap cap_net_raw,cap_ipc_lock,cap_sys_ptrace,cap_syslog,cap_perfmon+ep tally
	run -0 as_nobody ./tally doctor --json
	[ "$(finding capabilities state)" = good ]
	[ "$(finding paranoid state)" = good ]
	unshare -U true 2>/dev/null || skip "no user namespaces here"
	run -0 unshare -U -r ./tally doctor --json
	[[ "$output" != *"sudo setcap"* ]]
	[[ "$(finding capabilities remedy)" == *"without a user namespace"*"setcap does not help"* ]]
}

@test "13.10: with CAP_PERFMON alone, each thing that needs more says what it needs" {
	need_root
	set_to perf_event_paranoid 2
	set_to kptr_restrict 1
	with_caps cap_perfmon
	run -0 as_nobody ./tally doctor --json
	[[ "$(finding kernel_symbols remedy)" == "sudo setcap cap_syslog,cap_perfmon+ep "* ]]
	[[ "$(finding capabilities cost)" == *"kernel symbols"*"rings beyond"* ]]
	run as_nobody ./tally record -q -e uprobe:libc:malloc -o /dev/null true
	if [ "$status" -ne 0 ] && [ -e /sys/bus/event_source/devices/uprobe ]; then
		[[ "$output" == *"uprobes need CAP_SYS_ADMIN"*"sudo"* ]]
		run -0 as_nobody ./tally doctor --json
		[[ "$(finding uprobes found)" == *"CAP_SYS_ADMIN"* ]]
	fi
	run -0 as_nobody ./tally record -m 128M -e cpu-clock -o /dev/null true
	[[ "$output" == *CAP_IPC_LOCK* ]]
	if [ -d /sys/kernel/tracing/events/sched ] && ! as_nobody ls /sys/kernel/tracing >/dev/null 2>&1; then
		run as_nobody ./tally record -e sched:sched_switch -o /dev/null true
		[ "$status" -ne 0 ]
		[[ "$output" == *"listed in /sys/kernel/tracing,"*"even with CAP_PERFMON"* ]]
		# The rights of the file count for folders, too.
		setcap cap_perfmon,cap_dac_read_search+ep tally
		run -0 as_nobody ./tally record -q -e sched:sched_switch -o /dev/null true
	fi
}

@test "a user at paranoid -1 may all, and root at 4" {
	need_root
	set_to perf_event_paranoid -1
	run -0 as_nobody ./tally doctor --json
	[ "$(finding paranoid state)" = good ]
	set_to perf_event_paranoid 4
	run -0 ./tally doctor --json
	[ "$(finding paranoid state)" = good ]
	[[ "$(finding paranoid found)" == *"CAP_PERFMON allows all"* ]]
}

# Runs a command under a filter that answers perf_event_open with an errno, or kills (0).
filtered() {
	python3 - "$@" <<'END'
import ctypes, os, platform, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
action = 0x00050000 | int(sys.argv[1]) if int(sys.argv[1]) else 0x80000000
rows = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, action), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
program = Program(len(rows), ctypes.addressof(code))
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit(99)
os.execv(sys.argv[2], sys.argv[2:])
END
}

@test "a seccomp filter that refuses, hides or kills" {
	for answer in 1 38 0; do
		run filtered $answer ./tally doctor --json
		[ "$status" -ne 99 ] || skip "no seccomp filters here"
		[ "$status" -eq 1 ]
		[ "$(finding syscall state)" = blocked ]
		[[ "$(finding syscall found)" == "a seccomp filter "* ]]
		[[ "$(finding syscall remedy)" == *"--cap-add PERFMON"* ]]
	done
	[[ "$(finding syscall found)" == *"kills"* ]]
}

@test "no_new_privs is reported, as it makes setcap useless" {
	need_root
	run -0 as_nobody setpriv --no-new-privs ./tally doctor --json
	[[ "$(finding capabilities remedy)" == "no_new_privs is set"* ]]
}

@test "capabilities that are only a user namespace's" {
	need_root
	set_to perf_event_paranoid 2
	run as_nobody unshare --user --map-root-user ./tally doctor --json
	[ "$status" -eq 0 ] || skip "no user namespaces for users here"
	[ "$(finding paranoid state)" = limited ]
	[[ "$(finding paranoid found)" == *"only a container's"* ]]
}

@test "a missing PMU is reported with the hypervisor, and hardware counters where there are some" {
	run -0 ./tally doctor --json
	if ./tally record -q -e instructions:u -o /dev/null true 2>/dev/null; then
		[ "$(finding pmu state)" = good ]
		[[ "$(finding counters found)" =~ ^[0-9]+\ count\ at\ once ]]
	else
		[ "$(finding pmu state)" = absent ] || [ "$(finding pmu state)" = unknown ]
		[[ "$(finding pmu found)" == *"no hardware counters"* || "$(finding pmu found)" == *"cannot be seen"* ]]
	fi
}

@test "breakpoints that open and never fire are not counted as 0" {
	cat >hit.c <<'END'
volatile int hit;
int main(void) { for (int i = 0; i < 50; i++) hit = i; return 0; }
END
	gcc -no-pie -o hit hit.c || skip "no compiler: no address of a program is known"
	event="mem:0x$(nm hit | awk '$3 == "hit" {print $1}')/4:w:u"
	# The kernel's own count, without the library's words
	count=$(perf stat -x , -e "$event" ./hit 2>&1 | cut -d , -f 1)
	[[ "$count" = 50 || "$count" = 0 ]] || skip "perf is not installed, or no breakpoints here"
	run -0 ./tally doctor --json
	if [ "$count" = 50 ]; then
		[ "$(finding breakpoints state)" = good ]
		[ "$(./tally stat -x , -e "$event" ./hit 2>&1 | cut -d , -f 1)" = 50 ]
	else
		[ "$(finding breakpoints state)" = absent ]
		[ "$(./tally stat -x , -e "$event" ./hit 2>&1 | cut -d , -f 1)" = '<not supported>' ]
		run -125 ./tally record -e "$event" ./hit
		[[ $output == *"never fire"* ]]
	fi
}

@test "tracefs not mounted, and mounted for root only" {
	need_root
	run -0 unshare --mount sh -c 'umount -l /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug 2>/dev/null
		./tally doctor --json'
	[ "$(finding tracefs state)" = limited ]
	[ "$(finding tracefs found)" = "tracefs is not mounted" ]
	[ "$(finding tracefs remedy)" = "sudo mount -t tracefs nodev /sys/kernel/tracing" ]
	run -0 unshare --mount sh -c 'mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; chmod 700 /sys/kernel/tracing
		setpriv --reuid 65534 --regid 65534 --clear-groups ./tally doctor --json'
	[ "$(finding tracefs found)" = "only root may read tracefs" ]
}

@test "an mlock limit that is too small" {
	need_root
	set_to perf_event_mlock_kb 0
	run -1 as_nobody prlimit --memlock=0 ./tally doctor --json
	[ "$(finding mlock state)" = blocked ]
	run -0 as_nobody prlimit --memlock=262144 ./tally doctor --json
	[ "$(finding mlock state)" = limited ]
	[[ "$(finding mlock remedy)" == *cap_ipc_lock* ]]
	run -0 as_nobody prlimit --memlock=8388608 ./tally doctor --json
	[ "$(finding mlock state)" = good ]
}

@test "kptr_restrict 2 hides symbols from root too, 1 from users" {
	need_root
	set_to kptr_restrict 2
	run -0 ./tally doctor --json
	[ "$(finding kernel_symbols state)" = limited ]
	[[ "$(finding kernel_symbols found)" == "kernel.kptr_restrict is 2"* ]]
	set_to kptr_restrict 1
	run -0 as_nobody ./tally doctor --json
	[[ "$(finding kernel_symbols found)" == "kernel.kptr_restrict is 1"* ]]
	run -0 ./tally doctor --json
	[ "$(finding kernel_symbols state)" = good ]
}

@test "debuginfod: a server and its client, and which of them is missing" {
	mkdir programs
	printf '#!/bin/sh\n' >programs/debuginfod-find
	chmod +x programs/debuginfod-find
	run -0 env "PATH=/nowhere:" DEBUGINFOD_URLS=http://localhost:1/ ./tally doctor --json
	[ "$(finding debuginfod state)" = absent ]
	[ "$(finding debuginfod found)" = "debuginfod-find is not installed" ]
	run -0 env "PATH=/nowhere:$PWD/programs:$PATH" DEBUGINFOD_URLS='' ./tally doctor --json
	[ "$(finding debuginfod state)" = absent ]
	[[ "$(finding debuginfod remedy)" == *"export DEBUGINFOD_URLS="* ]]
	run -0 env "PATH=/nowhere:$PWD/programs:$PATH" DEBUGINFOD_URLS='http://localhost:1/' ./tally doctor --json
	[ "$(finding debuginfod state)" = good ]
	[ "$(finding debuginfod found)" = "debuginfod-find fetches debug files from http://localhost:1/" ]
}

@test "another machine's tree: low limits, lockdown, no tracefs" {
	mkdir -p tree/proc/sys/kernel tree/sys/kernel/security tree/sys/bus/event_source/devices/{cpu,intel_pt}
	echo 1000 >tree/proc/sys/kernel/perf_event_max_sample_rate
	echo 16 >tree/proc/sys/kernel/perf_event_max_stack
	echo 1 >tree/proc/sys/kernel/perf_event_paranoid
	echo 'none integrity [confidentiality]' >tree/sys/kernel/security/lockdown
	run -0 ./tally doctor --json --root tree
	[ "$(finding sample_rate state)" = limited ]
	[ "$(finding max_stack remedy)" = "sudo sysctl kernel.perf_event_max_stack=127" ]
	[ "$(finding lockdown state)" = limited ]
	[ "$(finding traces found)" = intel_pt ]
	[ "$(finding tracefs state)" = limited ]
	[[ "$(finding paranoid cost)" == "whole CPUs "* ]]
	[[ "$(finding pmus found)" == "PMUs: cpu, intel_pt" ]]
}

@test "text: folded, -q leaves out what is good" {
	run -0 ./tally doctor
	[[ "${lines[0]}" == *" measuring"* ]]
	[[ "$output" == *"  good "* ]]
	run -0 ./tally doctor -q
	[[ "$output" != *"  good "* ]]
	[ -n "$output" ]
	[ -z "$(awk 'length > 100' <<<"$output")" ]
	run -2 ./tally doctor now
}
