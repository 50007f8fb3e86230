/* Chains of made-up samples: what the kernel's chain adds to the unwound one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <tally/abi.h>
#include "callchain/chain.h"

#define STACK_AT 0x7ff000

/* Code of no file from 0x1000 to 0x9000. */
static int image_at(void *context, uint64_t address, struct tally_image **ret, uint64_t *ret_place)
{
	(void)context;
	(void)ret;
	(void)ret_place;
	return address >= 0x1000 && address < 0x9000 ? -ENODATA : -ENOENT;
}

static void expect(uint64_t return_address, const uint64_t *user, uint64_t user_count,
		   const uint64_t *frames, uint32_t count, enum tally_chain_end end)
{
	const struct tally_chain_space space = {.number = 1, .image_at = image_at};
	const uint64_t values[] = {STACK_AT + 16, STACK_AT, 0x1004};
	uint64_t stack[8] = {0, 0, 0, return_address}, words[8] = {PERF_CONTEXT_USER};
	const struct tally_sample sample = {
	    .present = TALLY_CHAIN_FIELDS,
	    .callchain = words,
	    .callchain_nr = user_count + 1,
	    .user_abi = 2,
	    .user_regs_mask = 0x1c0, /* BP, SP, IP */
	    .user_regs = values,
	    .user_stack = (const uint8_t *)stack,
	    .user_stack_size = sizeof(stack),
	    .user_stack_dyn_size = sizeof(stack),
	};
	struct tally_chain_images *images;
	struct tally_chain_maker *maker;
	struct tally_chain chain;

	for (uint64_t i = 0; i < user_count; i++)
		words[i + 1] = user[i];
	assert_int_equal(tally_chain_images_new(&images), 0);
	assert_int_equal(tally_chain_maker_new(images, 16, &maker), 0);
	assert_int_equal(
	    tally_chain_make(maker, &sample, TALLY_UNWIND_X86_64, &space, true, &chain), 1);
	assert_int_equal(chain.count - chain.unwound, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(chain.words[chain.unwound + i], frames[i]);
	assert_int_equal(chain.end, end);
	tally_chain_maker_free(maker);
	tally_chain_images_free(images);
}

/* 15.2: Go's scheduler has a stack of its own, whose frame pointers lead to the goroutine's. */
static void a_stack_that_ends_with_zero_goes_on_where_the_kernels_chain_does(void **state)
{
	static const uint64_t user[] = {0x1004, 0x2001, 0x3001};
	static const uint64_t joined[] = {0x1004, 0x2000, 0x3000};

	(void)state;
	expect(0, user, 1, joined, 1, TALLY_CHAIN_WHOLE);
	expect(0, user, 3, joined, 3, TALLY_CHAIN_WHOLE);
}

static void a_return_address_that_leads_to_no_code_is_none(void **state)
{
	static const uint64_t user[] = {0x1004, 0x2001, 0x10001};
	static const uint64_t joined[] = {0x1004, 0x2000};

	(void)state;
	expect(0x9999, user, 1, joined, 1, TALLY_CHAIN_LOST);
	expect(0x9999, user, 3, joined, 2, TALLY_CHAIN_LOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_stack_that_ends_with_zero_goes_on_where_the_kernels_chain_does),
	    cmocka_unit_test(a_return_address_that_leads_to_no_code_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
