/* -D: the fields of a sample. */
#include <inttypes.h>
#include "base/bytes.h"
#include "dump/dump_record.h"

/* The numbered lines of chains and branches. */
static void add_entry(struct tally_buf *buf, uint64_t number, uint64_t address)
{
	tally_buf_text(buf, "..... ");
	buf_dec_right(buf, number, 2);
	tally_buf_text(buf, ": ");
	buf_hex_zeros(buf, address, 16);
	tally_buf_byte(buf, '\n');
}

static void add_count(struct tally_buf *buf, const char *what, uint64_t count)
{
	tally_buf_text(buf, what);
	buf_dec(buf, count);
	tally_buf_byte(buf, '\n');
}

/* A chain whose user part the branch stack has: the kernel's, then the last branch's target, then
 * where each came from. */
static void add_branch_chain(struct tally_buf *buf, const struct tally_sample *sample)
{
	uint64_t kernel = 0;

	while (kernel < sample->callchain_nr && sample->callchain[kernel] != PERF_CONTEXT_USER)
		kernel++;
	if (kernel == sample->callchain_nr || !sample->branch_nr)
		return;
	kernel++;
	add_count(buf, "... LBR call chain: nr:", kernel + sample->branch_nr + 1);
	for (uint64_t i = 0; i < kernel; i++)
		add_entry(buf, i, sample->callchain[i]);
	add_entry(buf, kernel, sample->branches[0].to);
	for (uint64_t i = 0; i < sample->branch_nr; i++)
		add_entry(buf, kernel + 1 + i, sample->branches[i].from);
}

static void add_callchain(struct tally_buf *buf, const struct tally_sample *sample)
{
	add_count(buf, "... FP chain: nr:", sample->callchain_nr);
	for (uint64_t i = 0; i < sample->callchain_nr; i++)
		add_entry(buf, i, sample->callchain[i]);
}

static void add_branches(struct tally_buf *buf, const struct tally_sample *sample)
{
	add_count(buf, "... branch stack: nr:", sample->branch_nr);
	for (uint64_t i = 0; i < sample->branch_nr; i++) {
		uint64_t flags = sample->branches[i].flags;

		tally_buf_text(buf, "..... ");
		buf_dec_right(buf, i, 2);
		tally_buf_text(buf, ": ");
		buf_hex_zeros(buf, sample->branches[i].from, 16);
		tally_buf_text(buf, " -> ");
		buf_hex_zeros(buf, sample->branches[i].to, 16);
		tally_buf_byte(buf, ' ');
		buf_dec(buf, flags >> 4 & 0xffff);
		tally_buf_text(buf, " cycles ");
		tally_buf_byte(buf, flags & 1 ? 'M' : ' ');
		tally_buf_byte(buf, flags & 2 ? 'P' : ' ');
		tally_buf_byte(buf, flags & 8 ? 'A' : ' ');
		tally_buf_byte(buf, flags & 4 ? 'T' : ' ');
		tally_buf_byte(buf, ' ');
		buf_hex(buf, flags >> 33);
		tally_buf_byte(buf, ' ');
		tally_buf_text(buf, tally_script_branch_type(flags));
		tally_buf_byte(buf, '\n');
	}
}

static void add_branch_calls(struct tally_buf *buf, const struct tally_sample *sample)
{
	add_count(buf, "... branch callstack: nr:", sample->branch_nr + 1);
	if (sample->branch_nr)
		add_entry(buf, 0, sample->branches[0].to);
	for (uint64_t i = 0; i < sample->branch_nr; i++)
		add_entry(buf, i + 1, sample->branches[i].from);
}

static void add_regs(struct tally_buf *buf, enum tally_register_arch arch, const char *whose,
		     uint64_t abi, uint64_t mask, const uint64_t *regs)
{
	static const char *const abis[] = {"none", "32-bit", "64-bit"};

	if (!regs || !abi)
		return;
	tally_buf_printf(buf, "... %s regs: mask 0x%" PRIx64 " ABI %s\n", whose, mask,
			 abi < sizeof(abis) / sizeof(abis[0]) ? abis[abi] : "unknown");
	for (; mask; mask &= mask - 1)
		tally_buf_printf(buf, ".... %-5s 0x%016" PRIx64 "\n",
				 tally_script_reg_name(arch, (unsigned)__builtin_ctzll(mask)),
				 *regs++);
}

/* perf prints where the stack's size is, the word before it. */
static void add_stack(struct tally_buf *buf, const struct tally_record *record,
		      const struct tally_sample *sample)
{
	tally_buf_printf(buf, "... ustack: size %" PRIu64 ", offset 0x%zx\n",
			 sample->user_stack_size ? sample->user_stack_dyn_size : 0,
			 (size_t)(sample->user_stack - record->bytes) - 8);
}

