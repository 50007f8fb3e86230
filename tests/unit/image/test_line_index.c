/* 15.1: the index of lines and inlined functions that is kept on disk. */
#include "workdir.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>
#include "base/bytes.h"
#include "base/cache_folder.h"
#include "dwarf/line_index.h"
#include "dwarf/line_index_file.h"
#include "elf/elf_file.h"

static const char program[] =
    "volatile unsigned sink;\n"
    "static inline unsigned mix(unsigned x) { return (x ^ x >> 13) * 7; }\n"
    "static inline unsigned twice(unsigned x) { return mix(x) + mix(x + 1); }\n"
    "__attribute__((noinline)) static unsigned work(unsigned n)\n"
    "{\n"
    "	unsigned sum = 0;\n"
    "	for (unsigned i = 0; i < n; i++)\n"
    "		sum += twice(sum + i);\n"
    "	return sum;\n"
    "}\n"
    "int main(int count, char **words)\n"
    "{\n"
    "	sink = work((unsigned)count) + mix(sink);\n"
    "	return words[0][0] == 'x';\n"
    "}\n";

static char folder[300], binary[300];
static _Atomic unsigned opened; /* how often the program was */

static int open_binary(void *context, struct tally_elf *ret_binary, struct tally_elf *ret_debug)
{
	(void)context;
	opened++;
	*ret_debug = (struct tally_elf){.fd = -1};
	return tally_elf_open(binary, ret_binary) ? -ENOENT : 0;
}

static int refuse(void *context, struct tally_elf *ret_binary, struct tally_elf *ret_debug)
{
	(void)context;
	(void)ret_binary;
	(void)ret_debug;
	opened++;
	return -ENOENT;
}

static struct line_index_options options_of(void)
{
	return (struct line_index_options){
	    .folder = folder, .path = binary, .id_size = 20, .id = {1, 2, 3}, .open = open_binary};
}

static void make(const struct workdir *workdir)
{
	need_tool("gcc");
	workdir_write(workdir, "prog.c", program);
	assert_int_equal(workdir_run(workdir, "rm -rf cache; gcc -g -O2 -no-pie -o prog prog.c"),
			 0);
	snprintf(folder, sizeof(folder), "%s/cache", workdir->path);
	snprintf(binary, sizeof(binary), "%s/prog", workdir->path);
	opened = 0;
}

/* What an index knows of the program's code, as text. */
static char *answers(struct line_index *index)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	for (uint64_t address = 0x400000; address < 0x402000; address++) {
		struct line_found found;
		int error = tally_line_index_find(index, address, &found);
		const struct unit_lines_function *at;

		if (error || !found.lines)
			continue;
		at = found.at.function;
		fprintf(to, "%llx %s:%u", (unsigned long long)address,
			found.at.file ? found.at.file : "-", found.at.line);
		for (unsigned depth = 0; at && depth < 1000; depth++) {
			const char *name = unit_lines_name(found.lines, at);
			const char *file = unit_lines_call_file(found.lines, at);

			fprintf(to, " %s %s:%u", name ? name : "-", file ? file : "-",
				at->call_line);
			at = unit_lines_caller(found.lines, at);
		}
		fprintf(to, "\n");
	}
	fclose(to);
	return text;
}

static char *answers_of(const struct line_index_options *options)
{
	struct line_index index;
	char *text;

	assert_int_equal(tally_line_index_open(&index, options), 0);
	text = answers(&index);
	tally_line_index_close(&index);
	return text;
}

static void file_path(char ret[400])
{
	const struct line_index_options options = options_of();
	char name[TALLY_CACHE_NAME_MOST];

	tally_line_index_name(options.id, options.id_size, name);
	snprintf(ret, 400, "%s/%s", folder, name);
}

