/* The first pass over an input: its times, kernels and cgroups, and whether it can be merged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "file/feature.h"
#include "merge/data_merge.h"

#define PROGRESS_EVERY 4096U /* records */

/* As long as this, a mapping is that of the kernel itself: "[kernel.kallsyms]_text". */
#define KERNEL_NAME "[kernel.kallsyms]"

int tally_merge_progress(struct merge *merge, uint64_t done, struct tally_error *error)
{
	if (merge->turn++ % PROGRESS_EVERY || !merge->options.progress ||
	    !merge->options.progress(merge->options.progress_context, merge->done + done,
				     merge->total))
		return 0;
	return tally_fail(error, -ECANCELED, -1, "interrupted");
}

static void note_time(struct merge_input *input, uint64_t time)
{
	if (!time || time == UINT64_MAX)
		return;
	input->least = time < input->least ? time : input->least;
	input->most = time > input->most ? time : input->most;
}

static uint64_t time_of(const struct tally_layout *layout, const struct tally_record *record)
{
	int at = layout->at[TALLY_FIXED_TIME], back = layout->trailer_at[TALLY_FIXED_TIME];

	if (record->type == PERF_RECORD_SAMPLE)
		return at >= 0 && at + 8 <= record->size ? load_u64(record->bytes + at) : 0;
	return back > 0 && record->size >= back + 8 ? load_u64(record->bytes + record->size - back)
						    : 0;
}

/* Numbers of cgroups of different hosts may be the same.  0 or -ENOMEM. */
static int note_cgroup(struct merge *merge, struct merge_recording *recording, uint32_t number,
		       const struct tally_record_cgroup *cgroup)
{
	uint64_t hash = tally_hash_bytes(cgroup->path, strlen(cgroup->path)) | 1, id = cgroup->id;
	uint64_t *known, *other;
	bool added;

	for (unsigned turn = 1;; turn++) {
		known = tally_map_put(&merge->cgroups, id, &added);
		if (!known)
			return -ENOMEM;
		if (added || *known == hash)
			break;
		/* The kernel's are small, or have a count in their upper half. */
		id = cgroup->id ^ ((uint64_t)number * turn + turn) << 44;
	}
	*known = hash;
	if (id == cgroup->id)
		return 0;
	other = tally_map_put(&recording->cgroups, cgroup->id, &added);
	if (!other)
		return -ENOMEM;
	*other = id;
	return 0;
}

static void note_kernel(const struct merge_input *input, struct merge_kernel *kernel,
			const struct tally_body *body)
{
	bool has_id = body->type == PERF_RECORD_MMAP2 && body->mmap2.build_id_size;
	const char *name =
	    body->type == PERF_RECORD_MMAP2 ? body->mmap2.filename : body->mmap.filename;
	const struct tally_data_build_id *recorded;

	if (kernel->size || strncmp(name, KERNEL_NAME, strlen(KERNEL_NAME)) != 0)
		return;
	/* The members of both are the same up to pgoff. */
	kernel->start = body->type == PERF_RECORD_MMAP2 ? body->mmap2.addr : body->mmap.addr;
	kernel->size = body->type == PERF_RECORD_MMAP2 ? body->mmap2.len : body->mmap.len;
	if (kernel->size > UINT64_MAX - kernel->start)
		kernel->size = UINT64_MAX - kernel->start;
	if (has_id) {
		kernel->id_size = body->mmap2.build_id_size;
		memcpy(kernel->id, body->mmap2.build_id, sizeof(kernel->id));
		return;
	}
	recorded = tally_merge_build_id(input, name, true);
	if (recorded && recorded->size <= sizeof(kernel->id)) {
		kernel->id_size = recorded->size;
		memcpy(kernel->id, recorded->id, recorded->size);
	}
}

static bool is_kernel_map(const struct tally_record *record)
{
	return (record->type == PERF_RECORD_MMAP || record->type == PERF_RECORD_MMAP2) &&
	       (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

static int note_side(struct merge *merge, struct merge_input *input,
		     const struct tally_layout *layout, const struct tally_record *record)
{
	struct tally_body body = {.size = sizeof(body)};
	uint32_t number = input->first;

	if (record->type != PERF_RECORD_CGROUP && !is_kernel_map(record))
		return 0;
	if (tally_record_decode(layout, record, &body, NULL))
		return 0;
	number += merge_part_of_id(
	    input, body.id.present & PERF_SAMPLE_IDENTIFIER ? body.id.identifier : 0);
	if (record->type == PERF_RECORD_CGROUP)
		return note_cgroup(merge, &merge->recordings[number], number, &body.cgroup);
	note_kernel(input, &merge->recordings[number].kernel, &body);
	return 0;
}

/* Why an input cannot be merged; NULL: it can. */
static const char *why_not(const struct tally_data *data)
{
	if (data->has_section[FEATURE_STAT])
		return "has counts (perf stat record), not samples: compare them with `tally stat "
		       "report`";
	if (data->has_section[FEATURE_AUXTRACE])
		return "has traces of hardware, which name its own events and CPUs: decode them "
		       "with "
		       "`perf inject --itrace` first";
	if (data->has_section[TALLY_FEATURE_SIMPLEPERF_FILE] ||
	    data->has_section[TALLY_FEATURE_SIMPLEPERF_FILE2])
		return "is one of simpleperf, whose symbols are in the file: the new one would "
		       "lose "
		       "them";
	return NULL;
}

static const char *why_not_record(uint32_t type)
{
	if (type == PERF_RECORD_AUXTRACE_INFO || type == PERF_RECORD_AUXTRACE)
		return "has traces of hardware, which name its own events and CPUs: decode them "
		       "with "
		       "`perf inject --itrace` first";
	if (type == PERF_RECORD_STAT || type == PERF_RECORD_STAT_CONFIG)
		return "has counts (perf stat record), not samples: compare them with `tally stat "
		       "report`";
	return NULL;
}

static int refuse(const struct merge_input *input, const char *why, struct tally_error *error)
{
	return tally_fail(error, -EINVAL, -1, "%s: cannot be merged: it %s",
			  tally_data_path(input->data), why);
}

int tally_merge_survey(struct merge *merge, struct merge_input *input, struct tally_error *error)
{
	struct tally_data *data = input->data;
	const char *why = why_not(data);
	struct tally_record record;
	int more = 0, code;

	tally_data_rewind(data);
	while (!why && (more = tally_data_next_record(data, &record, error)) > 0) {
		int event = tally_data_event_of(data, &record);
		const struct tally_layout *layout;

		code = tally_merge_progress(merge, record.offset, error);
		if (code)
			return code;
		why = why_not_record(record.type);
		if (event < 0 || record.type >= PERF_RECORD_HEADER_ATTR)
			continue;
		layout = &data->events[event].layout;
		note_time(input, time_of(layout, &record));
		if (record.type != PERF_RECORD_SAMPLE && note_side(merge, input, layout, &record))
			return tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	merge->done += tally_data_file_size(data);
	if (why)
		return refuse(input, why, error);
	return more;
}
