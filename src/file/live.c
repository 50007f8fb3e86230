#include "file/live.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "base/pool.h"
#include "base/fail.h"
#include "base/fs.h"
#include "file/extent.h"
#include "recent/recent_records.h"
#include "tar/inflate.h"
#include "file/spool.h"

/* Bytes of one read; larger than any record. */
#define ROOM ((size_t)256 * 1024)
/* How long tally_live_next() waits. */
#define MOMENT_NS 100000000LL
/* The start of a stream, before the first record of a ring: attrs, features, tracepoints. */
#define START_MOST ((size_t)256 << 20)

/* Bytes that are not whole records yet. */
struct incoming {
	uint8_t *room; /* ROOM bytes */
	size_t held;
	uint64_t skip; /* bytes after an AUXTRACE record, which are skipped */
	bool broken;   /* there is no valid record where the next one should be */
};

struct file_live {
	int fd, stop_fd;
	size_t queue_most, window_bytes;
	int64_t window_ns;
	pthread_t thread;
	bool runs;
	/* The thread's. */
	struct incoming outer, inner; /* inner: of the content of compressed records */
	struct tally_inflate *inflate;
	/* With the lock. */
	pthread_mutex_t lock;
	pthread_cond_t came;
	struct tally_buf queue; /* whole records of the kernel, and FINISHED_ROUND */
	uint64_t rounds;        /* ends of rounds among them */
	uint64_t dropped;
	struct recent_records recent;
	uint64_t bad; /* places without a valid record; at most 1, which ends the stream */
	int failed;   /* the read, or memory */
	bool ended;
	/* Of the thread that takes windows. */
	struct tally_buf taken, due, later;
	uint64_t base;                    /* of the window: bytes of all windows before */
	uint64_t youngest, round, passed; /* times; see take_rounds() */
	int64_t taken_at;                 /* ns */
	bool done;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* --- the start --- */

static bool is_start(const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_HEADER_ATTR:
	case PERF_RECORD_HEADER_EVENT_TYPE:
	case PERF_RECORD_HEADER_TRACING_DATA:
	case PERF_RECORD_HEADER_BUILD_ID:
	case PERF_RECORD_HEADER_FEATURE:
	case PERF_RECORD_EVENT_UPDATE:
	case PERF_RECORD_ID_INDEX:
	case PERF_RECORD_THREAD_MAP:
	case PERF_RECORD_CPU_MAP:
	case PERF_RECORD_TIME_CONV:
		return true;
	default:
		return false;
	}
}

/* Reads until `size` bytes are held, or the stream ends.  0 or -errno. */
static int read_up_to(struct tally_data *data, struct incoming *incoming, size_t size)
{
	while (incoming->held < size) {
		ssize_t got =
		    read(data->fd, incoming->room + incoming->held, size - incoming->held);

		if (got < 0 && errno == EINTR) {
			if (data->options.progress &&
			    data->options.progress(data->options.progress_context, 0, 0))
				return -ECANCELED;
			continue;
		}
		if (got < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){.fd = data->fd, .events = POLLIN}, 1, -1);
			continue;
		}
		if (got <= 0)
			return got ? -errno : 0;
		incoming->held += (size_t)got;
	}
	return 0;
}

/* Bytes after a record of tracepoint formats, which its size does not include. */
static int copy_outside(struct tally_data *data, struct incoming *incoming, uint64_t size)
{
	int code = 0;

	while (!code && size) {
		size_t part = size < ROOM ? (size_t)size : ROOM;

		incoming->held = 0;
		code = read_up_to(data, incoming, part);
		if (!code)
			code = tally_spool_add(data->stream, incoming->room, incoming->held);
		if (incoming->held < part)
			break;
		size -= part;
	}
	incoming->held = 0;
	return code;
}

/* Everything before the first record of a ring goes to the spool; that record's header is kept.  No
 * more is read, so that this never waits for later records. */
static int copy_start(struct tally_data *data, struct incoming *incoming)
{
	struct perf_event_header *header = (void *)incoming->room;
	int code = read_up_to(data, incoming, FILE_HEADER_PIPE_SIZE);

	if (!code)
		code = tally_spool_add(data->stream, incoming->room, incoming->held);
	if (code || incoming->held < FILE_HEADER_PIPE_SIZE)
		return code;
	for (;;) {
		struct tally_record record = {.bytes = incoming->room};
		uint64_t extent;

		incoming->held = 0;
		code = read_up_to(data, incoming, sizeof(*header));
		if (code || incoming->held < sizeof(*header) || !is_start(header) ||
		    header->size < sizeof(*header))
			return code;
		code = read_up_to(data, incoming, header->size);
		record.type = header->type;
		record.size = header->size;
		if (code || incoming->held < record.size)
			return code;
		extent = tally_record_extent(&record);
		code = tally_spool_add(data->stream, incoming->room, record.size);
		if (!code && extent > START_MOST)
			code = -EFBIG;
		if (!code && extent > record.size)
			code = copy_outside(data, incoming, extent - record.size);
		if (!code && data->stream->size > START_MOST)
			code = -EFBIG;
		if (code)
			return code;
	}
}

