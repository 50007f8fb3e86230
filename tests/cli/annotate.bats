#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally annotate: samples by instruction are those of perf annotate, and what else it prints.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	mkdir -p "$HOME"
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >work.c <<'EOF'
static unsigned table[4096];
volatile unsigned sink;
__attribute__((noinline)) unsigned mix(unsigned x)
{
	x ^= x >> 13;
	return x * 0x5bd1e995;
}
static inline unsigned step(unsigned x, unsigned i)
{
	return x & 1 ? x / (i + 3) : x * 7 + i;
}
__attribute__((noinline)) unsigned hot(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++) {
		table[i & 4095] += i;
		sum += step(table[(i * 17) & 4095], i); /* odd or even */
		if (sum % 5 == 0)
			sum += mix(sum);
	}
	return sum;
}
int main(void)
{
	for (int i = 0; i < 40; i++)
		sink += hot(1000000);
	return 0;
}
EOF
	gcc -O2 -g -o work work.c || return 0
	perf record -q -e cpu-clock:u,task-clock:u -F 4000 --sample-cpu -o work.data -- ./work 2>/dev/null || true
	perf record -q -e '{cpu-clock:u,task-clock:u}' -F 2000 -o group.data -- ./work 2>/dev/null || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s work.data ] || skip "perf cannot record here: tests/unit/code and tests/unit/annotate have known answers"
	run "$TALLY" annotate -i work.data -q hot
	[[ "$output" != *"built without libcapstone"* ]] || skip "built without libcapstone"
}

# "EVENT FUNCTION ADDRESS NUMBERS" of each instruction.
numbers() {
	awk '/ \|\t.*Disassembly of .* for / { event = $0; sub(/.* for /, "", event); sub(/ \([0-9]+ samples.*/, "", event) }
	/^ *:.*[0-9a-f]+ <[^>]*>:$/ { name = $NF }
	/^[ 0-9.]+ : +[0-9a-f]+:/ { row = $0; sub(/:[^:]*$/, ""); split(row, part, " : ");
		split(part[2], address, ":"); gsub(/ /, "", address[1]); print event, name, address[1], part[1] }' "$@" | sort
}

@test "percents by instruction are those of perf" {
	command -v objdump >/dev/null || skip "objdump is not installed, which perf annotate needs; tests/unit/annotate has known answers"
	for type in local-period local-hits; do
		perf annotate --stdio -i work.data --percent-type $type hot 2>/dev/null | numbers >theirs
		"$TALLY" annotate -i work.data --no-group --percent-type $type hot | numbers >ours
		grep -q 'cpu-clock:u <hot>: [0-9a-f]* *[1-9]' ours
		diff theirs ours
	done
	# With a name perf takes the samples of that function for all.
	perf annotate --stdio -i work.data --percent-type global-period 2>/dev/null | numbers | grep '<hot>' >theirs
	"$TALLY" annotate -i work.data --no-group --percent-type global-period hot | numbers >ours
	diff theirs ours
}

@test "--percent-limit does not hide a function that was named, as in perf" {
	"$TALLY" annotate -i work.data -q mix >text
	[ -s text ] || skip "no sample is in the small function"
	"$TALLY" annotate -i work.data -q --percent-limit 60 mix | cmp - text
	[ -z "$("$TALLY" annotate -i work.data -q --percent-limit 101 mix)" ]
	# Without a name shares are of all samples.
	run -0 "$TALLY" annotate -i work.data -q --percent-limit 60
	[[ "$output" != *'<mix>:'* ]]
}

@test "groups, numbers of samples and sums of periods are those of perf" {
	command -v objdump >/dev/null || skip "objdump is not installed, which perf annotate needs"
	[ -s group.data ] || skip "perf cannot record a group here"
	for option in "" -n --show-total-period; do
		perf annotate --stdio -i group.data $option hot 2>/dev/null | numbers | sed 's/.*</</' >theirs
		"$TALLY" annotate -i group.data --group $option hot | numbers | sed 's/.*</</' >ours
		grep -q '<hot>: [0-9a-f]* *[1-9][0-9.]*  *[1-9]' ours
		diff theirs ours
	done
}

@test "instructions have their lines, inlined functions, calls and jumps" {
	"$TALLY" annotate -i work.data hot >text
	grep -q ' : step (inlined) work.c:' text
	grep -q ' : 10 .*x & 1 ? x / (i + 3)' text
	grep -q 'call.*<mix>' text
	grep -q '[0-9a-f]:  .*+-*  *j.*<hot+0x' text
	grep -q '+-.*> ' text
	run -1 grep '<0x' text
}

@test "the hottest line comes first" {
	"$TALLY" annotate -i work.data --hot --no-group hot | awk '/^ *[0-9.]+ : work.c:/ { print $1 }' >shares
	[ "$(wc -l <shares)" -gt 2 ]
	"$TALLY" annotate -i work.data --hot hot | awk '/ : work.c:/ { print ($1 > $2 ? $1 : $2) }' >most
	sort -rn -c most # by the larger share of the two events
}

