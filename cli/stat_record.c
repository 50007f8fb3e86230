/* Counts into a perf.data file, as `perf stat record` writes it: EVENT_UPDATE for units and scales,
 * THREAD_MAP, CPU_MAP and STAT_CONFIG say what is counted; STAT is one event's count at one place,
 * unscaled and since the start, and STAT_ROUND ends a reading.
 * Source: tools/lib/perf/include/perf/event.h, and the files of perf 6.1. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <tally/abi.h>
#include "command.h"
#include "say.h"
#include "stat_command.h"

#define RECORD_MOST 65535

static int no_memory(void)
{
	cli_say("stat", "out of memory");
	return CLI_FAILED;
}

static int append(struct stat_record *record, const void *bytes, size_t size)
{
	const struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
	struct tally_error error;

	if (tally_writer_append(record->writer, &iov, 1, &error))
		return cli_say_error("stat", &error);
	return CLI_OK;
}

static int put(struct stat_record *record, const struct tally_body *body)
{
	static const struct tally_layout none;
	uint8_t *bytes = malloc(RECORD_MOST + 1);
	int size, status;

	if (!bytes)
		return no_memory();
	size = tally_record_encode(&none, body, bytes, RECORD_MOST + 1);
	if (size < 0) {
		cli_say("stat", "%s: %s", tally_record_type_name(body->type), strerror(-size));
		status = CLI_FAILED;
	} else {
		status = append(record, bytes, (size_t)size);
	}
	free(bytes);
	return status;
}

/* --- what is counted --- */

/* The ids of an event, one for each open place; owned by the caller. */
static uint64_t *ids_of(const struct stat_count *count, size_t event, size_t *ret_count)
{
	uint64_t *ids = calloc(count->place_count + 1, sizeof(*ids));

	*ret_count = 0;
	for (size_t i = 0; ids && i < count->place_count; i++)
		if (count->counts[event * count->place_count + i].id)
			ids[(*ret_count)++] = count->counts[event * count->place_count + i].id;
	return ids;
}

static int open_writer(struct stat_record *record, const struct stat_count *count,
		       struct tally_writer_event *events)
{
	const struct stat_ask *ask = count->ask;
	bool stream = !strcmp(ask->recording, "-");
	struct tally_writer_options options = {
	    .size = sizeof(options),
	    .cmdline = ask->cmdline,
	    .cmdline_count = ask->cmdline_count,
	    .has_stat = true,
	};
	struct tally_error error;

	for (size_t i = 0; i < count->event_count; i++) {
		struct tally_counters_event opened = {.size = sizeof(opened)};

		tally_counters_event(count->set, i, &opened);
		events[i] = (struct tally_writer_event){
		    .attr = opened.attr,
		    .name = opened.name,
		    .leader = opened.leader,
		};
		/* In a stream, perf treats events with a type as events of samples. */
		events[i].attr.sample_type = stream ? 0 : PERF_SAMPLE_IDENTIFIER;
		events[i].ids = ids_of(count, i, &events[i].id_count);
		if (!events[i].ids)
			return no_memory();
	}
	if (tally_writer_open(ask->recording, events, count->event_count, &options, &record->writer,
			      &error))
		return cli_say_error("stat", &error);
	return CLI_OK;
}

static int put_updates(struct stat_record *record, const struct stat_count *count,
		       const struct tally_writer_event *events)
{
	const struct tally_stat_options *of = tally_stat_options(count->stat);
	int status = CLI_OK;

	for (size_t i = 0; i < count->event_count && !status; i++) {
		const struct tally_stat_event *event = &of->events[i];
		struct tally_body body = {
		    .size = sizeof(body),
		    .type = PERF_RECORD_EVENT_UPDATE,
		    .event_update = {.id = events[i].id_count ? events[i].ids[0] : 0},
		};

		if (!events[i].id_count)
			continue;
		if (*event->unit) {
			body.event_update.type = 0;
			body.event_update.data = (const uint8_t *)event->unit;
			body.event_update.data_size = strlen(event->unit) + 1;
			status = put(record, &body);
		}
		if (!status && (event->scale < 1 || event->scale > 1)) {
			body.event_update.type = 1;
			body.event_update.data = (const uint8_t *)&event->scale;
			body.event_update.data_size = sizeof(event->scale);
			status = put(record, &body);
		}
	}
	return status;
}

