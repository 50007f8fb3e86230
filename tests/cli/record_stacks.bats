#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Call chains that are unwound while recording (tally record -g).

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR"
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v "${CC:-cc}" >/dev/null || return 0
	# Code without frame pointers that calls back into code with them, and recursion.
	cat >part.c <<'END'
unsigned part(unsigned (*next)(unsigned), unsigned n) { volatile unsigned x = next(n); return x + 1; }
END
	cat >program.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static unsigned (*part)(unsigned (*)(unsigned), unsigned);
static clock_t until;
__attribute__((noinline)) unsigned work(unsigned n)
{
	volatile unsigned sum = n;
	for (unsigned i = 0; i < 20000; i++)
		sum += i;
	return sum;
}
__attribute__((noinline)) unsigned leaf(unsigned n) { unsigned x = work(n); __asm__ volatile("" ::: "memory"); return x + 1; }
__attribute__((noinline)) unsigned deep(unsigned n)
{
	char room[2000];
	memset(room, (int)n, sizeof(room));
	__asm__ volatile("" ::"r"(room) : "memory");
	unsigned x = n ? deep(n - 1) : part(leaf, n);
	__asm__ volatile("" ::"r"(room) : "memory");
	return x + 1;
}
int main(int argc, char **argv)
{
	void *library;
	(void)argc;
	until = clock() + (clock_t)(atof(argv[2]) * CLOCKS_PER_SEC);
	library = dlopen(argv[1], RTLD_NOW);
	if (!library || !(part = (unsigned (*)(unsigned (*)(unsigned), unsigned))dlsym(library, "part")))
		return 1;
	while (clock() < until)
		deep((unsigned)atoi(argv[3]));
	return 0;
}
END
	# Work at each level of a recursion deeper than a copy of a stack can be.
	cat >levels.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
__attribute__((noinline)) unsigned work(unsigned n)
{
	volatile unsigned sum = n;
	for (unsigned i = 0; i < 400000; i++)
		sum += i;
	return sum;
}
__attribute__((noinline)) unsigned level(unsigned n)
{
	char room[2000];
	memset(room, (int)n, sizeof(room));
	__asm__ volatile("" ::"r"(room) : "memory");
	unsigned x = work(n);
	x += n ? level(n - 1) : 0;
	x += work(n);
	__asm__ volatile("" ::"r"(room) : "memory");
	return x + 1;
}
int main(int argc, char **argv)
{
	clock_t until = clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
	(void)argc;
	while (clock() < until)
		level(100);
	return 0;
}
END
	"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o levels levels.c
	"${CC:-cc}" -O1 -fomit-frame-pointer -shared -fPIC -o libpart.so part.c
	"${CC:-cc}" -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o program program.c -ldl
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -x program ] || skip "there is no compiler"
	"$TALLY" record -q -N -e cpu-clock -o probe.data -- true 2>/dev/null || skip "events cannot be opened here"
	case $(uname -m) in x86_64 | aarch64) ;; *) skip "stacks of this kind of processor are not unwound" ;; esac
}

# The lines of all samples: time, and the addresses of the chain with their names.
chains() {
	"$TALLY" script --no-inline --max-stack 1024 -i "$1" -F comm,tid,time,ip,sym
}

@test "15.4: chains unwound while recording are, sample by sample, those unwound later from the copies" {
	"$TALLY" record -N -q -e cpu-clock -F 5000 -g -o now.data --stacks-output later.data -- sh -c \
		'./program ./libpart.so 0.3 5; sort -R "$0" | md5sum >/dev/null; exec ./program ./libpart.so 0.2 20' "$TALLY"
	chains now.data >now
	chains later.data >later
	[ "$(grep -c 'cpu-clock\|^[^[:space:]]' now)" -gt 500 ]
	cmp now later
	# The copies are in the one file alone.
	run -0 "$TALLY" evlist -v -i now.data
	[[ $output != *STACK_USER* ]]
	run -0 "$TALLY" evlist -v -i later.data
	[[ $output = *STACK_USER* ]]
	[ "$(stat -c %s now.data)" -lt "$(($(stat -c %s later.data) / 10))" ]
}

