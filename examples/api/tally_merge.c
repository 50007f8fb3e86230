/* Merges two recordings, and prints how many samples each has in the new file.
 *
 *	./tally_merge ONE OTHER NEW */
#include <inttypes.h>
#include <stdio.h>
#include <tally/merge.h>

static int print_recordings(const char *path, struct tally_error *error)
{
	const struct tally_data_info *info;
	struct tally_data *data;
	int failed = tally_data_open(path, NULL, &data, error);

	if (failed)
		return failed;
	info = tally_data_info(data);
	for (size_t i = 0; i < info->recording_count; i++)
		printf("%s: %" PRIu64 " samples\n", info->recordings[i].name,
		       info->recordings[i].samples);
	tally_data_close(data);
	return 0;
}

int main(int argc, char **argv)
{
	const struct tally_merge_options options = {.size = sizeof(options)};
	struct tally_merge_result result = {.size = sizeof(result)};
	struct tally_data *data[2] = {NULL, NULL};
	struct tally_error error;
	int failed = 0;

	if (argc < 4)
		return 2;
	for (int i = 0; i < 2 && !failed; i++)
		failed = tally_data_open(argv[1 + i], NULL, &data[i], &error);
	if (!failed)
		failed = tally_data_merge(data, 2, argv[3], &options, &result, &error);
	for (int i = 0; i < 2; i++)
		if (data[i])
			tally_data_close(data[i]);
	if (!failed)
		failed = print_recordings(argv[3], &error);
	if (failed)
		fprintf(stderr, "%s\n", error.text);
	return failed ? 1 : 0;
}
