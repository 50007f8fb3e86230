#include "report/report_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ordering {
	const struct tally_profile *profile;
	size_t event;
	const struct tally_report_column *by;
	size_t by_count;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_keys(enum tally_key key, const struct tally_profile_row *a,
			const struct tally_profile_row *b)
{
	switch (key) {
	case TALLY_KEY_COMM:
		return compare_texts(a->comm, b->comm);
	case TALLY_KEY_DSO:
		return compare_texts(a->frame.image_name, b->frame.image_name);
	case TALLY_KEY_SYMBOL:
		if (a->frame.symbol || b->frame.symbol)
			return compare_texts(a->frame.symbol, b->frame.symbol);
		return compare_numbers(a->frame.place, b->frame.place);
	case TALLY_KEY_PID:
		return compare_numbers(a->pid, b->pid);
	case TALLY_KEY_TID:
		return compare_numbers(a->tid, b->tid);
	case TALLY_KEY_CPU:
		break;
	}
	return compare_numbers(a->cpu, b->cpu);
}

static int compare_columns(const struct tally_report_column *by, const struct tally_profile_row *a,
			   const struct tally_profile_row *b)
{
	switch (by->field) {
	case TALLY_FIELD_CHILDREN:
		return compare_numbers(b->children, a->children);
	case TALLY_FIELD_SAMPLES:
		return compare_numbers(b->samples, a->samples);
	case TALLY_FIELD_OVERHEAD:
	case TALLY_FIELD_PERIOD:
		return compare_numbers(b->self, a->self);
	case TALLY_FIELD_KEY:
		break;
	}
	return compare_keys(by->key, a, b);
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ordering *by = context;
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	struct tally_profile_row first = tally_profile_row(by->profile, by->event, a);
	struct tally_profile_row second = tally_profile_row(by->profile, by->event, b);
	int result = 0;

	for (size_t i = 0; i < by->by_count && !result; i++)
		result = compare_columns(&by->by[i], &first, &second);
	return result ? result : compare_numbers(a, b);
}

int tally_report_order_make(const struct tally_profile *profile, size_t event, uint64_t count,
			    const struct tally_report_options *options, uint64_t **ret)
{
	struct ordering by = {profile, event, options->order_by, options->order_by_count};
	uint64_t *order = malloc((count + 1) * sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_rows, &by);
	*ret = order;
	return 0;
}
