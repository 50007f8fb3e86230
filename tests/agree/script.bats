#!/usr/bin/env bats
# tally script against perf script: the same text, on recordings made here and on those of others.

load frame

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_perf
}

same() { # file, options
	perf script -f -i "$@" 2>perf.err </dev/null | plain >perf.txt
	# What options choose may be nothing: which program was sampled where is chance.
	[ -s perf.txt ] || [ $# -gt 1 ] || { echo "perf shows nothing of $1"; cat perf.err; return 1; }
	as_perf "$@"
}

# Tally's text is what perf.txt holds.
as_perf() { # file, options
	"$TALLY" script -i "$@" 2>tally.err </dev/null | plain >tally.txt
	cmp perf.txt tally.txt || { echo "$*"; diff perf.txt tally.txt | head; cat tally.err; return 1; }
}

make_recordings() {
	perf record -q -e cpu-clock,page-faults -F 5000 "$@" -- sh -c 'seq 1 20000 | sort -R | md5sum; ls -lR /etc' >/dev/null 2>&1 ||
		skip "perf cannot record this here"
}

@test "samples without and with call chains, of one and of several events" {
	make_recordings -o flat.data
	make_recordings -g -o chains.data
	perf record -q -e cpu-clock:u -g -o user.data -- ls -lR /etc >/dev/null 2>&1 ||
		skip "perf cannot record this here"
	for file in flat.data chains.data user.data; do
		same "$file"
		same "$file" -F ip,sym
		same "$file" -F comm,pid,tid,time,event,ip,sym,dso,period
		same "$file" -F -cpu,+pid,-period
		same "$file" -G
		same "$file" --max-stack 3
		same "$file" --max-stack 0
		same "$file" -D -F tid
	done
}

@test "the system, with switches, namespaces and groups of processes, and all other records" {
	perf record -q -a -e cpu-clock -g --switch-events --namespaces -o all.data -- sh -c 'ls / >/dev/null; sleep 0.1' ||
		skip "the system cannot be watched"
	same all.data
	same all.data --show-task-events --show-mmap-events --show-switch-events --show-namespace-events \
		--show-lost-events --show-cgroup-events
	# In the order of the file, what perf knows of names and mappings depends on which processor was read first.
	same all.data --show-round-events -F pid,tid,cpu,time,event,period
	same all.data -F +misc,+flags -C 0
	same all.data --comms ls,sleep
	same all.data -F comm,pid,tid,cpu,time,event,ip,sym,dso,period
	same all.data --tid "$(perf script -G -F tid -i all.data 2>/dev/null | awk '$1 > 0 {print $1; exit}')"
}

@test "times" {
	make_recordings -o flat.data
	same flat.data --ns
	same flat.data --reltime
	same flat.data --deltatime
	same flat.data --time 10%-50%
	same flat.data --time 10%/2,10%/4
	middle=$(perf script -F time -i flat.data 2>/dev/null | awk 'NR == 20 {sub(":", ""); print $1}')
	same flat.data --time "$middle,"
	same flat.data --time ",$middle"
	same flat.data --time "0,$middle $(awk "BEGIN {print $middle + 0.01}"),"
}

@test "filters and ends of chains" {
	make_recordings -g -o chains.data
	same chains.data --dsos '[kernel.kallsyms]'
	same chains.data -c sort
	same chains.data --stop-bt do_syscall_64
	symbol=$(perf script -G -F ip,sym -i chains.data 2>/dev/null | awk '$2 ~ /^[a-z_]+$/ {print $2}' | sort | uniq -c | sort -rn | awk 'NR == 1 {print $2}')
	same chains.data -S "$symbol"
}

@test "tracepoints, alone and with call chains" {
	need_tracefs
	perf record -q -a -e 'sched:sched_switch,sched:sched_wakeup' -o plain.data -- ls -R /etc >/dev/null 2>&1 ||
		skip "tracepoints cannot be recorded"
	perf record -q -a -e sched:sched_switch -e cpu-clock -g -o chains.data -- ls -R /etc >/dev/null 2>&1 ||
		skip "perf cannot record this here"
	same plain.data
	same plain.data -F trace:time,event,trace
	same plain.data -F comm,trace
	same chains.data
	same chains.data -F trace:ip,sym -F sw:comm,time
}

@test "what samples know of memory, registers and counters" {
	perf record -q -e page-faults -c 1 -d -o faults.data -- ls -R /etc >/dev/null 2>&1 ||
		skip "perf cannot record this here"
	same faults.data
	same faults.data -F +addr
	perf record -q -e page-faults -c 1 -d -g -o chains.data -- ls -R /etc >/dev/null 2>&1 ||
		skip "perf cannot record this here"
	same chains.data -F +addr,+srcline,-srcline
	perf record -q -e cpu-clock --intr-regs=ax,ip --user-regs=sp,ip -o regs.data -- ls -R /etc >/dev/null 2>&1 ||
		skip "no registers here"
	same regs.data -F +iregs,+uregs
}

@test "events that are read together" {
	perf record -q -e '{cpu-clock,page-faults}:S' -o group.data -- sh -c 'ls -R /etc; ls -R /etc' >/dev/null 2>&1 ||
		skip "no such groups here"
	same group.data
	same group.data --dsos '[kernel.kallsyms]'
}

@test "a stream" {
	perf record -q -e cpu-clock -g -o - -- ls -R /etc 2>/dev/null >stream.data ||
		skip "perf cannot record this here"
	same stream.data
	same stream.data -F comm,time
	perf script -i stream.data 2>/dev/null | plain >want
	"$TALLY" script - <stream.data | plain >got
	cmp want got
}

# The first line below each sample: where it was.
first_frames() {
	awk 'BEGIN {RS = ""} {print $1}'
}

@test "where user space was, of samples with its registers and stack" {
	perf record -q -e cpu-clock:u --call-graph dwarf -o stacks.data -- \
		sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' 2>/dev/null ||
		skip "perf records no user stacks here"
	[ "$(uname -m)" = x86_64 ] || skip "registers of x86 only"
	perf script -i stacks.data -F ip,sym,dso 2>/dev/null </dev/null | first_frames >want
	"$TALLY" script -i stacks.data -F ip,sym,dso | first_frames >got
	[ -s want ]
	cmp want got
}

@test "a breakpoint and its clock" {
	cat >hit.c <<'END'
volatile int hit;
int main(void) { for (int i = 0; i < 50; i++) hit = i; return 0; }
END
	gcc -no-pie -o hit hit.c ||
		skip "no compiler: breakpoints of a program are not compared; tests/unit/event parses and formats them"
	perf record -q -k CLOCK_MONOTONIC -e "mem:0x$(nm hit | awk '$3 == "hit" {print $1}'):w" -c 1 -o hit.data -- ./hit 2>/dev/null ||
		skip "no breakpoints here"
	perf script -i hit.data 2>/dev/null | grep -q . || skip "breakpoints never fire on this machine"
	same hit.data
	same hit.data -F +tod
}

@test "the header and the dump" {
	make_recordings -g -o chains.data
	same chains.data --header
	same chains.data --header-only -I
	same chains.data -D
}

@test "as many files as there are events" {
	make_recordings -o flat.data
	perf script -i flat.data --per-event-dump >/dev/null 2>&1
	for event in cpu-clock page-faults; do
		mv "flat.data.$event.dump" "want.$event"
	done
	"$TALLY" script -i flat.data --per-event-dump
	for event in cpu-clock page-faults; do
		cmp <(plain <"want.$event") <(plain <"flat.data.$event.dump")
	done
}

@test "samples of guests, by what the index of ids says of them" {
	command -v python3 >/dev/null ||
		skip "no python3: samples of guests are not compared; tests/unit/wire decodes their ids"
	perf record -q -e cpu-clock,task-clock -F 500 -o host.data -- sh -c 'seq 1 20000 | sort -R' >/dev/null 2>&1 ||
		skip "perf cannot record this here"
	# The index gets its second part: pid of the machine and number of the processor, of all ids but the first.
	python3 - host.data guests.data <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
at, size = struct.unpack_from("<QQ", data, 40)
end, start, records = at + size, at, b""
while at < end:
    kind, misc, length = struct.unpack_from("<IHH", data, at)
    record = data[at:at + length]
    if kind == 69:
        count = struct.unpack_from("<Q", record, 8)[0]
        guests = b"".join(struct.pack("<QQ", 4321 + i if i else 0, 1200 * i) for i in range(count))
        record = struct.pack("<IHH", kind, misc, 16 + 48 * count) + record[8:16 + 32 * count] + guests
    records += record
    at += length
shift = len(records) - size
head = data[:48] + struct.pack("<Q", len(records)) + data[56:start]
table = bytearray(data[end:])
for i in range(sum(bin(byte).count("1") for byte in data[72:104])):
    place = struct.unpack_from("<Q", table, 16 * i)[0]
    struct.pack_into("<Q", table, 16 * i, place + shift)
open(sys.argv[2], "wb").write(head + records + table)
END
	for fields in machine_pid,vcpu,tid,time,ip vcpu,event,period machine_pid,pid; do
		same guests.data -F "$fields"
	done
	grep -q '^VM: 43' tally.txt
	same guests.data -F machine_pid,vcpu,tid,time --show-task-events
}

# Where perf shows something else, and why: see doc/COMPATIBILITY.md.
differs() { # name of a recording
	case $1 in
	*intel_pt*) ;;            # traces are not decoded
	*interpreter_frames*) ;;  # a mapping that is recorded after its first use
	*) return 1 ;;
	esac
}

