/* What a process was called and had mapped, at every time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "feeding.h"

static int setup(void **state)
{
	return tally_process_table_new((struct tally_process_table **)state);
}

static int teardown(void **state)
{
	tally_process_table_free(*state);
	return 0;
}

static void names_over_time(void **state)
{
	struct tally_process_table *table = *state;

	comm(table, 0, 10, 10, "first", false);
	comm(table, 100, 10, 10, "second", false);
	fork_of(table, 150, 10, 10, 20, 20);
	comm(table, 200, 20, 20, "child", true);
	fork_of(table, 250, 10, 10, 10, 11);
	comm(table, 300, 10, 11, "worker", false);
	assert_int_equal(tally_process_freeze(table), 0);

	assert_string_equal(comm_at(table, 10, 0), "first");
	assert_string_equal(comm_at(table, 10, 99), "first");
	assert_string_equal(comm_at(table, 10, 100), "second");
	assert_string_equal(comm_at(table, 10, UINT64_MAX), "second");
	assert_string_equal(comm_at(table, 20, 199), "second");
	assert_string_equal(comm_at(table, 20, 200), "child");
	assert_string_equal(comm_at(table, 11, 299), "second");
	assert_string_equal(comm_at(table, 11, 300), "worker");
}

static void names_never_recorded(void **state)
{
	struct tally_process_table *table = *state;
	uint32_t id;

	fork_of(table, 10, 50, 50, 60, 60); /* of a parent that nobody named */
	fork_of(table, 20, 50, 50, 70, 70);
	comm(table, 30, 70, 70, "named", true);
	assert_int_equal(tally_process_freeze(table), 0);

	assert_string_equal(comm_at(table, 0, 5), "swapper");
	assert_string_equal(comm_at(table, 60, 15), ":60");
	/* As in perf: script has no name yet, and report counts under the name that comes. */
	assert_string_equal(comm_at(table, 70, 25), ":70");
	id = tally_process_counted_comm(table, 70, tally_process_comm(table, 70, 70, 25));
	assert_string_equal(tally_process_string(table, id), "named");
	assert_string_equal(comm_at(table, 70, 30), "named");
	id = tally_process_comm(table, 4711, 4711, 5);
	assert_string_equal(tally_process_string(table, id), ":4711");
	assert_int_equal(tally_process_comm(table, 1, 4711, 99), id);
	assert_int_equal(tally_process_counted_comm(table, 4711, id), id);
	assert_string_equal(comm_at(table, UINT32_MAX, 5), ":-1");
}

static void number_given_again(void **state)
{
	struct tally_process_table *table = *state;
	struct tally_body exit = {.size = sizeof(exit), .type = PERF_RECORD_EXIT};

	comm(table, 0, 1, 1, "init", false);
	map(table, 0, 1, 0x1000, 0x2000, 0, "/sbin/init");
	fork_of(table, 10, 1, 1, 5, 5);
	comm(table, 20, 5, 5, "old", true);
	map(table, 21, 5, 0x5000, 0x6000, 0, "/bin/old");
	exit.task = (struct tally_record_task){.pid = 5, .ppid = 1, .tid = 5, .ptid = 1};
	feed(table, &exit, 30);
	fork_of(table, 40, 1, 1, 5, 5);
	comm(table, 50, 5, 5, "new", true);
	map(table, 51, 5, 0x7000, 0x8000, 0, "/bin/new");
	assert_int_equal(tally_process_freeze(table), 0);

	assert_string_equal(comm_at(table, 5, 12), "init");
	assert_string_equal(comm_at(table, 5, 35), "old"); /* its last moments */
	assert_string_equal(comm_at(table, 5, 45), "init");
	assert_string_equal(comm_at(table, 5, 60), "new");
	assert_string_equal(file_at(table, 5, 0x1500, 15), "/sbin/init");
	assert_string_equal(file_at(table, 5, 0x5500, 25), "/bin/old");
	assert_string_equal(file_at(table, 5, 0x1500, 45), "/sbin/init");
	assert_string_equal(file_at(table, 5, 0x5500, 60), "-");
	assert_string_equal(file_at(table, 5, 0x7500, 60), "/bin/new");
}

