/* The writer against the reader: what is written is read back, at every moment of a recording. */
#include "../file/made_recording.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "write/writer.h"

static const char *const command_line[] = {"/usr/bin/tally", "record", "--", "sleep 1", ""};

static void close_writer(struct tally_writer *writer)
{
	struct tally_error error = {0};

	if (tally_writer_close(writer, &error))
		fail_msg("%s", error.text);
}

static void round_of(struct tally_writer *writer, bool checkpoint)
{
	struct tally_error error = {0};

	if (tally_writer_round(writer, checkpoint, &error))
		fail_msg("%s", error.text);
}

static void reads_what_was_written(void **state)
{
	struct tally_writer_options options = {
	    .size = sizeof(options), .cmdline = command_line, .cmdline_count = 5};
	struct tally_data_build_id build_ids[2] = {
	    {.misc = 2, .pid = UINT32_MAX, .size = 20, .id = {1, 2, 3, 20}, .filename = "/bin/a"},
	    {.misc = 1,
	     .pid = UINT32_MAX,
	     .size = 8,
	     .id = {9, 8, 7},
	     .filename = "[kernel.kallsyms]"}};
	char *path = path_in(state, "whole.data");
	struct tally_writer *writer = recording_begin(path, &options);
	const struct tally_data_info *info;
	const struct tally_data_event *event;
	uint64_t time = 1000, counts[128];
	struct tally_data *data;

	recording_comm(writer, 77, "worker");
	for (int i = 0; i < 5; i++) {
		recording_samples(writer, 10, &time);
		round_of(writer, i % 2);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(tally_writer_add_build_id(writer, &build_ids[i]), 0);
	tally_writer_set_sample_time(writer, 1000, time - 1);
	close_writer(writer);

	data = open_data(path);
	assert_string_equal(tally_data_path(data), path);
	assert_int_equal(tally_data_event_count(data), 2);
	event = tally_data_event(data, 1);
	assert_string_equal(event->name, "dummy:u");
	assert_int_equal(event->attr.size, 64);
	assert_int_equal(event->attr.config, PERF_COUNT_SW_DUMMY);
	assert_int_equal(event->attr.sample_type, RECORDING_SAMPLE_TYPE);
	assert_true(event->attr.comm && event->attr.exclude_kernel && event->attr.sample_id_all);
	assert_int_equal(event->id_count, 2);
	assert_int_equal(event->ids[1], 22);
	assert_int_equal(event->leader, 1);
	assert_null(tally_data_event(data, 2));
	assert_int_equal(tally_data_find_event(data, 12), 0);
	assert_int_equal(tally_data_find_event(data, 21), 1);
	assert_int_equal(tally_data_find_event(data, 0), 0);
	assert_int_equal(tally_data_find_event(data, 13), -ENOENT);

	info = tally_data_info(data);
	assert_non_null(info->hostname);
	assert_non_null(info->os_release);
	assert_string_equal(info->version, "tally " TALLY_VERSION);
	assert_int_equal(info->cmdline_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(info->cmdline[i], command_line[i]);
	assert_true(info->has_sample_time);
	assert_int_equal(info->sample_time_first, 1000);
	assert_int_equal(info->sample_time_last, 1049);
	assert_int_equal(info->build_id_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(info->build_ids[i].misc, build_ids[i].misc);
		assert_int_equal(info->build_ids[i].pid, build_ids[i].pid);
		assert_int_equal(info->build_ids[i].size, build_ids[i].size);
		assert_memory_equal(info->build_ids[i].id, build_ids[i].id, 20);
		assert_string_equal(info->build_ids[i].filename, build_ids[i].filename);
	}
	assert_false(info->features[0] & 1);

	count_records(data, counts);
	assert_int_equal(counts[PERF_RECORD_COMM], 1);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 50);
	assert_int_equal(counts[PERF_RECORD_FINISHED_ROUND], 5);
	assert_int_equal(tally_data_damage(data)->count, 0);
	assert_false(tally_data_damage(data)->no_end);
	tally_data_rewind(data);
	count_records(data, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 50);
	tally_data_close(data);
	free(path);
}

static void finds_the_event_of_a_record(void **state)
{
	char *path = path_in(state, "events.data");
	struct tally_writer *writer = recording_begin(path, NULL);
	struct tally_record record;
	uint64_t time = 1;
	struct tally_data *data;
	unsigned samples = 0;

	recording_comm(writer, 77, "worker");
	recording_samples(writer, 4, &time);
	close_writer(writer);
	data = open_data(path);
	while (tally_data_next_record(data, &record, NULL) > 0) {
		if (record.type == PERF_RECORD_SAMPLE)
			assert_int_equal(tally_data_event_of(data, &record), samples++ % 2);
		else
			assert_int_equal(tally_data_event_of(data, &record),
					 record.type == PERF_RECORD_COMM);
	}
	assert_int_equal(samples, 4);
	tally_data_close(data);
	free(path);
}

/* All attrs get one size, the smallest that holds every one. */
static void picks_the_smallest_attr(void **state)
{
	struct tally_writer_event events[2] = {{.name = "a"}, {.name = "b", .leader = 1}};
	char *path = path_in(state, "attrs.data");
	struct tally_writer *writer;
	struct tally_data *data;

	events[0].attr.config = 5;
	events[1].attr.config3 = 0x1234;
	assert_int_equal(tally_writer_open(path, events, 2, NULL, &writer, NULL), 0);
	close_writer(writer);
	data = open_data(path);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(tally_data_event(data, i)->attr.size, 136);
	assert_int_equal(tally_data_event(data, 1)->attr.config3, 0x1234);
	assert_int_equal(tally_data_event(data, 0)->attr.config, 5);
	tally_data_close(data);
	free(path);
}

static void writes_groups(void **state)
{
	struct tally_writer_event events[4] = {{.name = "alone", .leader = 0},
					       {.name = "leader", .leader = 1},
					       {.name = "member", .leader = 1},
					       {.name = "last", .leader = 3}};
	static const uint32_t leaders[4] = {0, 1, 1, 3};
	char *path = path_in(state, "groups.data");
	struct tally_writer *writer;
	struct tally_data *data;

	assert_int_equal(tally_writer_open(path, events, 4, NULL, &writer, NULL), 0);
	close_writer(writer);
	data = open_data(path);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(tally_data_event(data, i)->leader, leaders[i]);
	tally_data_close(data);
	free(path);
}

static void keeps_rounds_apart(void **state)
{
	char *path = path_in(state, "rounds.data");
	struct tally_writer *writer = recording_begin(path, NULL);
	uint64_t time = 1, counts[128], size;
	struct tally_data *data;

	round_of(writer, false); /* nothing since the start's: none is written */
	recording_samples(writer, 1, &time);
	round_of(writer, false);
	size = tally_writer_size(writer);
	round_of(writer, false);
	assert_int_equal(tally_writer_size(writer), size);
	round_of(writer, true); /* ends no round again, and marks only */
	size = tally_writer_size(writer);
	round_of(writer, true);
	round_of(writer, false);
	assert_int_equal(tally_writer_size(writer), size);
	close_writer(writer);
	data = open_data(path);
	count_records(data, counts);
	assert_int_equal(counts[PERF_RECORD_FINISHED_ROUND], 1);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 1);
	tally_data_close(data);
	free(path);
}

