#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Debug files that are fetched from a debuginfod server: Debian's, on this machine, for the time of a test.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v cc >/dev/null || return 0
	cat >work.c <<-'EOF'
		static volatile unsigned sink;
		static __attribute__((noinline)) void hidden_leaf(void) { sink++; }
		int main(void) {
			hidden_leaf();
			return 0;
		}
	EOF
	cc -O1 -g -Wl,--build-id=sha1 work.c -o work
	cc -O2 -g -Wl,--build-id=sha1 -Dhidden_leaf=other_leaf work.c -o other
	mkdir served
	for name in work other; do
		nm $name | awk '$3 ~ /_leaf$/ {print $1}' >$name.offset
		objcopy --only-keep-debug $name served/$name.debug 2>/dev/null
		strip $name
	done
	command -v debuginfod >/dev/null || return 0
	for ((i = 0; i < 5; i++)); do
		port=$((20000 + (RANDOM + BASHPID) % 30000))
		env -u DEBUGINFOD_URLS debuginfod -p $port -d "$PWD/index" -F served >server.log 2>&1 3>&- &
		echo $! >server.pid
		for ((k = 0; k < 100; k++)); do
			kill -0 "$(cat server.pid)" 2>/dev/null || break
			if python3 - "$port" "$(id_of other)" "$(id_of work)" 2>/dev/null <<-'EOF'; then
				import sys, urllib.request
				for build in sys.argv[2:]:
				    urllib.request.urlopen("http://127.0.0.1:%s/buildid/%s/debuginfo" % (sys.argv[1], build), timeout=5).read()
			EOF
				echo "http://127.0.0.1:$port" >url
				return 0
			fi
			sleep 0.1
		done
		kill "$(cat server.pid)" 2>/dev/null || true
		rm server.pid
	done
	return 0
}

teardown_file() {
	[ ! -f "$BATS_FILE_TMPDIR/server.pid" ] || kill "$(cat "$BATS_FILE_TMPDIR/server.pid")" || true
}

id_of() {
	readelf -n "$1" | awk '/Build ID/ {print $3}'
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
	export HOME="$BATS_TEST_TMPDIR" XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache" PERF_CONFIG=/dev/null
	[ -s work.offset ] || skip "no compiler: there is no program whose debug file is fetched"
	"$TALLY" version --build-options | grep -q 'debuginfod: \[ on' || skip "built without libdebuginfod: nothing is fetched"
	made
}

served() {
	command -v debuginfod >/dev/null || skip "debuginfod is not installed: nothing is fetched; what a server does wrong is tested"
	[ -s url ] || skip "debuginfod does not start here: $(tail -1 server.log)"
	url=$(cat url)
}

