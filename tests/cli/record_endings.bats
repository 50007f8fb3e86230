#!/usr/bin/env bats
# shellcheck disable=SC2016 # small programs for sh stand in single quotes
bats_require_minimum_version 1.5.0
# tally record: whatever ends it, or comes in between, leaves a recording that can be read.

load rights

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR" LC_ALL=C
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	"$TALLY" record -q -N -e dummy -o probe.data -- true 2>/dev/null || skip "events cannot be opened here"
	rm -f probe.data
}

# A file without damage, with at least so many samples.
whole() {
	run -0 "$TALLY" info -i "$1" --strict
	[ "$("$TALLY" script -i "$1" -F event | grep -c .)" -ge "$2" ]
}

# A program that uses a CPU as long as its parent lives.
while_recorded='while kill -0 $PPID 2>/dev/null; do :; done'

# Waits until a command succeeds.
wait_for() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}

# A file that a checkpoint has made readable.
has_samples() {
	[ -s "$1" ] && [ "$("$TALLY" script -i "$1" -F event 2>/dev/null | grep -c .)" -ge "$2" ]
}

# A recording that is not the old one.
has_begun() { # file, old
	[ -e "$1" ] && ! cmp -s "$1" "$2" && has_samples "$1" 1
}

@test "a target that is killed ends the recording, and the file is whole" {
	sh -c "$while_recorded" &
	local target=$!
	"$TALLY" record -q -N -e cpu-clock -F 499 -o k.data -p "$target" &
	local recorder=$!
	wait_for has_samples k.data 20
	kill -9 "$target"
	wait "$target" || true
	wait "$recorder"
	whole k.data 20
	run -137 "$TALLY" record -N -e cpu-clock -F 499 -o c.data -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; kill -9 $$'
	[[ "$output" == *"ended by a signal: Killed"* ]]
	whole c.data 1
}

