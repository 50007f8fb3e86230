#include "merge/data_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "file/file_options.h"
#include "write/repair.h"
#include "write/target.h"

#define OUT_SIZE ((size_t)256 * 1024) /* bytes that are written at a time */

/* --- what is known before the records --- */

static int check_machines(const struct merge *merge, struct tally_error *error)
{
	const struct tally_data *first = merge->inputs[0].data;
	const char *arch = tally_data_info(first)->arch;

	for (size_t i = 1; i < merge->input_count; i++) {
		const struct tally_data *data = merge->inputs[i].data;
		const char *other = tally_data_info(data)->arch;

		if (data->big_endian != first->big_endian ||
		    (arch && other && strcmp(arch, other) != 0))
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s: cannot be merged: it is of a machine of another kind "
			    "(%s) than %s (%s), and one file describes one kind",
			    tally_data_path(data), other ? other : "of the other byte order",
			    tally_data_path(first), arch ? arch : "unknown");
		arch = arch ? arch : other;
	}
	return 0;
}

static int index_build_ids(struct merge_input *input)
{
	const struct tally_data_info *info = tally_data_info(input->data);

	for (size_t i = 0; i < info->build_id_count; i++) {
		const struct tally_data_build_id *id = &info->build_ids[i];
		uint16_t mode = id->misc & PERF_RECORD_MISC_CPUMODE_MASK;
		uint64_t *index;
		bool added;

		if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
			continue;
		index = tally_map_put(&input->build_ids,
				      tally_hash_bytes(id->filename, strlen(id->filename)), &added);
		if (!index)
			return -ENOMEM;
		if (added)
			*index = i + 1;
	}
	return 0;
}

/* Each input begins 1 ns behind the one before. */
static int place_times(struct merge *merge, struct tally_error *error)
{
	uint64_t end = 0;

	for (size_t i = 0; i < merge->input_count; i++) {
		struct merge_input *input = &merge->inputs[i];
		bool timed = input->least <= input->most;

		input->last_time = end + 1;
		end += !timed;
		if (!timed || merge->options.times == TALLY_MERGE_SAME_CLOCK)
			continue;
		if (i) {
			uint64_t length = input->most - input->least;

			if (length >= UINT64_MAX - 2 - end)
				return tally_fail(error, -EINVAL, -1,
						  "%s: cannot be merged: its times go from %llu to "
						  "%llu ns, which is too much",
						  tally_data_path(input->data),
						  (unsigned long long)input->least,
						  (unsigned long long)input->most);
			input->shift = end + 1 - input->least;
		}
		end = input->most + input->shift;
		for (uint32_t k = 0; k < input->count; k++)
			merge->recordings[input->first + k].facts.shift += input->shift;
	}
	return 0;
}

static int survey(struct merge *merge, struct tally_error *error)
{
	int code = check_machines(merge, error);

	for (size_t i = 0; i < merge->input_count && !code; i++) {
		if (index_build_ids(&merge->inputs[i]))
			return tally_fail(error, -ENOMEM, -1, "out of memory");
		code = tally_merge_survey(merge, &merge->inputs[i], error);
	}
	if (!code)
		code = place_times(merge, error);
	if (!code)
		tally_merge_kernels(merge);
	if (!code)
		code = tally_merge_formats(merge, error);
	return code ? code : tally_merge_events(merge, error);
}

/* --- the file --- */

static int flush(struct merge *merge)
{
	struct merge_out *out = &merge->out;
	int code = tally_fs_write_at(out->fd, out->buf.data, out->buf.size, out->at);

	out->at += out->buf.size;
	tally_buf_clear(&out->buf);
	return code;
}

static int write_front(struct merge *merge)
{
	struct plain_file_event *events = calloc(merge->event_count + 1, sizeof(*events));

	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < merge->event_count; i++)
		events[i] = (struct plain_file_event){
		    .attr = &merge->events[i].attr,
		    .ids = (const uint64_t *)(const void *)merge->events[i].ids.data,
		    .id_count = merge->events[i].ids.size / 8,
		};
	tally_plain_file_front(&merge->file, events, merge->event_count, &merge->out.buf);
	free(events);
	return merge->out.buf.failed ? merge->out.buf.failed : flush(merge);
}

/* All records before it are older than those that follow. */
static void add_round(struct merge *merge)
{
	static const struct perf_event_header round = {.type = PERF_RECORD_FINISHED_ROUND,
						       .size = sizeof(round)};

	if (merge->options.times == TALLY_MERGE_SAME_CLOCK)
		return;
	tally_buf_add(&merge->out.buf, &round, sizeof(round));
	merge->result.records++;
}

/* What the new file has in another form. */
static bool is_dropped(uint32_t type)
{
	return type >= PERF_RECORD_HEADER_ATTR;
}

static int add_record(struct merge *merge, struct merge_input *input,
		      const struct tally_record *record)
{
	int code;

	if (record->type == PERF_RECORD_FINISHED_ROUND) {
		if (!tally_data_total_order(input->data))
			add_round(merge);
		return merge->out.buf.failed;
	}
	if (is_dropped(record->type))
		return 0;
	code = tally_merge_record(merge, input, record);
	if (!code)
		merge->result.left_out++;
	if (code >= 0 && merge->out.buf.size >= OUT_SIZE)
		code = flush(merge);
	return code < 0 ? code : 0;
}

