/* Instructions of some machines: their lengths, kinds and targets. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "code/disassembler.h"

static struct tally_disassembler *made(uint16_t machine, bool is_64_bit, bool intel)
{
	const struct tally_code_machine of = {.machine = machine, .is_64_bit = is_64_bit};
	struct tally_disassembler *disassembler = NULL;
	int result = tally_disassembler_new(&of, intel, &disassembler);

	if (result == -ENOSYS)
		skip();
	assert_int_equal(result, 0);
	return disassembler;
}

struct expected {
	uint8_t bytes[12];
	size_t size;
	enum tally_insn_kind kind;
	uint64_t target; /* 0: none */
	const char *mnemonic;
};

static void check(struct tally_disassembler *disassembler, const struct expected *expected,
		  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tally_insn insn;

		tally_disassemble(disassembler, expected[i].bytes, sizeof(expected[i].bytes),
				  0x1000, &insn);
		assert_string_equal(insn.mnemonic, expected[i].mnemonic);
		assert_int_equal(insn.size, expected[i].size);
		assert_int_equal(insn.kind, expected[i].kind);
		assert_int_equal(insn.has_target, expected[i].target != 0);
		if (insn.has_target)
			assert_int_equal(insn.target, expected[i].target);
	}
	tally_disassembler_free(disassembler);
}

static void x86_64(void **state)
{
	static const struct expected expected[] = {
	    {{0x89, 0xf8}, 2, TALLY_INSN_PLAIN, 0, "mov"},
	    {{0x74, 0x11}, 2, TALLY_INSN_JUMP, 0x1013, "je"},
	    {{0xeb, 0xfe}, 2, TALLY_INSN_JUMP, 0x1000, "jmp"},
	    {{0xe8, 0xfb, 0xff, 0xff, 0xff}, 5, TALLY_INSN_CALL, 0x1000, "call"},
	    {{0xff, 0xd0}, 2, TALLY_INSN_CALL, 0, "call"},
	    {{0xff, 0xe0}, 2, TALLY_INSN_JUMP, 0, "jmp"},
	    {{0xc3}, 1, TALLY_INSN_RETURN, 0, "ret"},
	    {{0x06}, 1, TALLY_INSN_UNKNOWN, 0, "(unknown)"},
	};

	(void)state;
	check(made(EM_X86_64, true, true), expected, sizeof(expected) / sizeof(*expected));
}

static void the_memory_that_an_instruction_refers_to(void **state)
{
	static const uint8_t lea[] = {0x4c, 0x8d, 0x05, 0x4e, 0x2e, 0x00, 0x00};
	struct tally_disassembler *disassembler = made(EM_X86_64, true, false);
	struct tally_insn insn;

	(void)state;
	tally_disassemble(disassembler, lea, sizeof(lea), 0x11eb, &insn);
	assert_true(insn.has_reference);
	assert_int_equal(insn.reference, 0x4040);
	tally_disassembler_free(disassembler);
}

static void bytes_that_end_within_an_instruction(void **state)
{
	static const uint8_t cut[] = {0xe8, 0xfb};
	struct tally_disassembler *disassembler = made(EM_X86_64, true, false);
	struct tally_insn insn;

	(void)state;
	tally_disassemble(disassembler, cut, sizeof(cut), 0, &insn);
	assert_int_equal(insn.kind, TALLY_INSN_UNKNOWN);
	assert_int_equal(insn.size, 1);
	assert_string_equal(insn.operands, "e8");
	tally_disassembler_free(disassembler);
}

static void arm64(void **state)
{
	static const struct expected expected[] = {
	    {{0x40, 0x00, 0x00, 0x54}, 4, TALLY_INSN_JUMP, 0x1008, "b.eq"},
	    {{0x40, 0x00, 0x00, 0xb4}, 4, TALLY_INSN_JUMP, 0x1008, "cbz"},
	    {{0x40, 0x00, 0x00, 0x36}, 4, TALLY_INSN_JUMP, 0x1008, "tbz"},
	    {{0x02, 0x00, 0x00, 0x14}, 4, TALLY_INSN_JUMP, 0x1008, "b"},
	    {{0x02, 0x00, 0x00, 0x94}, 4, TALLY_INSN_CALL, 0x1008, "bl"},
	    {{0x00, 0x00, 0x3f, 0xd6}, 4, TALLY_INSN_CALL, 0, "blr"},
	    {{0xc0, 0x03, 0x5f, 0xd6}, 4, TALLY_INSN_RETURN, 0, "ret"},
	    {{0x00, 0x00, 0x00, 0x00}, 4, TALLY_INSN_UNKNOWN, 0, "(unknown)"},
	};

	(void)state;
	check(made(EM_AARCH64, true, false), expected, sizeof(expected) / sizeof(*expected));
}

static void a_machine_that_is_not_known(void **state)
{
	const struct tally_code_machine machine = {.machine = EM_RISCV, .is_64_bit = true};
	struct tally_disassembler *disassembler = NULL;
	int result = tally_disassembler_new(&machine, false, &disassembler);

	(void)state;
	if (result == -ENOSYS)
		skip();
	assert_int_equal(result, -ENOTSUP);
	assert_null(disassembler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(x86_64),
	    cmocka_unit_test(the_memory_that_an_instruction_refers_to),
	    cmocka_unit_test(bytes_that_end_within_an_instruction),
	    cmocka_unit_test(arm64),
	    cmocka_unit_test(a_machine_that_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
