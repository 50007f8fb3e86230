#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# 15.JIT: code that compilers make at run time, named by perf maps and dumps.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	COMPILED="$(dirname "$TALLY")/tests/compiled_code"
	export COMPILED
	cd "$BATS_FILE_TMPDIR"
	if ! "$TALLY" record -o try true >/dev/null 2>err; then
		skip "events cannot be opened here: $(head -n 1 err)"
	fi
	"$COMPILED" >/dev/null || skip "the test program has no code for this machine"
	mkdir plain swapped v8
	(cd plain && "$TALLY" record -q -F 1000 -e cpu-clock --call-graph dwarf --keep-stacks "$COMPILED" dump unwind >pid)
	(cd swapped && "$TALLY" record -q -F 1000 -e cpu-clock "$COMPILED" dump swapped >pid)
	(cd v8 && "$TALLY" record -q -F 1000 -e cpu-clock "$COMPILED" dump v8 >pid)
}

# The share of a symbol in a report, in whole percent.
share_of() {
	awk -v symbol="$1" '$NF == symbol { sub(/\..*/, "", $1); print $1 }' report
}

shares_are_right() {
	"$TALLY" report --no-children -g none -s symbol >report 2>report.err
	# `first` and `second` were at one address, and so was `moved` for half of its time
	for symbol in first second; do
		[ "$(share_of $symbol)" -ge 15 ] && [ "$(share_of $symbol)" -le 35 ] || { cat report; return 1; }
	done
	[ "$(share_of moved)" -ge 35 ] && [ "$(share_of moved)" -le 65 ] || { cat report; return 1; }
}

@test "15.JIT: code that replaced other code at an address has its own name, also when it was moved there" {
	cd "$BATS_FILE_TMPDIR/plain"
	shares_are_right
}

@test "15.JIT: the same of a dump in the other byte order" {
	cd "$BATS_FILE_TMPDIR/swapped"
	shares_are_right
}

@test "15.JIT: the same where the dump's header has the time of day, as V8 writes it" {
	cd "$BATS_FILE_TMPDIR/v8"
	shares_are_right
}

@test "15.JIT: source lines come from the dump, those of V8 without what it adds to addresses" {
	for of in plain swapped v8; do
		cd "$BATS_FILE_TMPDIR/$of"
		"$TALLY" script -G -F ip,sym,srcline >script
		# nearly all of the time is spent in the loop
		grep -A1 ' first$' script | grep 'made up.js' | sort | uniq -c | sort -nr >lines
		head -n 1 lines | grep -q 'made up.js:20$' || { cat lines; return 1; }
		grep -q ' second$' script
	done
}

@test "15.JIT: the image of a dump is named by its process" {
	cd "$BATS_FILE_TMPDIR/plain"
	"$TALLY" report --no-children -g none -s dso,symbol >report
	grep -q "\[JIT\] tid $(cat pid)  *\[\.\] first$" report
}

@test "15.JIT: stacks are unwound through compiled code by the dump's call frame information" {
	cd "$BATS_FILE_TMPDIR/plain"
	"$TALLY" script -F ip,sym >script
	# A frame of 72 bytes, without a frame pointer: its caller is found by the rules of the dump alone.  A dump's times
	# are those of its mapping, and a busy machine may make the program wait between mapping and header.
	awk '$2 == "second" { n++; getline; right += $2 == "run_code" } END { print n, right; exit !(n > 50 && right >= n * 0.95) }' script
}

# `perf inject --jit` needs a recording by CLOCK_MONOTONIC.
perf_record() {
	command -v perf >/dev/null || skip "perf is not installed: what inject --jit writes is not compared with perf's; its names in Tally are"
	perf record -q -k mono -F 1000 -e cpu-clock "$@" >pid 2>err || skip "perf cannot record here: $(head -n 1 err)"
}

@test "15.JIT: inject --jit gives perf the names, and files that addr2line reads" {
	mkdir "$BATS_TEST_TMPDIR/run"
	cd "$BATS_TEST_TMPDIR/run"
	perf_record -o run.data "$COMPILED" dump
	"$TALLY" inject --jit -v -i run.data -o ours.data 2>said
	grep -qx 'tally inject: 3 functions of 1 dumps' said
	perf script -i ours.data -F time,ip,sym >by_perf
	"$TALLY" script -i run.data -F time,ip,sym >by_tally
	for symbol in first second moved; do grep -q " $symbol\$" by_perf; done
	cmp by_perf by_tally
	"$TALLY" script -i ours.data -F time,ip,sym >again
	cmp again by_tally
	# the program's address of the loop, from where perf maps the code
	[ "$(addr2line -fe jitted-*-0.so 0x8a)" = $'first\n/srv/made up.js:20' ]
	[ "$(addr2line -fe jitted-*-0.so 0x81)" = $'first\n/srv/made up.js:10' ]
	readelf -SlsW jitted-*-0.so >/dev/null 2>warnings
	[ ! -s warnings ]
	perf inject --jit -i run.data -o theirs.data 2>/dev/null
	perf script -i theirs.data -F time,ip,sym >theirs
	cmp theirs by_tally
}