/* 13.28: hotspot warns of rounds with a body, and refuses a COMPRESSED section of version 1. */
static void writes_rounds_and_compression_as_perf(void **state)
{
	struct tally_writer_options options = {.size = sizeof(options), .compress_level = 1};
	char *path = path_in(state, "perfs_form.data");
	struct tally_writer *writer;
	struct tally_data *data;
	struct tally_record record;
	struct tally_block section;
	uint64_t time = 1, rounds = 0, marks = 0;

#if TALLY_WITH_ZSTD
	const unsigned kinds = 2;
#else
	const unsigned kinds = 1;
#endif

	for (unsigned packed = 0; packed < kinds; packed++) {
		writer = recording_begin(path, packed ? &options : NULL);
		for (unsigned i = 0; i < 4; i++) {
			recording_samples(writer, 3, &time);
			round_of(writer, i == 2); /* one checkpoint in the middle */
		}
		close_writer(writer);
		data = open_data(path);
		section = tally_data_feature(data, FEATURE_COMPRESSED);
		if (!packed) {
			assert_null(section.bytes);
		} else {
			assert_int_equal(section.size, 20);
			assert_int_equal(*(const uint32_t *)(const void *)section.bytes, 0);
		}
		rounds = marks = 0;
		while (tally_data_next_record(data, &record, NULL) > 0) {
			rounds += record.type == PERF_RECORD_FINISHED_ROUND;
			marks += record.type == PERF_RECORD_HEADER_EVENT_TYPE;
			if (record.type == PERF_RECORD_FINISHED_ROUND)
				assert_int_equal(record.size, sizeof(struct perf_event_header));
		}
		assert_int_equal(rounds, 4);
		assert_int_equal(marks, 1); /* the start's is in front of the data */
		tally_data_close(data);
	}
	free(path);
}

