#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The tables of options that exclude or need each other: each row is tried as a person would type it.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

typed() { # COMMAND NAME: what to type for it, with a value that is valid
	local value letter=- name=-
	case $2 in
	COMMAND) echo true && return ;;
	--?*) name=${2#--} ;;
	-?) letter=${2#-} ;;
	*) echo "$2" && return ;;
	esac
	[ -e "$1.options" ] || "$TALLY" "$1" --list-options >"$1.options"
	value=$(awk -F '\t' -v l="$letter" -v n="$name" \
		'(l != "-" && $1 == l) || (n != "-" && $2 == n) {print $3; found = 1} END {if (!found) print "missing"}' \
		"$1.options")
	case $value in
	missing) echo "no-option-$2" ;;
	- | *\?) echo "$2" ;;
	N | MS | FD | PID* | TID* | CPU* | HZ | PERCENT | LIST | FRAMES | BYTES) echo "$2 7" ;;
	FIELDS) echo "$2 comm" ;;
	METRIC) echo "$2 IPC" ;;
	STYLE) echo "$2 raw" ;;
	WHEN) echo "$2 auto" ;;
	KIND) echo "$2 core" ;;
	KINDS) echo "$2 any" ;;
	*) echo "$2 text" ;;
	esac
}

refused() { # COMMAND WHY WORD...
	local command=$1 why=$2
	shift 2
	# shellcheck disable=SC2068,SC2086  # words with their values
	run -2 "$TALLY" $command $@ </dev/null
	[[ "$output" == *"$why"* ]] || {
		echo "tally $command $*: $output"
		return 1
	}
}

each_rule() { # COMMAND
	local relation options others also why one other rows=0
	while IFS=$'\t' read -r relation options others also why; do
		rows=$((rows + 1))
		# a kind of core is looked up where it is parsed
		[[ "$options" != --cputype || -e /sys/bus/event_source/devices/cpu_core ]] || continue
		local names=(${options//,/ }) against=(${others//,/ }) with=()
		[ "$also" = - ] || with=("$(typed "$1" "${also%%,*}")")
		case $relation in
		one-of)
			for one in "${names[@]:1}"; do
				refused "$1" "exclude each other: $why; " "$(typed "$1" "$one")" "$(typed "$1" "${names[0]}")" || return 1
			done
			;;
		excludes)
			for one in "${names[@]}"; do
				for other in "${against[@]}"; do
					refused "$1" "exclude each other: " "$(typed "$1" "$one")" "$(typed "$1" "$other")" || return 1
				done
			done
			;;
		needs)
			for one in "${names[@]}"; do
				refused "$1" " needs " "$(typed "$1" "$one")" "${with[@]}" || return 1
			done
			;;
		*) return 1 ;;
		esac
	done < <("$TALLY" "$1" --list-rules)
	[ "$rows" -gt 0 ]
}

@test "14.3: each rule between options of stat is kept, with its reason" {
	each_rule stat
}

@test "14.3: each rule between options of record and probe is kept, with its reason" {
	each_rule record
	each_rule probe
}

@test "14.3: each rule between options of report, info, evlist and list is kept, with its reason" {
	each_rule report
	each_rule info
	each_rule evlist
	each_rule list
}

@test "14.3: each rule between options of script is kept, with its reason" {
	each_rule script
}

@test "14.3: an option that was taken back breaks no rule, and of several that say the same the last one counts" {
	run "$TALLY" evlist -g -v --no-verbose -i nothing
	[[ "$output" != *exclude* ]]
	[ "$status" = 1 ]
	"$TALLY" stat -e task-clock --per-core --no-per-core true
	run -2 "$TALLY" stat -e task-clock --per-thread -A true
	[[ "$output" == *"-a or -C"* ]]
	[[ "$output" != *"--per-thread"* ]]
}

@test "a word that is like a valid one is named, in each list of words; an empty value is refused" {
	local line
	while IFS='|' read -r line expected; do
		# shellcheck disable=SC2086 # words
		run -2 "$TALLY" $line </dev/null
		if [[ "$output" != *"did you mean $expected?"* ]]; then
			echo "$line: $output"
			return 1
		fi
	done <<-END
		record --call-graph dwraf true|dwarf
		record --synth tsk true|task
		record --affinity nod true|node
		top --call-graph dwrf|dwarf
		report -g calle|caller
		report --percentage relativ|relative
		report --stdio-color alwys|always
		report -s comn --no-tui|comm
		export --to folde|folded
		diff -c delt a b|delta
		annotate -M itel|intel
	END
	while read -r line; do
		# shellcheck disable=SC2086 # words
		run -2 "$TALLY" $line </dev/null
		[[ "$output" = *"the value is empty"* ]]
	done <<-END
		record --synth= true
		record --stacks-output= true
		report --buildid-dir=
		annotate --symfs=
	END
	run -2 "$TALLY" report --debuginfod=bogus
	[[ "$output" = *"'bogus' is not a server"* ]]
}
