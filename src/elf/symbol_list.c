#include "elf/symbol_list.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/key_order.h"
#include "elf/demangle.h"

#define PAGE 4096
/* Names are compared up to this length: longer ones count as equal. */
#define COMPARED_MOST ((size_t)16384)

void tally_symbol_list_done(struct tally_symbol_list *list)
{
	free(list->starts);
	free(list->ends);
	free(list->names);
	free(list->infos);
	free(list->groups);
	tally_fs_unmap(&list->mapped);
	tally_buf_done(&list->text);
	*list = (struct tally_symbol_list){0};
}

int tally_symbol_list_reserve(struct tally_symbol_list *list, size_t more)
{
	size_t room = list->count + more;
	void *starts, *ends, *names, *infos;

	if (room <= list->room)
		return 0;
	/* an array that has grown is kept, so that nothing is lost if a later one cannot grow */
	starts = reallocarray(list->starts, room, sizeof(*list->starts));
	list->starts = starts ? starts : list->starts;
	ends = reallocarray(list->ends, room, sizeof(*list->ends));
	list->ends = ends ? ends : list->ends;
	names = reallocarray(list->names, room, sizeof(*list->names));
	list->names = names ? names : list->names;
	infos = reallocarray(list->infos, room, sizeof(*list->infos));
	list->infos = infos ? infos : list->infos;
	if (!starts || !ends || !names || !infos)
		return -ENOMEM;
	list->room = room;
	return 0;
}

int tally_symbol_list_add(struct tally_symbol_list *list, uint64_t start, uint64_t end,
			  uint32_t name, uint8_t info)
{
	if (list->count == list->room) {
		int error = tally_symbol_list_reserve(list, list->count / 2 + 64);

		if (error)
			return error;
	}
	list->starts[list->count] = start;
	list->ends[list->count] = end;
	list->names[list->count] = name;
	list->infos[list->count++] = info;
	return 0;
}

const char *tally_symbol_list_name(const struct tally_symbol_list *list, size_t index)
{
	size_t name = list->names[index];

	return name < list->first_size ? list->first + name
				       : (const char *)list->text.data + (name - list->first_size);
}

int tally_symbol_list_take_text(struct tally_symbol_list *list, char *text, size_t size,
				uint32_t *ret)
{
	uint32_t at = (uint32_t)symbol_list_text_end(list);

	if (size > UINT32_MAX - symbol_list_text_end(list))
		return -EOVERFLOW;
	if (!list->text.size) {
		tally_buf_done(&list->text);
		list->text =
		    (struct tally_buf){.data = (uint8_t *)text, .size = size, .room = size};
		*ret = at;
		return 0;
	}
	tally_buf_add(&list->text, text, size);
	if (list->text.failed)
		return list->text.failed;
	free(text);
	*ret = at;
	return 0;
}

/* The list's arrays, and the size of what each has of a symbol; those that it lacks are NULL. */
#define ARRAYS 5

struct rows {
	void *at[ARRAYS];
	size_t size[ARRAYS];
};

static struct rows rows_of(const struct tally_symbol_list *list)
{
	return (struct rows){
	    {list->starts, list->ends, list->names, list->infos, list->groups},
	    {sizeof(*list->starts), sizeof(*list->ends), sizeof(*list->names), sizeof(*list->infos),
	     sizeof(*list->groups)},
	};
}

/* Inlined with a constant size, as a call for each word would take most of the time. */
static inline void permute_sized(const char *from, char *to, const uint32_t *order, size_t count,
				 size_t size)
{
	for (size_t i = 0; i < count; i++)
		memcpy(to + i * size, from + order[i] * size, size);
}

static void permute(const void *from, void *to, const uint32_t *order, size_t count, size_t size)
{
	switch (size) {
	case sizeof(uint64_t):
		permute_sized(from, to, order, count, sizeof(uint64_t));
		break;
	case sizeof(uint32_t):
		permute_sized(from, to, order, count, sizeof(uint32_t));
		break;
	default:
		permute_sized(from, to, order, count, size);
	}
}