/* THREAD_MAP: each thread once; record->threads gets its index for each place. */
static int put_threads(struct stat_record *record, const struct stat_count *count)
{
	struct tally_thread_map_entry *entries = calloc(count->place_count + 1, sizeof(*entries));
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_THREAD_MAP};
	size_t threads = 0;
	int status;

	record->threads = calloc(count->place_count + 1, sizeof(*record->threads));
	if (!entries || !record->threads) {
		free(entries);
		return no_memory();
	}
	for (size_t i = 0; i < count->place_count; i++) {
		uint64_t tid = (uint64_t)(int64_t)count->places[i].tid;
		const char *comm = count->places[i].comm ? count->places[i].comm : "";
		size_t at = threads && entries[threads - 1].pid == tid ? threads - 1 : 0;

		while (at < threads && entries[at].pid != tid)
			at++;
		if (at == threads) {
			entries[threads].pid = tid;
			memcpy(entries[threads++].comm, comm, strnlen(comm, 15));
		}
		record->threads[i] = (uint32_t)at;
	}
	body.thread_map.nr = threads;
	body.thread_map.entries = entries;
	status = put(record, &body);
	free(entries);
	return status;
}

/* CPU_MAP: a list of numbers; 65,535 alone is no CPU, as counts of tasks have it. */
static int put_cpus(struct stat_record *record, const struct stat_count *count)
{
	uint16_t *cpus = calloc(count->place_count + 1, sizeof(*cpus));
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_CPU_MAP};
	uint16_t number = 0;
	int status;

	if (!cpus)
		return no_memory();
	for (size_t i = 0; i < count->place_count && number < UINT16_MAX; i++) {
		uint16_t cpu = (uint16_t)count->places[i].cpu;
		size_t at = 0;

		while (at < number && cpus[at] != cpu)
			at++;
		if (at == number)
			cpus[number++] = cpu;
	}
	body.cpu_map.nr = number;
	body.cpu_map.data = (const uint8_t *)cpus;
	status = put(record, &body);
	free(cpus);
	return status;
}

static int put_config(struct stat_record *record, const struct stat_ask *ask)
{
	const struct tally_stat_config_entry entries[] = {
	    {0, (uint64_t)stat_record_mode(ask->by)}, {1, ask->interval_ms}, {2, !ask->no_scale}};
	const struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_STAT_CONFIG,
	    .stat_config = {.nr = 3, .entries = entries},
	};

	return put(record, &body);
}

int stat_record_open(struct stat_record *record, struct stat_count *count)
{
	struct tally_writer_event *events = calloc(count->event_count + 1, sizeof(*events));
	int status;

	if (!events)
		return no_memory();
	stat_count_read(count); /* the ids */
	status = open_writer(record, count, events);
	if (!status)
		status = put_updates(record, count, events);
	if (!status)
		status = put_threads(record, count);
	if (!status)
		status = put_cpus(record, count);
	if (!status)
		status = put_config(record, count->ask);
	for (size_t i = 0; i < count->event_count; i++)
		free((void *)(uintptr_t)events[i].ids);
	free(events);
	return status;
}

/* --- counts --- */

static struct tally_body body_of(const struct stat_record *record, const struct stat_count *count,
				 size_t event, size_t place)
{
	const struct tally_count *from = &count->counts[event * count->place_count + place];

	return (struct tally_body){
	    .size = sizeof(struct tally_body),
	    .type = PERF_RECORD_STAT,
	    .stat = {.id = from->id,
		     .cpu = (uint32_t)count->places[place].cpu,
		     .thread = record->threads[place],
		     .value = from->raw,
		     .enabled = from->time_enabled,
		     .running = from->time_running},
	};
}

int stat_record_round(struct stat_record *record, const struct stat_count *count, uint64_t time,
		      bool last)
{
	static const struct tally_layout none;
	const struct tally_body round = {.size = sizeof(round),
					 .type = PERF_RECORD_STAT_ROUND,
					 .stat_round = {.type = last, .time = time}};
	size_t places = count->place_count, size = 0;
	struct tally_error error;
	int got;

	if (!record->bytes) {
		const struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_STAT};

		record->room =
		    ((size_t)tally_record_size(&none, &body)) * (count->event_count * places + 1);
		record->bytes = malloc(record->room);
		if (!record->bytes)
			return no_memory();
	}
	for (size_t i = 0; i < count->event_count * places; i++) {
		struct tally_body body = body_of(record, count, i / places, i % places);

		if (!body.stat.id || count->counts[i].quality < TALLY_COUNT_NEVER_RAN)
			continue;
		got = tally_record_encode(&none, &body, (uint8_t *)record->bytes + size,
					  record->room - size);
		if (got < 0)
			return no_memory();
		size += (size_t)got;
	}
	if (append(record, record->bytes, size) || put(record, &round))
		return CLI_FAILED;
	if (tally_writer_round(record->writer, true, &error))
		return cli_say_error("stat", &error);
	return CLI_OK;
}

int stat_record_close(struct stat_record *record)
{
	struct tally_error error;
	int status = CLI_OK;

	if (record->writer && tally_writer_close(record->writer, &error))
		status = cli_say_error("stat", &error);
	free(record->threads);
	free(record->bytes);
	*record = (struct stat_record){0};
	return status;
}
