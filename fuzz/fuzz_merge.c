/* A recording of any bytes is merged with itself: what is written is a sound recording with twice
 * the samples, and can be merged again. */
#include <string.h>
#include <tally/merge.h>
#include "reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint64_t count_samples(struct tally_data *data)
{
	struct tally_record record;
	uint64_t count = 0;

	while (tally_data_next_record(data, &record, NULL) > 0)
		count += record.type == PERF_RECORD_SAMPLE;
	return count;
}

/* Two of the file at `from` to the one at `to`; the samples in the new one, or 0. */
static uint64_t merge_twice(const char *from, const char *to, size_t recordings)
{
	const struct tally_merge_options options = {.size = sizeof(options)};
	struct tally_merge_result result = {.size = sizeof(result)};
	struct tally_error error = {0};
	struct tally_data *data[2];
	int code;

	if (tally_data_open(from, NULL, &data[0], NULL))
		return 0;
	require(!tally_data_open(from, NULL, &data[1], NULL));
	code = tally_data_merge(data, 2, to, &options, &result, &error);
	tally_data_close(data[0]);
	tally_data_close(data[1]);
	require(code ? error.text[0] : result.recordings == recordings);
	return code ? 0 : result.samples;
}

/* Reads a merged file, which is sound. */
static void read_merged(const char *path, uint64_t samples, size_t recordings)
{
	struct tally_data *data;

	require(!tally_data_open(path, NULL, &data, NULL));
	require(count_samples(data) == samples);
	/* Facts about the machine are kept as they are. */
	require(tally_data_damage(data)->count == tally_data_damage(data)->features);
	require(tally_data_info(data)->recording_count == recordings);
	look_at_info(data);
	tally_data_close(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char folder[] = "/tmp/fuzz-merge-XXXXXX", from[64], once[64], twice[64];
	struct tally_data *data;
	uint64_t samples, again;
	size_t recordings;
	FILE *file;

	require(mkdtemp(folder));
	snprintf(from, sizeof(from), "%s/from", folder);
	snprintf(once, sizeof(once), "%s/once", folder);
	snprintf(twice, sizeof(twice), "%s/twice", folder);
	file = fopen(from, "we");
	require(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
	if (!tally_data_open(from, NULL, &data, NULL)) {
		recordings = tally_data_info(data)->recording_count;
		recordings = 2 * (recordings ? recordings : 1);
		tally_data_close(data);
		samples = merge_twice(from, once, recordings);
		require(samples % 2 == 0);
		if (samples) {
			read_merged(once, samples, recordings);
			again = merge_twice(once, twice, 2 * recordings);
			/* Refused: too many recordings, or a time of years. */
			require(!again || again == 2 * samples);
			unlink(twice);
		}
		unlink(once);
	}
	unlink(from);
	rmdir(folder);
	return 0;
}
