/* Prints the events of a recording, and how many records it has. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/data.h>

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "perf.data";
	struct tally_record record;
	struct tally_error error;
	struct tally_data *data;
	uint64_t records = 0;
	int result = tally_data_open(path, NULL, &data, &error);

	if (result) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (size_t i = 0; i < tally_data_event_count(data); i++)
		printf("event %s\n", tally_data_event(data, i)->name);
	while ((result = tally_data_next_record(data, &record, &error)) > 0)
		records++;
	printf("%" PRIu64 " records\n", records);
	if (tally_data_damage(data)->count)
		printf("damaged: %s\n", tally_data_damage(data)->text);
	tally_data_close(data);
	return result < 0;
}
