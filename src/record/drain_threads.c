#include "record/drain_threads.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/param.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/pool.h"
#include "stacks/monotonic.h"
#include "write/part_write.h"

/* Walked and written while it is still in the cache. */
#define CHUNK (256u << 10)
/* What a ring holds below the kernel's mark for waking is read at whole seconds, as the side-band
 * is, which comes first: its thread waits for a millisecond less. */
#define PASS_NS   1000000000LL
#define NS_PER_MS 1000000LL

/* A CPU: its ring and its file. */
struct lane {
	size_t cpu; /* index */
	struct tally_ring *ring;
	struct tally_part *part;
};

struct drainer {
	struct tally_drain_threads *threads;
	struct lane *lanes;
	size_t lane_count;
	struct pollfd *polls; /* the end, then the rings */
	cpu_set_t *runs_on;
	size_t runs_on_size;
	struct tally_walk walk;
	struct tally_error error;
	atomic_int code; /* of the failure that ended it, or 0 */
	pthread_t thread;
	bool started;
	int placed; /* 0, or why it does not run where it was to */
};

struct tally_drain_threads {
	const struct tally_openset *set;
	struct drainer *drainers;
	size_t count;
	int end_fd, wake_fd;
	struct tally_drain_threads_bytes bytes;
};

/* --- a thread --- */

static int append(struct lane *lane, const struct tally_ring_bytes *bytes, size_t from, size_t to,
		  struct tally_error *error)
{
	size_t first_to = MIN(to, bytes->first_size);
	struct iovec iov[2];
	int count = 0;

	if (from < first_to)
		iov[count++] =
		    (struct iovec){(void *)(uintptr_t)(bytes->first + from), first_to - from};
	if (to > bytes->first_size) {
		size_t start = MAX(from, bytes->first_size) - bytes->first_size;

		iov[count++] = (struct iovec){(void *)(uintptr_t)(bytes->second + start),
					      to - bytes->first_size - start};
	}
	return tally_part_append(lane->part, iov, count, error);
}

static int drain_lane(struct drainer *drainer, struct lane *lane)
{
	struct tally_ring_bytes bytes;
	size_t total = tally_ring_peek(lane->ring, &bytes), at = 0;

	while (at < total) {
		size_t to = tally_walk_samples(&drainer->walk, &bytes, at, CHUNK);
		int result;

		if (to == at) {
			/* No record can begin here: the rest cannot be decoded. */
			drainer->walk.counts.bad_bytes += total - at;
			tally_ring_consume(lane->ring, total - at);
			return 0;
		}
		result = append(lane, &bytes, at, to, &drainer->error);
		if (result)
			return result;
		tally_ring_consume(lane->ring, to - at);
		at = to;
	}
	return 0;
}

static int pass(struct drainer *drainer)
{
	int result = 0;

	for (size_t i = 0; i < drainer->lane_count && !result; i++)
		result = drain_lane(drainer, &drainer->lanes[i]);
	return result;
}

/* A ring whose descriptor's thread has ended is waited for through another thread's. */
static void watch_open(struct drainer *drainer)
{
	for (size_t i = 0; i < drainer->lane_count; i++) {
		struct pollfd *item = &drainer->polls[1 + i];

		if (item->fd >= 0 && item->revents & (POLLHUP | POLLERR))
			item->fd = tally_openset_alive(drainer->threads->set, drainer->lanes[i].cpu,
						       TALLY_RING_SAMPLES);
	}
}

static void *drainer_main(void *context)
{
	struct drainer *drainer = context;
	int result = 0;
	bool last = false;

	if (drainer->runs_on &&
	    pthread_setaffinity_np(pthread_self(), drainer->runs_on_size, drainer->runs_on))
		drainer->placed = -EINVAL;
	while (!result && !last) {
		int ready = poll(drainer->polls, 1 + drainer->lane_count,
				 (int)(monotonic_left(PASS_NS) / NS_PER_MS) + 2);

		/* Before the pass: the last one is after the events were disabled. */
		last = ready > 0 && drainer->polls[0].revents;
		if (ready > 0)
			watch_open(drainer);
		result = pass(drainer);
	}
	if (result) {
		uint64_t one = 1;

		atomic_store(&drainer->code, result);
		if (write(drainer->threads->wake_fd, &one, sizeof(one)) < 0)
			return NULL; /* the counter is full: the reader is awake */
	}
	return NULL;
}

/* --- all --- */

static struct tally_ring *ring_of(const struct tally_openset *set, uint32_t cpu, size_t *ret_cpu)
{
	for (size_t i = 0; i < set->targets->cpu_count; i++) {
		if (set->targets->cpus[i] != cpu)
			continue;
		*ret_cpu = i;
		return set->rings[i * TALLY_RING_KINDS + TALLY_RING_SAMPLES];
	}
	return NULL;
}

static int make_drainer(const struct tally_drain_threads_options *options,
			const struct tally_thread_group *group, struct drainer *drainer,
			struct tally_error *error)
{
	int result = 0;

