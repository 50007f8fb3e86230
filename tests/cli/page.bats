#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# `tally report --html`: the data of the page, read by a reader of its own (page_reader.py).  What a browser makes of it is
# tested in tests/page.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	command -v python3 >/dev/null || skip "python3 is not installed: no page is read; tests/unit/page has known columns"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

page() { # COMMAND PAGE ...
	python3 "$TALLY_SOURCE/tests/cli/page_reader.py" "$@"
}

make_recording() { # FILE [chains]: of lines on standard input
	python3 "$TALLY_SOURCE/tests/cli/recording.py" "$@"
}

# Two threads with the same functions, one of them recursive.
small() {
	make_recording small.data chains <<-END
		comm 10 first
		comm 20 second
		map 10 1000 1000 0 /nowhere/liba.so
		map 20 1000 1000 0 /nowhere/liba.so
		map 20 5000 1000 0 /nowhere/libb.so
		sample 10 1010 user 1010 1020 1030
		sample 10 1010 user 1010 1020 1030
		sample 20 1010 user 1010 1010 5020
		sample 20 5020 user 5020
		sample 10 1020 user 1020 1030
		sample 20 9999 user 9999 5020
	END
}

@test "18: a small recording has the functions, stacks and times that were put into it" {
	small
	"$TALLY" report --html=small.html -i small.data
	page check small.html
	# Every sample has the period 1000.
	page functions small.html >sums
	diff - sums <<-END
		cpu-clock:HG [unknown] 0x9999 1000 1000 1
		cpu-clock:HG liba.so liba.so+0x10 3000 3000 3
		cpu-clock:HG liba.so liba.so+0x20 1000 3000 1
		cpu-clock:HG liba.so liba.so+0x30 0 3000 0
		cpu-clock:HG libb.so libb.so+0x20 1000 3000 1
	END
	# The first sample is at 1.001 s, and the others come 1 ms apart: units of 1 us from the first.
	[ "$(page column small.html sample.time | tr '\n' ' ')" = "0 1000 2000 3000 4000 5000 " ]
	page column small.html thread.pid thread.tid | sort | uniq -c | tr -s ' ' | diff - <(printf ' 2 10\n 2 20\n')
	[ "$(page column small.html node.parent | head -n 1)" = 4294967295 ]
}

