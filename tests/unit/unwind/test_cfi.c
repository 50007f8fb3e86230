/* Tables of made-up sections: rules that were known before. */
#include "made_cfi.h"

#include <stdlib.h>
#include "unwind/cfi_entries.h"

/* push %rbp; mov %rsp,%rbp; ...; pop %rbp; ret, as compilers describe it. */
static const uint8_t with_frame_pointer[] = {
    0x41,          /* advance 1 */
    0x0e, 16,      /* def_cfa_offset 16 */
    0x86, 2,       /* rbp at cfa-16 */
    0x43,          /* advance 3 */
    0x0d, 6,       /* def_cfa_register rbp */
    0x02, 0x20,    /* advance_loc1 32 */
    0x0a,          /* remember_state */
    0x0c, 7,    8, /* def_cfa rsp+8 */
    0xc6,          /* restore rbp */
    0x41,          /* advance 1 */
    0x0b,          /* restore_state */
};

static void rules_hold_from_one_change_to_the_next(void **state)
{
	struct made made = {.size = 0};
	struct tally_cfi *cfi;
	const struct cfi_rules *set;

	(void)state;
	made_common(&made, "zR");
	made_function(&made, 0x1000, 0x40, with_frame_pointer, sizeof(with_frame_pointer));
	cfi = made_table(&made);
	assert_ptr_equal(tally_cfi_find(cfi, 0xfff), &tally_cfi_none);
	set = made_set(cfi, 0x1000);
	assert_int_equal(set->return_column, 16);
	assert_false(set->signal);
	assert_int_equal(set->cfa.how, CFI_REGISTER);
	assert_int_equal(set->cfa.column, 7);
	assert_int_equal(set->cfa.value, 8);
	assert_int_equal(made_rule(cfi, 0x1000, 16)->how, CFI_AT_CFA);
	assert_int_equal(made_rule(cfi, 0x1000, 16)->value, -8);
	assert_null(made_rule(cfi, 0x1000, 6));
	assert_int_equal(made_set(cfi, 0x1001)->cfa.value, 16);
	assert_int_equal(made_rule(cfi, 0x1003, 6)->value, -16);
	assert_int_equal(made_set(cfi, 0x1003)->cfa.column, 7);
	assert_int_equal(made_set(cfi, 0x1004)->cfa.column, 6);
	assert_int_equal(made_set(cfi, 0x1004)->cfa.value, 16);
	assert_ptr_equal(tally_cfi_find(cfi, 0x1023), tally_cfi_find(cfi, 0x1004));
	/* Equal rules are kept once. */
	assert_ptr_equal(tally_cfi_find(cfi, 0x1024), tally_cfi_find(cfi, 0x1000));
	assert_ptr_equal(tally_cfi_find(cfi, 0x1025), tally_cfi_find(cfi, 0x1004));
	assert_ptr_equal(tally_cfi_find(cfi, 0x103f), tally_cfi_find(cfi, 0x1004));
	assert_ptr_equal(tally_cfi_find(cfi, 0x1040), &tally_cfi_none);
	tally_cfi_free(cfi);
}

static void every_kind_of_rule_is_kept(void **state)
{
	static const uint8_t program[] = {
	    0x07, 0x10,                   /* undefined RA */
	    0x09, 0x03, 0x0c,             /* rbx is r12 */
	    0x05, 0x0d, 0x04,             /* offset_extended r13 -32 */
	    0x11, 0x0e, 0x7f,             /* offset_extended_sf r14, factor -1: +8 */
	    0x14, 0x0f, 0x02,             /* val_offset r15 -16 */
	    0x15, 0x00, 0x7e,             /* val_offset_sf rax +16 */
	    0x10, 0x06, 0x02, 0x76, 0x00, /* rbp at (breg6 0) */
	    0x16, 0x01, 0x01, 0x35,       /* rdx is lit5 */
	    0x0f, 0x03, 0x77, 0x08, 0x06, /* CFA is breg7+8, deref */
	    0x2e, 0x10,                   /* args_size */
	    0x05, 0x21, 0x01,             /* offset of register 33: not followed */
	};
	struct made made = {.size = 0};
	struct tally_cfi *cfi;
	const struct cfi_rule *rule;

	(void)state;
	made_common(&made, "zRS");
	made_function(&made, 0x1000, 0x10, program, sizeof(program));
	cfi = made_table(&made);
	assert_true(made_set(cfi, 0x1000)->signal);
	assert_int_equal(made_set(cfi, 0x1000)->cfa.how, CFI_IS_EXPRESSION);
	assert_int_equal(made_set(cfi, 0x1000)->cfa.length, 3);
	assert_memory_equal(made_bytes(made_set(cfi, 0x1000), &made_set(cfi, 0x1000)->cfa),
			    "\x77\x08\x06", 3);
	assert_int_equal(made_set(cfi, 0x1000)->count, 8);
	assert_int_equal(made_rule(cfi, 0x1000, 16)->how, CFI_UNDEFINED);
	rule = made_rule(cfi, 0x1000, 3);
	assert_int_equal(rule->how, CFI_REGISTER);
	assert_int_equal(rule->value, 12);
	assert_int_equal(made_rule(cfi, 0x1000, 13)->value, -32);
	assert_int_equal(made_rule(cfi, 0x1000, 14)->value, 8);
	rule = made_rule(cfi, 0x1000, 15);
	assert_int_equal(rule->how, CFI_CFA_PLUS);
	assert_int_equal(rule->value, -16);
	assert_int_equal(made_rule(cfi, 0x1000, 0)->value, 16);
	rule = made_rule(cfi, 0x1000, 6);
	assert_int_equal(rule->how, CFI_AT_EXPRESSION);
	assert_memory_equal(made_bytes(made_set(cfi, 0x1000), rule), "\x76\x00", 2);
	assert_int_equal(made_rule(cfi, 0x1000, 1)->how, CFI_IS_EXPRESSION);
	tally_cfi_free(cfi);
}

