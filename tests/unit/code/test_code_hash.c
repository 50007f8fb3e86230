/* Functions that are equal wherever the linker put them. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "code/code_hash.h"

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
	const struct tally_code_machine machine = {.machine = EM_X86_64, .is_64_bit = true};
	struct tally_disassembler *disassembler = NULL;
	struct code_hash hash;
	int result = tally_disassembler_new(&machine, false, &disassembler);

	if (result == -ENOSYS)
		skip();
	assert_int_equal(result, 0);
	tally_code_hash(disassembler, bytes, size, &hash);
	tally_disassembler_free(disassembler);
	return hash.hash;
}

#define HASH(...) hash_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void other_addresses_outside_are_the_same_code(void **state)
{
	(void)state;
	/* call outside; ret */
	assert_true(HASH(0xe8, 0x11, 0x22, 0, 0, 0xc3) == HASH(0xe8, 0x77, 0x66, 0, 0, 0xc3));
	/* lea data(%rip), %rax */
	assert_true(HASH(0x48, 0x8d, 0x05, 1, 2, 3, 0) == HASH(0x48, 0x8d, 0x05, 9, 8, 7, 0));
}

static void another_operand_constant_or_jump_within_is_other_code(void **state)
{
	(void)state;
	/* mov %edi, %eax; mov %esi, %eax */
	assert_true(HASH(0x89, 0xf8, 0xc3) != HASH(0x89, 0xf0, 0xc3));
	/* mov $1, %eax; mov $2, %eax */
	assert_true(HASH(0xb8, 1, 0, 0, 0, 0xc3) != HASH(0xb8, 2, 0, 0, 0, 0xc3));
	/* jmp to the second nop, and to the first */
	assert_true(HASH(0xeb, 1, 0x90, 0x90, 0xc3) != HASH(0xeb, 0, 0x90, 0x90, 0xc3));
	/* the same instructions in another order */
	assert_true(HASH(0x90, 0xc3) != HASH(0xc3, 0x90));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(other_addresses_outside_are_the_same_code),
	    cmocka_unit_test(another_operand_constant_or_jump_within_is_other_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
