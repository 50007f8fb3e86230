#!/usr/bin/env bats
# Scripts for recordings: in any language, over the JSON of tally script.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "13.34: the page's script, as it is printed there, counts what perf script prints" {
	perf record -q -e sched:sched_switch -o run.data -- sh -c 'sleep 0.01; sleep 0.01' 2>said ||
		skip "perf cannot record tracepoints here: $(head -n 1 said)"
	awk '/^\$ cat switches.py/ {on = 1; next} /^\$ tally/ {on = 0} on' "$TALLY_SOURCE/man/tally-script.1.scd" >switches.py
	grep -q trace_fields switches.py
	"$TALLY" script -i run.data --json | python3 switches.py >got
	[ -s got ]
	perf script -i run.data -F trace | sed 's/.*next_comm=\(.*\) next_pid=.*/\1/' | sort | uniq -c |
		sed 's/^ *//' | sort -rn >all
	# Names of one count come in any order, so that the fifth may be one of several.
	diff <(cut -d ' ' -f 1 got) <(head -n 5 all | cut -d ' ' -f 1)
	[ -z "$(grep -vxFf all got)" ]
}

@test "13.34: fields of tracepoints are JSON: numbers, strings, addresses, bytes of arrays" {
	perf record -q -e raw_syscalls:sys_enter -e syscalls:sys_enter_openat -e sched:sched_process_exec -o run.data -- \
		cat /dev/null 2>said || skip "perf cannot record tracepoints here: $(head -n 1 said)"
	"$TALLY" script -i run.data --json >objects
	python3 - <<-'END'
		import json, struct
		seen = {}
		for record in map(json.loads, open("objects")):
		    if record.get("event"):
		        seen.setdefault(record["event"], []).append(record)
		for record in seen["raw_syscalls:sys_enter"]:
		    fields = record["trace_fields"]
		    raw = bytes.fromhex(record["fields"]["raw"])
		    assert fields["id"] == struct.unpack_from("<q", raw, 8)[0], record
		    assert bytes.fromhex(fields["args"]) == raw[16:64], record
		    assert list(fields) == ["id", "args"], record
		names = [record["trace_fields"]["filename"] for record in seen["sched:sched_process_exec"]]
		assert any(name.endswith("/cat") for name in names), names
		assert all(record["trace_fields"]["filename"].startswith("0x") for record in seen["syscalls:sys_enter_openat"])
	END
}

@test "13.34: -s FILE and NAME are refused with the line that does the same" {
	run "$TALLY" script -s count.py
	[ "$status" = 2 ]
	[[ $output = *'tally script --json | python3 count.py'* ]]
	mkdir -p exec/scripts/python/bin
	: >exec/scripts/python/bin/switches-report
	PERF_EXEC_PATH=$PWD/exec run "$TALLY" script switches
	[ "$status" = 2 ]
	[[ $output = *"'switches' is a script of perf"*'tally script --json | PROGRAM'* ]]
}