static void an_invalid_entry_costs_only_its_own_range(void **state)
{
	static const uint8_t unknown[] = {0x44, 0x0e, 16, 0x44, 0x3f};
	static const uint8_t empty_stack[] = {0x42, 0x0b};
	static const uint8_t no_such_register[] = {0x42, 0x0c, 200, 1, 8, 0x42};
	static const uint8_t cut_expression[] = {0x42, 0x0f, 100, 0x42};
	struct made made = {.size = 0};
	struct tally_cfi *cfi;

	(void)state;
	made_common(&made, "zR");
	made_function(&made, 0x1000, 0x10, unknown, sizeof(unknown));
	made_function(&made, 0x2000, 0x10, empty_stack, sizeof(empty_stack));
	made_function(&made, 0x3000, 0x10, with_frame_pointer, 3);
	made_function(&made, 0x4000, 0x10, no_such_register, sizeof(no_such_register));
	made_function(&made, 0x5000, 0x10, cut_expression, sizeof(cut_expression));
	cfi = made_table(&made);
	assert_ptr_equal(tally_cfi_find(cfi, 0x4002), &tally_cfi_damaged);
	assert_ptr_equal(tally_cfi_find(cfi, 0x4008), &tally_cfi_damaged);
	assert_int_equal(made_set(cfi, 0x5001)->cfa.value, 8);
	assert_ptr_equal(tally_cfi_find(cfi, 0x5004), &tally_cfi_damaged);
	assert_int_equal(made_set(cfi, 0x1000)->cfa.value, 8);
	assert_int_equal(made_set(cfi, 0x1004)->cfa.value, 16);
	assert_ptr_equal(tally_cfi_find(cfi, 0x1008), &tally_cfi_damaged);
	assert_ptr_equal(tally_cfi_find(cfi, 0x100f), &tally_cfi_damaged);
	assert_ptr_equal(tally_cfi_find(cfi, 0x1010), &tally_cfi_none);
	assert_int_equal(made_set(cfi, 0x2001)->cfa.value, 8);
	assert_ptr_equal(tally_cfi_find(cfi, 0x2002), &tally_cfi_damaged);
	assert_int_equal(made_set(cfi, 0x3001)->cfa.value, 16);
	tally_cfi_free(cfi);
}

static int next_row(void *context, uint64_t from, const struct cfi_rules *rules)
{
	uint64_t *next = context;

	assert_true(from >= *next);
	assert_non_null(rules);
	*next = from + 1;
	return 0;
}

static void walk_rows(struct tally_cfi *cfi)
{
	uint64_t next = 0;

	assert_int_equal(tally_cfi_each(cfi, next_row, &next), 0);
}

/* Each cut and each byte that is another: no crash, which the sanitizers watch, and a table in
 * order. */