/* The file of a recorder that is killed at any point: after each call, and with any part of the
 * last write missing. */
static void survives_being_killed(void **state)
{
	char *path = path_in(state, "killed.data"), *copy = path_in(state, "copy.data");
	struct tally_writer *writer = recording_begin(path, NULL);
	uint64_t time = 1, samples = 0, safe = 0, counts[128];

	for (unsigned step = 0; step < 40; step++) {
		uint64_t before = tally_writer_size(writer), had = samples, after, cuts[4];
		struct bytes now;

		if (step % 4 == 3) {
			round_of(writer, step % 8 == 7);
			if (step % 8 == 7)
				safe = samples;
		} else {
			recording_samples(writer, 1 + step % 5, &time);
			samples += 1 + step % 5;
		}
		now = read_bytes(path);
		after = tally_writer_size(writer);
		assert_int_equal(now.size, after);
		cuts[0] = after;
		cuts[1] = after - 1;
		cuts[2] = before + (after - before) / 2;
		cuts[3] = before + 9 < after ? before + 9 : before;
		for (size_t i = 0; i < 4; i++) {
			struct tally_data *data;

			/* The header of a checkpoint is written after its table stands. */
			if (step % 8 == 7 && i)
				break;
			write_bytes(copy, now.data, cuts[i]);
			data = open_data(copy);
			count_records(data, counts);
			assert_true(tally_data_damage(data)->no_end);
			assert_non_null(tally_data_info(data)->hostname);
			assert_string_equal(tally_data_event(data, 1)->name, "dummy:u");
			if (!i)
				assert_int_equal(counts[PERF_RECORD_SAMPLE], samples);
			assert_in_range(counts[PERF_RECORD_SAMPLE], had, samples);
			assert_true(counts[PERF_RECORD_SAMPLE] >= safe);
			tally_data_close(data);
		}
		free(now.data);
	}
	close_writer(writer);
	free(path);
	free(copy);
}

/* A disk that is full is reported, and what went out before can be read. */
static void survives_a_full_disk(void **state)
{
	char *path = path_in(state, "full.data");
	struct tally_writer *writer = recording_begin(path, NULL);
	struct rlimit old, small;
	struct tally_error error = {0};
	uint64_t time = 1, counts[128], start = tally_writer_size(writer);
	uint8_t *many;
	struct iovec iov[3];
	struct tally_data *data;
	int code = 0;

	many = calloc(100, RECORDING_SAMPLE_SIZE);
	assert_non_null(many);
	for (size_t i = 0; i < 100; i++) {
		struct perf_event_header *header = (void *)(many + i * RECORDING_SAMPLE_SIZE);

		header->type = PERF_RECORD_SAMPLE;
		header->size = RECORDING_SAMPLE_SIZE;
	}
	recording_samples(writer, 10, &time);
	round_of(writer, true);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = tally_writer_size(writer) + 150 * RECORDING_SAMPLE_SIZE + 20;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 3; i++)
		iov[i] = (struct iovec){.iov_base = many, .iov_len = 100 * RECORDING_SAMPLE_SIZE};
	code = tally_writer_append(writer, iov, 3, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(code, -EFBIG);
	assert_non_null(strstr(error.text, path));
	assert_non_null(strstr(error.text, "ulimit -f"));
	assert_true(tally_writer_size(writer) > start);
	close_writer(writer);
	data = open_data(path);
	count_records(data, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 160);
	assert_int_equal(tally_data_damage(data)->count, 0);
	assert_false(tally_data_damage(data)->no_end);
	tally_data_close(data);
	free(many);
	free(path);
}

