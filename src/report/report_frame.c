#include "report/report_frame.h"

#include "base/cell.h"

static void put_function(struct tally_buf *to, const struct tally_frame *frame)
{
	tally_cell_name(to, frame->symbol);
	if (frame->inlined)
		tally_buf_add(to, " (inlined)", 10);
}

/* A function without a symbol: its binary, and its start in that. */
static void put_start(struct tally_buf *to, const struct tally_frame *frame)
{
	tally_cell_name(to, frame->image_name);
	tally_buf_text(to, "+0x");
	tally_cell_hex(to, frame->address, 1);
}

void tally_report_symbol(struct tally_buf *to, const struct tally_frame *frame)
{
	char level[] = "[.] ";

	if (frame->level >= ' ' && frame->level < 0x7f)
		level[1] = frame->level;
	tally_buf_add(to, level, 4);
	if (frame->symbol) {
		put_function(to, frame);
		return;
	}
	if (frame->function) {
		put_start(to, frame);
		return;
	}
	tally_buf_add(to, "0x", 2);
	tally_cell_hex(to, frame->place, 16);
}

void tally_report_frame(struct tally_buf *to, const struct tally_frame *frame)
{
	if (frame->symbol) {
		put_function(to, frame);
		return;
	}
	if (frame->function) {
		put_start(to, frame);
		return;
	}
	if (frame->image_name && frame->image_name[0] != '[') {
		tally_cell_name(to, frame->image_name);
		tally_buf_byte(to, '+');
	}
	tally_buf_add(to, "0x", 2);
	tally_cell_hex(to, frame->place, 1);
}