/* Sorts the symbols from `first` on, with one array of additional memory. */
static int sort_from(struct tally_symbol_list *list, size_t first)
{
	struct rows rows = rows_of(list);
	size_t count = list->count - first;
	uint32_t *order;
	void *room;
	int error = tally_key_order(list->starts + first, count, &order);

	if (error || !order)
		return error;
	room = malloc(count * sizeof(uint64_t));
	for (size_t i = 0; room && i < ARRAYS; i++) {
		char *at = rows.at[i];

		if (!at)
			continue;
		at += first * rows.size[i];
		permute(at, room, order, count, rows.size[i]);
		memcpy(at, room, count * rows.size[i]);
	}
	free(order);
	free(room);
	return room ? 0 : -ENOMEM;
}

/* Merges two sorted parts: the symbols before `first`, and the few from there on. */
static int merge_from(struct tally_symbol_list *list, size_t first)
{
	struct rows rows = rows_of(list);
	size_t count = list->count - first;
	uint64_t *starts = malloc(count * sizeof(*starts));
	size_t *places = malloc(count * sizeof(*places));
	void *room = malloc(count * sizeof(uint64_t));
	bool failed = !starts || !places || !room;

	/* Finds the place of each of the last ones: after equal ones. */
	if (!failed)
		memcpy(starts, list->starts + first, count * sizeof(*starts));
	for (size_t i = count, before = first; !failed && i-- > 0;) {
		while (before && list->starts[before - 1] > starts[i])
			before--;
		places[i] = before;
	}
	for (size_t array = 0; !failed && array < ARRAYS; array++) {
		size_t size = rows.size[array], end = first;
		char *at = rows.at[array];

		if (!at)
			continue;
		memcpy(room, at + first * size, count * size);
		for (size_t i = count; i-- > 0; end = places[i]) {
			memmove(at + (places[i] + i + 1) * size, at + places[i] * size,
				(end - places[i]) * size);
			memcpy(at + (places[i] + i) * size, (char *)room + i * size, size);
		}
	}
	free(starts);
	free(places);
	free(room);
	return failed ? -ENOMEM : 0;
}

int tally_symbol_list_sort(struct tally_symbol_list *list)
{
	size_t ordered = list->count > 0;
	int error;

	while (ordered < list->count && list->starts[ordered - 1] <= list->starts[ordered])
		ordered++;
	if (ordered == list->count)
		return 0;
	/* The stubs that were added after the others are few. */
	if (list->count - ordered > ordered / 8)
		return sort_from(list, 0);
	error = sort_from(list, ordered);
	return error ? error : merge_from(list, ordered);
}

/* perf's rule for symbols of unknown size (hand-written assembler; all of kallsyms): up to the next
 * symbol; at the end of the table, of the kernel or of a module: to the end of the page behind. */
static void extend(struct tally_symbol_list *list)
{
	uint64_t *starts = list->starts, *ends = list->ends;
	size_t last = list->count - 1;

	for (size_t i = 0; i < last; i++) {
		if (ends[i] != starts[i])
			continue;
		if (list->groups && list->groups[i] != list->groups[i + 1])
			ends[i] = align_up(starts[i] + PAGE, PAGE);
		else
			ends[i] = starts[i + 1];
	}
	if (ends[last] == starts[last])
		ends[last] = align_up(starts[last], PAGE) + PAGE;
	for (size_t i = 0; i <= last; i++) /* the sums wrapped: a made-up address */
		if (ends[i] < starts[i])
			ends[i] = UINT64_MAX;
}

/* The complete and the base-object constructors and destructors (C1/C2, D0/D1/D2) of one class
 * differ in that digit only, and are shown alike. */
