#include "fleet/parquet_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "convert/sample_rows.h"
#include "resolve/stacks.h"
#include "session/numbers.h"
#include "session/run.h"

enum sample_column {
	SAMPLE_RECORDING,
	SAMPLE_HOST,
	SAMPLE_SERVICE,
	SAMPLE_VERSION,
	SAMPLE_TIME,
	SAMPLE_EVENT,
	SAMPLE_PID,
	SAMPLE_TID,
	SAMPLE_COMM,
	SAMPLE_CGROUP,
	SAMPLE_CPU,
	SAMPLE_STACK,
	SAMPLE_COUNT,
	SAMPLE_PERIOD,
	SAMPLE_WEIGHT,
	SAMPLE_LOST,
	SAMPLE_COLUMNS,
};
static const struct parquet_column columns[SAMPLE_COLUMNS] = {
    {"recording", PARQUET_TEXT}, {"host", PARQUET_TEXT},  {"service", PARQUET_TEXT},
    {"version", PARQUET_TEXT},   {"time", PARQUET_TIME},  {"event", PARQUET_TEXT},
    {"pid", PARQUET_I32},        {"tid", PARQUET_I32},    {"comm", PARQUET_TEXT},
    {"cgroup", PARQUET_TEXT},    {"cpu", PARQUET_I32},    {"stack_id", PARQUET_U64},
    {"count", PARQUET_I64},      {"period", PARQUET_I64}, {"weight", PARQUET_I64},
    {"lost", PARQUET_I64},
};
/* Samples of a thread beside each other: in files of many threads that is a fifth of their size. */
static const uint8_t order[] = {SAMPLE_EVENT, SAMPLE_PID, SAMPLE_TID, SAMPLE_TIME};
const struct parquet_table tally_parquet_samples_table = {
    .columns = columns,
    .column_count = SAMPLE_COLUMNS,
    .order = order,
    .order_count = sizeof(order),
};

/* How many samples before they are taken memory is fetched. */
#define AHEAD 8U

struct samples_worker {
	struct parquet_path path;
	uint64_t *sampled; /* a bit for each stack of the session that is a sample's */
	uint32_t sampled_room;
	struct tally_map pairs; /* others: those of stacks that begin elsewhere */
} __attribute__((aligned(TABLE_APART)));

/* What a worker makes of a sample for the thread that takes its part. */
struct kept_row {
	uint64_t time, period, weight, stack_id;
	const char *comm, *cgroup; /* they stay where they are */
	uint32_t event, pid, tid, cpu;
};

uint64_t tally_parquet_time(const struct parquet_recording *recording, uint64_t time)
{
	int64_t nanoseconds = (int64_t)(time + (uint64_t)recording->wall_offset);

	return (uint64_t)((nanoseconds - (nanoseconds < 0 ? 999 : 0)) / 1000);
}

/* What is needed while samples are read. */
static void reading_done(struct parquet_samples *samples)
{
	for (unsigned i = 0; i < samples->worker_count; i++) {
		struct samples_worker *worker = &samples->workers[i];

		tally_parquet_path_done(&worker->path);
		free(worker->sampled);
		tally_map_done(&worker->pairs);
	}
	free(samples->workers);
	samples->workers = NULL;
	samples->worker_count = 0;
	tally_parquet_ids_done(&samples->ids);
	tally_map_done(&samples->cgroups);
	tally_strings_done(&samples->paths);
}

void tally_parquet_samples_done(struct parquet_samples *samples)
{
	reading_done(samples);
	tally_stack_table_done(&samples->stacks);
	free(samples->stack_ids);
	samples->stack_ids = NULL;
}

static uint64_t text_of(struct parquet_samples *samples, const char *text)
{
	return tally_parquet_file_text(samples->file->rows, text, &samples->failed);
}

/* The same of the session's texts. */
static uint64_t same_text(struct parquet_samples *samples, struct last_text *last, const char *text)
{
	return parquet_file_same_text(samples->file->rows, last, text, &samples->failed);
}

/* Each processor has its own thread, so that names take turns. */
static struct last_text *comm_of(struct parquet_samples *samples, const char *comm)
{
	return &samples->comms[hash_u64((uintptr_t)comm) % COMMS_KNOWN];
}

static int begin(void *context, unsigned workers)
{
	struct parquet_samples *samples = context;

	samples->workers = table_apart(workers, sizeof(*samples->workers));
	if (!samples->workers)
		return -ENOMEM;
	samples->worker_count = workers;
	return 0;
}

/* --- cgroups --- */

