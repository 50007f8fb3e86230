/* Traces in recordings: those of other tools are written again, byte for byte, and made-up ones are
 * read back. */
#include "../file/corpus.h"
#include "../file/made_recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/info.h>
#include "base/bytes.h"
#include "write/writer.h"

#define DATA_AT   40 /* offset and size of the records, in a file's header */
#define DATA_SIZE 48

static void must_append(struct tally_writer *writer, const void *bytes, size_t size)
{
	struct iovec iov = {(void *)(uintptr_t)bytes, size};
	struct tally_error error;

	if (tally_writer_append(writer, &iov, 1, &error))
		fail_msg("%s", error.text);
}

/* As a recorder has it: the fields, and a trace in two parts. */
static void append_again(struct tally_writer *writer, const struct tally_record *record,
			 const struct tally_layout *layout)
{
	struct tally_body body = {.size = sizeof(body)};
	const uint8_t *trace = record->bytes + record->size;
	struct tally_error error;
	struct iovec parts[2];

	assert_int_equal(tally_record_decode(layout, record, &body, &error), 0);
	parts[0] = (struct iovec){(void *)(uintptr_t)trace, body.auxtrace.size / 3};
	parts[1] = (struct iovec){(void *)(uintptr_t)(trace + parts[0].iov_len),
				  body.auxtrace.size - parts[0].iov_len};
	if (tally_writer_append_aux(writer, &body.auxtrace, parts, 2, &error))
		fail_msg("%s", error.text);
}

struct again {
	const char *folder;
	unsigned files;
	uint64_t traces, bytes;
};

static void write_again(struct again *again, struct tally_data *data, const char *path)
{
	struct tally_writer_event events[16] = {0};
	struct tally_writer_options options = {.size = sizeof(options)};
	size_t count = tally_data_event_count(data);
	struct tally_writer *writer = NULL;
	struct tally_error error;
	struct tally_block block;

	assert_in_range(count, 1, 16);
	for (size_t i = 0; i < count; i++) {
		const struct tally_data_event *event = tally_data_event(data, i);

		events[i] = (struct tally_writer_event){
		    .attr = event->attr, .name = "event", .leader = (uint32_t)i};
	}
	if (tally_writer_open(path, events, count, &options, &writer, &error))
		fail_msg("%s", error.text);
	while (tally_data_next(data, &block, &error) == 1) {
		struct tally_record record;

		for (size_t at = 0; tally_block_record(&block, at, &record);
		     at += tally_record_extent(&record)) {
			if (record.type != PERF_RECORD_AUXTRACE) {
				must_append(writer, record.bytes, record.size);
				continue;
			}
			append_again(writer, &record, &tally_data_event(data, 0)->layout);
			again->traces++;
			again->bytes += tally_record_extent(&record) - record.size;
		}
	}
	if (tally_writer_close(writer, &error))
		fail_msg("%s", error.text);
}

/* The index says the same of both files, counted from their first records. */
static void compare_index(const char *before, const char *after, uint64_t moved)
{
	struct tally_data *old = open_data(before), *new = open_data(after);
	const struct tally_data_info *a = tally_data_info(old), *b = tally_data_info(new);

	assert_int_equal(a->aux_part_count, b->aux_part_count);
	for (size_t i = 0; i < a->aux_part_count; i++) {
		assert_int_equal(a->aux_parts[i].offset + moved, b->aux_parts[i].offset);
		assert_int_equal(a->aux_parts[i].size, b->aux_parts[i].size);
	}
	tally_data_close(old);
	tally_data_close(new);
}

static void visit(const struct corpus_row *row, void *context)
{
	struct again *again = context;
	struct tally_data *data;
	struct bytes before, after;
	char path[512];
	uint64_t from, to, size;

	if (!corpus_count(row->counts, "AUXTRACE_INFO") || strcmp(row->format, "file"))
		return;
	snprintf(path, sizeof(path), "%s/again.data", again->folder);
	data = open_data(row->path);
	write_again(again, data, path);
	tally_data_close(data);
	before = read_bytes(row->path);
	after = read_bytes(path);
	from = load_u64(before.data + DATA_AT);
	size = load_u64(before.data + DATA_SIZE);
	to = load_u64(after.data + DATA_AT);
	assert_int_equal(load_u64(after.data + DATA_SIZE), size);
	assert_memory_equal(before.data + from, after.data + to, size);
	free(before.data);
	free(after.data);
	compare_index(row->path, path, to - from);
	again->files++;
}

static void recordings_of_others_are_written_again(void **state)
{
	struct again again = {.folder = *state};

	if (!corpus_each(visit, &again)) {
		print_message("skipped: TALLY_CORPUS names no corpus of recordings; the other "
			      "tests have made-up traces\n");
		skip();
	}
	assert_int_equal(again.files, 4);
	assert_int_equal(again.traces, 6);
	assert_int_equal(again.bytes, 149968 + 39200 + 80);
}

/* Sizes that are no multiple of 8 are padded; compressed recordings have plain traces. */
static void traces_are_padded_and_plain(void **state)
{
	static const uint8_t trace[21] = "twenty-one bytes long";

	for (int level = 0; level < 2; level++) {
		struct tally_writer_options options = {.size = sizeof(options),
						       .compress_level = level};
		struct tally_record_auxtrace record = {.size = sizeof(trace),
						       .trace_offset = 4096,
						       .reference = 77,
						       .idx = 3,
						       .tid = 55,
						       .cpu = 2};
		struct iovec iov = {(void *)(uintptr_t)trace, sizeof(trace)};
		char *path = path_in(state, "padded.data");
		struct tally_writer *writer = recording_begin(path, &options);
		struct tally_data *data;
		const struct tally_data_info *info;
		struct tally_error error;
		struct bytes whole;
		uint64_t time = 5, at;

		recording_samples(writer, 10, &time);
		assert_int_equal(tally_writer_append_aux(writer, &record, &iov, 1, &error), 0);
		recording_samples(writer, 10, &time);
		assert_int_equal(tally_writer_append_aux(writer, &record, &iov, 1, &error), 0);
		assert_int_equal(tally_writer_close(writer, &error), 0);
		data = open_data(path);
		info = tally_data_info(data);
		assert_int_equal(info->aux_part_count, 2);
		whole = read_bytes(path);
		for (int i = 0; i < 2; i++) {
			at = info->aux_parts[i].offset;
			assert_int_equal(load_u32(whole.data + at), PERF_RECORD_AUXTRACE);
			assert_int_equal(load_u64(whole.data + at + 8), 24);
			assert_int_equal(load_u64(whole.data + at + 16), 4096);
			assert_int_equal(load_u64(whole.data + at + 24), 77);
			assert_int_equal(load_u32(whole.data + at + 32), 3);
			assert_int_equal(load_u32(whole.data + at + 36), 55);
			assert_int_equal(load_u32(whole.data + at + 40), 2);
			assert_memory_equal(whole.data + at + 48, trace, sizeof(trace));
			assert_memory_equal(whole.data + at + 48 + sizeof(trace), "\0\0\0", 3);
		}
		free(whole.data);
		{
			uint64_t counts[128];

			count_records(data, counts);
			assert_int_equal(counts[PERF_RECORD_SAMPLE], 20);
			assert_int_equal(counts[PERF_RECORD_AUXTRACE], 2);
		}
		tally_data_close(data);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(recordings_of_others_are_written_again),
	    cmocka_unit_test(traces_are_padded_and_plain),
	};

	return cmocka_run_group_tests(tests, recording_folder_make, recording_folder_remove);
}
