#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally script --sql: the database holds what perf script prints of the same recording.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >work.c <<'END'
volatile unsigned long sink;
__attribute__((noinline)) void inner(unsigned long n) { while (n--) sink += n; }
__attribute__((noinline)) void outer(unsigned long n) { inner(n); sink++; }
int main(void)
{
	for (int i = 0; i < 30; i++)
		outer(4000000);
	return 0;
}
END
	gcc -O0 -g -o work work.c || return 0
	perf record -q -g -e cpu-clock:u -F 2000 -o chains.data -- ./work 2>/dev/null || true
	perf record -q -e 'task-clock/period=50000/u,page-faults/period=1/u' -d -o two.data -- ./work 2>/dev/null || true
	"$TALLY" script -i chains.data --sql chains.db 2>/dev/null || true
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	command -v sqlite3 >/dev/null ||
		skip "sqlite3 is not installed: no database is queried; tests/agree/unwind.bats needs it, too"
	[ -s chains.data ] && [ -s two.data ] || skip "perf cannot record here"
	"$TALLY" script -i chains.data --sql probe.db 2>said || ! grep -q 'without SQLite' said ||
		skip "built without SQLite"
	rm -f probe.db
}

ask() { # database, query
	sqlite3 -separator ' ' "$1" "$2"
}

@test "counts and sums of periods by event are those of perf script" {
	for name in chains two; do
		"$TALLY" script -i $name.data --sql $name-sums.db
		perf script -i $name.data -F event,period 2>/dev/null |
			awk 'NF {n[$2]++; sum[$2] += $1} END {for (e in n) printf "%s %d %d\n", e, n[e], sum[e]}' |
			sed 's/: / /' | sort >theirs
		ask $name-sums.db "SELECT events.name, count(*), sum(period) FROM samples
			JOIN events ON events.id = event GROUP BY event" | sort >ours
		[ -s ours ]
		diff theirs ours
	done
}

@test "samples come in the order of perf script, with its names" {
	perf script -i chains.data -G -F tid,ip,sym 2>/dev/null | awk '{print $1, $2, $3}' >theirs
	ask chains.db "SELECT tid, printf('%x', ip), coalesce(symbol, '[unknown]') FROM listing
		ORDER BY id" >ours
	[ -s ours ]
	diff theirs ours
}

@test "call chains are those of perf script" {
	perf script -i chains.data -F ip,sym 2>/dev/null | awk '
		NF {text = text $1 " " $2 ";"}
		!NF && text != "" {print text; text = ""}
		END {if (text != "") print text}' >theirs
	ask chains.db "SELECT (SELECT group_concat(printf('%x %s;', place,
		coalesce(symbol, '[unknown]')), '') FROM (SELECT * FROM stacks
		WHERE stacks.callchain = samples.callchain ORDER BY position))
		FROM samples ORDER BY id LIMIT 40" >ours
	[ -s ours ]
	head -n 40 theirs | diff - ours
}

@test "the view functions puts the hot function first" {
	[ "$(ask chains.db 'SELECT symbol FROM functions ORDER BY period DESC LIMIT 1')" = inner ]
	[ "$(ask chains.db 'SELECT round(sum(percent)) FROM functions')" = 100.0 ]
}

@test "other records are there, with JSON that SQLite reads" {
	"$TALLY" script -i chains.data --show-task-events 2>/dev/null | grep -c PERF_RECORD_COMM >theirs
	ask chains.db "SELECT count(*) FROM records WHERE type = 'COMM'" >ours
	diff theirs ours
	[ "$(ask chains.db "SELECT count(*) FROM records WHERE NOT json_valid(detail)")" = 0 ]
	[ "$(ask chains.db "SELECT count(*) > 0 FROM records WHERE type = 'MMAP2' AND
		json_extract(detail, '\$.fields.filename') LIKE '%/work'")" = 1 ]
}

@test "the database is whole: version, references, integrity" {
	[ "$(ask chains.db "SELECT value FROM meta WHERE key = 'schema_version'")" = 1 ]
	[ "$(ask chains.db 'PRAGMA integrity_check')" = ok ]
	[ -z "$(ask chains.db 'PRAGMA foreign_key_check')" ]
	[ "$(ask chains.db "SELECT value = (SELECT count(*) FROM samples) FROM meta
		WHERE key = 'samples'")" = 1 ]
	[ -z "$(compgen -G "chains.db.*")" ]
}

@test "data addresses lead somewhere" {
	perf record -q -e page-faults:u -c 1 -d -o faults.data -- ./work 2>/dev/null || skip "no faults here"
	"$TALLY" script -i faults.data --sql faults.db
	[ "$(ask faults.db 'SELECT count(*) > 0 FROM samples WHERE addr IS NOT NULL')" = 1 ]
	# Where perf says that data addresses lead; what it knows no binary of is [unknown].
	perf script -i faults.data -F addr,sym,dso 2>/dev/null | grep -o '^ *[0-9a-f]*' | tr -d ' ' >theirs
	ask faults.db "SELECT printf('%x', addr) FROM samples ORDER BY id" >ours
	diff theirs ours
	[ "$(ask faults.db "SELECT count(*) > 0 FROM samples JOIN places ON places.frame = addr_frame
		WHERE path LIKE '%/work'")" = 1 ]
}

@test "a file that is there is kept, and replaced with --force" {
	echo mine >there.db
	run --separate-stderr "$TALLY" script -i chains.data --sql there.db
	[ "$status" = 1 ]
	[ -z "$output" ]
	[[ "$stderr" == *"there.db"*"--force"* ]]
	[ "$(cat there.db)" = mine ]
	"$TALLY" script -i chains.data --sql there.db --force
	[ "$(ask there.db 'SELECT count(*) > 0 FROM samples')" = 1 ]
	[ -z "$(compgen -G "there.db.*")" ]
}

@test "what cannot be written is said, and nothing is left" {
	run --separate-stderr "$TALLY" script -i chains.data --sql no/such/folder.db
	[ "$status" = 1 ]
	[ "${#stderr_lines[@]}" = 1 ]
	run --separate-stderr "$TALLY" script -i work.c --sql none.db
	[ "$status" = 1 ]
	[ ! -e none.db ]
	[ -z "$(compgen -G "none.db.*")" ]
}

@test "Ctrl-C ends it, and nothing of the database is left" {
	# The signal waits from the start, blocked: no race with the work.
	run perl -MPOSIX=:signal_h -e '
		sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGINT));
		kill INT => $$; exec @ARGV' "$TALLY" script -i chains.data --sql ended.db
	[ "$status" = 1 ]
	[[ "$output" == *interrupted* ]]
	[ ! -e ended.db ]
	[ -z "$(compgen -G "ended.db.*")" ]
}

@test "13: a database is a file: a device or a pipe is refused, and stays" {
	mkfifo pipe
	run -1 --separate-stderr "$TALLY" script -i chains.data --sql pipe --force
	[ "$stderr" = "tally script: pipe is not a regular file, which is needed here; name another file" ]
	[ -p pipe ]
}
