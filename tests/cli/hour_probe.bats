#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally probe: definitions as perf writes them, events that happen with the right values, and what it says where
# that cannot be.  tracefs is mounted in a mount namespace of the test's own where it is not mounted; events have
# names of this run, and are removed at its end.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export GROUP="tally_test_$$"
	cd "$BATS_FILE_TMPDIR" || return 1
	export HOME="$BATS_FILE_TMPDIR"
	cat >prog.c <<'END'
#include <stdio.h>
struct inner { char c; int list[4]; struct { int plain; union { long wide; char small; }; }; unsigned b1 : 3, b2 : 7; };
struct node { int id; const char *name; struct inner in; struct node *next; };
int counter = 7;
static long total;
static __thread int own = 3;
static inline int add3(int a, int b, int c)
{
	int r = a + b;

	r += c;
	return r;
}
__attribute__((noinline)) int work(int n, struct node *p, const char *text, unsigned char small)
{
	int local[3] = {n, n + 1, n + 2};
	long sum = 0;

	for (int i = 0; i < 3; i++) {
		int n2 = local[i] * 2;

		sum += n2;
		if (p)
			sum += p->in.list[1];
	}
	total += sum + add3(n, small, counter);
	own++;
	printf("%ld %s\n", sum, text);
	return (int)sum;
}
__attribute__((noinline)) long deep(struct node nd, int x)
{
	int n = x;

	if (x) {
		int n = 2 * x;

		printf("%d\n", n);
	}
	return nd.id + n + add3(x, x, 2) + own;
}
int main(int argc, char **argv)
{
	struct node a = {.id = 5, .name = "five", .in = {.c = 'x', .list = {1, 2, 3, 4}, .b1 = 5, .b2 = 99}};
	struct node b = {.id = 6, .name = "six", .next = &a};

	(void)argv;
	for (int i = 0; i < 3; i++)
		work(i + argc, i & 1 ? &a : &b, "said", (unsigned char)i);
	printf("%ld\n", deep(a, argc));
	return (int)total & 1;
}
END
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		for level in 0 2; do
			for version in 4 5; do
				$compiler -O$level -gdwarf-$version -o ${compiler}_${level}_$version prog.c 2>>errors || true
			done
		done
	done
	[ -x gcc_0_5 ] || return 0
	strip -o bare gcc_0_5
	mkdir -p alone
	objcopy --only-keep-debug gcc_0_5 alone/split.debug
	cp gcc_0_5 alone/split
	strip alone/split
	(cd alone && objcopy --add-gnu-debuglink=split.debug split)
	printf '#!/bin/sh\nmount -t tracefs nodev /sys/kernel/tracing 2>/dev/null\nexec "$@"\n' >inside
	printf '#!/bin/sh\nmount -t tmpfs nodev /sys/kernel || exit 99\nexec "$@"\n' >outside
	chmod +x inside outside
	if live test -w /sys/kernel/tracing/uprobe_events; then
		touch live
	fi
}

teardown_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ ! -e live ] || live "$TALLY" probe -q -d "$GROUP*:*" 2>/dev/null || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -x gcc_0_5 ] || skip "programs cannot be built here: $(head -1 errors)"
}

live() {
	unshare -m ./inside "$@"
}

needs_live() {
	[ -e live ] || skip "uprobe_events of tracefs cannot be written here"
}

needs_perf() {
	needs_live
	programs=(gcc_* clang_*)
	# With sanitizers, which take their time, two of all.
	if nm "$TALLY" | grep __asan_init >/dev/null; then programs=(gcc_2_5 gcc_0_4); fi
	live perf probe -x gcc_0_5 -D main >/dev/null 2>&1 || skip "perf probe does not work here"
}

define() { # PROGRAM DEFINITION: ours
	"$TALLY" probe -x "$1" -D "$2"
}

# As perf's, and something.
same() { # PROGRAM DEFINITION
	live perf probe -x "$1" -D "$2" >theirs 2>their_errors || return 1
	live "$TALLY" probe -x "$1" -D "$2" >ours 2>our_errors
	[ -s theirs ]
	cmp theirs ours || {
		echo "$1 $2"
		cat theirs ours our_errors
		return 1
	}
}

