/* Real binaries made by gcc, against what nm says of them. */
#include "workdir.h"

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>
#include "elf/build_id.h"
#include "elf/symbol_list.h"
#include "image/image.h"

static const char program[] =
    "extern int puts(const char *);\n"
    "int counter = 3;\n"
    "__asm__(\".text\\nhand_label: nop; nop\\n\"\n"
    "\".globl asm_tail\\n.type asm_tail,@function\\nasm_tail: nop; ret\\n\");\n"
    "__attribute__((noinline)) static int helper(int n) { return n * counter; }\n"
    "__attribute__((noinline)) int worker(int n) { puts(\"x\"); return helper(n) + 1; }\n"
    "int worker_alias(int) __attribute__((weak, alias(\"worker\")));\n"
    "int main(int c, char **v) { (void)v; return worker(c); }\n";

static struct tally_image_store *open_store(const char *debug_root, const char *symfs)
{
	struct tally_image_options options = {
	    .size = sizeof(options), .debug_root = debug_root, .symfs = symfs};
	struct tally_image_store *store;

	assert_int_equal(tally_image_store_new(&options, &store), 0);
	return store;
}

static struct tally_image *get(struct tally_image_store *store, const char *format,
			       const char *folder)
{
	char path[256];
	struct tally_image_key key = {.path = path};

	snprintf(path, sizeof(path), format, folder);
	return tally_image_get(store, &key);
}

static const char *name_at(struct tally_image *image, uint64_t place)
{
	int64_t index = tally_image_find_symbol(image, place);

	return index < 0 ? "-" : tally_image_symbol(image, index)->name;
}

static const struct tally_symbol *named(struct tally_image *image, const char *name)
{
	size_t count = tally_image_symbol_count(image);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(tally_image_symbol(image, (int64_t)i)->name, name))
			return tally_image_symbol(image, (int64_t)i);
	return NULL;
}

/* Each function that nm lists is found at its file offset: that is its address less what readelf
 * says the text segment is shifted by. */
static void compare_with_nm(const struct workdir *workdir, struct tally_image *image,
			    const char *file, size_t least)
{
	char path[256], line[1024];
	size_t checked = 0;
	unsigned long shift = 0;
	FILE *list;

	assert_int_equal(
	    workdir_run(workdir,
			"readelf -lW %s | awk '$1==\"LOAD\" && / R E /"
			"{print $2, $3; exit}' > shift && nm -S %s | grep ' [tT] ' > list",
			file, file),
	    0);
	snprintf(path, sizeof(path), "%s/shift", workdir->path);
	list = fopen(path, "r");
	assert_non_null(list);
	if (fgets(line, sizeof(line), list)) {
		char *end;
		unsigned long offset = strtoul(line, &end, 16);

		shift = strtoul(end, NULL, 16) - offset;
	}
	fclose(list);
	snprintf(path, sizeof(path), "%s/list", workdir->path);
	list = fopen(path, "r");
	assert_non_null(list);
	while (fgets(line, sizeof(line), list)) {
		char *end, name[512];
		uint64_t address = strtoull(line, &end, 16), size = 0;

		if (sscanf(end, "%lx %*c %511s", &size, name) != 2 || !size)
			continue;
		assert_string_not_equal(name_at(image, address - shift), "-");
		if (named(image, name)) { /* an alias gave way to a better one */
			assert_string_equal(name_at(image, address - shift), name);
			assert_string_equal(name_at(image, address - shift + size - 1), name);
			checked++;
		}
	}
	fclose(list);
	assert_true(checked >= least);
}

