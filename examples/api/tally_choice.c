/* Checks an expression that chooses samples, and lets a session have only these.
 *
 *	./tally_choice perf.data 'comm == make and period > 1000' */
#include <inttypes.h>
#include <stdio.h>
#include <tally/choice.h>

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "perf.data";
	const char *text = argc > 2 ? argv[2] : "pid > 0";
	struct tally_choice *choice = NULL;
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error;
	int result = tally_choice_parse(text, &choice, &error);

	if (!result)
		result = tally_data_open(path, NULL, &data, &error);
	if (!result)
		result = tally_choice_fit(choice, data, &error);
	if (!result)
		result = tally_session_new(data, NULL, &session, &error);
	if (!result)
		result = tally_choice_use(choice, session);
	if (result)
		fprintf(stderr, "column %" PRId64 ": %s\n", error.position, error.text);
	else
		printf("%s is a condition for this recording\n", text);
	tally_session_free(session);
	tally_choice_free(choice);
	if (data)
		tally_data_close(data);
	return result ? 1 : 0;
}
