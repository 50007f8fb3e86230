#include "wire/walk.h"

#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "wire/attr_wire.h"

#define BUILD_ID_MOST 20
#define MMAP2_ID      24 /* bytes of an id in MMAP2, or of the numbers that may stand there */

/* Makes sure that `size` more bytes are there (or fit).  In WIRE_SIZE only counts. */
static int need(const struct wire_walk *walk, uint64_t size)
{
	if (walk->mode == WIRE_SIZE)
		return size > UINT16_MAX ? -EOVERFLOW : 0;
	if (size <= walk->end - walk->at)
		return 0;
	return walk->mode == WIRE_ENCODE ? -ENOSPC : -EBADMSG;
}

static void store(uint8_t *to, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*to = (uint8_t)value;
		break;
	case 2:
		store_u16(to, (uint16_t)value);
		break;
	case 4:
		store_u32(to, (uint32_t)value);
		break;
	default:
		store_u64(to, value);
	}
}

static uint64_t swapped(uint64_t value, size_t size)
{
	switch (size) {
	case 1:
		return value;
	case 2:
		return __builtin_bswap16((uint16_t)value);
	case 4:
		return __builtin_bswap32((uint32_t)value);
	default:
		return __builtin_bswap64(value);
	}
}

static int scalar(struct wire_walk *walk, size_t size, void *member)
{
	int error = need(walk, size);
	uint8_t *at = walk->bytes ? walk->bytes + walk->at : NULL;
	uint64_t value;

	if (error)
		return error;
	switch (walk->mode) {
	case WIRE_DECODE:
		memcpy(member, at, size);
		break;
	case WIRE_ENCODE:
		memcpy(at, member, size);
		break;
	case WIRE_SIZE:
		break;
	case WIRE_SWAP:
		value = load_uint(at, size);
		store(at, size, swapped(value, size));
		store(member, size, walk->to_native ? swapped(value, size) : value);
		break;
	}
	walk->at += size;
	return 0;
}

/* Bytes that no order touches; *member points to them. */
static int bytes(struct wire_walk *walk, uint64_t size, const uint8_t **member)
{
	int error = need(walk, size);

	if (error)
		return error;
	if (walk->mode == WIRE_ENCODE && size) {
		if (!*member)
			return -EINVAL;
		memcpy(walk->bytes + walk->at, *member, size);
	} else if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP) {
		*member = walk->bytes + walk->at;
	}
	walk->at += size;
	return 0;
}

static int pad(struct wire_walk *walk, uint64_t size)
{
	int error = need(walk, size);

	if (error)
		return error;
	if (walk->mode == WIRE_ENCODE)
		memset(walk->bytes + walk->at, 0, size);
	walk->at += size;
	return 0;
}

/* Bytes, and zeros to the record's next multiple of 8.  The kernel chooses sizes so that there are
 * none; what follows must be aligned whatever a file says. */
static int padded(struct wire_walk *walk, uint64_t size, const uint8_t **member)
{
	int error = bytes(walk, size, member);

	return error ? error : pad(walk, align_up(walk->at, 8) - walk->at);
}

/* `count` elements of `size` bytes, of which the first `words` u64 are in byte order. */
static int elements(struct wire_walk *walk, uint64_t count, size_t size, size_t words,
		    const uint8_t **member)
{
	size_t start = walk->at;
	int error;

	if (walk->mode == WIRE_SIZE ? count > UINT16_MAX / size
				    : count > (walk->end - walk->at) / size)
		return walk->mode == WIRE_SIZE     ? -EOVERFLOW
		       : walk->mode == WIRE_ENCODE ? -ENOSPC
						   : -EBADMSG;
	error = bytes(walk, count * size, member);
	if (error || walk->mode != WIRE_SWAP)
		return error;
	for (uint64_t i = 0; i < count; i++)
		for (size_t k = 0; k < words; k++) {
			uint8_t *word = walk->bytes + start + i * size + k * 8;

			store_u64(word, __builtin_bswap64(load_u64(word)));
		}
	return 0;
}

