/* libpfm4's language: our own cases, each reasoned out from the tables or from the manual pages of
 * perf_event_open(2) and libpfm4; skipped where libpfm4 is not installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <tally/pfm.h>
#include "pfm/pfm_encode.h"
#if __has_include(<perfmon/pfmlib_perf_event.h>)
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#define HAVE_PFM_HEADERS 1
#endif

#define EXT  TALLY_PFM_OS_PERF_EVENT_EXT
#define BOTH (TALLY_PFM_PLM0 | TALLY_PFM_PLM3)

static struct tally_pfm *open_with(const char *sysfs, const char *pmu)
{
	struct tally_pfm_options options = {
	    .size = sizeof(options), .sysfs = sysfs, .pmu = pmu, .cpuid = "GenuineIntel-6-55-7"};
	struct tally_error error = {0};
	struct tally_pfm *pfm;
	int code = tally_pfm_open(&options, &pfm, &error);

	if (code == TALLY_PFM_NOINIT) {
		assert_string_equal(error.text, "libpfm4 is not installed: apt install libpfm4");
		assert_int_equal(error.code, -ENOENT);
		skip();
	}
	assert_int_equal(code, 0);
	return pfm;
}

/* Event code 0xc0, unit masks, counter mask 24..31, edge 18, inverted 23, any thread 21: Intel SDM
 * volume 3, "Layout of IA32_PERFEVTSELx"; AMD: PerfEvtSel, event 7:0 and 35:32. */
static void attrs(void **state)
{
	static const struct {
		const char *text;
		int plm;
		uint64_t config, config1;
		bool user, kernel, hv, host, guest;
		unsigned precise;
	} cases[] = {
	    {"clx::INST_RETIRED:ANY_P", BOTH, 0xc0, 0, 0, 0, 0, 0, 1, 0},
	    {"CLX::inst_retired.any_p", BOTH, 0xc0, 0, 0, 0, 0, 0, 1, 0},
	    {"clx::INST_RETIRED:ANY_P", TALLY_PFM_PLM3, 0xc0, 0, 0, 1, 0, 0, 1, 0},
	    {"clx::INST_RETIRED:ANY_P", TALLY_PFM_PLM0, 0xc0, 0, 1, 0, 0, 0, 1, 0},
	    {"clx::INST_RETIRED:ANY_P", 0, 0xc0, 0, 1, 1, 0, 0, 1, 0},
	    {"clx::INST_RETIRED:ANY_P:u", BOTH, 0xc0, 0, 0, 1, 0, 0, 1, 0},
	    {"clx::INST_RETIRED:ANY_P:u=0", BOTH, 0xc0, 0, 1, 1, 0, 0, 1, 0},
	    {"clx::INST_RETIRED:u:ANY_P:c=010:i", BOTH, 0x88000c0, 0, 0, 1, 0, 0, 1, 0},
	    {"clx::INST_RETIRED:ANY_P:mg", BOTH, 0xc0, 0, 0, 0, 0, 1, 0, 0},
	    {"clx::INST_RETIRED:ANY_P:mg:mh", BOTH, 0xc0, 0, 0, 0, 0, 0, 0, 0},
	    {"clx::INST_RETIRED:ANY_P:e=t:c=1:e=1", BOTH, 0x10400c0, 0, 0, 0, 0, 0, 1, 0},
	    {"clx::INST_RETIRED:0x1", BOTH, 0x1c0, 0, 0, 0, 0, 0, 1, 0},
	    {"clx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=50:precise=2", BOTH, 0x1cd, 50, 0, 0, 0, 0,
	     1, 2},
	    {"amd64_fam19h_zen3::RETIRED_INSTRUCTIONS", BOTH, 0xc0, 0, 0, 0, 1, 0, 1, 0},
	    {"amd64_fam19h_zen3::RETIRED_INSTRUCTIONS:h", BOTH, 0xc0, 0, 1, 1, 0, 0, 1, 0},
	};
	struct tally_pfm *pfm = open_with(NULL, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_pfm_event event = {.size = sizeof(event)};
		struct tally_error error = {0};

		print_message("%s\n", cases[i].text);
		if (tally_pfm_encode(pfm, cases[i].text, cases[i].plm, EXT, &event, &error))
			fail_msg("%s", error.text);
		assert_int_equal(event.attr.type, PERF_TYPE_RAW);
		assert_int_equal(event.attr.config, cases[i].config);
		assert_int_equal(event.attr.config1, cases[i].config1);
		assert_int_equal(event.attr.exclude_user, cases[i].user);
		assert_int_equal(event.attr.exclude_kernel, cases[i].kernel);
		assert_int_equal(event.attr.exclude_hv, cases[i].hv);
		assert_int_equal(event.attr.exclude_host, cases[i].host);
		assert_int_equal(event.attr.exclude_guest, cases[i].guest);
		assert_int_equal(event.attr.precise_ip, cases[i].precise);
		assert_int_equal(event.cpu, -1);
		tally_pfm_event_done(&event);
	}
	tally_pfm_close(pfm);
}