@test "15.1: the frames between two binaries are found by what the one has and the other lacks" {
	"$TALLY" record -N -q -e cpu-clock:u -F 5000 -g -o chains.data -- ./program "$PWD/libpart.so" 0.4 3
	# A sample in work(): all its callers, through the library that was opened while it ran.
	"$TALLY" script -i chains.data -F ip,sym | awk 'BEGIN { RS = ""; FS = "\n" }
		{ chain = ""; for (i = 1; i <= NF; i++) { split($i, word, " "); chain = chain " " word[2] }
		  if (chain ~ /^ work leaf/) { all++; if (chain ~ /^ work leaf part deep deep deep deep main .*_start$/) whole++ } }
		END { print all + 0, whole + 0 }' >counts
	read -r all whole <counts
	[ "$all" -gt 200 ]
	[ "$whole" = "$all" ]
}

@test "15.1: where a copy of the stack ends, the kernel's frame pointers go on" {
	"$TALLY" record -N -e cpu-clock:u -F 5000 --call-graph dwarf,2048 -o cut.data --stacks-output copies.data -- \
		./program ./libpart.so 0.4 30 2>said
	chains cut.data >now
	chains copies.data >later
	cmp now later
	"$TALLY" info --json cut.data >info.json
	python3 - <<'END'
import json
stacks = json.load(open("info.json"))["stacks"]
assert stacks["frames"]["beyond_copy"] > 20 * stacks["count"] / 2, stacks
END
	# Of the recursion no call is missing.
	[ "$("$TALLY" script -i cut.data -F ip,sym --max-stack 200 | awk 'BEGIN { RS = "" } / work\n.* leaf\n/ && / main/ && gsub(/ deep/, "") != 31' | wc -l)" = 0 ]
	[ "$("$TALLY" script -i cut.data -F ip,sym --max-stack 200 | awk 'BEGIN { RS = "" } / work\n.* leaf\n/ && / main/' | wc -l)" -gt 200 ]
}

@test "15.2: recursion deeper than a copy is whole by the callers that other samples of the thread have" {
	"$TALLY" record -N -e cpu-clock:u -F 2000 -g -o deep.data --stacks-output deep-copies.data -- ./levels 0.8 2>said
	grep -E 'stacks are whole \([0-9,]+ by callers of other samples\)' said
	"$TALLY" info deep.data | grep -E 'other samples [0-9,]+ \(in [0-9,]+ stacks\)'
	"$TALLY" script --no-inline --max-stack 1024 -i deep.data -F tid,time,ip,sym >chains
	"$TALLY" script --no-inline --max-stack 1 -i deep-copies.data -F tid,time,uregs >registers
	"$TALLY" info --json deep.data >info.json
	python3 - <<'END'
import json, re
stacks = json.load(open("info.json"))["stacks"]
assert stacks["joined"] > stacks["count"] / 4, stacks
assert stacks["whole"] >= stacks["count"] * 0.99, stacks
# All levels have frames of one size: the stack pointer says how many there are.
pointer = {}
for line in open("registers"):
    found = re.match(r"\s*(\d+ +[\d.]+):.*\bSP:0x([0-9a-f]+)", line)
    if found:
        pointer[found[1]] = int(found[2], 16)
bases, deepest = {}, 0
for sample in open("chains").read().split("\n\n"):
    names = re.findall(r"^\s+[0-9a-f]+ (\S+)$", sample, re.M)
    if names[:1] != ["work"] or names[-1] != "_start":
        continue
    levels = names.count("level")
    assert names[1:1 + levels] == ["level"] * levels and names[1 + levels] == "main", names
    key = re.match(r"\s*(\d+ +[\d.]+):", sample)[1]
    bases.setdefault(levels, set()).add(pointer[key])
    deepest = max(deepest, levels)
assert deepest > 60, deepest
size = (max(bases[deepest]) - max(bases[min(bases)])) // (min(bases) - deepest)
for levels, pointers in bases.items():
    # In work() itself the stack pointer is a word or two deeper at most.
    assert all(abs(p - max(bases[deepest]) - (deepest - levels) * size) <= 64 for p in pointers), (levels, pointers)
END
}

