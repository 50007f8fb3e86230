/* The reader on files made by hand: every shape that a sound file may have, and each damage. */
#include "made_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"

/* A file of one or more events without features but what is given. */
struct made {
	uint32_t attr_size; /* of the attr; entries are 16 longer */
	uint32_t said_size; /* what the attr says of itself; 0: the same */
	uint64_t header_size;
	unsigned events;
	uint64_t features;
	int64_t data_size; /* -1: as it is */
	unsigned shift;    /* bytes in front of the data, so that they stand unaligned */
	bool bare;         /* records besides samples have no trailer */
	const char *magic;
};

static const struct made plain = {
    .attr_size = 64, .header_size = 104, .events = 1, .data_size = -1, .magic = "PERFILE2"};

/* Ids of event i are 100 * (i + 1) and the next. `tail` is what stands behind the data. */
static void make(const char *path, const struct made *made, const struct tally_buf *data,
		 const struct tally_buf *tail)
{
	uint64_t ids_at = made->header_size, attrs_at = ids_at + made->events * 16;
	uint64_t entry = made->attr_size + 16, data_at = attrs_at + made->events * entry;
	struct tally_buf file = {0};

	data_at += made->shift;
	tally_buf_text(&file, made->magic);
	tally_buf_u64(&file, made->header_size);
	tally_buf_u64(&file, entry);
	tally_buf_u64(&file, attrs_at);
	tally_buf_u64(&file, made->events * entry);
	tally_buf_u64(&file, data_at);
	tally_buf_u64(&file, made->data_size < 0 ? data->size : (uint64_t)made->data_size);
	tally_buf_zero(&file, 16);
	if (made->header_size == 104) {
		tally_buf_u64(&file, made->features);
		tally_buf_zero(&file, 24);
	}
	for (unsigned i = 0; i < made->events; i++) {
		tally_buf_u64(&file, 100 * (i + 1));
		tally_buf_u64(&file, 100 * (i + 1) + 1);
	}
	for (unsigned i = 0; i < made->events; i++) {
		uint8_t attr[8192];
		struct tally_attr known = {.type = PERF_TYPE_HARDWARE,
					   .size =
					       made->said_size ? made->said_size : made->attr_size,
					   .config = i,
					   .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP,
					   .sample_id_all = !made->bare};

		memset(attr, 0xee, sizeof(attr)); /* what no reader knows yet */
		memcpy(attr, &known,
		       made->attr_size < sizeof(known) ? made->attr_size : sizeof(known));
		tally_buf_add(&file, attr, made->attr_size);
		tally_buf_u64(&file, ids_at + i * 16);
		tally_buf_u64(&file, 16);
	}
	tally_buf_zero(&file, made->shift);
	tally_buf_add(&file, data->data, data->size);
	if (tail)
		tally_buf_add(&file, tail->data, tail->size);
	assert_int_equal(file.failed, 0);
	write_bytes(path, file.data, file.size);
	tally_buf_done(&file);
}

static void add_record(struct tally_buf *to, uint32_t type, uint16_t size, const void *body)
{
	struct perf_event_header header = {.type = type, .size = size};

	tally_buf_add(to, &header, sizeof(header));
	if (body)
		tally_buf_add(to, body, size - sizeof(header));
	else
		tally_buf_zero(to, size - sizeof(header));
}

static void add_samples(struct tally_buf *to, unsigned count, uint64_t id)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t body[2] = {id, 0x1000 + i};

		add_record(to, PERF_RECORD_SAMPLE, 24, body);
	}
}

static void takes_attrs_of_any_size(void **state)
{
	static const uint32_t sizes[] = {64,  72,  80,  96,  104, 112, 120,
					 128, 136, 144, 152, 200, 4096};
	char *path = path_in(state, "sizes.data");
	struct tally_buf data = {0};

	add_samples(&data, 5, 201);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct made made = plain;
		uint64_t counts[128];
		struct tally_data *file;

		made.attr_size = sizes[i];
		made.events = 3;
		make(path, &made, &data, NULL);
		file = open_data(path);
		assert_int_equal(tally_data_event_count(file), 3);
		assert_int_equal(tally_data_event(file, 2)->attr.size, sizes[i]);
		assert_int_equal(tally_data_event(file, 2)->attr.config, 2);
		assert_string_equal(tally_data_event(file, 2)->name, "cache-references:HG");
		if (sizes[i] == 64)
			assert_int_equal(tally_data_event(file, 0)->attr.config2, 0);
		assert_int_equal(tally_data_find_event(file, 301), 2);
		count_records(file, counts);
		assert_int_equal(counts[PERF_RECORD_SAMPLE], 5);
		assert_int_equal(tally_data_damage(file)->count, 0);
		tally_data_close(file);
	}
	tally_buf_done(&data);
	free(path);
}

