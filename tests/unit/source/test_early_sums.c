/* Samples counted in groups come to what each of them alone does. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../session/scene.h"

enum { THREADS = 4 };

#define COLUMNS \
	(TALLY_COLUMN_THREAD | TALLY_COLUMN_FRAME | TALLY_COLUMN_PERIOD | TALLY_COLUMN_COUNT)
#define TYPE_TIME ((uint64_t)(PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD))

struct sums {
	struct tally_session *session;
	struct {
		uint64_t shown, samples, period, hash;
		char apart[64];
	} by_worker[THREADS];
};

static uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash * 131 + (uint64_t)*text;
	return hash;
}

/* Sums of a hash of all that a report shows of a row. */
static int add_up(void *context, unsigned worker, const struct tally_batch *batch)
{
	struct sums *sums = context;

	assert_true(worker < THREADS);
	for (uint32_t i = 0; i < batch->count; i++) {
		struct tally_frame frame = tally_session_frame(sums->session, batch->frame[i]);
		struct tally_thread thread = {.size = sizeof(thread)};
		uint32_t samples = batch->samples ? batch->samples[i] : 1;
		uint64_t hash = frame.place * 31 + (uint64_t)frame.level + batch->event[i] * 7919;

		assert_int_equal(tally_session_thread(sums->session, batch->thread[i], &thread), 0);
		hash = text_hash(text_hash(hash, frame.image_name), thread.comm);
		hash = (hash + thread.pid) * 1000003 + thread.tid;
		sums->by_worker[worker].shown++;
		sums->by_worker[worker].samples += samples;
		sums->by_worker[worker].period += batch->period[i];
		sums->by_worker[worker].hash += hash * samples + (hash ^ 0x5555) * batch->period[i];
	}
	return 0;
}

struct answer {
	uint64_t shown, samples, period, hash;
	struct tally_session_counts counts;
	struct tally_data_damage damage;
};

static int read_all(const char *path, unsigned threads, bool early, struct answer *ret)
{
	const struct tally_session_options options = {
	    .size = sizeof(options), .threads = threads, .columns = early ? TALLY_COLUMN_COUNT : 0};
	struct tally_session *session;
	struct tally_data *data;
	struct sums sums = {0};
	const struct tally_sink sink = {.size = sizeof(sink),
					.columns = early ? COLUMNS : COLUMNS & ~TALLY_COLUMN_COUNT,
					.context = &sums,
					.batch = add_up};
	int result = tally_data_open(path, NULL, &data, NULL);

	*ret = (struct answer){0};
	if (result)
		return result;
	result = tally_session_new(data, &options, &session, NULL);
	if (!result) {
		sums.session = session;
		assert_int_equal(
		    tally_session_run(session, (const struct tally_sink *const[]){&sink}, 1, NULL),
		    0);
		for (unsigned i = 0; i < THREADS; i++) {
			ret->shown += sums.by_worker[i].shown;
			ret->samples += sums.by_worker[i].samples;
			ret->period += sums.by_worker[i].period;
			ret->hash += sums.by_worker[i].hash;
		}
		ret->counts = *tally_session_counts(session);
		tally_session_free(session);
	}
	ret->damage = *tally_data_damage(data);
	tally_data_close(data);
	return result;
}

static void expect_same(const struct answer *has_early, const struct answer *each)
{
	assert_int_equal(has_early->samples, each->samples);
	assert_int_equal(has_early->period, each->period);
	assert_true(has_early->hash == each->hash);
	assert_memory_equal(&has_early->counts, &each->counts, sizeof(each->counts));
	assert_memory_equal(&has_early->damage, &each->damage, sizeof(each->damage));
}

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

/* Threads whose names and maps change now and then, in flushes of two processors' rings: each is
 * in the order of time, and both read_all of the same time. */
static void make_scene(struct scene *scene, unsigned samples, unsigned pids, unsigned changes)
{
	uint64_t seed = 11;
	char name[16];

	scene_begin(scene, TYPE_TIME);
	for (uint32_t pid = 1; pid <= pids; pid++) {
		scene_comm(scene, 0, pid, pid, "first", false);
		scene_map(scene, 0, pid, 0x1000, 0x80000, 0, "/none/such");
	}
	for (unsigned i = 0; i < samples; i++) {
		/* A flush is 1,000 records; two in turn cover the same 500,000 ns. */
		uint64_t time = 1 + (i / 2000) * 500000 + (i % 1000) * 500 + i / 1000 % 2 * 7;
		uint32_t pid = 1 + (uint32_t)next(&seed) % pids;

		if (changes && next(&seed) % changes == 0) {
			switch (next(&seed) % 4) {
			case 0:
				(void)snprintf(name, sizeof(name), "name%u", i % 100);
				scene_comm(scene, time, pid, pid, name, next(&seed) % 2);
				break;
			case 1:
				scene_map(scene, time, pid, 0x10000, 0x20000,
					  (next(&seed) % 8) << 12,
					  i % 3 ? "/none/other" : "/none/a");
				break;
			case 2:
				scene_fork(scene, time, pid, 1 + (uint32_t)next(&seed) % pids, pid);
				break;
			default:
				scene_fork(scene, time, pid, pid + 1, pid + 1);
			}
		}
		/* One period for all, or others from some sample on. */
		if (changes && i > samples / 2)
			scene->period = 1000 + i % 3;
		scene_sample(scene, next(&seed) % 5 == 0, time, pid, pid + (next(&seed) % 16 == 0),
			     0x1000 + (next(&seed) % 64) * 0x800, NULL, 0);
	}
	scene_open(scene, 1);
}

