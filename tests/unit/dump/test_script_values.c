/* The text of values and records, letter by letter.  The layouts are perf 6.1's: what it printed of
 * recordings with thousands of values and records made up at random was compared with ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "dump/value_text.h"

static void buf_is(struct tally_buf *buf, const char *expected)
{
	assert_int_equal(buf->failed, 0);
	assert_string_equal(tally_buf_str(buf), expected);
	tally_buf_done(buf);
}

static void record_is(const struct tally_body *body, const char *symbol, const char *expected)
{
	struct tally_buf buf = {0};

	tally_script_record(&buf, body, symbol);
	buf_is(&buf, expected);
}

static void data_src(void **state)
{
	static const struct {
		uint64_t value;
		const char *text;
	} cases[] = {
	    {0x141, "             141 |OP N/A|LVL L1 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	    {0xa00000012, "       a00000012 |OP LOAD|LVL L5|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	    {0x86000000,
	     "        86000000 |OP No|LVL N/A|SNP N/A|TLB N/A or Walker|LCK Yes|BLK  N/A"},
	    {0x202000080400,
	     "    202000080400 |OP No|LVL Remote board |SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	    {0x1409100180, "      1409100180 |OP No|LVL L1 or I/O miss|SNP None|TLB N/A hit|LCK "
			   "N/A|BLK  N/A"},
	    {0x80280044000, "     80280044000 |OP No|LVL core, same node L1|SNP N/A|TLB Walker|LCK "
			    "No|BLK  N/A"},
	    {0xb000080188, "      b000080188 |OP PFETCH|LVL Remote L1 or L8 miss|SNP N/A or "
			   "Peer|TLB N/A|LCK No|BLK  N/A"},
	    /* 99 bytes are all that perf has room for */
	    {0x57ce, "            57ce |OP LOAD|LVL L1 or LFB/MAB or L2 or Local RAM or Remote RAM "
		     "(2 hops) hit miss|SNP "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_buf buf = {0};
		size_t widest = 0;

		tally_script_data_src(&buf, cases[i].value, &widest);
		assert_int_equal(widest, strlen(cases[i].text));
		buf_is(&buf, cases[i].text);
	}
}

static void data_src_is_as_wide_as_the_widest(void **state)
{
	struct tally_buf buf = {0};
	size_t widest = 0;

	(void)state;
	tally_script_data_src(&buf, 0x141, &widest);
	tally_buf_byte(&buf, '\n');
	tally_script_data_src(&buf, 0xa00000012, &widest);
	tally_buf_byte(&buf, '\n');
	tally_script_data_src(&buf, 0x141, &widest);
	buf_is(&buf, "             141 |OP N/A|LVL L1 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A\n"
		     "       a00000012 |OP LOAD|LVL L5|SNP N/A|TLB N/A|LCK No|BLK  N/A   \n"
		     "             141 |OP N/A|LVL L1 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A");
}

