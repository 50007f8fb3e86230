#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Counting and recording in cgroups of version 2: two of the test's own, each with a process that runs.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TOP='' NAME="tally-test-$$"
	[ "$(id -u)" = 0 ] || return 0
	TOP=$(awk '$3 == "cgroup" && $4 ~ /(^|,)perf_event(,|$)/ {v1 = 1} $3 == "cgroup2" {top = $2} END {if (!v1) print top}' /proc/self/mounts)
	[ -n "$TOP" ] && mkdir "$TOP/$NAME" 2>/dev/null || { TOP=''; return 0; }
	for group in a b idle; do
		mkdir "$TOP/$NAME/$group"
	done
	for group in a b; do
		sh -c "echo \$\$ >$TOP/$NAME/$group/cgroup.procs; while :; do :; done" &
		echo $! >>"$BATS_FILE_TMPDIR/pids"
	done 3>&-
}

teardown_file() {
	[ -n "$TOP" ] || return 0
	while read -r pid; do
		kill "$pid"
		while [ -e "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status"; do sleep 0.05; done
	done <"$BATS_FILE_TMPDIR/pids"
	rmdir "$TOP/$NAME"/* "$TOP/$NAME" 2>/dev/null || true
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	[ -n "$TOP" ] || skip "needs root and a hierarchy of cgroup2 that perf events use"
	"$TALLY" stat -a -x, -e cpu-clock -- true 2>/dev/null || skip "CPUs cannot be counted here"
}

# The counts of an event by cgroup: NAME COUNT, in the order of the output.
counts() {
	awk -F, -v name="$NAME" '{sub(name "/?", "", $4); print $4, ($1 + 0 > 0)}'
}

@test "--for-each-cgroup takes names and patterns, as perf's" {
	run -0 --separate-stderr "$TALLY" stat -a -x, -o named -e cpu-clock --for-each-cgroup "$NAME/a,$NAME/idle" sleep 0.2
	[ "$(grep "^[0-9<]" named | counts)" = $'a 1\nidle 0' ]
	run -0 "$TALLY" stat -a -x, -o pattern -e cpu-clock --for-each-cgroup "^$NAME/" sleep 0.2
	[ "$(grep "^[0-9<]" pattern | counts)" = $'a 1\nb 1\nidle 0' ]
	run -0 "$TALLY" stat -a -x, -o all -e cpu-clock --for-each-cgroup "$NAME/idle,$NAME\$" sleep 0.2
	[ "$(grep "^[0-9<]" all | counts)" = $'idle 0\n 1' ]
	run -1 "$TALLY" stat -a -e cpu-clock --for-each-cgroup "no-such-$NAME.*" true
	[[ "$output" = *"no cgroup matches 'no-such-$NAME.*'"* ]]
	run -1 "$TALLY" stat -a -e cpu-clock --for-each-cgroup 'x\(' true
	[[ "$output" = *"cgroups: 'x\\(' is not a regular expression: "* ]]
	run -1 "$TALLY" stat -a -e cpu-clock --for-each-cgroup 'x\{200\}\{200\}\{200\}' true
	[[ "$output" = *"repeats too much"* ]]
}

@test "-G counts each event in its cgroup" {
	"$TALLY" stat -a -x, -o each -e cpu-clock,task-clock -G "$NAME/a,$NAME/idle" sleep 0.2
	[ "$(grep "^[0-9<]" each | counts)" = $'a 1\nidle 0' ]
}

@test "record keeps to cgroups, and report has a row for each, as perf" {
	"$TALLY" record -q -a -e cpu-clock -F 999 -o only.data --for-each-cgroup "$NAME/[ab]" sleep 0.3
	[ "$("$TALLY" script -i only.data -F pid | sort -u | tr -d ' ')" = "$(sort "$BATS_FILE_TMPDIR/pids")" ]
	"$TALLY" record -q -a --all-cgroups -e cpu-clock -F 999 -o all.data sleep 0.3
	"$TALLY" report --stdio -q -s cgroup -i all.data >ours
	grep -q "/$NAME/a\$" ours
	grep -q "/$NAME/b\$" ours
	run -1 grep idle ours
	command -v perf >/dev/null || skip "perf is not installed: its rows are not compared"
	perf report --stdio -q -s cgroup -i all.data 2>/dev/null | sed 's/ *$//' | grep . | sort >perfs
	sed 's/ *$//' ours | grep . | sort | diff - perfs
}
