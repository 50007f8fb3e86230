/* What the build-id cache takes, and what it refuses. */
#include "workdir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "elf/build_id.h"
#include "image/id_cache.h"
#include "image/image.h"

struct made {
	const struct workdir *dir;
	char path[128]; /* of the binary */
	uint8_t id[20], size;
	struct tally_id_cache cache;
};

static void make(void **state, struct made *made)
{
	struct tally_error error;
	char folder[128];

	*made = (struct made){.dir = *state, .cache = {.file_most = 1 << 20, .all_most = 1 << 20}};
	if (workdir_run(made->dir,
			"echo 'int main(void){return 0;}' >p.c && gcc -w -Wl,--build-id=sha1 p.c "
			"-o p && chmod 4775 p")) {
		print_message("skipped: there is no compiler\n");
		skip();
	}
	snprintf(made->path, sizeof(made->path), "%s/p", made->dir->path);
	snprintf(folder, sizeof(folder), "%s/cache", made->dir->path);
	assert_int_equal(tally_image_read_build_id(made->path, made->id, &made->size), 0);
	if (tally_id_cache_open(&made->cache, folder, &error))
		fail_msg("%s", error.text);
}

static int add(struct made *made, const char *path)
{
	return tally_id_cache_add(&made->cache, path, made->id, made->size);
}

/* 13.29: and no copy runs as its owner. */
static void copies_a_binary_once(void **state)
{
	struct made made;
	struct stat status;
	char path[512];

	make(state, &made);
	assert_int_equal(add(&made, made.path), 1);
	assert_int_equal(add(&made, made.path), 0);
	assert_int_equal(workdir_run(made.dir, "cmp p cache$PWD/p/*/elf && cmp p "
					       "cache/.build-id/*/*/elf && mv cache$PWD/p/*/elf e"),
			 0);
	snprintf(path, sizeof(path), "%s/e", made.dir->path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0755);
	/* the link leads nowhere now: it is made anew */
	assert_int_equal(add(&made, made.path), 1);
	assert_int_equal(add(&made, made.path), 0);
	tally_id_cache_close(&made.cache);
}

/* 13.29: a FIFO does not hang, a link on the way is not followed. */
static void refuses_what_is_no_recorded_binary(void **state)
{
	struct made made;
	char path[256];

	make(state, &made);
	assert_int_equal(workdir_run(made.dir, "mkfifo f && echo x >text && mkdir folder && "
					       "mkdir -p $PWD/cache/${PWD#/} away && ln -s "
					       "$PWD/away cache$PWD/q && mkdir q && cp p q/p"),
			 0);
	static const struct {
		const char *name;
		int result;
	} cases[] = {{"f", -ENOENT},    {"text", -ESTALE}, {"folder", -ENOENT},
		     {"none", -ENOENT}, {"./p", -EINVAL},  {"folder/../p", -EINVAL},
		     {"q/p", -ELOOP}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int result;

		snprintf(path, sizeof(path), "%s/%s", made.dir->path, cases[i].name);
		result = add(&made, path);
		if (cases[i].result == -ELOOP && result == -ENOTDIR) /* open(2) says either */
			result = -ELOOP;
		if (result != cases[i].result)
			fail_msg("%s: %d", cases[i].name, result);
	}
	assert_int_equal(add(&made, "/dev/null"), -ENOENT);
	assert_int_equal(add(&made, "//anon"), -ENOENT);
	assert_int_equal(add(&made, "[stack]"), -ENOENT);
	assert_int_equal(workdir_run(made.dir, "[ -z \"$(ls -A away)\" ]"), 0);
	made.id[0] ^= 1;
	assert_int_equal(add(&made, made.path), -ESTALE);
	assert_int_equal(add(&made, "[kernel.kallsyms]") >= 0, 0);
	assert_int_equal(add(&made, "[vdso]"), -ESTALE);
	assert_int_equal(workdir_run(made.dir, "[ -z \"$(find cache -name '*.new')\" ]"), 0);
	tally_id_cache_close(&made.cache);
}

/* 13.29: bounded, each and all together. */
static void keeps_its_limits(void **state)
{
	struct made made;
	char path[256];
	uint8_t first[20];

	make(state, &made);
	memcpy(first, made.id, sizeof(first));
	made.cache.file_most = 1000;
	assert_int_equal(add(&made, made.path), -EFBIG);
	made.cache.file_most = 1 << 20;
	assert_int_equal(add(&made, made.path), 1);
	/* Counted anew by who opens it next: what is there fills it. */
	assert_int_equal(workdir_run(made.dir, "gcc -w -g -DX -Wl,--build-id=sha1 p.c -o r"), 0);
	made.cache.counted = false;
	made.cache.used = 0;
	made.cache.all_most = 17000;
	snprintf(path, sizeof(path), "%s/r", made.dir->path);
	assert_int_equal(tally_image_read_build_id(path, made.id, &made.size), 0);
	assert_memory_not_equal(first, made.id, sizeof(first));
	assert_int_equal(add(&made, path), -EFBIG);
	assert_true(made.cache.used > 8000);
	made.cache.all_most = 1 << 20;
	assert_int_equal(add(&made, path), 1);
	tally_id_cache_close(&made.cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(copies_a_binary_once, workdir_make, workdir_remove),
	    cmocka_unit_test_setup_teardown(refuses_what_is_no_recorded_binary, workdir_make,
					    workdir_remove),
	    cmocka_unit_test_setup_teardown(keeps_its_limits, workdir_make, workdir_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
