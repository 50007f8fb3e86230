#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# What the command says on standard error: form, not contents.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

said_at() { # COLUMNS ARGUMENT...: standard error on a terminal of that width, without \r
	local columns=$1
	shift
	script -qec "stty cols $columns && env -u COLUMNS '$TALLY' $*" /dev/null </dev/null 3>&- | tr -d '\r'
}

@test "14.6: on a terminal messages are folded between words, and commands to copy stay whole" {
	command -v script >/dev/null ||
		skip "script is not installed: there is no terminal that folds messages"
	said_at 60 stat -x, --json -e cycles true >folded
	[ "$(wc -L <folded)" -le 60 ]
	[ "$(wc -l <folded)" -ge 2 ]
	grep -q '^tally stat: ' folded
	run -1 grep '^[^ t]' folded
	grep -q '`tally stat --help`' folded
	run -2 "$TALLY" stat -x, --json -e cycles true
	[ "${#lines[@]}" = 1 ] # no terminal: one line, for grep
	[ "$output" = "$(sed ':a;N;$!ba;s/\n */ /g' folded)" ]
}

@test "14.6: a user without rights gets exit status 255 from record as from stat" {
	command -v setpriv >/dev/null || skip "setpriv is not installed: no test runs as another user"
	setpriv --reuid 65534 --clear-groups true 2>/dev/null || skip "setpriv cannot change the user here"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ] || skip "the whole system is open to users here"
	as=(setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all)
	"${as[@]}" true 2>/dev/null || as=(setpriv --reuid 65534 --clear-groups)
	run -255 "${as[@]}" "$TALLY" record -e cpu-clock -a -o x.data
	run -255 "${as[@]}" "$TALLY" record -e cpu-clock -a -o x.data -- true
	run -255 "${as[@]}" "$TALLY" stat -e cpu-clock -a -- true
}

@test "a process that hidepid hides is not said to have ended" {
	[ "$(id -u)" = 0 ] || skip "needs root, to make a mount namespace"
	unshare -m mount -t proc -o hidepid=2 proc /proc 2>/dev/null || skip "/proc cannot be mounted here"
	setpriv --reuid 65534 --clear-groups true 2>/dev/null || skip "setpriv cannot change the user here"
	as_user() {
		unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc; exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' - "$@"
	}
	run -1 as_user test -e /proc/1/stat
	run -125 as_user "$TALLY" stat -p 1 -- true
	[[ $output == *"/proc hides process 1 from this user"*"hidepid"* ]]
}

@test "without /sys the CPUs are those of /proc/stat" {
	[ "$(id -u)" = 0 ] || skip "needs root, to make a mount namespace"
	unshare -m mount -t tmpfs none /sys 2>/dev/null || skip "no mount namespace can be made here"
	"$TALLY" record -q -e cpu-clock -o probe.data -- true 2>/dev/null || skip "events cannot be opened here"
	run -0 unshare -m sh -c 'mount -t tmpfs none /sys; exec "$@"' - "$TALLY" record -a -e cpu-clock -o x.data -- sleep 0.1
	[ "$("$TALLY" evlist -v -i x.data | wc -l)" = 2 ]
	run -0 unshare -m sh -c 'mount -t tmpfs none /sys; exec "$@"' - "$TALLY" stat -A -a -x, -e cpu-clock -- true
	[ "${#lines[@]}" = "$(grep -c '^cpu[0-9]' /proc/stat)" ]
}

# bats test_tags=usual
@test "without /proc nothing is said of settings that cannot be read" {
	[ "$(id -u)" = 0 ] || skip "needs root, to make a mount namespace"
	nm "$TALLY" | grep __asan_init >/dev/null && skip "sanitizers read /proc: the usual build runs this test"
	unshare -m mount -t tmpfs none /proc 2>/dev/null || skip "no mount namespace can be made here"
	"$TALLY" record -q -e cpu-clock -o probe.data -- true 2>/dev/null || skip "events cannot be opened here"
	without() {
		run unshare -m bash -c 'mount -t tmpfs none /proc; exec "$@"' - "$@"
		[[ $output != *2147483648* ]] || { echo "said: $output"; return 1; }
	}
	without "$TALLY" record -e cpu-clock:k -o kernel.data -- true
	[ "$status" = 0 ]
	[[ $output == *"/proc/kallsyms cannot be read"* ]] || [[ $output != *"no names"* ]]
	# Capabilities are asked of the kernel then.
	without "$TALLY" doctor
	[[ $output != *"none of CAP_"* ]]
	if command -v setpriv >/dev/null; then
		without setpriv --reuid nobody --regid nogroup --clear-groups "$TALLY" stat -e cpu-clock:k -- true
		[[ $output == *"is /proc mounted?"* ]]
	fi
}
