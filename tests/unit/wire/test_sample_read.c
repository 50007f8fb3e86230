/* 14.2: one accessor reads samples: by the layout that was compiled from the attr, only the columns
 * that are asked for, and nothing past the record's end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "random_body.h"
#include "wire/dump.h"
#include "wire/sample_read.h"
#include "wire/sample_shape.h"
#include "wire/walk.h"

#define ROUNDS 600

struct sample_case {
	struct tally_layout layout;
	struct tally_body body;
	uint8_t *bytes; /* exactly as many as the record has, so that a read beyond is seen */
	struct tally_record record;
};

static void each_sample(uint64_t seed, void (*check)(struct random_source *, struct sample_case *))
{
	static uint8_t room[65536] __attribute__((aligned(8)));
	struct random_source source = {.state = seed};

	for (int round = 0; round < ROUNDS; round++) {
		struct sample_case at;
		struct tally_attr attr;
		int size;

		random_refill(&source);
		random_attr(&source, &attr);
		/* Few fields, as real events have, and all of them in turn. */
		if (round % 3 == 0)
			attr.sample_type &= random_next(&source) >> 16 & random_next(&source);
		tally_layout_init(&at.layout, &attr);
		random_body(&source, &at.layout, PERF_RECORD_SAMPLE, &at.body);
		size = tally_record_encode(&at.layout, &at.body, room, sizeof(room));
		assert_true(size >= 8);
		at.bytes = malloc((size_t)size);
		memcpy(at.bytes, room, (size_t)size);
		at.record = (struct tally_record){
		    .bytes = at.bytes, .type = PERF_RECORD_SAMPLE, .size = (uint16_t)size};
		check(&source, &at);
		free(at.bytes);
	}
}

/* All fields by the table, in one walk. */
static struct tally_sample walked(const struct sample_case *at)
{
	struct tally_sample sample = {.present = at->layout.sample_type};
	struct wire_walk walk = {.mode = WIRE_DECODE,
				 .layout = &at->layout,
				 .bytes = at->bytes,
				 .at = 8,
				 .end = at->record.size};

	assert_int_equal(
	    tally_wire_walk(&walk, tally_wire_sample_rows, at->layout.sample_type, &sample), 0);
	assert_int_equal(walk.at, walk.end);
	return sample;
}

/* The fields of `want` as text. */
static char *text_of(const struct sample_case *at, const struct tally_sample *sample, uint64_t want)
{
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_SAMPLE};
	struct tally_buf text = {0};
	char *copy;

	body.sample = *sample;
	body.sample.present &= want;
	assert_int_equal(tally_body_dump(&at->layout, &body, &text), 0);
	copy = strdup(tally_buf_str(&text));
	tally_buf_done(&text);
	return copy;
}

static void check_columns(struct random_source *source, struct sample_case *at)
{
	const struct tally_sample all = walked(at);
	uint64_t wants[26 + 2] = {UINT64_MAX, random_next(source)};

	for (unsigned i = 2; i < 28; i++)
		wants[i] = 1ULL << (i - 2);
	for (unsigned i = 0; i < 28; i++) {
		struct tally_sample sample = {.size = sizeof(sample)};
		char *expected, *found;

		/* What is not asked for may hold anything. */
		memset(&sample, 0xa5, sizeof(sample));
		assert_true(sample_read(&at->layout, &at->record, wants[i], &sample));
		assert_int_equal(sample.present, wants[i] & at->layout.sample_type);
		expected = text_of(at, &all, wants[i]);
		found = text_of(at, &sample, wants[i]);
		assert_string_equal(found, expected);
		free(expected);
		free(found);
	}
}

static void each_column_is_read_by_itself(void **state)
{
	(void)state;
	each_sample(1, check_columns);
}

static void check_cuts(struct random_source *source, struct sample_case *at)
{
	uint64_t want = random_next(source);

	assert_true(sample_fills(&at->layout, &at->record) ||
		    at->body.sample.user_stack_dyn_size > at->body.sample.user_stack_size);
	for (uint16_t size = 8; size < at->record.size; size = (uint16_t)(size + 8)) {
		uint8_t *bytes = malloc(size);
		struct tally_record record = at->record;
		struct tally_sample sample = {.size = sizeof(sample)};

		memcpy(bytes, at->bytes, size);
		record.bytes = bytes;
		record.size = size;
		/* Where a branch stack may have several shapes, another may fit. */
		if (!tally_sample_shape_varies(&at->layout)) {
			assert_false(sample_fills(&at->layout, &record));
			assert_false(sample_read(&at->layout, &record, UINT64_MAX, &sample));
		}
		(void)sample_read(&at->layout, &record, want, &sample);
		free(bytes);
	}
}

static void a_cut_sample_is_refused_and_never_read_past_its_end(void **state)
{
	(void)state;
	each_sample(2, check_cuts);
}

static void check_noise(struct random_source *source, struct sample_case *at)
{
	struct tally_sample sample = {.size = sizeof(sample)};

	for (int i = 0; i < 8; i++) {
		for (unsigned k = 0; k < 1 + random_next(source) % 4; k++)
			at->bytes[random_next(source) % at->record.size] =
			    (uint8_t)random_next(source);
		(void)sample_fills(&at->layout, &at->record);
		(void)sample_read(&at->layout, &at->record, random_next(source), &sample);
	}
}

static void noise_is_read_in_bounds(void **state)
{
	(void)state;
	each_sample(3, check_noise);
}

/* By hand, from the layout in perf_event.h. */
static void fields_that_an_event_does_not_have_read_as_none(void **state)
{
	const struct tally_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CPU |
						       PERF_SAMPLE_CALLCHAIN};
	const uint64_t words[] = {0, 0xffff1234, 3, 2, (uint64_t)PERF_CONTEXT_USER, 0x401000};
	const struct tally_record record = {
	    .bytes = (const void *)words, .type = PERF_RECORD_SAMPLE, .size = sizeof(words)};
	struct tally_layout layout;
	struct tally_sample sample = {.size = sizeof(sample)};

	(void)state;
	tally_layout_init(&layout, &attr);
	memset(&sample, 0xa5, sizeof(sample));
	assert_true(sample_fills(&layout, &record));
	assert_true(sample_read(&layout, &record, UINT64_MAX, &sample));
	assert_int_equal(sample.present, attr.sample_type);
	assert_int_equal(sample.ip, 0xffff1234);
	assert_int_equal(sample.cpu, 3);
	assert_int_equal(sample.pid, UINT32_MAX);
	assert_int_equal(sample.tid, UINT32_MAX);
	assert_int_equal(sample.time, 0);
	assert_int_equal(sample.period, 0);
	assert_int_equal(sample.callchain_nr, 2);
	assert_ptr_equal(sample.callchain, &words[4]);
	assert_int_equal(sample_word(&layout, record.bytes, TALLY_FIXED_IP), 0xffff1234);
	assert_int_equal(sample_word(&layout, record.bytes, TALLY_FIXED_TIME), 0);
	assert_int_equal(sample_tid(&layout, record.bytes), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_column_is_read_by_itself),
	    cmocka_unit_test(a_cut_sample_is_refused_and_never_read_past_its_end),
	    cmocka_unit_test(noise_is_read_in_bounds),
	    cmocka_unit_test(fields_that_an_event_does_not_have_read_as_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