static void forks_share_until_exec(void **state)
{
	struct tally_process_table *table = *state;

	map(table, 0, 1, 0x1000, 0x2000, 0, "/bin/a");
	map(table, 5, 1, 0x3000, 0x4000, 0, "/lib/l");
	fork_of(table, 10, 1, 1, 2, 2);
	fork_of(table, 11, 2, 2, 3, 3);                     /* of the child, which mapped nothing */
	map(table, 20, 1, 0x1000, 0x2000, 0, "/bin/after"); /* only the parent's */
	map(table, 30, 2, 0x3800, 0x5000, 0, "/lib/own");   /* only the child's */
	fork_of(table, 40, 2, 2, 4, 4);
	comm(table, 50, 3, 3, "x", true);
	map(table, 51, 3, 0x3000, 0x3400, 0, "/bin/x");
	comm(table, 60, 3, 3, "y", true);
	map(table, 61, 3, 0x8000, 0x9000, 0, "/bin/y");
	assert_int_equal(tally_process_freeze(table), 0);

	assert_string_equal(file_at(table, 1, 0x1000, 15), "/bin/a");
	assert_string_equal(file_at(table, 1, 0x1000, 20), "/bin/after");
	for (uint64_t time = 12; time < 100; time += 7) {
		assert_string_equal(file_at(table, 2, 0x1fff, time), "/bin/a");
		assert_string_equal(file_at(table, 2, 0x37ff, time), "/lib/l");
		assert_string_equal(file_at(table, 2, 0x3800, time),
				    time < 30 ? "/lib/l" : "/lib/own");
	}
	assert_string_equal(file_at(table, 3, 0x3900, 45), "/lib/l");
	/* While execve() is under way, its call in the old program is still recorded. */
	assert_string_equal(file_at(table, 3, 0x3900, 50), "/lib/l");
	assert_string_equal(file_at(table, 3, 0x3200, 50), "/lib/l");
	assert_string_equal(file_at(table, 3, 0x3200, 51), "/bin/x");
	assert_string_equal(file_at(table, 3, 0x3200, 60), "/bin/x");
	assert_string_equal(file_at(table, 3, 0x8000, 61), "/bin/y");
	assert_string_equal(file_at(table, 3, 0x3900, 61), "-"); /* two programs ago */
	assert_string_equal(file_at(table, 4, 0x3900, 60), "/lib/own");
	assert_string_equal(file_at(table, 4, 0x1900, 60), "/bin/a");
	/* One look-up holds for all that see the same. */
	assert_int_equal(era_at(table, 2, 12), era_at(table, 2, 29));
	assert_int_not_equal(era_at(table, 2, 29), era_at(table, 2, 30));
	assert_int_equal(era_at(table, 3, 12), era_at(table, 1, 12));
	assert_int_not_equal(era_at(table, 1, 12), era_at(table, 1, 20));
	assert_int_equal(era_at(table, 4, 60), era_at(table, 2, 60));
}

static void synthesised_fork_inherits_no_maps(void **state)
{
	struct tally_process_table *table = *state;
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_FORK, .misc = EXEC_BIT};

	map(table, 0, 1, 0x1000, 0x2000, 0, "/bin/a");
	body.task = (struct tally_record_task){.pid = 2, .ppid = 1, .tid = 2, .ptid = 1};
	feed(table, &body, 0);
	assert_int_equal(tally_process_freeze(table), 0);
	assert_string_equal(file_at(table, 2, 0x1000, 5), "-");
}

