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

/* What is read of the tables: functions differ by their names, builds, and where they begin. */
#define FIELDS                                                                                \
	(1U << STACK_BUILD_ID | 1U << STACK_IMAGE | 1U << STACK_OFFSET | 1U << STACK_SYMBOL | \
	 1U << STACK_START)
#define OPTIONAL (1U << STACK_BUILD_ID | 1U << STACK_OFFSET | 1U << STACK_START)

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
		result = name ? tally_frames_given_image(
				    frames, name, text,
				    tally_fleet_is_kernel(text, strlen(text)) ? 'k' : '.', ret)
			      : -ENOMEM;
		if (result)
			return result;
		image = tally_map_find(&fleet->images, path);
		*image = *ret;
	}
	*ret = (uint32_t)*image;
	return 0;
}

/* The number of the short name of an image's path; UINT32_MAX: out of memory. */
static uint32_t name_of(struct tally_fleet *fleet, uint32_t path)
{
	bool added;
	uint64_t *known = tally_map_put(&fleet->names, path, &added);
	const char *name;
	int64_t number;

	if (!known)
		return UINT32_MAX;
	if (!*known) {
		name = short_name(fleet, fleet->texts.text[path]);
		number = name ? tally_strings_intern(&fleet->texts, name, strlen(name)) : -ENOMEM;
		if (number < 0)
			return UINT32_MAX;
		*known = (uint64_t)number + 1;
	}
	return (uint32_t)(*known - 1);
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

static uint64_t start_at(const struct group *group, uint32_t at)
{
	return stack_rows_value(&group->rows, STACK_START, at);
}

/* Whether the function at a place was inlined into that of the next one: they have one address, and
 * it does not begin anywhere, as the one around it does, or as all others of a build do.  Where no
 * function is known to begin somewhere, their names say it: a function that calls itself has one
 * address and one name. */
static bool is_inlined(const struct group *group, uint32_t at, uint32_t end)
{
	uint32_t next = at + 1;

	if (!group->rows.of[STACK_OFFSET].count || start_at(group, at))
		return false;
	if (group->rows.of[STACK_START].count && text_at(group, STACK_BUILD_ID, at) &&
	    text_at(group, STACK_SYMBOL, at) &&
	    group->fleet->texts.text[text_at(group, STACK_IMAGE, at)][0] == '/')
		return true;
	for (; next < end && offset_at(group, at) == offset_at(group, next) &&
	       text_at(group, STACK_IMAGE, at) == text_at(group, STACK_IMAGE, next);
	     next++)
		if (start_at(group, next))
			return true;
	return next > at + 1 &&
	       text_at(group, STACK_SYMBOL, at) != text_at(group, STACK_SYMBOL, at + 1);
}

static int frame_at(const struct group *group, uint32_t at, uint32_t end, uint32_t *ret)
{
	struct tally_fleet *fleet = group->fleet;
	struct tally_frames *frames = &tally_session_tables(fleet->session)->frames;
	uint32_t path = text_at(group, STACK_IMAGE, at), symbol = text_at(group, STACK_SYMBOL, at);
	uint64_t offset = offset_at(group, at);
	const struct tally_given_function *function = NULL;
	uint32_t image;
	int result = 0;

	/* What no mapping held is the session's own image, by level. */
	if (!symbol && !strcmp(fleet->texts.text[path], "[unknown]"))
		image = frames->unknown[offset >> 63 ? 1 : 0];
	else
		result = image_of(fleet, path, &image);
	if (!result && symbol) {
		const struct fleet_name name = {name_of(fleet, path), symbol};

		function =
		    name.image == UINT32_MAX
			? NULL
			: tally_fleet_function(&fleet->functions, name, fleet->texts.text[symbol],
					       start_at(group, at));
		result = function ? 0 : -ENOMEM;
	}
	if (result)
		return result;
	*ret = tally_frames_given(frames, image, function, offset, is_inlined(group, at, end));
	return *ret ? 0 : -ENOMEM;
}

/* --- stacks --- */

/* The places [at, end) are a stack, innermost first. */
static int add_stack(struct group *group, uint64_t *known, uint32_t at, uint32_t end)
{
	struct tally_stacks *stacks = &tally_session_tables(group->fleet->session)->stacks;
	uint32_t count = end - at;
	int result = 0;

	for (uint32_t i = 0; i < count && !result; i++)
		result = frame_at(group, at + i, end, &group->frames[count - 1 - i]);
	if (!result)
		result = tally_stacks_walk(stacks, &group->numbers, 0, group->frames, count,
					   group->nodes);
	if (!result)
		*known = (uint64_t)group->nodes[count - 1] << 32 | group->frames[count - 1];
	return result;
}

static uint32_t named_frames(const struct group *group, uint32_t at, uint32_t end)
{
	uint32_t named = 0;

	for (; at < end; at++)
		named += text_at(group, STACK_SYMBOL, at) != 0;
	return named;
}

/* Of tables that have a stack in common, that with most names counts. */
static int note_stack(struct group *group, uint64_t id, uint32_t at, uint32_t end)
{
	struct tally_fleet *fleet = group->fleet;
	uint32_t named = named_frames(group, at, end);
	bool added;
	uint64_t *most = tally_map_put(&fleet->stacks, id, &added);
	int result = most ? 0 : -ENOMEM;

	if (result || (!added && *most >= named))
		return result;
	*most = named;
	for (; at < end && !result; at++) {
		const struct fleet_name name = {
		    name_of(fleet, text_at(group, STACK_IMAGE, at)),
		    text_at(group, STACK_SYMBOL, at),
		};

		if (name.image == UINT32_MAX)
			result = -ENOMEM;
		else if (name.symbol)
			result = tally_fleet_functions_note(&fleet->functions, name,
							    text_at(group, STACK_BUILD_ID, at),
							    start_at(group, at));
	}
	return result;
}

/* Makes a stack that is not made, if this one has its names. */
static int make_stack(struct group *group, uint64_t id, uint32_t at, uint32_t end)
{
	uint64_t *known = tally_map_find(&group->fleet->stacks, id);

	return known && *known <= FLEET_STACK_MOST && *known == named_frames(group, at, end)
		   ? add_stack(group, known, at, end)
		   : 0;
}

typedef int (*stack_fn)(struct group *group, uint64_t id, uint32_t at, uint32_t end);

static int each_stack(struct group *group, stack_fn take)
{
	uint32_t row = 0;
	int result = 0;

	for (uint32_t at = 0, end; at < group->rows.places && !result; at = end, row++) {
		end = tally_stack_rows_end(&group->rows, at);
		if (!tally_stack_rows_is_frame(&group->rows, at))
			continue;
		result = end - at > FLEET_STACK_MOST
			     ? fail(group, -EBADMSG, "a stack has more than 65,536 frames")
			     : take(group, group->rows.ids.values[row], at, end);
	}
	return result;
}

static int read_group(struct tally_fleet *fleet, const struct fleet_file *file,
		      const struct parquet_reader *reader, uint32_t number, stack_fn take)
{
	static const enum stack_field texts[] = {STACK_BUILD_ID, STACK_IMAGE, STACK_SYMBOL};
	struct group group = {.fleet = fleet, .file = file};
	const char *why;
	int result = tally_stack_rows_read(reader, number, FIELDS, OPTIONAL, &group.rows, &why);

	if (result) {
		fail(&group, result, why);
		tally_stack_rows_done(&group.rows);
		return result;
	}
	group.frames = malloc(FLEET_STACK_MOST * sizeof(*group.frames));
	group.nodes = malloc(FLEET_STACK_MOST * sizeof(*group.nodes));
	if (!group.frames || !group.nodes)
		result = -ENOMEM;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && !result; i++)
		result = intern(&group, texts[i]);
	if (!result)
		result = each_stack(&group, take);
	tally_stack_rows_done(&group.rows);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		free(group.texts[texts[i]]);
	free(group.frames);
	free(group.nodes);
	return result;
}

static int read_file(struct tally_fleet *fleet, const struct fleet_file *file, stack_fn take)
{
	struct fleet_table table;
	int result = tally_fleet_open_file(fleet, file, &table);

	for (uint32_t group = 0; !result && group < table.reader.group_count; group++)
		result = read_group(fleet, file, &table.reader, group, take);
	tally_fleet_table_close(&table);
	return result;
}

/* Twice: which names are those of several functions is known when all tables were read. */
int tally_fleet_read_stacks(struct tally_fleet *fleet)
{
	struct tally_frames *frames = &tally_session_tables(fleet->session)->frames;
	int result = tally_strings_intern(&fleet->texts, "", 0) < 0 ? -ENOMEM : 0;

	fleet->unknown = tally_frames_given(frames, frames->unknown[0], NULL, 0, false);
	if (!fleet->unknown)
		result = -ENOMEM;
	for (uint32_t i = 0; i < 2 * fleet->file_count && !result; i++) {
		const struct fleet_file *file = &fleet->files[i % fleet->file_count];

		if (file->kind == FLEET_STACKS)
			result =
			    read_file(fleet, file, i < fleet->file_count ? note_stack : make_stack);
	}
	return result;
}
