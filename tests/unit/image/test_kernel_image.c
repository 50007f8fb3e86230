/* The kernel's table by the store, on made-up trees for root. */
#include "workdir.h"

#include <errno.h>
#include "elf/build_id.h"
#include "image/image.h"
#include "kallsyms/kallsyms.h"

/* What perf 6.1 answers for this table was asked of perf; see the expectations below. */
static const char table[] = "ffffffff81000000 T _stext\n"
			    "ffffffff81000000 T _text\n"
			    "ffffffff81000100 t aaa\n"
			    "ffffffff81000100 T bbb\n"
			    "ffffffff81000100 W ccc\n"
			    "ffffffff81000200 W ccc2\n"
			    "ffffffff81000200 t aaa2\n"
			    "ffffffff81000300 T __longer_name\n"
			    "ffffffff81000300 T short\n"
			    "ffffffff81000600 r readonly\n"
			    "ffffffff81000700 D data\n"
			    "ffffffff81000900 A absolute\n"
			    "ffffffff81000a00 t $x\n"
			    "ffffffff81000b00 T last\n"
			    "ffffffffc0002000 t modh\t[mod_b]\n"
			    "ffffffffc0000000 t modf\t[mod_a]\n"
			    "ffffffffc0000100 t modg\t[mod_a]\n";

/* NT_GNU_BUILD_ID with the id 01 02 .. 14, as /sys/kernel/notes has it. */
static const unsigned char notes[] = {4,   0,   0,   0,  20, 0,  0,  0,  3,  0,  0,  0,
				      'G', 'N', 'U', 0,  1,  2,  3,  4,  5,  6,  7,  8,
				      9,   10,  11,  12, 13, 14, 15, 16, 17, 18, 19, 20};

static void make_root(const struct workdir *workdir, const char *kallsyms)
{
	char path[128];
	FILE *file;

	assert_int_equal(
	    workdir_run(workdir, "rm -rf proc sys && mkdir -p proc/sys/kernel sys/kernel"), 0);
	workdir_write(workdir, "proc/kallsyms", kallsyms);
	workdir_write(workdir, "proc/sys/kernel/kptr_restrict", "1\n");
	snprintf(path, sizeof(path), "%s/sys/kernel/notes", workdir->path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(notes, 1, sizeof(notes), file), sizeof(notes));
	fclose(file);
}

static struct tally_image_store *open_store(const char *root, const char *kallsyms)
{
	struct tally_image_options options = {
	    .size = sizeof(options), .root = root, .kallsyms = kallsyms, .cache_dir = ""};
	struct tally_image_store *store;

	assert_int_equal(tally_image_store_new(&options, &store), 0);
	return store;
}

static const char *name_at(struct tally_image *image, uint64_t place)
{
	int64_t index = tally_image_find_symbol(image, place);

	return index < 0 ? "-" : tally_image_symbol(image, index)->name;
}

static void names_the_kernel_and_its_modules(void **state)
{
	struct tally_image_key key = {.path = "[kernel.kallsyms]_text", .kernel = true};
	struct tally_image_store *store;
	struct tally_image *kernel, *module, *file;

	make_root(*state, table);
	store = open_store(((struct workdir *)*state)->path, NULL);
	kernel = tally_image_get(store, &key);
	assert_int_equal(tally_image_kind(kernel), TALLY_IMAGE_KERNEL);
	assert_string_equal(tally_image_name(kernel), "[kernel.kallsyms]");
	assert_true(tally_image_places_are_addresses(kernel));
	assert_string_equal(name_at(kernel, 0xffffffff81000000), "_text");
	assert_string_equal(name_at(kernel, 0xffffffff81000100), "ccc");
	assert_string_equal(name_at(kernel, 0xffffffff81000200), "aaa2");
	assert_string_equal(name_at(kernel, 0xffffffff81000300), "short");
	assert_string_equal(name_at(kernel, 0xffffffff810006ff), "short");
	assert_string_equal(name_at(kernel, 0xffffffff81000aff), "data");
	assert_string_equal(name_at(kernel, 0xffffffff81001fff), "last");
	assert_string_equal(name_at(kernel, 0xffffffff81002000), "-");
	assert_string_equal(name_at(kernel, 0xffffffffc0000000), "-");
	key.path = "[mod_a]";
	module = tally_image_get(store, &key);
	assert_int_equal(tally_image_kind(module), TALLY_IMAGE_MODULE);
	assert_string_equal(name_at(module, 0xffffffffc0000050), "modf");
	assert_string_equal(name_at(module, 0xffffffffc0001fff), "modg");
	assert_string_equal(name_at(module, 0xffffffffc0002000), "-");
	key.path = "/lib/modules/6.1.0/kernel/drivers/mod-b.ko.xz";
	file = tally_image_get(store, &key);
	assert_string_equal(tally_image_name(file), "[mod_b]");
	assert_string_equal(name_at(file, 0xffffffffc0002000), "modh");
	assert_null(tally_image_why_no_symbols(file));
	key.path = "[gone]";
	file = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(file), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(file), "[gone]"));
	tally_image_store_free(store);
}

