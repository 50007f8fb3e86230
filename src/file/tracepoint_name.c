/* The name of a tracepoint from the tracing data, for files that do not have it elsewhere: streams
 * of perf up to 4.x.  Source: trace-cmd's format, as repair_features.c describes it; a format
 * begins with "name: NAME\nID: NUMBER\n" (the kernel's tracing/events/SYSTEM/EVENT/format). */
#include "file/data_file.h"

#include <string.h>
#include "base/buf.h"
#include "file/cursor.h"

#define NATIVE_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define NAME_MOST  128U

struct sized {
	const char *text;
	size_t size;
};

/* Up to a byte, which is included. */
static struct sized take_until(struct file_cursor *at, char end)
{
	const void *found = at->failed ? NULL : memchr(at->at, end, cursor_left(at));
	struct sized taken = {(const char *)at->at, 0};

	if (!found) {
		at->failed = true;
		return taken;
	}
	taken.size = (size_t)((const char *)found - taken.text);
	cursor_bytes(at, taken.size + 1);
	return taken;
}

static bool take_text(struct file_cursor *at, const char *text)
{
	size_t size = strlen(text);
	const uint8_t *bytes = cursor_bytes(at, size);

	at->failed |= !bytes || memcmp(bytes, text, size) != 0;
	return !at->failed;
}

static struct file_cursor take_sized(struct file_cursor *at)
{
	uint64_t size = cursor_u64(at);
	const uint8_t *bytes = cursor_bytes(at, size);

	return (struct file_cursor){
	    .at = bytes, .end = bytes ? bytes + size : NULL, .failed = !bytes};
}

/* The name in a format of that id; false: it is another's. */
static bool is_format_of(struct file_cursor format, uint64_t id, struct sized *ret)
{
	struct sized number;
	uint64_t value = 0;

	if (!take_text(&format, "name: "))
		return false;
	*ret = take_until(&format, '\n');
	if (!take_text(&format, "ID: "))
		return false;
	number = take_until(&format, '\n');
	if (format.failed || !number.size || number.size > 9 || !ret->size || ret->size > NAME_MOST)
		return false;
	for (size_t i = 0; i < number.size; i++) {
		unsigned digit = (unsigned)(number.text[i] - '0');

		if (digit > 9)
			return false;
		value = value * 10 + digit;
	}
	return value == id;
}

/* One system's formats, looked through for the id. */
static bool find_in(struct file_cursor *at, uint64_t id, struct sized *ret)
{
	for (uint32_t count = cursor_count(at, 8); count && !at->failed; count--)
		if (is_format_of(take_sized(at), id, ret))
			return true;
	return false;
}

/* Moves to the formats; false: it is not tracing data. */
static bool begin(struct file_cursor *at)
{
	const uint8_t *order;

	if (!take_text(at, "\x17\x08\x44tracing"))
		return false;
	take_until(at, 0);
	order = cursor_bytes(at, 2);
	at->swapped = order && order[0] != NATIVE_BIG;
	cursor_u32(at);
	if (!take_text(at, "header_page") || take_until(at, 0).size)
		return false;
	take_sized(at);
	if (!take_text(at, "header_event") || take_until(at, 0).size)
		return false;
	take_sized(at);
	return !at->failed;
}

const char *tally_file_tracepoint_name(struct tally_arena *arena, struct tally_block tracing,
				       uint64_t id)
{
	struct file_cursor at = {.at = tracing.bytes, .end = tracing.bytes};
	struct sized system = {"ftrace", 6}, name;
	struct tally_buf made = {0};
	const char *result = NULL;
	bool found;

	if (!tracing.size)
		return NULL;
	at.end += tracing.size;
	if (!begin(&at))
		return NULL;
	found = find_in(&at, id, &name);
	for (uint32_t left = found ? 0 : cursor_count(&at, 5); left && !at.failed && !found;
	     left--) {
		system = take_until(&at, 0);
		found = find_in(&at, id, &name);
	}
	if (!found || system.size > NAME_MOST)
		return NULL;
	tally_buf_add(&made, system.text, system.size);
	tally_buf_byte(&made, ':');
	tally_buf_add(&made, name.text, name.size);
	if (!made.failed && !memchr(made.data, 0, made.size))
		result = tally_arena_strndup(arena, (const char *)made.data, made.size);
	tally_buf_done(&made);
	return result;
}
