/* What simpleperf puts behind the data: facts about the recording, files with their symbols.
 * Source: simpleperf's record_file_format.h and record_file.proto as its files follow them. */
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

static int add_file(struct tally_data *data, struct tally_data_file *file, size_t *room)
{
	struct tally_data_info *info = &data->info;
	struct tally_data_file *files = (void *)info->files;

	if (info->file_count == *room) {
		size_t more = *room ? *room * 2 : 16;

		files = feature_list(data, struct tally_data_file, more);
		if (!files)
			return -ENOMEM;
		if (info->file_count)
			memcpy(files, info->files, info->file_count * sizeof(*files));
		info->files = files;
		*room = more;
	}
	files[info->file_count++] = *file;
	return 0;
}

static int keep_path(struct tally_data *data, const uint8_t *bytes, size_t size,
		     struct tally_data_file *ret)
{
	ret->path = tally_arena_strndup(&data->arena, (const char *)bytes,
					strnlen((const char *)bytes, size));
	return ret->path ? 0 : -ENOMEM;
}

/* Each {u32 size, path NUL, u32 type, u64 least address, u32 symbols, symbols} */
int tally_feature_simpleperf_file(struct tally_data *data, struct file_cursor *cursor)
{
	size_t room = 0;

	while (cursor_left(cursor) >= 4) {
		struct tally_data_file file = {0};
		uint32_t size = cursor_u32(cursor);
		const uint8_t *bytes = cursor_bytes(cursor, size);
		struct file_cursor body = {
		    .at = bytes, .end = bytes ? bytes + size : NULL, .swapped = cursor->swapped};
		size_t length;
		int code;

		if (!bytes)
			return 0;
		length = strnlen((const char *)bytes, size);
		cursor_bytes(&body, (uint64_t)length + 1);
		file.type = cursor_u32(&body);
		file.min_vaddr = cursor_u64(&body);
		file.symbol_count = cursor_u32(&body);
		if (body.failed) {
			cursor->failed = true;
			return 0;
		}
		code = keep_path(data, bytes, length, &file);
		if (!code)
			code = add_file(data, &file, &room);
		if (code)
			return code;
	}
	return 0;
}

/* --- the same as protocol buffers.  Source: https://protobuf.dev/programming-guides/encoding ---
 */

static uint64_t varint(struct file_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint8_t *byte = cursor_bytes(cursor, 1);

		if (!byte)
			return 0;
		value |= (uint64_t)(*byte & 0x7f) << shift;
		if (*byte < 0x80)
			return value;
	}
	cursor->failed = true;
	return 0;
}

/* message FileFeature {string path = 1; uint32 type = 2; uint64 min_vaddr = 3; repeated Symbol = 4}
 */
static int read_message(struct tally_data *data, struct file_cursor *body,
			struct tally_data_file *ret)
{
	while (cursor_left(body) && !body->failed) {
		uint64_t tag = varint(body), value = 0;
		const uint8_t *bytes = NULL;

		switch (tag & 7) {
		case 0:
			value = varint(body);
			break;
		case 1:
			cursor_bytes(body, 8);
			break;
		case 2:
			value = varint(body);
			bytes = cursor_bytes(body, value);
			break;
		case 5:
			cursor_bytes(body, 4);
			break;
		default:
			body->failed = true;
		}
		if (body->failed)
			break;
		if (tag == (1 << 3 | 2) && keep_path(data, bytes, (size_t)value, ret))
			return -ENOMEM;
		if (tag == 2 << 3)
			ret->type = (uint32_t)value;
		else if (tag == 3 << 3)
			ret->min_vaddr = value;
		else if (tag == (4 << 3 | 2))
			ret->symbol_count++;
	}
	return 0;
}

/* Each {u32 size, message} */
int tally_feature_simpleperf_file2(struct tally_data *data, struct file_cursor *cursor)
{
	size_t room = data->info.file_count; /* those of FILE, when there are both */

	while (cursor_left(cursor) >= 4) {
		struct tally_data_file file = {0};
		uint32_t size = cursor_u32(cursor);
		const uint8_t *bytes = cursor_bytes(cursor, size);
		struct file_cursor body = {.at = bytes, .end = bytes ? bytes + size : NULL};
		int code;

		if (!bytes)
			return 0;
		code = read_message(data, &body, &file);
		if (body.failed)
			cursor->failed = true;
		if (!code && file.path)
			code = add_file(data, &file, &room);
		if (code)
			return code;
	}
	return 0;
}