/* An attr that says 0 means 64; the ids stand where the entry has room for them. */
static void takes_odd_attrs(void **state)
{
	static const struct {
		uint32_t size, said;
	} cases[] = {{64, 0}, {112, 4000}, {112, 8}, {64, 0xffffffff}};
	char *path = path_in(state, "odd.data");
	struct tally_buf data = {0};

	add_samples(&data, 2, 100);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made made = plain;
		struct tally_data *file;

		made.attr_size = cases[i].size;
		made.said_size = cases[i].said;
		make(path, &made, &data, NULL);
		file = open_data(path);
		assert_int_equal(tally_data_event(file, 0)->id_count, 2);
		assert_int_equal(tally_data_event(file, 0)->ids[0], 100);
		tally_data_close(file);
	}
	tally_buf_done(&data);
	free(path);
}

static void takes_old_headers(void **state)
{
	char *path = path_in(state, "old.data");
	struct tally_buf data = {0};
	struct made made = plain;
	uint64_t counts[128];
	struct tally_data *file;

	add_samples(&data, 3, 100);
	made.header_size = 72;
	made.magic = "PERFFILE";
	make(path, &made, &data, NULL);
	file = open_data(path);
	count_records(file, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 3);
	assert_int_equal(tally_data_damage(file)->count, 0);
	assert_int_equal(tally_data_info(file)->features[0], 0);
	tally_data_close(file);
	tally_buf_done(&data);
	free(path);
}

static void refuses_what_is_no_recording(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		int code;
		const char *words;
	} cases[] = {
	    {"", 0, -EBADMSG, "is empty"},
	    {"PERFILE2", 8, -EBADMSG, "too few"},
	    {"\177ELF............................", 32, -EBADMSG, "neither PERFILE2 nor"},
	    {"PERFILE2\20\0\0\0\0\0\0\0....", 20, -EBADMSG, "no events"},
	    {"PERFILE2\150\0\0\0\0\0\0\0\120\0\0\0\0\0\0\0", 24, -EBADMSG, "header is cut"},
	};
	char *path = path_in(state, "none.data");
	struct tally_error error = {0};
	struct tally_data *file = NULL;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		write_bytes(path, cases[i].bytes, cases[i].size);
		assert_int_equal(tally_data_open(path, NULL, &file, &error), cases[i].code);
		if (!strstr(error.text, cases[i].words) || !strstr(error.text, path))
			fail_msg("case %zu: %s", i, error.text);
	}
	unlink(path);
	assert_int_equal(tally_data_open(path, NULL, &file, &error), -ENOENT);
	assert_int_equal(tally_data_open(*state, NULL, &file, &error), -EISDIR);
	assert_int_equal(tally_data_open("/dev/null", NULL, &file, &error), -EBADMSG);
	assert_null(file);
	free(path);
}

/* A recorder that was killed leaves data.size 0 and no features, though their bits are set. */
static void reads_killed_recordings_of_perf(void **state)
{
	char *path = path_in(state, "killed.data");
	struct tally_buf data = {0};
	struct made made = plain;
	uint64_t counts[128];
	struct tally_data *file;

	made.data_size = 0;
	made.features = 0x3ff8;
	add_samples(&data, 30, 100);
	tally_buf_zero(&data, 4); /* and a record that was being written */
	make(path, &made, &data, NULL);
	file = open_data(path);
	count_records(file, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 30);
	assert_true(tally_data_damage(file)->no_end);
	assert_int_equal(tally_data_damage(file)->lost_bytes, 4);
	assert_null(tally_data_info(file)->hostname);
	assert_string_equal(tally_data_event(file, 0)->name, "cycles:HG");
	tally_data_close(file);
	tally_buf_done(&data);
	free(path);
}

