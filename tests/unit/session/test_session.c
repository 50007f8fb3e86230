/* Samples joined with who ran and where, on recordings whose answers are known. */
#include "scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_CHAIN (PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define TYPE_FLAT  (PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

/* What one visit saw, a line a sample. */
struct seen {
	struct tally_session *session;
	char text[8192];
	size_t length;
	bool chains;
};

static void say(struct seen *seen, const char *text)
{
	seen->length += (size_t)snprintf(seen->text + seen->length,
					 sizeof(seen->text) - seen->length, "%s", text);
	assert_true(seen->length < sizeof(seen->text));
}

static void say_frame(struct seen *seen, uint32_t number)
{
	struct tally_frame frame = tally_session_frame(seen->session, number);
	char text[256];

	assert_int_not_equal(number, 0);
	if (frame.symbol)
		(void)snprintf(text, sizeof(text), " %s", frame.symbol);
	else
		(void)snprintf(text, sizeof(text), " %s+%llx[%c]", frame.image_name,
			       (unsigned long long)frame.place, frame.level);
	say(seen, text);
}

static int look(void *context, unsigned worker, struct tally_resolver *resolver,
		const struct tally_resolved *sample)
{
	struct seen *seen = context;
	uint32_t stack;
	char text[128];

	assert_int_equal(worker, 0);
	(void)snprintf(text, sizeof(text), "%u %s:", sample->event,
		       tally_session_string(seen->session, sample->comm));
	say(seen, text);
	if (seen->chains) {
		struct tally_stack at;

		assert_int_equal(tally_resolver_stack(resolver, sample, &stack), 0);
		for (; stack; stack = at.caller) {
			assert_int_equal(tally_session_stack(seen->session, stack, &at), 0);
			say_frame(seen, at.frame);
		}
	} else {
		say_frame(seen, tally_resolver_frame(resolver, sample, sample->cpumode,
						     sample->sample.ip));
	}
	say(seen, "\n");
	return 0;
}

static void expect(struct scene *scene, uint64_t want, bool chains, const char *lines)
{
	struct seen *seen = calloc(1, sizeof(*seen));

	assert_non_null(seen);
	seen->session = scene->session;
	seen->chains = chains;
	assert_int_equal(scene_each(scene->session, want, look, seen), 0);
	assert_string_equal(seen->text, lines);
	free(seen);
}

static void samples_meet_their_process(void **state)
{
	struct own_text text;
	struct scene scene;
	uint64_t place = (uint64_t)(uintptr_t)scene_begin;
	const struct tally_session_counts *counts;
	struct tally_frame none;
	struct tally_body lost = {.size = sizeof(lost), .type = PERF_RECORD_LOST};
	struct tally_body throttle = {.size = sizeof(throttle), .type = PERF_RECORD_THROTTLE};

	(void)state;
	own_text_find(&text);
	scene_begin(&scene, TYPE_FLAT);
	scene_comm(&scene, 0, 10, 10, "shell", false);
	/* As rings are drained one after another, records are not in the order of time. */
	scene_sample(&scene, 0, 500, 20, 20, place, NULL, 0);
	scene_sample(&scene, 1, 150, 20, 20, 0x1234, NULL, 0);
	scene_sample(&scene, 0, 90, 10, 10, 0x777000, NULL, 0);
	scene_sample(&scene, 0, 600, 99, 99, 0x42, NULL, 0);
	scene_map(&scene, 0, 10, 0x777000, 0x778000, 0x3000, "/none/such");
	scene_map(&scene, 300, 20, text.start, text.end, text.pgoff, text.path);
	scene_comm(&scene, 200, 20, 20, "program", true);
	scene_fork(&scene, 100, 10, 20, 20);
	lost.lost = (struct tally_record_lost){.id = 7, .lost = 5};
	scene_add(&scene, 0, &lost);
	throttle.throttle = (struct tally_record_throttle){.time = 5, .id = 7};
	scene_add(&scene, 0, &throttle);
	scene_open(&scene, 1);

	expect(&scene, PERF_SAMPLE_IP, false,
	       "0 shell: such+3000[.]\n"
	       "1 shell: [unknown]+1234[.]\n"
	       "0 program: scene_begin\n"
	       "0 :99: [unknown]+42[.]\n");
	counts = tally_session_counts(scene.session);
	assert_int_equal(counts->samples, 4);
	assert_int_equal(counts->lost, 5);
	assert_int_equal(counts->throttled, 1);
	assert_int_equal(counts->first_time, 90);
	assert_int_equal(counts->last_time, 600);
	assert_int_equal(counts->by_type[PERF_RECORD_SAMPLE], 4);
	assert_int_equal(tally_session_event_samples(scene.session, 0), 3);
	assert_int_equal(tally_session_event_samples(scene.session, 1), 1);
	for (uint32_t number = 0; number < 2; number++) {
		none = tally_session_frame(scene.session, number ? UINT32_MAX : 0);
		assert_string_equal(none.image_name, "[unknown]");
		assert_string_equal(none.image_path, "[unknown]");
		assert_null(none.symbol);
		assert_int_equal(none.place, 0);
		assert_true(none.image == UINT32_MAX);
	}
	scene_end(&scene);
}

