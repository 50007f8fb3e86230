#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Functions of Go programs without a symbol table, from the table that Go's runtime needs itself.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	command -v python3 >/dev/null ||
		skip "python3 is not installed: it makes the programs of Go; tests/unit/elf reads tables of Go that it makes itself"
}

@test "13.13: report and script name the functions of a stripped Go program, of each layout of its table" {
	cd "$BATS_TEST_TMPDIR"
	for layout in go_1_2 go_1_16 go_1_20; do
		# the code is at byte 128 of the file: main.main 32 bytes, runtime.gc 96
		program=$TALLY_SOURCE/fuzz/corpus/fuzz_elf/$layout
		python3 "$TALLY_SOURCE/tests/cli/recording.py" it.data <<-END
			comm 7 hello
			map 7 401000 1000 0 $program
			sample 7 401085
			times 2
			sample 7 4010ff
		END
		run -0 "$TALLY" report -i it.data --stdio -q -s symbol
		[[ "${lines[0]}" == *"75.00%"*"[.] main.main"* ]]
		[[ "${lines[1]}" == *"25.00%"*"[.] runtime.gc"* ]]
		run -0 "$TALLY" script -i it.data -F ip,sym
		[[ "$output" == *"401085 main.main"*"4010ff runtime.gc"* ]]
	done
}
