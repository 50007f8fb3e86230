/* BPF_PROG_INFO and BPF_BTF: the BPF programs that were loaded, and the types that name their
 * functions.
 *
 * Sources: the perf.data format as perf 5.1 to 7.0 writes it; struct bpf_prog_info and struct
 * bpf_func_info: include/uapi/linux/bpf.h; BTF: Documentation/bpf/btf.rst and
 * include/uapi/linux/btf.h. */
#include "file/feature_read.h"

#include <stdlib.h>
#include "base/digits.h"
#include "base/sorted.h"

#define TAG_SIZE 8

/* Offsets in struct bpf_prog_info. */
enum {
	INFO_TYPE = 0,
	INFO_ID = 4,
	INFO_TAG = 8,
	INFO_LOAD_TIME = 40,
	INFO_NAME = 64, /* 16 bytes */
	INFO_KSYM_COUNT = 104,
	INFO_LENGTH_COUNT = 108,
	INFO_KSYMS = 112,
	INFO_LENGTHS = 120,
	INFO_BTF_ID = 128,
	INFO_FUNC_SIZE = 132,
	INFO_FUNCS = 136,
	INFO_FUNC_COUNT = 144,
	INFO_TAG_COUNT = 180,
	INFO_TAGS = 184,
	INFO_SIZE = 192, /* as far as it is read here */
};

/* Bits that say which arrays follow the info.  Pointers to these are offsets in the data. */
enum { ARRAY_KSYMS = 3, ARRAY_LENGTHS = 4, ARRAY_FUNCS = 5, ARRAY_TAGS = 8 };

/* The limit of what a file can make us keep: more functions than any kernel has had, with the
 * longest names that symbols can have. */
#define FUNCTIONS_MOST 65536
#define NAME_MOST      512

/* One program of the section. */
struct program {
	uint8_t info[INFO_SIZE]; /* zeros where the writer's kernel is older */
	uint64_t arrays;
	const uint8_t *data;
	uint32_t data_size;
	bool swapped;
};

static uint32_t info_u32(const struct program *program, size_t at)
{
	uint32_t value = load_u32(program->info + at);

	return program->swapped ? __builtin_bswap32(value) : value;
}

static uint64_t info_u64(const struct program *program, size_t at)
{
	uint64_t value = load_u64(program->info + at);

	return program->swapped ? __builtin_bswap64(value) : value;
}

/* An array of `count` things, or NULL when it is not there or not all of it is. */
static const uint8_t *array(const struct program *program, unsigned bit, size_t pointer,
			    uint32_t count, uint32_t size)
{
	uint64_t at = info_u64(program, pointer), need = (uint64_t)count * size;

	if (!(program->arrays >> bit & 1) || at > program->data_size ||
	    need > program->data_size - at)
		return NULL;
	return program->data + at;
}

static struct file_cursor at_bytes(const struct program *program, const uint8_t *bytes, size_t size)
{
	return (struct file_cursor){.at = bytes, .end = bytes + size, .swapped = program->swapped};
}

/* --- names by BTF --- */

struct btf {
	const uint8_t *types, *strings;
	uint32_t types_size, strings_size;
	uint32_t *names; /* by type id: offset in strings */
	uint32_t count;
	bool tried, valid;
};

/* {u16 magic, u8 version, u8 flags, u32 header, type offset, type size, string offset, size} */
static bool open_btf(const struct tally_data_btf *found, bool swapped, struct btf *ret)
{
	struct file_cursor cursor = {
	    .at = found->bytes, .end = found->bytes + found->size, .swapped = swapped};
	uint32_t header, type_at, string_at;
	size_t left;

	if (cursor_u16(&cursor) != 0xeb9f)
		return false;
	cursor_u16(&cursor);
	header = cursor_u32(&cursor);
	type_at = cursor_u32(&cursor);
	ret->types_size = cursor_u32(&cursor);
	string_at = cursor_u32(&cursor);
	ret->strings_size = cursor_u32(&cursor);
	if (cursor.failed || header > found->size)
		return false;
	left = found->size - header;
	if (type_at > left || ret->types_size > left - type_at || string_at > left ||
	    ret->strings_size > left - string_at)
		return false;
	ret->types = found->bytes + header + type_at;
	ret->strings = found->bytes + header + string_at;
	return true;
}

