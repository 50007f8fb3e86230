#include "stacks/live_spaces.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "base/table.h"
#include "compiled/jit_loads.h"
#include "image/image.h"
#include "image/image_files.h"
#include "process/process.h"
#include "stacks/code_arenas.h"
#include "stacks/short_lived.h"
#include "wire/record_view.h"

/* Of a space's number: it holds until the next feeding. Numbers of processes do not reach this bit.
 */
#define OF_AN_ERA (1ULL << 63)

/* How often what ended is looked for, besides when there are so many more images, and how long an
 * image stays that no process maps: programs are started again and again, and what is known of
 * places in them is forgotten with any. Of more such images than some, the latest stay. */
#define FORGET_NS     20000000000ULL
#define KEEP_NS       60000000000ULL
#define UNMAPPED_MOST 256U
/* With fewer names than this in all none is forgotten. */
#define NAMES_LEAST 1024U

struct side_record {
	uint64_t time;
	size_t at; /* offset, which keeps the order of equal times */
};

struct tally_live_spaces {
	bool monotonic;
	struct tally_jit_loads loads;
	struct tally_code_arenas arenas;
	struct tally_process_table *processes;
	struct tally_image_store *images;
	/* By the number of a mapping; NULL: not looked up yet. */
	struct tally_image *_Atomic *by_mapping;
	size_t mapping_count;
	bool renewed; /* the table, before it was fed last */
	bool forgets; /* what has ended is looked for after this feeding */
	struct side_record *order;
	size_t order_room;
	uint32_t generation; /* how often it was fed: eras are new then */
	uint64_t passed[3];  /* the latest time of the last feedings, the newest first */
	uint64_t forgot_at;  /* when it was looked for what ended */
	size_t images_kept;  /* then */
	size_t names_kept;   /* how many names there were after some were forgotten */
	/* By the number of an image: the last time at which it was seen to be mapped. */
	uint64_t *seen;
	size_t seen_room;
	uint64_t keep_ns; /* while images are forgotten */
};

static enum tally_jit_times times_of(void *context)
{
	const struct tally_live_spaces *spaces = context;

	return spaces->monotonic ? TALLY_JIT_MONOTONIC : TALLY_JIT_OTHER;
}

int tally_live_spaces_new(const struct tally_live_spaces_options *use,
			  struct tally_live_spaces **ret)
{
	/* Only call frame information is read: no names. */
	const struct tally_image_options options = {.size = sizeof(options),
						    .no_symbols = true,
						    .cache_dir = "",
						    .open_held = use->open_held,
						    .held = use->held};
	/* A dump is read as the process writes it: no copy of another time. */
	const struct tally_jit_search search = {.root = "", .symfs = "", .cache = ""};
	struct tally_live_spaces *spaces = calloc(1, sizeof(*spaces));
	struct tally_jit_recording recording = {.context = spaces, .times = times_of};
	int result;

	if (!spaces)
		return -ENOMEM;
	spaces->monotonic = use->monotonic;
	tally_code_arenas_init(&spaces->arenas);
	spaces->loads.behind = true;
	result = tally_jit_loads_init(&spaces->loads, &search, &recording);
	if (!result)
		result = tally_process_table_new(&spaces->processes);
	if (!result)
		result = tally_image_store_new(&options, &spaces->images);
	if (!result) {
		tally_process_will_renew(spaces->processes);
		result = tally_process_freeze(spaces->processes);
	}
	if (result) {
		tally_live_spaces_free(spaces);
		return result;
	}
	*ret = spaces;
	return 0;
}

void tally_live_spaces_free(struct tally_live_spaces *spaces)
{
	if (!spaces)
		return;
	tally_process_table_free(spaces->processes);
	if (spaces->images)
		tally_image_store_free(spaces->images);
	tally_jit_loads_done(&spaces->loads);
	tally_code_arenas_done(&spaces->arenas);
	free(spaces->by_mapping);
	free(spaces->order);
	free(spaces->seen);
	free(spaces);
}

