/* 14.1: A table that goes on over time finds what was there, and forgets what ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "feeding.h"

static void exit_of(struct tally_process_table *table, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct tally_body body = {.type = PERF_RECORD_EXIT};

	body.task = (struct tally_record_task){.pid = pid, .ppid = 1, .tid = tid, .ptid = 1};
	feed(table, &body, time);
}

static struct tally_process_table *new_table(void)
{
	struct tally_process_table *table;

	assert_int_equal(tally_process_table_new(&table), 0);
	tally_process_will_renew(table);
	return table;
}

static void freeze(struct tally_process_table *table)
{
	assert_int_equal(tally_process_freeze(table), 0);
}

static void renew(struct tally_process_table *table, uint64_t before)
{
	assert_int_equal(tally_process_renew(table, before), 0);
}

static uint64_t state_of(const struct tally_process_table *table, uint32_t pid, uint64_t time)
{
	return tally_space_state(tally_process_space(table, pid, time), time);
}

static void a_space_keeps_its_number_until_it_maps_more(void **state)
{
	struct tally_process_table *table = new_table();
	uint64_t five, six;

	(void)state;
	map(table, 11, 5, 0x8000, 0x9000, 0, "/bin/five");
	map(table, 12, 5, 0x2000, 0x3000, 0, "/lib/a");
	fork_of(table, 13, 5, 5, 6, 6);
	freeze(table);
	five = state_of(table, 5, 20);
	six = state_of(table, 6, 20);
	assert_int_not_equal(five, 0);
	assert_int_not_equal(six, 0);
	assert_int_not_equal(five, six);
	assert_int_equal(tally_process_mapping(table, 0)->before, UINT32_MAX);

	renew(table, 20);
	map(table, 30, 6, 0xa000, 0xb000, 0, "/lib/b");
	freeze(table);
	assert_int_equal(state_of(table, 5, 31), five);
	assert_int_not_equal(state_of(table, 6, 31), six);
	six = state_of(table, 6, 31);
	assert_int_equal(tally_process_mapping_count(table), 5);
	for (uint32_t i = 0; i < 4; i++) /* a process and its child had the same two */
		assert_true(tally_process_mapping(table, i)->before < 2);
	assert_int_equal(tally_process_mapping(table, 4)->before, UINT32_MAX);

	renew(table, 40);
	map(table, 50, 5, 0x2000, 0x2800, 0, "/lib/c"); /* in place of another */
	freeze(table);
	assert_int_equal(state_of(table, 6, 51), six);
	assert_int_equal(state_of(table, 5, 49), 0);
	assert_int_not_equal(state_of(table, 5, 51), 0);
	assert_int_not_equal(state_of(table, 5, 51), five);
	five = state_of(table, 5, 51);
	renew(table, 60);
	freeze(table);
	assert_int_equal(state_of(table, 5, 61), five);
	assert_int_equal(tally_space_state(NULL, 0), 0);
	tally_process_table_free(table);
}