static void threads_share_all(void **state)
{
	struct tally_process_table *table = *state;
	struct tally_task_view a, b;

	comm(table, 0, 1, 1, "main", false);
	fork_of(table, 10, 1, 1, 1, 2);
	map(table, 20, 1, 0x1000, 0x2000, 0, "/lib/late");
	comm(table, 30, 1, 2, "two", false);
	assert_int_equal(tally_process_freeze(table), 0);
	tally_process_view(table, 1, 1, 40, &a);
	tally_process_view(table, 1, 2, 40, &b);
	assert_ptr_equal(a.space, b.space);
	assert_int_equal(a.era, b.era);
	assert_int_equal(b.from, 30);
	assert_true(b.until == UINT64_MAX);
	assert_string_equal(tally_process_string(table, b.comm), "two");
	tally_process_view(table, 1, 2, 15, &b);
	assert_int_equal(b.until, 30);
}

static void newer_mapping_cuts_older(void **state)
{
	struct tally_process_table *table = *state;

	map(table, 0, 1, 0x1000, 0x9000, 0, "/a");
	map(table, 10, 1, 0x3000, 0x5000, 0, "/b");
	map(table, 20, 1, 0x4000, 0x7000, 0, "/c");
	map(table, 30, 1, 0xf000, 0x10000, 0, "/apart");
	assert_int_equal(tally_process_freeze(table), 0);

	assert_string_equal(file_at(table, 1, 0x0fff, 40), "-");
	assert_string_equal(file_at(table, 1, 0x4800, 9), "/a");
	assert_string_equal(file_at(table, 1, 0x4800, 10), "/b");
	assert_string_equal(file_at(table, 1, 0x4800, 19), "/b");
	assert_string_equal(file_at(table, 1, 0x4800, 20), "/c");
	assert_string_equal(file_at(table, 1, 0x3000, 99), "/b");
	assert_string_equal(file_at(table, 1, 0x2fff, 99), "/a");
	assert_string_equal(file_at(table, 1, 0x7000, 99), "/a");
	assert_string_equal(file_at(table, 1, 0x8fff, 99), "/a");
	assert_string_equal(file_at(table, 1, 0x9000, 99), "-");
	/* Nothing else was there: it holds for before, and changes nothing that was looked up. */
	assert_string_equal(file_at(table, 1, 0xf000, 1), "/apart");
	assert_int_equal(era_at(table, 1, 20), era_at(table, 1, 30));
	assert_int_not_equal(era_at(table, 1, 9), era_at(table, 1, 10));
	assert_int_not_equal(era_at(table, 1, 19), era_at(table, 1, 20));
}

static void same_file_again_is_no_change(void **state)
{
	struct tally_process_table *table = *state;

	map(table, 0, 1, 0x1000, 0x3000, 0x1000, "/a");
	map(table, 10, 1, 0x2000, 0x5000, 0x2000, "/a"); /* grows */
	map(table, 20, 1, 0x2000, 0x3000, 0, "/a");      /* another part of the file */
	assert_int_equal(tally_process_freeze(table), 0);
	assert_int_equal(era_at(table, 1, 0), era_at(table, 1, 15));
	assert_int_not_equal(era_at(table, 1, 15), era_at(table, 1, 20));
}

static void data_takes_its_place(void **state)
{
	struct tally_process_table *table = *state;
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_MMAP2,
				  .misc = PERF_RECORD_MISC_USER | EXEC_BIT};

	map(table, 0, 1, 0x1000, 0x9000, 0, "/a");
	body.mmap2 = (struct tally_record_mmap2){.pid = 1,
						 .tid = 1,
						 .addr = 0x2000,
						 .len = 0x1000,
						 .prot = PROT_READ | PROT_WRITE,
						 .filename = "//anon"};
	feed(table, &body, 10);
	body.mmap2.len = 0;
	body.mmap2.prot = PROT_EXEC;
	feed(table, &body, 11);
	assert_int_equal(tally_process_freeze(table), 0);
	assert_string_equal(file_at(table, 1, 0x2000, 5), "/a");
	assert_string_equal(file_at(table, 1, 0x2000, 20), "//anon");
	assert_int_equal(tally_process_mapping_count(table), 2);
}

static void end_of_addresses(void **state)
{
	struct tally_process_table *table = *state;

	map(table, 0, 1, UINT64_MAX - 0xfff, 0x5000, 0, "/wraps");
	assert_int_equal(tally_process_freeze(table), 0);
	assert_string_equal(file_at(table, 1, UINT64_MAX - 1, 1), "/wraps");
	assert_string_equal(file_at(table, 1, 0x1000, 1), "-");
}

