/* Prints an error with a mark below the place in the text that it is about. */
#include <stdio.h>
#include <tally/error.h>
#include <tally/event.h>

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "page-faults,cylces:u";
	struct tally_event_list list = {0};
	struct tally_error error;

	if (!tally_event_list_parse(text, NULL, &list, &error)) {
		tally_event_list_done(&list);
		return 0;
	}
	printf("%s\n  %s\n", error.text, text);
	if (error.position >= 0)
		printf("  %*s^\n", (int)error.position, "");
	return 0;
}
