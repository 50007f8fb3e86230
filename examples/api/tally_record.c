/* Prints every record of a recording, a field a line. */
#include <stdio.h>
#include <stdlib.h>
#include <tally/data.h>
#include <tally/record.h>

int main(int argc, char **argv)
{
	struct tally_record record;
	struct tally_error error;
	struct tally_data *data;
	char *text;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	while (tally_data_next_record(data, &record, &error) > 0) {
		int index = tally_data_event_of(data, &record);
		size_t number = index < 0 ? 0 : (size_t)index;
		const struct tally_layout *layout = &tally_data_event(data, number)->layout;

		if (!tally_record_dump(layout, &record, &text, NULL)) {
			printf("%s\n", text);
			free(text);
		}
	}
	tally_data_close(data);
	return 0;
}