# bats test_tags=usual
@test "13.32: functions, lines, offsets, patterns and returns are defined as by perf" {
	needs_perf
	for program in "${programs[@]}"; do
		for place in work main deep add3 'work%return' main+4 name=work "$GROUP:name=work"; do
			[ "$place" = add3 ] && [[ $program = *_0_* ]] && place=add3:2
			[[ $place = *:2 && $program = clang_0_5 ]] && continue # perf ends by a signal
			same "$program" "$place"
		done
		[[ $program = clang_*_5 ]] && continue # perf ends by a signal, or finds nothing
		for line in 14 16 17 19 20 22 23 24 26 27 28 29 33 36 37 39; do
			live perf probe -x "$program" -D "prog.c:$line" >/dev/null 2>&1 || continue
			same "$program" prog.c:$line
		done
		same "$program" 'work;sum*'
		same "$program" work@prog.c
	done
	same gcc_0_5 'w*'
}

# bats test_tags=usual
@test "13.32: variables, members and casts are defined as by perf" {
	needs_perf
	for program in "${programs[@]}"; do
		for argument in n p text small 'p->id' 'p->in.list[1]' 'p->next->id' text:string 'p->name:string' 'p->in.wide' \
			'p->in.small' 'p->in.plain' n:u64 n:x n:u small:s other=n 'n p small' '$params' %ax 'r=%di:u32'; do
			same "$program" "work $argument"
		done
		same "$program" 'deep x nd.id nd.in.list[2] nd.name:string'
	done
	for program in gcc_0_4 gcc_0_5 clang_0_4; do
		same $program 'work $vars'
		same $program 'prog.c:22 i sum n n2 local[1]'
	done
}

@test "13.32: an event of variables happens each time, with the values of the program" {
	needs_live
	live "$TALLY" probe -q -x gcc_0_5 -a "$GROUP:vars=work n name=p->name:string text:string small b1=p->in.b1 b2=p->in.b2 third=p->in.list[2] counter total"
	live "$TALLY" record -q -e "$GROUP:vars" -o vars.data ./gcc_0_5 >/dev/null
	"$TALLY" script -i vars.data -F trace >out
	sed 's/^ *//; s/^([0-9a-f]*) //' out >values
	cat >expected <<'END'
n=1 name="six" text_string="said" small=0x0 b1=0 b2=0 third=0 counter=7 total=0
n=2 name="five" text_string="said" small=0x1 b1=5 b2=99 third=3 counter=7 total=20
n=3 name="six" text_string="said" small=0x2 b1=0 b2=0 third=0 counter=7 total=54
END
	diff expected values
}

@test "13.32: optimized code, registers, returns and inlined calls give the values of the program" {
	needs_live
	live "$TALLY" probe -q -x gcc_2_5 -a "$GROUP:entry=work n \$arg1 \$arg4:u8" -a "$GROUP:back=work%return \$retval:s32" \
		-a "$GROUP:inlined=add3 a"
	live "$TALLY" record -q -e "$GROUP:*" -o values.data ./gcc_2_5 >output
	"$TALLY" script -i values.data -F event,trace | sed 's/([0-9a-f <-]*) //; s/  */ /g; s/ *$//' >values
	grep entry: values | sed 's/.*entry: *//; s/0x//g' | diff - <(printf 'n=%d arg1=%d arg4=%d\n' 1 1 0 2 2 1 3 3 2)
	# what work() returns is the number that it prints
	grep back__return: values | sed 's/.*arg1=//' | diff - <(grep said output | cut -d ' ' -f 1)
	[ "$(grep -c inlined: values)" -ge 3 ]
	[ "$(grep inlined: values | grep -c 'a=[123]$')" -ge 3 ]
}

@test "13.32: the variable of the innermost block is meant" {
	needs_live
	line=$(grep -n 'printf("%d' prog.c | cut -d : -f 1)
	live "$TALLY" probe -q -x gcc_0_5 -a "$GROUP:block=prog.c:$line n x"
	live "$TALLY" record -q -e "$GROUP:block" -o block.data ./gcc_0_5 one two >/dev/null
	run -0 "$TALLY" script -i block.data -F trace
	[[ $output = *"n=6 x=3"* ]]
}