	drainer->lanes = calloc(group->cpu_count + 1, sizeof(*drainer->lanes));
	drainer->polls = calloc(group->cpu_count + 2, sizeof(*drainer->polls));
	if (group->runs_on_count)
		drainer->runs_on = tally_thread_cpu_set(group->runs_on, group->runs_on_count,
							&drainer->runs_on_size);
	if (!drainer->lanes || !drainer->polls || (group->runs_on_count && !drainer->runs_on) ||
	    tally_walk_init(&drainer->walk, tally_plan_timed(options->set->plan), NULL, NULL))
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	drainer->polls[0] = (struct pollfd){.fd = drainer->threads->end_fd, .events = POLLIN};
	for (size_t i = 0; i < group->cpu_count && !result; i++) {
		struct lane *lane = &drainer->lanes[drainer->lane_count];

		lane->ring = ring_of(options->set, group->cpus[i], &lane->cpu);
		if (!lane->ring)
			continue;
		result = tally_part_open(options->folder, (unsigned)lane->cpu,
					 options->compress_level, &lane->part, error);
		drainer->polls[1 + drainer->lane_count] =
		    (struct pollfd){.fd = tally_ring_fd(lane->ring), .events = POLLIN};
		drainer->lane_count += !result;
	}
	return result;
}

int tally_drain_threads_start(const struct tally_drain_threads_options *options,
			      struct tally_drain_threads **ret, struct tally_error *error)
{
	struct tally_drain_threads *threads = calloc(1, sizeof(*threads));
	int result = 0;

	if (!threads)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	threads->set = options->set;
	threads->wake_fd = options->wake_fd;
	threads->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	threads->drainers = calloc(options->spec->count + 1, sizeof(*threads->drainers));
	if (threads->end_fd < 0)
		result = tally_fail(error, -errno, -1, "eventfd: %s", strerror(errno));
	else if (!threads->drainers)
		result = tally_fail(error, -ENOMEM, -1, "out of memory");
	for (size_t i = 0; i < options->spec->count && !result; i++) {
		struct drainer *drainer = &threads->drainers[i];

		drainer->threads = threads;
		threads->count++;
		result = make_drainer(options, &options->spec->groups[i], drainer, error);
	}
	for (size_t i = 0; i < threads->count && !result; i++) {
		struct drainer *drainer = &threads->drainers[i];

		result = tally_thread_start_quiet(&drainer->thread, drainer_main, drainer);
		if (result)
			tally_fail(error, result, -1, "no thread to drain rings in: %s",
				   strerror(-result));
		drainer->started = !result;
	}
	if (result) {
		tally_drain_threads_free(threads);
		return result;
	}
	*ret = threads;
	return 0;
}

int tally_drain_threads_check(struct tally_drain_threads *threads, struct tally_error *error)
{
	for (size_t i = 0; i < threads->count; i++) {
		int code = atomic_load(&threads->drainers[i].code);

		if (code)
			return tally_fail(error, code, threads->drainers[i].error.position, "%s",
					  threads->drainers[i].error.text);
	}
	return 0;
}

static void join_all(struct tally_drain_threads *threads)
{
	uint64_t one = 1;

	/* It stays readable for all of them. */
	if (threads->end_fd >= 0 && write(threads->end_fd, &one, sizeof(one)) < 0)
		return;
	for (size_t i = 0; i < threads->count; i++) {
		if (threads->drainers[i].started)
			pthread_join(threads->drainers[i].thread, NULL);
		threads->drainers[i].started = false;
	}
}

static int close_lanes(struct tally_drain_threads *threads, struct drainer *drainer,
		       struct tally_error *error)
{
	int result = 0;

	for (size_t i = 0; i < drainer->lane_count; i++) {
		struct tally_part *part = drainer->lanes[i].part;
		uint64_t in, out;
		int code;

		if (!part)
			continue;
		tally_part_packed(part, &in, &out);
		threads->bytes.files += tally_part_size(part);
		threads->bytes.pack_in += in;
		threads->bytes.pack_out += out;
		code = tally_part_close(part, result ? NULL : error);
		result = result ? result : code;
		drainer->lanes[i].part = NULL;
	}
	return result;
}

int tally_drain_threads_finish(struct tally_drain_threads *threads,
			       struct tally_walk_counts *counts, struct tally_error *error)
{
	int result;

	join_all(threads);
	result = tally_drain_threads_check(threads, error);
	for (size_t i = 0; i < threads->count; i++) {
		struct drainer *drainer = &threads->drainers[i];
		int code = close_lanes(threads, drainer, result ? NULL : error);

		result = result ? result : code;
		tally_walk_counts_add(counts, &drainer->walk.counts);
	}
	return result;
}

struct tally_drain_threads_bytes
tally_drain_threads_bytes(const struct tally_drain_threads *threads)
{
	return threads->bytes;
}

void tally_drain_threads_free(struct tally_drain_threads *threads)
{
	if (!threads)
		return;
	join_all(threads);
	for (size_t i = 0; threads->drainers && i < threads->count; i++) {
		struct drainer *drainer = &threads->drainers[i];

		(void)close_lanes(threads, drainer, NULL);
		tally_walk_done(&drainer->walk);
		if (drainer->runs_on)
			CPU_FREE(drainer->runs_on);
		free(drainer->lanes);
		free(drainer->polls);
	}
	free(threads->drainers);
	if (threads->end_fd >= 0)
		close(threads->end_fd);
	free(threads);
}
