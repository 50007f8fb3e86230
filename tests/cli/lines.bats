#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Source lines in tally script are those of perf script, which asks addr2line.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >work.c <<'END'
volatile unsigned sink;
static inline unsigned mix(unsigned x)
{
	x ^= x >> 13;
	return x * 0x5bd1e995;
}
__attribute__((noinline)) static unsigned work(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += mix(sum + i);
	return sum;
}
int main(void)
{
	for (int i = 0; i < 20; i++)
		sink += work(8000000);
	return 0;
}
END
	gcc -O2 -g3 -o work work.c || return 0
	gcc -O2 -o bare work.c || return 0
	for program in work bare; do
		perf record -q -e cpu-clock:u -F 2000 -o $program.data -- ./$program 2>/dev/null || true
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s work.data ] && [ -s bare.data ] || skip "perf cannot record here"
	command -v addr2line >/dev/null ||
		skip "addr2line is not installed: lines are not compared with it; tests/unit/image has known lines"
}

# What the dynamic loader does is left out: addr2line takes another file for some of its lines.
program_only() {
	grep -A 1 "($BATS_FILE_TMPDIR/"
}

@test "lines of a program with debug information" {
	for option in "" --full-source-path; do
		perf script -i work.data -F ip,sym,dso,srcline $option 2>/dev/null | program_only >theirs
		"$TALLY" script -i work.data -F ip,sym,dso,srcline $option | program_only >ours
		grep -q 'work.c:' ours
		diff theirs ours
	done
}

@test "a program without debug information" {
	perf script -i bare.data -F ip,sym,dso,srcline 2>/dev/null | program_only >theirs
	"$TALLY" script -i bare.data -F ip,sym,dso,srcline | program_only >ours
	[ -s ours ]
	diff theirs ours
}

# perf 6.1 counts what addr2line found, and shows the symbol and the offset where it did not.
rows() {
	grep -v '^#' | sed 's/ *$//;/^$/d' | awk '{share = $1; $1 = ""; print share, $0}' | sort
}

@test "15.2: report -s srcline and -s srcfile have the rows of perf" {
	for key in srcline srcfile; do
		perf report -i work.data --stdio -s dso,$key 2>/dev/null | grep -E ' work +' | rows >theirs
		"$TALLY" report -i work.data --stdio -s dso,$key | grep -E ' work +' | rows >ours
		grep -q 'work.c' ours
		diff theirs ours
	done
}

@test "15.1: lines and inlined functions of a program are the same when its debug information is compressed" {
	command -v objcopy >/dev/null || skip "objcopy is not installed: compressed debug information is not made"
	"$TALLY" script -i work.data -F ip,sym,srcline --inline >plain
	cp work kept
	for how in zlib-gabi zlib-gnu zstd; do
		[ $how != zstd ] || "$TALLY" version --build-options | grep -q 'zstd: \[ on' || continue
		objcopy --compress-debug-sections=$how kept work 2>said || { cp kept work; continue; } # binutils before 2.40
		[ $how != zstd ] || readelf -t work | grep -q ZSTD
		"$TALLY" script -i work.data -F ip,sym,srcline --inline >packed || { cp kept work; false; }
		cp kept work
		diff plain packed
	done
	grep -q 'work.c:1[01]' plain
}

