#!/usr/bin/env bats
# Filters of perf script: the same filter in perf and in tally gives the same text, status and answers.

load frame
load dlfilter/frame

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v perf >/dev/null && command -v cc >/dev/null && command -v python3 >/dev/null || return 0
	[ -r /usr/include/perf/perf_dlfilter.h ] || return 0
	make_streams
	make_filters
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	need_compiler
	need_perf
	[ -r /usr/include/perf/perf_dlfilter.h ] ||
		skip "perf's header is not installed: no filter is built with it; tests/cli/dlfilter.bats builds filters with ours"
}

make_filters() {
	build_for_perf dump.so dump_fields
	build dump2.so dump_fields -DHAS_CLEANUP
	build_for_perf none.so probe
	build_for_perf startonly.so probe -DSTART=0
	build_for_perf stoponly.so probe -DSTOP=-1
	build_for_perf all.so probe -DSTART=0 -DEARLY=0 -DLATE=0 -DSTOP=0
	build_for_perf late1.so probe -DSTART=0 -DLATE=1 -DSTOP=0
	build_for_perf late7.so probe -DLATE=7
	build_for_perf early1.so probe -DEARLY=1 -DLATE=0
	build_for_perf odd.so probe -DLATE=n%2
	build_for_perf late-1.so probe -DLATE='n==3?-1:0' -DSTOP=0
	build_for_perf late-38.so probe -DSTART=0 -DLATE='n==3?-38:0' -DSTOP=9
	build_for_perf early-125.so probe -DEARLY='n==5?-125:0' -DLATE=0 -DSTOP=0
	build_for_perf start-1.so probe -DSTART=-1 -DLATE=0 -DSTOP=0
	build_for_perf start5.so probe -DSTART=5 -DLATE=0 -DSTOP=0
	build_for_perf resolve.so probe -DRESOLVE -DEARLY='al->filtered?0:n%3==0' -DLATE='!al->sym'
	build_for_perf quiet.so probe -DQUIET -DEARLY=0 -DLATE='s->period&1'
	build_for_perf branches.so probe -DLATE='!s->brstack_nr'
	build_for_perf undefined.so probe -DSTART=0 -DMISSING -Wl,-z,lazy
	cp fb.c notelf.so
	mkdir -p folder.so
}

lines_of_loader='s,^ srcline \./elf/[^:]*:, srcline ./elf/FILE:,'

same() { # options
	local status_of_perf=141 status_of_tally i
	# perf dies by SIGPIPE when the addr2line that it asks does, as it may on a busy machine.
	for ((i = 0; i < 3 && status_of_perf == 141; i++)); do
		perf script "$@" >perf.raw 2>perf.err </dev/null && status_of_perf=0 || status_of_perf=$?
	done
	"$TALLY" script "$@" >tally.raw 2>tally.err </dev/null && status_of_tally=0 || status_of_tally=$?
	# addr2line, which perf asks, has the wrong file for some lines of the loader; llvm-symbolizer has Tally's.
	plain <perf.raw | sed "$lines_of_loader" >perf.txt
	plain <tally.raw | sed "$lines_of_loader" >tally.txt
	[ "$status_of_perf" = "$status_of_tally" ] && cmp -s perf.txt tally.txt && return
	echo "$*: status $status_of_perf of perf, $status_of_tally of tally"
	diff perf.txt tally.txt | head
	cat perf.err tally.err
	return 1
}

@test "what callbacks return, on streams with every field and with several events" {
	for data in all events; do
		for filter in none startonly stoponly all late1 late7 early1 odd late-1 late-38 early-125 start-1 start5 \
			resolve quiet branches; do
			same -i $data.data --dlfilter ./$filter.so
		done
	done
}

@test "every field and every function, both callbacks, both generations of the interface" {
	for data in simple all modules events; do
		for when in early late; do
			same -i $data.data --dlfilter ./dump.so --dlarg $when --dlarg at=401130
			cp tally.txt old.txt
			same -i $data.data --dlfilter ./dump2.so --dlarg $when --dlarg at=401130
			cmp old.txt tally.txt
		done
	done
	grep -q "^early" perf.txt || grep -q "^late" perf.txt
}