# bats test_tags=usual
@test "13.32: tally stat counts an event, perf lists it as tally does, and each removes the other's" {
	needs_perf
	live "$TALLY" probe -q -x gcc_0_5 -a "$GROUP:one=work n" -a "$GROUP:two=prog.c:27" -a "$GROUP:three=deep%return"
	live "$TALLY" stat -x, -o counts.csv -e "$GROUP:one,$GROUP:two" ./gcc_0_5 >/dev/null
	[ "$(grep -v '^#' counts.csv | grep . | cut -d , -f 1)" = $'3\n3' ]
	live perf probe -l "$GROUP:*" >theirs 2>/dev/null
	live "$TALLY" probe -l "$GROUP:*" >ours
	diff theirs ours
	grep -q "^  $GROUP:two .*(on work:13@.*prog.c in .*/gcc_0_5)" ours
	live perf probe -q -d "$GROUP:one"
	run --separate-stderr live "$TALLY" probe -d "$GROUP:two" -d "$GROUP:th*"
	[ "$status" = 0 ]
	[ "$stderr" = "Removed event: $GROUP:two"$'\n'"Removed event: $GROUP:three__return" ]
	run live "$TALLY" probe -d "$GROUP:two"
	[ "$status" = 1 ]
	[[ $output = *"no event is called $GROUP:two"* ]]
}

@test "13.32: a name that exists is refused, a number behind it with -f, and a failure adds nothing" {
	needs_live
	live "$TALLY" probe -q -x gcc_0_5 "$GROUP:taken=work"
	run live "$TALLY" probe -x gcc_0_5 "$GROUP:taken=main"
	[ "$status" = 1 ]
	[[ $output = *"the event $GROUP:taken exists: remove it with"* ]]
	run live "$TALLY" probe -f -x gcc_0_5 "$GROUP:taken=main"
	[ "$status" = 0 ]
	[[ $output = *"$GROUP:taken_1 "* ]]
	run live "$TALLY" probe -x gcc_0_5 -a "$GROUP:fine=work" -a "$GROUP:wrong=nothing"
	[ "$status" = 1 ]
	run live "$TALLY" probe -x gcc_0_5 "$GROUP:refused=work r=%nosuch"
	[ "$status" = 1 ]
	[[ $output = *"the kernel refused"*"register"* ]]
	run live "$TALLY" probe -n -x gcc_0_5 "$GROUP:dry=work"
	[ "$status" = 0 ]
	[[ $output = "Would add event:"* ]]
	run -0 live "$TALLY" probe -l "$GROUP:fine | $GROUP:refused | $GROUP:dry"
	[ "$output" = "tally probe: no event is called $GROUP:fine | $GROUP:refused | $GROUP:dry" ]
}

# bats test_tags=usual
@test "13.32: --vars, --line and --funcs print what perf prints" {
	needs_perf
	for program in gcc_0_5 gcc_2_5 gcc_2_4; do
		for place in work deep prog.c:28; do
			live perf probe -x $program -V $place >theirs 2>/dev/null
			live "$TALLY" probe -x $program -V $place >ours
			diff theirs ours
		done
		for lines in work work:3+4 work:2-5 prog.c:15-30; do
			live perf probe -x $program -L $lines >theirs 2>/dev/null
			live "$TALLY" probe -x $program -L $lines >ours
			diff theirs ours
		done
	done
	# functions alone: perf lists data, too
	run -0 "$TALLY" probe -x gcc_0_5 -F
	[ "$(grep -Ex 'add3|deep|main|work|counter' <<<"$output")" = $'add3\ndeep\nmain\nwork' ]
	run -0 "$TALLY" probe -x gcc_0_5 -F 'w* | ma*'
	[ "$output" = $'main\nwork' ]
	run -1 "$TALLY" probe -x gcc_0_5 --filter 'w* & !*k' -F
	[[ $output == *" matches 'w* & !*k': --funcs='*' lists all" ]]
	run -0 "$TALLY" probe -x gcc_0_5 -V work --filter 'n | p'
	[ "$output" = $'Available variables at work\n\t@<work+0>\n\t\tint\tn\n\t\tstruct node*\tp' ]
}

@test "13.32: a debug file is found, and without one the message says what to do" {
	run define alone/split 'work n'
	[ "$status" = 0 ]
	[[ $output = p:probe_split/work\ *":0x"*" n="*"(%bp):s32" ]]
	run define bare 'work n'
	[ "$status" = 1 ]
	[[ $output = *"has no debug information"*"build it with -g, or install"* ]]
	run define bare work
	[ "$status" = 1 ]
	[[ $output = *"has no function work: it has no symbols"* ]]
	run "$TALLY" probe -x bare -F
	[ "$status" = 1 ]
	[[ $output = *"has no symbols"* ]]
}

