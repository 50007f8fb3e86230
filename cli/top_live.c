#include "top_live.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "stack_room.h"

/* More call stacks than this, some 64 MB, or so much more memory than at the start, and the session
 * begins anew.  A table takes as much again at most while it is made: tally-top(1) states the sum.
 */
#define STACKS_MOST (4U << 20)
#define MEMORY_MOST ((size_t)128 << 20)
/* Memory is given back to the kernel when so much of it is not in use; binaries are a third of
 * that. */
#define UNUSED_MOST ((size_t)48 << 20)
/* Of these sizes memory is not among other memory, and goes back as soon as it is freed. */
#define LARGE (4 << 20)
/* As perf: an older sample counts seven eighths at each refresh. */
#define FADING 112U

static const char *const thread_keys[] = {"tid"};
static const char *const image_keys[] = {"dso"};

void top_live_init(struct top_live *live)
{
#ifdef __GLIBC__
	/* Each thread's own arena would keep what the thread freed, and so would the heap: its
	 * bound of what is large grows. These are settings of the process, so they are not the
	 * library's. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
	pthread_mutex_init(&live->lock, NULL);
	pthread_cond_init(&live->changed, NULL);
}

void top_live_done(struct top_live *live)
{
	pthread_cond_destroy(&live->changed);
	pthread_mutex_destroy(&live->lock);
}

/* Bytes that are in memory; 0: unknown. */
static size_t memory_now(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;
	char line[128], *second;

	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file)) { /* pages in all, pages in memory, ... */
		second = strchr(line, ' ');
		pages = second ? strtoul(second, NULL, 10) : 0;
	}
	fclose(file);
	return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Gives back what profiles were made of.  The bytes that are in memory then. */
static size_t give_back(void)
{
	size_t memory = memory_now();
#ifdef __GLIBC__
	const struct mallinfo2 info = mallinfo2();

	if (memory > info.uordblks + info.hblkhd + UNUSED_MOST) {
		malloc_trim(0);
		memory = memory_now();
	}
#endif
	return memory;
}

/* --- the thread that adds up --- */

static int take_profile(void *context, struct tally_profile *profile)
{
	struct top_live *live = context;
	size_t memory = give_back();
	int result;

	if (!live->memory)
		live->memory = memory;
	pthread_mutex_lock(&live->lock);
	tally_profile_free(live->next);
	live->next = profile;
	live->made = live->making;
	live->full = tally_session_stack_count(live->session) > STACKS_MOST ||
		     memory > live->memory + MEMORY_MOST;
	result = live->full || *live->stop ? -ECANCELED : 0;
	pthread_cond_signal(&live->changed);
	pthread_mutex_unlock(&live->lock);
	return result;
}

static void choose(void *context, struct tally_profile_shown *shown)
{
	struct top_live *live = context;

	pthread_mutex_lock(&live->lock);
	live->making = live->want;
	live->asked = false;
	if (live->zero)
		shown->keep = 0;
	pthread_mutex_unlock(&live->lock);
	switch (live->making.part) {
	case BROWSER_FUNCTIONS:
		shown->keys = live->keys;
		shown->key_count = live->key_count;
		break;
	case BROWSER_THREADS:
		shown->keys = thread_keys;
		shown->key_count = 1;
		break;
	case BROWSER_IMAGES:
		shown->keys = image_keys;
		shown->key_count = 1;
		break;
	case BROWSER_STACKS:
		shown->key_count = 0;
		break;
	}
	if (live->making.one_thread) {
		shown->only_key = "tid";
		shown->only_value = live->making.tid;
	}
}

static bool wanted(void *context)
{
	struct top_live *live = context;
	bool asked;

	pthread_mutex_lock(&live->lock);
	asked = live->asked;
	pthread_mutex_unlock(&live->lock);
	return asked;
}

static void *follow(void *context)
{
	struct top_live *live = context;
	struct tally_profile_options options = live->profile_options;
	const struct tally_profile_live how = {
	    .size = sizeof(how),
	    .interval = (uint64_t)(live->delay * 1e9),
	    .keep = FADING,
	    .take = take_profile,
	    .context = live,
	    .choose = choose,
	    .wanted = wanted,
	};
	struct tally_error error = {0};
	int result;

	options.keys = live->all_keys;
	options.key_count = live->all_count;
	result = tally_profile_follow(live->session, &options, &how, &error);
	pthread_mutex_lock(&live->lock);
	live->ended = true;
	live->result = result;
	live->error = error;
	pthread_cond_signal(&live->changed);
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

/* --- a session's life --- */

static bool has_key(const struct top_live *live, const char *key)
{
	for (size_t i = 0; i < live->all_count; i++)
		if (!strcmp(live->all_keys[i], key))
			return true;
	return false;
}

static void add_keys(struct top_live *live)
{
	static const char *const needed[] = {"tid", "dso"};

	memcpy(live->all_keys, live->keys, live->key_count * sizeof(*live->keys));
	live->all_count = live->key_count;
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!has_key(live, needed[i]))
			live->all_keys[live->all_count++] = needed[i];
}

int top_live_begin(struct top_live *live, struct tally_error *error)
{
	int result = tally_recorder_new(&live->record, &live->recorder, error);

	if (!result)
		result = tally_recorder_start(live->recorder, &live->data, error);
	if (!result)
		result =
		    tally_session_new(live->data, &live->session_options, &live->session, error);
	live->ended = live->full = false;
	live->result = 0;
	live->memory = 0;
	add_keys(live);
	if (!result && cli_thread_start(&live->thread, follow, live)) {
		error->code = result = -EAGAIN;
		snprintf(error->text, sizeof(error->text), "cannot start a thread");
	}
	live->runs = !result;
	return result;
}

void top_live_end(struct top_live *live)
{
	struct tally_recorder_result result = {.size = sizeof(result)};
	struct tally_error error;

	if (live->recorder)
		tally_recorder_stop(live->recorder, 0);
	if (live->runs)
		pthread_join(live->thread, NULL);
	live->runs = false;
	tally_profile_free(live->next);
	live->next = NULL;
	tally_session_free(live->session);
	live->session = NULL;
	tally_data_close(live->data);
	if (live->data)
		tally_recorder_finish(live->recorder, &result, &error);
	live->data = NULL;
	tally_recorder_free(live->recorder);
	live->recorder = NULL;
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

void top_live_ask(struct top_live *live, const struct browser_want *want, bool soon)
{
	pthread_mutex_lock(&live->lock);
	live->want = *want;
	live->asked = soon;
	pthread_mutex_unlock(&live->lock);
}

void top_live_set_zero(struct top_live *live, bool zero)
{
	pthread_mutex_lock(&live->lock);
	live->zero = zero;
	pthread_mutex_unlock(&live->lock);
}

struct tally_profile *top_live_next(struct top_live *live, struct browser_want *ret)
{
	struct tally_profile *next;

	pthread_mutex_lock(&live->lock);
	next = live->next;
	live->next = NULL;
	*ret = live->made;
	pthread_mutex_unlock(&live->lock);
	return next;
}

bool top_live_wait(struct top_live *live)
{
	struct timespec until;
	bool more;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_lock(&live->lock);
	if (!live->next && !live->ended)
		pthread_cond_timedwait(&live->changed, &live->lock, &until);
	more = !live->ended || live->next;
	pthread_mutex_unlock(&live->lock);
	return more;
}

bool top_live_is_over(struct top_live *live)
{
	bool over;

	pthread_mutex_lock(&live->lock);
	over = live->ended && !live->next;
	pthread_mutex_unlock(&live->lock);
	return over;
}
