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
#include "formats/format_list.h"
#include "fleet/parquet_samples.h"
#include "fleet/parquet_stacks.h"
#include "session/numbers.h"

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
	RECORDING_OPTIONS,
	RECORDING_COLUMNS,
};
static const struct parquet_column recording_columns[RECORDING_COLUMNS] = {
    {"recording", PARQUET_TEXT}, {"host", PARQUET_TEXT},    {"service", PARQUET_TEXT},
    {"version", PARQUET_TEXT},   {"start", PARQUET_TIME},   {"nanoseconds", PARQUET_I64},
    {"kernel", PARQUET_TEXT},    {"arch", PARQUET_TEXT},    {"cpu", PARQUET_TEXT},
    {"cpus", PARQUET_I32},       {"command", PARQUET_TEXT}, {"events", PARQUET_TEXT},
    {"samples", PARQUET_I64},    {"lost", PARQUET_I64},     {"throttled", PARQUET_I64},
    {"damage", PARQUET_TEXT},    {"options", PARQUET_TEXT},
};
static const struct parquet_table recordings_table = {.columns = recording_columns,
						      .column_count = RECORDING_COLUMNS};

struct parquet {
	struct convert *convert;
	struct parquet_recording about;
	uint64_t id;
	char name[20]; /* the id */
	struct tally_buf path;
	char *folder; /* the path's text */
	struct parquet_samples samples;
	struct parquet_file sample_rows, stack_rows, recordings;
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
				   parquet->about.wall_offset) /
				  1000000000);
	struct tm day;
	char date[32] = "1970-01-01";
	int result;

	if (gmtime_r(&seconds, &day))
		strftime(date, sizeof(date), "%Y-%m-%d", &day);
	tally_buf_text(path, convert->options.folder);
	add_part(path, "date", date);
	add_part(path, "service", parquet->about.service);
	add_part(path, "version", parquet->about.version);
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
	uint64_t id = mix_text(mix_text(0, info->hostname), parquet->about.host);

	id = hash_mix(hash_mix(id, counts->first_time), counts->last_time);
	id = hash_mix(hash_mix(id, counts->samples), info->clock_wall_ns);
	for (size_t i = 0; i < info->cmdline_count; i++)
		id = mix_text(id, info->cmdline[i]);
	parquet->id = id;
	snprintf(parquet->name, sizeof(parquet->name), "%016llx", (unsigned long long)id);
	/* Without the clock's offset the recording ended when its file was written. */
	if (!tally_convert_wall_offset(convert, &parquet->about.wall_offset))
		parquet->about.wall_offset =
		    info->modified * 1000000000 - (int64_t)counts->last_time;
}

static int put_samples(struct parquet *parquet)
{
	struct convert *convert = parquet->convert;
	struct parquet_file *file = &parquet->sample_rows;
	int result = tally_parquet_file_new(convert, parquet->folder, "samples", parquet->id,
					    &tally_parquet_samples_table, file);

	if (!result)
		result = tally_parquet_samples_write(&parquet->samples);
	if (!result)
		result = tally_parquet_file_end(convert, file);
	return result ? result : tally_parquet_samples_make_stacks(&parquet->samples);
}

/* --- stacks, recordings --- */

static int put_stacks(struct parquet *parquet)
{
	struct convert *convert = parquet->convert;
	int result = tally_parquet_file_new(convert, parquet->folder, "stacks", parquet->id,
					    &tally_parquet_stacks_table, &parquet->stack_rows);

	if (!result)
		result =
		    tally_parquet_stacks_write(convert, &parquet->samples.stacks,
					       parquet->samples.stack_ids, &parquet->stack_rows);
	return result ? result : tally_parquet_file_end(convert, &parquet->stack_rows);
}

