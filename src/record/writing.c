#include "record/writing.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include "kernel/ring_page.h"
#include "base/fail.h"
#include "write/writer.h"

#define BEHIND_LEAST (4u << 20)

static int refuse(const struct tally_recorder_rings *rings, const struct tally_openset *set,
		  bool stream, struct tally_error *error)
{
	size_t ring = 0;

	if (set->targets->per_thread && (rings->threads || rings->affinity))
		return tally_fail(
		    error, -EINVAL, -1,
		    "with --per-thread rings belong to threads, so that %s has no CPUs "
		    "to go by",
		    rings->threads ? "--threads" : "--affinity");
	if (rings->threads && stream)
		return tally_fail(
		    error, -EINVAL, -1,
		    "--threads makes a folder with a file for each CPU, which cannot be "
		    "a stream: name it with -o");
	if (rings->threads && rings->affinity)
		return tally_fail(
		    error, -EINVAL, -1,
		    "--threads has its own places to run, so --affinity means nothing "
		    "with it: use --threads=CPUS/CPUS");
	if (rings->threads && rings->behind)
		return tally_fail(
		    error, -EINVAL, -1,
		    "--aio is for one thread that drains all rings: with --threads each "
		    "writes its own file");
	for (size_t i = 0; i < set->ring_count; i++)
		if (set->rings[i] && i % TALLY_RING_KINDS == TALLY_RING_SAMPLES)
			ring = tally_ring_size(set->rings[i]);
	if (rings->flush_least > ring / 4)
		return tally_fail(
		    error, -EINVAL, -1,
		    "--mmap-flush: at most a quarter of a ring, here %zu bytes, not %zu: "
		    "else it would be full first",
		    ring / 4, rings->flush_least);
	return 0;
}

int tally_writing_init(struct tally_writing *writing, const struct tally_recorder_rings *rings,
		       const struct tally_openset *set, bool stream, struct tally_error *error)
{
	const struct tally_targets *targets = set->targets;
	int result = refuse(rings, set, stream, error);

	*writing = (struct tally_writing){.rings = rings};
	if (!result && rings->threads)
		result = tally_thread_spec_parse(rings->threads, "", targets->cpus,
						 targets->cpu_count, &writing->spec, error);
	if (!result)
		result = tally_placement_init(&writing->placement, rings->affinity, "",
					      targets->cpus, targets->cpu_count, error);
	return result;
}

void tally_writing_done(struct tally_writing *writing)
{
	tally_drain_threads_free(writing->threads);
	tally_thread_spec_done(&writing->spec);
	tally_placement_done(&writing->placement);
	*writing = (struct tally_writing){0};
}

/* Bytes for a thread that writes behind: what all rings hold, so many times. */
static size_t behind_room(const struct tally_openset *set, unsigned times)
{
	size_t bytes = 0;

	for (size_t i = 0; i < set->ring_count; i++)
		if (set->rings[i])
			bytes += tally_ring_size(set->rings[i]);
	return MAX(bytes * times, (size_t)BEHIND_LEAST);
}

int tally_writing_start(struct tally_writing *writing, struct tally_drain *drain,
			const char *folder, int compress_level, int wake_fd,
			struct tally_error *error)
{
	const struct tally_drain_threads_options options = {
	    .set = drain->set,
	    .spec = &writing->spec,
	    .folder = folder,
	    .compress_level = compress_level,
	    .wake_fd = wake_fd,
	};
	int result;

	drain->placement = writing->placement.sets ? &writing->placement : NULL;
	drain->flush_least = writing->rings->flush_least;
	if (writing->spec.count) {
		drain->sideband_only = true;
		return tally_drain_threads_start(&options, &writing->threads, error);
	}
	if (!writing->rings->behind)
		return 0;
	result = tally_writer_write_behind(drain->writer,
					   behind_room(drain->set, writing->rings->behind), error);
	if (!result)
		drain->workers_most = 1;
	return result;
}

int tally_writing_check(struct tally_writing *writing, struct tally_error *error)
{
	return writing->threads ? tally_drain_threads_check(writing->threads, error) : 0;
}

int tally_writing_finish(struct tally_writing *writing, struct tally_drain *drain,
			 struct tally_error *error)
{
	struct tally_drain_threads *threads = writing->threads;
	struct tally_drain_threads_bytes bytes;
	int result;

	drain->flush_least = 0;
	drain->placement = NULL;
	tally_placement_leave(&writing->placement);
	if (!threads)
		return 0;
	writing->threads = NULL;
	result = tally_drain_threads_finish(threads, &drain->walk.counts, error);
	bytes = tally_drain_threads_bytes(threads);
	writing->part_bytes = bytes.files;
	if (drain->writer)
		tally_writer_add_packed(drain->writer, bytes.pack_in, bytes.pack_out);
	tally_drain_threads_free(threads);
	return result;
}
