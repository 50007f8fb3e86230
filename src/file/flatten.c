/* Converts records to plain ones.
 *
 * Each file of a recording is one sequence of records and one zstd stream.  The records in a
 * compressed record take its place; a record that spans two compressed ones is put where it ends.
 * Records of an odd size are padded to 8.  The files of a directory are read in turns, a part of
 * one and then a part of the next, as perf does, because records of equal time keep that order.
 * Source: the perf.data format; the turns: perf 5.17 to 6.1. */
#include "file/flatten.h"

#include <errno.h>
#include <stdlib.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/sorted.h"
#include "base/table.h"
#include "file/extent.h"
#include "file/hiperf_stacks.h"
#include "tar/inflate.h"

/* Bytes of one file that are read in one turn. */
#define TURN (2U << 20)
/* The longest record that is put together over compressed ones; AUX data are not compressed. */
#define PACKED_MOST (16U << 20)
/* Real records compress to a fiftieth at most.  A larger ratio may be an attempt to fill the disk;
 * a large recording of empty stacks needs the option. */
#define EXPAND_RATIO 100U
#define EXPAND_FREE  ((uint64_t)64 * 1000 * 1000)

/* One file while it is converted. */
struct source {
	struct tally_data *data;
	struct file_flat *flat;
	struct file_region region;
	unsigned part;
	uint64_t at;
	struct tally_inflate *inflate;
	struct tally_buf carry; /* decoded, not yet a whole record */
	struct tally_buf copy;  /* of one record; stacks may be small */
	bool broken;            /* its stream was damaged, which was reported */
	/* Compressed records, and ends of rounds among them, that nobody will read again. */
	uint64_t done_from, done_to;
	int code; /* out of memory, or of room */
};

/* Notes the place of the next record in its file. */
static int note_place(struct source *source, const struct file_region *region, uint64_t at)
{
	struct file_flat *flat = source->flat;
	struct flat_place place = {
	    .at = flat->spool->size,
	    .source = file_region_place(region, at),
	    .part = source->part,
	    .packed = region->packed,
	};
	struct flat_place *last = flat->place_count ? &flat->places[flat->place_count - 1] : NULL;

	if (last && last->part == place.part && last->packed == place.packed &&
	    (place.packed ? place.source == last->source
			  : place.source - last->source == place.at - last->at))
		return 0;
	if (!array_next(&flat->places, &flat->place_room, flat->place_count, 64,
			sizeof(*flat->places)))
		return -ENOMEM;
	flat->places[flat->place_count++] = place;
	return 0;
}

/* Swaps the copy of a record into native order. */
static int to_native(const struct tally_data *data, uint8_t *bytes, uint32_t type, size_t size)
{
	int event = tally_file_event_of(data, bytes, type, size, true);

	/* Without a known event the first one's layout is as good as any: the record keeps its
	 * unknown id, and a search for its event fails. */
	return tally_record_swap(&data->events[event < 0 ? 0 : event].layout, bytes, size, true,
				 NULL);
}

/* What records of so many bytes may expand to. */
static uint64_t expand_most(const struct tally_data *data, uint64_t bytes)
{
	return data->options.expand_most ? data->options.expand_most
					 : EXPAND_FREE + bytes * EXPAND_RATIO;
}

/* A sample with the number of its stack, to the spool with its call chain: 1, 0 for other records,
 * -errno. */
static int copy_unfolded(struct source *source, const struct file_region *region, uint64_t at,
			 const struct file_record_header *header)
{
	struct file_spool *spool = source->flat->spool;
	struct tally_data *data = source->data;
	const struct tally_record record = {
	    .bytes = region->bytes + at,
	    .type = header->type,
	    .misc = header->misc,
	    .size = header->size,
	};
	uint64_t most;
	bool whole;
	size_t size;
	int code;

	if (!data->hiperf || header->type != PERF_RECORD_SAMPLE)
		return 0;
	if (tally_buf_reserve(&source->copy, UINT16_MAX + 1))
		return -ENOMEM;
	size = tally_hiperf_stacks_unfold(data, &record, source->copy.data, &whole);
	if (!size)
		return 0;
	if (!whole)
		tally_file_damage(data, at, 0,
				  "%sthe call chain of the sample at byte %llu is not in the table "
				  "of stacks",
				  region->name, file_region_place(region, at));
	source->flat->folded_bytes += header->size;
	source->flat->unfolded_bytes += size;
	most = expand_most(data, source->flat->folded_bytes);
	if (source->flat->unfolded_bytes > most) {
		source->flat->unfolded_bytes -= size;
		tally_file_damage(data, at, header->size,
				  "%sits call chains expand to more than %llu MB from byte %llu "
				  "on; --max-expand=MB reads more",
				  region->name, (unsigned long long)(most / 1000000),
				  file_region_place(region, at));
		return 1;
	}
	code = note_place(source, region, at);
	if (!code)
		code = tally_spool_add(spool, source->copy.data, size);
	return code ? code : 1;
}

