#include "fleet/parquet_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fail.h"
#include "session/run.h"

static int refuse(const struct convert *convert, const char *path, int error)
{
	return error == -ENOMEM
		   ? error
		   : tally_fail(convert->error, error, -1, "%s: %s", path, strerror(-error));
}

int tally_parquet_file_new(const struct convert *convert, const char *folder, const char *name,
			   uint64_t number, const struct parquet_table *table,
			   struct parquet_file *ret)
{
	int fd;

	if (asprintf(&ret->path, "%s/%s-%016llx.parquet", folder, name,
		     (unsigned long long)number) < 0) {
		ret->path = NULL;
		return -ENOMEM;
	}
	if (asprintf(&ret->incomplete, "%s.%ld.tmp", ret->path, (long)getpid()) < 0) {
		ret->incomplete = NULL;
		return -ENOMEM;
	}
	fd = open(ret->incomplete, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return refuse(convert, ret->incomplete, -errno);
	ret->to = fdopen(fd, "w");
	if (!ret->to) {
		close(fd);
		return -ENOMEM;
	}
	fd = tally_parquet_new(ret->to, table, &ret->writer);
	return fd ? fd
		  : tally_parquet_rows_new(ret->writer, tally_session_threads(convert->session),
					   &ret->rows);
}

uint64_t tally_parquet_file_text(struct parquet_rows *rows, const char *text, int *failed)
{
	int64_t number = tally_parquet_text(rows, text, strlen(text));

	if (number >= 0)
		return (uint64_t)number;
	*failed = (int)number;
	return 0;
}

int tally_parquet_file_end(const struct convert *convert, struct parquet_file *file)
{
	int result = tally_parquet_rows_write(file->rows);

	if (!result)
		result = tally_parquet_end(file->writer);
	tally_parquet_rows_free(file->rows);
	file->rows = NULL;
	if (fclose(file->to) && !result)
		result = -errno;
	file->to = NULL;
	return result ? refuse(convert, file->path, result) : 0;
}

int tally_parquet_file_name(const struct convert *convert, struct parquet_file *file)
{
	if (rename(file->incomplete, file->path))
		return refuse(convert, file->path, -errno);
	free(file->incomplete);
	file->incomplete = NULL;
	return 0;
}

void tally_parquet_file_drop(struct parquet_file *file)
{
	if (file->to)
		fclose(file->to);
	if (file->incomplete)
		unlink(file->incomplete);
	tally_parquet_rows_free(file->rows);
	tally_parquet_free(file->writer);
	free(file->incomplete);
	free(file->path);
	*file = (struct parquet_file){0};
}
