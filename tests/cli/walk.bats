#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Walking in the screens of `tally report` and `tally top`, on terminals of several sizes and kinds.

load work
load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}" PERF_CONFIG=/dev/null
	cd "$BATS_FILE_TMPDIR" || return 1
	export HOME="$PWD"
	make_work -O1 -g || return 0
	"$TALLY" record -q -g -e cpu-clock,page-faults -o chains.data -- ./work 100 2>/dev/null || return 0
	"$TALLY" record -q -e cpu-clock -o flat.data -- ./work 30 2>/dev/null || return 0
}

setup() {
	load terminal
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s flat.data ] || skip "needs a compiler, and events that can be opened"
	need_tmux
}

teardown() {
	[ -z "$(command -v tmux)" ] || end_tmux
	[ -z "${WORK:-}" ] || kill "$WORK" 2>/dev/null || true
}

@test "17: report on a terminal is a screen, each step of which Escape takes back" {
	terminal 80x24 screen C.UTF-8 "$TALLY" report -i chains.data
	sees '[1 Functions]'
	sees 'of cpu-clock'
	# rows: main, which has no time of its own, opens
	keys s ']' Space m a i n Enter
	keys Enter
	sees 'Enter close'
	sees '%  large'
	keys Enter
	sees 'Enter open'
	# the function's callers and callees
	keys c
	sees 'function main'
	sees 'Called by'
	sees 'Calls'
	sees_line ' both' '/Calls/,$'
	sees_line _start '/Called by/,/Calls/'
	keys Escape
	sees '[1 Functions]'
	# threads, and one of them
	keys 2
	sees '[2 Threads]'
	sees :work
	keys t
	sees 'thread work'
	sees '[1 Functions]'
	keys f
	sees 'flame view, thread work'
	sees_no '[1 Functions]'
	keys Escape Escape
	sees '[2 Threads]'
	keys Escape
	sees '[1 Functions]'
	keys Escape
	sees '[1 Functions]'
	keys q
	sees 'status 0'
}

@test "17: a filter is obeyed as it is typed, and search goes to the next line" {
	terminal 80x24 xterm C "$TALLY" report -i chains.data
	sees '[1 Functions]'
	keys / l a r
	sees 'Filter: lar'
	sees_no '[.] small'
	sees '[.] large'
	keys Enter
	sees 'filter lar'
	keys Escape
	sees '[.] small'
	keys / q q q Escape
	sees_no 'Filter'
	keys / q q q Enter
	sees "no row contains 'qqq': Esc goes back"
	keys Escape
	sees '[.] small'
	keys s s m a Enter i
	sees 'Its place in the file'
	sees_line '^small$' 2 # whole, and from the first column on
	keys Escape s z z z z Enter
	sees "'zzzz' is in no line"
	keys q
	sees 'status 0'
}

@test "17: the flame view has a block for each function, below the one that called it" {
	PLAIN=1 terminal 120x40 screen C.UTF-8 "$TALLY" report -i chains.data
	sees '[1 Functions]'
	keys f
	sees 'flame view'
	sees_line '^large '
	shown >all
	[ "$(grep -n '^main *$' all | cut -d: -f1)" = "$(($(grep -n '^both *$' all | cut -d: -f1) - 1))" ]
	# three quarters of the line below
	column=$(grep '^large ' all | sed 's/small.*//' | wc -c)
	[ "$column" -gt 80 ]
	[ "$column" -lt 100 ]
	keys Down Down Down Down Down Down
	sees 'itself'
	keys s s m a l l Enter Enter
	sees '%  small  (work)'
	sees_line '^small'
	keys Escape
	sees ' small'
	keys Escape
	sees '[1 Functions]'
}

@test "17: code of a function has its hottest instruction chosen, and a jump is followed and taken back" {
	terminal 120x40 screen C.UTF-8 "$TALLY" report --no-children -i chains.data
	sees '[1 Functions]'
	sees 'large'
	keys a
	sees '<large>:'
	sees 'unsigned large(unsigned n)'
	keys o
	sees_no 'unsigned large(unsigned n)'
	keys o
	sees 'unsigned large(unsigned n)'
	keys s j n e Enter Enter
	sees 'Tab next hot'
	keys Escape Escape
	sees '[1 Functions]'
	# of a function that was never sampled itself, as this seldom is
	local name=__libc_start_call_main
	"$TALLY" report --no-children -g none -i chains.data >flat
	if grep -q " $name *$" flat; then skip "the function that starts a program was sampled"; fi
	end_terminal
	terminal 80x24 screen C.UTF-8 "$TALLY" report -i chains.data
	sees '[1 Functions]'
	# shellcheck disable=SC2046 # each letter is a key
	keys s $(sed 's/./& /g' <<<"$name") Enter a
	sees 'has no samples of its own'
}

