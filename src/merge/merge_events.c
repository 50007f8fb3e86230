/* The events of a merged file: groups of events that are the same in several recordings are one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "merge/data_merge.h"

static bool has_times(const struct merge *merge)
{
	for (size_t i = 0; i < merge->input_count; i++)
		for (size_t k = 0; k < merge->inputs[i].data->event_count; k++)
			if (merge->inputs[i].data->events[k].attr.sample_type & PERF_SAMPLE_TIME)
				return true;
	return false;
}

/* The attr that an event of an input has in the new file.  perf wants ids and times of all events
 * at the same places. */
static struct tally_attr wanted(const struct merge_input *input, size_t event, bool times)
{
	struct tally_attr attr = input->data->events[event].attr;
	const uint64_t *format =
	    attr.type == PERF_TYPE_TRACEPOINT ? tally_map_find(&input->formats, attr.config) : NULL;

	attr.size = 0;
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER | (times ? PERF_SAMPLE_TIME : 0);
	attr.sample_id_all = 1;
	if (format)
		attr.config = *format;
	return attr;
}

/* What does not change the event itself: which other records the kernel writes, and when the event
 * began to count. */
static uint64_t side_flags(void)
{
	static const struct tally_attr sides = {
	    .disabled = 1,
	    .enable_on_exec = 1,
	    .mmap = 1,
	    .mmap2 = 1,
	    .mmap_data = 1,
	    .comm = 1,
	    .comm_exec = 1,
	    .task = 1,
	    .namespaces = 1,
	    .ksymbol = 1,
	    .bpf_event = 1,
	    .cgroup = 1,
	    .text_poke = 1,
	    .build_id = 1,
	    .context_switch = 1,
	    .watermark = 1,
	};

	return sides.flags;
}

static struct tally_attr without_sides(const struct tally_attr *attr)
{
	struct tally_attr own = *attr;

	own.flags &= ~side_flags();
	own.wakeup_events = 0;
	return own;
}

static bool is_equal(const struct tally_attr *a, const struct tally_attr *b)
{
	struct tally_attr one = without_sides(a), two = without_sides(b);

	return !memcmp(&one, &two, sizeof(one));
}

static uint64_t hash_of(const struct tally_attr *attr, const char *name)
{
	struct tally_attr own = without_sides(attr);

	return hash_mix(tally_hash_bytes(&own, sizeof(own)), tally_hash_bytes(name, strlen(name)));
}

/* How many events the group has that begins with this one. */
static uint32_t members_of(const struct tally_data *data, size_t leader)
{
	size_t end = leader + 1;

	if (data->events[leader].leader == leader)
		while (end < data->event_count && data->events[end].leader == leader)
			end++;
	return (uint32_t)(end - leader);
}

/* --- one group --- */

struct group {
	const struct merge_input *input;
	size_t leader;
	uint32_t members;
	uint64_t hash;
	bool times;
};

static bool is_group(const struct merge *merge, uint32_t at, const struct group *group)
{
	const struct merge_event *event = &merge->events[at];

	if (event->members != group->members)
		return false;
	for (uint32_t i = 0; i < group->members; i++) {
		struct tally_attr attr = wanted(group->input, group->leader + i, group->times);

		if (!is_equal(&event[i].attr, &attr) ||
		    strcmp(event[i].name, group->input->data->events[group->leader + i].name) != 0)
			return false;
	}
	return true;
}

/* Adds it.  0 or -ENOMEM. */
static int add_group(struct merge *merge, const struct group *group)
{
	uint32_t leader = (uint32_t)merge->event_count;

	if (merge->event_count + group->members > merge->event_room) {
		size_t room = 2 * merge->event_room + group->members + 16;
		void *grown = reallocarray(merge->events, room, sizeof(*merge->events));

		if (!grown)
			return -ENOMEM;
		merge->events = grown;
		merge->event_room = room;
	}
	for (uint32_t i = 0; i < group->members; i++)
		merge->events[merge->event_count++] = (struct merge_event){
		    .attr = wanted(group->input, group->leader + i, group->times),
		    .name = group->input->data->events[group->leader + i].name,
		    .leader = leader,
		    .members = i ? 0 : group->members,
		};
	return 0;
}

