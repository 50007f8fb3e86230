/* Layouts of types as text. */
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "annotate/data_profile.h"
#include "base/cell.h"
#include "session/session.h"

#define CELL   12 /* columns of an event's number */
#define INDENT 4

struct layout {
	const struct tally_data_profile *profile;
	const struct tally_data_profile_text *options;
	const struct data_profile_type *type;
	struct tally_buf *to;
	/* Names of the records that are open, by depth; NULL: it is none. */
	char *open[32];
	unsigned depth;
};

static void put_escaped(struct tally_buf *to, const char *text)
{
	char *escaped = malloc(strlen(text) * 4 + 1);

	if (!escaped) {
		to->failed = -1;
		return;
	}
	tally_text_escape(text, escaped, strlen(text) * 4 + 1);
	tally_buf_text(to, escaped);
	free(escaped);
}

/* Events without a sample in the type have no column. */
static bool has_event(const struct layout *layout, uint32_t event)
{
	return tally_data_amount(layout->type, event, 0, UINT64_MAX).samples != 0;
}

static void put_cell(const struct layout *layout, uint32_t event, const struct data_amount *part)
{
	const struct tally_data_profile_text *options = layout->options;
	struct data_amount whole = tally_data_amount(layout->type, event, 0, UINT64_MAX);
	double percent = whole.period ? 100.0 * (double)part->period / (double)whole.period : 0;
	bool tinted = tally_cell_tint(layout->to, (uint64_t)(percent * 100 + 0.5), options->colour);

	if (options->show_total_period)
		tally_buf_printf(layout->to, "%*llu", CELL, (unsigned long long)part->period);
	else if (options->show_samples)
		tally_buf_printf(layout->to, "%*llu", CELL, (unsigned long long)part->samples);
	else
		tally_buf_printf(layout->to, "%*.2f", CELL, percent);
	tally_cell_plain(layout->to, tinted);
}

/* What stands before a line's text: the numbers, or as many blanks. */
static void put_cells(const struct layout *layout, const struct data_member *member)
{
	for (uint32_t event = 0; event < layout->profile->event_count; event++) {
		struct data_amount part;

		if (!has_event(layout, event))
			continue;
		if (!member) {
			tally_cell_spaces(layout->to, CELL);
			continue;
		}
		part =
		    tally_data_amount(layout->type, event, member->offset,
				      member->depth ? member->offset + member->size : UINT64_MAX);
		put_cell(layout, event, &part);
	}
	if (member)
		tally_buf_printf(layout->to, " %10llu %10llu  ", (unsigned long long)member->offset,
				 (unsigned long long)member->size);
	else
		tally_cell_spaces(layout->to, 24);
}

/* Ends the records that are at least so deep. */
static void close_records(struct layout *layout, unsigned depth)
{
	while (layout->depth > depth) {
		char *name = layout->open[--layout->depth];

		put_cells(layout, NULL);
		tally_cell_spaces(layout->to, (size_t)INDENT * layout->depth);
		tally_buf_text(layout->to, "}");
		if (name) {
			tally_buf_byte(layout->to, ' ');
			put_escaped(layout->to, name);
		}
		tally_buf_text(layout->to, ";\n");
		free(name);
		layout->open[layout->depth] = NULL;
	}
}

static int put_member(void *context, const struct data_member *member)
{
	struct layout *layout = context;
	struct tally_buf *to = layout->to;

	close_records(layout, member->depth);
	put_cells(layout, member);
	tally_cell_spaces(to, (size_t)INDENT * member->depth);
	put_escaped(to, member->type);
	if (member->has_members && member->depth < sizeof(layout->open) / sizeof(*layout->open)) {
		layout->open[member->depth] = member->name ? strdup(member->name) : NULL;
		layout->depth = member->depth + 1;
		tally_buf_text(to, " {\n");
		return 0;
	}
	if (member->name) {
		tally_buf_byte(to, ' ');
		put_escaped(to, member->name);
	}
	tally_buf_text(to, ";\n");
	return 0;
}

