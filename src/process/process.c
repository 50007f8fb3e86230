#include "process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/buf.h"
#include "base/bytes.h"
#include "base/table.h"
#include "process/process_table.h"

/* misc bits that share a position. Source: include/uapi/linux/perf_event.h; perf sets FORK_EXEC in
 * the FORK records that it makes for running processes, whose maps it writes. */
#define MISC_MMAP_DATA (1U << 13)
#define MISC_COMM_EXEC (1U << 13)
#define MISC_FORK_EXEC (1U << 13)

#define KSYMBOL_UNREGISTER 1U

#define NAME_UNKNOWN UINT32_MAX /* value in `comms`: no record had the thread's name yet */

/* Numbers of names that were made after freezing have this bit. */
#define NAME_LATE (1U << 31)

/* Spaces and rows have numbers of 32 bits. */
#define NUMBERS_MOST (UINT32_MAX / 2)

/* perf's name of the idle task, which no record names. */
#define IDLE_NAME "swapper"

int64_t tally_process_space_add(struct tally_process_table *table, const struct tally_space *space)
{
	if (table->space_count >= NUMBERS_MOST ||
	    !array_next(&table->space_list, &table->space_room, table->space_count, 64,
			sizeof(*table->space_list)))
		return -ENOMEM;
	table->space_list[table->space_count] = *space;
	if (!space->id)
		table->space_list[table->space_count].id = ++table->space_ids;
	return (int64_t)table->space_count++;
}

/* The space of a process from `time` on; begins with what `from` (or NULL) held then. */
static int space_begin(struct tally_process_table *table, uint32_t pid, uint64_t time,
		       const struct tally_timeline_entry *from, bool exec)
{
	struct tally_space made = {.parent = SPACE_NONE, .fork_time = time, .exec = exec};
	int64_t number;

	if (from) {
		const struct tally_space *above = &table->space_list[from->value];

		made.parent = from->value;
		/* A parent without mappings of its own is skipped, so that forks of forks make no
		 * long chains. */
		if (!above->own_count && above->parent != SPACE_NONE) {
			made.parent = above->parent;
			made.fork_time = above->fork_time;
			made.exec_time = exec ? time : above->exec_time;
			made.exec |= above->exec;
		}
	}
	number = tally_process_space_add(table, &made);
	return number < 0 ? -ENOMEM
			  : tally_timeline_add(&table->spaces, pid, time, (uint32_t)number);
}

int tally_process_table_new(struct tally_process_table **ret)
{
	struct tally_process_table *table = calloc(1, sizeof(*table));
	int64_t idle;

	if (!table)
		return -ENOMEM;
	pthread_mutex_init(&table->late_lock, NULL);
	idle = tally_strings_intern(&table->strings, IDLE_NAME, strlen(IDLE_NAME));
	if (idle < 0 ||
	    tally_process_space_add(table, &(struct tally_space){.parent = SPACE_NONE}) < 0 ||
	    tally_timeline_add(&table->comms, 0, 0, (uint32_t)idle)) {
		tally_process_table_free(table);
		return -ENOMEM;
	}
	*ret = table;
	return 0;
}

void tally_process_names_done(struct tally_process_table *table)
{
	tally_strings_done(&table->strings);
	tally_map_done(&table->files);
	tally_arena_done(&table->file_arena);
	chunks_done(&table->late);
	tally_map_done(&table->late_ids);
	tally_arena_done(&table->late_arena);
}

void tally_process_table_free(struct tally_process_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->space_count; i++)
		tally_space_done(&table->space_list[i]);
	free(table->space_list);
	free(table->rows);
	free(table->own);
	tally_timeline_done(&table->comms);
	tally_timeline_done(&table->spaces);
	tally_process_names_done(table);
	tally_map_done(&table->pids);
	free(table->exits);
	pthread_mutex_destroy(&table->late_lock);
	free(table);
}