static void finds_what_nm_lists(void **state)
{
	static const char *const kinds[] = {"-pie -fPIE",
					    "-no-pie",
					    "-static",
					    "-m64 -O0 -Wl,-z,noseparate-code",
					    "-fcf-protection -Wl,-z,ibtplt",
					    "-Wl,-Ttext-segment=0x700000 -no-pie"};

	need_tool("gcc");
	need_tool("nm");
	workdir_write(*state, "p.c", program);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct tally_image_store *store = open_store(NULL, NULL);
		struct tally_image *image;

		assert_int_equal(workdir_run(*state, "gcc -O1 -w %s p.c -o p", kinds[i]), 0);
		image = get(store, "%s/p", ((struct workdir *)*state)->path);
		assert_string_equal(tally_image_name(image), "p");
		assert_false(tally_image_places_are_addresses(image));
		compare_with_nm(*state, image, "p", 4);
		assert_non_null(named(image, "worker"));
		assert_null(named(image, "worker_alias")); /* weak */
		assert_non_null(named(image, "hand_label"));
		assert_true(named(image, "asm_tail")->end > named(image, "asm_tail")->start);
		if (!strstr(kinds[i], "static"))
			assert_non_null(named(image, "puts@plt"));
		assert_non_null(named(image, "counter"));
		tally_image_store_free(store);
	}
}

static void names_stubs_as_objdump_does(void **state)
{
	static const char *const kinds[] = {"", "-fcf-protection -Wl,-z,ibtplt", "-fno-plt",
					    "-Wl,-z,now"};

	need_tool("gcc");
	need_tool("objdump");
	workdir_write(*state, "p.c", program);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct tally_image_store *store = open_store(NULL, NULL);
		struct tally_image *image;
		char path[256], line[512];
		FILE *list;

		/* lines of the stubs: "address offset <name@plt>:" */
		assert_int_equal(workdir_run(*state,
					     "gcc -O1 -w %s p.c -o p && objdump -d -F p | grep "
					     "'@plt> (File Offset' > list || true",
					     kinds[i]),
				 0);
		image = get(store, "%s/p", ((struct workdir *)*state)->path);
		snprintf(path, sizeof(path), "%s/list", ((struct workdir *)*state)->path);
		list = fopen(path, "r");
		assert_non_null(list);
		while (fgets(line, sizeof(line), list)) {
			char name[256];
			unsigned long offset;

			if (sscanf(line, "%*x <%255[^>]> (File Offset: %lx):", name, &offset) ==
				2 &&
			    line[0] == '0')
				assert_string_equal(name_at(image, offset), name);
		}
		fclose(list);
		tally_image_store_free(store);
	}
}

static void finds_separate_debug_files(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_store *store;
	struct tally_image *image;
	char root[128];

	need_tool("gcc");
	need_tool("objcopy");
	workdir_write(workdir, "p.c", program);
	snprintf(root, sizeof(root), "%s/root", workdir->path);
	assert_int_equal(
	    workdir_run(workdir,
			"mkdir -p root bin && gcc -w -O1 -Wl,--build-id=sha1 p.c -o full && "
			"objcopy --only-keep-debug full p.debug && cp full bin/p && strip bin/p"),
	    0);

	/* without one, .dynsym and the reason */
	store = open_store(root, NULL);
	image = get(store, "%s/bin/p", workdir->path);
	tally_image_symbol_count(image);
	assert_null(named(image, "helper"));
	tally_image_store_free(store);

	/* by build-id */
	assert_int_equal(workdir_run(workdir,
				     "id=$(readelf -n full | sed -n 's/.*Build ID: //p'); "
				     "d=root/.build-id/$(echo $id | cut -c1-2); mkdir -p $d; "
				     "cp p.debug $d/$(echo $id | cut -c3-).debug"),
			 0);
	store = open_store(root, NULL);
	image = get(store, "%s/bin/p", workdir->path);
	compare_with_nm(workdir, image, "full", 4);
	assert_non_null(named(image, "helper"));
	assert_non_null(named(image, "puts@plt"));
	tally_image_store_free(store);

	/* by debuglink beside it, with no build-id: the CRC decides */
	assert_int_equal(workdir_run(workdir,
				     "rm -rf root bin && mkdir -p root bin/.debug && gcc -w -O1 "
				     "-Wl,--build-id=none p.c -o full && objcopy "
				     "--only-keep-debug full bin/.debug/p.debug && cp full bin/p "
				     "&& strip bin/p && cd bin && objcopy "
				     "--add-gnu-debuglink=.debug/p.debug p"),
			 0);
	store = open_store(root, NULL);
	image = get(store, "%s/bin/p", workdir->path);
	assert_non_null(named(image, "helper"));
	tally_image_store_free(store);
	assert_int_equal(workdir_run(workdir, "printf x >> bin/.debug/p.debug"), 0);
	store = open_store(root, NULL);
	image = get(store, "%s/bin/p", workdir->path);
	assert_null(named(image, "helper"));
	tally_image_store_free(store);
}