static void says_that_addresses_are_hidden(void **state)
{
	struct tally_image_key key = {.path = "[kernel.kallsyms]", .kernel = true};
	struct tally_image_store *store;
	struct tally_image *kernel;

	make_root(*state, "0000000000000000 T _text\n0000000000000000 t other\n");
	store = open_store(((struct workdir *)*state)->path, NULL);
	kernel = tally_image_get(store, &key);
	assert_int_equal(tally_image_find_symbol(kernel, 0), -ENOENT);
	assert_non_null(strstr(tally_image_why_no_symbols(kernel), "kptr_restrict=1"));
	assert_non_null(strstr(tally_image_why_no_symbols(kernel), "CAP_SYSLOG"));
	tally_image_store_free(store);
}

static void another_release_is_not_used_without_a_build_id(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_options options = {
	    .size = sizeof(options), .root = workdir->path, .cache_dir = ""};
	struct tally_image_key key = {.path = "[kernel.kallsyms]", .kernel = true};

	make_root(workdir, table);
	workdir_write(workdir, "proc/sys/kernel/osrelease", "6.1.0-here\n");
	for (int other = 0; other < 3; other++) {
		struct tally_image_store *store;
		struct tally_image *kernel;

		options.kernel_release = other == 2 ? "" : other ? "5.15.0-other" : "6.1.0-here";
		assert_int_equal(tally_image_store_new(&options, &store), 0);
		kernel = tally_image_get(store, &key);
		assert_int_equal(tally_image_symbol_count(kernel) > 0, !other);
		if (other)
			assert_non_null(strstr(tally_image_why_no_symbols(kernel),
					       other == 2 ? "does not say of which kernel it is"
							  : "its release is 6.1.0-here, recorded "
							    "was 5.15.0-other"));
		tally_image_store_free(store);
	}
}

static void another_kernel_is_not_used(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {
	    .path = "[kernel.kallsyms]", .kernel = true, .build_id_size = 20};
	struct tally_image_store *store;
	struct tally_image *kernel;
	char path[128];
	uint8_t id[20], size;

	make_root(workdir, table);
	assert_int_equal(tally_image_kernel_build_id(workdir->path, id, &size), 0);
	assert_int_equal(size, 20);
	assert_memory_equal(id, notes + 16, 20);
	memset(key.build_id, 0xab, 20);
	store = open_store(workdir->path, NULL);
	kernel = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(kernel), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(kernel), "abababab"));
	assert_non_null(strstr(tally_image_why_no_symbols(kernel), "0102030405060708"));
	tally_image_store_free(store);

	/* a table that was asked for is used all the same */
	snprintf(path, sizeof(path), "%s/proc/kallsyms", workdir->path);
	store = open_store(workdir->path, path);
	kernel = tally_image_get(store, &key);
	assert_string_equal(name_at(kernel, 0xffffffff81000300), "short");
	tally_image_store_free(store);

	/* the same build */
	memcpy(key.build_id, notes + 16, 20);
	store = open_store(workdir->path, NULL);
	kernel = tally_image_get(store, &key);
	assert_string_equal(name_at(kernel, 0xffffffff81000300), "short");
	tally_image_store_free(store);
}

static void shifts_to_where_the_kernel_was(void **state)
{
	struct tally_image_key key = {
	    .path = "[kernel.kallsyms]_text", .kernel = true, .anchor = 0xffffffff91000000};
	struct tally_image_store *store;
	struct tally_image *kernel;

	make_root(*state, table);
	store = open_store(((struct workdir *)*state)->path, NULL);
	kernel = tally_image_get(store, &key);
	assert_string_equal(name_at(kernel, 0xffffffff91000300), "short");
	assert_string_equal(name_at(kernel, 0xffffffff81000300), "-");
	tally_image_store_free(store);
}

