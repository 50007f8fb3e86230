/* What has no file: the vdso, and JIT code named by /tmp/perf-PID.map. */
#include "workdir.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include "image/image.h"

static struct tally_image_store *open_store(const char *symfs)
{
	struct tally_image_options options = {.size = sizeof(options), .symfs = symfs};
	struct tally_image_store *store;

	assert_int_equal(tally_image_store_new(&options, &store), 0);
	return store;
}

static const char *name_at(struct tally_image *image, uint64_t place)
{
	int64_t index = tally_image_find_symbol(image, place);

	return index < 0 ? "-" : tally_image_symbol(image, index)->name;
}

/* The highest PIDs of Linux: no process of this machine has one. */
#define NOBODY 4194302

static void names_code_by_the_perf_map(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {.path = "//anon", .pid = NOBODY};
	struct tally_image_store *store = open_store(workdir->path);
	struct tally_image *image, *other;

	assert_int_equal(workdir_run(workdir, "mkdir tmp"), 0);
	workdir_write(workdir, "tmp/perf-4194302.map",
		      "7f0000001000 20 py::main:/a b.py\n"
		      "0x7f0000002000 0x10 with_prefix\n"
		      "junk\n\n"
		      "7f0000003000 zz bad\n"
		      "ffffffffffffffff 10 wraps\n"
		      "7f0000001000 10 again\n"
		      "7f0000004000 8 last");
	image = tally_image_get(store, &key);
	assert_int_equal(tally_image_kind(image), TALLY_IMAGE_ANON);
	assert_string_equal(tally_image_name(image), "[JIT] tid 4194302");
	assert_true(tally_image_places_are_addresses(image));
	assert_int_equal(tally_image_symbol_count(image), 4);
	assert_string_equal(name_at(image, 0x7f0000001000), "again"); /* the newer code */
	assert_string_equal(name_at(image, 0x7f0000001010), "py::main:/a b.py");
	assert_string_equal(name_at(image, 0x7f0000001020), "-");
	assert_string_equal(name_at(image, 0x7f000000200f), "with_prefix");
	assert_string_equal(name_at(image, 0x7f0000004007), "last");
	assert_null(tally_image_why_no_symbols(image));

	/* another process has no map; data has no code */
	key.pid = NOBODY + 1;
	other = tally_image_get(store, &key);
	assert_ptr_not_equal(other, image);
	assert_int_equal(tally_image_symbol_count(other), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(other), "perf-4194303.map"));
	key.pid = NOBODY;
	key.data = true;
	other = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(other), 0);
	tally_image_store_free(store);
}

/* 15.40: a compiler goes on while somebody watches. */
static void symbols_of_a_map_that_grows_keep_their_numbers(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {.path = "//anon", .pid = NOBODY};
	struct tally_image_store *store = open_store(workdir->path);
	struct tally_image *image = tally_image_get(store, &key);
	int64_t first, second;

	assert_int_equal(workdir_run(workdir, "mkdir tmp"), 0);
	assert_string_equal(name_at(image, 0x2000), "-");
	assert_non_null(tally_image_why_no_symbols(image));
	assert_int_equal(tally_image_store_read_on(store), 0);
	assert_string_equal(name_at(image, 0x2000), "-");
	workdir_write(workdir, "tmp/perf-4194302.map", "2000 10 first\n3000 10 second\n");
	assert_int_equal(tally_image_store_read_on(store), 0);
	assert_null(tally_image_why_no_symbols(image));
	first = tally_image_find_symbol(image, 0x2000);
	second = tally_image_find_symbol(image, 0x3000);
	/* In front of those that are known, and in place of one of them that was never shown. */
	for (int i = 0; i < 100; i++) {
		char name[16];

		assert_int_equal(workdir_run(workdir,
					     "printf '%x 8 more%d\\n3000 10 third%d\\n' "
					     ">> tmp/perf-4194302.map",
					     0x1000 + 8 * i, i, i),
				 0);
		if (i % 10)
			continue;
		assert_int_equal(tally_image_store_read_on(store), 0);
		assert_int_equal(tally_image_find_symbol(image, 0x2000), first);
		snprintf(name, sizeof(name), "third%d", i);
		assert_string_equal(name_at(image, 0x3000), name);
		snprintf(name, sizeof(name), "more%d", i);
		assert_string_equal(name_at(image, 0x1000 + 8 * (uint64_t)i), name);
	}
	assert_int_not_equal(tally_image_find_symbol(image, 0x3000), second);
	assert_string_equal(tally_image_symbol(image, first)->name, "first");
	assert_string_equal(tally_image_symbol(image, second)->name, "second");
	/* Another one, as of another program with the same number. */
	workdir_write(workdir, "tmp/perf-4194302.map", "2000 10 other\n");
	assert_int_equal(tally_image_store_read_on(store), 0);
	assert_string_equal(name_at(image, 0x2000), "other");
	assert_string_equal(name_at(image, 0x1000), "-");
	assert_string_equal(tally_image_symbol(image, first)->name, "first");
	assert_string_equal(tally_image_symbol(image, second)->name, "second");
	assert_null(tally_image_symbol(image, 100000));
	tally_image_store_free(store);
}

