/* What a live recording keeps, as a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fail.h"
#include "file/live.h"

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t done = write(fd, bytes, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		bytes += done;
		size -= (size_t)done;
	}
	return 0;
}

/* Beside the file, so that it can take its place. */
static int write_beside(const char *path, const struct tally_buf *records)
{
	char *beside = NULL;
	int fd, code = 0;

	if (asprintf(&beside, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0) {
		code = -errno;
		free(beside);
		return code;
	}
	/* As any recording: others may not read it (mkstemp(3)). */
	code = write_all(fd, records->data, records->size);
	if (close(fd) && !code)
		code = -errno;
	if (!code && rename(beside, path))
		code = -errno;
	if (code)
		unlink(beside);
	free(beside);
	return code;
}

int tally_data_save(const struct tally_data *data, const char *path, struct tally_error *error)
{
	struct tally_buf records = {0};
	int code = -EINVAL;

	if (data->live) {
		/* The start of the stream has its events and features. */
		tally_buf_add(&records, data->file.data, data->file.size);
		code = tally_live_kept(data, &records);
	}
	if (code == -EINVAL) {
		code = tally_fail(error, code, -1, "%s: it keeps no samples that could be saved",
				  data->path);
	} else {
		if (!code)
			code = write_beside(path, &records);
		if (code)
			tally_fail(error, code, -1, "%s: %s", path, strerror(-code));
	}
	tally_buf_done(&records);
	return code;
}
