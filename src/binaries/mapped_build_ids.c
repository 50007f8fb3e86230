/* Build-ids of the binaries that a recording maps without one, read from the files of this machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/session.h>
#include "base/fail.h"
#include "base/map.h"
#include "base/table.h"
#include "elf/build_id.h"
#include "image/image.h"

struct found {
	struct tally_strings names; /* that were looked at */
	struct tally_data_build_id *ids;
	size_t count, room;
};

static int keep(struct found *found, struct tally_data_build_id one, const char *name)
{
	if (!array_next(&found->ids, &found->room, found->count, 64, sizeof(*found->ids)))
		return -ENOMEM;
	one.filename = strdup(name);
	if (!one.filename)
		return -ENOMEM;
	found->ids[found->count++] = one;
	return 0;
}

static int look_at(struct found *found, const struct tally_body *body)
{
	bool second = body->type == PERF_RECORD_MMAP2;
	const char *name = second ? body->mmap2.filename : body->mmap.filename;
	struct tally_data_build_id one = {.misc = body->misc & PERF_RECORD_MISC_CPUMODE_MASK,
					  .pid = UINT32_MAX};
	size_t before = found->names.count;
	int64_t id;

	if (!name || name[0] != '/' ||
	    (second && body->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && body->mmap2.build_id_size))
		return 0;
	id = tally_strings_intern(&found->names, name, strlen(name));
	if (id < 0)
		return (int)id;
	if (found->names.count == before || tally_image_read_build_id(name, one.id, &one.size) ||
	    !one.size)
		return 0;
	return keep(found, one, name);
}

static int look_at_all(struct tally_data *data, struct found *found, struct tally_error *error)
{
	struct tally_record record;
	struct tally_body body;
	int more;

	body.size = sizeof(body);
	for (size_t i = 0; i < tally_data_info(data)->build_id_count; i++) {
		const char *name = tally_data_info(data)->build_ids[i].filename;

		if (tally_strings_intern(&found->names, name, strlen(name)) < 0)
			return -ENOMEM;
	}
	tally_data_rewind(data);
	while ((more = tally_data_next_record(data, &record, error)) > 0) {
		if ((record.type != PERF_RECORD_MMAP && record.type != PERF_RECORD_MMAP2) ||
		    tally_record_decode(&tally_data_event(data, 0)->layout, &record, &body, NULL) <
			0)
			continue;
		more = look_at(found, &body);
		if (more)
			return more;
	}
	return more;
}

int tally_data_mapped_build_ids(struct tally_data *data, struct tally_data_build_id **ret,
				size_t *ret_count, struct tally_error *error)
{
	struct found found = {.count = 0};
	int code = look_at_all(data, &found, error);

	tally_strings_done(&found.names);
	if (code) {
		tally_data_build_ids_free(found.ids, found.count);
		return code == -ENOMEM ? tally_fail(error, code, -1, "out of memory") : code;
	}
	*ret = found.ids;
	*ret_count = found.count;
	return 0;
}

void tally_data_build_ids_free(struct tally_data_build_id *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((char *)ids[i].filename);
	free(ids);
}
