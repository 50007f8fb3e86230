/* Tables of stacks, into the frames and stacks of a session. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "fleet/fleet_read.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "resolve/stacks.h"
#include "session/numbers.h"

enum field { FIELD_IMAGE, FIELD_SYMBOL, FIELD_OFFSET, FIELDS };
static const char *const names[FIELDS] = {"image", "symbol", "offset"};

/* The stacks of a group. */
struct group {
	struct tally_fleet *fleet;
	const struct fleet_file *file;
	struct parquet_values ids, of[FIELDS];
	uint8_t definition_most[FIELDS];
	uint32_t *texts[FIELDS]; /* numbers of the fleet's texts */
	struct stacks_numbers numbers;
	uint32_t *frames, *nodes; /* of a stack; FLEET_STACK_MOST */
};

static int fail(const struct group *group, int result, const char *why)
{
	return tally_fleet_fail(group->fleet, group->file, result, why);
}

/* Texts get numbers; they end at a zero byte. */
static int intern(struct group *group, enum field field)
{
	const struct parquet_values *values = &group->of[field];

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

static int read_column(struct group *group, uint32_t number, int leaf, struct parquet_values *ret)
{
	const char *why = "out of memory";
	int result = tally_parquet_column(&group->file->reader, number, leaf, ret, &why);

	return result ? fail(group, result, why) : 0;
}

static int read_fields(struct group *group, uint32_t number)
{
	const struct parquet_reader *reader = &group->file->reader;
	int result = 0;

	for (unsigned i = 0; i < FIELDS && !result; i++) {
		int leaf = tally_parquet_find(reader, "frames", names[i]);

		if (leaf < 0 && i == FIELD_OFFSET)
			continue;
		if (leaf < 0 || reader->leaves[leaf].repetition_most != 1 ||
		    (i != FIELD_OFFSET) != (reader->leaves[leaf].stored == PARQUET_STORED_BYTES))
			return fail(group, -ENOTSUP,
				    "frames are not a list of structures with image and symbol");
		group->definition_most[i] = reader->leaves[leaf].definition_most;
		result = read_column(group, number, leaf, &group->of[i]);
		if (!result && group->of[i].count != group->of[0].count)
			result = fail(group, -EBADMSG, "its frames are damaged");
		if (!result && i != FIELD_OFFSET)
			result = intern(group, (enum field)i);
	}
	return result;
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
static uint32_t text_at(const struct group *group, enum field field, uint32_t at)
{
	return group->of[field].definition &&
		       group->of[field].definition[at] < group->definition_most[field]
		   ? 0
		   : group->texts[field][group->of[field].values[at]];
}

static uint64_t offset_at(const struct group *group, uint32_t at)
{
	return group->of[FIELD_OFFSET].count ? group->of[FIELD_OFFSET].values[at] : 0;
}

/* Whether the function at a place was inlined into that of the next one: they have one address.  A
 * function that calls itself has one, too, but the same name. */
static bool is_inlined(const struct group *group, uint32_t at, uint32_t end)
{
	return at + 1 < end && group->of[FIELD_OFFSET].count &&
	       offset_at(group, at) == offset_at(group, at + 1) &&
	       text_at(group, FIELD_IMAGE, at) == text_at(group, FIELD_IMAGE, at + 1) &&
	       text_at(group, FIELD_SYMBOL, at) != text_at(group, FIELD_SYMBOL, at + 1);
}

static int frame_at(const struct group *group, uint32_t at, uint32_t end, uint32_t *ret)
{
	struct tally_fleet *fleet = group->fleet;
	struct tally_frames *frames = &tally_session_tables(fleet->session)->frames;
	uint32_t path = text_at(group, FIELD_IMAGE, at), symbol = text_at(group, FIELD_SYMBOL, at);
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

/* A list without elements has a place, too. */
static bool is_element(const struct group *group, uint32_t at)
{
	for (unsigned i = 0; i < FIELDS; i++)
		if (group->of[i].count &&
		    (!group->of[i].definition ||
		     group->of[i].definition[at] >= group->definition_most[i]))
			return true;
	return false;
}

/* The places [at, end) are a stack, innermost first. */
static int add_stack(struct group *group, uint64_t id, uint32_t at, uint32_t end)
{
	struct tally_fleet *fleet = group->fleet;
	struct tally_stacks *stacks = &tally_session_tables(fleet->session)->stacks;
	uint32_t count = end - at;
	uint64_t *place;
	bool added;
	int result = 0;

	if (!is_element(group, at))
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
	const struct parquet_values *places = &group->of[0];
	uint32_t row = 0;
	int result = 0;

	for (uint32_t at = 0, end; at < places->count && !result; at = end, row++) {
		for (end = at + 1; end < places->count && places->repetition[end]; end++)
			;
		result = row < group->ids.count
			     ? add_stack(group, group->ids.values[row], at, end)
			     : fail(group, -EBADMSG, "it has more lists than rows");
	}
	return result;
}

static int read_group(struct tally_fleet *fleet, const struct fleet_file *file, uint32_t number)
{
	struct group group = {.fleet = fleet, .file = file};
	int leaf = tally_parquet_find(&file->reader, "stack_id", "stack_id"), result;

	group.frames = malloc(FLEET_STACK_MOST * sizeof(*group.frames));
	group.nodes = malloc(FLEET_STACK_MOST * sizeof(*group.nodes));
	if (!group.frames || !group.nodes)
		result = -ENOMEM;
	else if (leaf < 0 || file->reader.leaves[leaf].stored == PARQUET_STORED_BYTES ||
		 file->reader.leaves[leaf].repetition_most)
		result = fail(&group, -ENOTSUP, "it has no column stack_id of numbers");
	else
		result = read_column(&group, number, leaf, &group.ids);
	if (!result)
		result = read_fields(&group, number);
	if (!result)
		result = add_stacks(&group);
	tally_parquet_values_done(&group.ids);
	for (unsigned i = 0; i < FIELDS; i++) {
		tally_parquet_values_done(&group.of[i]);
		free(group.texts[i]);
	}
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
