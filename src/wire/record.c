#include <tally/record.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "wire/record_size.h"
#include "wire/sample_read.h"
#include "wire/sample_shape.h"
#include "wire/walk.h"

#define HEADER 8

/* Kernel records other than samples end with a trailer; types from 64 up are the tool's. */
static size_t trailer_of(const struct tally_layout *layout, uint32_t type)
{
	return type < PERF_RECORD_HEADER_ATTR && type != PERF_RECORD_SAMPLE ? layout->trailer_size
									    : 0;
}

static const char *type_name(uint32_t type)
{
	const char *name = tally_record_type_name(type);

	return name ? name : "unknown record";
}

static int cut(const struct tally_record *record, const struct wire_walk *walk,
	       struct tally_error *error)
{
	return tally_fail(
	    error, -EBADMSG, (int64_t)(record->offset + walk->at),
	    "%s record of %u bytes at offset %#llx is too short for its fields (byte %zu)",
	    type_name(record->type), record->size, (unsigned long long)record->offset, walk->at);
}

static struct wire_walk over(const struct tally_layout *layout, const struct tally_record *record)
{
	return (struct wire_walk){
	    .mode = WIRE_DECODE,
	    .layout = layout,
	    .bytes = (uint8_t *)record->bytes,
	    .at = HEADER,
	    .end = record->size,
	    .misc = record->misc,
	};
}

static int shapeless(const struct tally_record *record, struct tally_error *error)
{
	return tally_fail(
	    error, -EBADMSG, (int64_t)record->offset,
	    "SAMPLE record of %u bytes at offset %#llx does not have the length of its fields",
	    record->size, (unsigned long long)record->offset);
}

/* Reports why a sample could not be read: `at` is the start of the incomplete field. */
static int unreadable(const struct tally_layout *layout, const struct tally_record *record,
		      size_t at, struct tally_error *error)
{
	struct wire_walk walk = over(layout, record);

	if (!at)
		return shapeless(record, error);
	walk.at = at;
	return cut(record, &walk, error);
}

static int unsized(struct tally_error *error)
{
	return tally_fail(error, -EINVAL, -1, "the size of the struct to decode to is not set");
}

int tally_sample_decode(const struct tally_layout *layout, const struct tally_record *record,
			uint64_t want, struct tally_sample *ret, struct tally_error *error)
{
	uint64_t present = want & layout->sample_type;
	struct tally_sample sample;
	size_t at = HEADER;

	if (!tally_result_is_sized(ret))
		return unsized(error);
	memset(&sample, 0, sizeof(sample));
	if (!sample_read(layout, record, present, &sample)) {
		/* Once more, for the place. */
		if (sample_holds(layout, record))
			tally_sample_read_rest(layout, record, present, &sample, &at);
		return unreadable(layout, record, at, error);
	}
	return tally_result_copy(ret, sizeof(sample), &sample);
}

int tally_sample_id_decode(const struct tally_layout *layout, const struct tally_record *record,
			   struct tally_sample_id *ret, struct tally_error *error)
{
	struct wire_walk walk = over(layout, record);
	struct tally_sample_id id = {0};

	if (layout->sample_id_all) {
		if (record->size < HEADER + layout->trailer_size)
			return cut(record, &walk, error);
		id.present = layout->sample_type & WIRE_TRAILER_BITS;
		walk.at = (size_t)record->size - layout->trailer_size;
		if (tally_wire_walk(&walk, tally_wire_trailer_rows, layout->sample_type, &id))
			return cut(record, &walk, error);
	}
	*ret = id;
	return 0;
}

/* The address of the union in struct tally_body, which all its members share. */
static void *base_of(struct tally_body *body)
{
	return &body->sample;
}

/* The offset of prot and flags of MMAP2, which Linux 3.16 added, after header, pid, tid, addr, len,
 * pgoff, maj, min, ino, ino_generation.  Source: perf_event.h of Linux 3.12 and 3.16. */
#define MMAP2_ID_AT 40
#define MMAP2_PROT  64

/* Whether 8 bytes are the start of a name, and not prot and flags.  The kernel sets only the lowest
 * three bits of prot, which no name begins with in either byte order. */
