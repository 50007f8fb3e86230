# Completion of tally(1) for bash.  Asks tally itself what there is, so it is never out of date: what an option's
# value is called (EVENT, PIDS, KEYS, HOW) says what it may be.

# The value of the option that the word belongs to, as --list-options calls it; empty: it takes none.
_tally_value() { # tally, command, option
	"$1" "$2" --list-options 2>/dev/null |
		awk -F '\t' -v option="$3" '$3 != "-" && (option == "-" $1 || option == "--" $2) {sub(/\?$/, "", $3); print $3; exit}'
}

# Words for such a value; status 1: it is a file or anything else.
_tally_words() { # tally, command, value
	case $2:$3 in
	*:EVENT | *:EVENTS) "$1" list --names 2>/dev/null ;;
	*:PID | *:PIDS | *:TID | *:TIDS) (cd /proc && printf '%s\n' [0-9]*) ;;
	report:HOW) printf '%s\n' none graph caller callee ;;
	*:NAME | *:NAMES) ;;
	*) "$1" "$2" --list-words "$3" 2>/dev/null | awk -F '\t' '{print $1; words++} END {exit !words}' ;;
	esac
}

_tally() {
	local word=${COMP_WORDS[COMP_CWORD]} before at=$COMP_CWORD
	local tally=${COMP_WORDS[0]} command='' i value words list='' colon

	COMPREPLY=()
	# The shell parts words at ':' and '=': sched:sched_switch is one, --sort=comm an option and its value.
	while ((at > 1)) && [[ ${COMP_WORDS[at]} == : || ${COMP_WORDS[at - 1]} == : ]]; do
		((at--))
		word=${COMP_WORDS[at]}$word
	done
	before=${COMP_WORDS[at - 1]}
	if [[ $word == = ]]; then
		word=''
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[at - 2]}
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == --buildid-dir ]]; then
			((i++))
		elif [[ ${COMP_WORDS[i]} != -* ]]; then
			command=${COMP_WORDS[i]}
			break
		fi
	done
	if [[ $before == --buildid-dir ]]; then
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		return
	fi
	if [[ -z $command || $before == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tally" --list-cmds 2>/dev/null | cut -f 1)
			--help --version --no-pager --buildid-dir" -- "$word")
		return
	fi
	if [[ $before == -* ]]; then
		value=$(_tally_value "$tally" "$command" "$before")
		if [[ -n $value ]] && words=$(_tally_words "$tally" "$command" "$value"); then
			# Behind a comma the next one of a list.
			[[ $word == *,* ]] && list=${word%,*},
			mapfile -t COMPREPLY < <(awk -v list="$list" -v begin="$word" \
				'index(list $0, begin) == 1 {print list $0}' <<<"$words")
			[[ -z $words ]] && COMPREPLY=()
			colon=${word%"${word##*:}"} # what stands before the part that is completed
			[[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"$colon"}")
			return
		fi
	fi
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tally" "$command" --list-options 2>/dev/null |
			awk -F '\t' '$1 != "-" {print "-" $1} $2 != "-" {print "--" $2}')" -- "$word")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -f -- "$word")
	compopt -o filenames 2>/dev/null || :
}
complete -F _tally tally
