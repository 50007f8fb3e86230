#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally archive: one file with a recording and what is needed to read it; and other archives and folders with debug
# files, which --debug-dir names.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v cc >/dev/null || return 0
	# Code that is inlined, a static function, and one that only a debug file names.
	cat >work.c <<-'EOF'
		static volatile unsigned sink;
		static inline __attribute__((always_inline)) unsigned mix(unsigned a) { for (int i = 0; i < 4; i++) a = a * 2654435761u ^ a >> 7; return a; }
		static __attribute__((noinline)) unsigned hidden_leaf(unsigned n) {
			unsigned s = 0;
			for (unsigned i = 0; i < n; i++)
				__asm__ volatile("" : "+r"(s) : "r"(mix(i + s)));
			return s;
		}
		__attribute__((noinline)) unsigned work(unsigned n) { return hidden_leaf(n) + 1; }
		/* With an argument it runs for some seconds. */
		int main(int argc, char **argv) {
			for (int i = 0; i < (argc > 1 ? 1300 : 50); i++)
				sink += work(1000000);
			return !argv;
		}
	EOF
	cc -O2 -g -fno-omit-frame-pointer -Wl,--build-id=sha1 work.c -o work
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	# Copies of binaries go below this HOME, not to the cache of all tests.
	export HOME="$BATS_TEST_TMPDIR/home" XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache" PERF_CONFIG=/dev/null
	mkdir -p "$HOME"
	[ -x "$BATS_FILE_TMPDIR/work" ] || skip "no compiler: there is no program whose debug file is archived"
	cp "$BATS_FILE_TMPDIR/work" work
}

# The program's build-id.
id_of() {
	readelf -n "$1" | awk '/Build ID/ {print $3}'
}