static int feed_comm(struct tally_process_table *table, const struct tally_body *body,
		     uint64_t time)
{
	const struct tally_record_comm *comm = &body->comm;
	int64_t name = tally_strings_intern(&table->strings, comm->comm, strlen(comm->comm));
	struct tally_timeline_entry *newest;

	if (name < 0)
		return -ENOMEM;
	newest = tally_timeline_newest(&table->comms, comm->tid);
	if (newest && newest->value == NAME_UNKNOWN)
		newest->value = (uint32_t)name;
	else if ((!newest || newest->value != (uint32_t)name) &&
		 tally_timeline_add(&table->comms, comm->tid, time, (uint32_t)name))
		return -ENOMEM;
	if (!(body->misc & MISC_COMM_EXEC))
		return 0;
	return space_begin(table, comm->pid, time, tally_timeline_newest(&table->spaces, comm->pid),
			   true);
}

static int feed_fork(struct tally_process_table *table, const struct tally_body *body,
		     uint64_t time)
{
	const struct tally_record_task *task = &body->task;
	const struct tally_timeline_entry *name = tally_timeline_newest(&table->comms, task->ptid);
	bool known = name && name->value != NAME_UNKNOWN;

	/* Without a name, only to end that of an earlier thread: its own first one begins later. */
	if ((known || tally_timeline_newest(&table->comms, task->tid)) &&
	    tally_timeline_add(&table->comms, task->tid, time, known ? name->value : NAME_UNKNOWN))
		return -ENOMEM;
	if (task->pid == task->ppid)
		return 0; /* a thread: it has its process's space */
	return space_begin(
	    table, task->pid, time,
	    body->misc & MISC_FORK_EXEC ? NULL : tally_timeline_newest(&table->spaces, task->ppid),
	    false);
}

/* The space that a process maps into; if no record created it, it begins with the process's first
 * record. */
static int64_t space_of(struct tally_process_table *table, uint32_t pid)
{
	const struct tally_timeline_entry *newest = tally_timeline_newest(&table->spaces, pid);
	int64_t space;

	if (newest)
		return newest->value;
	space = tally_process_space_add(table, &(struct tally_space){.parent = SPACE_NONE});
	if (space < 0 || tally_timeline_add(&table->spaces, pid, 0, (uint32_t)space))
		return -ENOMEM;
	return space;
}

static bool file_same(const struct tally_mapped_file *a, const struct tally_mapped_file *b)
{
	return a->filename == b->filename && a->ino == b->ino &&
	       a->ino_generation == b->ino_generation && a->maj == b->maj && a->min == b->min &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id));
}

const struct tally_mapped_file *tally_process_file_intern(struct tally_process_table *table,
							  const struct tally_mapped_file *file)
{
	uint64_t hash = hash_mix(hash_u64(file->ino), (uint64_t)file->filename << 32 | file->min);
	struct tally_mapped_file *made;
	uint64_t *known;
	bool added;

	hash = hash_mix(hash, load_u64(file->build_id) ^ file->ino_generation);
	known = tally_map_put(&table->files, hash, &added);
	if (!known)
		return NULL;
	made = (struct tally_mapped_file *)(uintptr_t)*known;
	if (made && file_same(made, file))
		return made;
	made = tally_arena_alloc(&table->file_arena, sizeof(*made));
	if (!made)
		return NULL;
	*made = *file;
	if (!*known)
		*known = (uintptr_t)made;
	return made;
}

/* `file` without its name's id. */
static int row_add(struct tally_process_table *table, struct tally_mapping_row *row, uint64_t len,
		   struct tally_mapped_file *file, const char *filename)
{
	struct tally_mapping *mapping = &row->mapping;
	int64_t name;

	if (!len)
		return 0;
	mapping->end = mapping->start + len < mapping->start ? UINT64_MAX : mapping->start + len;
	name = tally_strings_intern(&table->strings, filename, strlen(filename));
	if (name < 0)
		return -ENOMEM;
	file->filename = (uint32_t)name;
	mapping->file = tally_process_file_intern(table, file);
	if (!mapping->file)
		return -ENOMEM;
	if (table->row_count >= NUMBERS_MOST ||
	    !array_next(&table->rows, &table->row_room, table->row_count, 256,
			sizeof(*table->rows)))
		return -ENOMEM;
	mapping->number = (uint32_t)table->row_count;
	mapping->before = UINT32_MAX;
	table->rows[table->row_count++] = *row;
	table->space_list[row->mapping.space].own_count++;
	table->space_list[row->mapping.space].version++;
	return 0;
}

