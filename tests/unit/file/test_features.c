/* What feature sections say, on sections made by hand after the perf.data format. */
#include "made_recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/buf.h"
#include "base/bytes.h"

#define EVENTS 4

/* Sections of one file, by number. */
struct sections {
	struct tally_buf payload[256];
	bool empty[256];          /* there, without a payload */
	struct tally_buf records; /* before the data's last */
	char *path;
};

static void begin(struct sections *sections, void **state)
{
	*sections = (struct sections){.path = path_in(state, "features.data")};
}

static void string(struct tally_buf *to, const char *text)
{
	size_t length = strlen(text) + 1, room = (length + 63) / 64 * 64;

	tally_buf_u32(to, (uint32_t)room);
	tally_buf_add(to, text, length);
	tally_buf_zero(to, room - length);
}

static void u32s(struct tally_buf *to, size_t count, const uint32_t *values)
{
	for (size_t i = 0; i < count; i++)
		tally_buf_u32(to, values[i]);
}
#define U32S(to, ...)                                                        \
	u32s(to, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), \
	     (const uint32_t[]){__VA_ARGS__})

/* A file of EVENTS events with these sections, opened; the sections are done with. */
static struct tally_data *finish(struct sections *sections)
{
	const uint64_t entry = 64 + 16, data_at = 104 + EVENTS * entry;
	struct tally_attr attr = {.size = 64, .sample_type = PERF_SAMPLE_IP};
	struct tally_buf file = {0}, behind = {0};
	uint64_t bits[4] = {0}, at = data_at + sections->records.size + 8;
	struct tally_data *data;

	for (unsigned i = 0; i < 256; i++)
		if (sections->payload[i].size || sections->empty[i]) {
			bits[i / 64] |= 1ULL << i % 64;
			at += 16;
		}
	tally_buf_text(&file, "PERFILE2");
	tally_buf_u64(&file, 104);
	tally_buf_u64(&file, entry);
	tally_buf_u64(&file, 104);
	tally_buf_u64(&file, EVENTS * entry);
	tally_buf_u64(&file, data_at);
	tally_buf_u64(&file, sections->records.size + 8);
	tally_buf_zero(&file, 16);
	tally_buf_add(&file, bits, sizeof(bits));
	for (unsigned i = 0; i < EVENTS; i++) {
		tally_buf_add(&file, &attr, 64);
		tally_buf_zero(&file, 16);
	}
	tally_buf_add(&file, sections->records.data, sections->records.size);
	tally_buf_done(&sections->records);
	U32S(&file, PERF_RECORD_FINISHED_INIT, 8U << 16);
	for (unsigned i = 0; i < 256; i++) {
		struct tally_buf *payload = &sections->payload[i];

		if (!payload->size && !sections->empty[i])
			continue;
		tally_buf_u64(&file, at + behind.size);
		tally_buf_u64(&file, payload->size);
		tally_buf_add(&behind, payload->data, payload->size);
		tally_buf_done(payload);
	}
	tally_buf_add(&file, behind.data, behind.size);
	write_bytes(sections->path, file.data, file.size);
	tally_buf_done(&behind);
	tally_buf_done(&file);
	data = open_data(sections->path);
	free(sections->path);
	return data;
}

static void add_cpus(struct sections *sections)
{
	struct tally_buf *to = &sections->payload[TALLY_FEATURE_CPU_TOPOLOGY];

	U32S(&sections->payload[TALLY_FEATURE_NRCPUS], 2, 1);
	U32S(to, 1);
	string(to, "0-1");
	U32S(to, 2);
	string(to, "0");
	string(to, "1");
}

static void topology_of_each_revision(void **state)
{
	for (unsigned revision = 1; revision <= 3; revision++) {
		const struct tally_data_topology *topology;
		struct sections sections;
		struct tally_buf *to = &sections.payload[TALLY_FEATURE_CPU_TOPOLOGY];
		struct tally_data *data;

		begin(&sections, state);
		add_cpus(&sections);
		if (revision >= 2)
			U32S(to, 7, 0, 8, 1);
		if (revision >= 3) {
			U32S(to, 1);
			string(to, "0-1");
			U32S(to, 3, 4);
		}
		data = finish(&sections);
		topology = &tally_data_info(data)->topology;
		assert_int_equal(tally_data_damage(data)->count, 0);
		assert_int_equal(topology->sockets.count, 1);
		assert_string_equal(topology->threads.text[1], "1");
		assert_int_equal(topology->cpu_count, revision >= 2 ? 2 : 0);
		assert_int_equal(topology->has_dies, revision >= 3);
		if (revision >= 2) {
			assert_int_equal(topology->cpus[1].core, 8);
			assert_int_equal(topology->cpus[1].socket, 1);
		}
		if (revision >= 3)
			assert_int_equal(topology->cpus[1].die, 4);
		tally_data_close(data);
	}
}