static void without_times_the_file_is_the_order(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene, 0);
	scene_comm(&scene, 0, 10, 10, "before", false);
	scene_sample(&scene, 0, 0, 10, 10, 0x1000, NULL, 0);
	scene_comm(&scene, 0, 10, 10, "after", false);
	scene_sample(&scene, 0, 0, 10, 10, 0x1000, NULL, 0);
	scene_open(&scene, 1);
	expect(&scene, PERF_SAMPLE_IP, false,
	       "0 before: [unknown]+1000[.]\n0 after: [unknown]+1000[.]\n");
	assert_int_equal(tally_session_counts(scene.session)->last_time, 0);
	scene_end(&scene);
}

static void chains_and_what_they_share(void **state)
{
	const uint64_t a[] = {PERF_CONTEXT_USER, 0x1001, 0x2002, 0x3003};
	const uint64_t b[] = {PERF_CONTEXT_USER, 0x1111, 0x2002, 0x3003};
	const uint64_t c[] = {PERF_CONTEXT_USER, 0x2002, 0x3003};
	/* The same words under another mode are other places. */
	const uint64_t d[] = {PERF_CONTEXT_GUEST_USER, 0x2002, 0x3003};
	const uint64_t e[] = {PERF_CONTEXT_GUEST_KERNEL, 0x5, PERF_CONTEXT_USER, 0x3003};
	const uint64_t f[] = {PERF_CONTEXT_USER, 0x1, PERF_CONTEXT_USER_DEFERRED, 0x3003};
	struct scene scene;

	(void)state;
	scene_begin(&scene, TYPE_CHAIN);
	scene_comm(&scene, 0, 1, 1, "x", false);
	scene_map(&scene, 0, 1, 0x1000, 0x4000, 0x1000, "/none/such");
	scene_sample(&scene, 0, 1, 1, 1, 0x1001, a, 4);
	scene_sample(&scene, 0, 2, 1, 1, 0x1001, a, 4);
	scene_sample(&scene, 0, 3, 1, 1, 0x1111, b, 4);
	scene_sample(&scene, 0, 4, 1, 1, 0x2002, c, 3);
	scene_sample(&scene, 0, 5, 1, 1, 0x2002, d, 3);
	scene_sample(&scene, 0, 6, 1, 1, 0x3003, e, 4);
	scene_sample(&scene, 0, 7, 1, 1, 0x3003, NULL, 0);
	scene_sample(&scene, 0, 8, 1, 1, 0x1, f, 4);
	scene_sample(&scene, 0, 9, 1, 1, 0x1001, a, 4);
	scene_sample(&scene, 0, 10, 2, 2, 0x1001, a, 4);
	scene_open(&scene, 1);
	expect(&scene, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, true,
	       "0 x: such+1001[.] such+2002[.] such+3003[.]\n"
	       "0 x: such+1001[.] such+2002[.] such+3003[.]\n"
	       "0 x: such+1111[.] such+2002[.] such+3003[.]\n"
	       "0 x: such+2002[.] such+3003[.]\n"
	       "0 x: [unknown]+2002[u] [unknown]+3003[u]\n"
	       "0 x: [unknown]+5[g] such+3003[.]\n"
	       "0 x:\n"
	       "0 x: [unknown]+1[.]\n"
	       "0 x: such+1001[.] such+2002[.] such+3003[.]\n"
	       "0 :2: [unknown]+1001[.] [unknown]+2002[.] [unknown]+3003[.]\n");
	scene_end(&scene);
}