/* Bytes behind struct btf_type {u32 name, u32 info, u32 size or type}. */
static uint64_t btf_extra(uint32_t info)
{
	/* Per kind (1 INT to 19 ENUM64): bytes always, bytes for each of vlen things. */
	static const uint8_t always[] = {0, 4, 0, 12, 0, 0, 0, 0, 0, 0,
					 0, 0, 0, 0,  4, 0, 0, 4, 0, 0};
	static const uint8_t each[] = {0, 0, 0, 0, 12, 12, 8, 0, 0, 0,
				       0, 0, 0, 8, 0,  12, 0, 0, 0, 12};
	uint32_t kind = info >> 24 & 0x1f, count = info & 0xffff;

	if (!kind || kind >= sizeof(always))
		return UINT64_MAX;
	return always[kind] + (uint64_t)each[kind] * count;
}

/* Types have no index: one walk makes it. */
static int index_btf(struct tally_data *data, const struct tally_data_btf *found, struct btf *ret)
{
	struct file_cursor cursor;

	ret->tried = true;
	if (!open_btf(found, data->swapped, ret))
		return 0;
	ret->names = feature_list(data, uint32_t, ret->types_size / 12 + 1);
	if (!ret->names)
		return -ENOMEM;
	cursor = (struct file_cursor){
	    .at = ret->types, .end = ret->types + ret->types_size, .swapped = data->swapped};
	for (ret->count = 1; cursor_left(&cursor) >= 12; ret->count++) { /* 0 is void */
		uint32_t info;

		ret->names[ret->count] = cursor_u32(&cursor);
		info = cursor_u32(&cursor);
		cursor_u32(&cursor);
		if (!cursor_bytes(&cursor, btf_extra(info)))
			break;
	}
	ret->valid = true;
	return 0;
}

/* NULL: none. */
static const char *type_name(const struct btf *btf, uint32_t id)
{
	uint32_t name = id < btf->count ? btf->names[id] : UINT32_MAX;

	return name < btf->strings_size ? (const char *)btf->strings + name : NULL;
}

/* The types with this id, as many `btfs` as the file has; *ret NULL: none. */
static int find_btf(struct tally_data *data, struct btf *btfs, uint32_t id, struct btf **ret)
{
	size_t low = SORTED_BOUND(at, 0, data->info.btf_count, data->info.btfs[at].id < id);
	int code = 0;

	*ret = NULL;
	if (!id || low == data->info.btf_count || data->info.btfs[low].id != id)
		return 0;
	if (!btfs[low].tried)
		code = index_btf(data, &data->info.btfs[low], &btfs[low]);
	if (btfs[low].valid)
		*ret = &btfs[low];
	return code;
}

/* --- programs --- */

/* The function's own name: by its type, else the program's; "F" for one of many.  NULL: none. */
static const char *own_name(const struct program *program, const struct btf *btf, uint32_t index,
			    uint32_t count, size_t *ret_room)
{
	uint32_t size = info_u32(program, INFO_FUNC_SIZE),
		 listed = info_u32(program, INFO_FUNC_COUNT);
	const uint8_t *funcs = array(program, ARRAY_FUNCS, INFO_FUNCS, listed, size);

	*ret_room = NAME_MOST;
	if (btf && funcs && index < listed && size >= 8) {
		struct file_cursor at = at_bytes(program, funcs + (size_t)index * size + 4, 4);
		const char *name = type_name(btf, cursor_u32(&at));
		size_t left =
		    name ? btf->strings_size - (size_t)(name - (const char *)btf->strings) : 0;

		if (left < *ret_room)
			*ret_room = left;
		return name;
	}
	if (btf)
		return NULL;
	if (index || count != 1)
		return "F";
	*ret_room = 16;
	return program->info[INFO_NAME] ? (const char *)program->info + INFO_NAME : NULL;
}

/* bpf_prog_<tag>_<name>: what the kernel calls the function among its symbols. */
static const char *function_name(struct tally_data *data, const struct program *program,
				 const uint8_t *tag, const struct btf *btf, uint32_t index,
				 uint32_t count)
{
	char text[sizeof("bpf_prog_") + 2 * TAG_SIZE + 1 + NAME_MOST] = "bpf_prog_";
	size_t at = strlen(text), room;
	const char *name = own_name(program, btf, index, count, &room);

	for (size_t i = 0; i < TAG_SIZE; i++, at += 2)
		put_hex_fixed(text + at, tag[i], 2);
	if (name) {
		size_t length = strnlen(name, room);

		text[at++] = '_';
		memcpy(text + at, name, length);
		at += length;
	}
	return tally_arena_strndup(&data->arena, text, at);
}

