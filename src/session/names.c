#include <tally/names.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tally/text.h>
#include "base/fail.h"
#include "base/map.h"
#include "base/table.h"
#include "session/filter.h"
#include "session/numbers.h"

#define PART_LEAST 3 /* shorter parts are in too many names */
#define PATHS      TALLY_NAME_KINDS

struct name {
	const char *text;
	uint64_t samples;
};

/* The names of one kind. */
struct names {
	struct tally_strings strings;
	struct name *list; /* by string; then most samples first */
	size_t room;
};

struct tally_names {
	struct names kinds[TALLY_NAME_KINDS + 1];
};

/* Samples by number of frame and of thread; one a worker. */
struct counts {
	struct tally_map frames, threads;
} __attribute__((aligned(TABLE_APART)));

struct counting {
	struct counts *workers;
	unsigned count;
};

static int count_in(struct tally_map *map, uint64_t key, uint64_t samples)
{
	bool added;
	uint64_t *value = tally_map_put(map, key, &added);

	if (!value)
		return -ENOMEM;
	*value += samples;
	return 0;
}

static int begin(void *context, unsigned workers)
{
	struct counting *counting = context;

	counting->workers = table_apart(workers, sizeof(*counting->workers));
	counting->count = counting->workers ? workers : 0;
	return counting->workers ? 0 : -ENOMEM;
}

static int count_batch(void *context, unsigned worker, const struct tally_batch *batch)
{
	const struct counting *counting = context;
	struct counts *counts = &counting->workers[worker];
	int result = 0;

	for (uint32_t i = 0; !result && i < batch->count; i++) {
		result = count_in(&counts->frames, batch->frame[i], batch->samples[i]);
		if (!result)
			result = count_in(&counts->threads, batch->thread[i], batch->samples[i]);
	}
	return result;
}

static int add(struct names *names, const char *text, uint64_t samples)
{
	int64_t id = tally_strings_intern(&names->strings, text, strlen(text));

	if (id < 0)
		return (int)id;
	if ((size_t)id >= names->room) {
		size_t room = names->room ? names->room * 2 : 64;

		if (!array_resize(&names->list, room, sizeof(*names->list)))
			return -ENOMEM;
		memset(names->list + names->room, 0, (room - names->room) * sizeof(*names->list));
		names->room = room;
	}
	names->list[id].text = names->strings.text[id];
	names->list[id].samples += samples;
	return 0;
}

static int add_frame(struct tally_names *names, const struct tally_frame *frame, uint64_t samples)
{
	struct names *kinds = names->kinds;
	int result = 0;

	if (samples && frame->image_name)
		result = add(&kinds[TALLY_NAME_DSO], frame->image_name, samples);
	if (!result && samples && frame->image_path)
		result = add(&kinds[PATHS], frame->image_path, samples);
	if (!result && samples && frame->symbol)
		result = add(&kinds[TALLY_NAME_SYMBOL], frame->symbol, samples);
	if (!result && frame->symbol)
		result = add(&kinds[TALLY_NAME_STACK], frame->symbol, samples);
	return result;
}

static int add_task(struct names *names, uint32_t number, const char *comm, uint64_t samples)
{
	char text[256];

	snprintf(text, sizeof(text), "%u (%s)", number, comm);
	return add(names, text, samples);
}

static int add_thread(struct tally_names *names, const struct tally_session *session,
		      uint32_t number, uint64_t samples)
{
	struct tally_thread thread = {.size = sizeof(thread)};
	int result = tally_session_thread(session, number, &thread);

	if (!result && thread.comm)
		result = add(&names->kinds[TALLY_NAME_COMM], thread.comm, samples);
	if (!thread.comm)
		thread.comm = "";
	if (!result)
		result = add_task(&names->kinds[TALLY_NAME_PID], thread.pid, thread.comm, samples);
	if (!result)
		result = add_task(&names->kinds[TALLY_NAME_TID], thread.tid, thread.comm, samples);
	return result;
}

/* Each slot of a map, the one of key 0 first; false beyond the last. */
static bool next_of(const struct tally_map *map, size_t *at, struct tally_map_slot *ret)
{
	while (*at <= map->room) {
		size_t here = (*at)++;

		*ret = here ? map->slots[here - 1] : (struct tally_map_slot){0, map->zero_value};
		if (here ? ret->key != 0 : map->has_zero)
			return true;
	}
	return false;
}

static int take_counts(struct tally_names *names, const struct tally_session *session,
		       const struct counts *counts)
{
	struct tally_map_slot slot;
	int result = 0;

	for (size_t at = 0; !result && next_of(&counts->frames, &at, &slot);) {
		struct tally_frame frame = tally_session_frame(session, (uint32_t)slot.key);

		result = add_frame(names, &frame, slot.value);
	}
	for (size_t at = 0; !result && next_of(&counts->threads, &at, &slot);)
		result = add_thread(names, session, (uint32_t)slot.key, slot.value);
	return result;
}

static int by_samples(const void *one, const void *other)
{
	const struct name *a = one, *b = other;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->text, b->text);
}

