/* Events of made-up PMUs: fields over gaps, aliases, parameters, instances, kinds of core. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <tally/event.h>
#include "made_sysfs.h"

static struct made_sysfs sysfs;
static struct tally_event_options options = {.size = sizeof(options), .sysfs = sysfs.root};

static const char *const files[][2] = {
    {"gap/type", "30"},
    {"gap/cpumask", "0,8"},
    {"gap/format/a", "config:1,6-10,44"},  /* 7 bits in three places */
    {"gap/format/b", "config1:60-63,0-3"}, /* ranges out of order: the lowest bit is 0 */
    {"gap/format/c", "config4:0-63"},      /* a whole word */
    {"gap/format/bad", "config9:0-3"},     /* not understood: as if it were not there */
    {"gap/events/all", "a=0x7f,b=0x1"},
    {"gap/events/param", "a=0x1,b=?"}, /* needs b= */
    {"gap/events/joules", "a=2"},      /* shown in Joules */
    {"gap/events/joules.unit", "Joules"},
    {"gap/events/joules.scale", "2.5e-3"},
    {"gap/events/joules.per-pkg", "1"},
    {"uncore_box_0/type", "40"},
    {"uncore_box_0/format/e", "config:0-7"},
    {"uncore_box_0/events/hits", "e=0x11"},
    {"uncore_box_1/type", "41"},
    {"uncore_box_1/format/e", "config:0-7"},
    {"uncore_box_1/events/hits", "e=0x12"}, /* each its own code */
    {"uncore_boxes/type", "42"},            /* no number: not an instance of box */
    {"cpu_atom/type", "70"},
    {"cpu_atom/cpus", "4-7"},
    {"cpu_core/type", "4"},
    {"cpu_core/cpus", "0-3"},
    {"cpu_core/format/event", "config:0-7"},
    {"cpu_core/events/slots", "event=0x04"},
    {"cpu_core/events/topdown-be-bound", "event=0x83"},
};

static struct tally_event_list parse(const char *text)
{
	struct tally_event_list list = {0};
	struct tally_error error;

	if (tally_event_list_parse(text, &options, &list, &error))
		fail_msg("%s: %s", text, error.text);
	return list;
}

