/* Tracing data of any bytes, or, when they do not start like that, one format with a frame put
 * around it: every event is shown, with payloads made of the input's own bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "trace/trace_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
const char *__lsan_default_suppressions(void);

enum { ID_MOST = 1 << 16, EVENTS_MOST = 16, PAYLOAD_MOST = 200 };

static volatile uint64_t sink;

/* libtraceevent forgets some of the formats that it refuses. */
const char *__lsan_default_suppressions(void)
{
	return "leak:tep_parse_format\nleak:libtraceevent\n";
}

static const char *find(void *context, uint64_t address, uint64_t *ret_start)
{
	(void)context;
	*ret_start = address & ~UINT64_C(15);
	return address & 1 ? "a_function" : NULL;
}

static void frame(struct tally_buf *to, const uint8_t *format, size_t size)
{
	static const char start[] = "\x17\x08\x44tracing0.6";

	tally_buf_add(to, start, sizeof(start));
	tally_buf_byte(to, 0);
	tally_buf_byte(to, 8);
	tally_buf_u32(to, 4096);
	tally_buf_add(to, "header_page", sizeof("header_page"));
	tally_buf_u64(to, 0);
	tally_buf_add(to, "header_event", sizeof("header_event"));
	tally_buf_u64(to, 0);
	tally_buf_u32(to, 0);
	tally_buf_u32(to, 1);
	tally_buf_add(to, "sched", sizeof("sched"));
	tally_buf_u32(to, 1);
	tally_buf_u64(to, size);
	tally_buf_add(to, format, size);
	tally_buf_zero(to, 16);
}

static int visit(void *context, const struct tally_trace_field *field)
{
	(void)context;
	sink += field->number + strlen(field->name);
	for (uint32_t i = 0; i < field->size; i++)
		sink += field->bytes[i];
	return 0;
}

static void show(struct tally_trace_text *text, uint64_t id, const uint8_t *bytes, uint32_t size)
{
	struct tally_trace_symbols symbols = {find, NULL};
	struct tally_buf out = {0};
	uint8_t *payload = malloc(size + 1); /* no byte behind it may be read */

	if (!payload)
		return;
	memcpy(payload, bytes, size);
	for (uint32_t i = 0; i < 2 && i < size; i++)
		payload[i] = (uint8_t)(id >> 8 * i);
	payload = realloc(payload, size ? size : 1);
	tally_trace_text_add(text, &out, id, payload, size, &symbols);
	tally_trace_text_each_field(text, id, payload, size, visit, NULL);
	sink += out.size;
	tally_buf_done(&out);
	free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const uint8_t magic[] = {0x17, 0x08, 0x44, 't'};
	struct tally_trace_text *text;
	struct tally_buf framed = {0};
	uint32_t payload = size < PAYLOAD_MOST ? (uint32_t)size : PAYLOAD_MOST;
	unsigned shown = 0;

	if (size >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic)))
		tally_buf_add(&framed, bytes, size);
	else
		frame(&framed, bytes, size);
	if (!framed.failed && !tally_trace_text_new(framed.data, framed.size, &text, NULL)) {
		for (uint64_t id = 0; id < ID_MOST && shown < EVENTS_MOST; id++) {
			if (!tally_trace_text_name(text, id))
				continue;
			shown++;
			show(text, id, bytes + size - payload, payload);
			show(text, id, bytes, payload / 4);
			show(text, id, bytes, 0);
		}
		tally_trace_text_free(text);
	}
	tally_buf_done(&framed);
	return 0;
}
