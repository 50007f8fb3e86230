/* A recording as tables of a fleet: its samples, their stacks, and what is known of it.
 *
 *	FOLDER/date=2026-11-23/service=NAME/version=1.2/samples-ID.parquet
 *	                                               /stacks-ID.parquet
 *	                                               /recordings-ID.parquet
 *
 * The ID is a hash of the recording's facts, so that its second export replaces the first one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/fs.h"
#include "convert/sample_rows.h"
#include "convert/sample_sums.h"
#include "formats/format_list.h"
#include "formats/parquet_stacks.h"
#include "session/numbers.h"

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
static const struct parquet_column sample_columns[SAMPLE_COLUMNS] = {
    {"recording", PARQUET_TEXT}, {"host", PARQUET_TEXT},  {"service", PARQUET_TEXT},
    {"version", PARQUET_TEXT},   {"time", PARQUET_TIME},  {"event", PARQUET_TEXT},
    {"pid", PARQUET_I32},        {"tid", PARQUET_I32},    {"comm", PARQUET_TEXT},
    {"cgroup", PARQUET_TEXT},    {"cpu", PARQUET_I32},    {"stack_id", PARQUET_U64},
    {"count", PARQUET_I64},      {"period", PARQUET_I64}, {"weight", PARQUET_I64},
    {"lost", PARQUET_I64},
};
/* Samples of a thread beside each other: in files of many threads that is a fifth of their size. */
static const uint8_t sample_order[] = {SAMPLE_EVENT, SAMPLE_PID, SAMPLE_TID, SAMPLE_TIME};
static const struct parquet_table samples_table = {
    .columns = sample_columns,
    .column_count = SAMPLE_COLUMNS,
    .order = sample_order,
    .order_count = sizeof(sample_order),
};

enum recording_column {
	RECORDING_ID,
	RECORDING_HOST,
	RECORDING_SERVICE,
	RECORDING_VERSION,
	RECORDING_START,
	RECORDING_SECONDS,
	RECORDING_KERNEL,
	RECORDING_ARCH,
	RECORDING_CPU,
	RECORDING_CPUS,
	RECORDING_COMMAND,
	RECORDING_EVENTS,
	RECORDING_SAMPLES,
	RECORDING_LOST,
	RECORDING_THROTTLED,
	RECORDING_DAMAGE,
	RECORDING_COLUMNS,
};
static const struct parquet_column recording_columns[RECORDING_COLUMNS] = {
    {"recording", PARQUET_TEXT}, {"host", PARQUET_TEXT},    {"service", PARQUET_TEXT},
    {"version", PARQUET_TEXT},   {"start", PARQUET_TIME},   {"nanoseconds", PARQUET_I64},
    {"kernel", PARQUET_TEXT},    {"arch", PARQUET_TEXT},    {"cpu", PARQUET_TEXT},
    {"cpus", PARQUET_I32},       {"command", PARQUET_TEXT}, {"events", PARQUET_TEXT},
    {"samples", PARQUET_I64},    {"lost", PARQUET_I64},     {"throttled", PARQUET_I64},
    {"damage", PARQUET_TEXT},
};
static const struct parquet_table recordings_table = {.columns = recording_columns,
						      .column_count = RECORDING_COLUMNS};

/* A text, and its number in the table of samples. */
struct last_text {
	const char *text;
	uint64_t number;
};

struct parquet {
	struct convert *convert;
	const char *host, *service, *version;
	uint64_t id;
	char name[20]; /* the id */
	struct tally_buf path;
	char *folder;        /* the path's text */
	int64_t wall_offset; /* ns to be added to the times of samples */
	struct sample_sums sums;
	struct parquet_stacks stacks;
	struct tally_map cgroups; /* id -> number of the path */
	struct tally_strings paths;
	struct parquet_file samples, stack_rows, recordings;
	struct last_text event, comm, cgroup;
	uint64_t row[SAMPLE_COLUMNS];
	int failed;
};

static const char *known(const char *text)
{
	return text ? text : "";
}

/* Of what names a folder: some readers want all files to have the same keys, none of them empty. */
static const char *named(const char *text)
{
	return text && text[0] ? text : "unknown";
}

/* --- the folder --- */

