#include "page/page_difference.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/cell.h"
#include "base/table.h"
#include "diff/diff_state.h"
#include "page/page_facts.h"
#include "report/report_frame.h"

#define NS          1e9
#define PARTS       1e9 /* of a probability: columns have whole numbers */
#define NAMED_MOST  3U
#define SHARE_EQUAL 0.0005

int tally_page_difference_names(struct page_tables *tables, const struct tally_diff *diff)
{
	for (size_t event = 0; event < diff->event_count; event++)
		for (size_t i = 0; i < diff->events[event].count; i++) {
			const struct diff_side *old = &diff->events[event].rows[i].sides[0];
			const struct diff_side *new = &diff->events[event].rows[i].sides[1];
			int64_t image, before, now;
			uint64_t *place;
			bool added;

			if (new->status != TALLY_DIFF_RENAMED)
				continue;
			image = tally_page_string(tables, new->row.frame.image_name);
			before = tally_page_frame_name(tables, &old->row.frame);
			now = tally_page_frame_name(tables, &new->row.frame);
			if (image < 0 || before < 0 || now < 0)
				return -ENOMEM;
			place = tally_map_put(&tables->renamed,
					      page_two((uint32_t)image, (uint32_t)now), &added);
			if (!place)
				return -ENOMEM;
			*place = (uint64_t)before;
		}
	return 0;
}

/* The page's function of a row; PAGE_NONE: it has no sample in the page. */
static int64_t function_of(struct page_tables *tables, const struct diff_row *row)
{
	const struct diff_side *side = &row->sides[!row->sides[0].present];
	int64_t name = tally_page_frame_name(tables, &side->row.frame);
	int64_t image = tally_page_string(tables, side->row.frame.image_name);
	const uint64_t *number;

	if (name < 0 || image < 0)
		return -ENOMEM;
	number = tally_map_find(&tables->known_images, (uint64_t)image);
	return number && *number
		   ? tally_page_function_find(tables, (uint32_t)name, (uint32_t)*number - 1,
					      side->row.frame.inlined)
		   : PAGE_NONE;
}

static int add_row(struct page_tables *tables, uint32_t event, const struct diff_row *row)
{
	const struct diff_side *side = &row->sides[1];
	int64_t function = function_of(tables, row);
	int64_t name = tally_page_string(tables, side->name ? side->name : "");
	uint32_t room = array_room(tables->difference_room, tables->difference_count + 1, 256);

	if (function == PAGE_NONE)
		return 0;
	if (function < 0 || name < 0 ||
	    (room != tables->difference_room &&
	     !array_resize(&tables->differences, room, sizeof(*tables->differences))))
		return -ENOMEM;
	tables->difference_room = room;
	tables->differences[tables->difference_count++] = (struct page_difference){
	    .event = event,
	    .function = (uint32_t)function,
	    .status = (uint8_t)side->status,
	    .significant = side->significant,
	    .p = (uint32_t)(fmin(1, fmax(0, side->p)) * PARTS),
	    .name = (uint32_t)name,
	};
	return 0;
}

int tally_page_difference_rows(struct page_tables *tables, const struct tally_diff *diff,
			       const struct page_source *sources)
{
	int result = 0;

	for (size_t event = 0; event < diff->event_count; event++)
		for (size_t i = 0; i < diff->events[event].count && !result; i++)
			result =
			    add_row(tables, sources[0].events[event], &diff->events[event].rows[i]);
	return result;
}

/* --- the sentence --- */

/* How much there is of an event in both recordings. */
static void put_totals(const struct page_facts *facts, uint32_t event, struct tally_buf *to)
{
	const struct page_tables *tables = facts->tables;
	const struct diff_event *of = &facts->diff->events[event];
	const struct page_event *named = &tables->events[facts->sources[0].events[event]];
	double before = (double)tally_diff_facts(facts->diff, of, 0).total;
	double now = (double)tally_diff_facts(facts->diff, of, 1).total;
	bool time = !strcmp(tables->strings.text[named->unit], "ns");

	tally_buf_text(to, "The second recording has ");
	tally_page_put_amount(to, now, time);
	tally_buf_text(to, " of ");
	tally_cell_name(to, tables->strings.text[named->name]);
	tally_buf_text(to, ", the first ");
	tally_page_put_amount(to, before, time);
	if (before > 0 && fabs(now / before - 1) < SHARE_EQUAL)
		tally_buf_text(to, ": as much");
	else if (before > 0 && now < before * 10)
		tally_buf_printf(to, ": %.1f %% %s", fabs(now / before - 1) * 100,
				 now > before ? "more" : "less");
	tally_buf_text(to, ". ");
}

static void put_change(const struct diff_row *row, double before, double now, struct tally_buf *to)
{
	const struct diff_side *new = &row->sides[1];
	const struct tally_frame *frame = &row->sides[!row->sides[0].present].row.frame;
	double change = (now > 0 ? (double)new->row.self / now : 0) -
			(before > 0 ? (double)row->sides[0].row.self / before : 0);
	struct tally_buf name = {0};

	tally_report_frame(&name, frame);
	tally_cell_name(to, tally_buf_str(&name));
	to->failed |= name.failed;
	tally_buf_done(&name);
	if (new->status == TALLY_DIFF_NEW)
		tally_buf_text(to, " (new, ");
	else if (new->status == TALLY_DIFF_GONE)
		tally_buf_text(to, " (gone, ");
	else
		tally_buf_text(to, " (");
	tally_buf_printf(to, "%+.2f points)", change * 100);
}

/* Rows are sorted by their change. */
static void put_changes(const struct page_facts *facts, uint32_t event, struct tally_buf *to)
{
	const struct diff_event *of = &facts->diff->events[event];
	double before = (double)tally_diff_facts(facts->diff, of, 0).total;
	double now = (double)tally_diff_facts(facts->diff, of, 1).total;
	size_t count = 0, shown = 0;

	for (size_t i = 0; i < of->count; i++)
		count += of->rows[i].sides[1].significant;
	if (!count) {
		tally_buf_text(to, "No function changed by more than chance and noise explain.");
		return;
	}
	tally_buf_text(to, "More than chance and noise explain: ");
	for (size_t i = 0; i < of->count && shown < NAMED_MOST; i++) {
		if (!of->rows[i].sides[1].significant)
			continue;
		tally_buf_text(to, shown++ ? ", " : "");
		put_change(&of->rows[i], before, now, to);
	}
	if (count > shown)
		tally_buf_printf(to, ", and %zu more", count - shown);
	tally_buf_byte(to, '.');
}

int tally_page_difference_sentence(const struct page_facts *facts, struct tally_buf *to)
{
	const struct page_tables *tables = facts->tables;
	uint32_t best = PAGE_NONE;

	/* The event that the page shows first. */
	for (uint32_t i = 0; i < facts->diff->event_count; i++) {
		const struct page_event *event = &tables->events[facts->sources[0].events[i]];

		if (event->samples &&
		    (best == PAGE_NONE ||
		     event->kind < tables->events[facts->sources[0].events[best]].kind))
			best = i;
	}
	if (best == PAGE_NONE) {
		tally_buf_text(to, "There are no samples in either recording.");
		return to->failed;
	}
	put_totals(facts, best, to);
	put_changes(facts, best, to);
	return to->failed;
}
