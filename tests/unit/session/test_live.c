/* 14.1: A live session: a stream is read while it grows, in windows. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "file/live.h"
#include "scene.h"
#include "session/run.h"
#include "session/session.h"
#include "write/writer.h"

#define NO_BOUND ((size_t)1 << 30)

/* A stream that is written to a file, and then through a pipe to a live session. */
struct live_scene {
	struct scene scene; /* its writer and layouts */
	int fds[2];
	struct tally_data *data;
	struct tally_session *session;
	pthread_t feeder;
	_Atomic uint64_t passed;
	_Atomic unsigned windows;
};

static void begin(struct live_scene *live, int fd)
{
	scene_begin_stream(&live->scene, PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD, fd);
}

/* A pipe that what is written goes through at once. */
static void begin_pipe(struct live_scene *live)
{
	assert_int_equal(pipe2(live->fds, O_CLOEXEC), 0);
	begin(live, live->fds[1]);
}

static void open_live(struct live_scene *live, size_t queue_most, size_t window_bytes)
{
	const struct tally_session_options options = {.size = sizeof(options), .threads = 2};
	struct tally_error error = {0};

	assert_int_equal(tally_data_open_live(live->fds[0], "a pipe", 0, &live->data, &error), 0);
	tally_live_set_bounds(live->data, queue_most, window_bytes, 0);
	assert_int_equal(tally_session_new(live->data, &options, &live->session, &error), 0);
}

static void end_round(struct live_scene *live)
{
	assert_int_equal(tally_writer_round(live->scene.writer, false, NULL), 0);
}

static void close_writer(struct live_scene *live)
{
	assert_int_equal(tally_writer_close(live->scene.writer, NULL), 0);
	live->scene.writer = NULL;
}

static void end(struct live_scene *live)
{
	tally_session_free(live->session);
	tally_data_close(live->data);
}

/* --- sums --- */

#define SUMS 2048

/* Samples and periods by name and place. */
struct sums {
	pthread_mutex_t lock;
	const struct tally_session *session;
	uint64_t last_time; /* of a window before */
	size_t count;
	struct sum {
		char key[128];
		uint64_t samples, period;
	} list[SUMS];
};

static int sum_sample(void *context, unsigned worker, struct tally_resolver *resolver,
		      const struct tally_resolved *sample)
{
	struct sums *sums = context;
	uint32_t number =
	    tally_resolver_frame(resolver, sample, sample->cpumode, sample->sample.ip);
	struct tally_frame frame = tally_session_frame(sums->session, number);
	char key[128];
	size_t at;

	(void)worker;
	snprintf(key, sizeof(key), "%u %s %s %s", sample->event,
		 tally_session_string(sums->session, sample->comm), frame.image_name,
		 frame.symbol ? frame.symbol : "-");
	pthread_mutex_lock(&sums->lock);
	assert_true(sample->sample.time > sums->last_time || !sums->last_time);
	for (at = 0; at < sums->count && strcmp(sums->list[at].key, key) != 0; at++)
		;
	assert_true(at < SUMS);
	if (at == sums->count)
		snprintf(sums->list[sums->count++].key, sizeof(key), "%s", key);
	sums->list[at].samples++;
	sums->list[at].period += sample->sample.period;
	pthread_mutex_unlock(&sums->lock);
	return 0;
}

static int by_key(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	return strcmp(a->key, b->key);
}

#define SUM_FIELDS (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

static void sum_session(struct tally_session *session, struct sums *sums)
{
	sums->session = session;
	assert_int_equal(scene_each(session, SUM_FIELDS, sum_sample, sums), 0);
	qsort(sums->list, sums->count, sizeof(*sums->list), by_key);
}

/* All windows of a live session; returns how many there were. */
static unsigned sum_live(struct live_scene *live, struct sums *sums)
{
	struct tally_error error = {0};
	uint64_t passed;
	int more;

	while ((more = tally_session_window(live->session, &passed, &error)) > 0) {
		sum_session(live->session, sums);
		sums->last_time = passed;
		atomic_fetch_add(&live->windows, 1);
	}
	assert_int_equal(more, 0);
	return live->windows;
}

static uint64_t samples_of(const struct sums *sums, const char *key)
{
	for (size_t i = 0; i < sums->count; i++)
		if (!strcmp(sums->list[i].key, key))
			return sums->list[i].samples;
	return 0;
}

/* --- the same as of a file --- */