static void a_table_goes_on_with_its_past(void **state)
{
	struct tally_process_table *table = new_table();
	uint64_t five, six;

	(void)state;
	comm(table, 10, 5, 5, "old", false);
	map(table, 11, 5, 0x2000, 0x3000, 0, "/lib/a");
	fork_of(table, 13, 5, 5, 6, 6);
	map(table, 14, 6, 0x8000, 0x9000, 0, "/lib/six");
	freeze(table);
	five = state_of(table, 5, 20);
	six = state_of(table, 6, 20);

	assert_int_equal(tally_process_thaw(table), 0);
	comm(table, 20, 5, 5, "new", false);
	map(table, 21, 5, 0x2000, 0x3000, 0, "/lib/b");
	fork_of(table, 22, 5, 5, 7, 7);
	exit_of(table, 23, 6, 6);
	freeze(table);
	assert_string_equal(comm_at(table, 5, 19), "old");
	assert_string_equal(comm_at(table, 5, 20), "new");
	assert_string_equal(comm_at(table, 7, 22), "new");
	assert_string_equal(file_at(table, 5, 0x2500, 20), "/lib/a");
	assert_string_equal(file_at(table, 5, 0x2500, 21), "/lib/b");
	assert_string_equal(file_at(table, 6, 0x2500, 21), "/lib/a");
	assert_string_equal(file_at(table, 7, 0x2500, 23), "/lib/b");
	assert_string_equal(file_at(table, 6, 0x8500, 24), "/lib/six");
	assert_int_equal(state_of(table, 6, 21), six);
	assert_int_equal(state_of(table, 5, 20), 0);
	assert_int_not_equal(state_of(table, 5, 21), five);
	assert_int_equal(tally_process_mapping_count(table), 3);
	assert_int_equal(tally_process_mapping(table, 2)->start, 0x2000);

	assert_false(tally_process_has_grown(table));
	for (uint32_t i = 0; i < 2000; i++) {
		assert_int_equal(tally_process_thaw(table), 0);
		map(table, 100 + i, 100 + i, 0x10000, 0x11000, 0, "/lib/c");
		freeze(table);
	}
	assert_true(tally_process_has_grown(table));
	renew(table, 3000);
	freeze(table);
	assert_false(tally_process_has_grown(table));
	assert_string_equal(file_at(table, 6, 0x8500, 4000), "-");
	assert_string_equal(file_at(table, 5, 0x2500, 4000), "/lib/b");
	assert_string_equal(file_at(table, 7, 0x2500, 4000), "/lib/b");
	tally_process_table_free(table);
}

static void what_held_at_the_end_holds(void **state)
{
	struct tally_process_table *table = new_table();
	uint32_t name, late;

	(void)state;
	comm(table, 10, 5, 5, "old", false);
	map(table, 11, 5, 0x1000, 0x9000, 0, "/bin/old");
	map(table, 12, 5, 0x2000, 0x3000, 0, "/lib/inside");
	fork_of(table, 13, 5, 5, 6, 6);
	comm(table, 14, 6, 6, "child", true);
	map(table, 15, 6, 0x1000, 0x2000, 0, "/bin/child");
	freeze(table);
	name = tally_process_comm(table, 6, 6, 20);
	late = tally_process_comm(table, 77, 77, 20);
	renew(table, 14);
	fork_of(table, 30, 6, 6, 7, 7);
	map(table, 40, 5, 0x2000, 0x3000, 0, "/lib/other");
	freeze(table);

	assert_string_equal(comm_at(table, 5, 21), "old");
	assert_string_equal(comm_at(table, 7, 31), "child");
	assert_string_equal(file_at(table, 5, 0x1500, 21), "/bin/old");
	assert_string_equal(file_at(table, 5, 0x2500, 21), "/lib/inside");
	assert_string_equal(file_at(table, 5, 0x2500, 41), "/lib/other");
	assert_string_equal(file_at(table, 6, 0x1500, 21), "/bin/child");
	assert_string_equal(file_at(table, 7, 0x1500, 31), "/bin/child");
	/* Through the exec, once, while that is not old. */
	assert_string_equal(file_at(table, 6, 0x2500, 21), "/lib/inside");
	renew(table, 14);
	freeze(table);
	assert_string_equal(file_at(table, 6, 0x2500, 51), "/lib/inside");
	assert_string_equal(file_at(table, 7, 0x2500, 51), "/lib/inside");
	renew(table, 15);
	freeze(table);
	assert_string_equal(file_at(table, 6, 0x2500, 61), "-");
	assert_string_equal(file_at(table, 7, 0x2500, 61), "-");
	assert_string_equal(file_at(table, 6, 0x1500, 61), "/bin/child");
	/* Numbers of names stay. */
	assert_int_equal(tally_process_comm(table, 6, 6, 50), name);
	assert_int_equal(tally_process_comm(table, 77, 77, 50), late);
	assert_string_equal(tally_process_string(table, late), ":77");
	tally_process_table_free(table);
}

