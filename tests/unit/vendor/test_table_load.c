/* Vendor tables: small ones in each layout, and what their fields become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vendor/vendor_table.h"
#include "vendor/table_json.h"

static const char *folder_of_test;

static struct tally_table *open_for(const char *folder, const char *cpuid)
{
	struct tally_table_options options = {.size = sizeof(options), .cpuid = cpuid};
	struct tally_table *table = NULL;
	struct tally_error error = {0};
	char folders[4096];

	snprintf(folders, sizeof(folders), "/nowhere/at/all:%s/tables/%s", folder_of_test, folder);
	options.folders = folders;
	if (tally_table_open(&options, &table, &error))
		fail_msg("%s", error.text);
	return table;
}

static const struct tally_table_event *find(const struct tally_table *table, const char *pmu,
					    const char *name)
{
	const struct tally_table_event *event = tally_table_find_of(table, pmu, name, strlen(name));

	if (!event)
		fail_msg("no %s", name);
	return event;
}

/* The terms reasoned out by jevents.py's order of fields. */
static void fields_become_terms_in_order(void **state)
{
	static const struct {
		const char *name, *pmu, *terms;
	} cases[] = {
	    {"l2_rqsts.demand_data_rd_miss", NULL, "event=0x24,edge=1,period=200003,umask=0x21"},
	    {"offcore_response.read", NULL,
	     "event=0xb7,any=1,cmask=2,inv=1,period=100003,umask=0x1,offcore_rsp=0x10001"},
	    {"mem_load.slow", NULL, "event=0xcd,umask=0x1,ldlat=0x80"},
	    {"inst_retired.any", NULL, "event=0xc0,period=2000003"},
	    {"old.name", NULL, "event=0x103"},
	    {"unc_m_cas.rd", "uncore_imc",
	     "event=0x4,ch_mask=0x01,fc_mask=0x07,umask=0x3,config1=0x40033"},
	    {"unc_c_lookup", "uncore_cbox", "event=0x34"},
	    {"config", "amd_l3", "config=0x1f"},
	};
	struct tally_table *table = open_for("kernel", "GenuineIntel-6-55-7");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct tally_table_event *event = find(table, NULL, cases[i].name);

		assert_string_equal(event->name, cases[i].name);
		assert_string_equal(event->terms, cases[i].terms);
		if (cases[i].pmu)
			assert_string_equal(event->pmu, cases[i].pmu);
		else
			assert_null(event->pmu);
	}
	assert_int_equal(tally_table_refused(table), 2);
	assert_null(tally_table_find(table, "no.number", 9));
	assert_null(tally_table_find(table, "unknown.register", 16));
	assert_string_equal(tally_table_cpuid(table), "GenuineIntel-6-55-7");
	tally_table_close(table);
}

static void what_else_is_known_of_an_event(void **state)
{
	struct tally_table *table = open_for("kernel/x86", "GenuineIntel-6-6F-2");
	const struct tally_table_event *event = find(table, NULL, "UNC_M_CAS.rd");

	(void)state;
	assert_true(event->per_package);
	assert_true(event->scale == 64);
	assert_string_equal(event->unit, "Bytes");
	assert_string_equal(event->topic, "uncore memory");
	event = find(table, NULL, "L2_RQSTS.DEMAND_DATA_RD_MISS");
	assert_string_equal(event->brief, "Demand data reads that missed the second level");
	assert_string_equal(event->details, "Demand data reads that missed the second level. "
					    "Prefetches are not \"demand\"");
	assert_string_equal(event->topic, "cache");
	assert_false(event->per_package);
	assert_false(event->deprecated);
	event = find(table, NULL, "mem_load.slow");
	assert_string_equal(event->brief, "Loads that took 128 cycles  Supports address when "
					  "precise.  Spec update: TOY12 (Must be precise)");
	assert_true(find(table, NULL, "old.name")->deprecated);
	tally_table_close(table);
}

static void one_name_of_several_pmus(void **state)
{
	struct tally_table *table = open_for("kernel", "GenuineIntel-6-55-7");
	const struct tally_table_event *event = find(table, NULL, "shared");

	(void)state;
	assert_string_equal(event->terms, "event=0x1");
	assert_string_equal(event->same_name->terms, "event=0x2");
	assert_string_equal(event->same_name->same_name->terms, "event=0x3");
	assert_null(event->same_name->same_name->same_name);
	assert_string_equal(find(table, "uncore_imc_3", "shared")->terms, "event=0x2");
	assert_string_equal(find(table, "cpu", "shared")->terms, "event=0x3");
	assert_null(tally_table_find_of(table, "uncore_imc_free_running", "shared", 6));
	assert_null(tally_table_find_of(table, "uncore", "shared", 6));
	tally_table_close(table);
}