@test "18: equal samples within a step are one, and no sum changes" {
	{ # 400,000 samples of 400 s: steps of more than a unit
		echo comm 10 busy
		echo map 10 1000 1000 0 /nowhere/liba.so
		echo sample 10 1010
		echo times 399999
	} | make_recording many.data
	"$TALLY" report --html=many.html -i many.data
	page check many.html
	[ "$(page functions many.html)" = "cpu-clock:HG liba.so liba.so+0x10 400000000 400000000 400000" ]
	[ "$(page column many.html sample.time | wc -l)" -lt 50000 ]
	[ "$(stat -c %s many.html)" -lt 2000000 ]
	step=$(page summary many.html | python3 -c 'import json, sys; print(json.load(sys.stdin)["time_step"])')
	[ "$step" -gt 1 ]
	# Spans that begin and end with steps.
	for span in 100:200 300:301 10.5:11; do
		times=$(page summary many.html | python3 -c '
import json, sys
page = json.load(sys.stdin)
step = page["time_unit"] * page["time_step"]
clock = round(page["clock"] * 1e9)
first, last = (clock + int(float(at) * 1e9) // step * step for at in sys.argv[1].split(":"))
print(f"{first // 10**9}.{first % 10**9:09},{(last - 1) // 10**9}.{(last - 1) % 10**9:09}")' "$span")
		"$TALLY" report --json -s dso,sym -i many.data --time "$times" >span.json
		page agree many.html span.json "${times%,*}" "${times#*,}"
	done
}

@test "18: code made at run time without names is one function, whatever the address" {
	{
		echo comm 10 made
		echo map 10 1000 1000 0 /nowhere/app
		echo map 10 100000 1000 0 //anon
		for at in 100010 100020 100030; do echo "sample 10 $at user $at $((${at%0} + 100))0 1020"; done
		echo "sample 10 1010 user 1010 100044 1020"
	} | make_recording made.data chains
	"$TALLY" report --html=made.html -i made.data
	page check made.html
	page functions made.html >sums
	cat sums
	[ "$(grep -c 'JIT' sums)" -eq 1 ]
	grep -qF 'cpu-clock:HG [JIT] tid 10 [unknown] 3000 4000 3' sums
	"$TALLY" report --json -s dso,sym -i made.data >made.json
	page agree made.html made.json
}

@test "18: in a difference such code is one row of text and page, whatever the addresses and the processes" {
	local pid
	for pid in 10 20; do
		{
			echo comm $pid made
			echo map $pid 1000 1000 0 /nowhere/app
			echo map $pid ${pid}0000 1000 0 //anon
			for at in 10 20 30; do printf '%s\n' "sample $pid ${pid}00$at user ${pid}00$at 1020" "times $pid"; done
		} | make_recording $pid.data chains
	done
	"$TALLY" diff -q -t ';' 10.data 20.data | tr -d ' ' >text
	diff text - <<<'100.00;+0.00%;withinthenoise;[JIT];[.][unknown]'
	"$TALLY" diff --html=made.html 10.data 20.data
	page check made.html
	page run made.html <<-'END'
		texts = page.column("string.text")
		made = [at for at, (image, name) in enumerate(page.table("function", "image", "name")) if texts[name] == "[unknown]"]
		assert [texts[page.column("image.name")[page.column("function.image")[at]]] for at in made] == ["[JIT]"], made
		assert list(page.column("difference.function")) == made
	END
}

@test "18: more addresses without a name than anybody reads are one function of each binary, and a note says so" {
	{ # each chain goes through an address of its own
		echo comm 10 lost
		echo map 10 1000 1000 0 /nowhere/liba.so
		seq -f 'sample 10 1010 user 1010 %.0f 1020' 100000 1 116399
	} | make_recording lost.data chains
	"$TALLY" report --html=lost.html -i lost.data
	page check lost.html
	page functions lost.html >sums
	diff - sums <<-END
		cpu-clock:HG [unknown] [unknown] 0 16400000 0
		cpu-clock:HG liba.so [unknown] 16400000 16400000 16400
	END
	[ "$(page column lost.html node.function | wc -l)" -eq 4 ]
	page summary lost.html | grep -q "16402 addresses have no function name: those of a binary are one function here"
}

@test "18: sums of every function are the report's, with each filter" {
	"$TALLY" record -q -e cpu-clock -F 2000 -g -o it.data -- sh -c 'for i in 1 2 3; do ls -R /usr/share/doc >/dev/null; done' 2>err ||
		skip "events cannot be opened here: $(head -n 1 err)"
	for filter in "" "--time 25%-75%" "--comm ls" "--cpu 0" "--dso libc.so.6" "--max-stack 3" "--no-inline" "--hide-unresolved" "--filter cpu==0"; do
		# shellcheck disable=SC2086 # words
		if ! "$TALLY" report --html=it.html -i it.data $filter 2>err || ! "$TALLY" report --json -s dso,sym -i it.data $filter >it.json; then
			echo "with '$filter': $(cat err)"
			return 1
		fi
		page check it.html
		grep -q '"rows":\[{' it.json || continue # nothing ran on CPU 0
		if [ "$filter" = --hide-unresolved ]; then
			page agree-named it.html it.json
		else
			page agree it.html it.json
		fi
	done
}

@test "18: sums of the corpus are the report's, also of the middle half of its time" {
	[ -d "${TALLY_CORPUS:-/nonexistent}/files" ] || skip "no corpus (TALLY_CORPUS): the recordings made here have known sums"
	page run - "$TALLY_CORPUS/files" <<-'END'
		import glob, json, os, subprocess
		tally, agreed, spans = os.environ["TALLY"], 0, 0
		def report(path, *more):
		    with open("c.json", "wb") as to: # damaged recordings are reported and end with 1
		        subprocess.run([tally, "report", "--no-branch-stack", "--json", "-s", "dso,sym", "-i", path, *more], stdout=to, stderr=subprocess.DEVNULL, check=False)
		    with open("c.json", encoding="utf-8") as file:
		        text = file.read()
		    return text and any(event["rows"] for event in json.loads(text)["events"])
		for path in sorted(glob.glob(arguments[0] + "/*")):
		    if os.path.getsize(path) > 3_000_000 or not report(path):
		        continue
		    print(path)
		    if os.path.exists("c.html"):
		        os.unlink("c.html")
		    subprocess.run([tally, "report", "--html=c.html", "-i", path], stderr=subprocess.DEVNULL, check=False)
		    page = Page("c.html")
		    check(page)
		    agree(page, "c.json", None)
		    agreed += 1
		    if page.summary["clock"] is None or not page.summary["duration"]:
		        continue
		    step = page.summary["time_unit"] * page.summary["time_step"]
		    clock, length = round(page.summary["clock"] * 1e9), round(page.summary["duration"] * 1e9)
		    first, last = clock + length // 4 // step * step, clock + length * 3 // 4 // step * step - 1
		    times = ",".join(f"{at // 10**9}.{at % 10**9:09}" for at in (first, last))
		    if first < last and report(path, "--time", times):
		        agree(page, "c.json", (first, last))
		        spans += 1
		print(agreed, spans)
		assert agreed >= 1 and spans >= 1
	END
}

@test "18: names of a recording never become markup" {
	long=$(printf 'n%.0s' $(seq 2000))
	make_recording hostile.data chains <<-END
		comm 10 </script><script>alert(1)
		comm 20 <!--<script>
		comm 30 漢字かな
		map 10 1000 1000 0 /nowhere/</script><script>document.title='x'</script>
		map 20 1000 1000 0 /nowhere/]]>&quot;"'<img/src=x/onerror=alert(1)>
		map 30 1000 1000 0 /nowhere/مكتبة.so
		map 30 5000 1000 0 /nowhere/$long
		sample 10 1010 user 1010 1020
		sample 20 1010 user 1010 1020
		sample 30 1010 user 1010 5020
	END
	"$TALLY" report --html=hostile.html -i hostile.data
	page check hostile.html
	page column hostile.html string.text >texts
	grep -qxF "</script><script>alert(1)" texts
	grep -qxF "<!--<script>" texts
	grep -qxF "漢字かな" texts
	grep -qxF "مكتبة.so" texts
	grep -qxF "$long" texts
	# Outside of the base64, only in escapes.
	[ "$(grep -c '<script>alert' hostile.html)" = 0 ]
	cp hostile.data "</script><script>alert(2)<!--&.data" 2>/dev/null || cp hostile.data 'a<script>alert(2)<!--&.data'
	"$TALLY" report --html=named.html -i 'a<script>alert(2)<!--&.data'
	page check named.html
	page summary named.html | grep -qF '"title": "a<script>alert(2)<!--&.data"'
}

