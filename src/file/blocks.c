/* The records, in blocks.
 *
 * Records of a sound native file are given as they stand, all in one block and without a look at
 * their headers: who reads them walks the headers anyway, and reports the place where one cannot be
 * (tally_data_block_bad).  Records that cannot be used in place, because of their byte order or
 * because something of odd size stands before them, are copied, about a megabyte at a time.
 * Blocks once found are kept, so that a second pass gets the same. */
#include "file/data_file.h"

#include <errno.h>
#include <stdlib.h>
#include "base/fail.h"
#include "file/extent.h"

#define COPY_SIZE (1U << 20)

static int insert_block(struct tally_data *data, size_t at, struct file_block block)
{
	if (data->block_count == data->block_room) {
		size_t room = data->block_room ? data->block_room * 2 : 16;
		struct file_block *blocks = reallocarray(data->blocks, room, sizeof(*data->blocks));

		if (!blocks)
			return -ENOMEM;
		data->blocks = blocks;
		data->block_room = room;
	}
	memmove(&data->blocks[at + 1], &data->blocks[at],
		(data->block_count - at) * sizeof(*data->blocks));
	data->blocks[at] = block;
	data->block_count++;
	return 0;
}

static struct file_block raw_block(const struct tally_data *data, uint64_t from, uint64_t end)
{
	return (struct file_block){
	    .block = {.bytes = data->file.data + from,
		      .size = (size_t)((end - from) & ~7ULL),
		      .offset = from},
	    .file_end = end,
	    .raw = true,
	};
}

/* Bytes at the very end that cannot be a whole record.  Of a recording that was cut or killed that
 * is how it ends, and was told already. */
static void lose_tail(struct tally_data *data, uint64_t at, uint64_t end)
{
	if (data->data_cut && data->damage.count)
		data->damage.lost_bytes += end - at;
	else
		tally_file_damage(data, at, end - at,
				  "the last record, at byte %llu, is cut after %llu bytes",
				  (unsigned long long)at, (unsigned long long)(end - at));
}

/* The last block was read to its end: a rest of less than 8 bytes, which no block can hold, is
 * told. */
static void tell_tail(struct tally_data *data)
{
	struct file_block *last;
	uint64_t end;

	if (data->tail_told || !data->block_count)
		return;
	data->tail_told = true;
	last = &data->blocks[data->block_count - 1];
	end = last->block.offset + last->block.size;
	if (last->raw && end < last->file_end)
		lose_tail(data, end, last->file_end);
}

/* What to do with a place that is no usable record; returns where to go on. */
static uint64_t pass_bad(struct tally_data *data, uint64_t at, uint64_t end)
{
	struct file_record_header header;
	uint64_t next;

	if (end - at < 8) {
		lose_tail(data, at, end);
		return end;
	}
	header = tally_file_record_header(data, at);
	if (header.size >= 8 && header.size <= end - at) {
		header.extent = tally_file_extent(data, at, &header);
		if (header.extent <= end - at && header.size % 8 &&
		    tally_file_odd_size_allowed(header.type)) {
			data->damage.passed_over++;
			data->odd_sizes = true;
			return at + header.extent;
		}
	} else {
		header.extent = header.size;
	}
	/* A recording that was cut or killed ends in the middle of something. */
	if (data->data_cut && end == data->data_end && header.size >= 8 &&
	    header.extent > end - at && header.type && header.type < 128) {
		next = tally_file_resync(data, at + 8, end);
		if (next == end) {
			lose_tail(data, at, end);
			return end;
		}
	} else {
		next = tally_file_resync(data, at + 8, end);
	}
	tally_file_damage(
	    data, at, next - at,
	    "no record can stand at byte %llu (type %u, size %u): %llu bytes passed over",
	    (unsigned long long)at, header.type, header.size, (unsigned long long)(next - at));
	return next;
}

/* Swaps the copy of a record into native order. */
static int to_native(const struct tally_data *data, uint8_t *bytes, uint32_t type, size_t size)
{
	int event = tally_file_event_of(data, bytes, type, size, true);

	/* Without a known event the first one's layout is as good as any: the record keeps its
	 * unknown id, and whoever asks for its event is told. */
	return tally_record_swap(&data->events[event < 0 ? 0 : event].layout, bytes, size, true,
				 NULL);
}

