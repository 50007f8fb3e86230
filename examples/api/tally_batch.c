/* Adds up the periods of a recording's samples by command. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/batch.h>
#include <tally/session.h>

struct sums {
	const struct tally_session *session;
	struct {
		char comm[32];
		uint64_t period;
	} of[64];
	size_t count;
};

/* Called by one thread at a time, as the sink takes samples in order. */
static int add(void *context, unsigned worker, const struct tally_batch *batch)
{
	struct tally_thread thread = {.size = sizeof(thread)};
	struct sums *sums = context;
	size_t at;

	(void)worker;
	for (uint32_t row = 0; row < batch->count; row++) {
		if (tally_session_thread(sums->session, batch->thread[row], &thread))
			continue;
		for (at = 0; at < sums->count; at++)
			if (!strcmp(sums->of[at].comm, thread.comm))
				break;
		if (at == 64)
			continue;
		if (at == sums->count)
			snprintf(sums->of[sums->count++].comm, 32, "%.31s", thread.comm);
		sums->of[at].period += batch->period[row];
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	const struct tally_sink sink = {.size = sizeof(sink),
					.columns = TALLY_COLUMN_THREAD | TALLY_COLUMN_PERIOD,
					.in_order = true,
					.context = sums,
					.batch = add};
	const struct tally_sink *const sinks[] = {&sink};
	struct tally_session *session;
	struct tally_error error;
	struct tally_data *data;

	if (!sums || tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error)) {
		fprintf(stderr, "%s\n", sums ? error.text : "out of memory");
		return 1;
	}
	sums->session = session;
	if (tally_session_run(session, sinks, 1, &error))
		fprintf(stderr, "%s\n", error.text);
	for (size_t i = 0; i < sums->count; i++)
		printf("%s %" PRIu64 "\n", sums->of[i].comm, sums->of[i].period);
	tally_session_free(session);
	tally_data_close(data);
	free(sums);
	return 0;
}
