/* The kernel's symbols on disk, on made-up trees and files. */
#include "workdir.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "image/image.h"
#include "base/cache_folder.h"
#include "kallsyms/kernel_cache.h"

static const char table[] = "ffffffff81000000 T _stext\n"
			    "ffffffff81000000 T _text\n"
			    "ffffffff81000100 t first\n"
			    "ffffffff81000300 W second\n"
			    "ffffffff81000600 D data\n"
			    "ffffffffc0000000 t modf\t[mod_a]\n"
			    "ffffffffc0000080 t bpf_prog_1_x\t[bpf]\n"
			    "ffffffffc0000100 t modg\t[mod_a]\n";
static const char other[] = "ffffffff81000000 T _text\n"
			    "ffffffff81000100 t changed\n"
			    "ffffffffc0000080 t bpf_prog_2_y\t[bpf]\n";

static char cache[128];

static void make_root(const struct workdir *workdir, const char *kallsyms)
{
	assert_int_equal(workdir_run(workdir, "mkdir -p proc/sys/kernel/random sys/kernel"), 0);
	workdir_write(workdir, "proc/kallsyms", kallsyms);
	workdir_write(workdir, "proc/modules", "mod_a 16384 2 - Live 0xffffffffc0000000 (O)\n");
	workdir_write(workdir, "proc/sys/kernel/kptr_restrict", "0\n");
	workdir_write(workdir, "proc/sys/kernel/perf_event_paranoid", "1\n");
	workdir_write(workdir, "proc/sys/kernel/random/boot_id",
		      "01234567-89ab-cdef-0123-456789abcdef\n");
	snprintf(cache, sizeof(cache), "%s/deep/cache", workdir->path);
}

static struct tally_image_store *open_store(const struct workdir *workdir)
{
	struct tally_image_options options = {
	    .size = sizeof(options), .root = workdir->path, .cache_dir = cache};
	struct tally_image_store *store;

	assert_int_equal(tally_image_store_new(&options, &store), 0);
	return store;
}

static const char *name_at(struct tally_image_store *store, const char *path, uint64_t place)
{
	struct tally_image_key key = {.path = path, .kernel = true};
	struct tally_image *image = tally_image_get(store, &key);
	int64_t index = tally_image_find_symbol(image, place);

	return index < 0 ? "-" : tally_image_symbol(image, index)->name;
}

/* What a new store names a place of the kernel. */
static void expect(const struct workdir *workdir, const char *path, uint64_t place,
		   const char *name)
{
	struct tally_image_store *store = open_store(workdir);

	assert_string_equal(name_at(store, path, place), name);
	tally_image_store_free(store);
}

/* The number of files in the cache, and the path of one of them. */
static size_t files(char ret[512])
{
	DIR *folder = opendir(cache);
	struct dirent *entry;
	size_t count = 0;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		snprintf(ret, 512, "%s/%s", cache, entry->d_name);
	}
	if (folder)
		closedir(folder);
	return count;
}

static void second_run_reads_the_cache(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {
	    .path = "[kernel.kallsyms]_text", .kernel = true, .anchor = 0xffffffff91000000};
	struct tally_image_store *store;
	struct tally_image *kernel;
	const struct tally_symbol *symbol;
	struct stat stat_of;
	char path[512];

	make_root(workdir, table);
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "first");
	assert_int_equal(files(path), 1);
	assert_int_equal(stat(path, &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0777, 0600);

	/* the table differs now, and by its key it is the same: so it was not read */
	workdir_write(workdir, "proc/kallsyms", other);
	store = open_store(workdir);
	assert_string_equal(name_at(store, "[kernel.kallsyms]", 0xffffffff81000000), "_text");
	assert_string_equal(name_at(store, "[kernel.kallsyms]", 0xffffffff810002ff), "first");
	assert_string_equal(name_at(store, "[kernel.kallsyms]", 0xffffffff81001fff), "data");
	assert_string_equal(name_at(store, "[kernel.kallsyms]", 0xffffffff81002000), "-");
	assert_string_equal(name_at(store, "[mod_a]", 0xffffffffc0000001), "modf");
	assert_string_equal(name_at(store, "[mod_a]", 0xffffffffc0000101), "modg");
	/* but programs come and go without a trace */
	assert_string_equal(name_at(store, "[bpf]", 0xffffffffc0000081), "bpf_prog_2_y");
	tally_image_store_free(store);

	/* the one of the file moves as the one that was read does */
	store = open_store(workdir);
	kernel = tally_image_get(store, &key);
	symbol = tally_image_symbol(kernel, tally_image_find_symbol(kernel, 0xffffffff91000310));
	assert_non_null(symbol);
	assert_string_equal(symbol->name, "second");
	assert_int_equal(symbol->binding, 2);
	assert_int_equal(symbol->start, 0xffffffff91000300);
	assert_int_equal(symbol->end, 0xffffffff91000600);
	assert_int_equal(tally_image_find_symbol(kernel, 0xffffffff81000310), -ENOENT);
	tally_image_store_free(store);
}

