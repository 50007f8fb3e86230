/* Kinds of fields that samples have. */
#include "wire/kind.h"

static int walk_read(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_read *read = wire_member(row, base);
	uint64_t format = walk->layout->read_format;
	size_t words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	bool group = format & PERF_FORMAT_GROUP;
	int error;

	if (wire_reads(walk))
		*read = (struct tally_read){.read_format = format, .nr = 1};
	error = tally_wire_scalar(walk, 8, group ? &read->nr : &read->value);
	if (!error && format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		error = tally_wire_scalar(walk, 8, &read->time_enabled);
	if (!error && format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		error = tally_wire_scalar(walk, 8, &read->time_running);
	if (!error && group)
		return tally_wire_elements(walk, read->nr, words * 8, words,
					   (const uint8_t **)&read->group);
	if (!error && format & PERF_FORMAT_ID)
		error = tally_wire_scalar(walk, 8, &read->id);
	if (!error && format & PERF_FORMAT_LOST)
		error = tally_wire_scalar(walk, 8, &read->lost);
	return error;
}

static void show_value(const struct wire_show *show, uint64_t format, uint64_t value, uint64_t id,
		       uint64_t lost)
{
	show->open(show->to, NULL, false);
	show->number(show->to, "value", value);
	if (format & PERF_FORMAT_ID)
		show->number(show->to, "id", id);
	if (format & PERF_FORMAT_LOST)
		show->number(show->to, "lost", lost);
	show->close(show->to, false);
}

static void show_read(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	const struct tally_read *read = (const void *)((const uint8_t *)base + row->member);
	const uint64_t format = read->read_format, *at = read->group;

	show->open(show->to, row->name, false);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		show->number(show->to, "time_enabled", read->time_enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		show->number(show->to, "time_running", read->time_running);
	show->open(show->to, "values", true);
	if (!(format & PERF_FORMAT_GROUP))
		show_value(show, format, read->value, read->id, read->lost);
	for (uint64_t i = 0; at && i < read->nr; i++) {
		uint64_t value = load_u64(at++);
		uint64_t id = format & PERF_FORMAT_ID ? load_u64(at++) : 0;
		uint64_t lost = format & PERF_FORMAT_LOST ? load_u64(at++) : 0;

		show_value(show, format, value, id, lost);
	}
	show->close(show->to, true);
	show->close(show->to, false);
}

const struct wire_kind tally_wire_read = {walk_read, show_read, 8};

static int walk_raw(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_sample *sample = base;
	int error = tally_wire_scalar(walk, 4, &sample->raw_size);

	(void)row;
	return error ? error : tally_wire_take_padded(walk, sample->raw_size, &sample->raw);
}

static void show_raw(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	const struct tally_sample *sample = base;

	show->bytes(show->to, row->name, sample->raw, sample->raw_size);
}

const struct wire_kind tally_wire_raw = {walk_raw, show_raw, 4};

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

static int walk_branches(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_sample *sample = base;
	uint32_t shape = (uint32_t)walk->layout->branch_sample_type;
	size_t start;
	int error = tally_wire_scalar(walk, 8, &sample->branch_nr);

	(void)row;
	sample->branch_flags_present = shape;
	if (!error && shape & PERF_SAMPLE_BRANCH_HW_INDEX)
		error = tally_wire_scalar(walk, 8, &sample->branch_hw_idx);
	start = walk->at;
	/* from and to are words; the flags are bitfields, which are swapped in another way. */
	if (!error)
		error = tally_wire_elements(walk, sample->branch_nr, sizeof(struct tally_branch), 2,
					    (const uint8_t **)&sample->branches);
	if (!error && walk->mode == WIRE_SWAP)
		for (uint64_t i = 0; i < sample->branch_nr; i++)
			swap_branch_flags(walk->bytes + start + i * sizeof(struct tally_branch) +
					      16,
					  walk->to_native);
	/* If none were decoded, none are encoded: see sample_shape.h. */
	if (!wire_reads(walk) && !sample->branch_counters)
		return error;
	if (!error && shape & PERF_SAMPLE_BRANCH_COUNTERS)
		error = tally_wire_elements(walk, sample->branch_nr, 8, 1,
					    (const uint8_t **)&sample->branch_counters);
	return error;
}

static void show_branches(const struct wire_show *show, const struct wire_row *row,
			  const void *base)
{
	const struct tally_sample *sample = base;

	if (sample->branch_flags_present & PERF_SAMPLE_BRANCH_HW_INDEX)
		show->number(show->to, "branch_hw_idx", sample->branch_hw_idx);
	show->open(show->to, row->name, true);
	for (uint64_t i = 0; i < sample->branch_nr; i++) {
		show->open(show->to, NULL, false);
		show->number(show->to, "from", sample->branches[i].from);
		show->number(show->to, "to", sample->branches[i].to);
		show->number(show->to, "flags", sample->branches[i].flags);
		show->close(show->to, false);
	}
	show->close(show->to, true);
	if (sample->branch_counters)
		show->words(show->to, "branch_counters", sample->branch_counters, sample->branch_nr,
			    1);
}

const struct wire_kind tally_wire_branches = {walk_branches, show_branches, 8};

static int registers(struct wire_walk *walk, uint64_t mask, uint64_t *abi, uint64_t *kept_mask,
		     const uint64_t **words)
{
	int error = tally_wire_scalar(walk, 8, abi);

	if (wire_reads(walk))
		*kept_mask = *abi ? mask : 0;
	if (error || !*abi)
		return error;
	return tally_wire_elements(walk, (uint64_t)__builtin_popcountll(mask), 8, 1,
				   (const uint8_t **)words);
}

static void show_registers(const struct wire_show *show, const char *abi_name, uint64_t abi,
			   const char *name, uint64_t mask, const uint64_t *words)
{
	show->number(show->to, abi_name, abi);
	if (abi)
		show->words(show->to, name, words, (uint64_t)__builtin_popcountll(mask), 1);
}

static int walk_user_regs(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_sample *sample = base;

	(void)row;
	return registers(walk, walk->layout->sample_regs_user, &sample->user_abi,
			 &sample->user_regs_mask, &sample->user_regs);
}

static void show_user_regs(const struct wire_show *show, const struct wire_row *row,
			   const void *base)
{
	const struct tally_sample *sample = base;

	show_registers(show, "user_abi", sample->user_abi, row->name, sample->user_regs_mask,
		       sample->user_regs);
}

const struct wire_kind tally_wire_user_regs = {walk_user_regs, show_user_regs, 8};

static int walk_intr_regs(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_sample *sample = base;

	(void)row;
	return registers(walk, walk->layout->sample_regs_intr, &sample->intr_abi,
			 &sample->intr_regs_mask, &sample->intr_regs);
}

static void show_intr_regs(const struct wire_show *show, const struct wire_row *row,
			   const void *base)
{
	const struct tally_sample *sample = base;

	show_registers(show, "intr_abi", sample->intr_abi, row->name, sample->intr_regs_mask,
		       sample->intr_regs);
}

const struct wire_kind tally_wire_intr_regs = {walk_intr_regs, show_intr_regs, 8};

static int walk_stack(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_sample *sample = base;
	int error = tally_wire_scalar(walk, 8, &sample->user_stack_size);

	(void)row;
	if (!error && walk->mode == WIRE_DECODE)
		sample->user_stack = walk->bytes + walk->at;
	if (error || !sample->user_stack_size)
		return error;
	error = tally_wire_take_padded(walk, sample->user_stack_size, &sample->user_stack);
	return error ? error : tally_wire_scalar(walk, 8, &sample->user_stack_dyn_size);
}

static void show_stack(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	const struct tally_sample *sample = base;

	show->bytes(show->to, row->name, sample->user_stack, sample->user_stack_size);
	if (sample->user_stack_size)
		show->number(show->to, "user_stack_dyn_size", sample->user_stack_dyn_size);
}

const struct wire_kind tally_wire_stack = {walk_stack, show_stack, 8};

static int walk_aux(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	struct tally_sample *sample = base;
	int error = tally_wire_scalar(walk, 8, &sample->aux_size);

	(void)row;
	return error ? error : tally_wire_take_padded(walk, sample->aux_size, &sample->aux);
}

static void show_aux(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	const struct tally_sample *sample = base;

	show->bytes(show->to, row->name, sample->aux, sample->aux_size);
}

const struct wire_kind tally_wire_aux = {walk_aux, show_aux, 8};
