#include "record/side_kept.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include <sys/uio.h>
#include <unistd.h>
#include <tally/ring.h>
#include "base/fail.h"
#include "collect/openset.h"

/* A storm of new processes writes some 200 KB a second, for all CPUs; at 99 Hz, samples write 6 KB
 * a second to the ring of each. */
#define PER_RING_BYTE 32
#define LEAST         ((size_t)16 << 20)
#define MOST          ((size_t)64 << 20)

size_t tally_side_kept_most(const struct tally_openset *set)
{
	size_t largest = 0, page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < tally_openset_places(set); i++)
		if (set->kept[i])
			largest = MAX(largest, tally_ring_pages(set->kept[i]) * page);
	return MIN(MAX(largest, LEAST / PER_RING_BYTE) * PER_RING_BYTE, MOST);
}

void tally_side_kept_done(struct tally_side_kept *kept)
{
	tally_buf_done(&kept->older);
	tally_buf_done(&kept->newer);
}

bool tally_side_kept_is_full(const struct tally_side_kept *kept)
{
	return kept->newer.size - kept->described >= kept->most;
}

uint64_t tally_side_kept_latest(const struct tally_side_kept *kept,
				const struct tally_layout *layout)
{
	const struct tally_buf *records = &kept->newer;
	uint64_t latest = 0;

	for (size_t at = kept->described; at < records->size;) {
		struct tally_record record = {.bytes = records->data + at};
		struct tally_sample_id id = {0};
		struct perf_event_header header;

		memcpy(&header, record.bytes, sizeof(header));
		record.type = header.type;
		record.misc = header.misc;
		record.size = header.size;
		if (!tally_sample_id_decode(layout, &record, &id, NULL) && id.time > latest)
			latest = id.time;
		at += header.size;
	}
	return latest;
}

void tally_side_kept_turn(struct tally_side_kept *kept, struct tally_buf *running)
{
	tally_buf_done(&kept->older);
	kept->older = kept->newer;
	kept->newer = *running;
	kept->described = running->size;
	*running = (struct tally_buf){0};
}

int64_t tally_side_kept_write(struct tally_side_kept *kept, struct tally_writer *writer,
			      struct tally_error *error)
{
	const struct iovec parts[2] = {{kept->older.data, kept->older.size},
				       {kept->newer.data, kept->newer.size}};
	int64_t bytes = (int64_t)(kept->older.size + kept->newer.size);
	int result = 0;

	if (kept->older.failed || kept->newer.failed)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	for (int i = 0; i < 2 && result >= 0; i++)
		if (parts[i].iov_len)
			result = tally_writer_append(writer, &parts[i], 1, error);
	if (result < 0)
		return result;
	tally_side_kept_done(kept);
	kept->described = 0;
	return bytes;
}
