/* Properties that hold for every record: what is encoded decodes to the same, its size is what
 * tally_record_size() says, two swaps change nothing, and no cut of it is read past its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include "base/bytes.h"
#include "random_body.h"
#include "wire/attr_wire.h"
#include "wire/record_size.h"

#define ROUNDS 400

struct encoded {
	struct tally_layout layout;
	struct tally_body body;
	uint8_t *bytes; /* exactly `size` of them, so that a read beyond is seen */
	uint16_t size;
};

static struct tally_record view(const uint8_t *bytes, size_t size)
{
	return (struct tally_record){.bytes = bytes,
				     .type = load_u32(bytes),
				     .misc = load_u16(bytes + 4),
				     .size = (uint16_t)size};
}

typedef void (*check_fn)(struct random_source *source, struct encoded *encoded);

/* The record types that have a name, in turn. */
static uint32_t next_type(uint32_t type)
{
	do
		type++;
	while (type <= SIMPLE_PERF_RECORD_DEBUG && !tally_record_type_name(type));
	return type;
}

static void each(uint64_t seed, check_fn check)
{
	struct random_source source = {.state = seed};
	static uint8_t room[65536] __attribute__((aligned(8)));

	for (int round = 0; round < ROUNDS; round++) {
		struct tally_attr attr;
		struct encoded encoded;

		random_refill(&source);
		random_attr(&source, &attr);
		tally_layout_init(&encoded.layout, &attr);
		for (uint32_t type = 1; type <= SIMPLE_PERF_RECORD_DEBUG; type = next_type(type)) {
			int expected, size;

			random_body(&source, &encoded.layout, type, &encoded.body);
			expected = tally_record_size(&encoded.layout, &encoded.body);
			size =
			    tally_record_encode(&encoded.layout, &encoded.body, room, sizeof(room));
			assert_int_equal(expected, size);
			assert_true(size >= 8);
			assert_true((unsigned)size >= tally_record_least_size(type));
			assert_int_equal(load_u16(room + 6), size);
			encoded.size = (uint16_t)size;
			encoded.bytes = malloc((size_t)size);
			memcpy(encoded.bytes, room, (size_t)size);
			check(&source, &encoded);
			free(encoded.bytes);
		}
	}
}

static void check_decode(struct random_source *source, struct encoded *encoded)
{
	struct tally_record record = view(encoded->bytes, encoded->size);
	struct tally_body again = {.size = sizeof(again)};
	struct tally_error error;
	uint8_t *bytes = malloc(encoded->size);

	(void)source;
	if (tally_record_decode(&encoded->layout, &record, &again, &error))
		fail_msg("%s", error.text);
	assert_int_equal(again.type, encoded->body.type);
	assert_int_equal(tally_record_encode(&encoded->layout, &again, bytes, encoded->size),
			 encoded->size);
	assert_memory_equal(bytes, encoded->bytes, encoded->size);
	assert_int_equal(
	    tally_record_encode(&encoded->layout, &again, bytes, (size_t)encoded->size - 1),
	    -ENOSPC);
	free(bytes);
	if (again.id.present) {
		if (again.id.present & PERF_SAMPLE_TIME)
			assert_int_equal(again.id.time, encoded->body.id.time);
		if (again.id.present & PERF_SAMPLE_IDENTIFIER)
			assert_int_equal(again.id.identifier, encoded->body.id.identifier);
	}
}

static void encode_is_decoded(void **state)
{
	(void)state;
	each(1, check_decode);
}

static void check_swap(struct random_source *source, struct encoded *encoded)
{
	struct tally_error error;
	uint8_t *bytes = malloc(encoded->size);

	(void)source;
	memcpy(bytes, encoded->bytes, encoded->size);
	if (tally_record_swap(&encoded->layout, bytes, encoded->size, false, &error))
		fail_msg("%s", error.text);
	assert_int_equal(__builtin_bswap32(load_u32(bytes)), encoded->body.type);
	if (tally_record_swap(&encoded->layout, bytes, encoded->size, true, &error))
		fail_msg("%s", error.text);
	assert_memory_equal(bytes, encoded->bytes, encoded->size);
	free(bytes);
}

static void two_swaps_are_none(void **state)
{
	(void)state;
	each(2, check_swap);
}

