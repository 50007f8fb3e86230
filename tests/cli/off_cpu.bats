#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Time that threads are blocked (tally record --off-cpu), against what the kernel says of the same threads: a thread is on a
# CPU (CLOCK_THREAD_CPUTIME_ID), ready to run (the second number of schedstat), or blocked. Of the time that it was ready, the
# part after a wake-up belongs to the blocked time, as in perf, and the part after a preemption does not. So the blocked time
# is between both; where the CPUs are idle these are equal.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR"
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v "${CC:-cc}" >/dev/null || return 0
	cat >blocks.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int there[2], back[2];
static const char *what;
static double now(clockid_t clock) { struct timespec t; clock_gettime(clock, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
static double ready(void)
{
	char path[64];
	double ran = 0, waited = 0;
	FILE *f;
	snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%lf %lf", &ran, &waited) != 2) waited = 0;
		fclose(f);
	}
	return waited;
}
__attribute__((noinline)) static void pause_us(long us) { struct timespec t = {0, us * 1000}; nanosleep(&t, 0); }
static void spin(int n) { for (volatile int i = 0; i < n; i++) ; }
__attribute__((noinline)) static void work(int number)
{
	char byte = 0;
	if (!strcmp(what, "sleep"))
		for (int i = 0; i < 40; i++) { pause_us(5000 + 1000 * number); spin(20000); }
	else if (!strcmp(what, "lock"))
		for (int i = 0; i < 150; i++) {
			pthread_mutex_lock(&lock);
			if (i % 4) spin(20000); else pause_us(1500);
			pthread_mutex_unlock(&lock);
			spin(5000);
		}
	else if (!strcmp(what, "pipe"))
		for (int i = 0; i < 4000; i++)
			if (number ? read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1
				   : write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
				exit(1);
	if (!strcmp(what, "io")) {
		static char block[65536];
		char name[32];
		snprintf(name, sizeof name, "blocks.%d", number);
		int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
		for (int i = 0; i < 40; i++)
			if (write(fd, block, sizeof block) < 0 || fdatasync(fd)) exit(1);
		close(fd);
		unlink(name);
	}
}
static void *thread(void *argument)
{
	double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID), wait = ready();
	work((int)(long)argument);
	wait = ready() - wait;
	cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	printf("%ld %.0f %.0f %.0f\n", syscall(SYS_gettid), now(CLOCK_MONOTONIC) - wall, cpu, wait);
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t threads[3];
	int count = argc > 2 ? atoi(argv[2]) : 2;
	what = argv[1];
	if (pipe(there) || pipe(back)) return 1;
	for (long i = 0; i < count; i++) pthread_create(&threads[i], 0, thread, (void *)i);
	for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
	return 0;
}
END
	"${CC:-cc}" -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread -o blocks blocks.c
	# Sums of blocked time by thread against the program's own figures.
	cat >compare.py <<'END'
import collections, subprocess, sys
tally, recording, said = sys.argv[1:4]
text = subprocess.run([tally, 'script', '-i', recording, '-F', 'tid,event,period', '-G'], check=True, text=True,
                      stdout=subprocess.PIPE).stdout
sums, times = collections.Counter(), collections.Counter()
for line in text.splitlines():
    words = line.split()
    if len(words) >= 3 and words[2].startswith('offcpu-time'):
        sums[int(words[0])] += int(words[1])
        times[int(words[0])] += 1
threads = [[int(word) for word in line.split()] for line in open(said)]
assert len(threads) >= 2, threads
for tid, wall, cpu, wait in threads:
    least, most = wall - cpu - wait, wall - cpu
    # what ran around the thread's own look at the clocks; and at each switch, which the scheduler counts
    # as the next thread's before the recording does; on a virtual machine one takes microseconds
    slack = 0.02 * wall + 1e6 + 8e3 * times[tid]
    print(f'thread {tid}: wall {wall}, on a CPU {cpu}, ready {wait}, blocked {sums[tid]}: {least}..{most}')
    assert least - slack <= sums[tid] <= most + slack, (tid, sums[tid], least, most)
END
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -x blocks ] || skip "there is no compiler"
	"$TALLY" record -q -N -e dummy -o probe.data -- true 2>/dev/null || skip "events cannot be opened here"
}

# Records a program with these options, and compares.
blocked() {
	local what=$1 count=$2
	shift 2
	"$TALLY" record -q -N -e cpu-clock -o "$what.data" --off-cpu "$@" -- ./blocks "$what" "$count" >"$what.said"
	python3 compare.py "$TALLY" "$what.data" "$what.said"
}

@test "the blocked time of threads that sleep is the wall clock's without what they ran" {
	blocked sleep 3
}
@test "the same of threads that wait for a lock" {
	blocked lock 3
}
@test "the same of threads that wait for the disk" {
	blocked io 2
}
@test "the same of threads that wait for each other at a pipe" {
	blocked pipe 2
}
@test "the same with whole stacks" {
	blocked lock 3 -g
}
@test "the same of a process that runs already" {
	sh -c 'until [ -s late.data ]; do sleep 0.1; done; exec ./blocks sleep 2' >late.said &
	local pid=$!
	"$TALLY" record -q -N -e cpu-clock -o late.data --off-cpu -p "$pid" || true
	wait "$pid"
	# it slept before, too: no more than the program says
	run -0 "$TALLY" script -i late.data -F tid,event,period -G
	[[ $output == *offcpu-time* ]]
}

