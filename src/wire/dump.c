#include "wire/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "abi/constant_names.h"
#include "base/bytes.h"
#include "base/text.h"
#include "wire/show.h"
#include "wire/walk.h"

/* Members that are addresses, masks or bits are hexadecimal. */
static bool is_hex(const char *name)
{
	static const char names[][16] = {
	    "ip",        "addr",         "len",         "pgoff",     "prot",       "flags",
	    "weight",    "data_src",     "transaction", "phys_addr", "callchain",  "ips",
	    "priv",      "trace_offset", "reference",   "hw_id",     "aux_offset", "aux_size",
	    "time_mask", "user_regs",    "intr_regs",   "from",      "to",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The name of an opened struct stands before the fields in it; each element of a list has its own
 * line: "threads: pid=1 comm="init"", or the list is one line of numbers: "cpus: 0 1". */
struct text_show {
	struct tally_buf *to;
	char prefix[64];
	size_t size, sizes[4]; /* lengths of the prefix, now and before each open() */
	unsigned depth;
	bool in_element, has_numbers;
};

static void begin(struct text_show *text, const char *name)
{
	if (text->in_element)
		tally_buf_byte(text->to, ' ');
	else
		tally_buf_add(text->to, text->prefix, text->size);
	tally_buf_text(text->to, name);
	tally_buf_byte(text->to, '=');
}

static void end(struct text_show *text)
{
	if (!text->in_element)
		tally_buf_byte(text->to, '\n');
}

static void add_value(struct tally_buf *to, const char *name, uint64_t value)
{
	if (is_hex(name))
		tally_buf_printf(to, "%#" PRIx64, value);
	else
		tally_buf_printf(to, "%" PRIu64, value);
}

static void add_number(void *to, const char *name, uint64_t value)
{
	struct text_show *text = to;

	begin(text, name);
	add_value(text->to, name, value);
	end(text);
}

static void add_text(void *to, const char *name, const char *chars, size_t length)
{
	struct text_show *text = to;

	begin(text, name);
	tally_buf_byte(text->to, '"');
	if (chars)
		tally_text_add_escaped(text->to, chars, length);
	tally_buf_byte(text->to, '"');
	end(text);
}

/* name=COUNT:hex digits */
static void add_bytes(void *to, const char *name, const uint8_t *bytes, uint64_t size)
{
	struct text_show *text = to;

	begin(text, name);
	tally_buf_printf(text->to, "%" PRIu64 ":", size);
	for (uint64_t i = 0; bytes && i < size; i++)
		tally_buf_printf(text->to, "%02x", bytes[i]);
	end(text);
}

/* name=COUNT: a b c, or a,b c,d where an element has several words */
static void add_words(void *to, const char *name, const void *words, uint64_t count, size_t each)
{
	struct text_show *text = to;
	const uint8_t *at = words;

	begin(text, name);
	tally_buf_printf(text->to, "%" PRIu64 ":", count);
	for (uint64_t i = 0; at && i < count * each; i++, at += 8) {
		tally_buf_byte(text->to, i % each ? ',' : ' ');
		add_value(text->to, name, load_u64(at));
	}
	end(text);
}

static void add_attr(void *to, const char *name, const struct tally_attr *attr)
{
	struct text_show *text = to;

	(void)name;
	tally_attr_dump(attr, text->to);
}

static void open_fields(void *to, const char *name, bool list)
{
	struct text_show *text = to;
	size_t room = sizeof(text->prefix) - text->size;

	text->sizes[text->depth++] = text->size;
	if (name) {
		int length =
		    snprintf(text->prefix + text->size, room, "%s%s", name, list ? ":" : ".");

		text->size += (size_t)length < room ? (size_t)length : room - 1;
	} else {
		tally_buf_add(text->to, text->prefix, text->size);
		text->in_element = true;
	}
}

static void close_fields(void *to, bool list)
{
	struct text_show *text = to;

	if (text->in_element || (list && text->has_numbers))
		tally_buf_byte(text->to, '\n');
	text->in_element = text->has_numbers = false;
	text->size = text->sizes[--text->depth];
}

static void add_element(void *to, int64_t value)
{
	struct text_show *text = to;

	if (!text->has_numbers)
		tally_buf_add(text->to, text->prefix, text->size);
	text->has_numbers = true;
	tally_buf_printf(text->to, " %" PRId64, value);
}

/* name=A|B|0x400: bits by name, those without one as a number */
static void add_bits(struct tally_buf *to, const char *name, uint64_t bits,
		     const struct tally_abi_table *table)
{
	const char *between = "";

	tally_buf_printf(to, "%s=", name);
	for (size_t i = 0; i < table->count; i++) {
		uint64_t bit = 1ULL << table->names[i].number;

		if (!(bits & bit))
			continue;
		tally_buf_printf(to, "%s%s", between, table->names[i].name);
		between = "|";
		bits &= ~bit;
	}
	if (bits || !*between)
		tally_buf_printf(to, "%s%#" PRIx64, between, bits);
	tally_buf_byte(to, '\n');
}

static void add_misc(struct tally_buf *to, uint32_t type, uint16_t misc)
{
	const char *mode =
	    tally_abi_name(&tally_abi_cpumodes, misc & PERF_RECORD_MISC_CPUMODE_MASK);

	tally_buf_printf(to, "misc=%#x", misc);
	if (mode && (misc & PERF_RECORD_MISC_CPUMODE_MASK))
		tally_buf_printf(to, " %s", mode);
	for (unsigned bit = 12; bit < 16; bit++) {
		const char *name = misc >> bit & 1 ? tally_abi_misc_name(type, bit) : NULL;

		if (name)
			tally_buf_printf(to, " %s", name);
	}
	tally_buf_byte(to, '\n');
}

int tally_body_dump(const struct tally_layout *layout, const struct tally_body *body,
		    struct tally_buf *to)
{
	struct text_show text = {.to = to};
	const struct wire_show show = {
	    .number = add_number,
	    .text = add_text,
	    .bytes = add_bytes,
	    .words = add_words,
	    .attr = add_attr,
	    .open = open_fields,
	    .close = close_fields,
	    .element = add_element,
	    .to = &text,
	    .misc = body->misc,
	};
	const char *type = tally_record_type_name(body->type);

	if (type)
		tally_buf_printf(to, "%s\n", type);
	else
		tally_buf_printf(to, "type %u\n", body->type);
	add_misc(to, body->type, body->misc);
	tally_wire_show(&show, tally_wire_rows(body->type),
			layout->sample_type & body->sample.present, &body->sample);
	if (body->type == PERF_RECORD_SAMPLE || !body->id.present)
		return to->failed;
	open_fields(&text, "sample_id", false);
	tally_wire_show(&show, tally_wire_trailer_rows, body->id.present, &body->id);
	close_fields(&text, false);
	return to->failed;
}

int tally_record_dump(const struct tally_layout *layout, const struct tally_record *record,
		      char **ret, struct tally_error *error)
{
	struct tally_buf text = {0};
	struct tally_body body = {.size = sizeof(body)};
	int failed = tally_record_decode(layout, record, &body, error);

	if (failed)
		return failed;
	tally_body_dump(layout, &body, &text);
	tally_buf_str(&text);
	if (text.failed) {
		tally_buf_done(&text);
		return -ENOMEM;
	}
	*ret = (char *)text.data;
	return 0;
}

int tally_attr_dump(const struct tally_attr *attr, struct tally_buf *to)
{
#define NUMBER(member)    \
	if (attr->member) \
	tally_buf_printf(to, #member "=%#" PRIx64 "\n", (uint64_t)attr->member)
#define BITS(member, table) \
	if (attr->member)   \
	add_bits(to, #member, attr->member, &table)
	const char *type = tally_abi_name(&tally_abi_event_types, attr->type);

	if (type)
		tally_buf_printf(to, "type=%s\n", type);
	else
		tally_buf_printf(to, "type=%u\n", attr->type);
	tally_buf_printf(to, "size=%u\n", attr->size);
	NUMBER(config);
	if (attr->sample_period)
		tally_buf_printf(to, "%s=%" PRIu64 "\n",
				 attr->freq ? "sample_freq" : "sample_period", attr->sample_period);
	BITS(sample_type, tally_abi_sample_bits);
	BITS(read_format, tally_abi_read_format_bits);
	if (attr->precise_ip)
		tally_buf_printf(to, "precise_ip=%u\n", (unsigned)attr->precise_ip);
	if (attr->flags & ~(3ULL << 15))
		add_bits(to, "flags", attr->flags & ~(3ULL << 15), &tally_abi_attr_flags);
	if (attr->wakeup_events)
		tally_buf_printf(to, "%s=%u\n",
				 attr->watermark ? "wakeup_watermark" : "wakeup_events",
				 attr->wakeup_events);
	NUMBER(bp_type);
	NUMBER(config1);
	NUMBER(config2);
	BITS(branch_sample_type, tally_abi_branch_bits);
	NUMBER(sample_regs_user);
	NUMBER(sample_stack_user);
	if (attr->use_clockid || attr->clockid)
		tally_buf_printf(to, "clockid=%d\n", attr->clockid);
	NUMBER(sample_regs_intr);
	NUMBER(aux_watermark);
	NUMBER(sample_max_stack);
	NUMBER(reserved_2);
	NUMBER(aux_sample_size);
	BITS(aux_action, tally_abi_aux_actions);
	NUMBER(sig_data);
	NUMBER(config3);
	NUMBER(config4);
#undef NUMBER
#undef BITS
	return to->failed;
}
