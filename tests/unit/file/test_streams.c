/* One recording in every form that perf has for it: a stream, compressed, a directory.  Each must
 * give the records that the file gives. */
#include "made_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/bytes.h"
#include "file/data_file.h"
#include "file/spool.h"
#if TALLY_WITH_ZSTD
#include <zstd.h>
#endif

#define SAMPLES 5000U

/* The recording as a file, and what the forms are made of. */
struct plain {
	char *path;
	struct bytes bytes;
	uint64_t data_at, data_end;
	struct tally_data *data;
};

static struct plain plain_make(void **state)
{
	struct plain plain = {.path = path_in(state, "plain.data")};
	struct tally_writer *writer = recording_begin(plain.path, NULL);
	uint64_t time = 1000;

	recording_comm(writer, 77, "worker");
	recording_samples(writer, SAMPLES, &time);
	assert_int_equal(tally_writer_close(writer, NULL), 0);
	plain.bytes = read_bytes(plain.path);
	plain.data_at = load_u64(plain.bytes.data + 40);
	plain.data_end = plain.data_at + load_u64(plain.bytes.data + 48);
	plain.data = open_data(plain.path);
	return plain;
}

static void plain_free(struct plain *plain)
{
	tally_data_close(plain->data);
	free(plain->bytes.data);
	free(plain->path);
}

static void add_head(struct tally_buf *to, uint32_t type, size_t size)
{
	struct perf_event_header header = {.type = type, .size = (uint16_t)size};

	tally_buf_add(to, &header, sizeof(header));
}

/* --- streams --- */

static void add_update(struct tally_buf *to, uint64_t type, uint64_t id, const void *data,
		       size_t size)
{
	add_head(to, PERF_RECORD_EVENT_UPDATE, 24 + align_up(size, 8));
	tally_buf_u64(to, type);
	tally_buf_u64(to, id);
	tally_buf_add(to, data, size);
	tally_buf_zero(to, align_up(size, 8) - size);
}

static void add_attr(struct tally_buf *to, const struct tally_data_event *event, uint32_t size)
{
	struct tally_attr attr = event->attr;
	uint32_t known = size < sizeof(attr) ? size : sizeof(attr);

	attr.size = size;
	add_head(to, PERF_RECORD_HEADER_ATTR, 8 + size + event->id_count * 8);
	tally_buf_add(to, &attr, known);
	tally_buf_zero(to, size - known);
	tally_buf_add(to, event->ids, event->id_count * 8);
}

static struct tally_buf stream_begin(void)
{
	struct tally_buf made = {0};

	tally_buf_add(&made, "PERFILE2", 8);
	tally_buf_u64(&made, 16);
	return made;
}

/* All of the plain recording, its second event late when `late`. */
static struct tally_buf stream_make(const struct plain *plain, bool late)
{
	static const uint16_t cpus[] = {0, 3, 1, 4, 9}; /* a list of 3 */
	const struct tally_data_event *first = tally_data_event(plain->data, 0);
	const struct tally_data_event *second = tally_data_event(plain->data, 1);
	static const uint8_t build_id[24] = {1, 2, 3};
	struct tally_buf made = stream_begin();
	double scale = 0.25;

	add_attr(&made, first, 136);
	if (!late)
		add_attr(&made, second, 200);
	add_head(&made, PERF_RECORD_HEADER_FEATURE, 16 + 4 + 6);
	tally_buf_u64(&made, 3);
	tally_buf_u32(&made, 6);
	tally_buf_add(&made, "there", 6);
	add_head(&made, PERF_RECORD_HEADER_TRACING_DATA, 12);
	tally_buf_u32(&made, 16);
	tally_buf_add(&made, "0123456789abcdef", 16);
	add_head(&made, PERF_RECORD_HEADER_BUILD_ID, 8 + 4 + 24 + 12);
	tally_buf_u32(&made, 7);
	tally_buf_add(&made, build_id, sizeof(build_id));
	tally_buf_add(&made, "/bin/true\0\0", 12);
	add_head(&made, PERF_RECORD_HEADER_FEATURE, 16);
	tally_buf_u64(&made, 77);
	/* CPUs 0 and 1, as perf 4.x wrote them: not filled up to a multiple of 8 bytes. */
	add_head(&made, PERF_RECORD_CPU_MAP, 20);
	tally_buf_add(&made, "\0\0\2\0\0\0\1\0\0\0\0\0", 12);
	add_update(&made, 0, first->ids[0], "ms", 3);
	add_update(&made, 1, first->ids[0], &scale, 8);
	add_update(&made, 2, first->ids[1], "renamed", 8);
	add_update(&made, 3, first->ids[0], cpus, sizeof(cpus));
	tally_buf_add(&made, plain->bytes.data + plain->data_at, plain->data_end - plain->data_at);
	if (late)
		add_attr(&made, second, 200);
	assert_int_equal(made.failed, 0);
	return made;
}