/* --- several threads come to the same sums as one --- */

enum { THREADS = 4, SAMPLES = 60000 };

struct sums {
	struct tally_session *session;
	struct {
		uint64_t samples, frames;
		uint64_t hash; /* of what is read in a report, so that numbers do not matter */
		char apart[64];
	} by_worker[THREADS];
};

static uint64_t frame_hash(const struct tally_session *session, uint32_t number)
{
	struct tally_frame frame = tally_session_frame(session, number);
	uint64_t hash = frame.place * 31 + (uint64_t)frame.level;

	for (const char *at = frame.symbol ? frame.symbol : frame.image_name; *at; at++)
		hash = hash * 131 + (uint64_t)*at;
	return hash;
}

static int add_up(void *context, unsigned worker, const struct tally_batch *batch)
{
	struct sums *sums = context;

	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t stack = batch->stack[i];
		struct tally_stack at;

		sums->by_worker[worker].samples++;
		sums->by_worker[worker].hash += frame_hash(sums->session, batch->frame[i]);
		for (uint32_t depth = 1; stack; stack = at.caller, depth++) {
			assert_int_equal(tally_session_stack(sums->session, stack, &at), 0);
			sums->by_worker[worker].frames++;
			sums->by_worker[worker].hash += depth * frame_hash(sums->session, at.frame);
		}
	}
	return 0;
}

static struct sums sum_with(const char *path, unsigned threads, uint64_t columns)
{
	const struct tally_session_options options = {.size = sizeof(options), .threads = threads};
	struct tally_session *session;
	struct tally_data *data;
	struct sums sums = {0};
	const struct tally_sink sink = {
	    .size = sizeof(sink), .columns = columns, .context = &sums, .batch = add_up};
	const struct tally_sink *const sinks[] = {&sink};

	assert_int_equal(tally_data_open(path, NULL, &data, NULL), 0);
	assert_int_equal(tally_session_new(data, &options, &session, NULL), 0);
	sums.session = session;
	assert_int_equal(tally_session_run(session, sinks, 1, NULL), 0);
	for (unsigned i = 1; i < THREADS; i++) {
		sums.by_worker[0].samples += sums.by_worker[i].samples;
		sums.by_worker[0].frames += sums.by_worker[i].frames;
		sums.by_worker[0].hash += sums.by_worker[i].hash;
	}
	tally_session_free(session);
	tally_data_close(data);
	return sums;
}