static void reads_empty_recordings(void **state)
{
	char *path = path_in(state, "empty.data");
	struct tally_buf data = {0}, tail = {0};
	struct made made = plain;
	uint64_t counts[128], at = 104 + 16 + 80;
	struct tally_data *file;

	made.features = 1 << 3;
	tally_buf_u64(&tail, at + 16);
	tally_buf_u64(&tail, 8);
	tally_buf_u32(&tail, 4);
	tally_buf_add(&tail, "abc", 4);
	make(path, &made, &data, &tail);
	file = open_data(path);
	assert_string_equal(tally_data_info(file)->hostname, "abc");
	count_records(file, counts);
	assert_int_equal(tally_data_damage(file)->count, 0);
	assert_false(tally_data_damage(file)->no_end);
	tally_data_close(file);
	tally_buf_done(&tail);
	free(path);
}

/* A record that cannot be costs itself; what stands before and behind it is read. */
static void finds_the_records_again(void **state)
{
	static const uint16_t sizes[] = {0, 7, 12, 65528};
	char *path = path_in(state, "bad.data");

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct tally_buf data = {0};
		const struct tally_data_damage *damage;
		struct tally_data *file;
		uint64_t counts[128];

		add_samples(&data, 20, 100);
		add_record(&data, 9, 24, NULL);
		store_u16(data.data + 20 * 24 + 6, sizes[i]);
		add_samples(&data, 20, 100);
		make(path, &plain, &data, NULL);
		for (int pass = 0; pass < 2; pass++) {
			file = open_data(path);
			count_records(file, counts);
			assert_int_equal(counts[PERF_RECORD_SAMPLE], 40);
			tally_data_rewind(file);
			count_records(file, counts);
			assert_int_equal(counts[PERF_RECORD_SAMPLE], 40);
			damage = tally_data_damage(file);
			assert_int_equal(damage->count, 1);
			assert_int_equal(damage->first_at, 104 + 16 + 80 + 20 * 24);
			assert_int_equal(damage->lost_bytes, 24);
			assert_non_null(strstr(damage->text, "invalid record at byte 680"));
			tally_data_close(file);
		}
		tally_buf_done(&data);
	}
	free(path);
}

/* What is not known is passed over by its size, whatever it is. */
static void passes_unknown_types(void **state)
{
	char *path = path_in(state, "unknown.data");
	struct tally_buf data = {0};
	uint64_t counts[128];
	struct tally_data *file;

	add_samples(&data, 3, 100);
	add_record(&data, 60, 40, NULL);
	add_record(&data, 127, 16, NULL);
	add_samples(&data, 3, 100);
	make(path, &plain, &data, NULL);
	file = open_data(path);
	count_records(file, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 6);
	assert_int_equal(counts[60], 1);
	assert_int_equal(counts[127], 1);
	assert_int_equal(tally_data_damage(file)->count, 0);
	tally_data_close(file);
	tally_buf_done(&data);
	free(path);
}

/* simpleperf's records end anywhere: they are padded, and what follows them stands unaligned. */
static void pads_odd_sizes(void **state)
{
	char *path = path_in(state, "odd.data");
	struct tally_buf data = {0};
	struct tally_record record;
	struct tally_data *file;
	unsigned samples = 0, others = 0;
	uint64_t last = 0;
	int code;

	add_samples(&data, 3, 100);
	add_record(&data, 32769, 8 + 21, NULL);
	add_samples(&data, 4, 100);
	add_record(&data, 32775, 8 + 3, NULL);
	add_record(&data, 32775, 8 + 1, NULL);
	add_samples(&data, 5, 100);
	make(path, &plain, &data, NULL);
	for (unsigned pass = 0; pass < 2; pass++) {
		file = open_data(path);
		while ((code = tally_data_next_record(file, &record, NULL)) > 0) {
			struct tally_data_place place = {.size = sizeof(place)};

			tally_data_place(file, record.offset, &place);
			assert_int_equal((uintptr_t)record.bytes % 8, 0);
			assert_true(place.offset > last && place.part == -1 && !place.packed);
			last = place.offset;
			samples += record.type == PERF_RECORD_SAMPLE;
			others += record.type > 32768;
		}
		assert_int_equal(code, 0);
		assert_int_equal(samples, 12);
		assert_int_equal(others, 3);
		/* The last sample ends the data. */
		assert_int_equal(last + record.size, 104 + 80 + 16 + data.size);
		assert_int_equal(tally_data_damage(file)->count, 0);
		samples = others = 0;
		last = 0;
		tally_data_close(file);
	}
	tally_buf_done(&data);
	free(path);
}