static void reads_compressed_small_tables(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_store *store;
	struct tally_image *image;

	need_tool("gcc");
	need_tool("objcopy");
	need_tool("xz");
	workdir_write(workdir, "p.c", program);
	assert_int_equal(workdir_run(workdir,
				     "gcc -w -O1 p.c -o p && objcopy --only-keep-debug p mini && "
				     "strip -g mini 2>/dev/null; xz -kf mini && strip p && "
				     "objcopy --add-section .gnu_debugdata=mini.xz p && nm -D p > "
				     "/dev/null"),
			 0);
	store = open_store("/nonexistent", NULL);
	image = get(store, "%s/p", workdir->path);
	if (!named(image, "helper")) {
		const char *why = tally_image_why_no_symbols(image);

		tally_image_store_free(store);
		if (why && strstr(why, "liblzma"))
			skip();
		fail_msg("helper is missing");
	}
	assert_string_equal(name_at(image, named(image, "helper")->start), "helper");
	tally_image_store_free(store);
}

static void shows_names_of_cxx(void **state)
{
	struct tally_image_store *store;
	struct tally_image *image;
	struct tally_image_options raw = {.size = sizeof(raw), .no_demangle = true};

	need_tool("g++");
	workdir_write(*state, "p.cc",
		      "namespace a { struct B { B(int); int x; int get(long) const; };\n"
		      "B::B(int n) : x(n) {} int B::get(long y) const { return x + (int)y; } }\n"
		      "int main() { return a::B(3).get(4); }\n");
	assert_int_equal(workdir_run(*state, "g++ -O0 p.cc -o p"), 0);
	store = open_store(NULL, NULL);
	image = get(store, "%s/p", ((struct workdir *)*state)->path);
	assert_non_null(named(image, "a::B::B"));
	assert_non_null(named(image, "a::B::get"));
	assert_ptr_equal(named(image, "a::B::get")->name, named(image, "a::B::get")->name);
	tally_image_store_free(store);
	assert_int_equal(tally_image_store_new(&raw, &store), 0);
	image = get(store, "%s/p", ((struct workdir *)*state)->path);
	assert_non_null(named(image, "_ZNK1a1B3getEl"));
	tally_image_store_free(store);
}

static void says_why_there_are_none(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_store *store = open_store("/nonexistent", NULL);
	struct tally_image_key key = {0};
	struct tally_image *image;
	char path[256];

	need_tool("gcc");
	workdir_write(workdir, "p.c", program);
	workdir_write(workdir, "text", "no binary\n");
	assert_int_equal(workdir_run(workdir, "gcc -w -O1 -static p.c -o p && strip p"), 0);
	image = get(store, "%s/p", workdir->path);
	assert_int_equal(tally_image_symbol_count(image), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(image), "stripped"));
	image = get(store, "%s/none", workdir->path);
	assert_int_equal(tally_image_find_symbol(image, 0), -ENOENT);
	assert_non_null(strstr(tally_image_why_no_symbols(image), "does not exist"));
	image = get(store, "%s/gone (deleted)", workdir->path);
	assert_string_equal(tally_image_name(image), "gone (deleted)");
	assert_int_equal(tally_image_symbol_count(image), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(image), "deleted"));
	image = get(store, "%s/text", workdir->path);
	assert_int_equal(tally_image_symbol_count(image), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(image), "not an ELF"));
	assert_int_equal(workdir_run(workdir, "gcc -w -O1 -Wl,--build-id=sha1 p.c -o p"), 0);
	snprintf(path, sizeof(path), "%s/p", workdir->path);
	key.path = path;
	key.build_id_size = 20;
	memset(key.build_id, 0x5a, 20);
	tally_image_store_free(store);
	store = open_store("/nonexistent", NULL);
	image = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(image), 0);
	assert_non_null(strstr(tally_image_why_no_symbols(image), "changed"));
	assert_non_null(strstr(tally_image_why_no_symbols(image), "5a5a5a5a"));
	tally_image_store_free(store);
}

