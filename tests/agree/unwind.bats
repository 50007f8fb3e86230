#!/usr/bin/env bats
# Chains of --call-graph dwarf against perf script: the same text, of programs that were made for it.
#
# Each program is what perf starts, and does not call exec: of a process that did, perf takes a library to be
# where it was before.
bats_require_minimum_version 1.5.0

load frame

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_perf
	[ "$(uname -m)" = x86_64 ] || skip "perf unwinds its own machine's code"
	perf version --build-options 2>/dev/null | grep -q 'libunwind: \[ on' || skip "this perf is without libunwind"
}

# perf counts a library's PLT from its start though some entries stand elsewhere: its names there are wrong.
plain() {
	LC_ALL=C sed -E 's/^(\t *[0-9a-f]+|[^\t].*: +[0-9a-f]+) .*@plt/\1 @plt/
		s/ _init(\+0x[0-9a-f]+)?( \(.*)?$/ @plt\2/; s/ @plt\+0x[0-9a-f]+/ @plt/'
}

same() { # file, options
	local file=$1
	shift
	perf script -i "$file" "$@" 2>perf.err </dev/null | plain >perf.txt
	"$TALLY" script -i "$file" "$@" 2>tally.err </dev/null | plain >tally.txt
	[ -s perf.txt ] || { echo "perf shows nothing of $file $*"; cat perf.err; return 1; }
	cmp perf.txt tally.txt || { echo "$file $*"; diff perf.txt tally.txt | head; cat tally.err; return 1; }
}

sampled() { # bytes of stack, program
	local bytes=$1
	shift
	perf record -q -F 2000 -e cpu-clock ${delay:+-D "$delay"} --call-graph "dwarf,$bytes" -o dwarf.data -- "$@" >/dev/null 2>&1 ||
		skip "perf cannot record stacks here"
}

compiled() { # compiler's options; the program is standard input
	command -v g++ >/dev/null || skip "needs g++"
	cat >program.cc
	g++ "$@" -o program program.cc 2>cc.err || { cat cc.err; return 1; }
}

# Lines of the last text whose function is that: evidence that there was something to agree on.
lines_of() { # its name
	grep -cE "^	 *[0-9a-f]+ $1\+0x" tally.txt
}

sorting='
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
volatile unsigned long sink;
__attribute__((noinline)) void work(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 31 + i; }
struct shape { virtual void go(int) = 0; };
struct words : shape { void go(int n) override {
	std::map<std::string, int> all;
	for (int i = 0; i < n; i++) all[std::to_string(i * 7919 % 1000)] += i;
	work(n); } };
struct numbers : shape { void go(int n) override {
	std::vector<int> all(n);
	for (int &one : all) one = rand();
	std::sort(all.begin(), all.end(), [](int a, int b) { sink = sink + 1; return a < b; }); } };
__attribute__((noinline)) void thrower(int n) {
	std::string text(n, 0);
	if (!n) throw std::runtime_error("x");
	thrower(n - 1);
	sink = sink + text.size(); }
int main() {
	words one; numbers other; shape *all[] = {&one, &other};
	std::function<void(int)> down = [&](int depth) { if (depth) down(depth - 1); else for (shape *s : all) s->go(3000); };
	for (int i = 0; i < 60; i++) {
		try { thrower(20); } catch (std::exception &e) { sink = sink + e.what()[0]; }
		down(i % 30);
		work(300000);
	} }'

# With an argument it sleeps at first.
inlining='
#include <stdlib.h>
#include <unistd.h>
volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long mix(unsigned long s, unsigned long i) {
	return s + (i * i ^ s >> 3);
}
__attribute__((noinline)) unsigned long leaf(unsigned long n) {
	unsigned long s = 0;
	for (unsigned long i = 0; i < n; i++)
		s = mix(s, i);
	return sink = s;
}
static inline __attribute__((always_inline)) unsigned long once(unsigned long n) { return leaf(n) + 1; }
static inline __attribute__((always_inline)) unsigned long twice(unsigned long n) { return once(n) + leaf(n / 2); }
__attribute__((noinline)) unsigned long middle(unsigned long n) {
	char room[n % 64 + 8];
	room[0] = (char)n;
	sink += (unsigned long)room;
	return twice(n) + room[0];
}
__attribute__((noinline)) unsigned long other(unsigned long n) { return once(n) * 3; }
static int compare(const void *a, const void *b) { sink += leaf(20); return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv) {
	int all[1000];
	if (argc > 1) usleep(atoi(argv[1]));
	for (int k = 0; k < 100; k++) {
		middle(20000);
		other(10000);
		for (int i = 0; i < 1000; i++)
			all[i] = rand();
		qsort(all, 1000, sizeof(*all), compare);
	}
	return 0;
}'

@test "inlined functions" {
	command -v addr2line >/dev/null || skip "perf asks addr2line"
	compiled -x c -O2 -g -fomit-frame-pointer <<<"$inlining"
	sampled 16384 ./program
	same dwarf.data
	[ "$(lines_of once)" -gt 0 ]
	[ "$(lines_of middle)" -gt 0 ]
	grep -q '(inlined)$' tally.txt
	same dwarf.data --no-inline
	run -1 grep -q '(inlined)$' tally.txt
}

@test "report: rows and trees have the functions that were inlined" {
	command -v addr2line >/dev/null || skip "perf asks addr2line"
	compiled -x c -O2 -g -fomit-frame-pointer <<<"$inlining"
	# Without the loader: perf may print an inlined function of it in two rows.
	delay=300 sampled 16384 ./program 1000000
	same_report dwarf.data --children -g none
	grep -q 'once(inlined)$' tally.txt
	grep -q '\[\.\]mix(inlined)$' tally.txt
	same_report dwarf.data --children -g caller
	same_report dwarf.data --no-children -g none
	run -1 grep -q inlined tally.txt
	same_report dwarf.data --no-children -g caller
	grep -q 'mix(inlined)$' tally.txt
	same_report dwarf.data --no-children -g callee
	grep -q 'mix(inlined)$' tally.txt
	same_report dwarf.data --no-children -g callee --max-stack 2
	same_report dwarf.data --children -g callee
	same_report dwarf.data --children -g caller --no-inline
	run -1 grep -q inlined tally.txt
}

@test "--json and --sql have the inlined functions that script shows" {
	command -v jq >/dev/null && command -v sqlite3 >/dev/null ||
		skip "needs jq and sqlite3: these formats are not compared with the text; tests/unit/export has known JSON"
	compiled -x c -O2 -g -fomit-frame-pointer <<<"$inlining"
	for _ in 1 2 3; do # where others take the CPUs, few samples are of it
		sampled 16384 ./program
		"$TALLY" script -i dwarf.data -F ip,sym,dso |
			awk '/^\t/ {print $2, ($NF == "(inlined)")}' | sort >text
		grep -q '^twice 1' text && break
	done
	grep -q '^twice 1' text
	"$TALLY" script -i dwarf.data --json |
		jq -r '.frames[]? | "\(.symbol // "[unknown]") \(if .inlined then 1 else 0 end)"' | sort >json
	cmp text json || { diff text json | head; return 1; }
	"$TALLY" script -i dwarf.data --sql all.db
	sqlite3 -separator ' ' all.db "SELECT ifnull(stacks.symbol, '[unknown]'), ifnull(inlined, 0)
		FROM samples JOIN stacks USING (callchain)" | sort >sql
	cmp text sql || { diff text sql | head; return 1; }
	[ "$("$TALLY" script -i dwarf.data --json --no-inline | jq -r '.frames[]? | select(.inlined) | .ip' | wc -l)" = 0 ]
}

@test "C++ without frame pointers: all columns, less frames" {
	compiled -O2 -fomit-frame-pointer <<<"$sorting"
	sampled 16384 ./program
	same dwarf.data
	[ "$(lines_of main)" -gt 10 ]
	same dwarf.data -F ip,sym
	same dwarf.data -F comm,pid,tid,time,event,ip,sym,dso,period
	same dwarf.data --max-stack 3
	same dwarf.data --max-stack 1
	same dwarf.data -G
}

@test "C++ without optimization" {
	compiled -O0 <<<"$sorting"
	sampled 8192 ./program
	same dwarf.data
	[ "$(lines_of main)" -gt 10 ]
}

@test "frames that a signal interrupted, and threads" {
	compiled -O2 -pthread <<'END'
#include <signal.h>
#include <sys/time.h>
#include <thread>
volatile unsigned long sink;
extern "C" __attribute__((noinline)) void work(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 31 + i; }
extern "C" void handler(int) { work(2000000); sink = sink + 1; }
int main() {
	struct sigaction action = {};
	action.sa_handler = handler;
	sigaction(SIGVTALRM, &action, nullptr);
	itimerval often = {{0, 10000}, {0, 10000}};
	setitimer(ITIMER_VIRTUAL, &often, nullptr);
	std::thread other([] { for (int i = 0; i < 100; i++) work(500000); });
	for (int i = 0; i < 100; i++) work(500000);
	other.join();
}
END
	sampled 8192 ./program
	same dwarf.data
	[ "$(lines_of handler)" -gt 0 ]
	[ "$(lines_of main)" -gt 0 ]
}

@test "stacks deeper than what was kept of them, of threads too" {
	compiled -O1 -pthread <<'END'
#include <thread>
volatile unsigned long sink;
extern "C" __attribute__((noinline)) unsigned long deep(int depth) {
	volatile char room[200];
	room[0] = (char)depth;
	if (!depth) { for (int i = 0; i < 3000000; i++) sink = sink + i; return 1; }
	return deep(depth - 1) + room[0]; }
int main() {
	std::thread other([] { for (int i = 0; i < 10; i++) deep(300); });
	for (int i = 0; i < 10; i++) deep(i * 40);
	other.join();
}
END
	sampled 4096 ./program
	same dwarf.data
	sampled 65528 ./program
	same dwarf.data
	same dwarf.data --max-stack 500
	[ "$(lines_of main)" -gt 0 ]
}

@test "call frame information in .debug_frame, compressed or not" {
	command -v objcopy >/dev/null || skip "needs objcopy"
	compiled -x c -O2 -g -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables <<<"$inlining"
	readelf -SW program | grep -q ' \.debug_frame ' || skip "this compiler writes no .debug_frame"
	sampled 16384 ./program
	"$TALLY" script -i dwarf.data >plain.txt
	cp plain.txt tally.txt
	[ "$(lines_of middle)" -gt 0 ]
	[ "$(lines_of main)" -gt 0 ]
	cp program kept
	for how in zlib zstd; do
		[ $how != zstd ] || "$TALLY" version --build-options | grep -q 'zstd: \[ on' || continue
		objcopy --compress-debug-sections=$how kept program 2>said || continue # binutils before 2.40
		readelf -tW program | grep -A2 ' \.debug_frame$' | grep -q COMPRESSED
		"$TALLY" script -i dwarf.data >tally.txt
		cmp plain.txt tally.txt || { diff plain.txt tally.txt | head; return 1; }
	done
}

@test "code without call frame information, with a frame pointer and without, and code made at run time" {
	compiled -O2 <<'END'
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sys/mman.h>
volatile unsigned long sink;
extern "C" {
__attribute__((noinline)) void spin(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink + i; }
void with_pointer(void (*)(unsigned), unsigned);
void without(void (*)(unsigned), unsigned);
}
__asm__(".text\n.globl with_pointer\n.type with_pointer,@function\nwith_pointer:\npush %rbp\nmov %rsp,%rbp\n"
	"mov %rdi,%rax\nmov %esi,%edi\ncall *%rax\npop %rbp\nret\n.size with_pointer,.-with_pointer\n"
	".globl without\n.type without,@function\nwithout:\nsub $8,%rsp\nmov %rdi,%rax\nmov %esi,%edi\n"
	"call *%rax\nadd $8,%rsp\nret\n.size without,.-without\n");
int main() {
	static const unsigned char bytes[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
	void *made = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec now;
	char text[100];
	if (made == MAP_FAILED) return 1;
	memcpy(made, bytes, sizeof(bytes));
	for (int k = 0; k < 50; k++) {
		with_pointer(spin, 1000000);
		without(spin, 1000000);
		((void (*)(void (*)(unsigned), unsigned))made)(spin, 1000000);
		for (int i = 0; i < 20000; i++) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			sink = sink + (unsigned long)snprintf(text, sizeof(text), "%d %s", i, "x");
		}
	} }
END
	sampled 8192 ./program
	same dwarf.data
	[ "$(lines_of spin)" -gt 10 ]
	[ "$(lines_of with_pointer)" -gt 0 ]
	[ "$(lines_of main)" -gt 0 ]
}

@test "an interpreter, and a process that made another" {
	command -v python3 >/dev/null || skip "needs python3: no interpreter is unwound; the tests before unwind built programs"
	sampled 16384 "$(readlink -f "$(python3 -c 'import sys; print(sys.executable)')")" -S -c '
import os
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
pid = os.fork()
f(21)
if pid: os.wait()'
	same dwarf.data
	[ "$(wc -l <tally.txt)" -gt 100 ]
}

@test "processes that called exec, where all is at the same addresses each time" {
	setarch -R true 2>/dev/null || skip "addresses cannot be kept from changing"
	alike='f() { local i x; for ((i = 0; i < 20000; i++)); do x=$((x + i)); done; }
		(f; f); y=$(f); bash -c "for ((i = 0; i < 50000; i++)); do x=\$((x + i)); done"; f | f'
	setarch -R perf record -q -F 2000 -e cpu-clock --call-graph dwarf,8192 -o dwarf.data -- bash -c "$alike" \
		>/dev/null 2>&1 || skip "perf cannot record stacks here"
	same dwarf.data
	[ "$(wc -l <tally.txt)" -gt 100 ]
}

@test "--json, --sql and report have the frames that script has" {
	command -v jq >/dev/null && command -v sqlite3 >/dev/null ||
		skip "needs jq and sqlite3: these formats are not compared with the text; tests/unit/export has known JSON"
	compiled -O2 -g0 <<<"$sorting"
	sampled 16384 ./program
	"$TALLY" script -i dwarf.data -F ip,sym,dso | awk '/^\t/ && $2 == "main" && !/\(inlined\)$/' | wc -l >text
	[ "$(cat text)" -gt 10 ]
	"$TALLY" script -i dwarf.data --json | jq -r '.frames[]? | select(.symbol == "main") | .ip' | wc -l >json
	cmp text json
	"$TALLY" script -i dwarf.data --sql all.db
	sqlite3 all.db "SELECT count(*) FROM samples JOIN stacks USING (callchain) WHERE stacks.symbol = 'main'" >sql
	cmp text sql
	"$TALLY" report -i dwarf.data --children -g none | grep -E '\] main *$' >row
	perf report -i dwarf.data --children -g none --stdio 2>/dev/null | grep -E '\] main *$' >perf.row
	[ "$(awk '{print $1}' row)" = "$(awk '{print $1}' perf.row)" ]
}
