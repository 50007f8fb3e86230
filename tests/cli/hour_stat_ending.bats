#!/usr/bin/env bats
# shellcheck disable=SC2016 # small programs for sh stand in single quotes
bats_require_minimum_version 1.5.0
# tally stat: the exit status, and what is said of a command that died of a signal.

load ending

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export LC_ALL=C
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$TALLY" stat -e task-clock true 2>/dev/null || skip "events cannot be counted here"
}

@test "13.7: stat that a signal ends dies of it after it has printed its counts, as perf does" {
	[ "$(ended group INT stat -e task-clock sh -c ': >ready; exec sleep 60')" = "signal 2" ]
	grep -q 'seconds time elapsed' said
	rm ready
	[ "$(ended alone TERM stat -e task-clock sh -c ': >ready; exec sleep 60')" = "signal 15" ]
	grep -q 'seconds time elapsed' said
	rm ready
	# Without a command, too.
	[ "$(ended alone INT stat -e task-clock -I 20 -p $$ --post true --pre ': >ready')" = "signal 2" ]
}

@test "13.7: a command that takes Ctrl-C for itself keeps its status" {
	[ "$(ended group INT stat -e task-clock sh -c 'trap "exit 7" INT; : >ready; while :; do sleep 0.02; done')" = "status 7" ]
}

@test "13.7: a command that died of a signal of its own is reported in a line" {
	run --separate-stderr "$TALLY" stat -e task-clock sh -c 'kill -SEGV $$'
	[ "$status" = 139 ]
	[ "$(grep -c 'tally stat: sh was ended by a signal: Segmentation fault' <<<"$stderr")" = 1 ]
	run --separate-stderr "$TALLY" stat --timeout 50 -e task-clock sleep 60
	[ "$status" = 0 ]
	[[ $stderr != *"ended by a signal"* ]]
}

@test "13.4: the time alone, of the whole system, is measured without a word to spare" {
	run "$TALLY" stat -a -n true
	[ "$status" = 0 ]
	[[ $output = *"seconds time elapsed"* ]]
}
