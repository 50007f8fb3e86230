#!/usr/bin/env bats
# What tally says of a recording's header is what perf says, on recordings by others.  TALLY_CORPUS names a
# folder with files/; without it this is skipped.

load frame

# The same output of perf and of tally for a file that perf reads; except for streams, of which perf prints less.
each_file() { # perf's words -- tally's words
	local theirs=() file name wrong=0
	while [ "$1" != -- ]; do
		theirs+=("$1")
		shift
	done
	shift
	[ -d "${TALLY_CORPUS:-}/files" ] || skip "TALLY_CORPUS is not set"
	command -v perf >/dev/null ||
		skip "perf is not installed: nothing is compared with it; tests/unit/info has known texts"
	for file in "$TALLY_CORPUS"/files/*; do
		name=$(basename "$file")
		[ "$(od -An -tu8 -j8 -N8 "$file" | tr -d ' ')" != 16 ] || continue
		case "$name ${theirs[*]}" in
		# perf stops at a section that it cannot read; see doc/COMPATIBILITY.md
		*armv7*--header-only* | *ro_sample*-I*) continue ;;
		esac
		perf "${theirs[@]}" -i "$file" >theirs 2>/dev/null </dev/null || continue
		# With PERF_CONFIG set perf ends well of a file that it does not read.
		[ -s theirs ] || continue
		"$TALLY" "$@" -i "$file" >ours 2>/dev/null
		cmp theirs ours || { echo "$name"; wrong=1; }
	done
	[ "$wrong" = 0 ]
}

@test "the header" {
	each_file script --header-only -- info --header
}

@test "the header with topology, caches and memory" {
	each_file script --header-only -I -- info --header -I
}

@test "the events" {
	each_file evlist -- evlist
}

@test "the events and all of their attrs" {
	each_file evlist -v -- evlist -v
}

@test "the events and their rates" {
	each_file evlist -F -- evlist -F
}

@test "the events by groups" {
	each_file evlist -g -- evlist -g
}

@test "the events and the fields of tracepoints" {
	each_file evlist --trace-fields -- evlist --trace-fields
}

@test "the header of a directory" {
	need_perf
	perf record -q -a --threads -e cpu-clock -o dir.data -- true 2>/dev/null || skip "perf has no --threads"
	for full in "" -I; do
		# shellcheck disable=SC2086 # none is none
		perf script --header-only $full -i dir.data >theirs 2>/dev/null </dev/null
		# shellcheck disable=SC2086
		"$TALLY" info --header $full -i dir.data >ours
		cmp theirs ours
	done
}