static void add_named(struct tally_buf *to, uint32_t type, const char *name, size_t name_size)
{
	static const uint64_t fields[8] = {100};
	size_t before = type == PERF_RECORD_COMM   ? 8
			: type == PERF_RECORD_MMAP ? 32
						   : sizeof(fields);
	struct perf_event_header header = {.type = type,
					   .size = (uint16_t)(8 + before + name_size)};

	tally_buf_add(to, &header, sizeof(header));
	tally_buf_add(to, fields, before);
	tally_buf_add(to, name, name_size);
}

/* OpenHarmony's hiperf does not fill up the names of mappings and commands. */
static void takes_odd_names(void **state)
{
	char *path = path_in(state, "names.data");
	struct made made = plain;
	struct tally_buf data = {0};
	uint64_t counts[128];
	struct tally_data *file;

	made.bare = true;
	add_named(&data, PERF_RECORD_MMAP, "[kernel.kallsyms]", 18);
	add_named(&data, PERF_RECORD_MMAP, "hifb", 5);
	add_named(&data, PERF_RECORD_COMM, "sh", 3);
	for (unsigned i = 0; i < 20; i++)
		add_named(&data, PERF_RECORD_MMAP2, "/system/bin/hiview", 19);
	add_samples(&data, 6, 100);
	add_named(&data, PERF_RECORD_COMM, "./hiview\0  /data", 16);
	add_named(&data, PERF_RECORD_COMM, "hiview", 7);
	make(path, &made, &data, NULL);
	file = open_data(path);
	count_records(file, counts);
	assert_int_equal(counts[PERF_RECORD_MMAP], 2);
	assert_int_equal(counts[PERF_RECORD_MMAP2], 20);
	assert_int_equal(counts[PERF_RECORD_COMM], 3);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 6);
	assert_int_equal(tally_data_damage(file)->count, 0);
	tally_data_close(file);
	/* A wrong size costs one record. */
	store_u16(data.data + 58 + 45 + 19 + 6, 91 - 2);
	make(path, &made, &data, NULL);
	file = open_data(path);
	count_records(file, counts);
	assert_int_equal(counts[PERF_RECORD_MMAP2], 19);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 6);
	assert_int_equal(tally_data_damage(file)->count, 1);
	tally_data_close(file);
	tally_buf_done(&data);
	free(path);
}

/* A reader that refuses what the first pass took looks for records in a trace, and finds one of an
 * odd size there, in a block that is not the last. */
static void strict_reader_advances(void **state)
{
	char *path = path_in(state, "strict.data");
	struct tally_buf data = {0};
	uint64_t counts[128], trace_size, trace_at = 104 + 80 + 16 + 6 * 24;
	struct tally_block block;
	struct tally_data *file;

	add_samples(&data, 6, 100);
	trace_size = 32 + 8 + 5 + 6 * 24 + 3;
	add_record(&data, PERF_RECORD_AUXTRACE, 48, (uint64_t[5]){trace_size});
	tally_buf_zero(&data, 32);
	add_record(&data, 32769, 8 + 5, NULL);
	add_samples(&data, 6, 100);
	tally_buf_zero(&data, 3);
	add_samples(&data, 3, 100);
	tally_buf_zero(&data, 24); /* no record: the next block begins behind it */
	add_samples(&data, 8, 100);
	make(path, &plain, &data, NULL);
	file = open_data(path);
	count_records(file, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 17);
	assert_int_equal(tally_data_damage(file)->count, 1);
	tally_data_rewind(file);
	assert_int_equal(tally_data_block_bad(file, trace_at, &block, NULL), 1);
	assert_int_equal(block.offset, trace_at + 48 + 32);
	assert_int_equal(tally_data_block_bad(file, block.offset, &block, NULL), 1);
	assert_true(block.offset > trace_at + 48 + 32);
	tally_data_close(file);
	tally_buf_done(&data);
	free(path);
}

static void copies_unaligned_data(void **state)
{
	char *path = path_in(state, "unaligned.data");
	struct tally_buf data = {0};
	struct made made = plain;
	uint64_t counts[128];
	struct tally_data *file;

	add_samples(&data, 60000, 100); /* more than one copy holds */
	made.shift = 4;
	make(path, &made, &data, NULL);
	file = open_data(path);
	count_records(file, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 60000);
	tally_data_rewind(file);
	count_records(file, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 60000);
	assert_int_equal(tally_data_damage(file)->count, 0);
	tally_data_close(file);
	tally_buf_done(&data);
	free(path);
}