static void put_title(const struct layout *layout)
{
	const struct data_profile_type *type = layout->type;
	const struct tally_data *data = tally_session_data(layout->profile->session);
	struct tally_buf *to = layout->to;
	const char *cell = layout->options->show_total_period ? "Period"
			   : layout->options->show_samples    ? "Samples"
							      : "Percent";

	tally_buf_text(to, "# ");
	put_escaped(to, type->name);
	tally_buf_text(to, " in ");
	put_escaped(to, layout->options->full_paths ? type->sums->path : type->sums->image);
	tally_buf_printf(to, ": %.2f%%, %llu", type->share * 100,
			 (unsigned long long)type->samples);
	tally_cell_noun(to, type->samples, "sample");
	for (uint32_t event = 0, shown = 0; event < layout->profile->event_count; event++)
		if (has_event(layout, event)) {
			tally_buf_text(to, shown++ ? ", " : " of ");
			put_escaped(to, tally_data_event(data, event)->name);
		}
	tally_buf_byte(to, '\n');
	for (uint32_t event = 0; event < layout->profile->event_count; event++)
		if (has_event(layout, event))
			tally_buf_printf(to, "%*s", CELL, cell);
	tally_buf_printf(to, " %10s %10s  %s\n", "Offset", "Size", "Member");
}

/* --- why others have no type --- */

struct reason {
	uint64_t samples;
	unsigned outcome;
};

static int by_samples(const void *a, const void *b)
{
	const struct reason *left = a, *right = b;

	if (left->samples != right->samples)
		return left->samples > right->samples ? -1 : 1;
	return left->outcome < right->outcome ? -1 : left->outcome > right->outcome;
}

static void put_outcomes(const struct tally_data_profile *profile, struct tally_buf *to)
{
	const uint64_t *samples = profile->samples;
	struct reason reasons[ACCESS_OUTCOMES];
	uint64_t known = samples[ACCESS_FOUND] + samples[ACCESS_STACK] + samples[ACCESS_CANARY];
	double all = profile->all ? (double)profile->all : 1;

	tally_buf_printf(to, "# Data types of %llu", (unsigned long long)profile->all);
	tally_cell_noun(to, profile->all, "sample");
	tally_buf_printf(to, ": %llu known (%.1f%%), %llu unknown (%.1f%%)\n",
			 (unsigned long long)known, 100.0 * (double)known / all,
			 (unsigned long long)(profile->all - known),
			 100.0 * (double)(profile->all - known) / all);
	for (unsigned i = 0; i < ACCESS_OUTCOMES; i++)
		reasons[i] = (struct reason){samples[i], i};
	qsort(reasons, ACCESS_OUTCOMES, sizeof(*reasons), by_samples);
	for (unsigned i = 0; i < ACCESS_OUTCOMES && reasons[i].samples; i++)
		tally_buf_printf(to, "%12llu  %s\n", (unsigned long long)reasons[i].samples,
				 tally_data_outcome_text(reasons[i].outcome));
}

int tally_data_text(const struct tally_data_profile *profile,
		    const struct tally_data_profile_text *options, struct tally_buf *to)
{
	struct layout layout = {.profile = profile, .options = options, .to = to};
	bool some = false;
	int result = 0;

	if (options->outcomes) {
		put_outcomes(profile, to);
		some = true;
	}
	for (size_t i = 0; i < profile->type_count && !result; i++) {
		layout.type = &profile->list[i];
		if (!tally_data_is_shown(layout.type, options))
			continue;
		if (some)
			tally_buf_byte(to, '\n');
		some = true;
		put_title(&layout);
		result = tally_data_type_layout(layout.type->sums->types, layout.type->sums->type,
						put_member, &layout);
		close_records(&layout, 0);
	}
	return result;
}
