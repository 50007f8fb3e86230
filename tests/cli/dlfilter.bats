#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Filters in shared objects: where they are found, several at once, in all that shows samples, and what
# happens when one does not work.  That they do what they do in perf: tests/agree/dlfilter.bats.

load ../agree/dlfilter/frame

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_EXEC_PATH="${TALLY%/*}/examples" # where the filters that are installed are built
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v cc >/dev/null && command -v python3 >/dev/null || return 0
	make_streams
	build all.so probe -DSTART=0 -DEARLY=0 -DLATE=0 -DSTOP=0
	build odd.so probe -DQUIET -DLATE=n%2
	build third.so probe -DQUIET -DEARLY=n%3
	build keep.so probe -DQUIET -DLATE=0
	build third_n.so probe -DLATE=0
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	need_compiler
}

@test "no answer is larger than the room for it, and none is read beyond it" {
	build sizes.so sizes
	for data in simple all events; do
		[ "$("$TALLY" script -i $data.data --dlfilter ./sizes.so | sort -u)" = asked ]
	done
}

@test "a constant table, as perf's manual page has it, works" {
	build constant.so probe -DQUIET -DCONSTANT -DRESOLVE -DLATE='!al->sym'
	build plain.so probe -DQUIET -DRESOLVE -DLATE='!al->sym'
	"$TALLY" script -i all.data --dlfilter ./constant.so >constant.txt
	"$TALLY" script -i all.data --dlfilter ./plain.so >plain.txt
	[ -s constant.txt ]
	cmp constant.txt plain.txt
}

@test "several filters are asked in order, and see what those before them keep" {
	build count.so probe -DLATE=0
	# 20 of 22 samples are not a guest's: every second of these, and of what is left every second again.
	[ "$("$TALLY" script -i all.data --dlfilter ./odd.so --dlfilter ./count.so | grep -o '^\[[0-9]*\]' | wc -l)" = 10 ]
	cp odd.so again.so
	[ "$("$TALLY" script -i all.data --dlfilter ./odd.so --dlfilter ./again.so --dlfilter ./count.so |
		grep -o '^\[[0-9]*\]' | wc -l)" = 5 ]
	# Arguments are those of the filter before them, and those before the first its own.
	build dump.so dump_fields
	cp dump.so dump3.so
	run "$TALLY" script -i simple.data --dlarg a --dlfilter ./dump.so --dlarg b --dlfilter ./dump3.so --dlarg c
	[ "$status" = 0 ]
	[ "$(grep '^ arg' <<<"$output" | tr -d '\n')" = " arg 'a' arg 'b' arg 'c'" ]
}

@test "all that shows samples shows what filters keep" {
	periods=$("$TALLY" script -i all.data --dlfilter ./odd.so -F period -G | awk '{print $1}')
	[ "$(wc -l <<<"$periods")" = 10 ]
	[ "$("$TALLY" script -i all.data --dlfilter ./odd.so --json | grep -o '"period":[0-9]*' | cut -d: -f2)" = "$periods" ]
	"$TALLY" report -i all.data --dlfilter ./odd.so -n --stdio -g none --no-children >report.txt
	[ "$(awk '/^# Shown/ {print $3}' report.txt)" = 11 ] # a report drops no guests by itself
	if "$TALLY" script -i all.data --sql out.db -f --dlfilter ./odd.so 2>sql.err; then
		[ "$(sqlite3 out.db 'SELECT count(*) FROM samples')" = 11 ]
	fi
	# One that keeps all changes nothing.
	"$TALLY" report -i all.data >report.txt
	"$TALLY" report -i all.data --dlfilter ./keep.so | cmp - report.txt
	"$TALLY" script -i events.data >script.txt
	"$TALLY" script -i events.data --dlfilter ./keep.so | cmp - script.txt
}

@test "a filter's own text stands before its line, however it is written out" {
	for how in "" "-DSTART=setvbuf(stdout,NULL,_IONBF,0)" "-DSTART=setvbuf(stdout,NULL,_IOLBF,0)"; do
		# shellcheck disable=SC2086 # nothing, or one word
		build text.so probe -DLATE='(fflush(stdout),0)' $how
		"$TALLY" script -i events.data --dlfilter ./text.so | grep -v ^start >out.txt
		[ "$(grep -c '^\[' out.txt)" = 30 ]
		run -1 grep -v '^\[' out.txt
	done
	# A report comes behind it.
	"$TALLY" report -i events.data --dlfilter ./text.so >out.txt
	grep -q '^start 1' out.txt
}

@test "a filter that ends the reading is reported, its value is the status, and it is stopped" {
	build end.so probe -DSTART=0 -DLATE='n==3?-38:0' -DSTOP=0
	for command in script report; do
		run --separate-stderr "$TALLY" $command -i all.data --dlfilter ./end.so
		[ "$status" = 218 ]
		grep -q "stop 42" <<<"$output"
		[[ "$stderr" = *"'./end.so'"*"filter_event returned -38"* ]]
	done
	run --separate-stderr "$TALLY" script -i all.data --sql out2.db --dlfilter ./end.so
	[ "$status" = 218 ] || [[ "$stderr" = *SQLite* ]]
}

