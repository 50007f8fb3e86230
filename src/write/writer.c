/* Writes a perf.data file that every perf can read, at every moment of the recording.
 *
 * The layout is: header, ids, attrs, the feature sections known at the start, then the records; the
 * table of features must be directly after the records (data.offset + data.size), where perf looks
 * for it.  A recorder that is killed at any moment should leave a valid file.  So a checkpoint
 * appends a record whose bytes are that table, and then sets the data's end in the header directly
 * before it.  Recording continues after that record.  Its type is EVENT_TYPE, of which no perf
 * since 3.12 reads the body; the first one of a file is before the data of the final header, so
 * that a short recording contains none.  A record header becomes the first entry of the table by
 * bit 0 of the feature bitmap, which is reserved and not read by any perf: it is set during the
 * recording, and its entry is {the record's header, 0}. The same bit shows our reader that more
 * records may follow.
 *
 * Records are written by pwritev at `end`, and `end` moves by whole records only, so that after a
 * short write the features at the end overwrite the incomplete record.  Source: the perf.data
 * format as perf 2.6.32 to 7.0 reads it. */
#include "write/writer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/bits.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/fs.h"
#include "file/data_file.h"
#include "write/file_bytes.h"
#include "write/target.h"
#include "write/target_folder.h"
#include "file/file_options.h"
#include "write/stream_write.h"

#define TABLE_ENTRY 16

/* Whether the written part can be read: a stream after its start, a file after the first
 * checkpoint. */
static bool is_readable(const struct tally_writer *writer)
{
	return writer->stream ? writer->end : writer->marked;
}

static int fail_write(struct tally_writer *writer, int code, struct tally_error *error)
{
	struct statvfs room;
	const char *rest =
	    is_readable(writer) ? "the part before that can be read" : "nothing was recorded";
	unsigned long long end = writer->end;

	if (code == -ENOSPC && !fstatvfs(writer->fd, &room))
		return tally_fail(
		    error, code, (int64_t)end,
		    "%s: cannot be written beyond %llu bytes: no space left on its "
		    "file system (%llu bytes free); %s; make room or record elsewhere "
		    "with -o",
		    writer->path, end, (unsigned long long)room.f_bavail * room.f_frsize, rest);
	if (code == -EPIPE)
		return tally_fail(error, code, (int64_t)end,
				  "%s: its reader ended after %llu bytes: the recording ends",
				  writer->path, end);
	if (code == -EFBIG)
		return tally_fail(
		    error, code, (int64_t)end,
		    "%s: cannot be written beyond %llu bytes: the limit of file sizes "
		    "is reached (ulimit -f, or the file system's); %s",
		    writer->path, end, rest);
	if (code == -EDQUOT)
		return tally_fail(error, code, (int64_t)end,
				  "%s: cannot be written beyond %llu bytes: the disk quota is used "
				  "up; %s; record elsewhere with -o",
				  writer->path, end, rest);
	return tally_fail(error, code, (int64_t)end, "%s: cannot be written beyond %llu bytes: %s",
			  writer->path, end, strerror(-code));
}

/* --- the start --- */

static uint32_t common_attr_size(const struct tally_writer_event *events, size_t count)
{
	uint32_t size = PERF_ATTR_SIZE_VER0;

	for (size_t i = 0; i < count; i++) {
		uint32_t one = tally_attr_min_size(&events[i].attr);

		if (one > size)
			size = one;
	}
	return size;
}

/* Ids and attrs.  perf reads the attrs one after the other, each with its own attr.size.  All get
 * the same size: the smallest that is enough for all of them, so that old readers know it. */
static void build_attrs(struct tally_writer *writer, const struct file_facts *facts,
			struct tally_buf *to)
{
	uint64_t ids_at = to->size;

