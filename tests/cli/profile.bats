#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# `tally profile`: a program recorded, what it says, and the page.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	command -v python3 >/dev/null || skip "python3 is not installed: no page is read; page.bats says what is not checked then"
	cd "$BATS_FILE_TMPDIR" || return 1
	"$TALLY" record -q -o try.data true 2>err || skip "events cannot be opened here: $(head -n 1 err)"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

page() { # COMMAND PAGE ...
	python3 "$TALLY_SOURCE/tests/cli/page_reader.py" "$@"
}

# The page beside perf.data is complete, and has the sums of the report.
page_is_right() {
	page check profile.html
	"$TALLY" report --json -s dso,sym >report.json
	if grep -q '"rows":\[{' report.json; then page agree profile.html report.json; fi
}

@test "18: a compiled program: its function and line come first, its output stays its own" {
	command -v gcc >/dev/null || skip "gcc is not installed: no program with a known hottest line; the other programs here are profiled"
	cat >hot.c <<-END
		#include <stdio.h>
		int spin(volatile unsigned *sum)
		{
			for (unsigned i = 0; i < 400000000u; i++)
				*sum += i; /* line 5 */
			return 0;
		}
		int main(void)
		{
			unsigned sum = 0;
			spin(&sum);
			puts("the program's own line");
			return 3;
		}
	END
	gcc -O1 -g -fno-inline -o hot hot.c
	run -3 --separate-stderr "$TALLY" profile -- ./hot
	[ "$output" = "the program's own line" ]
	echo "$stderr"
	sed -n '/^Hottest functions/{n;p}' <<<"$stderr" | grep -qE '^ *[0-9.]+ %  spin  hot$'
	sed -n '/^Hottest source lines/{n;p}' <<<"$stderr" | grep -qE '^ *[0-9.]+ %  hot\.c:[45]$'
	grep -qE '^profile\.html \([0-9.]+ MB\)' <<<"$stderr"
	page_is_right
	[ -f perf.data ]
}

@test "18: a compile, python, a compressor with threads, a shell script" {
	declare -A commands=(
		[gcc]="gcc -O2 -S -o /dev/null some.c"
		[python3]="python3 -c sum(range(2000000))"
		[xz]="xz -T2 -k -c some"
		[node]="node -e for(let\ i=0;i<2e7;i++)Math.sqrt(i)"
	)
	seq 200000 >some
	for i in $(seq 200); do echo "int f$i(int x) { return x * $i + x / ($i + 1); }"; done >some.c
	for program in "${!commands[@]}"; do
		command -v "$program" >/dev/null || continue
		eval "set -- ${commands[$program]//[()<;]/\\&}"
		run -0 --separate-stderr "$TALLY" profile -- "$@"
		grep -q '^Hottest functions' <<<"$stderr" || { echo "$program: $stderr"; return 1; }
		page_is_right
	done
	run -0 --separate-stderr "$TALLY" profile -- sh -c 'for i in 1 2 3; do ls / >/dev/null; done; echo done'
	[ "$output" = "done" ]
	page_is_right
}

@test "18: a program that sleeps waits for timers" {
	need_kernel
	run -0 --separate-stderr "$TALLY" profile -- sleep 0.5
	echo "$stderr"
	grep -q 'Threads that are blocked wait for timers (sleep)' <<<"$stderr"
	grep -A1 '^Longest waits, of all threads together$' <<<"$stderr" | grep -qE '^  0\.[5-9][0-9] s  .*nanosleep'
	page_is_right
}

@test "18: source lines are shown where enough of the time has them, with the part that has; none of line 0" {
	command -v gcc >/dev/null || skip "gcc is not installed: no program of which a part has lines"
	for name in one two; do
		echo "__attribute__((noinline)) unsigned $name(unsigned n) { volatile unsigned sum = 0; for (unsigned i = 0; i < n; i++) sum += i; return sum; }" >$name.c
	done
	cat >main.c <<-END
		#include <stdlib.h>
		unsigned one(unsigned n), two(unsigned n);
		int main(int argc, char **argv) { return one(atoi(argv[1])) + two(atoi(argv[2])) + argc == 1; }
	END
	gcc -g -O1 -c one.c main.c
	gcc -O1 -c two.c
	gcc -o part one.o two.o main.o
	run -0 --separate-stderr "$TALLY" profile -- ./part 200000000 200000000
	grep -qE '^Hottest source lines, of [1-8][0-9] % whose lines are known$' <<<"$stderr"
	run -0 --separate-stderr "$TALLY" profile -- ./part 1000 400000000
	run -1 grep 'Hottest source lines' <<<"$stderr"
	run -0 --separate-stderr "$TALLY" profile -- ./part 400000000 1000
	grep -qx 'Hottest source lines' <<<"$stderr"
	run -1 grep -E ':0$' <<<"$stderr"
}

