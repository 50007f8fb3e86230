/* The dump of -D, letter by letter.  The layouts are perf 6.1's, whose dumps of recordings of every
 * kind were compared with ours record by record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "dump/value_text.h"

struct made {
	char path[64];
	struct tally_data *data;
	struct tally_script_dump dump;
};

/* A file of one event, so that its layout and name are known. */
static void make(struct made *made, uint64_t sample_type, bool sample_id_all)
{
	struct tally_writer_options options = {.size = sizeof(options)};
	uint64_t id = 7;
	struct tally_writer_event event = {.attr = {.type = PERF_TYPE_SOFTWARE,
						    .size = 128,
						    .sample_period = 250000,
						    .sample_type = sample_type,
						    .sample_regs_intr = 0x801,
						    .read_format = PERF_FORMAT_ID,
						    .sample_id_all = sample_id_all},
					   .name = "cpu-clock",
					   .ids = &id,
					   .id_count = 1};
	struct tally_writer *writer;
	int file;

	memcpy(made->path, "/tmp/tally-dump-XXXXXX", sizeof("/tmp/tally-dump-XXXXXX"));
	file = mkstemp(made->path);
	assert_true(file >= 0);
	close(file);
	unlink(made->path);
	assert_int_equal(tally_writer_open(made->path, &event, 1, &options, &writer, NULL), 0);
	assert_int_equal(tally_writer_close(writer, NULL), 0);
	assert_int_equal(tally_data_open(made->path, NULL, &made->data, NULL), 0);
	tally_script_dump_init(&made->dump, made->data);
	made->dump.path = "a.data";
}

static void clean(struct made *made)
{
	tally_data_close(made->data);
	unlink(made->path);
}

static void dump_of_is(const struct made *made, const void *bytes, uint64_t offset,
		       const char *expected)
{
	struct perf_event_header header;
	struct tally_record record = {.bytes = bytes, .offset = offset};
	struct tally_buf buf = {0};

	memcpy(&header, bytes, sizeof(header));
	record.type = header.type;
	record.misc = header.misc;
	record.size = header.size;
	tally_script_dump_record(&buf, &made->dump, &record, 0);
	assert_int_equal(buf.failed, 0);
	assert_string_equal(tally_buf_str(&buf), expected);
	tally_buf_done(&buf);
}

/* What stands behind the bytes. */
static void fields_are(const struct made *made, const struct tally_body *body, const char *expected)
{
	static uint64_t bytes[8192];
	const struct tally_layout *layout = &tally_data_event(made->data, 0)->layout;
	int size = tally_record_encode(layout, body, bytes, sizeof(bytes));
	struct tally_record record = {.bytes = (const uint8_t *)bytes,
				      .offset = 0x108,
				      .type = body->type,
				      .misc = body->misc,
				      .size = (uint16_t)size};
	struct tally_buf buf = {0};
	const char *text, *at;

	assert_true(size > 0);
	tally_script_dump_record(&buf, &made->dump, &record, 0);
	text = tally_buf_str(&buf);
	at = strstr(text, "PERF_RECORD_");
	assert_non_null(at);
	assert_string_equal(at, expected);
	tally_buf_done(&buf);
}

static void a_record_of_the_kernel(void **state)
{
	static const uint32_t comm[] = {3,          0x00302000, 17956, 17956,
					0x6b736174, 0x00746573, 17956, 17956,
					0x4dd20626, 0xf3,       7,     0};
	struct made made;

	(void)state;
	make(&made, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID, true);
	dump_of_is(&made, comm, 0x291f8,
		   "\n0x291f8@a.data [0x30]: event: 3\n.\n. ... raw event: size 48 bytes\n"
		   ".  0000:  03 00 00 00 00 20 30 00 24 46 00 00 24 46 00 00  ..... 0.$F..$F..\n"
		   ".  0010:  74 61 73 6b 73 65 74 00 24 46 00 00 24 46 00 00  taskset.$F..$F..\n"
		   ".  0020:  26 06 d2 4d f3 00 00 00 07 00 00 00 00 00 00 00  &..M............\n"
		   "\n1044982662694 0x291f8 [0x30]: PERF_RECORD_COMM exec: taskset:17956/17956\n");
	clean(&made);
}

