#!/usr/bin/env bats
# shellcheck disable=SC2016 # small programs for sh stand in single quotes
bats_require_minimum_version 1.5.0
# tally record: how it ends, what it says of what it does not see, full disks, pipes.

load ending

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export LC_ALL=C
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$TALLY" record -q -e cpu-clock -o probe.data -- true 2>/dev/null ||
		skip "events cannot be opened here"
}

@test "13.7: record that a signal ends dies of it with a whole file, as perf does" {
	[ "$(ended group INT record -e cpu-clock -o a.data sh -c ': >ready; exec sleep 60')" = "signal 2" ]
	grep -q 'samples* in a.data' said
	run -0 "$TALLY" info -i a.data --strict
	rm ready
	[ "$(ended alone TERM record -e cpu-clock -o a.data sh -c ': >ready; exec sleep 60')" = "signal 15" ]
	grep -q 'samples* in a.data' said
	# Without a command, too: another one says when the recording runs.
	rm ready said
	(
		until [ -s b.data ]; do sleep 0.05; done
		: >ready
	) 3>&- &
	[ "$(ended alone INT record -e cpu-clock -o b.data -p $$)" = "signal 2" ]
	grep -q 'samples* in b.data' said
	# A command that takes Ctrl-C for itself keeps its status.
	rm ready said
	[ "$(ended group INT record -e cpu-clock -o a.data sh -c 'trap "exit 7" INT; : >ready; while :; do sleep 0.02; done')" = "status 7" ]
}

@test "13.7: a recorded command that died of a signal is reported in a line" {
	run --separate-stderr "$TALLY" record -e cpu-clock -o a.data sh -c 'kill -SEGV $$'
	[ "$status" = 139 ]
	[ "$(grep -c 'tally record: sh was ended by a signal: Segmentation fault' <<<"$stderr")" = 1 ]
}

@test "13.9: what a full disk left is said as it is" {
	"$TALLY" record -q -e cpu-clock -o f.data true
	cp f.data first
	for kib in 0 1 2 3 4 5 6 7 8 10; do
		rm -f f.data.old
		cp first f.data
		# SIGXFSZ is ignored, so that a write fails as on a full disk.
		run -125 bash -c 'trap "" XFSZ; ulimit -f "$1"; exec "$2" record -e cpu-clock -F 9000 -o f.data -- \
			sh -c "i=0; while [ \$i -lt 60000 ]; do i=\$((i+1)); done"' - "$kib" "$TALLY"
		if [[ $output == *"nothing was recorded"* ]]; then
			cmp f.data first # the old one is back
			[ ! -e f.data.old ]
			nothing=1
		else
			[[ $output == *"the part before that can be read"* ]]
			cmp f.data.old first
			"$TALLY" script -i f.data >lines
			lines=$(wc -l <lines)
		fi
		[[ $output != *"stays readable"* ]]
	done
	[ "$nothing" = 1 ]
	[ "$lines" -gt 0 ]
	# Nothing was there before: nothing is left.
	rm f.data
	run -125 bash -c 'trap "" XFSZ; ulimit -f 1; exec "$1" record -e cpu-clock -o f.data -- true' - "$TALLY"
	[ ! -e f.data ]
}

@test "13.9: a stream that no room is for does not claim to be readable" {
	[ -w /dev/full ] || skip "there is no /dev/full"
	run -125 bash -c '"$1" record -e cpu-clock -o - -- true >/dev/full' - "$TALLY"
	[[ $output == *"no space left"*"nothing was recorded"* || $output == *"No space left"* ]]
	[[ $output != *"can be read"* && $output != *"readable"* ]]
}

@test "13.17: children that run already are named with -p and included with --children-of" {
	# A parent that only waits, a child that works, and a grandchild.
	sh -c 'sh -c "sh -c \"while :; do :; done\" & echo \$! >grandchild; while :; do :; done" & echo $! >child; wait' 3>&- &
	parent=$!
	until [ -s child ] && [ -s grandchild ]; do sleep 0.05; done
	run -0 "$TALLY" record -e cpu-clock -p $parent -o p.data -- sleep 0.3
	[[ $output == *"2 processes below $parent run already and are not recorded: --children-of $parent includes them"* ]]
	"$TALLY" script -F pid -i p.data >p.txt
	# Under load one of them may have no turn.
	for _ in $(seq 20); do
		"$TALLY" record -q -e cpu-clock --children-of $parent -o c.data -- sleep 0.2
		"$TALLY" script -F pid -i c.data | tr -d ' ' | sort -u >c.txt
		grep -qx "$(cat child)" c.txt && grep -qx "$(cat grandchild)" c.txt && break
	done
	run -0 "$TALLY" stat -e task-clock -p $parent sleep 0.02
	[[ $output == *"2 processes below $parent run already and are not counted"* ]]
	run -0 "$TALLY" stat -x, -e task-clock --children-of $parent sleep 0.3
	counted=${output%%,*}
	kill "$(cat grandchild)" "$(cat child)" $parent
	[ ! -s p.txt ]
	grep -qx "$(cat child)" c.txt
	grep -qx "$(cat grandchild)" c.txt
	[ "${counted%%.*}" -gt 0 ]
	run "$TALLY" record -e cpu-clock --children-of 999999999 -o n.data
	[ "$status" = 1 ]
	[[ $output == *"no process 999999999"* ]]
}

