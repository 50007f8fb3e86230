/* Recordings of others, damaged: cut anywhere, bytes flipped in header, records and features,
 * headers of records rewritten.  Nothing may be read out of bounds (the sanitizers watch), and what
 * stands in front of the damage is read. */
#include "made_recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "corpus.h"

#define SIZE_LIMIT 300000 /* of the sources, for time's sake */

static uint64_t next_random(uint64_t *seed)
{
	/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" */
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 2685821657736338717ULL;
}

struct source {
	struct bytes bytes;
	uint64_t data_at, data_end;
	uint64_t *ends; /* of each record */
	size_t count;
	bool packed; /* some of them are decoded; their ends are UINT64_MAX */
	char *copy;  /* path of the damaged file */
};

static struct source source_open(const char *path, char *copy)
{
	struct source source = {.bytes = read_bytes(path), .copy = copy};
	struct tally_data *data = open_data(path);
	struct tally_record record;
	size_t room = 0;

	source.data_at = load_u64(source.bytes.data + 40);
	source.data_end = source.data_at + load_u64(source.bytes.data + 48);
	while (tally_data_next_record(data, &record, NULL) > 0) {
		struct tally_data_place place = {.size = sizeof(place)};

		tally_data_place(data, record.offset, &place);
		source.packed |= place.packed;
		if (source.count == room) {
			room = room ? room * 2 : 1024;
			source.ends = realloc(source.ends, room * sizeof(*source.ends));
			assert_non_null(source.ends);
		}
		source.ends[source.count++] =
		    place.packed ? UINT64_MAX : place.offset + tally_record_extent(&record);
	}
	tally_data_close(data);
	return source;
}

static void source_done(struct source *source)
{
	free(source->bytes.data);
	free(source->ends);
}

static size_t records_before(const struct source *source, uint64_t offset)
{
	size_t count = 0;

	while (count < source->count && source->ends[count] <= offset)
		count++;
	return count;
}

/* Reads all there is of it; the number of records, or -errno when it cannot be opened. */
static int64_t read_all(const char *path, struct tally_data_damage *ret)
{
	struct tally_error error = {0};
	struct tally_record record;
	struct tally_data *data;
	uint64_t last = 0;
	int64_t count = 0;
	int code = tally_data_open(path, NULL, &data, &error);

	if (code) {
		assert_true(error.text[0] && error.code == code);
		return code;
	}
	for (size_t i = 0; i < tally_data_event_count(data); i++)
		assert_non_null(tally_data_event(data, i)->name);
	for (unsigned feature = 0; feature < 300; feature++) {
		struct tally_block block = tally_data_feature(data, feature);

		if (block.size)
			assert_true(block.offset + block.size <= tally_data_file_size(data));
	}
	while ((code = tally_data_next_record(data, &record, &error)) > 0) {
		struct tally_data_place place = {.size = sizeof(place)};

		assert_true(record.size >= 8 && record.size % 8 == 0);
		assert_true(record.offset >= last || !count);
		assert_true(record.offset + tally_record_extent(&record) <=
			    tally_data_offset_end(data));
		assert_int_equal(tally_data_place(data, record.offset, &place), 0);
		assert_true(place.offset < tally_data_file_size(data));
		tally_data_event_of(data, &record);
		last = record.offset + tally_record_extent(&record);
		count++;
	}
	assert_int_equal(code, 0);
	*ret = *tally_data_damage(data);
	tally_data_close(data);
	return count;
}

static void cut(struct source *source, uint64_t seed)
{
	for (unsigned i = 0; i < 24; i++) {
		static const unsigned percent[] = {25, 50, 75, 99};
		uint64_t size = i < 4 ? source->bytes.size * percent[i] / 100
				      : next_random(&seed) % source->bytes.size;
		struct tally_data_damage damage = {0};
		int64_t got;

		write_bytes(source->copy, source->bytes.data, size);
		got = read_all(source->copy, &damage);
		if (got < 0 || size < source->data_at)
			continue; /* in front of the records */
		if (got < (int64_t)records_before(source, size))
			fail_msg("cut at %llu: %lld records of %zu", (unsigned long long)size,
				 (long long)got, records_before(source, size));
		if (size < source->data_end)
			assert_true(damage.no_end && damage.count);
	}
}