static void a_map_of_another_user_is_not_used(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {.path = "[heap]", .pid = NOBODY};
	struct tally_image_store *store = open_store(workdir->path);
	struct tally_image *image;

	if (geteuid() != 0) {
		tally_image_store_free(store);
		print_message("skipped: only root can give a file away\n");
		skip();
	}
	assert_int_equal(workdir_run(workdir, "mkdir tmp"), 0);
	workdir_write(workdir, "tmp/perf-4194302.map", "1000 20 lie\n");
	assert_int_equal(workdir_run(workdir, "chown 12345 tmp/perf-4194302.map"), 0);
	image = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(image), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(image), "12345"));
	tally_image_store_free(store);
}

/* 13.26: a link that is ours to a file that is not. */
static void a_link_to_a_map_of_another_user_is_not_used(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {.path = "[heap]", .pid = NOBODY};
	struct tally_image_store *store = open_store(workdir->path);
	struct tally_image *image;

	if (geteuid() != 0) {
		tally_image_store_free(store);
		print_message("skipped: only root can give a file away\n");
		skip();
	}
	assert_int_equal(workdir_run(workdir, "mkdir tmp"), 0);
	workdir_write(workdir, "lie", "1000 20 lie\n");
	assert_int_equal(
	    workdir_run(workdir, "chown 12345 lie && ln -s ../lie tmp/perf-4194302.map"), 0);
	image = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(image), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(image), "12345"));
	tally_image_store_free(store);
}

/* 13.22: nobody writes to it, so that opening it in the usual way does not end. */
static void a_map_that_is_a_fifo_is_not_opened(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {.path = "[heap]", .pid = NOBODY};
	struct tally_image_store *store = open_store(workdir->path);
	struct tally_image *image;

	assert_int_equal(
	    workdir_run(workdir, "mkdir tmp && mkfifo f && ln -s ../f tmp/perf-4194302.map"), 0);
	alarm(60);
	image = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(image), 0);
	alarm(0);
	assert_non_null(strstr(tally_image_why_no_symbols(image), "not a regular file"));
	tally_image_store_free(store);
}