static void what_changes_the_key_remakes_it(void **state)
{
	const struct workdir *workdir = *state;
	static const char *const changes[][2] = {
	    {"proc/modules", "mod_a 16384 2 - Live 0xffffffffc0004000 (O)\n"},
	    {"proc/sys/kernel/random/boot_id", "11234567-89ab-cdef-0123-456789abcdef\n"},
	    {"proc/sys/kernel/kptr_restrict", "1\n"},
	};
	char before[512], after[512];

	make_root(workdir, table);
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "first");
	workdir_write(workdir, "proc/kallsyms", other);
	/* uses and users of a module are none of its symbols' */
	workdir_write(workdir, "proc/modules",
		      "mod_a 16384 3 mod_b, Live 0xffffffffc0000000 (O)\n");
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "first");
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		workdir_write(workdir, "proc/kallsyms", table);
		expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, i ? "changed" : "first");
		assert_int_equal(files(before), 1);
		workdir_write(workdir, "proc/kallsyms", other);
		workdir_write(workdir, changes[i][0], changes[i][1]);
		expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "changed");
		assert_int_equal(files(after), 1); /* the stale one is gone */
		assert_string_not_equal(before, after);
	}
}

static void hidden_addresses_are_remembered(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {.path = "[kernel.kallsyms]", .kernel = true};
	char path[512];

	make_root(workdir, "0000000000000000 T _text\n0000000000000000 t other\n");
	for (int i = 0; i < 2; i++) {
		struct tally_image_store *store = open_store(workdir);
		struct tally_image *kernel = tally_image_get(store, &key);

		assert_int_equal(tally_image_symbol_count(kernel), 0);
		assert_non_null(strstr(tally_image_why_no_symbols(kernel), "CAP_SYSLOG"));
		assert_int_equal(files(path), 1);
		tally_image_store_free(store);
		workdir_write(workdir, "proc/kallsyms", table);
	}
}

static void nothing_is_kept_where_it_may_not(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_options options = {.size = sizeof(options), .root = workdir->path};
	struct tally_image_store *store;
	char path[512];

	make_root(workdir, table);
	/* another root: not the machine's own */
	setenv("XDG_CACHE_HOME", workdir->path, 1);
	assert_int_equal(tally_image_store_new(&options, &store), 0);
	assert_string_equal(name_at(store, "[kernel.kallsyms]", 0xffffffff81000150), "first");
	tally_image_store_free(store);
	assert_int_equal(workdir_run(workdir, "test ! -e tally"), 0);
	/* others may write the folder, or it is a link, or a file */
	assert_int_equal(workdir_run(workdir, "mkdir -p deep/cache && chmod 777 deep/cache"), 0);
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "first");
	assert_int_equal(files(path), 0);
	assert_int_equal(workdir_run(workdir, "rmdir deep/cache && mkdir real && "
					      "ln -s ../real deep/cache"),
			 0);
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "first");
	assert_int_equal(files(path), 0);
	assert_int_equal(workdir_run(workdir, "rm deep/cache && echo >deep/cache"), 0);
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "first");
}

static void the_folder_is_where_it_should_be(void **state)
{
	const struct workdir *workdir = *state;
	char expected[128], *folder;

	setenv("HOME", workdir->path, 1);
	setenv("XDG_CACHE_HOME", "relative", 1);
	assert_null(tally_cache_folder(""));
	folder = tally_cache_folder("/given");
	assert_string_equal(folder, "/given");
	free(folder);
	unsetenv("XDG_CACHE_HOME");
	folder = tally_cache_folder(NULL);
	snprintf(expected, sizeof(expected), "%s/.cache/tally", workdir->path);
	assert_string_equal(folder, expected);
	free(folder);
	setenv("XDG_CACHE_HOME", workdir->path, 1);
	folder = tally_cache_folder(NULL);
	snprintf(expected, sizeof(expected), "%s/tally", workdir->path);
	assert_string_equal(folder, expected);
	free(folder);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_null(tally_cache_folder(NULL));
}

static char *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "r");
	char *bytes = malloc(1 << 16);

	assert_non_null(file);
	assert_non_null(bytes);
	*ret_size = fread(bytes, 1, 1 << 16, file);
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

/* Every word of the file set to values that break sums and bounds: it is refused, or what it says
 * is used within its bounds. */