@test "-l lists the lines first, and behind instructions" {
	summary() { awk '/^ *[0-9.]+ work.c:[0-9]+$/ { print $2 }' "$1" | sort -u; }
	"$TALLY" annotate -i work.data -l --no-group hot >text
	grep -q '^Sorted summary for file .*/work$' text
	grep -q ' // work.c:[0-9]*$' text
	[ -n "$(summary text)" ]
}

@test "Intel's syntax and encodings" {
	[ "$(uname -m)" = x86_64 ] || skip "the instructions are those of x86-64"
	"$TALLY" annotate -i work.data -M intel --asm-raw hot >text
	grep -q 'mov  *e[a-z]*, \|xor  *e[a-z]*, ' text
	grep -q ': *c3  .*ret' text
	run -2 "$TALLY" annotate -i work.data -M motorola hot
	[[ "$output" == *"valid are att, intel"* ]]
}

@test "JSON has the same sums" {
	"$TALLY" annotate -i work.data --json hot >json
	python3 - <<'EOF'
import json
data = json.load(open("json"))
assert data["version"] == 1
events = data["events"]
assert [e["event"] for e in events] == ["cpu-clock:u", "task-clock:u"]
function, = data["functions"]
assert function["symbol"] == "hot" and function["missing"] is None
for n in (0, 1):
    assert sum(i["samples"][n] for i in function["instructions"]) == function["samples"][n] > 0
    assert sum(l["period"][n] for l in function["lines"]) == function["period"][n]
    assert abs(sum(i["percent"][n] for i in function["instructions"]) - 100) < 1e-6
call, = [i for i in function["instructions"] if i["kind"] == "call"]
assert "<mix>" in call["operands"]
assert any(i["inlined"] == "step" for i in function["instructions"])
assert any("odd or even" in (l["text"] or "") for l in function["lines"])
EOF
}

@test "without a name the hottest functions come first, and a line says that there are more" {
	"$TALLY" annotate -i work.data --functions 1 >text
	head -1 text | grep -q '^# hot: [0-9.]*% of cpu-clock:u'
	tail -1 text | grep -q '^# [0-9]* more functions\? with samples, up to [0-9.]*%: --functions 0 lists all'
	"$TALLY" annotate -i work.data --functions 0 | grep -q '<mix>:$'
}

@test "only some samples: time, CPUs, and an expression" {
	samples() { "$TALLY" annotate -i work.data --json "$@" | python3 -c '
import json, sys
print(sum(sum(f["samples"]) for f in json.load(sys.stdin)["functions"]))'; }
	all=$(samples --functions 0)
	[ "$(samples --functions 0 -C 0-4095)" -eq "$all" ]
	[ "$(samples --functions 0 -C 4095)" -eq 0 ]
	some=$(samples --functions 0 --time 0%-30%)
	[ "$some" -gt 0 ]
	[ "$some" -lt "$all" ]
	one=$(samples --functions 0 --filter 'event == task-clock')
	[ "$one" -gt 0 ]
	[ "$one" -lt "$all" ]
}

@test "a function that is not there" {
	run -1 "$TALLY" annotate -i work.data hott
	[[ "$output" == *"no sample is in a function named 'hott'"*"hot"* ]]
}

@test "a binary that is gone: the reason is printed" {
	cp work gone
	perf record -q --no-buildid-cache -e cpu-clock:u -F 1000 -o gone.data -- ./gone 2>/dev/null || skip "perf cannot record here"
	gcc -O1 -x c -o gone - <<<'int main(void) { return 0; }'
	# Of the loader and the C library single samples may be known.
	"$TALLY" annotate -i gone.data --buildid-dir /nonexistent >text 2>message || true
	cat text message
	grep -q '[0-9.]* % of the samples are in no known function\|no sample is in a known function' message
	run -1 "$TALLY" annotate -i gone.data --buildid-dir /nonexistent --filter 'dso == gone'
	[[ $output == *" samples match all filters and are in a known function" ]]
	run -0 --separate-stderr "$TALLY" annotate -i work.data
	[[ $stderr != *"in no known function"* ]]
}

@test "an archive with binaries has the code, one without says so" {
	"$TALLY" archive -i work.data -f --binaries -o whole.tar
	"$TALLY" archive -i work.data -f -o small.tar
	mv work moved
	"$TALLY" annotate -i whole.tar --no-source hot >from_archive
	"$TALLY" annotate -i small.tar hot >without || true
	mv moved work
	"$TALLY" annotate -i work.data --no-source hot | diff - from_archive
	grep -q 'not listed: .*--binaries' without
}

@test "a terminal gets lines of its width" {
	command -v script >/dev/null || skip "script(1) is not installed: no terminal to try"
	TALLY_PAGER='' COLUMNS=60 LANG=C.UTF-8 TERM=xterm script -qc "stty cols 60; $TALLY annotate -i work.data hot" /dev/null |
		sed 's/\x1b\[[0-9;]*m//g; s/\r//g' >text
	grep -q '│' text
	python3 -c 'import sys; sys.exit(max(len(line.rstrip("\n")) for line in open("text", encoding="utf-8")) > 60)'
}