static void kernel_symbols_come_and_go(void **state)
{
	struct tally_process_table *table = *state;
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL};
	const struct tally_space *kernel;
	uint64_t prog = 0xffffffffc0001000;
	const struct tally_mapping *found;

	body.mmap = (struct tally_record_mmap){.pid = UINT32_MAX,
					       .addr = 0xffffffff81000000,
					       .len = 0x1000000,
					       .filename = "[kernel.kallsyms]_text"};
	feed(table, &body, 0);
	ksymbol(table, 10, prog, 0x100, "bpf_prog_a", false);
	ksymbol(table, 20, prog, 0x100, "bpf_prog_a", true);
	ksymbol(table, 30, prog + 0x80, 0x100, "bpf_prog_b", false);
	assert_int_equal(tally_process_freeze(table), 0);
	kernel = tally_process_kernel_space(table);
	found = tally_space_find(kernel, 0xffffffff81234567, 5);
	assert_string_equal(tally_process_string(table, found->file->filename),
			    "[kernel.kallsyms]_text");
	found = tally_space_find(kernel, prog + 0x90, 15);
	assert_string_equal(tally_process_string(table, found->file->filename), "bpf_prog_a");
	assert_true(found->ksymbol);
	assert_null(tally_space_find(kernel, prog + 0x90, 25));
	assert_null(tally_space_find(kernel, prog, 35));
	found = tally_space_find(kernel, prog + 0x90, 35);
	assert_string_equal(tally_process_string(table, found->file->filename), "bpf_prog_b");
	assert_int_not_equal(tally_space_era(kernel, 15), tally_space_era(kernel, 25));
	assert_int_equal(tally_space_era(kernel, 5), tally_space_era(kernel, 15));
}

static void many_short_children(void **state)
{
	struct tally_process_table *table = *state;

	comm(table, 0, 1, 1, "sh", false);
	for (uint32_t i = 0; i < 500; i++)
		map(table, 0, 1, 0x100000ULL * (i + 1), 0x100000ULL * (i + 1) + 0x1000, 0,
		    "/lib/x");
	for (uint32_t i = 0; i < 50000; i++)
		fork_of(table, 10 + i, i % 100 ? 1 + i : 1, i % 100 ? 1 + i : 1, 2 + i, 2 + i);
	assert_int_equal(tally_process_freeze(table), 0);
	assert_int_equal(tally_process_mapping_count(table), 500);
	for (uint32_t i = 0; i < 50000; i += 99) {
		assert_string_equal(comm_at(table, 2 + i, 60000), "sh");
		assert_string_equal(file_at(table, 2 + i, 0x500800, 60000), "/lib/x");
		assert_int_equal(era_at(table, 2 + i, 60000), era_at(table, 1, 60000));
	}
}

/* --- random mappings against a list that is searched from its end --- */

