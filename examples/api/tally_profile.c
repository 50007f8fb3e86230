/* Prints the share of each command in the samples of a recording. */
#include <stdio.h>
#include <tally/profile.h>

int main(int argc, char **argv)
{
	const char *const keys[] = {"comm"};
	const struct tally_profile_options options = {
	    .size = sizeof(options), .keys = keys, .key_count = 1};
	struct tally_profile_event event = {.size = sizeof(event)};
	struct tally_profile_row row = {.size = sizeof(row)};
	struct tally_session *session;
	struct tally_profile *profile;
	struct tally_error error;
	struct tally_data *data;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error) ||
	    tally_profile_new(session, &options, &profile, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	tally_profile_event(profile, 0, &event);
	for (uint64_t i = 0; !tally_profile_row(profile, 0, i, &row); i++)
		printf("%5.1f %% %s\n", 100 * (double)row.self / (double)event.total, row.comm);
	tally_profile_free(profile);
	tally_session_free(session);
	tally_data_close(data);
	return 0;
}