static int new_live(struct tally_data *data)
{
	struct file_live *live = calloc(1, sizeof(*live));
	pthread_condattr_t clock;

	if (!live)
		return -ENOMEM;
	data->live = live;
	live->fd = data->fd;
	pthread_mutex_init(&live->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&live->came, &clock);
	pthread_condattr_destroy(&clock);
	live->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (live->stop_fd < 0)
		return -errno;
	tally_live_set_bounds(data, LIVE_QUEUE_MOST, LIVE_WINDOW_BYTES, LIVE_WINDOW_NS);
	live->recent.most = data->options.keep;
	live->outer.room = malloc(ROOM);
	live->inner.room = malloc(ROOM);
	return live->outer.room && live->inner.room ? 0 : -ENOMEM;
}

void tally_live_set_bounds(struct tally_data *data, size_t queue_most, size_t window_bytes,
			   int64_t window_ns)
{
	pthread_mutex_lock(&data->live->lock); /* the thread that reads may run */
	data->live->queue_most = queue_most;
	pthread_mutex_unlock(&data->live->lock);
	data->live->window_bytes = window_bytes;
	data->live->window_ns = window_ns;
}

int tally_live_open(struct tally_data *data, struct tally_error *error)
{
	int code = tally_spool_open(data->path, "the start of a stream", &data->stream, error);

	if (code)
		return code;
	code = new_live(data);
	if (!code)
		code = copy_start(data, &data->live->outer);
	if (!code)
		code = tally_spool_finish(data->stream);
	if (code)
		return tally_spool_fail(data->stream, code, data->path, error);
	data->file = data->stream->map;
	if (data->file.size >= 8 && !memcmp(data->file.data, "2ELIFREP", 8))
		return tally_fail(error, -ENOTSUP, 0,
				  "%s: a stream of the other byte order cannot be read while it "
				  "grows; keep it in a file first",
				  data->path);
	return 0;
}

/* --- the thread --- */

/* One whole record into the queue.  The lock is held. */
static void take_in(struct file_live *live, const struct perf_event_header *header)
{
	size_t held = live->queue.size;

	if (header->type < PERF_RECORD_HEADER_ATTR || header->type == PERF_RECORD_FINISHED_ROUND)
		tally_recent_add(&live->recent, header);
	if (header->type == PERF_RECORD_FINISHED_ROUND) {
		live->rounds++;
	} else if (header->type >= PERF_RECORD_HEADER_ATTR &&
		   header->type != PERF_RECORD_EVENT_UPDATE) {
		return;
	} else if (held + header->size >
		   (header->type == PERF_RECORD_SAMPLE ? 1 : 2) * live->queue_most) {
		live->dropped++;
		return;
	}
	tally_buf_add(&live->queue, header, header->size);
}

static int take_bytes(struct file_live *live, struct incoming *incoming);

/* Bytes of a compressed record, as they were before. */
static int take_inflated(void *context, const uint8_t *bytes, size_t size)
{
	struct file_live *live = context;
	struct incoming *inner = &live->inner;

	while (size && !inner->broken) {
		size_t part = size < ROOM - inner->held ? size : ROOM - inner->held;

		memcpy(inner->room + inner->held, bytes, part);
		inner->held += part;
		bytes += part;
		size -= part;
		take_bytes(live, inner);
	}
	return inner->broken ? -EBADMSG : 0;
}

static int inflate_record(struct file_live *live, const struct perf_event_header *header)
{
	const uint8_t *bytes = (const uint8_t *)(header + 1);
	size_t size = header->size - sizeof(*header);
	int code = live->inflate ? 0 : tally_inflate_new(&live->inflate);

	if (!code && header->type == PERF_RECORD_COMPRESSED2) {
		uint64_t used;

		if (size < sizeof(used))
			return -EBADMSG;
		used = load_u64(bytes);
		bytes += sizeof(used);
		size -= sizeof(used);
		size = used < size ? (size_t)used : size;
	}
	return code ? code : tally_inflate_feed(live->inflate, bytes, size, take_inflated, live);
}

static bool is_sound(const struct perf_event_header *header)
{
	return header->size >= sizeof(*header) && header->type &&
	       (header->size % 8 == 0 || tally_file_odd_size_allowed(header->type));
}

