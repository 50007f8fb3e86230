/* Prints the share of each binary in a folder of tables, as `tally export --to parquet` or a query
 * made it. */
#include <stdio.h>
#include <tally/fleet.h>
#include <tally/profile.h>
#include <tally/report.h>

int main(int argc, char **argv)
{
	static const char *const keys[] = {"dso"};
	const struct tally_session_options needs = {.size = sizeof(needs)};
	const struct tally_profile_options profiled = {
	    .size = sizeof(profiled), .keys = keys, .key_count = 1};
	const struct tally_report_options shown = {.size = sizeof(shown)};
	struct tally_profile *profile = NULL;
	struct tally_session *session = NULL;
	struct tally_fleet *fleet = NULL;
	struct tally_error error = {0};
	int result;

	if (argc < 2 || !tally_fleet_is_folder(argv[1])) {
		fprintf(stderr, "give a folder of tables\n");
		return 1;
	}
	result = tally_fleet_open(argv[1], &fleet, &error);
	if (!result)
		result = tally_session_new(tally_fleet_data(fleet), &needs, &session, &error);
	if (!result)
		result = tally_fleet_attach(fleet, session, &error);
	if (!result)
		result = tally_profile_new(session, &profiled, &profile, &error);
	if (!result)
		result = tally_report_write(profile, &shown, stdout);
	else
		fprintf(stderr, "%s\n", error.text);
	tally_profile_free(profile);
	tally_session_free(session);
	tally_fleet_close(fleet);
	return result != 0;
}
