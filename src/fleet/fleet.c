#include <tally/fleet.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/fail.h"
#include "file/data_file.h"
#include "file/feature.h"
#include "fleet/fleet_read.h"
#include "process/process.h"
#include "session/session.h"
#include "tar/unlinked.h"
#include "write/plain_file.h"

/* The names of threads are those of processes that nothing else is known of: the session's strings
 * are these then. */
static void put_names(const struct tally_fleet *fleet, struct tally_buf *to)
{
	for (uint32_t i = 0; i < fleet->comms.count; i++) {
		uint32_t size = 8 + 8 + fleet->comms.length[i] + 1, whole = (size + 7) & ~7U;

		tally_buf_u32(to, PERF_RECORD_COMM);
		tally_buf_u32(to, whole << 16);
		tally_buf_u32(to, i + 1);
		tally_buf_u32(to, i + 1);
		tally_buf_add(to, fleet->comms.text[i], fleet->comms.length[i]);
		tally_buf_zero(to, whole - 16 - fleet->comms.length[i]);
	}
}

/* Source of the layout: perf.data's feature EVENT_DESC; a text has its length, padded. */
static void put_event_names(const struct tally_fleet *fleet, const struct tally_attr *attr,
			    struct plain_file *file)
{
	struct tally_buf *to = &file->payloads;

	tally_buf_u32(to, (uint32_t)fleet->events.count);
	tally_buf_u32(to, file->attr_size);
	for (uint32_t i = 0; i < fleet->events.count; i++) {
		uint32_t size = (fleet->events.length[i] + 1 + 63) & ~63U;

		tally_buf_add(to, attr, file->attr_size);
		tally_buf_u32(to, 1);
		tally_buf_u32(to, size);
		tally_buf_add(to, fleet->events.text[i], fleet->events.length[i]);
		tally_buf_zero(to, size - fleet->events.length[i]);
		tally_buf_u64(to, i + 1);
	}
	tally_plain_file_feature(file, FEATURE_EVENT_DESC);
}

static int make_file(const struct tally_fleet *fleet, const struct plain_file_event *events,
		     const struct tally_attr *attr, struct tally_buf *to)
{
	struct plain_file file = {.attr_size = attr->size};
	uint64_t header[FILE_HEADER_SIZE / 8];

	tally_plain_file_front(&file, events, fleet->events.count, to);
	put_names(fleet, to);
	file.data_end = to->size;
	put_event_names(fleet, attr, &file);
	tally_plain_file_end(&file, to, header);
	if (!to->failed)
		memcpy(to->data, header, sizeof(header));
	tally_plain_file_done(&file);
	return to->failed;
}

int tally_fleet_open_bytes(struct tally_buf *bytes, const char *name, struct tally_data **ret,
			   struct tally_error *error)
{
	int fd = tally_unlinked_open();
	int result = fd < 0 ? fd : tally_fs_write_at(fd, bytes->data, bytes->size, 0);

	tally_buf_done(bytes);
	if (!result)
		return tally_data_open_file(fd, name, ret, error);
	if (fd >= 0)
		close(fd);
	return tally_fail(error, result, -1, "%s: a temporary file in %s: %s", name,
			  tally_unlinked_folder(), strerror(-result));
}

int tally_fleet_make_data(struct tally_fleet *fleet, struct tally_error *error)
{
	const struct tally_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = PERF_ATTR_SIZE_VER5,
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_PERIOD |
			   (fleet->columns & TALLY_COLUMN_TIME ? PERF_SAMPLE_TIME : 0) |
			   (fleet->columns & TALLY_COLUMN_CPU ? PERF_SAMPLE_CPU : 0) |
			   (fleet->columns & TALLY_COLUMN_WEIGHT ? PERF_SAMPLE_WEIGHT : 0) |
			   (fleet->has_chains ? PERF_SAMPLE_CALLCHAIN : 0),
	};
	size_t count = fleet->events.count;
	struct plain_file_event *events = calloc(count + 1, sizeof(*events));
	uint64_t *ids = calloc(count + 1, sizeof(*ids));
	struct tally_buf file = {0};
	int result = events && ids ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !result; i++) {
		ids[i] = i + 1;
		events[i] = (struct plain_file_event){.attr = &attr, .ids = &ids[i], .id_count = 1};
	}
	if (!result)
		result = make_file(fleet, events, &attr, &file);
	free(events);
	free(ids);
	if (!result)
		return tally_fleet_open_bytes(&file, fleet->folder, &fleet->data, error);
	tally_buf_done(&file);
	return tally_fail(error, result, -1, "%s: %s", fleet->folder, strerror(-result));
}

