/* Records written by hand, byte by byte, as the kernel's and perf's headers say: what decoding
 * makes of them, what encoding makes of that, and the text it gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bytes.h"
#include "wire/dump.h"

/* All little endian: on other machines there is nothing to compare. */
#define B64(v)                                                                       \
	(uint8_t)(v), (uint8_t)((uint64_t)(v) >> 8), (uint8_t)((uint64_t)(v) >> 16), \
	    (uint8_t)((uint64_t)(v) >> 24), (uint8_t)((uint64_t)(v) >> 32),          \
	    (uint8_t)((uint64_t)(v) >> 40), (uint8_t)((uint64_t)(v) >> 48),          \
	    (uint8_t)((uint64_t)(v) >> 56)
#define B32(v)                                                                       \
	(uint8_t)(v), (uint8_t)((uint32_t)(v) >> 8), (uint8_t)((uint32_t)(v) >> 16), \
	    (uint8_t)((uint32_t)(v) >> 24)
#define B16(v)                 (uint8_t)(v), (uint8_t)((uint16_t)(v) >> 8)
#define HEAD(type, misc, size) B32(type), B16(misc), B16(size)

static struct tally_body decode(const struct tally_attr *attr, const uint8_t *bytes, size_t size,
				const char *text)
{
	struct tally_record record = {.bytes = bytes,
				      .type = load_u32(bytes),
				      .misc = load_u16(bytes + 4),
				      .size = load_u16(bytes + 6)};
	struct tally_error error;
	struct tally_layout layout;
	struct tally_buf dump = {0};
	struct tally_body body = {.size = sizeof(body)};
	uint8_t again[512];
	char *whole;

	assert_int_equal(record.size, size);
	tally_layout_init(&layout, attr);
	if (tally_record_decode(&layout, &record, &body, &error))
		fail_msg("%s", error.text);
	assert_int_equal(tally_record_size(&layout, &body), size);
	assert_int_equal(tally_record_encode(&layout, &body, again, sizeof(again)), size);
	assert_memory_equal(again, bytes, size);
	assert_int_equal(tally_body_dump(&layout, &body, &dump), 0);
	if (text)
		assert_string_equal(tally_buf_str(&dump), text);
	assert_int_equal(tally_record_dump(&layout, &record, &whole, NULL), 0);
	assert_string_equal(whole, tally_buf_str(&dump));
	free(whole);
	tally_buf_done(&dump);
	return body;
}

/* TID, TIME and CPU behind every record but samples. */
static const struct tally_attr plain = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
					.sample_id_all = 1};
#define TRAILER B32(11), B32(12), B64(99), B32(3), B32(0)
#define TRAILER_TEXT                                                               \
	"sample_id.pid=11\nsample_id.tid=12\nsample_id.time=99\nsample_id.cpu=3\n" \
	"sample_id.cpu_reserved=0\n"