static void strings_become_attrs(void **state)
{
	static const struct {
		const char *text;
		size_t count;
		uint32_t type;
		uint64_t config, config1, config4; /* of the first */
	} cases[] = {
	    /* bit 0 -> 1, bits 1 to 5 -> 6 to 10, bit 6 -> 44 */
	    {"gap/a=0x7f/", 1, 30, 0x1000000007c2, 0, 0},
	    {"gap/a=2/", 1, 30, 0x40, 0, 0},
	    {"gap/b=0x1f/", 1, 30, 0, 0x100000000000000f, 0},
	    {"gap/c=18446744073709551615/", 1, 30, 0, 0, UINT64_MAX},
	    {"gap/a/", 1, 30, 2, 0, 0},
	    {"gap/ALL/", 1, 30, 0x1000000007c2, 1, 0},
	    {"all", 1, 30, 0x1000000007c2, 1, 0},
	    {"all/b=2/u", 1, 30, 0x1000000007c2, 3, 0},
	    {"gap/param,b=5/", 1, 30, 2, 5, 0},
	    {"gap/b=5,param/", 1, 30, 2, 5, 0},
	    {"gap/config=0x10,a=1/", 1, 30, 0x12, 0, 0},
	    {"gap/r10/", 1, 30, 0x10, 0, 0},
	    {"uncore_box/hits/", 2, 40, 0x11, 0, 0},
	    {"box/hits/", 2, 40, 0x11, 0, 0},
	    {"box_1/hits/", 1, 41, 0x12, 0, 0},
	    {"uncore_box_*/e=3/", 2, 40, 3, 0, 0},
	    {"hits", 2, 40, 0x11, 0, 0},
	    /* each kind of core: its type above the generic event, or as the raw event's type */
	    {"instructions", 2, 0, 70ull << 32 | 1, 0, 0},
	    {"r1a", 2, 70, 0x1a, 0, 0},
	    {"L1-dcache-loads", 2, 3, 70ull << 32, 0, 0},
	    {"cpu_core/instructions/", 1, 0, 4ull << 32 | 1, 0, 0},
	    {"cpu_core/slots/", 1, 4, 4, 0, 0},
	    {"cs", 1, 1, 3, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list = parse(cases[i].text);
		const struct tally_attr *attr = &list.events[0].attr;

		if (list.count != cases[i].count || attr->type != cases[i].type ||
		    attr->config != cases[i].config || attr->config1 != cases[i].config1 ||
		    attr->config4 != cases[i].config4)
			fail_msg("%s: %zu events, %u:%#llx,%#llx", cases[i].text, list.count,
				 attr->type, (unsigned long long)attr->config,
				 (unsigned long long)attr->config1);
		tally_event_list_done(&list);
	}
}

/* One line a list: "TYPE:CONFIG", with "<I" of members, I the index of their leader. */
static void groups_are_one_pmus(void **state)
{
	static const char *const cases[][2] = {
	    /* each instance has its own */
	    {"{uncore_box/hits/,uncore_box/e=9/}", "40:0x11 40:0x9<0 41:0x12 41:0x9<2"},
	    {"{hits,cs}:e", "40:0x11! 41:0x12! 1:0x3!"},
	    {"cs,{hits}", "1:0x3 40:0x11 41:0x12"},
	    {"{uncore_box_0/e=1/,uncore_box_0/e=2/}", "40:0x1 40:0x2<0"},
	    /* what was asked for by name stays, though the kernel will refuse it */
	    {"{uncore_box_0/e=1/,uncore_box_1/e=2/}", "40:0x1 41:0x2<0"},
	    /* slots leads where there are topdown events, as the PMU needs it */
	    {"{cs,topdown-be-bound,slots}:D", "4:0x4! 1:0x3<0 4:0x83<0"},
	    {"{slots,topdown-be-bound}", "4:0x4 4:0x83<0"},
	    {"{cs,slots}", "1:0x3 4:0x4<0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list = parse(cases[i][0]);
		char text[200] = "";

		for (size_t j = 0; j < list.count; j++) {
			const struct tally_event *event = &list.events[j];
			size_t at = strlen(text);

			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u:%#llx",
					       j ? " " : "", event->attr.type,
					       (unsigned long long)event->attr.config);
			if (event->attr.pinned || event->attr.exclusive)
				at += (size_t)snprintf(text + at, sizeof(text) - at, "!");
			if (event->leader != j)
				snprintf(text + at, sizeof(text) - at, "<%u", event->leader);
		}
		assert_string_equal(text, cases[i][1]);
		tally_event_list_done(&list);
	}
}

static void units_and_cpus(void **state)
{
	struct tally_event_list list = parse("gap/joules/,cpu_core/slots/,cycles");

	(void)state;
	assert_string_equal(list.events[0].unit, "Joules");
	assert_true(list.events[0].scale == 2.5e-3);
	assert_true(list.events[0].per_pkg);
	assert_string_equal(list.events[0].cpus, "0,8");
	assert_string_equal(list.events[0].pmu, "gap");
	assert_null(list.events[1].unit);
	assert_true(list.events[1].scale == 1);
	assert_string_equal(list.events[2].pmu, "cpu_atom");
	assert_string_equal(list.events[2].cpus, "4-7");
	tally_event_list_done(&list);
}

/* 13.11: msr and its like refuse what they cannot exclude, so that nothing is asked of them. */
static void guests_are_left_out_of_cores_only(void **state)
{
	static const struct {
		const char *text, *back;
		unsigned excludes;
	} cases[] = {
	    {"gap/a=2/", NULL, 0},           {"30:0x40", NULL, 0},
	    {"gap/a=2/H", NULL, 1},          {"uncore_box_0/e=3/", "uncore_box_0/config=0x3/", 0},
	    {"cpu_core/slots/", "slots", 1}, {"cpu_core/slots/GH", "slots:GH", 0},
	    {"cs", "context-switches", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list = parse(cases[i].text);
		char name[100];

		assert_int_equal(list.events[0].attr.exclude_guest, cases[i].excludes);
		assert_true(tally_event_format(&list.events[0].attr, &options, name, sizeof(name)) >
			    0);
		if (cases[i].back)
			assert_string_equal(name, cases[i].back);
		tally_event_list_done(&list);
	}
}

static void wrong_ones(void **state)
{
	static const struct {
		const char *text;
		int64_t column;
		const char *says;
	} cases[] = {
	    {"gap/a=0x80/", 6, "at most 127"},     {"gap/bad=1/", 4, "no field or event bad"},
	    {"gap/param/", 4, "write b=NUMBER"},   {"gap/all,joules/", 8, "second named event"},
	    {"gapp/a=1/", 0, "did you mean gap?"}, {"boxe/e=1/", 0, "unknown PMU boxe"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list = {0};
		struct tally_error error;

		assert_int_equal(tally_event_list_parse(cases[i].text, &options, &list, &error),
				 -EINVAL);
		if (error.position != cases[i].column || !strstr(error.text, cases[i].says))
			fail_msg("%s: %lld: %s", cases[i].text, (long long)error.position,
				 error.text);
	}
}

static int set_up(void **state)
{
	(void)state;
	if (made_sysfs_init(&sysfs))
		return -1;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (made_sysfs_file(&sysfs, files[i][0], files[i][1]))
			return -1;
	return tally_event_context_new(&options, &options.context);
}

static int tear_down(void **state)
{
	(void)state;
	tally_event_context_free(options.context);
	made_sysfs_done(&sysfs);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(strings_become_attrs),
	    cmocka_unit_test(groups_are_one_pmus),
	    cmocka_unit_test(units_and_cpus),
	    cmocka_unit_test(guests_are_left_out_of_cores_only),
	    cmocka_unit_test(wrong_ones),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
