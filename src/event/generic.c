/* The kernel's generic events: hardware and software, under perf's names for them. */
#include <string.h>
#include "abi/event_names.h"
#include "event/family.h"

bool tally_generic_find(const struct event_word *word, struct tally_attr *ret)
{
	for (size_t i = 0; i < tally_abi_event_count; i++) {
		if (!tally_word_is(word, tally_abi_events[i].name))
			continue;
		*ret = (struct tally_attr){.type = tally_abi_events[i].type,
					   .config = tally_abi_events[i].config};
		return true;
	}
	return false;
}

enum tally_tool_event tally_generic_tool(const struct event_word *word)
{
	if (tally_word_is(word, "duration_time"))
		return TALLY_TOOL_DURATION_TIME;
	if (tally_word_is(word, "user_time"))
		return TALLY_TOOL_USER_TIME;
	return tally_word_is(word, "system_time") ? TALLY_TOOL_SYSTEM_TIME : TALLY_TOOL_NONE;
}

size_t tally_generic_names(const char **ret, size_t room)
{
	for (size_t i = 0; i < tally_abi_event_count && i < room; i++)
		ret[i] = tally_abi_events[i].name;
	return tally_abi_event_count;
}
