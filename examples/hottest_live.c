/* The hottest function of each second, while a command runs.  Usage: hottest_live COMMAND... */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <tally/tally.h>

#define FRAMES (1U << 20)
#define SECOND 1000000000ULL
static uint64_t periods[FRAMES], until;

static void show(struct tally_session *session)
{
	uint64_t total = 0;
	uint32_t best = 0;
	struct tally_frame frame;

	for (uint32_t i = 1; i < FRAMES; i++) {
		best = periods[i] > periods[best] ? i : best;
		total += periods[i];
	}
	if (!best)
		return;
	frame = tally_session_frame(session, best);
	printf("%3.0f %%  %s\n", 100.0 * (double)periods[best] / (double)total,
	       frame.symbol ? frame.symbol : frame.image_name);
	fflush(stdout);
	memset(periods, 0, sizeof(periods));
}

static int take(void *context, unsigned worker, const struct tally_batch *batch)
{
	(void)worker;
	for (uint32_t i = 0; i < batch->count; i++) {
		if (batch->frame[i] >= FRAMES)
			return -ENOMEM;
		if (batch->time[i] >= until) {
			show(*(struct tally_session **)context);
			until = batch->time[i] + SECOND;
		}
		periods[batch->frame[i]] += batch->period[i];
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t columns = TALLY_COLUMN_TIME | TALLY_COLUMN_FRAME | TALLY_COLUMN_PERIOD;
	struct tally_session *session = NULL;
	/* In the order of time, and so for one thread. */
	struct tally_sink sink = {sizeof(sink), columns, true, &session, NULL, take, NULL, NULL};
	const struct tally_sink *sinks[] = {&sink};
	static struct tally_recorder_options options;
	static struct tally_recorder_result result;
	struct tally_recorder *recorder = NULL;
	struct tally_data *data = NULL;
	struct tally_error error;

	if (argc < 2)
		return fprintf(stderr, "usage: hottest_live COMMAND...\n"), 2;
	result.size = sizeof(result);
	options.size = sizeof(options);
	options.command = argv + 1;
	if (tally_recorder_new(&options, &recorder, &error) ||
	    signal(SIGINT, SIG_IGN) == SIG_ERR || /* it ends the command, and so the recording */
	    tally_recorder_start(recorder, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error) ||
	    tally_session_run(session, sinks, 1, &error) ||
	    tally_recorder_finish(recorder, &result, &error))
		return fprintf(stderr, "hottest_live: %s\n", error.text), 1;
	show(session);
	if (result.lost || tally_session_counts(session)->dropped)
		fprintf(stderr, "hottest_live: %llu samples were lost, %llu dropped\n",
			(unsigned long long)result.lost,
			(unsigned long long)tally_session_counts(session)->dropped);
	tally_session_free(session);
	tally_data_close(data);
	tally_recorder_free(recorder);
}
