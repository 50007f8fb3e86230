/* Which binaries have many samples and lack debug files, and fetching these. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/debuginfod.h>
#include <time.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "debuginfod/debuginfod_client.h"
#include "image/image_files.h"
#include "resolve/resolver.h"
#include "session/record_sink.h"
#include "session/run.h"
#include "session/session.h"

#define LEAST_USUAL   1.0 /* percent of samples */
#define IDLE_USUAL    20U /* seconds */
#define SECONDS_USUAL 120U
#define SECOND        1000000000ULL
/* Numbers of images beside those of mappings: of the kernel, and of what is not known. */
#define IMAGES_MORE 16U

struct fetching {
	struct tally_session *session;
	struct tally_debuginfod_options options;
	struct tally_debuginfod_result sum;
	struct debuginfod_connection connection;
	bool connected;

	uint64_t *counts; /* samples by worker and number of the image */
	size_t image_count;

	const char *binary;      /* whose file is being fetched */
	uint64_t start, changed; /* ns: of all, and when a byte was received */
	uint64_t done;           /* bytes of this file */
	int ended;               /* why the transfer was: -ETIMEDOUT, -ECANCELED */
};

bool tally_debuginfod_is_built(void)
{
	return tally_debuginfod_client_exists();
}

bool tally_debuginfod_is_set(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")];
}

/* --- samples of each image --- */

static int count_batch(void *context, struct tally_record_batch *batch)
{
	struct fetching *fetching = context;
	uint64_t *counts = fetching->counts + batch->worker * fetching->image_count;
	struct tally_resolver *resolver = batch->resolver;
	struct tally_entry entry;
	int more;

	while ((more = tally_record_batch_next(batch, &entry)) > 0) {
		uint64_t ip = entry.at->sample.ip, place;
		uint8_t mode = resolver_cpumode(entry.at->cpumode, ip);
		const struct tally_mapping *mapping;
		uint32_t image;
		char level;

		mapping = tally_resolver_mapping(resolver, entry.at, mode, ip, &level);
		if (tally_frames_place(&resolver->tables->frames, &resolver->source, mapping, level,
				       ip, &image, &place))
			return -ENOMEM;
		if (image < fetching->image_count)
			counts[image]++;
	}
	return more;
}

static int count_samples(struct fetching *fetching, struct tally_error *error)
{
	struct tally_session *session = fetching->session;
	const struct tally_record_sink sink = {.context = fetching,
					       .want = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
					       .samples = true,
					       .asks = true,
					       .batch = count_batch};
	unsigned workers = tally_session_threads(session);

	fetching->image_count =
	    tally_process_mapping_count(session->source.processes) + IMAGES_MORE;
	fetching->counts =
	    calloc(fetching->image_count, (workers ? workers : 1) * sizeof(*fetching->counts));
	if (!fetching->counts)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	return tally_session_run_in_order(session, &sink, false, error);
}

struct candidate {
	struct tally_image *image;
	uint64_t samples;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *one = a, *other = b;

	return one->samples > other->samples ? -1 : one->samples < other->samples;
}

/* The images above the share, the one with the most samples first; NULL: out of memory. */
static struct candidate *find_candidates(const struct fetching *fetching, size_t *ret_count)
{
	const struct tally_frames *frames = &fetching->session->tables.frames;
	struct candidate *list = calloc(fetching->image_count, sizeof(*list));
	unsigned workers = tally_session_threads(fetching->session);
	uint64_t all = 0;
	size_t count = 0;

	for (uint32_t i = 0; list && i < fetching->image_count; i++) {
		uint64_t samples = 0;

		for (unsigned worker = 0; worker < workers; worker++)
			samples += fetching->counts[worker * fetching->image_count + i];
		all += samples;
		if (samples)
			list[count++] =
			    (struct candidate){tally_frames_image_at(frames, i)->image, samples};
	}
	if (list)
		qsort(list, count, sizeof(*list), compare_candidates);
	while (count &&
	       (double)list[count - 1].samples * 100 < fetching->options.least * (double)all)
		count--;
	*ret_count = count;
	return list;
}

/* --- fetching --- */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static int progress(void *context, uint64_t done, uint64_t total)
{
	struct fetching *fetching = context;
	const struct tally_debuginfod_options *options = &fetching->options;
	uint64_t time = now();

	if (done > fetching->done) {
		fetching->done = done;
		fetching->changed = time;
	}
	if (time - fetching->changed > options->idle_seconds * SECOND ||
	    time - fetching->start > options->seconds * SECOND)
		fetching->ended = -ETIMEDOUT;
	else if (options->progress &&
		 options->progress(options->progress_context, fetching->binary, done, total))
		fetching->ended = -ECANCELED;
	return fetching->ended;
}

