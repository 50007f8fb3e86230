#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Places in code by name: each passing of a known number is a sample, markers' counters are counted up, and
# what is not found is reported with similar names.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	# Markers by hand, as <sys/sdt.h> makes them: an owner, a type, three addresses, three texts.
	cat >prog.c <<'END'
#include <stdio.h>
#define MARK(name, counter)                                                        \
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
			 ".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \
			 "993: .8byte 990b,_.stapsdt.base," counter "\n"            \
			 ".asciz \"toy\"\n.asciz \"" name "\"\n.asciz \"\"\n994: .balign 4\n.popsection\n")
__asm__(".pushsection .stapsdt.base,\"a\"\n_.stapsdt.base: .space 1\n.popsection\n");
__attribute__((section(".probes"), used)) volatile unsigned short heard_counter;
__attribute__((noinline)) int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}
static __attribute__((noinline)) int inner(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 2;
}
int main(void)
{
	int heard = 0, x = 0;

	for (int i = 0; i < 30; i++) {
		x = work(x);
		if (i % 3 == 0)
			x = inner(x) & 255;
		MARK("tick", "0");
		heard += heard_counter;
		MARK("heard", "heard_counter");
		if (i % 10 == 0)
			MARK("tick", "0");
	}
	printf("%d\n", heard);
	return x < 0;
}
END
	gcc -O1 -no-pie -o prog prog.c 2>errors || return 0
	strip -o bare prog
	[ -r /sys/bus/event_source/devices/uprobe/type ] || return 0
	"$TALLY" record -q -o works.data -e uprobe:./prog:work ./prog >/dev/null 2>&1 || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -x prog ] || skip "markers cannot be built here: $(head -1 errors)"
}

needs_uprobes() {
	[ -s works.data ] || skip "uprobes cannot be recorded here"
}

# On one CPU, as each counts a period for itself.
samples() { # EVENT [PROGRAM]: how many of it a run makes
	taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')" "$TALLY" record -q -o one.data -e "$1" "./${2:-prog}" >output 2>errors || {
		cat errors
		return 1
	}
	"$TALLY" script -i one.data --json | grep -c '"type":"SAMPLE"'
}

@test "each call, return and address is a sample" {
	needs_uprobes
	[ "$(samples uprobe:./prog:work)" = 30 ]
	[ "$(samples uprobe:./prog:inner)" = 10 ]
	[ "$(samples uretprobe:./prog:inner)" = 10 ]
	[ "$(samples uprobe:./prog:inner%return)" = 10 ]
	[ "$(samples "uprobe:./prog:0x$(nm prog | awk '$3 == "work" {print $1}')")" = 30 ]
	[ "$(samples "uprobe:./prog:work/period=10/")" = 3 ]
	[ "$(samples "{uprobe:./prog:work,uprobe:./prog:inner}")" = 40 ]
}

@test "the PMU's own terms take the file's offset" {
	needs_uprobes
	run -0 python3 - <<-'END'
		import subprocess
		load = [l.split() for l in subprocess.check_output(["readelf", "-lW", "prog"], text=True).splitlines() if " LOAD " in l]
		address = int([l for l in subprocess.check_output(["nm", "prog"], text=True).splitlines() if l.endswith(" work")][0].split()[0], 16)
		for l in load:
		    offset, start, size = int(l[1], 16), int(l[2], 16), int(l[4], 16)
		    if start <= address < start + size:
		        print(hex(address - start + offset))
	END
	[ "$(samples "uprobe/uprobe_path='./prog',probe_offset=$output/")" = 30 ]
}

