#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally report in the first hour: what filters leave of the shares, and what is said when nothing passes.

load ../agree/dlfilter/frame

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_PAGER=
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v cc >/dev/null && command -v python3 >/dev/null || return 0
	make_streams
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	need_compiler
}

shares() { # options
	"$TALLY" report -i all.data -q -t '|' -g none --no-children "$@" | tr -d ' '
}

@test "13.2: a share is of all samples, whichever filter chose the row" {
	[ "$(shares -s comm -c the-prog)" = "4.15%|the-prog" ]
	[ "$(shares -s comm --filter 'comm == the-prog')" = "4.15%|the-prog" ]
	[ "$(shares -s comm --filter 'period < 103' -c the-prog)" = "$(shares -s comm -c the-prog --filter 'period < 103')" ]
	# a thread: 20 samples and 91.65 % of the period; foo of it 9 samples and 41.75 %.
	foo='41.75%|athread|[.]foo'
	[ "$(shares -s comm,symbol -S foo -c 'a thread')" = "$foo" ]
	[ "$(shares -s comm,symbol --filter 'sym == foo and comm == "a thread"')" = "$foo" ]
	[ "$(shares -s comm,symbol -S foo --filter 'comm == "a thread"')" = "$foo" ]
	[ "$(shares -s comm,symbol -d fb -S foo --tid 778)" = "$(shares -s comm,symbol -d fb -S foo --filter 'tid == 778')" ]
}

@test "13.2: --percentage relative makes shares of what passes, whichever filter it is" {
	for filter in "-c the-prog" "--filter comm==the-prog"; do
		# shellcheck disable=SC2086 # words
		[ "$(shares -s comm $filter --percentage relative)" = "100.00%|the-prog" ]
		# shellcheck disable=SC2086
		[ "$(shares -s comm $filter --percentage absolute)" = "4.15%|the-prog" ]
	done
	[ "$(shares -s symbol -d fb --percentage relative)" = "$(shares -s symbol --filter 'dso == fb' --percentage relative)" ]
	run -0 "$TALLY" report -i all.data --stdio --percentage relative -c the-prog
	[[ "$output" = *"# Samples: 1 of event"*"# Event count (approx.): 101"* ]]
	[[ "$output" = *"# Shown: 1 of 22 samples passes the filters, 4.15% of the event count"* ]]
	# Branches of a tree and --percent-limit go by the same.
	run -0 "$TALLY" report -i all.data --stdio --percentage relative -c the-prog --percent-limit 50
	[[ "$output" = *"100.00%"*"the-prog"*"foo"* ]]
	[ -z "$(shares -c the-prog --percent-limit 50)" ]
	run "$TALLY" report -i all.data --percentage half
	[ "$status" = 2 ]
	[[ "$output" = *"unknown percentage 'half'; valid are absolute, relative"* ]]
}

@test "13.2: --dlfilter leaves shares as they are, too" {
	build none-of-two.so probe -DQUIET -DLATE=n%2
	build all-of-them.so probe -DQUIET -DLATE=0
	shares -s comm,symbol >all.txt
	shares -s comm,symbol --dlfilter ./all-of-them.so | cmp - all.txt
	shares -n -s comm --dlfilter ./none-of-two.so >some.txt
	[ "$(awk -F'|' '{sum += $2} END {print sum}' some.txt)" = 11 ]
	between() { awk -F'|' '{sum += $1} END {exit !(sum > 40 && sum < 60)}' "$1"; }
	between some.txt
	[ "$(shares -n -s comm --dlfilter ./none-of-two.so --percentage relative |
		awk -F'|' '{sum += $1} END {print (sum > 99.9)}')" = 1 ]
	"$TALLY" report -i all.data --stdio --dlfilter ./none-of-two.so | grep -q '^# Shown: 11 of 22 samples pass the filters'
}

@test "13.2: shares with filters are perf's" {
	command -v perf >/dev/null ||
		skip "perf is not installed: shares are not compared with it; the test before has known shares"
	perfs() {
		perf report --stdio -i all.data -q -t '|' -g none --no-children "$@" 2>/dev/null </dev/null | tr -d ' ' | grep .
	}
	for of in absolute relative; do
		# Without samples of guests, of which perf's report has no rows.
		for filter in "-c the-prog,nobody" "-c the-prog,:9" "-d [vdso],all.so"; do
			# shellcheck disable=SC2086
			diff <(perfs -s comm,dso $filter --percentage $of | sort) \
				<(shares -s comm,dso $filter --percentage $of | sort)
		done
	done
}

