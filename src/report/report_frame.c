#include "report/report_frame.h"

#include <linux/perf_event.h>
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

/* False: it has no name. */
static bool put_name(struct tally_buf *to, const struct tally_frame *frame)
{
	if (frame->symbol)
		put_function(to, frame);
	else if (frame->function)
		put_start(to, frame);
	return frame->symbol || frame->function;
}

void tally_report_symbol(struct tally_buf *to, const struct tally_frame *frame)
{
	char level[] = "[.] ";

	if (frame->level >= ' ' && frame->level < 0x7f)
		level[1] = frame->level;
	tally_buf_add(to, level, 4);
	if (put_name(to, frame))
		return;
	tally_buf_add(to, "0x", 2);
	tally_cell_hex(to, frame->address, 16);
}

void tally_report_frame(struct tally_buf *to, const struct tally_frame *frame)
{
	if (put_name(to, frame))
		return;
	if (frame->image_name && frame->image_name[0] != '[') {
		tally_cell_name(to, frame->image_name);
		tally_buf_byte(to, '+');
	}
	tally_buf_add(to, "0x", 2);
	tally_cell_hex(to, frame->place, 1);
}

/* Counts stand in brackets, with blanks between. */
static void open_count(struct tally_buf *to, bool *open)
{
	tally_buf_text(to, *open ? " " : " (");
	*open = true;
}

/* Source: branch_type_name() of perf's branch.c. */
static void put_types(struct tally_buf *to, const struct tally_branch_counts *counts, bool *open)
{
	static const char names[][12] = {
	    [PERF_BR_UNCOND] = "UNCOND",
	    [PERF_BR_IND] = "IND",
	    [PERF_BR_CALL] = "CALL",
	    [PERF_BR_IND_CALL] = "IND_CALL",
	    [PERF_BR_RET] = "RET",
	    [PERF_BR_SYSCALL] = "SYSCALL",
	    [PERF_BR_SYSRET] = "SYSRET",
	    [PERF_BR_COND_CALL] = "COND_CALL",
	    [PERF_BR_COND_RET] = "COND_RET",
	    [11] = "ERET",
	    [12] = "IRQ",
	    [13] = "SERROR",
	    [14] = "NO_TX",
	    [16] = "FAULT_ALGN",
	    [17] = "FAULT_DATA",
	    [18] = "FAULT_INST",
	    [19] = "ARCH_1",
	    [20] = "ARCH_2",
	    [21] = "ARCH_3",
	    [22] = "ARCH_4",
	    [23] = "ARCH_5",
	};
	const struct {
		bool is;
		const char *name;
	} ways[] = {{counts->forward, "COND_FWD"}, {counts->backward, "COND_BWD"}},
	  areas[] = {{counts->crosses_4k, "CROSS_4K"}, {counts->crosses_2m, "CROSS_2M"}};

	for (size_t i = 0; i < 2; i++)
		if (ways[i].is) {
			open_count(to, open);
			tally_buf_text(to, ways[i].name);
		}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i][0] && counts->types >> i & 1) {
			open_count(to, open);
			tally_buf_text(to, names[i]);
		}
	for (size_t i = 0; i < 2; i++)
		if (areas[i].is) {
			open_count(to, open);
			tally_buf_text(to, areas[i].name);
		}
}

static void put_branches(struct tally_buf *to, const struct tally_branch_counts *counts)
{
	bool open = false;

	if (!counts->to && !counts->from) {
		tally_buf_text(to, " (calltrace)");
		return;
	}
	if (counts->to >= counts->from) {
		put_types(to, counts, &open);
		if (counts->predicted < counts->to) {
			open_count(to, &open);
			tally_buf_printf(to, "predicted:%.1f%%",
					 (double)counts->predicted * 100 / (double)counts->to);
		}
		if (counts->aborts) {
			open_count(to, &open);
			tally_buf_printf(to, "abort:%.1f%%",
					 (double)counts->aborts * 100 / (double)counts->to);
		}
	} else {
		if (counts->cycles / counts->from) {
			open_count(to, &open);
			tally_buf_printf(to, "cycles:%llu",
					 (unsigned long long)(counts->cycles / counts->from));
		}
		if (counts->loops / counts->from) {
			open_count(to, &open);
			tally_buf_printf(to, "iter:%llu avg_cycles:%llu",
					 (unsigned long long)(counts->loops / counts->from),
					 (unsigned long long)(counts->loop_cycles / counts->loops));
		}
	}
	if (open)
		tally_buf_byte(to, ')');
}

void tally_report_node(struct tally_buf *to, const struct tally_tree *tree, uint32_t number)
{
	const struct tally_tree_node *node = &tree->nodes[number];

	tally_report_frame(to, &node->frame);
	if (node->frame.symbol && node->line && *node->line) {
		tally_buf_byte(to, ' ');
		tally_cell_name(to, node->line);
	}
	if (tree->branches)
		put_branches(to, &tree->branches[number]);
}