@test "markers are found by program and in what runs, and their counters are counted up" {
	needs_uprobes
	[ "$(samples usdt:./prog:toy:tick)" = 33 ] # two places
	[ "$(samples sdt_toy:tick)" = 33 ]
	[ "$(samples sdt_toy:tick bare)" = 33 ]
	"$TALLY" record -q -o one.data -e sdt_toy:tick ./prog >output
	[ "$(cat output)" = 0 ]
	run -0 "$TALLY" evlist -i one.data
	[[ $output = *sdt_toy:tick$'\n'sdt_toy:tick_1* ]]
	[ "$(samples sdt_toy:heard)" = 30 ]
	[ "$(cat output)" = 30 ]
}

@test "tally stat counts places" {
	needs_uprobes
	run --separate-stderr "$TALLY" stat -x, -e uprobe:./prog:work,usdt:./prog:toy:tick,sdt_toy:heard -o counts.csv ./prog
	[ "$status" = 0 ]
	[ "$(grep -v '^#' counts.csv | grep . | cut -d, -f1,3)" = $'30,uprobe:./prog:work\n30,usdt:./prog:toy:tick\n3,usdt:./prog:toy:tick_1\n30,sdt_toy:heard' ]
	run "$TALLY" stat -e uprobe:./prog:wrok ./prog
	[ "$status" -ne 0 ]
	[[ $output = *"did you mean work?"* ]]
}

@test "perf reads the recording" {
	needs_uprobes
	command -v perf >/dev/null ||
		skip "perf is not installed: the recording is read by tally only, in the tests before"
	[ "$(perf script -i works.data -F ip,sym 2>/dev/null | grep -c work)" = 30 ]
}

@test "tally list sdt" {
	run "$TALLY" list sdt ./prog ./bare --names
	[ "$status" = 0 ]
	[ "$output" = $'sdt_toy:heard\nsdt_toy:tick\nsdt_toy:heard\nsdt_toy:tick' ]
	run -0 "$TALLY" list sdt ./prog --json
	[[ $output = *'"kind":"marker","name":"sdt_toy:tick"'* ]]
	[[ $output = *'"topic":"./prog"'* ]]
	run -0 "$TALLY" list sdt ./prog tick --names
	[ "$output" = sdt_toy:tick ]
	run -1 "$TALLY" list sdt ./nothing
	[[ $output = *"./nothing: No such file"* ]]
	run -1 "$TALLY" list sdt ./prog.c
	[[ $output = *"not an ELF binary"* ]]
}

@test "what is not found is reported with similar names" {
	[ -r /sys/bus/event_source/devices/uprobe/type ] || skip "this kernel has no PMU uprobe"
	run "$TALLY" record -o x.data -e uprobe:./prog:wrok ./prog
	[ "$status" -ne 0 ]
	[[ $output = *"no function wrok; did you mean work?"* ]]
	run -125 "$TALLY" record -o x.data -e usdt:./prog:toy:tock ./prog
	[[ $output = *"no marker toy:tock in ./prog; did you mean toy:tick?"* ]]
	run -125 "$TALLY" record -o x.data -e sdt_toy:none true
	[[ $output = *"no marker toy:none in what is recorded; say which program"* ]]
	run -125 "$TALLY" record -o x.data -e uprobe:no-such-program:main true
	[[ $output = *"no program or library no-such-program"* ]]
	run -125 "$TALLY" record -o x.data -e uprobe:./bare:work ./bare
	[[ $output = *"./bare has no function work"* ]]
	run -125 "$TALLY" record -o x.data -e uprobe:./prog:0x10 ./prog
	[[ $output = *"nothing at address 0x10"* ]]
	[ ! -e x.data ]
}

@test "13.32: options of perf probe that are not here are refused with what to do instead" {
	while IFS='|' read -r option words; do
		# shellcheck disable=SC2086 # an option with its value
		run -2 "$TALLY" probe $option schedule
		[[ "$output" == *"$words"* ]]
		[[ "$output" != *"did you mean"* ]]
	done <<-'END'
		--cache|give -x PROGRAM
		--symfs /mnt|-x DIR/PROGRAM
		--target-ns 1|-x /proc/PID/root/PROGRAM
		--bootconfig|-D prints
	END
}