@test "18: waits and hot functions of the C library are beside the program's function that called them, in text and page" {
	need_kernel
	command -v gcc >/dev/null || skip "gcc is not installed: no program that waits and copies below functions with known names"
	cat >waits.c <<-'END'
		#include <pthread.h>
		#include <string.h>
		#include <unistd.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
		static char from[1 << 16], to[1 << 16];
		__attribute__((noinline)) void wait_for_work(void)
		{
			pthread_mutex_lock(&lock);
			pthread_cond_wait(&changed, &lock);
			pthread_mutex_unlock(&lock);
		}
		__attribute__((noinline)) void copy_all(int count)
		{
			while (count--) {
				memcpy(to, from, sizeof(to));
				__asm__ volatile("" ::"r"(to) : "memory");
			}
		}
		__attribute__((noinline)) void rest(void) { usleep(400000); __asm__ volatile(""); }
		static void *work(void *none)
		{
			for (;;)
				wait_for_work();
			return none;
		}
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, NULL, work, NULL);
			copy_all(100000);
			rest();
			return 0;
		}
	END
	gcc -O1 -g -o waits waits.c -lpthread
	run -0 --separate-stderr "$TALLY" profile -- ./waits
	echo "$stderr"
	grep -qE '^ *[0-9.]+ %  .*(memcpy|memmove).*  libc\.so\.6, mostly called by copy_all$' <<<"$stderr"
	grep -qE '^ *[0-9.]+ s  .*futex.*  libc\.so\.6, called by wait_for_work$' <<<"$stderr"
	grep -qE '^ *[0-9.]+ s  .*nanosleep.*  libc\.so\.6, called by rest$' <<<"$stderr"
	page_is_right
	page run profile.html <<-'END'
		texts = page.column("string.text")
		own = {texts[name]: program for name, program in page.table("function", "name", "program")}
		assert own["wait_for_work"] == own["copy_all"] == own["rest"] == own["main"] == 1, own
		assert not any(program for name, program in own.items() if "futex" in name or "nanosleep" in name or "mem" in name), own
	END
}

# A program, made, that makes code and runs it; with an argument that is its name in a map.
build_maker() {
	command -v gcc >/dev/null || skip "gcc is not installed: no program that makes code"
	[ "$(uname -m)" = x86_64 ] || skip "the code that this program makes is that of x86-64"
	cat >made.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{ /* mov $0x8000000,%eax; 1: dec %eax; jne 1b; the same again; ret */
			static const unsigned char code[] = {0xb8, 0x00, 0x00, 0x00, 0x08, 0xff, 0xc8, 0x75, 0xfc, 0xb8, 0x00, 0x00, 0x00, 0x08, 0xff, 0xc8, 0x75, 0xfc, 0xc3};
			void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (argc > 1) {
				char path[64];
				FILE *map;
				snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
				map = fopen(path, "w");
				fprintf(map, "%lx %zx %s\n", (unsigned long)at, sizeof(code), argv[1]);
				fclose(map);
				puts(path);
			}
			memcpy(at, code, sizeof(code));
			((void (*)(void))at)();
			return 0;
		}
	END
	gcc -O1 -o made made.c
}

@test "18: code made at run time without names is one function of the page and the text, the sum of the report's rows" {
	build_maker
	run -0 --separate-stderr "$TALLY" profile -- ./made
	echo "$stderr"
	page_is_right
	"$TALLY" report --json -s dso,sym >report.json
	page run profile.html report.json "$(grep -oE '^ *[0-9.]+ %  \[unknown\]  \[JIT\] tid [0-9]+$' <<<"$stderr")" <<-'END'
		report, line = arguments
		with open(report, encoding="utf-8") as file:
		    event = json.load(file)["events"][0]
		rows = [row for row in event["rows"] if row["dso"].startswith("[JIT]") and "0x" in row["symbol"]]
		assert len(rows) > 1, "there are several addresses"
		of = [sums for (name, image, function), sums in page.functions().items() if name == event["event"] and image.startswith("[JIT]")]
		assert len(of) == 1 and of[0][0] == sum(row["period"] for row in rows), (of, rows)
		assert abs(float(line.split()[0]) - of[0][0] / event["period"] * 100) < 0.006, line
	END
}