/* The next record that the plain recording has too, passing over those of the tool. */
static bool next_kernel(struct tally_data *data, struct tally_record *ret)
{
	while (tally_data_next_record(data, ret, NULL) > 0)
		if (ret->type < PERF_RECORD_HEADER_ATTR)
			return true;
	return false;
}

static void same_records(const struct plain *plain, struct tally_data *data)
{
	struct tally_record want, got;
	uint64_t last = 0;

	tally_data_rewind(plain->data);
	while (next_kernel(plain->data, &want)) {
		assert_true(next_kernel(data, &got));
		assert_int_equal((uintptr_t)got.bytes % 8, 0);
		assert_int_equal(got.size, want.size);
		assert_memory_equal(got.bytes, want.bytes, want.size);
		assert_int_equal(tally_data_event_of(data, &got),
				 tally_data_event_of(plain->data, &want));
		assert_true(got.offset >= last);
		last = got.offset + got.size;
	}
	assert_false(next_kernel(data, &got));
	assert_true(last <= tally_data_offset_end(data));
}

static void check_stream(const struct plain *plain, struct tally_data *data)
{
	const struct tally_data_event *first = tally_data_event(data, 0);

	assert_int_equal(tally_data_kind(data), TALLY_DATA_PIPE);
	assert_int_equal(tally_data_event_count(data), 2);
	assert_string_equal(first->name, "renamed");
	assert_string_equal(first->unit, "ms");
	assert_true(first->scale == 0.25);
	assert_int_equal(first->cpu_count, 3);
	assert_int_equal(first->cpus[2], 9);
	assert_int_equal(first->attr.size, 136);
	assert_int_equal(tally_data_event(data, 1)->attr.size, 200);
	assert_int_equal(tally_data_event(data, 1)->id_count, 2);
	assert_string_equal(tally_data_info(data)->hostname, "there");
	assert_int_equal(tally_data_feature(data, 1).size, 16);
	assert_memory_equal(tally_data_feature(data, 1).bytes, "0123456789abcdef", 16);
	assert_null(tally_data_feature(data, 77).bytes);
	assert_int_equal(tally_data_info(data)->build_id_count, 1);
	assert_string_equal(tally_data_info(data)->build_ids[0].filename, "/bin/true");
	same_records(plain, data);
	tally_data_rewind(data);
	same_records(plain, data);
}

static void reads_a_stream(void **state)
{
	struct plain plain = plain_make(state);
	char *path = path_in(state, "stream.data");

	for (unsigned late = 0; late < 2; late++) {
		struct tally_buf made = stream_make(&plain, late);
		struct tally_data *data;

		write_bytes(path, made.data, made.size);
		data = open_data(path);
		check_stream(&plain, data);
		assert_int_equal(tally_data_damage(data)->count, 0);
		tally_data_close(data);
		tally_buf_add(&made, "Shared connection closed.\n$ ", 28);
		write_bytes(path, made.data, made.size);
		data = open_data(path);
		check_stream(&plain, data);
		assert_int_equal(tally_data_damage(data)->count, 1);
		assert_int_equal(tally_data_damage(data)->lost_bytes, 28);
		tally_data_close(data);
		tally_buf_done(&made);
	}
	free(path);
	plain_free(&plain);
}

