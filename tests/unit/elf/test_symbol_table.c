#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include "elf/demangle.h"
#include "elf/symbol_steps.h"
#include "elf/symbol_table.h"

/* A list, and the table it becomes. */
struct made {
	struct tally_symbol_list list;
	struct tally_symbol_table table;
};

static void made_done(struct made *made)
{
	tally_symbol_list_done(&made->list);
	tally_symbol_table_done(&made->table);
}

static void put(struct made *made, uint64_t start, uint64_t size, uint8_t binding, const char *name)
{
	uint32_t at;

	assert_int_equal(
	    tally_symbol_list_take_text(&made->list, strdup(name), strlen(name) + 1, &at), 0);
	assert_int_equal(tally_symbol_list_add(&made->list, start, start + size, at,
					       (uint8_t)ELF64_ST_INFO(binding, STT_FUNC)),
			 0);
}

static void finish_table(struct made *made)
{
	uint64_t left = 1 << 20;

	assert_int_equal(tally_symbol_list_sort(&made->list), 0);
	tally_symbol_list_finish(&made->list, &left);
	assert_int_equal(tally_symbol_table_take(&made->table, &made->list), 0);
}

static const char *at(const struct made *made, uint64_t place)
{
	int64_t index = tally_symbol_table_find(&made->table, place);

	return index < 0 ? "-" : tally_symbol_table_get(&made->table, (size_t)index).name;
}

static void finds_by_range(void **state)
{
	struct made table = {0};

	(void)state;
	assert_int_equal(tally_symbol_table_find(&table.table, 0), -ENOENT);
	put(&table, 0x200, 0x10, STB_GLOBAL, "b");
	put(&table, 0x100, 0x10, STB_GLOBAL, "a");
	put(&table, 0x210, 0, STB_LOCAL, "label");
	put(&table, 0x300, 0, STB_LOCAL, "last");
	finish_table(&table);
	assert_string_equal(at(&table, 0xff), "-");
	assert_string_equal(at(&table, 0x100), "a");
	assert_string_equal(at(&table, 0x10f), "a");
	assert_string_equal(at(&table, 0x110), "-");
	assert_string_equal(at(&table, 0x20f), "b");
	assert_string_equal(at(&table, 0x210), "label"); /* up to the next */
	assert_string_equal(at(&table, 0x2ff), "label");
	assert_string_equal(at(&table, 0x1fff), "last"); /* to the end of the page behind */
	assert_string_equal(at(&table, 0x2000), "-");
	made_done(&table);
}

static void nested_ones_give_way_to_the_outer(void **state)
{
	struct made table = {0};

	(void)state;
	put(&table, 0x100, 0x100, STB_GLOBAL, "outer");
	put(&table, 0x110, 0x20, STB_GLOBAL, "middle");
	put(&table, 0x118, 0x04, STB_GLOBAL, "inner");
	put(&table, 0x180, 0x04, STB_GLOBAL, "late");
	finish_table(&table);
	assert_string_equal(at(&table, 0x10f), "outer");
	assert_string_equal(at(&table, 0x110), "middle");
	assert_string_equal(at(&table, 0x118), "inner");
	assert_string_equal(at(&table, 0x11c), "middle");
	assert_string_equal(at(&table, 0x130), "outer");
	assert_string_equal(at(&table, 0x184), "outer");
	assert_string_equal(at(&table, 0x1ff), "outer");
	assert_string_equal(at(&table, 0x200), "-");
	made_done(&table);
}