static void full_name_encodes_to_the_same(void **state)
{
	static const char *const texts[] = {
	    "clx::INST_RETIRED:ANY_P:u:c=2",
	    "skl::L2_RQSTS:MISS:k",
	    "amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:e=1",
	    "perf::cycles:u",
	};
	struct tally_pfm *pfm = open_with(NULL, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tally_pfm_event first = {.size = sizeof(first)}, second = first;

		assert_int_equal(tally_pfm_encode(pfm, texts[i], BOTH, EXT, &first, NULL), 0);
		assert_int_equal(tally_pfm_encode(pfm, first.name, 0, EXT, &second, NULL), 0);
		/* mh=1 and mg=0 are both written, and each counts as given whatever its value */
		second.attr.exclude_guest = first.attr.exclude_guest;
		assert_memory_equal(&first.attr, &second.attr, sizeof(first.attr));
		assert_int_equal(first.idx, second.idx);
		tally_pfm_event_done(&first);
		tally_pfm_event_done(&second);
	}
	tally_pfm_close(pfm);
}

static void registers_for_no_os(void **state)
{
	struct tally_pfm *pfm = open_with(NULL, NULL);
	struct tally_pfm_event event = {.size = sizeof(event)};

	(void)state;
	/* USR 16, OS 17, INT 20, EN 22 */
	assert_int_equal(
	    tally_pfm_encode(pfm, "clx::INST_RETIRED:ANY_P", BOTH, TALLY_PFM_OS_NONE, &event, NULL),
	    0);
	assert_int_equal(event.code_count, 1);
	assert_int_equal(event.codes[0], 0x5300c0);
	tally_pfm_event_done(&event);
	tally_pfm_close(pfm);
}

/* The code of each mistake, its column, and a word of the message. */
static void mistakes(void **state)
{
	static const struct {
		const char *text;
		int code;
		int column;
		const char *text_part;
	} cases[] = {
	    {"clx::INST_RETIRED:ANY_P,perf::cycles", TALLY_PFM_INVAL, 23, "one event"},
	    {"clx::INST_RETIRED ", TALLY_PFM_INVAL, 17, "one event"},
	    {"clxx::INST_RETIRED", TALLY_PFM_NOTFOUND, 0, "did you mean clx?"},
	    {"clx::INST_RETIRD", TALLY_PFM_NOTFOUND, 5, "did you mean INST_RETIRED?"},
	    {"clx::ITLB_MISSES", TALLY_PFM_UMASK, 5, "WALK_COMPLETED"},
	    {"clx::L2_RQSTS:MISS:e", TALLY_PFM_ATTR, 19, "c=1"},
	    {"clx::L2_RQSTS:MISSS", TALLY_PFM_ATTR, 14, "did you mean MISS?"},
	    {"clx::L2_RQSTS:MISS:", TALLY_PFM_ATTR, 19, "expected a unit mask"},
	    {"clx::L2_RQSTS:MISS:0x1", TALLY_PFM_ATTR, 19, "number"},
	    {"clx::L2_RQSTS:MISS:c", TALLY_PFM_ATTR_VAL, 19, "expected a number"},
	    {"clx::L2_RQSTS:MISS:c=x", TALLY_PFM_ATTR_VAL, 19, "expected a number"},
	    {"clx::L2_RQSTS:MISS:c=256", TALLY_PFM_ATTR_VAL, 19, "out of range"},
	    {"clx::L2_RQSTS:MISS:u=2", TALLY_PFM_ATTR_VAL, 19, "expected y"},
	    {"clx::L2_RQSTS:MISS:period=0", TALLY_PFM_ATTR_VAL, 19, "more than 0"},
	    {"clx::L2_RQSTS:MISS:period=5:freq=5", TALLY_PFM_ATTR_VAL, 28, "exclude each other"},
	    {"clx::INST_RETIRED:PREC_DIST:precise=4", TALLY_PFM_ATTR_VAL, 28, "0 to 3"},
	    {"clx::L2_RQSTS:MISS:u=1:u=0", TALLY_PFM_ATTR_SET, 23, "twice"},
	    {"clx::L2_RQSTS:MISS:precise=1", TALLY_PFM_ATTR, 19, "precise"},
	    {"perf::CYCLES:h", TALLY_PFM_ATTR, 13, "modifier"},
	    {"skx_unc_cha0::UNC_C_CLOCKTICKS", TALLY_PFM_NOTSUPP, -1, "uncore_cha_0"},
	    {"skx_unc_cha0::UNC_C_CLOCKTICKS:u", TALLY_PFM_ATTR, 31, "modifier"},
	    {"skx_unc_cha0::UNC_C_CLOCKTICKS:excl:excl=0", TALLY_PFM_ATTR_SET, 36, "twice"},
	};
	struct tally_pfm *pfm = open_with("/nonexistent", NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_pfm_event event = {.size = sizeof(event), .idx = 77};
		struct tally_error error = {0};
		int code = tally_pfm_encode(pfm, cases[i].text, BOTH, EXT, &event, &error);

		print_message("%s: %s\n", cases[i].text, error.text);
		assert_int_equal(code, cases[i].code);
		assert_int_equal(error.position, cases[i].column);
		assert_non_null(strstr(error.text, cases[i].text_part));
		assert_true(error.code < 0);
		assert_int_equal(event.idx, 77); /* untouched */
	}
	tally_pfm_close(pfm);
}