/* A whole record of the region to the spool. */
static int copy_record(struct source *source, const struct file_region *region, uint64_t at,
		       const struct file_record_header *header)
{
	struct file_spool *spool = source->flat->spool;
	struct tally_data *data = source->data;
	const uint8_t *bytes = region->bytes + at;
	uint64_t padded = align_up(header->size, 8);
	uint8_t *copy;
	int code = copy_unfolded(source, region, at, header);

	if (code)
		return code < 0 ? code : 0;
	if (padded == header->size && !data->swapped) {
		code = note_place(source, region, at);
		return code ? code : tally_spool_add(spool, bytes, (size_t)header->extent);
	}
	if (padded > UINT16_MAX) {
		data->damage.passed_over++;
		return 0;
	}
	if (tally_buf_reserve(&source->copy, UINT16_MAX + 1))
		return -ENOMEM;
	copy = source->copy.data;
	memcpy(copy, bytes, header->size);
	memset(copy + header->size, 0, (size_t)padded - header->size);
	if (data->swapped && to_native(data, copy, header->type, header->size)) {
		tally_file_damage(data, region->packed ? region->packed_at : at,
				  region->packed ? 0 : header->size,
				  "%sthe record at byte %llu (type %u) is shorter than its type",
				  region->name, file_region_place(region, at), header->type);
		return 0;
	}
	store_u16(copy + 6, (uint16_t)padded);
	code = note_place(source, region, at);
	if (!code)
		code = tally_spool_add(spool, copy, (size_t)padded);
	if (!code)
		code = tally_spool_add(spool, bytes + header->size,
				       (size_t)header->extent - header->size);
	return code;
}

/* Copies the complete records at the start of the decoded bytes; the rest is kept for the next
 * piece. */
static int copy_decoded(struct source *source, uint64_t packed_at)
{
	struct file_region region = {
	    .bytes = source->carry.data,
	    .end = source->carry.size,
	    .name = source->region.name,
	    .cut = true,
	    .packed = true,
	    .packed_at = packed_at,
	};
	uint64_t at = 0;
	int code = 0;

	while (!code && region.end - at >= 8) {
		struct file_record_header header;
		enum file_fit fit = tally_file_fit(&region, source->data->swapped, at, &header);

		/* One of odd size would leave the rest unaligned; no such record is packed. */
		if (fit == FILE_FIT_WHOLE) {
			code = copy_record(source, &region, at, &header);
			at += header.extent;
			continue;
		}
		if (header.size >= 8 && header.size % 8 == 0 && header.extent > region.end - at &&
		    header.extent <= PACKED_MOST)
			break; /* the rest follows */
		at = tally_file_resync(source->data, &region, at + 8);
		/* Less than 8 bytes are kept, so that the alignment of the next bytes does not
		 * change. */
		if (at == region.end)
			at -= region.end % 8;
		tally_file_damage(source->data, packed_at, 0,
				  "%sthe compressed record at byte %llu holds bytes that are no "
				  "record",
				  region.name, (unsigned long long)packed_at);
	}
	if (at) {
		memmove(source->carry.data, source->carry.data + at, source->carry.size - at);
		source->carry.size -= at;
	}
	return code;
}

struct decoding {
	struct source *source;
	uint64_t at; /* of the compressed record */
	bool too_much;
};

static int take_decoded(void *context, const uint8_t *bytes, size_t size)
{
	struct decoding *decoding = context;
	struct source *source = decoding->source;
	struct tally_data_packed *packed = &source->flat->packed;

	packed->bytes_out += size;
	if (packed->bytes_out > expand_most(source->data, packed->bytes_in)) {
		decoding->too_much = true;
		return -EFBIG;
	}
	tally_buf_add(&source->carry, bytes, size);
	if (source->carry.failed)
		return -ENOMEM;
	return copy_decoded(source, decoding->at);
}

