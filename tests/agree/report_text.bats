#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally report: its text against perf report's, line by line: call trees in all styles, hierarchies, tasks and mappings, counts of
# records and of threads.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}" PERF_CONFIG=/dev/null LC_ALL=C PAGER=cat
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >prog.c <<'END'
__attribute__((noinline)) long alpha(long n) { return n + 1; }
__attribute__((noinline)) long beta(long n) { return alpha(n) + 1; }
__attribute__((noinline)) long gamma_one(long n) { return beta(n) + 1; }
int main(int argc, char **argv) { return (int)gamma_one(argc + argv[0][0]); }
END
	gcc -O0 -g -o prog prog.c || return 0
	for kind in chains memory group; do
		python3 "$BATS_TEST_DIRNAME/special.py" "$kind" "$PWD/prog" "$kind.data" || return 0
	done
	touch made
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	perf version 2>/dev/null | grep -q 'perf version 6\.1\.' ||
		skip "perf 6.1 is not installed: texts are not compared; report_lines.bats and tests/cli/report.bats have known ones"
	[ -e made ] || skip "gcc, nm or readelf is not installed: no recordings are made"
}

# same FILE OPTIONS: the text but for header lines, and blanks at the ends of lines; perf marks "[...]" as inlined
same() {
	local file=$1
	shift
	perf report -i "$file" --stdio "$@" 2>/dev/null | sed 's/ *$//; s/\[\.\.\.] (inlined)/[...]/' | grep -v '^#' >perf.txt
	"$TALLY" report -i "$file" --stdio --addresses "$@" 2>stderr.txt | sed 's/ *$//' | grep -v '^#' >tally.txt
	[ -s perf.txt ] || { echo "nothing from perf: $file $*" && return 1; }
	diff <(grep -v '^$' perf.txt) <(grep -v '^$' tally.txt) || { echo "differs: $file $*" && return 1; }
}

@test "call trees are drawn as perf draws them: graph, fractal, flat and folded, with each order, value and limit" {
	for style in graph fractal flat folded; do
		same chains.data --children -g "$style" -s comm,sym
		same chains.data --children -g "$style,callee,period" -s comm,dso
		same chains.data --children -g "$style,caller,count" -s sym
		same chains.data --no-children -g "$style" -s sym
		same chains.data --no-children -g "$style,caller,20" -s comm,sym
		same chains.data --no-children -g "$style,callee,0.5,2,count" -s comm
	done
}

@test "a hierarchy has perf's lines, sums, widths and trees" {
	same memory.data --hierarchy -s comm,dso,sym
	same memory.data --hierarchy -s '{comm,dso},sym' -n --show-total-period
	same memory.data --hierarchy -s comm,dso,sym --percent-limit 20
	same memory.data --hierarchy -s pid,sym --percent-limit 16
	same group.data --hierarchy --group -s sym
	same chains.data --hierarchy -s comm,sym
	same chains.data --hierarchy -s comm,sym --no-children
	run -0 "$TALLY" report -q -i memory.data --hierarchy -s comm,dso
	[ "${lines[0]}" = "    67.59%     worker" ]
	[ "${lines[1]}" = "       67.59%     prog" ]
	run -2 "$TALLY" report -i memory.data --hierarchy -F comm
	run -2 "$TALLY" report -i memory.data -s '{comm'
}

@test "-T: what each thread counted, as columns and as lines" {
	perf record -q -s -e cpu-clock:u,task-clock:u -o threads.data -- sh -c 'sort </etc/passwd >/dev/null; i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' ||
		skip "perf cannot record here: counts of threads are not compared"
	perf report -i threads.data --stdio -T 2>/dev/null | sed -n '/PID/,$p' >perf.txt
	"$TALLY" report -i threads.data -T 2>/dev/null | sed -n '/PID/,$p' >tally.txt
	[ "$(wc -l <tally.txt)" -ge 2 ]
	diff perf.txt tally.txt
	perf report -i threads.data --stdio -T --pretty raw 2>/dev/null | sed -n '/PID/,$p' >perf.txt
	"$TALLY" report -i threads.data -T --pretty raw 2>/dev/null | sed -n '/PID/,$p' >tally.txt
	diff <(xargs -n1 <perf.txt) <(xargs -n1 <tally.txt) # perf ends no line there
	run -0 --separate-stderr "$TALLY" report -i memory.data -T
	[[ "$output" = *'# No counts of threads: record with -s'* ]]
}

@test "--tasks, --mmaps, --stats and --no-skip-empty have perf's lines" {
	[ -n "${TALLY_CORPUS:-}" ] || skip "TALLY_CORPUS is not set: no recordings of systems to list"
	google=$TALLY_CORPUS/files/google+perf_data_converter__src__quipper__testdata__perf.data
	for file in "$google.forkexit-3.8" "$google.callgraph-3.8" "$google.hw_and_sw-3.4"; do
		diff <(perf report -i "$file" --stdio --tasks 2>/dev/null) <("$TALLY" report -i "$file" --tasks)
		diff <(perf report -i "$file" --stdio --stats 2>/dev/null) <("$TALLY" report -i "$file" --stats)
		# perf names memory without a file by the map of a compiler
		diff <(perf report -i "$file" --stdio --mmaps 2>/dev/null | sed 's,/tmp/perf-[0-9]*\.map$,//anon,') \
			<("$TALLY" report -i "$file" --mmaps)
		perf report -i "$file" --stdio --stats --no-skip-empty 2>/dev/null >perf.txt
		"$TALLY" report -i "$file" --stats --no-skip-empty >tally.txt # and types of later kernels
		[ "$(grep -Fxvc -f tally.txt perf.txt)" = 0 ]
	done
	run -0 "$TALLY" report -i "$google.group_desc-4.14" --stats
	[[ "$output" != *'LOST events'* ]]
}