@test "15.JIT: perf unwinds through what inject --jit wrote as Tally does through the dump" {
	mkdir "$BATS_TEST_TMPDIR/run"
	cd "$BATS_TEST_TMPDIR/run"
	perf_record --call-graph dwarf -o run.data "$COMPILED" dump unwind
	"$TALLY" inject --jit -i run.data | perf script -i - -F ip,sym 2>/dev/null | sed 's/^[[:space:]]*[0-9a-f]* //' >by_perf
	"$TALLY" script -i run.data -F ip,sym | sed 's/^[[:space:]]*[0-9a-f]* //' >by_tally
	# code without call frame information ends perf's chains
	awk '/^$/ { on = 0 } /^second$/ { on = 1 } on' by_perf >second_by_perf
	awk '/^$/ { on = 0 } /^second$/ { on = 1 } on' by_tally >second_by_tally
	grep -A1 '^second$' second_by_tally | grep -q '^run_code$'
	cmp second_by_perf second_by_tally
}

@test "15.JIT: inject --jit-dir writes the files elsewhere, and says when there is no dump" {
	cd "$BATS_FILE_TMPDIR/plain"
	mkdir "$BATS_TEST_TMPDIR/files"
	"$TALLY" inject --jit --jit-dir "$BATS_TEST_TMPDIR/files" -i perf.data -o "$BATS_TEST_TMPDIR/out.data"
	[ "$(ls "$BATS_TEST_TMPDIR/files" | wc -l)" -eq 3 ]
	"$TALLY" report -i "$BATS_TEST_TMPDIR/out.data" --no-children -g none -s dso,symbol >report
	grep -q 'jitted-[0-9]*-1.so  *\[\.\] second$' report
	run -1 "$TALLY" inject --jit --jit-dir "$BATS_TEST_TMPDIR/none" -i perf.data -o "$BATS_TEST_TMPDIR/out.data"
	[[ $output == *"No such file or directory; name a folder for these files"* ]]
	run -0 "$TALLY" inject --jit -i "$BATS_FILE_TMPDIR/try" -o "$BATS_TEST_TMPDIR/out.data"
	[[ $output == *"no process of the recording has a dump"* ]]
}

@test "15.JIT: the perf map of a process is kept with the recording, so that names stay when it is gone" {
	cd "$BATS_TEST_TMPDIR"
	HOME=$PWD "$TALLY" record -q -F 1000 -e cpu-clock -o run.data --buildid-dir cache "$COMPILED" map >pid
	rm "/tmp/perf-$(cat pid).map"
	"$TALLY" report --buildid-dir cache --no-children -g none -s dso,symbol -i run.data >report
	grep -q "\[JIT\] tid $(cat pid)  *\[\.\] py::second:/srv/app.py$" report
	# without the copy there are no names
	"$TALLY" report --buildid-dir none --no-children -g none -s dso,symbol -i run.data >report
	run -1 grep -q py::second report
	command -v perf >/dev/null || skip "perf is not installed: that it reads such a recording is not checked"
	perf report -i run.data --stdio >report 2>warnings
	[ ! -s warnings ]
}

@test "15.JIT: a dump is kept, too" {
	mkdir "$BATS_TEST_TMPDIR/run"
	cd "$BATS_TEST_TMPDIR/run"
	HOME=$PWD "$TALLY" record -q -F 1000 -e cpu-clock --buildid-dir cache "$COMPILED" dump >pid
	rm jit-*.dump
	"$TALLY" report --buildid-dir cache --no-children -g none -s symbol >report
	grep -q ' second$' report
}

# Stacks of a recording, as lines of names, those of the functions in question alone.
chains_of() { # recording, name of the innermost function
	"$TALLY" script --no-inline -i "$1" -F ip,sym | awk -v inner="$2" 'BEGIN { RS = ""; FS = "\n" }
		{ chain = ""; for (i = 1; i <= NF; i++) { sub(/^[ \t]*[0-9a-f]+ /, "", $i); chain = chain " " $i }
		  if (index(chain, " " inner " ") == 1) print chain }'
}

@test "15.1: while it is recorded, code is unwound by the rules of its dump, and where code was replaced by the new ones" {
	cd "$BATS_FILE_TMPDIR"
	for extra in "" v8; do
		# shellcheck disable=SC2086 # none or one
		"$TALLY" record -N -q -F 1000 -e cpu-clock:u -g -o rules.data "$COMPILED" dump unwind $extra >pid
		"$TALLY" evlist -v -i rules.data >events
		run -1 grep STACK_USER events
		# `first` keeps a frame pointer; `second` has none, and its 72 bytes are in the dump alone.
		for function in first second moved; do
			chains_of rules.data $function >chains
			all=$(wc -l <chains) right=$(grep -cE "^ $function run_code main .*_start\$" chains)
			echo "$function $all $right"
			[ "$all" -gt 20 ]
			[ "$right" -ge $((all * 98 / 100)) ]
		done
	done
}

