/* Writes a recording again: header, ids, attrs, records, table of features, features.
 *
 * Records are written unchanged, as many at once as are adjacent in memory.  The header is written
 * last, so that an incomplete file is not valid.  Source of what perf 6.1 accepts: its reader of
 * the perf.data format. */
#include "write/repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/sorted.h"
#include "file/feature.h"
#include "file/file_options.h"
#include "write/stream_write.h"
#include "write/target.h"

/* The last types of the kernel and of perf that perf 6.1 knows. */
#define LAST_KERNEL_TYPE PERF_RECORD_AUX_OUTPUT_HW_ID
#define LAST_OWN_TYPE    PERF_RECORD_FINISHED_INIT

#define LAST_CPU_MAP  2  /* list, mask, range */
#define LAST_AUXTRACE 6U /* intel_pt, intel_bts, cs_etm, arm_spe, s390, hisi_ptt */

#define PROGRESS_EVERY 4096U /* records */

/* --- the file --- */

static int flush(struct repair_out *out)
{
	int code = 0;

	if (out->run_size && out->stream)
		code = tally_fs_write(out->fd, out->run, out->run_size);
	else if (out->run_size)
		code = tally_fs_write_at(out->fd, out->run, out->run_size, out->at);
	if (code)
		return code;
	out->at += out->run_size;
	out->run_size = 0;
	return 0;
}

/* Adds bytes that are valid until the next flush. */
static int add_run(struct repair_out *out, const uint8_t *bytes, size_t size)
{
	if (out->run_size && out->run + out->run_size != bytes) {
		int code = flush(out);

		if (code)
			return code;
	}
	if (!out->run_size)
		out->run = bytes;
	out->run_size += size;
	return 0;
}

/* The offset of the next bytes that are added. */
static uint64_t place(const struct repair_out *out)
{
	return out->at + out->run_size;
}

static bool is_same_file(const struct tally_data *data, const char *path)
{
	struct stat new, old;

	return !stat(path, &new) && !stat(data->path, &old) &&
	       new.st_dev == old.st_dev &&new.st_ino == old.st_ino;
}

/* The old file of this name becomes NAME.old, so that must not be the recording either; and the new
 * file must not replace one of the files of a directory. */
bool tally_repair_is_in_place(const struct tally_data *data, const char *path)
{
	struct tally_buf other = {0};
	bool same = is_same_file(data, path);

	tally_buf_printf(&other, "%s.old", path);
	if (!other.failed)
		same |= is_same_file(data, tally_buf_str(&other));
	tally_buf_clear(&other);
	if (data->kind == TALLY_DATA_DIRECTORY) {
		const char *slash = strrchr(path, '/');

		tally_buf_printf(&other, "%.*s.", slash ? (int)(slash - path + 1) : 0, path);
		if (!other.failed)
			same |= is_same_file(data, tally_buf_str(&other));
	}
	tally_buf_done(&other);
	return same;
}

/* --- attrs --- */

static void cut_attr(struct file_repair *repair, struct tally_attr *attr)
{
	uint8_t *tail = (uint8_t *)attr + PERF_ATTR_SIZE_VER7;

	for (size_t i = 0; i < sizeof(*attr) - PERF_ATTR_SIZE_VER7; i++)
		repair->result.attrs_cut |= tail[i] != 0;
	memset(tail, 0, sizeof(*attr) - PERF_ATTR_SIZE_VER7);
}

static int make_attrs(struct file_repair *repair)
{
	const struct tally_data *data = repair->data;
	/* perf 6.1 expects the ids in a stream after an attr of the size that it knows itself. */
	uint32_t size = repair->out.stream ? PERF_ATTR_SIZE_VER7 : PERF_ATTR_SIZE_VER0;

	repair->attrs = calloc(data->event_count, sizeof(*repair->attrs));
	if (!repair->attrs)
		return -ENOMEM;
	for (size_t i = 0; i < data->event_count; i++) {
		struct tally_attr *attr = &repair->attrs[i];
		uint32_t least;

		*attr = data->events[i].attr;
		if (repair->options.compat)
			cut_attr(repair, attr);
		least = tally_attr_min_size(attr);
		size = least > size ? least : size;
	}
	/* perf reads attrs one after the other, each with its own size. */
	for (size_t i = 0; i < data->event_count; i++)
		repair->attrs[i].size = size;
	repair->result.attr_size = size;
	return 0;
}

/* Writes everything before the records; the header is still zero. */
static int write_front(struct file_repair *repair)
{
	const struct tally_data *data = repair->data;
	struct plain_file_event *events = calloc(data->event_count, sizeof(*events));
	struct tally_buf front = {0};
	int code;

	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < data->event_count; i++)
		events[i] = (struct plain_file_event){
		    .attr = &repair->attrs[i],
		    .ids = data->events[i].ids,
		    .id_count = data->events[i].id_count,
		};
	repair->file.attr_size = repair->result.attr_size;
	tally_plain_file_front(&repair->file, events, data->event_count, &front);
	free(events);
	code = front.failed;
	if (!code)
		code = tally_fs_write_at(repair->out.fd, front.data, front.size, 0);
	repair->out.at = front.size;
	tally_buf_done(&front);
	return code;
}

