#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally report: the rows and numbers of perf report for many command lines, on recordings made for it and on those of the
# corpus (tests/agree/report_lines.txt).

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >prog.c <<'END'
long table[64] = {1}, other_table[64] = {2}, counter = 3;
__attribute__((noinline)) long alpha(long n) { table[n & 63] += n; return n + 1; }
__attribute__((noinline)) long beta(long n) { other_table[n & 63] += alpha(n); return n; }
__attribute__((noinline)) long gamma_one(long n) { counter += beta(n); return counter; }
int main(int argc, char **argv)
{
	long s = argv[0][0];
	for (long i = 0; i < argc * 1000L; i++)
		s += gamma_one(i);
	return (int)(s & 1);
}
END
	gcc -O1 -g -o prog prog.c || return 0
	mkdir empty # for --symfs: no binary of this machine is looked at
	for kind in memory branches group modes switches history chains wide; do
		python3 "$BATS_TEST_DIRNAME/special.py" "$kind" "$PWD/prog" "$kind.data" || return 0
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s wide.data ] || skip "gcc, nm or readelf is not installed: no recordings of special samples are made"
}

@test "rows and numbers of perf report, command line by command line" {
	perf version 2>/dev/null | grep -q 'perf version 6\.1\.' ||
		skip "perf 6.1 is not installed: rows are not compared; the next tests and tests/unit/profile have known values"
	python3 "$BATS_TEST_DIRNAME/report_lines.py" "$TALLY" "$BATS_TEST_DIRNAME/report_lines.txt" \
		. ${TALLY_CORPUS:+"$TALLY_CORPUS/files"}
}

@test "branch history: trees of branches by address are those of perf, and columns have their sums" {
	run -0 --separate-stderr "$TALLY" report -q --csv -i history.data --branch-history -F sample,sym,srcline,callchain_branch_predicted,callchain_branch_abort
	[ "$(grep -cE '^cpu-clock:HG,[0-9]+,(main|gamma_one|beta|alpha),prog.c:[0-9]+,100,0$' <<<"$output")" = "${#lines[@]}" ]
	run -0 --separate-stderr "$TALLY" report -q -i history.data --branch-history -g callee
	[[ "$output" = *'main prog.c:'*'gamma_one prog.c:4 (cycles:'* ]]
	grep -v '^$' <<<"$output" | tr -d ' |' | grep . | sort >tally.txt
	perf version 2>/dev/null | grep -q 'perf version 6\.1\.' ||
		skip "perf 6.1 is not installed: trees of branches are not compared"
	PERF_CONFIG=/dev/null perf report --stdio -i history.data --branch-history -g callee 2>/dev/null |
		sed '/^#/d; s/ - *- *$//' | tr -d ' |' | grep . | sort >perf.txt
	[ "$(grep -c cycles: perf.txt)" -gt 30 ]
	diff perf.txt tally.txt
}

@test "trees of addresses and of source lines are those of perf" {
	local key order
	perf version 2>/dev/null | grep -q 'perf version 6\.1\.' ||
		skip "perf 6.1 is not installed: trees of addresses are not compared"
	for key in address srcline; do
		for order in caller callee; do
			"$TALLY" report -i chains.data --no-children -s comm -g "$order,$key" |
				sed '/^#/d' | tr -d ' |' | grep . | sort >tally.txt
			PERF_CONFIG=/dev/null perf report --stdio -i chains.data --no-children -s comm \
				-g "$order,$key" 2>/dev/null | sed '/^#/d' | tr -d ' |' | grep . | sort >perf.txt
			grep -q '[0-9]%--alphaprog.c:2' perf.txt
			diff perf.txt tally.txt
		done
	done
}

@test "latency: a sample counts for its part of the threads that ran, of a process and of the whole system" {
	for file in switches wide; do
		run -0 --separate-stderr "$TALLY" report -q --csv -i "$file.data" -s tid --latency -F latency,overhead,tid
		[ "$output" = $'cpu-clock:HG,75,66.6667,7\ncpu-clock:HG,25,33.3333,8' ]
		run -0 --separate-stderr "$TALLY" report -q --csv -i "$file.data" -s parallelism
		[ "$output" = $'cpu-clock:HG,66.6667,100,100000,2\ncpu-clock:HG,33.3333,50,50000,1' ]
	done
	run -1 --separate-stderr "$TALLY" report -i memory.data --latency
	[[ "$stderr" = *"has no context switches"*"--switch-events"* ]]
}

