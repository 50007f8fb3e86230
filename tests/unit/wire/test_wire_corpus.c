/* Every record of real files of many perf versions decodes, and encodes to the same bytes again.
 *
 * The files are not part of the project: TALLY_CORPUS names a folder with `files/`; without it the
 * test is skipped.  Reads regular files of this byte order by itself, so that it depends on nothing
 * above wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bytes.h"
#include "base/fs.h"
#include "base/map.h"
#include "wire/attr_wire.h"
#include "wire/dump.h"

#define EVENTS 64

struct events {
	struct tally_layout layouts[EVENTS];
	size_t count;
	struct tally_map ids;
};

struct sums {
	unsigned long files, records, same, other;
};

/* Source: the perf.data format: {u64 magic, size, attr_size; {u64 offset, size} attrs, data}. */
static bool read_events(const struct tally_mapped *file, struct events *events)
{
	uint64_t attr_size = load_u64(file->data + 16), at = load_u64(file->data + 24);
	uint64_t size = load_u64(file->data + 32);

	if (attr_size < 80 || at > file->size || size > file->size - at)
		return false;
	for (; size >= attr_size && events->count < EVENTS; size -= attr_size, at += attr_size) {
		const uint8_t *ids = file->data + at + attr_size - 16;
		uint64_t from = load_u64(ids), bytes = load_u64(ids + 8);
		struct tally_attr attr;

		tally_attr_decode(file->data + at, attr_size - 16, &attr, NULL);
		tally_layout_init(&events->layouts[events->count], &attr);
		if (from > file->size || bytes > file->size - from)
			return false;
		for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
			bool added;
			uint64_t *value =
			    tally_map_put(&events->ids, load_u64(file->data + from + i), &added);

			assert_non_null(value);
			*value = events->count;
		}
		events->count++;
	}
	return events->count > 0;
}

/* The event's layout, by the record's id where there are several. */
static const struct tally_layout *layout_of(const struct events *events,
					    const struct tally_record *record)
{
	const struct tally_layout *first = &events->layouts[0];
	const uint64_t *index;
	uint64_t id = 0;

	if (events->count == 1)
		return first;
	if (record->type == PERF_RECORD_SAMPLE) {
		int at = first->at[TALLY_FIXED_IDENTIFIER] >= 0 ? first->at[TALLY_FIXED_IDENTIFIER]
								: first->at[TALLY_FIXED_ID];

		if (at >= 0 && at + 8 <= record->size)
			id = load_u64(record->bytes + at);
	} else {
		int back = first->trailer_at[TALLY_FIXED_IDENTIFIER] >= 0
			       ? first->trailer_at[TALLY_FIXED_IDENTIFIER]
			       : first->trailer_at[TALLY_FIXED_ID];

		if (back >= 0 && back + 8 <= record->size)
			id = load_u64(record->bytes + record->size - back);
	}
	index = tally_map_find(&events->ids, id);
	return index ? &events->layouts[*index] : first;
}

/* perf up to 3.x left what was in its buffer behind a name's NUL; what we write is zero there.  The
 * record's bytes are a copy of ours. */
static void clear_behind_text(const struct tally_layout *layout, const struct tally_record *record,
			      const struct tally_body *body)
{
	const char *text = body->type == PERF_RECORD_MMAP    ? body->mmap.filename
			   : body->type == PERF_RECORD_MMAP2 ? body->mmap2.filename
			   : body->type == PERF_RECORD_COMM  ? body->comm.comm
							     : NULL;
	size_t from;

	if (!text)
		return;
	from = (size_t)((const uint8_t *)text - record->bytes) + strlen(text);
	memset((uint8_t *)record->bytes + from, 0, record->size - layout->trailer_size - from);
}

static void check_record(const char *name, const struct tally_layout *layout,
			 const struct tally_record *record, struct sums *sums)
{
	static _Alignas(8) uint8_t again[65536];
	struct tally_buf text = {0};
	struct tally_error error;
	struct tally_body body = {.size = sizeof(body)};
	uint8_t *copy;
	int size;

	if (tally_record_decode(layout, record, &body, &error))
		fail_msg("%s: %s", name, error.text);
	clear_behind_text(layout, record, &body);
	size = tally_record_size(layout, &body);
	assert_int_equal(tally_record_encode(layout, &body, again, sizeof(again)), size);
	sums->records++;
	if (size == record->size && !memcmp(again, record->bytes, record->size))
		sums->same++;
	else
		sums->other++;
	assert_int_equal(tally_body_dump(layout, &body, &text), 0);
	tally_buf_done(&text);
	copy = malloc(record->size);
	memcpy(copy, record->bytes, record->size);
	assert_int_equal(tally_record_swap(layout, copy, record->size, false, NULL), 0);
	assert_int_equal(tally_record_swap(layout, copy, record->size, true, NULL), 0);
	assert_memory_equal(copy, record->bytes, record->size);
	free(copy);
}

static void check_file(const char *path, const char *name, struct sums *sums)
{
	struct events events = {.count = 0};
	struct tally_mapped file;
	uint64_t at, end;

	assert_int_equal(tally_fs_map_path(path, &file), 0);
	/* Regular files only; pipes carry their attrs in records. */
	if (file.size < 104 || memcmp(file.data, "PERFILE2", 8) || load_u64(file.data + 8) < 72 ||
	    !read_events(&file, &events))
		goto out;
	sums->files++;
	at = load_u64(file.data + 40);
	end = at > file.size ? 0 : load_u64(file.data + 48);
	end = end > file.size - at ? file.size : at + end;
	while (at + 8 <= end) {
		struct tally_record record = {.bytes = file.data + at,
					      .offset = at,
					      .type = load_u32(file.data + at),
					      .misc = load_u16(file.data + at + 4),
					      .size = load_u16(file.data + at + 6)};
		uint64_t outside = 0;
		uint8_t *aligned;

		if (record.size < 8 || record.size > end - at)
			break;
		if (record.type == PERF_RECORD_AUXTRACE && record.size >= 16)
			outside = load_u64(record.bytes + 8);
		if (record.type == PERF_RECORD_HEADER_TRACING_DATA && record.size >= 12)
			outside = load_u32(record.bytes + 8);
		aligned = malloc(record.size);
		memcpy(aligned, record.bytes, record.size);
		record.bytes = aligned;
		check_record(name, layout_of(&events, &record), &record, sums);
		free(aligned);
		at += record.size;
		if (outside > end - at)
			break;
		at += align_up(outside, 8);
	}
out:
	tally_map_done(&events.ids);
	tally_fs_unmap(&file);
}

static void real_records_survive(void **state)
{
	const char *corpus = getenv("TALLY_CORPUS");
	struct sums sums = {0};
	struct dirent *entry;
	char path[4096];
	DIR *folder;

	(void)state;
	if (!corpus) {
		print_message("TALLY_CORPUS is not set\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/files", corpus);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/files/%s", corpus, entry->d_name);
		check_file(path, entry->d_name, &sums);
	}
	closedir(folder);
	print_message("%lu files, %lu records, %lu the same when encoded again\n", sums.files,
		      sums.records, sums.same);
	assert_true(sums.files > 0 && sums.records > 1000);
	/* What differs has reserved bytes or padding with something in them, which decoding drops.
	 */
	assert_true(sums.other * 100 <= sums.records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(real_records_survive)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