static void domains_with_and_without_names(void **state)
{
	for (uint32_t version = 15; version <= 17; version += 2) {
		const struct tally_data_info *info;
		struct sections sections;
		struct tally_buf *to = &sections.payload[TALLY_FEATURE_CPU_DOMAIN_INFO];
		struct tally_data *data;

		begin(&sections, state);
		U32S(to, version, 2);
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			U32S(to, cpu, 1, 0);
			if (version >= 17)
				string(to, "MC");
			string(to, "3");
			string(to, "0-1");
		}
		data = finish(&sections);
		info = tally_data_info(data);
		assert_int_equal(tally_data_damage(data)->count, 0);
		assert_int_equal(info->schedstat_version, version);
		assert_int_equal(info->cpu_domain_count, 2);
		assert_int_equal(info->cpu_domains[1].cpu, 1);
		assert_string_equal(info->cpu_domains[1].cpus, "0-1");
		if (version >= 17)
			assert_string_equal(info->cpu_domains[0].name, "MC");
		else
			assert_null(info->cpu_domains[0].name);
		tally_data_close(data);
	}
}

static void the_newest_numbers(void **state)
{
	const struct tally_data_info *info;
	struct sections sections;
	struct tally_data *data;

	begin(&sections, state);
	U32S(&sections.payload[TALLY_FEATURE_E_MACHINE], 62, 5);
	U32S(&sections.payload[TALLY_FEATURE_CLN_SIZE], 64);
	U32S(&sections.payload[TALLY_FEATURE_COMPRESSED], 1, 1, 3, 7, 528384);
	data = finish(&sections);
	info = tally_data_info(data);
	assert_true(info->has_e_machine);
	assert_int_equal(info->e_machine, 62);
	assert_int_equal(info->e_flags, 5);
	assert_int_equal(info->cache_line_size, 64);
	assert_true(info->has_compression);
	assert_int_equal(info->compression_level, 3);
	assert_int_equal(info->compression_ratio, 7);
	tally_data_close(data);
}

static void add_group(struct tally_buf *to, const char *name, uint32_t leader, uint32_t members)
{
	string(to, name);
	U32S(to, leader, members);
}

static void groups_follow_each_other(void **state)
{
	const struct tally_data_info *info;
	struct sections sections;
	struct tally_buf *to = &sections.payload[TALLY_FEATURE_GROUP_DESC];
	struct tally_data *data;

	begin(&sections, state);
	U32S(to, 2);
	add_group(to, "first", 0, 2);
	add_group(to, "{anon_group}", 2, 2);
	data = finish(&sections);
	info = tally_data_info(data);
	assert_int_equal(tally_data_damage(data)->count, 0);
	assert_int_equal(info->group_count, 2);
	assert_string_equal(info->groups[0].name, "first");
	assert_int_equal(tally_data_event(data, 1)->leader, 0);
	assert_int_equal(tally_data_event(data, 3)->leader, 2);
	tally_data_close(data);
}

/* Groups that overlap would let a small file ask for the product of both. */
static void groups_that_overlap_are_damage(void **state)
{
	struct sections sections;
	struct tally_buf *to = &sections.payload[TALLY_FEATURE_GROUP_DESC];
	struct tally_data *data;

	begin(&sections, state);
	U32S(to, 2);
	add_group(to, "first", 0, 3);
	add_group(to, "second", 2, 2);
	data = finish(&sections);
	assert_int_equal(tally_data_damage(data)->count, 1);
	assert_int_equal(tally_data_info(data)->group_count, 1);
	assert_int_equal(tally_data_event(data, 3)->leader, 3);
	tally_data_close(data);
}

static int note_symbol(void *context, uint64_t address, uint64_t size, const char *name,
		       size_t name_size)
{
	tally_buf_printf(context, "%" PRIx64 "+%" PRIx64 " %.*s\n", address, size, (int)name_size,
			 name);
	return 0;
}

