#!/usr/bin/env bats
# The examples do what they say, with the shared library and with what is installed.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
}

need_events() {
	"$(dirname "$TALLY")/examples/example-samples" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" ||
		grep -q . "$BATS_TEST_TMPDIR/err" || return 1
	[ ! -s "$BATS_TEST_TMPDIR/err" ] || skip "events cannot be opened here: $(head -n 1 "$BATS_TEST_TMPDIR/err")"
}

@test "samples: reads its own samples from the ring" {
	[ -x "$(dirname "$TALLY")/examples/example-samples" ] || skip "the examples are not built"
	need_events
	# 524 steps: the longest way of all numbers below a million (837,799; a known result).
	grep -qx 'longest way to 1: 524 steps' "$BATS_TEST_TMPDIR/out"
	samples=$(sed -n 's/^\([0-9]*\) samples, from 0x.*; 0 of other processes$/\1/p' "$BATS_TEST_TMPDIR/out")
	[ "${samples:-0}" -ge 50 ]
}

# Runs an example that needs no PMU, into $output.
run_example() {
	need_events
	run "$(dirname "$TALLY")/examples/example-$1"
	[ "$status" -eq 0 ]
}

@test "count_printf: what it cannot count it says, and the rest it counts" {
	run_example count_printf
	[[ $output == *"Measuring this printf"* ]]
	grep -qE '^(Used [0-9]+ instructions|No instructions: not (supported|permitted) here)' <<<"$output"
	grep -qE '^Used [1-9][0-9]* ns of CPU time$' <<<"$output"
}

@test "ratios: of a PMU's group, else of one that every machine has" {
	run_example ratios
	grep -qE '^[0-9]+ cycles, [0-9]+ instructions: [0-9.]+ a cycle, counted [0-9]+ % of the time$|^[0-9.]+ ms of CPU time, [0-9]+ page faults: [0-9]+ a second$' <<<"$output"
}

@test "overflow: as many signals as were asked for, the last of them known" {
	run_example overflow
	[ "$output" = '3 overflows of 100 page faults each; then the event was disabled' ]
}

@test "relink: a program of the system call on the bottom layer" {
	run_example relink
	# Each sample is a header, an ip and an address; faults of the C library may be among them.
	[[ $output =~ ^1[0-9][0-9]' samples and 0 other records in '2[0-9]{3}' bytes'$ ]]
}

@test "regions: eight threads, and their sum" {
	run_example regions
	[ "$(grep -cE '^fill   thread +[0-9]+ +20 times' <<<"$output")" -eq 8 ]
	[ "$(grep -cE '^sort   thread +[0-9]+ +20 times' <<<"$output")" -eq 8 ]
	grep -qE '^sort   all threads +160 times +[0-9.]+ ms +[0-9]+ page faults' <<<"$output"
	sum=$(sed -nE 's/^fill   thread.* ([0-9]+) page faults.*/\1/p' <<<"$output" | awk "{sum += \$1} END {print sum}")
	[ "$sum" = "$(sed -nE 's/^fill   all threads.* ([0-9]+) page faults.*/\1/p' <<<"$output")" ]
}

# Two functions, one after the other.
make_busy() {
	command -v cc >/dev/null ||
		skip "no C compiler: there is no busy program to run the examples on"
	cat >busy.c <<-'EOF'
		#include <time.h>
		static volatile unsigned long sum;
		__attribute__((noinline)) void first_half(clock_t until)
		{
			while (clock() < until)
				for (unsigned long i = 0; i < 100000; i++)
					sum += i;
		}
		__attribute__((noinline)) void second_half(clock_t until)
		{
			while (clock() < until)
				for (unsigned long i = 0; i < 100000; i++)
					sum -= i;
		}
		int main(void)
		{
			first_half(CLOCKS_PER_SEC * 3 / 2);
			second_half(CLOCKS_PER_SEC * 3);
			return 0;
		}
	EOF
	cc -O1 -g busy.c -o busy
}

@test "14.1: hottest: at most ten functions of a recording, the hottest first" {
	need_events
	cd "$BATS_TEST_TMPDIR"
	make_busy
	"$TALLY" record -o busy.data ./busy >/dev/null 2>&1
	run "$(dirname "$TALLY")/examples/example-hottest" busy.data
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -le 10 ]
	[[ ${lines[0]} =~ ^' '*[0-9]+\.[0-9]{2}' %  cpu '[0-9]+' '+(first_half|second_half)$ ]]
	[ "$(wc -l <"$TALLY_SOURCE/examples/hottest.c")" -lt 60 ]
}

@test "14.1: hottest_live: the hottest function changes while the program runs" {
	need_events
	cd "$BATS_TEST_TMPDIR"
	make_busy
	run "$(dirname "$TALLY")/examples/example-hottest_live" ./busy
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -ge 3 ]
	[[ ${lines[0]} =~ ^' '*[0-9]+' %  first_half'$ ]]
	[[ ${lines[-1]} =~ ^' '*[0-9]+' %  second_half'$ ]]
	[ "$(wc -l <"$TALLY_SOURCE/examples/hottest_live.c")" -lt 80 ]
	run "$(dirname "$TALLY")/examples/example-hottest_live" ./not-there
	[ "$status" -eq 1 ]
	[[ $output == *"not-there"* ]]
}

# bats test_tags=usual
@test "samples: builds against what is installed, by pkg-config" {
	cd "$BATS_TEST_TMPDIR"
	command -v meson >/dev/null ||
		skip "meson is not installed: nothing can be installed to build against; the other tests run the built examples"
	command -v cc >/dev/null ||
		skip "no C compiler: nothing can be built against what is installed; the other tests run the built examples"
	root=$BATS_TEST_TMPDIR/root
	DESTDIR=$root meson install -C "$(dirname "$TALLY")" --no-rebuild --quiet
	pc=$(find "$root" -name tally.pc)
	[ -n "$pc" ]
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs tally >flags
	readelf -d "$(find "$root" -name 'libtally.so.0.2')" | grep -q 'SONAME.*libtally\.so\.0\.2]'
	nm -D --defined-only "$(find "$root" -name 'libtally.so.0.2')" >names
	grep -q ' T tally_' names
	[ -z "$(awk '$2 ~ /[B-Z]/ && $3 !~ /^(tally_|TALLY_)/' names)" ]
	# shellcheck disable=SC2046
	cc -std=c11 "$TALLY_SOURCE/examples/samples.c" $(cat flags) -o samples ||
		{ nm -D "$(find "$root" -name libtally.so.0.2)" | grep -q __asan && skip "the library is built with a sanitizer"; false; }
	[ -x samples ]
	for compiler in 'cc -std=c11' 'g++ -std=c++11 -x c++' 'clang++ -std=c++11 -x c++'; do
		command -v "${compiler%% *}" >/dev/null || continue
		for name in hottest hottest_live; do
			# shellcheck disable=SC2046,SC2086
			$compiler "$TALLY_SOURCE/examples/$name.c" $(cat flags) -o "$name"
		done
	done
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs tally-libpfm4 >flags
	# shellcheck disable=SC2046
	cc "$TALLY_SOURCE/examples/libpfm4_events.c" $(cat flags) -o libpfm4_events
	readelf -d libpfm4_events | grep -q 'NEEDED.*libtally\.so\.0\.2]'
}
