#!/usr/bin/env bats
# Section 3 of the manual: a page a header, made from its comments, with an example that runs.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	cd "$BATS_FILE_TMPDIR"
	printf '%s\n' 'comm 100 make' 'map 100 400000 1000 0 /bin/true' 'sample 100 400100' 'sample 100 400200' 'times 8' \
		'comm 200 cc' 'sample 200 400100' | python3 "$TALLY_SOURCE/tests/cli/recording.py" perf.data
}

setup() {
	cd "$BATS_FILE_TMPDIR"
	build=$(cd "$(dirname "$TALLY")" && pwd)
}

example() { # NAME [ARGUMENT...]: runs the example of a header, into $output
	local name=$1
	shift
	[ -x "$build/examples/api-$name" ] || skip "the examples are not built"
	run "$build/examples/api-$name" "$@"
}

# The same for one that opens events.
event_example() {
	example "$@"
	[ "$status" -eq 0 ] || skip "events cannot be opened here: ${lines[0]}"
}

says() { # PATTERN: a line of the output, whole
	grep -qxE -- "$1" <<<"$output" || {
		echo "status $status, no line is: $1"
		echo "$output"
		return 1
	}
}

@test "14.5: each header has a page with its functions, as they are declared, and its example" {
	pages=0
	for header in "$TALLY_SOURCE"/include/tally/*.h; do
		name=tally_$(basename "$header" .h)
		page=$build/man/$name.3
		[ "$name" != tally_tally ] || page=$build/man/libtally.3
		if [ ! -f "$page" ]; then
			[ "$pages" -gt 0 ] || skip "the manual pages are not built"
			echo "no page for $header"
			return 1
		fi
		# The compiler's view: what the header declares is what the page's synopsis says.
		"$TALLY_SOURCE/tools/man3" --prototypes "$header" >prototypes
		sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' "$page" | sed 's/\\f[BR]//g; s/\\-/-/g; s/\\&//g' |
			tr -s ' \n' '  ' >synopsis
		while IFS= read -r prototype; do
			grep -qF -- "$prototype" synopsis || {
				echo "$page lacks: $prototype"
				return 1
			}
		done <prototypes
		[ -s prototypes ] || [[ $page == */tally_abi.3 || $page == */tally_error.3 || $page == */libtally.3 ]]
		grep -qx '\.SH EXAMPLE' "$page"
		grep -qF 'int main(' "$page"
		pages=$((pages + 1))
	done
	[ "$pages" -ge 40 ]
}

@test "14.5: the prototypes of the pages are those that the compiler sees, of all functions of the library" {
	command -v gcc >/dev/null ||
		skip "no gcc: prototypes are not compared with those of a compiler; tools/check-headers compiles the headers"
	for header in "$TALLY_SOURCE"/include/tally/*.h; do
		"$TALLY_SOURCE/tools/man3" --prototypes "$header" >prototypes
		[ -s prototypes ] || continue
		cat prototypes >>all
		# A second declaration that differs in anything is an error; static functions have none.
		{
			echo "#include \"$header\""
			while IFS= read -r prototype; do
				function=$(sed -E 's/^[^(]*(tally_\w+)\(.*/\1/' <<<"$prototype")
				grep -qE "^static inline .*\b$function\(" "$header" || echo "$prototype"
			done <prototypes
		} | gcc -std=gnu17 -I"$TALLY_SOURCE/include" -Werror -fsyntax-only -x c -
	done
	sed -E 's/^[^(]*(tally_\w+)\(.*/\1/' all | sort -u >named
	sed -nE 's/^\t(tally_\w+);$/\1/p' "$TALLY_SOURCE/src/libtally.map" | sort -u >exported
	[ "$(comm -13 named exported)" = "" ]
}

