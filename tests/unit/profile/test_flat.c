/* Rows without chains: many samples against a table of sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tally/profile.h>
#include "base/bytes.h"
#include "fake_session.h"

#define MANY   60000
#define FRAMES 700

/* More than wait together; places all over the address space; periods of more bits than are kept
 * with them.  The model is a table of sums. */
static struct tally_profile_event event_at(const struct tally_profile *profile, size_t index)
{
	struct tally_profile_event event = {.size = sizeof(event)};

	tally_profile_event(profile, index, &event);
	return event;
}

static struct tally_profile_row row_at(const struct tally_profile *profile, size_t event,
				       uint64_t index)
{
	struct tally_profile_row row = {.size = sizeof(row)};

	tally_profile_row(profile, event, index, &row);
	return row;
}

static void many_flat_samples(void **state)
{
	static const char *const keys[] = {"comm", "dso", "symbol"};
	static const struct tally_profile_options options = {
	    .size = sizeof(options), .keys = keys, .key_count = 3};
	static const char *const strings[] = {"app", "other"};
	static const uint64_t tops[] = {0, 0xffff800000000000, 0x1234567800000000, 0x100000000};
	struct fake_sample *samples = calloc(MANY, sizeof(*samples));
	uint64_t self[2][FRAMES] = {{0}}, count[2][FRAMES] = {{0}}, random = 12345;
	struct tally_frame frames[FRAMES];

	(void)state;
	assert_non_null(samples);
	for (uint32_t i = 0; i < FRAMES; i++)
		frames[i] = (struct tally_frame){"app", "/usr/bin/app", NULL, i, '.', 0};
	for (size_t i = 0; i < MANY; i++) {
		struct fake_sample *sample = &samples[i];
		uint32_t frame;

		random = hash_u64(random + i);
		frame = 1 + (uint32_t)(random >> 3) % (FRAMES - 1);
		sample->comm = i && random % 8 ? sample[-1].comm : random >> 32 & 1;
		sample->tid = sample->comm;
		sample->ip = tops[random >> 20 & 3] | frame;
		sample->period = random >> 24 & 63 ? random >> 40 : 1ULL << 40 | random >> 30;
		self[sample->comm][frame] += sample->period;
		count[sample->comm][frame]++;
	}
	for (unsigned threads = 1; threads < 3; threads++) {
		static struct tally_session session;
		struct tally_profile *profile;

		fake_session_init(&session);
		session.frames = frames;
		session.frame_count = FRAMES;
		session.strings = strings;
		session.samples = samples;
		session.sample_count = MANY;
		session.threads = threads;
		assert_int_equal(tally_profile_new(&session, &options, &profile, NULL), 0);
		assert_int_equal(event_at(profile, 0).samples, MANY);
		for (uint64_t i = 0; i < event_at(profile, 0).row_count; i++) {
			struct tally_profile_row row = row_at(profile, 0, i);
			unsigned comm = !strcmp(row.comm, strings[1]);

			assert_int_equal(row.self, self[comm][row.frame.place]);
			assert_int_equal(row.samples, count[comm][row.frame.place]);
		}
		assert_int_equal(event_at(profile, 0).row_count, 2 * (FRAMES - 1));
		tally_profile_free(profile);
	}
	free(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(many_flat_samples)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