@test "18: a recording without samples has a page" {
	make_recording none.data </dev/null
	"$TALLY" report --html=none.html -i none.data
	page check none.html
	page summary none.html | grep -q '"sentence": "There are no samples'
}

@test "18: the page is beside the recording, replaced as a whole, or on standard output" {
	small
	mkdir sub
	mv small.data sub/perf.data
	echo before >sub/profile.html
	chmod 600 sub/profile.html
	run --separate-stderr "$TALLY" report --html -i sub/perf.data
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[[ $stderr == *"sub/profile.html"* ]]
	page check sub/profile.html
	[ "$(find sub -type f | wc -l)" -eq 2 ]
	"$TALLY" report --html=- -i sub/perf.data >out.html
	cmp sub/profile.html out.html
	# A next word that is called as a page is its name; others are operands.
	"$TALLY" report --html next.html -i sub/perf.data
	cmp next.html out.html
	"$TALLY" report --svg next.svg -i sub/perf.data
	[ -s next.svg ]
	rm sub/profile.html
	"$TALLY" report --html sub/perf.data
	cmp sub/profile.html out.html
	run "$TALLY" report --html=missing/it.html -i sub/perf.data
	[ "$status" -eq 1 ]
	[[ $output == *"cannot write missing/it.html: No such file or directory"* ]]
	if [ -e /dev/full ]; then
		run "$TALLY" report --html=/dev/full -i sub/perf.data
		[ "$status" -eq 1 ]
		[[ $output == *"No space left"* ]]
	fi
	run "$TALLY" report --html --json -i sub/perf.data
	[ "$status" -eq 2 ]
}

