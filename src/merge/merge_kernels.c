/* Kernels of several recordings.
 *
 * A kernel is at another address after each boot.  perf, and a person, know one kernel: where it is
 * the same one (its build-id and size are), the addresses in its text are moved to where it was in
 * the first recording that has it.  Modules, BPF programs and different kernels keep their places;
 * their mappings get the time at which their recording begins, and hold from then on. */
#include <string.h>
#include "merge/data_merge.h"

static bool is_same(const struct merge_kernel *a, const struct merge_kernel *b)
{
	if (a->size != b->size)
		return false;
	if (!a->id_size || !b->id_size)
		return a->start == b->start;
	return a->id_size == b->id_size && !memcmp(a->id, b->id, a->id_size);
}

void tally_merge_kernels(struct merge *merge)
{
	const struct merge_kernel *first = NULL;

	for (uint32_t i = 0; i < merge->recording_count; i++) {
		struct merge_kernel *kernel = &merge->recordings[i].kernel;

		if (!kernel->size)
			continue;
		first = first ? first : kernel;
		merge->result.other_kernels += !is_same(first, kernel);
		for (uint32_t k = 0; k < i; k++) {
			const struct merge_kernel *other = &merge->recordings[k].kernel;

			if (!other->size || !is_same(other, kernel))
				continue;
			kernel->shift = other->start + other->shift - kernel->start;
			break;
		}
	}
}

static const struct tally_data_build_id *find(const struct merge_input *input, const char *name,
					      size_t length)
{
	const struct tally_data_info *info = tally_data_info(input->data);
	const uint64_t *index = tally_map_find(&input->build_ids, tally_hash_bytes(name, length));
	const struct tally_data_build_id *found;

	if (!index || !*index || *index > info->build_id_count)
		return NULL;
	found = &info->build_ids[*index - 1];
	return strlen(found->filename) == length && !memcmp(found->filename, name, length) ? found
											   : NULL;
}

const struct tally_data_build_id *tally_merge_build_id(const struct merge_input *input,
						       const char *filename, bool kernel)
{
	const struct tally_data_build_id *found = find(input, filename, strlen(filename));
	const char *end = strchr(filename, ']');

	/* "[kernel.kallsyms]_text" is the mapping, "[kernel.kallsyms]" its build-id's name. */
	if (!found && kernel && filename[0] == '[' && end)
		found = find(input, filename, (size_t)(end - filename) + 1);
	return found;
}