/* The same bytes from something that can be read once. */
static void reads_a_fifo(void **state)
{
	struct plain plain = plain_make(state);
	struct tally_buf made = stream_make(&plain, false);
	char *path = path_in(state, "fifo");
	struct tally_data *data;
	pid_t child;
	int status;

	assert_int_equal(mkfifo(path, 0600), 0);
	for (unsigned file = 0; file < 2; file++) {
		child = fork();
		if (!child) {
			int fd = open(path, O_WRONLY);
			const uint8_t *at = file ? plain.bytes.data : made.data;
			size_t size = file ? plain.bytes.size : made.size;

			while (size) {
				ssize_t wrote = write(fd, at, size < 3000 ? size : 3000);

				if (wrote <= 0)
					_exit(1);
				at += wrote;
				size -= (size_t)wrote;
			}
			_exit(0);
		}
		data = open_data(path);
		if (file) {
			assert_int_equal(tally_data_kind(data), TALLY_DATA_FILE);
			same_records(&plain, data);
		} else {
			check_stream(&plain, data);
		}
		assert_int_equal(tally_data_damage(data)->count, 0);
		tally_data_close(data);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	unlink(path);
	free(path);
	tally_buf_done(&made);
	plain_free(&plain);
}

/* Of the other byte order; attrs, samples and what came last. */
static void reads_a_swapped_stream(void **state)
{
	struct plain plain = plain_make(state);
	struct tally_buf made = stream_begin();
	char *path = path_in(state, "swapped.data");
	double scale = 0.25;
	static const uint16_t list[] = {0, 3, 1, 4, 9};
	struct tally_data *data;

	add_attr(&made, tally_data_event(plain.data, 0), 136);
	add_attr(&made, tally_data_event(plain.data, 1), 136);
	add_update(&made, 1, 11, &scale, 8);
	add_update(&made, 3, 11, list, sizeof(list));
	tally_buf_add(&made, plain.bytes.data + plain.data_at, plain.data_end - plain.data_at);
	assert_int_equal(made.failed, 0);
	for (size_t at = 16; at < made.size;) {
		struct tally_record record = {.bytes = made.data + at,
					      .type = load_u32(made.data + at),
					      .size = load_u16(made.data + at + 6)};
		int event = tally_data_event_of(plain.data, &record);

		assert_int_equal(
		    tally_record_swap(
			&tally_data_event(plain.data, event < 0 ? 0 : (size_t)event)->layout,
			made.data + at, record.size, false, NULL),
		    0);
		at += record.size;
	}
	memcpy(made.data, "2ELIFREP", 8);
	store_u64(made.data + 8, __builtin_bswap64(16));
	write_bytes(path, made.data, made.size);
	data = open_data(path);
	assert_true(tally_data_event(data, 0)->scale == 0.25);
	assert_int_equal(tally_data_event(data, 0)->cpu_count, 3);
	assert_int_equal(tally_data_event(data, 0)->cpus[1], 4);
	same_records(&plain, data);
	assert_int_equal(tally_data_damage(data)->count, 0);
	tally_data_close(data);
	tally_buf_done(&made);
	free(path);
	plain_free(&plain);
}

/* --- compressed --- */

#if TALLY_WITH_ZSTD

/* zstd bytes of all records, each `step` bytes of them flushed to a record, ROUNDs between. */
static struct tally_buf pack(const uint8_t *bytes, size_t size, size_t step, bool two)
{
	static uint8_t room[65536];
	ZSTD_CCtx *stream = ZSTD_createCCtx();
	struct tally_buf made = {0};

	assert_non_null(stream);
	for (size_t at = 0; at < size; at += step) {
		size_t some = size - at < step ? size - at : step;
		ZSTD_inBuffer in = {.src = bytes + at, .size = some};
		ZSTD_outBuffer out = {.dst = room, .size = sizeof(room) - 64};

		assert_int_equal(ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush), 0);
		if (two) {
			add_head(&made, PERF_RECORD_COMPRESSED2, 16 + align_up(out.pos, 8));
			tally_buf_u64(&made, out.pos);
		} else {
			add_head(&made, PERF_RECORD_COMPRESSED, 8 + out.pos);
		}
		tally_buf_add(&made, room, out.pos);
		if (two)
			tally_buf_zero(&made, align_up(out.pos, 8) - out.pos);
		add_head(&made, PERF_RECORD_FINISHED_ROUND, 8);
	}
	ZSTD_freeCCtx(stream);
	assert_int_equal(made.failed, 0);
	return made;
}

