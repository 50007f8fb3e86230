/* Prints the counts of a recording of `stat record`, a table for each round. */
#include <stdio.h>
#include <tally/data.h>
#include <tally/stat.h>
#include <tally/stat_rounds.h>

static int print_rounds(struct tally_stat_rounds *rounds, struct tally_error *error)
{
	struct tally_stat_round round = {.size = sizeof(round)};
	const struct tally_stat_text_options text = {.size = sizeof(text)};
	struct tally_stat *stat = NULL;
	uint64_t before = 0;
	int got;

	while ((got = tally_stat_rounds_next(rounds, &round, error)) > 0) {
		const struct tally_stat_times times = {.elapsed = round.time - before};

		if (!stat && tally_stat_new(tally_stat_rounds_options(rounds), &stat, error))
			return -1;
		tally_stat_interval(stat, round.counts, &times);
		tally_stat_text(stat, &text, stdout);
		before = round.time;
	}
	tally_stat_free(stat);
	return got;
}

int main(int argc, char **argv)
{
	struct tally_stat_rounds *rounds;
	struct tally_data *data;
	struct tally_error error;
	int status;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	status = tally_stat_rounds_new(data, &rounds, &error);
	if (!status) {
		status = print_rounds(rounds, &error);
		tally_stat_rounds_free(rounds);
	}
	if (status)
		fprintf(stderr, "%s\n", error.text);
	tally_data_close(data);
	return status != 0;
}
