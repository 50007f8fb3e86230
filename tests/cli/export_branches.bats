#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally export --to bolt, profgen and autofdo: known branches of a program, counted; read by perf2bolt and llvm-profgen.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home" PERF_CONFIG=/dev/null
	mkdir -p "$HOME"
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >prog.c <<'EOF2'
volatile int sink;
__attribute__((noinline)) void work(void) { sink += 3; }
int main(void) { work(); sink++; work(); return 0; }
EOF2
	gcc -gdwarf-4 -O1 -fcf-protection=none -fno-reorder-functions -o prog prog.c || return 0
	nm prog >/dev/null || return 0
	local start offset size work first second end
	read -r offset start size < <(readelf -lW prog | awk '$1 == "LOAD" && / R E / {print $2, $3, $5}')
	# Where the calls and the return are, as objdump prints them.
	work=$(nm prog | awk '$3 == "work" {print $1}')
	end=$(objdump -d --disassemble=work prog | awk '/\tret/ {sub(":", "", $1); print $1}')
	read -r first second < <(objdump -d --disassemble=main prog | awk '/call.*<work>/ {sub(":", "", $1); print $1}' | xargs)
	printf '%x %x %x %x %x %x\n' "0x$work" "0x$end" "0x$first" $((0x$first + 5)) "0x$second" $((0x$second + 5)) >places
	there() { printf '%x' $((0x$1 - start + offset + 0x400000)); }
	{
		echo "comm 10 prog"
		echo "map 10 $(printf '%x %x %x' $((0x400000 + offset)) $((size)) $((offset))) $PWD/prog"
		read -r work end first after second last <places
		echo "sample 10 $(there "$last") $(there "$end") $(there "$last") $(there "$second") $(there "$work") \
			$(there "$end") $(there "$after") $(there "$first") $(there "$work")"
		echo "times 99"
	} | tr -s '\n' | python3 "$BATS_TEST_DIRNAME/recording.py" branches.data branches
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s branches.data ] || skip "gcc, nm, objdump or readelf is missing: there are no known branches"
	read -r work end first after second last <places
}

@test "branches and the code between them are counted, at the file's addresses" {
	run -0 --separate-stderr "$TALLY" export --to bolt branches.data
	printf '%s\n' "B $end $after 100 0" "B $end $last 100 0" "B $first $work 100 0" "B $second $work 100 0" \
		"F $after $second 100" "F $work $end 200" | sort >known
	sort <<<"$output" | diff known -
	"$TALLY" export --to autofdo branches.data >made
	printf '%s\n' 2 "$after-$second:100" "$work-$end:200" 0 4 "$end->$after:100" "$end->$last:100" "$first->$work:100" \
		"$second->$work:100" | sort >known
	sort made | diff known -
	[ "$(sed -n '1p;4p;5p' made | tr '\n' ' ')" = "2 0 4 " ]
	# From the page on in which the first segment with code begins.
	base=$(readelf -lW prog | awk '$1 == "LOAD" && / R E / {print $3; exit}')
	from() { printf '%x' $((0x$1 - base / 4096 * 4096)); }
	"$TALLY" export --to profgen branches.data >made
	printf '%s\n' 2 "$(from "$after")-$(from "$second"):100" "$(from "$work")-$(from "$end"):200" 4 "$(from "$end")->$(from "$after"):100" \
		"$(from "$end")->$(from "$last"):100" "$(from "$first")->$(from "$work"):100" "$(from "$second")->$(from "$work"):100" | sort >known
	sort made | diff known -
	[ "$(sed -n '1p;4p' made | tr '\n' ' ')" = "2 4 " ]
}

@test "the same from an archive" {
	"$TALLY" archive -f -o branches.tar.zst branches.data
	for format in bolt profgen autofdo; do
		"$TALLY" export --to $format branches.data >once
		"$TALLY" export --to $format branches.tar.zst | diff once -
	done
}

@test "perf2bolt reads them: calls of functions with their counts" {
	bolt=$(compgen -c perf2bolt | sort -V | tail -1)
	[ -n "$bolt" ] || skip "perf2bolt is not installed: the lines are compared with known ones"
	"$TALLY" export --to bolt branches.data >branches.bolt
	# It knows by its name what it is.
	(exec -a perf2bolt "$bolt" -pa -p branches.bolt -o branches.fdata prog) >bolt.log 2>&1 || { cat bolt.log; false; }
	grep -qE "^1 main [0-9a-f]+ 1 work 0 0 100$" branches.fdata
	[ "$(grep -cE "^1 main [0-9a-f]+ 1 work 0 0 100$" branches.fdata)" -eq 2 ]
	[ "$(grep -cE "^1 work [0-9a-f]+ 1 main [0-9a-f]+ 0 100$" branches.fdata)" -eq 2 ]
}

@test "llvm-profgen reads them: the function's samples" {
	profgen=$(compgen -c llvm-profgen | sort -V | tail -1)
	[ -n "$profgen" ] || skip "llvm-profgen is not installed: the lines are compared with known ones"
	"$TALLY" export --to profgen branches.data >branches.profgen
	"$profgen" --unsymbolized-profile=branches.profgen --binary=prog --output=branches.prof >profgen.log 2>&1 ||
		{ cat profgen.log; false; }
	profdata=$(compgen -c llvm-profdata | sort -V | tail -1)
	[ -n "$profdata" ] || skip "llvm-profdata is not installed: llvm-profgen has read the lines"
	run -0 "$profdata" merge --sample --text branches.prof -o -
	# NAME:TOTAL:ENTRIES
	echo "$output"
	[[ $'\n'$output = *$'\n'work:+([0-9]):200$'\n'* ]]
	[[ $'\n'$output = *$'\n'main:+([0-9]):* ]]
}