@test "15.2: a buffer that is not used on the stack ends copies only until its pages were read" {
	cat >unused.c <<'END'
#include <time.h>
static volatile unsigned sum;
__attribute__((noinline)) static void work(void) { for (unsigned i = 0; i < 1000000; i++) sum += i; }
__attribute__((noinline)) static void use(char *buffer, int seconds)
{
	buffer[0] = 1;
	while (clock() < seconds * CLOCKS_PER_SEC)
		work();
	sum += (unsigned)buffer[0];
}
int main(void)
{
	char buffer[40000];
	use(buffer, 3);
	return buffer[0] == 2;
}
END
	"${CC:-cc}" -O2 -fomit-frame-pointer -o unused unused.c
	"$TALLY" record -q -e cpu-clock -F 1000 -g -o unused.data -- ./unused
	# The last fifty stacks begin where the process does.
	run bash -o pipefail -c '"$TALLY" script -i unused.data | awk "/^unused/ { whole = 0 } / _start\\+/ { whole = 1 } !NF { print whole }" |
		tail -50 | sort | uniq -c'
	[ "$status" -eq 0 ]
	[[ "$output" =~ ^\ *50\ 1$ ]]
}

@test "15.3: a recording ends with how many stacks are whole, and its file has the numbers" {
	"$TALLY" record -N -e cpu-clock:u -F 2000 -g -o whole.data -- ./program ./libpart.so 0.3 3 2>said
	grep -E '^tally: (all [0-9,]+ stacks are whole|[0-9,]+ of [0-9,]+ stacks are whole; cut: [0-9])' said
	"$TALLY" info whole.data >info
	grep -E '^Stacks +[0-9,]+ unwound while recording, [0-9,]+ of them whole' info
	grep 'call chains, unwound while recording' info
	"$TALLY" record -N -e cpu-clock:u -F 2000 --call-graph fp -o fp.data -- ./program ./libpart.so 0.1 3 2>said
	run -1 grep stacks said
	"$TALLY" info fp.data >info
	run -1 grep '^Stacks' info
}

@test "15.4: perf reads what -g records without a warning" {
	command -v perf >/dev/null || skip "perf is not installed: the recording is not read by it; the tests before read it with tally"
	"$TALLY" record -N -q -e cpu-clock -F 2000 -g -o plain.data -- ./program ./libpart.so 0.3 3
	"$TALLY" record -N -q -z -e cpu-clock -F 2000 -g -o packed.data -- ./program ./libpart.so 0.3 3
	"$TALLY" record -N -q -e cpu-clock -F 2000 -g -o - -- ./program ./libpart.so 0.3 3 >stream.data
	for file in plain packed stream; do
		perf script -i "$file.data" -F ip,sym >"$file.txt" 2>"$file.err"
		[ ! -s "$file.err" ]
		[ "$(grep -c ' main$' "$file.txt")" -gt 50 ]
		"$TALLY" script -i "$file.data" -F ip,sym >ours.txt
		# perf has no name for some entries of a PLT (doc/COMPATIBILITY.md); all else is the same.
		awk 'NR == FNR { nameless[FNR] = / @plt$/; next } nameless[FNR] { sub(/[^ ]+@plt$/, "@plt") } 1' \
			"$file.txt" ours.txt | cmp "$file.txt" -
	done
}