/* A part of a path that any text can be; readers decode it as a URL's. */
static void add_part(struct tally_buf *to, const char *key, const char *text)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";

	tally_buf_printf(to, "/%s=", key);
	for (; *text; text++)
		if (strchr(plain, *text))
			tally_buf_byte(to, (uint8_t)*text);
		else
			tally_buf_printf(to, "%%%02X", (unsigned char)*text);
}

static int find_folder(struct parquet *parquet)
{
	const struct convert *convert = parquet->convert;
	struct tally_buf *path = &parquet->path;
	time_t seconds = (time_t)(((int64_t)tally_session_counts(convert->session)->first_time +
				   parquet->wall_offset) /
				  1000000000);
	struct tm day;
	char date[32] = "1970-01-01";
	int result;

	if (gmtime_r(&seconds, &day))
		strftime(date, sizeof(date), "%Y-%m-%d", &day);
	tally_buf_text(path, convert->options.folder);
	add_part(path, "date", date);
	add_part(path, "service", parquet->service);
	add_part(path, "version", parquet->version);
	tally_buf_byte(path, 0);
	if (path->failed)
		return path->failed;
	parquet->folder = (char *)path->data;
	result = tally_fs_make_folders(parquet->folder, 0777);
	return result ? tally_fail(convert->error, result, -1, "%s: %s", parquet->folder,
				   strerror(-result))
		      : 0;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return hash_mix(hash, tally_hash_bytes(known(text), strlen(known(text))));
}

static void identify(struct parquet *parquet)
{
	const struct convert *convert = parquet->convert;
	const struct tally_session_counts *counts = tally_session_counts(convert->session);
	const struct tally_data_info *info = tally_data_info(convert->data);
	uint64_t id = mix_text(mix_text(0, info->hostname), parquet->host);

	id = hash_mix(hash_mix(id, counts->first_time), counts->last_time);
	id = hash_mix(hash_mix(id, counts->samples), info->clock_wall_ns);
	for (size_t i = 0; i < info->cmdline_count; i++)
		id = mix_text(id, info->cmdline[i]);
	parquet->id = id;
	snprintf(parquet->name, sizeof(parquet->name), "%016llx", (unsigned long long)id);
	/* Without the clock's offset the recording ended when its file was written. */
	if (!tally_convert_wall_offset(convert, &parquet->wall_offset))
		parquet->wall_offset = info->modified * 1000000000 - (int64_t)counts->last_time;
}

/* Microseconds since 1970: readers know these best, and a byte of each sample is saved. */
static uint64_t wall_time(const struct parquet *parquet, uint64_t time)
{
	int64_t nanoseconds = (int64_t)(time + (uint64_t)parquet->wall_offset);

	return (uint64_t)((nanoseconds - (nanoseconds < 0 ? 999 : 0)) / 1000);
}

/* --- samples --- */

static uint64_t text_of(struct parquet *parquet, struct parquet_file *file, const char *text)
{
	return tally_parquet_file_text(file, text, &parquet->failed);
}

/* The same of the session's texts, which stay where they are: mostly it is that of the last row. */
static uint64_t same_text(struct parquet *parquet, struct last_text *last, const char *text)
{
	if (last->text != text)
		*last = (struct last_text){text, text_of(parquet, &parquet->samples, text)};
	return last->number;
}

/* One walk over the headers of all records, where samples name their cgroups. */
static int take_cgroups(struct parquet *parquet)
{
	struct tally_data *data = parquet->convert->data;
	struct tally_record record;
	struct tally_body body = {.size = sizeof(body)};

	tally_data_rewind(data);
	while (tally_data_next_record(data, &record, NULL) > 0) {
		int64_t path;
		uint64_t *place;
		bool added;

		if (record.type != PERF_RECORD_CGROUP ||
		    tally_record_decode(&tally_data_event(data, 0)->layout, &record, &body, NULL) <
			0)
			continue;
		path = tally_strings_intern(&parquet->paths, body.cgroup.path,
					    strlen(body.cgroup.path));
		place = tally_map_put(&parquet->cgroups, body.cgroup.id, &added);
		if (path < 0 || !place)
			return -ENOMEM;
		*place = (uint64_t)path;
	}
	return 0;
}

static const char *cgroup_of(const struct parquet *parquet, const struct sample_row *row)
{
	struct tally_sample sample = {.size = sizeof(sample)};
	const uint64_t *path;

	if (!parquet->cgroups.count || tally_batch_sample(row->batch, row->at, &sample) ||
	    !(sample.present & PERF_SAMPLE_CGROUP))
		return "";
	path = tally_map_find(&parquet->cgroups, sample.cgroup);
	return path ? parquet->paths.text[*path] : "";
}

