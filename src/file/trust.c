#include "file/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>
#include "file/data_file.h"
#include "file/extent.h"
#include "file/flatten.h"
#include "wire/record_size.h"

/* The largest period of a sample: two years in ns, the unit of tracepoints' __perf_count() and of
 * off-CPU time.  Kernels write periods that no processor can have counted, but smaller ones than
 * this.  A larger sample_period is valid if the attr asks for it. */
#define PERIOD_MOST ((uint64_t)1 << 56)

#define LOST_MOST ((uint64_t)1 << 48)

/* Newer kernels and tools may define record types up to here; today there are 23 of the kernel and
 * 22 of perf. */
#define LAST_TYPE 1024

/* A record with the longest path that Linux has (PATH_MAX), its other fields and its trailer. */
#define NAME_MOST (4096 + 256)

static uint64_t period_most(const struct tally_attr *attr)
{
	return attr->freq ? PERIOD_MOST : MAX(attr->sample_period, PERIOD_MOST);
}

int tally_file_trust_init(struct tally_data *data)
{
	data->trust = calloc(data->event_count + 1, sizeof(*data->trust));
	if (!data->trust)
		return -ENOMEM;
	for (size_t i = 0; i < data->event_count; i++) {
		const struct tally_data_event *event = &data->events[i];

		data->trust[i] = (struct file_trust){
		    .layout = &event->layout,
		    .period_most = period_most(&event->attr),
		};
	}
	return 0;
}

const struct file_trust *tally_file_trust(const struct tally_data *data, size_t event)
{
	return &data->trust[event];
}

/* Whether the event of each entry is known. */
static bool knows_ids(const struct tally_data *data, const struct tally_record_id_index *index)
{
	for (uint64_t i = 0; i < index->nr; i++)
		/* Records of a stream can be at any address. */
		if (!tally_map_find(&data->ids,
				    load_u64((const uint8_t *)index->entries +
					     i * sizeof(*index->entries) +
					     offsetof(struct tally_id_index_entry, id))))
			return false;
	return true;
}

static bool knows_id(const struct tally_data *data, uint64_t id)
{
	return data->event_count == 1 || tally_map_find(&data->ids, id);
}

/* The kernel's and the perf tool's, also of newer ones, and simpleperf's. */
static bool is_type(uint32_t type)
{
	return (type && type < LAST_TYPE) ||
	       (type > FILE_SIMPLEPERF_FIRST && type <= FILE_SIMPLEPERF_LAST);
}

static bool has_name(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM ||
	       type == PERF_RECORD_KSYMBOL || type == PERF_RECORD_CGROUP;
}

static bool trusts_body(const struct tally_data *data, const struct tally_body *body)
{
	switch (body->type) {
	case PERF_RECORD_ID_INDEX:
		return knows_ids(data, &body->id_index);
	case PERF_RECORD_EVENT_UPDATE:
		return knows_id(data, body->event_update.id);
	case PERF_RECORD_STAT:
		return knows_id(data, body->stat.id);
	default:
		return true;
	}
}

bool tally_file_trusts_other(const struct tally_data *data, const struct tally_record *record)
{
	int event = tally_data_event_of(data, record);
	const struct tally_layout *layout;
	struct tally_body body;
	unsigned size;
	int cpu_back;

	body.size = sizeof(body);
	if (event < 0 || !is_type(record->type))
		return false;
	if (has_name(record->type) && record->size > NAME_MOST)
		return false;
	layout = data->trust[event].layout;
	cpu_back = layout->trailer_at[TALLY_FIXED_CPU];
	/* Records of the kernel have a trailer, in which cpu_reserved is 0. */
	if (record->type < PERF_RECORD_HEADER_ATTR && cpu_back > 0 &&
	    (record->size < 8 + cpu_back || load_u32(record->bytes + record->size - cpu_back + 4)))
		return false;
	switch (record->type) {
	case PERF_RECORD_LOST: /* header, id, lost */
		return record->size >= 24 && load_u64(record->bytes + 16) <= LOST_MOST;
	case PERF_RECORD_LOST_SAMPLES: /* header, lost */
		return record->size >= 16 && load_u64(record->bytes + 8) <= LOST_MOST;
	case PERF_RECORD_HEADER_EVENT_TYPE: /* no reader uses its text, which may lack its end */
		return true;
	default:
		break;
	}
	size = tally_record_fixed_size(layout, record->type);
	if (size)
		return record->size >= size;
	return !tally_record_decode(layout, record, &body, NULL) && trusts_body(data, &body);
}

bool tally_file_trusts(const struct tally_data *data, const struct tally_record *record)
{
	int event;

	if (record->type != PERF_RECORD_SAMPLE)
		return tally_file_trusts_other(data, record);
	event = tally_data_event_of(data, record);
	return event >= 0 && file_trusts_sample(&data->trust[event], record);
}

bool tally_file_ends_well(const struct tally_data *data, const struct tally_record *record)
{
	/* Copied records were checked when they were copied. */
	return data->live || (data->flat && record->offset >= data->flat->base) ||
	       tally_file_ends_at(data, &data->records, record->offset,
				  record->offset + tally_record_extent(record));
}

void tally_file_refuse(struct tally_data *data, const struct tally_record *record)
{
	struct file_refused refused = data->refused;

	/* A second pass does not count them again. */
	if (refused.count && record->offset <= refused.last_at)
		return;
	file_refuse(&refused, record);
	tally_file_count_refused(data, &refused);
}

struct file_refused tally_file_refused_before(const struct tally_data *data)
{
	return data->live ? data->refused : (struct file_refused){.count = 0};
}

void tally_file_count_refused(struct tally_data *data, const struct file_refused *refused)
{
	struct tally_data_damage *damage = &data->damage;
	const struct tally_record *first = &refused->first;
	const char *name = tally_record_type_name(first->type);
	struct tally_data_place place = {.size = sizeof(place)};

	damage->count -= data->refused.count;
	damage->lost_bytes -= data->refused.bytes;
	data->refused = *refused;
	damage->refused = refused->count;
	if (!refused->count)
		return;
	tally_data_place(data, first->offset, &place);
	/* Compressed records need fewer bytes of the file. */
	if (place.packed)
		data->refused.bytes = 0;
	tally_file_damage(data, place.offset, data->refused.bytes,
			  "the record at byte %llu (%s, %u bytes) is invalid",
			  (unsigned long long)place.offset, name ? name : "of no known type",
			  first->size);
	damage->count += refused->count - 1;
}
