#include "session/lump_visit.h"

#include <errno.h>
#include <stdlib.h>

/* Lumps that one thread takes at a time. */
#define RUN LUMPS_CHUNK

static int by_thread(const void *left, const void *right)
{
	const struct lump_redo *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->first_offset < b->first_offset ? -1 : a->first_offset > b->first_offset;
}

static int add_redo(struct lump_visit *visit, const struct lump_stint *stint, size_t *room)
{
	if (visit->redo_count == *room) {
		size_t more = *room ? *room * 2 : 64;
		void *redo = reallocarray(visit->redo, more, sizeof(*visit->redo));

		if (!redo)
			return -ENOMEM;
		visit->redo = redo;
		*room = more;
	}
	visit->redo[visit->redo_count++] = (struct lump_redo){
	    .pid = stint->pid,
	    .tid = stint->tid,
	    .first_offset = stint->first_offset,
	    .last_offset = stint->last_offset,
	};
	visit->some_tids[stint->tid / 64 % 4] |= 1ULL << (stint->tid % 64);
	return 0;
}

/* What holds for each stint of a part. */
static int view_part(struct lump_visit *visit, size_t part, size_t *redo_room)
{
	const struct tally_process_table *processes = visit->session->processes;
	const struct tally_space *kernel = tally_process_kernel_space(processes);
	const struct lumps *lumps = &visit->session->lumps[part];
	struct lump_view *views = calloc((size_t)lumps->stint_count + 1, sizeof(*views));
	uint64_t from = 0, until = 0;
	uint32_t kernel_era = 0;

	visit->views[part] = views;
	if (!views)
		return -ENOMEM;
	for (uint32_t i = 0; i < lumps->stint_count; i++) {
		const struct lump_stint *stint = &lumps->stints[i];
		struct tally_task_view view;
		struct thread_row row;
		uint32_t thread;

		tally_process_view(processes, stint->pid, stint->tid, stint->first_time, &view);
		row = (struct thread_row){.pid = stint->pid,
					  .tid = stint->tid,
					  .comm = view.comm,
					  .space = tally_space_id(view.space)};
		thread = view.comm == UINT32_MAX
			     ? UINT32_MAX
			     : tally_thread_number(&visit->session->threads_met, &row);
		if (thread == UINT32_MAX)
			return -ENOMEM;
		if (stint->first_time < from || stint->first_time >= until)
			kernel_era = tally_space_era_span(kernel, stint->first_time, &from, &until);
		views[i] = (struct lump_view){
		    .space = view.space,
		    .comm = view.comm,
		    .era = view.era,
		    .kernel_era = kernel_era,
		    .thread = thread,
		    .changes = stint->last_time >= view.until || stint->last_time >= until,
		};
		if (views[i].changes && add_redo(visit, stint, redo_room))
			return -ENOMEM;
	}
	return 0;
}

static int by_offset(const void *left, const void *right)
{
	const struct lump_redo *a = left, *b = right;

	return a->first_offset < b->first_offset ? -1 : a->first_offset > b->first_offset;
}

/* The pieces that stretches of the file touch which are read again. */
static int find_pieces(struct lump_visit *visit)
{
	const struct tally_session *session = visit->session;
	size_t next = 0;
	uint64_t reach = 0; /* behind the last byte of the stretches that began so far */

	if (!visit->redo_count)
		return 0;
	visit->redo_pieces = calloc(session->piece_count + 1, sizeof(*visit->redo_pieces));
	if (!visit->redo_pieces)
		return -ENOMEM;
	qsort(visit->redo, visit->redo_count, sizeof(*visit->redo), by_offset);
	for (size_t i = 0; i < session->piece_count; i++) {
		const struct session_piece *piece = &session->pieces[i];

		for (; next < visit->redo_count &&
		       visit->redo[next].first_offset < piece->offset + piece->size;
		     next++)
			if (visit->redo[next].last_offset >= reach)
				reach = visit->redo[next].last_offset + 1;
		if (piece->offset < reach)
			visit->redo_pieces[visit->redo_piece_count++] = (uint32_t)i;
	}
	return 0;
}

int tally_lump_visit_init(struct lump_visit *visit, struct tally_session *session)
{
	size_t parts = session->lump_part_count, room = 0;
	int result;

	*visit = (struct lump_visit){.session = session};
	visit->views = calloc(parts, sizeof(*visit->views));
	visit->first_run = calloc(parts + 1, sizeof(*visit->first_run));
	result = visit->views && visit->first_run ? 0 : -ENOMEM;
	for (size_t part = 0; !result && part < parts; part++) {
		result = view_part(visit, part, &room);
		visit->first_run[part + 1] =
		    visit->first_run[part] + (session->lumps[part].count + RUN - 1) / RUN;
	}
	if (!result)
		result = find_pieces(visit);
	if (result) {
		tally_lump_visit_done(visit);
		return result;
	}
	visit->run_count = visit->first_run[parts];
	if (visit->redo_count)
		qsort(visit->redo, visit->redo_count, sizeof(*visit->redo), by_thread);
	return 0;
}

void tally_lump_visit_done(struct lump_visit *visit)
{
	for (size_t part = 0; visit->views && part < visit->session->lump_part_count; part++)
		free(visit->views[part]);
	free(visit->views);
	free(visit->first_run);
	free(visit->redo);
	free(visit->redo_pieces);
	*visit = (struct lump_visit){0};
}

/* A thread's stretches do not overlap: the last one that begins at or before the offset is it. */
bool tally_lump_visit_again(const struct lump_visit *visit, uint32_t pid, uint32_t tid,
			    uint64_t offset)
{
	const struct lump_redo wanted = {.pid = pid, .tid = tid, .first_offset = offset};
	size_t low = 0, high = visit->redo_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_thread(&visit->redo[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && visit->redo[low - 1].pid == pid && visit->redo[low - 1].tid == tid &&
	       offset <= visit->redo[low - 1].last_offset;
}

int tally_lump_visit_run(const struct lump_visit *visit, size_t run, const uint64_t *want,
			 tally_sample_fn show, void *context, unsigned worker,
			 struct tally_resolver *resolver)
{
	struct tally_resolved sample = {0};
	struct lumps *lumps;
	struct lump *chunk;
	size_t part = 0, first, count;
	int result = 0;

	while (run >= visit->first_run[part + 1])
		part++;
	lumps = &visit->session->lumps[part];
	run -= visit->first_run[part];
	first = run * RUN;
	count = lumps->count - first < RUN ? lumps->count - first : RUN;
	chunk = lumps->chunks[run];
	for (size_t i = 0; i < count && result >= 0; i++) {
		const struct lump *lump = &chunk[i];
		const struct lump_stint *stint = &lumps->stints[lump_stint(lump)];
		const struct lump_view *view = &visit->views[part][lump_stint(lump)];

		if (view->changes)
			continue;
		sample.event = lump_event(lump);
		sample.sample.present = want[sample.event];
		sample.sample.ip = lump->addr;
		sample.sample.pid = stint->pid;
		sample.sample.tid = stint->tid;
		sample.sample.time = stint->first_time;
		sample.sample.period = lumps_period(lumps, (uint32_t)(first + i));
		sample.cpumode = lump_cpumode(lump);
		sample.comm = view->comm;
		sample.thread = view->thread;
		sample.space = view->space;
		sample.era = view->era;
		sample.kernel_era = view->kernel_era;
		sample.offset = stint->first_offset;
		sample.more = lump->samples - 1;
		result = show(context, worker, resolver, &sample);
	}
	tally_lumps_drop(lumps, (uint32_t)run);
	return result < 0 ? result : 0;
}