@test "17: Tab shows the next event; recordings without call stacks say what is missing" {
	need_kernel
	terminal 120x40 screen C.UTF-8 "$TALLY" report -i chains.data
	sees 'samples of cpu-clock (Tab: 2 events)'
	keys Tab
	sees 'samples of page-faults'
	keys BTab
	sees 'of cpu-clock'
	keys q
	sees 'status 0'
	end_terminal
	terminal 80x24 screen C "$TALLY" report -i flat.data
	sees 'Overhead'
	keys f
	sees 'no call stacks'
	keys c
	sees 'record them with -g'
}

@test "17: every screen fits its terminal, in each size and kind, with and without UTF-8" {
	for size in 80x24 120x40 200x60; do
		for kind in xterm:C.UTF-8 screen:C linux:C.UTF-8 vt100:C; do
			terminal $size ${kind%:*} ${kind#*:} "$TALLY" report -i chains.data
			sees '[1 Functions]'
			# the keys of the moment are in the last line, and rows from the third one on
			sees_line 'q quit$' '$'
			sees_line '^[+-] +[0-9.]+% +[0-9.]+%  work' 3
			keys '?'
			sees 'any key: back'
			sees 'quit'
			sees 'whole names, to copy'
			keys x f
			sees 'flame view'
			sees_line ^main
			[ "$(shown | wc -l)" = "${size#*x}" ]
			end_terminal
		done
	done
}

@test "17: a terminal that changes its size is filled anew" {
	terminal 80x24 screen C.UTF-8 "$TALLY" report -i chains.data
	sees '[1 Functions]'
	on_tmux resize-window -t screen -x 120 -y 40
	sees_line 'q quit' 40
	on_tmux resize-window -t screen -x 60 -y 12
	sees_line 'q quit' 12
	keys q
	sees 'status 0'
}

@test "17: the mouse chooses a line, opens it, and turns the wheel; a click on a hint is its key" {
	terminal 80x24 xterm C.UTF-8 "$TALLY" report -i chains.data
	sees '[1 Functions]'
	# As an xterm reports it (SGR 1006): button 0 pressed at column 10 of line 5, twice.
	# All at once, as when the machine is busy.
	on_tmux send-keys -t screen -l $'\e[<0;10;5M\e[<0;10;5m\e[<0;10;5M\e[<0;10;5m'
	sees 'Enter close'
	sees_line ^- 5
	column=$(($(shown | tail -n 1 | grep -b -o 'help' | cut -d: -f1) + 2))
	on_tmux send-keys -t screen -l $'\e[<0;'"$column"$';24M'$'\e[<0;'"$column"';24m'
	sees 'any key: back'
	keys x
	sees '[1 Functions]'
	on_tmux send-keys -t screen -l $'\e[<0;20;1M\e[<0;20;1m' # the name of a part
	sees '[2 Threads]'
}

@test "17: text where no screen is wanted or possible: TERM=dumb, --no-tui, --stdio, a setting" {
	terminal 80x24 dumb C "$TALLY" report -i flat.data
	sees '# Overhead'
	sees 'status 0'
	end_terminal
	for option in --stdio --no-tui -q '-t ,'; do
		terminal 80x24 screen C env PAGER=cat "$TALLY" report $option --percent-limit 5 -i flat.data
		sees 'status 0'
		sees 'large'
		end_terminal
	done
	printf '[tui]\n\treport = false\n' >config
	terminal 80x24 screen C env PERF_CONFIG=config PAGER=cat "$TALLY" report --percent-limit 5 -i flat.data
	sees 'status 0'
	end_terminal
	terminal 80x24 screen C env PERF_CONFIG=config "$TALLY" report --tui -i flat.data
	sees '[1 Functions]'
}

@test "17: top shows functions, threads, binaries and stacks of what runs, freezes, and saves what it shows" {
	./work 100000 3>&- &
	WORK=$!
	cd "$BATS_TEST_TMPDIR"
	terminal 80x24 screen C.UTF-8 "$TALLY" top -e cpu-clock -g -d 0.5 -p "$WORK"
	sees 'own CPU'
	sees 'large'
	keys 2
	sees '[2 Threads]'
	sees "$WORK:work"
	keys 3
	sees '[3 Binaries]'
	sees 'work'
	keys 4
	sees '[4 Stacks]'
	sees 'both'
	keys Escape Escape Escape
	sees '[1 Functions]'
	keys p
	sees 'frozen, p goes on'
	shown | sed -n 2,20p >first
	sleep 1.2
	shown | sed -n 2,20p >second
	diff first second
	keys p
	sees_no 'frozen'
	keys s l a r g e Enter a
	sees '<large>:'
	keys Escape
	sees '[1 Functions]'
	keys w C-u
	sees 'Save the newest samples as:'
	keys s a v e d Enter
	sees 'saved: tally report saved'
	keys q
	sees 'status 0'
	"$TALLY" report --stdio --no-children -g none -i saved >table
	awk '$NF == "large" { large = $1 + 0 } $NF == "small" { small = $1 + 0 } END { exit !(large > 60 && large < 90 && small > 10 && small < 40) }' table || {
		cat table
		false
	}
	command -v perf >/dev/null || return 0
	perf report --stdio --no-children -g none -i saved 2>/dev/null | grep -Eq '[67][0-9]\.[0-9]+%.* large'
}

@test "17: top shows one thread of several, and all again" {
	./work 100000 3>&- &
	WORK=$!
	sleep 100 3>&- &
	OTHER=$!
	terminal 80x24 screen C "$TALLY" top -e cpu-clock -d 0.5 -p "$WORK,$OTHER"
	sees 'large'
	keys 2
	sees "$WORK:work"
	keys t
	sees "thread work $WORK"
	sees 'large'
	keys Escape
	sees '[2 Threads]'
	keys q
	sees 'status 0'
	kill "$OTHER"
}

@test "17: one sample, at an address in no function: the screen says so, and counts it as one" {
	echo 'sample 7 4000' | python3 "$BATS_TEST_DIRNAME/recording.py" one.data
	terminal 80x24 screen C.UTF-8 "$TALLY" report -i one.data
	sees ' 1 sample of cpu-clock'
	keys a
	sees 'is an address in no known function: there is no code to show'
}

@test "17: a list without rows says why: no samples, the command line, hidden parts, a limit" {
	"$TALLY" record -q -e page-faults -c 100000000 -o none.data true
	terminal 80x24 xterm C "$TALLY" report -i none.data
	sees 'the recording has no samples of this event'
	end_terminal
	terminal 40x10 xterm C "$TALLY" report -i chains.data -c nobody
	sees 'samples passes the'
	sees 'of the command line'
	end_terminal
	terminal 80x24 xterm C "$TALLY" report -i chains.data
	sees '[1 Functions]'
	keys K U
	sees 'the kernel and user space are hidden: K and U show them'
	end_terminal
	terminal 80x24 xterm C "$TALLY" report -i chains.data --no-children --percent-limit 99.9
	sees 'every row is below 99.9 % (--percent-limit)'
	end_terminal
}

@test "17: help that is longer than the screen moves" {
	terminal 40x10 xterm C "$TALLY" report -i chains.data
	sees '[1 Functions]'
	keys '?'
	sees 'Down Up: more'
	run -1 shows 'mouse: lines or text'
	keys Space Space Space Space
	sees 'mouse: lines or text'
	keys Up
	sees_no 'mouse: lines or text'
	keys x
	sees '[1 Functions]'
	end_terminal
	terminal 80x24 xterm C "$TALLY" report -i chains.data
	sees '[1 Functions]'
	keys '?'
	sees 'mouse: lines or text'
	shows 'Keys  any key: back'
	keys Down
	sees '[1 Functions]'
	end_terminal
}

@test "17: a narrow screen has names of functions in place of cells of four letters" {
	terminal 40x10 xterm C "$TALLY" report -i chains.data
	sees '[1 Functions]'
	sees_line '%  \[\.\] (large|both|main)$'
	run -1 shows 'Comm'
	end_terminal
}