static void threads_agree(void **state)
{
	struct own_text text;
	struct scene scene;
	struct sums one, four;
	uint64_t seed = 7;

	(void)state;
	own_text_find(&text);
	scene_begin(&scene, TYPE_CHAIN);
	for (uint32_t pid = 1; pid < 50; pid++) {
		scene_comm(&scene, 0, pid, pid, "x", false);
		scene_map(&scene, 0, pid, text.start, text.end, text.pgoff, text.path);
		scene_map(&scene, pid * 1000, pid, 0x1000, 0x400000, 0, "/none/such");
		scene_map(&scene, pid * 1200, pid, 0x2000, 0x300000, 0, "/none/other");
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint64_t chain[6] = {PERF_CONTEXT_USER};
		uint32_t pid;

		for (unsigned j = 1; j < 6; j++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			chain[j] = seed >> 62 ? text.start + (seed >> 33) % (text.end - text.start)
					      : (seed >> 40) % 0x500000;
		}
		pid = 1 + (uint32_t)(seed >> 33) % 52; /* some that no record names */
		scene_sample(&scene, i % 2, i, pid, pid, chain[1], chain, 6);
	}
	scene_open(&scene, 1);
	one = sum_with(scene.path, 1, TALLY_COLUMN_FRAME | TALLY_COLUMN_STACK);
	four = sum_with(scene.path, THREADS, TALLY_COLUMN_FRAME | TALLY_COLUMN_STACK);
	assert_int_equal(one.by_worker[0].samples, SAMPLES);
	assert_int_equal(one.by_worker[0].frames, SAMPLES * 5);
	assert_int_equal(four.by_worker[0].samples, SAMPLES);
	assert_int_equal(four.by_worker[0].frames, SAMPLES * 5);
	assert_true(one.by_worker[0].hash == four.by_worker[0].hash);
	scene_end(&scene);
}

/* Chains of all kinds, short and long, that have much, little and nothing in common. */
static uint64_t make_chain(uint64_t *seed, uint64_t *chain)
{
	static const uint64_t marks[] = {PERF_CONTEXT_KERNEL,        PERF_CONTEXT_USER,
					 PERF_CONTEXT_USER,          PERF_CONTEXT_GUEST_USER,
					 PERF_CONTEXT_USER_DEFERRED, (uint64_t)-4000,
					 PERF_CONTEXT_GUEST_KERNEL};
	uint64_t count, common;

	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	count = *seed >> 60 ? (*seed >> 40) % 12 : (*seed >> 40) % 60;
	common = (*seed >> 50) % (count + 1);
	for (uint64_t i = 0; i < count; i++) {
		*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
		chain[i] = i >= common       ? 0x1000 + (count - i) * 8
			   : *seed >> 32 & 7 ? 0x1000 + (*seed >> 40) % 0x5000
					     : marks[(*seed >> 40) % 7];
	}
	return count;
}

static void chains_together_are_as_alone(void **state)
{
	const uint64_t columns = TALLY_COLUMN_FRAME | TALLY_COLUMN_STACK;
	struct sums together, alone;
	struct scene scene;
	uint64_t seed = 3, chain[64];

	(void)state;
	scene_begin(&scene, TYPE_CHAIN);
	scene_comm(&scene, 0, 1, 1, "x", false);
	scene_map(&scene, 0, 1, 0x1000, 0x4000, 0x1000, "/none/such");
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t count = make_chain(&seed, chain);

		scene_sample(&scene, 0, 1 + i, 1 + i / 5000, 1 + i / 5000, 0x1001, chain, count);
	}
	scene_open(&scene, 1);
	/* With the samples themselves each is resolved by itself. */
	together = sum_with(scene.path, 1, columns);
	alone = sum_with(scene.path, 1, columns | TALLY_COLUMN_SAMPLE);
	assert_int_equal(together.by_worker[0].samples, 20000);
	assert_int_equal(alone.by_worker[0].samples, 20000);
	assert_true(together.by_worker[0].frames > 50000);
	assert_int_equal(together.by_worker[0].frames, alone.by_worker[0].frames);
	assert_true(together.by_worker[0].hash == alone.by_worker[0].hash);
	scene_end(&scene);
}

static int stop_at_once(void *context, unsigned worker, const struct tally_batch *batch)
{
	(void)worker, (void)batch;
	++*(int *)context;
	return -EPIPE;
}

static void a_sink_stops_it(void **state)
{
	struct tally_error error = {0};
	struct scene scene;
	int calls = 0;
	const struct tally_sink sink = {.size = sizeof(sink),
					.columns = TALLY_COLUMN_FRAME,
					.context = &calls,
					.batch = stop_at_once};

	(void)state;
	scene_begin(&scene, TYPE_FLAT);
	for (unsigned i = 0; i < 10000; i++)
		scene_sample(&scene, 0, i, 1, 1, i, NULL, 0);
	scene_open(&scene, 1);
	assert_int_equal(
	    tally_session_run(scene.session, (const struct tally_sink *const[]){&sink}, 1, &error),
	    -EPIPE);
	assert_int_equal(calls, 1);
	assert_int_equal(error.code, -EPIPE);
	scene_end(&scene);
}