static char *read_file(const char *path, size_t *ret_size)
{
	char *bytes = malloc(1 << 20);
	FILE *file = fopen(path, "r");

	assert_non_null(bytes);
	assert_non_null(file);
	*ret_size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static void write_file(const char *path, const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void what_was_made_is_read_back_without_the_program(void **state)
{
	struct line_index_options options = options_of();
	char *first, *again;

	make(*state);
	first = answers_of(&options);
	assert_non_null(strstr(first, "twice"));
	assert_int_equal(opened, 1);
	options.open = refuse;
	again = answers_of(&options);
	assert_string_equal(first, again);
	assert_int_equal(opened, 1); /* not looked at */
	free(first);
	free(again);
}

static void an_index_that_took_no_time_is_not_written(void **state)
{
	struct line_index_options options = options_of();
	char path[400];

	make(*state);
	options.least = UINT64_MAX;
	free(answers_of(&options));
	file_path(path);
	assert_int_not_equal(access(path, F_OK), 0);
}

static void an_index_of_another_program_is_not_read(void **state)
{
	struct line_index_options options = options_of();
	char from[400], to[400], name[TALLY_CACHE_NAME_MOST];

	make(*state);
	free(answers_of(&options));
	file_path(from);
	options.id[0] = 9;
	tally_line_index_name(options.id, options.id_size, name);
	snprintf(to, sizeof(to), "%s/%s", folder, name);
	assert_int_equal(rename(from, to), 0);
	free(answers_of(&options));
	assert_int_equal(opened, 2);
}

/* Cut anywhere, or with any byte changed: its hash does not fit, and it is made again. */
static void a_damaged_file_is_noticed_and_made_again(void **state)
{
	struct line_index_options options = options_of();
	struct line_index_about about;
	char path[400], *bytes, *good, name[TALLY_CACHE_NAME_MOST];
	size_t size;

	make(*state);
	good = answers_of(&options);
	file_path(path);
	tally_line_index_name(options.id, options.id_size, name);
	bytes = read_file(path, &size);
	assert_int_equal(tally_line_index_about(folder, name, true, &about), 0);
	assert_string_equal(about.path, binary);
	for (size_t at = 0; at < size; at += size / 300 + 1) {
		char *text;

		write_file(path, bytes, at);
		assert_true(tally_line_index_about(folder, name, true, &about) < 0);
		bytes[at] ^= 0x55;
		write_file(path, bytes, size);
		bytes[at] ^= 0x55;
		/* bytes between the parts are nobody's */
		if (tally_line_index_about(folder, name, true, &about) == 0)
			continue;
		text = answers_of(&options);
		assert_string_equal(good, text);
		free(text);
		assert_int_equal(tally_line_index_about(folder, name, true, &about), 0);
	}
	free(bytes);
	free(good);
}

/* An index with so many names, and its file. */
static void keep_names(const struct line_index_options *options, unsigned from, unsigned until)
{
	struct line_index index;

	assert_int_equal(tally_line_index_open(&index, options), 0);
	free(answers(&index));
	for (unsigned i = from; i < until; i++) {
		char name[32], shown[32];

		snprintf(name, sizeof(name), "_Z4name%u", i);
		snprintf(shown, sizeof(shown), "name %u", i);
		tally_line_names_add(&index.names, name, shown);
		tally_line_names_add(&index.names, name, "another");
	}
	tally_line_index_close(&index);
}

/* Hashes that fit do not make it trusted. */
static void hostile_files_do_no_harm(void **state)
{
	static const uint64_t values[] = {0, 1, 7, 1 << 12, UINT32_MAX, 1ULL << 61, UINT64_MAX};
	struct line_index_options options = options_of();
	size_t size, used = 0, refused = 0;
	char path[400], *bytes;

	make(*state);
	keep_names(&options, 0, 3);
	file_path(path);
	bytes = read_file(path, &size);
	for (size_t at = 32; at + 8 <= size; at += 4) {
		char kept[8];

		memcpy(kept, bytes + at, 8);
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			struct line_index index = {.lock = PTHREAD_MUTEX_INITIALIZER,
						   .ready = PTHREAD_COND_INITIALIZER};
			uint64_t tables;

			memcpy(bytes + at, &values[i], 8);
			tables = load_u64(bytes + 32);
			if (tables >= 24 && tables <= size)
				store_u64(bytes + 16, tally_hash_block(bytes + 24, tables - 24));
			if (tally_line_index_take(&index, (const uint8_t *)bytes, size)) {
				refused++;
				continue;
			}
			used++;
			for (size_t k = 0; k < index.unit_count; k++)
				index.units[k].hash = index.units[k].block
							  ? tally_hash_block(index.units[k].block,
									     index.units[k].size)
							  : 0;
			free(answers(&index));
			(void)tally_line_names_find(&index.names, "_Z4name1");
			tally_line_index_close(&index);
		}
		memcpy(bytes + at, kept, 8);
	}
	assert_true(used > 0 && refused > 0);
	free(bytes);
}

static void names_that_were_shown_are_kept(void **state)
{
	struct line_index_options options = options_of();
	struct line_index index;

	make(*state);
	keep_names(&options, 0, 3);
	options.least = UINT64_MAX;
	keep_names(&options, 3, 10); /* too few to be written */
	keep_names(&options, 10, 10 + LINE_INDEX_NAMES);
	options.open = refuse;
	assert_int_equal(tally_line_index_open(&index, &options), 0);
	assert_string_equal(tally_line_names_find(&index.names, "_Z4name0"), "name 0");
	assert_string_equal(tally_line_names_find(&index.names, "_Z4name2"), "name 2");
	assert_null(tally_line_names_find(&index.names, "_Z4name3"));
	assert_string_equal(tally_line_names_find(&index.names, "_Z4name10"), "name 10");
	assert_string_equal(tally_line_names_find(&index.names, "_Z4name509"), "name 509");
	assert_null(tally_line_names_find(&index.names, "_Z4name510"));
	tally_line_names_add(&index.names, "_Z4name10", "name 10");
	assert_int_equal(tally_line_names_added(&index.names), 0);
	tally_line_index_close(&index);
}

static void hostile_names_are_not_read(void **state)
{
	static char text[TALLY_NAME_MOST + 8];
	static const struct line_name list[] = {{0, 0}, {5, 1}, {7, 900}, {9, UINT64_MAX}};
	struct line_names names = LINE_NAMES_INITIALIZER;
	struct tally_buf joined = {0}, joined_text = {0};

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(tally_line_names_take(&names, list, 4, text, sizeof(text)), -EBADMSG);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(tally_line_names_take(&names, list, 4, text, sizeof(text)), 0);
	assert_null(tally_line_names_find(&names, "_Z4name"));
	/* Two begin too far from the text's end, one is behind it. */
	assert_int_equal(tally_line_names_join(&names, &joined, &joined_text), 0);
	assert_int_equal(joined.size, sizeof(list[0]));
	assert_int_equal(joined_text.size, sizeof(text) - 900);
	tally_buf_done(&joined);
	tally_buf_done(&joined_text);
	tally_line_names_done(&names);
}

static void files_of_others_are_not_read(void **state)
{
	struct line_index_options options = options_of();
	char path[400];

	make(*state);
	free(answers_of(&options));
	file_path(path);
	assert_int_equal(chmod(path, 0666), 0);
	free(answers_of(&options));
	assert_int_equal(opened, 2); /* and it was written again */
	assert_int_equal(chmod(folder, 0777), 0);
	free(answers_of(&options));
	assert_int_equal(opened, 3);
}

static void *open_and_ask(void *context)
{
	struct line_index_options options = options_of();
	char *expected = context;

	for (int i = 0; i < 20; i++) {
		char path[400], *text = answers_of(&options);

		assert_string_equal(expected, text);
		free(text);
		file_path(path);
		unlink(path); /* so that it is made again */
	}
	return NULL;
}

static void writers_and_readers_at_once_never_meet_half_a_file(void **state)
{
	struct line_index_options options = options_of();
	pthread_t threads[4];
	char *expected;

	make(*state);
	expected = answers_of(&options);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_and_ask, expected), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	free(expected);
}