static void add_weight(struct tally_buf *buf, const struct tally_sample *sample)
{
	tally_buf_text(buf, "... weight: ");
	buf_dec(buf, tally_script_weight_value(sample));
	if (sample->present & PERF_SAMPLE_WEIGHT_STRUCT)
		tally_buf_printf(buf, ",0x%x,0x%x", tally_script_ins_lat_value(sample),
				 tally_script_retire_lat_value(sample));
	tally_buf_byte(buf, '\n');
}

static void add_read(struct tally_buf *buf, const struct tally_read *read)
{
	bool id = read->read_format & PERF_FORMAT_ID, lost = read->read_format & PERF_FORMAT_LOST;
	bool group = read->read_format & PERF_FORMAT_GROUP;
	const uint64_t *at = read->group;

	tally_buf_text(buf, "... sample_read:\n");
	if (read->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		tally_buf_printf(buf, "...... time enabled %016" PRIx64 "\n", read->time_enabled);
	if (read->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		tally_buf_printf(buf, "...... time running %016" PRIx64 "\n", read->time_running);
	if (group)
		tally_buf_printf(buf, ".... group nr %" PRIu64 "\n", read->nr);
	for (uint64_t i = 0; i < (group ? at ? read->nr : 0 : 1); i++) {
		uint64_t value = group ? load_u64(at++) : read->value;

		tally_buf_printf(buf, "..... id %016" PRIx64 ", value %016" PRIx64,
				 !group ? read->id
				 : id   ? load_u64(at++)
					: 0,
				 value);
		if (lost)
			tally_buf_printf(buf, ", lost %" PRIu64,
					 group ? load_u64(at++) : read->lost);
		tally_buf_byte(buf, '\n');
	}
}

static void add_page_size(struct tally_buf *buf, const char *what, uint64_t bytes)
{
	tally_buf_text(buf, what);
	tally_script_page_size(buf, bytes);
	tally_buf_byte(buf, '\n');
}

static void add_hex(struct tally_buf *buf, const char *what, uint64_t value)
{
	tally_buf_text(buf, what);
	buf_hex(buf, value);
	tally_buf_byte(buf, '\n');
}

static void add_head(struct tally_buf *buf, const struct tally_data_event *event,
		     const struct tally_record *record, const struct tally_sample *sample)
{
	bool task = sample->present & PERF_SAMPLE_TID;

	tally_buf_text(buf, "(IP, 0x");
	buf_hex(buf, record->misc);
	tally_buf_text(buf, "): ");
	buf_int(buf, task ? sample->pid : UINT32_MAX);
	tally_buf_byte(buf, '/');
	buf_int(buf, task ? sample->tid : UINT32_MAX);
	tally_buf_text(buf, ": ");
	buf_0x(buf, sample->ip);
	tally_buf_text(buf, " period: ");
	buf_dec(buf,
		sample->present & PERF_SAMPLE_PERIOD ? sample->period : event->attr.sample_period);
	tally_buf_text(buf, " addr: ");
	buf_0x(buf, sample->addr);
	tally_buf_byte(buf, '\n');
}

void tally_script_dump_sample(struct tally_buf *buf, const struct tally_script_dump *dump,
			      const struct tally_data_event *event,
			      const struct tally_record *record, const struct tally_sample *sample)
{
	uint64_t has = sample->present;
	bool calls = event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;

	add_head(buf, event, record, sample);
	if (has & PERF_SAMPLE_CALLCHAIN) {
		if (calls)
			add_branch_chain(buf, sample);
		add_callchain(buf, sample);
	}
	if (has & PERF_SAMPLE_BRANCH_STACK) {
		if (calls)
			add_branch_calls(buf, sample);
		else
			add_branches(buf, sample);
	}
	add_regs(buf, dump->arch, "user", sample->user_abi, sample->user_regs_mask,
		 sample->user_regs);
	add_regs(buf, dump->arch, "intr", sample->intr_abi, sample->intr_regs_mask,
		 sample->intr_regs);
	if (has & PERF_SAMPLE_STACK_USER)
		add_stack(buf, record, sample);
	if (has & PERF_SAMPLE_WEIGHT_TYPE)
		add_weight(buf, sample);
	if (has & PERF_SAMPLE_DATA_SRC)
		add_hex(buf, " . data_src: 0x", sample->data_src);
	if (has & PERF_SAMPLE_PHYS_ADDR)
		add_hex(buf, " .. phys_addr: 0x", sample->phys_addr);
	if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
		add_page_size(buf, " .. data page size:", sample->data_page_size);
	if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
		add_page_size(buf, " .. code page size:", sample->code_page_size);
	if (has & PERF_SAMPLE_TRANSACTION)
		add_hex(buf, "... transaction: ", sample->transaction);
	if (has & PERF_SAMPLE_READ)
		add_read(buf, &sample->read);
}