# A recording of ./work, made by hand: two samples in hidden_leaf, one in code that was made at run time.
made() { # file
	offset=$((16#$(nm work | awk '$3 == "hidden_leaf" {print $1}')))
	python3 "$BATS_TEST_DIRNAME/recording.py" "$1" <<-EOF
		comm 4190077 work
		map 4190077 400000 100000 0 $PWD/work
		map 4190077 700000 10000 0 //anon
		sample 4190077 $(printf %x $((0x400000 + offset + 4)))
		times 1
		sample 4190077 700010
	EOF
}

# The command and the libraries that it loads, in a folder without anything else.
empty_root() {
	local file library
	mkdir -p root/bin
	cp "$TALLY" root/bin/tally
	for file in "$TALLY" $(ldconfig -p | awk '$1 ~ /^lib(elf|dw|zstd|lzma|bz2|stdc\+\+|capstone|traceevent)\.so\.[0-9]/ {print $NF}'); do
		for library in "$file" $(ldd "$file" | grep -o '/[^ )]*'); do
			[ "$library" != "$TALLY" ] || continue
			mkdir -p "root${library%/*}"
			cp -Lu "$library" "root$library"
		done
	done
}

in_root() {
	unshare -m chroot root /bin/tally "$@"
}

# bats test_tags=usual
@test "15.6: an archive shows the same report to the byte in an empty chroot without the binaries" {
	[ "$(id -u)" = 0 ] || skip "chroot is for root"
	[ -z "$ASAN_OPTIONS" ] || skip "sanitizers read /proc, which is not in the chroot: the usual build runs this"
	ldd "$TALLY" | grep -q libc.so || skip "not linked as usual"
	"$TALLY" record -q -F 2000 -g -o perf.data -- ./work 2>said || skip "no recording: $(cat said)"
	"$TALLY" record -q --call-graph dwarf --keep-stacks -c 5000000 -e cpu-clock -o copies.data -- ./work
	empty_root
	run -127 chroot root /bin/sh
	for recording in perf.data copies.data; do
		"$TALLY" archive -f -i $recording -o root/$recording 2>said
		for question in report "report -g" "report --no-children -s comm,dso,sym -g caller" \
			"report -g --no-inline" "report -s srcline" "report -s sym,srcfile -g caller --inline" script \
			"script -F ip,sym,dso,srcline --inline" "script --json" evlist "report --header-only"; do
			# shellcheck disable=SC2086 # words
			"$TALLY" $question -i $recording >here
			# shellcheck disable=SC2086
			in_root $question -i $recording >there
			[ -s here ]
			cmp here there
		done
	done
	"$TALLY" report -g -i perf.data >here
	grep -q hidden_leaf here
	grep -q main here
	"$TALLY" report -g -i copies.data | grep -q 'mix (inlined)'
	in_root report -g --inline -i perf.data | grep -q 'mix (inlined)'
	in_root report -s srcline -i perf.data | grep -q 'work.c:[2-6]'
}

@test "15.6: an archive is a tar file: the recording, then a build-id cache of reduced binaries" {
	command -v zstd >/dev/null || skip "no zstd"
	"$TALLY" record -q -F 500 -o perf.data -- ./work 2>said || skip "no recording: $(cat said)"
	"$TALLY" archive 2>said
	[[ "$(cat said)" == "tally archive: perf.data.tar.zst: "*" MB, the recording and "*" files" ]]
	id=$(id_of work)
	mkdir all
	zstd -qdc perf.data.tar.zst | tar -xf - -C all
	cmp perf.data all/perf.data
	elf=all/.build-id/${id:0:2}/${id:2}/elf
	# The same size and symbols; the code is a hole.
	[ "$(stat -c %s "$elf")" = "$(stat -c %s work)" ]
	[ "$(nm "$elf" | awk '{print $1, $NF}')" = "$(nm work | awk '{print $1, $NF}')" ]
	run -0 readelf -SW "$elf"
	[[ "$output" == *" .text "*NOBITS* ]]
	# With --binaries it is there; an existing archive is not replaced unasked.
	run -1 "$TALLY" archive --binaries
	[ "$output" = "tally archive: perf.data.tar.zst exists; --force replaces it, or name another file" ]
	"$TALLY" archive --binaries --force 2>said
	zstd -qdc perf.data.tar.zst | tar -xf - -C all
	cmp work "$elf"
	[ -z "$(ls ./*.tmp 2>/dev/null)" ]
}

@test "15.6: an archive has what no build-id names: by path, and maps of code made at run time" {
	objcopy --remove-section .note.gnu.build-id work
	made perf.data
	map=/tmp/perf-4190077.map
	[ ! -e $map ] || skip "$map exists"
	printf '700000 100 made_at_run_time\n' >$map
	"$TALLY" archive -o a perf.data 2>said || { rm $map; false; }
	"$TALLY" report -s sym -i perf.data >here
	rm $map
	mv work gone
	"$TALLY" report -s sym -i a >there
	cmp here there
	grep -q hidden_leaf there
	grep -q made_at_run_time there
	# What is here now under the same names is of another machine.
	echo 'unsigned other(void) { return 1; } int main(void) { return other(); }' | cc -x c -Wl,--build-id=none - -o work
	printf '700000 100 of_another_process\n' >$map
	"$TALLY" report -s sym -i a >there || { rm $map; false; }
	rm $map
	cmp here there
}

@test "15.6: an archive of an archive is the same; an archive of a stream or a directory has all of it" {
	"$TALLY" record -q -F 500 -g -o perf.data -- ./work 2>said || skip "no recording: $(cat said)"
	"$TALLY" archive -o a 2>said
	mv work gone
	"$TALLY" archive -i a -o b 2>said
	"$TALLY" report -g -i a >first
	"$TALLY" report -g -i b >second
	cmp first second
	grep -q hidden_leaf second
	mv gone work
	"$TALLY" inject -i perf.data -o - >stream
	"$TALLY" archive -i stream -o c 2>said
	"$TALLY" archive -o d 2>said <stream
	"$TALLY" report -s sym -i stream >here
	for archive in c d; do
		"$TALLY" report -s sym -i $archive >there
		cmp here there
	done
	command -v perf >/dev/null || return 0
	perf record -q --threads -F 500 -o folder -- ./work 2>said || return 0
	"$TALLY" archive -i folder/ 2>said
	"$TALLY" report -s sym -i folder >here
	"$TALLY" report -s sym -i folder.tar* >there
	cmp here there
}

@test "16: the copy of the kernel beside a recording goes along, and from there into another archive" {
	command -v zstd >/dev/null || skip "there is no zstd to unpack an archive: what it has is read above"
	"$TALLY" record -q -N --threads -F 500 -e cpu-clock:u -o folder -- ./work 2>said || skip "no recording: $(cat said)"
	mkdir folder/kcore_dir
	head -c 100000 /dev/urandom >folder/kcore_dir/kcore
	echo module >folder/kcore_dir/modules
	"$TALLY" archive -i folder -o a 2>said
	"$TALLY" archive -i a -o b 2>said
	for archive in a b; do
		mkdir "$archive.unpacked"
		zstd -qdc "$archive" | tar -xf - -C "$archive.unpacked"
		diff -r folder/kcore_dir "$archive.unpacked/perf.data/kcore_dir"
	done
	"$TALLY" report -s sym -i folder >here
	"$TALLY" report -s sym -i b >there
	cmp here there
}

@test "15: --debug-dir takes names from folders of both layouts, and from archives of them" {
	made perf.data
	objcopy --only-keep-debug work work.debug
	strip work
	id=$(id_of work)
	"$TALLY" report -s sym -i perf.data >without
	run -1 grep hidden_leaf without
	mkdir -p empty lib/.build-id/"${id:0:2}" linked beside/"$PWD" cache/.build-id/"${id:0:2}/${id:2}"
	cp work.debug lib/.build-id/"${id:0:2}/${id:2}".debug
	cp work.debug cache/.build-id/"${id:0:2}/${id:2}"/debug
	cp work.debug beside/"$PWD"/work.debug
	tar -cf lib.tar -C lib .
	tar -cjf cache.tar.bz2 -C cache .build-id
	for place in lib cache beside lib.tar cache.tar.bz2; do
		[ $place != cache.tar.bz2 ] || "$TALLY" version --build-options 2>&1 | grep -q 'libbz2.*on' || continue
		"$TALLY" report -s sym -i perf.data --debug-dir empty --debug-dir $place >with
		grep -q hidden_leaf with
	done
	# By its link alone, where there is no build-id: the checksum decides.
	cp "$BATS_FILE_TMPDIR/work" work
	objcopy --remove-section .note.gnu.build-id work
	objcopy --only-keep-debug work linked/work.dbg 2>said
	strip work
	objcopy --add-gnu-debuglink=linked/work.dbg work
	offset=$((16#$(nm linked/work.dbg | awk '$3 == "hidden_leaf" {print $1}')))
	printf 'comm 77 work\nmap 77 400000 100000 0 %s\nsample 77 %x\n' "$PWD/work" $((0x400000 + offset + 4)) |
		python3 "$BATS_TEST_DIRNAME/recording.py" perf.data
	"$TALLY" report -s sym -i perf.data --debug-dir linked | grep -q hidden_leaf
	printf x >>linked/work.dbg
	"$TALLY" report -s sym -i perf.data --debug-dir linked >with
	run -1 grep hidden_leaf with
	run -1 "$TALLY" report -i perf.data --debug-dir nowhere
	[ "$output" = "tally report: nowhere: no folder or archive of debug files: No such file or directory" ]
}

@test "15: what a client of debuginfod has fetched is read" {
	made perf.data
	id=$(id_of work)
	objcopy --only-keep-debug work work.debug 2>said
	strip work
	for folder in "$XDG_CACHE_HOME/debuginfod_client" "$HOME/.cache/debuginfod_client" "$PWD/elsewhere"; do
		mkdir -p "$folder/$id"
		cp work.debug "$folder/$id/debuginfo"
		case $folder in
		"$XDG_CACHE_HOME"*) "$TALLY" report -s sym -i perf.data >out ;;
		"$HOME"*) env -u XDG_CACHE_HOME "$TALLY" report -s sym -i perf.data >out ;;
		*) DEBUGINFOD_CACHE_PATH=$folder "$TALLY" report -s sym -i perf.data >out ;;
		esac
		rm -r "$folder"
		grep -q hidden_leaf out
	done
	"$TALLY" report -s sym -i perf.data >out
	run -1 grep hidden_leaf out
}

@test "15: the tar file of perf archive is read beside its recording" {
	command -v perf >/dev/null || skip "no perf"
	"$TALLY" version --build-options 2>&1 | grep -q 'libbz2.*on' || skip "built without libbz2"
	perf record -q -F 500 -o perf.data -- ./work 2>said || skip "no recording: $(cat said)"
	perf --buildid-dir "$HOME/.debug" archive perf.data >said 2>&1 || skip "no perf archive: $(cat said)"
	[ -s perf.data.tar.bz2 ]
	"$TALLY" report -s dso,sym -i perf.data >here
	rm work
	"$TALLY" report -s dso,sym -i perf.data --buildid-dir "$BATS_TEST_TMPDIR" >without
	run -1 grep hidden_leaf without
	"$TALLY" report -s dso,sym -i perf.data --buildid-dir "$BATS_TEST_TMPDIR" --debug-dir perf.data.tar.bz2 >there
	cmp here there
	grep -q hidden_leaf there
	run -1 "$TALLY" report -i perf.data.tar.bz2
	[[ "$output" == *"an archive without a recording (perf.data)"*"--debug-dir"* ]]
}

@test "15: a binary of a container, gone when the report is made, still has its names" {
	[ "$(id -u)" = 0 ] || skip "mount namespaces are for root"
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	mkdir private
	cat >container <<-'EOF'
		mount -t tmpfs none private && cp work private/hidden && touch ready && private/hidden long
		umount -l private
	EOF
	# Another file at the same path here is not taken for it.
	cp /bin/true private/hidden
	"$TALLY" record -q -F 200 -o perf.data -- unshare -m sh container 2>said || skip "no recording: $(cat said)"
	"$TALLY" report -s dso,sym -i perf.data >out
	grep -q 'hidden .*hidden_leaf' out
	# So does an archive of it.
	"$TALLY" archive -o a 2>said
	HOME=/nonexistent "$TALLY" report -s dso,sym -i a >there
	cmp out there
	# The same of one that runs already.
	rm -rf home/.debug ready
	unshare -m sh container &
	for ((i = 0; i < 100; i++)); do
		pid=$(pgrep -P $! hidden) && break
		sleep 0.1
	done
	"$TALLY" record -q -F 200 -o late.data -p "$pid" 2>said
	wait
	"$TALLY" report -s dso,sym -i late.data >out
	grep -q 'hidden .*hidden_leaf' out
}

@test "15: binaries, maps and stacks of containers that end before the recorder's next pass have names" {
	[ "$(id -u)" = 0 ] || skip "mount namespaces are for root"
	unshare -mpf true 2>/dev/null || skip "no namespaces"
	[ "$(uname -m)" = x86_64 ] || skip "the program has machine code for x86-64 alone"
	cat >hidden.c <<-'EOF'
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <time.h>
		#include <unistd.h>
		static unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3 };
		__attribute__((noinline)) unsigned hidden_leaf(unsigned n)
		{
			volatile unsigned s = n;
			for (unsigned i = 0; i < 20000; i++)
				s += i;
			return s;
		}
		__attribute__((noinline)) unsigned hidden_caller(unsigned n) { return hidden_leaf(n) + 1; }
		int main(void)
		{
			void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char name[64];
			FILE *map;
			snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
			map = fopen(name, "w");
			fprintf(map, "%lx %zx made_here\n", (unsigned long)at, sizeof(code));
			fclose(map);
			memcpy(at, code, sizeof(code));
			while (clock() < CLOCKS_PER_SEC / 20)
				hidden_caller(1);
			while (clock() < CLOCKS_PER_SEC / 10)
				((void (*)(long))at)(200000);
			return 0;
		}
	EOF
	"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -static -o hidden hidden.c 2>err || skip "no static programs: $(head -n 1 err)"
	mkdir -p private
	cat >container <<-'EOF'
		mount -t tmpfs none private && mkdir private/bin private/tmp && cp hidden private/bin/hid && chroot private /bin/hid
		umount -l private
	EOF
	"$TALLY" record -N -q -F 2000 -e cpu-clock:u -g -o perf.data -- unshare -mpf sh container 2>said || skip "no recording: $(cat said)"
	# Kept by its build-id, the map by a number of its own.
	"$TALLY" record -q -F 2000 -e cpu-clock:u -g -o perf.data -- unshare -mpf sh container 2>said
	"$TALLY" script --no-inline -F comm,ip,sym -i perf.data | awk 'BEGIN { RS = "" } /^hid/ { all++; leaf += /hidden_leaf\n.*hidden_caller\n.*main\n.*_start$/; made += /made_here\n.*main\n.*_start$/ }
		END { print all + 0, leaf + 0, made + 0; exit !(all > 20 && leaf > 5 && made > 5 && leaf + made >= all * 0.8) }'
}