@test "13.19: processes that the command leaves behind are named" {
	run -0 "$TALLY" record -e cpu-clock -o d.data sh -c 'setsid sh -c "echo \$\$ >daemon; exec sleep 60" >/dev/null 2>&1 3>&- &
		until [ -s daemon ]; do sleep 0.01; done'
	[[ $output == *"the command has ended; 1 process that it started still runs and is not recorded any more: -p $(cat daemon) records it"* ]]
	kill "$(cat daemon)"
	run -0 "$TALLY" record -e cpu-clock -o d.data sh -c 'for i in 1 2 3; do sh -c "true & wait; true"; done'
	[[ $output != *"still run"* ]]
}

@test "13.19: on a terminal record -a says what ends it" {
	command -v script >/dev/null ||
		skip "script(1) is not installed: there is no terminal to record on; the other tests record without one"
	"$TALLY" record -q -e cpu-clock -C 0 -o t.data -- true 2>/dev/null || skip "the whole system cannot be recorded here"
	rm t.data
	script -qec "'$TALLY' record -e cpu-clock -C 0 -o t.data & until [ -s t.data ]; do sleep 0.05; done; kill -INT \$!; wait" said.txt >/dev/null 3>&-
	grep -q 'Ctrl-C ends it' said.txt
	# A command ends it by itself, and no terminal has no Ctrl-C.
	script -qec "'$TALLY' record -e cpu-clock -C 0 -o t.data -- true" said.txt >/dev/null 3>&-
	[ "$(grep -c 'Ctrl-C' said.txt)" = 0 ]
	"$TALLY" record -e cpu-clock -p $$ -o t.data -- true 2>said.txt
	[ "$(grep -c 'Ctrl-C' said.txt)" = 0 ]
}

@test "13.19: a recording that may not be read says whose it is and what to do" {
	[ "$(id -u)" = 0 ] || skip "needs root, to run as another user"
	command -v setpriv >/dev/null || skip "setpriv is not installed: no test runs as another user"
	folder=$(mktemp -d)
	chmod 755 "$folder"
	cp probe.data "$folder/perf.data"
	chmod 600 "$folder/perf.data"
	cd /
	run -1 setpriv --reuid 65534 --clear-groups "$TALLY" report -i "$folder/perf.data"
	said=$output
	chmod 700 "$folder"
	run -1 setpriv --reuid 65534 --clear-groups "$TALLY" script -i "$folder/perf.data"
	rm -r "$folder"
	[[ $said == *"it belongs to root"*"\`sudo chown \$(id -u) $folder/perf.data\`"*"sudo"* ]]
	[[ $output == *"a folder of its path"* ]]
}

@test "13.19: an empty pipe, and an empty file" {
	run -1 bash -c ': | "$1" report' - "$TALLY"
	[ "$output" = "tally report: standard input: it is empty: the command before the pipe wrote no recording; see its messages, or name a file" ]
	run -1 bash -c 'printf x | "$1" script -i -' - "$TALLY"
	[[ $output == *"standard input: 1 byte: too few"* ]]
	: >empty
	run -1 "$TALLY" report -i empty
	[[ $output == *"empty: it is empty: no recording was written to it"* ]]
}

@test "13.30: without -o a recording is a stream into a pipe, and a file otherwise" {
	"$TALLY" record -e cpu-clock sh -c 'echo from the command' 2>said | cat >stream
	[ "$(head -c 8 stream)" = PERFILE2 ]
	[ ! -e perf.data ]
	grep -qx 'from the command' said
	grep -q 'samples* in standard output' said
	"$TALLY" script -i - <stream | grep -q cpu-clock
	if command -v perf >/dev/null; then
		perf script -i - <stream 2>/dev/null | grep -q cpu-clock
	fi
	"$TALLY" record -q -e cpu-clock sh -c 'echo from the command' >regular
	[ "$(cat regular)" = "from the command" ]
	"$TALLY" script -i perf.data | grep -q cpu-clock
	rm perf.data
	"$TALLY" record -q -e cpu-clock -o named.data sh -c 'echo from the command' | cat >regular
	[ "$(cat regular)" = "from the command" ]
	[ -s named.data ]
	"$TALLY" stat record -e task-clock true 2>/dev/null | cat >stream
	[ "$(head -c 8 stream)" = PERFILE2 ]
	[ ! -e perf.data ]
}
