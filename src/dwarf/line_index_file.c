#include "dwarf/line_index_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cache_folder.h"
#include "elf/build_id.h"

/* Changes with the layout, and with the rules by which blocks and names are made. */
#define VERSION 2
#define ORDER   0x01020304U

static const char magic[8] = "TALLYLN";

struct head {
	char magic[8];
	uint32_t version, order; /* ORDER as this machine writes it */
	uint64_t hash;           /* of what follows, up to `tables` of the file */
	uint64_t size, tables;   /* of the file, and of what is before the blocks */
	uint8_t id_size, id[20], zero[3];
	char path[256]; /* ends with a NUL */
	uint64_t base, shift;
	uint64_t ranges, range_count; /* array of struct line_range */
	uint64_t units, unit_count;   /* of struct row */
	uint64_t spans, span_count;   /* of struct tally_span */
	uint64_t names, name_count;   /* of struct line_name, */
	uint64_t text, text_size;     /* and their text */
};
#define HASHED_FROM offsetof(struct head, size)

struct row { /* of a unit */
	uint64_t offset, block, size, hash;
	uint32_t state, unplaced;
};

void tally_line_index_name(const uint8_t *id, uint8_t id_size, char *ret)
{
	char text[TALLY_BUILD_ID_TEXT];

	tally_build_id_format(id, id_size, text);
	snprintf(ret, TALLY_CACHE_NAME_MOST, "%s%s", LINE_INDEX_PREFIX, text);
}

/* --- reading --- */

/* An array within `limit` bytes; NULL: it is not, or not aligned. */
static const void *array_at(const uint8_t *bytes, uint64_t limit, uint64_t offset, uint64_t count,
			    size_t size)
{
	if (offset % 8 || offset > limit || count > (limit - offset) / size)
		return NULL;
	return bytes + offset;
}

static int check_head(const struct line_index_options *options, const uint8_t *bytes, size_t size,
		      const struct head **ret)
{
	const struct head *head = (const struct head *)bytes;

	if (size < sizeof(*head) || memcmp(head->magic, magic, sizeof(magic)) != 0 ||
	    head->version != VERSION || head->order != ORDER || head->size != size ||
	    head->tables < sizeof(*head) || head->tables > size || head->id_size > 20 ||
	    head->path[sizeof(head->path) - 1] ||
	    (options->id_size && (head->id_size != options->id_size ||
				  memcmp(head->id, options->id, options->id_size) != 0)) ||
	    head->hash != tally_hash_block(bytes + HASHED_FROM, head->tables - HASHED_FROM))
		return -EBADMSG;
	*ret = head;
	return 0;
}

static int take_units(struct line_index *index, const uint8_t *bytes, const struct head *head)
{
	const struct row *rows =
	    array_at(bytes, head->tables, head->units, head->unit_count, sizeof(*rows));

	if (!rows || head->unit_count >= UINT32_MAX)
		return -EBADMSG;
	index->units = calloc(head->unit_count + 1, sizeof(*index->units));
	if (!index->units)
		return -ENOMEM;
	index->unit_count = head->unit_count;
	for (size_t i = 0; i < head->unit_count; i++) {
		const struct row *row = &rows[i];

		index->units[i] = (struct line_unit){.offset = row->offset,
						     .state = row->state,
						     .unplaced = row->unplaced != 0,
						     .hash = row->hash};
		if (row->state > LINE_UNIT_READY)
			return -EBADMSG;
		if (row->state != LINE_UNIT_READY)
			continue;
		if (row->block < head->tables || row->size > SIZE_MAX / 2)
			return -EBADMSG;
		index->units[i].block = array_at(bytes, head->size, row->block, row->size, 1);
		index->units[i].size = row->size;
		if (!index->units[i].block)
			return -EBADMSG;
	}
	return 0;
}