static void sample(void **state)
{
	/* Bits chosen so that their order is not the order of the bytes. */
	static const struct tally_attr attr = {
	    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ |
			   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
			   PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			   PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_AUX | PERF_SAMPLE_CGROUP |
			   PERF_SAMPLE_PHYS_ADDR,
	    .read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST | PERF_FORMAT_TOTAL_TIME_ENABLED,
	    .branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_COUNTERS,
	    .sample_regs_user = 1 << 7 | 1 << 8,
	};
	static const uint8_t bytes[] __attribute__((aligned(8))) = {
	    HEAD(9, 0x4002, 256),
	    B64(77),                 /* identifier */
	    B64(0xffffffff81000000), /* ip */
	    B32(10),
	    B32(11),        /* pid, tid */
	    B64(123456789), /* time */
	    B64(4000),      /* period */
	    B64(5),
	    B64(6),
	    B64(77),
	    B64(1), /* read: value, enabled, id, lost */
	    B64(2),
	    B64(-512ULL),
	    B64(0x401000), /* callchain */
	    B32(4),
	    'a',
	    'b',
	    'c',
	    'd', /* raw */
	    B64(1),
	    B64(9), /* branches: nr, hw_idx */
	    B64(0x1000),
	    B64(0x2000),
	    B64(2 | 7 << 4), /* from, to, predicted, 7 cycles */
	    B64(0x55),       /* the branch's counters */
	    B64(2),
	    B64(0x7ffc0000),
	    B64(0x401000), /* abi, two registers */
	    B64(16),
	    1,
	    2,
	    3,
	    4,
	    5,
	    6,
	    7,
	    8,
	    9,
	    10,
	    11,
	    12,
	    13,
	    14,
	    15,
	    16,
	    B64(12), /* stack */
	    B32(30),
	    B16(20),
	    B16(10),       /* weights */
	    B64(0xabc000), /* phys_addr */
	    B64(42),       /* cgroup */
	    B64(8),
	    'A',
	    'U',
	    'X',
	    'd',
	    'a',
	    't',
	    'a',
	    '!', /* aux: the last */
	};
	struct tally_body body = decode(
	    &attr, bytes, sizeof(bytes),
	    "SAMPLE\nmisc=0x4002 USER EXACT_IP\nidentifier=77\nip=0xffffffff81000000\npid=10\n"
	    "tid=11\ntime=123456789\nperiod=4000\nread.time_enabled=6\nread.values: value=5 id=77 "
	    "lost=1\n"
	    "callchain_nr=2\ncallchain=2: 0xfffffffffffffe00 0x401000\n"
	    "raw=4:61626364\nbranch_hw_idx=9\nbranches: from=0x1000 to=0x2000 flags=0x72\n"
	    "branch_counters=1: 85\nuser_abi=2\nuser_regs=2: 0x7ffc0000 0x401000\n"
	    "user_stack=16:0102030405060708090a0b0c0d0e0f10\nuser_stack_dyn_size=12\n"
	    "weight=0xa00140000001e\nphys_addr=0xabc000\ncgroup=42\naux=8:4155586461746121\n");
	const struct tally_sample *s = &body.sample;

	(void)state;
	assert_int_equal(s->present, attr.sample_type);
	assert_int_equal(s->identifier, 77);
	assert_true(s->ip == 0xffffffff81000000);
	assert_int_equal(s->tid, 11);
	assert_int_equal(s->read.lost, 1);
	assert_int_equal(s->callchain_nr, 2);
	assert_int_equal(s->callchain[1], 0x401000);
	assert_memory_equal(s->raw, "abcd", 4);
	assert_int_equal(s->branches[0].to, 0x2000);
	assert_int_equal(s->branch_counters[0], 0x55);
	assert_int_equal(s->user_regs[1], 0x401000);
	assert_int_equal(s->user_stack_dyn_size, 12);
	assert_int_equal(s->weight & 0xffffffff, 30);
	assert_int_equal(s->cgroup, 42);
	assert_memory_equal(s->aux, "AUXdata!", 8);
}

#define MMAP2_WITH_NUMBERS(misc, maj)                                                             \
	HEAD(10, misc, 104), B32(10), B32(11), B64(0x400000), B64(0x1000), B64(0x2000), B32(maj), \
	    B32(1), B64(1234567), B64(7), B32(5), B32(2), '/', 'b', 'i', 'n', 0, 0, 0, 0, TRAILER

static void mmap2_with_an_inode(void **state)
{
	static const uint8_t bytes[] __attribute__((aligned(8))) = {MMAP2_WITH_NUMBERS(2, 8)};
	struct tally_body body =
	    decode(&plain, bytes, sizeof(bytes),
		   "MMAP2\nmisc=0x2 USER\npid=10\ntid=11\naddr=0x400000\nlen=0x1000\npgoff=0x2000\n"
		   "maj=8\nmin=1\nino=1234567\nino_generation=7\nprot=0x5\nflags=0x2\n"
		   "filename=\"/bin\"\n" TRAILER_TEXT);

	(void)state;
	assert_int_equal(body.mmap2.ino, 1234567);
	assert_string_equal(body.mmap2.filename, "/bin");
	assert_int_equal(body.id.time, 99);
	assert_int_equal(body.id.cpu, 3);
}