static void check_cuts(struct random_source *source, struct encoded *encoded)
{
	struct tally_error error = {.position = -1};

	for (size_t size = 8; size < encoded->size; size += 1 + random_next(source) % 13) {
		uint8_t *bytes = malloc(size);
		struct tally_record record;
		struct tally_body body = {.size = sizeof(body)};

		memcpy(bytes, encoded->bytes, size);
		store_u16(bytes + 6, (uint16_t)size);
		record = view(bytes, size);
		record.offset = 1000;
		if (tally_record_decode(&encoded->layout, &record, &body, &error)) {
			assert_int_equal(error.code, -EBADMSG);
			assert_in_range(error.position, 1000, 1000 + size);
		}
		(void)tally_record_swap(&encoded->layout, bytes, size, true, &error);
		free(bytes);
	}
}

static void no_cut_is_read_past_its_end(void **state)
{
	(void)state;
	each(3, check_cuts);
}

static void check_noise(struct random_source *source, struct encoded *encoded)
{
	struct tally_record record;
	struct tally_body body = {.size = sizeof(body)};
	struct tally_error error;

	for (int i = 0; i < 4; i++) {
		size_t at = 8 + random_next(source) % (encoded->size > 8 ? encoded->size - 8u : 1u);

		if (at < encoded->size)
			encoded->bytes[at] = (uint8_t)random_next(source);
	}
	record = view(encoded->bytes, encoded->size);
	if (!tally_record_decode(&encoded->layout, &record, &body, &error)) {
		static uint8_t room[65536];

		(void)tally_record_encode(&encoded->layout, &body, room, sizeof(room));
	}
	(void)tally_record_swap(&encoded->layout, encoded->bytes, encoded->size, true, &error);
}

static void noise_is_read_in_bounds(void **state)
{
	(void)state;
	each(4, check_noise);
}

static void check_wanted(struct random_source *source, struct encoded *encoded)
{
	struct tally_record record = view(encoded->bytes, encoded->size);
	struct tally_sample all = {.size = sizeof(all)}, some = {.size = sizeof(some)};
	uint64_t want = random_next(source) & ((1u << 25) - 1);

	if (encoded->body.type != PERF_RECORD_SAMPLE)
		return;
	assert_int_equal(tally_sample_decode(&encoded->layout, &record, ~0ULL, &all, NULL), 0);
	assert_int_equal(all.present, encoded->layout.sample_type);
	assert_int_equal(tally_sample_decode(&encoded->layout, &record, want, &some, NULL), 0);
	assert_int_equal(some.present, want & encoded->layout.sample_type);
	if (some.present & PERF_SAMPLE_IP) {
		assert_int_equal(some.ip, encoded->body.sample.ip);
		assert_int_equal(load_u64(encoded->bytes + encoded->layout.at[TALLY_FIXED_IP]),
				 encoded->body.sample.ip);
	}
	if (some.present & PERF_SAMPLE_PERIOD) {
		assert_int_equal(some.period, encoded->body.sample.period);
		assert_int_equal(load_u64(encoded->bytes + encoded->layout.at[TALLY_FIXED_PERIOD]),
				 encoded->body.sample.period);
	}
	if (some.present & PERF_SAMPLE_CALLCHAIN) {
		assert_int_equal(some.callchain_nr, encoded->body.sample.callchain_nr);
		assert_ptr_equal(some.callchain, all.callchain);
	}
	if (some.present & PERF_SAMPLE_AUX)
		assert_int_equal(some.aux_size, encoded->body.sample.aux_size);
}

static void wanted_fields_are_the_same(void **state)
{
	(void)state;
	each(5, check_wanted);
}

static void attrs_of_any_size(void **state)
{
	struct random_source source = {.state = 6};

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct tally_attr attr, again;
		uint8_t bytes[256], before[256];
		size_t size = 64 + 8 * (random_next(&source) % 20);
		bool beyond;

		random_attr(&source, &attr);
		attr.config4 = random_next(&source) & -(random_next(&source) & 1);
		attr.size = (uint32_t)size;
		tally_attr_encode(&attr, bytes, size);
		memcpy(before, bytes, size);
		tally_attr_swap(bytes, size, false);
		assert_int_equal(load_u32(bytes + 4), __builtin_bswap32((uint32_t)size));
		tally_attr_swap(bytes, size, true);
		assert_memory_equal(bytes, before, size);
		tally_attr_decode(bytes, size, &again, &beyond);
		assert_false(beyond);
		assert_memory_equal(&again, &attr, size < sizeof(attr) ? size : sizeof(attr));
		if (size > sizeof(attr)) {
			bytes[size - 1] = 1;
			tally_attr_decode(bytes, size, &again, &beyond);
			assert_true(beyond);
		}
	}
}

