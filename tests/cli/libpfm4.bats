#!/usr/bin/env bats
# Programs written for libpfm4 build against libtally unchanged, and print the same.
# TALLY_LIBPFM4 may name libpfm4's own source: its examples and tests are built and compared, too.

setup() {
	TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	command -v cc >/dev/null ||
		skip "no C compiler: programs of libpfm4 are not built; tests/unit/pfm calls the same functions"
	[ -f /usr/include/perfmon/pfmlib.h ] ||
		skip "libpfm4-dev is not installed: its programs are not built; tests/unit/pfm calls the same functions"
	library=$(dirname "$TALLY")/src
	if nm -D "$library/libtally.so" | grep __asan >/dev/null; then
		skip "the library is built with a sanitizer"
	fi
	OURS="-I$TALLY_SOURCE/include -I$TALLY_SOURCE/include/libpfm4"
	LINK="-L$library -ltally -Wl,-rpath,$library"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Builds SOURCES... against both libraries, as ./theirs and ./ours.
build_both() {
	# shellcheck disable=SC2086 # lists of flags
	cc -w -D_GNU_SOURCE -pthread $FLAGS "$@" -o theirs -lpfm -lm $MORE || return 1
	# shellcheck disable=SC2086
	cc -w -D_GNU_SOURCE -pthread $OURS $FLAGS "$@" -o ours $LINK -lm $MORE
}

same_output() {
	./theirs "$@" >theirs.out 2>theirs.err || echo "status $?" >>theirs.out
	./ours "$@" >ours.out 2>ours.err || echo "status $?" >>ours.out
	sed -i s/theirs/ours/g theirs.out theirs.err
	diff theirs.out ours.out && diff theirs.err ours.err
}

@test "13.33: an example that walks all PMUs, events and attributes, and encodes" {
	build_both "$TALLY_SOURCE/examples/libpfm4_events.c"
	same_output
	[ "$(wc -l <ours.out)" -gt 100 ]
	LIBPFM_FORCE_PMU=skl same_output
	grep -q '^skl::INST_RETIRED.*type 4 config 0x' ours.out
}

@test "13.33: nothing works before pfm_initialize(), as there; C++ can include the headers" {
	cat >early.c <<-'END'
		#include <perfmon/pfmlib_perf_event.h>
		int main(void)
		{
			pfm_pmu_info_t pmu = {.size = sizeof(pmu)};
			pfm_event_info_t event = {.size = sizeof(event)};
			pfm_event_attr_info_t attr = {.size = sizeof(attr)};
			uint64_t *codes = 0;
			int count = 0, first = pfm_get_pmu_info(PFM_PMU_PERF_EVENT, &pmu);

			printf("%d %d %d %d\n", first, pfm_find_event("perf::PERF_COUNT_SW_CPU_CLOCK"),
			       pfm_get_event_info(0, PFM_OS_NONE, &event),
			       pfm_get_event_attr_info(0, 0, PFM_OS_NONE, &attr));
			pfm_initialize();
			printf("%d %d %s %d\n", pfm_get_pmu_info(PFM_PMU_PERF_EVENT, &pmu), pmu.nevents, pmu.name,
			       pfm_get_pmu_info((pfm_pmu_t)9999, &pmu));
			printf("%d %d\n", PFM_MAJ_VERSION(pfm_get_version()), pfm_pmu_validate(PFM_PMU_PERF_EVENT, stdout));
			printf("%d %d\n", pfm_get_event_encoding("perf::PERF_COUNT_SW_CPU_CLOCK", PFM_PLM3, 0, 0, &codes, &count),
			       count);
			event.size = 8;
			printf("%d\n", pfm_get_event_info(pmu.first_event, PFM_OS_NONE, &event));
			pfm_terminate();
			printf("%d\n", pfm_get_pmu_info(PFM_PMU_PERF_EVENT, &pmu));
			return 0;
		}
	END
	build_both early.c
	same_output
	command -v g++ >/dev/null || return 0
	printf '#include <perfmon/pfmlib_perf_event.h>\nint main() { return pfm_initialize() ? 1 : 0; }\n' >plus.cc
	# shellcheck disable=SC2086
	g++ -std=c++11 -Wall -Wextra -Werror $OURS plus.cc -o plus $LINK
	./plus
}

@test "13.33: libpfm4's own examples and tests" {
	[ -d "$TALLY_LIBPFM4/perf_examples" ] || skip "TALLY_LIBPFM4 does not name libpfm4's source"
	local source name count=0
	FLAGS="-I$TALLY_LIBPFM4/perf_examples -DCONFIG_PFMLIB_OS_LINUX -DCONFIG_PFMLIB_ARCH_X86 -DCONFIG_PFMLIB_ARCH_X86_64"
	FLAGS+=" -idirafter $TALLY_LIBPFM4/include"
	for source in "$TALLY_LIBPFM4"/{examples,perf_examples,perf_examples/x86}/*.c; do
		name=$(basename "$source" .c)
		[ "$name" != perf_util ] || continue
		MORE=
		if [ "$name" = rtop ]; then
			[ -f /usr/include/ncurses.h ] || continue
			MORE="-lncurses -ltinfo"
		fi
		case $source in
		*/examples/*) build_both "$source" ;;
		*) build_both "$source" "$TALLY_LIBPFM4/perf_examples/perf_util.c" ;;
		esac
		count=$((count + 1))
		case $name in
		check_events) same_output perf::PERF_COUNT_SW_PAGE_FAULTS:u; same_output nosuch ;;
		evt2raw) same_output PERF_COUNT_SW_CPU_CLOCK ;;
		showevtinfo) same_output; same_output -L -E ;;
		esac
	done
	MORE=
	build_both "$TALLY_LIBPFM4"/tests/validate{,_x86,_perf}.c
	same_output
	grep -q '0 errors' ours.out
	[ "$count" -ge 19 ]
}
