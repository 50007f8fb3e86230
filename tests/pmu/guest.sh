# Runs in the guest, under busybox's sh, with $cost, the cycles that an instruction takes, and $cpus: the command and
# the library on a processor that counts exactly.  Prints TAP.
number=0
failed=0

# is NAME FOUND WANTED
is() {
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $number - $1"
	else
		failed=1
		echo "not ok $number - $1"
		echo "# found '$2', wanted '$3'"
	fi
}

# between NAME FOUND LOW HIGH
between() {
	if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] 2>/dev/null; then
		is "$1" in in
	else
		is "$1" "$2" "$3..$4"
	fi
}

samples() {
	/tally script -i "$1" -F event | grep -c "$2"
}

as_nobody() {
	su nobody -s /bin/sh -c "$1" 2>&1
}

echo 2 >/proc/sys/kernel/perf_event_paranoid
[ -e /proc/sys/kernel/perf_user_access ] && echo 1 >/proc/sys/kernel/perf_user_access
if [ "$cost" = 1 ]; then # what they assert does not depend on it
	echo "# every kind of event, target, control and notice, with $cpus CPUs"
	mount -t cgroup2 cgroup /sys/fs/cgroup
	echo +pids >/sys/fs/cgroup/cgroup.subtree_control # before that children lack implicit controllers, too
	for name in kinds targets notices lives; do
		"/pmu-$name" || failed=1
	done
fi
if [ "$cpus" -gt 1 ]; then
	echo "# tally stat by CPU"
	/tally stat -a -A -x, -o /tmp/stat -e instructions:u taskset 2 /pmu-work 10000000
	is "each CPU has its row" "$(cut -d, -f1 /tmp/stat | grep CPU | tr '\n' ' ')" "CPU0 CPU1 "
	between "the work is where it ran" "$(grep CPU1, /tmp/stat | cut -d, -f2)" 20000000 21000000
	between "and not elsewhere" "$(grep CPU0, /tmp/stat | cut -d, -f2)" 0 1000000
	[ "$failed" = 0 ]
	exit
fi
echo "# counters of the library"
/pmu-counts "$cost" || failed=1

echo "# tally record, an instruction takes $cost cycles"
# Ten million rounds are 20 million instructions; the program's start and end are some thousands more.
/tally record -q -e cycles:u -c $((10000 * cost)) -o /tmp/period /pmu-work 10000000
between "a sample each 10,000 instructions" "$(samples /tmp/period cycles)" 2000 2006
is "nearly all of them in the loop" "$(/tally report -i /tmp/period --no-children -g none | grep -c '9[89]\.[0-9]*%.* loop$')" 1
/tally record -q -e cycles:u -F 1000 -o /tmp/frequency /pmu-work $((200000000 / cost))
between "a thousand samples a second of 0.4 s" "$(samples /tmp/frequency cycles)" 380 440
/tally record -q -e '{cycles:u,instructions:u}:S' -c $((100000 * cost)) -o /tmp/group /pmu-work 10000000
between "the leader of a group that is read is sampled" "$(samples /tmp/group cycles)" 200 204
is "both events have a line a sample" "$(samples /tmp/group instructions)" "$(samples /tmp/group cycles)"
# The values that were read are those since the last sample: as many instructions as cycles by the cost.
is "instructions between samples are cycles by the cost" \
	"$(/tally script -i /tmp/group -F event,period | sed -n '20,180s/ *\([0-9]*\) .*/\1/p' | sort -n | sed -n '1p;$p' | tr '\n' ' ')" \
	"$([ "$cost" = 1 ] && echo "100000 100000 " || echo "100000 $((100000 * cost)) ")"
/tally record -q -a -e cycles -c $((1000000 * cost)) -o /tmp/all /pmu-work 10000000
between "of all CPUs, the user and the kernel" "$(samples /tmp/all cycles)" 20 60

if [ "$cost" = 1 ]; then
	echo "# call chains, unwound while recording, and those that the program keeps itself"
	echo 1 >/proc/sys/kernel/perf_event_paranoid # its copies have the kernel's part, too
	for build in O0 O2 signed; do
		/tally record -q -N -e cycles:u -c 100003 -g -o /tmp/chains --stacks-output /tmp/copies -- "/truth-$build" 0.25 >/dev/null
		/pmu-truth /tmp/chains /tmp/copies "/truth-$build.symbols" >/tmp/truth
		code=$?
		between "$build: chains are compared" "$(sed -n '1s/ chains.*//p' /tmp/truth)" 1000 10000
		# glibc's own functions that exchange registers keep what called them where their call frame information does not say
		is "$build: each chain is the true one, or in these functions" "$code $(grep unexplained /tmp/truth)" "0 "
		between "$build: few are in these functions" "$(grep -c 'context+' /tmp/truth)" 0 15
	done
	echo 2 >/proc/sys/kernel/perf_event_paranoid
fi

echo "# tally stat"
/tally stat -x, -o /tmp/stat -e instructions:u,cycles:u,instructions:k /pmu-work 10000000
between "instructions of the user" "$(grep instructions:u /tmp/stat | cut -d, -f1)" 20000000 20100000
per_cycle=$(grep instructions:u /tmp/stat | cut -d, -f6)
is "instructions a cycle" "$per_cycle" "$([ "$cost" = 1 ] && echo 1.00 || echo 0.12)"
between "the kernel's own are apart" "$(grep instructions:k /tmp/stat | cut -d, -f1)" 10000 5000000
/tally stat -x, -o /tmp/stat -e cycles:u -a sleep 0.1
is "all CPUs are counted" "$(cut -d, -f3 /tmp/stat | tail -n 1)" cycles:u
/tally stat -o /tmp/stat -e instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,instructions:u /pmu-work 100000000
is "scaled counts show their share" "$(grep -c 'instructions:u.*%)' /tmp/stat)" 8
/tally stat --json -o /tmp/stat -e instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,instructions:u /pmu-work 100000000
is "and in JSON" "$(grep -o '"quality":"scaled"' /tmp/stat | wc -l)" 8

echo "# an ordinary user"
case $(as_nobody '/tally record -o /tmp/none -e cycles:u /pmu-work 1000') in
*"kernel.perf_event_paranoid is 2"*) is "level 2 lets a user's own space be sampled" refused taken ;;
*) is "level 2 lets a user's own space be sampled" taken taken ;;
esac
echo 3 >/proc/sys/kernel/perf_event_paranoid
case $(as_nobody '/tally record -o /tmp/none -e cycles:u /pmu-work 1000') in
*"kernel.perf_event_paranoid is 3"*"refuses all events"*CAP_PERFMON*) is "level 3 refuses all, and is named" named named ;;
*) is "level 3 refuses all, and is named" not named ;;
esac
is "doctor: level 3 blocks" "$(as_nobody '/tally doctor --json' | grep -c '"id":"paranoid","group":"rights","state":"blocked"')" 1
echo 2 >/proc/sys/kernel/perf_event_paranoid
is "doctor: counters are there, six at once" \
	"$(/tally doctor --json | grep -o '"id":"counters"[^}]*"found":"[0-9]*' | grep -o '[0-9]*$')" 6
[ "$failed" = 0 ]