static int string(struct wire_walk *walk, size_t alignment, const char **member)
{
	size_t room = walk->end - walk->at, length;
	int error;

	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP) {
		const uint8_t *at = walk->bytes + walk->at;

		if (!room || !memchr(at, 0, room))
			return -EBADMSG;
		*member = (const char *)at;
		walk->at = walk->end;
		return 0;
	}
	if (!*member)
		return -EINVAL;
	length = strlen(*member) + 1;
	if (length > UINT16_MAX)
		return -EOVERFLOW;
	error = bytes(walk, length, (const uint8_t **)member);
	return error ? error : pad(walk, align_up(length, alignment) - length);
}

static int text(struct wire_walk *walk, size_t size, const char **member)
{
	size_t length;
	int error;

	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP) {
		error = bytes(walk, size, (const uint8_t **)member);
		return error ? error : memchr(*member, 0, size) ? 0 : -EBADMSG;
	}
	if (!*member)
		return -EINVAL;
	length = strlen(*member);
	if (length >= size)
		return -EOVERFLOW;
	error = bytes(walk, length, (const uint8_t **)member);
	return error ? error : pad(walk, size - length);
}

static int rest(struct wire_walk *walk, const uint8_t **member, size_t *size)
{
	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP)
		*size = walk->end - walk->at;
	return bytes(walk, *size, member);
}

static void swap_words(uint8_t *at, size_t size, size_t width)
{
	for (; size >= width; at += width, size -= width)
		store(at, width, swapped(load_uint(at, width), width));
}

/* As in CPU_MAP: a type, then {count, CPUs}, {count, width, padding to it, words} or {any, padding,
 * first, last}. */
static void swap_cpus(uint8_t *at, size_t size, bool to_native)
{
	uint64_t type, width;

	if (size < 8)
		return;
	type = to_native ? swapped(load_u16(at), 2) : load_u16(at);
	width = to_native ? swapped(load_u16(at + 4), 2) : load_u16(at + 4);
	swap_words(at, 2, 2);
	if (type == 2) {
		swap_words(at + 4, 4, 2);
	} else if (type == 1) {
		size_t words = width == 8 ? 10 : 6;

		swap_words(at + 2, 4, 2);
		if ((width == 4 || width == 8) && size > words)
			swap_words(at + words, size - words, (size_t)width);
	} else if (!type) {
		swap_words(at + 2, size - 2, 2);
	}
}

static int update(struct wire_walk *walk, struct tally_record_event_update *record)
{
	size_t start = walk->at;
	int error = rest(walk, &record->data, &record->data_size);

	if (error || walk->mode != WIRE_SWAP)
		return error;
	if (record->type == 1 && record->data_size >= 8)
		swap_words(walk->bytes + start, 8, 8);
	else if (record->type == 3)
		swap_cpus(walk->bytes + start, record->data_size, walk->to_native);
	return 0;
}

static int counters(struct wire_walk *walk, size_t narrow, const uint8_t **member, size_t *size)
{
	size_t start = walk->at, first;
	int error = rest(walk, member, size);

	if (error || walk->mode != WIRE_SWAP)
		return error;
	first = *size < narrow * 4 ? *size : narrow * 4;
	swap_words(walk->bytes + start, first, 4);
	swap_words(walk->bytes + start + first, *size - first, 8);
	return 0;
}