struct asking {
	struct line_index *index;
	const char *expected;
};

static void *ask(void *context)
{
	struct asking *asking = context;
	char *text = answers(asking->index);

	assert_string_equal(asking->expected, text);
	free(text);
	return NULL;
}

static void threads_share_an_index(void **state)
{
	struct line_index_options options = options_of();
	struct line_index index;
	struct asking asking = {.index = &index};
	pthread_t threads[4];
	char *expected;

	make(*state);
	options.folder = NULL;
	expected = answers_of(&options);
	asking.expected = expected;
	assert_int_equal(tally_line_index_open(&index, &options), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, &asking), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	tally_line_index_close(&index);
	free(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_was_made_is_read_back_without_the_program),
	    cmocka_unit_test(an_index_that_took_no_time_is_not_written),
	    cmocka_unit_test(an_index_of_another_program_is_not_read),
	    cmocka_unit_test(a_damaged_file_is_noticed_and_made_again),
	    cmocka_unit_test(hostile_files_do_no_harm),
	    cmocka_unit_test(names_that_were_shown_are_kept),
	    cmocka_unit_test(hostile_names_are_not_read),
	    cmocka_unit_test(files_of_others_are_not_read),
	    cmocka_unit_test(writers_and_readers_at_once_never_meet_half_a_file),
	    cmocka_unit_test(threads_share_an_index),
	};

	return cmocka_run_group_tests(tests, workdir_make, workdir_remove);
}
