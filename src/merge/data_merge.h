/* What the parts of tally_data_merge() share.
 *
 * A file that is merged (input) is one recording, or several that were merged to it before.  It is
 * surveyed, which gives its times, kernels and cgroups; then the events, ids, formats and features
 * of the new file are made; then each input's records are written, one input after the other. */
#ifndef TALLY_MERGE_DATA_MERGE_H
#define TALLY_MERGE_DATA_MERGE_H

#include <tally/merge.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/own_pid.h"
#include "file/data_file.h"
#include "write/plain_file.h"

/* The kernel's own text, where a recording has it. */
struct merge_kernel {
	uint64_t start, size; /* size 0: unknown */
	uint8_t id_size, id[20];
	uint64_t shift; /* what is added to its addresses */
};

struct merge_recording {
	struct tally_data_recording facts;
	struct merge_kernel kernel;
	struct tally_buf id_events; /* u32 each: the event of the id of that number, less 1 */
	struct tally_map cgroups;   /* number -> another number */
};

struct merge_input {
	struct tally_data *data;
	uint32_t first, count;      /* numbers of its recordings */
	uint64_t shift;             /* added to its times */
	uint64_t least, most;       /* its times; least > most: it has none */
	uint64_t last_time;         /* of the record before, shifted: for those that have none */
	uint32_t *events;           /* by its events: those of the new file */
	uint64_t *usual_ids;        /* by its events: for records without one */
	struct tally_map ids;       /* its ids -> those of the new file */
	struct tally_map build_ids; /* hash of a name -> index, + 1 */
	struct tally_map formats;   /* its number of a tracepoint -> that of the new file */
};

struct merge_event {
	struct tally_attr attr;
	struct tally_layout layout;
	const char *name; /* borrowed from its input */
	uint32_t leader, members;
	struct tally_buf ids;
	uint32_t next; /* leader whose group has the same hash, + 1; 0: none */
	uint32_t used; /* number of the last input with this group, + 1 */
};

struct merge_out {
	int fd;
	uint64_t at;
	struct tally_buf buf;
};

struct merge {
	struct tally_merge_options options;
	struct tally_merge_result result;
	struct merge_input *inputs;
	size_t input_count;
	struct merge_recording *recordings;
	uint32_t recording_count;
	struct merge_event *events;
	size_t event_count, event_room;
	struct tally_map groups;  /* hash of a group -> its leader, + 1 */
	struct tally_map cgroups; /* number -> hash of its path */
	struct tally_buf formats; /* the new file's tracing data */
	struct tally_arena arena;
	struct plain_file file;
	struct merge_out out;
	uint64_t *words;      /* room for a record's changed words */
	uint64_t done, total; /* bytes, of both passes */
	unsigned turn;        /* records since the last call of `progress` */
	uint64_t least, most; /* times of samples in the new file */
};

/* The number, within its input, of the recording that an id belongs to. */
static inline uint32_t merge_part_of_id(const struct merge_input *input, uint64_t id)
{
	return id >> 32 < input->count ? (uint32_t)(id >> 32) : 0;
}

/* The id that stands for another one: of an event of the input, or of an unknown one. */
static inline uint64_t merge_id(const struct merge_input *input, uint64_t id)
{
	const uint64_t *known = id ? tally_map_find(&input->ids, id) : &id;
	uint64_t number = (uint64_t)input->first + merge_part_of_id(input, id);

	return known ? *known : number << 32 | (uint32_t)id;
}

/* The id for a record of an event of the input, which says `id`, or 0.  Damaged files, and those of
 * one event, may have ids that are not in the event's list. */
static inline uint64_t merge_event_id(const struct merge *merge, const struct merge_input *input,
				      size_t event, uint64_t id)
{
	uint64_t made = id ? merge_id(input, id) : 0;
	const struct tally_buf *events = &merge->recordings[made >> 32].id_events;
	uint64_t at = ((uint32_t)made - 1ULL) * 4;

	return made && at < events->size && load_u32(events->data + at) == input->events[event]
		   ? made
		   : input->usual_ids[event];
}

static inline uint64_t merge_time(const struct merge_input *input, uint64_t time)
{
	return time && time != UINT64_MAX ? time + input->shift : time;
}

/* The numbers of the recordings; their names and facts.  0 or -errno with words. */
int tally_merge_number(struct merge *merge, struct tally_data *const *data, size_t count,
		       struct tally_error *error);
/* The feature section. */
void tally_merge_add_recordings(const struct merge *merge, struct tally_buf *to);
/* merge_survey.c: reads all records of an input. */
int tally_merge_survey(struct merge *merge, struct merge_input *input, struct tally_error *error);
/* Says that so much was read; -ECANCELED, with words. */
int tally_merge_progress(struct merge *merge, uint64_t done, struct tally_error *error);
/* merge_kernels.c: makes the addresses of equal kernels equal. */
void tally_merge_kernels(struct merge *merge);
/* The build-id of what a mapping names, as the input's header has it; NULL: it has none. */
const struct tally_data_build_id *tally_merge_build_id(const struct merge_input *input,
						       const char *filename, bool kernel);
/* merge_formats.c: the formats of tracepoints; 0 or -errno with words. */
int tally_merge_formats(struct merge *merge, struct tally_error *error);
/* merge_events.c: the events and ids of the new file. */
int tally_merge_events(struct merge *merge, struct tally_error *error);
/* merge_record.c: appends a record to the buffer, changed for the new file.  1; 0: it is left out;
 * -ENOMEM. */
int tally_merge_record(struct merge *merge, struct merge_input *input,
		       const struct tally_record *record);
/* What comes before the records of an input. */
int tally_merge_idle(struct merge *merge, const struct merge_input *input);
/* merge_features.c: all payloads, to merge->file. */
int tally_merge_features(struct merge *merge);
/* The path with a number of the new file in it, of a map of code made at run time; else `name`.
 * Borrowed until the merge ends; NULL: out of memory. */
const char *tally_merge_file_name(struct merge *merge, const struct merge_input *input,
				  const char *name);

#endif