static bool is_name(const uint8_t *at)
{
	size_t length;

	if (at[0] != '/' && at[0] != '[')
		return false;
	length = strnlen((const char *)at, 8);
	for (size_t i = 1; i < 8; i++)
		if (i < length ? at[i] < ' ' : at[i] != 0)
			return false;
	return true;
}

/* Whether an MMAP2 record has its name at that offset. */
static bool is_bare_mmap2(const struct tally_record *record, size_t end)
{
	if (record->type != PERF_RECORD_MMAP2 || end < MMAP2_PROT + 8)
		return false;
	/* Kernels that write build-ids write prot too. */
	if ((record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
	    tally_wire_is_mmap2_id(record->bytes + MMAP2_ID_AT, end - MMAP2_ID_AT))
		return false;
	return is_name(record->bytes + MMAP2_PROT);
}

/* Whether prot and flags of an MMAP2 record would be a name in the other byte order. */
static bool is_swapped_name(const struct tally_record *record, size_t end)
{
	const uint8_t *at = record->bytes + MMAP2_PROT;
	uint8_t swapped[8];

	if (record->type != PERF_RECORD_MMAP2 || end < MMAP2_PROT + 8)
		return false;
	store_u32(swapped, __builtin_bswap32(load_u32(at)));
	store_u32(swapped + 4, __builtin_bswap32(load_u32(at + 4)));
	return is_name(swapped);
}

static struct wire_rows rows_of(const struct tally_record *record, size_t end)
{
	return is_bare_mmap2(record, end) ? tally_wire_bare_mmap2_rows
					  : tally_wire_rows(record->type);
}

int tally_record_decode(const struct tally_layout *layout, const struct tally_record *record,
			struct tally_body *ret, struct tally_error *error)
{
	struct wire_walk walk = over(layout, record);
	size_t trailer = trailer_of(layout, record->type);
	/* A tally_body is large, so only the members of this type are cleared. */
	struct tally_body body;
	int failure;

	if (!tally_result_is_sized(ret))
		return unsized(error);
	memset(&body, 0, sizeof(body));
	body.type = record->type;
	body.misc = record->misc;
	if (record->size < HEADER + trailer)
		return cut(record, &walk, error);
	if (trailer) {
		failure = tally_sample_id_decode(layout, record, &body.id, error);
		if (failure)
			return failure;
		walk.end -= trailer;
	}
	if (record->type == PERF_RECORD_SAMPLE) {
		body.sample.size = sizeof(body.sample);
		failure =
		    tally_sample_decode(layout, record, layout->sample_type, &body.sample, error);
		if (failure)
			return failure;
	} else if (tally_wire_walk(&walk, rows_of(record, walk.end), layout->sample_type,
				   base_of(&body)))
		return cut(record, &walk, error);
	body.misc = walk.misc;
	if (is_swapped_name(record, walk.end) && !is_bare_mmap2(record, walk.end))
		return tally_fail(error, -EBADMSG, (int64_t)(record->offset + MMAP2_PROT),
				  "MMAP2 record at offset %#llx has an invalid prot",
				  (unsigned long long)record->offset);
	/* The flags that an MMAP record implies. */
	if (is_bare_mmap2(record, walk.end)) {
		body.mmap2.prot =
		    record->misc & PERF_RECORD_MISC_MMAP_DATA ? PROT_READ : PROT_READ | PROT_EXEC;
		body.mmap2.flags = MAP_PRIVATE;
	}
	return tally_result_copy(ret, sizeof(body), &body);
}

static size_t least_of(const struct wire_row *row)
{
	return row->kind->least + (row->kind->row_size ? row->size : 0U);
}

unsigned tally_record_fixed_size(const struct tally_layout *layout, uint32_t type)
{
	struct wire_rows rows = tally_wire_rows(type);
	size_t size = HEADER + trailer_of(layout, type);

	for (size_t i = 0; i < rows.count; i++) {
		if (!rows.rows[i].kind->fixed || rows.rows[i].bit)
			return 0;
		size += least_of(&rows.rows[i]);
	}
	return (unsigned)size;
}

unsigned tally_record_least_size(uint32_t type)
{
	struct wire_rows rows = tally_wire_rows(type);
	size_t size = HEADER;

	if (!tally_record_type_name(type))
		return 0;
	for (size_t i = 0; i < rows.count; i++)
		if (!rows.rows[i].bit)
			size += least_of(&rows.rows[i]);
	return (unsigned)(type < PERF_RECORD_HEADER_ATTR ? align_up(size, 8) : size);
}

/* Records are padded to 8 with zeros, except these three types.  Source: the perf.data format. */
static bool unpadded(uint32_t type)
{
	return type == PERF_RECORD_HEADER_TRACING_DATA || type == PERF_RECORD_HEADER_FEATURE ||
	       type == PERF_RECORD_COMPRESSED;
}

static int put(const struct tally_layout *layout, const struct tally_body *from,
	       struct wire_walk *walk)
{
	/* To decode, the walk writes through these pointers; here it only reads. */
	struct tally_body body = {.size = sizeof(body)};
	int error = tally_options_take(&body, sizeof(body), from);
	size_t trailer = trailer_of(layout, body.type);

	if (!error)
		error = tally_wire_walk(walk, tally_wire_rows(body.type), layout->sample_type,
					base_of(&body));
	if (error)
		return error;
	if (!unpadded(body.type)) {
		size_t padding = align_up(walk->at, 8) - walk->at;

		if (walk->mode == WIRE_ENCODE) {
			if (padding > walk->end - walk->at)
				return -ENOSPC;
			memset(walk->bytes + walk->at, 0, padding);
		}
		walk->at += padding;
	}
	if (trailer) {
		error =
		    tally_wire_walk(walk, tally_wire_trailer_rows, layout->sample_type, &body.id);
		if (error)
			return error;
	}
	if (walk->at > UINT16_MAX)
		return -EOVERFLOW;
	return (int)walk->at;
}

int tally_record_size(const struct tally_layout *layout, const struct tally_body *body)
{
	struct wire_walk walk = {
	    .mode = WIRE_SIZE, .layout = layout, .at = HEADER, .misc = body->misc};

	return put(layout, body, &walk);
}

int tally_record_encode(const struct tally_layout *layout, const struct tally_body *body, void *to,
			size_t room)
{
	struct wire_walk walk = {.mode = WIRE_ENCODE,
				 .layout = layout,
				 .bytes = to,
				 .at = HEADER,
				 .end = room,
				 .misc = body->misc};
	int size;

	if (room < HEADER)
		return -ENOSPC;
	size = put(layout, body, &walk);
	if (size < 0)
		return size;
	store_u32(walk.bytes, body->type);
	store_u16(walk.bytes + 4, body->misc);
	store_u16(walk.bytes + 6, (uint16_t)size);
	return size;
}

int tally_record_swap(const struct tally_layout *layout, void *bytes, size_t size, bool to_native,
		      struct tally_error *error)
{
	struct tally_body scratch;
	struct tally_record record = {.bytes = bytes};
	struct tally_layout room;
	struct wire_walk walk;
	size_t trailer;
	uint8_t *at = bytes;

	if (size < HEADER)
		return tally_fail(error, -EBADMSG, 0, "a record of %zu bytes has no header", size);
	record.type = load_u32(at);
	record.misc = load_u16(at + 4);
	if (to_native) {
		record.type = __builtin_bswap32(record.type);
		record.misc = __builtin_bswap16(record.misc);
	}
	record.size = (uint16_t)(size > UINT16_MAX ? UINT16_MAX : size);
	store_u32(at, __builtin_bswap32(load_u32(at)));
	store_u16(at + 4, __builtin_bswap16(load_u16(at + 4)));
	store_u16(at + 6, __builtin_bswap16(load_u16(at + 6)));
	memset(&scratch, 0, sizeof(scratch));
	if (record.type == PERF_RECORD_SAMPLE)
		layout = tally_sample_shape(layout, &record, to_native, &room);
	if (!layout)
		return shapeless(&record, error);
	walk = over(layout, &record);
	walk.mode = WIRE_SWAP;
	walk.to_native = to_native;
	trailer = trailer_of(layout, record.type);
	if (record.size < HEADER + trailer)
		return cut(&record, &walk, error);
	walk.end -= trailer;
	if (tally_wire_walk(&walk, rows_of(&record, walk.end), layout->sample_type,
			    base_of(&scratch)))
		return cut(&record, &walk, error);
	walk.at = walk.end;
	walk.end += trailer;
	if (trailer &&
	    tally_wire_walk(&walk, tally_wire_trailer_rows, layout->sample_type, &scratch.id))
		return cut(&record, &walk, error);
	return 0;
}
