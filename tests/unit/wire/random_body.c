#include "random_body.h"

#include <stdio.h>
#include <string.h>
#include "wire/kind.h"

#define IS(name) (row->kind == &tally_wire_##name)

uint64_t random_next(struct random_source *source)
{
	/* splitmix64: a counter and a mixer. */
	uint64_t value = source->state += 0x9e3779b97f4a7c15ULL;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
	return value ^ value >> 31;
}

void random_refill(struct random_source *source)
{
	for (size_t i = 0; i < 64; i++)
		source->words[i] = random_next(source);
	for (size_t i = 0; i < 8; i++) {
		size_t length = random_next(source) % 60;

		for (size_t k = 0; k < length; k++)
			source->texts[i][k] = (char)(33 + random_next(source) % 94);
		source->texts[i][length] = 0;
	}
	/* Texts of the fixed-size elements end within them. */
	for (size_t i = 0; i < 64; i++)
		source->words[i] |= 1;
}

void random_attr(struct random_source *source, struct tally_attr *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->sample_type = random_next(source) & ((1u << 25) - 1);
	if (random_next(source) % 3 == 0)
		ret->sample_type &= random_next(source);
	ret->read_format = random_next(source) & 31;
	ret->branch_sample_type = random_next(source) & ((1u << 20) - 1);
	ret->sample_regs_user = random_next(source) & random_next(source) & 0xffffff;
	ret->sample_regs_intr = random_next(source) & random_next(source) & 0xffffff;
	ret->flags = random_next(source) & ((1ULL << 40) - 1);
	ret->config3 = random_next(source) & -(random_next(source) & 1);
	ret->sig_data = random_next(source) & -(random_next(source) & 1);
	ret->size = tally_attr_min_size(ret);
}

static void random_sample(struct random_source *source, const struct tally_layout *layout,
			  struct tally_sample *sample)
{
	sample->present = layout->sample_type;
	sample->raw_size = (uint32_t)(4 + 8 * (random_next(source) % 6));
	sample->raw = (const uint8_t *)source->words;
	sample->branch_nr = random_next(source) % 5;
	sample->branches = (const struct tally_branch *)source->words;
	sample->branch_counters = source->words + 20;
	sample->user_abi = random_next(source) % 3;
	sample->intr_abi = random_next(source) % 3;
	sample->user_regs = source->words + 1;
	sample->intr_regs = source->words + 2;
	sample->user_stack_size = 8 * (random_next(source) % 8);
	sample->user_stack = (const uint8_t *)source->words;
	sample->user_stack_dyn_size = random_next(source) % 64;
	sample->aux_size = 8 * (random_next(source) % 8);
	sample->aux = (const uint8_t *)source->words;
}

static void random_read(struct random_source *source, struct tally_read *read)
{
	read->nr = random_next(source) % 6;
	read->group = source->words;
	read->value = random_next(source);
	read->time_enabled = random_next(source);
	read->time_running = random_next(source);
	read->id = random_next(source);
	read->lost = random_next(source);
}

static void fill(struct random_source *source, const struct tally_layout *layout,
		 const struct wire_row *row, uint8_t *base, struct tally_body *body)
{
	void *member = base + row->member;
	uint64_t value = random_next(source);
	uint64_t few = value % 5;

	if (IS(u8)) {
		memcpy(member, &value, 1);
	} else if (IS(u16)) {
		memcpy(member, &value, 2);
	} else if (IS(u32)) {
		memcpy(member, &value, 4);
	} else if (IS(u64) || IS(error_time)) {
		memcpy(member, &value, 8);
	} else if (IS(bytes)) {
		memcpy(member, source->words, row->size);
	} else if (IS(text) || IS(string) || IS(error_text)) {
		*(const char **)member = source->texts[value % 8];
	} else if (IS(words) || IS(threads) || IS(metadata) || IS(ids)) {
		if (IS(metadata)) /* 320 bytes each */
			few %= 2;
		memcpy(base + row->count, &few, 8);
		*(const void **)member = source->words;
	} else if (IS(rest) || IS(update) || IS(counters) || IS(sized)) {
		few *= 8;
		memcpy(base + row->count, &few, 8);
		*(const void **)member = source->words;
	} else if (IS(read)) {
		random_read(source, member);
	} else if (IS(mmap2_id)) {
		body->misc = (uint16_t)(value & PERF_RECORD_MISC_MMAP_BUILD_ID);
		body->mmap2.maj = (uint32_t)value;
		body->mmap2.min = (uint32_t)(value >> 32);
		body->mmap2.ino = random_next(source);
		body->mmap2.ino_generation = random_next(source);
		if (body->misc) {
			body->mmap2.build_id_size = (uint8_t)(1 + value % 20);
			memcpy(body->mmap2.build_id, source->words, body->mmap2.build_id_size);
		}
	} else if (IS(build_id)) {
		body->misc = (uint16_t)(value & 1 << 15);
		body->build_id.build_id_size = (uint8_t)(body->misc ? few * 4 : 20);
		memcpy(body->build_id.build_id, source->words, 20);
	} else if (IS(poke)) {
		body->text_poke.old_len = (uint16_t)few;
		body->text_poke.new_len = (uint16_t)(value >> 8 & 7);
		body->text_poke.bytes = (const uint8_t *)source->words;
	} else if (IS(attr)) {
		random_attr(source, member);
	} else if (IS(cpu_map)) {
		body->cpu_map.type = (uint16_t)(value % 3);
		body->cpu_map.nr = (uint16_t)few;
		body->cpu_map.long_size = value & 1024 ? 8 : 4;
		body->cpu_map.any_cpu = value & 2048;
		body->cpu_map.start_cpu = (uint16_t)(value >> 20);
		body->cpu_map.end_cpu = (uint16_t)(value >> 40);
		body->cpu_map.data = (const uint8_t *)source->words;
	} else if (IS(time_tail)) {
		body->time_conv.has_cycles = value & 1;
		body->time_conv.time_cycles = random_next(source);
		body->time_conv.time_mask = random_next(source);
	} else if (IS(guests)) {
		body->id_index.guests = value & 1 && body->id_index.nr ? source->words : NULL;
	} else if (IS(error_guest)) {
		body->auxtrace_error.machine_pid = (uint32_t)value;
		body->auxtrace_error.vcpu = (uint32_t)(value >> 32);
	} /* else as random_sample() has it */
	(void)layout;
}

void random_body(struct random_source *source, const struct tally_layout *layout, uint32_t type,
		 struct tally_body *ret)
{
	struct wire_rows rows = tally_wire_rows(type);

	*ret = (struct tally_body){.size = sizeof(*ret)};
	ret->type = type;
	for (size_t i = 0; i < rows.count; i++)
		fill(source, layout, &rows.rows[i], (uint8_t *)&ret->sample, ret);
	if (type == PERF_RECORD_AUXTRACE_ERROR)
		ret->auxtrace_error.fmt %= 3;
	if (type == PERF_RECORD_MMAP2)
		ret->mmap2.prot &= 7; /* all that the kernel writes: a name begins with more */
	if (type == PERF_RECORD_SAMPLE)
		random_sample(source, layout, &ret->sample);
	ret->id.present = layout->sample_id_all ? layout->sample_type & WIRE_TRAILER_BITS : 0;
	ret->id.pid = (uint32_t)random_next(source);
	ret->id.tid = (uint32_t)random_next(source);
	ret->id.time = random_next(source);
	ret->id.id = random_next(source);
	ret->id.stream_id = random_next(source);
	ret->id.cpu = (uint32_t)random_next(source);
	ret->id.identifier = random_next(source);
}
