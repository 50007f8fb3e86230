/* A writer's appends and rounds: done at once, or later by a thread. */
#include <errno.h>
#include <string.h>
#include "base/fail.h"
#include "write/writer.h"

enum op { APPEND = 1, ROUND, CHECKPOINT, EMPTY_ROUND, TRACE };

static int write_op(void *context, unsigned op, const void *bytes, size_t size,
		    struct tally_error *error)
{
	struct tally_writer *writer = context;
	struct iovec iov = {(void *)(uintptr_t)bytes, size};
	struct tally_record_auxtrace record;

	switch ((enum op)op) {
	case APPEND:
		return tally_writer_append_now(writer, &iov, 1, error);
	case ROUND:
	case CHECKPOINT:
		return tally_writer_round_now(writer, op == CHECKPOINT, error);
	case EMPTY_ROUND:
		return tally_writer_empty_round_now(writer, error);
	case TRACE:
		memcpy(&record, bytes, sizeof(record));
		iov =
		    (struct iovec){(uint8_t *)iov.iov_base + sizeof(record), size - sizeof(record)};
		return tally_writer_append_aux_now(writer, &record, &iov, 1, error);
	}
	return -EINVAL;
}

int tally_writer_write_behind(struct tally_writer *writer, size_t room, struct tally_error *error)
{
	int code = tally_write_behind_new(room, write_op, writer, &writer->behind);

	return code ? tally_fail(error, code, -1, "no thread to write in: %s", strerror(-code)) : 0;
}

int tally_writer_catch_up(struct tally_writer *writer, struct tally_error *error)
{
	struct tally_write_behind *behind = writer->behind;

	writer->behind = NULL;
	return tally_write_behind_finish(behind, error);
}

int tally_writer_append(struct tally_writer *writer, const struct iovec *iov, int iov_count,
			struct tally_error *error)
{
	return writer->behind
		   ? tally_write_behind_put(writer->behind, APPEND, iov, iov_count, error)
		   : tally_writer_append_now(writer, iov, iov_count, error);
}

int tally_writer_round(struct tally_writer *writer, bool checkpoint, struct tally_error *error)
{
	return writer->behind ? tally_write_behind_put(
				    writer->behind, checkpoint ? CHECKPOINT : ROUND, NULL, 0, error)
			      : tally_writer_round_now(writer, checkpoint, error);
}

int tally_writer_empty_round(struct tally_writer *writer, struct tally_error *error)
{
	return writer->behind ? tally_write_behind_put(writer->behind, EMPTY_ROUND, NULL, 0, error)
			      : tally_writer_empty_round_now(writer, error);
}

int tally_writer_append_aux(struct tally_writer *writer, const struct tally_record_auxtrace *record,
			    const struct iovec *iov, int iov_count, struct tally_error *error)
{
	struct iovec parts[3] = {{(void *)(uintptr_t)record, sizeof(*record)}};

	if (!writer->behind)
		return tally_writer_append_aux_now(writer, record, iov, iov_count, error);
	if (iov_count > 2)
		return tally_fail(error, -E2BIG, -1, "a trace in %d parts", iov_count);
	for (int i = 0; i < iov_count; i++)
		parts[1 + i] = iov[i];
	return tally_write_behind_put(writer->behind, TRACE, parts, 1 + iov_count, error);
}
