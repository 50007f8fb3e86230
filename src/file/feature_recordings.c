/* RECORDINGS: those that were merged to this file.  The layout: <tally/info.h>. */
#include "base/own_pid.h"
#include "file/feature_read.h"

/* 1: read; 0: invalid; -ENOMEM. */
static int read_one(struct tally_data *data, struct file_cursor *cursor,
		    struct tally_data_recording *ret)
{
	uint32_t size = cursor_u32(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, size);
	struct file_cursor body = {.at = bytes, .swapped = cursor->swapped};
	const char *texts[4];

	if (!bytes)
		return 0;
	body.end = bytes + size;
	for (size_t i = 0; i < 4; i++) {
		texts[i] = tally_feature_string(data, &body);
		if (!texts[i]) {
			cursor->failed = body.failed;
			return feature_no_string(&body);
		}
	}
	*ret = (struct tally_data_recording){
	    .name = texts[0],
	    .hostname = texts[1],
	    .os_release = texts[2],
	    .cmdline = texts[3],
	    .shift = cursor_u64(&body),
	    .samples = cursor_u64(&body),
	};
	cursor->failed = body.failed;
	return !body.failed;
}

int tally_feature_recordings(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 4);
	struct tally_data_recording *made;

	cursor_u32(cursor);
	if (count > RECORDINGS_MOST)
		cursor->failed = true;
	if (cursor->failed || !count)
		return 0;
	made = feature_list(data, struct tally_data_recording, count);
	if (!made)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		int got = read_one(data, cursor, &made[i]);

		if (got <= 0)
			return got;
	}
	data->info.recordings = made;
	data->info.recording_count = count;
	return 0;
}
