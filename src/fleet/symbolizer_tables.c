/* Tables of stacks, written anew with the names that were found. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/table.h"
#include "fleet/parquet_stacks.h"
#include "fleet/symbolizer.h"
#include "session/run.h"

/* A group that is copied. */
struct copying {
	struct tally_symbolizer *symbolizer;
	struct stack_rows rows;
	uint32_t *builds;
	struct parquet_rows *to;
	uint64_t *texts[STACK_FIELDS]; /* of the table's texts: their numbers in `to`, + 1 */
	uint64_t none;                 /* the empty text */
	uint32_t *frames;              /* of a row: elements of the new table's list */
	uint32_t count, named, room;
	int failed;
};

static uint64_t text_of(struct copying *copying, const char *text, size_t length)
{
	int64_t number = tally_parquet_text(copying->to, text, length);

	if (number < 0)
		copying->failed = (int)number;
	return number < 0 ? 0 : (uint64_t)number;
}

/* The value of a field as the new table has it. */
static uint64_t value_of(struct copying *copying, enum stack_field field, uint32_t place)
{
	uint64_t value = stack_rows_value(&copying->rows, field, place), *known;

	if (!stack_rows_text_field(field))
		return value;
	if (value == UINT64_MAX)
		return copying->none;
	known = &copying->texts[field][value];
	if (!*known) {
		const struct parquet_text *text = &copying->rows.of[field].texts[value];

		*known = text_of(copying, (const char *)text->bytes, text->size) + 1;
	}
	return *known - 1;
}

/* Adds a frame to the row. */
static int add_frame(struct copying *copying, const uint64_t *values)
{
	uint32_t room = array_room(copying->room, copying->count + 1, 256);
	int64_t number = tally_parquet_element(copying->to, values);

	if (number < 0 || (room != copying->room &&
			   !array_resize(&copying->frames, room, sizeof(*copying->frames))))
		return -ENOMEM;
	copying->room = room;
	copying->frames[copying->count++] = (uint32_t)number;
	copying->named += values[STACK_SYMBOL] != copying->none;
	return 0;
}

static void read_frame(struct copying *copying, uint32_t place, uint64_t *ret)
{
	for (unsigned i = 0; i < STACK_FIELDS; i++)
		ret[i] = value_of(copying, (enum stack_field)i, place);
}

/* A frame becomes the functions at its place. */
static int name_frame(struct copying *copying, uint32_t place, uint32_t line)
{
	const struct symbolizer_line *lines = copying->symbolizer->lines, *at;
	uint64_t values[STACK_FIELDS];
	int result;

	read_frame(copying, place, values);
	do {
		at = &lines[line++];
		values[STACK_SYMBOL] = text_of(copying, at->symbol, strlen(at->symbol));
		values[STACK_FILE] = text_of(copying, at->file, strlen(at->file));
		values[STACK_LINE] = at->line;
		values[STACK_START] = at->start;
		result = add_frame(copying, values);
	} while (!at->last && !result);
	return result;
}

static int put_frame(struct copying *copying, uint32_t place)
{
	struct tally_symbolizer *symbolizer = copying->symbolizer;
	uint64_t key, values[STACK_FIELDS];
	const uint64_t *line = NULL;

	if (tally_symbolizer_place(&copying->rows, copying->builds, place, &key))
		line = tally_map_find(&symbolizer->places, key);
	if (!line || !*line) {
		read_frame(copying, place, values);
		return add_frame(copying, values);
	}
	symbolizer->list[key >> SYMBOLIZER_OFFSET_BITS].named++;
	symbolizer->result.named++;
	return name_frame(copying, place, (uint32_t)*line - 1);
}

static int put_rows(struct copying *copying)
{
	const struct stack_rows *rows = &copying->rows;
	uint32_t row = 0;
	int result = 0;

	for (uint32_t at = 0, end; at < rows->places && !result; at = end, row++) {
		end = tally_stack_rows_end(rows, at);
		copying->count = copying->named = 0;
		for (uint32_t place = at;
		     place < end && !result && tally_stack_rows_is_frame(rows, place); place++)
			result = put_frame(copying, place);
		if (!result)
			result = copying->failed;
		if (!result)
			result = tally_parquet_row(
			    copying->to,
			    (const uint64_t[STACK_COLUMNS]){rows->ids.values[row], copying->named},
			    copying->frames, copying->count);
	}
	return result;
}

static int copy_group(struct tally_symbolizer *symbolizer, const struct fleet_table *table,
		      const char *path, uint32_t group, struct parquet_rows *to,
		      struct tally_error *error)
{
	struct copying copying = {.symbolizer = symbolizer, .to = to};
	int result = tally_symbolizer_read(table, path, group, &copying.rows, error);