/* The plain file with other data, and the sections behind them moved. */
static void write_with(const struct plain *plain, const struct tally_buf *data, const char *path)
{
	struct tally_buf made = {0};
	uint64_t moved = data->size - (plain->data_end - plain->data_at);
	unsigned features = 0;

	tally_buf_add(&made, plain->bytes.data, plain->data_at);
	store_u64(made.data + 48, data->size);
	tally_buf_add(&made, data->data, data->size);
	for (unsigned i = 0; i < 4; i++)
		features +=
		    (unsigned)__builtin_popcountll(load_u64(plain->bytes.data + 72 + 8 * i));
	for (unsigned i = 0; i < features; i++) {
		const uint8_t *entry = plain->bytes.data + plain->data_end + 16 * i;
		uint64_t at = load_u64(entry);

		tally_buf_u64(&made, at < plain->data_end ? at : at + moved);
		tally_buf_u64(&made, load_u64(entry + 8));
	}
	tally_buf_add(&made, plain->bytes.data + plain->data_end + 16 * features,
		      plain->bytes.size - plain->data_end - 16 * features);
	assert_int_equal(made.failed, 0);
	write_bytes(path, made.data, made.size);
	tally_buf_done(&made);
}

/* What comes through a pipe does not stand in two files when it was decoded. */
static void what_was_decoded_of_a_pipe_is_given_back(void **state)
{
	struct plain plain = plain_make(state);
	char *path = path_in(state, "packed.data"), *fifo = path_in(state, "fifo");
	struct tally_buf records = {0}, packed;
	struct tally_record record;
	struct tally_data *data;
	uint64_t random = 1;
	struct stat about;
	unsigned seen = 0;
	pid_t child;
	int status;

	for (unsigned i = 0; i < 60; i++) {
		add_head(&records, 90, 4008);
		for (unsigned k = 0; k < 500; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			tally_buf_u64(&records, random);
		}
	}
	packed = pack(records.data, records.size, 10000, true);
	write_with(&plain, &packed, path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	child = fork();
	if (!child) {
		int from = open(path, O_RDONLY), to = open(fifo, O_WRONLY);
		uint8_t bytes[4096];
		ssize_t got;

		while ((got = read(from, bytes, sizeof(bytes))) > 0)
			if (write(to, bytes, (size_t)got) != got)
				_exit(1);
		_exit(0);
	}
	data = open_data(fifo);
	while (tally_data_next_record(data, &record, NULL) > 0)
		seen += record.type == 90;
	assert_int_equal(seen, 60);
	assert_int_equal(tally_data_damage(data)->count, 0);
	assert_string_equal(tally_data_info(data)->version, tally_data_info(plain.data)->version);
	assert_non_null(data->stream);
	if (!fallocate(data->stream->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1)) {
		assert_int_equal(fstat(data->stream->fd, &about), 0);
		assert_true((uint64_t)about.st_blocks * 512 < packed.size / 2);
	}
	tally_data_close(data);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	unlink(fifo);
	tally_buf_done(&records);
	tally_buf_done(&packed);
	free(path);
	free(fifo);
	plain_free(&plain);
}

/* Steps that end within records and within their headers. */
static void reads_compressed_records(void **state)
{
	static const size_t steps[] = {5000, 1001, 333, 100000};
	struct plain plain = plain_make(state);
	char *path = path_in(state, "packed.data");

	for (unsigned i = 0; i < 8; i++) {
		struct tally_buf packed = pack(plain.bytes.data + plain.data_at,
					       plain.data_end - plain.data_at, steps[i / 2], i % 2);
		const struct tally_data_packed *sizes;
		struct tally_record record;
		struct tally_data *data;

		write_with(&plain, &packed, path);
		data = open_data(path);
		same_records(&plain, data);
		tally_data_rewind(data);
		while (tally_data_next_record(data, &record, NULL) > 0) {
			struct tally_data_place place = {.size = sizeof(place)};

			tally_data_place(data, record.offset, &place);
			assert_true(place.offset >= plain.data_at &&
				    place.offset < plain.data_at + packed.size);
			if (record.type < PERF_RECORD_HEADER_ATTR)
				assert_true(place.packed);
			assert_int_equal(place.part, -1);
		}
		sizes = tally_data_packed(data);
		assert_int_equal(sizes->bytes_out, plain.data_end - plain.data_at);
		assert_true(sizes->bytes_in < packed.size);
		assert_true(sizes->records > 1);
		assert_int_equal(tally_data_damage(data)->count, 0);
		assert_string_equal(tally_data_info(data)->version,
				    tally_data_info(plain.data)->version);
		tally_data_close(data);
		tally_buf_done(&packed);
	}
	free(path);
	plain_free(&plain);
}

static uint64_t count_samples(const char *path, struct tally_data_damage *damage)
{
	struct tally_data *data = open_data(path);
	uint64_t counts[128];

	count_records(data, counts);
	*damage = *tally_data_damage(data);
	tally_data_close(data);
	return counts[PERF_RECORD_SAMPLE];
}

/* What was decoded before stays; the place is reported. */
static void keeps_what_decodes(void **state)
{
	struct plain plain = plain_make(state);
	char *path = path_in(state, "damaged.data");
	struct tally_buf packed =
	    pack(plain.bytes.data + plain.data_at, plain.data_end - plain.data_at, 56 * 100, true);
	struct tally_data_damage damage;
	size_t at = 0;
	uint64_t samples;

	for (unsigned i = 0; i < 20; i++)
		at += load_u16(packed.data + at + 6) + 8U;
	memset(packed.data + at + 16, 0xff, 40);
	write_with(&plain, &packed, path);
	samples = count_samples(path, &damage);
	assert_in_range(samples, 20 * 100 - 20, 21 * 100);
	assert_int_equal(damage.count, 1);
	assert_int_equal(damage.first_at, plain.data_at + at);
	assert_non_null(strstr(damage.text, "compressed record"));
	/* Cut within the damaged record: only that it is cut is new. */
	packed.size = at + 12;
	write_with(&plain, &packed, path);
	samples = count_samples(path, &damage);
	assert_in_range(samples, 20 * 100 - 20, 20 * 100);
	assert_true(damage.count > 0);
	tally_buf_done(&packed);
	free(path);
	plain_free(&plain);
}

/* A few bytes that stand for any number of records do not fill the disk. */
static void stops_what_grows_without_end(void **state)
{
	struct plain plain = plain_make(state);
	char *path = path_in(state, "bomb.data");
	size_t size = (size_t)160 << 20;
	uint64_t *bytes = malloc(size);
	struct tally_data_damage damage;
	struct tally_buf packed;

	assert_non_null(bytes);
	for (size_t i = 0; i < size / 8; i++) /* FINISHED_ROUND, again and again */
		bytes[i] = PERF_RECORD_FINISHED_ROUND | 8ULL << 48;
	packed = pack((uint8_t *)bytes, size, size, false);
	free(bytes);
	write_with(&plain, &packed, path);
	count_samples(path, &damage);
	assert_int_equal(damage.count, 1);
	assert_non_null(strstr(damage.text, "--max-expand=MB reads more"));
	tally_buf_done(&packed);
	free(path);
	plain_free(&plain);
}

#else

static void no_zstd(void **state)
{
	(void)state;
	skip();
}
#define reads_compressed_records     no_zstd
#define keeps_what_decodes           no_zstd
#define stops_what_grows_without_end no_zstd

#endif

/* --- directories --- */

static void write_in(const char *folder, const char *name, const void *bytes, size_t size)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	write_bytes(path, bytes, size);
	free(path);
}