/* Of Linux 3.12: in both byte orders, and with a name that ends where flags are. */
static void mmap2_without_rights(void **state)
{
	static const char *const names[] = {"/lib/libx.so.1", "[vdso]"};
	struct tally_layout layout;

	(void)state;
	tally_layout_init(&layout, &plain);
	for (size_t i = 0; i < 2; i++) {
		size_t padded = align_up(strlen(names[i]) + 1, 8), size = 64 + padded + 24;
		uint8_t bytes[128] = {HEAD(PERF_RECORD_MMAP2, 2, 0),
				      B32(10),
				      B32(11),
				      B64(0x400000),
				      B64(0x1000),
				      B64(0x2000),
				      B32(8),
				      B32(1),
				      B64(1234567),
				      B64(7)};
		const struct tally_record record = {
		    .bytes = bytes, .type = PERF_RECORD_MMAP2, .misc = 2, .size = (uint16_t)size};
		struct tally_body body = {.size = sizeof(body)};

		bytes[6] = (uint8_t)size;
		memcpy(bytes + 64, names[i], strlen(names[i]));
		store_u64(bytes + 64 + padded + 8, 77);
		for (unsigned turn = 0; turn < 2; turn++) {
			assert_int_equal(tally_record_decode(&layout, &record, &body, NULL), 0);
			assert_string_equal(body.mmap2.filename, names[i]);
			assert_int_equal(body.mmap2.ino_generation, 7);
			assert_int_equal(body.mmap2.prot, 5);
			assert_int_equal(body.mmap2.flags, 2);
			assert_int_equal(body.id.time, 77);
			assert_int_equal(tally_record_swap(&layout, bytes, size, false, NULL), 0);
			assert_int_equal(tally_record_swap(&layout, bytes, size, true, NULL), 0);
		}
	}
}

static void mmap2_with_a_build_id(void **state)
{
	static const uint8_t bytes[] __attribute__((aligned(8))) = {
	    HEAD(10, 0x4002, 104),
	    B32(10),
	    B32(11),
	    B64(0x400000),
	    B64(0x1000),
	    B64(0x2000),
	    20,
	    0,
	    0,
	    0, /* size, reserved */
	    0,
	    1,
	    2,
	    3,
	    4,
	    5,
	    6,
	    7,
	    8,
	    9,
	    10,
	    11,
	    12,
	    13,
	    14,
	    15,
	    16,
	    17,
	    18,
	    19,
	    B32(5),
	    B32(2),
	    '/',
	    'b',
	    'i',
	    'n',
	    0,
	    0,
	    0,
	    0,
	    TRAILER,
	};
	struct tally_body body =
	    decode(&plain, bytes, sizeof(bytes),
		   "MMAP2\nmisc=0x4002 USER MMAP_BUILD_ID\npid=10\ntid=11\naddr=0x400000\n"
		   "len=0x1000\npgoff=0x2000\n"
		   "build_id=20:000102030405060708090a0b0c0d0e0f10111213\n"
		   "prot=0x5\nflags=0x2\nfilename=\"/bin\"\n" TRAILER_TEXT);

	(void)state;
	assert_int_equal(body.mmap2.build_id_size, 20);
	assert_int_equal(body.mmap2.build_id[19], 19);
	assert_int_equal(body.mmap2.prot, 5);
}

/* Linux leaves the bit of build-ids set though the numbers of the file stand there. */
static void mmap2_with_a_wrong_bit(void **state)
{
	static const uint32_t devices[] = {0, 8, 254, 259};

	(void)state;
	for (unsigned i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		uint8_t bytes[]
		    __attribute__((aligned(8))) = {MMAP2_WITH_NUMBERS(0x4002, devices[i])};
		struct tally_record record = {.bytes = bytes,
					      .type = PERF_RECORD_MMAP2,
					      .misc = load_u16(bytes + 4),
					      .size = sizeof(bytes)};
		struct tally_layout layout;
		struct tally_body body = {.size = sizeof(body)};

		tally_layout_init(&layout, &plain);
		assert_int_equal(tally_record_decode(&layout, &record, &body, NULL), 0);
		assert_int_equal(body.misc, PERF_RECORD_MISC_USER);
		assert_int_equal(body.mmap2.maj, devices[i]);
		assert_int_equal(body.mmap2.ino, 1234567);
		assert_int_equal(body.mmap2.build_id_size, 0);
		assert_string_equal(body.mmap2.filename, "/bin");
		assert_int_equal(body.id.time, 99);
	}
}