/* The whole records at the front.  The lock is held.  0 or -errno. */
static int take_bytes(struct file_live *live, struct incoming *incoming)
{
	size_t at = 0, left;
	int code = 0;

	while (!code && !incoming->broken) {
		const struct perf_event_header *header = (const void *)(incoming->room + at);
		struct tally_record record = {.bytes = incoming->room + at};
		uint64_t extent;

		left = incoming->held - at;
		if (incoming->skip) {
			size_t skip = incoming->skip < left ? (size_t)incoming->skip : left;

			incoming->skip -= skip;
			at += skip;
			if (incoming->skip)
				break;
			continue;
		}
		if (left < sizeof(*header))
			break;
		incoming->broken = !is_sound(header);
		if (incoming->broken || left < header->size)
			break;
		record.type = header->type;
		record.size = header->size;
		extent = tally_record_extent(&record);
		if (header->type == PERF_RECORD_COMPRESSED ||
		    header->type == PERF_RECORD_COMPRESSED2)
			code = incoming == &live->inner ? -EBADMSG : inflate_record(live, header);
		else
			take_in(live, header);
		at += header->size;
		incoming->skip = extent - header->size;
	}
	incoming->held -= at;
	memmove(incoming->room, incoming->room + at, incoming->held);
	return code;
}

/* What was read; *ended says whether the stream is over. */
static void take_all(struct file_live *live, bool ended, int failed)
{
	int code;

	pthread_mutex_lock(&live->lock);
	code = take_bytes(live, &live->outer);
	live->bad = code == -EBADMSG || code == -ENOTSUP || live->outer.broken ||
		    live->inner.broken || (ended && live->outer.held);
	live->failed = failed               ? failed
		       : live->queue.failed ? live->queue.failed
		       : code && !live->bad ? code
					    : 0;
	live->ended = ended || live->failed || live->bad;
	pthread_cond_signal(&live->came);
	pthread_mutex_unlock(&live->lock);
}

static void *read_on(void *context)
{
	struct file_live *live = context;
	struct incoming *outer = &live->outer;
	struct pollfd polls[2] = {{.fd = live->fd, .events = POLLIN},
				  {.fd = live->stop_fd, .events = POLLIN}};

	while (!live->ended) {
		ssize_t got;

		if ((poll(polls, 2, -1) < 0 && errno == EINTR) || !polls[0].revents) {
			if (polls[1].revents)
				break;
			continue;
		}
		if (polls[1].revents)
			break;
		got = read(live->fd, outer->room + outer->held, ROOM - outer->held);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got > 0)
			outer->held += (size_t)got;
		take_all(live, got <= 0, got < 0 ? -errno : 0);
	}
	return NULL;
}

int tally_live_start(struct tally_data *data, struct tally_error *error)
{
	struct file_live *live = data->live;
	int code = tally_thread_start_quiet(&live->thread, read_on, live);

	if (code)
		return tally_fail(error, code, -1, "%s: no thread to read it: %s", data->path,
				  strerror(-code));
	live->runs = true;
	return 0;
}

void tally_live_free(struct file_live *live)
{
	uint64_t one = 1;

	if (!live)
		return;
	if (live->runs) {
		if (write(live->stop_fd, &one, sizeof(one)) < 0)
			pthread_cancel(live->thread); /* it never is */
		pthread_join(live->thread, NULL);
	}
	if (live->stop_fd >= 0)
		close(live->stop_fd);
	pthread_cond_destroy(&live->came);
	pthread_mutex_destroy(&live->lock);
	tally_inflate_free(live->inflate);
	free(live->outer.room);
	free(live->inner.room);
	tally_recent_done(&live->recent);
	tally_buf_done(&live->queue);
	tally_buf_done(&live->taken);
	tally_buf_done(&live->due);
	tally_buf_done(&live->later);
	free(live);
}

/* --- windows --- */

/* The time of a trusted record; 0: it has none, or the record cannot be trusted. */
static uint64_t record_time(const struct tally_data *data, const struct tally_record *record)
{
	int event = tally_data_event_of(data, record);
	const struct tally_layout *layout;
	int at;

	if (event < 0 || record->type >= PERF_RECORD_HEADER_ATTR)
		return 0;
	layout = &data->events[event].layout;
	if (record->type == PERF_RECORD_SAMPLE) {
		at = layout->at[TALLY_FIXED_TIME];
		return at >= 0 && file_trusts_sample(&data->trust[event], record)
			   ? load_u64(record->bytes + at)
			   : 0;
	}
	at = layout->trailer_at[TALLY_FIXED_TIME];
	return at > 0 && record->size >= 8 + at ? load_u64(record->bytes + record->size - at) : 0;
}

static struct tally_record record_at(const struct tally_buf *buf, size_t at)
{
	const struct perf_event_header *header = (const void *)(buf->data + at);

	return (struct tally_record){
	    .bytes = buf->data + at,
	    .type = header->type,
	    .misc = header->misc,
	    .size = header->size,
	};
}