/* `width` bytes at a place between from and to. */
static void flip(struct source *source, uint64_t from, uint64_t to, unsigned times, unsigned width,
		 uint64_t seed)
{
	uint8_t *data = malloc(source->bytes.size);
	bool in_records = from >= source->data_at && to <= source->data_end;

	assert_non_null(data);
	for (unsigned i = 0; i < times && to > from + width; i++) {
		uint64_t at = from + next_random(&seed) % (to - from - width);
		struct tally_data_damage damage = {0};
		int64_t got;

		memcpy(data, source->bytes.data, source->bytes.size);
		for (unsigned k = 0; k < width; k++)
			data[at + k] = (uint8_t)next_random(&seed);
		write_bytes(source->copy, data, source->bytes.size);
		got = read_all(source->copy, &damage);
		if (in_records && got < (int64_t)records_before(source, at))
			fail_msg("flip at %llu: %lld records", (unsigned long long)at,
				 (long long)got);
	}
	free(data);
}

/* Type and size of a few records. */
static void rewrite(struct source *source, uint64_t seed)
{
	uint8_t *data = malloc(source->bytes.size);

	assert_non_null(data);
	for (unsigned i = 0; i < 20 && source->count > 4; i++) {
		struct tally_data_damage damage = {0};
		size_t first = source->count;
		int64_t got;

		memcpy(data, source->bytes.data, source->bytes.size);
		for (unsigned k = 0; k < 4; k++) {
			size_t which = next_random(&seed) % (source->count - 1);

			store_u32(data + source->ends[which], (uint32_t)next_random(&seed) % 100);
			store_u16(data + source->ends[which] + 6, (uint16_t)next_random(&seed));
			if (which + 1 < first)
				first = which + 1;
		}
		write_bytes(source->copy, data, source->bytes.size);
		got = read_all(source->copy, &damage);
		if (got < (int64_t)first)
			fail_msg("%s: %lld records of %zu", source->copy, (long long)got, first);
	}
	free(data);
}

static void damage_one(const struct corpus_row *row, void *context)
{
	struct source source;

	if (strcmp(row->format, "file"))
		return;
	source = source_open(row->path, context);
	if (source.bytes.size <= SIZE_LIMIT) {
		cut(&source, 1);
		flip(&source, 0, source.data_at, 40, 4, 2);
		flip(&source, source.data_at, source.data_end, 40, 32, 3);
		flip(&source, source.data_end, source.bytes.size, 20, 4, 4);
		/* Where records stand that are decoded is nowhere in the file. */
		if (!source.packed)
			rewrite(&source, 5);
	}
	source_done(&source);
}

static void reads_what_is_left(void **state)
{
	char *copy = path_in(state, "damaged.data");
	bool there = corpus_each(damage_one, copy);

	free(copy);
	if (!there)
		skip(); /* TALLY_CORPUS is not set */
}

/* The same on a recording of our own, so that something is tested everywhere. */
static void reads_what_is_left_of_ours(void **state)
{
	char *path = path_in(state, "ours.data"), *copy = path_in(state, "damaged.data");
	struct tally_writer *writer = recording_begin(path, NULL);
	struct source source;
	uint64_t time = 1;

	for (int i = 0; i < 20; i++) {
		recording_samples(writer, 100, &time);
		assert_int_equal(tally_writer_round(writer, i % 5 == 0, NULL), 0);
	}
	assert_int_equal(tally_writer_close(writer, NULL), 0);
	source = source_open(path, copy);
	assert_int_equal(source.count, 2024);
	cut(&source, 1);
	flip(&source, 0, source.data_at, 40, 4, 2);
	flip(&source, source.data_at, source.data_end, 40, 32, 3);
	flip(&source, source.data_end, source.bytes.size, 20, 4, 4);
	rewrite(&source, 5);
	source_done(&source);
	free(path);
	free(copy);
}

/* Of 2,024 records no more is lost than what the rewritten headers cover, nearly always. */
static void loses_little(void **state)
{
	char *path = path_in(state, "ours.data"), *copy = path_in(state, "little.data");
	struct source source = source_open(path, copy);
	struct tally_data_damage damage = {0};
	uint8_t *data = malloc(source.bytes.size);

	assert_non_null(data);
	for (size_t which = 10; which < 2000; which += 97) {
		memcpy(data, source.bytes.data, source.bytes.size);
		store_u16(data + source.ends[which] + 6, 5); /* no size of a record */
		write_bytes(copy, data, source.bytes.size);
		assert_int_equal(read_all(copy, &damage), 2023);
		assert_int_equal(damage.count, 1);
		assert_int_equal(damage.first_at, source.ends[which]);
	}
	free(data);
	source_done(&source);
	free(path);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_what_is_left_of_ours),
	    cmocka_unit_test(loses_little),
	    cmocka_unit_test(reads_what_is_left),
	};

	return cmocka_run_group_tests(tests, recording_folder_make, recording_folder_remove);
}
