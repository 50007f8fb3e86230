/* Files with their symbols, which recorders of phones put behind the data.
 * Sources: simpleperf's record_file_format.h and record_file.proto, hiperf's perf_file_format.cpp,
 * as their files follow them. */
#include <tally/data.h>

#include "base/table.h"
#include "file/feature_read.h"

struct symbol {
	uint64_t address, size;
	const char *name;
	size_t name_size;
};

/* The next symbol; false: there is none, or the rest is damaged. */
typedef bool (*next_fn)(struct file_cursor *cursor, struct symbol *ret);

/* A text up to its NUL. */
static bool take_text(struct file_cursor *cursor, const char **ret, size_t *ret_size)
{
	size_t size = strnlen((const char *)cursor->at, cursor_left(cursor));

	*ret = (const char *)cursor_bytes(cursor, (uint64_t)size + 1);
	*ret_size = size;
	return *ret;
}

/* u32 size, a text with its NUL in so many bytes */
static bool take_sized_text(struct file_cursor *cursor, const char **ret, size_t *ret_size)
{
	uint32_t size = cursor_u32(cursor);

	*ret = (const char *)cursor_bytes(cursor, size);
	*ret_size = *ret ? strnlen(*ret, size) : 0;
	return *ret;
}

/* simpleperf's FILE: {u64 address, u32 size, text} */
static bool next_plain(struct file_cursor *cursor, struct symbol *ret)
{
	ret->address = cursor_u64(cursor);
	ret->size = cursor_u32(cursor);
	return take_text(cursor, &ret->name, &ret->name_size);
}

/* hiperf's: {u64 address, u32 size, sized text} */
static bool next_sized(struct file_cursor *cursor, struct symbol *ret)
{
	ret->address = cursor_u64(cursor);
	ret->size = cursor_u32(cursor);
	return take_sized_text(cursor, &ret->name, &ret->name_size);
}

static uint64_t varint(struct file_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint8_t *byte = cursor_bytes(cursor, 1);

		if (!byte)
			return 0;
		value |= (uint64_t)(*byte & 0x7f) << shift;
		if (*byte < 0x80)
			return value;
	}
	cursor->failed = true;
	return 0;
}

/* A field of a message.  Source: https://protobuf.dev/programming-guides/encoding */
struct field {
	uint64_t number, value;
	struct file_cursor body; /* of one that has a length; else empty */
};

static bool next_field(struct file_cursor *cursor, struct field *ret)
{
	const uint8_t *bytes;
	uint64_t tag;

	if (cursor->failed || !cursor_left(cursor))
		return false;
	tag = varint(cursor);
	*ret = (struct field){.number = tag >> 3};
	switch (tag & 7) {
	case 0:
		ret->value = varint(cursor);
		break;
	case 1:
		cursor_bytes(cursor, 8);
		break;
	case 2:
		ret->value = varint(cursor);
		bytes = cursor_bytes(cursor, ret->value);
		if (bytes)
			ret->body = (struct file_cursor){.at = bytes, .end = bytes + ret->value};
		break;
	case 5:
		cursor_bytes(cursor, 4);
		break;
	default:
		cursor->failed = true;
	}
	return !cursor->failed;
}

/* simpleperf's FILE2: the fields 4 of a message are {address = 1, size = 2, name = 3} */
static bool next_message(struct file_cursor *cursor, struct symbol *ret)
{
	struct field field, part;

	do {
		if (!next_field(cursor, &field))
			return false;
	} while (field.number != 4);
	*ret = (struct symbol){.name = ""};
	while (next_field(&field.body, &part)) {
		if (part.number == 1)
			ret->address = part.value;
		else if (part.number == 2)
			ret->size = part.value;
		else if (part.number == 3 && part.body.at) {
			ret->name = (const char *)part.body.at;
			ret->name_size = cursor_left(&part.body);
		}
	}
	return true;
}

/* Which section they are in says how they are written. */
static next_fn form_of(const struct tally_data *data, const struct tally_data_file *file)
{
	const struct file_payload *plain = &data->sections[TALLY_FEATURE_SIMPLEPERF_FILE];

	if (data->info.hiperf)
		return next_sized;
	return plain->size && file->symbols >= plain->bytes &&
		       file->symbols <= plain->bytes + plain->size
		   ? next_plain
		   : next_message;
}

int tally_data_file_symbols(const struct tally_data *data, const struct tally_data_file *file,
			    tally_data_symbol_fn visit, void *context)
{
	struct file_cursor cursor = {.at = file->symbols,
				     .end = file->symbols + file->symbols_size,
				     .swapped = data->swapped};
	next_fn next = form_of(data, file);
	struct symbol symbol;
	int result = 0;

	for (uint32_t i = 0; i < file->symbol_count && !result && next(&cursor, &symbol); i++)
		result = visit(context, symbol.address, symbol.size, symbol.name, symbol.name_size);
	return result;
}

static int add_file(struct tally_data *data, struct tally_data_file *file, const char *path,
		    size_t path_size, size_t *room)
{
	struct tally_data_info *info = &data->info;
	struct tally_data_file *files = (void *)info->files;

	file->path = tally_arena_strndup(&data->arena, path, path_size);
	if (file->path && info->file_count == *room) {
		size_t more = *room ? *room * 2 : 16;

		files = feature_list(data, struct tally_data_file, more);
		if (files && info->file_count)
			memcpy(files, info->files, info->file_count * sizeof(*files));
		if (files)
			info->files = files;
		*room = more;
	}
	if (!file->path || !files)
		return -ENOMEM;
	files[info->file_count++] = *file;
	return 0;
}

