/* Tables of samples: what there is in them, and their rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "fleet/fleet_read.h"
#include "resolve/thread_numbers.h"
#include "session/numbers.h"
#include "resolve/resolve_tables.h"

/* Rows that are given at a time. */
#define BATCH 4096U

enum column {
	COLUMN_TIME,
	COLUMN_EVENT,
	COLUMN_PID,
	COLUMN_TID,
	COLUMN_COMM,
	COLUMN_CPU,
	COLUMN_STACK,
	COLUMN_COUNT,
	COLUMN_PERIOD,
	COLUMN_WEIGHT,
	COLUMN_LOST,
	COLUMNS,
};
static const char names[COLUMNS][12] = {"time",     "event", "pid",    "tid",    "comm", "cpu",
					"stack_id", "count", "period", "weight", "lost"};

/* The columns of a group; those that are not there are empty. */
struct columns {
	struct parquet_values of[COLUMNS];
	int unit;
};

static void columns_done(struct columns *columns)
{
	for (unsigned i = 0; i < COLUMNS; i++)
		tally_parquet_values_done(&columns->of[i]);
}

static int read_columns(struct tally_fleet *fleet, const struct fleet_piece *piece,
			const struct parquet_reader *reader, unsigned wanted, struct columns *ret)
{
	const struct fleet_file *file = &fleet->files[piece->file];
	uint64_t rows = reader->groups[piece->group].rows;
	int result = 0;

	*ret = (struct columns){.unit = 0};
	for (unsigned i = 0; i < COLUMNS && !result; i++) {
		int leaf = tally_parquet_find(reader, names[i], names[i]);
		const char *why = "out of memory";
		bool text = i == COLUMN_EVENT || i == COLUMN_COMM;

		if (leaf < 0 || !(wanted >> i & 1))
			continue;
		if (reader->leaves[leaf].repetition_most ||
		    text != (reader->leaves[leaf].stored == PARQUET_STORED_BYTES))
			result = tally_fleet_fail(fleet, file, -ENOTSUP,
						  "a column is not of the expected type");
		else if (i == COLUMN_TIME)
			ret->unit = reader->leaves[leaf].unit;
		if (!result)
			result =
			    tally_parquet_column(reader, piece->group, leaf, &ret->of[i], &why);
		if (result && !fleet->failure.code)
			tally_fleet_fail(fleet, file, result, why);
		if (!result && ret->of[i].count != rows)
			result = tally_fleet_fail(fleet, file, -EBADMSG,
						  "a column lacks values, or has too many");
	}
	return result;
}

/* Nanoseconds. */
static uint64_t time_of(const struct columns *columns, uint32_t row)
{
	uint64_t time = columns->of[COLUMN_TIME].values[row];

	return columns->unit == 9 ? time : time * (columns->unit == 3 ? 1000000 : 1000);
}

static uint64_t count_of(const struct columns *columns, uint32_t row)
{
	return columns->of[COLUMN_COUNT].count ? columns->of[COLUMN_COUNT].values[row] : 1;
}

/* The numbers of a column's texts in a table, 0 for the empty one; NULL: out of memory, or there
 * are too many. */
static uint32_t *intern(const struct parquet_values *values, struct tally_strings *to, size_t most)
{
	uint32_t *numbers = calloc(values->text_count + 1ULL, sizeof(*numbers));

	for (uint32_t i = 0; numbers && i < values->text_count; i++) {
		const struct parquet_text *text = &values->texts[i];
		uint32_t size = text->size < FLEET_NAME_SIZE ? text->size : FLEET_NAME_SIZE;
		const void *end = memchr(text->bytes, 0, size);
		size_t length = end ? (size_t)((const uint8_t *)end - text->bytes) : size;
		int64_t number =
		    length ? tally_strings_intern(to, (const char *)text->bytes, length) : 0;

		if (number < 0 || to->count > most) {
			free(numbers);
			return NULL;
		}
		numbers[i] = (uint32_t)number;
	}
	return numbers;
}

