/* Records as JSON, made from the rows that decode them, so a new row needs nothing here. */
#include "export/script_json.h"

#include <string.h>
#include <tally/session.h>
#include "abi/constant_names.h"
#include "base/bytes.h"
#include "base/json.h"
#include "wire/show.h"

/* Members that are addresses or bits. */
static bool is_hex(const char *name)
{
	static const char names[][16] = {"ip",          "addr",      "pgoff",        "data_src",
					 "transaction", "phys_addr", "callchain",    "ips",
					 "priv",        "hw_id",     "aux_offset",   "trace_offset",
					 "time_mask",   "reference", "branch_hw_idx"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Members whose highest number is perf's and the kernel's -1: of no one, of none. */
static bool is_signed(const char *name)
{
	static const char *const names[] = {"pid",           "tid",           "ppid", "ptid",
					    "next_prev_pid", "next_prev_tid", "cpu",  "entries"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void add_number(struct json *json, const char *name, uint64_t value)
{
	if (is_hex(name))
		json_hex(json, value);
	else if ((value == UINT32_MAX || value == UINT64_MAX) && is_signed(name))
		json_i64(json, -1);
	else
		json_u64(json, value);
}

static void key_number(void *to, const char *name, uint64_t value)
{
	json_key(to, name);
	add_number(to, name, value);
}

static void put_bytes(struct json *json, const uint8_t *bytes, size_t size)
{
	char *to = json_place(json, size * 2 + 2);
	if (!to)
		return;
	*to++ = '"';
	for (size_t i = 0; bytes && i < size; i++)
		to = put_hex_fixed(to, bytes[i], 2);
	*to++ = '"';
	buf_put_end(json->to, to);
}

static void key_bytes(void *to, const char *name, const uint8_t *bytes, uint64_t size)
{
	json_key(to, name);
	put_bytes(to, bytes, size);
}

/* [a,b], or [[a,b],[c,d]] where an element has several words. */
static void key_words(void *to, const char *name, const void *words, uint64_t count, size_t each)
{
	const uint8_t *at = words;

	json_key(to, name);
	json_array(to);
	for (uint64_t i = 0; at && i < count; i++) {
		if (each > 1)
			json_array(to);
		for (size_t k = 0; k < each; k++, at += 8)
			add_number(to, name, load_u64(at));
		if (each > 1)
			json_array_end(to);
	}
	json_array_end(to);
}

static void key_text(void *to, const char *name, const char *text, size_t length)
{
	json_key(to, name);
	json_string(to, text, length);
}

static void open_fields(void *to, const char *name, bool list)
{
	if (name)
		json_key(to, name);
	if (list)
		json_array(to);
	else
		json_object(to);
}

static void close_fields(void *to, bool list)
{
	if (list)
		json_array_end(to);
	else
		json_object_end(to);
}

static void add_element(void *to, int64_t value)
{
	json_i64(to, value);
}

/* Source of the bits: struct perf_branch_entry of perf_event.h. */
static void add_branches(struct json *json, const struct tally_sample *sample)
{
	static const char *const bits[] = {"mispred", "predicted", "in_tx", "abort"};

	if (sample->branch_flags_present & PERF_SAMPLE_BRANCH_HW_INDEX)
		key_number(json, "branch_hw_idx", sample->branch_hw_idx);
	json_key(json, "branches");
	json_array(json);
	for (uint64_t i = 0; i < sample->branch_nr; i++) {
		const struct tally_branch *branch = &sample->branches[i];
		const char *type = tally_script_branch_type(branch->flags);

		json_object(json);
		json_key(json, "from");
		json_hex(json, branch->from);
		json_key(json, "to");
		json_hex(json, branch->to);
		for (unsigned bit = 0; bit < 4; bit++)
			if (branch->flags >> bit & 1)
				json_key_bool(json, bits[bit], true);
		json_key_u64(json, "cycles", branch->flags >> 4 & 0xffff);
		if (*type)
			json_key_string(json, "type", type);
		json_object_end(json);
	}
	json_array_end(json);
	if (sample->branch_counters)
		key_words(json, "branch_counters", sample->branch_counters, sample->branch_nr, 1);
}

static void add_regs(struct json *json, enum tally_register_arch arch, const char *name,
		     uint64_t abi, uint64_t mask, const uint64_t *regs)
{
	json_key(json, name);
	json_object(json);
	json_key_u64(json, "abi", abi);
	for (; abi && regs && mask; mask &= mask - 1) {
		unsigned number = (unsigned)__builtin_ctzll(mask);
		const char *reg = tally_script_reg_name(arch, number);

		/* both halves of an XMM register have its name */
		if (!strcmp(reg, "unknown") || (number & 1 && !strncmp(reg, "XMM", 3))) {
			char text[24] = "", *end = text;

			if (!strcmp(reg, "unknown")) {
				*end++ = 'r';
				end = put_dec(end, number);
			} else {
				memcpy(end, reg, strlen(reg));
				end += strlen(reg);
				*end++ = 'H';
			}
			*end = 0;
			json_key(json, text);
		} else {
			json_key(json, reg);
		}
		json_hex(json, load_u64(regs++));
	}
	json_object_end(json);
}

static void add_weight(struct json *json, const struct tally_sample *sample)
{
	json_key_u64(json, "weight", tally_script_weight_value(sample));
	if (!(sample->present & PERF_SAMPLE_WEIGHT_STRUCT))
		return;
	json_key_u64(json, "ins_lat", tally_script_ins_lat_value(sample));
	json_key_u64(json, "retire_lat", tally_script_retire_lat_value(sample));
}

static void key_attr(void *to, const char *name, const struct tally_attr *attr)
{
	struct json *json = to;

	json_key(json, name);
	json_object(json);
	json_key_u64(json, "type", attr->type);
	json_key_u64(json, "size", attr->size);
	json_key(json, "config");
	json_hex(json, attr->config);
	json_key_u64(json, attr->freq ? "sample_freq" : "sample_period", attr->sample_period);
	json_key(json, "sample_type");
	json_hex(json, attr->sample_type);
	json_key(json, "read_format");
	json_hex(json, attr->read_format);
	json_key(json, "flags");
	json_hex(json, attr->flags);
	json_object_end(json);
}

/* Fields of samples that are shown as perf script has them, not as they are in the record; of
 * dumped stacks and traces only the sizes. */
static bool add_as_script(struct json *json, const struct tally_script_json *with,
			  const struct wire_row *row)
{
	const struct tally_sample *sample = &with->body->sample;

	switch (row->bit) {
	case PERF_SAMPLE_BRANCH_STACK:
		add_branches(json, sample);
		return true;
	case PERF_SAMPLE_REGS_USER:
		add_regs(json, with->arch, row->name, sample->user_abi, sample->user_regs_mask,
			 sample->user_regs);
		return true;
	case PERF_SAMPLE_REGS_INTR:
		add_regs(json, with->arch, row->name, sample->intr_abi, sample->intr_regs_mask,
			 sample->intr_regs);
		return true;
	case PERF_SAMPLE_STACK_USER:
		json_key_u64(json, "user_stack_size", sample->user_stack_size);
		json_key_u64(json, "user_stack_dyn_size", sample->user_stack_dyn_size);
		return true;
	case PERF_SAMPLE_WEIGHT_TYPE:
		add_weight(json, sample);
		return true;
	case PERF_SAMPLE_AUX:
		json_key_u64(json, "aux_size", sample->aux_size);
		return true;
	default:
		return false;
	}
}

/* Counts of the elements that follow are left out. */
static bool is_count(const struct wire_row *row)
{
	return !strcmp(row->name, "callchain_nr") || !strcmp(row->name, "cpu_reserved");
}

/* The rows whose bit is in `bits` (or 0). */
static void add_rows(struct json *json, const struct tally_script_json *with, struct wire_rows rows,
		     uint64_t bits, const void *base)
{
	const struct wire_show show = {
	    .number = key_number,
	    .text = key_text,
	    .bytes = key_bytes,
	    .words = key_words,
	    .attr = key_attr,
	    .open = open_fields,
	    .close = close_fields,
	    .element = add_element,
	    .to = json,
	    .misc = with->body->misc,
	};

	for (size_t i = 0; i < rows.count; i++) {
		const struct wire_row *row = &rows.rows[i];

		if (is_count(row) || (row->bit && !(row->bit & bits)) ||
		    add_as_script(json, with, row))
			continue;
		tally_wire_show(&show, (struct wire_rows){row, 1}, bits, base);
	}
}

static void add_trailer(struct json *json, const struct tally_script_json *with)
{
	const struct tally_body *body = with->body;

	if (!body->id.present)
		return;
	json_key(json, "sample_id");
	json_object(json);
	add_rows(json, with, tally_wire_trailer_rows, body->id.present, &body->id);
	json_object_end(json);
}

/* As reports name it. */
static void add_function(struct json *json, const struct tally_script_json_frame *frame)
{
	struct tally_buf name = {0};

	tally_buf_printf(&name, "%s+0x%llx", frame->function_image,
			 (unsigned long long)frame->function_address);
	if (!name.failed)
		json_key_string(json, "function", tally_buf_str(&name));
	tally_buf_done(&name);
	json_key_u64(json, "offset", frame->offset);
}

static void add_frames(struct json *json, const struct tally_script_json *with)
{
	json_key(json, "frames");
	json_array(json);
	for (size_t i = 0; i < with->frame_count; i++) {
		const struct tally_script_json_frame *frame = &with->frames[i];

		json_object(json);
		json_key(json, "ip");
		json_hex(json, frame->ip);
		if (frame->symbol) {
			json_key_string(json, "symbol", frame->symbol);
			if (frame->inlined)
				json_key_bool(json, "inlined", true);
			else
				json_key_u64(json, "offset", frame->offset);
		} else if (frame->function_image) {
			add_function(json, frame);
		}
		if (frame->dso)
			json_key_string(json, "dso", frame->dso);
		if (frame->srcline)
			json_key_string(json, "srcline", frame->srcline);
		json_object_end(json);
	}
	json_array_end(json);
}

void tally_script_json_field(struct json *json, const struct tally_trace_field *field)
{
	json_key_text(json, field->name); /* from the recording */
	if (field->kind == TALLY_TRACE_BYTES)
		put_bytes(json, field->bytes, field->size);
	else if (field->kind == TALLY_TRACE_STRING)
		json_string(json, (const char *)field->bytes, field->size);
	else if (field->kind == TALLY_TRACE_POINTER)
		json_hex(json, field->number);
	else if (field->kind == TALLY_TRACE_SIGNED)
		json_i64(json, (int64_t)field->number);
	else
		json_u64(json, field->number);
}

void tally_script_json_record(struct tally_buf *buf, const struct tally_script_json *with)
{
	const struct tally_body *body = with->body;
	const char *type = tally_record_type_name(body->type);
	const char *mode = tally_abi_name(&tally_abi_cpumodes, body->misc & 7);
	struct json json = {.to = buf};

	json_object(&json);
	if (type)
		json_key_string(&json, "type", type);
	else
		json_key_u64(&json, "type", body->type);
	json_key_u64(&json, "offset", with->offset);
	json_key_u64(&json, "misc", body->misc);
	if (body->type == PERF_RECORD_SAMPLE && mode)
		json_key_string(&json, "cpumode", mode);
	if (with->event)
		json_key_string(&json, "event", with->event);
	if (with->comm)
		json_key_string(&json, "comm", with->comm);
	json_key(&json, "fields");
	json_object(&json);
	add_rows(&json, with, tally_wire_rows(body->type), body->sample.present, &body->sample);
	json_object_end(&json);
	if (body->type != PERF_RECORD_SAMPLE)
		add_trailer(&json, with);
	if (with->frames)
		add_frames(&json, with);
	if (with->trace)
		json_key_string(&json, "trace", with->trace);
	if (with->trace_fields_size) {
		json_key(&json, "trace_fields");
		json_object(&json);
		json_raw(&json, with->trace_fields, with->trace_fields_size);
		json_object_end(&json);
	}
	json_object_end(&json);
	tally_buf_byte(buf, '\n');
}

void tally_script_json_begin(struct tally_buf *buf, const struct tally_data *data)
{
	const struct tally_data_info *info = tally_data_info(data);
	struct json json = {.to = buf};

	json_object(&json);
	json_key_u64(&json, "version", TALLY_SCRIPT_JSON_VERSION);
	json_key_string(&json, "type", "FILE");
	json_key_string(&json, "path", tally_data_path(data));
	json_key_u64(&json, "size", tally_data_file_size(data));
	json_key_string(&json, "hostname", info->hostname);
	json_key_string(&json, "os_release", info->os_release);
	json_key_string(&json, "arch", info->arch);
	json_key(&json, "command");
	json_array(&json);
	for (size_t i = 0; i < info->cmdline_count; i++)
		json_text(&json, info->cmdline[i]);
	json_array_end(&json);
	json_key(&json, "events");
	json_array(&json);
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		const struct tally_data_event *event = tally_data_event(data, i);

		json_object(&json);
		json_key_string(&json, "name", event->name);
		key_attr(&json, "attr", &event->attr);
		key_words(&json, "ids", event->ids, event->id_count, 1);
		json_key_u64(&json, "leader", event->leader);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	tally_buf_byte(buf, '\n');
}

void tally_script_json_end(struct tally_buf *buf, const struct tally_data *data,
			   const struct tally_session_counts *counts)
{
	const struct tally_data_damage *damage = tally_data_damage(data);
	struct json json = {.to = buf};

	json_object(&json);
	json_key_string(&json, "type", "END");
	json_key_u64(&json, "records", counts->records);
	json_key_u64(&json, "samples", counts->samples);
	json_key_u64(&json, "lost", counts->lost);
	json_key_u64(&json, "throttled", counts->throttled);
	json_key_u64(&json, "unusable", counts->unusable + counts->undecoded);
	json_key(&json, "damage");
	json_object(&json);
	json_key_u64(&json, "places", damage->count);
	json_key_u64(&json, "refused", damage->refused);
	json_key_u64(&json, "lost_bytes", damage->lost_bytes);
	json_key_bool(&json, "no_end", damage->no_end);
	if (damage->count) {
		json_key_u64(&json, "first_at", damage->first_at);
		json_key_string(&json, "text", damage->text);
	}
	json_object_end(&json);
	json_object_end(&json);
	tally_buf_byte(buf, '\n');
}
