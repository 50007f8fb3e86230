/* Writes a recording as an SQLite database.
 *
 *	./tally_sql perf.data perf.db */
#include <stdio.h>
#include <tally/sql.h>

int main(int argc, char **argv)
{
	const struct tally_sql_options options = {.size = sizeof(options), .replace = true};
	struct tally_session *session;
	struct tally_error error;
	struct tally_data *data;
	int result;

	if (argc < 3)
		return 2;
	if (tally_data_open(argv[1], NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	result = tally_sql_write(session, argv[2], &options, &error);
	if (result)
		fprintf(stderr, "%s\n", error.text);
	tally_session_free(session);
	tally_data_close(data);
	return result ? 1 : 0;
}
