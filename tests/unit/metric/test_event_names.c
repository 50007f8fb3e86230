/* Names of vendor tables and of libpfm4 as events: against made-up machines and tables, each
 * expectation reasoned out from the table's fields and the format/ of the PMU.
 *
 * Usage: test_event_names TABLES */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <tally/event.h>
#include <tally/pfm.h>
#include "../event/made_sysfs.h"

static struct made_sysfs server, hybrid, arm;
static char kernel[PATH_MAX], intel[PATH_MAX];

static struct tally_event_options toy_options(void)
{
	return (struct tally_event_options){
	    .size = sizeof(struct tally_event_options),
	    .sysfs = server.root,
	    .tracefs = server.root, /* which has none */
	    .events = kernel,
	    .cpuid = "GenuineIntel-6-55-7",
	};
}

/* "pmu type:config,config1 x4" with the unit, the scale and what else is known, events joined by
 * " | ". */
static void describe(const struct tally_event_list *list, char *to, size_t room)
{
	size_t at = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct tally_event *event = &list->events[i];
		const struct tally_attr *attr = &event->attr;

		at += (size_t)snprintf(to + at, room - at, "%s%s %u:%#llx", i ? " | " : "",
				       event->pmu ? event->pmu : "-", attr->type,
				       (unsigned long long)attr->config);
		if (attr->config1)
			at += (size_t)snprintf(to + at, room - at, ",%#llx",
					       (unsigned long long)attr->config1);
		if (attr->sample_period)
			at += (size_t)snprintf(to + at, room - at, " period%llu",
					       (unsigned long long)attr->sample_period);
		if (event->unit)
			at += (size_t)snprintf(to + at, room - at, " %g%s", event->scale,
					       event->unit);
		if (event->per_pkg)
			at += (size_t)snprintf(to + at, room - at, " package");
		if (attr->exclude_user || attr->exclude_kernel)
			at += (size_t)snprintf(to + at, room - at, " %s",
					       attr->exclude_user ? "k" : "u");
		if (attr->precise_ip)
			at += (size_t)snprintf(to + at, room - at, " p%u", attr->precise_ip);
	}
}

struct names_case {
	const char *text, *wanted; /* or what the error says, behind "!" */
};

static void check(const struct names_case *cases, size_t count,
		  const struct tally_event_options *options)
{
	for (size_t i = 0; i < count; i++) {
		struct tally_event_list list = {0};
		struct tally_error error = {.text = ""};
		char got[1024] = "";
		int result = tally_event_list_parse(cases[i].text, options, &list, &error);

		if (*cases[i].wanted == '!') {
			if (!result || !strstr(error.text, cases[i].wanted + 1))
				fail_msg("%s: %d %s", cases[i].text, result, error.text);
			continue;
		}
		if (result)
			fail_msg("%s: %s", cases[i].text, error.text);
		describe(&list, got, sizeof(got));
		if (strcmp(got, cases[i].wanted))
			fail_msg("%s: %s, not %s", cases[i].text, got, cases[i].wanted);
		tally_event_list_done(&list);
	}
}

#define CHECK(cases, options) check(cases, sizeof(cases) / sizeof((cases)[0]), options)