	for (size_t i = 0; i < facts->event_count; i++)
		tally_buf_add(to, facts->events[i].ids,
			      facts->events[i].id_count * sizeof(uint64_t));
	writer->attrs_at = to->size;
	for (size_t i = 0; i < facts->event_count; i++) {
		struct tally_attr attr = facts->events[i].attr;
		uint64_t size = facts->events[i].id_count * sizeof(uint64_t);

		attr.size = facts->attr_size;
		tally_buf_add(to, &attr, facts->attr_size);
		tally_buf_u64(to, ids_at);
		tally_buf_u64(to, size);
		ids_at += size;
	}
	writer->attrs_size = to->size - writer->attrs_at;
}

static void pad_to_8(struct tally_buf *to)
{
	tally_buf_zero(to, align_up(to->size, 8) - to->size);
}

static void build_features(struct tally_writer *writer, const struct file_facts *facts,
			   struct tally_buf *to)
{
	for (const struct file_feature_row *row = tally_file_early_features(); row->feature;
	     row++) {
		size_t at = to->size;

		if (row->empty ? !row->wanted(facts) : false)
			continue;
		if (!row->empty)
			row->write(facts, to);
		if (!row->empty && to->size == at)
			continue;
		writer->early[writer->early_count++] = (struct file_entry){
		    .feature = row->feature, .offset = at, .size = to->size - at};
		pad_to_8(to);
	}
}

static void build_header(const struct tally_writer *writer, uint64_t data_end,
			 const uint64_t features[4], uint8_t to[FILE_HEADER_SIZE])
{
	uint64_t words[FILE_HEADER_SIZE / 8] = {
	    0, /* the magic */
	    FILE_HEADER_SIZE,
	    writer->attr_size,
	    writer->attrs_at,
	    writer->attrs_size,
	    writer->data_at,
	    data_end - writer->data_at,
	    0, /* event_types: none */
	    0,
	    features[0],
	    features[1],
	    features[2],
	    features[3],
	};

	/* "PERFILE2" as a number in the writer's byte order */
	words[0] = 0x32454c4946524550ULL;
	memcpy(to, words, FILE_HEADER_SIZE);
}

/* Writes the record that is a table of features: see the start of this file. */
static int write_checkpoint(struct tally_writer *writer, uint64_t at, uint64_t *ret_size)
{
	uint64_t table[(1 + FEATURE_COUNT) * 2] = {0};
	uint64_t features[4] = {0};
	uint8_t header[FILE_HEADER_SIZE];
	size_t size = (1 + writer->early_count) * TABLE_ENTRY;
	struct perf_event_header record = {.type = FILE_CHECKPOINT_RECORD, .size = (uint16_t)size};
	int code;

	memcpy(table, &record, sizeof(record));
	bits_add(features, FILE_FEATURE_CHECKPOINT);
	for (size_t i = 0; i < writer->early_count; i++) {
		table[2 + 2 * i] = writer->early[i].offset;
		table[3 + 2 * i] = writer->early[i].size;
		bits_add(features, writer->early[i].feature);
	}
	code = tally_fs_write_at(writer->fd, table, size, at);
	if (code)
		return code;
	/* The table is written: only now may the header refer to it. */
	build_header(writer, at, features, header);
	code = tally_fs_write_at(writer->fd, header, sizeof(header), 0);
	if (!code)
		*ret_size = size;
	return code;
}

static int write_start(struct tally_writer *writer, const struct file_facts *facts,
		       struct tally_error *error)
{
	struct tally_buf start = {0};
	uint64_t size = 0;
	int code;

	tally_buf_zero(&start, FILE_HEADER_SIZE);
	build_attrs(writer, facts, &start);
	build_features(writer, facts, &start);
	code = start.failed;
	if (!code) {
		writer->data_at = start.size;
		writer->end = start.size;
		/* The header is zero until the checkpoint writes it. */
		code = tally_fs_write_at(writer->fd, start.data, start.size, 0);
	}
	tally_buf_done(&start);
	if (!code)
		code = write_checkpoint(writer, writer->end, &size);
	if (code) {
		writer->end = 0; /* nothing of it could be read */
		return fail_write(writer, code, error);
	}
	writer->end += size;
	writer->marked = writer->data_at = writer->end;
	return 0;
}

