#include "scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "session/record_sink.h"
#include "write/writer.h"

static void begin(struct scene *scene, uint64_t sample_type, bool stream, int stream_fd)
{
	static const uint64_t ids[2] = {7, 8};
	struct tally_writer_event events[2] = {{.name = "cpu-clock"}, {.name = "other"}};
	const struct tally_writer_options options = {.size = sizeof(options)};
	struct tally_error error = {0};
	int fd;

	*scene = (struct scene){.path = "/tmp/tally-session-XXXXXX", .period = 1000};
	fd = mkstemp(scene->path);
	assert_true(fd >= 0);
	for (uint32_t i = 0; i < 2; i++) {
		events[i].attr = (struct tally_attr){
		    .type = PERF_TYPE_SOFTWARE,
		    .config = PERF_COUNT_SW_CPU_CLOCK,
		    .sample_period = 1000,
		    .sample_type =
			sample_type | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_IP,
		};
		events[i].attr.sample_id_all = 1;
		events[i].ids = &ids[i];
		events[i].id_count = 1;
		events[i].leader = i;
		tally_layout_init(&scene->layouts[i], &events[i].attr);
	}
	if (stream && stream_fd < 0)
		stream_fd = fd;
	if (fd != stream_fd)
		close(fd);
	assert_int_equal(
	    stream ? tally_writer_open_stream(stream_fd, scene->path, events, 2, &options,
					      &scene->writer, &error)
		   : tally_writer_open(scene->path, events, 2, &options, &scene->writer, &error),
	    0);
}

void scene_begin(struct scene *scene, uint64_t sample_type)
{
	begin(scene, sample_type, false, -1);
}

void scene_begin_stream(struct scene *scene, uint64_t sample_type, int fd)
{
	begin(scene, sample_type, true, fd);
}

void scene_add(struct scene *scene, unsigned event, struct tally_body *body)
{
	const struct tally_layout *layout = &scene->layouts[event];
	uint64_t bytes[8192];
	struct iovec iov = {.iov_base = bytes};
	int size;

	body->id.present = layout->sample_type;
	body->id.identifier = 7 + event;
	size = tally_record_encode(layout, body, bytes, sizeof(bytes));
	assert_true(size > 0);
	iov.iov_len = (size_t)size;
	assert_true(tally_writer_append(scene->writer, &iov, 1, NULL) >= 0);
}

void scene_comm(struct scene *scene, uint64_t time, uint32_t pid, uint32_t tid, const char *name,
		bool exec)
{
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_COMM,
				  .misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
				  .id = {.pid = pid, .tid = tid, .time = time}};

	body.comm = (struct tally_record_comm){.pid = pid, .tid = tid, .comm = name};
	scene_add(scene, 0, &body);
}

void scene_fork(struct scene *scene, uint64_t time, uint32_t ppid, uint32_t pid, uint32_t tid)
{
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_FORK, .id = {.time = time}};

	body.task = (struct tally_record_task){
	    .pid = pid, .ppid = ppid, .tid = tid, .ptid = ppid, .time = time};
	scene_add(scene, 0, &body);
}

void scene_exit(struct scene *scene, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_EXIT, .id = {.time = time}};

	body.task =
	    (struct tally_record_task){.pid = pid, .ppid = 1, .tid = tid, .ptid = 1, .time = time};
	scene_add(scene, 0, &body);
}

void scene_map(struct scene *scene, uint64_t time, uint32_t pid, uint64_t start, uint64_t end,
	       uint64_t pgoff, const char *file)
{
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_MMAP2,
				  .misc = PERF_RECORD_MISC_USER,
				  .id = {.pid = pid, .tid = pid, .time = time}};

	body.mmap2 = (struct tally_record_mmap2){
	    .pid = pid,
	    .tid = pid,
	    .addr = start,
	    .len = end - start,
	    .pgoff = pgoff,
	    .prot = PROT_READ | PROT_EXEC,
	    .filename = file,
	};
	scene_add(scene, 0, &body);
}

void scene_sample(struct scene *scene, unsigned event, uint64_t time, uint32_t pid, uint32_t tid,
		  uint64_t ip, const uint64_t *chain, uint64_t chain_nr)
{
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER};

	body.sample = (struct tally_sample){
	    .present = scene->layouts[event].sample_type,
	    .identifier = 7 + event,
	    .ip = ip,
	    .pid = pid,
	    .tid = tid,
	    .time = time,
	    .period = scene->period,
	    .callchain = chain,
	    .callchain_nr = chain_nr,
	};
	scene_add(scene, event, &body);
}

void scene_open(struct scene *scene, unsigned threads)
{
	const struct tally_session_options options = {.size = sizeof(options), .threads = threads};
	struct tally_error error = {0};

	assert_int_equal(tally_writer_close(scene->writer, &error), 0);
	scene->writer = NULL;
	assert_int_equal(tally_data_open(scene->path, NULL, &scene->data, &error), 0);
	assert_int_equal(tally_session_new(scene->data, &options, &scene->session, &error), 0);
}

void scene_end(struct scene *scene)
{
	char old[80];

	tally_session_free(scene->session);
	tally_data_close(scene->data);
	unlink(scene->path);
	(void)snprintf(old, sizeof(old), "%s.old", scene->path);
	unlink(old);
}

struct each {
	scene_sample_fn visit;
	void *context;
};

static int each_batch(void *context, struct tally_record_batch *batch)
{
	const struct each *each = context;
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		result = each->visit(each->context, batch->worker, batch->resolver, entry.at);
		if (result < 0)
			break;
	}
	return result;
}

int scene_each(struct tally_session *session, uint64_t want, scene_sample_fn visit, void *context)
{
	struct each each = {.visit = visit, .context = context};
	const struct tally_record_sink sink = {
	    .context = &each, .want = want, .samples = true, .batch = each_batch};

	return tally_session_run_in_order(session, &sink, false, NULL);
}

void own_text_find(struct own_text *ret)
{
	uint64_t here = (uint64_t)(uintptr_t)own_text_find;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[5000];
	bool found = false;

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s",
			       &ret->start, &ret->end, &ret->pgoff, ret->path) == 4 &&
			ret->start <= here && here < ret->end;
	(void)fclose(maps);
	assert_true(found);
}