static void registers(void **state)
{
	static const uint64_t regs[] = {0x80000021, 0x7efcd2c2c62a, 0x206, 0};
	static const struct {
		const char *machine;
		uint64_t mask;
		const char *text;
	} cases[] = {
	    {"x86_64", 0x800301,
	     " ABI:2    AX:0x80000021    IP:0x7efcd2c2c62a FLAGS:0x206   R15:0x0 "},
	    {"i686", 3ull << 32 | 1, " ABI:2    AX:0x80000021  XMM0:0x7efcd2c2c62a  XMM0:0x206 "},
	    {"aarch64", 1ull << 46 | 3ull << 30 | 1,
	     " ABI:2    x0:0x80000021    lr:0x7efcd2c2c62a    sp:0x206    vg:0x0 "},
	    {"armv7l", 1 | 1 << 11 | 1 << 15,
	     " ABI:2    r0:0x80000021    fp:0x7efcd2c2c62a    pc:0x206 "},
	    {"ppc64le", 1 | 1ull << 34 | 1ull << 58,
	     " ABI:2    r0:0x80000021 orig_r3:0x7efcd2c2c62a  siar:0x206 "},
	    {"s390x", 1ull << 31 | 3ull << 32,
	     " ABI:2  FP15:0x80000021  MASK:0x7efcd2c2c62a    PC:0x206 "},
	    {"mips64", 1 | 1 << 25 | 1 << 28,
	     " ABI:2    PC:0x80000021   $25:0x7efcd2c2c62a   $28:0x206 "},
	    {"sparc64", 3, " ABI:2 unknown:0x80000021 unknown:0x7efcd2c2c62a "},
	    /* perf 6.1 does not know riscv64 for riscv */
	    {"riscv64", 3, " ABI:2    pc:0x80000021    ra:0x7efcd2c2c62a "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_buf buf = {0};

		tally_script_regs(&buf, tally_register_arch(cases[i].machine), 2, cases[i].mask,
				  regs);
		buf_is(&buf, cases[i].text);
	}
}

static void a_sample_without_registers_has_no_text(void **state)
{
	struct tally_buf buf = {0};

	(void)state;
	tally_script_regs(&buf, TALLY_REGISTER_ARCH_X86, 2, 3, NULL);
	tally_script_regs(&buf, TALLY_REGISTER_ARCH_X86, 0, 3, (const uint64_t[]){1, 2});
	buf_is(&buf, "");
}

static void sizes_of_pages(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {{0, " N/A"},         {1024, " 1024B"},    {4096, " 4K"},
		     {65536, " 64K"},     {1 << 20, " 1024K"}, {2 << 20, " 2M"},
		     {1 << 30, " 1024M"}, {4ull << 30, " 4G"}, {4ull << 40, " 4096G"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_buf buf = {0};

		tally_script_page_size(&buf, cases[i].bytes);
		buf_is(&buf, cases[i].text);
	}
}

static void misc_letters(void **state)
{
	static const struct {
		uint32_t type;
		uint16_t misc;
		const char *text;
	} cases[] = {
	    {PERF_RECORD_SAMPLE, 0, "      "},
	    {PERF_RECORD_SAMPLE, 1, "K     "},
	    {PERF_RECORD_SAMPLE, 2, "U     "},
	    {PERF_RECORD_SAMPLE, 3, "KUH   "},
	    {PERF_RECORD_SAMPLE, 0x4002, "U     "},
	    {PERF_RECORD_MMAP2, 0x2002, "UM    "},
	    {PERF_RECORD_COMM, 0x2000, "E     "},
	    {PERF_RECORD_SWITCH, 0x2000, "S     "},
	    {PERF_RECORD_SWITCH, 0x6000, "Sp    "},
	    {PERF_RECORD_SWITCH, 0x4000, "      "},
	    {PERF_RECORD_SWITCH_CPU_WIDE, 0x6007, "KUHGgSp "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_buf buf = {0};

		tally_script_misc(&buf, cases[i].type, cases[i].misc);
		buf_is(&buf, cases[i].text);
	}
}

/* Names and letters as perf's documentation of the field lists them. */
static void flags(void **state)
{
	static const struct {
		uint32_t flags;
		const char *text;
	} cases[] = {
	    {0, "                        "},
	    {TALLY_IP_BRANCH, "  jmp                   "},
	    {TALLY_IP_BRANCH | TALLY_IP_CALL, "  call                  "},
	    {TALLY_IP_BRANCH | TALLY_IP_RETURN | TALLY_IP_IN_TX, "  return            (x) "},
	    {TALLY_IP_BRANCH | TALLY_IP_TRACE_BEGIN, "  tr strt               "},
	    {TALLY_IP_BRANCH | TALLY_IP_CALL | TALLY_IP_TRACE_END, "  tr end  call          "},
	    {TALLY_IP_BRANCH | TALLY_IP_CALL | TALLY_IP_RETURN, "  bcr                   "},
	    {TALLY_IP_CALL | 1u << 31, "  c?                    "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_buf buf = {0};

		tally_script_flags(&buf, cases[i].flags);
		buf_is(&buf, cases[i].text);
	}
}

static void branches(void **state)
{
	struct tally_buf buf = {0};

	(void)state;
	tally_script_branch_flags(&buf, 1 | 4 | 8 | 59809ull << 4 | 14ull << 20);
	tally_script_branch_flags(&buf, 2);
	tally_script_branch_flags(&buf, 15ull << 20 | 4ull << 26);
	tally_script_branch_flags(&buf, 15ull << 20 | 9ull << 26);
	buf_is(&buf, "/M/X/A/59809/NO_TX /P/-/-/0/ /-/-/-/0/ARCH_2 /-/-/-/0/(null) ");
}

static void bpf_output(void **state)
{
	static const uint8_t bytes[] = {0xdc, 0x25, 0xe7, 0x82, 0xb3, 0xa2, 0x25, 0x59, 0x49, 0x43};
	static const uint8_t string[] = {0x25, 0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	struct tally_buf buf = {0};

	(void)state;
	tally_script_bpf_output(&buf, bytes, sizeof(bytes));
	buf_is(&buf, "\n      BPF output: 0000: dc 25 e7 82 b3 a2 25 59  \xdc%\xe7.\xb3\xa2%Y\n"
		     "                  0008: 49 43                    IC      \n");
	tally_script_bpf_output(&buf, string, sizeof(string));
	buf_is(&buf, "\n      BPF output: 0000: 25 35 00 00 00 00 00 00  %5......\n"
		     "                  0008: 00 00 00 00              ....    \n"
		     "      BPF string: \"%5\"\n");
	tally_script_bpf_output(&buf, NULL, 0);
	buf_is(&buf, "\n");
}

static void weights(void **state)
{
	struct tally_sample sample = {.present = PERF_SAMPLE_WEIGHT_STRUCT,
				      .weight = 3024619449u | 7ull << 32 | 5ull << 48};
	struct tally_buf buf = {0};

	(void)state;
	tally_script_weight(&buf, &sample);
	tally_script_ins_lat(&buf, &sample);
	buf_is(&buf, "      3024619449               7");
	/* newer than perf 6.1 */
	tally_script_retire_lat(&buf, &sample);
	buf_is(&buf, "               5");
	sample.present = PERF_SAMPLE_WEIGHT;
	tally_script_weight(&buf, &sample);
	tally_script_ins_lat(&buf, &sample);
	buf_is(&buf, "1407407972943801               0");
}

static void tasks_and_maps(void **state)
{
	struct tally_body comm = {
	    .size = sizeof(comm), .type = PERF_RECORD_COMM, .comm = {4, 4, "taskset"}};
	struct tally_body fork = {
	    .size = sizeof(fork), .type = PERF_RECORD_FORK, .task = {14, 1, 15, 2, 0}};
	struct tally_body mmap = {
	    .size = sizeof(mmap),
	    .type = PERF_RECORD_MMAP,
	    .mmap = {UINT32_MAX, 0, 0xffffffff81000000, 0x120bb08, 0, "[kernel.kallsyms]_text"}};
	struct tally_body mmap2 = {.size = sizeof(mmap2),
				   .type = PERF_RECORD_MMAP2,
				   .mmap2 = {.pid = 17956,
					     .tid = 17956,
					     .addr = 0x7efcd2c03000,
					     .len = 0xb000,
					     .maj = 0xfe,
					     .ino = 409601,
					     .ino_generation = 3574594310,
					     .prot = 1,
					     .flags = 2,
					     .filename = "/etc/ld.so.cache"}};

	(void)state;
	record_is(&comm, NULL, "PERF_RECORD_COMM: taskset:4/4\n");
	comm.misc = PERF_RECORD_MISC_COMM_EXEC;
	record_is(&comm, NULL, "PERF_RECORD_COMM exec: taskset:4/4\n");
	record_is(&fork, NULL, "PERF_RECORD_FORK(14:15):(1:2)\n");
	record_is(&mmap, NULL,
		  "PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x120bb08) @ 0]: x "
		  "[kernel.kallsyms]_text\n");
	record_is(&mmap2, NULL,
		  "PERF_RECORD_MMAP2 17956/17956: [0x7efcd2c03000(0xb000) @ 0 fe:00 409601 "
		  "3574594310]: r--p /etc/ld.so.cache\n");
	mmap2.misc = PERF_RECORD_MISC_MMAP_BUILD_ID;
	mmap2.mmap2.build_id_size = 3;
	memcpy(mmap2.mmap2.build_id, "\x8f\x11\xf6", 3);
	mmap2.mmap2.prot = 7;
	mmap2.mmap2.flags = 1;
	record_is(&mmap2, NULL,
		  "PERF_RECORD_MMAP2 17956/17956: [0x7efcd2c03000(0xb000) @ 0 <8f11f6>]: rwxs "
		  "/etc/ld.so.cache\n");
}

static void names_do_nothing_to_a_terminal(void **state)
{
	struct tally_body comm = {
	    .size = sizeof(comm), .type = PERF_RECORD_COMM, .comm = {4, 4, "\x1b[2Jx"}};

	(void)state;
	record_is(&comm, NULL, "PERF_RECORD_COMM: \\x1b[2Jx:4/4\n");
}

static void switches(void **state)
{
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_SWITCH};

	(void)state;
	record_is(&body, NULL, "PERF_RECORD_SWITCH IN         \n");
	body.misc = PERF_RECORD_MISC_SWITCH_OUT;
	record_is(&body, NULL, "PERF_RECORD_SWITCH OUT        \n");
	body.misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	record_is(&body, NULL, "PERF_RECORD_SWITCH OUT preempt\n");
	body.type = PERF_RECORD_SWITCH_CPU_WIDE;
	body.switch_cpu_wide = (struct tally_record_switch_cpu_wide){1, 435264504};
	record_is(&body, NULL,
		  "PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next pid/tid:     1/435264504\n");
	body.misc = 0;
	body.switch_cpu_wide = (struct tally_record_switch_cpu_wide){UINT32_MAX, UINT32_MAX};
	record_is(&body, NULL,
		  "PERF_RECORD_SWITCH_CPU_WIDE IN           prev pid/tid:    -1/-1   \n");
}

static void the_kernels_own(void **state)
{
	static const struct tally_namespace links[] = {
	    {4, 0xeffffff9}, {4, 0xeffffffe}, {4, 0xefffffff}, {4, 0xeffffffc},
	    {4, 0xeffffffd}, {4, 0xeffffff8}, {4, 0xeffffffb}};
	struct tally_body names = {.size = sizeof(names),
				   .type = PERF_RECORD_NAMESPACES,
				   .namespaces = {17956, 17956, 7, links}};
	struct tally_body symbol = {.size = sizeof(symbol),
				    .type = PERF_RECORD_KSYMBOL,
				    .ksymbol = {0xca036511d2f5d326, 2206265698, 0, 1, "n39"}};
	struct tally_body bpf = {.size = sizeof(bpf),
				 .type = PERF_RECORD_BPF_EVENT,
				 .bpf_event = {.type = 2, .flags = 3675, .id = 3}};
	struct tally_body poke = {.size = sizeof(poke),
				  .type = PERF_RECORD_TEXT_POKE,
				  .text_poke = {0xffffffffc0000000, 1, 17,
						(const uint8_t *)"\x90"
								 "abcdefghijklmnopq"}};
	struct tally_body cgroup = {
	    .size = sizeof(cgroup), .type = PERF_RECORD_CGROUP, .cgroup = {1, "/"}};
	struct tally_body aux = {.size = sizeof(aux), .type = PERF_RECORD_AUX, .aux = {0, 0x10, 7}};
	struct tally_body lost = {.size = sizeof(lost), .type = PERF_RECORD_LOST, .lost = {7, 12}};
	struct tally_body start = {
	    .size = sizeof(start), .type = PERF_RECORD_ITRACE_START, .itrace_start = {1, 2}};
	struct tally_body hw_id = {
	    .size = sizeof(hw_id), .type = PERF_RECORD_AUX_OUTPUT_HW_ID, .aux_output_hw_id = {3}};
	struct tally_body round = {.size = sizeof(round), .type = PERF_RECORD_FINISHED_ROUND};

	(void)state;
	record_is(&names, NULL,
		  "PERF_RECORD_NAMESPACES 17956/17956 - nr_namespaces: 7\n"
		  "\t\t[0/net: 4/0xeffffff9, 1/uts: 4/0xeffffffe, 2/ipc: 4/0xefffffff, "
		  "3/pid: 4/0xeffffffc, \n"
		  "\t\t 4/user: 4/0xeffffffd, 5/mnt: 4/0xeffffff8, 6/cgroup: 4/0xeffffffb]\n");
	record_is(&symbol, NULL,
		  "PERF_RECORD_KSYMBOL addr ca036511d2f5d326 len 2206265698 type 0 flags 0x1 name "
		  "n39\n");
	record_is(&bpf, NULL, "PERF_RECORD_BPF_EVENT type 2, flags 3675, id 3\n");
	record_is(&poke, "f+0x10",
		  "PERF_RECORD_TEXT_POKE ffffffffc0000000 f+0x10 old len 1 new len 17\n"
		  "            Old bytes: 90\n"
		  "            New bytes: 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70\n"
		  "            New bytes: 71\n");
	record_is(&cgroup, NULL, "PERF_RECORD_CGROUP cgroup: 1 /\n");
	record_is(&aux, NULL, "PERF_RECORD_AUX offset: 0 size: 0x10 flags: 0x7 [TOP]\n");
	record_is(&lost, NULL, "PERF_RECORD_LOST lost 12\n");
	record_is(&start, NULL, "PERF_RECORD_ITRACE_START pid: 1 tid: 2\n");
	record_is(&hw_id, NULL, "PERF_RECORD_AUX_OUTPUT_HW_ID hw_id: 0x3\n");
	record_is(&round, NULL, "PERF_RECORD_FINISHED_ROUND\n");
}

static void names_of_records(void **state)
{
	(void)state;
	assert_string_equal(tally_script_record_name(PERF_RECORD_HEADER_ATTR), "ATTR");
	assert_string_equal(tally_script_record_name(PERF_RECORD_HEADER_FEATURE), "FEATURE");
	assert_string_equal(tally_script_record_name(PERF_RECORD_COMPRESSED2), "COMPRESSED2");
	assert_string_equal(tally_script_record_name(40), "UNKNOWN");
	assert_string_equal(tally_script_record_name(UINT32_MAX), "INVALID");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(data_src),
	    cmocka_unit_test(data_src_is_as_wide_as_the_widest),
	    cmocka_unit_test(registers),
	    cmocka_unit_test(a_sample_without_registers_has_no_text),
	    cmocka_unit_test(sizes_of_pages),
	    cmocka_unit_test(misc_letters),
	    cmocka_unit_test(flags),
	    cmocka_unit_test(branches),
	    cmocka_unit_test(bpf_output),
	    cmocka_unit_test(weights),
	    cmocka_unit_test(tasks_and_maps),
	    cmocka_unit_test(names_do_nothing_to_a_terminal),
	    cmocka_unit_test(switches),
	    cmocka_unit_test(the_kernels_own),
	    cmocka_unit_test(names_of_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
