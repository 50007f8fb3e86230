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

shows() { # text
	shown | grep -qF -- "$1"
}

# Waits until a command succeeds, 20 s at most.
turns_into() { # what was not seen, command
	local turns=0 what=$1
	shift
	until "$@"; do
		turns=$((turns + 1))
		[ $turns -lt 400 ] || {
			echo "not seen: $what"
			shown
			return 1
		}
		sleep 0.05
	done
}

# Waits until the terminal shows a text.
sees() { # text
	turns_into "$1" shows "$1"
}

# Waits until a line matches a pattern: of all lines, or of those that sed finds.
sees_line() { # pattern[, lines]
	turns_into "$*" has_line "$@"
}

has_line() { # pattern[, lines]
	shown | sed -n "${2:-1,\$}p" | grep -qE -- "$1"
}

# Waits until it no longer shows a text.
sees_no() { # text
	turns_into "no $1" not_shows "$1"
}

not_shows() { # text
	[ "$(shown | grep -cF -- "$1")" -eq 0 ]
}

# Keys as tmux names them: Enter, Down, C-d, x.
keys() {
	for key in "$@"; do
		on_tmux send-keys -t screen "$key"
	done
}
