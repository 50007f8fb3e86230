#include "session/early_visit.h"
#include "base/sorted.h"
#include "base/table.h"

#include <errno.h>
#include <stdlib.h>

/* Groups that one thread takes at a time. */
#define RUN EARLY_CHUNK

static int by_thread(const void *left, const void *right)
{
	const struct early_again *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->first_offset < b->first_offset ? -1 : a->first_offset > b->first_offset;
}

static int add_again(struct early_visit *visit, const struct early_phase *phase, size_t *room)
{
	if (!array_next(&visit->again, room, visit->again_count, 64, sizeof(*visit->again)))
		return -ENOMEM;
	visit->again[visit->again_count++] = (struct early_again){
	    .pid = phase->pid,
	    .tid = phase->tid,
	    .first_offset = phase->first_offset,
	    .last_offset = phase->last_offset,
	};
	visit->some_tids[phase->tid / 64 % 4] |= 1ULL << (phase->tid % 64);
	return 0;
}

/* What holds for each phase of a part. */
static int view_part(struct early_visit *visit, size_t part, size_t *again_room)
{
	const struct tally_process_table *processes = visit->session->source.processes;
	const struct tally_space *kernel = tally_process_kernel_space(processes);
	const struct early_sums *sums = &visit->session->source.early_sums[part];
	struct early_view *views = calloc((size_t)sums->phase_count + 1, sizeof(*views));
	uint64_t from = 0, until = 0;
	uint32_t kernel_era = 0;

	visit->views[part] = views;
	if (!views)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->phase_count; i++) {
		const struct early_phase *phase = &sums->phases[i];
		struct tally_task_view view;
		struct thread_row row;
		uint32_t thread;

		tally_process_view(processes, phase->pid, phase->tid, phase->first_time, &view);
		row = (struct thread_row){
		    .pid = phase->pid,
		    .tid = phase->tid,
		    .comm = tally_process_counted_comm(processes, phase->tid, view.comm),
		    .space = tally_space_id(view.space)};
		thread = view.comm == UINT32_MAX
			     ? UINT32_MAX
			     : tally_thread_number(&visit->session->tables.threads_met, &row);
		if (thread == UINT32_MAX)
			return -ENOMEM;
		if (phase->first_time < from || phase->first_time >= until)
			kernel_era = tally_space_era_span(kernel, phase->first_time, &from, &until);
		views[i] = (struct early_view){
		    .space = view.space,
		    .comm = view.comm,
		    .era = view.era,
		    .kernel_era = kernel_era,
		    .thread = thread,
		    .changes = phase->last_time >= view.until || phase->last_time >= until,
		};
		if (views[i].changes && add_again(visit, phase, again_room))
			return -ENOMEM;
	}
	return 0;
}

static int by_offset(const void *left, const void *right)
{
	const struct early_again *a = left, *b = right;

	return a->first_offset < b->first_offset ? -1 : a->first_offset > b->first_offset;
}

/* The pieces that ranges of the file touch which are read again. */
static int find_pieces(struct early_visit *visit)
{
	const struct tally_session *session = visit->session;
	size_t next = 0;
	uint64_t reach = 0; /* behind the last byte of the ranges that began so far */

	if (!visit->again_count)
		return 0;
	visit->again_pieces = calloc(session->source.piece_count + 1, sizeof(*visit->again_pieces));
	if (!visit->again_pieces)
		return -ENOMEM;
	qsort(visit->again, visit->again_count, sizeof(*visit->again), by_offset);
	for (size_t i = 0; i < session->source.piece_count; i++) {
		const struct source_piece *piece = &session->source.pieces[i];

		for (; next < visit->again_count &&
		       visit->again[next].first_offset < piece->offset + piece->size;
		     next++)
			if (visit->again[next].last_offset >= reach)
				reach = visit->again[next].last_offset + 1;
		if (piece->offset < reach)
			visit->again_pieces[visit->again_piece_count++] = (uint32_t)i;
	}
	return 0;
}

int tally_early_visit_init(struct early_visit *visit, struct tally_session *session)
{
	size_t parts = session->source.early_part_count, room = 0;
	int result;

	*visit = (struct early_visit){.session = session};
	visit->views = calloc(parts, sizeof(*visit->views));
	visit->first_run = calloc(parts + 1, sizeof(*visit->first_run));
	result = visit->views && visit->first_run ? 0 : -ENOMEM;
	for (size_t part = 0; !result && part < parts; part++) {
		result = view_part(visit, part, &room);
		visit->first_run[part + 1] =
		    visit->first_run[part] +
		    (session->source.early_sums[part].count + RUN - 1) / RUN;
	}
	if (!result)
		result = find_pieces(visit);
	if (result) {
		tally_early_visit_done(visit);
		return result;
	}
	visit->run_count = visit->first_run[parts];
	if (visit->again_count)
		qsort(visit->again, visit->again_count, sizeof(*visit->again), by_thread);
	return 0;
}

void tally_early_visit_done(struct early_visit *visit)
{
	for (size_t part = 0; visit->views && part < visit->session->source.early_part_count;
	     part++)
		free(visit->views[part]);
	free(visit->views);
	free(visit->first_run);
	free(visit->again);
	free(visit->again_pieces);
	*visit = (struct early_visit){0};
}

/* A thread's ranges do not overlap: the last one that begins at or before the offset is it. */
bool tally_early_visit_again(const struct early_visit *visit, uint32_t pid, uint32_t tid,
			     uint64_t offset)
{
	const struct early_again wanted = {.pid = pid, .tid = tid, .first_offset = offset};
	size_t low = SORTED_BOUND(middle, 0, visit->again_count,
				  by_thread(&visit->again[middle], &wanted) <= 0);

	return low && visit->again[low - 1].pid == pid && visit->again[low - 1].tid == tid &&
	       offset <= visit->again[low - 1].last_offset;
}

int tally_early_visit_run(const struct early_visit *visit, size_t run, const uint64_t *want,
			  tally_show_sample_fn show, void *context, unsigned worker,
			  struct tally_resolver *resolver)
{
	struct tally_resolved sample = {0};
	struct early_sums *sums;
	struct early_sum *chunk;
	size_t part = 0, first, count;
	int result = 0;

	while (run >= visit->first_run[part + 1])
		part++;
	sums = &visit->session->source.early_sums[part];
	run -= visit->first_run[part];
	first = run * RUN;
	count = sums->count - first < RUN ? sums->count - first : RUN;
	chunk = sums->chunks[run];
	for (size_t i = 0; i < count && result >= 0; i++) {
		const struct early_sum *sum = &chunk[i];
		const struct early_phase *phase = &sums->phases[early_phase(sum)];
		const struct early_view *view = &visit->views[part][early_phase(sum)];

		if (view->changes)
			continue;
		sample.event = early_event(sum);
		sample.sample.present = want[sample.event];
		sample.sample.ip = sum->addr;
		sample.sample.pid = phase->pid;
		sample.sample.tid = phase->tid;
		sample.sample.time = phase->first_time;
		sample.sample.period = early_sum_period(sums, (uint32_t)(first + i));
		sample.cpumode = early_cpumode(sum);
		sample.comm = view->comm;
		sample.thread = view->thread;
		sample.space = view->space;
		sample.era = view->era;
		sample.kernel_era = view->kernel_era;
		sample.offset = phase->first_offset;
		sample.more = sum->samples - 1;
		result = show(context, worker, resolver, &sample);
	}
	tally_early_sums_drop(sums, (uint32_t)run);
	return result < 0 ? result : 0;
}
