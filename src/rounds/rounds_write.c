/* Counts into a perf.data file: EVENT_UPDATE for units and scales, THREAD_MAP, CPU_MAP and
 * STAT_CONFIG say what is counted; STAT is one event's count at one place, unscaled and since the
 * start, and STAT_ROUND ends a reading. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <tally/abi.h>
#include <tally/stat_rounds.h>
#include "base/fail.h"
#include "rounds/rounds_numbers.h"

#define RECORD_MOST 65535
#define COMM_MOST   15

struct tally_stat_writer {
	struct tally_writer *writer;
	const struct tally_stat_options *stat;
	uint32_t *threads; /* by place: the index of its thread */
	void *bytes;       /* of a round's records */
	size_t room;
};

static int no_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "out of memory");
}

static int append(struct tally_stat_writer *to, const void *bytes, size_t size,
		  struct tally_error *error)
{
	const struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};

	return tally_writer_append(to->writer, &iov, 1, error);
}

static int put(struct tally_stat_writer *to, const struct tally_body *body,
	       struct tally_error *error)
{
	static const struct tally_layout none;
	uint8_t *bytes = malloc(RECORD_MOST + 1);
	int size, result;

	if (!bytes)
		return no_memory(error);
	size = tally_record_encode(&none, body, bytes, RECORD_MOST + 1);
	result = size < 0 ? tally_fail(error, size, -1, "%s: %s",
				       tally_record_type_name(body->type), strerror(-size))
			  : append(to, bytes, (size_t)size, error);
	free(bytes);
	return result;
}

/* --- what is counted --- */

/* The ids of an event, one for each place where it is counted; owned by the caller. */
static uint64_t *ids_of(const struct tally_stat_options *stat, const struct tally_count *counts,
			size_t event, size_t *ret_count)
{
	uint64_t *ids = calloc(stat->place_count + 1, sizeof(*ids));

	*ret_count = 0;
	for (size_t i = 0; ids && i < stat->place_count; i++)
		if (counts[event * stat->place_count + i].id)
			ids[(*ret_count)++] = counts[event * stat->place_count + i].id;
	return ids;
}

static int open_file(const char *path, const struct tally_stat_writer_options *options,
		     struct tally_writer_event *events, struct tally_writer **ret,
		     struct tally_error *error)
{
	const struct tally_writer_options of = {
	    .size = sizeof(of),
	    .cmdline = options->cmdline,
	    .cmdline_count = options->cmdline_count,
	    .has_stat = true,
	};
	bool stream = !strcmp(path, "-");

	for (size_t i = 0; i < options->stat->event_count; i++) {
		events[i] = options->events[i];
		/* In a stream, perf treats events with a type as events of samples. */
		events[i].attr.sample_type = stream ? 0 : PERF_SAMPLE_IDENTIFIER;
		events[i].ids = ids_of(options->stat, options->counts, i, &events[i].id_count);
		if (!events[i].ids)
			return no_memory(error);
	}
	return tally_writer_open(path, events, options->stat->event_count, &of, ret, error);
}

static int put_updates(struct tally_stat_writer *to, const struct tally_writer_event *events,
		       struct tally_error *error)
{
	int result = 0;

	for (size_t i = 0; i < to->stat->event_count && !result; i++) {
		const struct tally_stat_event *event = &to->stat->events[i];
		struct tally_body body = {
		    .size = sizeof(body),
		    .type = PERF_RECORD_EVENT_UPDATE,
		    .event_update = {.id = events[i].id_count ? events[i].ids[0] : 0},
		};

		if (!events[i].id_count)
			continue;
		if (event->unit && *event->unit) {
			body.event_update.type = ROUNDS_UNIT;
			body.event_update.data = (const uint8_t *)event->unit;
			body.event_update.data_size = strlen(event->unit) + 1;
			result = put(to, &body, error);
		}
		if (!result && (event->scale < 1 || event->scale > 1)) {
			body.event_update.type = ROUNDS_UNIT_SCALE;
			body.event_update.data = (const uint8_t *)&event->scale;
			body.event_update.data_size = sizeof(event->scale);
			result = put(to, &body, error);
		}
	}
	return result;
}

/* THREAD_MAP: each thread once; to->threads gets its index for each place. */
static int put_threads(struct tally_stat_writer *to, struct tally_error *error)
{
	const struct tally_stat_options *stat = to->stat;
	struct tally_thread_map_entry *entries = calloc(stat->place_count + 1, sizeof(*entries));
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_THREAD_MAP};
	size_t threads = 0;
	int result;

	to->threads = calloc(stat->place_count + 1, sizeof(*to->threads));
	if (!entries || !to->threads) {
		free(entries);
		return no_memory(error);
	}
	for (size_t i = 0; i < stat->place_count; i++) {
		uint64_t tid = (uint64_t)(int64_t)stat->places[i].tid;
		const char *comm = stat->places[i].comm ? stat->places[i].comm : "";
		size_t at = threads && entries[threads - 1].pid == tid ? threads - 1 : 0;

		while (at < threads && entries[at].pid != tid)
			at++;
		if (at == threads) {
			entries[threads].pid = tid;
			memcpy(entries[threads++].comm, comm, strnlen(comm, COMM_MOST));
		}
		to->threads[i] = (uint32_t)at;
	}
	body.thread_map.nr = threads;
	body.thread_map.entries = entries;
	result = put(to, &body, error);
	free(entries);
	return result;
}

