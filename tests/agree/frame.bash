# Shared by the bats files of this folder: the command under test, a scratch folder, what to skip on.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HERE="$BATS_TEST_DIRNAME"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

need_perf() {
	command -v perf >/dev/null ||
		skip "perf is not installed: nothing is compared with it; tests/unit and tests/cli have known answers"
	perf record -q -e cpu-clock -o probe.data -- true 2>/dev/null || skip "perf cannot record here"
}

need_recording() {
	"$TALLY" record -q -e cpu-clock -o probe.data -- true 2>/dev/null ||
		skip "events cannot be opened here"
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

need_tracefs() {
	[ -r /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null ||
		skip "tracefs cannot be mounted"
}

# Records of one type in a file, as perf counts them.
perf_stat_of() { # file, type
	perf report --stats -i "$1" 2>/dev/null | awk -v type="$2" '$1 == type && $2 == "events:" {sum += $3} END {print sum + 0}'
}

# perf must read the file without a word on stderr.
perf_reads() { # file
	perf report --stdio -i "$1" >/dev/null 2>perf.err </dev/null
	[ ! -s perf.err ] || { cat perf.err; return 1; }
	perf script -i "$1" >/dev/null 2>perf.err </dev/null
	[ ! -s perf.err ] || { cat perf.err; return 1; }
}

# Every sample has the name of the thread that ran it: no ":1234" made of a number.  -1 is what the
# kernel itself writes of a thread in its last switch, when it has no number any more.
all_named() { # file
	perf script -F comm,tid -i "$1" 2>/dev/null | awk '$1 ~ /^:[0-9]+$/ {print; wrong++} END {exit wrong > 0}'
}

# perf counts a library's PLT from its start though some entries stand elsewhere: its names there are wrong,
# and it has none for .plt.got and .plt.sec.
plain() {
	LC_ALL=C sed -E '/@plt/ s/[^ ]*@plt\b(\+0x[0-9a-f]+)?/@plt/g; s/\[unknown\]/@plt/g'
}

# Without what is drawn between them: where equal shares stand is anyone's choice.
lines_of_report() { # command, options
	"$@" </dev/null 2>/dev/null | grep -v '^#' | tr -d ' |-' | grep . |
		sed -E 's/[A-Za-z_0-9@.]*@plt$/@plt/; s/(\]|%|^)_init$/\1@plt/; s/(\]|%|^)(0x)?0+$/\10/' | sort
}

same_report() { # file, options
	lines_of_report perf report --stdio -i "$@" >perf.txt
	lines_of_report "$TALLY" report --addresses -i "$@" >tally.txt
	[ -s perf.txt ] || { echo "perf shows nothing of $*"; return 1; }
	cmp perf.txt tally.txt || { echo "$*"; diff perf.txt tally.txt | head -20; return 1; }
}
