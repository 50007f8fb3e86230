#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally list: kinds, patterns, tables of a CPU, and that perf's names are all there.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TABLES="$BATS_TEST_DIRNAME/../unit/vendor/tables"
	unset TALLY_EVENTS PERF_CPUID
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir -p sys/bus/event_source/devices/{cpu,uncore_imc_0,software}/events trace/events/{sched/sched_{switch,waking},ftrace/{function,without_id}}
	touch trace/events/{sched/sched_{switch,waking},ftrace/function}/id
	printf 'event=0x3c\n' >sys/bus/event_source/devices/cpu/events/cpu-cycles
	printf '0.5\n' >sys/bus/event_source/devices/cpu/events/cpu-cycles.scale
	printf 'Joules\n' >sys/bus/event_source/devices/cpu/events/cpu-cycles.unit
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

other() { # arguments: the list of a made-up machine
	"$TALLY" list --sysfs sys --tracefs trace --events "$TABLES/kernel" --cpuid GenuineIntel-6-55-7 "$@"
}

@test "every name that perf lists is listed" {
	perf list hw sw cache tracepoint 2>/dev/null | sed -n 's/ *\[.*//; s/^ *//; s/ OR /\n/gp; t; /./p' |
		grep -v '^List of\|:$' | sort -u >theirs
	[ -s theirs ] || skip "perf lists nothing here"
	"$TALLY" list 2>/dev/null | sed -n 's/ *\[.*//; s/^  //p' | sed 's/ OR /\n/g' | sort -u >ours
	run -0 comm -23 theirs ours
	[ -z "$output" ]
}

