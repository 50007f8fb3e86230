#include "profile_hottest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/profile.h>
#include <tally/report.h>
#include <tally/text.h>
#include <unistd.h>
#include "array.h"
#include "options.h"
#include "terminal.h"

#define HOTTEST 10
#define WAITS   5 /* functions that threads wait in */
#define OFF_CPU "offcpu-time"
/* Lines are shown if so much of the time has them, in percent; and the share is said below this. */
#define LINES_LEAST 10
#define LINES_MOST  90
#define INLINED     10 /* columns of " (inlined)" */
#define BEFORE      11 /* columns before a name */

/* Columns of escaped text. */
static unsigned columns_of(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

/* A name on a terminal is cut so that its line has room for so many columns more. */
static void print_name(const char *name, unsigned more)
{
	unsigned width = cli_term_width_of(STDERR_FILENO);
	unsigned room = width > BEFORE + more ? width - BEFORE - more : 1;
	char text[1024], cut[sizeof(text)];

	tally_text_escape(name ? name : "[unknown]", text, sizeof(text));
	if (!width || columns_of(text) <= room ||
	    tally_report_shorten(text, room, cut, sizeof(cut)) < 0)
		fputs(text, stderr);
	else
		fputs(cut, stderr);
}

static void print_function(const struct tally_profile_row *row)
{
	const struct tally_frame *frame = &row->frame;

	if (frame->symbol) {
		char image[1024];

		tally_text_escape(frame->image_name ? frame->image_name : "[unknown]", image,
				  sizeof(image));
		print_name(frame->symbol, columns_of(image) + 2 + (frame->inlined ? INLINED : 0));
		if (frame->inlined)
			fputs(" (inlined)", stderr);
	} else if (!frame->function) { /* of all such addresses of the image */
		fputs("code without names", stderr);
	} else {
		print_name(frame->image_name, 0);
		fprintf(stderr, "+0x%llx", (unsigned long long)frame->address);
		return;
	}
	fputs("  ", stderr);
	print_name(frame->image_name, 0);
}

/* A line as "qsort.c:81": not the place in a binary without debug information, nor a file of which
 * no line is known ("qsort.c:0"). */
static bool is_line(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon != text && colon[1] >= '1' && colon[1] <= '9' &&
	       strncmp(text, "??", 2) != 0;
}

/* The rows of the first event that has samples and is for time off CPU or not, largest own share
 * first. */
struct hottest {
	struct tally_profile_row rows[HOTTEST];
	size_t count;
	uint64_t total, known; /* known: of lines, what all of them have */
};

static bool is_wanted(const struct tally_profile_event *facts, bool waits)
{
	return facts->samples && (!strncmp(facts->name, OFF_CPU, sizeof(OFF_CPU) - 1)) == waits;
}

/* Whether nothing is known of the row's code but its image: each address has a row of its own. */
static bool is_nameless(const struct tally_profile_row *row)
{
	return !row->frame.symbol && !row->frame.function;
}

/* The rows of code without names, one of an image. */
struct nameless_rows {
	struct tally_profile_row *rows;
	size_t count, room, last;
};

static int add_nameless(struct nameless_rows *list, const struct tally_profile_row *row)
{
	size_t at = list->last;

	if (at >= list->count || list->rows[at].frame.image != row->frame.image)
		for (at = 0; at < list->count; at++)
			if (list->rows[at].frame.image == row->frame.image)
				break;
	list->last = at;
	if (at < list->count) {
		list->rows[at].self += row->self;
		return 0;
	}
	if (!cli_array_next(&list->rows, &list->room, list->count, sizeof(*list->rows)))
		return -ENOMEM;
	list->rows[list->count++] = *row;
	return 0;
}

/* Keeps the largest rows in order. */
static void add_row(struct hottest *hottest, const struct tally_profile_row *row)
{
	size_t at = hottest->count;

	while (at && hottest->rows[at - 1].self < row->self)
		at--;
	if (at == HOTTEST)
		return;
	if (hottest->count == HOTTEST)
		hottest->count--;
	memmove(&hottest->rows[at + 1], &hottest->rows[at], (hottest->count - at) * sizeof(*row));
	hottest->rows[at] = *row;
	hottest->count++;
}

/* lines: the key is a source line.  waits: of the time off CPU. */
static int find_hottest(const struct tally_profile *profile, bool lines, bool waits,
			struct hottest *ret)
{
	const struct tally_session *session = tally_profile_session(profile);
	struct tally_profile_event facts = {.size = sizeof(facts)};
	struct tally_profile_row row = {.size = sizeof(row)};
	struct nameless_rows nameless = {0};
	size_t event = 0;
	int result = 0;

	*ret = (struct hottest){.count = 0};
	while (!tally_profile_event(profile, event, &facts) && !is_wanted(&facts, waits))
		event++;
	if (event == tally_profile_event_count(profile))
		return 0;
	ret->total = facts.total;
	for (uint64_t i = 0; i < facts.row_count && !result; i++) {
		if (tally_profile_row(profile, event, i, &row) || !row.self)
			break;
		if (!lines && is_nameless(&row))
			result = add_nameless(&nameless, &row);
		else if (!lines)
			add_row(ret, &row);
		else if (is_line(tally_session_source(session, (uint32_t)row.values[0]))) {
			ret->known += row.self;
			if (ret->count < HOTTEST)
				ret->rows[ret->count++] = row;
		}
	}
	for (size_t i = 0; i < nameless.count; i++)
		add_row(ret, &nameless.rows[i]);
	free(nameless.rows);
	return result;
}

static void print_share(const struct hottest *hottest, size_t at)
{
	fprintf(stderr, "%6.2f %%  ",
		(double)hottest->rows[at].self / (double)hottest->total * 100);
}

static int print_functions(const struct tally_profile *profile)
{
	struct hottest hottest;
	int result = find_hottest(profile, false, false, &hottest);

	if (hottest.count)
		fputs("\nHottest functions\n", stderr);
	for (size_t i = 0; i < hottest.count; i++) {
		print_share(&hottest, i);
		print_function(&hottest.rows[i]);
		fputc('\n', stderr);
	}
	return result;
}

/* Lines of a small part of the time would only say where debug information happens to be. */
static int print_lines(const struct tally_profile *profile)
{
	const struct tally_session *session = tally_profile_session(profile);
	struct hottest hottest;
	int result = find_hottest(profile, true, false, &hottest);
	double known = hottest.total ? (double)hottest.known / (double)hottest.total * 100 : 0;

	if (known < LINES_LEAST)
		return result;
	fputs("\nHottest source lines", stderr);
	if (known < LINES_MOST)
		fprintf(stderr, ", of %.0f %% whose lines are known", known);
	fputc('\n', stderr);
	for (size_t i = 0; i < hottest.count; i++) {
		print_share(&hottest, i);
		print_name(tally_session_source(session, (uint32_t)hottest.rows[i].values[0]), 0);
		fputc('\n', stderr);
	}
	return result;
}

/* Functions that were blocked for at least a hundredth of the recording's time. */
static int print_waits(const struct tally_profile *profile)
{
	const struct tally_session_counts *counts =
	    tally_session_counts(tally_profile_session(profile));
	uint64_t least = (counts->last_time - counts->first_time) / 100;
	struct hottest hottest;
	int result = find_hottest(profile, false, true, &hottest);

	for (size_t i = 0; i < hottest.count && i < WAITS && hottest.rows[i].self >= least; i++) {
		if (!i)
			fputs("\nLongest waits, of all threads together\n", stderr);
		fprintf(stderr, "%6.2f s  ", (double)hottest.rows[i].self / 1e9);
		print_function(&hottest.rows[i]);
		fputc('\n', stderr);
	}
	return result;
}

static int print_of(struct tally_session *session, const char *const *keys, size_t key_count,
		    int (*print)(const struct tally_profile *profile), struct tally_error *error)
{
	const struct tally_profile_options options = {
	    .size = sizeof(options), .keys = keys, .key_count = key_count};
	struct tally_profile *profile;
	int result = tally_profile_new(session, &options, &profile, error);

	if (result)
		return result;
	result = print(profile);
	tally_profile_free(profile);
	return result ? cli_refuse(error, "not enough memory for the hottest functions") : 0;
}

static int print_functions_and_waits(const struct tally_profile *profile)
{
	int result = print_functions(profile);

	return result ? result : print_waits(profile);
}

int cli_profile_print_functions(struct tally_session *session, struct tally_error *error)
{
	return print_of(session, (const char *const[]){"dso", "symbol"}, 2,
			print_functions_and_waits, error);
}

int cli_profile_print_lines(struct tally_session *session, struct tally_error *error)
{
	return print_of(session, (const char *const[]){"srcline"}, 1, print_lines, error);
}
