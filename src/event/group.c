/* Groups: which of the events between the braces lead, and what the modifiers behind them do.
 *
 * The kernel has no groups over several PMUs: where a name means all instances of an uncore PMU,
 * the events of each instance are a group. Where the CPU counts topdown metrics, `slots` must lead
 * their group. Sources: perf_event_open() of kernel/events/core.c; intel_pmu_hw_config() of
 * arch/x86/events/intel/core.c. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "event/parse.h"

/* Adds a group's modifiers to the name of a member: the missing ones of those that say what is
 * counted. */
static int name_modifiers(struct tally_event *event, const struct event_word *modifiers)
{
	struct tally_buf name = {0};
	const char *own = strrchr(event->name, ':'), *slash = strrchr(event->name, '/');
	bool added = false;
	int result;

	if (own && (event->attr.type == PERF_TYPE_TRACEPOINT && strchr(event->name, ':') == own))
		own = NULL;
	if (slash)
		own = slash;
	tally_buf_text(&name, event->name);
	for (size_t i = 0; i < modifiers->length; i++) {
		char letter = modifiers->text[i];

		if (!strchr("ukhGHpI", letter) || (letter != 'p' && own && strchr(own, letter)))
			continue;
		if (!added && !own)
			tally_buf_byte(&name, ':');
		added = true;
		tally_buf_byte(&name, (uint8_t)letter);
	}
	result = name.failed;
	if (added && !result) {
		char *text = strdup(tally_buf_str(&name));

		if (text) {
			free(event->name);
			event->name = text;
		} else {
			result = -ENOMEM;
		}
	}
	tally_buf_done(&name);
	return result;
}

/* Moves the event at `from` before the one at `to`. */
static void move_before(struct event_item *items, size_t from, size_t to)
{
	struct event_item moved = items[from];

	memmove(&items[to + 1], &items[to], (from - to) * sizeof(*items));
	items[to] = moved;
}

static bool same_pmu(const struct event_item *a, const struct event_item *b)
{
	return a->event.pmu && b->event.pmu ? !strcmp(a->event.pmu, b->event.pmu)
					    : a->event.pmu == b->event.pmu;
}

/* The events of each PMU become a group, in the order of their first. */
static void split_by_pmu(struct event_item *items, size_t first, size_t count)
{
	for (size_t leader = first; leader < count;) {
		size_t end = leader + 1;

		for (size_t i = end; i < count; i++)
			if (same_pmu(&items[i], &items[leader]))
				move_before(items, i, end++);
		for (size_t i = leader; i < end; i++)
			items[i].event.leader = (uint32_t)leader;
		leader = end;
	}
}

static bool has_slots(struct tally_event_context *context)
{
	static const struct event_word slots = {.text = "slots", .length = 5};

	for (size_t i = 0; context && i < context->count; i++) {
		struct event_pmu *pmu = &context->pmus[i];

		if (pmu->loaded && pmu->type == PERF_TYPE_RAW)
			return tally_pmu_alias_find(pmu, &slots);
	}
	return false;
}

/* By name, as in perf. */
static void lead_by_slots(struct event_item *items, size_t first, size_t count)
{
	size_t slots = count;
	bool topdown = false;

	for (size_t i = first; i < count; i++) {
		const struct tally_event *event = &items[i].event;

		if (!event->pmu || strncmp(event->pmu, "cpu", 3))
			continue;
		if (strcasestr(event->name, "slots"))
			slots = i;
		topdown |= strcasestr(event->name, "topdown") != NULL;
		if (slots == first)
			return;
		if (slots < count && topdown)
			return move_before(items, slots, first);
	}
}

int tally_parser_group(struct parser *parser, size_t first, const struct event_word *modifiers)
{
	struct event_item *items = parser->items.items;
	size_t count = parser->items.count;
	bool several = false;

	for (size_t i = first; i < count; i++) {
		items[i].event.leader = (uint32_t)first;
		several |= items[i].several;
	}
	if (several)
		split_by_pmu(items, first, count);
	else if (has_slots(parser->context))
		lead_by_slots(items, first, count);
	for (size_t i = first; i < count; i++) {
		int result = tally_modifier_apply(&items[i], modifiers, true,
						  items[i].event.leader == i, parser->error);

		if (!result && name_modifiers(&items[i].event, modifiers))
			result = tally_parser_fail_memory(parser);
		if (result)
			return result;
	}
	return 0;
}