/* The file says where the kernel was linked, the recording where it ran. */
static void reads_vmlinux(void **state)
{
	const struct workdir *workdir = *state;
	char path[128];
	struct tally_image_options options = {
	    .size = sizeof(options), .root = workdir->path, .vmlinux = path};
	struct tally_image_key key = {
	    .path = "[kernel.kallsyms]_stext", .kernel = true, .anchor = 0xffffffff91000000};
	struct tally_image_store *store;
	struct tally_image *kernel;

	need_tool("gcc");
	make_root(workdir, table);
	workdir_write(workdir, "k.s",
		      ".text\n.globl _stext\n_stext: nop\n.type kfunc,@function\n"
		      ".globl kfunc\nkfunc: nop\nnop\nret\n.size kfunc,3\n"
		      ".globl khand\nkhand: ret\n");
	snprintf(path, sizeof(path), "%s/vmlinux", workdir->path);
	assert_int_equal(workdir_run(workdir, "gcc -nostdlib -static -Wl,-e_stext,--build-id=none,"
					      "-Ttext=0xffffffff81000000 k.s -o vmlinux"),
			 0);
	assert_int_equal(tally_image_store_new(&options, &store), 0);
	kernel = tally_image_get(store, &key);
	assert_string_equal(tally_image_name(kernel), "[kernel.vmlinux]");
	assert_string_equal(name_at(kernel, 0xffffffff91000001), "kfunc");
	assert_string_equal(name_at(kernel, 0xffffffff91000003), "kfunc");
	assert_string_equal(name_at(kernel, 0xffffffff91000004), "khand");
	assert_string_equal(name_at(kernel, 0xffffffff81000001), "-");
	tally_image_store_free(store);

	/* without a file the running kernel's table does */
	assert_int_equal(workdir_run(workdir, "rm vmlinux"), 0);
	key.anchor = 0;
	assert_int_equal(tally_image_store_new(&options, &store), 0);
	kernel = tally_image_get(store, &key);
	assert_string_equal(name_at(kernel, 0xffffffff81000300), "short");
	tally_image_store_free(store);
}

static void odd_lines_do_no_harm(void **state)
{
	static const char *const texts[] = {
	    "",
	    "\n\n\n",
	    "f",
	    "ffffffff81000000",
	    "ffffffff81000000 T",
	    "ffffffff81000000 T ",
	    "ffffffff81000000 T a\t[",
	    "ffffffff81000000 T a\t[]",
	    "ffffffff81000000 T a\t[m",
	    "ffffffff81000000 T \t[m]",
	    "zz T a\n \t\n",
	    "1 T a\t[m]\n1 T b\t[n]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tally_kallsyms kallsyms = {0};
		size_t size = strlen(texts[i]);

		assert_int_equal(tally_kallsyms_parse(strdup(texts[i]), size, &kallsyms), 0);
		tally_kallsyms_done(&kallsyms);
	}
}

static void agrees_with_the_running_kernel(void **state)
{
	struct tally_image_key key = {.path = "[kernel.kallsyms]_text", .kernel = true};
	struct tally_image_store *store = open_store(NULL, NULL);
	struct tally_image *kernel = tally_image_get(store, &key);
	FILE *file;
	char line[1024];
	size_t checked = 0;

	(void)state;
	if (!tally_image_symbol_count(kernel)) {
		print_message("skipped: %s\n", tally_image_why_no_symbols(kernel));
		tally_image_store_free(store);
		skip();
	}
	file = fopen("/proc/kallsyms", "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		uint64_t address = strtoull(line, NULL, 16);
		int64_t index;

		if ((line[17] != 'T' && line[17] != 't') || strchr(line, '\t'))
			continue;
		index = tally_image_find_symbol(kernel, address);
		assert_true(index >= 0);
		assert_int_equal(tally_image_symbol(kernel, index)->start, address);
		checked++;
	}
	fclose(file);
	assert_true(checked > 1000);
	tally_image_store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(names_the_kernel_and_its_modules, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(says_that_addresses_are_hidden, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(another_release_is_not_used_without_a_build_id,
					    workdir_make, workdir_remove),
	    cmocka_unit_test_setup_teardown(another_kernel_is_not_used, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(shifts_to_where_the_kernel_was, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(reads_vmlinux, workdir_make, workdir_remove),
	    cmocka_unit_test(odd_lines_do_no_harm),
	    cmocka_unit_test(agrees_with_the_running_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