static int copy_block(struct tally_data *data)
{
	struct file_block made = {.block = {.offset = data->scan_at}};
	uint64_t at = data->scan_at, end = data->data_end;
	uint8_t *bytes = NULL;
	size_t room = 0, size = 0;
	int code;

	while (at < end && size < COPY_SIZE) {
		struct file_record_header header = {0};
		bool good = end - at >= 8;

		if (good) {
			header = tally_file_record_header(data, at);
			good = header.size >= 8 && header.size % 8 == 0 && header.size <= end - at;
		}
		if (good) {
			header.extent = tally_file_extent(data, at, &header);
			good = header.extent <= end - at;
		}
		if (!good) {
			if (size)
				break; /* one block is one run: offsets in it can be counted */
			at = pass_bad(data, at, end);
			continue;
		}
		if (header.extent > room - size) {
			size_t more = size + (size_t)header.extent;
			uint8_t *grown;

			more = more < COPY_SIZE + 65536 ? COPY_SIZE + 65536 : more;
			grown = realloc(bytes, more);
			if (!grown) {
				free(bytes);
				return -ENOMEM;
			}
			bytes = grown;
			room = more;
		}
		memcpy(bytes + size, data->file.data + at, (size_t)header.extent);
		if (data->swapped && to_native(data, bytes + size, header.type, header.size)) {
			if (size)
				break;
			tally_file_damage(
			    data, at, header.size,
			    "the record at byte %llu (type %u) is shorter than its type",
			    (unsigned long long)at, header.type);
			at += header.extent;
			continue;
		}
		if (!size)
			made.block.offset = at;
		size += (size_t)header.extent;
		at += header.extent;
	}
	data->scan_at = at;
	if (!size) {
		free(bytes);
		return 0;
	}
	made.block.bytes = bytes;
	made.block.size = size;
	made.file_end = at;
	code = insert_block(data, data->block_count, made);
	if (code)
		free(bytes);
	return code ? code : 1;
}

/* Appends the next block: 1, 0 at the end, -errno. */
static int find_block(struct tally_data *data)
{
	if (!data->blocks_begun) {
		data->blocks_begun = true;
		data->scan_at = data->data.offset;
		data->copying = data->swapped || data->data.offset % 8;
	}
	if (data->scan_at % 8)
		data->copying = true;
	if (data->scan_at >= data->data_end) {
		tell_tail(data);
		return 0;
	}
	if (!data->copying) {
		struct file_block block = raw_block(data, data->scan_at, data->data_end);
		int code;

		data->scan_at = data->data_end;
		code = insert_block(data, data->block_count, block);
		return code ? code : 1;
	}
	return copy_block(data);
}

int tally_data_next(struct tally_data *data, struct tally_block *ret, struct tally_error *error)
{
	for (;;) {
		if (data->block_next == data->block_count) {
			int found = find_block(data);

			if (found < 0)
				return tally_fail(error, found, (int64_t)data->scan_at,
						  "%s: out of memory for a copy of its records",
						  data->path);
			if (!found)
				return 0;
		}
		if (data->blocks[data->block_next].block.size)
			break;
		data->block_next++;
	}
	*ret = data->blocks[data->block_next++].block;
	return 1;
}

int tally_data_block_bad(struct tally_data *data, uint64_t offset, struct tally_block *ret,
			 struct tally_error *error)
{
	size_t i = 0;
	uint64_t next, end;

	while (i < data->block_count && offset >= data->blocks[i].file_end)
		i++;
	/* Copies were checked when they were made; an offset outside of all blocks is none of ours.
	 */
	if (i == data->block_count || offset < data->blocks[i].block.offset || !data->blocks[i].raw)
		return tally_data_next(data, ret, error);
	end = data->blocks[i].file_end;
	data->blocks[i].block.size = (size_t)(offset - data->blocks[i].block.offset);
	data->blocks[i].file_end = offset;
	next = pass_bad(data, offset, end);
	data->block_next = i + 1;
	if (next >= end)
		return tally_data_next(data, ret, error);
	if (i + 1 == data->block_count && end == data->data_end) {
		data->scan_at = next;
		if (next % 8 == 0 && !data->copying) {
			data->scan_at = end;
			if (insert_block(data, i + 1, raw_block(data, next, end)))
				return tally_fail(error, -ENOMEM, (int64_t)next,
						  "%s: out of memory for the list of its blocks",
						  data->path);
		}
		return tally_data_next(data, ret, error);
	}
	/* A later reader is stricter than the first was: the rest of this block, where aligned. */
	next = align_up(next, 8);
	if (next < end && insert_block(data, i + 1, raw_block(data, next, end)))
		return tally_fail(error, -ENOMEM, (int64_t)next,
				  "%s: out of memory for the list of its blocks", data->path);
	return tally_data_next(data, ret, error);
}

void tally_data_rewind(struct tally_data *data)
{
	data->block_next = 0;
	data->walk = (struct tally_block){0};
	data->walk_at = 0;
}

int tally_data_next_record(struct tally_data *data, struct tally_record *ret,
			   struct tally_error *error)
{
	struct tally_block *walk = &data->walk;
	int code = 1;

	for (;;) {
		struct tally_record record;
		size_t left = walk->size - data->walk_at;

		if (!left) {
			data->walk_at = 0;
			*walk = (struct tally_block){0};
			code = tally_data_next(data, walk, error);
			if (code <= 0)
				return code;
			continue;
		}
		if (tally_block_record(walk, data->walk_at, &record)) {
			data->walk_at += (size_t)tally_record_extent(&record);
			*ret = record;
			return 1;
		}
		code = tally_data_block_bad(data, walk->offset + data->walk_at, walk, error);
		data->walk_at = 0;
		if (code <= 0) {
			*walk = (struct tally_block){0};
			return code;
		}
	}
}
