/* Each allocation fails once: the answer is -ENOMEM or a whole result, and nothing leaks or breaks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <tally/report.h>
#include "fake_session.h"

#define SAMPLES 3000
#define FRAMES  1200

/* Allocations of the library come here (the linker's --wrap); the test's own do not count. */
static _Atomic int64_t countdown = -1; /* below 0: none is denied */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

static bool denied(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return denied() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return denied() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return denied() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return denied() ? NULL : __real_reallocarray(old, count, size);
}

static struct tally_frame frames[FRAMES];
static struct fake_sample samples[SAMPLES];
static const char *const strings[] = {"app", "sh"};

/* Profile and text, the n-th allocation denied; whether that was ever reached. */
static bool run(struct tally_session *session, int64_t n, enum tally_call_order order,
		bool children, char *to, size_t room)
{
	static const char *const keys[] = {"comm", "dso", "symbol"};
	static const char *const dsos[] = {"app", "lib0", "lib1", "lib2", "lib3", "lib4"};
	struct tally_profile_options options = {.size = sizeof(options),
						.keys = keys,
						.key_count = 3,
						.callchains = true,
						.children = children,
						.dsos = dsos,
						.dso_count = 6,
						.tree_least = 0.1};
	struct tally_report_options report = {
	    .size = sizeof(report), .trees = true, .order = order, .tree_least = 0.1};
	struct tally_profile *profile = NULL;
	struct tally_error error = {0};
	FILE *text = fmemopen(to, room, "w");
	int result;
	bool reached;

	assert_non_null(text);
	setvbuf(text, NULL, _IONBF, 0);
	countdown = n;
	result = tally_profile_new(session, &options, &profile, &error);
	if (!result) {
		result = tally_report_write(profile, &report, text);
		tally_profile_free(profile);
	} else {
		assert_null(profile);
		assert_true(error.text[0]);
	}
	reached = countdown < 0;
	countdown = -1;
	fclose(text);
	if (result)
		assert_int_equal(result, -ENOMEM);
	return reached;
}

static void every_allocation_may_fail(void **state)
{
	static char whole[1 << 22], again[1 << 22];
	static struct tally_session session;
	int64_t n = 0;

	(void)state;
	for (uint32_t i = 1; i < FRAMES; i++)
		frames[i] = (struct tally_frame){
		    i % 2 ? "app" : "lib0", "/x", i % 3 ? "f" : NULL, i, '.', 0};
	for (uint32_t i = 0; i < SAMPLES; i++) {
		samples[i] = (struct fake_sample){.period = 1, .depth = 3 + i % 5, .comm = i % 2};
		for (uint32_t k = 0; k < samples[i].depth; k++)
			samples[i].chain[k] = 1 + i * (k + 7) % (FRAMES - 1);
	}
	fake_session_init(&session);
	session.frames = frames;
	session.frame_count = FRAMES;
	session.strings = strings;
	session.samples = samples;
	session.sample_count = SAMPLES;
	session.threads = 3;
	for (int way = 0; way < 4; way++) {
		enum tally_call_order order = way % 2 ? TALLY_CALLEE : TALLY_CALLER;

		session.sums_early = way == 3; /* rows first */
		/* Trees are made by as many threads as there are processors; with few rows it is a
		 * few allocations a row, so the first ones are enough. */
		for (n = 0; n < 400 && run(&session, n, order, way < 2, again, sizeof(again));
		     n += 1 + n / 40)
			;
		assert_true(n > 30);
		run(&session, -1, order, way < 2, whole, sizeof(whole));
		run(&session, -1, order, way < 2, again, sizeof(again));
		assert_string_equal(whole, again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
