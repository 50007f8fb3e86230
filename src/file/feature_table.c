/* The table of feature sections behind the data, and where the records end.
 * Source: the perf.data format: {offset, size} for each bit of the bitmap, ascending, at
 * data.offset + data.size. */
#include "file/data_file.h"

static unsigned feature_count(const struct tally_data *data)
{
	unsigned count = 0;

	for (size_t i = 0; i < 4; i++)
		count += (unsigned)__builtin_popcountll(data->features[i]);
	return count;
}

static uint64_t data_limit(const struct tally_data *data)
{
	return data->data.size > UINT64_MAX - data->data.offset
		   ? UINT64_MAX
		   : data->data.offset + data->data.size;
}

/* An unfinished recording of tally: bit 0 is set and the table is in the body of a record (see
 * writer.c; of a FINISHED_ROUND in older versions), so that more records may follow. */
static bool is_checkpoint(const struct tally_data *data, uint64_t at, unsigned count)
{
	struct file_cursor cursor = file_cursor_at(data, at, (uint64_t)count * 16);
	uint32_t type = cursor_u32(&cursor);
	uint32_t size;

	cursor_u16(&cursor);
	size = cursor_u16(&cursor);
	return !cursor.failed && file_has_feature(data, FILE_FEATURE_CHECKPOINT) &&
	       (type == FILE_CHECKPOINT_RECORD || type == PERF_RECORD_FINISHED_ROUND) &&
	       size == count * 16;
}

/* If the header gives no data size, a table is used only if all of it is valid: a recorder that was
 * killed leaves data.size 0, and records in the place of the table. */
static bool is_plausible(const struct tally_data *data, uint64_t at, unsigned count)
{
	struct file_cursor cursor = file_cursor_at(data, at, (uint64_t)count * 16);

	for (unsigned i = 0; i < count; i++) {
		uint64_t offset = cursor_u64(&cursor), size = cursor_u64(&cursor);

		if (cursor.failed || offset > data->file.size || size > data->file.size - offset)
			return false;
	}
	return true;
}

static void read_table(struct tally_data *data, uint64_t at, unsigned count)
{
	struct file_cursor cursor = file_cursor_at(data, at, (uint64_t)count * 16);

	for (unsigned feature = 0; feature < FILE_FEATURES; feature++) {
		struct file_section section;
		uint64_t entry = at + (uint64_t)(count * 16 - cursor_left(&cursor));

		if (!file_has_feature(data, feature))
			continue;
		section.offset = cursor_u64(&cursor);
		section.size = cursor_u64(&cursor);
		if (cursor.failed)
			return;
		if (feature == FILE_FEATURE_CHECKPOINT)
			continue;
		data->has_section[feature] = true;
		if (section.offset > data->file.size)
			section.offset = data->file.size;
		if (section.size > data->file.size - section.offset) {
			uint64_t left = data->file.size - section.offset;

			tally_file_feature_damage(data, feature, entry,
						  left ? "passes the end of the file"
						       : "is behind the end of the file");
			section.size = left;
		}
		data->sections[feature] = (struct file_payload){
		    .bytes = data->file.data + section.offset,
		    .offset = section.offset,
		    .size = (size_t)section.size,
		};
	}
}

void tally_file_features_locate(struct tally_data *data)
{
	unsigned count = feature_count(data);
	uint64_t limit = data_limit(data), size = data->file.size;

	data->records = (struct file_region){
	    .bytes = data->file.data,
	    .start = data->data.offset,
	    .name = "",
	};
	if (data->data.offset > size) {
		tally_file_damage(data, 40, 0,
				  "the data start at byte %llu, behind the file's end at %llu: no "
				  "records",
				  (unsigned long long)data->data.offset, (unsigned long long)size);
		data->damage.no_end = true;
		data->data.offset = size;
		data->records.start = size;
		data->records.end = size;
		data->records.cut = true;
		return;
	}
	if (limit > size) {
		/* Bytes that are not there cannot be lost. */
		tally_file_damage(data, size, 0,
				  "the file is cut at byte %llu: %llu bytes of records and all "
				  "features after them are missing",
				  (unsigned long long)size, (unsigned long long)(limit - size));
		data->damage.no_end = true;
		data->records.cut = true;
		data->records.end = size;
		return;
	}
	data->records.end = limit;
	if (is_checkpoint(data, limit, count)) {
		data->damage.no_end = true;
		data->records.cut = true;
		data->records.end = size;
	} else if (!data->data.size && !is_plausible(data, limit, count ? count : 1)) {
		/* Also without features: a writer that ends properly sets the data's size. */
		data->damage.no_end = true;
		data->records.cut = true;
		data->records.end = size;
		return;
	}
	if ((uint64_t)count * 16 > size - limit) {
		tally_file_damage(data, size, 0,
				  "the file is cut at byte %llu, in the table of its features",
				  (unsigned long long)size);
		data->damage.no_end = true;
	}
	read_table(data, limit, count);
}
