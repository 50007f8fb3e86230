# A terminal for screens: tmux, whose panes are read as a person sees them.

need_tmux() {
	command -v tmux >/dev/null ||
		skip "tmux is not installed: no screen is looked at; tests/cli/top.bats has tables, and tests/unit/cli the lines of screens"
}

on_tmux() {
	tmux -S "$BATS_TEST_TMPDIR/tmux" -f /dev/null "$@"
}

# Runs a command on a terminal of that size and kind, in that locale.
terminal() { # WIDTHxHEIGHT, TERM, LC_ALL, command
	local size=$1 term=$2 locale=$3
	shift 3
	# The server stays when the session before ends.
	on_tmux has-session -t stays 2>/dev/null || on_tmux new-session -d -s stays "exec sleep 1000" 3>&-
	on_tmux new-session -d -s screen -x "${size%x*}" -y "${size#*x}" \
		"env -u COLUMNS -u LINES -u TALLY_PAGER TERM=$term LC_ALL=$locale ${PLAIN:+NO_COLOR=1} $*; echo status \$?; exec sleep 60" 3>&-
}

end_terminal() {
	on_tmux kill-session -t screen 2>/dev/null || true
}

end_tmux() {
	[ ! -S "$BATS_TEST_TMPDIR/tmux" ] || on_tmux kill-server 2>/dev/null || true
}

# What the terminal shows.
shown() {
	on_tmux capture-pane -p -t screen
}

# Waits until the terminal shows a text, 20 s at most.
sees() { # text
	local turns=0
	until shown | grep -qF -- "$1"; do
		turns=$((turns + 1))
		[ $turns -lt 400 ] || {
			echo "not seen: $1"
			shown
			return 1
		}
		sleep 0.05
	done
}

# The same until it does not.
sees_no() { # text
	local turns=0
	while shown | grep -qF -- "$1"; do
		turns=$((turns + 1))
		[ $turns -lt 400 ] || {
			echo "still seen: $1"
			shown
			return 1
		}
		sleep 0.05
	done
}

# Keys as tmux names them: Enter, Down, C-d, x.
keys() {
	for key in "$@"; do
		on_tmux send-keys -t screen "$key"
	done
}
