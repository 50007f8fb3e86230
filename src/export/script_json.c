/* Records as JSON, made from the rows that decode them: a new row shows up by itself. */
#include "export/script_json.h"

#include <string.h>
#include <tally/session.h>
#include "abi/constant_names.h"
#include "base/bytes.h"
#include "base/json.h"
#include "wire/walk.h"

/* Members that are addresses or bits. */
static bool is_hex(const char *name)
{
	static const char *const names[] = {
	    "ip",         "addr",         "pgoff",     "data_src",  "transaction",
	    "phys_addr",  "callchain",    "ips",       "priv",      "hw_id",
	    "aux_offset", "trace_offset", "time_mask", "reference", "branch_hw_idx"};

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

static void key_number(struct json *json, const char *name, uint64_t value)
{
	json_key(json, name);
	add_number(json, name, value);
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

static void key_bytes(struct json *json, const char *name, const uint8_t *bytes, size_t size)
{
	json_key(json, name);
	put_bytes(json, bytes, size);
}

/* [a,b], or [[a,b],[c,d]] where an element has several words. */
static void key_words(struct json *json, const char *name, const void *words, uint64_t count,
		      size_t each)
{
	const uint8_t *at = words;

	json_key(json, name);
	json_array(json);
	for (uint64_t i = 0; at && i < count; i++) {
		if (each > 1)
			json_array(json);
		for (size_t k = 0; k < each; k++, at += 8)
			add_number(json, name, load_u64(at));
		if (each > 1)
			json_array_end(json);
	}
	json_array_end(json);
}

static void add_counter(struct json *json, const struct tally_read *read, uint64_t value,
			uint64_t id, uint64_t lost)
{
	json_object(json);
	json_key_u64(json, "value", value);
	if (read->read_format & PERF_FORMAT_ID)
		json_key_u64(json, "id", id);
	if (read->read_format & PERF_FORMAT_LOST)
		json_key_u64(json, "lost", lost);
	json_object_end(json);
}

static void add_read(struct json *json, const struct tally_read *read)
{
	const uint64_t *at = read->group;

	json_key(json, "read");
	json_object(json);
	if (read->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		json_key_u64(json, "time_enabled", read->time_enabled);
	if (read->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		json_key_u64(json, "time_running", read->time_running);
	json_key(json, "values");
	json_array(json);
	if (!(read->read_format & PERF_FORMAT_GROUP))
		add_counter(json, read, read->value, read->id, read->lost);
	for (uint64_t i = 0; at && i < read->nr; i++) {
		uint64_t value = load_u64(at++), id = 0, lost = 0;

		if (read->read_format & PERF_FORMAT_ID)
			id = load_u64(at++);
		if (read->read_format & PERF_FORMAT_LOST)
			lost = load_u64(at++);
		add_counter(json, read, value, id, lost);
	}
	json_array_end(json);
	json_object_end(json);
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

static void add_regs(struct json *json, enum tally_script_arch arch, const char *name, uint64_t abi,
		     uint64_t mask, const uint64_t *regs)
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

static void add_cpus(struct json *json, const struct tally_record_cpu_map *map)
{
	unsigned bits = map->long_size == 4 ? 32 : 64;

	json_key(json, "cpus");
	json_array(json);
	if (map->type == 2 && map->any_cpu)
		json_i64(json, -1);
	for (uint32_t cpu = map->start_cpu; map->type == 2 && cpu <= map->end_cpu; cpu++)
		json_u64(json, cpu);
	for (size_t i = 0; map->type == 0 && map->data && i < map->nr; i++) {
		uint16_t cpu = load_u16(map->data + i * 2);

		json_i64(json, cpu == UINT16_MAX ? -1 : cpu);
	}
	for (size_t i = 0; map->type == 1 && map->data && i < map->nr; i++) {
		uint64_t word =
		    bits == 32 ? load_u32(map->data + i * 4) : load_u64(map->data + i * 8);

		for (; word; word &= word - 1)
			json_u64(json, i * bits + (unsigned)__builtin_ctzll(word));
	}
	json_array_end(json);
}

static void add_threads(struct json *json, const struct tally_record_thread_map *map)
{
	json_key(json, "threads");
	json_array(json);
	for (uint64_t i = 0; map->entries && i < map->nr; i++) {
		const struct tally_thread_map_entry *entry = &map->entries[i];

		json_object(json);
		json_key_u64(json, "pid", entry->pid);
		json_key(json, "comm");
		json_string(json, entry->comm, strnlen(entry->comm, sizeof(entry->comm)));
		json_object_end(json);
	}
	json_array_end(json);
}

static void add_metadata(struct json *json, const struct tally_record_bpf_metadata *record)
{
	json_key(json, "entries");
	json_array(json);
	for (uint64_t i = 0; record->entries && i < record->nr; i++) {
		const struct tally_bpf_metadata_entry *entry = &record->entries[i];

		json_object(json);
		json_key(json, "key");
		json_string(json, entry->key, strnlen(entry->key, sizeof(entry->key)));
		json_key(json, "value");
		json_string(json, entry->value, strnlen(entry->value, sizeof(entry->value)));
		json_object_end(json);
	}
	json_array_end(json);
}

static void add_attr(struct json *json, const struct tally_attr *attr)
{
	json_key(json, "attr");
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

static void add_map_id(struct json *json, const struct tally_body *body)
{
	const struct tally_record_mmap2 *mmap = &body->mmap2;

	if (body->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		key_bytes(json, "build_id", mmap->build_id,
			  mmap->build_id_size <= 20 ? mmap->build_id_size : 20);
		return;
	}
	json_key_u64(json, "maj", mmap->maj);
	json_key_u64(json, "min", mmap->min);
	json_key_u64(json, "ino", mmap->ino);
	json_key_u64(json, "ino_generation", mmap->ino_generation);
}

static void add_poke(struct json *json, const struct tally_record_text_poke *poke)
{
	key_bytes(json, "old_bytes", poke->bytes, poke->old_len);
	key_bytes(json, "new_bytes", poke->bytes ? poke->bytes + poke->old_len : NULL,
		  poke->new_len);
}

/* Fields that have a shape of their own; of dumped stacks and traces only the sizes are told. */
static void add_special(struct json *json, const struct tally_script_json *with,
			const struct wire_row *row, const uint8_t *member)
{
	const struct tally_body *body = with->body;
	const struct tally_sample *sample = &body->sample;

	switch ((enum wire_kind)row->kind) {
	case WIRE_WEIGHT:
		add_weight(json, sample);
		break;
	case WIRE_NAMED:
		add_threads(json, &body->thread_map);
		break;
	case WIRE_TEXTS:
		add_metadata(json, &body->bpf_metadata);
		break;
	case WIRE_READ:
		add_read(json, (const void *)member);
		break;
	case WIRE_RAW:
		key_bytes(json, "raw", sample->raw, sample->raw_size);
		break;
	case WIRE_BRANCHES:
		add_branches(json, sample);
		break;
	case WIRE_REGS:
		if (row->size)
			add_regs(json, with->arch, row->name, sample->intr_abi,
				 sample->intr_regs_mask, sample->intr_regs);
		else
			add_regs(json, with->arch, row->name, sample->user_abi,
				 sample->user_regs_mask, sample->user_regs);
		break;
	case WIRE_STACK:
		json_key_u64(json, "user_stack_size", sample->user_stack_size);
		json_key_u64(json, "user_stack_dyn_size", sample->user_stack_dyn_size);
		break;
	case WIRE_AUX:
		json_key_u64(json, "aux_size", sample->aux_size);
		break;
	case WIRE_MMAP2_ID:
		add_map_id(json, body);
		break;
	case WIRE_BUILD_ID:
		key_bytes(json, "build_id", body->build_id.build_id,
			  body->build_id.build_id_size <= 20 ? body->build_id.build_id_size : 20);
		break;
	case WIRE_POKE:
		add_poke(json, &body->text_poke);
		break;
	case WIRE_ATTR:
		add_attr(json, &body->header_attr.attr);
		break;
	case WIRE_GUESTS:
		if (body->id_index.guests)
			key_words(json, row->name, body->id_index.guests, body->id_index.nr, 2);
		break;
	case WIRE_CPU_MAP:
		add_cpus(json, &body->cpu_map);
		break;
	case WIRE_TIME_TAIL:
		if (!body->time_conv.has_cycles)
			break;
		json_key_u64(json, "time_cycles", body->time_conv.time_cycles);
		key_number(json, "time_mask", body->time_conv.time_mask);
		break;
	case WIRE_FMT1:
		if (body->auxtrace_error.fmt >= 1)
			json_key_u64(json, "time", body->auxtrace_error.time);
		break;
	case WIRE_FMT2:
		if (body->auxtrace_error.fmt < 2)
			break;
		json_key_u64(json, "machine_pid", body->auxtrace_error.machine_pid);
		json_key_u64(json, "vcpu", body->auxtrace_error.vcpu);
		break;
	default:
		break;
	}
}

static void add_field(struct json *json, const struct tally_script_json *with,
		      const struct wire_row *row, const uint8_t *base)
{
	const uint8_t *member = base + row->member, *count = base + row->count;

	switch ((enum wire_kind)row->kind) {
	case WIRE_U8:
		key_number(json, row->name, load_uint(member, 1));
		break;
	case WIRE_U16:
		key_number(json, row->name, load_uint(member, 2));
		break;
	case WIRE_U32:
		key_number(json, row->name, load_uint(member, 4));
		break;
	case WIRE_U64:
		key_number(json, row->name, load_uint(member, 8));
		break;
	case WIRE_PAD:
		break;
	case WIRE_BYTES:
		key_bytes(json, row->name, member, row->size);
		break;
	case WIRE_TEXT:
	case WIRE_STRING:
	case WIRE_ERROR_TEXT:
		json_key_string(json, row->name, wire_get_pointer(member));
		break;
	case WIRE_WORDS:
		key_words(json, row->name, wire_get_pointer(member), load_uint(count, 8),
			  row->size / 8);
		break;
	case WIRE_IDS:
		key_words(json, row->name, wire_get_pointer(member), load_uint(count, 8), 1);
		break;
	case WIRE_SIZED:
	case WIRE_REST:
		key_bytes(json, row->name, wire_get_pointer(member),
			  load_uint(count, sizeof(size_t)));
		break;
	default:
		add_special(json, with, row, member);
	}
}

/* Names that hold the number of what follows say nothing new. */
static bool is_count(const struct wire_row *row)
{
	return !strcmp(row->name, "callchain_nr") || !strcmp(row->name, "cpu_reserved");
}

static void add_trailer(struct json *json, const struct tally_script_json *with)
{
	const struct tally_body *body = with->body;

	if (!body->id.present)
		return;
	json_key(json, "sample_id");
	json_object(json);
	for (size_t i = 0; i < tally_wire_trailer_rows.count; i++) {
		const struct wire_row *row = &tally_wire_trailer_rows.rows[i];

		if (body->id.present & row->bit && !is_count(row))
			add_field(json, with, row, (const uint8_t *)&body->id);
	}
	json_object_end(json);
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
	struct wire_rows rows = tally_wire_rows(body->type);
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
	for (size_t i = 0; i < rows.count; i++) {
		const struct wire_row *row = &rows.rows[i];

		if (!is_count(row) && (!row->bit || body->sample.present & row->bit))
			add_field(&json, with, row, (const uint8_t *)&body->sample);
	}
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
	json_key(&json, "cmdline");
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
		add_attr(&json, &event->attr);
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
