#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Code without symbols: one row a function, and what the report says of the binary.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}" HERE="$BATS_TEST_DIRNAME"
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >work.c <<'END'
#include <stdio.h>
__attribute__((noinline)) int first(int n) { while (n > 3) n = n * 7 % 5 + puts("x"); return n; }
__asm__(".text\n.balign 16\n.globl bare\n.type bare,@function\nbare: nop\nnop\nnop\nnop\nnop\nnop\nnop\nret\n.size bare,.-bare\n.balign 16");
__attribute__((noinline)) int second(int n) { while (n > 9) n = n * 3 % 8 + first(n); return n; }
int bare(int);
int main(int argc, char **argv) { (void)argv; return second(argc) + bare(argc); }
END
	make_binary named || return 0
	make_binary stripped -s || return 0
	make_binary unindexed -s -Wl,--no-eh-frame-hdr || return 0
}

make_binary() { # name, options
	gcc -O1 -fno-toplevel-reorder -no-pie -fno-pie -fasynchronous-unwind-tables -o "$@" work.c 2>/dev/null
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v python3 >/dev/null ||
		skip "python3 is not installed: it makes the recordings of this file; tests/unit/unwind finds functions in made sections"
	[ -s unindexed ] && command -v nm >/dev/null ||
		skip "needs gcc and binutils: no stripped program is built; tests/unit/unwind finds functions in made sections"
}

# Where a function starts, in hex without 0x; the address of the file and, mapped as here, of memory.
start_of() { # function [and so many bytes more]
	printf '%x' $((0x$(nm named | awk -v name="$1" '$3 == name {print $1}') + ${2:-0}))
}

# A recording of the binary: the samples' lines come from standard input.
record() { # binary, recording, options
	local offset address size
	read -r offset address size <<<"$(readelf -lW "$1" | awk '$1 == "LOAD" && $7 $8 ~ /E/ {print $2, $3, $5}')"
	{
		echo "comm 5 $1"
		echo "map 5 ${address#0x} ${size#0x} ${offset#0x} $PWD/$1"
		cat
	} | python3 "$HERE/recording.py" "$2" "${@:3}"
}

rows() { # options
	"$TALLY" report --stdio --no-children -g none -n -q -t , "$@" | tr -d ' '
}

some_samples() {
	for at in 0 3 5; do echo "sample 5 $(start_of first $at)"; done
	for at in 1 6; do echo "sample 5 $(start_of second $at)"; done
	echo "sample 5 $(start_of bare 2)"
	echo "sample 5 $(start_of bare 3)"
	echo "sample 5 $(start_of bare 5)"
	echo "sample 5 $(start_of bare 6)"
}

@test "13.13: where there is no symbol, a function is one row, called by its binary and where it starts" {
	for binary in stripped unindexed; do
		some_samples | record $binary $binary.data
		rows -i $binary.data >got
		cat got
		grep -qx "33.33%,3,$binary,$binary,\[.\]$binary+0x$(start_of first)" got
		grep -qx "22.22%,2,$binary,$binary,\[.\]$binary+0x$(start_of second)" got
		# What nothing describes ends where the functions around it do.
		grep -qx "44.44%,4,$binary,$binary,\[.\]$binary+0x$(start_of bare)" got
		[ "$(wc -l <got)" = 3 ]
	done
}

@test "13.13: the rows are those of the same binary with symbols" {
	for binary in named stripped; do
		some_samples | record $binary $binary.data
		rows -i $binary.data | cut -d, -f1,2 >$binary.rows
	done
	diff named.rows stripped.rows
}

@test "13.13: --addresses has a row for each address, as perf" {
	some_samples | record stripped stripped.data
	[ "$(rows -i stripped.data --addresses | grep -c '\[.\]0x0*[0-9a-f]*$')" = 9 ]
}