@test "18: places in functions whose names have a line are no source lines" {
	build_maker
	run -0 --separate-stderr "$TALLY" profile -- ./made 'JS:run /srv/a.js:1:16'
	rm -f "$output"
	echo "$stderr"
	grep -qE '^ *9[0-9]\.[0-9]+ %  JS:run /srv/a\.js:1:16  ' <<<"$stderr"
	run -1 grep -E 'source lines|:16\+' <<<"$stderr"
}

@test "18: on a terminal of 80 columns no line is cut: sentences are broken between words, names are shortened" {
	command -v gcc >/dev/null || skip "gcc is not installed: no program with a long name"
	printf 'template <typename a, typename b, typename c> __attribute__((noinline)) unsigned long_name_of_a_template(unsigned n, a, b, c) { volatile unsigned sum = 0; while (n--) sum += n; return sum; }\n#include <map>\n#include <string>\nint main() { return long_name_of_a_template(200000000, std::map<std::string, std::string>(), std::string(), 3.0) == 1; }\n' >long.cc
	g++ -O1 -s -o long long.cc 2>/dev/null || skip "g++ is not installed: no program with a long name"
	g++ -O1 -o long long.cc
	cat >terminal.py <<-'END'
		import fcntl, os, pty, struct, sys, termios
		pid, fd = pty.fork()
		if not pid:
		    os.execvp(sys.argv[1], sys.argv[1:])
		fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
		try:
		    while text := os.read(fd, 65536):
		        sys.stdout.buffer.write(text)
		except OSError:
		    pass
	END
	python3 terminal.py sh -c 'until [ "$(stty size)" = "24 80" ]; do sleep 0.1; done; exec "$0" profile -- ./long' "$TALLY" >said
	sed -i 's/\r$//; s/.*\r//' said
	cat said
	run -1 grep -E '.{81}' said
	grep -qE ' %  .*long_name_of_a_template<\.\.\.>.*  long$' said
}

@test "18: a crash, and a command that does not exist" {
	run -139 --separate-stderr "$TALLY" profile -- sh -c 'kill -SEGV $$'
	grep -q '^tally profile: sh was ended by a signal: Segmentation fault' <<<"$stderr"
	page_is_right
	rm -f profile.html
	run -127 "$TALLY" profile -- no-such-program-here
	[ ! -e profile.html ] # the recording before is not shown as this one
	run -2 "$TALLY" profile
	[[ $output == *"nothing to profile"* ]]
}

@test "18: --children-of profiles what a server has started already, as its message says" {
	sh -c 'while :; do :; done & echo $! >child; wait' &
	local parent=$!
	until [ -s child ]; do sleep 0.1; done
	run -0 --separate-stderr "$TALLY" profile -p "$parent" sleep 0.5
	run --separate-stderr "$TALLY" profile "$(grep -o -e '--children-of' <<<"$stderr" | head -1)" "$parent" sleep 1
	kill "$(cat child)"
	[ "$status" -eq 0 ]
	grep -qE '^(One thread is busy|Others take the CPUs|Both CPUs|All [0-9]+ CPUs)' <<<"$stderr"
	page_is_right
	page summary profile.html | grep -q "sh, process $parent and its children"
	run -2 "$TALLY" profile -a --children-of 1
}

@test "18: messages of what record does for others name the command that was typed" {
	for wrong in '-F abc' '-p no,number' '-o no/such/folder'; do
		# shellcheck disable=SC2086
		run "$TALLY" profile $wrong -- true
		[ "$status" -ne 0 ]
		grep -q '^tally profile: ' <<<"$output"
		run -1 grep '^tally record' <<<"$output"
	done
	run -2 "$TALLY" top -F abc
	[[ $output == "tally top: 'abc' is not a frequency"* ]]
}