static void reads_build_ids(void **state)
{
	const struct workdir *workdir = *state;
	char path[256], expected[64] = "", got[64];
	uint8_t id[20], size = 0;
	FILE *file;

	need_tool("gcc");
	need_tool("readelf");
	workdir_write(workdir, "p.c", program);
	assert_int_equal(
	    workdir_run(workdir, "gcc -w -Wl,--build-id=sha1 p.c -o p && gcc -w "
				 "-Wl,--build-id=none p.c -o q && readelf -n p | sed -n "
				 "'s/.*Build ID: //p' > id && gcc -w -Wl,--build-id=md5 p.c -o r"),
	    0);
	snprintf(path, sizeof(path), "%s/id", workdir->path);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(expected, sizeof(expected), file));
	fclose(file);
	snprintf(path, sizeof(path), "%s/p", workdir->path);
	assert_int_equal(tally_image_read_build_id(path, id, &size), 0);
	assert_int_equal(size, 20);
	for (int i = 0; i < 20; i++)
		snprintf(got + 2 * i, sizeof(got) - 2 * (size_t)i, "%02x", id[i]);
	assert_memory_equal(got, expected, 40);
	snprintf(path, sizeof(path), "%s/r", workdir->path);
	assert_int_equal(tally_image_read_build_id(path, id, &size), 0);
	assert_int_equal(size, 16);
	snprintf(path, sizeof(path), "%s/q", workdir->path);
	assert_int_equal(tally_image_read_build_id(path, id, &size), -ENOENT);
	snprintf(path, sizeof(path), "%s/p.c", workdir->path);
	assert_int_equal(tally_image_read_build_id(path, id, &size), -ENOENT);
	assert_int_equal(tally_image_read_build_id(workdir->path, id, &size), -ENOENT);
	snprintf(path, sizeof(path), "%s/none", workdir->path);
	assert_int_equal(tally_image_read_build_id(path, id, &size), -ENOENT);
}

static void one_image_a_file(void **state)
{
	struct tally_image_store *store = open_store(NULL, "/nonexistent");
	struct tally_image_key key = {.path = "/bin/a", .ino = 5};
	struct tally_image *first = tally_image_get(store, &key), *second;

	(void)state;
	assert_int_equal(tally_image_number(first), 0);
	key.ino = 0;
	assert_ptr_equal(tally_image_get(store, &key), first);
	key.ino = 6;
	second = tally_image_get(store, &key);
	assert_ptr_not_equal(second, first);
	assert_int_equal(tally_image_number(second), 1);
	assert_string_equal(tally_image_path(second), "/bin/a");
	key.path = "/bin/b";
	assert_int_equal(tally_image_number(tally_image_get(store, &key)), 2);
	tally_image_store_free(store);
}

/* A path that is not here is looked for in the process's own root while it lives: a container. */
static void looks_through_the_process(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_image_options options = {.size = sizeof(options), .root = workdir->path};
	struct tally_image_key key = {.path = "/nowhere/bin/inside", .pid = 123};
	struct tally_image_store *store;
	struct tally_image *image;

	need_tool("gcc");
	workdir_write(workdir, "p.c", program);
	assert_int_equal(workdir_run(workdir,
				     "mkdir -p proc/123/root/nowhere/bin && gcc -w -O1 p.c -o "
				     "proc/123/root/nowhere/bin/inside"),
			 0);
	assert_int_equal(tally_image_store_new(&options, &store), 0);
	image = tally_image_get(store, &key);
	assert_non_null(named(image, "worker"));
	tally_image_store_free(store);
	key.pid = 124;
	assert_int_equal(tally_image_store_new(&options, &store), 0);
	image = tally_image_get(store, &key);
	assert_int_equal(tally_image_symbol_count(image), 0);
	tally_image_store_free(store);
}

