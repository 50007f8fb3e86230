/* Prints the command, time and symbol of each sample of a recording. */
#include <stdio.h>
#include <tally/script.h>

int main(int argc, char **argv)
{
	const char *const fields[] = {"comm,time,ip,sym"};
	const struct tally_script_options options = {
	    .size = sizeof(options), .fields = fields, .field_count = 1};
	struct tally_session *session;
	struct tally_error error;
	struct tally_data *data;
	int result;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	result = tally_script_write(session, &options, stdout, &error);
	if (result)
		fprintf(stderr, "%s\n", error.text);
	tally_session_free(session);
	tally_data_close(data);
	return result ? 1 : 0;
}