static void what_simpleperf_writes(void **state)
{
	static const char meta[] = "simpleperf_version\0"
				   "1.build.7\0clockid\0monotonic";
	/* the second symbol has no field */
	static const uint8_t message[] = {0x0a, 4,    '/',  'a',  '.', 'b',  0x10, 2,
					  0x18, 0x80, 0x20, 0x22, 8,   8,    0x81, 0x20,
					  0x10, 0x20, 0x1a, 1,    'a', 0x22, 0,    0x3a,
					  1,    'x',  0x32, 3,    8,   0x80, 4};
	const struct tally_data_info *info;
	struct sections sections;
	struct tally_buf *file = &sections.payload[TALLY_FEATURE_SIMPLEPERF_FILE], symbols = {0};
	struct tally_data *data;

	begin(&sections, state);
	tally_buf_add(&sections.payload[TALLY_FEATURE_SIMPLEPERF_META_INFO], meta, sizeof(meta));
	U32S(file, 3 + 4 + 8 + 4 + 2 * (8 + 4 + 4));
	tally_buf_add(file, "/k", 3);
	U32S(file, 0);
	tally_buf_u64(file, 0x1000);
	U32S(file, 2);
	for (unsigned i = 0; i < 2; i++) {
		tally_buf_u64(file, 0x1010 + 16 * i);
		U32S(file, 16);
		tally_buf_add(file, i ? "two" : "one", 4);
	}
	U32S(&sections.payload[TALLY_FEATURE_SIMPLEPERF_FILE2], sizeof(message));
	tally_buf_add(&sections.payload[TALLY_FEATURE_SIMPLEPERF_FILE2], message, sizeof(message));
	data = finish(&sections);
	info = tally_data_info(data);
	assert_int_equal(tally_data_damage(data)->count, 0);
	assert_int_equal(info->meta_info.count, 2);
	assert_string_equal(info->meta_info.pair[1].key, "clockid");
	assert_string_equal(info->meta_info.pair[1].value, "monotonic");
	assert_int_equal(info->file_count, 2);
	assert_string_equal(info->files[0].path, "/k");
	assert_int_equal(info->files[0].min_vaddr, 0x1000);
	assert_int_equal(info->files[0].kind, TALLY_DATA_FILE_KERNEL);
	assert_int_equal(info->files[0].min_offset, UINT64_MAX);
	assert_int_equal(info->files[0].symbol_count, 2);
	assert_int_equal(tally_data_file_symbols(data, &info->files[0], note_symbol, &symbols), 0);
	assert_string_equal(tally_buf_str(&symbols), "1010+10 one\n1020+10 two\n");
	assert_string_equal(info->files[1].path, "/a.b");
	assert_int_equal(info->files[1].kind, TALLY_DATA_FILE_BINARY);
	assert_int_equal(info->files[1].min_offset, 0x200);
	assert_int_equal(info->files[1].min_vaddr, 0x1000);
	assert_int_equal(info->files[1].symbol_count, 2);
	tally_buf_clear(&symbols);
	assert_int_equal(tally_data_file_symbols(data, &info->files[1], note_symbol, &symbols), 0);
	assert_string_equal(tally_buf_str(&symbols), "1001+20 a\n0+0 \n");
	tally_buf_done(&symbols);
	tally_data_close(data);
}

/* A record of so many bytes behind its header, in pieces. */
static void add_pieces(struct tally_buf *to, uint32_t type, const uint8_t *bytes, size_t size)
{
	size_t whole = 8 + size;
	struct tally_buf record = {0};

	/* The high half of the size is where others have `misc`. */
	U32S(&record, type, (uint32_t)(whole << 16 | whole >> 16));
	tally_buf_add(&record, bytes, size);
	for (size_t at = 0; at < record.size; at += 65527) {
		size_t piece = MIN(record.size - at, (size_t)65527);

		U32S(to, SIMPLE_PERF_RECORD_SPLIT, (uint32_t)(piece + 8) << 16);
		tally_buf_add(to, record.data + at, piece);
	}
	U32S(to, SIMPLE_PERF_RECORD_SPLIT_END, 8U << 16);
	tally_buf_done(&record);
}