static void what_ended_is_forgotten(void **state)
{
	struct tally_process_table *table = new_table();

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		uint64_t time = 100 * (uint64_t)(round + 1);
		uint32_t pid = 1000 + round;

		if (round)
			renew(table, time - 50);
		else
			comm(table, 1, 1, 1, "init", false);
		fork_of(table, time, 1, 1, pid, pid);
		comm(table, time + 1, pid, pid, "job", true);
		map(table, time + 2, pid, 0x1000, 0x2000, 0, "/bin/job");
		fork_of(table, time + 3, pid, pid, pid, pid + 10000);
		exit_of(table, time + 4, pid, pid); /* its thread goes on */
		if (round != 150)
			exit_of(table, time + 5, pid, pid + 10000);
		ksymbol(table, time + 6, 0xffffffffc0000000 + pid * 0x1000ULL, 0x100, "bpf_prog",
			false);
		ksymbol(table, time + 7, 0xffffffffc0000000 + pid * 0x1000ULL, 0x100, "bpf_prog",
			true);
		freeze(table);
		assert_string_equal(comm_at(table, pid, time + 90), "job");
		assert_true(tally_process_mapping_count(table) < 10);
	}
	/* Only the one whose thread never ended. */
	assert_string_equal(file_at(table, 1150, 0x1500, 30000), "/bin/job");
	assert_string_equal(comm_at(table, 11150, 30000), "job");
	assert_string_equal(file_at(table, 1100, 0x1500, 30000), "-");
	assert_string_equal(comm_at(table, 1100, 30000), ":1100");
	tally_process_table_free(table);
}

#define PIDS   12U
#define STEPS  400
#define PLACES 16
#define FILES  5

/* What a process has mapped, by page: the file + 1; and what it had before its last exec. */
struct model {
	char name[32];
	uint8_t now[PLACES + 3], before[PLACES + 3];
};

static const char *file_of(const struct model *model, size_t page)
{
	static const char *const files[] = {"-", "/lib/0", "/lib/1", "/lib/2", "/lib/3", "/lib/4"};

	return files[model->now[page] ? model->now[page] : model->before[page]];
}

/* One step of a made-up history. */
static void step(struct tally_process_table *table, struct model *models, const uint32_t numbers[4],
		 uint64_t time)
{
	uint32_t pid = numbers[0] % PIDS, other = numbers[1] % PIDS;
	size_t page = numbers[2] % PLACES, count = 1 + numbers[1] % 3;
	uint8_t file = (uint8_t)(numbers[3] % FILES);
	struct model *model = &models[pid];
	char text[32];

	snprintf(text, sizeof(text), "/lib/%u", file);
	switch (numbers[3] >> 8 & 7) {
	case 0:
		if (pid == other)
			return;
		exit_of(table, time, 10 + other, 10 + other);
		fork_of(table, time + 1, 10 + pid, 10 + pid, 10 + other, 10 + other);
		models[other] = *model;
		break;
	case 1:
		comm(table, time, 10 + pid, 10 + pid, text + 1, true);
		snprintf(model->name, sizeof(model->name), "%s", text + 1);
		for (size_t i = 0; i < sizeof(model->now); i++) {
			if (!model->now[i])
				continue;
			memcpy(model->before, model->now, sizeof(model->now));
			memset(model->now, 0, sizeof(model->now));
		}
		break;
	case 2:
		comm(table, time, 10 + pid, 10 + pid, text + 1, false);
		snprintf(model->name, sizeof(model->name), "%s", text + 1);
		break;
	default:
		map(table, time, 10 + pid, 0x1000 * page, 0x1000 * (page + count),
		    numbers[1] % 7 * 0x1000, text);
		memset(model->now + page, file + 1, count);
		break;
	}
}

/* The steps since the last renewal, as they were, and as the table says they were; it takes more
 * and is asked again. */
