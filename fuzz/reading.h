/* What the targets that open recordings do with one: every feature and event is looked at, every
 * record walked twice, the second time by a reader that is stricter than the first. */
#ifndef TALLY_FUZZ_READING_H
#define TALLY_FUZZ_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tally/data.h>

static volatile uint64_t sink; /* so that reads are not optimised away */

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void touch(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += at[i];
	sink += sum;
}

static void touch_text(const char *text)
{
	while (text && *text)
		sink += (uint8_t)*text++;
}

static void look_at_info(const struct tally_data *data)
{
	const struct tally_data_info *info = tally_data_info(data);

	touch_text(info->hostname);
	touch_text(info->os_release);
	touch_text(info->version);
	touch_text(info->arch);
	touch_text(info->cpu_desc);
	touch_text(info->cpuid);
	for (size_t i = 0; i < info->cmdline_count; i++)
		touch_text(info->cmdline[i]);
	for (size_t i = 0; i < info->build_id_count; i++) {
		require(info->build_ids[i].size <= sizeof(info->build_ids[i].id));
		touch_text(info->build_ids[i].filename);
	}
	for (unsigned feature = 0; feature < 260; feature++) {
		struct tally_block block = tally_data_feature(data, feature);

		touch(block.bytes, block.size);
	}
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		const struct tally_data_event *event = tally_data_event(data, i);

		touch_text(event->name);
		touch(event->ids, event->id_count * sizeof(*event->ids));
		require(event->name && event->leader < tally_data_event_count(data));
		if (event->id_count)
			require(tally_data_find_event(data, event->ids[0]) >= 0);
	}
}

static uint64_t walk(struct tally_data *data)
{
	struct tally_record record;
	uint64_t count = 0;

	while (tally_data_next_record(data, &record, NULL) > 0) {
		require((uintptr_t)record.bytes % 8 == 0 && record.size % 8 == 0);
		touch(record.bytes, tally_record_extent(&record));
		sink += (uint64_t)tally_data_event_of(data, &record);
		count++;
	}
	return count;
}

/* Finds fault with every seventh record that is sound. */
static void walk_strictly(struct tally_data *data)
{
	struct tally_block block;
	uint64_t count = 0, last = 0;
	int more = tally_data_next(data, &block, NULL);

	while (more > 0) {
		size_t at = 0;
		struct tally_record record;
		bool bad = false;

		require(block.offset >= last);
		while (at < block.size) {
			bad = !tally_block_record(&block, at, &record) || ++count % 7 == 0;
			if (bad)
				break;
			touch(record.bytes, record.size);
			at += tally_record_extent(&record);
		}
		last = block.offset + at;
		more = bad ? tally_data_block_bad(data, block.offset + at, &block, NULL)
			   : tally_data_next(data, &block, NULL);
	}
}

/* Opens the bytes as a file. */
__attribute__((unused)) static void read_recording(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct tally_error error = {0};
	struct tally_data *data = NULL;
	char path[64];

	require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (tally_data_open(path, NULL, &data, &error) == 0) {
		uint64_t count;

		look_at_info(data);
		count = walk(data);
		tally_data_rewind(data);
		require(walk(data) == count);
		tally_data_rewind(data);
		walk_strictly(data);
		touch_text(tally_data_damage(data)->text);
		tally_data_close(data);
	} else {
		require(error.code && error.text[0]);
	}
	close(fd);
}

#endif
