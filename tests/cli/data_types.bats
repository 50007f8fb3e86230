#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The types of what instructions access: report -s type, typeoff, typecln, symoff; annotate --data-type.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export SOURCES="$BATS_TEST_DIRNAME/data_types"
	export HOME="$BATS_FILE_TMPDIR/home"
	mkdir -p "$HOME"
	cd "$BATS_FILE_TMPDIR" || return 1
	gcc -g -O2 -o objects "$SOURCES/objects.c" || return 0
	"$TALLY" record -q -e cpu-clock -F 10000 -o walk.data ./objects 1000 >/dev/null 2>&1 || rm -f walk.data
	if "$TALLY" annotate -i walk.data walk 2>&1 | grep -q "built without libcapstone"; then
		touch no_capstone
	fi
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ ! -e no_capstone ] || skip "built without libcapstone, which reads the instructions"
	case $(uname -m) in
	x86_64) ;;
	*) skip "the known answers are of x86-64" ;;
	esac
}

# check COMPILER SOURCE FLAGS...: every instruction of the functions has the type that is known.
check() {
	command -v "$1" >/dev/null || skip "$1 is not installed: the other compiler's code is checked"
	"$1" -g "${@:3}" -o checked "$SOURCES/$2"
	run -0 python3 "$SOURCES/check.py" "$TALLY" "$BATS_TEST_DIRNAME/recording.py" "$PWD/checked"
	rm -f checked checked.data
}

@test "every access of gcc's code has the type and member that are known" {
	for version in 4 5; do
		for level in -O0 -O1 -O2 -Os; do
			check gcc objects.c $level -gdwarf-$version
			[[ $output == *"of 9 functions" ]]
		done
	done
}

@test "every access of clang's code has the type and member that are known" {
	for version in 4 5; do
		for level in -O0 -O1 -O2 -Os; do
			check clang objects.c $level -gdwarf-$version
			[[ $output == *"of 9 functions" ]]
		done
	done
}

@test "code at fixed addresses and without frame pointers" {
	check gcc objects.c -O2 -no-pie -fno-pie
	check gcc objects.c -O0 -fomit-frame-pointer
	check gcc objects.c -O2 -fno-omit-frame-pointer -fstack-protector-all
}

@test "members of classes and of what they are derived from" {
	for level in -O0 -O2; do
		check g++ classes.cc $level
		[[ $output == *"of 3 functions" ]]
	done
	check clang++ classes.cc -O2 -gdwarf-4
}

walk_data() {
	[ -e walk.data ] || skip "cpu-clock cannot be recorded here: made recordings are checked"
}

@test "a recorded walk of a list is in its nodes" {
	walk_data
	"$TALLY" report -q --csv -i walk.data -S walk -s type -F sample,type >rows
	python3 - <<-'EOF'
		import csv
		rows = {row[-1]: int(row[-2]) for row in csv.reader(open("rows"))}
		known = {name: count for name, count in rows.items() if name != "(unknown)"}
		nodes = known.get("struct list_node", 0)
		assert nodes > 100 and nodes >= 0.95 * sum(known.values()), rows
	EOF
}

@test "rows of types are sums as of any other key" {
	walk_data
	all=$("$TALLY" report -q --csv -i walk.data -s comm -F sample | cut -d, -f2 | paste -sd+ | bc)
	for keys in type typeoff typecln symoff type,symoff comm,type; do
		[ "$("$TALLY" report -q --csv -i walk.data -s $keys -F sample,$keys | cut -d, -f2 | paste -sd+ | bc)" = "$all" ]
	done
	"$TALLY" report -q -i walk.data -s typecln >out
	grep -q 'struct list_node: cache-line 0' out
	"$TALLY" report -q -i walk.data -s symoff >out
	grep -Eq '\[\.\] walk\+0x[0-9a-f]+' out
}

@test "annotate --data-type shows the layout with the samples of members" {
	walk_data
	"$TALLY" annotate -i walk.data --data-type=list_node -n >out
	grep -Eq '^# struct list_node in objects: [0-9.]+%, [0-9]+ samples of cpu-clock' out
	grep -Eq '^ +[0-9]+ +0 +64  struct list_node \{$' out
	grep -Eq '^ +[0-9]+ +0 +8      long int value;$' out
	grep -Eq '^ +[0-9]+ +8 +8      struct list_node\* next;$' out
	grep -Eq '^ +0 +16 +48      char\[\] name;$' out
	"$TALLY" annotate -i walk.data --data-type="struct list_node" >percents
	grep -Eq '^ +100.00 +0 +64  struct list_node \{$' percents
	"$TALLY" annotate -i walk.data --data-type=list_node --json >out.json
	python3 - <<-'EOF'
		import json
		(made,) = json.load(open("out.json"))["types"]
		assert made["type"] == "struct list_node" and made["size"] == 64 and made["dso"] == "objects", made
		assert [(m["depth"], m["offset"], m["size"], m["name"]) for m in made["members"]] == \
		    [(1, 0, 8, "value"), (1, 8, 8, "next"), (1, 16, 48, "name")], made
		assert sum(m["samples"][0] for m in made["members"]) == made["samples"][0] > 100, made
		assert sum(m["period"][0] for m in made["members"]) == made["period"][0], made
	EOF
}

@test "--type-stat adds up to all samples" {
	walk_data
	"$TALLY" annotate -i walk.data --data-type --type-stat >out
	read -r all known unknown < <(sed -nE 's/^# Data types of ([0-9,]+) samples?: ([0-9]+) known .*, ([0-9]+) unknown .*/\1 \2 \3/p' out)
	[ "${all//,/}" -eq $((known + unknown)) ]
	[ "$(awk '/^$/ {exit} NR > 1 {sum += $1} END {print sum}' out)" -eq "${all//,/}" ]
	grep -q 'the type is known$' out
}

@test "a type without samples, and options of listings, are refused" {
	walk_data
	run -1 "$TALLY" annotate -i walk.data --data-type=no_such_type
	[[ $output == *"no sample accesses a type named 'no_such_type'"* ]]
	run -2 "$TALLY" annotate -i walk.data --type-stat
	run -2 "$TALLY" annotate -i walk.data --data-type --hot
}

@test "a program without debug information has no types" {
	[ -e objects ] || skip "gcc is not installed: there is no program"
	strip -o stripped objects
	address=$(nm objects | awk '$3 == "walk" {print $1}')
	printf 'comm 7 stripped\nmap 7 10000000 4000 0 %s\nsample 7 %x\n' "$PWD/stripped" $((0x10000000 + 0x$address)) |
		python3 "$BATS_TEST_DIRNAME/recording.py" stripped.data
	# record has put the program with its debug information into the cache
	"$TALLY" report -q --csv -i stripped.data -s type --buildid-dir none >out
	run -0 tail -n 1 out
	[[ $output == *"(unknown)" ]]
	run -1 "$TALLY" annotate -i stripped.data --data-type --type-stat --buildid-dir none
	[[ $output == *"1  the binary has no debug information"* ]]
}
