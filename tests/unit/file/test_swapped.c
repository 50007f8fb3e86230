/* Recordings of the other byte order: copies of sound ones, swapped part by part, read the same. */
#include "made_recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "corpus.h"

static void swap_u64(uint8_t *at)
{
	store_u64(at, __builtin_bswap64(load_u64(at)));
}

static void swap_u32(uint8_t *at)
{
	store_u32(at, __builtin_bswap32(load_u32(at)));
}

static void swap_u16(uint8_t *at)
{
	store_u16(at, __builtin_bswap16(load_u16(at)));
}

/* The attr's members by hand; flags keep their bytes and turn the bits of each. */
static void swap_attr(uint8_t *at, uint32_t size)
{
	static const struct {
		uint8_t at, width;
	} members[] = {{0, 4},   {4, 4},   {8, 8},   {16, 8},  {24, 8},  {32, 8},
		       {48, 4},  {52, 4},  {56, 8},  {64, 8},  {72, 8},  {80, 8},
		       {88, 4},  {92, 4},  {96, 8},  {104, 4}, {108, 2}, {110, 2},
		       {112, 4}, {116, 4}, {120, 8}, {128, 8}, {136, 8}};
	uint64_t flags, precise;

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		if (members[i].at + members[i].width > (int)size)
			break;
		if (members[i].width == 8)
			swap_u64(at + members[i].at);
		else if (members[i].width == 4)
			swap_u32(at + members[i].at);
		else
			swap_u16(at + members[i].at);
	}
	/* precise_ip, bits 15 and 16, is the only flag of two bits: the first is its high one
	 * there. */
	flags = load_u64(at + 40);
	precise = flags >> 15 & 3;
	precise = precise >> 1 | (precise & 1) << 1;
	store_u64(at + 40, (flags & ~(3ULL << 15)) | precise << 15);
	for (int i = 40; i < 48; i++) {
		uint8_t turned = 0;

		for (int bit = 0; bit < 8; bit++)
			if (at[i] >> bit & 1)
				turned = (uint8_t)(turned | 0x80 >> bit);
		at[i] = turned;
	}
}

/* {u32 length, bytes}; returns where it ends. */
static uint8_t *swap_string(uint8_t *at)
{
	uint32_t length = load_u32(at);

	swap_u32(at);
	return at + 4 + length;
}

static void swap_build_ids(uint8_t *at, const uint8_t *end)
{
	while (at + 36 <= end) {
		uint16_t size = load_u16(at + 6);

		swap_u32(at);
		swap_u16(at + 4);
		swap_u16(at + 6);
		swap_u32(at + 8);
		if (!size)
			break;
		at += size;
	}
}

static void swap_event_desc(uint8_t *at)
{
	uint32_t count = load_u32(at), attr_size = load_u32(at + 4);

	swap_u32(at);
	swap_u32(at + 4);
	at += 8;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t ids = load_u32(at + attr_size);

		swap_attr(at, attr_size);
		swap_u32(at + attr_size);
		at = swap_string(at + attr_size + 4);
		for (uint32_t k = 0; k < ids; k++, at += 8)
			swap_u64(at);
	}
}

/* A section as a pattern: '4' and '8' numbers, 's' a string, 'n' a u32 that counts how often the
 * rest comes, 'b' a u32 and so many bytes; what comes behind its end stays as it is. */
static uint8_t *swap_pattern(uint8_t *at, const uint8_t *end, const char *pattern)
{
	for (; *pattern && at < end; pattern++) {
		uint32_t count = load_u32(at);

		if (*pattern == '8') {
			swap_u64(at);
			at += 8;
		} else if (*pattern == 's' || *pattern == 'b') {
			at = swap_string(at);
		} else {
			swap_u32(at);
			at += 4;
		}
		if (*pattern == 'n') {
			while (count--)
				at = swap_pattern(at, end, pattern + 1);
			break;
		}
	}
	return at;
}

static void swap_cpu_topology(uint8_t *at, const uint8_t *end, uint32_t cpus)
{
	at = swap_pattern(at, end, "ns");
	at = swap_pattern(at, end, "ns");
	for (uint32_t i = 0; i < cpus; i++)
		at = swap_pattern(at, end, "44");
	at = swap_pattern(at, end, "ns");
	for (uint32_t i = 0; i < cpus; i++)
		at = swap_pattern(at, end, "4");
}

