#include "resolve/label.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "image/image_kind.h"

int tally_labels_init(struct tally_labels *labels, const struct tally_data *data, bool kernel_path)
{
	const struct tally_data_info *info = tally_data_info(data);

	*labels = (struct tally_labels){.kernel_path = kernel_path};
	for (size_t i = 0; i < info->build_id_count; i++) {
		const char *name = info->build_ids[i].filename;
		bool added;

		if (!name || (info->build_ids[i].misc & PERF_RECORD_MISC_CPUMODE_MASK) !=
				 PERF_RECORD_MISC_KERNEL)
			continue;
		if (!strstr(name, ".ko") && (name[0] != '[' || !strncmp(name, "[kernel", 7))) {
			if (!labels->kernel)
				labels->kernel = name;
		} else if (!tally_map_put(&labels->listed, tally_hash_bytes(name, strlen(name)),
					  &added)) {
			tally_labels_done(labels);
			return -ENOMEM;
		}
	}
	return 0;
}

void tally_labels_done(struct tally_labels *labels)
{
	tally_map_done(&labels->listed);
	*labels = (struct tally_labels){0};
}

/* The kernel is called as in the list of build-ids, else without the symbol that its mapping starts
 * with; modules that are not in the list have a short name. */
static const char *kernel_label(const struct tally_labels *labels,
				const struct tally_location *location, char room[TALLY_LABEL_ROOM])
{
	const char *path = location->image_path;
	size_t bracket = strcspn(path, "]");

	if (!strncmp(path, "[kernel", 7) && labels->kernel)
		return labels->kernel;
	if (path[0] == '[' && path[bracket] && bracket + 2 <= TALLY_LABEL_ROOM) {
		memcpy(room, path, bracket + 1);
		room[bracket + 1] = 0;
		return room;
	}
	if (location->image_name[0] == '[' && !labels->kernel_path &&
	    !tally_map_find(&labels->listed, tally_hash_bytes(path, strlen(path))))
		return location->image_name;
	return path;
}

const char *tally_label_of(const struct tally_labels *labels, const struct tally_location *location,
			   char room[TALLY_LABEL_ROOM])
{
	if (location->level == 'k')
		return kernel_label(labels, location, room);
	/* Where a table of its symbols may be. */
	if (location->executable && tally_image_is_anon(location->image_path)) {
		snprintf(room, TALLY_LABEL_ROOM, "/tmp/perf-%d.map", (int)location->map_pid);
		return room;
	}
	return location->image_path;
}

uint64_t tally_label_place(const struct tally_location *location, uint64_t addr)
{
	const char *path = location->image_path;

	if (location->mapped && location->level != 'k' && !tally_image_is_anon(path) &&
	    tally_image_kind_of(path, false) == TALLY_IMAGE_ANON)
		return addr - location->map_start + location->map_pgoff;
	return location->place;
}