static void metrics_have_names_of_their_own(void **state)
{
	struct tally_table *table = open_for("kernel", "GenuineIntel-6-5A-1");
	const struct tally_table_event *metric = tally_table_metric(table, "cpi", 3);

	(void)state;
	assert_non_null(metric);
	assert_string_equal(metric->metric, "CPI");
	assert_string_equal(metric->expression, "cpu_clk_unhalted.thread / inst_retired.any");
	assert_string_equal(metric->groups, "Summary;Pipeline");
	assert_string_equal(metric->constraint, "NO_NMI_WATCHDOG");
	assert_string_equal(metric->threshold, "CPI > 1.5");
	assert_true(metric->scale == 15);
	assert_string_equal(metric->unit, "per_instr");
	assert_string_equal(metric->topic, "metrics");
	assert_null(metric->name);
	assert_null(metric->terms);
	assert_null(tally_table_find(table, "cpi", 3));
	tally_table_close(table);
}

static void standard_events_fill_what_is_left_out(void **state)
{
	struct tally_table *table = open_for("kernel", "0x00000000410fd0c0");
	const struct tally_table_event *event = find(table, NULL, "l1i_cache");

	(void)state;
	assert_string_equal(event->terms, "event=0x14");
	assert_string_equal(event->brief, "Standard words");
	event = find(table, NULL, "sw_incr");
	assert_string_equal(event->terms, "event=0");
	assert_string_equal(event->brief, "Words of its own");
	assert_int_equal(tally_table_refused(table), 1); /* NOWHERE */
	event = tally_table_metric(table, "idle", 4);
	assert_string_equal(event->expression, "stall / cpu_cycles");
	assert_string_equal(event->groups, "Top");
	assert_true(event->scale == 100);
	assert_null(event->terms);
	event = tally_table_metric(table, "busy", 4);
	assert_string_equal(event->expression, "1 - 2 * idle");
	assert_string_equal(event->brief, "Standard metric");
	event = find(table, "imx8_ddr0", "ddr.cycles");
	assert_string_equal(event->compat, "i.MX8MM");
	assert_non_null(find(table, "hisi_sccl3_ddrc0", "ddrc.reads"));
	assert_null(tally_table_find_of(table, "hisi_sccl3_hha0", "ddrc.reads", 10));
	tally_table_close(table);
}

static void intels_layout(void **state)
{
	struct tally_table *table = open_for("intel", "GenuineIntel-6-97-2");
	const struct tally_table_event *event = find(table, "cpu_core", "mem.hit");
	size_t count = 0;

	(void)state;
	assert_string_equal(event->terms, "event=0xd1,period=1000003,umask=0x201");
	assert_string_equal(event->brief, "Hits \xc2\xb5 \xf0\x9f\x98\x80");
	assert_false(event->deprecated);
	event = find(table, "cpu_atom", "mem.hit");
	assert_string_equal(event->terms, "event=0xd2,umask=0x01");
	assert_true(event->deprecated);
	event = find(table, NULL, "unc_cha_tor");
	assert_string_equal(event->pmu, "uncore_cha");
	assert_true(event->per_package);
	assert_string_equal(find(table, NULL, "unc_iio_data")->terms,
			    "event=0x83,ch_mask=0x01,fc_mask=0x07,umask=0x01");
	while (tally_table_at(table, count))
		count++;
	assert_int_equal(count, 4); /* the row with ".." is not followed */
	tally_table_close(table);
}

static void what_pmu_tools_have_fetched(void **state)
{
	struct tally_table *table = open_for("cache", "GenuineIntel-6-4F-1");

	(void)state;
	assert_string_equal(find(table, "cpu", "ticks")->terms, "event=0x3c");
	assert_string_equal(find(table, "uncore_imc_0", "unc_ticks")->terms, "event=0x1");
	tally_table_close(table);
}

static void a_missing_table_is_reported_with_the_path(void **state)
{
	struct tally_table_options options = {
	    .size = sizeof(options), .cpuid = "Maker-1-2-3", .folders = "/nowhere:/else"};
	struct tally_table *table = NULL;
	struct tally_error error = {0};

	(void)state;
	assert_int_equal(tally_table_open(&options, &table, &error), -ENOENT);
	assert_non_null(strstr(error.text, "Maker-1-2-3"));
	assert_non_null(strstr(error.text, "/nowhere:/else"));
	assert_null(table);
}