static void arguments_are_checked(void **state)
{
	struct tally_pfm *pfm = open_with(NULL, NULL);
	struct tally_pfm_event event = {.size = sizeof(event)};

	(void)state;
	assert_int_equal(tally_pfm_encode(pfm, NULL, BOTH, EXT, &event, NULL), TALLY_PFM_INVAL);
	assert_int_equal(tally_pfm_encode(pfm, "perf::cycles", 0x20, EXT, &event, NULL),
			 TALLY_PFM_INVAL);
	assert_int_equal(tally_pfm_encode(pfm, "", BOTH, EXT, &event, NULL), TALLY_PFM_NOTFOUND);
	assert_int_equal(tally_pfm_encode(pfm, "::", BOTH, EXT, &event, NULL), TALLY_PFM_NOTFOUND);
	tally_pfm_close(pfm);
}

static void pmu_for_strings_without(void **state)
{
	struct tally_pfm *pfm = open_with(NULL, "clx");
	struct tally_pfm_event event = {.size = sizeof(event)};
	struct tally_error error = {0};

	(void)state;
	assert_int_equal(tally_pfm_encode(pfm, "L2_RQSTS:MISS", BOTH, EXT, &event, NULL), 0);
	assert_memory_equal(event.name, "clx::", 5);
	tally_pfm_event_done(&event);
	assert_int_equal(tally_pfm_encode(pfm, "skl::L2_RQSTS:MISS", BOTH, EXT, &event, NULL), 0);
	tally_pfm_event_done(&event);
	assert_int_equal(tally_pfm_encode(pfm, "L2_RQSTS:MISSS", BOTH, EXT, &event, &error),
			 TALLY_PFM_ATTR);
	assert_int_equal(error.position, 9); /* in what the person wrote */
	tally_pfm_close(pfm);
}

static void names_of_uncore_pmus(void **state)
{
	static const struct {
		const char *pfm, *perf;
	} cases[] = {
	    {"bdx_unc_cbo3", "uncore_cbox_3"},
	    {"hswep_unc_sbo1", "uncore_sbox_1"},
	    {"snbep_unc_ubo", "uncore_ubox"},
	    {"skx_unc_m2m1", "uncore_m2m_1"},
	    {"skx_unc_m3upi2", "uncore_m3upi_2"},
	    {"snbep_unc_r2pcie", "uncore_r2pcie"},
	    {"ivbep_unc_r3qpi1", "uncore_r3qpi_1"},
	    {"knl_unc_imc_uclk1", "uncore_mc_uclk_1"},
	    {"knl_unc_edc_eclk7", "uncore_edc_eclk_7"},
	    {"knl_unc_cha37", "uncore_cha_37"},
	    {"nhm_unc", "uncore"},
	    {"rapl", "power"},
	    {"amd64_fam15h_nb", "amd_nb"},
	};
	char name[64], small[8];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(tally_pfm_perf_name(cases[i].pfm, name, sizeof(name)), 0);
		assert_string_equal(name, cases[i].perf);
	}
	assert_int_equal(tally_pfm_perf_name("clx", name, sizeof(name)), -1);
	assert_int_equal(tally_pfm_perf_name("bdx_unc_cbo3", small, sizeof(small)), -1);
}