static int read_functions(struct tally_data *data, const struct program *program,
			  const struct btf *btf, struct tally_data_bpf_program *ret)
{
	uint32_t count = info_u32(program, INFO_KSYM_COUNT);
	const uint8_t *ksyms = array(program, ARRAY_KSYMS, INFO_KSYMS, count, 8);
	const uint8_t *lengths = array(program, ARRAY_LENGTHS, INFO_LENGTHS, count, 4);
	const uint8_t *tags = array(program, ARRAY_TAGS, INFO_TAGS, count, TAG_SIZE);
	struct tally_data_bpf_function *functions;
	struct file_cursor address, length;

	if (info_u32(program, INFO_LENGTH_COUNT) != count ||
	    info_u32(program, INFO_TAG_COUNT) != count)
		return 0;
	ret->functions_known = true;
	if (!count || !ksyms || !lengths || !tags)
		return 0;
	functions = feature_list(data, struct tally_data_bpf_function, count);
	if (!functions)
		return -ENOMEM;
	address = at_bytes(program, ksyms, (size_t)count * 8);
	length = at_bytes(program, lengths, (size_t)count * 4);
	for (uint32_t i = 0; i < count; i++) {
		functions[i].address = cursor_u64(&address);
		functions[i].size = cursor_u32(&length);
		functions[i].name =
		    function_name(data, program, tags + (size_t)i * TAG_SIZE, btf, i, count);
		if (!functions[i].name)
			return -ENOMEM;
	}
	ret->functions = functions;
	ret->function_count = count;
	return 0;
}

/* {u32 info's size, u32 data's size, u64 arrays, info, data} */
static bool take_program(struct file_cursor *cursor, struct program *ret)
{
	uint32_t info_size = cursor_u32(cursor), data_size = cursor_u32(cursor);
	const uint8_t *info;

	*ret = (struct program){.swapped = cursor->swapped};
	ret->arrays = cursor_u64(cursor);
	info = cursor_bytes(cursor, info_size);
	ret->data = cursor_bytes(cursor, data_size);
	ret->data_size = data_size;
	if (cursor->failed)
		return false;
	memcpy(ret->info, info, info_size < INFO_SIZE ? info_size : INFO_SIZE);
	return true;
}

static int read_program(struct tally_data *data, const struct program *program, struct btf *btfs,
			size_t *functions_left, struct tally_data_bpf_program *ret)
{
	const char *name = (const char *)program->info + INFO_NAME;
	struct btf *btf;
	int code;

	ret->id = info_u32(program, INFO_ID);
	ret->type = info_u32(program, INFO_TYPE);
	ret->btf_id = info_u32(program, INFO_BTF_ID);
	ret->load_time = info_u64(program, INFO_LOAD_TIME);
	memcpy(ret->tag, program->info + INFO_TAG, TAG_SIZE);
	ret->name = tally_arena_strndup(&data->arena, name, strnlen(name, 16));
	if (!ret->name)
		return -ENOMEM;
	if (info_u32(program, INFO_KSYM_COUNT) > *functions_left)
		return 0;
	code = find_btf(data, btfs, ret->btf_id, &btf);
	if (!code)
		code = read_functions(data, program, btf, ret);
	*functions_left -= ret->function_count;
	return code;
}

static int by_program_id(const void *left, const void *right)
{
	const struct tally_data_bpf_program *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

int tally_feature_bpf_prog_info(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 16);
	size_t functions_left = FUNCTIONS_MOST, got = 0;
	struct tally_data_bpf_program *programs =
	    feature_list(data, struct tally_data_bpf_program, count);
	struct btf *btfs = feature_list(data, struct btf, data->info.btf_count);

	if (!programs || !btfs)
		return -ENOMEM;
	for (; got < count; got++) {
		struct program program;
		int code;

		if (!take_program(cursor, &program))
			break;
		code = read_program(data, &program, btfs, &functions_left, &programs[got]);
		if (code)
			return code;
	}
	qsort(programs, got, sizeof(*programs), by_program_id);
	data->info.bpf_programs = programs;
	data->info.bpf_program_count = got;
	return 0;
}

static int by_btf_id(const void *left, const void *right)
{
	const struct tally_data_btf *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

/* {u32 n, n x {u32 id, u32 size, bytes}} */
int tally_feature_bpf_btf(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 8);
	struct tally_data_btf *btfs = feature_list(data, struct tally_data_btf, count);
	size_t got = 0;

	if (!btfs)
		return -ENOMEM;
	while (got < count) {
		btfs[got].id = cursor_u32(cursor);
		btfs[got].size = cursor_u32(cursor);
		btfs[got].bytes = cursor_bytes(cursor, btfs[got].size);
		if (cursor->failed)
			break;
		got++;
	}
	qsort(btfs, got, sizeof(*btfs), by_btf_id);
	data->info.btfs = btfs;
	data->info.btf_count = got;
	return 0;
}
