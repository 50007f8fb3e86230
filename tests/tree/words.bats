#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The list of words to avoid in doc/STYLE.md, as tools/check-words reads it.

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p tools doc cli
	cp "${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}/tools/check-words" tools
	cp "${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}/doc/STYLE.md" doc
}

@test "14.6: a word of the list is found in text, in parts of names, across lines and in names of files" {
	printf '/* This tells\n * what has\n * not been. */\nint told_so;\n' >cli/a.c
	: >cli/crew_size.h
	run -1 tools/check-words --all cli
	[[ "$output" == *"cli/a.c:1: 'tells' is on the list"* ]]
	[[ "$output" == *"cli/a.c:2: 'has not' is on the list"* ]]
	[[ "$output" == *"cli/a.c:4: 'told' is on the list"* ]]
	[[ "$output" == *"cli/crew_size.h:1: the file's name has 'crew'"* ]]
	[ "${#lines[@]}" = 4 ]
}

@test "14.6: parts of longer words are not found, and words for names only are free in text" {
	printf '/* Untold; near the end; ftell(). */\nconst char *nearest = "near";\n' >cli/a.c
	run -0 tools/check-words --all cli
	[ "$output" = "" ]
	printf 'int near;\nint near_enough(void);\n' >>cli/a.c
	run -1 tools/check-words --all cli
	[[ "${lines[0]}" == "cli/a.c:3: 'near' "* ]]
	[[ "${lines[1]}" == "cli/a.c:4: 'near' "* ]]
}

@test "14.6: the list itself may have its words, what stands around it may not" {
	run -0 tools/check-words --all doc
	echo 'It has not.' >>doc/STYLE.md
	run -1 tools/check-words --all doc
	[ "${#lines[@]}" = 1 ]
}
