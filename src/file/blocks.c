/* The records, in blocks.
 *
 * Records of an undamaged native file are given unchanged, all in one block, without a check of
 * their headers: the reader looks at each header anyway, and reports an impossible one with
 * tally_data_block_bad().  Records that cannot be used in place are converted all at once
 * (flatten.c) and are one block too.  The list of blocks is kept, so that a second pass gets the
 * same ones. */
#include <errno.h>
#include <stdlib.h>
#include "base/fail.h"
#include "base/table.h"
#include "file/extent.h"
#include "file/flatten.h"
#include "file/live.h"

static int fail_memory(const struct tally_data *data, struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "%s: out of memory for the list of its blocks",
			  data->path);
}

static int insert_block(struct tally_data *data, size_t at, struct file_block block)
{
	if (!array_next(&data->blocks, &data->block_room, data->block_count, 16,
			sizeof(*data->blocks)))
		return -ENOMEM;
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

/* The last block was read to its end: reports a rest of less than 8 bytes, which no block can hold.
 */
static void report_tail(struct tally_data *data)
{
	struct file_block *last;
	uint64_t end;

	if (data->tail_reported || !data->block_count)
		return;
	data->tail_reported = true;
	last = &data->blocks[data->block_count - 1];
	end = last->block.offset + last->block.size;
	if (last->raw && end < last->file_end)
		tally_file_lose_tail(data, &data->records, end);
}

/* Converts the records from `from` on to plain ones, as the last block. */
static int add_flat(struct tally_data *data, uint64_t from, struct tally_error *error)
{
	struct file_block block = {.raw = false};
	int code = tally_file_flatten(data, from, error);

	if (code)
		return code;
	block.block = (struct tally_block){
	    .bytes = data->flat->spool->map.data,
	    .size = data->flat->spool->map.size,
	    .offset = data->flat->base,
	};
	block.file_end = UINT64_MAX;
	code = insert_block(data, data->block_count, block);
	return code ? fail_memory(data, error) : 1;
}

/* Whether records are compressed: then all samples are, so the first of either kind is the answer.
 */
static bool is_compressed(const struct tally_data *data)
{
	const struct file_region *region = &data->records;
	struct file_record_header header;

	for (uint64_t at = region->start; at < region->end; at += header.extent) {
		if (tally_file_fit(region, data->swapped, at, &header) != FILE_FIT_WHOLE)
			return false;
		if (header.type == PERF_RECORD_COMPRESSED || header.type == PERF_RECORD_COMPRESSED2)
			return true;
		if (header.type == PERF_RECORD_SAMPLE)
			return false;
	}
	return false;
}

/* The records of a stream's window, whose headers were checked when they arrived. */
static int add_window(struct tally_data *data, struct tally_error *error)
{
	struct file_block block = {.block = tally_live_block(data), .file_end = UINT64_MAX};

	if (!block.block.size)
		return 0;
	return insert_block(data, 0, block) ? fail_memory(data, error) : 1;
}

/* Appends the first block: 1, 0 when there are no records, -errno. */
static int find_first(struct tally_data *data, struct tally_error *error)
{
	struct file_region *region = &data->records;

	data->blocks_begun = true;
	if (data->live)
		return add_window(data, error);
	if (region->start >= region->end && !data->part_count)
		return 0;
	if (data->part_count || data->swapped || data->flat_needed || data->hiperf ||
	    region->start % 8 || is_compressed(data))
		return add_flat(data, region->start, error);
	return insert_block(data, 0, raw_block(data, region->start, region->end))
		   ? fail_memory(data, error)
		   : 1;
}

int tally_data_next(struct tally_data *data, struct tally_block *ret, struct tally_error *error)
{
	for (;;) {
		if (data->block_next == data->block_count) {
			int found = data->blocks_begun ? 0 : find_first(data, error);

			if (found < 0)
				return found;
			if (!found) {
				report_tail(data);
				return 0;
			}
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
	struct file_record_header header;
	size_t i = 0;
	uint64_t next, end;
	bool last;
	int code;

	while (i < data->block_count && offset >= data->blocks[i].file_end)
		i++;
	/* Copies were checked when they were made; an offset outside of all blocks is not of this
	 * file. */
	if (i == data->block_count || offset < data->blocks[i].block.offset || !data->blocks[i].raw)
		return tally_data_next(data, ret, error);
	end = data->blocks[i].file_end;
	data->blocks[i].block.size = (size_t)(offset - data->blocks[i].block.offset);
	data->blocks[i].file_end = offset;
	data->block_next = i + 1;
	last = i + 1 == data->block_count && end == data->records.end;
	/* A record whose only fault is an odd size is valid, but the records after it are not
	 * aligned.  Before another block it can only be skipped. */
	next = offset;
	if (!last || tally_file_fit(&data->records, data->swapped, offset, &header) != FILE_FIT_ODD)
		next = tally_file_pass_bad(data, &data->records, offset);
	if (next >= end)
		return tally_data_next(data, ret, error);
	if (last && (next == offset || next % 8)) {
		code = add_flat(data, next, error);
		return code < 0 ? code : tally_data_next(data, ret, error);
	}
	/* If a later reader is stricter than the first one: the rest of this block. */
	next = align_up(next, 8);
	if (next < end && insert_block(data, i + 1, raw_block(data, next, end)))
		return fail_memory(data, error);
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
			size_t next = data->walk_at + (size_t)tally_record_extent(&record);
			bool trusted = tally_file_trusts(data, &record);

			if (trusted || tally_file_ends_well(data, &record)) {
				data->walk_at = next;
				if (!trusted) {
					tally_file_refuse(data, &record);
					continue;
				}
				*ret = record;
				return 1;
			}
		}
		code = tally_data_block_bad(data, walk->offset + data->walk_at, walk, error);
		data->walk_at = 0;
		if (code <= 0) {
			*walk = (struct tally_block){0};
			return code;
		}
	}
}