void tally_live_spaces_held(const struct tally_live_spaces *spaces, struct tally_live_held *ret)
{
	*ret = (struct tally_live_held){
	    .mappings = tally_process_mapping_count(spaces->processes),
	    .names = tally_process_name_count(spaces->processes),
	    .images = tally_image_store_held(spaces->images),
	    .dumps = spaces->loads.count,
	};
}

static int by_time(const void *left, const void *right)
{
	const struct side_record *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static bool is_of_processes(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM ||
	       type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT;
}

/* All records that processes have end with the time, or with what follows it. */
static uint64_t time_of(const struct tally_layout *layout, const struct tally_record *record)
{
	int back = layout->trailer_at[TALLY_FIXED_TIME];

	return back > 0 && record->size >= 8 + back ? load_u64(record->bytes + record->size - back)
						    : 0;
}

/* Those of processes, in the order of time. Returns their number, or -ENOMEM. */
static int64_t sort_records(struct tally_live_spaces *spaces, const struct tally_live_feed *feed)
{
	size_t count = 0;

	for (size_t at = 0; at < feed->size; at += record_view(feed->records + at).size) {
		const struct tally_record record = record_view(feed->records + at);

		if (!is_of_processes(record.type))
			continue;
		if (!array_next(&spaces->order, &spaces->order_room, count, 256,
				sizeof(*spaces->order)))
			return -ENOMEM;
		spaces->order[count++] =
		    (struct side_record){.time = time_of(feed->layout, &record), .at = at};
	}
	if (count)
		qsort(spaces->order, count, sizeof(*spaces->order), by_time);
	return (int64_t)count;
}

/* Takes out what nobody asks for. Returns how many are left, or -ENOMEM. */
static int64_t leave_out(struct tally_live_spaces *spaces, const struct tally_live_feed *feed,
			 int64_t count)
{
	struct side_record *order = spaces->order;
	int64_t left = 0;
	int result = 0;

	for (int64_t i = 0; i < count && !result; i++)
		result = tally_short_lived_record(feed->short_lived, feed->records + order[i].at,
						  order[i].at < feed->early);
	if (result)
		return result;
	for (int64_t i = count; i-- > 0;)
		tally_short_lived_fork(feed->short_lived, feed->records + order[i].at);
	for (int64_t i = 0; i < count; i++)
		if (!tally_short_lived_skips(feed->short_lived, feed->records + order[i].at))
			order[left++] = order[i];
	return left;
}

static int feed_all(struct tally_live_spaces *spaces, const struct tally_live_feed *feed,
		    int64_t count)
{
	int result = 0;

	for (int64_t i = 0; i < count && !result; i++) {
		const struct tally_record record = record_view(feed->records + spaces->order[i].at);
		struct tally_body body;

		body.size = sizeof(body);
		if (!tally_record_decode(feed->layout, &record, &body, NULL))
			result = tally_jit_loads_record(&spaces->loads, spaces->processes, &body,
							spaces->order[i].time, 0);
	}
	if (!result)
		result = tally_jit_loads_feed(&spaces->loads, spaces->processes,
					      tally_jit_loads_latest(&spaces->loads));
	if (!result && spaces->loads.count)
		result = tally_image_store_read_on(spaces->images);
	return result ? result : tally_process_freeze(spaces->processes);
}

/* Whether it is time to look for what ended. */
static bool is_time_to_forget(const struct tally_live_spaces *spaces)
{
	return spaces->passed[0] >= spaces->forgot_at + FORGET_NS ||
	       tally_image_store_held(spaces->images) > spaces->images_kept + UNMAPPED_MOST;
}

/* Lets the table take records: as it is, or without what ended two feedings ago, which has no more
 * samples. Then names that nothing has any more go, too, when there are as many of them as of
 * others. */
static int open_table(struct tally_live_spaces *spaces)
{
	struct tally_process_table *processes = spaces->processes;
	int result;

	spaces->forgets = is_time_to_forget(spaces);
	spaces->renewed = spaces->forgets || tally_process_has_grown(processes);
	if (!spaces->renewed)
		return tally_process_thaw(processes);
	result = tally_process_renew(processes, spaces->passed[1]);
	if (result || tally_process_name_count(processes) < spaces->names_kept * 2 + NAMES_LEAST)
		return result;
	result = tally_process_forget_names(processes);
	spaces->names_kept = tally_process_name_count(processes);
	return result;
}

/* After a feeding: there are more mappings, or their numbers are new. */
static int renew_images(struct tally_live_spaces *spaces)
{
	size_t count = tally_process_mapping_count(spaces->processes);
	struct tally_image *_Atomic *renewed = calloc(count + 1, sizeof(*renewed));

	if (!renewed)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t before =
		    spaces->renewed ? tally_process_mapping(spaces->processes, (uint32_t)i)->before
				    : (uint32_t)i;

		if (before < spaces->mapping_count)
			renewed[i] = spaces->by_mapping[before];
	}
	free(spaces->by_mapping);
	spaces->by_mapping = renewed;
	spaces->mapping_count = count;
	return 0;
}