/* Passes over the symbols of a file, to what is behind them. */
static void pass_symbols(struct file_cursor *cursor, next_fn next, struct tally_data_file *file)
{
	struct symbol symbol;

	file->symbols = cursor->at;
	for (uint32_t i = 0; i < file->symbol_count && !cursor->failed; i++)
		next(cursor, &symbol);
	file->symbols_size = (size_t)(cursor->at - file->symbols);
}

/* DsoType of simpleperf. */
static enum tally_data_file_kind simpleperf_kind(uint32_t type)
{
	static const enum tally_data_file_kind kinds[] = {
	    TALLY_DATA_FILE_KERNEL, TALLY_DATA_FILE_MODULE, TALLY_DATA_FILE_BINARY,
	    TALLY_DATA_FILE_OFFSETS};

	return type < sizeof(kinds) / sizeof(kinds[0]) ? kinds[type] : TALLY_DATA_FILE_ADDRESSES;
}

/* path, u32 type, u64 least address, u32 symbols, the symbols; of dex files {u32 n, n u64}; then
 * perhaps the u64 place of the least address */
static int read_plain(struct tally_data *data, struct file_cursor *body, size_t *room)
{
	struct tally_data_file file = {.min_offset = UINT64_MAX};
	const char *path;
	size_t path_size;

	take_text(body, &path, &path_size);
	file.kind = simpleperf_kind(cursor_u32(body));
	file.min_vaddr = cursor_u64(body);
	file.symbol_count = cursor_u32(body);
	if (body->failed)
		return 0;
	pass_symbols(body, next_plain, &file);
	if (file.kind == TALLY_DATA_FILE_OFFSETS)
		cursor_bytes(body, (uint64_t)cursor_count(body, 8) * 8);
	if (!body->failed && cursor_left(body) >= 8)
		file.min_offset = cursor_u64(body);
	return add_file(data, &file, path, path_size, room);
}

/* message FileFeature {string path = 1; uint32 type = 2; uint64 min_vaddr = 3; repeated Symbol = 4;
 * of a binary or a module 6 or 7: {uint64 place of min_vaddr = 1}} */
static int read_message(struct tally_data *data, struct file_cursor *body, size_t *room)
{
	struct tally_data_file file = {
	    .min_offset = UINT64_MAX, .symbols = body->at, .symbols_size = cursor_left(body)};
	struct field field, part, path = {0};
	uint32_t type = 0;

	while (next_field(body, &field)) {
		if (field.number == 1)
			path = field;
		else if (field.number == 2)
			type = (uint32_t)field.value;
		else if (field.number == 3)
			file.min_vaddr = field.value;
		else if (field.number == 4)
			file.symbol_count++;
		else if (field.number == 6 || field.number == 7)
			file.min_offset = next_field(&field.body, &part) ? part.value : 0;
	}
	file.kind = simpleperf_kind(type);
	return path.body.at ? add_file(data, &file, (const char *)path.body.at,
				       strnlen((const char *)path.body.at, path.value), room)
			    : 0;
}

/* Each {u32 size, a file} */
static int read_files(struct tally_data *data, struct file_cursor *cursor,
		      int (*read)(struct tally_data *data, struct file_cursor *body, size_t *room))
{
	size_t room = data->info.file_count; /* those of FILE, when there are both */
	int code = 0;

	while (cursor_left(cursor) >= 4 && !cursor->failed && !code) {
		uint32_t size = cursor_u32(cursor);
		struct file_cursor body = {.swapped = cursor->swapped};

		body.at = cursor_bytes(cursor, size);
		if (!body.at)
			break;
		body.end = body.at + size;
		code = read(data, &body, &room);
		cursor->failed = body.failed;
	}
	return code;
}

int tally_feature_simpleperf_file(struct tally_data *data, struct file_cursor *cursor)
{
	return read_files(data, cursor, read_plain);
}

int tally_feature_simpleperf_file2(struct tally_data *data, struct file_cursor *cursor)
{
	return read_files(data, cursor, read_message);
}

/* SymbolsFileType of hiperf. */
static enum tally_data_file_kind hiperf_kind(uint32_t type)
{
	static const enum tally_data_file_kind kinds[] = {
	    TALLY_DATA_FILE_KERNEL,  TALLY_DATA_FILE_MODULE, TALLY_DATA_FILE_ADDRESSES,
	    TALLY_DATA_FILE_BINARY,  TALLY_DATA_FILE_BINARY, TALLY_DATA_FILE_BINARY,
	    TALLY_DATA_FILE_OFFSETS, TALLY_DATA_FILE_BINARY};

	return type < sizeof(kinds) / sizeof(kinds[0]) ? kinds[type] : TALLY_DATA_FILE_ADDRESSES;
}

/* u32 n, n x {path, u32 type, u64 least address, u64 its place in the file, build-id, u32 symbols,
 * the symbols}; texts with their sizes */
int tally_feature_hiperf_symbols(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 32);
	size_t room = 0;
	int code = 0;

	for (uint32_t i = 0; i < count && !cursor->failed && !code; i++) {
		struct tally_data_file file = {0};
		const char *path, *id;
		size_t path_size, id_size;

		take_sized_text(cursor, &path, &path_size);
		file.kind = hiperf_kind(cursor_u32(cursor));
		file.min_vaddr = cursor_u64(cursor);
		file.min_offset = cursor_u64(cursor);
		take_sized_text(cursor, &id, &id_size);
		file.symbol_count = cursor_u32(cursor);
		if (cursor->failed)
			break;
		if (file.kind == TALLY_DATA_FILE_KERNEL || file.kind == TALLY_DATA_FILE_MODULE)
			file.min_vaddr = file.min_offset = 0; /* kallsyms's, and from its start */
		pass_symbols(cursor, next_sized, &file);
		code = add_file(data, &file, path, path_size, &room);
	}
	return code;
}