static int read_values(struct wire_walk *walk, struct tally_read *read)
{
	uint64_t format = walk->layout->read_format;
	size_t words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	bool group = format & PERF_FORMAT_GROUP;
	int error;

	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP)
		*read = (struct tally_read){.read_format = format, .nr = 1};
	error = scalar(walk, 8, group ? &read->nr : &read->value);
	if (!error && format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		error = scalar(walk, 8, &read->time_enabled);
	if (!error && format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		error = scalar(walk, 8, &read->time_running);
	if (!error && group)
		return elements(walk, read->nr, words * 8, words, (const uint8_t **)&read->group);
	if (!error && format & PERF_FORMAT_ID)
		error = scalar(walk, 8, &read->id);
	if (!error && format & PERF_FORMAT_LOST)
		error = scalar(walk, 8, &read->lost);
	return error;
}

/* The flags of a branch are C bitfields, which big endian counts from the top: a field of `width`
 * bits at bit `at` here is at 64 - at - width there.  Source: struct perf_branch_entry. */
static void swap_branch_flags(uint8_t *word, bool to_native)
{
	static const uint8_t widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};
	uint64_t from = load_u64(word), to = 0;
	unsigned at = 0;

	if (to_native)
		from = __builtin_bswap64(from);
	for (size_t i = 0; i < sizeof(widths); i++) {
		uint64_t mask = (1ULL << widths[i]) - 1;
		unsigned there = 64 - at - widths[i];

		to |= to_native ? (from >> there & mask) << at : (from >> at & mask) << there;
		at += widths[i];
	}
	store_u64(word, to_native ? to : __builtin_bswap64(to));
}

static int branches(struct wire_walk *walk, struct tally_sample *sample)
{
	uint32_t shape = (uint32_t)walk->layout->branch_sample_type;
	size_t start;
	int error = scalar(walk, 8, &sample->branch_nr);

	sample->branch_flags_present = shape;
	if (!error && shape & PERF_SAMPLE_BRANCH_HW_INDEX)
		error = scalar(walk, 8, &sample->branch_hw_idx);
	start = walk->at;
	/* Only from and to are words; the flags are bitfields and are swapped as such. */
	if (!error)
		error = elements(walk, sample->branch_nr, sizeof(struct tally_branch), 2,
				 (const uint8_t **)&sample->branches);
	if (!error && walk->mode == WIRE_SWAP)
		for (uint64_t i = 0; i < sample->branch_nr; i++)
			swap_branch_flags(walk->bytes + start + i * sizeof(struct tally_branch) +
					      16,
					  walk->to_native);
	/* Where none were decoded none are encoded: see shape_of(). */
	if ((walk->mode == WIRE_ENCODE || walk->mode == WIRE_SIZE) && !sample->branch_counters)
		return error;
	if (!error && shape & PERF_SAMPLE_BRANCH_COUNTERS)
		error = elements(walk, sample->branch_nr, 8, 1,
				 (const uint8_t **)&sample->branch_counters);
	return error;
}

static int registers(struct wire_walk *walk, uint64_t mask, uint64_t *abi, uint64_t *kept_mask,
		     const uint64_t **words)
{
	int error = scalar(walk, 8, abi);

	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP)
		*kept_mask = *abi ? mask : 0;
	if (error || !*abi)
		return error;
	return elements(walk, (uint64_t)__builtin_popcountll(mask), 8, 1, (const uint8_t **)words);
}

static int stack(struct wire_walk *walk, struct tally_sample *sample)
{
	int error = scalar(walk, 8, &sample->user_stack_size);

	if (error || !sample->user_stack_size)
		return error;
	error = padded(walk, sample->user_stack_size, &sample->user_stack);
	return error ? error : scalar(walk, 8, &sample->user_stack_dyn_size);
}

static int raw(struct wire_walk *walk, struct tally_sample *sample)
{
	int error = scalar(walk, 4, &sample->raw_size);

	return error ? error : padded(walk, sample->raw_size, &sample->raw);
}

/* Whether what stands there can be a size byte, three of nothing, and an id with zeros behind it.
 * Linux tells of an id that is not there: once a record was made for an event with build-ids, its
 * bit stays for the other events that get the same record (perf_event_mmap_output(), 5.12 to 6.18).
 */