static int take_sample(void *context, const struct sample_row *row)
{
	struct parquet *parquet = context;
	uint64_t *to = parquet->row;
	int result = tally_parquet_stack_id(
	    &parquet->stacks, tally_stack_table_find(&parquet->sums.stacks, row->stack, row->frame),
	    &to[SAMPLE_STACK]);

	if (result)
		return result;
	to[SAMPLE_TIME] = wall_time(parquet, row->time);
	to[SAMPLE_EVENT] = same_text(parquet, &parquet->event,
				     tally_data_event(parquet->convert->data, row->event)->name);
	to[SAMPLE_PID] = row->pid;
	to[SAMPLE_TID] = row->tid;
	to[SAMPLE_COMM] = same_text(parquet, &parquet->comm, row->comm);
	to[SAMPLE_CGROUP] = same_text(parquet, &parquet->cgroup, cgroup_of(parquet, row));
	to[SAMPLE_CPU] = row->cpu;
	to[SAMPLE_COUNT] = 1;
	to[SAMPLE_PERIOD] = row->period;
	to[SAMPLE_WEIGHT] = row->batch->weight[row->at];
	to[SAMPLE_LOST] = 0;
	return parquet->failed ? parquet->failed
			       : tally_parquet_row(parquet->samples.writer, to, NULL, 0);
}

/* What was lost is a row without a sample, so that sums over any rows have it. */
static int put_lost(struct parquet *parquet)
{
	const struct tally_session_counts *counts = tally_session_counts(parquet->convert->session);
	struct parquet_file *file = &parquet->samples;
	uint64_t *to = parquet->row;

	if (!counts->lost)
		return 0;
	to[SAMPLE_TIME] = wall_time(parquet, counts->last_time);
	to[SAMPLE_EVENT] = to[SAMPLE_COMM] = to[SAMPLE_CGROUP] = text_of(parquet, file, "");
	to[SAMPLE_PID] = to[SAMPLE_TID] = to[SAMPLE_CPU] = UINT32_MAX;
	to[SAMPLE_STACK] = to[SAMPLE_COUNT] = to[SAMPLE_PERIOD] = to[SAMPLE_WEIGHT] = 0;
	to[SAMPLE_LOST] = counts->lost;
	return parquet->failed ? parquet->failed : tally_parquet_row(file->writer, to, NULL, 0);
}

static int put_samples(struct parquet *parquet)
{
	struct convert *convert = parquet->convert;
	struct parquet_file *file = &parquet->samples;
	int result = tally_parquet_file_new(convert, parquet->folder, "samples", parquet->id,
					    &samples_table, file);

	if (!result)
		result = take_cgroups(parquet);
	if (result)
		return result;
	parquet->row[SAMPLE_RECORDING] = text_of(parquet, file, parquet->name);
	parquet->row[SAMPLE_HOST] = text_of(parquet, file, parquet->host);
	parquet->row[SAMPLE_SERVICE] = text_of(parquet, file, parquet->service);
	parquet->row[SAMPLE_VERSION] = text_of(parquet, file, parquet->version);
	convert->samples = 0; /* they were counted for the sums */
	result = tally_sample_rows_run(
	    convert, TALLY_COLUMN_WEIGHT | (parquet->cgroups.count ? TALLY_COLUMN_SAMPLE : 0),
	    take_sample, parquet);
	if (!result)
		result = put_lost(parquet);
	return result ? result : tally_parquet_file_end(convert, file);
}

/* --- stacks, recordings --- */

static int put_stacks(struct parquet *parquet)
{
	struct convert *convert = parquet->convert;
	int result = tally_parquet_file_new(convert, parquet->folder, "stacks", parquet->id,
					    &tally_parquet_stacks_table, &parquet->stack_rows);

	if (!result)
		result = tally_parquet_stacks_write(&parquet->stacks, &parquet->stack_rows);
	return result ? result : tally_parquet_file_end(convert, &parquet->stack_rows);
}

