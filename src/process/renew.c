/* A table that goes on over time: what its end held becomes the start of the next part.
 *
 * A process's space becomes at most two: what it maps now, with what it has from those it was
 * forked from, in one; and what it had before its last exec, through which look-ups still go once,
 * until that is old. What has mapped nothing since the last time is only moved.
 * Rows that nothing can find any more are left out, so the table is as large as what lives.
 * That costs as much as the table is large: a table may take records for longer, with its past. */
#include "process/process_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"

/* Rows, spaces and names that a table may have more than twice as many as when it was renewed. */
#define GROWN_LEAST 1024U

/* As far up as look-ups go. */
#define LEVELS_MOST 64

/* Numbers of rows. */
struct row_list {
	uint32_t *list;
	size_t count, room;
};

struct renewal {
	const struct tally_process_table *from;
	uint64_t before;
	struct tally_process_table to; /* comms, spaces, space_list, rows, pids, exits */
	struct tally_map gone, ended;  /* tids, and pids, of threads that are forgotten */
	struct tally_map living;       /* pids that have a thread */
	struct row_list found;
};

static int add_number(struct row_list *list, uint32_t row)
{
	if (!array_next(&list->list, &list->room, list->count, 64, sizeof(*list->list)))
		return -ENOMEM;
	list->list[list->count++] = row;
	return 0;
}