static void simpleperfs_tracing_data_in_pieces(void **state)
{
	static const char meta[] = "simpleperf_version\0"
				   "1";
	uint8_t bytes[4 + 200000] = {0x40, 0x0d, 3}; /* 200,000 */
	struct sections sections;
	struct tally_block block;
	struct tally_data *data;

	for (size_t i = 4; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 3);
	begin(&sections, state);
	tally_buf_add(&sections.payload[TALLY_FEATURE_SIMPLEPERF_META_INFO], meta, sizeof(meta));
	/* The kernel's symbols, in more pieces than records are looked at. */
	for (unsigned i = 0; i < 8; i++)
		add_pieces(&sections.records, SIMPLE_PERF_RECORD_KERNEL_SYMBOL, bytes,
			   sizeof(bytes));
	add_pieces(&sections.records, SIMPLE_PERF_RECORD_TRACING_DATA, bytes, sizeof(bytes));
	data = finish(&sections);
	assert_int_equal(tally_data_damage(data)->count, 0);
	block = tally_data_feature(data, TALLY_FEATURE_TRACING_DATA);
	assert_int_equal(block.size, 200000);
	assert_memory_equal(block.bytes, bytes + 4, 200000);
	tally_data_close(data);
	/* Without its end it is no record. */
	begin(&sections, state);
	tally_buf_add(&sections.payload[TALLY_FEATURE_SIMPLEPERF_META_INFO], meta, sizeof(meta));
	add_pieces(&sections.records, SIMPLE_PERF_RECORD_TRACING_DATA, bytes, sizeof(bytes));
	sections.records.size -= 8;
	data = finish(&sections);
	assert_int_equal(tally_data_feature(data, TALLY_FEATURE_TRACING_DATA).size, 0);
	tally_data_close(data);
}

/* A count that the section cannot hold: damage, and nothing is believed of it. */
static void counts_beyond_the_section_are_damage(void **state)
{
	static const unsigned features[] = {
	    TALLY_FEATURE_CMDLINE,         TALLY_FEATURE_CPU_TOPOLOGY,
	    TALLY_FEATURE_NUMA_TOPOLOGY,   TALLY_FEATURE_PMU_MAPPINGS,
	    TALLY_FEATURE_GROUP_DESC,      TALLY_FEATURE_EVENT_DESC,
	    TALLY_FEATURE_CPU_PMU_CAPS,    TALLY_FEATURE_PMU_CAPS,
	    TALLY_FEATURE_HYBRID_TOPOLOGY, TALLY_FEATURE_BPF_BTF,
	    TALLY_FEATURE_BPF_PROG_INFO,   TALLY_FEATURE_SIMPLEPERF_FILE2,
	    TALLY_FEATURE_SIMPLEPERF_FILE};

	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++) {
		struct sections sections;
		struct tally_data *data;

		begin(&sections, state);
		U32S(&sections.payload[features[i]], 0xfffffff0, 0xfffffff0, 0xfffffff0,
		     0xfffffff0);
		data = finish(&sections);
		assert_int_equal(tally_data_damage(data)->count, 1);
		tally_data_close(data);
	}
}

/* perf 6.17 without libbpf writes them so. */
static void empty_sections_are_no_damage(void **state)
{
	struct sections sections;
	struct tally_data *data;

	begin(&sections, state);
	sections.empty[TALLY_FEATURE_BPF_PROG_INFO] = sections.empty[TALLY_FEATURE_BPF_BTF] = true;
	string(&sections.payload[TALLY_FEATURE_HOSTNAME], "host");
	data = finish(&sections);
	assert_int_equal(tally_data_damage(data)->count, 0);
	assert_int_equal(tally_data_info(data)->bpf_program_count, 0);
	assert_string_equal(tally_data_info(data)->hostname, "host");
	tally_data_close(data);
}

static void every_number_has_the_name_that_perf_gives_it(void **state)
{
	(void)state;
	assert_null(tally_feature_name(0));
	assert_string_equal(tally_feature_name(TALLY_FEATURE_NRCPUS), "NRCPUS");
	assert_string_equal(tally_feature_name(22), "MEM_TOPOLOGY");
	assert_string_equal(tally_feature_name(31), "PMU_CAPS");
	assert_string_equal(tally_feature_name(34), "CLN_SIZE");
	assert_null(tally_feature_name(35));
	assert_string_equal(tally_feature_name(129), "META_INFO");
	assert_null(tally_feature_name(134));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(topology_of_each_revision),
	    cmocka_unit_test(domains_with_and_without_names),
	    cmocka_unit_test(the_newest_numbers),
	    cmocka_unit_test(groups_follow_each_other),
	    cmocka_unit_test(groups_that_overlap_are_damage),
	    cmocka_unit_test(what_simpleperf_writes),
	    cmocka_unit_test(simpleperfs_tracing_data_in_pieces),
	    cmocka_unit_test(counts_beyond_the_section_are_damage),
	    cmocka_unit_test(empty_sections_are_no_damage),
	    cmocka_unit_test(every_number_has_the_name_that_perf_gives_it),
	};

	return cmocka_run_group_tests(tests, recording_folder_make, recording_folder_remove);
}