	if (!result) {
		copying.builds = tally_symbolizer_builds(symbolizer, &copying.rows, false);
		copying.none = text_of(&copying, "", 0);
		result = copying.builds ? copying.failed : -ENOMEM;
	}
	for (unsigned i = 0; i < STACK_FIELDS && !result; i++) {
		copying.texts[i] = calloc(copying.rows.of[i].text_count + 1ULL, sizeof(uint64_t));
		result = copying.texts[i] ? 0 : -ENOMEM;
	}
	if (!result)
		result = put_rows(&copying);
	tally_stack_rows_done(&copying.rows);
	for (unsigned i = 0; i < STACK_FIELDS; i++)
		free(copying.texts[i]);
	free(copying.builds);
	free(copying.frames);
	return result;
}

/* Whether a frame of a table got a name. */
static bool gets_names(struct tally_symbolizer *symbolizer, const struct stack_rows *rows,
		       const uint32_t *builds)
{
	uint64_t key;

	for (uint32_t place = 0; place < rows->places; place++) {
		const uint64_t *line = tally_symbolizer_place(rows, builds, place, &key)
					   ? tally_map_find(&symbolizer->places, key)
					   : NULL;

		if (line && *line)
			return true;
	}
	return false;
}

/* The same of all its groups: 1 or 0, or -errno. */
static int is_changed(struct tally_symbolizer *symbolizer, const struct fleet_table *table,
		      const char *path, struct tally_error *error)
{
	int result = 0;

	for (uint32_t group = 0; group < table->reader.group_count && !result; group++) {
		uint32_t *builds = NULL;
		struct stack_rows rows;

		result = tally_symbolizer_read(table, path, group, &rows, error);
		if (!result)
			builds = tally_symbolizer_builds(symbolizer, &rows, false);
		if (!result)
			result = builds ? gets_names(symbolizer, &rows, builds) : -ENOMEM;
		tally_stack_rows_done(&rows);
		free(builds);
	}
	return result;
}

static int write_table(struct tally_symbolizer *symbolizer, struct tally_session *session,
		       const struct fleet_table *table, const char *path, FILE *out,
		       struct tally_error *error)
{
	struct parquet_writer *writer = NULL;
	struct parquet_rows *rows = NULL;
	int result = tally_parquet_new(out, &tally_parquet_stacks_table, &writer);

	if (!result)
		result = tally_parquet_rows_new(writer, tally_session_threads(session), &rows);
	for (uint32_t group = 0; group < table->reader.group_count && !result; group++)
		result = tally_session_interrupted(session)
			     ? -ECANCELED
			     : copy_group(symbolizer, table, path, group, rows, error);
	if (!result)
		result = tally_parquet_rows_write(rows);
	if (!result)
		result = tally_parquet_end(writer);
	tally_parquet_rows_free(rows);
	tally_parquet_free(writer);
	return result;
}

/* The successor has the permissions of the file. */
static FILE *create(const char *path, const char *incomplete)
{
	struct stat about;
	FILE *out;
	int fd = open(incomplete, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);

	if (fd < 0)
		return NULL;
	if (!stat(path, &about))
		(void)fchmod(fd, about.st_mode & 0777);
	out = fdopen(fd, "w");
	if (!out)
		close(fd);
	return out;
}

static int replace(struct tally_symbolizer *symbolizer, struct tally_session *session,
		   const struct fleet_table *table, const char *path, struct tally_error *error)
{
	char *incomplete;
	FILE *out;
	int result;

	if (asprintf(&incomplete, "%s.%ld.tmp", path, (long)getpid()) < 0)
		return -ENOMEM;
	out = create(path, incomplete);
	result = out ? write_table(symbolizer, session, table, path, out, error) : -errno;
	if (out && fclose(out) && !result)
		result = -errno;
	if (!result && rename(incomplete, path))
		result = -errno;
	if (result && out)
		unlink(incomplete);
	free(incomplete);
	if (!result)
		symbolizer->result.written++;
	return result;
}

int tally_symbolizer_rewrite(struct tally_symbolizer *symbolizer, struct tally_session *session,
			     struct tally_error *error)
{
	struct tally_error own = {0};
	int result = 0;

	error = error ? error : &own;
	error->code = 0;
	for (uint32_t i = 0; i < symbolizer->file_count && !result; i++) {
		const char *path = symbolizer->files[i];
		struct fleet_table table;

		result = tally_symbolizer_open_table(path, &table, error);
		if (!result)
			result = is_changed(symbolizer, &table, path, error);
		if (result > 0)
			result = replace(symbolizer, session, &table, path, error);
		tally_fleet_table_close(&table);
		if (result && result != -ECANCELED && !error->code)
			tally_fail(error, result, -1, "%s: %s", path, strerror(-result));
	}
	return result;
}
