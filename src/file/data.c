/* Opening and closing a recording for reading. */
#include "file/data_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/fail.h"
#include "file/file_options.h"
#include "file/flatten.h"
#include "file/live.h"
#include "file/hiperf_stacks.h"

/* Where events and features are: in a stream's records, or in tables. */
static int find_parts(struct tally_data *data, struct tally_error *error)
{
	int code = tally_file_header_read(data, error);

	if (code)
		return code;
	if (data->header_size == FILE_HEADER_PIPE_SIZE) {
		if (data->kind == TALLY_DATA_FILE)
			data->kind = TALLY_DATA_PIPE;
		return tally_file_stream_read(data, error);
	}
	tally_file_features_locate(data);
	return tally_file_attrs_read(data, error);
}

static int read_parts(struct tally_data *data, struct tally_error *error)
{
	int code = data->fd < 0         ? tally_file_input_open(data, error)
		   : data->options.live ? tally_live_open(data, error)
					: tally_file_input_map(data, error);

	if (!code)
		code = find_parts(data, error);
	if (code)
		return code;
	tally_file_event_lookup_init(data);
	code = tally_file_features_read(data, error);
	if (!code)
		code = tally_file_stream_update(data, error);
	if (!code && (tally_file_trust_init(data) || tally_hiperf_stacks_read(data)))
		code = tally_fail(error, -ENOMEM, -1, "%s: out of memory", data->path);
	return !code && data->live ? tally_live_start(data, error) : code;
}

/* `live`: the descriptor of a stream or of a file; below 0: `path` says what to open. */
static int open_data(const char *path, int live, const struct tally_data_options *options,
		     struct tally_data **ret, struct tally_error *error)
{
	struct tally_data *data = calloc(1, sizeof(*data));
	int code;

	if (data) {
		data->fd = live;
		data->path = strdup(path);
		data->options = *options;
	}
	if (!data || !data->path) {
		free(data);
		if (live >= 0)
			close(live);
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

int tally_data_open(const char *path, const struct tally_data_options *options,
		    struct tally_data **ret, struct tally_error *error)
{
	struct tally_data_options own = {.size = sizeof(own)};
	int code = tally_file_options(&own, sizeof(own), options, path, error);

	return code ? code : open_data(path, -1, &own, ret, error);
}

int tally_data_open_live(int fd, const char *name, size_t keep, struct tally_data **ret,
			 struct tally_error *error)
{
	return open_data(name, fd, &(struct tally_data_options){.live = true, .keep = keep}, ret,
			 error);
}

int tally_data_open_file(int fd, const char *name, struct tally_data **ret,
			 struct tally_error *error)
{
	return open_data(name, fd, &(struct tally_data_options){.size = 0}, ret, error);
}

void tally_data_close(struct tally_data *data)
{
	if (!data)
		return;
	tally_live_free(data->live);
	tally_file_flat_free(data->flat);
	free(data->blocks);
	free(data->events);
	free(data->trust);
	tally_hiperf_stacks_free(data->hiperf);
	free(data->updates);
	tally_buf_done(&data->build_ids);
	tally_map_done(&data->ids);
	tally_arena_done(&data->arena);
	tally_file_input_close(data);
	free(data->path);
	free(data);
}

const struct tally_tar *tally_data_archive(const struct tally_data *data)
{
	return data->archive;
}

const char *tally_data_path(const struct tally_data *data)
{
	return data->path;
}

enum tally_data_kind tally_data_kind(const struct tally_data *data)
{
	return data->kind;
}

uint64_t tally_data_file_size(const struct tally_data *data)
{
	uint64_t size = data->file.size;

	for (size_t i = 0; i < data->part_count; i++)
		size += data->parts[i].map.size;
	return size;
}

uint64_t tally_data_offset_end(const struct tally_data *data)
{
	return data->flat ? data->flat->base + data->flat->spool->size : data->file.size;
}

bool tally_data_total_order(const struct tally_data *data)
{
	return data->part_count > 0;
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
	const struct file_payload *section;

	if (feature >= FILE_FEATURES || !data->has_section[feature])
		return (struct tally_block){0};
	section = &data->sections[feature];
	return (struct tally_block){
	    .bytes = section->bytes,
	    .size = section->size,
	    .offset = section->offset,
	};
}
