/* Adds functions and lines to a folder of tables that `tally export --to parquet --no-symbols`
 * made, and prints the build-ids of binaries that are missing. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/symbolize.h>

int main(int argc, char **argv)
{
	struct tally_session_options needs = {.size = sizeof(needs), .inlines = true};
	struct tally_symbolizer_result done = {.size = sizeof(done)};
	struct tally_symbolizer_build build = {.size = sizeof(build)};
	struct tally_symbolizer *symbolizer = NULL;
	struct tally_session *session = NULL;
	struct tally_error error = {0};
	int result = 0;

	if (argc < 2) {
		fprintf(stderr, "give a folder of tables\n");
		return 1;
	}
	tally_symbolizer_session_options(&needs);
	result = tally_symbolizer_open(argv[1], &symbolizer, &error);
	if (!result && tally_symbolizer_data(symbolizer))
		result =
		    tally_session_new(tally_symbolizer_data(symbolizer), &needs, &session, &error);
	if (!result)
		result = tally_symbolizer_write(symbolizer, session, false, &done, &error);
	if (result)
		fprintf(stderr, "%s\n", error.text);
	else
		printf("%" PRIu64 " of %" PRIu64 " frames named\n", done.named, done.nameless);
	for (size_t i = 0; !result && !tally_symbolizer_build(symbolizer, i, &build); i++)
		if (build.named < build.frames)
			printf("missing: %s\n", build.build_id);
	tally_session_free(session);
	tally_symbolizer_close(symbolizer);
	return result != 0;
}