static int count_rows(void *context, unsigned worker, const struct tally_batch *batch)
{
	(void)worker;
	for (uint32_t i = 0; i < batch->count; i++, ++*(uint64_t *)context)
		assert_int_not_equal(batch->frame[i], 0);
	return 0;
}

/* Any byte of the records may be wrong: samples may be lost by that, and nothing else. */
static void damage_is_survived(void **state)
{
	const uint64_t chain[] = {PERF_CONTEXT_USER, 0x1001, 0x2002, 0x3003};
	const struct tally_session_options options = {.size = sizeof(options), .threads = 1};
	struct scene scene;
	uint8_t bytes[16384];
	uint64_t seed = 3;
	size_t size;
	FILE *file;

	(void)state;
	scene_begin(&scene, TYPE_CHAIN);
	scene_comm(&scene, 0, 1, 1, "x", true);
	scene_map(&scene, 0, 1, 0x1000, 0x4000, 0x1000, "/none/such");
	scene_fork(&scene, 5, 1, 2, 2);
	for (unsigned i = 0; i < 20; i++)
		scene_sample(&scene, i % 2, 10 + i, 1 + i % 2, 1 + i % 2, 0x1001, chain, 4);
	scene_open(&scene, 1);
	file = fopen(scene.path, "rbe");
	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	(void)fclose(file);
	for (unsigned round = 0; round < 400; round++) {
		struct tally_session *session;
		struct tally_data *data;
		uint8_t broken[sizeof(bytes)];
		uint64_t seen = 0;
		const struct tally_sink sink = {.size = sizeof(sink),
						.columns = TALLY_COLUMN_FRAME | TALLY_COLUMN_STACK,
						.context = &seen,
						.batch = count_rows};
		const struct tally_sink *const sinks[] = {&sink};

		memcpy(broken, bytes, size);
		for (unsigned i = 0; i < 1 + round % 8; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			broken[104 + (seed >> 33) % (size - 104)] = (uint8_t)(seed >> 20);
		}
		file = fopen(scene.path, "wbe");
		assert_non_null(file);
		assert_int_equal(fwrite(broken, 1, size, file), size);
		(void)fclose(file);
		if (tally_data_open(scene.path, NULL, &data, NULL))
			continue;
		if (!tally_session_new(data, &options, &session, NULL)) {
			assert_int_equal(tally_session_run(session, sinks, 1, NULL), 0);
			assert_int_equal(seen + tally_session_counts(session)->undecoded,
					 tally_session_counts(session)->samples);
			tally_session_free(session);
		}
		tally_data_close(data);
	}
	scene_end(&scene);
}

static int interrupt(void *context, uint64_t done, uint64_t total)
{
	assert_true(done <= total);
	return ++*(int *)context;
}

static void progress_interrupts(void **state)
{
	struct tally_session_options options = {.size = sizeof(options), .progress = interrupt};
	struct tally_error error = {0};
	struct tally_session *session;
	struct scene scene;
	int calls = 0;
	const struct tally_sink sink = {.size = sizeof(sink),
					.columns = TALLY_COLUMN_FRAME,
					.context = &calls,
					.batch = stop_at_once};

	(void)state;
	scene_begin(&scene, TYPE_FLAT);
	for (unsigned i = 0; i < 10000; i++)
		scene_sample(&scene, 0, i, 1, 1, i, NULL, 0);
	scene_open(&scene, 1);
	options.progress_context = &calls;
	assert_int_equal(tally_session_new(scene.data, &options, &session, &error), -ECANCELED);
	assert_int_equal(calls, 1);
	assert_int_equal(error.code, -ECANCELED);
	scene_end(&scene);
}