bool tally_wire_is_mmap2_id(const uint8_t *at, size_t left)
{
	const uint8_t *end = at + MMAP2_ID;

	if (left < MMAP2_ID)
		return true; /* too short for either, which the walk finds */
	if (!at[0] || at[0] > BUILD_ID_MOST || at[1] || at[2] || at[3])
		return false;
	for (at += 4 + at[0]; at < end; at++)
		if (*at)
			return false;
	return true;
}

static int mmap2_id(struct wire_walk *walk, struct tally_record_mmap2 *mmap2)
{
	const uint8_t *id = mmap2->build_id;
	int error;

	if ((walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP) &&
	    !tally_wire_is_mmap2_id(walk->bytes + walk->at, walk->end - walk->at))
		walk->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (!(walk->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		error = scalar(walk, 4, &mmap2->maj);
		if (!error)
			error = scalar(walk, 4, &mmap2->min);
		if (!error)
			error = scalar(walk, 8, &mmap2->ino);
		return error ? error : scalar(walk, 8, &mmap2->ino_generation);
	}
	error = scalar(walk, 1, &mmap2->build_id_size);
	if (!error)
		error = pad(walk, 3);
	if (!error)
		error = bytes(walk, BUILD_ID_MOST, &id);
	if (!error && (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP))
		memcpy(mmap2->build_id, id, BUILD_ID_MOST);
	return error;
}

/* Bit 15 of misc says that the size byte is there; before it every id was 20 bytes, zeros behind
 * shorter ones.  Source: the BUILD_ID feature as perf 5.12 and later write it. */
static int build_id(struct wire_walk *walk, struct tally_record_build_id *record)
{
	const uint8_t *id = record->build_id;
	bool sized = walk->misc & 1 << 15;
	int error = bytes(walk, BUILD_ID_MOST, &id);

	if (!error && (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP))
		memcpy(record->build_id, id, BUILD_ID_MOST);
	if (!error)
		error = sized ? scalar(walk, 1, &record->build_id_size) : pad(walk, 1);
	if (!error && !sized)
		record->build_id_size = BUILD_ID_MOST;
	if (!error && record->build_id_size > BUILD_ID_MOST)
		return walk->mode == WIRE_ENCODE ? -EINVAL : -EBADMSG;
	return error ? error : pad(walk, 3);
}

static int poke(struct wire_walk *walk, struct tally_record_text_poke *record)
{
	uint64_t size = (uint64_t)record->old_len + record->new_len;
	int error = bytes(walk, size, &record->bytes);

	/* addr and the two lengths are 12 bytes, so the text starts 4 past a multiple of 8. */
	return error ? error : pad(walk, align_up(size + 4, 8) - size - 4);
}

static int attr(struct wire_walk *walk, struct tally_attr *attr)
{
	uint32_t size;
	int error;

	if (walk->mode == WIRE_SIZE || walk->mode == WIRE_ENCODE) {
		size = attr->size ? attr->size : tally_attr_min_size(attr);
		error = need(walk, size);
		if (error)
			return error;
		if (size % 8)
			return -EINVAL;
		if (walk->mode == WIRE_ENCODE)
			tally_attr_encode(attr, walk->bytes + walk->at, size);
		walk->at += size;
		return 0;
	}
	error = need(walk, 8);
	if (error)
		return error;
	size = load_u32(walk->bytes + walk->at + 4);
	if (walk->mode == WIRE_SWAP && walk->to_native)
		size = __builtin_bswap32(size);
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size % 8)
		return -EBADMSG;
	error = need(walk, size);
	if (error)
		return error;
	if (walk->mode == WIRE_SWAP) {
		if (!walk->to_native)
			tally_attr_decode(walk->bytes + walk->at, size, attr, NULL);
		tally_attr_swap(walk->bytes + walk->at, size, walk->to_native);
		if (walk->to_native)
			tally_attr_decode(walk->bytes + walk->at, size, attr, NULL);
	} else {
		tally_attr_decode(walk->bytes + walk->at, size, attr, NULL);
	}
	walk->at += size;
	return 0;
}