@test "a kernel that a recording does not describe is not named by the running one" {
	run -0 --separate-stderr "$TALLY" report -q --csv -i modes.data -F dso,sym
	[[ "$output" = *'0xffffffff81000001'* ]]
	[[ "$output" != *kallsyms* ]]
}

@test "paths of trees: a line each, and the keys of memory or branches choose their rows" {
	run -0 --separate-stderr "$TALLY" report -i memory.data -s locked
	[[ "$output" = *'# Total weight: '* ]]
	run -0 --separate-stderr "$TALLY" report -i branches.data -s mispredict
	[[ "$output" = *'# Rows are of branches'* ]]
	run -2 "$TALLY" report -i branches.data -s mispredict,mem
	[[ "$output" = *'rows are of branches (-b) or of memory accesses (--mem-mode), not of both'* ]]
	run -2 "$TALLY" report -i branches.data -s no_such_key
	[[ "$output" = *"unknown key 'no_such_key'"* ]]
}

@test "13.31: instructions per cycle and blocks of code have the values that branch stacks give one after another" {
	command -v objdump >/dev/null || skip "objdump is not installed: instructions per cycle are not compared"
	python3 "$BATS_TEST_DIRNAME/special.py" cycles "$PWD/prog" cycles.data
	python3 "$BATS_TEST_DIRNAME/block_cycles.py" "$TALLY" prog cycles.data >expected
	[ "$(grep -c '^[a-z]' expected)" = 4 ]
	run -0 --separate-stderr "$TALLY" report -q --csv -i cycles.data -b -F symbol,ipc,ipc_coverage
	[ "$(cut -d, -f2- <<<"$output" | sort)" = "$(awk '/^[a-z]/ {print $1 "," $2 + 0 "," $3 + 0}' expected)" ]
	run -0 --separate-stderr "$TALLY" report -q -t , -i cycles.data --total-cycles
	[ "$(cut -d, -f1,4 <<<"$output" | sort)" = "$(awk '/^ / {print $1 "," $4}' expected | sort)" ]
	run -0 --separate-stderr "$TALLY" report -i cycles.data -b -s comm,symbol
	[[ "$output" = *'Symbol'*'IPC   [IPC Coverage]'*'[.] alpha'*'0.74  [100.0%]'* ]]
	run -0 --separate-stderr "$TALLY" report -i branches.data -b -s comm,dso
	[[ "$output" != *IPC* ]]
	run -0 --separate-stderr "$TALLY" report -i memory.data --total-cycles
	[[ "$output" = *'# No cycles: '* ]]
}

@test "doc/REPORT-OPTIONS.md lists every option and key of perf report, as the command has them" {
	run -0 "$BATS_TEST_DIRNAME/../../tools/report-options" "$(dirname "$TALLY")" --check
}

@test "--symbol-filter keeps functions whose names contain a text, and --stdio-color colours shares" {
	run -0 --separate-stderr "$TALLY" report -q --csv -i memory.data -s sym -F sym --symbol-filter eta
	[ "$output" = 'cpu-clock:HG,beta' ]
	run -0 --separate-stderr "$TALLY" report -q -i memory.data -s comm --stdio-color always
	[[ "${lines[0]}" = *$'\e[31m'*'67.59%'*'worker' ]]
	run -0 --separate-stderr "$TALLY" report -q -i memory.data -s comm --stdio-color never
	[[ "$output" != *$'\e'* ]]
}

@test "numbers of perf annotate and perf diff, command line by command line" {
	perf version 2>/dev/null | grep -q 'perf version 6\.1\.' ||
		skip "perf 6.1 is not installed: tests/cli/annotate.bats, tests/cli/diff.bats and tests/unit have known values"
	command -v objdump >/dev/null || skip "objdump is not installed, which perf annotate needs"
	"$TALLY" annotate -i chains.data -q alpha >code.txt 2>&1 || skip "built without libcapstone"
	python3 "$BATS_TEST_DIRNAME/code_lines.py" "$TALLY" "$BATS_TEST_DIRNAME/code_lines.txt" .
}