/* 0 or -errno, with words of its own where errno says too little. */
static int write_input(struct merge *merge, struct merge_input *input, struct tally_error *error)
{
	struct tally_data *data = input->data;
	struct tally_record record;
	int more, code = tally_merge_idle(merge, input);

	tally_data_rewind(data);
	while (!code && (more = tally_data_next_record(data, &record, error)) != 0) {
		if (more < 0)
			return more;
		code = tally_merge_progress(merge, record.offset, error);
		if (!code)
			code = add_record(merge, input, &record);
	}
	if (!code)
		add_round(merge);
	merge->result.left_out += tally_data_damage(data)->refused;
	merge->done += tally_data_file_size(data);
	return code ? code : merge->out.buf.failed;
}

static int write_end(struct merge *merge)
{
	uint64_t header[FILE_HEADER_SIZE / 8];
	int code = flush(merge);

	merge->file.data_end = merge->out.at;
	if (!code)
		code = tally_merge_features(merge);
	if (code)
		return code;
	tally_plain_file_end(&merge->file, &merge->out.buf, header);
	code = merge->out.buf.failed ? merge->out.buf.failed : flush(merge);
	merge->result.bytes = merge->out.at;
	return code ? code : tally_fs_write_at(merge->out.fd, header, sizeof(header), 0);
}

static int write_all(struct merge *merge, const char *path, struct tally_error *error)
{
	int code = write_front(merge);

	for (size_t i = 0; i < merge->input_count && !code; i++)
		code = write_input(merge, &merge->inputs[i], error);
	if (!code)
		code = write_end(merge);
	if (code && !error->text[0])
		tally_fail(error, code, -1, "%s: cannot be written: %s", path, strerror(-code));
	return code;
}

/* --- all of it --- */

static int check(const struct merge *merge, struct tally_data *const *data, size_t count,
		 const char *path, const struct tally_merge_result *ret, struct tally_error *error)
{
	if (!tally_result_is_sized(ret))
		return tally_fail(error, -EINVAL, -1, "the size of the result is not set");
	if (count < 2)
		return tally_fail(error, -EINVAL, -1,
				  "there is only one recording: give two or more to merge");
	if ((unsigned)merge->options.times > TALLY_MERGE_SAME_CLOCK)
		return tally_fail(error, -EINVAL, -1, "this way to place times is unknown");
	for (size_t i = 0; i < count; i++) {
		if (data[i]->live)
			return tally_fail(error, -EINVAL, -1,
					  "%s: cannot be merged while it is recorded",
					  tally_data_path(data[i]));
		if (tally_repair_is_in_place(data[i], path))
			return tally_fail(error, -EEXIST, -1,
					  "%s: this is one of the recordings, or would replace it; "
					  "name another file with -o",
					  path);
	}
	return 0;
}

static void done(struct merge *merge)
{
	for (size_t i = 0; i < merge->input_count; i++) {
		tally_map_done(&merge->inputs[i].ids);
		tally_map_done(&merge->inputs[i].build_ids);
		tally_map_done(&merge->inputs[i].formats);
	}
	for (uint32_t i = 0; i < merge->recording_count; i++) {
		tally_map_done(&merge->recordings[i].cgroups);
		tally_buf_done(&merge->recordings[i].id_events);
	}
	for (size_t i = 0; i < merge->event_count; i++)
		tally_buf_done(&merge->events[i].ids);
	free(merge->events);
	free(merge->words);
	tally_map_done(&merge->groups);
	tally_map_done(&merge->cgroups);
	tally_buf_done(&merge->formats);
	tally_buf_done(&merge->out.buf);
	tally_plain_file_done(&merge->file);
	tally_arena_done(&merge->arena);
}

static int to_file(struct merge *merge, const char *path, struct tally_error *error)
{
	struct stat made;
	bool is_file;
	int code = tally_file_target_open(path, &merge->out.fd, NULL, error);

	if (code)
		return code;
	is_file = !fstat(merge->out.fd, &made) && S_ISREG(made.st_mode);
	code = write_all(merge, path, error);
	if (close(merge->out.fd) && !code)
		code = tally_fail(error, -errno, -1, "%s: cannot be written: %s", path,
				  strerror(errno));
	if (code && is_file)
		unlink(path); /* never a device */
	return code;
}

int tally_data_merge(struct tally_data *const *data, size_t count, const char *path,
		     const struct tally_merge_options *options, struct tally_merge_result *ret,
		     struct tally_error *error)
{
	struct merge merge = {.least = UINT64_MAX};
	struct tally_error own = {0};
	int code = tally_file_options(&merge.options, sizeof(merge.options), options, path, &own);

	if (!code)
		code = check(&merge, data, count, path, ret, &own);
	if (!code)
		code = tally_merge_number(&merge, data, count, &own);
	if (!code && !(merge.words = malloc((size_t)UINT16_MAX + 1)))
		code = tally_fail(&own, -ENOMEM, -1, "out of memory");
	if (!code)
		code = survey(&merge, &own);
	if (!code)
		code = to_file(&merge, path, &own);
	merge.result.recordings = merge.recording_count;
	done(&merge);
	if (code && error)
		*error = own;
	return code ? code : tally_result_copy(ret, sizeof(merge.result), &merge.result);
}