static void vendor_names_are_events(void **state)
{
	static const struct names_case cases[] = {
	    /* event 0x24, umask 0x21, edge 18, of any case, alone and in slashes */
	    {"l2_rqsts.demand_data_rd_miss", "cpu 4:0x42124 period200003"},
	    {"L2_RQSTS.DEMAND_DATA_RD_MISS:u", "cpu 4:0x42124 period200003 u"},
	    {"cpu/L2_rqsts.demand_data_rd_miss/kp", "cpu 4:0x42124 period200003 k p1"},
	    {"l2_rqsts.demand_data_rd_miss/cmask=3/", "cpu 4:0x3042124 period200003"},
	    {"cpu/l2_rqsts.demand_data_rd_miss,period=7/", "cpu 4:0x42124 period7"},
	    /* any 21, inv 23, cmask 2; MSRValue is offcore_rsp */
	    {"offcore_response.read", "cpu 4:0x2a001b7,0x10001 period100003"},
	    {"mem_load.slow:ppp", "cpu 4:0x1cd,0x80 p3"},
	    {"inst_retired.any", "cpu 4:0xc0 period2000003"}, /* as the general counters count it */
	    {"old.name", "!event of cpu is at most 255"},
	    /* each PMU of its Unit, with its scale, once a package */
	    {"unc_m_cas.rd", "uncore_imc_0 20:0x701000000304,0x40033 64Bytes package | "
			     "uncore_imc_1 21:0x701000000304,0x40033 "
			     "64Bytes package"},
	    {"imc/unc_m_cas.rd/", "uncore_imc_0 20:0x701000000304,0x40033 64Bytes package | "
				  "uncore_imc_1 21:0x701000000304,0x40033 "
				  "64Bytes package"},
	    {"uncore_imc_1/unc_m_cas.rd/",
	     "uncore_imc_1 21:0x701000000304,0x40033 64Bytes package"},
	    {"shared",
	     "cpu 4:0x3 | uncore_cbox_0 25:0x1 | uncore_imc_0 20:0x2 | uncore_imc_1 21:0x2"},
	    {"{cs,unc_c_lookup}:u", "- 1:0x3 u | uncore_cbox_0 25:0x34 package u"},
	    /* what sysfs has keeps the terms of sysfs */
	    {"cpu/event=0x24,umask=1/", "cpu 4:0x124"},
	    {"both.have", "cpu 4:0x77"},
	    /* and what is wrong */
	    {"cpu/unc_m_cas.rd/", "!uncore_imc_0 has"},
	    {"l2_rqsts.demand_data_rd_mis", "!did you mean l2_rqsts.demand_data_rd_miss?"},
	    {"cpu/l2_rqsts.demand_data_rd_mis/", "!did you mean l2_rqsts.demand_data_rd_miss?"},
	    {"mem_load.slow/ldlat=0x10000/", "!at most 65535"},
	};
	struct tally_event_options options = toy_options();

	(void)state;
	CHECK(cases, &options);
	/* The same with tables that were read already. */
	assert_int_equal(tally_event_context_new(&options, &options.context), 0);
	CHECK(cases, &options);
	tally_event_context_free(options.context);
}

static void vendor_events_say_where_they_are_from(void **state)
{
	static const struct {
		const char *text;
		enum tally_event_origin origin;
	} cases[] = {
	    {"cycles", TALLY_ORIGIN_KERNEL},
	    {"r1a", TALLY_ORIGIN_KERNEL},
	    {"cpu/event=1/", TALLY_ORIGIN_SYSFS},
	    {"both.have", TALLY_ORIGIN_SYSFS},
	    {"mem_load.slow", TALLY_ORIGIN_TABLE},
	    {"cpu/mem_load.slow/", TALLY_ORIGIN_TABLE},
	    {"duration_time", TALLY_ORIGIN_TOOL},
	    {"MEM_LOAD:SLOW:c=1", TALLY_ORIGIN_PFM_TABLE},
	    {"pfm:mem_load:slow", TALLY_ORIGIN_PFM_TABLE},
	};
	struct tally_event_options options = toy_options();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list;

		assert_int_equal(tally_event_list_parse(cases[i].text, &options, &list, NULL), 0);
		assert_int_equal(list.events[0].origin, cases[i].origin);
		assert_string_equal(list.events[0].name, cases[i].text);
		if (cases[i].origin == TALLY_ORIGIN_TABLE)
			assert_string_equal(list.events[0].source, kernel);
		tally_event_list_done(&list);
	}
}

static void a_tables_period_is_weak_and_stat_takes_none(void **state)
{
	struct tally_event_options options = toy_options();
	struct tally_event_list list;

	(void)state;
	assert_int_equal(tally_event_list_parse("offcore_response.read,cpu/offcore_response.read,"
						"period=5/",
						&options, &list, NULL),
			 0);
	assert_true(list.events[0].terms.given & TALLY_TERM_WEAK);
	assert_false(list.events[1].terms.given & TALLY_TERM_WEAK);
	tally_event_list_done(&list);
	options.command = "stat";
	assert_int_equal(tally_event_list_parse("offcore_response.read", &options, &list, NULL), 0);
	assert_int_equal(list.events[0].attr.sample_period, 0);
	tally_event_list_done(&list);
}