/* The new file's group for one of an input, which has it once.  0 or -ENOMEM. */
static int place_group(struct merge *merge, const struct group *group, uint32_t number,
		       uint32_t *ret)
{
	bool added;
	uint64_t *first = tally_map_put(&merge->groups, group->hash, &added);
	uint32_t at, last = 0;

	if (!first)
		return -ENOMEM;
	for (at = (uint32_t)*first; at; at = merge->events[at - 1].next) {
		struct merge_event *event = &merge->events[at - 1];

		last = at;
		if (event->used == number || !is_group(merge, at - 1, group))
			continue;
		event->used = number;
		*ret = at - 1;
		return 0;
	}
	at = (uint32_t)merge->event_count;
	if (add_group(merge, group))
		return -ENOMEM;
	merge->events[at].used = number;
	if (last)
		merge->events[last - 1].next = at + 1;
	else
		*first = at + 1;
	*ret = at;
	return 0;
}

/* --- ids --- */

/* Gives the event an id in the place of another one, or of none (0).  *ret: 0 when an earlier event
 * has that one.  0 or -ENOMEM. */
static int add_id(struct merge *merge, struct merge_input *input, uint32_t event, uint64_t old,
		  uint64_t *ret)
{
	uint32_t number = input->first + merge_part_of_id(input, old);
	struct tally_buf *events = &merge->recordings[number].id_events;
	uint64_t made = (uint64_t)number << 32 | (events->size / 4 + 1);
	bool added = true;
	uint64_t *known = old ? tally_map_put(&input->ids, old, &added) : NULL;

	*ret = 0;
	if (old && !known)
		return -ENOMEM;
	if (!added)
		return 0;
	if (known)
		*known = made;
	tally_buf_u32(events, event);
	tally_buf_u64(&merge->events[event].ids, made);
	*ret = made;
	return events->failed ? events->failed : merge->events[event].ids.failed;
}

/* An event that has no id of its own, as the only one of a recording, gets one. */
static int add_ids(struct merge *merge, struct merge_input *input, size_t index)
{
	const struct tally_data_event *from = &input->data->events[index];
	uint64_t made, *usual = &input->usual_ids[index];
	int code = 0;

	for (size_t i = 0; i < from->id_count && !code; i++) {
		code = from->ids[i]
			   ? add_id(merge, input, input->events[index], from->ids[i], &made)
			   : 0;
		if (!code && from->ids[i] && !*usual)
			*usual = made;
	}
	if (!code && !*usual)
		code = add_id(merge, input, input->events[index], 0, usual);
	return code;
}

static int add_input(struct merge *merge, struct merge_input *input, bool times)
{
	const struct tally_data *data = input->data;

	input->events = tally_arena_alloc(&merge->arena, data->event_count * sizeof(uint32_t));
	input->usual_ids = tally_arena_alloc(&merge->arena, data->event_count * sizeof(uint64_t));
	if (!input->events || !input->usual_ids)
		return -ENOMEM;
	for (size_t i = 0; i < data->event_count;) {
		struct group group = {
		    .input = input, .leader = i, .members = members_of(data, i), .times = times};
		uint32_t at;

		for (uint32_t k = 0; k < group.members; k++) {
			struct tally_attr attr = wanted(input, i + k, times);

			group.hash = hash_mix(group.hash, hash_of(&attr, data->events[i + k].name));
		}
		if (place_group(merge, &group, input->first + 1, &at))
			return -ENOMEM;
		for (uint32_t k = 0; k < group.members; k++) {
			merge->events[at + k].attr.flags |=
			    data->events[i + k].attr.flags & side_flags();
			input->events[i + k] = at + k;
		}
		i += group.members;
	}
	for (size_t i = 0; i < data->event_count; i++)
		if (add_ids(merge, input, i))
			return -ENOMEM;
	return 0;
}

int tally_merge_events(struct merge *merge, struct tally_error *error)
{
	uint32_t size = PERF_ATTR_SIZE_VER0;
	bool times = has_times(merge);

	for (size_t i = 0; i < merge->input_count; i++)
		if (add_input(merge, &merge->inputs[i], times))
			return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (merge->event_count > FILE_EVENTS_MAX)
		return tally_fail(error, -EINVAL, -1,
				  "the new file would have %zu events, and readers take %u: merge "
				  "fewer recordings, or of the same events",
				  merge->event_count, FILE_EVENTS_MAX);
	for (size_t i = 0; i < merge->event_count; i++) {
		struct merge_event *event = &merge->events[i];
		uint32_t least = tally_attr_min_size(&event->attr);

		size = least > size ? least : size;
		tally_layout_init(&event->layout, &event->attr);
	}
	merge->file.attr_size = size;
	merge->result.events = merge->event_count;
	return 0;
}