static int start_stream(struct tally_writer *writer, const struct file_facts *facts,
			struct tally_error *error)
{
	struct tally_buf start = {0};
	int code = tally_file_stream_start(facts, &start, error);

	if (!code) {
		code = tally_fs_write(writer->fd, start.data, start.size);
		if (code)
			fail_write(writer, code, error);
		writer->end = start.size;
	}
	tally_buf_done(&start);
	return code;
}

static int start_packing(struct tally_writer *writer, int level, struct tally_error *error)
{
	int code;

	if (level < 0 || level > 22)
		return tally_fail(error, -EINVAL, -1,
				  "invalid compress_level %d: valid are 1 to 22, and 0 for none",
				  level);
	code = level ? tally_pack_new(level, &writer->pack) : 0;
	if (code == -ENOTSUP)
		return tally_fail(error, code, -1,
				  "compressing needs libzstd, which this tally was built without");
	return code ? tally_fail(error, code, -1, "%s: out of memory", writer->path) : 0;
}

static int check_events(const char *path, const struct tally_writer_event *events, size_t count,
			struct tally_error *error)
{
	if (!count)
		return tally_fail(error, -EINVAL, -1, "%s: no events to record: give at least one",
				  path);
	for (size_t i = 0; i < count; i++)
		if (events[i].leader >= count)
			return tally_fail(error, -EINVAL, -1,
					  "%s: event %zu has leader %u of only %zu events", path, i,
					  events[i].leader, count);
	return 0;
}

static void free_writer(struct tally_writer *writer)
{
	tally_buf_done(&writer->build_ids);
	tally_buf_done(&writer->packed);
	tally_buf_done(&writer->aux_index);
	tally_pack_free(writer->pack);
	free(writer->path);
	free(writer);
}

/* `stream`: the descriptor of a stream; below 0: `path` says what to open. */
static int open_writer(const char *path, int stream, const struct tally_writer_event *events,
		       size_t event_count, const struct tally_writer_options *options,
		       struct tally_writer **ret, struct tally_error *error)
{
	bool to_stdout = stream < 0 && !strcmp(path, "-");
	struct tally_writer_options own = {0};
	struct file_facts facts = {.options = &own, .events = events, .event_count = event_count};
	struct tally_writer *writer;
	char *root = NULL;
	bool kept = false;
	int code = check_events(path, events, event_count, error);

	if (!code)
		code = tally_file_options(&own, sizeof(own), options, path, error);
	if (code)
		return code;
	writer = calloc(1, sizeof(*writer));
	if (writer) {
		writer->fd = stream;
		writer->stream = stream >= 0 || to_stdout;
		writer->folder = own.folder && !writer->stream;
		writer->parts = writer->folder && !own.alone;
		writer->path = strdup(to_stdout ? "standard output" : path);
		root = strdup(own.root ? own.root : "");
	}
	if (!writer || !writer->path || !root) {
		code = tally_fail(error, -ENOMEM, -1, "%s: out of memory", path);
		goto failed;
	}
	for (size_t length = strlen(root); length && root[length - 1] == '/'; length--)
		root[length - 1] = 0;
	facts.root = root;
	facts.attr_size = common_attr_size(events, event_count);
	/* perf 5.13 to 6.2 assumes that attrs of streams have the size that it knows itself. */
	if (writer->stream && facts.attr_size < PERF_ATTR_SIZE_VER7)
		facts.attr_size = PERF_ATTR_SIZE_VER7;
	writer->attr_size = facts.attr_size + TABLE_ENTRY;
	code = start_packing(writer, own.compress_level, error);
	if (code)
		goto failed;
	if (to_stdout)
		code = tally_file_stdout_open(&writer->fd, error);
	else if (stream < 0 && own.folder)
		code = tally_file_folder_open(path, &writer->fd, &kept, error);
	else if (stream < 0)
		code = tally_file_target_open(path, &writer->fd, &kept, error);
	if (code)
		goto failed;
	code = writer->stream ? start_stream(writer, &facts, error)
			      : write_start(writer, &facts, error);
	if (code) {
		if (stream < 0)
			close(writer->fd);
		if (writer->folder)
			tally_file_folder_undo(path, kept);
		else if (!writer->stream)
			tally_file_target_undo(path, kept);
		goto failed;
	}
	free(root);
	*ret = writer;
	return 0;
failed:
	free(root);
	if (writer)
		free_writer(writer);
	return code;
}

