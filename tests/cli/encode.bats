#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally encode: its text, its JSON, and what it says of wrong names, on a made-up machine.

setup() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_TEST_TMPDIR" || return 1
	local pmus=sys/bus/event_source/devices
	mkdir -p "$pmus"/{uncore_imc_0,uncore_imc_1,cpu}/{format,events}
	echo 4 >"$pmus/cpu/type"
	echo config:0-7 >"$pmus/cpu/format/event"
	echo config1:0-15 >"$pmus/cpu/format/ldlat"
	echo event=0xcd,ldlat=3 >"$pmus/cpu/events/mem-loads"
	for i in 0 1; do
		echo $((20 + i)) >"$pmus/uncore_imc_$i/type"
		echo $i >"$pmus/uncore_imc_$i/cpumask"
		echo config:0-7 >"$pmus/uncore_imc_$i/format/event"
		echo event=0x4 >"$pmus/uncore_imc_$i/events/reads"
		echo MiB >"$pmus/uncore_imc_$i/events/reads.unit"
		echo 6.103515625e-5 >"$pmus/uncore_imc_$i/events/reads.scale"
	done
}

encode() {
	"$TALLY" encode --sysfs sys --tracefs sys "$@"
}

@test "the fields of an attr, a line each" {
	run encode cpu/event=0xc0/u
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "cpu/event=0xc0/u" ]
	[ "${lines[1]}" = "  pmu              cpu" ]
	[ "${lines[2]}" = "  type             4" ]
	[ "${lines[3]}" = "  config           0xc0" ]
	[[ "$output" == *"  exclude_kernel   1"* ]]
}

@test "--json: one object an event, of each instance of an uncore PMU" {
	encode --json '{imc/reads/,cycles}:u' >out
	python3 - <<-'END'
		import json
		events = [json.loads(line) for line in open("out")]
		assert [e["type"] for e in events] == [20, 21, 0]
		assert [e["leader"] for e in events] == [-1, -1, -1]  # the kernel takes no group over several PMUs
		assert [e["unit"] for e in events] == ["MiB", "MiB", None]
		assert [e["cpus"] for e in events] == ["0", "1", None]
		assert events[0]["scale"] == 6.103515625e-5 and events[2]["scale"] == 1
		assert events[0]["config"] == "0x4" and events[0]["pmu"] == "uncore_imc_0"
		assert all(e["exclude_kernel"] == 1 and e["exclude_user"] == 0 for e in events)
		assert all(e["event"] == "{imc/reads/,cycles}:u" for e in events)
	END
}

@test "a breakpoint, and terms about sampling" {
	encode --json mem:0x1000/8:w cs/period=1000/ cs/freq=99,no-inherit/ >out
	python3 - <<-'END'
		import json
		watch, period, freq = [json.loads(line) for line in open("out")]
		assert (watch["type"], watch["bp_type"], watch["bp_addr"], watch["bp_len"]) == (5, 2, "0x1000", 8)
		assert (period["sample_period"], period["sample_freq"], period["inherit"]) == (1000, 0, 1)
		assert (freq["sample_period"], freq["sample_freq"], freq["inherit"]) == (0, 99, 0)
	END
}

@test "terms that no member of the attr above holds, and how drivers' terms are written" {
	encode --json 'cs/call-graph=dwarf,stack-size=4096,percore,nr=7/' 'cs/@sinksize=8k,@etr,aux-sample-size=4096/' cs >out
	python3 - <<-'END'
		import json
		sampled, traced, plain = [json.loads(line)["terms"] for line in open("out")]
		assert sampled == {"call-graph": "dwarf", "stack-size": 4096, "percore": 1, "nr": 7}
		assert traced == {"aux-sample-size": 4096, "driver": "sinksize=8k,etr"}
		assert plain == {}
	END
	run -0 encode 'cs/@etr,aux-sample-size=4096,branch_type=any/'
	[[ "$output" == *"  branch_type      0x8"*"  aux-sample-size  4096"*"  driver           etr" ]]
	run -0 encode 'cpu-clock/aux-action=resume/'
	[[ "$output" == *"aux-action       resume"* ]]
	run -1 encode 'cpu-clock/aux-action=stop/'
	[[ "$output" == *"                     ^"$'\n'*"unknown aux-action stop: expected start-paused, for the event"* ]]
	run -1 encode 'cpu-clock/aux-action=pause,aux-action=resume/'
	[[ "$output" == *"aux-action=pause and aux-action=resume exclude each other"* ]]
	run encode 'cs/@etr-x/'
	[ "$status" -eq 1 ]
	[[ "$output" == *"         ^"$'\n'*"expected , or the / that ends the terms"* ]]
	run -1 encode 'cs/@etr=/'
	[[ "$output" == *"expected the driver's setting after ="* ]]
	run -1 encode 'cs/@=1/'
	[[ "$output" == *"expected key or key=value for the driver after @"* ]]
}

