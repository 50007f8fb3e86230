/* What the writer wrote, as perf reads it.  Skipped where there is no perf. */
#include "../file/made_recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *const command_line[] = {"/usr/bin/tally", "record", "--", "sleep 1"};

static unsigned lines(const char *text)
{
	unsigned count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static char *perf(const char *command, const char *path, const char *option, const char *value)
{
	const char *arguments[] = {command, "-i", path, option, value, NULL};
	int status = 0;
	char *output = run_perf(arguments, &status);

	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("perf %s failed: %s", command, output);
	return output;
}

static struct tally_writer *record(const char *path, bool end)
{
	struct tally_writer_options options = {
	    .size = sizeof(options), .cmdline = command_line, .cmdline_count = 4};
	struct tally_data_build_id build_id = {
	    .misc = 2, .pid = UINT32_MAX, .size = 20, .id = {0xab, 0xcd}, .filename = "/bin/a"};
	struct tally_writer *writer = recording_begin(path, &options);
	struct tally_error error = {0};
	uint64_t time = 5000000000;

	recording_comm(writer, 77, "worker");
	for (int i = 0; i < 6; i++) {
		recording_samples(writer, 10, &time);
		assert_int_equal(tally_writer_round(writer, i % 2, &error), 0);
	}
	recording_samples(writer, 10, &time);
	if (!end)
		return writer; /* left open: its file is as of a killed recorder */
	assert_int_equal(tally_writer_add_build_id(writer, &build_id), 0);
	tally_writer_set_sample_time(writer, 5000000000, time - 1);
	assert_int_equal(tally_writer_close(writer, &error), 0);
	return NULL;
}

static void expect(const char *output, const char *part)
{
	if (!strstr(output, part))
		fail_msg("\"%s\" is not in: %s", part, output);
}

static void agrees(void **state)
{
	char *path = path_in(state, "perf.data"), *output;

	record(path, true);
	output = perf("report", path, "--header-only", "-I");
	expect(output, "# perf version : tally " TALLY_VERSION "\n");
	expect(output, "# cmdline : /usr/bin/tally record -- sleep 1 \n");
	expect(output, "# event : name = cpu-clock, , id = { 11, 12 }, type = 1, size = 64,");
	expect(output, "# event : name = dummy:u, , id = { 21, 22 }, type = 1, size = 64,");
	expect(output, "# hostname : ");
	expect(output, "# nrcpus online : ");
	expect(output, "# total memory : ");
	expect(output, "# pmu mappings: ");
	expect(output, "# time of first sample : 5.000000\n");
	expect(output, "# time of last sample : 5.000000\n");
	assert_null(strstr(output, "WARNING"));
	free(output);

	output = perf("evlist", path, "-v", NULL);
	expect(output, "cpu-clock: type: 1, size: 64, ");
	expect(output, "sample_type: IP|TID|TIME|CPU|PERIOD|IDENTIFIER");
	expect(output, "dummy:u: type: 1, size: 64, config: 0x9,");
	assert_int_equal(lines(output), 2);
	free(output);

	output = perf("buildid-list", path, NULL, NULL);
	expect(output, "abcd000000000000000000000000000000000000 /bin/a\n");
	free(output);

	output = perf("script", path, "-F", "comm,tid,time,ip");
	expect(output, "worker    77     5.000000:            401000");
	assert_int_equal(lines(output), 70);
	free(output);
	free(path);
}

/* While the recorder still holds it open, or after it was killed. */
static void reads_killed_recordings(void **state)
{
	char *path = path_in(state, "killed.data"), *output;
	struct tally_writer *writer = record(path, false);

	output = perf("report", path, "--header-only", "-I");
	expect(output, "# event : name = dummy:u, , id = { 21, 22 }, type = 1, size = 64,");
	expect(output, "# cmdline : /usr/bin/tally record -- sleep 1 \n");
	assert_null(strstr(output, "WARNING"));
	free(output);
	output = perf("script", path, "-F", "comm,tid,time,ip");
	assert_null(strstr(output, "WARNING"));
	assert_int_equal(lines(output), 60);
	free(output);
	assert_int_equal(tally_writer_close(writer, NULL), 0);
	free(path);
}

/* Each length that a file can have while it grows; the last checkpoint's samples are all there. */
static void reads_every_state(void **state)
{
	char *path = path_in(state, "states.data"), *copy = path_in(state, "state.data");
	struct tally_writer *writer = recording_begin(path, NULL);
	struct tally_error error = {0};
	uint64_t time = 5000000000;
	unsigned safe = 0;

	recording_comm(writer, 77, "worker");
	for (unsigned i = 0; i < 12; i++) {
		uint64_t before = tally_writer_size(writer);
		struct bytes now;
		char *output;

		if (i % 3 == 2) {
			assert_int_equal(tally_writer_round(writer, i % 2, &error), 0);
			if (i % 2)
				safe = (i + 1) / 3 * 20;
		} else {
			recording_samples(writer, 10, &time);
		}
		if (!safe)
			continue;
		now = read_bytes(path);
		/* A part of what was written last is missing. */
		if (i % 3 != 2)
			now.size -= (now.size - before) / 2 + i % 8;
		write_bytes(copy, now.data, now.size);
		free(now.data);
		output = perf("script", copy, "-F", "comm,tid,time,ip");
		assert_int_equal(lines(output), safe);
		free(output);
	}
	assert_true(safe > 0);
	assert_int_equal(tally_writer_close(writer, &error), 0);
	free(path);
	free(copy);
}

/* A recording of perf's, written anew record by record. */
static void copy_recording(const char *from, const char *to, bool end)
{
	struct tally_data *data = open_data(from);
	struct tally_block tracing = tally_data_feature(data, 1);
	struct tally_writer_options options = {.size = sizeof(options),
					       .tracing_data = tracing.bytes,
					       .tracing_data_size = tracing.size};
	size_t count = tally_data_event_count(data);
	struct tally_writer_event *events = calloc(count, sizeof(*events));
	struct tally_writer *writer;
	struct tally_record record;
	struct tally_error error = {0};

	assert_non_null(events);
	assert_true(tracing.size > 0);
	for (size_t i = 0; i < count; i++) {
		const struct tally_data_event *event = tally_data_event(data, i);

		events[i] = (struct tally_writer_event){.attr = event->attr,
							.name = event->name,
							.ids = event->ids,
							.id_count = event->id_count,
							.leader = event->leader};
	}
	if (tally_writer_open(to, events, count, &options, &writer, &error))
		fail_msg("%s", error.text);
	while (tally_data_next_record(data, &record, NULL) > 0) {
		struct iovec iov = {.iov_base = (void *)record.bytes,
				    .iov_len = tally_record_extent(&record)};

		if (record.type == PERF_RECORD_FINISHED_ROUND)
			assert_int_equal(tally_writer_round(writer, true, &error), 0);
		else
			assert_int_equal(tally_writer_append(writer, &iov, 1, &error), 0);
	}
	assert_int_equal(tally_writer_round(writer, true, &error), 0);
	if (!end) {
		/* As if killed now: what the end writes comes after this copy. */
		struct bytes now = read_bytes(to);

		assert_int_equal(tally_writer_close(writer, &error), 0);
		write_bytes(to, now.data, now.size);
		free(now.data);
	} else {
		assert_int_equal(tally_writer_close(writer, &error), 0);
	}
	free(events);
	tally_data_close(data);
}

static void copies_of_recordings_read_the_same(void **state)
{
	char *path = path_in(state, "theirs.data"), *copy = path_in(state, "copied.data");
	const char *record_them[] = {"record", "-q",        "-o", path, "-e", "sched:sched_switch",
				     "-e",     "cpu-clock", "-g", "-a", "--", "true",
				     NULL};
	int status = 0;
	char *output = run_perf(record_them, &status), *theirs;

	if (status) { /* no right to trace */
		free(output);
		free(path);
		free(copy);
		skip();
	}
	free(output);
	theirs = perf("script", path, NULL, NULL);
	assert_true(lines(theirs) > 10);
	assert_non_null(strstr(theirs, "prev_comm="));
	for (int end = 0; end < 2; end++) {
		copy_recording(path, copy, end);
		output = perf("script", copy, NULL, NULL);
		if (strcmp(output, theirs))
			fail_msg("perf script shows the copy (end %d) otherwise", end);
		free(output);
	}
	free(theirs);
	free(path);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(agrees),
	    cmocka_unit_test(reads_killed_recordings),
	    cmocka_unit_test(reads_every_state),
	    cmocka_unit_test(copies_of_recordings_read_the_same),
	};

	if (!have_perf()) {

		puts("skipped: there is no /usr/bin/perf to compare with");

		return 77; /* Meson's code for it */
	}

	return cmocka_run_group_tests(tests, recording_folder_make, recording_folder_remove);
}
