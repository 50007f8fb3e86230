/* ATTR -> NAME: what a person would write to get it. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "base/options.h"
#include "event/family.h"

/* snprintf()s the name without modifiers. */
static int format_name(const struct tally_attr *attr, const struct tally_event_options *options,
		       char *to, size_t room)
{
	const char *name = tally_generic_name(attr->type, attr->config);
	int length = -1;

	if (name)
		return snprintf(to, room, "%s", name);
	if (attr->type == PERF_TYPE_HW_CACHE)
		length = tally_cache_format(attr->config, to, room);
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		length = tally_tracepoint_format(attr->config, options, to, room);
	else if (attr->type == PERF_TYPE_RAW)
		length = snprintf(to, room, "r%llx", (unsigned long long)attr->config);
	if (length >= 0)
		return length;
	/* The two numbers are a name, too. */
	return snprintf(to, room, "%u:0x%llx", attr->type, (unsigned long long)attr->config);
}

int tally_event_format(const struct tally_attr *attr, const struct tally_event_options *options,
		       char *to, size_t room)
{
	struct tally_event_options use = {.size = sizeof(use)};
	char modifiers[16], name[1024];
	int result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return result;
	result = format_name(attr, &use, name, sizeof(name));
	if (result < 0 || (size_t)result >= sizeof(name))
		return -EOVERFLOW;
	tally_modifier_format(attr, modifiers);
	return snprintf(to, room, "%s%s%s", name, *modifiers ? ":" : "", modifiers);
}