# What the sentence says of such a recording; samples come 1 ms apart, from a machine of one CPU.
sentence() {
	make_recording said.data chains
	"$TALLY" report --html=said.html -i said.data
	page summary said.html | python3 -c 'import json, sys; print(json.load(sys.stdin)["sentence"])'
}

@test "18: the sentence says what limits" {
	busy=$(sentence <<-END
		comm 10 worker
		map 10 1000 1000 0 /nowhere/liba.so
		period 1000000
		sample 10 1010 user 1010
		times 99
	END
	)
	[ "$busy" = "One thread is busy all the time (worker, 10): what it does limits the whole." ]
	kernel=$(sentence <<-END
		comm 10 worker
		map 10 1000 1000 0 /nowhere/liba.so
		kernel ffffffff81000000 1000000
		period 1000000
		sample 10 1010 user 1010
		times 39
		sample 10 ffffffff81000010 kernel ffffffff81000010 user 1010
		times 59
	END
	)
	[[ $kernel == *"60 % of the CPU time is the kernel's."* ]]
	turns=$(sentence <<-END
		comm 10 first
		comm 20 second
		map 10 1000 1000 0 /nowhere/liba.so
		map 20 1000 1000 0 /nowhere/liba.so
		period 1000000
		sample 10 1010 user 1010
		times 74
		sample 20 1010 user 1010
		times 24
	END
	)
	[ "$turns" = "About one CPU is busy, with 2 threads in turn, most with first (75 %): they do not run at the same time." ]
	little=$(sentence <<-END
		comm 10 idle
		map 10 1000 1000 0 /nowhere/liba.so
		period 10000
		sample 10 1010 user 1010
		times 99
	END
	)
	[ "$little" = "The CPUs are little used: 1.0 % of one CPU." ]
	few=$(sentence <<-END
		comm 10 short
		map 10 1000 1000 0 /nowhere/liba.so
		period 1000000
		sample 10 1010 user 1010
		times 4
	END
	)
	[[ $few == "Only 5 samples: "* ]]
}

@test "18: runs of threads are those of the switches, and processes that start and end are markers" {
	run "$TALLY" record -q --switch-events -o live.data -- sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; sleep 0.05; while [ $i -lt 120000 ]; do i=$((i + 1)); done'
	[ "$status" -eq 0 ] || skip "this machine does not record switches: $output"
	"$TALLY" report --html=live.html -i live.data
	page check live.html
	"$TALLY" script --show-switch-events -i live.data >live.txt
	# Switches of the shell, which has samples, after its first one.
	page run live.html live.txt <<-'END'
		import re
		# One that nothing but switches knows by that name, as before an exec, is not shown.
		threads = {(tid, page.column("string.text")[comm]) for tid, comm in page.table("thread", "tid", "comm")}
		runs = page.table("run", "thread", "start", "end")
		assert runs and all(start <= end for _, start, end in runs)
		begin, end = page.summary["clock"], page.summary["clock"] + page.summary["duration"]
		with open(arguments[0], encoding="utf-8", errors="replace") as file:
		    lines = [re.search(r"(\S+) +(\d+) +(?:\[\d+\] +)?(\d+\.\d+): PERF_RECORD_SWITCH\w* +IN", line) for line in file]
		# Times of the text are cut to microseconds.
		ins = [float(line[3]) for line in lines if line and (int(line[2]), line[1]) in threads]
		wanted = sum(begin <= time <= end for time in ins)
		assert abs(len(runs) - wanted) <= 1, (len(runs), wanted)
		texts = page.column("string.text")
		markers = {(texts[name], kind) for name, kind in page.table("marker", "name", "kind")}
		assert ("fork", 1) in markers and ("sleep", 1) in markers and ("exit", 2) in markers, markers
	END
}

