/* The ten hottest functions of a recording, each with its CPU.  Usage: hottest FILE */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <tally/tally.h>

#define ROWS (1U << 20)
static struct row {
	uint32_t cpu, frame;
	uint64_t period;
} rows[ROWS];

static int take(void *context, unsigned worker, const struct tally_batch *batch)
{
	(void)worker;
	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t cpu = batch->cpu[i], frame = batch->frame[i], tries = 0;
		uint32_t at = (frame * 2654435761U + cpu * 40503U) % ROWS;

		for (; rows[at].frame && (rows[at].frame != frame || rows[at].cpu != cpu);
		     at = (at + 1) % ROWS)
			if (++tries == ROWS)
				return -ENOMEM;
		rows[at].cpu = cpu;
		rows[at].frame = frame;
		rows[at].period += batch->period[i];
		*(uint64_t *)context += batch->period[i];
	}
	return 0;
}

static int by_period(const void *a, const void *b)
{
	uint64_t one = ((const struct row *)a)->period, two = ((const struct row *)b)->period;
	return one < two ? 1 : one > two ? -1 : 0;
}

int main(int argc, char **argv)
{
	uint64_t columns = TALLY_COLUMN_CPU | TALLY_COLUMN_FRAME | TALLY_COLUMN_PERIOD, total = 0;
	/* take() works for one thread. */
	struct tally_sink sink = {sizeof(sink), columns, true, &total, NULL, take, NULL, NULL};
	const struct tally_sink *sinks[] = {&sink};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error;
	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error) ||
	    tally_session_run(session, sinks, 1, &error))
		return fprintf(stderr, "hottest: %s\n", error.text), 1;
	qsort(rows, ROWS, sizeof(rows[0]), by_period);
	for (size_t i = 0; i < 10 && rows[i].frame; i++) {
		struct tally_frame frame = tally_session_frame(session, rows[i].frame);
		printf("%5.2f %%  cpu %-3d %s\n", 100.0 * (double)rows[i].period / (double)total,
		       (int)rows[i].cpu, frame.symbol ? frame.symbol : frame.image_name);
	}
	tally_session_free(session);
	tally_data_close(data);
}
