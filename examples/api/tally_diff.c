/* Prints the functions that changed between two recordings by more than chance. */
#include <stdio.h>
#include <tally/diff.h>

static struct tally_profile *profile_of(const char *path)
{
	static const char *const keys[] = {"dso", "symbol"};
	const struct tally_profile_options rows = {
	    .size = sizeof(rows), .keys = keys, .key_count = 2};
	struct tally_session *session;
	struct tally_profile *profile;
	struct tally_error error;
	struct tally_data *data;

	if (!tally_data_open(path, NULL, &data, &error) &&
	    !tally_session_new(data, NULL, &session, &error) &&
	    !tally_profile_new(session, &rows, &profile, &error))
		return profile;
	fprintf(stderr, "%s\n", error.text);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct tally_diff_options options = {
	    .size = sizeof(options), .order_by = 1, .noise = 3};
	struct tally_profile *profiles[2];
	struct tally_diff_cell cell = {.size = sizeof(cell)};
	struct tally_error error;
	struct tally_diff *diff;

	profiles[0] = profile_of(argc > 1 ? argv[1] : "perf.data");
	profiles[1] = profile_of(argc > 2 ? argv[2] : "perf.data");
	if (!profiles[0] || !profiles[1])
		return 1;
	if (tally_diff_new(profiles, 2, &options, &diff, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (size_t row = 0; !tally_diff_cell(diff, 0, row, 1, &cell); row++)
		if (cell.significant)
			printf("%+6.2f%% %s\n", cell.change, tally_diff_key(diff, 0, row, 1));
	tally_diff_free(diff);
	return 0; /* the system takes the rest */
}
