/* Keys of a branch of a sample's branch stack.  Source of the bits: struct perf_branch_entry. */
#include "key/key_tables.h"
#include "resolve/locate.h"
#include "session/batch_sample.h"
#include "session/numbers.h"

#define MISPREDICTED (1U << 0)
#define PREDICTED    (1U << 1)
#define TRANSACTION  (1U << 2)
#define ABORTED      (1U << 3)
#define CYCLES_SHIFT 4
#define CYCLES_MASK  0xffffU

static uint32_t frame_at(const struct key_row *row, uint64_t addr)
{
	return tally_batch_frame(row->batch, row->at, PERF_RECORD_MISC_CPUMODE_UNKNOWN, addr);
}

static uint64_t image_at(const struct profile_keys *keys, const struct key_row *row, uint64_t addr)
{
	uint32_t frame = frame_at(row, addr);

	return frame ? tally_key_image_text(keys, frame) : KEY_UNKNOWN;
}

static uint64_t line_at(const struct key_row *row, uint64_t addr)
{
	struct source_numbers numbers = {0};

	tally_batch_source(row->batch, row->at, PERF_RECORD_MISC_CPUMODE_UNKNOWN, addr, &numbers);
	return numbers.line;
}

static uint64_t dso_from_of(const struct profile_keys *keys, const struct key_row *row)
{
	return row->branch ? image_at(keys, row, row->branch->from) : KEY_UNKNOWN;
}

static uint64_t dso_to_of(const struct profile_keys *keys, const struct key_row *row)
{
	return row->branch ? image_at(keys, row, row->branch->to) : KEY_UNKNOWN;
}

static uint64_t symbol_from_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->branch ? frame_at(row, row->branch->from) : KEY_UNKNOWN;
}

static uint64_t symbol_to_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->branch ? frame_at(row, row->branch->to) : KEY_UNKNOWN;
}

/* An address as the symbol that it is in and the offset in that; without a symbol it is the place
 * in the binary, as in perf. */
static uint64_t address_text(const struct profile_keys *keys, const struct key_row *row,
			     uint64_t addr)
{
	struct tally_location location = {.level = '.'};
	struct tally_buf text = {0};
	uint64_t number = KEY_UNKNOWN;

	if (tally_batch_location(row->batch, row->at, PERF_RECORD_MISC_CPUMODE_UNKNOWN, addr,
				 &location))
		return KEY_UNKNOWN;
	tally_buf_printf(&text, "[%c] ", location.mapped ? location.level : 'H');
	if (!location.symbol)
		tally_buf_printf(&text, "0x%016llx",
				 (unsigned long long)(location.mapped ? location.place : addr));
	else
		tally_buf_text(&text, location.symbol);
	if (location.symbol && location.place != location.symbol_start)
		tally_buf_printf(&text, "+0x%llx",
				 (unsigned long long)(location.place - location.symbol_start));
	/* Behind the text that is shown: equal places of two binaries are two rows. */
	tally_buf_byte(&text, '\0');
	tally_buf_text(&text, location.mapped && location.image_path ? location.image_path : "");
	if (!text.failed)
		number = tally_key_texts_put(keys->texts, (const char *)text.data, text.size);
	tally_buf_done(&text);
	return number;
}

static uint64_t addr_from_of(const struct profile_keys *keys, const struct key_row *row)
{
	return row->branch ? address_text(keys, row, row->branch->from) : KEY_UNKNOWN;
}

static uint64_t addr_to_of(const struct profile_keys *keys, const struct key_row *row)
{
	return row->branch ? address_text(keys, row, row->branch->to) : KEY_UNKNOWN;
}

static uint64_t line_from_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->branch ? line_at(row, row->branch->from) : 0;
}

static uint64_t line_to_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->branch ? line_at(row, row->branch->to) : 0;
}

static uint64_t flags_of(const struct key_row *row, uint64_t mask)
{
	return row->branch ? row->branch->flags & mask : KEY_UNKNOWN;
}

static uint64_t mispredict_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return flags_of(row, MISPREDICTED | PREDICTED);
}

static void mispredict_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
			    struct tally_buf *to)
{
	(void)keys;
	(void)samples;
	tally_buf_text(to, value == KEY_UNKNOWN   ? "N/A"
			   : value & PREDICTED    ? "N"
			   : value & MISPREDICTED ? "Y"
						  : "N/A");
}

static uint64_t in_tx_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return flags_of(row, TRANSACTION);
}

static void in_tx_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
		       struct tally_buf *to)
{
	(void)keys;
	(void)samples;
	tally_buf_text(to, value == KEY_UNKNOWN ? "N/A" : value ? "T" : ".");
}

static uint64_t abort_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return flags_of(row, ABORTED);
}

static void abort_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
		       struct tally_buf *to)
{
	(void)keys;
	(void)samples;
	tally_buf_text(to, value == KEY_UNKNOWN ? "N/A" : value ? "A" : ".");
}

static uint64_t cycles_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->branch ? row->branch->flags >> CYCLES_SHIFT & CYCLES_MASK : KEY_UNKNOWN;
}

static void cycles_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
			struct tally_buf *to)
{
	(void)keys;
	(void)samples;
	if (value == KEY_UNKNOWN)
		tally_buf_text(to, "N/A");
	else if (!value)
		tally_buf_byte(to, '-');
	else
		tally_buf_printf(to, "%llu", (unsigned long long)value);
}

#define BRANCH_ROW(key, head, says, made, how, shown)                                      \
	{                                                                                  \
		.name = key, .title = head, .help = says, .type = made,                    \
		.needs = KEY_NEEDS_BRANCHES, .columns = TALLY_COLUMN_SAMPLE, .value = how, \
		.text = shown                                                              \
	}

static const struct profile_key rows[] = {
    BRANCH_ROW("dso_from", "Source Shared Object", "binary that a branch came from", KEY_TEXT,
	       dso_from_of, NULL),
    BRANCH_ROW("dso_to", "Target Shared Object", "binary that a branch went to", KEY_TEXT,
	       dso_to_of, NULL),
    BRANCH_ROW("symbol_from", "Source Symbol", "function that a branch came from", KEY_FRAME,
	       symbol_from_of, NULL),
    BRANCH_ROW("symbol_to", "Target Symbol", "function that a branch went to", KEY_FRAME,
	       symbol_to_of, NULL),
    BRANCH_ROW("mispredict", "Branch Mispredicted", "Y: the branch was predicted wrongly", KEY_CODE,
	       mispredict_of, mispredict_text),
    BRANCH_ROW("in_tx", "Branch in transaction", "T: in a memory transaction", KEY_CODE, in_tx_of,
	       in_tx_text),
    BRANCH_ROW("abort", "Transaction abort", "A: the branch aborted its transaction", KEY_CODE,
	       abort_of, abort_text),
    BRANCH_ROW("cycles", "Basic Block Cycles", "cycles since the branch before", KEY_CODE,
	       cycles_of, cycles_text),
    BRANCH_ROW("srcline_from", "From Source:Line", "source line that a branch came from",
	       KEY_SOURCE, line_from_of, NULL),
    BRANCH_ROW("srcline_to", "To Source:Line", "source line that a branch went to", KEY_SOURCE,
	       line_to_of, NULL),
    BRANCH_ROW("addr_from", "Source Address", "address that a branch came from", KEY_TEXT,
	       addr_from_of, NULL),
    BRANCH_ROW("addr_to", "Target Address", "address that a branch went to", KEY_TEXT, addr_to_of,
	       NULL),
};
const struct key_table tally_keys_branch = KEY_TABLE(rows);
