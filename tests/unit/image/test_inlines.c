/* Lines and inlined functions of real binaries made by gcc, against what addr2line says of them. */
#include "workdir.h"

#include <errno.h>
#include <stdbool.h>
#include "image/image.h"
#include "image/inlines.h"
#include "dwarf/lines_spans.h"

static const char c_program[] =
    "volatile unsigned sink;\n"
    "static inline unsigned mix(unsigned x)\n"
    "{\n"
    "	x ^= x >> 13;\n"
    "	return x * 0x5bd1e995;\n"
    "}\n"
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

static const char cpp_program[] =
    "volatile int sink;\n"
    "namespace shop {\n"
    "template <class T> struct box {\n"
    "	T value;\n"
    "	explicit box(T v) : value(v) {}\n"
    "	template <class U> U as() const { return static_cast<U>(value) + sink; }\n"
    "};\n"
    "struct shape { virtual double area() const = 0; };\n"
    "struct square : shape {\n"
    "	double a;\n"
    "	square(double x) : a(x) {}\n"
    "	double area() const override { return a * a + sink; }\n"
    "};\n"
    "__attribute__((noinline)) double sum(int n)\n"
    "{\n"
    "	double all = 0;\n"
    "	for (int i = 0; i < n; i++)\n"
    "		all += box<int>(i).as<double>() + box<float>(i).as<int>();\n"
    "	return all;\n"
    "}\n"
    "__attribute__((noinline)) double areas(const shape &one) { return one.area(); }\n"
    "}\n"
    "int main(int count, char **)\n"
    "{\n"
    "	shop::square one(count);\n"
    "	return shop::sum(count) > shop::areas(one);\n"
    "}\n";

static struct tally_image_store *open_store(bool no_demangle)
{
	struct tally_image_options options = {
	    .size = sizeof(options), .debug_root = "/nowhere", .no_demangle = no_demangle};
	struct tally_image_store *store;

	assert_int_equal(tally_image_store_new(&options, &store), 0);
	return store;
}

static struct tally_image *get(struct tally_image_store *store, const struct workdir *workdir,
			       const char *file)
{
	char path[256];
	struct tally_image_key key = {.path = path};

	snprintf(path, sizeof(path), "%s/%s", workdir->path, file);
	return tally_image_get(store, &key);
}

/* By its name; linkers give .text of these the same address and offset. */
static const struct tally_symbol *named(struct tally_image *image, const char *name)
{
	size_t count = tally_image_symbol_count(image);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(tally_image_symbol(image, (int64_t)i)->name, name))
			return tally_image_symbol(image, (int64_t)i);
	fail_msg("there is no symbol %s", name);
	return NULL;
}

static void say(FILE *to, struct tally_image *image, uint64_t place)
{
	const struct tally_inline *list;
	struct tally_line line;
	size_t count;
	int error = tally_image_line(image, place, &line);

	fprintf(to, "0x%016lx\n", (unsigned long)line.address);
	assert_int_equal(tally_image_inlines(image, place, &list, &count), 0);
	assert_true(!error == (count > 0));
	if (error)
		fprintf(to, "??\n??:0\n");
	for (size_t i = 0; i < count; i++) {
		fprintf(to, "%s\n", list[i].name);
		if (list[i].line)
			fprintf(to, "%s:%u\n", list[i].file, list[i].line);
		else
			fprintf(to, "%s:?\n", list[i].file);
	}
	if (count) {
		assert_string_equal(line.file, list[0].file);
		assert_int_equal(line.line, list[0].line);
	}
}