static void a_short_line_of_bytes(void **state)
{
	static const uint32_t init[] = {82, 0x00080000};
	struct made made;

	(void)state;
	make(&made, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, true);
	dump_of_is(&made, init, 0x330,
		   "\n0x330@a.data [0x8]: event: 82\n.\n. ... raw event: size 8 bytes\n"
		   ".  0000:  52 00 00 00 00 00 08 00                          R.......        \n"
		   "\n0 0 0x330 [0x8]: PERF_RECORD_FINISHED_INIT: unhandled!\n");
	clean(&made);
	make(&made, PERF_SAMPLE_TID, false);
	dump_of_is(&made, init, 0x330,
		   "\n0x330@a.data [0x8]: event: 82\n.\n. ... raw event: size 8 bytes\n"
		   ".  0000:  52 00 00 00 00 00 08 00                          R.......        \n"
		   "\n-1 -1 0x330 [0x8]: PERF_RECORD_FINISHED_INIT: unhandled!\n");
	clean(&made);
}

static void a_sample(void **state)
{
	static const uint64_t chain[] = {PERF_CONTEXT_USER, 0x7efcd2c2c62a}, regs[] = {0x80, 0x10};
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_SAMPLE,
				  .misc = 2,
				  .sample = {.ip = 0x7efcd2c2c62a,
					     .pid = 17956,
					     .tid = 17957,
					     .callchain_nr = 2,
					     .callchain = chain,
					     .intr_abi = 2,
					     .intr_regs_mask = 0x801,
					     .intr_regs = regs,
					     .data_src = 0x1e05080021,
					     .weight = 3 | 1ull << 32,
					     .data_page_size = 0,
					     .code_page_size = 4096}};
	struct made made;

	(void)state;
	body.sample.present = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
			      PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_DATA_SRC |
			      PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_PAGE_SIZE |
			      PERF_SAMPLE_CODE_PAGE_SIZE;
	make(&made, body.sample.present, true);
	made.dump.arch = TALLY_REGISTER_ARCH_X86;
	fields_are(&made, &body,
		   "PERF_RECORD_SAMPLE(IP, 0x2): 17956/17957: 0x7efcd2c2c62a period: 250000 addr: "
		   "0\n"
		   "... FP chain: nr:2\n"
		   ".....  0: fffffffffffffe00\n"
		   ".....  1: 00007efcd2c2c62a\n"
		   "... intr regs: mask 0x801 ABI 64-bit\n"
		   ".... AX    0x0000000000000080\n"
		   ".... SS    0x0000000000000010\n"
		   "... weight: 3,0x1,0x0\n"
		   " . data_src: 0x1e05080021\n"
		   " .. data page size: N/A\n"
		   " .. code page size: 4K\n");
	clean(&made);
}