/* AUX data stand behind their record and are no records, whatever they look like. */
static void steps_over_aux_data(void **state)
{
	char *path = path_in(state, "aux.data");
	struct tally_buf data = {0};
	uint64_t counts[128], body[5] = {96};
	struct tally_data *file;

	add_samples(&data, 3, 100);
	add_record(&data, PERF_RECORD_AUXTRACE, 48, body);
	add_samples(&data, 4, 100); /* the 96 bytes */
	add_samples(&data, 5, 100);
	body[0] = UINT64_MAX - 3; /* cannot be */
	add_record(&data, PERF_RECORD_AUXTRACE, 48, body);
	add_samples(&data, 7, 100);
	make(path, &plain, &data, NULL);
	file = open_data(path);
	count_records(file, counts);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], 15);
	assert_int_equal(counts[PERF_RECORD_AUXTRACE], 1);
	assert_int_equal(tally_data_damage(file)->count, 1);
	assert_int_equal(tally_data_damage(file)->lost_bytes, 48);
	tally_data_close(file);
	tally_buf_done(&data);
	free(path);
}

/* Sections that name what is not there, and payloads that lie about their counts. */
static void bounds_every_feature(void **state)
{
	char *path = path_in(state, "features.data");
	struct tally_buf data = {0};
	uint64_t counts[128], after = 104 + 16 + 80 + 24 * 2;

	add_samples(&data, 2, 100);
	for (unsigned feature = 1; feature < 35; feature++) {
		for (unsigned kind = 0; kind < 4; kind++) {
			static const uint64_t sizes[] = {40, 5, 1ULL << 60, 0};
			struct made made = plain;
			struct tally_buf tail = {0};
			struct tally_data *file;

			made.features = 1ULL << feature;
			tally_buf_u64(&tail, kind == 3 ? UINT64_MAX - 5 : after + 16);
			tally_buf_u64(&tail, sizes[kind]);
			for (int i = 0; i < 40; i++)
				tally_buf_byte(&tail, kind ? 0xff : 0x7f);
			make(path, &made, &data, &tail);
			file = open_data(path);
			count_records(file, counts);
			assert_int_equal(counts[PERF_RECORD_SAMPLE], 2);
			assert_string_equal(tally_data_event(file, 0)->name, "cycles:HG");
			tally_data_close(file);
			tally_buf_done(&tail);
		}
	}
	tally_buf_done(&data);
	free(path);
}

static void add_u64_big(struct tally_buf *to, uint64_t value)
{
	tally_buf_u64(to, __builtin_bswap64(value));
}

/* A big-endian writer of 32 bits stores the bitmap of features as 32-bit words. */
static void reads_bitmaps_of_32_bits(void **state)
{
	char *path = path_in(state, "big.data");

	for (int bits = 32; bits <= 64; bits += 32) {
		struct tally_buf file = {0};
		struct tally_data *data;

		tally_buf_text(&file, "2ELIFREP");
		add_u64_big(&file, 104);
		add_u64_big(&file, 80);
		add_u64_big(&file, 104); /* attrs */
		add_u64_big(&file, 80);
		add_u64_big(&file, 184); /* data: one round */
		add_u64_big(&file, 8);
		tally_buf_zero(&file, 16);
		/* HOSTNAME */
		add_u64_big(&file, bits == 32 ? 8ULL << 32 : 8);
		tally_buf_zero(&file, 24);
		tally_buf_zero(&file, 4);
		tally_buf_u32(&file, __builtin_bswap32(64));
		tally_buf_zero(&file, 72);
		tally_buf_u32(&file, __builtin_bswap32(PERF_RECORD_FINISHED_ROUND));
		tally_buf_u32(&file, 8U << 24);
		add_u64_big(&file, 208);
		add_u64_big(&file, 12);
		tally_buf_u32(&file, __builtin_bswap32(8));
		tally_buf_add(&file, "sparc\0\0\0", 8);
		write_bytes(path, file.data, file.size);
		tally_buf_done(&file);
		data = open_data(path);
		assert_string_equal(tally_data_info(data)->hostname, "sparc");
		assert_int_equal(tally_data_info(data)->features[0], 8);
		assert_int_equal(tally_data_damage(data)->count, 0);
		tally_data_close(data);
	}
	free(path);
}