@test "15.1: --keep-stacks writes the copies, as perf does, and unwinds nothing" {
	"$TALLY" record -N -e cpu-clock:u -F 2000 --call-graph dwarf,16384 --keep-stacks -o kept.data -- \
		./program ./libpart.so 0.2 1 2>said
	run -1 grep stacks said
	run -0 "$TALLY" evlist -v -i kept.data
	[[ $output = *"sample_stack_user: 16384"* ]]
	[[ $output = *"exclude_callchain_user: 1"* ]]
	[ "$("$TALLY" script -i kept.data -F ip,sym | grep -c ' main$')" -gt 50 ]
}

@test "15.6: each function of an address has its own line: the innermost that of the code, others that of the call" {
	command -v "${CC:-cc}" >/dev/null || skip "no compiler: the program cannot be made"
	cat >lines.c <<'END'
volatile unsigned long x;
static inline __attribute__((always_inline)) void inner(int n)
{
	for (int i = 0; i < n; i++)
		x += i;
}
static inline __attribute__((always_inline)) void middle(int n)
{
	inner(n);
	x--;
}
__attribute__((noinline)) void outer(int n)
{
	middle(n);
	x -= 2;
}
int main(void)
{
	for (int i = 0; i < 1500; i++)
		outer(100000);
	return 0;
}
END
	"${CC:-cc}" -O2 -g -o lines lines.c
	"$TALLY" record -q -e cpu-clock:u --keep-stacks --call-graph dwarf -o kept.data ./lines
	"$TALLY" report -i kept.data -g caller,address --no-children >text 2>errors
	grep -q 'outer lines.c:14$' text
	grep -q 'middle (inlined) lines.c:9$' text
	grep -Eq 'inner \(inlined\) lines.c:[45]$' text
	run -1 grep -E 'outer lines.c:[45]$' text
	# Where inlined functions are left out, the line is that of the code.
	"$TALLY" report -i kept.data -g caller,address --no-children --no-inline >text 2>errors
	grep -Eq 'outer lines.c:[45]$' text
}

@test "15.1: ways to take chains that do not exist are refused with those that do" {
	run -2 "$TALLY" record --call-graph odd -- true
	[[ $output = *"auto, fp, dwarf, lbr"* ]]
}

@test "15.5: a chain of user space that the kernel wrote after its samples is theirs, in every reader" {
	# Two threads with equal cookies, two samples with one chain, one whose chain never came.
	python3 "$BATS_TEST_DIRNAME/recording.py" deferred.data deferred <<-END
		kernel ffffffff81000000 100000
		comm 7 seven
		comm 8 eight
		map 7 400000 10000 0 /no/where
		map 8 400000 10000 0 /no/where
		sample 7 ffffffff81000100 kernel ffffffff81000100 ffffffff81000200 deferred 55
		sample 7 401000 deferred 56
		sample 8 ffffffff81000300 kernel ffffffff81000300 deferred 55
		later 8 55 user 408000 408100
		later 7 55 user 407000 407100 407200
		sample 7 401001 deferred 56
		later 7 56 user 401000 407300
		sample 7 401002 deferred 57
		later 7 55 user 409999
	END
	"$TALLY" script -i deferred.data -F comm,ip | awk '{ printf "%s ", $1 } /^$/ { print "" }' >got
	cat >wanted <<-END
		seven ffffffff81000100 ffffffff81000200 7000 7100 7200
		seven 1000 7300
		eight ffffffff81000300 8000 8100
		seven 1000 7300
		seven
	END
	sed 's/ *$//' got | grep . >got.plain
	diff wanted got.plain
	"$TALLY" report -i deferred.data --no-children -g caller --stdio -s comm >report
	grep -q where+0x7200 report
	grep -q where+0x8100 report
	grep -q where+0x7300 report
	run -1 grep -E '0x9999|0x55' report
	"$TALLY" script --json -i deferred.data | grep '"type":"SAMPLE"' >json
	python3 - <<'END'
import json
frames = [[frame["ip"] for frame in sample["frames"]] for sample in map(json.loads, open("json"))]
assert frames[1] == ["0x401000", "0x407300"], frames
assert frames[2][-2:] == ["0x408000", "0x408100"], frames
END
}