@test "14.5: groff has no complaint about a page" {
	command -v groff >/dev/null ||
		skip "groff is not installed: pages are not formatted by it; the test before reads their text"
	[ -f "$build/man/libtally.3" ] || skip "the manual pages are not built"
	for page in "$build"/man/*.3; do
		run groff -man -Tutf8 -ww -z "$page"
		[ "$status" -eq 0 ]
		[ -z "$output" ] || { echo "$output"; return 1; }
	done
}

@test "14.5: the examples that read a recording print what it holds" {
	example data
	says 'event cpu-clock.*'
	says '14 records'
	example session
	says '11 samples in 0\.010 s, 0 lost'
	example profile
	[ "${lines[0]}" = ' 90.9 % make' ]
	[ "${lines[1]}" = '  9.1 % cc' ]
	example batch
	[ "$output" = $'make 10000\ncc 1000' ]
	example names
	[ "$output" = $'make\ncc' ]
	example report
	says ' +81\.82% +make +true +\[\.\] 0x0*200|.*make.*true.*'
	example script
	says ' +cc +1\.011000: +400100 .*'
	example record
	says 'SAMPLE'
	says 'comm="make"'
	example evlist
	says 'cpu-clock.*: sample_period=1000'
	example header
	says '# data size +: 544'
	example info
	says 'version 2 of the header, 544 bytes of data'
	example summary
	says 'Records +14, 544 bytes'
	example choice
	says 'pid > 0 is a condition for this recording'
	example choice perf.data 'pid >> 0'
	[ "$status" -eq 1 ]
	says 'column [0-9]+: .*'
	example repair perf.data new.data
	says '14 records kept, 0 left out'
	example sql perf.data perf.db
	[ "$status" -eq 0 ]
	[ -s perf.db ]
}

@test "14.5: the examples that look at the machine or at text print a known answer" {
	example abi
	says '22 is PERF_RECORD_CALLCHAIN_DEFERRED'
	example attr
	[ "$output" = $'64 bytes\n128 bytes with sig_data' ]
	example count
	says '1867, scaled, 75 % of the time'
	example error
	says '  page-faults,cylces:u'
	says '              \^'
	example event
	[ "$output" = $'page-faults:u: type 1, config 0x2\ntask-clock: type 1, config 0x1' ]
	example catalog
	says 'task-clock .*'
	example stat
	says '1\.050 times as long \(1\.020 to 1\.081\)'
	example text
	says 'bad\\x1b\[2Jname'
	says 'recrod: did you mean record\?'
	example version
	says "libtally $("$TALLY" version | sed -n '1s/^tally //p')"
	example cache
	says 'at most [0-9]+ bytes'
	example build_id_cache
	says '[0-9a-f]{40} this program'
	example probe
	says '[0-9]+ markers'
	example probe_event
	says 'p:probe_api/main .*/api-probe_event:0x[0-9a-f]+'
	example limits
	says 'kernel\.perf_event_paranoid is -?[0-9]+'
	example topology
	says 'CPU 0: socket .*'
	example descendants
	says '[0-9]+ processes below 1'
	example cgroup system.slice
	says 'system\.slice'
	example doctor
	says '[0-9]+ findings are good'
	example dlfilter
	says 'filters are looked for in /.*'
	for name in metric pfm; do # without tables or libpfm4 these say so
		example "$name"
		[ "$status" -eq 0 ]
		[ -n "$output" ]
	done
}

@test "14.5: the examples that open events count, sample and record" {
	event_example raw
	says opened
	event_example counter
	says '[1-9][0-9]* page faults'
	event_example fd
	says '[1-9][0-9]* ns of CPU time'
	event_example open
	says 'opened with precise_ip [0-3]'
	event_example overflow
	says 'a sample is in the ring'
	event_example rdpmc
	says '[1-9][0-9]* ns, read with(out)? a system call'
	event_example region
	says 'fill: [1-9][0-9]* page faults'
	event_example ring
	says '[1-9][0-9]* samples'
	event_example tally
	says 'task-clock:u: [1-9][0-9]*'
	event_example recorder recorded.data true
	says '[0-9]+ samples in recorded\.data'
}
