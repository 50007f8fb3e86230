#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Code without symbols: one row a function, and what the report says of the binary.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}" HERE="$BATS_TEST_DIRNAME"
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >work.c <<'END'
#include <stdio.h>
__attribute__((noinline)) int first(int n) { while (n > 3) n = n * 7 % 5 + puts("x"); return n; }
__asm__(".text\n.balign 16\n.globl bare\n.type bare,@function\nbare: nop\nnop\nnop\nnop\nnop\nnop\nnop\nret\n.size bare,.-bare\n.balign 16");
__attribute__((noinline)) int second(int n) { while (n > 9) n = n * 3 % 8 + first(n); return n; }
int bare(int);
int main(int argc, char **argv) { (void)argv; return second(argc) + bare(argc); }
END
	make_binary named || return 0
	make_binary stripped -s || return 0
	make_binary unindexed -s -Wl,--no-eh-frame-hdr || return 0
}

make_binary() { # name, options
	gcc -O1 -fno-toplevel-reorder -no-pie -fno-pie -fasynchronous-unwind-tables -o "$@" work.c 2>/dev/null
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v python3 >/dev/null || skip "python3 is not installed"
	[ -s unindexed ] && command -v nm >/dev/null || skip "needs gcc and binutils"
}

# Where a function starts, in hex without 0x; the address of the file and, mapped as here, of memory.
start_of() { # function [and so many bytes more]
	printf '%x' $((0x$(nm named | awk -v name="$1" '$3 == name {print $1}') + ${2:-0}))
}

# A recording of the binary: the samples' lines come from standard input.
record() { # binary, recording, options
	local offset address size
	read -r offset address size <<<"$(readelf -lW "$1" | awk '$1 == "LOAD" && $7 $8 ~ /E/ {print $2, $3, $5}')"
	{
		echo "comm 5 $1"
		echo "map 5 ${address#0x} ${size#0x} ${offset#0x} $PWD/$1"
		cat
	} | python3 "$HERE/recording.py" "$2" "${@:3}"
}

rows() { # options
	"$TALLY" report --stdio --no-children -g none -n -q -t , "$@" | tr -d ' '
}

some_samples() {
	for at in 0 3 5; do echo "sample 5 $(start_of first $at)"; done
	for at in 1 6; do echo "sample 5 $(start_of second $at)"; done
	echo "sample 5 $(start_of bare 2)"
	echo "sample 5 $(start_of bare 3)"
	echo "sample 5 $(start_of bare 5)"
	echo "sample 5 $(start_of bare 6)"
}

@test "13.13: where there is no symbol, a function is one row, called by its binary and where it starts" {
	for binary in stripped unindexed; do
		some_samples | record $binary $binary.data
		rows -i $binary.data >got
		cat got
		grep -qx "33.33%,3,$binary,$binary,\[.\]$binary+0x$(start_of first)" got
		grep -qx "22.22%,2,$binary,$binary,\[.\]$binary+0x$(start_of second)" got
		# What nothing describes ends where the functions around it do.
		grep -qx "44.44%,4,$binary,$binary,\[.\]$binary+0x$(start_of bare)" got
		[ "$(wc -l <got)" = 3 ]
	done
}

@test "13.13: the rows are those of the same binary with symbols" {
	for binary in named stripped; do
		some_samples | record $binary $binary.data
		rows -i $binary.data | cut -d, -f1,2 >$binary.rows
	done
	diff named.rows stripped.rows
}

@test "13.13: --addresses has a row for each address, as perf" {
	some_samples | record stripped stripped.data
	[ "$(rows -i stripped.data --addresses | grep -c '\[.\]0x0*[0-9a-f]*$')" = 9 ]
}

@test "13.13: trees of callers and callees have functions, not addresses" {
	{
		for at in 3 5; do
			echo "sample 5 $(start_of first $at) user $(start_of first $at) $(start_of second $at) $(start_of main 5)"
		done
	} | record stripped chains.data chains
	"$TALLY" report --stdio -i chains.data --children -g caller >caller
	cat caller
	[ "$(grep -c 'Children\|100.00%' caller)" = 4 ]
	grep -q -- "---stripped+0x$(start_of main)" caller
	grep -qx " *stripped+0x$(start_of second)" caller
	"$TALLY" report --stdio -i chains.data --no-children -g callee >callee
	grep -q -- "---stripped+0x$(start_of first)" callee
	grep -qx " *stripped+0x$(start_of main)" callee
}

@test "13.13: -S chooses a function by the name of its row" {
	some_samples | record stripped stripped.data
	rows -i stripped.data -S "stripped+0x$(start_of second)" >got
	[ "$(cut -d, -f2- got)" = "2,stripped,stripped,[.]stripped+0x$(start_of second)" ]
}

@test "13.13: script stays perf's text" {
	command -v perf >/dev/null || skip "perf is not installed"
	some_samples | record stripped stripped.data
	perf script -i stripped.data >theirs 2>/dev/null
	"$TALLY" script -i stripped.data >ours
	[ -s ours ]
	diff theirs ours
}

@test "13.13: each stub of a PLT without names is a row" {
	gcc -O1 -static -s -o static work.c 2>/dev/null || skip "there is no static libc"
	plt=$(readelf -SW static | sed -n 's/.* \.plt  *PROGBITS  *\([0-9a-f]*\) .*/\1/p')
	[ -n "$plt" ] || skip "the static program has no PLT"
	plt=$((0x$plt))
	for at in 0 4 17 18 30; do printf 'sample 5 %x\n' $((plt + at)); done | record static static.data
	rows -i static.data >got
	cat got
	[ "$(cut -d, -f2- got | sort)" = "$(printf '2,static,static,[.]static+0x%x\n3,static,static,[.]static+0x%x' \
		$plt $((plt + 16)))" ]
}

@test "13.21: versions of a function that was compiled at run time are one row" {
	local pid map
	pid=$(sh -c 'echo $$')
	map=/tmp/perf-$pid.map
	[ ! -e "$map" ] || skip "$map is there already"
	printf '%s\n' '7000 100 JS:~sum file.js:1:2' '7200 100 JS:^sum file.js:1:2' '7400 100 JS:*sum file.js:1:2' \
		'7600 100 int Fib.fib(int)' '7800 100 int Fib.fib(int)' '7a00 100 JS:*other file.js:9:9' \
		'7c00 100 JS: file.js:1:1' >"$map"
	{
		echo "comm $pid prog"
		echo "map $pid 7000 1000 0 //anon"
		for at in 7010 7020 7210 7410 7610 7620 7810 7a10 7c20; do echo "sample $pid $at"; done
	} | python3 "$HERE/recording.py" jit.data
	rows -i jit.data | cut -d, -f2,5 | sort >got
	rows -i jit.data --addresses | cut -d, -f2,5 | sort >apart
	rm -f "$map"
	diff got - <<'END'
1,[.]JS:file.js:1:1
1,[.]JS:otherfile.js:9:9
3,[.]intFib.fib(int)
4,[.]JS:sumfile.js:1:2
END
	diff apart - <<'END'
1,[.]JS:*otherfile.js:9:9
1,[.]JS:*sumfile.js:1:2
1,[.]JS:^sumfile.js:1:2
1,[.]JS:file.js:1:1
1,[.]intFib.fib(int)
2,[.]JS:~sumfile.js:1:2
2,[.]intFib.fib(int)
END
}