/* Each pair in both orders of arrival. */
static void the_better_alias_stays(void **state)
{
	static const struct {
		uint64_t good_size, bad_size;
		uint8_t good_binding, bad_binding;
		const char *good, *bad;
	} pairs[] = {
	    {4, 0, STB_LOCAL, STB_GLOBAL, "sized", "a_longer_name_without_size"},
	    {4, 4, STB_LOCAL, STB_WEAK, "not_weak", "a_longer_weak_name"},
	    {4, 4, STB_GLOBAL, STB_LOCAL, "global", "a_longer_local_name"},
	    {4, 4, STB_GLOBAL, STB_GLOBAL, "plain", "__plain_longer"},
	    {4, 4, STB_GLOBAL, STB_GLOBAL, "the_longer", "short"},
	    /* shown as f, with no underscore */
	    {4, 4, STB_GLOBAL, STB_GLOBAL, "_Z1fv", "_underscored"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		for (int order = 0; order < 2; order++) {
			struct made table = {0};

			if (order)
				put(&table, 0x100, pairs[i].bad_size, pairs[i].bad_binding,
				    pairs[i].bad);
			put(&table, 0x100, pairs[i].good_size, pairs[i].good_binding,
			    pairs[i].good);
			if (!order)
				put(&table, 0x100, pairs[i].bad_size, pairs[i].bad_binding,
				    pairs[i].bad);
			put(&table, 0x104, 4, STB_GLOBAL, "next");
			/* without a size and last of its start, a label takes the room behind */
			if (!order && !pairs[i].bad_size) {
				made_done(&table);
				continue;
			}
			finish_table(&table);
			assert_int_equal(table.table.count, 2);
			assert_string_equal(at(&table, 0x100), pairs[i].good);
			made_done(&table);
		}
	}
}

static void made_up_ends_do_not_wrap(void **state)
{
	struct made table = {0};

	(void)state;
	put(&table, UINT64_MAX - 3, 0, STB_GLOBAL, "top");
	finish_table(&table);
	assert_string_equal(at(&table, UINT64_MAX - 3), "top");
	assert_string_equal(at(&table, 0), "-");
	made_done(&table);
}

/* As those that are added when the others are in order. */
static void few_behind_the_others_go_where_they_belong(void **state)
{
	static const uint64_t late[] = {700, 5, 40, 100000, 40, 0, 41};
	enum { MANY = 100, LATE = sizeof(late) / sizeof(late[0]) };
	struct tally_symbol_list list = {.groups = malloc((MANY + LATE) * sizeof(uint16_t))};
	uint32_t seen[MANY + LATE] = {0};

	(void)state;
	for (uint32_t i = 0; i < MANY + LATE; i++) {
		uint64_t start = i < MANY ? i * 10 : late[i - MANY];

		list.groups[i] = (uint16_t)i;
		assert_int_equal(
		    tally_symbol_list_add(&list, start, start + i, i, (uint8_t)(i % 200)), 0);
	}
	assert_int_equal(tally_symbol_list_sort(&list), 0);
	for (uint32_t i = 0; i < MANY + LATE; i++) {
		uint32_t name = list.names[i];

		assert_true(name < MANY + LATE);
		assert_int_equal(seen[name]++, 0);
		assert_int_equal(list.starts[i], name < MANY ? name * 10 : late[name - MANY]);
		assert_int_equal(list.ends[i], list.starts[i] + name);
		assert_int_equal(list.infos[i], name % 200);
		assert_int_equal(list.groups[i], name);
		if (!i)
			continue;
		assert_true(list.starts[i - 1] <= list.starts[i]);
		assert_true(list.starts[i - 1] < list.starts[i] || list.names[i - 1] < name);
	}
	tally_symbol_list_done(&list);
}

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	return *random >> 33;
}

static void agree(const struct made *made, const struct tally_symbol_steps *steps, uint64_t place)
{
	assert_int_equal(symbol_steps_find(steps, &made->table, place),
			 tally_symbol_table_find(&made->table, place));
}

/* Dense, in far groups as the kernel and its modules, nested, and without sizes. */
static void steps_find_what_the_whole_table_has(void **state)
{
	enum { COUNT = 3000 };
	uint64_t random = 777;

	(void)state;
	for (unsigned round = 0; round < 8; round++) {
		struct tally_symbol_steps steps;
		struct made table = {0};
		uint64_t last = 0x1000;

		for (size_t i = 0; i < (round & 4 ? 65 : COUNT); i++) {
			uint64_t size = next_random(&random) % (round & 1 ? 4096 : 64);

			last += next_random(&random) % 128;
			if (round & 2 && i % 1000 == 999)
				last += 1ULL << 40;
			put(&table, last, i % 7 ? size : 0, STB_GLOBAL, "f");
		}
		finish_table(&table);
		tally_symbol_steps_init(&steps, &table.table);
		assert_true(steps.count > 0 && steps.count <= table.table.count);
		for (size_t i = 0; i < table.table.count; i++) {
			for (uint64_t step = 0; step < 3; step++) {
				agree(&table, &steps, table.table.starts[i] + step - 1);
				agree(&table, &steps, table.table.ends[i] + step - 1);
			}
			agree(&table, &steps, next_random(&random) % (last + 1000));
		}
		agree(&table, &steps, 0);
		agree(&table, &steps, UINT64_MAX);
		table.table.shift = 0 - (uint64_t)0x123456;
		agree(&table, &steps, table.table.starts[5] - 0x123456);
		agree(&table, &steps, UINT64_MAX);
		tally_symbol_steps_done(&steps);
		made_done(&table);
	}
}

static void a_table_out_of_order_has_no_steps(void **state)
{
	uint64_t starts[100], ends[100];
	struct tally_symbol_table table = {.starts = starts, .ends = ends, .count = 100};
	struct tally_symbol_steps steps;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		starts[i] = i * 16;
		ends[i] = i * 16 + 16;
	}
	starts[50] = 8;
	tally_symbol_steps_init(&steps, &table);
	assert_int_equal(steps.count, 0);
	assert_int_equal(symbol_steps_find(&steps, &table, 1599), 99);
	table.count = 0;
	tally_symbol_steps_init(&steps, &table);
	assert_int_equal(steps.count, 0);
}