@test "a field given twice is ORed, as perf does, with a warning" {
	run --separate-stderr encode --json cpu/mem-loads,ldlat=0x32/
	[ "$status" -eq 0 ]
	[[ "$output" == *'"config1":"0x33"'* ]]
	[[ "$stderr" == *"ldlat is given twice"*"0x3 | 0x32"* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "a wrong name: the string, a caret, what was expected, the nearest; the others are shown" {
	run --separate-stderr encode cpu/evnt=1/ cs
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"cpu/evnt=1/"$'\n'"      ^"$'\n'*"did you mean event?"* ]]
	[[ "$output" == "cs"* ]]
}

@test "--for stat refuses terms about samples" {
	run encode --for stat cs/freq=99/
	[ "$status" -eq 1 ]
	run encode --for record cs/freq=99/
	[ "$status" -eq 0 ]
	run encode --for top cs
	[ "$status" -eq 2 ]
	run encode
	[ "$status" -eq 2 ]
}

@test "names of a vendor's table, of the CPU that is named; -v says from where" {
	tables="$BATS_TEST_DIRNAME/../unit/vendor/tables/kernel"
	run --separate-stderr encode -v --events "$tables" --cpuid GenuineIntel-6-55-7 cpu/shared/u
	[ "$status" -eq 0 ]
	[[ "$output" == *"config           0x3"* ]]
	[[ "$stderr" == *"perf's grammar: PMU cpu, vendor table of $tables"* ]]
	encode --json --events "$tables" --cpuid GenuineIntel-6-55-7 uncore_imc_0/shared/ >out
	grep -q '"origin":"table","source":"'"$tables"'"' out
	run encode --events "$tables" --cpuid GenuineIntel-6-1-1 shared
	[ "$status" -eq 1 ]
	[[ "$output" == *"no event tables for GenuineIntel-6-1-1 in $tables"* ]]
}

@test "a name of the table whose PMU this machine lacks" {
	tables="$BATS_TEST_DIRNAME/../unit/vendor/tables/kernel"
	for name in unc_c_lookup UNC_C_LOOKUP/period=1/u; do
		run --separate-stderr encode --events "$tables" --cpuid GenuineIntel-6-55-7 $name
		[ "$status" -eq 1 ]
		[[ "$stderr" == *"unc_c_lookup is an event of the PMU uncore_cbox (table of GenuineIntel-6-55-7), which sys/bus/event_source/devices does not have"* ]]
		[[ "$stderr" != *"did you mean"* ]]
	done
}

@test "--for has two words, and a similar one is named" {
	run -0 encode --for record faults
	run -2 encode --for rcord faults
	[[ "$output" == *"--for: unknown command 'rcord'; did you mean record?"* ]]
	run -2 encode --for list faults
	[[ "$output" == *"--for: unknown command 'list'; valid are stat, record"* ]]
}

@test "libpfm4's language: a PMU by name, its code where it refuses" {
	run encode --pmu skl --cpuid GenuineIntel-6-5E-3 INST_RETIRED:ANY_P:c=1:u
	[[ "$output" != *PFM_ERR_NOINIT* ]] ||
		skip "libpfm4 is not installed: only its absence is tested, in tests/unit/pfm"
	[ "$status" -eq 0 ]
	[[ "$output" == *"config           0x10000c0"* ]]
	encode --json skl::INST_RETIRED:ANY_P >out
	grep -q '"origin":"libpfm4","source":"skl::INST_RETIRED:ANY_P:e=0' out
	run encode skl::INST_RETIRED:NONE
	[ "$status" -eq 1 ]
	[[ "$output" == *"  skl::INST_RETIRED:NONE"$'\n'"                    ^"* ]]
	[[ "$output" == *"NONE is not a unit mask or modifier"*"(PFM_ERR_ATTR)"* ]]
}