@test "13.16: a filter that matches nothing says so, with the nearest names" {
	said() { # expected part, options
		local expected=$1
		shift
		run --separate-stderr "$TALLY" report -i all.data -q "$@"
		[ "$status" = 0 ]
		[ -z "$output" ]
		[[ "$stderr" = "tally report: 0 of 22 samples match: "*"$expected"* ]] || { echo "$stderr"; return 1; }
	}
	said "no command is named 'the-pro'; most similar: the-prog" -c the-pro
	said "no command is named 'A THREAD'; most similar: a thread" -c 'A THREAD'
	said "no sample is in a function named 'fooo'; most similar: foo" -S fooo
	said "no sample is in a binary named 'vdso'; most similar: [vdso]" -d vdso
	said "no sample is in a function named 'zzzzzz'; those with most samples: foo" -S zzzzzz
	said "no sample is of process '1'; those with most samples: 777 (a thread)" --pid 1
	said "no sample is of thread '5'" --tid 5
	said "no command is named 'the_prog'; most similar: the-prog" --filter 'comm == the_prog and period > 1'
	said "no call chain has a function named 'bat'; most similar: bar" --filter 'stack has bat'
	run -0 --separate-stderr "$TALLY" report -i all.data -q -c the-prog -d '[vdso]'
	[ "$stderr" = "tally report: 0 of 22 samples match all filters together" ]
	run -0 "$TALLY" report -i all.data -c nobody
	[[ "$output" != *"may have ended"* ]]
	[[ "$output" = *"# Shown: 0 of 22 samples pass the filters"* ]]
	run -0 --separate-stderr "$TALLY" report -i all.data -c the-prog
	[ -z "$stderr" ]
}

# Runs a command on a terminal of that size; what it writes, without carriage returns.
on_terminal() { # rows, columns, command
	python3 - "$@" <<-'END'
		import fcntl, os, pty, select, struct, sys, termios, time
		rows, columns, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
		pid, end = pty.fork()
		if not pid:
		    time.sleep(0.05)
		    os.execvp(command[0], command)
		fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
		said = b""
		while select.select([end], [], [], 60)[0]:
		    try:
		        more = os.read(end, 65536)
		    except OSError:
		        break
		    if not more:
		        break
		    said += more
		os.waitpid(pid, 0)
		sys.stdout.buffer.write(said.replace(b"\r", b""))
	END
}

@test "13.21: --no-pager stands behind the command too, a dumb terminal has no pager, and text has one" {
	unset TALLY_PAGER
	paged() {
		on_terminal 24 80 env -u COLUMNS -u TALLY_PAGER TERM="${term:-vt100}" PAGER='echo went to the pager; cat' \
			"$TALLY" "$@" | grep -c "went to the pager" || true
	}
	[ "$(paged report --no-tui -i all.data)" = 1 ]
	[ "$(paged report -i all.data --no-pager)" = 0 ]
	[ "$(paged --no-pager report -i all.data)" = 0 ]
	[ "$(term=dumb paged report -i all.data)" = 0 ]
	for command in script info evlist list stat record encode doctor repair; do
		"$TALLY" "$command" --no-pager --help | grep -q -- --no-pager
	done
}

@test "13.15: on a terminal a recording with chains shows its rows first, then trees; into a pipe as before" {
	unset TALLY_PAGER
	on_terminal 24 80 env -u COLUMNS TERM=vt100 NO_COLOR=1 "$TALLY" report -i all.data --no-pager >screen.txt
	# Rows of the first screen, above the trees.
	[ "$(sed '/^# Call trees/,$d' screen.txt | grep -c '^ *[0-9.]*%  ')" -ge 10 ]
	[ "$(sed '/^# Call trees/,$d' screen.txt | wc -l)" -le 23 ]
	[ "$(sed '1,/^# Call trees/d' screen.txt | grep -c -- '---')" -ge 3 ]
	awk 'length > 80 {print; wide = 1} END {exit wide}' screen.txt
	# All rows stand there once more, with their trees.
	[ "$(sed '1,/^# Call trees/d' screen.txt | grep -c '^ *[0-9.]*% *[0-9.]*%  ')" = \
		"$("$TALLY" report -i all.data -q -g none | grep -c .)" ]
	for explicit in --stdio "-g caller" -G -q "-g none"; do
		# shellcheck disable=SC2086 # words
		on_terminal 24 80 env -u COLUMNS TERM=vt100 NO_COLOR=1 "$TALLY" report -i all.data --no-pager $explicit >screen.txt
		run -1 grep "^# Call trees" screen.txt
	done
	"$TALLY" report -i all.data >pipe.txt
	run -1 grep "^# Call trees" pipe.txt
	"$TALLY" report -i all.data --stdio | cmp - pipe.txt
}

@test "13.31: --stats counts records by type and samples by event" {
	"$TALLY" report -i events.data --stats >stats.txt
	grep -q '^           TOTAL events:         42$' stats.txt
	grep -q '^          SAMPLE events:         30  (71.4%)$' stats.txt
	[ "$(grep -c ' stats:$' stats.txt)" = 11 ] # with the first line
	[ "$(grep -c '^          SAMPLE events:          3$' stats.txt)" = 10 ]
}

