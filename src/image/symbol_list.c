#include "image/symbol_list.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "image/demangle.h"
#include "image/symbol_order.h"

#define PAGE 4096

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
	/* what grew stays, so that nothing is lost when a later one cannot */
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

static void *permuted(const void *from, const uint32_t *order, size_t count, size_t size)
{
	char *to = reallocarray(NULL, count, size);

	for (size_t i = 0; to && i < count; i++)
		memcpy(to + i * size, (const char *)from + order[i] * size, size);
	return to;
}

/* One array after the other, so that there is one copy at a time. */
static int reorder(struct tally_symbol_list *list, const uint32_t *order)
{
	void **arrays[] = {(void **)&list->starts, (void **)&list->ends, (void **)&list->names,
			   (void **)&list->infos, (void **)&list->groups};
	const size_t sizes[] = {sizeof(*list->starts), sizeof(*list->ends), sizeof(*list->names),
				sizeof(*list->infos), sizeof(*list->groups)};

	list->room = list->count;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		void *to;

		if (!*arrays[i])
			continue;
		to = permuted(*arrays[i], order, list->count, sizes[i]);
		if (!to) {
			list->count = 0; /* neither old nor new order */
			return -ENOMEM;
		}
		free(*arrays[i]);
		*arrays[i] = to;
	}
	return 0;
}

int tally_symbol_list_sort(struct tally_symbol_list *list)
{
	uint32_t *order;
	int error;

	if (!list->count)
		return 0;
	error = tally_symbol_order(list->starts, list->count, &order);
	if (error || !order)
		return error;
	error = reorder(list, order);
	free(order);
	return error;
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

	for (i = 0; a[i] && b[i]; i++) {
		if (a[i] == b[i])
			continue;
		if (!i || (a[i - 1] != 'C' && a[i - 1] != 'D'))
			return false;
		if (a[i] < '0' || a[i] > '9' || b[i] < '0' || b[i] > '9')
			return false;
	}
	return a[i] == b[i];
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Whether the second name says more than the first: fewer leading underscores, else longer. */
static bool says_more(const char *a, const char *b)
{
	size_t a_under = underscores(a), b_under = underscores(b);
	size_t a_length, b_length;

	if (a_under != b_under)
		return b_under < a_under;
	a_length = strlen(a);
	b_length = strlen(b);
	return b_length > a_length;
}

/* Of two symbols at one start, whether the second is the better one: one that has a size, then one
 * that is not weak, then a global one, then the name that says more. */
static bool second_is_better(const struct tally_symbol_list *list, size_t a, size_t b,
			     bool demangled)
{
	bool a_empty = list->ends[a] == list->starts[a], b_empty = list->ends[b] == list->starts[b];
	uint8_t a_binding = ELF64_ST_BIND(list->infos[a]);
	uint8_t b_binding = ELF64_ST_BIND(list->infos[b]);
	const char *a_name, *b_name;
	char *a_shown = NULL, *b_shown = NULL;
	bool better;

	if (a_empty != b_empty)
		return a_empty;
	if ((a_binding == STB_WEAK) != (b_binding == STB_WEAK))
		return a_binding == STB_WEAK;
	if ((a_binding == STB_GLOBAL) != (b_binding == STB_GLOBAL))
		return b_binding == STB_GLOBAL;
	a_name = tally_symbol_list_name(list, a);
	b_name = tally_symbol_list_name(list, b);
	if (demangled && (tally_demangle_wanted(a_name) || tally_demangle_wanted(b_name))) {
		if (shown_alike(a_name, b_name))
			return false;
		a_shown = tally_demangle(a_name);
		b_shown = tally_demangle(b_name);
	}
	better = says_more(a_shown ? a_shown : a_name, b_shown ? b_shown : b_name);
	free(a_shown);
	free(b_shown);
	return better;
}

static void keep_best(struct tally_symbol_list *list, bool demangled)
{
	size_t kept = 0;

	for (size_t i = 1; i < list->count; i++) {
		if (list->starts[i] == list->starts[kept] &&
		    !second_is_better(list, kept, i, demangled))
			continue;
		if (list->starts[i] != list->starts[kept])
			kept++;
		list->starts[kept] = list->starts[i];
		list->ends[kept] = list->ends[i];
		list->names[kept] = list->names[i];
		list->infos[kept] = list->infos[i];
		if (list->groups)
			list->groups[kept] = list->groups[i];
	}
	list->count = kept + 1;
}

void tally_symbol_list_settle(struct tally_symbol_list *list, bool demangled)
{
	if (!list->count)
		return;
	extend(list);
	keep_best(list, demangled);
}
