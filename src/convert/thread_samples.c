#include "convert/thread_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/table.h"
#include "convert/sample_rows.h"
#include "session/numbers.h"

/* Where an event does not say how often it samples. */
#define LONGEST 10000000U /* ns */

void tally_thread_samples_done(struct thread_samples *threads)
{
	for (uint32_t i = 0; i < threads->count; i++)
		free(threads->tracks[i].samples);
	free(threads->tracks);
	free(threads->order);
	tally_map_done(&threads->known);
	tally_stack_table_done(&threads->stacks);
	*threads = (struct thread_samples){.count = 0};
}

/* What is kept of a row until it is added. */
struct kept_row {
	uint64_t time, period;
	uint32_t thread, event, cpu, stack, frame;
};

static struct kept_row keep(const struct sample_row *row)
{
	return (struct kept_row){.time = row->time,
				 .period = row->period,
				 .thread = row->thread,
				 .event = row->event,
				 .cpu = row->cpu,
				 .stack = row->stack,
				 .frame = row->frame};
}

/* Finds the track, or makes it.  0 or -ENOMEM. */
static int find_track(struct thread_samples *threads, const struct kept_row *row)
{
	struct tally_thread thread = {.size = sizeof(thread), .pid = UINT32_MAX, .tid = UINT32_MAX};
	uint64_t key, *known;
	uint32_t room;
	bool added;

	tally_session_thread(threads->convert->session, row->thread, &thread);
	key = (uint64_t)thread.pid << 32 | thread.tid;
	if (threads->by_event)
		key = hash_mix(hash_u64(key), row->event);
	known = tally_map_put(&threads->known, key, &added);
	if (!known)
		return -ENOMEM;
	if (added) {
		room = array_room(threads->room, threads->count + 1, 64);
		if (room != threads->room &&
		    !array_resize(&threads->tracks, room, sizeof(*threads->tracks)))
			return -ENOMEM;
		threads->room = room;
		threads->tracks[threads->count] = (struct thread_track){.pid = thread.pid,
									.tid = thread.tid,
									.event = row->event,
									.number = threads->count};
		*known = threads->count++;
	}
	threads->track = (uint32_t)*known;
	threads->thread = row->thread;
	threads->event = row->event;
	threads->tracks[*known].comm = thread.comm ? thread.comm : "";
	return 0;
}

static int note_order(struct thread_samples *threads)
{
	uint32_t room = array_room(threads->order_room, threads->order_count + 1, 4096);

	if (room != threads->order_room &&
	    !array_resize(&threads->order, room, sizeof(*threads->order)))
		return -ENOMEM;
	threads->order_room = room;
	threads->order[threads->order_count++] = threads->track;
	return 0;
}

static int add_row(struct thread_samples *threads, const struct kept_row *row)
{
	int64_t pair = tally_stack_table_add(&threads->stacks, row->stack, row->frame);
	bool known =
	    threads->count && row->thread == threads->thread && row->event == threads->event;
	int result = known ? 0 : find_track(threads, row);
	struct thread_track *track;
	uint32_t room;

	if (result || pair < 0)
		return -ENOMEM;
	track = &threads->tracks[threads->track];
	room = array_room(track->room, track->count + 1, 16);
	if (room != track->room && !array_resize(&track->samples, room, sizeof(*track->samples)))
		return -ENOMEM;
	track->room = room;
	track->samples[track->count++] = (struct thread_sample){
	    .time = row->time, .period = row->period, .node = (uint32_t)pair, .cpu = row->cpu};
	if (row->time < threads->first_time)
		threads->first_time = row->time;
	if (row->time > threads->last_time)
		threads->last_time = row->time;
	return threads->in_order ? note_order(threads) : 0;
}

static int take_row(void *context, const struct sample_row *row)
{
	struct thread_samples *threads = context;
	const struct kept_row kept = keep(row);
	int result = add_row(threads, &kept);

	return result ? result : threads->more(threads->context, row);
}

static int put_row(void *context, const struct sample_row *row)
{
	const struct kept_row kept = keep(row);

	(void)context;
	tally_buf_add(row->part, &kept, sizeof(kept));
	return row->part->failed;
}

static int take_part(void *context, const struct tally_buf *part)
{
	const struct kept_row *rows = (const struct kept_row *)part->data;
	int result = 0;

	for (size_t i = 0; i < part->size / sizeof(*rows) && !result; i++)
		result = add_row(context, &rows[i]);
	return result;
}

static int by_track(const void *left, const void *right)
{
	const struct thread_track *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* Each event that was asked for must have times. */
static int check_times(const struct convert *convert)
{
	for (uint32_t i = 0; i < tally_data_event_count(convert->data); i++)
		if (tally_convert_has_event(convert, i) &&
		    tally_session_event_samples(convert->session, i) &&
		    !tally_session_has_time(convert->session, i))
			return tally_fail(convert->error, -EINVAL, -1,
					  "event '%s' does not record the time of its samples; "
					  "`record -T` does, or use a format without time",
					  tally_data_event(convert->data, i)->name);
	return 0;
}

int tally_thread_samples_make(struct convert *convert, struct thread_samples *ret)
{
	int result = check_times(convert);

	ret->stacks.session = convert->session;
	ret->first_time = UINT64_MAX;
	ret->convert = convert;
	if (!result)
		result = ret->more ? tally_sample_rows_run(convert, ret->columns, take_row, ret)
				   : tally_sample_rows_by_parts(convert, 0, NULL, put_row,
								take_part, ret);
	if (!result)
		result = tally_stack_table_make(&ret->stacks);
	if (result)
		return result;
	if (ret->first_time > ret->last_time)
		ret->first_time = ret->last_time = 0;
	for (uint32_t i = 0; i < ret->count; i++)
		for (uint32_t at = 0; at < ret->tracks[i].count; at++) {
			struct thread_sample *sample = &ret->tracks[i].samples[at];

			sample->node = tally_stack_table_node(&ret->stacks, sample->node);
		}
	tally_stack_table_drop_pairs(&ret->stacks);
	if (ret->count)
		qsort(ret->tracks, ret->count, sizeof(*ret->tracks), by_track);
	return 0;
}

uint64_t tally_thread_sample_length(const struct thread_samples *threads,
				    const struct thread_track *track, uint32_t sample)
{
	const struct tally_attr *attr =
	    &tally_data_event(threads->convert->data, track->event)->attr;
	const struct thread_sample *at = &track->samples[sample];
	uint64_t usual = LONGEST, gap = UINT64_MAX;

	if (!strcmp(tally_convert_unit(threads->convert, track->event), "nanoseconds"))
		usual = at->period;
	else if (attr->freq && attr->sample_freq)
		usual = 1000000000 / attr->sample_freq;
	if (sample + 1 < track->count)
		gap = track->samples[sample + 1].time - at->time;
	return gap / 2 <= usual ? gap : usual;
}