static void patterns_of_cpus(void **state)
{
	static const struct {
		const char *pattern, *cpuid;
		bool yes;
	} cases[] = {
	    {"GenuineIntel-6-55-[56789ABCDEF]", "GenuineIntel-6-55-7", true},
	    {"GenuineIntel-6-55-[01234]", "GenuineIntel-6-55-7", false},
	    {"GenuineIntel-6-55", "GenuineIntel-6-55-7", true},
	    {"GenuineIntel-6-5", "GenuineIntel-6-55-7", false},
	    {"GenuineIntel-6-(5[5A]|6F)", "GenuineIntel-6-5A-0", true},
	    {"GenuineIntel-6-55-7", "GenuineIntel-6-55", false},
	    {"AuthenticAMD-25-([245][[:xdigit:]]|[[:xdigit:]])", "AuthenticAMD-25-21-2", true},
	    {"0x00000000410fd0c0", "0x00000000410fd0c0", true},
	    {"0x00000000410fd0c", "0x00000000410fd0c0", false},
	    {"004[bcd][[:xdigit:]]{4}", "004d0200", true},
	    {"(", "x", false},
	    {"((x{1,255}){1,255}){1,255}", "x", false}, /* would take all memory */
	    {"(x*)*\\1", "x", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (tally_table_cpuid_matches(cases[i].pattern, cases[i].cpuid) != cases[i].yes)
			fail_msg("%s of %s", cases[i].pattern, cases[i].cpuid);
}

static int count_fields(void *to, const struct table_field *fields, size_t count)
{
	(void)fields;
	*(size_t *)to += 1 + count;
	return 0;
}

static void wrong_json_is_refused_with_its_offset(void **state)
{
	static const struct {
		const char *text;
		int result;
		int64_t position;
		size_t seen; /* objects and fields */
	} cases[] = {
	    {"[]", 0, 0, 0},
	    {"[{}, {\"a\":\"b\"}]", 0, 0, 3},
	    {"[{\"a\":null,\"b\":\"\",\"c\":[{}],\"d\":1}]", 0, 0, 2},
	    {"\xef\xbb\xbf{\"Header\":{\"x\":[1,[2]]},\"Events\":[{\"a\":true}]}\n", 0, 0, 2},
	    {"{\"Events\":\"none\"}", 0, 0, 0},
	    {"", -EINVAL, 0, 0},
	    {"[{\"a\":\"b\"}", -EINVAL, 10, 2},
	    {"[{\"a\":\"b\"}] x", -EINVAL, 12, 2},
	    {"[{\"a\" \"b\"}]", -EINVAL, 6, 0},
	    {"[{\"a\":\"b", -EINVAL, 8, 0},
	    {"[{\"a\":\"\\u0000\"}]", -EINVAL, 13, 0},
	    {"[{\"a\":\"\\ud800x\"}]", -EINVAL, 14, 0},
	    {"[{\"a\":\"\\x\"}]", -EINVAL, 9, 0},
	    {"[{\"a\":}]", -EINVAL, 6, 0},
	    {"[1]", -EINVAL, 1, 0},
	    {"[[[[", -EINVAL, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_error error = {0};
		size_t seen = 0;
		bool native;
		int result = tally_table_json_read(cases[i].text, strlen(cases[i].text),
						   count_fields, &seen, &native, &error);

		if (result != cases[i].result || seen != cases[i].seen ||
		    (result && error.position != cases[i].position))
			fail_msg("%s: %d at %lld, %zu seen: %s", cases[i].text, result,
				 (long long)error.position, seen, error.text);
	}
}

static void the_path_of_tables(void **state)
{
	char path[256];

	(void)state;
	unsetenv("TALLY_EVENTS");
	setenv("XDG_CACHE_HOME", "/c", 1);
	assert_int_equal(tally_table_path(path, sizeof(path)), 0);
	assert_string_equal(path, "/c/pmu-events:/usr/share/tally/events");
	setenv("TALLY_EVENTS", "/a:/b", 1);
	assert_int_equal(tally_table_path(path, sizeof(path)), 0);
	assert_string_equal(path, "/a:/b");
	assert_int_equal(tally_table_path(path, 5), -ENAMETOOLONG);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fields_become_terms_in_order),
	    cmocka_unit_test(what_else_is_known_of_an_event),
	    cmocka_unit_test(one_name_of_several_pmus),
	    cmocka_unit_test(metrics_have_names_of_their_own),
	    cmocka_unit_test(standard_events_fill_what_is_left_out),
	    cmocka_unit_test(intels_layout),
	    cmocka_unit_test(what_pmu_tools_have_fetched),
	    cmocka_unit_test(a_missing_table_is_reported_with_the_path),
	    cmocka_unit_test(patterns_of_cpus),
	    cmocka_unit_test(wrong_json_is_refused_with_its_offset),
	    cmocka_unit_test(the_path_of_tables),
	};

	if (argc < 2)
		return 2;
	folder_of_test = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
