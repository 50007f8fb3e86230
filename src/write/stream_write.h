/* A recording as a stream: the contents of a file's header as records.  Source: the perf.data
 * format, pipe mode, as perf 6.1 reads it. */
#ifndef TALLY_WRITE_STREAM_WRITE_H
#define TALLY_WRITE_STREAM_WRITE_H

#include "write/writer.h"

/* Standard output as a descriptor of our own; a terminal is refused. */
int tally_file_stdout_open(int *ret, struct tally_error *error);
/* The header, and each event with its name, as facts->events has them (facts->attr_size bytes of
 * attr). 0, -ENOMEM, or -E2BIG with words: an event has more ids than fit into a record. */
int tally_file_stream_events(const struct file_facts *facts, struct tally_buf *to,
			     struct tally_error *error);
/* A feature's payload; one that does not fit into a record, or that perf reads from files only, is
 * left out. */
void tally_file_stream_feature(unsigned feature, const void *payload, size_t size,
			       struct tally_buf *to);
/* A section of build-ids as records. */
void tally_file_stream_build_ids(const void *section, size_t size, struct tally_buf *to);
/* The formats of tracepoints. */
void tally_file_stream_tracing_data(const void *bytes, size_t size, struct tally_buf *to);
/* Header, events, their names, features, the formats of tracepoints. 0, -ENOMEM, or -E2BIG with
 * words: an event has more ids than fit into a record. */
int tally_file_stream_start(const struct file_facts *facts, struct tally_buf *to,
			    struct tally_error *error);
/* What is known only at the end: build-ids, the times of samples. */
int tally_file_stream_end(const struct tally_writer *writer, struct tally_buf *to);

#endif