@test "13.32: compressed debug information is read, and damage in it is not called a lack" {
	"$TALLY" version --build-options | grep -q 'zstd: \[ on' || skip "built without zstd: zlib is read by libelf"
	objcopy --compress-debug-sections=zstd gcc_0_5 packed 2>said || skip "objcopy cannot compress by zstd: $(tail -1 said)"
	"$TALLY" probe -x gcc_0_5 -V work >plain
	"$TALLY" probe -x packed -V work >ours
	cmp plain ours
	at=$(readelf -SW packed | awk '$2 == ".debug_info" || $3 == ".debug_info" { sub(/^\[ */, "["); print $5; exit }')
	printf 'damaged!' | dd of=packed bs=1 seek=$((16#$at + 32)) conv=notrunc 2>said
	run -1 "$TALLY" probe -x packed -V work
	[[ $output = *"the debug information of "*"packed cannot be read: it is damaged"* ]]
	# one that is linked for 32 bits, whose headers have another form
	echo 'int work(int n, char *name) { return n + name[0]; } void _start(void) { work(1, "a"); for (;;); }' >narrow.c
	gcc -m32 -g -nostdlib -static -o narrow narrow.c 2>said || return 0
	"$TALLY" probe -x narrow -V work >plain
	objcopy --compress-debug-sections=zstd narrow
	"$TALLY" probe -x narrow -V work >ours
	cmp plain ours
}

@test "13.32: what is not found is named with similar names, and what cannot be read with the reason" {
	run define gcc_0_5 wrok
	[ "$status" = 1 ]
	[[ $output = *"has no function wrok; did you mean work?"* ]]
	run -1 define gcc_0_5 'work smal'
	[[ $output = *"work has no variable smal; did you mean small?"* ]]
	[[ $output = *$'\n  work smal\n       ^\n'* || $output = *"work smal"* ]]
	run -1 define gcc_0_5 'work p->naem'
	[[ $output = *"struct node has no member naem; did you mean name?"* ]]
	run -1 define gcc_0_5 'work p.id'
	[[ $output = *"the member of a pointer needs ->"* ]]
	run -1 define gcc_0_5 'work n:string'
	[[ $output = *"it is not text"* ]]
	run -1 define gcc_0_5 'prog.c:27 own'
	[[ $output = *"own cannot be read"*"thread-local"* ]]
	run -1 define gcc_0_5 work:900
	[[ $output = *"work:900: no code of its own there"* ]]
	run -1 define gcc_0_5 work+90000
	[[ $output = *"+90000 is after the end of work"* ]]
	run -1 define ./nothing work
	[[ $output = *"no program or library ./nothing; give its path"* ]]
	run -1 define prog.c work
	[[ $output = *"not an ELF binary"* ]]
	run -1 define gcc_0_5 'work $arg1 $arg9'
	[[ $output = *"the calling convention has no register for it"* ]]
	run -1 define gcc_0_5 'work n n'
	[[ $output = *"two arguments are called n"* ]]
}

@test "13.32: a value that is computed is refused, not read from a wrong place" {
	[ -x clang_2_5 ] || skip "clang is not installed: its DWARF is not read; that of gcc is in all other tests"
	# in pieces: each definition of it would be one register's
	run define clang_2_5 'work local'
	[ "$status" = 1 ]
	[[ $output = *"local cannot be read"* ]]
}

@test "13.32: mistakes in a definition are shown where they are" {
	for wrong in 'work:x' 'work+4:3' 'work%retrun' 'prog.c;' 'a b=' 'work n->' 'work n[x]' 'e v=work' '1a=work' '%' \
		'work%return n' '=work' 'work:1:2:' 'work n:'; do
		run "$TALLY" probe -x gcc_0_5 -D "$wrong"
		[ "$status" = 1 ] || {
			echo "$wrong: $status $output"
			return 1
		}
		[[ $output = *"tally probe: "* ]]
	done
	run "$TALLY" probe
	[ "$status" = 2 ]
	run "$TALLY" probe -l -d x
	[ "$status" = 2 ]
	run "$TALLY" probe -x gcc_0_5 -m ext4 work
	[ "$status" = 2 ]
}

@test "13.32: without tracefs, without rights and without kprobes it says what to do" {
	if unshare -m ./outside true 2>/dev/null; then
		run unshare -m ./outside "$TALLY" probe -x gcc_0_5 work
		[ "$status" = 1 ]
		[[ $output = *"tracefs is not mounted"*"mount -t tracefs"* ]]
		run unshare -m ./outside "$TALLY" probe -x gcc_0_5 -D work
		[ "$status" = 0 ]
	fi
	needs_live
	if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
		cp gcc_0_5 /tmp/"$GROUP"
		chmod 755 /tmp/"$GROUP"
		run live setpriv --reuid 65534 --clear-groups "$(realpath "$TALLY")" probe -x /tmp/"$GROUP" work
		rm -f /tmp/"$GROUP"
		[ "$status" = 1 ]
		[[ $output = *"root"*"sudo"* || $output = *"ermission denied"* ]]
	fi
	if ! live test -e /sys/kernel/tracing/kprobe_events && [ -r /proc/kallsyms ]; then
		run live "$TALLY" probe vfs_read
		[ "$status" = 1 ]
		[[ $output = *"no kprobe_events (CONFIG_KPROBE_EVENTS is off)"* ]]
	fi
}

# bats test_tags=usual
@test "13.32: functions of the kernel are defined as by perf" {
	needs_perf
	live perf probe -D vfs_read >theirs 2>/dev/null || skip "perf cannot read the kernel's symbols here"
	for place in vfs_read 'vfs_read%return $retval' 'vfs_read+4 $arg1 %di' 'mine=vfs_open'; do
		live perf probe -D "$place" >theirs 2>/dev/null
		live "$TALLY" probe -D "$place" >ours
		diff theirs ours
	done
	run -1 "$TALLY" probe -D vfs_raed
	[[ $output = *"the kernel has no function vfs_raed; did you mean vfs_read"* ]]
	run -1 "$TALLY" probe -D 'vfs_read file'
	if [ ! -e /usr/lib/debug ] && [ ! -e /boot ]; then
		[[ $output = *"the debug information of this kernel"*"-k"* ]]
	fi
}

# A kernel of two functions, FILE, with the options.
kernel() {
	cat >kernel.c <<'END'
struct file { int flags; const char *name; };
int vm_state = 3;
static int opened;
__attribute__((noinline)) long vfs_read(struct file *file, char *buf, unsigned long count, long long *pos)
{
	long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		int each = buf[i] + file->flags;

		sum += each;
		if (pos)
			*pos += vm_state;
	}
	return sum;
}
__attribute__((noinline)) int vfs_open(struct file *file, int mode)
{
	file->flags = mode;
	opened++;
	return mode + vm_state + opened;
}
int _start(void)
{
	struct file f = {3, "x"};
	char b[4] = {1, 2, 3, 4};

	vfs_open(&f, 3);
	return (int)vfs_read(&f, b, 4, 0);
}
END
	gcc -g -mcmodel=kernel -fno-pie -no-pie -nostdlib -static -ffreestanding -fno-stack-protector \
		-Wl,-Ttext=0xffffffff81000000,--defsym=_text=0xffffffff80fff000 "${@:2}" -o "$1" kernel.c 2>errors ||
		skip "a kernel of two functions cannot be linked here: $(head -1 errors)"
}

# bats test_tags=usual
@test "13.32: -k: lines and variables of a kernel's vmlinux are defined and shown as by perf" {
	needs_perf
	kernel vm0 -O0 -Wl,--build-id=sha1
	kernel vm2 -O2 -Wl,--build-id=sha1
	for vm in vm0 vm2; do
		places=(-D vfs_read -D 'vfs_read count buf' -D 'vfs_open%return $retval' -D 'vfs_read+4' -D '*open mode'
			-D 'vfs_open vm_state mode' -D 'vfs_open opened' -D 'vfs_open $vars' -D 'vfs_open file->name:string'
			-D 'vfs_open $arg1 %di' -D 'kernel.c:9')
		live perf probe -k $vm "${places[@]}" >theirs 2>/dev/null
		"$TALLY" probe -k $vm "${places[@]}" >ours
		diff theirs ours
		[ "$(grep -c . ours)" -ge 11 ]
		for options in '-V vfs_open' '--range -V vfs_open' '--range --externs -V vfs_open' '-L vfs_open' '-L kernel.c:5-9' -F; do
			# shellcheck disable=SC2086 # several words
			live perf probe -k $vm $options >theirs 2>/dev/null
			# shellcheck disable=SC2086
			"$TALLY" probe -k $vm $options >ours
			diff theirs ours
			[ -s ours ]
		done
	done
	run -1 "$TALLY" probe -k vm0 -n vfs_read
	[[ $output = *"is of another kernel, by its build-id"*"-D"* ]]
	run -1 "$TALLY" probe -k vm0 -D vfs_raed
	[[ $output = *"did you mean vfs_read"* ]]
	run -1 "$TALLY" probe -k nothing -D vfs_read
	[[ $output = *"nothing: No such file"* ]]
	run -2 "$TALLY" probe -k vm0 -x gcc_0_5 -D work
	run -2 "$TALLY" probe -k vm0 -m ext4 -D work
}

@test "13.32: -k: of the running kernel's vmlinux, by its build-id, places are relative to _text" {
	id=$(od -An -tx1 -v /sys/kernel/notes 2>/dev/null | tr -d ' \n' | sed -n 's/.*0400000014000000030000004[7]4e5500\(.\{40\}\).*/\1/p')
	[ -n "$id" ] || skip "the build-id of this kernel is unknown: /sys/kernel/notes"
	kernel running -O2 -Wl,--build-id=0x"$id"
	at=$((0x$(nm running | sed -n 's/ T vfs_open//p') - 0xffffffff80fff000))
	run -0 "$TALLY" probe -k running -D 'vfs_open mode vm_state'
	[ "$output" = "p:probe/vfs_open _text+$at mode=%si:s32 vm_state=@vm_state+0:s32" ]
	run "$TALLY" probe -k running -n vfs_open
	[ "$status" != 2 ]
	[[ $output != *"another kernel"* ]]
}

# bats test_tags=usual
@test "13.32: --range shows where in its function each variable can be read, as perf does" {
	needs_perf
	for program in gcc_0_5 gcc_2_5 gcc_2_4; do
		for place in work deep main prog.c:28; do
			live perf probe -x $program --range -V $place >theirs 2>/dev/null
			"$TALLY" probe -x $program --range -V $place >ours
			diff theirs ours
			grep -q '	\[VAL\]	.*	@<[a-z]*+\[[0-9]*-[0-9]' ours
		done
	done
	"$TALLY" probe -x gcc_2_5 --range -V work | grep -qF '[INV]	long int	sum	@<work+['
	run -2 "$TALLY" probe -x gcc_2_5 --range -D work
	[[ $output = *"--range needs -V"* ]]
}

@test "13.32: functions of a stripped Go program are probed by the table of Go's runtime" {
	corpus=${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}/fuzz/corpus/fuzz_elf
	for layout in go_1_2 go_1_16 go_1_20; do # the code is at byte 128 of the file: main.main 32 bytes, then runtime.gc
		program=$(realpath "$corpus/$layout")
		run -0 "$TALLY" probe -x "$program" -F
		[ "$output" = $'main.main\nruntime.gc' ]
		run -0 "$TALLY" probe -x "$program" -D main.main -D 'runtime.g* n=%ax:u64' -D main.main+4
		[ "$output" = "p:probe_$layout/main_main $program:0x80
p:probe_$layout/runtime_gc $program:0xa0 n=%ax:u64
p:probe_$layout/main_main $program:0x84" ]
		run -1 "$TALLY" probe -x "$program" -D main.mian
		[[ $output = *"did you mean main.main?"* ]]
		run -1 "$TALLY" probe -x "$program" -D 'main.main $arg1'
		[[ $output = *"Go does not pass arguments as C does"*"%ax, %bx"* ]]
		run -0 "$TALLY" probe -x "$program" -D 'main.main%return'
		[[ $output = *"stacks are moved"* ]]
	done
}

@test "13.32: defining takes the right to write tracefs and no capability, and recording CAP_PERFMON" {
	needs_live
	setpriv --reuid 65534 --clear-groups --inh-caps=+dac_override --ambient-caps=+dac_override true 2>/dev/null ||
		skip "capabilities cannot be kept across a change of user here"
	mkdir -p /tmp/"$GROUP.d"
	cp gcc_0_5 "$TALLY" /tmp/"$GROUP.d"
	chmod 755 /tmp/"$GROUP.d" /tmp/"$GROUP.d"/*
	as_user() { # CAPABILITIES COMMAND...
		live setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="$1" --ambient-caps="$1" "${@:2}"
	}
	tally=/tmp/$GROUP.d/tally
	run -0 as_user +dac_override "$tally" probe -q -x /tmp/"$GROUP.d"/gcc_0_5 "$GROUP:mine=work"
	run -0 as_user +dac_override "$tally" probe -l "$GROUP:mine"
	[[ $output = *"$GROUP:mine"*" (on work@"* ]]
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
		run -255 as_user +dac_override "$tally" stat -x, -e "$GROUP:mine" true
		[[ $output = *CAP_PERFMON* ]]
		run -0 as_user +dac_override,+perfmon "$tally" stat -x, -e "$GROUP:mine" /tmp/"$GROUP.d"/gcc_0_5
		[[ $output = *"3,,$GROUP:mine,"* ]]
	fi
	run -0 as_user +dac_override "$tally" probe -d "$GROUP:mine"
	[[ $output = *"Removed event: $GROUP:mine"* ]]
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] && [ "$(cat /proc/sys/kernel/kptr_restrict)" = 0 ]; then
		run -1 as_user +dac_override "$tally" probe -D vfs_read
		[[ $output = *CAP_SYSLOG* ]]
		run -0 as_user +syslog "$tally" probe -D vfs_read
		[[ $output = "p:probe/vfs_read _text+"* ]]
	fi
	rm -r /tmp/"$GROUP.d"
}

@test "13.32: markers are defined with their arguments, and happen" {
	needs_live
	cat >marks.c <<'END'
#include <stdio.h>
#define MARK(name, counter)                                                        \
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
			 ".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \
			 "993: .8byte 990b,_.stapsdt.base," counter "\n"            \
			 ".asciz \"toy" MINE "\"\n.asciz \"" name "\"\n.asciz \"-4@%0 4@$7\"\n994: .balign 4\n.popsection\n" ::"r"(i))
__asm__(".pushsection .stapsdt.base,\"a\"\n_.stapsdt.base: .space 1\n.popsection\n");
__attribute__((section(".probes"), used)) volatile unsigned short heard_counter;
int main(void)
{
	int heard = 0;

	for (int i = 0; i < 5; i++) {
		MARK("tick", "0");
		heard += heard_counter;
		MARK("heard", "heard_counter");
	}
	printf("%d\n", heard);
	return 0;
}
END
	gcc -O1 -no-pie -DMINE="\"$$\"" -o marks marks.c 2>errors || skip "markers cannot be built here"
	run -0 "$TALLY" probe -x marks -D "sdt_toy$$:tick"
	[[ $output = "p:sdt_toy$$/tick $PWD/marks:0x"*" arg1=%"*":s32 arg2=\\7:u32" ]]
	live "$TALLY" probe -q "%heard@marks"
	live "$TALLY" record -q -e "sdt_toy$$:heard" -o marks.data ./marks >output || true
	live "$TALLY" probe -q -d "sdt_toy$$:*"
	[ "$(cat output)" = 5 ]
	"$TALLY" script -i marks.data -F trace | sed 's/.*) //; s/ *$//' >values
	diff values <(printf 'arg1=%s arg2=7\n' 0 1 2 3 4)
	run -1 "$TALLY" probe -x marks -D %tock
	[[ $output = *"has no marker tock; did you mean tick?"* ]]
	run -1 "$TALLY" probe -D %tick
	[[ $output = *"say which program has the marker"* ]]
}

@test "13.32: functions of C++ are found by their whole names, with their variables" {
	command -v g++ >/dev/null ||
		skip "g++ is not installed: names of C++ are not looked up; tests/unit/probe parses them"
	cat >shape.cc <<'END'
namespace ns { struct Shape { int kind; int twice(int x); }; }
__attribute__((noinline)) int ns::Shape::twice(int x) { return 2 * x + kind; }
int main(int argc, char **) { ns::Shape s{argc}; return s.twice(argc); }
END
	g++ -g -O0 -o shape shape.cc 2>errors || skip "C++ cannot be built here"
	run define shape 'ns::Shape::twice x this->kind'
	[ "$status" = 0 ]
	[[ $output = "p:probe_shape/ns__Shape__twice $PWD/shape:0x"*" x="*"(%bp):s32 kind=+0("*"(%bp)):s32" ]]
	run define shape 'twice x this->kind'
	[ "$status" = 0 ]
}