static void a_sample_of_stack_and_branches(void **state)
{
	static const struct tally_branch branches[] = {{0x1000, 0x2000, 2 | 12 << 4 | 4 << 20},
						       {0x3000, 0x4000, 1}};
	static const uint8_t stack[16];
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_SAMPLE,
	    .misc = 1,
	    .sample = {.period = 1,
		       .branch_nr = 2,
		       .branches = branches,
		       .user_stack = stack,
		       .user_stack_size = 16,
		       .user_stack_dyn_size = 9,
		       .read = {.read_format = PERF_FORMAT_ID, .nr = 1, .value = 5, .id = 7}}};
	struct made made;

	(void)state;
	body.sample.present = PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_BRANCH_STACK |
			      PERF_SAMPLE_STACK_USER;
	make(&made, body.sample.present, true);
	fields_are(&made, &body,
		   "PERF_RECORD_SAMPLE(IP, 0x1): -1/-1: 0 period: 1 addr: 0\n"
		   "... branch stack: nr:2\n"
		   ".....  0: 0000000000001000 -> 0000000000002000 12 cycles  P   0 CALL\n"
		   ".....  1: 0000000000003000 -> 0000000000004000 0 cycles M    0 \n"
		   "... ustack: size 9, offset 0x58\n"
		   "... sample_read:\n"
		   "..... id 0000000000000007, value 0000000000000005\n");
	/* 14.2: without a copy the size's place is that of the field, too. */
	body.sample.user_stack = NULL;
	body.sample.user_stack_size = body.sample.user_stack_dyn_size = 0;
	body.sample.present = PERF_SAMPLE_PERIOD | PERF_SAMPLE_STACK_USER;
	clean(&made);
	make(&made, body.sample.present, true);
	fields_are(&made, &body,
		   "PERF_RECORD_SAMPLE(IP, 0x1): -1/-1: 0 period: 1 addr: 0\n"
		   "... ustack: size 0, offset 0x10\n");
	clean(&made);
}

static void the_tools_records(void **state)
{
	static const struct tally_id_index_entry ids[] = {{202, 0, 0, 17956},
							  {203, 1, 1, UINT64_MAX}};
	static const struct tally_thread_map_entry threads[] = {{17956, "ls"}, {1, "init"}};
	static const uint8_t cpus[] = {0, 0, 1, 0, 2, 0, 5, 0};
	double scale = 1e-6;
	struct tally_body index = {
	    .size = sizeof(index), .type = PERF_RECORD_ID_INDEX, .id_index = {2, ids, NULL}};
	struct tally_body map = {
	    .size = sizeof(map), .type = PERF_RECORD_THREAD_MAP, .thread_map = {2, threads}};
	struct tally_body cpu = {.size = sizeof(cpu),
				 .type = PERF_RECORD_CPU_MAP,
				 .cpu_map = {.type = 0, .nr = 4, .data = cpus}};
	struct tally_body unit = {.size = sizeof(unit),
				  .type = PERF_RECORD_EVENT_UPDATE,
				  .event_update = {0, 202, (const uint8_t *)"msec\0\0\0", 8}};
	struct tally_body scaled = {.size = sizeof(scaled),
				    .type = PERF_RECORD_EVENT_UPDATE,
				    .event_update = {1, 202, (const uint8_t *)&scale, 8}};
	struct tally_body trace = {.size = sizeof(trace),
				   .type = PERF_RECORD_AUXTRACE,
				   .auxtrace = {0x10, 0, 0x2a, 1, UINT32_MAX, 3}};
	struct tally_body conv = {.size = sizeof(conv),
				  .type = PERF_RECORD_TIME_CONV,
				  .time_conv = {.time_shift = 31, .time_mult = 5, .time_zero = 9}};
	struct made made;

	(void)state;
	make(&made, PERF_SAMPLE_TIME, true);
	fields_are(&made, &index,
		   "PERF_RECORD_ID_INDEX nr: 2\n"
		   " ... id: 202  idx: 0  cpu: 0  tid: 17956\n"
		   " ... id: 203  idx: 1  cpu: 1  tid: -1\n");
	fields_are(&made, &map, "PERF_RECORD_THREAD_MAP nr: 2 threads: 17956, 1\n");
	fields_are(&made, &cpu, "PERF_RECORD_CPU_MAP: 0-2,5\n");
	fields_are(&made, &unit, "PERF_RECORD_EVENT_UPDATE\n... id:    202\n... unit:  msec\n");
	fields_are(&made, &scaled,
		   "PERF_RECORD_EVENT_UPDATE\n... id:    202\n... scale: 0.000001\n");
	fields_are(&made, &trace,
		   "PERF_RECORD_AUXTRACE size: 0x10  offset: 0  ref: 0x2a  idx: 1  tid: -1  cpu: "
		   "3\n");
	fields_are(&made, &conv,
		   "PERF_RECORD_TIME_CONV\n... Time Shift      31\n... Time Muliplier  5\n"
		   "... Time Zero       9\n: unhandled!\n");
	clean(&made);
}