int tally_live_spaces_feed(struct tally_live_spaces *spaces, const struct tally_live_feed *feed)
{
	int64_t count = sort_records(spaces, feed);
	uint64_t last = count > 0 ? spaces->order[count - 1].time : 0;
	int more, result;

	if (count > 0 && feed->short_lived)
		count = leave_out(spaces, feed, count);
	more = count < 0 ? (int)count : tally_jit_loads_read_on(&spaces->loads, UINT64_MAX);
	if (more < 0 || (!count && !more))
		return more;
	result = open_table(spaces);
	if (!result)
		result = feed_all(spaces, feed, count);
	if (result)
		return result;
	result = renew_images(spaces);
	if (result)
		return result;
	spaces->generation++;
	spaces->passed[2] = spaces->passed[1];
	spaces->passed[1] = spaces->passed[0];
	if (last > spaces->passed[0])
		spaces->passed[0] = last;
	return 0;
}

static int need_seen(struct tally_live_spaces *spaces)
{
	size_t count = tally_image_store_count(spaces->images);
	uint64_t *more;

	if (count <= spaces->seen_room)
		return 0;
	more = reallocarray(spaces->seen, count * 2, sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + spaces->seen_room, 0, (count * 2 - spaces->seen_room) * sizeof(*more));
	spaces->seen = more;
	spaces->seen_room = count * 2;
	return 0;
}

/* Notes which images are mapped. */
static void see_images(struct tally_live_spaces *spaces)
{
	uint64_t now = spaces->passed[0];

	for (size_t i = 0; i < spaces->mapping_count; i++) {
		const struct tally_image *image = spaces->by_mapping[i];

		if (image)
			spaces->seen[tally_image_number(image)] = now;
	}
	for (size_t i = 0; i < tally_image_store_count(spaces->images); i++)
		if (tally_image_store_at(spaces->images, i) && !spaces->seen[i])
			spaces->seen[i] = now - 1;
}

/* How long images may stay, so that there are not too many. */
static uint64_t how_long(const struct tally_live_spaces *spaces)
{
	uint64_t now = spaces->passed[0], keep = KEEP_NS;
	size_t stay;

	do {
		stay = 0;
		for (size_t i = 0; i < tally_image_store_count(spaces->images); i++)
			stay += tally_image_store_at(spaces->images, i) && spaces->seen[i] != now &&
				now - spaces->seen[i] < keep;
	} while (stay > UNMAPPED_MOST && (keep /= 2));
	return keep;
}

/* The numbers of images that were forgotten are given to others. */
static void forget_seen(struct tally_live_spaces *spaces)
{
	for (size_t i = 0; i < tally_image_store_count(spaces->images); i++)
		if (!tally_image_store_at(spaces->images, i))
			spaces->seen[i] = 0;
}