static bool has_stacks(const struct tally_data *data)
{
	for (size_t i = 0; i < tally_data_event_count(data); i++)
		if (tally_data_event(data, i)->attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	return false;
}

/* 0, also when no server has it; else fetching ends. */
static int fetch(struct fetching *fetching, const uint8_t *id, uint8_t id_size, bool binary)
{
	int result = 0;

	if (!fetching->connected) {
		result = tally_debuginfod_client_open(&fetching->connection, progress, fetching);
		fetching->connected = !result;
	}
	fetching->sum.wanted++;
	fetching->changed = now();
	fetching->done = 0;
	if (!result)
		result = tally_debuginfod_client_fetch(&fetching->connection, id, id_size, binary);
	if (fetching->ended)
		return fetching->ended;
	if (!result)
		fetching->sum.fetched++;
	else if (result == -ENOENT)
		fetching->sum.missing++;
	return result == -ENOENT ? 0 : result;
}

/* What an image lacks, then the file that its debug information shares with others. */
static int fetch_of(struct fetching *fetching, const struct tally_image *image, bool code)
{
	struct tally_image_lacks lacks;
	unsigned before = fetching->sum.fetched;
	int result = 0;

	fetching->binary = tally_image_name(image);
	if (!tally_image_find_lacks(image, &lacks))
		return 0;
	if (lacks.symbols || (fetching->options.lines && lacks.lines)) {
		result = fetch(fetching, lacks.id, lacks.id_size, false);
		if (!result && fetching->sum.fetched > before)
			(void)tally_image_find_lacks(image, &lacks);
	}
	if (!result && lacks.shared_size && fetching->options.lines)
		result = fetch(fetching, lacks.shared, lacks.shared_size, false);
	if (!result && lacks.binary && code)
		result = fetch(fetching, lacks.id, lacks.id_size, true);
	return result;
}

static int explain(const struct fetching *fetching, int result, struct tally_error *error)
{
	const struct tally_debuginfod_result *sum = &fetching->sum;
	const char *url = tally_debuginfod_client_url(&fetching->connection);
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (result == -ENOTSUP)
		return tally_fail(error, result, -1,
				  "debug files are not fetched: tally was built without "
				  "libdebuginfod (in Debian: libdebuginfod-dev)");
	if (!url)
		url = urls ? urls : "the server";
	return tally_fail(error, result, -1, "fetching debug files from %s: %s; %u fetched", url,
			  result == -ETIMEDOUT && fetching->ended ? "it takes too long"
			  : result == -ECANCELED                  ? "cancelled"
								  : strerror(-result),
			  sum->fetched);
}

static int fetch_all(struct fetching *fetching, struct tally_error *error)
{
	bool code = has_stacks(fetching->session->source.data);
	int result = count_samples(fetching, error);
	struct candidate *list;
	size_t count;

	if (result)
		return result;
	list = find_candidates(fetching, &count);
	if (!list)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	fetching->start = now();
	for (size_t i = 0; i < count && !result; i++)
		if (list[i].image)
			result = fetch_of(fetching, list[i].image, code);
	free(list);
	if (result)
		explain(fetching, result, error);
	if (fetching->connected)
		tally_debuginfod_client_close(&fetching->connection);
	return result;
}

static unsigned seconds_of(const char *variable, unsigned usual)
{
	const char *text = getenv(variable);
	long value = text ? strtol(text, NULL, 10) : 0;

	return value > 0 && value < 1000000 ? (unsigned)value : usual;
}

int tally_debuginfod_fetch(struct tally_session *session,
			   const struct tally_debuginfod_options *options,
			   struct tally_debuginfod_result *ret, struct tally_error *error)
{
	struct fetching fetching = {.session = session,
				    .options = {.size = sizeof(fetching.options)}};
	int result = tally_options_take(&fetching.options, sizeof(fetching.options), options),
	    sized;

	if (result)
		return tally_fail(error, result, -1, "options that this libtally does not know");
	if (!(fetching.options.least > 0))
		fetching.options.least = LEAST_USUAL;
	if (!fetching.options.idle_seconds)
		fetching.options.idle_seconds = seconds_of("DEBUGINFOD_TIMEOUT", IDLE_USUAL);
	if (!fetching.options.seconds)
		fetching.options.seconds = seconds_of("DEBUGINFOD_MAXTIME", SECONDS_USUAL);
	if (!tally_debuginfod_client_exists())
		result = explain(&fetching, -ENOTSUP, error);
	else if (!session->source.live && tally_debuginfod_is_set())
		result = fetch_all(&fetching, error);
	free(fetching.counts);
	sized = ret ? tally_result_copy(ret, sizeof(fetching.sum), &fetching.sum) : 0;
	return result ? result : sized;
}
