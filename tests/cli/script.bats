#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally script: its options, what it says of mistakes, and results that are known.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	"$TALLY" record -q -e cpu-clock -F 5000 -g -o chains.data -- sh -c 'seq 1 30000 | sort -R | md5sum' >/dev/null 2>&1 || true
	"$TALLY" record -q -e cpu-clock -F 5000 -o flat.data -- sh -c 'seq 1 30000 | sort -R | md5sum' >/dev/null 2>&1 || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

need_recording() {
	[ -s chains.data ] && [ -s flat.data ] || skip "nothing can be recorded here"
}

wrong() { # status, words of the message, arguments
	local want=$1 words=$2
	shift 2
	run --separate-stderr "$TALLY" script "$@"
	[ "$status" = "$want" ] || { echo "status $status: $stderr"; return 1; }
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == "tally script: "*"$words"* ]] || { echo "$stderr"; return 1; }
}

@test "a file that is not there, or is no recording: one line, exit 1" {
	wrong 1 no-such.data -i no-such.data
	echo "this is no recording, and long enough to look at its first bytes" >text
	wrong 1 text text
}

@test "an address in memory that its program named has its place from the start of the mapping in chains, as in perf" {
	printf '%s\n' 'comm 7 a' 'map 7 5d54b1b40000 20000000 0 [anon:v8]' 'map 7 7f0000000000 1000 0 //anon' \
		'sample 7 5d54b30e0b40 user 5d54b30e0b40 7f0000000010' |
		python3 "$BATS_TEST_DIRNAME/recording.py" named.data chains
	"$TALLY" script -i named.data -F ip,dso >named.txt
	grep -qx $'\t         15a0b40 (\[anon:v8\])' named.txt
	grep -qx $'\t    7f0000000010 (/tmp/perf-7.map)' named.txt
	if command -v perf >/dev/null; then perf script -i named.data -F ip,dso 2>/dev/null | diff -w - named.txt; fi
}

@test "srcline of a module without lines counts from where the module was loaded, as in perf" {
	printf '%s\n' 'comm 7 a' 'kernel ffffffff81000000 1000000' 'module ffffffffc0313000 3b000 [sixthfs]' \
		'sample 7 ffffffffc033ab78' 'sample 7 ffffffff81000010' | python3 "$BATS_TEST_DIRNAME/recording.py" module.data
	"$TALLY" script -i module.data -F ip,srcline >module.txt
	grep -qx '  \[sixthfs\]\[27b78\]' module.txt
	"$TALLY" report -i module.data --stdio --no-children -s srcline | grep -q '\[sixthfs\]\[27b78\]'
	if command -v perf >/dev/null; then perf script -i module.data -F ip,srcline 2>/dev/null | diff -w - module.txt; fi
}

@test "side-band records without a time hold from their place in the file on, as in perf" {
	printf '%s\n' 'comm 7 early' 'sample 7 4000' 'comm 7 late' 'sample 7 4000' |
		python3 "$BATS_TEST_DIRNAME/recording.py" untimed.data
	"$TALLY" script -i untimed.data -F comm,time >untimed.txt
	[ "$(tr -d ' \n' <untimed.txt)" = "early1.001000:late1.002000:" ]
	if command -v perf >/dev/null; then perf script -i untimed.data -F comm,time 2>/dev/null | diff -w - untimed.txt; fi
}

@test "mistakes in -F are reported in one line, before anything is read" {
	wrong 2 "did you mean 'period'" -F perod -i no-such.data
	wrong 2 "'hard' is not a type" -F hard:ip -i no-such.data
	wrong 2 "either every field has a + or -" -F +ip,sym -i no-such.data
	wrong 2 "'trace' is not valid for hardware events" -F hw:trace -i no-such.data
	wrong 2 "decoded traces" -F +ipc -i no-such.data
}

@test "mistakes in --time, and times that exclude each other" {
	for time in 1 a,b 5,3 '200%/2' '10%-' '10%/x' '1,2,3' '3,4 1,2'; do
		wrong 2 "--time '$time'" --time "$time" -i no-such.data
	done
	wrong 2 "exclude each other" --reltime --deltatime -i no-such.data
}

@test "fields that the samples do not have are an error with the way out" {
	need_recording
	wrong 1 "-F -addr" -F +addr -i flat.data
	wrong 1 "no tracepoint events" -F trace: -i flat.data
	wrong 1 "add sym to -F" -F sw:ip,symoff -i flat.data
	wrong 2 "not a list of CPUs" -C x -i flat.data
	perf record -q -e cpu-clock -F 500 -a -o cpus.data -- sleep 0.1 2>/dev/null || return 0
	wrong 1 "the recorded machine has CPUs 0 to " -C 0,9999 -i cpus.data
}

