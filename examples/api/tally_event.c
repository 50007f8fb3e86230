/* Prints what the kernel is asked for by an event's name, and the name again. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/event.h>

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "{page-faults:u,task-clock}";
	struct tally_event_list list = {0};
	struct tally_error error;
	char name[128];

	if (tally_event_list_parse(text, NULL, &list, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct tally_attr *attr = &list.events[i].attr;

		tally_event_format(attr, NULL, name, sizeof(name));
		printf("%s: type %u, config %#" PRIx64 "\n", name, attr->type, attr->config);
	}
	tally_event_list_done(&list);
	return 0;
}