static int take_spans(struct line_index *index, const uint8_t *bytes, const struct head *head)
{
	const struct tally_span *spans =
	    array_at(bytes, head->tables, head->spans, head->span_count, sizeof(*spans));

	if (!spans || head->span_count >= UINT32_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < head->span_count; i++)
		if (spans[i].outer > i || spans[i].index >= head->unit_count ||
		    (i && spans[i].low < spans[i - 1].low))
			return -EBADMSG;
	index->spans.list = calloc(head->span_count + 1, sizeof(*spans));
	if (!index->spans.list)
		return -ENOMEM;
	if (head->span_count)
		memcpy(index->spans.list, spans, head->span_count * sizeof(*spans));
	index->spans.count = index->spans.room = head->span_count;
	return 0;
}

static int take_ranges(struct line_index *index, const uint8_t *bytes, const struct head *head)
{
	const struct line_range *ranges =
	    array_at(bytes, head->tables, head->ranges, head->range_count, sizeof(*ranges));

	if (!ranges)
		return -EBADMSG;
	index->ranges = calloc(head->range_count + 1, sizeof(*ranges));
	if (!index->ranges)
		return -ENOMEM;
	if (head->range_count)
		memcpy(index->ranges, ranges, head->range_count * sizeof(*ranges));
	index->range_count = head->range_count;
	return 0;
}

static int take_names(struct line_index *index, const uint8_t *bytes, const struct head *head)
{
	const struct line_name *names =
	    array_at(bytes, head->tables, head->names, head->name_count, sizeof(*names));
	const char *text = array_at(bytes, head->tables, head->text, head->text_size, 1);

	if (!names || !text)
		return -EBADMSG;
	return tally_line_names_take(&index->names, names, head->name_count, text, head->text_size);
}

static void drop(struct line_index *index)
{
	free(index->units);
	free(index->ranges);
	tally_spans_done(&index->spans);
	index->units = NULL;
	index->ranges = NULL;
	index->unit_count = index->range_count = 0;
	index->names.count = index->names.text_size = 0;
}

int tally_line_index_take(struct line_index *index, const uint8_t *bytes, size_t size)
{
	const struct head *head;
	int error = check_head(&index->options, bytes, size, &head);

	if (error)
		return error;
	index->base = head->base;
	index->shift = head->shift;
	error = take_units(index, bytes, head);
	if (!error)
		error = take_spans(index, bytes, head);
	if (!error)
		error = take_ranges(index, bytes, head);
	if (!error)
		error = take_names(index, bytes, head);
	if (error)
		drop(index);
	return error;
}

int tally_line_index_load(struct line_index *index)
{
	const struct line_index_options *options = &index->options;
	char name[TALLY_CACHE_NAME_MOST];
	int error;

	if (!options->folder || !options->id_size)
		return -ENOENT;
	tally_line_index_name(options->id, options->id_size, name);
	error = tally_cache_map(options->folder, name, &index->file);
	if (!error)
		error = tally_line_index_take(index, index->file.data, index->file.size);
	if (error)
		tally_fs_unmap(&index->file);
	return error;
}

int tally_line_index_check(struct line_unit *unit)
{
	if (tally_hash_block(unit->block, unit->size) != unit->hash)
		return -EBADMSG;
	return tally_unit_lines_take(unit->block, unit->size, &unit->lines);
}

static int check_all(const struct tally_mapped *file)
{
	struct line_index index = {.options.folder = NULL}; /* its names are of the file alone */
	int error = tally_line_index_take(&index, file->data, file->size);

	for (size_t i = 0; i < index.unit_count && !error; i++)
		if (index.units[i].state == LINE_UNIT_READY)
			error = tally_line_index_check(&index.units[i]);
	drop(&index);
	return error;
}

int tally_line_index_about(const char *folder, const char *name, bool all,
			   struct line_index_about *ret)
{
	const struct line_index_options options = {.folder = folder};
	struct line_index_about about = {0};
	struct tally_mapped file;
	const struct head *head;
	const struct row *rows;
	int error = tally_cache_peek(folder, name, &file);

	if (error)
		return error;
	error = check_head(&options, file.data, file.size, &head);
	if (!error && all)
		error = check_all(&file);
	if (!error) {
		about.id_size = head->id_size;
		memcpy(about.id, head->id, sizeof(about.id));
		memcpy(about.path, head->path, sizeof(about.path));
		rows =
		    array_at(file.data, head->tables, head->units, head->unit_count, sizeof(*rows));
		about.units = rows ? (uint32_t)head->unit_count : 0;
		for (uint32_t i = 0; i < about.units; i++)
			about.ready += rows[i].state != LINE_UNIT_UNREAD;
		*ret = about;
	}
	tally_fs_unmap(&file);
	return error;
}