/* Where the manual page and the library differ, the library is followed. */
static void as_the_library(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .wakeup_events = 5};
	char *name = NULL;
	int idx = -1;
	int code = tally_pfm_get_perf_event_encoding("perf::cycles", BOTH, &attr, &name, &idx);

	(void)state;
	if (code == TALLY_PFM_NOINIT)
		skip();
	assert_int_equal(code, 0);
	assert_memory_equal(name, "perf::PERF_COUNT_HW_CPU_CYCLES:", 31);
	free(name);
	assert_true(idx >= 0);
	assert_int_equal(attr.exclude_kernel, 0);
	assert_int_equal(attr.exclude_guest, 1);
	assert_int_equal(attr.wakeup_events, 5);
	assert_int_equal(attr.size, sizeof(attr));

	assert_int_equal(
	    tally_pfm_get_perf_event_encoding("perf::cycles", TALLY_PFM_PLM3, &attr, NULL, NULL),
	    0);
	assert_int_equal(attr.exclude_kernel, 1);
	assert_int_equal(tally_pfm_get_perf_event_encoding("perf::cycles", 0, &attr, NULL, NULL),
			 0);
	assert_true(attr.exclude_kernel && attr.exclude_user);
	assert_int_equal(
	    tally_pfm_get_perf_event_encoding("perf::cycles,cs", BOTH, &attr, NULL, NULL),
	    TALLY_PFM_INVAL);
	assert_int_equal(tally_pfm_get_perf_event_encoding("perf::cycles", 32, &attr, NULL, NULL),
			 TALLY_PFM_INVAL);
	assert_int_equal(tally_pfm_get_perf_event_encoding("perf::cycles", BOTH, NULL, NULL, NULL),
			 TALLY_PFM_INVAL);
	assert_int_equal(tally_pfm_get_perf_event_encoding(NULL, BOTH, &attr, NULL, NULL),
			 TALLY_PFM_INVAL);
}

static void another_machines_pmu_is_not_found(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	struct tally_pfm *pfm = open_with(NULL, NULL);

	(void)state;
	/* whatever was opened before; no machine is a Pentium 4 any more */
	assert_int_equal(unsetenv("LIBPFM_ENCODE_INACTIVE"), 0);
	assert_int_equal(tally_pfm_get_perf_event_encoding(
			     "netburst::MISPRED_BRANCH_RETIRED:NBOGUS", BOTH, &attr, NULL, NULL),
			 TALLY_PFM_NOTFOUND);
	tally_pfm_close(pfm);
}

static void size_rule(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	struct {
		struct tally_pfm_perf_encode_arg arg;
		char more[8];
	} longer = {.arg = {.attr = &attr}};

	(void)state;
	if (tally_pfm_get_os_event_encoding("perf::cycles", BOTH, EXT, &longer.arg) ==
	    TALLY_PFM_NOINIT)
		skip();
	assert_int_equal(longer.arg.cpu, -1);
	assert_int_equal(longer.arg.size, 0);
	longer.arg.size = 39;
	assert_int_equal(tally_pfm_get_os_event_encoding("perf::cycles", BOTH, EXT, &longer.arg),
			 TALLY_PFM_INVAL);
	longer.arg.size = sizeof(longer);
	assert_int_equal(tally_pfm_get_os_event_encoding("perf::cycles", BOTH, EXT, &longer.arg),
			 0);
	longer.more[7] = 1;
	assert_int_equal(tally_pfm_get_os_event_encoding("perf::cycles", BOTH, EXT, &longer.arg),
			 TALLY_PFM_INVAL);
	assert_int_equal(tally_pfm_get_os_event_encoding("perf::cycles", BOTH, 3, &longer.arg),
			 TALLY_PFM_NOTSUPP);
	assert_int_equal(tally_pfm_get_os_event_encoding("perf::cycles", BOTH, EXT, NULL),
			 TALLY_PFM_INVAL);
}

