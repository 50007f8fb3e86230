/* From the spool to the server: several profiles in a request, tried again while the server is away
 * or busy, one by one when it refuses some. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "push/push.h"
#include "push/series.h"

#define REQUEST_BYTES ((uint64_t)4 << 20) /* of several profiles; a larger one is sent alone */
#define WAIT_FIRST    0.25                /* s */
#define WAIT_MOST     30.0
#define LOOK_NS       50000000L /* how often it looks for an interruption */
#define HEAD_SIZE     16

struct sending {
	struct tally_push *push;
	struct push_entry *list; /* the oldest first */
	size_t count, at;
	size_t batch;    /* entries of this request */
	size_t alone;    /* entries that are sent one by one */
	double deadline; /* of trying again; s */
	double wait;     /* before the next attempt */
	unsigned failures;
	/* The body: which entry is read, and its file. */
	size_t part;
	int fd;
	struct http_answer answer;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int pause_for(const struct tally_push *push, double seconds)
{
	double end = now() + seconds;

	while (now() < end) {
		struct timespec slice = {.tv_nsec = LOOK_NS};

		if (end - now() < (double)LOOK_NS / 1e9)
			slice.tv_nsec = (long)((end - now()) * 1e9);
		if (push->options.progress && push->options.progress(push->options.context))
			return -ECANCELED;
		if (slice.tv_nsec > 0)
			nanosleep(&slice, NULL);
	}
	return 0;
}

/* --- the body --- */

static void close_part(struct sending *sending)
{
	if (sending->fd >= 0)
		close(sending->fd);
	sending->fd = -1;
}

static int rewind_body(void *context)
{
	struct sending *sending = context;

	close_part(sending);
	sending->part = 0;
	return 0;
}

static int64_t read_body(void *context, uint8_t *to, size_t room)
{
	struct sending *sending = context;

	while (sending->part < sending->batch) {
		const struct push_entry *entry = &sending->list[sending->at + sending->part];
		uint64_t size;
		ssize_t got;

		if (sending->fd < 0)
			sending->fd =
			    tally_push_spool_read(&sending->push->spool, entry->name, &size);
		if (sending->fd < 0)
			return sending->fd;
		got = read(sending->fd, to, room);
		if (got > 0)
			return got;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got) {
			close_part(sending);
			sending->part++;
		}
	}
	return 0;
}

/* --- entries --- */

static int forget(struct sending *sending, size_t index)
{
	int result =
	    tally_push_spool_remove(&sending->push->spool, sending->list[sending->at + index].name);

	return result == -ENOENT ? 0 : result;
}

/* 1: it can be sent; 0: it is gone, or was damaged and dropped; -errno. */
static int check_entry(struct sending *sending, const struct push_entry *entry)
{
	struct tally_push *push = sending->push;
	uint8_t head[HEAD_SIZE];
	uint64_t size;
	ssize_t got;
	int fd = tally_push_spool_read(&push->spool, entry->name, &size), result;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	got = pread(fd, head, sizeof(head), 0);
	result = got < 0 ? -errno : 0;
	close(fd);
	if (result)
		return result;
	if (size == entry->size && tally_push_series_is_whole(head, (size_t)got, size))
		return 1;
	push->sum.dropped++;
	tally_push_say(push, "%s/%s is damaged: dropped", push->spool_path, entry->name);
	result = tally_push_spool_remove(&push->spool, entry->name);
	return result == -ENOENT ? 0 : result;
}

/* Chooses the entries of the next request, and returns its size; 0: there is none; -errno. */
static int64_t choose_batch(struct sending *sending)
{
	size_t most = sending->alone ? 1 : sending->push->options.batch;
	uint64_t bytes = 0;

	sending->batch = 0;
	while (sending->batch < most && sending->at + sending->batch < sending->count) {
		const struct push_entry *entry = &sending->list[sending->at + sending->batch];
		int usable;

		if (sending->batch && bytes + entry->size > REQUEST_BYTES)
			break;
		usable = check_entry(sending, entry);
		if (usable < 0)
			return usable;
		if (!usable) {
			/* What was chosen before moves over its place. */
			memmove(&sending->list[sending->at + 1], &sending->list[sending->at],
				sending->batch * sizeof(*sending->list));
			sending->at++;
			if (sending->alone && !--sending->alone)
				most = sending->push->options.batch;
			continue;
		}
		bytes += entry->size;
		sending->batch++;
	}
	return (int64_t)bytes;
}

/* --- what the server says --- */

enum verdict { TAKEN, AGAIN, REFUSED, NEVER };

/* Source: RFC 9110 for the statuses; those of the Connect protocol's errors are among them. */
static enum verdict judge(const struct http_answer *answer)
{
	unsigned status = answer->status;

	if (!status)
		return answer->settings ? NEVER : AGAIN;
	if (status >= 200 && status < 300)
		return TAKEN;
	switch (status) {
	case 408:
	case 425:
	case 429:
		return AGAIN;
	case 401:
	case 402:
	case 403:
	case 404:
	case 405:
	case 407:
	case 501:
	case 505:
		return NEVER;
	default:
		return status >= 500 ? AGAIN : status >= 400 ? REFUSED : NEVER;
	}
}

static void describe(const struct http_answer *answer, char *to, size_t room)
{
	if (answer->status)
		snprintf(to, room, "it answers %u%s%s", answer->status, *answer->why ? ": " : "",
			 answer->why);
	else
		snprintf(to, room, "%s", answer->why);
	to[strcspn(to, "\r\n")] = '\0';
}