/* --- writing --- */

/* Places the blocks; the tables, which say where they are, are written last. */
static void put_blocks(struct line_index *index, struct tally_cache_writer *writer,
		       struct row *rows)
{
	for (size_t i = 0; i < index->unit_count; i++) {
		const struct line_unit *unit = &index->units[i];
		struct row *row = &rows[i];

		*row = (struct row){
		    .offset = unit->offset, .state = unit->state, .unplaced = unit->unplaced};
		if (unit->state != LINE_UNIT_READY)
			continue;
		row->size = unit->size;
		row->hash = unit->made ? tally_hash_block(unit->block, unit->size) : unit->hash;
		row->block = tally_cache_put(writer, unit->block, unit->size);
	}
}

static void copy(uint8_t *to, const struct tally_buf *from)
{
	if (from->size)
		memcpy(to, from->data, from->size);
}

static void *join(const struct head *head, const struct line_index *index, const struct row *rows,
		  const struct tally_buf *names, const struct tally_buf *text)
{
	uint8_t *bytes = calloc(1, head->tables);

	if (!bytes)
		return NULL;
	memcpy(bytes, head, sizeof(*head));
	if (head->range_count)
		memcpy(bytes + head->ranges, index->ranges,
		       head->range_count * sizeof(*index->ranges));
	if (head->unit_count)
		memcpy(bytes + head->units, rows, head->unit_count * sizeof(*rows));
	for (size_t i = 0; i < head->span_count; i++) {
		const struct tally_span *span = &index->spans.list[i];

		memcpy(bytes + head->spans + i * sizeof(*span), span, sizeof(*span));
	}
	copy(bytes + head->names, names);
	copy(bytes + head->text, text);
	((struct head *)bytes)->hash =
	    tally_hash_block(bytes + HASHED_FROM, head->tables - HASHED_FROM);
	return bytes;
}

static int write_index(struct line_index *index, struct tally_cache_writer *writer)
{
	const struct line_index_options *options = &index->options;
	struct head head = {.version = VERSION,
			    .order = ORDER,
			    .id_size = options->id_size,
			    .base = index->base,
			    .shift = index->shift,
			    .range_count = index->range_count,
			    .unit_count = index->unit_count,
			    .span_count = index->spans.count};
	struct row *rows = calloc(index->unit_count + 1, sizeof(*rows));
	struct tally_buf names = {0}, text = {0};
	void *tables = NULL;
	int error = tally_line_names_join(&index->names, &names, &text);

	memcpy(head.magic, magic, sizeof(magic));
	memcpy(head.id, options->id, sizeof(head.id));
	snprintf(head.path, sizeof(head.path), "%s", options->path ? options->path : "");
	head.ranges = align_up(sizeof(head), 8);
	head.units = head.ranges + head.range_count * sizeof(*index->ranges);
	head.spans = head.units + head.unit_count * sizeof(*rows);
	head.names = align_up(head.spans + head.span_count * sizeof(struct tally_span), 8);
	head.name_count = names.size / sizeof(struct line_name);
	head.text = head.names + names.size;
	head.text_size = text.size;
	head.tables = align_up(head.text + text.size, 8);
	writer->at = head.tables;
	if (rows)
		put_blocks(index, writer, rows);
	head.size = writer->at;
	if (rows && !error)
		tables = join(&head, index, rows, &names, &text);
	if (!tables)
		writer->error = -ENOMEM;
	error = tally_cache_end(writer, tables, head.tables);
	tally_buf_done(&names);
	tally_buf_done(&text);
	free(tables);
	free(rows);
	return error;
}

int tally_line_index_save(struct line_index *index)
{
	const struct line_index_options *options = &index->options;
	char name[TALLY_CACHE_NAME_MOST];
	struct tally_cache_writer writer;
	int error;

	tally_line_index_name(options->id, options->id_size, name);
	error = tally_cache_begin(options->folder, name, &writer);
	return error ? error : write_index(index, &writer);
}
