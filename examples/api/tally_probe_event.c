/* Prints the line that would define an event at a function of a program; defines nothing. */
#include <stdio.h>
#include <tally/probe_event.h>

int main(int argc, char **argv)
{
	const struct tally_probe_event_options options = {
	    .size = sizeof(options), .program = argc > 1 ? argv[1] : argv[0], .dry_run = true};
	const struct tally_probe_event *event;
	struct tally_probe_set *set;
	struct tally_error error;

	if (tally_probe_set_open(argc > 2 ? argv[2] : "main", &options, &set, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (size_t i = 0; (event = tally_probe_set_at(set, i)); i++)
		printf("%s\n", event->definition);
	tally_probe_set_close(set);
	return 0;
}
