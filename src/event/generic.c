/* The kernel's generic events: hardware and software, under perf's names for them. */
#include <stdio.h>
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

static int find(const struct event_word *word, struct tally_attr *ret, struct tally_error *error)
{
	(void)error;
	return tally_generic_find(word, ret);
}

static int format(const struct tally_attr *attr, const struct tally_event_options *options,
		  char *to, size_t room)
{
	const char *name = tally_abi_event_name(attr->type, attr->config);

	(void)options;
	return name ? snprintf(to, room, "%s", name) : -1;
}

static bool name_at(size_t index, char to[EVENT_NAME_ROOM])
{
	if (index >= tally_abi_event_count)
		return false;
	snprintf(to, EVENT_NAME_ROOM, "%s", tally_abi_events[index].name);
	return true;
}

const struct event_family tally_event_family_generic = {
    .find = find,
    .no_colon = true,
    .format = format,
    .name = name_at,
};

enum tally_tool_event tally_generic_tool(const struct event_word *word)
{
	if (tally_word_is(word, "duration_time"))
		return TALLY_TOOL_DURATION_TIME;
	if (tally_word_is(word, "user_time"))
		return TALLY_TOOL_USER_TIME;
	return tally_word_is(word, "system_time") ? TALLY_TOOL_SYSTEM_TIME : TALLY_TOOL_NONE;
}
