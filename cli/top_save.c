#include "top_save.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int top_save(const struct tally_data *data, const char *path, struct tally_error *error)
{
	struct stat about;
	char *old = NULL;
	bool moved = false;
	int result;

	if (!stat(path, &about) && S_ISREG(about.st_mode) && asprintf(&old, "%s.old", path) >= 0)
		moved = !rename(path, old);
	result = tally_data_save(data, path, error);
	if (result && moved)
		rename(old, path);
	free(old);
	return result;
}

/* A session of what was saved lately. */
struct saved {
	struct tally_data *data;
	struct tally_session *session;
};

void top_annotate_done(void *kept)
{
	struct saved *saved = kept;

	tally_session_free(saved->session);
	tally_data_close(saved->data);
	free(saved);
}

static int fail(struct tally_error *error, int code, const char *what)
{
	error->code = code;
	snprintf(error->text, sizeof(error->text), "%s: %s", what, strerror(-code));
	return code;
}

/* Opens a copy, whose file is gone as soon as it is open. */
static int open_copy(const struct tally_data *data, struct tally_data **ret,
		     struct tally_error *error)
{
	const struct tally_data_options options = {.size = sizeof(options)};
	const char *folder = getenv("TMPDIR");
	char *name = NULL;
	int fd, result;

	if (asprintf(&name, "%s/tally-top-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
		return fail(error, -ENOMEM, "a copy of the samples");
	fd = mkstemp(name);
	if (fd < 0) {
		result = fail(error, -errno, name);
		free(name);
		return result;
	}
	close(fd);
	result = tally_data_save(data, name, error);
	if (!result)
		result = tally_data_open(name, &options, ret, error);
	unlink(name);
	free(name);
	return result;
}

int top_annotate(const struct tally_data *data, const struct tally_session_options *options,
		 const struct tally_frame *function, struct tally_annotation **ret, void **ret_kept,
		 struct tally_error *error)
{
	const char *symbol = function->symbol, *dso = function->image_name;
	char name[4096];
	const struct tally_annotation_options wanted = {
	    .size = sizeof(wanted),
	    .symbols = &symbol,
	    .symbol_count = 1,
	    .dsos = &dso,
	    .dso_count = dso ? 1 : 0,
	};
	struct saved *saved = calloc(1, sizeof(*saved));
	int result;

	if (!saved)
		return fail(error, -ENOMEM, "a copy of the samples");
	if (!symbol) {
		snprintf(name, sizeof(name), "%s+0x%" PRIx64, dso ? dso : "", function->address);
		symbol = name;
	}
	result = open_copy(data, &saved->data, error);
	if (!result)
		result = tally_session_new(saved->data, options, &saved->session, error);
	if (!result)
		result = tally_annotation_new(saved->session, &wanted, ret, error);
	if (result)
		top_annotate_done(saved);
	else
		*ret_kept = saved;
	return result;
}