@test "15.7: an archive that is cut or hostile is read as far as it goes, and writes no file" {
	made perf.data
	"$TALLY" archive -o a perf.data 2>said
	rm work
	size=$(stat -c %s a)
	for part in 1 3 6 9; do
		head -c $((size * part / 10)) a >cut
		"$TALLY" report -i cut >out 2>said || [ -s said ]
	done
	if command -v zstd >/dev/null; then
		zstd -qdc a >plain
		head -c -3000 plain >cut
		"$TALLY" report -i cut >out 2>&1
		grep -q 'the archive is damaged or cut short' out
	fi
	# Names that lead out of a folder are names; links are not followed; sizes that are not there are not read.
	mkdir made
	python3 - <<-'EOF'
		import io, tarfile
		def tar(name, *members):
		    with tarfile.open(name, "w") as out:
		        for path, body, kind, link in members:
		            info = tarfile.TarInfo(path)
		            info.size, info.type, info.linkname = len(body), kind, link
		            out.addfile(info, io.BytesIO(body))
		data = open("perf.data", "rb").read()
		file, link = tarfile.REGTYPE, tarfile.SYMTYPE
		tar("made/out", ("../../escaped", b"x", file, ""), ("/tmp/escaped-15-7", b"x", file, ""), ("perf.data", data, file, ""))
		tar("made/link", ("perf.data", b"", link, "/etc/passwd"), ("x", b"x", file, ""))
		tar("made/empty", ("perf.data", b"", file, ""))
		whole = bytearray(open("made/out", "rb").read())
		whole[124:135] = b"77777777777"
		whole[148:156] = b"%06o\0 " % (sum(whole[:148]) + 8 * 32 + sum(whole[156:512]))
		open("made/large", "wb").write(whole)
	EOF
	"$TALLY" report -i made/out >out
	grep -q work out
	[ ! -e ../escaped ]
	[ ! -e /tmp/escaped-15-7 ]
	for file in link empty large; do
		run -1 "$TALLY" report -i made/$file
		[ "$(wc -l <<<"$output")" = 1 ]
	done
	# One that expands to much more than its size.
	command -v zstd >/dev/null || return 0
	{ tar -cf - perf.data; head -c 200M /dev/zero; } | zstd -q >bomb
	run -1 "$TALLY" report -i bomb
	[[ "$output" == *"expands to more than "*"--max-expand allows more" ]]
	"$TALLY" report --max-expand 400 -i bomb >out
}

@test "13: an archive is a file: a device or a pipe is refused, and stays" {
	"$TALLY" record -q -e cpu-clock -- ./work 2>/dev/null
	mkfifo pipe
	run -1 "$TALLY" archive -f -o pipe
	[ "$output" = "tally archive: pipe is not a regular file, which is needed here; name another file" ]
	[ -p pipe ]
	[ -z "$(ls ./*.tmp 2>/dev/null)" ]
}
