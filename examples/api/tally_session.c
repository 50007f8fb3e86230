/* Prints how many samples a recording has, and of what time. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/session.h>

int main(int argc, char **argv)
{
	const struct tally_session_counts *counts;
	struct tally_session *session;
	struct tally_error error;
	struct tally_data *data;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	counts = tally_session_counts(session);
	printf("%" PRIu64 " samples in %.3f s, %" PRIu64 " lost\n", counts->samples,
	       (double)(counts->last_time - counts->first_time) / 1e9, counts->lost);
	tally_session_free(session);
	tally_data_close(data);
	return 0;
}