int tally_writer_open(const char *path, const struct tally_writer_event *events, size_t event_count,
		      const struct tally_writer_options *options, struct tally_writer **ret,
		      struct tally_error *error)
{
	return open_writer(path, -1, events, event_count, options, ret, error);
}

int tally_writer_open_stream(int fd, const char *name, const struct tally_writer_event *events,
			     size_t event_count, const struct tally_writer_options *options,
			     struct tally_writer **ret, struct tally_error *error)
{
	return open_writer(name, fd, events, event_count, options, ret, error);
}

/* --- records --- */

bool tally_writer_is_serial(const struct tally_writer *writer)
{
	return writer->stream || writer->pack || writer->behind;
}

/* Takes over `wrote` bytes of complete records, which are at `end` now; `code` is the reason if
 * there are not more. */
static int take_in(struct tally_writer *writer, uint64_t wrote, int code, struct tally_error *error)
{
	writer->end += wrote;
	if (wrote) {
		writer->dirty = writer->unmarked = true;
	}
	if (!code)
		return 0;
	writer->failed = true;
	if (writer->stream)
		return fail_write(writer, code, error);
	/* Free the blocks of the incomplete record: the features at the end need some. */
	if (ftruncate(writer->fd, (off_t)writer->end) && errno != EINVAL)
		return fail_write(writer, -errno, error);
	return fail_write(writer, code, error);
}

static int pack(struct tally_writer *writer, const struct iovec *iov, int count)
{
	int code;

	tally_buf_clear(&writer->packed);
	code = tally_pack_add(writer->pack, iov, count, &writer->packed);
	for (int i = 0; i < count; i++)
		writer->pack_in += iov[i].iov_len;
	writer->pack_out += writer->packed.size;
	return code;
}

int tally_writer_append_now(struct tally_writer *writer, const struct iovec *iov, int iov_count,
			    struct tally_error *error)
{
	struct iovec packed;
	int code;

	if (writer->pack) {
		code = pack(writer, iov, iov_count);
		if (code)
			return fail_write(writer, code, error);
		packed = (struct iovec){writer->packed.data, writer->packed.size};
		iov = &packed;
		iov_count = 1;
	}
	return tally_writer_append_plain(writer, iov, iov_count, error);
}

int tally_writer_append_plain(struct tally_writer *writer, const struct iovec *iov, int iov_count,
			      struct tally_error *error)
{
	uint64_t wrote;
	int code;

	code = tally_file_write_all(writer->fd, iov, iov_count,
				    writer->stream ? TALLY_FILE_BEHIND : writer->end, &wrote);
	if (code && !writer->stream)
		wrote = tally_file_whole_records(writer->fd, writer->end, wrote);
	return take_in(writer, wrote, code, error);
}

void tally_writer_reserve(const struct tally_writer *writer, struct tally_writer_piece *pieces,
			  size_t count)
{
	uint64_t at = writer->end;

	for (size_t i = 0; i < count; i++) {
		pieces[i].at = at;
		at += pieces[i].size;
	}
}

int tally_writer_put(const struct tally_writer *writer, struct tally_writer_piece *piece,
		     const struct iovec *iov, int iov_count)
{
	uint64_t wrote;

	if (!piece->code) {
		piece->code = tally_file_write_all(writer->fd, iov, iov_count,
						   piece->at + piece->wrote, &wrote);
		piece->wrote += wrote;
	}
	return piece->code;
}

