/* Records as JSON: the schema of version 1, letter by letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "export/script_json.h"

static void object_is(const struct tally_script_json *with, const char *expected)
{
	struct tally_buf buf = {0};

	tally_script_json_record(&buf, with);
	assert_int_equal(buf.failed, 0);
	assert_string_equal(tally_buf_str(&buf), expected);
	tally_buf_done(&buf);
}

static void a_sample_with_its_frames(void **state)
{
	static const uint64_t chain[] = {PERF_CONTEXT_USER, 0x401010}, regs[] = {1, 2, 3};
	static const struct tally_branch branch = {0x1000, 0x2000, 2 | 12 << 4 | 4 << 20};
	static const struct tally_script_json_frame frames[] = {{.ip = 0x401010,
								 .symbol = "work<\"a\">",
								 .offset = 0x10,
								 .dso = "/bin/a",
								 .srcline = "a.c:3"},
								{.ip = 0x7f00}};
	static const struct tally_layout layout;
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_SAMPLE,
				  .misc = 2,
				  .sample = {.ip = 0x401010,
					     .pid = 5,
					     .tid = UINT32_MAX,
					     .time = 1700000000000000001,
					     .callchain_nr = 2,
					     .callchain = chain,
					     .raw = (const uint8_t *)"\x01\xfe",
					     .raw_size = 2,
					     .branch_nr = 1,
					     .branches = &branch,
					     .intr_abi = 2,
					     .intr_regs_mask = 3ull << 32 | 1,
					     .intr_regs = regs,
					     .weight = 3 | 7ull << 32}};
	struct tally_script_json with = {.layout = &layout,
					 .body = &body,
					 .offset = 0x108,
					 .arch = TALLY_REGISTER_ARCH_X86,
					 .event = "cycles",
					 .comm = "a\x1b[2J",
					 .frames = frames,
					 .frame_count = 2};

	(void)state;
	body.sample.present = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			      PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
			      PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_WEIGHT_STRUCT;
	object_is(&with,
		  "{\"type\":\"SAMPLE\",\"offset\":264,\"misc\":2,\"cpumode\":\"USER\","
		  "\"event\":\"cycles\",\"comm\":\"a\\u001b[2J\",\"fields\":{\"ip\":\"0x401010\","
		  "\"pid\":5,\"tid\":-1,\"time\":1700000000000000001,"
		  "\"callchain\":[\"0xfffffffffffffe00\",\"0x401010\"],\"raw\":\"01fe\","
		  "\"branches\":[{\"from\":\"0x1000\",\"to\":\"0x2000\",\"predicted\":true,"
		  "\"cycles\":12,\"type\":\"CALL\"}],\"weight\":3,\"ins_lat\":7,\"retire_lat\":0,"
		  "\"intr_regs\":{\"abi\":2,\"AX\":\"0x1\",\"XMM0\":\"0x2\",\"XMM0H\":\"0x3\"}},"
		  "\"frames\":[{\"ip\":\"0x401010\",\"symbol\":\"work<\\\"a\\\">\",\"offset\":16,"
		  "\"dso\":\"/bin/a\",\"srcline\":\"a.c:3\"},{\"ip\":\"0x7f00\"}]}\n");
}

static void a_map_with_its_trailer(void **state)
{
	static const struct tally_layout layout;
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_MMAP2,
	    .misc = 2 | PERF_RECORD_MISC_MMAP_BUILD_ID,
	    .id = {.present = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, .time = 9, .cpu = 3},
	    .mmap2 = {.pid = 1,
		      .tid = 2,
		      .addr = 0x1000,
		      .len = 4096,
		      .build_id_size = 3,
		      .build_id = {0x8f, 0x11, 0xf6},
		      .prot = 5,
		      .flags = 2,
		      .filename = "/bin/a"}};
	struct tally_script_json with = {.layout = &layout, .body = &body};

	(void)state;
	object_is(&with,
		  "{\"type\":\"MMAP2\",\"offset\":0,\"misc\":16386,\"fields\":{\"pid\":1,\"tid\":2,"
		  "\"addr\":\"0x1000\",\"len\":4096,\"pgoff\":\"0x0\",\"build_id\":\"8f11f6\","
		  "\"prot\":5,\"flags\":2,\"filename\":\"/bin/a\"},"
		  "\"sample_id\":{\"time\":9,\"cpu\":3}}\n");
}

static void counters_of_a_group(void **state)
{
	static const uint64_t values[] = {10, 1, 20, 2};
	static const struct tally_layout layout;
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_READ,
				  .read = {1,
					   1,
					   {.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
							   PERF_FORMAT_TOTAL_TIME_ENABLED,
					    .nr = 2,
					    .time_enabled = 5,
					    .group = values}}};
	struct tally_script_json with = {.layout = &layout, .body = &body};

	(void)state;
	object_is(&with,
		  "{\"type\":\"READ\",\"offset\":0,\"misc\":0,\"fields\":{\"pid\":1,\"tid\":1,"
		  "\"read\":{\"time_enabled\":5,\"values\":[{\"value\":10,\"id\":1},"
		  "{\"value\":20,\"id\":2}]}}}\n");
}

static void a_type_of_no_one(void **state)
{
	static const struct tally_layout layout;
	struct tally_body body = {.size = sizeof(body),
				  .type = 4711,
				  .bytes = {.data = (const uint8_t *)"\x00\xff", .data_size = 2}};
	struct tally_script_json with = {.layout = &layout, .body = &body};

	(void)state;
	object_is(&with,
		  "{\"type\":4711,\"offset\":0,\"misc\":0,\"fields\":{\"data\":\"00ff\"}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_sample_with_its_frames),
	    cmocka_unit_test(a_map_with_its_trailer),
	    cmocka_unit_test(counters_of_a_group),
	    cmocka_unit_test(a_type_of_no_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
