/* The recordings of a merge: their numbers, names, and what is kept of each. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/fail.h"
#include "merge/data_merge.h"
#include "write/writer.h"

#define CMDLINE_MOST 1024U

static bool is_taken(const struct merge *merge, const char *name)
{
	for (uint32_t i = 0; i < merge->recording_count; i++)
		if (!strcmp(merge->recordings[i].facts.name, name))
			return true;
	return false;
}

/* The name, or the name and a number: "perf.data#2".  NULL: out of memory. */
static const char *own_name(struct merge *merge, const char *name)
{
	struct tally_buf made = {0};
	const char *result = name;

	for (unsigned number = 2; result && is_taken(merge, result); number++) {
		tally_buf_clear(&made);
		tally_buf_printf(&made, "%s#%u", name, number);
		result = made.failed ? NULL : tally_buf_str(&made);
	}
	if (result && made.size)
		result = tally_arena_strndup(&merge->arena, result, made.size);
	tally_buf_done(&made);
	return result;
}

/* The words of a command in one line, cut when they are many.  NULL: out of memory. */
static const char *line_of(struct merge *merge, const struct tally_data_info *info)
{
	struct tally_buf line = {0};
	const char *result;

	for (size_t i = 0; i < info->cmdline_count && line.size < CMDLINE_MOST; i++)
		tally_buf_printf(&line, "%s%s", i ? " " : "", info->cmdline[i]);
	if (line.size > CMDLINE_MOST)
		line.size = CMDLINE_MOST;
	result = line.failed
		     ? NULL
		     : tally_arena_strndup(&merge->arena, (const char *)line.data, line.size);
	tally_buf_done(&line);
	return result;
}

static int add_one(struct merge *merge, const struct tally_data_recording *facts)
{
	struct merge_recording *made = &merge->recordings[merge->recording_count];

	made->facts = *facts;
	made->facts.samples = 0; /* counted again */
	made->facts.name = facts->name ? own_name(merge, facts->name) : NULL;
	if (!made->facts.name || !facts->cmdline)
		return -ENOMEM;
	merge->recording_count++;
	return 0;
}

static int add_input(struct merge *merge, struct tally_data *data, const char *name)
{
	const struct tally_data_info *info = tally_data_info(data);
	struct merge_input *input = &merge->inputs[merge->input_count];
	int code = 0;

	input->data = data;
	input->first = merge->recording_count;
	input->count = info->recording_count ? (uint32_t)info->recording_count : 1;
	input->least = UINT64_MAX;
	merge->input_count++;
	merge->total += 2 * tally_data_file_size(data);
	for (size_t i = 0; i < info->recording_count && !code; i++)
		code = add_one(merge, &info->recordings[i]);
	if (!info->recording_count) {
		const struct tally_data_recording facts = {
		    .name = name ? name : tally_data_path(data),
		    .hostname = info->hostname ? info->hostname : "",
		    .os_release = info->os_release ? info->os_release : "",
		    .cmdline = line_of(merge, info),
		};

		code = add_one(merge, &facts);
	}
	return code;
}

int tally_merge_number(struct merge *merge, struct tally_data *const *data, size_t count,
		       struct tally_error *error)
{
	size_t recordings = 0;

	for (size_t i = 0; i < count; i++) {
		size_t more = tally_data_info(data[i])->recording_count;

		recordings += more ? more : 1;
	}
	if (recordings > RECORDINGS_MOST)
		return tally_fail(
		    error, -EINVAL, -1,
		    "these are %zu recordings, and one file can have %u, as the numbers "
		    "of their processes must differ: merge fewer",
		    recordings, RECORDINGS_MOST);
	merge->recordings =
	    tally_arena_alloc(&merge->arena, (recordings + 1) * sizeof(*merge->recordings));
	merge->inputs = tally_arena_alloc(&merge->arena, (count + 1) * sizeof(*merge->inputs));
	if (!merge->recordings || !merge->inputs)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	for (size_t i = 0; i < count; i++)
		if (add_input(merge, data[i],
			      merge->options.names ? merge->options.names[i] : NULL))
			return tally_fail(error, -ENOMEM, -1, "out of memory");
	return 0;
}

/* The layout is that of <tally/info.h>. */
void tally_merge_add_recordings(const struct merge *merge, struct tally_buf *to)
{
	tally_buf_u32(to, merge->recording_count);
	tally_buf_u32(to, 0);
	for (uint32_t i = 0; i < merge->recording_count; i++) {
		const struct tally_data_recording *facts = &merge->recordings[i].facts;
		size_t at = to->size;

		tally_buf_u32(to, 0);
		tally_file_add_string(to, facts->name);
		tally_file_add_string(to, facts->hostname);
		tally_file_add_string(to, facts->os_release);
		tally_file_add_string(to, facts->cmdline);
		tally_buf_u64(to, facts->shift);
		tally_buf_u64(to, facts->samples);
		if (!to->failed)
			store_u32(to->data + at, (uint32_t)(to->size - at - 4));
	}
}