/* Texts beside each other. */
static uint64_t joined(struct parquet *parquet, const char *between, size_t count,
		       const char *(*item)(const struct convert *convert, size_t index))
{
	struct tally_buf text = {0};
	uint64_t number;

	for (size_t i = 0; i < count; i++)
		tally_buf_printf(&text, "%s%s", i ? between : "", item(parquet->convert, i));
	if (text.failed)
		parquet->failed = text.failed;
	number = text_of(parquet, &parquet->recordings, tally_buf_str(&text));
	tally_buf_done(&text);
	return number;
}

static const char *word_at(const struct convert *convert, size_t index)
{
	return tally_data_info(convert->data)->cmdline[index];
}

static const char *event_at(const struct convert *convert, size_t index)
{
	return tally_data_event(convert->data, index)->name;
}

static int put_recording(struct parquet *parquet)
{
	struct convert *convert = parquet->convert;
	struct parquet_file *file = &parquet->recordings;
	const struct tally_session_counts *counts = tally_session_counts(convert->session);
	const struct tally_data_info *info = tally_data_info(convert->data);
	const struct tally_data_damage *damage = tally_data_damage(convert->data);
	uint64_t row[RECORDING_COLUMNS];
	int result = tally_parquet_file_new(convert, parquet->folder, "recordings", parquet->id,
					    &recordings_table, file);

	if (result)
		return result;
	row[RECORDING_ID] = text_of(parquet, file, parquet->name);
	row[RECORDING_HOST] = text_of(parquet, file, parquet->host);
	row[RECORDING_SERVICE] = text_of(parquet, file, parquet->service);
	row[RECORDING_VERSION] = text_of(parquet, file, parquet->version);
	row[RECORDING_START] = wall_time(parquet, counts->first_time);
	row[RECORDING_SECONDS] = counts->last_time - counts->first_time;
	row[RECORDING_KERNEL] = text_of(parquet, file, known(info->os_release));
	row[RECORDING_ARCH] = text_of(parquet, file, known(info->arch));
	row[RECORDING_CPU] = text_of(parquet, file, known(info->cpu_desc));
	row[RECORDING_CPUS] = info->cpus_online;
	row[RECORDING_COMMAND] = joined(parquet, " ", info->cmdline_count, word_at);
	row[RECORDING_EVENTS] =
	    joined(parquet, ", ", tally_data_event_count(convert->data), event_at);
	row[RECORDING_SAMPLES] = convert->samples;
	row[RECORDING_LOST] = counts->lost;
	row[RECORDING_THROTTLED] = counts->throttled;
	row[RECORDING_DAMAGE] = text_of(parquet, file, damage->count ? damage->text : "");
	result = parquet->failed ? parquet->failed : tally_parquet_row(file->writer, row, NULL, 0);
	return result ? result : tally_parquet_file_end(convert, file);
}

/* --- all of it --- */

/* Samples get their name last: who sees them finds their stacks. */
static int name_files(struct parquet *parquet)
{
	struct parquet_file *const files[] = {&parquet->stack_rows, &parquet->recordings,
					      &parquet->samples};
	int result = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !result; i++)
		result = tally_parquet_file_name(parquet->convert, files[i]);
	return result;
}

static int write_parquet(struct convert *convert)
{
	const struct tally_data_info *info = tally_data_info(convert->data);
	struct parquet parquet = {
	    .convert = convert,
	    .host = convert->options.host ? convert->options.host : known(info->hostname),
	    .service = named(convert->options.service),
	    .version = named(convert->options.version),
	};
	static int (*const parts[])(struct parquet *) = {find_folder, put_samples, put_stacks,
							 put_recording, name_files};
	int result = tally_sample_sums_make(convert, 0, &parquet.sums);

	if (!result)
		result = tally_parquet_stacks_init(&parquet.stacks, convert, &parquet.sums.stacks);
	identify(&parquet);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !result; i++)
		result = parts[i](&parquet);
	tally_parquet_file_drop(&parquet.samples);
	tally_parquet_file_drop(&parquet.stack_rows);
	tally_parquet_file_drop(&parquet.recordings);
	tally_parquet_stacks_done(&parquet.stacks);
	tally_sample_sums_done(&parquet.sums);
	tally_map_done(&parquet.cgroups);
	tally_strings_done(&parquet.paths);
	tally_buf_done(&parquet.path);
	return result;
}

const struct export_format tally_export_format_parquet = {
    .name = "parquet",
    .help = "tables of samples, stacks and recordings for many hosts, below a folder",
    .binary = true,
    .folder = true,
    .places = true,
    .write = write_parquet,
};