static void it_finds_what_was_there(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		static struct model models[STEPS + 1][PIDS];
		struct tally_process_table *table = new_table();
		unsigned random = seed, compared = 0;
		int from = 0, renewed = 0; /* steps before these were taken, are forgotten */

		memset(models, 0, sizeof(models));
		for (uint32_t i = 0; i < PIDS; i++) {
			comm(table, 0, 10 + i, 10 + i, "start", false);
			snprintf(models[0][i].name, sizeof(models[0][i].name), "start");
		}
		while (from < STEPS) {
			int to = from + 1 + rand_r(&random) % 60;

			to = to < STEPS ? to : STEPS;
			for (int i = from; i < to; i++) {
				uint32_t numbers[4];

				for (int k = 0; k < 4; k++)
					numbers[k] = (uint32_t)rand_r(&random) >> 3;
				memcpy(models[i + 1], models[i], sizeof(models[i]));
				step(table, models[i + 1], numbers, 10 * (uint64_t)(i + 1));
			}
			freeze(table);
			for (int i = renewed + 1; i <= to; i++) {
				for (uint32_t pid = 0; pid < PIDS; pid++) {
					size_t page = (size_t)rand_r(&random) % PLACES;
					const struct model *model = &models[i][pid];
					const char *file = file_of(model, page);
					uint64_t time = 10 * (uint64_t)i + 5;

					assert_string_equal(comm_at(table, 10 + pid, time),
							    model->name);
					/* What is mapped later is found before. */
					if (!strcmp(file, "-"))
						continue;
					assert_string_equal(
					    file_at(table, 10 + pid, 0x1000 * page + 0x800, time),
					    file);
					compared++;
				}
			}
			from = to;
			if (rand_r(&random) % 4) {
				assert_int_equal(tally_process_thaw(table), 0);
				continue;
			}
			/* In turn with what was before an exec, and without it. */
			renew(table, to % 2 ? UINT64_MAX : 0);
			for (uint32_t pid = 0; to % 2 && pid < PIDS; pid++)
				memset(models[to][pid].before, 0, sizeof(models[to][pid].before));
			renewed = to;
		}
		assert_true(compared > 1000);
		tally_process_table_free(table);
	}
}

static void names_that_nothing_has_are_forgotten(void **state)
{
	struct tally_process_table *table = new_table();
	char path[32];

	(void)state;
	comm(table, 10, 5, 5, "five", false);
	map(table, 11, 5, 0x8000, 0x9000, 0, "/bin/five");
	freeze(table);
	for (uint32_t i = 0; i < 1000; i++) {
		renew(table, 100 + i);
		snprintf(path, sizeof(path), "/tmp/%u", i);
		fork_of(table, 100 + i, 5, 5, 6, 6);
		map(table, 100 + i, 6, 0x10000, 0x11000, 0, path);
		exit_of(table, 100 + i, 6, 6);
		freeze(table);
	}
	assert_true(tally_process_name_count(table) > 1000);
	renew(table, 2000);
	assert_int_equal(tally_process_forget_names(table), 0);
	/* The idle tasks have one. */
	assert_int_equal(tally_process_name_count(table), 3);
	map(table, 2001, 5, 0xa000, 0xb000, 0, "/lib/a");
	freeze(table);
	assert_string_equal(file_at(table, 5, 0x8000, 2002), "/bin/five");
	assert_string_equal(file_at(table, 5, 0xa000, 2002), "/lib/a");
	assert_string_equal(comm_at(table, 5, 2002), "five");
	assert_string_equal(comm_at(table, 0, 2002), "swapper");
	tally_process_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_space_keeps_its_number_until_it_maps_more),
	    cmocka_unit_test(a_table_goes_on_with_its_past),
	    cmocka_unit_test(what_held_at_the_end_holds),
	    cmocka_unit_test(what_ended_is_forgotten),
	    cmocka_unit_test(it_finds_what_was_there),
	    cmocka_unit_test(names_that_nothing_has_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
