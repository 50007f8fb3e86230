#include "wire/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "abi/constant_names.h"
#include "base/bytes.h"
#include "base/text.h"
#include "wire/walk.h"

/* Members that are addresses, masks or bits are told in hexadecimal. */
static bool is_hex(const char *name)
{
	static const char *const names[] = {
	    "ip",        "addr",         "len",         "pgoff",     "prot",       "flags",
	    "weight",    "data_src",     "transaction", "phys_addr", "callchain",  "ips",
	    "priv",      "trace_offset", "reference",   "hw_id",     "aux_offset", "aux_size",
	    "time_mask", "user_regs",    "intr_regs",   "old_bytes", "new_bytes",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void add_number(struct tally_buf *to, const char *name, uint64_t value)
{
	if (is_hex(name))
		tally_buf_printf(to, "%s=%#" PRIx64 "\n", name, value);
	else
		tally_buf_printf(to, "%s=%" PRIu64 "\n", name, value);
}

static void add_text(struct tally_buf *to, const char *name, const char *text, size_t length)
{
	tally_buf_printf(to, "%s=\"", name);
	if (text)
		tally_text_add_escaped(to, text, length);
	tally_buf_text(to, "\"\n");
}

/* name=COUNT:hex digits */
static void add_bytes(struct tally_buf *to, const char *name, const uint8_t *bytes, uint64_t size)
{
	tally_buf_printf(to, "%s=%" PRIu64 ":", name, size);
	for (uint64_t i = 0; bytes && i < size; i++)
		tally_buf_printf(to, "%02x", bytes[i]);
	tally_buf_byte(to, '\n');
}

/* name=COUNT: a b c, or a,b c,d where an element has several words */
static void add_words(struct tally_buf *to, const char *name, const void *words, uint64_t count,
		      size_t each)
{
	const uint8_t *at = words;
	bool hex = is_hex(name);

	tally_buf_printf(to, "%s=%" PRIu64 ":", name, count);
	for (uint64_t i = 0; at && i < count * each; i++, at += 8) {
		tally_buf_byte(to, i % each ? ',' : ' ');
		if (hex)
			tally_buf_printf(to, "%#" PRIx64, load_u64(at));
		else
			tally_buf_printf(to, "%" PRIu64, load_u64(at));
	}
	tally_buf_byte(to, '\n');
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

static void add_read(struct tally_buf *to, const struct tally_read *read)
{
	uint64_t format = read->read_format;
	size_t words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		add_number(to, "time_enabled", read->time_enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		add_number(to, "time_running", read->time_running);
	if (format & PERF_FORMAT_GROUP) {
		add_words(to, "group", read->group, read->nr, words);
		return;
	}
	add_number(to, "value", read->value);
	if (format & PERF_FORMAT_ID)
		add_number(to, "read_id", read->id);
	if (format & PERF_FORMAT_LOST)
		add_number(to, "read_lost", read->lost);
}

static void add_branches(struct tally_buf *to, const struct tally_sample *sample)
{
	if (sample->branch_flags_present & PERF_SAMPLE_BRANCH_HW_INDEX)
		add_number(to, "branch_hw_idx", sample->branch_hw_idx);
	tally_buf_printf(to, "branches=%" PRIu64 ":", sample->branch_nr);
	for (uint64_t i = 0; i < sample->branch_nr; i++)
		tally_buf_printf(to, " %#" PRIx64 "->%#" PRIx64 "/%#" PRIx64,
				 sample->branches[i].from, sample->branches[i].to,
				 sample->branches[i].flags);
	tally_buf_byte(to, '\n');
	if (sample->branch_flags_present & PERF_SAMPLE_BRANCH_COUNTERS)
		add_words(to, "branch_counters", sample->branch_counters, sample->branch_nr, 1);
}

static void add_regs(struct tally_buf *to, const char *abi_name, const char *name, uint64_t abi,
		     uint64_t mask, const uint64_t *words)
{
	add_number(to, abi_name, abi);
	if (abi)
		add_words(to, name, words, (uint64_t)__builtin_popcountll(mask), 1);
}

static void add_cpu_map(struct tally_buf *to, const struct tally_record_cpu_map *map)
{
	size_t width = map->type == 0 ? 2 : map->long_size;

	if (map->type == 2) {
		tally_buf_printf(to, "any_cpu=%d\nstart_cpu=%u\nend_cpu=%u\n", map->any_cpu,
				 map->start_cpu, map->end_cpu);
		return;
	}
	tally_buf_printf(to, "%s=%u:", map->type == 0 ? "cpus" : "mask", map->nr);
	for (size_t i = 0; map->data && i < map->nr; i++) {
		const uint8_t *at = map->data + i * width;

		if (width == 2)
			tally_buf_printf(to, " %u", load_u16(at));
		else
			tally_buf_printf(to, " %#" PRIx64,
					 width == 4 ? load_u32(at) : load_u64(at));
	}
	tally_buf_byte(to, '\n');
}

/* Elements of a u64 and a text, or of two texts. */
static void add_thread_map(struct tally_buf *to, const struct tally_record_thread_map *map)
{
	for (uint64_t i = 0; i < map->nr; i++) {
		const struct tally_thread_map_entry *entry = &map->entries[i];

		tally_buf_printf(to, "pid=%" PRIu64 " ", entry->pid);
		add_text(to, "comm", entry->comm, strnlen(entry->comm, sizeof(entry->comm)));
	}
}

static void add_metadata(struct tally_buf *to, const struct tally_record_bpf_metadata *record)
{
	for (uint64_t i = 0; i < record->nr; i++) {
		const struct tally_bpf_metadata_entry *entry = &record->entries[i];

		tally_buf_byte(to, '"');
		tally_text_add_escaped(to, entry->key, strnlen(entry->key, sizeof(entry->key)));
		tally_buf_byte(to, '"');
		add_text(to, "", entry->value, strnlen(entry->value, sizeof(entry->value)));
	}
}

static void add_field(struct tally_buf *to, const struct wire_row *row, const char *name,
		      const struct tally_body *body, const uint8_t *base)
{
	const uint8_t *member = base + row->member, *count = base + row->count;
	const struct tally_sample *sample = &body->sample;
	const char *text;

	switch ((enum wire_kind)row->kind) {
	case WIRE_U8:
		add_number(to, name, load_uint(member, 1));
		break;
	case WIRE_U16:
		add_number(to, name, load_uint(member, 2));
		break;
	case WIRE_U32:
		add_number(to, name, load_uint(member, 4));
		break;
	case WIRE_U64:
	case WIRE_WEIGHT:
		add_number(to, name, load_uint(member, 8));
		break;
	case WIRE_PAD:
		break;
	case WIRE_BYTES:
		add_bytes(to, name, member, row->size);
		break;
	case WIRE_TEXT:
	case WIRE_STRING:
	case WIRE_ERROR_TEXT:
		text = wire_get_pointer(member);
		add_text(to, name, text, text ? strlen(text) : 0);
		break;
	case WIRE_WORDS:
		add_words(to, name, wire_get_pointer(member), load_uint(count, 8), row->size / 8);
		break;
	case WIRE_IDS:
		add_words(to, name, wire_get_pointer(member), load_uint(count, 8), 1);
		break;
	case WIRE_NAMED:
		add_thread_map(to, &body->thread_map);
		break;
	case WIRE_TEXTS:
		add_metadata(to, &body->bpf_metadata);
		break;
	case WIRE_SIZED:
	case WIRE_REST:
	case WIRE_UPDATE:
	case WIRE_COUNTERS:
		add_bytes(to, name, wire_get_pointer(member), load_uint(count, sizeof(size_t)));
		break;
	case WIRE_READ:
		add_read(to, (const void *)member);
		break;
	case WIRE_RAW:
		add_bytes(to, name, sample->raw, sample->raw_size);
		break;
	case WIRE_BRANCHES:
		add_branches(to, sample);
		break;
	case WIRE_REGS:
		if (row->size)
			add_regs(to, "intr_abi", name, sample->intr_abi, sample->intr_regs_mask,
				 sample->intr_regs);
		else
			add_regs(to, "user_abi", name, sample->user_abi, sample->user_regs_mask,
				 sample->user_regs);
		break;
	case WIRE_STACK:
		add_bytes(to, name, sample->user_stack, sample->user_stack_size);
		if (sample->user_stack_size)
			add_number(to, "user_stack_dyn_size", sample->user_stack_dyn_size);
		break;
	case WIRE_AUX:
		add_bytes(to, name, sample->aux, sample->aux_size);
		break;
	case WIRE_MMAP2_ID:
		if (body->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
			add_bytes(to, "build_id", body->mmap2.build_id, body->mmap2.build_id_size);
		else
			tally_buf_printf(
			    to, "maj=%u\nmin=%u\nino=%" PRIu64 "\nino_generation=%" PRIu64 "\n",
			    body->mmap2.maj, body->mmap2.min, body->mmap2.ino,
			    body->mmap2.ino_generation);
		break;
	case WIRE_BUILD_ID:
		add_bytes(to, name, body->build_id.build_id, body->build_id.build_id_size);
		break;
	case WIRE_POKE:
		add_bytes(to, "old_bytes", body->text_poke.bytes, body->text_poke.old_len);
		add_bytes(to, "new_bytes",
			  body->text_poke.bytes ? body->text_poke.bytes + body->text_poke.old_len
						: NULL,
			  body->text_poke.new_len);
		break;
	case WIRE_ATTR:
		tally_attr_dump(&body->header_attr.attr, to);
		break;
	case WIRE_GUESTS:
		if (body->id_index.guests)
			add_words(to, name, body->id_index.guests, body->id_index.nr, 2);
		break;
	case WIRE_CPU_MAP:
		add_cpu_map(to, &body->cpu_map);
		break;
	case WIRE_TIME_TAIL:
		if (!body->time_conv.has_cycles)
			break;
		add_number(to, "time_cycles", body->time_conv.time_cycles);
		add_number(to, "time_mask", body->time_conv.time_mask);
		add_number(to, "cap_user_time_zero", body->time_conv.cap_user_time_zero);
		add_number(to, "cap_user_time_short", body->time_conv.cap_user_time_short);
		break;
	case WIRE_FMT1:
		if (body->auxtrace_error.fmt >= 1)
			add_number(to, name, load_uint(member, 8));
		break;
	case WIRE_FMT2:
		if (body->auxtrace_error.fmt < 2)
			break;
		add_number(to, "machine_pid", body->auxtrace_error.machine_pid);
		add_number(to, "vcpu", body->auxtrace_error.vcpu);
		break;
	}
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
	struct wire_rows rows = tally_wire_rows(body->type);
	const char *type = tally_record_type_name(body->type);
	const uint8_t *base = (const uint8_t *)&body->sample;

	if (type)
		tally_buf_printf(to, "%s\n", type);
	else
		tally_buf_printf(to, "type %u\n", body->type);
	add_misc(to, body->type, body->misc);
	for (size_t i = 0; i < rows.count; i++) {
		const struct wire_row *row = &rows.rows[i];

		if (!row->bit || (layout->sample_type & body->sample.present & row->bit))
			add_field(to, row, row->name, body, base);
	}
	for (size_t i = 0; i < tally_wire_trailer_rows.count; i++) {
		const struct wire_row *row = &tally_wire_trailer_rows.rows[i];

		if (body->type == PERF_RECORD_SAMPLE || !(body->id.present & row->bit))
			continue;
		tally_buf_text(to, "sample_id.");
		add_field(to, row, row->name, body, (const uint8_t *)&body->id);
	}
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
