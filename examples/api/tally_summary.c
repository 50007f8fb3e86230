/* Prints all that is known of a recording. */
#include <stdio.h>
#include <tally/summary.h>

int main(int argc, char **argv)
{
	struct tally_summary *summary;
	struct tally_error error;
	struct tally_data *data;
	int result;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_summary_new(data, NULL, &summary, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	result = tally_info_text(data, summary, stdout);
	tally_summary_free(summary);
	tally_data_close(data);
	return result ? 1 : 0;
}
