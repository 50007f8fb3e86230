# The tools of the tree itself.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tools src/base cli examples/api include/tally tests/unit/base tests/unit/wire tests/cli tests/agree tests/tree fuzz build/meson-private
	cp "$TALLY_SOURCE/tools/found" tools/
	touch tests/unit/base/test_map.c tests/unit/base/test_buf.c tests/unit/base/made.h tests/cli/stat.bats fuzz/fuzz_elf.c
	touch -d '2020-01-01' build/meson-private/coredata.dat
}

@test "14.7: tests are found by folder: the files of a pattern, in order" {
	run -0 tools/found list tests/unit/base 'test_*.c'
	[ "$output" = $'test_buf.c\ntest_map.c' ]
	run -0 tools/found list tests/unit '[a-z]*'
	[ "$output" = $'base\nwire' ]
	run -0 tools/found list tests/unit/wire 'test_*.c'
	[ "$output" = "" ]
}

@test "14.7: a build sees what came and what went, and is configured again" {
	tools/found all >build/found.list
	run -0 tools/found check build
	[ "$output" = "" ]
	[ "$(date -r build/meson-private/coredata.dat +%Y)" = 2020 ]
	touch tests/unit/wire/test_new.c src/base/new.c
	rm tests/cli/stat.bats
	run -1 tools/found check build
	[ "${lines[0]}" = "tests/cli/stat.bats: is gone" ]
	[ "${lines[1]}" = "src/base/new.c: is new" ]
	[ "${lines[2]}" = "tests/unit/wire/test_new.c: is new" ]
	[ "$(date -r build/meson-private/coredata.dat +%Y)" != 2020 ]
	tools/found all >build/found.list # what configuring does
	run -0 tools/found check build
}

@test "14.7: every source file of the tree is compiled, but those that stand for a library or need one" {
	cd "$TALLY_SOURCE"
	sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "${TALLY%/*}/compile_commands.json" >"$BATS_TEST_TMPDIR/compiled"
	count=0
	for file in src/*/*.c cli/*.c; do
		grep -qF "'${file##*/}'" src/meson.build cli/meson.build && continue
		grep -q "/$file$" "$BATS_TEST_TMPDIR/compiled"
		count=$((count + 1))
	done
	[ "$count" -gt 300 ]
}