/* data holds the COMM and the first samples, data.0, data.2 and data.10 the rest. */
static void reads_a_directory(void **state)
{
	struct plain plain = plain_make(state);
	char *folder = path_in(state, "recording.dir");
	const uint8_t *records = plain.bytes.data + plain.data_at;
	size_t size = plain.data_end - plain.data_at;
	size_t ends[] = {0, 0, 0, size}, at = 0;
	int last = -2;
	struct tally_record record;
	struct tally_data *data;
	struct bytes main_file;

	for (unsigned i = 0; at < size; at += load_u16(records + at + 6))
		if (i < 3 && at >= size * (i + 1) / 4)
			ends[i++] = at;
	assert_int_equal(mkdir(folder, 0700), 0);
	main_file = plain.bytes;
	store_u64(main_file.data + 48, ends[0]);
	memset(main_file.data + 72, 0, 32); /* no features: they would stand elsewhere */
	write_in(folder, "data", main_file.data, plain.data_at + ends[0]);
	write_in(folder, "data.10", records + ends[2], size - ends[2]);
	write_in(folder, "data.2", records + ends[1], ends[2] - ends[1]);
	write_in(folder, "data.0", records + ends[0], ends[1] - ends[0]);
	write_in(folder, "data.old", "no part", 7);
	data = open_data(folder);
	assert_int_equal(tally_data_kind(data), TALLY_DATA_DIRECTORY);
	assert_true(tally_data_total_order(data));
	same_records(&plain, data);
	tally_data_rewind(data);
	while (tally_data_next_record(data, &record, NULL) > 0) {
		struct tally_data_place place = {.size = sizeof(place)};

		tally_data_place(data, record.offset, &place);
		assert_true(place.part >= last);
		last = place.part;
	}
	assert_int_equal(last, 10);
	assert_int_equal(tally_data_file_size(data), plain.data_at + size);
	assert_int_equal(tally_data_damage(data)->count, 0);
	tally_data_close(data);
	/* Without parts it is a file. */
	for (unsigned i = 0; i < 4; i++) {
		static const char *const names[] = {"data.10", "data.2", "data.0", "data.old"};
		char *path;

		assert_true(asprintf(&path, "%s/%s", folder, names[i]) > 0);
		unlink(path);
		free(path);
	}
	data = open_data(folder);
	assert_false(tally_data_total_order(data));
	assert_int_equal(tally_data_kind(data), TALLY_DATA_DIRECTORY);
	assert_int_equal(tally_data_next_record(data, &record, NULL), 1);
	assert_int_equal(record.offset, plain.data_at);
	tally_data_close(data);
	{
		char *path;

		assert_true(asprintf(&path, "%s/data", folder) > 0);
		unlink(path);
		free(path);
	}
	rmdir(folder);
	free(folder);
	plain_free(&plain);
}