cpu_time() { # hundredths of a second that a process ran
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

@test "a recorder that is stopped and continued says what it lost, and goes on" {
	"$TALLY" record -N -e cpu-clock -F 4999 -m 1 -o s.data -- sh -c "$while_recorded" 2>said &
	local recorder=$!
	wait_for has_samples s.data 50
	local command before_stop
	command=$(pgrep -P "$recorder" -x sh)
	kill -STOP "$recorder"
	# until the command has run for so long that the rings of all CPUs are full: 0.7 s, also on a busy machine
	before_stop=$(cpu_time "$command")
	wait_for eval '[ "$(cpu_time "$command")" -ge $((before_stop + 70)) ]'
	local before
	before=$(stat -c %s s.data)
	kill -CONT "$recorder"
	wait_for eval '[ "$(stat -c %s s.data)" -gt $((before + 4000)) ]'
	kill -INT "$recorder"
	wait "$recorder" || true
	run -0 "$TALLY" info -i s.data --strict
	local lost samples
	lost=$(sed -n 's/^tally: [0-9,]* samples in s.data ([^)]*), \([0-9,]*\) lost$/\1/p' said | tr -d ,)
	samples=$(sed -n 's/^tally: \([0-9,]*\) samples in s.data.*/\1/p' said | tr -d ,)
	[ "$lost" -gt 0 ]
	[ "$samples" = "$("$TALLY" script -i s.data -F event | grep -c .)" ]
	# the ring of one CPU is full, which holds 10 ms, then perhaps that of another
	"$TALLY" script -i s.data -F time | tr -d : | awk 'NR > 1 && $1 - last > most { most = $1 - last } { last = $1 } END { print "longest pause: " most " s"; exit most < 0.1 }'
}

@test "an output that is removed while it is written is reported" {
	run -125 "$TALLY" record -N -e cpu-clock -o r.data -- sh -c 'rm r.data; exit 0'
	[[ "$output" == *"r.data: it was removed while it was written"* ]]
	mkdir d
	run -125 "$TALLY" record -N -e cpu-clock -o d/r.data -- sh -c 'rm -r d'
	[[ "$output" == *"d/r.data: it was removed"* ]]
	# another file of that name stays what it is
	run -125 "$TALLY" record -N -e cpu-clock -o r.data -- sh -c 'rm r.data; echo mine >r.data'
	[ "$(cat r.data)" = mine ]
	# one that was only renamed is whole
	"$TALLY" record -q -N -e cpu-clock -F 999 -o m.data -- sh -c 'mv m.data moved.data; i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done'
	whole moved.data 1
}

@test "an old recording is kept until the new one has begun" {
	"$TALLY" record -q -N -e cpu-clock -o o.data -- true
	cp o.data first
	# what fails before it begins leaves it in its place
	for how in "-e no-such-event" "-e cpu-clock -p 99999999" "-e cpu-clock -F 0" "-e cpu-clock -C 9999" \
		"-e cpu-clock --threads=9999/0 -a"; do
		# shellcheck disable=SC2086
		run "$TALLY" record -N $how -o o.data -- true
		[ "$status" != 0 ] || { echo "accepted: $how"; return 1; }
		cmp o.data first
		[ ! -e o.data.old ]
	done
	run -127 "$TALLY" record -N -e cpu-clock -o o.data -- no-such-program-anywhere
	cmp o.data first
	"$TALLY" record -q -N -e cpu-clock -o o.data -- true
	cmp o.data.old first
	cp o.data second
	# one of them is kept
	"$TALLY" record -q -N -e cpu-clock -o o.data -- true
	cmp o.data.old second
	# a recorder that is killed when it has begun has renamed it
	cp o.data third
	"$TALLY" record -q -N -e cpu-clock -o o.data -- sh -c "$while_recorded" &
	local recorder=$!
	# the old one may have samples, too
	wait_for has_begun o.data third
	kill -9 "$recorder"
	wait "$recorder" || true
	cmp o.data.old third
}

@test "a limit of file sizes ends it as a full disk does" {
	run -125 bash -c 'ulimit -f 64; exec "$1" record -N -e cpu-clock -F 9000 -g -o f.data -- sh -c "$2"' - "$TALLY" "$while_recorded"
	[[ "$output" == *"f.data"*"ulimit -f"* || "$output" == *"f.data"*"no room"* ]]
	[ "$("$TALLY" script -i f.data -F event 2>/dev/null | grep -c .)" -gt 10 ]
	[ "$(stat -c %s f.data)" -le 65536 ]
}

@test "a disk that becomes full ends it, with all that fits" {
	[ "$(id -u)" = 0 ] || skip "needs root, to mount a small disk: a limit of file sizes is tested above"
	mkdir small
	mount -t tmpfs -o size=96k none small || skip "tmpfs cannot be mounted: a limit of file sizes is tested above"
	run "$TALLY" record -N -e cpu-clock -F 9000 -g -o small/f.data -- sh -c "$while_recorded"
	cp small/f.data f.data
	umount small
	[ "$status" = 125 ]
	[[ "$output" == *"small/f.data"* ]]
	[ "$("$TALLY" script -i f.data -F event 2>/dev/null | grep -c .)" -gt 10 ]
}

@test "a quota that is used up ends it as a full disk does" {
	command -v cc >/dev/null || skip "no compiler: a disk with a quota cannot be simulated; a full one is tested above"
	# Most test machines cannot mount a disk with quotas: here write calls fail as on one, once a file has 40,000 bytes.
	cat >quota.c <<-'EOF'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <sys/stat.h>
		#include <sys/uio.h>
		static int full(int fd, const struct iovec *iov, int count) {
			struct stat about;
			size_t size = 0;
			for (int i = 0; i < count; i++)
				size += iov[i].iov_len;
			if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size + size <= 40000)
				return 0;
			errno = EDQUOT;
			return 1;
		}
		ssize_t writev(int fd, const struct iovec *iov, int count) {
			ssize_t (*next)(int, const struct iovec *, int) = dlsym(RTLD_NEXT, "writev");
			return full(fd, iov, count) ? -1 : next(fd, iov, count);
		}
		ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t at) {
			ssize_t (*next)(int, const struct iovec *, int, off_t) = dlsym(RTLD_NEXT, "pwritev");
			return full(fd, iov, count) ? -1 : next(fd, iov, count, at);
		}
		ssize_t pwritev64(int fd, const struct iovec *iov, int count, off_t at) { return pwritev(fd, iov, count, at); }
	EOF
	cc -shared -fPIC -o quota.so quota.c -ldl
	run -125 env LD_PRELOAD="$PWD/quota.so" "$TALLY" record -N -e cpu-clock -F 9000 -g -o q.data -- sh -c "$while_recorded"
	[[ "$output" == *"q.data"*"quota"* || "$output" == *"q.data"*"Disk quota"* ]]
	[ "$("$TALLY" script -i q.data -F event 2>/dev/null | grep -c .)" -gt 10 ]
}