@test "15.2: lines of the kernel come from --vmlinux, wherever the kernel was loaded" {
	cat >kernel.c <<-'END'
		static inline unsigned mix(unsigned x)
		{
			return x ^ x >> 13;
		}
		void _stext(void) {}
		unsigned work(unsigned n)
		{
			unsigned sum = 0;
			for (unsigned i = 0; i < n; i++)
				sum += mix(sum + i);
			return sum;
		}
	END
	gcc -O1 -g -ffreestanding -nostdlib -static -mcmodel=kernel -fno-pic -no-pie -Wl,-Ttext=0xffffffff81000000 -Wl,-e,_stext -Wl,--defsym=_text=_stext \
		-Wl,--build-id=sha1 -o vmlinux kernel.c 2>said || skip "no such program is linked here: $(tail -1 said)"
	at=$((16#$(nm vmlinux | awk '$3 == "work" {print substr($1, 9)}') - 16#81000000))
	{
		printf 'comm 77 work\nkernel ffffffffa1000000 100000\n'
		for ((i = 0; i < 20; i++)); do
			printf 'sample 77 ffffffff%x kernel ffffffff%x\n' $((16#a1000000 + at + i)) $((16#a1000000 + at + i))
		done
	} | python3 "$BATS_TEST_DIRNAME/recording.py" kernel.data
	for ((i = 0; i < 20; i++)); do
		printf '0xffffffff%x\n' $((16#81000000 + at + i))
	done | addr2line -e vmlinux | sed 's/.*\///; s/ (.*//' >theirs
	for again in 1 2; do
		"$TALLY" script -i kernel.data -k vmlinux -G -F ip,sym,srcline | sed -n 's/^  //p' >ours
		diff theirs ours
	done
	grep -q 'kernel.c:3' ours
	"$TALLY" report -i kernel.data -k vmlinux -s srcline -g none | grep -q 'kernel.c:3'
	# Without it no line is known.
	"$TALLY" script -i kernel.data -F ip,sym,srcline >all
	run -1 grep kernel.c all
}

@test "15: lines of a kernel module come from its file, wherever the kernel put its sections" {
	cat >module.c <<-'END'
		static inline unsigned mix(unsigned x)
		{
			return x ^ x >> 13;
		}
		unsigned module_work(unsigned n)
		{
			unsigned sum = 0;
			for (unsigned i = 0; i < n; i++)
				sum += mix(sum + i);
			return sum;
		}
		static __attribute__((used, noinline)) int twice(int x) { return 2 * x; }
	END
	cat >other.c <<-'END'
		static __attribute__((used, noinline)) int twice(int x) { return x + x + 1; }
		__attribute__((noinline, section(".init.text"))) int module_init(int x)
		{
			return x * 3 +
			       twice(x);
		}
		__attribute__((cold, noinline, section(".text.unlikely"))) int module_rare(int x) { return x / 3; }
	END
	tried=0
	for with in "gcc -gdwarf-5" "gcc -gdwarf-4 -gz" "clang -gdwarf-5"; do
		command -v "${with%% *}" >/dev/null || continue
		tried=$((tried + 1))
		# shellcheck disable=SC2086 # options
		for part in module other; do
			$with -O1 -ffreestanding -fno-pic -mcmodel=kernel -c -o $part.o $part.c 2>said || skip "no such object is made here: $(tail -1 said)"
		done
		ld -r -o mod.ko module.o other.o
		# Sections somewhere, not in their order; a name that two functions have decides nothing.
		for place in .text:c0201000 .init.text:c0100000 .text.unlikely:c0300000; do
			section=${place%:*} at=$((16#${place#*:}))
			objdump -t mod.ko | awk -v s="$section" '$4 == s && ($2 ~ /F/ || $3 == "F") { print $1, $NF }' >symbols
			while read -r offset name; do
				printf 'ffffffff%x t %s\t[mod]\n' $((at + 16#$offset)) "$name" >&3
			done <symbols
			[ -s symbols ]
			size=$((16#$(objdump -h mod.ko | awk -v s="$section" '$2 == s { print $3 }')))
			for ((i = 0; i < size; i++)); do
				printf 'sample 77 ffffffff%x kernel ffffffff%x\n' $((at + i)) $((at + i)) >&4
				printf '0x%x\n' $i
			done | addr2line -e mod.ko -j "$section" | sed 's/.*\///; s/ (.*//; s/:?$/:0/' >&5
		done 3>kallsyms 4>samples 5>theirs
		sed -i '1i ffffffff81000000 T _text' kallsyms
		sed -i "1i comm 77 work\nkernel ffffffff81000000 100000\nmodule ffffffffc0100000 300000 $PWD/mod.ko" samples
		python3 "$BATS_TEST_DIRNAME/recording.py" module.data <samples
		for again in 1 2; do
			"$TALLY" script -i module.data --kallsyms kallsyms -G -F ip,sym,srcline | sed -n 's/^  //p' >ours
			diff theirs ours
		done
		grep -q 'module.c:3' ours
		grep -q 'other.c:[57]' ours
		run -1 grep -E '^\?\?' ours
	done
	[ "$tried" -gt 0 ]
}

@test "15.2: script -F srccode prints the lines of the source as perf does" {
	for fields in ip,srccode comm,ip,sym,srcline,srccode; do
		perf script -i work.data -F $fields 2>/dev/null >all
		grep '^|[0-9]' all >theirs
		"$TALLY" script -i work.data -F $fields >all
		grep '^|[0-9]' all >ours
		grep -q 'sum += mix' ours
		diff theirs ours
	done
	perf script -i work.data --comms work -F ip,srccode 2>/dev/null | grep -A 1 -m 20 ' [0-9a-f]*$' >theirs
	"$TALLY" script -i work.data --comms work -F ip,srccode | grep -A 1 -m 20 ' [0-9a-f]*$' >ours
	diff theirs ours
	# Below another folder; and no source is no error.
	mkdir -p "elsewhere$PWD"
	cp work "elsewhere$PWD"
	sed 's/sum += mix.*/another text/' work.c >"elsewhere$PWD/work.c"
	"$TALLY" script -i work.data --symfs elsewhere -F ip,srccode >ours
	grep -qx '|[0-9 ]*		another text' ours
	rm "elsewhere$PWD/work.c"
	"$TALLY" script -i work.data --symfs elsewhere -F ip,srccode >ours
	run -1 grep '^|' ours
	run -1 --separate-stderr "$TALLY" script -i work.data -F comm,srccode
	[[ "$stderr" == *"add ip to -F"* ]]
}

@test "15.2: --inline shows inlined functions in chains of frame pointers, too" {
	gcc -O2 -g -fno-omit-frame-pointer -o framed work.c
	"$TALLY" record -q -e cpu-clock:u -F 1000 --call-graph fp -o framed.data ./framed 2>/dev/null || skip "recording is not permitted here"
	"$TALLY" script -i framed.data -F ip,sym | grep -c mix >without || true
	[ "$(cat without)" = 0 ]
	"$TALLY" script -i framed.data -F ip,sym,srcline --inline | grep -A 2 'mix (inlined)\|mix$' | grep -q 'work.c:[45]'
	"$TALLY" report -i framed.data --stdio --inline -G | grep -q 'mix (inlined)'
	run -1 grep -q 'mix (inlined)' <("$TALLY" report -i framed.data --stdio -G)
	run -1 grep -q 'mix (inlined)' <("$TALLY" report -i framed.data --stdio -G --no-inline)
}

@test "17: a function around an inlined one has the line of that call in rows and trees" {
	gcc -O2 -g -fno-omit-frame-pointer -o framed work.c
	"$TALLY" record -q -e cpu-clock:u -F 4000 --call-graph fp -o framed.data ./framed 2>/dev/null || skip "recording is not permitted here"
	# line 11 calls mix(), whose lines are 4 and 5; some compilers call work() a part of work.constprop.0
	"$TALLY" report -i framed.data --children --inline -s sym,srcline --csv -q >out
	grep -qE ',work( .inlined.)?,work.c:11$' out
	grep -qE ',mix .inlined.,work.c:[45]$' out
	run -1 grep -E ',mix .inlined.,work.c:(10|11|12)$' out
	"$TALLY" report -i framed.data --no-children --inline -g caller,address --stdio >tree
	run -0 grep -A1 -E 'work( .inlined.)? work.c:11' tree
	[[ "$output" = *'mix (inlined) work.c:'[45]* ]]
	run -1 grep -E 'work( .inlined.)? work.c:[45]$' tree
}

@test "15.2: a report shows inlined functions in chains that were unwound while recording, as in those that it unwinds" {
	"$TALLY" record -q -e cpu-clock:u -F 1000 --call-graph dwarf -o unwound.data ./work 2>/dev/null || skip "recording is not permitted here"
	"$TALLY" record -q -e cpu-clock:u -F 1000 --call-graph dwarf --keep-stacks -o copies.data ./work 2>/dev/null
	for recording in unwound.data copies.data; do
		"$TALLY" report -i $recording --stdio -G >out
		grep -q 'mix (inlined)' out
		"$TALLY" script -i $recording -F ip,sym --inline >out
		grep -q 'mix (inlined)' out
		"$TALLY" report -i $recording --stdio -G --no-inline >out
		run -1 grep -q 'mix (inlined)' out
	done
}
