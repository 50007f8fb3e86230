/* -D: a record's place, bytes and fields, as perf 6.1 dumps them. */
#include "dump/dump_record.h"

#include <inttypes.h>
#include <string.h>
#include "base/text.h"
#include "wire/dump.h"

/* perf counts a stream's offsets from behind its header {u64 magic, u64 size}. */
#define PIPE_HEADER 16

void tally_script_dump_init(struct tally_script_dump *dump, const struct tally_data *data)
{
	*dump = (struct tally_script_dump){
	    .data = data,
	    .path = tally_data_path(data),
	    .arch = tally_register_arch(tally_data_info(data)->arch),
	};
	if (tally_data_kind(data) == TALLY_DATA_PIPE) {
		dump->path = "pipe";
		dump->offset_bias = PIPE_HEADER;
	}
	for (size_t i = 0; i < tally_data_event_count(data); i++)
		dump->sample_type |= tally_data_event(data, i)->attr.sample_type;
	if (tally_data_event_count(data))
		dump->sample_id_all = tally_data_event(data, 0)->layout.sample_id_all;
}

static void add_hex(struct tally_buf *buf, const uint8_t *bytes, size_t size)
{
	tally_buf_text(buf, ".\n. ... raw event: size ");
	buf_dec(buf, size);
	tally_buf_text(buf, " bytes\n");
	for (size_t at = 0; at < size; at += 16) {
		size_t count = size - at < 16 ? size - at : 16;
		char *to = buf_put_begin(buf, 128);

		if (!to)
			return;
		to = put_pad(put_pad(to, '.', 1), ' ', 2);
		to = put_hex_fixed(to, at, 4);
		*to++ = ':';
		*to++ = ' ';
		for (size_t i = 0; i < count; i++)
			to = put_hex_fixed(put_pad(to, ' ', 1), bytes[at + i], 2);
		to = put_pad(to, ' ', (16 - count) * 3 + 2);
		for (size_t i = 0; i < count; i++) {
			uint8_t byte = bytes[at + i];

			*to++ = byte >= 0x20 && byte < 0x7f ? (char)byte : '.';
		}
		to = put_pad(to, ' ', 16 - count);
		*to++ = '\n';
		buf_put_end(buf, to);
	}
	tally_buf_byte(buf, '\n');
}

/* CPU and time, for all records if any record has them: a missing value is -1, and 0 in records of
 * the tool. */
static void add_stamp(struct tally_buf *buf, const struct tally_script_dump *dump,
		      const struct tally_body *body)
{
	bool sample = body->type == PERF_RECORD_SAMPLE;
	uint64_t present = sample ? body->sample.present : body->id.present;
	uint32_t cpu = sample ? body->sample.cpu : body->id.cpu;
	uint64_t time = sample ? body->sample.time : body->id.time;
	bool tool = body->type >= PERF_RECORD_HEADER_ATTR;

	if (!sample && !dump->sample_id_all) {
		tally_buf_text(buf, "-1 -1 ");
		return;
	}
	if (dump->sample_type & PERF_SAMPLE_CPU) {
		buf_dec(buf, tool ? 0 : present & PERF_SAMPLE_CPU ? cpu : UINT32_MAX);
		tally_buf_byte(buf, ' ');
	}
	if (dump->sample_type & PERF_SAMPLE_TIME) {
		buf_dec(buf, tool ? 0 : present & PERF_SAMPLE_TIME ? time : UINT64_MAX);
		tally_buf_byte(buf, ' ');
	}
}

