#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The first screen of a recording: what tests/screens shows of real programs, of small fresh ones.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}" SCREENS="$BATS_TEST_DIRNAME/../screens"
	export LC_ALL=C HERE="$BATS_TEST_DIRNAME"
	cd "$BATS_FILE_TMPDIR" || return 1
	export HOME="$PWD" # copies of sampled binaries go there
	command -v cc >/dev/null || return 0
	cat >work.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) unsigned turn(unsigned n, unsigned by) { while (by--) n = n * 69069 + 1; return n; }
int main(int argc, char **argv)
{
	unsigned n = (unsigned)argc;
	for (unsigned i = argc > 1 ? (unsigned)atoi(argv[1]) : 30; i; i--)
		n = turn(n, 5000000);
	return n == 7;
}
END
	cc -O1 -fno-toplevel-reorder -fasynchronous-unwind-tables -s -o a-program-with-a-long-name work.c 2>/dev/null || return 0
	"$TALLY" record -q -e cpu-clock -o flat.data -- ./a-program-with-a-long-name 2>/dev/null || return 0
	"$TALLY" record -q -g -e cpu-clock -o chains.data -- ./a-program-with-a-long-name 2>/dev/null || return 0
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s chains.data ] || skip "needs a compiler, and events that can be opened"
	command -v script >/dev/null ||
		skip "script(1) is not installed: there is no terminal; tests/unit/report has reports of given widths"
}

# What tally report writes on a terminal of 24 rows and so many columns.
screen() { # columns, options
	local columns=$1
	shift
	script -qec "stty rows 24 cols $columns && env -u COLUMNS -u LINES NO_COLOR=1 TERM=vt100 '$TALLY' report --no-pager $*" /dev/null </dev/null |
		tr -d '\r'
}

@test "13.T: the first row of stripped code is a range of its functions, and the header names the binary" {
	screen 80 -i flat.data >shown
	grep -m1 '%' <(grep -v '^#' shown) >first
	grep -qE 'a-program-with.*\+0x[0-9a-f]+$' first
	grep -qE '^# No symbols, [0-9.]+%: a-program-with-a-long-name \(' shown
	# The same function is one row, and the hottest.
	awk '$1 + 0 > 50 {hot++} END {exit hot != 1}' shown
}

@test "13.T: what does not fit is cut, but never the address that says which function it is" {
	for columns in 60 70 80; do
		screen $columns -i chains.data -g none >shown
		grep -v '^#' shown | grep -m1 'a-progr.*%\|%.*a-progr' | grep -qE '\+0x[0-9a-f]+$' || { cat shown; return 1; }
	done
	grep -v '^#' shown | grep '\.\.\.+0x' # it was cut at 80 columns, too
}

@test "13.T: no line of a screen is wider than the terminal" {
	for columns in 80 100 160; do
		for recording in flat.data chains.data; do
			screen $columns -i $recording >shown
			[ -s shown ]
			awk -v most=$columns 'length > most {print; wide = 1} END {exit wide}' shown
		done
	done
}

@test "13.T: the first screen has the samples, the event, the table, and trees only below it" {
	need_kernel
	screen 80 -i chains.data >shown
	[[ $(head -1 shown) =~ ^"# Samples: "[0-9]+K?" of event 'cpu-clock'"$ ]]
	[ "$(grep -n -m1 '^ *[0-9.]*%' shown | cut -d: -f1)" -lt "$(grep -n -m1 '^# Call trees' shown | cut -d: -f1)" ]
	grep -q '^# Recorded: ' shown # the command that recorded, and for how long
	sed -e '/^# Call trees/,$d' -e '/^#/d' shown >rows
	run -1 grep -e '--' rows
}

@test "13.T: code made at run time is named for what it is, with what can name it" {
	command -v python3 >/dev/null ||
		skip "python3 is not installed: it makes the recording; tests/unit/report has other header lines"
	{
		echo "comm 77 runtime"
		echo "map 77 7000000 10000 0 //anon"
		echo "sample 77 7000100 user 7000100"
		echo "times 9"
	} | python3 "$HERE/recording.py" jit.data
	screen 80 -i jit.data >shown
	grep -q '^# No symbols, 100.00%: \[JIT\] tid 77 (code made at run time; programs can' shown || { cat shown; return 1; }
	grep -q 'node --perf-basic-prof)' shown
	{
		echo "comm 77 java"
		echo "map 77 7000000 10000 0 //anon"
		echo "map 77 8000000 10000 0 /usr/lib/jvm/libjvm.so"
		echo "sample 77 7000100 user 7000100"
		echo "sample 77 8000100 user 8000100"
		echo "times 9"
	} | python3 "$HERE/recording.py" java.data
	"$TALLY" report -i java.data >shown
	grep -q 'programs can name it: java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit)' shown || { cat shown; return 1; }
}

@test "13.T: a process whose number is that of another one's thread now keeps its number" {
	command -v python3 >/dev/null || skip "python3 is not installed: it makes the recording"
	python3 -c 'import threading, time
thread = threading.Thread(target=time.sleep, args=(60,), daemon=True)
thread.start()
print(thread.native_id, flush=True)
thread.join()' >thread 3>&- &
	local process=$! tid
	for _ in {1..100}; do
		[ -s thread ] && break
		sleep 0.1
	done
	tid=$(<thread)
	printf '%s\n' "comm $tid runtime" "map $tid 7000000 10000 0 //anon" "sample $tid 7000100 user 7000100" |
		python3 "$HERE/recording.py" jit.data
	screen 80 -i jit.data >shown
	kill "$process"
	grep -F "[JIT] tid $tid " shown
}

@test "13.T: Ctrl-C leaves a recording whose samples the report shows, said on a line of its own" {
	rm -f ended.data
	script -qec "'$TALLY' record -e cpu-clock -o ended.data -- ./a-program-with-a-long-name 100000 & \
		until [ -s ended.data ]; do sleep 0.05; done; sleep 0.3; kill -INT \$!; wait" said </dev/null >/dev/null 3>&-
	tr -d '\r' <said >said.txt
	grep -qE '^tally: [0-9,]+ samples? in ended.data \(.*\), none lost' said.txt
	[ "$(grep -n -B1 '^tally: [0-9,]* samples* in' said.txt | sed -n '1s/^[0-9]*-//p')" = "" ]
	screen 80 -i ended.data | grep -E '^ +[0-9.]+% .*a-program-with'
}

@test "13.T: the screens that are kept fit their terminals, and each is explained" {
	[ "$(find "$SCREENS" -name '*-80x24.txt' | wc -l)" -ge 10 ]
	for file in "$SCREENS"/*.txt; do
		name=$(basename "$file" .txt)
		size=${name##*-}
		grep -q "^| ${name%-*} |" "$SCREENS/README.md"
		[ "$(head -c 15 "$file")" = '$ tally record ' ]
		[ "$(sed '1,/^\$ tally report/d' "$file" | wc -l)" -le "${size#*x}" ]
		awk -v most="${size%x*}" '!/^\$ / && length > most {print FILENAME ": " $0; wide = 1} END {exit wide}' "$file"
	done
}
