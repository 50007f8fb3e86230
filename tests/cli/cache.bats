#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally cache, and the index of source lines that reports keep there.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR"
	cd "$BATS_FILE_TMPDIR" || return 1
	# Many lines, so that reading them takes long enough for an index to be worth it; the assembler alone makes them.
	python3 - >work.c <<'END'
print("static __attribute__((noinline)) void work(void)\n{\n\t__asm__ volatile(")
print("\n".join(f'"\\t.loc 1 {line}\\n\\tnop\\n"' for line in range(100, 400100)))
print("\t);\n}\nint main(void)\n{\n\tfor (int i = 0; i < 3000; i++)\n\t\twork();\n\treturn 0;\n}")
END
	gcc -O1 -g -Wl,--build-id=sha1 -o work work.c || return 0
	"$TALLY" record -q -N -e cpu-clock:u -F 500 -o work.data ./work 2>/dev/null || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v gcc >/dev/null || skip "gcc is not installed: there is no program whose lines are kept; tests/unit/image has known lines"
	[ -s work.data ] || skip "recording is not permitted here"
	export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
	id=$("$TALLY" buildid-list work)
}

lines() {
	"$TALLY" script -i work.data --dsos work -F ip,sym,srcline # samples of the loader are chance
}

@test "15.1: a report keeps the index of a program's lines, and another one needs no debug information" {
	lines >first
	grep -q 'work.c:' first
	[ -f "$XDG_CACHE_HOME/tally/lines-$id" ]
	[ "$(stat -c %a "$XDG_CACHE_HOME/tally/lines-$id")" = 600 ]
	cp -p work kept
	strip --strip-debug work
	lines >again || { mv kept work; false; }
	XDG_CACHE_HOME="$BATS_TEST_TMPDIR/other" lines >without || { mv kept work; false; }
	mv kept work
	diff first again
	run -1 grep 'work.c:[1-9]' without
}

@test "15.1: cache lists kind, build-id, size, last use and program of each file" {
	lines >/dev/null
	run -0 "$TALLY" cache
	grep -E "^source lines +$id +[0-9.]+ [KMG]?B +20..-..-.. ..:..  $BATS_FILE_TMPDIR/work \(1 of 1 units\)$" <<<"$output"
	grep -E '^[0-9]+ files?, [0-9.]+ [KMG]?B; the limit is 1\.0 GB$' <<<"$output"
	run -0 "$TALLY" cache --check
	grep -E "/work \(1 of 1 units\): ok$" <<<"$output"
}

@test "15.1: a torn file is found by --check, is not used, and is made again" {
	lines >first
	file="$XDG_CACHE_HOME/tally/lines-$id"
	truncate -s -100 "$file"
	run -1 --separate-stderr "$TALLY" cache --check
	grep -q 'damaged, or of another version' <<<"$output"
	grep -q '1 file cannot be used' <<<"$stderr"
	lines >again
	diff first again
	run -0 "$TALLY" cache --check
	printf 'X' | dd of="$file" bs=1 seek=2000 conv=notrunc status=none
	lines >again
	diff first again
	"$TALLY" cache --check
}

@test "15.1: what others can write is not used" {
	lines >first
	chmod 666 "$XDG_CACHE_HOME/tally/lines-$id"
	run -0 "$TALLY" cache
	grep -q 'others can write it' <<<"$output"
	lines >again
	diff first again
	[ "$(stat -c %a "$XDG_CACHE_HOME/tally/lines-$id")" = 600 ]
	chmod 777 "$XDG_CACHE_HOME/tally"
	run -1 "$TALLY" cache
	grep -q 'belongs to another user, or others can write it' <<<"$output"
}

@test "15.1: --clear removes files of a build, files that were not used for a time, or all" {
	lines >/dev/null
	[ "$("$TALLY" cache --clear=ffffffff)" = "0 files removed" ]
	[ "$("$TALLY" cache --clear=1h)" = "0 files removed" ]
	touch -d '3 days ago' "$XDG_CACHE_HOME/tally/lines-$id"
	[ "$("$TALLY" cache --clear 4d)" = "0 files removed" ]
	[ "$("$TALLY" cache --clear 2d)" = "1 file removed" ]
	lines >/dev/null
	[ "$("$TALLY" cache --clear "${id:0:8}")" = "1 file removed" ]
	lines >/dev/null
	"$TALLY" cache --clear
	[ ! -e "$XDG_CACHE_HOME/tally/lines-$id" ]
	run -2 "$TALLY" cache --clear=soon
}

@test "15.1: the limit is kept, and what was not used for the longest time is removed first" {
	lines >/dev/null
	folder="$XDG_CACHE_HOME/tally"
	head -c 300000 /dev/zero >"$folder/lines-aa"
	head -c 300000 /dev/zero >"$folder/lines-bb"
	touch -d '2 days ago' "$folder/lines-aa"
	touch -d '1 day ago' "$folder/lines-bb"
	size=$(stat -c %s "$folder/lines-$id")
	"$TALLY" cache --limit $((size + 400000)) | grep -q "the limit is"
	[ ! -e "$folder/lines-aa" ]
	[ -e "$folder/lines-bb" ]
	[ -e "$folder/lines-$id" ]
	"$TALLY" cache --limit 1K
	[ ! -e "$folder/lines-$id" ]
	lines >/dev/null # larger than the limit: it is not written
	[ ! -e "$folder/lines-$id" ]
	run -2 "$TALLY" cache --limit much
}

@test "15.1: reports at once all have the same lines, and leave one whole file" {
	lines >expected
	"$TALLY" cache --clear >/dev/null
	for i in 1 2 3 4; do
		lines >"out$i" &
	done
	wait
	for i in 1 2 3 4; do
		diff expected "out$i"
	done
	"$TALLY" cache --check
	[ "$(ls "$XDG_CACHE_HOME/tally" | grep -c lines-)" = 1 ]
}
