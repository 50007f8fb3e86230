/* Prints which features the header of a recording has. */
#include <stdio.h>
#include <tally/data.h>
#include <tally/info.h>

int main(int argc, char **argv)
{
	const struct tally_data_info *info;
	struct tally_error error;
	struct tally_data *data;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	info = tally_data_info(data);
	printf("version %u of the header, %llu bytes of data\n", info->header_version,
	       (unsigned long long)info->data_size);
	for (unsigned i = 0; i < TALLY_FEATURES_OF_PERF; i++)
		if (info->features[i / 64] >> (i % 64) & 1 && tally_feature_name(i))
			printf("%s\n", tally_feature_name(i));
	tally_data_close(data);
	return 0;
}