static int ids(struct wire_walk *walk, const uint8_t **member, uint64_t *count)
{
	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP)
		*count = (walk->end - walk->at) / 8;
	return elements(walk, *count, 8, 1, member);
}

static int guests(struct wire_walk *walk, struct tally_record_id_index *index)
{
	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP) {
		index->guests = NULL;
		if (!index->nr || index->nr > (walk->end - walk->at) / 16)
			return 0;
	} else if (!index->guests) {
		return 0;
	}
	return elements(walk, index->nr, 16, 2, (const uint8_t **)&index->guests);
}

static int cpu_map(struct wire_walk *walk, struct tally_record_cpu_map *map)
{
	size_t width = 2, start;
	uint8_t any = map->any_cpu;
	int error;

	if (map->type == 2) {
		error = scalar(walk, 1, &any);
		map->any_cpu = any != 0;
		if (!error)
			error = pad(walk, 1);
		if (!error)
			error = scalar(walk, 2, &map->start_cpu);
		return error ? error : scalar(walk, 2, &map->end_cpu);
	}
	if (map->type > 2)
		return 0; /* of a kind nobody defined only the type is known */
	error = scalar(walk, 2, &map->nr);
	if (!error && map->type == 1) {
		error = scalar(walk, 2, &map->long_size);
		width = map->long_size;
		if (!error && width != 4 && width != 8)
			return walk->mode == WIRE_ENCODE ? -EINVAL : -EBADMSG;
		if (!error && width == 8)
			error = pad(walk, 4);
	}
	start = walk->at;
	if (!error)
		error = elements(walk, map->nr, width, 0, &map->data);
	if (!error && walk->mode == WIRE_SWAP)
		for (size_t i = 0; i < map->nr; i++) {
			uint8_t *at = walk->bytes + start + i * width;

			store(at, width, swapped(load_uint(at, width), width));
		}
	return error;
}

/* Records before Linux 5.10 end here. */
static int time_tail(struct wire_walk *walk, struct tally_record_time_conv *conv)
{
	int error;

	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP)
		conv->has_cycles = walk->end - walk->at >= 24;
	if (!conv->has_cycles)
		return 0;
	error = scalar(walk, 8, &conv->time_cycles);
	if (!error)
		error = scalar(walk, 8, &conv->time_mask);
	if (!error)
		error = scalar(walk, 1, &conv->cap_user_time_zero);
	if (!error)
		error = scalar(walk, 1, &conv->cap_user_time_short);
	return error ? error : pad(walk, 6);
}

static int error_text(struct wire_walk *walk, struct tally_record_auxtrace_error *record)
{
	return record->fmt >= 2 ? text(walk, 64, &record->msg) : string(walk, 8, &record->msg);
}

static int error_guest(struct wire_walk *walk, struct tally_record_auxtrace_error *record)
{
	int error = scalar(walk, 4, &record->machine_pid);

	return error ? error : scalar(walk, 4, &record->vcpu);
}

static int sized(struct wire_walk *walk, const uint8_t **member, size_t *size)
{
	uint64_t told = *size;
	int error = scalar(walk, 8, &told);

	if (!error)
		error = bytes(walk, told, member);
	if (error)
		return error;
	*size = told;
	return pad(walk, align_up(told, 8) - told);
}

