#include "source/source.h"

#include <stdlib.h>
#include "base/pool.h"
#include "file/live.h"

/* More threads than this are a mistake. */
#define THREADS_MOST 1024U

/* What is the same for all events, and so known before any sample's event is. */
static int look_at_events(struct tally_source *source)
{
	source->event_count = tally_data_event_count(source->data);
	source->event_samples = calloc(source->event_count + 1, sizeof(uint64_t));
	if (!source->event_samples)
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

/* What was compiled before a record comes before it. */
static int feed_side(struct tally_source *source, const struct tally_body *body,
		     const struct source_side *side)
{
	int result = tally_jit_loads_feed(source, side->time);

	if (!result)
		result = tally_jit_loads_note(source, body, side->time, side->offset);
	if (result)
		return result == 1 ? 0 : result;
	return tally_process_feed(source->processes, body, side->time);
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
			result = feed_side(source, &body, side);
	}
	if (!result)
		result = tally_jit_loads_feed(source, until);
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
	result = tally_jit_loads_init(&source->jit_loads, tally_data_archive(data), options);
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
	*source = (struct tally_source){0};
}