static void each_kind_of_core_has_its_own(void **state)
{
	static const struct names_case cases[] = {
	    /* umask 8-15,40-47: UMaskExt 2 over UMask 1 */
	    {"mem.hit", "cpu_atom 10:0x1d2 | cpu_core 4:0x200000001d1 period1000003"},
	    {"cpu_core/mem.hit/", "cpu_core 4:0x200000001d1 period1000003"},
	    {"cpu_atom/mem.hit/u", "cpu_atom 10:0x1d2 u"},
	    {"unc_cha_tor", "!unc_cha_tor is an event of the PMU uncore_cha (table of "},
	};
	struct tally_event_options options = toy_options();

	(void)state;
	options.sysfs = hybrid.root;
	options.events = intel;
	options.cpuid = "GenuineIntel-6-97-2";
	CHECK(cases, &options);
}

static void arms_core_pmu_has_the_cpus_events_and_others_those_of_their_model(void **state)
{
	static const struct names_case cases[] = {
	    {"sw_incr", "armv8_pmuv3_0 8:0"},
	    {"armv8_pmuv3_0/sw_incr/", "armv8_pmuv3_0 8:0"},
	    {"ddr.cycles", "imx8_ddr0 9:0"}, /* imx8_ddr1 is another model */
	    {"imx8_ddr1/ddr.cycles/", "!imx8_ddr0 has"},
	    {"ddrc.reads", "hisi_sccl3_ddrc1 12:0x2"},
	};
	struct tally_event_options options = toy_options();

	(void)state;
	options.sysfs = arm.root;
	options.cpuid = "0x00000000410fd0c0";
	CHECK(cases, &options);
}

static void tables_that_are_named_must_be_there(void **state)
{
	static const struct names_case cases[] = {
	    {"cycles", "- 0:0"},
	    {"both.have", "cpu 4:0x77"},
	    {"mem_load.slow", "!no event tables for GenuineIntel-6-55-7 in /nonexistent: `tally "
			      "list --get-tables` prints the commands that fetch them"},
	};
	struct tally_event_options options = toy_options();

	(void)state;
	options.events = "/nonexistent";
	CHECK(cases, &options);
	setenv("PERF_CPUID", "GenuineIntel-6-5A-1", 1);
	options = toy_options();
	options.cpuid = NULL;
	CHECK(((const struct names_case[]){{"mem_load.slow", "cpu 4:0x1cd,0x80"}}), &options);
	unsetenv("PERF_CPUID");
}

/* EVENT:UMASK[:modifiers] over the vendor's table, with or without libpfm4. */
static void libpfm4s_language_over_a_vendor_table(void **state)
{
	static const struct names_case cases[] = {
	    {"MEM_LOAD:SLOW:c=1", "cpu 4:0x10001cd,0x80"},
	    {"mem_load.slow:c=010", "cpu 4:0x80001cd,0x80"}, /* octal, as libpfm4 reads it */
	    {"MEM_LOAD:SLOW:u:i", "cpu 4:0x8001cd,0x80 u"},
	    {"MEM_LOAD:k:SLOW:e:precise=2", "cpu 4:0x401cd,0x80 k p2"},
	    {"pfm:MEM_LOAD:SLOW:period=9", "cpu 4:0x1cd,0x80 period9"},
	    {"INST_RETIRED:ANY:i:period=9", "cpu 4:0x8000c0 period9"}, /* before the table's */
	    {"{cs,MEM_LOAD:SLOW:i=1}:u", "- 1:0x3 u | cpu 4:0x8001cd,0x80 u"},
	    {"MEM_LOAD:SLOW:nonsense=1", "!"},
	    {"perf:MEM_LOAD:SLOW:c=1", "!"},
	    {"perf:mem_load.slow", "cpu 4:0x1cd,0x80"},
	};
	struct tally_event_options options = toy_options();

	(void)state;
	CHECK(cases, &options);
}