static int field(struct wire_walk *walk, const struct wire_row *row, uint8_t *base)
{
	void *member = base + row->member, *count = base + row->count;
	const uint8_t **pointer = member;

	switch ((enum wire_kind)row->kind) {
	case WIRE_U8:
		return scalar(walk, 1, member);
	case WIRE_U16:
		return scalar(walk, 2, member);
	case WIRE_U32:
		return scalar(walk, 4, member);
	case WIRE_U64:
	case WIRE_WEIGHT: /* {u32, u16, u16} from the low end; declared to swap as one word */
		return scalar(walk, 8, member);
	case WIRE_PAD:
		return pad(walk, row->size);
	case WIRE_BYTES: {
		const uint8_t *at = member;
		int error = bytes(walk, row->size, &at);

		if (!error && at != member)
			memcpy(member, at, row->size);
		return error;
	}
	case WIRE_TEXT:
		return text(walk, row->size, member);
	case WIRE_STRING:
		return string(walk, row->size, member);
	case WIRE_WORDS:
		return elements(walk, *(uint64_t *)count, row->size, row->size / 8, pointer);
	case WIRE_NAMED:
		return elements(walk, *(uint64_t *)count, row->size, 1, pointer);
	case WIRE_TEXTS:
		return elements(walk, *(uint64_t *)count, row->size, 0, pointer);
	case WIRE_REST:
		return rest(walk, pointer, count);
	case WIRE_UPDATE:
		return update(walk, (struct tally_record_event_update *)(void *)base);
	case WIRE_COUNTERS:
		return counters(walk, row->size, pointer, count);
	case WIRE_SIZED:
		return sized(walk, pointer, count);
	case WIRE_READ:
		return read_values(walk, member);
	case WIRE_RAW:
		return raw(walk, (struct tally_sample *)(void *)base);
	case WIRE_BRANCHES:
		return branches(walk, (struct tally_sample *)(void *)base);
	case WIRE_REGS: {
		struct tally_sample *sample = (void *)base;

		if (row->size)
			return registers(walk, walk->layout->sample_regs_intr, &sample->intr_abi,
					 &sample->intr_regs_mask, &sample->intr_regs);
		return registers(walk, walk->layout->sample_regs_user, &sample->user_abi,
				 &sample->user_regs_mask, &sample->user_regs);
	}
	case WIRE_STACK:
		return stack(walk, (struct tally_sample *)(void *)base);
	case WIRE_AUX: {
		struct tally_sample *sample = (void *)base;
		int error = scalar(walk, 8, &sample->aux_size);

		return error ? error : padded(walk, sample->aux_size, &sample->aux);
	}
	case WIRE_MMAP2_ID:
		return mmap2_id(walk, (struct tally_record_mmap2 *)(void *)base);
	case WIRE_BUILD_ID:
		return build_id(walk, (struct tally_record_build_id *)(void *)base);
	case WIRE_POKE:
		return poke(walk, (struct tally_record_text_poke *)(void *)base);
	case WIRE_ATTR:
		return attr(walk, member);
	case WIRE_IDS:
		return ids(walk, pointer, count);
	case WIRE_GUESTS:
		return guests(walk, (struct tally_record_id_index *)(void *)base);
	case WIRE_CPU_MAP:
		return cpu_map(walk, (struct tally_record_cpu_map *)(void *)base);
	case WIRE_TIME_TAIL:
		return time_tail(walk, (struct tally_record_time_conv *)(void *)base);
	case WIRE_FMT1:
		return ((struct tally_record_auxtrace_error *)(void *)base)->fmt >= 1
			   ? scalar(walk, 8, member)
			   : 0;
	case WIRE_ERROR_TEXT:
		return error_text(walk, (struct tally_record_auxtrace_error *)(void *)base);
	case WIRE_FMT2:
		return ((struct tally_record_auxtrace_error *)(void *)base)->fmt >= 2
			   ? error_guest(walk, (void *)base)
			   : 0;
	}
	return -EINVAL;
}

int tally_wire_field(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	size_t start = walk->at;
	int error = field(walk, row, base);

	if (error)
		walk->at = start;
	return error;
}

int tally_wire_walk(struct wire_walk *walk, struct wire_rows rows, uint64_t bits, void *base)
{
	int error = 0;

	for (size_t i = 0; i < rows.count && !error; i++)
		if (!rows.rows[i].bit || (rows.rows[i].bit & bits))
			error = tally_wire_field(walk, &rows.rows[i], base);
	return error;
}
