/* The database of tally-sql(5), with the samples that were chosen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "convert/convert.h"
#include "export/script_sql.h"
#include "formats/format_list.h"
#include "profile/profile.h"
#include "resolve/resolve.h"
#include "session/run.h"

#define COPY_SIZE ((size_t)1 << 16)

struct sqlite {
	struct convert *convert;
	struct profile_plan plan;
	struct profile_worker worker; /* for its filters */
};

static int choose(void *context, struct tally_resolver *resolver,
		  const struct tally_resolved *resolved)
{
	struct sqlite *file = context;
	const struct tally_profile_options *options = file->plan.options;
	const struct tally_sample *sample = &resolved->sample;
	int passed = tally_convert_has_event(file->convert, resolved->event);

	if (passed && file->plan.span_count)
		passed = time_spans_hold(file->plan.spans, file->plan.span_count, sample->time);
	if (passed && options->cpu_count)
		passed = tally_filter_holds(options->cpus, options->cpu_count, sample->cpu);
	if (passed && file->worker.filters_threads)
		passed = tally_filter_thread(&file->worker.filter, resolved->thread);
	if (passed > 0 && file->worker.filters_frames)
		passed = tally_filter_frame(
		    &file->worker.filter,
		    tally_resolver_frame(resolver, resolved, resolved->cpumode, sample->ip));
	if (passed > 0)
		file->convert->samples++;
	return passed;
}

/* The path of the stream's file, if it is an empty one; else NULL. */
static char *path_of(FILE *to)
{
	int fd = fileno(to);
	struct stat about, there;
	char name[32], path[4096];
	ssize_t length;

	if (fd < 0 || fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size || fflush(to) ||
	    lseek(fd, 0, SEEK_CUR))
		return NULL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	length = readlink(name, path, sizeof(path) - 1);
	if (length <= 0 || length == sizeof(path) - 1)
		return NULL;
	path[length] = 0;
	return !stat(path, &there) && there.st_dev == about.st_dev && there.st_ino == about.st_ino
		   ? strdup(path)
		   : NULL;
}

static int write_at(struct sqlite *file, const char *path, bool fill)
{
	const struct convert *convert = file->convert;
	const struct tally_sql_options options = {.size = sizeof(options),
						  .lines = !convert->options.no_lines};

	return tally_sql_write_chosen(convert->session, path, fill, &options, choose, file,
				      convert->error);
}

/* What cannot be read again, as a pipe, gets a copy. */
static int copy(struct convert *convert, const char *path)
{
	FILE *from = fopen(path, "re");
	int result = from ? 0 : -errno;
	size_t size = 1;

	while (!result && size) {
		if (tally_buf_reserve(&convert->text, COPY_SIZE))
			result = -ENOMEM;
		else
			size = fread(convert->text.data, 1, COPY_SIZE, from);
		convert->text.size = result ? 0 : size;
		if (!result && ferror(from))
			result = -EIO;
		if (!result)
			result = tally_convert_flush(convert);
	}
	if (from)
		fclose(from);
	return result;
}

static int write_copy(struct sqlite *file)
{
	struct convert *convert = file->convert;
	const char *temporary = getenv("TMPDIR");
	char *folder = NULL, *path = NULL;
	int result;

	if (asprintf(&folder, "%s/tally-export-XXXXXX",
		     temporary && *temporary ? temporary : "/tmp") < 0)
		return -ENOMEM;
	if (!mkdtemp(folder)) {
		result = tally_fail(convert->error, -errno, -1,
				    "%s: %s; set TMPDIR to a folder for the database, or write it "
				    "to a file",
				    folder, strerror(errno));
		free(folder);
		return result;
	}
	result = asprintf(&path, "%s/samples.db", folder) < 0 ? -ENOMEM : 0;
	if (!result)
		result = write_at(file, path, false);
	if (!result)
		result = copy(convert, path);
	if (path)
		unlink(path);
	rmdir(folder);
	free(path);
	free(folder);
	return result;
}

static int write_database(struct sqlite *file)
{
	char *path = path_of(file->convert->to);
	int result = path ? write_at(file, path, true) : write_copy(file);

	free(path);
	return result;
}

static int write_sqlite(struct convert *convert)
{
	struct sqlite file = {.convert = convert};
	struct tally_profile_options options = convert->filter;
	struct tally_profile *profile = NULL;
	int result;

	options.keys = (const char *const[]){"comm"};
	options.key_count = 1;
	result =
	    tally_profile_prepare(convert->session, &options, &file.plan, &profile, convert->error);
	if (result)
		return result;
	result = tally_profile_worker_init(&file.worker, &file.plan);
	if (!result)
		result = write_database(&file);
	tally_profile_worker_done(&file.worker);
	tally_profile_plan_done(&file.plan);
	tally_profile_free(profile);
	return result;
}

const struct export_format tally_export_format_sqlite = {
    .name = "sqlite",
    .help = "a database for SQL, as script --sql writes it",
    .binary = true,
    .as_recorded = true,
    .write = write_sqlite,
};