static bool shown_alike(const char *a, const char *b)
{
	size_t i;

	for (i = 0; a[i] && b[i] && i < COMPARED_MOST; i++) {
		if (a[i] == b[i])
			continue;
		if (!i || (a[i - 1] != 'C' && a[i - 1] != 'D'))
			return false;
		if (a[i] < '0' || a[i] > '9' || b[i] < '0' || b[i] > '9')
			return false;
	}
	return a[i] == b[i] && !a[i];
}

static size_t underscores(const char *name)
{
	size_t count = 0;

	while (name[count] == '_' && count < COMPARED_MOST)
		count++;
	return count;
}

/* Whether the second name is the better one: it has fewer leading underscores, or is longer. */
static bool says_more(const char *a, const char *b)
{
	size_t a_under = underscores(a), b_under = underscores(b);

	if (a_under != b_under)
		return b_under < a_under;
	return strnlen(b, COMPARED_MOST) > strnlen(a, COMPARED_MOST);
}

/* The best symbol so far of those at one start. */
struct best {
	size_t index;
	char *shown;             /* NULL: not made yet, or it is plain */
	uint64_t *demangle_left; /* NULL: names are not demangled */
};

static bool name_is_better(const struct tally_symbol_list *list, struct best *best, size_t other)
{
	const char *name = tally_symbol_list_name(list, best->index);
	const char *other_name = tally_symbol_list_name(list, other);
	char *other_shown = NULL;
	bool better;

	if (best->demangle_left &&
	    (tally_demangle_wanted(name) || tally_demangle_wanted(other_name))) {
		if (shown_alike(name, other_name))
			return false;
		if (!best->shown)
			best->shown = tally_demangle(name, best->demangle_left);
		other_shown = tally_demangle(other_name, best->demangle_left);
	}
	better =
	    says_more(best->shown ? best->shown : name, other_shown ? other_shown : other_name);
	if (better) {
		free(best->shown);
		best->shown = other_shown;
	} else {
		free(other_shown);
	}
	return better;
}

/* Of two symbols at one start, whether the other is the better one: one that has a size, then one
 * that is not weak, then a global one, then the name that says more. */
static bool is_better(const struct tally_symbol_list *list, struct best *best, size_t other)
{
	size_t a = best->index;
	bool a_empty = list->ends[a] == list->starts[a];
	bool b_empty = list->ends[other] == list->starts[other];
	uint8_t a_binding = ELF64_ST_BIND(list->infos[a]);
	uint8_t b_binding = ELF64_ST_BIND(list->infos[other]);
	bool better;

	if (a_empty != b_empty)
		better = a_empty;
	else if ((a_binding == STB_WEAK) != (b_binding == STB_WEAK))
		better = a_binding == STB_WEAK;
	else if ((a_binding == STB_GLOBAL) != (b_binding == STB_GLOBAL))
		better = b_binding == STB_GLOBAL;
	else
		return name_is_better(list, best, other);
	if (better) {
		free(best->shown);
		best->shown = NULL;
	}
	return better;
}

static void keep_best(struct tally_symbol_list *list, uint64_t *demangle_left)
{
	struct best best = {.demangle_left = demangle_left};
	size_t kept = 0;

	for (size_t i = 1; i < list->count; i++) {
		bool same = list->starts[i] == list->starts[kept];

		if (same && !is_better(list, &best, i))
			continue;
		if (!same) {
			kept++;
			free(best.shown);
			best.shown = NULL;
		}
		best.index = kept;
		list->starts[kept] = list->starts[i];
		list->ends[kept] = list->ends[i];
		list->names[kept] = list->names[i];
		list->infos[kept] = list->infos[i];
		if (list->groups)
			list->groups[kept] = list->groups[i];
	}
	free(best.shown);
	list->count = kept + 1;
}

void tally_symbol_list_finish(struct tally_symbol_list *list, uint64_t *demangle_left)
{
	if (!list->count)
		return;
	extend(list);
	keep_best(list, demangle_left);
}