static int by_number(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The rows of one space that hold something at `time`, in the order of their arrival, or in that of
 * their addresses where no two overlap. */
static int visible_rows(const struct tally_space *space, uint64_t time, struct row_list *found)
{
	const struct tally_space_history *history = space->history;
	size_t kept = 0;
	int result = 0;

	found->count = 0;
	if (!space->change_count || time >= space->changes[space->change_count - 1]) {
		for (uint32_t i = 0; !result && i < space->segment_count; i++)
			result = add_number(found, space->segments[i].row);
	} else {
		for (uint32_t i = 0; !result && i < history->bound_count; i++) {
			uint32_t later;
			uint32_t row =
			    tally_space_history_find(space, history->bounds[i], time, &later);

			if (row != SPACE_NONE)
				result = add_number(found, row);
		}
	}
	if (!found->count || space->apart)
		return result;
	qsort(found->list, found->count, sizeof(*found->list), by_number);
	for (size_t i = 0; i < found->count; i++)
		if (!kept || found->list[i] != found->list[kept - 1])
			found->list[kept++] = found->list[i];
	found->count = kept;
	return result;
}

/* Whether one of the rows from `first` on holds any of its addresses. */
static bool overlaps(const struct tally_process_table *table, size_t first,
		     const struct tally_mapping *mapping)
{
	for (size_t i = first; i < table->row_count; i++)
		if (table->rows[i].mapping.start < mapping->end &&
		    mapping->start < table->rows[i].mapping.end)
			return true;
	return false;
}

static int need_rows(struct tally_process_table *to, size_t count)
{
	size_t room = to->row_room ? to->row_room : 256;
	void *rows;

	if (to->row_room - to->row_count >= count)
		return 0;
	while (room < to->row_count + count)
		room *= 2;
	rows = room < UINT32_MAX ? reallocarray(to->rows, room, sizeof(*to->rows)) : NULL;
	if (!rows)
		return -ENOMEM;
	to->rows = rows;
	to->row_room = room;
	return 0;
}

/* To the newest space, when there is room. */
static void add_row(struct tally_process_table *to, const struct tally_mapping_row *from)
{
	struct tally_mapping_row *row = &to->rows[to->row_count];

	*row = *from;
	row->time = 0;
	row->mapping.space = (uint32_t)to->space_count - 1;
	row->mapping.before = from->mapping.number;
	row->mapping.number = (uint32_t)to->row_count++;
	to->space_list[row->mapping.space].own_count++;
}

/* Adds rows to the newest space, whose rows start at `first`. */
static int add_rows(struct renewal *renewal, size_t first)
{
	struct tally_process_table *to = &renewal->to;

	if (need_rows(to, renewal->found.count))
		return -ENOMEM;
	for (size_t i = 0; i < renewal->found.count; i++) {
		const struct tally_mapping_row *row = &renewal->from->rows[renewal->found.list[i]];

		/* What ends nothing is not needed. */
		if (!row->mapping.hole || overlaps(to, first, &row->mapping))
			add_row(to, row);
	}
	return 0;
}

/* Whether a space is what the last renewal made of it, and has no other behind it. */
static bool is_unchanged(const struct tally_space *space)
{
	return space->segments && space->own_count == space->renewed_count && !space->above &&
	       !space->change_count;
}

/* The rows and segments of a space that is_unchanged() for the newest one. */
static int take_space(struct renewal *renewal, const struct tally_space *from)
{
	struct tally_process_table *to = &renewal->to;
	struct tally_space *made = &to->space_list[to->space_count - 1];
	uint32_t moved = (uint32_t)to->row_count - from->first_row;

	made->segments = malloc(from->segment_count * sizeof(*made->segments) + 1);
	if (!made->segments || need_rows(to, from->own_count))
		return -ENOMEM;
	for (uint32_t i = 0; i < from->own_count; i++)
		add_row(to, &renewal->from->rows[from->first_row + i]);
	made->segment_count = from->segment_count;
	made->frozen_count = from->own_count;
	made->apart = from->apart;
	for (uint32_t i = 0; i < made->segment_count; i++) {
		made->segments[i] = from->segments[i];
		made->segments[i].row += moved;
	}
	return 0;
}

/* What a space was exec'ed from, and when; NULL: nothing. *ret_seen: at which time of the old
 * space. */
static const struct tally_space *before_exec(const struct tally_space *space, uint64_t *ret_seen,
					     uint64_t *ret_exec)
{
	for (unsigned levels = 1; space->above && !space->exec && levels < LEVELS_MOST; levels++)
		space = space->above;
	*ret_seen = space->fork_time;
	*ret_exec = space->exec_time ? space->exec_time : space->fork_time;
	return space->exec ? space->above : NULL;
}

/* The rows that a space shows at `time`, through forks, become those of the newest space, what was
 * farthest first. */
static int flatten_space(struct renewal *renewal, const struct tally_space *space, uint64_t time)
{
	const struct tally_space *levels[LEVELS_MOST];
	uint64_t times[LEVELS_MOST];
	size_t count = 0, first = renewal->to.row_count;
	int result = 0;

	for (; space && count < LEVELS_MOST; space = space->exec ? NULL : space->above) {
		levels[count] = space;
		times[count++] = time;
		time = space->fork_time;
	}
	while (count-- && !result) {
		result = visible_rows(levels[count], times[count], &renewal->found);
		if (!result)
			result = add_rows(renewal, first);
	}
	return result;
}

/* Adds the space from which one was exec'ed, as its parent, unless no sample comes any more that
 * may need it. */
static int renew_old_program(struct renewal *renewal, const struct tally_space *space,
			     struct tally_space *made)
{
	struct tally_process_table *to = &renewal->to;
	struct tally_space old = {.parent = SPACE_NONE};
	size_t row_count = to->row_count;
	uint64_t seen, exec;
	const struct tally_space *before = before_exec(space, &seen, &exec);
	int result;

	if (!before || exec < renewal->before)
		return 0;
	old.id = before->id;
	if (tally_process_space_add(to, &old) < 0)
		return -ENOMEM;
	result = flatten_space(renewal, before, seen);
	if (to->row_count == row_count) {
		to->space_count--;
	} else {
		made->parent = (uint32_t)to->space_count - 1;
		made->exec = true;
		made->exec_time = exec;
	}
	return result;
}

/* A space as a new one, behind what it was exec'ed from. */
static int renew_space(struct renewal *renewal, const struct tally_space *space, uint32_t *ret)
{
	struct tally_process_table *to = &renewal->to;
	struct tally_space made = {
	    .parent = SPACE_NONE, .id = space->id, .version = space->version};
	int result = renew_old_program(renewal, space, &made);

	made.first_row = (uint32_t)to->row_count;
	if (result || tally_process_space_add(to, &made) < 0)
		return result ? result : -ENOMEM;
	*ret = (uint32_t)to->space_count - 1;
	result = is_unchanged(space) ? take_space(renewal, space)
				     : flatten_space(renewal, space, UINT64_MAX);
	to->space_list[*ret].renewed_count = to->space_list[*ret].own_count;
	return result;
}

static bool has(const struct tally_map *map, uint64_t key)
{
	return tally_map_find(map, key);
}

static int put(struct tally_map *map, uint64_t key, uint64_t value)
{
	bool added;
	uint64_t *place = tally_map_put(map, key, &added);

	if (!place)
		return -ENOMEM;
	*place = value;
	return 0;
}

static const struct tally_timeline_entry *newest(const struct tally_timeline *timeline,
						 uint64_t dense)
{
	return &timeline->entries[timeline->first[dense + 1] - 1];
}

/* Which threads are to be forgotten, now or later. */
static int sort_exits(struct renewal *renewal, uint64_t before)
{
	const struct tally_process_table *from = renewal->from;
	int result = 0;

	renewal->to.exits = calloc(from->exit_count + 1, sizeof(*from->exits));
	if (!renewal->to.exits)
		return -ENOMEM;
	renewal->to.exit_room = from->exit_count + 1;
	for (size_t i = 0; i < from->exit_count && !result; i++) {
		const struct tally_process_exit *exit = &from->exits[i];
		const uint64_t *dense = tally_map_find(&from->comms.keys, (uint64_t)exit->tid + 1);

		/* The idle tasks never end; a number may be another thread's since. */
		if (!exit->tid || (dense && newest(&from->comms, *dense)->time > exit->time))
			continue;
		if (exit->time >= before) {
			renewal->to.exits[renewal->to.exit_count++] = *exit;
			continue;
		}
		result = put(&renewal->gone, exit->tid, 1);
		if (!result)
			result = put(&renewal->ended, exit->pid, 1);
	}
	return result;
}

static int renew_pids(struct renewal *renewal)
{
	const struct tally_map *pids = &renewal->from->pids;
	int result = 0;

	if (pids->has_zero)
		result = put(&renewal->to.pids, 0, pids->zero_value);
	for (size_t i = 0; i < pids->room && !result; i++) {
		const struct tally_map_slot *slot = &pids->slots[i];

		if (!slot->key || has(&renewal->gone, slot->key))
			continue;
		result = put(&renewal->to.pids, slot->key, slot->value);
		if (!result)
			result = put(&renewal->living, slot->value, 1);
	}
	return result;
}

static int renew_names(struct renewal *renewal)
{
	const struct tally_timeline *comms = &renewal->from->comms;
	int result = 0;

	for (size_t i = 0; i < comms->keys.room && !result; i++) {
		const struct tally_map_slot *slot = &comms->keys.slots[i];
		uint32_t tid = (uint32_t)(slot->key - 1);

		if (slot->key && !has(&renewal->gone, tid))
			result = tally_timeline_add(&renewal->to.comms, tid, 0,
						    newest(comms, slot->value)->value);
	}
	return result;
}

static int renew_spaces(struct renewal *renewal)
{
	const struct tally_process_table *from = renewal->from;
	const struct tally_timeline *spaces = &from->spaces;
	uint32_t number;
	int result = renew_space(renewal, &from->space_list[PROCESS_KERNEL_SPACE], &number);

	for (size_t i = 0; i < spaces->keys.room && !result; i++) {
		const struct tally_map_slot *slot = &spaces->keys.slots[i];
		uint32_t pid = (uint32_t)(slot->key - 1);

		if (!slot->key || (has(&renewal->ended, pid) && !has(&renewal->living, pid)))
			continue;
		result = renew_space(renewal, &from->space_list[newest(spaces, slot->value)->value],
				     &number);
		if (!result)
			result = tally_timeline_add(&renewal->to.spaces, pid, 0, number);
	}
	return result;
}

static size_t size_of(const struct tally_process_table *table)
{
	return table->row_count + table->space_count + table->comms.count;
}

/* What the two tables have of their own. */
static void free_parts(struct tally_process_table *table)
{
	for (size_t i = 0; i < table->space_count; i++)
		tally_space_done(&table->space_list[i]);
	free(table->space_list);
	free(table->rows);
	free(table->exits);
	tally_map_done(&table->pids);
	tally_timeline_done(&table->comms);
	tally_timeline_done(&table->spaces);
}

static void take_parts(struct tally_process_table *table, const struct tally_process_table *made)
{
	free_parts(table);
	table->space_list = made->space_list;
	table->space_count = made->space_count;
	table->space_room = made->space_room;
	table->rows = made->rows;
	table->row_count = made->row_count;
	table->row_room = made->row_room;
	table->exits = made->exits;
	table->exit_count = made->exit_count;
	table->exit_room = made->exit_room;
	table->pids = made->pids;
	table->comms = made->comms;
	table->spaces = made->spaces;
	table->renewed_size = size_of(table);
}

void tally_process_will_renew(struct tally_process_table *table)
{
	table->renews = true;
}

bool tally_process_has_grown(const struct tally_process_table *table)
{
	return size_of(table) > 2 * table->renewed_size + GROWN_LEAST;
}

int tally_process_thaw(struct tally_process_table *table)
{
	int result = tally_timeline_thaw(&table->comms);

	return result ? result : tally_timeline_thaw(&table->spaces);
}

int tally_process_renew(struct tally_process_table *table, uint64_t before)
{
	struct renewal renewal = {.from = table, .before = before};
	int result = sort_exits(&renewal, before);

	if (!result)
		result = renew_pids(&renewal);
	if (!result)
		result = renew_names(&renewal);
	if (!result)
		result = renew_spaces(&renewal);
	if (result)
		free_parts(&renewal.to);
	else
		take_parts(table, &renewal.to);
	tally_map_done(&renewal.gone);
	tally_map_done(&renewal.ended);
	tally_map_done(&renewal.living);
	free(renewal.found.list);
	return result;
}
