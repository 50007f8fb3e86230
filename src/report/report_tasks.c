/* Prints the threads that the records of a recording name, each below the one that created it, as
 * `perf report --tasks` lists them: by perf's table of threads (256 lists, each in the order of
 * numbers), each with its name at the end.  A thread whose number is used again is left out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/report.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/map.h"
#include "base/table.h"
#include "base/cell.h"
#include "report/report_rows.h"
#include "report/task_maps.h"
#include "session/record_sink.h"

#define LISTS       256U
#define INDENT_MOST 100U
#define NONE        UINT32_MAX
#define MAPS_INDENT 32U /* perf's: behind the columns of numbers */

struct task {
	uint32_t pid, tid;
	uint32_t maker;   /* a tid; NONE: unknown */
	const char *comm; /* NULL: unknown */
	bool gone, listed;
	uint32_t first, last, next, above; /* the list of those that it created; indices or NONE */
	unsigned level;
};

struct tasks {
	const struct tally_data *data;
	struct tally_arena arena;
	struct tally_map by_tid; /* index */
	struct task *list;
	size_t count, room;
	struct task_maps *maps; /* NULL: mappings are not shown */
};

static int find(const struct tasks *tasks, uint32_t tid, uint32_t *ret)
{
	const uint64_t *index = tally_map_find(&tasks->by_tid, tid);

	if (index && !tasks->list[*index].gone) {
		*ret = (uint32_t)*index;
		return 1;
	}
	return 0;
}

static int add(struct tasks *tasks, uint32_t pid, uint32_t tid, uint32_t *ret)
{
	bool added;
	uint64_t *index = tally_map_put(&tasks->by_tid, tid, &added);

	if (!index || tasks->count >= NONE)
		return -ENOMEM;
	if (!array_next(&tasks->list, &tasks->room, tasks->count, 256, sizeof(*tasks->list)))
		return -ENOMEM;
	*index = tasks->count;
	*ret = (uint32_t)tasks->count;
	tasks->list[tasks->count++] = (struct task){
	    .pid = pid,
	    .tid = tid,
	    .maker = NONE,
	    .first = NONE,
	    .last = NONE,
	    .next = NONE,
	    .above = NONE,
	};
	return 0;
}

/* A new thread also adds its process. */
static int find_or_add(struct tasks *tasks, uint32_t pid, uint32_t tid, uint32_t *ret)
{
	uint32_t leader;
	int result;

	if (find(tasks, tid, ret))
		return 0;
	result = add(tasks, pid, tid, ret);
	if (!result && pid != tid && pid != NONE && !find(tasks, pid, &leader))
		result = add(tasks, pid, pid, &leader);
	return result;
}

static int name(struct tasks *tasks, uint32_t index, const char *comm)
{
	tasks->list[index].comm = tally_arena_strndup(&tasks->arena, comm, strlen(comm));
	return tasks->list[index].comm ? 0 : -ENOMEM;
}

static int take_fork(struct tasks *tasks, const struct tally_record_task *fork)
{
	uint32_t parent, child;
	int result = find_or_add(tasks, fork->ppid, fork->ptid, &parent);

	if (!result && tasks->list[parent].pid != fork->ppid) {
		tasks->list[parent].gone = true;
		result = find_or_add(tasks, fork->ppid, fork->ptid, &parent);
	}
	if (!result && find(tasks, fork->tid, &child))
		tasks->list[child].gone = true;
	if (!result)
		result = find_or_add(tasks, fork->pid, fork->tid, &child);
	if (!result) {
		tasks->list[child].maker = fork->ptid;
		if (tasks->list[parent].comm)
			tasks->list[child].comm = tasks->list[parent].comm;
	}
	return result;
}

static bool is_map(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2;
}

static int take(struct tasks *tasks, const struct tally_entry *entry)
{
	const struct tally_record *record = &entry->record;
	struct tally_body body;
	uint32_t index;
	int result;

	body.size = sizeof(body);
	if ((record->type != PERF_RECORD_COMM && record->type != PERF_RECORD_FORK &&
	     !(tasks->maps && is_map(record->type))) ||
	    tally_record_decode(&tally_data_event(tasks->data, entry->at->event)->layout, record,
				&body, NULL) < 0)
		return 0;
	result = tasks->maps ? tally_task_maps_take(tasks->maps, &body) : 0;
	if (!result && is_map(record->type))
		return find_or_add(tasks, body.mmap.pid, body.mmap.tid, &index);
	if (result)
		return result;
	if (record->type == PERF_RECORD_FORK)
		return take_fork(tasks, &body.task);
	result = find_or_add(tasks, body.comm.pid, body.comm.tid, &index);
	return result ? result : name(tasks, index, body.comm.comm);
}

