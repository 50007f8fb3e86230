/* Writes what can be trusted of a damaged recording to a new file.
 *
 *	./tally_repair DAMAGED NEW */
#include <inttypes.h>
#include <stdio.h>
#include <tally/repair.h>

int main(int argc, char **argv)
{
	const struct tally_repair_options options = {.size = sizeof(options)};
	struct tally_repair_result result = {.size = sizeof(result)};
	struct tally_error error;
	struct tally_data *data;
	int failed;

	if (argc < 3)
		return 2;
	failed = tally_data_open(argv[1], NULL, &data, &error);
	if (!failed) {
		failed = tally_data_repair(data, argv[2], &options, &result, &error);
		tally_data_close(data);
	}
	if (failed)
		fprintf(stderr, "%s\n", error.text);
	else
		printf("%" PRIu64 " records kept, %" PRIu64 " left out\n", result.records,
		       result.unknown + result.untrusted);
	return failed ? 1 : 0;
}
