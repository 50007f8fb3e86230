/* Prints the events of a recording with their sampling rates. */
#include <stdio.h>
#include <tally/evlist.h>

int main(int argc, char **argv)
{
	const struct tally_evlist_options options = {.size = sizeof(options), .freq = true};
	struct tally_error error;
	struct tally_data *data;
	int result;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	result = tally_evlist_text(data, &options, stdout);
	tally_data_close(data);
	return result ? 1 : 0;
}