@test "recordings of others" {
	[ -d "${TALLY_CORPUS:-}/files" ] || skip "TALLY_CORPUS is not set"
	for file in "$TALLY_CORPUS"/files/*; do
		differs "$file" && continue
		# The kernels that were recorded are not here, nor their vDSOs: of those without a build-id perf takes this machine's, and so
		# does tally where the release is not known either.
		vdso=
		perf buildid-list -i "$file" 2>/dev/null | grep -qF '[vdso]' ||
			! "$TALLY" info -i "$file" 2>/dev/null | grep -q '^Kernel ' || vdso='--symfs /nowhere'
		for fields in '' '-F comm,pid,tid,cpu,time,event,ip,sym,dso,period' '-F ip,sym' '-F +brstack'; do
			perf script -f -i "$file" --kallsyms /dev/null $vdso $fields >perf.raw 2>/dev/null </dev/null || continue
			plain <perf.raw >perf.txt
			[ ! -s perf.txt ] || as_perf "$file" --kallsyms /dev/null $fields
		done
	done
}

@test "samples of guests, of which a host's recording knows no more than that they are" {
	command -v python3 >/dev/null || skip "needs python3: it makes the recording, and no other test has such samples"
	local file
	make_recordings -o flat.data
	make_recordings -g -o chains.data
	for file in flat chains; do
		"$HERE/guests.py" $file.data $file.guest.data
		same $file.guest.data
		same $file.guest.data -F +misc
		same $file.guest.data -D
		"$TALLY" report -i $file.guest.data --no-children -g none -q >rows.txt 2>/dev/null
		grep -qE '\[unknown\] +\[g\] 0x' rows.txt
		grep -qE '\[unknown\] +\[u\] 0x' rows.txt
	done
}
