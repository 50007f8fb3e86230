/* Samples and periods by event, thread's name, function and depth of the stack, of a recording; of
 * standard input while it grows ("-").  Usage: live_sums FILE|- [order] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

#define SUMS_MOST 65536U

struct sums {
	struct tally_session *session;
	bool in_order;
	uint64_t last, passed; /* times */
	uint32_t count;
	struct sum {
		char *key;
		uint64_t samples, period;
	} list[SUMS_MOST];
};

static int add(struct sums *sums, const struct tally_batch *batch, uint32_t row)
{
	struct tally_frame frame = tally_session_frame(sums->session, batch->frame[row]);
	struct tally_thread thread = {.size = sizeof(thread)};
	struct tally_stack stack;
	unsigned depth = 0;
	uint32_t at;
	char *key;

	for (uint32_t node = batch->stack[row];
	     node && !tally_session_stack(sums->session, node, &stack); node = stack.caller)
		depth++;
	if (tally_session_thread(sums->session, batch->thread[row], &thread) ||
	    asprintf(&key, "%u %s %s %s %u", batch->event[row], thread.comm, frame.image_name,
		     frame.symbol ? frame.symbol : "-", depth) < 0)
		return -1;
	for (at = 0; at < sums->count && strcmp(sums->list[at].key, key) != 0; at++)
		;
	if (at == SUMS_MOST)
		return -1;
	if (at == sums->count)
		sums->list[sums->count++].key = key;
	else
		free(key);
	sums->list[at].samples++;
	sums->list[at].period += batch->period[row];
	return 0;
}

static int take(void *context, unsigned worker, const struct tally_batch *batch)
{
	struct sums *sums = context;
	int result = 0;

	(void)worker;
	for (uint32_t i = 0; i < batch->count && !result; i++) {
		uint64_t time = batch->time[i];

		if (time <= sums->passed || (sums->in_order && time < sums->last)) {
			fprintf(stderr, "live_sums: a sample comes too late\n");
			return -1;
		}
		sums->last = time;
		result = add(sums, batch, i);
	}
	return result;
}

static int pass(void *context, uint64_t time)
{
	struct sums *sums = context;

	sums->passed = time;
	return 0;
}

static int by_key(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	return strcmp(a->key, b->key);
}

int main(int argc, char **argv)
{
	static struct sums sums;
	const struct tally_data_options live = {.size = sizeof(live), .live = true};
	const struct tally_session_options options = {.size = sizeof(options), .threads = 1};
	struct tally_sink sink = {
	    .size = sizeof(sink),
	    .columns = TALLY_COLUMN_TIME | TALLY_COLUMN_THREAD | TALLY_COLUMN_FRAME |
		       TALLY_COLUMN_STACK | TALLY_COLUMN_PERIOD,
	    .in_order = argc > 2,
	    .context = &sums,
	    .batch = take,
	    .passed = pass,
	};
	const struct tally_sink *const sinks[] = {&sink};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error = {0};

	sums.in_order = argc > 2;
	if (argc < 2 || tally_data_open(argv[1], &live, &data, &error) ||
	    tally_session_new(data, &options, &session, &error) || !(sums.session = session) ||
	    tally_session_run(session, sinks, 1, &error)) {
		fprintf(stderr, "live_sums: %s\n", error.text);
		return 1;
	}
	qsort(sums.list, sums.count, sizeof(*sums.list), by_key);
	for (uint32_t i = 0; i < sums.count; i++)
		printf("%s %llu %llu\n", sums.list[i].key, (unsigned long long)sums.list[i].samples,
		       (unsigned long long)sums.list[i].period);
	fprintf(stderr, "%s, %llu dropped\n", sums.passed ? "in windows" : "at once",
		(unsigned long long)tally_session_counts(session)->dropped);
	tally_session_free(session);
	tally_data_close(data);
	return 0;
}
