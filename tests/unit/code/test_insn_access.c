/* What instructions do with registers and memory. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "code/insn_access.h"

static struct insn_access read_one(uint16_t machine, const uint8_t *bytes, size_t size)
{
	const struct tally_code_machine of = {.machine = machine, .is_64_bit = true};
	struct insn_reader *reader = NULL;
	struct insn_access access;
	int result = tally_insn_reader_new(&of, &reader);

	if (result == -ENOSYS)
		skip();
	assert_int_equal(result, 0);
	tally_insn_read(reader, bytes, size, 0x1000, &access);
	tally_insn_reader_free(reader);
	return access;
}

#define X86(...) \
	read_one(EM_X86_64, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
#define ARM64(...) \
	read_one(EM_AARCH64, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* DWARF's numbers: rax 0, rdx 1, rcx 2, rbx 3, rsi 4, rdi 5, rbp 6, rsp 7. */
static void moves_of_whole_registers(void **state)
{
	struct insn_access access = X86(0x48, 0x8b, 0x47, 0x08); /* mov 8(%rdi), %rax */

	(void)state;
	assert_int_equal(access.action, INSN_LOAD);
	assert_true(access.memory && !access.stores && access.base == 5 && access.to == 0);
	assert_int_equal(access.displacement, 8);
	access = X86(0x48, 0x89, 0x54, 0x24, 0xf8); /* mov %rdx, -8(%rsp) */
	assert_int_equal(access.action, INSN_STORE);
	assert_true(access.memory && access.stores && access.base == 7 && access.from == 1);
	assert_true(access.displacement == -8);
	access = X86(0x48, 0x89, 0xd8); /* mov %rbx, %rax */
	assert_true(access.action == INSN_COPY && access.to == 0 && access.from == 3);
	access = X86(0xbf, 0x40, 0x40, 0x40, 0x00); /* mov $0x404040, %edi */
	assert_true(access.action == INSN_CONSTANT && access.to == 5 && access.value == 0x404040);
	access = X86(0x8b, 0x47, 0x08); /* mov 8(%rdi), %eax: no pointer */
	assert_true(access.action == INSN_OTHER && access.memory && access.written & 1);
}

static void addresses_and_sums(void **state)
{
	struct insn_access access = X86(0x48, 0x8d, 0x05, 0x10, 0, 0, 0); /* lea 16(%rip), %rax */

	(void)state;
	assert_true(access.action == INSN_ADDRESS && !access.memory && access.base == INSN_NONE);
	assert_int_equal(access.displacement, 0x1017);
	access = X86(0x48, 0x83, 0xc0, 0x18); /* add $24, %rax */
	assert_true(access.action == INSN_ADD && access.to == 0 && access.value == 24);
	access = X86(0x48, 0x83, 0xec, 0x20); /* sub $32, %rsp */
	assert_true(access.action == INSN_ADD && access.to == 7 && access.value == -32);
	access = X86(0x48, 0x01, 0xd0); /* add %rdx, %rax */
	assert_true(access.action == INSN_ADD_REGISTER && access.to == 0 && access.from == 1);
	access = X86(0x8b, 0x54, 0xc7, 0x04); /* mov 4(%rdi,%rax,8), %edx */
	assert_true(access.memory && access.base == 5 && access.index == 0 && access.scale == 8);
}

static void the_stack_calls_and_jumps(void **state)
{
	struct insn_access access = X86(0x53); /* push %rbx */

	(void)state;
	assert_true(access.stack && access.action == INSN_PUSH && access.from == 3);
	access = X86(0x5d); /* pop %rbp */
	assert_true(access.stack && access.action == INSN_POP && access.to == 6);
	access = X86(0xe8, 0x0b, 0, 0, 0); /* call 0x1010 */
	assert_true(access.stack && access.flow == INSN_CALL && access.target == 0x1010);
	access = X86(0xc3);
	assert_true(access.stack && access.flow == INSN_END);
	access = X86(0x75, 0x0e); /* jne 0x1010 */
	assert_true(access.flow == INSN_BRANCH && access.has_target && access.target == 0x1010);
	access = X86(0xff, 0xe0); /* jmp *%rax */
	assert_true(access.flow == INSN_JUMP && !access.has_target);
	access = X86(0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0); /* mov %fs:0x28, %rax */
	assert_true(access.memory && access.segment == INSN_FS && access.displacement == 0x28);
	access = X86(0x0f, 0x1f, 0x40, 0x00); /* nopl (%rax) */
	assert_false(access.memory);
}

static void arm64_has_the_same_actions(void **state)
{
	struct insn_access access = ARM64(0x20, 0x04, 0x40, 0xf9); /* ldr x0, [x1, #8] */

	(void)state;
	assert_true(access.action == INSN_LOAD && access.memory && access.to == 0);
	assert_true(access.base == 1 && access.displacement == 8);
	access = ARM64(0xe2, 0x0b, 0x00, 0xf9); /* str x2, [sp, #16] */
	assert_true(access.action == INSN_STORE && access.stores && access.from == 2);
	assert_true(access.base == 31 && access.displacement == 16);
	access = ARM64(0xfd, 0x7b, 0xbe, 0xa9); /* stp x29, x30, [sp, #-32]! */
	assert_true(access.memory && access.base == 31 && access.moves == -32);
	assert_false(access.written >> 31);
	access = ARM64(0xe0, 0x03, 0x01, 0xaa); /* mov x0, x1 */
	assert_true(access.action == INSN_COPY && access.to == 0 && access.from == 1);
	access = ARM64(0x20, 0x40, 0x00, 0x91); /* add x0, x1, #16 */
	assert_true(access.action == INSN_ADD && access.from == 1 && access.value == 16);
	access = ARM64(0x04, 0x00, 0x00, 0x94); /* bl 0x1010 */
	assert_true(access.flow == INSN_CALL && access.target == 0x1010);
}

static void unknown_bytes_keep_their_length(void **state)
{
	struct insn_access access = X86(0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1); /* vaddps of AVX-512 */

	(void)state;
	assert_true(access.size >= 1 && access.size <= 6);
	access = X86(0x06);
	assert_true(access.unknown && access.size == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(moves_of_whole_registers),
	    cmocka_unit_test(addresses_and_sums),
	    cmocka_unit_test(the_stack_calls_and_jumps),
	    cmocka_unit_test(arm64_has_the_same_actions),
	    cmocka_unit_test(unknown_bytes_keep_their_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
