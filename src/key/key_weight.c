/* Keys of what a sample cost: weight, latencies of its instruction, pipeline stages, transaction.
 */
#include <inttypes.h>
#include "dump/value_text.h"
#include "key/key_tables.h"

static uint64_t weight_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	/* A branch counts the cycles since the one before, as in perf. */
	if (row->branch) {
		uint64_t cycles = row->branch->flags >> 4 & 0xffff;

		return cycles ? cycles : 1;
	}
	return tally_script_weight_value(row->sample);
}

static uint64_t ins_lat_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return tally_script_ins_lat_value(row->sample);
}

/* The third part of PERF_SAMPLE_WEIGHT_STRUCT: what it is depends on the processor. */
static uint64_t third_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return tally_script_retire_lat_value(row->sample);
}

static void times_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
		       struct tally_buf *to)
{
	(void)keys;
	tally_buf_printf(to, "%" PRIu64, value * samples);
}

static uint64_t transaction_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->sample->present & PERF_SAMPLE_TRANSACTION ? row->sample->transaction : 0;
}

/* Source of the bits: PERF_TXN_* of perf_event.h; of the words: the output of perf. */
static void transaction_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
			     struct tally_buf *to)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {
	    {PERF_TXN_ELISION, "EL "},
	    {PERF_TXN_TRANSACTION, "TX "},
	    {PERF_TXN_SYNC, "SYNC "},
	    {PERF_TXN_ASYNC, "ASYNC "},
	    {PERF_TXN_RETRY, "RETRY "},
	    {PERF_TXN_CONFLICT, "CON "},
	    {PERF_TXN_CAPACITY_WRITE, "CAP-WRITE "},
	    {PERF_TXN_CAPACITY_READ, "CAP-READ "},
	};

	(void)keys;
	(void)samples;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (value & names[i].bit)
			tally_buf_text(to, names[i].name);
	if (value && !(value & (PERF_TXN_SYNC | PERF_TXN_ASYNC)))
		tally_buf_text(to, "NEITHER ");
	if (value & PERF_TXN_ABORT_MASK)
		tally_buf_printf(
		    to, ":%llx",
		    (unsigned long long)((value & PERF_TXN_ABORT_MASK) >> PERF_TXN_ABORT_SHIFT));
	while (to->size && to->data[to->size - 1] == ' ')
		to->size--;
}

static const struct profile_key rows[] = {
    {.name = "local_weight",
     .title = "Local Weight",
     .help = "weight of a sample, mostly cycles of a memory access",
     .type = KEY_NUMBER,
     .left = true,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = weight_of},
    {.name = "weight",
     .title = "Weight",
     .help = "the same times the number of samples",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = weight_of,
     .text = times_text},
    {.name = "local_ins_lat",
     .title = "Local INSTR Latency",
     .help = "cycles that the sampled instruction took",
     .type = KEY_NUMBER,
     .left = true,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = ins_lat_of},
    {.name = "ins_lat",
     .title = "INSTR Latency",
     .help = "the same times the number of samples",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = ins_lat_of,
     .text = times_text},
    {.name = "local_retire_lat",
     .title = "Local Retirement Latency",
     .help = "cycles from the instruction before to this one's retirement; on x86",
     .type = KEY_NUMBER,
     .left = true,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = third_of},
    {.name = "retire_lat",
     .title = "Retirement Latency",
     .help = "the same times the number of samples",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = third_of,
     .text = times_text},
    {.name = "local_p_stage_cyc",
     .title = "Local Pipeline Stage Cycle",
     .help = "cycles in a stage of the pipeline; on powerpc",
     .type = KEY_NUMBER,
     .left = true,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = third_of},
    {.name = "p_stage_cyc",
     .title = "Pipeline Stage Cycle",
     .help = "the same times the number of samples",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = third_of,
     .text = times_text},
    {.name = "transaction",
     .title = "Transaction",
     .help = "state of the memory transaction that the sample is in, and why it was aborted",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = transaction_of,
     .text = transaction_text},
};
const struct key_table tally_keys_weight = KEY_TABLE(rows);