int tally_writer_commit(struct tally_writer *writer, const struct tally_writer_piece *pieces,
			size_t count, struct tally_error *error)
{
	uint64_t sum = 0;
	int code = 0;

	for (size_t i = 0; i < count && !code; i++) {
		uint64_t at = pieces[i].at, wrote = pieces[i].wrote, to = writer->end + sum;

		if (pieces[i].code)
			wrote = tally_file_whole_records(writer->fd, at, wrote);
		if (wrote && at != to)
			code = tally_file_move_down(writer->fd, at, to, wrote);
		if (code)
			break;
		sum += wrote;
		writer->failed |= wrote < pieces[i].size;
		code = pieces[i].code;
	}
	return take_in(writer, sum, code, error);
}

static int write_round(struct tally_writer *writer)
{
	const struct perf_event_header round = {.type = PERF_RECORD_FINISHED_ROUND,
						.size = sizeof(round)};
	int code = writer->stream
		       ? tally_fs_write(writer->fd, &round, sizeof(round))
		       : tally_fs_write_at(writer->fd, &round, sizeof(round), writer->end);

	if (code)
		return code;
	writer->end += sizeof(round);
	writer->dirty = false;
	return 0;
}

int tally_writer_round_now(struct tally_writer *writer, bool checkpoint, struct tally_error *error)
{
	uint64_t size;
	int code = 0;

	/* After two rounds with nothing between them, perf would deliver records too early. */
	if (writer->dirty && !writer->parts && !writer->no_rounds)
		code = write_round(writer);
	writer->dirty &= !writer->parts;
	if (!code && checkpoint && writer->unmarked && !writer->stream) {
		code = write_checkpoint(writer, writer->end, &size);
		if (!code) {
			writer->unmarked = false;
			writer->end += size;
			writer->marked = writer->end;
		}
	}
	if (code) {
		writer->failed = true;
		return fail_write(writer, code, error);
	}
	return 0;
}

int tally_writer_empty_round_now(struct tally_writer *writer, struct tally_error *error)
{
	int code = write_round(writer);

	if (!code)
		return 0;
	writer->failed = true;
	return fail_write(writer, code, error);
}

void tally_writer_without_rounds(struct tally_writer *writer)
{
	writer->no_rounds = true;
}

/* --- the end --- */

int tally_writer_add_build_id(struct tally_writer *writer,
			      const struct tally_data_build_id *build_id)
{
	return tally_file_add_build_id(&writer->build_ids, build_id);
}

void tally_writer_set_sample_time(struct tally_writer *writer, uint64_t first, uint64_t last)
{
	writer->has_sample_time = true;
	writer->sample_time_first = first;
	writer->sample_time_last = last;
}

void tally_writer_set_stacks(struct tally_writer *writer, const struct tally_stack_counts *stacks)
{
	writer->stacks = *stacks;
}

uint64_t tally_writer_size(const struct tally_writer *writer)
{
	return writer->end;
}

static void add_late(struct file_entry *entries, size_t *count, unsigned feature, uint64_t offset,
		     uint64_t size)
{
	size_t at = *count;

	while (at && entries[at - 1].feature > feature) {
		entries[at] = entries[at - 1];
		at--;
	}
	entries[at] = (struct file_entry){.feature = feature, .offset = offset, .size = size};
	(*count)++;
}

#define STACKS_SIZE (8 + sizeof(struct tally_stack_counts))

/* The sections that are known only at the end. */
struct late {
	unsigned feature;
	const struct tally_buf *payload;
};

static void add_stacks(const struct tally_writer *writer, struct tally_buf *to)
{
	if (!writer->stacks.count)
		return;
	tally_buf_u32(to, sizeof(writer->stacks) / sizeof(uint64_t));
	tally_buf_u32(to, 0);
	tally_buf_add(to, &writer->stacks, sizeof(writer->stacks));
}

