#include "source/source.h"

#include <stdlib.h>
#include <time.h>
#include "base/pool.h"
#include "file/live.h"
#include "source/order.h"

/* More threads than this are a mistake. */
#define THREADS_MOST 1024U

/* What is the same for all events, and so known before any sample's event is. */
static int look_at_events(struct tally_source *source)
{
	source->event_count = tally_data_event_count(source->data);
	source->event_samples = calloc(source->event_count + 1, sizeof(uint64_t));
	source->event_lost = calloc(source->event_count + 1, sizeof(uint64_t));
	if (!source->event_samples || !source->event_lost)
		return -ENOMEM;
	source->id_at = -1;
	for (size_t i = 0; i < source->event_count; i++) {
		const struct tally_layout *layout = &tally_data_event(source->data, i)->layout;
		int at = layout->at[TALLY_FIXED_IDENTIFIER];

		if (at < 0)
			at = layout->at[TALLY_FIXED_ID];
		if (!i)
			source->id_at = at;
		else if (source->id_at != at)
			source->id_at = -1;
		if (layout->at[TALLY_FIXED_TIME] < 0)
			source->by_offset = true;
	}
	/* Side-band records without a time hold from their place in the file on, as in perf. */
	source->by_offset |= source->event_count && tally_order_in_file(source);
	return 0;
}

void tally_source_drop_early_sums(struct tally_source *source)
{
	for (size_t i = 0; source->early_sums && i < source->early_part_count; i++)
		tally_early_sums_done(&source->early_sums[i]);
	free(source->early_sums);
	source->early_sums = NULL;
}

void tally_source_free_side_bytes(struct tally_source *source)
{
	for (size_t i = 0; source->side_bytes && i < source->side_bytes_count; i++)
		tally_arena_done(&source->side_bytes[i]);
	free(source->side_bytes);
	source->side_bytes = NULL;
}

/* Side-band records in time order go to the processes. */
int tally_source_feed_sides(struct tally_source *source, uint64_t until)
{
	int result = tally_source_sort_sides(source->sides, source->side_count);

	for (size_t i = 0; !result && i < source->side_count; i++) {
		const struct source_side *side = &source->sides[i];
		const struct perf_event_header *header = (const void *)side->bytes;
		const struct tally_record record = {
		    .bytes = side->bytes,
		    .offset = side->offset,
		    .type = header->type,
		    .misc = header->misc,
		    .size = header->size,
		};
		int event = tally_data_event_of(source->data, &record);
		struct tally_body body;

		body.size = sizeof(body);
		if (!tally_record_decode(
			&tally_data_event(source->data, event < 0 ? 0 : (size_t)event)->layout,
			&record, &body, NULL))
			result = tally_jit_loads_record(&source->jit_loads, source->processes,
							&body, side->time, side->offset);
	}
	if (!result)
		result = tally_jit_loads_feed(&source->jit_loads, source->processes, until);
	free(source->sides);
	tally_source_free_side_bytes(source);
	source->sides = NULL;
	source->side_count = source->side_room = 0;
	return result ? result : tally_process_freeze(source->processes);
}

static int build_processes(struct tally_source *source)
{
	int result = tally_process_table_new(&source->processes);

	if (!result && source->live)
		tally_process_will_renew(source->processes);
	return result ? result : tally_source_feed_sides(source, UINT64_MAX);
}

/* --- code that was made at run time --- */

static enum tally_jit_times times_of(void *context)
{
	const struct tally_source *source = context;
	const struct tally_data_info *info = tally_data_info(source->data);

	if (source->by_offset)
		return TALLY_JIT_NONE;
	for (size_t i = 0; i < source->event_count; i++) {
		const struct tally_attr *attr = &tally_data_event(source->data, i)->attr;

		if (!attr->use_clockid || attr->clockid != CLOCK_MONOTONIC)
			return TALLY_JIT_OTHER;
	}
	/* Times of merged recordings were moved. */
	for (size_t i = 0; i < info->recording_count; i++)
		if (info->recordings[i].shift)
			return TALLY_JIT_OTHER;
	return TALLY_JIT_MONOTONIC;
}

static uint8_t file_id(void *context, const char *path, uint8_t ret[20])
{
	const struct tally_source *source = context;
	const struct tally_data_info *info = tally_data_info(source->data);

	for (size_t i = 0; i < info->build_id_count; i++) {
		const struct tally_data_build_id *id = &info->build_ids[i];

		if (id->filename && !strcmp(id->filename, path)) {
			memcpy(ret, id->id, sizeof(id->id));
			return id->size;
		}
	}
	return 0;
}

static int init_loads(struct tally_source *source, const struct tally_session_options *options)
{
	const struct tally_jit_search search = {
	    .places = &source->places,
	    .root = "",
	    .symfs = options->symfs ? options->symfs : "",
	    .cache = options->build_id_dir,
	};
	const struct tally_jit_recording recording = {
	    .context = source, .times = times_of, .file_id = file_id};

	return tally_jit_loads_init(&source->jit_loads, &search, &recording);
}

/* --- from outside --- */

int tally_source_init(struct tally_source *source, struct tally_data *data,
		      const struct tally_session_options *options, struct tally_error *error)
{
	unsigned threads = options->threads ? options->threads : tally_pool_width();
	int result;

	*source = (struct tally_source){
	    .data = data,
	    .threads = threads < THREADS_MOST ? threads : THREADS_MOST,
	    .progress = options->progress,
	    .progress_context = options->progress_context,
	    .by_offset = options->file_order,
	    .live = tally_data_is_live(data),
	    .total_bytes = tally_data_file_size(data),
	    .sums_early = options->columns & TALLY_COLUMN_COUNT,
	};
	source->places.recording = tally_data_archive(data);
	result = init_loads(source, options);
	if (!result)
		result = look_at_events(source);
	if (!result && !source->live)
		result = tally_source_scan(source, error);
	return result ? result : build_processes(source);
}

void tally_source_done(struct tally_source *source)
{
	tally_process_table_free(source->processes);
	tally_jit_loads_done(&source->jit_loads);
	tally_source_drop_early_sums(source);
	tally_source_free_side_bytes(source);
	free(source->pieces);
	free(source->runs);
	free(source->deferred);
	free(source->sides);
	free(source->event_samples);
	free(source->event_lost);
	*source = (struct tally_source){0};
}
