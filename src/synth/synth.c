/* Records of processes that already run, from procfs.
 *
 * Their ids are 0, and mostly their times, as in perf's files: readers take them as valid from the
 * start and as of the first event. */
#include "synth/synth.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <tally/abi.h>
#include "base/fs.h"
#include "base/pool.h"
#include "collect/targets.h"

#define PART 32 /* processes that a thread takes at once */

int tally_synth_add(const struct tally_synth *synth, const struct tally_body *body,
		    struct tally_buf *to)
{
	int size = tally_record_size(synth->layout, body);
	struct tally_body timed;

	if (synth->time) {
		timed = *body;
		timed.id.time = synth->time;
		body = &timed;
	}
	if (size < 0)
		return size == -EOVERFLOW ? 0 : size;
	if (tally_buf_reserve(to, (size_t)size))
		return -ENOMEM;
	size = tally_record_encode(synth->layout, body, to->data + to->size, (size_t)size);
	if (size < 0)
		return size;
	to->size += (size_t)size;
	return 0;
}

void tally_synth_end(struct tally_buf *to)
{
	struct perf_event_header header = {.type = PERF_RECORD_FINISHED_INIT,
					   .size = sizeof(header)};

	tally_buf_add(to, &header, sizeof(header));
}

int tally_synth_comm(const struct tally_synth *synth, pid_t pid, pid_t tid, const char *name,
		     struct tally_buf *to)
{
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_COMM,
				  .comm = {(uint32_t)pid, (uint32_t)tid, name}};

	return tally_synth_add(synth, &body, to);
}

static int add_fork(const struct tally_synth *synth, pid_t pid, pid_t parent, pid_t tid,
		    pid_t parent_thread, struct tally_buf *to)
{
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_FORK,
	    .task = {.pid = (uint32_t)pid,
		     .ppid = (uint32_t)parent,
		     .tid = (uint32_t)tid,
		     .ptid = (uint32_t)parent_thread},
	};

	return tally_synth_add(synth, &body, to);
}

/* Name and parent of a thread. Source: proc(5): "pid (comm) state ppid ...". A comm may contain any
 * byte, also parentheses: it ends at the last one. */
static int read_stat(const struct tally_synth *synth, pid_t pid, pid_t tid, char comm[64],
		     pid_t *ret_parent)
{
	char *text, *start, *end;
	size_t length;
	int result =
	    tally_fs_readf(65536, &text, NULL, "%s/proc/%d/task/%d/stat", synth->root, pid, tid);

	if (result)
		return result;
	start = strchr(text, '(');
	end = strrchr(text, ')');
	if (!start || !end || end < start || strlen(end) < 4) {
		free(text);
		return -EBADMSG;
	}
	length = MIN((size_t)(end - start - 1), 63);
	memcpy(comm, start + 1, length);
	comm[length] = 0;
	*ret_parent = (pid_t)strtol(end + 4, NULL, 10);
	free(text);
	return 0;
}

static int add_thread(const struct tally_synth *synth, pid_t pid, pid_t tid, struct tally_buf *to)
{
	char comm[64];
	pid_t parent;
	int result = read_stat(synth, pid, tid, comm, &parent);

	if (result)
		return result == -ENOMEM ? result : 0;
	/* The parent of a thread is its process, that of a process another process. */
	result = pid == tid ? add_fork(synth, pid, parent, tid, parent, to)
			    : add_fork(synth, pid, pid, tid, pid, to);
	if (!result)
		result = tally_synth_comm(synth, pid, tid, comm, to);
	if (!result && synth->namespaces)
		result = tally_synth_namespaces(synth, pid, tid, to);
	return result;
}

int tally_synth_process(const struct tally_synth *synth, pid_t pid, struct tally_buf *to)
{
	char folder[PATH_MAX];
	pid_t *tids;
	size_t count;
	int result;

	snprintf(folder, sizeof(folder), "%s/proc/%d/task", synth->root, pid);
	result = tally_targets_list(folder, &tids, &count);
	if (result)
		return result == -ENOMEM ? result : 0;
	/* The first thread, then the maps, so that the other threads find all of them. */
	result = add_thread(synth, pid, pid, to);
	if (!result)
		result = synth->no_maps ? 0 : tally_synth_maps(synth, pid, to);
	for (size_t i = 0; i < count && !result; i++)
		if (tids[i] != pid)
			result = add_thread(synth, pid, tids[i], to);
	free(tids);
	return result;
}

struct share_out {
	const struct tally_synth *synth;
	const pid_t *pids;
	size_t count;
	struct tally_buf *parts;
};

static int synth_part(void *context, unsigned worker, size_t piece)
{
	const struct share_out *out = context;
	size_t end = MIN(out->count, (piece + 1) * PART);
	int result = 0;

	(void)worker;
	for (size_t i = piece * PART; i < end && !result; i++)
		result = tally_synth_process(out->synth, out->pids[i], &out->parts[piece]);
	return result;
}

int tally_synth_processes(const struct tally_synth *synth, const pid_t *pids, size_t count,
			  struct tally_buf *to)
{
	size_t pieces = (count + PART - 1) / PART;
	size_t threads = synth->threads ? synth->threads : MIN(tally_pool_width(), 8);
	unsigned width = (unsigned)MIN(threads, MAX(pieces, 1));
	struct share_out out = {.synth = synth, .pids = pids, .count = count};
	int result;

	if (!count)
		return 0;
	out.parts = calloc(pieces, sizeof(*out.parts));
	if (!out.parts)
		return -ENOMEM;
	result = tally_pool_run(width, pieces, synth_part, &out);
	for (size_t i = 0; i < pieces; i++) {
		if (!result && out.parts[i].failed)
			result = out.parts[i].failed;
		if (!result)
			tally_buf_add(to, out.parts[i].data, out.parts[i].size);
		tally_buf_done(&out.parts[i]);
	}
	free(out.parts);
	return result ? result : to->failed;
}

int tally_synth_system(const struct tally_synth *synth, struct tally_buf *to)
{
	char folder[PATH_MAX];
	pid_t *pids;
	size_t count;
	int result;

	snprintf(folder, sizeof(folder), "%s/proc", synth->root);
	result = tally_targets_list(folder, &pids, &count);
	if (result)
		return result;
	result = tally_synth_processes(synth, pids, count, to);
	free(pids);
	return result;
}