@test "a blocked time shows the function that blocks, and its callers" {
	"$TALLY" record -q -N -g -e cpu-clock -o whole.data --off-cpu -- ./blocks sleep 2 >/dev/null
	run -0 "$TALLY" report -i whole.data --stdio --no-children
	[[ $output == *offcpu-time* ]]
	[[ $output == *nanosleep* ]]
	[[ $output == *pause_us* ]]
	[[ $output == *thread* ]]
}

@test "a thread that blocks below a table of events has its whole stack, as in event loops" {
	need_kernel
	command -v "${CC:-cc}" >/dev/null || skip "no C compiler: no program with a large frame"
	cat >large.c <<-'END'
		#include <string.h>
		#include <unistd.h>
		__attribute__((noinline)) static int loop(int n)
		{
			char events[18 << 10];
			memset(events, n, sizeof(events));
			usleep(50000);
			return events[n];
		}
		int main(int argc, char **argv) { return loop(argc) + argv[0][0]; }
	END
	"${CC:-cc}" -O2 -o large large.c
	"$TALLY" record -q -g --off-cpu -o large.data -- ./large || true
	run -0 "$TALLY" script -F event,ip,sym -i large.data
	sed -n '/offcpu-time/,/^$/p' <<<"$output" | grep -A2 ' loop$' | grep ' main$'
}

@test "a table on the stack that nobody wrote to, whose pages are in no memory, does not cut the stack off" {
	need_kernel
	command -v "${CC:-cc}" >/dev/null || skip "no C compiler: no program with a large frame"
	cat >hole.c <<-'END'
		#include <pthread.h>
		#include <unistd.h>
		static char *volatile seen;
		__attribute__((noinline)) static int loop(int n)
		{
			char events[18 << 10];
			seen = events;
			usleep(50000);
			return n + (seen == events);
		}
		static void *thread(void *number) { return (void *)(long)(loop(*(int *)number) + 1); }
		int main(int argc, char **argv)
		{
			pthread_t other;
			pthread_create(&other, 0, thread, &argc);
			return pthread_join(other, 0) + !argv[0];
		}
	END
	"${CC:-cc}" -O2 -fno-omit-frame-pointer -pthread -o hole hole.c
	"$TALLY" record -q -g --off-cpu -o hole.data -- ./hole || true
	run -0 "$TALLY" script -F event,ip,sym -i hole.data
	sed -n '/offcpu-time/,/^$/p' <<<"$output" | grep -A2 ' loop$' | grep ' thread$'
}

@test "one long wait with a cut stack, among hundreds of whole ones, gets no advice" {
	need_kernel
	command -v "${CC:-cc}" >/dev/null || skip "no C compiler: no program without call frame information"
	cat >bare.c <<-'END'
		#include <unistd.h>
		int bare(int n)
		{
			volatile char room[64];
			room[n] = 1;
			usleep(n * 1000);
			__asm__ volatile("xchg %%ecx,%%eax" ::: "eax", "ecx"); /* code that is not followed to its end */
			return room[n];
		}
	END
	cat >waits.c <<-'END'
		#include <stdlib.h>
		#include <unistd.h>
		int bare(int n);
		int main(int argc, char **argv)
		{
			for (int i = atoi(argv[1]); i; i--) usleep(100);
			return bare(60) * argc;
		}
	END
	"${CC:-cc}" -O2 -fno-asynchronous-unwind-tables -fomit-frame-pointer -c bare.c
	"${CC:-cc}" -O2 -o waits waits.c bare.o
	for times in 0 400; do
		"$TALLY" record -q -g --off-cpu -o "waits.$times" -- ./waits "$times" || true
		"$TALLY" report --stdio -i "waits.$times" >"said.$times"
	done
	grep '^# Cut call chains' said.0
	run -1 grep '^# Cut call chains' said.400
}

@test "--off-cpu=MS leaves shorter times out" {
	"$TALLY" record -q -N -e cpu-clock -o long.data --off-cpu=6.5 -- ./blocks sleep 3 >/dev/null
	"$TALLY" script -i long.data -F tid,event,period -G | awk '/offcpu-time/ { n++; if ($2 < 6500000) short++ } END { exit !(n >= 40) || short }'
}

@test "perf reads the recording, and has the same sum" {
	command -v perf >/dev/null || skip "perf is not installed: what tally reads of it is checked above"
	[ -f lock.data ] || blocked lock 3
	perf script -i lock.data -F tid,event,period -G >perf.txt 2>perf.err || cat perf.err
	[ ! -s perf.err ]
	"$TALLY" script -i lock.data -F tid,event,period -G >tally.txt
	awk '/offcpu-time/ { print $1, $2 }' perf.txt | sort >perf.sums
	awk '/offcpu-time/ { print $1, $2 }' tally.txt | sort >tally.sums
	[ -s perf.sums ]
	cmp perf.sums tally.sums
	perf evlist -i lock.data | grep -qx offcpu-time
}

@test "a user without rights for the kernel gets the same sums" {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip "kernel.perf_event_paranoid is not 2"
	command -v setpriv >/dev/null || skip "setpriv is not installed: the stacks of users without rights are not checked; tests/unit has how they are chosen"
	local folder
	folder=$(mktemp -d /tmp/tally-off-cpu.XXXXXX)
	cp blocks "$(realpath "$TALLY")" "$folder"
	chmod -R a+rwX "$folder"
	(cd "$folder" && setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$folder" "$folder/$(basename "$TALLY")" \
		record -N -e cpu-clock -o low.data --off-cpu -- ./blocks lock 3 >low.said 2>low.err)
	cat "$folder/low.err"
	grep -q 'offcpu-time: the stack of a blocked thread is that of its last sample' "$folder/low.err"
	python3 compare.py "$TALLY" "$folder/low.data" "$folder/low.said"
	rm -rf "$folder"
}
