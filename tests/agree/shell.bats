#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The shell tests that perf 6.1 brings, with tally in perf's place: each ends with status 0, and tally refused no call
# on the way.  A test that fails is tried with perf itself: where perf fails it too, it is skipped.
#
# Left out: daemon.sh and lock_contention.sh, which need commands that tally does without; those that need hardware or
# a debug kernel, which perf fails or skips here (record.sh, test_brstack.sh, test_data_symbol.sh, test_intel_pt.sh,
# test_java_symbol.sh, stat_bpf_*.sh, *vfs_getname.sh, test_arm_*.sh).

load frame

perf_tests=/usr/lib/perf-core/tests/shell

# A perf that is tally, and notes each call that was not understood.  What perf itself does not understand there, an
# event of Intel's CPUs and a bare `probe`, is none.
stand_in() {
	mkdir -p bin
	cat >bin/perf <<-EOF
		#!/bin/sh
		"$TALLY" "\$@"
		status=\$?
		case "\$status \$*" in
		"2 probe" | 2*slots*) ;;
		2*) echo "\$*" >>"$PWD/refused" ;;
		esac
		echo "\$*" >>"$PWD/calls"
		exit \$status
	EOF
	chmod +x bin/perf
}

passes() { # test
	[ -f "$perf_tests/$1" ] || skip "perf's shell tests are not installed"
	stand_in
	export HOME=$PWD # what record keeps
	if ! PATH="$PWD/bin:$PATH" bash "$perf_tests/$1" >tally.out 2>&1; then
		bash "$perf_tests/$1" >perf.out 2>&1 || skip "perf itself does not pass $1 here"
		echo "perf passes $1, tally does not:"
		tail -20 tally.out
		return 1
	fi
	[ -s calls ]
	[ ! -e refused ] || { echo "refused:"; cat refused; return 1; }
}

@test "13.S: perf's buildid.sh passes: the build-id cache" {
	passes buildid.sh
}

@test "13.S: perf's pipe_test.sh passes: record, inject -b and report through pipes" {
	passes pipe_test.sh
}

@test "13.S: perf's record+zstd_comp_decomp.sh passes: report -F is the same of both files" {
	passes record+zstd_comp_decomp.sh
}

@test "13.S: perf's record+probe_libc_inet_pton.sh passes: a probe in libc" {
	passes record+probe_libc_inet_pton.sh
}

@test "13.S: perf's test_uprobe_from_different_cu.sh passes" {
	passes test_uprobe_from_different_cu.sh
}

@test "13.S: perf's stat.sh and stat+shadow_stat.sh pass" {
	passes stat.sh
	passes stat+shadow_stat.sh
}

@test "13.S: perf's stat+csv_output.sh and stat+csv_summary.sh pass" {
	passes stat+csv_output.sh
	passes stat+csv_summary.sh
}

@test "13.S: perf's stat+json_output.sh passes" {
	passes stat+json_output.sh
}

@test "13.S: perf's stat_all_pmu.sh passes: every event that list names" {
	passes stat_all_pmu.sh
}

@test "13.S: perf's stat_all_metrics.sh and stat_all_metricgroups.sh pass" {
	passes stat_all_metrics.sh
	passes stat_all_metricgroups.sh
}

@test "13.S: report -F rows are perf's, in perf's order" {
	need_perf
	perf record -q -e cpu-clock -F 5000 -o a.data -- sh -c 'ls -R /usr/lib/perf-core /usr/include | sort' >/dev/null 2>&1
	for options in "-F comm,dso" "-F comm,overhead" "-F overhead,sample,period,comm" "-s comm -F overhead,sample" "-F sample,pid"; do
		# shellcheck disable=SC2086 # words
		perf report -i a.data --stdio $options 2>/dev/null | grep -v '^#' | grep . | tr -d ' ' >theirs
		[ -s theirs ] || skip "nothing was sampled"
		# shellcheck disable=SC2086
		"$TALLY" report -i a.data -q $options | grep . | tr -d ' ' | diff theirs -
	done
}
