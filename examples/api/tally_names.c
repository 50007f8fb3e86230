/* Prints the commands of a recording that have the most samples. */
#include <stdio.h>
#include <tally/names.h>

int main(int argc, char **argv)
{
	struct tally_session *session;
	struct tally_names *names;
	struct tally_error error;
	struct tally_data *data;
	const char *found[5];
	size_t count;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error) ||
	    tally_names_new(session, &names, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	count = tally_names_list(names, TALLY_NAME_COMM, NULL, found, 5);
	for (size_t i = 0; i < count; i++)
		printf("%s\n", found[i]);
	tally_names_free(names);
	tally_session_free(session);
	tally_data_close(data);
	return 0;
}