@test "18: of a frequent tracepoint some samples are markers, of a rare one all" {
	run "$TALLY" record -q -N -e raw_syscalls:sys_enter -e sched:sched_process_exec -o traced.data -- \
		sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=30000 2>said; /bin/true; /bin/true'
	[ "$status" -eq 0 ] || skip "tracepoints cannot be recorded here: $output"
	"$TALLY" report --html=traced.html -i traced.data
	page run traced.html <<-'END'
		texts = page.column("string.text")
		names = [texts[name] for name, kind in page.table("marker", "name", "kind") if kind == 0]
		rare, all_of_it = names.count("sched:sched_process_exec"), len(names)
		assert rare == 4, rare
		assert 8192 <= all_of_it <= 16384, all_of_it
		times = page.column("marker.time")
		assert times == sorted(times)
	END
}

@test "18: source and assembly have a function's samples, and are left out with --no-source" {
	command -v gcc >/dev/null || skip "gcc is not installed: tests/page has known source and assembly"
	cat >busy.c <<-'END'
		volatile long sum;
		#include "secret.txt"
		__attribute__((noinline)) void busy(long n) { for (long i = 0; i < n; i++) sum += i * i; }
		int main(void) { for (int i = 0; i < 200; i++) { busy(100000); hidden(100000); } return 0; }
	END
	echo '__attribute__((noinline)) void hidden(long n) { for (long i = 0; i < n; i++) sum ^= i; }' >secret.txt
	gcc -g -O1 -o busy busy.c
	"$TALLY" record -q -F 5000 -e cpu-clock:u -o busy.data ./busy
	"$TALLY" report --html=busy.html -i busy.data
	page check busy.html
	page run busy.html <<-'END'
		texts = page.column("string.text")
		names = [texts[name] for name in page.column("function.name")]
		own = {key[2]: row[0] for key, row in page.functions().items()}
		code = page.table("code", "function", "text", "file", "number")
		sums, lines = {}, {}
		for row, value in page.table("code_sample", "code", "self"):
		    name = names[code[row][0]]
		    sums[name] = sums.get(name, 0) + value
		for function, value in page.table("line", "function", "self"):
		    lines[names[function]] = lines.get(names[function], 0) + value
		for name in ("busy", "hidden"):
		    assert sums[name] == lines[name] == own[name], (name, sums, lines, own)
		assert any("imul" in texts[row[1]] for row in code), "assembly of busy()"
		source = [(texts[file].rsplit("/")[-1], number, texts[text]) for file, number, text in page.table("source", "file", "number", "text")]
		assert ("busy.c", 1, "volatile long sum;") in source, source
		assert {row[0] for row in source} == {"busy.c"}, "no file that is not source code"
	END
	"$TALLY" report --html=plain.html --no-source -i busy.data
	[ -z "$(page column plain.html code.text source.text line.number)" ]
	"$TALLY" report --html=one.html --comm busy -i busy.data
	[ -z "$(page column one.html code.text)" ]
}

