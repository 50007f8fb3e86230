/* Places in code, as people write them: what is asked for, and what is refused where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tally/event.h>
#include "event/term.h"
#include "made_sysfs.h"

static struct made_sysfs sysfs;
static struct tally_event_options options = {.size = sizeof(options)};

static int make(void **state)
{
	(void)state;
	if (made_sysfs_init(&sysfs) || made_sysfs_file(&sysfs, "uprobe/type", "9") ||
	    made_sysfs_file(&sysfs, "uprobe/format/retprobe", "config:0") ||
	    made_sysfs_file(&sysfs, "uprobe/format/ref_ctr_offset", "config:32-63") ||
	    made_sysfs_file(&sysfs, "kprobe/type", "8") ||
	    made_sysfs_file(&sysfs, "kprobe/format/retprobe", "config:0") ||
	    made_sysfs_file(&sysfs, "cpu/type", "4"))
		return -1;
	options.sysfs = options.tracefs = sysfs.root;
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	made_sysfs_done(&sysfs);
	return 0;
}

static void same_text(const char *got, const char *wanted)
{
	if (wanted)
		assert_string_equal(got, wanted);
	else
		assert_null(got);
}

static void asked_for(void **state)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config, config2;
		struct tally_event_probe probe;
	} cases[] = {
	    {"uprobe:/bin/ls:main", 9, 0, 0, {.path = "/bin/ls", .symbol = "main"}},
	    {"uprobe:libc:malloc+0x10",
	     9,
	     0,
	     0,
	     {.path = "libc", .symbol = "malloc", .offset = 16}},
	    {"uprobe:./a.out:0x1139",
	     9,
	     0,
	     0,
	     {.path = "./a.out", .offset = 0x1139, .address = true}},
	    {"uretprobe:/bin/ls:main:u", 9, 1, 0, {.path = "/bin/ls", .symbol = "main"}},
	    {"uprobe:/bin/ls:main%return/name=back/",
	     9,
	     1,
	     0,
	     {.path = "/bin/ls", .symbol = "main"}},
	    {"uprobe:'/a:b,c':'ns::f(int, char)'",
	     9,
	     0,
	     0,
	     {.path = "/a:b,c", .symbol = "ns::f(int, char)"}},
	    {"usdt:/bin/x:toy:tick",
	     9,
	     0,
	     0,
	     {.kind = TALLY_PROBE_MARKER, .path = "/bin/x", .provider = "toy", .symbol = "tick"}},
	    {"sdt_toy:tick",
	     9,
	     0,
	     0,
	     {.kind = TALLY_PROBE_MARKER, .provider = "toy", .symbol = "tick"}},
	    {"kprobe:do_nanosleep",
	     8,
	     0,
	     0,
	     {.kind = TALLY_PROBE_KERNEL, .symbol = "do_nanosleep"}},
	    {"kretprobe:do_nanosleep",
	     8,
	     1,
	     0,
	     {.kind = TALLY_PROBE_KERNEL, .symbol = "do_nanosleep"}},
	    {"uprobe/uprobe_path='/bin/ls',probe_offset=0x4a0,retprobe/",
	     9,
	     1,
	     0x4a0,
	     {.path = "/bin/ls"}},
	    {"kprobe/kprobe_func=f,probe_offset=4/k",
	     8,
	     0,
	     4,
	     {.kind = TALLY_PROBE_KERNEL, .symbol = "f"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct tally_event_probe *got;
		struct tally_event_list list;
		struct tally_error error;
		struct tally_event copy;

		if (tally_event_list_parse(cases[i].text, &options, &list, &error))
			fail_msg("%s: %s", cases[i].text, error.text);
		assert_int_equal(list.count, 1);
		assert_int_equal(list.events[0].attr.type, cases[i].type);
		assert_int_equal(list.events[0].attr.config, cases[i].config);
		assert_int_equal(list.events[0].attr.config1, 0); /* not before it is resolved */
		assert_int_equal(list.events[0].attr.config2, cases[i].config2);
		assert_int_equal(tally_event_copy(&copy, &list.events[0]), 0);
		tally_event_list_done(&list); /* the copy is its own */
		got = copy.probe;
		assert_int_equal(got->kind, cases[i].probe.kind);
		same_text(got->path, cases[i].probe.path);
		same_text(got->symbol, cases[i].probe.symbol);
		same_text(got->provider, cases[i].probe.provider);
		assert_int_equal(got->offset, cases[i].probe.offset);
		assert_int_equal(got->address, cases[i].probe.address);
		assert_false(got->resolved);
		tally_event_done(&copy);
	}
}