/* Every byte of a function. */
static void compare_with_addr2line(const struct workdir *workdir, const char *file,
				   const char *function)
{
	struct tally_image_store *store = open_store(true);
	struct tally_image *image = get(store, workdir, file);
	const struct tally_symbol *symbol = named(image, function);
	char path[256];
	FILE *ours, *asked;

	snprintf(path, sizeof(path), "%s/ours", workdir->path);
	ours = fopen(path, "w");
	snprintf(path, sizeof(path), "%s/asked", workdir->path);
	asked = fopen(path, "w");
	assert_true(ours && asked);
	for (uint64_t place = symbol->start; place < symbol->end; place++) {
		struct tally_line line;

		(void)tally_image_line(image, place, &line);
		fprintf(asked, "%lx\n", (unsigned long)line.address);
		say(ours, image, place);
	}
	fclose(asked);
	fclose(ours);
	assert_int_equal(workdir_run(workdir,
				     "addr2line -a -f -i -e %s < asked | "
				     "sed 's/ (discriminator [0-9]*)//' > theirs && "
				     "test -s theirs && diff theirs ours",
				     file),
			 0);
	tally_image_store_free(store);
}

static void make(const struct workdir *workdir, const char *how)
{
	need_tool("addr2line");
	need_tool("gcc");
	workdir_write(workdir, "prog.c", c_program);
	assert_int_equal(workdir_run(workdir, "gcc %s -o prog prog.c", how), 0);
}

static void lines_and_inlined_functions_of_c_are_those_of_addr2line(void **state)
{
	/* 15.2: DWARF 2 to 5, sections compressed in both ways, types in
	 * units of their own */
	static const char *const how[] = {
	    "-gdwarf-2 -O2",
	    "-gdwarf-3 -O2",
	    "-gdwarf-4 -O2",
	    "-gdwarf-5 -O2",
	    "-g -O2 -no-pie",
	    "-g -O2 -gz",
	    "-gdwarf-4 -O2 -gz=zlib-gnu",
	    "-g -O2 -fdebug-types-section",
	    "-g1 -O2",
	    "-g -O0",
	};

	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		make(*state, how[i]);
		compare_with_addr2line(*state, "prog", "work");
		compare_with_addr2line(*state, "prog", "main");
	}
}

static void inlined_functions_of_templates_are_those_of_addr2line(void **state)
{
	need_tool("g++");
	need_tool("addr2line");
	workdir_write(*state, "prog.cc", cpp_program);
	assert_int_equal(workdir_run(*state, "g++ -gdwarf-4 -O2 -o cpp prog.cc"), 0);
	compare_with_addr2line(*state, "cpp", "_ZN4shop3sumEi");
	compare_with_addr2line(*state, "cpp", "_ZN4shop5areasERKNS_5shapeE");
	compare_with_addr2line(*state, "cpp", "_ZNK4shop6square4areaEv");
}

/* What is known of every byte of some functions. */
static void write_answers(const struct workdir *workdir, const char *file, const char *to)
{
	static const char *const functions[] = {"work", "main"};
	struct tally_image_store *store = open_store(true);
	struct tally_image *image = get(store, workdir, file);
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", workdir->path, to);
	out = fopen(path, "w");
	assert_non_null(out);
	for (size_t i = 0; i < 2; i++) {
		const struct tally_symbol *symbol = named(image, functions[i]);

		for (uint64_t place = symbol->start; place < symbol->end; place++)
			say(out, image, place);
	}
	fclose(out);
	tally_image_store_free(store);
}

/* Whether some place of `work` is in mix in twice in work, with the lines where they are called. */
static bool has_chain(struct tally_image *image)
{
	const struct tally_symbol *symbol = named(image, "work");

	for (uint64_t place = symbol->start; place < symbol->end; place++) {
		const struct tally_inline *list;
		size_t count;

		assert_int_equal(tally_image_inlines(image, place, &list, &count), 0);
		if (count == 3 && !strcmp(list[0].name, "mix") && list[0].inlined &&
		    list[0].line >= 4 && list[0].line <= 5 && !strcmp(list[1].name, "twice") &&
		    list[1].inlined && list[1].line == 7 && !strcmp(list[2].name, "work") &&
		    !list[2].inlined && list[2].line == 12)
			return true;
	}
	return false;
}