static void names_events_by_their_attrs(void **state)
{
	static const struct {
		struct tally_attr attr;
		const char *name;
	} cases[] = {
	    {{.type = 0, .config = 1, .exclude_kernel = 1, .exclude_hv = 1}, "instructions:u"},
	    {{.type = 0, .config = 0, .precise_ip = 2}, "cycles:pp"},
	    {{.type = 0, .config = 0, .exclude_user = 1, .exclude_hv = 1, .precise_ip = 3},
	     "cycles:kppp"},
	    {{.type = 1, .config = 0}, "cpu-clock:HG"},
	    {{.type = 1, .config = 0, .exclude_guest = 1}, "cpu-clock"},
	    {{.type = 1, .config = 11, .exclude_host = 1}, "cgroup-switches:G"},
	    {{.type = 1, .config = 99}, "unknown-software:HG"},
	    {{.type = 2, .config = 314}, "tracepoint:314"},
	    {{.type = 3, .config = 0x10002}, "LLC-load-misses:HG"},
	    {{.type = 3, .config = 0x90002}, "unknown-ext-hardware-cache-result:HG"},
	    {{.type = 3, .config = 0x101}, "invalid-cache:HG"},
	    {{.type = 3, .config = 0x201}, "L1-icache-prefetches:HG"},
	    {{.type = 4, .config = 0x1a8}, "raw 0x1a8:HG"},
	    {{.type = 5, .bp_addr = 0x1000, .bp_type = 3}, "mem:0x1000:rw:HG"},
	    {{.type = 44, .config = 7}, "unknown attr type: 44"},
	};
	char *path = path_in(state, "names.data");

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_writer_event event = {.attr = cases[i].attr};
		struct tally_writer *writer;
		struct tally_data *file;

		assert_int_equal(tally_writer_open(path, &event, 1, NULL, &writer, NULL), 0);
		assert_int_equal(tally_writer_close(writer, NULL), 0);
		file = open_data(path);
		assert_string_equal(tally_data_event(file, 0)->name, cases[i].name);
		tally_data_close(file);
	}
	free(path);
}

/* 13.1: samples whose id nobody has, and too short to hold one, are counted as damage and left out.
 */
static void refuses_samples_of_unknown_events(void **state)
{
	char *path = path_in(state, "ids.data");
	uint64_t body[2] = {777, 0};
	struct tally_buf data = {0};
	struct made made = plain;
	struct tally_record record;
	struct tally_data *file;
	int codes[4], n = 0;

	made.events = 2;
	add_record(&data, PERF_RECORD_SAMPLE, 24, body);
	body[0] = 201;
	add_record(&data, PERF_RECORD_SAMPLE, 24, body);
	add_record(&data, PERF_RECORD_SAMPLE, 8, NULL);
	body[0] = 0;
	add_record(&data, PERF_RECORD_SAMPLE, 24, body);
	make(path, &made, &data, NULL);
	file = open_data(path);
	while (tally_data_next_record(file, &record, NULL) > 0 && n < 4)
		codes[n++] = tally_data_event_of(file, &record);
	assert_int_equal(n, 2);
	assert_int_equal(codes[0], 1);
	assert_int_equal(codes[1], 0);
	assert_int_equal(tally_data_damage(file)->refused, 2);
	assert_int_equal(tally_data_damage(file)->count, 2);
	tally_data_close(file);
	tally_buf_done(&data);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(takes_attrs_of_any_size),
	    cmocka_unit_test(takes_odd_attrs),
	    cmocka_unit_test(takes_old_headers),
	    cmocka_unit_test(refuses_what_is_no_recording),
	    cmocka_unit_test(reads_killed_recordings_of_perf),
	    cmocka_unit_test(reads_empty_recordings),
	    cmocka_unit_test(finds_the_records_again),
	    cmocka_unit_test(passes_unknown_types),
	    cmocka_unit_test(pads_odd_sizes),
	    cmocka_unit_test(takes_odd_names),
	    cmocka_unit_test(strict_reader_advances),
	    cmocka_unit_test(copies_unaligned_data),
	    cmocka_unit_test(steps_over_aux_data),
	    cmocka_unit_test(bounds_every_feature),
	    cmocka_unit_test(reads_bitmaps_of_32_bits),
	    cmocka_unit_test(names_events_by_their_attrs),
	    cmocka_unit_test(refuses_samples_of_unknown_events),
	};

	return cmocka_run_group_tests(tests, recording_folder_make, recording_folder_remove);
}
