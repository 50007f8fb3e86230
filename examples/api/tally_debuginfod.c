/* Fetches the debug files that a recording's binaries lack from the servers of DEBUGINFOD_URLS. */
#include <stdio.h>
#include <tally/debuginfod.h>

static int show(void *context, const char *binary, uint64_t done, uint64_t total)
{
	(void)context;
	fprintf(stderr, "%s: %llu of %llu bytes\n", binary, (unsigned long long)done,
		(unsigned long long)total);
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "perf.data";
	const struct tally_debuginfod_options options = {
	    .size = sizeof(options), .lines = true, .seconds = 30, .progress = show};
	struct tally_debuginfod_result result = {.size = sizeof(result)};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error;

	if (!tally_debuginfod_is_set())
		puts("DEBUGINFOD_URLS names no server");
	if (tally_data_open(path, NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error) ||
	    tally_debuginfod_fetch(session, &options, &result, &error))
		fprintf(stderr, "%s\n", error.text);
	printf("%u files are lacking, %u fetched\n", result.wanted, result.fetched);
	tally_session_free(session);
	tally_data_close(data);
	return 0;
}
