/* A stream that is read while it grows.
 *
 * A thread of its own reads the descriptor all the time and keeps whole records in a queue.
 * Another thread takes windows out of the queue: some whole rounds (FINISHED_ROUND), of which it
 * gives the records that every ring has passed: those that are not newer than the newest one of the
 * round before the last.  The others belong to the next window.  So windows follow each other in
 * the order of time; within a window records have any order that a file can have.  Source of the
 * rule: the perf.data format (FINISHED_ROUND), as perf 6.1 obeys it.
 *
 * Memory is bounded: at most LIVE_QUEUE_MOST bytes of records wait, as many are in the window, and
 * as many are newer.  When the queue is full, samples are dropped and counted until a window is
 * taken; other records, which describe processes, are kept up to twice that size. */
#ifndef TALLY_FILE_LIVE_H
#define TALLY_FILE_LIVE_H

#include "file/data_file.h"

#define LIVE_QUEUE_MOST ((size_t)32 << 20)
/* A window is not taken before so much time has passed since the last one, ... */
#define LIVE_WINDOW_NS 100000000LL
/* ... unless so many bytes wait. */
#define LIVE_WINDOW_BYTES ((size_t)8 << 20)

struct file_live;

/* A window, without its records. */
struct file_live_window {
	uint64_t passed;  /* all records up to this time were given; UINT64_MAX: that was the end */
	uint64_t dropped; /* records that the queue had no room for, since the start */
};

/* Reads the start of the stream, from which its events follow, into data->stream, and begins
 * data->live.  Takes over the descriptor data->fd.  0 or -errno with words; -EBADMSG: no stream. */
int tally_live_open(struct tally_data *data, struct tally_error *error);
/* Opens a live stream from a descriptor, which it takes over. `name` is for messages; `keep` as in
 * struct tally_data_options. 0 or -errno with words. */
int tally_data_open_live(int fd, const char *name, size_t keep, struct tally_data **ret,
			 struct tally_error *error);
/* Begins to read the records; to be called when the events are known. */
int tally_live_start(struct tally_data *data, struct tally_error *error);
/* Ends the thread. */
void tally_live_free(struct file_live *live);

/* For tests: other bounds than those above. */
void tally_live_set_bounds(struct tally_data *data, size_t queue_most, size_t window_bytes,
			   int64_t window_ns);

/* Adds what is kept (struct tally_data_options) to `to`.  0; -EINVAL: nothing is; -ENOMEM. */
int tally_live_kept(const struct tally_data *data, struct tally_buf *to);

bool tally_data_is_live(const struct tally_data *data);
/* Takes the next window, whose records the next tally_data_next() gives in one block; those of the
 * last window are freed. 1; 0: the stream has ended; -EAGAIN: no record came for some time;
 * -ENOMEM. */
int tally_live_next(struct tally_data *data, struct file_live_window *ret);
/* For blocks.c: the window's records; size 0: none. */
struct tally_block tally_live_block(const struct tally_data *data);

/* stream.c: an EVENT_UPDATE record that came after the start.  0 or -ENOMEM. */
int tally_file_stream_late(struct tally_data *data, const uint8_t *bytes, size_t size);

#endif