static void libpfm4s_own_tables(void **state)
{
	static const struct names_case cases[] = {
	    {"skl::INST_RETIRED:ANY_P:u", "cpu 4:0xc0 u"},
	    {"skl::INST_RETIRED:ANY_P:c=1,cs", "cpu 4:0x10000c0 | - 1:0x3"},
	    {"pfm:skl::INST_RETIRED:ANY_P", "cpu 4:0xc0"},
	    {"perf::CYCLES:k", "- 0:0 k"},
	    {"skl::INST_RETIRED:NOPE", "!(PFM_ERR_ATTR)"},
	    {"skl::NOPE", "!(PFM_ERR_NOTFOUND)"},
	    {"nopmu::NOPE", "!(PFM_ERR_NOTFOUND)"},
	    /* other spellings of the kernel's own are a slip */
	    {"CYCLES", "!did you mean cycles?"},
	    /* this machine's PMUs are not those of the CPU that was asked for */
	    {"pfm:NOPE:ANY", "!give the PMU"},
	    {"NOPE:ANY", "!give the PMU"},
	    {"CYCELS:u", "!did you mean cycles?"},
	};
	struct tally_event_options options = toy_options();
	struct tally_pfm *pfm;

	(void)state;
	if (tally_pfm_open(NULL, &pfm, NULL)) {
		print_message("skipped: libpfm4 is not installed\n");
		skip();
	}
	tally_pfm_close(pfm);
	options.cpuid = "GenuineIntel-6-5A-99";
	CHECK(cases, &options);
	/* A PMU by name; its table goes before the vendor's. */
	options = toy_options();
	options.pmu = "icl";
	CHECK(((const struct names_case[]){{"INST_RETIRED:ANY:u", "cpu 4:0x100 u"},
					   {"inst_retired.any", "cpu 4:0xc0 period2000003"}}),
	      &options);
	options.pfm_strict = true;
	CHECK(
	    ((const struct names_case[]){{"inst_retired.any", "cpu 4:0x100"},
					 {"perf:inst_retired.any", "cpu 4:0xc0 period2000003"},
					 {"mem_load.slow", "cpu 4:0x1cd,0x80"}, /* not libpfm4's */
					 {"cycles:u", "- 0:0 u"}}),
	    &options);
}

/* Random attrs of the machine's PMUs: each string gives the attr that it is of. */
static void attrs_come_back(const struct tally_event_options *options, const uint32_t *types,
			    size_t type_count, const uint64_t *configs, size_t config_count)
{
	uint64_t seed = 88172645463325252ull;

	for (int i = 0; i < 20000; i++) {
		struct tally_attr attr = {0};
		struct tally_event_list list;
		char name[300];

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		attr.type = types[seed % type_count];
		attr.config = seed >> 8 & 1 ? configs[(seed >> 9) % config_count] : seed >> 40;
		if (attr.type == PERF_TYPE_TRACEPOINT || attr.type < 2)
			attr.config &= 0xf;
		if (seed >> 20 & 1)
			attr.config1 = seed >> 21 & 0x80;
		if ((seed >> 22 & 7) == 1)
			attr.config2 = seed;
		if ((seed >> 25 & 7) == 1)
			attr.config3 = seed;
		if ((seed >> 28 & 3) == 1)
			attr.sample_period = seed >> 30 & 1 ? 2000003 : seed >> 40;
		attr.freq = attr.sample_period && seed >> 31 & 1;
		attr.exclude_user = seed >> 32 & 1;
		attr.exclude_kernel = !attr.exclude_user && seed >> 33 & 1;
		attr.exclude_hv = seed >> 34 & 1;
		attr.exclude_guest = seed >> 35 & 1;
		attr.exclude_host = !attr.exclude_guest && seed >> 36 & 1;
		attr.precise_ip = seed >> 37 & 3;
		attr.exclude_idle = seed >> 39 & 1;
		attr.pinned = seed >> 40 & 1;
		attr.exclusive = seed >> 41 & 1;
		assert_in_range(tally_event_format(&attr, options, name, sizeof(name)), 1,
				sizeof(name) - 1);
		if (tally_event_list_parse(name, options, &list, NULL))
			fail_msg("%s is no event", name);
		if (list.count != 1 || memcmp(&list.events[0].attr, &attr, sizeof(attr)))
			fail_msg("%s is another event", name);
		tally_event_list_done(&list);
	}
}