@test "14.7: every unit test of the tree is a test of the build" {
	cd "$TALLY_SOURCE"
	meson introspect --tests "${TALLY%/*}" | tr ',' '\n' | sed -n 's/.*"name": "\([^"]*\)".*/\1/p' | sort >"$BATS_TEST_TMPDIR/built"
	count=0
	for file in tests/unit/*/test_*.c; do
		folder=$(basename "$(dirname "$file")")
		name=$(basename "$file" .c)
		name=${name#test_}
		name=${name#"${folder}_"}
		grep -qx "$folder-${name//_/-}" "$BATS_TEST_TMPDIR/built" || { echo "$file is not run"; return 1; }
		count=$((count + 1))
	done
	[ "$count" -gt 60 ]
}

check() { # the text of a test's body
	mkdir -p tests/cli
	printf '@test "made" {\n%s\n}\n' "$1" >made.bats
	"$TALLY_SOURCE/tools/check-bats" build "$PWD/made.bats"
}

@test "14.7: assertions that cannot fail are found by their form" {
	for body in $'\t! grep x file' $'\t! grep x file || return 1' $'\t[ a ] && [ b ]\n\t[ c ]' $'\tcmp a b | tail -1' \
		$'\t[ a = b ] || true' $'\tfor one in $(made); do\n\t\t[ "$one" ]\n\tdone' \
		$'\twhile read -r one; do\n\t\t[ "$one" ]\n\tdone <made' $'\trun made\n\t[ "$output" ]' \
		$'\tcommand -v x || skip "x is not \x69nstalled"\n\t[ a ]'; do
		run -1 check "$body"
		[[ $output = *"made.bats:"[23]": "* ]] || { echo "$body"; return 1; }
		[ "${#lines[@]}" = 1 ]
	done
	run -1 "$TALLY_SOURCE/tools/check-bats" build "$(printf 'same() {\n\t[ a ]\n\techo\n}\n@test "made" {\n\tsame || false\n}\n' >f.bats; realpath f.bats)"
	[[ $output = *"f.bats:6: "*"same()"* ]]
}

@test "14.7: assertions that can fail are left alone" {
	for body in $'\trun -1 grep x file' $'\t[ a ] && [ b ]' $'\tif [ a ] && [ b ]; then skip; fi\n\t[ c ]' \
		$'\t[[ a && b ]]\n\t[ c ]' $'\tcmp a b || { diff a b | head; return 1; }\n\t[ c ]' \
		$'\tcount=0\n\tfor one in $(made); do\n\t\tcount=$((count + 1))\n\tdone\n\t[ "$count" = 3 ]' \
		$'\tfor one in a b; do\n\t\t[ "$one" ]\n\tdone' $'\trun made\n\t[ "$status" = 1 ]\n\t[ "$output" ]' \
		$'\tcommand -v x || skip "x is not installed: nothing is compared; the next test needs none"\n\t[ a ]'; do
		run -0 check "$body"
		[ "$output" = "" ]
	done
}

tree() { # a tree of its own, with two folders
	mkdir -p src/base src/wire cli include/tally doc
	cp "$TALLY_SOURCE/tools/check-folders" "$TALLY_SOURCE/tools/check-layers" tools/
	echo 'int tally_one(void);' >src/base/one.h
	printf '#include "base/one.h"\n' | tee src/base/one.c >src/wire/two.c
	printf '# the way of the data\nbase:\nwire: base\n' >src/LAYERS
	printf '# Architecture\n\n## Large folders\n\n| folder | reason |\n| --- | --- |\n' >doc/ARCHITECTURE.md
}

@test "14.4: a folder of src that is too large needs a reason, and one that is not has none" {
	tree
	run -0 tools/check-folders
	[ "$output" = "" ]
	seq 6001 | sed 's/.*/int made&;/' >src/wire/large.c
	run -1 tools/check-folders
	[[ $output = "src/wire:0: has 6,002 lines in 2 files; "*"split it, or give the reason in doc/ARCHITECTURE.md"* ]]
	[ "${#lines[@]}" = 1 ]
	echo '| `src/wire` | a table, and what reads it |' >>doc/ARCHITECTURE.md
	run -0 tools/check-folders
	rm src/wire/large.c
	run -1 tools/check-folders
	[[ $output = "doc/ARCHITECTURE.md:7: src/wire is within the limits; remove its row" ]]
	for number in {1..40}; do : >"src/wire/file_$number.c"; done
	run -0 tools/check-folders
	: >src/wire/file_41.c
	sed -i '/src.wire/d' doc/ARCHITECTURE.md
	run -1 tools/check-folders
	[[ $output = "src/wire:0: has 1 lines in 42 files; "* ]]
}

@test "14.4: two files of the same name are found" {
	tree
	: >cli/two.c
	: >tests/unit/base/one.h
	run -1 tools/check-folders
	[ "${lines[0]}" = "cli/two.c:1: has the name of src/wire/two.c; rename the less central one" ]
	[ "${lines[1]}" = "tests/unit/base/one.h:1: has the name of src/base/one.h; rename the less central one" ]
	[ "${#lines[@]}" = 2 ]
}

@test "14.4: folders depend on those above them only, by their includes and by their calls" {
	tree
	run -0 tools/check-layers build
	[ "$output" = "" ]
	mkdir -p build/src objects
	printf 'int tally_two(void);\nint tally_one(void);\nint tally_one(void) { return tally_two(); }\n' >one.c
	printf 'int tally_two(void);\nint tally_two(void) { return 2; }\n' >two.c
	cc -c one.c -o objects/base_one.c.o
	cc -c two.c -o objects/wire_two.c.o
	ar rcT build/src/libtally-base.a objects/base_one.c.o
	ar rcT build/src/libtally-wire.a objects/wire_two.c.o
	run -1 tools/check-layers build
	[[ $output = "src/base/one.c:1: base may not call tally_two(), which is in wire (src/LAYERS); "* ]]
	echo '#include "wire/two.h"' >>src/base/one.c
	run -1 tools/check-layers build
	[[ ${lines[0]} = "src/base/one.c:2: base may not include wire (src/LAYERS); "* ]]
	printf 'base: wire\nwire: base\n' >src/LAYERS
	run -1 tools/check-layers build
	[ "$output" = "src/LAYERS:1: base may not include wire, which stands below it" ]
}