@test "13.13: trees of callers and callees have functions, not addresses" {
	{
		for at in 3 5; do
			echo "sample 5 $(start_of first $at) user $(start_of first $at) $(start_of second $at) $(start_of main 5)"
		done
	} | record stripped chains.data chains
	"$TALLY" report --stdio -i chains.data --children -g caller >caller
	cat caller
	[ "$(grep -c '^ *100.00%' caller)" = 3 ]
	grep -q -- "---stripped+0x$(start_of main)" caller
	grep -qx " *stripped+0x$(start_of second)" caller
	"$TALLY" report --stdio -i chains.data --no-children -g callee >callee
	grep -q -- "---stripped+0x$(start_of first)" callee
	grep -qx " *stripped+0x$(start_of main)" callee
}

@test "13.13: -S chooses a function by the name of its row" {
	some_samples | record stripped stripped.data
	rows -i stripped.data -S "stripped+0x$(start_of second)" >got
	[ "$(cut -d, -f2- got)" = "2,stripped,stripped,[.]stripped+0x$(start_of second)" ]
}

@test "13.13: script stays perf's text" {
	command -v perf >/dev/null ||
		skip "perf is not installed: the text is not compared with it; tests/unit/script has known lines"
	some_samples | record stripped stripped.data
	perf script -i stripped.data >theirs 2>/dev/null
	"$TALLY" script -i stripped.data >ours
	[ -s ours ]
	diff theirs ours
}

@test "13.13: --json and --sql name the function where there is no symbol, as the report does" {
	for binary in stripped unindexed; do
		some_samples | record $binary $binary.data
		"$TALLY" script -i $binary.data --json >lines.json
		sed -n 's/.*"frames":\[{"ip":"[^"]*","function":"\([^"]*\)","offset":\([0-9]*\),"dso".*/\1 \2/p' lines.json | sort >got
		for at in 0 3 5; do echo "$binary+0x$(start_of first) $at"; done >wanted
		for at in 1 6; do echo "$binary+0x$(start_of second) $at"; done >>wanted
		for at in 2 3 5 6; do echo "$binary+0x$(start_of bare) $at"; done >>wanted
		diff <(sort wanted) got
		command -v sqlite3 >/dev/null || continue
		rm -f it.db
		"$TALLY" script -i $binary.data --sql it.db
		sqlite3 -separator ' ' it.db "SELECT function, \"offset\" FROM listing" | sort | diff got -
		[ "$(sqlite3 -separator ' ' it.db 'SELECT function, samples FROM functions ORDER BY samples DESC LIMIT 1')" = \
			"$binary+0x$(start_of bare) 4" ]
		[ "$(sqlite3 it.db 'SELECT COUNT(*) FROM symbols')" = 0 ]
	done
	some_samples | record named named.data
	run -0 "$TALLY" script -i named.data --json
	[[ $output = *'"symbol":"first","offset":3'* ]]
	[[ $output != *'"function"'* ]]
}

@test "13.13: each stub of a PLT without names is a row" {
	gcc -O1 -static -s -o static work.c 2>/dev/null || skip "there is no static libc"
	plt=$(readelf -SW static | sed -n 's/.* \.plt  *PROGBITS  *\([0-9a-f]*\) .*/\1/p')
	[ -n "$plt" ] || skip "the static program has no PLT"
	plt=$((0x$plt))
	printf 'sample 5 %x\n' $((plt)) $((plt + 4)) $((plt + 17)) $((plt + 18)) $((plt + 30)) | record static static.data
	rows -i static.data >got
	cat got
	[ "$(cut -d, -f2- got | sort)" = "$(printf '2,static,static,[.]static+0x%x\n3,static,static,[.]static+0x%x' \
		$plt $((plt + 16)))" ]
}