static void attrs_of_pmus_come_back(void **state)
{
	static const uint32_t types[] = {0, 1, 2, 3, 4, 6, 20, 21, 25};
	static const uint32_t kinds[] = {1, 10, 4};
	static const uint64_t configs[] = {0x42124, 0x1cd,          0xc0, 0x77,
					   0x304,   0x701000000304, 0x34, 0x1b7};
	struct tally_event_options options = toy_options();

	(void)state;
	assert_int_equal(tally_event_context_new(&options, &options.context), 0);
	attrs_come_back(&options, types, sizeof(types) / sizeof(types[0]), configs, 8);
	tally_event_context_free(options.context);
	options = toy_options();
	options.sysfs = hybrid.root;
	options.events = intel;
	options.cpuid = "GenuineIntel-6-97-2";
	assert_int_equal(tally_event_context_new(&options, &options.context), 0);
	attrs_come_back(&options, kinds, 3, configs, 8);
	tally_event_context_free(options.context);
}

static void attrs_have_their_shortest_name(void **state)
{
	static const struct {
		const char *text, *formatted;
	} cases[] = {
	    {"4:0x77:u", "both.have:u"}, /* of sysfs */
	    {"cpu/l2_rqsts.demand_data_rd_miss/pp", "l2_rqsts.demand_data_rd_miss:pp"},
	    {"mem_load.slow/freq=7/", "mem_load.slow/freq=7/"},
	    {"4:0xc0", "cpu/inst_retired.any,period=0/"}, /* not with the table's own */
	    {"cpu/event=0xc0,period=9/k", "cpu/inst_retired.any,period=9/k"},
	    {"uncore_imc_1/unc_m_cas.rd/", "uncore_imc_1/unc_m_cas.rd/"}, /* bare it is both's */
	    {"25:0x34", "unc_c_lookup"},
	    {"25:0x34:H", "unc_c_lookup:H"},
	    {"21:0x8", "uncore_imc_1/config=0x8/"},
	    {"cpu/event=5,umask=3,ldlat=4/u", "r305/config1=0x4/u"},
	    {"cpu/config=0x1234/", "r1234"},
	    {"cycles:u", "cycles:u"},
	    {"99:0x5", "99:0x5"}, /* of no PMU */
	};
	struct tally_event_options options = toy_options();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list;
		char name[100];

		assert_int_equal(tally_event_list_parse(cases[i].text, &options, &list, NULL), 0);
		tally_event_format(&list.events[0].attr, &options, name, sizeof(name));
		assert_string_equal(name, cases[i].formatted);
		tally_event_list_done(&list);
	}
}

struct made_file {
	const char *path, *text;
};

static int make(struct made_sysfs *sysfs, const struct made_file *files, size_t count)
{
	int result = made_sysfs_init(sysfs);

	for (size_t i = 0; i < count && !result; i++)
		result = made_sysfs_file(sysfs, files[i].path, files[i].text);
	return result;
}

