/* What is said of a trace: made-up machines that are those of real recordings give the bytes that
 * these recordings have, and the documented words where there is no recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <tally/abi.h>
#include <tally/data.h>
#include "made_up_pmu.h"
#include "aux/aux_records.h"
#include "aux/cs_etm.h"
#include "base/bytes.h"

#define PT_FILE  "google+perf_data_converter__src__quipper__testdata__perf.data.intel_pt-4.14"
#define ETM_FILE "GrapheneOS+platform_system_extras__simpleperf__testdata__etm__perf_kernel.data"
#define ETE_FILE                                                         \
	"GrapheneOS+platform_system_extras__simpleperf__testdata__etm__" \
	"perf_with_unformatted_trace.data"
#define MIXED_FILE                                                       \
	"GrapheneOS+platform_system_extras__simpleperf__testdata__etm__" \
	"perf_with_missing_aux_data.data"

/* The AUXTRACE_INFO record of a recording of the corpus, and the attr of its first event. */
static struct tally_data *open_corpus(const char *name, struct tally_record *ret)
{
	const char *corpus = getenv("TALLY_CORPUS");
	struct tally_data *data = NULL;
	struct tally_error error;
	struct tally_block block;
	char path[1024];

	if (!corpus) {
		print_message("skipped: TALLY_CORPUS names no corpus of recordings; the other "
			      "tests have the documented words\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/files/%s", corpus, name);
	if (tally_data_open(path, NULL, &data, &error))
		fail_msg("%s", error.text);
	while (tally_data_next(data, &block, &error) == 1)
		for (size_t at = 0; tally_block_record(&block, at, ret);
		     at += tally_record_extent(ret))
			if (ret->type == PERF_RECORD_AUXTRACE_INFO)
				return data;
	fail_msg("%s has no AUXTRACE_INFO", name);
	return NULL;
}

static struct tally_aux_plan plan_of(const char *root, const char *pmu, struct tally_attr *attr)
{
	struct tally_aux_plan plan = {.root = root, .per_cpu = true};