static void names_are_those_of_perf(void **state)
{
	static const struct {
		const char *path, *name;
		enum tally_image_kind kind;
		bool kernel;
	} names[] = {
	    {"/usr/lib/libc.so.6", "libc.so.6", TALLY_IMAGE_FILE, false},
	    {"/a/b (deleted)", "b (deleted)", TALLY_IMAGE_FILE, false},
	    {"/memfd:jit (deleted)", "memfd:jit (deleted)", TALLY_IMAGE_ANON, false},
	    {"[vdso]", "[vdso]", TALLY_IMAGE_VDSO, false},
	    {"[vsyscall]", "[vsyscall]", TALLY_IMAGE_ANON, false},
	    {"/dev/zero (deleted)", "[JIT] tid 4194302", TALLY_IMAGE_ANON, false},
	    {"[stack]", "[JIT] tid 4194302", TALLY_IMAGE_ANON, false},
	    {"[kernel.kallsyms]_stext", "[kernel.kallsyms]", TALLY_IMAGE_KERNEL, true},
	    {"/lib/modules/x/snd-hda.ko", "[snd_hda]", TALLY_IMAGE_MODULE, true},
	    {"bpf_prog_12ab_name", "bpf_prog_12ab_name", TALLY_IMAGE_MODULE, true},
	};
	struct tally_image_store *store = open_store(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tally_image_key key = {
		    .path = names[i].path, .kernel = names[i].kernel, .pid = NOBODY};
		struct tally_image *image = tally_image_get(store, &key);

		assert_string_equal(tally_image_name(image), names[i].name);
		assert_int_equal(tally_image_kind(image), names[i].kind);
	}
	tally_image_store_free(store);
}

static void the_vdso_has_names(void **state)
{
	struct tally_image_key key = {.path = "[vdso]"};
	struct tally_image_store *store = open_store(NULL);
	struct tally_image *image = tally_image_get(store, &key);
	bool found = false;

	(void)state;
	if (!getauxval(AT_SYSINFO_EHDR)) {
		tally_image_store_free(store);
		skip();
	}
	for (size_t i = 0; i < tally_image_symbol_count(image); i++)
		found |=
		    strstr(tally_image_symbol(image, (int64_t)i)->name, "clock_gettime") != NULL;
	assert_true(found);
	tally_image_store_free(store);

	/* of another kernel */
	key.build_id_size = 20;
	memset(key.build_id, 1, 20);
	store = open_store(NULL);
	image = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(image), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(image), "another kernel"));
	tally_image_store_free(store);
}

/* perf keeps the vdso of what it recorded; one of another build there is not believed. */
static void another_kernel_s_vdso_is_in_the_cache(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_key key = {.path = "[vdso]", .build_id_size = 20};
	char home[4096] = "";
	struct tally_image_store *store;
	struct tally_image *image;
	bool found = false;

	if (workdir_run(workdir, "gcc --version >/dev/null 2>&1"))
		skip();
	assert_int_equal(
	    workdir_run(workdir, "o=$(printf %%038d | tr 0 1) && mkdir -p .debug/.build-id/11/$o "
				 ".debug/.build-id/22/$(printf %%038d | tr 0 2) && echo 'int "
				 "made(void) { return 1; }' "
				 "| gcc -shared -nostdlib -fPIC -Wl,--build-id=0x11$o -x c - -o "
				 ".debug/.build-id/11/$o/vdso && cp .debug/.build-id/11/$o/vdso "
				 ".debug/.build-id/22/2*"),
	    0);
	snprintf(home, sizeof(home), "%s", getenv("HOME") ? getenv("HOME") : "");
	setenv("HOME", workdir->path, 1);
	store = open_store(NULL);
	memset(key.build_id, 0x11, 20);
	image = tally_image_get(store, &key);
	for (size_t i = 0; i < tally_image_symbol_count(image); i++)
		found |= !strcmp(tally_image_symbol(image, (int64_t)i)->name, "made");
	assert_true(found);
	memset(key.build_id, 0x22, 20);
	image = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(image), 0);
	assert_non_null(tally_image_why_no_symbols(image));
	tally_image_store_free(store);
	setenv("HOME", home, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(names_code_by_the_perf_map, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(symbols_of_a_map_that_grows_keep_their_numbers,
					    workdir_make, workdir_remove),
	    cmocka_unit_test_setup_teardown(a_map_of_another_user_is_not_used, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(a_link_to_a_map_of_another_user_is_not_used,
					    workdir_make, workdir_remove),
	    cmocka_unit_test_setup_teardown(a_map_that_is_a_fifo_is_not_opened, workdir_make,
					    workdir_remove),
	    cmocka_unit_test(names_are_those_of_perf),
	    cmocka_unit_test(the_vdso_has_names),
	    cmocka_unit_test_setup_teardown(another_kernel_s_vdso_is_in_the_cache, workdir_make,
					    workdir_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