static int collect(struct tally_names *names, const struct tally_session *session,
		   const struct counting *counting)
{
	int result = 0;

	for (unsigned i = 0; !result && i < counting->count; i++)
		result = take_counts(names, session, &counting->workers[i]);
	/* What others looked up before: frames of call chains. */
	for (uint32_t i = 1; !result && i <= tally_session_frame_count(session); i++) {
		struct tally_frame frame = tally_session_frame(session, i);

		result = add_frame(names, &frame, 0);
	}
	for (size_t kind = 0; kind <= PATHS; kind++)
		if (names->kinds[kind].strings.count)
			qsort(names->kinds[kind].list, names->kinds[kind].strings.count,
			      sizeof(*names->kinds[kind].list), by_samples);
	return result;
}

/* All samples, whatever filters the session has. */
static int visit_all(struct tally_session *session, struct counting *counting,
		     struct tally_error *error)
{
	const struct tally_sink sink = {
	    .size = sizeof(sink),
	    .columns = TALLY_COLUMN_THREAD | TALLY_COLUMN_FRAME | TALLY_COLUMN_COUNT,
	    .context = counting,
	    .begin = begin,
	    .batch = count_batch,
	};
	const struct tally_sample_filter *filter = tally_session_filter(session);
	const struct tally_sample_test *test = tally_session_take_test(session);
	int result;

	tally_session_set_filter(session, NULL);
	result = tally_session_run(session, (const struct tally_sink *const[]){&sink}, 1, error);
	tally_session_set_filter(session, filter);
	tally_session_set_test(session, test);
	return result;
}

int tally_names_new(struct tally_session *session, struct tally_names **ret,
		    struct tally_error *error)
{
	struct tally_names *names = calloc(1, sizeof(*names));
	struct counting counting = {0};
	int result = names ? visit_all(session, &counting, error) : -ENOMEM;

	if (!result)
		result = collect(names, session, &counting);
	for (unsigned i = 0; i < counting.count; i++) {
		tally_map_done(&counting.workers[i].frames);
		tally_map_done(&counting.workers[i].threads);
	}
	free(counting.workers);
	if (!result) {
		*ret = names;
		return 0;
	}
	tally_names_free(names);
	return result == -ENOMEM ? tally_fail(error, result, -1, "not enough memory for the names")
				 : result;
}

void tally_names_free(struct tally_names *names)
{
	for (size_t kind = 0; names && kind <= PATHS; kind++) {
		tally_strings_done(&names->kinds[kind].strings);
		free(names->kinds[kind].list);
	}
	free(names);
}

/* "1234" is "1234 (name)" of the list. */
static bool is_task(const char *listed, const char *number)
{
	uint64_t wanted;

	return !tally_text_u64(number, &wanted) && strtoull(listed, NULL, 10) == wanted;
}

bool tally_names_has(const struct tally_names *names, enum tally_name_kind kind, const char *name)
{
	bool task = kind == TALLY_NAME_PID || kind == TALLY_NAME_TID;

	for (size_t i = 0; i < names->kinds[kind].strings.count; i++) {
		const char *text = names->kinds[kind].list[i].text;

		if (task ? is_task(text, name) : !strcmp(text, name))
			return true;
	}
	for (size_t i = 0; kind == TALLY_NAME_DSO && i < names->kinds[PATHS].strings.count; i++)
		if (!strcmp(names->kinds[PATHS].list[i].text, name))
			return true;
	return false;
}

/* Adds it unless it is there. */
static size_t add_similar(const char **ret, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (ret[i] == text)
			return count;
	ret[count] = text;
	return count + 1;
}

/* Those that are few letters away, as long as there is room. */
static size_t add_alike(const struct names *names, const char *name, const char **ret, size_t count,
			size_t room)
{
	size_t left = names->strings.count;
	const char **texts = calloc(left + 1, sizeof(*texts)), *nearest;

	for (size_t i = 0; texts && i < left; i++)
		texts[i] = names->list[i].text;
	while (texts && count < room && (nearest = tally_text_nearest(name, texts, left))) {
		count = add_similar(ret, count, nearest);
		for (size_t i = 0; i < left; i++)
			if (texts[i] == nearest)
				texts[i] = texts[--left];
	}
	free(texts);
	return count;
}

size_t tally_names_list(const struct tally_names *names, enum tally_name_kind kind,
			const char *name, const char **ret, size_t room)
{
	const struct names *from = &names->kinds[kind];
	size_t all = from->strings.count, count = 0, length = name ? strlen(name) : 0;

	if (!name) {
		for (; count < room && count < all; count++)
			ret[count] = from->list[count].text;
		return count;
	}
	for (size_t i = 0; i < all && count < room; i++)
		if (!strcasecmp(from->list[i].text, name))
			count = add_similar(ret, count, from->list[i].text);
	if (kind == TALLY_NAME_PID || kind == TALLY_NAME_TID)
		return count;
	for (size_t i = 0; i < all && count < room && length >= PART_LEAST; i++)
		if (!strncasecmp(from->list[i].text, name, length))
			count = add_similar(ret, count, from->list[i].text);
	count = add_alike(from, name, ret, count, room);
	for (size_t i = 0; i < all && count < room && length >= PART_LEAST; i++)
		if (strcasestr(from->list[i].text, name))
			count = add_similar(ret, count, from->list[i].text);
	return count;
}