@test "13.31: --stats counts the lost samples of each event, and compressed records with those in them" {
	printf '%s\n' 'comm 7 a' 'lost-samples 3' 'sample 7 4000' 'lost 5' 'lost-samples 2' |
		python3 "$BATS_TEST_DIRNAME/recording.py" lost.data
	"$TALLY" report -i lost.data --stats >stats.txt
	grep -q '^    LOST_SAMPLES events:          2  (40.0%)$' stats.txt
	grep -A 2 '^cpu-clock.* stats:$' stats.txt | tail -n 1 | grep -q '^    LOST_SAMPLES events:          5$'
	command -v zstd >/dev/null || skip "zstd is not installed: no records are compressed"
	python3 "$BATS_TEST_DIRNAME/hour_records.py" expands packed.data
	"$TALLY" report -i packed.data --max-expand=1000 --stats >stats.txt
	total=$(awk '$1 == "TOTAL" { print $3 }' stats.txt) samples=$(awk '$1 == "SAMPLE" { print $3; exit }' stats.txt)
	packed=$(awk '$1 == "COMPRESSED" { print $3 }' stats.txt)
	[ "$packed" -gt 0 ]
	[ "$total" = $((samples + packed)) ]
}

@test "13.31: --tasks shows each thread below the one that made it" {
	python3 - <<-'END'
		import struct
		def record(kind, body):
		    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body
		def comm(pid, tid, name):
		    return record(3, struct.pack("<II", pid, tid) + name.ljust(16, b"\0"))
		def fork(pid, ppid, tid, ptid):
		    return record(7, struct.pack("<IIIIQ", pid, ppid, tid, ptid, 0))
		attr = struct.pack("<IIQQQQQ", 1, 64, 0, 1, 3, 0, 0) + bytes(16)
		records = (comm(300, 300, b"shell") + fork(301, 300, 301, 300) + comm(301, 301, b"child") +
		           fork(301, 301, 302, 301) + fork(303, 301, 303, 302) + comm(44, 44, b"other") +
		           record(9, struct.pack("<QII", 0x1000, 44, 44)))
		with open("tasks.data", "wb") as to:
		    to.write(b"PERFILE2" + struct.pack("<Q", 16) + record(64, attr) + records)
	END
	cat >wanted <<-'END'
		#      pid      tid     ppid  comm
		         0        0       -1 |swapper
		        44       44       -1 |other
		       300      300       -1 |shell
		       301      301      300 | child
		       301      302      301 |  child
		       303      303      302 |   child
	END
	"$TALLY" report -i tasks.data --tasks | diff wanted - || false
}

@test "13.31: --header-only is the header alone, --header has the report below it" {
	"$TALLY" report -i tasks.data --header-only >only.txt
	"$TALLY" info -i tasks.data --header >header.txt
	cmp only.txt header.txt
	"$TALLY" report -i all.data --header >both.txt
	head -c "$(stat -c %s <("$TALLY" report -i all.data --header-only) >/dev/null; "$TALLY" report -i all.data --header-only | wc -c)" both.txt |
		cmp - <("$TALLY" report -i all.data --header-only)
	tail -n 3 both.txt | cmp - <("$TALLY" report -i all.data | tail -n 3)
}

@test "13.31: --stats, --tasks and --header-only are perf's" {
	command -v perf >/dev/null ||
		skip "perf is not installed: the text is not compared with it; the tests before have known lines"
	for file in all.data events.data simple.data tasks.data ${TALLY_CORPUS:+"$TALLY_CORPUS"/files/*quipper*3.8 "$TALLY_CORPUS"/files/*4.14}; do
		case $file in *armv7*) continue ;; esac # perf reads its header only in part
		for how in --stats --tasks --header-only; do
			perf report --stdio -i "$file" $how >perfs.txt 2>/dev/null </dev/null || continue
			"$TALLY" report -i "$file" $how 2>/dev/null | diff perfs.txt - >differ.txt ||
				{ echo "$file $how"; head differ.txt; return 1; }
		done
	done
}

@test "13.31: overhead is a sort key, and the first column wherever it stands" {
	[ "$(shares -s overhead,comm)" = "$(shares -s comm)" ]
	[ "$(shares -s overhead)" = "100.00%" ]
	[ "$(shares -s comm,overhead)" = "$(shares -s comm)" ]
}

@test "17: -f is taken as in perf, and a recording of another user is read without it, too" {
	cp all.data owned.data
	[ "$(id -u)" != 0 ] || chown 12345 owned.data
	for command in report annotate "diff all.data"; do
		[ "$command" = "diff all.data" ] && input=owned.data || input="-i owned.data"
		run -0 "$TALLY" $command $input
		whole=$output
		run -0 "$TALLY" $command -f $input
		[ "$output" = "$whole" ]
	done
}