static void *feed_file(void *context)
{
	struct live_scene *live = context;
	FILE *from = fopen(live->scene.path, "r");
	unsigned random = 5, waited = 0;
	size_t got, since = 0;
	char bytes[4096];

	while ((got = fread(bytes, 1, 1 + (size_t)rand_r(&random) % sizeof(bytes), from))) {
		if (write(live->fds[1], bytes, got) != (ssize_t)got)
			break;
		/* Some rounds are there: they become a window. */
		since += got;
		if (since < 65536)
			continue;
		while (atomic_load(&live->windows) <= waited)
			usleep(100);
		waited = atomic_load(&live->windows);
		since = 0;
	}
	fclose(from);
	close(live->fds[1]);
	return NULL;
}

#define PIDS  8U
#define RINGS 3U

/* Everything that is looked up later: what is mapped only later is found before in a whole file. */
static void map_all(struct scene *scene, uint64_t time, uint32_t pid, const char *file,
		    const struct own_text *text)
{
	scene_map(scene, time, pid, 0x10000, 0x28000, 0, file);
	scene_map(scene, time, pid, text->start, text->end, text->pgoff, text->path);
}

/* Records of several rings, of which each is in order, as passes over the rings take them; programs
 * start, exec, map, and end meanwhile. */
static void write_history(struct live_scene *live, unsigned seed, const struct own_text *text)
{
	struct scene *scene = &live->scene;
	unsigned random = seed;
	uint64_t start = 1000;

	for (uint32_t pid = 100; pid < 100 + PIDS; pid++) {
		scene_comm(scene, 0, pid, pid, "first", false);
		map_all(scene, 0, pid, "/nowhere/first", text);
	}
	for (unsigned pass = 0; pass < 60; pass++) {
		/* Side-band first, then each ring, up to some time after the pass began. */
		for (unsigned ring = 0; ring < RINGS; ring++) {
			uint64_t time = start + (uint64_t)rand_r(&random) % 50;
			uint64_t until = start + 1000 + (uint64_t)rand_r(&random) % 50;

			for (; time < until; time += 1 + (uint64_t)rand_r(&random) % 40) {
				uint32_t pid = 100 + (uint32_t)rand_r(&random) % PIDS;
				uint32_t other = 100 + (uint32_t)rand_r(&random) % PIDS;
				char name[32];

				snprintf(name, sizeof(name), "name-%d", rand_r(&random) % 6);
				if (ring) {
					scene_sample(scene, ring % 2, time, pid, pid,
						     (rand_r(&random) % 3 ? 0x10000 : text->start) +
							 (uint64_t)rand_r(&random) % 0x20000,
						     NULL, 0);
					continue;
				}
				switch (rand_r(&random) % 6) {
				case 0:
					if (pid == other)
						break;
					scene_exit(scene, time, other, other);
					scene_fork(scene, time + 1, pid, other, other);
					break;
				case 1:
					scene_comm(scene, time, pid, pid, name, true);
					map_all(scene, time, pid, "/nowhere/exec", text);
					break;
				case 2:
					scene_comm(scene, time, pid, pid, name, false);
					break;
				default:
					scene_map(scene, time, pid, 0x20000, 0x28000, 0,
						  rand_r(&random) % 2 ? "/nowhere/one"
								      : "/nowhere/two");
				}
			}
		}
		start += 1000;
		end_round(live);
	}
}

static void the_same_as_of_a_file(void **state)
{
	struct own_text text;

	(void)state;
	own_text_find(&text);
	for (unsigned seed = 1; seed <= 6; seed++) {
		static struct sums whole, parts;
		struct live_scene live = {0};
		unsigned windows;

		memset(&whole, 0, sizeof(whole));
		memset(&parts, 0, sizeof(parts));
		pthread_mutex_init(&whole.lock, NULL);
		pthread_mutex_init(&parts.lock, NULL);
		begin(&live, -1);
		write_history(&live, seed, &text);
		scene_open(&live.scene, 2);
		sum_session(live.scene.session, &whole);
		assert_int_equal(pipe2(live.fds, O_CLOEXEC), 0);
		assert_int_equal(pthread_create(&live.feeder, NULL, feed_file, &live), 0);
		open_live(&live, NO_BOUND, 0);
		windows = sum_live(&live, &parts);
		pthread_join(live.feeder, NULL);
		assert_true(windows > 1);
		assert_int_equal(parts.count, whole.count);
		assert_true(whole.count > 20);
		for (size_t i = 0; i < whole.count; i++) {
			assert_string_equal(parts.list[i].key, whole.list[i].key);
			assert_int_equal(parts.list[i].samples, whole.list[i].samples);
			assert_int_equal(parts.list[i].period, whole.list[i].period);
		}
		assert_int_equal(tally_session_counts(live.session)->samples,
				 tally_session_counts(live.scene.session)->samples);
		assert_int_equal(tally_session_counts(live.session)->last_time,
				 tally_session_counts(live.scene.session)->last_time);
		assert_int_equal(tally_session_counts(live.session)->dropped, 0);
		end(&live);
		scene_end(&live.scene);
	}
}