static void codes_and_their_room(void **state)
{
	uint64_t one[1];
	char *name = NULL;
	struct tally_pfm_pmu_encode_arg arg = {.fstr = &name, .size = sizeof(arg)};
	int code = tally_pfm_get_os_event_encoding("perf::cycles", BOTH, TALLY_PFM_OS_NONE, &arg);

	(void)state;
	if (code == TALLY_PFM_NOINIT)
		skip();
	assert_int_equal(code, 0);
	assert_int_equal(arg.count, 1);
	assert_int_equal(arg.codes[0], 0);
	assert_non_null(name);
	free(arg.codes);
	free(name);

	name = NULL;
	arg.codes = one;
	arg.count = 0;
	assert_int_equal(
	    tally_pfm_get_os_event_encoding("perf::cycles", BOTH, TALLY_PFM_OS_NONE, &arg),
	    TALLY_PFM_TOOSMALL);
	assert_null(name);
	arg.size = 31;
	assert_int_equal(
	    tally_pfm_get_os_event_encoding("perf::cycles", BOTH, TALLY_PFM_OS_NONE, &arg),
	    TALLY_PFM_INVAL);
}

static void layouts(void **state)
{
	(void)state;
#ifdef HAVE_PFM_HEADERS
#define SAME(ours, member, theirs, name) \
	assert_int_equal(offsetof(struct ours, member), offsetof(theirs, name))
	assert_int_equal(sizeof(struct tally_pfm_pmu_info), sizeof(pfm_pmu_info_t));
	SAME(tally_pfm_pmu_info, id, pfm_pmu_info_t, pmu);
	SAME(tally_pfm_pmu_info, first_event, pfm_pmu_info_t, first_event);
	SAME(tally_pfm_pmu_info, fixed_counters, pfm_pmu_info_t, num_fixed_cntrs);
	assert_int_equal(sizeof(struct tally_pfm_event_info), sizeof(pfm_event_info_t));
	SAME(tally_pfm_event_info, idx, pfm_event_info_t, idx);
	SAME(tally_pfm_event_info, attr_count, pfm_event_info_t, nattrs);
	assert_int_equal(sizeof(struct tally_pfm_attr_info), sizeof(pfm_event_attr_info_t));
	SAME(tally_pfm_attr_info, type, pfm_event_attr_info_t, type);
	SAME(tally_pfm_attr_info, ctrl, pfm_event_attr_info_t, ctrl);
	SAME(tally_pfm_attr_info, default_value, pfm_event_attr_info_t, dfl_val64);
	assert_int_equal(sizeof(struct tally_pfm_perf_encode_arg), sizeof(pfm_perf_encode_arg_t));
	SAME(tally_pfm_perf_encode_arg, cpu, pfm_perf_encode_arg_t, cpu);
	assert_int_equal(sizeof(struct tally_pfm_pmu_encode_arg), sizeof(pfm_pmu_encode_arg_t));
	SAME(tally_pfm_pmu_encode_arg, idx, pfm_pmu_encode_arg_t, idx);
#undef SAME
	assert_int_equal(PFM_CTRL_PERF_EVENT, PFM_ATTR_CTRL_PERF_EVENT);
	assert_int_equal(PFM_ATTR_IS_INTEGER, PFM_ATTR_MOD_INTEGER);
	assert_int_equal(PFM_TYPE_UNCORE, PFM_PMU_TYPE_UNCORE);
	assert_int_equal(TALLY_PFM_TOOSMALL, PFM_ERR_TOOSMALL);
	assert_int_equal(TALLY_PFM_OS_PERF_EVENT_EXT, PFM_OS_PERF_EVENT_EXT);
	assert_int_equal(TALLY_PFM_PLMH, PFM_PLMH);
	assert_true(PFM_PMU_IDS > PFM_PMU_MAX);
#else
	print_message("skipped: libpfm4-dev is not installed\n");
	skip();
#endif
}

static void codes_have_texts(void **state)
{
	(void)state;
	assert_string_equal(tally_pfm_strerror(TALLY_PFM_UMASK), "invalid or missing unit mask");
	assert_string_equal(tally_pfm_strerror(TALLY_PFM_TOOSMALL), "parameter is too small");
	assert_string_equal(tally_pfm_strerror(-13), "unknown error code");
	assert_string_equal(tally_pfm_strerror(1), "unknown error code");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(attrs),
	    cmocka_unit_test(full_name_encodes_to_the_same),
	    cmocka_unit_test(registers_for_no_os),
	    cmocka_unit_test(mistakes),
	    cmocka_unit_test(arguments_are_checked),
	    cmocka_unit_test(pmu_for_strings_without),
	    cmocka_unit_test(names_of_uncore_pmus),
	    cmocka_unit_test(as_the_library),
	    cmocka_unit_test(another_machines_pmu_is_not_found),
	    cmocka_unit_test(size_rule),
	    cmocka_unit_test(codes_and_their_room),
	    cmocka_unit_test(layouts),
	    cmocka_unit_test(codes_have_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
