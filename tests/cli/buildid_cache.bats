#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally buildid-cache, tally buildid-list and --buildid-dir before the command: what is in the cache, and that perf
# finds it there.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home"
	mkdir -p "$HOME"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	command -v cc readelf >/dev/null ||
		skip "no compiler or no readelf: no binary of known build-id is made; tests/unit/image fills and reads the cache"
	cache="$BATS_TEST_TMPDIR/cache"
	build 0
}

build() { # exit status, another build for each
	echo "int main(void) { return $1; }" | cc -Wl,--build-id=sha1 -x c - -o prog
	id=$(readelf -n prog | awk '/Build ID/ {print $3}')
}

here() {
	realpath prog
}

of_cache() {
	"$TALLY" --buildid-dir "$cache" buildid-cache "$@"
}

@test "13.S: buildid-cache adds a binary where perf finds it, and lists it as perf does" {
	of_cache -a prog
	cmp prog "$cache/.build-id/${id:0:2}/${id:2}/elf"
	[ "$(of_cache -l)" = "$id $(here)" ]
	if command -v perf >/dev/null; then
		[ "$(perf --buildid-dir "$cache" buildid-cache -l)" = "$id $(here)" ]
	fi
	# Once more changes nothing.
	run -0 of_cache -v -a prog
	[ "$output" = "tally buildid-cache: prog: was there" ]
	[ "$(of_cache -l | wc -l)" = 1 ]
}

@test "13.S: buildid-cache removes this build with -r, all of the path with -p, everything with -P" {
	of_cache -a prog
	old=$id
	build 7
	of_cache -a prog
	[ "$(of_cache -l | wc -l)" = 2 ]
	of_cache -r prog
	[ "$(of_cache -l)" = "$old $(here)" ]
	[ ! -e "$cache$(here)/$id" ]
	of_cache -r prog # there is none: no error
	of_cache -a prog
	path=$(here)
	rm prog
	of_cache -p "$path"
	[ -z "$(of_cache -l)" ]
	build 1
	of_cache -a prog
	build 2
	cp prog other
	of_cache -a other
	[ -n "$(of_cache -l)" ]
	of_cache -P
	[ -z "$(of_cache -l)" ]
	[ -z "$(find "$cache" -name elf)" ]
}

@test "13.S: buildid-cache -u replaces a copy, and takes away what perf keeps beside it" {
	of_cache -a prog
	folder="$cache$(here)/$id"
	: >"$folder/probes"
	chmod u+w "$folder/elf"
	echo damaged >"$folder/elf"
	of_cache -u prog
	cmp prog "$folder/elf"
	[ ! -e "$folder/probes" ]
}

@test "13.S: buildid-cache removes nothing outside the cache, wherever a link leads" {
	of_cache -a prog
	mkdir -p out/"$id" && : >out/"$id"/elf
	link="$cache/.build-id/${id:0:2}/${id:2}"
	for to in "../../../out/$id" "$PWD/out/$id" "../../x/../../out/$id"; do
		ln -sfn "$to" "$link"
		of_cache -P || true
		[ -e out/"$id"/elf ]
	done
	# A folder on the way that is a link.
	rm -rf "$cache"
	of_cache -a prog
	mv "$cache$(here)" moved
	ln -s "$PWD/out" "$cache$(here)"
	run -1 of_cache -P
	[ -e out/"$id"/elf ]
}

@test "13.S: buildid-cache -M lists the build-ids of a recording that have no copy" {
	"$TALLY" record -q -N -e cpu-clock -o a.data ./prog || skip "events cannot be opened here"
	of_cache -M a.data >missing
	grep -qx "$id $(here)" missing
	of_cache -a prog -M a.data >missing
	[ -s missing ]
	run ! grep -q "$id" missing
}

@test "13.S: --buildid-dir before record and report is their cache, and their own option comes first" {
	"$TALLY" --buildid-dir "$cache" record -q --buildid-all -e cpu-clock -o a.data ./prog ||
		skip "events cannot be opened here"
	cmp prog "$cache/.build-id/${id:0:2}/${id:2}/elf"
	[ ! -e "$HOME/.debug" ]
	"$TALLY" --buildid-dir="$cache" record -q --buildid-all --buildid-dir "$PWD/own" -e cpu-clock -o a.data ./prog
	cmp prog "own/.build-id/${id:0:2}/${id:2}/elf"
	# So does the configuration file when neither is given.
	printf '[buildid]\ndir = %s\n' "$PWD/configured" >config
	PERF_CONFIG=$PWD/config "$TALLY" buildid-cache -a prog
	[ -e "configured/.build-id/${id:0:2}/${id:2}/elf" ]
	run "$TALLY" --buildid-dir
	[ "$status" = 2 ]
	[ "$output" = "tally: --buildid-dir: a folder is expected" ]
}