static int write_stream_front(struct file_repair *repair, struct tally_error *error)
{
	struct tally_buf front = {0};
	int code = tally_repair_stream_front(repair, &front, error);

	if (!code)
		code = tally_fs_write(repair->out.fd, front.data, front.size);
	repair->out.at = front.size;
	tally_buf_done(&front);
	return code;
}

/* --- records --- */

/* Whether the header or a feature of the new file contains the same as the record. */
static bool is_in_header(const struct tally_data *data, uint32_t type)
{
	switch (type) {
	case PERF_RECORD_HEADER_ATTR:
	case PERF_RECORD_HEADER_TRACING_DATA:
	case PERF_RECORD_HEADER_FEATURE:
	case PERF_RECORD_HEADER_EVENT_TYPE:
		return true;
	case PERF_RECORD_HEADER_BUILD_ID:
		return data->kind == TALLY_DATA_PIPE;
	case PERF_RECORD_FINISHED_ROUND:
		/* The features of one file are not valid for several. */
		return data->kind == TALLY_DATA_DIRECTORY;
	default:
		return false;
	}
}

static bool is_known(uint32_t type)
{
	return (type && type <= LAST_KERNEL_TYPE) ||
	       (type >= PERF_RECORD_HEADER_ATTR && type <= LAST_OWN_TYPE);
}

/* Counts are valid in recordings of `perf stat record` only; in others perf has no memory for
 * them. */
static bool has_counts(const struct tally_data *data)
{
	return data->has_section[FEATURE_STAT] || data->kind == TALLY_DATA_PIPE;
}

/* Whether perf 6.1 reads on after this record, which can be trusted. */
static bool perf_takes(const struct tally_data *data, const struct tally_record *record)
{
	switch (record->type) {
	case PERF_RECORD_STAT:
	case PERF_RECORD_STAT_CONFIG:
	case PERF_RECORD_STAT_ROUND:
		return has_counts(data);
	case PERF_RECORD_CPU_MAP: /* header, type */
		return load_u16(record->bytes + 8) <= LAST_CPU_MAP;
	case PERF_RECORD_AUXTRACE_INFO: /* header, type */
		return load_u32(record->bytes + 8) - 1 < LAST_AUXTRACE;
	default:
		return true;
	}
}

static void leave_out(struct tally_repair_result *result, const struct tally_record *first,
		      uint64_t count)
{
	if (count && (!result->untrusted || first->offset < result->first_untrusted_at))
		result->first_untrusted_at = first->offset;
	result->untrusted += count;
}

static int add_aux_place(struct file_repair *repair, const struct tally_record *record)
{
	tally_buf_u64(&repair->aux, place(&repair->out));
	tally_buf_u64(&repair->aux, record->size);
	repair->aux_count++;
	return repair->aux.failed;
}

/* The caller leaves it out, or what the caller adds makes it wrong. */
static bool is_unwanted(const struct file_repair *repair, const struct tally_record *record)
{
	const struct tally_repair_options *options = &repair->options;
	size_t low;

	if (record->type == PERF_RECORD_FINISHED_ROUND)
		return options->records_size || options->left_out_count;
	low = SORTED_BOUND(at, 0, options->left_out_count, options->left_out[at] < record->offset);
	return low < options->left_out_count && options->left_out[low] == record->offset;
}

/* The caller's records.  0 or -errno. */
static int add_more(struct file_repair *repair)
{
	const uint8_t *at = repair->options.records;
	size_t left = repair->options.records_size;

	while (left >= sizeof(struct perf_event_header)) {
		uint16_t size = ((const struct perf_event_header *)(const void *)at)->size;

		if (size < sizeof(struct perf_event_header) || size > left)
			return -EINVAL;
		repair->result.records++;
		at += size;
		left -= size;
	}
	if (left)
		return -EINVAL;
	return repair->options.records_size
		   ? add_run(&repair->out, repair->options.records, repair->options.records_size)
		   : 0;
}