/* --- windows --- */

static void what_a_ring_may_still_hold_waits(void **state)
{
	static struct sums sums = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct live_scene live = {0};
	uint64_t passed;

	(void)state;
	begin_pipe(&live);
	scene_comm(&live.scene, 0, 5, 5, "old", false);
	scene_map(&live.scene, 0, 5, 0x10000, 0x20000, 0, "/nowhere/a");
	open_live(&live, NO_BOUND, 0);
	scene_sample(&live.scene, 0, 100, 5, 5, 0x10010, NULL, 0);
	scene_sample(&live.scene, 0, 300, 5, 5, 0x10010, NULL, 0);
	end_round(&live);
	/* Of a ring that was read before the other one's last sample came. */
	scene_comm(&live.scene, 200, 5, 5, "new", false);
	scene_sample(&live.scene, 1, 250, 5, 5, 0x10010, NULL, 0);
	scene_sample(&live.scene, 1, 350, 5, 5, 0x10010, NULL, 0);
	end_round(&live);
	do {
		assert_int_equal(tally_session_window(live.session, &passed, NULL), 1);
		sum_session(live.session, &sums);
	} while (!passed);
	/* Both rounds are there, perhaps in two windows: all up to the first one's youngest. */
	assert_int_equal(passed, 300);
	assert_int_equal(samples_of(&sums, "0 old a -"), 1);
	assert_int_equal(samples_of(&sums, "0 new a -"), 1);
	assert_int_equal(samples_of(&sums, "1 new a -"), 1);
	close_writer(&live);
	sums.last_time = passed;
	assert_int_equal(tally_session_window(live.session, &passed, NULL), 1);
	assert_true(passed == UINT64_MAX);
	sum_session(live.session, &sums);
	assert_int_equal(samples_of(&sums, "1 new a -"), 2);
	assert_int_equal(tally_session_window(live.session, &passed, NULL), 0);
	end(&live);
}

/* So that all that was written is in the queue. */
static void wait_for_reader(struct live_scene *live)
{
	int waiting;

	do {
		usleep(1000);
		assert_int_equal(ioctl(live->fds[0], FIONREAD, &waiting), 0);
	} while (waiting);
	usleep(20000);
}

static void a_slow_sink_has_samples_dropped_and_names_kept(void **state)
{
	static struct sums sums = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct live_scene live = {0};
	const struct tally_session_counts *counts;
	uint64_t passed, seen = 0;

	(void)state;
	begin_pipe(&live);
	scene_comm(&live.scene, 0, 5, 5, "early", false);
	open_live(&live, 65536, 0);
	for (unsigned i = 0; i < 10000; i++) {
		scene_sample(&live.scene, 0, 1000 + i, 5, 5, 0x10010, NULL, 0);
		if (i % 100 == 99)
			end_round(&live);
	}
	scene_comm(&live.scene, 20000, 5, 5, "late", false);
	end_round(&live);
	wait_for_reader(&live);
	assert_int_equal(tally_session_window(live.session, &passed, NULL), 1);
	sum_session(live.session, &sums);
	scene_sample(&live.scene, 0, 30000, 5, 5, 0x10010, NULL, 0);
	close_writer(&live);
	while (tally_session_window(live.session, &passed, NULL) > 0)
		sum_session(live.session, &sums);
	for (size_t i = 0; i < sums.count; i++)
		seen += sums.list[i].samples;
	counts = tally_session_counts(live.session);
	assert_true(counts->dropped > 5000);
	assert_int_equal(counts->dropped + seen, 10001);
	assert_int_equal(counts->samples, seen);
	assert_int_equal(samples_of(&sums, "0 late [unknown] -"), 1);
	end(&live);
}

/* --- memory --- */

#define LONG_PASSES 3000U

