/* Keys of control groups: the one that the sample's record names, and the thread's namespace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/session.h>
#include "base/map.h"
#include "key/key_tables.h"

/* Of link_info[] of PERF_RECORD_NAMESPACES: CGROUP_NS_INDEX of perf_event.h. */
#define CGROUP_NAMESPACE 6U

struct key_cgroups {
	struct tally_map paths;      /* id -> text's number */
	struct tally_map namespaces; /* tid -> text's number */
};

void tally_key_cgroups_free(struct key_cgroups *cgroups)
{
	if (!cgroups)
		return;
	tally_map_done(&cgroups->paths);
	tally_map_done(&cgroups->namespaces);
	free(cgroups);
}

static int keep(struct profile_keys *keys, struct tally_map *map, uint64_t key, const char *text,
		size_t length)
{
	bool added;
	uint64_t *place = tally_map_put(map, key, &added);

	if (!place)
		return -ENOMEM;
	*place = tally_key_texts_put(keys->texts, text, length);
	return 0;
}

static int keep_namespace(struct profile_keys *keys, uint32_t tid,
			  const struct tally_namespace *namespace)
{
	struct tally_buf text = {0};
	int result;

	tally_buf_printf(&text, "%llu/0x%llx", (unsigned long long)namespace->dev,
			 (unsigned long long)namespace->ino);
	result = text.failed ? text.failed
			     : keep(keys, &keys->cgroups->namespaces, tid, (const char *)text.data,
				    text.size);
	tally_buf_done(&text);
	return result;
}

static int look_at(struct profile_keys *keys, const struct tally_body *body)
{
	if (body->type == PERF_RECORD_CGROUP)
		return keep(keys, &keys->cgroups->paths, body->cgroup.id, body->cgroup.path,
			    strlen(body->cgroup.path));
	if (body->namespaces.nr_namespaces <= CGROUP_NAMESPACE)
		return 0;
	return keep_namespace(keys, body->namespaces.tid,
			      &body->namespaces.link_info[CGROUP_NAMESPACE]);
}

/* One walk over the headers of all records. */
static int take_cgroups(struct profile_keys *keys, struct tally_session *session,
			struct tally_error *error)
{
	struct tally_data *data = tally_session_data(session);
	struct tally_record record;
	struct tally_body body;
	int result = 0;

	(void)error;
	if (keys->cgroups)
		return 0;
	keys->cgroups = calloc(1, sizeof(*keys->cgroups));
	if (!keys->cgroups)
		return -ENOMEM;
	body.size = sizeof(body);
	tally_data_rewind(data);
	while (!result && tally_data_next_record(data, &record, NULL) > 0)
		if ((record.type == PERF_RECORD_CGROUP || record.type == PERF_RECORD_NAMESPACES) &&
		    tally_record_decode(&tally_data_event(data, 0)->layout, &record, &body, NULL) >=
			0)
			result = look_at(keys, &body);
	return result;
}

static uint64_t find(const struct profile_keys *keys, const struct tally_map *map, uint64_t key,
		     const char *unknown)
{
	const uint64_t *known = tally_map_find(map, key);

	return known ? *known : tally_key_texts_put(keys->texts, unknown, strlen(unknown));
}

static uint64_t cgroup_of(const struct profile_keys *keys, const struct key_row *row)
{
	bool known = row->sample->present & PERF_SAMPLE_CGROUP;

	return known ? find(keys, &keys->cgroups->paths, row->sample->cgroup, "unknown")
		     : tally_key_texts_put(keys->texts, "N/A", 3);
}

static uint64_t cgroup_id_of(const struct profile_keys *keys, const struct key_row *row)
{
	return find(keys, &keys->cgroups->namespaces, row->thread.tid, "0/0x0");
}

static const struct profile_key rows[] = {
    {.name = "cgroup",
     .title = "Cgroup",
     .help = "control group; needs record --all-cgroups",
     .type = KEY_TEXT,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = cgroup_of,
     .prepare = take_cgroups},
    {.name = "cgroup_id",
     .title = "cgroup id (dev/inode)",
     .help = "namespace of control groups that the thread is in; needs record --namespaces",
     .type = KEY_TEXT,
     .columns = TALLY_COLUMN_THREAD,
     .value = cgroup_id_of,
     .prepare = take_cgroups},
};
const struct key_table tally_keys_cgroup = KEY_TABLE(rows);