/* Makes the final table and the late sections, for one write after the records. */
static int build_end(const struct tally_writer *writer, bool build_ids, uint64_t features[4],
		     struct tally_buf *to)
{
	struct tally_buf time = {0}, aux = {0}, stacks = {0};
	const struct late late[] = {
	    {FEATURE_BUILD_ID, build_ids ? &writer->build_ids : NULL},
	    {FEATURE_AUXTRACE, &aux},
	    {FEATURE_SAMPLE_TIME, &time},
	    {FEATURE_STACKS, &stacks},
	};
	struct file_entry entries[FEATURE_COUNT];
	size_t count = writer->early_count;
	uint64_t at = writer->end + count * TABLE_ENTRY;

	tally_file_add_aux_index(writer, &aux);
	if (writer->has_sample_time) {
		tally_buf_u64(&time, writer->sample_time_first);
		tally_buf_u64(&time, writer->sample_time_last);
	}
	add_stacks(writer, &stacks);
	memcpy(entries, writer->early, count * sizeof(*entries));
	for (size_t i = 0; i < sizeof(late) / sizeof(*late); i++)
		at += late[i].payload && late[i].payload->size ? TABLE_ENTRY : 0;
	for (size_t i = 0; i < sizeof(late) / sizeof(*late); i++) {
		if (!late[i].payload || !late[i].payload->size)
			continue;
		add_late(entries, &count, late[i].feature, at, late[i].payload->size);
		at += late[i].payload->size;
	}
	for (size_t i = 0; i < count; i++) {
		bits_add(features, entries[i].feature);
		tally_buf_u64(to, entries[i].offset);
		tally_buf_u64(to, entries[i].size);
	}
	for (size_t i = 0; i < sizeof(late) / sizeof(*late); i++)
		if (late[i].payload)
			tally_buf_add(to, late[i].payload->data, late[i].payload->size);
	if (aux.failed || time.failed || stacks.failed)
		to->failed = -ENOMEM;
	tally_buf_done(&aux);
	tally_buf_done(&time);
	tally_buf_done(&stacks);
	return to->failed;
}

static int write_end(struct tally_writer *writer, bool build_ids)
{
	uint64_t features[4] = {0};
	uint8_t header[FILE_HEADER_SIZE];
	struct tally_buf tail = {0};
	int code = build_end(writer, build_ids, features, &tail);

	if (!code)
		code = tally_fs_write_at(writer->fd, tail.data, tail.size, writer->end);
	/* The rest of a failed append may be longer than the part that is written over it. */
	if (!code && writer->failed && ftruncate(writer->fd, (off_t)(writer->end + tail.size)) &&
	    errno != EINVAL)
		code = -errno;
	tally_buf_done(&tail);
	if (code) {
		/* The last checkpoint is still valid; the incomplete end must not look like
		 * records. */
		if (ftruncate(writer->fd, (off_t)writer->end))
			return code;
		return code;
	}
	build_header(writer, writer->end, features, header);
	return tally_fs_write_at(writer->fd, header, sizeof(header), 0);
}

void tally_writer_add_packed(struct tally_writer *writer, uint64_t in, uint64_t out)
{
	writer->pack_in += in;
	writer->pack_out += out;
}

/* The ratio of compression is in a section before the records. */
static int write_ratio(const struct tally_writer *writer)
{
	uint32_t ratio;

	if (!writer->pack || !writer->pack_out)
		return 0;
	ratio = (uint32_t)((writer->pack_in + writer->pack_out / 2) / writer->pack_out);
	for (size_t i = 0; i < writer->early_count; i++)
		if (writer->early[i].feature == FEATURE_COMPRESSED)
			return tally_fs_write_at(writer->fd, &ratio, sizeof(ratio),
						 writer->early[i].offset + FILE_PACK_RATIO_AT);
	return 0;
}

