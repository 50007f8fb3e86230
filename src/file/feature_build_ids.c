/* BUILD_ID: the binaries that the samples are from.  Source of the layout: the perf.data format as
 * perf 2.6.32 to 7.0 writes it. */
#include "file/feature_read.h"

/* One record of the section.  `no_pid`: as the first writers made it, without that field. */
static int read_build_id(struct tally_data *data, struct file_cursor *cursor, bool no_pid,
			 struct tally_data_build_id *ret)
{
	struct tally_data_build_id made = {0};
	struct file_cursor body;
	const uint8_t *bytes, *id;
	uint16_t size;

	cursor_u32(cursor); /* type: 0, no record */
	made.misc = cursor_u16(cursor);
	size = cursor_u16(cursor);
	bytes = cursor_bytes(cursor, size >= 8 ? size - 8U : UINT64_MAX);
	if (!bytes)
		return 0;
	body =
	    (struct file_cursor){.at = bytes, .end = bytes + size - 8, .swapped = cursor->swapped};
	if (!no_pid)
		made.pid = cursor_u32(&body);
	id = cursor_bytes(&body, 24);
	if (!id) {
		cursor->failed = true;
		return 0;
	}
	memcpy(made.id, id, sizeof(made.id));
	made.size = sizeof(made.id);
	if (made.misc & FEATURE_BUILD_ID_HAS_SIZE && id[20] <= sizeof(made.id))
		made.size = id[20];
	made.misc &= (uint16_t)~FEATURE_BUILD_ID_HAS_SIZE;
	made.filename = tally_arena_strndup(&data->arena, (const char *)body.at,
					    strnlen((const char *)body.at, cursor_left(&body)));
	if (!made.filename)
		return -ENOMEM;
	*ret = made;
	return 1;
}

int tally_feature_build_ids(struct tally_data *data, struct file_cursor *cursor)
{
	size_t most = cursor_left(cursor) / 36 + 1, count = 0;
	struct tally_data_build_id *made;
	struct file_cursor probe = *cursor;
	bool no_pid = false;

	if (cursor_left(cursor) < 36)
		return 0;
	/* The first writers had no pid, so that the first name, "[kernel.kallsyms]", reads 4 bytes
	 * late. */
	if (cursor_bytes(&probe, 36) && cursor_left(&probe) >= 12)
		no_pid = !memcmp(probe.at, "nel.kallsyms]", 12);
	made = tally_arena_alloc(&data->arena, most * sizeof(*made));
	if (!made)
		return -ENOMEM;
	while (cursor_left(cursor) >= 8 && !cursor->failed && count < most) {
		int got = read_build_id(data, cursor, no_pid, &made[count]);

		if (got < 0)
			return got;
		count += (size_t)got;
	}
	data->info.build_ids = made;
	data->info.build_id_count = count;
	return 0;
}
