/* The findings of a doctor as text: problems with cost and remedy, folded to the terminal's width.
 */
#include <tally/doctor.h>

#include <errno.h>
#include <string.h>
#include "base/option_struct.h"
#include "base/text.h"
#include "base/fold.h"

#define INDENT      2
#define STATE_WIDTH 9 /* "limited  " */
#define LEAST_WIDTH 40

static const char *const headings[TALLY_FINDING_GROUPS] = {
    [TALLY_FINDING_RIGHTS] = "Rights",     [TALLY_FINDING_LIMITS] = "Limits",
    [TALLY_FINDING_KERNEL] = "Kernel",     [TALLY_FINDING_HARDWARE] = "Hardware",
    [TALLY_FINDING_PROGRAMS] = "Programs",
};

static const char *const colours[TALLY_FINDING_STATES] = {
    [TALLY_FINDING_GOOD] = "\033[32m",    [TALLY_FINDING_LIMITED] = "\033[33m",
    [TALLY_FINDING_BLOCKED] = "\033[31m", [TALLY_FINDING_ABSENT] = "\033[36m",
    [TALLY_FINDING_UNKNOWN] = "\033[2m",
};

struct sheet {
	struct tally_buf *to;
	unsigned width;
	bool colour;
};

static void put_colour(const struct sheet *sheet, const char *colour)
{
	if (sheet->colour)
		tally_buf_text(sheet->to, colour);
}

/* Words of `text` from column `at` on, further lines begun at `left`. */
static void fold(const struct sheet *sheet, const char *text, unsigned at, unsigned left)
{
	struct tally_buf escaped = {0};

	tally_text_add_escaped(&escaped, text, strlen(text));
	if (escaped.failed)
		sheet->to->failed = escaped.failed;
	else
		tally_fold(sheet->to, tally_buf_str(&escaped), sheet->width, at, left);
	tally_buf_byte(sheet->to, '\n');
	tally_buf_done(&escaped);
}

static void add_part(const struct sheet *sheet, const char *label, const char *text)
{
	unsigned left = INDENT + STATE_WIDTH + 2;

	if (!text)
		return;
	tally_buf_printf(sheet->to, "%*s", INDENT + STATE_WIDTH, "");
	put_colour(sheet, "\033[2m");
	tally_buf_text(sheet->to, label);
	put_colour(sheet, "\033[0m");
	fold(sheet, text, INDENT + STATE_WIDTH + (unsigned)strlen(label), left);
}

static void add_finding(const struct sheet *sheet, const struct tally_finding *finding)
{
	tally_buf_printf(sheet->to, "%*s", INDENT, "");
	put_colour(sheet, colours[finding->state]);
	tally_buf_printf(sheet->to, "%-*s", STATE_WIDTH, tally_finding_state_name(finding->state));
	put_colour(sheet, "\033[0m");
	fold(sheet, finding->found, INDENT + STATE_WIDTH, INDENT + STATE_WIDTH);
	add_part(sheet, "cost: ", finding->cost);
	add_part(sheet, "lift: ", finding->remedy);
}

/* "Blocked: 1.  Limited: 2." as a sentence. */
static void add_summary(const struct sheet *sheet, const struct tally_doctor *doctor)
{
	size_t blocked = tally_doctor_count(doctor, TALLY_FINDING_BLOCKED);
	size_t limited = tally_doctor_count(doctor, TALLY_FINDING_LIMITED);
	size_t absent = tally_doctor_count(doctor, TALLY_FINDING_ABSENT);

	struct tally_buf text = {0};

	if (blocked)
		tally_buf_printf(&text, "%zu problem%s measuring", blocked,
				 blocked == 1 ? " blocks" : "s block");
	else
		tally_buf_text(&text, "Nothing blocks measuring");
	if (limited)
		tally_buf_printf(&text, ", %zu limit%s what can be measured", limited,
				 limited == 1 ? "s" : "");
	if (absent)
		tally_buf_printf(&text, ", %zu %s missing", absent, absent == 1 ? "is" : "are");
	tally_buf_byte(&text, '.');
	put_colour(sheet, "\033[1m");
	tally_fold(sheet->to, tally_buf_str(&text), sheet->width, 0, 0);
	put_colour(sheet, "\033[0m");
	tally_buf_byte(sheet->to, '\n');
	tally_buf_done(&text);
}

int tally_doctor_text(const struct tally_doctor *doctor,
		      const struct tally_doctor_text_options *options, FILE *to)
{
	struct tally_doctor_text_options use = {.size = sizeof(use)};
	const struct tally_finding *finding;
	struct tally_buf text = {0};
	struct sheet sheet = {.to = &text};
	int group = -1, result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return result;
	sheet.width = !use.width ? 100 : use.width < LEAST_WIDTH ? LEAST_WIDTH : use.width;
	sheet.colour = use.colour;
	add_summary(&sheet, doctor);
	for (size_t i = 0; (finding = tally_doctor_at(doctor, i)); i++) {
		if (!use.all && finding->state == TALLY_FINDING_GOOD)
			continue;
		if ((int)finding->group != group) {
			group = (int)finding->group;
			tally_buf_printf(&text, "\n%s\n", headings[group]);
		}
		add_finding(&sheet, finding);
	}
	return tally_buf_put(&text, to);
}
