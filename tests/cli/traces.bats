#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Options and terms about traces of hardware, on a machine without such hardware: what is missing is said, and perf
# refuses the same.  tests/unit has areas that a thread fills, and recordings of others written again.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	if compgen -G '/sys/bus/event_source/devices/intel_pt' >/dev/null ||
		compgen -G '/sys/bus/event_source/devices/arm_spe_*' >/dev/null; then
		skip "this machine has hardware that writes traces: only refusals are tested here"
	fi
}

refused() { # WHY WORD...
	local why=$1
	shift
	run "$TALLY" record "$@" -- true
	[ "$status" -ne 0 ]
	[ ! -e perf.data ]
	[[ "$output" == *"$why"* ]] || {
		echo "tally record $*: $output"
		return 1
	}
}

@test "what needs a trace is refused without one, with what is missing" {
	refused "this machine has no hardware that writes one" -e cpu-clock -S
	refused "this machine has no hardware that writes one" -e cpu-clock --snapshot=e4096
	refused "need an event that writes one" -e cpu-clock --aux-sample
	refused "an AUX area (-m ,PAGES)" -e cpu-clock -m 64,64
	refused "as the leader of its group" -e cpu-clock/aux-sample-size=64/
	refused "aux-output puts samples into the trace" -e cpu-clock/aux-output/
	refused "aux-action starts, pauses or resumes the trace" -e cpu-clock/aux-action=pause/
	refused "unknown PMU intel_pt" -e intel_pt//u
}

@test "perf refuses these, too" {
	command -v perf >/dev/null || skip "perf is not installed: only tally's own refusals are tested"
	for options in "-e cpu-clock -S" "-e cpu-clock --aux-sample" "-e intel_pt//u"; do
		# shellcheck disable=SC2086  # words
		run perf record $options -o by-perf.data -- true
		[ "$status" -ne 0 ]
	done
}

@test "values that are not what an option takes are refused" {
	refused "is not how a snapshot is taken" -Sx
	refused "is not how a snapshot is taken" -S4x
	refused "is not a number of bytes" --aux-sample=much
	refused "is not the size of an AUX area" -m 64,x
	refused "is not the size of an AUX area" -m 64,
	refused "is not a ring size" -m x,64
}