@test "13.21: versions of a function that was compiled at run time are one row" {
	local pid map
	pid=$(sh -c 'echo $$')
	map=/tmp/perf-$pid.map
	[ ! -e "$map" ] || skip "$map is there already"
	printf '%s\n' '7000 100 JS:~sum file.js:1:2' '7200 100 JS:^sum file.js:1:2' '7400 100 JS:*sum file.js:1:2' \
		'7600 100 int Fib.fib(int)' '7800 100 int Fib.fib(int)' '7a00 100 JS:*other file.js:9:9' \
		'7c00 100 JS: file.js:1:1' >"$map"
	{
		echo "comm $pid prog"
		echo "map $pid 7000 1000 0 //anon"
		for at in 7010 7020 7210 7410 7610 7620 7810 7a10 7c20; do echo "sample $pid $at"; done
	} | python3 "$HERE/recording.py" jit.data
	rows -i jit.data | cut -d, -f2,5 | sort >got
	rows -i jit.data --addresses | cut -d, -f2,5 | sort >apart
	if command -v sqlite3 >/dev/null && "$TALLY" script -i jit.data --sql jit.db; then
		sqlite3 -separator ,[.] jit.db 'SELECT SUM(samples), function FROM functions GROUP BY function' | tr -d ' ' | sort >database
	else
		cp got database
	fi
	rm -f "$map"
	diff got database
	diff got - <<'END'
1,[.]JS:file.js:1:1
1,[.]JS:otherfile.js:9:9
3,[.]intFib.fib(int)
4,[.]JS:sumfile.js:1:2
END
	diff apart - <<'END'
1,[.]JS:*otherfile.js:9:9
1,[.]JS:*sumfile.js:1:2
1,[.]JS:^sumfile.js:1:2
1,[.]JS:file.js:1:1
1,[.]intFib.fib(int)
2,[.]JS:~sumfile.js:1:2
2,[.]intFib.fib(int)
END
}

@test "13.13: a line of the header names a binary without symbols, its share, and its build-id" {
	{ some_samples; echo "sample 5 1"; } | record stripped stripped.data
	"$TALLY" report --stdio -i stripped.data >got
	id=$(readelf -n stripped | sed -n 's/ *Build ID: //p')
	[ -n "$id" ] || skip "the linker writes no build-id"
	grep -qx "# No symbols, 90.00%: stripped (build-id $id)" got
	# Not of what has its symbols, and not of what is small.
	some_samples | record named named.data
	"$TALLY" report --stdio -i named.data >got
	run -1 grep -q '^# No symbols' got
	{ echo "sample 5 1"; echo "times 40"; echo "sample 5 $(start_of first)"; } | record stripped small.data
	"$TALLY" report --stdio -i small.data >got
	run -1 grep -q '^# No symbols' got
}

@test "13.13: -v names the binary, its share and the reason, though it has the names that it exports" {
	gcc -O1 -fno-toplevel-reorder -shared -fPIC -fasynchronous-unwind-tables -Wl,-Bsymbolic -s -o library.so -x c - <<'END'
__attribute__((noinline)) static int hidden(int n) { while (n > 5) n = n * 3 % 100; return n; }
int shown(int n) { return hidden(n) + hidden(n + 1); }
END
	gcc -O1 -fno-toplevel-reorder -shared -fPIC -fasynchronous-unwind-tables -Wl,-Bsymbolic -o named.so -x c - <<'END'
__attribute__((noinline)) static int hidden(int n) { while (n > 5) n = n * 3 % 100; return n; }
int shown(int n) { return hidden(n) + hidden(n + 1); }
END
	at=$(nm named.so | awk '$3 == "hidden" {print $1}')
	printf 'comm 5 x\nmap 5 1000 1000 1000 %s\nsample 5 %x\ntimes 2\nsample 5 1\n' "$PWD/library.so" $((0x$at)) |
		python3 "$HERE/recording.py" library.data
	"$TALLY" report -v --stdio -i library.data >got 2>said
	cat got said
	grep -q '^75.00%  .*/library.so is stripped down to the names that it exports, and there is no debug file' said
	grep -q '^# No symbols, 75.00%: library.so' got
}