static void losses_and_reads(void **state)
{
	struct tally_body lost = {.size = sizeof(lost), .type = PERF_RECORD_LOST, .lost = {7, 12}};
	struct tally_body samples = {
	    .size = sizeof(samples), .type = PERF_RECORD_LOST_SAMPLES, .lost_samples = {3}};
	struct tally_body read = {
	    .size = sizeof(read),
	    .type = PERF_RECORD_READ,
	    .read = {1, 2, {.read_format = PERF_FORMAT_ID, .nr = 1, .value = 5, .id = 7}}};
	struct tally_body throttle = {
	    .size = sizeof(throttle), .type = PERF_RECORD_THROTTLE, .throttle = {1, 7, 7}};
	struct made made;

	(void)state;
	make(&made, PERF_SAMPLE_TIME | PERF_SAMPLE_ID, true);
	lost.id = samples.id = read.id = throttle.id =
	    (struct tally_sample_id){.present = PERF_SAMPLE_TIME | PERF_SAMPLE_ID, .id = 7};
	fields_are(&made, &lost, "PERF_RECORD_LOST: id:7: lost:12\n");
	fields_are(&made, &samples, "PERF_RECORD_LOST_SAMPLES: id:7: lost samples :3\n");
	fields_are(&made, &read,
		   "PERF_RECORD_READ: 1 2 cpu-clock 5\n... id           : 7\n: unhandled!\n");
	fields_are(&made, &throttle, "PERF_RECORD_THROTTLE");
	clean(&made);
}

static void newer_records_tell_their_fields(void **state)
{
	static const uint64_t ips[] = {0x10, 0x20};
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_CALLCHAIN_DEFERRED,
				  .callchain_deferred = {5, 2, ips}};
	struct made made;

	(void)state;
	make(&made, PERF_SAMPLE_TIME, false);
	fields_are(&made, &body,
		   "PERF_RECORD_CALLCHAIN_DEFERRED\n... misc=0\n... cookie=5\n... nr=2\n... "
		   "ips=2: 0x10 0x20\n");
	clean(&made);
}

static void a_damaged_record_says_so(void **state)
{
	static const uint32_t comm[] = {3, 0x00080000};
	struct made made;

	(void)state;
	make(&made, PERF_SAMPLE_TIME, false);
	dump_of_is(
	    &made, comm, 0x108,
	    "\n0x108@a.data [0x8]: event: 3\n.\n. ... raw event: size 8 bytes\n"
	    ".  0000:  03 00 00 00 00 00 08 00                          ........        \n"
	    "\n-1 -1 0x108 [0x8]: PERF_RECORD_COMM: damaged: COMM record of 8 bytes at offset "
	    "0x108 is too short for its fields (byte 8)\n");
	clean(&made);
}

static void a_place(void **state)
{
	struct tally_buf buf = {0};

	(void)state;
	tally_script_dump_place(&buf, "ls", 5, "/bin/ls", false);
	tally_script_dump_place(&buf, "ls", UINT32_MAX, NULL, false);
	tally_script_dump_place(&buf, "ls", 5, NULL, true);
	assert_string_equal(tally_buf_str(&buf), " ... thread: ls:5\n ...... dso: /bin/ls\n"
						 " ... thread: ls:-1\n ...... dso: <not found>\n"
						 " ... thread: ls:5\n ...... dso: [hypervisor]\n");
	tally_buf_done(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_record_of_the_kernel),
	    cmocka_unit_test(a_short_line_of_bytes),
	    cmocka_unit_test(a_sample),
	    cmocka_unit_test(a_sample_of_stack_and_branches),
	    cmocka_unit_test(the_tools_records),
	    cmocka_unit_test(losses_and_reads),
	    cmocka_unit_test(newer_records_tell_their_fields),
	    cmocka_unit_test(a_damaged_record_says_so),
	    cmocka_unit_test(a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