static void *feed_long(void *context)
{
	struct live_scene *live = context;
	struct scene *scene = &live->scene;

	for (uint32_t pass = 1; pass <= LONG_PASSES; pass++) {
		uint64_t time = 10000 * (uint64_t)pass;
		uint32_t pid = 1000 + pass % 20000;

		/* Not so far ahead that anything is dropped, however busy the machine is. */
		while (pass > 20 && atomic_load(&live->passed) < time - 200000)
			usleep(100);
		scene_fork(scene, time, 5, pid, pid);
		scene_comm(scene, time + 1, pid, pid, "job", true);
		for (unsigned i = 0; i < 10; i++)
			scene_map(scene, time + 2, pid, 0x10000 * (i + 1), 0x10000 * (i + 2), 0,
				  "/nowhere/job");
		scene_map(scene, time + 2, 5, 0x10000, 0x20000, 0,
			  pass % 2 ? "/nowhere/a" : "/nowhere/b");
		for (unsigned i = 0; i < 200; i++)
			scene_sample(scene, 0, time + 10 + i, pid, pid, 0x10010 + i % 16, NULL, 0);
		scene_exit(scene, time + 500, pid, pid);
		end_round(live);
	}
	close_writer(live);
	return NULL;
}

static void memory_is_that_of_a_window_and_of_what_lives(void **state)
{
	static struct sums sums = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct live_scene live = {0};
	size_t first = 0, most = 0;
	uint64_t passed;
	unsigned windows = 0;

	(void)state;
	begin_pipe(&live);
	scene_comm(&live.scene, 0, 5, 5, "shell", false);
	open_live(&live, 1 << 20, 65536);
	assert_int_equal(pthread_create(&live.feeder, NULL, feed_long, &live), 0);
	while (tally_session_window(live.session, &passed, NULL) > 0) {
		size_t used;

		sum_session(live.session, &sums);
		atomic_store(&live.passed, passed);
		used = mallinfo2().uordblks + mallinfo2().hblkhd;
		if (++windows == 20)
			first = used;
		most = used > most ? used : most;
	}
	pthread_join(live.feeder, NULL);
	/* 3,000 programs and 40 MB of records went by. */
	assert_int_equal(tally_session_counts(live.session)->by_type[PERF_RECORD_EXIT],
			 LONG_PASSES);
	assert_true(windows > 40);
	assert_true(most < first + (4 << 20));
	end(&live);
}

/* --- what is no stream, or breaks off --- */

static void a_stream_that_breaks_off_is_read_as_far_as_it_goes(void **state)
{
	static const struct perf_event_header bad = {.type = PERF_RECORD_SAMPLE, .size = 3};
	static struct sums sums = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct live_scene live = {0};

	(void)state;
	begin_pipe(&live);
	scene_comm(&live.scene, 0, 5, 5, "name", false);
	open_live(&live, NO_BOUND, 0);
	scene_sample(&live.scene, 0, 100, 5, 5, 0x10010, NULL, 0);
	assert_int_equal(write(live.fds[1], &bad, sizeof(bad)), sizeof(bad));
	scene_sample(&live.scene, 0, 200, 5, 5, 0x10010, NULL, 0);
	sum_live(&live, &sums);
	assert_int_equal(samples_of(&sums, "0 name [unknown] -"), 1);
	assert_int_equal(tally_data_damage(live.data)->count, 1);
	close_writer(&live);
	end(&live);
}

static void what_is_no_stream_is_refused(void **state)
{
	static const char *const texts[] = {"", "PERFILE2",
					    "this is no recording at all, only text"};
	struct tally_error error;
	struct tally_data *data;
	int fds[2];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		error = (struct tally_error){0};
		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		assert_int_equal(write(fds[1], texts[i], strlen(texts[i])), strlen(texts[i]));
		close(fds[1]);
		assert_int_equal(tally_data_open_live(fds[0], "a pipe", 0, &data, &error),
				 -EBADMSG);
		assert_true(strlen(error.text) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_same_as_of_a_file),
	    cmocka_unit_test(what_a_ring_may_still_hold_waits),
	    cmocka_unit_test(a_slow_sink_has_samples_dropped_and_names_kept),
	    cmocka_unit_test(memory_is_that_of_a_window_and_of_what_lives),
	    cmocka_unit_test(a_stream_that_breaks_off_is_read_as_far_as_it_goes),
	    cmocka_unit_test(what_is_no_stream_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