static int set_up(void **state)
{
	static const struct made_file of_server[] = {
	    {"cpu/type", "4"},
	    {"cpu/format/event", "config:0-7"},
	    {"cpu/format/umask", "config:8-15"},
	    {"cpu/format/edge", "config:18"},
	    {"cpu/format/any", "config:21"},
	    {"cpu/format/inv", "config:23"},
	    {"cpu/format/cmask", "config:24-31"},
	    {"cpu/format/offcore_rsp", "config1:0-63"},
	    {"cpu/format/ldlat", "config1:0-15"},
	    {"cpu/events/both.have", "event=0x77"},
	    {"uncore_imc_0/type", "20"},
	    {"uncore_imc_0/cpumask", "0"},
	    {"uncore_imc_0/format/event", "config:0-7"},
	    {"uncore_imc_0/format/umask", "config:8-15"},
	    {"uncore_imc_0/format/ch_mask", "config:36-43"},
	    {"uncore_imc_0/format/fc_mask", "config:44-46"},
	    {"uncore_imc_1/type", "21"},
	    {"uncore_imc_1/cpumask", "0"},
	    {"uncore_imc_1/format/event", "config:0-7"},
	    {"uncore_imc_1/format/umask", "config:8-15"},
	    {"uncore_imc_1/format/ch_mask", "config:36-43"},
	    {"uncore_imc_1/format/fc_mask", "config:44-46"},
	    {"uncore_cbox_0/type", "25"},
	    {"uncore_cbox_0/cpumask", "0"},
	    {"uncore_cbox_0/format/event", "config:0-7"},
	};
	static const struct made_file of_hybrid[] = {
	    {"cpu_core/type", "4"},
	    {"cpu_core/cpus", "0-3"},
	    {"cpu_core/format/event", "config:0-7"},
	    {"cpu_core/format/umask", "config:8-15,40-47"},
	    {"cpu_atom/type", "10"},
	    {"cpu_atom/cpus", "4-7"},
	    {"cpu_atom/format/event", "config:0-7"},
	    {"cpu_atom/format/umask", "config:8-15"},
	};
	static const struct made_file of_arm[] = {
	    {"armv8_pmuv3_0/type", "8"},
	    {"armv8_pmuv3_0/cpus", "0-3"},
	    {"armv8_pmuv3_0/format/event", "config:0-15"},
	    {"imx8_ddr0/type", "9"},
	    {"imx8_ddr0/cpumask", "0"},
	    {"imx8_ddr0/identifier", "i.MX8MM"},
	    {"imx8_ddr0/format/event", "config:0-7"},
	    {"imx8_ddr1/type", "11"},
	    {"imx8_ddr1/cpumask", "0"},
	    {"imx8_ddr1/identifier", "i.MX8QM"},
	    {"imx8_ddr1/format/event", "config:0-7"},
	    {"hisi_sccl3_ddrc1/type", "12"},
	    {"hisi_sccl3_ddrc1/identifier", "0x30"},
	    {"hisi_sccl3_ddrc1/cpumask", "0"},
	    {"hisi_sccl3_ddrc1/format/event", "config:0-7"},
	};

	(void)state;
#define MAKE(sysfs, files) make(sysfs, files, sizeof(files) / sizeof((files)[0]))
	return MAKE(&server, of_server) || MAKE(&hybrid, of_hybrid) || MAKE(&arm, of_arm);
}

static int tear_down(void **state)
{
	(void)state;
	made_sysfs_done(&server);
	made_sysfs_done(&hybrid);
	made_sysfs_done(&arm);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(vendor_names_are_events),
	    cmocka_unit_test(vendor_events_say_where_they_are_from),
	    cmocka_unit_test(a_tables_period_is_weak_and_stat_takes_none),
	    cmocka_unit_test(each_kind_of_core_has_its_own),
	    cmocka_unit_test(arms_core_pmu_has_the_cpus_events_and_others_those_of_their_model),
	    cmocka_unit_test(tables_that_are_named_must_be_there),
	    cmocka_unit_test(libpfm4s_language_over_a_vendor_table),
	    cmocka_unit_test(libpfm4s_own_tables),
	    cmocka_unit_test(attrs_of_pmus_come_back),
	    cmocka_unit_test(attrs_have_their_shortest_name),
	};

	if (argc < 2)
		return 2;
	snprintf(kernel, sizeof(kernel), "%s/../vendor/tables/kernel", argv[1]);
	snprintf(intel, sizeof(intel), "%s/../vendor/tables/intel", argv[1]);
	unsetenv("PERF_CPUID");
	unsetenv("TALLY_EVENTS");
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