static int take_taken(struct sending *sending)
{
	struct tally_push *push = sending->push;

	for (size_t i = 0; i < sending->batch; i++) {
		int result = forget(sending, i);

		if (result)
			return result;
		push->sum.sent++;
		push->sum.bytes += sending->list[sending->at + i].size;
	}
	sending->at += sending->batch;
	if (sending->alone)
		sending->alone--;
	sending->failures = 0;
	sending->deadline = 0;
	sending->wait = WAIT_FIRST;
	return 0;
}

/* Of several, the one that it does not take is found by sending them one by one. */
static int take_refused(struct sending *sending)
{
	struct tally_push *push = sending->push;
	char why[HTTP_WHY_SIZE + 32];
	int result;

	if (sending->batch > 1) {
		sending->alone = sending->batch;
		return 0;
	}
	describe(&sending->answer, why, sizeof(why));
	tally_push_say(push, "the server refuses a profile of %llu bytes, which is lost: %s",
		       (unsigned long long)sending->list[sending->at].size, why);
	result = forget(sending, 0);
	push->sum.refused++;
	sending->at++;
	if (sending->alone)
		sending->alone--;
	return result;
}

/* Waits before the next attempt: twice as long each time, and not as long as others that began at
 * the same time, unless the server says how long.  -EAGAIN: there is no time left. */
static int wait_again(struct sending *sending, struct tally_error *error)
{
	struct tally_push *push = sending->push;
	double start = now(), wait = sending->wait;
	char why[HTTP_WHY_SIZE + 32];

	describe(&sending->answer, why, sizeof(why));
	if (!sending->failures++)
		sending->deadline = start + push->options.retry;
	wait *= 0.75 + 0.5 * (double)(random() % 1000) / 1000;
	if (sending->answer.retry_after > wait)
		wait = sending->answer.retry_after;
	if (start + wait > sending->deadline)
		return tally_fail(error, -EAGAIN, -1, "%.200s: %s", push->url, why);
	if (sending->failures == 1)
		tally_push_say(push, "%s: %s; trying again for up to %.0f s", push->url, why,
			       push->options.retry);
	sending->wait = sending->wait * 2 < WAIT_MOST ? sending->wait * 2 : WAIT_MOST;
	return pause_for(push, wait);
}

static int send_batch(struct sending *sending, uint64_t size, struct tally_error *error)
{
	const struct http_body body = {
	    .size = size, .read = read_body, .rewind = rewind_body, .context = sending};
	struct tally_push *push = sending->push;
	char why[HTTP_WHY_SIZE + 32];
	int result = tally_http_post(push->client, &body, &sending->answer);

	close_part(sending);
	push->sum.requests++;
	if (result && result != -EAGAIN)
		return result;
	switch (judge(&sending->answer)) {
	case TAKEN:
		return take_taken(sending);
	case REFUSED:
		return take_refused(sending);
	case NEVER:
		describe(&sending->answer, why, sizeof(why));
		return tally_fail(error, -EACCES, -1, "%.200s: %s", push->url, why);
	default:
		return wait_again(sending, error);
	}
}

/* All entries of a list. */
static int send_list(struct sending *sending, struct tally_error *error)
{
	int result = 0;

	while (sending->at < sending->count && !result) {
		int64_t size = choose_batch(sending);

		if (size < 0)
			result = (int)size;
		else if (sending->batch)
			result = send_batch(sending, (uint64_t)size, error);
		/* Another process made room for its own. */
		if (result == -ENOENT)
			result = 0;
	}
	return result;
}

static int send_all(struct sending *sending, struct tally_error *error)
{
	int result;

	do {
		result =
		    tally_push_spool_list(&sending->push->spool, &sending->list, &sending->count);
		sending->at = 0;
		if (!result && sending->count)
			result = send_list(sending, error);
		free(sending->list);
		sending->list = NULL;
	} while (!result && sending->count);
	return result;
}

/* Waits until no other process sends. */
static int lock(struct tally_push *push)
{
	double deadline = now() + push->options.retry;
	int result;

	while ((result = tally_push_spool_lock(&push->spool)) == -EWOULDBLOCK && now() < deadline) {
		result = pause_for(push, 2 * (double)LOOK_NS / 1e9);
		if (result)
			return result;
	}
	return result;
}

int tally_push_send(struct tally_push *push, struct tally_push_result *ret,
		    struct tally_error *error)
{
	struct sending sending = {.push = push, .fd = -1, .wait = WAIT_FIRST};
	struct tally_error said = {.code = 0};
	struct push_entry *left = NULL;
	size_t count = 0;
	int result = lock(push), sized;

	if (result == -EWOULDBLOCK)
		result = tally_fail(&said, -EAGAIN, -1, "another process sends what %s contains",
				    push->spool_path);
	else if (!result)
		result = send_all(&sending, &said);
	tally_push_spool_unlock(&push->spool);
	if (result == -ECANCELED)
		tally_fail(&said, result, -1, "interrupted");
	else if (result && !said.code)
		tally_fail(&said, result, -1, "the spool %s: %s", push->spool_path,
			   strerror(-result));
	if (!tally_push_spool_list(&push->spool, &left, &count))
		free(left);
	push->sum.left = count;
	if (result && error)
		*error = said;
	sized = tally_result_copy(ret, sizeof(push->sum), &push->sum);
	return result ? result : sized;
}