/* Makes a .dwp file of prog.dwo by giving it an index, with one unit in a table of two.  Source:
 * DWARF 5, 7.3.5.3.  dwp(1) of binutils 2.40 cannot do version 5, and llvm-dwp 14 never ends. */
static void pack(const struct workdir *workdir, bool five)
{
	static const uint32_t kinds[2][4] = {{1, 3, 4, 6}, {1, 3, 6, 8}};
	uint32_t head[4] = {five ? 5 : 2, 4, 1, 2}, numbers[2] = {0};
	const uint32_t zeros[8] = {0};
	uint64_t slots[2] = {0};
	unsigned long long id = 0;
	char path[256];
	FILE *file;

	assert_int_equal(workdir_run(workdir,
				     "readelf --debug-dump=info prog | sed -n "
				     "'s/.*\\(DWO ID\\|dwo_id\\) *: *//p' | head -1 >id && "
				     "test -s id"),
			 0);
	snprintf(path, sizeof(path), "%s/id", workdir->path);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llx", &id), 1);
	fclose(file);
	slots[id & 1] = id;
	numbers[id & 1] = 1;
	snprintf(path, sizeof(path), "%s/index", workdir->path);
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(head, sizeof(head), 1, file);
	fwrite(slots, sizeof(slots), 1, file);
	fwrite(numbers, sizeof(numbers), 1, file);
	fwrite(kinds[five], sizeof(kinds[five]), 1, file);
	fwrite(zeros, sizeof(zeros), 1, file);
	fclose(file);
	assert_int_equal(
	    workdir_run(workdir, "objcopy --add-section .debug_cu_index=index prog.dwo prog.dwp && "
				 "rm prog.dwo"),
	    0);
}

/* 15.2: entries in .dwo files, and in a .dwp file. */
static void split_debug_information_gives_the_same_answers(void **state)
{
	static const char *const versions[] = {"4", "5"};

	for (size_t i = 0; i < 2; i++) {
		make(*state, i ? "-gdwarf-5 -O2" : "-gdwarf-4 -O2");
		write_answers(*state, "prog", "whole");
		assert_int_equal(
		    workdir_run(*state, "grep -q twice whole && rm -rf sub && mkdir sub"), 0);
		assert_int_equal(
		    workdir_run(*state,
				"gcc -gdwarf-%s -O2 -gsplit-dwarf -c -o sub/prog.o prog.c && "
				"gcc -o prog sub/prog.o && test -e sub/prog.dwo",
				versions[i]),
		    0);
		write_answers(*state, "prog", "split");
		assert_int_equal(workdir_run(*state, "diff whole split"), 0);
		/* beside the program */
		assert_int_equal(workdir_run(*state, "mv sub/prog.dwo prog.dwo"), 0);
		write_answers(*state, "prog", "beside");
		assert_int_equal(workdir_run(*state, "diff whole beside"), 0);
		pack(*state, i == 1);
		write_answers(*state, "prog", "packed");
		assert_int_equal(workdir_run(*state, "diff whole packed && rm prog.dwp"), 0);
		/* without the file the lines are left */
		assert_int_equal(workdir_run(*state, "rm -f prog.dwo prog.dwp"), 0);
		write_answers(*state, "prog", "lost");
		assert_int_equal(workdir_run(*state, "grep -q 'prog.c:5' lost && "
						     "test $(grep -c twice lost) = 0"),
				 0);
	}
}

/* 15.2: units whose functions refer to those of others, and offsets of 64 bits.  addr2line 2.40
 * takes the wrong file of the first, and none of the second. */
static void what_addr2line_cannot_read_has_its_lines(void **state)
{
	static const char *const how[] = {"-g -O2 -flto", "-g -O2 -gdwarf64"};

	for (size_t i = 0; i < 2; i++) {
		struct tally_image_store *store = open_store(false);

		make(*state, how[i]);
		assert_true(has_chain(get(store, *state, "prog")));
		tally_image_store_free(store);
	}
}

