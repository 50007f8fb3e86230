/* Packs a recording and what is needed to read it elsewhere into one file. */
#include <stdio.h>
#include <tally/archive.h>

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "perf.data";
	const char *to = argc > 2 ? argv[2] : "archive.tar";
	struct tally_archive_result result = {.size = sizeof(result)};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error;

	if (tally_data_open(path, NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error) ||
	    tally_archive_write(session, to, NULL, &result, &error))
		fprintf(stderr, "%s\n", error.text);
	else
		printf("%s: %llu bytes, %u files\n", to, (unsigned long long)result.bytes,
		       result.files);
	tally_session_free(session);
	tally_data_close(data);
	return 0;
}