@test "13.S: buildid-cache says what is wrong: no file, no build-id, nothing to do, -k" {
	run of_cache -a none
	[ "$status" = 1 ]
	[[ "$output" = "tally buildid-cache: none: No such file or directory" ]]
	echo 'int main(void) { return 0; }' | cc -Wl,--build-id=none -x c - -o plain
	run of_cache -a plain,prog
	[ "$status" = 1 ]
	[[ "$output" = "tally buildid-cache: plain: no build-id"* ]]
	[ "$(of_cache -l)" = "$id $(here)" ]
	run of_cache
	[ "$status" = 2 ]
	[[ "$output" = *"nothing to do: -l lists, -a adds"* ]]
	run of_cache prog
	[ "$status" = 2 ]
	run of_cache -k /proc/kcore
	[ "$status" = 2 ]
	[[ "$output" = *"the cache does not keep kernel code"* ]]
}

@test "13.S: buildid-list has the table of a recording, a binary's own id, and the kernel's" {
	[ "$("$TALLY" buildid-list prog)" = "$id" ]
	[ "$("$TALLY" buildid-list -i prog)" = "$id" ]
	run "$TALLY" buildid-list -i none
	[ "$status" = 1 ]
	if command -v perf >/dev/null && [ -r /sys/kernel/notes ]; then
		[ "$("$TALLY" buildid-list -k)" = "$(perf buildid-list -k)" ]
		# Only root is shown the kernel's addresses everywhere.
		[ "$(id -u)" != 0 ] || [ "$("$TALLY" buildid-list -m | grep -F '[kernel.kallsyms]')" = "$(perf buildid-list -m | grep -F '[kernel.kallsyms]')" ]
	fi
	"$TALLY" record -q -N -e cpu-clock -o a.data ./prog || skip "events cannot be opened here"
	"$TALLY" buildid-list -i a.data | grep -qx "$id $(here)"
	if command -v perf >/dev/null; then
		cmp <("$TALLY" buildid-list -i a.data | sort) <(perf buildid-list -i a.data | sort)
		cmp <("$TALLY" buildid-list -H -i a.data | sort) <(perf buildid-list -H -i a.data | sort)
	fi
}

@test "buildid-list -H: a sample in the kernel is a hit only where the recording maps the kernel" {
	local id=00112233445566778899aabbccddeeff00112233
	for kernel in '' 'kernel ffffffff81000000 1000000'; do
		printf '%s\n' "build-id $id [kernel.kallsyms]" "$kernel" 'comm 7 a' 'sample 7 ffffffff81000010' | grep . |
			python3 "$BATS_TEST_DIRNAME/recording.py" hit.data
		run -0 "$TALLY" buildid-list -H -i hit.data
		[ "$output" = "${kernel:+$id [kernel.kallsyms]}" ]
	done
}

@test "buildid-list names binaries with samples and memory of compilers also where the recording has no build-ids" {
	python3 - <<-'END'
		import struct
		attr = struct.pack("<IIQQQQQ", 1, 64, 0, 1000, 1 | 2, 0, 0) + bytes(16)
		def record(kind, misc, body):
		    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
		def mmap(pid, start, name):
		    name = name.encode() + b"\0"
		    return record(1, 2, struct.pack("<IIQQQ", pid, pid, start, 0x1000, 0) + name + bytes(-len(name) % 8))
		data = mmap(7, 0x1000, "/bin/one") + mmap(7, 0x3000, "/bin/two") + mmap(7, 0x5000, "//anon") + mmap(8, 0x5000, "//anon")
		for ip in (0x1010, 0x5010, 0x1020):
		    data += record(9, 2, struct.pack("<QII", ip, 7, 7))
		head = struct.pack("<8s12Q", b"PERFILE2", 104, 80, 104, 80, 184, len(data), *[0] * 6)
		open("plain.data", "wb").write(head + attr + struct.pack("<QQ", 0, 0) + data)
	END
	run -0 "$TALLY" buildid-list -i plain.data
	[ "$output" = "$(printf '%41s/bin/one\n%41s/tmp/perf-7.map')" ]
	if command -v perf >/dev/null; then
		[ "$output" = "$(perf buildid-list -i plain.data)" ]
	fi
}

@test "13.S: version --build-options has a line for each library, in perf's form" {
	"$TALLY" version --build-options >all
	[ "$(sed -n 1p all)" = "$("$TALLY" version)" ]
	grep -qE '^ +zstd: \[ (on |OFF) \]  # HAVE_ZSTD_SUPPORT$' all
	grep -qE '^ +libbfd: \[ OFF \]  # HAVE_LIBBFD_SUPPORT$' all
	run ! grep -qvE '^tally |^ +[a-z0-9-]+: \[ (on |OFF) \]  # HAVE_[A-Z0-9_]+$' all
	# zstd is on when a recording can be compressed.
	if grep -q 'zstd: \[ on ' all; then
		"$TALLY" record -q -z -N -e cpu-clock -o z.data ./prog || skip "events cannot be opened here"
	fi
	run "$TALLY" version --nothing
	[ "$status" = 2 ]
}