/* Sets what MMAP and MMAP2 have in common. 1: taken, 0: ignored, -ENOMEM. */
static int row_begin(struct tally_process_table *table, const struct tally_body *body, uint32_t pid,
		     uint64_t time, struct tally_mapping_row *row)
{
	uint8_t cpumode = body->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	int64_t space = PROCESS_KERNEL_SPACE;

	if (cpumode == PERF_RECORD_MISC_GUEST_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_USER ||
	    cpumode == PERF_RECORD_MISC_HYPERVISOR)
		return 0;
	if (cpumode != PERF_RECORD_MISC_KERNEL) {
		space = space_of(table, pid);
		if (space < 0)
			return -ENOMEM;
	}
	*row = (struct tally_mapping_row){
	    .mapping = {.pid = pid, .cpumode = cpumode, .space = (uint32_t)space}, .time = time};
	return 1;
}

/* The offset of code in its file: the vDSO is a whole file, for which old kernels (4.1) wrote the
 * address that it was mapped at. */
static uint64_t offset_of(const char *filename, uint64_t pgoff)
{
	return strcmp(filename, "[vdso]") ? pgoff : 0;
}

static int feed_mmap(struct tally_process_table *table, const struct tally_body *body,
		     uint64_t time)
{
	const struct tally_record_mmap *mmap = &body->mmap;
	struct tally_mapping_row row;
	int taken = row_begin(table, body, mmap->pid, time, &row);

	if (taken <= 0)
		return taken;
	row.mapping.start = mmap->addr;
	row.mapping.pgoff = offset_of(mmap->filename, mmap->pgoff);
	row.mapping.prot = body->misc & MISC_MMAP_DATA ? 0 : PROT_EXEC;
	return row_add(table, &row, mmap->len, &(struct tally_mapped_file){0}, mmap->filename);
}

static int feed_mmap2(struct tally_process_table *table, const struct tally_body *body,
		      uint64_t time)
{
	const struct tally_record_mmap2 *mmap = &body->mmap2;
	struct tally_mapped_file file = {
	    .maj = mmap->maj,
	    .min = mmap->min,
	    .ino = mmap->ino,
	    .ino_generation = mmap->ino_generation,
	};
	struct tally_mapping_row row;
	int taken = row_begin(table, body, mmap->pid, time, &row);

	if (taken <= 0)
		return taken;
	row.mapping.start = mmap->addr;
	row.mapping.pgoff = offset_of(mmap->filename, mmap->pgoff);
	row.mapping.prot = mmap->prot;
	/* A writer without protection wrote 0. */
	if (!mmap->prot && !(body->misc & MISC_MMAP_DATA))
		row.mapping.prot = PROT_EXEC;
	if (mmap->build_id_size && mmap->build_id_size <= sizeof(file.build_id)) {
		file.build_id_size = mmap->build_id_size;
		memcpy(file.build_id, mmap->build_id, mmap->build_id_size);
	}
	return row_add(table, &row, mmap->len, &file, mmap->filename);
}

static int feed_ksymbol(struct tally_process_table *table, const struct tally_body *body,
			uint64_t time)
{
	const struct tally_record_ksymbol *symbol = &body->ksymbol;
	struct tally_mapping_row row = {
	    .mapping = {.start = symbol->addr,
			.pid = UINT32_MAX,
			.prot = PROT_EXEC,
			.cpumode = PERF_RECORD_MISC_KERNEL,
			.ksymbol = true,
			.space = PROCESS_KERNEL_SPACE,
			.hole = symbol->flags & KSYMBOL_UNREGISTER},
	    .time = time,
	};

	return row_add(table, &row, symbol->len, &(struct tally_mapped_file){0}, symbol->name);
}

static int feed_exit(struct tally_process_table *table, const struct tally_record_task *task,
		     uint64_t time)
{
	if (!table->renews)
		return 0;
	if (!array_next(&table->exits, &table->exit_room, table->exit_count, 64,
			sizeof(*table->exits)))
		return -ENOMEM;
	table->exits[table->exit_count++] =
	    (struct tally_process_exit){.pid = task->pid, .tid = task->tid, .time = time};
	return 0;
}

static int note_pid(struct tally_process_table *table, uint32_t pid, uint32_t tid)
{
	bool added;
	uint64_t *known = table->renews ? tally_map_put(&table->pids, tid, &added) : NULL;

	if (known)
		*known = pid;
	return known || !table->renews ? 0 : -ENOMEM;
}