static int end_stream(struct tally_writer *writer)
{
	struct tally_buf tail = {0};
	int code;

	/* An incomplete record may be there. */
	if (writer->failed)
		return 0;
	code = tally_file_stream_end(writer, &tail);
	if (!code)
		code = tally_fs_write(writer->fd, tail.data, tail.size);
	if (!code)
		writer->end += tail.size;
	tally_buf_done(&tail);
	return code;
}

static bool is_out_of_room(int code)
{
	return code == -ENOSPC || code == -EFBIG || code == -EDQUOT;
}

/* Removes the last records, at least `need` bytes, so that the end can use their disk blocks.
 * False if these are not all after the last checkpoint, which keeps the records before it
 * anyway. */
static bool cut_back(struct tally_writer *writer, uint64_t need, uint64_t *ret_cut)
{
	uint64_t kept;

	if (writer->end - writer->marked < need)
		return false;
	kept = tally_file_whole_records(writer->fd, writer->marked,
					writer->end - writer->marked - need);
	if (!kept)
		return false;
	*ret_cut = writer->end - writer->marked - kept;
	writer->end = writer->marked + kept;
	writer->failed = true; /* there are bytes behind the end */
	return true;
}

/* Writes the end on a full disk.  Losing the last records is better than losing all since the
 * checkpoint; and build-ids are left out if they would cost more than a quarter of the records. */
static int squeeze_end(struct tally_writer *writer, int code, struct tally_error *error)
{
	uint64_t stacks = writer->stacks.count ? TABLE_ENTRY + STACKS_SIZE : 0;
	uint64_t aux = writer->aux_index.size ? TABLE_ENTRY + 8 + writer->aux_index.size : 0;
	uint64_t table = (writer->early_count + 2) * TABLE_ENTRY + 16 + stacks + aux, cut = 0;
	uint64_t whole = table + writer->build_ids.size;
	bool build_ids = writer->build_ids.size && whole <= (writer->end - writer->marked) / 4;
	int again = code;

	if (build_ids) {
		if (cut_back(writer, whole, &cut))
			again = write_end(writer, true);
	} else if (writer->build_ids.size) {
		again = write_end(writer, false);
	}
	if (is_out_of_room(again) && !cut && cut_back(writer, table, &cut)) {
		build_ids = false;
		again = write_end(writer, false);
	}
	if (again)
		return fail_write(writer, again, error);
	return tally_fail(error, code, (int64_t)writer->end,
			  "%s: no room for the tables at its end: %s%s%llu bytes of the last "
			  "records were replaced by them; the rest can be read",
			  writer->path, build_ids || !writer->build_ids.size ? "" : "the build-ids",
			  build_ids || !writer->build_ids.size ? "" : " and ",
			  (unsigned long long)cut);
}

/* Nobody can find a file that has lost its name. */
static int check_name(const struct tally_writer *writer, struct tally_error *error)
{
	struct stat about;

	if (writer->stream || fstat(writer->fd, &about) || !S_ISREG(about.st_mode) ||
	    about.st_nlink)
		return 0;
	return tally_fail(error, -ENOENT, -1,
			  "%s: it was removed while it was written, and what was written is gone",
			  writer->path);
}

int tally_writer_close(struct tally_writer *writer, struct tally_error *error)
{
	int code, late;

	if (!writer)
		return 0;
	late = tally_writer_catch_up(writer, error);
	code = writer->build_ids.failed;
	if (!code)
		code =
		    writer->stream ? end_stream(writer) : write_end(writer, writer->build_ids.size);
	if (!code && !writer->stream)
		code = write_ratio(writer);
	if (is_out_of_room(code) && !writer->stream)
		code = squeeze_end(writer, code, error);
	else if (code)
		code = fail_write(writer, code, error);
	if (!code)
		code = check_name(writer, error);
	/* Network file systems report a full disk only now. */
	if (close(writer->fd) && !code)
		code = fail_write(writer, -errno, error);
	free_writer(writer);
	return late ? late : code;
}