@test "-F help lists the fields" {
	run "$TALLY" script -F help
	[ "$status" = 0 ]
	[[ $output == "comm tid pid time cpu event"* ]]
	[[ $output == *retire_lat* ]]
}

@test "as many samples as the recording has, in the order of time" {
	need_recording
	want=$("$TALLY" info -i flat.data --json | grep -o '"SAMPLE":[^,}]*' | head -1 | tr -dc 0-9)
	"$TALLY" script -i flat.data -F time >times
	[ "$(wc -l <times)" = "$want" ] || [ -z "$want" ]
	tr -d ' :' <times >plain
	sort -n -c plain
}

@test "with chains a sample is a line, its frames, and a blank line" {
	need_recording
	samples=$("$TALLY" script -i chains.data -G | wc -l)
	"$TALLY" script -i chains.data >text
	[ "$(grep -c '^$' text)" = "$samples" ]
	[ "$(grep -c '^[^	]' text)" = "$samples" ]
	"$TALLY" script -i chains.data --max-stack 1 | awk '/^\t/ {n++} /^$/ {if (n > 1) exit 1; n = 0}'
}

@test "the same text with one thread and with several" {
	need_recording
	"$TALLY" script -i chains.data >many
	cpu=$(taskset -cp $$ | grep -o '[0-9]*' | sed -n 2p)
	taskset -c "$cpu" "$TALLY" script -i chains.data >one
	cmp many one
}

@test "filters part the samples" {
	need_recording
	all=$("$TALLY" script -i flat.data -F comm | wc -l)
	sorts=$("$TALLY" script -i flat.data -F comm -c sort | wc -l)
	others=$("$TALLY" script -i flat.data -F comm | grep -vc 'sort *$') || true
	[ $((sorts + others)) = "$all" ]
	kernel=$("$TALLY" script -i flat.data --dsos '[kernel.kallsyms]' | wc -l)
	[ "$kernel" = "$("$TALLY" script -i flat.data -F dso,ip | grep -cF '[kernel.kallsyms]')" ]
}

@test "a reader that goes away early is no failure" {
	need_recording
	run -0 --separate-stderr bash -c '"$TALLY" script -i chains.data | head -1; echo "${PIPESTATUS[0]}"'
	[ "${lines[1]}" = 0 ]
	[ -z "$stderr" ]
}

@test "a full disk is reported" {
	need_recording
	[ -w /dev/full ] || skip "no /dev/full"
	run --separate-stderr bash -c '"$TALLY" script -i chains.data >/dev/full'
	[ "$status" = 1 ]
	[[ $stderr == *"No space left"* ]]
}

@test "--json is an object a line, a version first, losses last" {
	need_recording
	command -v python3 >/dev/null ||
		skip "no python3: nothing parses the JSON; tests/unit/export has it byte for byte"
	"$TALLY" script -i chains.data --json >objects
	python3 - "$("$TALLY" script -i chains.data -G | wc -l)" <<'END'
import json, sys
rows = [json.loads(line) for line in open("objects")]
assert rows[0]["type"] == "FILE" and rows[0]["version"] == 2
assert rows[-1]["type"] == "END"
samples = [row for row in rows if row["type"] == "SAMPLE"]
assert len(samples) == int(sys.argv[1])
assert all(row["frames"] for row in samples if row["fields"].get("callchain"))
END
}

# Kernel, user and (in the first) a branch stack of calls: what --call-graph lbr records.
make_branch_chains() { # file
	command -v python3 >/dev/null ||
		skip "no python3: it makes the recording; tests/unit/dump has values of other samples"
	python3 - "$1" <<'END'
import struct, sys
TYPE = 1 | 2 | 4 | 1 << 5 | 1 << 11  # IP, TID, TIME, CALLCHAIN, BRANCH_STACK
KERNEL, USER = 2**64 - 128, 2**64 - 512
attr = struct.pack("<IIQQQQQ", 0, 112, 0, 1000, TYPE, 0, 1 << 18)  # cycles, sample_id_all
attr += bytes(72 - len(attr)) + struct.pack("<Q", 1 | 1 << 11)     # USER, CALL_STACK
attr += bytes(112 - len(attr))
def sample(time, chain, branches):
    body = struct.pack("<QIIQ", chain[1], 7, 7, time)
    body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
    body += struct.pack("<Q", len(branches))
    for origin, target in branches:
        body += struct.pack("<QQQ", origin, target, 0)
    return struct.pack("<IHH", 9, 1, 8 + len(body)) + body
chain = [KERNEL, 0xffffffff81000010, USER, 0x401234]
data = sample(1000, chain, [(0x402000, 0x401200), (0x403000, 0x402100)]) + sample(2000, chain, [])
head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, 104, 128, 232, len(data), 0, 0) + bytes(32)
open(sys.argv[1], "wb").write(head + attr + bytes(16) + data)
END
}

