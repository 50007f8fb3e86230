/* Writes a recording as folded stacks, for a flame graph. */
#include <stdio.h>
#include <tally/export.h>

int main(int argc, char **argv)
{
	const struct tally_export_options options = {.size = sizeof(options), .format = "folded"};
	struct tally_session_options needs = {.size = sizeof(needs)};
	struct tally_export_result made = {.size = sizeof(made)};
	struct tally_session *session;
	struct tally_error error;
	struct tally_data *data;
	int status = 1;

	tally_export_session_options(options.format, &needs);
	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	if (!tally_session_new(data, &needs, &session, &error)) {
		status = tally_export_write(session, &options, stdout, &made, &error) != 0;
		tally_session_free(session);
	}
	if (status)
		fprintf(stderr, "%s\n", error.text);
	else
		fprintf(stderr, "%llu samples\n", (unsigned long long)made.samples);
	tally_data_close(data);
	return status;
}
