/* Tables of stacks, into the frames and stacks of a session. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "fleet/fleet_read.h"
#include "fleet/stack_rows.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "resolve/stacks.h"
#include "session/numbers.h"

/* The stacks of a group. */
struct group {
	struct tally_fleet *fleet;
	const struct fleet_file *file;
	struct stack_rows rows;
	uint32_t *texts[STACK_FIELDS]; /* numbers of the fleet's texts */
	struct stacks_numbers numbers;
	uint32_t *frames, *nodes; /* of a stack; FLEET_STACK_MOST */
};

static int fail(const struct group *group, int result, const char *why)
{
	return tally_fleet_fail(group->fleet, group->file, result, why);
}

/* Texts get numbers; they end at a zero byte. */
static int intern(struct group *group, enum stack_field field)
{
	const struct parquet_values *values = &group->rows.of[field];

	group->texts[field] = calloc(values->text_count + 1ULL, sizeof(**group->texts));
	if (!group->texts[field])
		return -ENOMEM;
	for (uint32_t i = 0; i < values->text_count; i++) {
		const struct parquet_text *text = &values->texts[i];
		const void *end = memchr(text->bytes, 0, text->size);
		int64_t number = tally_strings_intern(
		    &group->fleet->texts, (const char *)text->bytes,
		    end ? (size_t)((const uint8_t *)end - text->bytes) : text->size);

		if (number < 0)
			return -ENOMEM;
		group->texts[field][i] = (uint32_t)number;
	}
	return 0;
}

/* --- frames --- */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);

	return length >= size && !strcmp(text + length - size, end);
}

static bool is_kernel(const char *path)
{
	return !strncmp(path, "[kernel", 7) || !strncmp(path, "[guest.kernel", 13) ||
	       !strncmp(path, "bpf_prog_", 9) || ends_with(path, ".ko") || strstr(path, ".ko.") ||
	       !strncmp(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, "vmlinux", 7);
}

/* "[name]" of a kernel module, without what is behind its name, else what is behind the last
 * slash.  NULL: out of memory. */
static const char *short_name(struct tally_fleet *fleet, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash && path[0] == '/' ? slash + 1 : path;
	const char *module = strstr(name, ".ko");
	char text[128];
	int64_t number;

	if (path[0] != '/' || !module || (size_t)(module - name) > sizeof(text) - 3)
		return name;
	snprintf(text, sizeof(text), "[%.*s]", (int)(module - name), name);
	for (char *at = text; *at; at++)
		*at = *at == '-' ? '_' : *at;
	number = tally_strings_intern(&fleet->texts, text, strlen(text));
	return number < 0 ? NULL : fleet->texts.text[number];
}

static int image_of(struct tally_fleet *fleet, uint32_t path, uint32_t *ret)
{
	struct tally_frames *frames = &tally_session_tables(fleet->session)->frames;
	const char *text = fleet->texts.text[path], *name;
	uint64_t *image;
	bool added;
	int result;

	image = tally_map_put(&fleet->images, path, &added);
	if (!image)
		return -ENOMEM;
	if (added) {
		*image = 0;
		name = short_name(fleet, text);
		result = name ? tally_frames_given_image(frames, name, text,
							 is_kernel(text) ? 'k' : '.', ret)
			      : -ENOMEM;
		if (result)
			return result;
		image = tally_map_find(&fleet->images, path);
		*image = *ret;
	}
	*ret = (uint32_t)*image;
	return 0;
}

/* Null is the empty text. */
static uint32_t text_at(const struct group *group, enum stack_field field, uint32_t at)
{
	uint64_t text = stack_rows_value(&group->rows, field, at);

	return text == UINT64_MAX ? 0 : group->texts[field][text];
}

static uint64_t offset_at(const struct group *group, uint32_t at)
{
	return stack_rows_value(&group->rows, STACK_OFFSET, at);
}

/* Whether the function at a place was inlined into that of the next one: they have one address.  A
 * function that calls itself has one, too, but the same name. */
static bool is_inlined(const struct group *group, uint32_t at, uint32_t end)
{
	return at + 1 < end && group->rows.of[STACK_OFFSET].count &&
	       offset_at(group, at) == offset_at(group, at + 1) &&
	       text_at(group, STACK_IMAGE, at) == text_at(group, STACK_IMAGE, at + 1) &&
	       text_at(group, STACK_SYMBOL, at) != text_at(group, STACK_SYMBOL, at + 1);
}

