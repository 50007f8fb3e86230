#include "annotate/annotate_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cell.h"
#include "session/session.h"

/* perf's columns. */
#define PERCENT_WIDTH 8U
#define PERIOD_WIDTH  12U

static uint32_t leader_of(const struct tally_annotation *annotation, uint32_t event)
{
	return tally_data_event(tally_session_data(annotation->session), event)->leader;
}

/* Events of one group are side by side only with `group`. */
static bool belong(const struct tally_annotation *annotation,
		   const struct tally_annotation_text *options, uint32_t one, uint32_t other)
{
	if (!options->separate)
		return true;
	return options->group && leader_of(annotation, one) == leader_of(annotation, other);
}

int tally_annotate_views_make(const struct tally_annotation *annotation,
			      const struct tally_annotation_text *options,
			      struct annotate_views *ret)
{
	size_t most = annotation->event_count + 1;
	struct annotate_views made = {.events = calloc(most, sizeof(*made.events)),
				      .ends = calloc(most, sizeof(*made.ends))};
	uint32_t count = 0;

	if (!made.events || !made.ends) {
		tally_annotate_views_done(&made);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < annotation->event_count; i++) {
		if (!annotation->sums.totals[i].samples)
			continue;
		if (!made.count || !belong(annotation, options, made.events[count - 1], i))
			made.count++;
		made.events[count++] = i;
		made.ends[made.count - 1] = count;
	}
	*ret = made;
	return 0;
}

void tally_annotate_views_done(struct annotate_views *views)
{
	free(views->events);
	free(views->ends);
	*views = (struct annotate_views){0};
}

static size_t cell_width(const struct annotate_view *view)
{
	return view->options->show_total_period ? PERIOD_WIDTH : PERCENT_WIDTH;
}

size_t tally_annotate_view_width(const struct annotate_view *view)
{
	return cell_width(view) * view->count;
}

static double percent_of(const struct annotate_view *view, uint32_t event, const uint64_t *samples,
			 const uint64_t *periods)
{
	return tally_annotation_percent(view->annotation, view->function,
					view->options->percent_type, event, samples[event],
					periods[event]);
}

void tally_annotate_view_cells(const struct annotate_view *view, const uint64_t *samples,
			       const uint64_t *periods, struct tally_buf *to)
{
	const struct tally_annotation_text *options = view->options;
	int width = (int)cell_width(view);

	for (size_t i = 0; i < view->count; i++) {
		uint32_t event = view->events[i];
		double percent = percent_of(view, event, samples, periods);
		bool tinted = tally_cell_tint(to, (uint64_t)(percent * 100 + 0.5), options->colour);

		if (options->show_total_period)
			tally_buf_printf(to, "%*llu", width, (unsigned long long)periods[event]);
		else if (options->show_samples)
			tally_buf_printf(to, "%*llu", width, (unsigned long long)samples[event]);
		else
			tally_buf_printf(to, "%*.2f", width, percent);
		tally_cell_plain(to, tinted);
	}
}

void tally_annotate_view_title(const struct annotate_view *view, const char *title,
			       struct tally_buf *to)
{
	size_t width = tally_annotate_view_width(view), length = strlen(title);

	if (length)
		tally_buf_byte(to, ' ');
	tally_buf_text(to, title);
	tally_cell_spaces(to, width > length + (length != 0) ? width - length - (length != 0) : 0);
}

double tally_annotate_view_most(const struct annotate_view *view, const uint64_t *samples,
				const uint64_t *periods)
{
	double most = 0;

	for (size_t i = 0; i < view->count; i++) {
		double percent = percent_of(view, view->events[i], samples, periods);

		most = percent > most ? percent : most;
	}
	return most;
}

uint64_t tally_annotate_view_samples(const struct annotate_view *view)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < view->count; i++)
		samples += view->function->samples[view->events[i]];
	return samples;
}
