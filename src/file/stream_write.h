/* A recording as a stream: what stands in a file's header, as records.
 * Source: the perf.data format, pipe mode, as perf 6.1 reads it. */
#ifndef TALLY_FILE_STREAM_WRITE_H
#define TALLY_FILE_STREAM_WRITE_H

#include "file/writer.h"

/* Standard output as a descriptor of our own; a terminal is refused. */
int tally_file_stdout_open(int *ret, struct tally_error *error);
/* Header, events, their names, features, the formats of tracepoints. 0, -ENOMEM, or -E2BIG with
 * words: an event has more ids than fit into a record. */
int tally_file_stream_start(const struct file_facts *facts, struct tally_buf *to,
			    struct tally_error *error);
/* What only the end knows: build-ids, the times of samples. */
int tally_file_stream_end(const struct tally_writer *writer, struct tally_buf *to);

#endif