static uint64_t text_of(struct parquet *parquet, const char *text)
{
	return tally_parquet_file_text(parquet->recordings.rows, text, &parquet->failed);
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
	number = text_of(parquet, tally_buf_str(&text));
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

/* How the events were recorded, in the options of perf record, an event each. */
static uint64_t options_of(struct parquet *parquet)
{
	const struct tally_data *data = parquet->convert->data;
	struct tally_buf text = {0};
	uint64_t number;

	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		const struct tally_data_event *event = tally_data_event(data, i);
		uint64_t kinds = event->attr.sample_type;

		tally_buf_printf(&text, "%s-e %s %s %llu", i ? " " : "", event->name,
				 event->attr.freq ? "-F" : "-c",
				 (unsigned long long)event->attr.sample_period);
		if (kinds & PERF_SAMPLE_STACK_USER)
			tally_buf_text(&text, " --call-graph dwarf");
		else if (kinds & PERF_SAMPLE_CALLCHAIN)
			tally_buf_text(&text, " -g");
		if (kinds & PERF_SAMPLE_BRANCH_STACK)
			tally_buf_text(&text, " -b");
		if (kinds & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
			tally_buf_text(&text, " -W");
		if (!event->attr.inherit)
			tally_buf_text(&text, " -i");
	}
	if (text.failed)
		parquet->failed = text.failed;
	number = text_of(parquet, tally_buf_str(&text));
	tally_buf_done(&text);
	return number;
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
	row[RECORDING_ID] = text_of(parquet, parquet->name);
	row[RECORDING_HOST] = text_of(parquet, parquet->about.host);
	row[RECORDING_SERVICE] = text_of(parquet, parquet->about.service);
	row[RECORDING_VERSION] = text_of(parquet, parquet->about.version);
	row[RECORDING_START] = tally_parquet_time(&parquet->about, counts->first_time);
	row[RECORDING_SECONDS] = counts->last_time - counts->first_time;
	row[RECORDING_KERNEL] = text_of(parquet, known(info->os_release));
	row[RECORDING_ARCH] = text_of(parquet, known(info->arch));
	row[RECORDING_CPU] = text_of(parquet, known(info->cpu_desc));
	row[RECORDING_CPUS] = info->cpus_online;
	row[RECORDING_COMMAND] = joined(parquet, " ", info->cmdline_count, word_at);
	row[RECORDING_EVENTS] =
	    joined(parquet, ", ", tally_data_event_count(convert->data), event_at);
	row[RECORDING_SAMPLES] = convert->samples;
	row[RECORDING_LOST] = counts->lost;
	row[RECORDING_THROTTLED] = counts->throttled;
	row[RECORDING_OPTIONS] = options_of(parquet);
	row[RECORDING_DAMAGE] = text_of(parquet, damage->count ? damage->text : "");
	result = parquet->failed ? parquet->failed : tally_parquet_row(file->rows, row, NULL, 0);
	return result ? result : tally_parquet_file_end(convert, file);
}

/* --- all of it --- */

/* Samples get their name last: who sees them finds their stacks. */
static int name_files(struct parquet *parquet)
{
	struct parquet_file *const files[] = {&parquet->stack_rows, &parquet->recordings,
					      &parquet->sample_rows};
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
	    .about.host = convert->options.host ? convert->options.host : known(info->hostname),
	    .about.service = named(convert->options.service),
	    .about.version = named(convert->options.version),
	    .about.name = parquet.name,
	    .samples = {.convert = convert,
			.file = &parquet.sample_rows,
			.recording = &parquet.about},
	};
	static int (*const parts[])(struct parquet *) = {find_folder, put_samples, put_stacks,
							 put_recording, name_files};
	int result = 0;

	identify(&parquet);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !result; i++)
		result = parts[i](&parquet);
	tally_parquet_samples_done(&parquet.samples);
	tally_parquet_file_drop(&parquet.sample_rows);
	tally_parquet_file_drop(&parquet.stack_rows);
	tally_parquet_file_drop(&parquet.recordings);
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