# 301 samples in ./work, 1 in ./other: less than a percent.
made() {
	{
		printf 'comm 77 work\nmap 77 400000 100000 0 %s\nmap 77 700000 100000 0 %s\n' "$PWD/work" "$PWD/other"
		printf 'sample 77 %x\ntimes 300\n' $((0x400000 + 16#$(<work.offset)))
		printf 'sample 77 %x\n' $((0x700000 + 16#$(<other.offset)))
	} | python3 "$BATS_TEST_DIRNAME/recording.py" "$BATS_TEST_TMPDIR/perf.data"
	cd "$BATS_TEST_TMPDIR" || return 1
	id=$(id_of "$BATS_FILE_TMPDIR/work")
	cp "$BATS_FILE_TMPDIR"/url . 2>/dev/null || true
}

@test "15.2: names and lines come from the server that DEBUGINFOD_URLS or --debuginfod names, and only then" {
	served
	"$TALLY" report -s sym >without
	run -1 grep -q hidden_leaf without
	[ ! -e cache/debuginfod_client ]
	DEBUGINFOD_URLS=$url "$TALLY" report -s sym --no-debuginfod >again
	cmp without again
	[ ! -e cache/debuginfod_client ]
	DEBUGINFOD_URLS=$url "$TALLY" report -s sym >with
	grep -q hidden_leaf with
	[ -s "cache/debuginfod_client/$id/debuginfo" ]
	rm -r cache
	"$TALLY" script -F ip,sym,srcline --debuginfod="$url" >lines 2>said
	grep -q 'work.c:2' lines
	[ ! -s said ]
	# Binaries with fewer samples than a percent are not asked for.
	[ ! -e "cache/debuginfod_client/$(id_of "$BATS_FILE_TMPDIR/other")" ]
	# From now on it is here.
	"$TALLY" report -s sym >later
	cmp with later
}

@test "15.2: an archive takes along what was fetched" {
	served
	"$TALLY" archive --debuginfod="$url" -o archive 2>said
	rm -r cache
	"$TALLY" report -s sym -i archive | grep -q hidden_leaf
	"$TALLY" report -s srcline -i archive | grep -q 'work.c:2'
}

@test "19: tally symbolize takes names and lines from the server, and only when it is asked to" {
	served
	"$TALLY" export --to parquet --no-symbols --host h raw perf.data
	cp -r raw plain
	run -0 "$TALLY" symbolize plain
	[ ! -e cache/debuginfod_client ]
	"$TALLY" report -s sym plain | run -1 grep -E 'hidden_leaf|other_leaf'
	rm -rf plain
	cp -r raw named
	run -0 "$TALLY" symbolize --debuginfod="$url" named
	[[ ${lines[0]} =~ ^([0-9]+)\ of\ ([0-9]+)\ frames\ named,\ in\ 1\ of\ 1\ table\ of\ stacks$ ]]
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
	[ -s "cache/debuginfod_client/$id/debuginfo" ]
	"$TALLY" report -s dso,sym named | grep -v '^#' >actual
	"$TALLY" report -s dso,sym --debuginfod="$url" | grep -v '^#' >expected
	grep -q hidden_leaf actual
	# All binaries of tables are asked for; a report asks for those with many samples.
	grep -q other_leaf actual
	grep -v other actual >rest
	grep -v other expected | diff rest -
	# The server's name in the environment does, too.
	rm -r cache
	cp -r raw again
	DEBUGINFOD_URLS=$url "$TALLY" symbolize -q again
	"$TALLY" report -s dso,sym again | grep -v '^#' | diff actual -
}

@test "15.2: a build that no server has is asked for once, and the report is the usual one" {
	served
	printf 'int main(void) { return 0; }' | cc -x c -Wl,--build-id=0x0102030405060708 - -o lone
	strip lone
	printf 'comm 77 lone\nmap 77 400000 100000 0 %s\nsample 77 401040\n' "$PWD/lone" |
		python3 "$BATS_TEST_DIRNAME/recording.py" lone.data
	"$TALLY" report -s dso,sym -i lone.data >without
	for i in 1 2; do
		"$TALLY" report -s dso,sym -i lone.data --debuginfod="$url" >with 2>said
		[ ! -s said ]
		cmp without with
	done
}

@test "15.2: a server that is not there, or says nothing, costs one line and little time" {
	"$TALLY" report -s sym >without
	python3 - <<-'EOF' &
		import os, socket, time
		server = socket.socket()
		server.bind(("127.0.0.1", 0))
		server.listen(8)
		with open("port.new", "w") as file:
		    file.write(str(server.getsockname()[1]))
		os.rename("port.new", "port")
		held = []
		server.settimeout(30)
		while True:
		    held.append(server.accept())
	EOF
	silent=$!
	for ((i = 0; i < 100; i++)); do
		[ ! -s port ] || break
		sleep 0.05
	done
	DEBUGINFOD_TIMEOUT=1 "$TALLY" report -s sym --debuginfod="http://127.0.0.1:$(cat port)" >with 2>said
	kill $silent
	cmp without with
	[ "$(wc -l <said)" = 1 ]
	grep -q '^tally report: fetching debug files from .*: it takes too long; 0 fetched; going on without the rest$' said
	wait $silent || true
	rm -r cache
	"$TALLY" report -s sym --debuginfod="http://127.0.0.1:$(cat port)" >with 2>said
	cmp without with
	[ "$(wc -l <said)" = 1 ]
	grep -q '^tally report: fetching debug files from .*refused' said
	run -2 --separate-stderr "$TALLY" report --debuginfod
	[[ "$stderr" == *"no server is known"* ]]
}

@test "record --debuginfod fetches when the recording is complete, and only when it is asked" {
	served
	printf 'int main(void) { for (volatile int i = 0; i < 100000000; i++); return 0; }' | cc -O1 -x c - -o spin || return 1
	"$TALLY" record -q -N -e cpu-clock -o spin.data -- ./spin 2>/dev/null || skip "events cannot be opened here"
	run -0 env DEBUGINFOD_URLS="$url" "$TALLY" record -q -N -e cpu-clock -o none.data -- "$BATS_FILE_TMPDIR/work"
	[ ! -e cache/debuginfod_client ]
	"$TALLY" record -q -N --debuginfod="$url" -e cpu-clock -o with.data -- ./spin
	[ -d cache/debuginfod_client ]
}
