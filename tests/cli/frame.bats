#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The frame of the command: help, version, what is said of mistakes, completion.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
}

@test "--version is the project's, and so is -v, and tally version" {
	version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$TALLY_SOURCE/meson.build")
	[ -n "$version" ]
	for way in --version -v version; do
		run "$TALLY" $way
		[ "$status" = 0 ]
		[ "$output" = "tally $version" ]
	done
}

@test "--help names every command, on stdout" {
	cd "$BATS_TEST_TMPDIR"
	"$TALLY" --help >out 2>err || false
	[ ! -s err ]
	"$TALLY" --list-cmds | cut -f 1 >names
	[ "$(wc -l <names)" -ge 2 ]
	while read -r name; do
		grep -q "^  $name  " out
	done <names
}

@test "every command has --help that fits 80 columns, begins with its usage, and ends well" {
	cd "$BATS_TEST_TMPDIR"
	"$TALLY" --list-cmds | cut -f 1 | grep -v version >names
	[ "$(wc -l <names)" -ge 10 ]
	while read -r name; do
		run "$TALLY" "$name" --help
		[ "$status" = 0 ]
		[[ "${lines[0]}" == "Usage: tally $name"* ]]
		[[ "$output" == *"-h, --help"* ]]
		echo "$output" | awk 'length > 80 {print "too wide: " $0; wide = 1} END {exit wide}'
	done <names
}

@test "no command is a usage error on stderr" {
	run --separate-stderr "$TALLY"
	[ "$status" = 2 ]
	[ -z "$output" ]
	[[ "$stderr" == *"tally --help"* ]]
}

@test "an unknown command is reported with the most similar one" {
	run "$TALLY" hepl
	[ "$status" = 2 ]
	[ "$output" = "tally: no command 'hepl'; did you mean \`tally help\`?" ]
	run "$TALLY" qqqqqqqq
	[ "$status" = 2 ]
	[[ "$output" == *"tally --help"* ]]
	[[ "$output" != *"did you mean"* ]]
}

@test "a command of perf that tally does not have is answered with what does its work here" {
	run "$TALLY" sched
	[ "$status" = 2 ]
	[[ "$output" = "tally: no command 'sched'; "*"--off-cpu"* ]]
	local name count=0
	for name in $(perf --list-cmds 2>/dev/null) c2c kwork mem sched trace; do
		count=$((count + 1))
		"$TALLY" --list-cmds | cut -f1 | grep -qFx -- "$name" && continue
		run -2 "$TALLY" "$name"
		[[ "$output" = "tally: no command '$name'; "* && "$output" != *"tally --help"* ]]
	done
	[ "$count" -ge 5 ]
}

@test "an unknown option is reported with the most similar one" {
	run "$TALLY" help --hlep
	[ "$status" = 2 ]
	[[ "$output" == "tally help: unknown option '--hlep'; did you mean --help?"* ]]
	run "$TALLY" help -q
	[ "$status" = 2 ]
	[[ "$output" == "tally help: unknown option '-q'"* ]]
	run "$TALLY" --nonsense
	[ "$status" = 2 ]
}

@test "what was typed is shown escaped" {
	run "$TALLY" $'\e]0;x\a'
	[ "$status" = 2 ]
	[[ "$output" == *'\x1b]0;x\x07'* ]]
	[[ "$output" != *$'\e'* ]]
}

@test "help of a command that is not there" {
	run "$TALLY" help nothing-of-that
	[ "$status" = 2 ]
	run "$TALLY" help help help
	[ "$status" = 2 ]
}

@test "output that cannot be written is a failure" {
	[ -w /dev/full ] || skip "no /dev/full"
	run bash -c '"$TALLY" --help >/dev/full'
	[ "$status" = 1 ]
	[[ "$output" == *"No space left"* ]]
}

@test "a closed standard output is a failure of what is written there only" {
	cd "$BATS_TEST_TMPDIR"
	"$TALLY" record -q -e cpu-clock -o closed.data -- true 2>/dev/null || skip "events cannot be opened here"
	run bash -c '"$TALLY" record -e cpu-clock -o closed.data -- true >&-'
	[ "$status" = 0 ]
	[[ "$output" != *"could not be written"* ]]
	run bash -c '"$TALLY" stat -e task-clock -- true >&-'
	[ "$status" = 0 ]
	run bash -c '"$TALLY" info -i closed.data >&-'
	[ "$status" = 1 ]
	[[ "$output" == *"Bad file descriptor"* ]]
}

@test "bash completes commands and every option of each" {
	shopt -u nullglob
	# shellcheck disable=SC1091
	source "$TALLY_SOURCE/completions/tally.bash"
	PATH="$(dirname "$TALLY"):$PATH"
	COMP_WORDS=(tally '') COMP_CWORD=1
	_tally
	[[ " ${COMPREPLY[*]} " == *" help "* ]]
	mapfile -t commands < <(tally --list-cmds | cut -f 1 | grep -v -x -e help -e version)
	[ "${#commands[@]}" -ge 10 ]
	for command in "${commands[@]}"; do
		[[ " ${COMPREPLY[*]} " == *" $command "* ]]
	done
	count=0
	for command in "${commands[@]}"; do
		COMP_WORDS=(tally "$command" --) COMP_CWORD=2
		_tally
		for option in $(tally "$command" --list-options | awk -F '\t' '$2 != "-" {print "--" $2}'); do
			[[ " ${COMPREPLY[*]} " == *" $option "* ]]
			count=$((count + 1))
		done
	done
	[ "$count" -gt 200 ]
}

@test "the pager and colour are for terminals only" {
	run env TALLY_PAGER="echo paged" "$TALLY" --help
	[ "$status" = 0 ]
	[[ "$output" != *paged* ]]
	[[ "$output" != *$'\e'* ]]
}

@test "a limit of file sizes is an error in words, and leaves nothing behind" {
	cd "$BATS_TEST_TMPDIR"
	"$TALLY" record -q -g -e cpu-clock -o limit.data -- perl -e '$x .= $_ for 1 .. 300000' 2>/dev/null ||
		skip "events cannot be opened here"
	run -1 bash -c 'ulimit -f 1; exec "$1" export --to speedscope -i limit.data -o limit.out' - "$TALLY"
	[[ $output == *"limit.out: "*"File too large"* ]]
	[ ! -e limit.out ]
	run -1 bash -c 'ulimit -f 1; exec "$1" script -i limit.data >limit.txt' - "$TALLY"
	[[ $output == *"could not be written: File too large"* ]]
	# What is started has the signal's usual effect again.
	run bash -c 'ulimit -f 8; "$1" stat -o counts -- dd if=/dev/zero of=big bs=1k count=64' - "$TALLY"
	[ "$status" = $((128 + $(kill -l XFSZ))) ]
}