int tally_process_feed(struct tally_process_table *table, const struct tally_body *body,
		       uint64_t time)
{
	switch (body->type) {
	case PERF_RECORD_COMM:
		return note_pid(table, body->comm.pid, body->comm.tid)
			   ? -ENOMEM
			   : feed_comm(table, body, time);
	case PERF_RECORD_FORK:
		return note_pid(table, body->task.pid, body->task.tid)
			   ? -ENOMEM
			   : feed_fork(table, body, time);
	case PERF_RECORD_EXIT:
		return feed_exit(table, &body->task, time);
	case PERF_RECORD_MMAP:
		return feed_mmap(table, body, time);
	case PERF_RECORD_MMAP2:
		return feed_mmap2(table, body, time);
	case PERF_RECORD_KSYMBOL:
		return feed_ksymbol(table, body, time);
	default:
		return 0;
	}
}

/* Writes ":TID", as perf names a thread without a known name; the number is signed there. */
static int name_of_tid(struct tally_buf *text, uint32_t tid)
{
	tally_buf_clear(text);
	tally_buf_printf(text, ":%d", (int)tid);
	return text->failed;
}

static int freeze_names(struct tally_process_table *table)
{
	struct tally_buf text = {0};
	uint32_t *tids = NULL;
	int result = 0;

	/* The tid of each dense key, needed only when a name is missing. */
	for (size_t i = 0; !result && i < table->comms.count; i++) {
		struct tally_timeline_entry *entry = &table->comms.entries[i];
		int64_t id;

		if (entry->value != NAME_UNKNOWN)
			continue;
		if (!tids) {
			tids = calloc(table->comms.keys.count, sizeof(*tids));
			for (size_t at = 0; tids && at < table->comms.keys.room; at++) {
				const struct tally_map_slot *slot = &table->comms.keys.slots[at];

				if (slot->key)
					tids[slot->value] = (uint32_t)(slot->key - 1);
			}
		}
		if (!tids || name_of_tid(&text, tids[entry->key])) {
			result = -ENOMEM;
			break;
		}
		id = tally_strings_intern(&table->strings, (const char *)text.data, text.size);
		if (id < 0)
			result = -ENOMEM;
		else
			entry->value = (uint32_t)id;
	}
	free(tids);
	tally_buf_done(&text);
	return result;
}

/* Sorts the rows' numbers by space, keeping their order. */
static int sort_own(struct tally_process_table *table, uint32_t **ret_first)
{
	uint32_t *first = calloc(table->space_count + 1, sizeof(*first));

	table->own = calloc(table->row_count + 1, sizeof(*table->own));
	if (!first || !table->own) {
		free(first);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->space_count; i++)
		first[i + 1] = first[i] + table->space_list[i].own_count;
	for (size_t i = 0; i < table->row_count; i++)
		table->own[first[table->rows[i].mapping.space]++] = (uint32_t)i;
	/* Each start has moved to its space's end, which is the next space's start. */
	memmove(first + 1, first, table->space_count * sizeof(*first));
	first[0] = 0;
	*ret_first = first;
	return 0;
}

int tally_process_freeze(struct tally_process_table *table)
{
	uint32_t *first, era = 1;
	int result = freeze_names(table);

	if (!result)
		result = tally_timeline_freeze(&table->comms);
	if (!result)
		result = tally_timeline_freeze(&table->spaces);
	if (result || (result = sort_own(table, &first)))
		return result;
	/* A parent has a lower number than its children, so it is finished before them. */
	for (size_t i = 0; !result && i < table->space_count; i++) {
		struct tally_space *space = &table->space_list[i];

		space->rows = table->rows;
		space->above =
		    space->parent == SPACE_NONE ? NULL : &table->space_list[space->parent];
		result = tally_space_freeze(space, table->own + first[i]);
		space->first_era = era;
		era += space->change_count + 1;
	}
	free(first);
	free(table->own);
	table->own = NULL;
	return result;
}

size_t tally_process_mapping_count(const struct tally_process_table *table)
{
	return table->row_count;
}

const struct tally_mapping *tally_process_mapping(const struct tally_process_table *table,
						  uint32_t number)
{
	return &table->rows[number].mapping;
}