static void modifiers_terms_and_lists(void **state)
{
	struct tally_event_list list;

	(void)state;
	assert_int_equal(tally_event_list_parse("{uprobe:/a:b/name=x,period=3/u,kprobe:f}:S,"
						"usdt:/a:b:c:k,cpu-clock",
						&options, &list, NULL),
			 0);
	assert_int_equal(list.count, 4);
	assert_string_equal(list.events[0].name, "x");
	assert_int_equal(list.events[0].attr.sample_period, 3);
	assert_true(list.events[0].attr.exclude_kernel);
	assert_int_equal(list.events[0].probe->counter_mask, 0xffffffff00000000);
	assert_int_equal(list.events[1].leader, 0);
	assert_true(list.events[1].sample_read);
	assert_string_equal(list.events[2].name, "usdt:/a:b:c:k");
	assert_true(list.events[2].attr.exclude_user);
	assert_null(list.events[3].probe);
	tally_event_list_done(&list);
}

static void a_copy_points_to_its_own_text(void **state)
{
	struct tally_event_list list;
	struct tally_event copy;

	(void)state;
	assert_int_equal(tally_event_list_parse("uprobe:/a:b", &options, &list, NULL), 0);
	list.events[0].attr.config1 = (uintptr_t)list.events[0].probe->path;
	assert_int_equal(tally_event_copy(&copy, &list.events[0]), 0);
	tally_event_list_done(&list);
	assert_int_equal(copy.attr.config1, (uintptr_t)copy.probe->path);
	tally_event_done(&copy);
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		int64_t position;
		const char *says;
	} cases[] = {
	    {"uprobe:", 7, "a program"},
	    {"uprobe:/bin/ls", 14, "a function's name"},
	    {"uprobe:/bin/ls:", 15, "a function's name, or an address"},
	    {"uprobe:/bin/ls:f+x", 17, "an offset"},
	    {"uprobe:/bin/ls:f%back", 16, "%return"},
	    {"uprobe:'/bin/ls:f", 7, "a second '"},
	    {"uretprobe:/bin/ls:f+4", 0, "leave the offset out"},
	    {"uprobe:/bin/ls:0x1ffffffffffffffff", 15, "64 bits"},
	    {"usdt:/bin/ls:p", 14, "the marker's name"},
	    {"kprobe:", 7, "a function's name"},
	    {"kprobe:f/probe_offset=1/", 9, "unknown term probe_offset"},
	    {"cpu/uprobe_path='x'/", 4, "a term of the PMU uprobe"},
	    {"uprobe/kprobe_func=x/", 7, "a term of the PMU kprobe"},
	    {"uprobe/uprobe_path=/bin/ls/", 19, "in quotes"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list;
		struct tally_error error;

		assert_true(tally_event_list_parse(cases[i].text, &options, &list, &error) < 0);
		if (error.position != cases[i].position || !strstr(error.text, cases[i].says))
			fail_msg("%s: column %d: %s", cases[i].text, (int)error.position,
				 error.text);
	}
}

static void a_kernel_without_them_is_reported(void **state)
{
	struct tally_event_options none = {.size = sizeof(none), .sysfs = "/nonexistent"};
	struct tally_event_list list;
	struct tally_error error;

	(void)state;
	assert_int_equal(tally_event_list_parse("kprobe:f", &none, &list, &error), -ENOENT);
	assert_non_null(strstr(error.text, "CONFIG_KPROBE_EVENTS"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(asked_for),
	    cmocka_unit_test(modifiers_terms_and_lists),
	    cmocka_unit_test(a_copy_points_to_its_own_text),
	    cmocka_unit_test(refused),
	    cmocka_unit_test(a_kernel_without_them_is_reported),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