static void swap_mem_topology(uint8_t *at)
{
	uint64_t count = load_u64(at + 16);

	swap_pattern(at, at + 24, "888");
	for (at += 24; count; count--) {
		uint64_t words = (load_u64(at + 16) + 63) / 64;

		swap_pattern(at, at + 24, "888");
		for (at += 24; words; words--, at += 8)
			swap_u64(at);
	}
}

static void swap_bpf_prog_info(uint8_t *at)
{
	uint32_t count = load_u32(at);

	swap_u32(at);
	for (at += 4; count; count--) {
		uint32_t skip = load_u32(at) + load_u32(at + 4);

		at = swap_pattern(at, at + 16, "448") + skip;
	}
}

static void swap_simpleperf_file(uint8_t *at, const uint8_t *end)
{
	while (at + 4 < end) {
		uint8_t *body = at + 4, *next = swap_string(at);

		body += strlen((const char *)body) + 1;
		swap_pattern(body, next, "484");
		at = next;
	}
}

/* The features that a reader is asked about here; others stay as they are and are not asked. */
static void swap_feature(uint8_t *file, unsigned feature, uint64_t offset, uint64_t size,
			 uint32_t *cpus)
{
	/* By number; the layouts are those of the perf.data format. */
	static const char *const patterns[64] = {
	    [14] = "n488s", [16] = "n4s",   [20] = "4n4444sss", [23] = "8",    [24] = "8",
	    [26] = "n4b",   [27] = "44444", [28] = "nss",       [29] = "4488", [30] = "nss",
	};
	uint8_t *at = file + offset;
	uint32_t count;

	switch (feature) {
	case 2:
		swap_build_ids(at, at + size);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
	case 8:
	case 9:
		if (size)
			swap_string(at);
		break;
	case 7:
		*cpus = load_u32(at);
		swap_u32(at);
		swap_u32(at + 4);
		break;
	case 10:
		swap_u64(at);
		break;
	case 11:
		count = load_u32(at);
		swap_u32(at);
		for (at += 4; count; count--)
			at = swap_string(at);
		break;
	case 12:
		swap_event_desc(at);
		break;
	case 13:
		swap_cpu_topology(at, at + size, *cpus);
		break;
	case 17:
		count = load_u32(at);
		swap_u32(at);
		for (at += 4; count; count--) {
			at = swap_string(at);
			swap_u32(at);
			swap_u32(at + 4);
			at += 8;
		}
		break;
	case 21:
		swap_u64(at);
		swap_u64(at + 8);
		break;
	case 18:
		for (uint8_t *end = at + size; at < end; at += 8)
			swap_u64(at);
		break;
	case 22:
		swap_mem_topology(at);
		break;
	case 25:
		swap_bpf_prog_info(at);
		break;
	case 31:
		count = load_u32(at);
		swap_u32(at);
		for (at += 4; count; count--)
			at = swap_string(swap_pattern(at, file + offset + size, "nss"));
		break;
	case 128:
		swap_simpleperf_file(at, at + size);
		break;
	case 132:
		for (uint8_t *end = at + size; at + 4 < end;)
			at = swap_string(at);
		break;
	default:
		if (feature < 64 && patterns[feature])
			swap_pattern(at, at + size, patterns[feature]);
		break;
	}
}

/* False when a record cannot be swapped. */
static bool swap_file(const struct tally_data *sound, struct tally_data *walked, uint8_t *file)
{
	uint64_t attrs_at = load_u64(file + 24), attrs_size = load_u64(file + 32);
	uint64_t entry = load_u64(file + 16), table;
	struct tally_record record;
	uint32_t cpus = 0;
	int code;

	while ((code = tally_data_next_record(walked, &record, NULL)) > 0) {
		int event = tally_data_event_of(sound, &record);

		if (event < 0 || tally_record_swap(&tally_data_event(sound, (size_t)event)->layout,
						   file + record.offset, record.size, false, NULL))
			return false;
	}
	table = load_u64(file + 40) + load_u64(file + 48);
	for (unsigned feature = 0; feature < 256; feature++) {
		if (!(load_u64(file + 72 + feature / 64 * 8) >> (feature % 64) & 1))
			continue;
		swap_feature(file, feature, load_u64(file + table), load_u64(file + table + 8),
			     &cpus);
		swap_u64(file + table);
		swap_u64(file + table + 8);
		table += 16;
	}
	for (uint64_t at = attrs_at; at < attrs_at + attrs_size; at += entry) {
		uint64_t ids = load_u64(file + at + entry - 16),
			 size = load_u64(file + at + entry - 8);

		for (uint64_t k = 0; k < size; k += 8)
			swap_u64(file + ids + k);
		swap_u64(file + at + entry - 16);
		swap_u64(file + at + entry - 8);
		swap_attr(file + at, (uint32_t)entry - 16);
	}
	memcpy(file, "2ELIFREP", 8);
	for (int at = 8; at < 104; at += 8)
		swap_u64(file + at);
	return true;
}