/* Decodes the zstd bytes of a compressed record, as far as they exist. */
static int copy_packed(struct source *source, uint64_t at, const struct file_record_header *header)
{
	struct tally_data *data = source->data;
	struct file_region *region = &source->region;
	struct decoding decoding = {.source = source, .at = at};
	uint64_t size = region->end - at < header->size ? region->end - at : header->size;
	struct file_cursor cursor = file_region_cursor(region, data->swapped, at + 8, size - 8);
	int code = source->inflate ? 0 : tally_inflate_new(&source->inflate);

	source->flat->packed.records++;
	if (header->type == PERF_RECORD_COMPRESSED2) {
		uint64_t packed = cursor_u64(&cursor);

		if (packed < cursor_left(&cursor))
			cursor.end = cursor.at + packed;
	}
	source->flat->packed.bytes_in += cursor_left(&cursor);
	if (code == -ENOTSUP) {
		if (!source->broken)
			tally_file_damage(data, at, 0,
					  "%scompressed records from byte %llu on cannot be read: "
					  "this tally was built without libzstd",
					  region->name, (unsigned long long)at);
		source->broken = true;
		data->damage.lost_bytes += size;
		return 0;
	}
	if (!code)
		code = tally_inflate_feed(source->inflate, cursor.at, cursor_left(&cursor),
					  take_decoded, &decoding);
	if (code != -EBADMSG && !decoding.too_much) {
		source->broken = false;
		return code;
	}
	if (!source->broken && decoding.too_much)
		tally_file_damage(
		    data, at, 0,
		    "%sits compressed records expand to more than %llu MB from byte %llu "
		    "on; --max-expand=MB reads more",
		    region->name,
		    (unsigned long long)(expand_most(data, source->flat->packed.bytes_in) /
					 1000000),
		    (unsigned long long)at);
	else if (!source->broken)
		tally_file_damage(data, at, 0,
				  "%sthe compressed record at byte %llu is damaged (%s): the "
				  "records in it and in the next ones are lost",
				  region->name, (unsigned long long)at,
				  tally_inflate_why(source->inflate));
	source->broken = true;
	data->damage.lost_bytes += size;
	source->carry.size = 0;
	return 0;
}

static bool is_packed(uint32_t type)
{
	return type == PERF_RECORD_COMPRESSED || type == PERF_RECORD_COMPRESSED2;
}

/* A stream from a pipe is in a file of ours, which need not keep it twice. */
static void drop_done(struct source *source)
{
	if (source->data->stream && !source->part)
		tally_spool_drop(source->data->stream, source->done_from, source->done_to);
	source->done_from = source->done_to = source->at;
}

/* Whether there is really a record at the source's place, and not damaged bytes that look like a
 * header.  Compressed records are checked by zstd, and few writers have names of odd sizes: after
 * those there must be a record. */
static bool believed(const struct source *source, const struct file_record_header *header)
{
	const struct file_region *region = &source->region;
	const struct tally_record record = {
	    .bytes = region->bytes + source->at,
	    .type = header->type,
	    .misc = header->misc,
	    .size = header->size,
	};

	if (header->size % 8 && file_odd_name(header->type) &&
	    !tally_file_goes_on(source->data, region, source->at + header->size))
		return false;
	return source->data->swapped || tally_file_trusts(source->data, &record) ||
	       tally_hiperf_stacks_numbers(source->data, &record) ||
	       tally_file_ends_at(source->data, region, source->at, source->at + header->extent);
}

