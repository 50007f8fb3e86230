#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# What is said of a command line that is written from habit: what was meant, by the name that was typed.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export LC_ALL=C
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

need_recording() {
	"$TALLY" record -q -e cpu-clock -o probe.data -- true 2>/dev/null ||
		skip "events cannot be opened here"
}

need_nobody() {
	[ "$(id -u)" = 0 ] || skip "needs root, to run as another user"
	command -v setpriv >/dev/null ||
		skip "setpriv is not installed: no test runs as another user; tests/unit/kernel has the messages by errno"
	# Out of this test's own folder, which only root may enter.
	cd / || return 1
}

# Fails with a status, and says a text; runs nothing.
says() { # status, text, arguments of tally
	run -"$1" "$TALLY" "${@:3}"
	[[ $output == *"$2"* ]] || { echo "said: $output"; return 1; }
}

@test "13.18: several process ids as words, as pidof prints them, are no command" {
	for command in record stat; do
		says 2 "to one -p, separated by commas: -p 4058,4057 (" $command -p 4058 4057
		says 2 "to one -p, separated by commas: -p 1,2,3,4 (" $command -p 1,2 3 4
		says 2 "to one -t, separated by commas: -t 4058,4057 (" $command -t 4058 4057
		says 2 "separate several by commas, as \`pgrep -d, NAME\` does" $command -p "4058 4057"
		says 2 "\`pgrep -d, nginx\` prints the ids of a name" $command -p nginx
		says 2 "-p: the value is empty" $command -p "" true
	done
	# A command beside -p is one.
	need_recording
	run -0 "$TALLY" record -q -e cpu-clock -o p.data -p $$ true
	run -0 "$TALLY" stat -e task-clock -p $$ true
}

@test "13.18: a way of call chains behind -g" {
	says 2 "-g takes no value: write --call-graph dwarf (" record -g dwarf xz
	says 2 "-g takes no value: write --call-graph dwarf,4096 (" record -g dwarf,4096 xz
	says 2 "-g takes no value: write --call-graph=dwarf (" record -g=dwarf xz
	says 2 "write -F 99 or --freq=99 (" record -F=99 xz
	says 2 "write -e cycles or --event=cycles (" stat -e=cycles xz
	says 2 "write -z3 or --compression-level=3 (" record -z=3 xz
	[ ! -e perf.data ]
}

@test "13.18: options of perf that are not here are not taken for others" {
	says 2 "the report is text, on a terminal through \$PAGER" report --gtk
	for command in record stat script evlist; do
		run -2 "$TALLY" $command --tui
		[[ $output != *"did you mean"* ]]
	done
}

@test "13.18: why a program cannot be run" {
	need_recording
	printf '#!/no-such-folder/perl -w\n' >script
	cp script plain
	chmod +x script
	cp "$(type -P true)" here-only
	for command in "record -q -e cpu-clock -o x.data" "stat -e task-clock"; do
		# shellcheck disable=SC2086
		{
			says 127 "cannot run './nosuch': no such file" $command ./nosuch
			says 127 "cannot run 'no-such-program': no such program in PATH" $command no-such-program
			says 127 "cannot run 'here-only': no such program in PATH, but there is one in this folder: write ./here-only" $command here-only
			says 127 "cannot run './script': its interpreter '/no-such-folder/perl' (first line) does not exist" $command ./script
			says 126 "cannot run './plain': it is not executable: \`chmod +x ./plain\`" $command ./plain
			says 126 "cannot run '/': it is a directory" $command /
		}
	done
}

@test "a mistyped command is all that is said, with the most similar program of PATH" {
	need_recording
	mkdir "$BATS_TEST_TMPDIR/bin"
	cp "$(type -P true)" bin/mouse-counter
	: >bin/mouse-countre # not a program
	for command in record "record -e cycles,cpu-clock" "stat -e task-clock" profile; do
		# shellcheck disable=SC2086
		PATH="$PWD/bin:$PATH" run -127 "$TALLY" $command -- mouse-counte
		[ "$output" = "tally ${command%% *}: cannot run 'mouse-counte': no such program in PATH (did you mean mouse-counter?)" ]
	done
	run -127 "$TALLY" record -- no-such-program
	[ "$output" = "tally record: cannot run 'no-such-program': no such program in PATH" ]
}

@test "a folder of PATH that may not be searched has no program that is known of" {
	need_nobody
	mkdir -m 700 "$BATS_TEST_TMPDIR/closed"
	run -127 setpriv --reuid 65534 --clear-groups env PATH="$BATS_TEST_TMPDIR/closed:$PATH" "$TALLY" stat -e task-clock:u no-such-program
	[[ $output == *"no such program in PATH"* ]]
}

@test "18: a value that was written behind its option without '=' is suggested" {
	need_recording
	says 127 "did you mean --off-cpu=5?" record -q -e cpu-clock -o x.data --off-cpu 5 true
	says 127 "did you mean --compression-level=3?" record -q -e cpu-clock -o x.data -z 3 true
	run -127 "$TALLY" record -q -z -e cpu-clock -o x.data 3
	[[ $output != *"did you mean"* ]]
}

@test "an ordinary user's chains by frame pointers, where the kernel has no deferred ones" {
	need_nobody
	folder=$(mktemp -d)
	chown 65534 "$folder"
	run -0 setpriv --reuid 65534 --clear-groups "$TALLY" record -N -q -e cpu-clock --call-graph fp -o "$folder/x.data" -- true
	rm -r "$folder"
}

@test "13.18: a refused event, and a user, have the name that was typed" {
	id www-data >/dev/null 2>&1 || skip "there is no user www-data"
	pgrep -u www-data >/dev/null && skip "www-data runs something"
	says 1 "user www-data (33) runs no process now" record -u www-data
	need_nobody
	run -255 setpriv --reuid 65534 --clear-groups "$TALLY" record -e page-faults,cpu-clock -p 1 -o x.data
	[[ $output == *"cannot open page-faults: this user may not trace process 1"* ]]
	[[ $output != *0x* ]]
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ] || skip "the whole system is open to users here"
	run -255 setpriv --reuid 65534 --clear-groups "$TALLY" record -e cpu-clock -a -o x.data
	[[ $output == *"cannot open cpu-clock: "* ]]
}