@test "18: a flame graph says how much is too narrow to be drawn, and without stacks none is written" {
	make_recording wide.data chains <<-END
		comm 10 app
		map 10 1000 1000 0 /nowhere/liba.so
		sample 10 1010 user 1010 1020
		times 19998
		sample 10 1030 user 1030 1020
	END
	"$TALLY" report --svg=wide.svg -i wide.data
	grep -qF '20000 samples, 20 ms; 0.01% of it ends in frames narrower than a tenth of a pixel, which are left out</text>' wide.svg
	[ "$(grep -c 'class="f"' wide.svg)" -eq 3 ]
	"$TALLY" report --flame -i wide.data >wide.txt
	[ "$(head -n 1 wide.txt)" = "# Event 'cpu-clock:HG': 20000 samples; the width is 20 ms" ]
	make_recording none.data </dev/null
	printf 'comm 10 app\nsample 10 1010\n' | make_recording flat.data
	for name in none flat; do
		for format in --svg=$name.svg --flame; do
			run -1 --separate-stderr "$TALLY" report "$format" -i $name.data
			[ -z "$output" ]
			[[ $stderr == *"no samples with call stacks"* ]]
			[ ! -e $name.svg ]
		done
	done
}

@test "18: a large part of a binary in which nothing says where functions begin has no assembly; with symbols it has" {
	command -v gcc >/dev/null || skip "gcc is not installed: tests/page has known source and assembly"
	echo 'int main(void) { for (volatile int i = 0; i < 20000; i++) __asm__ volatile(".rept 70000; nop; .endr"); return 0; }' >large.c
	gcc -O1 -o named large.c
	gcc -O1 -s -Wl,--build-id=none -o nameless large.c # no other copy has its symbols
	local name
	for name in named nameless; do
		"$TALLY" record -q -F 2000 -e cpu-clock:u -o $name.data ./$name
		"$TALLY" report --html=$name.html -i $name.data
	done
	[ "$(page column named.html code.offset | wc -l)" -gt 1000 ]
	page run nameless.html <<-'END'
		texts = page.column("string.text")
		large = [at for at, name in enumerate(page.column("function.name")) if texts[name].startswith("nameless+0x")]
		assert large and not [function for function in page.column("code.function") if function in large], large
	END
}

@test "18: a difference has the source and assembly of each recording, with its samples" {
	command -v gcc >/dev/null || skip "gcc is not installed: tests/page has known source and assembly"
	echo 'volatile long sum; __attribute__((noinline)) void busy(long n) { for (long i = 0; i < n; i++) sum STEP i; } int main(void) { busy(60000000); return 0; }' >busy.c
	for side in '^=' '+='; do
		mkdir -p "$side"
		gcc -g -O1 "-DSTEP=$side" -o "$side/busy" busy.c
		"$TALLY" record -q -F 5000 -e cpu-clock:u -o "$side/it.data" "$side/busy"
	done
	"$TALLY" diff --html=busy.html '^=/it.data' '+=/it.data'
	page check busy.html
	page run busy.html <<-'END'
		texts = page.column("string.text")
		names = [texts[name] for name in page.column("function.name")]
		leaf = [names[at] if at < len(names) else "" for at in page.column("node.function")]
		side = page.column("thread.recording")
		code = page.table("code", "recording", "function", "text")
		for number, word in enumerate(("xor", "add")):
		    own = sum(weight for thread, node, weight in page.table("sample", "thread", "node", "weight") if side[thread] == number and leaf[node] == "busy")
		    assembly = sum(value for row, value in page.table("code_sample", "code", "self") if code[row][0] == number and names[code[row][1]] == "busy")
		    lines = sum(value for recording, function, value in page.table("line", "recording", "function", "self") if recording == number and names[function] == "busy")
		    assert own == assembly == lines > 0, (number, own, assembly, lines)
		    found = [texts[text] for recording, function, text in code if recording == number and names[function] == "busy"]
		    assert any(text.startswith(word) and "%rip" not in text for text in found), found
		assert len(page.column("source.number")) == len(set(page.table("source", "file", "number"))) > 0
	END
	"$TALLY" diff --html=plain.html --no-source '^=/it.data' '+=/it.data'
	[ -z "$(page column plain.html code.text source.text line.number)" ]
}
