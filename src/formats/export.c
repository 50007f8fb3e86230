#include <errno.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/whole_file.h"
#include "convert/convert.h"
#include "formats/format_list.h"
#include "profile/profile.h"

#define ROW(name) &tally_export_format_##name,
static const struct export_format *const formats[] = {EXPORT_FORMATS(ROW)};
#undef ROW
#define FORMATS (sizeof(formats) / sizeof(*formats))

static const struct export_format *find(const char *name)
{
	for (size_t i = 0; name && i < FORMATS; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const char *tally_export_format_name(size_t index, const char **ret_help)
{
	if (index >= FORMATS)
		return NULL;
	if (ret_help)
		*ret_help = formats[index]->help;
	return formats[index]->name;
}

bool tally_export_format_is_binary(const char *name)
{
	const struct export_format *format = find(name);

	return format && format->binary;
}

bool tally_export_format_is_folder(const char *name)
{
	const struct export_format *format = find(name);

	return format && format->folder;
}

int tally_export_session_options(const char *format, struct tally_session_options *to)
{
	const struct export_format *found = find(format);

	if (!found)
		return -EINVAL;
	to->places = found->places;
	to->functions = !found->as_recorded;
	to->columns = found->columns;
	return 0;
}

/* The options that choose samples, as a profile takes them. */
static struct tally_profile_options filter_of(const struct tally_export_options *options)
{
	return (struct tally_profile_options){
	    .size = sizeof(struct tally_profile_options),
	    .callchains = true,
	    .max_stack = options->max_stack,
	    .comms = options->comms,
	    .comm_count = options->comm_count,
	    .dsos = options->dsos,
	    .dso_count = options->dso_count,
	    .symbols = options->symbols,
	    .symbol_count = options->symbol_count,
	    .pids = options->pids,
	    .pid_count = options->pid_count,
	    .tids = options->tids,
	    .tid_count = options->tid_count,
	    .time = options->time,
	    .cpus = options->cpus,
	    .cpu_count = options->cpu_count,
	};
}

/* Each name must be that of an event. */
static int check_events(const struct convert *convert)
{
	const struct tally_export_options *options = &convert->options;
	size_t events = tally_data_event_count(convert->data);

	for (size_t i = 0; i < options->event_count; i++) {
		bool known = false;

		for (size_t at = 0; at < events && !known; at++)
			known =
			    !strcmp(tally_data_event(convert->data, at)->name, options->events[i]);
		if (!known)
			return tally_fail(convert->error, -EINVAL, -1,
					  "event '%s' is not in the recording; `tally evlist` "
					  "prints those that are",
					  options->events[i]);
	}
	return 0;
}

/* Exactly one of them is given, and a folder only for a format that is one. */
static int check_target(const struct convert *convert)
{
	const struct tally_export_options *options = &convert->options;
	bool folder = convert->format->folder;

	if (folder == (options->folder != NULL) &&
	    (convert->to != NULL) + (options->path != NULL) == !folder)
		return 0;
	return tally_fail(convert->error, -EINVAL, -1, "%s is written to %s", convert->format->name,
			  folder ? "a folder" : "a stream or a file");
}

static int write_to(struct convert *convert)
{
	int result = convert->format->write(convert);

	return !result && convert->to ? tally_convert_flush(convert) : result;
}

static int write_file(struct convert *convert)
{
	const char *path = convert->options.path;
	struct whole_file file;
	int result = tally_whole_file_open(
	    path, WHOLE_FILE_DIRECT | (convert->options.replace ? WHOLE_FILE_REPLACE : 0), 0666,
	    &file, convert->error);

	if (result)
		return result;
	convert->to = tally_whole_file_stream(&file);
	if (convert->to) {
		result = write_to(convert);
		if (fclose(convert->to) && !result)
			result = -errno;
		convert->to = NULL;
	} else {
		result = -ENOMEM;
	}
	if (!result)
		result = tally_whole_file_name(&file, convert->error);
	else if (result != -ENOMEM && !convert->error->code)
		tally_fail(convert->error, result, -1, "%s: %s", path, strerror(-result));
	tally_whole_file_drop(&file);
	return result;
}

int tally_export_write(struct tally_session *session, const struct tally_export_options *options,
		       FILE *to, struct tally_export_result *ret, struct tally_error *error)
{
	struct tally_export_result made = {0};
	struct tally_error own = {0};
	struct convert convert = {
	    .session = session,
	    .data = tally_session_data(session),
	    .options = {.size = sizeof(convert.options)},
	    .to = to,
	    .error = error ? error : &own,
	};
	int result = tally_options_take(&convert.options, sizeof(convert.options), options);

	if (result)
		return tally_fail(error, result, -1,
				  "export options of another libtally than this one: use the "
				  "library that the program was built for");
	convert.format = find(convert.options.format);
	if (!convert.format)
		return tally_fail(error, -EINVAL, -1, "'%s' is not a format of exports",
				  convert.options.format ? convert.options.format : "");
	result = check_target(&convert);
	if (result)
		return result;
	convert.filter = filter_of(&convert.options);
	result = check_events(&convert);
	if (!result)
		result = convert.options.path ? write_file(&convert) : write_to(&convert);
	tally_buf_done(&convert.text);
	made.samples = convert.samples;
	made.image = convert.image;
	made.lost = convert.format->only_samples ? tally_session_counts(session)->lost : 0;
	if (!result && ret)
		result = tally_result_copy(ret, sizeof(made), &made);
	if (result == -ENOMEM && !convert.error->code)
		return tally_fail(error, result, -1, "not enough memory for the export");
	return result;
}