@test "kinds choose" {
	run other --names sw
	[ "$status" = 0 ]
	[[ $output = *page-faults* && $output = *duration_time* && $output != *cycles* ]]
	run -0 other --names tracepoint
	[ "$output" = $'ftrace:function\nsched:sched_switch\nsched:sched_waking' ]
	run -0 other --names metric
	[ "$output" = CPI ]
	run -0 other metricgroup
	[ "$output" = $'Pipeline\nSummary' ]
	run -0 other --names pmu
	[[ $output = *cpu/cpu-cycles/* && $output = *unc_m_cas.rd* && $output != *.scale* ]]
}

@test "patterns choose, in any case, and say when they find nothing" {
	run -0 other --names L2_RQSTS
	[ "$output" = l2_rqsts.demand_data_rd_miss ]
	run -0 other --names 'unc_?_*'
	[ "$output" = $'unc_c_lookup\nunc_m_cas.rd' ]
	run other no-such-event
	[ "$status" = 1 ]
	[[ $output = *no-such-event* ]]
}

@test "what the machine lacks is marked, not hidden" {
	run -0 other -q unc_
	[[ $output = *"unc_c_lookup "*", not on this machine]"* ]]
	[[ $output = *"unc_m_cas.rd "*"[Vendor event]"* ]]
}

@test "deprecated events are listed when asked for" {
	run other --names old.name
	[ "$status" = 1 ]
	run -0 other --names --deprecated old.name
	[ "$output" = old.name ]
}

@test "--long shows what an event stands for" {
	run -0 other --long unc_m_cas
	[[ $output = *"PMU: uncore_imc"* ]]
	[[ $output = *"= event=0x4,ch_mask=0x01,fc_mask=0x07,umask=0x3,config1=0x40033"* ]]
	run -0 other --long CPI
	[[ $output = *"= cpu_clk_unhalted.thread / inst_retired.any"* ]]
}

@test "--json is JSON with all of it" {
	other --json >list.json
	run python3 - <<-'END'
		import json
		rows = {(row["kind"], row["name"]): row for row in json.load(open("list.json"))}
		cas = rows["vendor", "unc_m_cas.rd"]
		assert cas["unit"] == "Bytes" and cas["scale"] == 64 and cas["per_package"] and cas["supported"], cas
		assert '"demand"' in rows["vendor", "l2_rqsts.demand_data_rd_miss"]["long_description"]
		assert not rows["vendor", "unc_c_lookup"]["supported"]
		cycles = rows["pmu", "cpu/cpu-cycles/"]
		assert cycles["terms"] == "event=0x3c" and cycles["scale"] == 0.5 and cycles["unit"] == "Joules", cycles
		assert rows["metric", "CPI"]["groups"] == "Summary;Pipeline"
		assert rows["hardware", "cycles"]["alias"] == "cpu-cycles"
	END
	echo "$output"
	[ "$status" = 0 ]
}

@test "tables that were asked for and are not there are an error, damaged ones too" {
	run --separate-stderr "$TALLY" list --events "$TABLES/kernel" --cpuid Nobody-1-2-3
	[ "$status" = 1 ]
	[[ $stderr = *Nobody-1-2-3* ]]
	mkdir -p bad/x86/toy
	cp "$TABLES/kernel/x86/mapfile.csv" bad/x86/
	printf '[{"EventName": "a"' >bad/x86/toy/a.json
	run --separate-stderr "$TALLY" list --events bad --cpuid GenuineIntel-6-55-7
	[ "$status" = 1 ]
	[[ $stderr = *a.json*"offset 18"* ]]
}

@test "without tables the rest is listed and a line says so" {
	run --separate-stderr env HOME=/nowhere XDG_CACHE_HOME=/nowhere PERF_CPUID=Nobody-1-2-3 "$TALLY" list sw vendor
	[ "$status" = 0 ]
	[[ $output = *page-faults* ]]
	[[ $stderr = *Nobody-1-2-3* ]]
}

@test "events of another CPU are not on this machine; those with a model need a PMU of it" {
	run "$TALLY" list --events "$TABLES/kernel" --cpuid GenuineIntel-6-55-77 --json vendor
	[ "$status" = 0 ]
	[[ $output = *'"supported":false'* && $output != *'"supported":true'* ]]
	mkdir -p arm/bus/event_source/devices/{imx8_ddr0,hisi_sccl3_ddrc1,armv8_pmuv3_0}
	echo i.MX8MM >arm/bus/event_source/devices/imx8_ddr0/identifier
	echo 0x31 >arm/bus/event_source/devices/hisi_sccl3_ddrc1/identifier
	echo 0-3 >arm/bus/event_source/devices/armv8_pmuv3_0/cpus
	run -0 "$TALLY" list --sysfs arm --events "$TABLES/kernel" --cpuid 0x00000000410fd0c0 -q vendor
	[[ $output = *"  ddr.cycles "*" [Vendor event]"* ]]
	[[ $output = *"  ddrc.reads "*", not on this machine]"* ]]
	[[ $output = *"  sw_incr "*" [Vendor event]"* ]]
}

@test "13.31: options of perf list: -j, --no-desc, --details, --raw-dump, --cputype" {
	other --json >long.json
	other -j >short.json
	cmp long.json short.json
	other --long >long.txt
	other --details >details.txt
	cmp long.txt details.txt
	run -0 other L2_RQSTS
	[ "${#lines[@]}" -gt 1 ]
	run -0 other --no-desc L2_RQSTS
	[ "${#lines[@]}" = 1 ]
	run -0 other --raw-dump vendor
	[[ " $output" = *" unc_m_cas.rd "* && ${#lines[@]} = 1 && $output != *unc_c_lookup* ]]

	mkdir -p hybrid/bus/event_source/devices/cpu_{core,atom}/events
	echo event=0x3c >hybrid/bus/event_source/devices/cpu_core/events/cpu-cycles
	echo event=0x3d >hybrid/bus/event_source/devices/cpu_atom/events/cpu-cycles
	run -0 --separate-stderr "$TALLY" list --sysfs hybrid --cputype atom --names pmu
	[ "$output" = cpu_atom/cpu-cycles/ ]
}

@test "13.31: through a pipe each line is an event or its description, without headings" {
	other -q hw sw >piped
	run -1 grep -v '^  [^ ].*\]$' piped
	command -v script >/dev/null ||
		skip "script(1) is not installed: headings on a terminal are not checked; lines through a pipe were, above"
	script -qec "TALLY_PAGER= $TALLY list sw" /dev/null </dev/null | tr -d '\r' >shown
	grep -qx 'Software events:' shown
}