static bool is_kept(void *context, const struct tally_image *image)
{
	const struct tally_live_spaces *spaces = context;
	uint64_t seen = spaces->seen[tally_image_number(image)], now = spaces->passed[0];

	return seen == now || now - seen < spaces->keep_ns;
}

int tally_live_spaces_forget(struct tally_live_spaces *spaces)
{
	size_t before = tally_image_store_held(spaces->images);
	int result;

	if (!spaces->forgets)
		return 0;
	spaces->forgets = false;
	spaces->forgot_at = spaces->passed[0];
	tally_jit_loads_forget(&spaces->loads, spaces->processes);
	result = need_seen(spaces);
	if (result)
		return result;
	see_images(spaces);
	spaces->keep_ns = how_long(spaces);
	result = tally_image_store_forget(spaces->images, is_kept, spaces);
	forget_seen(spaces);
	spaces->images_kept = tally_image_store_held(spaces->images);
	return result ? result : tally_image_store_held(spaces->images) < before;
}

const struct tally_image_store *tally_live_spaces_images(const struct tally_live_spaces *spaces)
{
	return spaces->images;
}

void tally_live_space_of(struct tally_live_spaces *spaces, uint32_t pid, uint32_t tid,
			 uint64_t time, struct tally_live_space *ret)
{
	struct tally_task_view view;
	uint64_t state;

	tally_process_view(spaces->processes, pid, tid, time, &view);
	state = tally_space_state(view.space, time);
	if (!state && view.era)
		state = OF_AN_ERA | (uint64_t)spaces->generation << 32 | view.era;
	*ret = (struct tally_live_space){
	    .spaces = spaces,
	    .space = view.space,
	    .pid = pid,
	    .time = time,
	    .number = state,
	    .moment = spaces->generation,
	};
}

static struct tally_image *image_of(const struct tally_live_spaces *spaces,
				    const struct tally_mapping *mapping)
{
	struct tally_image *_Atomic *known = &spaces->by_mapping[mapping->number];
	struct tally_image *image = atomic_load_explicit(known, memory_order_acquire);
	const struct tally_mapped_file *file = mapping->file;

	if (!image) {
		struct tally_image_key key = {
		    .path = tally_process_string(spaces->processes, file->filename),
		    .pid = mapping->pid,
		    .ino = file->ino,
		    .data = !(mapping->prot & PROT_EXEC),
		    .build_id_size = file->build_id_size,
		};

		memcpy(key.build_id, file->build_id, sizeof(key.build_id));
		image = tally_image_get(spaces->images, &key);
		atomic_store_explicit(known, image, memory_order_release);
	}
	return image;
}

int tally_live_space_image(void *context, uint64_t address, struct tally_image **ret,
			   uint64_t *ret_place)
{
	const struct tally_live_space *space = context;
	const struct tally_mapping *mapping =
	    space->space ? tally_space_find(space->space, address, space->time) : NULL;
	struct tally_image *image;

	if (!mapping)
		return -ENOENT;
	image = image_of(space->spaces, mapping);
	if (!image || tally_image_places_are_addresses(image))
		return -ENODATA;
	*ret = image;
	*ret_place = address - mapping->start + mapping->pgoff;
	return 0;
}

void tally_live_spaces_see_code(struct tally_live_spaces *spaces, uint32_t pid, uint64_t start,
				uint64_t size)
{
	tally_code_arenas_see(&spaces->arenas, pid, start, size);
}

int tally_live_space_read_code(void *context, uint64_t address, void *ret, size_t size)
{
	const struct tally_live_space *space = context;
	const struct tally_mapping *mapping =
	    space->space ? tally_space_find(space->space, address, space->time) : NULL;

	if (!mapping || !(mapping->prot & PROT_EXEC) || !space->pid)
		return -ENODATA;
	return tally_code_arenas_read(&space->spaces->arenas, space->pid, address, ret, size);
}
