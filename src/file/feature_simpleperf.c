/* What simpleperf says of the recording.  Source: its record_file_format.h, as its files follow it.
 */
#include "file/feature_read.h"

/* Texts with a NUL behind each: key, value, key, value, ... */
int tally_feature_simpleperf_meta_info(struct tally_data *data, struct file_cursor *cursor)
{
	size_t most = cursor_left(cursor) / 2;
	struct tally_data_pair *pairs = feature_list(data, struct tally_data_pair, most);
	size_t count = 0;

	if (!pairs)
		return -ENOMEM;
	while (cursor_left(cursor) && count < most) {
		const char *text[2];

		for (size_t i = 0; i < 2; i++) {
			size_t left = cursor_left(cursor),
			       length = strnlen((const char *)cursor->at, left);

			if (length == left) {
				cursor->failed = true;
				goto done;
			}
			text[i] =
			    tally_arena_strndup(&data->arena, (const char *)cursor->at, length);
			if (!text[i])
				return -ENOMEM;
			cursor_bytes(cursor, length + 1);
		}
		pairs[count++] = (struct tally_data_pair){text[0], text[1]};
	}
done:
	data->info.meta_info = (struct tally_data_pairs){pairs, count};
	return 0;
}
