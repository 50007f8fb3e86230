#!/usr/bin/env bats
# Terms of an event change its attr as they do in perf: both tools' recordings say so.

load frame
load ../cli/rights

# The attr of each event but the side-band, without what the tools choose differently for all: side-band bits, which perf
# has in the first event and tally in one of its own, and fields by which events differ.
attrs() { # TOOL FILE
	"$1" evlist -v -i "$2" 2>/dev/null | grep -v '^dummy' | sed -E 's/^.*: type:/type:/; s/size: [0-9]+, //
		s/, (mmap|comm|task|mmap2|comm_exec|ksymbol|bpf_event|mmap_data|disabled|enable_on_exec|build_id|sample_id_all): [0-9]+//g
		s/\|?(CPU|IDENTIFIER)//g; s/read_format: [A-Z|]+, //'
}

same() { # EVENT [OPTION]...
	event=$1
	shift
	keep=
	[[ $event$* != *dwarf* ]] || keep=--keep-stacks # perf's are in its files
	perf record -q -o theirs.data "$@" -e "$event" -- true >/dev/null 2>&1
	"$TALLY" record -q -o ours.data $keep "$@" -e "$event" -- true
	attrs perf theirs.data >theirs
	attrs "$TALLY" ours.data >ours
	[ -s theirs ]
	diff theirs ours || { echo "$event $*"; return 1; }
}

@test "call chains" {
	need_kernel
	need_perf
	for event in cpu-clock cpu-clock/call-graph=fp/ cpu-clock/call-graph=no/ cpu-clock/max-stack=7/ \
		cpu-clock/call-graph=dwarf/ cpu-clock/call-graph=dwarf,stack-size=4096/ "cpu-clock/call-graph='dwarf,4001'/" \
		cpu-clock/call-graph=dwarf,max-stack=7/ '{cpu-clock/call-graph=dwarf/,page-faults/call-graph=fp/}'; do
		same "$event"
		same "$event" -g
	done
	same cpu-clock --call-graph dwarf
	same cpu-clock --call-graph dwarf,1024
	same cpu-clock/call-graph=dwarf,stack-size=512/ --call-graph dwarf
}

@test "time, inheritance, periods, rings that are written over, kinds of branch, names" {
	need_perf
	for event in cpu-clock/time=0/ cpu-clock/time=1/ cpu-clock/inherit=0/ cpu-clock/no-inherit/ cpu-clock/inherit/ \
		cpu-clock/overwrite/ cpu-clock/no-overwrite/ cpu-clock/period=10000/ cpu-clock/freq=100/ \
		cpu-clock/branch_type=no/ cpu-clock/name=foo/ '{cpu-clock/time=0/,page-faults/period=1/}'; do
		same "$event"
	done
	same cpu-clock/inherit/ -i
}

@test "stacks that are copied are unwound alike" {
	need_kernel
	need_perf
	"$TALLY" record -q --keep-stacks -o ours.data -e cpu-clock/call-graph=dwarf/ -- seq 1 300000 >/dev/null
	perf_reads ours.data
	perf script -i ours.data -F time,ip,sym 2>/dev/null | plain >theirs
	"$TALLY" script -i ours.data -F time,ip,sym | plain >ours
	[ "$(grep -c . ours)" -gt 100 ]
	cmp theirs ours
}
