/* Sends a recording as a profile to a Pyroscope server: RECORDING, URL, folder for what waits. */
#include <stdio.h>
#include <tally/export.h>
#include <tally/push.h>
#include <tally/text.h>

/* Texts have names and answers from outside: on a terminal they are escaped. */
static void say(void *context, const char *text)
{
	char escaped[1024];

	(void)context;
	tally_text_escape(text, escaped, sizeof(escaped));
	fprintf(stderr, "%s\n", escaped);
}

static int send_recording(const char *path, struct tally_push *push, struct tally_error *error)
{
	const struct tally_push_label labels[] = {{"service_name", "example"}};
	const struct tally_export_options format = {.size = sizeof(format), .format = "pprof"};
	struct tally_session_options options = {.size = sizeof(options)};
	struct tally_push_result result = {.size = sizeof(result)};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	FILE *profile = tmpfile();
	int code = profile ? tally_data_open(path, NULL, &data, error) : -1;

	tally_export_session_options("pprof", &options);
	if (!code)
		code = tally_session_new(data, &options, &session, error);
	if (!code)
		code = tally_export_write(session, &format, profile, NULL, error);
	if (!code)
		code = tally_push_add(push, profile, labels, 1, error);
	tally_session_free(session);
	tally_data_close(data);
	if (profile)
		fclose(profile);
	if (!code) {
		code = tally_push_send(push, &result, error);
		printf("%llu sent, %llu left\n", (unsigned long long)result.sent,
		       (unsigned long long)result.left);
	}
	return code;
}

int main(int argc, char **argv)
{
	const struct tally_push_options options = {
	    .size = sizeof(options),
	    .spool = argc > 3 ? argv[3] : "spool",
	    .url = argc > 2 ? argv[2] : "http://localhost:4040",
	    .retry = -1,
	    .notice = say,
	};
	struct tally_error error = {.text = "no temporary file"};
	struct tally_push *push = NULL;
	int code = tally_push_open(&options, &push, &error);

	if (!code)
		code = send_recording(argc > 1 ? argv[1] : "perf.data", push, &error);
	if (code)
		say(NULL, error.text);
	tally_push_close(push);
	return code ? 1 : 0;
}
