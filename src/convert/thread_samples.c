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
	tally_map_done(&threads->known);
	tally_stack_table_done(&threads->stacks);
	*threads = (struct thread_samples){.count = 0};
}

/* NULL: out of memory. */
static struct thread_track *track_of(struct thread_samples *threads, const struct sample_row *row)
{
	uint64_t key = (uint64_t)row->pid << 32 | row->tid, *known;
	uint32_t room;
	bool added;

	if (threads->by_event)
		key = hash_mix(hash_u64(key), row->event);
	known = tally_map_put(&threads->known, key, &added);
	if (!known)
		return NULL;
	if (added) {
		room = array_room(threads->room, threads->count + 1, 64);
		if (room != threads->room &&
		    !array_resize(&threads->tracks, room, sizeof(*threads->tracks)))
			return NULL;
		threads->room = room;
		threads->tracks[threads->count] = (struct thread_track){.pid = row->pid,
									.tid = row->tid,
									.event = row->event,
									.number = threads->count};
		*known = threads->count++;
	}
	return &threads->tracks[*known];
}

static int take_row(void *context, const struct sample_row *row)
{
	struct thread_samples *threads = context;
	struct thread_track *track = track_of(threads, row);
	int64_t pair = tally_stack_table_add(&threads->stacks, row->stack, row->frame);
	uint32_t room;

	if (!track || pair < 0)
		return -ENOMEM;
	room = array_room(track->room, track->count + 1, 16);
	if (room != track->room && !array_resize(&track->samples, room, sizeof(*track->samples)))
		return -ENOMEM;
	track->room = room;
	track->comm = row->comm;
	track->samples[track->count++] = (struct thread_sample){
	    .time = row->time, .period = row->period, .node = (uint32_t)pair, .cpu = row->cpu};
	if (row->time < threads->first_time)
		threads->first_time = row->time;
	if (row->time > threads->last_time)
		threads->last_time = row->time;
	return threads->more ? threads->more(threads->context, row, track->number) : 0;
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
		result = tally_sample_rows_run(convert, ret->columns, take_row, ret);
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