@test "18: Ctrl-C ends the recording, and the page follows" {
	"$TALLY" profile -- sleep 60 2>err &
	profile=$!
	for _ in $(seq 100); do
		grep -qa sleep "/proc/$(cat "/proc/$profile/task/$profile/children" 2>/dev/null | cut -d ' ' -f 1)/comm" 2>/dev/null && break
		sleep 0.1
	done
	kill -INT "$profile"
	wait "$profile"
	page_is_right
}

@test "18: the title says which process, or what ran, without the recorder" {
	need_all
	sleep 60 &
	sleeper=$!
	run -0 "$TALLY" record -q -g --off-cpu -p "$sleeper" -o running.data -- sleep 0.2
	run -0 "$TALLY" record -q -a -o all.data -- sleep 0.2
	sh -c 'while :; do :; done' &
	busy=$!
	"$TALLY" record -q -g -p "$sleeper,$busy" -o both.data -- sleep 0.2
	kill "$sleeper" "$busy"
	"$TALLY" report --html=both.html -i both.data
	page summary both.html | grep -qE '"title": "both.data: [a-z]*sh, 2 processes"'
	for recording in running all; do "$TALLY" report --html=$recording.html -i $recording.data; done
	page summary running.html | grep -qE "\"title\": \"running.data: (sleep, )?process $sleeper\""
	page summary all.html | grep -qF '"title": "all.data: the whole system during sleep 0.2"'
	"$TALLY" profile -q -- sh -c 'exec true'
	page summary profile.html | grep -qF '"title": "sh -c exec true"'
}

@test "18: of a program of 50 ms no wait of no time is shown, and its start is no share of cut chains" {
	command -v gcc >/dev/null || skip "gcc is not installed: no program of 50 ms; others are profiled above"
	cat >short.c <<-END
		int main(void)
		{
			volatile unsigned sum = 0;
			for (unsigned i = 0; i < 25000000u; i++)
				sum += i;
			return 0;
		}
	END
	gcc -O1 -g -o short short.c
	for turn in 1 2 3 4 5; do
		run -0 --separate-stderr "$TALLY" profile -- ./short
		sed -n '/^Hottest functions/{n;p}' <<<"$stderr" | grep -qE '  main  short$' || { echo "turn $turn: $stderr"; return 1; }
		run -1 grep -E '^  0\.00 s|call chains of offcpu-time' <<<"$stderr"
	done
}

@test "18: call chains of a program without symbols are not said to be cut: _start has no name there" {
	command -v gcc >/dev/null || skip "gcc is not installed: no program without symbols; tests/agree has some"
	cat >spin.c <<-END
		int main(int count, char **names)
		{
			volatile unsigned sum = 0;
			for (unsigned i = 0; i < 200000000u; i++)
				sum += i;
			return names[count] != 0;
		}
	END
	gcc -O1 -s -o spin spin.c
	run -0 --separate-stderr "$TALLY" profile -- ./spin
	grep -q 'functions of spin that have no names' <<<"$stderr"
	run -1 grep 'end before the start of their thread' <<<"$stderr"
	"$TALLY" report >report.txt
	run -1 grep 'Cut call chains' report.txt
}

@test "18: --call-graph chooses how chains are recorded, in the words of record" {
	run -0 "$TALLY" profile -q --call-graph fp -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
	"$TALLY" evlist -v | grep -q CALLCHAIN
	"$TALLY" info >info
	run -1 grep '^Stacks' info
	run -0 "$TALLY" profile -q --call-graph dwarf,4096 -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
	"$TALLY" info | grep '^Stacks'
	run -0 "$TALLY" profile -q --no-off-cpu --call-graph no true
	"$TALLY" evlist -v >events
	run -1 grep CALLCHAIN events
	run -2 "$TALLY" profile --call-graph dwraf true
	[[ $output == *"did you mean dwarf?"* ]]
}

@test "18: the page and the recording go where options say" {
	mkdir sub
	run -0 --separate-stderr "$TALLY" profile -q -o sub/it.data true
	[ -f sub/it.data ]
	page check sub/profile.html
	[[ $stderr == "sub/profile.html ("* ]]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	run -0 "$TALLY" profile -q --no-off-cpu --html other.html true
	page check other.html
	"$TALLY" evlist >events
	run -1 grep offcpu-time events
}
