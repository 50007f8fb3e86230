# Completion of tally(1) for bash.  Asks tally itself what there is, so it is never out of date.

_tally() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local tally=${COMP_WORDS[0]} command= i

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} != -* ]]; then
			command=${COMP_WORDS[i]}
			break
		fi
	done
	if [[ -z $command || $before == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tally" --list-cmds 2>/dev/null | cut -f 1)
			--help --version --no-pager" -- "$word")
		return
	fi
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tally" "$command" --list-options 2>/dev/null |
			awk -F '\t' '$1 != "-" {print "-" $1} $2 != "-" {print "--" $2}')" -- "$word")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -f -- "$word")
	compopt -o filenames 2>/dev/null
}
complete -F _tally tally