static void add_read(struct tally_buf *buf, const struct tally_data_event *event,
		     const struct tally_record_read *record)
{
	const struct tally_read *read = &record->read;
	const char *name = event ? event->name : NULL;

	tally_buf_text(buf, ": ");
	buf_int(buf, record->pid);
	tally_buf_byte(buf, ' ');
	buf_int(buf, record->tid);
	tally_buf_byte(buf, ' ');
	if (name)
		tally_text_add_escaped(buf, name, strlen(name));
	tally_buf_byte(buf, ' ');
	buf_dec(buf, read->value);
	tally_buf_byte(buf, '\n');
	if (read->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		tally_buf_printf(buf, "... time enabled : %" PRIu64 "\n", read->time_enabled);
	if (read->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		tally_buf_printf(buf, "... time running : %" PRIu64 "\n", read->time_running);
	if (read->read_format & PERF_FORMAT_ID)
		tally_buf_printf(buf, "... id           : %" PRIu64 "\n", read->id);
	if (read->read_format & PERF_FORMAT_LOST)
		tally_buf_printf(buf, "... lost         : %" PRIu64 "\n", read->lost);
	tally_buf_text(buf, ": unhandled!\n");
}

static void add_lost(struct tally_buf *buf, uint64_t id, const char *what, uint64_t lost)
{
	tally_buf_text(buf, ": id:");
	buf_dec(buf, id);
	tally_buf_text(buf, what);
	buf_dec(buf, lost);
	tally_buf_byte(buf, '\n');
}

/* A type that perf 6.1 does not know: the fields by their rows. */
static void add_rows(struct tally_buf *buf, const struct tally_layout *layout,
		     const struct tally_body *body)
{
	struct tally_buf rows = {0};
	const char *line, *end;

	tally_buf_byte(buf, '\n');
	if (tally_body_dump(layout, body, &rows))
		buf->failed = rows.failed;
	line = tally_buf_str(&rows);
	line += strcspn(line, "\n"); /* the name is already printed */
	line += *line == '\n';
	for (; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		tally_buf_text(buf, "... ");
		tally_buf_add(buf, line, (size_t)(end - line));
		tally_buf_byte(buf, '\n');
	}
	tally_buf_done(&rows);
}

static void add_fields(struct tally_buf *buf, const struct tally_script_dump *dump,
		       const struct tally_data_event *event, const struct tally_record *record,
		       const struct tally_body *body)
{
	static const struct tally_layout none;

	switch (body->type) {
	case PERF_RECORD_SAMPLE:
		if (event)
			tally_script_dump_sample(buf, dump, event, record, &body->sample);
		break;
	case PERF_RECORD_READ:
		add_read(buf, event, &body->read);
		break;
	case PERF_RECORD_LOST:
		add_lost(buf, body->lost.id, ": lost:", body->lost.lost);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		add_lost(buf,
			 body->id.present & PERF_SAMPLE_IDENTIFIER ? body->id.identifier
			 : body->id.present & PERF_SAMPLE_ID       ? body->id.id
								   : UINT64_MAX,
			 ": lost samples :", body->lost_samples.lost);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		break;
	default:
		if (body->type > PERF_RECORD_FINISHED_INIT ||
		    (body->type > PERF_RECORD_AUX_OUTPUT_HW_ID &&
		     body->type < PERF_RECORD_HEADER_ATTR))
			add_rows(buf, event ? &event->layout : &none, body);
		else if (body->type >= PERF_RECORD_HEADER_ATTR)
			tally_script_dump_tool(buf, body);
		else
			tally_script_record_tail(buf, body, NULL);
	}
}

void tally_script_dump_record(struct tally_buf *buf, const struct tally_script_dump *dump,
			      const struct tally_record *record, int event)
{
	static const struct tally_layout none;
	const struct tally_data_event *of = NULL;
	struct tally_data_place place = {.size = sizeof(place)};
	uint64_t offset;
	struct tally_error error = {0};
	struct tally_body body;
	int damaged;

	if (event >= 0 && (size_t)event < tally_data_event_count(dump->data))
		of = tally_data_event(dump->data, (size_t)event);
	tally_data_place(dump->data, record->offset, &place);
	offset = place.offset - dump->offset_bias;
	tally_buf_byte(buf, '\n');
	buf_0x(buf, offset);
	tally_buf_byte(buf, '@');
	tally_text_add_escaped(buf, dump->path, strlen(dump->path));
	if (tally_data_kind(dump->data) == TALLY_DATA_DIRECTORY) {
		tally_buf_text(buf, "/data");
		if (place.part >= 0) {
			tally_buf_byte(buf, '.');
			buf_dec(buf, (uint64_t)place.part);
		}
	}
	tally_buf_text(buf, " [");
	buf_0x(buf, record->size);
	tally_buf_text(buf, "]: event: ");
	buf_dec(buf, record->type);
	tally_buf_byte(buf, '\n');
	add_hex(buf, record->bytes, record->size);
	body = (struct tally_body){.size = sizeof(body)};
	damaged = tally_record_decode(of ? &of->layout : &none, record, &body, &error);
	/* old perfs wrote a name of a multiple of 8 bytes without its NUL; it is not printed */
	if (damaged && record->type == PERF_RECORD_HEADER_EVENT_TYPE) {
		body = (struct tally_body){
		    .size = sizeof(body), .type = record->type, .misc = record->misc};
		damaged = 0;
	}
	if (damaged)
		body = (struct tally_body){
		    .size = sizeof(body), .type = record->type, .misc = record->misc};
	add_stamp(buf, dump, &body);
	buf_0x(buf, offset);
	tally_buf_text(buf, " [");
	buf_0x(buf, record->size);
	tally_buf_text(buf, "]: PERF_RECORD_");
	tally_buf_text(buf, tally_script_record_name(record->type));
	if (damaged) {
		tally_buf_text(buf, ": damaged: ");
		tally_text_add_escaped(buf, error.text, strlen(error.text));
		tally_buf_byte(buf, '\n');
		return;
	}
	add_fields(buf, dump, of, record, &body);
}

void tally_script_dump_place(struct tally_buf *buf, const char *comm, uint32_t tid, const char *dso,
			     bool hypervisor)
{
	if (!dso)
		dso = hypervisor ? "[hypervisor]" : "<not found>";
	tally_buf_text(buf, " ... thread: ");
	tally_text_add_escaped(buf, comm, strlen(comm));
	tally_buf_byte(buf, ':');
	buf_int(buf, tid);
	tally_buf_text(buf, "\n ...... dso: ");
	tally_text_add_escaped(buf, dso, strlen(dso));
	tally_buf_byte(buf, '\n');
}