/* 15.2: what two programs share is moved to a file of its own. */
static void debug_information_shared_with_others_gives_the_same_answers(void **state)
{
	need_tool("dwz");
	make(*state, "-g -O2");
	write_answers(*state, "prog", "whole");
	assert_int_equal(workdir_run(*state,
				     "cp prog other && dwz -m common -M common prog other && "
				     "readelf -S prog | grep -q gnu_debugaltlink"),
			 0);
	write_answers(*state, "prog", "shared");
	assert_int_equal(workdir_run(*state, "grep -q twice whole && diff whole shared"), 0);
}

static void a_chain_of_inlined_functions_is_innermost_first(void **state)
{
	struct tally_image_store *store = open_store(false);

	make(*state, "-g -O2");
	assert_true(has_chain(get(store, *state, "prog")));
	tally_image_store_free(store);
}

static void debug_information_beside_a_stripped_binary_is_found(void **state)
{
	struct tally_image_store *store = open_store(false);

	make(*state, "-g -O2");
	assert_int_equal(workdir_run(*state, "objcopy --only-keep-debug prog prog.debug && "
					     "strip prog -o bare && "
					     "objcopy --add-gnu-debuglink=prog.debug bare"),
			 0);
	assert_true(has_chain(get(store, *state, "bare")));
	compare_with_addr2line(*state, "bare", "work");
	tally_image_store_free(store);
}

static void without_debug_information_the_symbol_table_names_the_function(void **state)
{
	struct tally_image_store *store = open_store(false);
	struct tally_image *image;
	const struct tally_inline *list;
	struct tally_line line;
	size_t count;

	make(*state, "-O2 -Wl,--build-id=none");
	image = get(store, *state, "prog");
	assert_int_equal(tally_image_inlines(image, named(image, "work")->start, &list, &count), 0);
	assert_int_equal(count, 1);
	assert_string_equal(list[0].name, "work");
	assert_string_equal(list[0].file, "prog.c"); /* static: STT_FILE names it */
	assert_int_equal(list[0].line, 0);
	assert_false(list[0].inlined);
	assert_int_equal(tally_image_line(image, named(image, "main")->start, &line), 0);
	assert_string_equal(line.file, "??");
	assert_int_equal(line.line, 0);
	compare_with_addr2line(*state, "prog", "work");
	compare_with_addr2line(*state, "prog", "main");
	tally_image_store_free(store);
}

static void names_are_demangled_like_symbols(void **state)
{
	struct tally_image_store *store = open_store(false);
	struct tally_image *image;
	const struct tally_symbol *symbol;
	bool found = false;

	need_tool("g++");
	workdir_write(*state, "prog.cc", cpp_program);
	assert_int_equal(workdir_run(*state, "g++ -g -O2 -o cpp prog.cc"), 0);
	image = get(store, *state, "cpp");
	symbol = named(image, "shop::sum");
	for (uint64_t place = symbol->start; place < symbol->end; place++) {
		const struct tally_inline *list;
		size_t count;

		assert_int_equal(tally_image_inlines(image, place, &list, &count), 0);
		found |= count == 2 && !strcmp(list[0].name, "shop::box<int>::as<double>") &&
			 list[0].inlined && !strcmp(list[1].name, "shop::sum") && !list[1].inlined;
	}
	assert_true(found);
	tally_image_store_free(store);
}

static void what_has_no_file_has_no_lines(void **state)
{
	struct tally_image_store *store = open_store(false);
	struct tally_image_key keys[] = {
	    {.path = "[vdso]"}, {.path = "//anon"}, {.path = "/no/such"}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tally_image *image = tally_image_get(store, &keys[i]);
		const struct tally_inline *list;
		struct tally_line line;
		size_t count = 9;

		assert_int_equal(tally_image_line(image, 0x1234, &line), -ENOENT);
		assert_int_equal(line.address, 0x1234);
		assert_int_equal(tally_image_inlines(image, 0x1234, &list, &count), 0);
		assert_int_equal(count, 0);
	}
	tally_image_store_free(store);
}

