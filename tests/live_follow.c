/* The last profile that a growing stream on standard input gives, as CSV; on standard error how
 * many there were. */
#include <stdio.h>
#include <tally/tally.h>

struct last {
	struct tally_profile *profile;
	unsigned count;
};

static int take(void *context, struct tally_profile *profile)
{
	struct last *last = context;

	tally_profile_free(last->profile);
	last->profile = profile;
	last->count++;
	return 0;
}

int main(void)
{
	static const char *const keys[] = {"comm", "dso", "symbol"};
	struct last last = {0};
	const struct tally_data_options from = {.size = sizeof(from), .live = true};
	const struct tally_session_options with = {.size = sizeof(with), .functions = true};
	const struct tally_profile_options options = {
	    .size = sizeof(options),
	    .keys = keys,
	    .key_count = 3,
	    .callchains = true,
	    .children = true,
	};
	const struct tally_profile_live live = {
	    .size = sizeof(live),
	    .interval = 50000000,
	    .keep = 128,
	    .take = take,
	    .context = &last,
	};
	const struct tally_report_options csv = {.size = sizeof(csv), .format = "csv"};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error = {0};

	if (tally_data_open("-", &from, &data, &error) ||
	    tally_session_new(data, &with, &session, &error) ||
	    tally_profile_follow(session, &options, &live, &error) ||
	    tally_report_write(last.profile, &csv, stdout))
		return fprintf(stderr, "live_follow: %s\n", error.text), 1;
	fprintf(stderr, "%u profiles\n", last.count);
	tally_profile_free(last.profile);
	tally_session_free(session);
	tally_data_close(data);
	return 0;
}