static void early_sums_agree(unsigned samples, unsigned pids, unsigned changes, bool fewer)
{
	struct answer each, has_early;
	struct scene scene;

	make_scene(&scene, samples, pids, changes);
	assert_int_equal(read_all(scene.path, 1, false, &each), 0);
	assert_int_equal(each.samples, samples);
	assert_int_equal(each.shown, samples);
	for (unsigned threads = 1; threads <= THREADS; threads++) {
		assert_int_equal(read_all(scene.path, threads, true, &has_early), 0);
		expect_same(&has_early, &each);
		if (fewer)
			assert_true(has_early.shown < samples / 10);
	}
	scene_end(&scene);
}

static void nothing_changes(void **state)
{
	(void)state;
	early_sums_agree(250000, 10, 0, true); /* 14 MB: several parts */
}

static void names_and_maps_change(void **state)
{
	(void)state;
	early_sums_agree(250000, 10, 20000, false);
	early_sums_agree(60000, 40, 300, false);
	early_sums_agree(20000, 5, 10, false);
}

static void many_short_threads(void **state)
{
	(void)state;
	early_sums_agree(60000, 2000, 0, false); /* not worth groups */
}

static void few_samples(void **state)
{
	(void)state;
	early_sums_agree(0, 1, 0, false);
	early_sums_agree(1, 1, 0, false);
	early_sums_agree(40, 3, 2, false);
}

/* What a broken file holds is the same read in either way. */
static void damage_is_the_same(void **state)
{
	struct scene scene;
	static uint8_t bytes[65536], broken[sizeof(bytes)];
	uint64_t seed = 5;
	size_t size;
	FILE *file;

	(void)state;
	make_scene(&scene, 300, 4, 20);
	file = fopen(scene.path, "rbe");
	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	(void)fclose(file);
	assert_true(size > 300 * 48 && size < sizeof(bytes));
	for (unsigned round = 0; round < 300; round++) {
		struct answer each, has_early;
		size_t keep = round % 10 ? size : size - next(&seed) % 8000;
		int result;

		memcpy(broken, bytes, size);
		for (unsigned i = 0; i < 1 + round % 8; i++)
			broken[104 + next(&seed) % (size - 104)] = (uint8_t)next(&seed);
		file = fopen(scene.path, "wbe");
		assert_non_null(file);
		assert_int_equal(fwrite(broken, 1, keep, file), keep);
		(void)fclose(file);
		result = read_all(scene.path, 2, false, &each);
		assert_int_equal(read_all(scene.path, 2, true, &has_early), result);
		if (!result)
			expect_same(&has_early, &each);
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
	int calls = 0;
	const struct tally_session_options options = {.size = sizeof(options),
						      .columns = TALLY_COLUMN_COUNT,
						      .progress = interrupt,
						      .progress_context = &calls};
	struct tally_error error = {0};
	struct tally_session *session;
	struct scene scene;

	(void)state;
	make_scene(&scene, 100, 1, 0);
	assert_int_equal(tally_session_new(scene.data, &options, &session, &error), -ECANCELED);
	assert_int_equal(calls, 1);
	assert_int_equal(error.code, -ECANCELED);
	scene_end(&scene);
}

/* Cut after it was opened, before it is walked over. */
static void a_file_that_becomes_shorter_is_reported(void **state)
{
	const struct tally_session_options options = {.size = sizeof(options),
						      .columns = TALLY_COLUMN_COUNT};
	long page = sysconf(_SC_PAGESIZE);
	struct tally_error error = {0};
	struct tally_session *session;
	struct scene scene;
	void *own = mmap(NULL, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (madvise(own, (size_t)page, MADV_POPULATE_READ)) {
		munmap(own, (size_t)page);
		print_message("this kernel has no MADV_POPULATE_READ\n");
		skip();
	}
	munmap(own, (size_t)page);
	make_scene(&scene, 5000, 1, 0);
	assert_int_equal(truncate(scene.path, page), 0);
	assert_int_equal(tally_session_new(scene.data, &options, &session, &error), -EIO);
	assert_non_null(strstr(error.text, "became shorter while it was read"));
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_changes),
	    cmocka_unit_test(names_and_maps_change),
	    cmocka_unit_test(many_short_threads),
	    cmocka_unit_test(few_samples),
	    cmocka_unit_test(damage_is_the_same),
	    cmocka_unit_test(progress_interrupts),
	    cmocka_unit_test(a_file_that_becomes_shorter_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