static int explain(void *context, int result, struct tally_error *error)
{
	const struct tally_fleet *fleet = context;

	if (fleet->failure.code)
		return tally_fail(error, result, -1, "%s", fleet->failure.text);
	return tally_fail(error, result, -1, "%s: %s", fleet->folder, strerror(-result));
}

int tally_fleet_open(const char *folder, struct tally_fleet **ret, struct tally_error *error)
{
	struct tally_fleet *fleet = calloc(1, sizeof(*fleet));
	int result;

	if (!fleet)
		return -ENOMEM;
	pthread_mutex_init(&fleet->lock, NULL);
	fleet->folder = strdup(folder);
	result = fleet->folder ? tally_fleet_find(fleet, error) : -ENOMEM;
	if (!result) {
		result = tally_fleet_survey(fleet);
		if (result)
			explain(fleet, result, error);
		/* A table without rows has an event, too. */
		else if (!fleet->events.count &&
			 tally_strings_intern(&fleet->events, "samples", 7) < 0)
			result = -ENOMEM;
	}
	if (!result)
		result = tally_fleet_make_data(fleet, error);
	if (result) {
		tally_fleet_close(fleet);
		return result;
	}
	*ret = fleet;
	return 0;
}

void tally_fleet_close(struct tally_fleet *fleet)
{
	if (!fleet)
		return;
	if (fleet->data)
		tally_data_close(fleet->data);
	tally_fleet_forget_files(fleet);
	free(fleet->pieces);
	free(fleet->event_samples);
	free(fleet->comm_ids);
	tally_strings_done(&fleet->events);
	tally_strings_done(&fleet->comms);
	tally_strings_done(&fleet->texts);
	tally_map_done(&fleet->images);
	tally_map_done(&fleet->names);
	tally_fleet_functions_done(&fleet->functions);
	tally_map_done(&fleet->stacks);
	pthread_mutex_destroy(&fleet->lock);
	free(fleet->folder);
	free(fleet);
}

struct tally_data *tally_fleet_data(const struct tally_fleet *fleet)
{
	return fleet->data;
}

static int find_comms(struct tally_fleet *fleet)
{
	fleet->comm_ids = calloc(fleet->comms.count + 1, sizeof(*fleet->comm_ids));
	for (uint32_t i = 0; fleet->comm_ids && i < fleet->comms.count; i++) {
		fleet->comm_ids[i] =
		    tally_process_comm(fleet->session->source.processes, i + 1, i + 1, UINT64_MAX);
		if (fleet->comm_ids[i] == UINT32_MAX)
			return -ENOMEM;
	}
	return fleet->comm_ids ? 0 : -ENOMEM;
}

int tally_fleet_attach(struct tally_fleet *fleet, struct tally_session *session,
		       struct tally_error *error)
{
	int result;

	if (fleet->session || tally_session_data(session) != fleet->data)
		return tally_fail(error, -EINVAL, -1, "%s: the session is of another recording",
				  fleet->folder);
	fleet->session = session;
	result = find_comms(fleet);
	if (!result)
		result = tally_fleet_read_stacks(fleet);
	if (result)
		return explain(fleet, result, error);
	fleet->given = (struct tally_given){.context = fleet,
					    .columns = fleet->columns,
					    .pieces = fleet->piece_count,
					    .read = tally_fleet_read_piece,
					    .explain = explain};
	tally_session_give(session, &fleet->given, &fleet->counts, fleet->event_samples);
	return 0;
}