@test "where filters stand among the options that choose samples, and what resolve_ip foresees of these" {
	while read -r options; do
		# shellcheck disable=SC2086 # a list of words
		same -i all.data --dlfilter ./all.so $options
		# shellcheck disable=SC2086
		same -i all.data --dlfilter ./dump.so --dlarg early $options
	done <<-END
		--tid 778
		--pid 777
		--comms the-prog
		--dsos fb
		-S foo
		-S foo --tid 777
		--time 1.000010,1.000016
		--comms the-prog --time 1.000010,1.000016 --dsos fb
	END
}

@test "what is shown beside the samples, and how" {
	while read -r options; do
		# shellcheck disable=SC2086
		same -i all.data --dlfilter ./all.so $options
	done <<-END
		-F ip,sym,dso
		-G
		--ns
		--reltime
		--max-stack 2
		--show-mmap-events --show-task-events
		--header
	END
}

@test "-D: what a filter prints stands where perf has it, and what --time leaves out is not looked up" {
	for data in simple events; do
		for filter in all odd early1 late-38 early-125; do
			same -D -i $data.data --dlfilter ./$filter.so
		done
		same -D -i $data.data --dlfilter ./all.so --time 1.000010,2.000001
		same -D -i $data.data --dlfilter ./all.so -S foo
		same -D -i $data.data --dlfilter ./dump.so --dlarg late
		same -D -i $data.data --time 1.000010,2.000001
	done
}

@test "arguments: none, empty ones, with blanks, before the filter" {
	same -i simple.data --dlfilter ./dump.so
	same -i simple.data --dlfilter ./dump.so --dlarg "" --dlarg "a b" --dlarg late
	same -i simple.data --dlarg first --dlfilter ./dump.so --dlarg last
	same -i simple.data --dlarg unused
}

@test "filters that cannot be loaded" {
	for name in ./missing.so missing.so ./undefined.so ./notelf.so notelf.so folder.so ./folder.so ""; do
		same -i simple.data --dlfilter "$name"
		[ "$(cat tally.raw)" = "" ]
		[ -s tally.err ]
	done
	same -i missing.data --dlfilter ./all.so || [ ! -s tally.raw ]
}

@test "by name alone: here, in perf's folder, by the loader" {
	mkdir -p libs "$BATS_TEST_TMPDIR/exec/dlfilters"
	cp all.so libs/only-there.so
	cp odd.so "$BATS_TEST_TMPDIR/exec/dlfilters/in-exec.so"
	same -i all.data --dlfilter odd.so
	LD_LIBRARY_PATH=libs same -i all.data --dlfilter only-there.so
	PERF_EXEC_PATH="$BATS_TEST_TMPDIR/exec" same -i all.data --dlfilter in-exec.so
	same -i all.data --dlfilter dlfilter-show-cycles.so
}

@test "perf's own test of its filters, all three modes, and bad arguments" {
	api=/usr/lib/perf-core/dlfilters/dlfilter-test-api-v0.so
	[ -r $api ] ||
		skip "perf's test filter is not installed: its checks are not run; the other tests call the same functions"
	foo=$((0x400000 + 0x$(nm fb | awk '$3 == "foo" {print $1}')))
	bar=$((0x400000 + 0x$(nm fb | awk '$3 == "bar" {print $1}')))
	for mode in 0 1 2; do
		same -i simple.data --dlfilter $api --dlarg first --dlarg 1 --dlarg $foo --dlarg $bar --dlarg $mode --dlarg last
		[ ! -s tally.raw ]
		cmp perf.err tally.err
		[ "$(grep -c 'filter_event API' tally.err)" = $((mode == 2 ? 0 : 1)) ]
	done
	same -i simple.data --dlfilter $api --dlarg first --dlarg 1 --dlarg 12 --dlarg $bar --dlarg 1 --dlarg last
	same -i simple.data --dlfilter $api
}