@test "13.13: the Debian package that has a binary's symbols is named" {
	[ -d /var/lib/dpkg/info ] || skip "this is not Debian"
	local path package
	for path in /usr/bin/xz /usr/bin/sha256sum /usr/bin/gzip; do
		package=$(dpkg -S "$path" 2>/dev/null | sed -n "s,^\([^:]*\): $path\$,\1,p")
		[ -n "$package" ] && ! nm "$path" 2>/dev/null | grep -q . && break
		package=
	done
	[ -n "$package" ] || skip "no stripped program of a package is here"
	id=$(readelf -n "$path" | sed -n 's/ *Build ID: //p')
	[ ! -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] || skip "its symbols are installed"
	read -r offset size <<<"$(readelf -lW "$path" | awk '$1 == "LOAD" && $7 $8 ~ /E/ {print $2, $5}')"
	printf 'comm 5 x\nmap 5 10000000 %s %s %s\nsample 5 %x\n' "${size#0x}" "${offset#0x}" "$path" \
		$((0x10000000 + size / 2)) | python3 "$HERE/recording.py" package.data
	"$TALLY" report --stdio -i package.data >got
	grep -qx "# No symbols, 100.00%: ${path##*/} (Debian package $package-dbgsym)" got
}

@test "13.13: the share without symbols is of all rows, however many there are" {
	{
		printf 'comm 5 x\nmap 5 10000000 100000 0 /nonexistent/program\n'
		for ((i = 0; i < 20000; i++)); do printf 'sample 5 %x\n' $((0x10000000 + 16 * i)); done
	} | python3 "$HERE/recording.py" many.data
	"$TALLY" report --stdio -i many.data >got
	grep -q '^# No symbols, 100.00%: program' got
}

@test "13.12: the header says why kernel functions have no names, and what to do" {
	printf '0000000000000000 T _text\n0000000000000000 T vfs_read\n0000000000000000 T _etext\n' >zeros
	{
		some_samples
		echo "kernel ffffffff81000000 1000000"
		echo "sample 5 ffffffff81000100"
	} | record named kernel.data
	"$TALLY" report --stdio -i kernel.data --kallsyms zeros >got
	cat got
	grep -qx '# No kernel symbols, 10.00%: zeros was copied by a user from whom the addresses are hidden' got
	# Symbols that are there are not missed.
	printf 'ffffffff81000000 T _text\nffffffff81000080 T vfs_read\nffffffff82000000 T _etext\n' >some
	"$TALLY" report --stdio -i kernel.data --kallsyms some >got
	grep -q '\[k\] vfs_read' got
	run -1 grep -q '^# No kernel symbols' got
}

@test "13.12: record and report say that kernel names are hidden from a user with CAP_PERFMON alone" {
	command -v setpriv >/dev/null ||
		skip "setpriv is not installed: no test runs as another user; the test before makes the line from a recording"
	[ "$(id -u)" = 0 ] || skip "needs root"
	local user=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+perfmon
		--ambient-caps=-all,+perfmon --bounding-set=-all,+perfmon env HOME=/nonexistent "$BATS_TEST_TMPDIR/tally")
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR/.." 2>/dev/null || true
	cp -L "$TALLY" "$BATS_TEST_TMPDIR/tally"
	chmod -R a+rwX "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR" || return 1
	"${user[@]}" record -q -e cpu-clock -o probe.data -- true 2>/dev/null || skip "CAP_PERFMON is not enough here"
	grep -qv '^0* ' <(setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all head -5 /proc/kallsyms) &&
		skip "kernel addresses are shown to every user"
	"${user[@]}" record -e cpu-clock -F 5000 -o user.data -- dd if=/dev/zero of=/dev/null bs=64 count=400000 2>said
	cat said
	grep -q '^tally: kernel functions have no names.* hides them' said
	"${user[@]}" record -e cpu-clock:u -o u.data -- true 2>said
	run -1 grep -q 'kernel functions' said
	"${user[@]}" report --stdio -i user.data >got
	grep -q '^# No kernel symbols, [0-9.]*%: kernel\.[a-z_]*=[0-9]* hides them.*report as root or with CAP_SYSLOG' got
}

# Chains of which each is a thousand periods.
chains() {
	echo "sample 5 $(start_of first 3) user $(start_of first 3) $(start_of main 5) $(start_of _start 5)"
	echo "times 2"
	echo "sample 5 $(start_of first 3) user $(start_of first 3) $(start_of main 5)"
	echo "sample 5 $(start_of second 3) user $(start_of second 3) 0"
	# The kernel follows its own stacks; a sample of it alone is not cut off.
	echo "sample 5 ffffffff81000100 kernel ffffffff81000100"
}

