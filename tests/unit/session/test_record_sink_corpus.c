/* Samples of recordings by others come in the order in which perf prints them.
 *
 * The files are not part of the project: TALLY_CORPUS names a folder with `files/`; without it, or
 * without perf, the test is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "session/record_sink.h"

struct compared {
	FILE *perf; /* its lines */
	char *line;
	size_t room;
	bool times; /* the lines have them */
	uint64_t same;
	bool differ;
};

struct sums {
	uint64_t files, samples;
};

/* "TID TIME: IP" or "TID IP", blanks around. */
static bool next_line(struct compared *compared, int64_t *ret_tid, uint64_t *ret_time,
		      uint64_t *ret_ip)
{
	char *at;

	do {
		if (getline(&compared->line, &compared->room, compared->perf) < 0)
			return false;
		at = compared->line + strspn(compared->line, " \n");
	} while (!*at);
	*ret_tid = strtoll(at, &at, 10);
	*ret_time = 0;
	if (compared->times) {
		*ret_time = strtoull(at, &at, 10) * 1000000000;
		if (*at++ != '.')
			return false;
		*ret_time += strtoull(at, &at, 10);
		if (*at++ != ':')
			return false;
	}
	*ret_ip = strtoull(at, &at, 16);
	return *at == '\n' || *at == ' ';
}

static int on_sample(struct compared *compared, const struct tally_resolved *sample)
{
	uint64_t time, ip;
	int64_t tid;

	if (!next_line(compared, &tid, &time, &ip) || tid != (int32_t)sample->sample.tid ||
	    ip != sample->sample.ip || (compared->times && time != sample->sample.time)) {
		print_message("sample %" PRIu64 " at byte %" PRIu64 " is not perf's: %s\n",
			      compared->same, sample->offset, compared->line);
		compared->differ = true;
		return -1;
	}
	compared->same++;
	return 0;
}

static int on_batch(void *context, struct tally_record_batch *batch)
{
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		result = on_sample(context, entry.at);
		if (result)
			break;
	}
	return result;
}

/* perf's lines for a file, to be closed; NULL: it could not be started. */
static FILE *ask_perf(const char *path, bool times, pid_t *ret_child)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	*ret_child = fork();
	if (!*ret_child) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(ends[1], 1);
		dup2(null, 0);
		dup2(null, 2);
		execlp("perf", "perf", "script", "-f", "-i", path, "--ns", "-G", "-F",
		       times ? "tid,time,ip" : "tid,ip", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (*ret_child < 0) {
		close(ends[0]);
		return NULL;
	}
	return fdopen(ends[0], "r");
}

/* What perf makes several samples of, or makes up: groups that are read with a sample, traces. */
static bool comparable(const struct tally_session *session, bool *ret_times)
{
	const struct tally_data *data = tally_session_data(session);

	*ret_times = true;
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		const struct tally_layout *layout = &tally_data_event(data, i)->layout;

		if (layout->sample_type & PERF_SAMPLE_READ)
			return false;
		*ret_times = *ret_times && layout->sample_type & PERF_SAMPLE_TIME;
	}
	return !tally_session_counts(session)->by_type[PERF_RECORD_AUXTRACE_INFO];
}

static void compare(struct tally_session *session, const char *path, struct sums *sums)
{
	struct compared compared = {0};
	const struct tally_record_sink sink = {
	    .want = PERF_SAMPLE_IP,
	    .context = &compared,
	    .samples = true,
	    .batch = on_batch,
	};
	pid_t child = -1;
	int first;

	if (!comparable(session, &compared.times))
		return;
	compared.perf = ask_perf(path, compared.times, &child);
	assert_non_null(compared.perf);
	first = fgetc(compared.perf);
	/* Files that perf 6.1 does not read have no lines. */
	if (first != EOF && ungetc(first, compared.perf) != EOF) {
		(void)tally_session_run_in_order(session, &sink, true, NULL);
		if (compared.differ)
			fail_msg("%s", path);
		assert_int_equal(compared.same, tally_session_counts(session)->samples);
		assert_true(getline(&compared.line, &compared.room, compared.perf) < 0 ||
			    compared.line[0] == '\n');
		sums->files++;
		sums->samples += compared.same;
	}
	free(compared.line);
	(void)fclose(compared.perf);
	waitpid(child, NULL, 0);
}

static void samples_come_in_perf_s_order(void **state)
{
	const char *corpus = getenv("TALLY_CORPUS");
	struct sums sums = {0};
	struct dirent *entry;
	char path[4096];
	DIR *folder;

	(void)state;
	if (!corpus || access("/usr/bin/perf", X_OK)) {
		print_message("TALLY_CORPUS is not set, or there is no perf\n");
		skip();
	}
	(void)snprintf(path, sizeof(path), "%s/files", corpus);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		struct tally_session *session = NULL;
		struct tally_data *data = NULL;

		(void)snprintf(path, sizeof(path), "%s/files/%s", corpus, entry->d_name);
		if (entry->d_name[0] == '.' || tally_data_open(path, NULL, &data, NULL))
			continue;
		if (!tally_session_new(data, NULL, &session, NULL))
			compare(session, path, &sums);
		tally_session_free(session);
		tally_data_close(data);
	}
	closedir(folder);
	print_message("%" PRIu64 " files, %" PRIu64 " samples\n", sums.files, sums.samples);
	assert_true(sums.files > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(samples_come_in_perf_s_order)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
