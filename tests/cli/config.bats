#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally config, and that commands obey the keys of perf's configuration files.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	PERF_CONFIG=/dev/null "$TALLY" record -N -q -g -e cpu-clock -o run.data -- sh -c \
		'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' 2>said || cat said >why
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	export PERF_CONFIG=$BATS_TEST_TMPDIR/perfconfig
	: >"$PERF_CONFIG"
}

need_recording() {
	[ ! -s why ] || skip "events cannot be recorded here: $(head -n 1 why)"
}

@test "13.31: config prints keys, values, meanings and where they come from" {
	cat >"$PERF_CONFIG" <<-'END'
		# a comment
		[report] ; another
		    children = no   # the rest
		    Sort_Order = "dso,\
		comm"
		[colors "part"]
		    top = "red \"x\"" , default
		[ui]
		    show-headers
	END
	run "$TALLY" config
	[ "$status" = 0 ]
	[ "${lines[0]}" = "report.children=no                    report --children ($PERF_CONFIG:3)" ]
	[[ ${lines[1]} = "report.sort_order=dso,comm "*"report --sort ($PERF_CONFIG:4)" ]]
	[[ ${lines[2]} = 'colors.part.top=red "x" , default '*"no meaning in tally ($PERF_CONFIG:7)" ]]
	[[ ${lines[3]} = "ui.show-headers=true "* ]]
	run -0 "$TALLY" config report.sort_order
	[ "$output" = report.sort_order=dso,comm ]
	run "$TALLY" config report.none
	[ "$status" = 1 ]
}

@test "13.31: config -l is perf's text" {
	command -v perf >/dev/null ||
		skip "perf is not installed: config -l is not compared with it; the test before has known keys and values"
	printf '[report]\n\tchildren = false\n\tpercent-limit = 3 # three\n[call-graph]\n\trecord-mode = dwarf\n' >"$PERF_CONFIG"
	perf config -l >theirs 2>/dev/null || skip "perf cannot print it here"
	"$TALLY" config -l >ours
	diff <(sort theirs) <(sort ours)
}

@test "13.31: report obeys children, percent-limit, sort_order and call-graph keys; the command line comes first" {
	need_recording
	"$TALLY" report -i run.data --no-children --percent-limit 20 -s dso -g caller >wanted
	"$TALLY" report -i run.data >usual
	printf '[report]\nchildren=false\npercent-limit=20\nsort_order=dso\n[call-graph]\norder=caller\n' >"$PERF_CONFIG"
	"$TALLY" report -i run.data >got
	diff wanted got
	"$TALLY" report -i run.data --children --percent-limit 0 -s comm,dso,symbol -g graph >back
	diff usual back
}

@test "13.31: record -g obeys record-mode and dump-size" {
	need_recording
	printf '[call-graph]\nrecord-mode = dwarf\ndump-size = 16384\n' >"$PERF_CONFIG"
	"$TALLY" record -N -q -g --keep-stacks -e cpu-clock -o dwarf.data -- true
	PERF_CONFIG=/dev/null run "$TALLY" evlist -v -i dwarf.data
	[[ $output = *"sample_stack_user: 16384"* ]]
	"$TALLY" record -N -q --call-graph fp -e cpu-clock -o fp.data -- true
	run -0 "$TALLY" evlist -v -i fp.data
	[[ $output != *sample_stack_user* ]]
}

@test "13.31: a wrong value names the file, the line and the key" {
	printf '[report]\n\n\tpercent-limit = many\n' >"$PERF_CONFIG"
	run "$TALLY" report -i none.data
	[ "$status" = 2 ]
	[ "$output" = "tally report: $PERF_CONFIG:3: report.percent-limit: 'many' is not a number" ]
	printf '[report\n' >"$PERF_CONFIG"
	run "$TALLY" config
	[ "$status" = 1 ]
	[[ $output = *"$PERF_CONFIG:1: no ']' at the end of the section's name" ]]
}

@test "a byte order mark and ends of lines of other systems are skipped, as in perf" {
	printf '\xef\xbb\xbf[report]\r\n\tpercent-limit = 5\r\n' >"$PERF_CONFIG"
	run -0 "$TALLY" config report.percent-limit
	[ "$output" = 5 ] || [ "$output" = report.percent-limit=5 ]
}

@test "13.31: a file of another user is left out" {
	[ "$(id -u)" = 0 ] || skip "only root can make one"
	unset PERF_CONFIG
	mkdir -p home
	printf '[report]\nchildren = false\n' >home/.perfconfig
	chown 65534 home/.perfconfig
	HOME=$PWD/home run --separate-stderr "$TALLY" config report.children
	[ "$status" = 1 ]
	[[ $stderr = *"belongs to another user"* ]]
	chown 0 home/.perfconfig
	HOME=$PWD/home run "$TALLY" config report.children
	[ "$output" = report.children=false ]
}