/* perf record keeps binaries by build-id; the copy stands in for one that is gone or changed. */
static void uses_the_cache_of_perf(void **state)
{
	const struct workdir *workdir = *state;
	const char *home = getenv("HOME");
	char path[256], saved[256];
	struct tally_image_key key = {.path = path};
	struct tally_image_store *store;
	struct tally_image *image;

	need_tool("gcc");
	need_tool("readelf");
	workdir_write(workdir, "p.c", program);
	assert_int_equal(
	    workdir_run(workdir,
			"gcc -w -O1 -Wl,--build-id=sha1 p.c -o p && id=$(readelf -n p | sed "
			"-n 's/.*Build ID: //p') && d=.debug/.build-id/$(echo $id | cut "
			"-c1-2)/$(echo $id | cut -c3-) && mkdir -p $d && cp p $d/elf"),
	    0);
	snprintf(path, sizeof(path), "%s/p", workdir->path);
	assert_int_equal(tally_image_read_build_id(path, key.build_id, &key.build_id_size), 0);
	assert_int_equal(workdir_run(workdir, "gcc -w -O0 -Wl,--build-id=sha1 p.c -o p"), 0);
	snprintf(saved, sizeof(saved), "%s", home ? home : "/");
	setenv("HOME", workdir->path, 1);
	assert_int_equal(tally_image_store_new(NULL, &store), 0);
	setenv("HOME", saved, 1);
	image = tally_image_get(store, &key);
	assert_non_null(named(image, "worker"));
	assert_null(tally_image_why_no_symbols(image));
	tally_image_store_free(store);
	if (geteuid())
		return;
	/* 13.26: what another user put there is not used. */
	assert_int_equal(workdir_run(workdir, "chown -R 12345 .debug"), 0);
	setenv("HOME", workdir->path, 1);
	assert_int_equal(tally_image_store_new(NULL, &store), 0);
	setenv("HOME", saved, 1);
	image = tally_image_get(store, &key);
	assert_null(named(image, "worker"));
	assert_non_null(strstr(tally_image_why_no_symbols(image), "changed since the recording"));
	tally_image_store_free(store);
}

static int64_t add_a_name(void *context, const struct tally_image_origin *image,
			  struct tally_symbol_list *list, bool *ret_some)
{
	(void)image;
	*ret_some = *(const bool *)context;
	tally_buf_text(&list->text, "recorded");
	tally_buf_byte(&list->text, 0);
	return tally_symbol_list_add(list, 0x10, 0x20, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC))
		   ? -ENOMEM
		   : 1;
}

static void keep_line(void *context, const char *line)
{
	snprintf(context, 128, "%s", line);
}

/* A recording may have more names than are taken of all its images. */
static void recorded_names_that_are_left_out_are_printed(void **state)
{
	(void)state;
	for (int some = 0; some < 2; some++) {
		bool more = some;
		struct tally_image_options options = {
		    .size = sizeof(options), .add_recorded = add_a_name, .recorded = &more};
		struct tally_image_store *store;
		struct tally_image *image;
		char line[128] = "";

		assert_int_equal(tally_image_store_new(&options, &store), 0);
		image = get(store, "/nowhere/app%s", "");
		assert_string_equal(name_at(image, 0x18), "recorded");
		tally_image_each_left_out(image, keep_line, line);
		assert_string_equal(
		    line, some ? "/nowhere/app: some of the names that the recording has are left "
				 "out: too many"
			       : "");
		tally_image_store_free(store);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(finds_what_nm_lists, workdir_make, workdir_remove),
	    cmocka_unit_test_setup_teardown(names_stubs_as_objdump_does, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(finds_separate_debug_files, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(reads_compressed_small_tables, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(shows_names_of_cxx, workdir_make, workdir_remove),
	    cmocka_unit_test_setup_teardown(says_why_there_are_none, workdir_make, workdir_remove),
	    cmocka_unit_test_setup_teardown(reads_build_ids, workdir_make, workdir_remove),
	    cmocka_unit_test_setup_teardown(looks_through_the_process, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(uses_the_cache_of_perf, workdir_make, workdir_remove),
	    cmocka_unit_test(one_image_a_file),
	    cmocka_unit_test(recorded_names_that_are_left_out_are_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