/* CPU_MAP: a list of numbers; 65,535 alone is no CPU, as counts of tasks have it. */
static int put_cpus(struct tally_stat_writer *to, struct tally_error *error)
{
	uint16_t *cpus = calloc(to->stat->place_count + 1, sizeof(*cpus));
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_CPU_MAP};
	uint16_t number = 0;
	int result;

	if (!cpus)
		return no_memory(error);
	for (size_t i = 0; i < to->stat->place_count && number < UINT16_MAX; i++) {
		uint16_t cpu = (uint16_t)to->stat->places[i].cpu;
		size_t at = 0;

		while (at < number && cpus[at] != cpu)
			at++;
		if (at == number)
			cpus[number++] = cpu;
	}
	body.cpu_map.nr = number;
	body.cpu_map.data = (const uint8_t *)cpus;
	result = put(to, &body, error);
	free(cpus);
	return result;
}

static int put_config(struct tally_stat_writer *to, uint64_t interval_ms, struct tally_error *error)
{
	const struct tally_stat_config_entry entries[] = {
	    {ROUNDS_BY, (uint64_t)tally_rounds_mode(to->stat->by)},
	    {ROUNDS_INTERVAL, interval_ms},
	    {ROUNDS_SCALE, !to->stat->unscaled}};
	const struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_STAT_CONFIG,
	    .stat_config = {.nr = 3, .entries = entries},
	};

	return put(to, &body, error);
}

int tally_stat_writer_open(const char *path, const struct tally_stat_writer_options *options,
			   struct tally_stat_writer **ret, struct tally_error *error)
{
	struct tally_writer_event *events;
	struct tally_stat_writer *to;
	int result;

	if (options->size != sizeof(*options))
		return tally_fail(error, -EINVAL, -1, "the size of the options is not set");
	events = calloc(options->stat->event_count + 1, sizeof(*events));
	to = calloc(1, sizeof(*to));
	if (!events || !to) {
		free(events);
		free(to);
		return no_memory(error);
	}
	to->stat = options->stat;
	result = open_file(path, options, events, &to->writer, error);
	if (!result)
		result = put_updates(to, events, error);
	if (!result)
		result = put_threads(to, error);
	if (!result)
		result = put_cpus(to, error);
	if (!result)
		result = put_config(to, options->interval_ms, error);
	for (size_t i = 0; i < options->stat->event_count; i++)
		free((void *)(uintptr_t)events[i].ids);
	free(events);
	if (result)
		tally_stat_writer_close(to, NULL);
	else
		*ret = to;
	return result;
}

/* --- counts --- */

static struct tally_body body_of(const struct tally_stat_writer *to, const struct tally_count *from,
				 size_t place)
{
	return (struct tally_body){
	    .size = sizeof(struct tally_body),
	    .type = PERF_RECORD_STAT,
	    .stat = {.id = from->id,
		     .cpu = (uint32_t)to->stat->places[place].cpu,
		     .thread = to->threads[place],
		     .value = from->raw,
		     .enabled = from->time_enabled,
		     .running = from->time_running},
	};
}

static int make_room(struct tally_stat_writer *to)
{
	static const struct tally_layout none;
	const struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_STAT};
	size_t counts = to->stat->event_count * to->stat->place_count;

	if (to->bytes)
		return 0;
	to->room = (size_t)tally_record_size(&none, &body) * (counts + 1);
	to->bytes = malloc(to->room);
	return to->bytes ? 0 : -ENOMEM;
}

int tally_stat_writer_round(struct tally_stat_writer *writer, const struct tally_count *counts,
			    uint64_t time, bool last, struct tally_error *error)
{
	static const struct tally_layout none;
	const struct tally_body round = {.size = sizeof(round),
					 .type = PERF_RECORD_STAT_ROUND,
					 .stat_round = {.type = last, .time = time}};
	size_t places = writer->stat->place_count, size = 0;
	int result = make_room(writer), got;

	if (result)
		return no_memory(error);
	for (size_t i = 0; i < writer->stat->event_count * places; i++) {
		struct tally_body body = body_of(writer, &counts[i], i % places);

		if (!body.stat.id || counts[i].quality < TALLY_COUNT_NEVER_RAN)
			continue;
		got = tally_record_encode(&none, &body, (uint8_t *)writer->bytes + size,
					  writer->room - size);
		if (got < 0)
			return no_memory(error);
		size += (size_t)got;
	}
	result = append(writer, writer->bytes, size, error);
	if (!result)
		result = put(writer, &round, error);
	return result ? result : tally_writer_round(writer->writer, true, error);
}

int tally_stat_writer_close(struct tally_stat_writer *writer, struct tally_error *error)
{
	int result = 0;

	if (!writer)
		return 0;
	if (writer->writer)
		result = tally_writer_close(writer->writer, error);
	free(writer->threads);
	free(writer->bytes);
	free(writer);
	return result;
}
