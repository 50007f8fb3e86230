/* Opening and closing a perf.data file for reading. */
#include "file/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "file/file_options.h"

static int open_file(struct tally_data *data, struct tally_error *error)
{
	struct stat stat;
	int fd = open(data->path, O_RDONLY | O_CLOEXEC), code;

	if (fd < 0)
		return tally_fail(error, -errno, -1, "%s: cannot be opened: %s%s", data->path,
				  strerror(errno),
				  errno == ENOENT ? "; record first, or name the file" : "");
	if (!fstat(fd, &stat) && S_ISDIR(stat.st_mode)) {
		close(fd);
		return tally_fail(error, -EISDIR, -1,
				  "%s: a directory (perf record --threads or --kcore), which this "
				  "version does not read; the file \"data\" in it may be readable",
				  data->path);
	}
	code = tally_fs_map(fd, &data->file);
	data->fd = fd;
	if (code == -ESPIPE)
		return tally_fail(
		    error, code, -1,
		    "%s: no regular file, and this version reads no other; save it to a "
		    "file first",
		    data->path);
	if (code)
		return tally_fail(error, code, -1, "%s: cannot be mapped: %s", data->path,
				  strerror(-code));
	return 0;
}

static int read_parts(struct tally_data *data, struct tally_error *error)
{
	int code = open_file(data, error);

	if (code)
		return code;
	code = tally_file_header_read(data, error);
	if (code)
		return code;
	tally_file_features_locate(data);
	code = tally_file_attrs_read(data, error);
	if (code)
		return code;
	tally_file_event_lookup_init(data);
	return tally_file_features_read(data, error);
}

int tally_data_open(const char *path, const struct tally_data_options *options,
		    struct tally_data **ret, struct tally_error *error)
{
	/* Its size and nothing behind it: there are no options yet. */
	struct tally_data_options own = {.size = sizeof(own)};
	struct tally_data *data;
	int code = tally_file_options(&own, sizeof(own), options, path, error);

	if (code)
		return code;
	data = calloc(1, sizeof(*data));
	if (data) {
		data->fd = -1;
		data->path = strdup(path);
	}
	if (!data || !data->path) {
		free(data);
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", path);
	}
	code = read_parts(data, error);
	if (code) {
		tally_data_close(data);
		return code;
	}
	*ret = data;
	return 0;
}

void tally_data_close(struct tally_data *data)
{
	if (!data)
		return;
	for (size_t i = 0; i < data->block_count; i++)
		if (!data->blocks[i].raw)
			free((void *)data->blocks[i].block.bytes);
	free(data->blocks);
	tally_map_done(&data->ids);
	tally_arena_done(&data->arena);
	tally_fs_unmap(&data->file);
	if (data->fd >= 0)
		close(data->fd);
	free(data->path);
	free(data);
}

const char *tally_data_path(const struct tally_data *data)
{
	return data->path;
}

uint64_t tally_data_file_size(const struct tally_data *data)
{
	return data->file.size;
}

size_t tally_data_event_count(const struct tally_data *data)
{
	return data->event_count;
}

const struct tally_data_event *tally_data_event(const struct tally_data *data, size_t index)
{
	return index < data->event_count ? &data->events[index] : NULL;
}

const struct tally_data_info *tally_data_info(const struct tally_data *data)
{
	return &data->info;
}

struct tally_block tally_data_feature(const struct tally_data *data, unsigned feature)
{
	const struct file_section *section;

	if (feature >= FILE_FEATURES || !data->has_section[feature])
		return (struct tally_block){0};
	section = &data->sections[feature];
	return (struct tally_block){
	    .bytes = data->file.data + section->offset,
	    .size = (size_t)section->size,
	    .offset = section->offset,
	};
}
