/* What a live recording keeps, as a file. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/whole_file.h"
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

int tally_data_save(const struct tally_data *data, const char *path, struct tally_error *error)
{
	struct tally_buf records = {0};
	struct whole_file file;
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
		/* As any recording: others may not read it. */
		if (!code)
			code = tally_whole_file_open(path, WHOLE_FILE_REPLACE | WHOLE_FILE_DIRECT,
						     0600, &file, error);
		else
			tally_fail(error, code, -1, "%s: %s", path, strerror(-code));
		if (!code) {
			code = write_all(file.fd, records.data, records.size);
			code = code ? tally_fail(error, code, -1, "%s: %s", path, strerror(-code))
				    : tally_whole_file_name(&file, error);
			tally_whole_file_drop(&file);
		}
	}
	tally_buf_done(&records);
	return code;
}
