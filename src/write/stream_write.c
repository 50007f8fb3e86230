#include "write/stream_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "file/data_file.h"

#define HEADER sizeof(struct perf_event_header)

int tally_file_stdout_open(int *ret, struct tally_error *error)
{
	int fd;

	if (isatty(STDOUT_FILENO))
		return tally_fail(error, -EINVAL, -1,
				  "standard output is a terminal, and a recording is not text: "
				  "send it through a pipe or to a file");
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return tally_fail(error, -errno, -1, "standard output: %s", strerror(errno));
	*ret = fd;
	return 0;
}

static void add_header(struct tally_buf *to, uint32_t type, uint64_t size)
{
	struct perf_event_header header = {.type = type, .size = (uint16_t)size};

	tally_buf_add(to, &header, sizeof(header));
}

static void add_padding(struct tally_buf *to, uint64_t size)
{
	tally_buf_zero(to, align_up(size, 8) - size);
}

/* Adds an event's attr and its ids. */
static int add_attr(const struct file_facts *facts, const struct tally_writer_event *event,
		    struct tally_buf *to, struct tally_error *error)
{
	uint64_t ids = event->id_count * sizeof(*event->ids);
	uint64_t size = HEADER + facts->attr_size + ids;
	struct tally_attr attr = event->attr;

	if (size > UINT16_MAX)
		return tally_fail(error, -E2BIG, -1,
				  "%s: it is open %zu times, and a stream can have at most %zu ids "
				  "of an event; record to a file, or fewer threads or CPUs",
				  event->name ? event->name : "an event", event->id_count,
				  (UINT16_MAX - HEADER - facts->attr_size) / sizeof(uint64_t));
	attr.size = facts->attr_size;
	add_header(to, PERF_RECORD_HEADER_ATTR, size);
	tally_buf_add(to, &attr, facts->attr_size);
	tally_buf_add(to, event->ids, ids);
	return 0;
}

/* EVENT_DESC has the names too, unless it is too long for a record. */
static void add_name(const struct tally_writer_event *event, struct tally_buf *to)
{
	static const uint64_t update_name = 2;
	uint64_t length = event->name ? strlen(event->name) + 1 : 0;
	uint64_t size = HEADER + 16 + align_up(length, 8);

	if (!length || !event->id_count || size > UINT16_MAX)
		return;
	add_header(to, PERF_RECORD_EVENT_UPDATE, size);
	tally_buf_u64(to, update_name);
	tally_buf_u64(to, event->ids[0]);
	tally_buf_add(to, event->name, length);
	add_padding(to, length);
}

/* perf reads the others from sections of a file only. */
static bool goes_by_record(unsigned feature)
{
	return feature != FEATURE_TRACING_DATA && feature != FEATURE_BUILD_ID &&
	       feature != FEATURE_CACHE && feature != FEATURE_HYBRID_TOPOLOGY;
}

void tally_file_stream_feature(unsigned feature, const void *payload, size_t payload_size,
			       struct tally_buf *to)
{
	uint64_t size = HEADER + 8 + align_up(payload_size, 8);

	/* What does not fit into a record is left out, as perf does. */
	if (size > UINT16_MAX || !goes_by_record(feature))
		return;
	add_header(to, PERF_RECORD_HEADER_FEATURE, size);
	tally_buf_u64(to, feature);
	tally_buf_add(to, payload, payload_size);
	add_padding(to, payload_size);
}

static int add_features(const struct file_facts *facts, struct tally_buf *to)
{
	struct tally_buf payload = {0};
	int code = 0;

	for (const struct file_feature_row *row = tally_file_early_features();
	     row->feature && !code; row++) {
		if (row->empty || !goes_by_record(row->feature)) /* flags are part of a header */
			continue;
		tally_buf_clear(&payload);
		row->write(facts, &payload);
		if (payload.size)
			tally_file_stream_feature(row->feature, payload.data, payload.size, to);
		code = payload.failed;
	}
	tally_buf_done(&payload);
	return code;
}

/* A record of 12 bytes, and after it the formats, padded: readers expect exactly that. */
void tally_file_stream_tracing_data(const void *bytes, size_t size, struct tally_buf *to)
{
	if (!size)
		return;
	add_header(to, PERF_RECORD_HEADER_TRACING_DATA, HEADER + 4);
	tally_buf_u32(to, (uint32_t)align_up(size, 8));
	tally_buf_add(to, bytes, size);
	add_padding(to, size);
}

int tally_file_stream_events(const struct file_facts *facts, struct tally_buf *to,
			     struct tally_error *error)
{
	int code = 0;

	/* "PERFILE2" as a number in the writer's byte order, and the size that means a stream. */
	tally_buf_u64(to, 0x32454c4946524550ULL);
	tally_buf_u64(to, FILE_HEADER_PIPE_SIZE);
	for (size_t i = 0; i < facts->event_count && !code; i++)
		code = add_attr(facts, &facts->events[i], to, error);
	if (code)
		return code;
	for (size_t i = 0; i < facts->event_count; i++)
		add_name(&facts->events[i], to);
	return to->failed ? tally_fail(error, to->failed, -1, "out of memory") : 0;
}

int tally_file_stream_start(const struct file_facts *facts, struct tally_buf *to,
			    struct tally_error *error)
{
	int code = tally_file_stream_events(facts, to, error);

	if (code)
		return code;
	code = add_features(facts, to);
	if (facts->options->tracing_data)
		tally_file_stream_tracing_data(facts->options->tracing_data,
					       facts->options->tracing_data_size, to);
	code = code ? code : to->failed;
	return code ? tally_fail(error, code, -1, "out of memory") : 0;
}

void tally_file_stream_build_ids(const void *section, size_t size, struct tally_buf *to)
{
	size_t from = to->size;

	tally_buf_add(to, section, size);
	if (to->failed)
		return;
	/* In a section their type is 0. */
	while (from < to->size) {
		store_u32(to->data + from, PERF_RECORD_HEADER_BUILD_ID);
		from += load_u16(to->data + from + 6);
	}
}

int tally_file_stream_end(const struct tally_writer *writer, struct tally_buf *to)
{
	struct tally_buf payload = {0};

	tally_file_stream_build_ids(writer->build_ids.data, writer->build_ids.size, to);
	if (writer->has_sample_time) {
		tally_buf_u64(&payload, writer->sample_time_first);
		tally_buf_u64(&payload, writer->sample_time_last);
		tally_file_stream_feature(FEATURE_SAMPLE_TIME, payload.data, payload.size, to);
	}
	tally_buf_done(&payload);
	return to->failed;
}