/* One walk over the headers of all records, where samples name their cgroups. */
static int take_cgroups(struct parquet_samples *samples)
{
	struct tally_data *data = samples->convert->data;
	struct tally_record record;
	struct tally_body body = {.size = sizeof(body)};
	bool named = false;

	for (size_t i = 0; i < tally_data_event_count(data); i++)
		named |= tally_data_event(data, i)->attr.sample_type & PERF_SAMPLE_CGROUP;
	if (!named)
		return 0;
	tally_data_rewind(data);
	while (tally_data_next_record(data, &record, NULL) > 0) {
		int64_t path;
		uint64_t *place;
		bool added;

		if (record.type != PERF_RECORD_CGROUP ||
		    tally_record_decode(&tally_data_event(data, 0)->layout, &record, &body, NULL) <
			0)
			continue;
		path = tally_strings_intern(&samples->paths, body.cgroup.path,
					    strlen(body.cgroup.path));
		place = tally_map_put(&samples->cgroups, body.cgroup.id, &added);
		if (path < 0 || !place)
			return -ENOMEM;
		*place = (uint64_t)path;
	}
	return 0;
}

static const char *cgroup_of(const struct parquet_samples *samples, const struct sample_row *row)
{
	struct tally_sample sample = {.size = sizeof(sample)};
	const uint64_t *path;

	if (!samples->cgroups.count || tally_batch_sample(row->batch, row->at, &sample) ||
	    !(sample.present & PERF_SAMPLE_CGROUP))
		return "";
	path = tally_map_find(&samples->cgroups, sample.cgroup);
	return path ? samples->paths.text[*path] : "";
}

/* --- rows --- */

/* Keeps the stack of a row, whose number is `id`. */
static int note_stack(const struct parquet_samples *samples, struct samples_worker *worker,
		      const struct sample_row *row, uint64_t id)
{
	uint64_t *number;
	bool added;

	if (!id)
		return 0;
	if (row->stack && stacks_frame(samples->ids.stacks, row->stack) == row->frame) {
		if (!array_reach(&worker->sampled, &worker->sampled_room, row->stack / 64, 1024,
				 sizeof(*worker->sampled)))
			return -ENOMEM;
		worker->sampled[row->stack / 64] |= 1ULL << row->stack % 64;
		return 0;
	}
	number = tally_map_put(&worker->pairs, (uint64_t)row->stack << 32 | row->frame, &added);
	return number ? 0 : -ENOMEM;
}

static int put_sample(void *context, const struct sample_row *row)
{
	struct parquet_samples *samples = context;
	struct samples_worker *worker = &samples->workers[row->worker];
	struct kept_row kept = {.time = row->time,
				.period = row->period,
				.weight = row->batch->weight[row->at],
				.comm = row->comm,
				.cgroup = cgroup_of(samples, row),
				.event = row->event,
				.pid = row->pid,
				.tid = row->tid,
				.cpu = row->cpu};
	int result;

	if (row->at + AHEAD < row->batch->count)
		tally_parquet_id_fetch(&samples->ids, row->batch->stack[row->at + AHEAD]);
	result =
	    tally_parquet_id(&samples->ids, &worker->path, row->stack, row->frame, &kept.stack_id);
	if (!result)
		result = note_stack(samples, worker, row, kept.stack_id);
	if (result)
		return result;
	tally_buf_add(row->part, &kept, sizeof(kept));
	return row->part->failed;
}

static int put_row(struct parquet_samples *samples, const uint64_t *row)
{
	return samples->failed ? samples->failed
			       : tally_parquet_row(samples->file->rows, row, NULL, 0);
}

/* What all rows have in common. */
static void begin_row(struct parquet_samples *samples, uint64_t *row)
{
	const struct parquet_recording *recording = samples->recording;

	row[SAMPLE_RECORDING] = text_of(samples, recording->name);
	row[SAMPLE_HOST] = text_of(samples, recording->host);
	row[SAMPLE_SERVICE] = text_of(samples, recording->service);
	row[SAMPLE_VERSION] = text_of(samples, recording->version);
}