/* Bytes of the debug information are changed at random: any answer will do. */
static void damaged_debug_information_does_no_harm(void **state)
{
	const struct workdir *workdir = *state;
	uint64_t random = 88172645463325252ULL;

	make(*state, "-g -O2");
	assert_int_equal(workdir_run(workdir, "readelf -SW prog | sed 's/^ *\\[ *[0-9]*\\] *//' | "
					      "awk '$1 ~ /^.debug/{print $4, $5}' > sections"),
			 0);
	for (unsigned turn = 0; turn < 150; turn++) {
		struct tally_image_store *store = open_store(false);
		struct tally_image *image;
		char path[256], name[32], line[256];
		FILE *sections, *file;

		snprintf(name, sizeof(name), "bad%u", turn);
		assert_int_equal(workdir_run(workdir, "cp prog %s", name), 0);
		snprintf(path, sizeof(path), "%s/%s", workdir->path, name);
		file = fopen(path, "r+");
		snprintf(path, sizeof(path), "%s/sections", workdir->path);
		sections = fopen(path, "r");
		assert_true(file && sections);
		while (fgets(line, sizeof(line), sections)) {
			char *end;
			unsigned long at = strtoul(line, &end, 16), size = strtoul(end, NULL, 16);

			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			if (!size || random % 3)
				continue;
			fseek(file, (long)(at + random / 3 % size), SEEK_SET);
			fputc((int)(random >> 40 & 255), file);
		}
		fclose(sections);
		fclose(file);
		image = get(store, workdir, name);
		for (uint64_t place = 0x1000; place < 0x1300; place += 3) {
			const struct tally_inline *list;
			size_t count;

			assert_int_equal(tally_image_inlines(image, place, &list, &count), 0);
		}
		tally_image_store_free(store);
		assert_int_equal(workdir_run(workdir, "rm %s", name), 0);
	}
}

static void spans_that_hold_an_address_are_all_met(void **state)
{
	struct tally_spans spans = {0};
	uint64_t random = 88172645463325252ULL;
	struct {
		uint64_t low, high;
	} all[300];

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		all[i].low = random % 1000;
		all[i].high = all[i].low + (random >> 32) % (i % 7 ? 20 : 400);
		assert_int_equal(tally_spans_add(&spans, all[i].low, all[i].high, i), 0);
	}
	tally_spans_finish(&spans);
	for (uint64_t at = 0; at < 1500; at++) {
		uint64_t expected = 0, met = 0;
		uint32_t looked_at = 0;

		for (uint32_t i = 0; i < 300; i++)
			if (all[i].low <= at && at < all[i].high)
				expected += i * i + 1;
		for (const struct tally_span *span = tally_spans_first(&spans, at, &looked_at);
		     span; span = tally_spans_next(&spans, span, at, &looked_at))
			met += span->index * span->index + 1;
		assert_int_equal(met, expected);
	}
	tally_spans_done(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_and_inlined_functions_of_c_are_those_of_addr2line),
	    cmocka_unit_test(inlined_functions_of_templates_are_those_of_addr2line),
	    cmocka_unit_test(a_chain_of_inlined_functions_is_innermost_first),
	    cmocka_unit_test(debug_information_beside_a_stripped_binary_is_found),
	    cmocka_unit_test(without_debug_information_the_symbol_table_names_the_function),
	    cmocka_unit_test(names_are_demangled_like_symbols),
	    cmocka_unit_test(what_has_no_file_has_no_lines),
	    cmocka_unit_test(damaged_debug_information_does_no_harm),
	    cmocka_unit_test(what_addr2line_cannot_read_has_its_lines),
	    cmocka_unit_test(split_debug_information_gives_the_same_answers),
	    cmocka_unit_test(debug_information_shared_with_others_gives_the_same_answers),
	    cmocka_unit_test(spans_that_hold_an_address_are_all_met),
	};

	return cmocka_run_group_tests(tests, workdir_make, workdir_remove);
}