@test "a filter that crashes is reported with its name and where it was, and the command dies of it" {
	for callback in start filter_event_early filter_event stop; do
		build bad.so bad -DCALLBACK=$callback "-DWHAT='n'"
		run --separate-stderr "$TALLY" script -i all.data --dlfilter ./keep.so --dlfilter ./bad.so
		[ "$status" = 139 ]
		[[ "$stderr" = *"the filter './bad.so' crashed in $callback (segmentation fault)"* ]]
	done
	build bad.so bad -DCALLBACK=filter_event "-DWHAT='a'"
	run --separate-stderr "$TALLY" report -i all.data --dlfilter ./bad.so
	[ "$status" = 134 ]
	[[ "$stderr" = *"tally report: the filter './bad.so' crashed in filter_event (aborted)"* ]]
	build bad.so bad -O0 -DCALLBACK=filter_event "-DWHAT='s'"
	run --separate-stderr "$TALLY" script -i all.data --dlfilter ./bad.so
	[ "$status" = 139 ]
	[[ "$stderr" = *"crashed in filter_event (segmentation fault)"* ]]
}

# Starts tally, waits until the filter runs, sends the signal; $status and err.txt are left.
interrupt() { # signal, arguments
	local signal=$1 pid
	shift
	: >err.txt
	"$TALLY" "$@" >out.txt 2>err.txt &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		grep -q looping err.txt && break
		sleep 0.05
	done
	kill -"$signal" $pid
	wait $pid && status=0 || status=$?
}

@test "a filter that does not return is reported when the command is asked to end" {
	build loop.so bad -DCALLBACK=filter_event "-DWHAT='l'"
	interrupt TERM script -i all.data --dlfilter ./loop.so
	[ "$status" = 143 ]
	grep -q "the filter './loop.so' did not return from filter_event" err.txt
	run -1 grep -q stopped out.txt
}

@test "a filter that returns in time is stopped before the command ends of the signal" {
	build slow.so bad -DCALLBACK=filter_event "-DWHAT='w'"
	interrupt TERM script -i all.data --dlfilter ./slow.so
	[ "$status" = 143 ]
	grep -q stopped out.txt
	run -1 grep -q "did not return" err.txt
}

@test "the list of filters, and what they say of themselves" {
	mkdir -p list exec/dlfilters perf/dlfilters list/folder.so
	build list/here.so probe -DLATE=0 '-DDESCRIBE="the one here"' '-DLONG="first\nsecond"'
	build exec/dlfilters/ours.so probe -DEARLY=0 '-DDESCRIBE="ours"'
	build perf/dlfilters/theirs.so probe -DEARLY=0
	build list/none.so probe -DSTART=0
	echo text >list/text.so
	cd list
	export TALLY_EXEC_PATH="$PWD/../exec" PERF_EXEC_PATH="$PWD/../perf"
	for command in script report; do
		run "$TALLY" $command --list-dlfilters
		[ "$status" = 0 ]
		[ "${lines[0]}" = "List of available dlfilters:" ]
		[ "${lines[1]}" = "  here.so                              the one here" ]
		[ "${lines[2]}" = "  ours.so                              ours" ]
		[ "${lines[3]}" = "  theirs.so                            " ]
		[ "${#lines[@]}" = 4 ]
		run -0 "$TALLY" $command -v --list-dlfilters
		[ "${lines[2]}" = "                                       first" ]
		[ "${lines[3]}" = "                                       second" ]
		run -0 "$TALLY" $command --list-dlfilters -v
		[ "${#lines[@]}" = 4 ]
	done
}

@test "the filters that come with tally" {
	[ -r "$TALLY_EXEC_PATH/dlfilters/tally-under.so" ] || skip "they are not built here"
	"$TALLY" script -i all.data >whole.txt
	"$TALLY" script -i all.data --dlfilter tally-template.so | cmp - whole.txt
	"$TALLY" script -i all.data --dlfilter tally-busy.so | cmp - whole.txt # nobody is idle
	# Of 20 samples one is of a process without mappings, and of two the mode has none.
	"$TALLY" script -i all.data --dlfilter tally-under.so --dlarg foo >under.txt
	[ "$(grep -c branches under.txt)" = 17 ]
	[ "$("$TALLY" script -i all.data --dlfilter tally-under.so --dlarg nobody | wc -l)" = 0 ]
	run "$TALLY" script -i all.data --dlfilter tally-under.so
	[ "$status" = 255 ]
	[[ "$output" = *"which function"* ]]
	# 16 have to be known; then periods of 116 to 121 are over the average, but not twice it.
	[ "$("$TALLY" script -G -i all.data --dlfilter tally-slow.so --dlarg 1 | wc -l)" = 4 ]
	[ "$("$TALLY" script -G -i all.data --dlfilter tally-slow.so --dlarg 2 | wc -l)" = 0 ]
	run "$TALLY" script -i all.data --dlfilter tally-slow.so --dlarg fast
	[ "$status" = 255 ]
	[[ "$output" = *"'fast' is no factor"* ]]
}

@test "a filter builds with the installed header in C and C++, strictly" {
	cat >strict.c <<-'END'
		#include <perf/perf_dlfilter.h>
		struct perf_dlfilter_fns perf_dlfilter_fns;
		int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
		{
			const struct perf_dlfilter_al *al = perf_dlfilter_fns.resolve_ip(ctx);
			(void)data;
			return !al || !al->sym || sample->size < sizeof(*sample);
		}
	END
	cc -std=c11 -pedantic-errors -Wall -Wextra -Werror -fPIC -shared -I "$ours" -o strict.so strict.c
	"$TALLY" script -i simple.data --dlfilter ./strict.so | grep -q branches
	command -v c++ >/dev/null || skip "no C++ compiler: the header is compiled as C only, by the tests before"
	cp strict.c strict.cc
	c++ -Wall -Wextra -Werror -fPIC -shared -I "$ours" -o strict2.so strict.cc
	"$TALLY" script -i simple.data --dlfilter ./strict2.so | grep -q branches
}
