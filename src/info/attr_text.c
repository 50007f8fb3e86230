/* Source of order and spelling: the output of perf 6.1; newer members come last, with the kernel's
 * names. */
#include "info/attr_text.h"

#include <stdbool.h>
#include "abi/constant_names.h"
#include "base/digits.h"

/* perf's order, which is not that of the bits. It does not print TRANSACTION (17). */
static const uint8_t sample_order[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
				       12, 13, 16, 18, 15, 14, 19, 20, 21, 22, 23, 24};

static void add_bit(struct tally_buf *to, const struct tally_abi_table *table, uint64_t value,
		    unsigned bit, bool *first)
{
	const char *name = value >> bit & 1 ? tally_abi_name(table, bit) : NULL;

	if (!name)
		return;
	if (!*first)
		tally_buf_byte(to, '|');
	*first = false;
	tally_buf_text(to, name);
}

void tally_sample_type_text(struct tally_buf *to, uint64_t sample_type)
{
	bool first = true;

	for (size_t i = 0; i < sizeof(sample_order); i++)
		add_bit(to, &tally_abi_sample_bits, sample_type, sample_order[i], &first);
}

static void add_bits(struct tally_buf *to, const struct tally_abi_table *table, uint64_t value)
{
	bool first = true;

	for (unsigned bit = 0; bit < 64; bit++)
		add_bit(to, table, value, bit, &first);
}

enum form { DECIMAL, SIGNED, HEX, SAMPLE_TYPE, READ_FORMAT, BRANCH_TYPE };

struct visiting {
	struct tally_buf text;
	tally_attr_visit visit;
	void *context;
};

static void tell(struct visiting *visiting, const char *name, enum form form, uint64_t value)
{
	struct tally_buf *text = &visiting->text;

	if (!value)
		return;
	tally_buf_clear(text);
	switch (form) {
	case DECIMAL:
		buf_dec(text, value);
		break;
	case SIGNED:
		if ((int64_t)value < 0)
			tally_buf_byte(text, '-');
		buf_dec(text, (int64_t)value < 0 ? 0 - value : value);
		break;
	case HEX:
		buf_0x(text, value);
		break;
	case SAMPLE_TYPE:
		tally_sample_type_text(text, value);
		break;
	case READ_FORMAT:
		add_bits(text, &tally_abi_read_format_bits, value);
		break;
	case BRANCH_TYPE:
		add_bits(text, &tally_abi_branch_bits, value);
		break;
	}
	visiting->visit(visiting->context, name, tally_buf_str(text));
}

/* Flags in the order of their bits; precise_ip is a number among them. */
static void put_flags(struct visiting *visiting, const struct tally_attr *attr)
{
	const struct tally_abi_table *flags = &tally_abi_attr_flags;
	bool precise_printed = false;

	for (size_t i = 0; i < flags->count; i++) {
		uint32_t bit = flags->names[i].number;

		if (bit > 15 && !precise_printed) {
			tell(visiting, "precise_ip", DECIMAL, attr->precise_ip);
			precise_printed = true;
		}
		tell(visiting, flags->names[i].name, DECIMAL, attr->flags >> bit & 1);
	}
}

void tally_attr_each(const struct tally_attr *attr, tally_attr_visit visit, void *context)
{
	struct visiting visiting = {.visit = visit, .context = context};
	struct visiting *to = &visiting;

	tell(to, "type", DECIMAL, attr->type);
	tell(to, "size", DECIMAL, attr->size);
	tell(to, "config", HEX, attr->config);
	tell(to, "{ sample_period, sample_freq }", DECIMAL, attr->sample_period);
	tell(to, "sample_type", SAMPLE_TYPE, attr->sample_type);
	tell(to, "read_format", READ_FORMAT, attr->read_format);
	put_flags(to, attr);
	tell(to, "{ wakeup_events, wakeup_watermark }", DECIMAL, attr->wakeup_events);
	tell(to, "bp_type", DECIMAL, attr->bp_type);
	tell(to, "{ bp_addr, config1 }", HEX, attr->bp_addr);
	tell(to, "{ bp_len, config2 }", HEX, attr->bp_len);
	tell(to, "branch_sample_type", BRANCH_TYPE, attr->branch_sample_type);
	tell(to, "sample_regs_user", HEX, attr->sample_regs_user);
	tell(to, "sample_stack_user", DECIMAL, attr->sample_stack_user);
	tell(to, "clockid", SIGNED, (uint64_t)(int64_t)attr->clockid);
	tell(to, "sample_regs_intr", HEX, attr->sample_regs_intr);
	tell(to, "aux_watermark", DECIMAL, attr->aux_watermark);
	tell(to, "sample_max_stack", DECIMAL, attr->sample_max_stack);
	tell(to, "aux_sample_size", DECIMAL, attr->aux_sample_size);
	tell(to, "sig_data", DECIMAL, attr->sig_data);
	tell(to, "aux_start_paused", DECIMAL, attr->aux_start_paused);
	tell(to, "aux_pause", DECIMAL, attr->aux_pause);
	tell(to, "aux_resume", DECIMAL, attr->aux_resume);
	tell(to, "config3", HEX, attr->config3);
	tell(to, "config4", HEX, attr->config4);
	tally_buf_done(&visiting.text);
}