static void damage_is_survived(void **state)
{
	struct made made = {.size = 0};

	(void)state;
	made_common(&made, "zRS");
	made_function(&made, 0x1000, 0x40, with_frame_pointer, sizeof(with_frame_pointer));
	made_function(&made, 0x1030, 0x40, with_frame_pointer, sizeof(with_frame_pointer));
	for (size_t i = 0; i < made.size * 256; i++) {
		uint8_t *damaged = malloc(made.size);
		const struct cfi_section section = {damaged, i % 256 ? made.size : i / 256,
						    MADE_AT},
					 none = {0};
		struct tally_cfi *cfi;

		assert_non_null(damaged);
		memcpy(damaged, made.bytes, made.size);
		damaged[i / 256] ^= (uint8_t)i;
		assert_int_equal(tally_cfi_new(&section, &none, 8, &cfi), 0);
		walk_rows(cfi);
		tally_cfi_free(cfi);
		assert_int_equal(tally_cfi_new(&none, &section, 4, &cfi), 0);
		tally_cfi_free(cfi);
		free(damaged);
	}
}

static void of_overlapping_functions_the_later_start_counts(void **state)
{
	static const uint8_t offset[] = {0x0e, 32};
	struct made made = {.size = 0};
	struct tally_cfi *cfi;

	(void)state;
	made_common(&made, "zR");
	made_function(&made, 0x1020, 0x20, offset, sizeof(offset));
	made_function(&made, 0x1000, 0x60, NULL, 0);
	made_function(&made, 0x1000, 0x10, offset, sizeof(offset));
	made_function(&made, 0, 0x2000, offset, sizeof(offset)); /* what the linker left out */
	cfi = made_table(&made);
	assert_int_equal(made_set(cfi, 0x1000)->cfa.value, 8);
	assert_int_equal(made_set(cfi, 0x101f)->cfa.value, 8);
	assert_int_equal(made_set(cfi, 0x1020)->cfa.value, 32);
	assert_int_equal(made_set(cfi, 0x103f)->cfa.value, 32);
	assert_ptr_equal(tally_cfi_find(cfi, 0x1040), &tally_cfi_none);
	assert_ptr_equal(tally_cfi_find(cfi, 0x100), &tally_cfi_none);
	tally_cfi_free(cfi);
}

/* .debug_frame: ids are all ones, common parts are counted from the section's start, addresses are
 * plain. */
static size_t make_debug_frame(uint8_t *to, uint64_t start, uint64_t length)
{
	static const uint8_t common[] = {20, 0,    0,  0,    0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0,
					 1,  0x78, 16, 0x0c, 7,    24,   0x90, 1,    0, 0, 0, 0};
	uint8_t function[24] = {20, 0, 0, 0};

	memcpy(function + 8, &start, 8);
	memcpy(function + 16, &length, 8);
	memcpy(to, common, sizeof(common));
	memcpy(to + sizeof(common), function, sizeof(function));
	return sizeof(common) + sizeof(function);
}

static void debug_frame_covers_what_eh_frame_does_not(void **state)
{
	struct made made = {.size = 0};
	struct cfi_section eh_frame, debug_frame;
	uint8_t debug[64];
	struct tally_cfi *cfi;

	(void)state;
	made_common(&made, "zR");
	made_function(&made, 0x1000, 0x20, NULL, 0);
	eh_frame = (struct cfi_section){made.bytes, made.size, MADE_AT};
	debug_frame = (struct cfi_section){debug, make_debug_frame(debug, 0x2000, 0x10), 0};
	assert_int_equal(tally_cfi_new(&eh_frame, &debug_frame, 8, &cfi), 0);
	assert_int_equal(made_set(cfi, 0x1000)->cfa.value, 8);
	assert_int_equal(made_set(cfi, 0x200f)->cfa.value, 24);
	assert_ptr_equal(tally_cfi_find(cfi, 0x2010), &tally_cfi_none);
	tally_cfi_free(cfi);
	make_debug_frame(debug, 0x1010, 0x40);
	assert_int_equal(tally_cfi_new(&eh_frame, &debug_frame, 8, &cfi), 0);
	assert_int_equal(made_set(cfi, 0x1010)->cfa.value, 8);
	tally_cfi_free(cfi);
}

static void nothing_is_found_in_nothing(void **state)
{
	const struct cfi_section none = {0};
	struct tally_cfi *cfi;

	(void)state;
	assert_int_equal(tally_cfi_new(&none, &none, 8, &cfi), 0);
	assert_int_equal(tally_cfi_function_count(cfi), 0);
	assert_ptr_equal(tally_cfi_find(cfi, 0), &tally_cfi_none);
	tally_cfi_free(cfi);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rules_hold_from_one_change_to_the_next),
	    cmocka_unit_test(every_kind_of_rule_is_kept),
	    cmocka_unit_test(an_invalid_entry_costs_only_its_own_range),
	    cmocka_unit_test(damage_is_survived),
	    cmocka_unit_test(of_overlapping_functions_the_later_start_counts),
	    cmocka_unit_test(debug_frame_covers_what_eh_frame_does_not),
	    cmocka_unit_test(nothing_is_found_in_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