static void comm(void **state)
{
	/* The name holds a newline: dumps escape it. */
	static const uint8_t bytes[] __attribute__((aligned(8))) = {
	    HEAD(3, 0x2000, 48), B32(10), B32(11), 'a', '\n', 'b', 0, 0, 0, 0, 0, TRAILER,
	};
	struct tally_body body = decode(&plain, bytes, sizeof(bytes),
					"COMM\nmisc=0x2000 COMM_EXEC\npid=10\ntid=11\n"
					"comm=\"a\\x0ab\"\n" TRAILER_TEXT);

	(void)state;
	assert_string_equal(body.comm.comm, "a\nb");
}

static void lost(void **state)
{
	static const uint8_t bytes[]
	    __attribute__((aligned(8))) = {HEAD(2, 0, 48), B64(7), B64(1000), TRAILER};
	struct tally_body body =
	    decode(&plain, bytes, sizeof(bytes), "LOST\nmisc=0\nid=7\nlost=1000\n" TRAILER_TEXT);

	(void)state;
	assert_int_equal(body.lost.lost, 1000);
}

static void namespaces(void **state)
{
	static const uint8_t bytes[] __attribute__((aligned(8))) = {
	    HEAD(16, 0, 80), B32(10), B32(11),         B64(2),  B64(4),
	    B64(4026531840), B64(4),  B64(4026531838), TRAILER,
	};
	struct tally_body body = decode(&plain, bytes, sizeof(bytes),
					"NAMESPACES\nmisc=0\npid=10\ntid=11\nnr_namespaces=2\n"
					"link_info=2: 4,4026531840 4,4026531838\n" TRAILER_TEXT);

	(void)state;
	assert_int_equal(body.namespaces.nr_namespaces, 2);
	assert_true(body.namespaces.link_info[1].ino == 4026531838);
}

static void ksymbol(void **state)
{
	static const uint8_t bytes[] __attribute__((aligned(8))) = {
	    HEAD(17, 0, 56),
	    B64(0xffffffffc0000000),
	    B32(64),
	    B16(1),
	    B16(0),
	    'b',
	    'p',
	    'f',
	    '_',
	    'p',
	    0,
	    0,
	    0,
	    TRAILER,
	};
	struct tally_body body =
	    decode(&plain, bytes, sizeof(bytes),
		   "KSYMBOL\nmisc=0\naddr=0xffffffffc0000000\nlen=0x40\nksym_type=1\nflags=0\n"
		   "name=\"bpf_p\"\n" TRAILER_TEXT);

	(void)state;
	assert_int_equal(body.ksymbol.len, 64);
	assert_string_equal(body.ksymbol.name, "bpf_p");
}

static void text_poke(void **state)
{
	static const uint8_t bytes[] __attribute__((aligned(8))) = {
	    HEAD(20, 1, 56),
	    B64(0xffffffff81000000),
	    B16(5),
	    B16(5),
	    0x0f,
	    0x1f,
	    0x44,
	    0,
	    0,
	    0xe8,
	    1,
	    2,
	    3,
	    4,
	    0,
	    0,
	    TRAILER,
	};
	struct tally_body body =
	    decode(&plain, bytes, sizeof(bytes),
		   "TEXT_POKE\nmisc=0x1 KERNEL\naddr=0xffffffff81000000\nold_len=5\nnew_len=5\n"
		   "old_bytes=5:0f1f440000\nnew_bytes=5:e801020304\n" TRAILER_TEXT);

	(void)state;
	assert_int_equal(body.text_poke.bytes[5], 0xe8);
}

static void callchain_deferred(void **state)
{
	static const uint8_t bytes[] __attribute__((aligned(8))) = {
	    HEAD(22, 2, 64), B64(0x123), B64(2), B64(0x401000), B64(0x402000), TRAILER,
	};
	struct tally_body body = decode(&plain, bytes, sizeof(bytes),
					"CALLCHAIN_DEFERRED\nmisc=0x2 USER\ncookie=291\nnr=2\n"
					"ips=2: 0x401000 0x402000\n" TRAILER_TEXT);

	(void)state;
	assert_int_equal(body.callchain_deferred.cookie, 0x123);
	assert_int_equal(body.callchain_deferred.ips[1], 0x402000);
}

