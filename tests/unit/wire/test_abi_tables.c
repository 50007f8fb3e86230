/* The tables of src/abi against <linux/perf_event.h>, whose constants bear the same names, and, for
 * what came after Debian 12's header, against <tally/abi.h>. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>
#include <tally/record.h>
#include "abi/constant_names.h"

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
	is_ascending(&tally_abi_hardware);
	is_ascending(&tally_abi_software);
	is_ascending(&tally_abi_cache_ids);
	is_ascending(&tally_abi_cache_ops);
	is_ascending(&tally_abi_cache_results);
	is_ascending(&tally_abi_cpumodes);
	is_ascending(&tally_abi_aux_actions);
	is_ascending(&tally_abi_aux_flags);
	is_ascending(&tally_abi_branch_types);
}

static void values_are_the_header_s(void **state)
{
	(void)state;
#define ROW(number, name, since) assert_int_equal(number, PERF_TYPE_##name);
#include "abi/event_type.def"
#undef ROW
#define ROW(number, name, since) assert_int_equal(number, PERF_COUNT_HW_##name);
#include "abi/hardware.def"
#undef ROW
#define ROW(number, name, since) assert_int_equal(number, PERF_COUNT_SW_##name);
#include "abi/software.def"
#undef ROW
#define ROW(number, name, since) assert_int_equal(number, PERF_COUNT_HW_CACHE_##name);
#include "abi/cache_id.def"
#undef ROW
#define ROW(number, name, since) assert_int_equal(number, PERF_COUNT_HW_CACHE_OP_##name);
#include "abi/cache_op.def"
#undef ROW
#define ROW(number, name, since) assert_int_equal(number, PERF_COUNT_HW_CACHE_RESULT_##name);
#include "abi/cache_result.def"
#undef ROW
#define ROW(number, name, since) assert_int_equal(number, PERF_RECORD_MISC_##name);
#include "abi/cpumode.def"
#undef ROW
#define ROW(number, name, since) assert_int_equal(number, PERF_BR_##name);
#include "abi/branch_type.def"
#undef ROW
	assert_int_equal(tally_abi_hardware.count, PERF_COUNT_HW_MAX);
	assert_int_equal(tally_abi_software.count, PERF_COUNT_SW_MAX);
	assert_int_equal(tally_abi_cache_ids.count, PERF_COUNT_HW_CACHE_MAX);
	assert_int_equal(tally_abi_event_types.count, PERF_TYPE_MAX);
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
#define ROW(number, name, since) assert_true(1ULL << (number) == PERF_AUX_FLAG_##name);
#include "abi/aux_flag.def"
#undef ROW
	assert_true(1ULL << tally_abi_sample_bits.count == PERF_SAMPLE_MAX);
	assert_true(1ULL << tally_abi_read_format_bits.count == PERF_FORMAT_MAX);
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
	assert_memory_equal(&ours, &theirs, sizeof(theirs));
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
	assert_int_equal(offsetof(struct tally_attr, config3), sizeof(struct perf_event_attr));
	assert_int_equal(sizeof(struct tally_branch), sizeof(struct perf_branch_entry));
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
	    cmocka_unit_test(misc_bits_depend_on_the_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
