/* The tables of src/abi against <linux/perf_event.h>, whose constants bear the same names, and, for
 * what came after Debian 12's header, against <tally/abi.h>. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>
#include <tally/record.h>
#include "abi/constant_names.h"
#include "abi/event_names.h"

static void is_ascending(const struct tally_abi_table *table)
{
	for (size_t i = 1; i < table->count; i++)
		assert_true(table->names[i - 1].number < table->names[i].number);
	for (size_t i = 0; i < table->count; i++)
		assert_string_equal(tally_abi_name(table, table->names[i].number),
				    table->names[i].name);
	assert_null(tally_abi_name(table, 4000000000U));
}

static void tables_are_ascending(void **state)
{
	(void)state;
	is_ascending(&tally_abi_sample_bits);
	is_ascending(&tally_abi_read_format_bits);
	is_ascending(&tally_abi_branch_bits);
	is_ascending(&tally_abi_attr_flags);
	is_ascending(&tally_abi_event_types);
	is_ascending(&tally_abi_cpumodes);
	is_ascending(&tally_abi_aux_actions);
}

static void values_are_the_header_s(void **state)
{
	(void)state;
#define ROW(number, name, since) assert_int_equal(number, PERF_TYPE_##name);
#include "abi/event_type.def"
#undef ROW
#define ROW(number, name, since) assert_int_equal(number, PERF_RECORD_MISC_##name);
#include "abi/cpumode.def"
#undef ROW
	/* The table may be newer than the header, and the other way round. */
	assert_true(tally_abi_event_types.count >= 6);
}

static void bits_are_the_header_s(void **state)
{
	(void)state;
#define ROW(number, name, since) assert_true(1ULL << (number) == PERF_SAMPLE_##name);
#include "abi/sample_bit.def"
#undef ROW
#define ROW(number, name, since) assert_true(1ULL << (number) == PERF_FORMAT_##name);
#include "abi/read_format.def"
#undef ROW
#define ROW(number, name, since) assert_true(1ULL << (number) == PERF_SAMPLE_BRANCH_##name);
#include "abi/branch_bit.def"
#undef ROW
	/* Those of Linux 6.1, or more: the table may be newer than the header, or older. */
	assert_true(tally_abi_sample_bits.count >= 25);
	assert_true(tally_abi_read_format_bits.count >= 5);
}

/* A bitfield's place is asked of the compiler: in our struct for all, and in the kernel's for what
 * Linux 6.1 had. */
static void flags_stand_where_the_struct_has_them(void **state)
{
	(void)state;
#define ROW(number, name, since) \
	assert_true(((struct tally_attr){.name = 1}).flags == 1ULL << (number));
#include "abi/attr_flag.def"
#undef ROW
#define ROW(number, name, since) \
	assert_true(((struct tally_attr){.name = 1}).aux_action == 1U << (number));
#include "abi/aux_action.def"
#undef ROW
	struct perf_event_attr theirs;
	struct tally_attr ours = {.precise_ip = 2, .sigtrap = 1, .remove_on_exec = 1, .mmap2 = 1};

	memset(&theirs, 0, sizeof(theirs));
	theirs.precise_ip = 2;
	theirs.sigtrap = 1;
	theirs.remove_on_exec = 1;
	theirs.mmap2 = 1;
	assert_memory_equal(&ours, &theirs,
			    sizeof(ours) < sizeof(theirs) ? sizeof(ours) : sizeof(theirs));
}

static void members_stand_where_the_kernel_has_them(void **state)
{
	(void)state;
#define SAME(member)                                          \
	assert_int_equal(offsetof(struct tally_attr, member), \
			 offsetof(struct perf_event_attr, member))
	SAME(type);
	SAME(size);
	SAME(config);
	SAME(sample_freq);
	SAME(sample_type);
	SAME(read_format);
	SAME(wakeup_watermark);
	SAME(bp_type);
	SAME(config1);
	SAME(config2);
	SAME(branch_sample_type);
	SAME(sample_regs_user);
	SAME(sample_stack_user);
	SAME(clockid);
	SAME(sample_regs_intr);
	SAME(aux_watermark);
	SAME(sample_max_stack);
	SAME(aux_sample_size);
	SAME(sig_data);
	assert_int_equal(offsetof(struct tally_attr, config3), PERF_ATTR_SIZE_VER7);
	assert_int_equal(sizeof(struct tally_branch), sizeof(struct perf_branch_entry));
}

/* 14.3: the names of events stand in one table, which every part asks. */
static void events_have_the_header_s_numbers(void **state)
{
	struct tally_attr attr = {.type = PERF_TYPE_HW_CACHE,
				  .config = PERF_COUNT_HW_CACHE_DTLB | 1 << 8 | 1 << 16};
	const struct tally_abi_cache *tlb = &tally_abi_caches[PERF_COUNT_HW_CACHE_DTLB];

	(void)state;
	assert_string_equal(tally_abi_event_name(PERF_TYPE_HARDWARE, 0), "cycles");
	assert_string_equal(tally_abi_event_name(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES),
			    "ref-cycles");
	assert_string_equal(tally_abi_event_name(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
			    "page-faults");
	assert_string_equal(tally_abi_event_name(PERF_TYPE_SOFTWARE, 11), "cgroup-switches");
	assert_null(tally_abi_event_name(PERF_TYPE_HARDWARE, 10));
	assert_null(tally_abi_event_name(PERF_TYPE_SOFTWARE, 1ULL << 32));
	assert_null(tally_abi_event_name(PERF_TYPE_RAW, 0));
	assert_string_equal(tlb->words[0], "dTLB");
	assert_string_equal(tally_abi_cache_counts[attr.config >> 8 & 0xff][attr.config >> 16],
			    "store-misses");
	/* Every name of the kernel's own events has a number that the header knows. */
	for (size_t i = 0; i < tally_abi_event_count; i++)
		assert_true(tally_abi_events[i].type == PERF_TYPE_HARDWARE
				? tally_abi_events[i].config < PERF_COUNT_HW_MAX
				: tally_abi_events[i].config <= 11);
}

static void misc_bits_depend_on_the_type(void **state)
{
	(void)state;
#define MISC(type, bit, name, since)                                              \
	assert_string_equal(tally_abi_misc_name(PERF_RECORD_##type, bit), #name); \
	assert_true(1ULL << (bit) == PERF_RECORD_MISC_##name);
#include "abi/misc_bit.def"
#undef MISC
	assert_null(tally_abi_misc_name(PERF_RECORD_EXIT, 13));
	assert_null(tally_abi_misc_name(PERF_RECORD_MMAP, 14));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tables_are_ascending),
	    cmocka_unit_test(values_are_the_header_s),
	    cmocka_unit_test(bits_are_the_header_s),
	    cmocka_unit_test(flags_stand_where_the_struct_has_them),
	    cmocka_unit_test(members_stand_where_the_kernel_has_them),
	    cmocka_unit_test(events_have_the_header_s_numbers),
	    cmocka_unit_test(misc_bits_depend_on_the_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
