#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Source lines and inlined functions of sampled addresses, against addr2line and llvm-symbolizer.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR" XDG_CACHE_HOME="$BATS_FILE_TMPDIR/cache"
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >work.cc <<'END'
#include <algorithm>
#include <map>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> lists;
	unsigned random = 1, sum = 0;

	for (int i = 0; i < 400000; i++) {
		random = random * 1103515245 + 12345;
		auto &list = lists[std::to_string(random >> 22)];
		list.push_back(static_cast<int>(random >> 8));
		if (list.size() % 64 == 0)
			std::sort(list.begin(), list.end(), [&](int a, int b) { return (a ^ argc) < (b ^ argc); });
	}
	for (const auto &[name, list] : lists)
		sum += list.front() + name.size();
	return sum == 7 && argv[0][0] == 'x';
}
END
	g++ -std=c++17 -O2 -g -fno-omit-frame-pointer -o work work.cc || return 0
	"$TALLY" record -q -e cpu-clock:u -F 8000 --call-graph fp -o work.data ./work 2>/dev/null || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v g++ >/dev/null || skip "g++ is not installed: lines of samples are not compared; unit tests check made-up programs"
	command -v addr2line >/dev/null || skip "addr2line is not installed: lines of samples are not compared; unit tests check made-up programs"
	command -v python3 >/dev/null || skip "python3 is not installed: lines of samples are not compared; unit tests check made-up programs"
	[ -s work.data ] || skip "recording is not permitted here"
}

# lines.py's "TOOL: N of M equal"; all but one in a hundred.
equal() {
	awk -v tool="$1:" '$1 == tool {found = 1; if ($2 * 100 < $4 * 99) exit 1} END {exit !found}' out
}

@test "15.5: lines and inlined functions of sampled addresses are those of addr2line -i" {
	"$BATS_TEST_DIRNAME/lines.py" "$TALLY" ./work work.data >out
	cat out
	[ "$(sed -n 's/^addresses: \([0-9]*\),.*/\1/p' out)" -gt 30 ]
	run -1 grep -q 'inlined functions: 0$' out
	equal addr2line
}

@test "15.5: and those of llvm-symbolizer" {
	command -v llvm-symbolizer >/dev/null || command -v llvm-symbolizer-14 >/dev/null || skip "llvm-symbolizer is not installed: its answers are not compared; those of addr2line are"
	"$BATS_TEST_DIRNAME/lines.py" "$TALLY" ./work work.data >out
	cat out
	equal llvm-symbolizer
}