static int take_part(void *context, const struct tally_buf *part)
{
	struct parquet_samples *samples = context;
	const struct kept_row *rows = (const struct kept_row *)part->data;
	uint64_t to[SAMPLE_COLUMNS] = {[SAMPLE_COUNT] = 1};
	int result = 0;

	begin_row(samples, to);
	for (size_t i = 0; i < part->size / sizeof(*rows) && !result; i++) {
		const struct kept_row *row = &rows[i];

		to[SAMPLE_TIME] = tally_parquet_time(samples->recording, row->time);
		to[SAMPLE_EVENT] =
		    same_text(samples, &samples->event,
			      tally_data_event(samples->convert->data, row->event)->name);
		to[SAMPLE_PID] = row->pid;
		to[SAMPLE_TID] = row->tid;
		to[SAMPLE_COMM] = same_text(samples, comm_of(samples, row->comm), row->comm);
		to[SAMPLE_CGROUP] = same_text(samples, &samples->cgroup, row->cgroup);
		to[SAMPLE_CPU] = row->cpu;
		to[SAMPLE_STACK] = row->stack_id;
		to[SAMPLE_PERIOD] = row->period;
		to[SAMPLE_WEIGHT] = row->weight;
		result = put_row(samples, to);
	}
	return result;
}

/* What was lost is a row without a sample, so that sums over any rows have it. */
static int put_lost(struct parquet_samples *samples)
{
	const struct tally_session_counts *counts = tally_session_counts(samples->convert->session);
	uint64_t to[SAMPLE_COLUMNS] = {0};

	if (!counts->lost)
		return 0;
	begin_row(samples, to);
	to[SAMPLE_TIME] = tally_parquet_time(samples->recording, counts->last_time);
	to[SAMPLE_EVENT] = to[SAMPLE_COMM] = to[SAMPLE_CGROUP] = text_of(samples, "");
	to[SAMPLE_PID] = to[SAMPLE_TID] = to[SAMPLE_CPU] = UINT32_MAX;
	to[SAMPLE_LOST] = counts->lost;
	return put_row(samples, to);
}

int tally_parquet_samples_write(struct parquet_samples *samples)
{
	int result = tally_parquet_ids_init(&samples->ids, samples->convert->session);

	if (!result)
		result = take_cgroups(samples);
	/* Rows are sorted by events as these are in the recording. */
	for (size_t i = 0; i < tally_data_event_count(samples->convert->data); i++)
		text_of(samples, tally_data_event(samples->convert->data, i)->name);
	if (!result)
		result = samples->failed;
	if (!result)
		result = tally_sample_rows_by_parts(
		    samples->convert,
		    TALLY_COLUMN_WEIGHT | (samples->cgroups.count ? TALLY_COLUMN_SAMPLE : 0), begin,
		    put_sample, take_part, samples);
	return result ? result : put_lost(samples);
}

/* --- stacks --- */

static int add_pair(struct parquet_samples *samples, uint32_t stack, uint32_t frame)
{
	int64_t pair = tally_stack_table_add(&samples->stacks, stack, frame);

	if (pair < 0)
		return (int)pair;
	if (!array_reach(&samples->stack_ids, &samples->stack_id_room, (uint32_t)pair, 1024,
			 sizeof(*samples->stack_ids)))
		return -ENOMEM;
	return tally_parquet_id(&samples->ids, &samples->workers[0].path, stack, frame,
				&samples->stack_ids[pair]);
}

static int add_stacks(struct parquet_samples *samples, const struct samples_worker *worker)
{
	int result = 0;

	for (uint32_t i = 0; i < worker->sampled_room && !result; i++)
		for (uint64_t bits = worker->sampled[i]; bits && !result; bits &= bits - 1) {
			uint32_t stack = i * 64 + (uint32_t)__builtin_ctzll(bits);

			result = add_pair(samples, stack, stacks_frame(samples->ids.stacks, stack));
		}
	for (size_t i = 0; i < worker->pairs.room && !result; i++)
		if (worker->pairs.slots[i].key)
			result = add_pair(samples, (uint32_t)(worker->pairs.slots[i].key >> 32),
					  (uint32_t)worker->pairs.slots[i].key);
	return result;
}

/* Numbers are of nodes from here on. */
static int number_nodes(struct parquet_samples *samples)
{
	struct stack_table *stacks = &samples->stacks;
	uint64_t *ids = calloc(stacks->node_count + 1ULL, sizeof(*ids));

	for (uint32_t i = 0; i < stacks->leaf_count && ids; i++)
		ids[tally_stack_table_node(stacks, i)] = samples->stack_ids[i];
	tally_stack_table_drop_pairs(stacks);
	free(samples->stack_ids);
	samples->stack_ids = ids;
	return ids ? 0 : -ENOMEM;
}

int tally_parquet_samples_make_stacks(struct parquet_samples *samples)
{
	int result = 0;

	samples->stacks.session = samples->convert->session;
	for (unsigned i = 0; i < samples->worker_count && !result; i++)
		result = add_stacks(samples, &samples->workers[i]);
	reading_done(samples);
	if (!result)
		result = tally_stack_table_make(&samples->stacks);
	return result ? result : number_nodes(samples);
}