/* 1: kept, 0: left out, -errno. */
static int add_record(struct file_repair *repair, const struct tally_record *record)
{
	static const struct perf_event_header round = {.type = PERF_RECORD_FINISHED_ROUND,
						       .size = sizeof(round)};
	struct tally_repair_result *result = &repair->result;
	const uint8_t *bytes = record->bytes;
	size_t size = (size_t)tally_record_extent(record);
	int code = 0;

	if (is_in_header(repair->data, record->type) || is_unwanted(repair, record))
		return 0;
	/* Compressed records that come here could not be decoded; they are already counted as
	 * damage. */
	if (record->type == PERF_RECORD_COMPRESSED || record->type == PERF_RECORD_COMPRESSED2)
		return 0;
	if (!is_known(record->type) && !repair->options.keep_unknown) {
		if (!result->unknown++)
			result->first_unknown_type = record->type;
		return 0;
	}
	if (!perf_takes(repair->data, record)) {
		leave_out(result, record, 1);
		return 0;
	}
	if (record->type == PERF_RECORD_FINISHED_ROUND) {
		bytes = (const uint8_t *)&round; /* a checkpoint has offsets of the old file */
		size = sizeof(round);
	} else if (record->type == PERF_RECORD_AUXTRACE) {
		code = add_aux_place(repair, record);
	}
	if (!code)
		code = add_run(&repair->out, bytes, size);
	result->records++;
	result->samples += record->type == PERF_RECORD_SAMPLE;
	return code ? code : 1;
}

static int progress(const struct file_repair *repair, uint64_t done)
{
	const struct tally_repair_options *options = &repair->options;

	return options->progress && options->progress(options->progress_context, done,
						      tally_data_offset_end(repair->data))
		   ? -ECANCELED
		   : 0;
}

static int write_records(struct file_repair *repair, struct tally_error *error)
{
	struct tally_data *data = repair->data;
	struct tally_record record;
	unsigned count = 0;
	int more;

	tally_data_rewind(data);
	while ((more = tally_data_next_record(data, &record, error)) > 0) {
		int code = count++ % PROGRESS_EVERY ? 0 : progress(repair, record.offset);

		if (!code)
			code = add_record(repair, &record);

		if (code < 0)
			return tally_fail(error, code, -1, "%s",
					  code == -ECANCELED ? "interrupted" : strerror(-code));
	}
	leave_out(&repair->result, &data->refused.first, data->refused.count);
	return more ? more : add_more(repair);
}

/* --- the end --- */

static int write_end(struct file_repair *repair)
{
	uint64_t header[FILE_HEADER_SIZE / 8];
	struct tally_buf tail = {0};
	int code = tally_repair_features(repair);

	if (!code) {
		tally_plain_file_end(&repair->file, &tail, header);
		code = tail.failed;
	}
	if (!code)
		code = tally_fs_write_at(repair->out.fd, tail.data, tail.size, repair->out.at);
	if (!code)
		code = tally_fs_write_at(repair->out.fd, header, sizeof(header), 0);
	repair->result.bytes = repair->out.at + tail.size;
	tally_buf_done(&tail);
	return code;
}

static int write_all(struct file_repair *repair, const char *path, struct tally_error *error)
{
	int code = make_attrs(repair);

	if (!code && !repair->out.stream)
		code = write_front(repair);
	if (!code) {
		struct tally_error own = {0};

		if (repair->out.stream)
			code = write_stream_front(repair, &own);
		if (!code)
			code = write_records(repair, &own);
		/* An error of reading has a text of its own, which says more. */
		if (code && own.text[0] && strcmp(own.text, strerror(-code)) != 0) {
			*error = own;
			return code;
		}
	}
	if (!code)
		code = flush(&repair->out);
	repair->file.data_end = repair->result.bytes = repair->out.at;
	if (!code && !repair->out.stream)
		code = write_end(repair);
	return code
		   ? tally_fail(error, code, -1, "%s: cannot be written: %s", path, strerror(-code))
		   : 0;
}

int tally_data_repair(struct tally_data *data, const char *path,
		      const struct tally_repair_options *options, struct tally_repair_result *ret,
		      struct tally_error *error)
{
	struct file_repair repair = {.data = data};
	struct tally_error own = {0};
	struct stat made;
	bool is_file;
	int code = tally_file_options(&repair.options, sizeof(repair.options), options, path, &own);

	if (!code && !tally_result_is_sized(ret))
		code = tally_fail(&own, -EINVAL, -1, "the size of the result is not set");
	repair.out.stream = !strcmp(path, "-");
	if (!code && !repair.out.stream && tally_repair_is_in_place(data, path))
		code = tally_fail(
		    &own, -EEXIST, -1,
		    "%s: this is the recording itself, or would replace it; name another file",
		    path);
	if (!code)
		code = repair.out.stream ? tally_file_stdout_open(&repair.out.fd, &own)
					 : tally_file_target_open(path, &repair.out.fd, NULL, &own);
	if (code) {
		if (error)
			*error = own;
		return code;
	}
	is_file = !repair.out.stream && !fstat(repair.out.fd, &made) && S_ISREG(made.st_mode);
	code = write_all(&repair, path, &own);
	if (close(repair.out.fd) && !code)
		code = tally_fail(&own, -errno, -1, "%s: cannot be written: %s", path,
				  strerror(errno));
	tally_buf_done(&repair.aux);
	tally_plain_file_done(&repair.file);
	free(repair.attrs);
	if (code) {
		if (is_file)
			unlink(path); /* never a device */
		if (error)
			*error = own;
		return code;
	}
	return tally_result_copy(ret, sizeof(repair.result), &repair.result);
}
