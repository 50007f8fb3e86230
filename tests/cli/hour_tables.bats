#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# How to get vendor tables, and what fits on a terminal of `tally list`.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export LC_ALL=C
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset TALLY_EVENTS
	export XDG_CACHE_HOME="$PWD/it's a cache" PERF_CPUID=GenuineIntel-6-1-1
}

@test "13.20: without vendor tables one line says how to get them" {
	for command in "1 stat -M IPC true" "0 list metric" "0 list vendor" "1 encode --events $PWD/none no_such_event_of_any_cpu"; do
		# shellcheck disable=SC2086 # words
		run -"${command%% *}" "$TALLY" ${command#* }
		[ "$(grep -c 'no event tables for GenuineIntel-6-1-1 in .*: `tally list --get-tables` prints the commands' <<<"$output")" = 1 ]
	done
	# What needs none does not speak of them.
	run --separate-stderr "$TALLY" list sw
	[ "$status" = 0 ]
	[ -z "$stderr" ]
}

@test "13.20: the commands of list --get-tables put tables where they are found" {
	# A kernel's source as Debian packs it, with a table of one CPU.
	mkdir -p src linux-source-9.9/tools/perf/pmu-events/arch/x86/toy linux-source-9.9/kernel
	printf 'Family-model,Version,Filename,EventType\nGenuineIntel-6-1,v1,toy,core\n' \
		>linux-source-9.9/tools/perf/pmu-events/arch/x86/mapfile.csv
	echo '[{"MetricName": "twice", "MetricExpr": "faults * 2", "MetricGroup": "Toy"}]' \
		>linux-source-9.9/tools/perf/pmu-events/arch/x86/toy/metrics.json
	tar -cJf src/linux-source-9.9.tar.xz linux-source-9.9 || skip "tar or xz is missing"
	"$TALLY" list --get-tables >commands
	sh -n commands
	grep -q 'kernel=https://git.kernel.org/' commands
	if grep -q apt-get commands; then
		sed -e "s|/usr/src|$PWD/src|" -e '/apt-get/d' commands >here
		sh -e here
	else
		sed -n '/^tables=/p; /^mkdir/p; /^cp/p' commands | sed 's|"$source"|linux-source-9.9|' >here
		sh -e here
	fi
	[ -f "$XDG_CACHE_HOME/pmu-events/x86/mapfile.csv" ]
	[ ! -e "$XDG_CACHE_HOME/pmu-events/kernel" ]
	run -0 "$TALLY" list --names metric
	[[ $output = *twice* ]]
	[[ $output != *"no event tables"* ]]
}

@test "13.20: no line of list is cut at 80 columns" {
	command -v script >/dev/null || skip "script(1) is not installed: there is no terminal of 80 columns"
	for columns in 80 60; do
		script -qc "stty cols $columns && '$TALLY' --no-pager list hw cache sw" /dev/null </dev/null >out
		tr -d '\r' <out | grep -q 'not on this machine\]$\|\[Hardware event\]$'
		[ "$(tr -d '\r' <out | awk -v most=$columns 'length($0) > most' | wc -l)" = 0 ]
	done
}
