/* Kinds that only one field of one record type has, in the order of the types. */
#include "wire/attr_wire.h"
#include "wire/kind.h"

#define BUILD_ID_MOST 20
#define MMAP2_ID      24 /* bytes of an id in MMAP2, or of the numbers in its place */

/* Whether the bytes can be a size byte, three of padding, and an id followed by zeros.  Linux sets
 * the bit in misc also where there is no id: after a record was made for an event with build-ids,
 * the bit stays set for the other events that get the same record (perf_event_mmap_output(), 5.12
 * to 6.18). */
bool tally_wire_is_mmap2_id(const uint8_t *at, size_t left)
{
	const uint8_t *end = at + MMAP2_ID;

	if (left < MMAP2_ID)
		return true; /* too short for both, which the walk reports */
	if (!at[0] || at[0] > BUILD_ID_MOST || at[1] || at[2] || at[3])
		return false;
	for (at += 4 + at[0]; at < end; at++)
		if (*at)
			return false;
	return true;
}

static int walk_mmap2_id(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_mmap2 *mmap2 = base;
	const uint8_t *id = mmap2->build_id;
	int error;

	(void)row;
	if (wire_reads(walk) &&
	    !tally_wire_is_mmap2_id(walk->bytes + walk->at, walk->end - walk->at))
		walk->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (!(walk->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		error = tally_wire_scalar(walk, 4, &mmap2->maj);
		if (!error)
			error = tally_wire_scalar(walk, 4, &mmap2->min);
		if (!error)
			error = tally_wire_scalar(walk, 8, &mmap2->ino);
		return error ? error : tally_wire_scalar(walk, 8, &mmap2->ino_generation);
	}
	error = tally_wire_scalar(walk, 1, &mmap2->build_id_size);
	if (!error)
		error = tally_wire_skip(walk, 3);
	if (!error)
		error = tally_wire_take(walk, BUILD_ID_MOST, &id);
	if (!error && wire_reads(walk))
		memcpy(mmap2->build_id, id, BUILD_ID_MOST);
	return error;
}

static uint64_t build_id_size(uint8_t size)
{
	return size <= BUILD_ID_MOST ? size : BUILD_ID_MOST;
}

static void show_mmap2_id(const struct wire_show *show, const struct wire_row *row,
			  const void *base)
{
	const struct tally_record_mmap2 *mmap2 = base;

	(void)row;
	if (show->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		show->bytes(show->to, "build_id", mmap2->build_id,
			    build_id_size(mmap2->build_id_size));
		return;
	}
	show->number(show->to, "maj", mmap2->maj);
	show->number(show->to, "min", mmap2->min);
	show->number(show->to, "ino", mmap2->ino);
	show->number(show->to, "ino_generation", mmap2->ino_generation);
}

const struct wire_kind tally_wire_mmap2_id = {walk_mmap2_id, show_mmap2_id, MMAP2_ID};

static int walk_poke(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_text_poke *record = base;
	uint64_t size = (uint64_t)record->old_len + record->new_len;
	int error = tally_wire_take(walk, size, &record->bytes);

	(void)row;
	/* addr and the two lengths are 12 bytes, so the text starts 4 past a multiple of 8. */
	return error ? error : tally_wire_skip(walk, align_up(size + 4, 8) - size - 4);
}

static void show_poke(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	const struct tally_record_text_poke *poke = base;

	(void)row;
	show->bytes(show->to, "old_bytes", poke->bytes, poke->old_len);
	show->bytes(show->to, "new_bytes", poke->bytes ? poke->bytes + poke->old_len : NULL,
		    poke->new_len);
}

const struct wire_kind tally_wire_poke = {walk_poke, show_poke};

static int walk_attr(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_attr *attr = wire_member(row, base);
	uint32_t size;
	int error;

	if (!wire_reads(walk)) {
		size = attr->size ? attr->size : tally_attr_min_size(attr);
		error = tally_wire_need(walk, size);
		if (error)
			return error;
		if (size % 8)
			return -EINVAL;
		if (walk->mode == WIRE_ENCODE)
			tally_attr_encode(attr, walk->bytes + walk->at, size);
		walk->at += size;
		return 0;
	}
	error = tally_wire_need(walk, 8);
	if (error)
		return error;
	size = load_u32(walk->bytes + walk->at + 4);
	if (walk->mode == WIRE_SWAP && walk->to_native)
		size = __builtin_bswap32(size);
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size % 8)
		return -EBADMSG;
	error = tally_wire_need(walk, size);
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

static void show_attr(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	show->attr(show->to, row->name, (const void *)((const uint8_t *)base + row->member));
}

const struct wire_kind tally_wire_attr = {walk_attr, show_attr, PERF_ATTR_SIZE_VER0};

/* Bit 15 of misc says that there is a size byte; in older files every id has 20 bytes, and shorter
 * ids end with zeros.  Source: the BUILD_ID feature as perf 5.12 and later write it. */
static int walk_build_id(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_build_id *record = base;
	const uint8_t *id = record->build_id;
	bool sized = walk->misc & 1 << 15;
	int error = tally_wire_take(walk, BUILD_ID_MOST, &id);

	(void)row;
	if (!error && wire_reads(walk))
		memcpy(record->build_id, id, BUILD_ID_MOST);
	if (!error)
		error = sized ? tally_wire_scalar(walk, 1, &record->build_id_size)
			      : tally_wire_skip(walk, 1);
	if (!error && !sized)
		record->build_id_size = BUILD_ID_MOST;
	if (!error && record->build_id_size > BUILD_ID_MOST)
		return wire_invalid(walk);
	return error ? error : tally_wire_skip(walk, 3);
}

static void show_build_id(const struct wire_show *show, const struct wire_row *row,
			  const void *base)
{
	const struct tally_record_build_id *record = base;

	show->bytes(show->to, row->name, record->build_id, build_id_size(record->build_id_size));
}

const struct wire_kind tally_wire_build_id = {walk_build_id, show_build_id, BUILD_ID_MOST + 4};

static int walk_guests(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_id_index *index = base;
	(void)row;
	if (wire_reads(walk)) {
		index->guests = NULL;
		if (!index->nr || index->nr > (walk->end - walk->at) / 16)
			return 0;
	} else if (!index->guests) {
		return 0;
	}
	return tally_wire_elements(walk, index->nr, 16, 2, (const uint8_t **)&index->guests);
}

static void show_guests(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	const struct tally_record_id_index *index = base;

	if (index->guests)
		show->words(show->to, row->name, index->guests, index->nr, 2);
}

const struct wire_kind tally_wire_guests = {walk_guests, show_guests};

static int walk_error_time(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_auxtrace_error *record = base;

	(void)row;
	return record->fmt >= 1 ? tally_wire_scalar(walk, 8, &record->time) : 0;
}

static void show_error_time(const struct wire_show *show, const struct wire_row *row,
			    const void *base)
{
	const struct tally_record_auxtrace_error *record = base;

	if (record->fmt >= 1)
		show->number(show->to, row->name, record->time);
}

const struct wire_kind tally_wire_error_time = {walk_error_time, show_error_time};

static int walk_error_text(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_auxtrace_error *record = base;

	(void)row;
	return record->fmt >= 2 ? tally_wire_take_text(walk, 64, &record->msg)
				: tally_wire_take_string(walk, 8, &record->msg);
}

const struct wire_kind tally_wire_error_text = {walk_error_text, tally_wire_show_text, 1};

static int walk_error_guest(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_auxtrace_error *record = base;
	int error;

	(void)row;
	if (record->fmt < 2)
		return 0;
	error = tally_wire_scalar(walk, 4, &record->machine_pid);
	return error ? error : tally_wire_scalar(walk, 4, &record->vcpu);
}

static void show_error_guest(const struct wire_show *show, const struct wire_row *row,
			     const void *base)
{
	const struct tally_record_auxtrace_error *record = base;

	(void)row;
	if (record->fmt < 2)
		return;
	show->number(show->to, "machine_pid", record->machine_pid);
	show->number(show->to, "vcpu", record->vcpu);
}

const struct wire_kind tally_wire_error_guest = {walk_error_guest, show_error_guest};

static int walk_threads(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	return tally_wire_elements(walk, *wire_count(row, base),
				   sizeof(struct tally_thread_map_entry), 1,
				   wire_member(row, base));
}

static void show_threads(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	const struct tally_record_thread_map *map = base;

	(void)row;
	show->open(show->to, "threads", true);
	for (uint64_t i = 0; map->entries && i < map->nr; i++) {
		const struct tally_thread_map_entry *entry = &map->entries[i];

		show->open(show->to, NULL, false);
		show->number(show->to, "pid", entry->pid);
		show->text(show->to, "comm", entry->comm,
			   strnlen(entry->comm, sizeof(entry->comm)));
		show->close(show->to, false);
	}
	show->close(show->to, true);
}

const struct wire_kind tally_wire_threads = {walk_threads, show_threads};

static int walk_cpu_map(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_cpu_map *map = base;
	size_t width = 2, start;
	uint8_t any = map->any_cpu;
	int error;

	(void)row;
	if (map->type == 2) {
		error = tally_wire_scalar(walk, 1, &any);
		map->any_cpu = any != 0;
		if (!error)
			error = tally_wire_skip(walk, 1);
		if (!error)
			error = tally_wire_scalar(walk, 2, &map->start_cpu);
		return error ? error : tally_wire_scalar(walk, 2, &map->end_cpu);
	}
	if (map->type > 2)
		return 0; /* an unknown kind of map: only its type can be read */
	error = tally_wire_scalar(walk, 2, &map->nr);
	if (!error && map->type == 1) {
		error = tally_wire_scalar(walk, 2, &map->long_size);
		width = map->long_size;
		if (!error && width != 4 && width != 8)
			return wire_invalid(walk);
		if (!error && width == 8)
			error = tally_wire_skip(walk, 4);
	}
	start = walk->at;
	if (!error)
		error = tally_wire_elements(walk, map->nr, width, 0, &map->data);
	if (!error && walk->mode == WIRE_SWAP)
		for (size_t i = 0; i < map->nr; i++) {
			uint8_t *at = walk->bytes + start + i * width;

			wire_store(at, width, wire_swapped(load_uint(at, width), width));
		}
	return error;
}

static void show_cpu_map(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	const struct tally_record_cpu_map *map = base;
	unsigned bits = map->long_size == 4 ? 32 : 64;

	(void)row;
	show->open(show->to, "cpus", true);
	if (map->type == 2 && map->any_cpu)
		show->element(show->to, -1);
	for (uint32_t cpu = map->start_cpu; map->type == 2 && cpu <= map->end_cpu; cpu++)
		show->element(show->to, cpu);
	for (size_t i = 0; map->type == 0 && map->data && i < map->nr; i++) {
		uint16_t cpu = load_u16(map->data + i * 2);

		show->element(show->to, cpu == UINT16_MAX ? -1 : cpu);
	}
	for (size_t i = 0; map->type == 1 && map->data && i < map->nr; i++) {
		uint64_t word = load_uint(map->data + i * (bits / 8), bits / 8);

		for (; word; word &= word - 1)
			show->element(show->to, (int64_t)(i * bits) + __builtin_ctzll(word));
	}
	show->close(show->to, true);
}

const struct wire_kind tally_wire_cpu_map = {walk_cpu_map, show_cpu_map};

/* As in CPU_MAP: a type, then {count, CPUs}, {count, width, padding to it, words} or {any, padding,
 * first, last}. */
static void swap_cpus(uint8_t *at, size_t size, bool to_native)
{
	uint64_t type, width;

	if (size < 8)
		return;
	type = to_native ? wire_swapped(load_u16(at), 2) : load_u16(at);
	width = to_native ? wire_swapped(load_u16(at + 4), 2) : load_u16(at + 4);
	wire_swap_words(at, 2, 2);
	if (type == 2) {
		wire_swap_words(at + 4, 4, 2);
	} else if (type == 1) {
		size_t words = width == 8 ? 10 : 6;

		wire_swap_words(at + 2, 4, 2);
		if ((width == 4 || width == 8) && size > words)
			wire_swap_words(at + words, size - words, (size_t)width);
	} else if (!type) {
		wire_swap_words(at + 2, size - 2, 2);
	}
}

static int walk_update(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_event_update *record = base;
	size_t start = walk->at;
	int error = tally_wire_take_rest(walk, &record->data, &record->data_size);

	(void)row;
	if (error || walk->mode != WIRE_SWAP)
		return error;
	if (record->type == 1 && record->data_size >= 8)
		wire_swap_words(walk->bytes + start, 8, 8);
	else if (record->type == 3)
		swap_cpus(walk->bytes + start, record->data_size, walk->to_native);
	return 0;
}

const struct wire_kind tally_wire_update = {walk_update, tally_wire_show_rest};

/* Records before Linux 5.10 end here. */
static int walk_time_tail(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_record_time_conv *conv = base;
	int error;

	(void)row;
	if (wire_reads(walk))
		conv->has_cycles = walk->end - walk->at >= 24;
	if (!conv->has_cycles)
		return 0;
	error = tally_wire_scalar(walk, 8, &conv->time_cycles);
	if (!error)
		error = tally_wire_scalar(walk, 8, &conv->time_mask);
	if (!error)
		error = tally_wire_scalar(walk, 1, &conv->cap_user_time_zero);
	if (!error)
		error = tally_wire_scalar(walk, 1, &conv->cap_user_time_short);
	return error ? error : tally_wire_skip(walk, 6);
}

static void show_time_tail(const struct wire_show *show, const struct wire_row *row,
			   const void *base)
{
	const struct tally_record_time_conv *conv = base;

	(void)row;
	if (!conv->has_cycles)
		return;
	show->number(show->to, "time_cycles", conv->time_cycles);
	show->number(show->to, "time_mask", conv->time_mask);
	show->number(show->to, "cap_user_time_zero", conv->cap_user_time_zero);
	show->number(show->to, "cap_user_time_short", conv->cap_user_time_short);
}

const struct wire_kind tally_wire_time_tail = {walk_time_tail, show_time_tail};

static int walk_metadata(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	return tally_wire_elements(walk, *wire_count(row, base),
				   sizeof(struct tally_bpf_metadata_entry), 0,
				   wire_member(row, base));
}

static void show_metadata(const struct wire_show *show, const struct wire_row *row,
			  const void *base)
{
	const struct tally_record_bpf_metadata *record = base;

	show->open(show->to, row->name, true);
	for (uint64_t i = 0; record->entries && i < record->nr; i++) {
		const struct tally_bpf_metadata_entry *entry = &record->entries[i];

		show->open(show->to, NULL, false);
		show->text(show->to, "key", entry->key, strnlen(entry->key, sizeof(entry->key)));
		show->text(show->to, "value", entry->value,
			   strnlen(entry->value, sizeof(entry->value)));
		show->close(show->to, false);
	}
	show->close(show->to, true);
}

const struct wire_kind tally_wire_metadata = {walk_metadata, show_metadata};

static int walk_counters(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	size_t start = walk->at, size, first;
	int error = tally_wire_take_rest(walk, wire_member(row, base), wire_count(row, base));

	if (error || walk->mode != WIRE_SWAP)
		return error;
	size = walk->at - start;
	first = size < row->size * 4U ? size : row->size * 4U;
	wire_swap_words(walk->bytes + start, first, 4);
	wire_swap_words(walk->bytes + start + first, size - first, 8);
	return 0;
}

const struct wire_kind tally_wire_counters = {walk_counters, tally_wire_show_rest};
