/* Prints the report of a recording: functions by their share of the samples. */
#include <stdio.h>
#include <tally/report.h>

int main(int argc, char **argv)
{
	const char *const keys[] = {"comm", "dso", "symbol"};
	const struct tally_profile_options rows = {
	    .size = sizeof(rows), .keys = keys, .key_count = 3};
	const struct tally_report_options options = {.size = sizeof(options), .percent_limit = 1};
	struct tally_session *session;
	struct tally_profile *profile;
	struct tally_error error;
	struct tally_data *data;
	int result;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error) ||
	    tally_profile_new(session, &rows, &profile, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	result = tally_report_write(profile, &options, stdout);
	tally_profile_free(profile);
	tally_session_free(session);
	tally_data_close(data);
	return result ? 1 : 0;
}
