#include "report/task_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/cell.h"
#include "base/sorted.h"
#include "base/table.h"

/* Source: include/uapi/linux/perf_event.h; FORK_EXEC is perf's own. */
#define MISC_MMAP_DATA     (1U << 13)
#define MISC_COMM_EXEC     (1U << 13)
#define MISC_FORK_EXEC     (1U << 13)
#define MISC_MMAP_BUILD_ID (1U << 14)
#define CPUMODE_MASK       7U
#define CPUMODE_USER       2U

/* A process that is forked shares its parent's list until one of them maps something.  A file that
 * was made for it could have millions of lists; real ones stay far below this. */
#define MAPPINGS_MOST ((uint64_t)8 << 20)

struct task_map {
	uint64_t start, end, pgoff, ino;
	uint32_t prot, flags, name;
};

struct task_map_list {
	uint32_t refs, count, room;
	struct task_map *list; /* by start, none overlaps another */
};

static void drop(struct task_map_list *list)
{
	if (!list || --list->refs)
		return;
	free(list->list);
	free(list);
}

/* The place of a process's list; NULL: out of memory. */
static struct task_map_list **slot_of(struct task_maps *maps, uint32_t pid)
{
	bool added;
	uint64_t *index = tally_map_put(&maps->by_pid, pid, &added);

	if (!index)
		return NULL;
	if (added) {
		if (!array_next(&maps->lists, &maps->room, maps->count, 64,
				sizeof(struct task_map_list *))) {
			*index = 0;
			return NULL;
		}
		maps->lists[maps->count++] = NULL;
		*index = maps->count;
	}
	return *index ? &maps->lists[*index - 1] : NULL;
}

/* Makes the list one that only this process has. */
static int own(struct task_maps *maps, struct task_map_list **list)
{
	struct task_map_list *made;

	if (*list && (*list)->refs == 1)
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->refs = 1;
	if (*list) {
		maps->copied += (*list)->count;
		if (maps->copied > MAPPINGS_MOST ||
		    !array_resize(&made->list, (*list)->count + 1, sizeof(*made->list))) {
			free(made);
			return maps->copied > MAPPINGS_MOST ? -E2BIG : -ENOMEM;
		}
		memcpy(made->list, (*list)->list, (*list)->count * sizeof(*made->list));
		made->count = (*list)->count;
		made->room = made->count + 1;
		drop(*list);
	}
	*list = made;
	return 0;
}

/* The first mapping that ends behind an address. */
static uint32_t first_behind(const struct task_map_list *list, uint64_t addr)
{
	return SORTED_BOUND(at, 0, list->count, list->list[at].end <= addr);
}

/* Replaces `gone` mappings from `at` on. */
static int splice(struct task_maps *maps, struct task_map_list *list, uint32_t at, uint32_t gone,
		  const struct task_map *news, uint32_t count)
{
	uint32_t left = list->count - gone + count;

	if (left > list->room) {
		uint32_t room = list->room * 2 > left ? list->room * 2 : left + 16;

		if (!array_resize(&list->list, room, sizeof(*list->list)))
			return -ENOMEM;
		list->room = room;
	}
	memmove(list->list + at + count, list->list + at + gone,
		(list->count - at - gone) * sizeof(*list->list));
	memcpy(list->list + at, news, count * sizeof(*news));
	list->count = left;
	maps->copied += count > gone ? count - gone : 0;
	return maps->copied > MAPPINGS_MOST ? -E2BIG : 0;
}

/* What was mapped there before is gone; what is left of it stays. */
static int put(struct task_maps *maps, struct task_map_list *list, const struct task_map *map)
{
	uint32_t first = first_behind(list, map->start), last = first, count = 0;
	struct task_map news[3];

	while (last < list->count && list->list[last].start < map->end)
		last++;
	if (last > first && list->list[first].start < map->start) {
		news[count] = list->list[first];
		news[count++].end = map->start;
	}
	news[count++] = *map;
	if (last > first && list->list[last - 1].end > map->end) {
		news[count] = list->list[last - 1];
		news[count].pgoff += map->end - news[count].start;
		news[count++].start = map->end;
	}
	return splice(maps, list, first, last - first, news, count);
}