/* The number of a row's text; the empty one of tables that lack the column is number 0. */
static uint32_t text_of(const struct parquet_values *values, const uint32_t *numbers, uint32_t row)
{
	return !values->count || (values->definition && !values->definition[row])
		   ? 0
		   : numbers[values->values[row]];
}

/* --- what there is --- */

static void note_row(struct tally_fleet *fleet, const struct columns *columns, uint32_t event,
		     uint32_t row)
{
	uint64_t samples = count_of(columns, row), time;

	if (columns->of[COLUMN_LOST].count)
		fleet->counts.lost += columns->of[COLUMN_LOST].values[row];
	if (!samples)
		return;
	fleet->counts.samples += samples;
	fleet->event_samples[event] += samples;
	if (!columns->of[COLUMN_TIME].count)
		return;
	time = time_of(columns, row);
	if (!fleet->counts.first_time || time < fleet->counts.first_time)
		fleet->counts.first_time = time;
	if (time > fleet->counts.last_time)
		fleet->counts.last_time = time;
}

static int survey_piece(struct tally_fleet *fleet, const struct fleet_piece *piece,
			const struct parquet_reader *reader)
{
	struct columns columns;
	uint32_t *events = NULL, *comms = NULL;
	uint32_t rows = (uint32_t)reader->groups[piece->group].rows;
	int result = read_columns(fleet, piece, reader,
				  1U << COLUMN_EVENT | 1U << COLUMN_COMM | 1U << COLUMN_COUNT |
				      1U << COLUMN_LOST | 1U << COLUMN_TIME,
				  &columns);

	if (!result) {
		events = intern(&columns.of[COLUMN_EVENT], &fleet->events, FLEET_EVENTS_MOST);
		comms = intern(&columns.of[COLUMN_COMM], &fleet->comms, FLEET_NAMES_MOST);
		if (!events || !comms ||
		    !array_reach(&fleet->event_samples, &fleet->event_room,
				 (uint32_t)fleet->events.count, 16, sizeof(*fleet->event_samples)))
			result = tally_fleet_fail(
			    fleet, &fleet->files[piece->file], -EFBIG,
			    "there are too many events or names of threads, or too little memory");
	}
	for (uint32_t row = 0; row < rows && !result; row++)
		note_row(fleet, &columns, text_of(&columns.of[COLUMN_EVENT], events, row), row);
	free(events);
	free(comms);
	columns_done(&columns);
	return result;
}

/* Which columns all tables have. */
static int survey_columns(struct tally_fleet *fleet, const struct fleet_file *file,
			  const struct parquet_reader *reader)
{
	static const struct {
		enum column column;
		uint64_t columns;
	} optional[] = {{COLUMN_TIME, TALLY_COLUMN_TIME},
			{COLUMN_CPU, TALLY_COLUMN_CPU},
			{COLUMN_WEIGHT, TALLY_COLUMN_WEIGHT}};

	if (tally_parquet_find(reader, "stack_id", "stack_id") < 0)
		return tally_fleet_fail(fleet, file, -ENOTSUP, "it has no column stack_id");
	if (tally_parquet_find(reader, "period", "period") < 0 &&
	    tally_parquet_find(reader, "count", "count") < 0)
		return tally_fleet_fail(fleet, file, -ENOTSUP,
					"it has neither a column period nor count");
	for (size_t i = 0; i < sizeof(optional) / sizeof(*optional); i++) {
		const char *name = names[optional[i].column];

		if (tally_parquet_find(reader, name, name) < 0)
			fleet->columns &= ~optional[i].columns;
	}
	return 0;
}