@test "15.1: while it is recorded, stacks lead through Python's trampolines, of a process that has ended, too" {
	case $(uname -m) in x86_64) ;; *) skip "the program has trampolines of x86-64 alone" ;; esac
	cd "$BATS_FILE_TMPDIR"
	# The search for leaks, where it is built with it, has a stack of its own.
	"$TALLY" record -N -q -F 1000 -e cpu-clock:u -g -o arena.data env ASAN_OPTIONS=detect_leaks=0 "$COMPILED" arena >pid
	[ "$("$TALLY" info --json arena.data | python3 -c 'import json, sys; s = json.load(sys.stdin)["stacks"]; print(s["count"] - s["whole"])')" -le 3 ]
	chains_of arena.data evaluate >chains
	[ "$(wc -l <chains)" -gt 50 ]
	run -1 grep -vE '^ evaluate py::inner:/srv/app.py evaluate py::outer:/srv/app.py run_arena (main )?.*_start$' chains
}

@test "15.1: Python's own trampolines are shown as its functions" {
	python=
	for name in python3.12 python3.13 python3; do
		"$name" -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())' 2>/dev/null && python=$name && break
	done
	[ -n "$python" ] || skip "there is no Python with -X perf (3.12 or later): made trampolines were tested"
	cd "$BATS_TEST_TMPDIR"
	cat >work.py <<-'END'
		import time
		def leaf(n):
		    s = 0
		    for i in range(n):
		        s = (s * 31 + i) & 0xffff
		    return s
		def outer(n):
		    return leaf(n) + leaf(n)
		end = time.process_time() + 0.4
		while time.process_time() < end:
		    outer(500)
	END
	"$TALLY" record -N -q -F 1000 -e cpu-clock:u -g -o python.data "$python" -X perf work.py
	"$TALLY" script --no-inline -i python.data -F ip,sym | awk 'BEGIN { RS = "" } /py::leaf:/ { all++; right += /py::leaf:.*py::outer:.*py::<module>:.*_start$/ }
		END { print all + 0, right + 0; exit !(all > 30 && right >= all * 0.98) }'
}

@test "15.1: node's code is unwound by its frame pointers, with a dump that it writes late, too" {
	command -v node >/dev/null || skip "node is not installed: code with frame pointers of a made dump was tested"
	cd "$BATS_TEST_TMPDIR"
	cat >work.js <<-'END'
		function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s }
		function outer(n) { let s = 0; for (let i = 0; i < 50; i++) s += leaf(n + i); return s }
		const end = process.cpuUsage().user + 800000
		let x = 0
		while (process.cpuUsage().user < end) x += outer(3000)
	END
	for option in --perf-basic-prof --perf-prof; do
		"$TALLY" record -N -q -F 1000 -e cpu-clock:u -g -o node.data node $option work.js
		"$TALLY" script --no-inline -i node.data -F ip,sym | awk 'BEGIN { RS = "" } / JS:.(leaf|outer)/ { all++; right += /_start$/ }
			END { print all + 0, right + 0; exit !(all > 50 && right >= all * 0.98) }'
	done
}

@test "15.1: Java's code is unwound by its frame pointers" {
	command -v java >/dev/null && command -v javac >/dev/null || skip "there is no JDK: code with frame pointers of a made dump was tested"
	cd "$BATS_TEST_TMPDIR"
	cat >Work.java <<-'END'
		public class Work {
			static int leaf(int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
			static int depth(int d, int n) { return d == 0 ? leaf(n) : depth(d - 1, n) + 1; }
			public static void main(String[] a) {
				long end = System.nanoTime() + 1000000000L;
				int x = 0;
				while (System.nanoTime() < end) x += depth(20, 3000);
				System.out.println(x);
			}
		}
	END
	javac Work.java || skip "javac does not work here"
	"$TALLY" record -N -q -F 1000 -e cpu-clock:u -g -o java.data java -XX:+PreserveFramePointer \
		-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit Work
	"$TALLY" script --no-inline -i java.data -F ip,sym | awk 'BEGIN { RS = "" } /Work\.(leaf|depth)/ { all++; right += /JavaMain.*(clone3|clone)$/ }
		END { print all + 0, right + 0; exit !(all > 50 && right >= all * 0.98) }'
	# without them its stacks end there, which is said; interpreted code has them
	"$TALLY" record -N -F 1000 -e cpu-clock:u -g -o lost.data java Work 2>said
	"$TALLY" info --json -i lost.data >lost.json
	local lost
	lost=$(grep -o '"lost_in_made_code": *[0-9]*' lost.json | grep -o '[0-9]*$')
	[ "$lost" = 0 ] || grep -q 'in code made at run time without frame pointers' said
	[ "$lost" -lt 50 ] || grep -q 'java keeps them with -XX:+PreserveFramePointer' said
	[ "$("$TALLY" info --json -i java.data | grep -o '"lost_in_made_code": *[0-9]*' | grep -o '[0-9]*$')" -lt 10 ]
}