/* Finds from the rounds in `taken` the time up to which all records have arrived.  If there is no
 * end of a round, the queue is full, and that counts as one. */
static int take_rounds(struct tally_data *data, bool ended)
{
	struct file_live *live = data->live;
	bool any = false;
	int code = 0;

	for (size_t at = 0; !code && at < live->taken.size;) {
		struct tally_record record = record_at(&live->taken, at);
		uint64_t time;

		at += record.size;
		if (record.type == PERF_RECORD_EVENT_UPDATE) {
			code = tally_file_stream_late(data, record.bytes, record.size);
		} else if (record.type == PERF_RECORD_FINISHED_ROUND) {
			live->passed = live->round;
			live->round = live->youngest;
			any = true;
		} else {
			time = record_time(data, &record);
			live->youngest = time > live->youngest ? time : live->youngest;
		}
	}
	if (!any) {
		live->passed = live->round;
		live->round = live->youngest;
	}
	if (ended)
		live->passed = UINT64_MAX;
	return code;
}

/* Divides records into those that every ring has passed, which are due, and the others, which
 * wait. */
static int share_out(struct tally_data *data, const struct tally_buf *from, struct tally_buf *later)
{
	struct file_live *live = data->live;

	for (size_t at = 0; at < from->size;) {
		struct tally_record record = record_at(from, at);

		at += record.size;
		if (record.type >= PERF_RECORD_HEADER_ATTR)
			continue;
		tally_buf_add(record_time(data, &record) <= live->passed ? &live->due : later,
			      record.bytes, record.size);
	}
	return live->due.failed ? live->due.failed : later->failed;
}

static int make_window(struct tally_data *data, bool ended)
{
	struct file_live *live = data->live;
	struct tally_buf waited = live->later;
	int code = take_rounds(data, ended);

	live->base += live->due.size;
	tally_buf_clear(&live->due);
	live->later = (struct tally_buf){0};
	if (!code)
		code = share_out(data, &waited, &live->later);
	if (!code)
		code = share_out(data, &live->taken, &live->later);
	tally_buf_done(&waited);
	tally_buf_clear(&live->taken);
	data->block_count = data->block_next = 0;
	data->blocks_begun = false;
	return code;
}

/* Whether a window can be made.  The lock is held. */
static bool is_ready(const struct file_live *live, int64_t now)
{
	if (live->ended || live->queue.size >= live->queue_most)
		return true;
	return live->rounds &&
	       (live->queue.size >= live->window_bytes || now - live->taken_at >= live->window_ns);
}

static void swap_bufs(struct tally_buf *one, struct tally_buf *other)
{
	struct tally_buf swap = *one;

	*one = *other;
	*other = swap;
}

/* Waits until a window can be made and takes its records; 0, -EAGAIN, or -errno of reading. */
static int take_queue(struct file_live *live, bool *ret_ended, struct file_live_window *ret)
{
	int64_t until = now_ns() + MOMENT_NS;
	struct timespec at = {until / 1000000000, until % 1000000000};
	int code = 0;

	pthread_mutex_lock(&live->lock);
	while (!is_ready(live, now_ns()) && !code)
		code = pthread_cond_timedwait(&live->came, &live->lock, &at);
	code = is_ready(live, now_ns()) ? live->failed : -EAGAIN;
	if (code != -EAGAIN) {
		swap_bufs(&live->queue, &live->taken);
		live->rounds = 0;
		live->taken_at = now_ns();
		*ret_ended = live->ended;
		ret->dropped = live->dropped;
	}
	pthread_mutex_unlock(&live->lock);
	return code;
}

int tally_live_next(struct tally_data *data, struct file_live_window *ret)
{
	struct file_live *live = data->live;
	uint64_t end;
	int code;

	if (live->done)
		return 0;
	code = take_queue(live, &live->done, ret);
	if (!code)
		code = make_window(data, live->done);
	if (code)
		return code;
	end = live->base + live->due.size;
	if (live->done && live->bad)
		tally_file_damage(data, end, 0,
				  "the stream ends after %llu bytes of records: the next record is "
				  "cut or damaged",
				  (unsigned long long)end);
	ret->passed = live->passed;
	return 1;
}

bool tally_data_is_live(const struct tally_data *data)
{
	return data->live;
}

struct tally_block tally_live_block(const struct tally_data *data)
{
	const struct file_live *live = data->live;

	return (struct tally_block){
	    .bytes = live->due.data,
	    .size = live->due.size,
	    .offset = live->base,
	};
}

int tally_live_kept(const struct tally_data *data, struct tally_buf *to)
{
	struct file_live *live = data->live;
	int code;

	pthread_mutex_lock(&live->lock);
	code = live->recent.most ? tally_recent_copy(&live->recent, to) : -EINVAL;
	pthread_mutex_unlock(&live->lock);
	return code;
}