/* What perf 3.8 wrote to a pipe: the name is as long as it is, up to the next 8 bytes. */
static void event_type_of_a_stream(void **state)
{
	static const uint8_t bytes[] __attribute__((aligned(8))) = {
	    HEAD(65, 0, 24), B64(0), 'c', 'y', 'c', 'l', 'e', 's', 0, 0};

	(void)state;
	decode(&plain, bytes, sizeof(bytes), "EVENT_TYPE\nmisc=0\nid=0\nname=\"cycles\"\n");
}

static void counts_beyond_the_record_are_refused(void **state)
{
	/* nr is chosen so that nr * 16 wraps to 16. */
	static const uint8_t bytes[] __attribute__((aligned(8))) = {
	    HEAD(16, 0, 64), B32(10), B32(11), B64((1ULL << 60) + 1), B64(4), B64(5), TRAILER,
	};
	struct tally_record record = {.bytes = bytes, .type = 16, .size = 64, .offset = 4096};
	struct tally_error error;
	struct tally_layout layout;
	struct tally_body body = {.size = sizeof(body)};

	(void)state;
	memset(&body, 0x5a, sizeof(body));
	tally_layout_init(&layout, &plain);
	assert_int_equal(tally_record_decode(&layout, &record, &body, &error), -EBADMSG);
	assert_in_range(error.position, 4096 + 16, 4096 + 24);
	assert_non_null(strstr(error.text, "NAMESPACES"));
	assert_int_equal(body.misc, 0x5a5a); /* untouched */
}

static const struct tally_attr branchy = {
    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC,
    .branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_COUNTERS};

/* Recorders ask for hw_idx and counters, and keep it in the attr when they were not given. */
static void branch_stacks_without_what_the_attr_says(void **state)
{
	static const uint8_t full[] __attribute__((aligned(8))) = {
	    HEAD(9, 2, 72), B64(0x401000), B64(1), B64(5),    B64(0x401100),
	    B64(0x401200),  B64(1),        B64(9), B64(0x77),
	};
	static const uint8_t no_counters[] __attribute__((aligned(8))) = {
	    HEAD(9, 2, 64), B64(0x401000), B64(1), B64(5),
	    B64(0x401100),  B64(0x401200), B64(1), B64(0x77),
	};
	static const uint8_t no_index[] __attribute__((aligned(8))) = {
	    HEAD(9, 2, 64), B64(0x401000), B64(1), B64(0x401100),
	    B64(0x401200),  B64(1),        B64(9), B64(0x77),
	};
	static const uint8_t neither[] __attribute__((aligned(8))) = {
	    HEAD(9, 2, 56), B64(0x401000), B64(1), B64(0x401100), B64(0x401200), B64(1), B64(0x77),
	};
	static const struct {
		const uint8_t *bytes;
		uint64_t index;
		bool counters;
	} cases[] = {
	    {full, 5, true}, {no_counters, 5, false}, {no_index, 0, true}, {neither, 0, false}};
	struct tally_layout layout;
	struct tally_sample sample = {.size = sizeof(sample)};

	(void)state;
	tally_layout_init(&layout, &branchy);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_record record = {
		    .bytes = cases[i].bytes, .type = 9, .size = load_u16(cases[i].bytes + 6)};
		struct tally_body body = {.size = sizeof(body)};

		assert_int_equal(tally_sample_decode(&layout, &record, UINT64_MAX, &sample, NULL),
				 0);
		assert_int_equal(sample.branch_nr, 1);
		assert_int_equal(sample.branches[0].from, 0x401100);
		assert_int_equal(sample.branch_hw_idx, cases[i].index);
		assert_int_equal(!!sample.branch_counters, cases[i].counters);
		assert_int_equal(sample.data_src, 0x77);
		assert_int_equal(tally_record_decode(&layout, &record, &body, NULL), 0);
		assert_int_equal(body.sample.data_src, 0x77);
	}
}

