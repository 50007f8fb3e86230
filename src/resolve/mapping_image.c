#include "resolve/mapping_image.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "base/bytes.h"
#include "image/image_kind.h"

/* A bit of simpleperf's in the protection of a mapping.  Source: its thread_tree.h. */
#define SIMPLEPERF_MADE 0x4000

static const struct tally_data_build_id *recorded_build_id(const struct tally_frame_source *source,
							   const char *filename)
{
	const struct tally_data_info *info = tally_data_info(source->data);
	const uint64_t *index =
	    tally_map_find(source->build_ids, tally_hash_bytes(filename, strlen(filename)));

	if (!index || *index > info->build_id_count ||
	    strcmp(info->build_ids[*index - 1].filename, filename) != 0)
		return NULL;
	return &info->build_ids[*index - 1];
}

/* The kernel's, under whatever name: a kernel's file instead of "[kernel.kallsyms]". */
static const struct tally_data_build_id *kernel_build_id(const struct tally_frame_source *source)
{
	const struct tally_data_info *info = tally_data_info(source->data);

	for (size_t i = 0; i < info->build_id_count; i++) {
		const struct tally_data_build_id *build_id = &info->build_ids[i];

		if ((build_id->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL &&
		    build_id->filename && build_id->filename[0] == '/' &&
		    !strstr(build_id->filename, ".ko"))
			return build_id;
	}
	return NULL;
}

struct tally_image *tally_mapping_image(const struct tally_frame_source *source,
					const struct tally_mapping *mapping, const char *filename)
{
	const struct tally_mapped_file *file = mapping->file;
	struct tally_image_key key = {
	    .path = filename,
	    .pid = mapping->pid == UINT32_MAX ? 0 : mapping->pid,
	    .kernel = mapping->cpumode == PERF_RECORD_MISC_KERNEL,
	    .made = mapping->prot & SIMPLEPERF_MADE,
	    .start = mapping->start,
	    .offset = mapping->pgoff,
	    .ino = file->ino,
	    .data = !(mapping->prot & PROT_EXEC) && mapping->cpumode != PERF_RECORD_MISC_KERNEL,
	    .build_id_size = file->build_id_size,
	};
	size_t bracket = strcspn(filename, "]");
	char name[64];

	memcpy(key.build_id, file->build_id, sizeof(key.build_id));
	if (key.kernel)
		key.anchor = mapping->pgoff;
	if (!key.build_id_size) {
		const struct tally_data_build_id *recorded = recorded_build_id(source, filename);

		/* "[kernel.kallsyms]_text" is the mapping, "[kernel.kallsyms]" its build-id's name.
		 */
		if (!recorded && key.kernel && filename[0] == '[' && filename[bracket] &&
		    bracket + 2 <= sizeof(name)) {
			memcpy(name, filename, bracket + 1);
			name[bracket + 1] = 0;
			recorded = recorded_build_id(source, name);
			if (!recorded && !strcmp(name, "[kernel.kallsyms]")) {
				recorded = kernel_build_id(source);
				key.vmlinux = recorded ? recorded->filename : NULL;
			}
		}
		/* of memory without a file: the process's perf map, as it was at the end */
		if (!recorded && !key.data && key.pid &&
		    tally_image_kind_of(filename, key.kernel) == TALLY_IMAGE_ANON) {
			snprintf(name, sizeof(name), "/tmp/perf-%u.map", key.pid);
			recorded = recorded_build_id(source, name);
		}
		if (recorded && recorded->size <= sizeof(key.build_id)) {
			key.build_id_size = recorded->size;
			memcpy(key.build_id, recorded->id, recorded->size);
		}
	}
	return tally_image_get(source->images, &key);
}