static void hostile_files_do_no_harm(void **state)
{
	static const uint64_t values[] = {0, 1, 7, 1 << 12, UINT32_MAX, 1ULL << 61, UINT64_MAX};
	const struct workdir *workdir = *state;
	struct tally_kernel_key key;
	char path[512], *bytes;
	size_t size, used = 0, refused = 0;

	make_root(workdir, table);
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "first");
	assert_int_equal(files(path), 1);
	assert_int_equal(tally_kernel_key_read(workdir->path, &key), 0);
	bytes = read_file(path, &size);
	for (size_t at = 0; at + 8 <= size; at += 4) {
		char kept[8];

		memcpy(kept, bytes + at, 8);
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			struct tally_kallsyms kallsyms;

			memcpy(bytes + at, &values[i], 8);
			write_file(path, bytes, size);
			if (tally_kernel_cache_read(cache, &key, &kallsyms)) {
				refused++;
				continue;
			}
			used++;
			for (size_t g = 0; g < kallsyms.group_count; g++) {
				const struct tally_symbol_table *group = &kallsyms.tables[g];

				for (uint64_t place = 0xffffffff81000000;
				     place < 0xffffffff81001000; place += 0x80)
					tally_symbol_table_find(group, place);
				for (size_t s = 0; s < group->count; s++)
					assert_true(strlen(tally_symbol_table_get(group, s).name) <
						    size);
			}
			tally_kallsyms_find(&kallsyms, "mod_a");
			tally_kallsyms_done(&kallsyms);
		}
		memcpy(bytes + at, kept, 8);
	}
	assert_true(used > 0 && refused > 0);
	for (size_t length = 0; length < size; length += 3) {
		struct tally_kallsyms kallsyms;

		write_file(path, bytes, length);
		assert_true(tally_kernel_cache_read(cache, &key, &kallsyms) < 0);
	}
	/* a bad file is made anew */
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "first");
	free(bytes);
	bytes = read_file(path, &refused);
	assert_int_equal(refused, size);
	/* one that others may write is not read */
	workdir_write(workdir, "proc/kallsyms", other);
	assert_int_equal(chmod(path, 0622), 0);
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "changed");
	free(bytes);
}

static void *ask_all(void *context)
{
	struct tally_image_store *store = context;

	for (int i = 0; i < 200; i++) {
		assert_string_equal(name_at(store, "[kernel.kallsyms]", 0xffffffff81000150),
				    "first");
		assert_string_equal(name_at(store, "[kernel.kallsyms]", 0xffffffff81000300),
				    "second");
		assert_string_equal(name_at(store, "[mod_a]", 0xffffffffc0000101), "modg");
		assert_string_equal(name_at(store, "[bpf]", 0xffffffffc0000081), "bpf_prog_1_x");
	}
	return NULL;
}

static void threads_share_it(void **state)
{
	const struct workdir *workdir = *state;
	pthread_t threads[4];

	make_root(workdir, table);
	for (int run = 0; run < 2; run++) { /* made, then mapped */
		struct tally_image_store *store = open_store(workdir);

		for (size_t i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, ask_all, store), 0);
		for (size_t i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		tally_image_store_free(store);
	}
}

/* Processes that read and make the file at once, with keys that change under them. */
static void processes_race(void **state)
{
	const struct workdir *workdir = *state;
	char path[512];
	pid_t children[4];

	make_root(workdir, table);
	for (size_t i = 0; i < 4; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i])
			continue;
		for (int run = 0; run < 50; run++) {
			struct tally_image_store *store = open_store(workdir);
			bool right = !strcmp(
			    name_at(store, "[kernel.kallsyms]", 0xffffffff81000150), "first");

			tally_image_store_free(store);
			if (!right)
				_exit(1);
			if (run % 3 == (int)i && files(path))
				unlink(path);
		}
		_exit(0);
	}
	for (size_t i = 0; i < 4; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	expect(workdir, "[kernel.kallsyms]", 0xffffffff81000150, "first");
	assert_int_equal(files(path), 1);
}

/* The live kernel's: the file says of every symbol what kallsyms says. */
static void the_running_kernel_is_the_same_twice(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {.path = "[kernel.kallsyms]_text", .kernel = true};
	struct tally_image_options options = {.size = sizeof(options), .cache_dir = cache};
	struct tally_image_store *read, *mapped;
	struct tally_image *first, *second;
	char path[512];

	snprintf(cache, sizeof(cache), "%s/live", workdir->path);
	assert_int_equal(tally_image_store_new(&options, &read), 0);
	first = tally_image_get(read, &key);
	if (!tally_image_symbol_count(first)) {
		print_message("skipped: %s\n", tally_image_why_no_symbols(first));
		tally_image_store_free(read);
		skip();
	}
	assert_int_equal(files(path), 1);
	assert_int_equal(tally_image_store_new(&options, &mapped), 0);
	second = tally_image_get(mapped, &key);
	assert_int_equal(tally_image_symbol_count(second), tally_image_symbol_count(first));
	for (size_t i = 0; i < tally_image_symbol_count(first); i++) {
		const struct tally_symbol *a = tally_image_symbol(first, (int64_t)i);
		const struct tally_symbol *b = tally_image_symbol(second, (int64_t)i);

		assert_true(a->start == b->start && a->end == b->end && a->type == b->type &&
			    a->binding == b->binding && !strcmp(a->name, b->name));
		assert_int_equal(tally_image_find_symbol(second, a->start),
				 tally_image_find_symbol(first, a->start));
	}
	tally_image_store_free(read);
	tally_image_store_free(mapped);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, workdir_make, workdir_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(second_run_reads_the_cache),
	    CASE(what_changes_the_key_remakes_it),
	    CASE(hidden_addresses_are_remembered),
	    CASE(nothing_is_kept_where_it_may_not),
	    CASE(the_folder_is_where_it_should_be),
	    CASE(hostile_files_do_no_harm),
	    CASE(threads_share_it),
	    CASE(processes_race),
	    CASE(the_running_kernel_is_the_same_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