/* Text stays, numbers are turned. */
static void tool_records_of_the_other_order(void **state)
{
	static const uint8_t scale[] = {HEAD(78, 0, 32), B64(1), B64(7), B64(0x3fd0000000000000)};
	static const uint8_t name[] = {
	    HEAD(78, 0, 32), B64(2), B64(7), 'n', 'a', 'm', 'e', 0, 0, 0, 0};
	static const uint8_t list[] = {HEAD(78, 0, 32), B64(3), B64(7), B16(0),
				       B16(2),          B16(1), B16(3)};
	static const uint8_t mask[] = {
	    HEAD(78, 0, 48), B64(3), B64(7), B16(1), B16(1), B16(8), B32(0),
	    B64(5),          0,      0,      0,      0,      0,      0};
	static const uint8_t range[] = {HEAD(78, 0, 32), B64(3), B64(7), B16(2), 1, 0,
					B16(2),          B16(9)};
	static const uint8_t cpu[] = {HEAD(85, 0, 56), B64(9), B32(1), B16(17), B16(0), B32(1),
				      B32(2),          B32(3), B32(4), B32(5),  B32(6), B64(7)};
	static const uint8_t domain[] = {HEAD(86, 0, 32), B64(9), B32(1), B16(17),
					 B16(2),          B32(1), B32(2)};
	static const struct {
		const uint8_t *bytes;
		size_t size, at, width; /* a field that must turn; width 0: none */
	} cases[] = {
	    {scale, sizeof(scale), 24, 8}, {name, sizeof(name), 24, 0},
	    {list, sizeof(list), 30, 2},   {mask, sizeof(mask), 34, 8},
	    {range, sizeof(range), 30, 2}, {cpu, sizeof(cpu), 44, 4},
	    {cpu, sizeof(cpu), 48, 8},     {domain, sizeof(domain), 28, 4},
	};
	struct tally_layout layout;

	(void)state;
	tally_layout_init(&layout, &plain);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[64] __attribute__((aligned(8)));
		const uint8_t *was = cases[i].bytes + cases[i].at;

		memcpy(bytes, cases[i].bytes, cases[i].size);
		assert_int_equal(tally_record_swap(&layout, bytes, cases[i].size, false, NULL), 0);
		for (size_t k = 0; k < cases[i].width; k++)
			assert_int_equal(bytes[cases[i].at + k], was[cases[i].width - 1 - k]);
		if (!cases[i].width)
			assert_memory_equal(bytes + cases[i].at, was, 8);
		assert_int_equal(tally_record_swap(&layout, bytes, cases[i].size, true, NULL), 0);
		assert_memory_equal(bytes, cases[i].bytes, cases[i].size);
	}
}

static void attrs_as_text(void **state)
{
	static const struct tally_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = 128,
	    .sample_freq = 4000,
	    .freq = 1,
	    .precise_ip = 2,
	    .sample_id_all = 1,
	    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | 1ULL << 40,
	    .read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
	    .aux_pause = 1,
	};
	struct tally_buf text = {0};

	(void)state;
	assert_int_equal(tally_attr_dump(&attr, &text), 0);
	assert_string_equal(tally_buf_str(&text),
			    "type=SOFTWARE\nsize=128\nsample_freq=4000\n"
			    "sample_type=IP|TIME|0x10000000000\nread_format=ID|LOST\nprecise_ip=2\n"
			    "flags=freq|sample_id_all\naux_action=aux_pause\n");
	tally_buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sample),
	    cmocka_unit_test(mmap2_with_an_inode),
	    cmocka_unit_test(mmap2_without_rights),
	    cmocka_unit_test(mmap2_with_a_build_id),
	    cmocka_unit_test(mmap2_with_a_wrong_bit),
	    cmocka_unit_test(comm),
	    cmocka_unit_test(lost),
	    cmocka_unit_test(namespaces),
	    cmocka_unit_test(ksymbol),
	    cmocka_unit_test(text_poke),
	    cmocka_unit_test(callchain_deferred),
	    cmocka_unit_test(event_type_of_a_stream),
	    cmocka_unit_test(counts_beyond_the_record_are_refused),
	    cmocka_unit_test(branch_stacks_without_what_the_attr_says),
	    cmocka_unit_test(tool_records_of_the_other_order),
	    cmocka_unit_test(attrs_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