struct model_map {
	uint64_t time, start, end;
	uint32_t pid, file;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

static const char *const files[] = {"/f0", "/f1", "/f2", "/f3", "/f4"};

/* Exact where something of the process's own was mapped by then; its first mapping when not. */
static const char *model_find(const struct model_map *maps, size_t count, uint32_t pid,
			      uint64_t addr, uint64_t time)
{
	const struct model_map *later = NULL;

	for (size_t i = count; i-- > 0;) {
		if (maps[i].pid != pid || addr < maps[i].start || addr >= maps[i].end)
			continue;
		if (maps[i].time <= time)
			return files[maps[i].file];
		later = &maps[i];
	}
	return later ? files[later->file] : "-";
}

static void random_mappings(void **state)
{
	enum { MAPS = 300, ROUNDS = 60 };
	struct model_map maps[MAPS];
	uint64_t seed = 42;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct tally_process_table *table;
		uint64_t range = round % 2 ? 64 : 4096, time = round % 3 ? 0 : 5;
		size_t count = 1 + next_random(&seed) % MAPS;

		assert_int_equal(tally_process_table_new(&table), 0);
		for (size_t i = 0; i < count; i++) {
			struct model_map *made = &maps[i];

			time += next_random(&seed) % 3;
			made->time = time;
			made->start = 16 + next_random(&seed) % range;
			made->end = made->start + 1 + next_random(&seed) % (range / 8);
			made->pid = 1 + (uint32_t)(next_random(&seed) % 3);
			made->file = (uint32_t)(next_random(&seed) % 5);
			/* Of one file each address is always of one place, as pgoff follows it. */
			map(table, made->time, made->pid, made->start, made->end, made->start,
			    files[made->file]);
		}
		assert_int_equal(tally_process_freeze(table), 0);
		for (unsigned i = 0; i < 3000; i++) {
			uint32_t pid = 1 + (uint32_t)(next_random(&seed) % 3);
			uint64_t at = next_random(&seed) % (range + range / 8 + 32);
			uint64_t when = next_random(&seed) % (time + 3);
			uint64_t from, until;
			const struct tally_space *space;
			const char *right = model_find(maps, count, pid, at, when);

			assert_string_equal(file_at(table, pid, at, when), right);
			space = tally_process_space(table, pid, when);
			if (!space)
				continue;
			/* What holds in an era, holds in all of it. */
			assert_int_equal(tally_space_era_span(space, when, &from, &until),
					 tally_space_era(space, when));
			assert_true(from <= when && when < until);
			assert_string_equal(file_at(table, pid, at, from), right);
			if (until != UINT64_MAX)
				assert_string_equal(file_at(table, pid, at, until - 1), right);
		}
		tally_process_table_free(table);
	}
}

struct reader {
	const struct tally_process_table *table;
	int wrong;
};

static void *read_all(void *argument)
{
	struct reader *reader = argument;

	for (uint32_t i = 0; i < 2000; i++) {
		struct tally_task_view view;
		char name[16];

		tally_process_view(reader->table, i, 100000 + i, i, &view);
		(void)snprintf(name, sizeof(name), ":%u", 100000 + i);
		reader->wrong += strcmp(tally_process_string(reader->table, view.comm), name) != 0;
		reader->wrong += strcmp(file_at(reader->table, 1, 0x1000 + i, i), "/a") != 0;
	}
	return NULL;
}

static void many_readers(void **state)
{
	struct tally_process_table *table = *state;
	struct reader readers[4];
	pthread_t threads[4];

	map(table, 0, 1, 0x1000, 0x2000, 0, "/a");
	map(table, 5, 1, 0x3000, 0x4000, 0, "/a");
	map(table, 7, 1, 0x3000, 0x4000, 0, "/b");
	assert_int_equal(tally_process_freeze(table), 0);
	for (unsigned i = 0; i < 4; i++) {
		readers[i] = (struct reader){.table = table};
		assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(readers[i].wrong, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(names_over_time, setup, teardown),
	    cmocka_unit_test_setup_teardown(names_never_recorded, setup, teardown),
	    cmocka_unit_test_setup_teardown(number_given_again, setup, teardown),
	    cmocka_unit_test_setup_teardown(forks_share_until_exec, setup, teardown),
	    cmocka_unit_test_setup_teardown(synthesised_fork_inherits_no_maps, setup, teardown),
	    cmocka_unit_test_setup_teardown(threads_share_all, setup, teardown),
	    cmocka_unit_test_setup_teardown(newer_mapping_cuts_older, setup, teardown),
	    cmocka_unit_test_setup_teardown(same_file_again_is_no_change, setup, teardown),
	    cmocka_unit_test_setup_teardown(data_takes_its_place, setup, teardown),
	    cmocka_unit_test_setup_teardown(end_of_addresses, setup, teardown),
	    cmocka_unit_test_setup_teardown(kernel_symbols_come_and_go, setup, teardown),
	    cmocka_unit_test_setup_teardown(many_short_children, setup, teardown),
	    cmocka_unit_test(random_mappings),
	    cmocka_unit_test_setup_teardown(many_readers, setup, teardown),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
