/* Writes the page of a recording, profile.html. */
#include <stdio.h>
#include <tally/page.h>

int main(int argc, char **argv)
{
	const struct tally_profile_options all = {.size = sizeof(all)};
	const struct tally_page_options options = {.size = sizeof(options), .title = "A recording"};
	struct tally_session *session;
	struct tally_error error;
	struct tally_data *data;
	uint64_t size;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_session_new(data, NULL, &session, &error) ||
	    tally_page_write(session, &all, &options, "profile.html", &size, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	printf("profile.html: %llu bytes\n", (unsigned long long)size);
	tally_session_free(session);
	tally_data_close(data);
	return 0;
}