/* Else it is memory, whose offset in a file means nothing: records have its address there. */
static bool is_file(const char *name)
{
	return name[0] != '[' && strncmp(name, "//", 2) != 0 && strncmp(name, "/anon", 5) != 0;
}

static int take_map(struct task_maps *maps, const struct tally_body *body, uint32_t pid,
		    struct task_map *map, const char *name)
{
	struct task_map_list **list = slot_of(maps, pid);
	int64_t number = tally_strings_intern(&maps->names, name, strlen(name));
	int result;

	if (!list || number < 0)
		return -ENOMEM;
	if ((body->misc & CPUMODE_MASK) != CPUMODE_USER || map->end <= map->start)
		return 0;
	map->name = (uint32_t)number;
	if (!is_file(name))
		map->pgoff = map->ino = 0;
	result = own(maps, list);
	return result ? result : put(maps, *list, map);
}

static int take_fork(struct task_maps *maps, const struct tally_body *body)
{
	const struct tally_record_task *task = &body->task;
	struct task_map_list **parent, **child;

	if (task->pid == task->ppid || body->misc & MISC_FORK_EXEC)
		return 0;
	child = slot_of(maps, task->pid);
	parent = child ? slot_of(maps, task->ppid) : NULL;
	child = parent ? slot_of(maps, task->pid) : NULL; /* the array may have moved */
	if (!child)
		return -ENOMEM;
	if (*parent)
		(*parent)->refs++;
	drop(*child);
	*child = *parent;
	return 0;
}

static int take_exec(struct task_maps *maps, const struct tally_body *body)
{
	struct task_map_list **list;

	if (!(body->misc & MISC_COMM_EXEC))
		return 0;
	list = slot_of(maps, body->comm.pid);
	if (!list)
		return -ENOMEM;
	drop(*list);
	*list = NULL;
	return 0;
}

int tally_task_maps_take(struct task_maps *maps, const struct tally_body *body)
{
	struct task_map map = {0};

	switch (body->type) {
	case PERF_RECORD_MMAP:
		map.start = body->mmap.addr;
		map.end = body->mmap.addr + body->mmap.len;
		map.pgoff = body->mmap.pgoff;
		map.prot = body->misc & MISC_MMAP_DATA ? 0 : PROT_EXEC;
		return take_map(maps, body, body->mmap.pid, &map, body->mmap.filename);
	case PERF_RECORD_MMAP2:
		map.start = body->mmap2.addr;
		map.end = body->mmap2.addr + body->mmap2.len;
		map.pgoff = body->mmap2.pgoff;
		map.ino = body->misc & MISC_MMAP_BUILD_ID ? 0 : body->mmap2.ino;
		map.prot = body->mmap2.prot;
		map.flags = body->mmap2.flags;
		return take_map(maps, body, body->mmap2.pid, &map, body->mmap2.filename);
	case PERF_RECORD_FORK:
		return take_fork(maps, body);
	case PERF_RECORD_COMM:
		return take_exec(maps, body);
	default:
		return 0;
	}
}

void tally_task_maps_put(const struct task_maps *maps, uint32_t pid, unsigned indent,
			 struct tally_buf *to)
{
	const uint64_t *index = tally_map_find(&maps->by_pid, pid);
	const struct task_map_list *list = index && *index ? maps->lists[*index - 1] : NULL;

	for (uint32_t i = 0; list && i < list->count; i++) {
		const struct task_map *map = &list->list[i];

		tally_cell_spaces(to, indent);
		tally_buf_printf(
		    to, "%llx-%llx %c%c%c%c %08llx %llu ", (unsigned long long)map->start,
		    (unsigned long long)map->end, map->prot & PROT_READ ? 'r' : '-',
		    map->prot & PROT_WRITE ? 'w' : '-', map->prot & PROT_EXEC ? 'x' : '-',
		    map->flags & MAP_SHARED ? 's' : 'p', (unsigned long long)map->pgoff,
		    (unsigned long long)map->ino);
		tally_cell_name(to, maps->names.text[map->name]);
		tally_buf_byte(to, '\n');
	}
}

void tally_task_maps_done(struct task_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		drop(maps->lists[i]);
	free(maps->lists);
	tally_map_done(&maps->by_pid);
	tally_strings_done(&maps->names);
	*maps = (struct task_maps){0};
}
