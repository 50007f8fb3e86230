#include "report_screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/report.h>
#include "browser.h"
#include "screen.h"

/* Profiles of other places that are kept while the screen is open. */
#define KEPT 6

struct kept {
	struct browser_want want;
	struct tally_profile *profile;
	uint64_t used; /* when, as a number that grows */
};

struct source {
	const struct report_screen *report;
	struct kept kept[KEPT];
	uint64_t turn;
};

static const char *const thread_keys[] = {"tid"};
static const char *const image_keys[] = {"dso"};

static void take_keys(enum browser_part part, struct tally_profile_options *options)
{
	if (part == BROWSER_FUNCTIONS)
		return;
	options->keys = part == BROWSER_THREADS ? thread_keys : image_keys;
	options->key_count = part == BROWSER_STACKS ? 0 : 1;
}

static int make_profile(const struct source *source, const struct browser_want *want,
			struct tally_profile **ret, struct tally_error *error)
{
	struct tally_profile_options options = *source->report->options;
	uint32_t tid = (uint32_t)want->tid;

	take_keys(want->part, &options);
	if (want->part == BROWSER_STACKS)
		options.children = false; /* one row: its tree has all */
	if (want->one_thread) {
		options.tids = &tid;
		options.tid_count = 1;
	}
	return tally_profile_new(source->report->session, &options, ret, error);
}

/* The profile of a place, as it was made before or anew in place of the one that was not used for
 * the longest time. */
static int give_profile(void *context, const struct browser_want *want, struct tally_profile **ret,
			struct tally_error *error)
{
	struct source *source = context;
	struct kept *to = &source->kept[0];
	struct tally_profile *made = NULL;
	int result;

	if (want->part == BROWSER_FUNCTIONS && !want->one_thread) {
		*ret = source->report->profile;
		return 0;
	}
	for (size_t i = 0; i < KEPT; i++) {
		struct kept *kept = &source->kept[i];

		if (kept->profile && browser_same_want(&kept->want, want)) {
			kept->used = ++source->turn;
			*ret = kept->profile;
			return 0;
		}
		if (kept->used < to->used)
			to = kept;
	}
	result = make_profile(source, want, &made, error);
	if (result)
		return result;
	/* The one that is shown now was used last, and there are others. */
	tally_profile_free(to->profile);
	*to = (struct kept){*want, made, ++source->turn};
	*ret = made;
	return 0;
}

static int annotate(void *context, const struct tally_frame *function,
		    struct tally_annotation **ret, void **ret_kept, struct tally_error *error)
{
	const struct source *source = context;
	const struct tally_profile_options *of = source->report->options;
	const char *symbol = function->symbol, *dso = function->image_name;
	char name[4096];
	struct tally_annotation_options options = {
	    .size = sizeof(options),
	    .symbols = &symbol,
	    .symbol_count = 1,
	    .dsos = &dso,
	    .dso_count = dso ? 1 : 0,
	    .time = of->time,
	    .cpus = of->cpus,
	    .cpu_count = of->cpu_count,
	};

	if (!symbol) {
		snprintf(name, sizeof(name), "%s+0x%" PRIx64, dso ? dso : "", function->address);
		symbol = name;
	}
	*ret_kept = NULL;
	return tally_annotation_new(source->report->session, &options, ret, error);
}

/* The first event that has samples. */
static size_t first_event(const struct tally_profile *profile)
{
	struct tally_profile_event event = {.size = sizeof(event)};

	for (size_t i = 0; !tally_profile_event(profile, i, &event); i++)
		if (event.samples)
			return i;
	return 0;
}

int cli_report_screen(const struct report_screen *report, struct tally_error *error)
{
	struct source own = {.report = report};
	const struct browser_source source = {
	    .context = &own, .profile = give_profile, .annotate = annotate};
	struct browser browser = {
	    .source = &source,
	    .event = first_event(report->profile),
	    .percent_limit = report->percent_limit,
	    .tree_least = report->options->tree_least,
	    .order = report->order,
	    .show_samples = report->show_samples,
	    .show_period = report->show_period,
	};
	struct cli_screen *screen;
	char *notes = NULL;
	size_t size = 0;
	FILE *to;
	int result = cli_screen_open(&screen);

	if (result)
		return result;
	to = open_memstream(&notes, &size);
	if (to) {
		tally_report_remarks(report->profile, browser.event, to);
		fclose(to);
		browser.notes = notes;
	}
	result = browser_start(&browser, error);
	while (result >= 0 && result != BROWSER_QUIT) {
		browser_draw(&browser, screen);
		result = browser_key(&browser, screen, browser_wait_key(&browser, screen));
	}
	cli_screen_close(screen);
	browser_done(&browser);
	free(notes);
	for (size_t i = 0; i < KEPT; i++)
		tally_profile_free(own.kept[i].profile);
	return result < 0 ? result : 0;
}