static int take_batch(void *context, struct tally_record_batch *batch)
{
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		result = take(context, &entry);
		if (result)
			break;
	}
	return result;
}

static int by_list(const void *one, const void *other)
{
	const struct task *const *a = one, *const *b = other;
	uint32_t x = (*a)->tid, y = (*b)->tid;

	if (x % LISTS != y % LISTS)
		return x % LISTS < y % LISTS ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Puts the task, and its ancestors that are in no list yet, into the lists of their parents, or
 * into that of the tasks without a parent. */
static void list(struct tasks *tasks, uint32_t index, struct task *root)
{
	for (uint32_t above; !tasks->list[index].listed; index = above) {
		struct task *task = &tasks->list[index];
		bool made = task->maker != NONE && find(tasks, task->maker, &above);
		struct task *to = made ? &tasks->list[above] : root;

		task->listed = true;
		task->above = made ? above : NONE;
		if (to->last == NONE)
			to->first = index;
		else
			tasks->list[to->last].next = index;
		to->last = index;
		if (!made)
			return;
	}
}

static void put(const struct tasks *tasks, struct tally_buf *to, const struct task *task)
{
	unsigned level = task->level < INDENT_MOST ? task->level : INDENT_MOST;

	tally_buf_printf(to, "  %8d %8d %8d |", (int)task->pid, (int)task->tid,
			 task->maker == NONE ? -1 : (int)task->maker);
	tally_cell_spaces(to, level);
	if (task->comm)
		tally_cell_name(to, task->comm);
	else
		tally_buf_printf(to, ":%d", (int)task->tid);
	tally_buf_byte(to, '\n');
	if (tasks->maps)
		tally_task_maps_put(tasks->maps, task->pid, MAPS_INDENT + level, to);
}

static int put_all(struct tasks *tasks, struct tally_buf *to)
{
	struct task root = {.first = NONE, .last = NONE};
	struct task **order = calloc(tasks->count + 1, sizeof(*order));
	size_t count = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < tasks->count; i++)
		if (!tasks->list[i].gone)
			order[count++] = &tasks->list[i];
	qsort(order, count, sizeof(*order), by_list);
	for (size_t i = 0; i < count; i++)
		list(tasks, (uint32_t)(order[i] - tasks->list), &root);
	free(order);
	tally_buf_text(to, "#      pid      tid     ppid  comm\n");
	for (uint32_t at = root.first; at != NONE;) {
		struct task *task = &tasks->list[at];

		task->level = task->above == NONE ? 0 : tasks->list[task->above].level + 1;
		put(tasks, to, task);
		if (task->first != NONE) {
			at = task->first;
			continue;
		}
		while (at != NONE && tasks->list[at].next == NONE)
			at = tasks->list[at].above;
		if (at != NONE)
			at = tasks->list[at].next;
	}
	return 0;
}

static int write_tasks(struct tally_session *session, struct task_maps *maps, FILE *to,
		       struct tally_error *error)
{
	struct tasks tasks = {.data = tally_session_data(session), .maps = maps};
	const struct tally_record_sink sink = {
	    .context = &tasks, .records = true, .batch = take_batch};
	struct tally_buf text = {0};
	uint32_t idle;
	int result = add(&tasks, 0, 0, &idle);

	if (!result)
		result = name(&tasks, idle, "swapper");
	if (!result)
		result = tally_session_run_in_order(session, &sink, true, error);
	if (!result)
		result = put_all(&tasks, &text);
	if (!result)
		result = tally_report_write_out(&text, to);
	tally_buf_done(&text);
	tally_map_done(&tasks.by_tid);
	tally_arena_done(&tasks.arena);
	free(tasks.list);
	return result;
}

int tally_report_tasks(struct tally_session *session, FILE *to, struct tally_error *error)
{
	return write_tasks(session, NULL, to, error);
}

int tally_report_mmaps(struct tally_session *session, FILE *to, struct tally_error *error)
{
	struct task_maps maps = {0};
	int result = write_tasks(session, &maps, to, error);

	tally_task_maps_done(&maps);
	return result == -E2BIG ? tally_fail(error, result, -1,
					     "the recording's processes have too many mappings to "
					     "list: use script --show-mmap-events")
				: result;
}
