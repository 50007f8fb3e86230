/* AUXTRACE records, and the index of them at the end of a file.
 *
 * Source: the perf.data format: the record's size is of its header alone, the trace follows it; the
 * index is u64 count and {u64 offset of the record, u64 size of its header} for each. */
#include <errno.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "file/feature.h"
#include "write/writer.h"

#define RECORD_SIZE 48
#define PARTS_MOST  6 /* header, a trace that wraps, padding, and room */

int tally_writer_append_aux_now(struct tally_writer *writer,
				const struct tally_record_auxtrace *record, const struct iovec *iov,
				int iov_count, struct tally_error *error)
{
	static const uint8_t zeros[8];
	const struct perf_event_header header = {.type = PERF_RECORD_AUXTRACE, .size = RECORD_SIZE};
	uint64_t padded = align_up(record->size, 8), at = writer->end;
	struct iovec parts[PARTS_MOST] = {0};
	uint8_t bytes[RECORD_SIZE] = {0};
	int count = 0, code;

	memcpy(bytes, &header, sizeof(header));
	store_u64(bytes + 8, padded);
	store_u64(bytes + 16, record->trace_offset);
	store_u64(bytes + 24, record->reference);
	store_u32(bytes + 32, record->idx);
	store_u32(bytes + 36, record->tid);
	store_u32(bytes + 40, record->cpu);
	if (iov_count > PARTS_MOST - 2)
		return tally_fail(error, -E2BIG, -1, "a trace in %d parts", iov_count);
	parts[count++] = (struct iovec){bytes, sizeof(bytes)};
	for (int i = 0; i < iov_count; i++)
		parts[count++] = iov[i];
	if (padded > record->size)
		parts[count++] = (struct iovec){(void *)(uintptr_t)zeros, padded - record->size};
	code = tally_writer_append_plain(writer, parts, count, error);
	if (code || writer->stream)
		return code;
	tally_buf_u64(&writer->aux_index, at);
	tally_buf_u64(&writer->aux_index, RECORD_SIZE);
	return writer->aux_index.failed
		   ? tally_fail(error, writer->aux_index.failed, -1, "out of memory")
		   : 0;
}

void tally_file_add_aux_index(const struct tally_writer *writer, struct tally_buf *to)
{
	const uint8_t *entries = writer->aux_index.data;
	size_t count = writer->aux_index.size / 16;

	/* Records that made room for the tables of a full disk are gone. */
	while (count && load_u64(entries + (count - 1) * 16) >= writer->end)
		count--;
	if (!count)
		return;
	tally_buf_u64(to, count);
	tally_buf_add(to, entries, count * 16);
}