@test "live recordings: chains, faults with their addresses, groups that are read, a JIT, a stripped and a non-PIE binary" {
	cat >live.c <<-'END'
		#include <stdlib.h>
		#include <string.h>
		static volatile unsigned long sink;
		static inline __attribute__((always_inline)) unsigned long mix(unsigned long x) { return x * 2654435761u ^ x >> 3; }
		__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 30000; i++) sink = mix(sink + i); }
		__attribute__((noinline)) void middle(void) { leaf(); sink++; }
		int main(void)
		{
			for (int i = 0; i < 100; i++) {
				char *p = malloc(1 << 20);
				middle();
				memset(p, i, 1 << 20);
				free(p);
			}
		}
	END
	cat >jit.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(void)
		{
			/* mov ecx, 400000000; loop: dec ecx; jnz loop; ret */
			static const unsigned char code[] = {0xb9, 0, 0x84, 0xd7, 0x17, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
			char *at = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), name[64];
			FILE *map;
			snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
			map = fopen(name, "w");
			fprintf(map, "%lx %x made_up\n", (long)at, (int)sizeof(code));
			fclose(map);
			memcpy(at, code, sizeof(code));
			((void (*)(void))at)();
		}
	END
	cc -g -O2 -o live live.c
	cc -O2 -s -o stripped live.c
	cc -O2 -no-pie -o fixed live.c
	perf record -q -e cpu-clock -F 2000 -g -o chains.data ./live
	perf record -q -e page-faults:u -c 1 -d -o faults.data ./live 2>/dev/null
	perf record -q -e '{cpu-clock,page-faults}:S' -F 2000 -o group.data ./live
	perf record -q -e cpu-clock:u -F 2000 -o stripped.data ./stripped
	perf record -q -e cpu-clock:u -F 2000 -o fixed.data ./fixed
	files="chains faults group stripped fixed"
	if [ "$(uname -m)" = x86_64 ]; then
		cc -o jit jit.c
		perf record -q -e cpu-clock:u -F 1000 -o jit.data ./jit
		jit_pid=$(perf script -i jit.data -F pid 2>/dev/null | awk '{print $1; exit}')
		files="$files jit"
	fi
	for data in $files; do
		for when in early late; do
			perf script -i $data.data --dlfilter ./dump.so --dlarg $when 2>/dev/null | plain | grep -v "^ srcline" >perf.txt
			"$TALLY" script -i $data.data --dlfilter ./dump.so --dlarg $when | plain | grep -v "^ srcline" >tally.txt
			cmp perf.txt tally.txt || { echo $data $when; diff perf.txt tally.txt | head; return 1; }
		done
		for filter in all odd late-38 early-125 resolve; do
			same -i $data.data --dlfilter ./$filter.so
		done
	done
	# Lines of our own programs, which perf has from addr2line, to the letter.
	perf script -i chains.data --dlfilter ./dump.so --dlarg late 2>/dev/null | grep "^ srcline.*live.c" >perf.txt
	"$TALLY" script -i chains.data --dlfilter ./dump.so --dlarg late | grep "^ srcline.*live.c" >tally.txt
	[ -s perf.txt ]
	cmp perf.txt tally.txt
	rm -f /tmp/perf-"$jit_pid".map
}

@test "programs linked by lld, for 32 bits, statically and yet anywhere" {
	cat >spin.c <<-'END'
		static volatile unsigned long sink;
		__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 300000; i++) sink = sink * 2654435761u + i; }
		__attribute__((noinline)) void middle(void) { leaf(); sink++; }
		#ifdef ALONE /* without a C library: the 32-bit one need not be there */
		void _start(void)
		{
			for (int i = 0; i < 400; i++)
				middle();
			__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
		}
		#else
		int main(void) { for (int i = 0; i < 400; i++) middle(); }
		#endif
	END
	made=""
	cc -O2 -g -fuse-ld=lld -o lld spin.c 2>lld.err && made="lld" || echo "no lld: $(tail -1 lld.err)"
	cc -O2 -g -static-pie -o static spin.c 2>static.err && ./static && made="$made static" || echo "no static PIE: $(tail -1 static.err)"
	if [ "$(uname -m)" = x86_64 ]; then
		cc -O2 -g -m32 -nostdlib -static -fno-pie -fno-stack-protector -DALONE -o short spin.c 2>short.err && ./short &&
			made="$made short" || echo "no 32 bits: $(tail -1 short.err)"
	fi
	[ -n "$made" ] || skip "no linker here makes any of them"
	for program in $made; do
		perf record -q -e cpu-clock:u -F 2000 -g -o $program.data ./$program
		for when in early late; do
			same -i $program.data --dlfilter ./dump.so --dlarg $when
			grep -q "leaf" tally.raw || { echo "$program: no function is named"; return 1; }
		done
		for filter in all odd resolve; do
			same -i $program.data --dlfilter ./$filter.so
		done
	done
}
