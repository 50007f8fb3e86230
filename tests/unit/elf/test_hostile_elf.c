/* Flipped, cut and filled ELF files: whatever they say, loading and asking returns. */
#include "../image/workdir.h"

#include "elf/build_id.h"
#include "image/image.h"

static uint64_t next(uint64_t *random)
{
	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	return *random >> 33;
}

static void ask(const char *path)
{
	struct tally_image_options options = {.size = sizeof(options),
					      .debug_root = "/nonexistent"};
	struct tally_image_key key = {.path = path};
	struct tally_image_store *store;
	struct tally_image *image;
	uint64_t gap_end = 0;
	uint8_t id[20], size;
	size_t count;

	tally_image_read_build_id(path, id, &size);
	assert_int_equal(tally_image_store_new(&options, &store), 0);
	image = tally_image_get(store, &key);
	count = tally_image_symbol_count(image);
	for (size_t i = 0; i < count; i++)
		assert_non_null(tally_image_symbol(image, (int64_t)i)->name);
	for (uint64_t place = 0; place < 20000; place += 7) {
		int64_t index = tally_image_find_symbol(image, place);

		if (index >= 0) {
			const struct tally_symbol *symbol = tally_image_symbol(image, index);

			assert_true(symbol->start <= place);
			assert_true(place < symbol->end || symbol->start == symbol->end);
			assert_true(place >= gap_end);
		} else if (place >= gap_end) {
			gap_end = tally_image_gap_end(image, place);
			assert_true(gap_end > place);
			if (gap_end != UINT64_MAX)
				assert_true(tally_image_find_symbol(image, gap_end) >= 0);
		}
	}
	assert_true(count || tally_image_why_no_symbols(image));
	tally_image_store_free(store);
}

static void damaged_files_do_no_harm(void **state)
{
	const struct workdir *workdir = *state;
	static char good[65536], bad[65536];
	char path[128];
	uint64_t random = 20240607;
	size_t size;
	FILE *file;

	need_tool("gcc");
	workdir_write(workdir, "p.c",
		      "extern int puts(const char *); int f(int n) { return puts(\"x\") + n; }\n"
		      "int main(int c, char **v) { (void)v; return f(c); }\n");
	assert_int_equal(workdir_run(workdir, "gcc -w -O1 p.c -o p"), 0);
	snprintf(path, sizeof(path), "%s/p", workdir->path);
	file = fopen(path, "r");
	assert_non_null(file);
	size = fread(good, 1, sizeof(good), file);
	fclose(file);
	assert_true(size > 4096 && size < sizeof(good));
	for (int round = 0; round < 3000; round++) {
		size_t length = size, headers = size - 2200; /* section headers are last */
		uint64_t flips = 1 + next(&random) % 12;

		memcpy(bad, good, size);
		for (uint64_t i = 0; i < flips; i++) {
			uint64_t where = next(&random) % 3;
			size_t at = where == 0   ? next(&random) % 1024
				    : where == 1 ? headers + next(&random) % (size - headers)
						 : next(&random) % size;

			bad[at] = (char)(next(&random) % 4 ? next(&random) : 0xff);
		}
		memcpy(bad, good, 4);
		if (round % 4 == 0)
			length = next(&random) % size;
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(bad, 1, length, file), length);
		fclose(file);
		ask(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(damaged_files_do_no_harm, workdir_make, workdir_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
