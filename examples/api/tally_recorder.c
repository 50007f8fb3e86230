/* Records a command into a file.
 *
 *	./tally_recorder FILE COMMAND [ARGUMENT...] */
#include <inttypes.h>
#include <stdio.h>
#include <tally/recorder.h>

int main(int argc, char **argv)
{
	struct tally_recorder_options options = {.size = sizeof(options), .frequency = 1000};
	struct tally_recorder_result result = {.size = sizeof(result)};
	struct tally_recorder *recorder = NULL;
	struct tally_error error;

	if (argc < 3)
		return 2;
	options.output = argv[1];
	options.command = argv + 2;
	if (tally_recorder_new(&options, &recorder, &error) ||
	    tally_recorder_run(recorder, &result, &error)) {
		fprintf(stderr, "%s\n", error.text);
		tally_recorder_free(recorder);
		return 1;
	}
	printf("%" PRIu64 " samples in %s\n", result.samples, argv[1]);
	tally_recorder_free(recorder);
	return 0;
}