const char *tally_process_string(const struct tally_process_table *table, uint32_t id)
{
	if (!(id & NAME_LATE))
		return table->strings.text[id];
	return *(const char **)chunks_at(&table->late, id & ~NAME_LATE, sizeof(const char *));
}

/* The name of a thread that only samples have. Rare, so a lock is enough. */
static uint32_t late_name(const struct tally_process_table *table, uint32_t tid)
{
	struct tally_process_table *open = (struct tally_process_table *)table;
	uint32_t result = UINT32_MAX;
	struct tally_buf text = {0};
	uint64_t *id;
	bool added;

	pthread_mutex_lock(&open->late_lock);
	id = tally_map_put(&open->late_ids, (uint64_t)tid + 1, &added);
	if (id && (added || *id == UINT32_MAX)) {
		const char **place = chunks_next(&open->late, sizeof(*place));
		char *copy = NULL;

		*id = UINT32_MAX;
		if (place && !name_of_tid(&text, tid))
			copy = tally_arena_strndup(&open->late_arena, (const char *)text.data,
						   text.size);
		if (copy) {
			*place = copy;
			*id = chunks_added(&open->late) | NAME_LATE;
		}
	}
	if (id)
		result = (uint32_t)*id;
	pthread_mutex_unlock(&open->late_lock);
	tally_buf_done(&text);
	return result;
}

/* The name at that time, and since and until when. A later name may come from an exec: before its
 * record the name is unknown. */
static uint32_t name_at(const struct tally_process_table *table, uint32_t tid, uint64_t time,
			uint64_t *ret_from, uint64_t *ret_until)
{
	uint32_t name;

	*ret_from = 0;
	*ret_until = UINT64_MAX;
	if (!tally_timeline_at(&table->comms, tid, time, &name, ret_from, ret_until))
		return late_name(table, tid);
	if (*ret_from <= time)
		return name;
	*ret_until = *ret_from;
	*ret_from = 0;
	return late_name(table, tid);
}

void tally_process_view(const struct tally_process_table *table, uint32_t pid, uint32_t tid,
			uint64_t time, struct tally_task_view *ret)
{
	struct tally_task_view view = {.until = UINT64_MAX};
	uint64_t from, until;
	uint32_t number;

	view.comm = name_at(table, tid, time, &view.from, &view.until);
	if (tally_timeline_at(&table->spaces, pid, time, &number, &from, &until)) {
		view.space = &table->space_list[number];
		from = from > time ? 0 : from; /* what it maps may be reported late */
		view.from = from > view.from ? from : view.from;
		view.until = until < view.until ? until : view.until;
		if (!view.space->own_count && view.space->above) {
			view.era = tally_space_era(view.space, time);
		} else {
			view.era = tally_space_era_span(view.space, time, &from, &until);
			view.from = from > view.from ? from : view.from;
			view.until = until < view.until ? until : view.until;
		}
	}
	*ret = view;
}

uint32_t tally_process_comm(const struct tally_process_table *table, uint32_t pid, uint32_t tid,
			    uint64_t time)
{
	uint64_t from, until;

	(void)pid; /* a tid is unique at a time, whatever its process */
	return name_at(table, tid, time, &from, &until);
}

uint32_t tally_process_counted_comm(const struct tally_process_table *table, uint32_t tid,
				    uint32_t comm)
{
	uint64_t from, until;
	uint32_t first;

	return comm != UINT32_MAX && comm & NAME_LATE &&
		       tally_timeline_at(&table->comms, tid, 0, &first, &from, &until)
		   ? first
		   : comm;
}

const struct tally_space *tally_process_space(const struct tally_process_table *table, uint32_t pid,
					      uint64_t time)
{
	uint64_t from, until;
	uint32_t number;

	if (!tally_timeline_at(&table->spaces, pid, time, &number, &from, &until))
		return NULL;
	return &table->space_list[number];
}

uint32_t tally_space_id(const struct tally_space *space)
{
	return space ? space->id : 0;
}

uint64_t tally_space_state(const struct tally_space *space, uint64_t time)
{
	if (!space || (space->change_count && time < space->changes[space->change_count - 1]))
		return 0;
	return (uint64_t)space->id << 32 | space->version;
}

const struct tally_space *tally_process_kernel_space(const struct tally_process_table *table)
{
	return &table->space_list[PROCESS_KERNEL_SPACE];
}