static void same_text(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void same_machine(const struct tally_data_info *left, const struct tally_data_info *right)
{
	assert_int_equal(left->topology.sockets.count, right->topology.sockets.count);
	assert_int_equal(left->topology.threads.count, right->topology.threads.count);
	assert_int_equal(left->topology.cpu_count, right->topology.cpu_count);
	assert_int_equal(left->topology.has_dies, right->topology.has_dies);
	if (left->topology.cpu_count)
		assert_memory_equal(left->topology.cpus, right->topology.cpus,
				    left->topology.cpu_count * sizeof(*left->topology.cpus));
	assert_int_equal(left->numa_node_count, right->numa_node_count);
	for (size_t i = 0; i < left->numa_node_count; i++)
		assert_int_equal(left->numa_nodes[i].total_kb, right->numa_nodes[i].total_kb);
	assert_int_equal(left->cache_count, right->cache_count);
	for (size_t i = 0; i < left->cache_count; i++)
		assert_string_equal(left->caches[i].cpus, right->caches[i].cpus);
	assert_int_equal(left->pmu_count, right->pmu_count);
	for (size_t i = 0; i < left->pmu_count; i++)
		assert_int_equal(left->pmus[i].type, right->pmus[i].type);
	assert_int_equal(left->memory_block_size, right->memory_block_size);
	assert_int_equal(left->memory_node_count, right->memory_node_count);
	for (size_t i = 0; i < left->memory_node_count; i++)
		assert_memory_equal(left->memory_nodes[i].blocks, right->memory_nodes[i].blocks,
				    (left->memory_nodes[i].block_count + 63) / 64 * 8);
	assert_int_equal(left->pmu_caps_count, right->pmu_caps_count);
	assert_int_equal(left->aux_part_count, right->aux_part_count);
	assert_int_equal(left->clock_wall_ns, right->clock_wall_ns);
	assert_int_equal(left->event_desc_count, right->event_desc_count);
	assert_int_equal(left->btf_count, right->btf_count);
	assert_int_equal(left->bpf_program_count, right->bpf_program_count);
	assert_int_equal(left->meta_info.count, right->meta_info.count);
	assert_int_equal(left->file_count, right->file_count);
}

static void same_facts(const struct tally_data *a, const struct tally_data *b)
{
	const struct tally_data_info *left = tally_data_info(a), *right = tally_data_info(b);

	same_text(left->hostname, right->hostname);
	same_text(left->os_release, right->os_release);
	same_text(left->version, right->version);
	same_text(left->arch, right->arch);
	same_text(left->cpu_desc, right->cpu_desc);
	same_text(left->cpuid, right->cpuid);
	assert_int_equal(left->cpus_available, right->cpus_available);
	assert_int_equal(left->cpus_online, right->cpus_online);
	assert_int_equal(left->total_mem_kb, right->total_mem_kb);
	assert_int_equal(left->sample_time_first, right->sample_time_first);
	assert_int_equal(left->sample_time_last, right->sample_time_last);
	assert_int_equal(left->cmdline_count, right->cmdline_count);
	for (size_t i = 0; i < left->cmdline_count; i++)
		assert_string_equal(left->cmdline[i], right->cmdline[i]);
	assert_int_equal(left->build_id_count, right->build_id_count);
	for (size_t i = 0; i < left->build_id_count; i++) {
		assert_int_equal(left->build_ids[i].misc, right->build_ids[i].misc);
		assert_int_equal(left->build_ids[i].pid, right->build_ids[i].pid);
		assert_memory_equal(left->build_ids[i].id, right->build_ids[i].id, 20);
		assert_string_equal(left->build_ids[i].filename, right->build_ids[i].filename);
	}
	assert_memory_equal(left->features, right->features, sizeof(left->features));
	same_machine(left, right);
}

static void same_events(const struct tally_data *a, const struct tally_data *b)
{
	assert_int_equal(tally_data_event_count(a), tally_data_event_count(b));
	for (size_t i = 0; i < tally_data_event_count(a); i++) {
		const struct tally_data_event *left = tally_data_event(a, i);
		const struct tally_data_event *right = tally_data_event(b, i);

		assert_memory_equal(&left->attr, &right->attr, sizeof(left->attr));
		assert_string_equal(left->name, right->name);
		assert_int_equal(left->leader, right->leader);
		assert_int_equal(left->id_count, right->id_count);
		if (left->id_count)
			assert_memory_equal(left->ids, right->ids, left->id_count * 8);
	}
}

static void same_records(struct tally_data *a, struct tally_data *b)
{
	struct tally_record left, right;

	while (tally_data_next_record(a, &left, NULL) > 0) {
		assert_int_equal(tally_data_next_record(b, &right, NULL), 1);
		assert_int_equal(left.offset, right.offset);
		assert_int_equal(left.size, right.size);
		assert_memory_equal(left.bytes, right.bytes, tally_record_extent(&left));
		assert_int_equal(tally_data_event_of(a, &left), tally_data_event_of(b, &right));
	}
	assert_int_equal(tally_data_next_record(b, &right, NULL), 0);
}

static bool is_packed(const char *path)
{
	struct tally_data *data = open_data(path);
	struct tally_block block;
	bool packed = tally_data_next(data, &block, NULL) > 0 && tally_data_packed(data)->records;

	tally_data_close(data);
	return packed;
}

/* False when it holds what cannot be swapped. */
static bool check_file(const char *path, const char *copy)
{
	struct tally_data *sound = open_data(path), *walked = open_data(path), *swapped;
	struct bytes bytes = read_bytes(path);
	bool able = !is_packed(path) && swap_file(sound, walked, bytes.data) &&
		    !tally_data_damage(walked)->count;

	if (able) {
		write_bytes(copy, bytes.data, bytes.size);
		swapped = open_data(copy);
		same_facts(sound, swapped);
		same_events(sound, swapped);
		same_records(sound, swapped);
		assert_int_equal(tally_data_damage(swapped)->count, 0);
		tally_data_close(swapped);
	}
	free(bytes.data);
	tally_data_close(sound);
	tally_data_close(walked);
	return able;
}

struct tries {
	const char *copy;
	unsigned done;
};

static void check_row(const struct corpus_row *row, void *context)
{
	struct tries *tries = context;
	struct bytes bytes;
	uint64_t first;

	if (strcmp(row->format, "file"))
		return;
	bytes = read_bytes(row->path);
	first = load_u64(bytes.data + 72);
	free(bytes.data);
	/* Without HOSTNAME (simpleperf) it is unknown how the bitmap must be read. */
	if (first >> 3 & 1 && check_file(row->path, tries->copy))
		tries->done++;
}

static void reads_recordings_of_others(void **state)
{
	char *copy = path_in(state, "swapped.data");
	struct tries tries = {.copy = copy};
	bool there = corpus_each(check_row, &tries);

	free(copy);
	if (!there)
		skip(); /* TALLY_CORPUS is not set */
	assert_true(tries.done >= 25);
}

static void reads_ours(void **state)
{
	char *path = path_in(state, "ours.data"), *copy = path_in(state, "swapped.data");
	struct tally_writer *writer = recording_begin(path, NULL);
	struct tally_data_build_id build_id = {
	    .misc = 2, .pid = UINT32_MAX, .size = 20, .id = {0xab}, .filename = "/bin/a"};
	uint64_t time = 1000;

	recording_comm(writer, 77, "worker");
	recording_samples(writer, 40000, &time); /* more than one copied block */
	assert_int_equal(tally_writer_add_build_id(writer, &build_id), 0);
	tally_writer_set_sample_time(writer, 1000, time);
	assert_int_equal(tally_writer_round(writer, false, NULL), 0);
	assert_int_equal(tally_writer_close(writer, NULL), 0);
	assert_true(check_file(path, copy));
	free(path);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_ours),
	    cmocka_unit_test(reads_recordings_of_others),
	};

	return cmocka_run_group_tests(tests, recording_folder_make, recording_folder_remove);
}
