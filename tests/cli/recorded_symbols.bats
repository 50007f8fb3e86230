#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Names that simpleperf and hiperf keep in the recording: --recorded-symbols.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	command -v python3 >/dev/null || skip "python3 is not installed: it makes the recordings of this file"
	cd "$BATS_FILE_TMPDIR" || return 1
	python3 "$BATS_TEST_DIRNAME/recording.py" plain.data chains <<-EOF
		comm 5 app
		kernel ffffff8008080000 1000000
		module ffffff8001000000 10000 [wlan]
		map 5 7000000000 10000 2000 /system/lib64/libapp.so
		map 5 7100000000 10000 0 /data/app/base.vdex
		sample 5 ffffff80080a0010 kernel ffffff80080a0010 ffffff8001001234 user 7000000150 7000000330 7100000888
		sample 5 70000001ff user 70000001ff 7000000400
	EOF
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v python3 >/dev/null || skip "python3 is not installed, which makes the recordings"
}

# make FORM: the code of libapp.so begins at 0x12000 of its addresses, which is at 0x2000 of the file
make() {
	local kernel=ffffff8008080000 module=1000
	[ "$1" != hiperf ] || module=0
	python3 "$BATS_TEST_DIRNAME/recorded_symbols.py" plain.data "$1.data" "$1" <<-EOF
		kernel [kernel.kallsyms] $kernel -
		ffffff80080a0000 40 do_work
		module [wlan] $module $([ "$1" = file2 ] && echo 0 || echo -)
		$(printf %x $((0x$module + 0x1200))) 100 wlan_irq
		binary /system/lib64/libapp.so 12000 $2
		12100 100 _ZN3app4workEi
		12300 80 app_main
		offsets /data/app/base.vdex 0 -
		800 100 com.example.Main.run
	EOF
}

readonly STACKS="do_work+0x10 wlan_irq+0x34 app::work+0x50 app_main+0x30 com.example.Main.run+0x88
app::work+0xff [unknown]"

# A line for each sample: the names of its frames.
stacks() {
	"$TALLY" script --recorded-symbols -F ip,sym,symoff -i "$1" |
		awk 'NF { line = line " " $2 } !NF { if (line) print substr(line, 2); line = "" }'
}

@test "names that simpleperf keeps are those of its files, with the places of their code" {
	for form in file file2; do
		make "$form" 2000
		[ "$(stacks "$form.data")" = "$STACKS" ]
	done
	make file - # unknown: the code begins where the mapping does
	[ "$(stacks file.data)" = "$STACKS" ]
}

@test "names that hiperf keeps are found in the same way" {
	make hiperf 2000
	[ "$(stacks hiperf.data)" = "$STACKS" ]
	run -0 --separate-stderr "$TALLY" info --json hiperf.data
	[[ "$output" = *'"path":"/system/lib64/libapp.so","symbols":2'* ]]
}

@test "a kernel that was loaded elsewhere than its names say is shifted back" {
	python3 "$BATS_TEST_DIRNAME/recorded_symbols.py" plain.data moved.data file <<-EOF
		kernel [kernel.kallsyms] ffffffc000080000 -
		ffffffc0000a0000 40 do_work
	EOF
	run -0 --separate-stderr "$TALLY" script --recorded-symbols -F ip,sym -i moved.data
	[[ "$output" = *" do_work"* ]]
}

@test "without the option names are as perf's, and the report says where more are" {
	make file2 2000
	run -0 --separate-stderr "$TALLY" report --stdio -g none -i file2.data
	[[ "$output" = *"# The recording has names of 4 files; see them with --recorded-symbols"* ]]
	[[ "$output" != *app_main* ]]
	run -0 --separate-stderr "$TALLY" report --stdio -g none --recorded-symbols -i file2.data
	[[ "$output" != *"names of"* ]]
	[[ "$output" = *app_main* ]]
	[[ "$output" = *com.example.Main.run* ]]
	"$TALLY" report --html=page.html -i file2.data
	[ "$(grep -o "make the page with --recorded-symbols" page.html | wc -l)" -eq 1 ]
	run -0 --separate-stderr "$TALLY" export --recorded-symbols --to folded -i file2.data
	[[ "$output" = *"com.example.Main.run;app_main;app::work;wlan_irq"*";do_work"* ]]
}

@test "damaged lists of names cost no sample" {
	make file 2000
	make hiperf 2000
	for form in file hiperf; do
		size=$(stat -c %s "$form.data")
		for cut in 1 5 40 90 130; do
			head -c $((size - cut)) "$form.data" >cut.data
			run --separate-stderr "$TALLY" script --recorded-symbols -F ip,sym -i cut.data
			[ "$status" -le 1 ]
			[ "$("$TALLY" script -F time -i cut.data 2>/dev/null | grep -c .)" = 2 ]
		done
	done
}

@test "simpleperf's first tracing data, which is within its record, hides no records" {
	python3 - plain.data traced.data <<-EOF
		import struct, sys
		whole = open(sys.argv[1], "rb").read()
		start, size = struct.unpack_from("<QQ", whole, 40)
		data = struct.pack("<IHHI", 66, 0, 12 + 2048, 2012) + bytes([23, 8, 68]) + b"tracing" + bytes(2038)
		header = bytearray(whole[:start])
		struct.pack_into("<QQ", header, 40, start, len(data) + size)
		struct.pack_into("<4Q", header, 72, 0, 0, 0, 0)
		open(sys.argv[2], "wb").write(header + data + whole[start:start + size])
	EOF
	[ "$("$TALLY" script -F comm,tid,time -i traced.data)" = "$("$TALLY" script -F comm,tid,time -i plain.data)" ]
	run -0 --separate-stderr "$TALLY" info traced.data
	[[ "$output" != *Damage* ]]
}

@test "simpleperf's tracing data, which is in a record, names events and their fields" {
	[ -n "$TALLY_CORPUS" ] || skip "TALLY_CORPUS is not set: no recording of simpleperf has tracepoints"
	local of="$TALLY_CORPUS/files/GrapheneOS+platform_system_extras__simpleperf__testdata__perf_with_tracepoint_event"
	[ -f "$of.data" ] || skip "TALLY_CORPUS has no recording of simpleperf with tracepoints"
	run -0 --separate-stderr "$TALLY" script --recorded-symbols -F comm,event,trace,ip,sym -i "$of.data"
	[[ "$output" = *"sleep sched:sched_switch: prev_comm=sleep prev_pid=9896 prev_prio=120 prev_state="*" next_pid=0 next_prio=120"* ]]
	[[ "$output" = *" perf_event_exec"* ]]
	run -0 --separate-stderr "$TALLY" script -F event,trace -i "${of}_dynamic_field.data"
	[[ "$output" = *'kprobes:myopen: (ffffffffa9a84150) name="/proc/modules" dfd=-100'* ]]
}