/* As a big-endian machine would write it: precise_ip = 1 and disabled, by the C rules for bitfields
 * there (the first field at the top of the first byte, a field's own bits high to low). */
static void flags_of_big_endian(void **state)
{
	struct tally_attr attr = {.disabled = 1, .precise_ip = 1, .sample_id_all = 1};
	uint8_t bytes[64];

	(void)state;
	tally_attr_encode(&attr, bytes, sizeof(bytes));
	tally_attr_swap(bytes, sizeof(bytes), false);
	assert_int_equal(bytes[40], 0x80);
	assert_int_equal(bytes[41], 0x00);        /* precise_ip's high bit would be 0x01 here */
	assert_int_equal(bytes[42], 0x80 | 0x20); /* its low bit; bit 18 */
}

/* 14.3: from the layouts in perf_event.h, header counted and the trailer not. */
static void smallest_sizes_of_records_are_those_of_their_fields(void **state)
{
	static const struct {
		uint32_t type;
		unsigned least;
	} known[] = {
	    {PERF_RECORD_MMAP, 48},          {PERF_RECORD_LOST, 24},
	    {PERF_RECORD_COMM, 24},          {PERF_RECORD_EXIT, 32},
	    {PERF_RECORD_THROTTLE, 32},      {PERF_RECORD_READ, 24},
	    {PERF_RECORD_SAMPLE, 8},         {PERF_RECORD_MMAP2, 80},
	    {PERF_RECORD_AUX, 32},           {PERF_RECORD_ITRACE_START, 16},
	    {PERF_RECORD_SWITCH, 8},         {PERF_RECORD_SWITCH_CPU_WIDE, 16},
	    {PERF_RECORD_NAMESPACES, 24},    {PERF_RECORD_KSYMBOL, 32},
	    {PERF_RECORD_BPF_EVENT, 24},     {PERF_RECORD_CGROUP, 24},
	    {PERF_RECORD_TEXT_POKE, 24},     {PERF_RECORD_CALLCHAIN_DEFERRED, 24},
	    {PERF_RECORD_HEADER_ATTR, 72},   {PERF_RECORD_HEADER_TRACING_DATA, 12},
	    {PERF_RECORD_FINISHED_ROUND, 8}, {PERF_RECORD_AUXTRACE, 48},
	    {PERF_RECORD_TIME_CONV, 32},     {PERF_RECORD_BPF_METADATA, 528},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(tally_record_least_size(known[i].type), known[i].least);
	assert_int_equal(tally_record_least_size(0), 0);
	assert_int_equal(tally_record_least_size(63), 0);
	assert_int_equal(tally_record_least_size(UINT32_MAX), 0);
}

static void smallest_sizes_of_attrs(void **state)
{
	struct tally_attr attr = {0};

	(void)state;
	assert_int_equal(tally_attr_min_size(&attr), 64);
	attr.config2 = 1;
	assert_int_equal(tally_attr_min_size(&attr), 72);
	attr.branch_sample_type = 1;
	assert_int_equal(tally_attr_min_size(&attr), 80);
	attr.clockid = 1;
	assert_int_equal(tally_attr_min_size(&attr), 96);
	attr.sample_regs_intr = 1;
	assert_int_equal(tally_attr_min_size(&attr), 104);
	attr.sample_max_stack = 1;
	assert_int_equal(tally_attr_min_size(&attr), 112);
	attr.aux_pause = 1;
	assert_int_equal(tally_attr_min_size(&attr), 120);
	attr.sig_data = 1;
	assert_int_equal(tally_attr_min_size(&attr), 128);
	attr.config3 = 1;
	assert_int_equal(tally_attr_min_size(&attr), 136);
	attr.config4 = 1;
	assert_int_equal(tally_attr_min_size(&attr), 144);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(encode_is_decoded),
	    cmocka_unit_test(two_swaps_are_none),
	    cmocka_unit_test(no_cut_is_read_past_its_end),
	    cmocka_unit_test(noise_is_read_in_bounds),
	    cmocka_unit_test(wanted_fields_are_the_same),
	    cmocka_unit_test(attrs_of_any_size),
	    cmocka_unit_test(flags_of_big_endian),
	    cmocka_unit_test(smallest_sizes_of_records_are_those_of_their_fields),
	    cmocka_unit_test(smallest_sizes_of_attrs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
