#!/usr/bin/env bats
# What an ordinary user may do at each kernel.perf_event_paranoid, and what a refusal says.

bats_require_minimum_version 1.5.0
load frame

LEVEL=/proc/sys/kernel/perf_event_paranoid

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_root
	command -v setpriv >/dev/null ||
		skip "setpriv is not installed: no test runs as another user; tests/unit/kernel has the messages by errno"
	[ -w "$LEVEL" ] || skip "perf_event_paranoid cannot be set here"
	before=$(cat "$LEVEL")
	chmod 777 "$BATS_TEST_TMPDIR"
	cp "$TALLY" ./tally-copy
	chmod 755 ./tally-copy
	for folder in "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")" "$(dirname "$(dirname "$BATS_TEST_TMPDIR")")"; do
		chmod o+x "$folder"
	done
}

teardown() {
	[ -z "${before:-}" ] || echo "$before" >"$LEVEL"
}

as_user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs "$@"
}

@test "own programs in user space work at 2" {
	echo 2 >"$LEVEL"
	run -0 as_user ./tally-copy record -o u.data -- xz -6 -k -c /usr/bin/perf
	grep -aq PERFILE2 u.data
	run as_user ./tally-copy report -i u.data --no-children -g none
	[ "$status" = 0 ]
	[[ "$output" == *liblzma* ]]
	[[ "$output" != *"[k]"* ]]
}

@test "what 2 refuses is explained" {
	echo 2 >"$LEVEL"
	run as_user ./tally-copy record -a -e cpu-clock -o u.data -- true
	[ "$status" != 0 ]
	[[ "$output" == *"perf_event_paranoid"* ]]
	[[ "$output" == *"cap_perfmon"* || "$output" == *"CAP_PERFMON"* ]]
	[[ "$output" != *"SYS_ADMIN"* ]]
	run as_user ./tally-copy record -e cpu-clock:k -o u.data -- true
	[ "$status" != 0 ]
	[[ "$output" == *"perf_event_paranoid"* ]]
	run as_user ./tally-copy record -e cpu-clock -p 1 -o u.data
	[ "$status" != 0 ]
	[[ "$output" == *"CAP_PERFMON"* || "$output" == *"cap_perfmon"* ]]
}

@test "3 and 4: user space works, or the refusal names the setting" {
	for level in 3 4; do
		echo "$level" >"$LEVEL"
		run as_user ./tally-copy record -o u.data -- true
		if [ "$status" != 0 ]; then
			[[ "$output" == *"perf_event_paranoid"*"$level"* ]]
		fi
		run as_user ./tally-copy record -a -e cpu-clock -o u.data -- true
		[ "$status" != 0 ]
		[[ "$output" == *"perf_event_paranoid"* ]]
	done
}

@test "13.4: stat of what is not permitted says so once, with perf's exit status, and runs nothing" {
	echo 2 >"$LEVEL"
	for form in "" -x, -j --json; do
		# shellcheck disable=SC2086 # one word or none
		run as_user ./tally-copy stat $form -a -- touch ran
		[ "$status" = 255 ]
		[ "$(grep -c perf_event_paranoid <<<"$output")" = 1 ]
		[[ $output != *"<not"* ]]
		[ ! -e ran ]
	done
	command -v perf >/dev/null ||
		skip "perf is not installed: the exit status is compared with 255 in tests/cli/messages.bats"
	run as_user perf stat -a -- true
	[ "$status" = 255 ]
}

@test "13.4: what is not permitted beside what is: its word, and the reason once in every form" {
	echo 2 >"$LEVEL"
	run --separate-stderr as_user ./tally-copy stat -o counts -e task-clock,task-clock:k,page-faults:k -- true
	[ "$status" = 0 ]
	[ "$(grep -c '<not permitted>' counts)" = 2 ]
	[ "$(grep -c 'perf_event_paranoid is 2' counts)" = 1 ]
	[ -z "$stderr" ]
	for form in -x, -j; do
		run -0 --separate-stderr as_user ./tally-copy stat "$form" -o counts -e task-clock,task-clock:k,page-faults:k -- true
		[ "$(grep -c '<not permitted>' counts)" = 2 ]
		[ "$(grep -c 'task-clock:k and 1 more: kernel.perf_event_paranoid is 2' <<<"$stderr")" = 1 ]
	done
}

@test "13.4: stat of another user's process names the process as the cause, as record does" {
	for level in 1 2; do
		echo "$level" >"$LEVEL"
		run timeout -s KILL 20 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all ./tally-copy stat -p 1 -e task-clock,page-faults -- true
		[ "$status" = 255 ]
		[[ $output = *"this user may not trace process 1"* ]]
		[[ $output != *perf_event_paranoid* ]]
	done
	run as_user ./tally-copy stat -a --per-thread -e task-clock -- true
	[ "$status" = 0 ]
	[ "$(grep -c 'threads were not permitted and have no row: this user may not trace process' <<<"$output")" = 1 ]
}
