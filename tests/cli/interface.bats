#!/usr/bin/env bats
# The library as a program outside sees it: from C++, and from the folder where it was built.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	build=$(cd "$(dirname "$TALLY")" && pwd)
	[ -e "$build/src/libtally.so" ] || skip "there is no shared library beside $TALLY"
	if nm -D "$build/src/libtally.so" | grep __asan >/dev/null; then
		skip "the library is built with a sanitizer"
	fi
}

# A program that calls functions of several folders, in the words of C and C++ alike.
write_program() { # file
	cat >"$1" <<-'END'
		#include <tally/tally.h>
		#include <cstdio>
		#include <cstring>

		int main()
		{
			tally_event_options options;
			tally_event_list list;
			tally_limits limits;
			tally_error error;

			std::memset(&options, 0, sizeof(options));
			options.size = sizeof(options);
			limits.size = sizeof(limits);
			if (tally_limits_read(nullptr, &limits))
				return 1;
			if (tally_event_list_parse("{page-faults:u,task-clock}", &options, &list, &error)) {
				std::puts(error.text);
				return 1;
			}
			std::printf("%s %zu %s\n", tally_version(), list.count, list.events[1].name);
			std::printf("%d\n", tally_event_alone(&list, 0));
			tally_event_list_done(&list);
			return 0;
		}
	END
}

@test "14.5: tally.h compiles without a warning in g++ and clang++, and the program links and runs" {
	write_program program.cpp
	tried=0
	for compiler in g++ clang++; do
		command -v "$compiler" >/dev/null || continue
		for standard in c++11 c++20; do
			"$compiler" -std=$standard -Wall -Wextra -Wpedantic -Werror -I"$TALLY_SOURCE/include" program.cpp \
				-L"$build/src" -ltally -Wl,-rpath,"$build/src" -o program
			run ./program
			[ "$status" -eq 0 ]
			[ "${lines[0]}" = "$("$TALLY" version | sed -n 's/^tally \(version \)\?\([0-9.]*\).*/\2/p') 2 task-clock" ]
			[ "${lines[1]}" = 0 ]
			tried=$((tried + 1))
		done
	done
	[ "$tried" -gt 0 ] || skip "no C++ compiler: the headers are compiled as C only, by tools/check-headers"
}

@test "14.5: build/meson-uninstalled/tally-uninstalled.pc builds a program against the library that is not installed" {
	command -v cc >/dev/null || skip "no C compiler: nothing is built against the library"
	command -v pkg-config >/dev/null ||
		skip "pkg-config is not installed: nothing is built by the .pc file; tests/tree/install.bats checks the installed one"
	pc=$build/meson-uninstalled
	[ -f "$pc/tally-uninstalled.pc" ]
	PKG_CONFIG_PATH=$pc pkg-config --cflags --libs tally >flags
	# shellcheck disable=SC2046
	cc -std=c11 -D_DEFAULT_SOURCE "$TALLY_SOURCE/examples/count_printf.c" $(cat flags) -o count_printf
	LD_LIBRARY_PATH=$build/src run ldd ./count_printf
	[[ $output == *"libtally.so.0.2 => $build/src/libtally.so.0.2"* ]]
	LD_LIBRARY_PATH=$build/src run ./count_printf
	[[ $output == *"printf"* || $output == *"perf_event"* ]]
}