static void demangles(void **state)
{
	static const char *const names[][2] = {
	    {"_ZN2ns1WIiE4spinEl", "ns::W<int>::spin"},
	    {"_ZNSt6vectorIiSaIiEE9push_backERKi",
	     "std::vector<int, std::allocator<int> >::push_back"},
	    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
	    {"_RNvC6_123foo3bar", "123foo::bar"},
	    {"camlStdlib__List__map_123", "Stdlib.List.map"},
	    {"camlFoo__bar$27_5", "Foo.bar'"},
	};

	uint64_t left = 1 << 20;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *shown = tally_demangle(names[i][0], &left);

		assert_non_null(shown);
		assert_string_equal(shown, names[i][1]);
		free(shown);
	}
	assert_null(tally_demangle("main", &left));
	assert_null(tally_demangle("_Z", &left));
	assert_null(tally_demangle("_Zq", &left));
	assert_null(tally_demangle("camlp4", &left));
}

/* 13.23: each tuple of this name of Rust's holds the one before twice. */
static void a_name_that_doubles_stays_as_it_is(void **state)
{
	char name[4096];
	size_t length = (size_t)snprintf(name, sizeof(name), "_RINvC1a1bTuuE"), before = 8;
	uint64_t left = 1 << 30;
	char *shown;

	(void)state;
	for (int i = 0; i < 60; i++) {
		char place[3] = {0};
		size_t here = length - 2;

		place[0] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		    [(before - 1) / 62 ? (before - 1) / 62 : (before - 1) % 62];
		if ((before - 1) / 62)
			place[1] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    [(before - 1) % 62];
		length += (size_t)snprintf(name + length, sizeof(name) - length, "TB%s_B%s_E",
					   place, place);
		before = here;
		if (i == 3) { /* few are written out */
			snprintf(name + length, sizeof(name) - length, "E");
			shown = tally_demangle(name, &left);
			assert_non_null(shown);
			assert_memory_equal(shown, "a::b::<((), ()),", 7);
			free(shown);
		}
	}
	snprintf(name + length, sizeof(name) - length, "E");
	left = 1 << 30;
	assert_null(tally_demangle(name, &left));
	/* It was given up early, and what it took counts. */
	assert_true(left < 1 << 30 && left > (1 << 30) - (1 << 17));
}

/* 13.23: together they may take so much. */
static void names_are_made_plain_as_far_as_the_budget_goes(void **state)
{
	uint64_t left = 100;
	unsigned count = 0;
	char *shown;

	(void)state;
	while ((shown = tally_demangle("_ZN2ns1WIiE4spinEl", &left))) {
		free(shown);
		count++;
	}
	assert_int_equal(count, 2);
	assert_true(left < 40);
}

/* 13.24: each is within the one before; a place behind all but one of them is found as soon. */
static void symbols_around_each_other_are_found(void **state)
{
	enum { COUNT = 1 << 20, ASKED = 1 << 17 };
	struct tally_symbol_list list = {0};
	struct tally_symbol_table table;
	uint32_t at;

	(void)state;
	assert_int_equal(tally_symbol_list_take_text(&list, strdup("f"), 2, &at), 0);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(tally_symbol_list_add(&list, i, 4 * COUNT - 2 * i, 0, 0), 0);
	assert_int_equal(tally_symbol_table_take(&table, &list), 0);
	/* Linear, this is the work of hours. */
	for (uint64_t i = 0; i < ASKED; i++) {
		uint64_t inner = i * (COUNT / ASKED);

		assert_int_equal(tally_symbol_table_find(&table, 4 * COUNT - 2 * inner - 1), inner);
	}
	assert_int_equal(tally_symbol_table_find(&table, 4 * COUNT), -ENOENT);
	tally_symbol_table_done(&table);
}

/* The links that go far lead where the short ones do, whatever overlaps. */
static void links_that_go_far_change_no_answer(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct tally_symbol_list list = {0};
		struct tally_symbol_table table;
		uint32_t name;
		const uint32_t *further;

		assert_int_equal(tally_symbol_list_take_text(&list, strdup("f"), 2, &name), 0);
		for (uint64_t i = 0; i < 200; i++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			assert_int_equal(tally_symbol_list_add(&list, i / 2 * 2,
							       i / 2 * 2 + (random >> 33) % 300, 0,
							       0),
					 0);
		}
		assert_int_equal(tally_symbol_table_take(&table, &list), 0);
		further = table.further;
		for (uint64_t place = 0; place < 600; place++) {
			int64_t found = tally_symbol_table_find(&table, place);

			table.further = NULL;
			assert_int_equal(tally_symbol_table_find(&table, place), found);
			table.further = further;
		}
		tally_symbol_table_done(&table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_name_that_doubles_stays_as_it_is),
	    cmocka_unit_test(names_are_made_plain_as_far_as_the_budget_goes),
	    cmocka_unit_test(symbols_around_each_other_are_found),
	    cmocka_unit_test(links_that_go_far_change_no_answer),
	    cmocka_unit_test(finds_by_range),
	    cmocka_unit_test(nested_ones_give_way_to_the_outer),
	    cmocka_unit_test(the_better_alias_stays),
	    cmocka_unit_test(made_up_ends_do_not_wrap),
	    cmocka_unit_test(few_behind_the_others_go_where_they_belong),
	    cmocka_unit_test(steps_find_what_the_whole_table_has),
	    cmocka_unit_test(a_table_out_of_order_has_no_steps),
	    cmocka_unit_test(demangles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
