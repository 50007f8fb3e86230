#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Completion of what stands behind an option: keys, events, processes, modes.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	: >a-file
	shopt -u nullglob
	# shellcheck disable=SC1091
	source "$TALLY_SOURCE/completions/tally.bash"
	PATH="$(dirname "$TALLY"):$PATH"
}

offered() { # words of the line, the last one unfinished
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_tally
	all=" ${COMPREPLY[*]} "
}

@test "13.21: bash completes the keys of report -s, also behind a comma and in --sort=" {
	for way in -s --sort; do
		offered tally report "$way" ''
		for key in comm dso symbol pid tid cpu; do
			[[ "$all" == *" $key "* ]]
		done
		[[ "$all" != *a-file* ]]
	done
	offered tally report -s comm,pi
	[ "$all" = " comm,pid " ]
	offered tally report --sort = ti
	[ "$all" = " tid time " ]
	offered tally report -F samp
	[ "$all" = " sample " ]
}

@test "13.21: every key and mode that completion offers is one that tally takes" {
	offered tally report -s ''
	for key in "${COMPREPLY[@]}"; do
		run "$TALLY" report -s "$key" -i none
		[ "$status" = 1 ]
	done
	offered tally report -F ''
	for field in "${COMPREPLY[@]}"; do
		run "$TALLY" report -F "$field" -i none
		[ "$status" = 1 ]
	done
	offered tally report --call-graph ''
	[ "${#COMPREPLY[@]}" -ge 4 ]
	for how in "${COMPREPLY[@]}"; do
		run "$TALLY" report --call-graph "$how" -i none
		[ "$status" = 1 ]
	done
}

@test "13.21: bash completes events behind -e, those with a colon too" {
	offered tally record -e cpu-cl
	[ "$all" = " cpu-clock " ]
	offered tally stat --event task-cl
	[ "$all" = " task-clock " ]
	offered tally stat -e cpu-clock,task-cl
	[ "$all" = " cpu-clock,task-clock " ]
	"$TALLY" list --names 2>/dev/null | grep -qx sched:sched_switch || skip "no tracepoints can be read here"
	offered tally record -e sched : sched_swi
	[ "$all" = " sched_switch " ]
}

@test "13.21: bash completes processes behind -p, modes behind --call-graph, and files where files go" {
	offered tally record -p ''
	[[ "$all" == *" $$ "* ]]
	[[ "$all" != *a-file* ]]
	offered tally report --pid ''
	[[ "$all" == *" $$ "* ]]
	for command in record top profile; do
		offered tally "$command" --call-graph ''
		[ "$all" = " auto fp dwarf lbr no " ]
	done
	offered tally report -d ''
	[ "${#COMPREPLY[@]}" = 0 ]
	offered tally report -i a-f
	[ "$all" = " a-file " ]
	offered tally --buildid-dir . rep
	[[ "$all" == *" report "* ]]
}

@test "13.21: zsh's completion has no mistake of syntax" {
	command -v zsh >/dev/null ||
		skip "zsh is not installed: its completion is not parsed; that of bash is tested above"
	zsh -n "$TALLY_SOURCE/completions/_tally"
}