@test "13.14: the header says which share of chains does not reach the start of its thread" {
	chains | record named chains.data chains
	for options in "--children" "--no-children" "-g callee"; do
		# shellcheck disable=SC2086 # several words
		"$TALLY" report --stdio -i chains.data $options >got
		grep -q '^# Cut call chains, 33.33%: they end before the start of their thread, .*record with tally record -g$' got ||
			{ cat got; return 1; }
	done
	# When all reach it, when chains are cut on purpose, and when none are shown there is nothing to say.
	chains | head -2 | record named whole.data chains
	"$TALLY" report --stdio -i whole.data >got
	run -1 grep -q 'Cut call chains' got
	"$TALLY" report --stdio -i chains.data --max-stack 1 >got
	run -1 grep -q 'Cut call chains' got
	"$TALLY" report --stdio -i chains.data --no-children -g none >got
	run -1 grep -q 'Cut call chains' got
}

@test "18: the advice for cut call chains follows why the recorder ended them" {
	command -v gcc >/dev/null || skip "gcc is not installed: no program whose stacks end early"
	"$TALLY" record -q -o try.data true 2>err || skip "events cannot be opened here: $(head -n 1 err)"
	cat >deep.c <<'END'
__attribute__((noinline)) unsigned work(unsigned n)
{
	volatile unsigned sum = n;
	for (unsigned i = 0; i < 200000000; i++)
		sum += i;
	__asm__ volatile("xchg %%ecx,%%eax" ::: "eax", "ecx");
	return sum;
}
__attribute__((noinline)) unsigned deep(unsigned n)
{
	volatile char room[1000];
	room[n] = (char)n;
	unsigned x = n ? deep(n - 1) : work(n);
	__asm__ volatile("xchg %%ecx,%%eax" ::: "eax", "ecx"); /* code that is not followed to its end */
	return x + (unsigned)room[n];
}
int main(void) { return deep(20) == 7; }
END
	gcc -O1 -o deep deep.c
	gcc -O1 -fno-asynchronous-unwind-tables -o bare deep.c
	"$TALLY" record -q -e cpu-clock:u --call-graph dwarf,512 -o copies.data -- ./deep
	"$TALLY" record -q -e cpu-clock:u -g -o rules.data -- ./bare
	"$TALLY" record -q -e cpu-clock:u --call-graph dwarf,512 --keep-stacks -o kept.data -- ./deep
	"$TALLY" record -q -e cpu-clock:u --call-graph fp -o pointers.data -- ./deep
	advice() { "$TALLY" report --stdio -i "$1" | grep '^# Cut call chains' || :; }
	[[ $(advice copies.data) == *"with the copy of the stack; record larger stacks (--call-graph dwarf,65528 is"* ]]
	[[ $(advice rules.data) == *"in code without call frame information and frame pointers; build it with -fno-omit-frame-pointer" ]]
	[[ $(advice kept.data) == *"with the copy of the stack; record larger stacks: tally record --call-graph dwarf,65528" ]]
	[[ $(advice pointers.data) == *"where code keeps no frame pointers; record with tally record -g" ]]
	"$TALLY" report --html=rules.html -i rules.data 2>/dev/null
	python3 "$HERE/page_reader.py" summary rules.html | grep -q 'in code without call frame information'
}

@test "13.14: a word above the start of a thread, which is no code, cuts nothing off" {
	{
		echo "sample 5 $(start_of first 3) user $(start_of first 3) $(start_of _start 5) be552274c0854800"
		echo "times 3"
		echo "sample 5 $(start_of first 3) user $(start_of first 3) be552274c0854800"
	} | record named above.data chains
	"$TALLY" report --stdio -i above.data >got
	grep -q '^# Cut call chains, 20.00%' got || { cat got; return 1; }
}