static int survey_file(struct tally_fleet *fleet, uint32_t number,
		       const struct parquet_reader *reader)
{
	int result = survey_columns(fleet, &fleet->files[number], reader);

	/* Tables without the column have one event. */
	if (!result && tally_parquet_find(reader, "event", "event") < 0 &&
	    tally_strings_intern(&fleet->events, "samples", 7) < 0)
		result = -ENOMEM;
	for (uint32_t group = 0; group < reader->group_count && !result; group++) {
		const struct fleet_piece piece = {number, group};
		uint32_t room = array_room(fleet->piece_room, fleet->piece_count + 1, 64);

		if (room != fleet->piece_room &&
		    !array_resize(&fleet->pieces, room, sizeof(*fleet->pieces)))
			return -ENOMEM;
		fleet->piece_room = room;
		fleet->pieces[fleet->piece_count++] = piece;
		result = survey_piece(fleet, &piece, reader);
	}
	return result;
}

int tally_fleet_survey(struct tally_fleet *fleet)
{
	int result = 0;

	fleet->columns = TALLY_COLUMN_TIME | TALLY_COLUMN_CPU | TALLY_COLUMN_THREAD |
			 TALLY_COLUMN_FRAME | TALLY_COLUMN_STACK | TALLY_COLUMN_PERIOD |
			 TALLY_COLUMN_WEIGHT | TALLY_COLUMN_COUNT | TALLY_COLUMN_IP |
			 TALLY_COLUMN_OFFSET;
	if (tally_strings_intern(&fleet->comms, "", 0) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < fleet->file_count && !result; i++) {
		struct fleet_table table;

		if (fleet->files[i].kind != FLEET_SAMPLES)
			continue;
		result = tally_fleet_open_file(fleet, &fleet->files[i], &table);
		if (!result)
			result = survey_file(fleet, i, &table.reader);
		tally_fleet_table_close(&table);
	}
	return result;
}

/* --- rows --- */

struct batch {
	struct given_rows rows;
	uint32_t narrow[6][BATCH];
	uint64_t wide[5][BATCH];
};

static void batch_init(struct batch *batch)
{
	uint32_t **const narrow[] = {&batch->rows.event, &batch->rows.cpu,   &batch->rows.thread,
				     &batch->rows.frame, &batch->rows.stack, &batch->rows.samples};
	uint64_t **const wide[] = {&batch->rows.time, &batch->rows.period, &batch->rows.weight,
				   &batch->rows.ip, &batch->rows.offset};

	for (size_t i = 0; i < 6; i++)
		*narrow[i] = batch->narrow[i];
	for (size_t i = 0; i < 5; i++)
		*wide[i] = batch->wide[i];
	batch->rows.count = 0;
	memset(batch->wide[3], 0, 2 * sizeof(batch->wide[3]));
}

static uint64_t value_of(const struct columns *columns, enum column column, uint32_t row,
			 uint64_t missing)
{
	return columns->of[column].count ? columns->of[column].values[row] : missing;
}

struct reading {
	struct tally_fleet *fleet;
	struct columns columns;
	uint32_t *events, *comms;
	struct thread_row last;
	uint32_t last_number;
};

static uint32_t thread_of(struct reading *reading, uint32_t row)
{
	const struct columns *columns = &reading->columns;
	const struct thread_row thread = {
	    .pid = (uint32_t)value_of(columns, COLUMN_PID, row, UINT32_MAX),
	    .tid = (uint32_t)value_of(columns, COLUMN_TID, row,
				      value_of(columns, COLUMN_PID, row, UINT32_MAX)),
	    .comm =
		reading->fleet->comm_ids[text_of(&columns->of[COLUMN_COMM], reading->comms, row)],
	};

	if (reading->last_number == UINT32_MAX ||
	    memcmp(&reading->last, &thread, sizeof(thread)) != 0) {
		reading->last = thread;
		reading->last_number = tally_thread_number(
		    &tally_session_tables(reading->fleet->session)->threads_met, &thread);
	}
	return reading->last_number;
}