/* And when not even the end can be written, the last checkpoint holds. */
static void survives_no_room_for_the_end(void **state)
{
	char *path = path_in(state, "noend.data");
	struct tally_writer *writer = recording_begin(path, NULL);
	struct rlimit old, small;
	struct tally_error error = {0};
	uint64_t time = 1, counts[128];
	struct tally_data *data;

	recording_samples(writer, 10, &time);
	round_of(writer, true);
	recording_samples(writer, 5, &time);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = tally_writer_size(writer) + 30;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(tally_writer_close(writer, &error), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	data = open_data(path);
	count_records(data, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 15);
	assert_int_equal(tally_data_damage(data)->count, 0);
	assert_true(tally_data_damage(data)->no_end);
	tally_data_close(data);
	free(path);
}

/* The disk fills before the first checkpoint: the last records make room for the end's tables. */
static void makes_room_for_the_end(void **state)
{
	struct tally_data_build_id build_id = {
	    .misc = 2, .pid = UINT32_MAX, .size = 20, .id = {1}, .filename = "/bin/a"};

	for (unsigned many = 0; many < 2; many++) {
		char *path = path_in(state, "squeezed.data");
		struct tally_writer *writer = recording_begin(path, NULL);
		struct rlimit old, small;
		struct tally_error error = {0};
		uint64_t time = 1, counts[128];
		struct tally_data *data;

		recording_samples(writer, 100, &time);
		round_of(writer, false);
		/* Few build-ids are kept at the cost of some records more; too many are not. */
		for (unsigned i = 0; i < (many ? 200 : 1); i++)
			assert_int_equal(tally_writer_add_build_id(writer, &build_id), 0);
		tally_writer_set_sample_time(writer, 1, time - 1);
		getrlimit(RLIMIT_FSIZE, &old);
		small = old;
		small.rlim_cur = tally_writer_size(writer);
		signal(SIGXFSZ, SIG_IGN);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		assert_int_equal(tally_writer_close(writer, &error), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_non_null(strstr(error.text, path));
		assert_non_null(strstr(error.text, "bytes of the last records were replaced"));
		assert_int_equal(strstr(error.text, "the build-ids") != NULL, many);
		data = open_data(path);
		count_records(data, counts);
		assert_in_range(counts[PERF_RECORD_SAMPLE], 50, 99);
		assert_int_equal(tally_data_damage(data)->count, 0);
		assert_false(tally_data_damage(data)->no_end);
		assert_non_null(tally_data_info(data)->hostname);
		assert_true(tally_data_info(data)->has_sample_time);
		assert_int_equal(tally_data_info(data)->build_id_count, many ? 0 : 1);
		tally_data_close(data);
		free(path);
	}
}

/* Pieces written in any order stand in theirs; one that is shorter lets the others move up; behind
 * one that failed nothing is taken. */
static void takes_pieces_in(void **state)
{
	for (unsigned failing = 0; failing < 2; failing++) {
		char *path = path_in(state, "pieces.data");
		struct tally_writer *writer = recording_begin(path, NULL);
		struct perf_event_header records[3][2] = {0};
		struct tally_writer_piece pieces[3] = {0};
		uint64_t before = tally_writer_size(writer), counts[128], times = 0;
		struct tally_error error = {0};
		struct tally_record record;
		struct tally_data *data;

		for (uint16_t i = 0; i < 3; i++) {
			for (int j = 0; j < 2; j++)
				records[i][j] = (struct perf_event_header){
				    .type = PERF_RECORD_FINISHED_INIT, .misc = i, .size = 8};
			pieces[i].size = sizeof(records[i]);
		}
		tally_writer_reserve(writer, pieces, 3);
		for (int i = 2; i >= 0; i--) {
			struct iovec iov = {.iov_base = records[i], .iov_len = i == 1 ? 8 : 16};

			assert_int_equal(tally_writer_put(writer, &pieces[i], &iov, 1), 0);
		}
		if (failing) {
			pieces[1].code = -ENOSPC;
			assert_int_equal(tally_writer_commit(writer, pieces, 3, &error), -ENOSPC);
		} else {
			assert_int_equal(tally_writer_commit(writer, pieces, 3, &error), 0);
		}
		assert_int_equal(tally_writer_size(writer), before + (failing ? 24 : 40));
		close_writer(writer);
		data = open_data(path);
		count_records(data, counts);
		assert_int_equal(counts[PERF_RECORD_FINISHED_INIT], failing ? 3 : 5);
		tally_data_rewind(data);
		while (tally_data_next_record(data, &record, NULL) > 0)
			if (record.type == PERF_RECORD_FINISHED_INIT)
				times = times * 10 + record.misc + 1;
		assert_int_equal(times, failing ? 112 : 11233);
		assert_int_equal(tally_data_damage(data)->count, 0);
		tally_data_close(data);
		free(path);
	}
}

static void keeps_the_old_file(void **state)
{
	char *path = path_in(state, "kept.data"), *old = path_in(state, "kept.data.old");
	struct stat stat_buf;
	struct bytes bytes;

	write_bytes(path, "before", 6);
	close_writer(recording_begin(path, NULL));
	bytes = read_bytes(old);
	assert_int_equal(bytes.size, 6);
	assert_memory_equal(bytes.data, "before", 6);
	free(bytes.data);
	assert_int_equal(stat(path, &stat_buf), 0);
	assert_int_equal(stat_buf.st_mode & 0777, 0600);
	free(path);
	free(old);
}

static void refuses_what_is_no_file(void **state)
{
	struct tally_writer_event event = {.name = "cycles"};
	const struct tally_writer_options hard = {.size = sizeof(hard), .compress_level = 23};
	struct tally_writer *writer = NULL;
	struct tally_error error = {0};
	char *fifo = path_in(state, "fifo");

	assert_int_equal(tally_writer_open(*state, &event, 1, NULL, &writer, &error), -EISDIR);
	assert_non_null(strstr(error.text, "is a directory"));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(tally_writer_open(fifo, &event, 1, NULL, &writer, &error), -ESPIPE);
	assert_int_equal(tally_writer_open("/nonexistent/x", &event, 1, NULL, &writer, &error),
			 -ENOENT);
	assert_int_equal(tally_writer_open("", &event, 1, NULL, &writer, &error), -ENOENT);
	assert_int_equal(tally_writer_open(fifo, &event, 0, NULL, &writer, &error), -EINVAL);
	assert_int_equal(tally_writer_open(fifo, &event, 1, &hard, &writer, &error), -EINVAL);
	assert_non_null(strstr(error.text, "compress_level 23"));
	assert_null(writer);
	assert_int_equal(tally_writer_open("/dev/null", &event, 1, NULL, &writer, &error), 0);
	close_writer(writer);
	free(fifo);
}

static void refuses_unknown_options(void **state)
{
	struct {
		struct tally_writer_options known;
		uint64_t newer;
	} options = {.known = {.size = sizeof(options)}, .newer = 1};
	struct tally_writer_event event = {.name = "cycles"};
	char *path = path_in(state, "options.data");
	struct tally_writer *writer;

	assert_int_equal(tally_writer_open(path, &event, 1, &options.known, &writer, NULL), -E2BIG);
	options.newer = 0;
	assert_int_equal(tally_writer_open(path, &event, 1, &options.known, &writer, NULL), 0);
	close_writer(writer);
	free(path);
}

static void refuses_broken_build_ids(void **state)
{
	char *path = path_in(state, "ids.data");
	struct tally_writer *writer = recording_begin(path, NULL);
	struct tally_data_build_id build_id = {.size = 21, .filename = "x"};
	char *name = malloc(70000);

	assert_non_null(name);
	assert_int_equal(tally_writer_add_build_id(writer, &build_id), -EINVAL);
	memset(name, 'x', 70000);
	name[69999] = 0;
	build_id.size = 20;
	build_id.filename = name;
	assert_int_equal(tally_writer_add_build_id(writer, &build_id), -ENAMETOOLONG);
	close_writer(writer);
	free(name);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_what_was_written),
	    cmocka_unit_test(finds_the_event_of_a_record),
	    cmocka_unit_test(picks_the_smallest_attr),
	    cmocka_unit_test(writes_groups),
	    cmocka_unit_test(keeps_rounds_apart),
	    cmocka_unit_test(writes_rounds_and_compression_as_perf),
	    cmocka_unit_test(survives_being_killed),
	    cmocka_unit_test(survives_a_full_disk),
	    cmocka_unit_test(survives_no_room_for_the_end),
	    cmocka_unit_test(makes_room_for_the_end),
	    cmocka_unit_test(takes_pieces_in),
	    cmocka_unit_test(keeps_the_old_file),
	    cmocka_unit_test(refuses_what_is_no_file),
	    cmocka_unit_test(refuses_unknown_options),
	    cmocka_unit_test(refuses_broken_build_ids),
	};

	return cmocka_run_group_tests(tests, recording_folder_make, recording_folder_remove);
}