/* Copies up to `most` bytes of a file's records, and at least one record. */
static int copy_some(struct source *source, uint64_t most)
{
	struct file_region *region = &source->region;
	uint64_t until = region->end - source->at > most ? source->at + most : region->end;
	int code = 0;

	while (!code && source->at < until) {
		struct file_record_header header;
		enum file_fit fit =
		    tally_file_fit(region, source->data->swapped, source->at, &header);

		if (fit != FILE_FIT_NONE && !believed(source, &header))
			fit = FILE_FIT_NONE;
		region->odd_sizes |= fit == FILE_FIT_ODD;
		if (fit == FILE_FIT_NONE) {
			/* The start of a compressed record that was cut can still be decoded. */
			if (region->cut && is_packed(header.type) && header.size > 8 &&
			    region->end - source->at > 8)
				code = copy_packed(source, source->at, &header);
			source->at = tally_file_pass_bad(source->data, region, source->at);
			drop_done(source);
			continue;
		}
		if (is_packed(header.type))
			code = copy_packed(source, source->at, &header);
		else
			code = copy_record(source, region, source->at, &header);
		source->at += header.extent;
		/* Other records may be read in place: features of a stream. */
		if (is_packed(header.type) || header.type == PERF_RECORD_FINISHED_ROUND)
			source->done_to = source->at;
		else
			drop_done(source);
	}
	drop_done(source);
	return code;
}

/* Reports a record that begins in the last compressed one and does not end. */
static void end_source(struct source *source)
{
	if (source->carry.size && !source->broken)
		tally_file_damage(source->data, source->region.end, 0,
				  "%sthe last compressed record ends within a record, after %zu "
				  "bytes of it",
				  source->region.name, source->carry.size);
	tally_buf_done(&source->carry);
	tally_buf_done(&source->copy);
	tally_inflate_free(source->inflate);
}

static int copy_all(struct tally_data *data, struct file_flat *flat, uint64_t from)
{
	size_t count = data->part_count + 1, left = 0;
	struct source *sources = calloc(count, sizeof(*sources));
	uint64_t start;
	int code = 0;

	if (!sources)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		sources[i] = (struct source){
		    .data = data,
		    .flat = flat,
		    .region = data->records,
		    .part = (unsigned)i,
		    .at = from,
		    .done_from = from,
		    .done_to = from,
		};
		if (i) {
			const struct file_part *part = &data->parts[i - 1];

			sources[i].at = 0;
			sources[i].region = (struct file_region){
			    .bytes = part->map.data,
			    .end = part->map.size,
			    .name = part->name,
			    .cut = data->records.cut,
			};
		}
		left += sources[i].at < sources[i].region.end;
	}
	for (size_t i = 0; !code && left; i = (i + 1) % count) {
		struct source *source = &sources[i];

		if (source->at >= source->region.end)
			continue;
		start = source->at;
		code = copy_some(source, TURN);
		tally_file_forget(source->region.bytes, start, source->at);
		left -= source->at >= source->region.end;
	}
	for (size_t i = 0; i < count; i++)
		end_source(&sources[i]);
	free(sources);
	return code;
}

int tally_file_flatten(struct tally_data *data, uint64_t from, struct tally_error *error)
{
	struct file_flat *flat = calloc(1, sizeof(*flat));
	int code;

	if (!flat)
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", data->path);
	code = tally_spool_open(data->path, "its records, decoded", &flat->spool, error);
	if (code) {
		free(flat);
		return code;
	}
	flat->base = align_up(from, 8);
	code = copy_all(data, flat, from);
	if (!code)
		code = tally_spool_finish(flat->spool);
	if (code) {
		code = tally_spool_fail(flat->spool, code, data->path, error);
		tally_file_flat_free(flat);
		return code;
	}
	data->flat = flat;
	return 0;
}

void tally_file_flat_free(struct file_flat *flat)
{
	if (!flat)
		return;
	tally_spool_close(flat->spool);
	free(flat->places);
	free(flat);
}

const struct tally_data_packed *tally_data_packed(const struct tally_data *data)
{
	static const struct tally_data_packed none;

	return data->flat ? &data->flat->packed : &none;
}

int tally_data_place(const struct tally_data *data, uint64_t offset, struct tally_data_place *ret)
{
	struct tally_data_place own = {.offset = offset, .part = -1};
	const struct file_flat *flat = data->flat;
	const struct flat_place *place;
	uint64_t at;

	if (!flat || !flat->place_count || offset < flat->base)
		return tally_result_copy(ret, sizeof(own), &own);
	at = offset - flat->base;
	place = &flat->places[SORTED_BOUND(i, 1, flat->place_count, flat->places[i].at <= at) - 1];
	own.packed = place->packed;
	own.offset = place->source + (place->packed ? 0 : at - place->at);
	own.part = place->part ? (int)data->parts[place->part - 1].number : -1;
	return tally_result_copy(ret, sizeof(own), &own);
}
