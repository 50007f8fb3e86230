#include "recent/recent_records.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <tally/record.h>
#include "base/bytes.h"
#include "base/map.h"

void tally_recent_done(struct recent_records *recent)
{
	tally_buf_done(&recent->sides);
	tally_buf_done(&recent->older);
	tally_buf_done(&recent->newer);
}

/* Records that say what addresses and threads are, and hold until something else is said. */
static bool describes(const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_TEXT_POKE:
		return true;
	default:
		return false;
	}
}

/* --- clearing older records of what is gone --- */

/* What is known of a process or thread behind a record, by what came after it. */
enum {
	GONE = 1,   /* it has ended, and records about it are of no use */
	NEEDED = 2, /* its maps are those of a process that it started */
	BEGAN = 4,  /* it began another program, which has maps of its own */
};
/* Key of a thread in the same table. */
#define THREAD (UINT64_C(1) << 32)

struct clearing {
	struct tally_map states; /* by pid, and by THREAD | tid */
	bool failed;
};

static uint64_t *state_of(struct clearing *clearing, uint64_t key)
{
	bool added;
	uint64_t *state = tally_map_put(&clearing->states, key, &added);

	clearing->failed |= !state;
	return state;
}

static void set_state(struct clearing *clearing, uint64_t key, uint64_t value)
{
	uint64_t *state = state_of(clearing, key);

	if (state)
		*state = value;
}

/* A thread or process begins: what came before is of another one of that number. */
static bool keeps_fork(struct clearing *clearing, const uint8_t *fields)
{
	uint32_t pid = load_u32(fields), parent = load_u32(fields + 4), tid = load_u32(fields + 8);
	uint64_t key = pid == parent ? THREAD | tid : pid;
	const uint64_t *state = state_of(clearing, key);
	uint64_t known = state ? *state : 0;
	bool kept = !(known & GONE) || known & NEEDED;

	if (!clearing->failed)
		set_state(clearing, key, GONE);
	if (kept && key == pid && !(known & BEGAN) && !clearing->failed)
		set_state(clearing, parent, NEEDED);
	return kept;
}

/* Whether a record is still of use; asked of the newest first. */
static bool keeps(struct clearing *clearing, const struct perf_event_header *header)
{
	const uint8_t *fields = (const uint8_t *)(header + 1);
	const uint64_t *state;
	uint32_t pid, tid;
	uint64_t known;

	/* The records below begin with pid and tid, FORK and EXIT with pid, ppid, tid and ptid
	 * (the kernel's perf_event.h). */
	if (header->size < sizeof(*header) + 16)
		return true;
	if (header->type == PERF_RECORD_FORK)
		return keeps_fork(clearing, fields);
	pid = load_u32(fields);
	tid = load_u32(fields + (header->type == PERF_RECORD_EXIT ? 8 : 4));
	if (header->type == PERF_RECORD_EXIT) {
		set_state(clearing, pid == tid ? pid : THREAD | tid, GONE);
		return false;
	}
	if (header->type != PERF_RECORD_MMAP && header->type != PERF_RECORD_MMAP2 &&
	    header->type != PERF_RECORD_COMM && header->type != PERF_RECORD_NAMESPACES)
		return true;
	if (pid != tid && header->type == PERF_RECORD_COMM) {
		state = state_of(clearing, THREAD | tid);
		if (state && *state & GONE)
			return false;
	}
	state = state_of(clearing, pid);
	known = state ? *state : 0;
	if (known & GONE && !(known & NEEDED))
		return false;
	if (header->type == PERF_RECORD_MMAP || header->type == PERF_RECORD_MMAP2)
		return !(known & BEGAN);
	if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC)
		set_state(clearing, pid, BEGAN);
	return true;
}

static const struct perf_event_header *header_at(const struct tally_buf *records, size_t at)
{
	return (const void *)(records->data + at);
}

/* Leaves of `sides` what may still be of use: one walk back over the records finds that, one
 * forward moves it together.  Without memory for it all stays. */
static void clear_sides(struct recent_records *recent)
{
	struct tally_buf *sides = &recent->sides, starts = {0};
	struct clearing clearing = {0};
	size_t size = 0, first = 0, count;

	for (size_t at = 0; at < sides->size; at += header_at(sides, at)->size)
		tally_buf_u64(&starts, at);
	count = starts.size / sizeof(uint64_t);
	for (size_t i = count; i-- && !starts.failed;) {
		uint64_t at = load_u64(starts.data + i * sizeof(at));

		if (!keeps(&clearing, header_at(sides, at)))
			store_u64(starts.data + i * sizeof(at), UINT64_MAX);
	}
	for (size_t i = 0; i < count && !starts.failed && !clearing.failed; i++) {
		uint64_t at = load_u64(starts.data + i * sizeof(at));
		size_t length;

		if (at == UINT64_MAX)
			continue;
		length = header_at(sides, at)->size;
		memmove(sides->data + size, sides->data + at, length);
		size += length;
	}
	if (!starts.failed && !clearing.failed)
		sides->size = size;
	tally_buf_done(&starts);
	tally_map_done(&clearing.states);
	/* The bound is one, whatever processes do. */
	while (sides->size - first > 2 * recent->most)
		first += header_at(sides, first)->size;
	memmove(sides->data, sides->data + first, sides->size - first);
	sides->size -= first;
	recent->sides_least = sides->size;
}

/* Drops the samples of the older half. */
static void turn(struct recent_records *recent)
{
	struct tally_buf half = recent->older;

	for (size_t at = 0; at < half.size; at += header_at(&half, at)->size)
		if (describes(header_at(&half, at)))
			tally_buf_add(&recent->sides, half.data + at, header_at(&half, at)->size);
	if (recent->sides.size > 2 * recent->sides_least + RECENT_SPARE)
		clear_sides(recent);
	recent->older = recent->newer;
	recent->newer = half;
	tally_buf_clear(&recent->newer);
}

void tally_recent_add(struct recent_records *recent, const struct perf_event_header *header)
{
	if (!recent->most)
		return;
	if (recent->newer.size + header->size > recent->most / 2)
		turn(recent);
	tally_buf_add(&recent->newer, header, header->size);
}

int tally_recent_copy(const struct recent_records *recent, struct tally_buf *to)
{
	const struct perf_event_header round = {.type = PERF_RECORD_FINISHED_ROUND,
						.size = sizeof(round)};

	if (recent->sides.failed || recent->older.failed || recent->newer.failed)
		return -ENOMEM;
	tally_buf_add(to, recent->sides.data, recent->sides.size);
	tally_buf_add(to, &round, sizeof(round));
	tally_buf_add(to, recent->older.data, recent->older.size);
	tally_buf_add(to, recent->newer.data, recent->newer.size);
	return to->failed;
}