/* --- names of tracepoints --- */

static void add_sized(struct tally_buf *to, const char *text)
{
	tally_buf_u64(to, strlen(text));
	tally_buf_add(to, text, strlen(text));
}

/* The start of tracing data with two systems; the layout is trace-cmd's, version 0.5. */
static struct tally_buf tracing_make(void)
{
	const uint8_t order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, word = 8;
	struct tally_buf made = {0};

	tally_buf_add(&made, "\x17\x08\x44tracing0.5", 14);
	tally_buf_add(&made, &order, 1);
	tally_buf_add(&made, &word, 1);
	tally_buf_u32(&made, 4096);
	tally_buf_add(&made, "header_page", 12);
	add_sized(&made, "x");
	tally_buf_add(&made, "header_event", 13);
	add_sized(&made, "");
	tally_buf_u32(&made, 1);
	add_sized(&made, "name: function\nID: 1\nformat:\n");
	tally_buf_u32(&made, 2);
	tally_buf_add(&made, "sched", 6);
	tally_buf_u32(&made, 2);
	add_sized(&made, "nonsense");
	add_sized(&made, "name: sched_switch\nID: 314\nformat:\n");
	tally_buf_add(&made, "probe_it", 9);
	tally_buf_u32(&made, 1);
	add_sized(&made, "name: main\nID: 1329\nformat:\n");
	assert_int_equal(made.failed, 0);
	return made;
}

static void tracing_data_names_tracepoints(void **state)
{
	struct tally_buf made = tracing_make();
	struct tally_block block = {.bytes = made.data, .size = made.size};
	struct tally_arena arena = {0};

	(void)state;
	assert_string_equal(tally_file_tracepoint_name(&arena, block, 1), "ftrace:function");
	assert_string_equal(tally_file_tracepoint_name(&arena, block, 314), "sched:sched_switch");
	assert_string_equal(tally_file_tracepoint_name(&arena, block, 1329), "probe_it:main");
	assert_null(tally_file_tracepoint_name(&arena, block, 132));
	for (block.size = 0; block.size < made.size; block.size++) {
		/* A copy, so that reading beyond its end is seen. */
		uint8_t *copy = malloc(block.size + 1);

		assert_non_null(copy);
		memcpy(copy, made.data, block.size);
		tally_file_tracepoint_name(
		    &arena, (struct tally_block){.bytes = copy, .size = block.size}, 1329);
		free(copy);
	}
	tally_arena_done(&arena);
	tally_buf_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_a_stream),
	    cmocka_unit_test(tracing_data_names_tracepoints),
	    cmocka_unit_test(reads_a_fifo),
	    cmocka_unit_test(reads_a_swapped_stream),
	    cmocka_unit_test(reads_compressed_records),
	    cmocka_unit_test(what_was_decoded_of_a_pipe_is_given_back),
	    cmocka_unit_test(keeps_what_decodes),
	    cmocka_unit_test(stops_what_grows_without_end),
	    cmocka_unit_test(reads_a_directory),
	};

	return cmocka_run_group_tests(tests, recording_folder_make, recording_folder_remove);
}
