#include "annotate/annotation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/wanted.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "image/image.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"

/* Where the code around a place begins and ends.  False: it is unknown. */
static bool find_extent(struct tally_frames *frames, uint32_t frame,
			const struct tally_frame *facts, uint64_t place, struct annotated *to)
{
	struct tally_function function;
	int64_t symbol;

	to->image = tally_frames_image(frames, frame);
	if (!to->image || facts->image == UINT32_MAX)
		return false;
	symbol = tally_image_find_symbol(to->image, place);
	if (symbol >= 0) {
		to->start = tally_image_symbol(to->image, symbol)->start;
		to->end = tally_image_symbol(to->image, symbol)->end;
	} else if (tally_frames_function(frames, facts->image, place, &function)) {
		to->start = function.start;
		to->end = function.end;
	} else {
		return false;
	}
	return place >= to->start && place < to->end;
}

static void add_sums(struct tally_annotation *annotation, struct annotated *function)
{
	for (size_t i = function->first; i < function->first + function->count; i++) {
		const struct place_sum *sum = &annotation->sums.sums[i];

		function->samples[sum->event] += sum->samples;
		function->periods[sum->event] += sum->period;
	}
	for (size_t i = 0; i < annotation->event_count; i++) {
		uint64_t total = annotation->sums.totals[i].period;
		double share = total ? (double)function->periods[i] / (double)total : 0;

		if (share > function->share)
			function->share = share;
	}
}

static int add_function(struct tally_annotation *annotation, size_t *room,
			const struct annotated *function)
{
	if (!array_next(&annotation->functions, room, annotation->function_count, 64,
			sizeof(*annotation->functions)))
		return -ENOMEM;
	annotation->functions[annotation->function_count++] = *function;
	return 0;
}

/* The sums of each function are side by side: they are sorted by frame and place. */
static int find_functions(struct tally_annotation *annotation,
			  const struct tally_annotation_options *options)
{
	struct tally_frames *frames = &tally_session_tables(annotation->session)->frames;
	const struct place_sums *sums = &annotation->sums;
	size_t room = 0;
	int result = 0;

	for (size_t i = 0, end; i < sums->count && !result; i = end) {
		uint32_t number = sums->sums[i].frame;
		struct tally_frame frame = tally_session_frame(annotation->session, number);
		struct annotated function = {.frame = number, .first = i};
		bool known = tally_annotation_wants(options, &frame) &&
			     find_extent(frames, number, &frame, sums->sums[i].place, &function);

		for (end = i + 1; end < sums->count && sums->sums[end].frame == number; end++)
			if (known && sums->sums[end].place >= function.end)
				break;
		function.count = end - i;
		if (known)
			result = add_function(annotation, &room, &function);
	}
	return result;
}

static int by_share(const void *left, const void *right)
{
	const struct annotated *a = left, *b = right;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	/* Numbers of frames depend on which thread was first. */
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

static int add_numbers(struct tally_annotation *annotation)
{
	size_t events = annotation->event_count;
	uint64_t *at = calloc(annotation->function_count * events * 2 + 1, sizeof(*at));

	annotation->numbers = at;
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < annotation->function_count; i++) {
		annotation->functions[i].samples = at;
		annotation->functions[i].periods = at + events;
		at += 2 * events;
		add_sums(annotation, &annotation->functions[i]);
	}
	if (annotation->function_count)
		qsort(annotation->functions, annotation->function_count,
		      sizeof(*annotation->functions), by_share);
	return 0;
}

int tally_annotation_of_sums(struct tally_session *session,
			     const struct tally_annotation_options *options,
			     struct place_sums *sums, struct tally_annotation **ret,
			     struct tally_error *error)
{
	struct tally_annotation *made = calloc(1, sizeof(*made));

	if (!made) {
		tally_place_sums_done(sums);
		return tally_fail(error, -ENOMEM, -1, "not enough memory");
	}
	made->session = session;
	made->event_count = tally_data_event_count(tally_session_data(session));
	made->named = options->symbol_count || options->dso_count;
	made->sums = *sums;
	if (find_functions(made, options) || add_numbers(made)) {
		tally_annotation_free(made);
		return tally_fail(error, -ENOMEM, -1, "not enough memory for the functions");
	}
	*ret = made;
	return 0;
}

int tally_annotation_new(struct tally_session *session,
			 const struct tally_annotation_options *options,
			 struct tally_annotation **ret, struct tally_error *error)
{
	struct tally_annotation_options wanted = {.size = sizeof(wanted)};
	struct place_sums sums;
	int result = tally_options_take(&wanted, sizeof(wanted), options);

	if (result)
		return tally_fail(error, result, -1, "an option is not known to this libtally");
	result = tally_place_sums_make(session, &wanted, &sums, error);
	return result ? result : tally_annotation_of_sums(session, &wanted, &sums, ret, error);
}

void tally_annotation_free(struct tally_annotation *annotation)
{
	if (!annotation)
		return;
	tally_place_sums_done(&annotation->sums);
	free(annotation->functions);
	free(annotation->numbers);
	free(annotation);
}

size_t tally_annotation_function_count(const struct tally_annotation *annotation)
{
	return annotation->function_count;
}

int tally_annotation_function(const struct tally_annotation *annotation, size_t index,
			      struct tally_annotated_function *ret)
{
	const struct annotated *of;
	struct tally_annotated_function function;

	if (index >= annotation->function_count)
		return -EINVAL;
	of = &annotation->functions[index];
	function = (struct tally_annotated_function){
	    .frame = tally_session_frame(annotation->session, of->frame),
	    .start = of->start,
	    .end = of->end,
	    .samples = of->samples,
	    .periods = of->periods,
	    .share = of->share,
	};
	return tally_result_copy(ret, sizeof(function), &function);
}

double tally_annotation_percent(const struct tally_annotation *annotation,
				const struct annotated *function, enum tally_percent_type type,
				size_t event, uint64_t samples, uint64_t period)
{
	bool hits = type == TALLY_PERCENT_LOCAL_HITS || type == TALLY_PERCENT_GLOBAL_HITS;
	const struct event_total *total = &annotation->sums.totals[event];
	uint64_t part = hits ? samples : period, whole = hits ? total->samples : total->period;

	if (function && (type == TALLY_PERCENT_LOCAL_PERIOD || type == TALLY_PERCENT_LOCAL_HITS))
		whole = hits ? function->samples[event] : function->periods[event];
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
