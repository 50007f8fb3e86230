#include "profile_hottest.h"

#include <stdio.h>
#include <string.h>
#include <tally/profile.h>
#include <tally/report.h>
#include <tally/text.h>
#include <unistd.h>
#include "terminal.h"

#define HOTTEST 10
#define OFF_CPU "offcpu-time"
/* Lines are shown if so much of the time has them, in percent; and the share is said below this. */
#define LINES_LEAST 10
#define LINES_MOST  90
#define INLINED     10 /* columns of " (inlined)" */
#define BEFORE      11 /* columns before a name */
#define NAME_ROOM   1024

/* Columns of escaped text. */
static unsigned columns_of(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

/* A name as it is on a terminal, cut so that its line has room for so many columns more. */
static void make_name(const char *name, unsigned more, char *ret, size_t size)
{
	unsigned width = cli_term_width_of(STDERR_FILENO);
	unsigned room = width > BEFORE + more ? width - BEFORE - more : 1;
	char text[NAME_ROOM];

	tally_text_escape(name, text, sizeof(text));
	if (!width || columns_of(text) <= room || tally_report_shorten(text, room, ret, size) < 0)
		memcpy(ret, text, strlen(text) + 1);
}

static void put_head(struct cli_profile_rows *rows, const struct tally_page_row *row)
{
	if (!rows->count++ || rows->blocked != row->blocked)
		fputs(row->blocked ? "\nLongest waits, of all threads together\n"
				   : "\nHottest functions\n",
		      rows->to);
	rows->blocked = row->blocked;
	if (row->blocked)
		fprintf(rows->to, "%6.2f s  ", (double)row->self / 1e9);
	else
		fprintf(rows->to, "%6.2f %%  ", (double)row->self / (double)row->total * 100);
}

/* Behind the function, or where a terminal has no room for that, on a line of its own. */
static void put_caller(const struct cli_profile_rows *rows, const struct tally_page_row *row,
		       unsigned before)
{
	const char *how = row->blocked ? "called by " : "mostly called by ";
	unsigned width = cli_term_width_of(STDERR_FILENO), length = columns_of(how);
	char caller[NAME_ROOM];

	make_name(row->caller, length, caller, sizeof(caller));
	if (width && before + 2 + length + columns_of(caller) > width)
		fprintf(rows->to, "\n%*s", BEFORE, "");
	else
		fputs(", ", rows->to);
	fprintf(rows->to, "%s%s", how, caller);
}

void cli_profile_put_row(void *context, const struct tally_page_row *row)
{
	struct cli_profile_rows *rows = context;
	char image[NAME_ROOM], name[NAME_ROOM];
	unsigned more;

	put_head(rows, row);
	make_name(*row->image ? row->image : "[unknown]", 0, image, sizeof(image));
	/* A function without a symbol is named by its image. */
	if (!strncmp(row->name, row->image, strlen(row->image)) &&
	    !strncmp(row->name + strlen(row->image), "+0x", 3))
		image[0] = 0;
	more = image[0] ? columns_of(image) + 2 + (row->inlined ? INLINED : 0) : 0;
	make_name(row->name, more, name, sizeof(name));
	fprintf(rows->to, "%s%s%s%s", name, row->inlined ? " (inlined)" : "", image[0] ? "  " : "",
		image);
	if (row->caller)
		put_caller(rows, row, BEFORE + columns_of(name) + more);
	fputc('\n', rows->to);
}

/* A line as "qsort.c:81": not the place in a binary without debug information, nor one in a
 * function ("JS:run a.js:1:16+568"), nor a file of which no line is known ("qsort.c:0"). */
static bool is_line(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon != text && colon[1] >= '1' && colon[1] <= '9' &&
	       colon[1 + strspn(colon + 1, "0123456789")] == 0 && strncmp(text, "??", 2) != 0;
}

/* Keeps the lines of the first event that has samples on a CPU, largest own share first. */
struct hottest {
	struct tally_profile_row rows[HOTTEST];
	size_t count;
	uint64_t total, known; /* known: what all lines have */
};

static void find_hottest(const struct tally_profile *profile, struct hottest *ret)
{
	const struct tally_session *session = tally_profile_session(profile);
	struct tally_profile_event facts = {.size = sizeof(facts)};
	struct tally_profile_row row = {.size = sizeof(row)};
	size_t event = 0;

	*ret = (struct hottest){.count = 0};
	while (!tally_profile_event(profile, event, &facts) &&
	       (!facts.samples || !strncmp(facts.name, OFF_CPU, sizeof(OFF_CPU) - 1)))
		event++;
	if (event == tally_profile_event_count(profile))
		return;
	ret->total = facts.total;
	for (uint64_t i = 0; i < facts.row_count; i++) {
		if (tally_profile_row(profile, event, i, &row) || !row.self)
			break;
		if (!is_line(tally_session_source(session, (uint32_t)row.values[0])))
			continue;
		ret->known += row.self;
		if (ret->count < HOTTEST)
			ret->rows[ret->count++] = row;
	}
}

/* Lines of a small part of the time would only say where debug information happens to be. */
static void print_lines(const struct tally_profile *profile)
{
	const struct tally_session *session = tally_profile_session(profile);
	struct hottest hottest;
	char line[NAME_ROOM];
	double known;

	find_hottest(profile, &hottest);
	known = hottest.total ? (double)hottest.known / (double)hottest.total * 100 : 0;
	if (known < LINES_LEAST)
		return;
	fputs("\nHottest source lines", stderr);
	if (known < LINES_MOST)
		fprintf(stderr, ", of %.0f %% whose lines are known", known);
	fputc('\n', stderr);
	for (size_t i = 0; i < hottest.count; i++) {
		make_name(tally_session_source(session, (uint32_t)hottest.rows[i].values[0]), 0,
			  line, sizeof(line));
		fprintf(stderr, "%6.2f %%  %s\n",
			(double)hottest.rows[i].self / (double)hottest.total * 100, line);
	}
}

int cli_profile_print_lines(struct tally_session *session, struct tally_error *error)
{
	const char *const keys[] = {"srcline"};
	const struct tally_profile_options options = {
	    .size = sizeof(options), .keys = keys, .key_count = 1};
	struct tally_profile *profile;
	int result = tally_profile_new(session, &options, &profile, error);

	if (result)
		return result;
	print_lines(profile);
	tally_profile_free(profile);
	return 0;
}