static int frame_at(const struct group *group, uint32_t at, uint32_t end, uint32_t *ret)
{
	struct tally_fleet *fleet = group->fleet;
	struct tally_frames *frames = &tally_session_tables(fleet->session)->frames;
	uint32_t path = text_at(group, STACK_IMAGE, at), symbol = text_at(group, STACK_SYMBOL, at);
	uint64_t offset = offset_at(group, at);
	uint32_t image;
	int result = 0;

	/* What no mapping held is the session's own image, by level. */
	if (!symbol && !strcmp(fleet->texts.text[path], "[unknown]"))
		image = frames->unknown[offset >> 63 ? 1 : 0];
	else
		result = image_of(fleet, path, &image);
	if (result)
		return result;
	*ret = tally_frames_given(frames, image, symbol ? fleet->texts.text[symbol] : NULL, offset,
				  is_inlined(group, at, end));
	return *ret ? 0 : -ENOMEM;
}

/* --- stacks --- */

/* The places [at, end) are a stack, innermost first. */
static int add_stack(struct group *group, uint64_t id, uint32_t at, uint32_t end)
{
	struct tally_fleet *fleet = group->fleet;
	struct tally_stacks *stacks = &tally_session_tables(fleet->session)->stacks;
	uint32_t count = end - at;
	uint64_t *place;
	bool added;
	int result = 0;

	if (!tally_stack_rows_is_frame(&group->rows, at))
		return 0;
	if (count > FLEET_STACK_MOST)
		return fail(group, -EBADMSG, "a stack has more than 65,536 frames");
	place = tally_map_put(&fleet->stacks, id, &added);
	if (!place)
		return -ENOMEM;
	if (!added)
		return 0;
	for (uint32_t i = 0; i < count && !result; i++)
		result = frame_at(group, at + i, end, &group->frames[count - 1 - i]);
	if (!result)
		result = tally_stacks_walk(stacks, &group->numbers, 0, group->frames, count,
					   group->nodes);
	if (!result)
		*place = (uint64_t)group->nodes[count - 1] << 32 | group->frames[count - 1];
	return result;
}

static int add_stacks(struct group *group)
{
	uint32_t row = 0;
	int result = 0;

	for (uint32_t at = 0, end; at < group->rows.places && !result; at = end, row++) {
		end = tally_stack_rows_end(&group->rows, at);
		result = add_stack(group, group->rows.ids.values[row], at, end);
	}
	return result;
}

static int read_group(struct tally_fleet *fleet, const struct fleet_file *file, uint32_t number)
{
	struct group group = {.fleet = fleet, .file = file};
	const char *why;
	int result = tally_stack_rows_read(
	    &file->reader, number, 1U << STACK_IMAGE | 1U << STACK_SYMBOL | 1U << STACK_OFFSET,
	    1U << STACK_OFFSET, &group.rows, &why);

	if (result) {
		fail(&group, result, why);
		tally_stack_rows_done(&group.rows);
		return result;
	}
	group.frames = malloc(FLEET_STACK_MOST * sizeof(*group.frames));
	group.nodes = malloc(FLEET_STACK_MOST * sizeof(*group.nodes));
	if (!group.frames || !group.nodes)
		result = -ENOMEM;
	if (!result)
		result = intern(&group, STACK_IMAGE);
	if (!result)
		result = intern(&group, STACK_SYMBOL);
	if (!result)
		result = add_stacks(&group);
	tally_stack_rows_done(&group.rows);
	free(group.texts[STACK_IMAGE]);
	free(group.texts[STACK_SYMBOL]);
	free(group.frames);
	free(group.nodes);
	return result;
}

int tally_fleet_read_stacks(struct tally_fleet *fleet)
{
	struct tally_frames *frames = &tally_session_tables(fleet->session)->frames;
	int result = tally_strings_intern(&fleet->texts, "", 0) < 0 ? -ENOMEM : 0;

	fleet->unknown = tally_frames_given(frames, frames->unknown[0], NULL, 0, false);
	if (!fleet->unknown)
		result = -ENOMEM;
	for (uint32_t i = 0; i < fleet->file_count && !result; i++) {
		const struct fleet_file *file = &fleet->files[i];

		for (uint32_t group = 0;
		     file->kind == FLEET_STACKS && group < file->reader.group_count && !result;
		     group++)
			result = read_group(fleet, file, group);
	}
	return result;
}