@test "a quota of a real file system ends it, too" {
	command -v mkfs.btrfs >/dev/null && command -v btrfs >/dev/null || skip "btrfs-progs is not installed: a quota is simulated above"
	[ "$(id -u)" = 0 ] || skip "needs root, to mount a disk with a quota: one is simulated above"
	truncate -s 128M disk
	mkdir disk.d
	mkfs.btrfs -q disk >/dev/null
	mount -o loop disk disk.d || skip "btrfs cannot be mounted: a quota is simulated above"
	btrfs quota enable disk.d
	btrfs subvolume create disk.d/small
	btrfs qgroup limit 1M disk.d/small
	run "$TALLY" record -N -e cpu-clock -F 9000 -g -o disk.d/small/q.data -- sh -c "$while_recorded"
	cp disk.d/small/q.data q.data
	umount disk.d
	[ "$status" = 125 ]
	[[ "$output" == *"small/q.data: cannot be written"*"the disk quota is used up"* ]]
	# one sentence, one line
	[ "$(grep -o 'cannot be written' <<<"$output" | grep -c .)" = 1 ]
	[ "$("$TALLY" script -i q.data -F event 2>/dev/null | grep -c .)" -gt 10 ]
}

@test "kill -9 at random moments loses no more than what came after the last checkpoint" {
	need_kernel
	"$TALLY" record -q -N -e page-faults:u -c 1 -d -o probe.data -- true 2>/dev/null || skip "page faults cannot be sampled here"
	# a checkpoint each second, and the machine may be busy with other tests; `tests/damage/kill-moments -n 100` does more
	run -0 "$TALLY_SOURCE/tests/damage/kill-moments" -n 6 -j 6 -s 6 "$TALLY"
	[[ "$output" == *"6 files whole to the last checkpoint, 0 not"* ]]
}

@test "16: all rings are read at whole seconds, so what a killed recorder has of each ends at the same time" {
	local cpu busy=()
	for cpu in $(awk '/^processor/ { print $3 }' /proc/cpuinfo); do # an idle CPU may have no sample for long
		timeout 9 taskset -c "$cpu" sh -c 'while :; do :; done' 3>&- 2>/dev/null &
		busy+=($!)
	done
	"$TALLY" record -q -a --threads -k monotonic -e cpu-clock -F 99 -o k.data 2>said &
	local recorder=$!
	sleep 1.5
	python3 -c 'import time; time.sleep(1.9 - time.monotonic() % 1)'
	kill -9 "$recorder" || skip "the whole system cannot be recorded here: $(cat said)"
	wait "$recorder" || true
	kill "${busy[@]}" 2>/dev/null || true
	"$TALLY" script -i k.data -F cpu,time 2>/dev/null | tr -d '[]:' >times
	# The last sample of each CPU comes soon before or after a whole second, if the machine was not too busy to read then.
	awk '{ last[$1] = $2 } END { for (cpu in last) { part = last[cpu] % 1; off += part > 0.4 && part < 0.9; n++ } exit !(n && !off) }' times
}

@test "a command that becomes set-uid runs to its end, and it is said that it is not recorded" {
	[ "$(id -u)" = 0 ] || skip "needs root, to make a set-uid program and to run as another user"
	command -v setpriv >/dev/null || skip "setpriv is not installed: no test runs as another user"
	folder=$(mktemp -d /var/tmp/tally-setuid-XXXXXX)
	cp /bin/sleep "$folder/sleep"
	chmod 4755 "$folder" "$folder/sleep"
	chmod 0777 "$folder"
	cd "$folder"
	run setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs "$TALLY" record -e cpu-clock:u -o any.data -- true
	said=$output code=$status
	run setpriv --reuid nobody --regid nogroup --clear-groups "$TALLY" record -e cpu-clock:u -o setuid.data -- ./sleep 0.8
	stat_said=$(setpriv --reuid nobody --regid nogroup --clear-groups "$TALLY" stat -e task-clock:u -- ./sleep 0 2>&1)
	rm -rf "$folder"
	[ "$code" = 0 ] || skip "events cannot be opened here: $said"
	[[ $stat_said == *"./sleep is a set-uid program"*"counts end where it starts"* ]]
	[ "$status" = 0 ]
	[[ $output == *"./sleep is not recorded any more"*"set-uid"* ]]
}