@test "15.4: of real programs both recordings have the same chains, and perf reads both without a warning" {
	"$TALLY" record -N -q -e cpu-clock -F 2000 -g -o real.data --stacks-output real-copies.data -- sh -c '
		command -v python3 >/dev/null && python3 -c "import json; json.loads(json.dumps([str(k) for k in range(100000)]))"
		command -v git >/dev/null && git -C "$0" log --stat -n 20 >/dev/null 2>&1
		bash -c "for ((i = 0; i < 20000; i++)); do x=\$((x + i)); done"' "$TALLY_SOURCE"
	chains real.data >now
	chains real-copies.data >later
	[ "$(grep -c '^[^[:space:]]\|^ *[^ ]* *[0-9]* *[0-9.]*:' now)" -gt 50 ]
	cmp now later
	command -v perf >/dev/null || skip "perf is not installed: the chains are the same, but it did not read them"
	for file in real real-copies; do
		perf script --no-inline -i $file.data -F ip,sym >$file.perf 2>said
		[ ! -s said ]
	done
	# It unwinds the copies, too, for which it needs the maps of data.
	[ "$(grep -c ' __libc_start_call_main$' real-copies.perf)" -gt 50 ]
}

@test "15.3: when much waits, who unwinds comes before other programs, where that is permitted" {
	[ "$(nice -n -10 nice 2>/dev/null)" = -10 ] || skip "this user may raise no priority"
	"$TALLY" record -N -q -e cpu-clock:u -F 20000 --call-graph dwarf -o nice.data -- \
		nice -n -9 sh -c 'for i in $(seq "$(nproc)"); do ./levels 3 & done; wait' &
	recorder=$!
	found=0
	while kill -0 $recorder 2>/dev/null; do
		found=$(ps -L -o ni= -p $recorder | grep -cx ' *-10') && break
		sleep 0.1
	done
	wait $recorder
	[ "$found" -ge 1 ]
}

@test "15.1: where stacks cannot be copied, auto is fp, and dwarf is refused" {
	case $(uname -m) in x86_64) ;; *) skip "the library that refuses is for x86-64" ;; esac
	# A kernel that copies no stacks.
	cat >refuse.c <<'END'
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>
long syscall(long number, ...)
{
	long arguments[6], result;
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open &&
	    ((const struct perf_event_attr *)arguments[0])->sample_type & PERF_SAMPLE_STACK_USER) {
		errno = EOPNOTSUPP;
		return -1;
	}
	register long r10 __asm__("r10") = arguments[3], r8 __asm__("r8") = arguments[4], r9 __asm__("r9") = arguments[5];
	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (result < 0) {
		errno = (int)-result;
		return -1;
	}
	return result;
}
END
	"${CC:-cc}" -O1 -fno-builtin -shared -fPIC -o librefuse.so refuse.c
	LD_PRELOAD=./librefuse.so "$TALLY" record -N -e cpu-clock:u -F 2000 -g -o fallback.data -- ./program ./libpart.so 0.2 3 2>said
	run -1 grep 'stacks are whole' said
	"$TALLY" info fallback.data | grep 'call chains by frame pointers'
	[ "$("$TALLY" script -i fallback.data -F ip,sym | awk 'BEGIN { RS = "" } / work\n.* leaf\n/ && / main\n/' | wc -l)" -gt 20 ]
	LD_PRELOAD=./librefuse.so "$TALLY" record -N -e cpu-clock:u --call-graph auto -o fallback.data -- true 2>said
	grep 'the kernel copies no stacks of this event: call chains are by frame pointers' said
	LD_PRELOAD=./librefuse.so run "$TALLY" record -N -e cpu-clock:u --call-graph dwarf -o fallback.data -- true
	[ "$status" != 0 ]
}