@test "calls in the branch stack are the user part of the call chain" {
	make_branch_chains branches.data
	"$TALLY" script -i branches.data -F ip | tr -d '\t' | tr -s ' \n' '  ' >got
	[ "$(cat got)" = " ffffffff81000010 401200 402000 403000 ffffffff81000010 401234 " ]
}

@test "a recording cut short is shown as far as it goes, with a line that says so" {
	need_recording
	head -c "$(($(stat -c %s flat.data) * 2 / 3))" flat.data >cut.data
	run -0 --separate-stderr "$TALLY" script -i cut.data
	[ "${#lines[@]}" -gt 0 ]
	[[ $stderr == *cut.data* ]]
}

@test "a file of symbols that cannot be read is said, and nothing shown" {
	for option in --symfs --kallsyms --vmlinux; do
		run --separate-stderr "$TALLY" script $option no/such -i flat.data
		[ "$status" = 1 ]
		[ -z "$output" ]
		[[ "$stderr" == *"$option: no/such cannot be read"* ]]
	done
}

@test "a full disk is one line" {
	for options in "" --json --header-only; do
		run --separate-stderr bash -c '"$TALLY" script $1 -i flat.data >/dev/full' - "$options"
		[ "$status" = 1 ]
		[ "${#stderr_lines[@]}" = 1 ]
		[[ "$stderr" == *"could not be written"* ]]
	done
}

@test "a recording that somebody cuts off while it is read: one line, exit 1" {
	need_kernel
	# Samples by count, so that the recording is large on any machine.
	"$TALLY" record -q -e page-faults -c 1 -o cut.data -- sh -c 'i=0; while [ $i -lt 600 ]; do /bin/true; i=$((i + 1)); done' 2>err || true
	[ -s cut.data ] || skip "nothing can be recorded here"
	[ "$(stat -c %s cut.data)" -gt 2000000 ]
	mkfifo lines
	"$TALLY" script -i cut.data >lines 2>said &
	exec 5<lines
	read -r _ <&5 # it writes, and waits: most was not looked at again
	truncate -s 65536 cut.data
	cat <&5 >/dev/null
	exec 5<&-
	wait $! && false
	cat said
	[ "$(wc -l <said)" = 1 ]
	grep -q "^tally script: .*became shorter while it was read" said
}

@test "13.16: script, too, says in a line that filters drop all samples, with the most similar names, and ends with 0" {
	need_recording
	total=$("$TALLY" info --json flat.data | sed 's/.*"samples":\[{"event":0,"count":\([0-9]*\).*/\1/')
	for form in "" --json "-F ip"; do
		# shellcheck disable=SC2086 # options
		run -0 --separate-stderr "$TALLY" script -i flat.data $form -c sord
		[ "$stderr" = "tally script: 0 of $total samples match: no command is named 'sord'; most similar: sort" ]
		# shellcheck disable=SC2086
		run -0 --separate-stderr "$TALLY" script -i flat.data $form -c sort
		[ "$stderr" = "" ]
	done
	run -0 --separate-stderr "$TALLY" script -i flat.data --time 0,1
	[ "$output" = "" ]
	[ "$stderr" = "tally script: 0 of $total samples match all filters together" ]
}

@test "the offset of the vDSO is 0, whatever old kernels wrote" {
	printf '%s\n' 'comm 7 prog' 'map 7 7ffdd3de9000 2000 7ffdd3de9000 [vdso]' 'sample 7 7ffdd3de993c user 7ffdd3de993c 7ffdd3de9e41' |
		python3 "$BATS_TEST_DIRNAME/recording.py" vdso.data chains
	run -0 "$TALLY" script -i vdso.data -F ip,dso
	[ "${lines[0]}" = $'\t             93c ([vdso])' ]
	[ "${lines[1]}" = $'\t             e41 ([vdso])' ]
}
