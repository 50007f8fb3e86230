#include "made_recording.h"

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int recording_folder_make(void **state)
{
	char *path = strdup("/tmp/tally-file-XXXXXX");

	*state = path && mkdtemp(path) ? path : NULL;
	return *state ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
	(void)stat;
	(void)type;
	(void)walk;
	return remove(path);
}

int recording_folder_remove(void **state)
{
	int code = nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return code;
}

char *path_in(void **state, const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", (const char *)*state, name) > 0);
	return path;
}

struct bytes read_bytes(const char *path)
{
	struct bytes bytes = {0};
	struct stat stat;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &stat), 0);
	bytes.size = (size_t)stat.st_size;
	bytes.data = malloc(bytes.size + 1);
	assert_non_null(bytes.data);
	assert_int_equal(read(fd, bytes.data, bytes.size), (ssize_t)bytes.size);
	close(fd);
	return bytes;
}

void write_bytes(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	close(fd);
}

struct tally_writer *recording_begin(const char *path, struct tally_writer_options *options)
{
	static const uint64_t ids[2][2] = {{11, 12}, {21, 22}};
	struct tally_writer_event events[2] = {{.name = "cpu-clock"}, {.name = "dummy:u"}};
	struct tally_writer *writer = NULL;
	struct tally_error error = {0};

	for (uint32_t i = 0; i < 2; i++) {
		events[i].attr = (struct tally_attr){
		    .type = PERF_TYPE_SOFTWARE,
		    .config = i ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_CPU_CLOCK,
		    .sample_period = 1000,
		    .sample_type = RECORDING_SAMPLE_TYPE,
		    .sample_id_all = 1,
		    .mmap = i > 0,
		    .comm = i > 0,
		    .exclude_kernel = i > 0,
		};
		events[i].ids = ids[i];
		events[i].id_count = 2;
		events[i].leader = i;
	}
	if (tally_writer_open(path, events, 2, options, &writer, &error))
		fail_msg("%s", error.text);
	return writer;
}

static void append(struct tally_writer *writer, const void *bytes, size_t size)
{
	struct iovec iov = {.iov_base = (void *)bytes, .iov_len = size};
	struct tally_error error = {0};

	if (tally_writer_append(writer, &iov, 1, &error))
		fail_msg("%s", error.text);
}

void recording_comm(struct tally_writer *writer, uint32_t pid, const char *comm)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
		uint32_t trailer_pid, trailer_tid;
		uint64_t time, cpu, id;
	} record = {
	    .header = {.type = PERF_RECORD_COMM, .size = sizeof(record)},
	    .pid = pid,
	    .tid = pid,
	    .trailer_pid = pid,
	    .trailer_tid = pid,
	    .id = 21,
	};

	snprintf(record.comm, sizeof(record.comm), "%s", comm);
	append(writer, &record, sizeof(record));
}

void recording_samples(struct tally_writer *writer, unsigned count, uint64_t *time)
{
	struct sample {
		struct perf_event_header header;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time, cpu, period;
	} *samples = calloc(count, sizeof(*samples));

	_Static_assert(sizeof(*samples) == RECORDING_SAMPLE_SIZE, "a sample of the tests");
	assert_non_null(samples);
	for (unsigned i = 0; i < count; i++)
		samples[i] = (struct sample){
		    .header = {.type = PERF_RECORD_SAMPLE,
			       .misc = PERF_RECORD_MISC_USER,
			       .size = sizeof(*samples)},
		    .id = i % 2 ? 22 : 11,
		    .ip = 0x401000 + i,
		    .pid = 77,
		    .tid = 77,
		    .time = (*time)++,
		    .period = 1000,
		};
	append(writer, samples, count * sizeof(*samples));
	free(samples);
}

struct tally_data *open_data(const char *path)
{
	struct tally_error error = {0};
	struct tally_data *data = NULL;

	if (tally_data_open(path, NULL, &data, &error))
		fail_msg("%s", error.text);
	return data;
}

void count_records(struct tally_data *data, uint64_t counts[128])
{
	struct tally_error error = {0};
	struct tally_record record;
	int code;

	memset(counts, 0, 128 * sizeof(*counts));
	while ((code = tally_data_next_record(data, &record, &error)) > 0)
		counts[record.type < 127 ? record.type : 127]++;
	if (code)
		fail_msg("%s", error.text);
}

bool have_perf(void)
{
	return !access("/usr/bin/perf", X_OK);
}

char *run_perf(const char *const *arguments, int *ret_status)
{
	posix_spawn_file_actions_t actions;
	const char *argv[16] = {"perf"};
	size_t size = 0, room = 1 << 16;
	char *output;
	int ends[2], code;
	pid_t child;

	for (size_t i = 0; arguments[i] && i < 14; i++)
		argv[i + 1] = arguments[i];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
	code = posix_spawn(&child, "/usr/bin/perf", &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	assert_int_equal(code, 0);
	output = malloc(room);
	assert_non_null(output);
	for (;;) {
		ssize_t got = read(ends[0], output + size, room - size - 1);

		if (got <= 0)
			break;
		size += (size_t)got;
		if (room - size < 4096) {
			output = realloc(output, room *= 2);
			assert_non_null(output);
		}
	}
	output[size] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(child, ret_status, 0), child);
	return output;
}
