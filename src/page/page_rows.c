/* The first lists of a page as rows for a program: the hottest functions, and where threads were
 * blocked longest, each with who called it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include "page/page_facts.h"
#include "page/page_program.h"

#define HOTTEST 10
#define WAITS   5
/* ns; less would be read as no time at all. */
#define WAIT_LEAST 10000000U

/* What a function has of its own below a caller of the program. */
struct pair {
	uint32_t function, caller;
	uint64_t self;
};

struct pairs {
	struct pair *list;
	size_t count;
	uint64_t total; /* of the event, with samples of no function */
};

static int by_function(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->caller > b->caller) - (a->caller < b->caller);
}

static int largest_first(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	return by_function(left, right);
}

/* The pairs of an event, by function.  -ENOMEM. */
static int add_up(const struct page_tables *tables, const uint32_t *callers, uint32_t event,
		  struct pairs *ret)
{
	uint64_t *own = calloc((size_t)tables->node_count + 1, sizeof(*own));
	size_t count = 0;

	ret->list = calloc((size_t)tables->node_count + 1, sizeof(*ret->list));
	for (uint32_t i = 0; own && ret->list && i < tables->sample_count; i++) {
		const struct page_sample *sample = &tables->samples[i];

		if (sample->event != event)
			continue;
		ret->total += sample->weight;
		own[sample->node] += sample->weight;
	}
	for (uint32_t i = 1; own && ret->list && i < tables->node_count; i++)
		if (own[i])
			ret->list[count++] = (struct pair){.function = tables->nodes[i].function,
							   .caller = callers[i],
							   .self = own[i]};
	free(own);
	if (!own || !ret->list)
		return -ENOMEM;
	qsort(ret->list, count, sizeof(*ret->list), by_function);
	for (size_t i = 0; i < count; i++) {
		struct pair *last = ret->count ? &ret->list[ret->count - 1] : NULL;

		if (last && !by_function(last, &ret->list[i]))
			last->self += ret->list[i].self;
		else
			ret->list[ret->count++] = ret->list[i];
	}
	return 0;
}

/* One pair of each function, with the caller of at least half of it. */
static void join_callers(const struct page_tables *tables, struct pairs *pairs)
{
	size_t kept = 0;

	for (size_t i = 0, end; i < pairs->count; i = end) {
		struct pair sum = pairs->list[i], most = sum;

		for (end = i + 1; end < pairs->count && pairs->list[end].function == sum.function;
		     end++) {
			sum.self += pairs->list[end].self;
			if (pairs->list[end].self > most.self)
				most = pairs->list[end];
		}
		if (most.self < sum.self - most.self ||
		    !tally_page_is_library(tables, sum.function))
			most.caller = PAGE_NONE;
		sum.caller = most.caller;
		pairs->list[kept++] = sum;
	}
	pairs->count = kept;
}

static const char *image_of(const struct page_tables *tables, uint32_t function)
{
	uint32_t image = tables->functions[function].image;

	return image < tables->image_count ? tables->strings.text[tables->images[image].name] : "";
}

static void give(const struct page_tables *tables, const struct pairs *pairs,
		 const struct pair *pair, bool blocked, const struct tally_page_options *page)
{
	const struct page_function *function = &tables->functions[pair->function];
	struct tally_page_row row = {
	    .blocked = blocked,
	    .name = tables->strings.text[function->name],
	    .image = image_of(tables, pair->function),
	    .inlined = function->inlined,
	    .self = pair->self,
	    .total = pairs->total,
	};

	if (pair->caller != PAGE_NONE && pair->caller != pair->function) {
		row.caller = tables->strings.text[tables->functions[pair->caller].name];
		row.caller_image = image_of(tables, pair->caller);
	}
	page->row(page->row_context, &row);
}

static int give_list(const struct page_tables *tables, const uint32_t *callers, bool blocked,
		     const struct tally_page_options *page)
{
	uint64_t least = blocked ? MAX((tables->end - tables->start) / 100, WAIT_LEAST) : 1;
	size_t most = blocked ? WAITS : HOTTEST;
	struct pairs pairs = {.count = 0};
	uint32_t event = 0;
	int result;

	while (event < tables->event_count &&
	       (!tables->events[event].samples ||
		(tables->events[event].kind == PAGE_EVENT_OFF_CPU) != blocked))
		event++;
	if (event == tables->event_count)
		return 0;
	result = add_up(tables, callers, event, &pairs);
	if (!result && !blocked)
		join_callers(tables, &pairs);
	if (pairs.count)
		qsort(pairs.list, pairs.count, sizeof(*pairs.list), largest_first);
	for (size_t i = 0; i < pairs.count && i < most && pairs.list[i].self >= least; i++)
		give(tables, &pairs, &pairs.list[i], blocked, page);
	free(pairs.list);
	return result;
}

int tally_page_rows(const struct page_tables *tables, const struct tally_page_options *page)
{
	uint32_t *callers = tally_page_program_callers(tables, PAGE_PROGRAM);
	uint32_t *nameless = tally_page_program_callers(tables, PAGE_PROGRAM_NAMELESS);
	int result = callers && nameless ? 0 : -ENOMEM;

	/* In a program without names, the place is better than nothing. */
	for (uint32_t i = 1; !result && i < tables->node_count; i++)
		if (callers[i] == PAGE_NONE)
			callers[i] = nameless[i];
	if (!result)
		result = give_list(tables, callers, false, page);
	if (!result)
		result = give_list(tables, callers, true, page);
	free(callers);
	free(nameless);
	return result;
}
