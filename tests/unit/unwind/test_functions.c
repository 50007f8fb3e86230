/* Functions of a program without symbols, whole and damaged. */
#include "../image/workdir.h"

#include <errno.h>
#include "image/image.h"
#include "unwind/functions.h"

static uint64_t next(uint64_t *random)
{
	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	return *random >> 33;
}

/* Asks for all of a file's places; those that have a function lie in it. */
static size_t ask(const char *path, uint64_t until)
{
	struct tally_image_options options = {.size = sizeof(options),
					      .debug_root = "/nonexistent"};
	struct tally_image_key key = {.path = path};
	struct tally_image_store *store;
	struct tally_functions *functions;
	struct tally_function found;
	uint64_t end = 0;
	size_t count = 0;

	assert_int_equal(tally_image_store_new(&options, &store), 0);
	functions = tally_functions_new(tally_image_get(store, &key));
	assert_non_null(functions);
	for (uint64_t place = 0; place < until; place++) {
		if (tally_functions_find(functions, place, &found))
			continue;
		assert_true(found.start <= place && place < found.end);
		count += found.end != end;
		end = found.end;
	}
	assert_int_equal(tally_functions_find(functions, UINT64_MAX, &found), -ENOENT);
	tally_functions_free(functions);
	tally_image_store_free(store);
	return count;
}

/* 13.13: a function is found whatever else of the file is wrong, and nothing is read beyond it. */
static void damaged_tables_of_functions_do_no_harm(void **state)
{
	const struct workdir *workdir = *state;
	static char good[65536], bad[65536];
	uint64_t random = 20261122;
	char path[128];
	size_t size;
	FILE *file;

	need_tool("gcc");
	workdir_write(workdir, "p.c",
		      "extern int puts(const char *); int f(int n) { return puts(\"x\") + n; }\n"
		      "int main(int c, char **v) { (void)v; return f(c); }\n");
	assert_int_equal(workdir_run(workdir, "gcc -w -O1 -s p.c -o p"), 0);
	snprintf(path, sizeof(path), "%s/p", workdir->path);
	file = fopen(path, "r");
	assert_non_null(file);
	size = fread(good, 1, sizeof(good), file);
	fclose(file);
	assert_true(size > 4096 && size < sizeof(good));
	assert_in_range(ask(path, size), 5, 40);
	for (int round = 0; round < 600; round++) {
		size_t length = next(&random) % 8 ? size : next(&random) % size;
		uint64_t flips = 1 + next(&random) % 12;

		memcpy(bad, good, size);
		for (uint64_t i = 0; i < flips; i++) {
			/* Headers, and what read only data there is: the tables. */
			size_t at = next(&random) % 2 ? next(&random) % 1024
						      : 0x2000 + next(&random) % 0x400;

			bad[at % size] = (char)(next(&random) % 4 ? next(&random) : 0xff);
		}
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(bad, 1, length, file), length);
		fclose(file);
		ask(path, size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(damaged_tables_of_functions_do_no_harm, workdir_make,
					    workdir_remove),
	};

	return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