	plan.kind = tally_aux_kind_find(pmu, attr);
	assert_non_null(plan.kind);
	snprintf(plan.pmu, sizeof(plan.pmu), "%s", pmu);
	return plan;
}

static void check_info(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		       const struct tally_record_time_conv *conv, const struct tally_record *record)
{
	struct tally_buf buf = {0};

	assert_int_equal(tally_aux_add_info(plan, attr, NULL, conv, &buf), 0);
	assert_int_equal(buf.size, record->size);
	assert_memory_equal(buf.data, record->bytes, buf.size);
	tally_buf_done(&buf);
}

static void make_intel_pt(const char *root)
{
	pmu_file(root, "intel_pt", "type", "6\n");
	pmu_file(root, "intel_pt", "format/tsc", "config:10\n");
	pmu_file(root, "intel_pt", "format/noretcomp", "config:11\n");
	pmu_file(root, "intel_pt", "format/mtc", "config:9\n");
	pmu_file(root, "intel_pt", "format/mtc_period", "config:14-17\n");
	pmu_file(root, "intel_pt", "format/cyc", "config:1\n");
	pmu_file(root, "intel_pt", "format/cyc_thresh", "config:19-22\n");
	pmu_file(root, "intel_pt", "format/psb_period", "config:24-27\n");
	pmu_file(root, "intel_pt", "format/pt", "config:0\n");
	pmu_file(root, "intel_pt", "caps/mtc", "1\n");
	pmu_file(root, "intel_pt", "caps/psb_cyc", "1\n");
	pmu_file(root, "intel_pt", "caps/mtc_periods", "249\n");
	pmu_file(root, "intel_pt", "caps/psb_periods", "3f\n");
	pmu_file(root, "intel_pt", "caps/cycle_thresholds", "1fff\n");
	pmu_file(root, "intel_pt", "max_nonturbo_ratio", "12\n");
}

/* Recorded by perf 4.14, system-wide. */
static void intel_pt_is_as_perf_wrote_it(void **state)
{
	struct tally_record_time_conv conv = {.time_shift = 31,
					      .time_mult = 1789569706,
					      .time_zero = 18446744041015200657U,
					      .cap_user_time_zero = 1};
	struct tally_aux_event event = {.name = "intel_pt//"};
	struct tally_record record;
	struct tally_data *data = open_corpus(PT_FILE, &record);
	struct tally_attr attr = tally_data_event(data, 0)->attr;
	struct tally_aux_plan plan;
	struct tally_error error;

	make_intel_pt(*state);
	plan = plan_of(*state, "intel_pt", &attr);
	plan.tsc_ctc[0] = 100;
	plan.tsc_ctc[1] = 2;
	assert_int_equal(attr.config, 0x300e601);
	if (plan.kind->prepare(&plan, &event, &attr, &error))
		fail_msg("%s", error.text);
	assert_int_equal(attr.config, 0x300e601);
	assert_int_equal(attr.sample_period, 1);
	check_info(&plan, &attr, &conv, &record);
	tally_data_close(data);
}

/* The words of perf 6.1 that this recording does not have. */
static void intel_pt_has_filter_and_event_trace(void **state)
{
	struct tally_attr attr = {.type = 8, .config = 0x400};
	struct tally_aux_plan plan;
	struct tally_buf buf = {0};

	make_intel_pt(*state);
	pmu_file(*state, "intel_pt", "caps/event_trace", "1\n");
	plan = plan_of(*state, "intel_pt", &attr);
	plan.mode = TALLY_AUX_SNAPSHOT;
	plan.by_task = plan.wants_switches = true;
	assert_int_equal(tally_aux_add_info(&plan, &attr, "filter main", NULL, &buf), 0);
	assert_int_equal(buf.size, 16 + 17 * 8 + 16 + 8);
	assert_int_equal(load_u16(buf.data + 6), buf.size);
	assert_int_equal(load_u64(buf.data + 16 + 8 * 4), 0); /* no times */
	assert_int_equal(load_u64(buf.data + 16 + 8 * 7), 2); /* switches of threads */
	assert_int_equal(load_u64(buf.data + 16 + 8 * 8), 1); /* snapshots */
	assert_int_equal(load_u64(buf.data + 16 + 8 * 16), 11);
	assert_string_equal((char *)buf.data + 16 + 8 * 17, "filter main");
	assert_int_equal(load_u64(buf.data + 16 + 8 * 19), 1);
	tally_buf_done(&buf);
}

static void intel_pt_values_are_checked(void **state)
{
	struct tally_attr attr = {.type = 8, .config = 0x401 | 4 << 14};
	struct tally_aux_event event = {.name = "intel_pt/mtc_period=4/"};
	struct tally_aux_plan plan;
	struct tally_error error;

	make_intel_pt(*state);
	plan = plan_of(*state, "intel_pt", &attr);
	assert_int_equal(plan.kind->prepare(&plan, &event, &attr, &error), -EINVAL);
	assert_string_equal(error.text, "intel_pt/mtc_period=4/: this processor has no mtc_period "
					"of 4; its values are 0,3,6,9");
	attr.config = 0x400 | 3 << 14;
	assert_int_equal(plan.kind->prepare(&plan, &event, &attr, &error), 0);
	assert_int_equal(attr.config, 0x401 | 3 << 14);
	assert_true(plan.wants_switches);
	/* Without times in the trace switches say nothing. */
	attr.config = 1;
	assert_int_equal(plan.kind->prepare(&plan, &event, &attr, &error), 0);
	assert_false(plan.wants_switches);
}

static void intel_bts_has_six_words(void **state)
{
	struct tally_record_time_conv conv = {
	    .time_shift = 10, .time_mult = 20, .time_zero = 30, .cap_user_time_zero = 1};
	static const uint64_t words[6] = {9, 10, 20, 30, 1, 1};
	struct tally_attr attr = {.type = 9};
	struct tally_aux_plan plan = plan_of(*state, "intel_bts", &attr);
	struct tally_buf buf = {0};

	plan.mode = TALLY_AUX_SNAPSHOT;
	assert_int_equal(tally_aux_add_info(&plan, &attr, NULL, &conv, &buf), 0);
	assert_int_equal(buf.size, 16 + sizeof(words));
	assert_int_equal(load_u32(buf.data), PERF_RECORD_AUXTRACE_INFO);
	assert_int_equal(load_u32(buf.data + 8), 2);
	assert_memory_equal(buf.data + 16, words, sizeof(words));
	tally_buf_done(&buf);
}

static void etm_unit(const char *root, unsigned cpu, const char *const values[6])
{
	static const char *const files[6] = {"trcidr/trcidr0",     "trcidr/trcidr1",
					     "trcidr/trcidr2",     "trcidr/trcidr8",
					     "mgmt/trcauthstatus", "mgmt/trcdevarch"};

	for (size_t i = 0; i < 6; i++) {
		char file[64];

		snprintf(file, sizeof(file), "cpu%u/%s", cpu, files[i]);
		if (values[i])
			pmu_file(root, "cs_etm", file, values[i]);
	}
}

/* Eight CPUs of two kinds. */
static void cs_etm_is_as_others_wrote_it(void **state)
{
	static const char *const small[6] = {"0x28000ea1", "0x4100f422", "0x20001088", "0x0",
					     "0x8c"};
	static const char *const large[6] = {"0x28000ea1", "0x4100f423", "0x20001088", "0x0",
					     "0x8c"};
	static const uint32_t numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct tally_record record;
	struct tally_data *data = open_corpus(ETM_FILE, &record);
	struct tally_attr attr = tally_data_event(data, 0)->attr;
	struct tally_aux_plan plan = plan_of(*state, "cs_etm", &attr);

	for (uint32_t i = 0; i < 8; i++)
		etm_unit(*state, i, i < 6 ? small : large);
	plan.cpus = numbers;
	plan.cpu_count = 8;
	check_info(&plan, &attr, NULL, &record);
	tally_data_close(data);
}

static void cs_ete_is_as_others_wrote_it(void **state)
{
	static const char *const ete[6] = {"0x288006a1", "0x4100fff0", "0xc0001088",
					   "0x0",        "0xcc",       "0x47715a13"};
	static const uint32_t numbers[2] = {0, 1};
	struct tally_record record;
	struct tally_data *data = open_corpus(ETE_FILE, &record);
	struct tally_attr attr = tally_data_event(data, 0)->attr;
	struct tally_aux_plan plan = plan_of(*state, "cs_etm", &attr);

	etm_unit(*state, 0, ete);
	etm_unit(*state, 1, ete);
	plan.cpus = numbers;
	plan.cpu_count = 2;
	check_info(&plan, &attr, NULL, &record);
	tally_data_close(data);
}

/* Simpleperf calls each unit ETE whose TRCDEVARCH can be read: its words, unit by unit. */
static void units_are_written_as_they_are(void **state)
{
	struct tally_record record;
	struct tally_data *data = open_corpus(MIXED_FILE, &record);
	struct tally_etm_unit units[8] = {0};
	struct tally_buf buf = {0};
	const uint8_t *at = record.bytes + 16 + 3 * 8;

	(void)state;
	for (uint32_t i = 0; i < 8; i++, at += 11 * 8) {
		units[i].cpu = (uint32_t)load_u64(at + 8);
		units[i].version = TALLY_ETE;
		memcpy(units[i].registers, at + 24, 64);
	}
	tally_etm_words(95, false, units, 8, &buf);
	assert_int_equal(buf.size, record.size - 16);
	assert_memory_equal(buf.data, record.bytes + 16, buf.size);
	tally_buf_done(&buf);
	tally_data_close(data);
}

static void cs_etm_takes_ids_times_and_sink(void **state)
{
	static const char *const etm[6] = {"0x28000ea1", "0x4100f422", "0x20001088", "0x0", "0x8c"};
	static const uint32_t numbers[1] = {0};
	struct tally_attr attr = {.type = 8, .freq = 1, .sample_freq = 4000};
	struct tally_aux_event event = {.name = "cs_etm/@tmc_etr0/", .driver = "tmc_etr0"};
	struct tally_aux_plan plan = plan_of(*state, "cs_etm", &attr);
	struct tally_error error;

	etm_unit(*state, 0, etm);
	pmu_file(*state, "cs_etm", "format/contextid", "config:14\n");
	pmu_file(*state, "cs_etm", "sinks/tmc_etr0", "0xa61eb707\n");
	plan.cpus = numbers;
	plan.cpu_count = 1;
	if (plan.kind->prepare(&plan, &event, &attr, &error))
		fail_msg("%s", error.text);
	assert_int_equal(attr.config, 1ULL << 14 | 1ULL << 28);
	assert_int_equal(attr.config2, 0xa61eb707);
	assert_int_equal(attr.freq, 0);
	assert_int_equal(attr.sample_period, 1);
	/* A register that the unit does not have, and a sink that is not there. */
	pmu_file(*state, "cs_etm", "format/contextid", "config:15\n");
	pmu_file(*state, "cs_etm", "cpu0/trcidr/trcidr2", "0x1088\n");
	attr.config = 0;
	assert_int_equal(plan.kind->prepare(&plan, &event, &attr, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "CONTEXTIDR_EL2"));
	event.driver = "tmc_etf9";
	attr.config2 = 0;
	assert_int_equal(plan.kind->prepare(&plan, &event, &attr, &error), -ENOENT);
	event.driver = "../type";
	assert_int_equal(plan.kind->prepare(&plan, &event, &attr, &error), -ENOENT);
}

static void arm_spe_and_others(void **state)
{
	struct tally_attr attr = {.type = 11, .sample_period = 1, .config = 2}, other;
	struct tally_aux_event event = {.name = "arm_spe_0/pa_enable=1/"};
	struct tally_aux_plan plan = plan_of(*state, "arm_spe_0", &attr);
	struct tally_buf buf = {0};
	struct tally_error error;

	pmu_file(*state, "arm_spe_0", "format/ts_enable", "config:0\n");
	pmu_file(*state, "arm_spe_0", "format/pa_enable", "config:1\n");
	pmu_file(*state, "arm_spe_0", "caps/min_interval", "1024\n");
	assert_int_equal(plan.kind->prepare(&plan, &event, &attr, &error), 0);
	assert_int_equal(attr.config, 3);
	assert_int_equal(attr.sample_period, 1024);
	assert_true(attr.sample_type & PERF_SAMPLE_DATA_SRC);
	assert_true(attr.sample_type & PERF_SAMPLE_PHYS_ADDR);
	event.period_given = true;
	attr.sample_period = 5000;
	assert_int_equal(plan.kind->prepare(&plan, &event, &attr, &error), 0);
	assert_int_equal(attr.sample_period, 5000);
	assert_int_equal(tally_aux_add_info(&plan, &attr, NULL, NULL, &buf), 0);
	assert_int_equal(buf.size, 32);
	assert_int_equal(load_u32(buf.data + 8), 4);
	assert_int_equal(load_u64(buf.data + 16), 11);
	assert_int_equal(load_u64(buf.data + 24), 1);
	tally_buf_clear(&buf);

	other = (struct tally_attr){.type = 4, .config = 0xbd000};
	plan = plan_of(*state, "cpum_sf", &other);
	assert_int_equal(tally_aux_add_info(&plan, &other, NULL, NULL, &buf), 0);
	assert_int_equal(buf.size, 16);
	assert_int_equal(load_u32(buf.data + 8), 5);
	other.config = 0xb0000;
	assert_null(tally_aux_kind_find("cpum_sf", &other));
	tally_buf_clear(&buf);

	plan = plan_of(*state, "hisi_ptt0_2", &other);
	other.type = 99;
	assert_int_equal(tally_aux_add_info(&plan, &other, NULL, NULL, &buf), 0);
	assert_int_equal(buf.size, 24);
	assert_int_equal(load_u32(buf.data + 8), 6);
	assert_int_equal(load_u64(buf.data + 16), 99);
	tally_buf_done(&buf);
}

static void only_tracers_are_found(void **state)
{
	struct tally_attr attr = {0};
	char names[256];

	assert_null(tally_aux_kind_find("cpu", &attr));
	assert_null(tally_aux_kind_find("arm_spe_", &attr));
	assert_null(tally_aux_kind_find("intel_ptx", &attr));
	assert_null(tally_aux_kind_find(NULL, &attr));
	pmu_file(*state, "cpu", "type", "4\n");
	pmu_file(*state, "arm_spe_0", "type", "11\n");
	assert_non_null(strstr(tally_aux_kinds_here(*state, names, sizeof(names)), "arm_spe_0"));
	assert_null(strstr(names, "cpu"));
	assert_string_equal(tally_aux_kinds_here("/nonexistent", names, sizeof(names)), "");
}

static void time_conv_is_perfs(void **state)
{
	struct tally_record_time_conv conv = {.time_shift = 1,
					      .time_mult = 2,
					      .time_zero = 3,
					      .time_cycles = 4,
					      .time_mask = 5,
					      .cap_user_time_zero = 1,
					      .has_cycles = true};
	struct tally_buf buf = {0};

	(void)state;
	assert_int_equal(tally_aux_add_time_conv(&conv, &buf), 0);
	assert_int_equal(buf.size, 56);
	assert_int_equal(load_u32(buf.data), PERF_RECORD_TIME_CONV);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(load_u64(buf.data + 8 + 8 * i), i + 1);
	assert_int_equal(buf.data[48], 1);
	tally_buf_done(&buf);
}

#define test(name) cmocka_unit_test_setup_teardown(name, pmu_root_make, pmu_root_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test(intel_pt_is_as_perf_wrote_it),
	    test(intel_pt_has_filter_and_event_trace),
	    test(intel_pt_values_are_checked),
	    test(intel_bts_has_six_words),
	    test(cs_etm_is_as_others_wrote_it),
	    test(cs_ete_is_as_others_wrote_it),
	    test(units_are_written_as_they_are),
	    test(cs_etm_takes_ids_times_and_sink),
	    test(arm_spe_and_others),
	    test(only_tracers_are_found),
	    test(time_conv_is_perfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