struct taken {
	struct tally_session *session;
	uint64_t rows, last_time;
	unsigned begun, ended;
};

static int take_rows(void *context, unsigned worker, const struct tally_batch *batch)
{
	struct taken *taken = context;

	assert_int_equal(worker, 0);
	assert_null(batch->cpu); /* nobody asked */
	for (uint32_t i = 0; i < batch->count; i++, taken->rows++) {
		struct tally_thread thread = {.size = sizeof(thread)};
		struct tally_sample sample = {.size = sizeof(sample)};
		struct tally_stack stack;

		assert_true(batch->time[i] >= taken->last_time);
		taken->last_time = batch->time[i];
		assert_int_equal(tally_batch_sample(batch, i, &sample), 0);
		assert_int_equal(sample.time, batch->time[i]);
		assert_int_equal(tally_session_thread(taken->session, batch->thread[i], &thread),
				 0);
		assert_int_equal(thread.tid, sample.tid);
		assert_string_equal(thread.comm, "x");
		assert_int_equal(tally_session_stack(taken->session, batch->stack[i], &stack), 0);
		assert_int_equal(stack.frame, batch->frame[i]);
	}
	assert_int_equal(tally_batch_sample(batch, batch->count, &(struct tally_sample){0}),
			 -EINVAL);
	return 0;
}

static int begin_rows(void *context, unsigned workers)
{
	assert_int_equal(workers, 1);
	return (int)((struct taken *)context)->begun++;
}

static int end_rows(void *context)
{
	return (int)((struct taken *)context)->ended++;
}

/* 14.1: two sinks with columns of their own, by one reading; a sink of an older edition is shorter.
 */
static void sinks_take_batches(void **state)
{
	const uint64_t chain[] = {PERF_CONTEXT_USER, 0x1001, 0x2002};
	struct taken all = {0}, older = {0};
	struct tally_sink sink = {.size = sizeof(sink),
				  .columns = TALLY_COLUMN_TIME | TALLY_COLUMN_SAMPLE,
				  .in_order = true,
				  .context = &all,
				  .begin = begin_rows,
				  .batch = take_rows,
				  .end = end_rows};
	struct tally_sink shorter = sink;
	const struct tally_sink *const sinks[] = {&sink, &shorter};
	struct scene scene;

	(void)state;
	scene_begin(&scene, TYPE_CHAIN);
	scene_comm(&scene, 0, 1, 1, "x", false);
	scene_map(&scene, 0, 1, 0x1000, 0x4000, 0x1000, "/none/such");
	for (unsigned i = 0; i < 5000; i++)
		scene_sample(&scene, 0, 10 + (i ^ 1), 1, 1, 0x1001, chain, 3);
	scene_open(&scene, 1);
	all.session = older.session = scene.session;
	shorter.size = offsetof(struct tally_sink, passed);
	shorter.context = &older;
	shorter.columns = TALLY_COLUMN_THREAD | TALLY_COLUMN_STACK | TALLY_COLUMN_FRAME;
	assert_int_equal(tally_session_run(scene.session, sinks, 2, NULL), 0);
	assert_int_equal(all.rows, 5000);
	assert_int_equal(older.rows, 5000);
	assert_int_equal(all.begun + all.ended, 2);
	assert_int_equal(older.begun, 1);
	assert_int_equal(older.ended, 0); /* its edition did not know end() */
	sink.columns |= 1ULL << 63;
	assert_int_equal(tally_session_run(scene.session, sinks, 1, NULL), -EINVAL);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(samples_meet_their_process),
	    cmocka_unit_test(without_times_the_file_is_the_order),
	    cmocka_unit_test(chains_and_what_they_share),
	    cmocka_unit_test(threads_agree),
	    cmocka_unit_test(chains_together_are_as_alone),
	    cmocka_unit_test(a_sink_stops_it),
	    cmocka_unit_test(sinks_take_batches),
	    cmocka_unit_test(damage_is_survived),
	    cmocka_unit_test(progress_interrupts),
	};

	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