/* Rows without a sample say what was lost; it was counted. */
static bool add_row(struct reading *reading, struct given_rows *rows, uint32_t row)
{
	const struct columns *columns = &reading->columns;
	uint64_t samples = count_of(columns, row);
	const uint64_t *stack;
	uint32_t at = rows->count;

	if (!samples)
		return true;
	stack = tally_map_find(&reading->fleet->stacks, columns->of[COLUMN_STACK].values[row]);
	if (stack && !(*stack >> 32)) /* it was not made: its table was changed */
		stack = NULL;
	rows->event[at] = text_of(&columns->of[COLUMN_EVENT], reading->events, row);
	rows->cpu[at] = (uint32_t)value_of(columns, COLUMN_CPU, row, UINT32_MAX);
	rows->thread[at] = thread_of(reading, row);
	rows->stack[at] = stack ? (uint32_t)(*stack >> 32) : 0;
	rows->frame[at] = stack ? (uint32_t)*stack : reading->fleet->unknown;
	rows->samples[at] = samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX;
	rows->time[at] = columns->of[COLUMN_TIME].count ? time_of(columns, row) : 0;
	rows->period[at] = value_of(columns, COLUMN_PERIOD, row, samples);
	rows->weight[at] = value_of(columns, COLUMN_WEIGHT, row, 0);
	rows->count++;
	return rows->thread[at] != UINT32_MAX;
}

static int give_rows(struct reading *reading, uint32_t count, tally_given_put put, void *to)
{
	struct batch *batch = malloc(sizeof(*batch));
	int result = batch ? 0 : -ENOMEM;

	if (batch)
		batch_init(batch);
	for (uint32_t row = 0; row < count && !result; row++) {
		if (!add_row(reading, &batch->rows, row))
			result = -ENOMEM;
		if (!result && (batch->rows.count == BATCH || row + 1 == count)) {
			result = put(to, &batch->rows);
			batch->rows.count = 0;
		}
	}
	free(batch);
	return result;
}

/* The same numbers as the survey found, without adding any: threads read at once. */
static uint32_t *find_texts(const struct parquet_values *values, struct tally_strings *known,
			    pthread_mutex_t *lock)
{
	uint32_t *numbers;

	pthread_mutex_lock(lock);
	numbers = intern(values, known, SIZE_MAX);
	pthread_mutex_unlock(lock);
	return numbers;
}

int tally_fleet_read_piece(void *context, size_t piece, tally_given_put put, void *to)
{
	struct tally_fleet *fleet = context;
	const struct fleet_piece *of = &fleet->pieces[piece];
	struct reading reading = {.fleet = fleet, .last_number = UINT32_MAX};
	uint32_t events = (uint32_t)fleet->events.count, comms = (uint32_t)fleet->comms.count;
	struct fleet_table table;
	int result = tally_fleet_open_file(fleet, &fleet->files[of->file], &table);

	/* The file may have been changed in a way that does not show. */
	if (!result && of->group >= table.reader.group_count)
		result = tally_fleet_fail(fleet, &fleet->files[of->file], -ESTALE,
					  "it was changed while it was read");
	if (!result)
		result =
		    read_columns(fleet, of, &table.reader, ~(1U << COLUMN_LOST), &reading.columns);
	if (!result) {
		reading.events =
		    find_texts(&reading.columns.of[COLUMN_EVENT], &fleet->events, &fleet->lock);
		reading.comms =
		    find_texts(&reading.columns.of[COLUMN_COMM], &fleet->comms, &fleet->lock);
		if (!reading.events || !reading.comms)
			result = -ENOMEM;
		else if (fleet->events.count != events || fleet->comms.count != comms)
			result = tally_fleet_fail(fleet, &fleet->files[of->file], -EBADMSG,
						  "it was changed while it was read");
	}
	if (!result)
		result =
		    give_rows(&reading, (uint32_t)table.reader.groups[of->group].rows, put, to);
	free(reading.events);
	free(reading.comms);
	columns_done(&reading.columns);
	tally_fleet_table_close(&table);
	return result;
}