@test "13.14: the start of a thread is known in a C library without its local symbols" {
	cat >libc.c <<'END'
__attribute__((noinline)) static int call_main(int n) { while (n > 5) n = n * 3 % 100; return n; }
int __libc_start_main(int n) { return call_main(n) + call_main(n + 1); }
__attribute__((noinline)) static int other(int n) { while (n > 6) n = n * 7 % 100; return n; }
int another(int n) { return other(n) + other(n + 1) + n; }
END
	gcc -O1 -fno-toplevel-reorder -falign-functions=16 -nostdlib -shared -fPIC -fasynchronous-unwind-tables \
		-Wl,-Bsymbolic -o libc.named libc.c || skip "gcc cannot build this"
	strip -o libc.so libc.named
	at() { printf '%x' $((0x$(nm libc.named | awk -v name="$1" '$3 == name {print $1}') + 3)); }
	{
		printf 'comm 5 x\nmap 5 1000 1000 1000 %s\n' "$PWD/libc.so"
		echo "sample 5 $(at another) user $(at another) $(at call_main)"
		echo "times 2"
		echo "sample 5 $(at another) user $(at another) $(at other)"
	} | python3 "$HERE/recording.py" libc.data chains
	for options in "" --addresses; do
		"$TALLY" report --stdio -i libc.data $options >got
		grep -q 'Cut call chains, 25.00%' got || { cat got; return 1; }
	done
}

@test "18: a chain that begins with execve is not cut: the old program's stack is gone then" {
	echo 'int execve(int n) { while (n > 5) n = n * 3 % 100; return n; } int other(int n) { return execve(n) + execve(n + 1); }' >exec.c
	gcc -O1 -fno-builtin -nostdlib -shared -fPIC -o exec.so exec.c || skip "gcc cannot build this"
	at() { printf '%x' $((0x$(nm exec.so | awk -v name="$1" '$3 == name {print $1}') + 3)); }
	{
		printf 'comm 5 x\nmap 5 1000 1000 1000 %s\n' "$PWD/exec.so"
		echo "sample 5 ffffffff81000100 kernel ffffffff81000100 user $(at execve)"
		echo "times 2"
		echo "sample 5 $(at other) user $(at other)"
	} | python3 "$HERE/recording.py" exec.data chains
	"$TALLY" report --stdio -i exec.data >got
	grep -q 'Cut call chains, 25.00%' got || { cat got; return 1; }
}

@test "17: code of a kernel module without symbols is shown by its offset in that, as perf shows it" {
	{
		echo 'comm 5 prog'
		echo 'module ffffffffc0ac2000 f0000 /lib/modules/0.0.0/kernel/fs/nosuch.ko'
		echo 'sample 5 ffffffffc0ac543b'
		echo 'sample 5 ffffffffd0ac543b'
	} | python3 "$HERE/recording.py" module.data
	"$TALLY" report --stdio -i module.data >got
	grep -q ' \[nosuch\]  *\[k\] 0x000000000000343b$' got
	grep -q ' \[unknown\]  *\[k\] 0xffffffffd0ac543b$' got
}

@test "17: a thread that has ended is -1, as the kernel writes it" {
	printf 'comm 5 named\nsample 5 1000\nsample 4294967295 1000\n' | python3 "$HERE/recording.py" gone.data
	"$TALLY" report --stdio --no-children -q -s pid -i gone.data >got
	cat got
	grep -qE '^ +50.00% +-1:' got
	grep -qE '^ +50.00% +5:named$' got
}

@test "17: the kernel is [kernel.vmlinux] where its symbols came from that file when it was recorded, as in perf" {
	{
		echo 'comm 5 prog'
		echo 'kernel ffffffff81000000 1000000'
		echo 'build-id 0123456789abcdef0123456789abcdef01234567 /lib/modules/0.0.0/build/vmlinux'
		echo 'sample 5 ffffffff81000100'
	} | python3 "$HERE/recording.py" kernel.data
	"$TALLY" report --stdio -q -s dso -i kernel.data >got
	grep -q ' \[kernel.vmlinux\]$' got
}
